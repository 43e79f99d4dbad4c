//! Errors of the commonest functions of the mathematical library, in double-double arithmetic: the real result at operands and
//! their errors, less the program's own result.
//!
//! Directly for sin, cos, exp, log and their kin; for others from those at the result r: the arcsine of x is r and the arcsine of
//! x cos r − √(1 − x²) sin r, which is small. What is small is the error itself, to second order.
//!
//! Real results are good to 2^-[`GOOD`] of them, powers to as many bits less as their exponents have: tested against MPFR. An
//! error much smaller than a rounding is not told, nor is one near the end of the format's range: there others have to compute.
//! Scaling by powers of two rounds nothing off, and its errors are exact.
//! Nothing here allocates or locks once there are tables: it runs in the midst of translated code. All of it is inlined there, where
//! fused operations are instructions.

mod circular;
mod exponential;
mod gamma;
mod gaussian;
mod scaling;
mod tables;

use shadowgrind_core::ops::Op;

use super::by_reals::is_lost;
use super::pair::Pair;
use circular::sin_cos;
use exponential::{exp, exp_less_one, exp2, log, log_one_plus};
use tables::tables;

/// The functions that are known here.
pub(super) const KNOWN: &[Op] = &[
    Op::Exp,
    Op::Exp2,
    Op::Exp10,
    Op::Expm1,
    Op::Log,
    Op::Log2,
    Op::Log10,
    Op::Log1p,
    Op::Pow,
    Op::Sin,
    Op::Cos,
    Op::Tan,
    Op::Asin,
    Op::Acos,
    Op::Atan,
    Op::Atan2,
    Op::Sinh,
    Op::Cosh,
    Op::Tanh,
    Op::Asinh,
    Op::Acosh,
    Op::Atanh,
    Op::Cbrt,
    Op::Hypot,
    Op::Erf,
    Op::Erfc,
    Op::Lgamma,
    Op::Tgamma,
    Op::Ldexp,
];

/// Set of the same functions, as bits.
const KNOWN_BITS: u128 = {
    let (mut bits, mut n) = (0, 0);
    while n < KNOWN.len() {
        bits |= 1 << KNOWN[n] as u32;
        n += 1;
    }
    bits
};

/// Bits below a result's first to which the real is known, at least.
const GOOD: i32 = 99;
/// Significant bits that an error has at least.
const SIGNIFICANT: i32 = 33;
/// Largest error beside a result of which the second order is all that matters beside the first.
const SMALL: f64 = 1e-6;
/// Range of operands, results, and of terms that are squared.
const RANGE: std::ops::Range<f64> = 1e-280..1e280;
const SQUARED: std::ops::Range<f64> = 1e-120..1e120;

/// A real result, and how many bits less of it are good than of others.
#[derive(Clone, Copy)]
struct Known {
    real: Pair,
    lost: i32,
}

impl Known {
    /// One that is known as well as others are.
    #[inline(always)]
    fn all(real: Pair) -> Known {
        Known { real, lost: 0 }
    }
}

/// Has the tables made, before they are needed where nothing may be allocated.
pub(super) fn prepare() {
    tables();
}

/// Has the tables made that few programs need. Until then `op` is not told, and comes here.
pub(super) fn prepare_rare(op: Op) {
    match op {
        Op::Erf | Op::Erfc => gaussian::prepare(),
        Op::Lgamma | Op::Tgamma => gamma::prepare(),
        _ => {}
    }
}

/// Tells whether a function is [`KNOWN`].
#[inline(always)]
pub(super) const fn is_known(op: Op) -> bool {
    KNOWN_BITS >> op as u32 & 1 != 0
}

