//! Arithmetic: the shadow's rule beside the guest's operation.
//!
//! A rule that needs no result comes first and computes in place; what it reads of memory is touched before, so that a
//! fault finds nothing changed. A rule that needs the result comes after.

use super::At;
use super::Watched;
use super::append::Append;
use super::descriptor::What;
use super::operand;
use super::operands::{Operands, rest_source, source_numbers};
use super::places;
use super::record::Plan;
use super::rounding::Sum;
use super::speculation;
use super::temporaries::UPPER;
use crate::x86::access;
use crate::x86::asm::Asm;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Binding, Constants, InlineRule, Job, Rest, Written};
use crate::x86::table::Shape;
use crate::x86::vector::Place;
use iced_x86::{EncodingKind, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Mask registers that rules may change.
pub(super) const MASKS: [u8; 3] = [1, 2, 3];

/// The mask register whose lowest so many bits are set: they are ours to keep (`runtime::registers`).
pub(super) fn lanes_mask(count: u8) -> Option<u8> {
    Some(match count {
        1 => 4,
        2 => 5,
        4 => 6,
        8 => 7,
        _ => return None,
    })
}

/// Computation to be made beside an instruction.
#[derive(Clone, Copy)]
struct Rule {
    op: Op,
    format: Format,
    /// Bytes of each operand.
    width: u8,
    operands: Operands,
    /// Registers of operands that hold copies, as a mask.
    copies: u32,
    /// The register that the rest of a scalar result comes from.
    rest: Option<u8>,
}

impl Rule {
    /// The rule for a result in register `r`, computed into `to`, without AVX-512.
    fn job<'a>(&'a self, inline: InlineRule, r: u8, to: u8, temps: &'a [u8]) -> Job<'a> {
        let Rule { op, format, width, ref operands, copies, rest } = *self;
        let clean = |i: usize| match operands.shadows[i] {
            Place::Reg(register) if operands.extents[i] <= width => 1 << register,
            _ => 0,
        };
        Job {
            copies,
            absent: operands.absent,
            r: Place::Reg(r),
            rest: if rest.is_some() { Rest::Low } else { Rest::Zero },
            clean: (0..operands.count).fold(0, |mask, i| mask | clean(i)),
            ..Job::of((inline, op), (format, width), operands.places(), to, temps)
        }
    }
}

impl Emitter {
    pub(super) fn arithmetic(
        &mut self,
        at: At<'_>,
        op: Op,
        terms: Option<[u8; 3]>,
        format: Format,
        shape: Shape,
    ) {
        let insn = &at.insn().decoded;
        if self.mirror().settings.records {
            let sources = source_numbers(insn, op, terms);
            let rest = rest_source(insn, shape, terms.is_some());
            let what = What::Op(op);
            if insn.encoding() == EncodingKind::EVEX {
                return self.record_wide(
                    at,
                    op,
                    &Plan { what, from: format, to: format, shape, sources: &sources, rest },
                );
            }
            return self.record(at, &Plan { what, from: format, to: format, shape, sources: &sources, rest });
        }
        if insn.encoding() == EncodingKind::EVEX {
            return self.wide_arithmetic(at, op, terms, format, shape);
        }
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        if !plain || !op.is_arithmetic() {
            return self.checked(at);
        }
        let appends = self.mirror().settings.appends;
        if appends && !self.takes_room() || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let numbers = source_numbers(insn, op, terms);
        let operands = self.operands(insn, &numbers);
        let d = insn.op0_register().number() as u8;
        let width = access::result_bytes(insn, format, shape) as u8;
        let is_born = self.mirror().settings.policy.is_born;
        if !is_born && operands.are_absent() {
            self.guest(at);
            self.close_operand();
            return self.clear_vector(d);
        }
        if self.watched(at) == Watched::Suspicious
            && let Some(suspicion) = self.mirror().settings.suspicion.filter(|asked| asked.is_arithmetic(op))
        {
            self.ask(at, (suspicion, op), format, width, &operands);
        }
        let sum = Sum { op, format, width, d };
        self.find_magic(at, sum, &operands);
        let rest = rest_source(insn, shape, terms.is_some());
        if appends {
            let (formats, lanes) = ([format; 2], width / format.bytes() as u8);
            self.append(at, &Append { op, formats, lanes, operands: &operands, d, rest });
        } else {
            self.beside_instruction(at, Rule { op, format, width, operands, copies: 0, rest });
        }
        self.drop_rounded(at, sum);
        self.close_operand();
    }

    /// The instruction and its rule, which computes in the shadow's own register where it can.
    fn beside_instruction(&mut self, at: At<'_>, rule: Rule) {
        let Rule { op, ref operands, rest, .. } = rule;
        let d = at.insn().decoded.op0_register().number() as u8;
        // The rest of the result comes from another register than the result: it is put there first.
        let others = operands.shadows[..operands.count].contains(&Place::Reg(16 + d));
        let inline = self.inline_rule();
        let needs_value = inline.needs_result(op)
            && (0..operands.count).any(|i| inline.needs_operand(op, i) && operands.x[i] == Place::Reg(d));
        let in_place = d < self.mirror().settings.in_registers;
        if !self.has_upper() {
            self.through_temporaries(at, rule);
        } else if self.mirror().settings.policy.long_rules {
            self.beside_shadows(at, rule);
        } else if !in_place || needs_value || (rest.is_some_and(|r| r != d) && others) {
            self.through_scratch(at, rule);
        } else {
            self.in_place(at, &rule);
        }
    }

    /// The rule computes in the shadow's own register.
    fn in_place(&mut self, at: At<'_>, rule: &Rule) {
        let Rule { op, ref operands, rest, .. } = *rule;
        let d = at.insn().decoded.op0_register().number() as u8;
        // What needs no values may as well come when nothing can fault any more.
        let inline = self.inline_rule();
        let values = (0..operands.count).any(|i| inline.needs_operand(op, i));
        let after = inline.needs_result(op) || !values;
        if after {
            self.guest(at);
        } else {
            self.touch(at);
        }
        if let Some(rest) = rest.filter(|&rest| rest != d) {
            let from = self.shadow_in_register(rest, 0);
            self.move_shadow(16 + d, from, 16);
        }
        self.rule(rule, d, 16 + d, &UPPER);
        if rest.is_some() && !places::keeps_upper(&at.insn().decoded) {
            self.move_shadow(16 + d, 16 + d, 16);
        }
        if !after {
            self.guest(at);
        }
    }

    /// With AVX-512 and temporaries to spare: the rule computes in these, and in the shadow's own register where that is one.
    fn beside_shadows(&mut self, at: At<'_>, mut rule: Rule) {
        let Rule { op, rest, .. } = rule;
        let insn = &at.insn().decoded;
        let d = insn.op0_register().number() as u8;
        let other = rest.filter(|&rest| rest != d);
        let is_read = rule.operands.shadows[..rule.operands.count].contains(&Place::Reg(16 + d));
        let mut temps = self.upper_temporaries();
        let inline = self.inline_rule();
        // What needs no values may as well come when nothing can fault any more.
        let after = inline.needs_result(op) || (0..rule.operands.count).all(|i| !inline.needs_operand(op, i));
        if after {
            // The guest's operand, as it is before the instruction.
            let operands = &mut rule.operands;
            let is_needed = |i: usize, x: Place| x == Place::Reg(d) && inline.needs_operand(op, i);
            let needed: Vec<usize> = (0..operands.count).filter(|&i| is_needed(i, operands.x[i])).collect();
            if !needed.is_empty() {
                let value = temps.pop().expect("a temporary");
                self.move_shadow(value, d, rule.width.max(16));
                needed.into_iter().for_each(|i| operands.x[i] = Place::Reg(value));
                rule.copies = 1 << value;
            }
            self.guest(at);
        } else {
            self.touch(at);
        }
        let own = match self.shadow(d) {
            Place::Reg(own) if other.is_none() || !is_read => Some(own),
            _ => None,
        };
        let to = own.unwrap_or_else(|| temps.pop().expect("another temporary"));
        if let Some(rest) = rest.filter(|&rest| own.is_none() || rest != d) {
            match self.shadow(rest) {
                Place::Reg(from) => self.move_shadow(to, from, 16),
                Place::Mem(mem) => self.out.hot.vector_load(to, mem, 16),
            }
        }
        self.rule(&rule, d, to, &temps);
        if rest.is_some() && !places::keeps_upper(insn) {
            self.move_shadow(to, to, 16);
        }
        if !after {
            self.guest(at);
        }
        self.put_shadow(d, to);
    }

    /// The rule computes in a register that holds another shadow otherwise.
    fn through_scratch(&mut self, at: At<'_>, mut rule: Rule) {
        let Rule { op, rest, .. } = rule;
        let insn = &at.insn().decoded;
        let d = insn.op0_register().number() as u8;
        let used: Vec<u8> = (0..insn.op_count())
            .filter(|&n| insn.op_kind(n) == OpKind::Register)
            .map(|n| insn.op_register(n).number() as u8)
            .collect();
        let mut free = (0..14).filter(|n| !used.contains(n));
        let (to, value) = (16 + free.next().unwrap_or(0), 16 + free.next().unwrap_or(1));
        let (first, second) = (self.spill_slot(0), self.spill_slot(1));
        self.touch(at);
        self.out.hot.vector_store(first, to, 64);
        // The guest's operand, as it is before the instruction.
        let operands = &mut rule.operands;
        let inline = self.inline_rule();
        let after = inline.needs_result(op);
        let count = operands.count;
        let needs =
            |i: usize, x: Place| i < count && after && inline.needs_operand(op, i) && x == Place::Reg(d);
        let keeps_value = operands.x.iter().enumerate().any(|(i, &x)| needs(i, x));
        if keeps_value {
            self.out.hot.vector_store(second, value, 64);
        }
        for (i, x) in operands.x.iter_mut().enumerate() {
            if needs(i, *x) {
                self.move_shadow(value, d, 64);
                *x = Place::Reg(value);
                rule.copies = 1 << value;
            }
        }
        let from = rest.map(|rest| self.shadow_in_register(rest, 0));
        if let Some(from) = from {
            self.move_shadow(to, from, 16);
        }
        if after {
            self.guest(at);
        }
        self.rule(&rule, d, to, &UPPER);
        if rest.is_some() && !places::keeps_upper(insn) {
            self.move_shadow(to, to, 16);
        }
        self.put_shadow(d, to);
        self.out.hot.vector_load(to, first, 64);
        if keeps_value {
            self.out.hot.vector_load(value, second, 64);
        }
        if !after {
            self.guest(at);
        }
    }

    /// Without AVX-512: the rule computes in temporaries, after the guest's instruction, when nothing can fault any more, or
    /// where the shadow is stored at once.
    fn through_temporaries(&mut self, at: At<'_>, mut rule: Rule) {
        let Rule { op, width, .. } = rule;
        let insn = &at.insn().decoded;
        let d = insn.op0_register().number() as u8;
        let inline = self.inline_rule();
        // What was asked before needs none of its temporaries any more.
        self.mirror().temporaries.forget_picked();
        // The rest of the result, unless it is zero as a rule leaves it.
        let extent = rule.rest.map(|rest| self.extent(rest));
        let is_zero = extent.is_none_or(|extent| extent <= width);
        rule.rest = rule.rest.filter(|_| !is_zero);
        let rest = rule.rest;
        // In place, where the shadow is in a register: the rest of it is there then.
        let own = self.held_alone(d).filter(|_| rest.is_none_or(|rest| rest == d));
        let to = own.unwrap_or_else(|| self.another_temporary());
        let after = inline.needs_result(op) || self.leaves_unsaved();
        if after {
            self.keep_operands(&mut rule, d);
            self.guest(at);
        }
        if let Some(rest) = rest.filter(|_| own.is_none()) {
            match self.shadow_value(rest) {
                Place::Mem(mem) => {
                    self.out.hot.vector_load(to, mem, 16);
                    let shadows = &mut rule.operands.shadows[..rule.operands.count];
                    let loaded =
                        shadows.iter_mut().filter(|shadow| **shadow == Place::Mem(mem) && width <= 16);
                    loaded.for_each(|shadow| *shadow = Place::Reg(to));
                }
                Place::Reg(from) => self.move_shadow(to, from, 16),
            }
        }
        let job = rule.job(inline, d, to, &[]);
        let speculates = self.speculates(at, &job);
        let temps = self.temporaries_for(&job, speculates);
        let job = Job { temps: &temps, ..job };
        self.begin_rule(at);
        let constants = Constants::at(self.mirror().settings.constants);
        let Written { result, question, .. } =
            speculation::emit(&mut self.out.hot, &job, &constants, speculates);
        self.end_rule(at);
        if let Some(question) = question {
            self.compute_anew(&job, question);
        }
        if rest.is_some() && !places::keeps_upper(insn) {
            self.move_shadow(to, to, 16);
        }
        if !after {
            self.guest(at);
        }
        self.put_shadow(d, result);
        if is_zero && extent.is_some() {
            self.set_extent(d, width);
        } else if let Some(extent) = extent.filter(|_| places::keeps_upper(insn)) {
            self.set_extent(d, extent);
        }
    }

    /// Before an instruction that overwrites vector register `d`: keeps what the rule reads of that.
    fn keep_operands(&mut self, rule: &mut Rule, d: u8) {
        let inline = self.inline_rule();
        let Rule { op, ref mut operands, .. } = *rule;
        let is_needed = |i: usize, x: Place| x == Place::Reg(d) && inline.needs_operand(op, i);
        let needed: Vec<usize> = (0..operands.count).filter(|&i| is_needed(i, operands.x[i])).collect();
        if !needed.is_empty() {
            let value = self.another_temporary();
            self.move_shadow(value, d, rule.width.max(16));
            needed.into_iter().for_each(|i| rule.operands.x[i] = Place::Reg(value));
            rule.copies = 1 << value;
        }
    }

    /// Temporaries for a rule, which `speculates` or does not: of as many as it may take, those that it writes are picked.
    fn temporaries_for(&mut self, job: &Job<'_>, speculates: bool) -> Vec<u8> {
        let temps = self.candidates(job.rule.temporaries(job.op));
        let mut trial = std::mem::replace(&mut self.mirror().trial, Asm::new(0));
        trial.restart(self.out.hot.here());
        let constants = Constants::at(self.mirror().settings.constants);
        let job = Job { temps: &temps, ..*job };
        let written = speculation::emit(&mut trial, &job, &constants, speculates).written;
        self.mirror().trial = trial;
        for &temp in temps.iter().filter(|&temp| written >> temp & 1 == 1) {
            self.pick(temp);
        }
        temps
    }

    /// The rule for a result in register `r`, computed into `to`, with AVX-512.
    fn rule(&mut self, rule: &Rule, r: u8, to: u8, temps: &[u8]) {
        let inline = self.inline_rule();
        self.emit_rule(&rule.job(inline, r, to, temps));
    }

    /// Emits a rule, with the masks and the memory that it may take besides its temporaries.
    pub(super) fn emit_rule(&mut self, job: &Job<'_>) {
        let (binding, constants) = (self.binding(), Constants::at(self.mirror().settings.constants));
        let spill = [2, 3, 4, 5].map(|n| self.spill_slot(n));
        let job = match binding {
            Binding::Evex => Job { masks: &MASKS, lanes: lanes_mask(job.count()), spill: &spill, ..*job },
            Binding::Vex => *job,
        };
        rules::emit(&mut self.out.hot, binding, &job, &constants);
    }

    pub(super) fn binding(&mut self) -> Binding {
        if self.has_upper() { Binding::Evex } else { Binding::Vex }
    }

    /// Reads the guest's memory operand, so that a fault happens before anything has changed.
    pub(super) fn touch(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        if operand::has_memory(insn) {
            let bytes = insn.memory_size().size() as u8;
            self.note_spilled(at.index);
            let temporary = self.temporary(0);
            let from = self.guest_operand(insn);
            self.out.hot.vector_load(temporary, from, bytes);
        }
    }
}
