//! Operations of x87 whose rules take operands and result with all their digits: each as a sum of two doubles.
//!
//! What the guest's instruction is about to compute is computed before it on copies, under the guest's control word. That raises
//! no exception but what the guest's is about to raise, and leaves a condition code that the guest's undoes; all are masked
//! (`x87::find_top` has seen to that). So the rule is complete before the guest's instruction, which then is the
//! last to have touched the stack. Numbers that are not told in parts ([`Parts::of`]) are left to the engine.
//!
//! [`Parts::of`]: shadowgrind_core::ops::Parts

use super::At;
use super::arith::MASKS;
use super::operand::has_memory;
use super::rounding::may_round;
use super::x87_stack::{NUMBER, word};
use super::x87_values::{IMAGES, Operand, RESULT, VALUES};
use crate::x86::emit::Emitter;
use crate::x86::mirror::Watched;
use crate::x86::rules::{Constants, InlineRule, Job};
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Second parts of two operands, beside the first in [`VALUES`].
const LOWS: u32 = 14;
/// Parts of the result.
const RESULT_HIGH: u32 = 15;
const RESULT_LOW: u32 = 16;
/// The instruction's float in memory.
const OPERAND: u32 = 17;

/// Biased exponent of the least numbers in parts: 2^-384.
const LEAST: i64 = 0x3e7f;
/// Number of exponents, from the least on, of numbers in parts.
const MOST: i64 = 767;
/// Summand that makes an exponent less [`LEAST`] that of a double which scales the significand as an integer.
const OF_SCALES: i64 = LEAST - 16383 - 63 + 1023;
/// Biased exponent of numbers that round others: 2^63 and 1.5·2^63.
const MAGIC: i64 = 0x403e - LEAST;
/// Reason why no operand is one.
const INTEGERS: &str = "operations with integers are left to the engine where rules take parts";
/// No register of the stack.
pub(super) const NONE: u8 = 8;

/// Images of the operands, in the order of the operation, and of the result.
struct Images {
    x: Vec<Mem>,
    r: Mem,
}

/// Places of a rule's operands.
struct Terms {
    high: Vec<Place>,
    low: Vec<Place>,
    shadows: Vec<Place>,
    absent: u8,
}

impl Emitter {
    /// The operation, whose result goes to register `to`: its rule and the guest's instruction.
    pub(super) fn x87_in_parts(&mut self, at: At<'_>, op: Op, operands: &[Operand], to: u8) {
        let rule = self.inline_rule().in_parts();
        let number = self.parts_temporaries(rule, op);
        self.ready_mxcsr(at);
        self.check_empty(at, &[0], to);
        if has_memory(&at.insn().decoded) {
            self.copy_operand(at);
        }
        let kept = self.x87_place();
        let result = kept.map_or(self.x87_slot(RESULT), |kept| self.x87_kept(kept));
        let images = self.operation_images(op, operands, result);
        let magic = !op.addends().is_empty() && may_round(at, Format::F80);
        self.parts(at, &images.x, [VALUES, LOWS], magic);
        self.parts(at, &[images.r], [RESULT_HIGH, RESULT_LOW], false);
        let terms = self.terms(at, operands);
        if self.watched(at) == Watched::Suspicious
            && let Some(asked) = self.mirror().settings.suspicion.map(InlineRule::in_parts)
            && asked.is_arithmetic(op)
        {
            self.ask_in_parts(at, asked, op, &terms);
        }
        self.parts_rule(at, rule, op, &terms, 0);
        self.guest(at);
        self.x87_written(to, kept);
        let cell = self.x87_cell(to);
        self.put_x87(cell, number);
    }

    /// `fst` of a float of eight bytes in memory: its shadow, of what is rounded off as well, beside it.
    pub(super) fn x87_narrow(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let rule = self.inline_rule().in_parts();
        let number = self.parts_temporaries(rule, Op::Narrow);
        self.ready_mxcsr(at);
        self.check_empty(at, &[0], NONE);
        let images = self.operand_images(&[Operand::Stack(0)]);
        self.parts(at, &images, [VALUES, LOWS], false);
        let terms = self.terms(at, &[Operand::Stack(0)]);
        self.guest(at);
        let Some(mirror) = self.mirror_memory(insn) else { return };
        let stored = self.guest_operand(insn);
        let (high, low) = (self.x87_slot(RESULT_HIGH), self.x87_slot(RESULT_LOW));
        self.out.hot.vector_load(number, stored, 8);
        self.out.hot.vector_store(high, number, 8);
        self.lanes(forms::XOR, [number, number], Place::Reg(number));
        self.out.hot.vector_store(low, number, 8);
        self.parts_rule(at, rule, Op::Narrow, &terms, 0);
        self.out.hot.vector_store(mirror, number, 8);
    }

