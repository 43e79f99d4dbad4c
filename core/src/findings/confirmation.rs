//! Words of a second run, under another shadow, on the findings of the first.
//!
//! Knows neither how the program is run again nor how findings are compared.

use serde::{Deserialize, Serialize};

use super::FindingKind;
use crate::site::Place;

/// Word of the second run on a finding of the first. Where two findings are shown as one, the lesser word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirmed {
    /// The second run has found it as well.
    Confirmed,
    /// The second run cannot tell.
    Unsettled,
    /// The second run saw all that happened there, and found nothing.
    Refuted,
}

/// A finding that the first run does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missed {
    /// The kind.
    pub kind: FindingKind,
    /// The operation, as TABLE 1 calls it.
    pub operation: String,
    /// The place of the operation.
    #[serde(rename = "site")]
    pub place: Place,
}

/// A second run of the program, compared with the first: what is no finding's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Name of the shadow of the second run.
    pub shadow: String,
    /// Processor time of the first run, of its children included, in seconds.
    pub first_s: f64,
    /// Seconds of the second run.
    pub second_s: f64,
    /// True if both runs wrote the same to standard output and standard error; nothing where that is not known.
    pub same_output: Option<bool>,
    /// True if both ended alike.
    pub same_end: bool,
    /// True if the second run has no finding and no output to be known of, and misses nothing.
    pub clean: bool,
    /// The verdict of the second run, a sentence.
    pub verdict: String,
    /// Findings of the second run, of those that reach an output or are decisions or births of NaN, that the first lacks.
    pub missed: Vec<Missed>,
}

impl Confirmation {
    /// Tells whether both runs are known to have taken the same course, as far as can be seen from outside.
    pub fn is_of_the_same(&self) -> bool {
        self.same_end && self.same_output == Some(true)
    }
}
