//! A decimal number as a text, such as `-12.50e+3`: what it consists of, and what it is worth.
//!
//! Knows neither floats nor how they are written: [`recognise`](super::recognise) compares a text with what a float would be.

/// Text of a decimal number. It has a digit before the point or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal<'a> {
    /// All of it.
    text: &'a str,
    /// Digits before the point.
    whole: &'a str,
    /// Digits after the point; nothing without a point.
    pub decimals: Option<&'a str>,
    /// The exponent, if there is one.
    pub exponent: Option<Exponent<'a>>,
}

/// Exponent of a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exponent<'a> {
    /// The letter: `e`, `E`, or Fortran's `d` or `D`.
    pub letter: char,
    /// The sign: `+`, `-` or empty.
    pub sign: &'a str,
    /// The digits, one at least.
    pub digits: &'a str,
}

impl<'a> Decimal<'a> {
    /// The decimal number that `text` begins with, as long as it can be; nothing if there is none.
    pub fn at_start(text: &'a [u8]) -> Option<Decimal<'a>> {
        let mut rest = Rest { text, at: 0 };
        rest.sign();
        let whole = rest.digits();
        let decimals = rest.skip(b".").map(|_| rest.digits());
        if whole.is_empty() && decimals.is_none_or(str::is_empty) {
            return None;
        }
        let mut end = rest.at;
        let exponent = rest.exponent();
        if exponent.is_some() {
            end = rest.at;
        }
        Some(Decimal { text: ascii(&text[..end]), whole, decimals, exponent })
    }

    /// `text` as a decimal number; nothing if it is none.
    pub fn of(text: &'a str) -> Option<Decimal<'a>> {
        Decimal::at_start(text.as_bytes()).filter(|decimal| decimal.text.len() == text.len())
    }

    /// Number of characters.
    pub fn length(&self) -> usize {
        self.text.len()
    }

    /// Tells whether it has neither point nor exponent.
    pub fn is_integer(&self) -> bool {
        self.decimals.is_none() && self.exponent.is_none()
    }

    /// The nearest double.
    pub fn value(&self) -> f64 {
        let is_fortran = self.exponent.is_some_and(|exponent| matches!(exponent.letter, 'd' | 'D'));
        let value = if is_fortran { self.text.replace(['d', 'D'], "e").parse() } else { self.text.parse() };
        value.expect("every decimal number has a value")
    }

    /// Number of digits from the first on that is not zero, without those of the exponent.
    pub fn significant_digits(&self) -> usize {
        let digits = self.whole.bytes().chain(self.decimals.unwrap_or_default().bytes());
        digits.skip_while(|&digit| digit == b'0').count()
    }

    /// One in the place of the last digit, as a double; infinite or zero where that is beyond the range.
    pub fn unit(&self) -> f64 {
        10f64.powi(self.last_place())
    }

    /// Power of ten for which the last digit stands.
    pub fn last_place(&self) -> i32 {
        let decimals = self.decimals.map_or(0, str::len) as i32;
        let exponent = self.exponent.map_or(0, |Exponent { sign, digits, .. }| {
            let size = digits.parse().unwrap_or(i32::MAX / 2);
            if sign == "-" { -size } else { size }
        });
        exponent - decimals
    }
}

/// Text from some character on.
struct Rest<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    /// Goes past a character that is one of `wanted`.
    fn skip(&mut self, wanted: &[u8]) -> Option<u8> {
        let found = self.text.get(self.at).copied().filter(|byte| wanted.contains(byte))?;
        self.at += 1;
        Some(found)
    }

    fn sign(&mut self) -> &'a str {
        let start = self.at;
        self.skip(b"+-");
        ascii(&self.text[start..self.at])
    }

    fn digits(&mut self) -> &'a str {
        let start = self.at;
        self.at += self.text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        ascii(&self.text[start..self.at])
    }

    fn exponent(&mut self) -> Option<Exponent<'a>> {
        let letter = char::from(self.skip(b"eEdD")?);
        let (sign, digits) = (self.sign(), self.digits());
        (!digits.is_empty()).then_some(Exponent { letter, sign, digits })
    }
}

/// Signs, digits, points and letters as a string.
fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("characters of ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_no_longer_one_begins() {
        for (text, length, value) in [
            ("1.5, -2", 3, 1.5),
            ("-2e3", 4, -2000.0),
            ("+7.", 3, 7.0),
            (".5 ", 2, 0.5),
            ("3D0", 3, 3.0),
            ("1.5d-1x", 6, 0.15),
            ("10k", 2, 10.0),
            ("5e", 1, 5.0),
            ("5e+", 1, 5.0),
            ("0x1.8", 1, 0.0),
        ] {
            let found = Decimal::at_start(text.as_bytes()).expect(text);
            assert_eq!((found.length(), found.value()), (length, value), "{text}");
        }
        for text in ["", "-", ".", "+.e1", "e5", "nan", "inf"] {
            assert_eq!(Decimal::at_start(text.as_bytes()), None, "{text}");
        }
        assert_eq!(["1.5x", "1.5 ", "1e"].map(Decimal::of), [None; 3]);
    }

    #[test]
    fn digits_are_counted_from_the_first_that_is_not_zero() {
        for (text, digits) in
            [("0.00120", 3), ("-12.5e10", 3), ("100.0", 4), ("0.0", 0), ("+.05d2", 1), ("007.", 1)]
        {
            assert_eq!(Decimal::of(text).map(|decimal| decimal.significant_digits()), Some(digits), "{text}");
        }
    }

    #[test]
    fn the_unit_is_that_of_the_last_digit() {
        for (text, unit) in [
            ("12", 1.0),
            ("-1.25", 1e-2),
            ("4.", 1.0),
            ("1.5e3", 1e2),
            ("2.5E-07", 1e-8),
            ("1e+2", 1e2),
            ("1e99999999999", f64::INFINITY),
            ("1e-99999999999", 0.0),
        ] {
            assert_eq!(Decimal::of(text).map(|decimal| decimal.unit()), Some(unit), "{text}");
        }
    }

    #[test]
    fn integers_have_neither_point_nor_exponent() {
        let is_integer = |text| Decimal::of(text).is_some_and(|decimal| decimal.is_integer());
        assert_eq!(["12", "-3", "4.", "1e5"].map(is_integer), [true, true, false, false]);
    }
}
