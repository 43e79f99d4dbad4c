//! Vectors of floats taken apart and put together by integer instructions: sums and shifts of exponents, fractions cut out.
//!
//! A lane of the result that is ±x·2ᵏ has x's shadow, scaled likewise (`core::tricks::relation`), and so has the sum of x and
//! a constant, as integers (`core::tricks::moves_along`); any other has none. That
//! takes some forty instructions, too much beside each vector sum of integers: it is done with AVX-512 and where such an
//! instruction has met shadows often. Lanes in which parts of floats are put together, or two have shadows, are left to the
//! engine.

use super::At;
use super::operand;
use super::temporaries::UPPER;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::table::{Integral, Lanes, Row};
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use crate::x86::wholes::Whole;
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;

/// Mask registers.
const FIRST: u8 = 1;
const SECOND: u8 = 2;
const THIRD: u8 = 3;

const T: u8 = UPPER[0];
const U: u8 = UPPER[1];

/// Places in which the float, its shadow and the other operand wait for the guest's instruction.
const FLOAT: usize = 0;
const SHADOW: usize = 1;
const OTHER: usize = 2;

/// Bits of an exponent's place, for a shift.
const FRACTION_BITS: u8 = 23;
/// The shift's number among those of its opcode: arithmetic, to the right; to the left.
const SHIFT_RIGHT: u8 = 4;
const SHIFT_LEFT: u8 = 6;
/// Bits of a double's sign and exponent, and of its significand beside them in its upper half.
const DOUBLE_UPPER_BITS: u8 = 12;
const DOUBLE_UPPER_DIGITS: u8 = 32 - DOUBLE_UPPER_BITS;

/// Operands of an instruction.
#[derive(Clone, Copy)]
struct Parts {
    d: u8,
    a: u8,
    /// The other operand, unless that says how far to shift.
    b: Option<Place>,
    /// True if it is a conjunction.
    cuts: bool,
    /// True if it adds or subtracts.
    adds: bool,
    subtracts: bool,
    /// True if it says nothing of its lanes: they may be of 64 bits.
    untyped: bool,
    bytes: u8,
}

impl Parts {
    fn vector(self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, Format::F32, Length::of(self.bytes), operands, rm)
    }

    /// Instruction of `form` on lanes of 64 bits.
    fn wide(self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, Format::F64, Length::of(self.bytes), operands, rm)
    }
}

/// Tells whether `insn` is one that may be annotated so.
pub(crate) fn may_scale(insn: &Instruction) -> bool {
    parts(insn).is_some()
}

fn parts(insn: &Instruction) -> Option<Parts> {
    let (by, untyped) = match rows::row(insn) {
        Row::Trick(by, Format::F32) => (by, false),
        Row::Logic(by, lanes) => (by, lanes == Lanes::Untyped),
        _ => return None,
    };
    let is_single = matches!(rows::row(insn), Row::Trick(..) | Row::Logic(_, Lanes::Of(Format::F32)));
    let (sum, cuts) = match by {
        Integral::And if is_single => (true, true),
        Integral::Add | Integral::Subtract => (true, false),
        Integral::Or if is_single || untyped => (true, false),
        _ if by.shifts() => (false, false),
        _ => return None,
    };
    let last = insn.op_count() - 1;
    let moves_bytes = !sum && insn.op_kind(last) == OpKind::Immediate8 && insn.immediate8().is_multiple_of(8);
    let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
    let (d, first) = (insn.op0_register(), insn.op_register(last - 1));
    if !plain || moves_bytes || !d.is_vector_register() || !first.is_vector_register() {
        return None;
    }
    let b = match insn.op_kind(last) {
        _ if !sum => None,
        OpKind::Register => Some(Place::Reg(insn.op_register(last).number() as u8)),
        _ => Some(Place::Mem(operand::guest_memory(insn))),
    };
    let a = first.number() as u8;
    let subtracts = by == Integral::Subtract;
    let adds = subtracts || by == Integral::Add;
    let parts = Parts { adds, subtracts, d: d.number() as u8, a, b, cuts, untyped, bytes: d.size() as u8 };
    (b != Some(Place::Reg(a))).then_some(parts)
}

