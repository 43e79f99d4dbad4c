//! TABLE 2: which steps an instruction is made of. One row per mnemonic; legacy and VEX forms share a row.
//!
//! A row says what is done to lanes, in what format and shape. Which operand is read or written, how wide registers
//! are and what an encoding does with upper lanes is iced's knowledge and is asked of it, never restated. What is not
//! supported is a row too.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::{Bitwise, ToInteger};

/// Lanes of a vector register that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The lowest; the rest comes from the first source (VEX) or stays (legacy).
    Scalar,
    /// All of the operand's width.
    Packed,
}

/// Stands for the implicit xmm0 in the control of a [`Row::Move`].
pub(crate) const XMM0: u8 = 0x80;

/// Effect of an instruction on lanes.
///
/// Operands are named as in the VEX form: destination, first source, second source …; in a two-operand legacy form the
/// destination is the first source too, except for unary operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Row {
    /// No row of its own: what it writes is no float, be it register or memory.
    Integer,
    /// Reads and writes no register or memory that could hold a float.
    Nothing,
    /// Names memory, and neither reads nor writes it: a prefetch, an operation of no effect.
    Hint,
    /// Not supported, and why; counted when it meets a shadow.
    Gap(&'static str),

    /// Lane-wise binary operation of the two sources.
    Arith(Op, Format, Shape),
    /// Lane-wise operation of the last source.
    Unary(Op, Format, Shape),
    /// ±(a·b)±c; the operand numbers that are a, b and c.
    Fused(Op, [u8; 3], Format, Shape),
    /// As `Fused`, with one operation on even lanes and another on odd ones.
    FusedAlternating {
        /// Operation on lanes 0, 2, ….
        even: Op,
        /// Operation on lanes 1, 3, ….
        odd: Op,
        /// Operand numbers of a, b, c.
        terms: [u8; 3],
        /// Lane format.
        format: Format,
    },
    /// The first source times two to the power of the second, rounded down.
    Scale(Format, Shape),
    /// Subtracts in even lanes, adds in odd ones.
    AddSub(Format),
    /// The operation between neighbouring lanes of each source.
    Horizontal(Op, Format),
    /// Inner product by immediate mask, within 128 bits.
    DotProduct(Format),
    /// Rounds to integral values by the immediate's mode, or to binary fractions.
    Round(Format, Shape),

    /// Leaves what rounding by the immediate's mode, to integers or binary fractions, takes off.
    Reduce(Format, Shape),
    /// One of the two sources by size, with a sign, both as the immediate says.
    Range(Format, Shape),
    /// The last source times a power of two that brings it near one.
    Significand(Format, Shape),
    /// The first source, the destination or a constant: the second source says which for each kind of float.
    FixUp(Format, Shape),

    /// f64 to f32.
    Narrow(Shape),
    /// f32 to f64.
    Widen(Shape),
    /// f32 to f16: in a register, or memory.
    ToHalf,
    /// f16 to f32.
    FromHalf,
    /// Integers, or bfloat16 floats, to floats: they start afresh.
    FromInteger(Format, Shape),
    /// Floats to integers, in general registers (`Scalar`) or lanes.
    ToInteger(Format, ToInteger, Shape),

    /// Bytes move or are rearranged; the same instruction on shadows in place of data does to them what it does to
    /// the data. Bit n set: operand n is control, not data; [`XMM0`]: xmm0 is control.
    Move(Moved, u8),
    /// Lanes from memory at vector-indexed addresses, under a mask; the format stands for the lanes' width.
    Gather(Format),
    /// Lanes to memory, likewise.
    Scatter(Format),
    /// Bitwise and, or, xor, and-not.
    Logic(Integral, Lanes),
    /// Any bitwise function of three operands, the first of which is the destination: the immediate is its truth table.
    Ternary(Format),
    /// Vector integer arithmetic whose result may still be a float of this width: shifts and sums of exponents.
    Trick(Integral, Format),
    /// Integers are made of digits, in general registers or vectors: what had a shadow loses it.
    Digits,
    /// Compares lanes into masks, by the immediate or the mnemonic's predicate.
    Compare(Format, Shape),
    /// Tells lanes of some kinds from others, by the immediate.
    Classify(Format, Shape),
    /// Compares the lowest lanes into the flags.
    CompareFlags(Format),
    /// Clears the upper halves of all vector registers, or all of them.
    ZeroUpper,
    /// Clears all vector registers.
    ZeroAll,

    /// Saves or restores the state of x87 and vector registers in memory.
    State(Image, Direction),
    /// Saves or restores MXCSR in memory.
    Mxcsr(Direction),
    /// Sets the flags as this operation on general registers or memory would; its result is dropped.
    Flags(Integral),

    /// x87.
    X87(X87),
    /// General registers.
    General(General),
}

