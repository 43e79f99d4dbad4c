//! General registers: floats pass through them, and integer instructions take floats apart and put them together.

use super::address::AddressRecipe;
use super::bits::{address, bits, combine};
use super::build::{Build, Why, register_place};
use super::complete::Completion;
use crate::x86::access::is_write;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, Register, UsedRegister};
use shadowgrind_core::format::Format;
use shadowgrind_core::step::{AROUND_END, BEFORE_END, Bitwise, Map, Place, Step};

/// Bytes of the narrowest float that is no half precision.
const LEAST: u16 = Format::F32.bytes() as u16;

pub(super) fn general(build: &mut Build<'_>, row: General) -> Result<(), Why> {
    match row {
        General::Move => transfer(build, build.width(0)),
        General::Extend(_) => extend(build),
        General::ExtendInPlace(bytes) => {
            build.clear(Place::State(state::general(0)).plus(bytes.into()), 8 - u16::from(bytes));
            Ok(())
        }
        General::ConditionalMove => conditional_move(build),
        General::Push => push(build),
        General::Pop => pop(build),
        General::Exchange => exchange(build),
        General::CompareExchange => compare_exchange(build),
        General::CompareExchangeWide => compare_exchange_wide(build),
        General::ExchangeAdd => exchange_add(build),
        General::ByteSwap | General::MoveReversed => reversed(build),
        General::Bits(by) => bits(build, by),
        General::Address => address(build),
        // Undone by a second time: the shadow waits for that.
        General::Not => inverted(build),
        General::MoveString | General::StoreString | General::LoadString => {
            clear_pointers(build);
            transfer(build, build.width(0))
        }
        General::Leave => leave(build),
        General::Enter => enter(build),
    }
}

/// Tells whether operand `operand` may hold a float: memory, or a general register that is not the stack pointer.
pub(super) fn may_hold(build: &Build<'_>, operand: u32) -> bool {
    build.is_memory(operand)
        || build.is_register(operand)
            && build.insn.op_register(operand).is_gpr()
            && build.insn.op_register(operand).full_register() != Register::RSP
}

/// `bytes` of operand 1 move to operand 0.
fn transfer(build: &mut Build<'_>, bytes: u16) -> Result<(), Why> {
    if !may_hold(build, 0) {
        return Ok(());
    }
    let to = build.place(0)?;
    if may_hold(build, 1) {
        let from = build.place(1)?;
        build.copy(from, to, bytes);
    } else {
        build.clear(to, bytes);
    }
    build.finish_general(0)
}

/// Place of the float of which the instruction writes bytes from number `at` on.
fn whole_around(build: &mut Build<'_>, at: u8) -> Result<Place, Why> {
    build.name_memory();
    if let (true, Some(recipe)) = (build.is_memory(0), build.out.addresses.first_mut()) {
        *recipe = recipe.before(at);
        return build.place(0);
    }
    // A register's place is that of its part.
    let place = register_place(build.insn.op0_register().full_register());
    place.map(|(place, _)| place).ok_or("a part of no float")
}

/// A part of a float of `format`, from its byte number `at` on, is overwritten.
pub(super) fn part(build: &mut Build<'_>, format: Format, at: u8) -> Result<(), Why> {
    let (whole, bytes) = (whole_around(build, at)?, build.width(0));
    // What is cleared by `xor` with itself comes from nowhere.
    let clears = rows::row(build.insn) == Row::General(General::Bits(Integral::Xor));
    let moves = !clears && may_hold(build, 1);
    let from = if moves { Some(build.place(1)?) } else { None };
    let (x, r) = (build.before(whole, format.bytes() as u16), build.after(whole, format.bytes() as u16));
    build.step(Step::Part { format, x, r, from, at: at.into(), bytes });
    Ok(())
}

/// So much of a float of `format` is overwritten, from its byte number `at` on and before, that it is another one.
pub(super) fn replaced(build: &mut Build<'_>, format: Format, at: u8) -> Result<(), Why> {
    let whole = whole_around(build, at)?;
    build.clear(whole, format.bytes() as u16);
    Ok(())
}

/// Bytes in memory that may be the end of a float are written; `restored` says that they were read there.
pub(super) fn end(build: &mut Build<'_>, restored: bool) -> Result<(), Why> {
    build.name_memory();
    let before = build.out.addresses.first_mut().ok_or("a part of no float")?;
    *before = before.before(BEFORE_END as u8);
    let (around, bytes) = (build.place(0)?, build.width(0));
    let from = if may_hold(build, 1) { Some(build.place(1)?) } else { None };
    let (x, r) = (build.before(around, AROUND_END), build.after(around, AROUND_END));
    build.step(Step::End { x, r, from, bytes, restored });
    Ok(())
}

