//! Looks that saw no part of a float in what was stored: they hold for some more that the same instruction puts next to that, as a
//! loop does which fills an array. Of those they have seen almost as far.
//!
//! Knows nothing of how one looks.

use super::store::{Store, bits, cell};
use super::{Layout, NARROW};
use crate::engine::planes;
use crate::x86::wholes::ahead::Use;

/// Bytes of a double.
const DOUBLE: u64 = 8;
/// Number of instructions whose looks are remembered.
const REMEMBERED: usize = 4;
/// Number of stores for which a first look holds, and most for which one does that is like those before.
const FIRST: u16 = 8;
const MOST: u16 = 256;

/// Look on behalf of one instruction.
#[derive(Clone, Copy)]
struct Look {
    used: Use,
    /// Address of the instruction.
    by: u64,
    /// Address of what was put there last.
    address: u64,
    /// Number of stores for which it holds, and still does.
    most: u16,
    left: u16,
    /// The store before was of the lower half of a double, whose shadow is kept until the upper half is stored.
    is_halfway: bool,
    /// Number of doubles that were written byte by byte, from the first to the last, since the instruction was seen first; 0 if it
    /// writes others.
    doubles: u32,
    /// True if nobody has looked since the last of those was begun.
    is_unseen: bool,
}

/// Purpose of what a store puts down for which a look holds.
pub(super) enum Held {
    /// Bytes whose use the look saw.
    Use(Use),
    /// The lower half of a double. It is taken for other digits until the upper half comes: only then is the double none any more.
    Half,
}

impl Look {
    /// Tells whether `by` goes on with so many bytes at `address`.
    fn goes_on(&self, by: u64, [address, bytes]: [u64; 2]) -> bool {
        let is_next = self.address.wrapping_add(bytes) == address;
        self.by == by && (is_next || bytes == 1 && address.wrapping_add(1) == self.address)
    }

    /// Tells whether a double was begun, byte by byte, and not finished.
    fn is_within_double(&self) -> bool {
        !(self.address + 1).is_multiple_of(DOUBLE)
    }

    /// Tells whether it holds for the byte at `address` since whole doubles are written byte by byte: none of their bytes stays, and
    /// each takes along what is beside it. Now and then somebody looks all the same.
    fn copies_double(&mut self, address: u64) -> bool {
        if self.doubles == 0 {
            return false;
        }
        let begins = address.is_multiple_of(DOUBLE) && !self.is_within_double();
        if begins {
            self.doubles = self.doubles.saturating_add(1);
            self.is_unseen = !self.doubles.is_power_of_two();
            return self.is_unseen;
        }
        self.address.wrapping_add(1) == address
    }
}

/// The looks of the instructions that stored last.
#[derive(Default)]
pub(super) struct Looks {
    of: Vec<Look>,
}

impl Looks {
    /// Purpose of what a store puts down, if the last look still holds for it: it does not for words of floats with shadows.
    pub(super) fn held(&mut self, store: Store<'_>, layout: Layout) -> Option<Held> {
        let Store { insn, address, bytes, .. } = store;
        let look = self.of.iter_mut().find(|look| look.by == insn.ip())?;
        if bytes == 1 && look.copies_double(address) {
            look.address = address;
            return Some(Held::Use(look.used));
        }
        if !look.goes_on(insn.ip(), [address, bytes.into()]) {
            return None;
        }
        let start = address & !(DOUBLE - 1);
        if std::mem::take(&mut look.is_halfway) {
            planes::clear(start, NARROW.into());
        }
        let is_known = bytes < NARROW || !store.is_moved();
        look.left = look.left.checked_sub(1).filter(|_| is_known)?;
        look.address = address;
        if bytes == NARROW && address == start {
            // Other digits of a zero are another number.
            let float = bits(start, DOUBLE as usize);
            let is_normal = float >> 52 & 0x7ff != 0;
            let is_active = planes::any(start + u64::from(NARROW), NARROW.into());
            look.is_halfway =
                is_normal && is_active && layout.looks_wide(cell(start, DOUBLE as usize), float);
        }
        Some(if look.is_halfway { Held::Half } else { Held::Use(look.used) })
    }

    /// Follows a store that is no part of a float with a shadow: between two that are.
    pub(super) fn follow(&mut self, Store { insn, address, bytes, .. }: Store<'_>) {
        let look = self.of.iter_mut().find(|look| look.by == insn.ip());
        if let Some(look) = look.filter(|look| bytes == 1 && look.doubles > 0) {
            let begins = address.is_multiple_of(DOUBLE) && !look.is_within_double();
            if begins || look.address.wrapping_add(1) == address {
                look.address = address;
            }
        }
    }

    /// Tells whether the instruction has left a double half written since, at which nobody has looked: some of its bytes have a shadow
    /// that is another number's.
    pub(super) fn breaks_off(&self, store: Store<'_>) -> bool {
        let Store { insn, address, .. } = store;
        self.of.iter().any(|look| {
            let breaks_off = look.by == insn.ip() && look.is_unseen && look.is_within_double();
            let start = look.address & !(DOUBLE - 1);
            breaks_off && look.address.wrapping_add(1) != address && planes::any(start, DOUBLE)
        })
    }

    /// Notes what a look saw of so many bytes at an address, which the instruction at `by` is about to write.
    pub(super) fn note(&mut self, by: u64, [address, bytes]: [u64; 2], used: Use) {
        let known = self.of.iter().position(|look| look.by == by);
        let before = known.map(|n| self.of.remove(n));
        let holds = used == Use::Unseen || used == Use::Alone && bytes > 1;
        if !holds || bytes != 1 && bytes != u64::from(NARROW) {
            return;
        }
        let is_like = |look: &Look| look.goes_on(by, [address, bytes]) && look.used == used && bytes > 1;
        let most = before.filter(is_like).map_or(FIRST, |look| (2 * look.most).min(MOST));
        let begins = bytes == 1 && address.is_multiple_of(DOUBLE);
        let doubles =
            before.filter(|look| begins && !look.is_within_double()).map_or(1, |look| look.doubles.max(1));
        // The next byte that is looked at is the first one of a double.
        let to_end = (DOUBLE - 1 - address % DOUBLE) as u16;
        let left = if bytes == 1 { to_end } else { most - 1 };
        if self.of.len() == REMEMBERED {
            self.of.remove(0);
        }
        self.of.push(Look {
            used,
            by,
            address,
            most,
            left,
            is_halfway: false,
            doubles: if begins { doubles } else { 0 },
            is_unseen: false,
        });
    }
}
