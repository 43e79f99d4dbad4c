//! Bytes that hold the part: as an instruction reads them, as it moves them within a register, and what use it makes of them.
//!
//! Knows one instruction; the way to it is for [`super::way`].

use super::way::{Held, Way, Where};
use super::{AROUND, Use, WORD, Walk};
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use crate::x86::wholes::uses::{format_of, takes_integer};
use iced_x86::{Instruction, OpKind};
use shadowgrind_core::format::Format;

impl Walk<'_> {
    /// Tells whether the instruction inserts something over the part.
    pub(super) fn is_inserted_over(&self, held: &Held, insn: &Instruction) -> bool {
        rows::inserted(insn).is_some_and(|(at, bytes)| {
            let (at, end) = (u64::from(at), u64::from(at + bytes));
            at < held.offset + self.bytes && held.offset < end
        })
    }

    /// Bytes that hold the part once an instruction of wide registers has moved halves, or put another one to what it reads.
    pub(super) fn made_wide(&self, held: Held, insn: &Instruction, row: Row) -> Held {
        const WIDE: u64 = 8;
        const HALF: u64 = WIDE / 2;
        let Row::General(General::Bits(by)) = row else { return held };
        if insn.op0_kind() != OpKind::Register || !insn.op0_register().is_gpr64() {
            return held;
        }
        let is_by_half = insn.op1_kind() == OpKind::Immediate8 && u64::from(insn.immediate8()) == 8 * HALF;
        let fits = held.offset + self.bytes <= HALF;
        match by {
            Integral::ShiftLeft if is_by_half && fits => {
                Held { offset: held.offset + HALF, bytes: WIDE, ..held }
            }
            Integral::ShiftRight if is_by_half && held.offset >= HALF => {
                Held { offset: held.offset - HALF, bytes: HALF, ..held }
            }
            Integral::Or | Integral::Add => Held { bytes: WIDE, ..held },
            _ => held,
        }
    }

    /// Tells whether eight bytes at `start` are where the part would be at the place in a double that it has where it is written.
    fn is_double_of_part(&self, start: u64, size: u64, part: u64) -> bool {
        const DOUBLE: u64 = 8;
        let at = |address: u64| address % DOUBLE;
        size == DOUBLE
            && start.is_multiple_of(DOUBLE)
            && self.address.is_some_and(|address| at(address) == at(part))
    }

    /// Bytes that hold the part, as operand `n` reads them.
    pub(super) fn held_by(&self, way: &Way, insn: &Instruction, n: u32) -> Option<Held> {
        match insn.op_kind(n) {
            OpKind::Register => {
                let (register, size) = (insn.op_register(n), insn.op_register(n).size() as u64);
                let place = Where::Register(register.full_register());
                let held = way.held.iter().copied().find(|held| held.place == place)?;
                let bytes = held.bytes.min(size);
                (held.offset + self.bytes <= bytes).then_some(Held { bytes, ..held })
            }
            OpKind::Memory => {
                let (start, size) = (way.values.address(insn)?, insn.memory_size().size() as u64);
                way.held.iter().find_map(|held| {
                    let Where::Memory(at) = held.place else { return None };
                    let part = at.wrapping_add(held.offset);
                    let inside = is_within(part, self.bytes, start, size);
                    let is_origin = held.is_origin;
                    let known = is_origin
                        || is_within(start, size, at, held.bytes)
                        || self.is_double_of_part(start, size, part);
                    let written = if is_origin { way.written } else { held.written };
                    (inside && known).then_some(Held {
                        offset: part.wrapping_sub(start),
                        bytes: size,
                        is_origin: false,
                        written,
                        ..*held
                    })
                })
            }
            _ => None,
        }
    }

    /// Tells whether the instruction reads what was written, and nothing else, as an integer of as many bytes.
    pub(super) fn is_read_alone(&self, way: &Way, insn: &Instruction, row: Row) -> bool {
        let is_there = |held: &Held| held.is_origin && Some(held.place) == self.address.map(Where::Memory);
        let reads = match row {
            Row::General(General::Move) => insn.op0_register().is_gpr32(),
            Row::General(General::Bits(_)) => true,
            _ => false,
        };
        reads
            && insn.memory_size().size() as u64 == WORD
            && way.held.iter().any(is_there)
            && way.values.address(insn) == self.address
    }

    /// Tells whether the instruction reads what has become of the bytes around the part, or those: what it makes of that is no new
    /// float.
    pub(super) fn is_of_own(&self, way: &Way, insn: &Instruction) -> bool {
        const ALIGNMENT: u64 = 8;
        let Some(part) = self.address else { return false };
        let holds = |place: Where| way.own.contains(&place);
        let registers = [insn.memory_base(), insn.memory_index()];
        if rows::computes_address(insn) {
            return registers.into_iter().any(|register| holds(Where::Register(register.full_register())));
        }
        (0..insn.op_count()).any(|n| match insn.op_kind(n) {
            OpKind::Register => {
                insn.op_register(n).is_gpr() && holds(Where::Register(insn.op_register(n).full_register()))
            }
            OpKind::Memory => way.values.address(insn).is_some_and(|at| {
                let is_around = at & !(ALIGNMENT - 1) == part & !(ALIGNMENT - 1) && at != part;
                holds(Where::Memory(at)) || n > 0 && is_around
            }),
            _ => false,
        })
    }

    /// Kind of use that an instruction makes of what it reads.
    pub(super) fn used(&self, held: Held, insn: &Instruction, row: Row) -> Option<Use> {
        if takes_integer(row) {
            return (held.bytes == self.bytes).then_some(Use::Alone);
        }
        self.part_of(held, format_of(insn, row)?)
    }

    /// Use of what holds the part as floats of `format`.
    pub(super) fn part_of(&self, held: Held, format: Format) -> Option<Use> {
        let size = format.bytes() as u64;
        let at = held.offset % size;
        if size <= self.bytes {
            return Some(Use::Alone);
        }
        let start = held.offset - at;
        // Behind a long double there is nothing.
        let goes_beyond = at + self.bytes > size && format != Format::F80;
        if goes_beyond || start + size > held.bytes {
            return None;
        }
        let all = ((1_u64 << size) - 1) << (AROUND - at);
        let (first, at) = (AROUND - at, at as u8);
        let written = ((held.written & all) >> first) as u16;
        let is_new = held.written & all == all;
        Some(if is_new { Use::New { format, at } } else { Use::Part { format, at, written } })
    }
}

/// Tells whether all of `bytes` bytes at `at` are among the `size` at `start`.
fn is_within(at: u64, bytes: u64, start: u64, size: u64) -> bool {
    bytes <= size && at.wrapping_sub(start) <= size - bytes
}
