//! Distance between floats of one format, in floats and in bits of error. Knows no reals.

use shadowgrind_core::format::Format;

/// Number of floats from one float to another; infinitely many where one side only is NaN.
#[inline(always)]
pub(crate) fn floats_between(format: Format, a: u128, b: u128) -> f64 {
    if format == Format::F64 && a >> 63 == b >> 63 {
        let (a, b) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
        if !a.is_nan() && !b.is_nan() {
            return a.to_bits().abs_diff(b.to_bits()) as f64;
        }
    }
    match (format.ordinal(a), format.ordinal(b)) {
        (Some(a), Some(b)) => a.abs_diff(b) as f64,
        (None, None) => 0.0,
        _ => f64::INFINITY,
    }
}

/// Error bits of a value so many floats away.
#[inline(always)]
pub(crate) fn error_bits(format: Format, floats: f64) -> f64 {
    match floats {
        0.0 => 0.0,
        _ if floats.is_finite() => (1.0 + floats).log2(),
        _ => format.width().into(),
    }
}

/// 2^bits of the same: what logarithms are taken of, where many are added up.
#[inline(always)]
pub(crate) fn error_power(format: Format, floats: f64) -> f64 {
    if floats.is_finite() { 1.0 + floats } else { 2f64.powi(format.width() as i32) }
}
