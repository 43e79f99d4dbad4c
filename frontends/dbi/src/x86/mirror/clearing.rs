//! Clearing: what an instruction writes that computes no float has no shadow.
//!
//! Where shadows are is for `places` to say.

use super::{At, general_number};
use crate::x86::access::is_write;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use iced_x86::{InstructionInfo, Register};

impl Emitter {
    /// Clears the shadow of the bytes that an instruction which computes no float writes.
    pub(super) fn integer(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let is_odd = insn.is_string_instruction() || self.writes_unnamed_memory(insn);
        if is_odd || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        self.guest(at);
        self.count_rounding(at);
        self.clear_results(at);
        self.close_operand();
    }

    /// Clears the shadows of everything the instruction writes.
    pub(super) fn clear_results(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let written = self.written(at);
        let mask = self.mode.mask();
        for &register in &written {
            if let Some(n) = general_number(register) {
                self.clear_part(rows::no_float_after(insn, register), n, mask);
            } else if register.is_vector_register() {
                self.clear_vector(register.number() as u8);
            }
        }
        if self.writes_memory(insn) {
            self.kill_operand(insn);
        }
    }

    /// Registers the instruction writes.
    pub(super) fn written(&mut self, at: At<'_>) -> Vec<Register> {
        let info: &InstructionInfo = self.facts.info(&at.insn().decoded);
        info.used_registers()
            .iter()
            .filter(|used| is_write(used.access()))
            .map(|used| used.register())
            .collect()
    }

    /// Clears the cells of `registers` that may be set.
    pub(super) fn clear_cells(&mut self, registers: u16) {
        for n in 0..16 {
            if self.mode.mask() & registers & 1 << n != 0 {
                self.clear_cell(n);
            }
        }
    }
}
