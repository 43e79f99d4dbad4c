//! Bit tricks: when the result of an integer or logical operation is still the float it was made from, up to sign and
//! a power of two; and when an addition rounds to an integer.
//!
//! Compilers negate, take |x|, select, and scale by powers of two with such operations; library code takes numbers
//! apart and puts them together again. Knows bit patterns of one lane, no instruction and no shadow.

use crate::format::Format;
use crate::step::Bitwise;

/// If `after`, made of `before` and `other`, is ±`before`·2ᵏ with the same significand: whether the sign differs, and k.
///
/// A significand cut out with a zero exponent field (as `frexp`-like code does between two instructions) stands for
/// itself in [1, 2): cutting scales to that, and putting an exponent back scales from it. That of a power of two is all
/// zeros then. The sign of anything, also of zeros and infinities, can be turned over; exclusive disjunction, which
/// undoes itself when it is done again, does that and no more.
pub fn relation(by: Bitwise, format: Format, before: u128, other: u128, after: u128) -> Option<(bool, i32)> {
    let (x, y) = (Fields::of(format, before)?, Fields::of(format, after)?);
    if x.significand != y.significand {
        return None;
    }
    if before == after {
        return Some((false, 0));
    }
    if before ^ after == 1 << (format.width() - 1) {
        return Some((true, 0));
    }
    let (from, to) = match by {
        Bitwise::Xor => return None,
        _ if y.is_zero() && cuts(by, format, other) => (x.exponent()?, 0),
        Bitwise::Other if x.is_zero() => (0, y.exponent()?),
        _ => (x.exponent()?, y.exponent()?),
    };
    Some((x.negative != y.negative, to - from))
}

/// Whether every float would be negative after this, or none: `other` has the bit of the sign alone, or all others.
/// Nothing where a sign is turned over or kept.
pub fn sets_sign(by: Bitwise, format: Format, other: u128, after: u128) -> Option<bool> {
    let sign = 1 << (format.width() - 1);
    match by {
        Bitwise::And if other == sign - 1 => Some(false),
        // Disjunction sets it, conjunction with the complement clears it.
        Bitwise::Other if other == sign => Some(after & sign != 0),
        _ => None,
    }
}

/// Whether `other` has no bit but where `float`, a normal number, has its exponent. By their bytes alone a sum of the two
/// may look like a float put together from both.
pub fn is_for_exponent(format: Format, float: u128, other: u128) -> bool {
    let exponent =
        |bits: u128| bits << 1 >> format.precision() & ((1 << (format.width() - format.precision())) - 1);
    exponent(float) != 0 && exponent(other) << (format.precision() - 1) == other
}

/// Whether an operation with `other` cuts out just a significand, perhaps with its sign.
fn cuts(by: Bitwise, format: Format, other: u128) -> bool {
    let fraction = format.precision() - 1;
    match by {
        Bitwise::And => other & !(1 << (format.width() - 1)) == (1 << fraction) - 1,
        Bitwise::Low => other & 0xff == fraction.into(),
        Bitwise::Cut => true,
        Bitwise::Xor | Bitwise::Other => false,
    }
}

/// Whether adding `magic` to something that small has rounded it to an integer, which then stands in the last digits of
/// `sum`: those numbers are 1 apart. 2^(p−1) and 1.5·2^(p−1) are taken for magic, of either sign.
pub fn rounds(format: Format, magic: f64, sum: f64) -> bool {
    let whole = f64::exp2(f64::from(format.precision() - 1));
    [whole, 1.5 * whole].contains(&magic.abs()) && (whole..2.0 * whole).contains(&sum.abs())
}

struct Fields {
    negative: bool,
    biased: i32,
    significand: u64,
    largest: i32,
    bias: i32,
}

impl Fields {
    fn of(format: Format, bits: u128) -> Option<Fields> {
        let (exponent_bits, significand_bits) = match format {
            Format::F16 => (5, 10),
            Format::F32 => (8, 23),
            Format::F64 => (11, 52),
            // No integer instruction works on ten bytes.
            Format::F80 => return None,
        };
        let bits = bits as u64;
        let largest = (1 << exponent_bits) - 1;
        Some(Fields {
            negative: bits >> (exponent_bits + significand_bits) & 1 != 0,
            biased: (bits >> significand_bits) as i32 & largest,
            significand: bits & ((1 << significand_bits) - 1),
            largest,
            bias: largest / 2,
        })
    }

    fn is_zero(&self) -> bool {
        self.biased == 0 && self.significand == 0
    }

