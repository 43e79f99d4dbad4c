//! Slots: what handles stand for.
//!
//! A front end keeps, beside each float's bytes, a *handle* of the same width, and moves handles like data. A handle
//! names a slot here: the shadow, and the format and bits of the float it belongs to. A lookup with other bits finds
//! nothing, so a cell overwritten behind the front end's back is merely unshadowed. Knows nothing of memory, registers
//! or what a shadow means; which handles are still in use is told to [`Slots::sweep`].
//!
//! Handles are dense 31-bit numbers of more than two bytes, so that one fits beside an `f32` and a slot is found without hashing. The bit beside
//! a float's sign is set where the float is minus the one that the handle stands for: code that turns the signs of
//! floats over does so with their cells, and need not ask for another handle. A sweep only looks at bits, 64 handles at a
//! time: a shadow nobody refers to any more stays where it is until its slot is used again, soon, or its page is given
//! back.

mod bits;
mod page;

use crate::format::Format;
use crate::tricks;
use std::borrow::Cow;
use std::ops::RangeInclusive;

use page::{FIRST, PAGE, Page, Slot, WORDS, count, page_of};

/// The handle of what has no shadow.
pub const NO_HANDLE: u64 = 0;

/// Content of the cell of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The handle, or anything else.
    pub handle: u64,
    /// True if the float is minus the one that the handle stands for.
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
        Cell { handle: cell & !sign, negated: cell & sign != 0 }
    }
}

/// Bits of a cell's word that a handle may have.
pub const HANDLE: u32 = u32::MAX >> 1;

/// Bytes of traces: the last for what was made of a float with a shadow, the one before for what was made of that, and so on.
const TRACES: RangeInclusive<u8> = 0x70..=0x7f;

/// A shadow of which another, that of the negative float, can be made.
pub trait Negated: Clone {
    /// The shadow of −x, of this one of x, a float of `format`.
    fn negated(&self, format: Format) -> Self;
}

/// Handles handed out between two sweeps at least. So few that their slots stay in the processor's cache, most of them
/// being used again after each sweep.
const SWEEP_INTERVAL: u64 = 1 << 13;

/// Slots beyond those that are handed out between two sweeps, from which on they are many: a megabyte.
const MANY: usize = SWEEP_INTERVAL as usize + (1 << 12);

/// Handles in use for each that is handed out between two sweeps, where those are many: so much of the slots' memory is spare.
const LIVE_PER_HANDLE: u64 = 8;

/// The slots of a process. Used under one lock.
#[derive(Debug)]
pub struct Slots<V> {
    /// Nothing where no slot is in use.
    pages: Vec<Option<Box<Page<V>>>>,
    /// A bit for each handle that somebody has, by page: they are looked through for those that are free.
    taken: Vec<[u64; WORDS]>,
    /// The word of handles that are being handed out, counted over all pages, and those that are left of it. Here all of
    /// them are taken.
    word: usize,
    left: u64,
    /// Handles handed out since the last sweep, and how many will be before the next. They are counted by the word.
    handed_out: u64,
    interval: u64,
}

impl<V> Default for Slots<V> {
    fn default() -> Self {
        Slots {
            pages: Vec::new(),
            taken: Vec::new(),
            word: 0,
            left: 0,
            handed_out: 0,
            interval: SWEEP_INTERVAL,
        }
    }
}

impl<V> Slots<V> {
    /// No slot yet.
    pub fn new() -> Self {
        Slots::default()
    }

    /// The shadow of the float of `format` and `bits`, if that is what `handle` stands for. Any number will do as a
    /// handle.
    #[inline]
    pub fn get(&self, handle: u64, format: Format, bits: u128) -> Option<&V> {
        self.pages.get(page_of(handle))?.as_ref()?.get(handle, format, bits)
    }

    /// Tells whether `handle` stands for a shadow, whichever float it is of, or is a trace of one. Any number will do as a handle.
    #[inline]
    pub fn stands_for_any(&self, handle: u64) -> bool {
        match self.pages.get(page_of(handle)) {
            Some(page) => page.as_ref().is_some_and(|page| page.has_any(handle)),
            // Nobody was given that one: it was put together of bytes of others, or of traces.
            None => handle != NO_HANDLE,
        }
    }

