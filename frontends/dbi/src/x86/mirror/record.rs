//! Recording: operations whose shadows are too much work for code beside the guest's are written down as they happen,
//! and replayed many at a time.
//!
//! Each result gets a *handle* at once, which moves on in the mirror like any shadow; what it stands for is known once
//! the record is replayed. Where in a record what stands is for `descriptor` to say.

use super::At;
use super::descriptor::{ID, RecordDescriptor, STRIDE, What};
use super::encode;
use super::rounding::recorded_sums;
use crate::mailbox::Mailbox;
use crate::x86::asm::{Gpr, RCX};
use crate::x86::code::{ExitKind, Slot};
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::rows;
use crate::x86::table::{Row, Shape};
use crate::x86::vector::{At as Address, Mem};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

/// Plan of an instruction's record.
pub(super) struct Plan<'a> {
    pub(super) what: What,
    pub(super) from: Format,
    pub(super) to: Format,
    pub(super) shape: Shape,
    /// Operand numbers, in the order of the operation.
    pub(super) sources: &'a [u32],
    /// The operand that the rest of a scalar result comes from.
    pub(super) rest: Option<u8>,
}

impl Plan<'_> {
    /// Descriptor of a record of `lanes` lanes.
    pub(super) fn described(&self, at: At<'_>, lanes: u8) -> RecordDescriptor {
        let (operands, formats) = (self.sources.len() as u8, [self.from, self.to]);
        RecordDescriptor {
            lanes,
            sums: recorded_sums(at, self.to),
            ..RecordDescriptor::new(at.insn().pc(), self.what, operands, formats)
        }
    }
}

impl Emitter {
    /// Number of the descriptor `recorded`: the same one as often as that is asked for.
    pub(super) fn recorded(&mut self, recorded: RecordDescriptor) -> u32 {
        let mirror = self.mirror();
        let key = (recorded.pc, recorded.from, recorded.masked);
        if let Some(&id) = mirror.recorded_at.get(&key)
            && mirror.recorded[id as usize] == recorded
        {
            return id;
        }
        let id = mirror.recorded.len() as u32;
        mirror.recorded.push(recorded);
        mirror.recorded_at.insert(key, id);
        id
    }

