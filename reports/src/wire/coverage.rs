//! Coverage of a run: operations watched, and those that were not.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use shadowgrind_core::site::Place;

/// Coverage: operations watched, and those that were not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage<'a> {
    /// Operations that were shadowed, each time counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Different instructions among the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Functions taken as one operation.
    pub wrapped: Vec<Wrapped<'a>>,
    /// Calls of run-time systems that were not looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut<'a>>,
    /// Floats that are printed without being seen: whose they are, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched: Vec<Cow<'a, str>>,
    /// Instructions that met a shadow and dropped it.
    pub gaps: Vec<Gap<'a>>,
    /// Comparisons of shadowed values, where the shadow is that of the way taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decided<'a>>,
    /// Roundings of shadowed values to whole numbers, which are constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roundings: Vec<Rounded<'a>>,
    /// Decisions that are not those of the reals, and may be meant so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<Unjudged<'a>>,
    /// Floats with derivatives whose text the program has made, and written nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwritten: Vec<Unwritten<'a>>,
    /// Seeds that the program has overwritten before it read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overwritten: Vec<Overwritten<'a>>,
    /// Operations for which the precision did not always suffice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<Exhausted<'a>>,
    /// Wrong outputs whose causes are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<u64>,
}

/// A function whose calls were each taken as one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapped<'a> {
    /// The function, as its symbol names it.
    pub function: Cow<'a, str>,
    /// Number of calls.
    pub calls: u64,
}

/// A function of a run-time system that was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut<'a> {
    /// The reason: what the function does.
    pub reason: Cow<'a, str>,
    /// Number of calls.
    pub calls: u64,
}

/// An instruction that no shadow understands yet, where it met a shadowed value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap<'a> {
    /// The instruction: mnemonic and operand kinds.
    pub instruction: Cow<'a, str>,
    /// Number of shadows it dropped.
    pub count: u64,
    /// The place of the instruction.
    pub site: Cow<'a, Place>,
}

/// A comparison of totals whose roundings are put back elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unjudged<'a> {
    /// Number of times that the reals decide otherwise.
    pub count: u64,
    /// The place of the comparison.
    pub site: Cow<'a, Place>,
}

/// Floats with derivatives whose text the program has made, and written nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unwritten<'a> {
    /// Number of floats.
    pub count: u64,
    /// True if there may be more than are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The place where the text was made.
    pub site: Cow<'a, Place>,
}

/// A comparison of shadowed values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided<'a> {
    /// Number of times that a value compared had a shadow.
    pub count: u64,
    /// Number of times that the values were then asked to be equal, and were.
    pub equal: u64,
    /// True if it may have come more often than `count` says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The place of the comparison.
    pub site: Cow<'a, Place>,
}

/// A place where shadowed values become whole numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rounded<'a> {
    /// Number of values with a shadow that were rounded.
    pub count: u64,
    /// The place of the instruction, or of the function's call.
    pub site: Cow<'a, Place>,
}

/// Floats of an input that the program has overwritten before it read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overwritten<'a> {
    /// The SPEC of the input.
    pub input: Cow<'a, str>,
    /// Number of these floats.
    pub floats: u64,
    /// Number of floats that were seeded together.
    pub of: u64,
    /// True if there may be more than are counted.
    pub at_least: bool,
    /// The place where the first was overwritten.
    pub site: Cow<'a, Place>,
}

/// An operation for which the shadow's precision did not always suffice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exhausted<'a> {
    /// The operation.
    pub operation: Cow<'a, str>,
    /// Number of results that could not be told from zero.
    pub count: u64,
    /// The place of the operation.
    pub site: Cow<'a, Place>,
}
