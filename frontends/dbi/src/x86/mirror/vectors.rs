//! Moves of vector registers: the same move on their shadows.

use super::At;
use super::check::Source;
use super::double::can_double;
use super::general_number;
use super::operand;
use super::places;
use crate::x86::access;
use crate::x86::asm::Gpr;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::table::{Moved, Shape};
use crate::x86::vector::{Length, Place, Vector, forms};
use iced_x86::{Code, EncodingKind, Instruction, OpKind, Register};
use shadowgrind_core::format::Format;

/// Way in which an instruction's shadow is moved.
enum Way {
    /// The low so many bytes, as they are; the rest of a register becomes zero.
    Whole(u8),
    /// From or to a general register, the low so many bytes.
    General(u8),
    /// The lowest lane of so many bytes, between registers.
    Lane(u8),
    /// Re-encoded.
    Reencoded(Code),
    /// By the VEX form, on temporaries.
    Double(Code),
    /// Re-encoded, with the cell of a general register in memory.
    Element(Code),
    /// Two halves, chosen by this immediate.
    Halves(u8),
    /// The lanes of one of two, by the bits of an immediate.
    Blend(Format),
    /// The lanes of one of two, or the bytes, by the signs of a register.
    Select(Option<Format>),
    /// The lanes of memory, by the signs of a register.
    Masked(Format),
    /// Not beside the guest's.
    Check,
}

