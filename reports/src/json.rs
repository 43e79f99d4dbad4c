//! The report for tools: complete, versioned, streamed.
//!
//! Makes the records of [`wire`] of a document. Outputs are written one by one as they are read back: a report of a
//! hundred million outputs takes no more memory than one of three. One record stands on one line, so that line-wise tools
//! find their way too.

mod layout;

use std::borrow::Cow;
use std::io::{self, Write};

use hashbrown::HashMap;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use shadowgrind_core::findings::{
    self, Answers, Input, Number, Output, OutputShadow, RealText, Report, SCHEMA, Warning,
};
use shadowgrind_core::site::{Place, Site};

use crate::arrays;
use crate::document::Document;
use crate::gradients::IN_JSON;
use crate::rank::Cause;
use crate::wire::{self, Float};
use crate::words;
use layout::Lines;

/// Writes the whole report.
pub fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Lines::default());
    report(document).serialize(&mut serializer).map_err(io::Error::from)?;
    writeln!(out)
}

fn report<'a>(document: &'a Document<'a>) -> wire::Report<'a, Outputs<'a>> {
    let report = document.report;
    let answers = report.answers.as_ref();
    let asked = answers.filter(|answers| !answers.directions.is_empty());
    let rounded = answers.filter(|answers| answers.unknown_roundings.is_some());
    wire::Report {
        schema: SCHEMA.into(),
        tool: wire::Tool { name: "shadowgrind".into(), version: env!("CARGO_PKG_VERSION").into() },
        shadow: report.shadow.into(),
        contents: document.contents(),
        partial: report.partial,
        program: Cow::Borrowed(&report.program),
        precision: report.settings.precision,
        error_threshold: report.settings.error_threshold.map(Number),
        verdict: document.judges().then(|| verdict(document)),
        listed: report.listing.as_ref().map(|listing| listing.listed),
        listing: report.listing.as_ref().map(|listing| entries(document, &listing.entries)),
        inputs: inputs(report),
        outputs: Outputs(document),
        arrays: arrays::records(document),
        findings: document.causes.iter().map(|cause| finding(document, cause)).collect(),
        gradients: answers.map(gradients),
        directions: asked.map(|answers| answers.directions.iter().map(directions).collect()),
        budget: rounded.map(|answers| budget(document, answers)),
        tape: answers.map(|answers| answers.tape.into()),
        confirmation: report.confirmation.as_ref().map(Cow::Borrowed),
        warnings: report.warnings.iter().map(warning).collect(),
        coverage: coverage(document),
    }
}

fn verdict<'a>(document: &Document<'a>) -> wire::Verdict<'a> {
    let verdict = &document.verdict;
    wire::Verdict {
        clean: verdict.is_clean(),
        text: words::verdict(document).into(),
        wrong_outputs: verdict.judged.wrong,
        unsettled_outputs: verdict.judged.unsettled,
        nan_outputs: verdict.judged.nan,
        decisions: verdict.decisions,
        unsettled_decisions: verdict.undecided,
        nan_births: verdict.specials,
    }
}

fn entries<'a>(document: &'a Document<'a>, entries: &'a [findings::Entry]) -> Vec<wire::Entry<'a>> {
    let record = |entry: &'a findings::Entry| wire::Entry {
        spec: Cow::from(&entry.spec),
        text: entry.text.as_deref().map(Cow::from),
        value: Number(entry.value),
        with: entry.with.as_deref().map(Cow::from),
        site: document.asker(entry),
        count: entry.count,
    };
    entries.iter().map(record).collect()
}

fn place<'a>(document: &'a Document<'_>, site: Site) -> Cow<'a, Place> {
    Cow::Borrowed(document.place(site))
}

fn inputs(report: &Report) -> Vec<wire::Input<'_>> {
    let answers = report.answers.as_ref();
    let components = |answers: &Answers, n| answers.components.get(n).copied().unwrap_or(0);
    let inputs = report.inputs.iter().enumerate();
    let record = inputs.map(|(n, input)| wire::Input {
        spec: Cow::from(&input.spec),
        value: input.value.map(Float::from),
        seed: Number(input.seed),
        first: answers.map(|answers| answers.first(n)),
        count: answers.map_or(input.count, |answers| components(answers, n)),
        largest: input.largest.map(Number),
        text: text(input),
    });
    record.collect()
}

