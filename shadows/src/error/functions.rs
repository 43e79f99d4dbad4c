//! Errors of the commonest functions of the mathematical library, in double-double arithmetic: the real result at operands and
//! their errors, less the program's own result.
//!
//! Directly for sin, cos, exp and its kin; for their inverses from those at the result r, by one step of Newton's method: log x − r is
//! d − d²/2 for d = x e⁻ʳ − 1. Reduction by two tables of 128 steps each (Gal, "Computing elementary functions", 1986, of one), then a few
//! terms of Taylor's series, of which the first are double-doubles (Hida, Li, Bailey, "Library for double-double and quad-double
//! arithmetic", 2000).
//!
//! Real results are good to 2^-[`GOOD`] of them, powers to as many bits less as their exponents have: tested against MPFR. An
//! error much smaller than a rounding is not told, nor is one near the end of the format's range: there others have to compute.
//! Nothing here allocates or locks once there are tables: it runs in the midst of translated code. All of it is inlined there, where
//! fused operations are instructions.

use std::f64::consts::{LN_2, LN_10, PI};
use std::sync::OnceLock;

use rug::Float;
use rug::float::Constant;
use shadowgrind_core::ops::Op;

use super::by_reals::is_lost;
use super::pair::Pair;

/// The functions that are known here.
pub(super) const KNOWN: &[Op] = &[
    Op::Exp,
    Op::Exp2,
    Op::Log,
    Op::Log2,
    Op::Log10,
    Op::Pow,
    Op::Sin,
    Op::Cos,
    Op::Tan,
    Op::Atan,
    Op::Cbrt,
    Op::Hypot,
];

/// Bits below a result's first to which the real is known, at least.
const GOOD: i32 = 95;
/// Significant bits that an error has at least.
const SIGNIFICANT: i32 = 33;

/// Number of steps of a table, of powers of 2^(1/128) or of angles of π/256, and of a fine table, which together make one
/// such step.
const STEPS: usize = 128;
/// Steps of both tables.
const ALL_STEPS: f64 = (STEPS * STEPS) as f64;
/// Bits of the first parts of a constant that is taken off many times: their products with less than 2^24, and 2^31, are exact.
const PART: u32 = 28;
const ANGLE_PART: u32 = 22;
/// Largest argument of circular functions.
const FAR: f64 = 131072.0;
/// Smallest distance of an argument from a multiple of π/2 of which the sine is told.
const NEAR: f64 = 1e-6;
/// Smallest size of a logarithm or angle that is told.
const SMALL: f64 = 0.125;
/// Range of results.
const RANGE: std::ops::Range<f64> = 1e-280..1e280;

/// Constants and tables.
struct Tables {
    /// 2^(j/128), and 2^(j/16384).
    powers: [[Pair; STEPS]; 2],
    /// sin(jπ/256); the cosines are the same from the other end.
    sines: [Pair; STEPS + 1],
    /// The sine and cosine of jπ/32768.
    fine: [[Pair; 2]; STEPS],
    /// ln 2 / 16384 and π/32768 in parts.
    step: [f64; 4],
    angle: [f64; 5],
    /// ln 2, ln 10.
    ln_2: Pair,
    ln_10: Pair,
}

/// Has the tables made, before they are needed where nothing may be allocated.
pub(super) fn prepare() {
    tables();
}

#[inline(always)]
fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(made_tables)
}

#[cold]
fn made_tables() -> Tables {
    const PRECISION: u32 = 256;
    let number = |x: f64| Float::with_val(PRECISION, x);
    let (pi, ln_2) = (Float::with_val(PRECISION, Constant::Pi), Float::with_val(PRECISION, Constant::Log2));
    let power = |j: usize, steps: f64| pair(&Float::with_val(PRECISION, number(j as f64) / steps).exp2());
    let angle = |j: usize, steps: f64| Float::with_val(PRECISION, &pi * number(j as f64)) / (2.0 * steps);
    let (coarse, fine) = (STEPS as f64, ALL_STEPS);
    Tables {
        powers: [coarse, fine].map(|steps| std::array::from_fn(|j| power(j, steps))),
        sines: std::array::from_fn(|j| pair(&angle(j, coarse).sin())),
        fine: std::array::from_fn(|j| [pair(&angle(j, fine).sin()), pair(&angle(j, fine).cos())]),
        step: parts(PART, Float::with_val(PRECISION, &ln_2 / fine)),
        angle: parts(ANGLE_PART, angle(1, fine)),
        ln_2: pair(&ln_2),
        ln_10: pair(&number(10.0).ln()),
    }
}

