//! Instructions that may leave a float in a general register with another exponent or sign, or take it apart: their operands.

use crate::x86::asm::Gpr;
use crate::x86::mirror::encode::{Alu, Shift};
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::turned::TURN;

/// Effect on the bits of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Some are cut out, by a mask.
    Cut,
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
    Move(Shift, u8),
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

/// An instruction that takes a float apart, or puts one together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) does: Does,
    pub(super) first: Gpr,
    pub(super) other: Other,
    pub(super) to: Gpr,
    pub(super) bytes: usize,
}

/// Tells whether `insn` is one that may be annotated so.
pub(crate) fn may_follow(insn: &Instruction) -> bool {
    fields(insn).is_some()
}

pub(super) fn fields(insn: &Instruction) -> Option<Fields> {
    let found = match rows::row(insn) {
        Row::General(General::Bits(by)) => bits(insn, by),
        Row::General(General::Address) => address(insn),
        _ => None,
    };
    found.filter(Fields::is_followed)
}

/// Number of a register that may hold a float as wide as `bytes`.
fn number(register: Register, bytes: usize) -> Option<Gpr> {
    let may_hold = register.is_gpr() && register.size() == bytes && register.full_register() != Register::RSP;
    may_hold.then(|| register.number() as Gpr)
}

fn bits(insn: &Instruction, by: Integral) -> Option<Fields> {
    let bytes = insn.op0_register().size();
    if insn.op0_kind() != OpKind::Register || !matches!(bytes, 4 | 8) {
        return None;
    }
    let first = number(insn.op0_register(), bytes)?;
    let does = match by {
        Integral::And => Does::Cut,
        Integral::Or => Does::Join,
        Integral::Xor => Does::Flip,
        Integral::Add | Integral::Increment => Does::Add,
        Integral::Subtract | Integral::Decrement => Does::Subtract,
        _ => return moved(insn, by, first, bytes),
    };
    let other = match by {
        Integral::Increment | Integral::Decrement => Other::Constant(1),
        _ if insn.op_count() != 2 => return None,
        _ if insn.op1_kind() == OpKind::Register => Other::Register(number(insn.op1_register(), bytes)?),
        _ if insn.op1_kind() == OpKind::Memory => return None,
        _ => Other::Constant(insn.immediate(1) as i32),
    };
    Some(Fields { does, first, other, to: first, bytes })
}

/// A shift or rotation by a constant, in place.
fn moved(insn: &Instruction, by: Integral, first: Gpr, bytes: usize) -> Option<Fields> {
    if insn.op_count() != 2 || insn.op1_kind() != OpKind::Immediate8 {
        return None;
    }
    let count = insn.immediate8() & (8 * bytes as u8 - 1);
    let (shift, of_cell) = match by {
        Integral::ShiftLeft => (Shift::Left, Shift::Left),
        // What comes in from above is no part of a shadow.
        Integral::ShiftRight => (Shift::Right, Shift::Right),
        Integral::ShiftRightSigned => (Shift::RightSigned, Shift::Right),
        Integral::RotateLeft => (Shift::RotateLeft, Shift::RotateLeft),
        Integral::RotateRight => (Shift::RotateRight, Shift::RotateRight),
        _ => return None,
    };
    // The upper half of a double has fewer digits than a narrow float.
    let digits = if bytes == 8 { 52 } else { 20 };
    let does = if count == 0 {
        return None;
    } else if count.is_multiple_of(8) {
        Does::MoveBytes(of_cell, count)
    } else if by.rotates() {
        match (shift, bytes, u32::from(count)) {
            (Shift::RotateLeft, 8, TURN) => Does::Turn,
            (Shift::RotateRight, 8, TURN) => Does::TurnBack,
            _ => return None,
        }
    } else if of_cell == Shift::Right && count >= digits {
        Does::DropDigits
    } else {
        Does::Move(shift, count)
    };
    Some(Fields { does, first, other: Other::None, to: first, bytes })
}

/// A sum made as an address.
fn address(insn: &Instruction) -> Option<Fields> {
    let bytes = insn.op0_register().size();
    let to = number(insn.op0_register(), bytes)?;
    let first = number(insn.memory_base(), bytes)?;
    let other = match insn.memory_index() {
        Register::None => Other::Constant(i32::try_from(insn.memory_displacement64() as i64).ok()?),
        _ if insn.memory_displacement64() != 0 => return None,
        index => Other::Register(number(index, bytes)?),
    };
    Some(Fields { does: Does::Add, first, other, to, bytes })
}

