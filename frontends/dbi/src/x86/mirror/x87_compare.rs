//! Comparisons of x87: counted where a float with a shadow decides, or left to the engine where the shadow wants to see them.

use super::At;
use super::check::{SideExit, Source};
use super::counting::Compared;
use super::encode;
use super::operand::has_memory;
use super::x87_stack::{NUMBER, register};
use super::x87_values::Operand;
use crate::x86::emit::Emitter;
use crate::x86::rules::InlineRule;
use crate::x86::vector::{Mem, Place};
use iced_x86::{Instruction, MemorySize, RflagsBits};
use shadowgrind_core::format::Format;

impl Emitter {
    /// A comparison, with zero or with an operand, counted where one of the two has a shadow.
    pub(super) fn x87_compare(&mut self, at: At<'_>, with_zero: bool) {
        let insn = &at.insn().decoded;
        let mut shadows = vec![Place::Mem(self.x87_cell(0).plus(NUMBER))];
        if has_memory(insn) {
            match insn.memory_size() {
                MemorySize::Float64 => shadows.extend(self.mirror_memory(insn).map(Place::Mem)),
                MemorySize::Float32 => {
                    let sources: Vec<Source> = self.memory_source(insn).into_iter().collect();
                    self.check(at, &sources);
                }
                _ => {}
            }
        } else if !with_zero {
            let count = insn.op_count();
            let other = if count == 0 { 1 } else { register(insn.op_register(count - 1)) };
            shadows.push(Place::Mem(self.x87_cell(other).plus(NUMBER)));
        }
        if let Some(doubt) = self.mirror().settings.doubt {
            return self.x87_compare_in_doubt(at, doubt, with_zero);
        }
        // A float that is compared with itself is asked whether it is NaN.
        let itself = shadows.len() == 2 && shadows[0] == shadows[1];
        let decision = at.block.decision(at.insn().pc()).filter(|_| !itself);
        let number = decision.and_then(|decision| decision.number);
        match decision.map(|decision| number.filter(|_| !decision.for_equality)) {
            None => {}
            Some(None) if number.is_some_and(|number| self.x87_equality(at, &shadows, number)) => {}
            Some(Some(number)) => {
                self.count_before(at, &Compared { shadows, bytes: 8, format: Format::F64 }, number);
            }
            Some(None) => {
                let memory = |place| match place {
                    Place::Mem(mem) => Some(Source::Memory(mem, 8)),
                    Place::Reg(_) => None,
                };
                let sources: Vec<Source> = shadows.into_iter().filter_map(memory).collect();
                self.check(at, &sources);
            }
        }
        self.guest(at);
    }

    /// A comparison of registers for equality, into flags: counted under `number` if one has a shadow, and left to the engine, which
    /// says so, if they are equal. That is found before, by a comparison that takes nothing off the stack and raises what the guest's
    /// is about to raise. False if it is no such comparison.
    fn x87_equality(&mut self, at: At<'_>, shadows: &[Place], number: u16) -> bool {
        /// First byte of a comparison that pops nothing; the second is the same.
        const KEEPS: u8 = 0xdb;
        const PARITY: u8 = 10;
        let insn = at.insn();
        let &[_, second] = insn.bytes() else { return false };
        if !to_flags(&insn.decoded)
            || has_memory(&insn.decoded)
            || !self.mirror().liveness.flags_are_dead(at.index)
        {
            return false;
        }
        let cells = shadows.iter().filter_map(|place| match *place {
            Place::Mem(mem) => Some((mem, 8)),
            Place::Reg(_) => None,
        });
        let cells: Vec<(Mem, usize)> = cells.collect();
        let stub = self.side_exit(SideExit::OutOfLine(insn.pc()), false);
        let inactive = self.skip_if_zero(at, &cells);
        let hot = &mut self.out.hot;
        hot.raw(&[KEEPS, second]);
        let unordered = hot.jcc_open(PARITY);
        let equal = hot.jcc_open(encode::EQUAL);
        hot.patch(equal, stub);
        let here = hot.here();
        hot.patch(unordered, here);
        let counter = self.counter(number);
        encode::increment(&mut self.out.hot, counter);
        let here = self.out.hot.here();
        self.out.hot.patch(inactive, here);
        true
    }

    /// Leaves a comparison that pops, and writes the condition code, to the engine if the top is empty: read, it would be filled, of
    /// which `fxsave` sees something even after.
    pub(super) fn check_popped(&mut self, at: At<'_>) {
        if !to_flags(&at.insn().decoded) && !self.x87_is_full(0) {
            self.exit_if_empty(at);
        }
    }

    /// A comparison that the shadow wants to see if it may come out otherwise.
    fn x87_compare_in_doubt(&mut self, at: At<'_>, doubt: InlineRule, with_zero: bool) {
        let insn = &at.insn().decoded;
        let count = insn.op_count();
        let other = match insn.memory_size() {
            MemorySize::Float32 => Some(Operand::Memory(Format::F32)),
            MemorySize::Float64 => Some(Operand::Memory(Format::F64)),
            _ if with_zero || has_memory(insn) => None,
            _ if count == 0 => Some(Operand::Stack(1)),
            _ => Some(Operand::Stack(register(insn.op_register(count - 1)))),
        };
        // Reading an empty register would fill it, and to ask whether it is takes the condition code, which not all comparisons
        // write.
        let may_read = self.x87_is_full(0) || insn.fpu_stack_increment_info().increment() > 0;
        match other {
            // It is asked whether it is NaN.
            Some(Operand::Stack(0)) => self.guest(at),
            Some(other) if may_read => self.x87_doubted(at, doubt, &[Operand::Stack(0), other]),
            Some(Operand::Stack(n)) => {
                self.check_x87(at, &[0, n]);
                self.guest(at);
            }
            _ => {
                let mut sources: Vec<Source> = self.memory_source(insn).into_iter().collect();
                sources.push(Source::Memory(self.x87_cell(0).plus(NUMBER), 8));
                self.check(at, &sources);
                self.guest(at);
            }
        }
    }
}

/// Tells whether a comparison writes flags, and leaves the condition code alone.
pub(super) fn to_flags(insn: &Instruction) -> bool {
    insn.rflags_modified() & RflagsBits::ZF != 0
}
