//! Syscall user dispatch: outside a range of code of its own, a thread's system calls become `SIGSYS`.
//!
//! The kernel's rules are those of prctl(2), `PR_SET_SYSCALL_USER_DISPATCH`. They are kept here, per thread, because the
//! kernel would go by where the engine makes its calls.

use super::call::{Answer, Call, fail, raise_sigsys};
use crate::engine::guest;
use crate::engine::layout::CANONICAL_END;
use crate::engine::thread::{Thread, UserDispatch};

/// `PR_SET_SYSCALL_USER_DISPATCH`.
pub(super) const OPERATION: u64 = 59;

/// Turns it on or off for the calling thread.
pub(super) fn set(thread: &mut Thread, call: &Call) -> Answer {
    const OFF: u64 = 0;
    const ON: u64 = 1;
    let [_, mode, start, len, selector, _] = call.args;
    match mode {
        OFF if start | len | selector == 0 => thread.user_dispatch = None,
        ON if start != 0 && start.wrapping_add(len) <= start => return fail(libc::EINVAL),
        ON if selector >= CANONICAL_END => return fail(libc::EFAULT),
        ON => {
            thread.user_dispatch = Some(UserDispatch { start, len, selector });
            // From now on every call is looked at.
            thread.process.forbid_plain_calls();
        }
        _ => return fail(libc::EINVAL),
    }
    Answer::Value(0)
}

/// Outcome of a call that returns to `pc`; `None` lets it through.
pub(super) fn judge(thread: &mut Thread, call: &Call, pc: u64) -> Option<Answer> {
    const ALLOW: u8 = 0;
    const BLOCK: u8 = 1;
    const SYS_USER_DISPATCH: u64 = 2;
    let UserDispatch { start, len, selector } = thread.user_dispatch?;
    if pc.wrapping_sub(start) < len {
        return None;
    }
    let verdict = if selector == 0 { Ok(BLOCK) } else { guest::read::<u8>(selector) };
    match verdict {
        Ok(ALLOW) => return None,
        Ok(BLOCK) => raise_sigsys(thread, call, pc, SYS_USER_DISPATCH, 0),
        Ok(_) => thread.end_by(libc::SIGSYS as u32),
        Err(guest::Fault) => thread.end_by(libc::SIGSEGV as u32),
    }
    Some(Answer::Replaced)
}
