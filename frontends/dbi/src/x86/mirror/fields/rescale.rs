//! Code that changes what is kept beside a float as the float is changed: by exponent and sign, or by whole bytes.

use super::form::{Does, Fields, Other};
use super::instruction::unnamed;
use crate::context::Context;
use crate::x86::asm::{Gpr, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::mirror::encode::{self, ABOVE_OR_EQUAL, Alu, EQUAL, NOT_EQUAL, Shift};
use crate::x86::vector::Mem;
use iced_x86::Instruction;
use shadowgrind_core::tricks::FEW_DIGITS;

/// An instruction of which one operand is a float with a shadow.
pub(super) struct Rescaling<'a> {
    pub(super) insn: &'a Instruction,
    pub(super) fields: &'a Fields,
    pub(super) float: Gpr,
    /// Places of what is kept beside the float, and beside the result, and their sizes in bytes.
    pub(super) kept: (Mem, usize),
    pub(super) result: (Mem, usize),
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
pub(super) struct Ways {
    /// The engine has to do it.
    pub(super) exits: Vec<Rel32>,
    /// Digits go without a shadow, if there are any.
    pub(super) lost: Vec<Rel32>,
    /// The result has no shadow.
    pub(super) clear: Vec<Rel32>,
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
        let mut free = unnamed(|n| self.fields.registers().any(|used| used == n) || self.fields.is_memory(n));
        let [r, b, c] = std::array::from_fn(|_| free.next().expect("an instruction names few registers"));
        Free { r, b, c }
    }

    /// The registers that are other than the guest's, and where those are.
    pub(super) fn spilled(
        &self,
        Free { r, b, c }: Free,
    ) -> impl Iterator<Item = (Gpr, Slot)> + Clone + use<> {
        let loaded = self.fields.loaded.map(|loaded| (loaded.register, Slot::ThirdScratch));
        [r, b, c].into_iter().zip(SLOTS).chain(loaded)
    }

    /// Tells whether the shadow stays in place.
    pub(super) fn is_in_place(&self) -> bool {
        self.float == self.fields.to
    }

    /// Bits above those of the significand.
    pub(super) fn upper(&self) -> u8 {
        self.fields.width() - self.fields.digits()
    }
}

impl Emitter {
    /// Cold code that gives the result the shadow of the float, changed alike, and goes on to the guest's instruction. Of
    /// `others` the engine is asked if one has a shadow as well.
    pub(super) fn rescale(&mut self, of: &Rescaling<'_>, others: &[(Mem, usize)]) {
        let mut early: Vec<Rel32> = self.follow_turned(of).into_iter().collect();
        if let (Does::MoveBytes(by, count), true) = (of.fields.does, of.is_in_place()) {
            let (cell, bytes) = of.kept;
            encode::shift_memory(&mut self.out.cold, by, cell, count, of.fields.bytes);
            if of.fields.bytes < bytes {
                encode::store_zero(&mut self.out.cold, cell.plus(4), 4);
            }
            return self.go_on(of);
        }
        let both: Vec<Rel32> = others.iter().map(|&other| self.exit_unless_clear(other)).collect();
        let is_changed = !matches!(of.fields.does, Does::MoveBytes(..) | Does::CutBytes);
        let mut parts = if is_changed { self.exit_unless_one(of) } else { Vec::new() };
        let free = of.free();
        let spilled = of.spilled(free);
        spilled.clone().for_each(|(n, slot)| self.out.cold.store(self.frame.slot(slot), n));
        if let Some(loaded) = of.fields.loaded {
            self.out.cold.load(loaded.register, self.frame.slot(Slot::Loaded));
        }
        let ways = match of.fields.does {
            Does::MoveBytes(by, count) => {
                encode::load(&mut self.out.cold, free.b, of.kept.0, of.fields.bytes);
                encode::shift(&mut self.out.cold, by, free.b, count, of.fields.bytes);
                self.keep(of, free.b);
                Ways::default()
            }
            Does::CutBytes => {
                let mask = of.fields.mask();
                encode::load(&mut self.out.cold, free.b, of.kept.0, of.fields.bytes);
                encode::alu_constant(&mut self.out.cold, Alu::And, free.b, mask, of.fields.bytes);
                self.keep(of, free.b);
                Ways::default()
            }
            Does::Turn => Ways { exits: self.turn(of, free), ..Ways::default() },
            Does::TurnBack => Ways { exits: self.turn_back(of, free), ..Ways::default() },
            _ => self.changed(of, free),
        };
        self.ends(of, free, ways);
        spilled.for_each(|(n, slot)| self.out.cold.load(n, self.frame.slot(slot)));
        let start = self.out.cold.here();
        if !of.may_be_part() {
            early.append(&mut parts);
        }
        early.into_iter().for_each(|field| self.out.cold.patch(field, start));
        if of.keeps_flags {
            self.put_flags_back();
        }
        self.out.cold.jmp(of.side_exit);
        if !parts.is_empty() {
            self.follow_part(of, parts, start);
        }
        match (of.joined_with(), others) {
            (Some(other), &[(beside, _)]) => self.join_bytes(of, (other, beside), both, start),
            _ => both.into_iter().for_each(|field| self.out.cold.patch(field, start)),
        }
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
        of.spilled(free).for_each(|(n, slot)| self.out.cold.load(n, self.frame.slot(slot)));
        self.go_on(of);
    }

    /// Puts what is in register `from` beside the result.
    pub(super) fn keep(&mut self, of: &Rescaling<'_>, from: Gpr) {
        encode::store(&mut self.out.cold, of.result.0, from, of.result.1);
    }

