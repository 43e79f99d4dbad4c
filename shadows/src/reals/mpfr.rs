//! TABLE 1's real functions by MPFR.
//!
//! Everything is rounded once, to nearest, at one precision; MPFR's exponent range is so wide that nothing over- or
//! underflows on the way. Knows no floats and no slots.

use std::cell::Cell;
use std::cmp::Ordering;

use rug::Float;
use rug::float::{Constant, Round, Special};
use rug::ops::{CompleteRound, Pow};
use shadowgrind_core::reals::Reals;
use shadowgrind_core::rounding::Rounding;

/// Reals of a fixed precision.
#[derive(Clone, Debug)]
pub struct Mpfr {
    /// Bits of every result.
    pub precision: u32,
    /// Meaning of [`Rounding::Current`]: the guest's rounding mode.
    pub current: Rounding,
    /// True if any result was rounded since this was cleared; results that are integers by definition do not count.
    pub rounded: Cell<bool>,
}

impl Mpfr {
    /// Reals of `precision` bits, for a guest that rounds to nearest.
    pub fn new(precision: u32) -> Self {
        Mpfr { precision, current: Rounding::NearestEven, rounded: Cell::new(false) }
    }

    /// A place at which the result of rounding to an integer `how` changes, near to the real `near`, which has as many bits as it needs:
    /// half-way between integers, if that is to the nearest, and otherwise at integers.
    pub(crate) fn border(&self, how: Rounding, near: Float) -> Float {
        let how = if how == Rounding::Current { self.current } else { how };
        match how {
            Rounding::NearestEven | Rounding::NearestAway => near.floor() + 0.5,
            _ => near.round(),
        }
    }

    /// The result of a delayed computation.
    fn complete<C>(&self, computation: C) -> Float
    where
        C: CompleteRound<Prec = u32, Completed = Float, Round = Round, Ordering = Ordering>,
    {
        let (value, off) = computation.complete_round(self.precision, Round::Nearest);
        self.note(off != Ordering::Equal);
        value
    }

    fn note(&self, is_rounded: bool) {
        self.rounded.set(self.rounded.get() | is_rounded);
    }

    /// The result of a delayed computation that is an integer near a number of no more bits.
    fn integer<C>(&self, computation: C) -> Float
    where
        C: CompleteRound<Prec = u32, Completed = Float, Round = Round, Ordering = Ordering>,
    {
        computation.complete_round(self.precision, Round::Nearest).0
    }

    /// Tells whether `a`, if finite, is within the range of floats, or near it: to reduce 2^(10^9) by 2π, MPFR would
    /// take 10⁹ bits of π.
    fn has_phase(&self, a: &Float) -> bool {
        a.get_exp().is_none_or(|exponent| exponent <= 1 << 16)
    }

    fn series_j(&self, n: u32, a: &Float) -> Float {
        self.complete(a.jn_ref(n as i32))
    }

    fn series_y(&self, n: u32, a: &Float) -> Float {
        self.complete(a.yn_ref(n as i32))
    }

    /// A Bessel function of integer order, from MPFR's of order ≥ 0.
    ///
    /// MPFR has an asymptotic expansion for n² < 2|a|; for other n, and for all n < 0, it sums the power series with
    /// |a| extra bits, which for large |a| takes more memory than there is. There the recurrence is used (DLMF 10.6.1,
    /// stable upwards for n ≤ |a|), with bits to spare for its roundings.
    fn bessel(&self, n: i32, a: &Float, series: impl Fn(&Self, u32, &Float) -> Float) -> Float {
        if !self.has_phase(a) {
            return self.special(Special::Nan);
        }
        let order = n.unsigned_abs();
        let value = if *a.as_abs() <= 1000 || *a.as_abs() < order || order < 2 {
            series(self, order, a)
        } else {
            self.note(true);
            let wide = Mpfr { precision: self.precision + 64, ..self.clone() };
            let (mut below, mut here) = (series(&wide, 0, a), series(&wide, 1, a));
            for k in 1..order {
                let above = wide.sub(&wide.div(&wide.mul(&wide.lit(2.0 * f64::from(k)), &here), a), &below);
                (below, here) = (here, above);
            }
            Float::with_val(self.precision, here)
        };
        // J₋ₙ = (−1)ⁿ Jₙ, and so for Y (DLMF 10.4.1).
        if n < 0 && order % 2 == 1 { -value } else { value }
    }

