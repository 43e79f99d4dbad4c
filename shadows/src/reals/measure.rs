//! Distance of a float from its real: error bits, correct digits, decimal notation.

use rug::Float;
use shadowgrind_core::format::Format;

use super::real::Real;
use super::{convert, range};
use crate::diagnosis::number::Attributed;
pub use crate::diagnosis::number::Measured;
use crate::diagnosis::special::is_special;
use crate::exact::to_f64;

/// Digits of a real worth showing: those of the widest format and a few that it lacks.
pub const DIGITS: usize = 25;

/// Tells whether `real` is the float `bits` itself, not merely near it. Both NaN counts.
pub fn is_exactly(real: &Float, format: Format, bits: u128) -> bool {
    match format {
        Format::F32 | Format::F64 => {
            let float = to_f64(format, bits);
            *real == float || real.is_nan() && float.is_nan()
        }
        Format::F16 | Format::F80 => {
            let float = convert::from_bits(format, bits);
            *real == float || real.is_nan() && float.is_nan()
        }
    }
}

/// Measures the float `bits` against its real; without a shadow it is its own.
pub fn measure(format: Format, bits: u128, shadow: Option<&Real>) -> Measured {
    let Some(shadow) = shadow else {
        let real = decimal(&convert::from_bits(format, bits), DIGITS);
        return Measured { error_bits: 0.0, correct_digits: digits_shown(format, bits), real };
    };
    let error_bits = shadow.bits_off(format, bits);
    let (format, bits) = shadow.narrowed(format, bits);
    let value = shadow.value().float();
    let real = match range::side_text(shadow) {
        Some(side) => format!("{side} {}", decimal(&value, DIGITS)),
        None if shadow.is_unknown() => decimal(&Float::with_val(64, f64::NAN), DIGITS),
        None => decimal(&value, DIGITS),
    };
    Measured { error_bits, correct_digits: correct_digits(format, bits, &value), real }
}

/// Decimal digits that a format holds.
fn digits_of(format: Format) -> f64 {
    f64::from(format.precision()) * std::f64::consts::LOG10_2
}

/// Decimal digits that a float holds, which may have none.
fn digits_shown(format: Format, bits: u128) -> f64 {
    if is_special(format, bits) { f64::NAN } else { digits_of(format) }
}

/// −log₁₀ of the relative error, from none to all that the format has.
pub fn correct_digits(format: Format, bits: u128, real: &Float) -> f64 {
    let float = convert::from_bits(format, bits);
    if !float.is_finite() || float == *real {
        return digits_shown(format, bits);
    }
    if !real.is_finite() || real.is_zero() {
        return 0.0;
    }
    let relative = Float::with_val(64, Float::with_val(real.prec(), &float - real) / real);
    let (fraction, exponent) = relative.to_f64_exp();
    let digits = -(fraction.abs().log10() + f64::from(exponent) * std::f64::consts::LOG10_2);
    if digits > 0.0 { digits.min(digits_of(format)) } else { 0.0 }
}

/// `real` in decimal, `digits` at most: plain notation where that is short, else with an exponent.
pub fn decimal(real: &Float, digits: usize) -> String {
    if real.is_nan() {
        return "NaN".into();
    }
    let sign = if real.is_sign_negative() { "-" } else { "" };
    if real.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (_, all, exponent) = real.to_sign_string_exp(10, Some(digits));
    let significant = all.trim_end_matches('0');
    let Some(exponent) = exponent.filter(|_| !significant.is_empty()) else { return format!("{sign}0.0") };
    // The number is 0.significant · 10^exponent.
    let point = exponent as isize;
    match point {
        -4..=0 => format!("{sign}0.{}{significant}", "0".repeat(point.unsigned_abs())),
        1..=21 if significant.len() as isize <= point => {
            format!("{sign}{significant}{}.0", "0".repeat(point as usize - significant.len()))
        }
        1..=21 => format!("{sign}{}.{}", &significant[..point as usize], &significant[point as usize..]),
        _ => {
            let (head, tail) = significant.split_at(1);
            let point_tail = if tail.is_empty() { String::new() } else { format!(".{tail}") };
            format!("{sign}{head}{point_tail}e{}", exponent - 1)
        }
    }
}
