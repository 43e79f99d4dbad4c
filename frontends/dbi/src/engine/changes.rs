//! Code that changes: which guest pages translated code was made from, and how every thread learns that one of them
//! is no longer what it was.
//!
//! Caches are private, so a change is written to a log, all threads are asked to look at it, and the one that made
//! the change waits until none of them can still run the old code. Pages that the guest may write are write-protected
//! once code was made from them; a page that changes again and again is left writable and its blocks compare their
//! bytes instead. Knows pages; blocks are the caches' business.

use super::layout::{PAGE, page_floor};
use super::lock::Lock;
use super::space::{Region, Space};
use super::sys;
use hashbrown::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Watch over a page that code was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Not writable by the guest: only system calls change it.
    Calls,
    /// Write-protected by us; a write faults. Counts how often it did.
    Faults { protected: bool, hits: u32 },
    /// Blocks made from it compare their bytes each time they run.
    Compare,
}

impl Watch {
    /// The watch over a page of this region when code is first made from it.
    fn of(region: Region) -> Watch {
        if region.shared {
            Watch::Compare
        } else if region.writable() {
            Watch::Faults { protected: false, hits: 0 }
        } else {
            Watch::Calls
        }
    }
}

/// A page that faulted this often changes too often to be write-protected.
const HITS_BEFORE_COMPARING: u32 = 16;
/// Log entries kept; threads further behind flush everything.
const LOG_LENGTH: usize = 4096;

/// Pages that code was made from, and the log of their changes.
pub(crate) struct Changes {
    state: Lock<State>,
    /// Number of entries ever logged.
    latest: AtomicU64,
}

struct State {
    pages: HashMap<u64, Watch>,
    /// The latest changed page ranges (half-open).
    log: std::collections::VecDeque<(u64, u64)>,
}

/// A write to a page that may not be written, as it turns out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// The page was write-protected by us, and is writable again.
    Released,
    /// Protection was ours, and another thread has released it since: the write may be tried again.
    Overtaken,
    /// We have nothing to do with it.
    Guests,
}

/// Translations that a thread has to forget.
pub(crate) enum Forget {
    Nothing,
    Ranges(Vec<(u64, u64)>),
    Everything,
}

impl Changes {
    pub(crate) fn new() -> Self {
        let state = State { pages: HashMap::new(), log: std::collections::VecDeque::new() };
        Changes { state: Lock::new(state), latest: AtomicU64::new(0) }
    }

    /// Keeps the book as it is while the process forks.
    pub(crate) fn hold(&self) -> impl Sized {
        self.state.lock()
    }

    /// Number of changes so far; a thread that has seen as many is up to date.
    pub(crate) fn latest(&self) -> u64 {
        self.latest.load(Ordering::SeqCst)
    }

    /// Notes that code is being made from `page`, which lies in `region`, and says how it is watched. Must be called
    /// before the bytes are read.
    pub(crate) fn watch(&self, page: u64, region: Region) -> Watch {
        let mut state = self.state.lock();
        let wanted = Watch::of(region);
        let entry = state.pages.entry(page).or_insert(wanted);
        if *entry == Watch::Calls {
            *entry = wanted;
        }
        if let Watch::Faults { protected, .. } = entry
            && !*protected
            && region.writable()
        {
            *protected = true;
            protect(page, region.prot & !libc::PROT_WRITE);
        }
        *entry
    }

    /// Tells whether code was made from any page of the range.
    pub(crate) fn concerns(&self, start: u64, end: u64) -> bool {
        let state = self.state.lock();
        if state.pages.len() as u64 <= (end - start) / PAGE {
            state.pages.keys().any(|&page| start <= page && page < end)
        } else {
            (page_floor(start)..end).step_by(PAGE as usize).any(|page| state.pages.contains_key(&page))
        }
    }

    /// Tells whether any page of the ranges, each an address and a length, is write-protected by us.
    pub(crate) fn protects(&self, ranges: &[(u64, u64)]) -> bool {
        let state = self.state.lock();
        let is_protected =
            |(_, watch): &(&u64, &Watch)| matches!(watch, Watch::Faults { protected: true, .. });
        let mut pages = state.pages.iter().filter(is_protected).map(|(&page, _)| page);
        pages.any(|page| {
            ranges.iter().any(|&(start, len)| page < start.saturating_add(len) && start < page + PAGE)
        })
    }

