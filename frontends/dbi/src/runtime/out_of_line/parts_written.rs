//! Parts of floats that an instruction out of line is about to write: what it writes, and what is kept beside that, as `parts` asks it.
//!
//! Runs nothing and changes no shadow.

use super::super::entries::{Entry, runs_again};
use super::super::parts::{Put, Store, Verdict};
use super::super::shadowed::Shadowed;
use super::address_of;
use super::edges::StringRun;
use crate::context::Context;
use crate::engine::planes;
use crate::registers::RegisterShadows;
use crate::x86::lower::AddressRecipe;
use crate::x86::wholes::{self, Whole, mixed};
use crate::x86::{rows, state};
use iced_x86::{Instruction, OpKind};
use shadowgrind_core::format::Format;

/// The part of a float that the instruction is about to write; `seen` is what its block tells.
pub(super) fn part(
    shadowed: &mut Shadowed,
    context: &mut Context,
    gs: u64,
    insn: &Instruction,
    seen: Option<Whole>,
) -> Verdict {
    if !shadowed.parts.derives {
        return seen.into();
    }
    if let (Some(bytes), Some(to)) = (wholes::part_in_memory(insn), AddressRecipe::of_operand(insn, 0)) {
        let address = address_of(context, gs, &to);
        let moved = beside(shadowed, context, gs, insn, 1, bytes);
        let value = operand(insn, 1, &context.regs) & (u64::MAX >> (64 - 8 * u32::from(bytes)));
        let store = Store { insn, address, bytes, value, moved, general: &context.regs, seen };
        return shadowed.parts.in_memory(store);
    }
    if let Some(string) = StringRun::of(context, gs, insn) {
        return string.verdict(shadowed, context, insn);
    }
    if wholes::joins(insn) || wholes::raises_half(insn) {
        return joined(shadowed, context, gs, insn, seen);
    }
    if seen.is_some() {
        return seen.into();
    }
    if mixed::may_mix(insn) {
        return shadowed.parts.mixed(insn, &context.regs);
    }
    if wholes::sums_narrow_lanes(insn) {
        let is_wide = looks_wide(shadowed, context, gs, insn);
        return shadowed.parts.summed(insn, &context.regs, is_wide);
    }
    let Some((at, bytes)) = wholes::part_of_register(insn) else { return seen.into() };
    // The last is where.
    let source = insn.op_count() - if rows::inserted(insn).is_some() { 2 } else { 1 };
    let is_cleared = source == 1 && insn.op0_register() == insn.op_register(source);
    if !is_cleared && beside(shadowed, context, gs, insn, source, bytes) != [0; 8] {
        return match mixed::may_insert(insn) {
            true => shadowed.parts.mixed(insn, &context.regs),
            false => shadowed.parts.in_register(
                insn,
                insn.op0_register().full_register(),
                [at, bytes],
                Put::Part,
                &context.regs,
            ),
        };
    }
    let register = insn.op0_register().full_register();
    let register = if register.is_gpr() { register } else { insn.op0_register() };
    shadowed.parts.in_register(insn, register, [at, bytes], Put::Constant, &context.regs)
}

/// The float in a register to which the instruction is about to put something, or out of which it cuts something.
fn joined(
    shadowed: &mut Shadowed,
    context: &mut Context,
    gs: u64,
    insn: &Instruction,
    seen: Option<Whole>,
) -> Verdict {
    let mut cell = |n| u64::from_le_bytes(beside(shadowed, context, gs, insn, n, 8));
    let first = cell(0);
    let (n, kept) = if first == 0 { (1, cell(1)) } else { (0, first) };
    if wholes::raises_half(insn) {
        let is_upper = seen.is_none() && kept as u32 != 0 && kept >> 32 == 0;
        return if is_upper { shadowed.parts.shifted(insn, &context.regs) } else { seen.into() };
    }
    let general = &context.regs;
    let [float, other] = [n, 1 - n].map(|n| operand(insn, n, general));
    let selects = shadowed.parts.layout.looks_wide(kept, float) && wholes::joins_bytes(insn, other);
    let verdict = match seen {
        Some(_) => seen.into(),
        None => shadowed.parts.joined(insn, general, selects),
    };
    // Of the digits that these take the place of nothing was kept, perhaps because they were not loaded.
    let lacks = wholes::fills_lower_half(insn) && float as u32 == 0 && kept as u32 == 0 && kept != 0;
    let is_double = verdict.whole == Some(Whole::Result(Format::F64));
    Verdict { is_doubtful: verdict.is_doubtful || lacks && is_double, ..verdict }
}

/// The value of operand `n`, if it is a general register or a constant, and otherwise 0.
fn operand(insn: &Instruction, n: u32, general: &[u64; 16]) -> u64 {
    let source = insn.op_register(n);
    match insn.op_kind(n) {
        OpKind::Register if source.is_gpr() => {
            let number = source.full_register().number();
            let first = state::offset(source).map_or(0, |at| at - state::general(number));
            general[number] >> (8 * first) & u64::MAX >> (64 - 8 * source.size())
        }
        OpKind::Register | OpKind::Memory => 0,
        _ => insn.immediate(n),
    }
}

/// Tells whether operands of the instruction, which are vectors, look like doubles, by what is beside them.
fn looks_wide(shadowed: &Shadowed, context: &mut Context, gs: u64, insn: &Instruction) -> bool {
    let lanes = || (0..insn.op0_register().size() as u16).step_by(Format::F64.bytes());
    (0..insn.op_count()).flat_map(|n| lanes().map(move |at| (n, at))).any(|(n, at)| {
        let mut cell = [0; 8];
        read_beside(shadowed, context, gs, insn, (n, at), &mut cell);
        shadowed.parts.layout.looks_wide(u64::from_le_bytes(cell), 0)
    })
}

/// Shadow beside the first `bytes` bytes of operand `n`.
fn beside(
    shadowed: &Shadowed,
    context: &mut Context,
    gs: u64,
    insn: &Instruction,
    n: u32,
    bytes: u8,
) -> [u8; 8] {
    let mut kept = [0; 8];
    read_beside(shadowed, context, gs, insn, (n, 0), &mut kept[..usize::from(bytes)]);
    kept
}

/// Reads the shadow beside operand `n`, from its byte number `at` on, into `into`, which it leaves alone where there is none.
fn read_beside(
    shadowed: &Shadowed,
    context: &mut Context,
    gs: u64,
    insn: &Instruction,
    (n, at): (u32, u16),
    into: &mut [u8],
) {
    match (AddressRecipe::of_operand(insn, n), insn.op_kind(n)) {
        (Some(from), _) => planes::read(address_of(context, gs, &from) + u64::from(at), into),
        (None, OpKind::Register) => {
            if let Some(from) = state::offset(insn.op_register(n)) {
                let mut registers = RegisterShadows { context, in_registers: shadowed.in_registers };
                into.copy_from_slice(registers.bytes(from + at, into.len()));
            }
        }
        // A constant.
        _ => {}
    }
}

/// Tells whether the instruction has often enough written no part of a float.
pub(super) fn is_alone(entry: &Entry, verdict: Verdict) -> bool {
    /// Each time costs some ten microseconds.
    const OFTEN: u32 = 64;
    if !matches!(verdict.whole, None | Some(Whole::Assembled)) || verdict.is_doubtful {
        entry.runs.set(0);
        return false;
    }
    runs_again(entry) == OFTEN
}
