//! Variables of Python scripts as outputs: their derivatives at the end of the script, for every Python on the PATH.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::observe::Case;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Interpreters; the first is the one that a distribution's numpy belongs to.
const PYTHONS: [&str; 6] =
    ["/usr/bin/python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13"];

/// The script's argument, and x: exact in a float of four bytes.
const X: f64 = 0.75;

/// SPEC of a variable, and the derivatives of its floats with respect to x.
type Variable = (&'static str, &'static [f64]);

const VARIABLES: &[Variable] = &[
    ("x", &[1.0]),
    ("square", &[2.0 * X]),
    ("rows[0]", &[1.0, 2.0]),
    ("rows[1][0]", &[3.0]),
    ("rows[0..2][-2]", &[1.0, 3.0]),
];

const ARRAYS: &[Variable] = &[
    ("array", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    ("array[-1]", &[3.0, 4.0, 5.0]),
    ("array[0..2][1..]", &[1.0, 2.0, 4.0, 5.0]),
    ("column", &[1.0, 4.0]),
    ("single", &[2.0]),
];

/// SPECs without floats, and the warning.
const NONE: &[(&str, &str)] = &[
    ("word", "word is or holds no float, but this: str"),
    ("nothing", "the script has no global variable nothing at its end"),
    ("rows[5]", "rows has no such element at the end of the script"),
    ("x[0]", "x has fewer dimensions at the end of the script"),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for python in PYTHONS {
        let name = format!("variables.py/{python}");
        let check = move || derivatives(&name, ("dot", python), "variables.py", &[], VARIABLES);
        trials.push(Trial::test(format!("variables.py/{python}"), check));
    }
    for shadow in ["dot", "adjoint"] {
        let name = format!("arrays.py/{shadow}");
        let check = move || derivatives(&name, (shadow, PYTHONS[0]), "arrays.py", &[], ARRAYS);
        trials.push(Trial::test(format!("arrays.py/{shadow}"), check));
    }
    for shadow in ["adjoint", "dot"] {
        let name = format!("left by exit/{shadow}");
        let given: &[Variable] = &[("inner", &[7.0])];
        let check = move || derivatives(&name, (shadow, PYTHONS[0]), "variables.py", &["1"], given);
        trials.push(Trial::test(format!("left by exit/{shadow}"), check));
    }
    trials.push(Trial::test("no floats", no_floats));
    trials.push(Trial::test("no script", no_script));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The interpreter of this name, by its own path: shims are scripts.
fn interpreter(name: &str) -> Option<PathBuf> {
    let program = host::find_program(name)?;
    let script = "import os, sys; print(os.path.realpath(sys.executable))";
    let path = Command::new(program).args(["-c", script]).output().ok().filter(|run| run.status.success())?;
    Some(PathBuf::from(String::from_utf8(path.stdout).ok()?.trim()))
}

/// A script of the guests with x and more arguments; `None`, with a word of why, without the interpreter and what it imports.
fn script(
    test: &str,
    (shadow, python): (&'static str, &str),
    options: &[&str],
    file: &str,
    more: &[&str],
) -> Option<Case> {
    let Some(python) = interpreter(python) else {
        host::skipped(test, &format!("{python} is not installed"));
        return None;
    };
    let script = host::tests_dir().join("guests/scripts").join(file);
    let case = Case::new(shadow, options, &python).arg(script).arg(X.to_string());
    let case = more.iter().fold(case, |case, argument| case.arg(*argument));
    if case.native().is_err() {
        host::skipped(test, &format!("{} does not run {file}: no numpy?", python.display()));
        return None;
    }
    Some(case)
}

fn derivatives(
    test: &str,
    (shadow, python): (&'static str, &str),
    file: &str,
    more: &[&str],
    variables: &[Variable],
) -> Result<(), Failed> {
    for (spec, expected) in variables {
        let output = format!("--output=python:{spec}");
        let Some(case) = script(test, (shadow, python), &["--input=arg:2", &output], file, more) else {
            return Ok(());
        };
        let seen = case.observe()?;
        let found: Option<Vec<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
        if found.as_deref() != Some(*expected) {
            return Err(format!("{spec}: {found:?}, {}", seen.report.document["warnings"]).into());
        }
    }
    Ok(())
}

/// Variables that are no floats, or not there, give one line each, also under -q.
fn no_floats() -> Result<(), Failed> {
    for (spec, warning) in NONE {
        let output = format!("--output=python:{spec}");
        let Some(case) =
            script("no floats", ("dot", PYTHONS[0]), &["--input=arg:2", &output], "variables.py", &[])
        else {
            return Ok(());
        };
        let outcome = case.tool(&[])?;
        let said = String::from_utf8_lossy(&outcome.stderr);
        if said.lines().count() != 1 || !said.contains(&output) || !said.contains(warning) {
            return Err(format!("{spec}: {said}").into());
        }
    }
    Ok(())
}

/// A program that is no Python has no such variable.
fn no_script() -> Result<(), Failed> {
    let case = Case::new("mpfr", &["--output=python:x"], &PathBuf::from("/bin/true"));
    let said = String::from_utf8_lossy(&case.tool(&[])?.stderr).into_owned();
    let expected = "--output=python:x was never reached: no CPython from 3.9 to 3.13 has run\n";
    if said.ends_with(expected) && said.lines().count() == 1 { Ok(()) } else { Err(said.into()) }
}
