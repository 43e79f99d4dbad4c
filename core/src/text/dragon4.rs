//! Layouts of numpy's Dragon4 (`numpy/core/src/multiarray/dragon4.c`): the fewest digits that tell a float from others, but
//! no more than so many, and what becomes of zeros at the end.
//!
//! Knows one number; how wide a column is, numpy finds out by asking for texts before.

use super::shortest::fewest;
use super::{Base, Class, Digits, Expand, Float, Notation, Sign, Style, exactly};
use crate::format::Format;

/// Treatment of zeros at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trim {
    /// Zeros stay, and there are as many as are asked for.
    Keep,
    /// One stays, if nothing else follows the point.
    LeaveOne,
    /// Zeros go.
    Zeros,
    /// Zeros go, and the point with them.
    Point,
}

/// Layout of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dragon4 {
    /// Format of the float.
    pub format: Format,
    /// No more digits than tell it from others.
    pub unique: bool,
    /// Digits after the point, at most, or exactly where they are not the fewest.
    pub precision: Option<u32>,
    /// Digits after the point, at least, where they are the fewest.
    pub least: u32,
    /// Zeros at the end.
    pub trim: Trim,
    /// Width of sign and digits before the point.
    pub left: u32,
    /// The part after that.
    pub rest: Rest,
}

/// Layout of what follows a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rest {
    /// Width of digits after the point.
    Positional(u32),
    /// Digits of the exponent, at least.
    Scientific(u32),
}

impl Dragon4 {
    /// The notation of which this is the style.
    pub fn notation(self, sign: Sign) -> Notation {
        Notation { sign, ..Notation::new(Style::Dragon4(self), None) }
    }

    /// The text of `x`.
    pub(super) fn write(&self, notation: &Notation, x: &dyn Expand) -> String {
        let sign = match notation.sign {
            _ if x.is_negative() && x.class() != Class::Nan => "-",
            Sign::Plus => "+",
            _ => "",
        };
        match x.class() {
            Class::Nan => notation.words[0].to_owned(),
            Class::Infinite => format!("{sign}{}", notation.words[1]),
            Class::Zero | Class::Finite => self.number(sign, x),
        }
    }

    fn number(&self, sign: &str, x: &dyn Expand) -> String {
        let digits = self.digits(x);
        let is_zero = digits.digits.is_empty();
        let (before, exponent) = match self.rest {
            Rest::Positional(_) => (if is_zero { 1 } else { digits.point }, None),
            Rest::Scientific(least) => (1, Some((if is_zero { 0 } else { digits.point - 1 }, least))),
        };
        let digit = |place: i64| {
            let index = usize::try_from(place).ok();
            index.and_then(|index| digits.digits.get(index)).map_or('0', |&digit| char::from(b'0' + digit))
        };
        let whole: String = if before > 0 { (0..before).map(digit).collect() } else { "0".to_owned() };
        let after = (digits.digits.len() as i64 - before).max(0);
        let fraction = self.trimmed((before..before + after).map(digit).collect());
        let missing = (self.left as usize).saturating_sub(sign.len() + whole.len());
        let text = format!("{}{sign}{whole}{fraction}", " ".repeat(missing));
        match (self.rest, exponent) {
            (Rest::Positional(right), _) => {
                let written = fraction.chars().count() as u32;
                let width = if right > 0 || self.trim != Trim::Point { right + 1 } else { 0 };
                text + &" ".repeat(width.saturating_sub(written) as usize)
            }
            (_, Some((exponent, least))) => {
                let sign = if exponent < 0 { '-' } else { '+' };
                format!("{text}e{sign}{:0width$}", exponent.abs(), width = least as usize)
            }
            (Rest::Scientific(_), None) => text,
        }
    }

    /// Point and digits after it.
    fn trimmed(&self, mut fraction: String) -> String {
        let least = if self.unique { self.least } else { self.precision.unwrap_or(0) } as usize;
        if self.trim == Trim::Keep {
            return format!(".{fraction:0<least$}");
        }
        fraction.truncate(fraction.trim_end_matches('0').len());
        match (fraction.is_empty(), self.trim) {
            (true, Trim::LeaveOne) => ".0".to_owned(),
            (true, Trim::Point) => String::new(),
            _ => format!(".{fraction}"),
        }
    }

    fn digits(&self, x: &dyn Expand) -> Digits {
        let float = Float { format: self.format, bits: x.nearest(self.format) };
        let x: &dyn Expand = if self.unique { &float } else { x };
        if x.class() != Class::Finite {
            return Digits::zero(Base::Ten);
        }
        // Digits altogether, where the point is there.
        let most = |point: i64| {
            self.precision.map(|precision| match self.rest {
                Rest::Positional(_) => point + i64::from(precision),
                Rest::Scientific(_) => 1 + i64::from(precision),
            })
        };
        let unique = self.unique.then(|| fewest(float));
        match unique {
            Some(digits) if most(digits.point).is_none_or(|most| digits.digits.len() as i64 <= most) => {
                digits
            }
            _ => {
                let mut digits =
                    exactly(x, |point| most(point).unwrap_or(0)).unwrap_or(Digits::zero(Base::Ten));
                if digits.digits.iter().all(|&digit| digit == 0) {
                    return Digits::zero(Base::Ten);
                }
                // What was carried leaves nothing after it.
                let kept = digits.digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
                digits.digits.truncate(kept);
                digits
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(x: f64, precision: Option<u32>, trim: Trim, [left, least]: [u32; 2], rest: Rest) -> String {
        let (format, unique) = (Format::F64, true);
        let style = Dragon4 { format, unique, precision, least, trim, left, rest };
        style.notation(Sign::None).write(&Float { format, bits: x.to_bits().into() })
    }

    /// Texts as numpy 1.24 makes them.
    #[test]
    fn texts_are_those_of_numpy() {
        use Rest::{Positional, Scientific};
        let x = 0.299_999_997_019_767_76;
        assert_eq!(text(x, Some(8), Trim::Zeros, [1, 0], Positional(1)), "0.3");
        assert_eq!(text(2.0, Some(8), Trim::Zeros, [1, 0], Positional(1)), "2. ");
        assert_eq!(text(2.0, Some(8), Trim::Point, [3, 0], Positional(2)), "  2   ");
        assert_eq!(text(x, None, Trim::LeaveOne, [0, 0], Positional(0)), "0.29999999701976776");
        assert_eq!(text(-3e22, None, Trim::LeaveOne, [0, 0], Positional(0)), "-30000000000000000000000.0");
        assert_eq!(text(x, Some(8), Trim::Keep, [1, 8], Scientific(2)), "2.99999997e-01");
        assert_eq!(text(2e10, Some(8), Trim::Keep, [3, 8], Scientific(2)), "  2.00000000e+10");
        assert_eq!(text(0.0, Some(8), Trim::Keep, [1, 3], Positional(3)), "0.000");
        assert_eq!(text(1e-9, Some(8), Trim::Zeros, [1, 0], Positional(3)), "0.   ");
        assert_eq!(text(f64::NAN, Some(8), Trim::Keep, [9, 3], Positional(3)), "nan");
    }
}
