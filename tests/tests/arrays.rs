//! Arrays as outputs: as numpy prints them, each element where it stands, and as they leave in binary form.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Outcome};
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::observe::Case;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The system's Python: the one that a distribution's numpy belongs to.
const PYTHON: &str = "/usr/bin/python3";

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for shadow in ["dot", "adjoint", "mpfr", "error"] {
        let name = format!("numpy/{shadow}");
        trials.push(Trial::test(name.clone(), move || elements_are_printed(&name, shadow)));
    }
    for shadow in ["dot", "mpfr", "error"] {
        for way in WAYS {
            let name = format!("{}/{}/{shadow}", way.file, way.spec);
            trials.push(Trial::test(name.clone(), move || whole_array(&name, shadow, way)));
        }
    }
    for options in host::bindings() {
        for kind in LEAVING {
            let name = format!("binary.c/{}{}", kind.way, options.concat());
            trials.push(Trial::test(name.clone(), move || leaves(&name, options, kind)));
        }
    }
    trials.push(Trial::test("gradients have a file of their own", gradients_have_their_own));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guest(file: &str) -> PathBuf {
    host::tests_dir().join("guests/arrays").join(file)
}

/// Script under a shadow; `None`, with a word of why, where this machine cannot run it.
fn script(
    name: &str,
    (shadow, options): (&'static str, &[&str]),
    file: &str,
    imports: &str,
) -> Result<Option<Case>, String> {
    let python = Path::new(PYTHON);
    let probe = Case::new("dot", &[], python).arg("-c").arg(format!("import {imports}"));
    if !python.exists() || probe.native().is_err() {
        host::skipped(name, &format!("needs {PYTHON} with {imports}"));
        return Ok(None);
    }
    Ok(Some(Case::new(shadow, options, python).arg(guest(file)).arg("0.75")))
}

/// Line of the script, text, and derivative with respect to x, of the numbers that `printed.py` prints; of a number of four
/// bytes the factor is one too.
const ELEMENTS: [(u64, &str, f64); 13] = [
    (7, "0.75", 1.0),
    (7, "1.875", 2.5),
    (7, "-0.09375", -0.125),
    (8, "7.50e-11", 1e-10),
    (8, "1.50e+05", 2e5),
    (8, "3.75e-01", 0.5),
    (8, "-7.50e-01", -1.0),
    (9, "0.1875", 0.25),
    (9, "2.25", 3.0),
    (10, "0.75", 1.0),
    (10, "1.5", 2.0),
    (11, "1.5", 2.0),
    (11, "3.", 4.0),
];

/// Each element is an output of the script's line, with its text where it stands, and has its derivative, or all its digits.
fn elements_are_printed(name: &str, shadow: &'static str) -> Result<(), Failed> {
    let options: &[&str] = if matches!(shadow, "dot" | "adjoint") { &["--input=arg:2"] } else { &[] };
    let Some(case) = script(name, (shadow, options), "printed.py", "numpy")? else { return Ok(()) };
    let seen = case.observe()?;
    let outputs = seen.report.document["outputs"].as_array().cloned().unwrap_or_default();
    let is_script =
        |output: &&Value| output["site"]["file"].as_str().is_some_and(|f| f.ends_with("printed.py"));
    let own: Vec<&Value> = outputs.iter().filter(is_script).collect();
    if own.len() != ELEMENTS.len() {
        return Err(format!("{} outputs: {own:?}", own.len()).into());
    }
    for (output, (line, text, derivative)) in own.into_iter().zip(ELEMENTS) {
        let index = output["index"].as_u64().unwrap_or(u64::MAX) as usize;
        let dot = seen.report.outputs.get(index).and_then(|output| output.dot);
        let is_right = match shadow {
            "dot" | "adjoint" => dot.is_some_and(|dot| (dot - derivative).abs() <= 1e-7 * derivative.abs()),
            _ => output["correct_digits"].as_f64().is_some_and(|digits| digits >= 7.0),
        };
        let stands = stands_at(&seen.outcome, output);
        if !is_right
            || output["site"]["line"] != line
            || bare(output) != Some(text)
            || stands.as_deref() != Some(text)
        {
            return Err(
                format!("expected {text:?} of line {line}, {derivative}: {output}, {stands:?}").into()
            );
        }
    }
    Ok(())
}

/// Text of an output without the blanks that pad it, and without a plus.
fn bare(output: &Value) -> Option<&str> {
    Some(output["printed"].as_str()?.trim().trim_start_matches('+'))
}

/// Text of the native run's standard output where the report says that an output stands, without the blanks that pad it.
fn stands_at(native: &Outcome, output: &Value) -> Option<String> {
    let (line, column) = (output["line"].as_u64()? as usize, output["column"].as_u64()? as usize);
    let line = native.stdout.split(|&byte| byte == b'\n').nth(line - 1)?;
    let rest = String::from_utf8_lossy(line.get(column - 1..)?).into_owned();
    Some(rest.chars().take(bare(output)?.chars().count()).collect())
}

/// Way by which an array of six floats leaves: the guest, what it needs, and the SPEC.
#[derive(Clone, Copy, Debug)]
struct Way {
    file: &'static str,
    /// A header without which it is not compiled; options and libraries.
    needs: &'static str,
    options: &'static str,
    libs: &'static str,
    spec: &'static str,
}

const WAYS: [Way; 4] = [
    Way { file: "fill.c", needs: "", options: "-O1 -g", libs: "-lm", spec: "store#*1[0..#2]" },
    Way { file: "fill.c", needs: "", options: "-O1", libs: "-lm", spec: "fwrite#*1[0..6]" },
    Way {
        file: "netcdf.c",
        needs: "/usr/include/netcdf.h",
        options: "-O1",
        libs: "-lnetcdf -lm",
        spec: "nc_put_var_double#*3[0..6]",
    },
    Way {
        file: "hdf5.c",
        needs: "/usr/include/hdf5/serial/hdf5.h",
        options: "-O1 -I/usr/include/hdf5/serial -L/usr/lib/x86_64-linux-gnu/hdf5/serial",
        libs: "-lhdf5 -lm",
        spec: "H5Dwrite#*6[0..6]",
    },
];

/// Rows of an array of records in numpy's format, version 1.0: an integer and `fields` doubles.
fn rows(file: &[u8], fields: usize) -> Result<Vec<(i64, Vec<f64>)>, String> {
    if !file.starts_with(b"\x93NUMPY\x01\x00") {
        return Err("no array".to_owned());
    }
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let head = String::from_utf8_lossy(&file[10..start]).into_owned();
    let rows: Vec<Vec<[u8; 8]>> = file[start..]
        .chunks_exact(8 * (1 + fields))
        .map(|row| row.chunks_exact(8).map(|word| word.try_into().unwrap_or_default()).collect())
        .collect();
    if start % 64 != 0 || !head.contains(&format!("'shape': ({},)", rows.len())) {
        return Err(head);
    }
    let row = |row: Vec<[u8; 8]>| {
        (i64::from_le_bytes(row[0]), row[1..].iter().map(|&word| f64::from_le_bytes(word)).collect())
    };
    Ok(rows.into_iter().map(row).collect())
}

/// The file has the array, with its closed form's derivative, or with reals next to it; the report has its summary.
fn whole_array(name: &str, shadow: &'static str, way: Way) -> Result<(), Failed> {
    const X: f64 = 0.5;
    if !way.needs.is_empty() && !Path::new(way.needs).exists() {
        host::skipped(name, &format!("{} is not there", way.needs));
        return Ok(());
    }
    let recipe = Recipe::new("gcc", way.options, &guest(way.file), way.libs);
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.npy", name.replace(['/', '*'], "_")));
    let (output, array) = (format!("--output={}", way.spec), format!("--output-array={}", file.display()));
    let is_dot = shadow == "dot";
    let options: &[&str] = if is_dot { &["--input=x", &output, &array] } else { &[&output, &array] };
    let seen = Case::new(shadow, options, &exe).observe()?;
    let rows = rows(&std::fs::read(&file)?, if is_dot { 2 } else { 4 })?;
    let named: Vec<&Vec<f64>> = rows.iter().filter(|(spec, _)| *spec == 0).map(|(_, row)| row).collect();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-14 * b.abs();
    let is_right = |(i, row): (usize, &&Vec<f64>)| {
        let i = i as f64;
        let value = (X * i).sin() * (i + 1.0);
        let said = if is_dot { row[1] } else { row[3] };
        let derivative = (X * i).cos() * i * (i + 1.0);
        let beside = is_dot || close(row[1], value) && row[2] <= 1.5;
        close(row[0], value) && beside && if is_dot { close(said, derivative) } else { said > 15.0 }
    };
    let summary = &seen.report.document["arrays"][0];
    let norm = named.iter().map(|row| row[1] * row[1]).sum::<f64>().sqrt();
    let is_summed = match is_dot {
        true => summary["worst"] == 5 && summary["norm"].as_f64().is_some_and(|found| close(found, norm)),
        false => summary["mean_error_bits"].as_f64().is_some_and(|bits| bits < 1.0),
    };
    let is_named = summary["label"] == way.spec && summary["count"] == 6;
    if named.len() == 6 && named.iter().enumerate().all(is_right) && is_named && is_summed {
        return Ok(());
    }
    Err(format!("{rows:?}\n{summary}").into())
}

/// Floats sin(n·x), n from 1 on, that leave in binary form: the program's argument, how many leave, up to which n, how exactly the
/// derivative is known, and what the report calls them. Without a name they may be one or another.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    way: &'static str,
    upto: &'static [u64],
    within: f64,
    called: Option<&'static str>,
}

