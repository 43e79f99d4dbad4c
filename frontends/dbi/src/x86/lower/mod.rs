//! Lowering: an instruction, by its row of TABLE 2, as captures and steps over the state.
//!
//! Asks iced which operands there are and what is written. Runs no guest instruction but in the probe; computes no
//! address and touches no shadow: whoever runs the guest captures what [`LoweredInsn`] says, has the record completed,
//! and replays.
//!
//! What is not followed, by design:
//! - the stack pointer never holds a float;
//! - 8- and 16-bit integer operations drop the shadow of the bytes they write, unless they change sign and exponent alone;
//! - so do products, and bits set in memory by an index in a register;
//! - half precision, unless the shadow fits in two bytes: conversions to it are gaps then, those from it start afresh;
//! - comparisons by sign bits (`movmskps`, `vtestps`) or as integers are not observed;
//! - a gap's vector-indexed memory is not named in it.

mod address;
mod bits;
mod build;
mod chosen;
mod complete;
mod digits;
mod float;
mod general;
mod image;
mod kinds;
mod masked;
mod moves;
pub(super) mod rounded;
mod ternary;
mod x87;

#[cfg(test)]
pub(in crate::x86) mod tests;

pub(crate) use address::AddressRecipe;
pub(crate) use bits::{bytes_compared, clears, doubles, is_product};
pub(crate) use float::predicate;
pub(crate) use general::condition;
pub(crate) use image::{ImageRun, StateOp, Transfer};

use super::access::{self, is_read, is_write};
use super::probe::Probe;
use super::rows;
use super::state;
use super::table::{General, Row, Shape, X87};
use super::wholes::{self, Whole};
pub(crate) use build::LoweredInsn;
use build::{Build, Why, register_place, written};
use iced_x86::{Instruction, InstructionInfo, InstructionInfoFactory, OpAccess};
use shadowgrind_core::format::Format;
use shadowgrind_core::step::Place;

/// Turns instructions into steps.
pub(crate) struct Lowerer {
    info: InstructionInfoFactory,
    probe: Probe,
    /// A shadow fits in as many bytes as an f16 has.
    halves: bool,
}

/// Outcome of lowering an instruction.
#[derive(Debug)]
pub(crate) enum Lowering {
    /// Instruction that concerns no shadow.
    Nothing,
    /// Instruction without support: what it writes is to be cleared.
    Gap(Gap),
    /// String instruction with a repeat prefix.
    String(StringOp),
    /// Instruction that saves or restores the state of x87 and vector registers.
    State(StateOp),
    /// Instruction that is made of steps.
    Steps(Box<LoweredInsn>),
}

/// An instruction that is not supported. It *meets* a shadow when one of the places it reads has one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The reason why it is not supported.
    pub(crate) why: &'static str,
    /// Places read, and their bytes.
    pub(crate) reads: Vec<(Place, u16)>,
    /// Places written, and their bytes.
    pub(crate) writes: Vec<(Place, u16)>,
    /// Addresses of the memory operands among them. A vector-indexed operand is missing.
    pub(crate) addresses: Vec<AddressRecipe>,
}

/// Repeated string instruction. Its count is in rcx (ecx with short addresses); addresses go down where the direction
/// flag is set. The pointers and rcx are no floats afterwards. A page fault may interrupt it: the number of elements
/// that are left is then in rcx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringOp {
    /// The operation on each element.
    pub(crate) kind: StringKind,
    /// Bytes of an element.
    pub(crate) element: u8,
    /// Address of the first element read; for `Store` it is not used.
    pub(crate) source: AddressRecipe,
    /// Address of the first element written; for `Load` it is not used.
    pub(crate) destination: AddressRecipe,
    /// The count is ecx.
    pub(crate) short_count: bool,
}

/// Kinds of string instruction that move data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringKind {
    /// `movs`: memory to memory.
    Move,
    /// `stos`: the accumulator to memory.
    Store,
    /// `lods`: memory to the accumulator; the last element stays.
    Load,
}

impl Lowerer {
    /// A lowerer with a probe of its own, for shadows that are kept beside an f16 too or, without `halves`, are not.
    pub(crate) fn new(halves: bool) -> Self {
        Lowerer { info: InstructionInfoFactory::new(), probe: Probe::new(), halves }
    }

