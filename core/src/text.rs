//! Numbers as text: what a program's formatting functions make of a float, and would make of the real it stands for.
//!
//! A [`Notation`] is what was asked for: C's conversions with their flags, and what other languages have beyond them.
//! Digits are those of the number rounded to nearest, ties to even. Knows no locale: the decimal point is a point, and
//! digits are not grouped.

mod decimal;
mod digits;
pub mod dragon4;
pub mod fortran;
pub mod hexadecimal;
mod recognised;
mod shortest;

pub use decimal::{Decimal, Exponent};
pub use digits::{Base, Class, Digits, Expand, Float};
pub use recognised::{Recognised, recognise};

use crate::format::Format;

/// More digits than anybody asks for: what has more is not written down.
pub const MOST: u32 = 5000;

/// Layout of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// C's `%f`.
    Fixed,
    /// C's `%e`.
    Scientific,
    /// C's `%g`.
    General,
    /// C's `%a`; how many bits are before the point differs between formats.
    Hexadecimal(Format),
    /// The fewest digits that read back as the same float of this format.
    Shortest(Format, Plain),
    /// A field of Fortran's, of which nothing else here is said but the sign.
    Fortran(fortran::Edit),
    /// numpy's text, of which nothing else here is said but the sign and the words.
    Dragon4(dragon4::Dragon4),
}

/// Condition under which the fewest digits are written without an exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plain {
    /// Always, as Rust's `{}`.
    Always,
    /// Never.
    Never,
    /// If the point is within these bounds, counted from before the first digit, both included: Python's `repr` has −3
    /// and 16.
    Between(i16, i16),
    /// If the text is no longer that way, as C++'s `to_chars` has it.
    WhereShorter,
}

/// Sign of numbers that are not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Nothing.
    #[default]
    None,
    /// A blank.
    Blank,
    /// `+`.
    Plus,
}

/// Side on which a text is filled up to its width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Before the number.
    #[default]
    Before,
    /// After the number.
    After,
    /// Between sign and digits.
    Inside,
}

/// Notation of a number's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notation {
    /// The layout.
    pub style: Style,
    /// Digits after the point, or altogether in [`Style::General`]; as many as there are where that says nothing.
    pub precision: Option<u32>,
    /// Before numbers that are not negative.
    pub sign: Sign,
    /// C's `#`: the point is always there, and zeros at the end stay.
    pub alternate: bool,
    /// Letters are capitals.
    pub upper: bool,
    /// Digits of exponents, at least. One: without a plus sign, as in Rust; none: with it, as in JavaScript.
    pub exponent_digits: u8,
    /// A point and a zero follow a single digit before an exponent, as in PHP.
    pub exponent_zero: bool,
    /// A point and a zero follow whole numbers without an exponent, as in Python and Rust's `{:?}`.
    pub point_zero: bool,
    /// The least number of characters.
    pub width: u32,
    /// The side on which missing characters are added.
    pub fill: Fill,
    /// The character that is added.
    pub with: char,
    /// The words for what is no number, and for infinity.
    pub words: [&'static str; 2],
}

impl Notation {
    /// The plainest of this style, as C has it.
    pub const fn new(style: Style, precision: Option<u32>) -> Notation {
        Notation {
            style,
            precision,
            sign: Sign::None,
            alternate: false,
            upper: false,
            exponent_digits: 2,
            exponent_zero: false,
            point_zero: false,
            width: 0,
            fill: Fill::Before,
            with: ' ',
            words: ["nan", "inf"],
        }
    }

    /// The text of `x`.
    pub fn write(&self, x: &dyn Expand) -> String {
        match self.style {
            Style::Fortran(edit) => return edit.write(self, x),
            Style::Dragon4(layout) => return layout.write(self, x),
            _ => {}
        }
        let mut body = match x.class() {
            Class::Nan => self.words[0].to_owned(),
            Class::Infinite => self.words[1].to_owned(),
            Class::Zero | Class::Finite => self.magnitude(x),
        };
        if self.upper {
            body.make_ascii_uppercase();
        }
        self.filled(self.sign_of(x), &body, matches!(x.class(), Class::Zero | Class::Finite))
    }

