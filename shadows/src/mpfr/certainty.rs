//! How sure a real is of itself: MPFR's reals are exact, or rounded to so many bits and then wear off.
//!
//! What a rounded real may be off by is followed like any error, to first order, as a binary logarithm. Signs are lost
//! on the way, so that a bound grows without need in a long recurrence; but the float beside it is a control: it went
//! through the same operations, and as long as it has any right bits, the real has not lost more than it.

use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;

use super::Value;
use super::exact::to_f64;
use super::linear::{Linear, exponent};
use super::number::RealNumber;

/// What is known of a real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Certainty {
    /// It is the very result, a multiple of 2^last.
    Exact {
        /// The exponent of a bit not above its last.
        last: i32,
    },
    /// It may be off by 2^this.
    Below(f32),
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

    /// Of the real result `value` of an operation whose float is off by so many floats.
    #[inline(always)]
    pub(super) fn of_result(
        lane: &Lane<'_, Value>,
        linear: &Linear,
        value: &RealNumber,
        precision: u32,
        floats: f64,
    ) -> Certainty {
        if let Some(last) = last_bit(lane) {
            let fits =
                value.get_exp().is_none_or(|exponent| exponent.saturating_sub(last) <= precision as i32);
            if fits {
                return Certainty::Exact { last };
            }
        }
        let exponent = value.get_exp().map(|exponent| exponent as f32);
        let own = exponent.map_or(f32::NEG_INFINITY, |exponent| exponent - precision as f32);
        let allowed = allowance(floats);
        if is_ample(allowed, lane.to, precision) {
            return Certainty::Below(own + allowed as f32);
        }
        let bound = Brought { lane, linear, exponent }.noise().fold(own, sum);
        Certainty::Below(bound.min(control(own, floats, lane.to)))
    }

    /// Whether nothing of a real with this exponent is sure, not even that it is not zero.
    #[inline(always)]
    pub(super) fn covers(self, exponent: i32) -> bool {
        self.noise().is_some_and(|noise| exponent as f32 <= noise + SPARE)
    }

    /// The exponent of what it may be off by.
    #[inline(always)]
    pub(super) fn noise(self) -> Option<f32> {
        match self {
            Certainty::Exact { .. } => None,
            Certainty::Below(exponent) => Some(exponent),
        }
    }

    /// How many bits are sure of a real with this exponent; all there are where it is exact.
    #[inline(always)]
    pub(super) fn bits_of(self, exponent: i32) -> i32 {
        self.noise().map_or(i32::MAX, |noise| (exponent as f32 - noise) as i32)
    }

    /// Of 2^power times the real.
    pub(super) fn scaled(self, power: i32) -> Certainty {
        match self {
            Certainty::Exact { last } => Certainty::Exact { last: last.saturating_add(power) },
            Certainty::Below(exponent) => Certainty::Below(exponent + power as f32),
        }
    }
}

/// Leading bits of the terms of a sum of which it is not to be believed that they cancel by chance.
const NO_CHANCE: i32 = 64;

/// Whether a sum of reals with this exponent is nothing but noise, and so many leading bits of its terms went that it is
/// zero in truth. In a long recurrence noise grows beyond measure without that: there the real is kept.
pub(super) fn is_noise(lane: &Lane<'_, Value>, result: i32, certainty: Certainty, precision: u32) -> bool {
    let size = |index: usize| exponent_in(lane, index).unwrap_or(i32::MIN / 4);
    let terms = if lane.x.len() == 3 { [size(0) + size(1), size(2)] } else { [size(0), size(1)] };
    certainty.covers(result) && terms[0].max(terms[1]) - result >= NO_CHANCE.min(precision as i32 / 2)
}

/// The exponent of the real of an operand, unless that has none.
#[inline(always)]
fn exponent_in(lane: &Lane<'_, Value>, index: usize) -> Option<i32> {
    match &lane.shadows[index] {
        Some(shadow) => shadow.value().get_exp(),
        None => Some(exponent(to_f64(lane.from, lane.x[index])) + 1),
    }
}

