//! x87 where operations are recorded: floats on the stack are written down as they are.
//!
//! A register is stored by popping it, and loaded again; another one is copied to the place that the top has left, as no other is
//! known to be free. A result is computed twice, before the guest's own instruction, from which condition code and stack are
//! then: twice the same exceptions are the same as once. Cells of ten bytes hold a handle in their first eight. What takes more than
//! arithmetic is left to the engine. Knows no shadow.

use super::At;
use super::check::Source;
use super::descriptor::{FRESH, RecordDescriptor, What};
use super::encode;
use super::operand::has_memory;
use super::record::in_record;
use super::rounding::recorded_sums;
use super::x87_compare::to_flags;
use super::x87_stack::register;
use crate::x86::asm::Gpr;
use crate::x86::emit::Emitter;
use crate::x86::table::X87;
use crate::x86::vector::Mem;
use iced_x86::{Instruction, MemorySize};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::Predicate;

/// Bytes of a handle beside what is in a register of the stack.
const HANDLE: u8 = 8;
/// Opcode of `fld tbyte`, digit 5, and `fstp tbyte`, 7.
const WHOLE: u8 = 0xdb;

/// An operand: a register of the stack, the instruction's memory or zero.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand {
    Stack(u8),
    Memory,
    Zero,
}

/// Number in memory as x87 takes it: the opcodes that load it and compute with it, and its format if it is a float.
#[derive(Clone, Copy, Debug)]
struct InMemory {
    load: u8,
    compute: u8,
    format: Option<Format>,
}

impl InMemory {
    fn of(insn: &Instruction) -> Option<InMemory> {
        let (load, compute, format) = match insn.memory_size() {
            MemorySize::Float32 => (0xd9, 0xd8, Some(Format::F32)),
            MemorySize::Float64 => (0xdd, 0xdc, Some(Format::F64)),
            MemorySize::Int32 => (0xdb, 0xda, None),
            _ => return None,
        };
        Some(InMemory { load, compute, format })
    }
}

/// Tells whether an instruction is recorded, or moves floats as they are.
fn is_followed(insn: &Instruction, row: X87, compares: bool) -> bool {
    let reads = !has_memory(insn) || InMemory::of(insn).is_some();
    match row {
        X87::Load | X87::Store => reads || insn.memory_size() == MemorySize::Float80,
        X87::Arith(..) => reads,
        X87::Compare | X87::CompareZero => reads && compares,
        X87::Unary(op) => matches!(op, Op::Abs | Op::Neg | Op::Sqrt),
        X87::LoadExact | X87::Exchange | X87::ConditionalMove(_) | X87::Free => true,
        _ => false,
    }
}

impl Emitter {
    /// An instruction that reads or writes floats.
    pub(super) fn x87_recorded(&mut self, at: At<'_>, row: X87) {
        let insn = &at.insn().decoded;
        let compares = self.mirror().settings.policy.comparisons;
        if !is_followed(insn, row, compares) {
            return self.out_of_line(at);
        }
        self.find_top(at);
        self.mirror().carries = true;
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        match row {
            X87::Load if has_memory(insn) => return self.record_load(at),
            X87::Store if has_memory(insn) => return self.record_store(at),
            X87::Arith(op, exchanged) => {
                let mut operands = self.x87_operands(insn);
                let to = if has_memory(insn) { 0 } else { register(insn.op0_register()) };
                if exchanged {
                    operands.swap(0, 1);
                }
                return self.record_x87(at, What::Op(op), &operands, Some(to));
            }
            X87::Unary(op) => return self.record_x87(at, What::Op(op), &[Operand::Stack(0)], Some(0)),
            X87::Compare => {
                let operands = self.x87_operands(insn);
                return self.record_x87(at, What::Compare(Predicate::ORDER), &operands, None);
            }
            X87::CompareZero => {
                let operands = [Operand::Stack(0), Operand::Zero];
                return self.record_x87(at, What::Compare(Predicate::ORDER), &operands, None);
            }
            _ => self.x87_beside(at, row),
        }
        self.end_x87(at, None);
    }

    /// The two operands of an instruction on the stack, as it names them.
    fn x87_operands(&self, insn: &Instruction) -> [Operand; 2] {
        match insn.op_count() {
            _ if has_memory(insn) => [Operand::Stack(0), Operand::Memory],
            0 => [Operand::Stack(0), Operand::Stack(1)],
            1 => [Operand::Stack(0), Operand::Stack(register(insn.op0_register()))],
            _ => [insn.op0_register(), insn.op1_register()].map(|name| Operand::Stack(register(name))),
        }
    }

    /// After an instruction: what it has popped has no shadow, and a record, which `pointer` points to, is complete.
    fn end_x87(&mut self, at: At<'_>, pointer: Option<Gpr>) {
        self.x87_popped(at);
        self.follow_top(at);
        if let Some(pointer) = pointer {
            self.advance(at, pointer);
        }
        self.close_operand();
    }

