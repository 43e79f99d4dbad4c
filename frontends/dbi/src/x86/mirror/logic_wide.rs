//! Bitwise logic of a guest that uses AVX-512 itself: signs turned over, cut off or set, of one operand in each lane that has a shadow.
//!
//! Knows instructions without a mask. One with a lane that has digits of more operands with a shadow, or only some of one's, is left to
//! the engine.

use super::check::Source;
use super::logic::{Lanes, TURN};
use super::{At, Settings};
use crate::context::SPILL_SLOTS;
use crate::x86::access;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Form, Length, Place, Vector, forms};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;

/// Mask registers: lanes whose first operand has a shadow, lanes with one, lanes that the engine is to see.
const FIRST: u8 = 1;
const SOME: u8 = 2;
const LEFT: [u8; 2] = [3, 4];

/// Operands of such an instruction, in registers.
struct Operands {
    /// Values.
    x: [u8; 2],
    /// Shadows; nothing for memory that has none.
    shadows: [Option<u8>; 2],
}

/// Tells whether instructions like this one are known.
pub(super) fn is_known(insn: &Instruction) -> bool {
    matches!(insn.encoding(), EncodingKind::VEX | EncodingKind::EVEX)
        && insn.op_count() == 3
        && !(insn.is_broadcast() && insn.op0_register().is_xmm())
}

impl Emitter {
    /// Such an instruction on registers `d` and `a`, and register `b` or memory.
    pub(super) fn logic_wide(
        &mut self,
        at: At<'_>,
        lanes: Lanes,
        form: Form,
        [d, a]: [u8; 2],
        b: Option<u8>,
    ) {
        let operands = self.logic_operands(at, lanes, a, b);
        let [float, other, shadow, result] = std::array::from_fn(|_| self.another_temporary());
        let kept = self.spill_slot(SPILL_SLOTS - 1);
        // The first place is free, and those behind the masks.
        let left = [kept, kept.plus(8 * 5)];
        self.keeping_masks(|e| {
            e.active_operand(lanes, form, &operands, [float, other, shadow]);
            e.turned_shadow(lanes, form, &operands, [float, other, shadow, result]);
            for (mask, place) in LEFT.into_iter().zip(left) {
                let store =
                    Vector::unary(forms::MASK_STORE, Format::F64, Length::B16, mask, Place::Mem(place));
                e.out.hot.vector(store);
            }
        });
        self.check(at, &left.map(|mem| Source::Memory(mem, 8)));
        self.guest(at);
        self.put_shadow(d, result);
    }

    /// The operands and their shadows, loaded.
    fn logic_operands(&mut self, at: At<'_>, lanes: Lanes, a: u8, b: Option<u8>) -> Operands {
        let insn = &at.insn().decoded;
        let first = self.shadow_loaded(lanes, a);
        let Some(b) = b else {
            self.note_spilled(at.index);
            let value = self.guest_operand(insn);
            let mirror = self.mirror_memory(insn);
            let [x, shadow] = [Some(value), mirror].map(|mem| {
                mem.map(|mem| {
                    let to = self.another_temporary();
                    self.out.hot.vector(operand_load(insn, lanes, to, Place::Mem(mem)));
                    to
                })
            });
            return Operands { x: [a, x.expect("a value")], shadows: [Some(first), shadow] };
        };
        Operands { x: [a, b], shadows: [Some(first), Some(self.shadow_loaded(lanes, b))] }
    }

