//! Units of the parts of a value's error.
//!
//! A share of the float they are part of the error of: what is relative passes through products, quotients and roots
//! as it is. Knows nothing of who made the parts.

use super::linear::exponent;

/// Unit of the parts of a value's error: a fixed share of its float. Of a float that is zero or near the ends of the
/// range, or where that is no measure, a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// The unit itself.
    pub(crate) size: f64,
    /// As lists of parts say it: nothing where it is a share of the float.
    pub(crate) mark: u32,
}

/// A share that leaves amounts of all sizes that matter well within the range of an `f32`.
const SHARE: f64 = 1.0 / (1 << 20) as f64;
/// The mark of 2^0.
const ONE: i32 = 1 << 16;
/// Floats are in the midst of the range as far as this, either way: two to that, and what is a [share](SHARE) of it,
/// are normal numbers.
const FAR: i32 = 1000;

impl Unit {
    /// Largest amount below which a share of the float is no measure: others would not be told as an `f32`.
    pub(crate) const LEAST: f32 = 1e-30;
    /// Largest amount above which the error is beyond measure: the float is nothing beside it.
    pub(crate) const MOST: f32 = 1e37;

    /// A share of the float `x`, if it has one.
    pub(crate) fn share(x: f64) -> Option<Unit> {
        (exponent(x).abs() <= FAR).then(|| Unit::share_of(x))
    }

    /// A share of the float `x`, which is known to have one.
    #[inline(always)]
    pub(crate) fn share_of(x: f64) -> Unit {
        Unit { size: x * SHARE, mark: 0 }
    }

    /// Of a float for which a share of it is no measure, and whose error has a part of this size.
    pub(crate) fn power_near(part: f64) -> Unit {
        let exponent = exponent(part).clamp(-FAR, FAR);
        Unit { size: power_of_two(exponent), mark: (ONE + exponent) as u32 }
    }

    /// Unit of the float `x`, by the mark of a list.
    pub(crate) fn marked(mark: u32, x: f64) -> Unit {
        match mark {
            0 => Unit::share_of(x),
            mark => Unit { size: power_of_two(mark as i32 - ONE), mark },
        }
    }

    /// The mark of 2^power times a unit that is no share.
    pub(crate) fn scaled(mark: u32, power: i32) -> u32 {
        (mark as i32 + power).clamp(ONE - FAR, ONE + FAR) as u32
    }

    /// Tells whether the largest amount, by its bits, shows that a share of the float is a measure.
    #[inline(always)]
    pub(crate) fn measures(largest: u32) -> bool {
        const LEAST: u32 = Unit::LEAST.to_bits();
        largest.wrapping_sub(LEAST) <= const { Unit::MOST.to_bits() - LEAST }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}
