//! Certainty of reals: MPFR's reals are exact, or rounded to so many bits and then wear off.
//!
//! What a rounded real may be off by is followed like any error, to first order, as a binary logarithm. Signs are lost
//! on the way, so that a bound grows without need in a long recurrence; but the float beside it is a control: it went
//! through the same operations, so that what its local rounding errors have become tells what the real's have, which are that
//! much smaller. It tells nothing where the real was rounded and the float hardly was (both lose what is added to a number
//! too large for it): such a real is *alone* with its bound, and so is all that is made of it.

use rug::Float;
use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::Op;
use shadowgrind_core::reals::Reals;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::step::Sums;

use super::bigfloat::ALONE;
use super::mpfr::Mpfr;
use super::number::{RealNumber, perturbed};
use super::real::Real;
use crate::diagnosis::history::Source;
use crate::diagnosis::linear::exponent;
use crate::exact::{rounds_to_integer, to_f64};

/// Bound on the error of a real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ErrorBound {
    /// The very result, a multiple of 2^last.
    Exact {
        /// The exponent of a bit not above its last.
        last: i32,
    },
    /// Number that may be off by two to this at most.
    Below(f32),
    /// Number that may be off by two to this at most, and its float tells nothing of that.
    Alone(f32),
    /// Stand-in for a number of the same sign that is [beyond](super::range) it, which may be off by two to this at most.
    Beyond(f32),
}

/// The real result of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Reckoned<'a> {
    pub(crate) value: &'a RealNumber,
    /// True if it may be rounded.
    pub(crate) is_rounded: bool,
    /// Distance of the operation's float from it, in floats.
    pub(crate) floats: f64,
}

impl ErrorBound {
    /// Of a float that stands for itself.
    pub(super) fn of_float(format: Format, bits: u128) -> ErrorBound {
        let last = match format.decode(bits) {
            Number::Finite { significand, exponent, .. } if significand != 0 => {
                exponent + significand.trailing_zeros() as i32
            }
            _ => i32::MAX / 4,
        };
        ErrorBound::Exact { last }
    }

    /// Error bound of a double that is a normal number: it is exact.
    #[inline(always)]
    pub(crate) fn of_double(x: f64) -> ErrorBound {
        let significand = x.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1075;
        ErrorBound::Exact { last: exponent + significand.trailing_zeros() as i32 }
    }

