//! Looks that saw no part of a float in what was stored: they hold for some more that the same instruction puts next to that, as a
//! loop does which fills an array. Of those they have seen almost as far.
//!
//! Knows nothing of how one looks.

use super::store::{Store, bits, cell};
use super::{Layout, NARROW};
use crate::engine::planes;
use crate::x86::wholes::ahead::Use;
use shadowgrind_core::format::Format;

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
    /// Tells whether its instruction goes on with so many bytes at `address`.
    fn goes_on(&self, [address, bytes]: [u64; 2]) -> bool {
        self.address.wrapping_add(bytes) == address || bytes == 1 && address.wrapping_add(1) == self.address
    }

    /// Tells whether a double was begun, byte by byte, and not finished. Bytes without a shadow, where none was, are stored unseen.
    fn is_within_double(&self) -> bool {
        let next = self.address.wrapping_add(1);
        planes::any(next, next.next_multiple_of(DOUBLE) - next)
    }

    /// Tells whether a byte comes later in the double that its instruction wrote last.
    fn is_in_same(&self, address: u64) -> bool {
        address / DOUBLE == self.address / DOUBLE && address > self.address
    }

    /// Goes on to a byte. True if whole doubles are written byte by byte: of the one that the byte is of nothing stays, and each byte takes
    /// along what is beside it. Now and then somebody looks all the same, at the first.
    fn copies_double(&mut self, store: Store<'_>) -> bool {
        let address = store.address;
        let between = |from: u64| planes::any(from, address.saturating_sub(from));
        let goes_on = self.is_in_same(address) && !between(self.address + 1);
        // The same double may be written again and again.
        let begins = begins_double(store) && !self.is_in_same(address) && !self.is_within_double();
        if self.doubles == 0 || !begins && !goes_on {
            return false;
        }
        self.address = address;
        if begins {
            self.doubles = self.doubles.saturating_add(1);
            self.is_unseen = !self.doubles.is_power_of_two();
        }
        !begins || self.is_unseen
    }
}

/// Tells whether a byte is the first of a double, or the first with a shadow.
fn begins_double(store: Store<'_>) -> bool {
    let start = store.address & !(DOUBLE - 1);
    let is_first = start == store.address || store.is_moved();
    store.bytes == 1 && is_first && !planes::any(start, store.address - start)
}

/// Tells whether behind the four bytes at `start` there is the upper half of a double with a shadow. Other digits of a zero are another
/// number.
fn is_upper_half_behind(start: u64, layout: Layout) -> bool {
    let double = bits(start, DOUBLE as usize);
    let is_normal = double >> 52 & 0x7ff != 0;
    let is_active = || planes::any(start + u64::from(NARROW), NARROW.into());
    is_normal && is_active() && layout.looks_wide(cell(start, DOUBLE as usize), double)
}

/// Tells whether all bytes of a double from number `at` on are among those that are `written`, as a mask.
fn writes_from(at: u8, written: u16) -> bool {
    let rest = u16::from(u8::MAX << at);
    written & rest == rest
}

/// The looks of the instructions that stored last.
#[derive(Default)]
pub(in crate::runtime) struct Looks {
    of: Vec<Look>,
}

impl Looks {
    /// The look on behalf of the instruction at `by`.
    fn find(&self, by: u64) -> Option<&Look> {
        self.of.iter().find(|look| look.by == by)
    }

    fn find_mut(&mut self, by: u64) -> Option<&mut Look> {
        self.of.iter_mut().find(|look| look.by == by)
    }

    /// Tells whether the store is of a byte of a double all of which is written byte by byte.
    pub(super) fn copies_double(&mut self, store: Store<'_>) -> bool {
        store.bytes == 1 && self.find_mut(store.insn.ip()).is_some_and(|look| look.copies_double(store))
    }

    /// Purpose of what a store puts down, if the last look still holds for it: it does not for words of floats with shadows.
    pub(super) fn held(&mut self, store: Store<'_>, layout: Layout) -> Option<Held> {
        let Store { insn, address, bytes, .. } = store;
        let look = self.find_mut(insn.ip()).filter(|look| look.goes_on([address, bytes.into()]))?;
        let start = address & !(DOUBLE - 1);
        if std::mem::take(&mut look.is_halfway) {
            planes::clear(start, NARROW.into());
        }
        let is_known = bytes < NARROW || !store.is_moved();
        look.left = look.left.checked_sub(1).filter(|_| is_known)?;
        let is_half = bytes == NARROW && address == start && is_upper_half_behind(start, layout);
        // An array of a few integers may end with it.
        if is_half && look.most == FIRST {
            return None;
        }
        (look.address, look.is_halfway) = (address, is_half);
        Some(if is_half { Held::Half } else { Held::Use(look.used) })
    }

