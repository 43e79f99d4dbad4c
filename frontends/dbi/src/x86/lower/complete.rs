//! Completion: the parts of a record that are worked out from captured bytes rather than captured.

use super::bits;
use super::kinds::{FixUp, Significand, quotient};
use super::moves;
use super::ternary::Logic;
use crate::x86::probe::{Probe, Shape};
use crate::x86::table::{Integral, XMM0};
use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::Op;

/// One thing to work out. Offsets are in the record.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The byte map of a permutation.
    Probe(Box<ProbeMap>),
    /// Two flags: all pairs of captured values are equal, and the opposite.
    Equal { pairs: Vec<[u16; 2]>, bytes: u16, flags: [u16; 2] },
    /// Addresses and flags of a gather's lanes.
    Gather(Gather),
    /// A float that no register or memory holds.
    Value { format: Format, value: Value, r: u16 },
    /// Something about the 80-bit float at `x`.
    Test { test: Test, x: u16, flag: u16 },
    /// Flags of as many lanes, whether the captured mask register lets each through, and as many of the opposite.
    Mask { mask: u16, count: u16, flags: u16 },
    /// Flags of lanes of which the significand is taken.
    Significand(Significand),
    /// Flags of lanes that a table of kinds has an answer for.
    FixUp(FixUp),
    /// The byte map of a shift or rotation by `count`, as captured, of `bytes` bytes, and two flags: there is one, and the opposite.
    Shift { by: Integral, count: u16, bytes: u16, at: u16, flags: [u16; 2] },
    /// The bytes that `by` makes of those at both `x`.
    Logic { by: Logic, x: [u16; 2], r: u16, bytes: u16 },
}

/// A gather's lanes: memory operand 0 is the address without index, lane i is operand i + 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gather {
    pub(super) count: u16,
    /// Bytes of a lane.
    pub(super) lane: u16,
    /// Bytes of an index.
    pub(super) index_bytes: u16,
    pub(super) scale: u8,
    /// The captured indices.
    pub(super) indices: u16,
    /// The captured mask: the signs of lanes, or bits.
    pub(super) masks: u16,
    pub(super) by_bits: bool,
    /// One flag per lane: whether the mask lets it through.
    pub(super) flags: u16,
}

/// A float worked out from captured bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// x₀ · x₁ in the same format; 0 unless the product is asked for.
    Product { x: [u16; 2], used: bool },
    /// x₀ + x₁ in the same format.
    Sum { x: [u16; 2] },
    /// x₀ − x₁, which is a fraction with so many binary places but for what was lost in x₁.
    Fraction { x: [u16; 2], places: u8 },
    /// The one of x that `by` chooses: the smaller or the larger, or the one of such size.
    Chosen { by: Op, x: [u16; 2] },
    /// |x|.
    Size { x: u16 },
    /// x times two to the power of the integer at `power`, which does not round.
    Scaled { x: u16, power: u16 },
    /// The number of binary places, or its negative, that x may have and be rounded to; 0 if x is so large that it is an integer.
    Places { x: u16, places: u8, negative: bool },
    /// The exponent of two that x₀ is x₁ times; 0 if it is not.
    Quotient { x: [u16; 2] },
    /// The integer below x₀, of the same format.
    Floor { x: u16 },
    /// A narrower float.
    Widened { from: Format, x: u16 },
    /// A signed integer of so many bytes.
    Integer { bytes: u16, x: u16 },
    /// The exponent of an 80-bit x, negated.
    MinusExponent { x: u16 },
    /// Bits as they are.
    Bits(u64),
    /// 0.
    Zero,
}

/// Property of an 80-bit float that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    /// |x| < 2⁶³ or not finite: x87's trigonometric functions do something about it.
    InRange,
}

/// Stands for the mask register among the operands of a [`ProbeMap`].
pub(super) const MASK: u8 = XMM0 - 1;

/// A permutation whose map depends on captured operands.
#[derive(Debug)]
pub(crate) struct ProbeMap {
    /// The instruction in a form that can be run on marks.
    pub(super) probed: Shape,
    /// Operand number ([`XMM0`] and [`MASK`] for the implicit ones), offset and bytes of each control operand.
    pub(super) captured: Vec<(u8, u16, u16)>,
    /// Operand numbers of the sources.
    pub(super) data: [u8; 2],
    /// Bytes of the map.
    pub(super) bytes: u16,
    /// The place it goes to.
    pub(super) at: u16,
    /// Place of a second map if the destination is a third source: from that and what the first map makes.
    pub(super) merged: Option<u16>,
}

