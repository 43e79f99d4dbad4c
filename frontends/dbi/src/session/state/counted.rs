//! Events that are counted: by translated code, by number, and where they come to the engine.

use super::{Numbered, Session, State};
use crate::context::{COUNTS, Counts};
use crate::session::Taker;
use shadowgrind_core::findings::Decided;
use shadowgrind_core::site::Site;

impl Session {
    /// Code was made for the shadows of these instructions, which compute with floats.
    pub(crate) fn translated(&self, operations: impl Iterator<Item = u64>) {
        let mut operations = operations.peekable();
        if operations.peek().is_some() {
            self.state.lock().shadowed.extend(operations);
        }
    }

    /// An instruction that is not understood dropped a shadow. `code` tells it from others that were at the same site.
    pub(crate) fn gap(&self, site: Site, code: usize, instruction: impl FnOnce() -> String) {
        let mut state = self.state.lock();
        state.gaps.entry((site, code)).or_insert_with(|| (instruction(), 0)).1 += 1;
    }

    /// Tells whether the comparison at `pc` is counted. How the C library goes about what it does is its own business.
    pub(crate) fn counts_comparison(&self, pc: u64) -> bool {
        let counts = self.config.shadow.policy().decisions;
        counts && !self.state.lock().file_at(pc).is_some_and(|file| file.is_taken_as_whole())
    }

    /// The number under which translated code counts the comparison at `pc`, as long as there are numbers.
    pub(crate) fn number_of_comparison(&self, pc: u64) -> Option<u16> {
        let mut state = self.state.lock();
        let site = state.report.sites.at(pc);
        state.number(Numbered::Comparison(site))
    }

    /// The comparison at `pc` has been counted often enough.
    pub(crate) fn stop_counting(&self, pc: u64) {
        let mut state = self.state.lock();
        let site = state.report.sites.at(pc);
        state.decided(site).at_least = true;
    }

    /// Tells whether the comparison at `pc` has been counted often enough.
    pub(crate) fn has_counted(&self, pc: u64) -> bool {
        let mut state = self.state.lock();
        let site = state.report.sites.at(pc);
        state.decisions.get(&site).is_some_and(|decided| decided.at_least)
    }

    /// The number under which translated code counts what [`Session::gap`] does otherwise.
    pub(crate) fn number_of_gap(
        &self,
        site: Site,
        code: usize,
        name: impl FnOnce() -> String,
    ) -> Option<u16> {
        let mut state = self.state.lock();
        state.gaps.entry((site, code)).or_insert_with(|| (name(), 0));
        state.number(Numbered::Gap(site, code))
    }

    /// The comparison at `pc` met a shadow; `is_equal`: it was asked for equality, and found it.
    pub(crate) fn decided(&self, pc: u64, site: Site, is_equal: bool) {
        if !self.counts_comparison(pc) {
            return;
        }
        let mut state = self.state.lock();
        let decided = state.decided(site);
        decided.count += 1;
        decided.equal += u64::from(is_equal);
    }

    /// Translated code has counted this, by number.
    pub(crate) fn count(&self, counts: Counts<'_>) {
        let mut state = self.state.lock();
        for (&what, count) in state.numbered.clone().iter().zip(counts.iter()) {
            match (what, count) {
                (_, 0) => {}
                (Numbered::Comparison(site), count) => state.decided(site).count += count,
                (Numbered::Gap(site, code), count) => {
                    state.gaps.entry((site, code)).and_modify(|(_, total)| *total += count);
                }
            }
        }
    }

    /// Adds calls of functions, by their numbers, about which the session was not asked.
    pub(crate) fn count_calls(&self, calls: &[u64]) {
        let mut state = self.state.lock();
        state.names.iter_mut().zip(calls).for_each(|((_, total), calls)| *total += calls);
    }
}

impl State {
    /// The number of what translated code is to count, as long as there are numbers.
    pub(super) fn number(&mut self, what: Numbered) -> Option<u16> {
        if let Some(&number) = self.number_of.get(&what) {
            return Some(number);
        }
        let number = u16::try_from(self.numbered.len()).ok().filter(|&n| usize::from(n) < COUNTS)?;
        self.numbered.push(what);
        self.number_of.insert(what, number);
        Some(number)
    }

    /// The gap that translated code counts under `number`.
    pub(in crate::session) fn counted_gap(&self, number: u16) -> Option<Taker> {
        match self.numbered.get(usize::from(number))? {
            Numbered::Gap(site, code) => Some((*site, *code)),
            Numbered::Comparison(_) => None,
        }
    }

    pub(super) fn decided(&mut self, site: Site) -> &mut Decided {
        self.decisions.entry(site).or_insert(Decided { count: 0, equal: 0, at_least: false, site })
    }
}
