//! Formulas that rows of TABLE 1 share or that do not fit a row.
//!
//! Everything is straight-line over [`Arith`] or [`Functions`]; which op uses what is the table's business.

use super::{Factor, Gradient, MAX_OPERANDS, Minus, Partial, Unless, When, Zero};
use crate::arith::Arith;
use crate::functions::Functions;
use crate::reals::Reals;
use std::cmp::Ordering;

pub(super) use std::cmp::Ordering::{Equal, Greater, Less};
pub(super) use std::f64::consts::{FRAC_1_PI, LN_2, LN_10, LOG2_E, LOG10_E, PI};

/// Relative error that an error may have itself.
pub const ERROR_BOUND: f64 = 1.0 / (1_u64 << 33) as f64;

/// Least part of an error that a float and its error together may be, if anything is divided by them: what is left has ten bits less
/// than the error has.
pub const LEAST_LEFT: f64 = 1.0 / (1 << 10) as f64;

/// Least part of an error that a float and its error together may be, if their root is taken, by which half as many bits are lost.
pub const LEAST_LEFT_OF_ROOT: f64 = LEAST_LEFT * LEAST_LEFT;

/// 2/√π (DLMF 7.2.1).
const TWO_OVER_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// Partials as they are.
#[inline(always)]
pub(super) fn of<K: Arith, const N: usize>(partials: [Partial<K>; N]) -> Gradient<K> {
    let mut all = [Zero; MAX_OPERANDS];
    all[..N].copy_from_slice(&partials);
    Gradient { partials: all, divisor: None }
}

/// Partials with a common divisor.
#[inline(always)]
pub(super) fn over<K: Arith, const N: usize>(divisor: K::V, partials: [Partial<K>; N]) -> Gradient<K> {
    Gradient { divisor: Some(divisor), ..of(partials) }
}

/// The first operand where `m` holds, the second elsewhere.
#[inline(always)]
pub(super) fn choice<K: Arith>(m: K::M) -> Gradient<K> {
    of([When(m), Unless(m)])
}

/// a².
pub(super) fn square<K: Arith>(k: &K, a: K::V) -> K::V {
    k.mul(a, a)
}

/// 2 a.
pub(super) fn twice<K: Arith>(k: &K, a: K::V) -> K::V {
    k.add(a, a)
}

/// 1 − x² without cancellation near ±1.
pub(super) fn one_minus_square<K: Arith>(k: &K, x: K::V) -> K::V {
    let one = k.lit(1.0);
    k.mul(k.sub(one, x), k.add(one, x))
}

/// The order of |x| and |y|. A NaN is taken for equal.
pub(super) fn sizes<R: Reals>(m: &R, x: &R::Real, y: &R::Real) -> Ordering {
    let (x, y) = (m.abs(x), m.abs(y));
    let (is_less, is_greater) = (m.less(&x, &y), m.less(&y, &x));
    is_greater.cmp(&is_less)
}

/// 1 where a < b, else 0.
pub(super) fn step<K: Arith>(k: &K, a: K::V, b: K::V) -> K::V {
    k.select(k.lt(a, b), k.lit(1.0), k.lit(0.0))
}

/// (local + carried) / b, but +0 where both terms are zero together, of either sign, whatever b is: an error that is none. The term
/// in which the other is lost keeps a trace of it, so that other numbers which are the same floats have other errors.
fn quotient<K: Arith>(k: &K, [local, carried]: [K::V; 2], b: K::V) -> K::V {
    let (zero, sum) = (k.lit(0.0), k.add(local, carried));
    k.select(k.eq(sum, zero), zero, k.traced(k.div(sum, b), k.mul(local, carried)))
}

/// Error of a quotient: (local + carried) / b, as [`quotient`], for a divisor b that is the number and `e`, its error; unknown where
/// they cancel each other.
pub(super) fn quotient_by<K: Arith>(k: &K, terms: [K::V; 2], b: K::V, e: K::V) -> K::V {
    let b = k.add(b, e);
    unless_cancelled(k, quotient(k, terms, b), [b, e], LEAST_LEFT)
}

