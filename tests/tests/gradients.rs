//! Gradients of programs that use libraries, languages and threads, against central differences of native runs in each of the
//! numbers that they read from standard input.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left};
use shadowgrind_tests::shadowed::build::{Recipe, built, python_package};
use shadowgrind_tests::shadowed::differences::numbers;
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::pairs;
use shadowgrind_tests::shadowed::report::Output;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for program in PROGRAMS {
        for level in program.levels {
            let name = format!("{}/{level}", program.source);
            trials.push(Trial::test(name.clone(), move || check_program(&name, &program, level)));
        }
    }
    for (script, width) in [("arrays.py", 12), ("script.py", 6)] {
        trials.push(Trial::test(script, move || check_script(script, width)));
    }
    trials.push(Trial::test("client.py", || check_client("client.py")));
    for level in LEVELS {
        let name = format!("recording.c/{level}");
        trials.push(Trial::test(name.clone(), move || check_recording(&name, level)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Program that reads `width` numbers.
#[derive(Clone, Copy)]
struct Program {
    compiler: &'static str,
    source: &'static str,
    flags: &'static str,
    libs: &'static str,
    /// A declaration that compiles where its libraries are installed.
    needs: &'static str,
    levels: &'static [&'static str],
    width: usize,
}

const LEVELS: &[&str] = &["-O0", "-O3 -march=x86-64-v3"];
const C: Program =
    Program { compiler: "gcc", source: "", flags: "", libs: "-lm", needs: "", levels: LEVELS, width: 0 };

const PROGRAMS: [Program; 8] = [
    Program { source: "cg.c", width: 10, ..C },
    Program { source: "fft.c", width: 16, ..C },
    Program { source: "lapack.c", libs: "-lopenblas", levels: &["-O2"], width: 12, ..C },
    Program {
        source: "gsl.c",
        libs: "-lgsl -lgslcblas -lm",
        needs: "#include <gsl/gsl_multimin.h>",
        levels: &["-O2"],
        width: 3,
        ..C
    },
    Program {
        compiler: "g++",
        source: "eigen.cpp",
        flags: "-I/usr/include/eigen3",
        needs: "#include <Eigen/Dense>",
        levels: &["-O2 -march=x86-64-v3"],
        width: 12,
        ..C
    },
    Program { compiler: "gfortran", source: "modules.f90", libs: "", width: 7, ..C },
    Program { compiler: "g++", source: "threads.cpp", flags: "-pthread", width: 8, ..C },
    Program { source: "openmp.c", flags: "-fopenmp", width: 12, ..C },
];

fn directory() -> PathBuf {
    host::tests_dir().join("guests/dot/libraries")
}

/// Tells whether what a program needs is installed: an empty one with these libraries is built.
fn is_there(program: &Program) -> bool {
    let language = if program.compiler == "g++" { "c++" } else { "c" };
    let script = format!(
        "printf '%s\\nint main(void) {{ return 0; }}\\n' '{}' | {} -x {language} {} -o /dev/null - {}",
        program.needs, program.compiler, program.flags, program.libs
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

fn check_program(name: &str, program: &Program, level: &str) -> Result<(), Failed> {
    if program.compiler != "gfortran" && !is_there(program) {
        host::skipped(name, &format!("{} and {} are not installed", program.needs, program.libs));
        return Ok(());
    }
    let flags = format!("{level} -g {}", program.flags);
    let recipe = Recipe::new(program.compiler, &flags, &directory().join(program.source), program.libs);
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    check(Case::new("adjoint", &[], &exe), program.width)
}

fn check_script(script: &str, width: usize) -> Result<(), Failed> {
    let python = Path::new("/usr/bin/python3");
    let has =
        |code: &str| Command::new(python).args(["-c", code]).output().is_ok_and(|out| out.status.success());
    if !has(if script == "arrays.py" { "import numpy" } else { "pass" }) {
        host::skipped(script, "/usr/bin/python3 or numpy is not installed");
        return Ok(());
    }
    check(Case::new("adjoint", &[], python).arg(directory().join(script)), width)
}

/// Numbers to be read, all different and none of them round.
fn given(width: usize) -> Vec<f64> {
    (0..width).map(|n| 0.3 + ((n * 7 + 3) % 11) as f64 * 0.137 + n as f64 * 0.011).collect()
}

/// The gradient of each number that the program prints against the difference in each number that it reads.
fn check(case: Case, width: usize) -> Result<(), Failed> {
    const H: f64 = 1e-4;
    // OpenBLAS chooses kernels by CPUID, which shows no AVX-512 under the tool: both runs are to have those without.
    let case = case.env("OPENBLAS_CORETYPE", "Haswell");
    let point = given(width);
    let at = |x: &[f64]| Case {
        stdin: x.iter().map(|x| format!("{x:?}\n")).collect::<String>().into_bytes(),
        options: vec![format!("--input=stdin:1-{width}:1")],
        ..case.clone()
    };
    let seen = at(&point).observe()?;
    let outputs = pairs::aligned(&numbers(&seen.outcome), &seen.report)?;
    let mut text = String::new();
    for component in 0..width {
        let moved = |h: f64| {
            let mut x = point.clone();
            x[component] += h;
            at(&x).native().map(|outcome| numbers(&outcome))
        };
        let (before, after) = (moved(-H)?, moved(H)?);
        if [before.len(), after.len()] != [outputs.len(); 2] {
            return Err(format!("{} numbers, {} outputs", before.len(), outputs.len()).into());
        }
        for (output, (before, after)) in before.iter().zip(&after).enumerate() {
            let quotient = (after - before) / (2.0 * H);
            let derivative = outputs[output].gradient.get(component).copied().unwrap_or(0.0);
            let far = (derivative - quotient).abs();
            if far > 1e-5 * quotient.abs().max(0.1) || far.is_nan() {
                text += &format!(
                    "output {output} by number {component}: {derivative}, by differences {quotient}\n"
                );
            }
        }
    }
    let components = &seen.report.document["inputs"][0]["text"];
    let lines: Vec<[usize; 2]> = (1..=width).map(|line| [line, 1]).collect();
    if components["name"] != "stdin" || components["places"] != serde_json::json!(lines) {
        text += &format!("components are called {components}\n");
    }
    let lost = seen.report.document["coverage"]["gaps"].to_string();
    if lost != "[]" {
        text += &format!("lost: {lost}\n");
    }
    if text.is_empty() { Ok(()) } else { Err(text.into()) }
}

/// Prints what the Python package reads from the report of `client.py`.
const READER: &str = "import shadowgrind as s; print(s.mode() == s.NATIVE, s.gradient('r.json', 'area'), len(s.gradient('r.json')))";

/// Inputs and outputs that a script names itself, and their gradient as the package reads it afterwards.
fn check_client(name: &str) -> Result<(), Failed> {
    let python = Path::new("/usr/bin/python3");
    let site = if python.exists() { python_package(python)? } else { None };
    let Some(site) = site else {
        host::skipped(name, "the package cannot be built for /usr/bin/python3");
        return Ok(());
    };
    let case = |shadow| Case::new(shadow, &[], python).env("PYTHONPATH", &site.to_string_lossy());
    let mut outcome = case("adjoint").arg(directory().join(name)).tool(&["--report=json:r.json"])?;
    let Some(Left::File(_, report)) = outcome.files.remove("r.json") else {
        return Err(String::from_utf8_lossy(&outcome.stderr).into_owned().into());
    };
    let mut reader = case("none").arg("-c").arg(READER);
    reader.files.push(("r.json".to_owned(), report));
    let said = String::from_utf8_lossy(&reader.native()?.stdout).into_owned();
    // ∂(x y²) = (y², 2 x y)
    let expected = "True {'x': [16.0], 'y': [24.0]} 1\n";
    if said == expected { Ok(()) } else { Err(format!("{said:?}, must be {expected:?}").into()) }
}

/// Inputs and outputs that a program makes by Derivgrind's requests: it prints the derivatives of each output.
fn check_recording(name: &str, level: &str) -> Result<(), Failed> {
    let flags = format!("{level} -g -I{}", host::workspace_dir().join("frontends/client").display());
    let recipe = Recipe::new("gcc", &flags, &directory().join("recording.c"), "-lm");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let seen = Case::new("adjoint", &[], &exe).observe()?;
    let must = numbers(&seen.outcome);
    let outputs =
        seen.report.outputs.iter().filter(|output| output.label.as_deref() == Some("dg-output-indices"));
    // What depends on no input has no gradient.
    let row =
        |output: &Output| if output.gradient.is_empty() { vec![0.0; 3] } else { output.gradient.clone() };
    let is: Vec<f64> = outputs.flat_map(row).collect();
    let inputs = &seen.report.document["inputs"];
    if (inputs[0]["spec"].as_str(), inputs[0]["count"].as_u64()) != (Some("dg-input-indices"), Some(3)) {
        return Err(format!("inputs: {inputs}").into());
    }
    let agree = |(is, must): (&f64, &f64)| (is - must).abs() <= 1e-14 * must.abs().max(1.0);
    let right = is.len() == must.len() && is.iter().zip(&must).all(agree);
    if right && seen.outcome.end == End::Exit(0) {
        Ok(())
    } else {
        Err(format!("{is:?}, must be {must:?}").into())
    }
}
