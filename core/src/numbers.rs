//! Cells that name results by number: what a shadow has that keeps a record of all operations.
//!
//! A cell is laid out like a float, so that whatever is done to floats in place is done to cells alike: signs turned over by
//! logic, exponents changed by sums of integers, halves moved on their own. Beside a double the fraction is for the number of the
//! result and the exponent is the power of two that the float has been scaled by since. Beside an `f32` there is room for a sign
//! and a number, which begin at such a value that the last byte is never zero, nor as large as that of a double.
//!
//! Cells of numbers are odd. Where a program has cut last bytes off a float they are even, and not taken for those of another number.

use crate::format::Format;
use crate::tricks;
use crate::turned::Tag;
use crate::words::{Words, beside_extended};

/// The shadow of a float, which is ±2ᵏ times the result of this number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbered {
    /// Number of the result.
    pub number: u64,
    /// True for the result's opposite.
    pub negated: bool,
    /// The power k.
    pub power: i32,
}

impl Numbered {
    /// A result as it is.
    pub const fn new(number: u64) -> Numbered {
        Numbered { number, negated: false, power: 0 }
    }

    /// The shadow of ±2ᵏ times the float of this one.
    pub const fn scaled(self, negate: bool, power: i32) -> Numbered {
        Numbered { negated: self.negated != negate, power: self.power.saturating_add(power), ..self }
    }

    /// The derivative by the result of what has this one by the float.
    #[inline(always)]
    pub fn by_result(self, partial: f64) -> f64 {
        let partial = if self.negated { -partial } else { partial };
        if self.power == 0 { partial } else { libm::ldexp(partial, self.power) }
    }

    /// Tells whether it is no shadow of a float but other bits of cells: a half of one, two beside each other, two combined.
    pub const fn is_bits(self) -> bool {
        self.number & BITS != 0
    }

    /// Bits of a cell of so many, whose sign comes first.
    #[inline(always)]
    const fn bits(cell: u64, width: u32) -> Numbered {
        let sign = 1 << (width - 1);
        Numbered { number: BITS | cell & !sign, negated: cell & sign != 0, power: 0 }
    }

    /// Tells whether cells beside floats of `format` have room for it.
    pub const fn fits(self, format: Format) -> bool {
        match format {
            Format::F16 => false,
            // The upper half of a double's cell has its exponent.
            Format::F32 if self.is_bits() => self.power == 0 || self.number & !BITS >= DOUBLES as u64,
            Format::F32 => self.power == 0 && self.number < SINGLES,
            Format::F64 | Format::F80 if self.is_bits() => self.power == 0,
            Format::F64 | Format::F80 => POWERS.0 <= self.power && self.power <= POWERS.1,
        }
    }
}

/// Bits of a double's exponent.
const BIAS: i32 = 1023;
/// Bits of a double's fraction: in a cell beside an `f64`, those that say the number.
pub const FRACTION_BITS: u32 = 52;
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
/// The least and the largest power of two that cells have room for; what is beyond is an operation.
const POWERS: (i32, i32) = (-250, 1000);
/// The cell of an `f32` less the number. Its last byte is none of those that marks have, which a rotation puts in their place.
const SINGLE: u32 = 0x0200_0000;
/// The least number of a result: 0 is none's, and its cell would be what [marks the rest](crate::shadow::Cells::mark_rest) of a float.
pub const FIRST: u64 = 1;
/// Numbers that cells of an `f32` have room for.
pub const SINGLES: u64 = (DOUBLES - SINGLE) as u64 / cells_apart(1);
/// The least upper half of a double's cell.
const DOUBLES: u32 = 0x3000_0000;
/// More numbers than there are: what is taken for one beside a long double, and is larger, is something else. So are cells of narrow
/// floats.
const NUMBERS: u64 = 1 << 40;
/// Bit of a number that is none.
const BITS: u64 = 1 << 63;

/// Difference between the cells of results whose numbers are so far apart.
pub const fn cells_apart(numbers: u64) -> u64 {
    2 * numbers
}

/// Code of a number in its cell, beyond sign and power: odd, so that it tells from one of which last bytes are missing.
const fn coded(number: u64) -> u64 {
    cells_apart(number) | 1
}

/// The number with this code; nothing if it is that of none.
#[inline(always)]
const fn decoded(code: u64) -> Option<u64> {
    if code & 1 != 0 { Some(code / cells_apart(1)) } else { None }
}

/// The cell beside an `f64` of the result of this number. Those of numbers that follow are [apart](cells_apart) by a constant.
pub const fn double_cell(number: u64) -> u64 {
    (BIAS as u64) << FRACTION_BITS | coded(number)
}

