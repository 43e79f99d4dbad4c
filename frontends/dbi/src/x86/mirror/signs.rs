//! Signs of floats in general registers, cleared, set and turned over by integer instructions: `and` with all bits but the
//! sign, `or` and `xor` with the sign alone.
//!
//! The derivative of −x is x's turned over, whatever x is, and so are its error, and the cell that stands for either. A mask
//! in a register is looked at when there is a shadow: if it is another, the instruction is left to the engine, and so it is
//! where the mask has a shadow, or the cell is not that of one float as wide as the register.

use super::At;
use super::check::SideExit;
use super::encode;
use crate::x86::asm::Gpr;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, OpKind, Register};
use shadowgrind_core::format::Format;

/// Fate of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Cleared,
    Set,
    Turned,
}

/// An instruction that may leave all of a float but its sign.
#[derive(Clone, Copy, Debug)]
struct Signing {
    sign: Sign,
    format: Format,
    float: Gpr,
    /// The register of the mask; nothing if it is the right one.
    mask: Option<Gpr>,
}

fn signing(insn: &Instruction) -> Option<Signing> {
    let sign = match rows::row(insn) {
        Row::General(General::Bits(Integral::And)) => Sign::Cleared,
        Row::General(General::Bits(Integral::Or)) => Sign::Set,
        Row::General(General::Bits(Integral::Xor)) => Sign::Turned,
        _ => return None,
    };
    let is_operand = |register: Register, like: Register| {
        register.is_gpr() && register.size() == like.size() && register.full_register() != Register::RSP
    };
    let float = insn.op0_register();
    let format = match float.size() {
        8 => Format::F64,
        4 => Format::F32,
        _ => return None,
    };
    if insn.op0_kind() != OpKind::Register || !is_operand(float, float) {
        return None;
    }
    let mask = match insn.op1_kind() {
        OpKind::Register if insn.op1_register() != float && is_operand(insn.op1_register(), float) => {
            Some(insn.op1_register().number() as Gpr)
        }
        OpKind::Immediate32 if format == Format::F32 => {
            let alone = if sign == Sign::Cleared { i32::MAX as u32 } else { 1 << 31 };
            (insn.immediate32() == alone).then_some(None)?
        }
        _ => return None,
    };
    Some(Signing { sign, format, float: float.number() as Gpr, mask })
}

impl Emitter {
    /// Annotates the instruction so if it is one of those; false if it is not, or cannot be.
    pub(super) fn sign_alone(&mut self, at: At<'_>) -> bool {
        let settings = self.mirror().settings;
        let Some(Signing { sign, format, float, mask }) = signing(&at.insn().decoded) else { return false };
        let is_known = match settings.policy.derivatives {
            Some(_) => true,
            // An error, or a real, may have another sign than its float.
            None => sign == Sign::Turned && (format == Format::F64 || !settings.records),
        };
        let flags_are_dead = self.mirror().liveness.flags_are_dead(at.index);
        if !is_known || settings.slow || self.mode.is_off() || !self.may_carry(float) || !flags_are_dead {
            return false;
        }
        let (cell, bytes) = (self.cell(float), format.bytes());
        let exit = self.side_exit(SideExit::OutOfLine(at.insn().pc()), false);
        if let Some(mask) = mask.filter(|&mask| self.may_carry(mask)) {
            let cell = self.cell(mask);
            encode::compare_zero(&mut self.out.hot, cell, 8);
            let field = self.out.hot.jcc_open(encode::NOT_EQUAL);
            self.out.hot.patch(field, exit);
        }
        encode::compare_zero(&mut self.out.hot, cell, 8);
        let active = self.out.hot.jcc_open(encode::NOT_EQUAL);
        let back = self.out.hot.here();
        let start = self.out.cold.here();
        self.out.hot.patch(active, start);
        let constants = Constants::at(settings.constants);
        let alone = if sign == Sign::Cleared { constants.magnitude(format) } else { constants.sign(format) };
        let cold = &mut self.out.cold;
        if let Some(mask) = mask {
            encode::compare(cold, mask, alone, bytes);
            let another = cold.jcc_open(encode::NOT_EQUAL);
            cold.patch(another, exit);
        }
        // The cell's upper half: a double's shadow has one, a narrow float's has none. Handles lie in the lower half, and eight
        // bytes of two floats have their sign where a double has it.
        if !settings.records {
            encode::compare_zero(cold, cell.plus(4), 4);
            let other = cold.jcc_open(if bytes == 8 { encode::EQUAL } else { encode::NOT_EQUAL });
            cold.patch(other, exit);
        }
        if sign != Sign::Turned {
            encode::test(cold, float, bytes);
            let stays = cold.jcc_open(if sign == Sign::Cleared { encode::NO_SIGN } else { encode::SIGN });
            cold.patch(stays, back);
        }
        encode::turn_sign(cold, cell.plus(bytes as i32 - 1));
        cold.jmp(back);
        self.guest(at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::Code;

    #[test]
    fn only_what_leaves_the_rest_of_a_float_is_one() {
        let with = |code, a, b| signing(&Instruction::with2(code, a, b).expect("registers"));
        let found = with(Code::And_r64_rm64, Register::RAX, Register::R9).expect("one");
        assert_eq!(
            (found.sign, found.format, found.float, found.mask),
            (Sign::Cleared, Format::F64, 0, Some(9))
        );
        for (a, b) in
            [(Register::RAX, Register::RAX), (Register::RSP, Register::RAX), (Register::RAX, Register::RSP)]
        {
            assert!(with(Code::Xor_r64_rm64, a, b).is_none());
        }
        let by =
            |code, mask: u32| signing(&Instruction::with2(code, Register::ECX, mask).expect("an immediate"));
        assert!(by(Code::And_rm32_imm32, 0x7fff_ffff).is_some_and(|found| found.mask.is_none()));
        assert!(by(Code::Xor_rm32_imm32, 1 << 31).is_some_and(|found| found.sign == Sign::Turned));
        assert!(by(Code::Or_rm32_imm32, 0x7fff_ffff).is_none());
        assert!(by(Code::And_rm32_imm32, 0x7fff_fffe).is_none());
        assert!(by(Code::Add_rm32_imm32, 1 << 31).is_none());
    }
}
