//! The verdict of `--shadow=mpfr`: never "clean" where anything is wrong, and every reason at its line.
//!
//! A guest in `guests/mpfr/verdict` marks the lines of its findings: `// DECIDES 3 of 11`, `// UNSETTLED 1 of 1`, `// BORN`; and
//! those of decisions that are not judged: `// UNJUDGED 3`.
//! At its head, `// CLEAN` says what the verdict must be, `// FAILS output decision nan` what `--error-exitcode` counts,
//! `// CAUSES 8` and `// HIDDEN 10` at which lines there are errors that people read about, with `-v` or without.
//!
//! A guest in `guests/mpfr/printed` prints lines `w=[TEXT] r={TEXT}`: a wrong float, and, in the same format, the very number
//! that it stands for. A script in `guests/mpfr/scripts` prints numbers all of whose digits are right: it must be called clean,
//! whatever its interpreter decides with floats of its own.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::End;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::{Finding, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Concerns that `--fail-on` may be told.
const CONCERNS: [&str; 3] = ["output", "decision", "nan"];
/// A status that no guest has.
const STATUS: i32 = 42;

/// Guests that print in all notations, and how they are built.
const PRINTED: &[(&str, &[&str])] = &[
    ("printf.c", &["gcc -O0", "gcc -O2 -D_FORTIFY_SOURCE=2", "clang -O2"]),
    ("quotients.c", &["gcc -O0", "gcc -O2", "clang -O2"]),
    ("iostream.cpp", &["g++ -O0", "g++ -O2", "clang++ -O2"]),
    ("to_chars.cpp", &["g++ -std=c++17 -O2"]),
    ("formats.rs", &["rustc -O"]),
    ("formats.py", &["/usr/bin/python3"]),
    ("arrays.py", &["/usr/bin/python3"]),
    ("formats.php", &["php"]),
    ("formats.js", &["node"]),
    ("formats.go", &["go build"]),
    ("formats.f90", &["gfortran -O0", "gfortran -O2"]),
];

