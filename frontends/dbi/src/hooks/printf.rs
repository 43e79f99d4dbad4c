//! C's formatted output: from a call of one of the printf family, the C library's or SQLite's, to the floats it writes.
//!
//! Knows where a call has the arguments that its [format](format) asks for, and how they are written. What is written, where to, and whether it succeeds is the program's own business.

mod format;

use super::abi::{self, Float, Varargs};
use super::sqlite::{SqlValue, SqlValues};
use crate::hooks::machine::{Machine, Unmapped};
use format::{Conversion, Directive, Field, Kind};
use shadowgrind_core::findings::label_at_end;
use shadowgrind_core::text::{Fill, MOST, Notation, Sign, Style};

/// Order in which a function of the family takes its format and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Printf {
    /// Number of the argument, from 0, that is the format; what is formatted follows.
    format: u8,
    /// Number of the argument that is the size of the room for the text, if there is one.
    size: Option<u8>,
    /// The format consists of `wchar_t`.
    wide: bool,
    /// True if a `va_list` follows.
    list: bool,
    /// Digits are reckoned and limited in a way of its own.
    own_digits: bool,
    /// Number of the argument that is the string which the text is put into, if there is one.
    string: Option<u8>,
}

/// Makes the table of names. A row is a function that takes `...`, or a double where that has its first one: its name with `{}` where the variant with a
/// `va_list` has a `v`, the numbers of its format argument, of the size of the room it has, and of that room if it is a string.
macro_rules! family {
    ($($prefix:literal $name:literal $format:literal $size:expr, $string:expr, $wide:literal;)+) => {
        /// The function of this name.
        pub(super) fn of(symbol: &str) -> Option<Printf> {
            Some(match symbol {
                $(concat!($prefix, $name) => printf($prefix, $format, [$size, $string], [$wide, false]),
                  concat!($prefix, "v", $name) => printf($prefix, $format, [$size, $string], [$wide, true]),)+
                _ => return None,
            })
        }
    };
}

#[rustfmt::skip]
family! {
    ""   "printf"               0 None,    None,    false;
    ""   "fprintf"              1 None,    None,    false;
    ""   "dprintf"              1 None,    None,    false;
    ""   "sprintf"              1 None,    Some(0), false;
    ""   "snprintf"             2 Some(1), Some(0), false;
    ""   "asprintf"             1 None,    None,    false;
    ""   "strfromd"             2 Some(1), Some(0), false;
    "__" "printf_chk"           1 None,    None,    false;
    "__" "fprintf_chk"          2 None,    None,    false;
    "__" "dprintf_chk"          2 None,    None,    false;
    "__" "sprintf_chk"          3 None,    Some(0), false;
    "__" "snprintf_chk"         4 Some(1), Some(0), false;
    "__" "asprintf_chk"         2 None,    None,    false;
    ""   "wprintf"              0 None,    None,    true;
    ""   "fwprintf"             1 None,    None,    true;
    ""   "swprintf"             2 Some(1), Some(0), true;
    "__" "wprintf_chk"          1 None,    None,    true;
    "__" "fwprintf_chk"         2 None,    None,    true;
    "__" "swprintf_chk"         4 Some(1), Some(0), true;
    "obstack_" "printf"         1 None,    None,    false;
    "__obstack_" "printf_chk"   2 None,    None,    false;
    ""   "syslog"               1 None,    None,    false;
    "__" "syslog_chk"           2 None,    None,    false;
    ""   "warn"                 0 None,    None,    false;
    ""   "warnx"                0 None,    None,    false;
    ""   "err"                  1 None,    None,    false;
    ""   "errx"                 1 None,    None,    false;
    ""   "error"                2 None,    None,    false;
    ""   "error_at_line"        4 None,    None,    false;
    "sqlite3_" "mprintf"        0 None,    None,    false;
    "sqlite3_" "snprintf"       2 Some(0), Some(1), false;
    "sqlite3_str_" "appendf"    1 None,    None,    false;
}

fn printf(prefix: &str, format: u8, [size, string]: [Option<u8>; 2], [wide, list]: [bool; 2]) -> Printf {
    Printf { format, size, string, wide, list, own_digits: prefix.starts_with("sqlite3") }
}

/// No format is longer, in characters; what follows is not looked at.
const LONGEST: usize = 1 << 16;

/// Bytes of a string argument that go into a label.
const LONGEST_NAME: usize = 64;
/// Text for what is not shown.
const ELLIPSIS: &str = "…";

