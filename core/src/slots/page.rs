//! As many slots as are had, or given back, at once.

use super::bits::Bits;
use crate::format::Format;

/// Handles per page: slots exist only where some are in use.
pub(super) const PAGE: usize = 512;
/// The first handle: no number of two bytes is one, so that parts of handles and of traces are not taken for others. A multiple of
/// [`PAGE`].
pub(super) const FIRST: u64 = 1 << 16;
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
    /// A bit for each handle that stands for something.
    assigned: [u64; WORDS],
    slots: [Slot<V>; PAGE],
}

/// Word and bit of a handle on its page.
#[inline(always)]
fn place(handle: u64) -> (usize, u64) {
    (handle as usize / 64 % WORDS, 1 << (handle % 64))
}

/// The page of a handle; beyond all pages for what is none.
#[inline(always)]
pub(super) fn page_of(handle: u64) -> usize {
    handle.wrapping_sub(FIRST) as usize / PAGE
}

impl<V> Page<V> {
    /// Page of whose handles nobody has any. Never inlined: it is made on the stack first, and whoever has room for that there touches all
    /// of it each time.
    #[inline(never)]
    pub(super) fn new() -> Box<Page<V>> {
        let slots = std::array::from_fn(|_| Slot { value: None, bits: Bits::NONE });
        Box::new(Page { assigned: [0; WORDS], slots })
    }

    /// The shadow of the float of `format` and `bits`, if that is what `handle` stands for.
    #[inline(always)]
    pub(super) fn get(&self, handle: u64, format: Format, bits: u128) -> Option<&V> {
        let (word, bit) = place(handle);
        let slot = &self.slots[handle as usize % PAGE];
        let is_known = self.assigned[word] & bit != 0 && slot.bits == Bits::of(format, bits);
        if is_known { slot.value.as_ref() } else { None }
    }

    /// Tells whether `handle` was assigned to a float, with a shadow or without.
    #[inline(always)]
    pub(super) fn is_assigned(&self, handle: u64) -> bool {
        let (word, bit) = place(handle);
        self.assigned[word] & bit != 0
    }

    /// Tells whether `handle` stands for the shadow of some float.
    #[inline(always)]
    pub(super) fn has_any(&self, handle: u64) -> bool {
        self.is_assigned(handle) && self.slots[handle as usize % PAGE].value.is_some()
    }

    /// The float of `format` that `handle` stands for, and its shadow.
    pub(super) fn any(&self, handle: u64, format: Format) -> Option<(u128, &V)> {
        let slot = &self.slots[handle as usize % PAGE];
        Some((slot.bits.float(format)?, slot.value.as_ref().filter(|_| self.has_any(handle))?))
    }

    /// First byte of the slot of `handle`.
    #[inline(always)]
    pub(super) fn address(&self, handle: u64) -> *const u8 {
        (&raw const self.slots[handle as usize % PAGE]).cast()
    }

    /// The slot of `handle`, which somebody has.
    #[inline(always)]
    pub(super) fn slot(&mut self, handle: u64) -> &mut Slot<V> {
        &mut self.slots[handle as usize % PAGE]
    }

    /// The slot of `handle`, which somebody has; it belongs to the float of `format` and `bits` from now on.
    #[inline(always)]
    pub(super) fn assigned(&mut self, handle: u64, format: Format, bits: u128) -> &mut Slot<V> {
        let (word, bit) = place(handle);
        self.assigned[word] |= bit;
        let slot = &mut self.slots[handle as usize % PAGE];
        slot.bits = Bits::of(format, bits);
        slot
    }

    /// Nobody has handles that were assigned and are not among `used` any more: they are not `taken`.
    pub(super) fn sweep(&mut self, used: &[u64; WORDS], taken: &mut [u64; WORDS]) {
        for ((taken, assigned), used) in taken.iter_mut().zip(&mut self.assigned).zip(used) {
            *taken &= used | !*assigned;
            *assigned &= used;
        }
    }

    /// Number of its handles that stand for something.
    pub(super) fn live(&self) -> usize {
        count(&self.assigned)
    }
}

/// Number of bits set.
pub(super) fn count(bits: &[u64; WORDS]) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}
