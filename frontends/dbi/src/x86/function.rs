//! Functions of the program that are one operation each, or two, and take and give floats in simple ways.
//!
//! What the evaluator has to know of such a function fits a word.

use super::asm::{Asm, R11, RAX, RDI, RSI, RSP};
use super::code::Frame;
use super::vector::{At, Mem, Place};
use crate::context::{Context, FunctionCall};
use crate::mailbox::Mailbox;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::ToInteger;
use std::mem::offset_of;

/// Function of the program that is one operation, or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// The operation.
    pub(crate) op: Op,
    /// Of operands and results: F32, F64 or F80.
    pub(crate) format: Format,
    /// Bytes of each operand and result: a lane's, or 16 or 32; of a long double those that it takes on the stack.
    pub(crate) width: u8,
    /// The form of its call.
    pub(crate) shape: Shape,
}

/// Form of a function's call. Floats are in the first vector registers, and the result is in register 0, but where it
/// says something else; long doubles are on the stack, and the result on that of x87.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Shape {
    /// With floats.
    Floats,
    /// The integer operand is an `int`.
    Int,
    /// The integer operand is a `long`.
    Long,
    /// Sine and cosine go where the first and second pointer say.
    SinCos,
    /// The whole part goes where the pointer says.
    Modf,
    /// The exponent, an `int`, goes where the pointer says.
    Frexp,
    /// With floats; besides the result, an `int` goes where the pointer says.
    Beside,
    /// The result is no float but an integer, in rax.
    Integer,
    /// The result is an integer, in rax, that says of which class the float is: no number, infinite, negative.
    Class,
    /// An instruction of x87, whose operands and results are on its stack, integers among them as floats.
    Instruction,
}

/// Destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goes {
    /// Vector register 0.
    Register,
    /// The memory that this pointer leads to.
    Through(usize),
}

/// A function whose calls are counted under a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) function: Function,
    /// Below [`FUNCTIONS`](crate::context::FUNCTIONS).
    pub(crate) number: u16,
    /// The number under which its calls are counted that make whole numbers of floats with shadows, if they are.
    pub(crate) rounds: Option<u16>,
}

const FORMAT_AT: u32 = 8;
const FORMATS: [Format; 3] = [Format::F32, Format::F64, Format::F80];
const SHAPE_AT: u32 = 16;
const WIDTH_AT: u32 = 24;

impl Function {
    /// As a word other than 0.
    pub(crate) fn bits(self) -> u32 {
        let format = match self.format {
            Format::F64 => 1,
            Format::F80 => 2,
            Format::F16 | Format::F32 => 0,
        };
        let shape = (self.shape as u32) << SHAPE_AT;
        u32::from(self.width) << WIDTH_AT | shape | format << FORMAT_AT | self.op as u32
    }

    /// The function whose [`bits`](Function::bits) these are.
    #[inline(always)]
    pub(crate) fn from_bits(bits: u32) -> Function {
        Function {
            op: Op::ALL[(bits & 0xff) as usize],
            format: FORMATS[(bits >> FORMAT_AT & 3) as usize],
            width: (bits >> WIDTH_AT) as u8,
            shape: Shape::ALL[(bits >> SHAPE_AT & 0xff) as usize],
        }
    }

    /// The results, each of an operation on the operands.
    pub(crate) fn results(self) -> impl Iterator<Item = (Op, Goes)> {
        let results = match self.shape {
            Shape::Floats | Shape::Int | Shape::Long | Shape::Frexp | Shape::Beside | Shape::Instruction => {
                [Some((self.op, Goes::Register)), None]
            }
            Shape::SinCos => [Some((Op::Sin, Goes::Through(0))), Some((Op::Cos, Goes::Through(1)))],
            Shape::Modf => [Some((self.op, Goes::Register)), Some((Op::Trunc, Goes::Through(0)))],
            Shape::Integer | Shape::Class => [None; 2],
        };
        results.into_iter().flatten()
    }

    /// The operation by which it makes a whole number of its operand, if it makes any: an integer, or a float.
    pub(crate) fn rounds_by(self) -> Option<Op> {
        let integer = (self.shape == Shape::Integer).then_some(self.op);
        integer.or_else(|| self.results().map(|(op, _)| op).find(|op| op.makes_whole()))
    }

    /// The conversion whose integer it returns, if that is its result.
    pub(crate) fn converts(self) -> Option<ToInteger> {
        (self.shape == Shape::Integer).then_some(ToInteger::Away)
    }

    /// Tells whether it writes an `int` where its pointer says.
    pub(crate) fn writes_int(self) -> bool {
        matches!(self.shape, Shape::Frexp | Shape::Beside)
    }

    /// Tells whether it returns an integer.
    pub(crate) fn returns_integer(self) -> bool {
        matches!(self.shape, Shape::Integer | Shape::Class)
    }

    /// Number of operands it is given.
    pub(crate) fn given(self) -> usize {
        if self.shape == Shape::Frexp { 1 } else { self.op.arity() }
    }

    /// Number of pointers it is given.
    pub(crate) fn pointers(self) -> usize {
        match self.shape {
            Shape::Floats | Shape::Int | Shape::Long | Shape::Integer | Shape::Class | Shape::Instruction => {
                0
            }
            Shape::Modf | Shape::Frexp | Shape::Beside => 1,
            Shape::SinCos => 2,
        }
    }

    /// Lanes of its operands.
    #[inline(always)]
    pub(crate) fn lanes(self) -> usize {
        usize::from(self.width) / self.format.bytes()
    }
}

impl Shape {
    /// Tells whether operands that are integers are given as such.
    #[inline(always)]
    pub(crate) fn has_integers(self) -> bool {
        self != Shape::Instruction
    }

