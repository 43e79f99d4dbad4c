//! Effects of instructions on the bits of a float in a general register or in memory, with their operands.
//!
//! An operand in memory is taken for a register that the instruction does not name. Which instruction has which effect is said by
//! `instruction`.

use crate::x86::asm::Gpr;
use crate::x86::mirror::encode::{Alu, Shift};
use crate::x86::rows;
use iced_x86::{Instruction, OpKind, Register};
use shadowgrind_core::format::Format;

/// Effect on the bits of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Some are cut out, by a mask.
    Cut,
    /// Whole bytes are cut out, by a mask.
    CutBytes,
    /// Bits that a mask has not are cut out.
    CutOthers,
    /// Some are put in.
    Join,
    /// Something is added to them, or taken off.
    Add,
    Subtract,
    /// Some are turned over.
    Flip,
    /// Bits move by whole bytes.
    MoveBytes(Shift, u8),
    /// Bits move, and no digit of the significand is left.
    DropDigits,
    /// Bits move otherwise.
    Move,
    /// All of them are added to themselves.
    Double,
    /// Bits move to the right by as many as a register says, or to the left (`None`).
    MoveBy(Option<Gpr>),
    /// Some in a row are moved to the lowest places, and the others dropped.
    Extract,
    /// Bits that a mask has are moved together, or the lowest ones to where it has some.
    Gather,
    /// Bits move, and some of another operand come in.
    Funnel,
    /// All of them are multiplied by another operand.
    Multiply,
    /// One bit is another, or those from some number on are none.
    Change,
    /// A double is turned, and turned back.
    Turn,
    TurnBack,
}

/// The other operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Other {
    None,
    Register(Gpr),
    Constant(i32),
}

/// The memory operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// The register that stands for it.
    pub(super) register: Gpr,
    /// Registers that its address is made of.
    pub(super) address: [Option<Gpr>; 2],
}

/// An instruction that takes a float apart, or puts one together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) does: Does,
    pub(super) first: Gpr,
    pub(super) other: Other,
    pub(super) to: Gpr,
    pub(super) bytes: usize,
    pub(super) loaded: Option<Loaded>,
    /// A register that it names besides.
    pub(super) count: Option<Gpr>,
    /// The carry flag is added, or taken off, as well.
    pub(super) takes_carry: bool,
}

impl Fields {
    /// Tells whether anything but leaving it to the engine comes of it.
    pub(super) fn is_followed(&self) -> bool {
        let is_count = |n| self.count == Some(n);
        if self.other == Other::Register(self.first) || is_count(self.first) {
            return false;
        }
        if matches!(self.other, Other::Register(n) if is_count(n)) {
            return false;
        }
        let Other::Constant(_) = self.other else { return true };
        let bits = self.constant();
        match self.does {
            // The tag of a turned double is put in; otherwise bytes may be put beside bytes.
            Does::Join if self.bytes == 8 && bits < 4 => true,
            Does::Join => self.upper_byte(bits) != 0,
            Does::Add => self.upper_byte(bits) != 0 || self.is_exponent(bits) || self.has_digits_alone(bits),
            Does::Multiply => bits != 1,
            _ => true,
        }
    }

    /// Format of a float as wide as the operands.
    pub(super) fn format(&self) -> Format {
        if self.bytes == 8 { Format::F64 } else { Format::F32 }
    }

    /// Bits of the significand without its first.
    pub(super) fn digits(&self) -> u8 {
        (self.format().precision() - 1) as u8
    }

    /// Least number of places by which no digit is left.
    pub(super) fn upper_digits(&self) -> u8 {
        upper_digits(self.bytes)
    }

    /// Bits of the operands.
    pub(super) fn width(&self) -> u8 {
        8 * self.bytes as u8
    }

    /// The largest exponent, that of infinities.
    pub(super) fn largest(&self) -> i32 {
        (1 << (self.width() - 1 - self.digits())) - 1
    }

    /// The constant operand's bits; zero without one.
    pub(super) fn constant(&self) -> u64 {
        i64::from(self.mask()) as u64 & (u64::MAX >> (64 - self.width()))
    }

