//! The rule as straight-line arithmetic, and the questions that it cannot answer by itself.

use rug::Float;
use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::{Given, Inline};
use shadowgrind_core::ops::{Gradient, InParts, Op, Residual};

use super::by_reals::{PRECISION, difference_of, is_function, is_lost, real, traced};
use super::{
    ErrorShadow, SUSPICIOUS, SUSPICIOUS_LONG, difference_in_parts, doubt_of, functions, is_straight,
};
use crate::chain_rule;
use crate::reals::mpfr::Mpfr;

impl Inline for ErrorShadow {
    /// Sum of what was rounded off and of what the operands' errors make of the result to first order; NaN where that is not to be
    /// had from arithmetic.
    fn rule<K: Arith>(k: &K, op: Op, gradient: &Gradient<K>, given: Given<'_, K::V>) -> K::V {
        if op.is_arithmetic() && !is_straight(op) {
            return k.lit(f64::NAN);
        }
        match op.residual(k, given.x, given.r) {
            Residual::Unknown => k.lit(f64::NAN),
            Residual::Never => chain_rule::derivative(k, gradient, given.shadows),
            Residual::Exact(local) | Residual::Rounded(local) => {
                k.add(local, chain_rule::derivative(k, gradient, given.shadows))
            }
        }
    }

    #[inline(always)]
    fn eval(format: Format, op: Op, given: Given<'_, f64>) -> f64 {
        let k = Host::new(format);
        if functions::is_known(op) {
            let error = functions::error(op, given.x, given.shadows, given.r);
            // What is too small for the format is for others as well.
            let told = error
                .map(|error| (error, k.round(error)))
                .filter(|&(error, told)| error == 0.0 || told != 0.0);
            return told.map_or(f64::NAN, |(_, error)| traced(op, format, error, given.shadows));
        }
        Self::arithmetic(&k, op, given)
            .unwrap_or_else(|| k.round(Self::with_functions(&Host::new(Format::F64), op, given)))
    }

    #[inline(always)]
    fn raises_only_inexact(op: Op) -> bool {
        functions::is_known(op)
    }

    fn eval_slowly(format: Format, op: Op, given: Given<'_, f64>) -> f64 {
        if is_lost(op, given.x, given.shadows) {
            return f64::NAN;
        }
        let operands = given.x.iter().zip(given.shadows);
        let operands: Vec<Float> =
            operands.map(|(&x, &error)| real(format, format.from_f64(x), Some(error))).collect();
        let error = difference_of(&Mpfr::new(PRECISION), op, &operands, (format, format.from_f64(given.r)));
        if is_function(op) && error.is_finite() { traced(op, format, error, given.shadows) } else { error }
    }

    /// A sum whose error is above what is born of few roundings.
    fn suspicion<K: Arith>(k: &K, op: Op, given: Given<'_, K::V>) -> K::V {
        let (r, error) = match (op, given.x, given.shadows) {
            (Op::Add, &[a, b], &[d, e]) => (k.add(a, b), k.add(d, e)),
            (Op::Sub, &[a, b], &[d, e]) => (k.sub(a, b), k.sub(d, e)),
            // Signs do not matter.
            (Op::Fmadd | Op::Fnmsub, &[a, b, c], &[d, e, f]) => (k.fma(a, b, c), k.fma(a, e, k.fma(b, d, f))),
            (Op::Fmsub | Op::Fnmadd, &[a, b, c], &[d, e, f]) => {
                (k.fnma(a, b, c), k.fnma(a, e, k.fnma(b, d, f)))
            }
            _ => return k.lit(f64::NAN),
        };
        let error = k.abs(error);
        k.select(k.lt(error, k.mul(k.abs(r), k.ulps(SUSPICIOUS))), k.lit(0.0), error)
    }

    fn in_parts<K: Arith>(k: &K, op: Op, given: InParts<'_, K::V>) -> K::V {
        op.error_in_parts(k, given).unwrap_or_else(|| k.lit(f64::NAN))
    }

    fn suspicion_in_parts<K: Arith>(k: &K, op: Op, given: InParts<'_, K::V>) -> K::V {
        let (r, error) = match (op, given.x, given.errors) {
            (Op::Add, &[a, b], &[d, e]) => (k.add(k.add(a.high, b.high), k.add(a.low, b.low)), k.add(d, e)),
            (Op::Sub, &[a, b], &[d, e]) => (difference_in_parts(k, a, b), k.sub(d, e)),
            _ => return k.lit(f64::NAN),
        };
        let error = k.abs(error);
        k.select(k.lt(error, k.mul(k.abs(r), k.lit(SUSPICIOUS_LONG))), k.lit(0.0), error)
    }

    fn doubt_in_parts<K: Arith>(k: &K, given: InParts<'_, K::V>) -> K::V {
        let (&[a, b], &[first, second]) = (given.x, given.errors) else { unreachable!("two operands") };
        doubt_of(k, difference_in_parts(k, a, b), k.sub(first, second))
    }

    /// The difference, or that from where another integer begins, has an error of at least half its size.
    fn doubt<K: Arith>(k: &K, op: Op, given: Given<'_, K::V>) -> K::V {
        match (given.x, given.shadows) {
            (&[a, b], &[first, second]) => doubt_of(k, k.sub(a, b), k.sub(first, second)),
            (&[x], &[error]) => doubt_of(k, to_another_integer(k, op, x), error),
            _ => unreachable!("one operand or two"),
        }
    }

    fn arithmetic<K: Arith>(k: &K, op: Op, given: Given<'_, K::V>) -> Option<K::V> {
        let gradient = op.arithmetic_gradient(k, given.x, given.r)?;
        let moved = op.moved(k, given.x, given.shadows, given.r);
        Some(moved.unwrap_or_else(|| Self::rule(k, op, &gradient, given)))
    }
}

/// Distance of x from numbers that `op` rounds to another integer: at integers, or in their middle, where the rounding mode of the
/// moment is to the nearest. Nothing where that is not known, as where there are no fractions.
fn to_another_integer<K: Arith>(k: &K, op: Op, x: K::V) -> K::V {
    let size = k.abs(x);
    // To the nearest integer, or, as the program may round, to one of two.
    let from_one = k.abs(k.sub(size, k.sub(k.add(size, k.whole()), k.whole())));
    let from_other = k.sub(k.lit(1.0), from_one);
    let nearer = k.select(k.lt(from_one, from_other), from_one, from_other);
    let distance = k.select(k.lt(nearer, k.lit(0.0)), k.lit(0.0), nearer);
    match op {
        Op::RoundEven | Op::Round | Op::Rint => k.sub(k.lit(0.5), distance),
        _ => distance,
    }
}