    /// The shadow of vector register `n` in a register that is not to be changed.
    fn shadow_loaded(&mut self, lanes: Lanes, n: u8) -> u8 {
        match self.shadow_value(n) {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let to = self.another_temporary();
                self.out.hot.vector_load(to, mem, lanes.bytes);
                to
            }
        }
    }

    /// Of each lane: the operand that has a shadow, the other one, and the shadow. Lanes in which both have one are left.
    fn active_operand(
        &mut self,
        lanes: Lanes,
        form: Form,
        operands: &Operands,
        [float, other, shadow]: [u8; 3],
    ) {
        let Operands { x: [a, b], shadows: [first, second] } = *operands;
        let first = first.expect("the shadow of a register");
        let test = |to, n| lanes.vector(forms::TEST, [to, n], Place::Reg(n));
        let moved = |to, from| lanes.vector(forms::MOVE, [to, 0], Place::Reg(from));
        let hot = &mut self.out.hot;
        hot.vector(test(FIRST, first));
        hot.vector(moved(float, b));
        hot.vector(moved(float, a).masked(FIRST));
        hot.vector(moved(other, a));
        hot.vector(moved(other, b).masked(FIRST));
        hot.vector(match second {
            Some(second) => lanes.vector(forms::OR, [shadow, first], Place::Reg(second)),
            None => moved(shadow, first),
        });
        // Of the complement of a float nothing is known.
        hot.vector(match second {
            _ if form == forms::AND_NOT => test(LEFT[0], first),
            Some(second) => test(LEFT[0], second).masked(FIRST),
            None => lanes.vector(forms::TEST_NOT, [LEFT[0], first], Place::Reg(first)).masked(FIRST),
        });
        hot.vector(test(SOME, shadow));
    }

    /// Makes `result` the shadow with the sign that the float has in the result of `form`. Lanes in which more than a sign is changed
    /// are left, and where errors count, those in which the real is on the other side of zero.
    fn turned_shadow(
        &mut self,
        lanes: Lanes,
        form: Form,
        operands: &Operands,
        [float, other, shadow, result]: [u8; 4],
    ) {
        let constants = Constants::at(self.mirror().settings.constants);
        let [sign, magnitude] =
            [constants.sign(lanes.format), constants.magnitude(lanes.format)].map(Place::Mem);
        let [a, b] = operands.x;
        let cuts = form == forms::AND || form == forms::AND_NOT;
        if cuts {
            // What is cut counts, be it zero.
            let cut = if form == forms::AND { forms::AND_NOT } else { forms::AND };
            self.out.hot.vector(lanes.vector(cut, [other, other], magnitude));
        }
        if cuts && self.mirror().settings.policy.is_born {
            let temps = [result, self.another_temporary(), self.another_temporary()];
            let beyond = self.beyond_zero(lanes, form, [shadow, a], Place::Reg(b), temps);
            self.out.hot.vector(lanes.vector(forms::AND, [beyond, beyond], sign));
            self.out.hot.vector(lanes.vector(forms::OR, [other, other], Place::Reg(beyond)));
        }
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(form, [result, a], Place::Reg(b)));
        hot.vector(lanes.vector(forms::XOR, [result, result], Place::Reg(float)));
        hot.vector(if cuts {
            lanes.vector(forms::TEST, [LEFT[1], other], Place::Reg(other)).masked(SOME)
        } else {
            lanes.vector(forms::TEST, [LEFT[1], result], magnitude).masked(SOME)
        });
        let turn = lanes.vector(forms::TERNARY, [result, shadow], sign).immediate(TURN);
        hot.vector(turn.masked(SOME).zeroing());
    }
}

