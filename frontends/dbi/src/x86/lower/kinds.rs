//! Completion of choices by the kind of a float: what became of each lane.
//!
//! Knows captured bytes, and the kinds and answers of VFIXUPIMM's table (Intel SDM).

use super::complete::{bit, float};
use shadowgrind_core::format::{Format, Number};

/// Lanes of an instruction that tells floats by their kinds. Each place is that of lane 0, and how far the next one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByKind {
    pub(super) format: Format,
    pub(super) count: u16,
    /// The float that is looked at.
    pub(super) x: [u16; 2],
    pub(super) r: [u16; 2],
    /// The captured mask register.
    pub(super) mask: Option<u16>,
    /// Lanes that it does not let through become zero.
    pub(super) zeroes: bool,
}

impl ByKind {
    /// Tells whether the mask lets lane `i` through.
    fn is_let_through(&self, record: &[u8], i: u16) -> bool {
        self.mask.is_none_or(|mask| bit(record, mask, i))
    }

    /// The float looked at in lane `i`, and the result.
    fn lane(&self, record: &[u8], i: u16) -> [u128; 2] {
        [self.x, self.r].map(|[first, stride]| float(self.format, record, first + stride * i))
    }
}

/// The flags of lane `i`, so many for each lane, where those of lane 0 are at `flags`.
pub(super) fn flags_of<const N: usize>(flags: u16, i: u16) -> [u16; N] {
    std::array::from_fn(|n| flags + N as u16 * i + n as u16)
}

/// Sets the flags from `at` on.
fn set<const N: usize>(record: &mut [u8], at: [u16; N], flags: [bool; N]) {
    for (at, flag) in at.into_iter().zip(flags) {
        record[usize::from(at)] = flag.into();
    }
}

/// Significands: of each lane, whether the result is the source times a power of two, whether it is something else, and whether no
/// float with a shadow is there afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Significand {
    pub(super) lanes: ByKind,
    pub(super) flags: u16,
}

impl Significand {
    /// Number of flags of a lane.
    pub(super) const FLAGS: u16 = 3;

    pub(super) fn run(&self, record: &mut [u8]) {
        for i in 0..self.lanes.count {
            let is_there = self.lanes.is_let_through(record, i);
            let is_scaled = quotient(self.lanes.format, self.lanes.lane(record, i)).is_some();
            let [scaled, lost] = [is_there && is_scaled, is_there && !is_scaled];
            let is_cleared = lost || !is_there && self.lanes.zeroes;
            set(record, flags_of(self.flags, i), [scaled, lost, is_cleared]);
        }
    }
}

/// The exponent of two that one of two floats is the other times, but for signs; nothing if they have other digits, or none.
pub(super) fn quotient(format: Format, x: [u128; 2]) -> Option<i32> {
    let parts = x.map(|x| match format.decode(x) {
        Number::Finite { significand, exponent, .. } if significand != 0 => {
            let zeros = significand.trailing_zeros();
            Some((significand >> zeros, exponent + zeros as i32))
        }
        _ => None,
    });
    match parts {
        [Some((digits, a)), Some((others, b))] if digits == others => Some(b - a),
        _ => None,
    }
}

/// Floats by their kinds: of each lane, whether the order of the float and zero is asked for, whether it is asked if the float is one,
/// whether the result is the float, and whether it is a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixUp {
    pub(super) lanes: ByKind,
    /// The tables, of 32 bits.
    pub(super) tables: [u16; 2],
    pub(super) flags: u16,
}

/// Kinds of floats that can be told from others by comparing them, by their numbers in a table.
const ZERO: u8 = 2;
const ONE: u8 = 3;
const NEGATIVE: u8 = 6;
const POSITIVE: u8 = 7;

/// Answers of a table: the destination stays, or becomes the float, or that as a quiet NaN. Others are constants.
const STAYS: u8 = 0;
const FLOAT: u8 = 1;
const QUIET: u8 = 2;

impl FixUp {
    /// Number of flags of a lane.
    pub(super) const FLAGS: u16 = 4;

    pub(super) fn run(&self, record: &mut [u8]) {
        for i in 0..self.lanes.count {
            let is_there = self.lanes.is_let_through(record, i);
            let table = float(Format::F32, record, self.tables[0] + self.tables[1] * i) as u32;
            let answer = |kind: u8| (table >> (4 * kind) & 0xf) as u8;
            let [x, r] = self.lanes.lane(record, i);
            let said = answer(kind(self.lanes.format, x));
            // A subnormal number may have been taken for zero.
            let is_float = matches!(said, FLOAT | QUIET) && (x == r || self.lanes.format.to_f64(x).is_nan());
            let ordered = [ZERO, NEGATIVE].iter().any(|&kind| answer(kind) != answer(POSITIVE));
            let compared = answer(ONE) != answer(POSITIVE);
            let is_cleared = if is_there { said != STAYS && !is_float } else { self.lanes.zeroes };
            let flags = [is_there && ordered, is_there && compared, is_there && is_float, is_cleared];
            set(record, flags_of(self.flags, i), flags);
        }
    }
}

/// The number of a float's kind in a table.
fn kind(format: Format, bits: u128) -> u8 {
    let is_quiet = match format {
        Format::F32 => bits >> 22 & 1 != 0,
        _ => bits >> 51 & 1 != 0,
    };
    match format.to_f64(bits) {
        x if x.is_nan() => u8::from(!is_quiet),
        0.0 => ZERO,
        1.0 => ONE,
        f64::NEG_INFINITY => 4,
        f64::INFINITY => 5,
        x if x < 0.0 => NEGATIVE,
        _ => POSITIVE,
    }
}
