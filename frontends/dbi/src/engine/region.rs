//! Memory of a code cache: chunks that are filled with blocks one after the other, and words that count runs.
//!
//! Knows which blocks lie where by their numbers only.

use super::arena::{self, Exhausted};
use super::code_space::Chunk;

/// Number of a block in its cache.
pub(crate) type BlockId = u32;

const FIRST_CHUNK: u64 = 64 << 10;
const LARGEST_CHUNK: u64 = 8 << 20;

/// Code space in chunks, filled upwards one after the other.
pub(super) struct Region {
    /// Chunks of memory. Those after the ones in use are kept for later.
    chunks: Vec<Chunk>,
    /// For each chunk in use, the first block installed in it.
    first_blocks: Vec<BlockId>,
    /// Address of the next block.
    pub(super) position: u64,
}

impl Region {
    pub(super) fn new() -> Result<Self, Exhausted> {
        let chunk = Chunk::take(FIRST_CHUNK)?;
        Ok(Region { position: chunk.start, chunks: vec![chunk], first_blocks: vec![0] })
    }

    /// The first address.
    pub(super) fn start(&self) -> u64 {
        self.chunks[0].start
    }

    fn current(&self) -> &Chunk {
        &self.chunks[self.first_blocks.len() - 1]
    }

    /// Tells whether `len` bytes that end at `end` lie in the current chunk; if not, moves on to a chunk with room,
    /// which block `next` will be the first in.
    pub(super) fn ensure(&mut self, end: u64, len: usize, next: BlockId) -> Result<bool, Exhausted> {
        const ALIGNMENT_SLACK: u64 = 64;
        if end <= self.current().end {
            return Ok(true);
        }
        let need = len as u64 + ALIGNMENT_SLACK;
        loop {
            if self.first_blocks.len() == self.chunks.len() {
                let size = (2 * self.current().bytes()).min(LARGEST_CHUNK).max(need.next_power_of_two());
                self.chunks.push(Chunk::take(size)?);
            }
            self.first_blocks.push(next);
            self.position = self.current().start;
            if self.current().bytes() >= need {
                return Ok(false);
            }
        }
    }

    pub(super) fn used(&self) -> u64 {
        let full: u64 = self.chunks[..self.first_blocks.len() - 1].iter().map(Chunk::bytes).sum();
        full + self.position - self.current().start
    }

    /// Writes `bytes` at `at`, which must lie in one of its chunks.
    pub(super) fn store(&mut self, at: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            // A block without cold code may end where its chunk does.
            return;
        }
        let chunk = self.chunk_of(at).expect("an address in code space");
        self.chunks[chunk].store(at, bytes);
    }

    /// Tells whether writing at `at`, an address in one of its chunks, takes a copy of what a forked process has as
    /// well.
    pub(super) fn is_shared(&self, at: u64) -> bool {
        self.chunk_of(at).is_some_and(|chunk| self.chunks[chunk].is_shared(at))
    }

    /// Notes that from now on a forked process may have all of it as well.
    pub(super) fn share(&mut self) {
        self.chunks.iter_mut().for_each(Chunk::share);
    }

    /// Copies all that another process may have as well; fails with an errno.
    pub(super) fn own(&mut self) -> Result<(), i32> {
        self.chunks.iter_mut().try_for_each(Chunk::own)
    }

    /// Starts over, keeping the first `keep` bytes of the first chunk.
    pub(super) fn rewind(&mut self, keep: u64) {
        self.first_blocks.truncate(1);
        self.position = self.chunks[0].start + keep;
    }

    pub(super) fn contains(&self, pc: u64) -> bool {
        self.chunk_of(pc).is_some()
    }

    fn chunk_of(&self, pc: u64) -> Option<usize> {
        self.chunks.iter().position(|chunk| chunk.contains(pc))
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
        store_data(at, &u64::from(enough).to_le_bytes());
        Ok(at)
    }

    pub(super) fn rewind(&mut self) {
        self.used = 0;
    }
}

/// Writes bytes into a table or a word of this thread's own that translated code reads.
pub(super) fn store_data(at: u64, bytes: &[u8]) {
    // SAFETY: every caller passes an address inside memory that the caller's cache took from the arena, which nobody else
    // writes; Rust holds no reference into it.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_stored_at_the_end_of_a_chunk() {
        let mut region = Region::new().unwrap();
        let end = region.current().end;
        region.store(end - 1, &[1]);
        assert!(region.ensure(end, 0, 1).unwrap());
        region.store(end, &[]);
    }
}
