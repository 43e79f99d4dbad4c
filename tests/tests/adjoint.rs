//! Gradients: the derivative guests of `guests/dot` against their closed forms, programs with many inputs against central
//! differences of native runs in each of them, and what is written and refused.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use rug::Float;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left};
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::differences::numbers;
use shadowgrind_tests::shadowed::matrix::{Cell, cells, cells_of_two_levels};
use shadowgrind_tests::shadowed::observe::{Case, Observed};
use shadowgrind_tests::shadowed::pairs;
use std::process::ExitCode;

/// The check that a test does, given its name.
type Check = Box<dyn FnOnce(&str) -> Result<(), Failed> + Send>;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Check| {
        trials.push(Trial::test(name.clone(), move || check(&name)));
    };
    for cell in cells() {
        add(format!("matrix/{}", cell.name), Box::new(move |name| check_cell(name, &cell, &[])));
    }
    // Records of the engine are as slow as they are thorough, and so are buffers that are full at once, in hot code.
    for cell in cells_of_two_levels() {
        for (way, options) in [("out-of-line", &[OUT_OF_LINE][..]), ("often-full", &[OFTEN_FULL, HOT])] {
            let (name, cell) = (format!("{way}/{}", cell.name), cell.clone());
            add(name, Box::new(move |name| check_cell(name, &cell, options)));
        }
    }
    for program in PROGRAMS {
        for level in ["-O0", "-O3 -march=x86-64-v3", "-O2 -mfpmath=387"] {
            add(
                format!("differences/{program}/{level}"),
                Box::new(move |name| check_differences(name, program, level)),
            );
            add(
                format!("out-of-line/{program}/{level}"),
                Box::new(move |name| check_out_of_line(name, program, level)),
            );
        }
    }
    add("parts".to_owned(), Box::new(check_parts));
    add("tape-in-a-file".to_owned(), Box::new(check_tape_in_a_file));
    add("tape-is-packed".to_owned(), Box::new(check_tape_is_packed));
    add("gradient-file".to_owned(), Box::new(check_gradient_file));
    add("jacobian".to_owned(), Box::new(check_jacobian));
    add("direction".to_owned(), Box::new(check_direction));
    for program in PROGRAMS {
        add(
            format!("out-of-line/{program}/{WIDE}"),
            Box::new(move |name| check_out_of_line(name, program, WIDE)),
        );
    }
    for source in ["lu", "burgers"] {
        add(format!("budget/{source}"), Box::new(move |name| check_budget(name, source)));
    }
    add("weighted-sum".to_owned(), Box::new(check_weighted_sum));
    for refused in REFUSED {
        add(
            format!("refused/{} {}", refused.0, refused.1),
            Box::new(move |name| check_refused(name, refused)),
        );
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Option by which the engine records each operation itself: the reference path.
const OUT_OF_LINE: &str = "--reference-path";
/// Option by which buffers begin near their ends, among other things.
const OFTEN_FULL: &str = "--chaos=1";
/// Option by which code is made as if it ran often.
const HOT: &str = "--hot-after=1";

/// Relative error that a derivative may have: partials and adjoints are doubles, floats are not.
fn tolerance(cell: &Cell) -> f64 {
    if cell.kind == 4 { cell.tolerance() } else { 1e-12 }
}

/// Guests, and words in the names of lines, about floats of two bytes: beside these is no room for the number of a statement.
const HALVES: [(&str, &str); 2] = [("half/", ""), ("lanes/", "ph")];
/// Lines about floats whose bytes are taken apart to less than four.
const PARTS: &str = "joined";

fn fail(text: Option<String>) -> Result<(), Failed> {
    text.map_or(Ok(()), |text| Err(text.into()))
}

/// Values that lost their shadow, as the report says.
fn lost(seen: &Observed) -> u64 {
    let gaps = seen.report.document["coverage"]["gaps"].as_array().into_iter().flatten();
    gaps.filter_map(|gap| gap["count"].as_u64()).sum()
}

fn check_cell(name: &str, cell: &Cell, options: &[&str]) -> Result<(), Failed> {
    let Some(exe) = built(name, &cell.recipe)? else { return Ok(()) };
    let input = format!("--input={}", cell.input);
    let options = [&[&input, "--output=printed"], options].concat();
    let seen = Case::new("adjoint", &options, &exe).observe()?;
    let all = pairs::parse(&seen.outcome.stdout)?;
    let wrong = pairs::wrong(&all, &seen.report, tolerance(cell))?;
    let is_half =
        |name: &str| HALVES.iter().any(|(guest, word)| cell.name.starts_with(guest) && name.contains(word));
    let may_be_lost = |name: &str| is_half(name) || name == PARTS;
    let (gone, wrong): (Vec<_>, Vec<_>) =
        wrong.into_iter().partition(|&(pair, dot)| dot == 0.0 && may_be_lost(&pair.name));
    // A float of two bytes that has lost its shadow is read by several lines.
    let halves = gone.iter().filter(|(pair, _)| is_half(&pair.name)).count();
    let least = gone.len() - halves + usize::from(halves > 0);
    if (lost(&seen) as usize) < least {
        return Err(format!("{} derivatives are lost, {} in the report", gone.len(), lost(&seen)).into());
    }
    fail(
        (!wrong.is_empty())
            .then(|| format!("{} of {} wrong\n{:#?}", wrong.len(), all.len(), &wrong[..wrong.len().min(9)])),
    )
}

/// Programs of `guests/dot/gradients`: functions of the array `x`, an element of which arguments move.
const PROGRAMS: [&str; 10] =
    ["burgers", "calls", "inversion", "livermore", "lu", "mesh", "nbody", "network", "openmp", "threads"];

fn program(program: &str, level: &str) -> Recipe {
    let source = host::tests_dir().join(format!("guests/dot/gradients/{program}.c"));
    Recipe::new("gcc", &format!("{level} -g -fopenmp -pthread"), &source, "-lm")
}

fn check_differences(name: &str, source: &str, level: &str) -> Result<(), Failed> {
    const H: f64 = 1e-4;
    let Some(exe) = built(name, &program(source, level))? else { return Ok(()) };
    let case = Case::new("adjoint", &["--input=x"], &exe);
    let seen = case.observe()?;
    if lost(&seen) > 0 {
        return Err(format!("{} values lost their shadow", lost(&seen)).into());
    }
    let width = seen.report.document["inputs"][0]["count"].as_u64().ok_or("no count")?;
    let mut text = String::new();
    for component in 0..width as usize {
        let moved = |h: f64| case.clone().arg(component.to_string()).arg(h.to_string()).native();
        let (before, after) = (numbers(&moved(-H)?), numbers(&moved(H)?));
        for (output, (before, after)) in before.iter().zip(&after).enumerate() {
            let quotient = (after - before) / (2.0 * H);
            // What depends on no input has no gradient.
            let derivative = seen.report.outputs[output].gradient.get(component).copied().unwrap_or(0.0);
            let far = (derivative - quotient).abs();
            if far > 1e-5 * quotient.abs().max(0.1) || far.is_nan() {
                text +=
                    &format!("output {output} by x[{component}]: {derivative}, by differences {quotient}\n");
            }
        }
    }
    fail((!text.is_empty()).then_some(text))
}

/// Level at which programs use AVX-512 themselves.
const WIDE: &str = "-O3 -march=x86-64-v4 -mprefer-vector-width=512";

/// Gradients are those of operations that the engine records one by one, but for the order of sums in a sweep.
fn check_out_of_line(name: &str, source: &str, level: &str) -> Result<(), Failed> {
    if level == WIDE && host::lacks(name, &["avx512f", "avx512bw", "avx512dq", "avx512vl"]) {
        return Ok(());
    }
    let Some(exe) = built(name, &program(source, level))? else { return Ok(()) };
    let isa: &[&str] = if level == WIDE { &["--isa=v4"] } else { &[] };
    let gradients = |options: &[&str]| -> Result<Vec<f64>, String> {
        let seen = Case::new("adjoint", &[options, isa].concat(), &exe).observe()?;
        Ok(seen.report.outputs.iter().flat_map(|output| output.gradient.clone()).collect())
    };
    let slow = gradients(&["--input=x", OUT_OF_LINE])?;
    for options in host::bindings().chain([&[OFTEN_FULL][..]]) {
        let fast = gradients(&[&["--input=x"], options].concat())?;
        let far =
            |(a, b): (&f64, &f64)| (a - b).abs() > 1e-12 * b.abs().max(1e-3) || a.is_nan() != b.is_nan();
        let wrong = fast.iter().zip(&slow).filter(|&pair| far(pair)).count();
        if wrong > 0 || fast.len() != slow.len() || slow.iter().all(|&x| x == 0.0) {
            return Err(format!("{wrong} of {} differ with {options:?}", slow.len()).into());
        }
    }
    Ok(())
}

/// Parts of an array, several inputs and weights make components in the order of the command line.
fn check_parts(name: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &program("nbody", "-O2"))? else { return Ok(()) };
    let whole = Case::new("adjoint", &["--input=x"], &exe).observe()?;
    let options = ["--input=x[7..9]", "--input=x[3]=-2", "--input=x[20]"];
    let parts = Case::new("adjoint", &options, &exe).observe()?;
    for (whole, parts) in whole.report.outputs.iter().zip(&parts.report.outputs) {
        let x = &whole.gradient;
        if parts.gradient != [x[7], x[8], -2.0 * x[3], x[20]] {
            return Err(format!("{:?} of {x:?}", parts.gradient).into());
        }
    }
    let firsts: Vec<_> =
        (0..3).map(|input| parts.report.document["inputs"][input]["first"].as_u64()).collect();
    if firsts == [Some(0), Some(2), Some(3)] { Ok(()) } else { Err(format!("{firsts:?}").into()) }
}

