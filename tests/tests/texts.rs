//! Inputs and outputs named by the text they stand in: for programs of many languages, derivatives with respect to a number of an
//! argument, a variable, standard input or a file against central differences of native runs with another text there.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::{End, Left, Outcome};
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::differences;
use shadowgrind_tests::shadowed::observe::{Case, Observed};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const FILE: &str = "in.dat";

/// The texts that the guests are given, with a mark for what is moved.
#[derive(Clone, Debug)]
struct Texts {
    argument: String,
    variable: String,
    stdin: String,
    file: String,
}

impl Texts {
    /// The texts with `shift` added to each number in the parts that `moved` names.
    fn new(moved: &[&str], shift: f64) -> Texts {
        let number = |name: &str, value: f64| {
            let shift = if moved.contains(&name) { shift } else { 0.0 };
            format!("{}", value + shift)
        };
        let row = |index: usize| {
            let (p, q) = (ROWS[index - 1][0], ROWS[index - 1][1]);
            format!("{} {}\n", number(&format!("p{index}"), p), number(&format!("q{index}"), q))
        };
        Texts {
            argument: number("a", 0.625),
            variable: number("w", -0.75),
            stdin: format!("{} {}\n", number("s", 4.5), number("t", -2.5)),
            file: format!("# data 2\n3\n{}{}{}", row(1), row(2), row(3)),
        }
    }

    /// `case` with these texts.
    fn given(&self, case: &Case) -> Case {
        let mut case = case.clone().arg(&self.argument).arg(FILE).env("SG_W", &self.variable);
        case.stdin = self.stdin.clone().into_bytes();
        case.files.push((FILE.to_owned(), self.file.clone().into_bytes()));
        case
    }
}

/// Rows of the file: the first two have the same first number.
const ROWS: [[f64; 2]; 3] = [[0.5, -1.5], [0.5, 1.25], [2.25, -7.5]];

