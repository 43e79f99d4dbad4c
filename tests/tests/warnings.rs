//! Warnings: a report that says less than it seems to says so in a line, also under `-q`, and among its sections;
//! `--strict` makes it an exit status.

#![forbid(unsafe_code)]

use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left};
use shadowgrind_tests::shadowed::build::{Recipe, client_dir};
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::Report;
use std::path::{Path, PathBuf};

/// A guest of `guests/mpfr`, built with these flags; `None`, with a word of why, where that cannot be done.
fn guest(file: &str, flags: &str) -> Option<PathBuf> {
    guest_of("mpfr", file, flags)
}

/// A guest of `guests/FOLDER`, built with these flags; `None`, with a word of why, where that cannot be done.
fn guest_of(folder: &str, file: &str, flags: &str) -> Option<PathBuf> {
    let source = host::tests_dir().join("guests").join(folder).join(file);
    let exe = Recipe::new("gcc", flags, &source, "-lm").build().unwrap_or_else(|e| panic!("{e}"));
    if exe.is_none() {
        host::skipped(file, "gcc is not installed");
    }
    exe
}

/// The warnings of a run, by code, which are the same in the report and on standard error, and its status under `--strict`.
#[track_caller]
fn warnings(case: &Case) -> (Vec<(String, String)>, End) {
    let run = |options: &[&str]| case.tool(options).unwrap_or_else(|e| panic!("{e}"));
    let outcome = run(&["--report=json:report.json"]);
    let Some(Left::File(_, text)) = outcome.files.get("report.json") else { panic!("no report") };
    let report = Report::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let records = report.document["warnings"].as_array().cloned().unwrap_or_default();
    let text = |field: &serde_json::Value| field.as_str().unwrap_or_default().to_owned();
    let all: Vec<(String, String)> =
        records.iter().map(|one| (text(&one["code"]), text(&one["message"]))).collect();
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let lines: Vec<&str> =
        said.lines().filter_map(|line| line.strip_prefix("shadowgrind: warning: ")).collect();
    assert_eq!(lines, all.iter().map(|(_, message)| message.as_str()).collect::<Vec<_>>(), "{said}");
    (all, run(&["--strict"]).end)
}

/// Asserts that there is one warning, of this code; what a quiet run says.
#[track_caller]
fn said_when_warned_of(case: &Case, code: &str, about: &str) -> String {
    let (all, end) = warnings(case);
    assert!(matches!(&all[..], [(one, message)] if one == code && message.contains(about)), "{all:?}");
    assert_eq!(end, End::Exit(2));
    let quiet = case.tool(&[]).unwrap_or_else(|e| panic!("{e}"));
    String::from_utf8_lossy(&quiet.stderr).into_owned()
}

#[track_caller]
fn is_warned_of(case: &Case, code: &str, about: &str) {
    let said = said_when_warned_of(case, code, about);
    assert!(said.is_empty(), "nobody reads it: {said}");
}

/// Holds that `case` is warned of a wrong SPEC, under `code` and with `about` in its text: on stderr, for the user who typed it.
#[track_caller]
fn is_warned_of_spec(case: &Case, code: &str, about: &str) {
    let said = said_when_warned_of(case, code, about);
    assert!(said.lines().count() == 1 && said.contains(about), "{said}");
}

#[test]
fn causes_are_capped() {
    let Some(exe) = guest("many.c", "-O1") else { return };
    is_warned_of(&Case::new("error", &[], &exe), "causes-capped", "fewer were than usual");
}

#[test]
fn nothing_was_seeded() {
    let Some(exe) = guest("verdict/right.c", "-O1") else { return };
    is_warned_of(&Case::new("dot", &[], &exe), "nothing-seeded", "every derivative is 0");
}

/// Whole numbers are made of all that was seeded: it is said that a derivative of 0 may mean this. Nothing is, where an output has one.
#[test]
fn whole_numbers_have_no_derivative() {
    let Some(exe) = guest_of("dot", "whole_numbers.c", "-O1") else { return };
    for shadow in ["dot", "adjoint"] {
        let case = Case::new(shadow, &["--input=x"], &exe);
        is_warned_of(&case, "outputs-independent", "see the report's roundings");
        assert_eq!(warnings(&case.arg("itself")), (Vec::new(), End::Exit(0)), "{shadow}");
    }
}

