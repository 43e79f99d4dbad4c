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

/// Instruction that is about to run on these registers.
pub(super) struct Ahead<'a> {
    pub(super) shadowed: &'a mut Shadowed,
    pub(super) context: &'a mut Context,
    pub(super) gs: u64,
    pub(super) insn: &'a Instruction,
}

impl Ahead<'_> {
    /// The part of a float that the instruction is about to write; `seen` is what its block tells.
    pub(super) fn part(mut self, seen: Option<Whole>) -> Verdict {
        let insn = self.insn;
        if !self.shadowed.parts.derives {
            return seen.into();
        }
        if let (Some(bytes), Some(to)) = (wholes::part_in_memory(insn), AddressRecipe::of_operand(insn, 0)) {
            let address = address_of(self.context, self.gs, &to);
            let moved = self.beside(1, bytes);
            let general = &self.context.regs;
            let value = operand(insn, 1, general) & (u64::MAX >> (64 - 8 * u32::from(bytes)));
            let store = Store { insn, address, bytes, value, moved, general, seen };
            return self.shadowed.parts.in_memory(store);
        }
        if let Some(string) = StringRun::of(self.context, self.gs, insn) {
            return string.verdict(self.shadowed, self.context, insn);
        }
        if wholes::joins(insn) || wholes::raises_half(insn) {
            return self.joined(seen);
        }
        if seen.is_some() {
            return seen.into();
        }
        if wholes::changes_word(insn) {
            return self.shadowed.parts.word(insn, &self.context.regs);
        }
        if mixed::may_mix(insn) {
            return self.shadowed.parts.mixed(insn, &self.context.regs);
        }
        if wholes::sums_narrow_lanes(insn) {
            let is_wide = self.looks_wide();
            return self.shadowed.parts.summed(insn, &self.context.regs, is_wide);
        }
        let Some(part) = wholes::part_of_register(insn) else { return seen.into() };
        self.part_of_register(part)
    }

    /// The part of a float in a register: so many bytes, from this number on.
    fn part_of_register(&mut self, (at, bytes): (u8, u8)) -> Verdict {
        let insn = self.insn;
        // The last is where.
        let source = insn.op_count() - if rows::inserted(insn).is_some() { 2 } else { 1 };
        let is_cleared = source == 1 && insn.op0_register() == insn.op_register(source);
        let is_moved = !is_cleared && self.beside(source, bytes) != [0; 8];
        let general = &self.context.regs;
        if is_moved && mixed::may_insert(insn) {
            return self.shadowed.parts.mixed(insn, general);
        }
        let full = insn.op0_register().full_register();
        let (register, put) = match is_moved {
            true => (full, Put::Part),
            false => (if full.is_gpr() { full } else { insn.op0_register() }, Put::Constant),
        };
        self.shadowed.parts.in_register(insn, register, [at, bytes], put, general)
    }

    /// The float in a register to which the instruction is about to put something, or out of which it cuts something.
    fn joined(&mut self, seen: Option<Whole>) -> Verdict {
        let insn = self.insn;
        let mut cell = |n| u64::from_le_bytes(self.beside(n, 8));
        let first = cell(0);
        let (n, kept) = if first == 0 { (1, cell(1)) } else { (0, first) };
        let general = &self.context.regs;
        let parts = &mut self.shadowed.parts;
        if wholes::raises_half(insn) {
            let is_upper = seen.is_none() && kept as u32 != 0 && kept >> 32 == 0;
            return if is_upper { parts.shifted(insn, general) } else { seen.into() };
        }
        let [float, other] = [n, 1 - n].map(|n| operand(insn, n, general));
        let selects = parts.layout.looks_wide(kept, float) && wholes::joins_bytes(insn, other);
        let verdict = match seen {
            Some(_) => seen.into(),
            None => parts.joined(insn, general, selects),
        };
        // Of the digits that these take the place of nothing was kept, perhaps because they were not loaded.
        let lacks = wholes::fills_lower_half(insn) && float as u32 == 0 && kept as u32 == 0 && kept != 0;
        let is_double = verdict.whole == Some(Whole::Result(Format::F64));
        Verdict { is_doubtful: verdict.is_doubtful || lacks && is_double, ..verdict }
    }

    /// Tells whether operands of the instruction, which are vectors, look like doubles, by what is beside them.
    fn looks_wide(&mut self) -> bool {
        let insn = self.insn;
        let lanes = || (0..insn.op0_register().size() as u16).step_by(Format::F64.bytes());
        (0..insn.op_count()).flat_map(|n| lanes().map(move |at| (n, at))).any(|(n, at)| {
            let mut cell = [0; 8];
            self.read_beside((n, at), &mut cell);
            self.shadowed.parts.layout.looks_wide(u64::from_le_bytes(cell), 0)
        })
    }

    /// Shadow beside the first `bytes` bytes of operand `n`.
    fn beside(&mut self, n: u32, bytes: u8) -> [u8; 8] {
        let mut kept = [0; 8];
        self.read_beside((n, 0), &mut kept[..usize::from(bytes)]);
        kept
    }

    /// Reads the shadow beside operand `n`, from its byte number `at` on, into `into`, which it leaves alone where there is none.
    fn read_beside(&mut self, (n, at): (u32, u16), into: &mut [u8]) {
        let insn = self.insn;
        match (AddressRecipe::of_operand(insn, n), insn.op_kind(n)) {
            (Some(from), _) => {
                planes::read(address_of(self.context, self.gs, &from) + u64::from(at), into);
            }
            (None, OpKind::Register) => {
                if let Some(from) = state::offset(insn.op_register(n)) {
                    let (context, in_registers) = (&mut *self.context, self.shadowed.in_registers);
                    let mut registers = RegisterShadows { context, in_registers };
                    into.copy_from_slice(registers.bytes(from + at, into.len()));
                }
            }
            // A constant.
            _ => {}
        }
    }
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
