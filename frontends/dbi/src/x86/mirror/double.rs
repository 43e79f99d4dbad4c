//! Moves of shadows that are in memory: the guest's own instruction once more, on shadows in temporaries.
//!
//! A legacy form is done by its VEX form, which names its first source apart from its destination and clears the upper
//! half of that: nobody looks there (`places`).

use super::At;
use super::reencoded::overwrites_control;
use super::retarget::{operand_count, retarget};
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::vector::{Mem, Place};
use iced_x86::{Code, EncodingKind, Instruction, OpAccess, OpKind, Register};

impl Emitter {
    /// The move by `code`, the VEX form of the instruction, whose operands `control` are no shadows.
    pub(super) fn double(&mut self, at: At<'_>, code: Code, control: u8) {
        let insn = &at.insn().decoded;
        let Some(mirror) = self.moved_memory(insn, control) else {
            self.close_operand();
            return self.checked(at);
        };
        // The guest's instruction may fault; none overwrites the address of its operand, but some what selects.
        let first = !overwrites_control(insn, control);
        if first {
            self.guest(at);
        }
        self.emit_double(insn, code, control, mirror);
        if !first {
            self.guest(at);
        }
    }

    /// The memory operand of a move of shadows: the mirror of the guest's, or that itself if it selects; nothing at all where there
    /// is no such memory.
    #[allow(clippy::option_option, reason = "no such memory and no memory operand are different")]
    pub(super) fn moved_memory(&mut self, insn: &Instruction, control: u8) -> Option<Option<Mem>> {
        let Some(n) = (0..insn.op_count()).find(|&n| insn.op_kind(n) == OpKind::Memory) else {
            return Some(None);
        };
        if control >> n & 1 == 1 {
            return Some(Some(self.guest_operand(insn)));
        }
        self.mirror_memory(insn).map(Some)
    }

    /// The move itself.
    pub(super) fn emit_double(&mut self, insn: &Instruction, code: Code, control: u8, mirror: Option<Mem>) {
        let added = operand_count(code) - insn.op_count();
        let reads_first = added == 0 && self.reads_destination(insn);
        let mut loaded = Vec::new();
        if reads_first {
            // The first temporary is taken.
            loaded.push((Register::None, 0));
        }
        let double = retarget(insn, code, mirror, |to, from, register| {
            if control >> from & 1 == 1 {
                register
            } else if to == 0 && insn.op0_kind() == OpKind::Register {
                // May be that of a source too, which is read before it is written.
                self.result_operand(register, reads_first)
            } else {
                self.shadow_operand(register, &mut loaded)
            }
        });
        let code = far::encode(&double, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        if insn.op0_kind() == OpKind::Register {
            let result = self.temporary(0);
            self.put_shadow(insn.op0_register().number() as u8, result);
        }
    }

    fn reads_destination(&mut self, insn: &Instruction) -> bool {
        matches!(self.facts.info(insn).op0_access(), OpAccess::ReadWrite | OpAccess::ReadCondWrite)
    }

    /// The shadow of `register` in a register, in the same width.
    pub(super) fn shadow_operand(
        &mut self,
        register: Register,
        loaded: &mut Vec<(Register, u8)>,
    ) -> Register {
        let known = loaded.iter().find(|(other, _)| *other == register.full_register());
        let shadow = known.map(|&(_, shadow)| shadow).unwrap_or_else(|| {
            let shadow = self.low_in_register(register.number() as u8, register.size() as u8, loaded.len());
            loaded.push((register.full_register(), shadow));
            shadow
        });
        same_width(register, shadow)
    }

    /// The register for the result, with the shadow of `register` in it if that is `read`.
    fn result_operand(&mut self, register: Register, read: bool) -> Register {
        let result = self.temporary(0);
        let bytes = register.size() as u8;
        match self.shadow_value(register.number() as u8) {
            _ if !read => {}
            Place::Mem(mem) => self.out.hot.vector_load(result, mem, bytes),
            Place::Reg(held) => self.move_shadow(result, held, bytes),
        }
        same_width(register, result)
    }
}

/// Vector register `n`, as wide as `register`.
pub(super) fn same_width(register: Register, n: u8) -> Register {
    let first = match register {
        _ if register.is_xmm() => Register::XMM0,
        _ if register.is_ymm() => Register::YMM0,
        _ => Register::ZMM0,
    };
    first + u32::from(n)
}

/// Tells whether [`Emitter::double`] knows all operands: vector registers, memory and an immediate.
pub(super) fn can_double(insn: &Instruction) -> bool {
    (0..insn.op_count()).all(|n| match insn.op_kind(n) {
        OpKind::Register => {
            let register = insn.op_register(n);
            register.is_vector_register() && (register.number() < 16 || insn.encoding() == EncodingKind::EVEX)
        }
        OpKind::Memory | OpKind::Immediate8 => true,
        _ => false,
    })
}
