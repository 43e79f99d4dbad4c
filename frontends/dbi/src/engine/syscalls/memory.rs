//! Calls that change the guest's address space. The engine chooses every address the guest leaves open.

mod map;

use super::call::{Answer, Call, fail, pass};
use crate::engine::layout::{GUEST_END, PAGE, page_ceil};
use crate::engine::lock::Guard;
use crate::engine::space::{Purpose, Region, Space};
use crate::engine::thread::Thread;
use crate::engine::{arena, sys};
pub(super) use map::mmap;

/// Stands in the book for memory that was given up, until nothing is known of what was there: another thread that got the range
/// before would lose what it puts there.
const GIVEN_UP: Region = Region { prot: libc::PROT_NONE, shared: false, file: false, grows_down: false };

pub(super) fn munmap(thread: &mut Thread, call: &Call) -> Answer {
    let [start, len, ..] = call.args;
    let Some(end) = guest_range(start, len) else { return fail(libc::EINVAL) };
    let process = thread.process;
    let space = process.space.lock();
    let concerns = code_may_change(thread, &space, start, end);
    // SAFETY: the range is the guest's.
    let result = unsafe { sys::syscall(libc::SYS_munmap as u64, [start, len, 0, 0, 0, 0]) };
    if result == 0 {
        give_up(thread, space, (start, end), concerns);
    }
    Answer::Value(result)
}

/// Keeps a range that the kernel has taken back from other threads, until nothing is known any more of what was there: of its code, if
/// it `concerns` some, and of its floats.
fn give_up(thread: &mut Thread, mut space: Guard<'_, Space>, (start, end): (u64, u64), concerns: bool) {
    space.insert(start, end, GIVEN_UP);
    changed(thread, (space, concerns), &[(start, end)]);
    thread.unmapped(start, end - start);
    thread.process.space.lock().remove(start, end);
}

/// The end of the guest's range `start..start + len`, if that is what it is.
fn guest_range(start: u64, len: u64) -> Option<u64> {
    let len = page_ceil(len);
    let end = start.checked_add(len)?;
    (start.is_multiple_of(PAGE) && len != 0 && end <= GUEST_END && !arena::overlaps(start, end))
        .then_some(end)
}

pub(super) fn mprotect(thread: &mut Thread, call: &Call) -> Answer {
    let [start, len, prot, ..] = call.args;
    if len == 0 {
        return pass(thread, call);
    }
    let Some(end) = guest_range(start, len) else {
        return fail(if start.is_multiple_of(PAGE) { libc::ENOMEM } else { libc::EINVAL });
    };
    let process = thread.process;
    let mut space = process.space.lock();
    let concerns = process.changes.concerns(start, end);
    let mut changed_call = *call;
    // Stacks do not grow into what lies below them here, and so neither does the protection.
    changed_call.args[2] = prot & !(libc::PROT_GROWSDOWN as u64);
    let mut words = [0; 6];
    words.copy_from_slice(&changed_call.args);
    // SAFETY: the range is the guest's.
    let result = unsafe { sys::syscall(call.number, words) };
    // A failure in the middle leaves what lies before it changed: the book follows page by page only on success,
    // and keeps the more permissive view otherwise.
    if result == 0 {
        space.protect(start, end, prot as i32 & 7);
    }
    changed(thread, (space, concerns), &[(start, end)]);
    Answer::Value(result)
}

pub(super) fn brk(thread: &mut Thread, call: &Call) -> Answer {
    let wanted = call.args[0];
    let process = thread.process;
    let mut heap = process.heap.lock();
    if !(heap.start..=heap.limit).contains(&wanted) {
        return Answer::Value(heap.end);
    }
    let (old, new) = (page_ceil(heap.end), page_ceil(wanted));
    let mut space = process.space.lock();
    if new > old {
        let region = Region {
            prot: libc::PROT_READ | libc::PROT_WRITE,
            shared: false,
            file: false,
            grows_down: false,
        };
        if !space.is_free(old, new) || sys::map_at(old, new - old, region.prot).is_err() {
            return Answer::Value(heap.end);
        }
        space.insert(old, new, region);
    } else if new < old {
        // SAFETY: the range is the guest's heap.
        unsafe { sys::syscall(libc::SYS_munmap as u64, [new, old - new, 0, 0, 0, 0]) };
        give_up(thread, space, (new, old), false);
    }
    heap.end = wanted;
    Answer::Value(wanted)
}

