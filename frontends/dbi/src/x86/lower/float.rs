//! Floating-point arithmetic, conversions and comparisons on vector registers.

use super::build::{Build, Why, XMM_BYTES};
use super::complete::Value;
use crate::x86::access;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::{Integral, Shape};
use iced_x86::{Instruction, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::{Operand, Place, Predicate, Step, ToInteger};

/// Number of lanes of a result, for `finish`.
pub(super) fn lanes(build: &Build<'_>, format: Format, shape: Shape) -> u16 {
    match shape {
        Shape::Scalar => 1,
        Shape::Packed => build.width(0) / format.bytes() as u16,
    }
}

/// Deals with what a vector register has beyond the lanes of the result.
pub(super) fn finish(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    match shape {
        Shape::Scalar => build.finish_scalar(format.bytes() as u16),
        Shape::Packed => build.finish_vector(build.width(0)),
    }
}

/// An operation whose operands have the format of its result.
pub(super) fn op(build: &mut Build<'_>, op: Op, format: Format, x: [Operand; 3], r: Operand) {
    build.step(Step::Op { op, from: format, to: format, x, r });
}

/// The operands that are first and second source.
pub(super) fn sources(build: &Build<'_>) -> [u32; 2] {
    if build.operands() > 2 { [1, 2] } else { [0, 1] }
}

/// The source of a unary operation: the last operand that is no immediate.
pub(super) fn last_source(build: &Build<'_>) -> u32 {
    build.operands() - 1
}

/// Bytes of operand `operand`, all copies of a broadcast one counted.
pub(super) fn full_width(build: &Build<'_>, operand: u32) -> u16 {
    match build.is_memory(operand) {
        true => {
            let mut whole = *build.insn;
            whole.set_is_broadcast(false);
            whole.memory_size().size() as u16
        }
        false => build.width(operand),
    }
}

pub(super) fn arith(build: &mut Build<'_>, which: Op, format: Format, shape: Shape) -> Result<(), Why> {
    let (count, [a, b]) = (lanes(build, format, shape), sources(build));
    let (a, b) = (build.source(a, format, count)?, build.source(b, format, count)?);
    let r = build.result(format, count)?;
    for i in 0..count {
        op(build, which, format, [a.lane(i), b.lane(i), a.lane(i)], r.lane(i));
    }
    finish(build, format, shape)
}

/// Scaling by a power of two, which has no derivative itself.
pub(super) fn scale(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    let (count, [a, b]) = (lanes(build, format, shape), sources(build));
    let (a, b) = (build.source(a, format, count)?, build.source(b, format, count)?);
    let r = build.result(format, count)?;
    let power = Place::State(state::SCRATCH);
    build.clear(power, state::VECTOR_BYTES);
    for i in 0..count {
        let n = build.computed(power, format.bytes() as u16);
        build.value(format, Value::Floor { x: b.lane(i).value }, n);
        op(build, Op::Ldexp, format, [a.lane(i), n, a.lane(i)], r.lane(i));
    }
    finish(build, format, shape)
}

pub(super) fn unary(build: &mut Build<'_>, which: Op, format: Format, shape: Shape) -> Result<(), Why> {
    let (count, source) = (lanes(build, format, shape), last_source(build));
    let a = build.source(source, format, count)?;
    let r = build.result(format, count)?;
    for i in 0..count {
        op(build, which, format, [a.lane(i); 3], r.lane(i));
    }
    finish(build, format, shape)
}

/// `which` says the operation of a lane by whether its number is odd.
pub(super) fn fused(
    build: &mut Build<'_>,
    which: impl Fn(bool) -> Op,
    terms: [u8; 3],
    format: Format,
    shape: Shape,
) -> Result<(), Why> {
    let count = lanes(build, format, shape);
    let mut x = Vec::new();
    for term in terms {
        x.push(build.source(term.into(), format, count)?);
    }
    let r = build.result(format, count)?;
    for i in 0..count {
        op(build, which(i % 2 == 1), format, [x[0].lane(i), x[1].lane(i), x[2].lane(i)], r.lane(i));
    }
    // A scalar keeps the rest of its destination, but for the four-operand forms, which clear it.
    match shape {
        Shape::Scalar if build.operands() > 3 => build.finish_vector(format.bytes() as u16),
        Shape::Scalar => build.finish_vector(XMM_BYTES),
        Shape::Packed => build.finish_vector(build.width(0)),
    }
}

pub(super) fn add_sub(build: &mut Build<'_>, format: Format) -> Result<(), Why> {
    let (count, [a, b]) = (lanes(build, format, Shape::Packed), sources(build));
    let (a, b) = (build.source(a, format, count)?, build.source(b, format, count)?);
    let r = build.result(format, count)?;
    for i in 0..count {
        let which = if i % 2 == 0 { Op::Sub } else { Op::Add };
        op(build, which, format, [a.lane(i), b.lane(i), a.lane(i)], r.lane(i));
    }
    finish(build, format, Shape::Packed)
}

/// Within each 128 bits: neighbours of the first source, then those of the second. Results go by way of the scratch,
/// because they overwrite operands of later ones.
pub(super) fn horizontal(build: &mut Build<'_>, which: Op, format: Format) -> Result<(), Why> {
    let (width, [a, b]) = (format.bytes() as u16, sources(build));
    let (count, per_half) = (lanes(build, format, Shape::Packed), XMM_BYTES / width);
    let x = [build.source(a, format, count)?, build.source(b, format, count)?];
    let r = build.result(format, count)?;
    for i in 0..count {
        let (half, within) = (i / per_half * per_half, i % per_half);
        let source = x[usize::from(within >= per_half / 2)];
        let pair = half + 2 * within % per_half;
        let to = Operand { place: Place::State(state::SCRATCH + width * i), value: r.lane(i).value };
        op(build, which, format, [source.lane(pair), source.lane(pair + 1), source.lane(pair)], to);
    }
    build.copy(Place::State(state::SCRATCH), r.lane(0).place, width * count);
    finish(build, format, Shape::Packed)
}

/// Products, their sums by pairs, the sum of those (Intel SDM, DPPS); intermediate values are the completion's.
pub(super) fn dot_product(build: &mut Build<'_>, format: Format) -> Result<(), Why> {
    let (width, [a, b]) = (format.bytes() as u16, sources(build));
    let (count, per_half) = (lanes(build, format, Shape::Packed), XMM_BYTES / width);
    let mask = build.insn.immediate8();
    let (a, b) = (build.source(a, format, count)?, build.source(b, format, count)?);
    let r = build.result(format, count)?;
    let goes_to = |i: u16| mask >> (i % per_half) & 1 != 0;
    for first in (0..count).step_by(per_half.into()) {
        let half = first..first + per_half;
        let terms = half.clone().map(|i| {
            let used = mask >> (4 + i - first) & 1 != 0;
            product(build, format, [a.lane(i), b.lane(i)], width * i, used)
        });
        let terms = terms.collect();
        let result = half.clone().find(|&i| goes_to(i)).map(|i| r.lane(i).value);
        let sum = sum(build, format, terms, result);
        for i in half {
            match goes_to(i) {
                true => build.copy(sum.place, r.lane(i).place, width),
                false => build.clear(r.lane(i).place, width),
            }
        }
    }
    finish(build, format, Shape::Packed)
}

/// The product of `x` in the scratch at `at`; zero if it is not used.
fn product(build: &mut Build<'_>, format: Format, x: [Operand; 2], at: u16, used: bool) -> Operand {
    let product = build.computed(Place::State(state::SCRATCH + at), format.bytes() as u16);
    build.value(format, Value::Product { x: [x[0].value, x[1].value], used }, product);
    if used {
        op(build, Op::Mul, format, [x[0], x[1], x[0]], product);
    } else {
        build.clear(product.place, format.bytes() as u16);
    }
    product
}

/// The sum of `terms` by pairs, in the place of the first. The last sum is the instruction's `result`, if that is
/// stored anywhere.
fn sum(build: &mut Build<'_>, format: Format, mut terms: Vec<Operand>, result: Option<u16>) -> Operand {
    while let [x, y, ref rest @ ..] = terms[..] {
        let sum = match result.filter(|_| rest.is_empty()) {
            Some(value) => Operand { place: x.place, value },
            None => {
                let sum = build.computed(x.place, format.bytes() as u16);
                build.value(format, Value::Sum { x: [x.value, y.value] }, sum);
                sum
            }
        };
        op(build, Op::Add, format, [x, y, x], sum);
        terms.drain(..2);
        terms.push(sum);
    }
    terms[0]
}

pub(super) fn narrow(build: &mut Build<'_>, shape: Shape) -> Result<(), Why> {
    let (from, to, source) = (Format::F64, Format::F32, last_source(build));
    let count = match shape {
        Shape::Scalar => 1,
        Shape::Packed => full_width(build, source) / 8,
    };
    let x = build.source(source, from, count)?;
    let r = build.result(to, count)?;
    for i in 0..count {
        build.step(Step::Op { op: Op::Narrow, from, to, x: [x.lane(i); 3], r: r.lane(i) });
    }
    match shape {
        Shape::Scalar => build.finish_scalar(4),
        Shape::Packed => {
            build.clear(r.lane(count).place, XMM_BYTES.saturating_sub(4 * count));
            build.finish_vector((4 * count).max(XMM_BYTES))
        }
    }
}

/// Highest lanes first: a result overwrites the operands of those above it.
pub(super) fn widen(build: &mut Build<'_>, shape: Shape) -> Result<(), Why> {
    let (from, to) = (Format::F32, Format::F64);
    let (count, source) = (lanes(build, to, shape), last_source(build));
    let x = build.source(source, from, count)?;
    let r = build.result(to, count)?;
    for i in (0..count).rev() {
        build.step(Step::Widen { from, to, x: x.lane(i), r: r.lane(i) });
    }
    finish(build, to, shape)
}

/// Lowest lanes first: a result overwrites operands of its own lane and those below.
pub(super) fn to_half(build: &mut Build<'_>) -> Result<(), Why> {
    let (from, to) = (Format::F32, Format::F16);
    let count = build.width(1) / from.bytes() as u16;
    let x = build.source(1, from, count)?;
    let r = build.result(to, count)?;
    for i in 0..count {
        build.step(Step::Op { op: Op::Narrow, from, to, x: [x.lane(i); 3], r: r.lane(i) });
    }
    let bytes = to.bytes() as u16 * count;
    if build.is_register(0) {
        build.clear(r.lane(count).place, XMM_BYTES.saturating_sub(bytes));
    }
    build.finish_vector(bytes.max(XMM_BYTES))
}

/// Highest lanes first, as in [`widen`].
pub(super) fn from_half(build: &mut Build<'_>) -> Result<(), Why> {
    let (from, to) = (Format::F16, Format::F32);
    let count = lanes(build, to, Shape::Packed);
    let x = build.source(1, from, count)?;
    let r = build.result(to, count)?;
    for i in (0..count).rev() {
        build.step(Step::Widen { from, to, x: x.lane(i), r: r.lane(i) });
    }
    finish(build, to, Shape::Packed)
}

pub(super) fn from_integer(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    let (place, last) = (build.place(0)?, build.operands() - 1);
    if build.is_register(last) && build.insn.op_register(last).is_gpr() {
        let (at, bytes) = (build.place(last)?, build.width(last));
        build.step(Step::Dropped { at, bytes });
    }
    build.clear(place, access::result_bytes(build.insn, format, shape) as u16);
    finish(build, format, shape)
}

pub(super) fn to_integer(
    build: &mut Build<'_>,
    format: Format,
    how: ToInteger,
    shape: Shape,
) -> Result<(), Why> {
    let source = last_source(build);
    let count = match shape {
        Shape::Scalar => 1,
        Shape::Packed if build.insn.op0_register().is_mm() => 2,
        // Wide integers may be fewer than the source has floats.
        Shape::Packed => (full_width(build, source) / format.bytes() as u16).min(build.elements()),
    };
    let x = build.source(source, format, count)?;
    for i in 0..count {
        build.step(Step::Integer { format, how, x: x.lane(i) });
    }
    build.clear_registers();
    Ok(())
}

pub(super) fn compare(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    let predicate = predicate(build.insn);
    let to_mask = build.insn.op0_register().is_k();
    let [a, b] = sources(build);
    let count = match shape {
        Shape::Scalar => 1,
        Shape::Packed => build.width(a) / format.bytes() as u16,
    };
    let (x, y) = (build.source(a, format, count)?, build.source(b, format, count)?);
    for i in 0..count {
        build.step(Step::Compare { format, predicate, x: [x.lane(i), y.lane(i)] });
    }
    if to_mask {
        return Ok(());
    }
    let to = build.place(0)?;
    build.clear(to, format.bytes() as u16 * count);
    finish(build, format, shape)
}

/// Predicate of a comparison into masks.
pub(crate) fn predicate(insn: &Instruction) -> Predicate {
    Predicate(relations(insn.immediate8()))
}

/// The relations for which predicate `immediate` of `cmpps` and its kin is true. Predicates 16 … 31 differ from
/// 0 … 15 in what they do with quiet NaNs only.
fn relations(immediate: u8) -> u8 {
    const L: u8 = Predicate::LESS;
    const E: u8 = Predicate::EQUAL;
    const G: u8 = Predicate::GREATER;
    const U: u8 = Predicate::UNORDERED;
    const TRUE_FOR: [u8; 16] = [
        E,
        L,
        L | E,
        U,
        L | G | U,
        E | G | U,
        G | U,
        L | E | G,
        E | U,
        L | U,
        L | E | U,
        0,
        L | G,
        E | G,
        G,
        L | E | G | U,
    ];
    TRUE_FOR[usize::from(immediate & 15)]
}

pub(super) fn compare_flags(build: &mut Build<'_>, format: Format) -> Result<(), Why> {
    let (x, y) = (build.source(0, format, 1)?, build.source(1, format, 1)?);
    build.step(Step::Compare { format, predicate: Predicate::ORDER, x: [x.lane(0), y.lane(0)] });
    Ok(())
}

/// Bitwise operations and integer arithmetic. What shifts by counts has one operand that matters.
pub(super) fn bits(build: &mut Build<'_>, by: Integral, lane: Format) -> Result<(), Why> {
    let (bytes, to, [a, b]) = (build.width(0), build.place(0)?, sources(build));
    if rows::clears(build.insn) {
        build.clear(to, bytes);
        return build.finish_vector(bytes);
    }
    let is_by_immediate = by.shifts() && build.operands() < build.insn.op_count();
    let a = if is_by_immediate { last_source(build) } else { a };
    let b = if b < build.operands() && by.takes_two() { b } else { a };
    let by = by.bitwise();
    let width = lane.bytes() as u16;
    let x = build.source(a, lane, bytes / width)?;
    let y = if a == b { x } else { build.source(b, lane, bytes / width)? };
    let r = build.result(lane, bytes / width)?;
    if build.insn.is_broadcast() {
        for i in 0..bytes / width {
            build.step(Step::Bits { by, x: [x.lane(i), y.lane(i)], r: r.lane(i), bytes: width, lane });
        }
    } else {
        build.step(Step::Bits { by, x: [x.lane(0), y.lane(0)], r: r.lane(0), bytes, lane });
    }
    build.finish_vector(bytes)
}

/// Tells whether a logical shift of vector lanes only moves their bytes.
pub(super) fn is_byte_shift(build: &Build<'_>, by: Integral) -> bool {
    let last = build.insn.op_count() - 1;
    matches!(by, Integral::ShiftLeft | Integral::ShiftRight)
        && build.insn.op_kind(last) == OpKind::Immediate8
        && build.insn.immediate8().is_multiple_of(8)
}
