//! C's formatted output: from a call of one of the printf family, the C library's or SQLite's, to the floats it writes.
//!
//! The format string is read as glibc reads it: flags, width, precision, length, conversion, and positions (`%2$g`).
//! What is written, where to, and whether it succeeds is the program's own business.

use super::abi::{self, Float, Varargs};
use super::families::Formatted;
use super::sqlite::{SqlValue, SqlValues};
use crate::hooks::machine::{Machine, Unmapped};
use shadowgrind_core::findings::label_at_end;
use shadowgrind_core::text::{Fill, MOST, Notation, Sign, Style};

/// Order in which a function of the family takes its format and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Printf {
    /// Number of the argument, from 0, that is the format; what is formatted follows.
    format: u8,
    /// The format consists of `wchar_t`.
    wide: bool,
    /// True if a `va_list` follows.
    list: bool,
    /// Digits are reckoned and limited in a way of its own.
    own_digits: bool,
}

/// Makes the table of names. A row is a function that takes `...`: its name with `{}` where the variant with a
/// `va_list` has a `v`, and the number of its format argument.
macro_rules! family {
    ($($prefix:literal $name:literal $format:literal $wide:literal;)+) => {
        /// The function of this name.
        pub(super) fn of(symbol: &str) -> Option<Printf> {
            Some(match symbol {
                $(concat!($prefix, $name) => printf($prefix, $format, $wide, false),
                  concat!($prefix, "v", $name) => printf($prefix, $format, $wide, true),)+
                _ => return None,
            })
        }
    };
}

#[rustfmt::skip]
family! {
    ""   "printf"               0 false;
    ""   "fprintf"              1 false;
    ""   "dprintf"              1 false;
    ""   "sprintf"              1 false;
    ""   "snprintf"             2 false;
    ""   "asprintf"             1 false;
    "__" "printf_chk"           1 false;
    "__" "fprintf_chk"          2 false;
    "__" "dprintf_chk"          2 false;
    "__" "sprintf_chk"          3 false;
    "__" "snprintf_chk"         4 false;
    "__" "asprintf_chk"         2 false;
    ""   "wprintf"              0 true;
    ""   "fwprintf"             1 true;
    ""   "swprintf"             2 true;
    "__" "wprintf_chk"          1 true;
    "__" "fwprintf_chk"         2 true;
    "__" "swprintf_chk"         4 true;
    "obstack_" "printf"         1 false;
    "__obstack_" "printf_chk"   2 false;
    ""   "syslog"               1 false;
    "__" "syslog_chk"           2 false;
    ""   "warn"                 0 false;
    ""   "warnx"                0 false;
    ""   "err"                  1 false;
    ""   "errx"                 1 false;
    ""   "error"                2 false;
    ""   "error_at_line"        4 false;
    "sqlite3_" "mprintf"        0 false;
    "sqlite3_" "snprintf"       2 false;
    "sqlite3_str_" "appendf"    1 false;
}

fn printf(prefix: &str, format: u8, wide: bool, list: bool) -> Printf {
    Printf { format, wide, list, own_digits: prefix.starts_with("sqlite3") }
}

/// No format is longer, in characters; what follows is not looked at.
const LONGEST: usize = 1 << 16;

/// Bytes of a string argument that go into a label.
const LONGEST_NAME: usize = 64;
/// Text for what is not shown.
const ELLIPSIS: &str = "…";

/// No call has more positional arguments (glibc's `NL_ARGMAX`).
const POSITIONS: usize = 4096;

