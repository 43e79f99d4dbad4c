//! x87: what stands beside each instruction.
//!
//! Where the shadow of a register is, `x87_stack` knows. Ours comes before the guest's instruction wherever the stack itself is
//! looked at (`x87_values`): what that does to the condition code the guest's undoes. What is rare is left to the engine if an
//! operand has a shadow. Does not know what a shadow means.

use super::At;
use super::arith::{MASKS, lanes_mask};
use super::check::Source;
use super::operand::has_memory;
use super::x87_stack::{LAST_WORD, NUMBER, register, word};
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Constants, Conversion, Rest};
use crate::x86::table::X87;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::MemorySize;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

impl Emitter {
    /// An instruction of x87.
    pub(super) fn x87(&mut self, at: At<'_>, row: X87) {
        let super::Settings { records, slow, policy, .. } = self.mirror().settings;
        if row == X87::Status && has_memory(&at.insn().decoded) && !self.mode.is_off() {
            return self.out_of_line(at);
        }
        if (records || policy.is_born) && slow && !self.mode.is_off() && !row.keeps_floats() {
            return self.out_of_line(at);
        }
        if records && !slow && !self.mode.is_off() && !row.keeps_floats() {
            return self.x87_recorded(at, row);
        }
        if slow || self.mode.is_off() {
            return if row.keeps_floats() { self.integer(at) } else { self.x87_checked(at) };
        }
        if row.keeps_floats() {
            self.integer(at);
        } else if row == X87::Reset {
            self.check(at, &[Source::X87]);
            self.guest(at);
        } else {
            self.find_top(at);
            self.mirror().carries = true;
            if !self.open_operand(at) {
                return self.out_of_line(at);
            }
            self.x87_beside(at, row);
            self.x87_popped(at);
            self.close_operand();
        }
        self.follow_top(at);
    }

    /// Without a shadow in any register of the stack, or in memory.
    fn x87_checked(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let mut sources = vec![Source::X87];
        if self.reads_memory(insn) {
            sources.extend(self.memory_source(insn));
        }
        self.check(at, &sources);
        self.guest(at);
        self.clear_results(at);
        self.close_operand();
    }

    /// Annotates an instruction whose top is known and whose memory operand is open.
    pub(super) fn x87_beside(&mut self, at: At<'_>, row: X87) {
        let is_born = self.mirror().settings.policy.is_born;
        match row {
            X87::Load => self.x87_load(at),
            X87::LoadExact => self.x87_load_exact(at),
            X87::Store => self.x87_store(at),
            X87::Arith(op, exchanged) => self.x87_arithmetic(at, op, exchanged),
            // Rounding to an integer is exact, or has an operand that is not.
            X87::Unary(Op::Rint) if is_born => {
                self.check_x87(at, &[0]);
                self.guest(at);
                self.x87_written(0, None);
            }
            X87::Unary(Op::Rint) if self.mirror().settings.appends => {
                self.count_x87_rounding(at);
                self.guest(at);
                self.x87_written(0, None);
                let top = self.x87_cell(0);
                self.clear_x87(top);
            }
            X87::Unary(op) if op.is_arithmetic() => {
                if op.makes_whole() {
                    self.count_x87_rounding(at);
                }
                self.x87_operation(at, op, &[0], 0);
            }
            X87::Exchange => self.x87_exchange(at),
            X87::ConditionalMove(condition) => self.x87_conditional_move(at, condition),
            X87::Compare | X87::CompareZero => self.x87_compare(at, row == X87::CompareZero),
            X87::Free => {
                let freed = register(at.insn().decoded.op0_register());
                let cell = self.x87_cell(freed);
                self.guest(at);
                self.clear_x87(cell);
                self.x87_emptied(freed);
            }
            X87::StoreInteger(_) => self.x87_store_integer(at),
            // Their roundings are known out of line.
            X87::Unary(_) | X87::SinCos | X87::Tangent | X87::Extract | X87::Binary(_) | X87::Scale(_)
                if is_born =>
            {
                self.out_of_line(at);
            }
            _ if self.x87_evaluated(at, row) => {}
            // A result that is pushed goes where nothing is to be found.
            X87::Unary(_) | X87::SinCos | X87::Tangent | X87::Extract => {
                self.check_x87(at, &[0, 7]);
                self.guest(at);
                self.forget_x87();
            }
            X87::Binary(_) | X87::Scale(_) => {
                self.check_x87(at, &[0, 1]);
                self.guest(at);
                self.forget_x87();
            }
            X87::Reset
            | X87::Rotate
            | X87::Status
            | X87::Control
            | X87::Environment
            | X87::SaveEnvironment => {
                unreachable!("the top does not matter")
            }
        }
    }

