//! Records of translated code, replayed on their shadow: many at a time, in the order they were made. Does not know whose
//! they are.

use super::merging::Vectors;
use crate::engine::condition::consumed;
use crate::x86::mirror::descriptor::{FRESH, FRESH_32, FRESH_64, ID, LANES, RecordDescriptor, STRIDE, What};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::recorded::{Floats, Recorded};
use shadowgrind_core::shadow::{Lane, Observed};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{Cell, NO_HANDLE, Slots};
use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
use std::ops::Range;

/// One record, as translated code leaves it: words, of which floats of four bytes are halves.
type Record = [u64; STRIDE as usize / 8];
/// The handles for results of several lanes that belong to a record: first those of eight bytes.
type Handles = [u64; 2 * LANES as usize / 8];

/// Recorded operation, as replaying needs it.
pub(super) struct Known<R> {
    recorded: RecordDescriptor,
    operands: [u8; MAX_OPERANDS],
    handles: [u8; MAX_OPERANDS],
    result: u8,
    words: Words,
    /// One of the usual operations.
    usual: Option<Op>,
    site: Site,
    /// Memory of the shadow about the operation.
    at: R,
}

/// Places of floats and their handles, in words.
#[derive(Clone, Copy, Debug)]
struct Words {
    operands: [u8; MAX_OPERANDS],
    handles: [u8; MAX_OPERANDS],
    result: u8,
}

impl<R> Known<R> {
    pub(super) fn new<S: Recorded<Vectors, Recurring = R>>(
        mut recorded: RecordDescriptor,
        site: Site,
    ) -> Self {
        if let What::Compare(predicate) = recorded.what {
            recorded.what = What::Compare(consumed(predicate, recorded.pc));
        }
        let each = |offset: &dyn Fn(u64) -> u64| {
            std::array::from_fn(
                |n| if n < usize::from(recorded.operands) { offset(n as u64) as u8 } else { 0 },
            )
        };
        let operands = each(&|n| recorded.operand(n));
        let handles = each(&|n| recorded.handles(n));
        let usual = match recorded.what {
            What::Op(op) if S::is_usual(op, recorded.from, recorded.to) => Some(op),
            _ => None,
        };
        let (at, result) = (S::recurring(site), recorded.result() as u8);
        let words = |offsets: [u8; MAX_OPERANDS]| offsets.map(|offset| offset / 8);
        let words = Words { operands: words(operands), handles: words(handles), result: result / 8 };
        Known { recorded, operands, handles, result, words, usual, site, at }
    }
}

/// The record at `at` in a buffer.
///
/// # Safety
/// The buffer is the caller's own while it uses the record, and translated code does not run.
unsafe fn record<'a>(at: u64) -> (&'a mut Record, &'a mut Handles) {
    // SAFETY: a record is that long; whose it is is the caller's business.
    let record = unsafe { &mut *(at as *mut Record) };
    // SAFETY: there are as many bytes again beyond the buffer.
    let handles = unsafe { &mut *((at + FRESH_64) as *mut Handles) };
    (record, handles)
}

/// Puts a new handle in the four or eight bytes at `at`, where one was used.
#[inline(always)]
fn refresh<V, const N: usize>(slots: &mut Slots<V>, words: &mut [u64; N], at: usize, bytes: usize) {
    let (handle, word) = (slots.reserve(), &mut words[at / 8 % N]);
    *word = match (bytes, at % 8) {
        (8, _) => handle,
        (_, 0) => *word & !HALF | handle,
        _ => *word & HALF | handle << 32,
    };
}

/// Puts handles that results will get into records that nobody has used yet.
///
/// # Safety
/// As for [`record`], for all records at these addresses.
pub(super) unsafe fn fill<V>(slots: &mut Slots<V>, records: Range<u64>) {
    for at in records.step_by(STRIDE as usize) {
        // SAFETY: the caller's obligation.
        let (record, handles) = unsafe { record(at) };
        refresh(slots, record, FRESH as usize, 8);
        let (wide, all) = ((FRESH_32 - FRESH_64) as usize, size_of::<Handles>());
        (0..wide).step_by(8).for_each(|at| refresh(slots, handles, at, 8));
        (wide..all).step_by(4).for_each(|at| refresh(slots, handles, at, 4));
    }
}

