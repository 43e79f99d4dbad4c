//! Numbers that a program reads as integers have no derivative, and an input that names one is told so; the same texts that
//! it reads as floats after them are not mistaken for them.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::observe::Case;
use std::path::Path;
use std::process::ExitCode;

/// A guest, its compiler or interpreter, and what reads the integers of its argument, of standard input and of its file.
type Language = (&'static str, &'static str, &'static str, [&'static str; 3]);

const LANGUAGES: &[Language] = &[
    ("integers.c", "gcc", "-O1", ["strtol", "strtol", "scanf"]),
    ("integers.c", "gcc", "-O1 -static", ["strto", "strto", "scanf"]),
    ("integers.cpp", "g++", "-O0 -std=c++17", ["strtol", "std::from_chars", "C++'s streams"]),
    ("integers.f90", "gfortran", "-O1", ["Fortran's read"; 3]),
    ("integers.go", "go", "build", ["strconv.Atoi", "strconv.ParseInt", "strconv.Atoi"]),
    ("integers.py", "/usr/bin/python3", "", ["Python"; 3]),
];

/// The file: n, m, p and q; the guests print a·p + n·m·q² + s.
const FILE: &str = "1 2\n1 1.5\n";
/// The derivatives with respect to p and q, a being 3.
const BY_P: f64 = 3.0;
const BY_Q: f64 = 6.0;

fn main() -> ExitCode {
    let trial = |language: &'static Language| {
        let name = format!("{} {} {}", language.0, language.1, language.2);
        Trial::test(name.clone(), move || check(&name, language))
    };
    libtest_mimic::run(&Arguments::from_args(), LANGUAGES.iter().map(trial).collect()).exit_code()
}

/// The guest's command under `input`; `None` without its compiler or interpreter.
fn command(name: &str, &(file, command, options, _): &Language, input: &str) -> Result<Option<Case>, String> {
    let guest = host::tests_dir().join("guests/inputs").join(file);
    let case = if command.starts_with('/') {
        let program = Path::new(command);
        program.exists().then(|| Case::new("dot", &[input], program).arg(guest))
    } else {
        let libs = if command == "go" { "" } else { "-lm" };
        let program = built(name, &Recipe::new(command, options, &guest, libs))?;
        program.map(|program| Case::new("dot", &[input], &program))
    };
    if case.is_none() {
        host::skipped(name, &format!("{command} is not installed"));
    }
    Ok(case.map(|case| {
        let mut case = case.arg("3").arg("in.dat");
        case.stdin = b"7\n".to_vec();
        case.files.push(("in.dat".to_owned(), FILE.as_bytes().to_vec()));
        case
    }))
}

fn check(name: &str, language: &Language) -> Result<(), Failed> {
    let argument = if language.1.starts_with('/') { "arg:2" } else { "arg:1" };
    let [of_argument, of_stdin, of_file] = language.3;
    let integer =
        |place: &str, reader: &str| format!("was never reached: {place} is read as an integer by {reader}");
    let expected: &[(&str, f64, String)] = &[
        (argument, 0.0, integer("number 1", of_argument)),
        ("stdin:1:1", 0.0, integer("line 1 number 1", of_stdin)),
        ("file:in.dat:1:1", 0.0, integer("line 1 number 1", of_file)),
        ("file:in.dat:1:2", 0.0, integer("line 1 number 2", of_file)),
        ("file:in.dat:2:1", BY_P, String::new()),
        ("file:in.dat:2:2", BY_Q, String::new()),
        (
            "file:in.dat:1-2:1",
            BY_P,
            format!(
                ": 1 of its 2 numbers was not seeded: line 1 number 1 is read as an integer by {of_file}"
            ),
        ),
    ];
    for (spec, derivative, warning) in expected {
        let Some(case) = command(name, language, &format!("--input={spec}"))? else { return Ok(()) };
        let said = case.terminal(&[])?;
        let row = said.lines().find_map(|line| line.trim().strip_prefix("0 "));
        let shown = row.and_then(|row| row.split_whitespace().nth(1)?.parse::<f64>().ok());
        let warnings: Vec<&str> =
            said.lines().filter(|line| line.starts_with("shadowgrind: warning")).collect();
        let is_said = match warning.as_str() {
            "" => warnings.is_empty(),
            warning => matches!(warnings[..], [said] if said.contains(spec) && said.contains(warning)),
        };
        if shown != Some(*derivative) || !is_said {
            return Err(format!("{spec}: {said}").into());
        }
    }
    Ok(())
}
