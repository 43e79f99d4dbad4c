//! Requests that a program hands to the kernel in queues: io_uring's rings and Linux's own asynchronous I/O.
//!
//! Of each request that a call submits: the guest memory that it hands out, and that it has written. The rings are looked at
//! through mappings of the engine's own. Knows the layout of queues, nothing of shadows.

use super::call::{Answer, Call, pass};
use super::writes::{pieces, pieces_of_message};
use crate::engine::lock::Lock;
use crate::engine::thread::Thread;
use crate::engine::{guest, sys};

/// Guest memory that a request is about: pieces, address and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Memory that is handed out.
    Out(Vec<(u64, u64)>),
    /// Memory that is written, at some time before the program is told so.
    Into(Vec<(u64, u64)>),
}

/// Requests of one call at most; the kernel takes no more.
const MOST: u64 = 1 << 15;

/// A ring of io_uring: where its parts can be read. The layout is that of `linux/io_uring.h`.
struct Ring {
    descriptor: u64,
    /// The number among registered descriptors.
    registered: Option<u64>,
    head: u64,
    tail: u64,
    mask: u64,
    /// The queue's numbers of entries, 4 bytes each; `None` if entries are taken in order.
    order: Option<u64>,
    entries: u64,
    entry_bytes: u64,
}

static RINGS: Lock<Vec<Ring>> = Lock::new(Vec::new());

/// Keeps other threads out across a `fork`, until dropped on both sides.
pub(crate) fn hold() -> impl Sized {
    RINGS.lock()
}

/// Flags of a ring: the kernel polls devices; a thread of the kernel polls the ring; that has a processor of its own; and others.
const DEVICES_POLLED: u32 = 1;
const POLLED: u32 = 1 << 1;
const PINNED: u32 = 1 << 2;
const WIDE_ENTRIES: u32 = 1 << 10;
const OWN_MEMORY: u32 = 1 << 14;
const IN_ORDER: u32 = 1 << 16;

/// Offset of the flags among a ring's parameters.
const FLAGS: u64 = 8;

/// Makes the ring without a thread of the kernel that polls it, which would take requests unseen. The ring says that such a
/// thread sleeps, so that the program wakes it by a call for each request; that call hands the request over.
pub(super) fn io_uring_setup(thread: &mut Thread, call: &Call) -> Answer {
    if !thread.process.has_mirror() {
        return pass(thread, call);
    }
    let flags_at = call.args[1].wrapping_add(FLAGS);
    let asked = guest::read::<u32>(flags_at).unwrap_or(0);
    let takes_over = asked & POLLED != 0 && asked & DEVICES_POLLED == 0;
    if takes_over && guest::write(flags_at, asked & !(POLLED | PINNED)).is_err() {
        return pass(thread, call);
    }
    let answer = pass(thread, call);
    if takes_over {
        // The parameters were writable just now.
        let _ = guest::write(flags_at, asked);
    }
    let Answer::Value(descriptor) = answer else { return answer };
    if sys::error_of(descriptor).is_none() {
        note_ring(descriptor, call.args[1], takes_over);
        if asked & POLLED != 0 && !takes_over {
            thread.client().makes_polled_ring(thread.process);
        }
    }
    answer
}

/// Notes the ring that was made with the parameters at this address; `sleeps`: it is to say that a thread which polls it sleeps.
fn note_ring(descriptor: u64, parameters: u64, sleeps: bool) {
    const RING_OFFSET: u64 = 0;
    const ENTRIES_OFFSET: u64 = 0x1000_0000;
    let Ok(words) = guest::read::<[u32; 30]>(parameters) else { return };
    let (count, flags) = (u64::from(words[0]), words[2]);
    let [head, tail, mask] = [10, 11, 12].map(|n: usize| u64::from(words[n]));
    let order = u64::from(words[16]);
    let wide = |low: usize| u64::from(words[low]) | u64::from(words[low + 1]) << 32;
    let entry_bytes = if flags & WIDE_ENTRIES != 0 { 128 } else { 64 };
    let is_ordered = flags & IN_ORDER != 0;
    let ring_bytes = if is_ordered { head.max(tail).max(mask) + 4 } else { order + 4 * count };
    let places = if flags & OWN_MEMORY != 0 {
        Some((wide(28), wide(18)))
    } else {
        map(descriptor, ring_bytes, RING_OFFSET).zip(map(descriptor, count * entry_bytes, ENTRIES_OFFSET))
    };
    if let Some((ring, entries)) = places {
        if sleeps {
            say_that_it_sleeps(ring + u64::from(words[14]));
        }
        let [head, tail, mask] = [head, tail, mask].map(|at| ring + at);
        let order = (!is_ordered).then_some(ring + order);
        let mut rings = RINGS.lock();
        // The number of a ring that was closed is used again; its mappings stay, since who else has them is not known.
        rings.retain(|ring| ring.descriptor != descriptor);
        rings.push(Ring { descriptor, registered: None, head, tail, mask, order, entries, entry_bytes });
    }
}

/// Has a ring say that the thread that polls it sleeps, by its flags at this address. The kernel changes bits of theirs only.
fn say_that_it_sleeps(flags: u64) {
    const NEEDS_WAKEUP: u32 = 1;
    let current = guest::read::<u32>(flags).unwrap_or(0);
    let _ = guest::write(flags, current | NEEDS_WAKEUP);
}

