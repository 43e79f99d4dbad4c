//! Reals of up to 256 bits: their own arithmetic, without an allocation.
//!
//! What is here is what programs do most: sums, products, quotients, square roots, rounding to a float. Each result is
//! the exact one rounded once, to nearest with ties to even, so that it is MPFR's to the last bit; tests compare the
//! two. Knows nothing of infinities and NaN, and of numbers that are far out of any float's range: whoever asks for
//! them ([`Short::is_ordinary`]) has MPFR do it.

mod float;
mod fused;
mod root;
mod rounding;
mod words;

use std::cmp::Ordering;

use shadowgrind_core::format::{Format, Number};

use super::convert;
pub(crate) use fused::{fused_result, terms};
use rounding::finished;
use words::*;

/// Bits of a significand.
pub(super) const BITS: u32 = 64 * WORDS as u32;
/// A real that is nearer to its float than two to minus this of the float's last place is
/// alone: it is so by chance in one of as many operations as that.
pub(super) const ALONE: i32 = 33;
/// Exponents up to this, either way, are reckoned with here.
const FAR: u32 = 1 << 28;
/// Exponents below this, either way, are not far out of the range of doubles.
const NEAR: u32 = 1 << 12;

/// Kind of a number. As wide as an exponent: numbers are copied in whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    Zero,
    Finite,
    Infinite,
    Nan,
}

/// ±0.significand · 2^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The top bit is set in finite numbers, zero apart.
    words: Words,
    exponent: i32,
    kind: Kind,
    negative: bool,
}

impl Short {
    /// Zero.
    pub(crate) const fn zero(negative: bool) -> Short {
        Short { words: [0; WORDS], exponent: 0, kind: Kind::Zero, negative }
    }

    const fn special(kind: Kind, negative: bool) -> Short {
        Short { words: [0; WORDS], exponent: 0, kind, negative }
    }

    /// significand · 2^exponent.
    fn integer(negative: bool, significand: u64, exponent: i32) -> Short {
        if significand == 0 {
            return Short::zero(negative);
        }
        let zeros = significand.leading_zeros();
        let exponent = exponent + 64 - zeros as i32;
        Short { words: [0, 0, 0, significand << zeros], exponent, kind: Kind::Finite, negative }
    }

    /// Exactly the float `bits`.
    pub fn from_bits(format: Format, bits: u128) -> Short {
        if format == Format::F64 {
            let bits = bits as u64;
            let field = bits >> 52 & 0x7ff;
            if field != 0 && field != 0x7ff {
                return Short::of_double(f64::from_bits(bits));
            }
        }
        match format.decode(bits) {
            Number::Nan { .. } => Short::special(Kind::Nan, false),
            Number::Infinite { negative } => Short::special(Kind::Infinite, negative),
            Number::Finite { negative, significand, exponent } => {
                Short::integer(negative, significand, exponent)
            }
        }
    }

    /// Exactly the double `x`, a normal number.
    #[inline(always)]
    pub(crate) fn of_double(x: f64) -> Short {
        let bits = x.to_bits();
        let (field, top) = ((bits >> 52 & 0x7ff) as i32, (1 << 52 | bits) << 11);
        Short { words: [0, 0, 0, top], exponent: field - 1022, kind: Kind::Finite, negative: bits >> 63 != 0 }
    }

    /// Tells whether the significand fits one of so many bits, 64 at most.
    #[inline(always)]
    pub(crate) fn fits(&self, bits: u32) -> bool {
        self.words[0] | self.words[1] | self.words[2] | (self.words[3] << 1) << (bits - 1) == 0
    }

