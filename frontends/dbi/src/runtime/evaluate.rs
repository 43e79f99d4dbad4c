//! The shadow of a function's result, evaluated in the midst of translated code: FS is the guest's meanwhile, and nothing
//! but general registers and vector registers 0 to 15, all of which a function may leave anything in, is ours.
//!
//! So nothing here allocates, locks, or uses thread-local storage, as the C library's functions do to say `errno`.

use crate::context::{CallVector, FunctionCall};
use crate::mailbox::Recording;
use crate::x86::function::{Function, Shape};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::{Given, Inline};
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::words::{InPlace, Words};
use std::arch::asm;

/// MXCSR with all exceptions masked, rounding to nearest.
const MXCSR: u32 = 0x1f80;
/// Bits of MXCSR that say which exceptions there were, *inexact* among them, and those that mask them, so many bits above.
const FLAGS: u32 = 0x3f;
const INEXACT: u32 = 0x20;
const MASKS_AT: u32 = 7;

/// Sets the shadow `S` of the result that is noted in the call, from operands, their shadows and the result; and whether a part of it
/// takes more than this.
pub(super) extern "C" fn evaluate<S: Inline>(call: &mut FunctionCall, _recording: &Recording) {
    let guest = mxcsr();
    let suffices = guest & !FLAGS == MXCSR;
    let is_quiet = !suffices && has_inexact(guest) && is_moderate::<S>(call);
    if !is_quiet {
        set_mxcsr(guest & !FLAGS, MXCSR);
    }
    // SAFETY: a shadow is carried only where the processor has these instructions.
    unsafe { fused_lanes::<S>(call) };
    if !is_quiet {
        set_mxcsr(mxcsr(), guest);
    }
}

/// Tells whether *inexact* is masked and has been raised, and rounding is to the nearest: what raises nothing else leaves MXCSR as it is.
fn has_inexact(mxcsr: u32) -> bool {
    const MASKS: u32 = FLAGS << MASKS_AT;
    const WANTED: u32 = INEXACT | INEXACT << MASKS_AT;
    mxcsr & WANTED == WANTED && mxcsr & !FLAGS & !MASKS == 0
}

/// Tells whether the call raises nothing but *inexact*: its numbers, one double each, are far from the ends of the format's range, and
/// shadows of operands absent or less than half of those. Traces of what is lost in the error of a `float` are subnormal.
#[inline(always)]
fn is_moderate<S: Inline>(call: &FunctionCall) -> bool {
    const LEAST: u64 = 1023 - 100;
    const COUNT: u64 = 200;
    let Function { op, format, width, shape } = Function::from_bits(call.function as u32);
    if !S::raises_only_inexact(op) || format != Format::F64 || usize::from(width) != format.bytes() {
        return false;
    }
    let exponent = |vector: &CallVector| vector[0] << 1 >> 53;
    let is_strange = |exponent: u64| exponent.wrapping_sub(LEAST) >= COUNT;
    let mut strange = is_strange(exponent(&call.result));
    let operands = op.operands().iter().take(MAX_OPERANDS).enumerate();
    for (i, _) in operands.filter(|(_, operand)| !(operand.integer && shape.has_integers())) {
        let (x, shadow) = (exponent(&call.x[i]), exponent(&call.shadows[i]));
        let is_there = call.shadows[i][0] << 1 != 0;
        strange |= is_strange(x) | (is_there & (is_strange(shadow) | (shadow + 1 >= x)));
    }
    !strange
}

/// Arithmetic of functions that is inlined into this has fused operations as instructions, not as calls. Not to be mixed with what sets
/// MXCSR.
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn fused_lanes<S: Inline>(call: &mut FunctionCall) {
    let function = Function::from_bits(call.function as u32);
    match function {
        Function { format: Format::F64, width: 8, shape: Shape::Floats | Shape::SinCos, op }
            if S::POLICY.is_born =>
        {
            one_double::<S>(call, op);
        }
        _ => lanes::<S>(call, function, |format, op, given| S::eval(format, op, given)),
    }
}

