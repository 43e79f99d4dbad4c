//! Code by which the engine is left what is rare: operands that are no float, zeros, masks of whole bytes, and what may have been done
//! to two floats or to a part of one.

use super::form::{Does, Other};
use super::rescale::{Free, Rescaling, Ways};
use crate::x86::asm::{Gpr, Rel32};
use crate::x86::emit::Emitter;
use crate::x86::mirror::encode::{self, Alu, CARRY, EQUAL, NOT_EQUAL, Shift};
use shadowgrind_core::tricks;

impl Emitter {
    /// Jumps that are taken unless the cell is that of one float as wide as the operands: the upper end is there, and nothing above.
    pub(super) fn exit_unless_one(&mut self, of: &Rescaling<'_>) -> Vec<Rel32> {
        let ((cell, kept), bytes) = (of.kept, of.fields.bytes);
        let cold = &mut self.out.cold;
        let mut exits = Vec::new();
        if bytes < kept {
            encode::compare_zero(cold, cell.plus(4), 4);
            exits.push(cold.jcc_open(NOT_EQUAL));
        }
        encode::compare_zero(cold, cell.plus(bytes as i32 - 1), 1);
        exits.push(cold.jcc_open(EQUAL));
        exits
    }

    /// Leaves a zero, of either sign, to the engine.
    pub(super) fn exit_if_zero(&mut self, of: &Rescaling<'_>, b: Gpr, ways: &mut Ways) {
        let (bytes, cold) = (of.fields.bytes, &mut self.out.cold);
        encode::copy(cold, b, of.float, bytes);
        encode::alu(cold, Alu::Add, b, b, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
    }

    /// Looks at a mask: one of whole bytes is the engine's, and so is a zero that is masked. True if it is known to let no digit
    /// through.
    pub(super) fn cuts_all(&mut self, of: &Rescaling<'_>, Free { b, c, .. }: Free, ways: &mut Ways) -> bool {
        /// The lowest bit of each byte.
        const LOWEST: u64 = 0x0101_0101_0101_0101;
        let bytes = of.fields.bytes;
        self.exit_if_zero(of, b, ways);
        let Some(mask) = of.other() else {
            let mask = of.fields.constant();
            let is_all = mask << (64 - of.fields.digits()) == 0 || u128::from(mask) == tricks::FLAG;
            if is_all {
                let cleared = if of.is_whole { &mut ways.exits } else { &mut ways.clear };
                cleared.push(self.out.cold.jmp_open());
            }
            return is_all;
        };
        let cold = &mut self.out.cold;
        cold.mov_imm(c, LOWEST);
        encode::copy(cold, b, mask, bytes);
        encode::alu(cold, Alu::And, b, c, 8);
        encode::multiply(cold, b, b, u8::MAX.into());
        encode::alu(cold, Alu::Compare, b, mask, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::copy(cold, b, mask, bytes);
        if of.fields.does == Does::CutOthers {
            encode::alu_constant(cold, Alu::Xor, b, -1, bytes);
        }
        let cleared = if of.is_whole { &mut ways.exits } else { &mut ways.clear };
        encode::alu_constant(cold, Alu::Compare, b, tricks::FLAG as i32, bytes);
        cleared.push(cold.jcc_open(EQUAL));
        encode::shift(cold, Shift::Left, b, of.upper(), bytes);
        // What has been moved has other digits.
        let cleared = if of.fields.does == Does::Gather { &mut ways.lost } else { cleared };
        cleared.push(cold.jcc_open(EQUAL));
        false
    }

    /// Leaves a sum or disjunction to the engine that may put bytes beside bytes: not where both have their last, or something
    /// is for the exponent alone of a float that has one.
    pub(super) fn leave_bytes(&mut self, of: &Rescaling<'_>, Free { b, .. }: Free, ways: &mut Ways) {
        let (bytes, width) = (of.fields.bytes, of.fields.width());
        let mut both = Vec::new();
        let cold = &mut self.out.cold;
        match of.other() {
            Some(other) => {
                encode::copy(cold, b, other, bytes);
                encode::shift(cold, Shift::Right, b, width - 8, bytes);
                both.push(cold.jcc_open(NOT_EQUAL));
                encode::copy(cold, b, other, bytes);
                if of.fields.does == Does::Add {
                    encode::shift(cold, Shift::Right, b, of.fields.digits(), bytes);
                    both.push(cold.jcc_open(EQUAL));
                    encode::copy(cold, b, other, bytes);
                }
                encode::shift(cold, Shift::Left, b, of.upper(), bytes);
                ways.exits.push(cold.jcc_open(NOT_EQUAL));
            }
            None if of.fields.upper_byte(of.fields.constant()) != 0 => return,
            None if of.fields.does == Does::Add && of.fields.has_digits_alone(of.fields.constant()) => return,
            None => {}
        }
        self.exponent(of, of.float, b);
        let cold = &mut self.out.cold;
        ways.exits.push(cold.jcc_open(EQUAL));
        let here = cold.here();
        both.into_iter().for_each(|field| cold.patch(field, here));
    }

    /// A disjunction of one or the other: what turns the sign alone goes on with power 0; where digits are turned, the shadow is kept
    /// as it is, or with the other sign beside a complement, and the jump returned taken. The sign and more, and an exponent alone, are the
    /// engine's: that may be the exponent of a significand on its own.
    pub(super) fn flipped(&mut self, of: &Rescaling<'_>, Free { r, b, c }: Free, ways: &mut Ways) -> Rel32 {
        let bytes = of.fields.bytes;
        let cold = &mut self.out.cold;
        encode::copy(cold, c, r, bytes);
        encode::alu(cold, Alu::Xor, c, of.float, bytes);
        if bytes == 8 {
            // The signs of two narrow floats.
            encode::alu_constant(cold, Alu::Compare, c, i32::MIN, 4);
            ways.exits.push(cold.jcc_open(EQUAL));
            if of.other().is_some() {
                self.exit_if_for_exponents(c, b, ways);
            }
        }
        let cold = &mut self.out.cold;
        encode::alu(cold, Alu::Add, c, c, bytes);
        let turns = cold.jcc_open(EQUAL);
        let is_complement = of.fields.other == Other::Constant(-1);
        if !is_complement {
            ways.exits.push(cold.jcc_open(CARRY));
        }
        encode::shift(cold, Shift::Left, c, of.upper() - 1, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::load(cold, b, of.kept.0, bytes);
        if is_complement {
            self.turn_sign_alike(of, Free { r, b, c });
        }
        self.keep(of, b);
        let cold = &mut self.out.cold;
        let done = cold.jmp_open();
        let here = cold.here();
        cold.patch(turns, here);
        done
    }

    /// Turns the sign of the shadow in `b` over if the result in `r` has another sign than the float; `r` is lost.
    pub(super) fn turn_sign_alike(&mut self, of: &Rescaling<'_>, Free { r, b, .. }: Free) {
        let (bytes, below) = (of.fields.bytes, of.fields.width() - 1);
        let cold = &mut self.out.cold;
        encode::alu(cold, Alu::Xor, r, of.float, bytes);
        encode::shift(cold, Shift::Right, r, below, bytes);
        encode::shift(cold, Shift::Left, r, below, bytes);
        encode::alu(cold, Alu::Xor, b, r, bytes);
    }

    /// With the difference of float and result in `b`: leaves what has lost digits to the engine if none is left in the lower half, since
    /// those in the upper one may all be there.
    pub(super) fn exit_if_upper_digits(
        &mut self,
        of: &Rescaling<'_>,
        Free { r, b, c }: Free,
        ways: &mut Ways,
    ) {
        const HALF: usize = 4;
        let cold = &mut self.out.cold;
        encode::alu_constant(cold, Alu::Compare, r, 0, HALF);
        let has_lower = cold.jcc_open(NOT_EQUAL);
        encode::copy(cold, c, b, of.fields.bytes);
        encode::shift(cold, Shift::Left, c, of.upper(), of.fields.bytes);
        ways.exits.push(cold.jcc_open(NOT_EQUAL));
        let here = cold.here();
        cold.patch(has_lower, here);
    }

    /// Leaves a word to the engine where `core::tricks::is_for_upper_half` may say that it is the upper half of a double.
    pub(super) fn exit_if_for_upper_half(
        &mut self,
        of: &Rescaling<'_>,
        Free { b, .. }: Free,
        ways: &mut Ways,
    ) {
        const HALF: usize = 4;
        let digits = of.fields.upper_digits();
        let cold = &mut self.out.cold;
        match (of.fields.does, of.other()) {
            (Does::Add | Does::Join | Does::Flip, _) => {
                encode::copy(cold, b, of.float, HALF);
                encode::shift(cold, Shift::Right, b, digits, HALF);
                ways.exits.push(cold.jcc_open(EQUAL));
            }
            (Does::Cut, Some(mask)) => {
                encode::copy(cold, b, mask, HALF);
                encode::alu(cold, Alu::Add, b, b, HALF);
                // Twice the digits, and twice the bit next to them.
                for twice in [(2 << digits) - 2, 2 << digits] {
                    encode::alu_constant(cold, Alu::Compare, b, twice, HALF);
                    ways.exits.push(cold.jcc_open(EQUAL));
                }
            }
            _ => {}
        }
    }

    /// Leaves it to the engine where register `change` has bits for the exponents of two narrow floats, as `core::tricks::are_for_exponents`
    /// has it; by way of register `b`. No constant of an instruction has both.
    pub(super) fn exit_if_for_exponents(&mut self, change: Gpr, b: Gpr, ways: &mut Ways) {
        const HALF: u8 = 32;
        let [exponent, digits] = [0x7f80_0000, 0x007f_ffff];
        let cold = &mut self.out.cold;
        let mut others = Vec::new();
        for (shift, mask, is_other) in
            [(0, digits, NOT_EQUAL), (0, exponent, EQUAL), (HALF, digits, NOT_EQUAL), (HALF, exponent, EQUAL)]
        {
            encode::copy(cold, b, change, 8);
            if shift > 0 {
                encode::shift(cold, Shift::Right, b, shift, 8);
            }
            encode::alu_constant(cold, Alu::And, b, mask, 4);
            others.push(cold.jcc_open(is_other));
        }
        ways.exits.push(cold.jmp_open());
        let here = cold.here();
        others.into_iter().for_each(|field| cold.patch(field, here));
    }

    /// With the difference of float and result in `b`: leaves a narrow sum to the engine that may be that of the upper half of a
    /// double, of whose digits, which are fewer, none has changed.
    pub(super) fn exit_if_upper_half(
        &mut self,
        of: &Rescaling<'_>,
        Free { b, c, .. }: Free,
        ways: &mut Ways,
    ) {
        let bytes = of.fields.bytes;
        let cold = &mut self.out.cold;
        encode::copy(cold, c, b, bytes);
        encode::shift(cold, Shift::Left, c, of.upper(), bytes);
        let same = cold.jcc_open(EQUAL);
        encode::copy(cold, c, b, bytes);
        encode::shift(cold, Shift::Left, c, of.fields.width() - of.fields.upper_digits(), bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        let here = cold.here();
        cold.patch(same, here);
    }
}
