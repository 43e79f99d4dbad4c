//! Layout of trace records: where what is written down of an operation is in its record, for the code that writes it and for the
//! replay that reads it.
//!
//! A buffer is [`BUFFER`] bytes and aligned to as much, so that its end is told by the low bits of the position; each record has
//! [`STRIDE`] bytes, of which operations on one lane use the first line of cache. Handles for several lanes, one set for each
//! record, are in as many bytes again beyond the buffer. Knows neither code nor what is replayed.

use shadowgrind_core::appended::Source;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::step::{Predicate, Sums, ToInteger};

/// Bytes of a buffer; its address is a multiple of it.
pub(crate) const BUFFER: u64 = 1 << 16;
/// Bytes of a record.
pub(crate) const STRIDE: u64 = 256;
/// Offset of the number of the [`RecordDescriptor`].
pub(crate) const ID: u64 = 0;
/// Offset of 16 bits, of lanes that are taken, where some may not be.
pub(crate) const LANES_TAKEN: u64 = 4;
/// Offset of the handle that a result of one lane gets.
pub(crate) const FRESH: u64 = 8;
/// Offset, beyond the buffer, of the handles that results of several lanes of eight bytes get.
pub(crate) const FRESH_64: u64 = BUFFER;
/// Offset of the handles that results of several lanes of four bytes get.
pub(crate) const FRESH_32: u64 = BUFFER + 32;
/// Most bytes of a result.
pub(crate) const LANES: u64 = 32;

/// Operation of an instruction that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An operation.
    Op(Op),
    /// A move of a float into a wider format: the real stays.
    Widen,
    /// A sign that is set or cleared, whatever it was: the real's is the float's then.
    Sign,
    /// A comparison.
    Compare(Predicate),
    /// A conversion to an integer.
    Integer(ToInteger),
}

/// Part of a record that several instructions append together (`append`): where the code has put what this one adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Staged {
    /// Number of the descriptor of the instruction before, if this is not the first.
    pub(crate) before: Option<u32>,
    /// Place of the first result among the numbers of the record.
    pub(crate) number: u16,
    /// The operands' shadows, with offsets from the record's start.
    pub(crate) cells: [Source; MAX_OPERANDS],
    /// Operands and result: offsets among the record's floats and one more; 0 for what is not written down.
    pub(crate) x: [u16; MAX_OPERANDS],
    pub(crate) r: u16,
    /// Formats that long doubles are written down in.
    pub(crate) kept: [Format; MAX_OPERANDS],
    /// Bytes of cells and of floats up to here.
    pub(crate) bytes: [u16; 2],
}

/// An instruction that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordDescriptor {
    /// The address.
    pub(crate) pc: u64,
    /// The operation, lane by lane.
    pub(crate) what: What,
    /// Number of lanes.
    pub(crate) lanes: u8,
    /// Number of operands.
    pub(crate) operands: u8,
    /// Format of the operands.
    pub(crate) from: Format,
    /// Format of the result.
    pub(crate) to: Format,
    /// Kind of sum: whether a term of it may round the others.
    pub(crate) sums: Sums,
    /// Part of a record that it is, if operations are appended.
    pub(crate) staged: Option<Staged>,
    /// Number of an operand that is in memory in a narrower format than `from`, and that format, in which it has its shadow; it
    /// is written down in `from`.
    pub(crate) narrow: Option<(u8, Format)>,
    /// If some of the lanes are left out: the bit of the first one among those at [`LANES_TAKEN`].
    pub(crate) masked: Option<u8>,
}

impl RecordDescriptor {
    /// Descriptor of the operation `what` at `pc`, on one lane of operands in format `from`, with a result in format `to`: in a
    /// record of its own, with no lane left out and no term that rounds others. Other kinds of records differ from this one.
    pub(crate) fn new(pc: u64, what: What, operands: u8, [from, to]: [Format; 2]) -> RecordDescriptor {
        RecordDescriptor {
            pc,
            what,
            lanes: 1,
            operands,
            from,
            to,
            sums: Sums::Plain,
            staged: None,
            narrow: None,
            masked: None,
        }
    }

    /// Bytes between one operand and the next.
    fn apart(&self) -> u64 {
        (u64::from(self.lanes) * self.from.bytes() as u64).next_power_of_two().max(8)
    }

    /// Lanes that are operated on, as a mask, where this is the first word of the record.
    #[inline(always)]
    pub(crate) fn taken(&self, word: u64) -> u64 {
        self.masked.map_or(u64::MAX, |first| word >> (8 * LANES_TAKEN) >> first)
    }

    /// Offset of the lanes of operand `n`.
    pub(crate) fn operand(&self, n: u64) -> u64 {
        self.apart().max(16) + n * self.apart()
    }

    /// Offset of the handles of operand `n`.
    pub(crate) fn handles(&self, n: u64) -> u64 {
        self.operand(u64::from(self.operands) + n)
    }

    /// Format that operand `n` has its shadow in.
    pub(crate) fn format(&self, n: usize) -> Format {
        self.narrow.filter(|&(narrow, _)| usize::from(narrow) == n).map_or(self.from, |(_, format)| format)
    }

    /// Offset of the result's lanes.
    pub(crate) fn result(&self) -> u64 {
        self.operand(2 * u64::from(self.operands))
    }

    /// Offset of the handles that the result gets.
    pub(crate) fn fresh(&self) -> u64 {
        match self.to {
            _ if self.lanes == 1 => FRESH,
            Format::F32 => FRESH_32,
            _ => FRESH_64,
        }
    }
}
