//! The abstract arithmetic that TABLE 1 is written over, and [`Host`], which evaluates it with ordinary numbers.
//!
//! A rule written over [`Arith`] is a number when `K = Host` and machine code when `K` is a front end's emitter;
//! the first is the oracle of the second. Deliberately names arithmetic, not instructions: an emitter is free in how
//! it spells a verb. Values may be vectors of lanes; no verb looks across lanes.

use crate::format::Format;

/// Lane-wise arithmetic on values of one [`Format`], rounding to nearest after every verb.
///
/// Methods take `&self` so that rules nest: `k.neg(k.div(r, b))`. An emitter keeps its state behind a cell.
pub trait Arith {
    /// A value: one lane, or a vector of lanes treated alike.
    type V: Copy;
    /// A truth value per lane.
    type M: Copy;

    /// The constant `x` in every lane, rounded to the format.
    fn lit(&self, x: f64) -> Self::V;
    /// −a.
    fn neg(&self, a: Self::V) -> Self::V;
    /// |a|.
    fn abs(&self, a: Self::V) -> Self::V;
    /// a + b.
    fn add(&self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b.
    fn sub(&self, a: Self::V, b: Self::V) -> Self::V;
    /// a · b.
    fn mul(&self, a: Self::V, b: Self::V) -> Self::V;
    /// a / b.
    fn div(&self, a: Self::V, b: Self::V) -> Self::V;
    /// √a.
    fn sqrt(&self, a: Self::V) -> Self::V;
    /// a · b + c, rounded once.
    fn fma(&self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// a < b; false when either is NaN.
    fn lt(&self, a: Self::V, b: Self::V) -> Self::M;
    /// True where the sign bit of `a` is set, −0 and NaN included.
    fn sign(&self, a: Self::V) -> Self::M;
    /// `yes` where `m` holds, `no` elsewhere; neither is computed with.
    fn select(&self, m: Self::M, yes: Self::V, no: Self::V) -> Self::V;
}

/// Evaluates rules one lane at a time in `f64`, rounding each verb to the format.
///
/// 80-bit lanes are evaluated in `f64`: shadows of x87 values need that accuracy at least, and no more is promised.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    format: Format,
}

impl Host {
    /// An evaluator for lanes of `format`.
    pub fn new(format: Format) -> Self {
        Host { format }
    }

    /// `f64` results of single operations on `f32` operands, rounded again, equal the `f32` operation for
    /// + − × ÷ √ (53 ≥ 2·24 + 2: Figueroa, "When is double rounding innocuous?", 1995); `fma` needs its own care.
    fn round(&self, x: f64) -> f64 {
        match self.format {
            Format::F32 => f64::from(x as f32),
            Format::F64 | Format::F80 => x,
        }
    }
}

impl Arith for Host {
    type V = f64;
    type M = bool;

    fn lit(&self, x: f64) -> f64 {
        self.round(x)
    }
    fn neg(&self, a: f64) -> f64 {
        -a
    }
    fn abs(&self, a: f64) -> f64 {
        a.abs()
    }
    fn add(&self, a: f64, b: f64) -> f64 {
        self.round(a + b)
    }
    fn sub(&self, a: f64, b: f64) -> f64 {
        self.round(a - b)
    }
    fn mul(&self, a: f64, b: f64) -> f64 {
        self.round(a * b)
    }
    fn div(&self, a: f64, b: f64) -> f64 {
        self.round(a / b)
    }
    fn sqrt(&self, a: f64) -> f64 {
        self.round(a.sqrt())
    }
    fn fma(&self, a: f64, b: f64, c: f64) -> f64 {
        match self.format {
            Format::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
            Format::F64 | Format::F80 => a.mul_add(b, c),
        }
    }
    fn lt(&self, a: f64, b: f64) -> bool {
        a < b
    }
    fn sign(&self, a: f64) -> bool {
        a.is_sign_negative()
    }
    fn select(&self, m: bool, yes: f64, no: f64) -> f64 {
        if m { yes } else { no }
    }
}