/// Way in which a move moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// All of them, as they are.
    Whole,
    /// The lowest, as many as a float of this format has, between general registers, vector registers and memory; the rest of a
    /// vector register becomes zero.
    Lowest(Format),
    /// The lowest lane. Between registers the others are the first source's; from memory they become zero.
    Lane(Format),
    /// One element, between a vector register and a general register or memory.
    Element,
    /// Halves of 16 bytes: an immediate names the source of each.
    Halves,
    /// Each lane from one of two sources, by an immediate's bits.
    Blend(Format),
    /// Each lane from one of two sources, by the sign of a third operand's lane.
    Select(Format),
    /// Each byte likewise.
    SelectBytes,
    /// Each lane from one of two sources, by a bit of a mask.
    Chosen,
    /// Lanes from or to memory, where the sign of another operand's lane says so.
    Masked(Format),
    /// Any other rearrangement.
    Rearranged,
}

/// Direction of a transfer between registers and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To memory.
    Save,
    /// From memory.
    Restore,
}

/// Layout of the registers that an instruction saves or restores in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// The environment of x87, then its eight registers.
    Floats,
    /// x87 and xmm, at fixed offsets.
    Fixed,
    /// The components asked for, at the offsets that the header says.
    Components,
}

/// Lanes of a bitwise operation, as its name says them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lanes {
    /// Of this format.
    Of(Format),
    /// The name says nothing: floats of either width may be in them, and a wide lane of zeros may be one of them.
    Untyped,
}

impl Lanes {
    /// The format that lanes are taken to have.
    pub(crate) fn format(self) -> Format {
        match self {
            Lanes::Of(format) => format,
            Lanes::Untyped => Format::F64,
        }
    }
}

/// Operation on bits: of words, or of the lanes of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integral {
    And,
    /// The complement of the first operand, and the second.
    AndNot,
    Or,
    Xor,
    Add,
    /// Adds the carry flag, too.
    AddCarry,
    Subtract,
    /// Subtracts the carry flag, too.
    SubtractBorrow,
    Increment,
    Decrement,
    Multiply,
    ShiftLeft,
    ShiftRight,
    /// The sign comes in.
    ShiftRightSigned,
    /// Each lane by a count of its own.
    ShiftEach,
    RotateLeft,
    RotateRight,
    /// Bits of a second operand come in.
    ShiftLeftDouble,
    /// Bits of a second operand come in.
    ShiftRightDouble,
    /// Bits below a number, given by an operand.
    Low,
    /// Bits from one number on, so many.
    Field,
    /// Low bits, put where a mask has bits.
    Deposit,
    /// Bits where a mask has bits, put together.
    Extract,
    /// One bit, set, cleared or inverted.
    Bit,
    /// The larger or the smaller.
    Extreme,
}

