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

use super::At;
use super::append::{ACTIVE, Append};
use super::descriptor::{RecordDescriptor, Staged, What};
use super::encode;
use super::open_record::{Field, Known, OpenRecord, Results};
use super::record::in_record;
use super::temporaries::UPPER;
use super::x87_append;
use super::x87_evaluated;
use crate::context::Context;
use crate::mailbox::Mailbox;
use crate::x86::access::is_write;
use crate::x86::asm::{Asm, RCX};
use crate::x86::code::{ExitKind, Frame, Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::superblock::{Flow, Superblock};
use crate::x86::table::{Moved, Row};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::appended::{HEAD, Source};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Reads};

/// Bytes of a buffer: as many iterations of a loop as can be are to be there at once, and all are to stay in a cache.
pub(crate) const ROOM: u64 = 1 << 19;
/// Alignment of the ends of buffers.
pub(crate) const ALIGNMENT: u64 = 1 << 24;
/// Tells whether a buffer whose position this is has to be emptied before a block may append something.
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
    /// One operand with these cells of which no float is written down; the rest is to be said.
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
    /// At the start of `block`: leaves for the buffer to be emptied if it is full and the block may append something.
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

    /// Writes down the operands' floats that `reads` asks for: their offsets and one more, 0 for others.
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

    /// Writes down the result, if `reads` asks for that, and makes the operation part of the record. The place of its first result among the
    /// record's numbers.
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

    /// Makes an operation of which all is written down part of the record. The place of its first result among the record's numbers.
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

    /// A place for so many bytes of cells, and where they are to be written.
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

    /// A place for so many bytes of floats, and where they are to be written.
    pub(super) fn new_float(&mut self, bytes: u8) -> (Field, Mem) {
        let record = &mut self.mirror().open_record;
        let field = Field { at: record.floats, bytes };
        record.floats += u16::from(bytes).next_multiple_of(8);
        record.pieces[1].extend(field.pieces());
        (field, Mem::rip(self.frame.field(Context::OFFSET_STAGED_FLOATS + u32::from(field.at))))
    }

    /// The sum of an operation has no shadow where that was said: register `n` is no result of the record any more.
    pub(super) fn forget_results(&mut self, n: u8) {
        self.mirror().open_record.known[usize::from(n)].results = None;
    }

    /// After an instruction: forgets what was known of registers that it has overwritten, but for copies.
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

    /// Before an instruction that others may see something by, or that the record may have no room for: closes it.
    pub(super) fn close_before(&mut self, at: At<'_>) {
        let register = self.register_bytes();
        let record = &self.mirror().open_record;
        if record.last.is_none() {
            return;
        }
        let (insn, flow) = (&at.insn().decoded, at.insn().flow);
        let ends_here = record.is_full(register) || self.mirror().loop_heads.contains(&at.index);
        let goes_on = matches!(
            flow,
            Flow::Straight | Flow::SideExit | Flow::FollowedJump | Flow::FollowedCall | Flow::CertainReturn
        );
        let closes = ends_here
            || !goes_on
            || flow == Flow::Straight && (may_append_otherwise(rows::row(insn)) || self.shows_others(insn));
        if closes {
            self.close_record(at.index);
        }
    }

    /// Tells whether other threads may see what the instruction stores.
    fn shows_others(&mut self, insn: &Instruction) -> bool {
        !self.mirror().is_alone
            && self.facts.info(insn).used_memory().iter().any(|used| is_write(used.access()))
    }

    /// Appends the record that is being written, if there is one, before instruction `index`.
    pub(in crate::x86) fn close_record(&mut self, index: usize) {
        if !self.mirror().settings.appends || self.mirror().ended {
            return;
        }
        let record = std::mem::take(&mut self.mirror().open_record);
        if record.last.is_none() {
            return;
        }
        self.mirror().appended_bytes += u64::from(record.bytes());
        self.put_back_rcx();
        let temps = [self.temporary(0), self.temporary(1)];
        let spilled = Spilled { rcx: true, ..self.spilled(None) };
        self.out.hot.store(self.frame.slot(Slot::Rcx), RCX);
        self.note(index, spilled);
        let upper = self.has_upper();
        let zero = Constants::at(self.mirror().settings.constants).zero();
        Closing { record: &record, frame: &self.frame, temps, zero, upper }.emit(&mut self.out.hot);
        self.note_spilled(index);
        self.mirror().temporaries.forget_picked();
    }

    /// Tells whether a record is being written.
    pub(in crate::x86) fn has_open_record(&self) -> bool {
        self.mirror.as_ref().is_some_and(|mirror| mirror.open_record.last.is_some())
    }

    /// Appends, in cold code on a way to other translated code, the record that is being written; on the hot path it goes on. rcx has
    /// its own value, and registers that are spilled are still to be put back.
    pub(in crate::x86) fn close_in_passing(&mut self) {
        if !self.has_open_record() {
            return;
        }
        let (temps, kept) = self.temporaries_in_passing();
        let (upper, bytes) = (self.has_upper(), self.shadow_bytes());
        let slots = kept.map(|kept| kept.map(|(register, place)| (register, self.spill_slot(place))));
        for (register, slot) in slots.into_iter().flatten() {
            self.out.cold.vector_store(slot, register, bytes);
        }
        self.out.cold.store(self.frame.slot(Slot::Rcx), RCX);
        let mirror = self.mirror.as_ref().expect("a record is being written");
        let zero = Constants::at(mirror.settings.constants).zero();
        let closing = Closing { record: &mirror.open_record, frame: &self.frame, temps, zero, upper };
        closing.emit(&mut self.out.cold);
        for (register, slot) in slots.into_iter().flatten() {
            self.out.cold.vector_load(register, slot, bytes);
        }
    }

    /// Two vector registers for cold code on a way out, and those of them that are not spilled, each with a place to keep it in.
    fn temporaries_in_passing(&mut self) -> ([u8; 2], [Option<(u8, usize)>; 2]) {
        if self.has_upper() {
            return (UPPER, [None; 2]);
        }
        let spilled = self.mirror().temporaries.spilled();
        let has = |register: u8| spilled.iter().flatten().any(|spilled| spilled.register == register);
        let mut places = (0..spilled.len()).filter(|&place| spilled[place].is_none());
        let ours = (0..16).filter(|&register| has(register)).map(|register| (register, None));
        let others = (0..16).filter(|&register| !has(register)).map(|register| {
            let place = places.next().expect("fewer than two registers are spilled");
            (register, Some((register, place)))
        });
        let mut some = ours.chain(others);
        let [(one, kept), (other, kept_too)] = [(); 2].map(|()| some.next().expect("there are sixteen"));
        ([one, other], [kept, kept_too])
    }
}

