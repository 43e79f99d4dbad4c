//! Instructions that need arranging; the larger groups have files of their own.

use super::catalog::Isa;
use super::sequence::Gen;
use iced_x86::{Code, Instruction, OpCodeOperandKind as K, Register};

/// `Instruction::with…` fails on operands that do not belong to the code, which would be a mistake in this file.
macro_rules! instr {
    ($with:ident $(, $arg:expr)+) => {
        iced_x86::Instruction::$with($($arg),+).expect("operands as the code wants them")
    };
}
pub(super) use instr;

impl Gen<'_> {
    pub(super) fn idiom(&mut self) {
        let before = self.mark();
        match self.rng.below(20) {
            0..=4 => self.string(),
            5..=8 => self.stack(),
            9..=10 => self.division(),
            11..=13 => self.x87_state(),
            14..=15 => self.mxcsr(),
            16..=17 if self.profile.isa >= Isa::Avx2 => self.gather(),
            18 => self.fs_base(),
            _ => self.system_call(),
        }
        if self.mark() == before {
            self.plain();
        }
    }

    pub(super) fn all_free(&self, regs: &[Register]) -> bool {
        regs.iter().all(|r| self.is_free(*r))
    }

    /// `mov reg, value` in one of its encodings.
    pub(super) fn set(&mut self, reg: Register, value: u64) {
        let short = u32::try_from(value).is_ok() && self.rng.one_in(2);
        let signed = i32::try_from(value as i64);
        match signed {
            _ if short => self.emit(instr!(with2, Code::Mov_r32_imm32, reg.full_register32(), value as u32)),
            Ok(v) if self.rng.one_in(2) => self.emit(instr!(with2, Code::Mov_rm64_imm32, reg, v)),
            _ => self.emit(instr!(with2, Code::Mov_r64_imm64, reg, value)),
        }
    }

    /// Dividends small enough for the quotient, divisors that are not zero.
    fn division(&mut self) {
        let divisor = self.scratch();
        if !self.all_free(&[Register::RAX, Register::RDX]) || matches!(divisor, Register::RAX | Register::RDX)
        {
            return;
        }
        let codes = self.catalog.idiom("division");
        let code = self.rng.pick(codes);
        let bits = code.op_code().op_kinds()[0];
        let signed = code.mnemonic() == iced_x86::Mnemonic::Idiv;
        let shift = self.rng.range(1, 19) as i32;
        self.emit(instr!(with2, Code::Shr_rm64_imm8, Register::RAX, shift + 44));
        self.emit(instr!(with2, Code::Or_rm64_imm32, divisor, 1));
        // AX is the dividend of a byte; for a word, AX = -2^15 and a divisor of -1 would overflow.
        let small = [(K::r8_or_mem, 0x7f), (K::r16_or_mem, 0x7fff)];
        if let Some((_, mask)) = small.into_iter().find(|(kind, _)| *kind == bits) {
            self.emit(instr!(with2, Code::And_rm64_imm32, Register::RAX, mask));
        }
        if signed {
            if self.rng.one_in(2) {
                self.emit(instr!(with1, Code::Neg_rm64, Register::RAX));
            }
            self.sign_extend(bits);
        } else if self.rng.one_in(2) && bits == K::r64_or_mem {
            // A dividend of more than 64 bits: the divisor's top bit is larger than all of rdx.
            self.emit(instr!(with2, Code::Bts_rm64_imm8, divisor, 63));
            self.emit(instr!(with2, Code::Btr_rm64_imm8, Register::RDX, 63));
        } else {
            self.emit(instr!(with2, Code::Xor_rm32_r32, Register::EDX, Register::EDX));
        }
        self.divide(code, bits, divisor);
    }

    fn sign_extend(&mut self, bits: K) {
        let code = match bits {
            K::r8_or_mem => Code::Cbw,
            K::r16_or_mem => Code::Cwd,
            K::r32_or_mem => Code::Cdq,
            _ => Code::Cqo,
        };
        self.emit(Instruction::with(code));
    }

    fn divide(&mut self, code: Code, bits: K, divisor: Register) {
        let number = divisor.number() as u32;
        if self.rng.one_in(3) {
            let mem = self.mem(8, 8);
            self.emit(instr!(with2, Code::Mov_rm64_r64, mem, divisor));
            self.emit(instr!(with1, code, mem));
            return;
        }
        let divisor = match bits {
            K::r8_or_mem => byte_register(number),
            K::r16_or_mem => Register::AX + number,
            K::r32_or_mem => Register::EAX + number,
            _ => divisor,
        };
        self.emit(instr!(with1, code, divisor));
    }
}

fn byte_register(number: u32) -> Register {
    // AL … BL, then SPL … R15L behind AH … BH.
    if number < 4 { Register::AL + number } else { Register::SPL + (number - 4) }
}
