//! Signals: the guest's view of them is kept here, the kernel's is arranged so that every signal reaches the engine
//! first.
//!
//! An asynchronous signal is taken by `handler` at any moment and delivered at a safe point, when a block has been
//! left; until then all others stay blocked in the kernel, so none is lost, merged or reordered that would not be
//! natively. Signals that faults raise are never blocked in the kernel,
//! whatever the guest blocks: the engine needs them for itself; here their blocking is emulated.

pub(crate) mod action;
pub(crate) mod deliver;
pub(crate) mod fault;
pub(crate) mod frame;
pub(crate) mod handler;

use action::Actions;
use std::sync::Arc;

/// Bit of signal `number` in a mask.
pub(crate) const fn bit(number: u32) -> u64 {
    1 << (number - 1)
}

/// Signals that instructions raise.
pub(crate) const SYNCHRONOUS: u64 = bit(libc::SIGSEGV as u32)
    | bit(libc::SIGBUS as u32)
    | bit(libc::SIGFPE as u32)
    | bit(libc::SIGILL as u32)
    | bit(libc::SIGTRAP as u32);

/// Signals that stay unblocked in the kernel.
pub(crate) const NEVER_BLOCKED: u64 = SYNCHRONOUS | bit(super::threads::KICK);

/// Index in `Mailbox::pending` at which a signal waits.
pub(crate) fn place_of(signal: u32) -> usize {
    if NEVER_BLOCKED & bit(signal) == 0 {
        return 0;
    }
    1 + (NEVER_BLOCKED & (bit(signal) - 1)).count_ones() as usize
}

/// Signals that no mask can hold.
pub(crate) const UNMASKABLE: u64 = bit(libc::SIGKILL as u32) | bit(libc::SIGSTOP as u32);

/// A `siginfo_t`, as words.
pub(crate) type Info = [u64; 16];

/// A signal that waits in the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) signal: u32,
    pub(crate) info: Info,
}

/// The guest's alternate signal stack, as `sigaltstack` has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AltStack {
    pub(crate) base: u64,
    pub(crate) flags: i32,
    pub(crate) size: u64,
}

impl AltStack {
    pub(crate) const NONE: AltStack = AltStack { base: 0, flags: libc::SS_DISABLE, size: 0 };

    /// Tells whether a stack pointer is on this stack. With `SS_AUTODISARM` the stack is gone while it is used.
    pub(crate) fn holds(&self, stack_pointer: u64) -> bool {
        const SS_AUTODISARM: i32 = 1 << 31;
        self.flags & (SS_AUTODISARM | libc::SS_DISABLE) == 0 && self.spans(stack_pointer)
    }

    /// Tells whether a stack pointer lies within the stack's memory.
    pub(crate) fn spans(&self, stack_pointer: u64) -> bool {
        stack_pointer > self.base && stack_pointer - self.base <= self.size
    }
}

/// A thread's signal state in the guest's terms.
pub(crate) struct Signals {
    pub(crate) actions: Arc<Actions>,
    /// Blocked signals.
    pub(crate) mask: u64,
    /// The mask a handler is entered with when it differs from `mask`: that of the call it interrupts
    /// (`sigsuspend`, `ppoll` and their kin).
    pub(crate) call_mask: Option<u64>,
    pub(crate) altstack: AltStack,
    /// Never-blocked signals that arrived while the guest blocked them.
    pub(crate) held: Vec<Pending>,
}

impl Signals {
    pub(crate) fn new(actions: Arc<Actions>, mask: u64) -> Self {
        Signals { actions, mask, call_mask: None, altstack: AltStack::NONE, held: Vec::new() }
    }

    /// Sets the guest's mask, in the kernel too. Only while nothing waits in the context and all is blocked.
    pub(crate) fn set_mask(&mut self, mask: u64) {
        self.mask = mask & !UNMASKABLE;
        set_kernel_mask(self.mask);
    }
}

/// Blocks in the kernel what the guest blocks, as far as that is possible.
pub(crate) fn set_kernel_mask(guest_mask: u64) {
    set_exact_mask(guest_mask & !NEVER_BLOCKED);
}

/// Blocks in the kernel just this, signals of faults and our own included.
pub(crate) fn set_exact_mask(mask: u64) {
    let args = [libc::SIG_SETMASK as u64, std::ptr::from_ref(&mask) as u64, 0, 8, 0, 0];
    // SAFETY: the kernel reads eight bytes.
    unsafe { super::sys::syscall(libc::SYS_rt_sigprocmask as u64, args) };
}

/// Blocks everything that the guest could block, so that nothing is caught while the state of signals changes.
pub(crate) fn block_all() {
    set_kernel_mask(!0);
}

/// Blocks what else the kernel lets one block, for the time in which a thread has no stack of its own to take signals
/// on: others may send it those of faults, too. A real fault then ends the process without a word.
pub(crate) fn block_faults_too() {
    set_exact_mask(!0);
}
