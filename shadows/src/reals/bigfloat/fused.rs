//! Products to which a number is added before they are rounded.

use shadowgrind_core::ops::Op;

use super::rounding::finished;
use super::words::*;
use super::{Kind, Short};

/// Words that hold a product of two significands, and two more: what is shifted out of them is too far below the leading bit
/// for all but one of the bits above it to cancel.
const LONG: usize = 2 * WORDS + 2;

type Long = [u64; LONG];

/// A number that is a product, or as wide as one: ±0.significand · 2^exponent, its top bit set.
struct Term {
    words: Long,
    exponent: i32,
    negative: bool,
}

impl Short {
    /// a · b + c, of ordinary numbers, to so many bits, and whether that is exact. The product's sign is turned over first if
    /// `minus` says so, and that of c if its second part does.
    pub(in crate::reals) fn fused([a, b, c]: [&Short; 3], minus: [bool; 2], precision: u32) -> (Short, bool) {
        let negative = (a.negative != b.negative) != minus[0];
        let c = Short { negative: c.negative != minus[1], ..*c };
        if a.kind == Kind::Zero || b.kind == Kind::Zero {
            let sum = Short::add(&Short::zero(negative), &c, false, precision);
            return (sum, sum.words == c.words);
        }
        let product = Term::product(a, b, negative);
        if c.kind == Kind::Zero {
            return product.rounded(precision);
        }
        let other = Term::of(&c);
        let (large, small) =
            if product.exponent < other.exponent { (other, product) } else { (product, other) };
        large.plus(&small).map_or((Short::zero(false), true), |sum| sum.rounded(precision))
    }
}

impl Term {
    fn of(x: &Short) -> Term {
        let mut words = [0; LONG];
        words[LONG - WORDS..].copy_from_slice(&x.words);
        Term { words, exponent: x.exponent, negative: x.negative }
    }

    fn product(a: &Short, b: &Short, negative: bool) -> Term {
        let mut words = [0; LONG];
        for j in 0..WORDS {
            let mut carry = 0;
            for i in 0..WORDS {
                let place = &mut words[LONG - 2 * WORDS + i + j];
                (*place, carry) = multiply_add(a.words[i], b.words[j], *place, carry);
            }
            words[LONG - WORDS + j] = carry;
        }
        let exponent = a.exponent + b.exponent;
        // Both have their top bits set: one bit is all that may be missing.
        match words[LONG - 1] & TOP {
            0 => Term { words: up(&words, 1), exponent: exponent - 1, negative },
            _ => Term { words, exponent, negative },
        }
    }

    /// The sum with a term whose exponent is not larger; nothing where that is zero.
    fn plus(&self, small: &Term) -> Option<Term> {
        let shifted = down(&small.words, self.exponent.abs_diff(small.exponent));
        let (mut negative, mut exponent) = (self.negative, self.exponent);
        if negative == small.negative {
            let (mut words, carry) = plus_carry(&self.words, &shifted, false);
            if carry {
                words = down(&words, 1);
                words[LONG - 1] |= TOP;
                exponent += 1;
            }
            return Some(Term { words, exponent, negative });
        }
        let (mut words, no_borrow) = plus_carry(&self.words, &shifted.map(|word| !word), true);
        if !no_borrow {
            (words, _) = plus_carry(&shifted, &self.words.map(|word| !word), true);
            negative = !negative;
        }
        let first = words.iter().rposition(|&word| word != 0)?;
        let zeros = 64 * (LONG - 1 - first) as u32 + words[first].leading_zeros();
        Some(Term { words: up(&words, zeros), exponent: exponent - zeros as i32, negative })
    }

    /// The number to so many bits, and whether that is exact.
    fn rounded(&self, precision: u32) -> (Short, bool) {
        let (below, above) = self.words.split_at(LONG - WORDS - 1);
        let mut wide: Wide = [0; WORDS + 1];
        wide.copy_from_slice(above);
        wide[0] |= u64::from(below.iter().any(|&word| word != 0));
        let rounded = finished(wide, self.exponent, self.negative, precision);
        (rounded, wide[0] == 0 && wide[1..] == rounded.words)
    }
}

/// 2^shift times it; what is shifted out is zero.
fn up(words: &Long, shift: u32) -> Long {
    let (whole, bits) = (shift as usize / 64, shift % 64);
    let at = |i: usize| i.checked_sub(whole).map_or(0, |i| words[i]);
    std::array::from_fn(|i| at(i) << bits | (if i == 0 { 0 } else { at(i - 1) } >> 1) >> (63 - bits))
}

/// 2^−shift times it; what is lost is jammed.
fn down(words: &Long, shift: u32) -> Long {
    let (whole, bits) = (shift as usize / 64, shift % 64);
    if whole >= LONG {
        return std::array::from_fn(|i| u64::from(i == 0));
    }
    let at = |i: usize| words.get(i + whole).copied().unwrap_or(0);
    let mut shifted: Long = std::array::from_fn(|i| at(i) >> bits | (at(i + 1) << 1) << (63 - bits));
    let cut = words[whole] & !(u64::MAX << bits);
    shifted[0] |= u64::from(words[..whole].iter().fold(cut, |all, word| all | word) != 0);
    shifted
}

/// Tells whether an operation is a fused one, and which terms it takes away: the product, and what is added to it.
#[inline(always)]
pub(crate) fn terms(op: Op) -> Option<[bool; 2]> {
    match op {
        Op::Fmadd => Some([false, false]),
        Op::Fmsub => Some([false, true]),
        Op::Fnmadd => Some([true, false]),
        Op::Fnmsub => Some([true, true]),
        _ => None,
    }
}

/// The real result of a fused operation on ordinary numbers, to so many bits, and whether it is exact.
#[inline]
pub(crate) fn fused_result(op: Op, operands: [&Short; 3], precision: u32) -> Option<(Short, bool)> {
    if op == Op::Fnmsub {
        let (value, is_exact) = Short::fused(operands, [false, false], precision);
        return Some((value.negated(), is_exact));
    }
    Some(Short::fused(operands, terms(op)?, precision))
}
