//! Rules in VEX: vectors of all-ones and zeros for guards, memory operands where a value is in memory.
//!
//! Everything has the width of the operation; scalar arithmetic uses scalar forms, which copy what is above the lane
//! from an operand. What is beyond the width is put in order at the end.

use super::super::asm::Asm;
use super::super::vector::{Form, Length, Place, Vector, forms};
use super::registers::Registers;
use super::template::{Constant, Guard, M, Node, Step, Template, Test, V, Verb};
use super::{Constants, Job, Question, Rest, Written};
use shadowgrind_core::format::Format;

struct Vex<'a, 'b> {
    asm: &'a mut Asm,
    job: &'a Job<'b>,
    template: &'a Template,
    registers: Registers<'a>,
    constants: Constants,
}

/// Whereabouts of a rule's result, and whether it is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// In the destination.
    Placed,
    /// There or in a temporary.
    Anywhere,
    /// As `Anywhere`, and computed anew if it is NaN.
    Asked,
}

/// Appends a rule.
pub(super) fn emit(
    asm: &mut Asm,
    job: &Job,
    template: &Template,
    constants: Constants,
    wanted: Wanted,
) -> Written {
    let registers = Registers::new(job, template, constants, job.width.max(16), &[]);
    let mut vex = Vex { asm, job, template, registers, constants };
    for step in &template.steps {
        match step.guard {
            None => vex.unguarded(step),
            Some(guard) => vex.guarded(step, guard),
        }
    }
    let question = (wanted == Wanted::Asked).then(|| vex.ask());
    let result = vex.finish(wanted != Wanted::Placed);
    Written { written: vex.registers.written(), result, question }
}

impl Vex<'_, '_> {
    fn unguarded(&mut self, step: &Step) {
        let to = self.job.to;
        let (register, clean) = self.compute(step, &mut Vec::new(), to);
        self.registers.define(step.value, register, clean);
    }

    fn guarded(&mut self, step: &Step, guard: Guard) {
        if let (Verb::Fma(a, b, c) | Verb::Fnma(a, b, c), Test::Absent(s), false) =
            (step.verb, self.template.tests[usize::from(guard.mask.0)], guard.holds)
            && a != b
            && [a, b].contains(&s)
        {
            return self.sum(step, guard, [if s == a { b } else { a }, s, c]);
        }
        let mask = self.mask(guard.mask);
        let mut pinned = vec![mask];
        let zero = self.node(guard.otherwise) == Node::ZERO;
        let otherwise =
            (!zero).then(|| Place::Reg(self.registers.load(self.asm, guard.otherwise, &mut pinned)));
        let clean = zero || self.registers.is_clean(guard.otherwise);
        let (counts, clean) = match step.verb {
            Verb::Copy(source) => {
                let counts = self.registers.load(self.asm, source, &mut pinned);
                self.registers.consume(step);
                (counts, clean && self.registers.is_clean(source))
            }
            _ => {
                let (counts, is_clean) = self.compute(step, &mut pinned, mask);
                (counts, clean && is_clean)
            }
        };
        let to = if self.registers.is_free(self.job.to) { self.job.to } else { mask };
        let vector = match (otherwise, guard.holds) {
            (None, true) => self.bits(forms::AND, [to, mask], Place::Reg(counts)),
            (None, false) => self.bits(forms::AND_NOT, [to, mask], Place::Reg(counts)),
            (Some(otherwise), holds) => {
                let form = self.by_format(forms::BLEND_VECTOR_32, forms::BLEND_VECTOR_64);
                let Place::Reg(other) = otherwise else { unreachable!("a register") };
                let (clear, set) = if holds { (other, counts) } else { (counts, other) };
                self.bits(form, [to, clear], Place::Reg(set)).immediate(mask << 4)
            }
        };
        self.asm.vector(vector);
        self.registers.define(step.value, to, clean || !self.job.is_scalar());
    }

