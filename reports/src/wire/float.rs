//! A float of the program as the report has it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use shadowgrind_core::findings::Value;
use shadowgrind_core::format::Format;

/// A float of the program: a number that is the very float, or a text for what JSON has no number for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Float<'a> {
    /// A finite float of 64 bits or less.
    Number(f64),
    /// `NaN`, `Infinity` or `-Infinity`, or the 21 digits of a float of 80 bits.
    Text(Cow<'a, str>),
}

impl Float<'_> {
    /// The nearest `f64`; NaN for a text that is no number.
    pub fn to_f64(&self) -> f64 {
        match self {
            Float::Number(x) => *x,
            Float::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }
}

impl From<Value> for Float<'_> {
    fn from(value: Value) -> Self {
        match value.to_f64() {
            x if x.is_finite() && value.format() != Format::F80 => Float::Number(x),
            _ => Float::Text(value.to_string().into()),
        }
    }
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

    fn json(value: Value) -> String {
        let written = Float::from(value);
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(serde_json::from_str::<Float<'_>>(&text).unwrap(), written);
        text
    }

    #[test]
    fn numbers_round_trip() {
        assert_eq!(json(0.1f64.into()), "0.1");
        assert_eq!(json(0.1f32.into()), "0.10000000149011612");
        assert_eq!(json((-0.0f64).into()), "-0.0");
        assert_eq!(json(5e-324f64.into()), "5e-324");
    }

    #[test]
    fn what_json_cannot_say_is_a_string() {
        assert_eq!(json(f64::NAN.into()), "\"NaN\"");
        assert_eq!(json((-f64::NAN).into()), "\"NaN\"");
        assert_eq!(json(f32::INFINITY.into()), "\"Infinity\"");
        assert_eq!(json(f64::NEG_INFINITY.into()), "\"-Infinity\"");
        assert_eq!(json(f80(0xffff, 1 << 63)), "\"-Infinity\"");
        assert_eq!(json(f80(0x7fff, 3 << 62)), "\"NaN\"");
    }

    #[test]
    fn eighty_bits_are_a_string_of_21_digits() {
        assert_eq!(json(f80(0x3fff, 1 << 63)), "\"1.00000000000000000000e+00\"");
        assert_eq!(json(f80(0xbffb, 0xcccccccccccccccd)), "\"-1.00000000000000000001e-01\"");
    }
}
