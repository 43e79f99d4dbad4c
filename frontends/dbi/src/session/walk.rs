//! Walk up a stack, kept because the next one is often the same. Knows neither call frames nor files.

use crate::hooks::machine::{Machine, read_u64};
use shadowgrind_core::site::Site;

/// Walk up the stack of a thread: as long as the return addresses that it has met stand where they stood, another one from the
/// same place comes to the same.
#[derive(Debug)]
pub(super) struct Walk {
    /// The instruction, the stack pointer there, the number of callers asked for, and whether those of an interpreter are left out.
    pub(super) from: (u64, u64, usize, bool),
    /// Return addresses, each with its place.
    pub(super) met: Vec<(u64, u64)>,
    /// The callers.
    pub(super) stack: Vec<Site>,
}

impl Walk {
    /// Tells whether all return addresses stand where they stood.
    pub(super) fn is_still(&self, m: &dyn Machine) -> bool {
        self.met.iter().all(|&(place, address)| read_u64(m, place) == Ok(address))
    }
}
