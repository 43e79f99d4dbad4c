//! Arrays as outputs: as numpy prints them, each element where it stands.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::Outcome;
use shadowgrind_tests::shadowed::observe::Case;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The system's Python: the one that a distribution's numpy belongs to.
const PYTHON: &str = "/usr/bin/python3";

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for shadow in ["dot", "adjoint", "mpfr", "error"] {
        let name = format!("numpy/{shadow}");
        trials.push(Trial::test(name.clone(), move || elements_are_printed(&name, shadow)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guest(file: &str) -> PathBuf {
    host::tests_dir().join("guests/arrays").join(file)
}

/// Script under a shadow; `None`, with a word of why, where this machine cannot run it.
fn script(
    name: &str,
    (shadow, options): (&'static str, &[&str]),
    file: &str,
    imports: &str,
) -> Result<Option<Case>, String> {
    let python = Path::new(PYTHON);
    let probe = Case::new("dot", &[], python).arg("-c").arg(format!("import {imports}"));
    if !python.exists() || probe.native().is_err() {
        host::skipped(name, &format!("needs {PYTHON} with {imports}"));
        return Ok(None);
    }
    Ok(Some(Case::new(shadow, options, python).arg(guest(file)).arg("0.75")))
}

/// Line of the script, text, and derivative with respect to x, of the numbers that `printed.py` prints; of a number of four
/// bytes the factor is one too.
const ELEMENTS: [(u64, &str, f64); 13] = [
    (7, "0.75", 1.0),
    (7, "1.875", 2.5),
    (7, "-0.09375", -0.125),
    (8, "7.50e-11", 1e-10),
    (8, "1.50e+05", 2e5),
    (8, "3.75e-01", 0.5),
    (8, "-7.50e-01", -1.0),
    (9, "0.1875", 0.25),
    (9, "2.25", 3.0),
    (10, "0.75", 1.0),
    (10, "1.5", 2.0),
    (11, "1.5", 2.0),
    (11, "3.", 4.0),
];

/// Each element is an output of the script's line, with its text where it stands, and has its derivative, or all its digits.
fn elements_are_printed(name: &str, shadow: &'static str) -> Result<(), Failed> {
    let options: &[&str] = if matches!(shadow, "dot" | "adjoint") { &["--input=arg:2"] } else { &[] };
    let Some(case) = script(name, (shadow, options), "printed.py", "numpy")? else { return Ok(()) };
    let seen = case.observe()?;
    let outputs = seen.report.document["outputs"].as_array().cloned().unwrap_or_default();
    let is_script =
        |output: &&Value| output["site"]["file"].as_str().is_some_and(|f| f.ends_with("printed.py"));
    let own: Vec<&Value> = outputs.iter().filter(is_script).collect();
    if own.len() != ELEMENTS.len() {
        return Err(format!("{} outputs: {own:?}", own.len()).into());
    }
    for (output, (line, text, derivative)) in own.into_iter().zip(ELEMENTS) {
        let index = output["index"].as_u64().unwrap_or(u64::MAX) as usize;
        let dot = seen.report.outputs.get(index).and_then(|output| output.dot);
        let is_right = match shadow {
            "dot" | "adjoint" => dot.is_some_and(|dot| (dot - derivative).abs() <= 1e-7 * derivative.abs()),
            _ => output["correct_digits"].as_f64().is_some_and(|digits| digits >= 7.0),
        };
        let stands = stands_at(&seen.outcome, output);
        if !is_right
            || output["site"]["line"] != line
            || output["printed"] != text
            || stands.as_deref() != Some(text)
        {
            return Err(
                format!("expected {text:?} of line {line}, {derivative}: {output}, {stands:?}").into()
            );
        }
    }
    Ok(())
}

/// Text of the native run's standard output where the report says that an output stands.
fn stands_at(native: &Outcome, output: &Value) -> Option<String> {
    let (line, column) = (output["line"].as_u64()? as usize, output["column"].as_u64()? as usize);
    let line = native.stdout.split(|&byte| byte == b'\n').nth(line - 1)?;
    let rest = String::from_utf8_lossy(line.get(column - 1..)?).into_owned();
    Some(rest.chars().take(output["printed"].as_str()?.chars().count()).collect())
}