    /// Of the real result of an operation, a sum with this purpose if it is one.
    #[inline(always)]
    pub(crate) fn of_result(
        (lane, sums): (&Lane<'_, Real>, Sums),
        reals: &Mpfr,
        Reckoned { value, is_rounded, floats }: Reckoned<'_>,
    ) -> ErrorBound {
        let precision = reals.precision;
        if let Some(index) = rounds_to_integer(lane, sums) {
            return ErrorBound::of_integer(lane.shadows[index], reals);
        }
        if lane.op == Op::Sub && Source::of(lane, 0).is_same(&Source::of(lane, 1)) {
            return ErrorBound::Exact { last: i32::MAX / 4 };
        }
        if let Some(last) = last_bit(lane) {
            let fits =
                value.get_exp().is_none_or(|exponent| exponent.saturating_sub(last) <= precision as i32);
            if fits {
                return ErrorBound::Exact { last };
            }
        }
        let exponent = value.get_exp().map(|exponent| exponent as f32);
        let rounding = exponent.map_or(f32::NEG_INFINITY, |exponent| exponent - precision as f32);
        let alone = floats == 0.0 && value.clings(lane.to, lane.r)
            || lane.shadows.iter().flatten().any(|shadow| shadow.error_bound.is_alone());
        let error = error_bits(floats);
        if !alone && is_ample(error, lane.to, precision) {
            return ErrorBound::told(rounding, error);
        }
        let rounding = if is_rounded { rounding } else { f32::NEG_INFINITY };
        let bound = Brought { lane, reals, value, exponent }.log2_bound().fold(rounding, sum);
        ErrorBound::bounded(bound, rounding, floats, lane.to, alone)
    }

    /// Of a result whose float tells that it is good enough: see [`is_ample`].
    #[inline(always)]
    pub(crate) fn told(rounding: f32, error: i32) -> ErrorBound {
        ErrorBound::Below(rounding + (error + CONTROL) as f32)
    }

    /// Of a result that may be off by 2^bound, and by no more than its float tells, unless it is alone; its local rounding error
    /// is below 2^rounding.
    #[inline(always)]
    pub(crate) fn bounded(bound: f32, rounding: f32, floats: f64, to: Format, alone: bool) -> ErrorBound {
        let control = if alone { f32::INFINITY } else { control(rounding, floats, to) };
        ErrorBound::off(bound.min(control), alone)
    }

    /// Of a real that may be off by 2^bound.
    #[inline(always)]
    fn off(bound: f32, alone: bool) -> ErrorBound {
        if alone { ErrorBound::Alone(bound) } else { ErrorBound::Below(bound) }
    }

    /// Of the integer that the guest makes of a float with that shadow.
    #[inline(never)]
    fn of_integer(shadow: Option<&Real>, reals: &Mpfr) -> ErrorBound {
        let certain = ErrorBound::Exact { last: 0 };
        let Some((shadow, bound)) = shadow.map(|shadow| (shadow, shadow.log2_bound())) else {
            return certain;
        };
        if bound == f32::INFINITY {
            return ErrorBound::Alone(bound);
        }
        if bound == f32::NEG_INFINITY {
            return certain;
        }
        let integer = |off: Float| {
            let value = Float::with_val(reals.precision, &*shadow.value().float() + off);
            reals.round(&value, Rounding::Current)
        };
        let off = Float::with_val(64, 1) << bound.ceil() as i32;
        if integer(off.clone()) == integer(-off) { certain } else { ErrorBound::Alone(1.0) }
    }

    /// Of a real that was found to as many bits as it takes, or is zero.
    pub(super) fn settled(bound: Option<f32>, alone: bool) -> ErrorBound {
        bound.map_or(ErrorBound::Exact { last: i32::MAX / 4 }, |bound| ErrorBound::off(bound, alone))
    }

    /// Nothing if it is exact, more than [`BELOW`](ErrorBound::BELOW) if it is alone.
    #[inline(always)]
    pub(crate) fn kind(self) -> u32 {
        match self {
            ErrorBound::Exact { .. } => 0,
            ErrorBound::Below(_) => ErrorBound::BELOW,
            ErrorBound::Alone(_) | ErrorBound::Beyond(_) => 2,
        }
    }

    /// The [kind](ErrorBound::kind) of what is off by no more than its float tells.
    pub(crate) const BELOW: u32 = 1;

    /// Tells whether its float tells nothing of what it may be off by.
    #[inline(always)]
    pub(super) fn is_alone(self) -> bool {
        matches!(self, ErrorBound::Alone(_) | ErrorBound::Beyond(_))
    }

    /// Tells whether it is of a number beyond the range of reals, of which the sign is known.
    #[inline(always)]
    pub(crate) fn is_beyond(self) -> bool {
        matches!(self, ErrorBound::Beyond(_))
    }

    /// Tells whether a real with this exponent has fewer significant bits than so many; of zero, whether it may be what is
    /// not zero in `format`. A number beyond the range of reals is far beyond that of floats: it is known which is nearest to it.
    #[inline(always)]
    pub(super) fn lacks(self, exponent: Option<i32>, format: Format, bits: i32) -> bool {
        match exponent {
            _ if self.is_beyond() => false,
            Some(exponent) => self.bits_of(exponent) < bits,
            None => self.log2_bound().is_some_and(|bound| bound > f32::from(least(format))),
        }
    }

    /// Tells whether a real with this exponent has no significant bit: it may as well be zero.
    #[inline(always)]
    pub(crate) fn covers(self, exponent: i32) -> bool {
        self.log2_bound().is_some_and(|bound| covers(bound, exponent))
    }

    /// log₂ of what it may be off by; nothing if it is exact.
    #[inline(always)]
    pub(crate) fn log2_bound(self) -> Option<f32> {
        match self {
            ErrorBound::Exact { .. } => None,
            ErrorBound::Below(bound) | ErrorBound::Alone(bound) | ErrorBound::Beyond(bound) => Some(bound),
        }
    }

    /// log₂ of what it may be off by where it is compared with numbers that are not beyond the range of reals.
    #[inline(always)]
    pub(super) fn log2_bound_in_order(self) -> Option<f32> {
        self.log2_bound().filter(|_| !self.is_beyond())
    }

    /// Number of significant bits of a real with this exponent; all there are where it is exact.
    #[inline(always)]
    pub(crate) fn bits_of(self, exponent: i32) -> i32 {
        self.log2_bound().map_or(i32::MAX, |bound| (exponent as f32 - bound) as i32)
    }

    /// Of 2^power times the real.
    pub(super) fn scaled(self, power: i32) -> ErrorBound {
        match self {
            ErrorBound::Exact { last } => ErrorBound::Exact { last: last.saturating_add(power) },
            ErrorBound::Below(bound) => ErrorBound::Below(bound + power as f32),
            ErrorBound::Alone(bound) => ErrorBound::Alone(bound + power as f32),
            ErrorBound::Beyond(bound) => ErrorBound::Beyond(bound + power as f32),
        }
    }
}

/// Two to this is less than half of what any float of a format but zero is.
fn least(format: Format) -> i16 {
    match format {
        Format::F16 => -26,
        Format::F32 => -151,
        Format::F64 => -1076,
        Format::F80 => -16447,
    }
}

/// Leading bits of the terms of a sum of which it is not to be believed that they cancel by chance.
const NO_CHANCE: i32 = 64;

/// Tells whether a sum of reals with this exponent is within its error bound, and so many leading bits of its terms went
/// that it is zero in truth. In a long recurrence error bounds grow beyond measure without that: there the real is kept.
pub(super) fn is_within_bound(
    lane: &Lane<'_, Real>,
    result: i32,
    error_bound: ErrorBound,
    precision: u32,
) -> bool {
    let size = |index: usize| exponent_in(lane, index).unwrap_or(i32::MIN / 4);
    let terms = if lane.x.len() == 3 { [size(0) + size(1), size(2)] } else { [size(0), size(1)] };
    is_within_bound_of(terms, result, error_bound, precision)
}

/// Tells whether a result with exponent `result`, of a sum of two terms with exponents `a` and `b`, may be within its error bound for that.
#[inline(always)]
pub(crate) fn is_within_bound_of(
    [a, b]: [i32; 2],
    result: i32,
    error_bound: ErrorBound,
    precision: u32,
) -> bool {
    error_bound.covers(result) && a.max(b) - result >= NO_CHANCE.min(precision as i32 / 2)
}

/// The exponent of the real of an operand, unless that has none.
#[inline(always)]
fn exponent_in(lane: &Lane<'_, Real>, index: usize) -> Option<i32> {
    match &lane.shadows[index] {
        Some(shadow) => shadow.value().get_exp(),
        None => Some(exponent(to_f64(lane.from, lane.x[index])) + 1),
    }
}

/// Contribution of the operands of an operation to the error of its result.
struct Brought<'a> {
    lane: &'a Lane<'a, Real>,
    reals: &'a Mpfr,
    /// The result.
    value: &'a RealNumber,
    /// Of the result, unless it is zero.
    exponent: Option<f32>,
}