/// The program has set a derivative: neither a warning nor the report says that there is none.
#[test]
fn derivatives_that_the_program_sets_are_there() {
    let flags = format!("-O1 -I{}", client_dir().display());
    let Some(exe) = guest_of("dot", "set.c", &flags) else { return };
    let case = Case::new("dot", &[], &exe);
    assert_eq!(warnings(&case), (Vec::new(), End::Exit(0)));
    let seen = case.observe().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(seen.report.outputs.iter().map(|output| output.dot).collect::<Vec<_>>(), [Some(6.0)]);
    let html = case.tool(&["--report=html:report.html"]).unwrap_or_else(|e| panic!("{e}"));
    let Some(Left::File(_, page)) = html.files.get("report.html") else { panic!("no page") };
    let page = String::from_utf8_lossy(page);
    assert!(!page.contains("every derivative is 0") && page.contains("has set derivatives itself"));
}

#[test]
fn what_was_seeded_is_overwritten() {
    let Some(exe) = guest_of("dot", "overwritten.c", "-O1") else { return };
    is_warned_of_spec(&Case::new("dot", &["--input=x"], &exe), "seed-overwritten", "--input=x");
}

/// The function is called once, with ones.
#[test]
fn outputs_that_are_never_reached() {
    let Some(exe) = guest_of("dot", "many.c", "-O1 -g") else { return };
    for spec in ["nine#ret[4]", "nine#1~99"] {
        let output = format!("--output={spec}");
        let case = Case::new("dot", &["--input=nine#1", &output], &exe);
        is_warned_of_spec(&case, "output-never-reached", &output);
    }
}

/// With debug information the same is certain.
#[test]
fn arguments_are_guessed() {
    for (flags, is_known) in [("-O1 -rdynamic -s", false), ("-O1 -g", true)] {
        let Some(exe) = guest_of("dot", "many.c", flags) else { return };
        let case = Case::new("dot", &["--input=nine#9"], &exe);
        match is_known {
            true => assert_eq!(warnings(&case), (Vec::new(), End::Exit(0))),
            false => is_warned_of(&case, "arguments-assumed", "nine#9"),
        }
    }
}

/// Sixteen bytes may be two doubles or a long double.
#[test]
fn formats_are_guessed() {
    for (flags, option, is_known) in [
        ("-O1 -rdynamic -s", "--input=wide", false),
        ("-O1 -rdynamic -s", "--input=wide:longdouble", true),
        ("-O1 -rdynamic -s", "--input=narrow", true),
        ("-O1 -g", "--input=wide", true),
    ] {
        let Some(exe) = guest_of("dot", "size_alone.c", flags) else { return };
        let case = Case::new("dot", &[option], &exe);
        match is_known {
            true => assert_eq!(warnings(&case), (Vec::new(), End::Exit(0)), "{flags} {option}"),
            false => is_warned_of(&case, "format-assumed", "--input=wide:longdouble"),
        }
    }
}

#[test]
fn programs_of_child_processes_are_not_followed() {
    let case =
        Case::new("mpfr", &[], Path::new("/bin/sh")).arg("-c").arg("ls; nothing_of_this_name 2>&1; ls; true");
    is_warned_of(&case, "exec-not-followed", "bin/ls");
}

#[test]
fn findings_are_suppressed() {
    let Some(exe) = guest("culprits/quadratic.c", "-O2 -g") else { return };
    let mut case = Case::new("mpfr", &["--suppressions=rules"], &exe);
    case.files.push(("rules".to_owned(), b"kind:cancellation\n".to_vec()));
    let (all, end) = warnings(&case);
    assert!(matches!(&all[..], [(code, _)] if code == "findings-suppressed"), "{all:?}");
    assert_eq!(end, End::Exit(2));
}

#[test]
fn names_of_a_static_program_are_gone() {
    let Some(exe) = guest("verdict/right.c", "-O1 -static -s") else { return };
    is_warned_of(&Case::new("mpfr", &[], &exe), "functions-unknown", "no names");
}

#[test]
fn there_is_nothing_to_warn_of() {
    let Some(exe) = guest("verdict/right.c", "-O1") else { return };
    let (all, end) = warnings(&Case::new("mpfr", &[], &exe));
    assert!(all.is_empty(), "{all:?}");
    assert_eq!(end, End::Exit(0));
}

/// Standard input may be a file that the program opens by the name of standard input.
#[test]
fn standard_input_is_found_that_is_opened_by_its_name() {
    let Some(exe) = guest_of("dot", "reopened.c", "-O1") else { return };
    let case = Case::new("dot", &["--input=stdin:1:2"], &exe);
    let (all, end) = warnings(&case);
    assert_eq!((&all[..], end), (&[][..], End::Exit(0)));
    let seen = case.observe().unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(seen.report.outputs.iter().map(|output| output.dot).collect::<Vec<_>>(), [Some(1.5)]);
}
