//! The tool of a process: which shadow is carried, since when, and how.

use super::registers::IN_REGISTERS;
use crate::engine::planes;
use crate::x86::mirror::{Mirror, Settings};
use std::sync::atomic::{AtomicBool, Ordering};

/// Which shadow a tool carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Derivatives.
    Dot,
    /// Reals.
    Mpfr,
}

/// See the module's description.
pub(crate) struct Tool {
    pub(crate) kind: Kind,
    /// Whether shadows of vector registers are in the upper vector registers.
    pub(crate) upper_registers: bool,
    /// Whether code is annotated: from the first shadow on.
    awake: AtomicBool,
    /// Address of the constants that annotations use.
    constants: u64,
    /// Whether a thread runs an atomic instruction between two stops.
    atomics: AtomicBool,
}

impl Tool {
    /// A tool that is asleep. Maps the mirror, or fails with an errno.
    pub(crate) fn new(kind: Kind, avx512: bool, constants: u64) -> Result<Tool, i32> {
        planes::map()?;
        Ok(Tool { kind, upper_registers: avx512, awake: AtomicBool::new(false), constants, atomics: AtomicBool::new(false) })
    }

    pub(crate) fn is_awake(&self) -> bool {
        self.awake.load(Ordering::SeqCst)
    }

    /// From now on code is annotated. Says whether it was not before: then code made so far has to go.
    pub(crate) fn wake(&self) -> bool {
        !self.awake.swap(true, Ordering::SeqCst)
    }

    /// What translators need to know.
    pub(crate) fn mirror(&self) -> Mirror {
        Mirror::new(Settings {
            in_registers: if self.upper_registers { IN_REGISTERS as u8 } else { 0 },
            records: self.kind == Kind::Mpfr,
            constants: self.constants,
        })
    }

    /// Keeps other threads from running atomic instructions solo; waits for one that does.
    pub(super) fn lock_atomics(&self) {
        while self.atomics.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    pub(super) fn unlock_atomics(&self) {
        self.atomics.store(false, Ordering::Release);
    }

    /// Whether something is to happen before the instruction at `pc`.
    pub(crate) fn is_hooked(&self, _pc: u64) -> bool {
        false
    }
}
