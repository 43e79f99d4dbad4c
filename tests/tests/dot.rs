//! Derivatives: the guests of `guests/dot` in every language, type and level against closed forms, real programs against
//! difference quotients, Burgers' equations also against operator overloading, and requests that make no sense.
//!
//! A guest prints values, each with the derivative that it must have; the closed forms themselves are checked by
//! difference quotients of native runs.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::End;
use shadowgrind_tests::shadowed::build::{Recipe, built, client_dir, python_package, python_with};
use shadowgrind_tests::shadowed::differences::{against_argument, numbers};
use shadowgrind_tests::shadowed::matrix::{Cell, cells, cells_for_differences, cells_of_two_levels};
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::pairs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Test of a name: its check.
type Check = Box<dyn FnOnce(&str) -> Result<(), Failed> + Send>;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Check| {
        trials.push(Trial::test(name.clone(), move || check(&name)));
    };
    for cell in cells_for_differences() {
        add(format!("closed-forms/{}", cell.name), Box::new(move |name| check_closed_forms(name, &cell)));
    }
    for cell in cells() {
        add(format!("matrix/{}", cell.name), Box::new(move |name| check_cell(name, &cell, &[])));
    }
    for cell in cells_of_two_levels() {
        add(format!("hot/{}", cell.name), Box::new(move |name| check_cell(name, &cell, &[HOT])));
    }
    for script in SCRIPTS {
        let closed = format!("closed-forms/{}", script.name);
        if script.arguments.first() != Some(&"f4") {
            add(closed, Box::new(move |name| check_script_forms(name, &script)));
        }
        add(format!("matrix/{}", script.name), Box::new(move |name| check_script(name, &script)));
    }
    for program in PROGRAMS {
        add(format!("programs/{}", program.name), Box::new(move |name| check_program(name, &program)));
    }
    add("programs/scipy".to_owned(), Box::new(check_scipy));
    for level in ["-O0", "-O3", "-O3 -march=x86-64-v3"] {
        add(format!("burgers/{level}"), Box::new(move |name| check_burgers(name, level)));
    }
    add("requests".to_owned(), Box::new(check_requests));
    for (spec, slope) in OFTEN {
        add(format!("often/{spec}"), Box::new(move |name| check_often(name, spec, slope)));
    }
    for (spec, words) in REFUSED {
        add(format!("refused/{spec}"), Box::new(move |name| check_refused(name, spec, words, "-g")));
    }
    for (spec, words) in REFUSED_STRIPPED {
        add(format!("refused-stripped/{spec}"), Box::new(move |name| check_refused(name, spec, words, "-s")));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guests_dir() -> PathBuf {
    host::tests_dir().join("guests/dot")
}

fn check_closed_forms(name: &str, cell: &Cell) -> Result<(), Failed> {
    match built(name, &cell.recipe)? {
        Some(exe) => closed_forms(&Case::new("dot", &[], &exe), cell.kind == 10),
        None => Ok(()),
    }
}

/// The guest's last argument is the shift; without it, 0.
fn closed_forms(case: &Case, long_double: bool) -> Result<(), Failed> {
    let (h, tolerance) = if long_double { (1e-6, 1e-6) } else { (1e-5, 1e-4) };
    let run = |shift: f64| pairs::parse(&case.clone().arg(shift.to_string()).native()?.stdout);
    let (before, here, after) = (run(-h)?, run(0.0)?, run(h)?);
    fail(pairs::difference_quotients([&before, &here, &after], h, tolerance))
}

fn fail(text: Option<String>) -> Result<(), Failed> {
    text.map_or(Ok(()), |text| Err(text.into()))
}

/// Option by which code is made as if it ran often.
const HOT: &str = "--hot-after=1";

fn check_cell(name: &str, cell: &Cell, options: &[&str]) -> Result<(), Failed> {
    let Some(exe) = built(name, &cell.recipe)? else { return Ok(()) };
    let input = format!("--input={}", cell.input);
    check_pairs(&Case::new("dot", &[&[&input[..]], options].concat(), &exe), cell.tolerance())
}

fn check_pairs(case: &Case, tolerance: f64) -> Result<(), Failed> {
    let seen = case.observe()?;
    let pairs = pairs::parse(&seen.outcome.stdout)?;
    fail(pairs::disagreements(&pairs, &seen.report, tolerance))
}

/// A Python guest.
#[derive(Clone, Copy)]
struct Script {
    name: &'static str,
    file: &'static str,
    arguments: &'static [&'static str],
    tolerance: f64,
}

