//! Mirrors of files, in memory that all processes of a tree share: each has a window, of which parts are mapped as mirrors of
//! memory that shows the file.

use super::pieces::Pieces;
use crate::engine::{planes, sys};
use std::ptr;

/// Bytes for all windows, most of which are never touched.
pub(super) const BYTES: u64 = 1 << 40;
/// Bytes of the smallest: files grow.
const LEAST: u64 = 64 << 20;

/// Windows: the mirrors of files, in memory that all processes of a tree share.
pub(super) struct Windows {
    start: u64,
}

impl Windows {
    /// Memory for windows, for this process and those that it forks.
    pub(super) fn new() -> Option<Windows> {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: without MAP_FIXED the kernel picks unused addresses.
        let start = unsafe { sys::mmap(0, BYTES, access, flags, -1, 0) }.ok()?;
        // SAFETY: no Rust object is there. A core dump of it would be of no use.
        unsafe {
            sys::syscall(libc::SYS_madvise as u64, [start, BYTES, libc::MADV_DONTDUMP as u64, 0, 0, 0])
        };
        Some(Windows { start })
    }

    /// Bytes of a window for a file that has so many.
    pub(super) fn bytes(file: u64) -> u64 {
        file.max(LEAST).checked_next_power_of_two().unwrap_or(u64::MAX / 2)
    }

    /// The address of what is at `at`.
    pub(super) fn address(&self, at: u64) -> u64 {
        self.start + at
    }

    /// Gives what is at `at` the shadows of these pieces of guest memory.
    pub(super) fn write(&self, at: u64, pieces: Pieces<'_>) {
        self.each(at, pieces, |here, shadows, address| {
            planes::read(address, shadows);
            // SAFETY: `each` has checked that the memory is a window's; like the mirror itself, it is never borrowed.
            unsafe { ptr::copy_nonoverlapping(shadows.as_ptr(), here as *mut u8, shadows.len()) };
        });
    }

    /// Gives these pieces of guest memory the shadows of what is at `at`.
    pub(super) fn read(&self, at: u64, pieces: Pieces<'_>) {
        self.each(at, pieces, |here, shadows, address| {
            // SAFETY: as above.
            unsafe { ptr::copy_nonoverlapping(here as *const u8, shadows.as_mut_ptr(), shadows.len()) };
            if shadows.iter().any(|&byte| byte != 0) {
                planes::write(address, shadows);
            }
        });
    }

    /// Number of floats that have shadows in these bytes from `at` on, as [`planes::count`] counts them. Pages that nobody has
    /// touched stay so.
    pub(super) fn count(&self, at: u64, bytes: u64) -> u64 {
        planes::count_words(self.start + at, bytes)
    }

    /// Has something done for parts of the pieces: where in a window, room for their shadows, and where in guest memory.
    fn each(&self, at: u64, pieces: Pieces<'_>, mut act: impl FnMut(u64, &mut [u8], u64)) {
        let mut buffer = [0; 4096];
        let mut at = at;
        for &(address, len) in pieces {
            for from in (0..len).step_by(buffer.len()) {
                let part = (len - from).min(buffer.len() as u64);
                assert!(at + part <= BYTES, "within the windows");
                act(self.start + at, &mut buffer[..part as usize], address + from);
                at += part;
            }
        }
    }
}
