//! x87: a stack of eight physical registers, of which the instruction's caller knows the top.
//!
//! Operands in memory are first brought into the 80-bit format in the scratch; results have that format whatever the
//! precision control says. An empty register has no shadow: what is popped loses it.

use super::build::{Build, Why, XMM_BYTES};
use super::complete::{Completion, Test, Value};
use crate::x86::state;
use crate::x86::table::X87;
use iced_x86::{MemorySize, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::{Operand, Place, Predicate, Step, ToInteger};

const F80: Format = Format::F80;
const WIDTH: u16 = 10;

pub(super) fn x87(build: &mut Build<'_>, row: X87) -> Result<(), Why> {
    effect(build, row)?;
    let popped =
        if row.keeps_floats() { 0 } else { build.insn.fpu_stack_increment_info().increment().max(0) };
    for index in 0..popped {
        let place = stack(build, index as u8);
        build.clear(place, WIDTH);
    }
    Ok(())
}

/// Effect of the instruction but for its pops.
fn effect(build: &mut Build<'_>, row: X87) -> Result<(), Why> {
    match row {
        X87::Load => load(build),
        X87::LoadExact => load_exact(build),
        X87::Store => store(build),
        X87::StoreInteger(how) => store_integer(build, how),
        X87::Arith(op, exchanged) => arith(build, op, exchanged),
        X87::Unary(op) => unary(build, op),
        X87::Binary(op) => {
            let (x, below) = (top(build), captured(build, 1));
            let r = after(build, 1);
            op_step(build, op, [below, x, below], r);
            Ok(())
        }
        X87::Scale(op) => {
            let (x, below) = (top(build), captured(build, 1));
            let r = after(build, 0);
            op_step(build, op, [x, below, x], r);
            Ok(())
        }
        X87::SinCos => sin_cos(build),
        X87::Tangent => tangent(build),
        X87::Extract => extract(build),
        X87::Exchange => exchange(build),
        X87::ConditionalMove(condition) => conditional_move(build, condition),
        X87::Compare => compare(build, false),
        X87::CompareZero => compare(build, true),
        X87::Free => {
            let place = register(build, build.insn.op0_register());
            build.clear(place, WIDTH);
            Ok(())
        }
        X87::Reset => {
            build.clear(Place::State(state::X87), 8 * state::X87_BYTES);
            Ok(())
        }
        // C's functions for exceptions store it into a variable of four bytes.
        X87::Status => {
            let (at, bytes) = (build.place(0)?, build.width(0));
            build.step(Step::ClearAround { at, bytes });
            Ok(())
        }
        // What it writes is cleared like any integer.
        X87::Rotate | X87::Control | X87::Environment | X87::SaveEnvironment => Ok(()),
    }
}

/// The register `index` below the top as it is before the instruction; 7 is the one that a push makes the top.
fn stack(build: &Build<'_>, index: u8) -> Place {
    Place::State(state::x87(build.top, index))
}

/// The register called `register`.
fn register(build: &Build<'_>, register: Register) -> Place {
    stack(build, register.number() as u8)
}

fn captured(build: &mut Build<'_>, index: u8) -> Operand {
    let place = stack(build, index);
    build.before(place, WIDTH)
}

fn after(build: &mut Build<'_>, index: u8) -> Operand {
    let place = stack(build, index);
    build.after(place, WIDTH)
}

fn top(build: &mut Build<'_>) -> Operand {
    captured(build, 0)
}

fn op_step(build: &mut Build<'_>, op: Op, x: [Operand; 3], r: Operand) {
    build.step(Step::Op { op, from: F80, to: F80, x, r });
}

/// The format of a float in memory.
fn memory_format(size: MemorySize) -> Result<Format, Why> {
    match size {
        MemorySize::Float32 => Ok(Format::F32),
        MemorySize::Float64 => Ok(Format::F64),
        MemorySize::Float80 => Ok(F80),
        _ => Err("x87 operand of another format"),
    }
}

fn load(build: &mut Build<'_>) -> Result<(), Why> {
    let to = stack(build, 7);
    if build.is_register(0) {
        let from = register(build, build.insn.op_register(build.insn.op_count() - 1));
        build.copy(from, to, WIDTH);
        return Ok(());
    }
    let (from, place) = (memory_format(build.insn.memory_size())?, build.place(0)?);
    if from == F80 {
        build.copy(place, to, WIDTH);
        build.step(Step::Mend { at: to });
        return Ok(());
    }
    let x = build.before(place, from.bytes() as u16);
    let r = build.after(to, WIDTH);
    build.step(Step::Widen { from, to: F80, x, r });
    Ok(())
}

fn store(build: &mut Build<'_>) -> Result<(), Why> {
    let from = stack(build, 0);
    if build.is_register(0) {
        let to = register(build, build.insn.op0_register());
        build.copy(from, to, WIDTH);
        return Ok(());
    }
    let (to, place) = (memory_format(build.insn.memory_size())?, build.place(0)?);
    if to == F80 {
        build.copy(from, place, WIDTH);
        return Ok(());
    }
    let x = top(build);
    let r = build.after(place, to.bytes() as u16);
    build.step(Step::Op { op: Op::Narrow, from: F80, to, x: [x; 3], r });
    Ok(())
}

/// Bytes of a memory operand that may be a float on its way elsewhere, loaded and stored as an integer.
fn copied(build: &Build<'_>) -> Option<u16> {
    match build.insn.memory_size() {
        MemorySize::Int32 => Some(4),
        MemorySize::Int64 => Some(8),
        _ => None,
    }
}

/// An integer or a constant starts afresh. But what is loaded as an integer may be a float on its way elsewhere
/// ([`store_integer`]): its shadow travels in the lowest bytes, where it means nothing to an 80-bit float.
fn load_exact(build: &mut Build<'_>) -> Result<(), Why> {
    let to = stack(build, 7);
    let bytes = copied(build).unwrap_or(0);
    if bytes > 0 {
        let from = build.place(0)?;
        build.copy(from, to, bytes);
    }
    build.clear(to.plus(bytes), WIDTH - bytes);
    Ok(())
}

/// Stores a number that was loaded as an integer with the shadow beside it, if nothing is kept beside the end of an
/// 80-bit float, and the shadow is not that float's own.
fn store_integer(build: &mut Build<'_>, how: ToInteger) -> Result<(), Why> {
    let x = top(build);
    let (to, bytes) = (build.place(0)?, build.width(0));
    build.step(Step::Integer { format: F80, how, x });
    build.clear(to, bytes);
    if let Some(bytes) = copied(build) {
        build.step(Step::UnlessKept { at: x.place.plus(8), bytes: WIDTH - 8, skip: 2 });
        build.step(Step::UnlessRecognised { format: F80, x, skip: 1 });
        build.copy(x.place, to, bytes);
    }
    Ok(())
}

/// The memory operand as an 80-bit float in the scratch: a float with its shadow, an integer without.
fn widened(build: &mut Build<'_>) -> Result<Operand, Why> {
    let (size, place, scratch) = (build.insn.memory_size(), build.place(0)?, Place::State(state::SCRATCH));
    let bytes = size.size() as u16;
    let x = build.before(place, bytes);
    let r = build.computed(scratch, WIDTH);
    if let Ok(from) = memory_format(size) {
        build.value(F80, Value::Widened { from, x: x.value }, r);
        build.step(Step::Widen { from, to: F80, x, r });
    } else {
        build.value(F80, Value::Integer { bytes, x: x.value }, r);
        build.clear(scratch, XMM_BYTES);
    }
    Ok(r)
}

fn arith(build: &mut Build<'_>, op: Op, exchanged: bool) -> Result<(), Why> {
    let (to, source) = if build.is_memory(0) {
        (stack(build, 0), widened(build)?)
    } else {
        let (to, from) = (build.insn.op0_register(), build.insn.op1_register());
        let place = register(build, from);
        (register(build, to), build.before(place, WIDTH))
    };
    let destination = build.before(to, WIDTH);
    let r = build.after(to, WIDTH);
    let (a, b) = if exchanged { (source, destination) } else { (destination, source) };
    op_step(build, op, [a, b, a], r);
    Ok(())
}

/// Sine and cosine leave an operand that is out of range as it is.
fn unary(build: &mut Build<'_>, op: Op) -> Result<(), Why> {
    let x = top(build);
    let r = after(build, 0);
    if matches!(op, Op::Sin | Op::Cos) {
        skip_unless_in_range(build, x, 1);
    }
    op_step(build, op, [x; 3], r);
    Ok(())
}

fn skip_unless_in_range(build: &mut Build<'_>, x: Operand, skip: u8) {
    let flag = build.flag();
    build.complete(Completion::Test { test: Test::InRange, x: x.value, flag });
    build.step(Step::Unless { flag, skip });
}

fn sin_cos(build: &mut Build<'_>) -> Result<(), Why> {
    let x = top(build);
    let (sine, cosine) = (after(build, 0), after(build, 7));
    skip_unless_in_range(build, x, 2);
    op_step(build, Op::Cos, [x; 3], cosine);
    op_step(build, Op::Sin, [x; 3], sine);
    Ok(())
}

fn tangent(build: &mut Build<'_>) -> Result<(), Why> {
    let x = top(build);
    let r = after(build, 0);
    let one = stack(build, 7);
    skip_unless_in_range(build, x, 2);
    op_step(build, Op::Tan, [x; 3], r);
    build.clear(one, WIDTH);
    Ok(())
}

fn extract(build: &mut Build<'_>) -> Result<(), Why> {
    let x = top(build);
    let (exponent, significand) = (stack(build, 0), after(build, 7));
    let scratch = Place::State(state::SCRATCH);
    let shift = build.computed(scratch, WIDTH);
    build.value(F80, Value::MinusExponent { x: x.value }, shift);
    build.clear(scratch, XMM_BYTES);
    op_step(build, Op::Ldexp, [x, shift, x], significand);
    build.clear(exponent, WIDTH);
    Ok(())
}

fn exchange(build: &mut Build<'_>) -> Result<(), Why> {
    let other = build.insn.op_register(build.insn.op_count() - 1);
    let (a, b, scratch) = (stack(build, 0), register(build, other), Place::State(state::SCRATCH));
    if a != b {
        build.copy(a, scratch, WIDTH);
        build.copy(b, a, WIDTH);
        build.copy(scratch, b, WIDTH);
    }
    Ok(())
}

fn conditional_move(build: &mut Build<'_>, condition: u8) -> Result<(), Why> {
    let flag = build.condition(condition);
    let (from, to) = (register(build, build.insn.op1_register()), stack(build, 0));
    if from != to {
        build.step(Step::Unless { flag, skip: 1 });
        build.copy(from, to, WIDTH);
    }
    Ok(())
}

/// Compares the top with zero, or with the operand.
fn compare(build: &mut Build<'_>, with_zero: bool) -> Result<(), Why> {
    let other = if with_zero {
        let scratch = Place::State(state::SCRATCH);
        let zero = build.computed(scratch, WIDTH);
        build.value(F80, Value::Zero, zero);
        build.clear(scratch, XMM_BYTES);
        zero
    } else if build.insn.op_count() > 0 && build.is_memory(0) {
        widened(build)?
    } else {
        let index = match build.insn.op_count() {
            0 => 1,
            count => build.insn.op_register(count - 1).number() as u8,
        };
        captured(build, index)
    };
    let x = top(build);
    build.step(Step::Compare { format: F80, predicate: Predicate::ORDER, x: [x, other] });
    Ok(())
}