/// Error of root r of a + `e`, a number and its error: (local + `e`) / (r + √(a + `e`)), as [`quotient`]; unknown where they cancel
/// each other.
pub(super) fn error_of_root<K: Arith>(k: &K, local: K::V, [a, e]: [K::V; 2], r: K::V) -> K::V {
    let a = k.add(a, e);
    let error = quotient(k, [local_of_root(k, local, e), e], k.add(r, k.sqrt(a)));
    unless_cancelled(k, error, [a, e], LEAST_LEFT_OF_ROOT)
}

/// `error`, but NaN where a number with error `e` leaves less than `least` of that: what is left is not known well enough for
/// what is made of it to be as well known as errors are.
fn unless_cancelled<K: Arith>(k: &K, error: K::V, [left, e]: [K::V; 2], least: f64) -> K::V {
    let is_cancelled = k.lt(k.abs(left), k.abs(k.mul(e, k.lit(least))));
    k.select(is_cancelled, k.lit(f64::NAN), error)
}

/// Local rounding error of a root, in terms of its operand with error `e`, where that seems to cancel it: a² that was rounded has the
/// root a but for what was lost beside the error of the square.
fn local_of_root<K: Arith>(k: &K, local: K::V, e: K::V) -> K::V {
    k.fma(e, k.ulps(4.0), local)
}

/// |x + e| − |x| for a number x without a sign, and e: what is to be added to it, unless the sum is on the other side of zero by
/// more than [`ERROR_BOUND`] of e.
pub(super) fn on_its_side<K: Arith>(k: &K, x: K::V, e: K::V) -> K::V {
    let real = k.add(x, e);
    let is_beyond = k.lt(k.fma(k.abs(e), k.lit(ERROR_BOUND), real), k.lit(0.0));
    k.select(is_beyond, k.neg(k.add(x, real)), e)
}

/// a + b − r for the rounded sum r: TwoSum, which needs no order of a and b (Knuth, TAOCP 2, 4.2.2, Theorem B).
pub(super) fn sum_error<K: Arith>(k: &K, a: K::V, b: K::V, r: K::V) -> K::V {
    let b_seen = k.sub(r, a);
    // First what frees a register that holds b.
    let b_lost = k.sub(b, b_seen);
    let a_seen = k.sub(r, b_seen);
    k.add(k.sub(a, a_seen), b_lost)
}

/// a − b − r for the rounded difference r: TwoSum without a change of sign. An exact difference leaves +0.
pub(super) fn difference_error<K: Arith>(k: &K, a: K::V, b: K::V, r: K::V) -> K::V {
    let b_seen = k.sub(a, r);
    let b_lost = k.sub(b_seen, b);
    let a_seen = k.add(r, b_seen);
    k.add(k.sub(a, a_seen), b_lost)
}

/// Signs of the terms of an fma.
#[derive(Clone, Copy)]
pub(super) enum Fused {
    /// a b + c.
    Plus,
    /// a b − c.
    Minus,
    /// c − a b.
    From,
    /// −(a b) − c.
    Neither,
}

