//! The command itself: usage, what it refuses and how, which programs it finds, what CPU it shows them, what it follows.
//!
//! Messages are judged by what they must mention, not by their wording.

#![forbid(unsafe_code)]

use shadowgrind_tests::compile::{Compiled, compile};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Outcome};
use shadowgrind_tests::spec::Guest;
use shadowgrind_tests::suite::run;
use shadowgrind_tests::tool;
use std::path::PathBuf;

/// Runs the tool with these words, in a directory with these files.
fn tool_with(words: &[&str], files: &[(&str, &[u8])]) -> Outcome {
    let program = tool::binary().to_str().expect("a path one can type");
    run(&[&[program], words].concat(), files)
}

fn stdout(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stdout).into_owned()
}

fn stderr(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

/// One line on stderr that mentions one of `words` in each group, nothing on stdout, and this status.
#[track_caller]
fn refuses(outcome: &Outcome, statuses: &[i32], groups: &[&[&str]]) {
    let text = stderr(outcome);
    assert!(statuses.iter().any(|s| outcome.end == End::Exit(*s)), "{}: {text}", outcome.end);
    assert_eq!(text.lines().count(), 1, "not one line: {text}");
    assert_eq!(stdout(outcome), "");
    let lower = text.to_lowercase();
    for words in groups {
        assert!(words.iter().any(|w| lower.contains(w)), "none of {words:?} in: {text}");
    }
}

/// A program's path natively executable, e.g. from a shell line.
fn guest(name: &str) -> Option<PathBuf> {
    let root = host::tests_dir().join("guests");
    let guest = Guest::read(&root, &root.join(name)).expect("readable").expect("a source");
    match compile(&guest, &guest.variants()[0]).unwrap_or_else(|e| panic!("{e}")) {
        Compiled::Ready(path) => Some(path),
        Compiled::NoCompiler(driver) => {
            host::skipped(name, &format!("{driver} is not installed"));
            None
        }
    }
}

#[test]
fn help_and_version_read_like_those_of_a_finished_tool() {
    let help = tool_with(&["--help"], &[]);
    assert_eq!(help.end, End::Exit(0));
    let options = [
        "--shadow",
        "--isa",
        "--superblock-limit",
        "--no-link",
        "--flush-every",
        "--stats",
        "--trace-children",
    ];
    for word in ["Usage", "shadowgrind"].iter().chain(&options) {
        assert!(stdout(&help).contains(word), "no {word} in the help");
    }
    let version = tool_with(&["--version"], &[]);
    assert_eq!(version.end, End::Exit(0));
    assert!(stdout(&version).starts_with("shadowgrind "), "{}", stdout(&version));
    assert_eq!(stdout(&version).lines().count(), 1);
}

#[test]
fn usage_errors_end_with_2() {
    refuses(&tool_with(&["--no-such-option", "true"], &[]), &[2], &[&["--no-such-option"]]);
    refuses(&tool_with(&["--shadow=nonsense", "true"], &[]), &[2], &[&["nonsense"], &["none"]]);
    refuses(&tool_with(&["--isa=v9", "true"], &[]), &[2], &[&["v9"]]);
    refuses(&tool_with(&["--superblock-limit=many", "true"], &[]), &[2], &[&["many"]]);
    refuses(&tool_with(&["--flush-every=-1", "true"], &[]), &[2], &[&["flush-every"]]);
    refuses(&tool_with(&[], &[]), &[2], &[&["prog"]]);
}

#[test]
fn nonsense_in_options_ends_with_2() {
    for option in [
        "--precision=63",
        "--precision=16385",
        "--error-threshold=nan",
        "--error-exitcode=256",
        "--expr-depth=0",
        "--report=run.json",
        "--input=u[",
        "--input=u=x",
        "--output=u=x",
        "--gen-suppressions=perhaps",
        "--fail-on=output,nothing",
        "--fail-on=",
    ] {
        let name = option.split('=').next().unwrap_or_default();
        refuses(&tool_with(&[option, "true"], &[]), &[2], &[&[name]]);
    }
}

/// Each option that a shadow cannot answer, with a value, and the shadows that can.
#[test]
fn questions_that_a_shadow_cannot_answer_are_refused() {
    const RECORD: [&str; 7] = [
        "--gradient=g.npy",
        "--jacobian=j.mtx",
        "--sparsity=s.mtx",
        "--direction=d.npy",
        "--budget",
        "--tape-memory=1G",
        "--tape-dir=/tmp",
    ];
    let refused = |shadow: &str, option: &str, with: &str| {
        let name = option.split('=').next().unwrap_or_default();
        let expected = format!("{name} needs --shadow={with}");
        let said = tool_with(&[&format!("--shadow={shadow}"), option, "true"], &[]);
        assert!(stderr(&said).contains(&expected), "{shadow} {option}: {}", stderr(&said));
        refuses(&said, &[2], &[]);
    };
    for shadow in ["none", "mpfr", "error"] {
        refused(shadow, "--input=x", "dot|adjoint");
        RECORD.iter().for_each(|option| refused(shadow, option, "adjoint"));
    }
    RECORD.iter().for_each(|option| refused("dot", option, "adjoint"));
    refused("adjoint", "--output-array=a.npy", "dot|error|mpfr; --gradient has gradients");
    refused("none", "--output-array=a.npy", "dot|error|mpfr");
    refused("mpfr", "--confirm", "error");
    for words in [["--list=inputs", "--input=x", "true"], ["--shadow=none", "--steps=0.5", "true"]] {
        let said = stderr(&tool_with(&words, &[]));
        assert!(!said.contains("needs --shadow"), "{words:?}: {said}");
    }
}

/// Each option that turns what a shadow does not do, and the shadows for which it is.
#[test]
fn options_that_change_nothing_are_said_to() {
    const ERRORS: [&str; 7] = [
        "--error-exitcode=1",
        "--fail-on=nan",
        "--suppressions=/dev/null",
        "--gen-suppressions=yes",
        "--error-threshold=7",
        "--expr-depth=3",
        "--remedies=no",
    ];
    let idle = |shadow: &str, option: &str, with: &str| {
        let name = option.split('=').next().unwrap_or_default();
        let line = format!("{name} changes nothing under --shadow={shadow}; it is for --shadow={with}");
        let said = tool_with(&[&format!("--shadow={shadow}"), option, "-q", "true"], &[]);
        assert_eq!(
            (said.end, stderr(&said).contains(&line)),
            (End::Exit(0), true),
            "{line}: {}",
            stderr(&said)
        );
    };
    for option in ERRORS {
        idle("dot", option, "error|mpfr");
        idle("none", option, "error|mpfr");
    }
    idle("error", "--precision=128", "mpfr");
    for option in ["--strict", "--num-callers=3"] {
        idle("none", option, "dot|adjoint|error|mpfr");
    }
    for words in
        [["--shadow=error", "--confirm", "--precision=128"], ["--shadow=mpfr", "--remedies=no", "-q"]]
    {
        let said = stderr(&tool_with(&[&words[..], &["true"]].concat(), &[]));
        assert!(!said.contains("changes nothing"), "{words:?}: {said}");
    }
}

#[test]
fn a_missing_program_ends_with_127() {
    refuses(&tool_with(&["./absent"], &[]), &[127], &[&["absent"], &["no such", "not found"]]);
    refuses(
        &tool_with(&["no-such-program-on-path"], &[]),
        &[127],
        &[&["no-such-program-on-path"], &["not found", "no such"]],
    );
    refuses(&tool_with(&["/etc/passwd/x"], &[]), &[126, 127], &[&["/etc/passwd/x"], &["not a directory"]]);
}

#[test]
fn what_cannot_be_executed_ends_with_126() {
    refuses(&tool_with(&["/tmp"], &[]), &[126], &[&["/tmp"], &["directory"]]);
    let files: &[(&str, &[u8])] = &[("plain", b"no program\n")];
    refuses(&tool_with(&["./plain"], files), &[126], &[&["plain"], &["permission"]]);
    refuses(
        &shell("chmod +x plain; exec \"$@\"", &["./plain"], files),
        &[126],
        &[&["plain"], &["#!", "format", "not an elf"]],
    );
    let empty: &[(&str, &[u8])] = &[("plain", b"")];
    refuses(&shell("chmod +x plain; exec \"$@\"", &["./plain"], empty), &[126], &[&["plain"]]);
}

/// Runs the tool on `words` from a shell line that prepares something and ends in `"$@"`.
fn shell(line: &str, words: &[&str], files: &[(&str, &[u8])]) -> Outcome {
    let program = tool::binary().to_str().expect("a path one can type");
    run(&[&["/bin/sh", "-c", line, "sh", program, "--"], words].concat(), files)
}

/// The beginning of an ELF file: class, machine, type, and absurd values for the rest.
fn elf(class: u8, machine: u8, rest: u8) -> Vec<u8> {
    let mut bytes =
        vec![0x7f, b'E', b'L', b'F', class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine, 0, 1, 0, 0, 0];
    bytes.resize(200, rest);
    bytes
}

#[test]
fn foreign_and_broken_images_end_with_126() {
    let make = "chmod +x image; exec \"$@\"";
    let check = |bytes: &[u8], groups: &[&[&str]]| {
        refuses(&shell(make, &["./image"], &[("image", bytes)]), &[126], groups)
    };
    check(&elf(1, 3, 0), &[&["image"], &["32-bit", "i386", "x86-32"]]);
    check(&elf(2, 0xb7, 0), &[&["image"], &["aarch64", "architecture", "machine"]]);
    check(&elf(2, 62, 0), &[&["image"]]);
    check(&elf(2, 62, 0xff), &[&["image"]]);
    let real = std::fs::read("/bin/true").expect("every system has one");
    for length in [5, 20, 63, 64, 100, 300] {
        check(&real[..length], &[&["image"], &["truncated", "corrupt", "elf", "header", "short"]]);
    }
}

#[test]
fn random_damage_to_an_image_never_crashes_the_loader() {
    let real = std::fs::read("/bin/true").expect("every system has one");
    let mut seed: u64 = 88_172_645_463_325_252;
    for _ in 0..60 {
        let mut bytes = real.clone();
        for _ in 0..8 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            // The headers: what the loader reads.
            bytes[16 + (seed >> 20) as usize % 600] = (seed >> 50) as u8;
        }
        let files: &[(&str, &[u8])] = &[("image", &bytes)];
        let native = run(&["/bin/sh", "-c", "chmod +x image; exec ./image"], files);
        let ours = shell("chmod +x image; exec \"$@\"", &["./image"], files);
        // The tool may be stricter than the kernel, with a line that says so; what it does run must behave alike.
        if ours.end == End::Exit(126) {
            assert_eq!(stderr(&ours).lines().count(), 1, "{}", stderr(&ours));
        } else if native.end == End::Exit(0) {
            assert_eq!(ours, native);
        } else {
            assert_ne!(ours.end, End::Hang);
            assert!(!stderr(&ours).contains("panicked"), "{}", stderr(&ours));
        }
    }
}

