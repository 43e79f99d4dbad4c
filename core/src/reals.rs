//! The real functions of TABLE 1, over a number type that a shadow chooses.
//!
//! A row's real function is written with these verbs; a shadow of reals implements them once and has every row. Knows
//! no precision and no library.

use crate::rounding::Rounding;

/// Arithmetic and functions on reals. Domains, branch cuts and special values are those of C (C17 annex F); where a
/// function has an integer operand `n`, that is a real with an integral value.
pub trait Reals {
    /// A real number, NaN and infinities included.
    type Real: Clone;

    /// Exactly `x`.
    fn lit(&self, x: f64) -> Self::Real;
    /// a < b.
    fn less(&self, a: &Self::Real, b: &Self::Real) -> bool;
    /// −a.
    fn neg(&self, a: &Self::Real) -> Self::Real;
    /// |a|.
    fn abs(&self, a: &Self::Real) -> Self::Real;
    /// |a| with the sign of `b`.
    fn copysign(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// a + b.
    fn add(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// a − b.
    fn sub(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// a · b.
    fn mul(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// a / b.
    fn div(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// √a.
    fn sqrt(&self, a: &Self::Real) -> Self::Real;
    /// a · b + c.
    fn fma(&self, a: &Self::Real, b: &Self::Real, c: &Self::Real) -> Self::Real;
    /// a − b where that is positive, else 0, as C's `fdim`.
    fn fdim(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// The smaller, as C's `fmin`: a NaN gives way to a number.
    fn min(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// The larger, as C's `fmax`.
    fn max(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// An integer near `a`.
    fn round(&self, a: &Self::Real, how: Rounding) -> Self::Real;
    /// eᵃ.
    fn exp(&self, a: &Self::Real) -> Self::Real;
    /// 2ᵃ.
    fn exp2(&self, a: &Self::Real) -> Self::Real;
    /// 10ᵃ.
    fn exp10(&self, a: &Self::Real) -> Self::Real;
    /// eᵃ − 1.
    fn expm1(&self, a: &Self::Real) -> Self::Real;
    /// 2ᵃ − 1.
    fn exp2m1(&self, a: &Self::Real) -> Self::Real;
    /// 10ᵃ − 1.
    fn exp10m1(&self, a: &Self::Real) -> Self::Real;
    /// ln a.
    fn log(&self, a: &Self::Real) -> Self::Real;
    /// log₂ a.
    fn log2(&self, a: &Self::Real) -> Self::Real;
    /// log₁₀ a.
    fn log10(&self, a: &Self::Real) -> Self::Real;
    /// ln (1 + a).
    fn log1p(&self, a: &Self::Real) -> Self::Real;
    /// log₂ (1 + a).
    fn log2p1(&self, a: &Self::Real) -> Self::Real;
    /// log₁₀ (1 + a).
    fn log10p1(&self, a: &Self::Real) -> Self::Real;
    /// ⌊log₂ |a|⌋.
    fn logb(&self, a: &Self::Real) -> Self::Real;
    /// a · 2ⁿ.
    fn ldexp(&self, a: &Self::Real, n: &Self::Real) -> Self::Real;
    /// aᵇ.
    fn pow(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// ∛a.
    fn cbrt(&self, a: &Self::Real) -> Self::Real;
    /// √(a² + b²).
    fn hypot(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// sin a.
    fn sin(&self, a: &Self::Real) -> Self::Real;
    /// cos a.
    fn cos(&self, a: &Self::Real) -> Self::Real;
    /// tan a.
    fn tan(&self, a: &Self::Real) -> Self::Real;
    /// arcsin a.
    fn asin(&self, a: &Self::Real) -> Self::Real;
    /// arccos a.
    fn acos(&self, a: &Self::Real) -> Self::Real;
    /// arctan a.
    fn atan(&self, a: &Self::Real) -> Self::Real;
    /// The angle of the point (x, y).
    fn atan2(&self, y: &Self::Real, x: &Self::Real) -> Self::Real;
    /// sin πa.
    fn sinpi(&self, a: &Self::Real) -> Self::Real;
    /// cos πa.
    fn cospi(&self, a: &Self::Real) -> Self::Real;
    /// tan πa.
    fn tanpi(&self, a: &Self::Real) -> Self::Real;
    /// arcsin a / π.
    fn asinpi(&self, a: &Self::Real) -> Self::Real;
    /// arccos a / π.
    fn acospi(&self, a: &Self::Real) -> Self::Real;
    /// arctan a / π.
    fn atanpi(&self, a: &Self::Real) -> Self::Real;
    /// The angle of the point (x, y) in half turns.
    fn atan2pi(&self, y: &Self::Real, x: &Self::Real) -> Self::Real;
    /// sinh a.
    fn sinh(&self, a: &Self::Real) -> Self::Real;
    /// cosh a.
    fn cosh(&self, a: &Self::Real) -> Self::Real;
    /// tanh a.
    fn tanh(&self, a: &Self::Real) -> Self::Real;
    /// arsinh a.
    fn asinh(&self, a: &Self::Real) -> Self::Real;
    /// arcosh a.
    fn acosh(&self, a: &Self::Real) -> Self::Real;
    /// artanh a.
    fn atanh(&self, a: &Self::Real) -> Self::Real;
    /// erf a.
    fn erf(&self, a: &Self::Real) -> Self::Real;
    /// 1 − erf a.
    fn erfc(&self, a: &Self::Real) -> Self::Real;
    /// ln |Γ(a)|.
    fn lgamma(&self, a: &Self::Real) -> Self::Real;
    /// Γ(a).
    fn tgamma(&self, a: &Self::Real) -> Self::Real;
    /// Jₙ(a).
    fn jn(&self, n: &Self::Real, a: &Self::Real) -> Self::Real;
    /// Yₙ(a).
    fn yn(&self, n: &Self::Real, a: &Self::Real) -> Self::Real;
    /// a − n b, n = a / b truncated.
    fn fmod(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
    /// a − n b, n = a / b rounded to the nearest integer, ties to even.
    fn remainder(&self, a: &Self::Real, b: &Self::Real) -> Self::Real;
}
