//! Arithmetic of a guest that uses AVX-512 itself: the rule computes in registers that are spilled whole, and the mask registers
//! that it takes are put back after it.
//!
//! Knows instructions in EVEX without a mask and without a rounding mode of their own. Others are left to the engine if they meet a
//! shadow, and so are sums that may round, and all executions as long as suspicious ones are to be seen.

use super::operands::{Operands, rest_source, source_numbers};
use super::rounding::may_round;
use super::{At, Watched};
use crate::context::SPILL_SLOTS;
use crate::x86::access;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Binding, Constants, Job, Rest};
use crate::x86::table::Shape;
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use iced_x86::Instruction;
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
        let has_rule = settings.wide && settings.rule.is_some() && op.is_arithmetic();
        if !has_rule || may_round || access::works_otherwise(insn) {
            return self.checked(at);
        }
        if self.watched(at) != Watched::Never || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let mut operands = self.operands(insn, &source_numbers(insn, op, terms));
        let d = insn.op0_register().number() as u8;
        if !settings.policy.is_born && operands.are_absent() {
            self.guest(at);
            self.close_operand();
            return self.clear_vector(d);
        }
        let width = access::result_bytes(insn, format, shape) as u8;
        if insn.is_broadcast() {
            self.broadcast(insn, format, &mut operands);
        } else {
            self.touch(at);
        }
        self.keep_result(d, &mut operands, width);
        self.guest(at);
        let to = self.another_temporary();
        let rest = rest_source(insn, shape, terms.is_some());
        if let Some(rest) = rest {
            let mem = self.shadow_memory(rest);
            self.out.hot.vector_load(to, mem, 16);
        }
        let temps: Vec<u8> = (0..TEMPORARIES).map(|_| self.another_temporary()).collect();
        let job = Job::of((self.inline_rule(), op), (format, width), operands.places(), to, &temps);
        let (absent, r) = (operands.absent, Place::Reg(d));
        let spill = PLACES.map(|place| self.spill_slot(place));
        assert!(self.mirror().temporaries.spilled()[PLACES[0]..].iter().all(Option::is_none));
        let rest = if rest.is_some() { Rest::Low } else { Rest::Zero };
        self.with_masks(&Job { absent, r, rest, masks: &MASKS, spill: &spill, ..job });
        if rest == Rest::Low {
            self.move_shadow(to, to, 16);
        }
        self.put_shadow(d, to);
        self.close_operand();
    }

    /// Loads the operand of which each lane is the same, and its shadow, into temporaries.
    fn broadcast(&mut self, insn: &Instruction, format: Format, operands: &mut Operands) {
        let form = if format == Format::F32 { forms::BROADCAST_32 } else { forms::BROADCAST_64 };
        for i in 0..operands.count {
            let (Place::Mem(value), None) = (operands.x[i], operands.registers[i]) else { continue };
            operands.x[i] = self.broadcast_lane(insn, form, format, value);
            if let (Place::Mem(shadow), 0) = (operands.shadows[i], operands.absent >> i & 1) {
                operands.shadows[i] = self.broadcast_lane(insn, form, format, shadow);
            }
        }
    }

    fn broadcast_lane(&mut self, insn: &Instruction, form: Form, format: Format, lane: Mem) -> Place {
        let to = self.another_temporary();
        // What is beyond the operation's lanes does not matter, and wide ones have no shorter form.
        let length = Length::of((insn.op0_register().size() as u8).max(32));
        self.out.hot.vector(Vector::unary(form, format, length, to, Place::Mem(lane)));
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

    /// The rule, and the guest's mask registers put back.
    fn with_masks(&mut self, job: &Job<'_>) {
        let kept = self.spill_slot(SPILL_SLOTS - 1);
        let moves = |form| {
            MASKS.map(|k| {
                let mem = kept.plus(8 * i32::from(k));
                Vector::unary(form, Format::F64, Length::B16, k, Place::Mem(mem))
            })
        };
        let constants = Constants::at(self.mirror().settings.constants);
        let hot = &mut self.out.hot;
        moves(forms::MASK_STORE).into_iter().for_each(|store| hot.vector(store));
        rules::emit(hot, Binding::Evex, job, &constants);
        moves(forms::MASK_LOAD).into_iter().for_each(|load| hot.vector(load));
    }
}
