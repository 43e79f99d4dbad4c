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

/// Digits that are in the upper half of a double, as a mask.
pub const UPPER_DIGITS: u32 = (1 << 20) - 1;

/// Tells whether an operation with `other` is one on the upper half of a double, `before`, and none on a narrow float: a mask of as many
/// digits, or of the bit next to them, or an exponent of one half or one for a significand on its own.
pub fn is_for_upper_half(by: Bitwise, before: u32, other: u32) -> bool {
    const CARRY: u32 = UPPER_DIGITS + 1;
    const EXPONENTS: [u32; 2] = [0x3fe, 0x3ff];
    match by {
        Bitwise::And => [UPPER_DIGITS, CARRY].contains(&(other & (u32::MAX >> 1))),
        Bitwise::Sum | Bitwise::Other | Bitwise::Xor => {
            before <= UPPER_DIGITS && EXPONENTS.contains(&(other >> UPPER_DIGITS.count_ones()))
        }
        _ => false,
    }
}

/// Change of a double of which only the upper half is in a word: `after` has been made of `before` and `other`, which is of none, or is a
/// mask. Whether the sign was turned over, and what is to be added to the upper half of a shadow, as by [`exponent_change`]; digits may be
/// others after a sum, which moves along with the number. Nothing if digits were masked or joined.
///
/// A significand on its own stands for itself in [1, 2), as in [`relation`]. So does one that is zero, since the lower half may have digits,
/// and one above which a single bit is left, or nearly all, between two instructions.
pub fn upper_half_change(by: Bitwise, before: u32, other: u32, after: u32) -> Option<(bool, i32)> {
    const LARGEST: u32 = 0x7ff;
    const BIAS: i32 = 1023;
    let field = |half: u32| half >> 20 & LARGEST;
    let keeps = match by {
        Bitwise::Sum | Bitwise::Difference => true,
        Bitwise::And => other & UPPER_DIGITS == UPPER_DIGITS && [0, LARGEST].contains(&field(other)),
        Bitwise::Xor | Bitwise::Other => other & UPPER_DIGITS == 0,
        _ => false,
    };
    let exponent = |half: u32| match field(half) {
        0 | 1 => 0,
        field if field >= LARGEST - 1 => 0,
        field => field as i32 - BIAS,
    };
    let power = exponent(after) - exponent(before);
    keeps.then_some(((before ^ after) >> 31 != 0, power << UPPER_DIGITS.count_ones()))
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

/// Tells whether `other`, of eight bytes, has bits for the exponents of two narrow floats each, and none for their digits.
pub fn are_for_exponents(other: u64) -> bool {
    const DIGITS: u32 = (1 << (Format::F32.precision() - 1)) - 1;
    const SIGN: u32 = 1 << 31;
    [other as u32, (other >> 32) as u32].into_iter().all(|half| half & !SIGN != 0 && half & DIGITS == 0)
}

/// A mask of the one bit that a truth value has, where code reads one from bytes that held a float before, and has overwritten but the
/// first of them. No derivative comes of that bit of a float; whether reals have the same is not known.
pub const FLAG: u128 = 1;

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
mod tests;
