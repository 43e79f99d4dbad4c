//! The pool of constants that rules read rip-relative: its layout and contents.
//!
//! Every constant is there in both formats, 64 bytes long, so that an operand of any length may be taken from it. Where
//! the pool is, its owner says.

use shadowgrind_core::appended::RESULTS;
use shadowgrind_core::arith::trace_bits;
use shadowgrind_core::format::Format;
use shadowgrind_core::functions::circular;
use shadowgrind_core::numbers::{SINGLE_MORE, cells_apart};
use shadowgrind_core::ops::{ERROR_BOUND, LEAST_LEFT, LEAST_LEFT_OF_ROOT};
use shadowgrind_core::tricks;
use shadowgrind_core::words::{WIDENED, WIDENED_DOUBLE, WIDENED_DOUBLE_BITS};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, LOG2_E, LOG10_E};

use super::super::vector::Mem;
use super::template::Constant;

/// All that rules of TABLE 1 and their guards need.
const OWN: [Constant; 60] = [
    Constant::Sign,
    Constant::Magnitude,
    Constant::Whole,
    Constant::WholeBits,
    Constant::Fractional,
    Constant::FractionalBits,
    Constant::Fraction,
    Constant::LastByte,
    Constant::LastByteButOne,
    Constant::LowHalf,
    Constant::Widened,
    Constant::Ulps(16.0_f64.to_bits()),
    Constant::Integer(-1),
    Constant::Integer(2),
    Constant::Integer(0x7fd),
    Constant::Integer(0x8000),
    Constant::Integer(0xffff_ffff),
    Constant::Integer(!0x7ff),
    Constant::Integer(0x7fff),
    Constant::Integer(-0x3c01),
    Constant::Integer(0x403e),
    Constant::Integer(0x4100),
    Constant::Integer(1 << 10),
    Constant::Integer(-1085 << 52),
    Constant::Integer(0x7ff),
    Constant::Integer(0xffff_f800),
    Constant::Integer(0xc3f),
    Constant::Integer(-0x3e7f),
    Constant::Integer(256),
    Constant::Integer(767),
    Constant::Integer(!0x3ff),
    WITHOUT_MARK,
    MARK,
    Constant::Integer(576),
    Constant::Integer(447),
    literal(0.0),
    literal(1.0),
    literal(-0.5),
    literal(-1.0),
    literal(1.5),
    literal(2.0),
    literal(0.5),
    literal(3.0),
    literal(LN_2),
    literal(LN_10),
    literal(LOG2_E),
    literal(LOG10_E),
    literal(FRAC_2_SQRT_PI),
    literal(TWO_52),
    literal(TWO_84),
    literal(TWO_84 + TWO_52),
    literal(f64::MIN_POSITIVE),
    literal(f64::INFINITY),
    literal(f64::NAN),
    literal(16.0 / (1_u64 << 63) as f64),
    literal(ERROR_BOUND),
    literal(LEAST_LEFT),
    literal(LEAST_LEFT_OF_ROOT),
    Constant::Ulps(4.0_f64.to_bits()),
    Constant::Trace,
];

/// All bits of a shadow but those by which it is marked as having been a double's, and these.
const WITHOUT_MARK: Constant = Constant::Integer(!(WIDENED_DOUBLE_BITS.cast_signed()));
const MARK: Constant = Constant::Integer(WIDENED_DOUBLE.cast_signed());

/// 2^52 and 2^84, by which integers of 32 bits become floats as the lower and the upper half of one of 64.
const TWO_52: f64 = (1_u64 << 52) as f64;
const TWO_84: f64 = (1_u128 << 84) as f64;

/// Number of constants, with those of the sine.
const COUNT: usize = OWN.len() + circular::CONSTANTS.len();

fn pool() -> impl Iterator<Item = Constant> {
    OWN.into_iter().chain(circular::CONSTANTS.map(literal))
}

const fn literal(x: f64) -> Constant {
    Constant::Literal(x.to_bits())
}

