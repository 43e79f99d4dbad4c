//! x87 where operations are appended: what is written down of floats on the stack.
//!
//! Cells of ten bytes have that of a double in their last eight, which is what a record has of them. A register's value is known from
//! where the block has loaded it, or stored as it is and loaded again, which raises no exception; what becomes of it is for those who
//! read the record. Results, too, are theirs to compute. Where no operand has a shadow no value is written down. Knows no shadow.

use super::At;
use super::open_record::{Known, Results};
use super::operand::has_memory;
use super::rounding::may_round;
use super::staging::Added;
use super::x87_stack::NUMBER;
use super::x87_values::{IMAGES, Operand, RESULT};
use crate::mailbox::Mailbox;
use crate::x86::asm::Rel32;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::table::X87;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use shadowgrind_core::appended::{HEAD, Source};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Reads};

/// Bytes of a cell, and of a value as it is, with six of zero.
const CELL: u8 = 8;
const IMAGE: u8 = 16;

/// Tells whether an instruction of this row is part of a record, or moves and compares floats as they are.
pub(super) fn is_followed(row: X87) -> bool {
    match row {
        X87::Unary(op) => op.is_arithmetic(),
        X87::Load
        | X87::LoadExact
        | X87::Store
        | X87::StoreInteger(_)
        | X87::Arith(..)
        | X87::Exchange
        | X87::ConditionalMove(_)
        | X87::Compare
        | X87::CompareZero
        | X87::Free => true,
        _ => false,
    }
}

/// Floats of an operation on the stack that are written down.
fn reads(op: Op) -> Reads {
    op.reads().expect("an arithmetic row").without_result()
}

impl Emitter {
    /// Tells whether the code beside an operation on the stack reads one of its floats.
    pub(super) fn x87_is_read(&mut self, op: Op) -> bool {
        if self.mirror().settings.appends {
            let reads = reads(op);
            return (0..op.arity()).any(|i| reads.operand(i));
        }
        let rule = self.inline_rule();
        rule.needs_result(op) || (0..op.arity()).any(|i| rule.needs_operand(op, i))
    }

    /// Makes operation `op` of the instruction, on `operands`, part of the record; the result goes to register `to`.
    pub(super) fn x87_append(&mut self, at: At<'_>, op: Op, operands: &[Operand], to: u8) {
        if !self.takes_room() {
            return self.out_of_line(at);
        }
        // What is spilled is so on both ways.
        self.temporary(1);
        let number = self.temporary(0);
        let mut cells = [Source::Absent; MAX_OPERANDS];
        for (cells, &operand) in cells.iter_mut().zip(operands) {
            *cells = self.x87_source(at, operand, number);
        }
        let skip = self.x87_skip(at, operands, number);
        let (x, kept) = self.x87_floats(at, op, operands, to);
        self.next_number_past(skip, number, CELL);
        self.guest(at);
        let (formats, count) = ([Format::F80; 2], operands.len());
        self.add_part(at, &Added { op, formats, lanes: 1, count, cells, x, r: 0, kept });
        self.x87_made(to, number);
    }

    /// The shadows of an operand, which are written down unless the record has them. Those of a narrow float are a part of their own.
    fn x87_source(&mut self, at: At<'_>, operand: Operand, through: u8) -> Source {
        match operand {
            Operand::Stack(n) => {
                let known = self.x87_in_record(n);
                if let Some(results) = known.results {
                    return Source::Results(results.number);
                }
                if let Some(field) = known.cells {
                    return Source::Cells(HEAD + field.at);
                }
                let from = self.x87_cell(n).plus(NUMBER);
                let (field, to) = self.new_cells(CELL);
                self.move_staged(to, from, CELL, through);
                self.x87_in_record_mut(n).cells = Some(field);
                Source::Cells(HEAD + field.at)
            }
            Operand::Memory(format) => {
                let Some(mirror) = self.mirror_memory(&at.insn().decoded) else { return Source::Absent };
                let (bytes, (field, to)) = (format.bytes() as u8, self.new_cells(format.bytes() as u8));
                self.move_staged(to, mirror, bytes, through);
                let source = Source::Cells(HEAD + field.at);
                if format == Format::F32 { Source::Results(self.widened(at, source)) } else { source }
            }
            Operand::Integer => Source::Absent,
        }
    }

    /// Makes the widening of a narrow float with these cells part of the record. Returns the number of its result.
    fn widened(&mut self, at: At<'_>, cells: Source) -> u16 {
        let formats = [Format::F32, Format::F80];
        self.add_part(at, &Added { op: Op::Widen, formats, lanes: 1, count: 1, ..Added::of_one(cells) })
    }

    /// Writes down the operands' floats that are read; leaves the instruction to the engine where one may be a number that rounds
    /// the other term.
    fn x87_floats(
        &mut self,
        at: At<'_>,
        op: Op,
        operands: &[Operand],
        to: u8,
    ) -> ([u16; MAX_OPERANDS], [Format; MAX_OPERANDS]) {
        let reads = reads(op);
        let magic = !op.addends().is_empty() && may_round(at, Format::F80);
        let on_stack = |i: usize| match operands[i] {
            Operand::Stack(n) if reads.operand(i) || magic => Some(n),
            _ => None,
        };
        let mut wanted: Vec<u8> = (0..operands.len()).filter_map(on_stack).collect();
        wanted.dedup();
        self.check_empty(at, &wanted, to);
        if has_memory(&at.insn().decoded) {
            self.x87_touch(at);
        }
        if magic {
            let images: Vec<(u8, Mem)> =
                wanted.iter().zip(IMAGES).map(|(&n, image)| (n, self.x87_slot(image))).collect();
            self.x87_images(&images);
            let images: Vec<Mem> = images.into_iter().map(|(_, image)| image).collect();
            self.check_magic_images(at, &images);
        }
        let (mut x, mut kept) = ([0; MAX_OPERANDS], [Format::F64; MAX_OPERANDS]);
        let mut stored: Vec<(u8, Mem)> = Vec::new();
        for i in (0..operands.len()).filter(|&i| reads.operand(i)) {
            if let Some(j) = (0..i).find(|&j| operands[j] == operands[i] && x[j] != 0) {
                (x[i], kept[i]) = (x[j], kept[j]);
                continue;
            }
            (x[i], kept[i]) = self.x87_float(at, operands[i], &mut stored);
        }
        self.x87_images(&stored);
        (x, kept)
    }

