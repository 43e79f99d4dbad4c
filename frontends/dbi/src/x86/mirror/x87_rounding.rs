//! Long doubles in memory as doubles, one or two at a time in the lanes of vector registers.
//!
//! By integer arithmetic but for the rounding, which with AVX-512 raises no exception and else is a part of the rule. What no normal
//! double stands for is left to the engine, but for zeros. Knows the formats, not where images come from or what becomes of the
//! values.

use super::At;
use super::arith::MASKS;
use super::x87_values::VALUES;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;

/// Exponents of normal doubles, less that of the least, are no greater.
const MOST: i64 = 0x7fd;
/// Exponent of the least double, for the significand with its first bit; added to that of a long double.
const LEAST: i64 = -0x3c01;
/// Summand of the exponent, in place, of a significand that was converted as an integer, beside that.
const OF_SIGNIFICANDS: i64 = -1085 << 52;
/// Biased exponent of numbers that round others: 2^63 and 1.5·2^63.
const MAGIC: i64 = 0x403e;

impl Emitter {
    /// An integer operation on two lanes.
    pub(super) fn lanes(&mut self, form: Form, [to, first]: [u8; 2], second: Place) {
        self.out.hot.vector(Vector::new(form, Format::F64, Length::B16, [to, first], second));
    }

    /// A shift of two lanes, by `bits` to the left, or right where that is negative.
    pub(super) fn shift_lanes(&mut self, to: u8, from: u8, bits: i8) {
        let digit = if bits > 0 { 6 } else { 2 };
        let shift = Vector::new(forms::SHIFT_64, Format::F64, Length::B16, [digit, to], Place::Reg(from));
        self.out.hot.vector(shift.immediate(bits.unsigned_abs()));
    }

    pub(super) fn lanes_constant(&mut self, n: i64) -> Place {
        Place::Mem(Constants::at(self.mirror().settings.constants).integer(n))
    }

    /// Significands of one or two images, in the lanes of `x`, and signs and exponents, in those of `ends`.
    fn image_lanes(&mut self, x: u8, ends: u8, images: &[Mem]) {
        self.out.hot.vector_load(x, images[0], 16);
        match images.get(1) {
            Some(&second) => {
                self.lanes(forms::UNPACK_HIGH, [ends, x], Place::Mem(second));
                self.lanes(forms::LOAD_HIGH, [x, x], Place::Mem(second));
            }
            None => {
                self.lanes(forms::UNPACK_HIGH, [ends, x], Place::Reg(x));
                self.lanes(forms::UNPACK_LOW, [x, x], Place::Reg(x));
            }
        }
    }