    /// An angle in half turns. MPFR has functions for it, of which `mpfr_atan2u` (4.2) comes to no end where one operand is far
    /// larger than the other; so the angle in radians, with bits to spare, is divided by π.
    fn half_turns(&self, angle: impl Fn(&Mpfr) -> Float) -> Float {
        self.note(true);
        let wide = Mpfr { precision: self.precision + 64, ..self.clone() };
        Float::with_val(
            self.precision,
            wide.div(&angle(&wide), &Float::with_val(wide.precision, Constant::Pi)),
        )
    }

    fn special(&self, value: Special) -> Float {
        Float::with_val(self.precision, value)
    }
}

/// An integer operand; what an `i32` cannot hold is far beyond where results are 0 or ∞.
fn integer(n: &Float) -> i32 {
    n.to_i32_saturating().unwrap_or(0)
}

/// Verbs that MPFR has under one name or another.
macro_rules! delegate {
    ($($verb:ident($a:ident $(, $b:ident)*) => $method:ident;)+) => {
        $(fn $verb(&self, $a: &Float $(, $b: &Float)*) -> Float {
            self.complete($a.$method($($b),*))
        })+
    };
}

impl Reals for Mpfr {
    type Real = Float;

    delegate! {
        abs(a) => abs_ref;
        copysign(a, b) => copysign_ref;
        sqrt(a) => sqrt_ref;
        fma(a, b, c) => mul_add_ref;
        fdim(a, b) => positive_diff_ref;
        min(a, b) => min_ref;
        max(a, b) => max_ref;
        exp(a) => exp_ref;
        exp2(a) => exp2_ref;
        exp10(a) => exp10_ref;
        expm1(a) => exp_m1_ref;
        exp2m1(a) => exp2_m1_ref;
        exp10m1(a) => exp10_m1_ref;
        log(a) => ln_ref;
        log2(a) => log2_ref;
        log10(a) => log10_ref;
        log1p(a) => ln_1p_ref;
        log2p1(a) => log2_1p_ref;
        log10p1(a) => log10_1p_ref;
        cbrt(a) => cbrt_ref;
        hypot(a, b) => hypot_ref;
        asin(a) => asin_ref;
        acos(a) => acos_ref;
        atan(a) => atan_ref;
        atan2(y, x) => atan2_ref;
        sinpi(a) => sin_pi_ref;
        cospi(a) => cos_pi_ref;
        tanpi(a) => tan_pi_ref;
        sinh(a) => sinh_ref;
        cosh(a) => cosh_ref;
        tanh(a) => tanh_ref;
        asinh(a) => asinh_ref;
        acosh(a) => acosh_ref;
        atanh(a) => atanh_ref;
        erf(a) => erf_ref;
        erfc(a) => erfc_ref;
        tgamma(a) => gamma_ref;
        remainder(a, b) => remainder_ref;
    }

    fn lit(&self, x: f64) -> Float {
        Float::with_val(self.precision, x)
    }
    fn less(&self, a: &Float, b: &Float) -> bool {
        a < b
    }
    fn neg(&self, a: &Float) -> Float {
        self.complete(-a)
    }
    fn add(&self, a: &Float, b: &Float) -> Float {
        self.complete(a + b)
    }
    fn sub(&self, a: &Float, b: &Float) -> Float {
        self.complete(a - b)
    }
    fn mul(&self, a: &Float, b: &Float) -> Float {
        self.complete(a * b)
    }
    fn div(&self, a: &Float, b: &Float) -> Float {
        self.complete(a / b)
    }
    fn pow(&self, a: &Float, b: &Float) -> Float {
        self.complete(a.pow(b))
    }
    fn fmod(&self, a: &Float, b: &Float) -> Float {
        self.complete(a % b)
    }

    fn round(&self, a: &Float, how: Rounding) -> Float {
        match how {
            Rounding::NearestEven => self.integer(a.round_even_ref()),
            Rounding::NearestAway => self.integer(a.round_ref()),
            Rounding::Down => self.integer(a.floor_ref()),
            Rounding::Up => self.integer(a.ceil_ref()),
            Rounding::Zero => self.integer(a.trunc_ref()),
            Rounding::Current => {
                assert_ne!(self.current, Rounding::Current, "a rounding mode that names itself");
                self.round(a, self.current)
            }
        }
    }

