//! Rules in EVEX: masks for guards, embedded rounding for silence.
//!
//! Packed arithmetic is done on 512 bits, since only there can exceptions be suppressed; what the lanes above the
//! operation's width come to is kept out of the destination by masks. Scalar arithmetic uses scalar forms in
//! temporaries, and masked 512-bit ones in the destination, whose other lanes are not its business: scalar forms
//! clear everything above 16 bytes, and are taken there too only where that may be ([`Rest::Low`]). With temporaries to spare
//! the destination is written by such scalar forms alone, and by a move at the end. Plain moves, logic and tests never raise
//! exceptions, and have the width of the operation.

mod verbs;

use shadowgrind_core::format::Format;

use super::super::asm::Asm;
use super::super::vector::{Length, Place, Vector, forms};
use super::registers::Registers;
use super::template::{Guard, M, Node, Step, Template, Test, V, Verb};
use super::{Constants, Job, Rest};
use verbs::is_logic;

/// Temporaries from which on nothing is gained by computing in the destination.
const ROOMY: usize = 3;

/// Destination of an instruction, and the manner of writing it.
#[derive(Clone, Copy)]
struct Target {
    register: u8,
    /// Mask register; 0 for all lanes.
    mask: u8,
    zeroing: bool,
}

struct Evex<'a, 'b> {
    asm: &'a mut Asm,
    job: &'a Job<'b>,
    template: &'a Template,
    registers: Registers<'a>,
    /// Mask of the operation's lanes; 0 if there is none.
    lanes: u8,
    /// True if the destination above 16 bytes may become zero.
    low: bool,
    /// True if scalars are computed beside the destination, as far as they cannot pass through it.
    beside: bool,
    /// Mask registers not used yet.
    masks: Vec<u8>,
    /// Masks made so far: of what, for which outcome.
    made: Vec<(M, bool, u8)>,
}

/// Appends a rule; returns the registers it has written.
pub(super) fn emit(asm: &mut Asm, job: &Job, template: &Template, constants: Constants) -> u32 {
    let low = job.rest == Rest::Low;
    assert!(!low || job.is_scalar(), "only scalar operations end below 16 bytes");
    let job = &Job { rest: if low { Rest::Keep } else { job.rest }, ..*job };
    let mut masks: Vec<u8> = job.masks.iter().rev().copied().filter(|k| Some(*k) != job.lanes).collect();
    let registers = Registers::new(job, template, constants, 64, job.spill);
    let needs_lanes = job.is_scalar() || job.rest == Rest::Keep;
    let lanes = match job.lanes {
        None if needs_lanes => {
            let k = masks.remove(0);
            let mem = Place::Mem(constants.lanes(job.count()));
            asm.vector(Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, k, mem));
            k
        }
        given => given.unwrap_or(0),
    };
    let beside = job.is_scalar() && job.temps.len() >= ROOMY;
    let mut evex = Evex { asm, job, template, registers, lanes, low, beside, masks, made: Vec::new() };
    for (i, step) in template.steps.iter().enumerate() {
        evex.step(step);
        evex.release(&template.steps[i + 1..]);
    }
    evex.finish();
    evex.registers.written()
}

impl Evex<'_, '_> {
    /// Gives back masks that none of the steps to come tests.
    fn release(&mut self, steps: &[Step]) {
        let tested = |m: M| steps.iter().any(|step| step.guard.is_some_and(|guard| guard.mask == m));
        let (kept, done): (Vec<_>, Vec<_>) = self.made.drain(..).partition(|&(m, ..)| tested(m));
        self.made = kept;
        self.masks.extend(done.into_iter().map(|(.., k)| k));
    }

    fn step(&mut self, step: &Step) {
        match step.guard {
            None => self.unguarded(step),
            Some(guard) if self.node(guard.otherwise) == Node::ZERO => self.or_zero(step, guard),
            Some(guard) => match step.verb {
                Verb::Copy(source) => self.choice(step, guard, source),
                _ => self.sum(step, guard),
            },
        }
    }

    fn unguarded(&mut self, step: &Step) {
        let pinned = self.load(step);
        self.registers.consume(step);
        let register = self.destination(step, &pinned, true);
        let target = if register == self.job.to { self.own(register) } else { Target::all(register) };
        self.write(step.verb, target);
        let clean = target.zeroing || self.is_exact_width(step.verb, target);
        self.registers.define(step.value, register, clean);
    }