    /// Description of an operation on floats of ten bytes.
    fn x87_described(&self, at: At<'_>, what: What, operands: usize, to: Format) -> RecordDescriptor {
        RecordDescriptor {
            sums: recorded_sums(at, to),
            ..RecordDescriptor::new(at.insn().pc(), what, operands as u8, [Format::F80, to])
        }
    }

    /// Loads a float from memory.
    fn record_load(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let cell = self.x87_cell(7);
        let Some(mirror) = self.mirror_memory(insn) else {
            self.guest(at);
            self.x87_written(7, None);
            self.clear_x87(cell);
            return self.end_x87(at, None);
        };
        let narrow = InMemory::of(insn).and_then(|number| number.format);
        let (handle, value) = (self.temporary(0), self.temporary(1));
        let Some(format) = narrow else {
            self.check(at, &[Source::Memory(mirror.plus(HANDLE.into()), 2)]);
            self.guest(at);
            self.x87_written(7, None);
            self.out.hot.vector_load(handle, mirror, HANDLE);
            self.put_x87(cell, handle);
            return self.end_x87(at, None);
        };
        let bytes = format.bytes() as u8;
        self.guest(at);
        self.x87_written(7, None);
        self.out.hot.vector_load(handle, mirror, bytes);
        self.put_x87(cell, handle);
        // Without a shadow it has none in the other format.
        let skip = self.skip_if_zero(at, &[(cell, HANDLE.into())]);
        let recorded =
            RecordDescriptor { from: format, ..self.x87_described(at, What::Widen, 1, Format::F80) };
        let pointer = self.begin_record(at, recorded);
        let guest = self.guest_operand(insn);
        let hot = &mut self.out.hot;
        hot.vector_load(value, guest, bytes);
        hot.vector_store(in_record(pointer, recorded.operand(0)), value, bytes);
        hot.vector_store(in_record(pointer, recorded.handles(0)), handle, HANDLE);
        hot.vector_load(handle, in_record(pointer, FRESH), HANDLE);
        self.put_x87(cell, handle);
        self.follow_top(at);
        self.advance(at, pointer);
        let here = self.out.hot.here();
        self.out.hot.patch(skip, here);
        self.close_operand();
    }

    /// Stores the top to memory.
    fn record_store(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let mirror = self.mirror_memory(insn);
        let (handle, cell) = (self.temporary(0), self.x87_cell(0));
        let Some(format) = InMemory::of(insn).and_then(|number| number.format) else {
            self.guest(at);
            if let Some(mirror) = mirror {
                self.out.hot.vector_load(handle, cell, HANDLE);
                self.put_x87(mirror, handle);
            }
            return self.end_x87(at, None);
        };
        let bytes = format.bytes() as u8;
        if self.may_be_empty(at) {
            return self.out_of_line(at);
        }
        let recorded = self.x87_described(at, What::Op(Op::Narrow), 1, format);
        let pointer = self.begin_record(at, recorded);
        self.write_images(at, &[Operand::Stack(0)], pointer, &recorded);
        self.write_handles(at, &[Operand::Stack(0)], pointer, &recorded);
        let spilled = self.spilled(Some(pointer));
        self.instruction(at.index, at.insn());
        self.note(at.index, spilled);
        let guest = self.guest_operand(insn);
        let hot = &mut self.out.hot;
        hot.vector_load(handle, guest, bytes);
        hot.vector_store(in_record(pointer, recorded.result()), handle, bytes);
        if let Some(mirror) = mirror {
            hot.vector_load(handle, in_record(pointer, FRESH), bytes);
            hot.vector_store(mirror, handle, bytes);
        }
        self.end_x87(at, Some(pointer));
    }

    /// Tells whether the top may be empty, and stays so: reading it would fill it, and asking changes the condition code.
    fn may_be_empty(&mut self, at: At<'_>) -> bool {
        let pops = at.insn().decoded.fpu_stack_increment_info().increment() > 0;
        !pops && !self.x87_is_full(0)
    }