    /// Records the instruction, or leaves it to the engine where it cannot be recorded.
    pub(super) fn record(&mut self, at: At<'_>, plan: &Plan<'_>) {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        if !plain || plan.sources.len() > MAX_OPERANDS {
            return self.out_of_line(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let width = self.width(insn, plan);
        let lanes = width / plan.from.bytes() as u8;
        let recorded = plan.described(at, lanes);
        // Both are spilled while nothing else is spilled.
        self.temporary(1);
        let pointer = self.begin_record(at, recorded);
        for (n, &source) in plan.sources.iter().enumerate() {
            let (lanes, handles) = (recorded.operand(n as u64), recorded.handles(n as u64));
            self.record_source(insn, source, in_record(pointer, lanes), in_record(pointer, handles), width);
        }
        self.instruction(at.index, at.insn());
        let spilled = self.spilled(Some(pointer));
        self.note(at.index, spilled);
        if matches!(plan.what, What::Op(_) | What::Widen | What::Sign) {
            self.record_result(insn, plan, pointer, &recorded);
        }
        if matches!(plan.what, What::Integer(_)) {
            self.clear_results(at);
        }
        if matches!(rows::row(insn), Row::Compare(..)) {
            self.clear_lanes(at, plan.from, plan.shape);
        }
        self.advance(at, pointer);
        self.close_operand();
    }

    /// Makes a free register point to the next record, which is of this kind, and returns it.
    pub(super) fn begin_record(&mut self, at: At<'_>, recorded: RecordDescriptor) -> Gpr {
        let pointer = self.free_register(&at.insn().decoded);
        self.begin_record_at(at, recorded, pointer);
        pointer
    }

    /// Makes `pointer`, a free register, point to the next record, which is of this kind.
    pub(super) fn begin_record_at(&mut self, at: At<'_>, recorded: RecordDescriptor, pointer: Gpr) {
        let id = self.recorded(recorded);
        self.out.hot.store(self.frame.slot(Slot::Scratch), pointer);
        self.out.hot.load(pointer, self.frame.field(Mailbox::OFFSET_RECORD));
        let spilled = self.spilled(Some(pointer));
        self.note(at.index, spilled);
        encode::store_imm32(&mut self.out.hot, in_record(pointer, ID), id);
    }

    /// Bytes of each operand.
    fn width(&self, insn: &Instruction, plan: &Plan<'_>) -> u8 {
        if plan.shape == Shape::Scalar {
            return plan.from.bytes() as u8;
        }
        let result = insn.op0_register().size() as u8;
        match plan.what {
            // Half as many bytes come out, or twice as many.
            What::Op(Op::Narrow) => {
                let source = insn.op_count() - 1;
                if insn.op_kind(source) == OpKind::Register {
                    insn.op_register(source).size() as u8
                } else {
                    insn.memory_size().size() as u8
                }
            }
            What::Widen => result / 2,
            _ => result,
        }
    }

    /// A general register that neither the instruction nor its annotation uses.
    pub(super) fn free_register(&mut self, insn: &Instruction) -> Gpr {
        let address = self.mirror().address;
        far::scratch_but(insn, &[address], &mut self.facts)
    }

    /// A general register other than rcx that neither the instruction nor its annotation uses.
    pub(super) fn other_register(&mut self, insn: &Instruction) -> Gpr {
        let address = self.mirror().address;
        far::scratch_but(insn, &[address, Some(RCX)], &mut self.facts)
    }

    /// Writes down an operand: its lanes and their handles.
    fn record_source(&mut self, insn: &Instruction, source: u32, lanes: Mem, handles: Mem, width: u8) {
        if insn.op_kind(source) == OpKind::Register {
            let register = insn.op_register(source).number() as u8;
            self.out.hot.vector_store(lanes, register, width);
            let shadow = self.low_in_register(register, width, 0);
            self.out.hot.vector_store(handles, shadow, width);
            return;
        }
        let temporary = self.temporary(0);
        let from = self.guest_operand(insn);
        self.out.hot.vector_load(temporary, from, width);
        self.out.hot.vector_store(lanes, temporary, width);
        match self.mirror_memory(insn) {
            Some(mem) => self.out.hot.vector_load(temporary, mem, width),
            None => self.zero(temporary),
        }
        self.out.hot.vector_store(handles, temporary, width);
    }

    /// Writes down the result and gives it its handles.
    fn record_result(
        &mut self,
        insn: &Instruction,
        plan: &Plan<'_>,
        pointer: Gpr,
        recorded: &RecordDescriptor,
    ) {
        let d = insn.op0_register().number() as u8;
        let bytes = recorded.lanes * plan.to.bytes() as u8;
        // Two narrow lanes are eight bytes in all.
        let stored = if bytes == 8 && plan.to == Format::F32 { 8 } else { bytes };
        self.out.hot.vector_store(in_record(pointer, recorded.result()), d, stored);
        let handles = self.temporary(0);
        self.out.hot.vector_load(handles, in_record(pointer, recorded.fresh()), stored);
        match plan.rest {
            None => self.put_shadow(d, handles),
            Some(rest) => {
                let rest = self.low_in_register(rest, 16, 1);
                let target = self.shadow_target(d, 1);
                self.merge_lane(target, rest, handles, bytes);
                self.put_shadow(d, target);
            }
        }
    }

    /// Moves on to the next record; leaves to have the buffer replayed when it is full, and does not come back to this instruction: its
    /// shadows are in their places before.
    pub(super) fn advance(&mut self, at: At<'_>, pointer: Gpr) {
        let (scratch, rcx) = (self.frame.slot(Slot::Scratch), self.frame.slot(Slot::Rcx));
        encode::add(&mut self.out.hot, pointer, STRIDE as i32);
        self.out.hot.store(self.frame.field(Mailbox::OFFSET_RECORD), pointer);
        let address = self.mirror().address;
        let full = self.out.cold.here();
        if pointer != RCX {
            // jrcxz looks at rcx alone.
            self.out.hot.store(rcx, RCX);
            self.out.cold.load(RCX, rcx);
        }
        self.out.cold.load(pointer, scratch);
        if let Some(gpr) = address {
            self.out.cold.load(gpr, self.frame.slot(Slot::Address));
        }
        self.put_back_in_passing();
        self.stub(ExitKind::Flush(at.insn().decoded.next_ip()), 0);
        encode::low_bits_to_rcx(&mut self.out.hot, pointer);
        let jump = self.out.hot.jump_if_rcx_is_zero();
        self.out.hot.patch(jump, full);
        if pointer != RCX {
            self.out.hot.load(RCX, rcx);
        }
        self.out.hot.load(pointer, scratch);
        self.note_spilled(at.index);
    }
}

/// Memory at `offset` in the record that `pointer` points to.
pub(super) fn in_record(pointer: Gpr, offset: u64) -> Mem {
    let at = Address::Base { base: Some(pointer), index: None, displacement: offset as i32 };
    Mem { gs: false, fs: false, address32: false, at }
}
