//! The elementary and special functions that the derivatives of function rows are written with.
//!
//! [`Functions`] is to function rows what [`Arith`] is to arithmetic ones; only [`Host`] evaluates it. Holds just what
//! *derivatives* need: the functions themselves are the guest's own code (for the float) and [`Reals`] (for the real).
//!
//! [`Reals`]: crate::reals::Reals

pub mod circular;
mod digamma;

use crate::arith::{Arith, Host};
use crate::format::Format;

/// Lane-wise functions, rounded to the format once: an `f32` result is an `f64` evaluation rounded.
pub trait Functions: Arith {
    /// eᵃ.
    fn exp(&self, a: Self::V) -> Self::V;
    /// 2ᵃ.
    fn exp2(&self, a: Self::V) -> Self::V;
    /// aᵇ, as C's `pow`.
    fn pow(&self, a: Self::V, b: Self::V) -> Self::V;
    /// aᵇ in lanes where `m` does not hold, anything in others: no time is spent if it holds in all.
    fn pow_unless(&self, m: Self::M, a: Self::V, b: Self::V) -> Self::V;
    /// ln a.
    fn ln(&self, a: Self::V) -> Self::V;
    /// log₂ a.
    fn log2(&self, a: Self::V) -> Self::V;
    /// ln (1 + a).
    fn ln_1p(&self, a: Self::V) -> Self::V;
    /// sin a.
    fn sin(&self, a: Self::V) -> Self::V;
    /// cos a.
    fn cos(&self, a: Self::V) -> Self::V;
    /// sinh a.
    fn sinh(&self, a: Self::V) -> Self::V;
    /// cosh a.
    fn cosh(&self, a: Self::V) -> Self::V;
    /// √(a² + b²) without overflow on the way.
    fn hypot(&self, a: Self::V, b: Self::V) -> Self::V;
    /// The integer nearest to `a`, ties to even.
    fn rint(&self, a: Self::V) -> Self::V;
    /// a · 2ⁿ for an integer `n`, rounded once; an `n` beyond the range of exponents is clamped.
    fn ldexp(&self, a: Self::V, n: Self::V) -> Self::V;
    /// ψ(a) = Γ′(a) / Γ(a).
    fn digamma(&self, a: Self::V) -> Self::V;
    /// Jₙ(a) for an integer `n`.
    fn bessel_j(&self, n: Self::V, a: Self::V) -> Self::V;
    /// Yₙ(a) for an integer `n`.
    fn bessel_y(&self, n: Self::V, a: Self::V) -> Self::V;
}

/// An integer operand, clamped to what the C functions take; NaN is 0.
fn integer(n: f64) -> i32 {
    n as i32
}

/// By functions that touch nothing but their operands: the C library's would set `errno`, of whatever thread FS says.
impl Functions for Host {
    fn exp(&self, a: f64) -> f64 {
        self.round(libm::exp(a))
    }
    fn exp2(&self, a: f64) -> f64 {
        self.round(libm::exp2(a))
    }
    fn pow(&self, a: f64, b: f64) -> f64 {
        self.round(libm::pow(a, b))
    }
    fn pow_unless(&self, m: bool, a: f64, b: f64) -> f64 {
        if m { 0.0 } else { self.pow(a, b) }
    }
    fn ln(&self, a: f64) -> f64 {
        self.round(libm::log(a))
    }
    fn log2(&self, a: f64) -> f64 {
        self.round(libm::log2(a))
    }
    fn ln_1p(&self, a: f64) -> f64 {
        self.round(libm::log1p(a))
    }
    fn sin(&self, a: f64) -> f64 {
        let near = circular::sin(&Host::new(Format::F64), a);
        self.round(if near.is_nan() { libm::sin(a) } else { near })
    }
    fn cos(&self, a: f64) -> f64 {
        let near = circular::cos(&Host::new(Format::F64), a);
        self.round(if near.is_nan() { libm::cos(a) } else { near })
    }
    fn sinh(&self, a: f64) -> f64 {
        self.round(libm::sinh(a))
    }
    fn cosh(&self, a: f64) -> f64 {
        self.round(libm::cosh(a))
    }
    fn hypot(&self, a: f64, b: f64) -> f64 {
        self.round(libm::hypot(a, b))
    }
    fn rint(&self, a: f64) -> f64 {
        a.round_ties_even()
    }
    fn ldexp(&self, a: f64, n: f64) -> f64 {
        self.round(libm::ldexp(a, integer(n)))
    }
    fn digamma(&self, a: f64) -> f64 {
        self.round(digamma::digamma(a))
    }
    fn bessel_j(&self, n: f64, a: f64) -> f64 {
        self.round(libm::jn(integer(n), a))
    }
    fn bessel_y(&self, n: f64, a: f64) -> f64 {
        self.round(libm::yn(integer(n), a))
    }
}
