//! Calls that wait with a signal mask of their own. The mask the kernel gets leaves out what must never be blocked,
//! and the one the guest's handler builds on is remembered.

use super::call::{Answer, Call, fail, pass, was_kicked};
use super::signals::signal_waits;
use crate::engine::signals::{NEVER_BLOCKED, Pending, UNMASKABLE, bit, block_all, set_kernel_mask};
use crate::engine::switch::{self, NOT_MADE};
use crate::engine::thread::Thread;
use crate::engine::{guest, sys};
use crate::mailbox::PENDING_PLACES;

const SET_BYTES: u64 = 8;

pub(super) fn sigsuspend(thread: &mut Thread, call: &Call) -> Answer {
    let [set, size, ..] = call.args;
    if size != SET_BYTES {
        return fail(libc::EINVAL);
    }
    let Ok(mask) = guest::read::<u64>(set) else { return fail(libc::EFAULT) };
    let mask = mask & !UNMASKABLE;
    if thread.signals.held.iter().any(|p| mask & bit(p.signal) == 0) {
        thread.signals.call_mask = Some(mask);
        thread.mailbox.request();
        return fail(libc::EINTR);
    }
    with_mask(thread, mask, |kernel_mask| [call.number, kernel_mask, SET_BYTES, 0, 0, 0, 0])
}

pub(super) fn ppoll(thread: &mut Thread, call: &Call) -> Answer {
    let [fds, count, timeout, set, size, _] = call.args;
    masked(thread, call, set, |kernel_mask| [call.number, fds, count, timeout, kernel_mask, size, 0])
}

pub(super) fn epoll_pwait(thread: &mut Thread, call: &Call) -> Answer {
    let [epoll, events, count, timeout, set, size] = call.args;
    masked(thread, call, set, |kernel_mask| [call.number, epoll, events, count, timeout, kernel_mask, size])
}

pub(super) fn pselect6(thread: &mut Thread, call: &Call) -> Answer {
    indirectly_masked(thread, call)
}

pub(super) fn io_pgetevents(thread: &mut Thread, call: &Call) -> Answer {
    indirectly_masked(thread, call)
}

/// The last argument points to a set's address and size.
fn indirectly_masked(thread: &mut Thread, call: &Call) -> Answer {
    let [a, b, c, d, e, packed] = call.args;
    if packed == 0 {
        return pass(thread, call);
    }
    let Ok([set, size]) = guest::read::<[u64; 2]>(packed) else { return fail(libc::EFAULT) };
    let mut pair = [0, size];
    let pair_at = pair.as_mut_ptr();
    masked(thread, call, set, move |kernel_mask| {
        // SAFETY: `pair` outlives the call that reads it: both live in this function's frame.
        unsafe { pair_at.write(kernel_mask) };
        [call.number, a, b, c, d, e, pair_at as u64]
    })
}

fn masked(thread: &mut Thread, call: &Call, set: u64, words: impl FnOnce(u64) -> [u64; 7]) -> Answer {
    if set == 0 {
        return pass(thread, call);
    }
    let Ok(mask) = guest::read::<u64>(set) else { return fail(libc::EFAULT) };
    with_mask(thread, mask & !UNMASKABLE, words)
}

/// Makes the call with `mask`; `words` builds it from the address of the mask for the kernel.
fn with_mask(thread: &mut Thread, mask: u64, words: impl FnOnce(u64) -> [u64; 7]) -> Answer {
    let kernel_mask = mask & !NEVER_BLOCKED;
    let words = words(std::ptr::from_ref(&kernel_mask) as u64);
    // SAFETY: these calls wait and write results where the guest says.
    let call_kernel = || unsafe { switch::guest_syscall(&words, thread.mailbox) };
    let result = thread.process.threads.away(thread.mailbox, call_kernel);
    if result == NOT_MADE || was_kicked(thread, result) {
        return Answer::NotMade;
    }
    if sys::error_of(result) == Some(libc::EINTR) {
        thread.signals.call_mask = Some(mask);
    }
    Answer::Value(result)
}

pub(super) fn sigtimedwait(thread: &mut Thread, call: &Call) -> Answer {
    let [set, info, _, size, ..] = call.args;
    if size != SET_BYTES {
        return fail(libc::EINVAL);
    }
    let Ok(wanted) = guest::read::<u64>(set) else { return fail(libc::EFAULT) };
    if let Some(pending) = take_held(thread, wanted) {
        if info != 0 && guest::write(info, pending.info).is_err() {
            return fail(libc::EFAULT);
        }
        return Answer::Value(u64::from(pending.signal));
    }
    let answer = pass(thread, call);
    if answer == fail(libc::EINTR) && hold_wanted(thread, wanted) {
        return Answer::NotMade;
    }
    answer
}

fn take_held(thread: &mut Thread, wanted: u64) -> Option<Pending> {
    let index = thread.signals.held.iter().position(|p| wanted & bit(p.signal) != 0)?;
    Some(thread.signals.held.remove(index))
}

/// A signal that cannot be blocked in the kernel interrupted the wait for it: it is held for the next attempt.
fn hold_wanted(thread: &mut Thread, wanted: u64) -> bool {
    block_all();
    let wanted = wanted & NEVER_BLOCKED & thread.signals.mask;
    let mut found = false;
    for place in 0..PENDING_PLACES {
        if let Some(signal) = thread.mailbox.take_if(place, |signal| wanted & bit(signal.signal) != 0) {
            thread.signals.held.push(Pending { signal: signal.signal, info: signal.info });
            found = true;
        }
    }
    if !signal_waits(thread) {
        set_kernel_mask(thread.signals.mask);
    }
    found
}
