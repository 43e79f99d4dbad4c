//! Steps: what one guest instruction does to lanes, independent of instruction set and shadow.
//!
//! A front end lowers each instruction once to a [`Lowered`]: which bytes of values have to be captured when it runs,
//! and the steps that move, combine and drop shadows accordingly. Running them is `replay`'s work. Knows no registers
//! by name: a front end lays its register file out in a byte-addressed *state* and says offsets.

use crate::format::Format;
use crate::ops::{MAX_OPERANDS, Op};
use crate::rounding::Rounding;

/// Place of a lane, in terms of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Byte offset in the thread's state.
    State(u16),
    /// Byte offset from the address of the instruction's memory operand of this number.
    Memory {
        /// Number of the memory operand, from 0.
        operand: u8,
        /// Bytes from its address.
        offset: u16,
    },
}

impl Place {
    /// Bytes from `first` on to here, if the two are in one row.
    pub fn distance_from(self, first: Place) -> Option<u16> {
        match (self, first) {
            (Place::State(at), Place::State(first)) => at.checked_sub(first),
            (Place::Memory { operand, offset }, Place::Memory { operand: other, offset: first }) => {
                offset.checked_sub(first).filter(|_| operand == other)
            }
            _ => None,
        }
    }

    /// The place `bytes` further on.
    pub const fn plus(self, bytes: u16) -> Place {
        match self {
            Place::State(at) => Place::State(at + bytes),
            Place::Memory { operand, offset } => Place::Memory { operand, offset: offset + bytes },
        }
    }
}

/// A lane and the captured bytes of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The place of its shadow.
    pub place: Place,
    /// Offset of its value in the record.
    pub value: u16,
}

impl Operand {
    /// The lane `bytes` further on, in place and record alike.
    pub const fn plus(self, bytes: u16) -> Operand {
        Operand { place: self.place.plus(bytes), value: self.value + bytes }
    }
}

/// The relations between two floats for which a comparison is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate(pub u8);

impl Predicate {
    /// a < b.
    pub const LESS: u8 = 1;
    /// a = b.
    pub const EQUAL: u8 = 2;
    /// a > b.
    pub const GREATER: u8 = 4;
    /// Either is NaN.
    pub const UNORDERED: u8 = 8;
    /// Tells all relations apart: a comparison into flags, of which it is not known what is asked.
    pub const ORDER: Predicate = Predicate(0x80);

    /// Tells whether it tells equal floats from all others: == and !=, whatever they say of NaN.
    pub const fn asks_for_equality(self) -> bool {
        const OTHERS: u8 = Predicate::LESS | Predicate::GREATER;
        matches!(self.0 & !Predicate::UNORDERED, Predicate::EQUAL | OTHERS)
    }
}

/// Purpose of a sum, as far as the code around it tells. A number that is added may be meant to round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sums {
    /// Nobody knows.
    #[default]
    Unknown,
    /// A sum, whatever its terms are.
    Plain,
    /// A term is taken off again.
    TakenOff,
}

/// Conversion of a float to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToInteger {
    /// Towards zero.
    Truncate,
    /// By the rounding mode of the moment.
    Round,
    /// To the nearest, away from zero where two are: C's `lround`.
    Away,
}

impl ToInteger {
    /// The rounding to an integer that it is.
    pub fn rounding(self) -> Rounding {
        match self {
            ToInteger::Truncate => Rounding::Zero,
            ToInteger::Round => Rounding::Current,
            ToInteger::Away => Rounding::NearestAway,
        }
    }

    /// The operation whose result is the integer as a float.
    pub fn op(self) -> Op {
        match self {
            ToInteger::Truncate => Op::Trunc,
            ToInteger::Round => Op::Rint,
            ToInteger::Away => Op::Round,
        }
    }
}

/// Effect of a logical or integer operation on bits, as far as that decides which floats may come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitwise {
    /// Conjunction: cuts out, selects.
    And,
    /// Conjunction of the second operand with the first one's complement.
    AndNot,
    /// The low bits of one operand, as many as the other says.
    Low,
    /// Exclusive disjunction: turns signs over, and undoes itself.
    Xor,
    /// The sum as integers.
    Sum,
    /// The sum of the first operand and a multiple of the second, as integers.
    SumOfMultiple,
    /// The first operand less the second, as integers.
    Difference,
    /// The product as integers.
    Product,
    /// Bits of both operands, shifted as one number.
    Funnel,
    /// Disjunction, shifts: put together, scale.
    Other,
}

