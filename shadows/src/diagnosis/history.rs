//! The last operations with a shadow: enough to see what an operation's operands were made of.
//!
//! A ring of fixed size rather than a tree per value: what a value was made of is asked only where an operation is at
//! in error, soon after it was made, and costs no memory while it lives. What has left the ring is a value like any input.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::{Lane, Observed};
use shadowgrind_core::site::Site;

use super::number::Attributed;
use super::operations::Id;
use crate::ieee::Ieee;

/// Entries of the ring: four megabytes.
const LENGTH: usize = 1 << 16;
/// Places for results of exact operations.
const EXACT: usize = 1 << 12;
/// A float whose significand has no more bits than this may be any number: a constant, a counter.
const TELLING_BITS: u32 = 14;

/// Number of an entry. They count up from 1, and start again when there are no more: entries are checked by the bits of
/// the float, too.
pub(crate) type Serial = u32;

/// Serial of a real whose float is not the one that its entry made.
pub(crate) const UNTRACED: Serial = Serial::MAX;

/// A float as an operation saw it, and where it came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Source {
    /// The format.
    pub(crate) format: Format,
    /// The bits.
    pub(crate) bits: u128,
    /// The entry that made it; 0 if none did.
    pub(crate) serial: Serial,
}

impl Source {
    /// Operand `index` of `lane`.
    #[inline(always)]
    pub(crate) fn of<N: Attributed>(lane: &Lane<'_, N>, index: usize) -> Source {
        let serial = lane.shadows.get(index).copied().flatten().map_or(0, |shadow| shadow.serial());
        Source { format: lane.from, bits: lane.x.get(index).copied().unwrap_or(0), serial }
    }

    /// Source of a float that was looked at.
    pub(crate) fn of_seen<N: Attributed>(seen: &Observed<'_, N>) -> Source {
        Source {
            format: seen.format,
            bits: seen.bits,
            serial: seen.shadow.map_or(0, |shadow| shadow.serial()),
        }
    }

    /// Tells whether two floats are known to be one, with one real.
    #[inline(always)]
    pub(crate) fn is_same(&self, other: &Source) -> bool {
        self == other && self.serial != UNTRACED
    }
}

/// An operation that was executed: a line of cache.
#[derive(Clone, Copy, Debug)]
struct Entry {
    serial: Serial,
    operation: Id,
    arity: u8,
    /// The result is exact, and has no shadow.
    is_exact: bool,
    high: [u16; MAX_OPERANDS + 1],
    /// Low bits of operands and result.
    low: [u64; MAX_OPERANDS + 1],
    serials: [Serial; MAX_OPERANDS],
    formats: (Format, Format),
}

impl Entry {
    /// The bits of an operand, or of the result after them.
    fn bits(&self, index: usize) -> u128 {
        u128::from(self.high[index]) << 64 | u128::from(self.low[index])
    }
}

/// The ring.
#[derive(Debug)]
pub(crate) struct History {
    ring: Vec<Entry>,
    next: Serial,
    /// Operations that made floats without a shadow, by a hash of the float's bits: nothing else leads back to them.
    exact: Vec<Serial>,
    negations: [Id; Format::ALL.len()],
}

/// Operation that made a float.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// The operation.
    pub(crate) operation: Id,
    arity: usize,
    operands: [Source; MAX_OPERANDS],
}

impl Made {
    /// The operands.
    pub(crate) fn operands(&self) -> &[Source] {
        &self.operands[..self.arity]
    }
}

/// An operation as it was executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) operation: Id,
    arity: usize,
    operands: [Source; MAX_OPERANDS],
    result: (Format, u128),
}

impl Step {
    /// One that is being executed, and has no number yet.
    pub(crate) fn of<N: Attributed>(lane: &Lane<'_, N>) -> Step {
        Step {
            operation: Id::MAX,
            arity: lane.x.len(),
            operands: std::array::from_fn(|index| Source::of(lane, index)),
            result: (lane.to, lane.r),
        }
    }

    pub(crate) fn operands(&self) -> &[Source] {
        &self.operands[..self.arity]
    }

    /// The format and the bits of the result.
    pub(crate) fn result(&self) -> (Format, u128) {
        self.result
    }

    /// Serials of the steps that made the operands.
    pub(crate) fn serials(&self) -> impl Iterator<Item = Serial> {
        self.operands().iter().map(|operand| operand.serial).filter(|&serial| serial != 0)
    }