    /// A comparison of registers of the stack, or with memory: left to the engine if it may come out otherwise by the shadows.
    pub(super) fn x87_doubted(&mut self, at: At<'_>, doubt: InlineRule, operands: &[Operand]) {
        let doubt = doubt.in_parts();
        let number = self.parts_temporaries(doubt, Op::Sub);
        self.ready_mxcsr(at);
        let skip = self.x87_skip(at, operands, number);
        self.check_popped(at);
        if has_memory(&at.insn().decoded) {
            self.copy_operand(at);
        }
        let images = self.operand_images(operands);
        self.parts(at, &images, [VALUES, LOWS], false);
        let terms = self.terms(at, operands);
        self.ask_in_parts(at, doubt, Op::Sub, &terms);
        let here = self.out.hot.here();
        self.out.hot.patch(skip, here);
        self.guest(at);
    }

    /// Spills all registers that parts and rule need. Returns the one for the rule's result.
    fn parts_temporaries(&mut self, rule: InlineRule, op: Op) -> u8 {
        /// Temporaries of [`Self::parts`] but for the first.
        const PARTING: usize = 5;
        if !self.has_upper() {
            self.temporary(PARTING.max(rule.temporaries(op)));
        }
        self.temporary(0)
    }

    /// The instruction's float in memory, copied: a fault finds nothing changed.
    fn copy_operand(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let (value, bytes) = (self.temporary(0), insn.memory_size().size() as u8);
        self.note_spilled(at.index);
        let (from, to) = (self.guest_operand(insn), self.x87_slot(OPERAND));
        self.out.hot.vector_load(value, from, bytes);
        self.out.hot.vector_store(to, value, bytes);
    }

    /// `fld`, digit 0, or another instruction of the copied float in memory: an operation on it where `opcode` is D8.
    fn with_operand(&mut self, format: Format, opcode: u8, digit: u8) {
        let wide = if format == Format::F64 { 4 } else { 0 };
        let operand = self.x87_slot(OPERAND);
        self.out.hot.raw(&[opcode + wide]);
        self.out.hot.operand(digit, Place::Mem(operand), 1, 0);
    }

    /// Stores the operands as they are, in the order given: the top of the stack is taken off and loaded again.
    fn operand_images(&mut self, operands: &[Operand]) -> Vec<Mem> {
        let images = self.begin_images(operands);
        let top = self.top_image();
        self.x87_tbyte(LOAD, top);
        images
    }

    /// The place of the value on top of the stack, where [`begin_images`](Self::begin_images) has put it.
    fn top_image(&mut self) -> Mem {
        let known = self.x87_known(0);
        known.map_or(self.x87_slot(IMAGES[0]), |known| self.x87_kept(known))
    }

    /// Takes the top of the stack off and stores operands where their values are not kept; returns where they are.
    fn begin_images(&mut self, operands: &[Operand]) -> Vec<Mem> {
        let top = self.top_image();
        if self.x87_known(0).is_some() {
            // fstp st(0)
            self.out.hot.raw(&[0xdd, 0xd8]);
        } else {
            self.x87_tbyte(STORE, top);
        }
        let other = self.x87_slot(IMAGES[1]);
        let mut images = Vec::new();
        for &operand in operands {
            images.push(match operand {
                Operand::Stack(0) => top,
                Operand::Stack(n) => match self.x87_known(n) {
                    Some(known) => self.x87_kept(known),
                    None => {
                        // fld st(n - 1)
                        self.out.hot.raw(&[0xd9, 0xc0 + n - 1]);
                        self.x87_tbyte(STORE, other);
                        other
                    }
                },
                Operand::Integer => unreachable!("{INTEGERS}"),
                Operand::Memory(format) => {
                    self.with_operand(format, 0xd9, 0);
                    self.x87_tbyte(STORE, other);
                    other
                }
            });
        }
        images
    }

    /// Stores the operands of an operation as they are, and at `r` the result that it is about to have.
    fn operation_images(&mut self, op: Op, operands: &[Operand], r: Mem) -> Images {
        let x = self.operand_images(operands);
        // The form whose result is the top; the other operand is taken first in the exchanged one.
        let exchanged = u8::from(operands.len() == 2 && operands[0] != Operand::Stack(0));
        let digit = match op {
            Op::Add => 0,
            Op::Mul => 1,
            Op::Sub => 4 + exchanged,
            Op::Div => 6 + exchanged,
            Op::Sqrt => 7,
            _ => unreachable!("an operation in parts"),
        };
        let other = operands.iter().find(|&&operand| operand != Operand::Stack(0));
        match other {
            // fsqrt
            _ if op == Op::Sqrt => self.out.hot.raw(&[0xd9, 0xfa]),
            Some(&Operand::Memory(format)) => self.with_operand(format, 0xd8, digit),
            Some(&Operand::Integer) => unreachable!("{INTEGERS}"),
            Some(&Operand::Stack(n)) => self.out.hot.raw(&[0xd8, 0xc0 + 8 * digit + n]),
            None => self.out.hot.raw(&[0xd8, 0xc0 + 8 * digit]),
        }
        self.x87_tbyte(STORE, r);
        let top = self.top_image();
        self.x87_tbyte(LOAD, top);
        Images { x, r }
    }