fn pair(x: &Float) -> Pair {
    let high = x.to_f64();
    Pair::new(high, Float::with_val(x.prec(), x - high).to_f64())
}

/// The number as a sum of parts of so many bits, and the rest.
fn parts<const N: usize>(bits: u32, mut x: Float) -> [f64; N] {
    std::array::from_fn(|n| {
        let part = Float::with_val(if n + 1 < N { bits } else { f64::MANTISSA_DIGITS }, &x).to_f64();
        x -= part;
        part
    })
}

/// The error of `r` as the result of `op` on operands `x` with these errors, all numbers of one format; nothing where it is not
/// told.
#[inline(always)]
pub(super) fn error(op: Op, x: &[f64], errors: &[f64], r: f64) -> Option<f64> {
    let operand = |i: usize| {
        let pair = Pair::sum(x[i], errors[i]);
        (pair.high.abs() < RANGE.end).then_some(pair)
    };
    let a = operand(0)?;
    if is_lost(op, errors) || !RANGE.contains(&r.abs()) {
        return None;
    }
    let result = Pair::from(r);
    let error = match op {
        Op::Exp => exp(a)?.less(result),
        Op::Exp2 => exp2(a)?.less(result),
        Op::Log => logarithm(a, r, exp(result)?)?,
        Op::Log2 => logarithm(a, r, exp2(result)?)? / LN_2,
        Op::Log10 => logarithm(a, r, exp(tables().ln_10.times(result))?)? / LN_10,
        Op::Pow => return pow(a, operand(1)?, r),
        Op::Sin => sin_cos(a)?.0.less(result),
        Op::Cos => sin_cos(a)?.1.less(result),
        Op::Tan => {
            let (sin, cos) = sin_cos(a)?;
            sin.less(cos.times(result)) / cos.high
        }
        Op::Atan if r.abs() >= SMALL => {
            // The angle between the directions of (1, x) and of r.
            let (sin, cos) = sin_cos(result)?;
            a.times(cos).less(sin) / (cos.high + a.high * sin.high)
        }
        Op::Cbrt => {
            let square = Pair::product(r, r);
            a.less(square.times(result)) / (3.0 * square.high)
        }
        Op::Hypot => {
            let b = operand(1)?;
            let is_near_1 = [a.high, b.high, r].iter().all(|x| (1e-120..1e120).contains(&x.abs()));
            let squares = a.times(a).plus(b.times(b));
            is_near_1.then(|| squares.less(Pair::product(r, r)) / (2.0 * r))?
        }
        _ => return None,
    };
    let is_step = matches!(op, Op::Log | Op::Log2 | Op::Log10 | Op::Atan | Op::Cbrt | Op::Hypot);
    // Newton's step has an error of its own, of the order of the error's square.
    let most = if is_step { r.abs() * 1e-10 } else { f64::MAX };
    settled(error, r, GOOD).filter(|error| error.abs() <= most)
}

/// The error of `r`, if enough of its bits are known: the real is known to `good` bits.
#[inline(always)]
fn settled(error: f64, r: f64, good: i32) -> Option<f64> {
    let least = Pair::from(r.abs()).scaled(SIGNIFICANT - good).high;
    (error.abs() >= least).then_some(error)
}

/// ln (x / `power`), where `power` is the logarithm's base to the power of its result `r`; nothing where `r` is small beside its error bound.
#[inline(always)]
fn logarithm(x: Pair, r: f64, power: Pair) -> Option<f64> {
    newton(x, power).filter(|_| r.abs() >= SMALL)
}

/// ln (x / `power`) where both are close.
#[inline(always)]
fn newton(x: Pair, power: Pair) -> Option<f64> {
    let d = x.less(power) / power.high;
    (x.high > 0.0).then_some(d - 0.5 * d * d)
}

