//! Calls that close descriptors: the engine's message stream survives them.
//!
//! The engine writes to descriptor 2 until the guest takes it away; only then does it keep a duplicate of its own,
//! high up, which the guest cannot close.

use super::{Answer, Call, fail, pass};
use crate::engine::thread::Thread;
use crate::engine::{diagnose, sys};
use std::sync::atomic::{AtomicI32, Ordering};

/// The engine's duplicate of its message stream, or -1.
static PRIVATE: AtomicI32 = AtomicI32::new(-1);

const STDERR: u64 = 2;

/// Moves the engine's message stream out of the way before the guest replaces descriptor `fd`.
fn vacate(fd: u64) {
    const FIRST_TRY: i32 = 900;
    let private = PRIVATE.load(Ordering::Relaxed);
    let needed = if private < 0 { fd == STDERR } else { fd == private as u64 };
    if !needed {
        return;
    }
    let from = if private < 0 { 2 } else { private };
    let duplicate = |least: i32| {
        let args = [from as u64, libc::F_DUPFD_CLOEXEC as u64, least as u64, 0, 0, 0];
        // SAFETY: makes a new descriptor, no more.
        sys::check(unsafe { sys::syscall(libc::SYS_fcntl as u64, args) }).ok()
    };
    // Without room so high, anywhere above the standard streams.
    if let Some(new) = duplicate(FIRST_TRY).or_else(|| duplicate(3)) {
        PRIVATE.store(new as i32, Ordering::Relaxed);
        diagnose::set_stderr(new as i32);
    }
}

fn is_private(fd: u64) -> bool {
    let private = PRIVATE.load(Ordering::Relaxed);
    private >= 0 && fd as u32 == private as u32
}

pub(super) fn close(thread: &mut Thread, call: &Call) -> Answer {
    if is_private(call.args[0]) {
        return fail(libc::EBADF);
    }
    if call.args[0] as u32 == 2 {
        vacate(STDERR);
    }
    pass(thread, call)
}

pub(super) fn dup2(thread: &mut Thread, call: &Call) -> Answer {
    let [from, to, ..] = call.args;
    if is_private(from) {
        return fail(libc::EBADF);
    }
    if from as u32 != to as u32 {
        vacate(u64::from(to as u32));
    }
    pass(thread, call)
}

pub(super) fn close_range(thread: &mut Thread, call: &Call) -> Answer {
    let [first, last, flags, ..] = call.args.map(u64::from);
    let (first, last) = (first & 0xffff_ffff, last & 0xffff_ffff);
    if first > last {
        return pass(thread, call);
    }
    if (first..=last).contains(&STDERR) && flags & u64::from(libc::CLOSE_RANGE_CLOEXEC) == 0 {
        vacate(STDERR);
    }
    let private = PRIVATE.load(Ordering::Relaxed);
    if private < 0 || !(first..=last).contains(&(private as u64)) {
        return pass(thread, call);
    }
    let private = private as u64;
    let part = |thread: &mut Thread, from: u64, to: u64| {
        let mut part = *call;
        part.args[0] = from;
        part.args[1] = to;
        if from <= to { pass(thread, &part) } else { Answer::Value(0) }
    };
    let low = if private > first { part(thread, first, private - 1) } else { Answer::Value(0) };
    match low {
        Answer::Value(0) => part(thread, private + 1, last),
        other => other,
    }
}
