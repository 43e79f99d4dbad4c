//! Slots: what tickets stand for.
//!
//! A front end keeps, beside each float's bytes, a *ticket* of the same width, and moves tickets like data. A ticket
//! names a slot here: the shadow, and the format and bits of the float it belongs to. A lookup with other bits finds
//! nothing, so a cell overwritten behind the front end's back is merely unshadowed. Knows nothing of memory, registers
//! or what a shadow means; which tickets are still in use is told to [`Slots::sweep`].
//!
//! Tickets are dense 31-bit numbers, so that one fits beside an `f32` and a slot is found without hashing. The bit beside
//! a float's sign is set where the float is minus the one that the ticket stands for: code that turns the signs of
//! floats over does so with their cells, and need not ask for another ticket. A sweep only looks at bits, 64 tickets at a
//! time: a shadow nobody refers to any more stays where it is until its slot is used again, soon, or its page is given
//! back.

mod bits;

use crate::format::Format;
use bits::Bits;

/// The ticket of what has no shadow.
pub const NO_TICKET: u64 = 0;

/// What is in the cell of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The ticket, or anything else.
    pub ticket: u64,
    /// Whether the float is minus the one that the ticket stands for.
    pub negated: bool,
}

impl Cell {
    /// Of a cell of `format`.
    #[inline(always)]
    pub fn of(format: Format, cell: u64) -> Cell {
        let sign = match format {
            Format::F32 => 1 << 31,
            Format::F64 => 1 << 63,
            // Their signs are turned over by instructions of their own.
            Format::F16 | Format::F80 => 0,
        };
        Cell { ticket: cell & !sign, negated: cell & sign != 0 }
    }
}

/// What a word of a cell may have of a ticket.
pub const TICKET: u32 = u32::MAX >> 1;

/// Tickets handed out between two sweeps at least. So few that their slots stay in the processor's cache, most of them
/// being used again after each sweep.
const SWEEP_INTERVAL: u64 = 1 << 13;

/// Tickets per page: slots exist only where some are in use.
const PAGE: usize = 512;
/// Words of bits per page.
const PAGE_WORDS: usize = PAGE / 64;

/// A shadow and the float it belongs to.
#[derive(Clone, Debug)]
struct Slot<V> {
    value: Option<V>,
    bits: Bits,
    format: Format,
}

impl<V> Slot<V> {
    const EMPTY: Slot<V> = Slot { value: None, bits: Bits::ZERO, format: Format::F64 };
}

/// The slots of a process. Used under one lock.
#[derive(Debug)]
pub struct Slots<V> {
    /// Empty where no slot is in use.
    pages: Vec<Vec<Slot<V>>>,
    /// A bit for each ticket that somebody has.
    taken: Vec<u64>,
    /// A bit for each of those that was assigned.
    assigned: Vec<u64>,
    /// Where the next free ticket is looked for, and those left there.
    word: usize,
    free: u64,
    /// Tickets handed out since the last sweep, and how many will be before the next.
    handed_out: u64,
    interval: u64,
}

impl<V> Default for Slots<V> {
    fn default() -> Self {
        Slots {
            pages: Vec::new(),
            taken: Vec::new(),
            assigned: Vec::new(),
            word: 0,
            free: 0,
            handed_out: 0,
            interval: SWEEP_INTERVAL,
        }
    }
}

/// Word and bit of a ticket.
fn place(ticket: u64) -> (usize, u64) {
    (ticket as usize / 64, 1 << (ticket % 64))
}

impl<V> Slots<V> {
    /// No slot yet.
    pub fn new() -> Self {
        Slots::default()
    }

    /// The shadow of the float of `format` and `bits`, if that is what `ticket` stands for. Any number will do as a
    /// ticket.
    #[inline]
    pub fn get(&self, ticket: u64, format: Format, bits: u128) -> Option<&V> {
        let slot = self.pages.get(ticket as usize / PAGE)?.get(ticket as usize % PAGE)?;
        let (word, bit) = place(ticket);
        let known = self.assigned[word] & bit != 0 && slot.format == format && slot.bits.equals(bits, format);
        slot.value.as_ref().filter(|_| known)
    }

    /// A new ticket for the shadow `value` of the float of `format` and `bits`.
    pub fn insert(&mut self, format: Format, bits: u128, value: V) -> u64 {
        let ticket = self.reserve();
        self.assign(ticket, format, bits, Some(value));
        ticket
    }

    /// A ticket handed out by [`reserve`](Slots::reserve) stands for the float of `format` and `bits` from now on, whose
    /// shadow is `value`, if any.
    #[inline(always)]
    pub fn assign(&mut self, ticket: u64, format: Format, bits: u128, value: Option<V>) {
        let slot = self.assigned(ticket, format, bits);
        slot.value = value;
    }