/// ln x.
#[inline(always)]
fn log(x: Pair) -> Option<Pair> {
    let near = libm::log(x.high);
    let rest = newton(x, exp(Pair::from(near))?)?;
    Some(Pair::sum(near, rest))
}

/// The error of `r` as xʸ for positive x.
#[inline(always)]
fn pow(x: Pair, y: Pair, r: f64) -> Option<f64> {
    if !RANGE.contains(&x.high) {
        return None;
    }
    let exponent = log(x)?.times(y);
    let lost = libm::ilogb(y.high.abs().max(exponent.high.abs()).max(0.5)) + 1;
    settled(exp(exponent)?.less(Pair::from(r)), r, GOOD - lost)
}

/// eˣ.
#[inline(always)]
fn exp(x: Pair) -> Option<Pair> {
    if x.high.is_nan() || x.high.abs() > 700.0 {
        return None;
    }
    let k = (x.high * (ALL_STEPS / LN_2)).round_ties_even();
    Some(power(k, reduced(x, k, &tables().step)))
}

/// 2ˣ.
#[inline(always)]
fn exp2(x: Pair) -> Option<Pair> {
    if x.high.is_nan() || x.high.abs() > 1000.0 {
        return None;
    }
    let k = (x.high * ALL_STEPS).round_ties_even();
    Some(power(k, Pair::sum(x.high - k / ALL_STEPS, x.low).times(tables().ln_2)))
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
    let tail = 1.0 / 720.0;
    let tail = s.high.mul_add(s.high.mul_add(s.high.mul_add(tail, 1.0 / 120.0), 1.0 / 24.0), 1.0 / 6.0);
    let low = s.high.mul_add(s.low, 0.5 * square.low);
    let rest = Pair::settled(0.5 * square.high, (square.high * s.high).mul_add(tail, low));
    let sum = s.plus_less(rest);
    table.plus_less(table.times(sum)).scaled(k.div_euclid(STEPS * STEPS) as i32)
}

/// x − k · the sum of `parts`, of which k is the nearest integer of the quotient.
#[inline(always)]
fn reduced<const N: usize>(x: Pair, k: f64, parts: &[f64; N]) -> Pair {
    // Exact: the product, and the difference of two numbers that are close (Sterbenz, Floating-Point Computation, 1974).
    let (mut high, mut low) = (x.high - k * parts[0], x.low - k * parts[N - 1]);
    for part in &parts[1..N - 1] {
        let sum = Pair::sum(high, -k * part);
        (high, low) = (sum.high, low + sum.low);
    }
    Pair::sum(high, low)
}

/// The sine and cosine of x; nothing where one of them is so small that it is not known well.
#[inline(always)]
fn sin_cos(x: Pair) -> Option<(Pair, Pair)> {
    const STEPS: i64 = self::STEPS as i64;
    if x.high.is_nan() || x.high.abs() > FAR {
        return None;
    }
    let tables = tables();
    let k = (x.high * (2.0 * ALL_STEPS / PI)).round_ties_even();
    let s = reduced(x, k, &tables.angle);
    let k = k as i64;
    if k.rem_euclid(STEPS * STEPS) == 0 && s.high.abs() < NEAR {
        return None;
    }
    let j = k.div_euclid(STEPS).rem_euclid(STEPS) as usize;
    let (sin, cos) = (tables.sines[j], tables.sines[self::STEPS - j]);
    let coarse = match k.div_euclid(STEPS * STEPS).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, sin.negated()),
        2 => (sin.negated(), cos.negated()),
        _ => (cos.negated(), sin),
    };
    let [sin, cos] = tables.fine[k.rem_euclid(STEPS) as usize];
    let (sin, cos) = turned(coarse, (sin, cos));
    let (small, less) = (sine(s), cosine_less_one(s));
    let sum = |a: Pair, b: Pair| a.plus(b);
    Some((
        sum(sin, sin.times(less).plus(cos.times(small))),
        sum(cos, cos.times(less).plus(sin.times(small).negated())),
    ))
}