/// A tape that does not fit into memory says the same, and leaves nothing behind.
fn check_tape_in_a_file(name: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &program("nbody", "-O2"))? else { return Ok(()) };
    let inside = Case::new("adjoint", &["--input=x"], &exe).arg("0").arg("0").observe()?;
    let options = ["--input=x", "--tape-memory=1K", "--tape-dir=."];
    let outside = Case::new("adjoint", &options, &exe).arg("0").arg("0").observe()?;
    let gradients = |seen: &Observed| seen.report.document["gradients"].clone();
    if gradients(&inside) == gradients(&outside) { Ok(()) } else { Err("they differ".into()) }
}

/// A loop over an array takes less of the tape than was written as it ran, also where it begins and ends at the edges of one.
fn check_tape_is_packed(name: &str) -> Result<(), Failed> {
    let source = host::tests_dir().join("../examples/burgers/burgers.cpp");
    let Some(exe) = built(name, &Recipe::new("g++", "-O3 -g", &source, ""))? else { return Ok(()) };
    let seen = Case::new("adjoint", &["--input=shift"], &exe).arg("100").arg("20").observe()?;
    let tape = &seen.report.document["tape"];
    let count = |what: &str| tape[what].as_u64().ok_or(format!("no {what}"));
    let (statements, packed, raw) = (count("statements")?, count("bytes")?, count("raw_bytes")?);
    // A record names only operands that it does not have itself, and says what it is once for many operations.
    let all = packed <= 3 * statements && raw >= 4 * packed && raw <= 16 * statements;
    if all { Ok(()) } else { Err(format!("{statements} operations: {raw} bytes, packed {packed}").into()) }
}

