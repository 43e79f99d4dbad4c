//! Causes of errors as `--shadow=error` finds them, against those of the reals, over all programs and cores that there are for both:
//! in how many the same line is named first, and how many findings are at lines where the reals have none.
//!
//! Single programs may differ, which the other tests forbid where it matters; here it is counted how many do.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::fpcore;
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::{Finding, Report};
use std::path::PathBuf;
use std::process::ExitCode;

/// Fraction of programs, at least, in which both name the same line first, of those in which the reals name any.
const AGREE: f64 = 0.95;
/// Fraction of all findings, at most, that are at lines where the reals have none.
const FALSE: f64 = 0.02;

/// Folders of programs with errors, and of those without.
const FOLDERS: [&str; 5] = ["culprits", "causes", "shares", "verdict", "clean"];
/// Programs by themselves.
const PROGRAMS: [&str; 2] = ["long_double.c", "x87.c"];
/// Folder of compensated programs: no finding there is true.
const RIGHT: &str = "clean";

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for how in ["gcc -O0", "clang -O2"] {
        trials.push(Trial::test(how, move || check(how).map_err(Failed::from)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A program: its folder or kind, source and arguments.
struct Program {
    folder: &'static str,
    source: PathBuf,
    arguments: Vec<String>,
}

fn programs() -> Result<Vec<Program>, String> {
    let guests = host::tests_dir().join("guests/mpfr");
    let mut all = Vec::new();
    for folder in FOLDERS {
        let entries = std::fs::read_dir(guests.join(folder)).map_err(|e| format!("{folder}: {e}"))?;
        let is_plain = |path: &PathBuf| !std::fs::read_to_string(path).unwrap_or_default().contains("\n//@");
        let mut sources: Vec<PathBuf> =
            entries.filter_map(|e| Some(e.ok()?.path())).filter(is_plain).collect();
        sources.sort();
        all.extend(sources.into_iter().map(|source| Program { folder, source, arguments: Vec::new() }));
    }
    all.extend(PROGRAMS.map(|file| Program { folder: "", source: guests.join(file), arguments: Vec::new() }));
    for core in fpcore::cores() {
        let arguments = fpcore::samples(&core).concat().iter().map(|x| format!("{x:?}")).collect();
        all.push(Program { folder: "cores", source: fpcore::source(&core)?, arguments });
    }
    Ok(all)
}

/// Counts over all programs, and a line for each that differs.
#[derive(Default)]
struct Tally {
    programs: u32,
    agree: u32,
    findings: u32,
    wrong: u32,
    /// Findings in programs that are right.
    on_right: u32,
    said: String,
}

fn check(how: &str) -> Result<(), String> {
    let (compiler, flags) = how.split_once(' ').unwrap_or((how, ""));
    let bindings: Vec<&[&str]> = host::bindings().collect();
    let mut tallies: Vec<Tally> = bindings.iter().map(|_| Tally::default()).collect();
    for program in programs()? {
        let Some(exe) = Recipe::new(compiler, &format!("{flags} -g"), &program.source, "-lm").build()? else {
            host::skipped(how, &format!("{compiler} is not installed"));
            return Ok(());
        };
        let observe = |shadow, options| {
            let case = Case::new(shadow, options, &exe);
            let case = program.arguments.iter().fold(case, |case, argument| case.arg(argument));
            case.observe().map(|observed| observed.report)
        };
        let reals = observe("mpfr", &[])?;
        for (tally, options) in tallies.iter_mut().zip(&bindings) {
            tally.add(&program, &reals, &observe("error", options)?);
        }
    }
    tallies.iter().zip(&bindings).try_for_each(|(tally, options)| {
        tally.is_enough().map_err(|said| format!("{}\n{said}", options.join(" ")))
    })
}

impl Tally {
    /// Tells whether enough agrees; what does not, if that is too much.
    fn is_enough(&self) -> Result<(), String> {
        let fraction = |part: u32, all: u32| f64::from(part) / f64::from(all.max(1));
        let is_enough =
            fraction(self.agree, self.programs) >= AGREE && fraction(self.wrong, self.findings) <= FALSE;
        if is_enough && self.on_right == 0 {
            return Ok(());
        }
        Err(format!(
            "{} of {} programs have the same first cause; {} of {} findings are not the reals'\n{}",
            self.agree, self.programs, self.wrong, self.findings, self.said
        ))
    }

    fn add(&mut self, program: &Program, reals: &Report, errors: &Report) {
        let stem = program.source.file_stem().unwrap_or_default().to_string_lossy();
        let mut say = |text: String| self.said += &format!("{}/{stem}: {text}\n", program.folder);
        let counts = |report: &Report| -> Vec<Finding> {
            report.findings.iter().filter(|f| matters(f)).cloned().collect()
        };
        let (known, found) = (counts(reals), counts(errors));
        // Outputs that could not be traced have their causes among the rest.
        let is_traced = errors.document["coverage"]["unexplained"].as_u64().unwrap_or(0) == 0;
        let found = if is_traced { found } else { errors.findings.clone() };
        if let Some(first) = known.first() {
            self.programs += 1;
            let is_same = found.first().is_some_and(|other| other.site.line == first.site.line);
            self.agree += u32::from(is_same);
            if !is_same {
                say(format!("{}, not {}", described(found.first()), described(Some(first))));
            }
        }
        for finding in found.iter().filter(|finding| blames(finding)) {
            self.findings += 1;
            let is_known = reals.findings.iter().any(|other| other.site.line == finding.site.line);
            let is_right = program.folder == RIGHT;
            self.on_right += u32::from(is_right);
            if !is_known || is_right {
                self.wrong += 1;
                say(format!("{}, of which the reals know nothing", described(Some(finding))));
            }
        }
    }
}

/// Tells whether a finding is one that people read about unasked.
fn matters(finding: &Finding) -> bool {
    !finding.outputs.is_empty()
        || ["branch", "conversion", "invalid", "overflow"].contains(&finding.kind.as_str())
}

/// Tells whether a finding says that its line is a cause, and not only that an error was noticed there.
fn blames(finding: &Finding) -> bool {
    !finding.hint.contains("was noticed here")
}

fn described(finding: Option<&Finding>) -> String {
    finding.map_or("nothing".to_owned(), |f| format!("{} of {} at line {}", f.kind, f.operation, f.site.line))
}
