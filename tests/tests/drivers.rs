//! The drivers themselves: a tool that changes anything about a program must be caught. Stand-ins made of shell script
//! play the tool.

#![forbid(unsafe_code)]

use shadowgrind_tests::outcome::{End, Outcome};
use shadowgrind_tests::run::{Job, write_file};
use shadowgrind_tests::suite::{base_environment, check_job};
use shadowgrind_tests::tool::Engine;
use shadowgrind_tests::{host, spec};
use std::path::PathBuf;
use std::time::Duration;

/// A tool that drops its options, up to `--`, and goes on like this.
fn stand_in(name: &str, rest: &str) -> Engine {
    let dir = host::fresh_work_dir();
    let path = dir.join(name);
    let script = format!("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n{rest}\n");
    write_file(&path, script.as_bytes()).expect("the target directory is writable");
    Engine { stand_in: Some(path), ..Engine::from_env() }
}

fn program(line: &str) -> Job {
    Job {
        argv: ["/bin/sh", "-c", line].map(Into::into).to_vec(),
        env: base_environment(&Engine::from_env()),
        stdin: b"input\n".to_vec(),
        dir: host::fresh_work_dir(),
        files: vec![("given".to_owned(), b"given\n".to_vec())],
        timeout: Duration::from_secs(5),
    }
}

const PROGRAM: &str = "read x; echo out $x; echo err >&2; cat given > made; exit 3";

/// Statement of the comparison about the program under this tool; `None` if it finds no difference.
fn found(name: &str, rest: &str) -> Option<String> {
    let natively =
        |outcome: &Outcome| if outcome.end == End::Exit(3) { Ok(()) } else { Err("wrong".to_owned()) };
    let engine = stand_in(name, rest);
    let result = check_job(&program(PROGRAM), &engine, &[], std::convert::identity, natively);
    let dir = engine.stand_in.as_ref().and_then(|p| p.parent()).map(PathBuf::from);
    std::fs::remove_dir_all(dir.expect("made above")).expect("made above");
    result.err().map(|e| e.message().unwrap_or_default().to_owned())
}

#[test]
fn a_tool_that_changes_nothing_passes() {
    assert_eq!(found("faithful", "exec \"$@\""), None);
}

#[test]
fn every_change_is_caught() {
    let cases = [
        ("stdout", "echo more; exec \"$@\"", "stdout"),
        ("stderr", "echo more >&2; exec \"$@\"", "stderr"),
        ("lost", "\"$@\" > /dev/null", "stdout"),
        ("input", "exec \"$@\" < /dev/null", "stdout"),
        ("status", "\"$@\"; exit 4", "exit status 4"),
        ("signal", "\"$@\"; kill -SEGV $$", "SIGSEGV"),
        ("file", "touch extra; exec \"$@\"", "file extra"),
        ("contents", "echo changed > given; exec \"$@\"", "file given"),
        ("mode", "umask 077; exec \"$@\"", "file made"),
        ("hang", "\"$@\"; sleep 100; exit 3", "still running"),
        ("daemon", "sleep 100 & exec \"$@\"", "still running"),
    ];
    for (name, rest, expected) in cases {
        let text = found(name, rest).unwrap_or_else(|| panic!("{name} was not noticed"));
        assert!(text.contains(expected), "{name}: no {expected:?} in {text}");
    }
}

#[test]
fn a_program_that_is_itself_wrong_fails_too() {
    let never = |_: &Outcome| Err("not as announced".to_owned());
    let engine = stand_in("faithful", "exec \"$@\"");
    let result = check_job(&program(PROGRAM), &engine, &[], std::convert::identity, never);
    let text = result.expect_err("it was not as announced").message().unwrap_or_default().to_owned();
    assert!(text.contains("wrong natively"), "{text}");
}

#[test]
fn guests_say_what_they_are_in_their_first_line_and_use_known_directives() {
    let root = host::tests_dir().join("guests");
    let guests = spec::all_guests(&root).unwrap_or_else(|e| panic!("{e}"));
    assert!(guests.len() > 150, "only {} guests found", guests.len());
    for guest in guests {
        let text = std::fs::read_to_string(&guest.source).expect("it was read before");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("// ") || first.starts_with("! "), "{}: {first}", guest.name);
        let rest = first.trim_start_matches(['/', '!', ' ']);
        assert!(
            rest.len() > 20 && rest.ends_with(['.', ')']),
            "{}: the first line should say the idea",
            guest.name
        );
    }
}