/// numpy's format, version 1.0: a head of a multiple of 64 bytes, then the numbers.
fn check_gradient_file(name: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &program("lu", "-O2"))? else { return Ok(()) };
    let case = Case::new("adjoint", &["--input=x"], &exe);
    let seen = case.observe()?;
    let outcome = case.tool(&["--gradient=all.npy"])?;
    let Some(Left::File(_, file)) = outcome.files.get("all.npy") else { return Err("no file".into()) };
    let start = file.iter().position(|&byte| byte == b'\n').ok_or("no head")? + 1;
    let values: Vec<f64> = file[start..].as_chunks().0.iter().map(|&word| f64::from_le_bytes(word)).collect();
    let expected: Vec<f64> = seen.report.outputs.iter().flat_map(|output| output.gradient.clone()).collect();
    // A reader of JSON may be wrong in the last digit.
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-15 * b.abs();
    let same = values.len() == expected.len() && values.iter().zip(&expected).all(close);
    if start % 64 == 0 && same { Ok(()) } else { Err(format!("{values:?}").into()) }
}

/// Lines of a Matrix Market file after its head: row and column from 0, and the number, if it has numbers.
fn entries(file: &[u8]) -> Result<Vec<(usize, usize, Option<f64>)>, String> {
    let text = String::from_utf8_lossy(file);
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let mut index = || words.next()?.parse::<usize>().ok()?.checked_sub(1);
        let (row, column) = (index()?, index()?);
        Some((row, column, words.next().and_then(|word| word.parse().ok())))
    };
    let lines = text.lines().skip(2);
    lines.map(|line| entry(line).ok_or_else(|| format!("no entry: {line}"))).collect()
}