/// Maps a part of a ring for the engine.
fn map(descriptor: u64, bytes: u64, offset: u64) -> Option<u64> {
    let flags = (libc::MAP_SHARED | libc::MAP_POPULATE) as u64;
    let access = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let args = [0, bytes, access, flags, descriptor, offset];
    // SAFETY: without MAP_FIXED the kernel picks unused addresses.
    sys::check(unsafe { sys::syscall(libc::SYS_mmap as u64, args) }).ok()
}

pub(super) fn io_uring_register(thread: &mut Thread, call: &Call) -> Answer {
    const RING_DESCRIPTORS: u64 = 20;
    /// `struct io_uring_rsrc_update`: the number it gets, and the descriptor in its second eight bytes.
    const UPDATE_BYTES: u64 = 16;
    let answer = pass(thread, call);
    let [_, operation, updates, ..] = call.args;
    if let (Answer::Value(done @ 1..=MOST), RING_DESCRIPTORS) = (answer, operation) {
        for n in 0..done {
            let Ok([number, descriptor]) = guest::read::<[u64; 2]>(updates + n * UPDATE_BYTES) else { break };
            let mut rings = RINGS.lock();
            let ring = rings.iter_mut().find(|ring| ring.descriptor == descriptor);
            ring.into_iter().for_each(|ring| ring.registered = Some(number & 0xffff_ffff));
        }
    }
    answer
}

/// The requests that a call submits, in order; `None` if it is no such call.
pub(super) fn requests(call: &Call) -> Option<Vec<Request>> {
    match call.number as i64 {
        libc::SYS_io_uring_enter => Some(of_ring(call)),
        libc::SYS_io_submit => {
            let [_, count, blocks, ..] = call.args;
            let block = |n| guest::read::<u64>(blocks + 8 * n).ok();
            Some((0..count.min(MOST)).map_while(block).filter_map(of_control_block).collect())
        }
        _ => None,
    }
}

fn of_ring(call: &Call) -> Vec<Request> {
    const BY_REGISTERED: u64 = 1 << 4;
    let [descriptor, submits, _, flags, ..] = call.args;
    let rings = RINGS.lock();
    let is_meant = |ring: &&Ring| match flags & BY_REGISTERED {
        0 => ring.descriptor == descriptor,
        _ => ring.registered == Some(descriptor),
    };
    let Some(ring) = rings.iter().find(is_meant) else { return Vec::new() };
    let word = |at: u64| guest::read::<u32>(at).unwrap_or(0);
    let (head, mask) = (word(ring.head), word(ring.mask));
    let waiting = word(ring.tail).wrapping_sub(head).min(submits as u32).min(MOST as u32);
    let entry = |n: u32| {
        let slot = u64::from(head.wrapping_add(n) & mask);
        let slot = ring.order.map_or(slot, |order| u64::from(word(order + 4 * slot)));
        of_entry(guest::read::<[u64; 4]>(ring.entries + slot * ring.entry_bytes).ok()?)
    };
    (0..waiting).map(|n| entry(n).unwrap_or(Request::Into(Vec::new()))).collect()
}

/// The request of an entry (`struct io_uring_sqe`), of which these are the first words.
fn of_entry([operation, _, address, len]: [u64; 4]) -> Option<Request> {
    let len = len & 0xffff_ffff;
    let times = operation >> 32;
    // The numbers are those of `enum io_uring_op`.
    Some(match operation as u8 {
        1 | 60 => Request::Into(pieces(address, len, u64::MAX)),
        2 | 61 => Request::Out(pieces(address, len, u64::MAX)),
        4 | 22 | 27 => Request::Into(vec![(address, len)]),
        5 | 23 | 26 | 47 => Request::Out(vec![(address, len)]),
        9 | 48 => Request::Out(pieces_of_message(address, u64::MAX)),
        10 => Request::Into(pieces_of_message(address, u64::MAX)),
        // Buffers, which later requests choose from.
        31 => Request::Into(vec![(address, len.saturating_mul(times))]),
        _ => return None,
    })
}

/// The request of the `struct iocb` at this address (`linux/aio_abi.h`).
fn of_control_block(at: u64) -> Option<Request> {
    let [_, _, operation, address, len] = guest::read::<[u64; 5]>(at).ok()?;
    Some(match operation as u16 {
        0 => Request::Into(vec![(address, len)]),
        1 => Request::Out(vec![(address, len)]),
        7 => Request::Into(pieces(address, len, u64::MAX)),
        8 => Request::Out(pieces(address, len, u64::MAX)),
        _ => Request::Into(Vec::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_say_what_they_are_about() {
        let of = |operation: u64, len| of_entry([operation, 0, 0x1000, len]);
        assert_eq!(of(23, 8 | 5 << 32), Some(Request::Out(vec![(0x1000, 8)])));
        assert_eq!(of(22, 16), Some(Request::Into(vec![(0x1000, 16)])));
        assert_eq!(of(31 | 3 << 32, 16), Some(Request::Into(vec![(0x1000, 48)])));
        assert_eq!(of(0, 16), None);
    }

    #[test]
    fn control_blocks_say_what_they_are_about() {
        let block = [0_u64, 0, 1, 0x2000, 24];
        assert_eq!(of_control_block(block.as_ptr() as u64), Some(Request::Out(vec![(0x2000, 24)])));
    }
}