/// No call has more positional arguments (glibc's `NL_ARGMAX`).
const POSITIONS: usize = 4096;

/// A float that is formatted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formatted {
    pub(crate) float: Float,
    /// The notation, where that is known.
    pub(crate) notation: Option<Notation>,
    /// The text before it, where that is known.
    pub(crate) label: Option<String>,
    /// Address of the string that its text is put into, where that is known.
    pub(crate) string: Option<u64>,
}

/// Tells whether the call has no room for a text, but asks how long that would be.
pub(super) fn only_measures(m: &dyn Machine, call: Printf) -> bool {
    call.size.is_some_and(|size| abi::integer(m, size.into()) == Ok(0))
}

/// The floats that the call formats, in the order they are written.
pub(super) fn floats(m: &dyn Machine, call: Printf) -> Result<Vec<Formatted>, Unmapped> {
    let size = if call.wide { 4 } else { 1 };
    let format = read_text(m, abi::integer(m, call.format.into())?, size, LONGEST)?;
    let directives = format::parse(&format);
    if !directives.iter().any(Directive::is_float) {
        return Ok(Vec::new());
    }
    let after = usize::from(call.format) + 1;
    let mut arguments = match call.list {
        true => Varargs::of_list(m, abi::integer(m, after)?)?,
        false => Varargs::after(m, after),
    };
    let has_positions = directives.iter().any(|d| d.value.is_some_and(|value| value.position.is_some()));
    let values = match sql_values(m, call)? {
        Some(mut values) => in_order(&directives, |_| values.next(m).map(Taken::from))?,
        None if has_positions => by_position(m, &directives, arguments)?,
        None => in_order(&directives, |kind| next(m, kind, &mut arguments))?,
    };
    let string = call.string.map(|string| abi::integer(m, string.into())).transpose()?;
    let (mut before, mut at) = (Vec::new(), 0);
    let mut floats = Vec::new();
    for (directive, [width, precision, value]) in directives.iter().zip(values) {
        before.extend(&format[at..directive.start]);
        at = directive.end;
        if let (true, Some(Taken::Float(float))) = (directive.is_float(), value) {
            let notation = directive.notation(width, precision, float).filter(|_| !call.own_digits);
            floats.push(Formatted { float, notation, label: label(&before), string });
            before.clear();
        } else {
            before.extend(directive.shown(m, &format, [precision, value]));
        }
    }
    Ok(floats)
}

/// The values that the call formats, if those are SQL's.
fn sql_values(m: &dyn Machine, call: Printf) -> Result<Option<SqlValues>, Unmapped> {
    let may_be = call.own_digits && call.format == 1 && !call.list;
    if may_be { SqlValues::of_call(m) } else { Ok(None) }
}

/// Label of a float that is printed after this part of a format.
fn label(text: &[u8]) -> Option<String> {
    label_at_end(&String::from_utf8_lossy(text)).map(|label| label.replace("%%", "%"))
}

/// An argument that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    Integer(u64),
    Float(Float),
    /// Something else.
    Other,
}

impl From<SqlValue> for Taken {
    fn from(value: SqlValue) -> Taken {
        match value {
            SqlValue::Integer(number) => Taken::Integer(number),
            SqlValue::Double(float) => Taken::Float(float),
            SqlValue::Other => Taken::Other,
        }
    }
}

impl Field {
    /// The value; nothing if there is none.
    fn value(self, taken: Option<Taken>) -> Option<i64> {
        match (self, taken) {
            (Field::Given(number), _) => Some(number),
            (Field::Taken(_), Some(Taken::Integer(number))) => Some((number as i32).into()),
            _ => None,
        }
    }
}