    /// An operation or a comparison on the stack; the result goes to the register `to` below the top as it was before.
    fn record_x87(&mut self, at: At<'_>, what: What, operands: &[Operand], to: Option<u8>) {
        let insn = &at.insn().decoded;
        let number = InMemory::of(insn);
        let narrow = operands.iter().position(|&operand| operand == Operand::Memory);
        let narrow = narrow.and_then(|n| Some((n as u8, number?.format?)));
        if has_memory(insn) && narrow.is_none() {
            // An integer, unless it is a float that is moved as one.
            let sources: Vec<Source> = self.memory_source(insn).into_iter().collect();
            self.check(at, &sources);
        }
        let asks = to.is_none() && to_flags(insn) && !self.x87_is_full(0);
        if asks || to != Some(0) && self.may_be_empty(at) {
            return self.out_of_line(at);
        }
        if to.is_none() {
            self.check_popped(at);
        }
        // Nothing is spilled while something else is spilled.
        let handle = self.temporary(0);
        if has_memory(insn) {
            self.x87_touch(at);
        }
        let recorded =
            RecordDescriptor { narrow, ..self.x87_described(at, what, operands.len(), Format::F80) };
        let pointer = self.begin_record(at, recorded);
        self.write_images(at, operands, pointer, &recorded);
        if let What::Op(op) = what {
            self.write_result(at, (op, operands), pointer, &recorded);
        }
        self.write_handles(at, operands, pointer, &recorded);
        let spilled = self.spilled(Some(pointer));
        self.instruction(at.index, at.insn());
        self.note(at.index, spilled);
        if let Some(to) = to {
            self.x87_written(to, None);
            self.out.hot.vector_load(handle, in_record(pointer, FRESH), HANDLE);
            let cell = self.x87_cell(to);
            self.put_x87(cell, handle);
        }
        self.end_x87(at, Some(pointer));
    }

    /// Writes down operands, of which the top is one, as floats of ten bytes.
    fn write_images(&mut self, at: At<'_>, operands: &[Operand], pointer: Gpr, recorded: &RecordDescriptor) {
        let insn = &at.insn().decoded;
        let place = |n: usize| in_record(pointer, recorded.operand(n as u64));
        let top = operands.iter().position(|&operand| operand == Operand::Stack(0)).expect("the top");
        self.store_image(place(top));
        for (n, &operand) in operands.iter().enumerate().filter(|&(n, _)| n != top) {
            match operand {
                Operand::Stack(0) => self.load_image(place(top)),
                // fld st(i - 1): the top is where it will be again.
                Operand::Stack(i) => self.out.hot.raw(&[0xd9, 0xc0 + i - 1]),
                Operand::Memory => {
                    let number = InMemory::of(insn).expect("a number that x87 loads");
                    let guest = self.guest_operand(insn);
                    encode::x87(&mut self.out.hot, number.load, 0, guest);
                }
                // fldz
                Operand::Zero => self.out.hot.raw(&[0xd9, 0xee]),
            }
            self.store_image(place(n));
        }
        self.load_image(place(top));
    }

    /// Writes down the result, computed with the top as it is after [`Self::write_images`], and loads that once more.
    fn write_result(
        &mut self,
        at: At<'_>,
        (op, operands): (Op, &[Operand]),
        pointer: Gpr,
        recorded: &RecordDescriptor,
    ) {
        let insn = &at.insn().decoded;
        let top = operands.iter().position(|&operand| operand == Operand::Stack(0)).expect("the top");
        let other = operands.iter().enumerate().find(|&(n, _)| n != top).map(|(_, &operand)| operand);
        let digit = match op {
            Op::Add => 0,
            Op::Mul => 1,
            Op::Sub => 4 + top as u8,
            _ => 6 + top as u8,
        };
        match (op, other) {
            (_, Some(Operand::Stack(n))) => self.out.hot.raw(&[0xd8, 0xc0 + 8 * digit + n]),
            (_, Some(Operand::Memory)) => {
                let number = InMemory::of(insn).expect("a number that x87 computes with");
                let guest = self.guest_operand(insn);
                encode::x87(&mut self.out.hot, number.compute, digit, guest);
            }
            // fchs, fabs, fsqrt
            (Op::Neg, _) => self.out.hot.raw(&[0xd9, 0xe0]),
            (Op::Abs, _) => self.out.hot.raw(&[0xd9, 0xe1]),
            _ => self.out.hot.raw(&[0xd9, 0xfa]),
        }
        self.store_image(in_record(pointer, recorded.result()));
        self.load_image(in_record(pointer, recorded.operand(top as u64)));
    }

    /// Writes down the handles of operands.
    fn write_handles(&mut self, at: At<'_>, operands: &[Operand], pointer: Gpr, recorded: &RecordDescriptor) {
        let insn = &at.insn().decoded;
        let handle = self.temporary(0);
        for (n, &operand) in operands.iter().enumerate() {
            let float = InMemory::of(insn).and_then(|number| number.format);
            let from = match operand {
                Operand::Stack(i) => Some((self.x87_cell(i), HANDLE)),
                Operand::Memory => {
                    float.and_then(|format| Some((self.mirror_memory(insn)?, format.bytes() as u8)))
                }
                Operand::Zero => None,
            };
            match from {
                Some((mem, bytes)) => self.out.hot.vector_load(handle, mem, bytes),
                None => self.zero(handle),
            }
            self.out.hot.vector_store(in_record(pointer, recorded.handles(n as u64)), handle, HANDLE);
        }
    }

    fn store_image(&mut self, mem: Mem) {
        encode::x87(&mut self.out.hot, WHOLE, 7, mem);
    }

    fn load_image(&mut self, mem: Mem) {
        encode::x87(&mut self.out.hot, WHOLE, 5, mem);
    }
}