pub(super) fn mremap(thread: &mut Thread, call: &Call) -> Answer {
    let [old, old_len, new_len, flags, new, _] = call.args;
    let (old_len, new_len) = (page_ceil(old_len), page_ceil(new_len));
    let request = Remap { old, old_len, new_len, flags, new };
    if request.is_malformed() {
        return fail(libc::EINVAL);
    }
    let process = thread.process;
    let mut space = process.space.lock();
    let (region, target) = match request.target(&mut space) {
        Ok(found) => found,
        Err(errno) => return fail(errno),
    };
    let end = (old + old_len).max(old + PAGE);
    let concerns = code_may_change(thread, &space, old, end)
        || target.is_some_and(|at| code_may_change(thread, &space, at, at + new_len));
    let result = match request.ask_kernel(target, region, &mut space) {
        Ok(result) => result,
        Err(failed) => return Answer::Value(failed),
    };
    changed(thread, (space, concerns), &[(old, end), (result, result + new_len)]);
    thread.moved(old, old_len, result, new_len);
    let (start, end) = request.given_up(result);
    if start < end {
        process.space.lock().remove(start, end);
    }
    Answer::Value(result)
}

/// Request to move or resize a mapping; lengths are whole pages.
struct Remap {
    old: u64,
    old_len: u64,
    new_len: u64,
    flags: u64,
    new: u64,
}

impl Remap {
    const FIXED: u64 = libc::MREMAP_FIXED as u64;
    const MAY_MOVE: u64 = libc::MREMAP_MAYMOVE as u64;
    const DONT_UNMAP: u64 = libc::MREMAP_DONTUNMAP as u64;

    fn has(&self, flags: u64) -> bool {
        self.flags & flags != 0
    }

    fn is_malformed(&self) -> bool {
        !self.old.is_multiple_of(PAGE)
            || self.new_len == 0
            || self.has(!(Self::FIXED | Self::MAY_MOVE | Self::DONT_UNMAP))
            || self.has(Self::FIXED | Self::DONT_UNMAP) && !self.has(Self::MAY_MOVE)
            || self.has(Self::DONT_UNMAP) && self.old_len != self.new_len
    }

    /// The mapping's region, and where it goes to, if it does not stay where it is; or the error.
    fn target(&self, space: &mut Space) -> Result<(Region, Option<u64>), i32> {
        let &Remap { old, old_len, new_len, new, .. } = self;
        let end = old.checked_add(old_len.max(1));
        let whole = end.filter(|&end| end <= GUEST_END && !arena::overlaps(old, end));
        let (Some(_), Some((_, _, region))) = (whole, space.find(old)) else { return Err(libc::EFAULT) };
        if self.has(Self::FIXED) {
            guest_range(new, new_len).ok_or(libc::EINVAL)?;
            return Ok((region, Some(new)));
        }
        let has_room = || new_len <= old_len || space.is_free(old + old_len, old + new_len);
        if !self.has(Self::DONT_UNMAP) && has_room() {
            return Ok((region, None));
        }
        if !self.has(Self::MAY_MOVE) {
            return Err(libc::ENOMEM);
        }
        let purpose = if region.executable() { Purpose::Code } else { Purpose::Data };
        Ok((region, Some(space.pick(new_len, purpose).ok_or(libc::ENOMEM)?)))
    }

    /// The range that is no mapping any more, now that it is at `at`; it may be empty.
    fn given_up(&self, at: u64) -> (u64, u64) {
        let &Remap { old, old_len, new_len, .. } = self;
        match at == old {
            _ if self.has(Self::DONT_UNMAP) => (old, old),
            true => (old + new_len, old + old_len),
            false => (old, old + old_len),
        }
    }

    /// Has the kernel move the mapping to `target`, or leave it where it is: the address, or what the kernel says instead.
    fn ask_kernel(&self, target: Option<u64>, region: Region, space: &mut Space) -> Result<u64, u64> {
        let &Remap { old, old_len, new_len, flags, .. } = self;
        let (flags, new) = match target {
            Some(at) => (flags | Self::FIXED | Self::MAY_MOVE, at),
            None => (flags & !Self::MAY_MOVE, 0),
        };
        // SAFETY: both ranges are the guest's or free.
        let result = unsafe { sys::syscall(libc::SYS_mremap as u64, [old, old_len, new_len, flags, new, 0]) };
        if sys::error_of(result).is_some() {
            return Err(result);
        }
        if !self.has(Self::DONT_UNMAP) {
            space.insert(old, old + old_len, GIVEN_UP);
        }
        space.insert(result, result + new_len, region);
        Ok(result)
    }
}

pub(super) fn madvise(thread: &mut Thread, call: &Call) -> Answer {
    let [start, len, advice, ..] = call.args;
    let discards = [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE].contains(&(advice as i32));
    let answer = pass(thread, call);
    if discards
        && answer == Answer::Value(0)
        && let Some(end) = guest_range(start, len)
    {
        if thread.process.changes.concerns(start, end) {
            rewritten(thread, start, end);
        }
        let parts: Vec<_> = thread.process.space.lock().overlapping(start, end).collect();
        for (from, to, region) in parts {
            let (from, to) = (from.max(start), to.min(end));
            match region.shared {
                false => thread.unmapped(from, to - from),
                true if advice as i32 == libc::MADV_REMOVE => thread.kernel_wrote(from, to - from),
                // What others have too is still there.
                true => {}
            }
        }
    }
    answer
}

