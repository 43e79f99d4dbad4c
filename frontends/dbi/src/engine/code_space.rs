//! Memory that translated code lies in, mapped twice: executable where the code runs, writable at a fixed distance. No
//! page is both, so a stray write cannot change what runs.
//!
//! The pages are shared between the two views, so `fork` shares them between parent and child as well. Neither writes
//! into shared pages: whoever has to takes a copy of some first ([`Chunk::store`]). Knows ranges of addresses, not what
//! the code is.

use super::arena::{self, Exhausted};
use super::layout::page_ceil;
use super::sys;

/// Distance from code to the view through which it is written, bytes. The range of all views, a gigabyte, lies above
/// the planes and the kernel's `brk` heap and below what the kernel maps from the top.
const VIEW: u64 = 0x6000_0000_0000;

const RW: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
const RX: u64 = (libc::PROT_READ | libc::PROT_EXEC) as u64;
const MOVE_TO: u64 = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64;

/// Size of a piece that is copied at once, bytes. Writes after a fork are few and scattered; measured with a shell that
/// forks 300 times, pieces of 64 KiB cost 0.6 ms more a fork than these.
const PIECE: u64 = 16 << 10;

/// A range of code space, written by one thread only.
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) end: u64,
    /// For each piece, whether another process may have it as well; nothing before the first fork.
    shared: Vec<bool>,
}

impl Chunk {
    /// Takes `len` bytes of code space, rounded up to whole pages, from the engine's gigabyte.
    pub(super) fn take(len: u64) -> Result<Chunk, Exhausted> {
        let start = arena::take_by(len, |at, len| {
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            sys::map_fresh(at, len, RX as i32, flags)?;
            add_view(at, len).inspect_err(|_| unmap(at, len))
        })?;
        Ok(Chunk { start, end: start + page_ceil(len), shared: Vec::new() })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.end - self.start
    }

    pub(super) fn contains(&self, at: u64) -> bool {
        (self.start..self.end).contains(&at)
    }

    /// Notes that from now on a forked process may have all of it as well.
    pub(super) fn share(&mut self) {
        self.shared.clear();
        self.shared.resize(self.bytes().div_ceil(PIECE) as usize, true);
    }

    /// Copies all that another process may have as well, so that later writes take no memory; fails with an errno.
    pub(super) fn own(&mut self) -> Result<(), i32> {
        (0..self.shared.len() as u64).try_for_each(|piece| self.copy_if_shared(piece))
    }

    /// Tells whether writing at `at` takes a copy first.
    pub(super) fn is_shared(&self, at: u64) -> bool {
        self.shared.get(((at - self.start) / PIECE) as usize).is_some_and(|&shared| shared)
    }

    /// Writes `bytes` at `at`; all of them must lie in the chunk.
    ///
    /// # Panics
    /// Without memory for a copy of what is shared with another process.
    pub(super) fn store(&mut self, at: u64, bytes: &[u8]) {
        let end = at + bytes.len() as u64;
        assert!(self.start <= at && end <= self.end, "code outside its chunk");
        if !self.shared.is_empty() {
            for piece in (at - self.start) / PIECE..(end - self.start).div_ceil(PIECE) {
                self.copy_if_shared(piece).expect("memory for a copy of translated code");
            }
        }
        // SAFETY: the range lies in the chunk, as was just checked, so its view is mapped and writable; nobody else writes
        // there, and Rust holds no reference into it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (at + VIEW) as *mut u8, bytes.len()) };
    }

    fn copy_if_shared(&mut self, piece: u64) -> Result<(), i32> {
        if self.shared[piece as usize] {
            let at = self.start + piece * PIECE;
            copy_pages(at, PIECE.min(self.end - at))?;
            self.shared[piece as usize] = false;
        }
        Ok(())
    }
}