    /// c ± p · s, and c where s is absent. There p is made a zero of the sign that makes the product −0, which can be
    /// added to anything.
    fn sum(&mut self, step: &Step, guard: Guard, [p, s, c]: [V; 3]) {
        let negated = matches!(step.verb, Verb::Fnma(..));
        let mask = self.mask(guard.mask);
        let factor = self.registers.load(self.asm, p, &mut vec![mask]);
        let masked = if negated {
            self.bits(forms::AND_NOT, [mask, mask], Place::Reg(factor))
        } else {
            let form = self.by_format(forms::BLEND_VECTOR_32, forms::BLEND_VECTOR_64);
            let sign = self.constants.vector(Constant::Sign, self.job.format);
            self.bits(form, [mask, factor], Place::Mem(sign)).immediate(mask << 4)
        };
        self.asm.vector(masked);
        let mut pinned = vec![mask];
        let addend = self.registers.load(self.asm, c, &mut pinned);
        let is_clean = self.registers.is_clean(c);
        let s = self.arithmetic_place(s, &mut pinned);
        self.registers.consume(step);
        let (order, register, second, clean) = match self.registers.is_free(addend) || self.passes(addend) {
            true => (forms::Order::O231, addend, mask, is_clean),
            false => (forms::Order::O132, mask, addend, false),
        };
        self.asm.vector(self.lanes(forms::fused(order, negated, false), [register, second], s));
        self.registers.define(step.value, register, clean || !self.job.is_scalar());
    }

    /// A register with all bits of the lanes where a test holds.
    fn mask(&mut self, m: M) -> u8 {
        let mut pinned = Vec::new();
        let test = self.template.tests[usize::from(m.0)];
        let mut operands = test.operands();
        let first = operands.next().expect("a test of something");
        let second = self.registers.load(self.asm, first, &mut pinned);
        let (form, rm, predicate) = match test {
            Test::Absent(_) => {
                let zero = self.constants.vector(Constant::Literal(0), self.job.format);
                (self.by_format(forms::EQUAL_32, forms::EQUAL_64), Place::Mem(zero), None)
            }
            Test::Less(_, b) => (forms::COMPARE, self.arithmetic_place(b, &mut pinned), Some(0x11)),
            Test::Equal(_, b) => (forms::COMPARE, self.arithmetic_place(b, &mut pinned), Some(0x00)),
            Test::Always | Test::Unknown => unreachable!("folded"),
        };
        let to = self.registers.acquire(self.asm, &pinned);
        let vector = match predicate {
            Some(predicate) => {
                let length = self.job.length();
                Vector::new(form, self.job.format, length, [to, second], rm).immediate(predicate)
            }
            None => self.bits(form, [to, second], rm),
        };
        self.asm.vector(vector);
        to
    }

    /// Computes a step's verb, whose reads are done then, into `to`, or an operand's register, if they may be written;
    /// returns the register and whether it is zero beyond the width.
    fn compute(&mut self, step: &Step, pinned: &mut Vec<u8>, to: u8) -> (u8, bool) {
        let held = pinned.clone();
        match step.verb {
            Verb::Add(a, b) => self.arithmetic(forms::ADD, step, [a, b], pinned, to),
            Verb::Sub(a, b) => self.arithmetic(forms::SUB, step, [a, b], pinned, to),
            Verb::Mul(a, b) => self.arithmetic(forms::MUL, step, [a, b], pinned, to),
            Verb::Div(a, b) => self.arithmetic(forms::DIV, step, [a, b], pinned, to),
            Verb::Sqrt(a) => {
                let source = self.registers.load(self.asm, a, pinned);
                self.registers.consume(step);
                let to = self.destination(&held, pinned, to);
                // Only the scalar form has a second operand.
                let second = if self.job.is_scalar() { source } else { 0 };
                self.asm.vector(self.lanes(forms::SQRT, [to, second], Place::Reg(source)));
                (to, !self.job.is_scalar())
            }
            Verb::Xor(a, b) => self.logic(forms::XOR, step, [a, b], pinned, to),
            Verb::And(a, b) => self.logic(forms::AND, step, [a, b], pinned, to),
            Verb::Flip(a, b, bits) => {
                let a = self.registers.load(self.asm, a, pinned);
                let b = self.registers.load(self.asm, b, pinned);
                let bits = self.registers.memory(bits).map(Place::Mem).expect("constants are in memory");
                self.registers.consume(step);
                let onto_b = a != b && self.registers.is_free(b) && !held.contains(&b);
                let sign = if onto_b { b } else { self.registers.acquire(self.asm, pinned) };
                self.asm.vector(self.bits(forms::AND, [sign, b], bits));
                pinned.push(sign);
                let to = self.destination(&held, pinned, to);
                self.asm.vector(self.bits(forms::XOR, [to, a], Place::Reg(sign)));
                (to, !self.job.is_scalar())
            }
            Verb::Fma(..) | Verb::Fnma(..) => self.fused(step, pinned, to),
            Verb::Copy(_) => unreachable!("only selections copy"),
        }
    }

