//! Values on the x87 stack, as the doubles that rules take them for, and the rules that do.
//!
//! What a register holds is stored as it is and loaded again, which raises no exception, and rounded to a double by integer
//! arithmetic or under the rules' MXCSR, which does not touch the guest's status. Values that no normal double stands for are left to the
//! engine, but for zeros. A result that a rule reads is that of the operands as doubles ([`Op::in_doubles`]).
//!
//! [`Op::in_doubles`]: shadowgrind_core::ops::Op::in_doubles

use super::At;
use super::check::{SideExit, Source};
use super::encode;
use super::operand::has_memory;
use super::rounding::may_round;
use super::x87_stack::{NUMBER, STATUS, word};
use crate::context::Context;
use crate::x86::asm::{RCX, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::rules::{Constants, Job};
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use iced_x86::MemorySize;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Places of 16 bytes in [`Context::x87_values`]: two registers as they are, of which the last six bytes stay zero.
pub(super) const IMAGES: [u32; 2] = [0, 1];
/// Two values as doubles.
pub(super) const VALUES: u32 = 2;
/// The result as a double.
pub(super) const RESULT: u32 = 3;
/// A memory operand and its shadow as doubles.
const WIDENED: u32 = 4;

/// With AVX-512, the register whose shadow is kept in memory while others are needed: the last of those.
const LENT: u8 = 29;
/// Word of 16 bytes that sign and exponent of an image are in.
const END: u8 = 4;
/// An operand: a register of the stack, or the instruction's float or integer of four bytes in memory.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Operand {
    Stack(u8),
    Memory(Format),
    Integer,
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
            let operand = match insn.memory_size() {
                MemorySize::Float32 => Operand::Memory(Format::F32),
                MemorySize::Float64 => Operand::Memory(Format::F64),
                _ if self.mirror().settings.policy.is_born => return self.out_of_line(at),
                MemorySize::Int32 => Operand::Integer,
                _ => {
                    let cell = self.x87_cell(0).plus(NUMBER);
                    self.check(at, &[Source::Memory(cell, 8)]);
                    return self.guest(at);
                }
            };
            [Operand::Stack(0), operand]
        } else {
            [insn.op0_register(), insn.op1_register()].map(|register| Operand::Stack(register.number() as u8))
        };
        let Operand::Stack(to) = operands[0] else { unreachable!("a result is on the stack") };
        if exchanged {
            operands.swap(0, 1);
        }
        if self.is_in_parts(op) {
            return self.x87_in_parts(at, op, &operands, to);
        }
        self.x87_rule(at, op, &operands, to);
    }

    /// An operation on registers of the stack: the shadow of the result, which goes to register `to`.
    pub(super) fn x87_operation(&mut self, at: At<'_>, op: Op, registers: &[u8], to: u8) {
        let operands: Vec<Operand> = registers.iter().map(|&n| Operand::Stack(n)).collect();
        if self.is_in_parts(op) {
            return self.x87_in_parts(at, op, &operands, to);
        }
        self.x87_rule(at, op, &operands, to);
    }

    /// Tells whether the rule takes operands and result with all their digits.
    pub(super) fn is_in_parts(&mut self, op: Op) -> bool {
        self.mirror().settings.policy.is_born && self.inline_rule().in_parts().is_arithmetic(op)
    }

    fn x87_rule(&mut self, at: At<'_>, op: Op, operands: &[Operand], to: u8) {
        if self.mirror().settings.appends {
            return self.x87_append(at, op, operands, to);
        }
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
        self.check_empty(at, &wanted, to);
        if has_memory(insn) {
            self.x87_touch(at);
        }
        let values = self.x87_values(at, &wanted, magic);
        self.x87_shadow(at, op, operands, &values);
        let here = self.out.hot.here();
        self.out.hot.patch(skip, here);
        self.guest(at);
        self.x87_written(to, None);
        let cell = self.x87_cell(to);
        self.put_x87(cell, number);
    }

    /// Registers of `wanted`, with places where their values are as doubles; with `magic`, leaves the instruction to the engine if
    /// one is a number that rounds the other term, and that may be all that it is wanted for.
    fn x87_values(&mut self, at: At<'_>, wanted: &[u8], magic: bool) -> Vec<(u8, Place)> {
        let mut values = Vec::new();
        let (mut images, mut stored) = (Vec::new(), Vec::new());
        for &n in wanted {
            match self.x87_known(n) {
                Some(known) if known.double && !magic => values.push((n, Place::Mem(self.x87_kept(known)))),
                Some(known) if !known.double => images.push((n, self.x87_kept(known))),
                _ => {
                    let image = self.x87_slot(IMAGES[stored.len()]);
                    stored.push((n, image));
                    images.push((n, image));
                }
            }
        }
        self.x87_images(&stored);
        let images_alone: Vec<Mem> = images.iter().map(|&(_, image)| image).collect();
        if magic {
            self.check_magic_images(at, &images_alone);
        } else if !images.is_empty() {
            self.x87_round(at, &images_alone);
        }
        values.extend(images.iter().enumerate().map(|(lane, &(n, _))| (n, self.x87_value(lane))));
        values
    }

    /// The shadow of the operation's result, where values of registers are in places `known`.
    fn x87_shadow(&mut self, at: At<'_>, op: Op, operands: &[Operand], known: &[(u8, Place)]) {
        let rule = self.inline_rule();
        let mut x = [Place::Reg(0); 2];
        let mut shadows = [Place::Reg(0); 2];
        let mut absent = 0;
        for (i, &operand) in operands.iter().enumerate() {
            (x[i], shadows[i]) = match operand {
                Operand::Stack(n) => {
                    let shadow = Place::Mem(self.x87_cell(n).plus(NUMBER));
                    let value = known.iter().find(|&&(known, _)| known == n);
                    (value.map_or(shadow, |&(_, value)| value), shadow)
                }
                Operand::Memory(format) => {
                    let is_read = rule.needs_result(op) || rule.needs_operand(op, i);
                    let (value, shadow) = self.x87_memory(at, format, is_read);
                    absent |= u8::from(shadow.is_none()) << i;
                    (value, shadow.unwrap_or(value))
                }
                Operand::Integer => {
                    absent |= 1 << i;
                    let value = self.x87_integer(at);
                    (value, value)
                }
            };
        }
        let count = operands.len();
        self.x87_rule_code(at, op, &x[..count], &shadows[..count], absent);
    }

    /// Spills all registers that the rule and what is before it need, as code is to be passed over. Returns the one for
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
    pub(super) fn x87_skip(&mut self, at: At<'_>, operands: &[Operand], number: u8) -> Rel32 {
        let insn = &at.insn().decoded;
        self.lanes(forms::XOR, [number, number], Place::Reg(number));
        let mut cells: Vec<(Mem, usize)> = Vec::new();
        for operand in operands {
            let cell = match *operand {
                Operand::Stack(n) => Some((self.x87_cell(n).plus(NUMBER), 8)),
                Operand::Memory(format) => self.mirror_memory(insn).map(|mirror| (mirror, format.bytes())),
                Operand::Integer => None,
            };
            cells.extend(cell.filter(|cell| !cells.contains(cell)));
        }
        self.skip_if_zero(at, &cells)
    }

    /// Leaves the instruction to the engine if the top is read though it may be empty, and stays so: reading it would fill it.
    /// Others are filled or emptied by the guest's instruction alike, or read from a copy. Leaves another condition code, which
    /// arithmetic is free to do as well (Intel's manual, volume 1, 8.1.3.3).
    pub(super) fn check_empty(&mut self, at: At<'_>, read: &[u8], to: u8) {
        let pops = at.insn().decoded.fpu_stack_increment_info().increment() > 0;
        if read.contains(&0) && to != 0 && !pops && !self.x87_is_full(0) {
            self.exit_if_empty(at);
        }
    }

    /// Leaves the instruction to the engine if the top is empty. Leaves another condition code.
    pub(super) fn exit_if_empty(&mut self, at: At<'_>) {
        /// Bits 14 and 8 of the status word, which `fxam` sets both for an empty register only.
        const EMPTY: i64 = 0x4100;
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
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
        let empty = self.out.hot.jump_if_rcx_is_zero();
        self.out.hot.patch(empty, stub);
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
    }

    /// An operation whose rule cannot be beside it: left to the engine if an operand has a shadow.
    fn x87_without(&mut self, at: At<'_>, operands: &[Operand]) {
        let on_stack = |operand: &Operand| match *operand {
            Operand::Stack(n) => Some(Source::Memory(self.x87_cell(n).plus(NUMBER), 8)),
            Operand::Memory(_) | Operand::Integer => None,
        };
        let mut sources: Vec<Source> = operands.iter().filter_map(on_stack).collect();
        sources.extend(self.memory_source(&at.insn().decoded));
        self.check(at, &sources);
        self.guest(at);
    }

    fn x87_value(&self, lane: usize) -> Place {
        Place::Mem(self.x87_slot(VALUES).plus(8 * lane as i32))
    }

    /// Reads the guest's memory operand, so that a fault happens before anything has changed.
    pub(super) fn x87_touch(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let (to, bytes) = (self.temporary(0), insn.memory_size().size() as u8);
        self.note_spilled(at.index);
        let from = self.guest_operand(insn);
        self.out.hot.vector_load(to, from, bytes);
    }

    /// The memory operand as a double, if it `is_read`, and its shadow, if it may have one.
    pub(super) fn x87_memory(&mut self, at: At<'_>, format: Format, is_read: bool) -> (Place, Option<Place>) {
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

    /// The integer of four bytes in memory, as a double.
    pub(super) fn x87_integer(&mut self, at: At<'_>) -> Place {
        let (from, slot) = (self.guest_operand(&at.insn().decoded), self.x87_slot(WIDENED));
        let number = self.temporary(0);
        let (form, value) = (forms::DOUBLE_OF_INTEGER_32, Place::Reg(number));
        let hot = &mut self.out.hot;
        hot.vector_load(number, from, 4);
        hot.vector(Vector::unary(form, Format::F64, Length::B16, number, value));
        hot.vector_store(slot, number, 8);
        Place::Mem(slot)
    }

    /// Stores registers of the stack as they are, and six bytes of zero, by instructions that leave exceptions alone: the top is
    /// stored and loaded again, and while it is not there, another is copied to where it was.
    pub(super) fn x87_images(&mut self, registers: &[(u8, Mem)]) {
        if registers.is_empty() {
            return;
        }
        let [load, store] = [5, 7];
        let top = registers.iter().find(|&&(n, _)| n == 0);
        let kept = top.map_or(self.x87_slot(RESULT), |&(_, image)| image);
        self.x87_tbyte(store, kept);
        if let Some(&(n, image)) = registers.iter().find(|&&(n, _)| n != 0) {
            // fld st(n - 1)
            self.out.hot.raw(&[0xd9, 0xc0 + n - 1]);
            self.x87_tbyte(store, image);
        }
        self.x87_tbyte(load, kept);
        // As it is loaded: a processor waits for what was stored in pieces.
        let value = self.temporary(0);
        for &(_, image) in registers {
            let hot = &mut self.out.hot;
            hot.vector_load(value, image, 8);
            hot.vector(word(forms::INSERT_16, [value, value], image.plus(8), END));
            hot.vector_store(image, value, 16);
        }
    }

    /// `fld tbyte`, digit 5, or `fstp tbyte`, 7.
    pub(super) fn x87_tbyte(&mut self, digit: u8, mem: Mem) {
        self.out.hot.raw(&[0xdb]);
        self.out.hot.operand(digit, Place::Mem(mem), 1, 0);
    }

    /// The rule's code: the shadow of the result, in the first temporary.
    fn x87_rule_code(&mut self, at: At<'_>, op: Op, x: &[Place], shadows: &[Place], absent: u8) {
        let (rule, upper) = (self.inline_rule(), self.has_upper());
        let to = self.temporary(0);
        let lent = self.spill_slot(0);
        let temps: Vec<u8> = if upper {
            self.out.hot.vector_store(lent, LENT, 64);
            vec![self.temporary(1), LENT]
        } else {
            (1..=rule.temporaries(op)).map(|i| self.temporary(i)).collect()
        };
        self.begin_rule(at);
        let r = Place::Mem(self.x87_slot(RESULT));
        if rule.needs_result(op) {
            self.x87_result(op, x, r, to, temps[0]);
        }
        let job = Job::of((rule, op), (Format::F64, 8), [x, shadows], to, &temps);
        self.emit_rule(&Job { absent, r, ..job });
        self.end_rule(at);
        if upper {
            self.out.hot.vector_load(LENT, lent, 64);
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