impl Directive<'_> {
    /// Text in a label for what is no float: strings as they are, without blanks that pad them, and an ellipsis for all else, so
    /// that numbers which count the turns of a loop do not make as many labels.
    fn shown(&self, m: &dyn Machine, format: &[u8], [precision, value]: [Option<Taken>; 2]) -> Vec<u8> {
        let is_narrow = self.letter == b's' && !format[self.start..self.end].contains(&b'l');
        let Some(Taken::Integer(address)) = value.filter(|_| is_narrow) else { return ELLIPSIS.into() };
        let most = self.precision.value(precision).and_then(|number| usize::try_from(number).ok());
        let Ok(mut text) = read_text(m, address, 1, LONGEST_NAME) else { return ELLIPSIS.into() };
        text.truncate(most.unwrap_or(LONGEST_NAME));
        text.trim_ascii().into()
    }

    /// Notation of the float (C17 7.21.6.1); nothing if it has more digits than anybody reads.
    fn notation(&self, width: Option<Taken>, precision: Option<Taken>, float: Float) -> Option<Notation> {
        let has = |flag| self.flags.contains(&flag);
        let width = self.width.value(width).unwrap_or(0);
        let precision = self.precision.value(precision).and_then(|number| u32::try_from(number).ok());
        if precision.is_some_and(|precision| precision > MOST) || width.unsigned_abs() > u64::from(MOST) {
            return None;
        }
        let (style, precision) = match self.letter.to_ascii_lowercase() {
            b'f' => (Style::Fixed, precision.or(Some(6))),
            b'e' => (Style::Scientific, precision.or(Some(6))),
            b'g' => (Style::General, precision.or(Some(6))),
            _ => (Style::Hexadecimal(float.format), precision),
        };
        let sign = match (has(b'+'), has(b' ')) {
            (true, _) => Sign::Plus,
            (false, true) => Sign::Blank,
            (false, false) => Sign::None,
        };
        let (fill, with) = match (has(b'-') || width < 0, has(b'0')) {
            (true, _) => (Fill::After, ' '),
            (false, true) => (Fill::Inside, '0'),
            (false, false) => (Fill::Before, ' '),
        };
        let (alternate, upper) = (has(b'#'), self.letter.is_ascii_uppercase());
        let width = width.unsigned_abs() as u32;
        Some(Notation { sign, fill, with, alternate, upper, width, ..Notation::new(style, precision) })
    }
}

/// Arguments that each directive takes.
type Arguments = Vec<[Option<Taken>; 3]>;

fn in_order(
    all: &[Directive<'_>],
    mut next: impl FnMut(Kind) -> Result<Taken, Unmapped>,
) -> Result<Arguments, Unmapped> {
    let mut taken = Vec::new();
    for directive in all {
        let mut own = [None; 3];
        for (place, conversion) in own.iter_mut().zip(directive.conversions()) {
            *place = conversion.map(|one| next(one.kind)).transpose()?;
        }
        taken.push(own);
    }
    Ok(taken)
}

fn by_position(m: &dyn Machine, all: &[Directive<'_>], mut from: Varargs) -> Result<Arguments, Unmapped> {
    let conversions = || all.iter().flat_map(|directive| directive.conversions()).flatten();
    let last = conversions().filter_map(|c| c.position).max().unwrap_or(0).min(POSITIONS);
    let mut kinds = vec![Kind::Integer; last];
    for conversion in conversions() {
        if let Some(kind) = conversion.position.and_then(|n| kinds.get_mut(n.wrapping_sub(1))) {
            *kind = conversion.kind;
        }
    }
    let mut values = Vec::new();
    for kind in kinds {
        values.push(next(m, kind, &mut from)?);
    }
    let value = |c: Conversion| values.get(c.position?.wrapping_sub(1)).copied();
    Ok(all.iter().map(|directive| directive.conversions().map(|c| c.and_then(value))).collect())
}

/// Takes the next argument.
fn next(m: &dyn Machine, kind: Kind, from: &mut Varargs) -> Result<Taken, Unmapped> {
    Ok(match kind {
        Kind::Integer => Taken::Integer(from.integer(m)?),
        Kind::Double => Taken::Float(from.double(m)?),
        Kind::LongDouble => Taken::Float(from.long_double(m)?),
        Kind::Decimal => from.double(m).map(|_| Taken::Other)?,
    })
}

/// Text of characters of `size` bytes that ends with one that is 0, or after about `longest`. Characters beyond ASCII become `?`,
/// which no directive contains.
fn read_text(m: &dyn Machine, address: u64, size: usize, longest: usize) -> Result<Vec<u8>, Unmapped> {
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < longest {
        // Up to the end of a page: what follows may not be mapped.
        let mut bytes = [0; 256];
        let page = 4096 - at % 4096;
        let chunk = &mut bytes[..(page.min(256) as usize).max(size)];
        m.read(at, chunk)?;
        let characters = chunk.chunks_exact(size);
        let (known, whole) = (text.len(), characters.len());
        text.extend(characters.map(narrow).take_while(|&c| c != 0));
        if text.len() < known + whole {
            break;
        }
        at += (whole * size) as u64;
    }
    Ok(text)
}

fn narrow(character: &[u8]) -> u8 {
    match character {
        [c] => *c,
        [c, 0, 0, 0] => *c,
        _ => b'?',
    }
}

#[cfg(test)]
mod tests;
