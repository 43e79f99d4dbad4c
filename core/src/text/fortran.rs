//! Fortran's edit descriptors for reals, and what gfortran makes of them where the standard leaves a choice: the zero before
//! a point goes where there is no room for it, and `-0.00` has its sign.
//!
//! Knows one number and its field, not the format that the descriptor stands in.

use super::{Base, Class, Digits, Expand, Notation, Sign, Style, exactly};

/// Layout of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Letter {
    /// Without an exponent.
    F,
    /// With one, of this letter, and a zero before the point as long as there is no scale factor.
    E(char),
    /// With one, and a single digit before the point.
    Scientific,
    /// With one that is divisible by three, and up to three digits before the point.
    Engineering,
    /// As [`Letter::F`], and blanks in place of the exponent, if all digits before the point are among those asked for, and
    /// with `E` otherwise, where there are so many digits after the point.
    G(u32),
}

/// Edit descriptor, with what is in force where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The layout.
    pub letter: Letter,
    /// The number of characters, 0 for as few as possible; nothing for as many as it takes, with a zero before the point.
    pub width: Option<u32>,
    /// Digits after the point, or altogether in [`Letter::G`].
    pub digits: u32,
    /// Digits of the exponent, at least one; nothing for two, or three without a letter before them.
    pub exponent: Option<u8>,
    /// The scale factor.
    pub scale: i8,
}

impl Edit {
    /// The notation of which this is the style.
    pub fn notation(self, sign: Sign) -> Notation {
        Notation { sign, alternate: true, ..Notation::new(Style::Fortran(self), None) }
    }

    /// The text of `x`.
    pub(super) fn write(&self, notation: &Notation, x: &dyn Expand) -> String {
        let sign = match x.class() {
            Class::Nan => "",
            _ if x.is_negative() => "-",
            _ if notation.sign == Sign::Plus => "+",
            _ => "",
        };
        let words = ["NaN", "Infinity", "Inf"];
        let fits = |word: &str| self.width.is_some_and(|width| word.len() + sign.len() <= width as usize);
        match x.class() {
            Class::Nan => self.filled(words[0].to_owned()),
            Class::Infinite if fits(words[1]) => self.filled(format!("{sign}{}", words[1])),
            Class::Infinite => self.filled(format!("{sign}{}", words[2])),
            Class::Zero | Class::Finite => match self.magnitude(notation, x) {
                Some(body) => self.number(sign, &body),
                None => self.stars(),
            },
        }
    }

    /// A number that fits, without its first zero if there is no room for that.
    fn number(&self, sign: &str, body: &str) -> String {
        let short = body.strip_prefix('0').filter(|rest| rest.starts_with('.') && rest.len() > 1);
        let length = sign.len() + body.len();
        match short {
            Some(short) if self.width.is_some_and(|width| length > width as usize) => {
                self.filled(format!("{sign}{short}"))
            }
            _ => self.filled(format!("{sign}{body}")),
        }
    }

    fn filled(&self, text: String) -> String {
        match self.width {
            Some(width @ 1..) if text.len() > width as usize => self.stars(),
            width => format!("{text:>width$}", width = width.unwrap_or(0) as usize),
        }
    }

    fn stars(&self) -> String {
        "*".repeat(self.width.unwrap_or(0).max(1) as usize)
    }

    /// Digits, point and exponent; nothing if the exponent has more digits than it may.
    pub(super) fn magnitude(&self, notation: &Notation, x: &dyn Expand) -> Option<String> {
        let scale = i64::from(self.scale);
        match self.letter {
            Letter::F => Some(self.fixed(notation, x, scale)),
            Letter::E(letter) => self.with_exponent(x, letter, scale),
            Letter::Scientific => self.with_exponent(x, 'E', 1),
            Letter::Engineering => self.engineering(x),
            Letter::G(after) => self.general(notation, x, after),
        }
    }

    /// Digits, and where an exponent would be needed that as well, with so many digits `after` the point.
    fn general(&self, notation: &Notation, x: &dyn Expand, after: u32) -> Option<String> {
        let wanted = i64::from(self.digits);
        let point = match exactly(x, |_| wanted.max(1)) {
            Some(digits) if !digits.digits.is_empty() => digits.point,
            // As a one.
            _ => 1,
        };
        if !(0..=wanted).contains(&point) || wanted == 0 {
            return Edit { digits: after, ..*self }.with_exponent(x, 'E', i64::from(self.scale));
        }
        let plain = Edit { digits: (wanted - point) as u32, ..*self }.fixed(notation, x, 0);
        let blanks = self.exponent.map_or(4, |digits| usize::from(digits) + 2);
        Some(if self.width.is_some() { plain + &" ".repeat(blanks) } else { plain })
    }

    fn fixed(&self, notation: &Notation, x: &dyn Expand, scale: i64) -> String {
        let after = i64::from(self.digits);
        let mut digits = exactly(x, |point| point + after + scale).unwrap_or_else(|| Digits::zero(Base::Ten));
        if !digits.digits.is_empty() {
            digits.point += scale;
        }
        notation.plain(&digits, self.digits as usize)
    }

