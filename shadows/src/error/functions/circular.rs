//! Sines and cosines in double-double arithmetic: two tables of angles (Gal, "Computing elementary functions", 1986, of one), and a
//! few terms of a series. Relative errors are below 2^-100.

use std::f64::consts::PI;

use super::super::pair::Pair;
use super::tables::{ALL_STEPS, STEPS, rest, tables};

/// Largest argument.
const FAR: f64 = 131072.0;
/// Smallest distance of an argument from a multiple of π/2, other than zero, of which the sine is told.
const NEAR: f64 = 1e-6;

/// The sine and cosine of x; nothing where one of them is so small that it is not known well.
#[inline(always)]
pub(super) fn sin_cos(x: Pair) -> Option<(Pair, Pair)> {
    const STEPS: i64 = self::STEPS as i64;
    if x.high.is_nan() || x.high.abs() > FAR {
        return None;
    }
    let tables = tables();
    // Of the size alone, so that sines of small angles are no differences.
    let is_negative = x.high < 0.0;
    let x = x.negated_if(is_negative);
    let k = (x.high * (2.0 * ALL_STEPS / PI)).round_ties_even();
    let s = rest(x, k, &tables.angle);
    let k = k as i64;
    if k != 0 && k % (STEPS * STEPS) == 0 && s.high.abs() < NEAR {
        return None;
    }
    // The nearest coarse step, so that sines near half a turn are no differences of larger ones.
    let coarse = (k + STEPS / 2) / STEPS;
    let fine = k - coarse * STEPS;
    let (j, quadrant) = ((coarse % STEPS) as usize, coarse / STEPS);
    let is_odd = quadrant & 1 != 0;
    let [sin, cos] =
        if is_odd { [self::STEPS - j, j] } else { [j, self::STEPS - j] }.map(|j| tables.sines[j]);
    let coarse = (sin.negated_if(quadrant & 2 != 0), cos.negated_if((quadrant + 1) & 2 != 0));
    let [sin, cos] = tables.fine[fine.unsigned_abs() as usize % tables.fine.len()];
    let (sin, cos) = turned(coarse, (sin.negated_if(fine < 0), cos));
    let (small, less) = (sine(s), cosine_less_one(s));
    let (sin, cos) =
        (sin.plus(sin.products(less, cos, small)), cos.plus(cos.products(less, sin.negated(), small)));
    Some((sin.negated_if(is_negative), cos))
}

/// The sine and cosine of the sum of two angles, by those of each.
#[inline(always)]
fn turned((sin, cos): (Pair, Pair), (other_sin, other_cos): (Pair, Pair)) -> (Pair, Pair) {
    (sin.products(other_cos, cos, other_sin), cos.products(other_cos, sin.negated(), other_sin))
}

/// The sine of |s| ≤ π/65536.
#[inline(always)]
fn sine(s: Pair) -> Pair {
    const SIXTH: Pair = Pair::inverse(-6.0);
    let square = Pair::product(s.high, s.high);
    let cube = Pair::product(square.high, s.high);
    let low = s.high.mul_add(square.low, cube.low) + 3.0 * square.high * s.low;
    let third = Pair::new(cube.high, low).times(SIXTH);
    let fifth = square.high * cube.high * (1.0 / 120.0 - square.high * (1.0 / 5040.0));
    s.plus_less(Pair::settled(third.high, third.low + fifth))
}

/// The cosine of |s| ≤ π/65536, less one.
#[inline(always)]
fn cosine_less_one(s: Pair) -> Pair {
    let square = Pair::product(s.high, s.high);
    let low = s.high.mul_add(s.low, 0.5 * square.low);
    let fourth = square.high * square.high * (1.0 / 24.0 - square.high * (1.0 / 720.0));
    Pair::settled(-0.5 * square.high, fourth - low)
}