impl Emitter {
    /// Annotates the instruction so if it is one of those and has met shadows often.
    pub(super) fn scaled(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        let mirror = self.mirror();
        let held = mirror.settings.in_registers;
        let number = mirror.hot_sites.get(&insn.ip()).copied();
        if held == 0 || mirror.settings.records || mirror.settings.appends || mirror.settings.slow {
            return false;
        }
        let (Some(number), Some(parts)) = (number, parts(insn)) else { return false };
        let are_doubles = at.block.whole(insn.ip()) == Some(Whole::Result(Format::F64));
        if are_doubles && !parts.untyped {
            return false;
        }
        let b = parts.b.filter(|b| matches!(b, Place::Reg(_)));
        let all_held =
            parts.d < held && parts.a < held && b.is_none_or(|b| matches!(b, Place::Reg(b) if b < held));
        if !all_held || self.mode.is_off() || !self.open_operand(at) {
            return false;
        }
        if operand::has_memory(insn) && parts.b.is_some() {
            // A constant, as a rule.
            let sources: Vec<_> = self.memory_source(insn).into_iter().collect();
            self.check(at, &sources);
        }
        let b = parts.b.map(|b| if let Place::Mem(_) = b { Place::Mem(self.guest_operand(insn)) } else { b });
        let parts = Parts { b, ..parts };
        self.keep_parts(at, parts);
        self.guest(at);
        self.close_operand();
        self.scale(parts);
        self.drop_others(parts);
        if loses_digits(insn) {
            self.find_lost(parts);
            match self.mirror().settings.policy.errors {
                Some(_) => self.leave_traces(parts),
                None => self.count_mask(at, number),
            }
        }
        true
    }

    /// Gives lanes of mask register 1 an error that is a trace of what they have lost (`core::words`).
    fn leave_traces(&mut self, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let [magnitude, sign] =
            [constants.magnitude(Format::F32), constants.sign(Format::F32)].map(Place::Mem);
        let hot = &mut self.out.hot;
        hot.vector(parts.vector(forms::LOAD, [U, 0], magnitude));
        hot.vector(parts.vector(forms::OR, [16 + parts.d, U], sign).masked(FIRST));
    }

    /// Marks in mask register 1 the lanes that had a shadow, and have none and still digits.
    fn find_lost(&mut self, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let shadow = self.waiting(SHADOW);
        let (r, to) = (parts.d, 16 + parts.d);
        let digits = if parts.cuts { Place::Mem(constants.fraction()) } else { Place::Reg(r) };
        let hot = &mut self.out.hot;
        hot.vector_load(U, shadow, parts.bytes);
        hot.vector(parts.vector(forms::TEST, [FIRST, U], Place::Reg(U)));
        hot.vector(parts.vector(forms::TEST_NOT, [FIRST, to], Place::Reg(to)).masked(FIRST));
        hot.vector(parts.vector(forms::TEST, [FIRST, r], digits).masked(FIRST));
    }

    fn waiting(&self, place: usize) -> Mem {
        self.spill_slot(place)
    }

    /// Spills what is needed of the operands, and leaves lanes that are unclear to the engine.
    fn keep_parts(&mut self, at: At<'_>, parts: Parts) {
        let Parts { a, b, bytes, .. } = parts;
        let constants = Constants::at(self.mirror().settings.constants);
        let (last, before) = (Place::Mem(constants.last_byte()), Place::Mem(constants.last_byte_but_one()));
        let [float, shadow, other] = [FLOAT, SHADOW, OTHER].map(|place| self.waiting(place));
        let both = match b {
            Some(Place::Reg(b)) => Some(b),
            _ => None,
        };
        self.note_spilled(at.index);
        let hot = &mut self.out.hot;
        let test = |mask, register| parts.vector(forms::TEST, [mask, register], Place::Reg(register));
        hot.vector(parts.vector(forms::MOVE, [T, 0], Place::Reg(a)));
        if let Some(b) = b {
            hot.vector(parts.vector(forms::LOAD, [U, 0], b));
        }
        if let Some(b) = both {
            hot.vector(test(SECOND, 16 + b));
            hot.vector(parts.vector(forms::MOVE, [T, 0], Place::Reg(b)).masked(SECOND));
            hot.vector(parts.vector(forms::MOVE, [U, 0], Place::Reg(a)).masked(SECOND));
        }
        hot.vector_store(float, T, bytes);
        if b.is_some() {
            hot.vector_store(other, U, bytes);
        }
        hot.vector(parts.vector(forms::OR, [T, 16 + a], Place::Reg(16 + both.unwrap_or(a))));
        hot.vector_store(shadow, T, bytes);
        // A shadow without its last byte is that of a part of a float.
        hot.vector(test(FIRST, T));
        hot.vector(parts.vector(forms::TEST_NOT, [FIRST, T], last).masked(FIRST));
        self.check_mask(at);
        if let Some(b) = both {
            self.out.hot.vector(test(FIRST, 16 + b));
            if !parts.untyped && !parts.subtracts {
                self.out.hot.vector(test(FIRST, 16 + a).masked(FIRST));
            }
            self.check_mask(at);
        }
        if parts.adds {
            self.check_upper_half(at, parts);
        }
        if b.is_none() {
            return;
        }
        // Bytes of one operand beside bytes of the other: not where both have their last one, or the last but one.
        let hot = &mut self.out.hot;
        hot.vector(test(SECOND, T));
        hot.vector(parts.vector(forms::TEST_NOT, [SECOND, U], last).masked(SECOND));
        hot.vector(test(SECOND, U).masked(SECOND));
        hot.vector(parts.vector(forms::TEST_NOT, [FIRST, U], before).masked(SECOND));
        self.check_mask(at);
        let hot = &mut self.out.hot;
        hot.vector_load(U, float, bytes);
        hot.vector(parts.vector(forms::OR, [T, T], Place::Reg(U)));
        hot.vector(parts.vector(forms::TEST_NOT, [FIRST, T], before).masked(SECOND));
        self.check_mask(at);
        // Instructions for narrow floats are used on wide ones, too, being shorter.
        if parts.cuts {
            self.check_mask_of_doubles(at, parts);
        } else if parts.untyped || !parts.adds {
            self.check_wide(at, parts);
        }
    }

