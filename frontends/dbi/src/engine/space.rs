//! The guest's address space: what is mapped where, with which protection, and where new mappings go.
//!
//! A book kept beside the kernel's, in the guest's terms (pages that the engine write-protects for its own purposes
//! stay writable here). Makes no system calls.

use super::layout::{
    DATA_END, DATA_START, ENGINE_END, ENGINE_START, GUEST_END, IMAGES_END, IMAGES_START, PAGE, page_ceil,
    page_floor,
};
use std::collections::BTreeMap;

/// What the guest was promised about a range of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// `PROT_*` bits as the guest set them.
    pub(crate) prot: i32,
    /// `MAP_SHARED`: the same bytes may be written through another mapping, unseen.
    pub(crate) shared: bool,
    /// Backed by a file.
    pub(crate) file: bool,
    /// `MAP_GROWSDOWN`: a fault below it extends it.
    pub(crate) grows_down: bool,
}

impl Region {
    pub(crate) fn executable(self) -> bool {
        self.prot & libc::PROT_EXEC != 0
    }

    pub(crate) fn writable(self) -> bool {
        self.prot & libc::PROT_WRITE != 0
    }
}

/// What a mapping whose address is open will be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// May hold code: close to the code cache.
    Code,
    /// Holds data only.
    Data,
    /// The guest wants a 31-bit address (`MAP_32BIT`).
    Low,
}

/// See the module's description.
pub(crate) struct Space {
    /// Start → (end, region); disjoint.
    map: BTreeMap<u64, (u64, Region)>,
}

/// Mappings above this size are never taken for code: they are heaps of runtimes.
const LARGEST_CODE: u64 = 512 << 20;

/// Large mappings are aligned so that the kernel can use huge pages, as it does for its own choices.
const HUGE: u64 = 2 << 20;

impl Space {
    pub(crate) const fn new() -> Self {
        Space { map: BTreeMap::new() }
    }

    /// Records that `start..end` is mapped as `region`, in place of whatever was there.
    pub(crate) fn insert(&mut self, start: u64, end: u64, region: Region) {
        self.remove(start, end);
        if start < end {
            self.map.insert(start, (end, region));
        }
    }

    /// Records that nothing is mapped in `start..end`.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        let inside: Vec<u64> = self.map.range(start..end).map(|(&s, _)| s).collect();
        for key in inside {
            self.map.remove(&key);
        }
    }

    /// Changes the protection of every mapped page in `start..end`.
    pub(crate) fn protect(&mut self, start: u64, end: u64, prot: i32) {
        self.split(start);
        self.split(end);
        for (_, (_, region)) in self.map.range_mut(start..end) {
            region.prot = prot;
        }
    }

    /// The region at `address` and its bounds.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64, Region)> {
        let (&start, &(end, region)) = self.map.range(..=address).next_back()?;
        (address < end).then_some((start, end, region))
    }

    /// All regions that overlap `start..end`, clipped to it.
    pub(crate) fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, Region)> {
        let first = self.find(start).map_or(start, |(s, _, _)| s);
        self.map
            .range(first..end)
            .map(move |(&s, &(e, region))| (s.max(start), e.min(end), region))
            .filter(|(s, e, _)| s < e)
    }

    /// The pages that a fault at `address` adds to the mapping above it, and what they are, if that mapping grows
    /// and would not come too close to the one below.
    pub(crate) fn growth(&self, address: u64) -> Option<(u64, u64, Region)> {
        /// Linux's `stack_guard_gap`.
        const GAP: u64 = 256 * PAGE;
        let start = page_floor(address);
        let (&end, &(_, region)) = self.map.range(address..).next()?;
        let below = self.map.range(..address).next_back().map_or(0, |(_, &(end, _))| end);
        (region.grows_down && start.checked_sub(below)? >= GAP).then_some((start, end, region))
    }

    /// Whether the guest could map `start..end` without replacing anything.
    pub(crate) fn is_free(&self, start: u64, end: u64) -> bool {
        start < end
            && end <= GUEST_END
            && !overlaps_engine(start, end)
            && self.overlapping(start, end).next().is_none()
    }

    /// An unused range of `len` bytes for `purpose`.
    pub(crate) fn pick(&self, len: u64, purpose: Purpose) -> Option<u64> {
        let len = page_ceil(len);
        if len == 0 || len > GUEST_END {
            return None;
        }
        let align = if len >= HUGE { HUGE } else { PAGE };
        match purpose {
            Purpose::Low => self.first_fit(0x1_0000, ENGINE_START, len, PAGE),
            Purpose::Code if len <= LARGEST_CODE => self
                .first_fit(IMAGES_START, ENGINE_START, len, PAGE)
                .or_else(|| self.first_fit(ENGINE_END, IMAGES_END, len, PAGE))
                .or_else(|| self.last_fit(DATA_START, DATA_END, len, align)),
            Purpose::Code | Purpose::Data => self.last_fit(DATA_START, DATA_END, len, align),
        }
    }

    fn split(&mut self, at: u64) {
        if let Some((&start, &(end, region))) = self.map.range(..at).next_back()
            && at < end
        {
            self.map.insert(start, (at, region));
            self.map.insert(at, (end, region));
        }
    }

    fn first_fit(&self, low: u64, high: u64, len: u64, align: u64) -> Option<u64> {
        let mut at = low.next_multiple_of(align);
        for (start, end, _) in self.overlapping(low, high) {
            if start >= at + len {
                break;
            }
            at = at.max(end.next_multiple_of(align));
        }
        (at + len <= high).then_some(at)
    }

    fn last_fit(&self, low: u64, high: u64, len: u64, align: u64) -> Option<u64> {
        let mut ceiling = high;
        for (&start, &(end, _)) in self.map.range(..high).rev() {
            let at = ceiling.checked_sub(len)? & !(align - 1);
            if at >= end || at < low {
                break;
            }
            ceiling = start;
        }
        let at = ceiling.checked_sub(len)? & !(align - 1);
        (at >= low).then_some(at)
    }
}

/// Whether `start..end` meets the engine's gigabyte.
pub(crate) fn overlaps_engine(start: u64, end: u64) -> bool {
    start < ENGINE_END && end > ENGINE_START
}