impl Integral {
    /// The name among steps.
    pub(crate) fn bitwise(self) -> Bitwise {
        match self {
            // What is taken out by all of a mask's bits, or put where they are, is that.
            Integral::And | Integral::Deposit | Integral::Extract => Bitwise::And,
            Integral::AndNot => Bitwise::AndNot,
            Integral::Low => Bitwise::Low,
            Integral::Xor => Bitwise::Xor,
            Integral::Add | Integral::AddCarry | Integral::Increment => Bitwise::Sum,
            Integral::Subtract | Integral::SubtractBorrow | Integral::Decrement => Bitwise::Difference,
            Integral::Multiply => Bitwise::Product,
            by if by.shifts_two() => Bitwise::Funnel,
            _ => Bitwise::Other,
        }
    }

    /// Tells whether the result is zero if both operands are the same.
    pub(crate) fn clears_equals(self) -> bool {
        matches!(self, Integral::Xor | Integral::AndNot | Integral::Subtract)
    }

    /// Tells whether it shifts one operand, all of it by one count.
    pub(crate) fn shifts(self) -> bool {
        matches!(self, Integral::ShiftLeft | Integral::ShiftRight | Integral::ShiftRightSigned)
    }

    /// Tells whether the carry flag is one of its operands.
    pub(crate) fn takes_carry(self) -> bool {
        matches!(self, Integral::AddCarry | Integral::SubtractBorrow)
    }

    /// Tells whether it shifts two operands as one, by a count.
    pub(crate) fn shifts_two(self) -> bool {
        matches!(self, Integral::ShiftLeftDouble | Integral::ShiftRightDouble)
    }

    /// Tells whether it rotates.
    pub(crate) fn rotates(self) -> bool {
        matches!(self, Integral::RotateLeft | Integral::RotateRight)
    }

    /// Tells whether the second operand has digits of the result, and is no count.
    pub(crate) fn takes_two(self) -> bool {
        use Integral::{Bit, Decrement, Field, Increment, ShiftEach};
        !self.shifts() && !self.rotates() && !matches!(self, Bit | Decrement | Field | Increment | ShiftEach)
    }
}

impl Row {
    /// Tells whether new floats are made of floats.
    pub(crate) fn computes(self) -> bool {
        use X87::{Arith, Binary, Extract, Scale, SinCos, Tangent, Unary};
        match self {
            Row::Arith(..)
            | Row::Unary(..)
            | Row::Fused(..)
            | Row::FusedAlternating { .. }
            | Row::Scale(..)
            | Row::AddSub(_)
            | Row::Horizontal(..)
            | Row::DotProduct(_)
            | Row::Round(..)
            | Row::Reduce(..)
            | Row::Range(..)
            | Row::Significand(..)
            | Row::Narrow(_)
            | Row::ToHalf => true,
            Row::X87(x87) => {
                matches!(x87, Arith(..) | Unary(_) | Binary(_) | Scale(_) | SinCos | Tangent | Extract)
            }
            _ => false,
        }
    }

    /// Tells whether MXCSR is stored or loaded, alone or with other state.
    pub(crate) fn concerns_mxcsr(self) -> bool {
        match self {
            Row::Mxcsr(_) => true,
            Row::State(image, _) => image != Image::Floats,
            _ => false,
        }
    }

    /// Tells whether executions of the operation may be watched: its shadow is computed beside the guest's as a rule, or
    /// recorded, as comparisons and roundings to integers may be (`records`).
    pub(crate) fn is_watched(self, records: bool) -> bool {
        matches!(self, Row::Arith(..) | Row::Unary(..) | Row::Fused(..) | Row::Narrow(_))
            || matches!(self, Row::FusedAlternating { .. } | Row::AddSub(_) | Row::Horizontal(..))
            || matches!(self, Row::X87(X87::Arith(..) | X87::Unary(_) | X87::Store))
            || records && matches!(self, Row::CompareFlags(_) | Row::Round(..))
    }

