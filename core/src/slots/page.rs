//! As many slots as are had, or given back, at once.

use super::bits::Bits;
use crate::format::Format;

/// Tickets per page: slots exist only where some are in use.
pub(super) const PAGE: usize = 512;
/// Words of bits per page.
pub(super) const WORDS: usize = PAGE / 64;

/// A shadow and the float it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Slot<V> {
    pub(super) value: Option<V>,
    bits: Bits,
}

/// Slots that are taken from the system, or given back, together.
#[derive(Debug)]
pub(super) struct Page<V> {
    /// A bit for each ticket that stands for something.
    assigned: [u64; WORDS],
    slots: [Slot<V>; PAGE],
}

/// Word and bit of a ticket on its page.
#[inline(always)]
fn place(ticket: u64) -> (usize, u64) {
    (ticket as usize / 64 % WORDS, 1 << (ticket % 64))
}

/// The page of a ticket.
#[inline(always)]
pub(super) fn page_of(ticket: u64) -> usize {
    ticket as usize / PAGE
}

impl<V> Page<V> {
    /// Nobody has any of its tickets.
    pub(super) fn new() -> Box<Page<V>> {
        let slots = std::array::from_fn(|_| Slot { value: None, bits: Bits::NONE });
        Box::new(Page { assigned: [0; WORDS], slots })
    }

    /// The shadow of the float of `format` and `bits`, if that is what `ticket` stands for.
    #[inline(always)]
    pub(super) fn get(&self, ticket: u64, format: Format, bits: u128) -> Option<&V> {
        let (word, bit) = place(ticket);
        let slot = &self.slots[ticket as usize % PAGE];
        let is_known = self.assigned[word] & bit != 0 && slot.bits == Bits::of(format, bits);
        if is_known { slot.value.as_ref() } else { None }
    }

    /// Tells whether `ticket` was assigned to a float, with a shadow or without.
    #[inline(always)]
    pub(super) fn is_assigned(&self, ticket: u64) -> bool {
        let (word, bit) = place(ticket);
        self.assigned[word] & bit != 0
    }

    /// Tells whether `ticket` stands for the shadow of some float.
    #[inline(always)]
    pub(super) fn has_any(&self, ticket: u64) -> bool {
        self.is_assigned(ticket) && self.slots[ticket as usize % PAGE].value.is_some()
    }

    /// The float of `format` that `ticket` stands for, and its shadow.
    pub(super) fn any(&self, ticket: u64, format: Format) -> Option<(u128, &V)> {
        let slot = &self.slots[ticket as usize % PAGE];
        Some((slot.bits.float(format)?, slot.value.as_ref().filter(|_| self.has_any(ticket))?))
    }

    /// The slot of `ticket`, which somebody has.
    #[inline(always)]
    pub(super) fn slot(&mut self, ticket: u64) -> &mut Slot<V> {
        &mut self.slots[ticket as usize % PAGE]
    }

    /// The same; it belongs to the float of `format` and `bits` from now on.
    #[inline(always)]
    pub(super) fn assigned(&mut self, ticket: u64, format: Format, bits: u128) -> &mut Slot<V> {
        let (word, bit) = place(ticket);
        self.assigned[word] |= bit;
        let slot = &mut self.slots[ticket as usize % PAGE];
        slot.bits = Bits::of(format, bits);
        slot
    }

    /// Nobody has tickets that were assigned and are not among `used` any more: they are not `taken`.
    pub(super) fn sweep(&mut self, used: &[u64; WORDS], taken: &mut [u64; WORDS]) {
        for ((taken, assigned), used) in taken.iter_mut().zip(&mut self.assigned).zip(used) {
            *taken &= used | !*assigned;
            *assigned &= used;
        }
    }

    /// Number of its tickets that stand for something.
    pub(super) fn live(&self) -> usize {
        count(&self.assigned)
    }
}

/// Number of bits set.
pub(super) fn count(bits: &[u64; WORDS]) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}