    /// By number.
    const ALL: [Shape; 10] = [
        Shape::Floats,
        Shape::Int,
        Shape::Long,
        Shape::SinCos,
        Shape::Modf,
        Shape::Frexp,
        Shape::Beside,
        Shape::Integer,
        Shape::Class,
        Shape::Instruction,
    ];
}

/// Evaluates the shadow of a function's result, on the host's stack; by the function at `evaluator`, which is given the call and
/// the thread's [`Recording`](crate::mailbox::Recording); r11 = code to resume at. No vector register is as before.
pub(crate) fn emit_evaluate(code: &mut Asm, frame: &Frame, evaluator: u64) {
    let call = frame.field(Context::OFFSET_CALL);
    let field = |offset: usize| call + offset as u64;
    code.store(field(offset_of!(FunctionCall, stack)), RSP);
    code.store(field(offset_of!(FunctionCall, resume)), R11);
    code.load(RSP, frame.field(Context::OFFSET_HOST_RSP));
    code.mov_imm(RDI, call);
    code.mov_imm(RSI, frame.field(Mailbox::OFFSET_RECORDING));
    code.mov_imm(RAX, evaluator);
    // vzeroupper: the evaluator is compiled for processors without AVX; call rax
    code.raw(&[0xc5, 0xf8, 0x77, 0xff, 0xd0]);
    code.load(RSP, field(offset_of!(FunctionCall, stack)));
    code.jmp_slot(field(offset_of!(FunctionCall, resume)));
}

/// Evaluates the shadow of an instruction's result as [`emit_evaluate`] does that of a function's, with all registers and flags but
/// r11 as before afterwards. `is_narrow`: the upper halves of vector registers are clean, and stay so.
pub(crate) fn emit_evaluate_between(code: &mut Asm, frame: &Frame, evaluator: u64, is_narrow: bool) {
    let call = frame.field(Context::OFFSET_BETWEEN);
    let field = |offset: usize| call + offset as u64;
    code.store(field(offset_of!(FunctionCall, stack)), RSP);
    code.store(field(offset_of!(FunctionCall, resume)), R11);
    code.load(RSP, frame.field(Context::OFFSET_HOST_RSP));
    // pushfq; push rax, rcx, rdx, rsi, rdi, r8, r9, r10; push rax again, for the stack's alignment; cld
    code.raw(&[0x9c, 0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x50, 0xfc]);
    let kept = KeptVectors::of_host(is_narrow);
    kept.all(code, true);
    code.mov_imm(RDI, call);
    code.mov_imm(RSI, frame.field(Mailbox::OFFSET_RECORDING));
    code.mov_imm(RAX, evaluator);
    // vzeroupper; call rax; vzeroupper
    code.raw(&[0xc5, 0xf8, 0x77, 0xff, 0xd0, 0xc5, 0xf8, 0x77]);
    kept.all(code, false);
    // pop rax; pop r10, r9, r8, rdi, rsi, rdx, rcx, rax; popfq
    code.raw(&[0x58, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, 0x5f, 0x5e, 0x5a, 0x59, 0x58, 0x9d]);
    code.load(RSP, field(offset_of!(FunctionCall, stack)));
    code.jmp_slot(field(offset_of!(FunctionCall, resume)));
}

/// Vector and mask registers that are kept on the host's stack.
struct KeptVectors {
    /// Bytes of the first sixteen.
    low: u8,
    has_avx512: bool,
}

impl KeptVectors {
    /// Bytes of a register's place.
    const PLACE: i32 = 64;

    fn of_host(is_narrow: bool) -> KeptVectors {
        use std::arch::is_x86_feature_detected as has;
        let has_avx512 = has!("avx512f") && has!("avx512bw");
        let low = match (is_narrow, has_avx512) {
            (true, _) => 16,
            (false, true) => 64,
            (false, false) => 32,
        };
        KeptVectors { low, has_avx512 }
    }

    /// Stores all of them below the stack pointer, and moves that, or loads them and moves it back.
    fn all(&self, code: &mut Asm, stores: bool) {
        const MASKS: i32 = 8;
        let vectors = if self.has_avx512 { 32 } else { 16 };
        let bytes = i64::from(Self::PLACE * (vectors + 1));
        if stores {
            code.move_stack_pointer(-bytes);
        }
        let place = |at: i32| {
            let at = At::Base { base: Some(RSP), index: None, displacement: at };
            Mem { gs: false, fs: false, address32: false, at }
        };
        for n in 0..vectors {
            let (at, bytes) = (place(Self::PLACE * n), if n < 16 { self.low } else { Self::PLACE as u8 });
            if stores {
                code.vector_store(at, n as u8, bytes);
            } else {
                code.vector_load(n as u8, at, bytes);
            }
        }
        for n in (0..MASKS).filter(|_| self.has_avx512) {
            // kmovq
            code.raw(&[0xc4, 0xe1, 0xf8, if stores { 0x91 } else { 0x90 }]);
            code.operand(n as u8, Place::Mem(place(Self::PLACE * vectors + 8 * n)), 1, 0);
        }
        if !stores {
            code.move_stack_pointer(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_say_it_all() {
        for &op in Op::ALL {
            for (format, shape) in Shape::ALL.into_iter().flat_map(|shape| FORMATS.map(|f| (f, shape))) {
                for width in [format.bytes() as u8, 32] {
                    let function = Function { op, format, width, shape };
                    assert_ne!(function.bits(), 0);
                    assert_eq!(Function::from_bits(function.bits()), function);
                }
            }
        }
    }
}
