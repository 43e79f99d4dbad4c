//! Texts that are read again, and the floats of which they may have been made: data, and nothing of what becomes of it.

use super::known::Known;
use super::observer::SavedShadow;
use crate::hooks::abi::Float;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{Decimal, Notation, Style};

/// Digits of a text by which a double is known.
const WHOLE: usize = 15;
/// No text has more digits behind the point, as far as it matters.
const MOST_DIGITS: u32 = 1 << 16;

/// A double of which a text was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    pub(super) value: f64,
    pub(super) kept: SavedShadow,
    /// Number of digits behind the point, or before it if negative; nothing before it is known of which text.
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

    /// With what the text tells of it that was read.
    pub(super) fn read_as(self, text: &Decimal<'_>) -> Rounded {
        let is_whole = self.is_whole || text.significant_digits() >= WHOLE;
        Rounded { is_whole, decimals: self.decimals.or(Some(-text.last_place())), ..self }
    }
}

impl From<Known> for Rounded {
    fn from(known: Known) -> Rounded {
        let Known { value, kept, output, notation, .. } = known;
        let first = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
        let decimals = notation.and_then(|Notation { style, precision, .. }| {
            let precision = precision?.min(MOST_DIGITS) as i32;
            match style {
                Style::Fixed => Some(precision),
                Style::Scientific if value != 0.0 => Some(precision - first),
                Style::General if value != 0.0 => Some(precision.max(1) - 1 - first),
                _ => None,
            }
        });
        let is_whole = notation.is_none_or(|notation| match notation.style {
            Style::Shortest(..) => true,
            Style::Hexadecimal(_) => notation.precision.is_none(),
            _ => value != 0.0 && decimals.is_some_and(|decimals| decimals + first + 1 >= WHOLE as i32),
        });
        Rounded { value, kept, decimals, is_whole, output: Some(output) }
    }
}

/// A text that may be one that the program has made of a float.
#[derive(Clone, Debug)]
pub(crate) struct ReadBack {
    pub(super) text: String,
    /// Address that it was read from, where the number is known to begin there.
    pub(super) address: Option<u64>,
    /// The place that has it read.
    pub(super) site: Site,
    /// The double whose digits were found last.
    pub(super) rounded: Option<Rounded>,
    /// The text is hardly that of any other number.
    pub(super) is_own: bool,
    /// Tells whether it is a number that the program was given, whoever has made it.
    pub(super) is_given: bool,
}
