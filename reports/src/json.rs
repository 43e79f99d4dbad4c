//! The report for tools: complete, versioned, streamed.
//!
//! Outputs are written one by one as they are read back: a report of a hundred million outputs takes no more memory than
//! one of three. One record stands on one line, so that line-wise tools find their way too.

mod answers;
mod layout;

use std::io::{self, Write};

use hashbrown::HashMap;
use serde::ser::{Error as _, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use shadowgrind_core::findings::{
    Entry, FindingKind, Input, Interval, Judgement, Listing, Number, Output, OutputKind, OutputShadow,
    Program, Remedy, Report, SCHEMA, Spread, Value, VariableRange, Wrapped,
};
use shadowgrind_core::site::{Place, Site};

use crate::document::Document;
use crate::rank::Cause;
use crate::verdict::Verdict;
use crate::words;
use answers::{TapeRecord, budget, directions, gradients};
use layout::Lines;

/// Writes the whole report.
pub fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Lines::default());
    Root(document).serialize(&mut serializer).map_err(io::Error::from)?;
    writeln!(out)
}

struct Root<'a>(&'a Document<'a>);

impl Serialize for Root<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.0.report;
        let mut root = serializer.serialize_struct("Report", 12)?;
        root.serialize_field("schema", SCHEMA)?;
        root.serialize_field("tool", &TOOL)?;
        root.serialize_field("shadow", report.shadow)?;
        root.serialize_field("partial", &report.partial)?;
        root.serialize_field::<Program>("program", &report.program)?;
        if let Some(precision) = report.settings.precision {
            root.serialize_field("precision", &precision)?;
        }
        if let Some(threshold) = report.settings.error_threshold {
            root.serialize_field("error_threshold", &Number(threshold))?;
        }
        if let Some(verdict) = verdict(self.0) {
            root.serialize_field("verdict", &verdict)?;
        }
        if let Some(listing) = &report.listing {
            root.serialize_field("listed", &listing.listed)?;
            root.serialize_field("listing", &entries(self.0, listing))?;
        }
        root.serialize_field("inputs", &inputs(self.0))?;
        root.serialize_field("outputs", &Outputs(self.0))?;
        root.serialize_field("findings", &findings(self.0))?;
        if let Some(answers) = &report.answers {
            root.serialize_field("gradients", &gradients(answers))?;
            if !answers.directions.is_empty() {
                root.serialize_field("directions", &directions(answers))?;
            }
            if answers.unknown_roundings.is_some() {
                root.serialize_field("budget", &budget(self.0, answers))?;
            }
            root.serialize_field("tape", &TapeRecord::from(answers.tape))?;
        }
        root.serialize_field("warnings", &self.0.report.warnings)?;
        root.serialize_field("coverage", &coverage(self.0))?;
        root.end()
    }
}

/// Number that can be named.
#[derive(Serialize)]
struct EntryRecord<'a> {
    spec: &'a str,
    text: Option<&'a str>,
    value: Number,
    with: Option<&'a str>,
    site: &'a Place,
    count: u64,
}

fn entries<'a>(document: &'a Document<'a>, listing: &'a Listing) -> Vec<EntryRecord<'a>> {
    let record = |entry: &'a Entry| EntryRecord {
        spec: &entry.spec,
        text: entry.text.as_deref(),
        value: Number(entry.value),
        with: entry.with.as_deref(),
        site: document.place(entry.site),
        count: entry.count,
    };
    listing.entries.iter().map(record).collect()
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

const TOOL: Tool = Tool { name: "shadowgrind", version: env!("CARGO_PKG_VERSION") };

/// Verdict that people read first, and the counts it is made of.
#[derive(Serialize)]
struct VerdictRecord {
    clean: bool,
    text: String,
    wrong_outputs: u64,
    unsettled_outputs: u64,
    nan_outputs: u64,
    decisions: u64,
    unsettled_decisions: u64,
    nan_births: u64,
}

/// Only of shadows that know errors.
fn verdict(document: &Document<'_>) -> Option<VerdictRecord> {
    let Verdict { judged, decisions, undecided, specials, .. } = document.verdict;
    (!matches!(document.report.shadow, "none" | "dot" | "adjoint")).then(|| VerdictRecord {
        clean: document.verdict.is_clean(),
        text: words::verdict(document),
        wrong_outputs: judged.wrong,
        unsettled_outputs: judged.unsettled,
        nan_outputs: judged.nan,
        decisions,
        unsettled_decisions: undecided,
        nan_births: specials,
    })
}

#[derive(Serialize)]
struct InputRecord<'a> {
    spec: &'a str,
    value: Option<Value>,
    seed: Number,
    /// Number of its first component.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<u64>,
    count: u64,
}

fn inputs<'a>(document: &Document<'a>) -> Vec<InputRecord<'a>> {
    let answers = document.report.answers.as_ref();
    let record = |(n, input): (usize, &'a Input)| InputRecord {
        spec: &input.spec,
        value: input.value,
        seed: Number(input.seed),
        first: answers.map(|answers| answers.first(n)),
        count: answers.map_or(input.count, |answers| answers.components.get(n).copied().unwrap_or(0)),
    };
    document.report.inputs.iter().enumerate().map(record).collect()
}

