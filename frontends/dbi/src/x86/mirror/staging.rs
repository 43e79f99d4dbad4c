//! Records that several instructions append together: written to a place of their own first, and appended when something could
//! look at them.
//!
//! A record has the number of its kind, the cells of operands that do not come from the record itself, and floats. Each is
//! written down once, however many instructions use it. Before an instruction that leads elsewhere, or writes to memory that other threads
//! see, the record is *closed*: copied to the thread's buffer, unless no cell in it is set. So a number is in no other thread's reach before
//! what stands for it is. On side exits to other code cold code closes it. Where code is left in between for the engine, by a fault or
//! otherwise, the engine does: code says after each instruction of which kind the record is so far.
//!
//! A buffer has [`ROOM`] bytes, and [`BUFFER`](super::descriptor::BUFFER) more for what a block writes beyond; those begin where bits 16 to 23 of the
//! address are 0, so that one byte of the position says at the start of each block whether there is room.

mod closing;

use super::At;
use super::append::Append;
use super::descriptor::{RecordDescriptor, Staged, What};
use super::encode;
use super::open_record::{Field, Known, OpenRecord, Results};
use super::x87_append;
use super::x87_evaluated;
use crate::context::Context;
use crate::mailbox::Mailbox;
use crate::x86::access::is_write;
use crate::x86::asm::RCX;
use crate::x86::code::{ExitKind, Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::insn::Flow;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::{Moved, Row};
use crate::x86::vector::{Mem, Place};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::appended::{HEAD, Source};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Reads};

/// Bytes of a buffer: the more iterations of a loop are in it the better, as long as all stay in a cache.
pub(crate) const ROOM: u64 = 1 << 19;
/// Alignment of the ends of buffers.
pub(crate) const ALIGNMENT: u64 = 1 << 24;
/// Tells whether a buffer that is filled up to `position` has to be emptied before a block appends to it.
pub(crate) const fn is_full(position: u64) -> bool {
    position >> 16 & 0xff == 0
}

/// Places of an instruction's operands in the record, as [`Staged`] has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct StagedOperands {
    pub(super) cells: [Source; MAX_OPERANDS],
    pub(super) x: [u16; MAX_OPERANDS],
}

/// An operation of which all is written down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added {
    pub(super) op: Op,
    /// Formats of operands and result.
    pub(super) formats: [Format; 2],
    pub(super) lanes: u8,
    /// Number of operands.
    pub(super) count: usize,
    /// As [`Staged`] has them.
    pub(super) cells: [Source; MAX_OPERANDS],
    pub(super) x: [u16; MAX_OPERANDS],
    pub(super) r: u16,
    pub(super) kept: [Format; MAX_OPERANDS],
}

impl Added {
    /// Operation on one float, whose shadow is `cells` and which is not written down itself; callers say which operation, and
    /// the formats.
    pub(super) fn of_one(cells: Source) -> Added {
        let absent = Source::Absent;
        Added {
            op: Op::Widen,
            formats: [Format::F64; 2],
            lanes: 1,
            count: 1,
            cells: [cells, absent, absent],
            x: [0; MAX_OPERANDS],
            r: 0,
            kept: [Format::F64; MAX_OPERANDS],
        }
    }
}

impl Emitter {
    /// Leaves, at the start of `block`, for the buffer to be emptied, if that is full and the block may append something.
    pub(super) fn make_room(&mut self, block: &Superblock) {
        let appends = |row| {
            let is_long = matches!(row, Row::X87(row) if x87_append::is_followed(row) || x87_evaluated::is_evaluated(row));
            is_long
                || matches!(
                    row,
                    Row::Arith(..) | Row::Unary(..) | Row::Fused(..) | Row::Narrow(_) | Row::Widen(_)
                )
        };
        let mirror = self.mirror();
        mirror.appended_bytes = 0;
        mirror.open_record = OpenRecord::default();
        mirror.loop_heads.clear();
        if self.mode.is_off() || !block.insns.iter().any(|insn| appends(rows::row(&insn.decoded))) {
            return;
        }
        self.mirror().loop_heads.extend(loop_heads(block));
        let rcx = self.frame.slot(Slot::Rcx);
        let position = Mem::rip(self.frame.field(Mailbox::OFFSET_RECORD));
        let full = self.out.cold.here();
        self.out.cold.load(RCX, rcx);
        self.stub(ExitKind::Flush(block.start), 0);
        self.out.hot.store(rcx, RCX);
        self.note(0, Spilled { rcx: true, ..Spilled::default() });
        let hot = &mut self.out.hot;
        encode::load_rcx(hot, position.plus(2), 1);
        let jump = hot.jump_if_rcx_is_zero();
        hot.patch(jump, full);
        hot.load(RCX, rcx);
    }

