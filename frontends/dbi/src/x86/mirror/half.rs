//! Half precision: the shadows of floats that become narrower, or wider again, become so with them.
//!
//! Shadows are rounded to nearest whatever the guest's immediate says of its floats: it is a derivative of the real function
//! that is wanted, and rounding has none. Knows F16C's two instructions, with VEX; those of AVX-512 run out of line.

use super::At;
use super::arith::lanes_mask;
use super::operand;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Constants, Conversion, Rest};
use crate::x86::vector::Place;
use iced_x86::{EncodingKind, OpKind};
use shadowgrind_core::format::Format;

impl Emitter {
    /// `vcvtph2ps`.
    pub(super) fn half_to_single(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        if insn.encoding() != EncodingKind::VEX {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        self.guest(at);
        let d = insn.op0_register().number() as u8;
        let shadow = match insn.op1_kind() {
            OpKind::Register => Some(self.shadow_value(insn.op1_register().number() as u8)),
            _ => self.mirror_memory(insn).map(Place::Mem),
        };
        match shadow {
            None => self.clear_vector(d),
            Some(shadow) => {
                let to = self.shadow_target(d, 0);
                self.convert_halves(at, [Format::F16, Format::F32], shadow, to);
                self.put_shadow(d, to);
            }
        }
        self.close_operand();
    }

    /// `vcvtps2ph`.
    pub(super) fn single_to_half(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        if insn.encoding() != EncodingKind::VEX || self.mirror().settings.policy.is_born {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        self.guest(at);
        let shadow = self.shadow_value(insn.op1_register().number() as u8);
        let formats = [Format::F32, Format::F16];
        if !operand::has_memory(insn) {
            let d = insn.op0_register().number() as u8;
            let to = self.shadow_target(d, 0);
            self.convert_halves(at, formats, shadow, to);
            self.put_shadow(d, to);
        } else if let Some(mem) = self.mirror_memory(insn) {
            let to = self.temporary(0);
            self.convert_halves(at, formats, shadow, to);
            self.out.hot.vector_store(mem, to, insn.memory_size().size() as u8);
        }
        self.close_operand();
    }

    fn convert_halves(&mut self, at: At<'_>, [from, result]: [Format; 2], shadow: Place, to: u8) {
        let insn = &at.insn().decoded;
        let wide = if from == Format::F32 { insn.op1_register() } else { insn.op0_register() };
        let count = (wide.size() / Format::F32.bytes()) as u8;
        let upper = self.has_upper();
        let job = Conversion {
            from,
            result,
            count,
            shadow,
            to,
            rest: Rest::Zero,
            temp: self.temporary(1),
            mask: super::arith::MASKS[0],
            lanes: if upper { lanes_mask(count) } else { None },
            mark: None,
        };
        let constants = Constants::at(self.mirror().settings.constants);
        let binding = self.binding();
        self.begin_rule(at);
        rules::convert(&mut self.out.hot, binding, &job, &constants);
        self.end_rule(at);
    }
}