/// The handle in the four or eight bytes at `at`; a new one takes its place.
fn used<V, const N: usize>(slots: &mut Slots<V>, words: &mut [u64; N], at: usize, bytes: usize) -> u64 {
    let handle = number(words, at, bytes);
    refresh(slots, words, at, bytes);
    handle
}

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// The number in the four or eight bytes at `at`.
#[inline(always)]
fn number<const N: usize>(words: &[u64; N], at: usize, bytes: usize) -> u64 {
    let word = words[at / 8 % N];
    if bytes == 8 { word } else { word >> (8 * (at % 8)) & HALF }
}

/// The float of `format` at `at`.
#[inline(always)]
fn float<const N: usize>(words: &[u64; N], at: usize, format: Format) -> u128 {
    match format {
        Format::F80 => u128::from(words[(at / 8 + 1) % N] & 0xffff) << 64 | u128::from(words[at / 8 % N]),
        _ => number(words, at, format.bytes()).into(),
    }
}

/// Bytes of a handle beside a float of `format`.
#[inline(always)]
fn cell_bytes(format: Format) -> usize {
    format.bytes().min(8)
}

impl Words {
    /// Reads the doubles of a lane, of so many operands; they get the result's `handle`.
    #[inline(always)]
    fn doubles(&self, record: &Record, (lane, arity): (usize, usize), handle: u64) -> Floats {
        let word = |at: u8| record[(usize::from(at) + lane) % record.len()];
        let Words { operands, handles, result } = *self;
        // Where there is no such operand, one stands in for it.
        let x = |n: usize| if n < arity { word(operands[n]) } else { 1.0_f64.to_bits() };
        let cell = |n: usize| if n < arity { word(handles[n]) } else { NO_HANDLE };
        // `map` of an array may become a call, here for each operation.
        Floats { x: [x(0), x(1), x(2)], cells: [cell(0), cell(1), cell(2)], r: word(result), handle }
    }

    /// As [`Words::doubles`] does, floats of four bytes.
    #[inline(always)]
    fn singles(&self, record: &Record, (lane, arity): (usize, usize), handle: u64) -> Floats {
        let half = |at: u8| number(record, 8 * usize::from(at) + 4 * lane, 4);
        let Words { operands, handles, result } = *self;
        let x = |n: usize| if n < arity { half(operands[n]) } else { 1.0_f32.to_bits().into() };
        let cell = |n: usize| if n < arity { half(handles[n]) } else { NO_HANDLE };
        Floats { x: [x(0), x(1), x(2)], cells: [cell(0), cell(1), cell(2)], r: half(result), handle }
    }
}

/// Number of records that are replayed while a slot is fetched.
const AHEAD: u64 = 4;
/// Bytes of a line of cache.
const LINE: usize = 64;

/// Has the processor fetch the slot of `handle`, if it has one, which is used soon.
#[inline(always)]
fn fetch<V>(slots: &Slots<V>, handle: u64) {
    let Some(start) = slots.address(handle) else { return };
    // A slot need not begin with a line: its last byte may be in one more.
    let last = const { Slots::<V>::SLOT_BYTES - 1 };
    for offset in (0..last).step_by(LINE).chain([last]) {
        // SAFETY: any address will do: nothing is read or written.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(start.wrapping_add(offset).cast()) };
    }
}

/// Shadow on which records are replayed, and its slots.
pub(super) struct Replay<'a, S: Recorded<Vectors>> {
    pub(super) vectors: Vectors,
    pub(super) shadow: &'a mut S,
    pub(super) slots: &'a mut Slots<S::Value>,
}

