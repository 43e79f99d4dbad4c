//! Appending: an operation of which an operand has a shadow is written down, and its results get numbers.
//!
//! What is written is said by [`Staged`]: the cells of operands that may have shadows, and the floats that its partial derivatives
//! are made of. It becomes part of a record with the instructions around it ([`staging`](super::staging)). A result's number is
//! its place in the record after the next number, which the context has: all lanes count. Lanes without a shadow get none.

use super::At;
use super::arith::lanes_mask;
use super::operands::{Operands, rest_source};
use super::staging::StagedOperands;
use crate::mailbox::Mailbox;
use crate::x86::asm::{RCX, Rel32};
use crate::x86::code::{Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::table::Shape;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{EncodingKind, OpKind};
use shadowgrind_core::appended::Source;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Reads};

/// Mask register of the lanes that have a shadow.
pub(super) const ACTIVE: u8 = 1;

/// Floats of an arithmetic `op` that are written down: with `roundings`, all.
pub(super) fn reads(roundings: bool, op: Op) -> Reads {
    let reads = if roundings { Some(Reads::ALL) } else { op.reads() };
    reads.expect("an arithmetic row")
}

/// An operation to append.
pub(super) struct Append<'a> {
    pub(super) op: Op,
    /// Formats of operands and result.
    pub(super) formats: [Format; 2],
    pub(super) lanes: u8,
    pub(super) operands: &'a Operands,
    /// The register with the result.
    pub(super) d: u8,
    /// The register that the rest of the low 16 bytes of that comes from; otherwise all else becomes zero.
    pub(super) rest: Option<u8>,
}

impl Append<'_> {
    /// Bytes of an operand.
    pub(super) fn width(&self) -> u8 {
        self.lanes * self.formats[0].bytes() as u8
    }

    /// Bytes of the result.
    pub(super) fn result_width(&self) -> u8 {
        self.lanes * self.formats[1].bytes() as u8
    }

    /// The operands that may have shadows.
    pub(super) fn present(&self) -> impl Iterator<Item = usize> {
        let absent = self.operands.absent;
        (0..self.operands.count).filter(move |i| absent >> i & 1 == 0)
    }
}

/// Length of an operation on so many bytes, of which what is beyond does not matter.
pub(super) fn length(width: u8) -> Length {
    Length::of(width.max(16))
}

impl Emitter {
    /// The instruction, of whose operation what is needed is made part of the record before; its results get numbers as far as operands
    /// have shadows.
    pub(super) fn append(&mut self, at: At<'_>, job: &Append<'_>) {
        let reads = reads(self.mirror().settings.roundings, job.op);
        let temps = if self.has_upper() {
            [self.temporary(0), self.temporary(1)]
        } else {
            self.mirror().temporaries.forget_picked();
            [self.another_temporary(), self.another_temporary()]
        };
        self.note_spilled(at.index);
        let x = self.stage_floats(job, reads, temps[1]);
        let (cells, all) = self.stage_shadows(job, temps);
        self.find_active(job, all, temps[0]);
        self.guest(at);
        let number = self.stage_result(at, job, reads, StagedOperands { cells, x });
        // Lanes of another width: a number that nothing is appended under is no harm beside one that there is.
        let other_lanes = !self.has_upper() && job.formats[0] != job.formats[1];
        let inactive = other_lanes.then(|| self.jump_if_inactive(at, job, temps[0]));
        self.number(job, number, temps);
        if let Some(inactive) = inactive {
            let (rcx, onwards) = (self.frame.slot(Slot::Rcx), self.out.hot.here());
            let start = self.out.cold.here();
            self.out.hot.patch(inactive, start);
            let (cold, cells) = (&mut self.out.cold, temps[1]);
            cold.load(RCX, rcx);
            let rm = Place::Reg(cells);
            cold.vector(Vector::new(forms::XOR, Format::F64, Length::B16, [cells; 2], rm));
            cold.jmp(onwards);
        }
        self.put_numbers(job, temps);
    }

