//! Floats that threads hand to each other, in every way there is: by plain stores that a lock, a flag or a queue orders, by
//! atomic instructions and by system calls. Sums of the same terms in any order have one real and one gradient.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use rug::Float;
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::observe::{Case, Observed};
use std::process::ExitCode;

/// The terms of the guests' `x`.
const TERMS: [f64; 8] = [0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9];
/// Number of times that each is added.
const TIMES: u32 = 75;
/// Number of runs of each: orders of events differ.
const RUNS: usize = 5;

/// The guests' files, compilers and ways.
const GUESTS: [(&str, &[&str], &[&str]); 5] = [
    (
        "sums.c",
        &["gcc", "clang"],
        &[
            "spin-lock",
            "turns",
            "mutex",
            "condition",
            "barrier",
            "queues",
            "omp-critical",
            "omp-atomic",
            "omp-reduction",
        ],
    ),
    ("alternating.c", &["gcc", "clang"], &["alternating"]),
    ("interrupted.c", &["gcc", "clang"], &["interrupted"]),
    ("faulting.c", &["gcc", "clang"], &["faulting"]),
    ("sums.cpp", &["g++", "clang++"], &["std-mutex", "exchange", "futures", "stack", "mappings"]),
];

/// A guest, and the way in which its threads hand on what they have.
#[derive(Clone, Copy)]
struct Guest {
    file: &'static str,
    compiler: &'static str,
    way: &'static str,
}

fn main() -> ExitCode {
    let mut trials = Vec::new();
    let mut add = |shadow, guest: Guest, more: &'static [&str]| {
        let Guest { compiler, way, .. } = guest;
        let name = format!("{shadow}/{compiler}/{way}{}", more.concat());
        trials.push(Trial::test(name.clone(), move || check(&name, shadow, guest, more)));
    };
    for (file, compilers, ways) in GUESTS {
        for (compiler, way) in
            compilers.iter().flat_map(|compiler| ways.iter().map(move |way| (compiler, way)))
        {
            let guest = Guest { file, compiler, way };
            ["dot", "adjoint", "mpfr"].into_iter().for_each(|shadow| add(shadow, guest, &[]));
            // Handles that nothing refers to are taken back whenever they can be.
            ["adjoint", "mpfr"].into_iter().for_each(|shadow| add(shadow, guest, &["--chaos=1"]));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn check(name: &str, shadow: &'static str, guest: Guest, more: &[&str]) -> Result<(), Failed> {
    let source = host::tests_dir().join("guests/dot/handing").join(guest.file);
    let recipe = Recipe::new(guest.compiler, "-O2 -g -fopenmp -pthread", &source, "");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let input: &[&str] = if shadow == "mpfr" { &[] } else { &["--input=x"] };
    let options = [input, more].concat();
    for _ in 0..RUNS {
        let seen = Case::new(shadow, &options, &exe).arg(guest.way).observe()?;
        let wrong = match shadow {
            "dot" => wrong_derivative(&seen),
            "adjoint" => wrong_gradient(&seen),
            _ => wrong_real(&seen)?,
        };
        if let Some(wrong) = wrong {
            return Err(wrong.into());
        }
    }
    Ok(())
}

fn is_close(number: f64, expected: f64) -> bool {
    (number - expected).abs() <= 1e-12 * expected
}

/// The derivative of the sum, which is printed last (OpenMP's own library may print before), if it is wrong.
fn wrong_derivative(seen: &Observed) -> Option<String> {
    let dot = seen.report.outputs.last()?.dot;
    let expected = f64::from(TIMES) * TERMS.len() as f64;
    (!dot.is_some_and(|dot| is_close(dot, expected))).then(|| format!("{dot:?}, must be {expected}"))
}

fn wrong_gradient(seen: &Observed) -> Option<String> {
    let gradient = &seen.report.outputs.last()?.gradient;
    let right = gradient.len() == TERMS.len() && gradient.iter().all(|&x| is_close(x, f64::from(TIMES)));
    (!right).then(|| format!("{gradient:?}, must be {TIMES} each"))
}

fn wrong_real(seen: &Observed) -> Result<Option<String>, String> {
    let real = seen.report.outputs.last().and_then(|output| output.real.clone()).ok_or("no real")?;
    let number = Float::with_val(256, Float::parse(&real).map_err(|e| e.to_string())?);
    let expected = TERMS.iter().fold(Float::new(256), |sum, &term| sum + Float::with_val(256, term) * TIMES);
    let error = Float::with_val(256, &number - &expected).abs();
    Ok((error > 1e-20).then(|| format!("{real}, must be {expected}")))
}
