//! Answers of the record of a whole run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use shadowgrind_core::findings::{self, Number};
use shadowgrind_core::site::Place;

/// Derivatives of an output, or of the weighted sum of all, by each component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradient<'a> {
    /// Number of the output; `null` for the weighted sum of all.
    pub output: Option<u64>,
    /// The derivatives; `null` where there are too many, and a file has them.
    pub values: Option<Vec<Number>>,
    /// The file.
    pub file: Option<Cow<'a, str>>,
}

/// Derivatives of an output, or of the weighted sum of all, in each of the directions that were asked about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Directions {
    /// Number of the output; `null` for the weighted sum of all.
    pub output: Option<u64>,
    /// The derivatives.
    pub values: Vec<Number>,
}

/// Contribution of one instruction to the rounding error of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contribution<'a> {
    /// Number of the output; `null` for the weighted sum of all.
    pub output: Option<u64>,
    /// The float less the real: the sum over all executions.
    pub error: Number,
    /// Sum of the magnitudes of the errors over all executions.
    pub magnitude: Number,
    /// The instruction.
    pub site: Cow<'a, Place>,
}

/// Size of a record, and the time it took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tape {
    /// Operations that were recorded.
    pub statements: u64,
    /// The partial derivatives that had to be kept.
    pub values: u64,
    /// Bytes of it all.
    pub bytes: u64,
    /// Bytes before packing.
    pub raw_bytes: u64,
    /// Bytes of floats among those; the others are integers.
    pub raw_float_bytes: u64,
    /// Seconds from the first seed to the end of the program.
    pub record_s: f64,
    /// Seconds that the answers took.
    pub sweep_s: f64,
}

impl From<findings::Tape> for Tape {
    fn from(tape: findings::Tape) -> Self {
        let findings::Tape { statements, values, bytes, raw_bytes, raw_float_bytes, record_s, sweep_s } =
            tape;
        Tape { statements, values, bytes, raw_bytes, raw_float_bytes, record_s, sweep_s }
    }
}
