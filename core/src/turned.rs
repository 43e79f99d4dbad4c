//! Words that are doubles turned by three bits, as Ruby's values hold most floats, and the shadows of these meanwhile.
//!
//! Ruby rotates a double to the left by three bits, so that sign and the upper bits of the exponent are the lowest, and puts a tag in
//! place of the last two, which follow from what is left. While it is so, what stands beside the word is no number but a [`Tag`], with
//! the place in a table where the float's bits and its shadow are. The shadow comes back with just these bits; whatever else is made of
//! the word has none. Knows nothing of Ruby's other values.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bits by which doubles are turned to the left.
pub const TURN: u32 = 3;
/// Bits of a turned word that are a tag's.
const TAG_BITS: u64 = 0b11;
/// Bits of a turned word that are sign and exponent, or a tag.
const NO_DIGITS: u64 = 0b111;
/// Turned doubles at a time, at most: what is turned later takes the place of the oldest.
pub const PLACES: u64 = 1 << 21;
/// Bits of an entry's number in the lower and the upper half of the cell beside a turned word.
pub const HALF_BITS: u32 = 16;

/// Upper parts of the two halves of what stands beside a turned word. Neither half is a shadow that anything computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The last two bytes of the cell.
    pub upper: u16,
    /// The last two bytes of its lower half.
    pub lower: u16,
}

impl Tag {
    /// Cell beside the turned word with this number.
    pub fn cell(self, number: u64) -> u64 {
        let half = |tag: u16, number: u64| u64::from(tag) << HALF_BITS | number & ((1 << HALF_BITS) - 1);
        half(self.upper, number >> HALF_BITS) << 32 | half(self.lower, number)
    }

    /// The number in a cell, if there is one.
    fn number(self, cell: u64) -> Option<u64> {
        let half = |bits: u64| bits & ((1 << HALF_BITS) - 1);
        let number = half(cell >> 32) << HALF_BITS | half(cell);
        (self.cell(number) == cell).then_some(number)
    }

    /// Tells whether a cell is beside a word that is turned, or was.
    pub fn is_in(self, cell: u64) -> bool {
        self.number(cell).is_some()
    }

    /// Tells whether the lower half of a cell is that of one beside a turned word, but for a chance of one in 65536.
    pub fn is_in_lower(self, half: u32) -> bool {
        (half >> HALF_BITS) as u16 == self.lower
    }
}

/// Words of an entry: its number, the double's bits, and its cell; the last is not used.
pub const ENTRY: usize = 4;
/// Words of the table: an entry that holds the number given last comes before those of doubles.
pub const WORDS: usize = ENTRY * (PLACES as usize + 1);

/// Doubles that are turned: a table that threads share without a lock, and translated code knows. An entry is overwritten when as
/// many have come after it as there is room for, and its number is another then.
#[derive(Clone, Copy, Debug)]
pub struct Turned {
    words: &'static [AtomicU64],
}

impl Turned {
    /// A table in [`WORDS`] words, which are zero.
    pub fn new(words: &'static [AtomicU64]) -> Turned {
        assert_eq!(words.len(), WORDS, "as many words as translated code reckons with");
        Turned { words }
    }

    /// Address of the words.
    pub fn address(self) -> u64 {
        self.words.as_ptr() as u64
    }

    fn entry(self, number: u64) -> &'static [AtomicU64] {
        &self.words[ENTRY * (1 + number % PLACES) as usize..][..ENTRY]
    }

    /// Cell beside the word that the double `bits`, with `cell` beside it, is turned to.
    pub fn insert(self, tag: Tag, bits: u64, cell: u64) -> u64 {
        const NUMBERS: u64 = (1 << (2 * HALF_BITS)) - 1;
        let number = (self.words[0].fetch_add(1, Ordering::Relaxed) + 1) & NUMBERS;
        let entry = self.entry(number);
        entry[1].store(bits, Ordering::Relaxed);
        entry[2].store(cell, Ordering::Relaxed);
        entry[0].store(number, Ordering::Release);
        tag.cell(number)
    }

    /// The cell that the double `bits` had before it was turned to the word that has `cell` beside it; nothing if that was another.
    pub fn get(self, tag: Tag, bits: u64, cell: u64) -> Option<u64> {
        let number = tag.number(cell)?;
        let entry = self.entry(number);
        let is_there = entry[0].load(Ordering::Acquire) == number;
        let is_same = entry[1].load(Ordering::Relaxed) == bits;
        (is_there && is_same && number != 0).then(|| entry[2].load(Ordering::Relaxed))
    }
}

/// Tells whether `word` is the double `bits`, turned, whatever its tag.
pub fn is_turned(bits: u64, word: u64) -> bool {
    differ_in_tag(bits.rotate_left(TURN), word)
}

/// Tells whether two words are the same but for their tags.
pub fn differ_in_tag(before: u64, after: u64) -> bool {
    (before ^ after) & !TAG_BITS == 0
}

/// Tells whether `after` is the double `before` as it is turned: one of those near enough to 1 that the tag's bits follow from the
/// others. No shift leaves the same.
pub fn turns(before: u64, after: u64) -> bool {
    before.rotate_left(TURN) == after && matches!(before >> 60 & 0b111, 0b011 | 0b100)
}

/// Tells whether these bits are in places of a turned word where no digit of the float is: the tag, or the sign. Those of ±2 have no
/// others.
pub fn is_tag(bits: u64) -> bool {
    bits <= NO_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag { upper: 0x7ffd, lower: 0x7fea };

    fn table() -> Turned {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        Turned::new(words.leak())
    }

    /// As Ruby's `rb_float_new_inline` makes a value, and `rb_float_flonum_value` a float of it.
    fn value(x: f64) -> u64 {
        x.to_bits().rotate_left(3) & !3 | 2
    }

    #[test]
    fn words_are_known_with_any_tag() {
        let turned = table();
        for x in [0.7_f64, -1e70, 3.5e-60, 1.0] {
            let bits = x.to_bits();
            let cell = turned.insert(TAG, bits, 77);
            assert!(f64::from_bits(cell).is_nan() && f32::from_bits(cell as u32).is_nan());
            for word in [bits.rotate_left(3), value(x), value(x) & !3] {
                assert!(is_turned(bits, word) && !is_turned(bits, word ^ 4));
            }
            assert_eq!(turned.get(TAG, bits, cell), Some(77));
            assert_eq!(turned.get(TAG, bits ^ 1, cell), None);
            assert_eq!(turned.get(TAG, bits, cell ^ 1 << 20), None);
            assert_eq!(turned.get(TAG, bits, cell ^ 1), None);
            let exponent = value(x) >> 63;
            assert_eq!(((2 - exponent) | value(x) & !3).rotate_right(3), bits);
            assert!(turns(bits, bits.rotate_left(3)) && !turns(bits, bits << 3));
        }
        assert!(!turns(1e300_f64.to_bits(), 1e300_f64.to_bits().rotate_left(3)));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let turned = table();
        let bits = 0.7_f64.to_bits();
        let first = turned.insert(TAG, bits, 1);
        for cell in 2..=PLACES {
            turned.insert(TAG, bits, cell);
        }
        assert_eq!(turned.get(TAG, bits, first), Some(1));
        let last = turned.insert(TAG, bits, 5);
        assert_eq!(turned.get(TAG, bits, first), None);
        assert_eq!(turned.get(TAG, bits, last), Some(5));
    }
}