    fn logb(&self, a: &Float) -> Float {
        match a.get_exp() {
            // MPFR's significands lie in [½, 1).
            Some(exponent) => self.lit(f64::from(exponent) - 1.0),
            None if a.is_zero() => self.special(Special::NegInfinity),
            None => self.complete(a.abs_ref()),
        }
    }

    fn ldexp(&self, a: &Float, n: &Float) -> Float {
        self.complete(a << integer(n))
    }

    fn lgamma(&self, a: &Float) -> Float {
        self.note(true);
        let (value, _sign) = a.ln_abs_gamma_ref().complete(self.precision);
        value
    }

    fn sin(&self, a: &Float) -> Float {
        if self.has_phase(a) { self.complete(a.sin_ref()) } else { self.special(Special::Nan) }
    }
    fn cos(&self, a: &Float) -> Float {
        if self.has_phase(a) { self.complete(a.cos_ref()) } else { self.special(Special::Nan) }
    }
    fn tan(&self, a: &Float) -> Float {
        if self.has_phase(a) { self.complete(a.tan_ref()) } else { self.special(Special::Nan) }
    }
    fn asinpi(&self, a: &Float) -> Float {
        self.half_turns(|wide| wide.asin(a))
    }
    fn acospi(&self, a: &Float) -> Float {
        self.half_turns(|wide| wide.acos(a))
    }
    fn atanpi(&self, a: &Float) -> Float {
        self.half_turns(|wide| wide.atan(a))
    }
    fn atan2pi(&self, y: &Float, x: &Float) -> Float {
        self.half_turns(|wide| wide.atan2(y, x))
    }
    fn jn(&self, n: &Float, a: &Float) -> Float {
        self.bessel(integer(n), a, Self::series_j)
    }
    fn yn(&self, n: &Float, a: &Float) -> Float {
        self.bessel(integer(n), a, Self::series_y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reals may be far beyond the range of floats, where MPFR is to come to an end as well.
    #[test]
    fn functions_of_half_turns_and_tens_end_for_reals_of_any_size() {
        type Function = fn(&Mpfr, &Float) -> Float;
        let m = Mpfr::new(256);
        let power = |exponent: i32| Float::with_val(256, 1.25) << exponent;
        let is_near = |x: &Float, y: &Float| {
            Float::with_val(256, x - y).abs() <= Float::with_val(256, y.abs_ref()) >> 200
        };
        let pi = Float::with_val(256, Constant::Pi);
        let ln_10 = Float::with_val(256, 10).ln();
        let times = |x: &Float| Float::with_val(256, x);
        let linear: [(Function, Float); 7] = [
            (Mpfr::sinpi, times(&pi)),
            (Mpfr::tanpi, times(&pi)),
            (Mpfr::asinpi, 1 / times(&pi)),
            (Mpfr::atanpi, 1 / times(&pi)),
            (Mpfr::exp10m1, times(&ln_10)),
            (Mpfr::log10p1, 1 / times(&ln_10)),
            (|m, a| m.atan2pi(a, &m.lit(1.0)), 1 / times(&pi)),
        ];
        for exponent in [-1000, -70_000, -1_000_000, -500_000_000] {
            let tiny = power(exponent);
            for (n, (function, slope)) in linear.iter().enumerate() {
                assert!(
                    is_near(&function(&m, &tiny), &Float::with_val(256, slope * &tiny)),
                    "{n} at 2^{exponent}"
                );
            }
            assert_eq!((m.cospi(&tiny), m.acospi(&tiny)), (m.lit(1.0), m.lit(0.5)));
        }
        for exponent in [1000, 70_000, 1_000_000, 500_000_000] {
            let huge = power(exponent);
            assert_eq!([m.sinpi(&huge), m.cospi(&huge), m.tanpi(&huge)], [0.0, 1.0, 0.0]);
            assert_eq!([m.atanpi(&huge), m.atan2pi(&huge, &power(-exponent))], [0.5, 0.5]);
            assert!(m.asinpi(&huge).is_nan() && m.acospi(&huge).is_nan());
            assert!(m.log10p1(&huge).is_finite() && m.exp10m1(&-huge) == -1.0);
        }
        assert_eq!(
            [m.asinpi(&m.lit(-1.0)), m.acospi(&m.lit(-1.0)), m.atan2pi(&m.lit(1.0), &m.lit(1.0))],
            [-0.5, 1.0, 0.25]
        );
    }
}
