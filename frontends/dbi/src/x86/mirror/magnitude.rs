//! Magnitudes of doubles whose shadows are recorded: bitwise conjunctions with all bits but the sign.
//!
//! A float's sign need not be its real's, so that the real is asked for its sign where the record is replayed. Lanes count that have a
//! shadow and are not cleared altogether: if none does, there is no record. Where the mask has anything else in such a lane, or a
//! shadow of its own, the instruction is left to the engine. Knows nothing of narrow floats.

use super::At;
use super::check::Source;
use super::descriptor::{RecordDescriptor, What};
use super::encode;
use super::record::in_record;
use crate::x86::asm::{Gpr, RCX};
use crate::x86::code::{Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Form, Length, Place, Vector, forms};
use iced_x86::EncodingKind;
use shadowgrind_core::format::Format;

/// Mask register of the lanes that count, with AVX-512. Without, the first temporary has all bits of those that do not.
const LANES: u8 = 2;

/// A conjunction of register `a` and a mask, which is register `b` or in memory.
struct Conjunction {
    a: u8,
    b: Option<u8>,
    bytes: u8,
}

impl Conjunction {
    fn vector(&self, form: Form, registers: [u8; 2], rm: Place) -> Vector {
        Vector::new(form, Format::F64, Length::of(self.bytes), registers, rm)
    }
}

impl Emitter {
    /// The conjunction of vector register `a` and the mask in register `b` or in memory, recorded; false if it cannot be.
    pub(super) fn magnitude(&mut self, at: At<'_>, a: u8, b: Option<u8>) -> bool {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let spills_whole = self.mirror().settings.wide && !self.has_upper();
        if !plain || spills_whole || b == Some(a) || !self.open_operand(at) {
            return false;
        }
        let mask_shadow = b.map(Source::Vector).or_else(|| self.memory_source(insn));
        self.check(at, mask_shadow.as_slice());
        let of = Conjunction { a, b, bytes: insn.op0_register().size() as u8 };
        // Both are spilled while nothing else is spilled.
        self.temporary(1);
        self.check_mask_of_magnitudes(at, &of);
        self.record_magnitude(at, &of);
        self.close_operand();
        true
    }

    fn record_magnitude(&mut self, at: At<'_>, of: &Conjunction) {
        let recorded = RecordDescriptor {
            lanes: of.bytes / Format::F64.bytes() as u8,
            ..RecordDescriptor::new(at.insn().pc(), What::Sign, 1, [Format::F64; 2])
        };
        let d = at.insn().decoded.op0_register().number() as u8;
        let pointer = self.other_register(&at.insn().decoded);
        self.begin_record_at(at, recorded, pointer);
        let shadow = self.shadow_value(of.a);
        for (from, to) in [(Place::Reg(of.a), recorded.operand(0)), (shadow, recorded.handles(0))] {
            let selected = self.selected_lanes(of, from);
            self.out.hot.vector_store(in_record(pointer, to), selected, of.bytes);
        }
        self.instruction(at.index, at.insn());
        let spilled = self.spilled(Some(pointer));
        self.note(at.index, spilled);
        let selected = self.selected_lanes(of, Place::Reg(d));
        self.out.hot.vector_store(in_record(pointer, recorded.result()), selected, of.bytes);
        let handles = self.selected_lanes(of, Place::Mem(in_record(pointer, recorded.fresh())));
        self.put_shadow(d, handles);
        self.advance_if_selected(at, of, pointer);
    }

