//! Bitwise logic on vector registers: signs turned over or cut off, and selections by masks.
//!
//! A lane of the result that is an operand keeps its shadow, one that is an operand with the other sign has the shadow
//! so too, one that is not selected has none. Whatever else carries a shadow is left to the engine.

use super::check::Source;
use super::operand;
use super::temporaries::UPPER;
use super::{At, Settings, logic_wide};
use crate::x86::access;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::table::{self, Integral};
use crate::x86::vector::{Form, Length, Place, Vector, forms};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;

/// The bits of `reg` that are in `rm` too, exclusive or `second`: a truth table over the three.
pub(super) const TURN: u8 = 0x6c;
/// The bits of the destination that are not in `rm`.
const WITHOUT: u8 = 0x50;
/// The bits that are not in `rm`.
const NOT: u8 = 0x55;

/// Mask registers: lanes that are ±first operand, lanes that are ±second operand, lanes with a bit.
const FIRST: u8 = 1;
const SECOND: u8 = 2;
const SOME: u8 = 3;

const TEMPORARY: u8 = UPPER[0];
const SECOND_TEMPORARY: u8 = UPPER[1];

/// Lanes as a bitwise instruction has them.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) format: Format,
    pub(super) length: Length,
    pub(super) bytes: u8,
    /// True if they are known to be floats of this format.
    pub(super) typed: bool,
}

impl Lanes {
    pub(super) fn vector(self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, self.format, self.length, operands, rm)
    }

    /// Tells whether a lane that `form`, no conjunction, makes zero is nothing, although an operand has a shadow.
    /// Exclusive disjunction of equals is undone by another.
    pub(super) fn may_be_nothing(self, form: Form) -> bool {
        self.typed && form != forms::XOR
    }
}

