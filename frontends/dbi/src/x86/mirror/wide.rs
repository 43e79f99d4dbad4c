//! Arithmetic of a guest that uses AVX-512 itself: the rule computes in registers that are spilled whole, and the mask registers
//! that it takes are put back after it.
//!
//! Under a mask the rule computes all lanes, and those that the mask lets through are taken.
//!
//! Knows instructions in EVEX without a rounding mode of their own. Others are left to the engine if they meet a
//! shadow, and so are sums that may round, and all executions as long as suspicious ones are to be seen.

use super::append::Append;
use super::check::Source;
use super::operands::{Operands, rest_source, source_numbers};
use super::rounding::may_round;
use super::{At, Watched};
use crate::context::SPILL_SLOTS;
use crate::x86::access;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Binding, Constants, InlineRule, Job, Rest};
use crate::x86::table::Shape;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{Instruction, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::Sums;

/// Mask registers that a rule may change.
const MASKS: [u8; 4] = [1, 2, 3, 4];
/// Temporaries of a rule, and places for more values: the last ones that registers are spilled to but one, which is for masks.
const TEMPORARIES: usize = 6;
const PLACES: [usize; 2] = [SPILL_SLOTS - 3, SPILL_SLOTS - 2];

impl Emitter {
    /// Such an instruction with its rule beside it.
    pub(super) fn wide_arithmetic(
        &mut self,
        at: At<'_>,
        op: Op,
        terms: Option<[u8; 3]>,
        format: Format,
        shape: Shape,
    ) {
        let insn = &at.insn().decoded;
        let settings = self.mirror().settings;
        let may_round = may_round(at, format) || at.block.sums(at.insn().pc()) == Sums::TakenOff;
        let has_rule = settings.wide && (settings.rule.is_some() || settings.appends) && op.is_arithmetic();
        if !has_rule || may_round || broadcasts_to_two(insn) || access::raises_otherwise(insn) {
            return self.checked(at);
        }
        let lacks_room = settings.appends && !self.takes_room();
        if lacks_room || self.watched(at) != Watched::Never || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let mut operands = self.operands(insn, &source_numbers(insn, op, terms));
        let d = insn.op0_register().number() as u8;
        if operands.are_absent() && insn.has_op_mask() {
            self.close_operand();
            return self.checked(at);
        }
        if !settings.policy.is_born && operands.are_absent() {
            self.guest(at);
            self.close_operand();
            return self.clear_vector(d);
        }
        let width = access::result_bytes(insn, format, shape) as u8;
        self.load_operands(at, (format, width), &mut operands);
        let rest = rest_source(insn, shape, terms.is_some());
        if settings.appends {
            let lanes = width / format.bytes() as u8;
            self.append_wide(at, &Append { op, formats: [format; 2], lanes, operands: &operands, d, rest });
            return self.close_operand();
        }
        self.keep_result(d, &mut operands, width);
        self.guest(at);
        let to = self.another_temporary();
        if let Some(rest) = rest {
            let mem = self.shadow_memory(rest);
            self.out.hot.vector_load(to, mem, 16);
        }
        let temps: Vec<u8> = (0..TEMPORARIES).map(|_| self.another_temporary()).collect();
        let job = Job::of((self.inline_rule(), op), (format, width), operands.places(), to, &temps);
        let (absent, r) = (operands.absent, Place::Reg(d));
        let spill = PLACES.map(|place| self.spill_slot(place));
        let rest = if rest.is_some() { Rest::Low } else { Rest::Zero };
        let job = Job { absent, r, rest, masks: &MASKS, spill: &spill, ..job };
        self.keeping_masks(|e| e.emit_wide_rule(&job));
        if rest == Rest::Low {
            self.move_shadow(to, to, 16);
        }
        let made = if insn.has_op_mask() { self.selected(insn, (format, width), to, temps[0]) } else { to };
        self.put_shadow(d, made);
        self.close_operand();
    }

    /// Leaves the instruction to the engine where the question about `op` has an answer other than +0 in a lane.
    pub(super) fn ask_wide(
        &mut self,
        at: At<'_>,
        (question, op): (InlineRule, Op),
        (format, width): (Format, u8),
        mut operands: Operands,
    ) {
        self.note_spilled(at.index);
        self.load_operands(at, (format, width), &mut operands);
        let (to, answers) = (self.another_temporary(), self.spill_slot(SPILL_SLOTS - 1));
        let temps: Vec<u8> = (0..TEMPORARIES).map(|_| self.another_temporary()).collect();
        let job = Job::of((question, op), (format, width), operands.places(), to, &temps);
        let spill = PLACES.map(|place| self.spill_slot(place));
        let job = Job { absent: operands.absent, masks: &MASKS, spill: &spill, ..job };
        self.keeping_masks(|e| {
            e.emit_wide_rule(&job);
            let mask = MASKS[0];
            let test = Vector::new(forms::TEST, Format::F64, Length::B64, [mask, to], Place::Reg(to));
            e.out.hot.vector(test);
            let place = Place::Mem(answers);
            e.out.hot.vector(Vector::unary(forms::MASK_STORE, Format::F64, Length::B16, mask, place));
        });
        self.check(at, &[Source::Memory(answers, 8)]);
    }

    fn emit_wide_rule(&mut self, job: &Job<'_>) {
        let constants = Constants::at(self.mirror().settings.constants);
        rules::emit(&mut self.out.hot, Binding::Evex, job, &constants);
    }

    /// Has the operand in memory in temporaries where it is one for all lanes, or lanes of it may not be there; touches it otherwise.
    pub(super) fn load_operands(
        &mut self,
        at: At<'_>,
        (format, width): (Format, u8),
        operands: &mut Operands,
    ) {
        let insn = &at.insn().decoded;
        if insn.is_broadcast() {
            self.broadcast(insn, (format, width), operands);
        } else if insn.has_op_mask() {
            self.load_selected(insn, (format, width), operands);
        } else {
            self.touch(at);
        }
    }

    /// Of the lanes of `made`, those that the instruction's mask lets through; the others are zero or have the shadow that they had.
    /// In `made`, or in `other`.
    pub(super) fn selected(
        &mut self,
        insn: &Instruction,
        (format, width): (Format, u8),
        made: u8,
        other: u8,
    ) -> u8 {
        let (length, mask) = (Length::of(width), insn.op_mask().number() as u8);
        let choose = |to: u8| match length {
            Length::Scalar => Vector::new(forms::MOVE_LOW, format, length, [to, made], Place::Reg(made)),
            _ => Vector::unary(forms::MOVE, format, length, to, Place::Reg(made)),
        };
        if insn.zeroing_masking() {
            self.out.hot.vector(choose(made).masked(mask).zeroing());
            return made;
        }
        let old = self.shadow_memory(insn.op0_register().number() as u8);
        self.out.hot.vector_load(other, old, width.max(16));
        self.out.hot.vector(choose(other).masked(mask));
        other
    }

    /// Loads the lanes of the operand in memory that the instruction's mask lets through, and their shadows, into temporaries: no others
    /// are there for sure.
    fn load_selected(&mut self, insn: &Instruction, (format, width): (Format, u8), operands: &mut Operands) {
        let length = Length::of(width);
        for i in 0..operands.count {
            let (Place::Mem(value), None) = (operands.x[i], operands.registers[i]) else { continue };
            let mut load = |mem| {
                let to = self.another_temporary();
                let load = Vector::unary(forms::LOAD, format, length, to, Place::Mem(mem));
                self.out.hot.vector(load.masked(insn.op_mask().number() as u8).zeroing());
                Place::Reg(to)
            };
            operands.x[i] = load(value);
            if let (Place::Mem(shadow), 0) = (operands.shadows[i], operands.absent >> i & 1) {
                operands.shadows[i] = load(shadow);
            }
        }
    }

    /// Loads the operand of which each lane is the same, and its shadow, into temporaries.
    fn broadcast(&mut self, insn: &Instruction, lanes: (Format, u8), operands: &mut Operands) {
        for i in 0..operands.count {
            let (Place::Mem(value), None) = (operands.x[i], operands.registers[i]) else { continue };
            operands.x[i] = self.broadcast_lane(insn, lanes, value);
            if let (Place::Mem(shadow), 0) = (operands.shadows[i], operands.absent >> i & 1) {
                operands.shadows[i] = self.broadcast_lane(insn, lanes, shadow);
            }
        }
    }

    fn broadcast_lane(&mut self, insn: &Instruction, (format, width): (Format, u8), lane: Mem) -> Place {
        let (form, to) = (forms::broadcast(format), self.another_temporary());
        // What is beyond the operation's lanes does not matter, and wide ones have no shorter form.
        let least = if format == Format::F32 { 16 } else { 32 };
        let length = Length::of(width.max(least));
        let load = Vector::unary(form, format, length, to, Place::Mem(lane));
        let selected = insn.op_mask().number() as u8;
        self.out.hot.vector(if insn.has_op_mask() { load.masked(selected).zeroing() } else { load });
        Place::Reg(to)
    }

    /// Keeps the value of vector register `d`, which the guest's instruction overwrites, if it is an operand.
    fn keep_result(&mut self, d: u8, operands: &mut Operands, width: u8) {
        let count = operands.count;
        if !operands.x[..count].contains(&Place::Reg(d)) {
            return;
        }
        let value = self.another_temporary();
        self.move_shadow(value, d, width.max(16));
        operands.x[..count].iter_mut().filter(|x| **x == Place::Reg(d)).for_each(|x| *x = Place::Reg(value));
    }

    /// Emits code that uses mask registers, and puts the guest's back.
    pub(super) fn keeping_masks(&mut self, code: impl FnOnce(&mut Emitter)) {
        let kept = self.spill_slot(SPILL_SLOTS - 1);
        assert!(self.mirror().temporaries.spilled()[PLACES[0]..].iter().all(Option::is_none));
        let moves = |form| {
            MASKS.map(|k| {
                let mem = kept.plus(8 * i32::from(k));
                Vector::unary(form, Format::F64, Length::B16, k, Place::Mem(mem))
            })
        };
        moves(forms::MASK_STORE).into_iter().for_each(|store| self.out.hot.vector(store));
        code(self);
        moves(forms::MASK_LOAD).into_iter().for_each(|load| self.out.hot.vector(load));
    }
}

/// Tells whether one lane is broadcast to two under a mask: no form does that for others than floats of four bytes, and of four lanes the
/// mask may have another.
pub(super) fn broadcasts_to_two(insn: &Instruction) -> bool {
    let is_short = |n: u32| insn.op_kind(n) == OpKind::Register && insn.op_register(n).is_xmm();
    insn.is_broadcast() && insn.has_op_mask() && (0..insn.op_count()).any(is_short)
}
