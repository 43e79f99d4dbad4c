//! Error of a float that a power of two has scaled: that of the operand, scaled alike. No floating-point operation is carried out, so
//! that no exception is raised. Does not know of which function the result is.

use std::ops::RangeInclusive;

/// Bits of a double's fraction.
const FRACTION_BITS: u32 = 52;
/// Fields that exponents of normal doubles have.
const NORMAL: RangeInclusive<i64> = 1..=0x7fe;

/// The error of `r` as x · 2ⁿ, where x has this error, all numbers of one format; nothing where the result is not exact, or one of the
/// numbers is neither normal nor zero.
#[inline(always)]
pub(super) fn error(x: f64, n: f64, error: f64, r: f64) -> Option<f64> {
    let most = (NORMAL.end() - NORMAL.start()) as f64;
    let n = (n.abs() <= most).then_some(n as i64)?;
    let is_exact = scaled(x, n)?.to_bits() == r.to_bits();
    // An error of −0 is none.
    let error = if is_zero(error) { 0.0 } else { scaled(error, n)? };
    is_exact.then_some(error)
}

/// The float times 2ⁿ, if both are normal, or zero.
#[inline(always)]
fn scaled(x: f64, n: i64) -> Option<f64> {
    let exponent = (x.to_bits() >> FRACTION_BITS & 0x7ff) as i64;
    let is_normal = NORMAL.contains(&exponent) && NORMAL.contains(&(exponent + n));
    let bits = x.to_bits().wrapping_add_signed(if is_zero(x) { 0 } else { n << FRACTION_BITS });
    (is_normal || is_zero(x)).then_some(f64::from_bits(bits))
}

/// Tells whether it is a zero, without asking the processor, which would complain of a NaN that signals.
#[inline(always)]
fn is_zero(x: f64) -> bool {
    x.to_bits() << 1 == 0
}
