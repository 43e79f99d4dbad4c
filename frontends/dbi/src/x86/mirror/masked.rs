//! Moves whose lanes a vector register selects by its signs, and gathers.
//!
//! EVEX has no such forms: the signs become a mask register. Without AVX-512 only gathers come here; others are done
//! again, on shadows, by the guest's own instruction.

use super::At;
use super::operand;
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::rules::Constants;
use crate::x86::vector::{Length, MIRROR_SHIFT, Place, Vector, forms};
use iced_x86::{EncodingKind, Instruction, OpKind, Register};
use shadowgrind_core::format::Format;

/// Mask register: lanes that are selected.
const SELECTED: u8 = 1;

/// Lanes and width of an instruction.
#[derive(Clone, Copy)]
struct Lanes {
    format: Format,
    length: Length,
}

impl Lanes {
    fn of(format: Format, register: Register) -> Lanes {
        Lanes { format, length: Length::of(register.size() as u8) }
    }
}

impl Emitter {
    /// Makes a mask of the signs of vector register `n`.
    fn select_by(&mut self, lanes: Lanes, n: u8) {
        let constants = Constants::at(self.mirror().settings.constants);
        let sign = Place::Mem(constants.sign(lanes.format));
        self.out.hot.vector(Vector::new(forms::TEST, lanes.format, lanes.length, [SELECTED, n], sign));
    }

    /// `vblendvps`, `vblendvpd`, with AVX-512.
    pub(super) fn select(&mut self, at: At<'_>, format: Format) {
        let insn = &at.insn().decoded;
        let mirror = self.mirror_memory(insn);
        if operand::has_memory(insn) && mirror.is_none() {
            self.close_operand();
            return self.checked(at);
        }
        let lanes = Lanes::of(format, insn.op0_register());
        self.select_by(lanes, insn.op3_register().number() as u8);
        // The guest's load has succeeded then, and has not overwritten its address.
        self.guest(at);
        let clear = self.shadow_in_register(insn.op1_register().number() as u8, 0);
        let set = match mirror {
            Some(mem) => Place::Mem(mem),
            None => self.shadow_value(insn.op2_register().number() as u8),
        };
        let d = insn.op0_register().number() as u8;
        let target = self.shadow_target(d, 1);
        let blend = Vector::new(forms::BLEND_MASK, format, lanes.length, [target, clear], set);
        self.out.hot.vector(blend.masked(SELECTED));
        self.put_shadow(d, target);
    }

    /// `vmaskmovps` and its kin, with AVX-512.
    pub(super) fn masked_move(&mut self, at: At<'_>, format: Format) {
        let insn = &at.insn().decoded;
        let lanes = Lanes::of(format, insn.op1_register());
        self.select_by(lanes, insn.op1_register().number() as u8);
        self.guest(at);
        let mirror = self.mirror_memory(insn);
        if insn.op0_kind() == OpKind::Memory {
            let Some(mem) = mirror else { return };
            let from = self.shadow_in_register(insn.op2_register().number() as u8, 0);
            let store = Vector::unary(forms::STORE, format, lanes.length, from, Place::Mem(mem));
            return self.out.hot.vector(store.masked(SELECTED));
        }
        let d = insn.op0_register().number() as u8;
        let Some(mem) = mirror else { return self.clear_vector(d) };
        let target = self.shadow_target(d, 0);
        let load = Vector::unary(forms::LOAD, format, lanes.length, target, Place::Mem(mem));
        self.out.hot.vector(load.masked(SELECTED).zeroing());
        self.put_shadow(d, target);
    }

    /// `vgatherdps` and its kin. What they select by becomes zero, so shadows are gathered first: should the guest's load
    /// fault, those that are left are gathered again.
    pub(super) fn gather(&mut self, at: At<'_>, format: Format) {
        let insn = &at.insn().decoded;
        let upper = self.has_upper();
        let code = if upper { self.mirror().reencodings.of(insn.code()) } else { Some(insn.code()) };
        let plain = insn.encoding() == EncodingKind::VEX
            && insn.memory_base().is_gpr64()
            && insn.segment_prefix() == Register::None;
        let Some(code) = code.filter(|_| plain) else { return self.out_of_line(at) };
        let displacement = insn.memory_displacement64() as i64 + i64::from(MIRROR_SHIFT);
        if i32::try_from(displacement).is_err() {
            return self.out_of_line(at);
        }
        let (d, mask) = (insn.op0_register(), insn.op2_register());
        let [d_number, mask_number] = [d, mask].map(|register| register.number() as u8);
        self.note_spilled(at.index);
        let target = self.shadow_target(d_number, 0);
        let shadow = self.shadow_value(d_number);
        let bytes = self.shadow_bytes();
        match shadow {
            Place::Reg(from) if from == target => {}
            Place::Reg(from) => self.move_shadow(target, from, bytes),
            Place::Mem(mem) => self.out.hot.vector_load(target, mem, bytes),
        }
        let mut made = Instruction::new();
        made.set_code(code);
        made.set_op0_kind(OpKind::Register);
        made.set_op0_register(same_class(d, target));
        made.set_op1_kind(OpKind::Memory);
        made.set_memory_base(insn.memory_base());
        made.set_memory_index(insn.memory_index());
        made.set_memory_index_scale(insn.memory_index_scale());
        made.set_memory_displacement64(displacement as u64);
        made.set_memory_displ_size(1);
        made.set_segment_prefix(Register::GS);
        if upper {
            self.select_by(Lanes::of(format, mask), mask_number);
            made.set_op_mask(Register::K1);
        } else {
            let selected = self.temporary(1);
            self.move_shadow(selected, mask_number, mask.size() as u8);
            made.set_op2_kind(OpKind::Register);
            made.set_op2_register(same_class(mask, selected));
        }
        let code = far::encode(&made, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        self.put_shadow(d_number, target);
        self.guest(at);
        self.clear_vector(mask_number);
    }
}

/// Vector register `n`, as wide as `register`.
fn same_class(register: Register, n: u8) -> Register {
    let first = if register.is_xmm() { Register::XMM0 } else { Register::YMM0 };
    first + u32::from(n)
}
