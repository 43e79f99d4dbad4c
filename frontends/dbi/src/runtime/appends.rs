//! Operations that threads append, taken from their buffers and handed to the shadow: each operation after those that its operands
//! come from, whichever thread had them.
//!
//! A thread's buffer is emptied at its stops. A float that another thread reads may come from an operation that is still in
//! the buffer of its own: that is taken from there then, up to where that thread has got. It has moved its position before it
//! handed the float on, and processors carry out stores in order. Knows no shadow.

use super::buffers::Buffers;
use crate::context::Recording;
use crate::engine::sys;
use crate::x86::mirror::append::{ALIGNMENT, Layout};
use crate::x86::mirror::record::{BUFFER, ID, Recorded, What};
use shadowgrind_core::appended::{Appended, BLOCK, Floats, Operation};
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{self, Numbered};
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::site::Site;
use std::ptr;
use std::sync::atomic::Ordering;

/// Most numbers that are given away between two stops: what is written for a lane has more than four bytes.
const MOST: u64 = 2 * BUFFER / 4;

/// An instruction whose operations are appended.
#[derive(Clone, Copy, Debug)]
struct Known {
    operation: Operation,
    layout: Layout,
    lanes: u8,
}

/// Buffer of one thread, and what is known of it.
#[derive(Debug)]
struct Lane {
    /// The thread's position and its next cell.
    thread: &'static Recording,
    /// First address of the buffer, and the address up to which it has been taken.
    buffer: u64,
    taken: u64,
    /// The number of the next operation to be taken, and the end of its block.
    number: u64,
    end: u64,
    known: Vec<Known>,
    /// Operations are being taken.
    is_busy: bool,
}

/// Buffers of all threads.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// The lane that has a block of numbers, by the number of the block.
    owners: Vec<Option<u16>>,
}

impl Lanes {
    /// Lane `lane`, whose thread does not run translated code, has the block of numbers that begins at `first`.
    fn give(&mut self, lane: usize, first: u64) {
        let block = (first / BLOCK) as usize;
        if block >= self.owners.len() {
            self.owners.resize(block + 1, None);
        }
        self.owners[block] = u16::try_from(lane).ok();
        let lane = &mut self.lanes[lane];
        (lane.number, lane.end) = (first, first + BLOCK);
        lane.thread.number.store(numbers::double_cell(first), Ordering::Relaxed);
    }

    /// The lane in whose buffer the operation of this number still is.
    fn waiting(&self, number: u64) -> Option<usize> {
        let lane = usize::from((*self.owners.get((number / BLOCK) as usize)?)?);
        let Lane { number: next, end, is_busy, .. } = self.lanes[lane];
        (!is_busy && (next..end).contains(&number)).then_some(lane)
    }

    /// Takes what a lane's thread has appended so far, but nothing after the operation of number `last`: that may depend on
    /// one that a lane which is being taken comes to later.
    fn take<S: Appended>(&mut self, index: usize, last: u64, shadow: &mut S) {
        let lane = &mut self.lanes[index];
        if std::mem::replace(&mut lane.is_busy, true) {
            return;
        }
        let end = lane.thread.next.load(Ordering::Acquire);
        let known = std::mem::take(&mut lane.known);
        let (mut at, mut number) = (lane.taken, lane.number);
        let several = self.lanes.len() > 1;
        while at < end && number <= last {
            // SAFETY: what is before a thread's position is complete, and nobody's but the lock's owner's until the buffer
            // restarts under that lock; the number of what was recorded comes first.
            let id = unsafe { ptr::read((at + ID) as *const u32) };
            let Known { operation, layout, lanes } = &known[id as usize];
            // SAFETY: as before, and so many bytes are written.
            let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, layout.bytes.into()) };
            for n in 0..usize::from(*lanes) {
                let (operands, floats, has_others) = lane_of(bytes, operation, layout, n);
                if has_others {
                    shadow.mismatch(operation.site);
                }
                if operands == [None; MAX_OPERANDS] {
                    continue;
                }
                if several {
                    for x in operands.iter().flatten() {
                        if let Some(owner) = self.waiting(x.number) {
                            self.take(owner, x.number, shadow);
                        }
                    }
                }
                shadow.append(number + n as u64, operation, &floats, &operands);
            }
            number += u64::from(*lanes);
            at += u64::from(layout.bytes);
        }
        let lane = &mut self.lanes[index];
        (lane.taken, lane.number, lane.known, lane.is_busy) = (at, number, known, false);
    }

    /// Has a lane, whose thread does not run translated code, begin again.
    fn restart(&mut self, lane: usize) {
        let lane = &mut self.lanes[lane];
        lane.taken = lane.buffer;
        lane.thread.next.store(lane.buffer, Ordering::Release);
    }
}