    fn arithmetic(
        &mut self,
        form: Form,
        step: &Step,
        [a, b]: [V; 2],
        pinned: &mut Vec<u8>,
        to: u8,
    ) -> (u8, bool) {
        let held = pinned.clone();
        // The second source may be memory; of a sum or product, either.
        let commutes = form == forms::ADD || form == forms::MUL;
        let better = self.registers.of(a).is_none() || self.registers.of(b) == Some(self.job.to);
        // What is above a lane comes from the first source.
        let zero = |v| self.registers.of(v).is_some() && self.registers.is_clean(v);
        let cleaner = self.job.is_scalar() && zero(b);
        let swaps =
            commutes && if self.job.rest == Rest::Zero && zero(a) != zero(b) { cleaner } else { better };
        let (a, b) = if swaps { (b, a) } else { (a, b) };
        let second = self.registers.load(self.asm, a, pinned);
        let clean = !self.job.is_scalar() || self.registers.is_clean(a);
        let rm = self.arithmetic_place(b, pinned);
        self.registers.consume(step);
        let in_place = self.passes(second) && !held.contains(&second);
        let to = if in_place { second } else { self.destination(&held, pinned, to) };
        self.asm.vector(self.lanes(form, [to, second], rm));
        (to, clean)
    }

    fn logic(&mut self, form: Form, step: &Step, [a, b]: [V; 2], pinned: &mut Vec<u8>, to: u8) -> (u8, bool) {
        let held = pinned.clone();
        let second = self.registers.load(self.asm, a, pinned);
        let rm = match self.node(b) {
            Node::Constant(_) => self.registers.memory(b).map(Place::Mem).expect("constants are in memory"),
            _ => Place::Reg(self.registers.load(self.asm, b, pinned)),
        };
        self.registers.consume(step);
        let is_and = form == forms::AND && self.registers.is_clean(a);
        let to = self.destination(&held, pinned, to);
        self.asm.vector(self.bits(form, [to, second], rm));
        (to, is_and || !self.job.is_scalar())
    }

    /// ±a · b + c: over one of the three if possible, else over a copy of c.
    fn fused(&mut self, step: &Step, pinned: &mut Vec<u8>, to: u8) -> (u8, bool) {
        let (Verb::Fma(a, b, c) | Verb::Fnma(a, b, c)) = step.verb else { unreachable!("not fused") };
        let held = pinned.clone();
        let negated = matches!(step.verb, Verb::Fnma(..));
        // One factor may stay in memory.
        let (a, b) = if self.registers.of(a).is_none() { (b, a) } else { (a, b) };
        let first = self.registers.load(self.asm, a, pinned);
        let addend = self.addend(c, pinned);
        let second = self.arithmetic_place(b, pinned);
        let clean = |v| !self.job.is_scalar() || self.registers.is_clean(v);
        let [is_a_clean, is_b_clean, is_c_clean] = [a, b, c].map(clean);
        self.registers.consume(step);
        let may = |r: u8| (self.registers.is_free(r) || self.passes(r)) && !held.contains(&r);
        let (order, register, other, clean) = match second {
            _ if may(addend) => (forms::Order::O231, addend, first, is_c_clean),
            _ if may(first) => (forms::Order::O132, first, addend, is_a_clean),
            Place::Reg(second) if may(second) => {
                let form = forms::fused(forms::Order::O132, negated, false);
                self.asm.vector(self.lanes(form, [second, addend], Place::Reg(first)));
                return (second, is_b_clean);
            }
            _ => {
                // All of a register is copied, and the rest of the destination may be to stay.
                let is_free = self.registers.is_free(to) && !held.contains(&to);
                let copy = if is_free && !pinned.contains(&to) {
                    to
                } else {
                    self.registers.acquire(self.asm, pinned)
                };
                self.moved(copy, addend);
                (forms::Order::O231, copy, first, is_c_clean)
            }
        };
        self.asm.vector(self.lanes(forms::fused(order, negated, false), [register, other], second));
        (register, clean)
    }

    /// The register of `v`, which is cleared if that is zero, or loaded, if need be; it is pinned then.
    fn addend(&mut self, v: V, pinned: &mut Vec<u8>) -> u8 {
        if self.node(v) != Node::ZERO || self.registers.of(v).is_some() {
            return self.registers.load(self.asm, v, pinned);
        }
        let zero = self.registers.acquire(self.asm, pinned);
        self.asm.vector(self.bits(forms::XOR, [zero, zero], Place::Reg(zero)));
        self.registers.define(v, zero, true);
        pinned.push(zero);
        zero
    }

    /// `wish` if it may be written, else a register of `pinned` that may but for those of `held`, else another.
    fn destination(&mut self, held: &[u8], pinned: &[u8], wish: u8) -> u8 {
        let may = |r: &u8| self.registers.is_free(*r) && !held.contains(r);
        let own = Some(wish).filter(may).or_else(|| pinned.iter().copied().find(may));
        own.unwrap_or_else(|| self.registers.acquire(self.asm, pinned))
    }