    /// The unbiased exponent; 0 for a significand on its own. Infinities and zeros have none.
    fn exponent(&self) -> Option<i32> {
        match self.biased {
            0 => (self.significand != 0).then_some(0),
            biased if biased == self.largest => None,
            biased => Some(biased - self.bias),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRACTION: u64 = 0x000f_ffff_ffff_ffff;

    fn relation_by(by: Bitwise, x: f64, other: u64, y: f64) -> Option<(bool, i32)> {
        relation(by, Format::F64, x.to_bits().into(), other.into(), y.to_bits().into())
    }

    fn relation64(x: f64, y: f64) -> Option<(bool, i32)> {
        relation_by(Bitwise::Other, x, 0, y)
    }

    #[test]
    fn signs_and_powers_of_two_are_recognised() {
        assert_eq!(relation64(1.75, 1.75), Some((false, 0)));
        assert_eq!(relation64(1.75, -1.75), Some((true, 0)));
        assert_eq!(relation64(1.75, 14.0), Some((false, 3)));
        assert_eq!(relation64(-1.75, 0.4375), Some((true, -2)));
        assert_eq!(relation64(1.0, -8.0), Some((true, 3)));
        assert_eq!(relation64(0.0, -0.0), Some((true, 0)));
        assert_eq!(relation64(f64::NEG_INFINITY, f64::INFINITY), Some((true, 0)));
    }

    #[test]
    fn other_numbers_are_not() {
        assert_eq!(relation64(1.75, 1.5), None);
        assert_eq!(relation64(1.0, 0.0), None);
        assert_eq!(relation64(1.0, f64::INFINITY), None);
    }

    #[test]
    fn a_significand_survives_being_cut_out_and_put_back() {
        for (x, k) in [(44.0_f64, 5), (4.0, 2), (-0.5, -1)] {
            let cut = f64::from_bits(x.to_bits() & FRACTION);
            let back = f64::from_bits(cut.to_bits() | 0x3ff0_0000_0000_0000);
            assert_eq!(relation_by(Bitwise::And, x, FRACTION, cut), Some((x < 0.0, -k)));
            assert_eq!(relation_by(Bitwise::Cut, x, 0, cut), Some((x < 0.0, -k)));
            assert_eq!(relation_by(Bitwise::Low, x, 52, cut), Some((x < 0.0, -k)));
            assert_eq!(relation64(cut, back), Some((false, 0)));
            assert_eq!(back, x.abs() * f64::from(-k).exp2());
        }
    }

    #[test]
    fn what_is_masked_away_is_no_significand() {
        assert_eq!(relation_by(Bitwise::And, 4.0, 0, 0.0), None);
        assert_eq!(relation_by(Bitwise::And, 4.0, FRACTION >> 1, 0.0), None);
        assert_eq!(relation_by(Bitwise::Low, 4.0, 32, 0.0), None);
    }

    #[test]
    fn exclusive_disjunction_scales_nothing() {
        assert_eq!(relation_by(Bitwise::Xor, 1.75, 1 << 63, -1.75), Some((true, 0)));
        assert_eq!(relation_by(Bitwise::Xor, 1.75, 1.0_f64.to_bits() ^ 2.0_f64.to_bits(), 3.5), None);
    }

    #[test]
    fn magic_numbers_round_what_is_small() {
        let magic = 1.5 * 2.0_f64.powi(52);
        assert!(rounds(Format::F64, magic, magic + 2.5));
        assert!(rounds(Format::F64, -magic, 2.5 - magic));
        assert!(rounds(Format::F64, 2.0_f64.powi(52), 2.0_f64.powi(52) + 7.0));
        assert!(rounds(Format::F32, 8388608.0, 8388610.0));
        assert!(rounds(Format::F80, 1.5 * 2.0_f64.powi(63), 1.5 * 2.0_f64.powi(63)));
        // What was added is large itself, or was taken off again.
        assert!(!rounds(Format::F64, magic, magic + magic));
        assert!(!rounds(Format::F64, -magic, 3.0));
        assert!(!rounds(Format::F64, 1e16, 1e16));
        assert!(!rounds(Format::F64, 8388608.0, 8388610.0));
    }

    #[test]
    fn an_unchanged_pattern_keeps_any_shadow() {
        let nan = u128::from(f64::NAN.to_bits());
        for by in [Bitwise::And, Bitwise::Xor, Bitwise::Other] {
            assert_eq!(relation(by, Format::F64, nan, 0, nan), Some((false, 0)));
            assert_eq!(relation(by, Format::F64, 0, 0, 0), Some((false, 0)));
        }
    }
}