/// Lane `n` of what was appended: the operands' shadows, the floats, and true if a cell is not that of a float.
#[inline(always)]
fn lane_of(
    bytes: &[u8],
    operation: &Operation,
    layout: &Layout,
    n: usize,
) -> ([Option<Numbered>; MAX_OPERANDS], Floats, bool) {
    let Operation { from, to, .. } = *operation;
    let mut has_others = false;
    let mut cell = |at: u8| {
        let (is_any, shadow) = match (at, from) {
            (0, _) => (false, None),
            (at, Format::F32) => {
                let cell = single(bytes, at, n);
                (cell != 0, numbers::of_single(cell))
            }
            (at, _) => {
                let cell = double(bytes, at, n);
                (cell != 0, numbers::of_double(cell))
            }
        };
        has_others |= is_any && shadow.is_none();
        shadow
    };
    let float = |at: u8, format| match (at, format) {
        (0, _) => 0.0,
        (at, Format::F32) => f32::from_bits(single(bytes, at, n)).into(),
        (at, _) => f64::from_bits(double(bytes, at, n)),
    };
    let operands = layout.cells.map(&mut cell);
    let [x, y, z] = layout.x;
    let floats = Floats { x: [float(x, from), float(y, from), float(z, from)], r: float(layout.r, to) };
    (operands, floats, has_others)
}

/// Word `n` of four bytes from `at` on.
#[inline(always)]
fn single(bytes: &[u8], at: u8, n: usize) -> u32 {
    let word = bytes[usize::from(at)..].as_chunks().0[n];
    u32::from_le_bytes(word)
}

/// Word `n` of eight bytes from `at` on.
#[inline(always)]
fn double(bytes: &[u8], at: u8, n: usize) -> u64 {
    let word = bytes[usize::from(at)..].as_chunks().0[n];
    u64::from_le_bytes(word)
}

/// Maps a buffer, and as much again, where buffers may begin.
fn map_buffer() -> Option<u64> {
    let at = sys::map_anywhere(2 * ALIGNMENT, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    let (start, end) = (at.next_multiple_of(ALIGNMENT), at + 2 * ALIGNMENT);
    for (from, to) in [(at, start), (start + 2 * BUFFER, end)] {
        // SAFETY: this part of what was just mapped is nobody's.
        unsafe { sys::syscall(libc::SYS_munmap as u64, [from, to - from, 0, 0, 0, 0]) };
    }
    Some(start)
}

impl<S: Appended> Buffers<S> for Lanes {
    fn add(
        &mut self,
        thread: &'static Recording,
        shadow: &mut S,
        _words: &mut S::Words,
    ) -> Option<(usize, u64)> {
        let buffer = map_buffer()?;
        let lane = self.lanes.len();
        let (number, end, known) = (0, 0, Vec::new());
        self.lanes.push(Lane { thread, buffer, taken: buffer, number, end, known, is_busy: false });
        self.restart(lane);
        self.give(lane, shadow.block());
        Some((lane, buffer))
    }

    fn learn(&mut self, thread: usize, recorded: Recorded, site: Site) {
        let What::Op(op) = recorded.what else { unreachable!("operations alone are appended") };
        let operation = Operation { site, op, from: recorded.from, to: recorded.to };
        let known = Known { operation, layout: recorded.layout(), lanes: recorded.lanes };
        self.lanes[thread].known.push(known);
    }

    fn replay(&mut self, thread: usize, shadow: &mut S, _words: &mut S::Words) {
        self.take(thread, u64::MAX, shadow);
        self.restart(thread);
        let Lane { number, end, .. } = self.lanes[thread];
        if end - number < MOST {
            self.give(thread, shadow.block());
        }
    }

    fn catch_up(&mut self, shadow: &mut S, _words: &mut S::Words) {
        (0..self.lanes.len()).for_each(|lane| self.take(lane, u64::MAX, shadow));
    }

    /// Keeps what others have appended: it is complete, and taken when it is needed.
    fn forget_others(&mut self, _thread: usize) {}
}
