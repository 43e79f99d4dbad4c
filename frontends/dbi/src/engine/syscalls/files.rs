//! Calls that make, close and list descriptors: the engine's own survive them, unseen.

use super::call::{Answer, Call, fail, pass};
use super::table;
use crate::engine::thread::Thread;
use crate::engine::{descriptors, guest, sys};
use std::ops::RangeInclusive;

/// Moves the engine's descriptors out of the way of what the guest is about to replace or close.
fn vacate(thread: &Thread, numbers: RangeInclusive<u32>) {
    if thread.descriptors.vacate(*numbers.start(), *numbers.end()) {
        thread.process.forbid(table::of_descriptors());
    }
}

pub(super) fn close(thread: &mut Thread, call: &Call) -> Answer {
    let number = call.args[0] as u32;
    if thread.descriptors.hides(number as i32) {
        return fail(libc::EBADF);
    }
    vacate(thread, number..=number);
    pass(thread, call)
}

/// A call about one descriptor, its first argument.
pub(super) fn of_one(thread: &mut Thread, call: &Call) -> Answer {
    if thread.descriptors.hides(call.args[0] as i32) { fail(libc::EBADF) } else { pass(thread, call) }
}

pub(super) fn dup2(thread: &mut Thread, call: &Call) -> Answer {
    let [from, to] = [call.args[0] as u32, call.args[1] as u32];
    if thread.descriptors.hides(from as i32) {
        return fail(libc::EBADF);
    }
    if from != to && descriptors::flags(from as i32).is_some() {
        vacate(thread, to..=to);
    }
    pass(thread, call)
}

pub(super) fn close_range(thread: &mut Thread, call: &Call) -> Answer {
    const CLOEXEC: u32 = libc::CLOSE_RANGE_CLOEXEC;
    const UNSHARE: u32 = libc::CLOSE_RANGE_UNSHARE;
    let [first, last, flags] = [call.args[0], call.args[1], call.args[2]].map(|word| word as u32);
    if first > last || flags & !(CLOEXEC | UNSHARE) != 0 {
        return pass(thread, call);
    }
    if flags & UNSHARE != 0
        && let Err(errno) = unshare_files(thread)
    {
        return fail(errno);
    }
    if flags & CLOEXEC == 0 && (first..=last).contains(&(descriptors::STDERR as u32)) {
        let number = descriptors::STDERR as u32;
        vacate(thread, number..=number);
    }
    for part in around(first..=last, &thread.descriptors.hidden()) {
        let args = [u64::from(*part.start()), u64::from(*part.end()), u64::from(flags), 0, 0, 0];
        let answer = pass(thread, &Call { args, ..*call });
        if answer != Answer::Value(0) {
            return answer;
        }
    }
    Answer::Value(0)
}

/// The parts of a range of descriptors without the `hidden` ones, which ascend.
fn around(range: RangeInclusive<u32>, hidden: &[i32]) -> Vec<RangeInclusive<u32>> {
    let (mut first, last) = (*range.start(), *range.end());
    let mut parts = Vec::new();
    for number in hidden.iter().map(|&number| number as u32).filter(|number| range.contains(number)) {
        if first < number {
            parts.push(first..=number - 1);
        }
        first = number + 1;
    }
    if first <= last {
        parts.push(first..=last);
    }
    parts
}

pub(super) fn unshare(thread: &mut Thread, call: &Call) -> Answer {
    let answer = pass(thread, call);
    if answer == Answer::Value(0) && call.args[0] & libc::CLONE_FILES as u64 != 0 {
        thread.descriptors = thread.descriptors.duplicate();
    }
    answer
}

/// Takes away a name of a file, by which others may have found what this process has mapped.
pub(super) fn unlink(thread: &mut Thread, call: &Call) -> Answer {
    let process = thread.process;
    let mut answer = Answer::NotMade;
    let mut unlink = || answer = pass(thread, call);
    match process.hands_on() {
        Some(handed) => handed.unlinks(unlink),
        None => process.client.unlinks(&mut unlink),
    }
    answer
}

pub(super) fn socketpair(thread: &mut Thread, call: &Call) -> Answer {
    let answer = pass(thread, call);
    if answer == Answer::Value(0)
        && let Some(handed) = &thread.process.handed
        && let Ok(both) = guest::read::<[u32; 2]>(call.args[3])
    {
        handed.pair(both.map(u64::from));
    }
    answer
}

/// Gives the thread a descriptor table of its own, unless it has one.
fn unshare_files(thread: &mut Thread) -> Result<(), i32> {
    // SAFETY: copies a table of the kernel's.
    sys::check(unsafe { sys::syscall(libc::SYS_unshare as u64, [libc::CLONE_FILES as u64, 0, 0, 0, 0, 0]) })?;
    thread.descriptors = thread.descriptors.duplicate();
    Ok(())
}

pub(super) fn getdents(thread: &mut Thread, call: &Call) -> Answer {
    const NAME: usize = 18;
    list(thread, call, NAME)
}

pub(super) fn getdents64(thread: &mut Thread, call: &Call) -> Answer {
    const NAME: usize = 19;
    list(thread, call, NAME)
}

/// getdents(2) without the engine's descriptors. `name` is where an entry has its name.
fn list(thread: &mut Thread, call: &Call, name: usize) -> Answer {
    loop {
        let answer = pass(thread, call);
        let hidden = thread.descriptors.hidden();
        let Answer::Value(len @ 1..=MOST_BYTES) = answer else { return answer };
        if hidden.is_empty() || !lists_own_descriptors(call.args[0] as i32) {
            return answer;
        }
        let names: Vec<String> = hidden.iter().map(i32::to_string).collect();
        let Ok(entries) = guest::read_bytes(call.args[1], len as usize) else { return answer };
        let rest = without(&entries, name, &names);
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

/// Tells whether the open directory is one of the process's own with its descriptors: proc(5), fd and fdinfo.
fn lists_own_descriptors(directory: i32) -> bool {
    let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{directory}")) else { return false };
    let own = path.strip_prefix(format!("/proc/{}", std::process::id()));
    own.is_ok_and(|rest| matches!(rest.file_name().and_then(|name| name.to_str()), Some("fd" | "fdinfo")))
}

/// The directory entries but those named `hidden`. Each has its length in bytes 16 and 17.
fn without(entries: &[u8], name: usize, hidden: &[String]) -> Vec<u8> {
    const LENGTH: usize = 16;
    let mut rest = Vec::with_capacity(entries.len());
    let mut at = 0;
    while let Some([low, high]) = entries.get(at + LENGTH..at + LENGTH + 2) {
        let end = at + usize::from(u16::from_le_bytes([*low, *high])).max(name);
        let Some(entry) = entries.get(at..end) else { break };
        let called = entry[name..].split(|&byte| byte == 0).next().unwrap_or_default();
        if !hidden.iter().any(|hidden| hidden.as_bytes() == called) {
            rest.extend_from_slice(entry);
        }
        at = end;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_descriptors_are_left_out_of_ranges() {
        assert_eq!(around(3..=9, &[]), [3..=9]);
        assert_eq!(around(3..=9, &[1, 12]), [3..=9]);
        assert_eq!(around(3..=9, &[5, 6]), [3..=4, 7..=9]);
        assert_eq!(around(3..=9, &[3, 9]), [4..=8]);
        assert_eq!(around(5..=5, &[5]), []);
        assert_eq!(around(0..=u32::MAX, &[900]), [0..=899, 901..=u32::MAX]);
    }
}