#[test]
fn a_missing_interpreter_is_named_and_ends_with_127() {
    let source: &[(&str, &[u8])] = &[("a.c", b"int main(void) { return 0; }\n")];
    let line = |linker: &str| format!("gcc '-Wl,--dynamic-linker={linker}' a.c -o image; exec \"$@\"");
    if host::find_program("gcc").is_some() {
        let missing = shell(&line("/no/such/ld.so"), &["./image"], source);
        refuses(&missing, &[127], &[&["/no/such/ld.so"]]);
        // Whatever the name is, it does nothing to a terminal, and there is one line.
        let crafted = shell(&line("/no/\x1b[31mred\nshadowgrind: fine"), &["./image"], source);
        refuses(&crafted, &[127], &[&["\\u{1b}[31mred\\nshadowgrind: fine"]]);
    }
    let script: &[(&str, &[u8])] = &[("script", b"#!/no/such/interpreter\n"), ("second", b"#!./script\n")];
    refuses(&tool_with(&["./script"], script), &[127], &[&["/no/such/interpreter"]]);
    refuses(&tool_with(&["./second"], script), &[127], &[&["/no/such/interpreter"]]);
    let here: &[(&str, &[u8])] = &[("script", b"#!/tmp\n")];
    refuses(&tool_with(&["./script"], here), &[126], &[&["/tmp"]]);
}

