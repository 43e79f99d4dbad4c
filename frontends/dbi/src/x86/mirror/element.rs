//! Elements of vector registers from and to general registers: on shadows, from and to the general register's cell.
//!
//! Knows elements of four and of eight bytes; narrower ones are left to the engine if they have a shadow, and so is an element
//! that is a part of a wider float.

use super::{At, encode, general_number};
use crate::x86::asm::{Gpr, RSP};
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::Mem;
use iced_x86::{Code, EncodingKind, Instruction, OpKind};

impl Emitter {
    /// The code that moves such an element's shadow.
    pub(super) fn element_code(&mut self, at: At<'_>) -> Option<Code> {
        let insn = &at.insn().decoded;
        let is_part = at.block.whole(insn.ip()).is_some();
        let (made, n) = through_memory(insn)?;
        if is_part || n == RSP || made.memory_size().size() < 4 {
            return None;
        }
        if !self.has_upper() && insn.encoding() != EncodingKind::Legacy {
            return Some(insn.code());
        }
        self.mirror().reencodings.of(insn.code())
    }

    /// `vpinsrd`, `vpextrd` and their kin, with a general register.
    pub(super) fn element(&mut self, at: At<'_>, code: Code) {
        let insn = &at.insn().decoded;
        let (made, n) = through_memory(insn).expect("a general register is an operand");
        let (bytes, cell) = (made.memory_size().size(), self.cell(n));
        self.guest(at);
        if made.op0_kind() != OpKind::Memory {
            let none = Constants::at(self.mirror().settings.constants).zero();
            let from = if self.may_carry(n) { cell } else { none };
            return self.move_element(&made, code, from);
        }
        self.move_element(&made, code, cell);
        if bytes < 8 {
            encode::store_zero(&mut self.out.hot, cell.plus(bytes as i32), 8 - bytes);
        }
        self.set_carries(n, true);
    }

    fn move_element(&mut self, made: &Instruction, code: Code, cell: Mem) {
        if self.has_upper() {
            self.emit_reencoded(made, code, 0, Some(cell));
        } else {
            self.emit_double(made, code, 0, Some(cell));
        }
    }
}

/// Bytes of the element that the instruction moves; 0 where no form of it has it in memory.
#[cfg(test)]
pub(super) fn element_bytes(insn: &Instruction) -> usize {
    through_memory(insn).map_or(insn.memory_size(), |(made, _)| made.memory_size()).size()
}

/// The instruction with memory in place of its general register, and that register's number; nothing if it has none.
fn through_memory(insn: &Instruction) -> Option<(Instruction, Gpr)> {
    let is_general = |&n: &u32| insn.op_kind(n) == OpKind::Register && insn.op_register(n).is_gpr();
    let operand = (0..insn.op_count()).find(is_general)?;
    let n = general_number(insn.op_register(operand))?;
    let mut made = *insn;
    made.set_op_kind(operand, OpKind::Memory);
    Some((made, n))
}
