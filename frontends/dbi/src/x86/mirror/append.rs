//! Appending: an operation of which an operand has a shadow is written to a buffer, and its results get numbers.
//!
//! What is written is the number of the [`RecordDescriptor`], the cells of operands that may have shadows, and the floats that its
//! partial derivatives are made of, each field as wide as the operand. Lanes without a shadow get none, and where no lane
//! has one nothing is written. A result's number follows from the next one, which the context has: all lanes count.
//!
//! A buffer has [`ROOM`] bytes, and [`BUFFER`] more for what a block writes beyond; those begin where bits 16 to 23 of the
//! address are 0, so that one byte of the position says at the start of each block whether there is room.

use super::At;
use super::arith::lanes_mask;
use super::descriptor::{BUFFER, ID, RecordDescriptor, What};
use super::encode::{self, EQUAL};
use super::operands::{Operands, rest_source};
use super::places;
use super::record::in_record;
use crate::mailbox::Mailbox;
use crate::x86::asm::{RCX, Rel32};
use crate::x86::code::{ExitKind, Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::{Constants, InlineRule};
use crate::x86::superblock::Superblock;
use crate::x86::table::{Row, Shape};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{EncodingKind, OpKind};
use shadowgrind_core::appended::Layout;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Op, Reads};
use shadowgrind_core::step::Sums;

/// Bytes of a buffer: as many iterations of a loop as can be are to be there at once, and all are to stay in a cache.
pub(crate) const ROOM: u64 = 1 << 19;
/// Alignment of the ends of buffers.
pub(crate) const ALIGNMENT: u64 = 1 << 24;
/// Tells whether a buffer whose position this is has to be emptied before a block may append something.
pub(crate) const fn is_full(position: u64) -> bool {
    position >> 16 & 0xff == 0
}

/// Most bytes of what is appended for an instruction.
const MOST: u64 = 256;

const JMP_BYTES: u8 = 5;
const SHORT_JMP_BYTES: u8 = 2;

/// Mask register of the lanes that have a shadow.
const ACTIVE: u8 = 1;

/// Source of the shadows of results.
#[derive(Clone, Copy)]
pub(super) enum Beside {
    /// Shadows that are computed by this rule.
    Rule(InlineRule),
    /// Shadows that are the numbers of what is appended: with `roundings`, all floats of an operation.
    Numbers { roundings: bool },
}

impl Beside {
    /// Floats of an arithmetic `op` that are written down.
    fn reads(roundings: bool, op: Op) -> Reads {
        let reads = if roundings { Some(Reads::ALL) } else { op.reads() };
        reads.expect("an arithmetic row")
    }

    /// Tells whether it takes the guest's result of an arithmetic `op`.
    pub(super) fn needs_result(self, op: Op) -> bool {
        match self {
            Beside::Rule(rule) => rule.needs_result(op),
            Beside::Numbers { roundings } => Self::reads(roundings, op).result(),
        }
    }

    /// Tells whether it takes operand `i` of an arithmetic `op`.
    pub(super) fn needs_operand(self, op: Op, i: usize) -> bool {
        match self {
            Beside::Rule(rule) => rule.needs_operand(op, i),
            Beside::Numbers { roundings } => Self::reads(roundings, op).operand(i),
        }
    }

    /// Temporaries that it takes without AVX-512.
    pub(super) fn temporaries(self, op: Op) -> usize {
        match self {
            Beside::Rule(rule) => rule.temporaries(op),
            Beside::Numbers { .. } => 2,
        }
    }
}

impl RecordDescriptor {
    /// Layout of what is appended for the operation.
    pub(crate) fn layout(&self) -> Layout {
        let (formats, operands) = ([self.from, self.to], usize::from(self.operands));
        Layout::of(self.lanes, formats, operands, self.absent, self.reads)
    }
}

/// An operation to append.
pub(super) struct Append<'a> {
    pub(super) op: Op,
    /// Formats of operands and result.
    pub(super) formats: [Format; 2],
    pub(super) lanes: u8,
    pub(super) operands: &'a Operands,
    /// The register with the result, if that is written down.
    pub(super) r: u8,
    /// The register for the cells of the results.
    pub(super) to: u8,
    /// True if the rest of the low 16 bytes of that stays; otherwise all else becomes zero.
    pub(super) keeps_rest: bool,
    /// Vector registers to clobber; may be one for an operation on one operand with AVX-512.
    pub(super) temps: [u8; 2],
}

