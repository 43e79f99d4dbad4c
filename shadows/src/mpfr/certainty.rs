//! How sure a real is of itself: MPFR's reals are exact, or rounded to so many bits and then wear off.

use rug::Float;
use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;

use super::Value;
use super::linear::{Linear, exponent};

/// What is known of a real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Certainty {
    /// It is the very result, a multiple of 2^last.
    Exact {
        /// The exponent of a bit not above its last.
        last: i32,
    },
    /// It may be off by 2^this.
    Below(i32),
}

impl Certainty {
    /// Of a float that stands for itself.
    pub(super) fn of_float(format: Format, bits: u128) -> Certainty {
        let last = match format.decode(bits) {
            Number::Finite { significand, exponent, .. } if significand != 0 => {
                exponent + significand.trailing_zeros() as i32
            }
            _ => i32::MAX / 4,
        };
        Certainty::Exact { last }
    }

    /// Of the real result `value` of an operation.
    pub(super) fn of_result(
        lane: &Lane<'_, Value>,
        linear: &Linear,
        value: &Float,
        precision: u32,
    ) -> Certainty {
        if let Some(last) = last_bit(lane) {
            let fits =
                value.get_exp().is_none_or(|exponent| exponent.saturating_sub(last) <= precision as i32);
            if fits {
                return Certainty::Exact { last };
            }
        }
        let own = value.get_exp().map_or(i32::MIN, |exponent| exponent - precision as i32);
        let brought = lane.shadows.iter().zip(linear.partials).filter_map(|(shadow, partial)| {
            let noise = shadow.as_ref()?.certainty.noise()?;
            (partial != 0.0).then(|| noise.saturating_add(exponent(partial) + 1))
        });
        Certainty::Below(brought.fold(own, i32::max))
    }

    /// The exponent of what it may be off by.
    pub(super) fn noise(self) -> Option<i32> {
        match self {
            Certainty::Exact { .. } => None,
            Certainty::Below(exponent) => Some(exponent),
        }
    }

    /// Of 2^power times the real.
    pub(super) fn scaled(self, power: i32) -> Certainty {
        match self {
            Certainty::Exact { last } => Certainty::Exact { last: last.saturating_add(power) },
            Certainty::Below(exponent) => Certainty::Below(exponent.saturating_add(power)),
        }
    }
}

/// A bit not above the last of an operation's exact result, for operations on exact reals whose results are finite
/// binary numbers.
fn last_bit(lane: &Lane<'_, Value>) -> Option<i32> {
    let operand = |index: usize| {
        let certainty = match &lane.shadows[index] {
            Some(shadow) => shadow.certainty,
            None => Certainty::of_float(lane.from, lane.x[index]),
        };
        match certainty {
            Certainty::Exact { last } => Some(last),
            Certainty::Below(_) => None,
        }
    };
    let product = || Some(operand(0)?.saturating_add(operand(1)?));
    match lane.op {
        Op::Add | Op::Sub | Op::Min | Op::Max => Some(operand(0)?.min(operand(1)?)),
        Op::Mul => product(),
        Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => Some(product()?.min(operand(2)?)),
        Op::Neg | Op::Abs | Op::Narrow | Op::Widen => operand(0),
        _ => None,
    }
}
