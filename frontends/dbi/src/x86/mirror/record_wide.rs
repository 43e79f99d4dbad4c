//! Recording for a guest that uses AVX-512 itself: what [`record`](super::record) does, of registers of up to 64 bytes, under a mask.
//!
//! Registers of 64 bytes take two records, of half as many lanes each. Lanes that the instruction's mask leaves out are said in the
//! record, and keep the handles that they would have got. Does not know which instructions come here.

use super::At;
use super::check::SideExit;
use super::descriptor::{BUFFER, LANES_TAKEN, RecordDescriptor, STRIDE};
use super::encode;
use super::operands::Operands;
use super::record::{Plan, in_record};
use super::wide::broadcasts_to_two;
use crate::context::SPILL_SLOTS;
use crate::mailbox::Mailbox;
use crate::x86::access;
use crate::x86::asm::{Gpr, RCX};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::Instruction;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

/// Most bytes of a record's lanes.
const HALF: u8 = 32;

/// The records of an instruction.
struct Records {
    pointer: Gpr,
    /// Each of them.
    halves: Vec<RecordDescriptor>,
    /// Bytes of the lanes of each.
    bytes: u8,
}

impl Records {
    /// Memory at `offset` in record `n`.
    fn at(&self, n: usize, offset: u64) -> Mem {
        in_record(self.pointer, n as u64 * STRIDE + offset)
    }
}

impl Emitter {
    /// The instruction, recorded; left to the engine where it cannot be.
    pub(super) fn record_wide(&mut self, at: At<'_>, op: Op, plan: &Plan<'_>) {
        let insn = &at.insn().decoded;
        let takes = self.mirror().settings.wide && plan.sources.len() <= MAX_OPERANDS;
        if !takes || broadcasts_to_two(insn) || access::raises_otherwise(insn) || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        debug_assert_eq!(op.arity(), plan.sources.len());
        let width = access::result_bytes(insn, plan.to, plan.shape) as u8;
        let mut operands = self.operands(insn, plan.sources);
        // Nothing is spilled once the record has begun.
        self.load_operands(at, (plan.from, width), &mut operands);
        let temps = [self.another_temporary(), self.another_temporary()];
        self.note_spilled(at.index);
        let records = self.begin_halves(at, plan, width);
        for i in 0..operands.count {
            self.write_operand(&records, i, &operands, temps[0]);
        }
        let spilled = self.spilled(Some(records.pointer));
        self.note(at.index, spilled);
        self.instruction(at.index, at.insn());
        self.note(at.index, spilled);
        let made = self.write_results(&records, plan, insn, temps);
        let other = temps[usize::from(made == temps[0])];
        let made = if insn.has_op_mask() { self.selected(insn, (plan.to, width), made, other) } else { made };
        self.put_shadow(insn.op0_register().number() as u8, made);
        let last = records.halves.len() as i32 - 1;
        encode::add(&mut self.out.hot, records.pointer, last * STRIDE as i32);
        self.advance(at, records.pointer);
        self.close_operand();
    }

    /// Begins one record, or two if the buffer has room for both; the instruction is left to the engine otherwise.
    fn begin_halves(&mut self, at: At<'_>, plan: &Plan<'_>, width: u8) -> Records {
        let insn = &at.insn().decoded;
        let bytes = width.min(HALF);
        let count = width / bytes;
        let lanes = bytes / plan.from.bytes() as u8;
        let half = |n: u8| RecordDescriptor {
            masked: insn.has_op_mask().then_some(n * lanes),
            ..plan.described(at, lanes)
        };
        let halves: Vec<RecordDescriptor> = (0..count).map(half).collect();
        if count > 1 {
            self.exit_at_last_record(at);
        }
        let pointer = self.begin_record(at, halves[0]);
        let records = Records { pointer, halves, bytes };
        for (n, &half) in records.halves.iter().enumerate().skip(1) {
            let id = self.recorded(half);
            encode::store_imm32(&mut self.out.hot, records.at(n, super::descriptor::ID), id);
        }
        if insn.has_op_mask() {
            let mask = insn.op_mask().number() as u8;
            for n in 0..records.halves.len() {
                let place = Place::Mem(records.at(n, LANES_TAKEN));
                self.out.hot.vector(Vector::unary(forms::MASK_STORE, Format::F32, Length::B16, mask, place));
            }
        }
        records
    }

