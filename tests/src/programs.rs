//! Real programs as test cases: files in `tests/programs` whose `#@ key: value` lines say what to run on them.
//!
//! | key | meaning |
//! |---|---|
//! | `run NAME` | a command; `{file}` is the case's own file. Repeatable, each is a test of its own |
//! | `needs` | programs; `NAME!COMMAND` names what a shell command must find. Without them the case is skipped, loudly |
//! | `prepare` | a shell line run natively once; what it leaves behind is there for each run. Repeatable |
//! | `follow` | `yes`: what the program executes in child processes runs under the tool as well |
//! | `ignore` | lines of output containing this are not compared: times, process numbers. Repeatable |
//! | `forget` | a file that is not compared: what holds times or inode numbers. Repeatable |
//! | `exit` | `any`: the native run may fail, it only has to fail alike |
//! | `env`, `timeout`, `stdin` | as for guests; `stdin` names a file. A case with a time limit of its own is a long one |
//!
//! The native run must succeed unless the case says otherwise: a program that fails at once proves little.

use crate::compare::without_lines;
use crate::host;
use crate::outcome::{End, Left, Outcome, files_below};
use crate::run::Job;
use crate::suite::{base_environment, check_job, trial_name};
use crate::tool::{self, Engine};
use libtest_mimic::{Failed, Trial};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// One file of `tests/programs`.
#[derive(Clone, Debug, Default)]
struct Case {
    name: String,
    file: PathBuf,
    runs: Vec<(String, Vec<String>)>,
    needs: Vec<String>,
    prepare: Vec<String>,
    follow: bool,
    ignore: Vec<String>,
    forget: Vec<String>,
    may_fail: bool,
    env: Vec<(String, String)>,
    stdin: Option<String>,
    timeout: u64,
}

/// Seconds.
const USUAL_TIMEOUT: u64 = 180;

/// In other configurations than the default, each run has every sixth one, or fewer where only the engine is slow.
const PROGRAM_TURNS: usize = 6;

/// Files that preparation left behind, shared by the runs of a case.
type Prepared = Arc<Mutex<Option<Result<Vec<(String, Vec<u8>)>, String>>>>;

/// One test per command of each case and configuration, in turn as far as it is not the default; without the long ones if so
/// asked.
pub fn program_trials(engines: &[Engine], with_long: bool) -> Vec<Trial> {
    let cases = all_cases(&host::tests_dir().join("programs")).unwrap_or_else(|e| panic!("{e}"));
    let mut trials = Vec::new();
    let taken = cases.iter().filter(|case| with_long || case.timeout == USUAL_TIMEOUT);
    for (c, case) in taken.enumerate() {
        let prepared = Prepared::default();
        for (e, engine) in engines.iter().enumerate() {
            for (r, (run, argv)) in case.runs.iter().enumerate() {
                let turn = (c + r + e).is_multiple_of(turns(engine));
                if !(turn || engine.name.is_empty() || tool::is_full_run()) {
                    continue;
                }
                let name = trial_name(&format!("{}/{run}", case.name), engine);
                let (case, engine, argv, prepared) =
                    (case.clone(), engine.clone(), argv.clone(), prepared.clone());
                trials
                    .push(Trial::test(name.clone(), move || check(&name, &case, &argv, &engine, &prepared)));
            }
        }
    }
    trials
}

/// Number of configurations of which a run has one. Where the engine is as slow as it can be, nothing of a program's own is
/// tested that guests do not test in less time; under a shadow there is.
fn turns(engine: &Engine) -> usize {
    if engine.shadow.is_some() { PROGRAM_TURNS } else { PROGRAM_TURNS.max(2 * engine.slowness as usize) }
}

fn all_cases(dir: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))? {
        let file = entry.map_err(|e| e.to_string())?.path();
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        cases.push(parse(name, file, &text)?);
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

fn parse(name: String, file: PathBuf, text: &str) -> Result<Case, String> {
    let mut case = Case { name, file, timeout: USUAL_TIMEOUT, ..Case::default() };
    for line in text.lines() {
        let Some(at) = ["#@ ", "//@ ", "--@ "].iter().find_map(|mark| line.strip_prefix(mark)) else {
            continue;
        };
        let (key, value) =
            at.split_once(':').ok_or_else(|| format!("{}: no colon in {line:?}", case.name))?;
        let value = value.trim().to_owned();
        match key.trim() {
            "needs" => case.needs.push(value),
            "prepare" => case.prepare.push(value),
            "follow" => case.follow = value == "yes",
            "ignore" => case.ignore.push(value),
            "forget" => case.forget.push(value),
            "exit" => case.may_fail = value == "any",
            "env" => case.env.extend(value.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))),
            "stdin" => case.stdin = Some(value),
            "timeout" => case.timeout = value.parse().map_err(|_| format!("bad timeout {value:?}"))?,
            key => match key.strip_prefix("run ") {
                Some(run) => case.runs.push((run.to_owned(), split_words(&value))),
                None => return Err(format!("{}: unknown directive {key:?}", case.name)),
            },
        }
    }
    if case.runs.is_empty() { Err(format!("{}: nothing to run", case.name)) } else { Ok(case) }
}