/// The error of `r` as the result of `op` on operands `x` with these errors, all numbers of one format; nothing where it is not
/// told.
#[inline(always)]
pub(super) fn error(op: Op, x: &[f64], errors: &[f64], r: f64) -> Option<f64> {
    if let (Op::Ldexp, &[x, n]) = (op, x) {
        return scaling::error(x, n, errors[0], r);
    }
    let operand = |i: usize| {
        let pair = Pair::sum(x[i], errors[i]);
        (pair.high.abs() < RANGE.end).then_some(pair)
    };
    let a = operand(0)?;
    let b = if x.len() > 1 { operand(1)? } else { Pair::from(0.0) };
    if is_lost(op, x, errors) || !RANGE.contains(&r.abs()) {
        return None;
    }
    let (error, lost) = match op {
        Op::Asin | Op::Acos | Op::Atan | Op::Atan2 => (angle(op, a, b, r)?, 0),
        Op::Sinh | Op::Cosh | Op::Tanh | Op::Asinh | Op::Acosh => (hyperbolic(op, a, r)?, 0),
        Op::Cbrt | Op::Hypot => (root(op, a, b, r)?, 0),
        Op::Expm1 if a.high < 0.0 => {
            // e^-a − 1 is −m / (1 + m), for m = eᵃ − 1.
            let m = exp_less_one(a.negated())?;
            (m.negated().less(m.plus_1().times(r.into())) / (1.0 + m.high), 0)
        }
        Op::Tan => {
            let (sin, cos) = sin_cos(a)?;
            (sin.less(cos.times(r.into())) / cos.high, 1)
        }
        Op::Tgamma => gamma::error_of_gamma(a, r)?,
        Op::Erf if let Some(error) = gaussian::error_near_one(a, r) => return Some(error),
        _ => {
            let Known { real, lost } = real(op, a, b)?;
            (real.less(r.into()), lost)
        }
    };
    // Of an error much smaller than a rounding there are not enough bits.
    let least = r.abs() * f64::exp2(f64::from(SIGNIFICANT - GOOD)) * Pair::from(1.0).scaled(lost).high;
    (error.abs() >= least).then_some(error)
}

/// The real result.
#[inline(always)]
fn real(op: Op, a: Pair, b: Pair) -> Option<Known> {
    Some(Known::all(match op {
        Op::Exp => exp(a)?,
        Op::Exp2 => exp2(a)?,
        Op::Exp10 => return power(a.times(tables().ln_10), a.high),
        Op::Pow => return power(log(a)?.times(b), b.high),
        Op::Expm1 => exp_less_one(a)?,
        Op::Log => log(a)?,
        Op::Log2 => log(a)?.times(tables().per_ln_2),
        Op::Log10 => log(a)?.times(tables().per_ln_10),
        Op::Log1p => return Some(Known { real: log_one_plus(a)?, lost: 1 }),
        Op::Atanh => {
            let twice = log_one_plus(a)?.plus(log_one_plus(a.negated())?.negated());
            return Some(Known { real: twice.scaled(-1), lost: 1 });
        }
        Op::Sin => sin_cos(a)?.0,
        Op::Cos => sin_cos(a)?.1,
        Op::Erf => return gaussian::erf(a),
        Op::Erfc => return gaussian::erfc(a),
        Op::Lgamma => return gamma::lgamma(a),
        _ => return None,
    }))
}

/// e to this power, which is known as well as other results are; `exponent` is what the base is raised to.
#[inline(always)]
fn power(x: Pair, exponent: f64) -> Option<Known> {
    Some(Known { real: exp(x)?, lost: bits_above(x.high.abs().max(exponent.abs())) })
}

/// Bits of a number before the point: as many are lost where e is raised to it.
#[inline(always)]
fn bits_above(x: f64) -> i32 {
    exponent(x).max(-1) + 1
}

/// The exponent of a normal number.
#[inline(always)]
fn exponent(x: f64) -> i32 {
    (x.abs().to_bits() >> 52) as i32 - 1023
}

