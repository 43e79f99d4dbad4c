//! Words: how a shadow is kept in as many bytes as its float has.
//!
//! A front end keeps a *cell* beside every float, of the float's own width, and moves cells as the program moves floats.
//! A cell holds a number in place ([`InPlace`]), or a handle for a slot of a table ([`Slots`]). A cell of zeros
//! means no shadow, for every kind. Knows nothing of where cells are.

use crate::format::Format;
use crate::slots::{Cell, HANDLE, Negated, Slots};
use crate::tricks;
use crate::turned::Tag;
use std::borrow::Cow;

/// The content of cells, and what it means.
pub trait Words {
    /// The shadow that a cell stands for.
    type Value: Clone;

    /// True if each byte of a cell belongs to the byte of the float beside it, so that a cell may be split.
    const BYTEWISE: bool;
    /// True if a cell beside a float of two bytes says as much as any.
    const FITS_HALF: bool = Self::BYTEWISE;
    /// True if a cell beside a long double begins with a copy of its last two bytes, which tells what integers have made of these.
    const ENDS_TWICE: bool = false;
    /// True if these bytes are hardly the same beside two floats, as those of numbers in place.
    const ENDS_TELL: bool = false;

    /// The shadow that `cell`, which is not zero, says the float of `format` and `bits` has.
    fn decode(&mut self, format: Format, cell: u128, bits: u128) -> Option<Self::Value>;

    /// The shadow of the float of which that of `format` and `bits` is ±2ᵏ times, where `cell` knows its float: with that, whether it is
    /// turned over, and k.
    fn decode_scaled(&self, _format: Format, _cell: u128, _bits: u128) -> Option<(Self::Value, (bool, i32))> {
        None
    }

    /// The cell for `shadow` beside the float of `format` and `bits`; 0 for none.
    fn encode(&mut self, format: Format, bits: u128, shadow: Self::Value) -> u128;

    /// Tells whether `cell`, which is not zero, is for the eight bytes `bits` as one float, for sure.
    fn is_double(&mut self, cell: u128, bits: u128) -> bool {
        !Self::BYTEWISE && self.decode(Format::F64, cell, bits).is_some()
    }

    /// Tells whether four bytes of a cell, which are not zero, are the upper half of that beside a double; nothing if that cannot be told.
    fn is_upper_half(_half: u32) -> Option<bool> {
        // Whoever knows the float has the whole double for it.
        if Self::BYTEWISE { None } else { Some(false) }
    }

    /// Tells whether a cell of ten bytes is one beside a long double, as far as that can be told.
    fn is_extended(&self, _cell: u128) -> bool {
        false
    }

    /// Tells whether a cell of ten bytes was one beside a long double whose sign and exponent have been replaced since.
    fn is_without_end(&self, _cell: u128) -> bool {
        false
    }

    /// Tells whether `cell`, which is not zero, and beside the eight bytes `bits`, is rather that of a double than two of narrow
    /// floats.
    fn looks_wide(_cell: u64, _bits: u64) -> bool {
        false
    }

    /// The last `bytes` bytes of a cell, such that `change` is that of the float beside it; nothing if that cannot be said
    /// so. See [`tricks::with_exponent_change`].
    fn changed_end(end: u32, bytes: usize, change: (bool, i32)) -> Option<u32> {
        // A handle has no exponent.
        let knows = Self::BYTEWISE || change.1 == 0;
        tricks::with_exponent_change(bytes, end, change).filter(|_| knows)
    }

    /// Mark of cells beside words that are doubles, [turned](crate::turned); nothing where cells stay as they are then, because they
    /// know their floats.
    const TURNED: Option<Tag> = None;

    /// The bits of the double, ±, that `cell` is for, where cells know their floats.
    fn double(&self, _cell: u64) -> Option<u64> {
        None
    }

    /// Tells whether four bytes of a cell mean that there is a shadow, be it that of another float.
    fn is_any(&self, word: u32) -> bool {
        word != 0
    }

    /// The cell that is to be left, as a trace, beside what integers have made of `bytes` bytes beside which `cell`, which is not zero, was
    /// kept: as much of it as is needed from its lowest byte on. Nothing if that is such a trace already, too many times over, or
    /// there are none.
    fn trace(&self, _cell: u128, _bytes: usize) -> Option<u128> {
        None
    }

    /// Tells whether `cell`, which is not zero and beside `bytes` bytes, is such a trace.
    fn is_trace(&self, _cell: u128, _bytes: usize) -> bool {
        false
    }
}

/// Numbers in place, as floats of the format beside them, but as doubles beside those of ten bytes. Nothing, if the number is +0.
///
/// A NaN keeps its fraction, and signals as before: who reads and writes cells does not compute with it.
///
/// **Ten bytes.** The last eight are the double, so that sign and exponent are at the end, as everywhere. The first two are the
/// double's last two again: where a program changes sign and exponent of a long double by integers, what is kept beside those two
/// bytes is changed alike, and the first two tell from where. The exponent there is one of fifteen bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct InPlace;