    /// Lowers `insn`; `top` is the physical x87 register on top before it, `whole` the float of which it changes a part.
    pub(crate) fn lower(&mut self, insn: &Instruction, top: u8, whole: Option<Whole>) -> Lowering {
        let row = rows::row(insn);
        let info = self.info.info(insn).clone();
        if let Some(lowering) = special(insn, row) {
            return lowering;
        }
        let mut build = Build::new(insn, &info, top);
        let steps = match whole {
            Some(Whole::Part { format, at }) if rows::inserted(insn).is_some() => {
                moves::inserted(&mut build, format, at)
            }
            Some(Whole::Part { format, at }) => general::part(&mut build, format, at),
            Some(Whole::Replaced { format, at }) => general::replaced(&mut build, format, at),
            Some(Whole::Result(format)) if wholes::cuts_by_moving(insn) => general::cut(&mut build, format),
            Some(Whole::Asked) => {
                build.clear_written();
                Ok(())
            }
            Some(Whole::Mixed) => moves::mixed(&mut self.probe, &mut build),
            Some(Whole::End { restored }) => general::end(&mut build, restored),
            _ => self.steps(&mut build, row),
        };
        if let Some(Whole::Result(format)) = whole {
            build.out.lowered.whole = Some(format);
        }
        if whole == Some(Whole::Ending) {
            build.out.lowered.whole = Some(Format::F80);
        }
        build.out.lowered.is_upper = whole == Some(Whole::Upper);
        build.out.lowered.passing = whole == Some(Whole::Passing);
        match steps {
            Err(why) => Lowering::Gap(gap(why, &info)),
            Ok(()) if build.out.lowered.steps.is_empty() => Lowering::Nothing,
            Ok(()) => Lowering::Steps(Box::new(build.out)),
        }
    }

    /// Fills in what is not captured: maps, flags, values in other formats. `record` has all addresses and captures.
    pub(crate) fn complete(&mut self, insn: &LoweredInsn, record: &mut [u8]) {
        for completion in &insn.completions {
            completion.run(&mut self.probe, record);
        }
    }

    fn steps(&mut self, build: &mut Build<'_>, row: Row) -> Result<(), Why> {
        let keeps_floats = match row {
            Row::Flags(by) => bits::bytes_compared(build.insn, by).is_none(),
            Row::Integer | Row::Hint | Row::Mxcsr(_) => true,
            Row::X87(X87::Status) => !build.is_memory(0),
            Row::X87(x87) => x87.keeps_floats(),
            _ => is_plain(build.insn, row),
        };
        if keeps_floats {
            build.clear_written();
            return masked::guarded(build, row);
        }
        build.name_memory();
        self.by_row(build, row)?;
        match row {
            // The mask is a control as others are.
            Row::Move(..) | Row::Gather(_) | Row::Scatter(_) => Ok(()),
            Row::Significand(..) | Row::FixUp(..) => Ok(()),
            // Nobody looks for a float among digits, in whatever lane.
            Row::Digits => Ok(()),
            _ => masked::guarded(build, row),
        }
    }

