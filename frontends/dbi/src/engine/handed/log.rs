//! A log in memory that all processes of a tree share: entries are added at its end, and their numbers may change.
//!
//! An entry is a few numbers and bytes. Knows no file and no shadow.

use crate::engine::sys;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of the log, most of which are never touched.
const BYTES: u64 = 1 << 32;
/// Numbers of an entry.
pub(super) const NUMBERS: usize = 8;
/// Bytes of those.
const HEAD: u64 = 8 * NUMBERS as u64;

/// The first bytes of the log.
#[repr(C, align(64))]
struct Start {
    /// The process that writes, or 0.
    owner: AtomicU32,
    /// Bytes in use, this included; 0 as long as there is no entry.
    end: AtomicU64,
}

/// Log of entries in memory that all processes of a tree share.
pub(super) struct Log {
    at: u64,
}

/// An entry: its place and its numbers. After those comes how many bytes it has, as number [`NUMBERS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) place: u64,
    pub(super) numbers: [u64; NUMBERS],
}

/// The right to use the log.
pub(super) struct Held<'a>(&'a Log);

impl Log {
    /// An empty log, for this process and those that it forks.
    pub(super) fn new() -> Option<Log> {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: without MAP_FIXED the kernel picks unused addresses.
        let at = unsafe { sys::mmap(0, BYTES, access, flags, -1, 0) }.ok()?;
        // SAFETY: the log holds no Rust object but atomics. A core dump of it would be of no use.
        unsafe { sys::syscall(libc::SYS_madvise as u64, [at, BYTES, libc::MADV_DONTDUMP as u64, 0, 0, 0]) };
        Some(Log { at })
    }

    /// Bytes that were added so far, for whoever has seen some of them.
    pub(super) fn len(&self) -> u64 {
        self.start().end.load(Ordering::Acquire)
    }

    /// Waits until no other thread of the tree uses the log.
    pub(super) fn hold(&self) -> Held<'_> {
        /// Turns after which the owner is looked for: it may have been killed.
        const PATIENCE: u32 = 1000;
        let (owner, own) = (&self.start().owner, std::process::id());
        let mut turns = 0_u32;
        while let Err(other) = owner.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
            turns += 1;
            if turns.is_multiple_of(PATIENCE) && !is_alive(other) {
                // Whoever is first takes its place.
                let _ = owner.compare_exchange(other, 0, Ordering::Relaxed, Ordering::Relaxed);
            }
            std::thread::yield_now();
        }
        Held(self)
    }

    fn start(&self) -> &Start {
        // SAFETY: the memory is mapped as long as the process lives, zeroed and aligned to a page at first, and there are
        // only atomics in there.
        unsafe { &*(self.at as *const Start) }
    }
}

impl Held<'_> {
    /// Adds an entry; nothing if there is no room.
    pub(super) fn add(&mut self, numbers: [u64; NUMBERS], bytes: &[&[u8]]) -> Option<u64> {
        let len: usize = bytes.iter().map(|part| part.len()).sum();
        let place = self.0.len().max(size_of::<Start>() as u64);
        let end = place.checked_add(HEAD + 8 + len as u64)?.next_multiple_of(8);
        if end > BYTES {
            return None;
        }
        let head: Vec<u8> =
            numbers.iter().chain([&(len as u64)]).flat_map(|number| number.to_le_bytes()).collect();
        let mut at = place;
        for part in [&head[..]].iter().chain(bytes) {
            self.write(at, part);
            at += part.len() as u64;
        }
        self.0.start().end.store(end, Ordering::Release);
        Some(place)
    }

    /// The entry at or after `place`, and where the next one begins.
    pub(super) fn entry(&self, place: u64) -> Option<(Entry, u64)> {
        let place = place.max(size_of::<Start>() as u64);
        if place >= self.0.len() {
            return None;
        }
        let numbers = std::array::from_fn(|n| self.number(place, n));
        let next = (place + HEAD + 8 + self.number(place, NUMBERS)).next_multiple_of(8);
        Some((Entry { place, numbers }, next))
    }

    /// Number `n` of the entry at `place`.
    pub(super) fn number(&self, place: u64, n: usize) -> u64 {
        let mut bytes = [0; 8];
        self.read(place + 8 * n as u64, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Sets number `n` of the entry at `place`.
    pub(super) fn set_number(&mut self, place: u64, n: usize, number: u64) {
        self.write(place + 8 * n as u64, &number.to_le_bytes());
    }

    /// Copies bytes of the entry at `place`, from `offset` on.
    pub(super) fn bytes(&self, place: u64, offset: u64, into: &mut [u8]) {
        self.read(place + HEAD + 8 + offset, into);
    }

    fn read(&self, at: u64, into: &mut [u8]) {
        assert!(at + into.len() as u64 <= BYTES, "within the log");
        // SAFETY: the log is mapped over that range, holds no Rust object there, and `into` is ours; nobody writes, since
        // only the holder does.
        unsafe { ptr::copy_nonoverlapping((self.0.at + at) as *const u8, into.as_mut_ptr(), into.len()) };
    }

    fn write(&mut self, at: u64, from: &[u8]) {
        assert!(at + from.len() as u64 <= BYTES, "within the log");
        // SAFETY: as above, and the log is writable.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), (self.0.at + at) as *mut u8, from.len()) };
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let own = std::process::id();
        let _ = self.0.start().owner.compare_exchange(own, 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// Tells whether the process exists.
fn is_alive(process: u32) -> bool {
    // SAFETY: signal 0 is not sent.
    let result = unsafe { sys::syscall(libc::SYS_kill as u64, [u64::from(process), 0, 0, 0, 0, 0]) };
    sys::error_of(result) != Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_in_order() {
        let log = Log::new().unwrap();
        let mut held = log.hold();
        assert!(held.entry(0).is_none());
        let first = held.add([1; NUMBERS], &[b"abc", b"defg"]).unwrap();
        let second = held.add([2; NUMBERS], &[]).unwrap();
        let (entry, next) = held.entry(0).unwrap();
        assert_eq!((entry.place, entry.numbers, next), (first, [1; NUMBERS], second));
        assert_eq!(held.number(first, NUMBERS), 7);
        let mut bytes = [0; 4];
        held.bytes(first, 3, &mut bytes);
        assert_eq!(&bytes, b"defg");
        held.set_number(second, 3, 9);
        let (entry, next) = held.entry(next).unwrap();
        assert_eq!(entry.numbers[3], 9);
        assert!(held.entry(next).is_none());
    }

    #[test]
    fn what_has_no_room_is_not_added() {
        let log = Log::new().unwrap();
        log.start().end.store(BYTES - 8, Ordering::Relaxed);
        assert_eq!(log.hold().add([0; NUMBERS], &[]), None);
    }
}
