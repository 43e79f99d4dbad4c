//! Code that has a number parsed: the call, and what has led to it, for the line of the user's to be looked for.
//!
//! Knows no source files: which line is the user's is found when a report is written.

use super::parsed::Asker;
use super::state::State;
use crate::hooks::machine::Machine;

/// Callers that are looked at.
const CALLERS: usize = 12;

impl State {
    /// The code that has called the function at `pc`, which is entered now, by the call that returns to `at`. Where numbers are listed,
    /// it is the innermost that is in none of a language's own libraries.
    pub(super) fn asker(&mut self, at: u64, pc: u64, m: &dyn Machine) -> Asker {
        let call = self.call_site(at, Some(pc), m);
        let line = self.script_site(call, m);
        if line != call || self.report.listing.is_none() {
            return line.into();
        }
        let mut callers = self.native_stack(pc, CALLERS, false, m);
        callers.retain(|caller| *caller != call);
        let own = callers.iter().position(|&caller| !self.is_library(caller));
        match own.filter(|_| self.is_library(call)) {
            Some(own) => Asker { site: callers[own], callers: callers.split_off(own + 1) },
            None => Asker { site: call, callers },
        }
    }
}
