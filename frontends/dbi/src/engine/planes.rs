//! The mirror plane: for every byte of guest memory one byte of shadow, at the guest's address + [`PLANE`].
//!
//! Knows bytes; what they mean is the client's business.

use super::layout::{PAGE, page_ceil, page_floor};
use super::{guest, shared_planes, sys};
use std::ops::Range;

pub(crate) use super::plane_map::{GS_BASE, PLANE, has, map};

/// Whole pages of guest memory are gone, and their shadows with them.
pub(crate) fn discard(start: u64, len: u64) {
    let (start, end) = (page_floor(start), page_ceil(start.saturating_add(len)));
    if has(start, end.saturating_sub(start)) && end > start {
        shared_planes::make_private(start, end - start);
        let args = [PLANE + start, end - start, libc::MADV_DONTNEED as u64, 0, 0, 0];
        // SAFETY: the range lies in the plane, which holds no Rust object.
        unsafe { sys::syscall(libc::SYS_madvise as u64, args) };
    }
}

/// The mirror of `len` guest bytes at `address`; nothing if they have none.
///
/// The plane is shared by all guest threads and written by translated code: like guest memory itself it is read and
/// written as raw bytes, never kept borrowed.
fn raw(address: u64, len: usize) -> Option<*mut u8> {
    has(address, len as u64).then_some((PLANE + address) as *mut u8)
}

/// Copies the mirror of guest bytes at `address` to `into`; zeros where there is none.
pub(crate) fn read(address: u64, into: &mut [u8]) {
    match raw(address, into.len()) {
        // SAFETY: the plane is mapped over that range, and `into` is ours.
        Some(from) => unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) },
        None => into.fill(0),
    }
}