    /// `fld`, of a float in memory or a register.
    fn x87_load(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let to = self.x87_cell(7);
        if !has_memory(insn) {
            let from = self.x87_cell(register(insn.op_register(insn.op_count() - 1)));
            self.guest(at);
            let source = register(insn.op_register(insn.op_count() - 1));
            self.x87_copied(source, 7);
            return self.copy_x87(from, to);
        }
        let Some(mirror) = self.mirror_memory(insn) else {
            self.guest(at);
            self.keep_loaded(at);
            return self.clear_x87(to);
        };
        let number = self.temporary(0);
        match insn.memory_size() {
            MemorySize::Float32 if self.mirror().settings.appends => return self.x87_append_load(at, mirror),
            MemorySize::Float32 => {
                self.guest(at);
                self.keep_loaded(at);
                self.x87_convert(at, Format::F32, Place::Mem(mirror), number);
            }
            MemorySize::Float64 => {
                self.guest(at);
                self.keep_loaded(at);
                self.out.hot.vector_load(number, mirror, 8);
                self.x87_set_double(7, true);
            }
            MemorySize::Float80 => {
                self.check_whole(at, mirror);
                self.guest(at);
                self.keep_loaded(at);
                self.out.hot.vector_load(number, mirror.plus(NUMBER), 8);
            }
            _ => return self.out_of_line(at),
        }
        self.put_x87(to, number);
    }

    /// `fist`: an integer has no shadow. But what was loaded as one may be a float on its way elsewhere, whose shadow is in the
    /// cell's lowest bytes, without the end that those of long doubles have: the engine moves it on.
    fn x87_store_integer(&mut self, at: At<'_>) {
        const SHORTEST_FLOAT: usize = Format::F32.bytes();
        let end = (self.x87_cell(0).plus(8), 2);
        let is_seen = self.mirror().settings.policy.conversions || self.mirror().settings.policy.is_born;
        if is_seen {
            self.check_x87(at, &[0]);
        } else if at.insn().decoded.memory_size().size() >= SHORTEST_FLOAT {
            let without_end = self.skip_if_zero(at, &[end]);
            let converts = self.out.hot.jmp_open();
            let here = self.out.hot.here();
            self.out.hot.patch(without_end, here);
            self.check_x87(at, &[0]);
            let here = self.out.hot.here();
            self.out.hot.patch(converts, here);
        }
        if !is_seen {
            self.count_x87_rounding(at);
        }
        self.guest(at);
        self.clear_results(at);
    }

    /// Leaves the instruction to the engine if sign or exponent beside a long double were changed as integers, or what is there is
    /// something else.
    fn check_whole(&mut self, at: At<'_>, mirror: Mem) {
        let (number, other) = (self.temporary(0), self.temporary(1));
        let hot = &mut self.out.hot;
        hot.vector_load(number, mirror.plus(NUMBER), 8);
        hot.vector(word(forms::INSERT_16, [other, number], mirror, LAST_WORD));
        hot.vector(Vector::new(forms::XOR, Format::F64, Length::B16, [other, other], Place::Reg(number)));
        self.check_register(at, other);
    }

    /// The shadow at `from`, of four bytes or (`format` F64) eight, in the other format, in register `to`.
    pub(super) fn x87_convert(&mut self, at: At<'_>, format: Format, from: Place, to: u8) {
        let result = if format == Format::F32 { Format::F64 } else { Format::F32 };
        let temp = self.temporary(1);
        let marks = format == Format::F32 && self.mirror().settings.policy.marks_widened;
        let mark = marks.then(|| [if self.has_upper() { temp } else { self.temporary(2) }, MASKS[1]]);
        self.begin_rule(at);
        let job = Conversion {
            from: format,
            result,
            count: 1,
            shadow: from,
            to,
            rest: Rest::Zero,
            temp,
            mask: MASKS[0],
            lanes: if self.has_upper() { lanes_mask(1) } else { None },
            mark,
        };
        let (binding, constants) = (self.binding(), Constants::at(self.mirror().settings.constants));
        rules::convert(&mut self.out.hot, binding, &job, &constants);
        self.end_rule(at);
    }

