//! The notation of a text that somebody has made of a float, found from the text alone: nobody says how it was made.
//!
//! Knows plain and scientific decimal numbers, in the fewest digits or in so many; no hexadecimal ones, and none that were cut off
//! instead of rounded.

use super::decimal::{Decimal, Exponent};
use super::{Float, Notation, Plain, Style};
use crate::format::Format;

/// A text that is one of a float's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The notation in which the float is this text.
    pub notation: Notation,
    /// True if the text has the fewest digits that read back as the float.
    pub is_shortest: bool,
}

/// Notation of this style with an exponent, a point and zeros like those of `text`.
fn notation_like(text: Decimal<'_>, style: Style, precision: Option<u32>) -> Notation {
    let ends_in_zero = text.decimals == Some("0");
    // One digit is the least there is; with a plus sign that goes by none.
    let exponent_digits = match text.exponent {
        Some(Exponent { sign: "", .. }) => 1,
        Some(Exponent { digits, .. }) if digits.len() > 1 => digits.len() as u8,
        _ => 0,
    };
    Notation {
        exponent_digits,
        exponent_zero: ends_in_zero && text.exponent.is_some(),
        point_zero: ends_in_zero && text.exponent.is_none(),
        upper: text.exponent.is_some_and(|exponent| exponent.letter == 'E'),
        alternate: text.decimals == Some(""),
        ..Notation::new(style, precision)
    }
}

/// The notation in which `float` is `text`, a decimal number without a plus sign; nothing if there is none.
pub fn recognise(float: &Float, text: &str) -> Option<Recognised> {
    let decimal = Decimal::of(text)?;
    let decimals = decimal.decimals.map_or(0, str::len) as u32;
    let (plain, style) = match decimal.exponent {
        Some(_) => (Plain::Never, Style::Scientific),
        None => (Plain::Always, Style::Fixed),
    };
    let shortest = notation_like(decimal, Style::Shortest(float.format, plain), None);
    let exact = notation_like(decimal, style, Some(decimals));
    // `d.0e5` in so many digits has a zero for being asked for one.
    let exact = Notation { exponent_zero: false, point_zero: false, ..exact };
    let is = |notation: &Notation| notation.write(float) == text;
    let has_fewest = matches!(float.format, Format::F32 | Format::F64) && is(&shortest);
    if has_fewest {
        return Some(Recognised { notation: shortest, is_shortest: true });
    }
    is(&exact).then_some(Recognised { notation: exact, is_shortest: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(x: f64, text: &str) -> Option<bool> {
        let float = Float { format: Format::F64, bits: x.to_bits().into() };
        let found = recognise(&float, text)?;
        assert_eq!(found.notation.write(&float), text);
        Some(found.is_shortest)
    }

    /// Texts of Java, Ruby, C, JavaScript and OCaml.
    #[test]
    fn texts_of_many_hands_are_recognised() {
        let fewest =
            [(1e23, "1.0E23"), (0.1, "0.1"), (-2.5e-7, "-2.5E-7"), (2.5e-7, "2.5e-07"), (1e21, "1e+21")];
        for (x, text) in
            fewest.into_iter().chain([(100.0, "100.0"), (4.0, "4."), (1.0 / 3.0, "0.3333333333333333")])
        {
            assert_eq!(found(x, text), Some(true), "{text}");
        }
        for (x, text) in
            [(1.0 / 3.0, "0.3333"), (2.0 / 3.0, "6.667e-01"), (-0.1, "-0.1000"), (1234.5678, "1.235e+3")]
        {
            assert_eq!(found(x, text), Some(false), "{text}");
        }
        for (x, text) in
            [(1.0 / 3.0, "0.3334"), (2.0 / 3.0, "0.6666"), (1.0, "-1.0"), (1.5, "1.5x"), (1.5, "0x1.8")]
        {
            assert_eq!(found(x, text), None, "{text}");
        }
    }
}