/// Locking everything would fill the mirror, which is as large as the address space: with one, it is refused as for want
/// of memory that may be locked. Single ranges can be locked.
pub(super) fn mlockall(thread: &mut Thread, call: &Call) -> Answer {
    if thread.process.has_mirror() { fail(libc::ENOMEM) } else { pass(thread, call) }
}

/// Writes another process's memory, or by the long way round one's own.
pub(super) fn process_vm_writev(thread: &mut Thread, call: &Call) -> Answer {
    let answer = pass(thread, call);
    if call.args[0] as u32 == std::process::id() {
        rewritten(thread, 0, GUEST_END);
    }
    answer
}

pub(super) fn shmat(thread: &mut Thread, call: &Call) -> Answer {
    let [id, address, flags, ..] = call.args;
    let Some(len) = segment_size(id) else { return pass(thread, call) };
    let process = thread.process;
    let mut space = process.space.lock();
    let rounded = if flags & libc::SHM_RND as u64 != 0 { address & !(PAGE - 1) } else { address };
    let at = match rounded {
        0 => space.pick(len, Purpose::Data),
        at => guest_range(at, len).map(|_| at),
    };
    let Some(at) = at else { return fail(libc::EINVAL) };
    // SAFETY: the kernel refuses to map over anything unless SHM_REMAP says so, and then the range is the guest's.
    let result = unsafe { sys::syscall(libc::SYS_shmat as u64, [id, at, flags, 0, 0, 0]) };
    if sys::error_of(result).is_none() {
        let write = if flags & libc::SHM_RDONLY as u64 != 0 { 0 } else { libc::PROT_WRITE };
        let exec = if flags & libc::SHM_EXEC as u64 != 0 { libc::PROT_EXEC } else { 0 };
        let region =
            Region { prot: libc::PROT_READ | write | exec, shared: true, file: true, grows_down: false };
        space.insert(result, result + len, region);
        drop(space);
        if let Some(handed) = thread.process.hands_on() {
            handed.attached(id, (result, len));
        }
        thread.client().attaches(thread, (result, len));
    }
    Answer::Value(result)
}

fn segment_size(id: u64) -> Option<u64> {
    // SAFETY: zero bytes are a valid value of this C structure.
    let mut status: libc::shmid_ds = unsafe { std::mem::zeroed() };
    let args = [id, libc::IPC_STAT as u64, std::ptr::from_mut(&mut status) as u64, 0, 0, 0];
    // SAFETY: the kernel fills the structure.
    let result = unsafe { sys::syscall(libc::SYS_shmctl as u64, args) };
    (result == 0).then(|| page_ceil(status.shm_segsz as u64))
}

pub(super) fn shmdt(thread: &mut Thread, call: &Call) -> Answer {
    let start = call.args[0];
    let process = thread.process;
    let space = process.space.lock();
    let region = space.find(start);
    // SAFETY: detaches a segment the guest attached.
    let result = unsafe { sys::syscall(libc::SYS_shmdt as u64, [start, 0, 0, 0, 0, 0]) };
    if let (0, Some((_, end, _))) = (result, region) {
        give_up(thread, space, (start, end), true);
    }
    Answer::Value(result)
}

pub(super) fn remap_file_pages(thread: &mut Thread, call: &Call) -> Answer {
    let answer = pass(thread, call);
    if let Some(end) = guest_range(call.args[0], call.args[1])
        && thread.process.changes.concerns(call.args[0], end)
    {
        rewritten(thread, call.args[0], end);
    }
    answer
}

fn code_may_change(thread: &Thread, space: &Space, start: u64, end: u64) -> bool {
    space.overlapping(start, end).any(|(_, _, region)| region.executable())
        || thread.process.changes.concerns(start, end)
}

/// Lets go of the book, in which the ranges have changed. If that `concerns` code, makes every thread forget what it made from them, and
/// waits until none can run it any more. Their pages are watched no more before another thread can find what is mapped there now: it
/// may make code of that, and watch it.
fn changed(thread: &mut Thread, (space, concerns): (Guard<'_, Space>, bool), ranges: &[(u64, u64)]) {
    if !concerns {
        return;
    }
    let process = thread.process;
    ranges.iter().for_each(|&(start, end)| process.changes.record(start, end));
    drop(space);
    process.threads.await_change(&thread.handle, &process.changes);
    thread.mailbox.request();
}

/// Makes every thread forget the code it made from the range, whose mappings are what they were.
pub(super) fn rewritten(thread: &mut Thread, start: u64, end: u64) {
    let process = thread.process;
    process.changes.rewritten(start, end);
    process.threads.await_change(&thread.handle, &process.changes);
    thread.mailbox.request();
}
