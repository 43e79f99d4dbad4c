//! Floats that numpy turns into text: elements of arrays, by its functions for one element, which it calls for each when it
//! prints an array, and to measure them before that; and scalars, by its functions in C.
//!
//! The former are functions for scripts, `dragon4_positional` and `dragon4_scientific`; a stripped numpy has no other names. They are
//! called as CPython's vector calls are: `f(module, arguments, count, names)`, the names of those arguments that have one in a
//! tuple. Layouts are those of CPython's objects since 3.9, and of numpy's functions since 1.21.

use super::abi::{self, Float};
use super::machine::{Machine, Unmapped, read_bytes, read_u64};
use super::notations::readable;
use shadowgrind_core::format::Format;
use shadowgrind_core::text::dragon4::{Dragon4, Rest, Trim};
use shadowgrind_core::text::{MOST, Notation, Plain, Sign, Style};

/// Part of the name of the file that they are in.
pub(super) const FILE: &str = "_multiarray_umath.";

/// Layout that a function makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Positional,
    Scientific,
}

/// Names that scripts call them by.
pub(super) const METHODS: [(&str, Layout); 2] =
    [("dragon4_positional", Layout::Positional), ("dragon4_scientific", Layout::Scientific)];

/// Flags of such a function: `METH_FASTCALL | METH_KEYWORDS`.
pub(super) const VECTOR_CALL: u32 = 0x82;

/// Argument by which an element is padded to the width of its column. A call without it only measures.
const PADDED: &[u8] = b"pad_left";

/// Object: its type. Type: its name. Object of a float: the float.
const TYPE: u64 = 8;
const TYPE_NAME: u64 = 24;
const VALUE: u64 = 16;
/// Tuple: number of items, and the first. Text: its length.
const COUNT: u64 = 16;
const ITEMS: u64 = 24;
const LENGTH: u64 = 16;
/// Text in ASCII: its characters, since 3.12 and before.
const CHARACTERS: [u64; 2] = [40, 48];
/// Integer: the number of its digits and its sign, and the first digit.
const SIZE: u64 = 16;
const DIGIT: u64 = 24;
/// Most arguments with a name that a call may have, and most characters of a name.
const MOST_NAMES: u64 = 32;
const LONGEST_NAME: u64 = 16;
/// Count of a vector call: the bit that is none of the number's (`PY_VECTORCALL_ARGUMENTS_OFFSET`).
const OFFSET: u64 = 1 << 63;

/// The element that the call is to print, and its notation, if that is known; nothing if it measures, or prints something else.
pub(super) fn element(
    m: &dyn Machine,
    layout: Layout,
) -> Result<Option<(Float, Option<Notation>)>, Unmapped> {
    let names = abi::integer(m, 3)?;
    if names == 0 {
        return Ok(None);
    }
    let (arguments, count) = (abi::integer(m, 1)?, abi::integer(m, 2)? & !OFFSET);
    let mut named = Vec::new();
    for index in 0..read_u64(m, names + COUNT)?.min(MOST_NAMES) {
        let name = characters(m, read_u64(m, names + ITEMS + 8 * index)?)?;
        named.push((name, read_u64(m, arguments + 8 * (count + index))?));
    }
    if !named.iter().any(|(name, _)| name == PADDED) {
        return Ok(None);
    }
    let object = read_u64(m, arguments)?;
    let Some(format) = format_of_scalar(&type_name(m, object)?) else { return Ok(None) };
    let notation = if count == 1 { named_notation(m, (layout, format), &named) } else { None };
    Ok(Some((abi::memory(m, object + VALUE, format)?, notation)))
}

