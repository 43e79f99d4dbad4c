//! Fast paths against their reference path: derivatives by code beside the guest's, with shadows in upper vector registers and
//! in memory, are bit for bit those of instructions that the engine stops at and replays one by one; and reals from
//! records, with arithmetic of our own, give the outputs and findings of those that MPFR computes one by one.

use shadowgrind_tests::{host, tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The reference path. Fast paths are as many as there are [bindings](host::bindings).
const SLOW: &[&str] = &["--reference-path"];

/// Programs of the benchmark, with arguments that keep them short.
const GUESTS: [(&str, &[&str]); 18] = [
    ("nbody.c", &["300"]),
    ("lu.c", &["2"]),
    ("gram_schmidt.c", &["1"]),
    ("mandelbrot.c", &["16"]),
    ("sums.c", &["8"]),
    ("libm.c", &["300"]),
    ("burgers.cpp", &["20", "10"]),
    ("horizontal.c", &["haddpd", "300"]),
    ("horizontal.c", &["dppd", "300"]),
    ("horizontal.c", &["dpps", "300"]),
    ("horizontal.c", &["addsub", "300"]),
    ("bit_tricks.c", &["and", "300"]),
    ("bit_tricks.c", &["or", "300"]),
    ("bit_tricks.c", &["xor", "300"]),
    ("bit_tricks.c", &["add", "300"]),
    ("bit_tricks.c", &["shift", "300"]),
    ("bit_tricks.c", &["ldexp", "300"]),
    ("qsort.c", &["2"]),
];

const FLAGS: [&[&str]; 3] = [&["-O0"], &["-O2"], &["-O3", "-march=x86-64-v3"]];

#[test]
fn derivatives_agree_with_their_reference_path() {
    for_each_program("dot", &GUESTS, |program, args, directory, what| {
        let options = ["--shadow=dot", "--input=shift"];
        let slow = derivatives(&report(program, args, &options, SLOW, directory));
        assert!(!slow.is_empty(), "{what} prints floats");
        assert!(slow.iter().any(|dot| dot != "0.0"), "{what} has derivatives: {slow:?}");
        for fast in host::bindings() {
            let got = derivatives(&report(program, args, &options, fast, directory));
            assert_eq!(got, slow, "{what} with {fast:?}");
        }
    });
}

/// Guests with instructions of all kinds: moves of lanes, of floats in half precision, and from turn to turn of a loop; signs of
/// floats in general registers.
const LANES: [(&str, &str); 4] =
    [("lanes.c", "-DKIND=8"), ("half.c", "-DKIND=4"), ("turns.c", "-DKIND=8"), ("signs.c", "-DKIND=8")];

#[test]
fn lanes_agree_with_their_reference_path() {
    if host::lacks("lanes.c", &["avx2", "fma", "f16c"]) {
        return;
    }
    let directory = directory("lanes");
    for ((source, kind), level) in
        LANES.into_iter().flat_map(|guest| ["-O0", "-O3"].map(|level| (guest, level)))
    {
        let flags = [level, kind, "-mavx2", "-mfma", "-mf16c"];
        let program = compile(&format!("../dot/{source}"), &flags, &directory);
        let options = ["--shadow=dot", "--input=shift"];
        let slow = derivatives(&report(&program, &[], &options, SLOW, &directory));
        assert!(slow.iter().any(|dot| dot != "0.0"), "{source} {level}: {slow:?}");
        for fast in host::bindings() {
            let got = derivatives(&report(&program, &[], &options, fast, &directory));
            assert_eq!(got, slow, "{source} {level} with {fast:?}");
        }
    }
    std::fs::remove_dir_all(&directory).expect("the programs can be removed");
}

#[test]
fn long_doubles_agree_with_their_reference_path() {
    let directory = directory("long-doubles");
    let guests = [("../dot/x87.c", "-DKIND=10"), ("sums.c", "-DREAL=long double")];
    for ((source, kind), level) in
        guests.into_iter().flat_map(|guest| ["-O0", "-O2"].map(|level| (guest, level)))
    {
        let program = compile(source, &["-g", level, kind], &directory);
        let options = ["--shadow=dot", "--input=shift"];
        let args: &[&str] = if source.starts_with("..") { &[] } else { &["5"] };
        let slow = derivatives(&report(&program, args, &options, SLOW, &directory));
        assert!(slow.iter().any(|dot| dot != "0.0"), "{source} {level}: {slow:?}");
        for fast in host::bindings() {
            let got = derivatives(&report(&program, args, &options, fast, &directory));
            assert_eq!(got, slow, "{source} {level} with {fast:?}");
        }
    }
    std::fs::remove_dir_all(&directory).expect("the programs can be removed");
}

/// Programs for errors, with their arguments and flags.
const ERRORS: [(&str, &[&str], &[&str]); 7] = [
    ("nbody.c", &["30"], &[]),
    ("lu.c", &["2"], &[]),
    ("gram_schmidt.c", &["2"], &[]),
    ("sums.c", &["3"], &[]),
    ("sums.c", &["3"], &["-DREAL=long double"]),
    ("libm.c", &["20"], &[]),
    ("../mpfr/verdict/summed.c", &[], &[]),
];

/// Errors beside the program, those of the x87 stack and of floats that are scaled by powers of two included, are those that the
/// engine finds one by one, but for the mark of what was a float of four bytes: where all is seen, reals take its place.
#[test]
fn errors_agree_with_their_reference_path() {
    const MARK: f64 = 1e-6;
    let directory = directory("errors");
    let long = ["../mpfr/long_double.c", "../mpfr/culprits/variance_long.c", "../mpfr/scaled.c"];
    let long = long.map(|source| (source, &[][..], &["-DREAL=long double"][..]));
    let guests = ERRORS.into_iter().chain(long);
    for ((source, args, flags), level) in guests.flat_map(|guest| ["-O0", "-O2"].map(|level| (guest, level)))
    {
        let flags: Vec<&str> = ["-g", level].iter().chain(flags).copied().collect();
        let program = compile(source, &flags, &directory);
        let options = ["--shadow=error"];
        let slow = error_bits(&report(&program, args, &options, SLOW, &directory));
        assert!(!slow.is_empty(), "{source} {level}");
        for fast in host::bindings() {
            let got = error_bits(&report(&program, args, &options, fast, &directory));
            let are_alike =
                got.len() == slow.len() && got.iter().zip(&slow).all(|(a, b)| (a - b).abs() < MARK);
            assert!(are_alike, "{source} {level} with {fast:?}: {got:?}, not {slow:?}");
        }
    }
    std::fs::remove_dir_all(&directory).expect("the programs can be removed");
}

/// Programs for reals: more of them, and one that is at fault.
const REALS: [(&str, &[&str]); 10] = [
    ("nbody.c", &["300"]),
    ("lu.c", &["1"]),
    ("gram_schmidt.c", &["1"]),
    ("mandelbrot.c", &["16"]),
    ("sums.c", &["6"]),
    ("libm.c", &["100"]),
    ("burgers.cpp", &["10", "20"]),
    ("pid.c", &["2000"]),
    ("../mpfr/signs.c", &[]),
    ("../mpfr/rounded.c", &[]),
];

/// A low threshold, so that there is something to find.
const USUAL: &[&str] = &["--shadow=mpfr", "--error-threshold=1.5"];
/// Fewer bits than our arithmetic has room for, and more.
const FEWER: &[&str] = &["--shadow=mpfr", "--error-threshold=2", "--precision=100"];
const MORE: &[&str] = &["--shadow=mpfr", "--error-threshold=1.5", "--precision=300"];

#[test]
fn reals_agree_with_their_reference_path() {
    reals_agree("reals", USUAL);
}

#[test]
fn reals_of_few_bits_agree_with_their_reference_path() {
    reals_agree("few", FEWER);
}

#[test]
fn reals_of_many_bits_agree_with_their_reference_path() {
    reals_agree("many", MORE);
}

/// Programs whose operations are looked at a few at a time, so that each is the last of some: reals and findings are the same then.
const FEW_AT_A_TIME: [(&str, &[&str]); 7] = [
    ("nbody.c", &["10"]),
    ("lu.c", &["1"]),
    ("libm.c", &["10"]),
    ("pid.c", &["100"]),
    ("../mpfr/signs.c", &[]),
    ("../mpfr/rounded.c", &[]),
    ("../mpfr/clean/magnitudes.c", &[]),
];

#[test]
fn reals_agree_however_many_operations_are_looked_at_together() {
    for_each_program("together", &FEW_AT_A_TIME, |program, args, directory, what| {
        same_reals(program, args, (USUAL, &[&["--chaos=1"], &["--chaos=2", "--no-avx512"]]), directory, what);
    });
}

fn reals_agree(name: &str, options: &[&str]) {
    let fast: Vec<&[&str]> = host::bindings().collect();
    let mut findings = 0;
    for_each_program(name, &REALS, |program, args, directory, what| {
        findings += same_reals(program, args, (options, &fast), directory, what);
    });
    assert!(findings > 7, "only {findings} findings to compare");
}

/// Compares outputs, findings and gaps of a program, with these options on each of the `fast` paths; returns the number of findings.
fn same_reals(
    program: &Path,
    args: &[&str],
    (options, fast): (&[&str], &[&[&str]]),
    directory: &Path,
    what: &str,
) -> usize {
    let slow = report(program, args, options, SLOW, directory);
    assert!(slow["outputs"].as_array().is_some_and(|outputs| !outputs.is_empty()), "{what}");
    for fast in fast {
        let got = report(program, args, options, fast, directory);
        for part in ["/outputs", "/findings", "/coverage/gaps"] {
            let [got, slow] = [&got, &slow].map(|report| report.pointer(part));
            assert_eq!(got, slow, "{part} of {what} with {options:?} {fast:?}");
        }
    }
    slow["findings"].as_array().map_or(0, Vec::len)
}

/// Programs for reals in other formats, that fuse operations, and whose numbers die out; with the arguments and flags that take.
const FORMATS: [(&str, &[&str], &[&str]); 8] = [
    ("decay.c", &["300"], &["-O2", "-DREAL=float"]),
    ("decay.c", &["300"], &["-O3", "-DREAL=float", "-mavx2", "-mfma"]),
    ("decay.c", &["300"], &["-O2", "-mfma", "-ffp-contract=fast"]),
    ("decay.c", &["500", "dies"], &["-O2"]),
    ("decay.c", &["300"], &["-O2", "-DREAL=long double"]),
    ("sums.c", &["3"], &["-O0", "-DREAL=long double"]),
    ("../mpfr/x87.c", &[], &["-O0"]),
    ("../mpfr/x87.c", &[], &["-O2"]),
];

#[test]
fn reals_of_any_format_agree_with_their_reference_path() {
    let (directory, fast) = (directory("formats"), host::bindings().collect::<Vec<_>>());
    for (source, args, flags) in FORMATS {
        let program = compile(source, flags, &directory);
        for options in [USUAL, FEWER, MORE] {
            same_reals(&program, args, (options, &fast), &directory, &format!("{source} {flags:?}"));
        }
    }
    std::fs::remove_dir_all(&directory).expect("the programs can be removed");
}

/// Compiles the programs in every way and looks at each.
fn for_each_program(
    name: &str,
    guests: &[(&str, &[&str])],
    mut look: impl FnMut(&Path, &[&str], &Path, &str),
) {
    let directory = directory(name);
    for (source, args) in guests {
        for flags in FLAGS {
            let program = compile(source, flags, &directory);
            look(&program, args, &directory, &format!("{source} {flags:?}"));
        }
    }
    std::fs::remove_dir_all(&directory).expect("the programs can be removed");
}

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("shadowgrind-reference-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the programs");
    directory
}

