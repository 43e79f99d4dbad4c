//! x87 80-bit floats in decimal, exactly rounded.
//!
//! Rust has no 80-bit float, and an `f64` in between would lose the digits that were asked for.

use crate::format::Format;
use crate::text::{Float, Notation, Style};

/// Significant digits that tell any two 80-bit floats apart: 1 + ⌈64 · log10 2⌉.
const DIGITS: u32 = 21;

/// The parts of an 80-bit float, from its ten bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// significand · 2^exponent.
    Finite { negative: bool, significand: u64, exponent: i32 },
    /// ±∞.
    Infinite { negative: bool },
    /// NaN, or an encoding the processor refuses since the 80387 (the integer bit missing where it must be set).
    Nan,
}

/// Takes an 80-bit float apart.
pub(crate) fn parts(bits: [u8; 10]) -> Parts {
    let significand = u64::from_le_bytes(std::array::from_fn(|i| bits[i]));
    let top = u16::from_le_bytes([bits[8], bits[9]]);
    let (negative, biased) = (top >> 15 == 1, i32::from(top & 0x7fff));
    match (biased, significand >> 63, significand << 1) {
        (0x7fff, 1, 0) => Parts::Infinite { negative },
        (0x7fff, ..) => Parts::Nan,
        (0, ..) => Parts::Finite { negative, significand, exponent: 1 - 16383 - 63 },
        (_, 0, _) => Parts::Nan,
        _ => Parts::Finite { negative, significand, exponent: biased - 16383 - 63 },
    }
}

/// `d.dddde±xx` with 21 digits, rounded to nearest even, as C's `%.20Le` writes it; or NaN, Infinity, -Infinity.
pub(crate) fn digits21(bits: [u8; 10]) -> String {
    match parts(bits) {
        Parts::Finite { .. } => {}
        Parts::Infinite { negative } => return if negative { "-Infinity" } else { "Infinity" }.into(),
        Parts::Nan => return "NaN".into(),
    }
    let format = Format::F80;
    Notation::new(Style::Scientific, Some(DIGITS - 1)).write(&Float { format, bits: format.bits_of(&bits) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sign_exponent: u16, significand: u64) -> String {
        let mut bits = [0; 10];
        bits[..8].copy_from_slice(&significand.to_le_bytes());
        bits[8..].copy_from_slice(&sign_exponent.to_le_bytes());
        digits21(bits)
    }

    /// Expected strings are glibc's `printf("%.20Le")` of the same bits.
    #[test]
    fn as_printf_writes_them() {
        assert_eq!(text(0x4000, 0xc90fdaa22168c235), "3.14159265358979323851e+00");
        assert_eq!(text(0x7ffe, u64::MAX), "1.18973149535723176502e+4932");
        assert_eq!(text(0x0001, 1 << 63), "3.36210314311209350626e-4932");
        assert_eq!(text(0x0000, 1), "3.64519953188247460253e-4951");
        assert_eq!(text(0x403e, u64::MAX), "1.84467440737095516150e+19");
        assert_eq!(text(0xc005, 0xfc00000000000000), "-1.26000000000000000000e+02");
        assert_eq!(text(0x0000, 0), "0.00000000000000000000e+00");
        assert_eq!(text(0x8000, 0), "-0.00000000000000000000e+00");
    }

    #[test]
    fn rounding_carries_through_nines() {
        // 1 − 2^−64: 0.99999999999999999994579…
        assert_eq!(text(0x3ffe, u64::MAX), "9.99999999999999999946e-01");
        // 10^22 − 2^10, the float below 10^22, has 22 digits: 9999999999999999998976.
        assert_eq!(text(0x4048, 0x878678326eac8fff), "9.99999999999999999898e+21");
    }

    #[test]
    fn invalid_encodings_are_nan() {
        assert_eq!(text(0x3fff, 1), "NaN", "unnormal");
        assert_eq!(text(0x7fff, 0), "NaN", "pseudo-infinity");
        assert_eq!(text(0x0000, 1 << 63), "3.36210314311209350626e-4932", "a pseudo-denormal is a number");
    }
}
