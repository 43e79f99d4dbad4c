//! A float that left the program.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use shadowgrind_core::findings::{Judgement, Number, OutputKind};
use shadowgrind_core::site::Place;

use super::Float;

/// A float that left the program. `P` is what its place is kept as.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output<'a, P = Place> {
    /// The number among the outputs, from 0.
    pub index: u64,
    /// The way by which it left.
    pub kind: OutputKind,
    /// The text before it, the `--output` SPEC, or the name that the program gave.
    pub label: Option<Cow<'a, str>>,
    /// The float.
    pub value: Float<'a>,
    /// The derivative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dot: Option<Float<'a>>,
    /// The real that it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<Cow<'a, str>>,
    /// The error, in bits of its format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_bits: Option<Number>,
    /// Number of correct decimal digits; `null` for what has no digits, NaN and infinities, and where it is unsettled.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub correct_digits: Option<Option<Number>>,
    /// The verdict on the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// The text; `null` where the notation is not known.
    pub printed: Option<Cow<'a, str>>,
    /// The text of the real in the same notation; absent where it may have one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed_exact: Option<Cow<'a, str>>,
    /// Index of the first character that is wrong; `null` where nothing is.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub wrong_from: Option<Option<usize>>,
    /// Number of floats it stands for, if it does for more than itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The mean error, in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_error_bits: Option<Number>,
    /// The Euclidean norm of the derivatives of the floats it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm: Option<Number>,
    /// `stdout`, `stderr` or a path; `null` where it was not found in a text.
    pub stream: Option<Cow<'a, str>>,
    /// Line in the stream, from 1.
    pub line: Option<u32>,
    /// Column in the line, in bytes, from 1.
    pub column: Option<u32>,
    /// Number of earlier times that the call at this site has printed this one of its floats.
    pub iteration: u64,
    /// The place where it left.
    pub site: P,
    /// Callers of the code there, from the innermost outwards, where the output was printed, or left in binary form.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Cow<'a, Place>>,
}

/// Reads a field that is there, `null` or not: an absent one is the default.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Statement about an array of outputs as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Array<'a> {
    /// The SPEC that names the array.
    pub label: Cow<'a, str>,
    /// Number of floats.
    pub count: u64,
    /// Index of the output with the largest derivative, or the most error bits.
    pub worst: u64,
    /// Euclidean norm of the derivatives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm: Option<Number>,
    /// Mean of the error bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_error_bits: Option<Number>,
}