const LEAVING: [Leaving; 5] = [
    Leaving { way: "doubles", upto: &[1000, 3000], within: 1e-14, called: Some("taken for doubles") },
    Leaving { way: "floats", upto: &[3000], within: 1e-4, called: Some("taken for floats") },
    Leaving { way: "wide", upto: &[3000], within: 1e-14, called: Some("taken for long doubles") },
    Leaving { way: "header", upto: &[300], within: 1e-14, called: Some("taken for doubles") },
    Leaving { way: "few", upto: &[], within: 0.0, called: None },
];

/// There is one output, of the float with the largest derivative, with the number of all and the norm of theirs.
fn leaves(name: &str, options: &[&'static str], kind: Leaving) -> Result<(), Failed> {
    const X: f64 = 0.75;
    let recipe = Recipe::new("gcc", "-O1 -g", &guest("binary.c"), "-lm");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let options: Vec<&str> = ["--input=x"].into_iter().chain(options.iter().copied()).collect();
    let case = Case::new("dot", &options, &exe).arg(kind.way);
    let seen = case.observe()?;
    let outputs = seen.report.document["outputs"].as_array().cloned().unwrap_or_default();
    let said = case.terminal(&[])?;
    let all = || kind.upto.iter().flat_map(|&upto| 1..=upto).map(|n| n as f64);
    let derivatives: Vec<f64> = all().map(|n| n * (n * X).cos()).collect();
    let (Some(called), [output]) = (kind.called, &outputs[..]) else {
        let is_untold = kind.called.is_none() && outputs.is_empty();
        return if is_untold { Ok(()) } else { Err(format!("{outputs:?}\n{said}").into()) };
    };
    let largest = derivatives.iter().copied().reduce(|a, b| if b.abs() > a.abs() { b } else { a });
    let norm = derivatives.iter().map(|d| d * d).sum::<f64>().sqrt();
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    let close = |value: &Value, b: f64| number(value).is_some_and(|a| (a - b).abs() <= kind.within * b.abs());
    let is_right = output["kind"] == "written"
        && output["count"] == derivatives.len()
        && largest.is_some_and(|largest| close(&output["dot"], largest))
        && close(&output["norm"], norm)
        && said.contains(called);
    if is_right { Ok(()) } else { Err(format!("{largest:?}, {norm}: {output}\n{said}").into()) }
}

/// Under a record of the run there is one array of all gradients.
fn gradients_have_their_own() -> Result<(), Failed> {
    let recipe = Recipe::new("gcc", "-O1", &guest("fill.c"), "-lm");
    let Some(exe) = built("gradients", &recipe)? else { return Ok(()) };
    let outcome = Case::new("adjoint", &["--input=x", "--output-array=a.npy"], &exe).tool(&[])?;
    let said = String::from_utf8_lossy(&outcome.stderr);
    let expected = "--output-array needs --shadow=";
    let is_refused = outcome.end == End::Exit(2) && said.lines().count() == 1;
    if is_refused && said.contains(expected) && said.contains("--gradient") {
        return Ok(());
    }
    Err(format!("{}: {said}", outcome.end).into())
}
