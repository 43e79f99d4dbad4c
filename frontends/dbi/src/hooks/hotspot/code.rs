//! Code that HotSpot has made: the piece that an address is in, and where methods are entered.

use super::layout::{Layout, VerifiedEntry};
use super::memory::Memory;

/// Description of the interpreter's piece by which usual methods are entered.
const USUAL: &str = "method entry point (kind = zerolocals)";
/// Bytes that the code of such a piece is aligned by.
const ALIGNMENT: u64 = 32;
/// Heaps of code, and pieces of the interpreter, that are looked at, at most.
const HEAPS: u64 = 16;
const PIECES: usize = 4096;
/// Part of a heap that no piece is in.
const FREE: u8 = 0xff;

/// Generated code.
#[derive(Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) layout: &'a Layout,
    pub(super) memory: Memory<'a>,
}

impl Code<'_> {
    /// Address of the piece of code that `pc` is in.
    pub(super) fn blob(&self, pc: u64) -> Option<u64> {
        let Code { layout, memory } = *self;
        let bounds = memory.u64(layout.low_bound)?..memory.u64(layout.high_bound)?;
        if !bounds.contains(&pc) {
            return None;
        }
        let list = memory.u64(layout.heaps)?;
        let count = u64::from(memory.u32(list + layout.list_length)?);
        let heaps = memory.u64(list + layout.list_data)?;
        (0..count.min(HEAPS)).find_map(|index| self.blob_in(memory.u64(heaps + 8 * index)?, pc))
    }

    /// Address of the piece of code in the heap at `heap` that `pc` is in. A map tells of each segment how many the piece has
    /// before it, or at least some.
    fn blob_in(&self, heap: u64, pc: u64) -> Option<u64> {
        let Code { layout, memory } = *self;
        let space = heap + layout.heap_memory;
        let low = memory.u64(space + layout.space_low)?;
        if !(low..memory.u64(space + layout.space_high)?).contains(&pc) {
            return None;
        }
        let map = memory.u64(heap + layout.heap_segments + layout.space_low)?;
        let log2 = memory.u32(heap + layout.heap_log2_segment)?;
        let mut segment = (pc - low).checked_shr(log2)?;
        loop {
            match memory.u8(map + segment)? {
                0 => return Some(low + (segment << log2) + layout.block_size),
                FREE => return None,
                before => segment = segment.checked_sub(before.into())?,
            }
        }
    }

    /// The entry of the compiled method at `blob` for callers that know its receiver.
    pub(super) fn verified_entry(&self, blob: u64) -> Option<u64> {
        let memory = self.memory;
        match self.layout.verified_entry {
            VerifiedEntry::Address(at) => memory.u64(blob + at),
            VerifiedEntry::Offset { code, entry } => {
                let offset = u64::from(memory.u32(blob + code)?) + u64::from(memory.u16(blob + entry)?);
                Some(blob + offset)
            }
        }
    }

    /// The interpreter's entry for usual methods: neither native nor synchronized.
    pub(super) fn interpreted(&self) -> Option<u64> {
        let Code { layout, memory } = *self;
        let queue = memory.u64(layout.interpreter)?;
        let buffer = memory.u64(queue.checked_add(layout.queue_buffer)?)?;
        let end = memory.u32(queue + layout.queue_end)?;
        let mut at = memory.u32(queue + layout.queue_begin)?;
        for _ in 0..PIECES {
            if at >= end {
                break;
            }
            let piece = buffer + u64::from(at);
            if memory.string(memory.u64(piece + layout.piece_description)?)? == USUAL {
                return Some((piece + layout.piece_header).next_multiple_of(ALIGNMENT));
            }
            at += memory.u32(piece + layout.piece_size)?;
        }
        None
    }
}