/// Scripts that are clean: interpreter and arguments before the script, and those after it.
const SCRIPTS: &[(&str, &str, &[&str], &[&str])] = &[
    ("sums.py", "/usr/bin/python3", &[], &[]),
    ("singles.py", "/usr/bin/python3", &[], &[]),
    ("sums.R", "Rscript", &[], &[]),
    ("sums.m", "octave-cli", &["--norc"], &[]),
    ("sums.awk", "gawk", &["-f"], &[]),
    ("sums.awk", "mawk", &["-f"], &[]),
    ("sums.tcl", "tclsh", &[], &[]),
    ("sums.js", "node", &[], &[]),
    ("functions.js", "node", &[], &[]),
    ("sums.sql", "sqlite3", &["-init"], &[":memory:", ".quit"]),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (file, interpreter, before, after) in SCRIPTS {
        for shadow in ["mpfr", "error"] {
            // R's start underflows, after which an underflow of the script's cannot be told from that.
            if shadow == "error" && *interpreter == "Rscript" {
                continue;
            }
            let name =
                format!("scripts/{file}/{}/{shadow}", interpreter.rsplit('/').next().unwrap_or(interpreter));
            trials.push(Trial::test(name.clone(), move || {
                check_script(&name, shadow, (file, interpreter), [before, after])
            }));
        }
    }
    trials.push(Trial::test("unwatched/ruby", || check_unwatched("unwatched/ruby")));
    trials.push(Trial::test("values/sqlite3", || check_values("values/sqlite3")));
    trials.push(Trial::test("boxes/go build", || check_boxes("boxes/go build")));
    for how in ["gcc -O0", "gcc -O2", "clang -O2"] {
        for source in sources() {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{stem}/{how}");
            trials.push(Trial::test(name.clone(), move || check(&name, &source, how)));
        }
    }
    for (file, hows) in PRINTED {
        for how in *hows {
            let name = format!("printed/{file}/{how}");
            let source = host::tests_dir().join("guests/mpfr/printed").join(file);
            trials.push(Trial::test(name.clone(), move || check_printed(&name, &source, how)));
        }
    }
    for how in ["gcc -O0", "gcc -O3", "clang -O0"] {
        let name = format!("shares/{how}");
        trials.push(Trial::test(name.clone(), move || check_shares(&name, how)));
        let name = format!("spread/{how}");
        trials.push(Trial::test(name.clone(), move || check_spread(&name, how)));
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

/// Statements of a guest about itself.
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
            for (mark, kind) in [
                ("DECIDES", "decides"),
                ("UNSETTLED", "unsettled"),
                ("BORN", "born"),
                ("UNJUDGED", "unjudged"),
            ] {
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
        Some(need) if host::lacks(name, &[need]) => return Ok(()),
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

/// A guest of `guests/mpfr/shares`; nothing, with a word of why, without its compiler.
fn shares_of(name: &str, file: &str, how: &str) -> Result<Option<Report>, Failed> {
    let source = host::tests_dir().join("guests/mpfr/shares").join(file);
    let (compiler, level) = how.split_once(' ').unwrap_or((how, ""));
    let Some(exe) = Recipe::new(compiler, &format!("{level} -g"), &source, "-lm").build()? else {
        host::skipped(name, &format!("{compiler} is not installed"));
        return Ok(None);
    };
    Ok(Some(Case::new("mpfr", &[], &exe).observe()?.report))
}

/// Each line's share is its part of the error: differences of neighbours, which are exact, tell both.
fn check_shares(name: &str, how: &str) -> Result<(), Failed> {
    let Some(report) = shares_of(name, "lines.c", how)? else { return Ok(()) };
    let lost = |x: f64, large: f64| ((x + large) - large) - x;
    let single = lost(0.1, 1e8);
    let unrolled: f64 = [0.01, 0.1, 1.0 / 3.0, 3.0 * 0.1].map(|x| lost(x, 1e7)).into_iter().sum();
    let text = std::fs::read_to_string(host::tests_dir().join("guests/mpfr/shares/lines.c"))?;
    for (mark, part) in [("single", single), ("unrolled", unrolled)] {
        let line = 1 + text.lines().position(|line| line.ends_with(mark)).ok_or("no such line")?;
        let findings = report.document["findings"].as_array().cloned().unwrap_or_default();
        let at = |finding: &&serde_json::Value| finding["site"]["line"].as_u64() == Some(line as u64);
        let [finding] = findings.iter().filter(at).collect::<Vec<_>>()[..] else {
            return Err(format!("not one cause at line {line}").into());
        };
        let share = finding["shares"][0].as_f64().ok_or("no share")?;
        let expected = part / (single + unrolled);
        if (share - expected).abs() > 1e-3 {
            return Err(format!("{mark}: {share}, not {expected}").into());
        }
    }
    Ok(())
}

/// An error spread over many operations is one finding: from 1024 to 16 it is amplified 2^6 times, of which the smaller half
/// of a unit that each rounding is takes two.
fn check_spread(name: &str, how: &str) -> Result<(), Failed> {
    let Some(report) = shares_of(name, "spread.c", how)? else { return Ok(()) };
    let findings = report.document["findings"].as_array().cloned().unwrap_or_default();
    let [finding] = &findings[..] else { return Err(format!("{findings:?}").into()) };
    let hint = finding["hint"].as_str().unwrap_or_default();
    let says = finding["kind"] == "conditioning" && hint.contains("amplified by 2^4 ");
    if says { Ok(()) } else { Err(format!("{finding}").into()) }
}

/// The report has the texts that the program prints, and would have printed.
fn check_printed(name: &str, source: &Path, how: &str) -> Result<(), Failed> {
    let Some(case) = Case::of_guest(name, "mpfr", source, how)? else { return Ok(()) };
    let observed = case.observe()?;
    let stdout = String::from_utf8_lossy(&observed.outcome.stdout).into_owned();
    let outputs = observed.report.document["outputs"].as_array().cloned().unwrap_or_default();
    if source.ends_with("printf.c") && !outputs.iter().all(|output| output["label"].is_string()) {
        return Err("no label, though C's formats hold the text before a float".into());
    }
    let lines: Vec<&str> = stdout.lines().collect();
    if 2 * lines.len() != outputs.len() {
        return Err(format!("{} lines, {} outputs", lines.len(), outputs.len()).into());
    }
    for (line, pair) in lines.iter().zip(outputs.chunks(2)) {
        let parts = line.strip_prefix("w=[").and_then(|rest| rest.split_once("] r={"));
        let (wrong, right) = parts.ok_or("no such line")?;
        let right = right.strip_suffix('}').ok_or("no such line")?;
        judged(&pair[0], "w=[", [wrong, right]).map_err(|e| format!("{line}: {e} in {}", pair[0]))?;
        judged(&pair[1], "r={", [right, right]).map_err(|e| format!("{line}: {e} in {}", pair[1]))?;
    }
    Ok(())
}

/// Tells whether an output has this label and these texts, and is taken accordingly.
fn judged(output: &serde_json::Value, label: &str, [printed, exact]: [&str; 2]) -> Result<(), String> {
    let alike = printed.chars().zip(exact.chars()).take_while(|(a, b)| a == b).count();
    let is_zero = |text: &str| text.trim().parse() == Ok(0.0);
    let same = printed == exact || is_zero(printed) && is_zero(exact);
    let wrong_from = (!same).then_some(alike as u64);
    let shown = if same { printed } else { exact };
    let is = |field: &str, text: &str| output[field].as_str() == Some(text);
    // Text that is no decimal number, as hexadecimal digits and stars are, has no place and no label.
    let is_labelled = is("label", label) || output["label"].is_null() && output["line"].is_null();
    if !is_labelled || !is("printed", printed) || !is("printed_exact", shown) {
        return Err(format!("not {label:?} {printed} {exact}"));
    }
    if output["wrong_from"].as_u64() != wrong_from {
        return Err(format!("wrong from {wrong_from:?}"));
    }
    let is_wrong = !same && output["error_bits"].as_f64().is_some_and(|bits| bits > 5.0);
    let judgement = if is_wrong { "wrong" } else { "right" };
    if is("judgement", judgement) { Ok(()) } else { Err(format!("not {judgement}")) }
}

/// Checks that a script is called clean.
fn check_script(
    name: &str,
    shadow: &'static str,
    (file, interpreter): (&str, &str),
    [before, after]: [&[&str]; 2],
) -> Result<(), Failed> {
    let script = host::tests_dir().join("guests/mpfr/scripts").join(file);
    let has_numpy =
        |program: &PathBuf| Case::new("mpfr", &[], program).arg("-c").arg("import numpy").native().is_ok();
    let program = host::find_program(interpreter);
    let Some(program) = program.filter(|program| !file.ends_with(".py") || has_numpy(program)) else {
        host::skipped(name, &format!("{interpreter}, or a library of it, is not installed"));
        return Ok(());
    };
    // The native run must not use code for features that the tool hides: last digits may be others.
    let mut case = Case::new(shadow, &[], &program)
        .env("OPENBLAS_CORETYPE", "Haswell")
        .env("NPY_DISABLE_CPU_FEATURES", "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL")
        .env("PYTHONWARNINGS", "ignore");
    for argument in before {
        case = case.arg(argument);
    }
    case = case.arg(script);
    for argument in after {
        case = case.arg(argument);
    }
    let report = case.observe()?.report;
    let has_outputs = report.document["outputs"].as_array().is_some_and(|outputs| outputs.len() >= 5);
    if report.document["verdict"]["clean"] == true && has_outputs {
        return Ok(());
    }
    Err(format!("{} {}", report.document["verdict"]["text"], report.document["findings"]).into())
}

/// Checks that the outputs of SQL's `printf` are the values that it is given, wherever those are.
fn check_values(name: &str) -> Result<(), Failed> {
    let Some(sqlite) = host::find_program("sqlite3") else {
        host::skipped(name, "sqlite3 is not installed");
        return Ok(());
    };
    let query = "select printf('%d|%s|%.3f|%*e', 7, 'text', x * 3.0, 12, x / 4.0) from (select 2.5 as x);";
    let report = Case::new("mpfr", &[], &sqlite).arg(":memory:").arg(query).observe()?.report;
    let outputs = report.document["outputs"].as_array().cloned().unwrap_or_default();
    let values: Vec<Option<f64>> = outputs.iter().map(|output| output["value"].as_f64()).collect();
    let are_those = values == [Some(7.5), Some(0.625)];
    if are_those { Ok(()) } else { Err(format!("{values:?}").into()) }
}

/// A program that prints by functions without names is not clean, and the report says why.
fn check_unwatched(name: &str) -> Result<(), Failed> {
    let Some(ruby) = host::find_program("ruby") else {
        host::skipped(name, "ruby is not installed");
        return Ok(());
    };
    let script = host::tests_dir().join("guests/mpfr/unwatched.rb");
    let case = Case::new("mpfr", &[], &ruby).arg(script);
    let report = case.observe()?.report;
    let says = case.terminal(&[])?;
    let is_clean = report.document["verdict"]["clean"] == true;
    let is_said =
        report.document["coverage"]["unwatched"][0].as_str().is_some_and(|why| says.contains(&why[..15]));
    if !is_clean && is_said { Ok(()) } else { Err(says.into()) }
}

/// Zeros that Go prints have the reals of the numbers that were put there, or it is said that these are lost.
fn check_boxes(name: &str) -> Result<(), Failed> {
    let source = host::tests_dir().join("guests/mpfr/boxes.go");
    let Some(exe) = Recipe::new("go", "build", &source, "").build()? else {
        host::skipped(name, "go is not installed");
        return Ok(());
    };
    let report = Case::new("mpfr", &[], &exe).observe()?.report;
    let outputs = report.document["outputs"].as_array().cloned().unwrap_or_default();
    let exact: Vec<&str> = outputs.iter().filter_map(|output| output["printed_exact"].as_str()).collect();
    // 3·0.1 and 4·0.1 of the tenth that is parsed, which is exact.
    if exact != ["0.3", "0", "0", "0", "0", "0", "+3.000000e-001"] {
        return Err(format!("{exact:?}").into());
    }
    let gaps = report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
    let lost: u64 = gaps.iter().filter_map(|gap| gap["count"].as_u64()).sum();
    let is_clean = report.document["verdict"]["clean"] == true;
    if lost == 2 && !is_clean { Ok(()) } else { Err(format!("{gaps:?}").into()) }
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
    // A loop that is unrolled has several instructions in one line.
    let mut unjudged = BTreeMap::new();
    for decision in report.document["coverage"]["unjudged"].as_array().into_iter().flatten() {
        let line = decision["site"]["line"].as_u64().unwrap_or(0);
        *unjudged.entry(line).or_insert(0) += decision["count"].as_u64().unwrap_or(0);
    }
    let unjudged = unjudged.into_iter().map(|(line, count)| ("unjudged", line, count.to_string()));
    report.findings.iter().filter_map(describe).chain(unjudged).collect()
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

/// Checks which of its errors people read about, and which only if they ask for more.
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
