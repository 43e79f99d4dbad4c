//! The tool of a process: which shadow is carried, since when, and how.

use super::carrier::{Carrier, FunctionCode, InlineCode};
use super::host::Host;
use crate::engine::Lock;
use crate::engine::handed::{Exposed, Handing, Lost};
use crate::engine::layout::GUEST_END;
use crate::engine::process::Process;
use crate::registers;
use crate::session::{Observer, Session};
use crate::shadows::ShadowKind;
use crate::x86::mirror::{Mirror, Settings};
use shadowgrind_core::shadow::{Derivatives, Policy, Sent, Since};
use shadowgrind_core::turned::Turned;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Tool of a process: the shadow that is carried, and the session.
pub(crate) struct Tool {
    kind: ShadowKind,
    pub(crate) carrier: Arc<dyn Carrier>,
    /// True if threads begin with the shadows of vector registers in the upper vector registers.
    pub(crate) upper_registers: bool,
    pub(crate) session: Session,
    pub(crate) observer: Lock<Box<dyn Observer + Send>>,
    /// The program's first instruction.
    entry: u64,
    /// Arrivals at hooks that were seen to, and from which threads were called away before they went on.
    called_away: Lock<Vec<u64>>,
    /// The processor and the memory that shadows use; nothing without shadows. `atomics` is set to 1 while a thread runs an
    /// atomic instruction between two stops, or an exchange in translated code.
    host: Option<Host>,
    /// Memory that others see, where what leaves a process is lost and nothing can be handed on.
    pub(super) exposed: Option<Exposed>,
}

impl Tool {
    /// The tool of a process; nothing under `none`.
    pub(super) fn of(process: &Process) -> Option<&Tool> {
        let client: &dyn Any = &*process.client;
        client.downcast_ref()
    }

    /// A tool that is asleep, for a program whose first instruction is at `entry`. With `avx512`, shadows are kept in
    /// the upper vector registers. `host` is what shadows are carried with, if any are.
    pub(crate) fn new(session: Session, entry: u64, avx512: bool, host: Option<Host>) -> Tool {
        let kind = session.shadow();
        let carrier = kind.carry(&session.settings(), host.map(|host| host.vectors));
        let observer = carrier.observer();
        Tool {
            kind,
            carrier,
            upper_registers: avx512,
            session,
            observer: Lock::new(observer),
            entry,
            called_away: Lock::new(Vec::new()),
            host,
            exposed: matches!(handing(kind.policy()), Some(Handing::Counted { .. })).then(Exposed::new),
        }
    }

    /// A signal handler is about to run where a thread, in this state, has not gone on from a hook.
    pub(super) fn call_away(&self, state: u64) {
        /// Handlers that are left by a jump never come back: the oldest are forgotten.
        const MOST: usize = 64;
        let mut called_away = self.called_away.lock();
        if called_away.len() == MOST {
            called_away.remove(0);
        }
        called_away.push(state);
    }

    /// The lock of what threads were called away from, so that a forked child finds it free.
    pub(super) fn hold_called_away(&self) -> impl Sized + '_ {
        self.called_away.lock()
    }

    /// Tells whether a thread that has arrived at a hook, in the state that `state` tells, comes back to it.
    pub(super) fn comes_back(&self, state: impl FnOnce() -> u64) -> bool {
        let mut called_away = self.called_away.lock();
        if called_away.is_empty() {
            return false;
        }
        let state = state();
        let known = called_away.iter().position(|&other| other == state);
        known.map(|index| called_away.swap_remove(index)).is_some()
    }

    /// Tells whether shadows are carried at all, in a mirror.
    pub(crate) fn has_mirror(&self) -> bool {
        self.kind.is_carried()
    }

    /// Tells whether translated code records operations, which are replayed later.
    pub(crate) fn records(&self) -> bool {
        self.kind.records()
    }

    /// Tells whether comparisons are recorded, too.
    pub(crate) fn records_comparisons(&self) -> bool {
        self.records() && self.policy().comparisons
    }

    /// The rule that translated code computes shadows by, beside the guest's operations.
    pub(crate) fn inline(&self) -> Option<InlineCode> {
        self.kind.inline()
    }

    /// Code that gives the results of functions their shadows, if translated code sees to any.
    pub(crate) fn functions(&self) -> Option<FunctionCode> {
        self.kind.functions()
    }

    /// The services that the shadow asks for.
    pub(crate) fn policy(&self) -> &'static Policy {
        self.kind.policy()
    }

    /// The number of vector registers whose shadows are in the upper ones; 0 without AVX-512.
    pub(super) fn in_registers(&self) -> u8 {
        if self.upper_registers { registers::in_registers(self.policy()) } else { 0 }
    }

    /// Fate of shadows of bytes that other processes of the tree read.
    pub(super) fn handing(&self) -> Option<Handing> {
        handing(self.policy())
    }

    /// Tells whether the shadow begins with the program, not with the first seed.
    pub(super) fn starts_awake(&self) -> bool {
        self.policy().since == Since::Start || self.session.annotates()
    }

    /// Tells whether every system call comes to the engine: a thread that makes one has all of its handles in its context
    /// then, where a sweep finds them.
    pub(crate) fn sees_all_calls(&self) -> bool {
        self.records() || self.kind.appends()
    }

    /// Tells whether the program begins at `pc`.
    pub(super) fn begins_at(&self, pc: u64) -> bool {
        pc == self.entry
    }

    /// Annotator for translators; `vdso` is the place of the guest's copy of the vDSO.
    pub(crate) fn mirror(&self, vdso: (u64, u64)) -> Mirror {
        Mirror::new(Settings {
            in_registers: self.in_registers(),
            records: self.records(),
            appends: self.kind.appends(),
            roundings: self.session.settings().budget,
            rule: self.inline().map(|inline| inline.rule),
            doubt: self.inline().filter(|_| self.policy().comparisons).map(|inline| inline.doubt),
            suspicion: self.inline().filter(|_| self.policy().watch.is_some()).map(|inline| inline.suspicion),
            policy: self.policy(),
            slow: self.session.is_slow(),
            constants: self.host.map_or(0, |host| host.constants),
            atomics: self.host.map_or(0, |host| host.atomics.as_ptr() as u64),
            turned: super::turned_doubles().map_or(0, Turned::address),
            wide: self.session.may_use_avx512() && super::has_upper_registers(),
            has_avx512: super::has_upper_registers(),
            guest_end: GUEST_END,
            vdso,
        })
    }

    /// Keeps other threads from running atomic instructions out of line; waits for one that does.
    pub(super) fn lock_atomics(&self) {
        let Some(Host { atomics: word, .. }) = self.host else { return };
        while word.swap(1, Ordering::Acquire) != 0 {
            std::thread::yield_now();
        }
    }

    /// Floats with shadows have left the tree of processes.
    pub(super) fn lost(&self, lost: Lost) {
        let Lost { site, call: (number, name), floats } = lost;
        self.session.left(site, (number, name), floats);
    }

    /// Lets other threads run atomic instructions out of line.
    pub(super) fn unlock_atomics(&self) {
        self.host.iter().for_each(|host| host.atomics.store(0, Ordering::Release));
    }
}

/// Fate of shadows of bytes that other processes of the tree read: cells may mean something there, or not. Where what leaves is
/// counted as lost when it does, a process does not count it again when it reads that itself.
fn handing(policy: &Policy) -> Option<Handing> {
    match policy.sent {
        Sent::Unseen => None,
        Sent::Lost if policy.derivatives == Some(Derivatives::InPlace) => Some(Handing::On),
        sent => Some(Handing::Counted { own: sent == Sent::Output }),
    }
}
