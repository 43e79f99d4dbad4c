//! A shadow as a process carries it: its rule, and what the words in the mirror stand for, behind one lock.

use crate::engine::Lock;
use shadowgrind_core::shadow::{Settings, Shadow};
use std::sync::Arc;

/// See the module's description.
pub(crate) struct Carried<S: Shadow> {
    pub(crate) shadow: S,
    pub(crate) words: S::Words,
}

/// One [`Carried`] of all threads.
pub(crate) type Shared<S> = Arc<Lock<Carried<S>>>;

/// A shadow that nothing carries yet.
pub(crate) fn share<S: Shadow>(settings: &Settings) -> Shared<S> {
    super::limbs::use_engine_heap();
    super::limbs::use_fast_loops();
    Arc::new(Lock::new(Carried { shadow: S::new(settings), words: S::Words::default() }))
}