    /// Tells whether the buffer certainly has room for one more instruction of this block.
    pub(super) fn takes_room(&mut self) -> bool {
        let register = self.register_bytes();
        let mirror = self.mirror();
        mirror.open_record.has_room(mirror.appended_bytes, register)
    }

    /// Bytes of the guest's vector registers.
    fn register_bytes(&mut self) -> u16 {
        if self.mirror().settings.wide { 64 } else { 32 }
    }

    /// Writes down the operands' floats that `reads` asks for. Returns their offsets and one more; 0 for others.
    pub(super) fn stage_floats(
        &mut self,
        job: &Append<'_>,
        reads: Reads,
        temporary: u8,
    ) -> [u16; MAX_OPERANDS] {
        let mut x = [0; MAX_OPERANDS];
        for i in (0..job.operands.count).filter(|&i| reads.operand(i)) {
            x[i] = 1 + self.stage_float(job, i, temporary);
        }
        x
    }

    /// Writes down the result, if `reads` asks for that, and makes the operation part of the record. Returns the place of its
    /// first result among the record's numbers.
    pub(super) fn stage_result(
        &mut self,
        at: At<'_>,
        job: &Append<'_>,
        reads: Reads,
        StagedOperands { cells, x }: StagedOperands,
    ) -> u16 {
        let result = reads.result().then(|| {
            let (field, to) = self.new_float(job.result_width());
            self.out.hot.vector_store(to, job.d, job.result_width());
            field
        });
        let r = result.map_or(0, |field| 1 + field.at);
        let count = job.operands.count;
        let kept = [job.formats[0]; MAX_OPERANDS];
        let number = self.add_part(
            at,
            &Added { op: job.op, formats: job.formats, lanes: job.lanes, count, cells, x, r, kept },
        );
        let record = &mut self.mirror().open_record;
        let results = Results { number, lanes: job.lanes, format: job.formats[1] };
        record.known[usize::from(job.d)] = Known { results: Some(results), cells: None, x: result };
        record.fresh = Some(job.d);
        number
    }

    /// Makes an operation of which all is written down part of the record. Returns the place of its first result among the
    /// record's numbers.
    pub(super) fn add_part(&mut self, at: At<'_>, added: &Added) -> u16 {
        let &Added { op, formats, lanes, count, cells, x, r, kept } = added;
        let record = &mut self.mirror().open_record;
        let (before, number) = (record.last, record.numbers);
        record.numbers += u16::from(lanes);
        let bytes = [record.cells.next_multiple_of(8), record.floats];
        let id = self.recorded(RecordDescriptor {
            lanes,
            staged: Some(Staged { before, number, cells, x, r, kept, bytes }),
            ..RecordDescriptor::new(at.insn().pc(), What::Op(op), count as u8, formats)
        });
        self.mirror().open_record.last = Some(id);
        let open = Mem::rip(self.frame.field(Context::OFFSET_STAGED_OPEN));
        encode::store_imm32(&mut self.out.hot, open, id + 1);
        number
    }

    /// Place in the record of the shadows of operand `i`, and where they are to be written, unless the record has them.
    pub(super) fn place_cells(&mut self, job: &Append<'_>, i: usize) -> (Source, Option<Mem>) {
        let (register, width) = (job.operands.registers[i].map(usize::from), job.width());
        let record = &mut self.mirror().open_record;
        let known = register.map_or(Known::default(), |n| record.known[n]);
        if let Some(results) = known.results
            && results.format == job.formats[0]
            && results.lanes >= job.lanes
        {
            return (Source::Results(results.number), None);
        }
        if let Some(field) = known.cells.filter(|field| field.bytes >= width) {
            return (Source::Cells(HEAD + field.at), None);
        }
        let (field, to) = self.new_cells(width);
        if let Some(n) = register {
            self.mirror().open_record.known[n].cells = Some(field);
        }
        (Source::Cells(HEAD + field.at), Some(to))
    }

