//! Operations that threads append, taken from their buffers and handed to the shadow: each operation after those that its operands
//! come from, whichever thread had them.
//!
//! A thread's buffer is emptied at its stops. A float that another thread reads may come from an operation that is still in
//! the buffer of its own: that is taken from there then, up to where that thread has got. It has moved its position before it
//! handed the float on, and processors carry out stores in order. Knows no shadow.

use super::buffers::Buffers;
use super::evaluate::{bits, set_bits};
use crate::context::{CallVector, FunctionCall, Staging};
use crate::engine::{chaos, sys};
use crate::mailbox::Recording;
use crate::x86::function::{Function, Shape};
use crate::x86::mirror::descriptor::{BUFFER, RecordDescriptor, Staged, What};
use crate::x86::mirror::staging::{ALIGNMENT, ROOM, is_full};
use shadowgrind_core::appended::{Appended, BLOCK, HEAD, Kinds, OTHER, Operation, Part, Records, Step};
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{self, Numbers, SINGLE_MORE, cells_apart};
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::site::Site;
use shadowgrind_core::words::{Words, beside_extended};
use std::sync::atomic::Ordering;

/// Most numbers that are given away between two stops: a record has no more results than bytes.
const MOST: u64 = ROOM + BUFFER;
const _: () = assert!(MOST <= BLOCK, "a block is to last from one stop to the next");
/// Part of a record that a call appends.
type Word = [u8; 8];
/// Most of them: the head, and cells and floats of all operands and the float of the result.
const MOST_WORDS: usize = 1 + (2 * MAX_OPERANDS + 1) * size_of::<CallVector>() / size_of::<Word>();

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
    kinds: Kinds,
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
    /// Lane `lane`, whose thread does not run translated code, has the block of numbers that begins at `first`. It uses up the block
    /// before if that ends there: numbers without a gap are as far from each other in one iteration of a loop as in the next.
    fn give(&mut self, lane: usize, first: u64) {
        let block = (first / BLOCK) as usize;
        if block >= self.owners.len() {
            self.owners.resize(block + 1, None);
        }
        self.owners[block] = u16::try_from(lane).ok();
        let lane = &mut self.lanes[lane];
        let goes_on = lane.end == first;
        lane.end = first + BLOCK;
        if goes_on {
            return;
        }
        lane.number = first;
        lane.thread.number.store(numbers::double_cell(first), Ordering::Relaxed);
    }

    /// The lane in whose buffer the operation of this number still is.
    fn waiting(&self, number: u64) -> Option<usize> {
        let lane = usize::from((*self.owners.get((number / BLOCK) as usize)?)?);
        let Lane { number: next, end, is_busy, .. } = self.lanes[lane];
        (!is_busy && (next..end).contains(&number)).then_some(lane)
    }

    /// Tells whether a lane other than this one has something to be taken.
    fn others_wait(&self, index: usize) -> bool {
        let waits = |lane: &Lane| lane.thread.next.load(Ordering::Acquire) != lane.taken;
        self.lanes.iter().enumerate().any(|(n, lane)| n != index && waits(lane))
    }

    /// Takes what a lane's thread has appended so far, up to the operation of number `last`: later ones may depend on
    /// operations of lanes that are still to be taken.
    fn take<S: Appended>(&mut self, index: usize, last: u64, shadow: &mut S) {
        let lane = &mut self.lanes[index];
        if std::mem::replace(&mut lane.is_busy, true) {
            return;
        }
        let end = lane.thread.next.load(Ordering::Acquire);
        let kinds = std::mem::take(&mut lane.kinds);
        let (taken, number) = (lane.taken, lane.number);
        // SAFETY: what is before a thread's position is complete, and nobody's but the lock's owner's until the buffer
        // restarts under that lock.
        let bytes = unsafe { std::slice::from_raw_parts(taken as *const u8, (end - taken) as usize) };
        let records = Records { kinds: &kinds, bytes, number };
        // What has been appended since cannot be an operand of what was complete before.
        let (bytes, number) = if last == u64::MAX && !self.others_wait(index) {
            (bytes.len(), shadow.append_all(index, &records))
        } else {
            self.take_in_order(&records, last, shadow)
        };
        let lane = &mut self.lanes[index];
        (lane.taken, lane.number) = (taken + bytes as u64, number);
        (lane.kinds, lane.is_busy) = (kinds, false);
    }

    /// Takes records up to the operation of number `last`, each operation after those of other lanes that it depends on. The
    /// bytes that were taken, and the number of the next operation.
    fn take_in_order<S: Appended>(
        &mut self,
        records: &Records<'_>,
        last: u64,
        shadow: &mut S,
    ) -> (usize, u64) {
        let (mut at, mut number) = (0, records.number);
        while at < records.bytes.len() && number <= last {
            let (kind, bytes) = (records.kinds.of(records.kind_at(at)), &records.bytes[at..]);
            shadow.append_record(number, kind, bytes, |shadow, x| {
                if let Some(owner) = self.waiting(x) {
                    self.take(owner, x, shadow);
                }
            });
            shadow.wrote(kind.bytes, kind.float_bytes);
            number += kind.numbers as u64;
            at += kind.bytes;
        }
        (at, number)
    }

    /// Has a lane, whose thread does not run translated code, begin again.
    fn restart(&mut self, lane: usize) {
        let lane = &mut self.lanes[lane];
        lane.taken = chaos::beginning(lane.buffer, ROOM, size_of::<CallVector>() as u64);
        lane.thread.restart(lane.taken);
    }
}