    /// Leaves a sum to the engine that may be of the upper half of a double: of what can be for its exponent, and not for
    /// that of a narrow float. Keeps what is in the temporaries.
    fn check_upper_half(&mut self, at: At<'_>, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let fraction = Place::Mem(constants.fraction());
        let [shadow, other] = [SHADOW, OTHER].map(|place| self.waiting(place));
        let hot = &mut self.out.hot;
        hot.vector(
            parts.vector(forms::SHIFT_32, [SHIFT_LEFT, T], Place::Reg(U)).immediate(DOUBLE_UPPER_BITS),
        );
        hot.vector(parts.vector(forms::TEST_NOT, [FIRST, T], Place::Reg(T)));
        hot.vector(parts.vector(forms::TEST, [FIRST, U], fraction).masked(FIRST));
        hot.vector_load(T, shadow, parts.bytes);
        hot.vector(parts.vector(forms::TEST, [FIRST, T], Place::Reg(T)).masked(FIRST));
        self.check_mask(at);
        self.out.hot.vector_load(U, other, parts.bytes);
    }

    /// Leaves a disjunction to the engine that may be of 64 bits: where it changes only the upper half of what has a
    /// shadow.
    fn check_wide(&mut self, at: At<'_>, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let low = Place::Mem(constants.low_half());
        let [float, other] = [FLOAT, OTHER].map(|place| self.waiting(place));
        let hot = &mut self.out.hot;
        hot.vector_load(T, float, parts.bytes);
        hot.vector_load(U, other, parts.bytes);
        hot.vector(parts.wide(forms::AND_NOT, [U, T], Place::Reg(U)));
        hot.vector(parts.wide(forms::TEST, [SECOND, U], Place::Reg(U)));
        hot.vector(parts.wide(forms::TEST_NOT, [SECOND, U], low).masked(SECOND));
        self.leave_wide(at, parts);
    }

    /// Leaves the instruction to the engine if a lane of 64 bits among those of mask register 2 has a shadow.
    fn leave_wide(&mut self, at: At<'_>, parts: Parts) {
        let shadow = self.waiting(SHADOW);
        let hot = &mut self.out.hot;
        hot.vector_load(T, shadow, parts.bytes);
        hot.vector(parts.wide(forms::TEST, [FIRST, T], Place::Reg(T)).masked(SECOND));
        self.check_mask(at);
    }

    /// Leaves a conjunction to the engine that cuts the significand out of what has a shadow, if that is a double, as
    /// `core::tricks::is_for_double` says.
    fn check_mask_of_doubles(&mut self, at: At<'_>, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let [exponent, magnitude] =
            [constants.exponent(Format::F64), constants.magnitude(Format::F64)].map(Place::Mem);
        let other = self.waiting(OTHER);
        let hot = &mut self.out.hot;
        hot.vector_load(U, other, parts.bytes);
        hot.vector(parts.wide(forms::XOR, [U, U], exponent));
        hot.vector(parts.wide(forms::AND_NOT, [U, U], magnitude));
        hot.vector(parts.wide(forms::TEST_NOT, [SECOND, U], Place::Reg(U)));
        self.leave_wide(at, parts);
    }

    /// Leaves in `T` the shadow, scaled by the difference of exponents: that of zeros, and of fractions on their own, is
    /// 0.
    fn scale(&mut self, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let (exponent, one) =
            (Place::Mem(constants.exponent(Format::F32)), Place::Mem(constants.one(Format::F32)));
        let [float, shadow] = [FLOAT, SHADOW].map(|place| self.waiting(place));
        let hot = &mut self.out.hot;
        hot.vector_load(T, float, parts.bytes);
        hot.vector(parts.vector(forms::AND, [T, T], exponent));
        hot.vector(parts.vector(forms::AND, [U, parts.d], exponent));
        for register in [T, U] {
            hot.vector(parts.vector(forms::TEST_NOT, [FIRST, register], Place::Reg(register)));
            hot.vector(parts.vector(forms::LOAD, [register, 0], one).masked(FIRST));
        }
        hot.vector(parts.vector(forms::SUB_32, [U, U], Place::Reg(T)));
        hot.vector(parts.vector(forms::SHIFT_32, [SHIFT_RIGHT, U], Place::Reg(U)).immediate(FRACTION_BITS));
        hot.vector(parts.vector(forms::FROM_INTEGER_32, [U, 0], Place::Reg(U)));
        hot.vector_load(T, shadow, parts.bytes);
        hot.vector(parts.vector(forms::SCALE, [T, T], Place::Reg(U)).nearest());
    }

