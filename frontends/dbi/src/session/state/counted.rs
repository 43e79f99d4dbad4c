//! Events that are counted: by translated code, by number, and where they come to the engine.

use super::{Numbered, Session, State};
use crate::context::{ATTRIBUTED, COUNTS, Counts};
use crate::hooks::machine::Machine;
use crate::session::Taker;
use crate::session::modules::ModuleFile;
use shadowgrind_core::findings::{Decided, Rounded};
use shadowgrind_core::site::Site;

/// Decision by a float with a shadow, which knows one of the ways only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Comparison; `is_equal`: it was asked for equality, and found it.
    Comparison { is_equal: bool },
    /// Rounding to a whole number.
    Rounding,
}

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
        self.counts_decision(pc, ModuleFile::compares_for_itself)
    }

    /// Tells whether the rounding to a whole number at `pc` is counted.
    pub(crate) fn counts_rounding(&self, pc: u64) -> bool {
        self.counts_decision(pc, ModuleFile::rounds_for_itself)
    }

    fn counts_decision(&self, pc: u64, is_for_itself: fn(&ModuleFile) -> bool) -> bool {
        let counts = self.config.shadow.policy().decisions;
        counts && !self.state.lock().file_at(pc).is_some_and(|file| is_for_itself(file))
    }

    /// The number under which translated code counts the comparison at `pc`, as long as there are numbers.
    pub(crate) fn number_of_comparison(&self, pc: u64) -> Option<u16> {
        self.number_of(pc, Numbered::Comparison)
    }

    /// The number under which translated code counts the rounding at `pc`, as long as there are numbers.
    pub(crate) fn number_of_rounding(&self, pc: u64) -> Option<u16> {
        self.number_of(pc, Numbered::Rounding)
    }

    fn number_of(&self, pc: u64, numbered: fn(Site) -> Numbered) -> Option<u16> {
        let mut state = self.state.lock();
        let site = state.report.sites.at(pc);
        state.number(numbered(site))
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

    /// A function that has returned to `pc` has made whole numbers of floats with shadows.
    pub(crate) fn made_whole(&self, pc: u64, m: &dyn Machine) {
        let mut state = self.state.lock();
        let site = state.call_site(pc, None, m);
        state.rounded(site).count += 1;
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

    /// The instruction at `pc` met a shadow where it decided something.
    pub(crate) fn decided(&self, pc: u64, site: Site, decision: Decision) {
        let counts = match decision {
            Decision::Comparison { .. } => self.counts_comparison(pc),
            Decision::Rounding => self.counts_rounding(pc),
        };
        if !counts {
            return;
        }
        let mut state = self.state.lock();
        match decision {
            Decision::Comparison { is_equal } => {
                let decided = state.decided(site);
                decided.count += 1;
                decided.equal += u64::from(is_equal);
            }
            Decision::Rounding => state.rounded(site).count += 1,
        }
    }

    /// Translated code has counted this, by number.
    pub(crate) fn count(&self, counts: Counts<'_>) {
        let mut state = self.state.lock();
        for (&what, count) in state.numbered.clone().iter().zip(counts.iter()) {
            match (what, count) {
                (_, 0) => {}
                (Numbered::Comparison(site), count) => state.decided(site).count += count,
                (Numbered::Rounding(site), count) => state.rounded(site).count += count,
                // The first have been counted where they were called.
                (Numbered::Calls(site), count) => {
                    state.rounded(site).count += count.saturating_sub(ATTRIBUTED)
                }
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
            Numbered::Comparison(_) | Numbered::Rounding(_) | Numbered::Calls(_) => None,
        }
    }

    /// Roundings to whole numbers at `site`.
    pub(in crate::session) fn rounded(&mut self, site: Site) -> &mut Rounded {
        self.roundings.entry(site).or_insert(Rounded { count: 0, site })
    }

    pub(super) fn decided(&mut self, site: Site) -> &mut Decided {
        self.decisions.entry(site).or_insert(Decided { count: 0, equal: 0, at_least: false, site })
    }
}