    /// Each byte of the trace of `handle`, or of what is a trace itself, or a part of one: a number that nobody is given as a handle. Nothing
    /// if `handle` stands for nothing, or is a trace of a trace several times over.
    pub fn trace_of(&self, handle: u64) -> Option<u8> {
        if !self.is_trace(handle) {
            return self.stands_for_any(handle).then_some(*TRACES.end());
        }
        let bytes = handle.to_le_bytes();
        match bytes.into_iter().filter(|byte| TRACES.contains(byte)).min() {
            Some(least) => Some(least - 1).filter(|byte| TRACES.contains(byte)),
            // Parts of handles.
            None => (handle != NO_HANDLE).then_some(*TRACES.end()),
        }
    }

    /// Tells whether `handle` is a trace, or put together of parts of handles or traces: nobody was given it. Zero is one, too.
    pub fn is_trace(&self, handle: u64) -> bool {
        handle == NO_HANDLE || self.pages.len() <= page_of(handle)
    }

    /// The float of `format` that `handle` stands for. Any number will do as a handle.
    pub fn bits(&self, handle: u64, format: Format) -> Option<u128> {
        let (bits, _) = self.pages.get(page_of(handle))?.as_ref()?.any(handle, format)?;
        Some(bits)
    }

    /// Tells whether `handle` was handed out and is not assigned yet. Any number will do as a handle.
    #[inline]
    pub fn is_pending(&self, handle: u64) -> bool {
        let index = page_of(handle);
        let Some(Some(page)) = self.pages.get(index) else { return false };
        handle != NO_HANDLE
            && !page.is_assigned(handle)
            && self.taken[index][handle as usize / 64 % WORDS] >> (handle % 64) & 1 == 1
    }

    /// A new handle for the shadow `value` of the float of `format` and `bits`.
    pub fn insert(&mut self, format: Format, bits: u128, value: V) -> u64 {
        let handle = self.reserve();
        self.assign(handle, format, bits, Some(value));
        handle
    }

    /// A handle handed out by [`reserve`](Slots::reserve) stands for the float of `format` and `bits` from now on, whose
    /// shadow is `value`, if any.
    #[inline(always)]
    pub fn assign(&mut self, handle: u64, format: Format, bits: u128, value: Option<V>) {
        self.page(handle).assigned(handle, format, bits).value = value;
    }

    /// Room for the shadow of the float of `format` and `bits`, for which `handle` stands from now on; the shadow is
    /// made right there. What the handle stood for before is gone.
    #[inline(always)]
    pub fn vacated(&mut self, handle: u64, format: Format, bits: u128) -> &mut Option<V> {
        let slot = self.page(handle).assigned(handle, format, bits);
        slot.value = None;
        &mut slot.value
    }

    /// Takes the shadow that a handle, handed out but not assigned yet, stood for before, should that be of use.
    #[inline(always)]
    pub fn take(&mut self, handle: u64) -> Option<V> {
        self.page(handle).slot(handle).value.take()
    }

    /// Bytes of a slot.
    pub const SLOT_BYTES: usize = size_of::<Slot<V>>();

    /// First byte of the [slot](Slots::SLOT_BYTES) of `handle`, which a front end may have fetched before it asks for it. Any number will
    /// do as a handle.
    #[inline(always)]
    pub fn address(&self, handle: u64) -> Option<*const u8> {
        Some(self.pages.get(page_of(handle))?.as_ref()?.address(handle))
    }

    /// Tells whether slots in use are more than a processor keeps nearby.
    #[inline(always)]
    pub fn are_many(&self) -> bool {
        self.pages.len() * PAGE > MANY
    }

    /// The page of a handle that somebody has.
    #[inline(always)]
    fn page(&mut self, handle: u64) -> &mut Page<V> {
        self.pages[page_of(handle)].as_mut().expect("handles that are out have slots")
    }