    /// Of what is in `T`, gives the result's shadow the lanes with x's fraction, signed as they are.
    fn drop_others(&mut self, parts: Parts) {
        let constants = Constants::at(self.mirror().settings.constants);
        let constant = |mem| Place::Mem(mem);
        let exponent = constant(constants.exponent(Format::F32));
        let fraction = constant(constants.fraction());
        let (sign, magnitude) =
            (constant(constants.sign(Format::F32)), constant(constants.magnitude(Format::F32)));
        let [float, shadow, other] = [FLOAT, SHADOW, OTHER].map(|place| self.waiting(place));
        let r = parts.d;
        let hot = &mut self.out.hot;
        let test = |form, mask, register| parts.vector(form, [mask, register], Place::Reg(register));
        let clear = parts.vector(forms::XOR, [T, T], Place::Reg(T)).masked(FIRST);
        hot.vector_load(U, shadow, parts.bytes);
        hot.vector(test(forms::TEST, FIRST, U));
        hot.vector_load(U, float, parts.bytes);
        hot.vector(parts.vector(forms::XOR, [U, U], Place::Reg(r)));
        let same = parts.vector(forms::TEST_NOT, [SECOND, U], fraction).masked(FIRST);
        hot.vector(if parts.adds { test(forms::TEST, SECOND, T).masked(FIRST) } else { same });
        // With another exponent, neither may be infinite or NaN, nor the result zero.
        hot.vector(parts.vector(forms::TEST, [THIRD, U], exponent).masked(SECOND));
        hot.vector(parts.vector(forms::AND, [U, U], sign));
        hot.vector(parts.vector(forms::XOR, [T, T], Place::Reg(U)).masked(SECOND));
        hot.vector(parts.vector(forms::AND, [U, r], exponent));
        hot.vector(parts.vector(forms::XOR, [U, U], exponent));
        hot.vector(test(forms::TEST_NOT, FIRST, U).masked(THIRD));
        hot.vector(clear);
        hot.vector_load(U, float, parts.bytes);
        hot.vector(parts.vector(forms::AND, [U, U], exponent));
        hot.vector(parts.vector(forms::XOR, [U, U], exponent));
        hot.vector(test(forms::TEST_NOT, FIRST, U).masked(THIRD));
        hot.vector(clear);
        hot.vector(parts.vector(forms::TEST_NOT, [FIRST, r], magnitude).masked(THIRD));
        if parts.cuts {
            // A power of two whose fraction is cut out.
            hot.vector_load(U, other, parts.bytes);
            hot.vector(parts.vector(forms::XOR, [U, U], fraction));
            hot.vector(parts.vector(forms::TEST, [FIRST, U], magnitude).masked(FIRST));
            hot.vector(clear);
            // What is left of a zero that is not let through as it is; an exponent on its own.
            hot.vector_load(U, other, parts.bytes);
            hot.vector(parts.vector(forms::TEST_NOT, [FIRST, U], fraction).masked(SECOND));
            hot.vector(clear);
            hot.vector_load(U, float, parts.bytes);
            hot.vector(parts.vector(forms::TEST_NOT, [THIRD, U], magnitude).masked(SECOND));
            hot.vector_load(U, other, parts.bytes);
            hot.vector(parts.vector(forms::AND, [U, U], magnitude));
            hot.vector(parts.vector(forms::XOR, [U, U], magnitude));
            hot.vector(test(forms::TEST, FIRST, U).masked(THIRD));
        }
        hot.vector(clear);
        let to = 16 + parts.d;
        hot.vector(parts.vector(forms::MOVE, [to, 0], Place::Reg(T)).masked(SECOND).zeroing());
    }
}

/// Tells whether there can be digits in what `insn` leaves without a shadow: not where it shifts all of them out.
fn loses_digits(insn: &Instruction) -> bool {
    let last = insn.op_count() - 1;
    let right = Row::Trick(Integral::ShiftRight, Format::F32);
    let signed = Row::Trick(Integral::ShiftRightSigned, Format::F32);
    let shifts_right = [right, signed].contains(&rows::row(insn));
    !(shifts_right && insn.op_kind(last) == OpKind::Immediate8 && insn.immediate8() >= DOUBLE_UPPER_DIGITS)
}
