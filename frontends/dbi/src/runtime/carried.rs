//! A shadow with all that it has of a process: its rule, the table that words in the mirror refer to, and the records of threads, behind
//! one lock.
//!
//! Knows neither sessions nor which shadow it is.

use super::buffers::Buffers;
use crate::engine::{Guard, Lock};
use shadowgrind_core::shadow::Shadow;
use shadowgrind_core::turned::Turned;
use std::sync::Arc;

/// Shadow that a process carries, with the table that its words refer to.
pub(crate) struct Carried<S: Shadow> {
    pub(crate) shadow: S,
    pub(crate) words: S::Words,
    /// Doubles that are turned; nothing if there is no memory for them.
    pub(super) turned: Option<Turned>,
    /// Records of all threads, if operations are recorded.
    pub(super) records: Option<Box<dyn Buffers<S>>>,
}

impl<S: Shadow> Carried<S> {
    /// Replays what all threads have recorded: handles in cells stand for something then.
    fn catch_up(&mut self) {
        if let Some(records) = self.records.as_deref_mut() {
            records.catch_up(&mut self.shadow, &mut self.words);
        }
    }
}

/// Locks what is carried, to look at cells: nothing that has been recorded is left to be replayed.
pub(super) fn lock_caught_up<S: Shadow>(shared: &Shared<S>) -> Guard<'_, Carried<S>> {
    let mut carried = shared.lock();
    carried.catch_up();
    carried
}

/// One [`Carried`] of all threads.
pub(crate) type Shared<S> = Arc<Lock<Carried<S>>>;
