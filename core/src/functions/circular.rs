//! Sine and cosine without branches, so that a front end can emit them: the partial derivatives of each other, which loops
//! of such functions need as often as the functions themselves.
//!
//! x is brought to within π/2 of a zero, where the function is ± the sine of what is left: a polynomial. Right to two
//! units in the last place, next to zeros too, or NaN: for infinities and NaN, for operands that are too large, and perhaps
//! for any if sums are not rounded to nearest. Whoever evaluates these has another way for those.

use crate::arith::Arith;
use std::f64::consts::{FRAC_1_PI, PI};

/// π is this, [`PI`], and two more terms.
const PI_PARTS: [f64; 3] = [PI, 1.2246467991473532e-16, -2.9947698097183397e-33];

/// (sin r / r − 1) / r² as a polynomial in r², from the constant term on: interpolated at Chebyshev's points for
/// |r| ≤ 1.6. The error of the sine it gives is below 4e-17 of it.
const SINE: [f64; 8] = [
    -0.16666666666666666,
    0.00833333333333331,
    -0.00019841269841251312,
    2.755731921819272e-06,
    -2.5052107495717588e-08,
    1.605896959588758e-10,
    -7.643728492315687e-13,
    2.72848526429958e-15,
];

/// Number that is added to x/π to leave an integer in the last digits: 1.5 · 2^52.
const MAGIC: f64 = 6755399441055744.0;

/// |r| + |x| · 2⁻³⁰ is below this where all is well, as is so for all x below 2·10⁷ and none above 2·10⁹.
const BOUND: f64 = 1.59;
const SHARE: f64 = 1.0 / (1 << 30) as f64;

/// Less than ¼, the square of ½, and more than 0.
const EIGHTH: f64 = 0.125;

/// All numbers that [`sin`] and [`cos`] are written with, but ½ and −½.
pub const CONSTANTS: [f64; 17] = {
    let [a, b, c] = PI_PARTS;
    let [s0, s1, s2, s3, s4, s5, s6, s7] = SINE;
    [FRAC_1_PI, MAGIC, a, b, c, s0, s1, s2, s3, s4, s5, s6, s7, SHARE, BOUND, EIGHTH, -EIGHTH]
};

/// sin x, or NaN.
pub fn sin<K: Arith>(k: &K, x: K::V) -> K::V {
    let nearest = integer(k, k.mul(x, k.lit(FRAC_1_PI)));
    let odd = half_if_odd(k, nearest);
    // Negative if odd.
    let sign = k.fnma(odd, odd, k.lit(EIGHTH));
    sine_beside(k, x, nearest, sign)
}

/// cos x, or NaN.
pub fn cos<K: Arith>(k: &K, x: K::V) -> K::V {
    let half = k.lit(-0.5);
    let nearest = integer(k, k.fma(x, k.lit(FRAC_1_PI), half));
    let odd = half_if_odd(k, nearest);
    // Negative if even.
    let sign = k.fma(odd, odd, k.lit(-EIGHTH));
    sine_beside(k, x, k.sub(nearest, half), sign)
}

fn integer<K: Arith>(k: &K, x: K::V) -> K::V {
    k.sub(k.add(x, k.lit(MAGIC)), k.lit(MAGIC))
}

/// ±½ for an odd n, 0 for an even one.
fn half_if_odd<K: Arith>(k: &K, n: K::V) -> K::V {
    let half = k.mul(n, k.lit(0.5));
    k.sub(half, integer(k, half))
}

/// ± sin (x − turns · π), as `sign` is signed.
fn sine_beside<K: Arith>(k: &K, x: K::V, turns: K::V, sign: K::V) -> K::V {
    // The first difference is exact: x and the product are near, and multiples of 2⁻⁵² if x is not below 1.
    let r = PI_PARTS.iter().fold(x, |r, &part| k.fnma(turns, k.lit(part), r));
    let square = k.mul(r, r);
    let [lower @ .., highest] = SINE;
    let series = lower.iter().rev().fold(k.lit(highest), |sum, &c| k.fma(sum, square, k.lit(c)));
    let sine = k.fma(k.mul(r, square), series, r);
    let far = k.fma(k.abs(x), k.lit(SHARE), k.abs(r));
    k.select(k.lt(far, k.lit(BOUND)), k.flip(sine, sign), k.lit(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::Host;
    use crate::format::Format;

    #[test]
    fn operands_in_reach() {
        let k = Host::new(Format::F64);
        for x in [0.0, 1.0, -2.5, 2e7] {
            assert!((sin(&k, x) - x.sin()).abs() < 1e-15, "sin {x}");
            assert!((cos(&k, x) - x.cos()).abs() < 1e-15, "cos {x}");
        }
        for x in [2e9, 1e300, f64::INFINITY, f64::NAN] {
            assert!(sin(&k, x).is_nan() && cos(&k, -x).is_nan(), "{x}");
        }
    }
}