#[test]
fn a_setuid_program_is_refused() {
    let line = "cp /bin/true image; chmod 4755 image; exec \"$@\"";
    refuses(&shell(line, &["./image"], &[]), &[126], &[&["setuid", "set-user-id", "privileges"]]);
}

#[test]
fn limits_on_memory_give_a_clear_line_or_work() {
    for limit in [4_000_000, 1_000_000, 300_000, 100_000, 30_000] {
        let outcome = shell(&format!("ulimit -v {limit}; exec \"$@\""), &["/bin/echo", "works"], &[]);
        if outcome.end == End::Exit(0) {
            assert_eq!(stdout(&outcome), "works\n");
        } else {
            refuses(&outcome, &[126, 127, 1, 2], &[&["memory", "address space", "ulimit"]]);
        }
    }
}

#[test]
fn an_address_sanitizer_program_is_refused_clearly() {
    let source: &[(&str, &[u8])] = &[("a.c", b"int main(void) { return 0; }\n")];
    if run(&["/bin/sh", "-c", "gcc -fsanitize=address a.c -o image"], source).end != End::Exit(0) {
        return host::skipped("AddressSanitizer", "gcc -fsanitize=address does not work here");
    }
    let outcome = shell("gcc -fsanitize=address a.c -o image; exec \"$@\"", &["./image"], source);
    refuses(&outcome, &[126], &[&["sanitizer", "asan"]]);
}

