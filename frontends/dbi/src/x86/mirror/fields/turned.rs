//! Code for doubles in general registers that are turned, as Ruby's values hold them (`core::turned`), and for what is done to them.
//!
//! What only changes the tag keeps what is kept beside the word, and a tag on its own has no shadow. All else is left to the engine.

use super::form::{Does, Fields, Other};
use super::rescale::{Free, Rescaling, SLOTS};
use crate::x86::asm::{Gpr, Rel32};
use crate::x86::emit::Emitter;
use crate::x86::mirror::encode::{self, ABOVE_OR_EQUAL, Alu, EQUAL, NOT_EQUAL, Shift};
use crate::x86::vector::{At, Mem};
use shadowgrind_core::turned::{ENTRY, HALF_BITS, PLACES, TURN, Tag};
use shadowgrind_core::words::{InPlace, Words};

/// Bits of the tag of a turned word, and those of them and the sign.
const TAG_BITS: u64 = 0b11;
const NO_DIGITS: u64 = 0b111;
/// Bits of a half of an entry's number.
const HALF: i32 = (1 << HALF_BITS) - 1;
/// Logarithm of the bytes of an entry.
const ENTRY_SHIFT: u8 = (8 * ENTRY).ilog2() as u8;

/// Effect of an instruction on what is kept beside a turned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// No change.
    Keeps,
    /// Nothing left beside the result.
    Clears,
    /// Copied to the result, unless the other operand is a mask of tags.
    Joins,
    /// Left to the engine.
    Unknown,
    /// Effect as on any other float.
    Usual,
}

impl Fields {
    fn effect(&self) -> Effect {
        let Other::Constant(_) = self.other else {
            return match self.does {
                // What is in memory is not there yet when this is decided.
                Does::Join | Does::Cut if self.bytes == 8 && self.loaded.is_none() => Effect::Joins,
                Does::DropDigits | Does::TurnBack | Does::MoveBytes(..) => Effect::Usual,
                _ => Effect::Unknown,
            };
        };
        let constant = self.constant();
        match self.does {
            Does::Cut if constant <= NO_DIGITS => Effect::Clears,
            Does::Cut if constant | TAG_BITS == u64::MAX => Effect::Keeps,
            Does::Join | Does::Flip if self.bytes == 8 && constant <= TAG_BITS => Effect::Keeps,
            _ => Effect::Unknown,
        }
    }
}

/// Word number `n` from the address in `base` on.
fn word(base: Gpr, n: i32) -> Mem {
    let at = At::Base { base: Some(base), index: None, displacement: 8 * n };
    Mem { gs: false, fs: false, address32: false, at }
}

impl Emitter {
    /// Cold code that sees to the operand being a turned word, or the lower half of one, and goes on to the guest's instruction then.
    /// Ways to the engine.
    pub(super) fn follow_turned(&mut self, of: &Rescaling<'_>) -> Option<Rel32> {
        let (tag, effect) = (InPlace::TURNED?, of.fields.effect());
        if effect == Effect::Usual {
            return None;
        }
        let others = self.unless_tagged(of, tag);
        let mut exit = None;
        match effect {
            Effect::Keeps => self.go_on(of),
            Effect::Clears => {
                self.keep_nothing(of);
                self.go_on(of);
            }
            Effect::Joins => self.join_turned(of),
            Effect::Unknown | Effect::Usual => exit = Some(self.out.cold.jmp_open()),
        }
        let here = self.out.cold.here();
        others.into_iter().for_each(|field| self.out.cold.patch(field, here));
        exit
    }

    /// Jumps that are taken unless the operand is a turned word by what is kept beside it.
    fn unless_tagged(&mut self, of: &Rescaling<'_>, tag: Tag) -> Vec<Rel32> {
        const END: i32 = 2;
        let (cell, bytes) = (of.kept.0, of.fields.bytes as i32);
        let cold = &mut self.out.cold;
        let halves = [(8, tag.upper), (4, tag.lower)].into_iter().filter(|&(end, _)| end <= bytes);
        let jump = |(end, mark)| {
            encode::compare_word(cold, cell.plus(end - END), mark);
            cold.jcc_open(NOT_EQUAL)
        };
        halves.map(jump).collect()
    }

