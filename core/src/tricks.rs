//! Bit tricks: when the result of an integer or logical operation is still the float it was made from, up to sign and
//! a power of two; and when an addition rounds to an integer or a fraction.
//!
//! Compilers negate, take |x|, select, and scale by powers of two with such operations; library code takes numbers
//! apart and puts them together again. Knows bit patterns of one lane, no instruction and no shadow.

use crate::format::Format;
use crate::step::Bitwise;

/// Relation of `after`, made of `before` and `other`, to `before`: if it is ±`before`·2ᵏ with the same significand,
/// whether the sign differs, and k.
///
/// A significand cut out with a zero exponent field (as `frexp`-like code does between two instructions) stands for
/// itself in [1, 2): cutting scales to that, and putting an exponent back scales from it. That of a power of two is all
/// zeros then. So does one with an exponent of ones, which is there between two instructions where compilers set bits of
/// the exponent before they clear others. The sign of anything, also of zeros and infinities, can be turned over; exclusive disjunction, which
/// undoes itself when it is done again, does that and no more. Patterns that are the same by chance are not: what is cut
/// out of a zero, the exponent of a power of two on its own, a product with anything but 1.
pub fn relation(by: Bitwise, format: Format, before: u128, other: u128, after: u128) -> Option<(bool, i32)> {
    let (x, y) = (Fields::of(format, before), Fields::of(format, after));
    if x.significand != y.significand || !may_keep(by, format, x.is_zero(), other) {
        return None;
    }
    if before == after {
        return Some((false, 0));
    }
    if before ^ after == sign(format) {
        return Some((true, 0));
    }
    let (from, to) = match by {
        Bitwise::Xor | Bitwise::Product => return None,
        _ if y.is_zero() && cuts(by, format, other) => (x.exponent()?, 0),
        // Bits of an exponent are set, or some that were set are cleared.
        Bitwise::Other if y.is_infinite() && Fields::of(format, other).is_exponent() => (x.exponent()?, 0),
        Bitwise::And if x.is_infinite() && !y.is_zero() => (0, y.exponent()?),
        Bitwise::Other | Bitwise::Sum | Bitwise::Difference if x.is_zero() => (0, y.exponent()?),
        _ => (x.exponent()?, y.exponent()?),
    };
    Some((x.negative != y.negative, to - from))
}

/// Relation of two floats that differ in sign and exponent alone: whether the sign differs, and the power of two between
/// them. Nothing for zeros, subnormal numbers, infinities and NaN.
pub fn power_between(format: Format, before: u128, after: u128) -> Option<(bool, i32)> {
    let (x, y) = (Fields::of(format, before), Fields::of(format, after));
    let is_normal = |fields: &Fields| (1..fields.largest).contains(&fields.biased);
    let related = x.significand == y.significand && is_normal(&x) && is_normal(&y);
    related.then_some((x.negative != y.negative, y.biased - x.biased))
}

/// Relation of `after`, made of `before` by exclusive disjunction with what is no float, to that: whether the sign differs, and the
/// power of two between them, digits aside. Another exponent is the result's only if that `is_float`, and no digit was turned off.
/// A significand on its own counts as in [`relation`].
pub fn flip(format: Format, before: u128, after: u128, is_float: bool) -> Option<(bool, i32)> {
    let (x, y) = (Fields::of(format, before), Fields::of(format, after));
    let turned = x.negative != y.negative;
    if x.biased == y.biased {
        return Some((turned, 0));
    }
    let joined = is_float && x.significand & !y.significand == 0;
    joined.then(|| Some((turned, y.exponent()? - x.exponent()?))).flatten()
}

/// Relation of `after`, made of `before` by exclusive disjunction, to that, as in [`relation`], if a significand on its own has been given
/// an exponent, or has lost it, with all its digits as they were.
pub fn given_exponent(format: Format, before: u128, after: u128) -> Option<(bool, i32)> {
    let (x, y) = (Fields::of(format, before), Fields::of(format, after));
    let is_one_alone = x.biased != y.biased && (x.biased == 0 || y.biased == 0);
    let same = is_one_alone && x.significand == y.significand;
    same.then(|| Some((x.negative != y.negative, y.exponent_or_zero()? - x.exponent_or_zero()?))).flatten()
}

