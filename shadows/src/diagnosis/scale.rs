//! Scale of the terms of a value's error.
//!
//! It is relative to the float whose error they make up: what is relative passes through products, quotients and roots
//! as it is. Knows nothing of whose the terms are.

use super::linear::exponent;

/// Scale of the terms of a value's error: their coefficients are multiples of it. Relative to the float, or absolute, a power
/// of two: for a float that is zero or near the ends of the range, or is no measure of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Value of a coefficient of 1.
    pub(crate) size: f64,
    /// Code of the scale in lists of terms: 0 where it is relative.
    pub(crate) code: u32,
}

/// Relative scale, which leaves coefficients of all sizes that matter well within the range of an `f32`.
const RELATIVE: f64 = 1.0 / (1 << 20) as f64;
/// The code of 2^0.
const ONE: i32 = 1 << 16;
/// Floats are in the midst of the range as far as this, either way: two to that, and what is [relative](RELATIVE) to it,
/// are normal numbers.
const FAR: i32 = 1000;

impl Scale {
    /// Largest coefficient below which the float is no measure: others would not be told as an `f32`.
    pub(crate) const LEAST: f32 = 1e-30;
    /// Largest coefficient above which the error is beyond measure: the float is nothing beside it.
    pub(crate) const MOST: f32 = 1e37;

    /// The scale relative to the float `x`, if that is in the midst of the range.
    pub(crate) fn relative(x: f64) -> Option<Scale> {
        (exponent(x).abs() <= FAR).then(|| Scale::relative_to(x))
    }

    /// The scale relative to the float `x`, which is known to be in the midst of the range.
    #[inline(always)]
    pub(crate) fn relative_to(x: f64) -> Scale {
        Scale { size: x * RELATIVE, code: 0 }
    }

    /// The absolute scale of an error with a term of this size.
    pub(crate) fn absolute_near(term: f64) -> Scale {
        let exponent = exponent(term).clamp(-FAR, FAR);
        Scale { size: power_of_two(exponent), code: (ONE + exponent) as u32 }
    }

    /// Scale of the float `x`, by the code of a list.
    pub(crate) fn of_code(code: u32, x: f64) -> Scale {
        match code {
            0 => Scale::relative_to(x),
            code => Scale { size: power_of_two(code as i32 - ONE), code },
        }
    }

    /// Code of an absolute scale, times 2^power.
    pub(crate) fn scaled(code: u32, power: i32) -> u32 {
        (code as i32 + power).clamp(ONE - FAR, ONE + FAR) as u32
    }

    /// Tells whether the largest coefficient, by its bits, shows that the float is a measure.
    #[inline(always)]
    pub(crate) fn measures(largest: u32) -> bool {
        const LEAST: u32 = Scale::LEAST.to_bits();
        largest.wrapping_sub(LEAST) <= const { Scale::MOST.to_bits() - LEAST }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}