    /// Address behind the byte that the instruction at `by` wrote last, if it copies doubles byte by byte; 0 otherwise.
    pub(in crate::runtime) fn copied_to(&self, by: u64) -> u64 {
        self.find(by).filter(|look| look.doubles > 0).map_or(0, |look| look.address + 1)
    }

    /// Notes how far the instruction at `by` has copied doubles since, in translated code.
    pub(in crate::runtime) fn has_copied_to(&mut self, by: u64, next: u64) {
        let Some(address) = next.checked_sub(1) else { return };
        match self.find_mut(by) {
            Some(look) if look.address == address => {}
            Some(look) => (look.address, look.is_unseen) = (address, true),
            None => self.remember(Look {
                used: Use::Unseen,
                by,
                address,
                most: FIRST,
                left: 0,
                is_halfway: false,
                doubles: 1,
                is_unseen: true,
            }),
        }
    }

    /// Tells whether the instruction at `by` has copied so many doubles byte by byte that it does nothing else.
    pub(in crate::runtime) fn copies_often(&self, by: u64) -> bool {
        const OFTEN: u32 = 64;
        self.find(by).is_some_and(|look| look.doubles >= OFTEN)
    }

    /// Address of the last byte of a double that the instruction has left half written since, if nobody has looked at that.
    pub(super) fn broken_off(&self, store: Store<'_>) -> Option<u64> {
        let look = self.find(store.insn.ip())?;
        let breaks_off = look.is_unseen && look.is_within_double() && !look.is_in_same(store.address);
        breaks_off.then_some(look.address)
    }

    /// Notes a byte of a double of which all is written.
    pub(super) fn writes_new(&mut self, store: Store<'_>) {
        let Some(look) = self.find_mut(store.insn.ip()) else { return };
        if store.bytes == 1 && look.is_in_same(store.address) {
            look.doubles = look.doubles.max(1);
            look.address = store.address;
        }
    }

    /// Notes what a look saw of a store; what it saw. A double that is written byte by byte may be moved as a whole next: of that nothing is
    /// known as long as not all of it is there.
    pub(super) fn note(&mut self, store: Store<'_>, used: Use) -> Use {
        let (by, address, bytes) = (store.insn.ip(), store.address, u64::from(store.bytes));
        let known = self.of.iter().position(|look| look.by == by);
        let before = known.map(|n| self.of.remove(n));
        if let Some(look) = before.filter(|look| bytes == 1 && look.doubles > 0 && look.address == address) {
            let may_be_whole = match used {
                Use::Moved { .. } => true,
                // A double may begin with bytes that have no shadow, and which nobody has seen it write.
                Use::Part { format: Format::F64, at: at @ 1.., written } => writes_from(at, written),
                _ => false,
            };
            if may_be_whole {
                self.of.push(Look { is_unseen: true, ..look });
                return Use::Unseen;
            }
            if matches!(used, Use::Unseen | Use::New { .. }) {
                self.of.push(look);
            }
            return used;
        }
        // A double that is copied as a whole: by this instruction perhaps, which the next byte tells.
        let is_double = bytes == 1 && store.is_moved() && used == Use::New { format: Format::F64, at: 0 };
        let holds = used == Use::Unseen || used == Use::Alone && bytes > 1;
        if !holds && !is_double || bytes != 1 && bytes != u64::from(NARROW) {
            return used;
        }
        let is_like = |look: &Look| look.goes_on([address, bytes]) && look.used == used && bytes > 1;
        let before = before.filter(is_like);
        let (most, rest) = match before {
            // Somebody has looked all the same.
            Some(look) if look.left > 0 => (look.most, look.left),
            _ => {
                let most = before.map_or(FIRST, |look| (2 * look.most).min(MOST));
                (most, most - 1)
            }
        };
        // The next byte that is looked at is the first one of a double.
        let to_end = (DOUBLE - 1 - address % DOUBLE) as u16;
        let left = match bytes {
            _ if is_double => 0,
            1 => to_end,
            _ => rest,
        };
        let doubles = u32::from(!is_double && begins_double(store));
        self.remember(Look { used, by, address, most, left, is_halfway: false, doubles, is_unseen: false });
        used
    }

    fn remember(&mut self, look: Look) {
        if self.of.len() == REMEMBERED {
            self.of.remove(0);
        }
        self.of.push(look);
    }
}