/// Tells whether `other`, of eight bytes, is for the fields of one double and not for those of two narrow floats: whether it cuts a
/// significand out, or puts an exponent to `float`, which is a significand on its own.
pub fn is_for_double(by: Bitwise, float: u128, other: u128) -> bool {
    let [float, exponent] = [float, other].map(|bits| Fields::of(Format::F64, bits));
    match by {
        Bitwise::And => cuts(by, Format::F64, other),
        Bitwise::Other | Bitwise::Xor => {
            float.biased == 0 && exponent.biased != 0 && exponent.significand == 0
        }
        _ => false,
    }
}

/// Tells whether `after` is `before` with other digits, so that it is that rounded, more or less: sign and exponent are the same.
/// Nothing of the kind is said of zeros, subnormal numbers, infinities and NaN.
pub fn differ_in_digits(format: Format, before: u128, after: u128) -> bool {
    let significand = (1 << (format.precision() - 1)) - 1;
    (before ^ after) & !significand == 0
        && power_between(format, before & !significand, before & !significand).is_some()
}

/// Movement of a sum or difference of a float `before`, as an integer, and a constant, with the float: a unit in the
/// last place of `before` becomes one of `after`. Returns whether it moves the other way, and the power of two between
/// the units. `subtracted`: it is the float that is taken from the constant. Zeros, subnormal numbers and significands
/// on their own count as having exponent 0, as in [`relation`].
pub fn moves_along(format: Format, before: u128, after: u128, subtracted: bool) -> Option<(bool, i32)> {
    let (x, y) = (Fields::of(format, before), Fields::of(format, after));
    if x.biased == y.biased {
        return Some((x.negative != y.negative) != subtracted).map(|turned| (turned, 0));
    }
    if y.is_zero() {
        return None;
    }
    Some(((x.negative != y.negative) != subtracted, y.exponent_or_zero()? - x.exponent_or_zero()?))
}

/// Integer to be added to the upper end of a shadow, of as many bytes as `before` and `after`, which are the upper end
/// of a float (its last one, two or four bytes) as an integer operation found and left it, sign aside; and whether the
/// sign was turned over. Nothing if more than exponent and sign has changed.
pub fn exponent_change(bytes: usize, before: u32, after: u32) -> Option<(bool, i32)> {
    /// Bits of sign and exponent of the widest float.
    const UPPER: usize = 12;
    let fraction = (1_u32 << (8 * bytes).saturating_sub(UPPER)) - 1;
    let sign = 1_u32 << (8 * bytes - 1);
    let magnitude = |bits: u32| (bits & (sign - 1)) as i32;
    let same = (before ^ after) & fraction == 0;
    same.then(|| ((before ^ after) & sign != 0, magnitude(after) - magnitude(before)))
}

/// The upper end of a shadow with an [`exponent_change`]; nothing if its exponent, of as many bits as a double's, has no
/// room for that.
pub fn with_exponent_change(bytes: usize, cell: u32, (turned, by): (bool, i32)) -> Option<u32> {
    let sign = 1_u32 << (8 * bytes - 1);
    let magnitude = ((cell & (sign - 1)) as i32).checked_add(by)?;
    let within = by == 0 || magnitude > 0 && magnitude.cast_unsigned() < sign;
    within.then(|| cell & sign ^ if turned { sign } else { 0 } | magnitude.cast_unsigned())
}

/// Tells whether `after` has no digit of a float's significand: whether it is zero, or one of `before` shifted to the right
/// until no more than sign and exponent is left.
pub fn has_no_digits(format: Format, before: [u128; 2], after: u128) -> bool {
    let (width, fraction) = (format.width(), format.precision() - 1);
    // The upper half of a double has fewer.
    let fraction = if format == Format::F32 { fraction.min(20) } else { fraction };
    let ones = u128::MAX >> (128 - width);
    let shifted = |bits: u128, by: u32| {
        let copies = if bits >> (width - 1) == 0 { 0 } else { ones ^ ones >> by };
        [bits >> by, bits >> by | copies].contains(&after)
    };
    after == 0 || before.iter().any(|&bits| (fraction..width).any(|by| shifted(bits, by)))
}

