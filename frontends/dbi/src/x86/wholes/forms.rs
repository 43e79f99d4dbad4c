//! Forms of instructions that may change a part of a float: single instructions, whatever is around them.

use super::super::rows;
use super::super::table::{Fill, General, Integral, Row};
use super::{NARROW, mixed};
use iced_x86::{Instruction, OpKind, Register};
use shadowgrind_core::format::Format;

/// Tells whether `insn` writes a few bytes of memory, or of a general register, that may be a part of a float.
pub(crate) fn may_be_part(insn: &Instruction) -> bool {
    Part::of(insn).is_some()
}

/// Tells whether it may be taken for granted of `insn`, once it has often written no part of a float, that it writes none: it moves as
/// many bytes as a narrow float has, or whole lanes. What it is given besides is looked at each time.
pub(crate) fn may_be_alone(insn: &Instruction) -> bool {
    let moves_narrow = || part_in_memory(insn) == Some(NARROW) && insn.op1_kind() == OpKind::Register;
    let is_of_vectors = || insn.op0_kind() == OpKind::Register && insn.op0_register().is_vector_register();
    moves_narrow() || is_of_vectors() && (mixed::may_mix(insn) || mixed::may_insert(insn))
}

/// Tells whether `insn` stores no more than half of a double to a place in its function's frame, which is the same variable each time.
pub(crate) fn is_of_frame(insn: &Instruction) -> bool {
    let is_local = match insn.memory_base() {
        Register::RSP => true,
        // Below what the frame pointer points to.
        Register::RBP => insn.memory_displacement64().cast_signed() < 0,
        _ => false,
    };
    may_be_beside(insn) && is_local && insn.memory_index() == Register::None
}

/// Tells whether `insn`, once it has often written no part of a float, may be taken to do so only where the float that it would
/// be a part of has a shadow: it stores no more than half of a double.
pub(crate) fn may_be_beside(insn: &Instruction) -> bool {
    part_in_memory(insn).is_some_and(|bytes| bytes <= NARROW)
}

/// The bytes that `insn` writes into a register that it leaves alone otherwise: the first one's number, and how many.
pub(crate) fn part_of_register(insn: &Instruction) -> Option<(u8, u8)> {
    let part = || Part::of(insn).filter(|part| !part.is_in_memory).map(|part| (part.at, part.bytes));
    rows::inserted(insn).or_else(part)
}

/// Tells whether the instruction cuts bits out of a word, or puts some in.
pub(crate) fn joins(insn: &Instruction) -> bool {
    let is_wide = |register: Register| register.is_vector_register() || register.size() >= 4;
    let by = match rows::row(insn) {
        Row::General(General::Bits(by)) | Row::Logic(by, _) => by,
        Row::Ternary(_) => Integral::Or,
        _ => return false,
    };
    matches!(by, Integral::And | Integral::AndNot | Integral::Or)
        && insn.op0_kind() == OpKind::Register
        && is_wide(insn.op0_register())
}

/// Tells whether the instruction turns bits of a wide general register over.
pub(super) fn flips(insn: &Instruction) -> bool {
    let is_wide = insn.op0_kind() == OpKind::Register && insn.op0_register().size() >= 4;
    let is_same = insn.op1_kind() == OpKind::Register && insn.op1_register() == insn.op0_register();
    rows::row(insn) == Row::General(General::Bits(Integral::Xor)) && is_wide && !is_same
}

/// Tells whether the instruction adds or subtracts lanes as wide as narrow floats. It is used on doubles, too, where nothing carries
/// from one half to the other.
pub(crate) fn sums_narrow_lanes(insn: &Instruction) -> bool {
    matches!(rows::row(insn), Row::Trick(Integral::Add | Integral::Subtract, Format::F32))
}

/// Tells whether the instruction of general registers cuts bits out.
pub(crate) fn cuts(insn: &Instruction) -> bool {
    matches!(rows::row(insn), Row::General(General::Bits(Integral::And | Integral::AndNot)))
}