/// Sets the mirror of guest bytes at `address`.
pub(crate) fn write(address: u64, bytes: &[u8]) {
    if let Some(to) = raw(address, bytes.len()) {
        // SAFETY: the plane is mapped over that range and writable.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }
}

/// Tells whether any byte of the mirror of a guest range is set.
pub(crate) fn any(address: u64, len: u64) -> bool {
    let mut chunk = [0_u8; 4096];
    let mut at = address;
    let end = address.saturating_add(len);
    while at < end {
        let part = (end - at).min(PAGE - at % PAGE) as usize;
        read(at, &mut chunk[..part]);
        if chunk[..part].iter().any(|&byte| byte != 0) {
            return true;
        }
        at += part as u64;
    }
    false
}

/// Number of floats with shadows in a guest range that is handed out: as many as there are words of eight bytes with one, since two
/// narrow floats with shadows cannot be told from a wide one. What is text now is none any more, though parts of what was kept
/// beside a float that was there may have stayed.
pub(crate) fn count(address: u64, len: u64) -> u64 {
    floats(address, len).count() as u64
}

/// Addresses of floats with shadows in guest memory, one for each word of eight bytes or what of that is there.
pub(crate) fn floats(address: u64, len: u64) -> impl Iterator<Item = u64> {
    const WORD: u64 = 8;
    let end = address.saturating_add(len);
    let next = |at: u64| (at / WORD + 1) * WORD;
    let words = std::iter::successors((address < end).then_some(address), move |&at| {
        Some(next(at)).filter(|&next| next < end)
    });
    words.filter(move |&at| any(at, next(at).min(end) - at) && !is_amid_text(at, address..end))
}

/// Tells whether all bytes in the word at `at` and in those beside it, as far as they are in the range, are text, and more than a
/// float has.
fn is_amid_text(at: u64, range: Range<u64>) -> bool {
    const FEWEST: usize = 12;
    const BESIDE: u64 = 8;
    let start = at.saturating_sub(BESIDE).max(range.start);
    let mut bytes = [0; 3 * BESIDE as usize];
    let all = &mut bytes[..(at + 2 * BESIDE).min(range.end).saturating_sub(start).min(3 * BESIDE) as usize];
    all.len() >= FEWEST
        && guest::read_some(start, all) == all.len()
        && all.iter().copied().all(guest::is_text)
}

/// Number of floats of whole pages of guest memory that have shadows, as [`count`] counts them. Pages of the mirror that nobody
/// has touched stay so.
pub(crate) fn count_touched(address: u64, len: u64) -> u64 {
    let (start, end) = (page_floor(address), page_ceil(address.saturating_add(len)));
    if has(start, end.saturating_sub(start)) { count_words(PLANE + start, end - start) } else { 0 }
}

/// Number of words of eight bytes, in `bytes` bytes of shadows from page `start` on, that are not zero. Pages that nobody has
/// touched stay so.
pub(crate) fn count_words(start: u64, bytes: u64) -> u64 {
    const CHUNK: u64 = 64 << 20;
    let mut resident = vec![0_u8; (CHUNK / PAGE) as usize];
    let mut floats = 0;
    for from in (start..start + bytes).step_by(CHUNK as usize) {
        let len = CHUNK.min(start + bytes - from);
        let args = [from, len, resident.as_mut_ptr() as u64, 0, 0, 0];
        // SAFETY: the kernel writes a byte for each page, for which there is room.
        if unsafe { sys::syscall(libc::SYS_mincore as u64, args) } != 0 {
            continue;
        }
        let pages = (from..).step_by(PAGE as usize).zip(&resident[..len.div_ceil(PAGE) as usize]);
        for (page, _) in pages.filter(|&(_, resident)| resident & 1 != 0) {
            let mut words = [0_u64; PAGE as usize / 8];
            // SAFETY: the page is one of shadows, which hold no Rust object and are never borrowed.
            unsafe { std::ptr::copy_nonoverlapping(page as *const u64, words.as_mut_ptr(), words.len()) };
            floats += words.iter().filter(|&&word| word != 0).count() as u64;
        }
    }
    floats
}

/// Number of floats that have shadows in a range of the memory of another process under the tool, address and length; 0 where
/// that cannot be read.
pub(crate) fn count_elsewhere(process: u64, (address, len): (u64, u64)) -> u64 {
    let mut words = [0_u64; PAGE as usize / 8];
    let mut floats = 0;
    for from in (0..len).step_by(PAGE as usize).filter(|&from| has(address + from, PAGE)) {
        let bytes = PAGE.min(len - from);
        words.fill(0);
        let (own, other) = ([words.as_mut_ptr() as u64, bytes], [PLANE + address + from, bytes]);
        let args = [process, own.as_ptr() as u64, 1, other.as_ptr() as u64, 1, 0];
        // SAFETY: the kernel writes into the array, which has room for a page.
        unsafe { sys::syscall(libc::SYS_process_vm_readv as u64, args) };
        floats += words.iter().filter(|&&word| word != 0).count() as u64;
    }
    floats
}

/// Clears the mirror of a guest range; pages that are clear are not touched.
pub(crate) fn clear(address: u64, len: u64) {
    const ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];
    let mut at = address;
    let end = address.saturating_add(len);
    while at < end {
        let part = (end - at).min(PAGE - at % PAGE);
        if any(at, part) {
            write(at, &ZEROS[..part as usize]);
        }
        at += part;
    }
}

/// Copies the mirror of `len` guest bytes; the ranges may overlap.
pub(crate) fn copy(from: u64, to: u64, len: u64) {
    let pieces: Vec<(u64, u64)> =
        (0..len).step_by(PAGE as usize).map(|at| (at, (len - at).min(PAGE))).collect();
    let forwards = to <= from || to >= from.saturating_add(len);
    let mut buffer = [0; PAGE as usize];
    let mut piece = |&(at, bytes): &(u64, u64)| {
        let bytes = bytes as usize;
        read(from + at, &mut buffer[..bytes]);
        if buffer[..bytes].iter().any(|&byte| byte != 0) || any(to + at, bytes as u64) {
            write(to + at, &buffer[..bytes]);
        }
    };
    if forwards { pieces.iter().for_each(&mut piece) } else { pieces.iter().rev().for_each(&mut piece) }
}

/// Guest memory was moved by `mremap`: its mirror follows.
pub(crate) fn move_mirror(old: u64, old_len: u64, new: u64, new_len: u64) {
    if old != new {
        discard(new, new_len);
    }
    if shared_planes::moved(old, old_len, new, new_len) {
        return;
    }
    if old == new {
        if new_len < old_len {
            discard(old + new_len, old_len - new_len);
        }
        return;
    }
    copy(old, new, old_len.min(new_len));
    discard(old, old_len);
}
