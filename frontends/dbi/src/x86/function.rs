//! Functions of the program that are one operation each, and simple ones: floats in registers, a float back.
//!
//! What translated code has to know of such a function fits a word, by which it tells the evaluator what was called.

use super::asm::{Asm, R11, RAX, RCX, RDI, RSP};
use super::branch_table::table_load;
use super::code::Frame;
use super::vector::Mem;
use crate::context::{Context, FunctionCall};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use std::mem::offset_of;

/// See the module's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// The operation, on the first vector registers; the result is in register 0.
    pub(crate) op: Op,
    /// Of operands and result: F32 or F64.
    pub(crate) format: Format,
    /// Its calls are counted under this number.
    pub(crate) number: u8,
}

const NUMBER_AT: u32 = 8;
const DOUBLE: u32 = 1 << 16;
/// No function is 0.
const SOME: u32 = 1 << 17;

impl Function {
    /// As a word other than 0.
    pub(crate) fn bits(self) -> u32 {
        let double = if self.format == Format::F64 { DOUBLE } else { 0 };
        SOME | double | u32::from(self.number) << NUMBER_AT | self.op as u32
    }

    /// The function whose [`bits`](Function::bits) these are.
    pub(crate) fn from_bits(bits: u32) -> Function {
        Function {
            op: Op::ALL[(bits & 0xff) as usize],
            format: if bits & DOUBLE == 0 { Format::F32 } else { Format::F64 },
            number: (bits >> NUMBER_AT) as u8,
        }
    }
}

/// Evaluates the dot of a function's result, on the host's stack; by the function at
/// `evaluator`; r11 = code to resume at.
pub(crate) fn emit_evaluate(code: &mut Asm, frame: &Frame, evaluator: u64) {
    let call = frame.field(Context::OFFSET_CALL);
    let field = |offset: usize| call + offset as u64;
    let result = Mem::rip(field(offset_of!(FunctionCall, result)));
    code.vector_store(result, 0, 16);
    code.store(field(offset_of!(FunctionCall, stack)), RSP);
    code.store(field(offset_of!(FunctionCall, resume)), R11);
    code.load(RSP, frame.field(Context::OFFSET_HOST_RSP));
    code.mov_imm(RDI, call);
    code.mov_imm(RAX, evaluator);
    // call rax
    code.raw(&[0xff, 0xd0]);
    code.load(RSP, field(offset_of!(FunctionCall, stack)));
    code.vector_load(0, result, 16);
    code.jmp_slot(field(offset_of!(FunctionCall, resume)));
}

/// Goes on at the return address of a function, in `Context::ib_target`, where no general register carries a shadow.
pub(crate) fn emit_done(code: &mut Asm, frame: &Frame) {
    const TABLE: usize = 0;
    const JMP_BYTES: u8 = 5;
    // A request that came meanwhile was noted only.
    let quiet = frame.field(Context::OFFSET_QUIET);
    let target = frame.field(Context::OFFSET_IB_TARGET);
    code.load32(RAX, quiet);
    code.load(RCX, target);
    // test eax, eax; jne over the jump
    code.raw(&[0x85, 0xc0, 0x75, JMP_BYTES]);
    code.jmp(frame.ib_misses[TABLE]);
    // movzx eax, cx
    code.raw(&[0x0f, 0xb7, 0xc1]);
    code.raw(&table_load(frame, TABLE));
    // jmp rax
    code.raw(&[0xff, 0xe0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_say_it_all() {
        for &op in Op::ALL {
            for format in [Format::F32, Format::F64] {
                let function = Function { op, format, number: op as u8 ^ 0xa5 };
                assert_ne!(function.bits(), 0);
                assert_eq!(Function::from_bits(function.bits()), function);
            }
        }
    }
}
