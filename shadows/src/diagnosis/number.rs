//! Numbers as attribution asks for them: a real beside a float, and what is known of how the two came to differ.
//!
//! A shadow has errors attributed by saying this much of its values. Knows no number type.

use std::fmt::Debug;

use shadowgrind_core::findings::RealText;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::text::Notation;

use super::blame::{Amplifications, Roundings};
use super::history::Serial;
use super::influences::Influences;
use super::scale::Scale;
use crate::distance::{error_bits, floats_between};

/// Measures of a float that left the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Error bits of the value, in its own format.
    pub error_bits: f64,
    /// Decimal digits of the value that are right; never more than the format has. NaN and infinities have none, not even
    /// none that are right: NaN.
    pub correct_digits: f64,
    /// The real value in decimal digits.
    pub real: String,
}

/// Comparison of a real's text with that of its float.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    /// The real's text: unknown if it is not the same whatever the real may be off by.
    pub(crate) exact: RealText<String>,
    /// True if it is another than the float's, as far as the real is known.
    pub(crate) differs: bool,
}

/// Real number.
pub(crate) trait Number {
    /// e where |x| ∈ [2^(e−1), 2^e); nothing for zero, infinities and NaN.
    fn exponent(&self) -> Option<i32>;

    fn is_nan(&self) -> bool;

    fn is_infinite(&self) -> bool;

    fn is_zero(&self) -> bool;

    /// Tells whether it has a sign, be it that of a zero.
    fn is_negative(&self) -> bool;

    /// The float of `format` nearest to it.
    fn nearest(&self, format: Format) -> u128;

    /// The float of `format` nearest to the sum of it and `error`.
    fn nearest_off(&self, format: Format, error: f64) -> u128;

    /// The float `bits` less this, as a double.
    fn error_of(&self, format: Format, bits: u128) -> f64;

    #[inline(always)]
    fn is_finite(&self) -> bool {
        !self.is_nan() && !self.is_infinite()
    }
}

/// Shadow of a float whose error is attributed: its real, and who made the float differ from that.
pub(crate) trait Attributed: Clone + Debug {
    /// Type of the real.
    type Number: Number;

    fn number(&self) -> &Self::Number;

    /// Format of the float it was made for; a wider copy of that float keeps it.
    fn own_format(&self) -> Format;

    /// Entry of the history that made it; 0 if none did.
    fn serial(&self) -> Serial;

    fn roundings(&self) -> &Roundings;

    fn amplifications(&self) -> &Amplifications;

    /// Erroneous operations that it depends on, on the scale of the roundings.
    fn influences(&self) -> &Influences;

    /// Tells whether the real has more significant bits than a float of `format` has.
    fn is_settled(&self, format: Format) -> bool;

    /// Tells whether the float `bits` is off by more than the error bound of its real.
    fn is_surely_off(&self, format: Format, bits: u128) -> bool;

    /// Tells whether what is not known of it is nothing beside an error of this size: all that made that was followed.
    fn is_followed(&self, error: f64) -> bool;

    /// Distance of a float from its real; without a shadow it is its own.
    fn measured(seen: &Observed<'_, Self>) -> Measured;

    /// Text of a float compared with that of its real.
    fn compared(seen: &Observed<'_, Self>, notation: &Notation) -> Compared;

    #[inline(always)]
    fn is_influenced(&self) -> bool {
        self.influences().are_any()
    }

    /// Scale of the terms of its error; `x` is its float.
    fn scale(&self, x: f64) -> Scale {
        self.roundings().scale(x)
    }

    /// Size of the largest rounding in the error of its float `x`.
    fn largest_term(&self, x: f64) -> f64 {
        (f64::from(self.roundings().brought(1.0)) * self.scale(x).size).abs()
    }

    /// Float to measure, which is `bits` or, where that is a narrower float in wider clothes (promoted for a call), that.
    fn narrowed(&self, format: Format, bits: u128) -> (Format, u128) {
        let own = self.own_format();
        if own.precision() < format.precision() {
            let narrow = format.convert(bits, own);
            if own.convert(narrow, format) == bits {
                return (own, narrow);
            }
        }
        (format, bits)
    }

    /// Error bits of the float `bits`, in its own format.
    fn bits_off(&self, format: Format, bits: u128) -> f64 {
        let (format, bits) = self.narrowed(format, bits);
        error_bits(format, floats_between(format, bits, self.number().nearest(format)))
    }

    /// Error bits that a float would have if it were off by `error` and no more.
    fn bits_of(&self, format: Format, error: f64) -> f64 {
        let number = self.number();
        if !error.is_finite() || !number.is_finite() {
            return format.width().into();
        }
        let off = number.nearest_off(format, error);
        error_bits(format, floats_between(format, off, number.nearest(format)))
    }
}

/// Tells whether an operation adds: the only ones that cancel.
pub(crate) fn is_sum(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub)
}