    /// Zero where the guard does not hold.
    fn or_zero(&mut self, step: &Step, guard: Guard) {
        let (mask, limited) = self.mask(guard.mask, guard.holds);
        let pinned = self.load(step);
        // What is kept of the destination forbids zeroing, but a lane found absent in the destination is zero already.
        let here = |s| self.registers.of(s) == Some(self.job.to) && step.verb.operands().any(|v| v == s);
        let zero_there = matches!(self.test(guard.mask), Test::Absent(s) if !guard.holds && here(s));
        let keep = self.job.rest == Rest::Keep;
        self.registers.consume(step);
        let register = self.destination(step, &pinned, !keep || zero_there);
        let target = Target { register, mask, zeroing: !(keep && register == self.job.to) };
        self.write(step.verb, target);
        let clean = target.zeroing && limited && !self.is_scalar_form(step.verb, register);
        self.registers.define(step.value, register, clean);
    }

    /// One of two values that are in registers.
    fn choice(&mut self, step: &Step, guard: Guard, source: V) {
        // Best onto the one that is in the destination; a packed blend can zero the rest of that at the same time.
        let blends = self.job.rest == Rest::Zero && !self.job.is_scalar();
        let there = |v: V| self.registers.of(v) == Some(self.job.to) && !blends;
        let onto_source = (source, guard.otherwise, !guard.holds);
        let onto_other = (guard.otherwise, source, guard.holds);
        let (onto, from, holds) = if there(source) { onto_source } else { onto_other };
        let (mask, limited) = self.mask(guard.mask, holds);
        let pinned = self.load(step);
        let (base, over) = (self.register(onto), self.register(from));
        self.registers.consume(step);
        if base == self.job.to && !blends && !self.registers.is_busy(base) {
            self.moved(Target { register: base, mask, zeroing: false }, over);
            let clean = self.registers.is_clean(onto) && limited;
            self.registers.define(step.value, base, clean);
            return;
        }
        let register = self.destination(step, &pinned, true);
        if register == self.job.to && self.job.rest == Rest::Keep {
            self.moved(self.own(register), base);
            self.moved(Target { register, mask, zeroing: false }, over);
        } else {
            let blend = self.bits(forms::BLEND_MASK, register, [register, base], Place::Reg(over));
            self.asm.vector(blend.masked(mask));
        }
        self.registers.define(step.value, register, !self.job.is_scalar());
    }

    /// A product added where the guard holds.
    fn sum(&mut self, step: &Step, guard: Guard) {
        let in_to = |v: V| self.registers.of(v) == Some(self.job.to) && self.may_overwrite(v, step);
        let factors = step.verb.operands().take(2);
        if !self.beside && !self.may_overwrite(guard.otherwise, step) && factors.into_iter().any(in_to) {
            return self.sum_put_back(step, guard);
        }
        let (mask, limited) = self.mask(guard.mask, guard.holds);
        let pinned = self.load(step);
        let addend = self.register(guard.otherwise);
        let in_place = self.may_overwrite(guard.otherwise, step);
        let register = if in_place {
            self.registers.consume(step);
            addend
        } else {
            // Not onto a factor: the addend goes there first.
            let register = self.destination_besides(&pinned);
            self.registers.consume(step);
            let target = if register == self.job.to { self.own(register) } else { Target::all(register) };
            self.moved(target, addend);
            register
        };
        let clean = if in_place { self.registers.is_clean(guard.otherwise) } else { self.cleans(register) };
        self.fused(step.verb, Target { register, mask, zeroing: false }, Some(register));
        let clean = clean && limited && !self.is_scalar_form(step.verb, register);
        self.registers.define(step.value, register, clean);
    }

    /// A product added where the guard holds, in the destination, which holds a factor: the sum is computed everywhere
    /// and the addend put back.
    fn sum_put_back(&mut self, step: &Step, guard: Guard) {
        let (mask, limited) = self.mask(guard.mask, !guard.holds);
        self.load(step);
        let addend = self.register(guard.otherwise);
        self.registers.consume(step);
        let target = self.own(self.job.to);
        self.write(step.verb, target);
        self.moved(Target { register: self.job.to, mask, zeroing: false }, addend);
        self.registers.define(step.value, self.job.to, target.zeroing && limited);
    }

    /// Moves the result to the destination, if it is not there, and puts the rest of that in order.
    fn finish(&mut self) {
        let (result, to) = (self.template.result, self.job.to);
        let keep = self.job.rest == Rest::Keep;
        if self.node(result) == Node::ZERO {
            let zero = self.bits(forms::XOR, to, [to, to], Place::Reg(to));
            self.asm.vector(if keep { zero.masked(self.lanes) } else { zero });
        } else if let (None, Some(mem), false) =
            (self.registers.of(result), self.registers.memory(result), keep)
        {
            self.asm.vector_load(to, mem, self.job.width);
        } else {
            let from = self.registers.load(self.asm, result, &mut Vec::new());
            if from != to || !keep && !self.registers.is_clean(result) {
                let target = self.own(to);
                self.moved(if self.job.is_scalar() || keep { target } else { Target::all(to) }, from);
            }
        }
        self.registers.restore(self.asm);
    }