/// Origin of each byte of a permutation's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Map {
    /// Known when the instruction was lowered.
    Fixed(Box<[u8]>),
    /// In the record, at this offset, one byte per byte of the result.
    Recorded(u16),
}

/// First index that stands for a byte of the second source in a [`Map`].
pub const SECOND_SOURCE: u8 = 64;
/// Mark for "no source" in a [`Map`]: the byte's shadow is cleared.
pub const NO_SOURCE: u8 = 255;

/// Bytes of the widest float before its last one.
pub const BEFORE_END: u16 = 9;
/// Bytes looked at around the end of a float.
pub const AROUND_END: u16 = BEFORE_END + 2;

/// One step. Steps of an instruction run in order; each sees the shadows that those before it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A real-number operation on lanes; operands beyond the op's arity repeat the first.
    Op {
        /// The row of TABLE 1.
        op: Op,
        /// Format of the operands.
        from: Format,
        /// Format of the result.
        to: Format,
        /// Operands, captured before the instruction.
        x: [Operand; MAX_OPERANDS],
        /// The result, captured after the instruction.
        r: Operand,
    },
    /// A float in a wider format: the same real.
    Widen {
        /// Format before.
        from: Format,
        /// Format after.
        to: Format,
        /// The float before.
        x: Operand,
        /// The float after.
        r: Operand,
    },
    /// Bytes move as they are, shadows with them. Source and destination may overlap.
    Copy {
        /// From here …
        from: Place,
        /// … to here,
        to: Place,
        /// so many bytes.
        bytes: u16,
    },
    /// Bytes of one or two sources are rearranged.
    Permute {
        /// The sources.
        from: [Place; 2],
        /// The result.
        to: Place,
        /// Bytes of the result.
        bytes: u16,
        /// The origin of each byte.
        map: Map,
    },
    /// Bytes are overwritten by something that is no float.
    Clear {
        /// From here,
        at: Place,
        /// so many bytes.
        bytes: u16,
    },
    /// Bytes are overwritten by something that nobody makes a part of a float: what is left of the float around them is none. Floats
    /// are aligned to four bytes in memory.
    ClearAround {
        /// From here,
        at: Place,
        /// so many bytes.
        bytes: u16,
    },
    /// A logical or integer operation: a result that is ±x·2ᵏ, bit pattern against bit pattern, keeps x's shadow.
    Bits {
        /// The operation.
        by: Bitwise,
        /// The operands; one twice if there is no other.
        x: [Operand; 2],
        /// The result.
        r: Operand,
        /// Bytes of the result.
        bytes: u16,
        /// The width of float the operation's own element width suggests.
        lane: Format,
    },
    /// Integers are made of these bytes in a way after which nothing of a float is left: what had a shadow has lost it.
    Digits {
        /// Operands, and how many bytes of each are read: eight, or as few as there are.
        x: Vec<(Operand, u16)>,
        /// Results, likewise.
        to: Vec<(Place, u16)>,
    },
    /// A part of a float is overwritten, in place.
    Part {
        /// Format of the float.
        format: Format,
        /// The float before.
        x: Operand,
        /// The float after.
        r: Operand,
        /// Place of what is put there; nothing for a constant.
        from: Option<Place>,
        /// Number of the first byte that is overwritten.
        at: u16,
        /// Number of these bytes.
        bytes: u16,
    },
    /// Bytes move such that doubles may be put together from parts of several.
    Mixed(Box<Mixed>),
    /// One or two bytes in memory are written that may be the end of a float, as their address tells where floats are
    /// aligned. The float has another sign or exponent then, or is none any more.
    End {
        /// The [`AROUND_END`] bytes from [`BEFORE_END`] before those that are written on, as they were.
        x: Operand,
        /// Bytes as they are once the instruction has written.
        r: Operand,
        /// Place of what is put there; nothing for a constant.
        from: Option<Place>,
        /// Number of bytes.
        bytes: u16,
        /// True if they were read there, and have been changed.
        restored: bool,
    },
    /// A long double that has been moved, perhaps by parts, is one again.
    Mend {
        /// The place.
        at: Place,
    },
    /// Something that is no float takes the value of these bits, which may be a float's.
    Dropped {
        /// From here,
        at: Place,
        /// so many bytes.
        bytes: u16,
    },
    /// A comparison of floats decides something.
    Compare {
        /// Format of both.
        format: Format,
        /// The condition of the comparison.
        predicate: Predicate,
        /// The two.
        x: [Operand; 2],
    },
    /// Integers are compared that may be digits of floats, and it is asked whether they are equal. No shadow sees that.
    Equal {
        /// The two.
        x: [Operand; 2],
        /// Bytes of each, at most eight.
        bytes: u16,
        /// Bytes of the floats that they may be parts of.
        around: u16,
    },
    /// A float becomes an integer.
    Integer {
        /// The format.
        format: Format,
        /// The conversion.
        how: ToInteger,
        /// The float.
        x: Operand,
    },
    /// Skips the next steps if anything is kept beside these bytes.
    UnlessKept {
        /// From here,
        at: Place,
        /// so many bytes, at most eight.
        bytes: u16,
        /// Number of steps.
        skip: u8,
    },
    /// Skips the next steps if this lane has a shadow that knows it for its own.
    UnlessRecognised {
        /// The format.
        format: Format,
        /// The lane.
        x: Operand,
        /// Number of steps.
        skip: u8,
    },
    /// Skips the next steps unless the record's byte is non-zero: conditional moves.
    Unless {
        /// Offset in the record.
        flag: u16,
        /// Number of steps.
        skip: u8,
    },
}

