//! Conversions between floats of four and of eight bytes: the shadow's rule beside the guest's instruction.
//!
//! A widening computes like any arithmetic. A narrowing may overwrite the value that its rule needs, which is kept.

use super::At;
use super::arith::{MASKS, lanes_mask};
use super::descriptor::What;
use super::operands::rest_source;
use super::places;
use super::record::Plan;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Constants, Conversion, Job, Rest};
use crate::x86::table::Shape;
use crate::x86::vector::Place;
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Place of a value that a narrowing overwrites, with AVX-512: none of the places that rules use.
const NARROWED: usize = 7;
/// The first temporary of a narrowing's rule, without AVX-512: others hold its result and the rest of the register.
const NARROWING: usize = 2;

impl Emitter {
    /// `cvtsd2ss`, `cvtss2sd` and their packed forms.
    pub(super) fn conversion(&mut self, at: At<'_>, widens: bool, shape: Shape) {
        let insn = &at.insn().decoded;
        if self.mirror().settings.records {
            return self.record_conversion(at, widens, shape);
        }
        if self.mirror().settings.appends {
            return self.append_conversion(at, widens, shape);
        }
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let d = insn.op0_register().number() as u8;
        let source = insn.op_count() - 1;
        let rest = rest_source(insn, shape, false);
        let same = insn.op_kind(source) == OpKind::Register && insn.op_register(source).number() as u8 == d;
        if !plain || (rest.is_some_and(|r| r != d) && same) {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let marks = widens && self.mirror().settings.policy.marks_widened;
        if marks && !self.has_upper() {
            self.temporary(2);
        }
        let rounds = !widens && self.inline_rule().needs_result(Op::Narrow);
        let value = rounds.then(|| self.narrowed_value(insn, source, same));
        self.guest(at);
        let shadow = match insn.op_kind(source) {
            OpKind::Register => Some(self.shadow_value(insn.op_register(source).number() as u8)),
            _ => self.mirror_memory(insn).map(Place::Mem),
        };
        if shadow.is_none() && !rounds {
            self.close_operand();
            return self.clear_vector(d);
        }
        let count = lanes(insn, widens, shape);
        self.begin_rule(at);
        let shadow = match (value, shadow) {
            (Some(value), shadow) => self.narrowing(value, shadow, d, count),
            (None, shadow) => shadow.expect("it was looked whether there is one"),
        };
        let to = self.shadow_target(d, 0);
        if let Some(rest) = rest {
            let from = self.low_in_register(rest, 16, 0);
            if from != to {
                self.move_shadow(to, from, 16);
            }
        }
        let beyond = if rest.is_some() { Rest::Low } else { Rest::Zero };
        self.convert((shadow, to), (widens, marks), count, beyond);
        self.end_rule(at);
        if rest.is_some() && !places::keeps_upper(insn) {
            self.move_shadow(to, to, 16);
        }
        self.put_shadow(d, to);
        self.close_operand();
    }

    fn record_conversion(&mut self, at: At<'_>, widens: bool, shape: Shape) {
        let insn = &at.insn().decoded;
        let what = if widens { What::Widen } else { What::Op(Op::Narrow) };
        let (from, to) = if widens { (Format::F32, Format::F64) } else { (Format::F64, Format::F32) };
        let (sources, rest) = ([insn.op_count() - 1], rest_source(insn, shape, false));
        self.record(at, &Plan { what, from, to, shape, sources: &sources, rest });
    }

    /// Converts `count` lanes of a shadow, and marks those that were widened if `marks` says so.
    fn convert(&mut self, (shadow, to): (Place, u8), (widens, marks): (bool, bool), count: u8, rest: Rest) {
        let temp = self.temporary(1);
        let mark = marks.then(|| [if self.has_upper() { temp } else { self.temporary(2) }, MASKS[1]]);
        let job = Conversion {
            from: if widens { Format::F32 } else { Format::F64 },
            result: if widens { Format::F64 } else { Format::F32 },
            count,
            shadow,
            to,
            rest,
            temp,
            mask: MASKS[0],
            lanes: if self.has_upper() { lanes_mask(count) } else { None },
            mark,
        };
        let constants = Constants::at(self.mirror().settings.constants);
        let binding = self.binding();
        rules::convert(&mut self.out.hot, binding, &job, &constants);
    }

    /// Keeps the value that `insn` narrows, its operand `source`, where it can be read afterwards. `same`: it is overwritten. All
    /// temporaries are spilled that [`narrowing`](Self::narrowing) needs.
    fn narrowed_value(&mut self, insn: &Instruction, source: u32, same: bool) -> Place {
        let upper = self.has_upper();
        let last = if upper { 1 } else { NARROWING + self.inline_rule().temporaries(Op::Narrow) };
        let copy = self.temporary(last);
        if insn.op_kind(source) != OpKind::Register {
            return Place::Mem(self.guest_operand(insn));
        }
        let register = insn.op_register(source).number() as u8;
        if !same {
            return Place::Reg(register);
        }
        let bytes = insn.op_register(source).size() as u8;
        if !upper {
            self.move_shadow(copy, register, bytes);
            return Place::Reg(copy);
        }
        let kept = self.spill_slot(NARROWED);
        self.out.hot.vector_store(kept, register, bytes);
        Place::Mem(kept)
    }

    /// The shadow, in the wider format, of `count` numbers `value` with this shadow, which were narrowed into register `d`: in
    /// temporary 1.
    fn narrowing(&mut self, value: Place, shadow: Option<Place>, d: u8, count: u8) -> Place {
        let to = self.temporary(1);
        let rule = self.inline_rule();
        let upper = self.has_upper();
        let temps: Vec<u8> = match upper {
            true => self.upper_temporaries().into_iter().filter(|&temp| temp != to).collect(),
            false => {
                (NARROWING..NARROWING + rule.temporaries(Op::Narrow)).map(|i| self.temporary(i)).collect()
            }
        };
        let lanes = if upper { lanes_mask(count) } else { None };
        let widened = Conversion {
            from: Format::F32,
            result: Format::F64,
            count,
            shadow: Place::Reg(d),
            to,
            rest: Rest::Zero,
            temp: to,
            mask: MASKS[0],
            lanes,
            mark: None,
        };
        let (binding, constants) = (self.binding(), Constants::at(self.mirror().settings.constants));
        rules::convert(&mut self.out.hot, binding, &widened, &constants);
        let width = count * Format::F64.bytes() as u8;
        let places: [&[Place]; 2] = [&[value], &[shadow.unwrap_or(value)]];
        let job = Job::of((rule, Op::Narrow), (Format::F64, width), places, to, &temps);
        self.emit_rule(&Job { absent: u8::from(shadow.is_none()), ..job });
        Place::Reg(to)
    }
}

/// Number of floats that a conversion converts.
fn lanes(insn: &Instruction, widens: bool, shape: Shape) -> u8 {
    let source = insn.op_count() - 1;
    let bytes = match (shape, widens, insn.op_kind(source)) {
        (Shape::Scalar, ..) => return 1,
        (Shape::Packed, true, _) => insn.op0_register().size(),
        (Shape::Packed, false, OpKind::Register) => insn.op_register(source).size(),
        (Shape::Packed, false, _) => insn.memory_size().size(),
    };
    bytes as u8 / 8
}
