//! Instructions that may leave a float in a general register or in memory with another exponent or sign, or take it apart:
//! their operands.
//!
//! An operand in memory is taken for a register that the instruction does not name: it is there while this is decided.

use crate::x86::asm::{Gpr, RCX, RSP};
use crate::x86::mirror::encode::{Alu, Shift};
use crate::x86::mirror::operand;
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, MemorySize, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::turned::TURN;

/// Number of places by which -2 becomes what it is turned to when it is shifted to the right.
pub(super) const LIKE_TURN: u32 = u64::BITS - TURN;

/// Effect on the bits of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Some are cut out, by a mask.
    Cut,
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
    /// They are added to themselves.
    Double,
    /// Bits move to the right by as many as a register says, or to the left (`None`).
    MoveBy(Option<Gpr>),
    /// Some in a row are moved to the lowest places, and the others dropped.
    Extract,
    /// Those that a mask has are moved together, or the lowest ones to where it has some.
    Gather,
    /// Bits move, and some of another operand come in.
    Funnel,
    /// They are multiplied by another operand.
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
    count: Option<Gpr>,
    /// The carry flag is added, or taken off, as well.
    pub(super) takes_carry: bool,
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

/// Digits of a float as wide as `bytes`, or of the upper half of a double, which has fewer than a narrow float.
fn upper_digits(bytes: usize) -> u8 {
    if bytes == 8 { 52 } else { 20 }
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
    if base == index && is_bare {
        return Some(made(Does::Double, number(index, bytes)?, Other::None));
    }
    if base == Register::None && insn.memory_index_scale() > 1 {
        return Some(made(Does::Move, number(index, bytes)?, Other::None));
    }
    let first = number(base, bytes)?;
    let other = match index {
        Register::None => Other::Constant(i32::try_from(insn.memory_displacement64() as i64).ok()?),
        _ if !is_bare => return None,
        index => Other::Register(number(index, bytes)?),
    };
    Some(made(Does::Add, first, other))
}

impl Fields {
    /// Tells whether anything but leaving it to the engine comes of it.
    fn is_followed(&self) -> bool {
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
            // By whole bytes.
            Does::Cut => !bits.to_le_bytes()[..self.bytes].iter().all(|&byte| matches!(byte, 0 | u8::MAX)),
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
    fn constants_that_select_bytes_are_left_alone() {
        let by = |code, value: i32| {
            may_follow(&Instruction::with2(code, Register::EAX, value).expect("a constant"))
        };
        assert!(!by(Code::And_rm32_imm32, 0xffff));
        assert!(by(Code::And_rm32_imm32, 0x007f_ffff));
        assert!(!by(Code::Or_rm32_imm32, 0x12));
        assert!(by(Code::Add_rm32_imm32, 1 << 23));
        assert!(by(Code::Add_rm32_imm32, 1));
        assert!(!by(Code::Add_rm32_imm32, 3 << 22));
    }
}
