//! Constants and tables of functions in double-double arithmetic, made by MPFR. Knows nothing of what is computed with them.

use std::sync::OnceLock;

use rug::Float;
use rug::float::Constant;

use super::super::pair::Pair;

/// Number of steps of a table, of powers of 2^(1/128) or of angles of π/256, and of a fine table, which together make one
/// such step.
pub(super) const STEPS: usize = 128;
/// Steps of both tables.
pub(super) const ALL_STEPS: f64 = (STEPS * STEPS) as f64;
/// First bits of the numbers from which logarithms of significands are counted: 11/16, so that 1 is where a step begins.
pub(super) const FIRST: u64 = 0x3fe6 << 48;

/// Constants and tables.
pub(super) struct Tables {
    /// 2^(j/128), and 2^(j/16384).
    pub(super) powers: [[Pair; STEPS]; 2],
    /// 2^(j/128), and 2^(j/16384), less one.
    pub(super) powers_less_one: [[Pair; STEPS]; 2],
    /// sin(jπ/256); the cosines are the same from the other end.
    pub(super) sines: [Pair; STEPS + 1],
    /// The sine and cosine of jπ/32768, up to half a coarse step.
    pub(super) fine: [[Pair; 2]; STEPS / 2 + 1],
    /// Inverses of numbers in the steps from 11/16 to 11/8, and of those around 1.
    pub(super) inverses: [Inverse; STEPS],
    pub(super) fine_inverses: [Inverse; 2 * STEPS + 1],
    /// ln 2 / 16384 and π/32768 in parts.
    pub(super) step: [f64; 3],
    pub(super) angle: [f64; 3],
    pub(super) ln_2: Pair,
    pub(super) ln_10: Pair,
    /// 1 / ln 2, 1 / ln 10.
    pub(super) per_ln_2: Pair,
    pub(super) per_ln_10: Pair,
}

/// Number close to the inverse of another, and minus its logarithm.
#[derive(Clone, Copy)]
pub(super) struct Inverse {
    pub(super) inverse: f64,
    pub(super) log: Pair,
}

#[inline(always)]
pub(super) fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(made_tables)
}

const PRECISION: u32 = 256;

fn number(x: f64) -> Float {
    Float::with_val(PRECISION, x)
}

#[cold]
fn made_tables() -> Tables {
    let (pi, ln_2) = (Float::with_val(PRECISION, Constant::Pi), Float::with_val(PRECISION, Constant::Log2));
    let ln_10 = number(10.0).ln();
    let exponent = |j: usize, steps: f64| number(j as f64) / steps;
    let angle = |j: usize, steps: f64| Float::with_val(PRECISION, &pi * number(j as f64)) / (2.0 * steps);
    let (coarse, fine) = (STEPS as f64, ALL_STEPS);
    let less_one = |j, steps| pair(&(Float::with_val(PRECISION, exponent(j, steps) * &ln_2).exp_m1()));
    Tables {
        powers: [coarse, fine].map(|steps| std::array::from_fn(|j| pair(&exponent(j, steps).exp2()))),
        powers_less_one: [coarse, fine].map(|steps| std::array::from_fn(|j| less_one(j, steps))),
        sines: std::array::from_fn(|j| pair(&angle(j, coarse).sin())),
        fine: std::array::from_fn(|j| [pair(&angle(j, fine).sin()), pair(&angle(j, fine).cos())]),
        inverses: std::array::from_fn(inverse),
        fine_inverses: std::array::from_fn(|j| Inverse::of(1.0 + (j as f64 - coarse) / fine)),
        step: parts(Float::with_val(PRECISION, &ln_2 / fine)),
        angle: parts(angle(1, fine)),
        per_ln_2: pair(&ln_2.clone().recip()),
        per_ln_10: pair(&ln_10.clone().recip()),
        ln_2: pair(&ln_2),
        ln_10: pair(&ln_10),
    }
}

/// The inverse for step `j`: that of its middle, and 1 beside 1, where logarithms are small and all of their digits are needed.
fn inverse(j: usize) -> Inverse {
    const BELOW_1: usize = 80;
    let (begin, width) = if j < BELOW_1 {
        (11.0 / 16.0 + j as f64 / 256.0, 1.0 / 256.0)
    } else {
        (1.0 + (j - BELOW_1) as f64 / 128.0, 1.0 / 128.0)
    };
    Inverse::of(if j == BELOW_1 || j + 1 == BELOW_1 { 1.0 } else { begin + width / 2.0 })
}

impl Inverse {
    fn of(x: f64) -> Inverse {
        let inverse = 1.0 / x;
        Inverse { inverse, log: pair(&-number(inverse).ln()) }
    }
}

pub(super) fn pair(x: &Float) -> Pair {
    let high = x.to_f64();
    Pair::new(high, Float::with_val(x.prec(), x - high).to_f64())
}

/// The number as a sum of three.
fn parts(mut x: Float) -> [f64; 3] {
    std::array::from_fn(|_| {
        let part = x.to_f64();
        x -= part;
        part
    })
}

/// x − k steps, which are the sum of `step`'s parts, and of which k is the nearest integer of the quotient: good to some 2^-100 of a
/// step where x is known so well.
#[inline(always)]
pub(super) fn rest(x: Pair, k: f64, step: &[f64; 3]) -> Pair {
    // Exact: both terms are multiples of the last bit of the first part, and their difference is below 2^53 of these.
    let high = k.mul_add(-step[0], x.high);
    let second = Pair::product(k, step[1]);
    let sum = Pair::sum(high, -second.high);
    // What is beside a small rest may be large.
    Pair::sum(sum.high, sum.low + (x.low - k.mul_add(step[2], second.low)))
}