    /// Leaves the instruction to the engine if one of the images may be a number that rounds the other term.
    pub(super) fn check_magic_images(&mut self, at: At<'_>, images: &[Mem]) {
        let (x, found) = (self.temporary(0), self.temporary(1));
        let [mask, magic, minus_one] = [0x7fff, MAGIC, -1].map(|n| self.lanes_constant(n));
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(Format::F64));
        self.image_lanes(found, x, images);
        self.lanes(forms::AND, [x, x], mask);
        self.lanes(forms::XOR, [x, x], magic);
        self.lanes(forms::ADD_64, [x, x], minus_one);
        self.lanes(forms::AND, [found, x], sign);
        self.check_register(at, found);
    }

    /// Rounds images to doubles, to the nearest and then even, as the values; leaves the instruction to the engine where that is not
    /// what rounding makes of them.
    ///
    /// A significand is converted as an integer of 64 bits, which has the exponent 1086 as a double if it is not zero; the
    /// difference to that of the image is added.
    pub(super) fn x87_round(&mut self, at: At<'_>, images: &[Mem]) {
        if self.has_upper() { self.round_upper(at, images) } else { self.round_in_halves(at, images) }
    }

    /// With AVX-512.
    fn round_upper(&mut self, at: At<'_>, images: &[Mem]) {
        /// Comparison: greater.
        const GREATER: u8 = 6;
        let (x, ends) = (self.temporary(0), self.temporary(1));
        let [strange, whole, negative] = MASKS;
        let values = Place::Mem(self.x87_slot(VALUES));
        let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(Format::F64));
        let [minus, mask, least, most, rest] =
            [0x8000, 0x7fff, LEAST, MOST, OF_SIGNIFICANDS].map(|n| self.lanes_constant(n));
        let lanes = |form, operands, rm| Vector::new(form, Format::F64, Length::B16, operands, rm);
        self.image_lanes(x, ends, images);
        self.out.hot.vector(lanes(forms::TEST, [whole, x], Place::Reg(x)));
        let convert = Vector::unary(forms::FROM_UNSIGNED_64, Format::F64, Length::B64, x, Place::Reg(x));
        self.out.hot.vector(convert.nearest());
        self.out.hot.vector(lanes(forms::TEST, [negative, ends], minus));
        self.lanes(forms::AND, [ends, ends], mask);
        self.lanes(forms::ADD_64, [ends, ends], least);
        let beyond = lanes(forms::COMPARE_UNSIGNED_64, [strange, ends], most);
        self.out.hot.vector(beyond.immediate(GREATER).masked(whole));
        self.shift_lanes(ends, ends, 52);
        for term in [Place::Reg(ends), rest] {
            self.out.hot.vector(lanes(forms::ADD_64, [x, x], term).masked(whole));
        }
        self.out.hot.vector(lanes(forms::XOR, [x, x], sign).masked(negative));
        self.store_lanes(values, x);
        self.check_mask(at);
    }

    /// Without AVX-512: halves of a significand are the last bits of 2^52 and of 2^84; their sum is rounded once.
    fn round_in_halves(&mut self, at: At<'_>, images: &[Mem]) {
        let [y, x, z, e, strange, upper] = [0, 1, 2, 3, 4, 5].map(|i| self.temporary(i));
        let values = Place::Mem(self.x87_slot(VALUES));
        let constants = Constants::at(self.mirror().settings.constants);
        let [two, low, above, mask, least, rest] =
            [2, 0xffff_ffff, !0x7ff, 0x7fff, LEAST, OF_SIGNIFICANDS].map(|n| self.lanes_constant(n));
        let [two_52, two_84, both] = constants.halves().map(Place::Mem);
        self.image_lanes(x, y, images);
        // e and e + 2 are both in 0 … 2047 where e + 1 is the exponent of a normal number.
        self.lanes(forms::AND, [e, y], mask);
        self.lanes(forms::ADD_64, [e, e], least);
        self.lanes(forms::ADD_64, [strange, e], two);
        self.lanes(forms::OR, [strange, strange], Place::Reg(e));
        self.lanes(forms::AND, [strange, strange], above);
        self.shift_lanes(e, e, 52);
        self.shift_lanes(y, y, 48);
        self.lanes(forms::AND, [y, y], Place::Mem(constants.sign(Format::F64)));
        self.lanes(forms::EQUAL_64, [z, x], Place::Mem(constants.zero()));
        self.lanes(forms::AND_NOT, [strange, z], Place::Reg(strange));
        self.shift_lanes(upper, x, -32);
        self.lanes(forms::OR, [upper, upper], two_84);
        self.lanes(forms::AND, [x, x], low);
        self.lanes(forms::OR, [x, x], two_52);
        self.begin_rule(at);
        self.lanes(forms::SUB, [upper, upper], both);
        self.lanes(forms::ADD, [x, x], Place::Reg(upper));
        self.end_rule(at);
        self.lanes(forms::ADD_64, [x, x], Place::Reg(e));
        self.lanes(forms::ADD_64, [x, x], rest);
        self.lanes(forms::AND_NOT, [x, z], Place::Reg(x));
        self.lanes(forms::OR, [x, x], Place::Reg(y));
        self.store_lanes(values, x);
        self.check_register(at, strange);
    }

    pub(super) fn store_lanes(&mut self, to: Place, from: u8) {
        if let Place::Mem(mem) = to {
            self.out.hot.vector_store(mem, from, 16);
        }
    }
}
