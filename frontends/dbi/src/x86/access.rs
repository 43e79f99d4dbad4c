//! Accesses of an instruction: does it read an operand, does it write it, perhaps or certainly? And does it know of
//! more than SSE does?

use super::table::Shape;
use iced_x86::{
    EncodingKind, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register, RoundingControl,
};
use shadowgrind_core::format::Format;

pub(super) fn is_write(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

pub(super) fn is_read(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// Tells whether a string instruction repeats, as long as `rcx` says.
pub(crate) fn repeats(insn: &Instruction) -> bool {
    insn.has_rep_prefix() || insn.has_repne_prefix()
}

/// Bytes of its vector register that `insn` fills with results of `format`.
pub(super) fn result_bytes(insn: &Instruction, format: Format, shape: Shape) -> usize {
    let source = match insn.op1_kind() {
        OpKind::Register => insn.op1_register().size(),
        _ => insn.memory_size().size(),
    };
    match shape {
        Shape::Scalar => format.bytes(),
        // Two integers of an MMX register or memory leave the upper half alone.
        Shape::Packed if insn.encoding() == EncodingKind::Legacy && source == 8 => 2 * format.bytes(),
        Shape::Packed => insn.op0_register().size(),
    }
}

/// Tells whether it may get at more of the vector registers than the low 16 bytes of the first sixteen. That
/// instructions without legacy encoding clear what is above does not count.
pub(super) fn has_more_than_sse(insn: &Instruction) -> bool {
    let is_wide = |register: Register| register.is_ymm() || register.is_zmm();
    let operand = |n| insn.op_kind(n) == OpKind::Register && is_wide(insn.op_register(n));
    let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
    !plain || is_wide(insn.memory_index()) || (0..insn.op_count()).any(operand)
}

/// Tells whether the instruction works under a mask, on a broadcast lane, or with a rounding mode or silence of its own.
pub(super) fn is_decorated(insn: &Instruction) -> bool {
    insn.is_broadcast() || works_otherwise(insn)
}

/// Tells whether it works under a mask, or with a rounding mode or silence of its own.
pub(super) fn works_otherwise(insn: &Instruction) -> bool {
    insn.has_op_mask() || raises_otherwise(insn)
}

/// Tells whether it has a rounding mode or silence of its own.
pub(super) fn raises_otherwise(insn: &Instruction) -> bool {
    insn.rounding_control() != RoundingControl::None || insn.suppress_all_exceptions()
}

/// Tells whether the address of the instruction's memory operand is computed from `register`, or a wider one that it is part of.
pub(crate) fn is_in_address(insn: &Instruction, register: Register) -> bool {
    let register = register.full_register();
    [insn.memory_base(), insn.memory_index()].map(Register::full_register).contains(&register)
}

/// Tells whether `register`, or another part of the same one, is an explicit operand.
pub(crate) fn is_operand(insn: &Instruction, register: Register) -> bool {
    (0..insn.op_count()).any(|n| insn.op_register(n).full_register() == register.full_register())
}

/// Tells whether the instruction uses a part of the general or vector register `full`, said or unsaid.
pub(crate) fn uses(insn: &Instruction, full: Register, info: &mut InstructionInfoFactory) -> bool {
    info.info(insn).used_registers().iter().any(|used| used.register().full_register() == full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    #[test]
    fn wide_registers_are_more_than_sse() {
        let cases: [(&[u8], bool); 7] = [
            (b"\x0f\x28\x06", false),            // movaps xmm0, [rsi]
            (b"\xc5\xf9\x10\x06", false),        // vmovupd xmm0, [rsi]
            (b"\xc5\xfd\x10\x06", true),         // vmovupd ymm0, [rsi]
            (b"\xc5\xfd\x11\x06", true),         // vmovupd [rsi], ymm0
            (b"\xc4\xe3\x7d\x19\xc1\x01", true), // vextractf128 xmm1, ymm0, 1
            (b"\x62\xf1\xfd\x08\x10\x06", true), // vmovupd xmm0, [rsi], EVEX
            (b"\xc4\xe2\x6d\x93\x04\x0e", true), // vgatherqps xmm0, [rsi+ymm1], xmm2
        ];
        for (bytes, expected) in cases {
            let insn = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
            assert_eq!(has_more_than_sse(&insn), expected, "{insn}");
        }
    }
}
