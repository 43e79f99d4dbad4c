//! A function that runs as one operation: its end, and the shadows that its results get then.
//!
//! How it begins is for [`super::visit`] and for translated code.

use super::Tool;
use super::shadowed::Shadowed;
use super::stops;
use super::visit::{arrived, visit};
use crate::context::{CallVector, FunctionCall, reg};
use crate::engine::thread::Thread;
use crate::engine::{guest, planes};
use crate::registers;
use crate::x86::function::{Function, Goes, Shape};
use crate::x86::state;
use shadowgrind_core::format::Format;

/// Tells whether the function that runs as one operation is no longer under way: its frame was left by a jump or an
/// exception.
pub(super) fn leaves_wrapped(thread: &mut Thread) -> bool {
    let call = thread.context.call;
    if call.is_active() && thread.context.regs[reg::RSP] <= call.stack() {
        return false;
    }
    end_function(thread);
    true
}

/// Ends the function that ran as one operation and has returned, to `thread.pc`: its results get their shadows.
pub(super) fn returned(thread: &mut Thread) {
    let mut call = end_function(thread);
    if call.function != 0 {
        let is_born = Tool::of(thread.process).is_some_and(|tool| tool.policy().is_born);
        let function = Function::from_bits(call.function as u32);
        if is_born && (function.rounds_by().is_some() || makes_zero(thread, function, &call)) {
            end_call(thread, function, &call);
        } else {
            evaluate(thread, &mut call);
        }
        count_rounding(thread, &call);
    }
    thread.mode = stops::mode(thread);
    arrived(thread);
}

/// Tells whether a function of floats, some of which have shadows, has returned zero. How far a zero is off can be told from the operands
/// alone.
fn makes_zero(thread: &Thread, function: Function, call: &FunctionCall) -> bool {
    let Function { format, shape, .. } = function;
    let is_scalar =
        matches!(shape, Shape::Floats | Shape::Beside) && format != Format::F80 && function.lanes() == 1;
    if !is_scalar || !has_shadows(call) {
        return false;
    }
    let mut result = [0; Format::F64.bytes()];
    registers::read_value(thread.context, state::vector(0), &mut result[..format.bytes()]);
    format.to_f64(u64::from_le_bytes(result).into()) == 0.0
}

/// Has the shadow see to the results of a function that has returned to `thread.pc`, as one of those operations that it looks at.
fn end_call(thread: &mut Thread, function: Function, call: &FunctionCall) {
    let pc = thread.pc;
    visit(thread, |session, _, observer, machine| {
        session.end_function(pc, function, call, observer, machine);
    });
}

/// Counts a call, which has returned to `thread.pc`, if it has made whole numbers of floats with shadows.
fn count_rounding(thread: &mut Thread, call: &FunctionCall) {
    let counts = Tool::of(thread.process).is_some_and(|tool| tool.policy().decisions);
    if counts && has_shadows(call) && Function::from_bits(call.function as u32).rounds_by().is_some() {
        let pc = thread.pc;
        visit(thread, |session, _, _, machine| session.made_whole(pc, machine));
    }
}

/// Tells whether an operand of a call has a shadow.
fn has_shadows(call: &FunctionCall) -> bool {
    call.shadows.as_flattened().iter().any(|&word| word != 0)
}

/// Gives the results of a function that has returned their shadows, one by one, as translated code does for functions that it
/// sees to.
fn evaluate(thread: &mut Thread, call: &mut FunctionCall) {
    let Some(functions) = Tool::of(thread.process).and_then(Tool::functions) else { return };
    let function = Function::from_bits(call.function as u32);
    let is_long = function.format == Format::F80;
    let width = if is_long { Format::F80.bytes() } else { usize::from(function.width) };
    let register = if is_long { state::x87(registers::x87_top(thread.context), 0) } else { state::vector(0) };
    if function.shape == Shape::Frexp {
        let mut exponent = [0; 4];
        guest::read_some(call.pointers[0], &mut exponent);
        (call.x[1][0], call.shadows[1]) = (-i64::from(i32::from_le_bytes(exponent)) as u64, [0; 4]);
    }
    if function.writes_int() {
        planes::clear(call.pointers[0], size_of::<i32>() as u64);
    }
    for (n, (op, goes)) in function.results().enumerate() {
        call.function = Function { op, ..function }.bits().into();
        call.present = n as u64;
        let mut result = [0; size_of::<CallVector>()];
        match goes {
            Goes::Register if is_long => {
                registers::read_value(thread.context, register, &mut result[..width]);
            }
            Goes::Register => registers::read_value(thread.context, register, &mut result),
            Goes::Through(i) => drop(guest::read_some(call.pointers[i], &mut result[..width])),
        }
        call.result = std::array::from_fn(|i| u64::from_le_bytes(result.as_chunks().0[i]));
        (functions.evaluate_slowly)(call, &thread.mailbox.recording);
        let shadow: Vec<u8> = call.shadow.iter().flat_map(|word| word.to_le_bytes()).take(width).collect();
        match goes {
            Goes::Through(i) => planes::write(call.pointers[i], &shadow),
            Goes::Register => {
                let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
                let mut registers = shadowed.registers(thread.context);
                registers.bytes(register, width).copy_from_slice(&shadow);
                registers.note_x87();
            }
        }
    }
}

/// Ends the function that runs as one operation, and returns its call. Registers in which it may have left anything carry no
/// shadow afterwards.
fn end_function(thread: &mut Thread) -> FunctionCall {
    let call = std::mem::take(&mut thread.context.call);
    registers::complete_image(thread.context);
    let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return call };
    let mut registers = shadowed.registers(thread.context);
    for register in reg::CALLER_SAVED {
        registers.bytes(state::general(register), 8).fill(0);
    }
    for number in 0..32 {
        registers.bytes(state::vector(number), usize::from(state::VECTOR_BYTES)).fill(0);
    }
    for index in 0..8 {
        registers.bytes(state::x87(0, index), usize::from(state::X87_BYTES)).fill(0);
    }
    registers.note_x87();
    call
}