/// Cell beside a long double that holds these bits, of which the first two bytes are those last of the cell as well.
pub fn beside_extended(bits: u64) -> u128 {
    u128::from(bits) << 16 | u128::from(bits >> 48)
}

impl Words for InPlace {
    type Value = f64;
    const BYTEWISE: bool = true;
    const ENDS_TWICE: bool = true;
    const ENDS_TELL: bool = true;
    /// NaN, so that whoever computes with it anyway has no number.
    const TURNED: Option<Tag> = Some(Tag { upper: 0x7ffd, lower: 0x7fea });

    fn is_extended(&self, cell: u128) -> bool {
        let ends = [cell as u16, (cell >> 64) as u16];
        ends[0] != 0 && ends[0] == ends[1]
    }

    fn is_without_end(&self, cell: u128) -> bool {
        cell as u16 != 0 && cell >> 64 == 0
    }

    /// Lower halves of doubles would be very large or very small as narrow floats, mostly.
    fn looks_wide(cell: u64, bits: u64) -> bool {
        const USUAL: std::ops::RangeInclusive<u32> = 127 - 40..=127 + 40;
        let halves = [cell as u32, bits as u32];
        halves.into_iter().any(|half| half << 1 != 0 && !USUAL.contains(&(half >> 23 & 0xff)))
    }

    fn decode(&mut self, format: Format, cell: u128, _bits: u128) -> Option<f64> {
        Some(match format {
            Format::F80 => of_ten_bytes(cell),
            Format::F32 if f32::from_bits(cell as u32).is_nan() => widened_nan(cell as u32),
            _ => format.to_f64(cell),
        })
    }

    fn encode(&mut self, format: Format, _bits: u128, number: f64) -> u128 {
        let bits = number.to_bits();
        match format {
            _ if bits == 0 => 0,
            Format::F80 => beside_extended(bits),
            Format::F32 if number.is_nan() => narrowed_nan(bits).into(),
            _ => format.from_f64(number),
        }
    }

    /// NaN beside floats of any format, as are its parts that are the end of one; one byte of several counts down. A byte on its own
    /// does not: among others it may become the end of a float.
    fn trace(&self, cell: u128, bytes: usize) -> Option<u128> {
        const LAST: u8 = 0xf0;
        let ones = u128::MAX >> (128 - 8 * bytes);
        // The first two bytes beside a long double are the last two again.
        let at = if bytes == Format::F80.bytes() { 16 } else { 0 };
        let others = ones & !(0xff << at);
        let left = match (cell & ones | !others, (cell >> at) as u8) {
            (u128::MAX, left @ LAST..) if bytes > 1 => left.checked_sub(1).filter(|&left| left >= LAST)?,
            _ => u8::MAX,
        };
        Some(!(0xff << at) | u128::from(left) << at)
    }

    fn is_trace(&self, cell: u128, bytes: usize) -> bool {
        let ones = u128::MAX >> (128 - 8 * bytes);
        // The lowest byte counts down.
        cell & ones | 0xff == ones
    }
}

/// Tells whether a number in place is a [trace](Words::trace), or comes of one by arithmetic.
pub fn is_trace(number: f64) -> bool {
    const UPPER: u32 = 28;
    number.to_bits().leading_ones() >= UPPER
}

/// Bits by which the fraction of an `f64` is longer than that of an `f32`.
const MORE: u32 = 29;

/// A NaN as an `f64`, which signals if it did: a conversion by the processor would have that be lost.
fn widened_nan(bits: u32) -> f64 {
    let [sign, rest] = [bits & 1 << 31, bits & !(1 << 31)].map(u64::from);
    f64::from_bits(sign << 32 | f64::INFINITY.to_bits() | rest << MORE)
}

/// A NaN as an `f32`, likewise, with what fits of its fraction: quiet, if nothing does.
fn narrowed_nan(bits: u64) -> u32 {
    const FRACTION: u32 = (1 << 23) - 1;
    let fraction = (bits >> MORE) as u32 & FRACTION;
    let fraction = if fraction == 0 { 1 << 22 } else { fraction };
    (bits >> 63 << 31) as u32 | f32::INFINITY.to_bits() | fraction
}

/// The number that ten bytes stand for.
fn of_ten_bytes(cell: u128) -> f64 {
    const SIGN: u16 = 0x8000;
    const REST: u64 = (1 << 48) - 1;
    let (bits, was) = ((cell >> 16) as u64, cell as u16);
    let is = (bits >> 48) as u16;
    if is == was {
        return f64::from_bits(bits);
    }
    let number = f64::from_bits((bits & REST) | u64::from(was & !SIGN) << 48);
    let scaled = libm::ldexp(number, i32::from(is & !SIGN) - i32::from(was & !SIGN));
    if is & SIGN == 0 { scaled } else { -scaled }
}

/// Bits of a number in place beside an `f64` that say that it was one beside an `f32`, where a shadow wants to know: of
/// the 29 that an `f64` has more, and such that they are rounded off again by a narrowing. No other number has them but by a
/// chance of one in 2²⁹.
pub const WIDENED: u64 = 0x0aaa_aaaa;

