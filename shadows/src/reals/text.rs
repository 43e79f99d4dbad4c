//! Reals as text, in the notation in which the program printed their floats.

use rug::Float;
use rug::float::Round;
use shadowgrind_core::findings::RealText;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::text::{self, Base, Class, Digits, Expand, Notation, first_difference};

use super::real::Real;
use super::{convert, range};
use crate::diagnosis::number::{Attributed, Compared};

/// A float without another real.
const SAME: Compared = Compared { exact: RealText::Same, differs: false };

/// Compares the text of a float with that of its real.
pub(super) fn compared(seen: &Observed<'_, Real>, notation: &Notation) -> Compared {
    let Some(shadow) = seen.shadow else { return SAME };
    if shadow.value().is_exactly(seen.format, seen.bits) && !shadow.is_inexact() {
        return SAME;
    }
    let real = shadow.value().float();
    let printed = notation.write(&text::Float { format: seen.format, bits: seen.bits });
    let own = shadow.narrowed(seen.format, seen.bits).0;
    let written = |real: &Float| notation.write(&Written(real, own));
    // NaN has a sign in floats only.
    let both_nan = real.is_nan() && seen.format.to_f64(seen.bits).is_nan();
    let differs = |text: &String| !both_nan && first_difference(&printed, text).is_some();
    let known = |text: String| match differs(&text) {
        true => Compared { exact: RealText::Other(text), differs: true },
        false => SAME,
    };
    let unknown = |differs| Compared { exact: RealText::Unknown, differs };
    if let Some(side) = range::side_text(shadow) {
        return known(format!("{side} {}", written(&real)));
    }
    if shadow.is_unknown() {
        return unknown(false);
    }
    if shadow.log2_bound() == f32::NEG_INFINITY {
        return known(written(&real));
    }
    if !real.is_finite() {
        return unknown(differs(&written(&real)));
    }
    let bound = Float::with_val(64, 1) << shadow.log2_bound().ceil() as i32;
    let bits = real.prec() + 2;
    let ends = [Float::with_val(bits, &*real - &bound), Float::with_val(bits, &*real + &bound)];
    let [low, high] = ends.map(|end| written(&end));
    // Rounding keeps the order: what is between has that text too.
    if low == high || !differs(&low) && !differs(&high) {
        return known(low);
    }
    unknown(differs(&written(&real)))
}

/// k where the last bit of `x` that is set is worth 2ᵏ; nothing for zero, infinities and NaN.
fn last_bit(x: &Float) -> Option<i64> {
    let significand = x.get_significand()?;
    let below = i64::from(significand.significant_bits()) - i64::from(significand.find_one(0)?);
    Some(i64::from(x.get_exp()?) - below)
}

/// A real to be written down, and the format of its float, before that was promoted.
struct Written<'a>(&'a Float, Format);

impl Expand for Written<'_> {
    fn class(&self) -> Class {
        match self.0 {
            x if x.is_nan() => Class::Nan,
            x if x.is_infinite() => Class::Infinite,
            x if x.is_zero() => Class::Zero,
            _ => Class::Finite,
        }
    }

    fn is_negative(&self) -> bool {
        self.0.is_sign_negative()
    }

    fn exponent(&self) -> i64 {
        self.0.get_exp().unwrap_or(0).into()
    }

    fn expand(&self, base: Base, shift: i64, most: usize) -> Digits {
        let shift = shift.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let magnitude = self.0.clone().abs() << shift;
        let cut = |round| magnitude.to_sign_string_exp_round(base.radix().into(), Some(most.max(2)), round);
        let (_, text, point) = cut(Round::Zero);
        let value = |c: u8| char::from(c).to_digit(16).unwrap_or(0) as u8;
        let digits: Vec<u8> = text.bytes().map(value).collect();
        let more = match last_bit(&magnitude) {
            // Of n bits after the point the last is worth 5 in the nth decimal.
            Some(last @ ..0) if base == Base::Ten => {
                i64::from(point.unwrap_or(0)) - last > digits.len() as i64
            }
            _ => {
                let (_, above, point_above) = cut(Round::Up);
                (text, point) != (above, point_above)
            }
        };
        Digits { base, digits, point: point.unwrap_or(0).into(), more }
    }

    fn nearest(&self, format: Format) -> u128 {
        self.1.convert(convert::round(self.1, self.0), format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::text::{Plain, Style};

    /// A real that is a float has that float's text, in every notation.
    #[test]
    fn reals_are_written_as_floats_are() {
        let notations = [
            Notation::new(Style::Fixed, Some(2)),
            Notation::new(Style::Fixed, Some(60)),
            Notation::new(Style::Scientific, Some(0)),
            Notation::new(Style::Scientific, Some(50)),
            Notation::new(Style::General, Some(6)),
            Notation::new(Style::Hexadecimal(Format::F64), None),
            Notation::new(Style::Hexadecimal(Format::F64), Some(2)),
            Notation::new(Style::Shortest(Format::F64, Plain::Between(-3, 16)), None),
        ];
        let floats = [
            0.0,
            0.125,
            2.5,
            -0.375,
            0.1,
            1e22,
            999.995,
            99999.95,
            5e-324,
            1.5e-310,
            1e300,
            f64::MAX,
            1.0 / 3.0,
            f64::INFINITY,
            0.000123456,
            123456.5,
        ];
        for notation in &notations {
            for x in floats {
                let float = text::Float { format: Format::F64, bits: x.to_bits().into() };
                let real = Float::with_val(256, x);
                assert_eq!(
                    notation.write(&Written(&real, Format::F64)),
                    notation.write(&float),
                    "{x} {notation:?}"
                );
            }
        }
    }

    #[test]
    fn reals_are_rounded_once() {
        // Just above the tie, by less than 40 digits show.
        let tie = Float::with_val(1000, 0.125) + (Float::with_val(1000, 1) >> 500);
        assert_eq!(Notation::new(Style::Fixed, Some(2)).write(&Written(&tie, Format::F64)), "0.13");
        let nines = 1 - (Float::with_val(1000, 1) >> 500);
        assert_eq!(Notation::new(Style::Fixed, Some(3)).write(&Written(&nines, Format::F64)), "1.000");
        let large = Float::with_val(64, 1) << 100_000;
        let text = Notation::new(Style::Fixed, Some(3)).write(&Written(&large, Format::F64));
        assert_eq!(text, "9.99002093014384507944e+30102");
    }
}