fn compile(source: &str, flags: &[&str], directory: &Path) -> PathBuf {
    let path = host::tests_dir().join("guests/bench").join(source);
    let program = directory.join("program");
    let compiler = if source.ends_with(".cpp") { "g++" } else { "gcc" };
    let status = Command::new(compiler).args(flags).arg("-o").arg(&program).arg(path).arg("-lm").status();
    assert!(status.expect("a C compiler").success(), "{source} compiles with {flags:?}");
    program
}

/// The JSON report of a run.
fn report(
    program: &Path,
    args: &[&str],
    shadow: &[&str],
    options: &[&str],
    directory: &Path,
) -> serde_json::Value {
    let report = directory.join("report.json");
    let run = Command::new(tool::binary())
        .arg("-q")
        .args(shadow)
        .arg(format!("--report=json:{}", report.display()))
        .args(options)
        .arg(program)
        .args(args)
        .output()
        .expect("the tool runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(&report).expect("a report");
    serde_json::from_str(&text).expect("a JSON report")
}

/// The derivative of each number the program prints.
fn derivatives(report: &serde_json::Value) -> Vec<String> {
    let outputs = report["outputs"].as_array().expect("outputs");
    outputs.iter().map(|output| output["dot"].to_string()).collect()
}

/// The bits of error of each number the program prints.
fn error_bits(report: &serde_json::Value) -> Vec<f64> {
    let outputs = report["outputs"].as_array().expect("outputs");
    outputs.iter().map(|output| output["error_bits"].as_f64().expect("an error that is known")).collect()
}