    /// Leaves the lanes in which a register with all shadows has one in mask register [`ACTIVE`], or without AVX-512 all bits of those in
    /// which it has none in the first temporary.
    fn find_active(&mut self, job: &Append<'_>, (mut all, is_low): (u8, bool), first: u8) {
        let ([format, _], width) = (job.formats, job.width());
        if self.has_upper() {
            let lanes = lanes_mask(job.lanes).unwrap_or(0);
            let test = Vector::new(forms::TEST, format, length(width), [ACTIVE, all], Place::Reg(all));
            return self.out.hot.vector(test.masked(lanes));
        }
        if width < 16 && !is_low {
            self.move_low_of(first, all, width);
            all = first;
        }
        let equal = if format == Format::F64 { forms::EQUAL_64 } else { forms::EQUAL_32 };
        let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
        self.out.hot.vector(Vector::new(equal, format, length(width), [first, all], zero));
    }

    /// A jump that is taken if `inactive` says that no operand has a shadow; without AVX-512. At the jump rcx is in its slot.
    fn jump_if_inactive(&mut self, at: At<'_>, job: &Append<'_>, inactive: u8) -> Rel32 {
        let ([format, _], width) = (job.formats, job.width());
        let lanes = i32::from(width.max(16)) / format.bytes() as i32;
        let signs = Vector::unary(forms::SIGNS, format, length(width), RCX, Place::Reg(inactive));
        let rcx = self.frame.slot(Slot::Rcx);
        self.out.hot.store(rcx, RCX);
        let spilled = Spilled { rcx: true, ..self.spilled(None) };
        self.note(at.index, spilled);
        self.out.hot.vector(signs);
        self.out.hot.add_rcx(1 - (1 << lanes));
        let inactive = self.out.hot.jump_if_rcx_is_zero();
        self.out.hot.load(RCX, rcx);
        self.note_spilled(at.index);
        inactive
    }

    /// Writes down the operands' shadows, and leaves all of them, one over the other, in a register: the places in the record, that
    /// register, and whether it certainly has nothing above.
    pub(super) fn stage_shadows(
        &mut self,
        job: &Append<'_>,
        [first, second]: [u8; 2],
    ) -> ([Source; MAX_OPERANDS], (u8, bool)) {
        let ([format, _], width) = (job.formats, job.width());
        let (mut cells, mut all, mut is_low) = ([Source::Absent; MAX_OPERANDS], None, true);
        for i in job.present() {
            let temporary = if all.is_none() { first } else { second };
            let shadow = match job.operands.shadows[i] {
                Place::Reg(register) => {
                    is_low = false;
                    register
                }
                Place::Mem(mem) => {
                    self.out.hot.vector_load(temporary, mem, width);
                    temporary
                }
            };
            let missing;
            (cells[i], missing) = self.place_cells(job, i);
            if let Some(to) = missing {
                self.out.hot.vector_store(to, shadow, width);
            }
            all = Some(match all {
                None => shadow,
                Some(before) => {
                    let rm = Place::Reg(shadow);
                    self.out.hot.vector(Vector::new(forms::OR, format, length(width), [first, before], rm));
                    first
                }
            });
        }
        (cells, (all.expect("an operand that may have a shadow"), is_low))
    }

    /// The low 4 or 8 bytes of a register, in a register that may be the same; the rest becomes zero.
    fn move_low_of(&mut self, to: u8, from: u8, bytes: u8) {
        if bytes == 8 {
            return self.move_shadow(to, from, 8);
        }
        // All but the lowest of four lanes become zero.
        const ALL_BUT_LOWEST: u8 = 0b1110;
        let insert = Vector::new(forms::INSERT_32, Format::F32, Length::B16, [to, from], Place::Reg(from));
        self.out.hot.vector(insert.immediate(ALL_BUT_LOWEST));
    }