    /// Logs that the pages of the range no longer hold the code they did, and stops watching them.
    pub(crate) fn record(&self, start: u64, end: u64) {
        let mut state = self.state.lock();
        state.pages.retain(|&page, watch| !(start <= page && page < end) || *watch == Watch::Compare);
        self.push(&mut state, start, end);
    }

    /// Logs that the pages of the range may hold other code than they did, although their mappings are what they
    /// were: they stay watched.
    pub(crate) fn rewritten(&self, start: u64, end: u64) {
        let mut state = self.state.lock();
        self.push(&mut state, start, end);
    }

    /// Logs that all code is to be made again, though no byte of it has changed.
    pub(crate) fn forget_code(&self) {
        let mut state = self.state.lock();
        self.push(&mut state, 0, super::layout::GUEST_END);
    }

    /// Logs that code around `address` is to be made again: something is to happen there now.
    pub(crate) fn forget_hooked(&self, address: u64) {
        let mut state = self.state.lock();
        self.push(&mut state, page_floor(address), page_floor(address) + PAGE);
    }

    /// A write fault at `address`: if the page was write-protected by us, it is writable again and its change
    /// logged. `prot` is what the guest set. Decided in one go: as soon as nobody holds the lock, another thread may make code from the
    /// page, and protect it once more.
    pub(crate) fn release(&self, address: u64, prot: i32) -> Write {
        let page = page_floor(address);
        let mut state = self.state.lock();
        let Some(watch) = state.pages.get_mut(&page) else { return Write::Guests };
        let (protected, hits) = match watch {
            Watch::Calls => return Write::Guests,
            Watch::Compare => return Write::Overtaken,
            Watch::Faults { protected, hits } => (protected, hits),
        };
        if !std::mem::replace(protected, false) {
            return Write::Overtaken;
        }
        *hits += 1;
        if *hits >= HITS_BEFORE_COMPARING {
            *watch = Watch::Compare;
        }
        protect(page, prot);
        self.push(&mut state, page, page + PAGE);
        Write::Released
    }

    /// Makes every page writable again that was write-protected by us; says whether there was one. For system calls
    /// that write where the guest may.
    pub(crate) fn release_all(&self, space: &Space) -> bool {
        let mut state = self.state.lock();
        let is_protected = |watch: &Watch| matches!(watch, Watch::Faults { protected: true, .. });
        let protected: Vec<u64> =
            state.pages.iter().filter(|(_, w)| is_protected(w)).map(|(&page, _)| page).collect();
        for &page in &protected {
            if let Some(Watch::Faults { protected, .. }) = state.pages.get_mut(&page) {
                *protected = false;
            }
            let prot = space.find(page).map_or(libc::PROT_NONE, |(_, _, region)| region.prot);
            protect(page, prot);
            self.push(&mut state, page, page + PAGE);
        }
        !protected.is_empty()
    }

    /// Translations that a thread which has seen `seen` changes has to forget, and the number of changes seen then.
    pub(crate) fn since(&self, seen: u64) -> (Forget, u64) {
        let state = self.state.lock();
        let latest = self.latest();
        let behind = (latest - seen) as usize;
        let forget = match behind {
            0 => Forget::Nothing,
            n if n <= state.log.len() => {
                Forget::Ranges(state.log.range(state.log.len() - n..).copied().collect())
            }
            _ => Forget::Everything,
        };
        (forget, latest)
    }

    fn push(&self, state: &mut State, start: u64, end: u64) {
        if state.log.len() == LOG_LENGTH {
            state.log.pop_front();
        }
        state.log.push_back((start, end));
        self.latest.fetch_add(1, Ordering::SeqCst);
    }
}

fn protect(page: u64, prot: i32) {
    // SAFETY: the page is the guest's; Rust holds no reference into it.
    unsafe { sys::syscall(libc::SYS_mprotect as u64, [page, PAGE, prot as u64, 0, 0, 0]) };
}