    /// Tells whether `source`, which has the entry's real, is the entry's result with another sign; nothing if it is another
    /// float.
    pub(crate) fn turned(&self, source: Source) -> Option<bool> {
        let (format, bits) = self.result;
        let bits = if format == source.format { bits } else { format.convert(bits, source.format) };
        match bits ^ source.bits {
            0 => Some(false),
            sign if sign == 1 << (source.format.width() - 1) => Some(true),
            _ => None,
        }
    }

    /// The step of `op` as operations are described to others, shadows being no more than there.
    pub(crate) fn with_lane<T>(&self, op: Op, then: impl FnOnce(&Lane<'_, ()>) -> T) -> T {
        let operands = self.operands();
        let x: [u128; MAX_OPERANDS] = std::array::from_fn(|i| self.operands[i].bits);
        let shadows: [Option<&()>; MAX_OPERANDS] =
            std::array::from_fn(|i| (self.operands[i].serial != 0).then_some(&()));
        let (x, shadows) = (&x[..operands.len()], &shadows[..operands.len()]);
        let ((to, r), from) = (self.result, self.operands[0].format);
        then(&Lane { site: Site::NONE, op, from, to, x, r, shadows })
    }
}

impl History {
    /// Nothing yet. `negations` are the operations that turn a sign over, by format.
    pub(crate) fn new(negations: [Id; Format::ALL.len()]) -> History {
        History { ring: Vec::new(), next: 1, exact: vec![0; EXACT], negations }
    }

    /// The operations that turn a sign over, by format.
    pub(crate) fn negations(&self) -> [Id; Format::ALL.len()] {
        self.negations
    }

    /// Remembers an operation whose result is exact and has no shadow. It is found again by its bits, unless an operand
    /// has them too.
    pub(crate) fn push_exact<N: Attributed>(&mut self, operation: Id, lane: &Lane<'_, N>) {
        if lane.x.iter().all(|&x| x != lane.r) {
            let serial = self.push(operation, lane);
            self.is_exact(serial, lane.r);
        }
    }

    /// Remembers an operation on floats whose result is exact and has no shadow.
    #[inline(always)]
    pub(crate) fn push_exact_floats<F: Ieee>(
        &mut self,
        operation: (Id, F),
        (x, arity): ([f64; 2], usize),
        r: f64,
    ) {
        if x[..arity].iter().all(|x| x.to_bits() != r.to_bits()) {
            let serial = self.push_floats(operation, (x, arity), [0; 2], r);
            self.is_exact(serial, F::bits(r).into());
        }
    }

    #[inline(always)]
    fn is_exact(&mut self, serial: Serial, result: u128) {
        self.ring[(serial as usize - 1) % LENGTH].is_exact = true;
        self.exact[place(result)] = serial;
    }

    /// Remembers that `operation` was executed.
    #[inline(always)]
    pub(crate) fn push<N: Attributed>(&mut self, operation: Id, lane: &Lane<'_, N>) -> Serial {
        let operand = |index| Source::of(lane, index);
        let operands: [Source; MAX_OPERANDS] = std::array::from_fn(operand);
        self.add(operation, lane.x.len(), &operands, (lane.to, lane.r))
    }

    /// Remembers that `operation` made the float `r` of two floats, or of the first of them.
    #[inline(always)]
    pub(crate) fn push_floats<F: Ieee>(
        &mut self,
        (operation, _): (Id, F),
        ([a, b], arity): ([f64; 2], usize),
        serials: [Serial; 2],
        r: f64,
    ) -> Serial {
        self.append(Entry {
            serial: self.next,
            operation,
            arity: arity as u8,
            is_exact: false,
            high: [0; MAX_OPERANDS + 1],
            low: [F::bits(a), if arity == 2 { F::bits(b) } else { 0 }, 0, F::bits(r)],
            serials: [serials[0], serials[1], 0],
            formats: (F::FORMAT, F::FORMAT),
        })
    }

    #[inline(always)]
    fn add(
        &mut self,
        operation: Id,
        arity: usize,
        operands: &[Source; MAX_OPERANDS],
        (format, bits): (Format, u128),
    ) -> Serial {
        let [a, b, c] = operands;
        let all = [a.bits, b.bits, c.bits, bits];
        self.append(Entry {
            serial: self.next,
            operation,
            arity: arity as u8,
            is_exact: false,
            high: all.map(|bits| (bits >> 64) as u16),
            low: all.map(|bits| bits as u64),
            serials: [a.serial, b.serial, c.serial],
            formats: (a.format, format),
        })
    }