/// Bytes of a constant.
const LINE: usize = 64;

/// Numbers of lanes for which there is a mask.
const COUNTS: [u8; 5] = [1, 2, 4, 8, 16];

/// Bytes of masks.
const MASK_BYTES: usize = (8 * COUNTS.len()).next_multiple_of(LINE);

/// The pool's place in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    base: u64,
}

impl Constants {
    /// The pool [`constant_bytes`], mapped at `base`, a multiple of 64.
    pub(crate) fn at(base: u64) -> Constants {
        assert!(base.is_multiple_of(LINE as u64), "constants at {base:#x}");
        Constants { base }
    }

    /// 64 bytes of a constant in every lane.
    pub(super) fn vector(self, constant: Constant, format: Format) -> Mem {
        let index = pool().position(|known| known == constant);
        let index = index.unwrap_or_else(|| panic!("{constant:?} is not in the pool"));
        let line = 2 * index + usize::from(format == Format::F64);
        Mem::rip(self.base + (line * LINE) as u64)
    }

    /// 64 bytes of zero.
    pub(crate) fn zero(self) -> Mem {
        self.vector(Constant::Literal(0), Format::F64)
    }

    /// The sign bit of every lane.
    pub(crate) fn sign(self, format: Format) -> Mem {
        self.vector(Constant::Sign, format)
    }

    /// All other bits.
    pub(crate) fn magnitude(self, format: Format) -> Mem {
        self.vector(Constant::Magnitude, format)
    }

    /// 2^(p−1), from which on numbers are whole.
    pub(crate) fn whole(self, format: Format) -> Mem {
        self.vector(Constant::Whole, format)
    }

    /// 1.
    pub(crate) fn one(self, format: Format) -> Mem {
        self.vector(literal(1.0), format)
    }

    /// All bits of the fraction of an `f32`.
    pub(crate) fn fraction(self) -> Mem {
        self.vector(Constant::Fraction, Format::F32)
    }

    /// The last byte of an `f32`.
    pub(crate) fn last_byte(self) -> Mem {
        self.vector(Constant::LastByte, Format::F32)
    }

    /// The last byte but one of an `f32`.
    pub(crate) fn last_byte_but_one(self) -> Mem {
        self.vector(Constant::LastByteButOne, Format::F32)
    }

    /// 2^52, 2^84 and their sum.
    pub(crate) fn halves(self) -> [Mem; 3] {
        [TWO_52, TWO_84, TWO_84 + TWO_52].map(|x| self.vector(literal(x), Format::F64))
    }

    /// An integer of the pool in every lane of eight bytes.
    pub(crate) fn integer(self, n: i64) -> Mem {
        self.vector(Constant::Integer(n), Format::F64)
    }

    /// The lower half of an `f64`.
    pub(crate) fn low_half(self) -> Mem {
        self.vector(Constant::LowHalf, Format::F64)
    }

    /// The mark of what was widened to an `f64`.
    pub(crate) fn widened(self) -> Mem {
        self.vector(Constant::Widened, Format::F64)
    }

    /// All bits of a shadow but those of the mark of what was a double's, and that mark.
    pub(crate) fn widened_double(self) -> [Mem; 2] {
        [WITHOUT_MARK, MARK].map(|constant| self.vector(constant, Format::F64))
    }

    /// All bits of the exponent.
    pub(crate) fn exponent(self, format: Format) -> Mem {
        self.vector(literal(f64::INFINITY), format)
    }

    /// The bits of a float that tell whether it is a magic number (`core::tricks::rounds`).
    pub(crate) fn whole_bits(self, format: Format) -> Mem {
        self.vector(Constant::WholeBits, format)
    }

    /// The bits that numbers which round to fractions (`core::tricks::may_round_to_fractions`) have alike, and a mask of these.
    pub(crate) fn fractional(self, format: Format) -> [Mem; 2] {
        [Constant::Fractional, Constant::FractionalBits].map(|constant| self.vector(constant, format))
    }