/// Tells whether the instruction, of two wide registers or one and a constant, cuts out some bytes of its eight and not all, by the
/// mask `other`, or puts bits into some.
pub(crate) fn joins_bytes(insn: &Instruction, other: u64) -> bool {
    let is_mask = || {
        !matches!(other, 0 | u64::MAX) && other.to_le_bytes().iter().all(|&byte| matches!(byte, 0 | u8::MAX))
    };
    insn.op_count() == 2
        && insn.op0_register().is_gpr64()
        && insn.op1_kind() != OpKind::Memory
        && match rows::row(insn) {
            Row::General(General::Bits(Integral::And)) => is_mask(),
            Row::General(General::Bits(Integral::Or)) => true,
            _ => false,
        }
}

/// Tells whether the instruction moves the lower half of a wide register to the upper one, and leaves nothing below.
pub(crate) fn raises_half(insn: &Instruction) -> bool {
    rows::row(insn) == Row::General(General::Bits(Integral::ShiftLeft))
        && insn.op0_register().is_gpr64()
        && insn.op1_kind() == OpKind::Immediate8
        && insn.immediate8() & 63 == 32
}

/// Tells whether the instruction puts a constant into the lower half of a wide register.
pub(crate) fn fills_lower_half(insn: &Instruction) -> bool {
    rows::row(insn) == Row::General(General::Bits(Integral::Or))
        && insn.op0_register().is_gpr64()
        && insn.op1_kind() == OpKind::Immediate32to64
        && insn.immediate(1) as u32 != 0
}

/// Tells whether the instruction moves a part of a register, and clears what is above it.
pub(crate) fn cuts_by_moving(insn: &Instruction) -> bool {
    let registers = insn.op_count() == 2
        && insn.op0_kind() == OpKind::Register
        && insn.op1_kind() == OpKind::Register
        && insn.op0_register().is_gpr()
        && insn.op1_register().is_gpr();
    let bytes = |n| insn.op_register(n).size();
    let is_low = insn.op1_register().full_register().number() == insn.op1_register().number();
    match rows::row(insn) {
        Row::General(General::Move) => registers && bytes(0) == 4 && is_low,
        Row::General(General::Extend(Fill::Zeros)) => registers && bytes(0) >= 4 && bytes(1) == 2,
        _ => false,
    }
}

/// Less than eight bytes that are written, from a general register or a constant.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) bytes: u8,
    /// Number of the first byte in a register.
    pub(super) at: u8,
    pub(super) is_in_memory: bool,
}

/// Number of bytes that `insn` writes in memory, if these may be a part of a float.
pub(crate) fn part_in_memory(insn: &Instruction) -> Option<u8> {
    Part::of(insn).filter(|part| part.is_in_memory).map(|part| part.bytes)
}

impl Part {
    pub(super) fn of(insn: &Instruction) -> Option<Part> {
        let clears = rows::row(insn) == Row::General(General::Bits(Integral::Xor))
            && insn.op1_kind() == OpKind::Register
            && insn.op0_register() == insn.op1_register();
        let source = insn.op1_kind() != OpKind::Memory
            && (insn.op1_kind() != OpKind::Register || insn.op1_register().is_gpr());
        if !(clears || rows::row(insn) == Row::General(General::Move) && source) {
            return None;
        }
        let (bytes, at, is_in_memory) = match insn.op0_kind() {
            OpKind::Memory => (insn.memory_size().size(), 0, true),
            OpKind::Register if insn.op0_register().is_gpr() => {
                let register = insn.op0_register();
                let high = [Register::AH, Register::BH, Register::CH, Register::DH].contains(&register);
                // The upper half of a wide register is cleared with the lower one.
                (if register.size() < 4 { register.size() } else { 8 }, u8::from(high), false)
            }
            _ => return None,
        };
        (bytes < 8).then_some(Part { bytes: bytes as u8, at, is_in_memory })
    }
}
