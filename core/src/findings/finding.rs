//! A finding: something that went wrong at one instruction, and what is known of it.

use serde::{Deserialize, Serialize};

use super::{Confirmed, IndexSet, Shares, Value};
use crate::site::Site;

/// Kind of cause that a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// A difference of nearly equal values uncovers the rounding of its operands.
    Cancellation,
    /// A small operand vanishes in a large one.
    Absorption,
    /// Many small roundings add up at one place.
    Accumulation,
    /// Roundings of many operations, amplified, of which none is worth naming.
    Conditioning,
    /// An operation whose own result is far off.
    Rounding,
    /// The float is beyond the largest of its format where the real is not infinite.
    Overflow,
    /// The float is so small that its format has not all bits for it, or none.
    Underflow,
    /// NaN, or an infinity that is no overflow, of operands that are neither.
    Invalid,
    /// A comparison that the reals decide otherwise.
    Branch,
    /// A conversion to integer that the reals decide otherwise.
    Conversion,
}

/// A group of kinds of findings that are told in the same way and matter for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// Makes numbers wrong: matters if one of those leaves the program, or decides something.
    Error,
    /// The program would have gone another way in the reals: matters in any case.
    Decision,
    /// Bears NaN or an infinity: matters in any case.
    Special,
}

impl FindingKind {
    /// The group of this kind.
    pub fn topic(self) -> Topic {
        match self {
            FindingKind::Branch | FindingKind::Conversion => Topic::Decision,
            FindingKind::Invalid | FindingKind::Overflow => Topic::Special,
            FindingKind::Cancellation
            | FindingKind::Absorption
            | FindingKind::Accumulation
            | FindingKind::Conditioning
            | FindingKind::Rounding
            | FindingKind::Underflow => Topic::Error,
        }
    }
}

/// One execution of an operation, for people to see what happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The operands.
    pub operands: Vec<Value>,
    /// The result.
    pub result: Value,
}

/// A better way to compute an expression, tried on inputs that the program had.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// The formula to compute instead, infix, for people.
    pub expression: String,
    /// The formula as FPCore, for tools.
    pub fpcore: Option<String>,
    /// Mean error of the program's own expression on the inputs, in bits.
    pub bits_before: f64,
    /// Mean error of this formula on the same inputs, in bits.
    pub bits_after: f64,
    /// Number of different inputs.
    pub samples: usize,
}

/// Mean and maximum over the executions of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// An interval that values fell in, ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest value met.
    pub min: f64,
    /// Largest value met.
    pub max: f64,
}

/// The values that one variable of an expression had, split by sign: at most a negative and a positive interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableRange {
    /// Name of the variable in the expression.
    pub variable: String,
    /// Over all executions.
    pub all: Vec<Interval>,
    /// Over the executions with an error.
    pub erroneous: Vec<Interval>,
    /// The value in the worst execution.
    pub worst: Option<f64>,
}

/// A cause of error: one operation at one place, however often it was executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind of error.
    pub kind: FindingKind,
    /// The operation, as TABLE 1 calls it.
    pub operation: String,
    /// The place of the operation.
    pub site: Site,
    /// Number of executions with an error; of a decision, those that came out otherwise than in the reals.
    pub count: u64,
    /// Number of all executions; known for decisions only.
    pub executions: Option<u64>,
    /// Number of executions of a decision of which the shadow could not tell.
    pub unsettled: u64,
    /// Operands that the first NaN or infinity was made of.
    pub witness: Option<Witness>,
    /// Error of its results.
    pub error_bits: Option<Spread>,
    /// Error that the operation itself introduces.
    pub local_error_bits: Option<Spread>,
    /// The formula that it computes, infix, for people.
    pub expression: Option<String>,
    /// The formula as FPCore, for tools.
    pub fpcore: Option<String>,
    /// The ranges of its variables.
    pub ranges: Vec<VariableRange>,
    /// The outputs it reached.
    pub outputs: IndexSet,
    /// The shares in the errors of these, as far as they are known.
    pub shares: Shares,
    /// Remarks on the finding.
    pub hint: Option<String>,
    /// Better ways to compute its expression, the best first.
    pub remedies: Vec<Remedy>,
    /// Bits of error that this explains: of each number that it made wrong, its share times the bits.
    pub contribution: f64,
    /// Share of all error of the outputs reached that this explains, 0…1, where the shadow can tell.
    pub share: Option<f64>,
    /// Sites of the findings this one is a consequence of: a comparison flips because its operands were wrong before.
    pub causes: Vec<Site>,
    /// The word of a second run on it, if there was one.
    pub confirmed: Option<Confirmed>,
}

impl Finding {
    /// A finding of which nothing is known yet but what and where it is.
    pub fn new(kind: FindingKind, operation: impl Into<String>, site: Site) -> Self {
        Finding {
            kind,
            operation: operation.into(),
            site,
            count: 0,
            executions: None,
            unsettled: 0,
            witness: None,
            error_bits: None,
            local_error_bits: None,
            expression: None,
            fpcore: None,
            ranges: Vec::new(),
            outputs: IndexSet::new(),
            shares: Shares::default(),
            hint: None,
            remedies: Vec::new(),
            contribution: 0.0,
            share: None,
            causes: Vec::new(),
            confirmed: None,
        }
    }

    /// Adds a remark to the hint.
    pub fn remark(&mut self, remark: &str) {
        let hint = self.hint.get_or_insert_default();
        if !hint.is_empty() {
            hint.push_str("; ");
        }
        hint.push_str(remark);
    }
}