    /// Tells whether it is as near to its float, a normal number of so many bits, as [`ALONE`] says.
    #[inline(always)]
    pub(crate) fn clings(&self, bits: u32) -> bool {
        const REACH: u64 = 1 << (64 - ALONE);
        // What is below the float's last place, and negative where that is rounded up.
        let [_, _, below, top] = self.words;
        let below = (top << 1) << (bits - 1) | below >> (64 - bits);
        below.wrapping_add(REACH) < 2 * REACH
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// e where |x| ∈ [2^(e−1), 2^e).
    #[inline(always)]
    pub(crate) fn exponent(&self) -> Option<i32> {
        (self.kind == Kind::Finite).then_some(self.exponent)
    }

    /// The exponent of a number that is finite and not zero.
    #[inline(always)]
    pub(crate) fn scale(&self) -> i32 {
        self.exponent
    }

    /// Tells whether it is not zero, and less than a quarter of what any double is.
    #[inline(always)]
    pub(super) fn vanishes(&self) -> bool {
        (self.kind == Kind::Finite) & (self.exponent < Format::F64.least_exponent() - 2)
    }

    /// Tells whether it is finite, not zero and not far out of the range of doubles.
    #[inline(always)]
    pub(crate) fn is_near(&self) -> bool {
        (self.kind == Kind::Finite) & (self.exponent.unsigned_abs() < NEAR)
    }

    /// Tells whether there is arithmetic for it here.
    #[inline(always)]
    pub(crate) fn is_ordinary(&self) -> bool {
        match self.kind {
            Kind::Finite => self.exponent.unsigned_abs() <= FAR,
            Kind::Zero => true,
            Kind::Infinite | Kind::Nan => false,
        }
    }

    /// −x.
    #[inline(always)]
    pub(super) fn negated(self) -> Short {
        Short { negative: !self.negative && self.kind != Kind::Nan, ..self }
    }

    /// |x|.
    pub(super) fn magnitude(self) -> Short {
        Short { negative: false, ..self }
    }

    /// 2^power · x.
    pub(super) fn scaled(self, power: i32) -> Short {
        Short { exponent: if self.kind == Kind::Finite { self.exponent + power } else { 0 }, ..self }
    }

    /// The order of two ordinary numbers; infinities count.
    pub(super) fn compare(&self, other: &Short) -> Option<Ordering> {
        let rank = |x: &Short| match (x.kind, x.negative) {
            (Kind::Nan, _) => None,
            (Kind::Zero, _) => Some(0_i32),
            (Kind::Finite, false) => Some(1),
            (Kind::Finite, true) => Some(-1),
            (Kind::Infinite, false) => Some(2),
            (Kind::Infinite, true) => Some(-2),
        };
        let (a, b) = (rank(self)?, rank(other)?);
        if a != b || a.abs() != 1 {
            return Some(a.cmp(&b));
        }
        let order = self.exponent.cmp(&other.exponent).then_with(|| larger(&self.words, &other.words));
        Some(if self.negative { order.reverse() } else { order })
    }

    /// a + b or a − b, of ordinary numbers, to so many bits.
    #[inline]
    pub(crate) fn add(a: &Short, b: &Short, subtract: bool, precision: u32) -> Short {
        match (a.kind, b.kind) {
            (Kind::Zero, Kind::Zero) => Short::zero(a.negative && b.negative != subtract),
            (Kind::Zero, _) if subtract => b.negated().rounded(precision),
            (Kind::Zero, _) => b.rounded(precision),
            (_, Kind::Zero) => a.rounded(precision),
            _ => match Short::near_sum(a, b, subtract, precision) {
                (sum, true) => sum,
                _ => Short::sum(a, b, subtract, precision),
            },
        }
    }

    /// a + b or a − b, of numbers that are not zero, if no more than a word's bits go, in front or at the end, and one
    /// of them is the larger by its first word; and whether that is so. Signs, carries and how many leading bits go
    /// cannot be foreseen: nothing branches on them.
    #[inline(always)]
    pub(crate) fn near_sum(a: &Short, b: &Short, subtract: bool, precision: u32) -> (Short, bool) {
        let swapped = a.magnitude_key() < b.magnitude_key();
        let differ = (a.negative != b.negative) != subtract;
        let (large, small) = if swapped { (b, a) } else { (a, b) };
        let apart = large.exponent.wrapping_sub(small.exponent) as u32;
        let flip = 0_u64.wrapping_sub(differ.into());
        let [v, w, x, y, z] = shifted_near(&small.words, apart % 64);
        let addend = [v ^ flip, w ^ flip, x ^ flip, y ^ flip, z ^ flip];
        let (sum, carry) = plus_carry(&widened(&large.words), &addend, differ);
        // Half of it, for the carry's sake: the lowest bit is zero, as no more than 63 were shifted in.
        let [v, w, x, y, z] = halved(&sum, carry & !differ);
        let zeros = z.leading_zeros();
        let near = (apart < 64) & (zeros < 64) & (carry | !differ);
        let shift = zeros % 64;
        let join = |low: u64, high: u64| high << shift | (low >> 1) >> (63 - shift);
        let sum = [v << shift, join(v, w), join(w, x), join(x, y), join(y, z)];
        let negative = if swapped { b.negative != subtract } else { a.negative };
        let exponent = large.exponent.wrapping_add(1 - zeros as i32);
        (finished(sum, exponent, negative, precision), near)
    }

    /// Key that orders numbers by size, but for those that agree in sixty-four bits.
    #[inline(always)]
    fn magnitude_key(&self) -> u128 {
        u128::from((self.exponent as u32) ^ 1 << 31) << 64 | u128::from(self.words[WORDS - 1])
    }

    /// a + b or a − b, of any numbers that are not zero, to so many bits.
    #[inline]
    fn sum(a: &Short, b: &Short, subtract: bool, precision: u32) -> Short {
        let (negative, other_negative) = (a.negative, b.negative != subtract);
        let swapped = a.exponent < b.exponent;
        let (large, small) = if swapped { (b, a) } else { (a, b) };
        let shifted = shifted_right(&small.words, large.exponent.abs_diff(small.exponent));
        if negative == other_negative {
            let (mut sum, carry) = plus(&widened(&large.words), &shifted);
            let mut exponent = large.exponent;
            if carry {
                let lost = sum[0] & 1;
                sum = halved(&sum, true);
                sum[0] |= lost;
                exponent += 1;
            }
            return finished(sum, exponent, negative, precision);
        }
        let (mut difference, borrow) = minus(&widened(&large.words), &shifted);
        let mut negative = if swapped { other_negative } else { negative };
        if borrow {
            // Exponents were the same: nothing was lost.
            difference = minus(&shifted, &widened(&large.words)).0;
            negative = !negative;
        }
        let zeros = difference[WORDS].leading_zeros();
        if zeros < 64 {
            let [a, b, c, d, e] = difference;
            let join = |low: u64, high: u64| high << zeros | (low >> 1) >> (63 - zeros);
            let wide = [a << zeros, join(a, b), join(b, c), join(c, d), join(d, e)];
            return finished(wide, large.exponent - zeros as i32, negative, precision);
        }
        match normalised(&mut difference) {
            Some(zeros) => finished(difference, large.exponent - zeros as i32, negative, precision),
            None => Short::zero(false),
        }
    }

    /// a · b, of ordinary numbers.
    #[inline]
    pub(super) fn multiply(a: &Short, b: &Short, precision: u32) -> Short {
        if a.kind == Kind::Zero || b.kind == Kind::Zero {
            return Short::zero(a.negative != b.negative);
        }
        Short::product(a, b, precision)
    }

    /// a · b, of numbers that are not zero, to so many bits.
    #[inline(always)]
    pub(crate) fn product(a: &Short, b: &Short, precision: u32) -> Short {
        Short::product_known(a, is_one_word(&a.words), b, is_one_word(&b.words), precision)
    }

    /// a · b, of numbers that are not zero, of which it is known whether their significands are one word (`one_a`,
    /// `one_b`); where it is not, they may be.
    #[inline(always)]
    pub(crate) fn product_known(a: &Short, one_a: bool, b: &Short, one_b: bool, precision: u32) -> Short {
        let (wide, below) = if one_b {
            (product_by_word(&a.words, b.words[WORDS - 1]), 0)
        } else if one_a {
            (product_by_word(&b.words, a.words[WORDS - 1]), 0)
        } else {
            product(&a.words, &b.words)
        };
        // Whether the top bit is set is a matter of chance: doubling is adding what may be zero.
        let small = wide[WORDS] & TOP == 0;
        let once_more = 0_u64.wrapping_sub(small.into());
        let (below, carry) = below.overflowing_add(below & once_more);
        let [v, w, x, y, z] = wide;
        let again = [v & once_more, w & once_more, x & once_more, y & once_more, z & once_more];
        let (mut wide, _) = plus_carry(&wide, &again, carry);
        wide[0] |= u64::from(below != 0);
        finished(wide, a.exponent + b.exponent - i32::from(small), a.negative != b.negative, precision)
    }

    /// a / b, of ordinary numbers; b is not zero.
    pub(super) fn divide(a: &Short, b: &Short, precision: u32) -> Short {
        if a.kind == Kind::Zero {
            return Short::zero(a.negative != b.negative);
        }
        Short::quotient(a, b, precision)
    }

    /// a / b, of numbers that are not zero, to so many bits.
    #[inline(always)]
    pub(crate) fn quotient(a: &Short, b: &Short, precision: u32) -> Short {
        let negative = a.negative != b.negative;
        let one = larger(&a.words, &b.words) != Ordering::Less;
        let mut rest = if one { difference(&a.words, &b.words) } else { a.words };
        let inverse = reciprocal(b.words[WORDS - 1]);
        let mut wide = [0; WORDS + 1];
        for place in (1..=WORDS).rev() {
            wide[place] = next_digit(&mut rest, &b.words, inverse);
        }
        let (half, more) = against_half(&rest, &b.words);
        let mut exponent = a.exponent - b.exponent;
        if one {
            let lost = wide[1] & 1;
            wide = halved(&wide, true);
            wide[0] = lost << 63 | u64::from(half || more);
            exponent += 1;
        } else {
            wide[0] = u64::from(half) << 63 | u64::from(more);
        }
        finished(wide, exponent, negative, precision)
    }

    /// x to so many bits.
    pub(super) fn rounded(&self, precision: u32) -> Short {
        if precision >= BITS || self.kind != Kind::Finite {
            return *self;
        }
        finished(widened(&self.words), self.exponent, self.negative, precision)
    }

    /// The nearest double's bits, ties to even, if the number is well within their range.
    #[inline(always)]
    pub(super) fn double(&self) -> Option<u64> {
        self.nearest(Format::F64)
    }

    /// The bits of the nearest float of four or eight bytes, ties to even, if the number is well within their range.
    #[inline(always)]
    pub(crate) fn nearest(&self, format: Format) -> Option<u64> {
        let (range, bits, bias, sign) = match format {
            Format::F64 => (-1020..1023, 53, 1021, 63),
            Format::F32 => (-124..127, 24, 125, 31),
            Format::F16 | Format::F80 => return None,
        };
        if !range.contains(&self.exponent) {
            return None;
        }
        let [low, middle, high, top] = self.words;
        // The leading bit adds one to the exponent field, and so does a carry out of the significand.
        let kept = top >> (64 - bits);
        let down = (((self.exponent + bias) as u64) << (bits - 1)) + kept;
        let lost = top << bits;
        let more = low | middle | high != 0;
        let up = (lost > TOP) | (lost == TOP) & (more | (kept & 1 == 1));
        Some(u64::from(self.negative) << sign | (down + u64::from(up)))
    }

    /// The bits of the nearest float of ten bytes, ties to even, if the number is well within their range.
    #[inline]
    fn nearest_long(&self) -> Option<u128> {
        if !(-16380..16383).contains(&self.exponent) {
            return None;
        }
        let [low, middle, lost, top] = self.words;
        let more = low | middle != 0;
        let up = (lost > TOP) | (lost == TOP) & (more | (top & 1 == 1));
        let (significand, carry) = top.overflowing_add(up.into());
        let field = (self.exponent + 16382 + i32::from(carry)) as u128;
        let significand = if carry { TOP } else { significand };
        Some(u128::from(self.negative) << 79 | field << 64 | u128::from(significand))
    }

    /// Tells whether the number is well within the range of a format's normal numbers.
    pub(super) fn is_well_within(&self, format: Format) -> bool {
        match format {
            Format::F80 => self.nearest_long().is_some(),
            _ => self.nearest(format).is_some(),
        }
    }

    /// The bits of the nearest float, ties to even.
    #[inline]
    pub fn bits(&self, format: Format) -> u128 {
        let negative = self.negative;
        match self.kind {
            Kind::Nan => return format.encode(Number::Nan { negative: false, payload: 0 }),
            Kind::Infinite => return format.encode(Number::Infinite { negative }),
            Kind::Zero => return format.encode(Number::Finite { negative, significand: 0, exponent: 0 }),
            Kind::Finite => {}
        }
        let [low @ .., top] = self.words;
        if format == Format::F80 {
            return self.nearest_long().unwrap_or_else(|| convert::to_bits(format, &self.to_float()));
        }
        if let Some(bits) = self.nearest(format) {
            return bits.into();
        }
        if self.exponent < format.least_exponent() {
            // Less than half of the least.
            return u128::from(negative) << (format.width() - 1);
        }
        // Of 64 bits at most 53 are kept: one of those below can stand for all that were lost.
        let significand = top | u64::from(low[0] | low[1] | low[2] != 0);
        format.encode(Number::Finite { negative, significand, exponent: self.exponent.saturating_sub(64) })
    }
}

#[cfg(test)]
mod tests;
