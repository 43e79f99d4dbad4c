//! Records of translated code, replayed on the reals: many at a time, in the order they were made.

use super::reals::Reals;
use super::{Tool, sweep};
use crate::engine::arena;
use crate::engine::thread::Thread;
use crate::x86::mirror::record::{BUFFER, FRESH, FRESH_32, FRESH_64, ID, LANES, Recorded, STRIDE, What};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::shadow::{Lane, Seen, Shadow};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{NO_TICKET, Slots};
use shadowgrind_shadows::mpfr::{self, Value};
use std::ops::Range;

/// One record, as translated code leaves it.
type Record = [u8; STRIDE as usize];
/// The tickets for results of several lanes that belong to a record.
type Tickets = [u8; 2 * LANES as usize];

/// What is recorded, as replaying needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    recorded: Recorded,
    site: Site,
    operands: [u8; MAX_OPERANDS],
    tickets: [u8; MAX_OPERANDS],
    result: u8,
    /// One of the commonest operations.
    is_lean: bool,
}

impl Known {
    fn new(recorded: Recorded, site: Site) -> Known {
        let each = |offset: &dyn Fn(u64) -> u64| {
            std::array::from_fn(
                |n| if n < usize::from(recorded.operands) { offset(n as u64) as u8 } else { 0 },
            )
        };
        let operands = each(&|n| recorded.operand(n));
        let tickets = each(&|n| recorded.tickets(n));
        let is_lean = match recorded.what {
            What::Op(op) => mpfr::is_lean(op, recorded.from, recorded.to) && recorded.operands == 2,
            _ => false,
        };
        Known { recorded, site, operands, tickets, result: recorded.result() as u8, is_lean }
    }
}

/// Maps a buffer and fills in the tickets that results will get. Nothing where there is no memory.
pub(super) fn new_buffer(tool: &Tool) -> Option<u64> {
    let at = arena::take(3 * BUFFER, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    let start = at.next_multiple_of(BUFFER);
    let slots = &mut tool.reals.as_ref()?.lock().slots;
    for at in (start..start + BUFFER).step_by(STRIDE as usize) {
        // SAFETY: the memory was just mapped, is zeroed and belongs to nobody else.
        let (record, tickets) = unsafe { record(at) };
        refresh(slots, &mut record[FRESH as usize..], 8);
        let (wide, narrow) = tickets.split_at_mut((FRESH_32 - FRESH_64) as usize);
        wide.chunks_exact_mut(8).for_each(|ticket| refresh(slots, ticket, 8));
        narrow.chunks_exact_mut(4).for_each(|ticket| refresh(slots, ticket, 4));
    }
    Some(start)
}

/// The record at `at` in a buffer.
///
/// # Safety
/// The buffer is the caller's own while it uses the record, and translated code does not run.
unsafe fn record<'a>(at: u64) -> (&'a mut Record, &'a mut Tickets) {
    // SAFETY: a record is that long; whose it is is the caller's business.
    let record = unsafe { &mut *(at as *mut Record) };
    // SAFETY: there are as many bytes again beyond the buffer.
    let tickets = unsafe { &mut *((at + FRESH_64) as *mut Tickets) };
    (record, tickets)
}

/// Puts a new ticket where one was used.
fn refresh(slots: &mut Slots<Value>, place: &mut [u8], bytes: usize) {
    let ticket = slots.reserve().to_le_bytes();
    place[..bytes].copy_from_slice(&ticket[..bytes]);
}

/// Replays the thread's records and empties the buffer.
pub(super) fn replay(thread: &mut Thread) {
    let Some(tool) = thread.process.tool.as_ref() else { return };
    let Some(reals) = &tool.reals else { return };
    let Some(shadowed) = thread.shadowed.as_deref_mut() else { return };
    let Some(mirror) = thread.translator.mirror() else { return };
    let end = if thread.context.record > shadowed.buffer { thread.context.record } else { return };
    // What is recorded is given its site when it is met first, in one go: the session's lock is not to be had under that
    // of the reals.
    for recorded in mirror.recorded().iter().skip(shadowed.recorded.len()) {
        shadowed.recorded.push(Known::new(*recorded, tool.session.site(recorded.pc)));
    }
    let mut reals = reals.lock();
    let mut replay = Replay { reals: &mut reals, made: [const { None }; 2], pending: Pending::NOTHING };
    // SAFETY: `check_host` saw to it that the processor has these features. The buffer is this thread's own, and
    // translated code does not run now.
    unsafe { replay.all(shadowed.buffer..end, &shadowed.recorded) };
    thread.context.record = shadowed.buffer;
    let wants_sweep = reals.slots.wants_sweep();
    drop(reals);
    if wants_sweep {
        sweep::sweep(thread);
    }
}

/// The little-endian number in the four or eight bytes at `at`.
fn number(bytes: &[u8], at: usize, count: usize) -> u64 {
    let four = |at: usize| bytes[at..].first_chunk().map_or(0, |&four| u32::from_le_bytes(four).into());
    match bytes[at..].first_chunk() {
        Some(&eight) if count == 8 => u64::from_le_bytes(eight),
        _ => four(at),
    }
}

/// Records being replayed. A result reaches its slot only when the next has been computed: to move it at once, while the
/// processor is still writing it, would be waiting for that.
struct Replay<'a> {
    reals: &'a mut Reals,
    /// The last result and the one in the making.
    made: [Option<Value>; 2],
    pending: Pending,
}

/// The last result.
#[derive(Clone, Copy)]
struct Pending {
    ticket: u64,
    format: Format,
    bits: u128,
    /// Where it is.
    place: usize,
}

