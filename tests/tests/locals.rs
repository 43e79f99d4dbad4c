//! Local variables as inputs and outputs: derivatives of a guest against closed forms, at every level of optimisation, and what is
//! said of variables that the compiler keeps nowhere.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::End;
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::observe::Case;
use std::path::PathBuf;
use std::process::ExitCode;

/// Demand on an optimised program: a variable that is kept somewhere must be right, any other be told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// At all levels.
    Always,
    /// Without optimisation.
    Unoptimised,
}

/// A SPEC, the number of times that it is assigned, the line of output that depends on it and its derivative.
type Input = (&'static str, u64, &'static str, f64, Kept);

/// For a = 2: each assignment makes the variable independent of what it was.
const INPUTS: &[Input] = &[
    // square: (3 a)^2
    ("square:inner", 1, "square", 12.0, Kept::Unoptimised),
    ("main:s", 1, "square", 1.0, Kept::Always),
    // chain: once = 8, twice = 6
    ("chain:once", 2, "chain", 6.0 + 2.0 * 8.0, Kept::Always),
    ("locals.c:18:once", 1, "chain", 6.0, Kept::Always),
    ("inputs/locals.c:16:once", 1, "chain", 2.0 * 6.0 + 2.0 * 8.0, Kept::Always),
    ("chain:twice", 1, "chain", 6.0 + 8.0, Kept::Always),
    ("chain:a", 1, "chain", 4.0 * 6.0 + 2.0 * 8.0 - 6.0, Kept::Always),
    // parts, where `free` writes to what it is given: x y + list[2] list[3] + p[0] p[1] + read^2
    ("parts:s.x", 1, "parts", 4.0, Kept::Unoptimised),
    ("parts:s.y", 1, "parts", 2.0, Kept::Unoptimised),
    ("parts:list", 4, "parts", 4.0 + 6.0, Kept::Unoptimised),
    ("parts:list[2]", 1, "parts", 6.0, Kept::Unoptimised),
    ("parts:p[1]", 2, "parts", 2.0, Kept::Unoptimised),
    ("parts:*p", 2, "parts", 3.0, Kept::Unoptimised),
    ("parts:read", 1, "parts", 3.0, Kept::Always),
    ("choose:c", 2, "choose", 4.0, Kept::Always),
    ("wide:w", 1, "wide", 9.0 - 4.0 + 4.0, Kept::Always),
    ("wide:narrow", 1, "wide", 4.0, Kept::Always),
    ("loop:sum", 4, "loop", 1.0, Kept::Unoptimised),
];

/// An `--output`, and the values and derivatives with respect to `chain:twice` that it has.
const OUTPUTS: &[(&str, &[(f64, f64)])] =
    &[("chain:once", &[(3.0, 0.0), (8.0, 1.0)]), ("chain:twice", &[(6.0, 1.0)])];

/// SPECs that lead nowhere, and the line that says so.
const NOWHERE: &[(&str, &str)] = &[
    ("nothing:x", "--input=nothing:x: no function `nothing` in "),
    ("chain:z", "--input=chain:z: no local variable `z` in "),
    (
        "locals.c:19:once",
        "--input=locals.c:19:once: `once` is not assigned at locals.c:19, but at locals.c:16, locals.c:18",
    ),
    ("twice", "--input=twice: `twice` is a local variable; write `chain:twice`"),
    ("parts:p", "--input=parts:p: `p` is a pointer; name what it leads to"),
    ("parts:s", "--input=parts:s: `s` is a structure; name one of its members `x`, `y`"),
    ("parts:list[7]", "--input=parts:list[7]: index 7 of `list` is out of range 0 to 3"),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for compiler in ["gcc", "clang"] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            for &input in INPUTS {
                let name = format!("{compiler}/{level}/{}", input.0);
                let check = move |name: &str| check_input(name, compiler, level, input);
                trials.push(Trial::test(name.clone(), move || check(&name)));
            }
        }
    }
    trials.push(Trial::test("outputs", outputs));
    trials.push(Trial::test("nowhere", nowhere));
    trials.push(Trial::test("optimised away", optimised_away));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn recipe(compiler: &str, level: &str) -> Recipe {
    Recipe::new(compiler, &format!("{level} -g"), &guest(), "")
}

fn guest() -> PathBuf {
    host::tests_dir().join("guests/inputs/locals.c")
}

fn check_input(
    name: &str,
    compiler: &str,
    level: &str,
    (spec, count, line, derivative, kept): Input,
) -> Result<(), Failed> {
    let Some(exe) = built(name, &recipe(compiler, level))? else { return Ok(()) };
    let case = Case::new("dot", &[&format!("--input={spec}")], &exe).arg("2");
    let is_sure = level == "-O0" || kept == Kept::Always && compiler == "gcc";
    if !is_sure {
        let outcome = case.tool(&[])?;
        let said = String::from_utf8_lossy(&outcome.stderr);
        if said.contains(&format!("--input={spec}: ")) {
            return Ok(());
        }
    }
    let seen = case.observe()?;
    let labels = ["square", "chain", "parts", "choose", "wide", "loop"];
    let found: Vec<(&str, f64)> = seen
        .report
        .outputs
        .iter()
        .zip(labels)
        .filter_map(|(output, label)| Some((label, output.dot.filter(|&dot| dot != 0.0)?)))
        .collect();
    let seeded = &seen.report.document["inputs"][0]["count"];
    if found != [(line, derivative)] || *seeded != count {
        return Err(format!("{found:?}, {seeded} floats were seeded").into());
    }
    Ok(())
}

fn outputs() -> Result<(), Failed> {
    for level in ["-O0", "-O2"] {
        for &(spec, expected) in OUTPUTS {
            let Some(exe) = built("outputs", &recipe("gcc", level))? else { return Ok(()) };
            let options = ["--input=chain:twice", &format!("--output={spec}")];
            let seen = Case::new("dot", &options, &exe).arg("2").observe()?;
            let outputs = seen.report.outputs.iter();
            let found: Vec<_> = outputs.filter_map(|output| Some((output.value, output.dot?))).collect();
            if found != expected {
                return Err(format!("{level} {spec}: {found:?}").into());
            }
        }
    }
    Ok(())
}

fn nowhere() -> Result<(), Failed> {
    let Some(exe) = built("nowhere", &recipe("gcc", "-O0"))? else { return Ok(()) };
    let mut wrong = String::new();
    for (spec, line) in NOWHERE {
        let outcome = Case::new("dot", &[&format!("--input={spec}")], &exe).tool(&[])?;
        let said = String::from_utf8_lossy(&outcome.stderr);
        if outcome.end != End::Exit(2) || !said.contains(line) || said.lines().count() != 1 {
            wrong += &format!("{spec}: {}, {said}\n", outcome.end);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

fn optimised_away() -> Result<(), Failed> {
    let Some(exe) = built("optimised away", &recipe("gcc", "-O2"))? else { return Ok(()) };
    let outcome = Case::new("dot", &["--input=square:inner"], &exe).tool(&[])?;
    let said = String::from_utf8_lossy(&outcome.stderr);
    let line = "--input=square:inner: `inner` was optimised away: no instruction gives it a value";
    let is_right = outcome.end == End::Exit(2) && said.contains(line) && said.lines().count() == 1;
    if is_right { Ok(()) } else { Err(format!("{}, {said}", outcome.end).into()) }
}
