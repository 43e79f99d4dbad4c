//! Instructions that may leave a float in a general register or in memory with another exponent or sign, or take it apart:
//! their operands.
//!
//! An operand in memory is taken for a register that the instruction does not name: it is there while this is decided.

use super::form::{Does, Fields, Loaded, Other, upper_digits};
use crate::x86::asm::{Gpr, RCX, RSP};
use crate::x86::mirror::encode::Shift;
use crate::x86::mirror::operand;
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, MemorySize, OpKind, Register};
use shadowgrind_core::turned::TURN;

/// Number of places by which -2 becomes what it is turned to when it is shifted to the right.
pub(super) const LIKE_TURN: u32 = u64::BITS - TURN;

/// Tells whether `insn` is one that may be annotated so.
pub(crate) fn may_follow(insn: &Instruction) -> bool {
    fields(insn).is_some()
}

pub(super) fn fields(insn: &Instruction) -> Option<Fields> {
    let found = match rows::row(insn) {
        Row::General(General::Bits(by)) => bits(insn, by),
        Row::General(General::Not) => inverted(insn),
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

/// Registers that are computed with, or stand for memory, by preference.
pub(in crate::x86::mirror) fn unnamed(named: impl Fn(Gpr) -> bool) -> impl Iterator<Item = Gpr> {
    (0..10).filter(move |&n| n != RSP && !named(n))
}

/// The memory operand, if it has one that can be loaded before: the registers that name it may be used then.
fn loaded(insn: &Instruction) -> Option<Loaded> {
    let general = |register: Register| register.is_gpr().then(|| register.full_register().number() as Gpr);
    let address = [insn.memory_base(), insn.memory_index()].map(general);
    let named = |n| {
        let is_operand = |i| insn.op_kind(i) == OpKind::Register && general(insn.op_register(i)) == Some(n);
        n == RCX || address.contains(&Some(n)) || (0..insn.op_count()).any(is_operand)
    };
    unnamed(named).next().map(|register| Loaded { register, address })
}

/// Operands of an instruction that is being taken for one of those.
struct Operands<'a> {
    insn: &'a Instruction,
    bytes: usize,
    loaded: Option<Loaded>,
}

impl Operands<'_> {
    fn of(insn: &Instruction) -> Option<Operands<'_>> {
        let has_memory = operand::has_memory(insn);
        let bytes = match insn.op0_kind() {
            OpKind::Register => insn.op0_register().size(),
            _ => insn.memory_size().size(),
        };
        let loaded = if has_memory { Some(loaded(insn)?) } else { None };
        let is_plain = matches!(bytes, 4 | 8) && !insn.has_lock_prefix();
        let is_number = !has_memory || insn.memory_size() != MemorySize::Unknown;
        (is_plain && is_number).then_some(Operands { insn, bytes, loaded })
    }

    /// Register that is operand `n`, or stands for it.
    fn place(&self, n: u32) -> Option<Gpr> {
        match self.insn.op_kind(n) {
            OpKind::Register => number(self.insn.op_register(n), self.bytes),
            OpKind::Memory => self.loaded.map(|loaded| loaded.register),
            _ => None,
        }
    }

    /// Operand `n`, a register or a constant.
    fn other(&self, n: u32) -> Option<Other> {
        match self.insn.op_kind(n) {
            OpKind::Register | OpKind::Memory => self.place(n).map(Other::Register),
            _ => Some(Other::Constant(self.insn.immediate(n) as i32)),
        }
    }

    fn count(&self, n: u32) -> Option<Gpr> {
        let register = self.insn.op_register(n);
        register.is_gpr().then(|| register.full_register().number() as Gpr)
    }

    /// Fields of operand `first`, and `other`, from which operand 0 is made.
    fn fields(&self, does: Does, first: u32, other: Other, count: Option<Gpr>) -> Option<Fields> {
        let (first, to) = (self.place(first)?, self.place(0)?);
        let (bytes, loaded) = (self.bytes, self.loaded);
        Some(Fields { does, first, other, to, bytes, loaded, count, takes_carry: false })
    }
}

