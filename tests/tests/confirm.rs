//! Findings of `--shadow=error` held against a second run: `--confirm`.
//!
//! True findings are those of `culprits`, whose lines are marked and which the reals find; a false one is the decision in
//! `unknown`. Others in `confirm` read, fork, or do not do the same each time.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left};
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::Case;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check of one program.
type Check = fn(&Case) -> Result<(), String>;

/// Programs, and the check of each.
const CHECKS: [(&str, Check); 6] = [
    ("confirm/unknown.c", refutes_a_decision),
    ("causes/last.c", confirms),
    ("clean/quadratic.c", runs_once),
    ("confirm/piped.c", gives_input_again),
    ("confirm/children.c", follows_children),
    ("confirm/another.c", notices_another_course),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for options in host::bindings() {
        for (file, check) in CHECKS {
            let run = move || on_program(&guests().join(file), options, check).map_err(Failed::from);
            trials.push(Trial::test(format!("{file} {}", options.join(" ")), run));
        }
        for source in culprits() {
            let name = format!("confirms/{} {}", stem(&source), options.join(" "));
            let run = move || on_program(&source, options, confirms).map_err(Failed::from);
            trials.push(Trial::test(name, run));
        }
    }
    let refused = || on_program(&guests().join("culprits/quadratic.c"), &[], is_for_some_shadows);
    trials.push(Trial::test("is-for-some-shadows", move || refused().map_err(Failed::from)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guests() -> PathBuf {
    host::tests_dir().join("guests/mpfr")
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Programs with a culprit, by name.
fn culprits() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(guests().join("culprits")).expect("it is there");
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.sort();
    all
}

fn on_program(source: &Path, options: &[&str], check: Check) -> Result<(), String> {
    let Some(program) = Recipe::new("gcc", "-O2 -g", source, "-lm").build()? else {
        host::skipped(&stem(source), "gcc is not installed");
        return Ok(());
    };
    let case = Case::new("error", &[&["--confirm"], options].concat(), &program);
    check(&case)
}

/// Words of the second run on all findings of this kind, or of any, in order of rank.
fn words<'a>(document: &'a Value, kind: Option<&str>) -> Vec<&'a str> {
    let findings = document["findings"].as_array().into_iter().flatten();
    let of_kind = findings.filter(|finding| kind.is_none_or(|kind| finding["kind"] == kind));
    of_kind.map(|finding| finding["confirmed"].as_str().unwrap_or("nothing")).collect()
}

/// Checks that the second run took the course of the first, and confirms what is ranked first.
fn confirms(case: &Case) -> Result<(), String> {
    let document = case.observe()?.report.document;
    is_confirmed(&document)
}

fn is_confirmed(document: &Value) -> Result<(), String> {
    let confirmation = &document["confirmation"];
    let is_same = confirmation["same_output"] == true && confirmation["same_end"] == true;
    let is_dear = confirmation["second_s"].as_f64().is_some_and(|seconds| seconds > 0.0);
    match words(document, None).first() {
        Some(&"confirmed") if is_same && is_dear && confirmation["shadow"] == "mpfr" => Ok(()),
        first => Err(format!("{first:?}, {confirmation}")),
    }
}

/// The decision that the reals do not know is refuted, and counts for nothing; its supposed cause is confirmed.
fn refutes_a_decision(case: &Case) -> Result<(), String> {
    let document = case.observe()?.report.document;
    is_confirmed(&document)?;
    let [branches, causes] = [Some("branch"), Some("cancellation")].map(|kind| words(&document, kind));
    if (&branches[..], &causes[..]) != (&["refuted"], &["confirmed"]) || document["verdict"]["decisions"] != 0
    {
        return Err(format!("{branches:?} {causes:?} {}", document["verdict"]));
    }
    let text = case.terminal(&[])?;
    if !text.contains("\nRefuted by the second run\n") || text.contains("leads to") {
        return Err(text);
    }
    let fails = ["--error-exitcode=42", "--fail-on=decision"];
    let mut unconfirmed = case.clone();
    unconfirmed.options.retain(|option| option != "--confirm");
    match [case, &unconfirmed].map(|case| case.tool(&fails).map(|outcome| outcome.end)) {
        [Ok(End::Exit(0)), Ok(End::Exit(42))] => Ok(()),
        other => Err(format!("with and without a second run: {other:?}")),
    }
}

/// The program runs once where there is nothing to confirm.
fn runs_once(case: &Case) -> Result<(), String> {
    let confirmation = case.observe()?.report.document["confirmation"].take();
    if confirmation.is_null() { Ok(()) } else { Err(confirmation.to_string()) }
}

/// The second run reads what the first has read, and the exit status is that of the first.
fn gives_input_again(case: &Case) -> Result<(), String> {
    let numbers: String = (0..20000).map(|n| format!("{}.5\n", 1_000_000 + n)).collect();
    let case = Case { stdin: numbers.into_bytes(), exit: 3, ..case.clone() };
    let report = case.observe()?.report;
    if report.outputs.len() != 20000 {
        return Err(format!("{} outputs", report.outputs.len()));
    }
    is_confirmed(&report.document)
}

/// Checks that bytes which children read and write by other descriptors belong to the run.
fn follows_children(case: &Case) -> Result<(), String> {
    confirms(&Case { stdin: b"abc\n1e12\n".to_vec(), ..case.clone() })
}

/// A program that does something else the second time is warned of.
fn notices_another_course(case: &Case) -> Result<(), String> {
    let mut outcome = case.tool(&["--report=json:report.json"])?;
    let Some(Left::File(_, text)) = outcome.files.remove("report.json") else {
        return Err("no report".into());
    };
    let document: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let codes: Vec<&Value> =
        document["warnings"].as_array().into_iter().flatten().map(|warning| &warning["code"]).collect();
    if codes != ["second-run-differs"] || document["confirmation"]["same_output"] != false {
        return Err(format!("{codes:?} {}", document["confirmation"]));
    }
    let Some(Left::File(_, runs)) = outcome.files.get("runs") else { return Err("it did not run".into()) };
    let shown = String::from_utf8_lossy(&outcome.stdout);
    if runs.len() != 2 || !shown.starts_with("1 ") || shown.lines().count() != 1 {
        return Err(format!("{} runs, shown {shown:?}", runs.len()));
    }
    Ok(())
}

/// A shadow whose findings no other could confirm is refused.
fn is_for_some_shadows(case: &Case) -> Result<(), String> {
    let outcome = Case { shadow: "mpfr", ..case.clone() }.tool(&[])?;
    let said = String::from_utf8_lossy(&outcome.stderr);
    match outcome.end {
        End::Exit(2) if said == "shadowgrind: --confirm needs --shadow=error\n" => Ok(()),
        end => Err(format!("{end}: {said}")),
    }
}