/// Places of the floats of an input in a text, if it has several and they are not too many to stand here.
fn text(input: &Input) -> Option<wire::TextNumbers<'_>> {
    let findings::TextNumbers { name, places } = &input.text;
    let stands_here = (2..=IN_JSON).contains(&(places.len() as u64));
    stands_here.then(|| wire::TextNumbers { name: name.into(), places: places.into() })
}

fn warning(warning: &Warning) -> wire::Warning<'_> {
    wire::Warning { code: warning.code.into(), message: Cow::from(&warning.message) }
}

fn gradients(answers: &Answers) -> Vec<wire::Gradient<'_>> {
    let fits = answers.width() * answers.gradients.len() as u64 <= IN_JSON;
    let record = |row: &findings::Row| wire::Gradient {
        output: row.output,
        values: fits.then(|| numbers(row)),
        file: answers.gradient_file.as_deref().map(Cow::from),
    };
    answers.gradients.iter().map(record).collect()
}

fn directions(row: &findings::Row) -> wire::Directions {
    wire::Directions { output: row.output, values: numbers(row) }
}

fn numbers(row: &findings::Row) -> Vec<Number> {
    row.values.iter().copied().map(Number).collect()
}

fn budget<'a>(document: &'a Document<'_>, answers: &Answers) -> Vec<wire::Contribution<'a>> {
    let record = |contribution: &findings::Contribution| wire::Contribution {
        output: contribution.output,
        error: Number(contribution.error),
        magnitude: Number(contribution.magnitude),
        site: place(document, contribution.site),
    };
    answers.budget.iter().map(record).collect()
}

/// All outputs, serialised as they are read back.
struct Outputs<'a>(&'a Document<'a>);

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
            sequence.serialize_element(&record(document, index, &output, *times, &**site))?;
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

fn record<'a, P>(
    document: &'a Document<'a>,
    index: u64,
    output: &Output<'a>,
    iteration: u64,
    site: P,
) -> wire::Output<'a, P> {
    let Report { outputs, texts, .. } = document.report;
    let (at, written) = (texts.place(index), document.written(index));
    let label = outputs.label_text(output.label);
    let printed = output.printed();
    let is_judged = matches!(output.said, OutputShadow::Error { .. });
    let judged = printed.as_deref().filter(|_| is_judged && output.exact() != RealText::Unknown);
    let wrong_from = judged.map(|text| output.wrong_from(text));
    let printed_exact = judged.map(|text| output.exact().other().unwrap_or(text).to_owned().into());
    let bare = wire::Output {
        index,
        kind: output.kind,
        label: label.map(Cow::from).or_else(|| texts.label(at?).map(Cow::from)),
        value: output.value.into(),
        dot: None,
        real: None,
        error_bits: None,
        correct_digits: None,
        judgement: None,
        printed: printed.or_else(|| at.map(|at| texts.text(at).into_owned())).map(Cow::from),
        printed_exact,
        wrong_from,
        count: written.map(|written| written.count),
        mean_error_bits: written.filter(|_| is_judged).map(|written| Number(written.mean())),
        norm: written.and_then(|written| written.norm).map(Number),
        stream: at.map(|at| texts.stream(at).name().into()),
        line: at.map(|at| at.line),
        column: at.map(|at| at.column),
        iteration,
        site,
        stack: document.senders(index).map(Cow::Borrowed).collect(),
    };
    match output.said {
        OutputShadow::Nothing => bare,
        OutputShadow::Dot(value) => wire::Output { dot: Some(value.into()), ..bare },
        OutputShadow::Error { real, error_bits, judgement, .. } => wire::Output {
            real: real.map(Cow::from),
            error_bits: Some(Number(error_bits)),
            correct_digits: Some(output.said.right_digits().map(|digits| Number(rounded(digits)))),
            judgement: Some(judgement),
            ..bare
        },
    }
}

/// The double that prints like the float: 0.3 rather than 0.30000001192092896.
fn rounded(digits: f32) -> f64 {
    digits.to_string().parse().unwrap_or_else(|_| digits.into())
}

/// A share with as many digits as are known to first order.
fn share(share: Option<f64>) -> Option<Number> {
    share.map(|share| Number((share * 1e4).round() / 1e4))
}

