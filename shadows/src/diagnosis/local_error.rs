//! Local errors of operations: errors that an operation makes although its operands are as right as floats can be.
//!
//! *Local error* is Herbgrind's (Sanchez-Stern, Panchekha, Lerner and Tatlock, "Finding root causes of floating point
//! error", PLDI 2018): the error of the operation done in floats on the correctly rounded reals of its operands,
//! against its real result.

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::Lane;

use super::linear::{Linear, exponent};
use super::number::{Attributed, Number};
use super::operations::LocalErrors;
use super::special::{self, is_infinite};
use crate::distance::{error_power, floats_between};
use crate::exact::to_f64;

/// From which error on something counts as wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold {
    /// Above so many bits …
    pub(crate) bits: f64,
    /// … and two to that, …
    power: f64,
    /// … which is more than so many floats away.
    pub(crate) floats: u64,
}

impl Threshold {
    pub(crate) fn new(bits: f64) -> Threshold {
        let power = bits.exp2();
        Threshold { bits, power, floats: (power - 1.0) as u64 }
    }
}

/// Local error of an operation in one execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalError {
    /// Of which kind.
    pub(crate) kind: Kind,
    /// Two to the bits of local error.
    pub(crate) power: f64,
    /// Float less real that it introduces; infinite where it is beyond measure.
    pub(crate) error: f64,
}

impl LocalError {
    /// Tells whether anything is off: NaN and infinities may be what the reals have, too.
    pub(crate) fn is_error(&self) -> bool {
        self.power > 1.0
    }
}

/// Kinds of local errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// So many leading bits of the operands went.
    Cancellation(f64),
    /// Beyond the format's range.
    Overflow,
    /// Bits were lost at the lower end of the range.
    Underflow,
    /// NaN on one side.
    Invalid,
    /// Anything else.
    Rounding,
}

impl LocalErrors {
    /// Counts a local error.
    pub(crate) fn count(&mut self, local_error: &LocalError) {
        match local_error.kind {
            Kind::Cancellation(lost) => {
                self.cancellation += 1;
                self.bits_lost = self.bits_lost.max(lost);
            }
            Kind::Overflow => self.overflow += 1,
            Kind::Underflow => self.underflow += 1,
            Kind::Invalid => self.invalid += 1,
            Kind::Rounding => self.rounding += 1,
        }
    }
}

/// An operation and what came of it in the reals.
pub(crate) struct Outcome<'a, N: Attributed> {
    /// The operation.
    pub(crate) lane: &'a Lane<'a, N>,
    /// The floats.
    pub(crate) linear: &'a Linear,
    /// The real result …
    pub(crate) value: &'a N::Number,
    /// … and that rounded to the result's format.
    pub(crate) rounded: u128,
    /// Distance of the result from that, in floats.
    pub(crate) floats: f64,
}

