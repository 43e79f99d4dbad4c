//! Floats taken apart and put together in general registers: exponents added to, cut out and put in, digits shifted.
//!
//! What `core::tricks::relation` and `moves_along` say of such an instruction is decided by some forty instructions on the float,
//! the result and what is kept beside the float: another exponent is added to that, and a sign turned over, as integers. That
//! much code is made where an instruction has met shadows often. What is none of this, or rare (zeros, infinities, subnormal
//! numbers, parts of floats, two operands with shadows), is left to the engine.

mod instruction;
mod rescale;
mod turned;

use super::At;
use super::check::{SideExit, Source};
use super::encode::{self, NOT_EQUAL};
use crate::x86::asm::{Gpr, RAX, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::wholes::Whole;
use instruction::{Does, Fields, Other, fields};
use rescale::Rescaling;
use shadowgrind_core::shadow::Derivatives;

pub(crate) use instruction::may_follow;

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
        let Some(fields) = fields(insn) else { return false };
        if matches!(fields.does, Does::Turn | Does::TurnBack) && self.mirror().settings.turned == 0 {
            return false;
        }
        let is_whole = match at.block.whole(insn.ip()) {
            None => false,
            Some(Whole::Result(_)) if fields.does == Does::Flip => return false,
            Some(Whole::Result(format)) if format.bytes() == fields.bytes => true,
            Some(_) => return false,
        };
        let floats: Vec<Gpr> = fields.floats().filter(|&n| self.may_carry(n)).collect();
        if floats.is_empty() {
            return false;
        }
        self.follow_fields(at, &fields, &floats, is_whole, number);
        true
    }

    fn follow_fields(&mut self, at: At<'_>, fields: &Fields, floats: &[Gpr], is_whole: bool, number: u16) {
        if let (Does::Subtract, Other::Register(n)) = (fields.does, fields.other) {
            // What a float is taken from moves the other way.
            let source = self.may_carry(n).then_some(Source::Cell(n));
            self.check(at, source.as_slice());
        }
        let exit = self.side_exit(SideExit::OutOfLine(at.insn().pc()), false);
        let cells: Vec<_> = floats.iter().map(|&n| (self.cell(n), 8)).collect();
        let keeps_flags = !self.mirror().liveness.flags_are_dead(at.index);
        let inactive = self.skip_if_zero(at, &cells);
        let active = self.out.hot.jmp_open();
        let here = self.out.hot.here();
        self.out.hot.patch(inactive, here);
        if !floats.contains(&fields.to) && self.may_carry(fields.to) {
            let cell = self.cell(fields.to);
            encode::store_zero(&mut self.out.hot, cell, 8);
        }
        let back = self.out.hot.here();
        let start = self.out.cold.here();
        self.out.hot.patch(active, start);
        if keeps_flags {
            self.spill_flags();
        }
        let mut others = Vec::new();
        for (i, &float) in floats.iter().enumerate() {
            let here = self.out.cold.here();
            others.drain(..).for_each(|field: Rel32| self.out.cold.patch(field, here));
            let cell = self.cell(float);
            if i + 1 < floats.len() {
                encode::compare_zero(&mut self.out.cold, cell, 8);
                others.push(self.out.cold.jcc_open(encode::EQUAL));
            }
            let rescaling = Rescaling { fields, float, is_whole, number, keeps_flags, back, side_exit: exit };
            self.rescale(&rescaling, &floats[i + 1..]);
        }
        self.guest(at);
        self.set_carries(fields.to, fields.does != Does::DropDigits);
    }

    /// Cold code that keeps the flags in a slot.
    fn spill_flags(&mut self) {
        let [rax, flags] = [Slot::Rax, Slot::Rcx].map(|slot| self.frame.slot(slot));
        let cold = &mut self.out.cold;
        cold.store(rax, RAX);
        cold.save_flags();
        cold.store(flags, RAX);
        cold.load(RAX, rax);
    }

    /// Cold code that has the flags as they were.
    fn put_flags_back(&mut self) {
        let [rax, flags] = [Slot::Rax, Slot::Rcx].map(|slot| self.frame.slot(slot));
        let cold = &mut self.out.cold;
        cold.store(rax, RAX);
        cold.load(RAX, flags);
        cold.restore_flags();
        cold.load(RAX, rax);
    }

    /// Cold code that exits by a jump, to be patched, if a cell is not zero.
    fn exit_unless_clear(&mut self, cell: Gpr) -> Rel32 {
        let cell = self.cell(cell);
        encode::compare_zero(&mut self.out.cold, cell, 8);
        self.out.cold.jcc_open(NOT_EQUAL)
    }
}
