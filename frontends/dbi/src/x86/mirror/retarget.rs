//! Guest moves retargeted: one instruction on other operands is how moves of shadows are made of the guest's moves.

use crate::x86::asm::Gpr;
use crate::x86::vector::{At as Address, Mem};
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};

/// Number of operands of `code`.
pub(super) fn operand_count(code: Code) -> u32 {
    let mut insn = Instruction::new();
    insn.set_code(code);
    insn.op_count()
}

/// The instruction `code` on the operands of `insn`, under its mask, with `mirror` as its memory operand. `register` gives the register in
/// place of one of `insn`, from the operand's number in `code`, that in `insn`, and the register. It is asked twice for the
/// destination where `code` names that as its first source too and `insn` does not.
pub(super) fn retarget(
    insn: &Instruction,
    code: Code,
    mirror: Option<Mem>,
    mut register: impl FnMut(u32, u32, Register) -> Register,
) -> Instruction {
    let mut made = Instruction::new();
    made.set_code(code);
    made.set_op_mask(insn.op_mask());
    made.set_zeroing_masking(insn.zeroing_masking());
    made.set_is_broadcast(insn.is_broadcast());
    let added = made.op_count() - insn.op_count();
    let order = (0..1).chain((0..added).map(|_| 0)).chain(1..insn.op_count());
    for (to, from) in (0..).zip(order) {
        match insn.op_kind(from) {
            OpKind::Register => {
                made.set_op_kind(to, OpKind::Register);
                made.set_op_register(to, register(to, from, insn.op_register(from)));
            }
            OpKind::Memory => {
                made.set_op_kind(to, OpKind::Memory);
                set_memory(&mut made, &mirror.expect("a mirror of the memory operand"));
            }
            _ => {
                made.set_op_kind(to, OpKind::Immediate8);
                made.set_immediate8(insn.immediate8());
            }
        }
    }
    made
}

fn set_memory(insn: &mut Instruction, mem: &Mem) {
    let first = if mem.address32 { Register::EAX } else { Register::RAX };
    let register = |n: Option<Gpr>| n.map_or(Register::None, |n| first + u32::from(n));
    // Without a base it says how wide the address is, and has all of its bytes: a small one would be compressed in EVEX.
    let alone = if mem.address32 { 4 } else { 8 };
    let shift = mem.shift();
    let operand = match mem.at {
        Address::Rip(target) => {
            MemoryOperand::with_base_displ(Register::RIP, target as i64 + i64::from(shift))
        }
        Address::Base { base, index, displacement } => MemoryOperand::new(
            register(base),
            register(index.map(|(n, _)| n)),
            index.map_or(1, |(_, scale)| u32::from(scale)),
            i64::from(displacement.wrapping_add(shift)),
            match (base, displacement.wrapping_add(shift)) {
                (None, _) => alone,
                (_, 0) => 0,
                _ => 1,
            },
            false,
            Register::GS,
        ),
    };
    insn.set_memory_base(operand.base);
    insn.set_memory_index(operand.index);
    insn.set_memory_index_scale(operand.scale);
    insn.set_memory_displacement64(operand.displacement as u64);
    insn.set_memory_displ_size(operand.displ_size);
    insn.set_segment_prefix(if mem.gs { Register::GS } else { Register::None });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::vector::MIRROR_SHIFT;
    use iced_x86::{Decoder, DecoderOptions, Encoder};

    /// A mirror that an index alone, or with a base, leads to is where it is meant to be, whatever a displacement would be
    /// compressed to.
    #[test]
    fn displacements_are_kept() {
        // vmovupd zmm0, [rax*1 + 0]
        const LOAD: [u8; 11] = [0x62, 0xf1, 0xfd, 0x48, 0x10, 0x04, 0x05, 0, 0, 0, 0];
        let insn = Decoder::new(64, &LOAD, DecoderOptions::NONE).decode();
        for base in [None, Some(1)] {
            for displacement in [0, 64, 0x1000_0000, -MIRROR_SHIFT, 3] {
                let at = Address::Base { base, index: Some((0, 1)), displacement };
                let mem = Mem { at, gs: true, fs: false, address32: false };
                let made = retarget(&insn, insn.code(), Some(mem), |_, _, register| register);
                let mut encoder = Encoder::new(64);
                encoder.encode(&made, 0).expect("an instruction");
                let code = encoder.take_buffer();
                let read = Decoder::new(64, &code, DecoderOptions::NONE).decode();
                let want = i64::from(displacement + MIRROR_SHIFT);
                assert_eq!(read.memory_displacement64() as i64, want, "{base:?} {displacement}");
                assert_eq!(read.memory_index(), Register::RAX, "{base:?} {displacement}");
            }
        }
    }
}
