//! The gamma function and its logarithm in double-double arithmetic, of positive numbers.
//!
//! By Stirling's series (DLMF 5.11.1), from [`LARGE`] on; what is smaller is raised to that by Γ(x + 1) = x Γ(x). Its terms are
//! made by MPFR when the first of these functions is evaluated by it.

use std::sync::OnceLock;

use rug::Float;
use rug::float::Constant;

use super::super::pair::Pair;
use super::exponential::{exp, log};
use super::tables::pair;
use super::{Known, bits_above, exponent};

/// Least number for the series: its last term is 2^-110 there.
const LARGE: f64 = 20.0;
/// Range of numbers whose powers are told.
const RANGE: std::ops::Range<f64> = 1e-120..1e120;
/// Terms as double-doubles, and those after them.
const LONG: usize = 5;
const SHORT: usize = 11;
const PRECISION: u32 = 200;
/// Bits by which the series is better than other functions are, at least: two more were still right for 300,000 random numbers each.
const BETTER: i32 = 3;
/// Number of lost bits that stands for all of them.
const MOST_LOST: i32 = 200;

struct Tables {
    /// Bₖ / (k (k − 1)) for k = 2, 4, …
    long: [Pair; LONG],
    short: [f64; SHORT],
    /// ln √(2π).
    offset: Pair,
}

static TABLES: OnceLock<Tables> = OnceLock::new();

/// Has the tables made.
pub(super) fn prepare() {
    TABLES.get_or_init(made_tables);
}

/// ln Γ(x), or nothing where it is not told.
#[inline(always)]
pub(super) fn lgamma(x: Pair) -> Option<Known> {
    let (raised, product) = raised(x)?;
    let large = stirling(raised)?;
    let real = large.plus(log(product.normalised())?.negated());
    // Near 1 and 2 little is left of what it is the difference of.
    let lost = exponent(large.high) - exponent(real.rounded());
    Some(Known { real, lost: lost.clamp(0, MOST_LOST) - BETTER })
}

/// The error of `r` as Γ(x), and how many bits less of the real are good; nothing where it is not told.
#[inline(always)]
pub(super) fn error_of_gamma(x: Pair, r: f64) -> Option<(f64, i32)> {
    let (raised, product) = raised(x)?;
    let large = stirling(raised)?.normalised();
    let power = exp(large)?;
    Some((power.less(product.times(r.into())) / product.high, bits_above(large.high) - BETTER))
}

/// x + n from [`LARGE`] on, and the product of x to x + n − 1, by which its gamma function is larger.
#[inline(always)]
fn raised(x: Pair) -> Option<(Pair, Pair)> {
    RANGE.contains(&x.high).then_some(())?;
    let (mut raised, mut product) = (x, Pair::from(1.0));
    while raised.high < LARGE {
        product = product.times(raised);
        raised = raised.plus_1().normalised();
    }
    Some((raised, product))
}

/// ln Γ(x) by Stirling's series: (x − ½) ln x − x + ln √(2π) + Σ Bₖ / (k (k − 1) xᵏ⁻¹).
#[inline(always)]
fn stirling(x: Pair) -> Option<Pair> {
    let Tables { long, short, offset } = TABLES.get()?;
    let inverse = inverse(x);
    let square = inverse.times(inverse);
    let last = short.iter().rev().fold(0.0, |sum: f64, &term| sum.mul_add(square.high, term));
    let series = long.iter().rev().fold(Pair::from(last), |sum, &term| term.plus(sum.times(square)));
    let main = log(x)?.times(x.plus(Pair::from(-0.5))).plus(x.negated());
    Some(main.plus(*offset).plus(series.times(inverse)))
}

/// 1/x, by one step of Newton's method.
#[inline(always)]
fn inverse(x: Pair) -> Pair {
    let first = 1.0 / x.high;
    let rest = first.mul_add(-x.high, 1.0) - first * x.low;
    Pair::settled(first, first * rest)
}

#[cold]
fn made_tables() -> Tables {
    let term = |n: usize| term(2 * (n as u32 + 1));
    let two_pi = Float::with_val(PRECISION, Constant::Pi) * 2_u32;
    Tables {
        long: std::array::from_fn(|n| pair(&term(n))),
        short: std::array::from_fn(|n| term(LONG + n).to_f64()),
        offset: pair(&(two_pi.ln() / 2_u32)),
    }
}

/// Bₖ / (k (k − 1)) of an even k, by |Bₖ| = 2 k! ζ(k) / (2π)ᵏ (DLMF 25.6.2).
fn term(k: u32) -> Float {
    let two_pi = Float::with_val(PRECISION, Constant::Pi) * 2_u32;
    let mut size = 2_u32 * Float::with_val(PRECISION, k).zeta();
    (1..=k).for_each(|n| size *= Float::with_val(PRECISION, n / &two_pi));
    let size = size / (k * (k - 1));
    if k.is_multiple_of(4) { -size } else { size }
}
