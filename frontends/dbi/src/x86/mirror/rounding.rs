//! Sums that round because one term is a magic number: they are left to the engine, where the code may have such.

use super::At;
use super::arith::lanes_mask;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Length, Place, Vector, forms};
use shadowgrind_core::format::Format;

/// Mask register: lanes with a magic number.
const MAGIC: u8 = 1;
/// (A ^ B) & C.
const DIFFERENCE: u8 = 0x28;

impl Emitter {
    /// Leaves the instruction to the engine if a lane of `term`, `width` bytes of `format`, is a magic number. Operands
    /// of a scalar instruction have anything above.
    pub(super) fn guard_magic(&mut self, at: At<'_>, term: Place, format: Format, width: u8) {
        if !at.block.rounds.concerns(format) {
            return;
        }
        let constants = Constants::at(self.mirror().settings.constants);
        let (whole, bits) = (constants.whole(format), Place::Mem(constants.whole_bits(format)));
        let scalar = usize::from(width) == format.bytes();
        let length = if scalar { Length::B16 } else { Length::of(width) };
        let found = self.temporary(1);
        let value = match term {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let value = self.temporary(0);
                self.note_borrowed(at.index);
                self.out.hot.vector_load(value, mem, width);
                value
            }
        };
        if self.has_upper() {
            self.out.hot.vector_load(found, whole, 64);
            let difference = Vector::new(forms::TERNARY, format, length, [found, value], bits);
            self.out.hot.vector(difference.immediate(DIFFERENCE));
            let test = Vector::new(forms::TEST_NOT, format, length, [MAGIC, found], Place::Reg(found));
            let lanes = lanes_mask(width / format.bytes() as u8).unwrap_or(0);
            self.out.hot.vector(test.masked(lanes));
            return self.guard_mask(at);
        }
        let equal = if format == Format::F32 { forms::EQUAL_32 } else { forms::EQUAL_64 };
        self.out.hot.vector(Vector::new(forms::AND, format, length, [found, value], bits));
        self.out.hot.vector(Vector::new(equal, format, length, [found, found], Place::Mem(whole)));
        let tested = if scalar { self.temporary(2) } else { found };
        if scalar {
            self.move_low(tested, found, width);
        }
        self.guard_register(at, tested);
    }
}