/// Code that closes a record.
struct Closing<'a> {
    record: &'a OpenRecord,
    frame: &'a Frame,
    /// Vector registers to clobber.
    temps: [u8; 2],
    /// Memory that is zero.
    zero: Mem,
    /// True with AVX-512.
    upper: bool,
}

impl Closing<'_> {
    /// Copies the record to the buffer, and moves on the position and the next number, unless no cell is set. rcx is in its slot before.
    fn emit(&self, code: &mut Asm) {
        let Closing { record, frame, temps: [all, some], .. } = *self;
        let field = |offset: u32| Mem::rip(frame.field(offset));
        let (cells, floats) = (field(Context::OFFSET_STAGED_CELLS), field(Context::OFFSET_STAGED_FLOATS));
        let (position, next) = (frame.field(Mailbox::OFFSET_RECORD), frame.field(Mailbox::OFFSET_NUMBER));
        encode::store_zero(code, field(Context::OFFSET_STAGED_OPEN), 4);
        code.load(RCX, position);
        let end = HEAD + record.cells.next_multiple_of(8);
        if end != HEAD + record.cells {
            encode::store_zero(code, in_record(RCX, (end - 4).into()), 4);
        }
        // Pieces as they were written: what is read otherwise would have to wait until it has left the processor's store buffer.
        let widest = record.pieces[0].iter().map(|piece| piece.bytes).max().unwrap_or(8).max(16);
        for (n, &Field { at, bytes }) in record.pieces[0].iter().enumerate() {
            let to = if n == 0 { all } else { some };
            code.vector_load(to, cells.plus(at.into()), bytes);
            code.vector_store(in_record(RCX, (HEAD + at).into()), to, bytes);
            if n > 0 {
                let (length, rm) = (Length::of(widest), Place::Reg(some));
                code.vector(Vector::new(forms::OR, Format::F64, length, [all; 2], rm));
            }
        }
        self.test(code, widest);
        let inactive = code.jump_if_rcx_is_zero();
        code.load(RCX, position);
        encode::store_imm32(code, in_record(RCX, 0), record.last.expect("something was written"));
        for &Field { at, bytes } in &record.pieces[1] {
            code.vector_load(some, floats.plus(at.into()), bytes);
            code.vector_store(in_record(RCX, (end + at).into()), some, bytes);
        }
        encode::add(code, RCX, record.bytes().into());
        code.store(position, RCX);
        code.load(RCX, next);
        encode::add(code, RCX, record.numbers.into());
        code.store(next, RCX);
        let onwards = code.here();
        code.patch(inactive, onwards);
        code.load(RCX, frame.slot(Slot::Rcx));
    }

    /// Leaves something other than zero in rcx if any of the low `bytes` of the first register is set.
    fn test(&self, code: &mut Asm, bytes: u8) {
        let (all, length) = (self.temps[0], Length::of(bytes));
        if self.upper {
            code.vector(Vector::new(forms::TEST, Format::F64, length, [ACTIVE, all], Place::Reg(all)));
            return encode::mask_to_rcx(code);
        }
        code.vector(Vector::new(forms::EQUAL_64, Format::F64, length, [all; 2], Place::Mem(self.zero)));
        code.vector(Vector::unary(forms::SIGNS, Format::F64, length, RCX, Place::Reg(all)));
        code.add_rcx(1 - (1 << (bytes / 8)));
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

/// Tells whether an instruction of this row may append something that is no part of the record.
fn may_append_otherwise(row: Row) -> bool {
    match row {
        Row::X87(row) => !x87_append::is_followed(row),
        row => matches!(row, Row::State(..)),
    }
}

/// The registers that a move of whole registers is to and from, and their bytes.
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