    fn by_row(&mut self, build: &mut Build<'_>, row: Row) -> Result<(), Why> {
        match row {
            Row::Flags(by) => bits::compare(build, by),
            Row::Integer | Row::Hint | Row::Mxcsr(_) => Ok(()),
            Row::Nothing | Row::State(..) => Ok(()),
            Row::Gap(why) => Err(why),
            Row::Digits => {
                digits::digits(build);
                Ok(())
            }
            Row::Arith(op, format, shape) => float::arith(build, op, format, shape),
            Row::Unary(op, format, shape) => float::unary(build, op, format, shape),
            Row::Fused(op, terms, format, shape) => float::fused(build, |_| op, terms, format, shape),
            Row::FusedAlternating { even, odd, terms, format } => {
                let which = |is_odd: bool| if is_odd { odd } else { even };
                float::fused(build, which, terms, format, Shape::Packed)
            }
            Row::Scale(format, shape) => float::scale(build, format, shape),
            Row::AddSub(format) => float::add_sub(build, format),
            Row::Horizontal(op, format) => float::horizontal(build, op, format),
            Row::DotProduct(format) => float::dot_product(build, format),
            Row::Round(format, shape) => rounded::round(build, format, shape),
            Row::Reduce(format, shape) => rounded::reduce(build, format, shape),
            Row::Range(format, shape) => chosen::range(build, format, shape),
            Row::Significand(format, shape) => chosen::significand(build, format, shape),
            Row::FixUp(format, shape) => chosen::fix_up(build, format, shape),
            Row::Narrow(shape) => float::narrow(build, shape),
            Row::Widen(shape) => float::widen(build, shape),
            Row::ToHalf if self.halves => float::to_half(build),
            Row::FromHalf if self.halves => float::from_half(build),
            Row::ToHalf => Err("half precision"),
            Row::FromHalf => float::from_integer(build, Format::F32, Shape::Packed),
            Row::FromInteger(format, shape) => float::from_integer(build, format, shape),
            Row::ToInteger(format, how, shape) => float::to_integer(build, format, how, shape),
            Row::Compare(format, shape) => float::compare(build, format, shape),
            Row::Classify(format, shape) => chosen::classify(build, format, shape),
            Row::CompareFlags(format) => float::compare_flags(build, format),
            Row::Trick(by, _) if float::is_byte_shift(build, by) => moves::moved(&mut self.probe, build, 0),
            Row::Logic(by, lanes) => float::bits(build, by, lanes.format()),
            Row::Trick(by, lane) => float::bits(build, by, lane),
            Row::Ternary(lane) => ternary::ternary(build, lane),
            Row::Move(_, control) => moves::moved(&mut self.probe, build, control),
            Row::Gather(format) => moves::gather(build, format.bytes() as u16),
            Row::Scatter(format) => moves::scatter(build, format.bytes() as u16),
            Row::ZeroUpper => clear_vectors(build, 16),
            Row::ZeroAll => clear_vectors(build, 0),
            Row::X87(row) => x87::x87(build, row),
            Row::General(row) => general::general(build, row),
        }
    }
}

/// Clears vector registers from byte `from` on.
fn clear_vectors(build: &mut Build<'_>, from: u16) -> Result<(), Why> {
    for number in 0..16 {
        build.clear(Place::State(state::vector(number)).plus(from), state::VECTOR_BYTES - from);
    }
    Ok(())
}

/// Forms of general instructions that move no float: 16-bit frames, control and segment registers.
fn is_plain(insn: &Instruction, row: Row) -> bool {
    let other_register =
        |n: u32| insn.op_kind(n) == iced_x86::OpKind::Register && !insn.op_register(n).is_gpr();
    match row {
        Row::General(General::Enter) => rows::operand_bits(insn.code()) != 64,
        Row::General(_) => (0..insn.op_count()).any(other_register),
        _ => false,
    }
}

/// Lowering of an instruction that the engine executes itself.
fn special(insn: &Instruction, row: Row) -> Option<Lowering> {
    let recipe = |operand| AddressRecipe::of_operand(insn, operand);
    let repeated = access::repeats(insn);
    let kind = match row {
        Row::State(image, direction) => {
            return Some(Lowering::State(StateOp::new(insn, image, direction, recipe(0)?)));
        }
        Row::General(General::MoveString) if repeated => StringKind::Move,
        Row::General(General::StoreString) if repeated => StringKind::Store,
        Row::General(General::LoadString) if repeated => StringKind::Load,
        _ => return None,
    };
    let [first, second] = [recipe(0), recipe(1)];
    Some(Lowering::String(StringOp {
        kind,
        element: insn.memory_size().size() as u8,
        source: second.or(first)?,
        destination: first.or(second)?,
        short_count: first.or(second)?.is_short(),
    }))
}

/// Gap with all that the instruction reads and writes, by iced's knowledge.
fn gap(why: Why, info: &InstructionInfo) -> Gap {
    let mut gap = Gap { why, ..Gap::default() };
    for used in info.used_registers().iter().filter(|used| is_read(used.access())) {
        gap.reads.extend(register_place(used.register()));
    }
    gap.writes.extend(written(info));
    for used in info.used_memory() {
        let bytes = used.memory_size().size() as u16;
        if used.vsib_size() != 0 || bytes == 0 || used.access() == OpAccess::NoMemAccess {
            continue;
        }
        let place = Place::Memory { operand: gap.addresses.len() as u8, offset: 0 };
        gap.addresses.push(AddressRecipe::of_use(used));
        if is_read(used.access()) {
            gap.reads.push((place, bytes));
        }
        if is_write(used.access()) {
            gap.writes.push((place, bytes));
        }
    }
    gap
}
