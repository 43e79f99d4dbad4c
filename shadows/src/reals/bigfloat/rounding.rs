//! Significands rounded to nearest, ties to even. Knows no operations.

use super::words::*;
use super::{BITS, Kind, Short};

/// Rounds to so many bits, at most [`BITS`].
#[inline(always)]
pub(super) fn finished(wide: Wide, exponent: i32, negative: bool, precision: u32) -> Short {
    let (words, carry) = if precision == BITS { rounded(wide) } else { cut_off(wide, precision) };
    // A significand that rounding up has carried out of is a power of two.
    let [v, w, x, y] = words;
    let words = [v, w, x, if carry { TOP } else { y }];
    Short { words, exponent: exponent.wrapping_add(carry.into()), kind: Kind::Finite, negative }
}

/// Rounds to all bits there are; whether that carried out of them.
#[inline(always)]
fn rounded([below, mut words @ ..]: Wide) -> (Words, bool) {
    let up = (below > TOP) | (below == TOP) & (words[0] & 1 == 1);
    let mut carry = up;
    for word in &mut words {
        (*word, carry) = word.overflowing_add(carry.into());
    }
    (words, carry)
}

/// Rounds to fewer bits than there are.
#[inline(never)]
fn cut_off([below, mut words @ ..]: Wide, precision: u32) -> (Words, bool) {
    let (up, (place, unit)) = cut(&mut words, below != 0, precision);
    let mut carry = false;
    if up {
        (words[place], carry) = words[place].overflowing_add(unit);
        for word in &mut words[place + 1..] {
            (*word, carry) = word.overflowing_add(u64::from(carry));
        }
    }
    (words, carry)
}

/// Cuts a significand off after so many bits, fewer than there are. Whether that has to be made good by adding a unit
/// in the last place, and where that is.
fn cut(words: &mut Words, mut more: bool, precision: u32) -> (bool, (usize, u64)) {
    // Of the last bit that is kept, and of the one that decides.
    let (last, decides) = (BITS - precision, BITS - precision - 1);
    let bit = |at: u32| (at as usize / 64, 1 << (at % 64));
    let ((place, unit), (half_place, half)) = (bit(last), bit(decides));
    let is_half = words[half_place] & half != 0;
    more |= words[half_place] & (half - 1) != 0 || words[..half_place].iter().any(|&word| word != 0);
    let odd = words[place] & unit != 0;
    words[..place].fill(0);
    words[place] &= !(unit - 1);
    (is_half && (more || odd), (place, unit))
}
