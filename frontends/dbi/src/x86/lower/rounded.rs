//! Roundings to integers and to binary fractions, and what these leave of a number.
//!
//! A fraction is an integer divided by a power of two: the steps scale, round and scale back. How the processor rounds is not repeated
//! here: what it rounded to follows from its result.

use super::build::{Build, Why};
use super::complete::Value;
use super::float::{finish, lanes, last_source, op, unary};
use crate::x86::state;
use crate::x86::table::Shape;
use iced_x86::{EncodingKind, Instruction};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::{Operand, Place};

/// Place of powers of two, which have no shadow.
const POWERS: Place = Place::State(state::SCRATCH + state::VECTOR_BYTES);

/// Binary places that are rounded to: only AVX-512's instructions heed these bits.
fn places(insn: &Instruction) -> u8 {
    if insn.encoding() == EncodingKind::EVEX { insn.immediate8() >> 4 } else { 0 }
}

/// The operation that rounds to an integer as the immediate says.
pub(in crate::x86) fn rounding(insn: &Instruction) -> Op {
    match insn.immediate8() & 7 {
        0 => Op::RoundEven,
        1 => Op::Floor,
        2 => Op::Ceil,
        3 => Op::Trunc,
        _ => Op::Rint,
    }
}

/// Rounds to an integer, or to a fraction with as many binary places as the immediate says.
pub(super) fn round(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    if places(build.insn) == 0 {
        return unary(build, rounding(build.insn), format, shape);
    }
    let (count, source) = (lanes(build, format, shape), last_source(build));
    let a = build.source(source, format, count)?;
    let r = build.result(format, count)?;
    build.clear(POWERS, state::VECTOR_BYTES);
    for i in 0..count {
        rounded(build, format, (i, a.lane(i)), r.lane(i));
    }
    finish(build, format, shape)
}

/// Takes off what rounding leaves.
pub(super) fn reduce(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    let (count, source) = (lanes(build, format, shape), last_source(build));
    let a = build.source(source, format, count)?;
    let r = build.result(format, count)?;
    build.clear(POWERS, state::VECTOR_BYTES);
    for i in 0..count {
        let (a, r) = (a.lane(i), r.lane(i));
        let taken = build.in_scratch(format, i);
        let places = places(build.insn);
        build.value(format, Value::Fraction { x: [a.value, r.value], places }, taken);
        rounded(build, format, (i, a), taken);
        op(build, Op::Sub, format, [a, taken, a], r);
    }
    finish(build, format, shape)
}

/// Steps that round `a`, of lane `i`, to what `to` is.
fn rounded(build: &mut Build<'_>, format: Format, (i, a): (u16, Operand), to: Operand) {
    let (which, places) = (rounding(build.insn), places(build.insn));
    if places == 0 {
        return op(build, which, format, [a; 3], to);
    }
    let [up, down] = [false, true].map(|negative| {
        let power = build.computed(POWERS, format.bytes() as u16);
        build.value(format, Value::Places { x: a.value, places, negative }, power);
        power
    });
    let [scaled, integer] = [a, to].map(|x| {
        let scaled = build.in_scratch(format, i);
        build.value(format, Value::Scaled { x: x.value, power: up.value }, scaled);
        scaled
    });
    op(build, Op::Ldexp, format, [a, up, a], scaled);
    op(build, which, format, [scaled; 3], integer);
    op(build, Op::Ldexp, format, [integer, down, integer], to);
}