impl ProbeMap {
    fn run(&self, probe: &mut Probe, record: &mut [u8]) {
        let mut inputs =
            moves::marked(&[&self.data[..], &[0][..usize::from(self.merged.is_some())]].concat());
        for &(operand, at, bytes) in &self.captured {
            let value = &record[usize::from(at)..usize::from(at + bytes)];
            let slot = match operand {
                XMM0 => &mut inputs.xmm0,
                MASK => &mut inputs.mask,
                _ => &mut inputs.operand[usize::from(operand)],
            };
            slot[..value.len()].copy_from_slice(value);
        }
        let result = probe.run(&self.probed, &inputs);
        let map = |at: u16| usize::from(at)..usize::from(at + self.bytes);
        moves::map_of(&result, self.data, &mut record[map(self.at)]);
        if let Some(at) = self.merged {
            let is_source = self.captured.iter().all(|&(operand, ..)| operand != 0);
            moves::merged(&result, is_source, &mut record[map(at)]);
        }
    }
}

impl Completion {
    pub(super) fn run(&self, probe: &mut Probe, record: &mut [u8]) {
        match self {
            Completion::Probe(map) => map.run(probe, record),
            Completion::Equal { pairs, bytes, flags } => {
                let part = |at: u16| &record[usize::from(at)..usize::from(at + bytes)];
                let equal = pairs.iter().all(|&[a, b]| part(a) == part(b));
                record[usize::from(flags[0])] = equal.into();
                record[usize::from(flags[1])] = (!equal).into();
            }
            Completion::Gather(gather) => gather.run(record),
            Completion::Value { format, value, r } => {
                let (at, bits) = (usize::from(*r), value.bits(*format, record));
                record[at..at + format.bytes()].copy_from_slice(&bits.to_le_bytes()[..format.bytes()]);
            }
            Completion::Test { test, x, flag } => {
                let number = Format::F80.decode(float(Format::F80, record, *x));
                record[usize::from(*flag)] = test.holds(number).into();
            }
            Completion::Significand(significand) => significand.run(record),
            Completion::FixUp(fix_up) => fix_up.run(record),
            &Completion::Shift { by, count, bytes, at, flags } => {
                let map = bits::byte_map(by, record[usize::from(count)], bytes);
                record[usize::from(flags[0])] = map.is_some().into();
                record[usize::from(flags[1])] = map.is_none().into();
                map.into_iter().for_each(|map| record[usize::from(at)..][..map.len()].copy_from_slice(&map));
            }
            &Completion::Mask { mask, count, flags } => {
                for i in 0..count {
                    let is_set = bit(record, mask, i);
                    record[usize::from(flags + i)] = is_set.into();
                    record[usize::from(flags + count + i)] = (!is_set).into();
                }
            }
            &Completion::Logic { by, x, r, bytes } => {
                for i in 0..bytes {
                    let [a, b] = x.map(|x| record[usize::from(x + i)]);
                    record[usize::from(r + i)] = by.of(a, b);
                }
            }
        }
    }
}

impl Gather {
    fn run(&self, record: &mut [u8]) {
        let base = u64::from_le_bytes(std::array::from_fn(|i| record[i]));
        for i in 0..self.count {
            let at = usize::from(self.indices + i * self.index_bytes);
            let index = signed(&record[at..at + usize::from(self.index_bytes)]);
            let address = base.wrapping_add((index as u64).wrapping_mul(self.scale.into()));
            let slot = 8 * usize::from(i + 1);
            record[slot..slot + 8].copy_from_slice(&address.to_le_bytes());
            record[usize::from(self.flags + i)] = match self.by_bits {
                true => bit(record, self.masks, i).into(),
                false => record[usize::from(self.masks + (i + 1) * self.lane - 1)] >> 7,
            };
        }
    }
}

