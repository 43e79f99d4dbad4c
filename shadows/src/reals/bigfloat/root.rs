//! The square root of a significand, word by word as by hand: what is left is brought down by two words, and the next
//! word of the root is what twice the root so far goes into it.

use super::words::{TOP, WORDS, Words, multiply_add, quotient, reciprocal};
use super::{Kind, Short, finished};

/// Room for what is left of a step, and for what is taken from it.
const ROOM: usize = WORDS + 2;
type Rest = [u64; ROOM];

impl Short {
    /// √x of a number that is not negative.
    #[inline(always)]
    pub(crate) fn root(&self, precision: u32) -> Short {
        if self.kind == Kind::Zero {
            return *self;
        }
        // Of a number in [¼, 1), so that the exponent is even.
        let odd = (self.exponent & 1) as u32;
        let [a, b, c, d] = self.words;
        let join = |low: u64, high: u64| low >> odd | (high & u64::from(odd)) << 63;
        let words = [join(a, b), join(b, c), join(c, d), d >> odd];
        let (words, left) = root(&words, (a & u64::from(odd)) << 63);
        let below = match left {
            Left::Nothing => 0,
            Left::Little => 1,
            Left::Much => TOP | 1,
        };
        let [a, b, c, d] = words;
        finished([below, a, b, c, d], (self.exponent + odd as i32) / 2, false, precision)
    }
}

/// ⌊√(words · 2^256)⌋ for a number with one of its two top bits set and `below` as its 257th bit, and whether what is
/// left of it is nothing, less than that root and a half, or more.
#[inline(always)]
fn root(words: &Words, below: u64) -> (Words, Left) {
    let number = [0, 0, 0, below, words[0], words[1], words[2], words[3]];
    let top = u128::from(words[3]) << 64 | u128::from(words[2]);
    let first = first_word(top);
    let rest = top - u128::from(first) * u128::from(first);
    let mut root = [0, 0, 0, first];
    let mut left: Rest = [rest as u64, (rest >> 64) as u64, 0, 0, 0, 0];
    for known in 1..WORDS {
        let next = WORDS - known;
        let down = [number[2 * next - 2], number[2 * next - 1]];
        root[next - 1] = next_word(&mut left, down, &root[next..], reciprocal(first));
    }
    (root, Left::of(&left, &root))
}

/// Remainder of a number beside the square of its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    /// The root is nearer than the next number.
    Little,
    /// The next number is nearer.
    Much,
}

impl Left {
    /// (r + ½)² is r² + r and a quarter: never just what is left.
    fn of(left: &Rest, root: &Words) -> Left {
        if *left == [0; ROOM] {
            return Left::Nothing;
        }
        let more = left[WORDS] | left[WORDS + 1] != 0 || left[..WORDS].iter().rev().gt(root.iter().rev());
        if more { Left::Much } else { Left::Little }
    }
}

/// ⌊√top⌋ for a number with one of its two top bits set: Heron's step squares the error of the floating-point root,
/// which is 2^-52, and comes from above.
fn first_word(top: u128) -> u64 {
    let near = (top as f64).sqrt() as u64;
    let better = (u128::from(near) + top / u128::from(near)) / 2;
    let mut root = u64::try_from(better).unwrap_or(u64::MAX);
    while u128::from(root) * u128::from(root) > top {
        root -= 1;
    }
    root
}

/// Brings two words down to what is left and takes off as much as the next word of the root accounts for. `reciprocal` is
/// that of the root's top word.
#[inline(always)]
fn next_word(left: &mut Rest, [low, high]: [u64; 2], root: &[u64], reciprocal: u64) -> u64 {
    let words = root.len();
    let divisor = root[words - 1];
    let [a, b, c, d, ..] = *left;
    let mut rest = [low, high, a, b, c, d];
    // Half of it by the root rather than all of it by twice the root; of both the top only, so that it may be too much
    // by a little.
    let half = |at: usize| rest[at] >> 1 | rest.get(at + 1).map_or(0, |above| above << 63);
    let (top, below) = (half(words + 1), half(words));
    let mut digit = if top >= divisor { u64::MAX } else { quotient(top, below, divisor, reciprocal).0 };
    // (2 · root · 2^64 + digit) · digit
    let mut doubled = [0; ROOM];
    for (place, word) in root.iter().enumerate() {
        doubled[place + 1] |= word << 1;
        doubled[place + 2] = word >> 63;
    }
    doubled[0] = digit;
    let (mut taken, mut carry) = ([0; ROOM], 0);
    for place in 0..ROOM {
        (taken[place], carry) = multiply_add(digit, doubled[place], 0, carry);
    }
    let mut negative = subtract(&mut rest, &taken);
    while negative {
        // For one less it would be 2 · root · 2^64 + 2 · digit − 1 less, by the digit as it was.
        doubled[0] = digit;
        digit -= 1;
        let carried = add(&mut rest, &doubled);
        negative = !(carried | add(&mut rest, &[digit, 0, 0, 0, 0, 0]));
    }
    *left = rest;
    digit
}

/// a − b in place of a; whether that is negative.
fn subtract(a: &mut Rest, b: &Rest) -> bool {
    let mut borrow = false;
    for (word, other) in a.iter_mut().zip(b) {
        let (first, under) = word.overflowing_sub(*other);
        let (second, again) = first.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (second, under | again);
    }
    borrow
}

/// a + b in place of a; whether it was negative and is so no more.
fn add(a: &mut Rest, b: &Rest) -> bool {
    let mut carry = false;
    for (word, other) in a.iter_mut().zip(b) {
        let (first, over) = word.overflowing_add(*other);
        let (second, again) = first.overflowing_add(u64::from(carry));
        (*word, carry) = (second, over | again);
    }
    carry
}