impl<S: Recorded<Vectors>> Replay<'_, S> {
    /// Replays the records at these addresses, of operations that are `known`. With `waits`, stops at one that has an
    /// operand whose own record is not replayed yet. The address of the first record that was not replayed.
    ///
    /// Whatever of the shadow's rule is inlined here is compiled for the processors that carry shadows: multiplications
    /// of words, shifts and fused operations take half the instructions.
    ///
    /// # Safety
    /// As for [`record`]. That the processor has these features, `self.vectors` proves.
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    pub(super) unsafe fn all(
        &mut self,
        records: Range<u64>,
        known: &mut [Known<S::Recurring>],
        waits: bool,
    ) -> u64 {
        for at in records.clone().step_by(STRIDE as usize) {
            let later = at + AHEAD * STRIDE;
            if later < records.end {
                // SAFETY: the caller's obligation.
                let (record, _) = unsafe { record(later) };
                self.fetch(record, known);
            }
            // SAFETY: the caller's obligation.
            let (record, handles) = unsafe { record(at) };
            let known = &mut known[number(record, ID as usize, 4) as usize];
            if waits && operands(record, known).any(|handle| self.slots.is_pending(handle)) {
                return at;
            }
            self.shadow.expect_sums(known.recorded.sums);
            let taken = known.recorded.taken(record[0]);
            for lane in 0..usize::from(known.recorded.lanes) {
                if taken >> lane & 1 == 0 {
                    continue;
                }
                match known.usual {
                    Some(op) if known.recorded.to == Format::F64 => {
                        self.doubles(record, handles, known, lane, op);
                    }
                    Some(op) => self.singles(record, handles, known, lane, op),
                    None => self.lane(record, handles, known, lane),
                }
            }
        }
        records.end
    }

    /// Has the processor fetch the slots of a record that is replayed soon: of its result, if it has one lane, and where slots
    /// are so many that those of older floats are far, of its operands.
    #[inline(always)]
    fn fetch(&self, record: &Record, known: &[Known<S::Recurring>]) {
        fetch(self.slots, record[FRESH as usize / 8]);
        if self.slots.are_many() {
            let Known { words, recorded, .. } = &known[number(record, ID as usize, 4) as usize];
            for &at in &words.handles[..usize::from(recorded.operands).min(2)] {
                fetch(self.slots, record[usize::from(at) % record.len()]);
            }
        }
    }

    /// One of the usual operations on doubles: as [`Replay::lane`] does it, but nothing is asked that is known.
    #[inline(always)]
    fn doubles(
        &mut self,
        record: &mut Record,
        handles: &mut Handles,
        known: &mut Known<S::Recurring>,
        lane: usize,
        op: Op,
    ) {
        let Replay { vectors, shadow, slots } = self;
        let Known { words, recorded, at, .. } = known;
        shadow.usual(*vectors, slots, (at, op, Format::F64), |slots, arity| {
            let place = match recorded.lanes {
                1 => &mut record[FRESH as usize / 8],
                _ => &mut handles[lane % (LANES as usize / 8)],
            };
            let handle = std::mem::replace(place, slots.reserve());
            words.doubles(record, (lane, arity), handle)
        });
    }

    /// One of the usual operations on floats of four bytes.
    #[inline(always)]
    fn singles(
        &mut self,
        record: &mut Record,
        handles: &mut Handles,
        known: &mut Known<S::Recurring>,
        lane: usize,
        op: Op,
    ) {
        let Replay { vectors, shadow, slots } = self;
        let Known { words, recorded, at, .. } = known;
        shadow.usual(*vectors, slots, (at, op, Format::F32), |slots, arity| {
            let handle = match recorded.lanes {
                1 => used(slots, record, FRESH as usize, 4),
                _ => used(slots, handles, LANES as usize + 4 * lane, 4),
            };
            words.singles(record, (lane, arity), handle)
        });
    }

    /// A comparison of doubles or of floats of four bytes, most of which need no more than this.
    #[inline(always)]
    fn compares_alike(&mut self, record: &Record, known: &mut Known<S::Recurring>, lane: usize) -> bool {
        let What::Compare(predicate) = known.recorded.what else { return false };
        let format = known.recorded.from;
        let Floats { x, cells, .. } = match format {
            Format::F64 => known.words.doubles(record, (lane, 2), NO_HANDLE),
            Format::F32 => known.words.singles(record, (lane, 2), NO_HANDLE),
            Format::F16 | Format::F80 => return false,
        };
        let Replay { shadow, slots, .. } = self;
        let ([a, b, _], [first, second, _]) = (x, cells);
        shadow.compares_alike(slots, (&mut known.at, predicate, format), [a, b], [first, second])
    }

    #[inline(never)]
    fn lane(
        &mut self,
        record: &mut Record,
        handles: &mut Handles,
        known: &mut Known<S::Recurring>,
        lane: usize,
    ) {
        if self.compares_alike(record, known, lane) {
            return;
        }
        let Known { recorded, site, .. } = *known;
        let count = usize::from(recorded.operands);
        let width = recorded.from.bytes();
        let (mut x, mut found) = ([0_u128; MAX_OPERANDS], [const { None }; MAX_OPERANDS]);
        let Replay { shadow, slots, .. } = self;
        for n in 0..count {
            x[n] = float(record, usize::from(known.operands[n]) + lane * width, recorded.from);
            let format = recorded.format(n);
            let kept = if format == recorded.from { x[n] } else { recorded.from.convert(x[n], format) };
            let cell = number(record, usize::from(known.handles[n]) + lane * width, cell_bytes(format));
            found[n] = slots.shadow(format, cell, kept);
            if found[n].is_none() && slots.stands_for_any(Cell::of(format, cell).handle) {
                shadow.mismatch(site);
            }
        }
        let shadows = found.each_ref().map(Option::as_deref);
        let seen = |n: usize| Observed { format: recorded.from, bits: x[n], shadow: shadows[n] };
        match recorded.what {
            What::Compare(predicate) => return shadow.compare(site, predicate, [seen(0), seen(1)]),
            What::Integer(how) => return shadow.to_integer(site, how, seen(0)),
            What::Widen | What::Sign | What::Op(_) => {}
        }
        let width = recorded.to.bytes();
        let r = match recorded.what {
            // Exact, and not written down.
            What::Widen if recorded.to == Format::F80 => recorded.from.convert(x[0], Format::F80),
            _ => float(record, usize::from(known.result) + lane * width, recorded.to),
        };
        let (from, to) = (recorded.from, recorded.to);
        let made = match recorded.what {
            What::Op(op) => {
                let (x, shadows) = (&x[..count], &shadows[..count]);
                shadow.op(&Lane { site, op, from, to, x, r, shadows })
            }
            What::Sign => shadows[0].and_then(|real| {
                let turned = from.is_negative(x[0]) != to.is_negative(r);
                shadow.with_sign(real, to, r, turned)
            }),
            _ => shadows[0].cloned(),
        };
        // A handle is used up even by an exact result: beside another float it would stand for that.
        let handle = if recorded.lanes == 1 {
            used(slots, record, FRESH as usize, cell_bytes(recorded.to))
        } else {
            let first = if recorded.to == Format::F32 { LANES as usize } else { 0 };
            used(slots, handles, first + lane * width, width)
        };
        slots.assign(handle, recorded.to, r, made);
    }
}