    /// Makes the cells of the results in the second temporary, of the lanes that have a shadow: from the record's result `number` on.
    fn number(&mut self, job: &Append<'_>, number: u16, [inactive, cells]: [u8; 2]) {
        let (format, width) = (job.formats[1], job.result_width());
        let next = Mem::rip(self.frame.field(Mailbox::OFFSET_NUMBER));
        let more = Constants::at(self.mirror().settings.constants).numbering(format, number);
        let (more, upper) = (Place::Mem(more), self.has_upper());
        let hot = &mut self.out.hot;
        let add = if format == Format::F64 { forms::ADD_64 } else { forms::ADD_32 };
        let broadcast = match format {
            Format::F64 => Vector::unary(forms::BROADCAST_64, format, Length::B32, cells, Place::Mem(next)),
            _ => Vector::unary(forms::BROADCAST_32, format, length(width), cells, Place::Mem(next)),
        };
        if job.lanes == 1 {
            hot.vector_load(cells, next, width);
        } else if format == Format::F64 && width == 16 && !upper {
            // There is no broadcast to so few bytes, and the upper halves are not to be put in use.
            hot.vector_load(cells, next, 8);
            hot.vector(Vector::new(forms::UNPACK_LOW, format, Length::B16, [cells; 2], Place::Reg(cells)));
        } else {
            hot.vector(broadcast);
        }
        let numbered = Vector::new(add, format, length(width), [cells; 2], more);
        if upper {
            return hot.vector(numbered.masked(ACTIVE).zeroing());
        }
        hot.vector(numbered);
        if job.formats[0] == format {
            let active =
                Vector::new(forms::AND_NOT, format, length(width), [cells, inactive], Place::Reg(cells));
            hot.vector(active);
        } else if width < 16 {
            self.move_low_of(cells, cells, width);
        }
    }

    /// Makes the cells in the second temporary those of the result.
    fn put_numbers(&mut self, job: &Append<'_>, [other, cells]: [u8; 2]) {
        let (format, width, d) = (job.formats[1], job.result_width(), job.d);
        let upper = self.has_upper();
        let extent = job.rest.map_or(0, |rest| self.extent(rest));
        let rest = job.rest.filter(|_| upper || extent > width);
        let Some(rest) = rest else {
            self.put_shadow(d, cells);
            return self.set_extent(d, width);
        };
        let from = match self.shadow_value(rest) {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                self.out.hot.vector_load(other, mem, 16);
                other
            }
        };
        let to = if d < self.mirror().settings.in_registers { 16 + d } else { other };
        let rm = Place::Reg(cells);
        self.out.hot.vector(Vector::new(forms::MOVE_LOW, format, Length::Scalar, [to, from], rm));
        self.put_shadow(d, to);
        self.set_extent(d, extent.clamp(width, 16));
    }

    /// `cvtsd2ss`, `cvtss2sd` and their packed forms.
    pub(super) fn append_conversion(&mut self, at: At<'_>, widens: bool, shape: Shape) {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let d = insn.op0_register().number() as u8;
        let source = insn.op_count() - 1;
        let rest = rest_source(insn, shape, false);
        let in_register = insn.op_kind(source) == OpKind::Register;
        if !plain {
            return self.checked(at);
        }
        if !self.takes_room() || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let (op, formats) = match widens {
            true => (Op::Widen, [Format::F32, Format::F64]),
            false => (Op::Narrow, [Format::F64, Format::F32]),
        };
        let operands = self.operands(insn, &[source]);
        if operands.absent != 0 {
            self.guest(at);
            self.close_operand();
            return self.clear_vector(d);
        }
        let lanes = match (shape, widens) {
            (Shape::Scalar, _) => 1,
            (Shape::Packed, true) => insn.op0_register().size() as u8 / 8,
            (Shape::Packed, false) if in_register => insn.op_register(source).size() as u8 / 8,
            (Shape::Packed, false) => insn.memory_size().size() as u8 / 8,
        };
        self.append(at, &Append { op, formats, lanes, operands: &operands, d, rest });
        self.close_operand();
    }
}