/// Appends the operation of the result that is noted in the call, and notes the result's cells as its shadow: those of lanes of
/// which an operand has one. Says that there is more to be done if the buffer is full. Does so in the midst of translated code, as
/// [`evaluate`](super::evaluate) says.
pub(super) extern "C" fn append_call(call: &mut FunctionCall, recording: &Recording) {
    let Function { op, shape, .. } = Function::from_bits(call.function as u32);
    // The block has seen to it that there is room for what its instructions append.
    let has_room = shape == Shape::Instruction || !is_full(recording.next.load(Ordering::Relaxed));
    if has_room || op.makes_whole() {
        append_with_room(call, recording);
    } else {
        (call.shadow, call.is_unknown) = ([0; 4], 1);
    }
}

/// Does what [`append_call`] does, where the buffer has room, as one has that was just emptied.
pub(super) fn append_with_room(call: &mut FunctionCall, recording: &Recording) {
    let Function { op, format, width, .. } = Function::from_bits(call.function as u32);
    let lanes = width / format.bytes() as u8;
    (call.shadow, call.is_unknown) = ([0; 4], 0);
    if op.makes_whole() {
        return;
    }
    let at = recording.next.load(Ordering::Relaxed);
    // SAFETY: the thread's buffer has room for a record here, and nobody looks at it before the position says that it is there.
    let words = unsafe { std::slice::from_raw_parts_mut(at as *mut Word, MOST_WORDS) };
    let used = write_record(call, words);
    recording.next.store(at + size_of_val(&words[..used]) as u64, Ordering::Release);
    let cell = recording.number.load(Ordering::Relaxed);
    recording.number.store(cell + cells_apart(lanes.into()), Ordering::Relaxed);
    for n in 0..lanes.into() {
        let is_active = (0..op.arity()).any(|i| bits(&call.shadows[i], format, n) != 0);
        if is_active {
            set_bits(&mut call.shadow, format, n, cell_of(cell, format, n));
        }
    }
}

/// Writes the record of the operation that the call notes, which is a [step alone](Step::alone), to the first of these words. The number
/// of words that it takes.
#[inline(always)]
fn write_record(call: &FunctionCall, into: &mut [Word]) -> usize {
    let Function { op, format, width, shape } = Function::from_bits(call.function as u32);
    // What is beyond four bytes is none of a single float's.
    let mask = if width == 4 { u64::from(u32::MAX) } else { u64::MAX };
    let length = usize::from(width).div_ceil(size_of::<Word>());
    let mut used = usize::from(HEAD) / size_of::<Word>();
    into[0] = call.kinds[call.present as usize].to_le_bytes();
    let mut put = |vector: &CallVector| {
        let to = into[used..][..length].iter_mut();
        to.zip(vector).for_each(|(to, word)| *to = (word & mask).to_le_bytes());
        used += length;
    };
    let operands = op.operands();
    let is_long = format == Format::F80;
    let long = |x: u128| [x as u64, (x >> 64) as u64, 0, 0];
    let float = |x: &CallVector| if is_long { long(bits(x, format, 0)) } else { *x };
    for cell in call.shadows.iter().take(operands.len()) {
        put(&if is_long { [cell_in_record(bits(cell, format, 0)), 0, 0, 0] } else { *cell });
    }
    for (operand, x) in operands.iter().zip(&call.x) {
        match operand.integer && shape.has_integers() {
            true => put(&long(format.from_f64(x[0] as i64 as f64))),
            false => put(&float(x)),
        }
    }
    put(&float(&call.result));
    used
}

