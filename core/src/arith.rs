//! The abstract arithmetic that TABLE 1 is written over, and [`Host`], which evaluates it with ordinary numbers.
//!
//! A rule written over [`Arith`] is a number when `K = Host` and machine code when `K` is a front end's emitter;
//! the first is the oracle of the second. Deliberately names arithmetic, not instructions: an emitter is free in how
//! it spells a verb. Values may be vectors of lanes; no verb looks across lanes.

use crate::format::Format;

/// Lane-wise arithmetic on values of one [`Format`], rounding to nearest after every verb.
///
/// Methods take `&self` so that rules nest: `k.neg(k.div(r, b))`. An emitter keeps its state behind a cell.
/// Rows need the required verbs only; the provided ones are what rules over derivatives are made of, and an emitter
/// overrides those that its machine has something better for. An override must agree bit for bit, except that a NaN
/// may be any NaN.
pub trait Arith {
    /// A value: one lane, or a vector of lanes treated alike.
    type V: Copy;
    /// A truth value per lane.
    type M: Copy;

    /// The constant `x` in every lane, rounded to the format.
    fn lit(&self, x: f64) -> Self::V;
    /// `n` units in the last place of 1: n · 2^(1−p) in every lane, for precision p of the format.
    fn ulps(&self, n: f64) -> Self::V;
    /// The least power of two from which on all floats are integers: 2^(p−1), for precision p of the format.
    fn whole(&self) -> Self::V;
    /// −a: the sign bit flipped, that of NaN included.
    fn neg(&self, a: Self::V) -> Self::V;
    /// |a|: the sign bit cleared.
    fn abs(&self, a: Self::V) -> Self::V;
    /// `a` with its sign bit flipped where that of `b` is set: ±a as `b` is signed. Zeros and NaN have signs too.
    fn flip(&self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` with those of its last bits turned over that are set in `b`: too few to matter to what is known of an error, and
    /// enough for most numbers that are lost in it to leave a trace. Nothing if `b` is zero.
    fn traced(&self, a: Self::V, b: Self::V) -> Self::V;
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
    /// a = b; false when either is NaN, true for zeros of either sign.
    fn eq(&self, a: Self::V, b: Self::V) -> Self::M;
    /// Nothing is there: all bits of `s` are zero. That is +0, but not −0, which counts as a number that is there, so
    /// that a machine tests bits, without floating-point exceptions.
    fn absent(&self, s: Self::V) -> Self::M;
    /// `yes` where `m` holds, `no` elsewhere; neither is computed with.
    fn select(&self, m: Self::M, yes: Self::V, no: Self::V) -> Self::V;

    /// c − a · b, rounded once.
    fn fnma(&self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.fma(self.neg(a), b, c)
    }

    /// −s, but `s` where it is absent: the opposite of nothing is nothing, and not −0.
    fn opposite(&self, s: Self::V) -> Self::V {
        self.select(self.absent(s), self.lit(0.0), self.neg(s))
    }

    /// ±s as `v` is signed, but `s` where it is absent.
    fn signed(&self, s: Self::V, v: Self::V) -> Self::V {
        self.select(self.absent(s), self.lit(0.0), self.flip(s, v))
    }

    /// p · s, but 0 where `s` is absent, whatever `p` is: what is not there contributes nothing, not ∞ · 0.
    fn scaled(&self, p: Self::V, s: Self::V) -> Self::V {
        self.select(self.absent(s), self.lit(0.0), self.mul(p, s))
    }

    /// sum + p · s, but `sum` where `s` is absent, whatever `p` is: a test and a merge-masked fma where machines have
    /// masks, a test, an fma and a blend elsewhere.
    fn plus_scaled(&self, sum: Self::V, p: Self::V, s: Self::V) -> Self::V {
        self.select(self.absent(s), sum, self.fma(p, s, sum))
    }

    /// sum − p · s, but `sum` where `s` is absent, whatever `p` is.
    fn minus_scaled(&self, sum: Self::V, p: Self::V, s: Self::V) -> Self::V {
        self.select(self.absent(s), sum, self.fnma(p, s, sum))
    }

    /// a / b, but 0 where `a` is absent, whatever `b` is.
    fn over(&self, a: Self::V, b: Self::V) -> Self::V {
        self.select(self.absent(a), self.lit(0.0), self.div(a, b))
    }
}

/// The last bits of a float that [`Arith::traced`] turns over.
pub const fn trace_bits(format: Format) -> u64 {
    match format {
        Format::F32 => 0x7,
        Format::F16 | Format::F64 | Format::F80 => 0xff,
    }
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
    pub const fn new(format: Format) -> Self {
        Host { format }
    }

    /// `x` rounded to the format.
    ///
    /// `f64` results of single operations on `f32` operands, rounded again, equal the `f32` operation for
    /// + − × ÷ √ (53 ≥ 2·24 + 2: Figueroa, "When is double rounding innocuous?", 1995); `fma` needs its own care.
    #[inline]
    pub fn round(&self, x: f64) -> f64 {
        match self.format {
            Format::F16 => self.format.to_f64(self.format.from_f64(x)),
            Format::F32 => f64::from(x as f32),
            Format::F64 | Format::F80 => x,
        }
    }
}

impl Arith for Host {
    type V = f64;
    type M = bool;

    #[inline]
    fn lit(&self, x: f64) -> f64 {
        self.round(x)
    }
    #[inline]
    fn ulps(&self, n: f64) -> f64 {
        n * f64::exp2(1.0 - f64::from(self.format.precision().min(Format::F64.precision())))
    }
    #[inline]
    fn whole(&self) -> f64 {
        f64::exp2(f64::from(self.format.precision().min(Format::F64.precision())) - 1.0)
    }
    #[inline]
    fn neg(&self, a: f64) -> f64 {
        -a
    }
    #[inline]
    fn abs(&self, a: f64) -> f64 {
        a.abs()
    }
    #[inline]
    fn flip(&self, a: f64, b: f64) -> f64 {
        if b.is_sign_negative() { -a } else { a }
    }
    #[inline]
    fn traced(&self, a: f64, b: f64) -> f64 {
        match self.format {
            Format::F32 => {
                let [a, b] = [a, b].map(|x| (x as f32).to_bits());
                f64::from(f32::from_bits(a ^ b & trace_bits(self.format) as u32))
            }
            Format::F16 | Format::F64 | Format::F80 => {
                f64::from_bits(a.to_bits() ^ b.to_bits() & trace_bits(self.format))
            }
        }
    }
    #[inline]
    fn add(&self, a: f64, b: f64) -> f64 {
        self.round(a + b)
    }
    #[inline]
    fn sub(&self, a: f64, b: f64) -> f64 {
        self.round(a - b)
    }
    #[inline]
    fn mul(&self, a: f64, b: f64) -> f64 {
        self.round(a * b)
    }
    #[inline]
    fn div(&self, a: f64, b: f64) -> f64 {
        self.round(a / b)
    }
    #[inline]
    fn sqrt(&self, a: f64) -> f64 {
        self.round(a.sqrt())
    }
    #[inline]
    fn fma(&self, a: f64, b: f64, c: f64) -> f64 {
        match self.format {
            Format::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
            Format::F16 | Format::F64 | Format::F80 => self.round(a.mul_add(b, c)),
        }
    }
    #[inline]
    fn lt(&self, a: f64, b: f64) -> bool {
        a < b
    }
    #[inline]
    fn eq(&self, a: f64, b: f64) -> bool {
        a == b
    }
    #[inline]
    fn absent(&self, s: f64) -> bool {
        // Widening to f64 keeps zeros and makes none: these are the format's own bits.
        s.to_bits() == 0
    }
    #[inline]
    fn select(&self, m: bool, yes: f64, no: f64) -> f64 {
        if m { yes } else { no }
    }
}
