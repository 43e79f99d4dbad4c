//! However a program ends, its report is written and it ends as it does natively: crashes, signals, threads that end
//! the process, replaced images, forked children, reports that cannot be written, memory that is not there.

#![forbid(unsafe_code)]

use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left, Outcome};
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::Report;
use std::path::{Path, PathBuf};

const SHADOWS: [&str; 3] = ["dot", "adjoint", "mpfr"];
const REPORT: &str = "report.json";
const TO_REPORT: &str = "--report=json:report.json";

/// The guest; `None`, with a word of why, without a compiler.
fn guest() -> Option<PathBuf> {
    let source = host::tests_dir().join("guests/dot/endings.c");
    let exe = Recipe::new("gcc", "-O1 -pthread", &source, "").build().unwrap_or_else(|e| panic!("{e}"));
    if exe.is_none() {
        host::skipped("endings", "gcc is not installed");
    }
    exe
}

fn case(shadow: &'static str, program: &Path, how: &str) -> Case {
    let options: &[&str] = if shadow == "mpfr" { &[] } else { &["--input=x"] };
    Case::new(shadow, options, program).arg(how)
}

/// Under the tool, with a report.
fn run(case: &Case) -> Outcome {
    case.tool(&[TO_REPORT]).unwrap_or_else(|e| panic!("{e}"))
}

fn report(outcome: &Outcome, name: &str) -> Report {
    let text = match outcome.files.get(name) {
        Some(Left::File(_, text)) => text,
        _ => panic!("no {name} among {:?}", outcome.files.keys().collect::<Vec<_>>()),
    };
    Report::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The first output of the guest has what the shadow says about it.
#[track_caller]
fn has_first_output(shadow: &str, report: &Report) {
    let first = report.outputs.first().expect("an output");
    assert_eq!(first.value, 9.0);
    match shadow {
        "dot" | "adjoint" => assert_eq!(first.dot, Some(6.0)),
        _ => assert_eq!(first.error_bits, Some(0.0)),
    }
}

#[track_caller]
fn ends_as_natively(how: &str, signal: Option<&str>, status: Option<i32>) {
    let Some(program) = guest() else { return };
    for shadow in SHADOWS {
        let mut case = case(shadow, &program, how);
        case.exit = status.unwrap_or(0);
        let outcome = run(&case);
        match (outcome.end, status) {
            (End::Exit(is), Some(must)) => assert_eq!(is, must, "{shadow}"),
            (end @ End::Signal { .. }, None) => {
                assert!(signal.is_some_and(|name| end.is(name)), "{shadow}: {end}");
            }
            (end, _) => panic!("{shadow}: {end}"),
        }
        let report = report(&outcome, REPORT);
        has_first_output(shadow, &report);
        assert_eq!(report.document["partial"], signal.is_some(), "{shadow}");
        assert_eq!(report.document["program"]["signal"].as_str(), signal, "{shadow}");
        assert_eq!(report.document["program"]["exit_code"].as_i64(), status.map(i64::from), "{shadow}");
    }
}

#[test]
fn a_crash_is_reported_and_is_still_one() {
    ends_as_natively("fault", Some("SIGSEGV"), None);
    ends_as_natively("abort", Some("SIGABRT"), None);
}

#[test]
fn a_signal_that_ends_the_program_is_reported() {
    ends_as_natively("terminated", Some("SIGTERM"), None);
    ends_as_natively("killed-thread", Some("SIGTERM"), None);
}

#[test]
fn a_thread_may_end_the_process() {
    ends_as_natively("thread", None, Some(7));
}

#[test]
fn the_end_of_a_vfork_child_is_not_the_end_of_its_parent() {
    ends_as_natively("vfork", None, Some(5));
}

#[test]
fn memory_that_cannot_be_had_is_refused_and_the_program_goes_on() {
    ends_as_natively("memory", None, Some(5));
}

#[test]
fn after_an_execve_the_report_is_about_the_new_image() {
    let Some(program) = guest() else { return };
    for shadow in SHADOWS {
        let outcome = run(&case(shadow, &program, "exec"));
        assert_eq!(outcome.end, End::Exit(5), "{shadow}");
        assert_eq!(outcome.stdout, b"9\n9\n", "{shadow}");
        let report = report(&outcome, REPORT);
        has_first_output(shadow, &report);
        assert_eq!(report.outputs.len(), 1, "{shadow}");
        assert_eq!(report.document["program"]["argv"][1], "replaced", "{shadow}");
    }
}

#[test]
fn shells_and_env_hand_the_tool_on() {
    let Some(program) = guest() else { return };
    let Some(shell) = host::find_program("bash") else {
        return host::skipped("exec by bash", "not installed");
    };
    let env = host::find_program("env").expect("coreutils");
    let line = format!("exec '{}' replaced", program.display());
    let by_shell = Case::new("mpfr", &[], &shell).arg("-c").arg(line);
    let by_env = Case::new("mpfr", &[], &env).arg("A=1").arg(&program).arg("replaced");
    for case in [by_shell, by_env] {
        let outcome = run(&case);
        assert_eq!(outcome.end, End::Exit(5), "{:?}", case.argv);
        has_first_output("mpfr", &report(&outcome, REPORT));
    }
}

#[test]
fn forked_children_have_reports_of_their_own_and_find_no_lock_held() {
    let Some(program) = guest() else { return };
    for shadow in SHADOWS {
        let outcome = run(&case(shadow, &program, "fork"));
        assert_eq!(outcome.end, End::Exit(0), "{shadow}");
        has_first_output(shadow, &report(&outcome, REPORT));
        let children: Vec<&String> =
            outcome.files.keys().filter(|name| name.starts_with("report.json.")).collect();
        assert_eq!(children.len(), 30, "{shadow}: {children:?}");
        for name in children {
            let report = report(&outcome, name);
            assert_eq!(report.outputs.len(), 1, "{shadow}: only what the child printed");
            let status = report.document["program"]["exit_code"].as_i64().expect("a status");
            assert_eq!(report.outputs[0].value, 3.0 * (status as f64 + 2.0), "{shadow}");
            if shadow != "mpfr" {
                assert_eq!(report.outputs[0].dot, Some(status as f64 + 2.0), "{shadow}");
            }
        }
    }
}

#[test]
fn a_report_that_cannot_be_written_is_one_line_and_changes_nothing_else() {
    // The place is there when the program starts, and gone when it ends.
    let line = "rm -r place; echo out; exit 5";
    let mut case = Case::new("mpfr", &[], Path::new("/bin/sh")).arg("-c").arg(line);
    case.files.push(("place/file".to_owned(), Vec::new()));
    let outcome = case.tool(&["--report=json:place/report.json"]).unwrap_or_else(|e| panic!("{e}"));
    let said = String::from_utf8_lossy(&outcome.stderr);
    let (warnings, errors): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.contains(" warning: "));
    assert!(matches!(errors[..], [line] if line.contains("place/report.json")), "{said}");
    assert!(matches!(warnings[..], [line] if line.ends_with("bin/rm")), "{said}");
    assert_eq!(outcome.end, End::Exit(5));
    assert_eq!(outcome.stdout, b"out\n");
}