impl Brought<'_> {
    fn log2_bound(&self) -> impl Iterator<Item = f32> {
        self.lane.shadows.iter().enumerate().filter_map(|(index, shadow)| {
            let shadow = shadow.as_ref()?;
            let bound = shadow.error_bound.log2_bound().filter(|&bound| bound > f32::NEG_INFINITY)?;
            Some(self.one(index, bound, shadow.value()))
        })
    }

    /// From the reals, not from the floats: those may be far off.
    #[inline(always)]
    fn one(&self, index: usize, bound: f32, x: &RealNumber) -> f32 {
        let relative = || Some(bound - x.get_exp()? as f32 + self.exponent?);
        let beside = |other: usize| self.size(other);
        match self.lane.op {
            Op::Mul => relative().unwrap_or_else(|| bound + beside(1 - index)),
            Op::Div => relative().unwrap_or_else(|| bound - exponent_in(self.lane, 1).unwrap_or(0) as f32),
            Op::Sqrt => relative().unwrap_or(bound / 2.0),
            Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub if index < 2 => bound + beside(1 - index),
            Op::Add | Op::Sub | Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => bound,
            Op::Neg | Op::Abs | Op::Min | Op::Max | Op::CopySign | Op::Narrow | Op::Widen => bound,
            _ => perturbed(self.reals, self.lane, (index, bound), self.value),
        }
    }

    /// The logarithm of what an operand is at most; of a zero, what it may be off by.
    fn size(&self, index: usize) -> f32 {
        let bound = self.lane.shadows[index].map_or(f32::NEG_INFINITY, |shadow| shadow.log2_bound());
        match &self.lane.shadows[index] {
            None if self.lane.x[index] << (128 - self.lane.from.width() + 1) == 0 => bound,
            _ => exponent_in(self.lane, index).map_or(bound, |exponent| bound.max(exponent as f32)),
        }
    }
}

