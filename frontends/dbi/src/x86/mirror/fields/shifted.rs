//! Code for digits that go elsewhere: shifted, or taken out of a float. Its shadow does not go with them, which is counted, unless
//! none or all of them are left. Knows where registers and shadows are from `rescale`.

use super::form::Does;
use super::instruction::LIKE_TURN;
use super::rescale::{Free, Rescaling, Ways};
use crate::context::{Context, TAKEN};
use crate::x86::asm::Gpr;
use crate::x86::emit::Emitter;
use crate::x86::mirror::encode::{self, ABOVE_OR_EQUAL, Alu, EQUAL, Shift};
use crate::x86::rows;
use crate::x86::table::{General, Row};
use crate::x86::vector::{At, Mem};
use iced_x86::Instruction;
use shadowgrind_core::turned::TURN;

impl Emitter {
    /// A shift by which digits go elsewhere; that they are where they were, or all gone, is for the engine to see.
    pub(super) fn moved(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        /// Bound of what may be left of sign and exponent, as an integer.
        const LEFT: i32 = 1 << 12;
        let Free { r, b, .. } = free;
        let bytes = of.fields.bytes;
        let cold = &mut self.out.cold;
        encode::copy(cold, b, r, bytes);
        encode::alu_constant(cold, Alu::Add, b, LEFT, bytes);
        encode::shift(cold, Shift::Right, b, LEFT.ilog2() as u8 + 1, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        if of.fields.does != Does::Multiply {
            // A narrow sum may be that of the upper half of a double, which has fewer digits.
            let is_sum = of.fields.does == Does::Double;
            let upper = if is_sum { of.fields.width() - of.fields.upper_digits() } else { of.upper() };
            encode::copy(cold, b, r, bytes);
            encode::alu(cold, Alu::Xor, b, of.float, bytes);
            encode::shift(cold, Shift::Left, b, upper, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        if bytes == 8 && rotates(of.insn) {
            // It may be a double that is turned.
            encode::copy(cold, b, of.float, bytes);
            encode::shift(cold, Shift::RotateLeft, b, TURN as u8, bytes);
            encode::alu(cold, Alu::Compare, b, r, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        self.count(of.number);
        self.note_taken(of, free);
        self.keep_nothing(of);
    }

    /// A shift by what is in a register, `to_right` or to the left. One by whole bytes is left to the engine.
    pub(super) fn moved_by(
        &mut self,
        of: &Rescaling<'_>,
        free: Free,
        to_right: Option<Gpr>,
        ways: &mut Ways,
    ) {
        const BYTE: i32 = 8;
        self.exit_if_zero(of, free.b, ways);
        if let Some(count) = of.fields.count {
            encode::copy(&mut self.out.cold, free.b, count, 4);
            encode::alu_constant(&mut self.out.cold, Alu::And, free.b, BYTE - 1, 4);
            ways.exits.push(self.out.cold.jcc_open(EQUAL));
        }
        let drops = to_right.map(|count| {
            let cold = &mut self.out.cold;
            encode::copy(cold, free.b, count, 4);
            encode::alu_constant(cold, Alu::And, free.b, i32::from(of.fields.width() - 1), 4);
            encode::alu_constant(cold, Alu::Compare, free.b, LIKE_TURN as i32, 4);
            ways.exits.push(cold.jcc_open(EQUAL));
            encode::alu_constant(cold, Alu::Compare, free.b, of.fields.upper_digits().into(), 4);
            cold.jcc_open(ABOVE_OR_EQUAL)
        });
        ways.clear.extend(drops);
        self.moved(of, free, ways);
    }

    /// Leaves a product with one to the engine.
    pub(super) fn exit_if_one(&mut self, of: &Rescaling<'_>, ways: &mut Ways) {
        if let Some(other) = of.other() {
            encode::alu_constant(&mut self.out.cold, Alu::Compare, other, 1, of.fields.bytes);
            ways.exits.push(self.out.cold.jcc_open(EQUAL));
        }
    }

    /// Of a shift by which bits of the other operand come in: leaves one to the engine after which the digits are what they were. If
    /// nothing is left but sign and exponent, there is no shadow.
    pub(super) fn exit_or_clear_unshifted(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        let Free { r, b, .. } = free;
        let bytes = of.fields.bytes;
        let cold = &mut self.out.cold;
        encode::copy(cold, b, r, bytes);
        encode::alu(cold, Alu::Xor, b, of.float, bytes);
        encode::shift(cold, Shift::Left, b, of.upper(), bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::copy(cold, b, of.float, bytes);
        encode::shift(cold, Shift::Right, b, of.fields.upper_digits(), bytes);
        encode::alu(cold, Alu::Compare, b, r, bytes);
        ways.clear.push(cold.jcc_open(EQUAL));
    }

    /// Digits in a row that are moved to the lowest places: none, or all of them where they were, or others, which are counted.
    pub(super) fn extracted(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        let Free { r, b, .. } = free;
        let bytes = of.fields.bytes;
        self.exit_if_zero(of, b, ways);
        let cold = &mut self.out.cold;
        encode::copy(cold, b, of.float, bytes);
        encode::shift(cold, Shift::Right, b, of.fields.upper_digits(), bytes);
        encode::alu(cold, Alu::Compare, b, r, bytes);
        ways.clear.push(cold.jcc_open(EQUAL));
        encode::copy(cold, b, r, bytes);
        encode::alu(cold, Alu::Xor, b, of.float, bytes);
        encode::shift(cold, Shift::Left, b, of.upper(), bytes);
        let stay = cold.jcc_open(EQUAL);
        self.moved(of, free, ways);
        ways.clear.push(self.out.cold.jmp_open());
        let here = self.out.cold.here();
        self.out.cold.patch(stay, here);
    }

    /// Notes the float for whoever looks for it in the program's texts. The two registers that are not the result's are others then.
    pub(super) fn note_taken(&mut self, of: &Rescaling<'_>, Free { b, c, .. }: Free) {
        self.note_float([of.float, b, c], of.kept, of.number, of.fields.bytes);
    }

    /// Notes the float of so many `bytes` in a register, with what is kept beside it, as met by the instruction of this `number`. The two
    /// registers after it are others then.
    pub(in crate::x86::mirror) fn note_float(
        &mut self,
        [float, b, c]: [Gpr; 3],
        kept: (Mem, usize),
        number: u16,
        bytes: usize,
    ) {
        const ENTRY: usize = size_of::<[u64; 4]>();
        let next = Mem::rip(self.frame.field(Context::OFFSET_TAKEN_NEXT));
        let entries = self.frame.field(Context::OFFSET_TAKEN);
        let cold = &mut self.out.cold;
        encode::load(cold, b, next, 8);
        encode::alu_constant(cold, Alu::And, b, TAKEN as i32 - 1, 8);
        encode::shift(cold, Shift::Left, b, ENTRY.ilog2() as u8, 8);
        cold.mov_imm(c, entries);
        encode::alu(cold, Alu::Add, b, c, 8);
        let word = |n: i32| {
            let at = At::Base { base: Some(b), index: None, displacement: 8 * n };
            Mem { gs: false, fs: false, address32: false, at }
        };
        encode::store(cold, word(0), float, 8);
        encode::load(cold, c, kept.0, kept.1);
        encode::store(cold, word(1), c, 8);
        cold.mov_imm(c, number.into());
        encode::store(cold, word(2), c, 8);
        cold.mov_imm(c, bytes as u64);
        encode::store(cold, word(3), c, 8);
        encode::increment(cold, next);
    }
}

/// Tells whether the instruction rotates.
fn rotates(insn: &Instruction) -> bool {
    matches!(rows::row(insn), Row::General(General::Bits(by)) if by.rotates())
}
