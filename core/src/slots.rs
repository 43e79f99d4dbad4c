//! Slots: what tickets stand for.
//!
//! A front end keeps, beside each float's bytes, a *ticket* of the same width, and moves tickets like data. A ticket
//! names a slot here: the shadow, and the format and bits of the float it belongs to. A lookup with other bits finds
//! nothing, so a cell overwritten behind the front end's back is merely unshadowed. Knows nothing of memory, registers
//! or what a shadow means; which tickets are still in use is told to [`Slots::sweep`].
//!
//! Tickets are dense 32-bit numbers, so that one fits beside an `f32` and a slot is found without hashing.

mod pages;

use crate::format::Format;
use pages::{Cell, Pages};

/// The ticket of what has no shadow.
pub const NO_TICKET: u64 = 0;

/// Tickets handed out between two sweeps at least: a sweep reads all of the front end's cells.
const SWEEP_INTERVAL: u64 = 1 << 18;

/// A run of tickets that stand for nothing.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    end: u64,
}

impl Run {
    fn len(self) -> u64 {
        self.end - self.first
    }
}

/// The slots of a process. Used under one lock.
#[derive(Debug)]
pub struct Slots<V> {
    pages: Pages<V>,
    /// Runs below `top` that are free, the lowest last.
    free: Vec<Run>,
    /// No ticket from here on was ever handed out.
    top: u64,
    live: usize,
    /// Tickets handed out since the last sweep, and how many will be before the next.
    handed_out: u64,
    interval: u64,
}

impl<V> Default for Slots<V> {
    fn default() -> Self {
        Slots {
            pages: Pages::default(),
            free: Vec::new(),
            top: NO_TICKET + 1,
            live: 0,
            handed_out: 0,
            interval: SWEEP_INTERVAL,
        }
    }
}

impl<V: Clone> Slots<V> {
    /// No slot yet.
    pub fn new() -> Self {
        Slots::default()
    }

    /// The shadow of the float of `format` and `bits`, if that is what `ticket` stands for. Any number will do as a
    /// ticket.
    pub fn get(&self, ticket: u64, format: Format, bits: u128) -> Option<V> {
        match self.pages.get(ticket)? {
            Cell::Live { format: of, bits: stored, value }
                if *of == format && stored.equals(bits, format) =>
            {
                Some(value.clone())
            }
            _ => None,
        }
    }

    /// A new ticket for the shadow `value` of the float of `format` and `bits`.
    pub fn insert(&mut self, format: Format, bits: u128, value: V) -> u64 {
        let ticket = self.reserve(1);
        self.assign(ticket, format, bits, Some(value));
        ticket
    }

    /// Says what a ticket handed out by [`reserve`](Slots::reserve) stands for; nothing, with `None`. A ticket may be
    /// assigned again.
    pub fn assign(&mut self, ticket: u64, format: Format, bits: u128, value: Option<V>) {
        let cell = match value {
            Some(value) => Cell::live(format, bits, value),
            None => Cell::Empty,
        };
        self.live += usize::from(matches!(cell, Cell::Live { .. }));
        let before = self.pages.replace(ticket, cell);
        self.live -= usize::from(matches!(before, Cell::Live { .. }));
        debug_assert!(!matches!(before, Cell::Free), "ticket {ticket} was not handed out");
    }

    /// The first of `count` tickets in a row that nobody has. They survive sweeps until they are assigned, each of
    /// them: what will not be used is assigned `None`.
    pub fn reserve(&mut self, count: u32) -> u64 {
        let count = u64::from(count);
        self.handed_out += count;
        let first = self.take_free(count).unwrap_or_else(|| {
            let first = self.top;
            self.top += count;
            assert!(self.top <= 1 << 32, "four billion shadows at once");
            first
        });
        self.pages.reserve(first, first + count);
        first
    }

    /// A run of `count` free tickets from below `top`. The search is bounded: between survivors there may be a great
    /// many short runs, while tickets above `top` cost nothing.
    fn take_free(&mut self, count: u64) -> Option<u64> {
        let at = self.free.iter().rev().take(1 << 12).position(|run| run.len() >= count)?;
        let at = self.free.len() - 1 - at;
        let run = &mut self.free[at];
        let first = run.first;
        run.first += count;
        if run.len() == 0 {
            self.free.remove(at);
        }
        Some(first)
    }

    /// How many slots hold a shadow.
    pub fn live(&self) -> usize {
        self.live
    }

    /// True when enough tickets were handed out since the last sweep that another is worth its price: it is then in
    /// proportion to the slots that may be freed.
    pub fn wants_sweep(&self) -> bool {
        self.handed_out >= self.interval
    }

    /// Frees every slot whose ticket is not among `marked`, which may contain anything that looks like a ticket. Runs
    /// reserved but not assigned are kept.
    pub fn sweep(&mut self, marked: impl IntoIterator<Item = u64>) {
        let mut used = vec![0u64; (self.top as usize).div_ceil(64)];
        for ticket in marked {
            if ticket < self.top {
                used[ticket as usize / 64] |= 1 << (ticket % 64);
            }
        }
        self.live -= self.pages.retain(|ticket| used[ticket as usize / 64] >> (ticket % 64) & 1 != 0);
        self.collect_runs();
        self.handed_out = 0;
        self.interval = SWEEP_INTERVAL.max(self.live as u64);
    }

    /// Finds the free runs anew; those at the end are given back.
    fn collect_runs(&mut self) {
        self.free.clear();
        let mut end = self.top;
        while let Some(first) = self.pages.free_run_before(end) {
            if first < end {
                self.free.push(Run { first, end });
            }
            match self.pages.used_run_before(first) {
                Some(used) => end = used,
                None => break,
            }
        }
        if self.free.first().is_some_and(|run| run.end == self.top) {
            self.top = self.free.remove(0).first;
            self.pages.truncate(self.top);
        }
    }
}

#[cfg(test)]
mod tests;
