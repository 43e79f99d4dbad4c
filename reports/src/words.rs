//! The sentences of a report, the same in every format that people read.

mod cause;
mod coverage;

use shadowgrind_core::findings::{Listed, Listing, Program, Report, Value};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Place;

use crate::brief;
use crate::document::{Document, Section};
pub(crate) use cause::{facts, headline};
pub(crate) use coverage::coverage;

/// Places and functions listed before "and so on".
const MOST: usize = 3;

/// A whole number with its thousands apart.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 output`, `2,000 outputs`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(n), if n == 1 { "" } else { "s" })
}

/// A float, as short as it reads back; large ones with an exponent where that is shorter.
pub(crate) fn float(value: Value) -> String {
    let plain = value.to_string();
    let x = value.to_f64();
    if value.format() == Format::F80 && x.is_finite() && value.is(x) {
        return float(x.into());
    }
    if value.format() == Format::F80 || !x.is_finite() || x.abs() < 1e7 {
        return plain;
    }
    let scientific = if value.format() == Format::F32 { format!("{:e}", x as f32) } else { format!("{x:e}") };
    if scientific.len() < plain.len() { scientific } else { plain }
}

/// Bits and digits, to a tenth.
pub(crate) fn tenth(x: f64) -> String {
    format!("{x:.1}")
}

/// The first few names, and how many more there are.
fn some(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    if more > 0 {
        names.push(format!("{} more", number(more as u64)));
    }
    names.join(", ")
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `file.c:12`, or `prog+0x1f3` where no line is known.
pub(crate) fn location(place: &Place) -> Option<String> {
    match (&place.file, place.line, &place.module, place.offset) {
        (Some(file), Some(line), ..) => Some(format!("{}:{line}", file_name(file))),
        (_, _, Some(module), Some(offset)) => Some(format!("{}+{offset:#x}", file_name(module))),
        _ => None,
    }
}

/// `solve (file.c:12)`; nothing for an output that left at no particular instruction.
pub(crate) fn whereabouts(place: &Place) -> Option<String> {
    let location = location(place)?;
    Some(match &place.function {
        Some(function) => format!("{} ({location})", brief::function(function)),
        None => location,
    })
}

/// A place, known or not.
pub(crate) fn or_unknown(place: Option<String>) -> String {
    place.unwrap_or_else(|| "an unknown place".to_owned())
}

/// Text after the first of so many things, of which the others are not named.
pub(crate) fn and_more(all: usize) -> String {
    if all > 1 { format!(" and {} more", all - 1) } else { String::new() }
}

/// Command that was run.
pub(crate) fn command(program: &Program) -> String {
    let quoted = program.argv.iter().map(|argument| {
        let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%#".contains(c);
        let bare = !argument.is_empty() && argument.chars().all(plain);
        if bare { argument.clone() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// End of the program.
pub(crate) fn ending(document: &Document<'_>) -> String {
    let program = &document.report.program;
    let end = match (&program.signal, program.exit_code) {
        (Some(signal), _) => format!("killed by {signal}"),
        (None, Some(code)) => format!("exit status {code}"),
        (None, None) => "still running".to_owned(),
    };
    let partial = if document.report.partial { "; this report covers what ran until then" } else { "" };
    let precision = document.report.settings.precision;
    let reals = precision.map_or(String::new(), |bits| format!(", reals of {bits} bits"));
    format!("process {}, {end}{reals}{partial}", program.pid)
}

/// Text in place of an empty list of inputs: advice, unless derivatives came without one.
pub(crate) fn no_inputs(report: &Report) -> &'static str {
    if report.depends_on_inputs() { SET_BY_PROGRAM } else { NOTHING_SEEDED }
}

const SET_BY_PROGRAM: &str = "No input was named: the program has set derivatives itself.";

/// Advice for a derivative that was asked for with nothing seeded.
const NOTHING_SEEDED: &str = "Nothing was seeded, so every derivative is 0. Name an input: --input=nu for a \
     global variable, --input=a[0..3] for elements, --input=nu@solve where it is set before solve is called, \
     --input=f#1 for a function's first floating-point argument.";

/// Explanation of an empty list of inputs.
pub(crate) const NO_PARSER: &str = "No function that is known for parsing numbers was called with one.";

/// Explanation of a report without outputs.
pub(crate) const NO_OUTPUT: &str = "No float left the program in a way that is watched. Known are C's printf and its \
     kin, C++'s streams and to_chars, Fortran's write, and the formatting of Python, numpy, Rust, Go, PHP, Ada, Pascal and V8; \
     others are found by their values where these are written. --output=SPEC names other floats.";

/// The result of the run in one sentence.
pub(crate) fn verdict(document: &Document<'_>) -> String {
    let verdict = &document.verdict;
    let problems = verdict.problems();
    let causes = document.causes_in(Section::Causes).count() as u64;
    let found = if causes > 0 { format!("; {} found", count(causes, "cause")) } else { String::new() };
    if !problems.is_empty() {
        return sentence(&format!("{}{found}.", problems.join(", ")));
    }
    if let Some(reason) = verdict.keeps_from_clean() {
        return match verdict.outputs {
            0 => sentence(&format!("{reason}{found}.")),
            _ => format!("Not clean, though no error was found: {reason}."),
        };
    }
    clean(document)
}

/// The result of a run without problems.
fn clean(document: &Document<'_>) -> String {
    let verdict = &document.verdict;
    let outputs = count(verdict.outputs, "output");
    let operations =
        verdict.operations.map_or(String::new(), |n| format!("; {} followed", count(n, "operation")));
    let worst = document.outputs.worst().map_or(0.0, |worst| worst.bits());
    let threshold = document.report.settings.error_threshold.unwrap_or(f64::INFINITY);
    match worst {
        0.0 if verdict.judged.inexact == 0 => {
            format!("Clean: {outputs}, exact to the last digit{operations}.")
        }
        0.0 => {
            let each = if verdict.outputs == 1 { "the" } else { "each the" };
            format!("Clean: {outputs}, {each} float nearest to its real{operations}.")
        }
        worst if worst > threshold => {
            let off = number_of_bits(worst);
            format!("Clean: {outputs}, every printed digit right, {off} off at most{operations}.")
        }
        _ => format!("Clean: {outputs}, none more than {} off{operations}.", number_of_bits(worst)),
    }
}

/// Words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn number_of_bits(bits: f64) -> String {
    format!("{} bits", tenth(bits))
}

/// Title of a list of numbers, and what is said if it is empty.
pub(crate) fn listed(listing: &Listing) -> (String, &'static str) {
    let numbers = count(listing.entries.len() as u64, "number");
    match listing.listed {
        Listed::Inputs => (format!("{numbers} parsed"), NO_PARSER),
        Listed::Outputs => (format!("{numbers} printed"), NO_OUTPUT),
    }
}

/// The headline of a section.
pub(crate) fn section(section: Section) -> &'static str {
    match section {
        Section::Causes => "Causes",
        Section::Decisions => "Decisions",
        Section::Unsettled => "Unsettled decisions",
        Section::Special => "NaN and infinities",
        Section::Refuted => "Refuted by the second run",
        Section::Hidden => "Without consequence",
    }
}
