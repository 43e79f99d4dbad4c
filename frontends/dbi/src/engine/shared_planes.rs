//! Mirrors of memory that processes share, or that one has mapped twice: shared likewise, so that shadows go where bytes do.
//!
//! Knows ranges of guest memory whose mirror is no private memory any more, and gives them private memory back. What is
//! shared with whom is its callers' business.

use super::layout::{PAGE, page_ceil, page_floor};
use super::lock::Lock;
use super::plane_map::{self, PLANE};
use super::sys;

/// Ranges of guest memory, disjoint.
static SHARED: Lock<Vec<(u64, u64)>> = Lock::new(Vec::new());

/// Keeps other threads out across a `fork`, until dropped on both sides.
pub(crate) fn hold() -> impl Sized {
    SHARED.lock()
}

/// Guest memory at `start` is shared with the children to come: its mirror, which is empty, is too.
pub(crate) fn share_fresh(start: u64, len: u64) {
    if !plane_map::has(start, len) {
        return;
    }
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the range lies in the plane, which holds no Rust object.
    if unsafe { sys::mmap(PLANE + start, len, access, flags, -1, 0) }.is_ok() {
        note(start, len);
    }
}

/// The mirror of guest memory at `start` is the memory at `window`, which is shared memory of the engine's own.
pub(crate) fn share_window(start: u64, len: u64, window: u64) {
    if plane_map::has(start, len) && alias(window, start, len) {
        note(start, len);
    }
}

/// Guest memory at `old` has moved to `new`, or is there as well if `old_len` is 0. False unless its mirror is shared.
pub(crate) fn moved(old: u64, old_len: u64, new: u64, new_len: u64) -> bool {
    let holds = |&&(start, end): &&(u64, u64)| start <= old && old < end;
    let Some((_, end)) = SHARED.lock().iter().find(holds).copied() else { return false };
    if old != new {
        let len = new_len.min(end - old);
        if alias(PLANE + old, new, len) {
            note(new, len);
        }
        make_private(old, old_len);
    } else if new_len < old_len {
        make_private(old + new_len, old_len - new_len);
    }
    true
}

/// Guest memory at `start` is shared no more: what was of its mirror is private memory again, and empty.
pub(crate) fn make_private(start: u64, len: u64) {
    let (start, end) = (page_floor(start), page_ceil(start.saturating_add(len)));
    let mut shared = SHARED.lock();
    let concerned: Vec<(u64, u64)> =
        shared.extract_if(.., |&mut (from, to)| from < end && start < to).collect();
    for (from, to) in concerned {
        shared.extend([(from, start), (end, to)].into_iter().filter(|(from, to)| from < to));
        plane_map::map_private(from.max(start), to.min(end));
    }
}

fn note(start: u64, len: u64) {
    SHARED.lock().push((start, start + page_ceil(len)));
}

/// Maps the shared memory at `from` as the mirror of guest memory at `start`, too.
fn alias(from: u64, start: u64, len: u64) -> bool {
    const WAYS: u64 = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64;
    let args = [from, 0, len.max(PAGE), WAYS, PLANE + start, 0];
    // SAFETY: a length of 0 leaves what is there, and what is replaced lies in the plane, which holds no Rust object.
    sys::check(unsafe { sys::syscall(libc::SYS_mremap as u64, args) }).is_ok()
}
