//! A finding, and what it is explained by.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use shadowgrind_core::findings::{self, Confirmed, FindingKind, IndexSet, Number};
use shadowgrind_core::site::Place;

use super::Float;

/// A cause of error, a decision, or a birth of NaN or an infinity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding<'a> {
    /// The rank, from 1.
    pub rank: usize,
    /// The kind.
    pub kind: FindingKind,
    /// The operation.
    pub operation: Cow<'a, str>,
    /// The place of the operation.
    pub site: Cow<'a, Place>,
    /// Number of executions with an error; of a decision, those that came out otherwise than in the reals.
    pub count: u64,
    /// Number of all executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// Number of executions of a decision of which the shadow could not tell.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsettled: u64,
    /// Operands of a witness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operands: Option<Vec<Float<'a>>>,
    /// Result of that witness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Float<'a>>,
    /// Error of its results, in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_bits: Option<Spread>,
    /// Error that the operation itself introduces, in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_error_bits: Option<Spread>,
    /// Share of all error of the outputs reached that this explains, 0…1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Number>,
    /// The formula that it computes, infix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<Cow<'a, str>>,
    /// The formula as FPCore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpcore: Option<Cow<'a, str>>,
    /// The ranges of its variables.
    pub ranges: Vec<VariableRange<'a>>,
    /// Numbers of the outputs it reached, ascending.
    pub outputs: Cow<'a, IndexSet>,
    /// The shares in the errors of these, in their order, as far as shares are kept; `null` where one is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Option<Number>>,
    /// Remarks on the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'a, str>>,
    /// Better ways to compute its expression, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy<'a>>,
    /// The word of a second run on it, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
    /// Callers, from the innermost outwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Cow<'a, Place>>,
    /// Rank of the cause this is a consequence of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<usize>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A better way to compute an expression, tried on inputs that the program had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remedy<'a> {
    /// The formula to compute instead, infix.
    pub expression: Cow<'a, str>,
    /// The formula as FPCore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpcore: Option<Cow<'a, str>>,
    /// Mean error of the program's own expression on the inputs, in bits.
    pub bits_before: Number,
    /// Mean error of this formula on the same inputs, in bits.
    pub bits_after: Number,
    /// Number of different inputs.
    pub samples: usize,
}

impl<'a> From<&'a findings::Remedy> for Remedy<'a> {
    fn from(remedy: &'a findings::Remedy) -> Self {
        Remedy {
            expression: Cow::from(&remedy.expression),
            fpcore: remedy.fpcore.as_deref().map(Cow::from),
            bits_before: Number(remedy.bits_before),
            bits_after: Number(remedy.bits_after),
            samples: remedy.samples,
        }
    }
}

/// Mean and maximum over the executions of a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: Number,
    /// Largest.
    pub max: Number,
}

impl From<findings::Spread> for Spread {
    fn from(spread: findings::Spread) -> Self {
        Spread { mean: Number(spread.mean), max: Number(spread.max) }
    }
}

/// Range of a variable: at most a negative and a positive interval of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariableRange<'a> {
    /// Name of the variable in the expression.
    pub variable: Cow<'a, str>,
    /// Over all executions.
    pub all: Vec<Interval>,
    /// Over the executions with an error.
    pub erroneous: Vec<Interval>,
    /// The value in the worst execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Number>,
}

impl<'a> From<&'a findings::VariableRange> for VariableRange<'a> {
    fn from(range: &'a findings::VariableRange) -> Self {
        VariableRange {
            variable: Cow::from(&range.variable),
            all: range.all.iter().map(Interval::from).collect(),
            erroneous: range.erroneous.iter().map(Interval::from).collect(),
            worst: range.worst.map(Number),
        }
    }
}

/// An interval that values fell in, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Smallest value met.
    pub min: Number,
    /// Largest value met.
    pub max: Number,
}

impl From<&findings::Interval> for Interval {
    fn from(interval: &findings::Interval) -> Self {
        Interval { min: Number(interval.min), max: Number(interval.max) }
    }
}
