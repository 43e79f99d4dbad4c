//! Code for a word that is put together from bytes of two, each with a shadow of its own, as programs read numbers in another byte
//! order.
//!
//! No byte may be in both words, nor have something kept beside it in one where the other has bits: then each goes where its word's
//! goes. All else is left to the engine.

use super::form::{Does, Other};
use super::rescale::{Rescaling, Ways};
use crate::context::Context;
use crate::x86::asm::Rel32;
use crate::x86::emit::Emitter;
use crate::x86::mirror::encode::{self, Alu, EQUAL, NOT_EQUAL};
use crate::x86::vector::Mem;
use shadowgrind_core::words::{InPlace, Words};

/// All bits of each byte but its first.
const BELOW_FIRST: u64 = 0x7f7f_7f7f_7f7f_7f7f;

impl Rescaling<'_> {
    /// The second of two registers that may be joined so.
    pub(super) fn joined_with(&self) -> Option<u8> {
        let joins = matches!(self.fields.does, Does::Join | Does::Add) && !self.fields.takes_carry;
        match self.fields.beside(self.float) {
            Other::Register(n) if joins && self.fields.loaded.is_none() && !self.is_whole => Some(n),
            _ => None,
        }
    }
}

impl Emitter {
    /// Cold code at the end of `ways_in`, on which both operands have shadows, of which that of register `other` is kept at `beside`.
    /// It goes on at `exit` for the engine.
    pub(super) fn join_bytes(
        &mut self,
        of: &Rescaling<'_>,
        (other, beside): (u8, Mem),
        ways_in: Vec<Rel32>,
        exit: u64,
    ) {
        let here = self.out.cold.here();
        ways_in.into_iter().for_each(|field| self.out.cold.patch(field, here));
        let (free, bytes, mut ways) = (of.free(), of.fields.bytes, Ways::default());
        let [r, b, c] = [free.r, free.b, free.c];
        let spilled = of.spilled(free);
        spilled.clone().for_each(|(n, slot)| self.out.cold.store(self.frame.slot(slot), n));
        let cold = &mut self.out.cold;
        if let Some(tag) = InPlace::TURNED {
            encode::compare_word(cold, beside.plus(2), tag.lower);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        // A sign alone sets the other one's.
        cold.mov_imm(r, 1 << (of.fields.width() - 1));
        for operand in [of.float, other] {
            encode::alu(cold, Alu::Compare, operand, r, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        let aside = Mem::rip(self.frame.field(Context::OFFSET_TAKEN_ASIDE));
        cold.mov_imm(r, BELOW_FIRST);
        for (operand, kept) in [(of.float, of.kept.0), (other, beside)] {
            encode::load(cold, b, kept, bytes);
            encode::test(cold, b, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
            // The first bit of each byte that is not zero, be it the word's or what is beside it.
            encode::alu(cold, Alu::Or, b, operand, bytes);
            encode::copy(cold, c, b, 8);
            encode::alu(cold, Alu::And, b, r, 8);
            encode::alu(cold, Alu::Add, b, r, 8);
            encode::alu(cold, Alu::Or, b, c, 8);
            if operand == of.float {
                encode::store(cold, aside, b, 8);
            }
        }
        encode::alu_constant(cold, Alu::Xor, r, -1, 8);
        encode::alu(cold, Alu::And, b, r, 8);
        encode::load(cold, c, aside, 8);
        encode::alu(cold, Alu::And, b, c, 8);
        ways.exits.push(cold.jcc_open(NOT_EQUAL));
        encode::load(cold, b, of.kept.0, bytes);
        encode::load(cold, c, beside, bytes);
        encode::alu(cold, Alu::Or, b, c, 8);
        self.keep(of, b);
        self.ends(of, free, ways);
        spilled.for_each(|(n, slot)| self.out.cold.load(n, self.frame.slot(slot)));
        self.out.cold.jmp(exit);
    }
}