    /// Places of the operands' parts and shadows.
    fn terms(&mut self, at: At<'_>, operands: &[Operand]) -> Terms {
        let mut terms = Terms { high: Vec::new(), low: Vec::new(), shadows: Vec::new(), absent: 0 };
        for (i, &operand) in operands.iter().enumerate() {
            let [high, low] = [VALUES, LOWS].map(|slot| Place::Mem(self.x87_slot(slot).plus(8 * i as i32)));
            terms.high.push(high);
            terms.low.push(low);
            let shadow = match operand {
                Operand::Stack(n) => Some(Place::Mem(self.x87_cell(n).plus(NUMBER))),
                Operand::Integer => unreachable!("{INTEGERS}"),
                Operand::Memory(format) => self.x87_memory(at, format, false).1,
            };
            terms.absent |= u8::from(shadow.is_none()) << i;
            // What is absent is not read.
            terms.shadows.push(shadow.unwrap_or(high));
        }
        terms.low.push(Place::Mem(self.x87_slot(RESULT_LOW)));
        terms
    }

    /// Leaves the instruction to the engine where the question about `op` has an answer other than +0.
    fn ask_in_parts(&mut self, at: At<'_>, question: InlineRule, op: Op, terms: &Terms) {
        // What is looked at is not the first temporary.
        self.parts_rule(at, question, op, terms, 1);
        let answer = self.temporary(1);
        self.check_register(at, answer);
    }

    /// Emits a rule, whose result is then in temporary `to`.
    fn parts_rule(&mut self, at: At<'_>, rule: InlineRule, op: Op, terms: &Terms, to: usize) {
        let (to, upper) = (self.temporary(to), self.has_upper());
        let mut temps: Vec<u8> = match upper {
            true => self.upper_temporaries(),
            false => (0..=rule.temporaries(op)).map(|i| self.temporary(i)).collect(),
        };
        temps.retain(|&temp| temp != to);
        let job = Job {
            absent: terms.absent,
            r: Place::Mem(self.x87_slot(RESULT_HIGH)),
            low: &terms.low,
            ..Job::of((rule, op), (Format::F64, 8), [&terms.high, &terms.shadows], to, &temps)
        };
        self.begin_rule(at);
        self.emit_rule(&job);
        self.end_rule(at);
    }

    /// Parts of one or two images, at these two places; leaves the instruction to the engine where there are none, or with `magic`
    /// where one may be a number that rounds the other.
    ///
    /// The first 53 bits of a significand and its last 11, each as an integer that a double is exactly, are scaled by what
    /// sign and exponent say. Nothing of that rounds.
    fn parts(&mut self, at: At<'_>, images: &[Mem], [high, low]: [u32; 2], magic: bool) {
        let [x, ends] = [0, 1].map(|i| self.temporary(i));
        self.pieces(x, ends, images);
        let (high, low) = (self.x87_slot(high), self.x87_slot(low));
        if self.has_upper() {
            self.parts_upper(at, [high, low], magic);
        } else {
            self.parts_lower(at, [high, low], magic);
        }
    }

    /// Significands in the lanes of `x`, and signs and exponents in those of `ends`: loaded in the pieces in which they were stored.
    fn pieces(&mut self, x: u8, ends: u8, images: &[Mem]) {
        self.out.hot.vector_load(x, images[0], 8);
        self.lanes(forms::XOR, [ends, ends], Place::Reg(ends));
        for (lane, &image) in images.iter().enumerate() {
            if lane > 0 {
                self.lanes(forms::LOAD_HIGH, [x, x], Place::Mem(image));
            }
            self.out.hot.vector(word(forms::INSERT_16, [ends, ends], image.plus(8), 4 * lane as u8));
        }
    }