/// The bit of the sign.
fn sign(format: Format) -> u128 {
    1 << (format.width() - 1)
}

/// Tells whether an operand, zero or not, can still be there after an operation with `other`.
fn may_keep(by: Bitwise, format: Format, is_zero: bool, other: u128) -> bool {
    let (magnitude, fraction) = (sign(format) - 1, (1 << (format.precision() - 1)) - 1);
    match by {
        Bitwise::And if is_zero => other & magnitude == magnitude,
        Bitwise::And => other & fraction != 0,
        Bitwise::Low if is_zero => other & 0xff >= u128::from(format.width() - 1),
        Bitwise::Product => other == 1,
        _ => true,
    }
}

/// Tells whether every float would be negative after this, or none: `other` has the bit of the sign alone, or all
/// others. Not so where a sign is turned over or kept.
pub fn sets_sign(by: Bitwise, format: Format, other: u128) -> bool {
    let sign = sign(format);
    match by {
        Bitwise::And => other == sign - 1,
        // Disjunction sets it, conjunction with the complement clears it.
        Bitwise::Other => other == sign,
        _ => false,
    }
}

/// Tells whether `other` has no bit but where `float`, a normal number, has its exponent. By their bytes alone a sum of
/// the two may look like a float put together from both.
pub fn is_for_exponent(format: Format, float: u128, other: u128) -> bool {
    let exponent =
        |bits: u128| bits << 1 >> format.precision() & ((1 << (format.width() - format.precision())) - 1);
    other != 0 && exponent(float) != 0 && exponent(other) << (format.precision() - 1) == other
}

/// Digits behind the first that a place in a table may be made of: fewer than any format has that numbers are rounded to (bfloat16 has
/// seven).
pub const FEW_DIGITS: u32 = 5;

/// Tells whether a mask leaves a float its exponent and a few digits behind the first: a place in a table is made of these, or they are
/// taken off.
pub fn leaves_few_digits(format: Format, mask: u128) -> bool {
    let significand = (1 << (format.precision() - 1)) - 1;
    let exponent = (sign(format) - 1) & !significand;
    mask & exponent == exponent && mask & significand != 0 && mask & (significand >> FEW_DIGITS) == 0
}

/// Tells whether an operation with `other` cuts out just a significand, perhaps with its sign.
fn cuts(by: Bitwise, format: Format, other: u128) -> bool {
    let fraction = format.precision() - 1;
    match by {
        Bitwise::And => other & !sign(format) == (1 << fraction) - 1,
        Bitwise::Low => other & 0xff == fraction.into(),
        _ => false,
    }
}

/// Tells whether adding `magic` to something that small has rounded it to an integer, which then stands in the last digits of
/// `sum`: those numbers are 1 apart. 2^(p−1) and 1.5·2^(p−1) are taken for magic, of either sign.
pub fn rounds(format: Format, magic: f64, sum: f64) -> bool {
    let whole = f64::exp2(f64::from(format.precision() - 1));
    [whole, 1.5 * whole].contains(&magic.abs()) && (whole..2.0 * whole).contains(&sum.abs())
}

/// Bits of the finest fraction that is rounded to: the largest tables of exponential functions have as many entries.
pub const FRACTION_BITS: u32 = 8;

/// Tells whether a number of this format, of which these are the bits, may be meant to round to fractions: ±1.5·2ⁿ with a last place
/// between 2⁻⁸ and 1, perhaps with the bias of exponents added, so that the last digits of a sum are an exponent above a place in a
/// table, or with a single one of these digits. It may be any other number as well, unless it is taken off again.
#[inline(always)]
pub fn may_round_to_fractions(format: Format, bits: u128) -> bool {
    let (least, span) = match format {
        Format::F32 | Format::F64 => (format.precision() - 1 - FRACTION_BITS, FRACTION_BITS),
        Format::F16 | Format::F80 => return false,
    };
    let fraction = format.precision() - 1;
    let (half, digits) = (1 << (fraction - 1), bits & ((1 << fraction) - 1));
    let bias = (1 << (format.width() - format.precision() - 1)) - 1;
    let field = (bits >> fraction) as u32 & (2 * bias + 1);
    let added = digits ^ half;
    // Tables may have more entries than the last place has fractions, or fewer.
    let is_offset = || {
        let place = added.trailing_zeros();
        place <= FRACTION_BITS && [1, u128::from(bias)].contains(&(added >> place))
    };
    field.wrapping_sub(bias + least) <= span && (added == 0 || is_offset())
}

