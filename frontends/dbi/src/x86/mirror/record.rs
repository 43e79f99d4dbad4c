//! Recording: operations whose shadows are too much work for code beside the guest's are written down as they happen,
//! and replayed many at a time.
//!
//! Each result gets a *handle* at once, which moves on in the mirror like any shadow; what it stands for is known once
//! the record is replayed. A buffer is [`BUFFER`] bytes and aligned to as much, so that its end is told by the low
//! bits of the position; each record has [`STRIDE`] bytes, of which operations on one lane use the first line of cache.
//! Handles for several lanes, one set for each record, are in as many bytes again beyond the buffer.

use super::At;
use super::encode;
use super::rounding::may_round;
use crate::mailbox::Mailbox;
use crate::x86::asm::{Gpr, RCX};
use crate::x86::code::{ExitKind, Slot};
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::table::Shape;
use crate::x86::vector::{At as Address, Mem};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Reads};
use shadowgrind_core::step::{Predicate, Sums, ToInteger};

/// Bytes of a buffer; its address is a multiple of it.
pub(crate) const BUFFER: u64 = 1 << 16;
/// Bytes of a record.
pub(crate) const STRIDE: u64 = 256;
/// Offset of the number of the [`Recorded`].
pub(crate) const ID: u64 = 0;
/// Offset of the handle that a result of one lane gets.
pub(crate) const FRESH: u64 = 8;
/// Offset, beyond the buffer, of the handles that results of several lanes of eight bytes get.
pub(crate) const FRESH_64: u64 = BUFFER;
/// Offset of the handles that results of several lanes of four bytes get.
pub(crate) const FRESH_32: u64 = BUFFER + 32;
/// Most bytes of a result.
pub(crate) const LANES: u64 = 32;

/// Operation of an instruction that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An operation.
    Op(Op),
    /// A move of a float into a wider format: the real stays.
    Widen,
    /// A comparison.
    Compare(Predicate),
    /// A conversion to an integer.
    Integer(ToInteger),
}

/// An instruction that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The address.
    pub(crate) pc: u64,
    /// The operation, lane by lane.
    pub(crate) what: What,
    /// Number of lanes.
    pub(crate) lanes: u8,
    /// Number of operands.
    pub(crate) operands: u8,
    /// Format of the operands.
    pub(crate) from: Format,
    /// Format of the result.
    pub(crate) to: Format,
    /// True if no term of a sum rounds the others.
    pub(crate) sums: Sums,
    /// A bit for each operand that is known to have no shadow.
    pub(crate) absent: u8,
    /// The floats that are written down.
    pub(crate) reads: Reads,
    /// The operand that is in memory in a narrower format than `from`, in which it is written down, and that format: there it has
    /// its shadow.
    pub(crate) narrow: Option<(u8, Format)>,
}

impl Recorded {
    /// Bytes between one operand and the next.
    fn apart(&self) -> u64 {
        (u64::from(self.lanes) * self.from.bytes() as u64).next_power_of_two().max(8)
    }

    /// Offset of the lanes of operand `n`.
    pub(crate) fn operand(&self, n: u64) -> u64 {
        self.apart().max(16) + n * self.apart()
    }

    /// Offset of the handles of operand `n`.
    pub(crate) fn handles(&self, n: u64) -> u64 {
        self.operand(u64::from(self.operands) + n)
    }

    /// Format that operand `n` has its shadow in.
    pub(crate) fn format(&self, n: usize) -> Format {
        self.narrow.filter(|&(narrow, _)| usize::from(narrow) == n).map_or(self.from, |(_, format)| format)
    }

    /// Offset of the result's lanes.
    pub(crate) fn result(&self) -> u64 {
        self.operand(2 * u64::from(self.operands))
    }

    /// Offset of the handles that the result gets.
    pub(crate) fn fresh(&self) -> u64 {
        match self.to {
            _ if self.lanes == 1 => FRESH,
            Format::F32 => FRESH_32,
            _ => FRESH_64,
        }
    }
}

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

impl Emitter {
    /// The number of what is recorded, the same one each time.
    pub(super) fn recorded(&mut self, recorded: Recorded) -> u32 {
        let mirror = self.mirror();
        if let Some(&id) = mirror.recorded_at.get(&recorded.pc)
            && mirror.recorded[id as usize] == recorded
        {
            return id;
        }
        let id = mirror.recorded.len() as u32;
        mirror.recorded.push(recorded);
        mirror.recorded_at.insert(recorded.pc, id);
        id
    }

    /// The instruction, recorded; left to the engine where it cannot be.
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
        let recorded = Recorded {
            narrow: None,
            pc: at.insn().pc(),
            what: plan.what,
            lanes,
            operands: plan.sources.len() as u8,
            from: plan.from,
            to: plan.to,
            sums: if may_round(at, plan.to) { Sums::Unknown } else { Sums::Plain },
            absent: 0,
            reads: Reads::ALL,
        };
        let id = self.recorded(recorded);
        // Both are set aside while nothing else is spilled.
        self.temporary(1);
        let pointer = self.free_register(insn);
        self.out.hot.store(self.frame.slot(Slot::Scratch), pointer);
        self.out.hot.load(pointer, self.frame.field(Mailbox::OFFSET_RECORD));
        let spilled = self.spilled(Some(pointer));
        self.note(at.index, spilled);
        encode::store_imm32(&mut self.out.hot, in_record(pointer, ID), id);
        for (n, &source) in plan.sources.iter().enumerate() {
            let (lanes, handles) = (recorded.operand(n as u64), recorded.handles(n as u64));
            self.record_source(insn, source, in_record(pointer, lanes), in_record(pointer, handles), width);
        }
        self.instruction(at.index, at.insn());
        self.note(at.index, spilled);
        if matches!(plan.what, What::Op(_) | What::Widen) {
            self.record_result(insn, plan, pointer, &recorded);
        }
        self.advance(at, pointer);
        if matches!(plan.what, What::Integer(_)) {
            self.clear_results(at);
        }
        self.close_operand();
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
        let address = self.mirror().borrowed.address;
        far::borrowed_but(insn, address, &mut self.facts)
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
    fn record_result(&mut self, insn: &Instruction, plan: &Plan<'_>, pointer: Gpr, recorded: &Recorded) {
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

    /// On to the next record; leaves to have the buffer replayed when it is full.
    pub(super) fn advance(&mut self, at: At<'_>, pointer: Gpr) {
        let (scratch, rcx) = (self.frame.slot(Slot::Scratch), self.frame.slot(Slot::Rcx));
        encode::add(&mut self.out.hot, pointer, STRIDE as i32);
        self.out.hot.store(self.frame.field(Mailbox::OFFSET_RECORD), pointer);
        let address = self.mirror().borrowed.address;
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
        // To the far jump, or over it.
        const SHORT_JMP_BYTES: u8 = 2;
        const JMP_BYTES: u8 = 5;
        self.out.hot.jrcxz_over(SHORT_JMP_BYTES);
        self.out.hot.raw(&[0xeb, JMP_BYTES]);
        self.out.hot.jmp(full);
        if pointer != RCX {
            self.out.hot.load(RCX, rcx);
        }
        self.out.hot.load(pointer, scratch);
        self.note_borrowed(at.index);
    }
}

/// Memory at `offset` in the record that `pointer` points to.
pub(super) fn in_record(pointer: Gpr, offset: u64) -> Mem {
    let at = Address::Base { base: Some(pointer), index: None, displacement: offset as i32 };
    Mem { gs: false, fs: false, address32: false, at }
}