/// All outputs, serialised as they are read back.
struct Outputs<'a>(&'a Document<'a>);

#[derive(Serialize)]
struct OutputRecord<'a> {
    index: u64,
    kind: OutputKind,
    label: Option<&'a str>,
    value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    dot: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    real: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_bits: Option<Number>,
    /// `null` for what has no digits: NaN and infinities.
    #[serde(skip_serializing_if = "Option::is_none")]
    correct_digits: Option<Option<Number>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgement: Option<Judgement>,
    /// `null` where the notation is not known.
    printed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed_exact: Option<String>,
    /// `null` where nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_from: Option<Option<usize>>,
    /// Number of floats it stands for, and their mean error, if it does for more than itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_error_bits: Option<Number>,
    /// `stdout`, `stderr` or a path; `null` where it was not found in a text.
    stream: Option<&'a str>,
    line: Option<u32>,
    /// In bytes, from 1.
    column: Option<u32>,
    /// Number of earlier times that the call at this site has printed this one of its floats.
    iteration: u64,
    site: Option<&'a RawValue>,
}

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = self.0;
        let outputs = &document.report.outputs;
        // A site is many times longer than the rest of its record, and there are few of them.
        let mut sites: HashMap<Site, Box<RawValue>> = HashMap::new();
        for series in &document.outputs.series {
            sites.insert(series.site, raw(document.place(series.site)).map_err(S::Error::custom)?);
        }
        let mut times: HashMap<(Site, u16), u64> = HashMap::new();
        let mut sequence = serializer.serialize_seq(None)?;
        for (index, output) in outputs.iter() {
            let site = sites.get(&output.site).ok_or_else(|| S::Error::custom("an output was not folded"))?;
            let times = times.entry((output.site, output.position)).or_default();
            let record = record(document, index, &output);
            sequence.serialize_element(&OutputRecord { iteration: *times, site: Some(site), ..record })?;
            *times += 1;
        }
        sequence.end()
    }
}

/// A site as it will stand in its records.
fn raw(place: &Place) -> serde_json::Result<Box<RawValue>> {
    let mut text = Vec::new();
    let inside = Lines::inside_record();
    place.serialize(&mut serde_json::Serializer::with_formatter(&mut text, inside))?;
    RawValue::from_string(String::from_utf8_lossy(&text).into_owned())
}

/// Record of an output without its site and iteration.
fn record<'a>(document: &'a Document<'a>, index: u64, output: &Output<'a>) -> OutputRecord<'a> {
    let Report { outputs, texts, .. } = document.report;
    let (at, written) = (texts.place(index), document.written(index));
    let Output { kind, value, said, .. } = *output;
    let (mut dot, mut error, mut judgement) = (None, (None, None, None), None);
    match said {
        OutputShadow::Nothing => {}
        OutputShadow::Dot(value) => dot = Some(value),
        OutputShadow::Error { real, error_bits, correct_digits, judgement: how, .. } => {
            let digits = (!correct_digits.is_nan()).then(|| Number(rounded(correct_digits)));
            error = (real, Some(Number(error_bits)), Some(digits));
            judgement = Some(how);
        }
    }
    let (real, error_bits, correct_digits) = error;
    let printed = output.printed();
    let judged = printed.as_deref().filter(|_| judgement.is_some());
    let wrong_from = judged.map(|text| output.wrong_from(text));
    let printed_exact = judged.map(|text| output.exact().unwrap_or(text).to_owned());
    OutputRecord {
        index,
        kind,
        label: outputs.label_text(output.label),
        value,
        dot,
        real,
        error_bits,
        correct_digits,
        judgement,
        printed: printed.or_else(|| at.map(|at| texts.text(at).into_owned())),
        printed_exact,
        wrong_from,
        count: written.map(|written| written.count),
        mean_error_bits: written.map(|written| Number(written.mean())),
        stream: at.map(|at| texts.stream(at).name()),
        line: at.map(|at| at.line),
        column: at.map(|at| at.column),
        iteration: 0,
        site: None,
    }
}

/// The double that prints like the float: 0.3 rather than 0.30000001192092896.
fn rounded(digits: f32) -> f64 {
    digits.to_string().parse().unwrap_or_else(|_| digits.into())
}

