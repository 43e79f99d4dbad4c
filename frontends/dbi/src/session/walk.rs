//! Walks up stacks, kept because later ones are often the same. Knows neither call frames nor files.

use crate::hooks::machine::{Machine, read_u64};
use hashbrown::HashMap;
use shadowgrind_core::site::Site;

/// Most walks that are kept.
const MOST: usize = 256;

/// Start of a walk: the instruction, the stack pointer there, the number of callers asked for, and whether those of an interpreter
/// are left out.
pub(super) type Start = (u64, u64, usize, bool);

/// The last walk from each of several places.
#[derive(Debug, Default)]
pub(super) struct Walks(HashMap<Start, Walk>);

impl Walks {
    /// Callers that a walk from there comes to, if one is kept that still holds.
    pub(super) fn stack(&self, from: &Start, m: &dyn Machine) -> Option<&[Site]> {
        self.0.get(from).filter(|walk| walk.is_still(m)).map(|walk| &walk.stack[..])
    }

    /// Keeps a walk, in place of another from there.
    pub(super) fn keep(&mut self, from: Start, walk: Walk) {
        if self.0.len() >= MOST && !self.0.contains_key(&from) {
            self.0.clear();
        }
        self.0.insert(from, walk);
    }

    /// Files have come or gone: what they say is asked again.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

/// Walk up the stack of a thread: as long as the return addresses that it has met stand where they stood, another one from the
/// same place comes to the same.
#[derive(Debug)]
pub(super) struct Walk {
    /// Return addresses, each with its place.
    pub(super) met: Vec<(u64, u64)>,
    /// The callers.
    pub(super) stack: Vec<Site>,
}

impl Walk {
    /// Tells whether all return addresses stand where they stood.
    fn is_still(&self, m: &dyn Machine) -> bool {
        self.met.iter().all(|&(place, address)| read_u64(m, place) == Ok(address))
    }
}