impl Append<'_> {
    fn width(&self) -> u8 {
        self.lanes * self.formats[0].bytes() as u8
    }

    fn result_width(&self) -> u8 {
        self.lanes * self.formats[1].bytes() as u8
    }

    /// The operands that may have shadows.
    fn present(&self) -> impl Iterator<Item = usize> {
        let absent = self.operands.absent;
        (0..self.operands.count).filter(move |i| absent >> i & 1 == 0)
    }
}

/// Length of an operation on so many bytes, of which what is beyond does not matter.
fn length(width: u8) -> Length {
    Length::of(width.max(16))
}

impl Emitter {
    /// Source of the shadows of results.
    pub(super) fn beside(&mut self) -> Beside {
        let settings = self.mirror().settings;
        if settings.appends {
            Beside::Numbers { roundings: settings.roundings }
        } else {
            Beside::Rule(self.inline_rule())
        }
    }

    /// At the start of `block`: leaves for the buffer to be emptied if it is full and the block may append something.
    pub(super) fn make_room(&mut self, block: &Superblock) {
        let appends = |row| {
            matches!(row, Row::Arith(..) | Row::Unary(..) | Row::Fused(..) | Row::Narrow(_) | Row::Widen(_))
        };
        self.mirror().appended_bytes = 0;
        if self.mode.is_off() || !block.insns.iter().any(|insn| appends(rows::row(&insn.decoded))) {
            return;
        }
        let rcx = self.frame.slot(Slot::Rcx);
        let position = Mem::rip(self.frame.field(Mailbox::OFFSET_RECORD));
        let full = self.out.cold.here();
        self.out.cold.load(RCX, rcx);
        self.stub(ExitKind::Flush(block.start), 0);
        self.out.hot.store(rcx, RCX);
        self.note(0, Spilled { rcx: true, ..Spilled::default() });
        let hot = &mut self.out.hot;
        encode::load_rcx(hot, position.plus(2), 1);
        // To the far jump, or over it.
        hot.jrcxz_over(SHORT_JMP_BYTES);
        hot.raw(&[0xeb, JMP_BYTES]);
        hot.jmp(full);
        hot.load(RCX, rcx);
    }

    /// Tells whether the buffer certainly has room for one more instruction of this block, and counts that.
    pub(super) fn takes_room(&mut self) -> bool {
        let mirror = self.mirror();
        mirror.appended_bytes += MOST;
        mirror.appended_bytes <= BUFFER
    }

    /// Appends an operation if an operand has a shadow, and gives its results their numbers.
    pub(super) fn append(&mut self, at: At<'_>, job: &Append<'_>) {
        let Beside::Numbers { roundings } = self.beside() else {
            unreachable!("what is appended has numbers")
        };
        let recorded = RecordDescriptor {
            narrow: None,
            pc: at.insn().pc(),
            what: What::Op(job.op),
            lanes: job.lanes,
            operands: job.operands.count as u8,
            from: job.formats[0],
            to: job.formats[1],
            sums: Sums::Plain,
            absent: job.operands.absent,
            reads: Beside::reads(roundings, job.op),
        };
        let id = self.recorded(recorded);
        let flags_are_dead = self.mirror().liveness.flags_are_dead(at.index);
        let inactive = self.look_for_shadows_of(at, job, flags_are_dead);
        self.write_down(at, job, id, recorded.layout());
        let onwards = self.out.hot.here();
        let start = self.out.cold.here();
        self.out.hot.patch(inactive, start);
        let rcx = self.frame.slot(Slot::Rcx);
        let cold = &mut self.out.cold;
        if !flags_are_dead {
            cold.load(RCX, rcx);
        }
        let zero = |n: u8| Vector::new(forms::XOR, Format::F64, Length::B16, [n; 2], Place::Reg(n));
        if job.keeps_rest {
            let none = job.temps[1];
            cold.vector(zero(none));
            let (format, scalar) = (job.formats[1], Length::Scalar);
            cold.vector(Vector::new(forms::MOVE_LOW, format, scalar, [job.to; 2], Place::Reg(none)));
        } else {
            cold.vector(zero(job.to));
        }
        cold.jmp(onwards);
    }

