//! A system call, its answer, and the ways to give one: by the kernel, an error, a signal in its place.

use crate::engine::signals::Pending;
use crate::engine::signals::frame::Trap;
use crate::engine::switch::{self, NOT_MADE};
use crate::engine::sys;
use crate::engine::thread::Thread;

/// A system call as the guest asked for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) args: [u64; 6],
}

/// Outcome of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The value for rax.
    Value(u64),
    /// A signal must be delivered first; the guest then makes the call again.
    NotMade,
    /// The guest's registers, pc included, have been replaced.
    Replaced,
    /// The thread ends with this status.
    Exit(i32),
}

/// The answer that is an error.
pub(crate) const fn fail(errno: i32) -> Answer {
    Answer::Value(sys::errno(errno))
}

/// Number of this architecture in `si_arch` and filters (`linux/audit.h`).
pub(super) const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

/// Sends `SIGSYS` in place of a call that would have returned to `pc`; `code` and `errno` say why (sigaction(2)).
pub(super) fn raise_sigsys(thread: &mut Thread, call: &Call, pc: u64, code: u64, errno: u32) {
    let mut info = [0; 16];
    info[0] = libc::SIGSYS as u64 | u64::from(errno) << 32;
    info[1] = code;
    info[2] = pc;
    info[3] = call.number | u64::from(AUDIT_ARCH_X86_64) << 32;
    let eflags = thread.context.rflags;
    thread.raise(&Pending { signal: libc::SIGSYS as u32, info }, Trap::default(), eflags);
}

/// Tells whether a call was interrupted by no signal of the guest's, so that it has to be made again.
pub(super) fn was_kicked(thread: &Thread, result: u64) -> bool {
    sys::error_of(result) == Some(libc::EINTR) && !thread.mailbox.has_signal()
}

/// Makes pages that we write-protected writable again after a call failed on one; false if there were none.
pub(super) fn release_watched(thread: &mut Thread) -> bool {
    let process = thread.process;
    let released = process.changes.release_all(&process.space.lock());
    if released {
        process.threads.await_change(&thread.handle, &process.changes);
        thread.mailbox.request();
    }
    released
}

/// Hands a call to the kernel as it is.
pub(crate) fn pass(thread: &mut Thread, call: &Call) -> Answer {
    let [a, b, c, d, e, f] = call.args;
    let words = [call.number, a, b, c, d, e, f];
    // SAFETY: calls that could map over or unmap the engine, or change its signals, have handlers of their own; the
    // rest touch the guest's memory only, where the guest says.
    let call_kernel = || unsafe { switch::guest_syscall(&words, thread.mailbox) };
    let result = thread.process.threads.away(thread.mailbox, call_kernel);
    if result == NOT_MADE || was_kicked(thread, result) {
        return Answer::NotMade;
    }
    if sys::error_of(result) == Some(libc::EFAULT) && release_watched(thread) {
        return pass(thread, call);
    }
    Answer::Value(result)
}
