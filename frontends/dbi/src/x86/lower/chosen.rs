//! Floats chosen by size or by kind, and significands.
//!
//! What a kind of float becomes is a table of the program's: such a choice is a comparison with the numbers that the kinds are told by.
//! Masks of these are seen to here, as a lane may have to be cleared or left for other reasons.

use super::build::{Build, Lanes, Why};
use super::complete::{Completion, Value};
use super::float::{finish, full_width, lanes, last_source, op, sources};
use super::kinds::{ByKind, FixUp, Significand, flags_of};
use crate::x86::state;
use crate::x86::table::Shape;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::{Operand, Place, Predicate, Step};

/// Place of constants, which have no shadow.
const CONSTANTS: Place = Place::State(state::SCRATCH + state::VECTOR_BYTES);

/// A constant of `format` with these bits.
fn constant(build: &mut Build<'_>, format: Format, bits: u128) -> Operand {
    let constant = build.computed(CONSTANTS, format.bytes() as u16);
    build.value(format, Value::Bits(bits as u64), constant);
    constant
}

/// Chooses the smaller or the larger, or the one of such size, and gives it a sign (Intel SDM, VRANGEPD). Of equal numbers the first
/// source is taken for the smaller.
pub(super) fn range(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    let (control, count, [a, b]) = (build.insn.immediate8(), lanes(build, format, shape), sources(build));
    let (a, b) = (build.source(a, format, count)?, build.source(b, format, count)?);
    let r = build.result(format, count)?;
    let which = [Op::Fmin, Op::Fmax, Op::Fminmag, Op::Fmaxmag][usize::from(control & 3)];
    let is_larger = control & 1 != 0;
    build.clear(CONSTANTS, state::VECTOR_BYTES);
    let plus = constant(build, format, 0);
    let minus = constant(build, format, format.from_f64(-0.0));
    for i in 0..count {
        let (a, b, r) = (a.lane(i), b.lane(i), r.lane(i));
        let [x, y] = if is_larger { [b, a] } else { [a, b] };
        let sign = match control >> 2 & 3 {
            0 => a,
            2 => plus,
            3 => minus,
            _ => {
                op(build, which, format, [x, y, x], r);
                continue;
            }
        };
        let chosen = build.in_scratch(format, i);
        build.value(format, Value::Chosen { by: which, x: [x.value, y.value] }, chosen);
        op(build, which, format, [x, y, x], chosen);
        op(build, Op::CopySign, format, [chosen, sign, chosen], r);
    }
    finish(build, format, shape)
}

/// The lanes of an instruction that tells floats by their kinds.
fn by_kind(build: &mut Build<'_>, format: Format, count: u16, x: Lanes, r: Lanes) -> ByKind {
    let lanes = [x, r].map(|lanes| [lanes.lane(0).value, lanes.lane(1).value - lanes.lane(0).value]);
    ByKind { format, count, x: lanes[0], r: lanes[1], mask: build.mask(), zeroes: !build.merges() }
}

/// The source times a power of two, and perhaps without its sign. What stands for a zero, an infinity or a NaN is a constant, and a
/// shadow that such a number has is lost.
pub(super) fn significand(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    /// Bit of the immediate: the result has no sign.
    const UNSIGNED: u8 = 1 << 2;
    let (count, source) = (lanes(build, format, shape), last_source(build));
    let (a, r) = (build.source(source, format, count)?, build.result(format, count)?);
    let (is_unsigned, width) = (build.insn.immediate8() & UNSIGNED != 0, format.bytes() as u16);
    let lanes = by_kind(build, format, count, a, r);
    let flags = build.out.lowered.reserve(Significand::FLAGS * count);
    build.complete(Completion::Significand(Significand { lanes, flags }));
    build.clear(CONSTANTS, state::VECTOR_BYTES);
    for i in 0..count {
        let [scaled, lost, cleared] = flags_of(flags, i);
        let (a, r) = (a.lane(i), r.lane(i));
        let power = build.computed(CONSTANTS, width);
        build.value(format, Value::Quotient { x: [r.value, a.value] }, power);
        build.step(Step::Unless { flag: scaled, skip: if is_unsigned { 2 } else { 1 } });
        let x = if is_unsigned {
            let size = build.in_scratch(format, i);
            build.value(format, Value::Size { x: a.value }, size);
            op(build, Op::Abs, format, [a; 3], size);
            size
        } else {
            a
        };
        op(build, Op::Ldexp, format, [x, power, x], r);
        build.step(Step::Unless { flag: lost, skip: 1 });
        build.step(Step::Dropped { at: a.place, bytes: width });
        build.step(Step::Unless { flag: cleared, skip: 1 });
        build.clear(r.place, width);
    }
    finish(build, format, shape)
}

/// The first source, the destination or a constant, by what a table in the second source says of the first one's kind.
pub(super) fn fix_up(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    let (count, width) = (lanes(build, format, shape), format.bytes() as u16);
    let (a, table) = (build.source(1, format, count)?, build.source(2, format, count)?);
    let r = build.result(format, count)?;
    let tables = [table.lane(0).value, table.lane(1).value - table.lane(0).value];
    let lanes = by_kind(build, format, count, a, r);
    let flags = build.out.lowered.reserve(FixUp::FLAGS * count);
    build.complete(Completion::FixUp(FixUp { lanes, tables, flags }));
    build.clear(CONSTANTS, width);
    let zero = constant(build, format, 0);
    let one = constant(build, format, format.from_f64(1.0));
    for i in 0..count {
        let [ordered, compared, moved, cleared] = flags_of(flags, i);
        let (a, r) = (a.lane(i), r.lane(i));
        build.step(Step::Unless { flag: ordered, skip: 1 });
        build.step(Step::Compare { format, predicate: Predicate::ORDER, x: [a, zero] });
        build.step(Step::Unless { flag: compared, skip: 1 });
        build.step(Step::Compare { format, predicate: Predicate(Predicate::EQUAL), x: [a, one] });
        build.step(Step::Unless { flag: moved, skip: 1 });
        build.step(Step::Copy { from: a.place, to: r.place, bytes: width });
        build.step(Step::Unless { flag: cleared, skip: 1 });
        build.clear(r.place, width);
    }
    finish(build, format, shape)
}

/// Asks of each lane whether it is of some kind: a comparison with zero, unless only infinities and NaN are asked for.
pub(super) fn classify(build: &mut Build<'_>, format: Format, shape: Shape) -> Result<(), Why> {
    /// Kinds of finite numbers: zeros of either sign, subnormal ones, negative ones.
    const FINITE: u8 = 0x02 | 0x04 | 0x20 | 0x40;
    if build.insn.immediate8() & FINITE == 0 {
        return Ok(());
    }
    let width = format.bytes() as u16;
    let count = if shape == Shape::Scalar { 1 } else { full_width(build, 1) / width };
    let a = build.source(1, format, count)?;
    build.clear(CONSTANTS, width);
    let zero = constant(build, format, 0);
    for i in 0..count {
        build.step(Step::Compare { format, predicate: Predicate::ORDER, x: [a.lane(i), zero] });
    }
    Ok(())
}