/// The sine and cosine of the sum of two angles, by those of each.
#[inline(always)]
fn turned((sin, cos): (Pair, Pair), (other_sin, other_cos): (Pair, Pair)) -> (Pair, Pair) {
    (
        sin.times(other_cos).plus(cos.times(other_sin)),
        cos.times(other_cos).plus(sin.times(other_sin).negated()),
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reals::mpfr::Mpfr;
    use shadowgrind_core::ops::MAX_OPERANDS;

    /// Numbers of a linear congruence (Knuth, TAOCP 2, 3.3.4), from 0 to 1.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The error of `r` by MPFR.
    fn by_reals(op: Op, x: &[f64], errors: &[f64], r: f64) -> Float {
        let operands: Vec<Float> =
            x.iter().zip(errors).map(|(&x, &error)| Float::with_val(400, x) + error).collect();
        op.real(&Mpfr::new(400), &operands.iter().collect::<Vec<_>>()) - r
    }

    /// Arguments of a function: the sign, and the range of the logarithm of the size, of each.
    fn arguments(op: Op) -> [(bool, f64, f64); 2] {
        match op {
            Op::Exp | Op::Exp2 => [(true, -12.0, 2.8), (true, 0.0, 1.0)],
            Op::Pow => [(false, -3.0, 3.0), (true, -2.0, 1.9)],
            Op::Sin | Op::Cos | Op::Tan => [(true, -5.0, 5.1), (true, 0.0, 1.0)],
            Op::Log | Op::Log2 | Op::Log10 => [(false, -30.0, 30.0), (true, 0.0, 1.0)],
            Op::Atan => [(true, -0.8, 5.0), (true, 0.0, 1.0)],
            _ => [(true, -5.0, 5.0), (true, -5.0, 5.0)],
        }
    }

    /// Errors that are told are right to [`SIGNIFICANT`] bits, with errors of operands and without, for results off by an ulp and by more;
    /// and most are told.
    #[test]
    fn errors_are_those_of_reals() {
        let mut state = 1;
        for &op in KNOWN {
            let (mut told, count) = (0, 4000);
            for n in 0..count {
                let mut x = [0.0; MAX_OPERANDS];
                for (x, (is_signed, from, to)) in x.iter_mut().zip(arguments(op)) {
                    let size = 10_f64.powf(from + (to - from) * random(&mut state));
                    *x = if is_signed && random(&mut state) < 0.5 { -size } else { size };
                }
                let relative = [0.0, 1e-17, 1e-15, 1e-12][n % 4];
                let errors = x.map(|x| x * relative * random(&mut state));
                let arity = op.arity();
                let exact = by_reals(op, &x[..arity], &[0.0; MAX_OPERANDS][..arity], 0.0).to_f64();
                let r = exact * (1.0 + [0.0, 1.1e-16, -2.3e-16, 1e-13][n / 4 % 4]);
                let Some(error) = error(op, &x[..arity], &errors[..arity], r) else { continue };
                told += 1;
                let want = by_reals(op, &x[..arity], &errors[..arity], r);
                let off = (Float::with_val(400, &want - error) / &want).to_f64().abs();
                let bound = f64::exp2(-f64::from(SIGNIFICANT));
                assert!(off < bound, "{} {x:?} {errors:?}: {error}, not {want}: off by {off}", op.name());
            }
            assert!(told * 10 > count * 7, "{}: {told} of {count} told", op.name());
        }
    }

    /// Exact results, infinite ones and NaN are for others.
    #[test]
    fn nothing_is_said_of_exact_results() {
        for (op, x, r) in [
            (Op::Exp, 0.0, 1.0),
            (Op::Log, 1.0, 0.0),
            (Op::Exp2, 3.0, 8.0),
            (Op::Log2, 8.0, 3.0),
            (Op::Cbrt, 27.0, 3.0),
            (Op::Cos, 0.0, 1.0),
            (Op::Exp, 1000.0, f64::INFINITY),
            (Op::Log, -1.0, f64::NAN),
            (Op::Sin, f64::INFINITY, f64::NAN),
            (Op::Exp, -800.0, 0.0),
        ] {
            assert_eq!(error(op, &[x], &[0.0], r), None, "{} {x}", op.name());
        }
        assert_eq!(error(Op::Exp, &[1.0], &[f64::NAN], 2.7), None);
    }
}
