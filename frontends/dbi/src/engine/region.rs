//! Memory of a code cache: chunks that are filled with blocks one after the other, and words that count runs.
//!
//! Knows which blocks lie where by their numbers only.

use super::arena::{self, Exhausted};

/// Number of a block in its cache.
pub(crate) type BlockId = u32;

const FIRST_CHUNK: u64 = 64 << 10;
const LARGEST_CHUNK: u64 = 8 << 20;
const RWX: i32 = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;

/// Code space in chunks, filled upwards one after the other.
pub(super) struct Region {
    /// First addresses and ends; those after the ones in use are kept for later.
    chunks: Vec<(u64, u64)>,
    /// For each chunk in use, the first block installed in it.
    first_blocks: Vec<BlockId>,
    /// Where the next block goes.
    pub(super) position: u64,
}

impl Region {
    pub(super) fn new() -> Result<Self, Exhausted> {
        let chunk = arena::take(FIRST_CHUNK, RWX)?;
        Ok(Region { chunks: vec![(chunk, chunk + FIRST_CHUNK)], first_blocks: vec![0], position: chunk })
    }

    /// Its first address.
    pub(super) fn start(&self) -> u64 {
        self.chunks[0].0
    }

    fn current(&self) -> (u64, u64) {
        self.chunks[self.first_blocks.len() - 1]
    }

    /// Whether `len` bytes that end at `end` lie in the current chunk; if not, moves on to a chunk with room, which
    /// block `next` will be the first in.
    pub(super) fn ensure(&mut self, end: u64, len: usize, next: BlockId) -> Result<bool, Exhausted> {
        const ALIGNMENT_SLACK: u64 = 64;
        if end <= self.current().1 {
            return Ok(true);
        }
        let need = len as u64 + ALIGNMENT_SLACK;
        loop {
            if self.first_blocks.len() == self.chunks.len() {
                let (start, end) = self.current();
                let size = (2 * (end - start)).min(LARGEST_CHUNK).max(need.next_power_of_two());
                let chunk = arena::take(size, RWX)?;
                self.chunks.push((chunk, chunk + size));
            }
            self.first_blocks.push(next);
            let (start, end) = self.current();
            self.position = start;
            if end - start >= need {
                return Ok(false);
            }
        }
    }

    pub(super) fn used(&self) -> u64 {
        let full: u64 =
            self.chunks[..self.first_blocks.len() - 1].iter().map(|(start, end)| end - start).sum();
        full + self.position - self.current().0
    }

    /// Starts over, keeping the first `keep` bytes of the first chunk.
    pub(super) fn rewind(&mut self, keep: u64) {
        self.first_blocks.truncate(1);
        self.position = self.chunks[0].0 + keep;
    }

    pub(super) fn contains(&self, pc: u64) -> bool {
        self.chunk_of(pc).is_some()
    }

    fn chunk_of(&self, pc: u64) -> Option<usize> {
        self.chunks.iter().position(|&(start, end)| start <= pc && pc < end)
    }

    /// The blocks in the chunk that contains `pc`; they are in ascending order of address.
    pub(super) fn blocks_around(&self, pc: u64, block_count: usize) -> Option<std::ops::Range<usize>> {
        let chunk = self.chunk_of(pc)?;
        let first = *self.first_blocks.get(chunk)? as usize;
        let last = self.first_blocks.get(chunk + 1).map_or(block_count, |&id| id as usize);
        Some(first..last)
    }
}

/// Counts of runs, one word each: in memory of their own, because writing next to code is slow.
pub(super) struct Runs {
    chunks: Vec<u64>,
    used: usize,
}

impl Runs {
    const CHUNK_WORDS: usize = 4096;

    pub(super) fn new() -> Self {
        Runs { chunks: Vec::new(), used: 0 }
    }

    pub(super) fn take(&mut self, enough: u32) -> Result<u64, Exhausted> {
        let (chunk, word) = (self.used / Self::CHUNK_WORDS, self.used % Self::CHUNK_WORDS);
        if chunk == self.chunks.len() {
            let bytes = 8 * Self::CHUNK_WORDS as u64;
            self.chunks.push(arena::take(bytes, libc::PROT_READ | libc::PROT_WRITE)?);
        }
        self.used += 1;
        let at = self.chunks[chunk] + 8 * word as u64;
        store_code(at, &u64::from(enough).to_le_bytes());
        Ok(at)
    }

    pub(super) fn rewind(&mut self) {
        self.used = 0;
    }
}

/// Writes bytes into this thread's own code space or table.
pub(super) fn store_code(at: u64, bytes: &[u8]) {
    // SAFETY: every caller passes an address inside chunks or tables that the caller's cache took from the arena, which
    // nobody else writes; Rust holds no reference into them.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}
