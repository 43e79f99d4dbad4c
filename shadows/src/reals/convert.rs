//! Between the bits of a float and a real: exactly one way, correctly rounded the other.

use rug::float::{Round, Special};
use rug::{Assign, Float};
use shadowgrind_core::format::{Format, Number};

/// The float of `format` nearest to `real`.
pub fn round(format: Format, real: &Float) -> u128 {
    match format {
        Format::F32 => real.to_f32().to_bits().into(),
        Format::F64 => real.to_f64().to_bits().into(),
        Format::F16 | Format::F80 => to_bits(format, real),
    }
}

/// Exactly the float `bits`, at the format's own precision.
pub fn from_bits(format: Format, bits: u128) -> Float {
    let precision = format.precision();
    match format.decode(bits) {
        Number::Nan { .. } => Float::with_val(precision, Special::Nan),
        Number::Infinite { negative } => signed(Float::with_val(precision, Special::Infinity), negative),
        Number::Finite { negative, significand, exponent } => {
            signed(Float::with_val(precision, significand) << exponent, negative)
        }
    }
}

/// Makes `real`, of 64 bits at least, exactly the float `bits`. What [`from_bits`] does, without an allocation.
pub fn assign(real: &mut Float, format: Format, bits: u128) {
    match format {
        Format::F32 => real.assign(f32::from_bits(bits as u32)),
        Format::F64 => real.assign(f64::from_bits(bits as u64)),
        Format::F16 | Format::F80 => match format.decode(bits) {
            Number::Finite { negative, significand, exponent } => {
                real.assign(significand);
                *real <<= exponent;
                if negative {
                    *real *= -1;
                }
            }
            _ => real.assign(from_bits(format, bits)),
        },
    }
}

fn signed(magnitude: Float, negative: bool) -> Float {
    if negative { -magnitude } else { magnitude }
}

/// The bits of the float nearest to `real`, ties to even.
pub fn to_bits(format: Format, real: &Float) -> u128 {
    let negative = real.is_sign_negative();
    format.encode(match real.get_exp() {
        _ if real.is_nan() => Number::Nan { negative, payload: 0 },
        _ if real.is_infinite() => Number::Infinite { negative },
        None => Number::Finite { negative, significand: 0, exponent: 0 },
        Some(exponent) => {
            let (significand, exponent) = rounded(format, real, exponent);
            Number::Finite { negative, significand, exponent }
        }
    })
}

/// Significand and exponent of |real| ∈ [2^(e−1), 2^e), rounded to the bits that the format has there.
fn rounded(format: Format, real: &Float, e: i32) -> (u64, i32) {
    let bits = e.saturating_sub(format.least_exponent()).min(format.precision() as i32);
    let short = if bits > 0 {
        Float::with_val(bits.unsigned_abs(), real.abs_ref())
    } else {
        // Below the least subnormal all that matters is whether it is above half of that: keep a trace of the rest.
        Float::with_val_round(2, real.abs_ref(), Round::AwayZero).0
    };
    let exponent = short.get_exp().expect("a number that is not zero") - short.prec() as i32;
    let integer = short >> exponent;
    (to_u64(integer), exponent)
}

/// An integer below 2⁶⁴, in two parts: rug has no 64-bit conversion without its big integers.
fn to_u64(mut integer: Float) -> u64 {
    let high = integer.to_f64_round(Round::Zero);
    integer -= high;
    high as u64 + integer.to_f64() as u64
}
