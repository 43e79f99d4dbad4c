//! Numbers that Java parses, named by the text they stand in: derivatives against central differences of native runs with another
//! text there, from the interpreter and from what HotSpot's compilers make, the lines that have them parsed, and what is said where
//! a number is not found.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::differences;
use shadowgrind_tests::shadowed::observe::Case;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

const FILE: &str = "in.dat";

/// SPEC, the parts that it names, and how many floats those are.
type Spec = (&'static str, &'static [&'static str], u64);

const ALL: &[Spec] = &[
    ("arg", &["a"], 1),
    ("env:SG_W", &["w"], 1),
    ("stdin:1:2", &["t"], 1),
    ("file:in.dat:3:1", &["p1"], 1),
    ("file:in.dat:5:2", &["q3"], 1),
    ("file:in.dat:3-5:2", &["q1", "q2", "q3"], 3),
    ("file:in.dat:3-5", &["p1", "q1", "p2", "q2", "p3", "q3"], 6),
    ("parsed~2.25", &["p3"], 1),
    ("parsed:2", &["s"], 1),
];
/// A double, and a float.
const FEW: &[Spec] = &[ALL[0], ALL[4]];
/// SPECs that are not told by the order among all that were parsed.
const TOLD: &[Spec] = &[ALL[0], ALL[1], ALL[2], ALL[5]];

/// Options of Java, the shadow, another option of the tool, and SPECs.
type Mode = (&'static str, &'static str, &'static str, &'static [Spec]);

const MODES: &[Mode] = &[
    ("", "dot", "-v", ALL),
    ("-Xint", "dot", "--no-avx512", FEW),
    ("-Drounds=20000", "dot", "--no-avx512", TOLD),
    ("-Drounds=20000 -XX:-TieredCompilation", "adjoint", "-v", FEW),
    ("-Drounds=5000 -XX:TieredStopAtLevel=1", "adjoint", "--no-avx512", FEW),
    ("-XX:-UseCompressedOops -Xshare:off", "dot", "-v", FEW),
    ("-XX:+UseSerialGC -Xmn1m -Drounds=20000", "dot", "-v", FEW),
];

/// Modes for versions that differ little from others.
const OLD: &[Mode] =
    &[("", "dot", "-v", TOLD), ("-Drounds=20000 -XX:-TieredCompilation", "adjoint", "--no-avx512", FEW)];

/// Options of Java under which lines are told: by the interpreter, by each compiler, and while methods go from one to another, as soon as
/// they have run so often: what is compiled beside them may be ready at any time.
const LINES: [&str; 4] = [
    "-Xint -Drounds=20",
    "-Xbatch -Drounds=2000",
    "-Drounds=2000 -XX:-TieredCompilation -XX:CompileThreshold=300",
    "-Drounds=2000 -XX:TieredStopAtLevel=1",
];

/// Options of Java under which mathematical functions are called: by the interpreter, and by what is compiled.
const FUNCTIONS: [&str; 2] = ["-Xint", "-Drounds=300"];

/// Java virtual machines whose structures differ, if they are installed, and the ways in which each is run.
const VIRTUAL_MACHINES: [(&str, &[Mode]); 4] = [
    ("/usr/lib/jvm/temurin-11-jdk-amd64/bin/java", OLD),
    ("/usr/lib/jvm/java-17-openjdk-amd64/bin/java", MODES),
    ("/usr/lib/jvm/temurin-21-jdk-amd64/bin/java", OLD),
    ("/usr/lib/jvm/temurin-25-jdk-amd64/bin/java", MODES),
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (java, modes) in VIRTUAL_MACHINES {
        for &mode in modes {
            for &spec in mode.3 {
                let name = format!("{java} {}/{} {}/{}", mode.0, mode.1, mode.2, spec.0);
                trials.push(Trial::test(name, move || check(java, mode, spec)));
            }
        }
        trials.push(Trial::test(format!("{java}/a list"), move || listed(java)));
        for options in LINES {
            trials.push(Trial::test(format!("{java} {options}/lines"), move || lines(java, options)));
        }
        // What is compiled calls what the interpreter does.
        for options in FUNCTIONS.into_iter().take(if modes.len() > OLD.len() { 2 } else { 1 }) {
            trials.push(Trial::test(format!("{java} {options}/functions"), move || functions(java, options)));
        }
        trials.push(Trial::test(format!("{java}/a zero"), move || zero(java)));
        trials.push(Trial::test(format!("{java}/not found"), move || not_found(java)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Folder with the guests' classes, which the oldest of the virtual machines can run; `None` without a compiler.
fn classes() -> Option<&'static Path> {
    static CLASSES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let javac = host::find_program("javac")?;
        let folder = host::fresh_work_dir();
        let guest = |name| host::tests_dir().join("guests/inputs").join(name);
        let mut compiler = Command::new(javac);
        compiler.args(["--release", "11", "-Xlint:-options", "-d"]).arg(&folder);
        let status = compiler.args(["numbers.java", "Lines.java", "Functions.java"].map(guest)).status();
        status.is_ok_and(|status| status.success()).then_some(folder)
    };
    CLASSES.get_or_init(compile).as_deref()
}

/// The guest with numbers under a shadow, with options of the tool and of Java; `None` without Java.
fn command(java: &str, shadow: &'static str, tool: &[&str], options: &str) -> Option<Case> {
    class("Numbers", java, (shadow, tool), options)
}

/// The guest of this class, likewise.
fn class(name: &str, java: &str, (shadow, tool): (&'static str, &[&str]), options: &str) -> Option<Case> {
    let (Some(classes), true) = (classes(), Path::new(java).exists()) else {
        host::skipped(&format!("{name} of Java"), &format!("{java} or javac is not installed"));
        return None;
    };
    let mut case = Case::new(shadow, tool, Path::new(java));
    case.argv.extend(options.split_whitespace().map(std::ffi::OsString::from));
    Some(case.arg("-cp").arg(classes).arg(name))
}

/// Number of the guest's first word in its command.
fn word(options: &str) -> usize {
    4 + options.split_whitespace().count()
}

/// `case` with the guest's texts, each number moved by `shift` if `moved` names it: the argument has twenty digits, others have
/// exponents.
fn given(case: &Case, moved: &[&str], shift: f64) -> Case {
    let number = |name: &str, value: f64| value + if moved.contains(&name) { shift } else { 0.0 };
    let rows = [[0.5, -1.5], [0.5, 1.25], [2.25, -7.5]];
    let mut file = "# data 2\n3\n".to_owned();
    for (index, [p, q]) in rows.into_iter().enumerate() {
        let (p, q) = (number(&format!("p{}", index + 1), p), number(&format!("q{}", index + 1), q));
        file += &format!("{p:e} {q}\n");
    }
    let argument = format!("{:.20}", number("a", 0.123_456_789_012_34));
    let mut case = case.clone().arg(argument).arg(FILE).env("SG_W", &format!("{:E}", number("w", -0.75)));
    case.stdin = format!("{} {}\n", number("s", 4.5), number("t", -2.5)).into_bytes();
    case.files.push((FILE.to_owned(), file.into_bytes()));
    case
}

/// `case` with the guest's texts, of which the argument is this.
fn with_argument(case: &Case, argument: &str) -> Case {
    let mut case = given(case, &[], 0.0);
    let at = case.argv.len() - 2;
    case.argv[at] = argument.into();
    case
}

/// A number of a text, against differences.
fn check(java: &str, (options, shadow, tool, _): Mode, (spec, moved, floats): Spec) -> Result<(), Failed> {
    // A power of two: floats move by just as much as doubles, and the texts have it to the last digit.
    const H: f64 = 1.0 / 4096.0;
    let spec = if spec == "arg" { format!("arg:{}", word(options)) } else { spec.to_owned() };
    let input = format!("--input={spec}");
    let Some(case) = command(java, shadow, &[&input, tool], options) else { return Ok(()) };
    let [here, before, after] = [0.0, -H, H].map(|shift| given(&case, moved, shift));
    let seen = differences::against(&here, &before, &after, 2.0 * H, 1e-6)?;
    let (count, warnings) = (&seen.report.document["inputs"][0]["count"], &seen.report.document["warnings"]);
    if *count != floats || warnings.as_array().is_some_and(|warnings| !warnings.is_empty()) {
        return Err(format!("{count} floats were seeded; {warnings}").into());
    }
    Ok(())
}

/// All numbers are listed, and nothing else is.
fn listed(java: &str) -> Result<(), Failed> {
    let Some(case) = command(java, "dot", &["--list=inputs"], "") else { return Ok(()) };
    let seen = given(&case, &[], 0.0).observe()?;
    let list = seen.report.document["listing"].as_array().cloned().unwrap_or_default();
    let specs: Vec<_> = list.iter().filter_map(|entry| entry["spec"].as_str()).collect();
    let argument = format!("arg:{}", word(""));
    let mut expected = vec![argument.as_str(), "env:SG_W", "stdin:1:1", "stdin:1:2"];
    expected.extend(["file:in.dat:3:1", "file:in.dat:3:2", "file:in.dat:4:1", "file:in.dat:4:2"]);
    expected.extend(["file:in.dat:5:1", "file:in.dat:5:2"]);
    let by = list.iter().all(|entry| entry["with"] == "FloatingDecimal");
    if specs == expected && by { Ok(()) } else { Err(format!("{list:?}").into()) }
}

/// Each number has the line that its value says.
fn lines(java: &str, options: &str) -> Result<(), Failed> {
    let tool: (_, &[&str]) = ("dot", &["--list=inputs"]);
    let Some(case) = class("Lines", java, tool, options) else { return Ok(()) };
    let list = case.observe()?.report.document["listing"].as_array().cloned().unwrap_or_default();
    let is_wrong = |entry: &&serde_json::Value| {
        let line = entry["site"]["line"].as_f64().map(|line| line + 0.5);
        line != entry["value"].as_f64() || entry["site"]["file"] != "Lines.java"
    };
    match list.iter().find(is_wrong) {
        Some(wrong) => Err(format!("{wrong}").into()),
        None if list.len() < 100 => Err(format!("only {} numbers", list.len()).into()),
        None => Ok(()),
    }
}

/// Mathematical functions have their derivatives, whoever made their code, against differences.
fn functions(java: &str, options: &str) -> Result<(), Failed> {
    const H: f64 = 1.0 / 4096.0;
    let input = format!("--input=arg:{}", word(options));
    let Some(case) = class("Functions", java, ("dot", &[&input]), options) else { return Ok(()) };
    let [here, before, after] = [0.0, -H, H].map(|shift| case.clone().arg(format!("{}", 0.8125 + shift)));
    let seen = differences::against(&here, &before, &after, 2.0 * H, 1e-4)?;
    let outputs = seen.report.outputs.len();
    if outputs == 35 { Ok(()) } else { Err(format!("{outputs} outputs").into()) }
}

/// A zero comes from a constant: it is seen where a method of its own returns it, but not in compiled code that has that
/// method's code in it, which is said.
fn zero(java: &str) -> Result<(), Failed> {
    const COMPILED: &str = "-Drounds=40000 -Dzeros=true -XX:-TieredCompilation";
    for (options, is_seen) in [("", true), ("-Xint", true), (COMPILED, false)] {
        let input = format!("--input=arg:{}", word(options));
        let Some(case) = command(java, "dot", &[&input], options) else { return Ok(()) };
        let said = with_argument(&case, "0.0").terminal(&[])?;
        let is_said = said.contains("was read, but the float came from where nobody looks");
        let is_warned = said.contains("shadowgrind: warning");
        if is_said == is_seen || is_warned == is_seen {
            return Err(said.into());
        }
    }
    Ok(())
}

/// Numbers that other code makes, or whose text is not found, are said not to be seeded.
fn not_found(java: &str) -> Result<(), Failed> {
    let mut rows = vec![("-Ddecimal=true", "BigDecimal makes its own")];
    if java.contains("25") {
        rows.push(("-XX:+UseZGC", "strings, which have the texts, are kept in a way that is not known"));
    }
    for (options, why) in rows {
        let input = format!("--input=arg:{}", word(options));
        let Some(case) = command(java, "dot", &[&input], options) else { return Ok(()) };
        let said = with_argument(&case, "0.625").terminal(&[])?;
        if !said.lines().any(|line| line.contains("was never reached: ") && line.contains(why)) {
            return Err(said.into());
        }
    }
    Ok(())
}