#[test]
fn a_place_that_no_report_can_be_written_to_is_refused_at_once() {
    let case = Case::new("mpfr", &[], Path::new("/bin/echo"));
    let outcome = case.tool(&["--report=json:/proc/no/such/place.json"]).unwrap_or_else(|e| panic!("{e}"));
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("/proc/no/such/place.json"), "{said}");
    assert_eq!(outcome.end, End::Exit(2));
    assert!(outcome.stdout.is_empty());
}

/// Floats that leave by `write` and its kin are one output for each place, which is the worst that left there.
#[test]
fn floats_that_leave_in_binary_form_are_one_output_per_place() {
    let source = host::tests_dir().join("guests/mpfr/written.c");
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &source, "").build().unwrap_or_else(|e| panic!("{e}"))
    else {
        return host::skipped("written.c", "gcc is not installed");
    };
    let seen = Case::new("mpfr", &[], &exe).observe().unwrap_or_else(|e| panic!("{e}"));
    let outputs = &seen.report.outputs;
    assert!(outputs.iter().all(|output| output.kind == "written"), "{outputs:?}");
    assert_eq!(outputs.len(), 3, "{outputs:?}");
    // 1e16 + 0.75 is 1e16 in floats: 0 left where 0.75 should have, and before it where 0.25 and 0.5 should have.
    assert_eq!((outputs[0].value, outputs[0].real.as_deref()), (0.0, Some("0.75")));
    let records = &seen.report.document["outputs"];
    let counts: Vec<_> = (0..3).map(|index| records[index]["count"].as_u64()).collect();
    assert_eq!(counts, [Some(9), Some(2), Some(3)]);
    let mean = records[0]["mean_error_bits"].as_f64().expect("a mean");
    assert!(mean > 60.0 && outputs[0].error_bits.is_some_and(|worst| worst > mean), "{mean}");
    assert!(outputs[0].error_bits.is_some_and(|bits| bits > 60.0));
    assert_eq!((outputs[1].value, outputs[1].error_bits), (1.0 / 3.0, Some(0.0)));
    assert_eq!((outputs[2].value, outputs[2].error_bits), (f64::from(1.0_f32 / 3.0), Some(0.0)));
    assert_eq!(outputs[0].site.function, "main");
    let blamed = seen.report.findings.first().expect("a finding");
    assert_eq!((blamed.kind.as_str(), blamed.site.line), ("cancellation", 12));
    assert_eq!(blamed.outputs, [0]);
}