    /// With AVX-512.
    fn parts_upper(&mut self, at: At<'_>, [high, low]: [Mem; 2], magic: bool) {
        /// Comparisons: equal, greater.
        const EQUAL: u8 = 0;
        const GREATER: u8 = 6;
        let temps = self.upper_temporaries();
        let [x, ends, scale, other] = [temps[0], temps[1], temps[2], temps[3]];
        let [strange, there, negative] = MASKS;
        let lanes = |form: Form, operands, rm| Vector::new(form, Format::F64, Length::B16, operands, rm);
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(Format::F64));
        let [minus, mask, least, most, scales, first, rest, rounds] =
            [0x8000, 0x7fff, -LEAST, MOST, OF_SCALES, !0x7ff, 0x7ff, MAGIC].map(|n| self.lanes_constant(n));
        self.out.hot.vector(lanes(forms::TEST, [there, x], Place::Reg(x)));
        self.out.hot.vector(lanes(forms::TEST, [negative, ends], minus));
        self.lanes(forms::AND, [scale, ends], mask);
        self.lanes(forms::ADD_64, [scale, scale], least);
        // A number without its first bit is beyond all others, too.
        self.lanes(forms::AND_NOT, [other, x], sign);
        self.lanes(forms::OR, [other, other], Place::Reg(scale));
        let beyond = lanes(forms::COMPARE_UNSIGNED_64, [strange, other], most);
        self.out.hot.vector(beyond.immediate(GREATER).masked(there));
        self.check_mask(at);
        if magic {
            let found = lanes(forms::COMPARE_UNSIGNED_64, [strange, scale], rounds);
            self.out.hot.vector(found.immediate(EQUAL).masked(there));
            self.check_mask(at);
        }
        self.lanes(forms::ADD_64, [scale, scale], scales);
        self.shift_lanes(scale, scale, 52);
        self.out.hot.vector(lanes(forms::XOR, [scale, scale], sign).masked(negative));
        for (bits, to) in [(first, high), (rest, low)] {
            self.lanes(forms::AND, [other, x], bits);
            let from =
                Vector::unary(forms::FROM_UNSIGNED_64, Format::F64, Length::B16, other, Place::Reg(other));
            self.out.hot.vector(from);
            let product = lanes(forms::MUL, [other, other], Place::Reg(scale));
            self.out.hot.vector(product.masked(there).zeroing());
            self.store_lanes(Place::Mem(to), other);
        }
    }

    /// Without AVX-512: halves of a significand are the last bits of 2^52 and of 2^84.
    fn parts_lower(&mut self, at: At<'_>, [high, low]: [Mem; 2], magic: bool) {
        let [x, ends, scale, zero, strange, other] = [0, 1, 2, 3, 4, 5].map(|i| self.temporary(i));
        let constants = Constants::at(self.mirror().settings.constants);
        let sign = Place::Mem(constants.sign(Format::F64));
        let [mask, least, more, above, scales, first, rest, rounds] =
            [0x7fff, -LEAST, 1023 - MOST, !0x3ff, OF_SCALES, 0xffff_f800, 0x7ff, MAGIC]
                .map(|n| self.lanes_constant(n));
        let [two_52, two_84, both] = constants.halves().map(Place::Mem);
        self.lanes(forms::EQUAL_64, [zero, x], Place::Mem(constants.zero()));
        self.lanes(forms::AND, [scale, ends], mask);
        self.lanes(forms::ADD_64, [scale, scale], least);
        // Both are in 0 … 1023 where the exponent is one of those that are told.
        self.lanes(forms::ADD_64, [strange, scale], more);
        self.lanes(forms::OR, [strange, strange], Place::Reg(scale));
        self.lanes(forms::AND, [strange, strange], above);
        self.lanes(forms::AND_NOT, [other, x], sign);
        self.lanes(forms::OR, [strange, strange], Place::Reg(other));
        if magic {
            self.lanes(forms::EQUAL_64, [other, scale], rounds);
            self.lanes(forms::OR, [strange, strange], Place::Reg(other));
        }
        self.lanes(forms::AND_NOT, [strange, zero], Place::Reg(strange));
        self.lanes(forms::ADD_64, [scale, scale], scales);
        self.shift_lanes(scale, scale, 52);
        self.shift_lanes(ends, ends, 48);
        self.lanes(forms::AND, [ends, ends], sign);
        self.lanes(forms::OR, [scale, scale], Place::Reg(ends));
        self.lanes(forms::AND_NOT, [scale, zero], Place::Reg(scale));
        self.begin_rule(at);
        self.shift_lanes(other, x, -32);
        self.lanes(forms::OR, [other, other], two_84);
        self.lanes(forms::SUB, [other, other], both);
        self.lanes(forms::AND, [ends, x], first);
        self.lanes(forms::OR, [ends, ends], two_52);
        self.lanes(forms::ADD, [other, other], Place::Reg(ends));
        self.lanes(forms::MUL, [other, other], Place::Reg(scale));
        self.store_lanes(Place::Mem(high), other);
        self.lanes(forms::AND, [x, x], rest);
        self.lanes(forms::OR, [x, x], two_52);
        self.lanes(forms::SUB, [x, x], two_52);
        self.lanes(forms::MUL, [x, x], Place::Reg(scale));
        self.store_lanes(Place::Mem(low), x);
        self.end_rule(at);
        // That overwrites the first temporary.
        self.check_register(at, strange);
    }
}

/// Digits of `fld tbyte` and `fstp tbyte`.
const LOAD: u8 = 5;
const STORE: u8 = 7;