/// The Jacobian of all fields of Burgers by all fields has the numbers of the gradients, and its pattern no others.
fn check_jacobian(name: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &program("burgers", "-O2"))? else { return Ok(()) };
    let case = Case::new("adjoint", &["--input=x", "--output=x[0..72]"], &exe);
    let seen = case.observe()?;
    let file = |option: &str, name: &str| -> Result<Vec<u8>, String> {
        match case.tool(&[&format!("{option}={name}")])?.files.remove(name) {
            Some(Left::File(_, text)) => Ok(text),
            _ => Err(format!("no {name}")),
        }
    };
    let jacobian = entries(&file("--jacobian", "j.mtx")?)?;
    let pattern = entries(&file("--sparsity", "s.mtx")?)?;
    let places = |all: &[(usize, usize, Option<f64>)]| {
        all.iter().map(|&(row, column, _)| (row, column)).collect::<Vec<_>>()
    };
    if places(&jacobian) != places(&pattern) {
        return Err("the pattern is another".into());
    }
    let mut full: Vec<Vec<f64>> = seen.report.outputs.iter().map(|output| output.gradient.clone()).collect();
    for (row, column, value) in jacobian {
        let number = std::mem::take(&mut full[row][column]);
        if value.is_none_or(|value| (value - number).abs() > 1e-12 * number.abs()) {
            return Err(format!("row {row}, column {column}: {value:?}, must be {number}").into());
        }
    }
    if full.iter().flatten().all(|&x| x == 0.0) { Ok(()) } else { Err("entries are missing".into()) }
}

/// An array as numpy keeps it.
fn array(rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((head.len() as u16).to_le_bytes());
    file.extend(head.as_bytes());
    let numbers = (0..rows * columns).flat_map(|n| at(n / columns, n % columns).to_le_bytes());
    file.extend(numbers);
    file
}

/// Products of gradients and directions.
fn check_direction(name: &str) -> Result<(), Failed> {
    const COLUMNS: usize = 10;
    let Some(exe) = built(name, &program("nbody", "-O2"))? else { return Ok(()) };
    let mut case = Case::new("adjoint", &["--input=x", "--direction=d.npy"], &exe);
    let along = |row: usize, column: usize| ((row * (column + 2)) % 5) as f64 - 1.5;
    case.files.push(("d.npy".to_owned(), array(24, COLUMNS, along)));
    let seen = case.observe()?;
    for (n, record) in
        seen.report.document["directions"].as_array().ok_or("no directions")?.iter().enumerate()
    {
        for column in 0..COLUMNS {
            let gradient = seen.report.outputs[n].gradient.iter().enumerate();
            let product: f64 = gradient.map(|(row, x)| x * along(row, column)).sum();
            let value = record["values"][column].as_f64().ok_or("no number")?;
            if (value - product).abs() > 1e-11 * product.abs().max(1.0) {
                return Err(format!("output {n}, direction {column}: {value}, must be {product}").into());
            }
        }
    }
    Ok(())
}