fn bits(insn: &Instruction, by: Integral) -> Option<Fields> {
    let operands = Operands::of(insn)?;
    let does = match by {
        Integral::And if selects_bytes(insn) => Does::CutBytes,
        Integral::And => Does::Cut,
        Integral::Or => Does::Join,
        Integral::Xor => Does::Flip,
        Integral::Add | Integral::Increment | Integral::AddCarry => Does::Add,
        Integral::Subtract | Integral::Decrement | Integral::SubtractBorrow => Does::Subtract,
        Integral::Multiply if insn.op_count() > 2 => {
            return operands.fields(Does::Multiply, 1, operands.other(2)?, None);
        }
        Integral::Multiply => Does::Multiply,
        Integral::Extract | Integral::Deposit => {
            return operands.fields(Does::Gather, 1, operands.other(2)?, None);
        }
        _ if by.shifts_two() => return shifted_with(&operands),
        Integral::AndNot => return operands.fields(Does::CutOthers, 2, operands.other(1)?, None),
        Integral::Low => return operands.fields(Does::Change, 1, operands.other(2)?, None),
        Integral::Field => return operands.fields(Does::Extract, 1, Other::None, operands.count(2)),
        // By a register a bit of other memory is meant, or one that is not known.
        Integral::Bit if insn.op1_kind() != OpKind::Immediate8 => return None,
        Integral::Bit => return operands.fields(Does::Change, 0, Other::None, None),
        _ => return moved(&operands, by),
    };
    if by == Integral::Add
        && insn.op1_kind() == OpKind::Register
        && insn.op0_register() == insn.op1_register()
    {
        return operands.fields(Does::Double, 0, Other::None, None);
    }
    let other = match by {
        Integral::Increment | Integral::Decrement => Other::Constant(1),
        _ if insn.op_count() != 2 => return None,
        _ => operands.other(1)?,
    };
    let fields = operands.fields(does, 0, other, None)?;
    Some(Fields { takes_carry: by.takes_carry(), ..fields })
}

/// A complement.
fn inverted(insn: &Instruction) -> Option<Fields> {
    let operands = Operands::of(insn).filter(|_| insn.rflags_modified() == 0)?;
    operands.fields(Does::Flip, 0, Other::Constant(-1), None)
}

/// Tells whether a constant mask cuts out whole bytes.
fn selects_bytes(insn: &Instruction) -> bool {
    let is_constant = !matches!(insn.op1_kind(), OpKind::Register | OpKind::Memory);
    // In the upper half of a wide operand there are copies of its sign.
    let bytes = || (insn.immediate(1) as u32).to_le_bytes();
    is_constant && bytes().iter().all(|&byte| matches!(byte, 0 | u8::MAX))
}

/// A shift of two operands as one.
fn shifted_with(operands: &Operands<'_>) -> Option<Fields> {
    let insn = operands.insn;
    let count = match insn.op_kind(2) {
        // By whole bytes, or by none.
        OpKind::Immediate8 if insn.immediate8().is_multiple_of(8) => return None,
        OpKind::Immediate8 => None,
        _ => Some(operands.count(2)?),
    };
    operands.fields(Does::Funnel, 0, operands.other(1)?, count)
}

/// A shift or rotation.
fn moved(operands: &Operands<'_>, by: Integral) -> Option<Fields> {
    let (insn, bytes) = (operands.insn, operands.bytes);
    let (first, last) = (insn.op_count().checked_sub(2)?, insn.op_count() - 1);
    let shift = match by {
        Integral::ShiftLeft => Shift::Left,
        // What comes in from above is no part of a shadow.
        Integral::ShiftRight | Integral::ShiftRightSigned => Shift::Right,
        Integral::RotateLeft => Shift::RotateLeft,
        Integral::RotateRight => Shift::RotateRight,
        _ => return None,
    };
    if insn.op_kind(last) != OpKind::Immediate8 {
        let count = operands.count(last)?;
        let does = Does::MoveBy((shift == Shift::Right).then_some(count));
        return operands.fields(does, first, Other::None, Some(count));
    }
    let count = insn.immediate8() & (8 * bytes as u8 - 1);
    let is_in_place = first == 0 && operands.loaded.is_none();
    let does = if count == 0 {
        return None;
    } else if count.is_multiple_of(8) {
        Does::MoveBytes(shift, count)
    } else if by.rotates() {
        match (shift, bytes, u32::from(count)) {
            (Shift::RotateLeft, 8, TURN) if is_in_place => Does::Turn,
            (Shift::RotateRight, 8, TURN) if is_in_place => Does::TurnBack,
            _ => Does::Move,
        }
    } else if shift == Shift::Right && u32::from(count) == LIKE_TURN {
        return None;
    } else if shift == Shift::Right && count >= upper_digits(bytes) {
        Does::DropDigits
    } else {
        Does::Move
    };
    operands.fields(does, first, Other::None, None)
}

