//! Errors of results as reals have them: of whatever arithmetic does not tell, out of line. Knows nothing of how reals are diagnosed.

use rug::Float;
use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{LEAST_LEFT, LEAST_LEFT_OF_ROOT, MAX_OPERANDS, Op, Residual};

use super::known::mixed;
use crate::reals::mpfr::Mpfr;
use crate::reals::{convert, range};

/// The smallest positive numbers.
const LEAST: f64 = f64::from_bits(1);
const LEAST_SINGLE: f64 = f32::from_bits(1) as f64;

/// Bits of the reals that operations are computed in out of line.
pub(super) const PRECISION: u32 = 320;

/// Tells whether nothing is known of a result of which the operands have these errors: an angle may be anywhere on the circle if its
/// error is itself off by a good fraction of a turn, and a number that its error cancels may be as near as any to one where the
/// function is not smooth.
#[inline(always)]
pub(super) fn is_lost(op: Op, x: &[f64], errors: &[f64]) -> bool {
    /// Largest error of an angle that has twenty significant bits behind the point.
    const FAR: f64 = 8192.0;
    let is_far = || matches!(op, Op::Sin | Op::Cos | Op::Tan) && errors.iter().any(|error| error.abs() > FAR);
    let least = if op == Op::Sqrt { LEAST_LEFT_OF_ROOT } else { LEAST_LEFT };
    let is_cancelled = |i: usize| {
        let is_with = |left: f64| left.abs() < least * errors[i].abs();
        from_edge(op, i, x[i] + errors[i]).is_some_and(is_with)
    };
    match op {
        Op::Atan2 => is_cancelled(0) && is_cancelled(1),
        _ => is_far() || (0..x.len()).any(is_cancelled),
    }
}

/// Distance of operand `i`, which is `x`, from the next number where the function or one of its derivatives has no value.
#[inline(always)]
fn from_edge(op: Op, i: usize, x: f64) -> Option<f64> {
    match (op, i) {
        (Op::Div, 1) | (Op::Atan2, _) => Some(x),
        (Op::Sqrt | Op::Cbrt | Op::Log | Op::Log2 | Op::Log10 | Op::Pow, 0) => Some(x),
        (Op::Log1p, 0) => Some(1.0 + x),
        (Op::Asin | Op::Acos | Op::Acosh | Op::Atanh, 0) => Some(1.0 - x.abs()),
        (Op::Lgamma | Op::Tgamma, 0) => (x < 0.5).then(|| x - x.round_ties_even()),
        _ => None,
    }
}

/// The result of an operation in the reals: NaN if it is finite, and so large that MPFR cannot hold it.
fn real_of(reals: &Mpfr, op: Op, operands: &[Float]) -> Float {
    let operands: Vec<&Float> = operands.iter().collect();
    reals.rounded.set(false);
    let real = op.real(reals, &operands);
    match range::standing_for(op, &operands, &real, reals.rounded.get()) {
        Some(_) if real.is_infinite() => Float::with_val(PRECISION, f64::NAN),
        Some(tiny) => tiny,
        None => real,
    }
}

/// The error of result `bits` of an operation on these reals. Where it would be less than their precision shows, it is computed to
/// as many bits as there are in the range of doubles, and as many again: a cosine near 1 is off by the square of its angle.
pub(super) fn difference_of(reals: &Mpfr, op: Op, operands: &[Float], (format, bits): (Format, u128)) -> f64 {
    const ALL: u32 = 2200;
    let error = difference(&real_of(reals, op, operands), format, bits);
    if error != 0.0 || !reals.rounded.get() {
        return error;
    }
    difference(&real_of(&Mpfr { precision: ALL, ..reals.clone() }, op, operands), format, bits)
}

/// The error of a function's result, with a trace of its operands' errors, which may be lost in it: not where it is one of theirs,
/// scaled.
#[inline(always)]
pub(super) fn traced(op: Op, format: Format, error: f64, errors: &[f64]) -> f64 {
    if op == Op::Ldexp {
        return error;
    }
    let hash = errors.iter().fold(0, |hash: u64, error| hash.rotate_left(21) ^ error.to_bits());
    let trace = mixed(hash) >> 56;
    let bits = if format == Format::F32 { Format::F32 } else { Format::F64 };
    Host::new(format).traced(error, bits.to_f64(trace.into()))
}

/// Tells whether an operation is one of those whose results always round off more than arithmetic tells.
pub(super) fn is_function(op: Op) -> bool {
    matches!(op.residual(&Host::new(Format::F64), &[0.0; MAX_OPERANDS][..op.arity()], 0.0), Residual::Unknown)
}

/// The real less a result of this format, as an error.
pub(super) fn difference(real: &Float, format: Format, result: u128) -> f64 {
    let result = convert::from_bits(format, result);
    if real.is_nan() && result.is_nan() || *real == result {
        return 0.0;
    }
    let error = Float::with_val(PRECISION, real - &result);
    let rounded = Host::new(format).round(error.to_f64());
    match rounded {
        _ if !error.is_finite() => f64::NAN,
        // Too small for its format, and yet not none: the least that there is, of the same sign.
        0.0 => f64::copysign(least(format), rounded),
        _ => rounded,
    }
}

/// The least positive error beside a float of this format.
pub(super) fn least(format: Format) -> f64 {
    if format == Format::F32 { LEAST_SINGLE } else { LEAST }
}

/// `x` + its error.
pub(super) fn real(format: Format, x: u128, error: Option<f64>) -> Float {
    let x = convert::from_bits(format, x);
    match error {
        Some(error) => Float::with_val(precision_of_sum(&x, error), &x + error),
        None => x,
    }
}

/// The precision that a float has together with its error, which may be far below it: of a large angle that is what matters.
fn precision_of_sum(x: &Float, error: f64) -> u32 {
    let [first, error] = [x.get_exp(), Float::with_val(Format::F64.precision(), error).get_exp()];
    let apart = first.zip(error).map_or(0, |(first, error)| first.saturating_sub(error).max(0));
    PRECISION.max(apart as u32 + Format::F64.precision())
}
