//! Integer operations on general registers and memory: which of them move whole bytes, and which make floats of floats.

use super::build::{Build, Why, register_place};
use super::complete::Completion;
use super::general::may_hold;
use crate::x86::table::Integral;
use iced_x86::{Instruction, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::step::{Bitwise, Map, NO_SOURCE, Operand, SECOND_SOURCE, Step};

/// The two operands that decide a bitwise or integer operation; one twice if there is no other.
fn bit_sources(build: &Build<'_>, by: Integral) -> [u32; 2] {
    let (a, b) = if build.insn.op_count() > 2 && !by.shifts_two() { (1, 2) } else { (0, 1) };
    [a, if b < build.insn.op_count() && by.takes_two() { b } else { a }]
}

/// An operand of an integer operation: a place, captured, or a constant.
fn bit_operand(build: &mut Build<'_>, operand: u32, bytes: u16) -> Result<Operand, Why> {
    if build.is_immediate(operand) {
        let bits = build.insn.immediate(operand);
        return Ok(build.constant(bits));
    }
    let place = build.place(operand)?;
    Ok(build.before(place, bytes))
}

/// The step of an integer operation on operands `sources`, the result of which is operand 0.
pub(super) fn combine(build: &mut Build<'_>, by: Integral, [a, b]: [u32; 2]) -> Result<(), Why> {
    let (bytes, to) = (build.width(0), build.place(0)?);
    let lane = if bytes == 8 { Format::F64 } else { Format::F32 };
    let is_doubled = doubles(build.insn, by);
    let x = bit_operand(build, a, bytes)?;
    let y = match by {
        Integral::Increment | Integral::Decrement => build.constant(1),
        _ if is_doubled => build.constant(2),
        _ if a == b => x,
        _ => bit_operand(build, b, bytes)?,
    };
    let r = build.after(to, bytes);
    let by = if is_doubled { Bitwise::Product } else { by.bitwise() };
    build.step(Step::Bits { by, x: [x, y], r, bytes, lane });
    Ok(())
}

pub(super) fn bits(build: &mut Build<'_>, by: Integral) -> Result<(), Why> {
    let sources = bit_sources(build, by);
    if !may_hold(build, 0) || by == Integral::RotateRight && !may_hold(build, sources[0]) {
        return Ok(());
    }
    if by == Integral::Bit && build.is_memory(0) && build.is_register(1) {
        return Err("bit string in memory");
    }
    let (bytes, to) = (build.width(0), build.place(0)?);
    if let Some(map) = byte_shift(build, by, bytes).filter(|_| !joins_parts(build, by)) {
        let [from, other] = [build.place(sources[0])?, build.place(sources[1])?];
        build.step(Step::Permute { from: [from, other], to, bytes, map: Map::Fixed(map) });
    } else if clears(build.insn, by) {
        build.clear(to, bytes);
    } else if (by.shifts() || by.rotates()) && build.is_register(build.insn.op_count() - 1) {
        shifted_by_register(build, by, sources)?;
    } else {
        combine(build, by, sources)?;
    }
    build.finish_general(0)
}

/// Bytes of each of the integers that an instruction which leaves nothing but flags compares, with each other or with zero, if they may
/// be digits of floats.
pub(crate) fn bytes_compared(insn: &Instruction, by: Integral) -> Option<u16> {
    let compares = match by {
        Integral::Subtract => !is_same_register(insn),
        Integral::And => is_same_register(insn),
        _ => false,
    };
    let is_register = insn.op0_kind() == OpKind::Register;
    let bytes = if is_register { insn.op0_register().size() } else { insn.memory_size().size() };
    (compares && bytes >= Format::F32.bytes()).then_some(bytes as u16)
}

/// The step of a comparison of integers, if it is one that may be of floats' digits.
pub(super) fn compare(build: &mut Build<'_>, by: Integral) -> Result<(), Why> {
    let Some(bytes) = bytes_compared(build.insn, by) else { return Ok(()) };
    let x = bit_operand(build, 0, bytes)?;
    let y = if is_same_register(build.insn) { build.constant(0) } else { bit_operand(build, 1, bytes)? };
    // The first digits of a register are those of all that is in it.
    let around = if build.is_memory(0) || build.is_memory(1) { bytes } else { 8 };
    build.step(Step::Equal { x: [x, y], bytes, around });
    Ok(())
}

/// A sum of a float's bits and something else, or a product with 2 to 5, 8 or 9, made as an address.
pub(super) fn address(build: &mut Build<'_>) -> Result<(), Why> {
    let (bytes, to) = (build.width(0), build.place(0)?);
    let part = |register: Register| register_place(register.full_register()).map(|(place, _)| place);
    let (base, index) = (part(build.insn.memory_base()), part(build.insn.memory_index()));
    let (by, x, y) = match (base, index) {
        (Some(base), Some(index)) if base == index => {
            let times = u64::from(build.insn.memory_index_scale()) + 1;
            (Bitwise::Product, build.before(index, bytes), build.constant(times))
        }
        (Some(base), Some(index)) => {
            let is_scaled = build.insn.memory_index_scale() > 1;
            let by = if is_scaled { Bitwise::SumOfMultiple } else { Bitwise::Sum };
            (by, build.before(base, bytes), build.before(index, bytes))
        }
        (Some(base), None) => {
            let displacement = build.insn.memory_displacement64();
            (Bitwise::Sum, build.before(base, bytes), build.constant(displacement))
        }
        (None, Some(index)) => {
            let scale = build.insn.memory_index_scale().into();
            (Bitwise::Product, build.before(index, bytes), build.constant(scale))
        }
        (None, None) => return Err("an address of nothing"),
    };
    let r = build.after(to, bytes);
    let lane = if bytes == 8 { Format::F64 } else { Format::F32 };
    build.step(Step::Bits { by, x: [x, y], r, bytes, lane });
    build.finish_general(0)
}

/// Tells whether the operation adds a register to itself: a product with two, as a shift by one place is.
pub(crate) fn doubles(insn: &Instruction, by: Integral) -> bool {
    by == Integral::Add && is_same_register(insn)
}

/// Tells whether the address that the instruction makes is a product, and no sum.
pub(crate) fn is_product(insn: &Instruction) -> bool {
    let base = insn.memory_base();
    base == insn.memory_index() || base == Register::None && insn.memory_index_scale() > 1
}

/// `xor r, r` and its kin. `sbb r, r` leaves the carry flag in all bits.
pub(crate) fn clears(insn: &Instruction, by: Integral) -> bool {
    matches!(by, Integral::Xor | Integral::Subtract | Integral::SubtractBorrow) && is_same_register(insn)
}

/// Tells whether both operands are one register.
fn is_same_register(insn: &Instruction) -> bool {
    insn.op0_kind() == OpKind::Register
        && insn.op1_kind() == OpKind::Register
        && insn.op0_register() == insn.op1_register()
}

/// Tells whether what the operation makes of two registers is narrower than a double: parts of floats then, if both have any.
fn joins_parts(build: &Build<'_>, by: Integral) -> bool {
    by.shifts_two() && build.width(0) < 8 && build.insn.op0_register() != build.insn.op1_register()
}

/// The map of a shift or rotation by whole bytes, if its count is a constant.
fn byte_shift(build: &Build<'_>, by: Integral, bytes: u16) -> Option<Box<[u8]>> {
    let count_at = build.insn.op_count() - 1;
    let is_constant = moves_bits(by) && build.is_immediate(count_at);
    let map = is_constant.then(|| byte_map(by, build.insn.immediate(count_at) as u8, bytes))?;
    map.map(Vec::into_boxed_slice)
}

fn moves_bits(by: Integral) -> bool {
    by.shifts() || by.shifts_two() || by.rotates()
}

/// The map of a shift or rotation of `bytes` bytes by `count` bits, if those are whole bytes.
pub(super) fn byte_map(by: Integral, count: u8, bytes: u16) -> Option<Vec<u8>> {
    use Integral::{RotateLeft, ShiftLeft, ShiftLeftDouble, ShiftRight, ShiftRightDouble, ShiftRightSigned};
    let count = count & if bytes == 8 { 63 } else { 31 };
    if !count.is_multiple_of(8) {
        return None;
    }
    let (count, bytes) = (i16::from(count / 8), bytes as i16);
    // What comes in from the second source of a double shift: the other end of it.
    let second = |i: i16| i.rem_euclid(bytes) + i16::from(SECOND_SOURCE);
    let source = |i: i16| match by {
        ShiftLeftDouble if i < count => second(i - count),
        ShiftRightDouble if i + count >= bytes => second(i + count),
        ShiftLeft | ShiftLeftDouble => i - count,
        // What comes in from above is no part of a float, be it zeros or copies of a sign.
        ShiftRight | ShiftRightSigned | ShiftRightDouble => i + count,
        RotateLeft => (i - count).rem_euclid(bytes),
        _ => (i + count).rem_euclid(bytes),
    };
    let byte = |i| if (0..bytes).contains(&i) || i >= i16::from(SECOND_SOURCE) { i as u8 } else { NO_SOURCE };
    Some((0..bytes).map(|i| byte(source(i))).collect())
}

/// A shift or rotation by what is in a register: whole bytes move, as by a constant.
fn shifted_by_register(build: &mut Build<'_>, by: Integral, sources: [u32; 2]) -> Result<(), Why> {
    let (bytes, to) = (build.width(0), build.place(0)?);
    let [count, from] = [build.insn.op_count() - 1, sources[0]].map(|n| build.place(n));
    let (count, from) = (build.before(count?, 1).value, from?);
    let (at, flags) = (build.out.lowered.reserve(bytes), [build.flag(), build.flag()]);
    build.complete(Completion::Shift { by, count, bytes, at, flags });
    build.step(Step::Unless { flag: flags[0], skip: 1 });
    build.step(Step::Permute { from: [from; 2], to, bytes, map: Map::Recorded(at) });
    build.step(Step::Unless { flag: flags[1], skip: 1 });
    combine(build, by, sources)
}
