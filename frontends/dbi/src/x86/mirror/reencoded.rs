//! Moves of shadows that are in upper vector registers: the guest's instruction in EVEX, on these.
//!
//! A shadow that is in memory, as those of the last vector registers are, is loaded for it, or stored after it.

use super::At;
use super::double::same_width;
use super::retarget::retarget;
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::vector::Mem;
use iced_x86::{Code, Instruction, OpKind, Register};

/// Bits of the lower half's lanes of eight bytes, and of the upper one's.
const HALVES: [u8; 2] = [0b0011, 0b1100];

impl Emitter {
    /// The re-encoded instruction, on shadows.
    pub(super) fn reencoded(&mut self, at: At<'_>, code: Code, control: u8) {
        let insn = &at.insn().decoded;
        let others = (0..insn.op_count())
            .any(|n| insn.op_kind(n) == OpKind::Register && !insn.op_register(n).is_vector_register());
        let Some(memory) = self.moved_memory(insn, control).filter(|_| !others) else {
            self.close_operand();
            return self.checked(at);
        };
        if overwrites_control(insn, control) {
            // Should the guest's load fault, it is run again.
            self.emit_reencoded(insn, code, control, memory);
            return self.guest(at);
        }
        // The guest's load has succeeded then, and has not overwritten its address.
        self.guest(at);
        self.emit_reencoded(insn, code, control, memory);
    }

    /// The instruction `code` on the shadows of the operands of `insn`, but for those that select, with this memory operand.
    pub(super) fn emit_reencoded(
        &mut self,
        insn: &Instruction,
        code: Code,
        control: u8,
        memory: Option<Mem>,
    ) {
        let mut loaded = Vec::new();
        let result = insn.op0_register();
        let written = result.is_vector_register().then(|| self.shadow_target(result.number() as u8, 0));
        let reencoded = retarget(insn, code, memory, |to, from, register| match written {
            _ if control >> from & 1 == 1 => register,
            Some(target) if to == 0 => same_width(register, target),
            _ => self.shadow_operand(register, &mut loaded),
        });
        let code = far::encode(&reencoded, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        if let Some(target) = written {
            self.put_shadow(result.number() as u8, target);
        }
    }

    /// `vperm2f128`: each half of the result is one of four, or nothing.
    pub(super) fn halves(&mut self, at: At<'_>, selector: u8) {
        let insn = &at.insn().decoded;
        let Some(memory) = self.moved_memory(insn, 0) else {
            self.close_operand();
            return self.checked(at);
        };
        self.guest(at);
        let d = insn.op0_register().number() as u8;
        let chosen = [selector & 0xf, selector >> 4];
        let kept = (0..2).filter(|&half| chosen[half] & 8 == 0).fold(0, |bits, half| bits | HALVES[half]);
        if kept == 0 {
            return self.clear_vector(d);
        }
        let sources: [u8; 2] = std::array::from_fn(|i| match (chosen[i] >> 1 & 1, memory) {
            (1, Some(mem)) => {
                let loaded = self.temporary(i);
                self.out.hot.vector_load(loaded, mem, insn.op0_register().size() as u8);
                loaded
            }
            (source, _) => self.shadow_in_register(insn.op_register(1 + u32::from(source)).number() as u8, i),
        });
        let target = self.shadow_target(d, 0);
        let [to, low, high] = [target, sources[0], sources[1]].map(|n| same_width(Register::YMM0, n));
        let picked = u32::from(chosen[0] & 1 | (chosen[1] & 1) << 1);
        let code = Code::EVEX_Vshuff64x2_ymm_k1z_ymm_ymmm256b64_imm8;
        let mut shuffle =
            Instruction::with4(code, to, low, high, picked).expect("registers and an immediate");
        if kept != HALVES[0] | HALVES[1] {
            self.select_bits(kept);
            shuffle.set_op_mask(Register::K1);
            shuffle.set_zeroing_masking(true);
        }
        let code = far::encode(&shuffle, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        self.put_shadow(d, target);
    }
}

/// Tells whether the result takes the place of an operand that selects: of one of those that `control` has a bit for.
pub(super) fn overwrites_control(insn: &Instruction, control: u8) -> bool {
    let result = insn.op0_register();
    (1..insn.op_count()).any(|n| {
        control >> n & 1 == 1
            && insn.op_kind(n) == OpKind::Register
            && insn.op_register(n).number() == result.number()
    })
}
