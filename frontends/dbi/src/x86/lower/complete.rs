//! Completion: the parts of a record that are worked out from captured bytes rather than captured.

use super::moves;
use crate::x86::probe::{Probe, Shape};
use crate::x86::table::XMM0;
use shadowgrind_core::format::{Format, Number};

/// One thing to work out. Offsets are in the record.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The byte map of a permutation.
    Probe(Box<ProbeMap>),
    /// Whether all pairs of captured values are equal, and whether not.
    Equal { pairs: Vec<[u16; 2]>, bytes: u16, flags: [u16; 2] },
    /// Addresses of a gather's lanes, as memory operands from 1 on, and one flag per lane.
    Gather { count: u16, lane: u16, index_bytes: u16, scale: u8, indices: u16, masks: u16, flags: u16 },
    /// x₀ · x₁, or 0 where the product is not asked for.
    Product { format: Format, x: [u16; 2], r: u16, used: bool },
    /// x₀ + x₁.
    Sum { format: Format, x: [u16; 2], r: u16 },
    /// A float in the 80-bit format.
    Widened { from: Format, x: u16, r: u16 },
    /// A signed integer of so many bytes in the 80-bit format.
    FromInteger { bytes: u16, x: u16, r: u16 },
    /// Whether |x| < 2⁶³ for an 80-bit x: in the range of x87's trigonometric functions.
    InRange { x: u16, flag: u16 },
    /// Whether an 80-bit x is an integer of at least 2⁵².
    LargeInteger { x: u16, flag: u16 },
    /// An 80-bit zero.
    Zero { r: u16 },
    /// The exponent of an 80-bit x, negated, as an 80-bit integer.
    MinusExponent { x: u16, r: u16 },
}

/// A permutation whose map depends on captured operands.
#[derive(Debug)]
pub(crate) struct ProbeMap {
    /// The instruction in a form that can be run on marks.
    pub(super) probed: Shape,
    /// Operand number ([`XMM0`] for the implicit one), offset and bytes of each control operand.
    pub(super) captured: Vec<(u8, u16, u16)>,
    /// Operand numbers of the sources.
    pub(super) data: [u8; 2],
    /// Bytes of the map.
    pub(super) bytes: u16,
    /// Where it goes.
    pub(super) at: u16,
}

impl ProbeMap {
    fn run(&self, probe: &mut Probe, record: &mut [u8]) {
        let mut inputs = moves::marked(self.data);
        for &(operand, at, bytes) in &self.captured {
            let value = &record[usize::from(at)..usize::from(at + bytes)];
            let slot =
                if operand == XMM0 { &mut inputs.xmm0 } else { &mut inputs.operand[usize::from(operand)] };
            slot[..value.len()].copy_from_slice(value);
        }
        let result = probe.run(&self.probed, &inputs);
        let map = &mut record[usize::from(self.at)..usize::from(self.at + self.bytes)];
        moves::map_of(&result, self.data, map);
    }
}