    #[inline(always)]
    fn append(&mut self, entry: Entry) -> Serial {
        let at = (entry.serial as usize - 1) % LENGTH;
        match self.ring.get_mut(at) {
            Some(place) => *place = entry,
            None => self.ring.push(entry),
        }
        self.next = if self.next + 1 == UNTRACED { 1 } else { self.next + 1 };
        entry.serial
    }

    fn entry(&self, serial: Serial) -> Option<&Entry> {
        let at = (serial.checked_sub(1)? as usize) % LENGTH;
        self.ring.get(at).filter(|entry| entry.serial == serial)
    }

    /// Number of operations remembered; from the beginning again where serials are.
    pub(crate) fn count(&self) -> Serial {
        self.next - 1
    }

    /// An operation that is still known.
    pub(crate) fn step(&self, serial: Serial) -> Option<Step> {
        let entry = self.entry(serial)?;
        let (from, to) = entry.formats;
        let operand = |i: usize| Source { format: from, bits: entry.bits(i), serial: entry.serials[i] };
        Some(Step {
            operation: entry.operation,
            arity: entry.arity.into(),
            operands: std::array::from_fn(operand),
            result: (to, entry.bits(MAX_OPERANDS)),
        })
    }

    /// Operation that made `source`, if that is still known. A float that was widened since is the one it was. One
    /// without a shadow is known by its bits, if these are so many that no other float will have them.
    pub(crate) fn made(&self, source: Source) -> Option<Made> {
        match source.serial {
            0 if (source.bits as u64) << (64 - telling(source.format)) == 0 => None,
            0 => self.made_exactly(source),
            serial => self.made_by(serial, source),
        }
    }

    /// The operations still known that made a float of these bits, with a shadow; none if any float may have them.
    pub(crate) fn made_inexactly(&self, format: Format, bits: u128) -> impl Iterator<Item = Id> {
        let is_telling = (bits as u64) << (64 - telling(format)) != 0;
        let is_it = move |entry: &&Entry| {
            entry.low[MAX_OPERANDS] == bits as u64
                && !entry.is_exact
                && (entry.formats.1, entry.bits(MAX_OPERANDS)) == (format, bits)
        };
        let ring = if is_telling { &self.ring[..] } else { &[] };
        ring.iter().filter(is_it).map(|entry| entry.operation)
    }

    /// The last exact operation that made a float of these bits: a guess, to be believed only if it fits what is known
    /// otherwise.
    pub(crate) fn made_exactly(&self, source: Source) -> Option<Made> {
        self.made_by(self.exact[place(source.bits)], source)
    }

    fn made_by(&self, serial: Serial, source: Source) -> Option<Made> {
        let entry = self.entry(serial)?;
        let (from, to) = entry.formats;
        let bits = entry.bits(MAX_OPERANDS);
        let bits = if to == source.format { bits } else { to.convert(bits, source.format) };
        if bits != source.bits {
            return self.negated(Source { bits, serial, ..source }, source);
        }
        let operand = |i: usize| Source { format: from, bits: entry.bits(i), serial: entry.serials[i] };
        let operands = std::array::from_fn(operand);
        Some(Made { operation: entry.operation, arity: entry.arity.into(), operands })
    }

    /// A sign that was turned over, of a float with a shadow, reads as the negation it stands for.
    fn negated(&self, before: Source, after: Source) -> Option<Made> {
        let is_so = after.serial != 0 && before.bits ^ after.bits == 1 << (after.format.width() - 1);
        let at = Format::ALL.iter().position(|&format| format == after.format).filter(|_| is_so)?;
        Some(Made { operation: self.negations[at], arity: 1, operands: [before; MAX_OPERANDS] })
    }
}

/// Low bits of a format that are all zero in floats of few bits.
fn telling(format: Format) -> u32 {
    format.precision() - TELLING_BITS
}

/// Index at which the serial of an exact float is kept.
fn place(bits: u128) -> usize {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4): the top bits of a product depend on all bits.
    ((bits as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - EXACT.trailing_zeros())) as usize
}
