//! Outputs found by their value, where nobody knows the code that makes text of floats: a program's own with and without names, and
//! Java's. Derivatives against the closed forms that the guests print, errors against the text of exact numbers.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::Left;
use shadowgrind_tests::shadowed::build::{Recipe, client_dir};
use shadowgrind_tests::shadowed::observe::{Case, Observed};
use shadowgrind_tests::shadowed::report::Report;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Lines that `digits.c` prints.
const LINES: usize = 43;

/// Compilers and options: floats are taken apart as a whole, doubled once the exponent is off, or by halves, the latter in registers or
/// on the stack.
const BUILDS: &[(&str, &str)] = &[
    ("gcc", "-O0"),
    ("gcc", "-O2"),
    ("gcc", "-O3 -mavx2"),
    ("gcc", "-O0 -DHALVES"),
    ("gcc", "-O2 -DHALVES"),
    ("gcc", "-O1 -DDOUBLED"),
    ("gcc", "-O2 -DDOUBLED"),
    ("gcc", "-O2 -static -s"),
    ("clang", "-O2"),
    ("clang", "-O1 -DHALVES"),
    ("clang", "-O2 -DDOUBLED"),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for &(compiler, options) in BUILDS {
        let mut add = |shadow: &'static str, check: fn(&Case) -> Result<(), Failed>| {
            let name = format!("digits/{compiler} {options}/{shadow}");
            let own = name.clone();
            trials.push(Trial::test(name, move || match digits(&own, (compiler, options), shadow)? {
                Some(case) => check(&case),
                None => Ok(()),
            }));
        };
        add("dot", |case| derivatives(case, true));
        add("adjoint", |case| derivatives(case, false));
        add("mpfr", texts);
        add("error", texts);
    }
    for options in ["-O0", "-O2", "-O0 -DWORD=uint64_t", "-O2 -DWORD=uint64_t"] {
        for shadow in ["dot", "adjoint", "mpfr", "error"] {
            let name = format!("narrow/{options}/{shadow}");
            trials.push(Trial::test(name, move || narrow(options, shadow)));
        }
        for shadow in ["mpfr", "error"] {
            let name = format!("wrong zero/{options}/{shadow}");
            trials.push(Trial::test(name, move || wrong_zero(options, shadow)));
        }
    }
    for shadow in ["dot", "adjoint", "mpfr", "error"] {
        for is_printed_before in [false, true] {
            let name =
                format!("decoded/{shadow}{}", if is_printed_before { "/one printed before" } else { "" });
            trials.push(Trial::test(name, move || decoded(shadow, is_printed_before)));
        }
    }
    trials.push(Trial::test("digits/out of line", out_of_line));
    trials.push(Trial::test("two that are one text", two_of_one_text));
    trials.push(Trial::test("places and labels", places));
    for options in ["-O0", "-O2"] {
        trials.push(Trial::test(format!("classified/{options}"), move || classified(options)));
    }
    for options in [&["-Xint"][..], &[]] {
        trials.push(Trial::test(format!("java {}", options.join(" ")), move || java(options)));
    }
    trials.push(Trial::test("what is used again is lost", used_again));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guest(file: &str) -> PathBuf {
    host::tests_dir().join("guests/inputs").join(file)
}

/// `digits.c` as a program under a shadow; nothing without its compiler.
fn digits(
    name: &str,
    (compiler, options): (&str, &str),
    shadow: &'static str,
) -> Result<Option<Case>, Failed> {
    let flags = format!("-g -I{} {options}", client_dir().display());
    let exe = Recipe::new(compiler, &flags, &guest("digits.c"), "-lm").build()?;
    if exe.is_none() {
        host::skipped(name, &format!("{compiler} is not installed"));
    }
    Ok(exe.map(|exe| Case::new(shadow, &[], &exe)))
}

/// The run under the tool, which may say something on standard error.
fn observe(case: &Case) -> Result<Observed, String> {
    const REPORT: &str = "report.json";
    let outcome = case.native()?;
    let mut under = case.tool(&[&format!("--report=json:{REPORT}")])?;
    let Some(Left::File(_, text)) = under.files.remove(REPORT) else { return Err("no report".into()) };
    if under.stdout != outcome.stdout {
        return Err(String::from_utf8_lossy(&under.stdout).into_owned());
    }
    Ok(Observed { outcome, report: Report::parse(&text)? })
}

