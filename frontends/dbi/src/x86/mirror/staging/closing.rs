//! Code that closes a record: copies what was written down to the thread's buffer, unless no cell in it is set.
//!
//! Knows when that has to be, too: before what others may see something by, and on side exits.

use crate::context::Context;
use crate::mailbox::Mailbox;
use crate::x86::access::is_write;
use crate::x86::asm::{Asm, RCX};
use crate::x86::code::{Frame, Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::insn::Flow;
use crate::x86::mirror::At;
use crate::x86::mirror::append::ACTIVE;
use crate::x86::mirror::encode;
use crate::x86::mirror::open_record::{Field, OpenRecord};
use crate::x86::mirror::record::in_record;
use crate::x86::mirror::temporaries::UPPER;
use crate::x86::mirror::x87_append;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::table::Row;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::Instruction;
use shadowgrind_core::appended::HEAD;
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::cells_apart;

impl Emitter {
    /// Closes the record before an instruction by which others may see something, or for which it may have no room.
    pub(in crate::x86::mirror) fn close_before(&mut self, at: At<'_>) {
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

    /// Appends the record that is being written, in cold code on a way to other translated code; on the hot path it stays open.
    /// rcx has its own value, and registers that are spilled are still to be put back.
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
        encode::add(code, RCX, cells_apart(record.numbers.into()) as i32);
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

/// Tells whether an instruction of this row may append something that is no part of the record.
fn may_append_otherwise(row: Row) -> bool {
    match row {
        Row::X87(row) => !x87_append::is_followed(row),
        row => matches!(row, Row::State(..)),
    }
}