const SCRIPTS: [Script; 3] = [
    Script { name: "python", file: "python.py", arguments: &[], tolerance: 1e-14 },
    Script { name: "numpy-float64", file: "arrays.py", arguments: &["f8"], tolerance: 1e-14 },
    Script { name: "numpy-float32", file: "arrays.py", arguments: &["f4"], tolerance: 1e-6 },
];

/// The system's Python: the one that a distribution's numpy belongs to.
const PYTHON: &str = "/usr/bin/python3";

/// The command for a script; `None`, with a word of why, where this machine cannot run it.
fn python_case(name: &str, script: &Path, more_path: Option<&Path>) -> Result<Option<Case>, String> {
    let python = Path::new(PYTHON);
    let Some(package) = (if python.exists() { python_package(python)? } else { None }) else {
        host::skipped(name, "needs /usr/bin/python3 with headers, pip and setuptools");
        return Ok(None);
    };
    let mut path = package.to_string_lossy().into_owned();
    if let Some(more) = more_path {
        path = format!("{path}:{}", more.display());
    }
    let case = Case::new("dot", &[], python).arg("-P").arg(script);
    Ok(Some(same_code(case.env("PYTHONPATH", &path).env("PYTHONDONTWRITEBYTECODE", "1"))))
}

/// numpy and OpenBLAS pick code by the processor's features, with other last digits: the native run must not use what
/// the tool hides.
fn same_code(case: Case) -> Case {
    let hidden = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL";
    case.env("NPY_DISABLE_CPU_FEATURES", hidden)
        .env("PYTHONWARNINGS", "ignore")
        .env("OPENBLAS_CORETYPE", "Haswell")
}

fn script_case(name: &str, script: &Script) -> Result<Option<Case>, String> {
    let numpy = Case::new("dot", &[], Path::new(PYTHON)).arg("-c").arg("import numpy");
    if script.file == "arrays.py" && numpy.native().is_err() {
        host::skipped(name, "needs numpy");
        return Ok(None);
    }
    let mut case = python_case(name, &guests_dir().join(script.file), None)?;
    if let Some(case) = &mut case {
        case.argv.extend(script.arguments.iter().map(std::ffi::OsString::from));
    }
    Ok(case)
}

fn check_script_forms(name: &str, script: &Script) -> Result<(), Failed> {
    match script_case(name, script)? {
        Some(case) => closed_forms(&case, false),
        None => Ok(()),
    }
}

fn check_script(name: &str, script: &Script) -> Result<(), Failed> {
    match script_case(name, script)? {
        Some(case) => check_pairs(&case, script.tolerance),
        None => Ok(()),
    }
}

/// A real library under a program of ours; every printed number is an output.
struct Program {
    name: &'static str,
    file: &'static str,
    libs: &'static str,
    header: &'static str,
}

const PROGRAMS: [Program; 2] = [
    Program {
        name: "lapack-openblas",
        file: "lapack.c",
        libs: "-lopenblas -lm",
        header: "openblas-pthread/cblas.h",
    },
    Program { name: "gsl", file: "gsl.c", libs: "-lgsl -lgslcblas -lm", header: "gsl/gsl_sf.h" },
];

fn check_program(name: &str, program: &Program) -> Result<(), Failed> {
    let source = guests_dir().join("programs").join(program.file);
    let present = ["/usr/include", "/usr/include/x86_64-linux-gnu"]
        .iter()
        .any(|dir| Path::new(dir).join(program.header).exists());
    if !present {
        host::skipped(name, &format!("needs {}", program.header));
        return Ok(());
    }
    let recipe = Recipe::new("gcc", "-O2 -g", &source, program.libs);
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let case = same_code(Case::new("dot", &["--input=shift"], &exe));
    against_argument(&case, 1e-6, 1e-5).map(drop).map_err(Failed::from)
}

fn check_scipy(name: &str) -> Result<(), Failed> {
    let Some(packages) = python_with(Path::new(PYTHON), &["scipy==1.17.1", "numpy>=2"])? else {
        host::skipped(name, "scipy 1.17.1 cannot be installed");
        return Ok(());
    };
    let script = guests_dir().join("programs/science.py");
    match python_case(name, &script, Some(&packages))? {
        Some(case) => {
            let case = case.env("OPENBLAS_NUM_THREADS", "2");
            against_argument(&case, 1e-5, 1e-4).map(drop).map_err(Failed::from)
        }
        None => Ok(()),
    }
}

