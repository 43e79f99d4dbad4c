//! Comparisons of floats' digits as integers: where they are asked for equality, and find it, the engine is told, since code often goes
//! on with a constant then. Digits in memory are looked at where they are compared with a constant that looks like a float.
//!
//! Knows nothing of what is done with what is compared. Comparisons of floats are [counted](super::counting).

use super::At;
use super::check::SideExit;
use super::encode::{self, EQUAL, NOT_EQUAL};
use super::general_number;
use super::operand::has_memory;
use crate::x86::emit::Emitter;
use crate::x86::lower;
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use crate::x86::vector::Mem;
use iced_x86::{ConditionCode, Instruction, OpKind, Register, RflagsBits};
use shadowgrind_core::format::Format;

/// Instructions before a comparison among which its constant is looked for, and after it those that use its flags.
const AROUND: usize = 16;

impl Emitter {
    /// An instruction that leaves nothing but flags.
    pub(super) fn flags(&mut self, at: At<'_>, by: Integral) {
        let Some(bytes) = self.digits_compared(at, by) else { return self.integer(at) };
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        self.guest(at);
        self.leave_if_equal(at, bytes);
        self.close_operand();
    }

    /// Bytes of each of the integers that the instruction compares, if it asks whether they are equal, and one may be the digits of a
    /// float.
    fn digits_compared(&mut self, at: At<'_>, by: Integral) -> Option<u16> {
        let insn = &at.insn().decoded;
        if !self.mirror().settings.policy.decisions || self.mode.is_off() {
            return None;
        }
        let bytes = lower::bytes_compared(insn, by)?;
        let may_be_float =
            !self.cells_compared(insn).is_empty() || has_memory(insn) && is_with_float(at, bytes);
        (may_be_float && asks_for_equality(at)).then_some(bytes)
    }

    /// Cells of the general registers that are compared, as far as they may be set.
    fn cells_compared(&self, insn: &Instruction) -> Vec<Mem> {
        let is_register = |&n: &u32| insn.op_kind(n) == OpKind::Register;
        let registers = (0..2).filter(is_register).filter_map(|n| general_number(insn.op_register(n)));
        registers.filter(|&n| self.may_carry(n)).map(|n| self.cell(n)).collect()
    }

    /// After a comparison: if its operands are equal, and one of them has a shadow, leaves the instruction to the engine, which
    /// makes it once more.
    fn leave_if_equal(&mut self, at: At<'_>, bytes: u16) {
        let insn = &at.insn().decoded;
        let registers = self.cells_compared(insn).into_iter().map(|cell| (cell, Format::F64.bytes()));
        let cells: Vec<_> =
            registers.chain(self.mirror_memory(insn).map(|cell| (cell, bytes.into()))).collect();
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), false);
        let field = self.out.hot.jcc_open(EQUAL);
        let back = self.out.hot.here();
        let cold = &mut self.out.cold;
        let start = cold.here();
        for (cell, bytes) in cells {
            encode::compare_zero(cold, cell, bytes);
            let field = cold.jcc_open(NOT_EQUAL);
            cold.patch(field, stub);
        }
        // Flags are those of equal operands again, since the last cell is zero.
        cold.jmp(back);
        self.out.hot.patch(field, start);
    }
}

/// Tells whether the instruction compares with a constant that looks like a float: an immediate operand, or what its block has put
/// into a register.
fn is_with_float(at: At<'_>, bytes: u16) -> bool {
    let insn = &at.insn().decoded;
    let register = [insn.op0_register(), insn.op1_register()].into_iter().find(|&n| n != Register::None);
    let constant = match register {
        None => Some(insn.immediate(1)),
        Some(register) => constant_in(at, register),
    };
    constant.is_some_and(|constant| match bytes {
        8 => is_moderate(Format::F64.to_f64(constant.into())),
        _ => is_moderate(Format::F32.to_f64((constant as u32).into())),
    })
}

/// The constant that the block has put into `register`, if the last instruction before that writes there does so.
fn constant_in(at: At<'_>, register: Register) -> Option<u64> {
    let before = at.block.insns[..at.index].iter().rev().map(|insn| &insn.decoded);
    let is_same = |insn: &&Instruction| insn.op0_register().full_register() == register.full_register();
    let last = before.take(AROUND).find(is_same)?;
    let is_constant =
        rows::row(last) == Row::General(General::Move) && last.op1_kind() == OpKind::Immediate64;
    is_constant.then(|| last.immediate(1))
}

/// Tells whether integers are seldom so: the number is neither tiny nor huge. What the upper half of such a double is as a `float` is
/// neither as well.
fn is_moderate(x: f64) -> bool {
    const MOST: f64 = (1_u128 << 64) as f64;
    (1.0 / MOST..MOST).contains(&x.abs())
}

/// Tells whether those that use the instruction's flags, as far as the block shows, ask for equality alone. What is beyond, the engine
/// knows.
fn asks_for_equality(at: At<'_>) -> bool {
    for next in at.block.insns[at.index + 1..].iter().take(AROUND) {
        let insn = &next.decoded;
        if insn.rflags_read() != RflagsBits::NONE {
            return matches!(insn.condition_code(), ConditionCode::e | ConditionCode::ne);
        }
        if insn.rflags_modified() != RflagsBits::NONE {
            return false;
        }
    }
    true
}
