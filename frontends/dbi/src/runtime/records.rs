//! Records of translated code, replayed on the reals: many at a time, in the order they were made.

use super::asked::asked;
use super::carrier::Carried;
use super::merging::Vectors;
use super::{Tool, sweep};
use crate::engine::arena;
use crate::engine::thread::Thread;
use crate::x86::mirror::record::{BUFFER, FRESH, FRESH_32, FRESH_64, ID, LANES, Recorded, STRIDE, What};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::{Lane, Rule, Seen};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{NO_TICKET, Slots};
use shadowgrind_shadows::mpfr::elementary::{Elementary, Product, Quotient, Root, Sum};
use shadowgrind_shadows::mpfr::{self, Became, Made, MpfrShadow, Recurring, Value};
use std::ops::Range;

/// One record, as translated code leaves it: words, of which floats of four bytes are halves.
type Record = [u64; STRIDE as usize / 8];
/// The tickets for results of several lanes that belong to a record: first those of eight bytes.
type Tickets = [u64; 2 * LANES as usize / 8];

/// What is recorded, as replaying needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    recorded: Recorded,
    operands: [u8; MAX_OPERANDS],
    tickets: [u8; MAX_OPERANDS],
    result: u8,
    words: Words,
    /// One of the commonest operations.
    lean: Option<Op>,
    at: Recurring,
}

/// Where doubles and their tickets are, in words.
#[derive(Clone, Copy, Debug)]
struct Words {
    operands: [u8; 2],
    tickets: [u8; 2],
    result: u8,
}

impl Known {
    fn new(mut recorded: Recorded, site: Site) -> Known {
        if let What::Compare(predicate) = recorded.what {
            recorded.what = What::Compare(asked(predicate, recorded.pc));
        }
        let each = |offset: &dyn Fn(u64) -> u64| {
            std::array::from_fn(
                |n| if n < usize::from(recorded.operands) { offset(n as u64) as u8 } else { 0 },
            )
        };
        let operands = each(&|n| recorded.operand(n));
        let tickets = each(&|n| recorded.tickets(n));
        let lean = match recorded.what {
            What::Op(op) if mpfr::is_lean(op, recorded.from, recorded.to) => Some(op),
            _ => None,
        };
        let (at, result) = (Recurring::new(site), recorded.result() as u8);
        let words = |[a, b, _]: [u8; MAX_OPERANDS]| [a / 8, b / 8];
        let words = Words { operands: words(operands), tickets: words(tickets), result: result / 8 };
        Known { recorded, operands, tickets, result, words, lean, at }
    }
}

