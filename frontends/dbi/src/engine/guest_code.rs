//! Guest code as it is discovered: what the guest could execute, and what the client has to say of it. Its pages are watched
//! from then on.
//!
//! Knows mappings and the client; not what becomes of the code.

use super::changes::Watch;
use super::guest;
use super::layout::{PAGE, page_floor};
use super::process::Process;
use crate::x86::code_source::CodeSource;
use crate::x86::function::Counted;
use crate::x86::rounding::Rounding;
use crate::x86::superblock::Decision;

/// Reads guest code as the guest could execute it, and has its pages watched.
pub(crate) struct GuestCode {
    process: &'static Process,
    /// End of the pages that the block's first instruction may touch.
    first_pages_end: u64,
    /// True if the block must compare its bytes each time it runs.
    pub(crate) compare: bool,
    /// True if a page it was fetched from is one that the guest may write.
    writable: bool,
    /// True if it is for one instruction that runs out of line.
    pub(crate) out_of_line: bool,
}

impl GuestCode {
    /// For the block at `start`.
    pub(crate) fn new(process: &'static Process, start: u64) -> Self {
        const LONGEST: u64 = 15;
        let last_page = page_floor(start.saturating_add(LONGEST - 1));
        let mut source = GuestCode {
            process,
            first_pages_end: last_page.saturating_add(PAGE),
            compare: false,
            writable: false,
            out_of_line: false,
        };
        let pages = [page_floor(start), last_page];
        for page in pages {
            source.compare |= source.watch(page) == Some(Watch::Compare);
        }
        source
    }

    fn watch(&mut self, page: u64) -> Option<Watch> {
        // Kept: what is mapped there must be the same until the page is watched.
        let space = self.process.space.lock();
        let region = space.find(page).map(|(_, _, region)| region)?;
        let watch = region.executable().then(|| self.process.changes.watch(page, region))?;
        drop(space);
        self.writable |= watch != Watch::Calls;
        if matches!(watch, Watch::Faults { .. }) {
            self.process.watch_writers();
        }
        Some(watch)
    }

    /// End of the executable memory that begins at `pc`, at most `limit`.
    fn executable_until(&self, pc: u64, limit: u64) -> u64 {
        let space = self.process.space.lock();
        let mut end = pc;
        while end < limit {
            match space.find(end) {
                Some((_, region_end, region)) if region.executable() => end = region_end,
                _ => break,
            }
        }
        end.min(limit)
    }
}

impl CodeSource for GuestCode {
    fn fetch(&mut self, pc: u64, window: &mut [u8]) -> usize {
        let mut end = self.executable_until(pc, pc.saturating_add(window.len() as u64));
        for page in (page_floor(pc)..end).step_by(PAGE as usize) {
            // Code that changes under comparison begins a block of its own.
            if self.watch(page) == Some(Watch::Compare) && page >= self.first_pages_end {
                end = page.max(pc);
                break;
            }
        }
        guest::read_code(pc, &mut window[..(end - pc) as usize])
    }

    fn data(&mut self, address: u64, bytes: usize) -> Option<u64> {
        let mut data = [0; 8];
        (guest::read_some(address, &mut data[..bytes]) == bytes).then(|| u64::from_le_bytes(data))
    }

    fn data_address(&self, pc: u64, address: u64) -> u64 {
        self.process.vdso.data_address(pc, address)
    }

    fn is_hooked(&self, pc: u64) -> bool {
        self.process.client.is_hooked(pc)
    }

    fn function(&self, pc: u64) -> Option<Counted> {
        self.process.client.function(pc)
    }

    fn rounds(&self, pc: u64) -> Rounding {
        if self.process.is_annotating() { self.process.client.rounding(pc) } else { Rounding::default() }
    }

    fn comparison(&self, pc: u64) -> Option<Decision> {
        self.process.is_annotating().then(|| self.process.client.comparison(pc)).flatten()
    }

    fn whole_numbers(&self, pc: u64) -> Option<Decision> {
        self.process.is_annotating().then(|| self.process.client.whole_numbers(pc)).flatten()
    }

    fn answers_requests(&self) -> bool {
        self.process.services.attends
    }

    fn is_writable(&self) -> bool {
        self.writable
    }

    fn takes_gs(&self) -> bool {
        self.process.has_mirror() && !self.out_of_line
    }
}