    /// The same for a shadow that is made right there: what the ticket stood for before is gone.
    #[inline(always)]
    pub fn vacated(&mut self, ticket: u64, format: Format, bits: u128) -> &mut Option<V> {
        let slot = self.assigned(ticket, format, bits);
        slot.value = None;
        &mut slot.value
    }

    /// What a ticket that was handed out, but not assigned yet, stood for before, should that be of use.
    #[inline(always)]
    pub fn take(&mut self, ticket: u64) -> Option<V> {
        self.pages[ticket as usize / PAGE][ticket as usize % PAGE].value.take()
    }

    #[inline(always)]
    fn assigned(&mut self, ticket: u64, format: Format, bits: u128) -> &mut Slot<V> {
        let (word, bit) = place(ticket);
        debug_assert!(self.taken[word] & bit != 0, "ticket {ticket} was not handed out");
        self.assigned[word] |= bit;
        let slot = &mut self.pages[ticket as usize / PAGE][ticket as usize % PAGE];
        slot.bits = Bits::of(format, bits);
        slot.format = format;
        slot
    }

    /// A ticket that nobody has. It survives sweeps until it is assigned.
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        if self.free == 0 {
            self.find_free();
        }
        let bit = self.free & self.free.wrapping_neg();
        self.free ^= bit;
        self.taken[self.word] |= bit;
        self.handed_out += 1;
        64 * self.word as u64 + u64::from(bit.trailing_zeros())
    }

    /// Goes on to the next word with a free ticket, on a page that exists then.
    #[cold]
    fn find_free(&mut self) {
        let next = self.taken[self.word.min(self.taken.len())..].iter().position(|&word| word != u64::MAX);
        self.word = next.map_or(self.taken.len(), |next| self.word + next);
        if self.word == self.taken.len() {
            assert!(self.word < 1 << 25, "two billion shadows at once");
            self.taken.resize(self.word + PAGE_WORDS, 0);
            self.assigned.resize(self.word + PAGE_WORDS, 0);
            self.pages.push(Vec::new());
            // Nobody gets the ticket that means none.
            self.taken[0] |= 1;
        }
        let page = &mut self.pages[self.word / PAGE_WORDS];
        if page.is_empty() {
            page.resize_with(PAGE, || Slot::EMPTY);
        }
        self.free = !self.taken[self.word];
    }

    /// How many tickets stand for something.
    pub fn live(&self) -> usize {
        self.assigned.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True when enough tickets were handed out since the last sweep that another is worth its price.
    #[inline]
    pub fn wants_sweep(&self) -> bool {
        self.handed_out >= self.interval
    }

    /// A sweep from here on takes as long as handing out so many tickets: it comes as much more seldom.
    pub fn sweeps_cost(&mut self, tickets: u64) {
        self.interval = self.interval.max(8 * tickets);
    }

    /// Frees every slot whose ticket is not among `marked`, which may contain anything that looks like a ticket. What
    /// was reserved but not assigned is kept.
    pub fn sweep(&mut self, marked: impl IntoIterator<Item = u64>) {
        let mut used = vec![0; self.taken.len()];
        for ticket in marked {
            let (word, bit) = place(ticket);
            if let Some(word) = used.get_mut(word) {
                *word |= bit;
            }
        }
        for ((taken, assigned), used) in self.taken.iter_mut().zip(&mut self.assigned).zip(used) {
            *taken &= used | !*assigned;
            *assigned &= used;
        }
        (self.word, self.free) = (0, 0);
        self.handed_out = 0;
        self.interval = SWEEP_INTERVAL.max(self.live() as u64);
        self.give_back();
    }

    /// Drops the slots of pages that will not be used before the next sweep.
    fn give_back(&mut self) {
        let mut spare = self.interval as usize + PAGE;
        for (page, taken) in self.pages.iter_mut().zip(self.taken.chunks_exact(PAGE_WORDS)) {
            let used: usize = taken.iter().map(|word| word.count_ones() as usize).sum();
            if used == 0 && spare < PAGE {
                *page = Vec::new();
            }
            spare = spare.saturating_sub(PAGE - used);
        }
        let kept = self.pages.iter().rposition(|page| !page.is_empty()).map_or(0, |last| last + 1);
        self.pages.truncate(kept);
        self.taken.truncate(kept * PAGE_WORDS);
        self.assigned.truncate(kept * PAGE_WORDS);
    }
}

#[cfg(test)]
mod tests;
