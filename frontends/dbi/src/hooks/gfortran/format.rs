//! Formats of Fortran's statements: which edit descriptor is whose (Fortran 2018, 13.3 and 13.4).
//!
//! Descriptors are handed out to items one by one, groups are repeated, and the last group begins again when there are more
//! items. Knows no item's value. A format with anything unknown in it, or with decimal commas or other rounding, says nothing.

use shadowgrind_core::text::fortran::{Edit, Letter};
use shadowgrind_core::text::{MOST, Notation, Sign};

/// Part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A group begins, to be done so many times.
    Open(u32),
    Close,
    /// A descriptor that takes so many items, and the layout of a real.
    Data(u32, Option<Edit>),
    Scale(i8),
    Sign(Sign),
}

/// The format of a statement, as far as its items have come.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    parts: Vec<Part>,
    at: usize,
    /// Groups that are under way: where their parts begin, and how often they are still to be done after this time.
    groups: Vec<(usize, u32)>,
    /// Items that the descriptor before `at` still takes.
    left: u32,
    scale: i8,
    sign: Sign,
}

impl Cursor {
    /// At the beginning of `text`; nothing if that is not understood.
    pub(super) fn new(text: &[u8]) -> Option<Cursor> {
        let parts = parse(text)?;
        let takes = parts.iter().any(|part| matches!(part, Part::Data(1.., _)));
        takes.then_some(Cursor { parts, at: 0, groups: Vec::new(), left: 0, scale: 0, sign: Sign::None })
    }

    /// The notation of the next item, if it is that of a real.
    pub(super) fn next(&mut self) -> Option<Notation> {
        if self.left == 0 {
            self.advance();
        }
        self.left = self.left.saturating_sub(1);
        let Some(Part::Data(_, edit)) = self.at.checked_sub(1).and_then(|at| self.parts.get(at)) else {
            return None;
        };
        edit.map(|edit| Edit { scale: self.scale, ..edit }.notation(self.sign))
    }

    /// Goes on until a descriptor takes items.
    fn advance(&mut self) {
        while self.left == 0 {
            match self.parts.get(self.at) {
                Some(&Part::Open(times)) => self.groups.push((self.at + 1, times.saturating_sub(1))),
                Some(Part::Close) => match self.groups.last_mut() {
                    Some((begin, times @ 1..)) => {
                        *times -= 1;
                        self.at = *begin;
                        continue;
                    }
                    _ => drop(self.groups.pop()),
                },
                Some(&Part::Data(items, _)) => self.left = items,
                Some(&Part::Scale(scale)) => self.scale = scale,
                Some(&Part::Sign(sign)) => self.sign = sign,
                None => {
                    self.at = self.reversion();
                    continue;
                }
            }
            self.at += 1;
        }
    }

    /// Index of the part at which a format begins again: the last group that is in no other, if it takes items.
    fn reversion(&self) -> usize {
        let (mut depth, mut last) = (0, 0);
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Open(_) if depth == 0 => (depth, last) = (1, index),
                Part::Open(_) => depth += 1,
                Part::Close => depth -= 1,
                _ => {}
            }
        }
        // Without items it would be done again for ever, which the library says itself.
        let takes = self.parts[last..].iter().any(|part| matches!(part, Part::Data(1.., _)));
        if takes { last } else { 0 }
    }
}

/// Text of a format that is read.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The next character that is no blank, as a capital.
    fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().map(u8::to_ascii_uppercase)
    }

    fn take(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.rest = &self.rest[1..];
        Some(next)
    }

    fn takes(&mut self, character: u8) -> bool {
        let is_next = self.peek() == Some(character);
        if is_next {
            self.rest = &self.rest[1..];
        }
        is_next
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.rest = &self.rest[1..];
            number = Some(number.unwrap_or(0u32).checked_mul(10)?.checked_add(u32::from(digit - b'0'))?);
        }
        number
    }

    fn signed(&mut self) -> Option<i64> {
        let negative = self.takes(b'-');
        if !negative {
            self.takes(b'+');
        }
        let number = i64::from(self.number()?);
        Some(if negative { -number } else { number })
    }

    /// Leaves out a string up to this quote; two of them are one character.
    fn string(&mut self, quote: u8) -> Option<()> {
        loop {
            let end = self.rest.iter().position(|&c| c == quote)?;
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix(&[quote]) {
                Some(rest) => self.rest = rest,
                None => return Some(()),
            }
        }
    }

    fn skip(&mut self, count: u32) -> Option<()> {
        self.rest = self.rest.get(count as usize..)?;
        Some(())
    }
}