fn finding<'a>(document: &'a Document<'_>, cause: &'a Cause) -> wire::Finding<'a> {
    let finding = &cause.finding;
    let witness = finding.witness.as_ref();
    wire::Finding {
        rank: cause.rank,
        kind: finding.kind,
        operation: Cow::from(&finding.operation),
        site: Cow::Borrowed(&cause.place),
        count: finding.count,
        executions: finding.executions,
        unsettled: finding.unsettled,
        operands: witness.map(|one| one.operands.iter().copied().map(Float::from).collect()),
        result: witness.map(|one| one.result.into()),
        error_bits: finding.error_bits.map(wire::Spread::from),
        local_error_bits: finding.local_error_bits.map(wire::Spread::from),
        share: finding.share.map(Number),
        expression: finding.expression.as_deref().map(Cow::from),
        fpcore: finding.fpcore.as_deref().map(Cow::from),
        ranges: finding.ranges.iter().map(wire::VariableRange::from).collect(),
        outputs: Cow::Borrowed(&finding.outputs),
        shares: finding.shares.beside(&finding.outputs).map(share).collect(),
        hint: finding.hint.as_deref().map(Cow::from),
        remedies: finding.remedies.iter().map(wire::Remedy::from).collect(),
        confirmed: finding.confirmed,
        stack: document.callers(cause).map(Cow::Borrowed).collect(),
        cause: cause.cause.map(|cause| document.causes[cause].rank),
    }
}

fn wrapped(wrapped: &findings::Wrapped) -> wire::Wrapped<'_> {
    wire::Wrapped { function: Cow::from(&wrapped.function), calls: wrapped.calls }
}

fn left_out(left: &findings::LeftOut) -> wire::LeftOut<'_> {
    wire::LeftOut { reason: left.reason.into(), calls: left.calls }
}

fn gap<'a>(document: &'a Document<'_>, gap: &'a findings::Gap) -> wire::Gap<'a> {
    let instruction = Cow::from(&gap.instruction);
    wire::Gap { instruction, count: gap.count, site: place(document, gap.site) }
}

fn exhausted<'a>(document: &'a Document<'_>, result: &'a findings::Exhausted) -> wire::Exhausted<'a> {
    let operation = result.operation.into();
    wire::Exhausted { operation, count: result.count, site: place(document, result.site) }
}

fn decided<'a>(document: &'a Document<'_>, decision: &findings::Decided) -> wire::Decided<'a> {
    wire::Decided {
        count: decision.count,
        equal: decision.equal,
        at_least: decision.at_least,
        site: place(document, decision.site),
    }
}

fn rounding<'a>(document: &'a Document<'_>, values: &findings::Rounded) -> wire::Rounded<'a> {
    wire::Rounded { count: values.count, site: place(document, values.site) }
}

fn unjudged<'a>(document: &'a Document<'_>, decision: &findings::Unjudged) -> wire::Unjudged<'a> {
    wire::Unjudged { count: decision.count, site: place(document, decision.site) }
}

fn unwritten<'a>(document: &'a Document<'_>, floats: &findings::Unwritten) -> wire::Unwritten<'a> {
    let findings::Unwritten { count, at_least, site } = *floats;
    wire::Unwritten { count, at_least, site: place(document, site) }
}

fn overwritten<'a>(document: &'a Document<'_>, seeds: &findings::OverwrittenSeeds) -> wire::Overwritten<'a> {
    wire::Overwritten {
        input: document.input(seeds.input).into(),
        floats: seeds.floats,
        of: seeds.of,
        at_least: seeds.at_least,
        site: place(document, seeds.site),
    }
}

fn coverage<'a>(document: &'a Document<'_>) -> wire::Coverage<'a> {
    let coverage = &document.report.coverage;
    wire::Coverage {
        operations: coverage.operations,
        instructions: coverage.instructions,
        wrapped: coverage.wrapped.iter().map(wrapped).collect(),
        left_out: coverage.left_out.iter().map(left_out).collect(),
        unwatched: coverage.unwatched.iter().map(|&reason| reason.into()).collect(),
        gaps: coverage.gaps.iter().map(|lost| gap(document, lost)).collect(),
        decisions: coverage.decisions.iter().map(|decision| decided(document, decision)).collect(),
        roundings: coverage.roundings.iter().map(|values| rounding(document, values)).collect(),
        unjudged: coverage.unjudged.iter().map(|decision| unjudged(document, decision)).collect(),
        unwritten: coverage.unwritten.iter().map(|floats| unwritten(document, floats)).collect(),
        overwritten: coverage.overwritten.iter().map(|seeds| overwritten(document, seeds)).collect(),
        exhausted: coverage.exhausted.iter().map(|result| exhausted(document, result)).collect(),
        unexplained: Some(coverage.unexplained).filter(|&outputs| outputs > 0),
    }
}