    /// A jump that is taken if no operand has a shadow. Leaves the lanes that have one in mask register [`ACTIVE`], or
    /// without AVX-512 all bits of those that have none in the first temporary. At the jump rcx is in its slot, unless the
    /// flags are dead.
    fn look_for_shadows_of(&mut self, at: At<'_>, job: &Append<'_>, flags_are_dead: bool) -> Rel32 {
        let ([first, _], [format, _]) = (job.temps, job.formats);
        let (width, upper) = (job.width(), self.has_upper());
        let mut all = self.all_shadows_of(job);
        if upper {
            let lanes = lanes_mask(job.lanes).unwrap_or(0);
            let test = Vector::new(forms::TEST, format, length(width), [ACTIVE, all], Place::Reg(all));
            self.out.hot.vector(test.masked(lanes));
        } else {
            if width < 16 {
                self.move_low_of(first, all, width);
                all = first;
            }
            if flags_are_dead {
                let rm = Place::Reg(all);
                self.out.hot.vector(Vector::unary(forms::TEST_FLAGS, Format::F64, length(width), all, rm));
            }
            let equal = if format == Format::F64 { forms::EQUAL_64 } else { forms::EQUAL_32 };
            let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
            self.out.hot.vector(Vector::new(equal, format, length(width), [first, all], zero));
        }
        if flags_are_dead {
            if upper {
                encode::test_mask(&mut self.out.hot);
            }
            return self.out.hot.jcc_open(EQUAL);
        }
        let rcx = self.frame.slot(Slot::Rcx);
        self.out.hot.store(rcx, RCX);
        let spilled = Spilled { rcx: true, ..self.spilled(None) };
        self.note(at.index, spilled);
        if upper {
            encode::mask_to_rcx(&mut self.out.hot);
        } else {
            let lanes = i32::from(width.max(16)) / format.bytes() as i32;
            let signs = Vector::unary(forms::SIGNS, format, length(width), RCX, Place::Reg(first));
            self.out.hot.vector(signs);
            self.out.hot.add_rcx(1 - (1 << lanes));
        }
        // To the far jump, or over it.
        self.out.hot.jrcxz_over(SHORT_JMP_BYTES);
        self.out.hot.raw(&[0xeb, JMP_BYTES]);
        let inactive = self.out.hot.jmp_open();
        self.out.hot.load(RCX, rcx);
        self.note_spilled(at.index);
        inactive
    }

    /// All shadows of the operands, one over the other, in a register.
    fn all_shadows_of(&mut self, job: &Append<'_>) -> u8 {
        let ([first, second], [format, _], width) = (job.temps, job.formats, job.width());
        let mut all = None;
        for i in job.present() {
            let temporary = if all.is_none() { first } else { second };
            let shadow = match job.operands.shadows[i] {
                Place::Reg(register) => register,
                Place::Mem(mem) => {
                    self.out.hot.vector_load(temporary, mem, width);
                    temporary
                }
            };
            all = Some(match all {
                None => shadow,
                Some(before) => {
                    let rm = Place::Reg(shadow);
                    self.out.hot.vector(Vector::new(forms::OR, format, length(width), [first, before], rm));
                    first
                }
            });
        }
        all.expect("an operand that may have a shadow")
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

    /// Writes the operation down as number `id`, in lanes that have a shadow, and makes the cells of its results.
    fn write_down(&mut self, at: At<'_>, job: &Append<'_>, id: u32, layout: Layout) {
        let insn = &at.insn().decoded;
        let scratch = self.frame.slot(Slot::Scratch);
        let position = self.frame.field(Mailbox::OFFSET_RECORD);
        let next = self.frame.field(Mailbox::OFFSET_NUMBER);
        let pointer = self.free_register(insn);
        self.out.hot.store(scratch, pointer);
        self.out.hot.load(pointer, position);
        let spilled = self.spilled(Some(pointer));
        self.note(at.index, spilled);
        encode::store_imm32(&mut self.out.hot, in_record(pointer, ID), id);
        let operands = job.operands;
        for i in 0..operands.count {
            for (at, from) in [(layout.cells[i], operands.shadows[i]), (layout.x[i], operands.x[i])] {
                if at != 0 {
                    self.write_field(in_record(pointer, at.into()), from, job.width(), job.temps[1]);
                }
            }
        }
        if layout.r != 0 {
            let field = in_record(pointer, layout.r.into());
            self.write_field(field, Place::Reg(job.r), job.result_width(), job.temps[1]);
        }
        self.number(job);
        let hot = &mut self.out.hot;
        encode::add(hot, pointer, layout.bytes.into());
        hot.store(position, pointer);
        hot.load(pointer, next);
        encode::add(hot, pointer, job.lanes.into());
        hot.store(next, pointer);
        hot.load(pointer, scratch);
        self.note_spilled(at.index);
    }

    fn write_field(&mut self, field: Mem, from: Place, width: u8, temporary: u8) {
        let register = match from {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                self.out.hot.vector_load(temporary, mem, width);
                temporary
            }
        };
        self.out.hot.vector_store(field, register, width);
    }