    /// Tells whether the address of the last x87 instruction is saved in memory.
    pub(crate) fn saves_x87_address(self) -> bool {
        matches!(self, Row::State(_, Direction::Save) | Row::X87(X87::SaveEnvironment))
    }

    /// Tells whether a result may be rounded though the operands are exact; integers and fractions that floats are rounded to are meant as such.
    pub(crate) fn rounds(self) -> bool {
        self.computes() && !matches!(self, Row::Round(..))
    }
}

/// Effect of an x87 instruction. Formats of memory operands, and pops, are iced's knowledge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum X87 {
    /// Pushes a float from memory or a register.
    Load,
    /// Pushes an integer or a constant.
    LoadExact,
    /// Stores to memory or a register.
    Store,
    /// Stores an integer.
    StoreInteger(ToInteger),
    /// Binary operation. `true`: operands exchanged (the `r` forms). An integer operand is exact.
    Arith(Op, bool),
    /// Operation on the top.
    Unary(Op),
    /// Operation on next (first) and top (second), result in the next.
    Binary(Op),
    /// Operation on top (first) and next (second), result in the top.
    Scale(Op),
    /// Sine stays below, cosine is pushed.
    SinCos,
    /// Tangent, then the constant 1 is pushed.
    Tangent,
    /// Exponent below, significand pushed.
    Extract,
    /// Exchanges two registers.
    Exchange,
    /// Moves if a condition holds, by the processor's number for it.
    ConditionalMove(u8),
    /// Compares with the top, into flags or status.
    Compare,
    /// Compares the top with zero, into status.
    CompareZero,
    /// Frees a register.
    Free,
    /// Empties all registers.
    Reset,
    /// Moves the top of the stack by one, and nothing else.
    Rotate,
    /// Stores the status word.
    Status,
    /// Reads control or status, or loads rounding and masks.
    Control,
    /// Loads or clears control and status as a whole: the top may be another afterwards, or exceptions unmasked.
    Environment,
    /// Saves control and status as a whole, with the address of the last x87 instruction, and masks exceptions.
    SaveEnvironment,
}

impl X87 {
    /// Tells whether it neither reads nor writes a float, be it in a register or in memory.
    pub(crate) fn keeps_floats(self) -> bool {
        use X87::{Control, Environment, Rotate, SaveEnvironment, Status};
        matches!(self, Rotate | Status | Control | Environment | SaveEnvironment)
    }
}

/// Bits that come in above those of a source that is narrower than its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    Zeros,
    /// Copies of the source's first bit.
    Sign,
}

/// Effect of an instruction on general registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum General {
    /// Moves as many bytes as its destination has.
    Move,
    /// Moves the source's bytes; what is beyond them is no part of a float any more.
    Extend(Fill),
    /// Extends what is in so many low bytes of the accumulator, which stays there.
    ExtendInPlace(u8),
    /// Moves if a condition holds.
    ConditionalMove,
    /// Pushes its operand, or the flags.
    Push,
    /// Pops into a register or memory.
    Pop,
    /// Exchanges its operands.
    Exchange,
    /// Compare and exchange.
    CompareExchange,
    /// Compare and exchange of 8 or 16 bytes.
    CompareExchangeWide,
    /// Exchange and add.
    ExchangeAdd,
    /// Reverses bytes in place.
    ByteSwap,
    /// Reverses bytes on the way.
    MoveReversed,
    /// Logical, shift and integer operations whose result may still be a float.
    Bits(Integral),
    /// A sum of registers or constants, made as an address, that may still be a float.
    Address,
    /// Inverts all bits, or negates as an integer: undone by a second time, so that the shadow stays, but for its sign.
    Not,
    /// `movs`, with or without `rep`.
    MoveString,
    /// `stos`, with or without `rep`.
    StoreString,
    /// `lods`, with or without `rep`.
    LoadString,
    /// `leave`: rsp from rbp, then a pop.
    Leave,
    /// `enter`: a push of rbp and room for a frame.
    Enter,
}
