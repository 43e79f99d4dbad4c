//! Instructions for the verbs of a rule, in the form that suits the destination and its mask.

use super::super::super::vector::{Form, Length, Place, Vector, forms};
use super::super::Rest;
use super::super::template::{Node, V, Verb};
use super::{Evex, Target};

impl Evex<'_, '_> {
    /// Tells whether the instruction for `verb` will be scalar, and so clear or copy what is above the lane.
    pub(super) fn is_scalar_form(&self, verb: Verb, register: u8) -> bool {
        let quiet = is_logic(verb) || matches!(verb, Verb::Copy(_));
        let clears = matches!(verb, Verb::Div(..) | Verb::Sqrt(_));
        self.job.is_scalar() && !quiet && (clears || register != self.job.to)
    }

    /// Tells whether a scalar form may write `register`, the destination, because what it copies from register `first`
    /// is what is there.
    pub(super) fn passes(&self, register: u8, first: Option<u8>) -> bool {
        self.low && register == self.job.to && first == Some(register)
    }

    /// Tells whether a scalar form of `verb` may write the destination, because what it copies from an operand is what is there.
    pub(super) fn passes_through(&self, verb: Verb) -> bool {
        let is_there = |v: V| self.passes(self.job.to, self.registers.of(v));
        match verb {
            Verb::Add(a, b) | Verb::Mul(a, b) => is_there(a) || is_there(b),
            Verb::Sub(a, _) | Verb::Div(a, _) | Verb::Sqrt(a) => is_there(a),
            Verb::Fma(..) | Verb::Fnma(..) => verb.operands().any(is_there),
            // What is beyond the lane is to be zero then.
            Verb::Copy(_) => self.job.rest == Rest::Zero,
            Verb::Xor(..) | Verb::And(..) | Verb::Flip(..) => false,
        }
    }

    /// Tells whether the result is zero beyond the width without a mask: packed logic.
    pub(super) fn is_exact_width(&self, verb: Verb, target: Target) -> bool {
        (is_logic(verb) || matches!(verb, Verb::Copy(_))) && self.cleans(target.register)
    }

    /// Tells whether a move to `register` makes it zero beyond the width.
    pub(super) fn cleans(&self, register: u8) -> bool {
        let to = register == self.job.to;
        if self.job.is_scalar() {
            to && self.job.rest == Rest::Zero
        } else {
            !to || self.job.rest == Rest::Zero
        }
    }

    /// An instruction that raises no exception, as wide as the operation unless it writes the destination without its rest.
    pub(super) fn bits(&self, form: Form, register: u8, operands: [u8; 2], rm: Place) -> Vector {
        let length = match self.job.length() {
            _ if register == self.job.to && self.job.rest == Rest::Keep && !self.low => Length::B64,
            Length::Scalar => Length::B16,
            length => length,
        };
        Vector::new(form, self.job.format, length, operands, rm)
    }

    pub(super) fn moved(&mut self, target: Target, from: u8) {
        let register = target.register;
        let vector = self.bits(forms::MOVE, register, [register, 0], Place::Reg(from));
        self.put(vector, target);
    }

    pub(super) fn put(&mut self, vector: Vector, target: Target) {
        let vector = vector.masked(target.mask);
        self.asm.vector(if target.zeroing { vector.zeroing() } else { vector });
    }

    /// The instruction, or the few, for a verb whose operands are loaded.
    pub(super) fn write(&mut self, verb: Verb, target: Target) {
        let to = target.register;
        let reg = |v| self.registers.of(v).expect("a loaded operand");
        match verb {
            Verb::Add(a, b) => self.arithmetic(forms::ADD, verb, target, reg(a), reg(b)),
            Verb::Sub(a, b) => self.arithmetic(forms::SUB, verb, target, reg(a), reg(b)),
            Verb::Mul(a, b) => self.arithmetic(forms::MUL, verb, target, reg(a), reg(b)),
            Verb::Div(a, b) => self.arithmetic(forms::DIV, verb, target, reg(a), reg(b)),
            // Only the scalar form has a second operand.
            Verb::Sqrt(a) if self.job.is_scalar() => {
                self.arithmetic(forms::SQRT, verb, target, reg(a), reg(a))
            }
            Verb::Sqrt(a) => self.arithmetic(forms::SQRT, verb, target, 0, reg(a)),
            Verb::Fma(..) | Verb::Fnma(..) => self.fused(verb, target, None),
            Verb::Xor(a, b) => self.logic(forms::XOR, target, a, b),
            Verb::And(a, b) => self.logic(forms::AND, target, a, b),
            Verb::Copy(a) => self.moved(target, reg(a)),
            Verb::Flip(a, b, bits) => self.flip(target, [reg(a), reg(b)], bits, to),
        }
    }