    /// Makes the cells of the results, of the lanes that have a shadow.
    fn number(&mut self, job: &Append<'_>) {
        let [inactive, cells] = job.temps;
        let (format, width, to) = (job.formats[1], job.result_width(), job.to);
        let next = Mem::rip(self.frame.field(Mailbox::OFFSET_NUMBER));
        let more = Place::Mem(Constants::at(self.mirror().settings.constants).numbering(format));
        let upper = self.has_upper();
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
        if job.lanes > 1 || format != Format::F64 {
            hot.vector(Vector::new(add, format, length(width), [cells; 2], more));
        }
        if job.keeps_rest {
            let scalar = Vector::new(forms::MOVE_LOW, format, Length::Scalar, [to; 2], Place::Reg(cells));
            hot.vector(scalar);
        } else if upper {
            let moved = Vector::unary(forms::MOVE, format, length(width), to, Place::Reg(cells));
            hot.vector(moved.masked(ACTIVE).zeroing());
        } else if job.formats[0] == format {
            let rm = Place::Reg(cells);
            hot.vector(Vector::new(forms::AND_NOT, format, length(width), [to, inactive], rm));
        } else {
            // Lanes of another width: a number that nothing is appended under is no harm.
            self.move_shadow(to, cells, width);
        }
    }

    /// `cvtsd2ss`, `cvtss2sd` and their packed forms.
    pub(super) fn append_conversion(&mut self, at: At<'_>, widens: bool, shape: Shape) {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let d = insn.op0_register().number() as u8;
        let source = insn.op_count() - 1;
        let rest = rest_source(insn, shape, false);
        let in_register = insn.op_kind(source) == OpKind::Register;
        let same = in_register && insn.op_register(source).number() as u8 == d;
        // What is overwritten cannot be written down.
        if !plain || (rest.is_some_and(|r| r != d) && same) || self.mirror().settings.roundings {
            return self.checked(at);
        }
        if !self.takes_room() || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let (op, formats) = match widens {
            true => (Op::Widen, [Format::F32, Format::F64]),
            false => (Op::Narrow, [Format::F64, Format::F32]),
        };
        self.guest(at);
        let operands = self.operands(insn, &[source]);
        if operands.absent != 0 {
            self.close_operand();
            return self.clear_vector(d);
        }
        let lanes = match (shape, widens) {
            (Shape::Scalar, _) => 1,
            (Shape::Packed, true) => insn.op0_register().size() as u8 / 8,
            (Shape::Packed, false) if in_register => insn.op_register(source).size() as u8 / 8,
            (Shape::Packed, false) => insn.memory_size().size() as u8 / 8,
        };
        let to = self.shadow_target(d, 0);
        // With AVX-512 one operand takes no more than one.
        let second = usize::from(!self.has_upper()) + 1;
        let temps = [self.temporary(1), self.temporary(second)];
        if let Some(rest) = rest {
            let from = self.low_in_register(rest, 16, 0);
            if from != to {
                self.move_shadow(to, from, 16);
            }
        }
        let (operands, keeps_rest) = (&operands, rest.is_some());
        self.append(at, &Append { op, formats, lanes, operands, r: d, to, keeps_rest, temps });
        if keeps_rest && !places::keeps_upper(insn) {
            self.move_shadow(to, to, 16);
        }
        self.put_shadow(d, to);
        self.close_operand();
    }
}