/// Sets the shadow as [`evaluate`] does, where that takes more. Not in the midst of translated code.
pub(super) fn evaluate_slowly<S: Inline>(call: &mut FunctionCall, _recording: &Recording) {
    let function = Function::from_bits(call.function as u32);
    lanes::<S>(call, function, |format, op, given| {
        let shadow = S::eval(format, op, given);
        if shadow.is_nan() { S::eval_slowly(format, op, given) } else { shadow }
    });
}

/// The commonest case of [`lanes`], which takes as long by that as its arithmetic.
#[inline(always)]
fn one_double<S: Inline>(call: &mut FunctionCall, op: Op) {
    let double = |vector: &CallVector| f64::from_bits(vector[0]);
    let (x, shadows) = (call.x.each_ref().map(double), call.shadows.each_ref().map(double));
    let count = op.arity();
    let given = Given { x: &x[..count], r: double(&call.result), shadows: &shadows[..count] };
    let shadow = S::eval(Format::F64, op, given);
    call.shadow = [shadow.to_bits(), 0, 0, 0];
    call.is_unknown = shadow.is_nan().into();
}

#[inline(always)]
fn lanes<S: Inline>(
    call: &mut FunctionCall,
    function: Function,
    eval: impl Fn(Format, Op, Given<'_, f64>) -> f64,
) {
    call.shadow = [0; 4];
    call.is_unknown = 0;
    for n in 0..function.lanes() {
        if let Some(shadow) = shadow::<S>(call, function, n, &eval) {
            call.is_unknown |= u64::from(S::POLICY.is_born && shadow.is_nan());
            let cell = match function.format {
                Format::F80 => InPlace.encode(Format::F80, 0, shadow),
                format => format.from_f64(shadow),
            };
            set_bits(&mut call.shadow, function.format, n, cell);
        }
    }
}

/// The shadow of lane `n` of the result; nothing if no operand has one.
#[inline(always)]
fn shadow<S: Inline>(
    call: &FunctionCall,
    function: Function,
    n: usize,
    eval: &impl Fn(Format, Op, Given<'_, f64>) -> f64,
) -> Option<f64> {
    let Function { op, format, .. } = function;
    let count = op.arity();
    let (mut x, mut shadows) = ([0.0; MAX_OPERANDS], [0.0; MAX_OPERANDS]);
    for (i, operand) in op.operands().iter().enumerate() {
        if operand.integer && function.shape.has_integers() {
            x[i] = call.x[i][0] as i64 as f64;
        } else {
            x[i] = format.to_f64(bits(&call.x[i], format, n));
            shadows[i] = InPlace.decode(format, bits(&call.shadows[i], format, n), 0).unwrap_or(0.0);
        }
    }
    if !S::POLICY.is_born && shadows.iter().all(|shadow| shadow.to_bits() == 0) {
        return None;
    }
    // Of long doubles the result is that of the operands as doubles, where that is told.
    let in_doubles = if format == Format::F80 { op.in_doubles(&x[..count]) } else { None };
    let r = in_doubles.unwrap_or_else(|| format.to_f64(bits(&call.result, format, n)));
    let shadow = eval(format, op, Given { x: &x[..count], r, shadows: &shadows[..count] });
    (shadow.to_bits() != 0).then_some(shadow)
}

/// Lane `n`, or the one long double.
#[inline(always)]
pub(super) fn bits(vector: &CallVector, format: Format, n: usize) -> u128 {
    const END: u64 = u16::MAX as u64;
    match format {
        Format::F80 => u128::from(vector[0]) | u128::from(vector[1] & END) << 64,
        _ => lane(vector, format, n).into(),
    }
}

/// Lane `n`.
#[inline(always)]
pub(super) fn lane(vector: &CallVector, format: Format, n: usize) -> u64 {
    match format {
        Format::F32 => u64::from((vector[n / 2] >> (32 * (n % 2))) as u32),
        _ => vector[n],
    }
}

/// Sets lane `n`, of a vector in which it was zero, or the one long double.
#[inline(always)]
pub(super) fn set_bits(vector: &mut CallVector, format: Format, n: usize, bits: u128) {
    match format {
        Format::F32 => vector[n / 2] |= (bits as u64) << (32 * (n % 2)),
        Format::F80 => [vector[0], vector[1]] = [bits as u64, (bits >> 64) as u64],
        _ => vector[n] = bits as u64,
    }
}

fn mxcsr() -> u32 {
    let mut value = 0_u32;
    // SAFETY: stores a control register.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
    value
}

/// Loading the register takes longer than asking what is there.
fn set_mxcsr(is: u32, value: u32) {
    if is != value {
        // SAFETY: loads a control register with what masks all exceptions, as Rust expects, or was there before.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadows::ShadowKind;

    /// The evaluator of the first shadow that has one.
    fn evaluate(call: &mut FunctionCall) {
        let mut kinds = ShadowKind::ALL.iter().filter(|kind| kind.inline().is_some());
        let functions = kinds.find_map(|kind| kind.functions()).unwrap();
        (functions.evaluate)(call, &Recording::default());
    }

    /// Numbers of moderate size raise nothing but *inexact*, whatever the function and its result: any other exception would end this
    /// test.
    #[test]
    fn moderate_numbers_raise_only_inexact() {
        const NUMBERS: [f64; 8] = [1e-17, 3e-8, 0.3, 1.0, std::f64::consts::FRAC_PI_2, 7.5, 355.0, 1e17];
        let numbers = NUMBERS.map(|x| [x, -x]);
        let numbers = numbers.as_flattened();
        let pairs = || numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y)));
        let kinds = ShadowKind::ALL.iter().filter(|kind| kind.inline().is_some());
        let evaluators: Vec<_> =
            kinds.filter_map(|kind| Some((kind.policy().evaluated, kind.functions()?))).collect();
        let before = mxcsr();
        for (&op, format) in
            Op::ALL.iter().flat_map(|op| [Format::F64, Format::F32].map(|format| (op, format)))
        {
            for (x, y) in pairs() {
                for (shadow, r) in [(0.0, y), (1e-9, x), (-0.2, 1.0)] {
                    let word = |x: f64| [format.from_f64(x) as u64, 0, 0, 0];
                    let mut call = call(op, format, format.bytes() as u8);
                    (call.x, call.shadows) = ([x, y, y].map(word), [x, y, y].map(|x| word(x * shadow)));
                    call.result = word(r);
                    for (_, functions) in evaluators.iter().filter(|(known, _)| known.contains(&op)) {
                        set_mxcsr(mxcsr(), INEXACT | INEXACT << MASKS_AT);
                        (functions.evaluate)(&mut call, &Recording::default());
                        let after = mxcsr();
                        set_mxcsr(after, before);
                        assert_eq!(after, INEXACT | INEXACT << MASKS_AT, "{} {x} {y}", op.name());
                    }
                }
            }
        }
    }

    fn call(op: Op, format: Format, width: u8) -> FunctionCall {
        let function = Function { op, format, width, shape: Shape::Floats };
        FunctionCall { function: function.bits().into(), ..FunctionCall::default() }
    }

    #[test]
    fn either_format_has_its_shadows() {
        let mut sine = call(Op::Sin, Format::F64, 8);
        (sine.x[0][0], sine.shadows[0][0]) = (0.5_f64.to_bits(), 2.0_f64.to_bits());
        sine.result[0] = 0.5_f64.sin().to_bits();
        evaluate(&mut sine);
        assert!((f64::from_bits(sine.shadow[0]) - 2.0 * 0.5_f64.cos()).abs() < 1e-15);
        // What is above a float's four bytes is none of its business.
        let mut exp = call(Op::Exp, Format::F32, 4);
        exp.x[0][0] = u64::from(0.5_f32.to_bits()) | 7 << 32;
        exp.shadows[0][0] = u64::from(3.0_f32.to_bits()) | 9 << 32;
        exp.result[0] = u64::from(0.5_f32.exp().to_bits()) | 5 << 32;
        evaluate(&mut exp);
        assert_eq!(f32::from_bits(exp.shadow[0] as u32), 3.0 * 0.5_f32.exp());
        exp.shadows[0][0] = 9 << 32;
        evaluate(&mut exp);
        assert_eq!(exp.shadow, [0; 4]);
    }

    #[test]
    fn long_doubles_have_ten_bytes() {
        let mut sine = call(Op::Sin, Format::F80, 16);
        let words = |bits: u128| [bits as u64, (bits >> 64) as u64 | 7 << 16, 3, 3];
        sine.x[0] = words(Format::F80.from_f64(0.5));
        sine.shadows[0] = words(InPlace.encode(Format::F80, 0, 2.0));
        sine.result = words(Format::F80.from_f64(0.5_f64.sin()));
        evaluate(&mut sine);
        let cell = u128::from(sine.shadow[0]) | u128::from(sine.shadow[1]) << 64;
        let shadow = InPlace.decode(Format::F80, cell, 0).unwrap();
        assert!((shadow - 2.0 * 0.5_f64.cos()).abs() < 1e-15);
        sine.shadows[0] = words(0);
        evaluate(&mut sine);
        assert_eq!(sine.shadow, [0; 4]);
    }

    #[test]
    fn scaling_on_the_stack_is_by_a_float() {
        let (format, shape) = (Format::F80, Shape::Instruction);
        let function = Function { op: Op::Ldexp, format, width: 16, shape };
        let mut scaled = FunctionCall { function: function.bits().into(), ..FunctionCall::default() };
        let words = |bits: u128| [bits as u64, (bits >> 64) as u64, 0, 0];
        scaled.x[..2].copy_from_slice(&[1.5, 2.7].map(|x| words(Format::F80.from_f64(x))));
        scaled.shadows[0] = words(InPlace.encode(Format::F80, 0, 3.0));
        evaluate(&mut scaled);
        let cell = u128::from(scaled.shadow[0]) | u128::from(scaled.shadow[1]) << 64;
        assert_eq!(InPlace.decode(Format::F80, cell, 0), Some(12.0));
    }

    #[test]
    fn lanes_are_on_their_own() {
        let mut exp = call(Op::Exp, Format::F32, 32);
        let pair = |low: f32, high: f32| u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
        exp.result = [pair(1.0, 2.0), pair(3.0, 4.0), pair(5.0, 6.0), pair(7.0, 8.0)];
        exp.shadows[0] = [pair(1.0, 0.0), pair(0.0, 1.0), pair(2.0, 2.0), 0];
        evaluate(&mut exp);
        assert_eq!(exp.shadow, [pair(1.0, 0.0), pair(0.0, 4.0), pair(10.0, 12.0), 0]);
    }

    #[test]
    fn integers_are_what_they_are() {
        let function = Function { op: Op::Ldexp, format: Format::F64, width: 8, shape: Shape::Long };
        let mut ldexp = FunctionCall { function: function.bits().into(), ..FunctionCall::default() };
        ldexp.x[0][0] = 1.5_f64.to_bits();
        ldexp.x[1][0] = -3_i64 as u64;
        ldexp.shadows[0][0] = 2.0_f64.to_bits();
        ldexp.result[0] = 0.1875_f64.to_bits();
        evaluate(&mut ldexp);
        assert_eq!(f64::from_bits(ldexp.shadow[0]), 0.25);
    }
}
