//! What is kept beside one float.

use rug::Float;
use shadowgrind_core::format::Format;

use super::{convert, measure};

/// The real a float stands for.
#[derive(Debug)]
pub struct Real {
    value: Float,
    /// The value rounded to `format`: low and high part, which saves eight bytes over a `u128`.
    rounded: (u64, u16),
    format: Format,
}

impl Real {
    /// `value`, which rounded to `format` is the float `rounded`.
    pub(super) fn new(value: Float, format: Format, rounded: u128) -> Real {
        Real { value, rounded: (rounded as u64, (rounded >> 64) as u16), format }
    }

    /// The very float `bits`.
    pub(super) fn exactly(format: Format, bits: u128) -> Real {
        Real::new(convert::from_bits(format, bits), format, bits)
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
            u128::from(self.rounded.1) << 64 | u128::from(self.rounded.0)
        } else {
            measure::round(format, &self.value)
        }
    }

    /// ±value · 2^power.
    pub(super) fn scaled(&self, format: Format, negate: bool, power: i32) -> Real {
        let mut value = self.value.clone() << power;
        if negate {
            value = -value;
        }
        let rounded = measure::round(format, &value);
        Real::new(value, format, rounded)
    }
}
