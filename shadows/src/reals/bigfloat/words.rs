//! Significands as words: exact arithmetic, one word wider than what is kept.

use std::cmp::Ordering;

/// Words of a significand, the least first.
pub(super) const WORDS: usize = 4;

pub(super) const TOP: u64 = 1 << 63;

pub(super) type Words = [u64; WORDS];

/// A result before it is rounded: one word more. What was lost below is a bit in its lowest place ("jammed"), which
/// decides between halfway and not.
pub(super) type Wide = [u64; WORDS + 1];

/// Order of two significands: found by a difference, as the word at which they differ cannot be foreseen.
#[inline(always)]
pub(super) fn larger(a: &Words, b: &Words) -> Ordering {
    let (difference, borrow) = minus(&widened(a), &widened(b));
    let any = difference.iter().fold(0, |any, word| any | word);
    if borrow {
        Ordering::Less
    } else if any == 0 {
        Ordering::Equal
    } else {
        Ordering::Greater
    }
}

pub(super) fn is_one_word(words: &Words) -> bool {
    words[0] | words[1] | words[2] == 0
}

/// A significand with room below.
pub(super) fn widened(words: &Words) -> Wide {
    let [a, b, c, d] = *words;
    [0, a, b, c, d]
}

/// 2^−shift times a significand; what is lost is jammed.
pub(super) fn shifted_right(words: &Words, shift: u32) -> Wide {
    if shift < 64 { shifted_near(words, shift) } else { shifted_far(words, shift) }
}

/// 2^−shift times a significand, `shift` less than a word: nothing is lost.
#[inline(always)]
pub(super) fn shifted_near(words: &Words, shift: u32) -> Wide {
    let [a, b, c, d] = *words;
    let join = |low: u64, high: u64| low >> shift | (high << 1) << (63 - shift);
    [join(0, a), join(a, b), join(b, c), join(c, d), d >> shift]
}

/// 2^−shift times a significand, for any shift; what is lost is jammed.
fn shifted_far(words: &Words, shift: u32) -> Wide {
    const PADDED: usize = 16;
    if shift >= 64 * (WORDS as u32 + 1) {
        return [1, 0, 0, 0, 0];
    }
    let mut padded = [0; PADDED];
    padded[1..=WORDS].copy_from_slice(words);
    let (whole, bits) = (shift as usize / 64, shift % 64);
    let mut wide: Wide = std::array::from_fn(|i| {
        let (low, high) = (padded[(i + whole) % PADDED], padded[(i + whole + 1) % PADDED]);
        low >> bits | (high << 1) << (63 - bits)
    });
    let cut = padded[whole] & !(u64::MAX << bits);
    let lost = padded[..whole].iter().fold(cut, |all, word| all | word);
    wide[0] |= u64::from(lost != 0);
    wide
}

pub(super) fn plus(a: &Wide, b: &Wide) -> (Wide, bool) {
    plus_carry(a, b, false)
}

/// a + b, and one more if `carry`; and the carry.
#[inline(always)]
pub(super) fn plus_carry<const N: usize>(a: &[u64; N], b: &[u64; N], mut carry: bool) -> ([u64; N], bool) {
    let mut sum = *a;
    for (word, other) in sum.iter_mut().zip(b) {
        let (first, over) = word.overflowing_add(*other);
        let (second, again) = first.overflowing_add(u64::from(carry));
        (*word, carry) = (second, over | again);
    }
    (sum, carry)
}

#[inline(always)]
pub(super) fn minus(a: &Wide, b: &Wide) -> (Wide, bool) {
    let (mut difference, mut borrow) = (*a, false);
    for (word, other) in difference.iter_mut().zip(b) {
        let (first, under) = word.overflowing_sub(*other);
        let (second, again) = first.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (second, under | again);
    }
    (difference, borrow)
}

/// a − b, where that is not negative.
#[inline(always)]
pub(super) fn difference(a: &Words, b: &Words) -> Words {
    let [_, words @ ..] = minus(&widened(a), &widened(b)).0;
    words
}

/// Half of it, with a new top bit. The lowest bit is lost.
#[inline(always)]
pub(super) fn halved(wide: &Wide, top: bool) -> Wide {
    let [a, b, c, d, e] = *wide;
    let join = |low: u64, high: u64| low >> 1 | high << 63;
    [join(a, b), join(b, c), join(c, d), join(d, e), join(e, u64::from(top))]
}

/// Twice it and the bit that comes in from below. The top bit is lost.
#[inline(always)]
pub(super) fn doubled(wide: &Wide, below: u64) -> Wide {
    let [a, b, c, d, e] = *wide;
    let join = |low: u64, high: u64| high << 1 | low >> 63;
    [a << 1 | below, join(a, b), join(b, c), join(c, d), join(d, e)]
}