impl Emitter {
    /// A bitwise instruction on lanes of `format`.
    pub(super) fn logic(&mut self, at: At<'_>, by: Integral, lanes: table::Lanes) {
        let insn = &at.insn().decoded;
        let Some((form, d, a)) = parts(insn, by) else { return self.checked(at) };
        let last = insn.op_count() - 1;
        let b = (insn.op_kind(last) == OpKind::Register).then(|| insn.op_register(last).number() as u8);
        if b == Some(a) && by.clears_equals() {
            self.guest(at);
            return self.clear_vector(d);
        }
        if self.mirror().settings.records && self.selects(at, form, [d, a], b) {
            return;
        }
        let is_evex = insn.encoding() == EncodingKind::EVEX;
        let upper = self.has_upper();
        let held = if upper { self.mirror().settings.in_registers } else { u8::MAX };
        // A register whose shadow is in memory may be a mask: then it has none.
        let (value, b, mask) = match b {
            Some(mask) if a < held && mask >= held => (a, None, Some(mask)),
            Some(b) if b < held && a >= held && form != forms::AND_NOT => (b, None, Some(a)),
            _ => (a, b, None),
        };
        let all_held = value < held && b.is_none_or(|b| b < held);
        let Settings { records, .. } = self.mirror().settings;
        let wide = !upper && self.mirror().settings.wide;
        // A sign that is set or cleared is the real's as well, which may be on the other side of zero.
        let typed = lanes != table::Lanes::Untyped;
        let stops = records && (!typed || form != forms::XOR);
        // A mask is kept for later, as a rule.
        let (float, by) = match b.or(mask) {
            Some(by) if by == d && value != d => (by, Some(value)),
            by => (value, by),
        };
        if records && form == forms::AND && self.magnitude(at, float, by) {
            return;
        }
        let is_known = if wide { logic_wide::is_known(insn) } else { all_held && !is_evex };
        if !is_known || stops {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let bytes = insn.op0_register().size() as u8;
        // Instructions for narrow floats are used on wide ones, too, being shorter. A wide float's handle is in the half
        // of its cell that has not the sign: as wide lanes, narrow ones keep their shadows or are left to the engine.
        let format = if records { Format::F64 } else { lanes.format() };
        let lanes = Lanes { format, length: Length::of(bytes), bytes, typed };
        if wide {
            self.logic_wide(at, lanes, form, [d, value], b);
            return self.close_operand();
        }
        if operand::has_memory(insn) {
            // A constant, as a rule.
            let sources: Vec<_> = self.memory_source(insn).into_iter().collect();
            self.check(at, &sources);
        }
        self.check(at, mask.map(Source::Vector).as_slice());
        let rm = b.or(mask).map_or_else(|| Place::Mem(self.guest_operand(insn)), Place::Reg);
        if upper {
            self.logic_upper(at, lanes, form, [d, value], b, rm);
        } else {
            self.logic_lower(at, lanes, form, [d, value], b, rm);
        }
        self.close_operand();
    }

    /// With AVX-512.
    fn logic_upper(
        &mut self,
        at: At<'_>,
        lanes: Lanes,
        form: Form,
        [d, a]: [u8; 2],
        b: Option<u8>,
        rm: Place,
    ) {
        let shadow = if form == forms::AND || form == forms::AND_NOT {
            let shadow = self.let_through(at, lanes, form, (a, b), rm);
            if self.mirror().settings.policy.is_born {
                self.check_sides_upper(at, lanes, form, a, rm);
            }
            shadow
        } else {
            self.out.hot.vector(lanes.vector(form, [TEMPORARY, a], rm));
            let some = self.concerned(lanes, form);
            let shadow = match b {
                Some(b) => self.of_two(lanes, form, a, b, some),
                None => self.of_one(lanes, a, some),
            };
            self.check_mask(at);
            shadow
        };
        self.guest(at);
        match self.shadow_place(d) {
            Place::Reg(place) => self.move_shadow(place, shadow, lanes.bytes),
            Place::Mem(_) => self.put_shadow(d, shadow),
        }
    }

    /// The mask register of the lanes that need a shadow if an operand has one; 0 for all. With the result in the
    /// temporary.
    fn concerned(&mut self, lanes: Lanes, form: Form) -> u8 {
        if !lanes.may_be_nothing(form) {
            return 0;
        }
        let test = lanes.vector(forms::TEST, [SOME, TEMPORARY], Place::Reg(TEMPORARY));
        self.out.hot.vector(test);
        SOME
    }

    /// The shadow of the conjunction of register `a` or its complement and `rm`, which is register `b` or has no shadow: a
    /// lane is let through, but perhaps for its sign, or nothing of it but that is; what is cut is left to the engine.
    fn let_through(
        &mut self,
        at: At<'_>,
        lanes: Lanes,
        form: Form,
        (a, b): (u8, Option<u8>),
        rm: Place,
    ) -> u8 {
        if form == forms::AND {
            self.covered_by(lanes, a, rm);
            self.kept_lanes(lanes, form, [a, a], rm, TEMPORARY, FIRST);
            let mask = self.mask_operand(lanes, rm);
            self.check_cut(at, lanes, a, mask, TEMPORARY);
            let Some(b) = b else { return TEMPORARY };
            self.covered_by(lanes, b, Place::Reg(a));
            self.kept_lanes(lanes, form, [a, b], rm, SECOND_TEMPORARY, FIRST);
            self.check_cut(at, lanes, b, a, SECOND_TEMPORARY);
            let nothing = lanes.vector(forms::OR, [TEMPORARY; 2], Place::Reg(SECOND_TEMPORARY));
            self.out.hot.vector(nothing);
            return TEMPORARY;
        }
        let magnitude = Place::Mem(Constants::at(self.mirror().settings.constants).magnitude(lanes.format));
        if let Some(b) = b {
            self.out.hot.vector(lanes.vector(forms::TEST_NOT, [FIRST, a], magnitude));
            self.kept_lanes(lanes, form, [a, b], rm, TEMPORARY, FIRST);
            let complement = lanes.vector(forms::TERNARY, [SECOND_TEMPORARY, a], Place::Reg(a));
            self.out.hot.vector(complement.immediate(NOT));
            self.check_cut(at, lanes, b, SECOND_TEMPORARY, TEMPORARY);
        } else {
            self.zero(TEMPORARY);
        }
        // A mask is no float.
        let masked = self.mask_operand(lanes, rm);
        self.out.hot.vector(lanes.vector(forms::TEST, [SOME, masked], Place::Reg(masked)));
        self.out.hot.vector(lanes.vector(forms::TEST, [FIRST, 16 + a], Place::Reg(16 + a)).masked(SOME));
        self.check_mask(at);
        TEMPORARY
    }

    /// With the shadow of a conjunction of register `a` and `rm` in the temporary: leaves the instruction to the engine where that
    /// is what is to be added to the result, and the sum is on the other side of zero.
    fn check_sides_upper(&mut self, at: At<'_>, lanes: Lanes, form: Form, a: u8, rm: Place) {
        let temps = self.upper_temporaries();
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(lanes.format));
        let beyond = self.beyond_zero(lanes, form, [TEMPORARY, a], rm, [temps[1], temps[2], temps[3]]);
        self.out.hot.vector(lanes.vector(forms::TEST, [FIRST, beyond], sign));
        self.check_mask(at);
    }

