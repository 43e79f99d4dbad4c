//! Numbers that a program makes text of and reads back: their derivatives, and their errors where they were rounded between.
//!
//! A guest in `guests/mpfr/read_back` prints 0.015 in the end. In the reals it would print 0.03: what it prints is one and a half times a
//! number that it has rounded, by way of its text, to another side than the reals are.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::gaps::{counted, gaps, observe};
use shadowgrind_tests::shadowed::observe::Case;
use std::process::ExitCode;

/// Guests, and the compilers or interpreters by which they run.
const GUESTS: &[(&str, &[&str])] = &[
    ("rounded.c", &["gcc -O0", "gcc -O2", "clang -O2"]),
    ("general.c", &["gcc -O2"]),
    ("rounded.cpp", &["g++ -O2"]),
    ("rounded.rs", &["rustc -O"]),
    ("rounded.go", &["go build"]),
    ("rounded.f90", &["gfortran -O2"]),
    ("rounded.py", &["/usr/bin/python3"]),
    ("rounded.js", &["node"]),
    ("rounded.pl", &["perl"]),
    ("rounded.awk", &["gawk -f", "mawk -f"]),
    ("rounded.php", &["php"]),
    ("rounded.lua", &["/usr/bin/lua"]),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for shadow in ["mpfr", "error"] {
        for &(file, hows) in GUESTS {
            let source = host::tests_dir().join("guests/mpfr/read_back").join(file);
            for &how in hows {
                let (name, source) = (format!("{file}/{how}/{shadow}"), source.clone());
                trials.push(Trial::test(name.clone(), move || {
                    let Some(case) = Case::of_guest(&name, shadow, &source, how)? else { return Ok(()) };
                    check_rounded(&case)
                }));
            }
        }
    }
    for shadow in ["dot", "adjoint"] {
        trials.push(Trial::test(format!("read_back.c/{shadow}"), move || check_derivatives(shadow)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Checks that the last number is judged wrong, and its text in the reals.
fn check_rounded(case: &Case) -> Result<(), Failed> {
    let document = case.observe()?.report.document;
    let last = document["outputs"].as_array().and_then(|outputs| outputs.last());
    let field = |name: &str| last.and_then(|output| output[name].as_str()).unwrap_or_default().to_owned();
    let said = ["printed", "printed_exact", "judgement"].map(field);
    let is_told = ["0.030", "0.03"].contains(&&*said[1]);
    if said[0] == "0.015" && is_told && said[2] == "wrong" { Ok(()) } else { Err(format!("{said:?}").into()) }
}

/// Checks derivatives by their closed forms: of 2 x²/3, 1/x², 3 x and 11 (x - 1.2), and of a text with fewer digits, which is counted.
fn check_derivatives(shadow: &'static str) -> Result<(), Failed> {
    const X: f64 = 1.7;
    for options in host::bindings() {
        let Some(seen) = observe(shadow, "read_back.c", "-O2 -g", "sse2", options) else { return Ok(()) };
        let found = |value: f64| {
            let outputs = seen.report.outputs.iter().rev();
            outputs.into_iter().find(|output| (output.value - value).abs() < 1e-12)
        };
        for (value, derivative) in [
            (2.0 * X * X / 3.0, 4.0 * X / 3.0),
            (1.0 / (X * X), -2.0 / (X * X * X)),
            (1.5, 0.0),
            (3.0 * X, 3.0),
            (11.0 * (X - 1.2), 11.0),
        ] {
            // Of a gradient, outputs that depend on nothing are not listed.
            let dot = found(value).and_then(|output| output.dot).unwrap_or(0.0);
            if (dot - derivative).abs() > 1e-12 {
                return Err(format!("{options:?}: {dot}, not {derivative}, of {value}").into());
            }
        }
        if gaps(&seen).len() != 1 || counted(&seen, "main") != 1 {
            return Err(format!("{options:?}: {:?}", gaps(&seen)).into());
        }
    }
    Ok(())
}