/// Contributions of all lines to an output's error add up to that, as high precision has it.
fn check_budget(name: &str, source: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &program(source, "-O2"))? else { return Ok(()) };
    let seen = Case::new("adjoint", &["--input=x", "--budget"], &exe).observe()?;
    let reals = Case::new("mpfr", &[], &exe).observe()?;
    let shares = seen.report.document["budget"].as_array().ok_or("no budget")?;
    // A reader of JSON may be wrong in the last digit: what the program has printed tells.
    for (n, (output, value)) in reals.report.outputs.iter().zip(numbers(&seen.outcome)).enumerate() {
        let real = Float::parse(output.real.as_deref().unwrap_or_default()).map_err(|e| e.to_string())?;
        let error = (Float::with_val(300, value) - Float::with_val(300, real)).to_f64();
        let own = shares.iter().filter(|share| share["output"] == n);
        let told: f64 = own.clone().filter_map(|share| share["error"].as_f64()).sum();
        let size: f64 = own.filter_map(|share| share["magnitude"].as_f64()).sum();
        if size == 0.0 || (told - error).abs() > 1e-6 * size {
            return Err(format!("output {n}: {told:e}, and the error is {error:e}").into());
        }
    }
    Ok(())
}

fn check_weighted_sum(name: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &program("burgers", "-O2"))? else { return Ok(()) };
    let single = Case::new("adjoint", &["--input=x[8..12]", "--output=x[0..72]"], &exe).observe()?;
    let sum = ["--input=x[8..12]", "--output=x[8]=0.5", "--output=x[20..22]"];
    let sum = Case::new("adjoint", &sum, &exe).observe()?;
    let values = sum.report.document["gradients"][0]["values"].as_array().cloned().unwrap_or_default();
    for (component, value) in values.iter().enumerate() {
        let of = |output: usize| single.report.outputs[output].gradient[component];
        let expected = 0.5 * of(8) + of(20) + of(21);
        if !value.as_f64().is_some_and(|value| (value - expected).abs() <= 1e-14 * expected.abs()) {
            return Err(format!("component {component}: {value}, must be {expected}").into());
        }
    }
    if values.len() == 4 { Ok(()) } else { Err(format!("{values:?}").into()) }
}

/// Shadow and option that mean nothing together, and words of which the one line must hold each.
type Refused = (&'static str, &'static str, &'static [&'static str]);

const REFUSED: [Refused; 7] = [
    ("mpfr", "--budget", &["--budget", "adjoint"]),
    ("adjoint", "--direction=/nowhere/d.npy", &["--direction=/nowhere/d.npy"]),
    ("dot", "--gradient=g.npy", &["--gradient", "adjoint"]),
    ("dot", "--output=x=2", &["--output=x", "weights", "dot"]),
    ("adjoint", "--tape-dir=/nowhere", &["--tape-dir", "/nowhere"]),
    ("adjoint", "--tape-memory=much", &["--tape-memory", "much"]),
    ("adjoint", "--gradient=/nowhere/g.npy", &["/nowhere/g.npy"]),
];

fn check_refused(name: &str, (shadow, option, words): Refused) -> Result<(), Failed> {
    let Some(exe) = built(name, &program("lu", "-O2"))? else { return Ok(()) };
    let outcome = Case::new(shadow, &[option], &exe).tool(&[])?;
    let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let missing = words.iter().find(|word| !stderr.contains(**word));
    if outcome.end != End::Exit(2) || stderr.lines().count() != 1 || missing.is_some() {
        return Err(format!("{}, no {missing:?} in one line: {stderr:?}", outcome.end).into());
    }
    if outcome.stdout.is_empty() { Ok(()) } else { Err("the program ran".into()) }
}