impl Emitter {
    pub(super) fn vector_move(&mut self, at: At<'_>, moved: Moved, control: u8) {
        let insn = &at.insn().decoded;
        let plain = control == 0 || self.control_is_plain(insn, control);
        let way = if plain { self.way(at, moved, control) } else { Way::Check };
        if matches!(way, Way::Check) {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        match way {
            Way::Whole(bytes) => self.whole(at, bytes),
            Way::General(bytes) => self.through_general(at, bytes),
            Way::Lane(bytes) => {
                self.guest(at);
                self.lane_move(insn, bytes);
            }
            Way::Reencoded(code) => self.reencoded(at, code, control),
            Way::Double(code) => self.double(at, code, control),
            Way::Element(code) => self.element(at, code),
            Way::Halves(selector) => self.halves(at, selector),
            Way::Blend(format) => self.blend(at, format),
            Way::Select(format) => self.select(at, format),
            Way::Masked(format) => self.masked_move(at, format),
            Way::Check => {}
        }
        self.close_operand();
    }

    /// Tells whether what selects is an operand that a move of shadows can take as it stands: a register, an immediate or the
    /// guest's memory. It is never a shadow.
    fn control_is_plain(&self, insn: &Instruction, control: u8) -> bool {
        let plain = |n| match insn.op_kind(n) {
            OpKind::Register | OpKind::Immediate8 => true,
            OpKind::Memory => insn.segment_prefix() != Register::FS,
            _ => false,
        };
        (0..insn.op_count()).all(|n| control >> n & 1 == 0 || plain(n))
    }

    /// Way to move the shadows of what the instruction moves, which is `moved`.
    fn way(&mut self, at: At<'_>, moved: Moved, control: u8) -> Way {
        let insn = &at.insn().decoded;
        let registers = || {
            (0..insn.op_count().min(2))
                .filter(|&n| insn.op_kind(n) == OpKind::Register)
                .map(|n| insn.op_register(n))
        };
        let Some(vector) = registers().find(|r| r.is_vector_register()) else { return Way::Check };
        let (memory, upper) = (operand::has_memory(insn), self.has_upper());
        if registers().any(Register::is_mm) {
            return Way::Check;
        }
        // Shadows of a guest that uses AVX-512 are in memory, whole. Where its result replaces what selects there is no other to name.
        let is_wide = insn.encoding() == EncodingKind::EVEX;
        if is_wide && (!self.mirror().settings.wide || control & 1 == 1) {
            return Way::Check;
        }
        let code = rows::beside(insn.code());
        match moved {
            _ if access::is_decorated(insn) && can_double(insn) => Way::Double(code),
            _ if access::is_decorated(insn) => Way::Check,
            Moved::Whole => Way::Whole(vector.size() as u8),
            Moved::Lowest(format) if registers().any(Register::is_gpr) => Way::General(format.bytes() as u8),
            Moved::Lowest(format) => Way::Whole(format.bytes() as u8),
            Moved::Lane(format) if memory => Way::Whole(format.bytes() as u8),
            Moved::Lane(format) => Way::Lane(format.bytes() as u8),
            Moved::Halves if upper => Way::Halves(insn.immediate8()),
            Moved::Element if is_narrow(insn) => Way::Check,
            Moved::Element if !memory => self.element_code(at).map_or(Way::Check, Way::Element),
            Moved::Blend(format) if upper => Way::Blend(format),
            Moved::Select(format) => Way::Select(Some(format)),
            Moved::SelectBytes => Way::Select(None),
            Moved::Masked(format) if upper => Way::Masked(format),
            _ if !upper && !can_double(insn) => Way::Check,
            _ if !upper && (is_wide || insn.encoding() == EncodingKind::VEX) => Way::Double(code),
            _ => {
                let reencoded = self.mirror().reencodings.of(code);
                reencoded.map_or(Way::Check, if upper { Way::Reencoded } else { Way::Double })
            }
        }
    }

    /// A move of the low `bytes` as they are.
    fn whole(&mut self, at: At<'_>, bytes: u8) {
        let insn = &at.insn().decoded;
        let mirror = self.mirror_memory(insn);
        if insn.op0_kind() == OpKind::Memory {
            let s = insn.op1_register().number() as u8;
            self.guest(at);
            let Some(mem) = mirror else { return };
            let from = self.low_in_register(s, bytes, 0);
            return self.out.hot.vector_store(mem, from, bytes);
        }
        let d = insn.op0_register().number() as u8;
        if insn.op1_kind() == OpKind::Memory {
            self.guest(at);
            let Some(mem) = mirror else { return self.clear_vector(d) };
            let target = self.shadow_target(d, 0);
            self.out.hot.vector_load(target, mem, bytes);
            self.put_shadow(d, target);
            return self.set_extent(d, bytes);
        }
        self.guest(at);
        let s = insn.op1_register().number() as u8;
        if (s, bytes) == (d, 64) {
            return;
        }
        let extent = self.extent(s).min(bytes);
        let from = self.low_in_register(s, bytes, 0);
        if self.held(s) == Some(from) && bytes == 16 && places::keeps_upper(insn) {
            self.put_shadow(d, from);
            return self.set_extent(d, extent);
        }
        // What was loaded from memory is followed by zeros already.
        let target = self.shadow_target(d, 0);
        if self.has_upper() || target != from {
            self.move_shadow(target, from, bytes);
        }
        self.put_shadow(d, target);
        self.set_extent(d, extent);
    }

    /// `movd`, `movq` between a general and a vector register.
    fn through_general(&mut self, at: At<'_>, bytes: u8) {
        let insn = &at.insn().decoded;
        self.guest(at);
        if insn.op0_register().is_gpr() {
            let n = insn.op0_register().full_register().number() as Gpr;
            let mut from = self.low_in_register(insn.op1_register().number() as u8, bytes, 0);
            if bytes < 8 && from != self.temporary(0) {
                let low = self.temporary(1);
                self.move_low(low, from, bytes);
                from = low;
            }
            let cell = self.cell(n);
            self.out.hot.vector_store(cell, from, 8);
            self.set_carries(n, true);
        } else {
            let n = insn.op1_register().full_register().number() as Gpr;
            let d = insn.op0_register().number() as u8;
            if self.may_carry(n) {
                let target = self.shadow_target(d, 0);
                let cell = self.cell(n);
                self.out.hot.vector_load(target, cell, bytes);
                self.put_shadow(d, target);
            } else {
                self.clear_vector(d);
            }
        }
    }

    /// The low 4 or 8 bytes of a register, zero-extended.
    pub(super) fn move_low(&mut self, to: u8, from: u8, bytes: u8) {
        if bytes == 8 {
            return self.move_shadow(to, from, 8);
        }
        self.zero(to);
        self.merge_lane(to, to, from, 4);
    }

    /// `to` = `rest` with its lowest lane from `lane`; zero above 16 bytes.
    pub(super) fn merge_lane(&mut self, to: u8, rest: u8, lane: u8, bytes: u8) {
        let format = if bytes == 4 { Format::F32 } else { Format::F64 };
        self.out.hot.vector(Vector::new(
            forms::MOVE_LOW,
            format,
            Length::Scalar,
            [to, rest],
            Place::Reg(lane),
        ));
    }

    /// `movss`, `movsd` between registers.
    fn lane_move(&mut self, insn: &Instruction, bytes: u8) {
        let d = insn.op0_register().number() as u8;
        let (rest, lane) = match insn.op_count() {
            2 => (d, insn.op1_register().number() as u8),
            _ => (insn.op1_register().number() as u8, insn.op2_register().number() as u8),
        };
        let rest = self.low_in_register(rest, 16, 0);
        let lane = self.low_in_register(lane, bytes, 1);
        let target = self.shadow_target(d, 0);
        self.merge_lane(target, rest, lane, bytes);
        self.put_shadow(d, target);
    }

    /// Lanes that start afresh: the lowest, the rest as the first source has it; or all.
    pub(super) fn fresh(&mut self, at: At<'_>, format: Format, shape: Shape) {
        let insn = &at.insn().decoded;
        if insn.op0_kind() != OpKind::Register || !insn.op0_register().is_vector_register() {
            return self.integer(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        if self.mirror().settings.policy.derivatives.is_some() {
            // The digits of a float, taken for an integer.
            let source = general_number(insn.op_register(insn.op_count() - 1));
            let cell = source.filter(|&n| self.may_carry(n)).map(Source::Cell);
            self.check(at, cell.as_slice());
        }
        self.guest(at);
        self.count_rounding(at);
        self.close_operand();
        self.clear_lanes(at, format, shape);
    }

    /// After an instruction with a vector register for its result: that has no shadow, the rest of the register keeps its own.
    pub(super) fn clear_lanes(&mut self, at: At<'_>, format: Format, shape: Shape) {
        let insn = &at.insn().decoded;
        let d = insn.op0_register().number() as u8;
        let bytes = access::result_bytes(insn, format, shape);
        if shape == Shape::Packed && bytes == insn.op0_register().size() {
            return self.clear_vector(d);
        }
        let rest = if insn.op_count() > 2 && insn.op1_kind() == OpKind::Register && !places::keeps_upper(insn)
        {
            insn.op1_register().number() as u8
        } else {
            d
        };
        let rest = self.low_in_register(rest, 16, 1);
        let zero = self.temporary(0);
        self.zero(zero);
        let target = self.shadow_target(d, 1);
        self.merge_lane(target, rest, zero, bytes as u8);
        self.put_shadow(d, target);
    }

    /// `vzeroupper`, `vzeroall`.
    pub(super) fn zero_upper(&mut self, at: At<'_>, all: bool) {
        self.put_back_all();
        self.guest(at);
        if self.mode.is_narrow() && !all {
            return;
        }
        let bytes = self.shadow_bytes();
        // From here on already, so that a spilled register is not put back whole: that would undo what was done.
        let in_memory = !self.has_upper();
        self.mode = self.mode.narrow(in_memory);
        for n in 0..16 {
            match self.shadow(n) {
                Place::Reg(register) if all => self.zero(register),
                Place::Reg(register) => self.move_shadow(register, register, 16),
                Place::Mem(mem) => {
                    let temporary = self.temporary(0);
                    if all {
                        self.zero(temporary);
                    } else {
                        self.out.hot.vector_load(temporary, mem, 16);
                    }
                    self.out.hot.vector_store(mem, temporary, bytes);
                }
            }
        }
        self.hold_nothing();
    }
}

/// Tells whether the instruction moves one or two bytes: a part of a float, if anything.
fn is_narrow(insn: &Instruction) -> bool {
    rows::inserted(insn).is_some_and(|(_, bytes)| bytes < 4)
}