    /// On to the next record if a lane of this one counts. `pointer` is not rcx.
    fn advance_if_selected(&mut self, at: At<'_>, of: &Conjunction, pointer: Gpr) {
        let [scratch, rcx] = [Slot::Scratch, Slot::Rcx].map(|slot| self.frame.slot(slot));
        let lanes = self.temporary(0);
        self.out.hot.store(rcx, RCX);
        let spilled = Spilled { rcx: true, ..self.spilled(Some(pointer)) };
        self.note(at.index, spilled);
        if self.has_upper() {
            encode::lanes_to_rcx(&mut self.out.hot, LANES);
        } else {
            let all = (1 << (of.bytes / Format::F64.bytes() as u8)) - 1;
            self.out.hot.vector(of.vector(forms::SIGNS, [RCX, 0], Place::Reg(lanes)));
            self.out.hot.add_rcx(-all);
        }
        let some = self.out.hot.jump_unless_rcx_is_zero();
        self.out.hot.load(RCX, rcx);
        self.out.hot.load(pointer, scratch);
        let none = self.out.hot.jmp_open();
        let here = self.out.hot.here();
        self.out.hot.patch(some, here);
        self.out.hot.load(RCX, rcx);
        let spilled = self.spilled(Some(pointer));
        self.note(at.index, spilled);
        self.advance(at, pointer);
        let here = self.out.hot.here();
        self.out.hot.patch(none, here);
    }

    /// Leaves the instruction to the engine if the mask is not all bits but the sign in each lane that counts. Finds these.
    fn check_mask_of_magnitudes(&mut self, at: At<'_>, of: &Conjunction) {
        self.find_lanes(at, of);
        let lanes = self.temporary(0);
        let other = self.load_mask(at, of);
        let magnitude = Place::Mem(Constants::at(self.mirror().settings.constants).magnitude(Format::F64));
        let differs = of.vector(forms::XOR, [other; 2], magnitude);
        if self.has_upper() {
            self.out.hot.vector(differs.masked(LANES).zeroing());
            return self.check_register(at, other);
        }
        self.out.hot.vector(differs);
        self.out.hot.vector(of.vector(forms::AND_NOT, [other, lanes], Place::Reg(other)));
        self.check_register(at, other);
        // The check has used the temporary.
        self.find_lanes(at, of);
    }

    /// Finds the lanes that count. Uses both temporaries.
    fn find_lanes(&mut self, at: At<'_>, of: &Conjunction) {
        let (lanes, mask) = (self.temporary(0), self.load_mask(at, of));
        let shadow = self.shadow_value(of.a);
        if self.has_upper() {
            self.out.hot.vector(of.vector(forms::TEST, [LANES, mask], Place::Reg(mask)));
            let shadow = self.in_second(of, shadow);
            let test = of.vector(forms::TEST, [LANES, shadow], Place::Reg(shadow));
            return self.out.hot.vector(test.masked(LANES));
        }
        let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
        self.out.hot.vector(of.vector(forms::EQUAL_64, [lanes, mask], zero));
        let (shadow, none) = (self.in_second(of, shadow), self.temporary(1));
        self.out.hot.vector(of.vector(forms::EQUAL_64, [none, shadow], zero));
        self.out.hot.vector(of.vector(forms::OR, [lanes, lanes], Place::Reg(none)));
    }

    /// The mask, in the second temporary.
    fn load_mask(&mut self, at: At<'_>, of: &Conjunction) -> u8 {
        let from = match of.b {
            Some(b) => Place::Reg(b),
            None => Place::Mem(self.guest_operand(&at.insn().decoded)),
        };
        let mask = self.temporary(1);
        match from {
            Place::Reg(b) => self.move_shadow(mask, b, of.bytes),
            Place::Mem(mem) => self.out.hot.vector_load(mask, mem, of.bytes),
        }
        mask
    }

    /// The register that is meant, or the second temporary, into which memory is loaded.
    fn in_second(&mut self, of: &Conjunction, place: Place) -> u8 {
        match place {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let second = self.temporary(1);
                self.out.hot.vector_load(second, mem, of.bytes);
                second
            }
        }
    }

    /// The lanes of `from` that count, and zeros, in the second temporary.
    fn selected_lanes(&mut self, of: &Conjunction, from: Place) -> u8 {
        let (lanes, selected) = (self.temporary(0), self.temporary(1));
        let select = if self.has_upper() {
            let form = if matches!(from, Place::Reg(_)) { forms::MOVE } else { forms::LOAD };
            of.vector(form, [selected, 0], from).masked(LANES).zeroing()
        } else {
            of.vector(forms::AND_NOT, [selected, lanes], from)
        };
        self.out.hot.vector(select);
        selected
    }
}
