//! Names in trees of processes and modules: a SPEC need be found in one of the programs that run and the modules they load,
//! whoever executes or loads them; where nobody has it, that is said once, at the end.

#![forbid(unsafe_code)]

use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left, Outcome};
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::report::Report;
use shadowgrind_tests::suite::run;
use shadowgrind_tests::tool::{self, Engine};
use std::path::{Path, PathBuf};

fn built(source: &str, flags: &str) -> Option<PathBuf> {
    let source = host::tests_dir().join("guests/dot/trees").join(source);
    let exe = Recipe::new("gcc", flags, &source, "").build().unwrap_or_else(|e| panic!("{e}"));
    if exe.is_none() {
        host::skipped("trees", "gcc is not installed");
    }
    exe
}

fn leaf() -> Option<PathBuf> {
    built("leaf.c", "-O1 -g")
}

/// Outcome of a command under `dot`, with a report of each process, named by it, and the environment's options of the
/// engine.
fn under_dot(options: &[&str], command: &[&str], files: &[(&str, &[u8])]) -> Outcome {
    let engine = Engine::from_env();
    let program = tool::binary().to_str().expect("a path one can type");
    let given = engine.options.iter().map(String::as_str);
    let first = [program, "--shadow=dot", "-q", "--report=json:report.%p"];
    let argv: Vec<&str> = first
        .into_iter()
        .chain(given)
        .chain(options.iter().copied())
        .chain(["--"])
        .chain(command.iter().copied())
        .collect();
    run(&argv, files)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The reports with outputs.
fn reports(outcome: &Outcome) -> Vec<Report> {
    let files = outcome.files.iter().filter(|(name, _)| name.starts_with("report."));
    let parse = |left: &Left| match left {
        Left::File(_, text) => Report::parse(text).unwrap_or_else(|e| panic!("{e}")),
        other => panic!("{other:?}"),
    };
    files.map(|(_, left)| parse(left)).filter(|report| !report.outputs.is_empty()).collect()
}

/// The leaf's derivative is found, and nothing is said; the program ends and prints as natively.
#[track_caller]
fn finds_x(command: &[&str], files: &[(&str, &[u8])]) {
    let outcome = under_dot(&["--trace-children=yes", "--input=x"], command, files);
    let native = run(command, files);
    assert_eq!(text(&outcome.stderr), text(&native.stderr), "{command:?}");
    assert_eq!((outcome.end, &outcome.stdout), (native.end, &native.stdout), "{command:?}");
    let dots: Vec<_> = reports(&outcome).iter().flat_map(|r| &r.outputs).map(|o| o.dot).collect();
    assert!(dots.contains(&Some(6.0)), "{command:?}: {dots:?}");
}

#[test]
fn whoever_executes_a_program_its_names_are_found() {
    let Some(leaf) = leaf() else { return };
    let leaf = leaf.to_str().expect("a path one can type");
    finds_x(&["sh", "-c", leaf], &[]);
    finds_x(&["sh", "-c", &format!("{leaf}; echo $?")], &[]);
    finds_x(&["sh", "-c", &format!("(true | {leaf}) | cat; exec {leaf}")], &[]);
    finds_x(&["env", "A=1", leaf], &[]);
    finds_x(&["timeout", "60", leaf], &[]);
    finds_x(&["xargs", "-a", "/dev/null", leaf], &[]);
    let script = format!("#!/bin/sh\nexec {leaf}\n");
    finds_x(&["./script"], &[("script", script.as_bytes())]);
    for (program, option, line) in [
        (
            "/usr/bin/python3",
            "-c",
            format!("import subprocess; print(subprocess.run(['{leaf}'], capture_output=True))"),
        ),
        ("perl", "-e", format!("print `{leaf}`; print $? >> 8;")),
    ] {
        match host::find_program(program) {
            Some(_) => finds_x(&[program, option, &line], &[]),
            None => host::skipped(program, "not installed"),
        }
    }
}

#[test]
fn an_exec_in_the_first_process_is_followed_without_being_asked_for() {
    let Some(leaf) = leaf() else { return };
    let leaf = leaf.to_str().expect("a path one can type");
    let outcome = under_dot(&["--input=x"], &["sh", "-c", &format!("exec {leaf}")], &[]);
    assert_eq!(text(&outcome.stderr), "");
    assert_eq!(reports(&outcome)[0].outputs[0].dot, Some(6.0));
}

#[test]
fn what_no_program_has_is_said_once_at_the_end() {
    let Some(leaf) = leaf() else { return };
    let leaf = leaf.to_str().expect("a path one can type");
    let line = format!("{leaf}; {leaf}; echo done; exit 4");
    let options = ["--trace-children=yes", "--input=x", "--input=xx", "--output=nowhere#ret"];
    let outcome = under_dot(&options, &["sh", "-c", &line], &[]);
    assert_eq!((outcome.end, text(&outcome.stdout)), (End::Exit(4), "9\n9\ndone\n".to_owned()));
    let said = text(&outcome.stderr);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains("--input=xx") && said.contains("did you mean `x`?"), "{said}");
    assert!(said.contains("--output=nowhere#ret"), "{said}");
}

#[test]
fn a_program_to_which_nothing_can_come_is_refused_before_it_runs() {
    let Some(leaf) = leaf() else { return };
    let outcome = under_dot(&["--input=xx"], &[leaf.to_str().expect("a path one can type")], &[]);
    assert_eq!((outcome.end, outcome.stdout.len()), (End::Exit(2), 0));
    assert!(text(&outcome.stderr).contains("did you mean `x`?"));
}

