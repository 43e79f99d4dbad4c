//! The JSON report as types: what is written, and what can be read again.
//!
//! Fields stand in the order they are written in. Those that some reports lack are left out there and `None`, or empty, here.
//! Knows nothing of how a report comes about: [`json`](crate::json) makes these records of a [`Document`](crate::document::Document).

mod coverage;
mod finding;
mod float;
mod gradient;
mod output;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use shadowgrind_core::findings::{Confirmation, Listed, Number, Program, SCHEMA};
use shadowgrind_core::site::Place;

pub use coverage::{
    Coverage, Decided, Exhausted, Gap, LeftOut, Overwritten, Rounded, Unjudged, Unwritten, Wrapped,
};
pub use finding::{Finding, Interval, Remedy, Spread, VariableRange};
pub use float::Float;
pub use gradient::{Contribution, Directions, Gradient, Tape};
pub use output::{Array, Output};

use crate::document::Content;

/// The report of one process. `O` is what holds the outputs, which are as many as the program prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report<'a, O = Vec<Output<'a>>> {
    /// Version of the format: [`SCHEMA`].
    pub schema: Cow<'a, str>,
    /// The tool that wrote the report.
    pub tool: Tool<'a>,
    /// Name of the shadow.
    pub shadow: Cow<'a, str>,
    /// Sections that the report has, in the order people read them.
    pub contents: Vec<Content>,
    /// The program did not come to its own end, or the report was written before it did.
    pub partial: bool,
    /// The program that ran.
    pub program: Cow<'a, Program>,
    /// Precision of the reals, in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<u32>,
    /// Error bits up to which a value counts as clean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_threshold: Option<Number>,
    /// The verdict, of a shadow that knows errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict<'a>>,
    /// The kind of numbers that `listing` is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Listed>,
    /// Numbers that can be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<Vec<Entry<'a>>>,
    /// Inputs, in the order they were asked for.
    pub inputs: Vec<Input<'a>>,
    /// Floats that left the program, in that order.
    pub outputs: O,
    /// Arrays among these: floats that one `--output` names by where the program has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<Array<'a>>,
    /// Causes of error, decisions, NaN and infinities, by rank.
    pub findings: Vec<Finding<'a>>,
    /// Derivatives of each output by every component of the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradients: Option<Vec<Gradient<'a>>>,
    /// Derivatives of each output in the directions that were asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directions: Option<Vec<Directions>>,
    /// Rounding errors of outputs by instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Vec<Contribution<'a>>>,
    /// Size of the record of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tape: Option<Tape>,
    /// The comparison with a second run, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Cow<'a, Confirmation>>,
    /// Reasons why the fields above say less than they seem to.
    pub warnings: Vec<Warning<'a>>,
    /// Coverage: operations watched, and those that were not.
    pub coverage: Coverage<'a>,
}

impl<'a> Report<'a> {
    /// Reads a report of this version of the format.
    ///
    /// # Errors
    /// `text` is no JSON, or no such report: fields are missing, or of other types.
    pub fn read(text: &'a str) -> serde_json::Result<Report<'a>> {
        use serde::de::Error as _;
        let report: Report<'a> = serde_json::from_str(text)?;
        match &*report.schema {
            SCHEMA => Ok(report),
            other => Err(serde_json::Error::custom(format_args!("the schema is `{other}`, not `{SCHEMA}`"))),
        }
    }
}

/// A program that writes reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool<'a> {
    /// The name.
    pub name: Cow<'a, str>,
    /// The version.
    pub version: Cow<'a, str>,
}

/// Verdict that people read first, and the counts it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict<'a> {
    /// Nothing is wrong or unsettled, and nothing was lost sight of.
    pub clean: bool,
    /// The sentence that people read.
    pub text: Cow<'a, str>,
    /// Outputs whose printed text is wrong.
    pub wrong_outputs: u64,
    /// Outputs of which the shadow cannot tell.
    pub unsettled_outputs: u64,
    /// Outputs that are NaN or infinite.
    pub nan_outputs: u64,
    /// Places where the program decided otherwise than the reals.
    pub decisions: u64,
    /// Places where the shadow cannot tell.
    pub unsettled_decisions: u64,
    /// Places where NaN or an infinity was born.
    pub nan_births: u64,
}

/// Number that can be named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry<'a> {
    /// The SPEC that names the number.
    pub spec: Cow<'a, str>,
    /// The text that was parsed or printed.
    pub text: Option<Cow<'a, str>>,
    /// The value.
    pub value: Number,
    /// The function that parsed it, or the text before a printed one.
    pub with: Option<Cow<'a, str>>,
    /// The place of the call.
    pub site: Cow<'a, Place>,
    /// Number of times in a row that just this happened.
    pub count: u64,
}

/// One `--input`, or the seeds of client requests at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input<'a> {
    /// The SPEC as it was written, or the name the program gave.
    pub spec: Cow<'a, str>,
    /// The value that was there when it was seeded first.
    pub value: Option<Float<'a>>,
    /// The weight in the direction.
    pub seed: Number,
    /// Number of its first component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Number of floats seeded, or of components.
    pub count: u64,
    /// The largest magnitude of a finite one, where inputs were moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<Number>,
    /// The numbers of a file, or of standard input, that the first floats were made from, where several were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextNumbers<'a>>,
}

/// Numbers of one text, in the order in which floats were made from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextNumbers<'a> {
    /// The text as a SPEC names it.
    pub name: Cow<'a, str>,
    /// Line of each number, and its place among the numbers of that line, both from 1.
    pub places: Cow<'a, [[u32; 2]]>,
}

/// Something that makes the report say less, or something else, than its reader may think.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning<'a> {
    /// The kind, for tools: a word that stays the same.
    pub code: Cow<'a, str>,
    /// One line for people.
    pub message: Cow<'a, str>,
}