/// Floats that leave by one call of a library are an output for each caller, at the line of the program's own.
#[test]
fn floats_that_leave_in_binary_form_are_told_apart_by_caller() {
    let source = host::tests_dir().join("guests/mpfr/sent.c");
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &source, "").build().unwrap_or_else(|e| panic!("{e}"))
    else {
        return host::skipped("sent.c", "gcc is not installed");
    };
    let text = std::fs::read_to_string(&source).unwrap_or_else(|e| panic!("{e}"));
    let line_of = |mark: &str| 1 + text.lines().position(|line| line.ends_with(mark)).unwrap_or(0) as u64;
    let seen = Case::new("mpfr", &[], &exe).observe().unwrap_or_else(|e| panic!("{e}"));
    let records = seen.report.document["outputs"].as_array().cloned().unwrap_or_default();
    let told = records.iter().map(|record| {
        let [site, caller] = [&record["site"]["line"], &record["stack"][0]["line"]].map(|l| l.as_u64());
        (site.unwrap_or(0), caller.unwrap_or(0), record["count"].as_u64().unwrap_or(0))
    });
    let [leaves, wrong, right] = ["LEAVES", "WRONG", "RIGHT"].map(line_of);
    assert_eq!(told.collect::<Vec<_>>(), [(leaves, wrong, 3), (leaves, right, 2)]);
    // All of the error is that difference's, in each of the floats.
    let share = seen.report.document["findings"][0]["shares"][0].as_f64();
    assert!(
        share.is_some_and(|share| (share - 1.0).abs() < 0.01 || (share - 2.0 / 3.0).abs() < 0.01),
        "{share:?}"
    );
    // Under an error in place nobody looks at them: that is said, and never clean.
    let unseen = Case::new("error", &[], &exe).observe().unwrap_or_else(|e| panic!("{e}"));
    let gaps = unseen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
    assert!(gaps.iter().any(|gap| gap["instruction"] == "write (system call)"), "{gaps:?}");
    assert!(unseen.report.document["verdict"]["clean"] == false);
}

#[test]
fn without_address_space_for_shadows_nothing_runs() {
    let Some(program) = guest() else { return };
    let tool = shadowgrind_tests::tool::binary();
    let line = format!("ulimit -v 4000000; exec '{}' --shadow=mpfr '{}'", tool.display(), program.display());
    let shell = Case::new("none", &[], Path::new("/bin/sh")).arg("-c").arg(line);
    let mut natively = shell;
    natively.exit = 126;
    let outcome = natively.native().unwrap_or_else(|e| panic!("{e}"));
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("address space"), "{said}");
    assert!(outcome.stdout.is_empty());
}

/// A signal may be delivered where a function that prints has been seen to be entered, and has not begun; Go's scheduler then
/// comes back there from elsewhere than the handler, perhaps in another thread.
#[test]
fn outputs_are_counted_once_while_signals_arrive() {
    let source = host::tests_dir().join("guests/mpfr/preempted.go");
    let exe = Recipe::new("go", "build", &source, "").build().unwrap_or_else(|e| panic!("{e}"));
    let Some(exe) = exe else { return host::skipped("preempted.go", "go is not installed") };
    let outcome = run(&Case::new("mpfr", &[], &exe));
    assert_eq!(outcome.end, End::Exit(0));
    assert_eq!(report(&outcome, REPORT).outputs.len(), 40000);
}