/// A move that may put doubles together from parts of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// The result.
    pub r: Operand,
    /// Bytes of the result.
    pub bytes: u16,
    /// Operands that are read, as they were, and how many bytes of each.
    pub read: Vec<(Operand, u16)>,
    /// The steps that move: copies, permutations and clearing.
    pub moves: Vec<Step>,
}

/// Value that must be captured while the instruction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// Bytes before the instruction.
    Before {
        /// The place of the value.
        place: Place,
        /// Size of the value, in bytes.
        bytes: u16,
        /// Offset in the record.
        at: u16,
    },
    /// Bytes after the instruction.
    After {
        /// The place of the value.
        place: Place,
        /// Size of the value, in bytes.
        bytes: u16,
        /// Offset in the record.
        at: u16,
    },
    /// One byte, non-zero if the condition (the processor's number for it) holds before the instruction.
    Condition {
        /// Number of the condition.
        condition: u8,
        /// Offset in the record.
        at: u16,
    },
    /// A permutation's [`Map`], found by running the instruction on byte indices in place of its data.
    Map {
        /// Number of result bytes.
        bytes: u16,
        /// Offset in the record.
        at: u16,
    },
}

/// An instruction as steps. Its record begins with the addresses of its memory operands, eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lowered {
    /// Number of memory operands.
    pub addresses: u8,
    /// Purpose of its sums.
    pub sums: Sums,
    /// The format of which its result is a float, if it is known to be one of which a part is changed.
    pub whole: Option<Format>,
    /// True if four bytes that it changes are the upper half of a double.
    pub is_upper: bool,
    /// True if its result is put back to where it came from: what becomes of the float is seen there.
    pub passing: bool,
    /// The values to capture.
    pub captures: Vec<Capture>,
    /// The steps that replay does.
    pub steps: Vec<Step>,
    /// Bytes of the record.
    pub record: u16,
}

impl Lowered {
    /// Reserves `bytes` of the record and returns their offset.
    pub fn reserve(&mut self, bytes: u16) -> u16 {
        let at = self.record;
        self.record += bytes;
        at
    }

    /// Has `bytes` at `place` captured before the instruction.
    pub fn before(&mut self, place: Place, bytes: u16) -> Operand {
        let value = self.reserve(bytes);
        self.captures.push(Capture::Before { place, bytes, at: value });
        Operand { place, value }
    }

    /// Has `bytes` at `place` captured after the instruction.
    pub fn after(&mut self, place: Place, bytes: u16) -> Operand {
        let value = self.reserve(bytes);
        self.captures.push(Capture::After { place, bytes, at: value });
        Operand { place, value }
    }
}