    /// Eight bytes with a bit for each of `count` lanes.
    pub(crate) fn lanes(self, count: u8) -> Mem {
        let index = COUNTS.iter().position(|&known| known == count).expect("a number of lanes");
        Mem::rip(self.base + (2 * COUNT * LINE + 8 * index) as u64)
    }

    /// Two bytes, each the bits of an immediate.
    pub(crate) fn bits(self, immediate: u8) -> Mem {
        let table = self.base + (2 * COUNT * LINE + MASK_BYTES) as u64 + 12 * NUMBERS;
        Mem::rip(table + 2 * u64::from(immediate))
    }

    /// Differences between cells of results with numbers one after the other and the cell of eight bytes that the first one of their
    /// record has, or its lower half: from that of result `number` of the record on.
    pub(crate) fn numbering(self, format: Format, number: u16) -> Mem {
        let table = self.base + (2 * COUNT * LINE + MASK_BYTES) as u64;
        let (start, bytes) = if format == Format::F32 { (0, 4) } else { (4 * NUMBERS, 8) };
        Mem::rip(table + start + bytes * u64::from(number))
    }
}

/// Number of results of a record, and of lanes behind the last one.
const NUMBERS: u64 = RESULTS as u64 + 16;

/// The bits of a constant in one lane.
fn lane(constant: Constant, format: Format) -> u64 {
    let sign = 1 << (format.width() - 1);
    match constant {
        Constant::Literal(x) => format.from_f64(f64::from_bits(x)) as u64,
        Constant::Ulps(n) => {
            format.from_f64(f64::from_bits(n) * f64::exp2(1.0 - f64::from(format.precision()))) as u64
        }
        Constant::Sign => sign,
        Constant::Trace => trace_bits(format),
        Constant::Magnitude => sign - 1,
        Constant::Whole => format.from_f64(f64::exp2(f64::from(format.precision() - 1))) as u64,
        Constant::Fraction => (1 << (format.precision() - 1)) - 1,
        Constant::LastByte => 0xff << (format.width() - 8),
        Constant::LastByteButOne => 0xff << (format.width() - 16),
        Constant::LowHalf => (1 << (format.width() / 2)) - 1,
        Constant::Widened => WIDENED,
        Constant::Integer(n) => n.cast_unsigned(),
        Constant::Fractional => {
            let first = format.from_f64(f64::exp2(f64::from(format.precision() - 1 - 8))) as u64;
            first & fractional_bits(format) | 1 << (format.precision() - 2)
        }
        Constant::FractionalBits => fractional_bits(format),
        Constant::WholeBits => sign - 1 - (1 << (format.precision() - 2)),
    }
}

/// The bits that numbers which round to fractions have alike: they have nine exponents, of which the last five bits differ, and perhaps
/// the bias of exponents among their last digits.
fn fractional_bits(format: Format) -> u64 {
    let fraction = format.precision() - 1;
    let differ = 31 << fraction;
    let biases = (1 << (format.width() - format.precision() - 1 + tricks::FRACTION_BITS)) - 1;
    ((1 << (format.width() - 1)) - 1) & !differ & !biases
}

/// The contents of the pool, to be placed at a multiple of 64.
pub(crate) fn constant_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    for constant in pool() {
        for format in [Format::F32, Format::F64] {
            let image = lane(constant, format).to_le_bytes();
            bytes.extend(image[..format.bytes()].iter().cycle().take(LINE));
        }
    }
    for count in COUNTS {
        bytes.extend(((1u64 << count) - 1).to_le_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(LINE), 0);
    bytes.extend((0..NUMBERS).flat_map(|n| (SINGLE_MORE + cells_apart(n) as u32).to_le_bytes()));
    bytes.extend((0..NUMBERS).flat_map(|n| cells_apart(n).to_le_bytes()));
    bytes.extend((0..=u8::MAX).flat_map(|immediate| [immediate; 2]));
    bytes
}