/// Words separated by blanks, except inside single quotes.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in text.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn check(
    name: &str,
    case: &Case,
    argv: &[String],
    engine: &Engine,
    prepared: &Prepared,
) -> Result<(), Failed> {
    if let Some(why) = missing(case, &argv[0]) {
        host::skipped(name, &why);
        return Ok(());
    }
    let files = prepare(case, prepared)?;
    let native = job(case, argv, files, engine);
    let options: &[&str] = if case.follow { &["--trace-children=yes"] } else { &[] };
    let ignore: Vec<&str> = case.ignore.iter().map(String::as_str).collect();
    let strip = |outcome: Outcome| Outcome {
        stdout: without_lines(&outcome.stdout, &ignore),
        stderr: without_lines(&outcome.stderr, &ignore),
        files: outcome.files.into_iter().filter(|(name, _)| !case.forget.contains(name)).collect(),
        ..outcome
    };
    check_job(&native, engine, options, strip, |outcome| {
        if outcome.end == End::Exit(0) || case.may_fail {
            Ok(())
        } else {
            Err("a case should succeed".to_owned())
        }
    })
}

fn missing(case: &Case, program: &str) -> Option<String> {
    for need in &case.needs {
        if let Some((what, command)) = need.split_once('!') {
            let found = Command::new("sh").args(["-c", command]).output().is_ok_and(|o| o.status.success());
            if !found {
                return Some(format!("{what} is not installed"));
            }
        }
    }
    let names = case.needs.iter().filter(|need| !need.contains('!')).flat_map(|need| need.split_whitespace());
    // A case's own script is in the directory that does not exist yet.
    let mut all = names.chain([program].into_iter().filter(|p| !p.starts_with("./")));
    all.find(|p| host::find_program(p).is_none()).map(|p| format!("{p} is not installed"))
}

/// The files a run starts with: the case itself and what its preparation made.
fn prepare(case: &Case, prepared: &Prepared) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut prepared =
        prepared.lock().map_err(|_| "another run of this case failed in preparation".to_owned())?;
    prepared.get_or_insert_with(|| prepare_once(case)).clone()
}

fn prepare_once(case: &Case) -> Result<Vec<(String, Vec<u8>)>, String> {
    let dir = host::fresh_work_dir();
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let name = file_name(case);
    std::fs::copy(&case.file, dir.join(&name)).map_err(|e| format!("{}: {e}", case.file.display()))?;
    for line in &case.prepare {
        let output = Command::new("sh").args(["-ec", line]).current_dir(&dir).env("TZ", "UTC").output();
        let output = output.map_err(|e| format!("{line}: {e}"))?;
        if !output.status.success() {
            return Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    let left = files_below(&dir).map_err(|e| e.to_string())?;
    std::fs::remove_dir_all(&dir).map_err(|e| e.to_string())?;
    let plain = |(name, left)| match left {
        Left::File(_, contents) => Some((name, contents)),
        _ => None,
    };
    Ok(left.into_iter().filter_map(plain).collect())
}

fn file_name(case: &Case) -> String {
    case.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Programs keep the developer's home and toolchain settings: shims find what they start by them.
fn job(case: &Case, argv: &[String], files: Vec<(String, Vec<u8>)>, engine: &Engine) -> Job {
    let mut env = base_environment(engine);
    for name in ["HOME", "PATH", "JAVA_HOME", "RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT"] {
        env.extend(std::env::var_os(name).map(|value| (OsString::from(name), value)));
    }
    env.extend(case.env.iter().map(|(name, value)| (name.into(), value.into())));
    let stdin = case.stdin.as_ref().and_then(|name| files.iter().find(|(n, _)| n == name));
    Job {
        argv: argv.iter().map(|word| word.replace("{file}", &file_name(case)).into()).collect(),
        env,
        stdin: stdin.map(|(_, contents)| contents.clone()).unwrap_or_default(),
        dir: host::fresh_work_dir(),
        files,
        timeout: engine.time_limit(case.timeout),
    }
}