    /// Leaves the instruction to the engine if the next record is the last one of the buffer.
    fn exit_at_last_record(&mut self, at: At<'_>) {
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
        let position = Mem::rip(self.frame.field(Mailbox::OFFSET_RECORD));
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        encode::load_rcx(&mut self.out.hot, position, 2);
        self.out.hot.add_rcx(STRIDE as i32 - BUFFER as i32);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        let last = self.out.hot.jump_if_rcx_is_zero();
        self.out.hot.patch(last, stub);
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
    }

    /// Writes down operand `i`: its lanes and their handles.
    fn write_operand(&mut self, records: &Records, i: usize, operands: &Operands, through: u8) {
        let to = |n: usize, half: &RecordDescriptor| {
            [records.at(n, half.operand(i as u64)), records.at(n, half.handles(i as u64))]
        };
        let places: Vec<[Mem; 2]> = records.halves.iter().enumerate().map(|(n, half)| to(n, half)).collect();
        let is_absent = operands.absent >> i & 1 != 0;
        let lanes: Vec<Mem> = places.iter().map(|&[lanes, _]| lanes).collect();
        let handles: Vec<Mem> = places.iter().map(|&[_, handles]| handles).collect();
        self.write_halves(operands.x[i], &lanes, records.bytes, through);
        if is_absent {
            self.zero(through);
            return handles.iter().for_each(|&to| self.out.hot.vector_store(to, through, records.bytes));
        }
        self.write_halves(operands.shadows[i], &handles, records.bytes, through);
    }

    /// Copies what is at `from` to one place after the other, so many bytes to each.
    fn write_halves(&mut self, from: Place, to: &[Mem], bytes: u8, through: u8) {
        let from = match from {
            Place::Reg(register) => {
                self.out.hot.vector_store(to[0], register, bytes);
                let [_, second] = *to else { return };
                let whole = self.whole_slot();
                self.out.hot.vector_store(whole, register, 2 * bytes);
                self.out.hot.vector_load(through, whole.plus(bytes.into()), bytes);
                return self.out.hot.vector_store(second, through, bytes);
            }
            Place::Mem(mem) => mem,
        };
        for (n, &to) in (0..).zip(to) {
            self.out.hot.vector_load(through, from.plus(n * i32::from(bytes)), bytes);
            self.out.hot.vector_store(to, through, bytes);
        }
    }

    /// Room for a whole register, which none is spilled to.
    fn whole_slot(&mut self) -> Mem {
        assert!(self.mirror().temporaries.spilled()[SPILL_SLOTS - 1].is_none());
        self.spill_slot(SPILL_SLOTS - 1)
    }

    /// Writes down the results; their handles, with what is beside a single one, are in one of two registers.
    fn write_results(
        &mut self,
        records: &Records,
        plan: &Plan<'_>,
        insn: &Instruction,
        [first, second]: [u8; 2],
    ) -> u8 {
        let (bytes, d) = (records.bytes, insn.op0_register().number() as u8);
        let results: Vec<Mem> =
            records.halves.iter().enumerate().map(|(n, half)| records.at(n, half.result())).collect();
        self.write_halves(Place::Reg(d), &results, bytes, first);
        let fresh = |n: usize| records.at(n, records.halves[n].fresh());
        if records.halves.len() > 1 {
            let whole = self.whole_slot();
            for n in 0..2 {
                self.out.hot.vector_load(first, fresh(n), bytes);
                self.out.hot.vector_store(whole.plus(n as i32 * i32::from(bytes)), first, bytes);
            }
            self.out.hot.vector_load(first, whole, 2 * bytes);
            return first;
        }
        self.out.hot.vector_load(first, fresh(0), bytes);
        let Some(rest) = plan.rest else { return first };
        let rest = self.shadow_memory(rest);
        self.out.hot.vector_load(second, rest, 16);
        self.merge_lane(second, second, first, bytes);
        second
    }
}
