//! Errors in twice the precision: what `--shadow=error` says of each output, against `--shadow=mpfr` on the same program.
//!
//! Programs are those of the reals: of `culprits` each wrong output must be called so, and `clean` ones must be called that.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::{Output, Report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Largest difference between the two, in bits of error.
const TOLERANCE: f64 = 1.0;
/// Errors with more bits than this are not compared: the error itself has none that are sure.
const MOST: f64 = 50.0;

/// Programs whose error bits are seen otherwise by design: of what infinities and overflow were, an error in place knows nothing and
/// says so; underflow is told of, but not by how much.
const UNKNOWN: [&str; 5] = ["born", "magnitude", "overflow", "underflow", "unreached"];
/// Programs that write floats in binary form, which is not looked at.
const UNSEEN: [&str; 1] = ["written"];
/// Compensated sums that ask how their corrections compare: here that is a decision, since nobody sees them put back.
const ASKING: [&str; 2] = ["klein", "shewchuk"];
/// Words for decisions in a verdict.
const DECISIONS: [&str; 2] = ["another way than in the reals", "unsettled"];
/// Number of programs.
const PROGRAMS: usize = 67;

fn main() -> ExitCode {
    let folders = ["culprits", "clean", "verdict"];
    assert_eq!(folders.iter().map(|folder| sources(folder).len()).sum::<usize>(), PROGRAMS);
    let mut trials = Vec::new();
    for how in ["gcc -O0", "gcc -O2", "gcc -O3 -mavx2 -mfma", "clang -O2"] {
        for folder in folders {
            for source in sources(folder) {
                for options in [&[][..], &["--no-avx512"]] {
                    let name = format!("{folder}/{}/{how} {}", stem(&source), options.join(" "));
                    let source = source.clone();
                    let check = move || check(&source, how, options).map_err(Failed::from);
                    trials.push(Trial::test(name, check));
                }
            }
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

fn check(source: &Path, how: &str, options: &[&str]) -> Result<(), String> {
    let (compiler, flags) = how.split_once(' ').unwrap_or((how, ""));
    let Some(program) = Recipe::new(compiler, &format!("{flags} -g"), source, "-lm").build()? else {
        host::skipped(&stem(source), &format!("{compiler} is not installed"));
        return Ok(());
    };
    let reals = Case::new("mpfr", &[], &program).observe()?.report;
    let errors = Case::new("error", options, &program).observe()?.report;
    let is_any_of = |names: &[&str]| names.contains(&stem(source).as_str());
    if is_any_of(&UNSEEN) {
        let is_honest = errors.outputs.is_empty() && !errors.is_clean();
        return if is_honest { Ok(()) } else { Err("it writes, and is called clean".to_owned()) };
    }
    if reals.outputs.len() != errors.outputs.len() {
        return Err(format!("{} outputs, not {}", errors.outputs.len(), reals.outputs.len()));
    }
    if errors.is_clean() && !reals.is_clean() && has_run(&reals) {
        return Err(format!("called clean: {}", reals.document["verdict"]["text"]));
    }
    let verdict = errors.document["verdict"]["text"].as_str().unwrap_or_default().to_owned();
    let decides = || verdict.split(", ").all(|part| DECISIONS.iter().any(|what| part.contains(what)));
    if is_any_of(&ASKING) && !(decides() && verdict.contains("decision")) {
        return Err(format!("not known to be seen so: {verdict}"));
    }
    if reals.is_clean() && !errors.is_clean() && !is_any_of(&ASKING) {
        return Err(format!("not called clean: {}", errors.document["verdict"]["text"]));
    }
    let pairs = reals.outputs.iter().zip(&errors.outputs).enumerate();
    let wrong: Vec<String> =
        pairs.filter_map(|(n, (real, error))| disagreement(source, n, real, error)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Tells whether anything was computed while the program ran: errors are not counted by operation.
fn has_run(reals: &Report) -> bool {
    reals.document["coverage"]["operations"].as_u64() != Some(0)
}

/// Description of what is wrong with the error bits of output `n`.
fn disagreement(source: &Path, n: usize, real: &Output, error: &Output) -> Option<String> {
    let [want, got] = [real, error].map(|output| output.error_bits.unwrap_or(f64::NAN));
    let is_known = want < MOST && !UNKNOWN.contains(&stem(source).as_str());
    let is_off = (want - got).abs() > TOLERANCE || got.is_nan();
    (is_known && is_off).then(|| format!("output {n}, {}: {got} bits of error, not {want}", error.value))
}