#[test]
fn options_end_where_the_program_begins() {
    for words in [
        &["--shadow=none", "echo", "--version", "-x"][..],
        &["--", "echo", "--version", "-x"],
        &["echo", "--version", "-x"],
    ] {
        let native = run(&["echo", "--version", "-x"], &[]);
        assert_eq!(tool_with(words, &[]), native);
    }
}

#[test]
fn programs_are_found_as_a_shell_finds_them() {
    let script: &[(&str, &[u8])] =
        &[("bin/tool", b"#!/bin/sh\necho \"ran $0 $1\"\n"), ("tool", b"#!/bin/sh\necho wrong\n")];
    let on_path = shell("PATH=$PWD/bin:$PATH; exec \"$@\"", &["tool", "x"], script);
    let native = run(&["/bin/sh", "-c", "PATH=$PWD/bin:$PATH; exec tool x"], script);
    assert_eq!(stdout(&on_path).rsplit('/').next(), stdout(&native).rsplit('/').next());
    assert_eq!(stdout(&tool_with(&["./tool"], script)), "wrong\n");
    assert_eq!(stdout(&tool_with(&["bin/tool", "y"], script)), "ran bin/tool y\n");
    // An empty entry of PATH is the current directory.
    assert_eq!(stdout(&shell("PATH=:/usr/bin:/bin; exec \"$@\"", &["tool"], script)), "wrong\n");
}

#[test]
fn a_script_gets_its_interpreters_argument_in_one_piece() {
    let script: &[(&str, &[u8])] = &[
        ("show", b"#!/bin/sh\nprintf '[%s]' \"$@\"\n"),
        ("script", b"#!./show  one two  \n"),
        ("env", b"#!/usr/bin/env -S printf %s-%s\n"),
    ];
    for name in ["./script", "./env"] {
        assert_eq!(tool_with(&[name, "a b", "c"], script), run(&[name, "a b", "c"], script));
    }
}

/// Line that the guest which prints CPUID prints under these options, started by this shell line (or directly).
fn features(options: &[&str], line: Option<&str>) -> Option<String> {
    let exe = guest("isa/aux/features.c")?;
    let exe = exe.to_str().expect("a path one can type").to_owned();
    let mut words = options.to_vec();
    words.push("--");
    let filled = line.map(|l| l.replace("PROGRAM", &exe));
    match &filled {
        Some(line) => words.extend(["/bin/sh", "-c", line]),
        None => words.push(&exe),
    }
    Some(stdout(&tool_with(&words, &[])))
}

const V2: &str = "sse42=1 avx=0 fma=0 f16c=0 avx2=0 bmi2=0 avx512f=0 avx512vl=0 ymm=0 zmm=0\n";
const V3: &str = "sse42=1 avx=1 fma=1 f16c=1 avx2=1 bmi2=1 avx512f=0 avx512vl=0 ymm=1 zmm=0\n";
const V4: &str = "sse42=1 avx=1 fma=1 f16c=1 avx2=1 bmi2=1 avx512f=1 avx512vl=1 ymm=1 zmm=1\n";

#[test]
fn the_cpu_that_the_program_sees_is_the_one_asked_for() {
    let Some(shown) = features(&["--isa=v2"], None) else { return };
    assert_eq!(shown, V2);
    if host::has_cpu_flag("avx2") {
        assert_eq!(features(&["--isa=v3"], None).as_deref(), Some(V3));
        assert_eq!(features(&[], None).as_deref(), Some(V3), "the default is the same on every host");
    }
    if !host::lacks("--isa=v4", &["avx512vl"]) {
        assert_eq!(features(&["--isa=v4"], None).as_deref(), Some(V4));
        assert_eq!(features(&["--isa=native"], None).as_deref(), Some(V4));
    }
}