impl Fields {
    /// Tells whether anything but leaving it to the engine comes of it.
    fn is_followed(&self) -> bool {
        if self.other == Other::Register(self.first) {
            return false;
        }
        let Other::Constant(_) = self.other else { return true };
        let bits = self.constant();
        match self.does {
            // By whole bytes.
            Does::Cut => !bits.to_le_bytes()[..self.bytes].iter().all(|&byte| matches!(byte, 0 | u8::MAX)),
            // The tag of a turned double is put in; otherwise bytes may be put beside bytes.
            Does::Join if self.bytes == 8 && bits < 4 => true,
            Does::Join => self.upper_byte(bits) != 0,
            Does::Add => self.upper_byte(bits) != 0 || self.is_exponent(bits),
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
        match self.other {
            Other::Constant(value) => i64::from(value) as u64 & (u64::MAX >> (64 - self.width())),
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

    /// The operands that may be the float.
    pub(super) fn floats(&self) -> impl Iterator<Item = Gpr> + use<> {
        let commutes = matches!(self.does, Does::Cut | Does::Join | Does::Add | Does::Flip);
        let second = match self.other {
            Other::Register(n) if commutes => Some(n),
            _ => None,
        };
        std::iter::once(self.first).chain(second)
    }

    /// Registers that it names.
    pub(super) fn registers(&self) -> impl Iterator<Item = Gpr> + use<> {
        let second = match self.other {
            Other::Register(n) => Some(n),
            _ => None,
        };
        [self.first, self.to].into_iter().chain(second)
    }

    /// The operand beside `float`.
    pub(super) fn beside(&self, float: Gpr) -> Other {
        match self.other {
            Other::Register(n) if n == float => Other::Register(self.first),
            other => other,
        }
    }

    /// The operation of two operands that it is.
    pub(super) fn alu(&self) -> Option<Alu> {
        Some(match self.does {
            Does::Cut => Alu::And,
            Does::Join => Alu::Or,
            Does::Add => Alu::Add,
            Does::Subtract => Alu::Subtract,
            Does::Flip => Alu::Xor,
            Does::MoveBytes(..) | Does::DropDigits | Does::Move(..) | Does::Turn | Does::TurnBack => {
                return None;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Code, MemoryOperand};

    #[test]
    fn operands_are_told_apart() {
        let insn = Instruction::with2(Code::Add_r64_rm64, Register::RAX, Register::R9).expect("registers");
        let found = fields(&insn).expect("one");
        assert_eq!(
            (found.does, found.first, found.other, found.bytes),
            (Does::Add, 0, Other::Register(9), 8)
        );
        assert_eq!(found.floats().collect::<Vec<_>>(), [0, 9]);
        let sum = MemoryOperand::with_base_index(Register::RCX, Register::RDX);
        let found = fields(&Instruction::with2(Code::Lea_r64_m, Register::RAX, sum).expect("an address"));
        assert_eq!(found.map(|found| (found.first, found.to)), Some((1, 0)));
        for (a, b) in [(Register::RAX, Register::RAX), (Register::RSP, Register::RAX)] {
            let insn = Instruction::with2(Code::Or_r64_rm64, a, b).expect("registers");
            assert!(!may_follow(&insn));
        }
    }

    #[test]
    fn shifts_are_by_bytes_or_drop_digits_or_lose_some() {
        let shift = |code, register, count: u32| {
            fields(&Instruction::with2(code, register, count).expect("a shift")).map(|found| found.does)
        };
        let right = |count| shift(Code::Shr_rm64_imm8, Register::RAX, count);
        assert_eq!(right(52), Some(Does::DropDigits));
        assert_eq!(right(48), Some(Does::MoveBytes(Shift::Right, 48)));
        assert_eq!(right(51), Some(Does::Move(Shift::Right, 51)));
        assert_eq!(right(64), None);
        assert_eq!(shift(Code::Sar_rm32_imm8, Register::ECX, 20), Some(Does::DropDigits));
        assert_eq!(shift(Code::Rol_rm32_imm8, Register::ECX, 3), None);
    }

    #[test]
    fn constants_that_select_bytes_are_left_alone() {
        let by = |code, value: i32| {
            may_follow(&Instruction::with2(code, Register::EAX, value).expect("a constant"))
        };
        assert!(!by(Code::And_rm32_imm32, 0xffff));
        assert!(by(Code::And_rm32_imm32, 0x007f_ffff));
        assert!(!by(Code::Or_rm32_imm32, 0x12));
        assert!(by(Code::Add_rm32_imm32, 1 << 23));
        assert!(!by(Code::Add_rm32_imm32, 1));
    }
}