    /// Writes down the value of an operand, unless that has to be `stored` with others: its offset and one more, and its format.
    fn x87_float(&mut self, at: At<'_>, operand: Operand, stored: &mut Vec<(u8, Mem)>) -> (u16, Format) {
        let value = self.temporary(0);
        let (from, bytes, format) = match operand {
            Operand::Stack(n) => match self.x87_known(n) {
                Some(known) if known.double => (self.x87_kept(known), CELL, Format::F64),
                Some(known) => (self.x87_kept(known), IMAGE, Format::F80),
                None => {
                    let (field, to) = self.new_float(IMAGE);
                    stored.push((n, to));
                    return (1 + field.at, Format::F80);
                }
            },
            Operand::Memory(format) => (self.guest_operand(&at.insn().decoded), format.bytes() as u8, format),
            Operand::Integer => match self.x87_integer(at) {
                Place::Mem(mem) => (mem, CELL, Format::F64),
                Place::Reg(_) => unreachable!("an integer is kept in memory"),
            },
        };
        let (field, to) = self.new_float(bytes.max(CELL));
        let hot = &mut self.out.hot;
        hot.vector_load(value, from, bytes);
        hot.vector_store(to, value, bytes.max(CELL));
        (1 + field.at, format)
    }

    /// Copies `bytes` bytes through vector register `through`.
    fn move_staged(&mut self, to: Mem, from: Mem, bytes: u8, through: u8) {
        self.out.hot.vector_load(through, from, bytes);
        self.out.hot.vector_store(to, through, bytes);
    }

    /// Puts the cell of the next result, of `bytes` bytes, in vector register `to`; jump `skip` leads past that.
    fn next_number_past(&mut self, skip: Rel32, to: u8, bytes: u8) {
        let format = if bytes == CELL { Format::F64 } else { Format::F32 };
        let number = self.mirror().open_record.numbers;
        let next = Mem::rip(self.frame.field(Mailbox::OFFSET_NUMBER));
        let more = Place::Mem(Constants::at(self.mirror().settings.constants).numbering(format, number));
        let add = if bytes == CELL { forms::ADD_64 } else { forms::ADD_32 };
        let hot = &mut self.out.hot;
        hot.vector_load(to, next, bytes);
        hot.vector(Vector::new(add, format, Length::B16, [to; 2], more));
        let here = hot.here();
        hot.patch(skip, here);
    }

    /// Notes that register `to` holds the last result of the record, whose cell is in vector register `number`.
    fn x87_made(&mut self, to: u8, number: u8) {
        self.x87_written(to, None);
        let results =
            Results { number: self.mirror().open_record.numbers - 1, lanes: 1, format: Format::F80 };
        *self.x87_in_record_mut(to) = Known { results: Some(results), ..Known::default() };
        let cell = self.x87_cell(to);
        self.put_x87(cell, number);
    }

    /// Makes `fld` of a float of four bytes part of the record.
    pub(super) fn x87_append_load(&mut self, at: At<'_>, mirror: Mem) {
        if !self.takes_room() {
            return self.out_of_line(at);
        }
        self.temporary(1);
        let number = self.temporary(0);
        let (field, to) = self.new_cells(4);
        self.move_staged(to, mirror, 4, number);
        let skip = self.x87_skip(at, &[Operand::Memory(Format::F32)], number);
        self.next_number_past(skip, number, CELL);
        self.guest(at);
        self.widened(at, Source::Cells(HEAD + field.at));
        self.x87_made(7, number);
    }

    /// Makes `fst` to a float of four or eight bytes part of the record.
    pub(super) fn x87_append_store(&mut self, at: At<'_>, format: Format) {
        if !self.takes_room() {
            return self.out_of_line(at);
        }
        self.temporary(1);
        let (number, bytes) = (self.temporary(0), format.bytes() as u8);
        let cells = self.x87_source(at, Operand::Stack(0), number);
        let skip = self.x87_skip(at, &[Operand::Stack(0)], number);
        self.next_number_past(skip, number, bytes);
        self.guest(at);
        let formats = [Format::F80, format];
        self.add_part(at, &Added { op: Op::Narrow, formats, lanes: 1, count: 1, ..Added::of_one(cells) });
        let Some(mirror) = self.mirror_memory(&at.insn().decoded) else { return };
        if !self.mirror().is_alone {
            // Others may see the number from here on.
            let kept = self.x87_slot(RESULT);
            self.out.hot.vector_store(kept, number, bytes);
            self.close_record(at.index);
            let number = self.temporary(0);
            self.move_staged(mirror, kept, bytes, number);
            return;
        }
        self.out.hot.vector_store(mirror, number, bytes);
    }

    /// Parts of the register `index` below the top that the record has.
    fn x87_in_record(&mut self, index: u8) -> Known {
        *self.x87_in_record_mut(index)
    }

    /// Parts of the register `index` below the top that the record has, to be changed.
    pub(super) fn x87_in_record_mut(&mut self, index: u8) -> &mut Known {
        let n = self.physical(index);
        &mut self.mirror().open_record.known_x87[n]
    }
}
