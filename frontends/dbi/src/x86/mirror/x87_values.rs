//! Values on the x87 stack, as the doubles that rules take them for, and the rules that do.
//!
//! What a register holds is stored as it is and loaded again, which raises no exception, and rounded to a double by integer
//! arithmetic, which touches neither MXCSR nor the guest's status. Values that no normal double stands for are left to the
//! engine, but for zeros. A result that a rule reads is that of the operands as doubles ([`Op::in_doubles`]).
//!
//! [`Op::in_doubles`]: shadowgrind_core::ops::Op::in_doubles

use super::At;
use super::arith::{MASKS, lanes_mask};
use super::encode;
use super::guard::{Source, WayOut};
use super::operand::has_memory;
use super::rounding::may_round;
use super::x87::NUMBER;
use crate::context::Context;
use crate::x86::asm::{RCX, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Constants, Job, Rest};
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use iced_x86::MemorySize;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Places of 16 bytes in [`Context::x87_values`]: two registers as they are, of which the last six bytes stay zero.
const IMAGES: [u32; 2] = [0, 1];
/// Two values as doubles.
const VALUES: u32 = 2;
/// The result as a double.
const RESULT: u32 = 3;
/// A memory operand and its shadow as doubles.
const WIDENED: u32 = 4;
/// The status word.
pub(super) const STATUS: u32 = 5;

/// With AVX-512, registers whose shadows are kept in memory while others are needed: the last of those.
const LENT: [u8; 2] = [29, 28];
/// Exponent of the least double, for the significand with its first bit; added to that of a long double.
const LEAST: i64 = -0x3c01;
/// Summand of the exponent, in place, of a significand that was converted as an integer, beside that.
const OF_SIGNIFICANDS: i64 = -1085 << 52;
/// Biased exponent of numbers that round others: 2^63 and 1.5·2^63.
const MAGIC: i64 = 0x403e;

/// An operand: a register of the stack, or the instruction's float in memory.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Stack(u8),
    Memory(Format),
}