    /// Digits of which `scale` are before the point; less than none are zeros after it.
    fn with_exponent(&self, x: &dyn Expand, letter: char, scale: i64) -> Option<String> {
        let wanted = i64::from(self.digits) + if scale > 0 { 1 } else { scale };
        let digits = exactly(x, |_| wanted.max(0))?;
        let exponent = if digits.digits.is_empty() { 0 } else { digits.point - scale };
        Some(self.placed(&digits.digits, wanted, scale) + &self.exponent(letter, exponent)?)
    }

    fn engineering(&self, x: &dyn Expand) -> Option<String> {
        let after = i64::from(self.digits);
        let before = |point: i64| (point - 1).rem_euclid(3) + 1;
        let mut digits = exactly(x, |point| before(point) + after)?;
        let point = if digits.digits.is_empty() { 1 } else { digits.point };
        // A carry has made a digit more than its group takes.
        digits.digits.truncate((before(point) + after) as usize);
        let exponent = point - before(point);
        let text = self.placed(&digits.digits, before(point) + after, before(point));
        Some(text + &self.exponent('E', exponent)?)
    }

    /// So many digits altogether, filled up with zeros, of which `before` are before the point.
    fn placed(&self, digits: &[u8], wanted: i64, before: i64) -> String {
        let mut all: String = digits.iter().map(|&digit| char::from(b'0' + digit)).collect();
        all.truncate(wanted.max(0) as usize);
        let all = format!("{all:0<width$}", width = wanted.max(0) as usize);
        match usize::try_from(before) {
            Ok(before @ 1..) => {
                format!("{}.{}", &all[..before.min(all.len())], all.get(before..).unwrap_or(""))
            }
            _ => format!("0.{}{all}", "0".repeat(before.unsigned_abs() as usize)),
        }
    }

    fn exponent(&self, letter: char, exponent: i64) -> Option<String> {
        let sign = if exponent < 0 { '-' } else { '+' };
        let digits = exponent.abs().to_string();
        match self.exponent {
            None if digits.len() > 3 => None,
            None if digits.len() == 3 => Some(format!("{sign}{digits}")),
            None => Some(format!("{letter}{sign}{digits:0>2}")),
            Some(most) if self.width.is_some() && digits.len() > usize::from(most) => None,
            Some(least) => Some(format!("{letter}{sign}{digits:0>width$}", width = least.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Float;
    use super::*;
    use crate::format::Format;

    fn text(letter: Letter, [width, digits]: [u32; 2], exponent: Option<u8>, scale: i8, x: f64) -> String {
        let edit = Edit { letter, width: Some(width), digits, exponent, scale };
        edit.notation(Sign::None).write(&Float { format: Format::F64, bits: x.to_bits().into() })
    }

    /// Fields as gfortran 12.2 writes them.
    #[test]
    fn fields_are_those_of_gfortran() {
        let numbers = [0.0, 0.3, -0.05, 1.0, 123_456.789, 1e100, 1e-320];
        let all = |letter, size, exponent, scale| numbers.map(|x| text(letter, size, exponent, scale, x));
        let f = all(Letter::F, [4, 2], None, 0);
        assert_eq!(f, ["0.00", "0.30", "-.05", "1.00", "****", "****", "0.00"]);
        let bare = all(Letter::F, [0, 4], None, 0);
        assert_eq!(bare[..5], [".0000", ".3000", "-.0500", "1.0000", "123456.7890"]);
        let scaled = all(Letter::F, [15, 3], None, 1);
        assert_eq!(scaled[1..5].concat(), "          3.000         -0.500         10.000    1234567.890");
        let e = all(Letter::E('E'), [12, 7], None, 0);
        assert_eq!(e[..3], [".0000000E+00", ".3000000E+00", "************"]);
        assert_eq!(e[5..], [".1000000+101", ".9999889-320"]);
        let two = all(Letter::E('E'), [15, 7], None, 2);
        assert_eq!(two[0..4].concat(), "  00.000000E+00  30.000000E-02 -50.000000E-03  10.000000E-01");
        assert_eq!(text(Letter::E('E'), [15, 7], None, -2, 123_456.789), "  0.0012346E+08");
        assert_eq!(text(Letter::E('E'), [15, 7], Some(3), 0, -0.05), "-0.5000000E-001");
        assert_eq!(text(Letter::Scientific, [15, 7], None, 0, 1e100), "  1.0000000+100");
        let engineering = all(Letter::Engineering, [15, 7], None, 0);
        assert_eq!(engineering[1..3].concat(), "300.0000000E-03-50.0000000E-03");
        assert_eq!(engineering[4..6].concat(), "123.4567890E+03 10.0000000E+99");
        assert_eq!(text(Letter::Engineering, [10, 1], None, 0, 999.96), "   1.0E+03");
        let g = all(Letter::G(7), [15, 7], None, 0);
        assert_eq!(g[..4].concat(), "   0.000000      0.3000000     -0.5000000E-01   1.000000    ");
        assert_eq!(g[4..6].concat(), "   123456.8      0.1000000+101");
        assert_eq!(text(Letter::F, [12, 4], None, 0, f64::NEG_INFINITY), "   -Infinity");
        assert_eq!(text(Letter::F, [6, 1], None, 0, f64::INFINITY), "   Inf");
        assert_eq!(text(Letter::F, [2, 0], None, 0, f64::NAN), "**");
    }
}