/// SPEC (of the argument without its number), the parts that it names, and how many floats those are.
type Spec = (&'static str, &'static [&'static str], u64);

const SPECS: &[Spec] = &[
    ("arg", &["a"], 1),
    ("env:SG_W", &["w"], 1),
    ("stdin:1:1", &["s"], 1),
    ("stdin:1:2", &["t"], 1),
    ("stdin", &["s", "t"], 2),
    ("file:in.dat:3:1", &["p1"], 1),
    ("file:in.dat:4:1", &["p2"], 1),
    ("file:in.dat:5:2", &["q3"], 1),
    ("file:in.dat:3-5:2", &["q1", "q2", "q3"], 3),
    ("file:in.dat:3-5", &["p1", "q1", "p2", "q2", "p3", "q3"], 6),
    ("parsed~2.25", &["p3"], 1),
];

/// A guest, its compiler or interpreter, and options.
const LANGUAGES: &[(&str, &str, &str)] = &[
    ("numbers.c", "gcc", "-O0"),
    ("numbers.c", "gcc", "-O2 -static"),
    ("mapped.c", "gcc", "-O2"),
    ("signs.c", "gcc", "-O2"),
    ("numbers.cpp", "g++", "-O2 -std=c++17"),
    ("numbers.f90", "gfortran", "-O2"),
    ("numbers.rs", "rustc", "-O"),
    ("numbers.adb", "gnatmake", "-q -O2"),
    ("numbers.adb", "gnatmake", "-q -O0"),
    ("numbers.d", "gdc", "-O2"),
    ("numbers.d", "gdc", "-O0"),
    ("numbers.pas", "fpc", "-O2 -Xs- -v0 -FU."),
    ("numbers.nim", "nim", "c -d:release --hints:off --nimcache:made"),
    ("numbers.py", "/usr/bin/python3", ""),
    ("numbers.pl", "/usr/bin/perl", ""),
    ("numbers.go", "go", "build"),
    ("numbers.go", "go", "build -ldflags=-s"),
    ("numbers.php", "/usr/bin/php", ""),
    ("numbers.js", "/usr/bin/node", ""),
    ("numbers.lua", "/usr/bin/lua", ""),
    ("numbers.rb", "/usr/bin/ruby", ""),
];

/// A guest that asks for numbers, its compiler and options, and its standard input.
const ASKED: &[(&str, &str, &str, &str)] = &[
    ("asks.c", "gcc", "-O0", "11.5 12.5\n14.5\n16.5\n"),
    ("asks.c", "gcc", "-O2", "11.5 12.5\n14.5\n16.5\n"),
    ("asks.c", "gcc", "-O2 -static", "11.5 12.5\n14.5\n16.5\n"),
    ("asks.cpp", "g++", "-O0", "12.5 13.5\n15.5 17.5\n"),
    ("asks.cpp", "g++", "-O2 -static", "12.5 13.5\n15.5 17.5\n"),
    ("asks.f90", "gfortran", "-O2", "7.5\n  8.5\n10.5\n &given c = 11.5 /\n"),
    ("asks.rs", "rustc", "-O", "8.5 10.5\n"),
    ("asks.rs", "rustc", "-C opt-level=0", "8.5 10.5\n"),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for &(file, command, options) in LANGUAGES {
        for &spec in SPECS {
            let name = format!("{file}/{command} {options}/{}", spec.0);
            let check = {
                let name = name.clone();
                move || check(&name, (file, command, options), spec)
            };
            trials.push(Trial::test(name, check));
        }
    }
    for &(file, compiler, options, given) in ASKED {
        let name = format!("{file}/{compiler} {options}/who asks");
        let asked = {
            let name = name.clone();
            move || who_asks(&name, (file, compiler, options), given)
        };
        trials.push(Trial::test(name, asked));
    }
    trials.push(Trial::test("which of two alike", which_of_two_alike));
    trials.push(Trial::test("floats of ruby", floats_of_ruby));
    trials.push(Trial::test("nowhere", nowhere));
    trials.push(Trial::test("words of the command", words_of_the_command));
    trials.push(Trial::test("variables of the command", variables_of_the_command));
    trials.push(Trial::test("inputs are listed", inputs_are_listed));
    trials.push(Trial::test("outputs are listed", outputs_are_listed));
    trials.push(Trial::test("numbers of parsers that nobody knows", unknown_parsers));
    trials.push(Trial::test("outputs have places", outputs_have_places));
    trials.push(Trial::test("texts are annotated", texts_are_annotated));
    for &(spec, derivatives) in OUTPUTS {
        trials.push(Trial::test(format!("--output={spec}"), move || printed("printed.c", spec, derivatives)));
    }
    for &(spec, derivatives) in LOGGED {
        let name = format!("logged/--output={spec}");
        trials.push(Trial::test(name, move || printed("logged.c", spec, derivatives)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guest(file: &str) -> PathBuf {
    host::tests_dir().join("guests/inputs").join(file)
}

/// Each number of standard input is listed with the line that its value says, and with a SPEC of its own.
fn who_asks(
    name: &str,
    (file, compiler, options): (&str, &str, &str),
    given: &'static str,
) -> Result<(), Failed> {
    let recipe = Recipe::new(compiler, &format!("{options} -g"), &guest(file), "");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let mut case = Case::new("dot", &["--list=inputs"], &exe);
    case.stdin = given.as_bytes().to_vec();
    let list = case.observe()?.report.document["listing"].as_array().cloned().unwrap_or_default();
    let is_given =
        |entry: &&serde_json::Value| entry["spec"].as_str().is_some_and(|s| s.starts_with("stdin:"));
    let is_there = |entry: &serde_json::Value| {
        let line = entry["site"]["line"].as_f64().map(|line| line + 0.5);
        line == entry["value"].as_f64()
            && entry["site"]["file"].as_str().is_some_and(|path| path.ends_with(file))
    };
    let asked: Vec<_> = list.iter().filter(is_given).collect();
    let numbers = given.matches(".5").count();
    let is_right = asked.len() == numbers && asked.iter().all(|entry| is_there(entry));
    if is_right { Ok(()) } else { Err(format!("{list:?}").into()) }
}

/// The guest's command under `input`; `None` without its compiler or interpreter.
fn command(
    name: &str,
    (file, command, options): (&str, &str, &str),
    input: &str,
) -> Result<Option<Case>, String> {
    if !command.starts_with('/') {
        let libs = if matches!(command, "rustc" | "go" | "gnatmake" | "fpc" | "nim") { "" } else { "-lm" };
        let exe = built(name, &Recipe::new(command, options, &guest(file), libs))?;
        return Ok(exe.map(|exe| Case::new("dot", &[input], &exe)));
    }
    if !Path::new(command).exists() {
        host::skipped(name, &format!("{command} is not installed"));
        return Ok(None);
    }
    let mut case = Case::new("dot", &[input], Path::new(command));
    case.argv.extend(options.split_whitespace().map(std::ffi::OsString::from));
    Ok(Some(case.arg(guest(file))))
}

/// A number of a text of a guest, against differences.
fn check(name: &str, language: (&str, &str, &str), (spec, moved, floats): Spec) -> Result<(), Failed> {
    // A power of two: floats move by just as much as doubles, and the texts have it to the last digit.
    const H: f64 = 1.0 / 4096.0;
    let word = if language.1.starts_with('/') { 2 + language.2.split_whitespace().count() } else { 1 };
    let spec = if spec == "arg" { format!("arg:{word}") } else { spec.to_owned() };
    let Some(case) = command(name, language, &format!("--input={spec}"))? else { return Ok(()) };
    let [here, before, after] = [0.0, -H, H].map(|shift| Texts::new(moved, shift).given(&case));
    let seen = differences::against(&here, &before, &after, 2.0 * H, 1e-6)?;
    let (count, warnings) = (&seen.report.document["inputs"][0]["count"], &seen.report.document["warnings"]);
    let unwritten = &seen.report.document["coverage"]["unwritten"];
    if !unwritten.is_null() {
        return Err(format!("what the program prints is called unwritten: {unwritten}").into());
    }
    if *count != floats || warnings.as_array().is_some_and(|warnings| !warnings.is_empty()) {
        return Err(format!("{count} floats were seeded; {warnings}").into());
    }
    Ok(())
}

/// Two arguments that are the same number: the program parses copies of them, out of order.
fn which_of_two_alike() -> Result<(), Failed> {
    let name = "which of two alike";
    let script = "import sys; y = float(sys.argv[2]); x = float(sys.argv[1]); print(x - 2 * y)";
    let Some(python) = Some(Path::new("/usr/bin/python3")).filter(|python| python.exists()) else {
        host::skipped(name, "/usr/bin/python3 is not installed");
        return Ok(());
    };
    let case = Case::new("dot", &["--input=arg:3"], python).arg("-c").arg(script).arg("2.5").arg("2.5");
    let said = case.terminal(&[])?;
    let expected = "--input=arg:3 cannot be told from arg:4";
    if said.contains(expected) { Ok(()) } else { Err(said.into()) }
}

/// Floats that Ruby keeps as words which it turns by three bits: derivatives against closed forms, that of 2, whose word is a tag, among
/// them. A zero is another word: its shadow is a gap.
fn floats_of_ruby() -> Result<(), Failed> {
    let ruby = Path::new("/usr/bin/ruby");
    if !ruby.exists() {
        host::skipped("floats of ruby", "/usr/bin/ruby is not installed");
        return Ok(());
    }
    let script = "x = ARGV[0].to_f; puts Math.sin(x) * 2, (x + 1.375) * 1.7654321, 7.1234567 / (3.0 - x)";
    let (x, h) = (0.625_f64, 2.375_f64);
    let expected = [2.0 * x.cos(), 1.7654321, 7.1234567 / (h * h)];
    for shadow in ["dot", "adjoint"] {
        let run = |script: &str| {
            Case::new(shadow, &["--input=arg:3"], ruby).arg("-e").arg(script).arg("0.625").observe()
        };
        let seen = run(script)?;
        let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
        let near = |(dot, expected): (&f64, &f64)| (dot - expected).abs() <= 1e-12 * expected.abs();
        let gaps = |seen: &Observed| seen.report.document["coverage"]["gaps"].as_array().map_or(0, Vec::len);
        if dots.len() != 3 || !dots.iter().zip(&expected).all(near) || gaps(&seen) != 0 {
            return Err(format!("{shadow}: {dots:?}, not {expected:?}; {} gaps", gaps(&seen)).into());
        }
        if gaps(&run("x = ARGV[0].to_f; puts (x - 5.0 / 8) * 3 + 1.2345678")?) == 0 {
            return Err(format!("{shadow}: the derivative of a zero is lost, and nothing counts it").into());
        }
    }
    Ok(())
}

/// A shell that is given an argument executes a program with it and with words of its own: `arg:3` is the user's. A child
/// parses nothing, and has nothing to say.
fn words_of_the_command() -> Result<(), Failed> {
    let Some(guest) = command("words of the command", LANGUAGES[0], "--input=arg:3")? else { return Ok(()) };
    let script = format!("true | true; exec {} $0 in.dat", guest.argv[0].display());
    let mut case = Case { argv: vec!["/bin/sh".into()], ..guest }.arg("-c").arg(script).arg("0.625");
    let texts = Texts::new(&[], 0.0);
    case.stdin = texts.stdin.clone().into_bytes();
    case.files.push((FILE.to_owned(), texts.file.clone().into_bytes()));
    let seen = case.env("SG_W", &texts.variable).observe()?;
    let dots: Vec<_> = seen.report.outputs.iter().map(|output| output.dot).collect();
    if dots == [Some(1.25)] { Ok(()) } else { Err(format!("{dots:?}").into()) }
}

/// A variable that a word of the command sets is that of the program which is executed.
fn variables_of_the_command() -> Result<(), Failed> {
    let name = "variables of the command";
    let Some(guest) = command(name, LANGUAGES[0], "--input=env:SG_W")? else { return Ok(()) };
    let mut case = Case { argv: vec!["/usr/bin/env".into(), "SG_W=-0.75".into()], ..guest.clone() };
    case.argv.extend([guest.argv[0].clone(), "0.625".into(), FILE.into()]);
    let texts = Texts::new(&[], 0.0);
    case.stdin = texts.stdin.clone().into_bytes();
    case.files.push((FILE.to_owned(), texts.file.clone().into_bytes()));
    let seen = case.observe()?;
    let dots: Vec<_> = seen.report.outputs.iter().map(|output| output.dot).collect();
    let product = texts.stdin.split_whitespace().map(|word| word.parse::<f64>().unwrap_or(0.0)).product();
    if dots == [Some(product)] { Ok(()) } else { Err(format!("{dots:?} instead of {product}").into()) }
}

/// SPECs that name no number: the status, and the line that says so.
const NOWHERE: &[(&str, i32, &str)] = &[
    ("arg:7", 2, "--input=arg:7: the command has no such argument"),
    ("arg:2", 2, "--input=arg:2: there is no number in it"),
    ("arg:1:2", 2, "--input=arg:1:2: there is 1 number in it"),
    ("env:SG_NONE", 2, "--input=env:SG_NONE: there is no such variable"),
    ("file:other.dat", 0, "--input=file:other.dat was never reached: there is no such file"),
    ("file:/usr", 0, "--input=file:/usr was never reached: this is a directory"),
    ("file:/usr/bin/env:1:1", 0, "--input=file:/usr/bin/env:1:1 was never reached: this file is not text"),
    ("file:in.dat:9:1", 0, "--input=file:in.dat:9:1 was never reached: there is no line 9, but 5 in all"),
    ("file:in.dat:3:3", 0, "--input=file:in.dat:3:3 was never reached: there are only 2 numbers in line 3"),
    ("file:in.dat:1:1", 0, "--input=file:in.dat:1:1 was never reached: the number is there, read by main ("),
    ("file:in.dat:2:1", 0, "line 2 number 1 is read as an integer by scanf"),
    ("parsed:40", 0, "--input=parsed:40 was never reached: the program parsed 10 numbers"),
];

fn nowhere() -> Result<(), Failed> {
    let mut wrong = String::new();
    for (spec, status, line) in NOWHERE {
        let input = format!("--input={spec}");
        let Some(case) = command("nowhere", LANGUAGES[0], &input)? else { return Ok(()) };
        let outcome: Outcome = Texts::new(&[], 0.0).given(&case).tool(&[])?;
        let said = String::from_utf8_lossy(&outcome.stderr);
        if outcome.end != End::Exit(*status) || !said.contains(line) || said.lines().count() != 1 {
            wrong += &format!("{spec}: {}, {said}\n", outcome.end);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// A list of inputs and a SPEC say that a program parses by itself, and who has read the text.
fn unknown_parsers() -> Result<(), Failed> {
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &guest("own_parser.c"), "").build()? else { return Ok(()) };
    let said = |option: &str| {
        let mut case = Case::new("dot", &[option], &exe);
        case.files.push((FILE.to_owned(), b"1.5 2.5\n".to_vec()));
        case.terminal(&[])
    };
    let reader = "read by number (own_parser.c:8)";
    for (option, expected) in [
        (
            "--list=inputs",
            format!("not all numbers are listed: file:in.dat, {reader}: none of its 2 numbers was parsed"),
        ),
        (
            "--input=file:in.dat:1:2",
            format!("--input=file:in.dat:1:2 was never reached: the number is there, {reader}, but"),
        ),
    ] {
        let said = said(option)?;
        let warnings: Vec<&str> =
            said.lines().filter(|line| line.starts_with("shadowgrind: warning")).collect();
        if !matches!(warnings[..], [one] if one.contains(&expected)) {
            return Err(said.into());
        }
    }
    Ok(())
}

/// Outputs of `printed.c` by how or where they are printed, and their derivatives with respect to x = 2.
const OUTPUTS: &[(&str, &[f64])] = &[
    ("label:energy", &[3.0, 4.0]),
    ("label:volume", &[4.0, 8.0]),
    ("last", &[17.0]),
    ("site:printed.c:10", &[3.0, 4.0, 4.0, 8.0]),
    ("site:inputs/printed.c:11", &[7.0]),
    ("stdout:2:2", &[4.0]),
    ("stdout:1-2:3", &[4.0, 8.0]),
    ("stdout:3", &[17.0]),
    ("stderr:2:1", &[7.0]),
    ("file:out.dat:2:2", &[11.0]),
    ("file:out.dat", &[1.0, 11.0, 13.0]),
    ("label:energ", &[]),
    ("stdout:1:1", &[]),
];

/// Outputs of `logged.c`, whose numbers stand in two texts, by SPEC, with their derivatives.
const LOGGED: &[(&str, &[f64])] = &[
    ("stdout:1", &[4.0, 12.0]),
    ("file:log.dat:2:1", &[4.0]),
    ("file:log.dat:2:2", &[12.0]),
    ("file:log.dat", &[4.0, 12.0]),
    ("file:log.dat:1:1", &[]),
];

fn printed(file: &str, spec: &str, derivatives: &[f64]) -> Result<(), Failed> {
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &guest(file), "").build()? else { return Ok(()) };
    let case = Case::new("dot", &["--input=x", &format!("--output={spec}")], &exe);
    if derivatives.is_empty() {
        let said = case.terminal(&[])?;
        let expected = format!("--output={spec}: no such float was printed");
        return if said.contains(&expected) { Ok(()) } else { Err(said.into()) };
    }
    let seen = case.observe()?;
    let mut found: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
    found.sort_by(f64::total_cmp);
    if found == derivatives { Ok(()) } else { Err(format!("{found:?}").into()) }
}

/// SPECs and texts of a list.
fn listed(case: &Case) -> Result<Vec<(String, String)>, String> {
    let seen = case.observe()?;
    let entries = seen.report.document["listing"].as_array().cloned().unwrap_or_default();
    let text = |entry: &serde_json::Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    Ok(entries.iter().map(|entry| (text(entry, "spec"), text(entry, "text"))).collect())
}

fn is_list(seen: &[(String, String)], expected: &[(&str, &str)]) -> Result<(), Failed> {
    let seen: Vec<(&str, &str)> = seen.iter().map(|(spec, text)| (spec.as_str(), text.as_str())).collect();
    if seen == expected { Ok(()) } else { Err(format!("{seen:?}").into()) }
}

/// Numbers that C parses, with their signs and without, and Python, beside literals, each with the SPEC that would name it.
fn inputs_are_listed() -> Result<(), Failed> {
    let is_wanted = |file: &str| matches!(file, "numbers.c" | "signs.c" | "numbers.py");
    for language in LANGUAGES.iter().filter(|(file, ..)| is_wanted(file)) {
        let Some(case) = command("inputs are listed", *language, "--list=inputs")? else { continue };
        let seen = listed(&Texts::new(&[], 0.0).given(&case))?;
        let own = seen.iter().position(|(spec, _)| spec.starts_with("arg:")).unwrap_or(0);
        let argument = if language.1.starts_with('/') { "arg:2" } else { "arg:1" };
        is_list(
            &seen[own..],
            &[
                (argument, "0.625"),
                ("env:SG_W", "-0.75"),
                ("stdin:1:1", "4.5"),
                ("stdin:1:2", "-2.5"),
                ("file:in.dat:3:1", "0.5"),
                ("file:in.dat:3:2", "-1.5"),
                ("file:in.dat:4:1", "0.5"),
                ("file:in.dat:4:2", "1.25"),
                ("file:in.dat:5:1", "2.25"),
                ("file:in.dat:5:2", "-7.5"),
            ],
        )?;
    }
    Ok(())
}

fn outputs_are_listed() -> Result<(), Failed> {
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &guest("printed.c"), "").build()? else { return Ok(()) };
    let seen = listed(&Case::new("dot", &["--list=outputs"], &exe))?;
    is_list(
        &seen,
        &[
            ("stdout:1:2", "6.000"),
            ("stdout:1:3", "4"),
            ("stdout:2:2", "8.000"),
            ("stdout:2:3", "8"),
            ("stderr:2:1", "1.400000e+01"),
            ("file:out.dat:2:1", "2"),
            ("file:out.dat:2:2", "22"),
            ("file:out.dat:3:1", "26"),
            ("stdout:3:1", "34.000000"),
        ],
    )
}

/// Each output stands in the native run's text where the report says, as its text.
fn outputs_have_places() -> Result<(), Failed> {
    let Some(exe) = Recipe::new("gcc", "-O0 -g", &guest("printed.c"), "").build()? else { return Ok(()) };
    let case = Case::new("dot", &["--input=x"], &exe);
    let native = case.native()?;
    let seen = case.observe()?;
    let mut found = Vec::new();
    for output in seen.report.document["outputs"].as_array().into_iter().flatten() {
        let text = |key: &str| output[key].as_str().unwrap_or_default();
        let number = |key: &str| output[key].as_u64().unwrap_or(0) as usize;
        let written = match text("stream") {
            "stdout" => &native.stdout,
            "stderr" => &native.stderr,
            path => match native.files.get(path.rsplit('/').next().unwrap_or_default()) {
                Some(Left::File(_, bytes)) => bytes,
                _ => return Err(format!("stream {path:?}").into()),
            },
        };
        let line = written.split(|&byte| byte == b'\n').nth(number("line") - 1).unwrap_or_default();
        if !line[number("column") - 1..].starts_with(text("printed").as_bytes()) {
            return Err(format!("{output}: line {:?}", String::from_utf8_lossy(line)).into());
        }
        found.push((number("line"), number("column"), number("iteration")));
    }
    let expected = [
        (1, 17, 0),
        (1, 31, 0),
        (2, 17, 1),
        (2, 31, 1),
        (2, 1, 0),
        (2, 1, 0),
        (2, 3, 0),
        (3, 1, 0),
        (3, 1, 0),
    ];
    if found == expected { Ok(()) } else { Err(format!("{found:?}").into()) }
}

/// Copies of the native run's texts, with a note behind each float.
fn texts_are_annotated() -> Result<(), Failed> {
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &guest("printed.c"), "").build()? else { return Ok(()) };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("annotated");
    let option = format!("--annotate={}", folder.display());
    Case::new("dot", &["--input=x", &option], &exe).observe()?;
    let stdout = "step 1 energy = 6.000 [d 3.0] volume: 4 [d 4.0]\n\
                  step 2 energy = 8.000 [d 4.0] volume: 8 [d 8.0]\n34.000000 [d 17.0]\n";
    for (name, expected) in [
        ("stdout", stdout),
        ("stderr", "# done after 2 steps\n1.400000e+01 [d 7.0]\n"),
        ("out.dat", "a b\n2 [d 1.0] 22 [d 11.0]\n26 [d 13.0]\n"),
    ] {
        let found = std::fs::read_to_string(folder.join(name))?;
        if found != expected {
            return Err(format!("{name}: {found}").into());
        }
    }
    let said = Case::new("error", &["--annotate=-"], &exe).terminal(&[])?;
    let exact = stdout.replace("[d 3.0]", "[16.0 digits]");
    let line = exact.lines().next().unwrap_or_default().replace("[d 4.0]", "[16.0 digits]");
    if !said.contains(&line) {
        return Err(said.into());
    }
    formatted_in_another_order()
}

/// Python formats the second number of this line before the first.
fn formatted_in_another_order() -> Result<(), Failed> {
    const SCRIPT: &str = "import sys; x = float(sys.argv[1]); print('a', x * 0.75, f'{x * x:.3f}', x)";
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        host::skipped("annotated python", "no /usr/bin/python3");
        return Ok(());
    }
    let case = Case::new("dot", &["--input=arg:3", "--annotate=-"], python);
    let said = case.arg("-c").arg(SCRIPT).arg("0.5").terminal(&[])?;
    let expected = "a 0.375 [d 0.75] 0.250 [d 1.0] 0.5 [d 1.0]\n";
    if said.contains(expected) { Ok(()) } else { Err(said.into()) }
}
