//! Questions that a shadow asks beside operations and comparisons: where the answer is other than +0, the engine has a look.

use super::At;
use super::encode;
use super::operands::{Operands, source_numbers};
use super::wide::broadcasts_to_two;
use crate::x86::access::raises_otherwise;
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::{InlineRule, Job};
use crate::x86::table::{Row, Shape};
use crate::x86::vector::Mem;
use iced_x86::EncodingKind;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

impl Emitter {
    /// A comparison that the shadow wants to see: it is left to the engine if the rule says that it may come out otherwise.
    pub(super) fn compared(&mut self, at: At<'_>, format: Format, shape: Shape) {
        let insn = &at.insn().decoded;
        let is_wide = insn.encoding() == EncodingKind::EVEX;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX)
            || is_wide && self.mirror().settings.wide && !raises_otherwise(insn) && !broadcasts_to_two(insn);
        let Some(doubt) = self.mirror().settings.doubt.filter(|_| plain) else { return self.checked(at) };
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let operands = self.operands(insn, &source_numbers(insn, Op::Sub, None));
        if !operands.are_absent() {
            let width = match shape {
                Shape::Scalar => format.bytes() as u8,
                // A mask register says nothing about the operands.
                Shape::Packed => insn.op_register(insn.op_count() - 3).size() as u8,
            };
            match is_wide {
                true => self.ask_wide(at, (doubt, Op::Sub), (format, width), operands),
                false => self.ask(at, (doubt, Op::Sub), format, width, &operands),
            }
        }
        if insn.op0_register().is_vector_register() && rows::row(insn) != Row::CompareFlags(format) {
            self.close_operand();
            return self.fresh(at, format, shape);
        }
        self.guest(at);
        self.close_operand();
    }

    /// A rounding to integers by `op` that the shadow wants to see: it is left to the engine if the rule says that it may come out
    /// otherwise.
    pub(super) fn rounded(&mut self, at: At<'_>, op: Op, format: Format, shape: Shape) {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let Some(doubt) = self.mirror().settings.doubt.filter(|_| plain) else { return self.checked(at) };
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let operands = self.operands(insn, &source_numbers(insn, op, None));
        if !operands.are_absent() {
            let width = match shape {
                Shape::Scalar => format.bytes() as u8,
                Shape::Packed => insn.op0_register().size() as u8,
            };
            if op == Op::Rint {
                self.check_to_nearest(at);
            }
            self.ask(at, (doubt, op), format, width, &operands);
        }
        self.close_operand();
        self.fresh(at, format, shape);
    }

    /// Leaves the instruction to the engine if the program's operations round otherwise than to the nearest.
    fn check_to_nearest(&mut self, at: At<'_>) {
        let slot = self.frame.slot(Slot::Mxcsr);
        self.out.hot.store_mxcsr(slot);
        let mxcsr = Mem::rip(slot);
        self.exit_if(
            at,
            |e| encode::test_bits(&mut e.out.hot, mxcsr, encode::ROUNDING),
            |e| encode::rounding_to_rcx(&mut e.out.hot, mxcsr),
        );
    }

    /// Leaves the instruction to the engine where the question about `op` has an answer other than +0 in a lane.
    pub(super) fn ask(
        &mut self,
        at: At<'_>,
        (question, op): (InlineRule, Op),
        format: Format,
        width: u8,
        operands: &Operands,
    ) {
        let upper = self.has_upper();
        let temps: Vec<u8> = match upper {
            true => self.upper_temporaries(),
            false => (2..2 + question.temporaries(op)).map(|i| self.temporary(i)).collect(),
        };
        let to = self.temporary(1);
        let temps: Vec<u8> = temps.into_iter().filter(|&temp| temp != to).collect();
        self.touch(at);
        self.begin_rule(at);
        let job = Job::of((question, op), (format, width), operands.places(), to, &temps);
        self.emit_rule(&Job { absent: operands.absent, ..job });
        self.end_rule(at);
        self.check_register(at, to);
    }
}