/// The real result less the once-rounded r. The error of an fma is two floats; this is their rounded sum.
///
/// After Boldo and Muller, "Exact and approximated error of the FMA", IEEE Trans. Computers 60 (2011): the product is two
/// floats, and so is the sum of its high one with c. Where these cancel, their sum is exact, and r is the rounded sum of what
/// is left; elsewhere r is next to it. The high sum less r is exact in both cases (Sterbenz; or r is exact, and the difference
/// is what was left of the product), so that nothing is left of it to be looked for.
pub(super) fn fma_error<K: Arith>(k: &K, fused: Fused, [a, b, c]: [K::V; 3], r: K::V) -> K::V {
    let product = k.mul(a, b);
    let (high, low) = match fused {
        Fused::Plus | Fused::Neither => {
            let high = k.add(product, c);
            (high, sum_error(k, product, c, high))
        }
        Fused::Minus | Fused::From => {
            let (first, second) = if let Fused::From = fused { (c, product) } else { (product, c) };
            let high = k.sub(first, second);
            (high, difference_error(k, first, second, high))
        }
    };
    // What is to be taken from the product. It comes last, so that fewer numbers wait for it.
    let excess = k.fnma(a, b, product);
    match fused {
        Fused::Plus | Fused::Minus => k.add(k.sub(k.sub(high, r), excess), low),
        Fused::From => k.add(k.add(k.sub(high, r), excess), low),
        Fused::Neither => k.sub(k.sub(excess, k.add(r, high)), low),
    }
}

/// 1/√a − r for an estimate r, from e = 1 − a r²: r e / (2 − 3e/2 + O(e²)). Good to some 22 bits of an estimate of 12.
pub(super) fn rsqrt_error<K: Arith>(k: &K, a: K::V, r: K::V) -> K::V {
    let square = square(k, r);
    let square_low = k.fma(r, r, k.neg(square));
    let e = k.fnma(a, square_low, k.fnma(a, square, k.lit(1.0)));
    k.over(k.mul(r, e), k.fnma(k.lit(1.5), e, k.lit(2.0)))
}

/// 2ⁿ, as 2ⁿ⁻ʰ / 2⁻ʰ with h ≈ n/2: a subnormal x scaled up, or a huge one down, has factors that are no floats.
pub(super) fn power_of_two<K: Functions>(k: &K, n: K::V) -> Gradient<K> {
    let half = k.rint(k.mul(n, k.lit(0.5)));
    let one = k.lit(1.0);
    over(k.ldexp(one, k.neg(half)), [Factor(k.ldexp(one, k.sub(n, half))), Zero])
}

/// The derivative of xʸ = r by x: y / x · r, where both factors have all their bits; y xʸ⁻¹ where they have not. The
/// quotient comes first, since it need not wait for r.
pub(super) fn pow_by_base<K: Functions>(k: &K, x: K::V, y: K::V, r: K::V) -> K::V {
    let (zero, one) = (k.lit(0.0), k.lit(1.0));
    let (infinity, least) = (k.lit(f64::INFINITY), k.lit(f64::MIN_POSITIVE));
    let ratio = k.div(y, x);
    // Infinite where it has not all its bits; NaN is as it is.
    let size = |a: K::V| k.select(k.lt(k.abs(a), least), infinity, k.abs(a));
    let both = k.select(k.lt(size(r), infinity), size(ratio), infinity);
    let is_usual = k.lt(both, infinity);
    // Each factor 0 wins over an infinite other: the function is constant there, or falls off faster than y grows.
    let power = k.pow_unless(is_usual, x, k.sub(y, one));
    let by_power = k.select(k.eq(power, zero), zero, k.mul(y, power));
    let slope = k.select(is_usual, k.mul(ratio, r), by_power);
    k.select(k.eq(y, zero), zero, slope)
}

/// The derivative of xʸ = r by y: r ln x.
pub(super) fn pow_by_exponent<K: Functions>(k: &K, x: K::V, r: K::V) -> K::V {
    let zero = k.lit(0.0);
    let logarithm = k.ln(x);
    // 0 · ln 0 is 0 here; a negative base stays undefined.
    k.select(k.eq(r, zero), k.select(k.lt(x, zero), logarithm, zero), k.mul(r, logarithm))
}

/// x / r for a hypotenuse r: 0 at the origin, ±1 where the other side no longer counts, at infinity too.
pub(super) fn cosine<K: Arith>(k: &K, x: K::V, r: K::V) -> K::V {
    let one = k.lit(1.0);
    let slope = k.select(k.eq(k.abs(x), r), k.flip(one, x), k.div(x, r));
    let zero = k.lit(0.0);
    k.select(k.eq(r, zero), zero, slope)
}

