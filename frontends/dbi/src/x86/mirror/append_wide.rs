//! Appending for a guest that uses AVX-512 itself: what [`append`](super::append) does, with the guest's mask registers put back.
//!
//! Lanes that the instruction's mask leaves out have no shadow in the record, so that nothing is appended for them. Does not know which
//! instructions come here, nor what a record is.

use super::At;
use super::append::{ACTIVE, Append, length, reads};
use super::open_record::Known;
use super::operands::Operands;
use super::staging::StagedOperands;
use crate::mailbox::Mailbox;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;

impl Emitter {
    /// The instruction, of whose operation what is needed is made part of the record before, as [`Self::append`] does it. Operands in
    /// memory of which a lane may be another's or not be there are loaded.
    pub(super) fn append_wide(&mut self, at: At<'_>, job: &Append<'_>) {
        let insn = &at.insn().decoded;
        let reads = reads(self.mirror().settings.roundings, job.op);
        let temps = [self.another_temporary(), self.another_temporary()];
        self.note_spilled(at.index);
        let x = self.stage_floats(job, reads, temps[1]);
        let masked = insn.has_op_mask().then(|| self.masked_cells(at, job));
        let cells_of = Append { operands: masked.as_ref().unwrap_or(job.operands), ..*job };
        let (cells, (all, _)) = self.stage_shadows(&cells_of, temps);
        self.guest(at);
        let number = self.stage_result(at, job, reads, StagedOperands { cells, x });
        if insn.has_op_mask() {
            // Of the lanes that are left out, floats alone are what they were written down as.
            let known = &mut self.mirror().open_record.known[usize::from(job.d)];
            *known = Known { x: known.x, ..Known::default() };
        }
        let [other, numbers] = [if all == temps[0] { temps[1] } else { temps[0] }, self.another_temporary()];
        self.keeping_masks(|e| e.number_active(job, number, [all, numbers]));
        let made = self.with_rest(job, [other, numbers]);
        let format = job.formats[0];
        let made = match insn.has_op_mask() {
            true => {
                self.selected(insn, (format, job.width()), made, if made == other { numbers } else { other })
            }
            false => made,
        };
        self.put_shadow(job.d, made);
    }

    /// The operands with the cells of those lanes that the instruction's mask lets through, in temporaries.
    fn masked_cells(&mut self, at: At<'_>, job: &Append<'_>) -> Operands {
        let (mask, format) = (at.insn().decoded.op_mask().number() as u8, job.formats[0]);
        let mut operands = Operands { registers: [None; 3], ..*job.operands };
        for i in job.present() {
            let Place::Mem(mem) = operands.shadows[i] else { continue };
            let to = self.another_temporary();
            let load = Vector::unary(forms::LOAD, format, Length::of(job.width()), to, Place::Mem(mem));
            self.out.hot.vector(load.masked(mask).zeroing());
            operands.shadows[i] = Place::Reg(to);
        }
        operands
    }

    /// Makes the cells of the results, in a register, of the lanes in which `all` has something: from the record's result `number` on.
    fn number_active(&mut self, job: &Append<'_>, number: u16, [all, cells]: [u8; 2]) {
        /// Least bytes that a lane of eight is broadcast to.
        const LEAST: u8 = 32;
        let (format, width) = (job.formats[1], job.result_width());
        let next = Mem::rip(self.frame.field(Mailbox::OFFSET_NUMBER));
        let more = Place::Mem(Constants::at(self.mirror().settings.constants).numbering(format, number));
        let least = if format == Format::F64 { LEAST } else { 16 };
        let add = if format == Format::F64 { forms::ADD_64 } else { forms::ADD_32 };
        let hot = &mut self.out.hot;
        hot.vector(Vector::new(forms::TEST, format, length(width), [ACTIVE, all], Place::Reg(all)));
        if job.lanes == 1 {
            hot.vector_load(cells, next, width);
        } else {
            let length = Length::of(width.max(least));
            hot.vector(Vector::unary(forms::broadcast(format), format, length, cells, Place::Mem(next)));
        }
        let numbered = Vector::new(add, format, length(width), [cells; 2], more);
        hot.vector(numbered.masked(ACTIVE).zeroing());
    }

    /// The cells of the results, and beside a single one those of the register that the rest of the result comes from; in either register.
    fn with_rest(&mut self, job: &Append<'_>, [other, cells]: [u8; 2]) -> u8 {
        let Some(rest) = job.rest else { return cells };
        let rest = self.shadow_memory(rest);
        self.out.hot.vector_load(other, rest, 16);
        let rm = Place::Reg(cells);
        self.out.hot.vector(Vector::new(forms::MOVE_LOW, job.formats[1], Length::Scalar, [other; 2], rm));
        other
    }
}
