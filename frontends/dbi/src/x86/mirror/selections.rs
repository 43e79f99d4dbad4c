//! Selections of recorded floats by masks: bitwise logic on vector registers where each lane of a mask has all bits or none.
//!
//! A handle goes on with its float where the mask lets all of that through, and is gone where it lets nothing through. In a disjunction it
//! goes on where the other operand has nothing. Whatever else carries a shadow is left to the engine. Of a conjunction, the mask
//! is known by the comparison in the same superblock that has made it: what is not made so may be that of a
//! [magnitude](super::magnitude), whose real is asked for its sign.

use super::At;
use super::check::Source;
use crate::x86::access::is_write;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::table::Row;
use crate::x86::vector::{Form, Length, Place, Vector, forms};
use iced_x86::{EncodingKind, OpKind};
use shadowgrind_core::format::Format;

/// Mask register of the lanes that the engine is to see, with AVX-512.
const LEFT: u8 = 1;
/// The bits that are not in the operand: a truth table over three.
const NOT: u8 = 0x55;

/// Operand of such an instruction.
#[derive(Clone, Copy)]
struct Operand {
    value: Place,
    /// Nothing for memory that has none.
    shadow: Option<Place>,
}

/// Instructions on lanes of doubles: a handle that is cut is none, and two in one lane are selected by the same bits or left to the engine.
#[derive(Clone, Copy)]
struct Doubles {
    bytes: u8,
}

impl Doubles {
    fn vector(self, form: Form, operands: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, Format::F64, Length::of(self.bytes), operands, rm)
    }
}

impl Emitter {
    /// The selection by `form` of vector register `a`, and `b` or memory, whose shadow becomes that of register `d`; false if it is not
    /// known to be one.
    pub(super) fn selects(&mut self, at: At<'_>, form: Form, [d, a]: [u8; 2], b: Option<u8>) -> bool {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let spills_whole = self.mirror().settings.wide && !self.has_upper();
        if !plain || spills_whole || b == Some(a) {
            return false;
        }
        let masks_first = match form {
            forms::OR | forms::AND_NOT => true,
            forms::AND if b.is_some_and(|b| self.is_mask(at, b)) => false,
            forms::AND if self.is_mask(at, a) => true,
            _ => return false,
        };
        if !self.open_operand(at) {
            return false;
        }
        let lanes = Doubles { bytes: insn.op0_register().size() as u8 };
        let (first, second) = (self.selected_register(a), self.selected_operand(at, b));
        let kept = match (form, second.value) {
            (forms::OR, _) => self.either(at, lanes, [first, second]),
            (_, Place::Reg(b)) if !masks_first => self.selected_by(at, lanes, form, b, first),
            _ => self.selected_by(at, lanes, form, a, second),
        };
        self.guest(at);
        self.put_shadow(d, kept);
        self.close_operand();
        true
    }

    /// Tells whether an instruction before, in the same superblock, has made vector register `n` by a comparison.
    fn is_mask(&mut self, at: At<'_>, mut n: u8) -> bool {
        for insn in at.block.insns[..at.index].iter().rev().map(|insn| &insn.decoded) {
            let writes = self.facts.info(insn).used_registers().iter().any(|used| {
                let register = used.register();
                register.is_vector_register()
                    && register.number() == usize::from(n)
                    && is_write(used.access())
            });
            if !writes {
                continue;
            }
            match rows::row(insn) {
                Row::Compare(..) => return true,
                Row::Move(..) if insn.op_count() == 2 && insn.op1_kind() == OpKind::Register => {
                    n = insn.op1_register().number() as u8;
                }
                _ => return false,
            }
        }
        false
    }

    fn selected_register(&mut self, n: u8) -> Operand {
        Operand { value: Place::Reg(n), shadow: Some(self.shadow_value(n)) }
    }

    /// The last operand: register `b`, or memory.
    fn selected_operand(&mut self, at: At<'_>, b: Option<u8>) -> Operand {
        let Some(b) = b else {
            let insn = &at.insn().decoded;
            let value = Place::Mem(self.guest_operand(insn));
            return Operand { value, shadow: self.mirror_memory(insn).map(Place::Mem) };
        };
        self.selected_register(b)
    }