/// The parts of a format in parentheses.
fn parse(text: &[u8]) -> Option<Vec<Part>> {
    let mut reader = Reader { rest: text };
    reader.takes(b'(').then_some(())?;
    let (mut parts, mut depth) = (Vec::new(), 1);
    while depth > 0 {
        let signed = matches!(reader.peek()?, b'-' | b'+');
        let number = if signed { Some(reader.signed()?) } else { reader.number().map(i64::from) };
        let times = u32::try_from(number.unwrap_or(1)).ok();
        match reader.take()? {
            b'(' => {
                depth += 1;
                parts.push(Part::Open(times?));
            }
            b')' => {
                depth -= 1;
                parts.extend((depth > 0).then_some(Part::Close));
            }
            b'*' => {
                reader.takes(b'(').then_some(())?;
                depth += 1;
                parts.push(Part::Open(u32::MAX));
            }
            b',' | b'/' | b':' | b'X' => {}
            quote @ (b'\'' | b'"') => reader.string(quote)?,
            b'H' => reader.skip(times?)?,
            b'P' => parts.push(Part::Scale(i8::try_from(number?).ok()?)),
            b'S' => parts.push(Part::Sign(match reader.peek() {
                Some(b'P') => reader.take().map(|_| Sign::Plus)?,
                Some(b'S') => reader.take().map(|_| Sign::None)?,
                _ => Sign::None,
            })),
            b'B' if matches!(reader.peek(), Some(b'N' | b'Z')) => drop(reader.take()),
            b'T' => {
                if matches!(reader.peek(), Some(b'L' | b'R')) {
                    reader.take();
                }
                reader.number()?;
            }
            b'D' if reader.takes(b'P') => {}
            letter => parts.push(Part::Data(times?, data(letter, &mut reader)?)),
        }
    }
    Some(parts)
}

/// A descriptor for items, of this letter and what follows: of a real, or of something else.
fn data(letter: u8, reader: &mut Reader<'_>) -> Option<Option<Edit>> {
    let letter = match (letter, reader.peek()) {
        (b'E', Some(b'S')) => reader.take().map(|_| Letter::Scientific)?,
        (b'E', Some(b'N')) => reader.take().map(|_| Letter::Engineering)?,
        (b'E', Some(b'0'..=b'9')) => Letter::E('E'),
        (b'D', Some(b'0'..=b'9')) => Letter::E('D'),
        (b'F', Some(b'0'..=b'9')) => Letter::F,
        (b'G', Some(b'0'..=b'9')) => Letter::G(0),
        (b'I' | b'B' | b'O' | b'Z' | b'L' | b'A', _) => {
            reader.number();
            if reader.takes(b'.') {
                reader.number()?;
            }
            return Some(None);
        }
        _ => return None,
    };
    let width = reader.number()?;
    let digits = if reader.takes(b'.') { Some(reader.number()?) } else { None };
    let exponent = if reader.takes(b'E') { Some(u8::try_from(reader.number()?).ok()?) } else { None };
    if width > MOST
        || digits.is_some_and(|digits| digits > MOST)
        || exponent.is_some_and(|digits| digits == 0)
    {
        return None;
    }
    let edit = Edit { letter, width: Some(width), digits: digits.unwrap_or(0), exponent, scale: 0 };
    match (letter, width, digits) {
        // As many digits as the kind of the item has.
        (Letter::G(_), 0, None) => Some(Some(Edit { letter: Letter::G(u32::MAX), width: None, ..edit })),
        (Letter::G(_), 0, Some(digits)) => {
            let exponent = Some(exponent.unwrap_or(1));
            Some(Some(Edit { letter: Letter::G(digits), width: None, exponent, ..edit }))
        }
        (_, _, None) => None,
        (Letter::G(_), _, Some(digits)) => Some(Some(Edit { letter: Letter::G(digits), ..edit })),
        (Letter::F, ..) => Some(Some(edit)),
        // As many characters as it takes: not alike in all versions.
        (_, 0, _) => None,
        _ => Some(Some(edit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of 2.5 by the notations of the first items; nothing for those of no real.
    fn texts(format: &str, items: usize) -> Vec<String> {
        use shadowgrind_core::format::Format;
        use shadowgrind_core::text::Float;
        let mut cursor = Cursor::new(format.as_bytes()).unwrap();
        let x = Float { format: Format::F64, bits: 2.5f64.to_bits().into() };
        (0..items).map(|_| cursor.next().map_or("–".into(), |notation| notation.write(&x))).collect()
    }

    #[test]
    fn descriptors_are_handed_out_as_the_standard_says() {
        let plain = texts("(f5.1, 2i4, 2f4.1)", 6);
        assert_eq!(plain, ["  2.5", "–", "–", " 2.5", " 2.5", "  2.5"]);
        let repeated = texts("(a,2(f4.1,f5.1))", 7);
        assert_eq!(repeated, ["–", " 2.5", "  2.5", " 2.5", "  2.5", " 2.5", "  2.5"]);
        let reverted = texts("(i3,(f4.1),f5.1)", 5);
        assert_eq!(reverted, ["–", " 2.5", "  2.5", " 2.5", "  2.5"]);
        let scaled = texts("(1p, e10.2, 0p f4.1, SP, f5.2)", 4);
        assert_eq!(scaled, ["  2.50E+00", " 2.5", "+2.50", " +2.50E+00"]);
        assert_eq!(texts("('f9.1 ''(', 3x, 1x, t4, 4hf9.1, tr2, f4.1, /, :)", 1), [" 2.5"]);
        assert_eq!(texts("(*(f4.1))", 3), [" 2.5"; 3]);
        assert_eq!(texts("(1pe10.2,2(i2,2(f4.1)))", 4), ["  2.50E+00", "–", "25.0", "25.0"]);
    }

    #[test]
    fn what_is_not_understood_says_nothing() {
        for format in ["", "(f5.1", "(dc,f5.1)", "(ru,f5.1)", "(dt'x')", "('only text')", "(f5)"] {
            assert!(Cursor::new(format.as_bytes()).is_none(), "{format}");
        }
    }
}