    /// The constant operand as it is encoded; zero without one.
    pub(super) fn mask(&self) -> i32 {
        match self.other {
            Other::Constant(value) => value,
            _ => 0,
        }
    }

    pub(super) fn upper_byte(&self, bits: u64) -> u8 {
        bits.to_le_bytes()[self.bytes - 1]
    }

    /// Tells whether there are bits of the exponent alone.
    pub(super) fn is_exponent(&self, bits: u64) -> bool {
        bits != 0 && bits >> self.digits() << self.digits() == bits && bits >> (self.width() - 1) == 0
    }

    /// Tells whether there are no bits of sign and exponent.
    pub(super) fn has_digits_alone(&self, bits: u64) -> bool {
        bits >> self.digits() == 0
    }

    /// The operands that may be the float.
    pub(super) fn floats(&self) -> impl Iterator<Item = Gpr> + use<> {
        use Does::{Add, Cut, Flip, Funnel, Gather, Join, Multiply};
        let commutes = matches!(self.does, Cut | Join | Add | Flip | Gather | Funnel | Multiply);
        let second = match self.other {
            Other::Register(n) if commutes => Some(n),
            _ => None,
        };
        std::iter::once(self.first).chain(second)
    }

    /// The operand that may have no shadow, if it is not the float.
    pub(super) fn never_float(&self) -> Option<Gpr> {
        match self.other {
            Other::Register(n) if !self.floats().any(|float| float == n) => Some(n),
            _ => None,
        }
    }

    /// Registers that it names, and that which stands for memory.
    pub(super) fn registers(&self) -> impl Iterator<Item = Gpr> + use<> {
        let second = match self.other {
            Other::Register(n) => Some(n),
            _ => None,
        };
        let address = self.loaded.map_or([None; 2], |loaded| loaded.address);
        [self.first, self.to].into_iter().chain(second).chain(self.count).chain(address.into_iter().flatten())
    }

    /// The operand beside `float`.
    pub(super) fn beside(&self, float: Gpr) -> Other {
        match self.other {
            Other::Register(n) if n == float => Other::Register(self.first),
            other => other,
        }
    }

    /// Tells whether `n` stands for memory.
    pub(super) fn is_memory(&self, n: Gpr) -> bool {
        self.loaded.is_some_and(|loaded| loaded.register == n)
    }

    /// The operation of two operands that it is.
    pub(super) fn alu(&self) -> Option<Alu> {
        Some(match self.does {
            Does::Cut => Alu::And,
            Does::Join => Alu::Or,
            Does::Add if self.takes_carry => Alu::AddCarry,
            Does::Add => Alu::Add,
            Does::Subtract if self.takes_carry => Alu::SubtractBorrow,
            Does::Subtract => Alu::Subtract,
            Does::Flip => Alu::Xor,
            _ => return None,
        })
    }

    /// Tells whether `insn`, of which these are the fields, leaves its operands as they are.
    pub(super) fn has_source(&self, insn: &Instruction) -> bool {
        insn.op_count() > 2 && self.does != Does::Funnel || rows::computes_address(insn)
    }

    /// `insn`, of which these are the fields, with its result in general register `r`, in which the first operand is if the result
    /// takes its place, and what is in memory in a register.
    pub(super) fn on_registers(&self, insn: &Instruction, r: Gpr) -> Instruction {
        let register = |n: Gpr| (if self.bytes == 8 { Register::RAX } else { Register::EAX }) + u32::from(n);
        let mut made = *insn;
        if rows::computes_address(insn) {
            made.set_op0_register(register(r));
            return made;
        }
        for n in 0..insn.op_count() {
            if insn.op_kind(n) == OpKind::Memory
                && let Some(loaded) = self.loaded
            {
                made.set_op_kind(n, OpKind::Register);
                made.set_op_register(n, register(loaded.register));
                made.set_segment_prefix(Register::None);
            }
        }
        made.set_op_register(0, register(r));
        made
    }
}

/// Digits of a float as wide as `bytes`, or of the upper half of a double, which has fewer than a narrow float.
pub(super) fn upper_digits(bytes: usize) -> u8 {
    if bytes == 8 { 52 } else { 20 }
}
