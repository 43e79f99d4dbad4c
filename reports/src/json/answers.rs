//! Answers of the record of a whole run: gradients, directions, budgets, and the record's size.

use serde::{Serialize, Serializer};
use shadowgrind_core::findings::{Answers, Contribution, Number, Row, Tape};
use shadowgrind_core::site::Place;

use crate::document::Document;
use crate::gradients::IN_JSON;
/// A gradient: of an output, or of the weighted sum of all.
#[derive(Serialize)]
pub(super) struct GradientRecord<'a> {
    output: Option<u64>,
    /// `null` where there are too many; the file has them then.
    values: Option<Numbers<'a>>,
    file: Option<&'a str>,
}

pub(super) fn gradients(answers: &Answers) -> Vec<GradientRecord<'_>> {
    let fits = answers.width() * answers.gradients.len() as u64 <= IN_JSON;
    let record = |row| gradient(row, fits, answers);
    answers.gradients.iter().map(record).collect()
}

fn gradient<'a>(row: &'a Row, fits: bool, answers: &'a Answers) -> GradientRecord<'a> {
    GradientRecord {
        output: row.output,
        values: fits.then(|| Numbers(&row.values)),
        file: answers.gradient_file.as_deref(),
    }
}

/// Derivatives of an output in each of the directions that were asked about.
#[derive(Serialize)]
pub(super) struct DirectionsRecord<'a> {
    output: Option<u64>,
    values: Numbers<'a>,
}

pub(super) fn directions(answers: &Answers) -> Vec<DirectionsRecord<'_>> {
    let rows = answers.directions.iter();
    rows.map(|Row { output, values }| DirectionsRecord { output: *output, values: Numbers(values) }).collect()
}

/// Part of an output's rounding error that one instruction has contributed.
#[derive(Serialize)]
pub(super) struct ShareRecord<'a> {
    output: Option<u64>,
    error: Number,
    magnitude: Number,
    site: &'a Place,
}

pub(super) fn budget<'a>(document: &'a Document<'_>, answers: &Answers) -> Vec<ShareRecord<'a>> {
    let record = |share: &Contribution| ShareRecord {
        output: share.output,
        error: Number(share.error),
        magnitude: Number(share.magnitude),
        site: document.place(share.site),
    };
    answers.budget.iter().map(record).collect()
}

struct Numbers<'a>(&'a [f64]);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&x| Number(x)))
    }
}

#[derive(Serialize)]
pub(super) struct TapeRecord {
    statements: u64,
    values: u64,
    bytes: u64,
    raw_bytes: u64,
    record_s: f64,
    sweep_s: f64,
}

impl From<Tape> for TapeRecord {
    fn from(tape: Tape) -> Self {
        let Tape { statements, values, bytes, record_s, sweep_s } = tape;
        TapeRecord { statements, values, bytes, raw_bytes: bytes, record_s, sweep_s }
    }
}