    /// A handle that nobody has. It survives sweeps until it is assigned.
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        if self.left == 0 {
            self.find_free();
        }
        let handle = FIRST + 64 * self.word as u64 + u64::from(self.left.trailing_zeros());
        self.left &= self.left - 1;
        handle
    }

    /// Goes on to the next word with a free handle, on a page that exists then.
    #[cold]
    fn find_free(&mut self) {
        loop {
            let index = self.word / WORDS;
            if index == self.pages.len() {
                assert!(64 * self.word as u64 + FIRST <= HANDLE.into(), "two billion shadows at once");
                self.pages.push(None);
                self.taken.push([0; WORDS]);
            }
            self.left = !std::mem::replace(&mut self.taken[index][self.word % WORDS], u64::MAX);
            if self.left != 0 {
                self.handed_out += u64::from(self.left.count_ones());
                self.pages[index].get_or_insert_with(Page::new);
                return;
            }
            self.word += 1;
        }
    }

    /// Number of handles that stand for something.
    pub fn live(&self) -> usize {
        self.pages.iter().flatten().map(|page| page.live()).sum()
    }

    /// True when enough handles were handed out since the last sweep that another is worth its price.
    #[inline]
    pub fn wants_sweep(&self) -> bool {
        self.handed_out >= self.interval
    }

    /// A sweep from here on takes as long as handing out so many handles: it comes as much more seldom.
    pub fn sweeps_cost(&mut self, handles: u64) {
        self.interval = self.interval.max(8 * handles);
    }

    /// Frees every slot whose handle is not among `marked`, which may contain anything that looks like a handle. What
    /// was reserved but not assigned is kept.
    pub fn sweep(&mut self, marked: impl IntoIterator<Item = u64>) {
        let mut used = vec![[0; WORDS]; self.pages.len()];
        for handle in marked {
            if let Some(page) = used.get_mut(page_of(handle)) {
                page[handle as usize / 64 % WORDS] |= 1 << (handle % 64);
            }
        }
        if let Some(taken) = self.taken.get_mut(self.word / WORDS) {
            taken[self.word % WORDS] &= !self.left;
        }
        for ((page, taken), used) in self.pages.iter_mut().zip(&mut self.taken).zip(&used) {
            if let Some(page) = page {
                page.sweep(used, taken);
            }
        }
        (self.word, self.left) = (0, 0);
        self.handed_out = 0;
        self.interval = SWEEP_INTERVAL.max(self.live() as u64 / LIVE_PER_HANDLE);
        self.give_back();
    }

    /// Drops the slots of pages that will not be used before the next sweep.
    fn give_back(&mut self) {
        let mut spare = self.interval as usize + PAGE;
        for (page, taken) in self.pages.iter_mut().zip(&self.taken) {
            let used = count(taken);
            if used == 0 && spare < PAGE {
                *page = None;
            }
            spare = spare.saturating_sub(PAGE - used);
        }
        let kept = self.pages.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.pages.truncate(kept);
        self.taken.truncate(kept);
    }
}

impl<V: Negated> Slots<V> {
    /// The shadow of the float of `format` and `bits` that has this cell; where the float is minus the one that the
    /// handle stands for, one that is made for it. The float's own bits tell, where the cell does not: its sign may have
    /// been turned over in a byte of its own.
    #[inline(always)]
    pub fn shadow(&self, format: Format, cell: u64, bits: u128) -> Option<Cow<'_, V>> {
        let Cell { handle, negated } = Cell::of(format, cell);
        if handle == NO_HANDLE {
            return None;
        }
        let found = if negated { None } else { self.get(handle, format, bits) };
        match found {
            Some(shadow) => Some(Cow::Borrowed(shadow)),
            None => self.related(handle, format, bits, negated).map(Cow::Owned),
        }
    }

    /// The shadow of the float `bits`, which is not the one that `handle` stands for, or not by its cell.
    #[inline(never)]
    fn related(&self, handle: u64, format: Format, bits: u128, negated: bool) -> Option<V> {
        let negative = self.negated(handle, format, bits);
        let same = || self.get(handle, format, bits).filter(|_| negated).cloned();
        negative.or_else(same)
    }

    /// The shadow that a cell of `format` stands for, be it that of another float than `bits`, if that is ±2ᵏ times the float: whether
    /// it is turned over, and k.
    pub fn of_power(&self, format: Format, cell: u64, bits: u128) -> Option<(V, (bool, i32))> {
        let Cell { handle, .. } = Cell::of(format, cell);
        let (before, shadow) = self.pages.get(page_of(handle))?.as_ref()?.any(handle, format)?;
        Some((shadow.clone(), tricks::power_between(format, before, bits)?))
    }

    /// The shadow of the float `bits`, of which `handle` stands for the negative.
    fn negated(&self, handle: u64, format: Format, bits: u128) -> Option<V> {
        let shadow = self.get(handle, format, bits ^ 1 << (format.width() - 1))?;
        Some(shadow.negated(format))
    }
}

#[cfg(test)]
mod tests;