impl Value {
    fn bits(self, format: Format, record: &[u8]) -> u128 {
        let two = |x: [u16; 2]| x.map(|at| float(format, record, at));
        match self {
            Value::Product { used: false, .. } | Value::Zero => 0,
            Value::Bits(bits) => bits.into(),
            Value::Product { x, .. } => arithmetic(format, two(x), |a, b| a * b, |a, b| a * b),
            Value::Sum { x } => arithmetic(format, two(x), |a, b| a + b, |a, b| a + b),
            Value::Fraction { x, places } => {
                let [a, b] = two(x).map(|bits| format.to_f64(bits));
                let unit = f64::from(1_u32 << places);
                let fraction =
                    if (a - b).abs() < ALL_INTEGERS { ((a - b) * unit).round() / unit } else { a - b };
                format.from_f64(fraction)
            }
            Value::Chosen { by, x } => {
                let [a, b] = two(x).map(|bits| format.to_f64(bits));
                format.from_f64(chosen(by, a, b))
            }
            Value::Size { x } => format.from_f64(format.to_f64(float(format, record, x)).abs()),
            Value::Scaled { x, power } => {
                let [x, power] = two([x, power]).map(|bits| format.to_f64(bits));
                format.from_f64(x * power.exp2())
            }
            Value::Places { x, places, negative } => {
                let is_integer = format.to_f64(float(format, record, x)).abs() >= ALL_INTEGERS;
                let places = if is_integer { 0 } else { i64::from(places) };
                integer(format, if negative { -places } else { places })
            }
            Value::Quotient { x: [r, x] } => {
                integer(format, quotient(format, two([x, r])).unwrap_or(0).into())
            }
            Value::Floor { x } => format.from_f64(format.to_f64(float(format, record, x)).floor()),
            Value::Widened { from, x } => from.convert(float(from, record, x), format),
            Value::Integer { bytes, x } => {
                integer(format, signed(&record[usize::from(x)..usize::from(x + bytes)]))
            }
            Value::MinusExponent { x } => match Format::F80.decode(float(Format::F80, record, x)) {
                Number::Finite { significand, exponent, .. } if significand != 0 => {
                    integer(format, -i64::from(exponent + 63 - significand.leading_zeros() as i32))
                }
                // Zeros, infinities and NaN are their own significands.
                _ => 0,
            },
        }
    }
}

impl Test {
    fn holds(self, number: Number) -> bool {
        match (self, number) {
            (Test::InRange, Number::Finite { significand, exponent, .. }) => {
                exponent - (significand.leading_zeros() as i32) < 0
            }
            (Test::InRange, _) => true,
        }
    }
}

/// Floats of this size and more are integers, those of narrower formats too.
const ALL_INTEGERS: f64 = (1_u64 << 52) as f64;

/// The one of two floats that `by` chooses.
fn chosen(by: Op, a: f64, b: f64) -> f64 {
    let [x, y] = [a, b].map(f64::abs);
    match by {
        Op::Fminmag if x < y => a,
        Op::Fminmag if y < x => b,
        Op::Fmaxmag if x > y => a,
        Op::Fmaxmag if y > x => b,
        Op::Fmin | Op::Fminmag => a.min(b),
        _ => a.max(b),
    }
}

/// The float of `format` at `at`.
pub(super) fn float(format: Format, record: &[u8], at: u16) -> u128 {
    format.bits_of(&record[usize::from(at)..])
}

/// Two operands in their own format's arithmetic, rounded to nearest.
fn arithmetic(
    format: Format,
    [a, b]: [u128; 2],
    narrow: impl Fn(f32, f32) -> f32,
    wide: impl Fn(f64, f64) -> f64,
) -> u128 {
    match format {
        Format::F32 => narrow(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into(),
        _ => wide(f64::from_bits(a as u64), f64::from_bits(b as u64)).to_bits().into(),
    }
}

/// Bit `n` of the bytes at `at`.
pub(super) fn bit(record: &[u8], at: u16, n: u16) -> bool {
    record[usize::from(at + n / 8)] >> (n % 8) & 1 != 0
}

/// A little-endian two's complement integer.
fn signed(bytes: &[u8]) -> i64 {
    let top = bytes.last().map_or(0, |byte| (*byte as i8) >> 7) as u8;
    let mut image = [top; 8];
    image[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(image)
}

/// An integer as a float.
fn integer(format: Format, value: i64) -> u128 {
    format.encode(Number::Finite { negative: value < 0, significand: value.unsigned_abs(), exponent: 0 })
}