    /// Room for `bytes` bytes of cells: the field, and the memory to write them to.
    pub(super) fn new_cells(&mut self, bytes: u8) -> (Field, Mem) {
        let record = &mut self.mirror().open_record;
        // Cells of doubles are whole words: how they advance is found word by word.
        let field = Field { at: record.cells.next_multiple_of(u16::from(bytes.min(8))), bytes };
        record.cells = field.at + u16::from(bytes);
        record.pieces[0].extend(field.pieces());
        (field, Mem::rip(self.frame.field(Context::OFFSET_STAGED_CELLS + u32::from(field.at))))
    }

    /// Offset, among the floats, of operand `i`, which is written down unless the record has it.
    fn stage_float(&mut self, job: &Append<'_>, i: usize, temporary: u8) -> u16 {
        let (register, width) = (job.operands.registers[i].map(usize::from), job.width());
        let known = register.and_then(|n| self.mirror().open_record.known[n].x);
        if let Some(field) = known.filter(|field| field.bytes >= width) {
            return field.at;
        }
        let (field, to) = self.new_float(width);
        if let Some(n) = register {
            self.mirror().open_record.known[n].x = Some(field);
        }
        let x = match job.operands.x[i] {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                self.out.hot.vector_load(temporary, mem, width);
                temporary
            }
        };
        self.out.hot.vector_store(to, x, width);
        field.at
    }

    /// Room for `bytes` bytes of floats: the field, and the memory to write them to.
    pub(super) fn new_float(&mut self, bytes: u8) -> (Field, Mem) {
        let record = &mut self.mirror().open_record;
        let field = Field { at: record.floats, bytes };
        record.floats += u16::from(bytes).next_multiple_of(8);
        record.pieces[1].extend(field.pieces());
        (field, Mem::rip(self.frame.field(Context::OFFSET_STAGED_FLOATS + u32::from(field.at))))
    }

    /// Forgets that register `n` is a result of the record: its sum has been found to have no shadow.
    pub(super) fn forget_results(&mut self, n: u8) {
        self.mirror().open_record.known[usize::from(n)].results = None;
    }

    /// Forgets, after an instruction, what was known of the registers that it has overwritten; those it has copied to are known
    /// as what they are copies of.
    pub(super) fn follow_registers(&mut self, at: At<'_>) {
        let fresh = self.mirror().open_record.fresh.take();
        if self.mirror().open_record.last.is_none() {
            return;
        }
        let insn = &at.insn().decoded;
        let mut written = 0_u32;
        for used in self.facts.info(insn).used_registers() {
            if is_write(used.access()) && used.register().is_vector_register() {
                written |= 1 << used.register().number();
            }
        }
        let record = &mut self.mirror().open_record;
        let copied = copy(insn).map(|(to, from, bytes)| (to, record.known[usize::from(from)].low(bytes)));
        for n in (0..32_u8).filter(|&n| written >> n & 1 == 1 && fresh != Some(n)) {
            record.known[usize::from(n)] = Known::default();
        }
        if let Some((to, known)) = copied {
            record.known[usize::from(to)] = known;
        }
    }
}

/// Instructions of a block, by index, that it leads back to: where a loop begins in it. Records do not reach over these, so that
/// what the first turn appends is what the others do.
fn loop_heads(block: &Superblock) -> impl Iterator<Item = usize> + '_ {
    let branches = block.insns.iter().filter(|insn| matches!(insn.flow, Flow::SideExit | Flow::Ends));
    let targets = branches.map(|insn| insn.decoded.near_branch_target()).filter(|&target| target != 0);
    let head = move |target| block.insns.iter().position(|insn| insn.pc() == target);
    targets.filter_map(head).filter(|&index| index > 0)
}

/// Numbers of the registers that a move of whole vector registers is to and from, and the bytes moved.
fn copy(insn: &Instruction) -> Option<(u8, u8, u8)> {
    let whole = matches!(rows::row(insn), Row::Move(Moved::Whole, _));
    let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX | EncodingKind::EVEX)
        && !insn.has_op_mask();
    let registers = insn.op_count() == 2 && (0..2).all(|n| insn.op_kind(n) == OpKind::Register);
    let [to, from] = [insn.op0_register(), insn.op1_register()];
    let vectors = to.is_vector_register() && from.is_vector_register();
    (whole && plain && registers && vectors)
        .then(|| (to.number() as u8, from.number() as u8, from.size() as u8))
}