    fn sign_of(&self, x: &dyn Expand) -> &'static str {
        match self.sign {
            _ if x.is_negative() => "-",
            Sign::None => "",
            Sign::Blank => " ",
            Sign::Plus => "+",
        }
    }

    fn filled(&self, sign: &str, body: &str, is_number: bool) -> String {
        let length = sign.len() + body.chars().count();
        let missing = (self.width as usize).saturating_sub(length);
        let fill = |with: char| String::from(with).repeat(missing);
        match self.fill {
            Fill::Before => format!("{}{sign}{body}", fill(self.with)),
            Fill::After => format!("{sign}{body}{}", fill(self.with)),
            // C does not fill up `inf` with zeros.
            Fill::Inside if !is_number && self.with == '0' => format!("{}{sign}{body}", fill(' ')),
            Fill::Inside => format!("{sign}{}{body}", fill(self.with)),
        }
    }

    /// Digits, point and exponent.
    fn magnitude(&self, x: &dyn Expand) -> String {
        match self.style {
            Style::Fixed => self.fixed(x, self.precision.unwrap_or(6)),
            Style::Scientific => self.scientific(x, self.precision.unwrap_or(6)),
            Style::General => self.general(x),
            Style::Hexadecimal(format) => self.hexadecimal(x, format),
            Style::Shortest(format, plain) => self.shortest(x, format, plain),
            Style::Fortran(edit) => edit.magnitude(self, x).unwrap_or_default(),
            Style::Dragon4(layout) => layout.write(self, x),
        }
    }

    fn fixed(&self, x: &dyn Expand, precision: u32) -> String {
        let Some(digits) = exactly(x, |point| point + i64::from(precision)) else {
            // Nobody has so much paper.
            return self.scientific(x, 20);
        };
        self.plain(&digits, precision as usize)
    }

    /// So many digits after the point of a number that has been rounded to them.
    fn plain(&self, digits: &Digits, precision: usize) -> String {
        let digit = |place: i64| match usize::try_from(place) {
            Ok(place) => digits.digits.get(place).map_or('0', |&digit| character(digit)),
            Err(_) => '0',
        };
        let mut text: String = match digits.point {
            1.. => (0..digits.point).map(digit).collect(),
            _ => "0".into(),
        };
        if precision > 0 || self.alternate {
            text.push('.');
        }
        text.extend((0..precision as i64).map(|place| digit(digits.point + place)));
        text
    }

    fn scientific(&self, x: &dyn Expand, precision: u32) -> String {
        let digits = exactly(x, |_| i64::from(precision) + 1).unwrap_or_else(|| Digits::zero(Base::Ten));
        let mut all = digits.digits.clone();
        all.resize(precision as usize + 1, 0);
        self.with_exponent(&all, if digits.digits.is_empty() { 0 } else { digits.point - 1 })
    }

    /// `d.ddde±xx`
    fn with_exponent(&self, digits: &[u8], exponent: i64) -> String {
        let (first, rest) = digits.split_first().unwrap_or((&0, &[]));
        let mut text = String::from(character(*first));
        if !rest.is_empty() || self.alternate {
            text.push('.');
        }
        text.extend(rest.iter().map(|&digit| character(digit)));
        if rest.is_empty() && self.exponent_zero {
            text.push_str(".0");
        }
        let sign = match exponent {
            ..0 => "-",
            _ if self.exponent_digits != 1 => "+",
            _ => "",
        };
        format!("{text}e{sign}{:0width$}", exponent.abs(), width = self.exponent_digits.into())
    }

    fn general(&self, x: &dyn Expand) -> String {
        let precision = i64::from(self.precision.unwrap_or(6).max(1));
        let digits = exactly(x, |_| precision).unwrap_or_else(|| Digits::zero(Base::Ten));
        let exponent = if digits.digits.is_empty() { 0 } else { digits.point - 1 };
        let mut all = digits.digits.clone();
        all.resize(precision as usize, 0);
        if !self.alternate {
            let kept = all.iter().rposition(|&digit| digit != 0).map_or(1, |last| last + 1);
            all.truncate(kept);
        }
        if exponent < -4 || exponent >= precision - i64::from(self.point_zero) {
            return self.with_exponent(&all, exponent);
        }
        let after = (all.len() as i64 - 1 - exponent).max(0);
        let text = self.plain(&Digits { digits: all, point: exponent + 1, ..digits }, after as usize);
        if self.point_zero && after == 0 { text + ".0" } else { text }
    }

    fn hexadecimal(&self, x: &dyn Expand, format: Format) -> String {
        // The bits before the point: four of an 80-bit float, one of others.
        let first = if format == Format::F80 { 4 } else { 1 };
        let rounded = Float { format, bits: x.nearest(format) };
        let all = self.precision.is_none();
        let x: &dyn Expand = if all { &rounded } else { x };
        let (digits, exponent) = match x.class() {
            Class::Finite => {
                // Subnormal doubles have a zero before the point, others a one.
                let least = if format == Format::F80 { i64::MIN / 4 } else { -1021 };
                let exponent = x.exponent().max(least) - first;
                let cut = x.expand(Base::Sixteen, -exponent, self.precision.unwrap_or(32) as usize + 3);
                let after = self.precision.map_or(cut.digits.len() as i64 - cut.point, i64::from);
                (cut.rounded(cut.point + after.max(0)), exponent)
            }
            _ => (Digits::zero(Base::Sixteen), 0),
        };
        let after = self.precision.map_or((digits.digits.len() as i64 - digits.point).max(0), i64::from);
        let after = if digits.digits.is_empty() && all { 0 } else { after as usize };
        format!("0x{}p{exponent:+}", self.plain(&digits, after))
    }
}

/// The number rounded to as many digits as `count` says, given where its point is; nothing if those are too many.
fn exactly(x: &dyn Expand, count: impl Fn(i64) -> i64) -> Option<Digits> {
    const FIRST: usize = 40;
    if x.class() != Class::Finite {
        return Some(Digits::zero(Base::Ten));
    }
    let mut digits = x.expand(Base::Ten, 0, FIRST);
    let wanted = count(digits.point);
    if wanted > 2 * i64::from(MOST) {
        return None;
    }
    if digits.more && wanted >= digits.digits.len() as i64 {
        digits = x.expand(Base::Ten, 0, wanted as usize + 1);
    }
    Some(digits.rounded(wanted))
}

fn character(digit: u8) -> char {
    char::from_digit(digit.into(), 16).unwrap_or('?')
}

/// Index of the first character in which two texts differ: the shorter's length if one is the other's beginning. Zeros
/// are alike, whatever their signs.
pub fn first_difference(a: &str, b: &str) -> Option<usize> {
    let is_zero = |text: &str| {
        let digits = text.split(['e', 'E', 'p', 'P']).next().unwrap_or_default();
        let digits = digits.split_once(['x', 'X']).map_or(digits, |(_, digits)| digits);
        let mut digits = digits.chars().filter(|c| c.is_alphanumeric()).peekable();
        digits.peek().is_some() && digits.all(|c| c == '0')
    };
    if a == b || is_zero(a) && is_zero(b) {
        return None;
    }
    let alike = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    Some(alike)
}

#[cfg(test)]
mod tests;