/// Difference between the cell beside an `f32` and the lower half of that beside an `f64`.
pub const SINGLE_MORE: u32 = SINGLE;

/// Shadow that a cell of eight bytes stands for.
#[inline(always)]
pub const fn of_double(cell: u64) -> Option<Numbered> {
    const SIGN: u64 = 1 << 63;
    let magnitude = cell & !SIGN;
    let power = (magnitude >> FRACTION_BITS) as i32 - BIAS;
    match decoded(cell & FRACTION) {
        Some(number) if magnitude >> 32 >= DOUBLES as u64 => {
            Some(Numbered { number, negated: cell & SIGN != 0, power })
        }
        _ => None,
    }
}

/// Shadow that a cell of four bytes stands for.
#[inline(always)]
pub const fn of_single(cell: u32) -> Option<Numbered> {
    const SIGN: u32 = 1 << 31;
    let (magnitude, negated) = (cell & !SIGN, cell & SIGN != 0);
    match decoded(magnitude as u64) {
        Some(number) if SINGLE < magnitude && magnitude < DOUBLES => {
            Some(Numbered { number: number - SINGLE as u64 / cells_apart(1), negated, power: 0 })
        }
        _ => None,
    }
}

/// Shadow that a cell beside an `f80` stands for: that of a double, after a copy of its last two bytes. Where a program has changed sign
/// and exponent of the float by integers, the last two bytes have been changed alike, by an exponent of fifteen bits.
fn of_extended(cell: u128) -> Option<Numbered> {
    const SIGN: u16 = 1 << 15;
    const REST: u64 = (1 << 48) - 1;
    let (was, is) = (cell as u16, (cell >> 64) as u16);
    let made = of_double((cell >> 16) as u64 & REST | u64::from(was & !SIGN) << 48)?;
    let power = i32::from(is & !SIGN) - i32::from(was & !SIGN);
    let shadow = Numbered { negated: is & SIGN != 0, power: made.power + power, ..made };
    (made.number < NUMBERS).then_some(shadow)
}

/// Coder of shadows that are numbers of results into cells of the mirror, and back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers;

impl Words for Numbers {
    type Value = Numbered;
    const BYTEWISE: bool = true;
    const FITS_HALF: bool = false;
    const ENDS_TWICE: bool = true;
    /// Neither a double's cell nor, its halves, those of narrow floats.
    const TURNED: Option<Tag> = Some(Tag { upper: 0x00ed, lower: 0x7fea });

    fn decode(&mut self, format: Format, cell: u128, _bits: u128) -> Option<Numbered> {
        let (low, width) = (cell as u64, format.width());
        match format {
            Format::F16 => None,
            Format::F32 => of_single(low as u32).or(Some(Numbered::bits(low, width))),
            Format::F64 => of_double(low).or(Some(Numbered::bits(low, width))),
            Format::F80 => of_extended(cell),
        }
    }

    fn encode(&mut self, format: Format, _bits: u128, shadow: Numbered) -> u128 {
        let Numbered { number, negated, power } = shadow;
        if !shadow.fits(format) {
            return 0;
        }
        let bits = match format {
            Format::F16 => 0,
            Format::F32 if shadow.is_bits() => {
                let exponent = i64::from(power) << (FRACTION_BITS - 32);
                u128::from((number & !BITS).wrapping_add_signed(exponent) as u32 & !(1 << 31))
            }
            Format::F32 => u128::from(SINGLE + coded(number) as u32),
            Format::F64 if shadow.is_bits() => u128::from(number & !BITS),
            Format::F80 if shadow.is_bits() => return 0,
            Format::F64 | Format::F80 => u128::from(((BIAS + power) as u64) << FRACTION_BITS | coded(number)),
        };
        if format == Format::F80 {
            return beside_extended(bits as u64 | u64::from(negated) << (Format::F64.width() - 1));
        }
        bits | u128::from(negated) << (format.width() - 1)
    }

    fn is_double(&mut self, cell: u128, _bits: u128) -> bool {
        of_double(cell as u64).is_some()
    }

    fn is_upper_half(half: u32) -> Option<bool> {
        Some(half & !(1 << 31) >= DOUBLES)
    }

    fn is_extended(&self, cell: u128) -> bool {
        of_extended(cell).is_some_and(|shadow| shadow.fits(Format::F80))
    }

    fn is_without_end(&self, cell: u128) -> bool {
        of_extended(cell).is_some_and(|shadow| !shadow.fits(Format::F80))
    }

