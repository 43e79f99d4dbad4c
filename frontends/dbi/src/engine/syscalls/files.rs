//! Calls that close and list descriptors: the engine's message stream survives them, unseen.
//!
//! The engine writes to descriptor 2 until the guest takes it away; only then does it keep a duplicate of its own,
//! high up, which the guest cannot close.

use super::{Answer, Call, fail, pass};
use crate::engine::thread::Thread;
use crate::engine::{descriptors, diagnose, guest};
use std::sync::atomic::{AtomicI32, Ordering};

/// The engine's duplicate of its message stream, or -1.
static PRIVATE: AtomicI32 = AtomicI32::new(-1);

const STDERR: u64 = 2;

/// Moves the engine's message stream out of the way before the guest replaces descriptor `fd`.
fn vacate(fd: u64) {
    let private = PRIVATE.load(Ordering::Relaxed);
    let needed = if private < 0 { fd == STDERR } else { fd == private as u64 };
    if !needed {
        return;
    }
    let from = if private < 0 { 2 } else { private };
    if let Ok(new) = descriptors::duplicate(from, true) {
        PRIVATE.store(new, Ordering::Relaxed);
        diagnose::set_stderr(new);
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

pub(super) fn getdents(thread: &mut Thread, call: &Call) -> Answer {
    const NAME: usize = 18;
    list(thread, call, NAME)
}

pub(super) fn getdents64(thread: &mut Thread, call: &Call) -> Answer {
    const NAME: usize = 19;
    list(thread, call, NAME)
}

/// getdents(2) without the engine's descriptor. `name` is where an entry has its name.
fn list(thread: &mut Thread, call: &Call, name: usize) -> Answer {
    loop {
        let answer = pass(thread, call);
        let private = PRIVATE.load(Ordering::Relaxed);
        let Answer::Value(len @ 1..=MOST_BYTES) = answer else { return answer };
        if private < 0 || !lists_own_descriptors(call.args[0] as i32) {
            return answer;
        }
        let Ok(entries) = guest::read_bytes(call.args[1], len as usize) else { return answer };
        let rest = without(&entries, name, private.to_string().as_bytes());
        if guest::write_bytes(call.args[1], &rest).is_err() {
            return fail(libc::EFAULT);
        }
        // Nothing at all would mean the end of the directory.
        if !rest.is_empty() {
            return Answer::Value(rest.len() as u64);
        }
    }
}

/// More than the kernel ever returns from one call; errors lie above.
const MOST_BYTES: u64 = i32::MAX as u64;

/// Whether the open directory is one of the process's own with its descriptors: proc(5), fd and fdinfo.
fn lists_own_descriptors(directory: i32) -> bool {
    let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{directory}")) else { return false };
    let own = path.strip_prefix(format!("/proc/{}", std::process::id()));
    own.is_ok_and(|rest| matches!(rest.file_name().and_then(|name| name.to_str()), Some("fd" | "fdinfo")))
}

/// The directory entries but that named `hidden`. Each has its length in bytes 16 and 17.
fn without(entries: &[u8], name: usize, hidden: &[u8]) -> Vec<u8> {
    const LENGTH: usize = 16;
    let mut rest = Vec::with_capacity(entries.len());
    let mut at = 0;
    while let Some([low, high]) = entries.get(at + LENGTH..at + LENGTH + 2) {
        let end = at + usize::from(u16::from_le_bytes([*low, *high])).max(name);
        let Some(entry) = entries.get(at..end) else { break };
        if entry[name..].split(|&byte| byte == 0).next() != Some(hidden) {
            rest.extend_from_slice(entry);
        }
        at = end;
    }
    rest
}
