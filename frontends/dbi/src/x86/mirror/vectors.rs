//! Moves of vector registers: the same move on their shadows.

use super::At;
use super::check::Source;
use super::double::can_double;
use super::general_number;
use super::operand;
use super::places;
use super::retarget::retarget;
use crate::x86::access;
use crate::x86::asm::Gpr;
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::rows;
use crate::x86::table::{Moved, Shape};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
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
    /// Two halves, chosen by this immediate.
    Halves(u8),
    /// The lanes of one of two, by the signs of a register.
    Select(Format),
    /// The lanes of memory, by the signs of a register.
    Masked(Format),
    /// Not beside the guest's.
    Check,
}

impl Emitter {
    pub(super) fn vector_move(&mut self, at: At<'_>, moved: Moved, control: u8) {
        let insn = &at.insn().decoded;
        let plain = control == 0 || self.control_is_plain(insn, control);
        let way = if plain { self.way(insn, moved) } else { Way::Check };
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
            Way::Halves(selector) => {
                self.guest(at);
                self.halves(insn, selector);
            }
            Way::Select(format) => self.select(at, format),
            Way::Masked(format) => self.masked_move(at, format),
            Way::Check => {}
        }
        self.close_operand();
    }

    /// Tells whether the selecting operand is a register, or the re-encoded instruction takes it from the guest's memory: it is never a
    /// shadow.
    fn control_is_plain(&self, insn: &Instruction, control: u8) -> bool {
        let plain = |n| matches!(insn.op_kind(n), OpKind::Register | OpKind::Immediate8);
        (0..insn.op_count()).all(|n| control >> n & 1 == 0 || plain(n))
            && control & crate::x86::table::XMM0 == 0
    }

    /// Way to move the shadows of what `insn` moves, which is `moved`.
    fn way(&mut self, insn: &Instruction, moved: Moved) -> Way {
        let registers = || {
            (0..insn.op_count().min(2))
                .filter(|&n| insn.op_kind(n) == OpKind::Register)
                .map(|n| insn.op_register(n))
        };
        let Some(vector) = registers().find(|r| r.is_vector_register()) else { return Way::Check };
        let (memory, upper) = (operand::has_memory(insn), self.has_upper());
        if registers().any(Register::is_mm) || !upper && insn.encoding() == EncodingKind::EVEX {
            return Way::Check;
        }
        match moved {
            Moved::Whole => Way::Whole(vector.size() as u8),
            Moved::Lowest(format) if registers().any(Register::is_gpr) => Way::General(format.bytes() as u8),
            Moved::Lowest(format) => Way::Whole(format.bytes() as u8),
            Moved::Lane(format) if memory => Way::Whole(format.bytes() as u8),
            Moved::Lane(format) => Way::Lane(format.bytes() as u8),
            Moved::Halves if upper && insn.immediate8() & 0x88 == 0 && !memory => {
                Way::Halves(insn.immediate8())
            }
            Moved::Element if !memory || is_narrow(insn) => Way::Check,
            Moved::Select(format) if upper => Way::Select(format),
            Moved::Masked(format) if upper => Way::Masked(format),
            _ if !upper && !can_double(insn) => Way::Check,
            _ if !upper && insn.encoding() == EncodingKind::VEX => Way::Double(insn.code()),
            _ => {
                let code = self.mirror().reencodings.of(insn.code());
                code.map_or(Way::Check, if upper { Way::Reencoded } else { Way::Double })
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

    /// `vperm2f128`: each half of the result is one of four.
    fn halves(&mut self, insn: &Instruction, selector: u8) {
        let sources = [insn.op1_register().number() as u8, insn.op2_register().number() as u8];
        let d = insn.op0_register().number() as u8;
        let pick = |bits: u8| (sources[usize::from(bits >> 1 & 1)], bits & 1);
        let ((low, low_half), (high, high_half)) = (pick(selector & 3), pick(selector >> 4 & 3));
        let low = self.shadow_in_register(low, 0);
        let high = self.shadow_in_register(high, 1);
        let target = self.shadow_target(d, 0);
        let register = |n: u8| Register::YMM0 + u32::from(n);
        let shuffle = Instruction::with4(
            Code::EVEX_Vshuff64x2_ymm_k1z_ymm_ymmm256b64_imm8,
            register(target),
            register(low),
            register(high),
            u32::from(low_half | high_half << 1),
        );
        let shuffle = shuffle.expect("registers and an immediate");
        let code = far::encode(&shuffle, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        self.put_shadow(d, target);
    }

    /// The re-encoded instruction, on shadows.
    fn reencoded(&mut self, at: At<'_>, code: Code, control: u8) {
        let insn = &at.insn().decoded;
        let Some(mirror) = self.reencoded_operands(insn) else {
            self.close_operand();
            return self.checked(at);
        };
        if overwrites_control(insn, control) {
            // Should the guest's load fault, it is run again.
            self.emit_reencoded(insn, code, control, mirror);
            return self.guest(at);
        }
        // The guest's load has succeeded then, and has not overwritten its address.
        self.guest(at);
        self.emit_reencoded(insn, code, control, mirror);
    }

    /// The memory operand's mirror, if there is one; nothing at all where that instruction has no operand for something.
    #[allow(clippy::option_option, reason = "no such instruction and no memory operand are different")]
    fn reencoded_operands(&mut self, insn: &Instruction) -> Option<Option<Mem>> {
        let held = usize::from(self.mirror().settings.in_registers);
        let outside = |r: Register| !r.is_vector_register() || r.number() >= held;
        let mut registers = (0..insn.op_count())
            .filter(|&n| insn.op_kind(n) == OpKind::Register)
            .map(|n| insn.op_register(n));
        if registers.any(outside) {
            return None;
        }
        if !operand::has_memory(insn) {
            return Some(None);
        }
        self.mirror_memory(insn).map(Some)
    }

    fn emit_reencoded(&mut self, insn: &Instruction, code: Code, control: u8, mirror: Option<Mem>) {
        let reencoded =
            retarget(
                insn,
                code,
                mirror,
                |_, from, register| {
                    if control >> from & 1 == 1 { register } else { upper(register) }
                },
            );
        let code = far::encode(&reencoded, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
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
        self.close_operand();
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

/// Tells whether the result takes the place of an operand that selects: of one of those that `control` has a bit for.
pub(super) fn overwrites_control(insn: &Instruction, control: u8) -> bool {
    let result = insn.op0_register();
    (1..insn.op_count()).any(|n| {
        control >> n & 1 == 1
            && insn.op_kind(n) == OpKind::Register
            && insn.op_register(n).number() == result.number()
    })
}

/// The upper vector register that holds a vector register's shadow, in the same width.
fn upper(register: Register) -> Register {
    register + 16
}

/// Tells whether the instruction moves one or two bytes: a part of a float, if anything.
fn is_narrow(insn: &Instruction) -> bool {
    rows::inserted(insn).is_some_and(|(_, bytes)| bytes < 4)
}