fn check_burgers(name: &str, level: &str) -> Result<(), Failed> {
    let source = guests_dir().join("burgers.cpp");
    let flags = format!("{level} -g");
    let Some(plain) = built(name, &Recipe::new("g++", &flags, &source, ""))? else { return Ok(()) };
    let overloaded = Recipe::new("g++", &format!("{flags} -DDUAL"), &source, "").build()?;
    let overloaded = overloaded.ok_or("the compiler has gone")?;
    let case = Case::new("dot", &["--input=shift"], &plain).arg("40").arg("60");
    let dot = case.observe()?.report.outputs.first().and_then(|o| o.dot).ok_or("no output")?;
    let dual = numbers(&Case::new("dot", &[], &overloaded).arg("40").arg("60").native()?)[1];
    if (dot - dual).abs() > 1e-11 * dual.abs() {
        return Err(format!("dot {dot:e}, by operator overloading {dual:e}").into());
    }
    against_argument(&case, 1e-5, 1e-6).map(drop).map_err(Failed::from)
}

fn check_requests(name: &str) -> Result<(), Failed> {
    let flags = format!("-O2 -I{}", client_dir().display());
    let recipe = Recipe::new("gcc", &flags, &guests_dir().join("requests.c"), "");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let seen = Case::new("dot", &[], &exe).observe()?;
    let wrong: Vec<_> = pairs::parse(&seen.outcome.stdout)?
        .into_iter()
        .filter(|pair| pair.value != pair.derivative)
        .collect();
    if !wrong.is_empty() {
        return Err(format!("{wrong:?}").into());
    }
    let named = seen.report.outputs.iter().find(|o| o.label.as_deref() == Some("result"));
    if named.and_then(|o| o.dot) != Some(3.0) {
        return Err(format!("the named output: {named:?}").into());
    }
    if seen.report.document["inputs"].to_string().contains("named") {
        Ok(())
    } else {
        Err("the named input is not in the report".into())
    }
}

/// Calls of each function of `often.c`.
const CALLS: usize = 3000;

/// Calls are each sampled once: SPEC, and its derivative at the n-th call as a multiple of n.
const OFTEN: [(&str, f64); 4] = [("outer#1", 1.0), ("outer#ret", 2.0), ("inner#1", 1.0), ("inner#ret", 2.0)];

fn check_often(name: &str, spec: &str, slope: f64) -> Result<(), Failed> {
    let recipe = Recipe::new("gcc", "-O1 -g", &guests_dir().join("often.c"), "");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let output = format!("--output={spec}");
    let seen = Case::new("dot", &["--input=shift", &output], &exe).observe()?;
    let dots: Vec<_> = seen.report.outputs.iter().map(|output| output.dot).collect();
    let expected: Vec<_> = (0..CALLS).map(|n| Some(slope * n as f64)).collect();
    if dots == expected {
        return Ok(());
    }
    let first = dots.iter().zip(&expected).position(|(dot, expected)| dot != expected);
    Err(format!("{} samples, {first:?} is the first wrong one", dots.len()).into())
}

/// Inputs that lead nowhere in `refused.c`, or whole options, and words of which the one line must hold each.
const REFUSED: [(&str, &[&str]); 11] = [
    ("viscosty", &["viscosty", "viscosity"]),
    ("grid[8]", &["grid", "8", "7"]),
    ("grid[2..9]", &["grid", "8", "7"]),
    ("counter", &["counter", "int"]),
    ("name[", &["name["]),
    ("viscosity=abc", &["abc"]),
    ("#2", &["#2"]),
    ("viscosity@nowhere", &["nowhere"]),
    ("propagte#1", &["propagte", "propagate"]),
    ("grid[0][1]", &["grid"]),
    ("--output=viscosity=2", &["--output=viscosity", "weights", "dot"]),
];

/// Inputs that lead nowhere in `refused.c` without symbols: what is missing must be said.
const REFUSED_STRIPPED: [(&str, &[&str]); 2] =
    [("local_scale", &["local_scale", "stripped"]), ("propagate#1", &["propagate", "stripped"])];

fn check_refused(name: &str, spec: &str, words: &[&str], flags: &str) -> Result<(), Failed> {
    let source = guests_dir().join("refused.c");
    let Some(exe) = built(name, &Recipe::new("gcc", &format!("-O0 {flags}"), &source, ""))? else {
        return Ok(());
    };
    let option = if spec.starts_with("--") { spec.to_owned() } else { format!("--input={spec}") };
    let outcome = Case::new("dot", &[&option], &exe).tool(&[])?;
    let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let missing = words.iter().find(|word| !stderr.contains(**word));
    if outcome.end != End::Exit(2) || stderr.lines().count() != 1 || missing.is_some() {
        return Err(format!("{}, no {missing:?} in one line: {stderr:?}", outcome.end).into());
    }
    if outcome.stdout.is_empty() { Ok(()) } else { Err("the program ran".into()) }
}