    /// Leaves nothing beside the result.
    pub(super) fn keep_nothing(&mut self, of: &Rescaling<'_>) {
        encode::store_zero(&mut self.out.cold, of.result.0, of.result.1);
    }

    /// Code after the way on which the shadow is changed: the ways on which there is none any more; that to the engine begins then.
    pub(super) fn ends(&mut self, of: &Rescaling<'_>, free: Free, mut ways: Ways) {
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
            self.keep_nothing(of);
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
        self.count(of.number);
        self.note_taken(of, free);
    }

    /// The instruction itself, on registers: its result is in `r` then.
    pub(super) fn compute(&mut self, of: &Rescaling<'_>, r: Gpr) {
        let Fields { first, other, bytes, takes_carry, .. } = *of.fields;
        if takes_carry {
            self.put_flags_back();
        }
        if let (Some(by), Other::Constant(value)) = (of.fields.alu(), other) {
            // Forms of the accumulator take no other register.
            encode::copy(&mut self.out.cold, r, first, bytes);
            return encode::alu_constant(&mut self.out.cold, by, r, value, bytes);
        }
        if !of.fields.has_source(of.insn) {
            encode::copy(&mut self.out.cold, r, first, bytes);
        }
        let made = of.fields.on_registers(of.insn, r);
        let code = far::encode(&made, &mut self.encoder, self.out.cold.here());
        self.out.cold.raw(&code);
    }

    /// Computes the result, and the shadow that it has.
    fn changed(&mut self, of: &Rescaling<'_>, free: Free) -> Ways {
        let mut ways = Ways::default();
        let Fields { does, bytes, .. } = *of.fields;
        let Free { r, b, .. } = free;
        if does != Does::DropDigits {
            self.compute(of, r);
        }
        if bytes == 4 {
            self.exit_if_for_upper_half(of, free, &mut ways);
        }
        if let (8, Does::Add | Does::Subtract, Some(other)) = (bytes, does, of.other()) {
            self.exit_if_for_exponents(other, b, &mut ways);
        }
        match does {
            Does::DropDigits => {
                self.exit_if_zero(of, b, &mut ways);
                self.keep_nothing(of);
                return ways;
            }
            Does::Move | Does::Double => {
                self.moved(of, free, &mut ways);
                return ways;
            }
            Does::MoveBy(to_right) => {
                self.moved_by(of, free, to_right, &mut ways);
                return ways;
            }
            Does::Multiply | Does::Funnel => {
                if does == Does::Multiply {
                    self.exit_if_one(of, &mut ways);
                } else {
                    self.exit_or_clear_unshifted(of, free, &mut ways);
                }
                self.moved(of, free, &mut ways);
                return ways;
            }
            Does::Extract => self.extracted(of, free, &mut ways),
            Does::Change => self.exit_if_zero(of, b, &mut ways),
            Does::Cut | Does::CutOthers | Does::Gather if self.cuts_all(of, free, &mut ways) => return ways,
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

    /// Exponent of `float` in `to`; the flags say whether it is zero.
    pub(super) fn exponent(&mut self, of: &Rescaling<'_>, float: Gpr, to: Gpr) {
        let bytes = of.fields.bytes;
        encode::copy(&mut self.out.cold, to, float, bytes);
        encode::shift(&mut self.out.cold, Shift::Right, to, of.fields.digits(), bytes);
        encode::alu_constant(&mut self.out.cold, Alu::And, to, of.fields.largest(), bytes);
    }

    /// Exits where so few digits are left that they may be a place in a table, be they all that there were.
    fn exit_if_few_digits(&mut self, of: &Rescaling<'_>, Free { r, c, .. }: Free, ways: &mut Ways) {
        let bytes = of.fields.bytes;
        let cold = &mut self.out.cold;
        encode::copy(cold, c, r, bytes);
        encode::shift(cold, Shift::Left, c, of.upper() + FEW_DIGITS as u8, bytes);
        ways.exits.push(cold.jcc_open(EQUAL));
    }

    /// With the difference of float and result in `b`: leaves in `c` the power of two between them. It exits where the
    /// digits differ, and do not move along as in a sum, and what has no exponent.
    fn compare_fields(&mut self, of: &Rescaling<'_>, free: Free, ways: &mut Ways) {
        let Free { r, b, c } = free;
        let Fields { does, bytes, .. } = *of.fields;
        let (largest, bias) = (of.fields.largest(), (of.fields.largest() / 2) as u64);
        let cuts = matches!(does, Does::Cut | Does::CutOthers | Does::Gather);
        if cuts && of.is_whole {
            self.exit_if_few_digits(of, free, ways);
        }
        if bytes == 8 && does == Does::Cut && !of.is_whole {
            self.exit_if_upper_digits(of, free, ways);
        }
        if bytes == 4 && matches!(does, Does::Add | Does::Subtract) {
            self.exit_if_upper_half(of, free, ways);
        } else if bytes == 4 || cuts || matches!(does, Does::Join | Does::Change) {
            let cold = &mut self.out.cold;
            encode::copy(cold, c, b, bytes);
            encode::shift(cold, Shift::Left, c, of.upper(), bytes);
            let field = cold.jcc_open(NOT_EQUAL);
            if cuts && !of.is_whole { &mut ways.lost } else { &mut ways.exits }.push(field);
        }
        let cold = &mut self.out.cold;
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
                if cuts {
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
        let largest = of.fields.largest();
        encode::load(&mut self.out.cold, b, of.kept.0, bytes);
        self.turn_sign_alike(of, Free { r, b, c });
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
        self.keep(of, b);
    }
}
