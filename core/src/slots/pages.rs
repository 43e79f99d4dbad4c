//! An array over tickets, in pages that exist only where something is in use.

use crate::format::Format;

/// Tickets per page.
const PAGE: usize = 512;

/// The bits of a float in ten bytes, packed so that a cell with a pointer takes 24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(2))]
pub(super) struct Bits {
    low: u64,
    high: u16,
}

impl Bits {
    /// The bits of `format` of `bits`; those above are ignored.
    fn of(format: Format, bits: u128) -> Bits {
        match format {
            Format::F32 => Bits { low: bits as u32 as u64, high: 0 },
            Format::F64 => Bits { low: bits as u64, high: 0 },
            Format::F80 => Bits { low: bits as u64, high: (bits >> 64) as u16 },
        }
    }

    /// Whether these are the bits of `bits` in `format`.
    pub(super) fn equals(self, bits: u128, format: Format) -> bool {
        self == Bits::of(format, bits)
    }
}

/// What a ticket stands for.
#[derive(Clone, Debug)]
pub(super) enum Cell<V> {
    /// Nobody has the ticket.
    Free,
    /// Handed out, to be assigned.
    Reserved,
    /// Assigned to a float without a shadow. Copies of the ticket may be about.
    Empty,
    /// Assigned.
    Live { format: Format, bits: Bits, value: V },
}

impl<V> Cell<V> {
    pub(super) fn live(format: Format, bits: u128, value: V) -> Cell<V> {
        Cell::Live { format, bits: Bits::of(format, bits), value }
    }
}

#[derive(Debug)]
struct Page<V> {
    cells: Box<[Cell<V>]>,
    /// Cells that are not free.
    used: usize,
}

/// Cells by ticket.
#[derive(Debug)]
pub(super) struct Pages<V> {
    pages: Vec<Option<Page<V>>>,
}

impl<V> Default for Pages<V> {
    fn default() -> Self {
        Pages { pages: Vec::new() }
    }
}

/// Page and index of a ticket.
fn place(ticket: u64) -> (usize, usize) {
    (ticket as usize / PAGE, ticket as usize % PAGE)
}

impl<V> Pages<V> {
    pub(super) fn get(&self, ticket: u64) -> Option<&Cell<V>> {
        let (page, index) = place(ticket);
        Some(&self.pages.get(page)?.as_ref()?.cells[index])
    }

    /// The cell before; `Free` and nothing done where no ticket was handed out.
    pub(super) fn replace(&mut self, ticket: u64, cell: Cell<V>) -> Cell<V> {
        let (page, index) = place(ticket);
        match self.pages.get_mut(page) {
            Some(Some(page)) => std::mem::replace(&mut page.cells[index], cell),
            _ => Cell::Free,
        }
    }

    /// Makes free cells from `first` to `end` reserved ones.
    pub(super) fn reserve(&mut self, first: u64, end: u64) {
        for ticket in first..end {
            let (page, index) = place(ticket);
            if page >= self.pages.len() {
                self.pages.resize_with(page + 1, || None);
            }
            let page = self.pages[page]
                .get_or_insert_with(|| Page { cells: (0..PAGE).map(|_| Cell::Free).collect(), used: 0 });
            page.cells[index] = Cell::Reserved;
            page.used += 1;
        }
    }

    /// Frees what was assigned and is not `used`; returns how many of those were live.
    pub(super) fn retain(&mut self, used: impl Fn(u64) -> bool) -> usize {
        let mut freed = 0;
        for (number, slot) in self.pages.iter_mut().enumerate() {
            let Some(page) = slot else { continue };
            for (index, cell) in page.cells.iter_mut().enumerate() {
                let assigned = matches!(cell, Cell::Empty | Cell::Live { .. });
                if assigned && !used((number * PAGE + index) as u64) {
                    freed += usize::from(matches!(cell, Cell::Live { .. }));
                    *cell = Cell::Free;
                    page.used -= 1;
                }
            }
            if page.used == 0 {
                *slot = None;
            }
        }
        freed
    }

    /// Forgets pages wholly at or above `top`.
    pub(super) fn truncate(&mut self, top: u64) {
        self.pages.truncate((top as usize).div_ceil(PAGE));
    }

    fn is_free(&self, ticket: u64) -> bool {
        ticket != super::NO_TICKET && matches!(self.get(ticket), None | Some(Cell::Free))
    }

    /// The first ticket of the free run that ends before `end`; `end` itself where that run is empty. Ticket 0 counts
    /// as used. Nothing at the very beginning.
    pub(super) fn free_run_before(&self, end: u64) -> Option<u64> {
        self.run_before(end, true)
    }

    /// The same for the run of tickets in use.
    pub(super) fn used_run_before(&self, end: u64) -> Option<u64> {
        self.run_before(end, false)
    }

    fn run_before(&self, end: u64, free: bool) -> Option<u64> {
        let mut first = end;
        while first > 0 {
            let (page, index) = place(first - 1);
            // Absent pages are stepped over whole; the first one holds ticket 0 and is not.
            if free && page > 0 && index == PAGE - 1 && self.pages.get(page).is_none_or(Option::is_none) {
                first -= PAGE as u64;
            } else if self.is_free(first - 1) == free {
                first -= 1;
            } else {
                break;
            }
        }
        (end > 0).then_some(first)
    }
}
