//! The tool of a process: which shadow is carried, since when, and how.

use super::carrier::{Carrier, InlineCode};
use super::registers::IN_REGISTERS;
use crate::engine::Lock;
use crate::engine::layout::GUEST_END;
use crate::session::{Observer, Session};
use crate::shadows::ShadowKind;
use crate::x86::mirror::{Mirror, Settings};
use shadowgrind_core::shadow::{Policy, Since};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// See the module's description.
pub(crate) struct Tool {
    kind: ShadowKind,
    pub(crate) carrier: Arc<dyn Carrier>,
    /// Whether threads begin with the shadows of vector registers in the upper vector registers.
    pub(crate) upper_registers: bool,
    pub(crate) session: Session,
    pub(crate) observer: Lock<Box<dyn Observer + Send>>,
    /// The program's first instruction.
    entry: u64,
    /// Whether code is annotated: from the first shadow on.
    awake: AtomicBool,
    /// Address of the constants that annotations use.
    constants: u64,
    /// Whether a thread runs an atomic instruction between two stops.
    atomics: AtomicBool,
}

impl Tool {
    /// A tool that is asleep, for a program whose first instruction is at `entry`. With `avx512`, shadows are kept in
    /// the upper vector registers.
    pub(crate) fn new(session: Session, entry: u64, avx512: bool, constants: u64) -> Tool {
        let kind = session.shadow();
        let carrier = kind.carry(&session.settings());
        let observer = carrier.observer();
        Tool {
            kind,
            carrier,
            upper_registers: avx512,
            session,
            observer: Lock::new(observer),
            entry,
            awake: AtomicBool::new(false),
            constants,
            atomics: AtomicBool::new(false),
        }
    }

    /// Whether shadows are carried at all, in a mirror.
    pub(crate) fn has_mirror(&self) -> bool {
        self.kind.is_carried()
    }

    /// Whether translated code records operations, which are replayed later.
    pub(crate) fn records(&self) -> bool {
        self.kind.records()
    }

    /// The rule that translated code computes shadows by, beside the guest's operations.
    pub(crate) fn inline(&self) -> Option<InlineCode> {
        self.kind.inline()
    }

    /// What is to be done for the shadow.
    pub(crate) fn policy(&self) -> &'static Policy {
        self.kind.policy()
    }

    pub(crate) fn is_awake(&self) -> bool {
        self.awake.load(Ordering::SeqCst)
    }

    /// From now on code is annotated. Says whether it was not before: then code made so far has to go.
    pub(crate) fn wake(&self) -> bool {
        !self.awake.swap(true, Ordering::SeqCst)
    }

    /// Whether the shadow begins with the program, not with the first seed.
    pub(super) fn starts_awake(&self) -> bool {
        self.policy().since == Since::Start || self.session.annotates()
    }

    /// Whether every system call comes to the engine: what was recorded is replayed before one, so that what is handed
    /// to another thread arrives with its shadow.
    pub(crate) fn sees_all_calls(&self) -> bool {
        self.records()
    }

    /// Whether the program begins at `pc`.
    pub(super) fn begins_at(&self, pc: u64) -> bool {
        pc == self.entry
    }

    /// What translators need to know; `vdso` is where the guest's copy of the vDSO is.
    pub(crate) fn mirror(&self, vdso: (u64, u64)) -> Mirror {
        Mirror::new(Settings {
            in_registers: if self.upper_registers { IN_REGISTERS as u8 } else { 0 },
            records: self.records(),
            rule: self.inline().map(|inline| inline.rule),
            policy: self.policy(),
            slow: self.session.is_slow(),
            constants: self.constants,
            wide: self.session.may_use_avx512() && super::has_upper_registers(),
            has_avx512: super::has_upper_registers(),
            guest_end: GUEST_END,
            vdso,
        })
    }

    /// Keeps other threads from running atomic instructions solo; waits for one that does.
    pub(super) fn lock_atomics(&self) {
        while self.atomics.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    /// This is a forked child, in which the thread that may have held the lock does not exist.
    pub(crate) fn forked(&self) {
        self.unlock_atomics();
    }

    pub(super) fn unlock_atomics(&self) {
        self.atomics.store(false, Ordering::Release);
    }

    /// Whether something is to happen before the instruction at `pc`.
    pub(crate) fn is_hooked(&self, pc: u64) -> bool {
        pc == self.entry || self.session.is_hooked(pc)
    }
}