    /// Sets the sign of the lanes in which `shadow` is larger than what `form` makes of register `a` and `rm`, and has another
    /// sign, in the first of three temporaries.
    pub(super) fn beyond_zero(
        &mut self,
        lanes: Lanes,
        form: Form,
        [shadow, a]: [u8; 2],
        rm: Place,
        [result, size, signs]: [u8; 3],
    ) -> u8 {
        let magnitude = Place::Mem(Constants::at(self.mirror().settings.constants).magnitude(lanes.format));
        let add = if lanes.format == Format::F32 { forms::ADD_32 } else { forms::ADD_64 };
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(form, [result, a], rm));
        // What is less than all bits but the sign by one size, and the other: together they reach the sign.
        hot.vector(lanes.vector(forms::AND, [size, shadow], magnitude));
        hot.vector(lanes.vector(forms::XOR, [signs, shadow], Place::Reg(result)));
        hot.vector(lanes.vector(forms::AND_NOT, [result, result], magnitude));
        hot.vector(lanes.vector(add, [result, result], Place::Reg(size)));
        hot.vector(lanes.vector(forms::AND, [result, result], Place::Reg(signs)));
        result
    }

    /// The operand in a register.
    fn mask_operand(&mut self, lanes: Lanes, rm: Place) -> u8 {
        match rm {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                self.out.hot.vector_load(SECOND_TEMPORARY, mem, lanes.bytes);
                SECOND_TEMPORARY
            }
        }
    }

    /// Leaves in mask register 1 the lanes in which `mask` lets all of a float through, its sign aside.
    fn covered_by(&mut self, lanes: Lanes, float: u8, mask: Place) {
        let magnitude = Constants::at(self.mirror().settings.constants).magnitude(lanes.format);
        let hot = &mut self.out.hot;
        hot.vector_load(SECOND_TEMPORARY, magnitude, lanes.bytes);
        hot.vector(lanes.vector(forms::TERNARY, [SECOND_TEMPORARY, float], mask).immediate(WITHOUT));
        hot.vector(lanes.vector(forms::TEST_NOT, [FIRST, SECOND_TEMPORARY], Place::Reg(SECOND_TEMPORARY)));
    }

    /// Makes `to` the shadow of register `float` with the sign that it has in the result of `form`, in the lanes of `mask` in
    /// which there is one; `mask` is those lanes then.
    fn kept_lanes(&mut self, lanes: Lanes, form: Form, [a, float]: [u8; 2], rm: Place, to: u8, mask: u8) {
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(lanes.format));
        let shadow = 16 + float;
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::TEST, [mask, shadow], Place::Reg(shadow)).masked(mask));
        hot.vector(lanes.vector(form, [to, a], rm));
        hot.vector(lanes.vector(forms::XOR, [to, to], Place::Reg(float)));
        let turn = lanes.vector(forms::TERNARY, [to, shadow], sign).immediate(TURN);
        hot.vector(turn.masked(mask).zeroing());
    }

    /// Leaves the instruction to the engine if register `float` has a shadow where register `mask` lets something through but the
    /// sign, and `shadow` has nothing.
    fn check_cut(&mut self, at: At<'_>, lanes: Lanes, float: u8, mask: u8, shadow: u8) {
        let own = 16 + float;
        let magnitude = Place::Mem(Constants::at(self.mirror().settings.constants).magnitude(lanes.format));
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::TEST, [SOME, mask], magnitude));
        hot.vector(lanes.vector(forms::TEST, [FIRST, own], Place::Reg(own)).masked(SOME));
        hot.vector(lanes.vector(forms::TEST_NOT, [FIRST, shadow], Place::Reg(shadow)).masked(FIRST));
        self.check_mask(at);
    }

    /// The shadow of what is in the temporary, made of register `a` and something without a shadow. Leaves in mask
    /// register 1 the lanes that are neither, of those in mask `some`.
    fn of_one(&mut self, lanes: Lanes, a: u8, some: u8) -> u8 {
        self.turned(lanes, TEMPORARY, a, FIRST, true);
        self.unclear(lanes, 16 + a, TEMPORARY, some);
        TEMPORARY
    }

    /// The shadow of the temporary, which is made of registers `a` and `b`. Mask register 1 has the lanes among those of
    /// mask register `some` that are neither.
    fn of_two(&mut self, lanes: Lanes, form: Form, a: u8, b: u8, some: u8) -> u8 {
        self.out.hot.vector(lanes.vector(forms::MOVE, [SECOND_TEMPORARY, 0], Place::Reg(TEMPORARY)));
        self.turned(lanes, SECOND_TEMPORARY, b, SECOND, true);
        self.turned(lanes, TEMPORARY, a, FIRST, false);
        let first = lanes.vector(forms::MOVE, [SECOND_TEMPORARY, 0], Place::Reg(TEMPORARY));
        self.out.hot.vector(first.masked(FIRST));
        if form == forms::XOR {
            // What two shadows become is the engine's business.
            let [one, other] = [16 + a, 16 + b]
                .map(|shadow| lanes.vector(forms::TEST, [SECOND, shadow], Place::Reg(shadow)));
            self.out.hot.vector(one);
            self.out.hot.vector(other.masked(SECOND));
            let nothing = [SECOND_TEMPORARY; 2];
            let nothing = lanes.vector(forms::XOR, nothing, Place::Reg(SECOND_TEMPORARY));
            self.out.hot.vector(nothing.masked(SECOND));
        }
        self.out.hot.vector(lanes.vector(forms::OR, [TEMPORARY, 16 + a], Place::Reg(16 + b)));
        self.unclear(lanes, TEMPORARY, SECOND_TEMPORARY, some);
        SECOND_TEMPORARY
    }

    /// Makes of a result in `register` the shadow of `operand`, with the sign it has in the result; in `mask` the lanes
    /// in which the result is ± the operand and the operand has a shadow. `zeroing`: other lanes become zero.
    fn turned(&mut self, lanes: Lanes, register: u8, operand: u8, mask: u8, zeroing: bool) {
        let constants = Constants::at(self.mirror().settings.constants);
        let (sign, magnitude) = (constants.sign(lanes.format), constants.magnitude(lanes.format));
        let shadow = 16 + operand;
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::XOR, [register, register], Place::Reg(operand)));
        hot.vector(lanes.vector(forms::TEST_NOT, [mask, register], Place::Mem(magnitude)));
        hot.vector(lanes.vector(forms::TEST, [mask, shadow], Place::Reg(shadow)).masked(mask));
        let turn =
            lanes.vector(forms::TERNARY, [register, shadow], Place::Mem(sign)).immediate(TURN).masked(mask);
        hot.vector(if zeroing { turn.zeroing() } else { turn });
    }

    /// Leaves in mask register 1 the lanes, of those in mask `some`, that have something in `shadows` and nothing in `shadow`.
    fn unclear(&mut self, lanes: Lanes, shadows: u8, shadow: u8, some: u8) {
        debug_assert!(lanes.bytes >= 16, "logic is packed");
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::TEST, [FIRST, shadows], Place::Reg(shadows)).masked(some));
        hot.vector(lanes.vector(forms::TEST_NOT, [FIRST, shadow], Place::Reg(shadow)).masked(FIRST));
    }
}

/// The operation, the destination and the first operand, of instructions on vector registers without decorations.
fn parts(insn: &Instruction, by: Integral) -> Option<(Form, u8, u8)> {
    let form = match by {
        Integral::And => forms::AND,
        Integral::AndNot => forms::AND_NOT,
        Integral::Or => forms::OR,
        Integral::Xor => forms::XOR,
        _ => return None,
    };
    let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX | EncodingKind::EVEX)
        && !access::works_otherwise(insn);
    let d = insn.op0_register();
    let first = if insn.op_count() > 2 { 1 } else { 0 };
    (plain && d.is_vector_register())
        .then(|| (form, d.number() as u8, insn.op_register(first).number() as u8))
}