/// The low half of a float of `format` goes on alone.
pub(super) fn cut(build: &mut Build<'_>, format: Format) -> Result<(), Why> {
    let bytes = format.bytes() as u16;
    let register = |build: &Build<'_>, n| {
        let place = register_place(build.insn.op_register(n).full_register());
        place.map(|(place, _)| place).ok_or("a move of no float")
    };
    let (to, from) = (register(build, 0)?, register(build, 1)?);
    let x = build.before(from, bytes);
    let half = build.constant(u64::from(u32::MAX) >> (32 - 4 * bytes));
    let r = build.after(to, bytes);
    build.step(Step::Bits { by: Bitwise::And, x: [x, half], r, bytes, lane: format });
    build.clear(to.plus(bytes), 8 - bytes);
    Ok(())
}

/// String instructions move their pointers on.
fn clear_pointers(build: &mut Build<'_>) {
    for pointer in [Register::RSI, Register::RDI] {
        let moves = |used: &UsedRegister| is_write(used.access()) && used.register() == pointer;
        if build.info.used_registers().iter().any(moves) {
            build.clear(Place::State(state::general(pointer.number())), 8);
        }
    }
}

fn extend(build: &mut Build<'_>) -> Result<(), Why> {
    let (from, to) = (build.width(1), build.width(0));
    let place = build.place(0)?;
    transfer(build, from.min(to))?;
    if from < to && may_hold(build, 0) {
        build.clear(place.plus(from), to - from);
    }
    Ok(())
}

/// A complement, or an opposite, which is the difference from zero: doing it again puts the float right. Digits of a part are others then.
fn inverted(build: &mut Build<'_>) -> Result<(), Why> {
    let bytes = build.width(0);
    if may_hold(build, 0) {
        let to = build.place(0)?;
        let (x, r) = (build.before(to, bytes), build.after(to, bytes));
        let is_opposite = build.insn.rflags_modified() != 0;
        let (by, x) = match bytes {
            ..LEAST => (Bitwise::Other, [x; 2]),
            _ if is_opposite => (Bitwise::Difference, [build.constant(0), x]),
            _ => (Bitwise::Xor, [x, build.constant(u64::MAX)]),
        };
        let lane = if bytes == 8 { Format::F64 } else { Format::F32 };
        build.step(Step::Bits { by, x, r, bytes, lane });
    }
    build.finish_general(0)
}

/// Bytes at `from` go to another register, or to or from memory; a part of a float that is among them is lost to both.
fn leaves_float(build: &mut Build<'_>, from: Place, bytes: u16) {
    if moves_part(build, bytes) {
        build.step(Step::Dropped { at: from, bytes });
    }
}

/// Tells whether the instruction moves less than a float between two registers, or one and memory.
fn moves_part(build: &Build<'_>, bytes: u16) -> bool {
    let register = |n| build.is_register(n).then(|| build.insn.op_register(n).full_register());
    bytes < LEAST && register(0) != register(1)
}

fn conditional_move(build: &mut Build<'_>) -> Result<(), Why> {
    let flag = build.condition(condition(build.insn));
    let (from, to, bytes) = (build.place(1)?, build.place(0)?, build.width(0));
    if from != to && may_hold(build, 0) && may_hold(build, 1) {
        let is_part = moves_part(build, bytes);
        build.step(Step::Unless { flag, skip: 1 + u8::from(is_part) });
        leaves_float(build, from, bytes);
        build.copy(from, to, bytes);
    }
    build.finish_general(0)
}

/// The processor's number for the condition of a conditional move.
pub(crate) fn condition(insn: &Instruction) -> u8 {
    // iced counts them as the processor does, after one that stands for none.
    (insn.condition_code() as u8).checked_sub(1).expect("a conditional move")
}

fn push(build: &mut Build<'_>) -> Result<(), Why> {
    let stack = build.info.used_memory().iter().find(|used| is_write(used.access())).copied();
    let stack = stack.ok_or("a push that writes no memory")?;
    let to = build.address(AddressRecipe::of_use(&stack));
    let bytes = stack.memory_size().size() as u16;
    if may_hold(build, 0) {
        let from = build.place(0)?;
        build.copy(from, to, bytes);
    } else {
        build.clear(to, bytes);
    }
    Ok(())
}

fn pop(build: &mut Build<'_>) -> Result<(), Why> {
    let bytes = build.width(0);
    let from = build.address(AddressRecipe::from_register(4, 0));
    if let (true, Some(recipe)) = (build.is_memory(0), build.out.addresses.first_mut()) {
        *recipe = recipe.after_pop(bytes.into());
    }
    if may_hold(build, 0) {
        let to = build.place(0)?;
        build.copy(from, to, bytes);
    }
    Ok(())
}

fn exchange(build: &mut Build<'_>) -> Result<(), Why> {
    let (a, b, bytes) = (build.place(0)?, build.place(1)?, build.width(0));
    let scratch = Place::State(state::SCRATCH);
    match (may_hold(build, 0), may_hold(build, 1)) {
        (true, true) if a != b => {
            [a, b].into_iter().for_each(|from| leaves_float(build, from, bytes));
            build.copy(a, scratch, bytes);
            build.copy(b, a, bytes);
            build.copy(scratch, b, bytes);
        }
        (true, false) => build.clear(a, bytes),
        (false, true) => build.clear(b, bytes),
        _ => {}
    }
    build.finish_general(0)?;
    build.finish_general(1)
}