/// Bits of a number in place beside a long double that may say that it was one beside an `f64`, where a shadow wants to know: twelve of
/// those that an error is taken to have lost.
pub const WIDENED_DOUBLE_BITS: u64 = 0x000f_ff00;

/// The mark that these bits are then: as in [`WIDENED`], so that a number marked so stays as it is.
pub const WIDENED_DOUBLE: u64 = WIDENED & WIDENED_DOUBLE_BITS;

/// Cells as they are, whatever they mean.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw;

impl Words for Raw {
    type Value = u128;
    const BYTEWISE: bool = true;

    fn decode(&mut self, _format: Format, cell: u128, _bits: u128) -> Option<u128> {
        Some(cell)
    }

    fn encode(&mut self, _format: Format, _bits: u128, cell: u128) -> u128 {
        cell
    }
}

impl<V: Negated> Words for Slots<V> {
    type Value = V;
    const BYTEWISE: bool = false;

    fn decode(&mut self, format: Format, cell: u128, bits: u128) -> Option<V> {
        self.shadow(format, u64::try_from(cell).ok()?, bits).map(Cow::into_owned)
    }

    fn encode(&mut self, format: Format, bits: u128, shadow: V) -> u128 {
        self.insert(format, bits, shadow).into()
    }

    fn decode_scaled(&self, format: Format, cell: u128, bits: u128) -> Option<(V, (bool, i32))> {
        self.of_power(format, u64::try_from(cell).ok()?, bits)
    }

    fn double(&self, cell: u64) -> Option<u64> {
        self.bits(Cell::of(Format::F64, cell).handle, Format::F64).map(|bits| bits as u64)
    }

    fn is_any(&self, word: u32) -> bool {
        self.stands_for_any(u64::from(word & HANDLE))
    }

    fn trace(&self, cell: u128, _bytes: usize) -> Option<u128> {
        let first = [cell as u32, (cell >> 32) as u32].into_iter().find(|&word| word != 0)?;
        let byte = self.trace_of(u64::from(first & HANDLE))?;
        Some(u128::from_ne_bytes([byte; 16]))
    }

    fn is_trace(&self, cell: u128, _bytes: usize) -> bool {
        [cell as u32, (cell >> 32) as u32].into_iter().all(|word| self.is_trace(u64::from(word & HANDLE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_bytes_follow_sign_and_exponent() {
        for number in [1.5, -3.25e-200, f64::MAX, -0.0, f64::MIN_POSITIVE / 8.0] {
            let cell = InPlace.encode(Format::F80, 0, number);
            assert_eq!(InPlace.decode(Format::F80, cell, 0).map(f64::to_bits), Some(number.to_bits()));
            assert_eq!(InPlace.decode(Format::F80, cell ^ 1 << 79, 0), Some(-number));
        }
        let cell = InPlace.encode(Format::F80, 0, -1.25);
        assert_eq!(InPlace.decode(Format::F80, cell + (33 << 64), 0), Some(-1.25 * 2.0_f64.powi(33)));
        assert_eq!(InPlace.decode(Format::F80, cell - (16 << 64), 0), Some(-1.25 * 2.0_f64.powi(-16)));
        assert_eq!(InPlace.encode(Format::F80, 0, 0.0), 0);
    }

    #[test]
    fn traces_in_place_are_nan_and_come_to_an_end() {
        for format in Format::ALL {
            let mut cell = InPlace.encode(format, 0, 1e-9);
            let mut traces = 0;
            while let Some(trace) = InPlace.trace(cell, format.bytes()) {
                let number = InPlace.decode(format, trace, 0);
                assert!(
                    number.is_some_and(|number| number.is_nan() && is_trace(number)),
                    "{format:?}: {trace:x}"
                );
                cell = trace;
                traces += 1;
            }
            assert_eq!(traces, 16, "{format:?}");
        }
        assert!(!is_trace(f64::NAN) && !is_trace(-1e-300));
    }

    #[test]
    fn traces_of_bytes_are_those_of_the_float_they_become() {
        let byte = InPlace.trace(0x3e, 1).unwrap();
        assert_eq!(InPlace.trace(byte, 1), Some(byte));
        assert!(is_trace(f64::from_bits(0x0101_0101_0101_0101 * u64::from(byte as u8))));
    }

    #[test]
    fn a_nan_that_signals_is_the_same_in_narrow_cells() {
        for nan in [0x7ff0_0000_2000_0000, 0xfff7_ffff_e000_0000, 0x7ff8_0000_0000_0000_u64] {
            let cell = InPlace.encode(Format::F32, 0, f64::from_bits(nan));
            assert_eq!(InPlace.decode(Format::F32, cell, 0).map(f64::to_bits), Some(nan));
        }
        for number in [1.5, -3.25e-20, 1e-42, f64::INFINITY, -0.0] {
            let cell = InPlace.encode(Format::F32, 0, number);
            assert_eq!(cell, Format::F32.from_f64(number));
            let narrow = f64::from(number as f32).to_bits();
            assert_eq!(InPlace.decode(Format::F32, cell, 0).map(f64::to_bits), Some(narrow));
        }
    }
}