/// Tells whether adding `magic`, which is taken off again, to something small has rounded it to a multiple of the last place of
/// `magic`: what was rounded is less than a 32nd of that. Both are bits of numbers of this format.
pub fn rounds_to_fractions(format: Format, magic: u128, sum: u128) -> bool {
    const SMALL: f64 = 1.0 / 32.0;
    let [number, total] = [magic, sum].map(|bits| format.to_f64(bits));
    may_round_to_fractions(format, magic)
        && [total - number, total + number].into_iter().any(|x| x.abs() < number.abs() * SMALL)
}

struct Fields {
    negative: bool,
    biased: i32,
    significand: u64,
    largest: i32,
    bias: i32,
}

impl Fields {
    fn of(format: Format, bits: u128) -> Fields {
        let (exponent_bits, significand_bits) = match format {
            Format::F16 => (5, 10),
            Format::F32 => (8, 23),
            Format::F64 => (11, 52),
            // The leading digit is among them.
            Format::F80 => (15, 64),
        };
        let largest = (1 << exponent_bits) - 1;
        Fields {
            negative: bits >> (exponent_bits + significand_bits) & 1 != 0,
            biased: (bits >> significand_bits) as i32 & largest,
            significand: (bits & ((1 << significand_bits) - 1)) as u64,
            largest,
            bias: largest / 2,
        }
    }

    fn is_zero(&self) -> bool {
        self.biased == 0 && self.significand == 0
    }

    fn is_infinite(&self) -> bool {
        self.biased == self.largest && self.significand == 0
    }

    /// Tells whether this has bits of an exponent alone, but not all of them.
    fn is_exponent(&self) -> bool {
        !self.negative && self.significand == 0 && (1..self.largest).contains(&self.biased)
    }

    /// The exponent, where that of zero is 0 as well.
    fn exponent_or_zero(&self) -> Option<i32> {
        if self.is_zero() { Some(0) } else { self.exponent() }
    }

    /// The unbiased exponent; 0 for a significand on its own, below an exponent of zeros or of ones. Infinities and zeros
    /// have none.
    fn exponent(&self) -> Option<i32> {
        match self.biased {
            biased if biased == 0 || biased == self.largest => (self.significand != 0).then_some(0),
            biased => Some(biased - self.bias),
        }
    }
}

