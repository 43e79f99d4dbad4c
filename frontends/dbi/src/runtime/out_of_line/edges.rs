//! Edges of what a string instruction writes: words of memory of which it writes a part, and where it may cut a float.
//!
//! Floats are taken to be where they usually are, at multiples of eight bytes. What is written in between is whole.

use super::super::parts::{Parts, Store, Verdict};
use super::super::shadowed::Shadowed;
use super::{address_of, goes_down, lowest};
use crate::context::{Context, reg};
use crate::engine::{guest, planes};
use crate::registers::RegisterShadows;
use crate::x86::access;
use crate::x86::lower::AddressRecipe;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::{General, Row};
use iced_x86::Instruction;

/// Bytes of a word.
const WORD: u64 = 8;

/// Memory that a string instruction is about to write: its lowest address, and where what comes there is.
pub(super) struct StringRun {
    to: u64,
    bytes: u64,
    from: From,
    /// The general registers after it.
    general: [u64; 16],
}

/// Source of what it writes.
enum From {
    Memory(u64),
    /// The accumulator, so many bytes of it.
    Register(u64),
}

impl StringRun {
    /// Nothing of other instructions.
    pub(super) fn of(context: &Context, gs: u64, insn: &Instruction) -> Option<StringRun> {
        let is_move = match rows::row(insn) {
            Row::General(General::MoveString) => true,
            Row::General(General::StoreString) => false,
            _ => return None,
        };
        let repeats = access::repeats(insn);
        let to = AddressRecipe::of_operand(insn, 0)?;
        let count = match context.regs[reg::RCX] {
            _ if !repeats => 1,
            count if to.is_short() => u64::from(count as u32),
            count => count,
        };
        let element = insn.memory_size().size() as u64;
        let bytes = count.saturating_mul(element);
        let step = if goes_down(context) { bytes.wrapping_neg() } else { bytes };
        let mut general = context.regs;
        general[reg::RDI] = general[reg::RDI].wrapping_add(step);
        let from = match is_move {
            true => {
                general[reg::RSI] = general[reg::RSI].wrapping_add(step);
                let first = address_of(context, gs, &AddressRecipe::of_operand(insn, 1)?);
                From::Memory(lowest(context, first, bytes, element))
            }
            false => From::Register(element),
        };
        if repeats {
            general[reg::RCX] = 0;
        }
        let to = lowest(context, address_of(context, gs, &to), bytes, element);
        Some(StringRun { to, bytes, from, general })
    }

    /// Effect on floats at its edges: what is written there is moved as it is, which is doubtful where it is a part of one.
    pub(super) fn verdict(
        &self,
        shadowed: &mut Shadowed,
        context: &mut Context,
        insn: &Instruction,
    ) -> Verdict {
        let mut is_doubtful = false;
        for (address, bytes) in self.edges().into_iter().flatten() {
            let [value, moved] = self.put(shadowed, context, address, bytes);
            let moved = moved.to_le_bytes();
            let store =
                Store { insn, address, bytes: bytes as u8, value, moved, general: &self.general, seen: None };
            is_doubtful |= self.cuts(&mut shadowed.parts, store);
        }
        Verdict { whole: None, is_doubtful }
    }

    fn cuts(&self, parts: &mut Parts, store: Store<'_>) -> bool {
        let verdict = parts.in_memory(store);
        verdict.is_doubtful || verdict.whole.is_some()
    }

    /// Parts of words at both ends, or one, if there is no more: first byte and number of bytes.
    fn edges(&self) -> [Option<(u64, u64)>; 2] {
        let end = self.to.saturating_add(self.bytes);
        let (first, last) = (self.to.next_multiple_of(WORD).min(end), end & !(WORD - 1));
        let head = (self.to < first).then(|| (self.to, first - self.to));
        let tail = (last >= first && last < end).then(|| (last, end - last));
        [head, tail]
    }

    /// Bits of the `bytes` bytes that are put at `address`, and what is kept beside them.
    fn put(&self, shadowed: &Shadowed, context: &mut Context, address: u64, bytes: u64) -> [u64; 2] {
        let (mut value, mut kept) = ([0; WORD as usize], [0; WORD as usize]);
        let len = bytes as usize;
        match self.from {
            From::Memory(from) => {
                let from = from.wrapping_add(address - self.to);
                guest::read_some(from, &mut value[..len]);
                planes::read(from, &mut kept[..len]);
            }
            From::Register(element) => {
                let word = context.regs[reg::RAX].to_le_bytes();
                let mut registers = RegisterShadows { context, in_registers: shadowed.in_registers };
                let beside = registers.bytes(state::general(reg::RAX), WORD as usize);
                for n in 0..len {
                    let at = ((address - self.to + n as u64) % element) as usize;
                    (value[n], kept[n]) = (word[at], beside[at]);
                }
            }
        }
        [value, kept].map(u64::from_le_bytes)
    }
}
