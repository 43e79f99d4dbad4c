//! Content of a slot: the real beside one float.

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::text::Notation;

use super::bigfloat::Short;
use super::error_bound::{self, ErrorBound};
use super::number::RealNumber;
use super::{measure, text};
use crate::diagnosis::blame::{Amplifications, Roundings};
use crate::diagnosis::history::{Serial, UNTRACED};
use crate::diagnosis::influences::Influences;
use crate::diagnosis::linear::exponent;
use crate::diagnosis::number::{Attributed, Compared, Measured};

/// The real a float stands for, and what is known of how they came to differ.
#[derive(Clone, Debug)]
pub struct Real {
    value: RealNumber,
    format: Format,
    pub(crate) error_bound: ErrorBound,
    /// Serial, in the history, of the operation that made it.
    pub(crate) serial: Serial,
    pub(crate) roundings: Roundings,
    pub(crate) amplifications: Amplifications,
    /// The erroneous operations that it depends on, on the scale of the roundings.
    pub(crate) influences: Influences,
}

impl Real {
    /// `value`, for a float of `format`; of its error nothing is known.
    #[inline(always)]
    pub(crate) fn new(value: RealNumber, format: Format, error_bound: ErrorBound) -> Real {
        Real {
            value,
            format,
            error_bound,
            serial: 0,
            roundings: Roundings::NONE,
            amplifications: Amplifications::NONE,
            influences: Influences::NONE,
        }
    }

    /// `value`, which may be off by two to `bound`, for a float of `format`, as another shadow knows it: that was made of the float,
    /// which does not confirm it, and by operations that nobody has seen.
    pub fn about(value: Float, format: Format, bound: f32) -> Real {
        Real::new(RealNumber::Long(value), format, ErrorBound::Alone(bound)).untraced()
    }

    /// A real with all that is known of it.
    #[inline(always)]
    pub(crate) fn with(
        value: RealNumber,
        format: Format,
        error_bound: ErrorBound,
        serial: Serial,
        roundings: Roundings,
        amplifications: Amplifications,
        influences: Influences,
    ) -> Real {
        Real { value, format, error_bound, serial, roundings, amplifications, influences }
    }

    /// The very float `bits`, of which `value` is the real.
    pub(crate) fn exactly(value: RealNumber, format: Format, bits: u128) -> Real {
        let error_bound = ErrorBound::of_float(format, bits);
        Real::new(value, format, error_bound)
    }

    /// No rounding, no local error, and exact itself.
    pub(crate) const NOTHING: Real = Real {
        value: RealNumber::Short(Short::zero(false)),
        format: Format::F64,
        error_bound: ErrorBound::Exact { last: 0 },
        serial: 0,
        roundings: Roundings::NONE,
        amplifications: Amplifications::NONE,
        influences: Influences::NONE,
    };

    /// The real number.
    pub fn value(&self) -> &RealNumber {
        &self.value
    }

    /// The real number alone.
    pub(crate) fn into_value(self) -> RealNumber {
        self.value
    }

    /// The format of the float it was made for. A wider copy of that float keeps it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The float of `format` nearest to the real.
    pub fn rounded(&self, format: Format) -> u128 {
        self.value.round(format)
    }

    /// Number of significant bits of the real; all there are where it is exact, or as good as zero, or beyond the range of reals: more
    /// precision would most likely find the same.
    #[inline(always)]
    pub fn significant_bits(&self) -> i32 {
        let exponent = self.value.get_exp().filter(|_| !self.error_bound.is_beyond());
        exponent.map_or(i32::MAX, |exponent| self.error_bound.bits_of(exponent))
    }

    /// log₂ of what it may be off by: −∞ if it is exact.
    #[inline(always)]
    pub fn log2_bound(&self) -> f32 {
        self.error_bound.log2_bound().unwrap_or(f32::NEG_INFINITY)
    }

    /// Tells whether it is rounded itself.
    #[inline(always)]
    pub(crate) fn is_inexact(&self) -> bool {
        !matches!(self.error_bound, ErrorBound::Exact { .. })
    }

    /// Tells whether nothing is known of it, not even its sign.
    pub(crate) fn is_unknown(&self) -> bool {
        self.log2_bound() == f32::INFINITY && !self.error_bound.is_beyond()
    }

    /// Float less real.
    pub fn error_of(&self, format: Format, bits: u128) -> f64 {
        self.value.taken_from(format, bits)
    }

    /// ±value · 2^power, carrying what this carries.
    pub fn scaled(&self, format: Format, negate: bool, power: i32) -> Real {
        let value = self.value.scaled(negate, power);
        let (roundings, turned) = self.roundings.scaled(negate, power);
        Real {
            roundings,
            amplifications: self.amplifications,
            influences: self.influences.scaled(if turned { -1.0 } else { 1.0 }),
            // The history knows a float by its negative, too.
            serial: if power == 0 { self.serial } else { UNTRACED },
            ..Real::new(value, format, self.error_bound.scaled(power))
        }
    }

    /// Forgets what made the real.
    pub(crate) fn untraced(self) -> Real {
        Real { serial: UNTRACED, ..self }
    }
}

impl Attributed for Real {
    type Number = RealNumber;

    #[inline(always)]
    fn number(&self) -> &RealNumber {
        &self.value
    }

    fn own_format(&self) -> Format {
        self.format
    }

    #[inline(always)]
    fn serial(&self) -> Serial {
        self.serial
    }

    #[inline(always)]
    fn roundings(&self) -> &Roundings {
        &self.roundings
    }

    #[inline(always)]
    fn amplifications(&self) -> &Amplifications {
        &self.amplifications
    }

    #[inline(always)]
    fn influences(&self) -> &Influences {
        &self.influences
    }

    fn is_settled(&self, format: Format) -> bool {
        !self.error_bound.lacks(self.value.get_exp(), format, format.precision() as i32)
    }

    fn is_surely_off(&self, format: Format, bits: u128) -> bool {
        let error = self.error_of(format, bits);
        let is_known = !error.is_finite() && !self.is_unknown() || self.error_bound.is_beyond();
        is_known || !error_bound::covers(self.log2_bound(), exponent(error) + 1)
    }

    fn is_followed(&self, error: f64) -> bool {
        /// Significant bits of an error of which all is known: more than any error in place has.
        const ALL: f32 = 64.0;
        error.is_finite() && self.log2_bound() + ALL < exponent(error) as f32
    }

    fn measured(seen: &Observed<'_, Real>) -> Measured {
        measure::measure(seen.format, seen.bits, seen.shadow)
    }

    fn compared(seen: &Observed<'_, Real>, notation: &Notation) -> Compared {
        text::compared(seen, notation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the bits of its float and a handle, well below 200 bytes.
    #[test]
    fn a_real_is_small() {
        assert!(size_of::<Real>() <= 144, "{}", size_of::<Real>());
    }
}