/// The floats that the call formats, in the order they are written.
pub(super) fn floats(m: &dyn Machine, call: Printf) -> Result<Vec<Formatted>, Unmapped> {
    let size = if call.wide { 4 } else { 1 };
    let format = read_text(m, abi::integer(m, call.format.into())?, size, LONGEST)?;
    let directives = parse(&format);
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
    let (mut before, mut at) = (Vec::new(), 0);
    let mut floats = Vec::new();
    for (directive, [width, precision, value]) in directives.iter().zip(values) {
        before.extend(&format[at..directive.start]);
        at = directive.end;
        if let (true, Some(Taken::Float(float))) = (directive.is_float(), value) {
            let notation = directive.notation(width, precision, float).filter(|_| !call.own_digits);
            floats.push(Formatted { float, notation, label: label(&before) });
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

/// Kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Anything in a general register.
    Integer,
    Double,
    LongDouble,
    /// A decimal float: in a vector register, but none of ours.
    Decimal,
}

/// An argument that the format asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Conversion {
    kind: Kind,
    /// The number, from 1, where the format gives it.
    position: Option<usize>,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    None,
    Given(i64),
    /// An argument.
    Taken(Conversion),
}

impl Field {
    fn conversion(self) -> Option<Conversion> {
        match self {
            Field::Taken(conversion) => Some(conversion),
            Field::None | Field::Given(_) => None,
        }
    }

    /// The value; nothing if there is none.
    fn value(self, taken: Option<Taken>) -> Option<i64> {
        match (self, taken) {
            (Field::Given(number), _) => Some(number),
            (Field::Taken(_), Some(Taken::Integer(number))) => Some((number as i32).into()),
            _ => None,
        }
    }
}

/// A conversion with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Directive<'a> {
    /// Index at which it begins in the format.
    start: usize,
    end: usize,
    flags: &'a [u8],
    width: Field,
    precision: Field,
    /// The last character.
    letter: u8,
    value: Option<Conversion>,
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

impl Directive<'_> {
    fn is_float(&self) -> bool {
        self.value.is_some_and(|value| matches!(value.kind, Kind::Double | Kind::LongDouble))
    }

    /// The arguments it takes, in order: width, precision, value.
    fn conversions(&self) -> [Option<Conversion>; 3] {
        [self.width.conversion(), self.precision.conversion(), self.value]
    }

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

/// The format as ASCII; characters that are not are `?`, which no directive contains.
/// Text of characters of so many bytes that ends with one that is 0, or after about `longest`.
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

/// The directives of `format`, in its order.
fn parse(format: &[u8]) -> Vec<Directive<'_>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::fake::{Fake, f80};
    use crate::hooks::machine::read_u64;
    use shadowgrind_core::shadow::Location;

    const TEXT: u64 = 0x5000_0f80;
    const RSP: u64 = 0x7000_0000;

    fn conversions(format: &str) -> Vec<Conversion> {
        parse(format.as_bytes()).iter().flat_map(|directive| directive.conversions()).flatten().collect()
    }

    fn kinds(format: &str) -> Vec<Kind> {
        conversions(format).into_iter().map(|c| c.kind).collect()
    }

    #[test]
    fn formats_ask_for_arguments() {
        use Kind::{Decimal, Double, Integer, LongDouble};
        assert_eq!(kinds("no %% directive, a percent sign too much %"), []);
        assert_eq!(kinds("%g %-+ #012.3lf%Le|%5a"), [Double, Double, LongDouble, Double]);
        assert_eq!(
            kinds("%*.*G %s %hhd %lld %zu %p %n %lc %m"),
            [Integer, Integer, Double, Integer, Integer, Integer, Integer, Integer, Integer, Integer]
        );
        assert_eq!(
            kinds("%'I.5f %DDf %Hg %llf %w32d %!.15g"),
            [Double, Decimal, Decimal, LongDouble, Integer, Double]
        );
        let positions: Vec<_> = conversions("%3$g %1$*2$.*4$d").into_iter().map(|c| c.position).collect();
        assert_eq!(positions, [Some(3), Some(2), Some(4), Some(1)]);
    }

    fn values(m: &Fake, function: &str) -> Vec<(f64, Location)> {
        let floats = floats(m, of(function).unwrap()).unwrap();
        floats.into_iter().map(|x| (x.float.format.to_f64(x.float.bits), x.float.location)).collect()
    }

    fn vector(number: usize) -> Location {
        Location::State(crate::x86::state::vector(number))
    }

    /// Arguments as gcc passes them for `fprintf(f, TEXT, a…)`: vector registers first, then the stack, eight bytes
    /// each, `long double` aligned to sixteen; integers have registers of their own.
    fn call(format: &str) -> Fake {
        let mut m = Fake::called(0x1234);
        m.poke(TEXT, format.as_bytes());
        m.poke(TEXT + format.len() as u64, &[0]);
        m.poke(TEXT + format.len() as u64 + 1, &[b'x'; 300]);
        m.general[crate::hooks::fake::RSI] = TEXT;
        m
    }

    #[test]
    fn doubles_beyond_eight_are_on_the_stack() {
        let mut m = call("%f%f%f%f %d %f%f%f%f%f%Lf%f");
        (0..8).for_each(|i| m.set_double(i, i as f64));
        m.poke(RSP + 8, &8.0f64.to_le_bytes());
        m.poke(RSP + 16, &f80(9.0));
        m.poke(RSP + 32, &10.0f64.to_le_bytes());
        let found = values(&m, "fprintf");
        assert_eq!(found.iter().map(|x| x.0).collect::<Vec<_>>(), (0..11).map(f64::from).collect::<Vec<_>>());
        assert_eq!(found[7].1, vector(7));
        assert_eq!(found[8].1, Location::Memory(RSP + 8));
        assert_eq!(found[9].1, Location::Memory(RSP + 16));
    }

    #[test]
    fn integers_that_overflow_share_the_stack_with_floats() {
        // Two fixed arguments leave four registers for %d.
        let mut m = call("%d%d%d%d%d %Lg %d %g");
        m.poke_words(RSP + 8, &[5]);
        m.poke(RSP + 16, &f80(1.5));
        m.poke_words(RSP + 32, &[6]);
        m.set_double(0, 2.5);
        let found = values(&m, "fprintf");
        assert_eq!(found, [(1.5, Location::Memory(RSP + 16)), (2.5, vector(0))]);
    }

    #[test]
    fn a_va_list_is_read_where_it_stands() {
        let mut m = call("%g %g %d %g %g");
        // gp_offset 16 (two used), fp_offset 48 + 6 · 16: two vector registers left.
        let (list, area, overflow) = (0x6000_0000, 0x6000_0100, 0x6000_0200);
        m.poke_words(list, &[16 | (48 + 96) << 32, overflow, area]);
        m.poke_words(area + 16, &[77]);
        m.poke(area + 48 + 96, &1.0f64.to_le_bytes());
        m.poke(area + 48 + 112, &2.0f64.to_le_bytes());
        m.poke(overflow, &3.0f64.to_le_bytes());
        m.poke(overflow + 8, &4.0f64.to_le_bytes());
        m.general[2] = list;
        let found = values(&m, "vfprintf");
        assert_eq!(found.iter().map(|x| x.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found[0].1, Location::Memory(area + 48 + 96));
        assert_eq!(read_u64(&m, list).unwrap(), 16 | (48 + 96) << 32);
    }

    #[test]
    fn positions_decide_the_order() {
        let mut m = call("%3$g %1$Lg %3$g %2$d");
        m.poke(RSP + 16, &f80(1.0));
        m.set_double(0, 3.0);
        assert_eq!(values(&m, "fprintf").iter().map(|x| x.0).collect::<Vec<_>>(), [3.0, 1.0, 3.0]);
    }

    /// Labels and texts of the floats of `fprintf`.
    fn texts(m: &Fake) -> Vec<(String, String)> {
        let floats = floats(m, of("fprintf").unwrap()).unwrap();
        let text = |x: Formatted| {
            let Float { format, bits, .. } = x.float;
            let text = x.notation.map(|n| n.write(&shadowgrind_core::text::Float { format, bits }));
            (x.label.unwrap_or_default(), text.unwrap_or_default())
        };
        floats.into_iter().map(text).collect()
    }

    #[test]
    fn what_is_printed_and_what_it_is_called() {
        let mut m = call("step %d of 100%%:\n  E = %+.*e J, n[%d] = %-*.2f|(%08.3G) %.f");
        for (i, x) in [-1.5, 2.25, 1e-9, 2.5].into_iter().enumerate() {
            m.set_double(i, x);
        }
        // Step, precision, index, width.
        (m.general[2], m.general[1], m.general[8], m.general[9]) = (7, 3, 1, (-9i32) as u32 as u64);
        let pair = |label: &str, text: &str| (label.to_owned(), text.to_owned());
        assert_eq!(
            texts(&m),
            [pair("E =", "-1.500e+00"), pair("J, n[…] =", "2.25     "), pair("", "0001E-09"), pair("", "2")]
        );
    }

    #[test]
    fn strings_are_part_of_a_label() {
        let mut m = call("%-6s[%d] = %g, %.3s: %g %%s");
        let (name, unit) = (0x7000_0000, 0x7000_0100);
        // What is mapped, is whole pages.
        m.poke(name, &[0; 512]);
        m.poke(name, b"drag");
        m.poke(unit, b"Newton");
        (m.general[2], m.general[1], m.general[8]) = (name, 3, unit);
        m.set_double(0, 1.5);
        m.set_double(1, 2.5);
        let labels: Vec<String> = texts(&m).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["drag[…] =", "New:"]);
    }

    #[test]
    fn wide_formats_and_ends_of_pages() {
        let mut m = Fake::called(0x1234);
        // The terminator is the last character of the page; the next page does not exist.
        let text: Vec<u8> = "π = %g\0".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        let start = 0x5000_1000 - text.len() as u64;
        m.poke(start, &text);
        m.general[crate::hooks::fake::RDI] = start;
        m.set_double(0, 3.25);
        assert_eq!(values(&m, "wprintf"), [(3.25, vector(0))]);
        m.general[crate::hooks::fake::RDI] = 0x9000_0000;
        assert!(floats(&m, of("wprintf").unwrap()).is_err());
    }

    #[test]
    fn fortified_functions_have_their_format_elsewhere() {
        let mut m = call("%g");
        m.general[8] = TEXT;
        m.general[crate::hooks::fake::RSI] = 0;
        m.set_double(0, 6.5);
        assert_eq!(values(&m, "__snprintf_chk"), [(6.5, vector(0))]);
        assert_eq!(of("vsnprintf").unwrap(), printf("", 2, false, true));
        assert_eq!(of("printk"), None);
    }
}