/// The error of an angle r: the sine of what is between it and the direction of (x, y), to the third order.
#[inline(always)]
fn angle(op: Op, a: Pair, b: Pair, r: f64) -> Option<f64> {
    let one = Pair::from(1.0);
    let (y, x) = match op {
        Op::Asin => (a, other_side(a)?),
        Op::Acos => (other_side(a)?, a),
        Op::Atan => (a, one),
        _ => (a, b),
    };
    let is_near_1 = [x.high, y.high].iter().all(|x| x.abs() < SQUARED.end);
    let length = (x.high * x.high + y.high * y.high).sqrt();
    let (sin, cos) = sin_cos(Pair::from(r))?;
    let error = y.products(cos, x.negated(), sin).rounded() / length;
    // Neither half a turn away nor a whole one.
    let is_close = x.high * cos.high + y.high * sin.high > 0.0 && (x.high > 0.0 || y.high * r > 0.0);
    (is_near_1 && is_close && length > SQUARED.start && error.abs() <= SMALL * r.abs()).then_some(error)
}

/// √(1 − a²).
#[inline(always)]
fn other_side(a: Pair) -> Option<Pair> {
    let square = a.plus_1().times(a.negated().plus_1().normalised()).normalised();
    // Not of a negative number even where that is not used: a root of one raises an exception.
    let root = Pair::new(square.high.max(SQUARED.start), square.low).sqrt();
    (square.high > SQUARED.start).then_some(root)
}

/// The error of a hyperbolic function of x, or of the inverse of one, by eˣ − 1 or eʳ − 1.
#[inline(always)]
fn hyperbolic(op: Op, x: Pair, r: f64) -> Option<f64> {
    let is_negative = x.high < 0.0;
    let turns = is_negative && !matches!(op, Op::Cosh | Op::Acosh);
    let (x, r) = (x.negated_if(is_negative), if turns { -r } else { r });
    let is_inverse = matches!(op, Op::Asinh | Op::Acosh);
    let m = match op {
        Op::Tanh => exp_less_one(x.scaled(1))?,
        _ if is_inverse && r < 0.0 => return None,
        _ => exp_less_one(if is_inverse { r.into() } else { x })?,
    };
    let (e, result) = (m.plus_1(), Pair::from(r));
    // Twice eˣ sinh x, which is m (m + 2).
    let twice = m.times(m.plus(2.0.into()));
    let error = match op {
        Op::Sinh => twice.less(e.times(result).scaled(1)) / (2.0 * e.high),
        Op::Cosh => e.times(e).plus_1().less(e.times(result).scaled(1)) / (2.0 * e.high),
        Op::Tanh => m.less(m.plus(2.0.into()).times(result)) / (m.high + 2.0),
        Op::Asinh => {
            let cosh = 0.5 * (e.high + 1.0 / e.high);
            let first = e.times(x).scaled(1).less(twice) / (2.0 * e.high * cosh);
            first - 0.5 * first * first * (twice.high / (2.0 * e.high * cosh))
        }
        _ => {
            // cosh r − 1 is m² / 2eʳ.
            let first = x.plus((-1.0).into()).times(e).scaled(1).less(m.times(m)) / twice.high;
            let cosh = 0.5 * (e.high + 1.0 / e.high);
            first - 0.5 * first * first * (2.0 * e.high * cosh / twice.high)
        }
    };
    let is_told = !is_inverse || error.abs() <= SMALL * r;
    is_told.then_some(if turns { -error } else { error })
}

/// The error of a root, by its power.
#[inline(always)]
fn root(op: Op, a: Pair, b: Pair, r: f64) -> Option<f64> {
    let square = Pair::product(r, r);
    let is_near_1 = |x: f64| SQUARED.contains(&x.abs());
    let error = match op {
        Op::Cbrt => {
            let first = a.less(square.times(r.into())) / (3.0 * square.high);
            is_near_1(r).then_some(first - first * first / r)?
        }
        _ => {
            let first = a.products(a, b, b).less(square) / (2.0 * r);
            [a.high, b.high, r].into_iter().all(is_near_1).then_some(first - first * first / (2.0 * r))?
        }
    };
    (error.abs() <= SMALL * r.abs()).then_some(error)
}

#[cfg(test)]
mod tests;