#[test]
fn forks_and_execs_stay_under_the_tool_and_children_that_exec_do_if_asked() {
    if host::lacks("following children", &["avx2"]) {
        return;
    }
    let Some(exec) = features(&["--isa=v2"], Some("exec PROGRAM")) else { return };
    assert_eq!(exec, V2, "an exec in the first process");
    assert_eq!(features(&["--isa=v2"], Some("exec PROGRAM fork")).as_deref(), Some(V2), "a fork");
    let child = features(&["--isa=v2"], Some("PROGRAM; true"));
    assert_ne!(child.as_deref(), Some(V2), "a child that execs runs natively");
    let followed = ["--isa=v2", "--trace-children=yes"];
    assert_eq!(
        features(&followed, Some("PROGRAM; true")).as_deref(),
        Some(V2),
        "unless it is to be followed"
    );
    assert_eq!(
        features(&followed, Some("(PROGRAM; true) | cat")).as_deref(),
        Some(V2),
        "any number of levels down"
    );
    assert_ne!(features(&["--isa=v2", "--trace-children=no"], Some("PROGRAM; true")).as_deref(), Some(V2));
}

#[test]
fn statistics_go_to_stderr_and_name_what_was_counted() {
    let plain = tool_with(&["--stats", "--", "/bin/echo", "x"], &[]);
    assert_eq!((plain.end, stdout(&plain).as_str()), (End::Exit(0), "x\n"));
    for word in ["blocks", "bytes", "misses", "flushes", "syscalls", "faults"] {
        assert!(stderr(&plain).to_lowercase().contains(word), "no {word} in: {}", stderr(&plain));
    }
    // A program that closes its standard error does not lose them, nor does it get to see the tool's descriptor.
    let closed = tool_with(&["--stats", "--", "/bin/sh", "-c", "exec 2>&-; ls /proc/self/fd >&2"], &[]);
    assert!(stderr(&closed).to_lowercase().contains("blocks"), "{}", stderr(&closed));
}

/// Children redirect their standard error, into pipes and files that the program reads. What the tool has to say goes where it
/// was started, from every process, and nowhere else.
#[test]
fn reports_go_to_the_standard_error_that_the_tool_was_started_with() {
    let Some(exe) = guest("process/spawn.c") else { return };
    let exe = exe.to_str().expect("a path one can type");
    let native = run(&[exe], &[]);
    for shadow in ["none", "dot", "mpfr"] {
        for (follow, processes) in [("--trace-children=no", 1), ("--trace-children=yes", 6)] {
            let carry = format!("--shadow={shadow}");
            // Children that compute nothing say so only if all is to be said.
            let outcome = tool_with(&[&carry, follow, "-v", "--stats", "--", exe], &[]);
            assert_eq!((outcome.end, stdout(&outcome)), (native.end, stdout(&native)), "{shadow} {follow}");
            assert_eq!(outcome.files, native.files, "{shadow} {follow}");
            let said = stderr(&outcome);
            let reports = if shadow == "none" { 0 } else { processes };
            assert_eq!(said.matches("shadowgrind: threads").count(), processes, "{shadow} {follow}: {said}");
            assert_eq!(said.matches(&format!("shadowgrind {shadow}: ")).count(), reports, "{follow}: {said}");
        }
    }
}

#[test]
fn nothing_is_printed_unless_asked_for() {
    let outcome = tool_with(&["--shadow=none", "--", "/bin/true"], &[]);
    assert_eq!(
        (outcome.end, stdout(&outcome), stderr(&outcome)),
        (End::Exit(0), String::new(), String::new())
    );
}

#[test]
fn symbols_are_listed_without_running_anything() {
    let Some(program) = guest("dot/overwritten.c") else { return };
    let program = program.to_str().expect("a path one can type");
    let listed = tool_with(&["symbols", program, "main"], &[]);
    assert_eq!(listed.end, End::Exit(0), "{}", stderr(&listed));
    assert!(stdout(&listed).lines().any(|line| line.starts_with("main ")), "{}", stdout(&listed));
    let json = tool_with(&["symbols", "--json", program, "main"], &[]);
    let read: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(read.as_array().is_some_and(|names| names.iter().any(|name| name["spec"] == "main")), "{read}");
    refuses(&tool_with(&["symbols", program, "no such name"], &[]), &[1], &[&["no such name"]]);
    refuses(&tool_with(&["symbols", "no-such-program"], &[]), &[127], &[&["no-such-program"]]);
    refuses(&tool_with(&["symbols", "text"], &[("text", b"text")]), &[126], &[&["elf"]]);
    refuses(&tool_with(&["symbols", "./text"], &[("text", b"text")]), &[126], &[&["elf"]]);
    refuses(&tool_with(&["symbols"], &[]), &[2], &[&["prog"]]);
}
