//! Magnitudes of doubles whose shadows are recorded: bitwise conjunctions with all bits but the sign.
//!
//! A float's sign need not be its real's, so that the real's magnitude is an operation, and is recorded as one. Lanes of the
//! mask may be nothing as well: then the result is zero, and that is recorded as the magnitude of a zero. Whatever else the mask has is left
//! to the engine, as is a mask with a shadow. Knows nothing of narrow floats.

use super::At;
use super::check::Source;
use super::descriptor::{RecordDescriptor, What};
use super::operand;
use super::record::{Plan, in_record};
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::table::Shape;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::EncodingKind;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::Sums;

/// Mask register of the lanes that are let through, with AVX-512.
const LANES: u8 = 2;

impl Emitter {
    /// The conjunction of vector register `a` and the mask in register `b` or in memory, recorded; false if it cannot be.
    pub(super) fn magnitude(&mut self, at: At<'_>, a: u8, b: Option<u8>) -> bool {
        let insn = &at.insn().decoded;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
        let spills_whole = self.mirror().settings.wide && !self.has_upper();
        if !plain || spills_whole || b == Some(a) || !self.open_operand(at) {
            return false;
        }
        let mask_shadow = match b {
            Some(b) => Some(Source::Vector(b)),
            None => self.memory_source(insn),
        };
        self.check(at, mask_shadow.as_slice());
        let bytes = insn.op0_register().size() as u8;
        let recorded = RecordDescriptor {
            pc: at.insn().pc(),
            what: What::Op(Op::Abs),
            lanes: bytes / Format::F64.bytes() as u8,
            operands: 1,
            from: Format::F64,
            to: Format::F64,
            sums: Sums::Plain,
            staged: None,
            narrow: None,
        };
        self.temporary(1);
        self.check_mask_of_magnitudes(at, b, bytes);
        self.find_lanes(at, b, bytes);
        let pointer = self.begin_record(at, recorded);
        self.store_selected(Place::Reg(a), in_record(pointer, recorded.operand(0)), bytes);
        let shadow = self.shadow_value(a);
        self.store_selected(shadow, in_record(pointer, recorded.handles(0)), bytes);
        let what = recorded.what;
        let plan =
            Plan { what, from: Format::F64, to: Format::F64, shape: Shape::Packed, sources: &[], rest: None };
        self.complete_record(at, &plan, pointer, recorded);
        true
    }

    /// Leaves the instruction to the engine if a lane of the mask is neither all bits but the sign nor nothing.
    fn check_mask_of_magnitudes(&mut self, at: At<'_>, b: Option<u8>, bytes: u8) {
        let magnitude = Place::Mem(Constants::at(self.mirror().settings.constants).magnitude(Format::F64));
        let (lanes, other) = (self.find_lanes(at, b, bytes), self.temporary(1));
        let vector = |form, registers, rm| Vector::new(form, Format::F64, Length::of(bytes), registers, rm);
        let differs = vector(forms::XOR, [other; 2], magnitude);
        if self.has_upper() {
            self.out.hot.vector(differs.masked(LANES).zeroing());
        } else {
            self.out.hot.vector(differs);
            self.out.hot.vector(vector(forms::AND_NOT, [other, lanes], Place::Reg(other)));
        }
        self.check_register(at, other);
    }

    /// Leaves in a mask register the lanes of the mask that have bits, or without AVX-512 in the first temporary all bits of those that
    /// have none. The mask is in the second one then. The first one.
    fn find_lanes(&mut self, at: At<'_>, b: Option<u8>, bytes: u8) -> u8 {
        let (lanes, mask) = (self.temporary(0), self.temporary(1));
        match b {
            Some(b) => self.move_shadow(mask, b, bytes),
            None => {
                let mem = self.guest_operand(&at.insn().decoded);
                debug_assert!(operand::has_memory(&at.insn().decoded), "a mask");
                self.out.hot.vector_load(mask, mem, bytes);
            }
        }
        let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
        let vector = |form, registers, rm| Vector::new(form, Format::F64, Length::of(bytes), registers, rm);
        let found = if self.has_upper() {
            vector(forms::TEST, [LANES, mask], Place::Reg(mask))
        } else {
            vector(forms::EQUAL_64, [lanes, mask], zero)
        };
        self.out.hot.vector(found);
        lanes
    }

    /// Stores the lanes of `from` that are let through, and zeros.
    fn store_selected(&mut self, from: Place, to: Mem, bytes: u8) {
        let (lanes, selected, length) = (self.temporary(0), self.temporary(1), Length::of(bytes));
        let select = if self.has_upper() {
            let form = if matches!(from, Place::Reg(_)) { forms::MOVE } else { forms::LOAD };
            Vector::unary(form, Format::F64, length, selected, from).masked(LANES).zeroing()
        } else {
            Vector::new(forms::AND_NOT, Format::F64, length, [selected, lanes], from)
        };
        self.out.hot.vector(select);
        self.out.hot.vector_store(to, selected, bytes);
    }
}
