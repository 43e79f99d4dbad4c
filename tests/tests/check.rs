//! `shadowgrind check`: right programs agree with their differences, and of others the line is named at which derivatives
//! part from those: `// PARTS` in the guests of `guests/check`.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left, Outcome};
use shadowgrind_tests::run::Job;
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::suite::base_environment;
use shadowgrind_tests::tool::{self, Engine};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Test of a name.
type Check = Box<dyn FnOnce(&str) -> Result<(), Failed> + Send>;

const SHADOWS: [&str; 2] = ["dot", "adjoint"];
const REPORT: &str = "check.json";

fn main() -> ExitCode {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Check| {
        trials.push(Trial::test(name.clone(), move || check(&name)));
    };
    for shadow in SHADOWS {
        for program in RIGHT {
            let name = format!("right/{}/{shadow}", program.source);
            add(name, Box::new(move |name| check_right(name, &program, shadow)));
        }
        for guest in ["branch", "floor", "half"] {
            let name = format!("parts/{guest}/{shadow}");
            add(name, Box::new(move |name| check_parts(name, guest, shadow)));
        }
        add(format!("python/{shadow}"), Box::new(move |name| check_python(name, shadow)));
        add(format!("stdin/{shadow}"), Box::new(move |name| check_stdin(name, shadow)));
    }
    add("noise".to_owned(), Box::new(check_unsteady));
    add("unreached".to_owned(), Box::new(check_unreached));
    for refused in REFUSED {
        add(format!("refused/{}", refused.0), Box::new(move |name| check_refused(name, refused)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Program whose derivatives are right.
struct Program {
    compiler: &'static str,
    flags: &'static str,
    /// Below the workspace's directory.
    source: &'static str,
    input: &'static str,
    argument: &'static str,
}

const RIGHT: [Program; 10] = [
    Program {
        compiler: "gcc",
        flags: "-O2 -g",
        source: "tests/guests/check/lines.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "gcc",
        flags: "-O2 -g",
        source: "tests/guests/check/signalled.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "gcc",
        flags: "-O2 -g",
        source: "tests/guests/check/smooth.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "gcc",
        flags: "-O2 -g",
        source: "tests/guests/check/roundings.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "gcc",
        flags: "-O2 -g",
        source: "tests/guests/check/swings.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "g++",
        flags: "-O3 -g -march=x86-64-v3",
        source: "examples/burgers/burgers.cpp",
        input: "shift",
        argument: "40",
    },
    Program {
        compiler: "gcc",
        flags: "-O2 -g",
        source: "tests/guests/dot/gradients/nbody.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "gcc",
        flags: "-O3 -g",
        source: "tests/guests/dot/gradients/lu.c",
        input: "x",
        argument: "",
    },
    Program {
        compiler: "gfortran",
        flags: "-O2 -g",
        source: "examples/fortran/heat.f90",
        input: "rod::conductivity",
        argument: "",
    },
    Program {
        compiler: "gcc",
        flags: "-O1 -g",
        source: "tests/guests/check/single.c",
        input: "x",
        argument: "",
    },
];

/// `shadowgrind check` of a command with these options; its report, if it has written one.
fn run(options: &[&str], command: &[OsString], stdin: &[u8]) -> Result<(Outcome, Option<Value>), String> {
    let engine = Engine::from_env();
    let mut argv: Vec<OsString> = vec![tool::binary().into(), "check".into()];
    argv.push(format!("--report=json:{REPORT}").into());
    argv.extend(engine.options.iter().map(OsString::from));
    argv.extend(options.iter().map(OsString::from));
    argv.extend(command.iter().cloned());
    let job = Job {
        argv,
        env: base_environment(&engine),
        stdin: stdin.to_vec(),
        dir: host::fresh_work_dir(),
        files: Vec::new(),
        timeout: Duration::from_secs(240) * tool::patience(),
    };
    let outcome = job.run().map_err(|e| format!("{}: {e}", job.display()))?;
    let report = match outcome.files.get(REPORT) {
        Some(Left::File(_, text)) => serde_json::from_slice(text).ok(),
        _ => None,
    };
    Ok((outcome, report))
}

fn expect_status(outcome: &Outcome, status: i32) -> Result<(), Failed> {
    if outcome.end == End::Exit(status) {
        return Ok(());
    }
    Err(format!("{}, and not {status}\n{}", outcome.end, String::from_utf8_lossy(&outcome.stderr)).into())
}

/// All derivatives agree, the program's output is shown once, and the number of runs is told.
fn agrees(shadow: &str, input: &str, command: &[OsString], stdin: &[u8]) -> Result<Value, Failed> {
    let options = [format!("--shadow={shadow}"), format!("--input={input}"), "--components=3".to_owned()];
    let (outcome, report) = run(&options.each_ref().map(String::as_str), command, stdin)?;
    expect_status(&outcome, 0)?;
    let report = report.ok_or("no report")?;
    let runs = report["runs"].as_u64().ok_or("no runs")?;
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    if report["verdict"] != "agrees" || runs < 10 || !text.contains(&format!("ran {runs} times")) {
        return Err(format!("{runs} runs\n{text}").into());
    }
    let compared = report["compared"].as_array().ok_or("nothing compared")?;
    let moves = |row: &Value| row["difference"].as_f64().is_some_and(|x| x != 0.0);
    if !compared.iter().any(moves) || report["products"].as_array().is_none_or(Vec::is_empty) {
        return Err(format!("nothing depends on the input\n{text}").into());
    }
    Ok(report)
}

fn check_right(name: &str, program: &Program, shadow: &str) -> Result<(), Failed> {
    let source = host::workspace_dir().join(program.source);
    let recipe = Recipe::new(program.compiler, program.flags, &source, "-lm");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let mut command: Vec<OsString> = vec![exe.into()];
    command.extend((!program.argument.is_empty()).then(|| program.argument.into()));
    agrees(shadow, program.input, &command, b"").map(drop)
}

fn guest(name: &str, guest: &str) -> Result<Option<(PathBuf, PathBuf)>, Failed> {
    let source = host::tests_dir().join(format!("guests/check/{guest}.c"));
    let exe = built(name, &Recipe::new("gcc", "-O1 -g", &source, "-lm"))?;
    Ok(exe.map(|exe| (source, exe)))
}

/// Number of the marked line of a source.
fn marked(source: &Path) -> Result<usize, Failed> {
    let text = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
    text.lines()
        .position(|line| line.contains("// PARTS"))
        .map(|line| line + 1)
        .ok_or_else(|| "no mark".into())
}

fn check_parts(name: &str, which: &str, shadow: &str) -> Result<(), Failed> {
    let Some((source, exe)) = guest(name, which)? else { return Ok(()) };
    let (outcome, report) = run(&[&format!("--shadow={shadow}"), "--input=x"], &[exe.into()], b"")?;
    expect_status(&outcome, 1)?;
    let report = report.ok_or("no report")?;
    let place = report["parting"]["place"].as_str().unwrap_or_default();
    let expected = format!("({which}.c:{})", marked(&source)?);
    if place.ends_with(&expected) && report["verdict"] == "differs" {
        return Ok(());
    }
    Err(format!("parts at {place:?}, must be {expected}\n{report:#}").into())
}

const SCRIPT: &str = "import math, sys\nx = float(sys.argv[1])\nt = 0.0\nfor k in range(1, 40):\n    t += math.sin(k * x) / k\nprint(t, t * t - x)\n";

fn check_python(name: &str, shadow: &str) -> Result<(), Failed> {
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        host::skipped(name, "/usr/bin/python3 is not installed");
        return Ok(());
    }
    let command = [python.into(), "-c".into(), SCRIPT.into(), "1.25".into()];
    agrees(shadow, "PyOS_string_to_double#ret~1.25", &command, b"").map(drop)
}

/// Each run has all of standard input.
fn check_stdin(name: &str, shadow: &str) -> Result<(), Failed> {
    let source = host::tests_dir().join("guests/check/read.c");
    let Some(exe) = built(name, &Recipe::new("gcc", "-O1 -g", &source, "-lm"))? else { return Ok(()) };
    let report = agrees(shadow, "stdin:2:1", &[exe.into()], b"1.5 2\n2.5\n-3e-1\n")?;
    let value = report["compared"][0]["derivative"].as_f64().unwrap_or(f64::NAN);
    // d/dx (1.5² + 2² + x² + 0.3²) = 2x
    if value == 5.0 { Ok(()) } else { Err(format!("derivative {value}").into()) }
}

/// An input that was never reached is not called right, and is named; what another input moves is compared all the same.
fn check_unreached(name: &str) -> Result<(), Failed> {
    let source = host::tests_dir().join("guests/check/read.c");
    let Some(exe) = built(name, &Recipe::new("gcc", "-O1 -g", &source, "-lm"))? else { return Ok(()) };
    for options in [&["--input=stdin:9:1"][..], &["--input=stdin:2:1", "--input=stdin:9:1"]] {
        let (outcome, report) = run(options, &[exe.clone().into()], b"1.5 2\n2.5\n")?;
        expect_status(&outcome, 3)?;
        let report = report.ok_or("no report")?;
        let text = String::from_utf8_lossy(&outcome.stderr);
        let is_named = text.contains("Nothing was checked for --input=stdin:9:1, never reached.");
        if report["verdict"] != "unsettled"
            || report["unreached"] != serde_json::json!(["--input=stdin:9:1"])
            || report["compared"][0]["verdict"] != "agrees"
            || !is_named
        {
            return Err(format!("{report:#}\n{text}").into());
        }
    }
    Ok(())
}

/// A program that does not print the same twice is called neither right nor wrong, and the reason is given.
fn check_unsteady(name: &str) -> Result<(), Failed> {
    for guest in ["unsteady.c", "unsteady_count.c"] {
        let source = host::tests_dir().join("guests/check").join(guest);
        let Some(exe) = built(name, &Recipe::new("gcc", "-O1 -g", &source, "-lm"))? else { return Ok(()) };
        let (outcome, report) = run(&["--input=x"], &[exe.into()], b"")?;
        let report = report.ok_or("no report")?;
        let notes = report["notes"].to_string();
        if outcome.end != End::Exit(3) || !notes.contains("the same numbers each time") {
            return Err(format!("{guest}: {}: {report:#}", outcome.end).into());
        }
    }
    Ok(())
}

/// Options and a program that cannot be checked, the status, and a word of the line that says so.
type Refused = (&'static str, &'static str, i32, &'static str);

const REFUSED: [Refused; 7] = [
    ("", "true", 2, "--input"),
    ("--input=x[", "true", 2, "x["),
    ("--shadow=mpfr --input=x", "true", 2, "dot or adjoint"),
    ("--input=x --tolerance=2", "true", 2, "tolerance"),
    ("--input=x --report=html:x", "true", 2, "json:FILE"),
    ("--input=nowhere", "/bin/true", 2, "nowhere"),
    ("--input=x", "/nowhere/prog", 127, "/nowhere/prog"),
];

fn check_refused(_name: &str, (options, program, status, word): Refused) -> Result<(), Failed> {
    let options: Vec<&str> = options.split_whitespace().collect();
    let (outcome, _) = run(&options, &[program.into()], b"")?;
    expect_status(&outcome, status)?;
    let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
    if stderr.lines().count() == 1 && stderr.contains(word) { Ok(()) } else { Err(stderr.into()) }
}