/// Notation that arguments with these names ask for.
fn named_notation(
    m: &dyn Machine,
    (layout, format): (Layout, Format),
    named: &[(Vec<u8>, u64)],
) -> Option<Notation> {
    let is_positional = layout == Layout::Positional;
    let (mut trim, mut is_fractional) = (Trim::Keep, true);
    let mut numbers = Numbers { unique: 1, precision: -1, least: -1, sign: 0, left: -1, rest: -1 };
    for (name, object) in named {
        let number = |into: &mut i64| integer(m, *object).map(|number| *into = number);
        match &name[..] {
            b"precision" => number(&mut numbers.precision)?,
            b"unique" => number(&mut numbers.unique)?,
            b"min_digits" => number(&mut numbers.least)?,
            b"sign" => number(&mut numbers.sign)?,
            b"pad_left" => number(&mut numbers.left)?,
            b"pad_right" | b"exp_digits" => number(&mut numbers.rest)?,
            b"fractional" => is_fractional = integer(m, *object)? != 0,
            b"trim" => {
                trim = match &characters(m, *object).ok()?[..] {
                    b"k" => Trim::Keep,
                    b"0" => Trim::LeaveOne,
                    b"." => Trim::Zeros,
                    b"-" => Trim::Point,
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    (is_fractional || !is_positional).then(|| numbers.notation((layout, format), trim)).flatten()
}

/// Numbers that a layout is given; less than none say nothing.
struct Numbers {
    unique: i64,
    precision: i64,
    least: i64,
    sign: i64,
    left: i64,
    /// Width of digits after the point, or digits of the exponent.
    rest: i64,
}

impl Numbers {
    fn notation(&self, (layout, format): (Layout, Format), trim: Trim) -> Option<Notation> {
        let some = |number: i64| u32::try_from(number).ok();
        let all = [self.precision, self.least, self.left, self.rest];
        let is_short = all.iter().all(|&number| number <= i64::from(MOST));
        let unique = self.unique != 0;
        // Of an 80-bit float the fewest digits are not known here; and nobody asks for exact ones without saying how many.
        let is_known = if unique { format != Format::F80 } else { self.precision >= 0 };
        let rest = match layout {
            Layout::Positional => Rest::Positional(some(self.rest).unwrap_or(0)),
            Layout::Scientific => Rest::Scientific(some(self.rest).unwrap_or(2)),
        };
        let (precision, least, left) = (some(self.precision), some(self.least), some(self.left));
        let (least, left) = (least.unwrap_or(0), left.unwrap_or(0));
        let style = Dragon4 { format, unique, precision, least, trim, left, rest };
        let sign = if self.sign != 0 { Sign::Plus } else { Sign::None };
        (is_short && is_known).then(|| readable(style.notation(sign))).flatten()
    }
}

/// Notation that `Dragon4_Positional_Double(value, digits, cut_off, precision, least, sign, trim, left, right)` or
/// `Dragon4_Scientific_Double(value, digits, precision, least, sign, trim, left, exponent)` is given, or one of their kin.
pub(super) fn scalar(m: &dyn Machine, format: Format, layout: Layout) -> Result<Option<Notation>, Unmapped> {
    /// `CutoffMode_FractionLength`.
    const FRACTION: i64 = 1;
    let given = |index: usize| Ok(i64::from(abi::integer(m, index)? as i32));
    let is_positional = layout == Layout::Positional;
    let first = if is_positional { 3 } else { 2 };
    let unique = i64::from(given(1)? == 0);
    let [precision, least, sign] = [given(first)?, given(first + 1)?, given(first + 2)?];
    // Before 1.21 the sign is in this place; which of the two a number that is not negative is nobody can tell.
    if least >= 0 || is_positional && precision >= 0 && given(2)? != FRACTION {
        return Ok(None);
    }
    let trim = match given(first + 3)? {
        0 => Trim::Keep,
        1 => Trim::LeaveOne,
        2 => Trim::Zeros,
        3 => Trim::Point,
        _ => return Ok(None),
    };
    let (left, rest) = (given(first + 4)?, given(first + 5)?);
    let says_nothing = unique != 0 && [precision, left, rest].iter().all(|&number| number < 0);
    if says_nothing && matches!((layout, trim), (Layout::Positional, Trim::LeaveOne) | (_, Trim::Point)) {
        // As `repr` and `str`, which choose one layout or the other by the number, as Python does.
        let shortest = Notation::new(Style::Shortest(format, Plain::Between(-3, 16)), None);
        return Ok((format != Format::F80).then_some(Notation { point_zero: true, ..shortest }));
    }
    Ok(Numbers { unique, precision, least, sign, left, rest }.notation((layout, format), trim))
}

/// Characters of a short text in ASCII; none of a longer one.
fn characters(m: &dyn Machine, text: u64) -> Result<Vec<u8>, Unmapped> {
    let length = read_u64(m, text + LENGTH)?;
    for at in CHARACTERS {
        let mut bytes = vec![0; length.min(LONGEST_NAME) as usize];
        m.read(text + at, &mut bytes)?;
        if length <= LONGEST_NAME && bytes.iter().all(u8::is_ascii_graphic) {
            return Ok(bytes);
        }
    }
    Ok(Vec::new())
}

/// Value of a small integer, or of `True` and `False`; −1 for `None`, and for what is less than zero.
fn integer(m: &dyn Machine, object: u64) -> Option<i64> {
    match &type_name(m, object).ok()?[..] {
        b"NoneType" => return Some(-1),
        b"int" | b"bool" => {}
        _ => return None,
    }
    let size = read_u64(m, object + SIZE).ok()?;
    let digit = i64::from(u32::from_le_bytes(read_bytes(m, object + DIGIT).ok()?));
    match size as i64 {
        0 => Some(0),
        // One digit: until 3.11, and since 3.12, where zero has a bit as its sign.
        1 | 8 => Some(digit),
        // Less than zero, likewise.
        -1 | 10 => Some(-1),
        _ => None,
    }
}

/// Format of the floats of a type of this name.
pub(crate) fn format_of_scalar(name: &[u8]) -> Option<Format> {
    match name {
        b"numpy.float32" => Some(Format::F32),
        b"numpy.float64" | b"float" => Some(Format::F64),
        b"numpy.longdouble" | b"numpy.float128" => Some(Format::F80),
        _ => None,
    }
}

/// Name of the type of an object of Python.
pub(crate) fn type_name(m: &dyn Machine, object: u64) -> Result<Vec<u8>, Unmapped> {
    let name = read_u64(m, read_u64(m, object + TYPE)? + TYPE_NAME)?;
    let mut bytes = Vec::new();
    while bytes.len() < 32 {
        let [byte] = read_bytes(m, name + bytes.len() as u64)?;
        if byte == 0 {
            break;
        }
        bytes.push(byte);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, RSI};
    use super::*;
    use shadowgrind_core::text::Float as Written;

    const RCX: usize = 1;
    const RDX: usize = 2;

    /// A call `f(x, name=1)` with x of this type.
    fn called(kind: &[u8], name: &[u8], characters: u64) -> Fake {
        let mut m = Fake::called(0x1000);
        (m.general[RSI], m.general[RDX], m.general[RCX]) = (0x2000, OFFSET | 1, 0x3000);
        m.poke_words(0x2000, &[0x4000, 0x8000]);
        m.poke_words(0x8000, &[1, 0x9000, 1, 1]);
        m.poke_words(0x9000 + TYPE_NAME, &[0x7100]);
        m.poke(0x7100, b"int\0");
        m.poke_words(0x3000 + COUNT, &[1, 0x5000]);
        m.poke_words(0x4000, &[1, 0x6000, 2.5f64.to_bits(), 0]);
        m.poke(0x5000, &[0; 64]);
        m.poke_words(0x5000 + LENGTH, &[name.len() as u64]);
        m.poke(0x5000 + characters, name);
        m.poke_words(0x6000 + TYPE_NAME, &[0x7000]);
        m.poke(0x7000, kind);
        m.poke(0x7000 + kind.len() as u64, &[0]);
        m
    }

    #[test]
    fn elements_are_those_that_are_padded() {
        let element = |m: &Fake| element(m, Layout::Positional);
        for characters in CHARACTERS {
            let (float, notation) = element(&called(b"numpy.float64", PADDED, characters)).unwrap().unwrap();
            assert_eq!(f64::from_bits(float.bits as u64), 2.5);
            let written = Written { format: float.format, bits: float.bits };
            assert_eq!(notation.unwrap().write(&written), "2.5");
        }
        assert_eq!(element(&called(b"numpy.float64", b"precision", 48)), Ok(None));
        assert_eq!(element(&called(b"numpy.int64", PADDED, 48)), Ok(None));
        let mut measured = called(b"float", PADDED, 48);
        measured.general[RCX] = 0;
        assert_eq!(element(&measured), Ok(None));
    }
}