/// Cell that a record has for that beside a long double: as beside a double.
#[inline]
fn cell_in_record(cell: u128) -> u64 {
    if cell == 0 {
        return 0;
    }
    let shadow = Numbers.decode(Format::F80, cell, 0).filter(|shadow| shadow.fits(Format::F80));
    shadow.map_or(OTHER, |shadow| Numbers.encode(Format::F64, 0, shadow) as u64)
}

/// Cell beside the result of a lane, of a record whose first result has this cell beside an `f64`.
#[inline]
fn cell_of(first: u64, format: Format, lane: usize) -> u128 {
    let cell = first + cells_apart(lane as u64);
    match format {
        Format::F32 => (cell as u32).wrapping_add(SINGLE_MORE).into(),
        Format::F80 => beside_extended(cell),
        _ => cell.into(),
    }
}

/// Maps a buffer, and what is behind it.
fn map_buffer() -> Option<u64> {
    let at = sys::map_anywhere(2 * ALIGNMENT, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    let (end, start) = (at + 2 * ALIGNMENT, (at + ROOM).next_multiple_of(ALIGNMENT) - ROOM);
    for (from, to) in [(at, start), (start + ROOM + BUFFER, end)] {
        if from == to {
            continue;
        }
        // SAFETY: this part of what was just mapped is nobody's.
        unsafe { sys::syscall(libc::SYS_munmap as u64, [from, to - from, 0, 0, 0, 0]) };
    }
    Some(start)
}

impl<S: Appended> Buffers<S> for Lanes {
    fn add(&mut self, thread: &'static Recording, shadow: &mut S, _words: &mut S::Words) -> Option<usize> {
        let buffer = map_buffer()?;
        let lane = self.lanes.len();
        let (number, end, kinds) = (0, 0, Kinds::default());
        self.lanes.push(Lane { thread, buffer, taken: buffer, number, end, kinds, is_busy: false });
        self.restart(lane);
        self.give(lane, shadow.block());
        Some(lane)
    }

    fn learn(&mut self, thread: usize, recorded: RecordDescriptor, site: Site) {
        let What::Op(op) = recorded.what else { unreachable!("operations alone are appended") };
        let RecordDescriptor { lanes, from, to, .. } = recorded;
        let operation = Operation { site, op, from, to };
        let step = match recorded.staged {
            None => Step::alone(operation, lanes, op.arity()),
            Some(Staged { before, number, cells, x, r, kept, bytes }) => {
                Step { before, part: Part { operation, lanes, number, cells, x, r, kept }, bytes }
            }
        };
        self.lanes[thread].kinds.learn(step);
    }

    fn close(&mut self, thread: usize, staging: &mut Staging) {
        let lane = &self.lanes[thread];
        let Some(number) = std::mem::take(&mut staging.open).checked_sub(1) else { return };
        let [cells, floats] = lane.kinds.step(number as usize).bytes.map(usize::from);
        let numbers = lane.kinds.of(number as usize).numbers as u64;
        let staged = &staging.cells[..cells];
        // What is behind a last cell of four bytes is none.
        if staged.iter().all(|&byte| byte == 0) {
            return;
        }
        let mut record = vec![0; HEAD.into()];
        record[..4].copy_from_slice(&number.to_le_bytes());
        record.extend_from_slice(staged);
        record.extend_from_slice(&staging.floats[..floats]);
        let at = lane.thread.next.load(Ordering::Relaxed);
        // SAFETY: the block that has left the record has seen to it that the thread's buffer has room for it, and nobody looks at it
        // before the position says that it is there.
        unsafe { std::ptr::copy_nonoverlapping(record.as_ptr(), at as *mut u8, record.len()) };
        lane.thread.next.store(at + record.len() as u64, Ordering::Release);
        let next = lane.thread.number.load(Ordering::Relaxed);
        lane.thread.number.store(next + cells_apart(numbers), Ordering::Relaxed);
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
