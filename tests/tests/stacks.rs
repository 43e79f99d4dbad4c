//! Stacks of findings and of outputs: how the program came to the line of an error, or to where it prints.
//!
//! In `guests/mpfr/stacks`, C marks the line of error number N with `// ERRS N`, and its Kth caller from the innermost on with
//! `// CALLS N K`; Python prints where it is, as it knows itself. What prints marks the lines of callers with their numbers, and prints
//! these.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::Case;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const COMPILED: [&str; 5] = [
    "gcc -O0",
    "gcc -O2",
    "gcc -O2 -static",
    "clang -O1",
    "clang -O2 -fno-asynchronous-unwind-tables -funwind-tables",
];
const PYTHONS: [&str; 6] =
    ["/usr/bin/python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13"];
const SHADOWS: [&str; 2] = ["mpfr", "error"];
/// Shadows of which the reports have stacks of outputs, and what they are about.
const PRINTED: [(&str, &[&str]); 3] = [("mpfr", &[]), ("error", &[]), ("dot", &["--input=x"])];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for shadow in SHADOWS {
        for how in COMPILED {
            let name = format!("callers.c/{shadow}/{how}");
            trials.push(Trial::test(name.clone(), move || compiled(&name, shadow, how)));
        }
        for python in PYTHONS {
            let name = format!("callers.py/{shadow}/{python}");
            trials.push(Trial::test(name.clone(), move || interpreted(&name, shadow, python)));
        }
    }
    for (shadow, options) in PRINTED {
        for how in COMPILED {
            let name = format!("printers.c/{shadow}/{how}");
            trials.push(Trial::test(name.clone(), move || printed(&name, (shadow, options), how)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guest(name: &str) -> PathBuf {
    host::tests_dir().join("guests/mpfr/stacks").join(name)
}

fn compiled(name: &str, shadow: &'static str, how: &str) -> Result<(), Failed> {
    let source = guest("callers.c");
    let (compiler, flags) = how.split_once(' ').unwrap_or((how, ""));
    let Some(exe) = Recipe::new(compiler, &format!("{flags} -g"), &source, "-lm -pthread").build()? else {
        host::skipped(name, &format!("{compiler} is not installed"));
        return Ok(());
    };
    let report = Case::new(shadow, &[], &exe).observe()?.report;
    let findings = report.document["findings"].as_array().ok_or("no findings")?;
    for (line, callers) in marked(&std::fs::read_to_string(&source)?) {
        let is_there = |finding: &&Value| finding["site"]["line"] == line && !is_decision(finding);
        let found = findings.iter().find(is_there).ok_or_else(|| format!("nothing found at line {line}"))?;
        let lines: Vec<u64> = stack(found).iter().filter_map(|frame| frame["line"].as_u64()).collect();
        if lines != callers {
            return Err(format!("line {line} is called at {lines:?}, not {callers:?}").into());
        }
    }
    Ok(())
}

/// Each output has the lines of its callers, which the program prints before it; a longer report has the first output's as well.
fn printed(
    name: &str,
    (shadow, options): (&'static str, &'static [&'static str]),
    how: &str,
) -> Result<(), Failed> {
    let (compiler, flags) = how.split_once(' ').unwrap_or((how, ""));
    let recipe = Recipe::new(compiler, &format!("{flags} -g"), &guest("printers.c"), "-lm");
    let Some(exe) = recipe.build()? else {
        host::skipped(name, &format!("{compiler} is not installed"));
        return Ok(());
    };
    let case = Case::new(shadow, options, &exe);
    let observed = case.observe()?;
    let outputs = observed.report.document["outputs"].as_array().ok_or("no outputs")?;
    let text = String::from_utf8(observed.outcome.stdout)?;
    let expected: Vec<Vec<u64>> = text.lines().map(callers_said).collect();
    let found: Vec<Vec<u64>> = outputs
        .iter()
        .map(|output| stack(output).iter().filter_map(|frame| frame["line"].as_u64()).collect())
        .collect();
    if found != expected {
        return Err(format!("outputs are called at {found:?}, not {expected:?}").into());
    }
    let said = case.terminal(&["-v"])?;
    let lines = expected.first().ok_or("nothing is printed")?;
    let missing = lines.iter().find(|line| !said.contains(&format!("(printers.c:{line})")));
    missing.map_or(Ok(()), |line| Err(format!("line {line} is not in the report:\n{said}").into()))
}

/// The lines that a line of text names before its number.
fn callers_said(line: &str) -> Vec<u64> {
    line.split(' ').filter_map(|word| word.strip_prefix('@')?.parse().ok()).collect()
}

fn is_decision(finding: &Value) -> bool {
    finding["kind"] == "branch"
}

fn stack(finding: &Value) -> &[Value] {
    finding["stack"].as_array().map_or(&[], Vec::as_slice)
}

/// Lines of errors, and of their callers.
fn marked(text: &str) -> Vec<(u64, Vec<u64>)> {
    let lines = || (1..).zip(text.lines());
    let errs = |n: u64| lines().find(|(_, line)| line.ends_with(&format!("// ERRS {n}"))).map(|(at, _)| at);
    let calls = |n: u64, k: u64| {
        let mark = format!("CALLS {n} {k}");
        let is_marked =
            |line: &str| line.split("// ").nth(1).is_some_and(|marks| marks.split("; ").any(|m| m == mark));
        lines().find(|(_, line)| is_marked(line)).map(|(at, _)| at)
    };
    let error = |n| Some((errs(n)?, (1..).map_while(|k| calls(n, k)).collect()));
    (1..).map_while(error).collect()
}

fn interpreted(name: &str, shadow: &'static str, python: &str) -> Result<(), Failed> {
    let Some(python) = interpreter(python) else {
        host::skipped(name, &format!("{python} is not installed"));
        return Ok(());
    };
    let case = |option: &str| {
        let case = Case::new(shadow, &[option], &python).env("PYTHONIOENCODING", "utf-8");
        case.arg(guest("callers.py")).observe()
    };
    let observed = case("--num-callers=20")?;
    let printed = String::from_utf8(observed.outcome.stdout)?;
    let said = |mark: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(mark));
        line.map(str::trim).ok_or_else(|| format!("the script does not print {mark:?}"))
    };
    let describe =
        |frame: &Value| format!("{}:{}", frame["function"].as_str().unwrap_or_default(), frame["line"]);
    let document = observed.report.document;
    let findings = document["findings"].as_array().ok_or("no findings")?;
    let is_meant = |finding: &&Value| {
        finding["kind"] == "cancellation"
            && stack(finding).iter().any(|frame| frame["function"] == "difference")
    };
    let found = findings.iter().find(is_meant).ok_or("no difference is found to cancel")?;
    let frames: Vec<String> =
        stack(found).iter().filter(|frame| frame["module"].is_null()).map(describe).collect();
    let (frames, expected) = (frames.join(" "), said("difference ")?);
    if frames != expected {
        return Err(format!("the finding is at {frames:?}, Python says {expected:?}").into());
    }
    let outputs = document["outputs"].as_array().ok_or("no outputs")?;
    let output = outputs.last().map(|output| describe(&output["site"])).ok_or("no output")?;
    if said("printed ")? != output {
        return Err(format!("the output is at {output}").into());
    }
    let (_, line) = output.split_once(':').ok_or("an output without a line")?;
    let chosen = case(&format!("--output=site:callers.py:{line}"))?.report;
    match chosen.document["outputs"].as_array().map(Vec::len) {
        Some(1) => Ok(()),
        other => Err(format!("{other:?} outputs at line {line}").into()),
    }
}

/// The interpreter itself, where `name` is one that is installed, or a script that starts it.
fn interpreter(name: &str) -> Option<PathBuf> {
    let asked = Command::new(name).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let path = String::from_utf8(asked.stdout).ok()?;
    Some(Path::new(path.trim()).to_owned()).filter(|path| asked.status.success() && path.exists())
}
