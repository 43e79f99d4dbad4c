//! Moves whose lanes a vector register selects by its signs, or an immediate by its bits, and gathers.
//!
//! EVEX has no such forms: the signs, or the bits, become a mask register. Without AVX-512 only choices by signs and gathers
//! come here; others are done again, on shadows, by the guest's own instruction.

use super::At;
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::rules::Constants;
use crate::x86::vector::{Length, MIRROR_SHIFT, Mem, Place, Vector, forms};
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

/// The two sources of a choice: the one of lanes whose bit is clear is a register.
struct Choice {
    clear: u8,
    set: Chosen,
}

/// The other source.
enum Chosen {
    Register(u8),
    /// Memory, by its mirror.
    Mirror(Mem),
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

    /// Makes a mask of the bits of an immediate.
    pub(super) fn select_bits(&mut self, immediate: u8) {
        let bits = Place::Mem(Constants::at(self.mirror().settings.constants).bits(immediate));
        let load = Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, SELECTED, bits);
        self.out.hot.vector(load);
    }

    /// `vblendps`, `vblendpd`, `vpblendw` and their kin, with AVX-512.
    pub(super) fn blend(&mut self, at: At<'_>, format: Format) {
        let insn = &at.insn().decoded;
        let Some(choice) = self.choice(insn, insn.op_count() - 2) else {
            self.close_operand();
            return self.checked(at);
        };
        self.select_bits(insn.immediate8());
        self.guest(at);
        let lanes = Lanes::of(format, insn.op0_register());
        let form = if format == Format::F16 { forms::BLEND_MASK_SMALL } else { forms::BLEND_MASK };
        let format = if format == Format::F16 { Format::F64 } else { format };
        self.chosen(insn, choice, |[to, clear], set| {
            Vector::new(form, format, lanes.length, [to, clear], set).masked(SELECTED)
        });
    }

    /// `vblendvps`, `vblendvpd`, or without a format `vpblendvb`, and the legacy ones, which choose by xmm0.
    pub(super) fn select(&mut self, at: At<'_>, format: Option<Format>) {
        let insn = &at.insn().decoded;
        let is_legacy = insn.op_count() == 2;
        let Some(choice) = self.choice(insn, if is_legacy { 1 } else { 2 }) else {
            self.close_operand();
            return self.checked(at);
        };
        let by = if is_legacy { 0 } else { insn.op3_register().number() as u8 };
        let lanes = Lanes::of(format.unwrap_or(Format::F32), insn.op0_register());
        let upper = self.has_upper();
        // Should the guest's load fault, it is run again.
        let is_first = !upper && usize::from(by) == insn.op0_register().number();
        match format {
            _ if !upper => {}
            Some(_) => self.select_by(lanes, by),
            None => {
                let signs = Place::Reg(by);
                let signs = Vector::unary(forms::SIGNS_MASK_8, lanes.format, lanes.length, SELECTED, signs);
                self.out.hot.vector(signs);
            }
        }
        if !is_first {
            // The guest's load has succeeded then, and has not overwritten its address.
            self.guest(at);
        }
        let form = match format {
            None if upper => forms::BLEND_MASK_SMALL,
            Some(_) if upper => forms::BLEND_MASK,
            None => forms::BLEND_VECTOR_8,
            Some(Format::F32) => forms::BLEND_VECTOR_32,
            Some(_) => forms::BLEND_VECTOR_64,
        };
        self.chosen(insn, choice, |operands, set| {
            let blend = Vector::new(form, lanes.format, lanes.length, operands, set);
            if upper { blend.masked(SELECTED) } else { blend.immediate(by << 4) }
        });
        if is_first {
            self.guest(at);
        }
    }

    /// The two operands that an instruction chooses from, the second of which is operand `set`; nothing if that has no mirror.
    fn choice(&mut self, insn: &Instruction, set: u32) -> Option<Choice> {
        let clear = insn.op_register(set - 1).number() as u8;
        let set = match insn.op_kind(set) {
            OpKind::Register => Chosen::Register(insn.op_register(set).number() as u8),
            _ => Chosen::Mirror(self.mirror_memory(insn)?),
        };
        Some(Choice { clear, set })
    }

    /// Makes the shadow of what `insn` has chosen, by the instruction that `blend` makes of its operands.
    fn chosen(
        &mut self,
        insn: &Instruction,
        Choice { clear, set }: Choice,
        blend: impl FnOnce([u8; 2], Place) -> Vector,
    ) {
        let clear = self.low_in_register(clear, insn.op0_register().size() as u8, 0);
        let set = match set {
            Chosen::Mirror(mem) => Place::Mem(mem),
            Chosen::Register(n) => self.shadow_value(n),
        };
        let d = insn.op0_register().number() as u8;
        let target = self.shadow_target(d, 1);
        self.out.hot.vector(blend([target, clear], set));
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
