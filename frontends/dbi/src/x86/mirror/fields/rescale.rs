//! Code that changes what is kept beside a float as the float is changed: by exponent and sign, or by whole bytes.

use super::instruction::{Does, Fields, Other};
use crate::context::{Context, TAKEN};
use crate::x86::asm::{Gpr, RSP, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::mirror::encode::{self, ABOVE_OR_EQUAL, Alu, CARRY, EQUAL, NOT_EQUAL, Shift};
use crate::x86::vector::{At, Mem};

/// An instruction of which one operand is a float with a shadow.
pub(super) struct Rescaling<'a> {
    pub(super) fields: &'a Fields,
    pub(super) float: Gpr,
    /// The result is used as one float.
    pub(super) is_whole: bool,
    /// Number under which digits are counted that go without a shadow.
    pub(super) number: u16,
    /// The flags are in a slot.
    pub(super) keeps_flags: bool,
    /// Host address of the guest's instruction.
    pub(super) back: u64,
    /// Host address of the side exit.
    pub(super) side_exit: u64,
}

/// Slots of the registers that are computed with.
pub(super) const SLOTS: [Slot; 3] = [Slot::Scratch, Slot::Address, Slot::SecondScratch];

/// Jumps out of the code, to be patched.
#[derive(Default)]
struct Ways {
    /// The engine has to do it.
    exits: Vec<Rel32>,
    /// Digits go without a shadow, if there are any.
    lost: Vec<Rel32>,
    /// The result has no shadow.
    clear: Vec<Rel32>,
}

/// Registers that are computed with: the result, and two others.
#[derive(Clone, Copy)]
pub(super) struct Free {
    pub(super) r: Gpr,
    pub(super) b: Gpr,
    pub(super) c: Gpr,
}

impl Rescaling<'_> {
    /// Register of the other operand.
    pub(super) fn other(&self) -> Option<Gpr> {
        match self.fields.beside(self.float) {
            Other::Register(n) => Some(n),
            _ => None,
        }
    }

    pub(super) fn free(&self) -> Free {
        let mut free = (0..8).filter(|&n| n != RSP && !self.fields.registers().any(|used| used == n));
        let [r, b, c] = std::array::from_fn(|_| free.next().expect("an instruction names three registers"));
        Free { r, b, c }
    }

    /// Bits above those of the significand.
    fn upper(&self) -> u8 {
        self.fields.width() - self.fields.digits()
    }
}

impl Emitter {
    /// Cold code that gives the result the shadow of the float, changed alike, and goes on to the guest's instruction. Of
    /// `others` the engine is asked if one has a shadow as well.
    pub(super) fn rescale(&mut self, of: &Rescaling<'_>, others: &[Gpr]) {
        let mut early: Vec<Rel32> = self.follow_turned(of).into_iter().collect();
        early.extend(others.iter().map(|&n| self.exit_unless_clear(n)));
        if let Does::MoveBytes(by, count) = of.fields.does {
            let cell = self.cell(of.float);
            encode::shift_memory(&mut self.out.cold, by, cell, count, of.fields.bytes);
            if of.fields.bytes == 4 {
                encode::store_zero(&mut self.out.cold, cell.plus(4), 4);
            }
            return self.go_on(of);
        }
        early.extend(self.exit_unless_one(of));
        let free = of.free();
        let spilled = [free.r, free.b, free.c].into_iter().zip(SLOTS);
        spilled.clone().for_each(|(n, slot)| self.out.cold.store(self.frame.slot(slot), n));
        let ways = match of.fields.does {
            Does::Turn => Ways { exits: self.turn(of, free), ..Ways::default() },
            Does::TurnBack => Ways { exits: self.turn_back(of, free), ..Ways::default() },
            _ => self.changed(of, free),
        };
        self.ends(of, free, ways);
        spilled.for_each(|(n, slot)| self.out.cold.load(n, self.frame.slot(slot)));
        let start = self.out.cold.here();
        early.into_iter().for_each(|field| self.out.cold.patch(field, start));
        if of.keeps_flags {
            self.put_flags_back();
        }
        self.out.cold.jmp(of.side_exit);
    }

