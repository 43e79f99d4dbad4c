//! Exponentials and logarithms in double-double arithmetic: two tables, and a few terms of a series.
//!
//! Tang, "Table-driven implementation of the exponential function" and "… of the logarithm function" (1989, 1990), with a second table
//! for as many digits again. Relative errors are below 2^-100, those of logarithms and of powers less one near zero included.

use std::f64::consts::LN_2;

use super::super::pair::Pair;
use super::tables::{ALL_STEPS, FIRST, Inverse, STEPS, rest, tables};

/// Largest exponents: no part of a result, or of its inverse, is near the ends of the format's range.
const LARGEST: f64 = 300.0;
const LARGEST_OF_2: f64 = 430.0;

/// eˣ.
#[inline(always)]
pub(super) fn exp(x: Pair) -> Option<Pair> {
    let (k, s) = reduced(x)?;
    Some(power(k, s))
}

/// 2ˣ.
#[inline(always)]
pub(super) fn exp2(x: Pair) -> Option<Pair> {
    if x.high.is_nan() || x.high.abs() > LARGEST_OF_2 {
        return None;
    }
    let k = (x.high * ALL_STEPS).round_ties_even();
    Some(power(k, Pair::sum(x.high - k / ALL_STEPS, x.low).times(tables().ln_2)))
}

/// eˣ − 1 for x ≥ 0, to as many bits of it.
#[inline(always)]
pub(super) fn exp_less_one(x: Pair) -> Option<Pair> {
    const STEPS: i64 = self::STEPS as i64;
    let (k, s) = reduced(x)?;
    let k = (k as i64).max(0);
    let [coarse, fine] = &tables().powers_less_one;
    let both = product_of_sums_less_one(coarse[(k / STEPS % STEPS) as usize], fine[(k % STEPS) as usize]);
    let less_one = product_of_sums_less_one(both, series_less_one(s));
    let n = (k / (STEPS * STEPS)) as i32;
    let doubled = Pair::from(1.0).scaled(n).high;
    Some(Pair::sum(doubled, -1.0).plus(less_one.scaled(n)))
}

/// (1 + a)(1 + b) − 1.
#[inline(always)]
fn product_of_sums_less_one(a: Pair, b: Pair) -> Pair {
    a.plus(b).plus(a.times(b))
}

/// x as a number of steps of ln 2 / 16384 and the rest.
#[inline(always)]
fn reduced(x: Pair) -> Option<(f64, Pair)> {
    if x.high.is_nan() || x.high.abs() > LARGEST {
        return None;
    }
    let k = (x.high * (ALL_STEPS / LN_2)).round_ties_even();
    Some((k, rest(x, k, &tables().step)))
}

/// 2^(k/16384) eˢ for |s| ≤ ln 2 / 32768.
#[inline(always)]
fn power(k: f64, s: Pair) -> Pair {
    const STEPS: i64 = self::STEPS as i64;
    let k = k as i64;
    let [coarse, fine] = &tables().powers;
    let table =
        coarse[(k.div_euclid(STEPS)).rem_euclid(STEPS) as usize].times(fine[k.rem_euclid(STEPS) as usize]);
    // s + s²/2 + …, of which a double has enough digits from the third term on.
    let square = Pair::product(s.high, s.high);
    let tail =
        s.high.mul_add(s.high.mul_add(s.high.mul_add(1.0 / 720.0, 1.0 / 120.0), 1.0 / 24.0), 1.0 / 6.0);
    let low = s.high.mul_add(s.low, 0.5 * square.low);
    let rest = Pair::settled(0.5 * square.high, (square.high * s.high).mul_add(tail, low));
    table.plus_less(table.times(s.plus_less(rest))).scaled(k.div_euclid(STEPS * STEPS) as i32)
}

/// eˢ − 1 for |s| ≤ ln 2 / 32768: with the third term as a double-double.
#[inline(always)]
fn series_less_one(s: Pair) -> Pair {
    const SIXTH: Pair = Pair::inverse(6.0);
    let tail = s.high.mul_add(s.high.mul_add(1.0 / 720.0, 1.0 / 120.0), 1.0 / 24.0);
    let square = s.times(s);
    let third = square.times(s).times(SIXTH);
    let low = (square.high * square.high).mul_add(tail, third.low + 0.5 * square.low);
    s.plus_less(Pair::settled(0.5 * square.high, third.high).plus_low(low))
}

/// ln x for positive x, which is normalised, to as many bits of it.
#[inline(always)]
pub(super) fn log(x: Pair) -> Option<Pair> {
    /// Bits of an exponent, and those below a step's number.
    const EXPONENT: u64 = 0xfff << 52;
    const STEP_AT: u32 = 52 - STEPS.trailing_zeros();
    if !(x.high >= f64::MIN_POSITIVE && x.high.is_finite()) {
        return None;
    }
    let above = x.high.to_bits().wrapping_sub(FIRST);
    let exponent = (above as i64 >> 52) as i32;
    let high = f64::from_bits(x.high.to_bits().wrapping_sub(above & EXPONENT));
    let coarse = &tables().inverses[(above >> STEP_AT) as usize % STEPS];
    let product = Pair::product(high, coarse.inverse);
    let low = Pair::from(x.low).scaled(-exponent).high;
    let rest = Pair::sum(product.high - 1.0, low.mul_add(coarse.inverse, product.low));
    let of_exponent = tables().ln_2.times(Pair::from(f64::from(exponent)));
    Some(of_exponent.plus(coarse.log).plus(log_of_sum(rest)))
}

/// ln(1 + x) for x > −1, to as many bits of it.
#[inline(always)]
pub(super) fn log_one_plus(x: Pair) -> Option<Pair> {
    /// The most that the fine table has.
    const NEAR: f64 = STEPS as f64 / ALL_STEPS;
    if x.high.abs() <= NEAR { Some(log_of_sum(x)) } else { log(x.plus_1().normalised()) }
}

/// ln(1 + x) for |x| ≤ 1/128, to as many bits of it.
#[inline(always)]
fn log_of_sum(x: Pair) -> Pair {
    let j = (x.high * ALL_STEPS).round_ties_even();
    let Inverse { inverse, log } =
        tables().fine_inverses[(j as i64 + STEPS as i64) as usize % (2 * STEPS + 1)];
    let product = Pair::product(x.high, inverse);
    let sum = Pair::sum(product.high, inverse - 1.0);
    log.plus(series_of_log(Pair::sum(sum.high, sum.low + x.low.mul_add(inverse, product.low))))
}

/// ln(1 + s) for |s| ≤ 2^-15: with four terms as double-doubles, of which one is exact.
#[inline(always)]
fn series_of_log(s: Pair) -> Pair {
    const THIRD: Pair = Pair::inverse(3.0);
    let tail = s.high.mul_add(s.high.mul_add(1.0 / 7.0, -1.0 / 6.0), 1.0 / 5.0);
    let square = s.times(s);
    let (third, fourth) = (square.times(s).times(THIRD), square.times(square).scaled(-2));
    let small = Pair::settled(third.high, -fourth.high);
    let lows = third.low - fourth.low - 0.5 * square.low + small.low;
    let low = (s.high * fourth.high).mul_add(4.0 * tail, lows);
    s.plus_less(Pair::settled(-0.5 * square.high, small.high).plus_low(low))
}