    fn node(&self, v: V) -> Node {
        self.template.nodes[usize::from(v.0)]
    }

    fn test(&self, mask: M) -> Test {
        self.template.tests[usize::from(mask.0)]
    }

    /// Tells whether the register of `v` may be written by `step`, the last to read `v`. A value in memory will be in
    /// such a one.
    fn may_overwrite(&self, v: V, step: &Step) -> bool {
        let mine = |r: u8| r == self.job.to || self.registers.is_mine(r);
        self.registers.of(v).is_none_or(mine) && self.registers.dies(v, step)
    }

    /// The destination as far as it is the operation's.
    fn own(&self, register: u8) -> Target {
        Target { register, mask: self.lanes, zeroing: self.job.rest == Rest::Zero && self.lanes != 0 }
    }

    /// Loads what the step's verb, and its guard's other value, need in registers.
    fn load(&mut self, step: &Step) -> Vec<u8> {
        let mut pinned = Vec::new();
        let otherwise = step.guard.map(|guard| guard.otherwise).filter(|&v| self.node(v) != Node::ZERO);
        // Logic, which raises no exception, reads the constant it ends with from memory.
        let last = step.verb.operands().last().filter(|_| is_logic(step.verb));
        let constant = last.filter(|&v| matches!(self.node(v), Node::Constant(_)));
        for v in step.verb.operands().chain(otherwise) {
            if Some(v) != constant {
                self.registers.load(self.asm, v, &mut pinned);
            }
        }
        pinned
    }

    fn register(&self, v: V) -> u8 {
        self.registers.of(v).expect("a loaded value")
    }

    /// The mask of lanes in which a test comes out as `holds`, and whether it has none beyond the operation's.
    fn mask(&mut self, m: M, holds: bool) -> (u8, bool) {
        let test = self.test(m);
        let limited = matches!(test, Test::Absent(_)) || self.lanes != 0;
        if let Some(&(.., k)) = self.made.iter().find(|made| (made.0, made.1) == (m, holds)) {
            return (k, limited);
        }
        let k = self.masks.pop().expect("mask registers for the rule");
        let mut pinned = Vec::new();
        let registers: Vec<u8> =
            test.operands().map(|v| self.registers.load(self.asm, v, &mut pinned)).collect();
        let (first, last) = (registers[0], Place::Reg(registers[registers.len() - 1]));
        let length = self.job.length();
        // Predicates that are silent about quiet NaN, and their negations.
        let compare = |predicate| {
            let compare = Vector::new(forms::COMPARE_MASK, self.job.format, length, [k, first], last);
            compare.suppressed().immediate(predicate)
        };
        let vector = match (test, holds) {
            (Test::Absent(_), true) => self.bits(forms::TEST_NOT, first, [k, first], last),
            (Test::Absent(_), false) => self.bits(forms::TEST, first, [k, first], last),
            (Test::Less(..), true) => compare(0x11),
            (Test::Less(..), false) => compare(0x15),
            (Test::Equal(..), true) => compare(0x00),
            (Test::Equal(..), false) => compare(0x04),
            (Test::Always | Test::Unknown, _) => unreachable!("folded"),
        };
        self.asm.vector(vector.masked(self.lanes));
        self.made.push((m, holds, k));
        (k, limited)
    }

    /// A register for the result of a step whose reads are done: the destination if `to_allowed` and possible, else one
    /// of its operands' that is free, else another.
    fn destination(&mut self, step: &Step, operands: &[u8], to_allowed: bool) -> u8 {
        let to = self.job.to;
        let here = matches!(step.verb, Verb::Div(a, _) if self.passes(to, self.registers.of(a)));
        let clears = self.job.is_scalar() && matches!(step.verb, Verb::Div(..) | Verb::Sqrt(_)) && !here;
        let fits = if self.beside { self.passes_through(step.verb) } else { !clears };
        if to_allowed && fits && !self.registers.is_busy(to) {
            return to;
        }
        let free = operands.iter().copied().find(|&r| r != to && self.registers.is_free(r));
        free.unwrap_or_else(|| self.temporary(operands))
    }

    /// A register for the result of a step before its reads are done, and none of the operands'.
    fn destination_besides(&mut self, operands: &[u8]) -> u8 {
        let to = self.job.to;
        let is_taken = self.beside || self.registers.is_busy(to) || operands.contains(&to);
        if is_taken { self.temporary(operands) } else { to }
    }

    fn temporary(&mut self, operands: &[u8]) -> u8 {
        self.registers.acquire(self.asm, operands)
    }
}

impl Target {
    fn all(register: u8) -> Target {
        Target { register, mask: 0, zeroing: false }
    }
}
