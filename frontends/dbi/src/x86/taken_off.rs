//! Sums of which a term is taken off again: how code rounds to fractions, if that is a number with the right last place.
//!
//! Follows values through moves, by what registers and places in memory hold them, over the instructions before the sum in
//! its block and those after it, along the way on which no branch is taken, and past calls. Takes memory with different bases for different memory. Which numbers round is for others
//! to say; so is what else a sum may be, as compensated sums take terms off as well.

use super::code_source::CodeSource;
use super::rows;
use super::sums::Decoded;
use super::table::{General, Moved, Row};
use iced_x86::{FlowControl, Instruction, OpKind, Register};
use shadowgrind_core::ops::Op;

/// Instructions after the sum that are looked at.
const MOST: usize = 32;

/// Tells whether a later difference takes a term off that `sum` has added, before which its block's instructions have left these
/// `values`.
pub(super) fn is_taken_off(sum: &Instruction, mut values: Values, decoded: &mut Decoded<'_>) -> bool {
    // A register that is the sum's result and a term was given its value before.
    let terms: Vec<u32> = terms(sum).filter_map(|operand| values.of(sum, operand)).collect();
    values.step(sum);
    let Some(result) = values.of(sum, 0) else { return false };
    let mut next = sum.next_ip();
    for _ in 0..MOST {
        let insn = decoded.at(next);
        if insn.is_invalid() || values.takes_off(&insn, result, &terms, decoded.source) {
            return !insn.is_invalid();
        }
        next = match insn.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => insn.next_ip(),
            FlowControl::UnconditionalBranch => insn.near_branch_target(),
            FlowControl::Call => {
                values.lose_vectors();
                insn.next_ip()
            }
            _ => return false,
        };
        values.step(&insn);
        if !values.holds(result) {
            return false;
        }
    }
    false
}

/// Operand numbers of what a sum adds to something else.
fn terms(sum: &Instruction) -> std::ops::Range<u32> {
    match rows::row(sum) {
        Row::Fused(_, terms, ..) => u32::from(terms[2])..u32::from(terms[2]) + 1,
        _ => sum.op_count() - 2..sum.op_count(),
    }
}

/// A register, or a place in memory.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Register(Register),
    /// Base and displacement.
    Memory(Register, u64),
}

impl Place {
    fn of(insn: &Instruction, operand: u32) -> Option<Place> {
        match insn.op_kind(operand) {
            OpKind::Register => Some(Place::Register(insn.op_register(operand).full_register())),
            OpKind::Memory if insn.memory_index() == Register::None => {
                Some(Place::Memory(insn.memory_base(), insn.memory_displacement64()))
            }
            _ => None,
        }
    }
}

/// Values by number, and where they are.
#[derive(Clone, Default)]
pub(super) struct Values {
    places: Vec<(Place, u32)>,
    next: u32,
}

impl Values {
    /// The value of an operand, which has a number from now on.
    fn of(&mut self, insn: &Instruction, operand: u32) -> Option<u32> {
        let place = Place::of(insn, operand)?;
        if let Some(&(_, value)) = self.places.iter().find(|(at, _)| *at == place) {
            return Some(value);
        }
        self.next += 1;
        self.places.push((place, self.next));
        Some(self.next)
    }

    fn holds(&self, value: u32) -> bool {
        self.places.iter().any(|&(_, held)| held == value)
    }

    /// A function was called: vector registers are its own.
    fn lose_vectors(&mut self) {
        self.places.retain(
            |(place, _)| !matches!(place, Place::Register(register) if register.is_vector_register()),
        );
    }

    /// The instruction has run.
    pub(super) fn step(&mut self, insn: &Instruction) {
        let row = rows::row(insn);
        if insn.op_count() == 0 || matches!(row, Row::Nothing | Row::CompareFlags(_)) {
            return;
        }
        let moves = matches!(row, Row::Move { .. } | Row::General(General::Move)) && insn.op_count() == 2;
        // Lanes that come from elsewhere, as the number itself where a sum is too near to it, leave the purpose of the others as it is.
        let chooses = matches!(row, Row::Move(Moved::Chosen, _));
        let moved = if moves || chooses { self.of(insn, 1) } else { None };
        let Some(to) = Place::of(insn, 0) else { return };
        let based = |place: Place| matches!(place, Place::Memory(base, _) if Place::Register(base.full_register()) == to);
        self.places.retain(|&(place, _)| place != to && !based(place));
        self.next += 1;
        self.places.push((to, moved.unwrap_or(self.next)));
    }

    /// Tells whether the instruction takes one of `terms` off `sum`, or adds a constant that is one of them with the other sign.
    fn takes_off(
        &mut self,
        insn: &Instruction,
        sum: u32,
        terms: &[u32],
        source: &mut dyn CodeSource,
    ) -> bool {
        let Row::Arith(op @ (Op::Add | Op::Sub), format, _) = rows::row(insn) else { return false };
        let last = insn.op_count() - 1;
        if self.of(insn, last - 1) != Some(sum) {
            return false;
        }
        let Some(other) = self.of(insn, last) else { return false };
        if op == Op::Sub {
            return terms.contains(&other);
        }
        let mut constant = |value| source.data(self.constant(value)?, format.bytes());
        let negated = constant(other).map(|bits| bits ^ 1 << (format.width() - 1));
        negated.is_some() && terms.iter().any(|&term| constant(term) == negated)
    }

