//! The error function and its complement in double-double arithmetic.
//!
//! Near zero by the series of erf; elsewhere erfc x is e^(−x²) w(x), whose second factor changes slowly: it has Taylor series around
//! numbers that are an eighth to a sixteenth of a half apart of each power of two. From w' = 2xw − 2/√π follows
//! (n + 1) tₙ₊₁ = 2c tₙ + 2 tₙ₋₁ for the terms around c (DLMF 7.10.2). The terms are made by MPFR, when the first of these functions is
//! evaluated by it: not before anything needs them, and not where nothing may be allocated.

use std::sync::OnceLock;

use rug::Float;
use rug::float::Constant;

use super::super::pair::Pair;
use super::exponential::exp;
use super::tables::pair;
use super::{Known, bits_above};

/// End of the series around zero, and beginning of the others.
const NEAR: f64 = 0.5;
/// Numbers around which there are series, for each power of two.
const STEPS: usize = 16;
/// Powers of two from [`NEAR`] on that there are series for. Beyond, e^(−x²) is not told.
const POWERS: usize = 6;
/// Terms as double-doubles, and those after them as doubles, of the series around zero and of the others.
const NEAR_TERMS: [usize; 2] = [13, 11];
const TERMS: [usize; 2] = [12, 12];
/// Bits in which terms are made: each loses some ten of them.
const PRECISION: u32 = 420;
/// Least argument of which the square is a normal number.
const LEAST: f64 = 1e-120;

/// A power series, the first terms of which are double-doubles.
#[derive(Clone, Copy)]
struct Series<const LONG: usize, const SHORT: usize> {
    long: [Pair; LONG],
    short: [f64; SHORT],
}

struct Tables {
    /// erf(x) / x by x².
    near: Series<{ NEAR_TERMS[0] }, { NEAR_TERMS[1] }>,
    /// w around the middle of each step.
    around: [Series<{ TERMS[0] }, { TERMS[1] }>; STEPS * POWERS],
}

static TABLES: OnceLock<Tables> = OnceLock::new();

/// Has the tables made.
pub(super) fn prepare() {
    TABLES.get_or_init(made_tables);
}

/// erf x, or nothing where it is not told.
#[inline(always)]
pub(super) fn erf(x: Pair) -> Option<Known> {
    let is_negative = x.high < 0.0;
    let size = x.negated_if(is_negative);
    let real =
        if size.high < NEAR { Known::all(near(size)?) } else { Known::all(tail(size)?.real.one_less()) };
    Some(Known { real: real.real.negated_if(is_negative), ..real })
}

/// 1 − erf x, or nothing where it is not told.
#[inline(always)]
pub(super) fn erfc(x: Pair) -> Option<Known> {
    if x.high >= NEAR {
        return tail(x);
    }
    Some(Known::all(erf(x)?.real.one_less()))
}

/// Error of r as erf x of an x that is so large that r is ±1: less than the real's own digits tell.
#[inline(always)]
pub(super) fn error_near_one(x: Pair, r: f64) -> Option<f64> {
    /// Number from which on erfc is below a millionth of an ulp of 1.
    const FAR: f64 = 6.5;
    let is_negative = x.high < 0.0;
    let size = x.negated_if(is_negative);
    if !(size.high > FAR && r.abs() == 1.0 && (r < 0.0) == is_negative) {
        return None;
    }
    let rest = tail(size)?.real.rounded();
    Some(if is_negative { rest } else { -rest })
}

/// erf x for x from 0 to [`NEAR`].
#[inline(always)]
fn near(x: Pair) -> Option<Pair> {
    // Not squared before that is known: an underflow would be an exception.
    (x.high > LEAST).then_some(())?;
    Some(TABLES.get()?.near.at(x.times(x)).times(x))
}

/// erfc x for x from [`NEAR`] on.
#[inline(always)]
fn tail(x: Pair) -> Option<Known> {
    const STEP_AT: u32 = 52 - STEPS.trailing_zeros();
    let step = (x.high.to_bits().wrapping_sub(NEAR.to_bits()) >> STEP_AT) as usize;
    let series = TABLES.get()?.around.get(step)?;
    let from = Pair::sum(x.high - middle(step), x.low);
    let square = x.times(x).normalised();
    let real = exp(square.negated())?.times(series.at(from));
    Some(Known { real, lost: bits_above(square.high) })
}

/// The middle of a step.
#[inline(always)]
fn middle(step: usize) -> f64 {
    let power = f64::from_bits(NEAR.to_bits() + (((step / STEPS) as u64) << 52));
    power * (1.0 + ((step % STEPS) as f64 + 0.5) / STEPS as f64)
}

impl<const LONG: usize, const SHORT: usize> Series<LONG, SHORT> {
    fn of(terms: &[Float]) -> Self {
        Series {
            long: std::array::from_fn(|n| pair(&terms[n])),
            short: std::array::from_fn(|n| terms[LONG + n].to_f64()),
        }
    }

    /// The sum at x, by Horner's scheme: each term is smaller than the one before.
    #[inline(always)]
    fn at(&self, x: Pair) -> Pair {
        let short = self.short.iter().rev().fold(0.0, |sum: f64, &term| sum.mul_add(x.high, term));
        let (first, rest) = self.long.split_first().expect("a series has terms");
        let sum = rest.iter().rev().fold(Pair::from(short), |sum, &term| term.plus_less(sum.times(x)));
        first.plus_less(sum.times(x))
    }
}

#[cold]
fn made_tables() -> Tables {
    let pi = Float::with_val(PRECISION, Constant::Pi);
    let slope = 2.0 / pi.sqrt();
    Tables {
        near: Series::of(&terms_near_zero(&slope)),
        around: std::array::from_fn(|step| Series::of(&terms_around(middle(step), &slope))),
    }
}

/// Terms of erf(x) / x by x²: 2/√π · (−1)ⁿ / (n! (2n + 1)) (DLMF 7.6.1).
fn terms_near_zero(slope: &Float) -> Vec<Float> {
    let mut power = slope.clone();
    (0..NEAR_TERMS.iter().sum::<usize>())
        .map(|n| {
            if n > 0 {
                power /= -(n as f64);
            }
            Float::with_val(PRECISION, &power / (2 * n + 1))
        })
        .collect()
}

/// Terms of w around c.
fn terms_around(c: f64, slope: &Float) -> Vec<Float> {
    let number = |x: f64| Float::with_val(PRECISION, x);
    let first = number(c).erfc() * (number(c) * c).exp();
    let second = number(2.0 * c) * &first - slope;
    let mut terms = vec![first, second];
    for n in 1..TERMS.iter().sum::<usize>() - 1 {
        let next = (number(2.0 * c) * &terms[n] + number(2.0) * &terms[n - 1]) / (n + 1);
        terms.push(next);
    }
    terms
}
