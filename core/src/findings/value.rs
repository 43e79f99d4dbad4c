//! A float of the guest, bit for bit, and how reports write it.
//!
//! Every rule about the text of numbers in reports is here: JSON numbers that round-trip, strings for NaN and infinities,
//! 21 digits for 80-bit values. Does no arithmetic on values; that is a shadow's business.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::decimal;
use crate::format::Format;

/// The bits of a guest float and the format they are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    format: Format,
    bits: [u8; 10],
}

impl Value {
    /// The float whose memory image starts `bytes`; missing bytes are zero, those beyond the format are ignored.
    pub fn new(format: Format, bytes: &[u8]) -> Self {
        let mut bits = [0; 10];
        let size = format.bytes().min(bytes.len());
        bits[..size].copy_from_slice(&bytes[..size]);
        Value { format, bits }
    }

    /// The format of the float.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The memory image; bytes beyond the format's size are zero.
    pub fn bits(&self) -> [u8; 10] {
        self.bits
    }

    /// The nearest `f64`, for comparing and sorting; exact for all but the widest format.
    pub fn to_f64(&self) -> f64 {
        match self.format {
            Format::F16 => Format::F16.to_f64(u16::from_le_bytes(self.low()).into()),
            Format::F32 => f32::from_le_bytes(self.low()).into(),
            Format::F64 => f64::from_le_bytes(self.low()),
            Format::F80 => match decimal::parts(self.bits) {
                decimal::Parts::Finite { negative, significand, exponent } => {
                    let magnitude = scale(significand, exponent);
                    if negative { -magnitude } else { magnitude }
                }
                decimal::Parts::Infinite { negative: false } => f64::INFINITY,
                decimal::Parts::Infinite { negative: true } => f64::NEG_INFINITY,
                decimal::Parts::Nan => f64::NAN,
            },
        }
    }

    /// Tells whether it is exactly that number.
    pub fn is(&self, x: f64) -> bool {
        let bits = u128::from(x.to_bits());
        let own = self.bits;
        Format::F64.convert(bits, self.format) == self.format.bits_of(&own)
            && self.format.convert(self.format.bits_of(&own), Format::F64) == bits
    }

    /// Tells whether it is an infinity.
    pub fn is_infinite(&self) -> bool {
        match self.format {
            Format::F80 => matches!(decimal::parts(self.bits), decimal::Parts::Infinite { .. }),
            _ => self.to_f64().is_infinite(),
        }
    }

    /// Tells whether it is NaN.
    pub fn is_nan(&self) -> bool {
        self.to_f64().is_nan()
    }

    fn low<const N: usize>(&self) -> [u8; N] {
        std::array::from_fn(|i| self.bits[i])
    }
}

impl From<f32> for Value {
    fn from(x: f32) -> Self {
        Value::new(Format::F32, &x.to_le_bytes())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Value::new(Format::F64, &x.to_le_bytes())
    }
}

/// The shortest decimal that reads back as the same float of the same format; 21 digits for 80 bits.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.to_f64();
        match self.format {
            _ if x.is_nan() => f.pad("NaN"),
            Format::F32 if x.is_finite() => f.pad(&format!("{:?}", f32::from_le_bytes(self.low()))),
            Format::F16 | Format::F64 if x.is_finite() => f.pad(&format!("{x:?}")),
            Format::F80 => f.pad(&decimal::digits21(self.bits)),
            _ => f.pad(if x > 0.0 { "Infinity" } else { "-Infinity" }),
        }
    }
}

/// An `f64` as reports write it: a number, or one of the strings `NaN`, `Infinity`, `-Infinity`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&Value::from(self.0))
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or `NaN`, `Infinity`, `-Infinity`")
            }

            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Number, E> {
                Ok(Number(x))
            }

            fn visit_u64<E: de::Error>(self, x: u64) -> Result<Number, E> {
                Ok(Number(x as f64))
            }

            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Number, E> {
                Ok(Number(x as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// significand · 2^exponent as an `f64`, rounded once to nearest even.
fn scale(significand: u64, exponent: i32) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    let width = 64 - significand.leading_zeros() as i32;
    // Fewer than 53 bits remain below the smallest normal number, none below half the smallest subnormal one.
    let kept = 53.min(width + exponent + 1074);
    let dropped = (width - kept).max(0);
    let (q, up) = match dropped {
        0 => (significand, false),
        1..=63 => {
            let (q, rest) = (significand >> dropped, significand << (64 - dropped));
            (q, rest > 1 << 63 || (rest == 1 << 63 && q & 1 == 1))
        }
        64 => (0, significand > 1 << 63),
        _ => (0, false),
    };
    // The product is representable, so both factors of the power of two are exact; one alone may not be.
    let power = exponent + dropped;
    let half = power / 2;
    (q + u64::from(up)) as f64 * 2f64.powi(half) * 2f64.powi(power - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f80(sign_exponent: u16, significand: u64) -> Value {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&significand.to_le_bytes());
        bytes[8..].copy_from_slice(&sign_exponent.to_le_bytes());
        Value::new(Format::F80, &bytes)
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for x in [0.1, -0.0, 5e-324, 3.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let text = serde_json::to_string(&Number(x)).unwrap();
            let Number(read) = serde_json::from_str(&text).unwrap();
            assert!(read.to_bits() == x.to_bits() || read.is_nan() && x.is_nan(), "{text}");
        }
        assert!(serde_json::from_str::<Number>("\"x\"").is_err());
        assert_eq!(Value::from(0.1f32).to_string(), "0.1");
    }

    #[test]
    fn f80_to_f64_rounds_once() {
        assert_eq!(f80(0x3fff, 1 << 63).to_f64(), 1.0);
        assert_eq!(f80(0xbfff, (1 << 63) | (1 << 10)).to_f64(), -1.0, "a tie goes to even");
        assert_eq!(f80(0x3fff, (1 << 63) | (1 << 10) | 1).to_f64(), 1.0 + f64::EPSILON);
        assert_eq!(f80(0x7ffe, u64::MAX).to_f64(), f64::INFINITY);
        assert_eq!(f80(0x3fff - 1074, 1 << 63).to_f64(), 5e-324);
        assert_eq!(f80(0x3fff - 1075, 1 << 63).to_f64(), 0.0, "half the smallest is a tie");
        assert_eq!(f80(0x3fff - 1075, (1 << 63) | 1).to_f64(), 5e-324);
        assert_eq!(f80(0x3fff - 1076, u64::MAX).to_f64(), 0.0);
        assert_eq!(f80(0, 1).to_f64(), 0.0);
        // 2^-1073 + 2^-1075 + 2^-1136: rounding to 53 bits first would lose the last term and tie to 1e-323.
        assert_eq!(f80(0x3fff - 1073, (1 << 63) | (1 << 61) | 1).to_f64(), 1.5e-323);
    }

    #[test]
    fn f64_survives_the_way_through_80_bits() {
        for x in [1.5, 0.1, -3e300, 2.2250738585072014e-308, 1.7976931348623157e308] {
            let bits = f64::to_bits(x);
            let exponent = (bits >> 52 & 0x7ff) as u16 + 0x3fff - 1023;
            let wide = f80(exponent | (bits >> 63 << 15) as u16, 1 << 63 | bits << 11);
            assert_eq!(wide.to_f64(), x);
        }
    }
}