impl Emitter {
    /// Place `n` of what is kept between steps.
    pub(super) fn x87_slot(&self, n: u32) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_X87_VALUES + 16 * n))
    }

    /// `fadd` and its kin.
    pub(super) fn x87_arithmetic(&mut self, at: At<'_>, op: Op, exchanged: bool) {
        let insn = &at.insn().decoded;
        let mut operands = if has_memory(insn) {
            let format = match insn.memory_size() {
                MemorySize::Float32 => Format::F32,
                MemorySize::Float64 => Format::F64,
                // An integer.
                _ => {
                    let cell = self.x87_cell(0).plus(NUMBER);
                    self.guard(at, &[Source::Memory(cell, 8)]);
                    return self.guest(at);
                }
            };
            [Operand::Stack(0), Operand::Memory(format)]
        } else {
            [insn.op0_register(), insn.op1_register()].map(|register| Operand::Stack(register.number() as u8))
        };
        let Operand::Stack(to) = operands[0] else { unreachable!("a result is on the stack") };
        if exchanged {
            operands.swap(0, 1);
        }
        self.x87_rule(at, op, &operands, to);
    }

    /// An operation on registers of the stack: the shadow of the result, which goes to register `to`.
    pub(super) fn x87_operation(&mut self, at: At<'_>, op: Op, registers: &[u8], to: u8) {
        let operands: Vec<Operand> = registers.iter().map(|&n| Operand::Stack(n)).collect();
        self.x87_rule(at, op, &operands, to);
    }

    fn x87_rule(&mut self, at: At<'_>, op: Op, operands: &[Operand], to: u8) {
        let insn = &at.insn().decoded;
        let rule = self.inline_rule();
        let reads_result = rule.needs_result(op);
        let is_read = |i: usize| reads_result || rule.needs_operand(op, i);
        if reads_result && primal(op).is_none() {
            return self.x87_without(at, operands);
        }
        let magic = !op.addends().is_empty() && may_round(at, Format::F80);
        let mut wanted = Vec::new();
        for (i, &operand) in operands.iter().enumerate() {
            match operand {
                Operand::Stack(n) if (is_read(i) || magic) && !wanted.contains(&n) => wanted.push(n),
                _ => {}
            }
        }
        let number = self.x87_temporaries(op);
        self.ready_mxcsr(at);
        let skip = self.x87_skip(at, operands, number);
        self.guard_empty(at, &wanted, to);
        if has_memory(insn) {
            self.x87_touch(at);
        }
        self.x87_images(&wanted);
        if magic {
            self.guard_magic_images(at, wanted.len());
        }
        if operands.iter().enumerate().any(|(i, _)| is_read(i)) && !wanted.is_empty() {
            self.x87_round(at, wanted.len());
        }
        self.x87_shadow(at, op, operands, &wanted);
        let here = self.out.hot.here();
        self.out.hot.patch(skip, here);
        self.guest(at);
        self.x87_written(to);
        let cell = self.x87_cell(to);
        self.put_x87(cell, number);
    }

    /// The shadow of the operation's result, where values of registers `known` are at hand.
    fn x87_shadow(&mut self, at: At<'_>, op: Op, operands: &[Operand], known: &[u8]) {
        let rule = self.inline_rule();
        let mut x = [Place::Reg(0); 2];
        let mut shadows = [Place::Reg(0); 2];
        let mut absent = 0;
        for (i, &operand) in operands.iter().enumerate() {
            (x[i], shadows[i]) = match operand {
                Operand::Stack(n) => {
                    let shadow = Place::Mem(self.x87_cell(n).plus(NUMBER));
                    let lane = known.iter().position(|&known| known == n);
                    (lane.map_or(shadow, |lane| self.x87_value(lane)), shadow)
                }
                Operand::Memory(format) => {
                    let is_read = rule.needs_result(op) || rule.needs_operand(op, i);
                    let (value, shadow) = self.x87_memory(at, format, is_read);
                    absent |= u8::from(shadow.is_none()) << i;
                    (value, shadow.unwrap_or(value))
                }
            };
        }
        let count = operands.len();
        self.x87_rule_code(at, op, &x[..count], &shadows[..count], absent);
    }

    /// Sets all registers aside that the rule and what is before it need, as code is to be passed over. Returns the one for
    /// the result.
    fn x87_temporaries(&mut self, op: Op) -> u8 {
        /// Temporaries of [`Self::round_by_integers`] but for the first.
        const ROUNDING: usize = 5;
        let last = if self.has_upper() { 1 } else { ROUNDING.max(self.inline_rule().temporaries(op)) };
        self.temporary(last);
        self.temporary(0)
    }

    /// Clears `number` and passes over what comes if no operand has a shadow. Then a register that may be empty is not looked at
    /// but by the guest.
    fn x87_skip(&mut self, at: At<'_>, operands: &[Operand], number: u8) -> Rel32 {
        let insn = &at.insn().decoded;
        self.lanes(forms::XOR, [number, number], Place::Reg(number));
        let mut cells: Vec<(Mem, usize)> = Vec::new();
        for operand in operands {
            let cell = match *operand {
                Operand::Stack(n) => Some((self.x87_cell(n).plus(NUMBER), 8)),
                Operand::Memory(format) => self.mirror_memory(insn).map(|mirror| (mirror, format.bytes())),
            };
            cells.extend(cell.filter(|cell| !cells.contains(cell)));
        }
        self.skip_if_zero(at, &cells)
    }

    /// Leaves the instruction to the engine if the top is read though it may be empty, and stays so: reading it would fill it.
    /// Others are filled or emptied by the guest's instruction alike, or read from a copy. Leaves another condition code, which
    /// arithmetic is free to do as well (Intel's manual, volume 1, 8.1.3.3).
    fn guard_empty(&mut self, at: At<'_>, read: &[u8], to: u8) {
        /// Bits 14 and 8 of the status word, which `fxam` sets both for an empty register only.
        const EMPTY: i64 = 0x4100;
        let pops = at.insn().decoded.fpu_stack_increment_info().increment() > 0;
        if !read.contains(&0) || to == 0 || pops || self.x87_is_full(0) {
            return;
        }
        let stub = self.leaving_stub(WayOut::OutOfLine(at.insn().pc()), true);
        let status = self.x87_slot(STATUS);
        let mask = Constants::at(self.mirror().settings.constants).integer(EMPTY);
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        // fxam
        self.out.hot.raw(&[0xd9, 0xe5]);
        self.store_x87_status();
        encode::load_rcx(&mut self.out.hot, status, 2);
        encode::extract_rcx(&mut self.out.hot, mask);
        self.out.hot.add_rcx(-3);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        // Over the jump that is over the way out.
        self.out.hot.jrcxz_over(2);
        self.out.hot.raw(&[0xeb, 5]);
        self.out.hot.jmp(stub);
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_borrowed(at.index);
    }

    /// An operation whose rule cannot be beside it: left to the engine if an operand has a shadow.
    fn x87_without(&mut self, at: At<'_>, operands: &[Operand]) {
        let on_stack = |operand: &Operand| match *operand {
            Operand::Stack(n) => Some(Source::Memory(self.x87_cell(n).plus(NUMBER), 8)),
            Operand::Memory(_) => None,
        };
        let mut sources: Vec<Source> = operands.iter().filter_map(on_stack).collect();
        sources.extend(self.memory_source(&at.insn().decoded));
        self.guard(at, &sources);
        self.guest(at);
    }

    fn x87_value(&self, lane: usize) -> Place {
        Place::Mem(self.x87_slot(VALUES).plus(8 * lane as i32))
    }

    /// Reads the guest's memory operand, so that a fault happens before anything has changed.
    fn x87_touch(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let (to, bytes) = (self.temporary(0), insn.memory_size().size() as u8);
        self.note_borrowed(at.index);
        let from = self.guest_operand(insn);
        self.out.hot.vector_load(to, from, bytes);
    }

    /// The memory operand as a double, if it `is_read`, and its shadow, if it may have one.
    fn x87_memory(&mut self, at: At<'_>, format: Format, is_read: bool) -> (Place, Option<Place>) {
        let insn = &at.insn().decoded;
        let (guest, mirror) = (self.guest_operand(insn), self.mirror_memory(insn));
        if format == Format::F64 {
            return (Place::Mem(guest), mirror.map(Place::Mem));
        }
        let number = self.temporary(0);
        let slot = self.x87_slot(WIDENED);
        let mut widened = |from: Mem, to: Mem| {
            self.x87_convert(at, Format::F32, Place::Mem(from), number);
            self.out.hot.vector_store(to, number, 8);
            Place::Mem(to)
        };
        let value = if is_read { widened(guest, slot) } else { Place::Mem(slot) };
        (value, mirror.map(|mirror| widened(mirror, slot.plus(8))))
    }

    /// Stores registers of the stack as they are, by instructions that leave exceptions alone: the top is stored and loaded
    /// again, and while it is not there, another is copied to where it was.
    fn x87_images(&mut self, registers: &[u8]) {
        if registers.is_empty() {
            return;
        }
        let [load, store] = [5, 7];
        let place = |n| registers.iter().position(|&register| register == n).map(|i| IMAGES[i]);
        let kept = self.x87_slot(place(0).unwrap_or(RESULT));
        self.x87_tbyte(store, kept);
        if let Some((&n, image)) = registers.iter().zip(IMAGES).find(|&(&n, _)| n != 0) {
            // fld st(n - 1)
            self.out.hot.raw(&[0xd9, 0xc0 + n - 1]);
            let image = self.x87_slot(image);
            self.x87_tbyte(store, image);
        }
        self.x87_tbyte(load, kept);
    }

    /// `fld tbyte`, digit 5, or `fstp tbyte`, 7.
    fn x87_tbyte(&mut self, digit: u8, mem: Mem) {
        self.out.hot.raw(&[0xdb]);
        self.out.hot.operand(digit, Place::Mem(mem), 1, 0);
    }

    /// An integer operation on two lanes.
    fn lanes(&mut self, form: Form, [to, first]: [u8; 2], second: Place) {
        self.out.hot.vector(Vector::new(form, Format::F64, Length::B16, [to, first], second));
    }

    /// A shift of two lanes, by `bits` to the left, or right where that is negative.
    fn shift_lanes(&mut self, to: u8, from: u8, bits: i8) {
        let digit = if bits > 0 { 6 } else { 2 };
        let shift = Vector::new(forms::SHIFT_64, Format::F64, Length::B16, [digit, to], Place::Reg(from));
        self.out.hot.vector(shift.immediate(bits.unsigned_abs()));
    }

    fn lanes_constant(&mut self, n: i64) -> Place {
        Place::Mem(Constants::at(self.mirror().settings.constants).integer(n))
    }

    /// Signs and exponents of `count` images, in the lanes of `to`.
    fn image_exponents(&mut self, to: u8, count: usize) {
        self.lanes(forms::XOR, [to, to], Place::Reg(to));
        for (slot, word) in IMAGES.into_iter().take(count).zip([0, 4]) {
            let from = Place::Mem(self.x87_slot(slot).plus(8));
            let insert = Vector::new(forms::INSERT_16, Format::F16, Length::B16, [to, to], from);
            self.out.hot.vector(insert.immediate(word));
        }
    }

    /// Significands of `count` images, in the lanes of `to`.
    fn image_significands(&mut self, to: u8, count: usize) {
        let [first, second] = IMAGES.map(|slot| self.x87_slot(slot));
        self.out.hot.vector_load(to, first, 8);
        if count > 1 {
            self.lanes(forms::LOAD_HIGH, [to, to], Place::Mem(second));
        }
    }

    /// Leaves the instruction to the engine if one of the images may be a number that rounds the other term.
    fn guard_magic_images(&mut self, at: At<'_>, count: usize) {
        let (x, found) = (self.temporary(0), self.temporary(1));
        let [mask, magic, minus_one] = [0x7fff, MAGIC, -1].map(|n| self.lanes_constant(n));
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(Format::F64));
        self.image_exponents(x, count);
        self.lanes(forms::AND, [x, x], mask);
        self.lanes(forms::XOR, [x, x], magic);
        self.lanes(forms::ADD_64, [x, x], minus_one);
        self.lanes(forms::AND, [found, x], sign);
        self.guard_register(at, found);
    }

    /// Rounds `count` images to doubles, to the nearest and then even, as the values; leaves the instruction to the engine where
    /// that is not what rounding makes of them.
    fn x87_round(&mut self, at: At<'_>, count: usize) {
        let strange = if self.has_upper() { self.round_upper(count) } else { self.round_by_integers(count) };
        self.guard_register(at, strange);
    }

    /// With AVX-512: the values of `count` images. Returns the register that has a bit where one is none.
    ///
    /// A significand is converted as an integer of 64 bits, which has the exponent 1086 as a double if it is not zero; the
    /// difference to that of the image is added.
    fn round_upper(&mut self, count: usize) -> u8 {
        /// (A | B) & C.
        const WITHIN: u8 = 0xa8;
        /// A | (B & C).
        const SIGNED: u8 = 0xf8;
        let (x, ends, [e, strange]) = (self.temporary(0), self.temporary(1), LENT);
        let lent = [self.aside(0), self.aside(1)];
        let values = Place::Mem(self.x87_slot(VALUES));
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(Format::F64));
        let [two, above, mask, least, rest] =
            [2, !0x7ff, 0x7fff, LEAST, OF_SIGNIFICANDS].map(|n| self.lanes_constant(n));
        let lanes = |form, operands, rm| Vector::new(form, Format::F64, Length::B16, operands, rm);
        LENT.into_iter().zip(lent).for_each(|(lent, mem)| self.out.hot.vector_store(mem, lent, 64));
        self.image_significands(x, count);
        self.out.hot.vector(lanes(forms::TEST, [MASKS[0], x], Place::Reg(x)));
        let convert = Vector::unary(forms::FROM_UNSIGNED_64, Format::F64, Length::B64, x, Place::Reg(x));
        self.out.hot.vector(convert.nearest());
        self.image_exponents(ends, count);
        self.lanes(forms::AND, [e, ends], mask);
        self.lanes(forms::ADD_64, [e, e], least);
        self.lanes(forms::ADD_64, [strange, e], two);
        self.out.hot.vector(lanes(forms::TERNARY, [strange, e], above).immediate(WITHIN));
        self.shift_lanes(e, e, 52);
        for term in [Place::Reg(e), rest] {
            self.out.hot.vector(lanes(forms::ADD_64, [x, x], term).masked(MASKS[0]));
        }
        self.shift_lanes(ends, ends, 48);
        self.out.hot.vector(lanes(forms::TERNARY, [x, ends], sign).immediate(SIGNED));
        self.store_lanes(values, x);
        let kept = lanes(forms::MOVE, [ends, 0], Place::Reg(strange));
        self.out.hot.vector(kept.masked(MASKS[0]).zeroing());
        LENT.into_iter().zip(lent).for_each(|(lent, mem)| self.out.hot.vector_load(lent, mem, 64));
        ends
    }

    /// Without AVX-512: the values of `count` images, rounded by integer arithmetic. Returns likewise.
    fn round_by_integers(&mut self, count: usize) -> u8 {
        let [y, x, z, e, strange] = [0, 1, 2, 3, 4].map(|i| self.temporary(i));
        let values = Place::Mem(self.x87_slot(VALUES));
        let constants = Constants::at(self.mirror().settings.constants);
        let [one, two, half, above, mask, least] =
            [1, 2, 0x1ff, !0x7ff, 0x7fff, LEAST].map(|n| self.lanes_constant(n));
        // e and e + 2 are both in 0 … 2047 where e + 1 is the exponent of a normal number.
        self.image_exponents(y, count);
        self.lanes(forms::AND, [e, y], mask);
        self.lanes(forms::ADD_64, [e, e], least);
        self.lanes(forms::ADD_64, [strange, e], two);
        self.lanes(forms::OR, [strange, strange], Place::Reg(e));
        self.lanes(forms::AND, [strange, strange], above);
        self.shift_lanes(e, e, 52);
        self.shift_lanes(y, y, 48);
        self.lanes(forms::AND, [y, y], Place::Mem(constants.sign(Format::F64)));
        // Zeros.
        self.image_significands(x, count);
        self.lanes(forms::EQUAL_64, [z, x], Place::Mem(constants.zero()));
        self.lanes(forms::AND_NOT, [strange, z], Place::Reg(strange));
        // Half of the significand, with what is shifted out sticking to it, so that a carry has room.
        let sticky = self.temporary(5);
        self.lanes(forms::AND, [sticky, x], one);
        self.shift_lanes(x, x, -1);
        self.lanes(forms::OR, [x, x], Place::Reg(sticky));
        self.shift_lanes(sticky, x, -10);
        self.lanes(forms::AND, [sticky, sticky], one);
        self.lanes(forms::ADD_64, [x, x], Place::Reg(sticky));
        self.lanes(forms::ADD_64, [x, x], half);
        self.shift_lanes(x, x, -10);
        self.lanes(forms::ADD_64, [x, x], Place::Reg(e));
        self.lanes(forms::AND_NOT, [x, z], Place::Reg(x));
        self.lanes(forms::OR, [x, x], Place::Reg(y));
        self.store_lanes(values, x);
        strange
    }

    fn store_lanes(&mut self, to: Place, from: u8) {
        if let Place::Mem(mem) = to {
            self.out.hot.vector_store(mem, from, 16);
        }
    }

    /// The rule's code: the shadow of the result, in the first temporary.
    fn x87_rule_code(&mut self, at: At<'_>, op: Op, x: &[Place], shadows: &[Place], absent: u8) {
        let (rule, upper) = (self.inline_rule(), self.has_upper());
        let to = self.temporary(0);
        let lent = self.aside(0);
        let temps: Vec<u8> = if upper {
            self.out.hot.vector_store(lent, LENT[0], 64);
            vec![self.temporary(1), LENT[0]]
        } else {
            (1..=rule.temporaries(op)).map(|i| self.temporary(i)).collect()
        };
        self.begin_rule(at);
        let r = Place::Mem(self.x87_slot(RESULT));
        if rule.needs_result(op) {
            self.x87_result(op, x, r, to, temps[0]);
        }
        let spill: Vec<Mem> = if upper { (2..6).map(|n| self.aside(n)).collect() } else { Vec::new() };
        let job = Job {
            rule,
            op,
            format: Format::F64,
            width: 8,
            x,
            shadows,
            absent,
            r,
            to,
            rest: Rest::Zero,
            temps: &temps,
            masks: if upper { &MASKS } else { &[] },
            lanes: if upper { lanes_mask(1) } else { None },
            spill: &spill,
        };
        let (binding, constants) = (self.binding(), Constants::at(self.mirror().settings.constants));
        rules::emit(&mut self.out.hot, binding, &job, &constants);
        self.end_rule(at);
        if upper {
            self.out.hot.vector_load(LENT[0], lent, 64);
        }
    }

    /// The result of the operands as doubles, at `r`.
    fn x87_result(&mut self, op: Op, x: &[Place], r: Place, first: u8, second: u8) {
        let form = primal(op).expect("an operation whose result is computed");
        let upper = self.has_upper();
        for (&x, register) in x.iter().zip([first, second]) {
            if let Place::Mem(mem) = x {
                self.out.hot.vector_load(register, mem, 8);
            }
        }
        let last = if x.len() > 1 { second } else { first };
        let operation = Vector::new(form, Format::F64, Length::Scalar, [first, first], Place::Reg(last));
        self.out.hot.vector(if upper { operation.nearest() } else { operation });
        if let Place::Mem(mem) = r {
            self.out.hot.vector_store(mem, first, 8);
        }
    }
}

/// The instruction that computes an operation on doubles, of those whose rule may read the result.
fn primal(op: Op) -> Option<Form> {
    match op {
        Op::Div => Some(forms::DIV),
        Op::Sqrt => Some(forms::SQRT),
        _ => None,
    }
}