/// Replaces the pages `at..at + len` of code space and their view by a copy that no other process has; fails with an
/// errno.
fn copy_pages(at: u64, len: u64) -> Result<(), i32> {
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: without MAP_FIXED the kernel picks unused addresses.
    let copy = unsafe { sys::mmap(0, len, RW as i32, flags, -1, 0) }?;
    // SAFETY: code space can be read; the copy is new and as long.
    unsafe { std::ptr::copy_nonoverlapping(at as *const u8, copy as *mut u8, len as usize) };
    for move_to in [[copy, 0, len, MOVE_TO, at, 0], [copy, len, len, MOVE_TO, at + VIEW, 0]] {
        // SAFETY: replaces pages of code space by equal ones. The thread that runs them is here, and Rust holds no
        // reference to them.
        sys::check(unsafe { sys::syscall(libc::SYS_mremap as u64, move_to) })?;
    }
    protect(at, len, RX)
}

/// Maps the writable view of the code space `at..at + len`; fails with an errno.
fn add_view(at: u64, len: u64) -> Result<(), i32> {
    // Claims the place: moving a mapping there would replace whatever there was.
    sys::map_at(at + VIEW, len, libc::PROT_NONE)?;
    // A shared mapping of old size 0 is mapped once more, mremap(2).
    let again = [at, 0, len, MOVE_TO, at + VIEW, 0];
    // SAFETY: replaces the mapping just made, which nobody knows.
    sys::check(unsafe { sys::syscall(libc::SYS_mremap as u64, again) })
        .and_then(|_| protect(at + VIEW, len, RW))
        .inspect_err(|_| unmap(at + VIEW, len))
}

fn protect(at: u64, len: u64, prot: u64) -> Result<(), i32> {
    // SAFETY: callers pass views and code of this module only, to which Rust holds no reference.
    sys::check(unsafe { sys::syscall(libc::SYS_mprotect as u64, [at, len, prot, 0, 0, 0]) }).map(drop)
}

fn unmap(at: u64, len: u64) {
    // SAFETY: callers pass mappings of this module that nobody uses any more.
    unsafe { sys::syscall(libc::SYS_munmap as u64, [at, len, 0, 0, 0, 0]) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The permissions of the mapping that contains `at`, as the kernel shows them.
    fn permissions(at: u64) -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| {
            let (start, rest) = line.split_once('-').unwrap();
            let end = rest.split_once(' ').unwrap().0;
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            (number(start)..number(end)).contains(&at)
        });
        line.expect("mapped").split(' ').nth(1).unwrap().to_owned()
    }

    fn load(at: u64) -> u8 {
        // SAFETY: tests pass code space they took.
        unsafe { (at as *const u8).read() }
    }

    #[test]
    fn code_is_written_through_another_view() {
        let mut chunk = Chunk::take(10_000).unwrap();
        let last = chunk.end - 1;
        chunk.store(last, &[7]);
        assert_eq!(load(last), 7);
        assert_eq!(permissions(last), "r-xs");
        assert_eq!(permissions(last + VIEW), "rw-s");
    }

    /// A child writes into all pieces but the last, its parent into the last but one: each sees its own bytes only.
    #[test]
    fn after_a_fork_each_has_its_own_bytes() {
        const LEN: u64 = 3 * PIECE;
        let mut chunk = Chunk::take(LEN).unwrap();
        chunk.store(chunk.start, &[1; LEN as usize]);
        chunk.share();
        // SAFETY: the child allocates nothing and ends without running anything of this process's.
        match unsafe { libc::fork() } {
            0 => {
                // Across the border of two pieces.
                chunk.store(chunk.start + PIECE - 1, &[2; 2]);
                let expected = [(0, 1), (PIECE - 1, 2), (PIECE, 2), (PIECE + 1, 1), (LEN - 1, 1)];
                let same = expected.iter().all(|&(at, byte)| load(chunk.start + at) == byte);
                // SAFETY: ends the child.
                unsafe { libc::_exit(if same { 0 } else { 1 }) }
            }
            child => {
                let mut status = -1;
                // SAFETY: waits for the child made above.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0, "what the child has read");
                assert_eq!((load(chunk.start + PIECE - 1), load(chunk.start + PIECE)), (1, 1));
                chunk.store(chunk.start + PIECE, &[3]);
                assert_eq!((load(chunk.start + PIECE), load(chunk.start + PIECE + 1)), (3, 1));
                let at = chunk.start + PIECE;
                assert_eq!((permissions(at), permissions(at + VIEW)), ("r-xs".into(), "rw-s".into()));
            }
        }
    }
}