/// x less the nearest even integer, exactly: −1…1. NaN for infinities.
fn within_a_turn<K: Functions>(k: &K, x: K::V) -> K::V {
    k.fnma(k.lit(2.0), k.rint(k.mul(x, k.lit(0.5))), x)
}

/// cos πx, as the sine of the distance to its nearest zero: right to a few roundings there too.
pub(super) fn cosine_of_turns<K: Functions>(k: &K, x: K::V) -> K::V {
    let distance = k.sub(k.lit(0.5), k.abs(within_a_turn(k, x)));
    k.sin(k.mul(k.lit(PI), distance))
}

/// sin πx, likewise.
pub(super) fn sine_of_turns<K: Functions>(k: &K, x: K::V) -> K::V {
    let turn = within_a_turn(k, x);
    let (near, far) = (k.abs(turn), k.sub(k.lit(1.0), k.abs(turn)));
    let distance = k.select(k.lt(near, far), near, far);
    k.flip(k.sin(k.mul(k.lit(PI), distance)), turn)
}

/// The gradient (x, −y) / (x² + y²) of the angle of (x, y), operands (y, x), in a unit of which a radian has `radian`. The squares
/// are never formed.
pub(super) fn angle<K: Functions>(k: &K, y: K::V, x: K::V, radian: K::V) -> Gradient<K> {
    let distance = k.hypot(x, y);
    let near = k.lt(distance, k.lit(f64::INFINITY));
    let partial = |a| k.select(near, k.mul(radian, k.div(a, distance)), k.lit(0.0));
    over(distance, [Factor(partial(x)), Minus(partial(y))])
}

/// erf′(x) = 2/√π · exp(−x²) (DLMF 7.2.1). The rounding of x² would cost x² ulps: it is put back.
pub(super) fn bell<K: Functions>(k: &K, x: K::V) -> K::V {
    let high = square(k, x);
    let low = k.fma(x, x, k.neg(high));
    let gauss = k.exp(k.neg(high));
    // Where x² overflows, low is no number, and exp(−x²) is 0 anyway.
    let put_back = k.select(k.eq(gauss, k.lit(0.0)), gauss, k.fnma(low, gauss, gauss));
    k.mul(k.lit(TWO_OVER_SQRT_PI), put_back)
}

/// Jₙ′ = (Jₙ₋₁ − Jₙ₊₁) / 2 (DLMF 10.6.1), which holds at 0 too.
pub(super) fn bessel_j_slope<K: Functions>(k: &K, n: K::V, x: K::V) -> K::V {
    let one = k.lit(1.0);
    k.mul(k.lit(0.5), k.sub(k.bessel_j(k.sub(n, one), x), k.bessel_j(k.add(n, one), x)))
}

/// Yₙ′ = (Yₙ₋₁ − Yₙ₊₁) / 2 (DLMF 10.6.1). At 0, where Yₙ falls to −∞ (or rises, for odd negative n), it is infinite.
pub(super) fn bessel_y_slope<K: Functions>(k: &K, n: K::V, x: K::V) -> K::V {
    let one = k.lit(1.0);
    // Halved first: the difference may be beyond the range.
    let half = |order| k.mul(k.lit(0.5), k.bessel_y(order, x));
    let slope = k.sub(half(k.sub(n, one)), half(k.add(n, one)));
    let pole = k.neg(k.bessel_y(n, x));
    k.select(k.eq(x, k.lit(0.0)), pole, slope)
}

/// The integer n with x − n y = r. x − r is n y up to one rounding, so n is exact wherever it fits; x / y itself may
/// round up to the next integer.
pub(super) fn multiple<K: Functions>(k: &K, x: K::V, y: K::V, r: K::V) -> K::V {
    k.rint(k.div(k.sub(x, r), y))
}