    /// The address of data beside code that has this value.
    fn constant(&self, value: u32) -> Option<u64> {
        self.places.iter().find_map(|&(place, held)| match place {
            Place::Memory(Register::RIP, address) if held == value => Some(address),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::code_source::Bytes;
    use crate::x86::insn::{Flow, Insn};
    use iced_x86::{Decoder, DecoderOptions};

    /// movapd xmm2, xmm1; addsd xmm2, xmm0; movq rax, xmm2; subsd xmm2, xmm1
    const KEEP: &[u8] = b"\x66\x0f\x28\xd1";
    const ADD: &[u8] = b"\xf2\x0f\x58\xd0";
    const DIGITS: &[u8] = b"\x66\x48\x0f\x7e\xd0";
    const SUB: &[u8] = b"\xf2\x0f\x5c\xd1";
    const RET: &[u8] = b"\xc3";

    fn found(n: usize, code: &[&[u8]]) -> bool {
        let bytes = code.concat();
        let insn = |decoded| Insn { decoded, bytes: [0; 15], displacement_at: 0, flow: Flow::Straight };
        let insns: Vec<Insn> =
            Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE).into_iter().map(insn).collect();
        let mut values = Values::default();
        insns[..n].iter().for_each(|insn| values.step(&insn.decoded));
        let mut source = Bytes { start: 0, code: bytes };
        is_taken_off(&insns[n].decoded, values, &mut Decoded::new(&insns, &mut source))
    }

    #[test]
    fn a_term_that_is_taken_off_again() {
        assert!(found(1, &[KEEP, ADD, DIGITS, SUB, RET]));
        // vaddsd xmm2, xmm0, [rip+0x20]; vsubsd xmm3, xmm2, [rip+0x18]
        let shared: &[&[u8]] = &[b"\xc5\xfb\x58\x15\x20\0\0\0", b"\xc5\xeb\x5c\x1d\x18\0\0\0", RET];
        assert!(found(0, shared));
        // vfmadd231sd xmm2, xmm0, xmm3, of which xmm2 was xmm1
        assert!(found(1, &[KEEP, b"\xc4\xe2\xf9\xb9\xd3", SUB, RET]));
        // movsd [rbp-8], xmm2; movsd xmm3, [rbp-8]; subsd xmm3, xmm1
        let stored: &[&[u8]] =
            &[KEEP, ADD, b"\xf2\x0f\x11\x55\xf8", b"\xf2\x0f\x10\x5d\xf8", b"\xf2\x0f\x5c\xd9", RET];
        assert!(found(1, stored));
        // vblendmpd zmm3{k1}, zmm2, zmm1; subsd xmm3, xmm1
        let chosen: &[&[u8]] = &[KEEP, ADD, b"\x62\xf2\xed\x49\x65\xd9", b"\xf2\x0f\x5c\xd9", RET];
        assert!(found(1, chosen));
        // The same with a call between, and the term in memory: subsd xmm3, [rbp-16] with xmm2 from there
        let called: &[&[u8]] = &[
            b"\xf2\x0f\x10\x55\xf0",
            ADD,
            b"\xf2\x0f\x11\x55\xf8",
            b"\xe8\0\0\0\0",
            b"\xf2\x0f\x10\x5d\xf8",
            b"\xf2\x0f\x5c\x5d\xf0",
            RET,
        ];
        assert!(found(1, called));
    }

    /// addsd xmm2, [rip+9]; addsd xmm2, [rip+9]; ret; and two numbers.
    #[test]
    fn a_constant_that_is_added_with_the_other_sign() {
        let add: &[u8] = b"\xf2\x0f\x58\x15\x09\0\0\0";
        let then = |other: f64| found(0, &[add, add, RET, &786432.0_f64.to_le_bytes(), &other.to_le_bytes()]);
        assert!(then(-786432.0));
        assert!(!then(786432.0) && !then(-786433.0));
    }

    #[test]
    fn other_sums() {
        // subsd xmm2, xmm3
        assert!(!found(1, &[KEEP, ADD, DIGITS, b"\xf2\x0f\x5c\xd3", RET]));
        // subsd xmm1, xmm2: the sum is taken off
        assert!(!found(1, &[KEEP, ADD, b"\xf2\x0f\x5c\xca", RET]));
        // The term, or the sum, is another meanwhile: addsd xmm1, xmm0; addsd xmm2, xmm0
        assert!(!found(1, &[KEEP, ADD, b"\xf2\x0f\x58\xc8", SUB, RET]));
        assert!(!found(1, &[KEEP, ADD, ADD, SUB, RET]));
    }
}
