//! Format strings, as glibc reads them: flags, width, precision, length, conversion, and positions (`%2$g`).
//!
//! Knows which arguments a format asks for, not where a call has them.

/// Kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything in a general register.
    Integer,
    Double,
    LongDouble,
    /// A decimal float: in a vector register, but none of ours.
    Decimal,
}

/// An argument that the format asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    pub(super) kind: Kind,
    /// The number, from 1, where the format gives it.
    pub(super) position: Option<usize>,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    None,
    Given(i64),
    /// An argument.
    Taken(Conversion),
}

impl Field {
    /// The argument, if it is one.
    fn conversion(self) -> Option<Conversion> {
        match self {
            Field::Taken(conversion) => Some(conversion),
            Field::None | Field::Given(_) => None,
        }
    }
}

/// A conversion with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive<'a> {
    /// Index at which it begins in the format.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) flags: &'a [u8],
    pub(super) width: Field,
    pub(super) precision: Field,
    /// The last character.
    pub(super) letter: u8,
    pub(super) value: Option<Conversion>,
}

impl Directive<'_> {
    pub(super) fn is_float(&self) -> bool {
        self.value.is_some_and(|value| matches!(value.kind, Kind::Double | Kind::LongDouble))
    }

    /// The arguments it takes, in order: width, precision, value.
    pub(super) fn conversions(&self) -> [Option<Conversion>; 3] {
        [self.width.conversion(), self.precision.conversion(), self.value]
    }
}

/// The directives of `format`, in its order.
pub(super) fn parse(format: &[u8]) -> Vec<Directive<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = format[at..].iter().position(|&c| c == b'%').map(|found| at + found) {
        let mut rest = &format[start + 1..];
        let directive = directive(&mut rest);
        at = format.len() - rest.len();
        found.extend(directive.map(|directive| Directive { start, end: at, ..directive }));
    }
    found
}

/// Reads what follows a `%`; nothing if that asks for no argument.
fn directive<'a>(rest: &mut &'a [u8]) -> Option<Directive<'a>> {
    let position = position(rest);
    // The last two are SQLite's, which has a printf of its own.
    let flags = skip(rest, |c| b"-+ #0'I!,".contains(&c));
    let width = field(rest).unwrap_or(Field::None);
    let precision = match rest.first() {
        Some(b'.') => {
            *rest = &rest[1..];
            field(rest).unwrap_or(Field::Given(0))
        }
        _ => Field::None,
    };
    let length = skip(rest, |c| b"hlLqjzZtwHD".contains(&c) || c.is_ascii_digit());
    let (&letter, after) = rest.split_first()?;
    *rest = after;
    let kind = match letter {
        b'%' | b'm' => return None,
        b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => match length {
            _ if length.contains(&b'H') || length.contains(&b'D') => Kind::Decimal,
            // glibc takes `%lld`'s modifiers for floats as well.
            _ if length.contains(&b'L') || length.starts_with(b"ll") || length.contains(&b'q') => {
                Kind::LongDouble
            }
            _ => Kind::Double,
        },
        _ => Kind::Integer,
    };
    let value = Some(Conversion { kind, position });
    Some(Directive { start: 0, end: 0, flags, width, precision, letter, value })
}

/// `2$`, if that is what comes.
fn position(rest: &mut &[u8]) -> Option<usize> {
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    if digits == 0 || rest.get(digits) != Some(&b'$') {
        return None;
    }
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok();
    *rest = &rest[digits + 1..];
    number
}

/// A width or precision: digits, or an argument of its own.
fn field(rest: &mut &[u8]) -> Option<Field> {
    if rest.first() == Some(&b'*') {
        *rest = &rest[1..];
        let position = position(rest);
        return Some(Field::Taken(Conversion { kind: Kind::Integer, position }));
    }
    let digits = std::str::from_utf8(skip(rest, |c| c.is_ascii_digit() || c == b'-')).unwrap_or_default();
    // One that is too large is as good as any other.
    (!digits.is_empty()).then(|| Field::Given(digits.parse().unwrap_or(i32::MAX.into())))
}

/// Skips characters; those skipped.
fn skip<'a>(rest: &mut &'a [u8], wanted: impl Fn(u8) -> bool) -> &'a [u8] {
    let count = rest.iter().take_while(|&&c| wanted(c)).count();
    let (skipped, left) = rest.split_at(count);
    *rest = left;
    skipped
}
