//! Integers made of a float's bits in general registers by instructions after which nothing of it is left: wide products,
//! quotients, checksums. Where such a one has met shadows often, what it loses is counted in place.
//!
//! Operands in memory, or narrower than a float, are left to the engine if they have a shadow.

use super::At;
use super::check::Source;
use super::encode::{self, EQUAL};
use super::fields::unnamed;
use super::general_number;
use crate::context::Context;
use crate::x86::access::is_read;
use crate::x86::asm::{Gpr, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::table::Row;
use crate::x86::vector::Mem;
use iced_x86::Instruction;
use shadowgrind_core::shadow::Derivatives;

/// Tells whether `insn` is one that may be annotated so.
pub(crate) fn may_count(insn: &Instruction) -> bool {
    rows::row(insn) == Row::Digits && (0..insn.op_count()).all(|n| !insn.op_register(n).is_vector_register())
}

impl Emitter {
    /// Annotates the instruction so if it is one of those and has met shadows often.
    pub(super) fn digits_alone(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        let settings = self.mirror().settings;
        if settings.policy.derivatives != Some(Derivatives::InPlace) || settings.slow || !may_count(insn) {
            return false;
        }
        let Some(&number) = self.mirror().hot_sites.get(&insn.ip()) else { return false };
        let sources = self.sources(at);
        let floats: Vec<(Gpr, usize)> =
            sources.iter().filter_map(|&source| self.float_of(at, source)).collect();
        if floats.is_empty() || !self.open_operand(at) {
            return false;
        }
        if self.mirror().address().is_some() {
            self.close_operand();
            return false;
        }
        let is_other = |source: &Source| !floats.iter().any(|&(n, _)| *source == Source::Cell(n));
        let others: Vec<Source> = sources.into_iter().filter(is_other).collect();
        self.check(at, &others);
        self.count_floats(at, &floats, number);
        self.guest(at);
        self.clear_results(at);
        true
    }

    /// The general register, and how many bytes of it the instruction reads, if these may be a float.
    fn float_of(&mut self, at: At<'_>, source: Source) -> Option<(Gpr, usize)> {
        let Source::Cell(n) = source else { return None };
        let used = self.facts.info(&at.insn().decoded).used_registers().iter();
        let read = used.filter(|used| is_read(used.access()) && general_number(used.register()) == Some(n));
        let bytes = read.map(|used| used.register().size()).max()?;
        (bytes >= 4).then_some((n, bytes))
    }

    /// Counts the instruction if one of these registers has a shadow, and notes the floats.
    fn count_floats(&mut self, at: At<'_>, floats: &[(Gpr, usize)], number: u16) {
        let insn = &at.insn().decoded;
        let used: Vec<Option<Gpr>> = self
            .facts
            .info(insn)
            .used_registers()
            .iter()
            .map(|used| general_number(used.register()))
            .collect();
        let mut free = unnamed(|n| used.contains(&Some(n)));
        let free: [Gpr; 2] =
            std::array::from_fn(|_| free.next().expect("an instruction names few registers"));
        let cells: Vec<(Mem, usize)> = floats.iter().map(|&(n, bytes)| (self.cell(n), bytes)).collect();
        let keeps_flags = !self.mirror().liveness.flags_are_dead(at.index);
        let inactive = self.skip_if_zero(at, &cells);
        let active = self.out.hot.jmp_open();
        let back = self.out.hot.here();
        self.out.hot.patch(inactive, back);
        let start = self.out.cold.here();
        self.out.hot.patch(active, start);
        if keeps_flags {
            self.spill_flags();
        }
        let slots = [Slot::Scratch, Slot::SecondScratch].map(|slot| self.frame.slot(slot));
        free.into_iter().zip(slots).for_each(|(n, slot)| self.out.cold.store(slot, n));
        self.count(number);
        for (&(n, bytes), &cell) in floats.iter().zip(&cells) {
            encode::compare_zero(&mut self.out.cold, cell.0, cell.1);
            let none: Rel32 = self.out.cold.jcc_open(EQUAL);
            self.note_float([n, free[0], free[1]], cell, number, bytes);
            let here = self.out.cold.here();
            self.out.cold.patch(none, here);
        }
        free.into_iter().zip(slots).for_each(|(n, slot)| self.out.cold.load(n, slot));
        if keeps_flags {
            self.put_flags_back();
        }
        self.out.cold.jmp(back);
    }

    /// Cold code that counts under `number`. Writes the flags.
    pub(super) fn count(&mut self, number: u16) {
        let counter = Mem::rip(self.frame.field(Context::OFFSET_COUNTS + 8 * u32::from(number)));
        encode::increment(&mut self.out.cold, counter);
    }
}