    /// The shadow of what mask `mask`, or its complement, lets through of `operand`, in a temporary. Leaves the instruction to the engine
    /// if the mask has a shadow, or cuts one.
    fn selected_by(&mut self, at: At<'_>, lanes: Doubles, form: Form, mask: u8, operand: Operand) -> u8 {
        self.check(at, &[Source::Vector(mask)]);
        let [kept, cut] = self.selection_temporaries();
        let Some(shadow) = operand.shadow else {
            self.zero(kept);
            return kept;
        };
        self.out.hot.vector(lanes.vector(form, [kept, mask], shadow));
        if self.has_upper() {
            let lets = if form == forms::AND { mask } else { cut };
            if form == forms::AND_NOT {
                let complement = lanes.vector(forms::TERNARY, [cut, mask], Place::Reg(mask));
                self.out.hot.vector(complement.immediate(NOT));
            }
            self.out.hot.vector(lanes.vector(forms::TEST, [LEFT, lets], Place::Reg(lets)));
            self.out.hot.vector(lanes.vector(forms::XOR, [cut, kept], shadow));
            self.out.hot.vector(lanes.vector(forms::TEST, [LEFT, cut], Place::Reg(cut)).masked(LEFT));
            self.check_mask(at);
            return kept;
        }
        let lets_nothing = self.temporary(3);
        let nothing = match form {
            forms::AND => Place::Mem(Constants::at(self.mirror().settings.constants).zero()),
            _ => {
                let ones = lanes.vector(forms::EQUAL_64, [lets_nothing; 2], Place::Reg(lets_nothing));
                self.out.hot.vector(ones);
                Place::Reg(lets_nothing)
            }
        };
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::EQUAL_64, [lets_nothing, mask], nothing));
        hot.vector(lanes.vector(forms::XOR, [cut, kept], shadow));
        hot.vector(lanes.vector(forms::AND_NOT, [cut, lets_nothing], Place::Reg(cut)));
        self.check_register(at, cut);
        kept
    }

    /// The shadow of the disjunction of two operands, in a temporary. Leaves the instruction to the engine if both have something in a lane
    /// in which there is a shadow.
    fn either(&mut self, at: At<'_>, lanes: Doubles, operands: [Operand; 2]) -> u8 {
        let [kept, some] = self.selection_temporaries();
        if self.has_upper() {
            for (n, of) in operands.into_iter().enumerate() {
                self.value_or_shadow(lanes, some, of);
                let test = lanes.vector(forms::TEST, [LEFT, some], Place::Reg(some));
                self.out.hot.vector(if n == 0 { test } else { test.masked(LEFT) });
            }
            self.union_of_shadows(lanes, kept, operands);
            self.out.hot.vector(lanes.vector(forms::TEST, [LEFT, kept], Place::Reg(kept)).masked(LEFT));
            self.check_mask(at);
            return kept;
        }
        let nothing = self.temporary(3);
        let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
        self.union_of_shadows(lanes, kept, operands);
        self.out.hot.vector(lanes.vector(forms::EQUAL_64, [nothing, kept], zero));
        for of in operands {
            self.value_or_shadow(lanes, some, of);
            self.out.hot.vector(lanes.vector(forms::EQUAL_64, [some, some], zero));
            self.out.hot.vector(lanes.vector(forms::OR, [nothing, nothing], Place::Reg(some)));
        }
        self.out.hot.vector(lanes.vector(forms::EQUAL_64, [nothing, nothing], zero));
        self.check_register(at, nothing);
        kept
    }

    /// Makes `to` all bits of an operand and of its shadow.
    fn value_or_shadow(&mut self, lanes: Doubles, to: u8, Operand { value, shadow }: Operand) {
        self.load_place(lanes, to, value);
        if let Some(shadow) = shadow {
            self.out.hot.vector(lanes.vector(forms::OR, [to, to], shadow));
        }
    }

    /// Makes `to` all bits of both shadows.
    fn union_of_shadows(&mut self, lanes: Doubles, to: u8, operands: [Operand; 2]) {
        let mut shadows = operands.into_iter().filter_map(|operand| operand.shadow);
        match shadows.next() {
            Some(first) => self.load_place(lanes, to, first),
            None => self.zero(to),
        }
        for shadow in shadows {
            self.out.hot.vector(lanes.vector(forms::OR, [to, to], shadow));
        }
    }

    fn load_place(&mut self, lanes: Doubles, to: u8, from: Place) {
        match from {
            Place::Reg(register) => self.move_shadow(to, register, lanes.bytes),
            Place::Mem(mem) => self.out.hot.vector_load(to, mem, lanes.bytes),
        }
    }

    /// Two temporaries that outlast a check.
    fn selection_temporaries(&mut self) -> [u8; 2] {
        let numbers = if self.has_upper() { [0, 1] } else { [1, 2] };
        numbers.map(|i| self.temporary(i))
    }
}
