//! The verdict of `--shadow=mpfr`: never "clean" where anything is wrong, and every reason at its line.
//!
//! A guest in `guests/mpfr/verdict` marks the lines of its findings: `// DECIDES 3 of 11`, `// UNSETTLED 1 of 1`, `// BORN`.
//! At its head, `// CLEAN` says what the verdict must be, `// FAILS output decision nan` what `--error-exitcode` counts,
//! `// CAUSES 8` and `// HIDDEN 10` at which lines there are errors that people read about, with `-v` or without.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::End;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::{Finding, Report};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `--fail-on` may be told.
const CONCERNS: [&str; 3] = ["output", "decision", "nan"];
/// A status that no guest has.
const STATUS: i32 = 42;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for how in ["gcc -O0", "gcc -O2", "clang -O2"] {
        for source in sources() {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{stem}/{how}");
            trials.push(Trial::test(name.clone(), move || check(&name, &source, how)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn sources() -> Vec<PathBuf> {
    let dir = host::tests_dir().join("guests/mpfr/verdict");
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut all: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    all.sort();
    all
}

/// What a guest says about itself.
struct Expected {
    clean: bool,
    fails: Vec<String>,
    /// Kind, line, and how often, where that is said.
    findings: BTreeSet<(&'static str, u64, String)>,
    causes: Vec<u64>,
    hidden: Vec<u64>,
    need: Option<String>,
}

impl Expected {
    fn read(source: &Path) -> Expected {
        let text = std::fs::read_to_string(source).unwrap_or_default();
        let head = |mark: &str| text.lines().find_map(|line| line.strip_prefix(mark));
        let words = |mark: &str| head(mark).into_iter().flat_map(str::split_whitespace).map(str::to_owned);
        let lines = |mark: &str| words(mark).filter_map(|word| word.parse().ok()).collect();
        let mut findings = BTreeSet::new();
        for (number, line) in (1..).zip(text.lines()) {
            for (mark, kind) in [("DECIDES", "decides"), ("UNSETTLED", "unsettled"), ("BORN", "born")] {
                if let Some((_, often)) =
                    line.split_once(&format!("; // {mark}")).or(line.split_once(&format!("{{ // {mark}")))
                {
                    findings.insert((kind, number, often.trim().to_owned()));
                }
            }
        }
        Expected {
            clean: head("// CLEAN").is_some(),
            fails: words("// FAILS").collect(),
            findings,
            causes: lines("// CAUSES"),
            hidden: lines("// HIDDEN"),
            need: words("//@ need:").next(),
        }
    }
}

fn check(name: &str, source: &Path, how: &str) -> Result<(), Failed> {
    let expected = Expected::read(source);
    let flags = match expected.need.as_deref() {
        Some(need) if !host::has_cpu_flag(need) => {
            host::skipped(name, &format!("needs {need}"));
            return Ok(());
        }
        Some(need) => format!("-m{need}"),
        None => String::new(),
    };
    let (compiler, level) = how.split_once(' ').unwrap_or((how, ""));
    let flags = format!("{level} -g {flags}");
    let Some(exe) = Recipe::new(compiler, &flags, source, "-lm").build()? else {
        host::skipped(name, &format!("{compiler} is not installed"));
        return Ok(());
    };
    let case = Case::new("mpfr", &[], &exe);
    let report = case.observe()?.report;
    let says = || format!("{} {:?}", report.document["verdict"]["text"], described(&report));
    if report.document["verdict"]["clean"] != expected.clean {
        return Err(says().into());
    }
    compare(&expected, &report).map_err(|wrong| format!("{wrong}\n{}", says()))?;
    for concern in CONCERNS {
        let end = case.tool(&[&format!("--error-exitcode={STATUS}"), &format!("--fail-on={concern}")])?.end;
        let status = if expected.fails.iter().any(|fails| fails == concern) { STATUS } else { 0 };
        if end != End::Exit(status) {
            return Err(format!("{end}, not {status}, with --fail-on={concern}: {}", says()).into());
        }
    }
    shown(&case, &expected)
}

/// The findings that matter in any case, as guests mark them.
fn described(report: &Report) -> BTreeSet<(&'static str, u64, String)> {
    let describe = |finding: &Finding| {
        let (kind, often) = match finding.kind.as_str() {
            "branch" | "conversion" if finding.count > 0 => ("decides", finding.count),
            "branch" | "conversion" => ("unsettled", finding.unsettled),
            "invalid" | "overflow" => ("born", finding.count),
            _ => return None,
        };
        Some((kind, finding.site.line, format!("{often} of {}", finding.executions)))
    };
    report.findings.iter().filter_map(describe).collect()
}

fn compare(expected: &Expected, report: &Report) -> Result<(), String> {
    let found = described(report);
    // How often is said where it is the same however the guest is compiled.
    let is_said = |(kind, line, often): &&(&'static str, u64, String)| {
        expected.findings.iter().any(|(k, l, o)| k == kind && l == line && (o == often || o.is_empty()))
    };
    let said = found.iter().filter(is_said).count();
    if said != found.len() || said != expected.findings.len() {
        return Err(format!("marked {:?}", expected.findings));
    }
    let errors = |finding: &&Finding| {
        !["branch", "conversion", "invalid", "overflow"].contains(&finding.kind.as_str())
    };
    let lines: Vec<u64> = report.findings.iter().filter(errors).map(|finding| finding.site.line).collect();
    let has = |line: &u64| lines.contains(line);
    let all = expected.causes.iter().chain(&expected.hidden).all(has);
    if all { Ok(()) } else { Err(format!("errors at {lines:?}")) }
}

/// Which of its errors people read about, and which only if they ask for more.
fn shown(case: &Case, expected: &Expected) -> Result<(), Failed> {
    for (options, causes, hidden) in [(&[][..], true, false), (&["-v"], true, true)] {
        let text = case.terminal(options)?;
        let shows =
            |line: &u64| text.lines().any(|l| l.starts_with("  ") && l.contains(&format!(".c:{line})")));
        let wanted = [(&expected.causes, causes), (&expected.hidden, hidden)];
        if !wanted.iter().all(|(lines, wanted)| lines.iter().all(|line| shows(line) == *wanted)) {
            return Err(format!("{options:?}: {text}").into());
        }
    }
    Ok(())
}
