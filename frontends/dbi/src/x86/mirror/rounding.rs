//! Sums that round because one term is a magic number.
//!
//! With AVX-512 what the rule makes of such lanes is put right afterwards: a sum that has been rounded has no shadow.
//! Otherwise such sums are left to the engine. Both where the code may have such numbers; a term with a shadow is none. Rare ones
//! that round to fractions are left to the engine in either case.

use super::At;
use super::arith::lanes_mask;
use super::operands::Operands;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::Sums;

/// Mask register: lanes with a magic number.
const MAGIC: u8 = 1;
/// (A ^ B) & C.
const DIFFERENCE: u8 = 0x28;
/// Place of masks while the rule computes: none of the places that rules use.
const KEPT: usize = 6;

/// A sum of `width` bytes of `format`, whose result is in vector register `d`.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) op: Op,
    pub(super) format: Format,
    pub(super) width: u8,
    pub(super) d: u8,
}

impl Sum {
    fn length(self) -> Length {
        if usize::from(self.width) == self.format.bytes() { Length::B16 } else { Length::of(self.width) }
    }

    /// The mask register of its lanes.
    fn lanes(self) -> u8 {
        lanes_mask(self.width / self.format.bytes() as u8).unwrap_or(0)
    }

    fn vector(self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, self.format, self.length(), operands, rm)
    }
}

/// Tells whether a term of the sum may be one that rounds the others.
pub(super) fn may_round(at: At<'_>, format: Format) -> bool {
    at.block.rounds().concerns(format) && at.block.sums(at.insn().pc()) != Sums::Plain
}

/// Kind of sum that the record of the operation at `at`, with a result in `format`, says it is.
pub(super) fn recorded_sums(at: At<'_>, format: Format) -> Sums {
    if may_round(at, format) { Sums::Unknown } else { Sums::Plain }
}

/// Numbers that round, as they are told by their bits: these in number and mask.
#[derive(Clone, Copy)]
enum Magic {
    /// To integers.
    Whole,
    /// To fractions, if they are taken off again; with some that are none.
    Fraction,
}

impl Magic {
    fn number_and_bits(self, constants: Constants, format: Format) -> [Mem; 2] {
        match self {
            Magic::Whole => [constants.whole(format), constants.whole_bits(format)],
            Magic::Fraction => constants.fractional(format),
        }
    }
}

impl Emitter {
    /// Finds the lanes of magic numbers, before the rule and the guest's instruction; leaves that to the engine where it cannot
    /// note them.
    pub(super) fn find_magic(&mut self, at: At<'_>, sum: Sum, operands: &Operands) {
        if at.block.sums(at.insn().pc()) == Sums::TakenOff {
            for &i in sum.op.addends() {
                self.check_magic(at, operands.x[i], sum, Magic::Fraction);
            }
        }
        if !may_round(at, sum.format) {
            return;
        }
        let upper = self.has_upper() && sum.d < self.mirror().settings.in_registers;
        for &i in sum.op.addends() {
            if !upper {
                self.check_magic(at, operands.x[i], sum, Magic::Whole);
                continue;
            }
            self.magic_lanes(at, operands.x[i], sum, Magic::Whole);
            if operands.absent >> i & 1 == 0 {
                self.without_shadow(operands.shadows[i], sum);
            }
            let kept = self.kept(i);
            self.out.hot.vector(Vector::unary(
                forms::MASK_STORE,
                Format::F32,
                Length::B16,
                MAGIC,
                Place::Mem(kept),
            ));
        }
    }

    fn kept(&self, term: usize) -> Mem {
        self.spill_slot(KEPT).plus(8 * term as i32)
    }

    /// Drops the shadows of sums that a magic number has rounded, after the rule and the guest's instruction.
    pub(super) fn drop_rounded(&mut self, at: At<'_>, sum: Sum) {
        let upper = self.has_upper() && sum.d < self.mirror().settings.in_registers;
        if !upper || !may_round(at, sum.format) {
            return;
        }
        let constants = Constants::at(self.mirror().settings.constants);
        let (whole, exponent) = (constants.whole(sum.format), Place::Mem(constants.exponent(sum.format)));
        let shadow = 16 + sum.d;
        for &i in sum.op.addends() {
            let (found, kept) = (self.temporary(1), Place::Mem(self.kept(i)));
            let hot = &mut self.out.hot;
            hot.vector(Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, MAGIC, kept));
            hot.vector_load(found, whole, 64);
            hot.vector(sum.vector(forms::TERNARY, [found, sum.d], exponent).immediate(DIFFERENCE));
            hot.vector(sum.vector(forms::TEST_NOT, [MAGIC, found], Place::Reg(found)).masked(MAGIC));
            hot.vector(sum.vector(forms::XOR, [shadow, shadow], Place::Reg(shadow)).masked(MAGIC));
        }
        self.forget_results(sum.d);
    }

    /// Takes the lanes with a shadow from those in the mask register.
    fn without_shadow(&mut self, shadow: Place, sum: Sum) {
        let register = match shadow {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let register = self.temporary(1);
                self.out.hot.vector_load(register, mem, sum.width);
                register
            }
        };
        let test = sum.vector(forms::TEST_NOT, [MAGIC, register], Place::Reg(register));
        self.out.hot.vector(test.masked(MAGIC));
    }

    /// Leaves in a mask register the lanes of `term` that are magic numbers; with AVX-512. Operands of a scalar
    /// instruction have anything above.
    fn magic_lanes(&mut self, at: At<'_>, term: Place, sum: Sum, magic: Magic) {
        let constants = Constants::at(self.mirror().settings.constants);
        let [number, bits] = magic.number_and_bits(constants, sum.format);
        let bits = Place::Mem(bits);
        let value = self.term(at, term, sum);
        let found = self.temporary(1);
        let hot = &mut self.out.hot;
        hot.vector_load(found, number, 64);
        hot.vector(sum.vector(forms::TERNARY, [found, value], bits).immediate(DIFFERENCE));
        hot.vector(sum.vector(forms::TEST_NOT, [MAGIC, found], Place::Reg(found)).masked(sum.lanes()));
    }

    /// The term in a register.
    fn term(&mut self, at: At<'_>, term: Place, sum: Sum) -> u8 {
        match term {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let value = self.temporary(0);
                self.note_spilled(at.index);
                self.out.hot.vector_load(value, mem, sum.width);
                value
            }
        }
    }

    /// Leaves the instruction to the engine if a lane of `term` is a magic number.
    fn check_magic(&mut self, at: At<'_>, term: Place, sum: Sum, magic: Magic) {
        if self.has_upper() {
            self.magic_lanes(at, term, sum, magic);
            return self.check_mask(at);
        }
        let constants = Constants::at(self.mirror().settings.constants);
        let [number, bits] = magic.number_and_bits(constants, sum.format);
        let bits = Place::Mem(bits);
        let found = self.temporary(1);
        let value = self.term(at, term, sum);
        let equal = if sum.format == Format::F32 { forms::EQUAL_32 } else { forms::EQUAL_64 };
        self.out.hot.vector(sum.vector(forms::AND, [found, value], bits));
        self.out.hot.vector(sum.vector(equal, [found, found], Place::Mem(number)));
        let scalar = usize::from(sum.width) == sum.format.bytes();
        let tested = if scalar { self.temporary(2) } else { found };
        if scalar {
            self.move_low(tested, found, sum.width);
        }
        self.check_register(at, tested);
    }
}