/// What the operands of an operation bring into its result.
struct Brought<'a> {
    lane: &'a Lane<'a, Value>,
    linear: &'a Linear,
    /// Of the result, unless it is zero.
    exponent: Option<f32>,
}

impl Brought<'_> {
    fn noise(&self) -> impl Iterator<Item = f32> {
        self.lane.shadows.iter().enumerate().filter_map(|(index, shadow)| {
            let shadow = shadow.as_ref()?;
            Some(self.one(index, shadow.certainty.noise()?, shadow.value()))
        })
    }

    /// From the reals, not from the floats, wherever that is possible: those may be far off.
    #[inline(always)]
    fn one(&self, index: usize, noise: f32, x: &RealNumber) -> f32 {
        let relative = || Some(noise - x.get_exp()? as f32 + self.exponent?);
        let beside = |other: usize| exponent_in(self.lane, other).unwrap_or(0) as f32;
        match self.lane.op {
            Op::Mul => relative().unwrap_or_else(|| noise + beside(1 - index)),
            Op::Div => relative().unwrap_or_else(|| noise - beside(1)),
            Op::Sqrt => relative().unwrap_or(noise / 2.0),
            Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub if index < 2 => noise + beside(1 - index),
            op if !op.is_arithmetic() => {
                self.through_function(index, noise).or_else(relative).unwrap_or(noise)
            }
            _ => noise,
        }
    }

    /// Through the partial at the float, if that is a number.
    fn through_function(&self, index: usize, noise: f32) -> Option<f32> {
        let stretch = self.linear.stretch(index) as f32;
        (self.linear.partials[index] != 0.0 && stretch.abs() < 1000.0).then_some(noise + stretch)
    }
}

/// Bits by which a float may be right, or less wrong than the real, by chance.
const CONTROL: i32 = 8;

/// What a real has to have at least for its own noise not to matter: twice a double's significand, and some more.
const AMPLE: i32 = 128;

/// Whether what a real may be off by is told by its float alone, and need not be followed: even with so many bits that it
/// [allows](allowance) for, the real is much better than that.
#[inline(always)]
pub(super) fn is_ample(allowance: i32, format: Format, precision: u32) -> bool {
    (allowance < format.precision() as i32) & (allowance + AMPLE <= precision as i32)
}

/// Bits to spare for what first order does not see.
const SPARE: f32 = 2.0;

/// What a real is off by at most, by its float, which is off by so many floats; the real's own rounding is below 2^own.
#[inline(always)]
pub(super) fn control(own: f32, floats: f64, format: Format) -> f32 {
    let bits = allowance(floats);
    if bits < format.precision() as i32 { own + bits as f32 } else { f32::INFINITY }
}

/// Bits more than its own rounding that a real may be off by if its float, so many floats away, is all that tells: the
/// float's error bits, rounded up, and some to spare.
#[inline(always)]
pub(super) fn allowance(floats: f64) -> i32 {
    exponent(1.0 + floats) + 1 + CONTROL
}

/// The logarithm of the sum of two numbers given by theirs: log₂(1 + y) ≈ y for y in [0, 1], and y is taken to within a
/// factor of two.
#[inline(always)]
pub(super) fn sum(a: f32, b: f32) -> f32 {
    /// With this added, a number's whole part is in the same bits of it up to the next power of two.
    const ALIGNED: f32 = 16.0;
    const WHOLE: u32 = 19;
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    let apart = large - small;
    // What is 2¹² times smaller will not be missed. Both may be −∞: no number then.
    let near = if apart < 13.0 { apart } else { 13.0 };
    let whole = ((near + ALIGNED).to_bits() >> WHOLE) - (ALIGNED.to_bits() >> WHOLE);
    let power = f32::from_bits((127 - whole) << 23);
    large + if apart > 12.0 { 0.0 } else { power }
}

/// A bit not above the last of an operation's exact result, for operations on exact reals whose results are finite
/// binary numbers.
#[inline(always)]
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