impl Emitter {
    /// Any function of three operands, on lanes of `format`. A lane of the result that is one operand but for its sign has that one's
    /// shadow, if it has all its digits and none of another's.
    pub(super) fn ternary_wide(&mut self, at: At<'_>, format: Format) {
        let insn = &at.insn().decoded;
        let Settings { records, wide, .. } = self.mirror().settings;
        if !wide || records || !is_known_ternary(insn) {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let bytes = insn.op0_register().size() as u8;
        let lanes = Lanes { format, length: Length::of(bytes), bytes, typed: true };
        let [d, a] = [0, 1].map(|n| insn.op_register(n).number() as u8);
        let b = (insn.op2_kind() == OpKind::Register).then(|| insn.op2_register().number() as u8);
        let table = insn.immediate8();
        let destination = self.shadow_loaded(lanes, d);
        let Operands { x: [a, b], shadows: [first, second] } = self.logic_operands(at, lanes, a, b);
        let [result, turned, shadow, left] = std::array::from_fn(|_| self.another_temporary());
        let is_born = self.mirror().settings.policy.is_born;
        let spare = is_born.then(|| [self.another_temporary(), self.another_temporary()]);
        let kept = self.spill_slot(SPILL_SLOTS - 1);
        self.keeping_masks(|e| {
            e.out.hot.vector(lanes.vector(forms::MOVE, [result, 0], Place::Reg(d)));
            let made = lanes.vector(forms::TERNARY, [result, a], Place::Reg(b)).immediate(table);
            e.out.hot.vector(made);
            [shadow, left].into_iter().for_each(|register| e.zero(register));
            let operands = [(d, Some(destination)), (a, first), (b, second)];
            for (n, (x, own)) in operands.into_iter().enumerate() {
                let Some(own) = own else { continue };
                e.out.hot.vector(lanes.vector(forms::MOVE, [turned, 0], Place::Reg(d)));
                let other = lanes.vector(forms::TERNARY, [turned, a], Place::Reg(b));
                e.out.hot.vector(other.immediate(complemented(table, n)));
                e.taken_shadow(lanes, [x, own], [result, turned, shadow, left], spare);
            }
            e.out.hot.vector(lanes.vector(forms::TEST, [FIRST, left], Place::Reg(left)));
            let place = Place::Mem(kept);
            e.out.hot.vector(Vector::unary(forms::MASK_STORE, Format::F64, Length::B16, FIRST, place));
        });
        self.check(at, &[Source::Memory(kept, 8)]);
        self.guest(at);
        self.put_shadow(d, shadow);
        self.close_operand();
    }

    /// Takes the shadow of operand `x` over, in lanes of `shadow` where there is none, with the sign that the operand has in the result;
    /// `other` is what would have been made of its complement. Sets bits in lanes that are `left`. `spare`: those are left too whose real
    /// may have another sign.
    fn taken_shadow(
        &mut self,
        lanes: Lanes,
        [x, own]: [u8; 2],
        [result, other, shadow, left]: [u8; 4],
        spare: Option<[u8; 2]>,
    ) {
        let constants = Constants::at(self.mirror().settings.constants);
        let [sign, magnitude] =
            [constants.sign(lanes.format), constants.magnitude(lanes.format)].map(Place::Mem);
        let xor = |second, rm| lanes.vector(forms::XOR, [other, second], Place::Reg(rm));
        let hot = &mut self.out.hot;
        // What the result has no digits of is not chosen, or gives a sign.
        hot.vector(xor(other, result));
        hot.vector(lanes.vector(forms::TEST, [SOME, other], magnitude));
        hot.vector(lanes.vector(forms::TEST, [SOME, own], Place::Reg(own)).masked(SOME));
        if let Some(spare) = spare {
            self.leave_beyond(lanes, [x, own], left, spare);
        }
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::TEST, [LEFT[0], shadow], Place::Reg(shadow)).masked(SOME));
        hot.vector(lanes.vector(forms::OR, [left, left], magnitude).masked(LEFT[0]));
        // All digits turn over with the operand's, and are the same.
        hot.vector(lanes.vector(forms::AND_NOT, [other, other], magnitude));
        hot.vector(lanes.vector(forms::OR, [left, left], Place::Reg(other)).masked(SOME));
        hot.vector(xor(result, x));
        hot.vector(lanes.vector(forms::TEST, [LEFT[0], other], magnitude).masked(SOME));
        hot.vector(lanes.vector(forms::OR, [left, left], magnitude).masked(LEFT[0]));
        hot.vector(lanes.vector(forms::TERNARY, [other, own], sign).immediate(TURN));
        hot.vector(lanes.vector(forms::MOVE, [shadow, 0], Place::Reg(other)).masked(SOME));
    }

    /// Sets bits in lanes that are `left`, those among mask `SOME` in which what is to be added to `x` is larger than that: the real may
    /// be on the other side of zero.
    fn leave_beyond(&mut self, lanes: Lanes, [x, error]: [u8; 2], left: u8, [rest, size]: [u8; 2]) {
        let constants = Constants::at(self.mirror().settings.constants);
        let [sign, magnitude] =
            [constants.sign(lanes.format), constants.magnitude(lanes.format)].map(Place::Mem);
        let add = if lanes.format == Format::F32 { forms::ADD_32 } else { forms::ADD_64 };
        let hot = &mut self.out.hot;
        // What is less than all bits but the sign by one size, and the other: together they reach the sign.
        hot.vector(lanes.vector(forms::AND_NOT, [rest, x], magnitude));
        hot.vector(lanes.vector(forms::AND, [size, error], magnitude));
        hot.vector(lanes.vector(add, [rest, rest], Place::Reg(size)));
        hot.vector(lanes.vector(forms::TEST, [LEFT[0], rest], sign).masked(SOME));
        hot.vector(lanes.vector(forms::OR, [left, left], magnitude).masked(LEFT[0]));
    }
}

/// Tells whether instructions like this function of three operands are known.
fn is_known_ternary(insn: &Instruction) -> bool {
    let is_short = insn.is_broadcast() && insn.op0_register().is_xmm();
    !is_short && !access::works_otherwise(insn)
}

/// The table of the function of the complement of operand `n`.
fn complemented(table: u8, n: usize) -> u8 {
    let bit = 4 >> n;
    (0..8).fold(0, |made, index| made | (table >> (index ^ bit) & 1) << index)
}

/// The load of the operand in memory.
fn operand_load(insn: &Instruction, lanes: Lanes, to: u8, mem: Place) -> Vector {
    let form = if insn.is_broadcast() { forms::broadcast(lanes.format) } else { forms::LOAD };
    Vector::unary(form, lanes.format, lanes.length, to, mem)
}
