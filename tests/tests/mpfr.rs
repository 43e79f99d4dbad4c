//! Reals: the error that `--shadow=mpfr` measures, and the cause that it names, against truth at 1100 bits.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::fpcore::{self, Core, Dual};
use shadowgrind_tests::shadowed::observe::Case;
use std::path::PathBuf;
use std::process::ExitCode;

/// Groups of arguments for each core.
const SAMPLES: usize = 16;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for core in cores() {
        let name = format!("cores-natively/{}", core.name);
        trials.push(Trial::test(name.clone(), move || check_natively(&name, &core)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guests_dir() -> PathBuf {
    host::tests_dir().join("guests/mpfr")
}

fn cores() -> Vec<Core> {
    let path = guests_dir().join("cores.fpcore");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    fpcore::parse_all(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The same samples in every run: fractions of the golden ratio, spread evenly, or by magnitude over wide ranges.
fn samples(core: &Core) -> Vec<Vec<f64>> {
    let ranges = fpcore::ranges(core);
    let sample = |number: usize| {
        let spread = |(index, (low, high)): (usize, &(f64, f64))| {
            let fraction = ((number * ranges.len() + index) as f64 * 0.618_033_988_749_895 + 0.1).fract();
            let wide = *low > 0.0 && high / low > 100.0;
            let value = if wide { low * (high / low).powf(fraction) } else { low + (high - low) * fraction };
            if core.single { f64::from(value as f32) } else { value }
        };
        ranges.iter().enumerate().map(spread).collect()
    };
    (0..SAMPLES).map(sample).collect()
}

/// The core as a program, with every sample as arguments; `None` without a compiler.
fn case(core: &Core, flags: &str) -> Result<Option<Case>, String> {
    let dir = host::target_dir().join("guests/cores");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let source = dir.join(format!("{}.c", core.name));
    let text = fpcore::program(core);
    if std::fs::read_to_string(&source).ok().as_deref() != Some(&text) {
        std::fs::write(&source, text).map_err(|e| e.to_string())?;
    }
    let Some(exe) = Recipe::new("gcc", flags, &source, "-lm").build()? else { return Ok(None) };
    let mut case = Case::new("mpfr", &[], &exe);
    for value in samples(core).concat() {
        case = case.arg(format!("{value:?}"));
    }
    Ok(Some(case))
}

/// What the program must print, with the truth.
fn truth(core: &Core) -> Vec<Dual> {
    samples(core).iter().map(|sample| fpcore::evaluate(core, sample)).collect()
}

/// The evaluator's floats are those of the compiled program: only then are its reals the truth about it.
fn check_natively(name: &str, core: &Core) -> Result<(), Failed> {
    let Some(case) = case(core, "-g -O1")? else {
        host::skipped(name, "gcc is not installed");
        return Ok(());
    };
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