impl Pending {
    const NOTHING: Pending = Pending { ticket: NO_TICKET, format: Format::F64, bits: 0, place: 0 };
}

impl Replay<'_> {
    /// Replays the records at these addresses. Whatever of the shadow's rule is inlined here is compiled for the
    /// processors that carry shadows: multiplications of words, shifts and fused operations take half the instructions.
    ///
    /// # Safety
    /// As for [`record`]; and the processor must have these features.
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    unsafe fn all(&mut self, records: Range<u64>, known: &[Known]) {
        for at in records.step_by(STRIDE as usize) {
            // SAFETY: the caller's obligation.
            let (record, tickets) = unsafe { record(at) };
            let known = &known[number(record, ID as usize, 4) as usize];
            for lane in 0..usize::from(known.recorded.lanes) {
                if known.is_lean {
                    self.double(record, tickets, known, lane);
                } else {
                    self.lane(record, tickets, known, lane);
                }
            }
        }
        self.settle();
    }

    /// Puts the last result into its slot.
    #[inline(always)]
    fn settle(&mut self) {
        let Pending { ticket, format, bits, place } = self.pending;
        if ticket != NO_TICKET {
            let Reals { shadow, slots } = &mut *self.reals;
            let made = &mut self.made[place];
            if shadow.reuses_values() {
                slots.exchange(ticket, format, bits, made);
            } else {
                slots.assign(ticket, format, bits, made);
            }
            self.pending = Pending::NOTHING;
        }
    }

    /// One of the commonest operations: as [`Replay::lane`] does it, but nothing is asked that is known.
    #[inline(always)]
    fn double(&mut self, record: &mut Record, tickets: &mut Tickets, known: &Known, lane: usize) {
        const F64: Format = Format::F64;
        let What::Op(op) = known.recorded.what else { return };
        let Reals { shadow, slots } = &mut *self.reals;
        let pending = self.pending;
        let [first, second] = &mut self.made;
        let (last, next) = if pending.place == 0 { (first, second) } else { (second, first) };
        let float = |at: u8| number(record, usize::from(at) + 8 * lane, 8);
        let shadow_of = |n: usize, bits: u64| {
            let ticket = float(known.tickets[n]);
            if ticket == NO_TICKET {
                None
            } else if ticket == pending.ticket {
                let same = (pending.format == F64) & (pending.bits == u128::from(bits));
                last.as_ref().filter(|_| same)
            } else {
                slots.get(ticket, F64, u128::from(bits))
            }
        };
        let (a, b, r) = (float(known.operands[0]), float(known.operands[1]), float(known.result));
        let shadows = [shadow_of(0, a), shadow_of(1, b)];
        let x = [f64::from_bits(a), f64::from_bits(b)];
        shadow.on_doubles((known.site, op), x, f64::from_bits(r), shadows, next);
        let place = match known.recorded.lanes {
            1 => &mut record[FRESH as usize..],
            _ => &mut tickets[8 * lane..],
        };
        let ticket = number(place, 0, 8);
        refresh(slots, place, 8);
        let place = 1 - pending.place;
        self.settle();
        self.pending = Pending { ticket, format: F64, bits: r.into(), place };
    }

    #[inline(never)]
    fn lane(&mut self, record: &mut Record, tickets: &mut Tickets, known: &Known, lane: usize) {
        let Known { recorded, site, .. } = *known;
        let count = usize::from(recorded.operands);
        let width = recorded.from.bytes();
        let mut x = [0_u128; MAX_OPERANDS];
        let mut shadows: [Option<&Value>; MAX_OPERANDS] = [None; MAX_OPERANDS];
        let Reals { shadow, slots } = &mut *self.reals;
        let pending = self.pending;
        let [first, second] = &mut self.made;
        let (last, next) = if pending.place == 0 { (first, second) } else { (second, first) };
        for n in 0..count {
            x[n] = number(record, usize::from(known.operands[n]) + lane * width, width).into();
            let ticket = number(record, usize::from(known.tickets[n]) + lane * width, width);
            shadows[n] = if ticket == NO_TICKET {
                None
            } else if ticket == pending.ticket {
                let same = pending.format == recorded.from && pending.bits == x[n];
                last.as_ref().filter(|_| same)
            } else {
                slots.get(ticket, recorded.from, x[n])
            };
        }
        let seen = |n: usize| Seen { format: recorded.from, bits: x[n], shadow: shadows[n] };
        match recorded.what {
            What::Compare(predicate) => return shadow.compare(site, predicate, [seen(0), seen(1)]),
            What::Integer(how) => return shadow.to_integer(site, how, seen(0)),
            What::Widen | What::Op(_) => {}
        }
        let width = recorded.to.bytes();
        let r = number(record, usize::from(known.result) + lane * width, width).into();
        if let What::Op(op) = recorded.what {
            let (from, to) = (recorded.from, recorded.to);
            let (x, shadows) = (&x[..count], &shadows[..count]);
            shadow.op_into(&Lane { site, op, from, to, x, r, shadows }, next);
        } else {
            *next = shadows[0].cloned();
        }
        let place = match recorded.to {
            _ if recorded.lanes == 1 => &mut record[FRESH as usize..],
            Format::F32 => &mut tickets[LANES as usize + 4 * lane..],
            _ => &mut tickets[8 * lane..],
        };
        // A ticket is used up even by an exact result: beside another float it would stand for that.
        let ticket = number(place, 0, width);
        refresh(slots, place, width);
        let place = 1 - pending.place;
        self.settle();
        self.pending = Pending { ticket, format: recorded.to, bits: r, place };
    }
}