#[test]
fn reports_of_executed_children_are_files_of_their_own() {
    let Some(leaf) = leaf() else { return };
    let leaf = leaf.to_str().expect("a path one can type");
    let program = tool::binary().to_str().expect("a path one can type");
    let line = format!("{leaf}; {leaf}");
    let first =
        [program, "--shadow=dot", "--input=x", "--trace-children=yes", "--report=json:report.json", "--"];
    let outcome = run(&[&first[..], &["sh", "-c", &line]].concat(), &[]);
    let named: Vec<&String> = outcome.files.keys().filter(|name| name.starts_with("report.json")).collect();
    assert_eq!(named.len(), 3, "{named:?}");
    assert!(outcome.files.contains_key("report.json"));
    // On the terminal, only those who have to do with what was asked for.
    let said = text(&outcome.stderr);
    assert_eq!(said.matches("shadowgrind dot: ").count(), 2, "{said}");
}

#[test]
fn modules_loaded_while_the_program_runs_are_looked_at() {
    let Some(module) = built("module.c", "-O1 -g -shared -fPIC") else { return };
    let Some(loads) = built("loads.c", "-O1 -g") else { return };
    let (loads, module) = (loads.to_str().expect("typable"), module.to_str().expect("typable"));
    let outcome =
        under_dot(&["--input=module_x", "--output=printed", "--output=scaled#ret"], &[loads, module], &[]);
    assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(5), String::new()));
    assert_eq!(text(&outcome.stdout), "42\n42\n");
    let report = &reports(&outcome)[0];
    // y = 4 x² + 2 x at x = 3, seeded each time it is loaded.
    let seen: Vec<_> = report.outputs.iter().map(|o| (o.value, o.dot)).collect();
    assert_eq!(seen, [(12.0, Some(4.0)), (42.0, Some(26.0)), (12.0, Some(4.0)), (42.0, Some(26.0))]);
    // By the preloading linker.
    let line = format!("LD_PRELOAD={module} {loads} {module}");
    let outcome = under_dot(&["--trace-children=yes", "--input=module_x"], &["sh", "-c", &line], &[]);
    assert_eq!(reports(&outcome)[0].outputs[0].dot, Some(26.0));
}

/// Copies a program to a path.
fn copied(program: &Path) -> Vec<u8> {
    std::fs::read(program).expect("a file that can be read")
}

#[test]
fn paths_of_programs_may_have_any_characters() {
    let Some(leaf) = leaf() else { return };
    let bytes = copied(&leaf);
    for name in [
        "a program",
        "new\nline",
        "x (deleted)",
        " [heap]",
        "ümläut",
        "tab\there",
        "00-ff r-xp 0 0:0 1 /bin/sh",
    ] {
        let line = "chmod +x \"$1\"; exec \"./$1\"";
        let outcome = under_dot(&["--input=x"], &["sh", "-c", line, "sh", name], &[(name, &bytes)]);
        assert_eq!(outcome.end, End::Exit(5), "{name:?}");
        let said = text(&outcome.stderr);
        assert!(said.lines().count() == 1 && said.ends_with("bin/chmod\n"), "{name:?}: {said}");
        let report = &reports(&outcome)[0];
        assert_eq!(report.outputs[0].dot, Some(6.0), "{name:?}");
        let site = &report.outputs[0].site;
        assert_eq!((site.function.as_str(), site.line), ("main", 8), "{name:?}");
    }
}

#[test]
fn a_module_may_be_gone_from_its_path_by_the_time_it_is_mapped() {
    let Some(module) = built("module.c", "-O1 -g -shared -fPIC") else { return };
    let Some(python) = host::find_program("/usr/bin/python3") else {
        return host::skipped("deleted modules", "python3 is not installed");
    };
    let script = "import ctypes, os\nfile = os.open('module.so', os.O_RDONLY)\nos.unlink('module.so')\n\
                  m = ctypes.CDLL(f'/proc/self/fd/{file}')\nm.module_y.restype = ctypes.c_double\nprint(m.module_y())\n";
    let files: &[(&str, &[u8])] = &[("module.so", &copied(&module)), ("script.py", script.as_bytes())];
    let command = [python.to_str().expect("typable"), "script.py"];
    let outcome = under_dot(&["--input=module_x"], &command, files);
    assert_eq!((outcome.end, text(&outcome.stderr)), (End::Exit(0), String::new()));
    assert_eq!(text(&outcome.stdout), "42.0\n");
    assert_eq!(reports(&outcome)[0].outputs[0].dot, Some(26.0));
}

/// Children that compute nothing have reports in files, and on the terminal if all is to be said; the others always.
#[test]
fn children_that_compute_nothing_say_nothing() {
    let Some(leaf) = leaf() else { return };
    let leaf = leaf.to_str().expect("a path one can type");
    let program = tool::binary().to_str().expect("a path one can type");
    let engine = Engine::from_env();
    for (more, said) in [(None, 1), (Some("-v"), 2)] {
        let mut argv = vec![program, "--shadow=error", "--trace-children=yes"];
        argv.extend(more.into_iter().chain(engine.options.iter().map(String::as_str)));
        let line = format!("{leaf}; /bin/true; exit 0");
        argv.extend(["--", "sh", "-c", &line]);
        let outcome = run(&argv, &[]);
        let heads = text(&outcome.stderr);
        let heads: Vec<&str> = heads.lines().filter(|line| line.starts_with("shadowgrind error: ")).collect();
        let children = heads.iter().filter(|head| !head.contains(" sh "));
        // The shell is the first process: it always has its report.
        assert_eq!((children.count(), heads.len()), (said, said + 1), "{heads:?}");
    }
}