    /// On to the guest's instruction.
    pub(super) fn go_on(&mut self, of: &Rescaling<'_>) {
        if of.keeps_flags {
            self.put_flags_back();
        }
        self.out.cold.jmp(of.back);
    }

    /// As [`Emitter::go_on`], with the registers as they were.
    fn put_back_and_go_on(&mut self, of: &Rescaling<'_>, free: Free) {
        for (n, slot) in [free.r, free.b, free.c].into_iter().zip(SLOTS) {
            self.out.cold.load(n, self.frame.slot(slot));
        }
        self.go_on(of);
    }

    /// Jumps that are taken unless the cell is that of one float as wide as the operands: the upper end is there, and nothing above.
    fn exit_unless_one(&mut self, of: &Rescaling<'_>) -> Vec<Rel32> {
        let (cell, bytes) = (self.cell(of.float), of.fields.bytes);
        let cold = &mut self.out.cold;
        let mut exits = Vec::new();
        if bytes == 4 {
            encode::compare_zero(cold, cell.plus(4), 4);
            exits.push(cold.jcc_open(NOT_EQUAL));
        }
        encode::compare_zero(cold, cell.plus(bytes as i32 - 1), 1);
        exits.push(cold.jcc_open(EQUAL));
        exits
    }

    /// Code after the way on which the shadow is changed: the ways on which there is none any more; that to the engine begins then.
    fn ends(&mut self, of: &Rescaling<'_>, free: Free, mut ways: Ways) {
        let to = self.cell(of.fields.to);
        self.put_back_and_go_on(of, free);
        if !ways.lost.is_empty() {
            let here = self.out.cold.here();
            ways.lost.drain(..).for_each(|field| self.out.cold.patch(field, here));
            self.count_digits(of, free, &mut ways);
            ways.clear.push(self.out.cold.jmp_open());
        }
        if !ways.clear.is_empty() {
            let here = self.out.cold.here();
            ways.clear.into_iter().for_each(|field| self.out.cold.patch(field, here));
            encode::store_zero(&mut self.out.cold, to, 8);
            self.put_back_and_go_on(of, free);
        }
        let here = self.out.cold.here();
        ways.exits.into_iter().for_each(|field| self.out.cold.patch(field, here));
    }

    /// Counts the instruction if there are digits in its result, which a mask has cut off others.
    fn count_digits(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        let Free { r, b, .. } = free;
        const HALF: u8 = 32;
        let bytes = of.fields.bytes;
        let counter = Mem::rip(self.frame.field(Context::OFFSET_COUNTS + 8 * u32::from(of.number)));
        let cold = &mut self.out.cold;
        if bytes == 8 {
            // Two halves that are masked alike may be two narrow floats.
            match of.other() {
                Some(other) => {
                    encode::copy(cold, b, other, 8);
                    encode::shift(cold, Shift::RotateLeft, b, HALF, 8);
                    encode::alu(cold, Alu::Compare, b, other, 8);
                    ways.exits.push(cold.jcc_open(EQUAL));
                }
                None if of.fields.constant().rotate_left(HALF.into()) == of.fields.constant() => {
                    ways.exits.push(cold.jmp_open());
                }
                None => {}
            }
        }
        encode::copy(cold, b, r, bytes);
        encode::shift(cold, Shift::Left, b, of.upper(), bytes);
        ways.clear.push(cold.jcc_open(EQUAL));
        encode::increment(cold, counter);
        self.note_taken(of, free);
    }