    /// A constant, or an integer: it has no shadow, but for a float that is moved as an integer.
    fn x87_load_exact(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let to = self.x87_cell(7);
        if matches!(insn.memory_size(), MemorySize::Int32 | MemorySize::Int64) {
            let sources: Vec<Source> = self.memory_source(insn).into_iter().collect();
            self.check(at, &sources);
        }
        self.guest(at);
        self.x87_written(7, None);
        self.clear_x87(to);
    }

    /// `fst`, to memory or a register.
    fn x87_store(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let from = self.x87_cell(0);
        if !has_memory(insn) {
            let to = self.x87_cell(register(insn.op0_register()));
            self.guest(at);
            if from != to {
                self.x87_copied(0, register(insn.op0_register()));
                self.copy_x87(from, to);
            }
            return;
        }
        let size = insn.memory_size();
        let narrows = matches!(size, MemorySize::Float32 | MemorySize::Float64);
        if self.is_in_parts(Op::Narrow) && narrows {
            return if size == MemorySize::Float64 { self.x87_narrow(at) } else { self.out_of_line(at) };
        }
        let appends = self.mirror().settings.appends;
        match size {
            MemorySize::Float32 if appends => return self.x87_append_store(at, Format::F32),
            MemorySize::Float64 if appends => return self.x87_append_store(at, Format::F64),
            _ => {}
        }
        if narrows && self.inline_rule().needs_result(Op::Narrow) {
            self.check_x87(at, &[0]);
            self.guest(at);
            return self.kill_operand(insn);
        }
        self.guest(at);
        let Some(mirror) = self.mirror_memory(insn) else { return };
        let number = self.temporary(0);
        match size {
            MemorySize::Float32 => {
                self.x87_convert(at, Format::F64, Place::Mem(from.plus(NUMBER)), number);
                self.out.hot.vector_store(mirror, number, 4);
            }
            MemorySize::Float64 => {
                self.out.hot.vector_load(number, from.plus(NUMBER), 8);
                self.out.hot.vector_store(mirror, number, 8);
            }
            _ if self.mirror().settings.policy.marks_widened && self.x87_is_double(0) => {
                self.x87_store_double(at, from, mirror);
            }
            _ => self.copy_x87(from, mirror),
        }
    }

    /// Copies the shadow in the cell `from`, of a double, to one beside a long double, where it says so.
    fn x87_store_double(&mut self, at: At<'_>, from: Mem, to: Mem) {
        let (number, temp) = (self.temporary(0), self.temporary(1));
        let spare = [if self.has_upper() { temp } else { self.temporary(2) }, MASKS[1]];
        self.begin_rule(at);
        let (binding, constants) = (self.binding(), Constants::at(self.mirror().settings.constants));
        let from = self.x87_number(from);
        self.out.hot.vector_load(number, from, 8);
        rules::mark_double(&mut self.out.hot, binding, number, spare, constants);
        self.put_x87(to, number);
        self.end_rule(at);
    }

    fn x87_exchange(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let other = register(insn.op_register(insn.op_count() - 1));
        let (a, b) = (self.x87_cell(0), self.x87_cell(other));
        self.guest(at);
        if a == b {
            return;
        }
        let known =
            [0, other].map(|n| (self.x87_known(n), *self.x87_in_record_mut(n), self.x87_is_double(n)));
        for (n, (known, in_record, is_double)) in [(0, known[1]), (other, known[0])] {
            self.x87_written(n, known);
            self.x87_set_double(n, is_double);
            *self.x87_in_record_mut(n) = in_record;
        }
        let (x, y) = (self.temporary(0), self.temporary(1));
        let [from_a, from_b] = [a, b].map(|cell| self.x87_number(cell));
        self.out.hot.vector_load(x, from_a, 8);
        self.out.hot.vector_load(y, from_b, 8);
        self.put_x87(a, y);
        self.put_x87(b, x);
    }

    /// A move under the processor's condition number `condition`.
    fn x87_conditional_move(&mut self, at: At<'_>, condition: u8) {
        let insn = &at.insn().decoded;
        let (to, from) = (self.x87_cell(0), self.x87_cell(register(insn.op1_register())));
        // What is spilled for the copy is so on both ways.
        self.temporary(0);
        self.guest(at);
        if from == to {
            return;
        }
        self.forget_x87();
        let field = self.out.hot.jcc_open(condition ^ 1);
        self.copy_x87(from, to);
        let here = self.out.hot.here();
        self.out.hot.patch(field, here);
    }
}