impl Completion {
    pub(super) fn run(&self, probe: &mut Probe, record: &mut [u8]) {
        match *self {
            Completion::Probe(ref map) => map.run(probe, record),
            Completion::Equal { ref pairs, bytes, flags } => {
                let bytes = usize::from(bytes);
                let part = |at: u16| &record[usize::from(at)..usize::from(at) + bytes];
                let equal = pairs.iter().all(|&[a, b]| part(a) == part(b));
                record[usize::from(flags[0])] = equal.into();
                record[usize::from(flags[1])] = (!equal).into();
            }
            Completion::Gather { .. } => self.gather(record),
            Completion::Product { format, x, r, used } => {
                let [a, b] = x.map(|at| format.bits_of(&record[usize::from(at)..]));
                put(
                    record,
                    r,
                    format,
                    if used { arithmetic(format, a, b, |a, b| a * b, |a, b| a * b) } else { 0 },
                );
            }
            Completion::Sum { format, x, r } => {
                let [a, b] = x.map(|at| format.bits_of(&record[usize::from(at)..]));
                put(record, r, format, arithmetic(format, a, b, |a, b| a + b, |a, b| a + b));
            }
            Completion::Widened { from, x, r } => {
                let bits = from.convert(from.bits_of(&record[usize::from(x)..]), Format::F80);
                put(record, r, Format::F80, bits);
            }
            Completion::FromInteger { bytes, x, r } => {
                let value = signed(&record[usize::from(x)..usize::from(x + bytes)]);
                put(record, r, Format::F80, integer(value));
            }
            Completion::InRange { x, flag } => {
                let exponent =
                    u16::from_le_bytes([record[usize::from(x) + 8], record[usize::from(x) + 9]]) & 0x7fff;
                record[usize::from(flag)] = u8::from(exponent < 0x3fff + 63);
            }
            Completion::LargeInteger { x, flag } => {
                let bits = Format::F80.bits_of(&record[usize::from(x)..]);
                let is_large = match Format::F80.decode(bits) {
                    Number::Finite { significand, exponent, .. } => {
                        significand >> 63 != 0
                            && (-11..=0).contains(&exponent)
                            && significand.trailing_zeros() as i32 >= -exponent
                    }
                    _ => false,
                };
                record[usize::from(flag)] = is_large.into();
            }
            Completion::Zero { r } => put(record, r, Format::F80, 0),
            Completion::MinusExponent { x, r } => {
                let bits = match Format::F80.decode(Format::F80.bits_of(&record[usize::from(x)..])) {
                    Number::Finite { significand, exponent, .. } if significand != 0 => {
                        integer(-i64::from(exponent + 63 - significand.leading_zeros() as i32))
                    }
                    // Zeros, infinities and NaN are their own significands.
                    _ => 0,
                };
                put(record, r, Format::F80, bits);
            }
        }
    }

    /// Operand 0 is the address without index.
    fn gather(&self, record: &mut [u8]) {
        let Completion::Gather { count, lane, index_bytes, scale, indices, masks, flags } = *self else {
            return;
        };
        let base = u64::from_le_bytes(std::array::from_fn(|i| record[i]));
        for i in 0..count {
            let at = usize::from(indices + i * index_bytes);
            let index = signed(&record[at..at + usize::from(index_bytes)]);
            let address = base.wrapping_add((index as u64).wrapping_mul(scale.into()));
            let slot = 8 * usize::from(i + 1);
            record[slot..slot + 8].copy_from_slice(&address.to_le_bytes());
            record[usize::from(flags + i)] = record[usize::from(masks + (i + 1) * lane - 1)] >> 7;
        }
    }
}

fn put(record: &mut [u8], at: u16, format: Format, bits: u128) {
    let at = usize::from(at);
    record[at..at + format.bytes()].copy_from_slice(&bits.to_le_bytes()[..format.bytes()]);
}

/// Two operands in their own format's arithmetic, rounded to nearest.
fn arithmetic(
    format: Format,
    a: u128,
    b: u128,
    narrow: impl Fn(f32, f32) -> f32,
    wide: impl Fn(f64, f64) -> f64,
) -> u128 {
    match format {
        Format::F32 => narrow(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into(),
        _ => wide(f64::from_bits(a as u64), f64::from_bits(b as u64)).to_bits().into(),
    }
}

/// A little-endian two's complement integer.
fn signed(bytes: &[u8]) -> i64 {
    let top = bytes.last().map_or(0, |byte| (*byte as i8) >> 7) as u8;
    let mut image = [top; 8];
    image[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(image)
}

/// An integer in the 80-bit format, where all are exact.
fn integer(value: i64) -> u128 {
    let (negative, significand) = (value < 0, value.unsigned_abs());
    if significand == 0 {
        return 0;
    }
    Format::F80.encode(Number::Finite { negative, significand, exponent: 0 })
}
