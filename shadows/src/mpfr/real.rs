//! What is kept beside one float.

use rug::Float;
use shadowgrind_core::format::Format;

use super::blame::{Gains, Influences, Parts, Roundings};
use super::certainty::Certainty;
use super::history::Serial;
use super::{convert, measure};

/// The real a float stands for, and what is known of how they came to differ.
#[derive(Debug)]
pub struct Real {
    value: Float,
    /// The value rounded to `format`, low and high part: one of these is kept for every live float, and it is small.
    rounded_low: u64,
    rounded_high: u16,
    format: Format,
    pub(super) certainty: Certainty,
    /// Where the history has what made it.
    pub(super) serial: Serial,
    pub(super) roundings: Roundings,
    pub(super) gains: Gains,
    /// Influences, taken apart: in one piece they would take four bytes more.
    parts: Option<Parts>,
    factor: f32,
}

impl Real {
    /// `value`, which rounded to `format` is the float `rounded`; of its error nothing is known.
    pub(super) fn new(value: Float, format: Format, rounded: u128, certainty: Certainty) -> Real {
        Real {
            value,
            rounded_low: rounded as u64,
            rounded_high: (rounded >> 64) as u16,
            format,
            certainty,
            serial: 0,
            roundings: Roundings::default(),
            gains: Gains::default(),
            parts: None,
            factor: 1.0,
        }
    }

    /// The very float `bits`.
    pub(super) fn exactly(format: Format, bits: u128) -> Real {
        let certainty = Certainty::of_float(format, bits);
        Real::new(convert::from_bits(format, bits), format, bits, certainty)
    }

    /// The real number.
    pub fn value(&self) -> &Float {
        &self.value
    }

    /// The format of the float it was made for. A wider copy of that float keeps it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The float of `format` nearest to the real.
    pub fn rounded(&self, format: Format) -> u128 {
        if format == self.format {
            u128::from(self.rounded_high) << 64 | u128::from(self.rounded_low)
        } else {
            measure::round(format, &self.value)
        }
    }

    /// How many bits of the real are sure; all there are where it is exact, or as good as zero: more precision would
    /// most likely find the same zero.
    pub fn significant_bits(&self) -> i32 {
        match (self.certainty.noise(), self.value.get_exp()) {
            (None, _) | (_, None) => i32::MAX,
            (Some(noise), Some(exponent)) => (exponent as f32 - noise) as i32,
        }
    }

    /// Float less real.
    pub fn error_of(&self, format: Format, bits: u128) -> f64 {
        difference(format, bits, &self.value)
    }

    /// ±value · 2^power, carrying what this carries.
    pub(super) fn scaled(&self, format: Format, negate: bool, power: i32) -> Real {
        let factor = if negate { -2f64.powi(power) } else { 2f64.powi(power) };
        let mut value = self.value.clone() << power;
        if negate {
            value = -value;
        }
        let rounded = measure::round(format, &value);
        let mut scaled = Real {
            roundings: self.roundings.scaled(factor),
            gains: self.gains,
            ..Real::new(value, format, rounded, self.certainty.scaled(power))
        };
        scaled.set_influences(self.influences().map(|influences| influences.scaled(factor)));
        scaled
    }

    /// Whether it depends on operations at fault.
    pub(super) fn is_influenced(&self) -> bool {
        self.parts.is_some()
    }

    /// The operations at fault that it depends on.
    pub(super) fn influences(&self) -> Option<Influences> {
        self.parts.clone().map(|parts| Influences { parts, factor: self.factor })
    }

    pub(super) fn set_influences(&mut self, influences: Option<Influences>) {
        if let Some(Influences { parts, factor }) = influences {
            (self.parts, self.factor) = (Some(parts), factor);
        }
    }
}

/// The float `bits` less `real`.
pub(super) fn difference(format: Format, bits: u128, real: &Float) -> f64 {
    let mut float = Float::new(64);
    convert::assign(&mut float, format, bits);
    float -= real;
    float.to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With its count and the 32 bytes of a 256-bit significand this makes, and a slot and ticket, 200 bytes.
    #[test]
    fn a_real_is_small() {
        assert!(size_of::<Real>() <= 112, "{}", size_of::<Real>());
    }
}