    /// Gives the disjunction or conjunction with another register what is kept beside the word; nothing where that is a mask of tags.
    fn join_turned(&mut self, of: &Rescaling<'_>) {
        let free = of.free();
        let other = of.other().expect("an operation with a register");
        let scratch = self.frame.slot(SLOTS[0]);
        let cold = &mut self.out.cold;
        cold.store(scratch, free.r);
        encode::load(cold, free.r, of.kept.0, 8);
        if of.fields.does == Does::Cut {
            encode::alu_constant(cold, Alu::Compare, other, NO_DIGITS as i32 + 1, 8);
            let masks_more = cold.jcc_open(ABOVE_OR_EQUAL);
            cold.mov_imm(free.r, 0);
            let here = cold.here();
            cold.patch(masks_more, here);
        }
        self.keep(of, free.r);
        self.out.cold.load(free.r, scratch);
        self.go_on(of);
    }

    /// Cold code that keeps the double and its shadow in an entry of the table, if it is one that is turned. Ways to the engine, with
    /// registers as they are in [`Free`].
    pub(super) fn turn(&mut self, of: &Rescaling<'_>, Free { r, b, c }: Free) -> Vec<Rel32> {
        let table = self.mirror().settings.turned;
        let tag = InPlace::TURNED.expect("a table of turned doubles");
        let cold = &mut self.out.cold;
        // Exponents whose upper bits are 011 and 100.
        encode::copy(cold, b, of.float, 8);
        encode::shift(cold, Shift::Right, b, 60, 8);
        encode::alu_constant(cold, Alu::And, b, 0b111, 8);
        encode::alu_constant(cold, Alu::Subtract, b, 0b011, 8);
        encode::alu_constant(cold, Alu::Compare, b, 2, 8);
        let exit = cold.jcc_open(ABOVE_OR_EQUAL);
        cold.mov_imm(r, table);
        cold.mov_imm(b, 1);
        encode::exchange_add(cold, word(r, 0), b);
        encode::alu_constant(cold, Alu::Add, b, 1, 4);
        self.entry(c, b, r);
        let cold = &mut self.out.cold;
        encode::store(cold, word(c, 1), of.float, 8);
        encode::load(cold, r, of.kept.0, 8);
        encode::store(cold, word(c, 2), r, 8);
        encode::store(cold, word(c, 0), b, 8);
        encode::copy(cold, r, b, 4);
        encode::shift(cold, Shift::Right, r, HALF_BITS as u8, 4);
        encode::shift(cold, Shift::Left, r, 32, 8);
        encode::alu_constant(cold, Alu::And, b, HALF, 4);
        encode::alu(cold, Alu::Or, b, r, 8);
        cold.mov_imm(r, tag.cell(0));
        encode::alu(cold, Alu::Or, b, r, 8);
        self.keep(of, b);
        vec![exit]
    }

    /// Cold code that gives a double which has been turned back the shadow in its entry. Ways to the engine, as for
    /// [`Emitter::turn`].
    pub(super) fn turn_back(&mut self, of: &Rescaling<'_>, Free { r, b, c }: Free) -> Vec<Rel32> {
        let table = self.mirror().settings.turned;
        let tag = InPlace::TURNED.expect("a table of turned doubles");
        let mut exits = self.unless_tagged(of, tag);
        let cold = &mut self.out.cold;
        encode::load(cold, b, of.kept.0, 8);
        encode::copy(cold, c, b, 8);
        encode::shift(cold, Shift::Right, c, 32, 8);
        encode::shift(cold, Shift::Left, c, HALF_BITS as u8, 4);
        encode::alu_constant(cold, Alu::And, b, HALF, 8);
        encode::alu(cold, Alu::Or, c, b, 8);
        exits.push(cold.jcc_open(EQUAL));
        cold.mov_imm(r, table);
        self.entry(b, c, r);
        let cold = &mut self.out.cold;
        encode::compare(cold, c, word(b, 0), 8);
        exits.push(cold.jcc_open(NOT_EQUAL));
        encode::copy(cold, r, of.float, 8);
        encode::shift(cold, Shift::RotateRight, r, TURN as u8, 8);
        encode::compare(cold, r, word(b, 1), 8);
        exits.push(cold.jcc_open(NOT_EQUAL));
        encode::load(cold, r, word(b, 2), 8);
        self.keep(of, r);
        exits
    }

    /// Address in `to` of the entry of a number, in the table at the address in `table`.
    fn entry(&mut self, to: Gpr, number: Gpr, table: Gpr) {
        let cold = &mut self.out.cold;
        encode::copy(cold, to, number, 8);
        encode::alu_constant(cold, Alu::And, to, PLACES as i32 - 1, 8);
        encode::alu_constant(cold, Alu::Add, to, 1, 8);
        encode::shift(cold, Shift::Left, to, ENTRY_SHIFT, 8);
        encode::alu(cold, Alu::Add, to, table, 8);
    }
}