    /// Computes the result, and the shadow that it has.
    fn changed(&mut self, of: &Rescaling<'_>, free: Free) -> Ways {
        let mut ways = Ways::default();
        let Fields { does, to, first, other, bytes } = *of.fields;
        let Free { r, b, .. } = free;
        let (to, cold) = (self.cell(to), &mut self.out.cold);
        encode::copy(cold, r, first, bytes);
        match (does, of.fields.alu(), other) {
            (Does::Move(by, count), ..) => {
                encode::shift(cold, by, r, count, bytes);
                self.moved(of, free, &mut ways);
            }
            (_, Some(by), Other::Register(other)) => encode::alu(cold, by, r, other, bytes),
            (_, Some(by), Other::Constant(value)) => encode::alu_constant(cold, by, r, value, bytes),
            // No digit is left, nor was there one of a zero, which is what may be left of others.
            _ => {
                encode::alu(cold, Alu::Add, r, r, bytes);
                ways.exits.push(cold.jcc_open(EQUAL));
                encode::store_zero(cold, to, 8);
            }
        }
        if matches!(does, Does::Move(..) | Does::DropDigits) {
            return ways;
        }
        match does {
            Does::Cut if self.cuts_all(of, free, &mut ways) => return ways,
            Does::Join | Does::Add => self.leave_bytes(of, free, &mut ways),
            Does::Flip => {
                let done = self.flipped(of, free, &mut ways);
                self.rescaled(of, free, &mut ways);
                let here = self.out.cold.here();
                self.out.cold.patch(done, here);
                return ways;
            }
            _ => {}
        }
        let cold = &mut self.out.cold;
        encode::copy(cold, b, r, bytes);
        encode::alu(cold, Alu::Xor, b, of.float, bytes);
        self.compare_fields(of, free, &mut ways);
        self.rescaled(of, free, &mut ways);
        ways
    }