/// Succeeds exactly if the accumulator stays what it was: a failure loads it with something else.
fn accumulator_kept(build: &mut Build<'_>, parts: &[Place], bytes: u16) -> [u16; 2] {
    let flags = [build.flag(), build.flag()];
    let pairs: Vec<[u16; 2]> = parts
        .iter()
        .map(|&place| [build.before(place, bytes).value, build.after(place, bytes).value])
        .collect();
    build.complete(Completion::Equal { pairs, bytes, flags });
    flags
}

fn compare_exchange(build: &mut Build<'_>) -> Result<(), Why> {
    let bytes = build.width(0);
    let (to, from, accumulator) = (build.place(0)?, build.place(1)?, Place::State(state::general(0)));
    if to == accumulator {
        // Compared with itself: the source replaces it.
        return transfer(build, bytes);
    }
    let [success, failure] = accumulator_kept(build, &[accumulator], bytes);
    build.step(Step::Unless { flag: success, skip: 1 });
    if may_hold(build, 1) && from != to {
        build.copy(from, to, bytes);
    } else if from == to {
        build.step(Step::Copy { from, to, bytes });
    } else {
        build.clear(to, bytes);
    }
    build.step(Step::Unless { flag: failure, skip: 1 + u8::from(bytes == 4) });
    build.step(Step::Copy { from: to, to: accumulator, bytes });
    if bytes == 4 {
        build.clear(accumulator.plus(4), 4);
    }
    build.finish_general(0)
}

fn compare_exchange_wide(build: &mut Build<'_>) -> Result<(), Why> {
    let bytes = build.width(0) / 2;
    let memory = build.place(0)?;
    let register = |number| Place::State(state::general(number));
    let (old, new) = ([register(0), register(2)], [register(3), register(1)]);
    let [success, failure] = accumulator_kept(build, &old, bytes);
    build.step(Step::Unless { flag: success, skip: 2 });
    build.copy(new[0], memory, bytes);
    build.copy(new[1], memory.plus(bytes), bytes);
    build.step(Step::Unless { flag: failure, skip: if bytes == 4 { 4 } else { 2 } });
    build.copy(memory, old[0], bytes);
    build.copy(memory.plus(bytes), old[1], bytes);
    if bytes == 4 {
        build.clear(old[0].plus(4), 4);
        build.clear(old[1].plus(4), 4);
    }
    Ok(())
}

/// The sum goes to the destination, what was there to the source.
fn exchange_add(build: &mut Build<'_>) -> Result<(), Why> {
    let (to, from, bytes) = (build.place(0)?, build.place(1)?, build.width(0));
    let (kept, scratch) = (may_hold(build, 1), Place::State(state::SCRATCH));
    if kept && may_hold(build, 0) {
        leaves_float(build, to, bytes);
        build.copy(to, scratch, bytes);
        combine(build, Integral::Add, [0, 1])?;
        if from != to {
            build.copy(scratch, from, bytes);
        }
    } else if may_hold(build, 0) {
        build.clear(to, bytes);
    } else if kept {
        build.clear(from, bytes);
    }
    build.finish_general(0)?;
    build.finish_general(1)
}

fn reversed(build: &mut Build<'_>) -> Result<(), Why> {
    let from = build.operands() - 1;
    let (bytes, from, to) = (build.width(0), build.place(from)?, build.place(0)?);
    if bytes == 2 && from == to {
        // `bswap` of 16 bits is undefined.
        build.clear(to, bytes);
        return Ok(());
    }
    let map = (0..bytes as u8).rev().collect();
    build.step(Step::Permute { from: [from; 2], to, bytes, map: Map::Fixed(map) });
    build.finish_general(0)
}

fn leave(build: &mut Build<'_>) -> Result<(), Why> {
    let stack = build.info.used_memory().first().ok_or("a pop that reads no memory")?;
    let bytes = stack.memory_size().size() as u16;
    let frame = build.address(AddressRecipe::from_register(5, 0));
    build.copy(frame, Place::State(state::general(5)), bytes);
    Ok(())
}

/// rbp is pushed and then points to itself; copies of outer frames' pointers are no floats.
fn enter(build: &mut Build<'_>) -> Result<(), Why> {
    let levels = i64::from(build.insn.immediate8_2nd() & 31);
    let slot = build.address(AddressRecipe::from_register(4, -8));
    let display = (levels > 0).then(|| build.address(AddressRecipe::from_register(4, -8 - 8 * levels)));
    let (frame, bytes) = register_place(Register::RBP).ok_or("a frame pointer")?;
    build.copy(frame, slot, bytes);
    build.clear(frame, bytes);
    if let Some(display) = display {
        build.clear(display, 8 * levels as u16);
    }
    Ok(())
}
