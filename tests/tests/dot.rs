//! Derivatives: the guests of `guests/dot` in every language, type and level, against closed forms.
//!
//! A guest prints values, each with the derivative that it must have; the closed forms themselves are checked by
//! difference quotients of native runs.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::python_package;
use shadowgrind_tests::shadowed::matrix::{Cell, cells_for_differences};
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::pairs;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for cell in cells_for_differences() {
        let name = format!("closed-forms/{}", cell.name);
        trials.push(Trial::test(name.clone(), move || check_closed_forms(&name, &cell)));
    }
    for script in SCRIPTS {
        let name = format!("closed-forms/{}", script.name);
        trials.push(Trial::test(name.clone(), move || check_script_forms(&name, &script)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn check_closed_forms(name: &str, cell: &Cell) -> Result<(), Failed> {
    let Some(exe) = cell.recipe.build()? else {
        host::skipped(name, &format!("{} is not installed", cell.recipe.compiler));
        return Ok(());
    };
    closed_forms(&Case::new("dot", &[], &exe), cell.kind == 10)
}

/// The guest's last argument is the shift; without it, 0.
fn closed_forms(case: &Case, long_double: bool) -> Result<(), Failed> {
    let (h, tolerance) = if long_double { (1e-6, 1e-6) } else { (1e-5, 1e-4) };
    let run = |shift: f64| pairs::parse(&case.clone().arg(shift.to_string()).native()?.stdout);
    let (before, here, after) = (run(-h)?, run(0.0)?, run(h)?);
    match pairs::difference_quotients([&before, &here, &after], h, tolerance) {
        Some(text) => Err(text.into()),
        None => Ok(()),
    }
}

/// A Python guest.
#[derive(Clone, Copy)]
struct Script {
    name: &'static str,
    file: &'static str,
    arguments: &'static [&'static str],
}

const SCRIPTS: [Script; 2] = [
    Script { name: "python", file: "python.py", arguments: &[] },
    Script { name: "numpy-float64", file: "arrays.py", arguments: &["f8"] },
];

/// The command for a script; `None`, with a word of why, where this machine cannot run it.
fn script_case(name: &str, script: &Script, options: &[&str]) -> Result<Option<Case>, String> {
    let python = PathBuf::from("/usr/bin/python3");
    let Some(package) = (if python.exists() { python_package(&python)? } else { None }) else {
        host::skipped(name, "needs /usr/bin/python3 with headers, pip and setuptools");
        return Ok(None);
    };
    if script.file == "arrays.py"
        && Case::new("dot", &[], &python).arg("-c").arg("import numpy").native().is_err()
    {
        host::skipped(name, "needs numpy");
        return Ok(None);
    }
    let source = host::tests_dir().join("guests/dot").join(script.file);
    let mut case = Case::new("dot", options, &python).arg("-P").arg(source);
    case.argv.extend(script.arguments.iter().map(std::ffi::OsString::from));
    Ok(Some(case.env("PYTHONPATH", &package.to_string_lossy()).env("PYTHONDONTWRITEBYTECODE", "1")))
}

fn check_script_forms(name: &str, script: &Script) -> Result<(), Failed> {
    match script_case(name, script, &[])? {
        Some(case) => closed_forms(&case, false),
        None => Ok(()),
    }
}