    /// A shift by which digits go elsewhere; that they are where they were, or all gone, is for the engine to see.
    fn moved(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        /// Bound of what may be left of sign and exponent, as an integer.
        const LEFT: i32 = 1 << 12;
        let Free { r, b, .. } = free;
        let (to, bytes) = (self.cell(of.fields.to), of.fields.bytes);
        let counter = Mem::rip(self.frame.field(Context::OFFSET_COUNTS + 8 * u32::from(of.number)));
        let cold = &mut self.out.cold;
        encode::copy(cold, b, r, bytes);
        encode::alu_constant(cold, Alu::Add, b, LEFT, bytes);
        encode::shift(cold, Shift::Right, b, LEFT.ilog2() as u8 + 1, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::copy(cold, b, r, bytes);
        encode::alu(cold, Alu::Xor, b, of.float, bytes);
        encode::shift(cold, Shift::Left, b, of.upper(), bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::increment(cold, counter);
        self.note_taken(of, free);
        encode::store_zero(&mut self.out.cold, to, 8);
    }

    /// Notes the float for whoever looks for it in the program's texts. The two registers that are not the result's are others then.
    fn note_taken(&mut self, of: &Rescaling<'_>, Free { b, c, .. }: Free) {
        const ENTRY: usize = size_of::<[u64; 4]>();
        let cell = self.cell(of.float);
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
        encode::store(cold, word(0), of.float, 8);
        encode::load(cold, c, cell, 8);
        encode::store(cold, word(1), c, 8);
        cold.mov_imm(c, of.number.into());
        encode::store(cold, word(2), c, 8);
        cold.mov_imm(c, of.fields.bytes as u64);
        encode::store(cold, word(3), c, 8);
        encode::increment(cold, next);
    }

    /// Looks at a mask: one of whole bytes is the engine's, and so is a zero that is masked. True if it is known to let no digit
    /// through.
    fn cuts_all(&mut self, of: &Rescaling<'_>, Free { b, c, .. }: Free, ways: &mut Ways) -> bool {
        /// The lowest bit of each byte.
        const LOWEST: u64 = 0x0101_0101_0101_0101;
        let bytes = of.fields.bytes;
        let cold = &mut self.out.cold;
        encode::copy(cold, b, of.float, bytes);
        encode::alu(cold, Alu::Add, b, b, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        let Some(mask) = of.other() else {
            let is_all = of.fields.constant() << (64 - of.fields.digits()) == 0;
            if is_all {
                let cleared = if of.is_whole { &mut ways.exits } else { &mut ways.clear };
                cleared.push(cold.jmp_open());
            }
            return is_all;
        };
        cold.mov_imm(c, LOWEST);
        encode::copy(cold, b, mask, bytes);
        encode::alu(cold, Alu::And, b, c, 8);
        encode::multiply(cold, b, b, u8::MAX.into());
        encode::alu(cold, Alu::Compare, b, mask, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::copy(cold, b, mask, bytes);
        encode::shift(cold, Shift::Left, b, of.upper(), bytes);
        let cleared = if of.is_whole { &mut ways.exits } else { &mut ways.clear };
        cleared.push(cold.jcc_open(EQUAL));
        false
    }

    /// Leaves a sum or disjunction to the engine that may put bytes beside bytes: not where both have their last, or something
    /// is for the exponent alone of a float that has one.
    fn leave_bytes(&mut self, of: &Rescaling<'_>, Free { b, .. }: Free, ways: &mut Ways) {
        let (bytes, width) = (of.fields.bytes, of.fields.width());
        let mut both = None;
        let cold = &mut self.out.cold;
        match of.other() {
            Some(other) => {
                encode::copy(cold, b, other, bytes);
                encode::shift(cold, Shift::Right, b, width - 8, bytes);
                both = Some(cold.jcc_open(NOT_EQUAL));
                encode::copy(cold, b, other, bytes);
                encode::shift(cold, Shift::Left, b, of.upper(), bytes);
                ways.exits.push(cold.jcc_open(NOT_EQUAL));
            }
            None if of.fields.upper_byte(of.fields.constant()) != 0 => return,
            None => {}
        }
        self.exponent(of, of.float, b);
        let cold = &mut self.out.cold;
        ways.exits.push(cold.jcc_open(EQUAL));
        let here = cold.here();
        both.into_iter().for_each(|field| cold.patch(field, here));
    }

    /// Exponent of `float` in `to`; the flags say whether it is zero.
    fn exponent(&mut self, of: &Rescaling<'_>, float: Gpr, to: Gpr) {
        let bytes = of.fields.bytes;
        encode::copy(&mut self.out.cold, to, float, bytes);
        encode::shift(&mut self.out.cold, Shift::Right, to, of.fields.digits(), bytes);
        encode::alu_constant(&mut self.out.cold, Alu::And, to, of.fields.largest(), bytes);
    }

    /// A disjunction of one or the other: what turns the sign alone goes on with power 0; otherwise the shadow is kept as it is,
    /// and the jump returned taken.
    fn flipped(&mut self, of: &Rescaling<'_>, Free { r, b, c }: Free, ways: &mut Ways) -> Rel32 {
        let (bytes, from, to) = (of.fields.bytes, self.cell(of.float), self.cell(of.fields.to));
        let cold = &mut self.out.cold;
        encode::copy(cold, c, r, bytes);
        encode::alu(cold, Alu::Xor, c, of.float, bytes);
        if bytes == 8 {
            // The signs of two narrow floats.
            encode::alu_constant(cold, Alu::Compare, c, i32::MIN, 4);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        encode::alu(cold, Alu::Add, c, c, bytes);
        let turns = cold.jcc_open(EQUAL);
        // The sign, and more.
        ways.exits.push(cold.jcc_open(CARRY));
        encode::load(cold, b, from, bytes);
        encode::store(cold, to, b, 8);
        let done = cold.jmp_open();
        let here = cold.here();
        cold.patch(turns, here);
        done
    }

    /// With the difference of float and result in `b`: leaves in `c` the power of two between them. It exits where the
    /// digits differ, and do not move along as in a sum, and what has no exponent.
    fn compare_fields(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        let Free { r, b, c } = free;
        let Fields { does, bytes, .. } = *of.fields;
        let (largest, bias) = (of.fields.largest(), (of.fields.largest() / 2) as u64);
        let cold = &mut self.out.cold;
        // A narrow sum may be that of the upper half of a double.
        if bytes == 4 || matches!(does, Does::Cut | Does::Join) {
            encode::copy(cold, c, b, bytes);
            encode::shift(cold, Shift::Left, c, of.upper(), bytes);
            let field = cold.jcc_open(NOT_EQUAL);
            if does == Does::Cut && !of.is_whole { &mut ways.lost } else { &mut ways.exits }.push(field);
        }
        encode::copy(cold, c, b, bytes);
        encode::alu(cold, Alu::Add, c, c, bytes);
        let sign_alone = cold.jcc_open(EQUAL);
        for (float, exponent) in [(of.float, b), (r, c)] {
            self.exponent(of, float, exponent);
            let cold = &mut self.out.cold;
            let normal = cold.jcc_open(NOT_EQUAL);
            if float == r {
                encode::copy(cold, exponent, r, bytes);
                encode::alu(cold, Alu::Add, exponent, exponent, bytes);
                ways.exits.push(cold.jcc_open(EQUAL));
                if does == Does::Cut {
                    let aside = Mem::rip(self.frame.field(Context::OFFSET_TAKEN_ASIDE));
                    encode::store(cold, aside, b, 8);
                    self.note_taken(of, free);
                    encode::load(&mut self.out.cold, b, aside, 8);
                }
            }
            // A significand on its own is one in [1, 2).
            let cold = &mut self.out.cold;
            cold.mov_imm(exponent, bias);
            let here = cold.here();
            cold.patch(normal, here);
            encode::alu_constant(cold, Alu::Compare, exponent, largest, bytes);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        let cold = &mut self.out.cold;
        encode::alu(cold, Alu::Subtract, c, b, 8);
        let here = cold.here();
        cold.patch(sign_alone, here);
    }

    /// Stores the shadow with another exponent, by the power in `c`, and another sign if the result has. Those without an exponent
    /// are the engine's.
    fn rescaled(&mut self, of: &Rescaling<'_>, Free { r, b, c }: Free, ways: &mut Ways) {
        let (bytes, digits, width) = (of.fields.bytes, of.fields.digits(), of.fields.width());
        let (from, to, largest) = (self.cell(of.float), self.cell(of.fields.to), of.fields.largest());
        let cold = &mut self.out.cold;
        encode::load(cold, b, from, bytes);
        encode::alu(cold, Alu::Xor, r, of.float, bytes);
        encode::shift(cold, Shift::Right, r, width - 1, bytes);
        encode::shift(cold, Shift::Left, r, width - 1, bytes);
        encode::alu(cold, Alu::Xor, b, r, bytes);
        self.exponent(of, b, r);
        let cold = &mut self.out.cold;
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::alu_constant(cold, Alu::Compare, r, largest, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
        encode::alu(cold, Alu::Add, r, c, 8);
        encode::alu_constant(cold, Alu::Subtract, r, 1, 8);
        encode::alu_constant(cold, Alu::Compare, r, largest - 1, 8);
        ways.exits.push(cold.jcc_open(ABOVE_OR_EQUAL));
        encode::shift(cold, Shift::Left, c, digits, 8);
        encode::alu(cold, Alu::Add, b, c, bytes);
        if of.is_whole {
            // The mark of a lower part without an end.
            encode::copy(cold, r, b, 8);
            let above = 64 - (width - 16);
            encode::shift(cold, Shift::Left, r, above, 8);
            encode::shift(cold, Shift::Right, r, above, 8);
            encode::alu_constant(cold, Alu::Compare, r, 1, 8);
            ways.exits.push(cold.jcc_open(EQUAL));
        }
        encode::store(cold, to, b, 8);
    }
}
