//! Formats of floats that the commonest operations are in: their arithmetic, and what the fast path asks of them.
//!
//! Floats of either are handled as doubles, which hold both. Knows no shadow.

use shadowgrind_core::format::Format;

/// A format of floats. Its arithmetic takes and gives its floats, as doubles.
pub trait Ieee: Copy {
    /// The format.
    const FORMAT: Format;
    /// Largest size of a moderate exponent: up to there no residual under- or overflows.
    const MODERATE: u64;

    /// The bits of a float of the format.
    fn bits(x: f64) -> u64;
    /// The float of these bits.
    fn float(bits: u64) -> f64;
    /// `a + b`.
    fn add(a: f64, b: f64) -> f64;
    /// `a − b`.
    fn sub(a: f64, b: f64) -> f64;
    /// `a · b`.
    fn mul(a: f64, b: f64) -> f64;
    /// `a / b`.
    fn div(a: f64, b: f64) -> f64;
    /// `a · b + c`.
    fn fma(a: f64, b: f64, c: f64) -> f64;
    /// `√a`.
    fn sqrt(a: f64) -> f64;
}

/// Floats of eight bytes.
#[derive(Clone, Copy, Debug)]
pub struct Double;

/// Floats of four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Single;

/// The arithmetic of a format in that of a type of Rust's.
macro_rules! arithmetic {
    ($float:ty) => {
        #[inline(always)]
        fn bits(x: f64) -> u64 {
            (x as $float).to_bits().into()
        }
        #[inline(always)]
        fn float(bits: u64) -> f64 {
            <$float>::from_bits(bits as _).into()
        }
        #[inline(always)]
        fn add(a: f64, b: f64) -> f64 {
            (a as $float + b as $float).into()
        }
        #[inline(always)]
        fn sub(a: f64, b: f64) -> f64 {
            (a as $float - b as $float).into()
        }
        #[inline(always)]
        fn mul(a: f64, b: f64) -> f64 {
            (a as $float * b as $float).into()
        }
        #[inline(always)]
        fn div(a: f64, b: f64) -> f64 {
            (a as $float / b as $float).into()
        }
        #[inline(always)]
        fn fma(a: f64, b: f64, c: f64) -> f64 {
            (a as $float).mul_add(b as $float, c as $float).into()
        }
        #[inline(always)]
        fn sqrt(a: f64) -> f64 {
            (a as $float).sqrt().into()
        }
    };
}

impl Ieee for Double {
    const FORMAT: Format = Format::F64;
    const MODERATE: u64 = 480;
    arithmetic!(f64);
}

impl Ieee for Single {
    const FORMAT: Format = Format::F32;
    // A product's residual may be 2⁴⁸ times smaller than the product, and that twice as far out as its factors.
    const MODERATE: u64 = 60;
    arithmetic!(f32);
}
