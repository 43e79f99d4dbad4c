//! The fewest digits that read back as the same float.

use super::{Class, Digits, Expand, Float, Notation, Plain};
use crate::format::Format;
use crate::text::Base;

impl Notation {
    /// The fewest digits of the float of `format` that is nearest to `x`.
    pub(super) fn shortest(&self, x: &dyn Expand, format: Format, plain: Plain) -> String {
        let float = Float { format, bits: x.nearest(format) };
        let digits = match float.class() {
            Class::Infinite => return self.words[1].to_owned(),
            Class::Finite => fewest(float),
            _ => Digits::zero(Base::Ten),
        };
        let exponent = if digits.digits.is_empty() { 0 } else { digits.point - 1 };
        let point = if digits.digits.is_empty() { 1 } else { digits.point };
        let after = (digits.digits.len() as i64 - point).max(0) as usize;
        let written_plain = || {
            // C++ writes all digits of a whole number, even those that do not matter.
            let text = match plain {
                Plain::WhereShorter if after == 0 => self.fixed(&float, 0),
                _ => self.plain(&Digits { point, ..digits.clone() }, after),
            };
            if self.point_zero && after == 0 { text + ".0" } else { text }
        };
        let with_exponent = || {
            let all = if digits.digits.is_empty() { &[0][..] } else { &digits.digits };
            self.with_exponent(all, exponent)
        };
        match plain {
            Plain::Always => written_plain(),
            Plain::Never => with_exponent(),
            Plain::Between(least, most) => match (i64::from(least)..=i64::from(most)).contains(&point) {
                true => written_plain(),
                false => with_exponent(),
            },
            Plain::WhereShorter => {
                let (plain, exponent) = (written_plain(), with_exponent());
                if plain.len() <= exponent.len() { plain } else { exponent }
            }
        }
    }
}

/// The fewest digits of a finite float other than zero; of an 80-bit one, those that tell it from all others.
pub(super) fn fewest(x: Float) -> Digits {
    let text = match x.format {
        Format::F32 => format!("{:e}", f32::from_bits(x.bits as u32)),
        Format::F64 => format!("{:e}", f64::from_bits(x.bits as u64)),
        Format::F16 | Format::F80 => return x.expand(Base::Ten, 0, 0).rounded(21),
    };
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.bytes().filter(u8::is_ascii_digit).map(|c| c - b'0').collect();
    let point = exponent.parse().unwrap_or(0i64) + 1;
    Digits { base: Base::Ten, digits, point, more: false }
}
