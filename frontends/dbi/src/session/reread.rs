//! Texts that are read again, and the floats of which they may have been made: data, and nothing of what becomes of it.

use super::known::Known;
use super::observer::SavedShadow;
use crate::hooks::abi::Float;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{Notation, Style};

/// A double of which a text was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    pub(super) value: f64,
    pub(super) kept: SavedShadow,
    /// Number of digits behind the point, or before it if negative; as many as the text has where that is not known.
    pub(super) decimals: Option<i32>,
    /// The text has all digits by which the double is known.
    pub(super) is_whole: bool,
    /// The output that it was in the report, if it was one.
    pub(super) output: Option<u64>,
}

impl Rounded {
    /// The double `x`, whose shadow is kept, of which a function finds the digits: so many `decimals`, or nobody knows.
    pub(super) fn new(x: Float, kept: SavedShadow, decimals: Option<i32>) -> Rounded {
        Rounded { value: x.format.to_f64(x.bits), kept, decimals, is_whole: false, output: None }
    }
}

impl From<Known> for Rounded {
    fn from(known: Known) -> Rounded {
        let Known { value, kept, output, notation, .. } = known;
        let decimals = notation.and_then(|Notation { style, precision, .. }| {
            let precision = precision?.min(i32::MAX as u32) as i32;
            match style {
                Style::Fixed => Some(precision),
                Style::General if value != 0.0 => {
                    Some(precision.max(1) - 1 - value.abs().log10().floor() as i32)
                }
                _ => None,
            }
        });
        let is_whole = notation.is_none_or(|notation| matches!(notation.style, Style::Shortest(..)));
        Rounded { value, kept, decimals, is_whole, output: Some(output) }
    }
}

/// A text that may be one that the program has made of a float.
#[derive(Clone, Debug)]
pub(crate) struct ReadBack {
    pub(super) text: String,
    /// The place that has it read.
    pub(super) site: Site,
    /// The double whose digits were found last.
    pub(super) rounded: Option<Rounded>,
    /// The text is hardly that of any other number.
    pub(super) is_own: bool,
    /// Tells whether it is a number that the program was given, whoever has made it.
    pub(super) is_given: bool,
}