/// Handles of a record's operands.
fn operands<R>(record: &Record, known: &Known<R>) -> impl Iterator<Item = u64> {
    let Known { recorded, handles, .. } = known;
    let lanes = move |(n, &start): (usize, &u8)| {
        let (format, width) = (recorded.format(n), recorded.from.bytes());
        let places = (0..usize::from(recorded.lanes)).map(move |lane| usize::from(start) + lane * width);
        places.map(move |at| Cell::of(format, number(record, at, cell_bytes(format))).handle)
    };
    handles[..usize::from(recorded.operands)].iter().enumerate().flat_map(lanes)
}

/// Tells whether a result of the record at `at` gets this handle.
///
/// # Safety
/// As for [`record`].
pub(super) unsafe fn gives<R>(at: u64, known: &[Known<R>], handle: u64) -> bool {
    // SAFETY: the caller's obligation.
    let (record, handles) = unsafe { record(at) };
    let recorded = &known[number(record, ID as usize, 4) as usize].recorded;
    let width = recorded.to.bytes();
    let mut lanes = 0..usize::from(recorded.lanes);
    match lanes.len() {
        1 => number(record, FRESH as usize, cell_bytes(recorded.to)) == handle,
        _ => lanes.any(|lane| {
            number(handles, (recorded.fresh() - FRESH_64) as usize + lane * width, width) == handle
        }),
    }
}

/// The handles that the record at `at` waits for.
///
/// # Safety
/// As for [`record`].
pub(super) unsafe fn awaited<R, V>(at: u64, known: &[Known<R>], slots: &Slots<V>) -> Vec<u64> {
    // SAFETY: the caller's obligation.
    let (record, _) = unsafe { record(at) };
    let known = &known[number(record, ID as usize, 4) as usize];
    operands(record, known).filter(|&handle| slots.is_pending(handle)).collect()
}
