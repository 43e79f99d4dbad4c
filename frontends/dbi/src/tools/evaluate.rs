//! The dot of a function's result, evaluated in the midst of translated code: FS is the guest's meanwhile, and nothing
//! but general registers and vector registers 0 to 15, all of which a function may leave anything in, is ours.
//!
//! So nothing here allocates, locks, or uses thread-local storage, as the C library's functions do to say `errno`.

use crate::context::FunctionCall;
use crate::x86::function::Function;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_shadows::dot;
use std::arch::asm;

/// MXCSR with all exceptions masked, rounding to nearest.
const MXCSR: u32 = 0x1f80;

/// Sets the call's dot from operands, their dots and the result.
pub(crate) extern "C" fn evaluate(call: &mut FunctionCall) {
    let Function { op, format, .. } = Function::from_bits(call.function as u32);
    let low = |word: u64| if format.bytes() == 4 { u128::from(word as u32) } else { u128::from(word) };
    let count = op.arity();
    let (mut x, mut dots) = ([0.0; MAX_OPERANDS], [0.0; MAX_OPERANDS]);
    for i in 0..count {
        x[i] = format.to_f64(low(call.x[i]));
        dots[i] = format.to_f64(low(call.dots[i]));
    }
    call.dot = 0;
    if dots.iter().all(|dot| dot.to_bits() == 0) {
        return;
    }
    let r = format.to_f64(low(call.result[0]));
    let dot = if is_quiet(op) && r.is_finite() {
        dot::eval(format, op, &x[..count], r, &dots[..count])
    } else {
        quietly(|| dot::eval(format, op, &x[..count], r, &dots[..count]))
    };
    if dot.to_bits() != 0 {
        call.dot = format.from_f64(dot) as u64;
    }
}

/// Whether evaluating the derivative raises no exception but that of a rounded result, which the function has raised.
fn is_quiet(op: Op) -> bool {
    matches!(op, Op::Sin | Op::Cos)
}

/// What `compute` gives, with MXCSR as a program begins with it, and put back afterwards.
fn quietly(compute: impl FnOnce() -> f64) -> f64 {
    let (mut guest, ours) = (0_u32, MXCSR);
    // SAFETY: stores and loads a control register; what is loaded masks all exceptions, as Rust expects.
    unsafe {
        asm!("stmxcsr [{}]", "ldmxcsr [{}]", in(reg) &raw mut guest, in(reg) &raw const ours, options(nostack));
    }
    let result = std::hint::black_box(compute());
    // SAFETY: what was there before.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const guest, options(nostack)) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::format::Format;

    #[test]
    fn dots_of_either_format() {
        let function = |op, format| u64::from(Function { op, format, number: 0 }.bits());
        let mut call = FunctionCall { function: function(Op::Sin, Format::F64), ..FunctionCall::default() };
        (call.x[0], call.dots[0]) = (0.5_f64.to_bits(), 2.0_f64.to_bits());
        call.result[0] = 0.5_f64.sin().to_bits();
        evaluate(&mut call);
        assert!((f64::from_bits(call.dot) - 2.0 * 0.5_f64.cos()).abs() < 1e-15);
        // What is above a float's four bytes is none of its business.
        call.function = function(Op::Exp, Format::F32);
        (call.x[0], call.dots[0]) =
            (u64::from(0.5_f32.to_bits()) | 7 << 32, u64::from(3.0_f32.to_bits()) | 9 << 32);
        call.result[0] = u64::from(0.5_f32.exp().to_bits()) | 5 << 32;
        evaluate(&mut call);
        assert_eq!(f32::from_bits(call.dot as u32), 3.0 * 0.5_f32.exp());
        call.dots[0] = 9 << 32;
        evaluate(&mut call);
        assert_eq!(call.dot, 0);
    }
}
