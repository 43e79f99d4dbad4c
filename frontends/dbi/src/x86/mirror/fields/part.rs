//! Code for what is done to one or two bytes of a float that were loaded into a wide register: as long as they are the same, so is
//! what is kept beside them. Otherwise it goes, and digits that were among them are counted.
//!
//! Three bytes, halves of bytes, digits that move up, sums that change them, a sign that is turned over and whatever may be more than a part are left to the engine.

use super::form::{Does, Other};
use super::rescale::{Rescaling, Ways};
use crate::x86::asm::Rel32;
use crate::x86::emit::Emitter;
use crate::x86::mirror::encode::{self, ABOVE_OR_EQUAL, Alu, CARRY, EQUAL, Shift};
use shadowgrind_core::tricks;

/// Digits among the last two bytes of a double.
const END_DIGITS: i32 = 0xf;

impl Rescaling<'_> {
    /// Tells whether the operand may be a part that is followed so.
    pub(super) fn may_be_part(&self) -> bool {
        use Does::{Change, Cut, CutOthers, DropDigits, Extract, Flip, Join};
        let is_followed = match self.fields.does {
            // A mask may select bytes, the halves of one are lost, and a single bit is none of a float's.
            Cut => match self.fields.other {
                Other::Constant(mask) => {
                    !tricks::halves_byte(mask as u32) && mask as u8 != tricks::FLAG as u8
                }
                _ => false,
            },
            CutOthers | Join | Flip | DropDigits | Extract | Change => true,
            // Digits may come out behind where the part was, and a double may be turned.
            _ => false,
        };
        is_followed && self.fields.loaded.is_none() && !self.is_whole
    }
}

impl Emitter {
    /// Cold code at the end of `ways_in`, on which the operand, in a register, is no whole float. It goes on at `exit` for the engine.
    pub(super) fn follow_part(&mut self, of: &Rescaling<'_>, ways_in: Vec<Rel32>, exit: u64) {
        let here = self.out.cold.here();
        ways_in.into_iter().for_each(|field| self.out.cold.patch(field, here));
        let (free, mut ways) = (of.free(), Ways::default());
        let bytes = of.fields.bytes;
        let spilled = of.spilled(free);
        spilled.clone().for_each(|(n, slot)| self.out.cold.store(self.frame.slot(slot), n));
        let cold = &mut self.out.cold;
        encode::load(cold, free.b, of.kept.0, of.kept.1);
        encode::alu_constant(cold, Alu::Compare, free.b, 1 << 16, 8);
        ways.exits.push(cold.jcc_open(ABOVE_OR_EQUAL));
        self.compute(of, free.r);
        let cold = &mut self.out.cold;
        encode::alu_constant(cold, Alu::Compare, free.b, 1 << 8, 8);
        cold.mov_imm(free.c, 0xff);
        let is_byte = cold.jcc_open(CARRY);
        cold.mov_imm(free.c, 0xffff);
        let here = cold.here();
        cold.patch(is_byte, here);
        encode::copy(cold, free.b, free.r, bytes);
        encode::alu(cold, Alu::Xor, free.b, of.float, bytes);
        encode::alu(cold, Alu::And, free.b, free.c, bytes);
        let same = cold.jcc_open(EQUAL);
        for sign in [1 << 7, 1 << 15] {
            encode::alu_constant(cold, Alu::Compare, free.b, sign, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        if !of.is_in_place() {
            // What is still beside the result's place says whether they are an end.
            ways.exits.push(self.exit_unless_clear(of.result));
        }
        let cold = &mut self.out.cold;
        for to in [Shift::Right, Shift::Left] {
            // One half of a byte may be left.
            encode::copy(cold, free.b, of.float, bytes);
            encode::alu(cold, Alu::And, free.b, free.c, bytes);
            encode::shift(cold, to, free.b, 4, bytes);
            encode::alu(cold, Alu::Xor, free.b, free.r, bytes);
            encode::alu(cold, Alu::And, free.b, free.c, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        encode::alu_constant(cold, Alu::Compare, free.c, 0xff, bytes);
        ways.clear.push(cold.jcc_open(EQUAL));
        encode::alu_constant(cold, Alu::And, free.r, END_DIGITS, bytes);
        ways.clear.push(cold.jcc_open(EQUAL));
        self.count(of.number);
        self.note_taken(of, free);
        ways.clear.push(self.out.cold.jmp_open());
        let here = self.out.cold.here();
        self.out.cold.patch(same, here);
        if of.fields.does == Does::DropDigits {
            ways.exits.push(self.out.cold.jmp_open());
        } else {
            encode::load(&mut self.out.cold, free.b, of.kept.0, of.kept.1);
            self.keep(of, free.b);
        }
        self.ends(of, free, ways);
        spilled.for_each(|(n, slot)| self.out.cold.load(n, self.frame.slot(slot)));
        self.out.cold.jmp(exit);
    }
}