/// Bits by which a float may be right by chance.
const CHANCE: i32 = 8;

/// Bits by which a real may be worse than its float, beside what it has more.
const CONTROL: i32 = CHANCE + ALONE;

/// Number of bits that a real must have for its own error not to matter: twice a double's significand, and some more.
const AMPLE: i32 = 128;

/// Tells whether what a real may be off by is told by its float, of which so many bits are wrong, and need not be
/// followed: even so the real is much better than that.
#[inline(always)]
pub(crate) fn is_ample(error: i32, format: Format, precision: u32) -> bool {
    (error + CHANCE < format.precision() as i32) & (error + CONTROL + AMPLE <= precision as i32)
}

/// Tells whether an error of 2^`bound` is as large as a number with this exponent.
#[inline(always)]
pub(crate) fn covers(bound: f32, exponent: i32) -> bool {
    exponent as f32 <= bound + SPARE
}

/// Bits to spare for what first order does not see.
const SPARE: f32 = 2.0;

/// Bound on the error of a real, by its float, which is off by so many floats; the real's local rounding error is below 2^rounding.
#[inline(always)]
fn control(rounding: f32, floats: f64, format: Format) -> f32 {
    let error = error_bits(floats);
    if error + CHANCE < format.precision() as i32 {
        rounding + (error + CONTROL) as f32
    } else {
        f32::INFINITY
    }
}

/// Bits of error of a float so many floats away, rounded up.
#[inline(always)]
pub(crate) fn error_bits(floats: f64) -> i32 {
    exponent(1.0 + floats) + 1
}

/// The logarithm of the sum of two numbers given by theirs: log₂(1 + y) ≈ y for y in [0, 1], and y is taken to within a
/// factor of two.
#[inline(always)]
pub(crate) fn sum(a: f32, b: f32) -> f32 {
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
fn last_bit(lane: &Lane<'_, Real>) -> Option<i32> {
    let operand = |index: usize| {
        let error_bound = match &lane.shadows[index] {
            Some(shadow) => shadow.error_bound,
            None => ErrorBound::of_float(lane.from, lane.x[index]),
        };
        match error_bound {
            ErrorBound::Exact { last } => Some(last),
            ErrorBound::Below(_) | ErrorBound::Alone(_) | ErrorBound::Beyond(_) => None,
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