    /// Tells whether a scalar form that copies what is above its lane from `register` may write that: it is the
    /// destination, and what is above the lane stays there.
    fn passes(&self, register: u8) -> bool {
        let in_place = self.job.rest == Rest::Low && !self.job.preserves;
        in_place && register == self.job.to && !self.registers.is_busy(register)
    }

    /// Asks whether the result, which is one lane, is NaN.
    fn ask(&mut self) -> Question {
        /// The condition "unordered": of NaN and anything.
        const PARITY: u8 = 10;
        let to = self.registers.of(self.template.result).expect("a sum in a register");
        let (form, length) = (forms::COMPARE_TO_FLAGS, Length::B16);
        self.asm.vector(Vector::unary(form, self.job.format, length, to, Place::Reg(to)));
        Question { jump: self.asm.jcc_open(PARITY), to }
    }

    /// Moves the result to the destination, if it is not there and not left where it is, and puts the rest of that in order;
    /// the register that it is in.
    fn finish(&mut self, anywhere: bool) -> u8 {
        let (result, to) = (self.template.result, self.job.to);
        let from = if self.node(result) == Node::ZERO {
            let zero = if self.job.rest == Rest::Zero { to } else { self.registers.acquire(self.asm, &[]) };
            self.asm.vector(self.bits(forms::XOR, [zero, zero], Place::Reg(zero)));
            self.registers.define(result, zero, true);
            zero
        } else if let (None, Some(mem), Rest::Zero) =
            (self.registers.of(result), self.registers.memory(result), self.job.rest)
        {
            self.asm.vector_load(to, mem, self.job.width);
            return to;
        } else {
            self.registers.load(self.asm, result, &mut Vec::new())
        };
        match self.job.rest {
            Rest::Zero if anywhere && self.registers.is_clean(result) && self.registers.is_mine(from) => {
                return from;
            }
            Rest::Keep | Rest::Low if from != to => {
                merge(self.asm, to, from, self.job.width, self.job.rest);
            }
            Rest::Zero if from != to || !self.registers.is_clean(result) => {
                clear_above(self.asm, to, from, self.job.width);
            }
            _ => {}
        }
        to
    }

    fn moved(&mut self, to: u8, from: u8) {
        self.asm.vector(self.bits(forms::MOVE, [to, 0], Place::Reg(from)));
    }

    fn node(&self, v: V) -> Node {
        self.template.nodes[usize::from(v.0)]
    }

    fn by_format(&self, single: Form, double: Form) -> Form {
        if self.job.format == Format::F64 { double } else { single }
    }

    /// An operand of arithmetic: in memory if it is there.
    fn arithmetic_place(&mut self, v: V, pinned: &mut Vec<u8>) -> Place {
        match (self.registers.of(v), self.registers.memory(v)) {
            (None, Some(mem)) => Place::Mem(mem),
            _ => Place::Reg(self.registers.load(self.asm, v, pinned)),
        }
    }

    /// Arithmetic on the operation's lanes.
    fn lanes(&self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, self.job.format, self.job.length(), operands, rm)
    }

    /// Bitwise, on all of a register.
    fn bits(&self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        let length = if self.job.is_scalar() { Length::B16 } else { self.job.length() };
        Vector::new(form, self.job.format, length, operands, rm)
    }
}

/// `to` = the low `width` bytes of `from`, the rest zero.
pub(super) fn clear_above(asm: &mut Asm, to: u8, from: u8, width: u8) {
    let rm = Place::Reg(from);
    asm.vector(match width {
        // Insert nothing new, and zero lanes 1 to 3.
        4 => Vector::new(forms::INSERT_32, Format::F32, Length::B16, [to, from], rm).immediate(0x0e),
        8 => Vector::unary(forms::MOVE_64, Format::F64, Length::B16, to, rm),
        _ => Vector::unary(forms::MOVE, Format::F32, Length::of(width), to, rm),
    });
}

/// The low `width` bytes of `to` = those of `from`; up to 32 bytes stay, or up to 16 with [`Rest::Low`].
pub(super) fn merge(asm: &mut Asm, to: u8, from: u8, width: u8, rest: Rest) {
    let lanes = ((1u16 << (width / 4)) - 1) as u8;
    let length = if rest == Rest::Low { Length::B16 } else { Length::B32 };
    let blend = Vector::new(forms::BLEND, Format::F32, length, [to, to], Place::Reg(from));
    asm.vector(blend.immediate(lanes));
}