/// A sum made as an address.
fn address(insn: &Instruction) -> Option<Fields> {
    let bytes = insn.op0_register().size();
    let to = number(insn.op0_register(), bytes)?;
    let (base, index) = (insn.memory_base(), insn.memory_index());
    let is_bare = insn.memory_displacement64() == 0;
    let made = |does, first, other| Fields {
        does,
        first,
        other,
        to,
        bytes,
        loaded: None,
        count: None,
        takes_carry: false,
    };
    let is_scaled = insn.memory_index_scale() > 1;
    if base == index && is_bare && !is_scaled {
        return Some(made(Does::Double, number(index, bytes)?, Other::None));
    }
    if base == Register::None && is_scaled {
        return Some(made(Does::Move, number(index, bytes)?, Other::None));
    }
    // No float is its product with 3, 5 or 9; a sum with a multiple is the engine's.
    if is_scaled {
        return None;
    }
    let first = number(base, bytes)?;
    let other = match index {
        Register::None => Other::Constant(i32::try_from(insn.memory_displacement64() as i64).ok()?),
        _ if !is_bare => return None,
        index => Other::Register(number(index, bytes)?),
    };
    Some(made(Does::Add, first, other))
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
    fn memory_is_taken_for_a_register_that_is_not_named() {
        let at = MemoryOperand::with_base_index(Register::RAX, Register::RDX);
        for (insn, shift) in [
            (Instruction::with2(Code::Xor_r64_rm64, Register::RBX, at), false),
            (Instruction::with2(Code::Xor_rm64_r64, at, Register::RBX), false),
            (Instruction::with3(Code::VEX_Shrx_r64_rm64_r64, Register::RDI, at, Register::RBX), true),
        ] {
            let insn = insn.expect("an instruction");
            let found = fields(&insn).expect("one");
            let register = found.loaded.expect("memory").register;
            assert!(![0, 1, 2, 3, 4].contains(&register) && found.is_memory(register));
            assert!(found.registers().any(|n| n == register) && found.registers().any(|n| n == 3));
            assert!(!found.on_registers(&insn, 6).op_kinds().any(|kind| kind == OpKind::Memory));
            assert_eq!(found.does == Does::MoveBy(Some(3)), shift);
        }
        let mut locked = Instruction::with2(Code::Add_rm64_r64, at, Register::RBX).expect("registers");
        locked.set_has_lock_prefix(true);
        assert!(!may_follow(&locked));
    }

    #[test]
    fn shifts_are_by_bytes_or_drop_digits_or_lose_some() {
        let shift = |code, register, count: u32| {
            fields(&Instruction::with2(code, register, count).expect("a shift")).map(|found| found.does)
        };
        let right = |count| shift(Code::Shr_rm64_imm8, Register::RAX, count);
        assert_eq!(right(52), Some(Does::DropDigits));
        assert_eq!(right(48), Some(Does::MoveBytes(Shift::Right, 48)));
        assert_eq!(right(51), Some(Does::Move));
        assert_eq!(right(64), None);
        assert_eq!(shift(Code::Sar_rm32_imm8, Register::ECX, 20), Some(Does::DropDigits));
        assert_eq!(shift(Code::Rol_rm32_imm8, Register::ECX, 3), Some(Does::Move));
    }

    #[test]
    fn constants_that_join_bytes_are_left_alone() {
        let by = |code, value: i32| {
            may_follow(&Instruction::with2(code, Register::EAX, value).expect("a constant"))
        };
        let does = |value: i32| {
            let insn = Instruction::with2(Code::And_rm32_imm32, Register::EAX, value).expect("a constant");
            fields(&insn).map(|found| found.does)
        };
        assert_eq!([does(0xffff), does(0xfff)], [Some(Does::CutBytes), Some(Does::Cut)]);
        assert!(by(Code::And_rm32_imm32, 0x007f_ffff));
        assert!(!by(Code::Or_rm32_imm32, 0x12));
        assert!(by(Code::Add_rm32_imm32, 1 << 23));
        assert!(by(Code::Add_rm32_imm32, 1));
        assert!(!by(Code::Add_rm32_imm32, 3 << 22));
    }
}