/// Tells whether the lowest byte of a mask lets one half of a byte through, as where text is made of bytes, a digit of each half.
pub fn halves_byte(mask: u32) -> bool {
    matches!(mask & 0xff, 0x0f | 0xf0)
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
            assert_eq!(relation_by(Bitwise::Low, x, 52, cut), Some((x < 0.0, -k)));
            assert_eq!(relation64(cut, back), Some((false, 0)));
            assert_eq!(back, x.abs() * f64::from(-k).exp2());
        }
    }

    #[test]
    fn a_significand_survives_an_exponent_of_ones() {
        const ONE: u64 = 0x3ff0_0000_0000_0000;
        const CLEARED: u64 = 0x3fff_ffff_ffff_ffff;
        for (x, k) in [(44.0_f64, 5), (2.5, 1), (4.0, 2), (-10.0, 3)] {
            let set = f64::from_bits(x.to_bits() | ONE);
            let back = f64::from_bits(set.to_bits() & CLEARED);
            assert_eq!(relation_by(Bitwise::Other, x, ONE, set), Some((false, -k)));
            assert_eq!(relation_by(Bitwise::And, set, CLEARED, back), Some((x < 0.0, 0)));
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
    fn flips_turn_signs_and_set_exponents() {
        let flip = |x: f64, by: u64, is_float| {
            let before = x.to_bits();
            flip(Format::F64, before.into(), (before ^ by).into(), is_float)
        };
        assert_eq!(flip(1.75, 1 << 63 | 0x1234, false), Some((true, 0)));
        let cut = f64::from_bits((-12.5_f64).to_bits() & !(0x7ff << 52));
        assert_eq!(flip(cut, 0xc01 << 52, true), Some((true, 2)));
        assert_eq!(flip(cut, 0xc01 << 52, false), None);
        // Digits that are turned off are those of another number.
        assert_eq!(flip(1.75, 0x4018 << 48, true), None);
    }

    #[test]
    fn significands_are_given_exponents() {
        let given = |x: f64, by: u64| {
            let before = x.to_bits();
            given_exponent(Format::F64, before.into(), (before ^ by).into())
        };
        let cut = f64::from_bits((-12.5_f64).to_bits() & !(0x7ff << 52));
        assert_eq!(given(cut, 0xc01 << 52), Some((true, 2)));
        assert_eq!(given(0.0, 0x401 << 52), Some((false, 2)));
        assert_eq!(given(12.5, 0x402 << 52), Some((false, -3)));
        assert_eq!(given(12.5, 0x3 << 52), None);
        // The digits of another number: a hash.
        assert_eq!(given(cut, 0xc01 << 52 | 1), None);
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

    /// By what is left when the number is taken off again: a multiple of its last place, as near as there is one.
    #[test]
    fn numbers_that_are_taken_off_round_to_fractions() {
        let rounds = |magic: f64, x: f64| {
            let bits = |x: f64| u128::from(x.to_bits());
            rounds_to_fractions(Format::F64, bits(magic), bits(magic + x))
        };
        for power in 44..=52 {
            let (magic, place) = (1.5 * f64::from(power).exp2(), f64::from(power - 52).exp2());
            for x in [0.3, -7.1, 1e6 / 3.0] {
                assert!(rounds(magic, x) && rounds(-magic, x), "{power}");
                assert_eq!(magic + x - magic, (x / place).round_ties_even() * place);
            }
            assert!(!rounds(magic, magic) && !rounds(magic, magic / 16.0) && !rounds(magic * 4.0 / 3.0, 0.3));
        }
        assert!(!rounds(1.5 * 43_f64.exp2(), 0.3) && !rounds(1.5 * 53_f64.exp2(), 0.3));
        for (power, bias) in [(45, 1023.0), (52, 1023.0), (45, -1023.0)] {
            let magic = 1.5 * f64::from(power).exp2() + bias;
            assert_eq!(rounds(magic, 0.3), bias > 0.0, "{power} {bias}");
        }
        assert!(!rounds(1.5 * 45_f64.exp2() + 1022.0, 0.3));
        // A bias above more places than a sum has fractions, and single digits, as vector libraries have them.
        for added in [2046.0, 0.125, 2.0] {
            assert!(rounds(1.5 * 49_f64.exp2() + added, 0.3), "{added}");
        }
        assert!(!rounds(1.5 * 49_f64.exp2() + 0.375, 0.3) && !rounds(1.5 * 49_f64.exp2() + 64.0, 0.3));
        let single = |x: f32| u128::from(x.to_bits());
        assert!(rounds_to_fractions(Format::F32, single(196735.0), single(196735.3)));
        assert!(rounds_to_fractions(Format::F32, single(786432.0), single(786432.3)));
        assert!(!rounds_to_fractions(Format::F32, single(24576.0), single(24576.3)));
    }

    #[test]
    fn an_unchanged_pattern_keeps_any_shadow() {
        let nan = u128::from(f64::NAN.to_bits());
        let ones = u128::from(u64::MAX);
        for by in [Bitwise::And, Bitwise::Xor, Bitwise::Other, Bitwise::Sum] {
            assert_eq!(relation(by, Format::F64, nan, ones, nan), Some((false, 0)));
            assert_eq!(relation(by, Format::F64, 0, ones, 0), Some((false, 0)));
        }
        assert_eq!(relation_by(Bitwise::Product, 1.5, 1, 1.5), Some((false, 0)));
    }

    #[test]
    fn a_pattern_that_is_the_same_by_chance_keeps_nothing() {
        for mask in [0, 1 << 63, FRACTION, 0x7ff0_0000_0000_0000] {
            assert_eq!(relation_by(Bitwise::And, 0.0, mask, 0.0), None, "{mask:x}");
        }
        assert_eq!(relation_by(Bitwise::And, 0.0, (1 << 63) - 1, 0.0), Some((false, 0)));
        assert_eq!(relation_by(Bitwise::And, 4.0, 0x7ff0_0000_0000_0000, 4.0), None);
        assert_eq!(relation_by(Bitwise::Product, 0.0, 3, 0.0), None);
        assert_eq!(relation_by(Bitwise::Product, 1.0, 2, f64::from_bits(1.0_f64.to_bits() << 1)), None);
        assert_eq!(relation_by(Bitwise::Low, 0.0, 32, 0.0), None);
        assert_eq!(relation_by(Bitwise::Low, 0.0, 64, 0.0), Some((false, 0)));
    }

    /// By difference quotients: a sum with a constant is linear as long as no exponent changes.
    #[test]
    fn sums_move_along_with_their_floats() {
        let sum = |x: f64, c: u64| f64::from_bits(x.to_bits().wrapping_add(c));
        let difference = |x: f64, c: u64| f64::from_bits(c.wrapping_sub(x.to_bits()));
        let slope = |f: &dyn Fn(f64) -> f64, x: f64| (f(x * (1.0 + 1e-6)) - f(x)) / (x * 1e-6);
        for x in [0.8_f64, -2.3, 1.0123] {
            for c in [1, 12345, (1 << 51) + 3, 3 << 52, 1 << 63, 0x7ff0_0000_0000_0000] {
                for (subtracted, made) in [(false, sum as fn(f64, u64) -> f64), (true, difference)] {
                    let (before, after) = (x.to_bits().into(), made(x, c).to_bits().into());
                    if !made(x, c).is_normal() {
                        continue;
                    }
                    let (turned, power) = moves_along(Format::F64, before, after, subtracted).unwrap();
                    let expected = f64::exp2(power.into()) * if turned { -1.0 } else { 1.0 };
                    let actual = slope(&|x| made(x, c), x);
                    assert!((actual / expected - 1.0).abs() < 1e-3, "{x} {c:x} {actual} {expected}");
                }
            }
        }
    }

    #[test]
    fn shifts_leave_digits_or_none() {
        for x in [0.3_f64, -1.7] {
            let bits = u128::from(x.to_bits());
            assert!(has_no_digits(Format::F64, [bits; 2], bits >> 52));
            assert!(has_no_digits(Format::F64, [bits; 2], ((x.to_bits() as i64) >> 63) as u64 as u128));
            assert!(!has_no_digits(Format::F64, [bits; 2], bits >> 1));
            assert!(has_no_digits(Format::F32, [bits >> 32; 2], bits >> 52));
        }
    }

    #[test]
    fn the_upper_end_of_a_float_tells_of_its_exponent() {
        for (x, y) in [(0.75_f64, 6.0_f64), (-2.5, -0.625), (1.3, -1.3)] {
            let shadow = -0.3_f64;
            for bytes in [1, 2, 4] {
                let upper = |x: f64| (x.to_bits() >> (64 - 8 * bytes)) as u32;
                let change = exponent_change(bytes, upper(x), upper(y));
                if bytes == 1 && x.to_bits() >> 52 & 15 != y.to_bits() >> 52 & 15 {
                    continue;
                }
                let end = with_exponent_change(bytes, upper(shadow), change.unwrap()).unwrap();
                assert_eq!(end, upper(shadow * (y / x)), "{x} {y} {bytes}");
            }
        }
        assert_eq!(exponent_change(4, 0x3ff8_0000, 0x3ff8_0001), None);
        assert_eq!(with_exponent_change(2, 0x0010, (false, -0x20)), None);
    }
}