#[derive(Serialize)]
struct FindingRecord<'a> {
    rank: usize,
    kind: FindingKind,
    operation: &'a str,
    site: &'a Place,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    executions: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    unsettled: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    operands: Option<&'a [Value]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_bits: Option<SpreadRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    local_error_bits: Option<SpreadRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpcore: Option<&'a str>,
    ranges: Vec<RangeRecord<'a>>,
    outputs: Indices<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remedies: Vec<RemedyRecord<'a>>,
    /// Callers, from the innermost outwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack: Vec<&'a Place>,
    /// Rank of the cause this is a consequence of.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<usize>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn findings<'a>(document: &'a Document<'_>) -> Vec<FindingRecord<'a>> {
    let record = |cause: &'a Cause| {
        let finding = &cause.finding;
        FindingRecord {
            rank: cause.rank,
            kind: finding.kind,
            operation: &finding.operation,
            site: &cause.place,
            count: finding.count,
            executions: finding.executions,
            unsettled: finding.unsettled,
            operands: finding.witness.as_ref().map(|one| &one.operands[..]),
            result: finding.witness.as_ref().map(|one| one.result),
            error_bits: finding.error_bits.map(SpreadRecord::from),
            local_error_bits: finding.local_error_bits.map(SpreadRecord::from),
            share: finding.share.map(Number),
            expression: finding.expression.as_deref(),
            fpcore: finding.fpcore.as_deref(),
            ranges: finding.ranges.iter().map(RangeRecord::from).collect(),
            outputs: Indices(&finding.outputs),
            hint: finding.hint.as_deref(),
            remedies: finding.remedies.iter().map(RemedyRecord::from).collect(),
            stack: document.callers(cause).collect(),
            cause: cause.cause.map(|cause| document.causes[cause].rank),
        }
    };
    document.causes.iter().map(record).collect()
}

#[derive(Serialize)]
struct RemedyRecord<'a> {
    expression: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpcore: Option<&'a str>,
    bits_before: Number,
    bits_after: Number,
    samples: usize,
}

impl<'a> From<&'a Remedy> for RemedyRecord<'a> {
    fn from(remedy: &'a Remedy) -> Self {
        RemedyRecord {
            expression: &remedy.expression,
            fpcore: remedy.fpcore.as_deref(),
            bits_before: Number(remedy.bits_before),
            bits_after: Number(remedy.bits_after),
            samples: remedy.samples,
        }
    }
}

#[derive(Serialize)]
struct SpreadRecord {
    mean: Number,
    max: Number,
}

impl From<Spread> for SpreadRecord {
    fn from(spread: Spread) -> Self {
        SpreadRecord { mean: Number(spread.mean), max: Number(spread.max) }
    }
}

/// Range of a variable: intervals over all executions and over those with an error.
#[derive(Serialize)]
struct RangeRecord<'a> {
    variable: &'a str,
    all: Vec<IntervalRecord>,
    erroneous: Vec<IntervalRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<Number>,
}

#[derive(Serialize)]
struct IntervalRecord {
    min: Number,
    max: Number,
}

impl<'a> From<&'a VariableRange> for RangeRecord<'a> {
    fn from(range: &'a VariableRange) -> Self {
        let interval = |i: &Interval| IntervalRecord { min: Number(i.min), max: Number(i.max) };
        RangeRecord {
            variable: &range.variable,
            all: range.all.iter().map(interval).collect(),
            erroneous: range.erroneous.iter().map(interval).collect(),
            worst: range.worst.map(Number),
        }
    }
}

struct Indices<'a>(&'a shadowgrind_core::findings::IndexSet);

impl Serialize for Indices<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

#[derive(Serialize)]
struct CoverageRecord<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
    wrapped: &'a [Wrapped],
    gaps: Vec<GapRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<DecidedRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overwritten: Vec<OverwrittenRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exhausted: Vec<ExhaustedRecord<'a>>,
    /// Wrong outputs whose causes are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    unexplained: Option<u64>,
}

#[derive(Serialize)]
struct GapRecord<'a> {
    instruction: &'a str,
    count: u64,
    site: &'a Place,
}

#[derive(Serialize)]
struct DecidedRecord<'a> {
    count: u64,
    equal: u64,
    site: &'a Place,
}

/// Seeds overwritten before they were read.
#[derive(Serialize)]
struct OverwrittenRecord<'a> {
    input: &'a str,
    floats: u64,
    of: u64,
    at_least: bool,
    site: &'a Place,
}

#[derive(Serialize)]
struct ExhaustedRecord<'a> {
    operation: &'a str,
    count: u64,
    site: &'a Place,
}

fn coverage<'a>(document: &'a Document<'_>) -> CoverageRecord<'a> {
    let coverage = &document.report.coverage;
    let gaps = coverage.gaps.iter().map(|gap| GapRecord {
        instruction: &gap.instruction,
        count: gap.count,
        site: document.place(gap.site),
    });
    let exhausted = coverage.exhausted.iter().map(|exhausted| ExhaustedRecord {
        operation: exhausted.operation,
        count: exhausted.count,
        site: document.place(exhausted.site),
    });
    let decisions = coverage.decisions.iter().map(|decided| DecidedRecord {
        count: decided.count,
        equal: decided.equal,
        site: document.place(decided.site),
    });
    let overwritten = coverage.overwritten.iter().map(|seeds| OverwrittenRecord {
        input: document.input(seeds.input),
        floats: seeds.floats,
        of: seeds.of,
        at_least: seeds.at_least,
        site: document.place(seeds.site),
    });
    CoverageRecord {
        operations: coverage.operations,
        instructions: coverage.instructions,
        wrapped: &coverage.wrapped,
        gaps: gaps.collect(),
        decisions: decisions.collect(),
        overwritten: overwritten.collect(),
        exhausted: exhausted.collect(),
        unexplained: Some(coverage.unexplained).filter(|&outputs| outputs > 0),
    }
}