/// Shifts the leading bit to the top; by how much. Nothing where there is no bit at all.
pub(super) fn normalised(wide: &mut Wide) -> Option<u32> {
    if wide[WORDS] & TOP != 0 {
        return Some(0);
    }
    let first = wide.iter().rposition(|&word| word != 0)?;
    let words = WORDS - first;
    if words > 0 {
        wide.rotate_right(words);
    }
    let bits = wide[WORDS].leading_zeros();
    if bits > 0 {
        *wide = std::array::from_fn(|i| {
            let below = if i == 0 { 0 } else { wide[i - 1] };
            wide[i] << bits | (below >> 1) >> (63 - bits)
        });
    }
    Some(64 * words as u32 + bits)
}

/// a · b: the upper words, and one that stands for those below: its top bit is right, and it is zero if they are.
#[inline(always)]
pub(super) fn product(a: &Words, b: &Words) -> (Wide, u64) {
    let mut all = [0; 2 * WORDS];
    for j in 0..WORDS {
        let mut carry = 0;
        for i in 0..WORDS {
            (all[i + j], carry) = multiply_add(a[i], b[j], all[i + j], carry);
        }
        all[j + WORDS] = carry;
    }
    let [lowest, lower, low, wide @ ..] = all;
    (wide, low | u64::from(lowest | lower != 0))
}

/// a · b · 2^−64: all words.
#[inline(always)]
pub(super) fn product_by_word(a: &Words, b: u64) -> Wide {
    let mut wide = [0; WORDS + 1];
    let mut carry = 0;
    for i in 0..WORDS {
        (wide[i], carry) = multiply_add(a[i], b, 0, carry);
    }
    wide[WORDS] = carry;
    wide
}

/// a · b + c + d: low and high word.
#[inline(always)]
pub(super) fn multiply_add(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let all = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (all as u64, (all >> 64) as u64)
}

/// ⌊(2^128 − 1) / divisor⌋ − 2^64, for a divisor with its top bit set.
pub(super) fn reciprocal(divisor: u64) -> u64 {
    let numerator = u128::from(!divisor) << 64 | u128::from(u64::MAX);
    (numerator / u128::from(divisor)) as u64
}

/// ⌊(high · 2^64 + low) / divisor⌋ and what is left, for high < divisor: Möller and Granlund, "Improved division by
/// invariant integers", IEEE Trans. Computers 60 (2011), algorithm 4.
#[inline(always)]
pub(super) fn quotient(high: u64, low: u64, divisor: u64, reciprocal: u64) -> (u64, u64) {
    let estimate = u128::from(reciprocal) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let (mut digit, fraction) = (((estimate >> 64) as u64).wrapping_add(1), estimate as u64);
    let mut rest = low.wrapping_sub(digit.wrapping_mul(divisor));
    if rest > fraction {
        digit = digit.wrapping_sub(1);
        rest = rest.wrapping_add(divisor);
    }
    if rest >= divisor {
        digit = digit.wrapping_add(1);
        rest -= divisor;
    }
    (digit, rest)
}

/// The next word of rest / divisor, rest < divisor, and what is left: Knuth, TAOCP 2, 4.3.1, algorithm D. `reciprocal`
/// is that of the divisor's top word.
#[inline(always)]
pub(super) fn next_digit(rest: &mut Words, divisor: &Words, reciprocal: u64) -> u64 {
    let top = divisor[WORDS - 1];
    let [low, middle, high, highest] = *rest;
    let mut digit = if highest >= top {
        u64::MAX
    } else {
        // The estimate is at most two too large; by the next word of the divisor it is corrected almost always.
        let (estimate, left) = quotient(highest, high, top, reciprocal);
        let taken = u128::from(estimate) * u128::from(divisor[WORDS - 2]);
        estimate - u64::from(taken > (u128::from(left) << 64 | u128::from(middle)))
    };
    // 2^64 · rest − digit · divisor.
    let mut carry = 0;
    let mut taken: Wide = [0; WORDS + 1];
    for i in 0..WORDS {
        (taken[i], carry) = multiply_add(digit, divisor[i], 0, carry);
    }
    taken[WORDS] = carry;
    let (mut left, mut negative) = minus(&[0, low, middle, high, highest], &taken);
    while negative {
        let [a, b, c, d] = *divisor;
        let (back, carry) = plus(&left, &[a, b, c, d, 0]);
        left = back;
        negative = !carry;
        digit -= 1;
    }
    rest.copy_from_slice(&left[..WORDS]);
    digit
}

/// Tells whether what is left of a division is half of the divisor at least, and whether there is more than that (or,
/// below half, than nothing).
#[inline(always)]
pub(super) fn against_half(rest: &Words, divisor: &Words) -> (bool, bool) {
    let out = rest[WORDS - 1] & TOP != 0;
    let [_, twice @ ..] = doubled(&widened(rest), 0);
    match (out, larger(&twice, divisor)) {
        (true, _) | (false, Ordering::Greater) => (true, true),
        (false, Ordering::Equal) => (true, false),
        (false, Ordering::Less) => (false, rest[0] | rest[1] | rest[2] | rest[3] != 0),
    }
}