/// Every first number of a line is an output with the derivative that stands behind it, and nothing else is one; with
/// `no_gaps`, nothing was lost on the way.
fn derivatives(case: &Case, no_gaps: bool) -> Result<(), Failed> {
    let seen = observe(case)?;
    let lines = lines(&seen);
    let outputs = &seen.report.outputs;
    if lines.len() != LINES || outputs.len() != LINES {
        return Err(format!("{} outputs of {} lines", outputs.len(), lines.len()).into());
    }
    let mut wrong = String::new();
    for (output, line) in outputs.iter().zip(&lines) {
        let [printed, derivative] = line[..] else { return Err("two numbers on each line".into()) };
        let dot = output.dot.unwrap_or(f64::NAN);
        let is_right = (dot - derivative).abs() <= 1e-10 * derivative.abs().max(1.0);
        if output.kind != "value" || output.printed != Some(printed) || !is_right {
            wrong += &format!("{printed}: {} {:?} {dot}, not {derivative}\n", output.kind, output.printed);
        }
    }
    let gaps = seen.report.document["coverage"]["gaps"].as_array().map_or(0, Vec::len);
    if no_gaps && gaps > 0 {
        wrong += &seen.report.document["coverage"]["gaps"].to_string();
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// The numbers of each line.
fn lines(seen: &Observed) -> Vec<Vec<f64>> {
    let text = String::from_utf8_lossy(&seen.outcome.stdout).into_owned();
    text.lines().map(|line| line.split(' ').filter_map(|word| word.parse().ok()).collect()).collect()
}

/// All numbers are outputs: all have been computed with roundings.
fn texts(case: &Case) -> Result<(), Failed> {
    let seen = observe(case)?;
    let printed: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.printed).collect();
    let expected: Vec<f64> = lines(&seen).concat();
    let left_out = expected.iter().filter(|number| !printed.contains(number)).count();
    // Twice the half of x by x is half.
    if left_out <= 2 && printed.len() + left_out == expected.len() {
        return Ok(());
    }
    Err(format!(
        "{} outputs of {} numbers; {}",
        printed.len(),
        expected.len(),
        seen.report.document["warnings"]
    )
    .into())
}

/// `narrow_digits.c` as a program under a shadow.
fn narrow_digits(options: &str, shadow: &'static str) -> Result<Case, Failed> {
    let flags = format!("-g -I{} {options}", client_dir().display());
    let exe = Recipe::new("gcc", &flags, &guest("narrow_digits.c"), "").build()?;
    Ok(Case::new(shadow, &[], &exe.ok_or("no gcc")?))
}

/// A narrow float is an output, though it may as well be a half of a double: with its derivative, or with the bits that it is off.
fn narrow(options: &str, shadow: &'static str) -> Result<(), Failed> {
    let outputs = observe(&narrow_digits(options, shadow)?)?.report.outputs;
    let [output] = &outputs[..] else { return Err(format!("{} outputs", outputs.len()).into()) };
    let is_right = match shadow {
        "dot" => output.dot == Some(1.5),
        "adjoint" => output.gradient == [1.5],
        // 1.5 · 1.3071 is 1.96065: 2409 units of 2^-23 away.
        _ => output.error_bits.is_some_and(|bits| (11.0..11.5).contains(&bits)),
    };
    if output.printed == Some(1.9609375) && is_right { Ok(()) } else { Err(format!("{output:?}").into()) }
}

/// A zero that is 1 in the reals is printed as an integer, which is not found: the program is not called clean.
fn wrong_zero(options: &str, shadow: &'static str) -> Result<(), Failed> {
    let report = observe(&narrow_digits(options, shadow)?.arg("zero"))?.report;
    let gaps = &report.document["coverage"]["gaps"];
    let is_lost = gaps.as_array().is_some_and(|gaps| !gaps.is_empty());
    if report.outputs.len() == 1 && is_lost && !report.is_clean() {
        Ok(())
    } else {
        Err(format!("{gaps}").into())
    }
}

/// Each of three numbers is an output, with its derivative or its digits in the reals, whatever these have in common; the first as well
/// where an exact number with the same text was printed before, by `printf`.
fn decoded(shadow: &'static str, is_printed_before: bool) -> Result<(), Failed> {
    const SCALE: f64 = (1 << 20) as f64;
    let flags = format!("-g -I{} -O2", client_dir().display());
    let exe = Recipe::new("gcc", &flags, &guest("decoded.c"), "").build()?;
    let mut case = Case::new(shadow, &[], &exe.ok_or("no gcc")?);
    if is_printed_before {
        case = case.arg("first");
    }
    let report = observe(&case)?.report;
    let records = report.document["outputs"].as_array().ok_or("no outputs")?;
    let first = records.len().saturating_sub(3);
    let of_real = |record: &serde_json::Value| record["real"].as_str().and_then(|real| real.parse().ok());
    let is_right = |i: usize| {
        let derivative = -(1.0 + i as f64 / 1e3) / 64.0;
        let (output, record) = (&report.outputs[first + i], &records[first + i]);
        let (seen, expected) = match shadow {
            "dot" => (output.dot, derivative),
            "adjoint" => (output.gradient.first().copied(), derivative),
            _ => (of_real(record), 0.7 * derivative),
        };
        let rounded = (0.7 * derivative * SCALE).round_ties_even() / SCALE;
        output.printed == Some(rounded) && seen.is_some_and(|seen: f64| (seen / expected - 1.0).abs() < 1e-9)
    };
    if records.len() == 3 + usize::from(is_printed_before) && (0..3).all(is_right) {
        return Ok(());
    }
    Err(format!("{records:?}").into())
}

/// The reference path takes floats as translated code does.
fn out_of_line() -> Result<(), Failed> {
    match digits("digits/out of line", ("gcc", "-O2"), "dot")? {
        Some(mut case) => {
            case.options.push("--reference-path".to_owned());
            derivatives(&case, true)
        }
        None => Ok(()),
    }
}

/// 0.7 and 0.700000007 in four digits: nobody can tell which is which, and it is said.
fn two_of_one_text() -> Result<(), Failed> {
    let Some(case) = digits("two that are one text", ("gcc", "-O2"), "dot")? else { return Ok(()) };
    let report = observe(&case.arg("alike"))?.report;
    let warnings = &report.document["warnings"];
    let is_said = warnings[0]["code"] == "output-ambiguous";
    if is_said && report.outputs.is_empty() { Ok(()) } else { Err(format!("{warnings}").into()) }
}

fn places() -> Result<(), Failed> {
    let Some(mut case) = digits("places and labels", ("gcc", "-O2"), "dot")? else { return Ok(()) };
    for (option, number) in [("--output=label:root", -1.12102733715), ("--output=stdout:41", 1.5793)] {
        case.options = vec![option.to_owned()];
        let outputs = case.observe()?.report.outputs;
        if !matches!(&outputs[..], [one] if one.printed == Some(number)) {
            return Err(format!("{option}: {outputs:?}").into());
        }
    }
    Ok(())
}

/// Floats that a library is asked about before the program takes their bits: outputs are the program's own all the same.
fn classified(options: &str) -> Result<(), Failed> {
    let options = format!("{options} -DCLASSIFIED");
    let Some(case) = digits("classified", ("gcc", &options), "mpfr")? else { return Ok(()) };
    let sites: Vec<_> = case.observe()?.report.outputs.into_iter().map(|output| output.site).collect();
    let other = sites.iter().find(|site| !site.file.ends_with("digits.c"));
    match other {
        Some(other) => Err(format!("{other:?}").into()),
        None if sites.is_empty() => Err("no outputs".into()),
        None => Ok(()),
    }
}

/// Text that Java makes of floats, by its interpreter and by code that it compiles: the wrong one is found.
fn java(options: &'static [&str]) -> Result<(), Failed> {
    let (Some(java), Some(javac)) = (host::find_program("java"), host::find_program("javac")) else {
        host::skipped("java", "java or javac is not installed");
        return Ok(());
    };
    let classes = host::fresh_work_dir();
    let status = Command::new(javac).arg("-d").arg(&classes).arg(guest("Sums.java")).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("javac fails".into());
    }
    let mut case = Case::new("mpfr", &[], &java);
    for word in options.iter().map(Path::new).chain([Path::new("-cp"), &classes, Path::new("Sums")]) {
        case = case.arg(word);
    }
    let report = case.observe()?.report;
    let outputs = report.document["outputs"].as_array().cloned().unwrap_or_default();
    let text = |output: &serde_json::Value, key: &str| output[key].as_str().unwrap_or_default().to_owned();
    let seen: Vec<[String; 3]> = outputs
        .iter()
        .map(|output| ["label", "printed", "printed_exact"].map(|key| text(output, key)))
        .collect();
    // 0.1 is as it was written; reals know the tenth for the double that it is.
    let is_wrong =
        |output: &[String; 3]| output[0] == "left" && output[1] == "2.0" && output[2].starts_with("1.5");
    let sums = seen.iter().filter(|output| output[0] == "sum =").count();
    if sums >= 4 && seen.iter().any(is_wrong) { Ok(()) } else { Err(format!("{seen:?}").into()) }
}

/// A number whose bits are rotated, and printed: an output with its derivative. What is computed from the bits once they are back goes
/// without, which is counted though the number was found.
fn used_again() -> Result<(), Failed> {
    let Some(case) = digits("what is used again is lost", ("gcc", "-O2"), "dot")? else { return Ok(()) };
    let seen = observe(&case.arg("turned"))?;
    let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
    let gaps = &seen.report.document["coverage"]["gaps"];
    if dots == [1.0] && gaps.as_array().is_some_and(|gaps| !gaps.is_empty()) {
        return Ok(());
    }
    Err(format!("{dots:?}, gaps {gaps}").into())
}
