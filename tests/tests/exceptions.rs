//! Floating-point exceptions, traps and rounding are the program's own, whatever rules for its derivatives do: programs that
//! look at them, with shadows in upper vector registers, in memory, and in engines that meet what is rare all the time.
//! What they see is compared with the native run, and their derivatives with those of the reference path.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::{Case, Observed};
use std::path::{Path, PathBuf};

/// Options that each guest is run with. The first are those of the reference path; a large program is run with the
/// first few.
const ENGINES: [&[&str]; 8] = [
    &["--reference-path"],
    &[],
    &["--no-avx512"],
    &["--no-avx512", "--superblock-limit=1"],
    &["--no-avx512", "--hot-after=1"],
    &["--no-avx512", "--no-link"],
    &["--no-avx512", "--flush-every=100"],
    &["--no-avx512", "--no-fsgsbase"],
];

const FOR_ALL: usize = 3;

/// Guests in C, whose input is `shift`.
const GUESTS: [&str; 4] = ["rules.c", "traps.c", "environment.c", "interrupted.c"];

/// The one that changes how it rounds.
const ROUNDS: &str = "environment";

/// Compilers, flags, and what the processor must have.
const BUILDS: [(&str, &str, &str); 7] = [
    ("gcc", "-O0", "sse2"),
    ("gcc", "-O1", "sse2"),
    ("gcc", "-O2", "sse2"),
    ("gcc", "-O3 -march=x86-64-v3", "avx2"),
    ("clang", "-O0", "sse2"),
    ("clang", "-O2", "sse2"),
    ("clang", "-O3 -march=x86-64-v3", "avx2"),
];

const FORTRAN: [&str; 5] = [
    "-O0",
    "-O0 -ffpe-trap=invalid,zero,overflow",
    "-O2 -ffpe-trap=invalid,zero,overflow,underflow,denormal",
    "-O2 -ffpe-summary=all",
    "-O3 -march=x86-64-v3 -ffpe-trap=invalid,zero,overflow -ffpe-summary=all",
];

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for guest in GUESTS {
        for (compiler, flags, need) in BUILDS {
            let name = format!("{guest}/{compiler} {flags}");
            let flags = format!("{flags} -g -w -mxsave");
            trials.push(trial(name, compiler, flags, guest, need, "--input=shift"));
        }
    }
    for flags in FORTRAN {
        let name = format!("traps.f90/gfortran {flags}");
        let need = if flags.contains("v3") { "avx2" } else { "sse2" };
        trials.push(trial(
            name,
            "gfortran",
            format!("{flags} -g"),
            "traps.f90",
            need,
            "--input=values::shift",
        ));
    }
    trials.push(Trial::test("numpy", arrays));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(
    name: String,
    compiler: &'static str,
    flags: String,
    guest: &'static str,
    need: &'static str,
    input: &'static str,
) -> Trial {
    Trial::test(name.clone(), move || {
        if host::lacks(&name, &[need]) {
            return Ok(());
        }
        match Recipe::new(compiler, &flags, &source(guest), "-lm -lpthread").build()? {
            Some(program) => check(&program, &[], input, &ENGINES),
            None => {
                host::skipped(&name, &format!("{compiler} is not installed"));
                Ok(())
            }
        }
    })
}

fn source(name: &str) -> PathBuf {
    host::tests_dir().join("guests/flags").join(name)
}

/// numpy, where the system's Python has it.
fn arrays() -> Result<(), Failed> {
    let python = Path::new("/usr/bin/python3");
    let probe = std::process::Command::new(python).args(["-c", "import numpy"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        host::skipped("numpy", "the system's Python has no numpy");
        return Ok(());
    }
    let script = source("arrays.py").to_string_lossy().into_owned();
    check(python, &[&script, "0.0"], "--input=PyOS_string_to_double#ret", &ENGINES[..FOR_ALL])
}

fn check(program: &Path, arguments: &[&str], input: &str, engines: &[&[&str]]) -> Result<(), Failed> {
    let observe = |engine: &[&str]| -> Result<Observed, Failed> {
        let case = Case::new("dot", &[&[input], engine].concat(), program);
        let case = arguments.iter().fold(case, |case, argument| case.arg(argument));
        Ok(case.observe().map_err(|e| format!("{engine:?}: {e}"))?)
    };
    let [slow, fast @ ..] = engines else { return Err("no engine to compare with".into()) };
    let expected = derivatives(&observe(slow)?);
    let rounds = program.ends_with(ROUNDS);
    if !expected.iter().any(|dot| *dot != 0.0) {
        return Err(format!("nothing has a derivative: {expected:?}").into());
    }
    for engine in fast {
        let got = derivatives(&observe(engine)?);
        if got.len() != expected.len() || !got.iter().zip(&expected).all(|(&a, &b)| agree(a, b, rounds)) {
            return Err(format!("{engine:?}: {got:?} where the reference path has {expected:?}").into());
        }
    }
    Ok(())
}

fn derivatives(seen: &Observed) -> Vec<f64> {
    seen.report.outputs.iter().map(|output| output.dot.unwrap_or(0.0)).collect()
}

/// Bit for bit, but where the program rounds otherwise than to the nearest: so do rules, without AVX-512, and the reference path
/// does not.
fn agree(a: f64, b: f64, rounds: bool) -> bool {
    const ROUNDINGS: f64 = 1e-6;
    a == b || a.is_nan() && b.is_nan() || rounds && (a - b).abs() <= ROUNDINGS * b.abs()
}