impl<N: Attributed> Outcome<'_, N> {
    /// Local error of the operation, if that, and the error of its result, is above `threshold` bits, or if it left the
    /// format's range. `in_floats` does any operation on floats of the operands' format, given by their bits.
    #[inline(always)]
    pub(crate) fn local_error(
        &self,
        in_floats: impl Fn(&[u128]) -> u128,
        threshold: Threshold,
    ) -> Option<LocalError> {
        // What most executions are: a normal number of little error.
        let normal = self.linear.r.is_finite() && !is_tiny(self.lane.to, self.linear.r);
        if self.floats <= threshold.floats as f64 && normal && self.value.is_finite() {
            return None;
        }
        self.unusual_error(in_floats, threshold)
    }

    #[inline(never)]
    fn unusual_error(&self, in_floats: impl Fn(&[u128]) -> u128, threshold: Threshold) -> Option<LocalError> {
        let power = error_power(self.lane.to, self.floats);
        let beyond = |kind| Some(LocalError { kind, power, error: f64::INFINITY });
        if special::is_nan_born(self.lane) {
            // Of an infinity, perhaps, that is somebody else's doing: but it was born here.
            return beyond(Kind::Invalid);
        }
        if self.is_consequence() {
            return None;
        }
        if self.linear.r.is_nan() != self.value.is_nan() {
            return beyond(Kind::Invalid);
        }
        if self.left_range() {
            if is_infinite(self.lane.to, self.lane.r) {
                return beyond(Kind::Overflow);
            }
            return Some(LocalError { kind: Kind::Underflow, power, error: self.lost_below() });
        }
        if power <= threshold.power {
            return None;
        }
        self.ordinary_error(self.local(in_floats), threshold)
    }

    /// Local error above `threshold` bits of an operation that gives `local` in floats, on its operands' reals
    /// correctly rounded, if the error of its result is above that, too.
    pub(crate) fn ordinary_error(&self, local: u128, threshold: Threshold) -> Option<LocalError> {
        let floats = floats_between(self.lane.to, local, self.rounded);
        let power = error_power(self.lane.to, floats);
        (power > threshold.power).then(|| LocalError { kind: self.kind(), power, error: self.error(local) })
    }

    /// True if an operand is not even near its real's float: infinite, zero or NaN where the real is not. What comes
    /// of that is not this operation's doing.
    fn is_consequence(&self) -> bool {
        let from = self.lane.from;
        let operands = self.lane.shadows.iter().zip(self.lane.x).zip(&self.linear.x);
        operands.filter_map(|((shadow, &bits), &x)| Some((shadow.as_ref()?, bits, x))).any(
            |(shadow, bits, x)| {
                let real = shadow.number();
                x.is_nan() != real.is_nan()
                    || is_infinite(from, bits) != real.is_infinite()
                    || shadow.is_influenced() && is_tiny(from, x) && !real.is_zero()
            },
        )
    }

    /// True if the result left the range of its format, for reals that do not: infinity, or bits lost at the lower
    /// end.
    fn left_range(&self) -> bool {
        let (format, r) = (self.lane.to, self.linear.r);
        if is_infinite(format, self.lane.r) {
            return self.value.is_finite() && is_infinite(format, self.rounded);
        }
        // Sums of floats have no bits below the least subnormal to lose.
        let multiplies = !matches!(self.lane.op, Op::Add | Op::Sub);
        multiplies
            && is_tiny(format, r)
            && is_tiny(format, format.to_f64(self.rounded))
            && !self.value.is_zero()
    }

    /// The operation in floats, on its operands' reals correctly rounded.
    fn local(&self, in_floats: impl Fn(&[u128]) -> u128) -> u128 {
        let lane = self.lane;
        let mut x = [0; MAX_OPERANDS];
        for (index, &bits) in lane.x.iter().enumerate() {
            let shadow = lane.shadows[index].as_ref();
            x[index] = shadow.map_or(bits, |shadow| shadow.number().nearest(lane.from));
        }
        let x = &x[..lane.x.len()];
        if x == lane.x {
            return lane.r;
        }
        if lane.from == lane.to && lane.to != Format::F80 {
            let host = Host::new(lane.to);
            let mut floats = [0.0; MAX_OPERANDS];
            floats.iter_mut().zip(x).for_each(|(float, &bits)| *float = to_f64(lane.from, bits));
            if let Some(r) = lane.op.primal(&host, &floats[..x.len()]) {
                return match lane.to {
                    Format::F32 => (r as f32).to_bits().into(),
                    _ => r.to_bits().into(),
                };
            }
        }
        in_floats(x)
    }

    fn kind(&self) -> Kind {
        let x = &self.linear.x;
        let terms = match self.lane.op {
            Op::Add | Op::Sub => [x[0], x[1]],
            Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => [x[0] * x[1], x[2]],
            _ => return Kind::Rounding,
        };
        let before = exponent(terms[0]).max(exponent(terms[1]));
        let after = self.value.exponent().map_or(i32::MIN, |exponent| exponent - 1);
        let most = self.lane.to.precision() as i32;
        Kind::Cancellation(f64::from(before.saturating_sub(after).clamp(0, most)))
    }

    /// Error that an underflow introduces: no less than the least double, where there is no other measure.
    fn lost_below(&self) -> f64 {
        const LEAST: f64 = f64::from_bits(1);
        let error = self.error(self.lane.r);
        if error.abs() >= LEAST {
            return error;
        }
        // What rounds to zero was larger than that.
        if self.value.is_negative() == (self.linear.r == 0.0) { LEAST } else { -LEAST }
    }

    fn error(&self, local: u128) -> f64 {
        let error = self.value.error_of(self.lane.to, local);
        if error.is_finite() { error } else { f64::INFINITY }
    }
}

/// Zero or subnormal.
pub(crate) fn is_tiny(format: Format, x: f64) -> bool {
    match format {
        Format::F16 => x.abs() < f64::exp2(-14.0),
        Format::F32 => x.abs() < f64::from(f32::MIN_POSITIVE),
        Format::F64 => x.abs() < f64::MIN_POSITIVE,
        // Seen as an f64: well before its own range ends, which only makes more of it named.
        Format::F80 => x == 0.0,
    }
}
