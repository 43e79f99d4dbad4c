//! The guest's address space: what is mapped where, with which protection, and where new mappings go.
//!
//! A book kept beside the kernel's, in the guest's terms (pages that the engine write-protects for its own purposes
//! stay writable here). Makes no system calls.

use super::arena;
use super::layout::{
    DATA_END, DATA_START, ENGINE_END, ENGINE_START, GUEST_END, IMAGES_END, IMAGES_START, PAGE, page_ceil,
    page_floor,
};
use std::collections::BTreeMap;

/// Promise to the guest about a range of pages.
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

/// Use of a mapping whose address is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// May hold code: close to the code cache.
    Code,
    /// Holds data only.
    Data,
    /// The guest wants a 31-bit address (`MAP_32BIT`).
    Low,
}

/// Mappings of the guest, by address.
pub(crate) struct Space {
    /// Start → (end, region); disjoint.
    map: BTreeMap<u64, (u64, Region)>,
    /// End of the room among the images that is kept for the heap; [`IMAGES_START`] if it has none there.
    images_start: u64,
    searched: Searched,
}

/// Result of the last search of the data range, so that the next one need not begin at the top: programs may have tens
/// of thousands of mappings.
struct Searched {
    /// From here up,
    floor: u64,
    /// no gap is larger than this.
    largest: u64,
}

impl Searched {
    const NOTHING: Searched = Searched { floor: DATA_END, largest: 0 };
}

/// Mappings above this size are never taken for code: they are heaps of runtimes.
const LARGEST_CODE: u64 = 512 << 20;

/// Large mappings are aligned so that the kernel can use huge pages, as it does for its own choices.
const HUGE: u64 = 2 << 20;

impl Space {
    pub(crate) const fn new() -> Self {
        Space { map: BTreeMap::new(), images_start: IMAGES_START, searched: Searched::NOTHING }
    }

    /// The heap will grow in this range: where images would be put there, they are put above it.
    pub(crate) fn keep_for_heap(&mut self, (_, end): (u64, u64)) {
        if end < ENGINE_START {
            self.images_start = end.max(IMAGES_START);
        }
    }

    /// Records that `start..end` is mapped as `region`, in place of whatever was there.
    pub(crate) fn insert(&mut self, start: u64, end: u64, region: Region) {
        self.clear(start, end);
        if start < end {
            self.map.insert(start, (end, region));
        }
    }

    /// Records that nothing is mapped in `start..end`.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        self.clear(start, end);
        if end > self.searched.floor {
            let below = self.map.range(..start).next_back().map_or(0, |(_, &(end, _))| end);
            let above = self.map.range(end..).next().map_or(DATA_END, |(&start, _)| start);
            self.searched.largest = self.searched.largest.max(above.saturating_sub(below));
        }
    }

    fn clear(&mut self, start: u64, end: u64) {
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

    /// Tells whether the guest could map `start..end` without replacing anything.
    pub(crate) fn is_free(&self, start: u64, end: u64) -> bool {
        start < end
            && end <= GUEST_END
            && !arena::overlaps(start, end)
            && self.overlapping(start, end).next().is_none()
    }

    /// An unused range of `len` bytes for `purpose`.
    pub(crate) fn pick(&mut self, len: u64, purpose: Purpose) -> Option<u64> {
        let len = page_ceil(len);
        if len == 0 || len > GUEST_END {
            return None;
        }
        let align = if len >= HUGE { HUGE } else { PAGE };
        match purpose {
            Purpose::Low if self.images_start == IMAGES_START => {
                self.first_fit(0x1_0000, ENGINE_START, len, PAGE)
            }
            Purpose::Low => self
                .first_fit(self.images_start, ENGINE_START, len, PAGE)
                .or_else(|| self.first_fit(IMAGES_START, self.images_start, len, PAGE)),
            Purpose::Code if len <= LARGEST_CODE => self
                .first_fit(self.images_start, ENGINE_START, len, PAGE)
                .or_else(|| self.first_fit(ENGINE_END, IMAGES_END, len, PAGE))
                .or_else(|| self.last_fit(len, align)),
            Purpose::Code | Purpose::Data => self.last_fit(len, align),
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

    /// The highest fit in the data range.
    fn last_fit(&mut self, len: u64, align: u64) -> Option<u64> {
        if len <= self.searched.largest {
            self.searched = Searched::NOTHING;
        }
        let Searched { floor: mut ceiling, mut largest } = self.searched;
        let fit = |ceiling: u64| ceiling.checked_sub(len).map(|at| at & !(align - 1));
        for (&start, &(end, _)) in self.map.range(..ceiling).rev() {
            if fit(ceiling)? >= end {
                break;
            }
            largest = largest.max(ceiling.saturating_sub(end));
            ceiling = start;
        }
        self.searched = Searched { floor: ceiling, largest };
        fit(ceiling).filter(|&at| at >= DATA_START)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Region = Region { prot: libc::PROT_READ, shared: false, file: false, grows_down: false };

    /// The highest fit, by looking at every gap from the top.
    fn highest(space: &Space, len: u64, align: u64) -> u64 {
        let mut ceiling = DATA_END;
        for (&start, &(end, _)) in space.map.range(..DATA_END).rev() {
            if (ceiling - len) & !(align - 1) >= end {
                break;
            }
            ceiling = start;
        }
        (ceiling - len) & !(align - 1)
    }

    #[test]
    fn what_was_searched_before_changes_no_choice() {
        let mut space = Space::new();
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut mapped: Vec<(u64, u64)> = Vec::new();
        for _ in 0..20_000 {
            let len = PAGE * if random(20) == 0 { 512 + random(600) } else { 1 + random(9) };
            if random(5) < 3 || mapped.is_empty() {
                let align = if len >= HUGE { HUGE } else { PAGE };
                let expected = highest(&space, len, align);
                assert_eq!(space.pick(len, Purpose::Data), Some(expected));
                // Now and then nothing comes of it.
                if random(10) != 0 {
                    space.insert(expected, expected + len, PLAIN);
                    mapped.push((expected, expected + len));
                }
            } else {
                let (start, end) = mapped.swap_remove(random(mapped.len() as u64) as usize);
                // All of it, or what is above a page in its middle.
                let from = if random(2) == 0 { start } else { start + random((end - start) / PAGE) * PAGE };
                space.remove(from, end);
                if from > start {
                    mapped.push((start, from));
                }
            }
        }
    }
}