/// Maps a buffer and fills in the tickets that results will get. Nothing where there is no memory.
pub(super) fn new_buffer(tool: &Tool) -> Option<u64> {
    let at = arena::take(3 * BUFFER, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    let start = at.next_multiple_of(BUFFER);
    let slots = &mut tool.reals.as_ref()?.lock().words;
    for at in (start..start + BUFFER).step_by(STRIDE as usize) {
        // SAFETY: the memory was just mapped, is zeroed and belongs to nobody else.
        let (record, tickets) = unsafe { record(at) };
        refresh(slots, record, FRESH as usize, 8);
        let (wide, all) = ((FRESH_32 - FRESH_64) as usize, size_of::<Tickets>());
        (0..wide).step_by(8).for_each(|at| refresh(slots, tickets, at, 8));
        (wide..all).step_by(4).for_each(|at| refresh(slots, tickets, at, 4));
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

/// Puts a new ticket in the four or eight bytes at `at`, where one was used.
#[inline(always)]
fn refresh<const N: usize>(slots: &mut Slots<Value>, words: &mut [u64; N], at: usize, bytes: usize) {
    let (ticket, word) = (slots.reserve(), &mut words[at / 8 % N]);
    *word = match (bytes, at % 8) {
        (8, _) => ticket,
        (_, 0) => *word & !HALF | ticket,
        _ => *word & HALF | ticket << 32,
    };
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
    reals.shadow.ignore_decisions(shadowed.calls.is_formatting());
    let mut replay = Replay { reals: &mut reals };
    // SAFETY: `check_host` saw to it that the processor has these features. The buffer is this thread's own, and
    // translated code does not run now.
    unsafe { replay.all(shadowed.buffer..end, &mut shadowed.recorded) };
    thread.context.record = shadowed.buffer;
    let wants_sweep = reals.words.wants_sweep();
    drop(reals);
    if wants_sweep {
        sweep::sweep(thread);
    }
}

/// The ticket in the four or eight bytes at `at`; a new one takes its place.
fn used<const N: usize>(slots: &mut Slots<Value>, words: &mut [u64; N], at: usize, bytes: usize) -> u64 {
    let ticket = number(words, at, bytes);
    refresh(slots, words, at, bytes);
    ticket
}

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// The number in the four or eight bytes at `at`.
#[inline(always)]
fn number<const N: usize>(words: &[u64; N], at: usize, bytes: usize) -> u64 {
    let word = words[at / 8 % N];
    if bytes == 8 { word } else { word >> (8 * (at % 8)) & HALF }
}

const F64: Format = Format::F64;

/// The shadow of a double whose sign was not turned over.
#[inline(always)]
fn shadow_of_double(slots: &Slots<Value>, ticket: u64, x: f64) -> Option<&Value> {
    if ticket == NO_TICKET { None } else { slots.get(ticket, F64, x.to_bits().into()) }
}

/// An operation on doubles as it was recorded.
struct Doubles {
    x: [f64; 2],
    tickets: [u64; 2],
    r: f64,
    /// The result's.
    ticket: u64,
}

impl Doubles {
    /// Reads it, of one operand or two, and puts a new ticket where the result's was.
    #[inline(always)]
    fn read(
        record: &mut Record,
        tickets: &mut Tickets,
        known: &Known,
        (lane, arity): (usize, usize),
        slots: &mut Slots<Value>,
    ) -> Doubles {
        let word = |at: u8| record[(usize::from(at) + lane) % record.len()];
        let float = |at: u8| f64::from_bits(word(at));
        let Words { operands, tickets: cells, result } = known.words;
        // Where there is no second operand, one stands in for it.
        let two = arity == 2;
        let x = [float(operands[0]), if two { float(operands[1]) } else { 1.0 }];
        let operands = [word(cells[0]), if two { word(cells[1]) } else { NO_TICKET }];
        let r = f64::from_bits(word(result));
        let place = match known.recorded.lanes {
            1 => &mut record[FRESH as usize / 8],
            _ => &mut tickets[lane % (LANES as usize / 8)],
        };
        let ticket = std::mem::replace(place, slots.reserve());
        Doubles { x, tickets: operands, r, ticket }
    }
}

/// Whether an operand is minus the float that its ticket stands for.
#[inline(always)]
fn any_negated(tickets: [u64; 2]) -> bool {
    (tickets[0] | tickets[1]) >> 63 != 0
}

/// Records being replayed.
struct Replay<'a> {
    reals: &'a mut Carried<MpfrShadow>,
}

impl Replay<'_> {
    /// Replays the records at these addresses. Whatever of the shadow's rule is inlined here is compiled for the
    /// processors that carry shadows: multiplications of words, shifts and fused operations take half the instructions.
    ///
    /// # Safety
    /// As for [`record`]; and the processor must have these features.
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    unsafe fn all(&mut self, records: Range<u64>, known: &mut [Known]) {
        for at in records.step_by(STRIDE as usize) {
            // SAFETY: the caller's obligation.
            let (record, tickets) = unsafe { record(at) };
            let known = &mut known[number(record, ID as usize, 4) as usize];
            for lane in 0..usize::from(known.recorded.lanes) {
                match known.lean {
                    Some(op) if !self.reals.shadow.is_short() => {
                        self.long_double(record, tickets, known, lane, op);
                    }
                    Some(op @ (Op::Add | Op::Sub)) => {
                        self.double(record, tickets, known, lane, Sum { subtract: op == Op::Sub });
                    }
                    Some(Op::Mul) => self.double(record, tickets, known, lane, Product),
                    Some(Op::Div) => self.double(record, tickets, known, lane, Quotient),
                    Some(_) => self.double(record, tickets, known, lane, Root),
                    None => self.lane(record, tickets, known, lane),
                }
            }
        }
    }

    /// One of the commonest operations: as [`Replay::lane`] does it, but nothing is asked that is known.
    #[inline(always)]
    fn double<E: Elementary>(
        &mut self,
        record: &mut Record,
        tickets: &mut Tickets,
        known: &mut Known,
        lane: usize,
        row: E,
    ) {
        let Carried { shadow, words: slots } = &mut *self.reals;
        let Doubles { x: [a, b], tickets: [first, second], r, ticket } =
            Doubles::read(record, tickets, known, (lane, row.arity()), slots);
        // Arrays are made where they are passed on: one for all would be written down here.
        if any_negated([first, second]) {
            return self.double_of_negated((&mut known.at, row.op()), [a, b], [first, second], r, ticket);
        }
        let (first, second) = (shadow_of_double(slots, first, a), shadow_of_double(slots, second, b));
        let mut made = Made::NOTHING;
        match shadow.on_doubles::<Vectors, E>((&mut known.at, row), [a, b], r, [first, second], &mut made) {
            Became::Shadow => {
                // Its parts go from registers to their places: put together elsewhere first, they would have to be read
                // again before they are written.
                shadow.put(made, slots.vacated(ticket, F64, r.to_bits().into()));
            }
            Became::Exact => slots.assign(ticket, F64, r.to_bits().into(), None),
            Became::Odd => {
                let made = shadow.on_odd_doubles((&mut known.at, row.op()), [a, b], r, [first, second]);
                slots.assign(ticket, F64, r.to_bits().into(), made);
            }
        }
    }

    /// The same where signs were turned over, which makes other shadows first.
    #[inline(never)]
    fn double_of_negated(
        &mut self,
        what: (&mut Recurring, Op),
        x: [f64; 2],
        tickets: [u64; 2],
        r: f64,
        ticket: u64,
    ) {
        let Carried { shadow, words: slots } = &mut *self.reals;
        let found: [_; 2] = std::array::from_fn(|n| slots.shadow(F64, tickets[n], x[n].to_bits().into()));
        let made = shadow.on_odd_doubles(what, x, r, found.each_ref().map(Option::as_deref));
        slots.assign(ticket, F64, r.to_bits().into(), made);
    }

    /// The same with long reals.
    #[inline(always)]
    fn long_double(
        &mut self,
        record: &mut Record,
        tickets: &mut Tickets,
        known: &mut Known,
        lane: usize,
        op: Op,
    ) {
        let Carried { shadow, words: slots } = &mut *self.reals;
        let Doubles { x, tickets, r, ticket } =
            Doubles::read(record, tickets, known, (lane, op.arity()), slots);
        if any_negated(tickets) {
            return self.double_of_negated((&mut known.at, op), x, tickets, r, ticket);
        }
        let left = slots.take(ticket);
        let shadows = [shadow_of_double(slots, tickets[0], x[0]), shadow_of_double(slots, tickets[1], x[1])];
        let made = shadow.on_doubles_at_length::<Vectors>((&mut known.at, op), x, r, shadows, left);
        slots.assign(ticket, F64, r.to_bits().into(), made);
    }

    /// A comparison of doubles, most of which need no more than this.
    #[inline(always)]
    fn compares_alike(&mut self, record: &Record, known: &mut Known, lane: usize) -> bool {
        let What::Compare(predicate) = known.recorded.what else { return false };
        let word = |at: u8| record[(usize::from(at) + lane) % record.len()];
        let [first, second] = known.words.operands.map(word);
        let [a, b] = known.words.tickets.map(word);
        if (known.recorded.from != F64) | any_negated([a, b]) {
            return false;
        }
        let Carried { shadow, words: slots } = &mut *self.reals;
        let x = [f64::from_bits(first), f64::from_bits(second)];
        let shadows = [shadow_of_double(slots, a, x[0]), shadow_of_double(slots, b, x[1])];
        shadow.compares_alike((&mut known.at, predicate), x, shadows)
    }

    #[inline(never)]
    fn lane(&mut self, record: &mut Record, tickets: &mut Tickets, known: &mut Known, lane: usize) {
        if self.compares_alike(record, known, lane) {
            return;
        }
        let Known { recorded, at, .. } = *known;
        let site = at.site();
        let count = usize::from(recorded.operands);
        let width = recorded.from.bytes();
        let (mut x, mut found) = ([0_u128; MAX_OPERANDS], [const { None }; MAX_OPERANDS]);
        let Carried { shadow, words: slots } = &mut *self.reals;
        for n in 0..count {
            x[n] = number(record, usize::from(known.operands[n]) + lane * width, width).into();
            let cell = number(record, usize::from(known.tickets[n]) + lane * width, width);
            found[n] = slots.shadow(recorded.from, cell, x[n]);
        }
        let shadows = found.each_ref().map(Option::as_deref);
        let seen = |n: usize| Seen { format: recorded.from, bits: x[n], shadow: shadows[n] };
        match recorded.what {
            What::Compare(predicate) => return shadow.compare(site, predicate, [seen(0), seen(1)]),
            What::Integer(how) => return shadow.to_integer(site, how, seen(0)),
            What::Widen | What::Op(_) => {}
        }
        let width = recorded.to.bytes();
        let r = number(record, usize::from(known.result) + lane * width, width).into();
        let made = if let What::Op(op) = recorded.what {
            let (from, to) = (recorded.from, recorded.to);
            let (x, shadows) = (&x[..count], &shadows[..count]);
            shadow.op(&Lane { site, op, from, to, x, r, shadows })
        } else {
            shadows[0].cloned()
        };
        // A ticket is used up even by an exact result: beside another float it would stand for that.
        let ticket = if recorded.lanes == 1 {
            used(slots, record, FRESH as usize, width)
        } else {
            let first = if recorded.to == Format::F32 { LANES as usize } else { 0 };
            used(slots, tickets, first + lane * width, width)
        };
        slots.assign(ticket, recorded.to, r, made);
    }
}
