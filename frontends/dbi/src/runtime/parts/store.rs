//! Stores of a few bytes that are about to run: what they put there, beside what is there.
//!
//! Knows nothing of what becomes of it next.

use super::{EXTENDED_END, Layout, NARROW};
use crate::engine::{guest, planes};
use crate::x86::wholes::Whole;
use iced_x86::Instruction;
use shadowgrind_core::format::Format;

/// A store of less than eight bytes that is about to run.
#[derive(Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) insn: &'a Instruction,
    pub(crate) address: u64,
    /// Number of bytes that it writes there, less than eight.
    pub(crate) bytes: u8,
    /// Bits that it puts there, and the shadow of these.
    pub(crate) value: u64,
    pub(crate) moved: [u8; 8],
    /// The general registers.
    pub(crate) general: &'a [u64; 16],
    /// Part that its block tells of.
    pub(crate) seen: Option<Whole>,
}

impl Store<'_> {
    pub(super) fn is_moved(self) -> bool {
        self.moved != [0; 8]
    }

    /// Tells whether it puts there the end of another long double than that whose digits are there; nothing if it is no such end, the
    /// digits have no shadow, or nothing tells.
    pub(super) fn is_of_another(self, format: Format, at: u8, layout: Layout) -> Option<bool> {
        let first = cell(self.address.wrapping_sub(at.into()), 2);
        if format != Format::F80 || at != EXTENDED_END || !self.is_moved() || first == 0 {
            return None;
        }
        let moved = u64::from_le_bytes(self.moved);
        if layout.ends_twice {
            return Some(!is_same_but_sign(moved, first));
        }
        // That of the same number has been changed as the float has.
        let there = cell(self.address, 2);
        let is_whole = there != 0 && self.seen != Some(Whole::Assembled);
        is_whole.then(|| change(2, there, moved) != change(2, bits(self.address, 2), self.value))
    }

    /// Tells whether the end of a long double that it overwrites is not that of the digits that are there.
    pub(super) fn is_beside_another(self, layout: Layout) -> bool {
        let [first, last] =
            [self.address.wrapping_sub(EXTENDED_END.into()), self.address].map(|at| cell(at, 2));
        first != 0 && if layout.ends_twice { first != last } else { self.seen == Some(Whole::Assembled) }
    }

    /// Tells whether it puts a part of a number with a shadow into another one, of which the rest stays.
    pub(super) fn mixes(self, format: Format, at: u8) -> bool {
        const DIGITS: u64 = 8;
        let is_among_digits = || match format {
            Format::F80 => at < EXTENDED_END || !planes::any(self.address - DIGITS, DIGITS),
            _ => true,
        };
        self.is_moved() && is_among_digits()
    }

    /// Tells whether it puts down what has the shadow that is there. Parts of shadows that are numbers are the same by chance, as are
    /// those of fewer bytes than a float has: unless what they are for is the same, too.
    pub(super) fn is_there(self, layout: Layout) -> bool {
        let tells = layout.ends_twice && self.bytes >= NARROW;
        self.is_moved()
            && cell(self.address, self.bytes.into()) == u64::from_le_bytes(self.moved)
            && (tells || bits(self.address, self.bytes.into()) == self.value)
    }

    pub(super) fn is_over_active(self, bytes: u8) -> bool {
        planes::any(self.address, bytes.into())
    }

    /// Tells whether it puts a character behind eight that are there. Only of a float that begins just there is it a part, the last one.
    pub(super) fn goes_on_with_text(self) -> bool {
        const BEFORE: usize = 8;
        let before = || bits(self.address.wrapping_sub(BEFORE as u64), BEFORE).to_le_bytes();
        let is_character = self.bytes == 1 && !self.is_moved() && guest::is_text(self.value as u8);
        is_character && before().into_iter().all(guest::is_text)
    }

    /// The float that it goes over with text, whose end it reaches: buffers of text lie where floats were that have been freed, and
    /// nothing of those is left then. A double is one if its bytes as far as these are text, which digits are by chance once in a
    /// thousand times, and a narrow float if so are as many, with those before it. Digits of numbers are put down from the last
    /// one on: either is one as well before as many bytes of text, if it would have an exponent that nobody gives a float.
    pub(super) fn overwrites_with_text(self, bytes: u8) -> Option<Whole> {
        const WORD: u64 = 8;
        if self.is_moved() || !self.value.to_le_bytes()[..bytes.into()].iter().copied().all(guest::is_text) {
            return None;
        }
        let end = self.address + u64::from(bytes);
        let is_text = |from: u64, to: u64| {
            let len = to.saturating_sub(from) as usize;
            bits(from, len).to_le_bytes()[..len].iter().copied().all(guest::is_text)
        };
        let over = |format: Format, from: u64| {
            let (size, at) = (format.bytes() as u64, self.address % format.bytes() as u64);
            let reaches_end = (size - 1..=size).contains(&(at + u64::from(bytes)));
            let last = self.address - at + size - 1;
            let top = if last < end { self.value >> (8 * (last - self.address)) } else { bits(last, 1) };
            let is_absurd = !(b';'..=b'`').contains(&(top as u8));
            let is_amid = || is_text(from, self.address) || is_absurd && is_text(end, end + WORD);
            (reaches_end && is_amid()).then_some(Whole::Replaced { format, at: at as u8 })
        };
        over(Format::F64, self.address & !(WORD - 1)).or_else(|| over(Format::F32, end.saturating_sub(WORD)))
    }

    /// Tells whether it puts the end of a float back, with another sign or exponent perhaps, or that of the float whose digits are
    /// there: what it comes with has the digits of what is there, and has been changed as the float has.
    pub(super) fn is_own(self, format: Format, at: u8, layout: Layout) -> bool {
        let bytes = usize::from(self.bytes);
        if usize::from(at) + bytes != format.bytes() || !self.is_moved() {
            return false;
        }
        let (moved, there) = (u64::from_le_bytes(self.moved), cell(self.address, bytes));
        let first = || cell(self.address.wrapping_sub(at.into()), bytes);
        if format == Format::F80 && layout.ends_twice && is_same_but_sign(moved, first()) {
            return true;
        }
        let before = bits(self.address, bytes);
        let digits =
            (1_u64 << (8 * bytes as u32).saturating_sub(format.width() + 1 - format.precision())) - 1;
        let is_same = |a: u64, b: u64| (a ^ b) & digits == 0;
        // The upper end of a number has none of its digits.
        let may_differ = layout.ends_twice && !is_same(before, self.value);
        let is_changed_alike = || change(bytes, there, moved) == change(bytes, before, self.value);
        is_same(moved, there) && (may_differ || is_same(before, self.value) && is_changed_alike())
    }
}

/// Shadow beside the `bytes` bytes at `address`.
pub(super) fn cell(address: u64, bytes: usize) -> u64 {
    let mut cell = [0; 8];
    planes::read(address, &mut cell[..bytes]);
    u64::from_le_bytes(cell)
}

/// The `bytes` bytes at `address`, as far as there is memory.
pub(super) fn bits(address: u64, bytes: usize) -> u64 {
    let mut bits = [0; 8];
    guest::read_some(address, &mut bits[..bytes]);
    u64::from_le_bytes(bits)
}

/// Tells whether two ends of long doubles differ in their signs at most.
fn is_same_but_sign(a: u64, b: u64) -> bool {
    (a ^ b) & 0x7fff == 0
}

/// Change of sign and exponent from one end of a float, of so many bytes, to another.
fn change(bytes: usize, from: u64, to: u64) -> (bool, i64) {
    let sign = 1_u64 << (8 * bytes - 1);
    let magnitude = |end: u64| (end & (sign - 1)).cast_signed();
    ((from ^ to) & sign != 0, magnitude(to) - magnitude(from))
}
