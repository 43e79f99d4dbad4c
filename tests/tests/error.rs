//! Errors in twice the precision: what `--shadow=error` says of each output, against `--shadow=mpfr` on the same program.
//!
//! Programs are those of the reals: of `culprits` each wrong output must be called so, the first finding must name a line that the
//! source marks, and no other may be named that the reals do not name; `clean` ones must be called that.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::fpcore::{self, Core, cores, samples};
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::{Output, Report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Largest difference between the two, in bits of error.
const TOLERANCE: f64 = 1.0;
/// Errors with more bits than this are not compared: the error itself has no significant ones.
const MOST: f64 = 50.0;

/// Times that all samples of a core are gone through: those of one take a fourth of the executions that are looked at.
const ROUNDS: usize = 6;
/// Bits of error above which no output is right: the threshold, and what is lost in measuring.
const RIGHT: f64 = 6.0;

/// Programs that write floats in binary form, which are counted as lost, and not looked at.
const UNSEEN: [&str; 1] = ["written"];
/// Number of programs.
const PROGRAMS: usize = 91;

fn main() -> ExitCode {
    let folders = ["culprits", "clean", "verdict"];
    assert_eq!(folders.iter().map(|folder| sources(folder).len()).sum::<usize>(), PROGRAMS);
    let mut trials = Vec::new();
    for how in ["gcc -O0", "gcc -O2", "gcc -O3 -mavx2 -mfma", "clang -O2"] {
        for folder in folders {
            for source in sources(folder) {
                for options in host::bindings() {
                    let name = format!("{folder}/{}/{how} {}", stem(&source), options.join(" "));
                    let source = source.clone();
                    let check = move || check(&source, how, options).map_err(Failed::from);
                    trials.push(Trial::test(name, check));
                }
            }
        }
    }
    for core in cores() {
        for (how, options) in [("gcc -O2", &[][..]), ("clang -O2", &[]), ("gcc -O0", &["--no-avx512"])] {
            let (name, core) = (format!("cores/{}/{how} {}", core.name, options.join(" ")), core.clone());
            let check = move || check_core(&core, how, options).map_err(Failed::from);
            trials.push(Trial::test(name, check));
        }
    }
    let long_double = host::tests_dir().join("guests/mpfr/long_double.c");
    for how in ["gcc -O0", "gcc -O2", "clang -O2"] {
        for options in host::bindings() {
            let (name, source) = (format!("long_double/{how} {}", options.join(" ")), long_double.clone());
            let check = move || check(&source, how, options).map_err(Failed::from);
            trials.push(Trial::test(name, check));
            let check = move || check_steps(how, options).map_err(Failed::from);
            trials.push(Trial::test(format!("stepped/{how} {}", options.join(" ")), check));
        }
    }
    for options in host::bindings() {
        let check = move || check_traps(options).map_err(Failed::from);
        trials.push(Trial::test(format!("flags/long_traps {}", options.join(" ")), check));
        let check = move || check_reals(options).map_err(Failed::from);
        trials.push(Trial::test(format!("reals/other_side {}", options.join(" ")), check));
        let check = move || check_births(options).map_err(Failed::from);
        trials.push(Trial::test(format!("births/born {}", options.join(" ")), check));
        let check = move || check_unknown(options).map_err(Failed::from);
        trials.push(Trial::test(format!("unknown/kahan_float {}", options.join(" ")), check));
        let check = move || check_loop(options).map_err(Failed::from);
        trials.push(Trial::test(format!("causes/last {}", options.join(" ")), check));
    }
    for options in host::bindings().chain([&["--reference-path"][..]]) {
        for (guest, lines) in [("nearest", 4), ("switched", 4)] {
            let check = move || check_conversions((guest, lines), options).map_err(Failed::from);
            trials.push(Trial::test(format!("conversions/{guest} {}", options.join(" ")), check));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The C sources in a folder of guests that say nothing of how they are to be built, by name.
fn sources(folder: &str) -> Vec<PathBuf> {
    let dir = host::tests_dir().join("guests/mpfr").join(folder);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let is_plain = |path: &PathBuf| !std::fs::read_to_string(path).unwrap_or_default().contains("\n//@");
    let mut all: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(is_plain).collect();
    all.sort();
    all
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The program of `source`, built with debug information as `how` says: a compiler and its flags. Nothing, and `name` is noted as
/// skipped, if that is not installed.
fn built(name: &str, source: &Path, how: &str) -> Result<Option<PathBuf>, String> {
    let (compiler, flags) = how.split_once(' ').unwrap_or((how, ""));
    let program = Recipe::new(compiler, &format!("{flags} -g"), source, "-lm").build()?;
    if program.is_none() {
        host::skipped(name, &format!("{compiler} is not installed"));
    }
    Ok(program)
}

fn check(source: &Path, how: &str, options: &[&str]) -> Result<(), String> {
    let Some(program) = built(&stem(source), source, how)? else { return Ok(()) };
    let reals = Case::new("mpfr", &[], &program).observe()?.report;
    let errors = Case::new("error", options, &program).observe()?.report;
    if UNSEEN.contains(&stem(source).as_str()) {
        let is_honest = errors.outputs.is_empty() && !errors.is_clean();
        return if is_honest { Ok(()) } else { Err("it writes, and is called clean".to_owned()) };
    }
    if reals.outputs.len() != errors.outputs.len() {
        return Err(format!("{} outputs, not {}", errors.outputs.len(), reals.outputs.len()));
    }
    if errors.is_clean() && !reals.is_clean() {
        return Err(format!("called clean: {}", reals.document["verdict"]["text"]));
    }
    if source.parent().is_some_and(|folder| folder.ends_with("culprits")) {
        names_causes(source, &reals, &errors)?;
    }
    if reals.is_clean() && !errors.is_clean() {
        return Err(format!("not called clean: {}", errors.document["verdict"]["text"]));
    }
    let pairs = reals.outputs.iter().zip(&errors.outputs).enumerate();
    // Of a float that integers have made of another neither knows anything: for one it is exact, and counted, for the other unsettled.
    let is_excused = |n: usize| {
        let is_of_bytes = |gap: &Value| gap["instruction"] == "a float whose bytes were changed before";
        let gaps = reals.document["coverage"]["gaps"].as_array();
        let is_lost = gaps.is_some_and(|gaps| gaps.iter().any(is_of_bytes));
        is_lost && errors.document["outputs"][n]["judgement"] == "unsettled"
    };
    let wrong: Vec<String> = pairs
        .filter(|&(n, _)| !is_excused(n))
        .filter_map(|(n, (real, error))| disagreement(n, real, error))
        .collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    shown_alike(&reals.document["outputs"], &errors.document["outputs"])
}

/// An adaptive solver, whose steps are made of what is left of errors that cancel: no output is called right that is not, and none is
/// shown otherwise than the reals have it; some are known to be wrong.
fn check_steps(how: &str, options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join("guests/mpfr/stepped.c");
    let Some(program) = built("stepped", &source, how)? else { return Ok(()) };
    let reals = Case::new("mpfr", &[], &program).observe()?.report.document;
    let errors = Case::new("error", options, &program).observe()?.report.document;
    let judgements = |document: &Value| {
        let outputs = document["outputs"].as_array().cloned().unwrap_or_default();
        outputs
            .iter()
            .map(|output| output["judgement"].as_str().unwrap_or("none").to_owned())
            .collect::<Vec<_>>()
    };
    let (want, got) = (judgements(&reals), judgements(&errors));
    let are_alike = |(want, got): (&String, &String)| want == got || got == "unsettled";
    let wrong = got.iter().filter(|got| *got == "wrong").count();
    if want.len() != got.len() || wrong < 4 || !want.iter().zip(&got).all(are_alike) {
        return Err(format!("{got:?}, not {want:?}"));
    }
    shown_alike(&reals["outputs"], &errors["outputs"])
}

/// Compares what is shown as the exact text of each output, if that is known, with what the reals have there.
fn shown_alike(reals: &Value, errors: &Value) -> Result<(), String> {
    let outputs = |document: &Value| document.as_array().cloned().unwrap_or_default();
    for (n, (real, error)) in outputs(reals).iter().zip(&outputs(errors)).enumerate() {
        let [want, got] = [real, error].map(|output| &output["printed_exact"]);
        if want.is_string() && got.is_string() && want != got {
            return Err(format!("output {n}: {got} is shown as exact, not {want}"));
        }
    }
    Ok(())
}

/// A float's error is not known well enough for nine digits of what it stands for: nothing is said to be the exact text, nor that each
/// digit is right; but that of the reals is.
fn check_unknown(options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join("guests/mpfr/clean/kahan_float.c");
    let Some(program) = built("kahan_float", &source, "gcc -O2")? else { return Ok(()) };
    let reals = Case::new("mpfr", &[], &program).observe()?.report.document;
    let case = Case::new("error", options, &program);
    let errors = case.observe()?.report.document;
    let [real, error] = [&reals, &errors].map(|document| document["outputs"][0].clone());
    // 100000 times the float nearest to a tenth, exactly.
    if real["printed_exact"] != "10000.0001" || error["printed"] != "10000" || error["judgement"] != "right" {
        return Err(format!("{real}\n{error}"));
    }
    let is_unknown = ["printed_exact", "wrong_from"].iter().all(|field| error[*field].is_null());
    let text = case.terminal(&[])?;
    let is_shown = text.lines().any(|line| line.contains("exact") && line.contains("≈ 10000.000"));
    let is_claimed = errors["verdict"]["text"].as_str().is_none_or(|text| text.contains("to the last digit"));
    if is_unknown && is_shown && !is_claimed { Ok(()) } else { Err(format!("{error}\n{text}")) }
}

/// A core, whose samples are gone through until its operations are not looked at any more: no output is called right that is not,
/// unless the report says that an underflow was not followed.
fn check_core(core: &Core, how: &str, options: &[&str]) -> Result<(), String> {
    let source = fpcore::source(core)?;
    let Some(program) = built(&core.name, &source, how)? else { return Ok(()) };
    let samples = samples(core);
    let mut case = Case::new("error", options, &program);
    for value in (0..ROUNDS).flat_map(|_| samples.concat()) {
        case = case.arg(format!("{value:?}"));
    }
    let report = case.observe()?.report;
    let truth: Vec<_> = samples.iter().map(|sample| fpcore::evaluate(core, sample)).collect();
    let outputs = report.document["outputs"].as_array().cloned().unwrap_or_default();
    if outputs.len() != ROUNDS * truth.len() {
        return Err(format!("{} outputs in the report", outputs.len()));
    }
    let is_excused = report.document["coverage"]["exhausted"].as_array().is_some_and(|all| !all.is_empty());
    for (n, output) in outputs.iter().enumerate() {
        let (dual, sample) = (&truth[n % truth.len()], &samples[n % truth.len()]);
        let bits = fpcore::error_bits(dual.float, &dual.real, core.single);
        if output["judgement"] == "right" && bits > RIGHT && !is_excused {
            return Err(format!("{sample:?}, output {n}: {bits} bits of error, and called right: {output}"));
        }
    }
    Ok(())
}

/// A loop that runs on after its cause was found: that is named with its whole formula, and that the output, of an execution which
/// was not looked at, could not be traced.
fn check_loop(options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join("guests/mpfr/causes/last.c");
    let Some(program) = built("last", &source, "gcc -O2")? else { return Ok(()) };
    let errors = Case::new("error", options, &program).observe()?.report;
    names_causes(&source, &errors, &errors)?;
    let (first, unexplained) = (&errors.document["findings"][0], &errors.document["coverage"]["unexplained"]);
    let is_whole = first["expression"] == "sqrt(x + 1.0) - sqrt(x)";
    match (unexplained.as_u64(), is_whole) {
        (Some(1), true) => Ok(()),
        _ => Err(format!("{unexplained} outputs unexplained, first finding {first}")),
    }
}

/// Conversions to integers that the reals decide otherwise are counted as the reals count them, at so many lines of the guest.
fn check_conversions((guest, lines): (&str, usize), options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join(format!("guests/mpfr/verdict/{guest}.c"));
    let Some(program) = built(guest, &source, "gcc -O2")? else { return Ok(()) };
    let [reals, errors] = [("mpfr", &[][..]), ("error", options)].map(|(shadow, options)| {
        let report = Case::new(shadow, options, &program).observe()?.report;
        let conversions = report.findings.iter().filter(|finding| finding.kind == "conversion");
        let mut counts: Vec<_> = conversions.map(|finding| (finding.site.line, finding.count)).collect();
        counts.sort_unstable();
        Ok::<_, String>(counts)
    });
    let (reals, errors) = (reals?, errors?);
    if reals.len() == lines && reals == errors { Ok(()) } else { Err(format!("{errors:?}, not {reals:?}")) }
}

/// Exceptions of x87 are raised where the program raises them, and its status word is as natively.
fn check_traps(options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join("guests/flags/long_traps.c");
    for flags in ["-O0 -frounding-math", "-O2 -frounding-math"] {
        match Recipe::new("gcc", flags, &source, "-lm").build()? {
            Some(program) => drop(Case::new("error", options, &program).observe()?),
            None => host::skipped("long_traps", "gcc is not installed"),
        }
    }
    Ok(())
}

/// NaN of either narrow format is known again where it is printed: its birth reaches that output.
fn check_births(options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join("guests/mpfr/verdict/born.c");
    let text = std::fs::read_to_string(&source).map_err(|e| e.to_string())?;
    for flags in ["-O0 -g", "-O2 -g", "-O2 -g -mavx2"] {
        let Some(program) = Recipe::new("gcc", flags, &source, "-lm").build()? else {
            host::skipped("births", "gcc is not installed");
            return Ok(());
        };
        let report = Case::new("error", options, &program).observe()?.report;
        let findings = report.document["findings"].as_array().cloned().unwrap_or_default();
        for what in ["spread(zero / zero)", "narrow_zero / narrow_zero"] {
            let line = 1 + text.lines().position(|line| line.contains(what)).ok_or("no such line")? as u64;
            let born = findings.iter().find(|finding| finding["site"]["line"] == line);
            let outputs = born.and_then(|born| born["outputs"].as_array()).map_or(0, Vec::len);
            if outputs != 1 {
                return Err(format!("{flags}: NaN of line {line} reaches {outputs} outputs"));
            }
        }
    }
    Ok(())
}

/// Magnitudes of what is on the other side of zero in the reals: these are as the reals have them.
fn check_reals(options: &[&str]) -> Result<(), String> {
    let source = host::tests_dir().join("guests/mpfr/culprits/other_side.c");
    let Some(program) = built("other_side", &source, "gcc -O2")? else { return Ok(()) };
    let [reals, errors] = [("mpfr", &[][..]), ("error", options)].map(|(shadow, options)| {
        let report = Case::new(shadow, options, &program).observe()?.report;
        let outputs = report.document["outputs"].as_array().cloned().unwrap_or_default();
        let number = |output: &serde_json::Value| output["real"].as_str()?.parse::<f64>().ok();
        Ok::<Vec<Option<f64>>, String>(outputs.iter().map(number).collect())
    });
    let (reals, errors) = (reals?, errors?);
    let are_alike = |(real, error): (&Option<f64>, &Option<f64>)| match (real, error) {
        (Some(real), Some(error)) => *real > 0.0 && (error / real - 1.0).abs() < 1e-3,
        _ => false,
    };
    let all_are = reals.len() == 2 && errors.len() == 2 && reals.iter().zip(&errors).all(are_alike);
    if all_are { Ok(()) } else { Err(format!("{errors:?}, not {reals:?}")) }
}

/// Checks that the first finding is at a line that the source marks, and that none is where the reals have none.
fn names_causes(source: &Path, reals: &Report, errors: &Report) -> Result<(), String> {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let is_marked =
        |line: u64| text.lines().nth(line as usize - 1).is_some_and(|text| text.contains("// CULPRIT"));
    let lines = |report: &Report| -> Vec<(u64, String)> {
        report.findings.iter().map(|finding| (finding.site.line, finding.kind.clone())).collect()
    };
    let (known, found) = (lines(reals), lines(errors));
    if !found.first().is_some_and(|&(line, _)| line > 0 && is_marked(line)) {
        return Err(format!("first of all is blamed {:?}, not {:?}", found.first(), known.first()));
    }
    let is_false = |(line, _): &&(u64, String)| !known.iter().any(|(other, _)| other == line);
    match found.iter().find(is_false) {
        Some((line, kind)) => Err(format!("{kind} at line {line}, where the reals have none")),
        None => Ok(()),
    }
}

/// Description of what is wrong with the error bits of output `n`.
fn disagreement(n: usize, real: &Output, error: &Output) -> Option<String> {
    let [want, got] = [real, error].map(|output| output.error_bits.unwrap_or(f64::NAN));
    let is_known = want < MOST;
    let is_off = (want - got).abs() > TOLERANCE || got.is_nan();
    (is_known && is_off).then(|| format!("output {n}, {}: {got} bits of error, not {want}", error.value))
}