    /// Upper halves of two doubles' cells, beside each other, have as low a half as few numbers have.
    fn looks_wide(cell: u64, _bits: u64) -> bool {
        of_double(cell).is_some() && Numbers::is_upper_half(cell as u32) == Some(false)
    }

    fn changed_end(end: u32, bytes: usize, change: (bool, i32)) -> Option<u32> {
        let left = end << (32 - 8 * bytes);
        let has_exponent = left & !(1 << 31) >= DOUBLES;
        tricks::with_exponent_change(bytes, end, change).filter(|_| change.1 == 0 || has_exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Format; 3] = [Format::F32, Format::F64, Format::F80];

    #[test]
    fn cells_say_what_was_put_in() {
        for number in [1, 255, 256, 1 << 24, SINGLES - 1, SINGLES, 1 << 39 | 1] {
            for (negated, power) in [(false, 0), (true, 0), (false, 3), (true, -199)] {
                let shadow = Numbered { number, negated, power };
                for format in ALL {
                    let cell = Numbers.encode(format, 0, shadow);
                    let back = Numbers.decode(format, cell, 0).filter(|back| !back.is_bits());
                    assert_eq!(back, shadow.fits(format).then_some(shadow), "{format:?} {cell:#x}");
                }
            }
        }
        assert_eq!(Numbers.encode(Format::F64, 0, Numbered::new(7)), double_cell(7).into());
        let low = double_cell(7) as u32 + SINGLE_MORE;
        assert_eq!(Numbers.encode(Format::F32, 0, Numbered::new(7)), low.into());
    }

    #[test]
    fn a_part_of_a_cell_is_no_shadow_of_a_float() {
        let cell = double_cell(77);
        assert_eq!(of_double(cell & !0xffff_ffff), None);
        assert_eq!(of_double(cell & 0xffff_ffff), None);
        assert_eq!(of_single(cell as u32), None);
        let pair = 2 * (1_u64 << 32 | 1) * u64::from(SINGLE);
        assert_eq!(of_double(pair), None);
    }

    /// Whatever the number: one without its last bytes may well be that of another result.
    #[test]
    fn cells_that_have_lost_their_last_bytes_name_no_result() {
        for number in [1, 0x80, 0x8000, 0x1234_5678, SINGLES - 1, 1 << 33 | 1 << 16] {
            for bits in [8, 16, 24, 32, 40] {
                let cut = |cell: u128| cell >> bits << bits;
                let double = Numbers.encode(Format::F64, 0, Numbered::new(number));
                assert_eq!(of_double(cut(double) as u64), None, "{number:#x} without {bits} bits");
                let single = Numbers.encode(Format::F32, 0, Numbered::new(number));
                assert_eq!(of_single(cut(single) as u32), None, "{number:#x} without {bits} bits");
            }
        }
    }

    #[test]
    fn other_bits_are_kept_and_have_a_sign() {
        let pair = u64::from(SINGLE + 3) << 32 | u64::from(SINGLE + 5);
        for cell in [pair, double_cell(7) ^ double_cell(1 << 33), 1] {
            let bits = Numbers.decode(Format::F64, cell.into(), 0).unwrap();
            assert!(bits.is_bits() && !Numbers.is_double(cell.into(), 0));
            assert_eq!(Numbers.encode(Format::F64, 0, bits), cell.into());
            assert_eq!(Numbers.encode(Format::F64, 0, bits.scaled(true, 0)), (cell | 1 << 63).into());
            assert!(!bits.scaled(false, 1).fits(Format::F64));
        }
    }

    #[test]
    fn upper_halves_take_signs_and_exponents_along() {
        let (cell, shadow) = (double_cell(77), Numbered::new(77));
        let half = Numbers.decode(Format::F32, (cell >> 32).into(), 0).unwrap();
        assert!(half.is_bits());
        let changed = Numbers.encode(Format::F32, 0, half.scaled(true, 0)) as u64;
        assert_eq!(of_double(changed << 32 | cell & 0xffff_ffff), Some(shadow.scaled(true, 0)));
        for bytes in [2, 4] {
            let end = (cell >> (64 - 8 * bytes)) as u32;
            let one = 1 << (8 * bytes - 12);
            let changed = Numbers::changed_end(end, bytes, (true, 3 * one)).unwrap();
            let low = cell & u64::MAX >> (8 * bytes);
            assert_eq!(of_double(u64::from(changed) << (64 - 8 * bytes) | low), Some(shadow.scaled(true, 3)));
        }
        let single = SINGLE + coded(5) as u32;
        assert_eq!(Numbers::changed_end(single, 4, (false, 1 << 23)), None);
        assert_eq!(Numbers::changed_end(single, 4, (true, 0)), Some(single | 1 << 31));
    }
}
