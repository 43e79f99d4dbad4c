//! Reals: the error that `--shadow=mpfr` measures, and the cause that it names, against truth at 3200 bits.
//!
//! Cores (`guests/mpfr/cores.fpcore`) are made C programs, whose every printed number must have the error that MPFR finds;
//! programs in `culprits` mark the line that their first finding must name, and say what error the best remedy leaves; programs in `clean` must be called that, with no finding that came to anything.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left};
use shadowgrind_tests::shadowed::build::{Recipe, python_with};
use shadowgrind_tests::shadowed::fpcore::{self, Core, Dual, SAMPLES, TRUTH_BITS, cores, samples};
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::{Finding, Output, Report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Distance that a measured error may have from the true one, in bits.
const TOLERANCE: f64 = 0.5;

/// Test of a name: its check.
type Check = Box<dyn FnOnce(&str) -> Result<(), Failed> + Send>;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Check| {
        trials.push(Trial::test(name.clone(), move || check(&name)));
    };
    for core in cores() {
        let copy = core.clone();
        add(format!("cores-natively/{}", core.name), Box::new(move |name| check_natively(name, &copy)));
        for how in ["gcc -O0", "gcc -O2", "clang -O2"] {
            let core = core.clone();
            add(format!("cores/{}/{how}", core.name), Box::new(move |name| check_core(name, &core, how)));
        }
    }
    for how in ["gcc -O0", "gcc -O2", "gcc -O3 -mavx2 -mfma", "clang -O2"] {
        for source in sources("culprits") {
            let name = format!("culprits/{}/{how}", stem(&source));
            add(name, Box::new(move |name| check_culprit(name, &source, how)));
        }
        for source in sources("clean") {
            let name = format!("clean/{}/{how}", stem(&source));
            add(name, Box::new(move |name| check_clean(name, &source, how)));
        }
    }
    for how in ["gcc -O0", "gcc -O2", "gcc -O3 -mavx2 -mfma", "clang -O0", "clang -O2"] {
        for option in ["--precision=256", "--no-avx512"] {
            let name = format!("signs/{how} {option}");
            add(name, Box::new(move |name| check_signs(name, how, option)));
        }
    }
    for (file, compiler) in LANGUAGES {
        let levels = match file.rsplit('.').next() {
            Some("py") => &["as it is"][..],
            Some("pas") => &["-O1", "-O2"],
            _ => &["-O0", "-O2"],
        };
        for level in levels {
            let check = move |name: &str| check_language(name, file, compiler, level);
            add(format!("languages/{file}/{level}"), Box::new(check));
        }
    }
    add("languages/parsed.py".to_owned(), Box::new(|_| check_parsed()));
    for options in [&["--superblock-limit=1"][..], &["--no-link"], &["--flush-every=50"], &["--isa=v2"]] {
        let name = format!("findings-do-not-depend-on/{}", options[0]);
        add(name, Box::new(move |name| check_independence(name, options)));
    }
    for how in ["gcc -O1 -static -fno-builtin", "gcc -O2 -static -fno-builtin"] {
        add(format!("brought/{how}"), Box::new(move |name| check_brought(name, how)));
    }
    add("error-exitcode".to_owned(), Box::new(check_exit_code));
    add("precision".to_owned(), Box::new(check_precision));
    add("suppressions".to_owned(), Box::new(check_suppressions));
    add("herbgrind-requests".to_owned(), Box::new(check_herbgrind));
    add("programs/sqlite-sum".to_owned(), Box::new(check_sqlite));
    add("programs/scipy-hyp2f1".to_owned(), Box::new(check_scipy));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guests_dir() -> PathBuf {
    host::tests_dir().join("guests/mpfr")
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The C sources in a folder of guests, by name.
fn sources(folder: &str) -> Vec<PathBuf> {
    let dir = guests_dir().join(folder);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut all: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    all.sort();
    all
}

/// A compiled program under the tool; `None`, with a word of why, without its compiler.
fn compiled(
    name: &str,
    compiler: &str,
    flags: &str,
    source: &Path,
    libs: &str,
) -> Result<Option<Case>, String> {
    match Recipe::new(compiler, flags, source, libs).build()? {
        Some(exe) => Ok(Some(Case::new("mpfr", &[], &exe))),
        None => {
            host::skipped(name, &format!("{compiler} is not installed"));
            Ok(None)
        }
    }
}

/// A program compiled with these options, and for lines in the report, under the tool; `None`, with a word of why,
/// without its compiler.
fn compiled_by(name: &str, how: &str, source: &Path) -> Result<Option<Case>, String> {
    let (compiler, flags) = how.split_once(' ').unwrap_or((how, ""));
    compiled(name, compiler, &format!("{flags} -g"), source, "-lm")
}

/// The core as a program, with every sample as arguments.
fn core_case(name: &str, core: &Core, how: &str) -> Result<Option<Case>, String> {
    let source = fpcore::source(core)?;
    let Some(mut case) = compiled_by(name, how, &source)? else { return Ok(None) };
    for value in samples(core).concat() {
        case = case.arg(format!("{value:?}"));
    }
    Ok(Some(case))
}

/// Numbers that the program must print, with the truth.
fn truth(core: &Core) -> Vec<Dual> {
    samples(core).iter().map(|sample| fpcore::evaluate(core, sample)).collect()
}

/// The evaluator's floats are those of the compiled program: only then are its reals the truth about it.
fn check_natively(name: &str, core: &Core) -> Result<(), Failed> {
    let Some(case) = core_case(name, core, "gcc -O1")? else { return Ok(()) };
    let outcome = case.native()?;
    let printed = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let printed: Vec<f64> = printed.lines().filter_map(|line| line.parse().ok()).collect();
    for (number, (got, want)) in printed.iter().zip(truth(core)).enumerate() {
        if *got != want.float && !(got.is_nan() && want.float.is_nan()) {
            let sample = &samples(core)[number];
            return Err(
                format!("{sample:?}: the program prints {got:e}, the evaluator {:e}", want.float).into()
            );
        }
    }
    if printed.len() == SAMPLES { Ok(()) } else { Err(format!("{} lines", printed.len()).into()) }
}

fn check_core(name: &str, core: &Core, how: &str) -> Result<(), Failed> {
    let Some(case) = core_case(name, core, how)? else { return Ok(()) };
    let report = case.observe()?.report;
    if report.outputs.len() != SAMPLES {
        return Err(format!("{} outputs in the report", report.outputs.len()).into());
    }
    let mut text = String::new();
    for ((output, truth), sample) in report.outputs.iter().zip(truth(core)).zip(samples(core)) {
        if let Some(wrong) = disagreement(output, &truth, core.single) {
            text += &format!("{sample:?}: {wrong}\n");
        }
    }
    if text.is_empty() { Ok(()) } else { Err(text.into()) }
}

/// Error, or real, of a number that the tool gives wrongly.
fn disagreement(output: &Output, truth: &Dual, single: bool) -> Option<String> {
    let bits = fpcore::error_bits(truth.float, &truth.real, single);
    let got = output.error_bits.unwrap_or(f64::NAN);
    if (got - bits).abs() > TOLERANCE || got.is_nan() {
        return Some(format!("{}: {got} bits of error, in truth {bits:.2}", truth.float));
    }
    let Some(text) = &output.real else { return (bits > 0.0).then(|| "no real".to_owned()) };
    let Ok(real) = rug::Float::parse(text) else { return Some(format!("real {text:?}")) };
    let real = rug::Float::with_val(TRUTH_BITS, real);
    let far = rug::Float::with_val(TRUTH_BITS, &real - &truth.real).abs() > truth.real.clone().abs() * 1e-15;
    far.then(|| format!("real {}, in truth {}", real.to_f64(), truth.real.to_f64()))
}

/// The lines that a source marks, and the kind of which there must be a finding, if a mark says one.
fn marks(source: &Path) -> (Vec<u64>, Option<String>) {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let (mut lines, mut kind) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        if let Some((_, after)) = line.split_once("// CULPRIT") {
            lines.push(number as u64 + 1);
            kind = Some(after.trim().to_owned()).filter(|k| !k.is_empty()).or(kind);
        }
    }
    (lines, kind)
}

fn described(findings: &[Finding]) -> String {
    let line = |f: &Finding| format!("{} of {} at {}:{}", f.kind, f.operation, f.site.file, f.site.line);
    let all: Vec<String> = findings.iter().map(line).collect();
    if all.is_empty() { "no finding".to_owned() } else { all.join("; ") }
}

fn check_culprit(name: &str, source: &Path, how: &str) -> Result<(), Failed> {
    let Some(case) = compiled_by(name, how, source)? else { return Ok(()) };
    let report = case.observe()?.report;
    first_is_marked(&report, source)?;
    remedy_is_marked(&report, source)
}

/// Checks that some finding has a remedy that leaves no more bits of error than the source says, and takes away most of
/// what was there.
fn remedy_is_marked(report: &Report, source: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let marked = text.lines().find_map(|line| line.strip_prefix("// REMEDY ")?.trim().parse::<f64>().ok());
    let Some(most) = marked else { return Ok(()) };
    let findings = report.document["findings"].as_array().into_iter().flatten();
    let best = findings.filter_map(|finding| finding["remedies"].get(0));
    let bits = |remedy: &serde_json::Value, name: &str| remedy[name].as_f64().unwrap_or(f64::NAN);
    let mut all = best.map(|remedy| (bits(remedy, "bits_before"), bits(remedy, "bits_after"), remedy));
    if all.any(|(before, after, _)| before > 20.0 && after <= most) {
        return Ok(());
    }
    Err(format!("no remedy that leaves {most} bits: {}", report.document["findings"]).into())
}

fn first_is_marked(report: &Report, source: &Path) -> Result<(), Failed> {
    let (lines, kind) = marks(source);
    let marked = |finding: &Finding| lines.contains(&finding.site.line);
    let of_kind = |kind: &String| report.findings.iter().any(|f| marked(f) && f.kind == *kind);
    let right = report.findings.first().is_some_and(marked) && kind.as_ref().is_none_or(of_kind);
    if right {
        return Ok(());
    }
    Err(format!("marked lines {lines:?}, found: {}", described(&report.findings)).into())
}

fn check_clean(name: &str, source: &Path, how: &str) -> Result<(), Failed> {
    let Some(case) = compiled_by(name, how, source)? else { return Ok(()) };
    let report = case.observe()?.report;
    let verdict = &report.document["verdict"]["text"];
    if report.is_clean() { Ok(()) } else { Err(format!("{verdict} {}", described(&report.findings)).into()) }
}

/// Second line of `signs.c`, in the reals.
fn signs_in_truth() -> [rug::Float; 3] {
    let number = |x: f64| rug::Float::with_val(TRUTH_BITS, x);
    let a = |i: usize| number((i % 3) as f64 - 1.0) / (i + 3) as f64;
    let lane = |lane: usize| {
        let (mut sum, mut difference) = (number(0.3), number(0.3));
        for i in (0..15).step_by(2) {
            sum += a(i + lane).abs();
            let magnitude = (sum.clone() + &difference).abs();
            difference = -difference * magnitude;
        }
        difference
    };
    let (low, high) = (lane(0), lane(1));
    let both = -low.clone() - &high;
    [low, high, both]
}

/// Signs of doubles, turned over by instructions for floats too, as some compilers have it.
fn check_signs(name: &str, how: &str, option: &str) -> Result<(), Failed> {
    let Some(mut case) = compiled_by(name, how, &guests_dir().join("signs.c"))? else { return Ok(()) };
    case.options.push(option.to_owned());
    let outputs = case.observe()?.report.outputs;
    for (output, truth) in outputs[4..7].iter().zip(signs_in_truth()) {
        let Some(Ok(real)) = output.real.as_deref().map(rug::Float::parse) else {
            return Err(format!("{:?} is no real", output.real).into());
        };
        let real = rug::Float::with_val(TRUTH_BITS, real);
        let far = rug::Float::with_val(TRUTH_BITS, &real - &truth).abs();
        if far > 1e-20 {
            return Err(format!("{real}, in truth {truth}").into());
        }
    }
    Ok(())
}

/// A function of the mathematical library that the program brings along is that function, not the way in which it is computed:
/// (e^x − 1) / x is 1 + x / 2 + x² / 6.
fn check_brought(name: &str, how: &str) -> Result<(), Failed> {
    let Some(case) = compiled_by(name, how, &guests_dir().join("brought.c"))? else { return Ok(()) };
    let outputs = case.arg("1e-9").observe()?.report.outputs;
    let real = outputs.first().and_then(|output| output.real.as_deref()?.parse::<f64>().ok());
    if real == Some(1.000_000_000_5) { Ok(()) } else { Err(format!("{outputs:?}").into()) }
}

/// One formula in each language, and in long double.
const LANGUAGES: [(&str, &str); 6] = [
    ("root_difference.cpp", "g++"),
    ("to_string.cpp", "g++"),
    ("root_difference.f90", "gfortran"),
    ("root_difference.pas", "fpc"),
    ("root_difference.py", "/usr/bin/python3"),
    ("root_difference_long.c", "gcc"),
];

fn check_language(name: &str, file: &str, compiler: &str, level: &str) -> Result<(), Failed> {
    let source = guests_dir().join("languages").join(file);
    let case = if file.ends_with(".py") {
        Some(Case::new("mpfr", &[], Path::new(compiler)).arg(&source))
    } else {
        let (debug, libs) = if compiler == "fpc" { ("-g -Xs- -v0 -FU.", "") } else { ("-g", "-lm") };
        compiled(name, compiler, &format!("{level} {debug}"), &source, libs)?
    };
    let Some(case) = case else { return Ok(()) };
    let core = cores().into_iter().find(|core| core.name == "root_difference").expect("it is there");
    let x = 1e12;
    let report = case.arg(format!("{x:?}")).observe()?.report;
    let [output] = &report.outputs[..] else {
        return Err(format!("{} outputs", report.outputs.len()).into());
    };
    let text = std::fs::read_to_string(&source).unwrap_or_default();
    let printed = text.lines().position(|line| line.ends_with(" PRINTED"));
    if printed.is_some_and(|line| output.site.line != line as u64 + 1) {
        return Err(format!("printed at {:?}", output.site).into());
    }
    if !file.contains("long") {
        return disagreement(output, &fpcore::evaluate(&core, &[x]), false)
            .map_or(Ok(()), |text| Err(text.into()));
    }
    // Eleven bits more in the significand, as many less in error.
    let bits = output.error_bits.unwrap_or(f64::NAN);
    if bits > 25.0 && bits < 45.0 { Ok(()) } else { Err(format!("{bits} bits of error").into()) }
}

/// Floats that a program reads are as exact as its constants.
fn check_parsed() -> Result<(), Failed> {
    let texts = [
        "0.1~0.099999999999999",
        "3.14159265358979323846~3.14159",
        "1.2345678e-250~1.2345677e-250",
        "6.02214076123456789123456e23~6.0221407e23",
        "2.5e30~2.4999999999e30",
    ];
    let case =
        Case::new("mpfr", &[], Path::new("/usr/bin/python3")).arg(guests_dir().join("languages/parsed.py"));
    let report = texts.into_iter().fold(case, Case::arg).observe()?.report;
    let exact = |output: &Output| output.error_bits == Some(0.0);
    if !report.is_clean() || report.outputs.len() != texts.len() || !report.outputs.iter().all(exact) {
        return Err(format!("{}, {:?}", described(&report.findings), report.outputs).into());
    }
    Ok(())
}

fn check_independence(name: &str, options: &[&str]) -> Result<(), Failed> {
    for file in ["quadratic.c", "variance.c", "clock.c", "flipped_branch.c"] {
        let source = guests_dir().join("culprits").join(file);
        let Some(case) = compiled(name, "gcc", "-O2 -g", &source, "-lm")? else { return Ok(()) };
        let plain = case.observe()?.report;
        let mut other = case.clone();
        other.options.extend(options.iter().map(|o| (*o).to_owned()));
        let other = other.observe()?.report;
        if described(&plain.findings) != described(&other.findings) {
            return Err(format!(
                "{file}: {}\nbut {}",
                described(&plain.findings),
                described(&other.findings)
            )
            .into());
        }
    }
    Ok(())
}

/// With `--error-exitcode` a finding decides the status, without any it is the program's.
fn check_exit_code(name: &str) -> Result<(), Failed> {
    for (file, status) in [("culprits/quadratic.c", 42), ("clean/quadratic.c", 0)] {
        let Some(case) = compiled(name, "gcc", "-O2 -g", &guests_dir().join(file), "-lm")? else {
            return Ok(());
        };
        let outcome = case.tool(&["--error-exitcode=42"])?;
        if outcome.end != End::Exit(status) {
            return Err(format!("{file}: {}, not {status}", outcome.end).into());
        }
    }
    Ok(())
}

/// Rules printed for what is found keep it from being found again, and only that.
fn check_suppressions(name: &str) -> Result<(), Failed> {
    let source = guests_dir().join("culprits/quadratic.c");
    let Some(case) = compiled(name, "gcc", "-O2 -g", &source, "-lm")? else { return Ok(()) };
    let outcome = case.tool(&["--gen-suppressions=yes"])?;
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let rules: Vec<&str> = text.lines().filter(|line| line.starts_with("kind:")).collect();
    if rules.len() != 1 || !rules[0].contains("line:") {
        return Err(format!("rules {rules:?} in {text}").into());
    }
    let file = host::target_dir().join("guests/quadratic.suppressions");
    let option = format!("--suppressions={}", file.display());
    for (rule, status) in [(rules[0], 0), ("function:elsewhere", 42)] {
        std::fs::write(&file, format!("# A comment.\n{rule}\n")).map_err(|e| e.to_string())?;
        let end = case.tool(&[&option, "--error-exitcode=42"])?.end;
        if end != End::Exit(status) {
            return Err(format!("{end}, not {status}, with {rule}").into());
        }
    }
    std::fs::write(&file, rules[0]).map_err(|e| e.to_string())?;
    let outcome = case.tool(&[&option, "--report=json:report.json"])?;
    let said = String::from_utf8_lossy(&outcome.stderr);
    if said != "shadowgrind: warning: 1 finding is suppressed\n" {
        return Err(said.into_owned().into());
    }
    let Some(Left::File(_, text)) = outcome.files.get("report.json") else { return Err("no report".into()) };
    let findings = Report::parse(text)?.findings;
    if findings.is_empty() { Ok(()) } else { Err(described(&findings).into()) }
}

/// Programs built for Herbgrind find their requests answered.
fn check_herbgrind(name: &str) -> Result<(), Failed> {
    for level in ["-O0", "-O2"] {
        let source = guests_dir().join("herbgrind.c");
        let Some(case) = compiled(name, "gcc", level, &source, "")? else { return Ok(()) };
        let outputs = case.observe()?.report.outputs;
        let seen: Vec<(f64, bool)> =
            outputs.iter().map(|x| (x.value, x.error_bits.is_some_and(|bits| bits > 50.0))).collect();
        if seen != [(0.0, true), (0.0, true), (0.5, false)] {
            return Err(format!("{level}: {seen:?}").into());
        }
    }
    Ok(())
}

/// More bits change no finding; too few to survive the cancellation are told from enough.
fn check_precision(name: &str) -> Result<(), Failed> {
    let source = guests_dir().join("culprits/rump.c");
    for bits in ["192", "1000", "4096"] {
        let Some(mut case) = compiled(name, "gcc", "-O2 -g", &source, "-lm")? else { return Ok(()) };
        case.options.push(format!("--precision={bits}"));
        let report = case.observe()?.report;
        first_is_marked(&report, &source)?;
        let real = report.outputs.first().and_then(|o| o.real.clone()).unwrap_or_default();
        if !real.starts_with("-0.8273960599468213") && !real.starts_with("-8.273960599468213") {
            return Err(format!("{bits} bits: real {real:?}").into());
        }
    }
    Ok(())
}

fn check_sqlite(name: &str) -> Result<(), Failed> {
    let archive = Path::new("/usr/lib/x86_64-linux-gnu/libsqlite3.a");
    if !archive.exists() {
        host::skipped(name, "needs libsqlite3.a");
        return Ok(());
    }
    let source = guests_dir().join("programs/sqlite_sum.c");
    let Some(case) = compiled(name, "gcc", "-O2 -g", &source, "-l:libsqlite3.a -lm")? else { return Ok(()) };
    let findings = case.observe()?.report.findings;
    match findings.first() {
        Some(first) if first.site.function == "sumStep" => Ok(()),
        _ => Err(format!("{} {:?}", described(&findings), findings.first().map(|f| &f.site.function)).into()),
    }
}

fn check_scipy(name: &str) -> Result<(), Failed> {
    let python = Path::new("/usr/bin/python3");
    let Some(packages) = python_with(python, &["scipy==1.17.1", "numpy>=2"])? else {
        host::skipped(name, "scipy 1.17.1 cannot be installed");
        return Ok(());
    };
    let case = Case::new("mpfr", &[], python).arg(guests_dir().join("programs/hyp2f1.py"));
    let case = case.env("PYTHONPATH", &packages.to_string_lossy()).env("PYTHONDONTWRITEBYTECODE", "1");
    let report = case.observe()?.report;
    let real = report.outputs.last().and_then(|o| o.real.clone()).unwrap_or_default();
    if real.starts_with("3.9504") && !report.findings.is_empty() {
        return Ok(());
    }
    Err(format!("real {real:?}, {}", described(&report.findings)).into())
}