    pub(super) fn arithmetic(&mut self, form: Form, verb: Verb, target: Target, a: u8, b: u8) {
        let register = target.register;
        let commutes = matches!(verb, Verb::Add(..) | Verb::Mul(..));
        let (a, b) = if commutes && self.passes(register, Some(b)) { (b, a) } else { (a, b) };
        let scalar = self.is_scalar_form(verb, register) || self.passes(register, Some(a));
        let length = if scalar { Length::Scalar } else { Length::B64 };
        let vector = Vector::new(form, self.job.format, length, [target.register, a], Place::Reg(b));
        self.put(vector.nearest(), target);
    }

    pub(super) fn logic(&mut self, form: Form, target: Target, a: V, b: V) {
        let b = match self.node(b) {
            Node::Constant(_) => self.registers.memory(b).map(Place::Mem).expect("constants are in memory"),
            _ => Place::Reg(self.register(b)),
        };
        let vector = self.bits(form, target.register, [target.register, self.register(a)], b);
        self.put(vector, target);
    }

    /// a ^ (b & bits), by truth table over (register, second, memory).
    pub(super) fn flip(&mut self, target: Target, [a, b]: [u8; 2], bits: V, to: u8) {
        let bits = self.registers.memory(bits).map(Place::Mem).expect("constants are in memory");
        let (other, table) = if to == b && a != b { (a, 0x6c) } else { (b, 0x78) };
        if to != a && to != b {
            self.moved(
                Target { zeroing: false, mask: if self.is_kept(to) { self.lanes } else { 0 }, ..target },
                a,
            );
        }
        let vector = self.bits(forms::TERNARY, to, [to, other], bits).immediate(table);
        self.put(vector, target);
    }

    pub(super) fn is_kept(&self, register: u8) -> bool {
        register == self.job.to && self.job.rest == Rest::Keep
    }

    /// ±a · b + c. `addend`: the register that holds c already, if not c's own.
    pub(super) fn fused(&mut self, verb: Verb, target: Target, addend: Option<u8>) {
        let (Verb::Fma(a, b, c) | Verb::Fnma(a, b, c)) = verb else { unreachable!("{verb:?} is not fused") };
        let negated = matches!(verb, Verb::Fnma(..));
        let [a, b] = [a, b].map(|v| self.register(v));
        let c = addend.unwrap_or_else(|| self.register(c));
        let to = target.register;
        let (order, second, rm) = match () {
            () if to == c => (forms::Order::O231, a, b),
            () if to == a => (forms::Order::O213, b, c),
            () if to == b => (forms::Order::O213, a, c),
            () => {
                let mask = if self.is_kept(to) { self.lanes } else { 0 };
                self.moved(Target { register: to, mask, zeroing: false }, c);
                (forms::Order::O231, a, b)
            }
        };
        let scalar = self.is_scalar_form(verb, to) || self.passes(to, Some(to));
        let length = if scalar { Length::Scalar } else { Length::B64 };
        let form = forms::fused(order, negated, false);
        let vector = Vector::new(form, self.job.format, length, [to, second], Place::Reg(rm));
        self.put(vector.nearest(), target);
    }
}

/// Tells whether a verb is one bitwise instruction.
pub(super) fn is_logic(verb: Verb) -> bool {
    matches!(verb, Verb::Xor(..) | Verb::And(..) | Verb::Flip(..))
}
