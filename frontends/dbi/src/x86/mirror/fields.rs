//! Floats taken apart and put together in general registers and memory: exponents added to, cut out and put in, digits
//! shifted.
//!
//! What is in memory is loaded where a fault is the guest's, and written back as it is if the guest is about to write there. What `core::tricks::relation` and `moves_along` say of such an instruction is decided by some forty instructions on the float,
//! the result and what is kept beside the float: another exponent is added to that, and a sign turned over, as integers. That
//! much code is made where an instruction has met shadows often. What is none of this, or rare (zeros, infinities, subnormal
//! numbers, parts of floats, two operands with shadows), is left to the engine.

mod bytes;
mod checks;
mod form;
mod instruction;
mod part;
mod rescale;
mod shifted;
mod turned;

use super::At;
use super::check::{SideExit, Source};
use super::encode::{self, NOT_EQUAL};
use super::liveness;
use crate::x86::asm::{Gpr, RAX, Rel32};
use crate::x86::code::{Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::vector::Mem;
use crate::x86::wholes::Whole;
use form::{Does, Fields, Other};
use iced_x86::Instruction;
use instruction::fields;
use rescale::Rescaling;
use shadowgrind_core::shadow::Derivatives;
use shadowgrind_core::step::Bitwise;
use shadowgrind_core::tricks;

pub(crate) use instruction::may_follow;
pub(super) use instruction::unnamed;

impl Emitter {
    /// Annotates the instruction so if it is one of those and has met shadows often.
    pub(super) fn fields_alone(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        let mirror = self.mirror();
        let in_place = mirror.settings.policy.derivatives == Some(Derivatives::InPlace);
        if !in_place || mirror.settings.slow || self.mode.is_off() {
            return false;
        }
        let Some(&number) = self.mirror().hot_sites.get(&insn.ip()) else { return false };
        let Some(mut fields) = fields(insn).filter(|fields| self.may_load(at, fields)) else { return false };
        if matches!(fields.does, Does::Turn | Does::TurnBack) && self.mirror().settings.turned == 0 {
            fields.does = Does::Move;
        }
        let is_whole = match at.block.whole(insn.ip()) {
            None => false,
            Some(Whole::Result(_)) if matches!(fields.does, Does::Flip | Does::CutBytes) => return false,
            Some(Whole::Result(format)) if format.bytes() == fields.bytes => true,
            Some(Whole::Compared) => {
                fields.does = Does::DropDigits;
                false
            }
            Some(_) => return false,
        };
        if fields.bytes == 4 && fields.does == Does::Cut && is_for_upper_half(fields.other) {
            return false;
        }
        let floats: Vec<Gpr> = fields.floats().filter(|&n| self.may_be_active(&fields, n)).collect();
        if floats.is_empty() {
            return false;
        }
        self.follow_fields(at, &fields, &floats, is_whole, number);
        true
    }

    /// Tells whether the instruction's memory operand, if it has one, is what it loads.
    fn may_load(&mut self, at: At<'_>, fields: &Fields) -> bool {
        let insn = &at.insn().decoded;
        let result = insn.op0_register().full_register();
        // A sum or product that is used as an address is none of a float in memory.
        let is_address = !self.writes_memory(insn)
            && matches!(fields.does, Does::Add | Does::Subtract | Does::Multiply)
            && liveness::is_no_float(at.block, at.index, result, &mut self.facts);
        fields.loaded.is_none()
            || !is_address && self.mirror().address().is_none() && self.mirror_memory(insn).is_some()
    }

    /// Tells whether register `n`, or the memory that it stands for, may have a shadow.
    fn may_be_active(&mut self, fields: &Fields, n: Gpr) -> bool {
        fields.is_memory(n) || self.may_carry(n)
    }

    /// Place of what is kept beside register `n`, or beside the memory that it stands for, and its size in bytes.
    fn kept_beside(&mut self, insn: &Instruction, fields: &Fields, n: Gpr) -> (Mem, usize) {
        match self.mirror_memory(insn) {
            Some(mirror) if fields.is_memory(n) => (mirror, fields.bytes),
            _ => (self.cell(n), 8),
        }
    }

    fn follow_fields(&mut self, at: At<'_>, fields: &Fields, floats: &[Gpr], is_whole: bool, number: u16) {
        let insn = &at.insn().decoded;
        if let Some(n) = fields.never_float().filter(|&n| self.may_be_active(fields, n)) {
            // What a float is taken from moves the other way; a mask or a count is no float.
            let source = if fields.is_memory(n) { self.memory_source(insn) } else { Some(Source::Cell(n)) };
            self.check(at, source.as_slice());
        }
        let exit = self.side_exit(SideExit::OutOfLine(at.insn().pc()), false);
        let cells: Vec<_> = floats.iter().map(|&n| self.kept_beside(insn, fields, n)).collect();
        let result = self.kept_beside(insn, fields, fields.to);
        let keeps_flags = !self.mirror().liveness.flags_are_dead(at.index);
        let inactive = self.skip_if_zero(at, &cells);
        if let Some(loaded) = fields.loaded {
            self.load_operand(at, loaded.register, fields.bytes);
        }
        let active = self.out.hot.jmp_open();
        let here = self.out.hot.here();
        self.out.hot.patch(inactive, here);
        if !floats.contains(&fields.to) && self.may_be_active(fields, fields.to) {
            encode::store_zero(&mut self.out.hot, result.0, result.1);
        }
        let back = self.out.hot.here();
        let start = self.out.cold.here();
        self.out.hot.patch(active, start);
        if keeps_flags {
            self.spill_flags();
        }
        let mut others = Vec::new();
        for (i, (&float, &kept)) in floats.iter().zip(&cells).enumerate() {
            let here = self.out.cold.here();
            others.drain(..).for_each(|field: Rel32| self.out.cold.patch(field, here));
            if i + 1 < floats.len() {
                encode::compare_zero(&mut self.out.cold, kept.0, kept.1);
                others.push(self.out.cold.jcc_open(encode::EQUAL));
            }
            let side_exit = exit;
            let rescaling = Rescaling {
                insn,
                fields,
                float,
                kept,
                result,
                is_whole,
                number,
                keeps_flags,
                back,
                side_exit,
            };
            self.rescale(&rescaling, &cells[i + 1..]);
        }
        self.guest(at);
        if !fields.is_memory(fields.to) {
            // What is compared may have a shadow still where the engine has seen to it.
            let is_compared = at.block.whole(insn.ip()) == Some(Whole::Compared);
            self.set_carries(fields.to, fields.does != Does::DropDigits || is_compared);
        }
    }

    /// Loads the memory operand into its slot, through a register.
    fn load_operand(&mut self, at: At<'_>, register: Gpr, bytes: usize) {
        let insn = &at.insn().decoded;
        let (from, writes) = (self.guest_operand(insn), self.writes_memory(insn));
        let [aside, loaded] = [Slot::SecondScratch, Slot::Loaded].map(|slot| self.frame.slot(slot));
        self.out.hot.store(aside, register);
        let spilled = self.spilled(None);
        self.note(at.index, Spilled { second_scratch: Some(register), ..spilled });
        encode::load(&mut self.out.hot, register, from, bytes);
        if writes {
            // Memory that may not be written is to be known as such before the shadow is another.
            encode::store(&mut self.out.hot, from, register, bytes);
        }
        self.out.hot.store(loaded, register);
        self.out.hot.load(register, aside);
        self.note_spilled(at.index);
    }

    /// Cold code that keeps the flags in a slot.
    pub(super) fn spill_flags(&mut self) {
        let [rax, flags] = [Slot::Rax, Slot::Rcx].map(|slot| self.frame.slot(slot));
        let cold = &mut self.out.cold;
        cold.store(rax, RAX);
        cold.save_flags();
        cold.store(flags, RAX);
        cold.load(RAX, rax);
    }

    /// Cold code that has the flags as they were.
    pub(super) fn put_flags_back(&mut self) {
        let [rax, flags] = [Slot::Rax, Slot::Rcx].map(|slot| self.frame.slot(slot));
        let cold = &mut self.out.cold;
        cold.store(rax, RAX);
        cold.load(RAX, flags);
        cold.restore_flags();
        cold.load(RAX, rax);
    }

    /// Cold code that exits by a jump, to be patched, if so many bytes of shadows are not zero.
    fn exit_unless_clear(&mut self, (cell, bytes): (Mem, usize)) -> Rel32 {
        encode::compare_zero(&mut self.out.cold, cell, bytes);
        self.out.cold.jcc_open(NOT_EQUAL)
    }
}

/// Tells whether a mask is one for the upper half of a double, whatever that is.
fn is_for_upper_half(mask: Other) -> bool {
    match mask {
        Other::Constant(mask) => tricks::is_for_upper_half(Bitwise::And, 0, mask as u32),
        _ => false,
    }
}
