//! The functions that turn text into a float, by symbol: where a call of one finds the text, and leaves the float.
//!
//! `atof`, `scanf`, `std::stod`, C++'s streams, Fortran's `read` and Lua reach a function of this table sooner or later.
//! Knows nothing of which text a user means.

use super::abi::{self, Float};
use super::families::{ada_type, format_of};
use super::machine::{Machine, Unmapped, read_bytes, read_u64};
use crate::x86::state;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Location;

/// Function that turns text into a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parser {
    text: TextAt,
    result: ResultAt,
    /// True if the interpreter's own code calls it for the literals of a script.
    pub(crate) reads_literals: bool,
    /// True if it estimates digits with floats that integers correct.
    pub(crate) estimates: bool,
}

/// Place of the text at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAt {
    /// Argument that points to the text, which ends by a zero.
    Pointer(usize),
    /// The first argument points to it: characters of four bytes.
    Wide,
    /// The arguments from this one on are its first character and the one past its last; bytes of a character.
    Range(usize, u64),
    /// The arguments from this one on are its first byte and its length.
    Counted(usize),
    /// The first argument points to a string of D's, which is its length and the address of its first byte.
    D,
    /// The first argument points to a string of Ada's, the second to the numbers of its first and last byte, of four bytes each.
    Ada,
    /// As [`TextAt::Ada`], from the byte on whose number is where the third argument points to, to that in the fourth.
    AdaFrom,
    /// Go's first argument is a string: its first byte in rax, its length in rbx.
    Go,
    /// The first argument points to a pointer to its first character, and the second is the one past its last.
    Behind,
    /// The first argument points to a short string of Pascal's: a byte that is its length, and its characters.
    Pascal,
    /// The first argument points to a string of Nim's, which is its length, another word and its characters; the third is the number
    /// of characters before the text.
    Nim,
    /// Argument that is a stream's buffer of libstdc++, which has the text next.
    Stream(usize),
}

/// Text at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// The address.
    pub(super) address: u64,
    /// The characters, if it does not end by a zero.
    pub(super) length: Option<u64>,
    /// Bytes of a character.
    pub(super) character: u64,
}

/// Offset of the next character in a `std::streambuf`: the table of its functions and the beginning of what it has come before.
const STREAM_NEXT: u64 = 16;
/// Offset of the `FILE` in the buffer of `std::cin`, which holds no characters itself, and of the next character in a `FILE`.
const STREAM_FILE: u64 = 64;
const FILE_NEXT: u64 = 8;

/// Offset of the first character in a string of Nim's.
const NIM_CHARACTERS: u64 = 16;

/// Two integers of four bytes.
const fn ada_bounds(word: u64) -> [i32; 2] {
    [word as i32, (word >> 32) as i32]
}

/// Address and number of the characters of a string of Ada's: all of it, or `from` the index on that the third argument has.
fn ada_characters(m: &dyn Machine, from: bool) -> Result<(u64, Option<u64>), Unmapped> {
    let argument = |index| abi::integer(m, index);
    let [lowest, highest] = ada_bounds(read_u64(m, argument(1)?)?);
    let (mut first, mut last) = (lowest, highest);
    if from {
        [first, _] = ada_bounds(read_u64(m, argument(2)?)?);
        last = argument(3)? as i32;
    }
    let length = i64::from(last) - i64::from(first) + 1;
    let skipped = i64::from(first) - i64::from(lowest);
    Ok((argument(0)?.wrapping_add_signed(skipped), Some(length.max(0) as u64)))
}

/// Address of the next character of the stream that has this `buffer`.
fn next_in_stream(m: &dyn Machine, buffer: u64) -> Result<u64, Unmapped> {
    match read_u64(m, buffer + STREAM_NEXT)? {
        0 => read_u64(m, read_u64(m, buffer + STREAM_FILE)? + FILE_NEXT),
        next => Ok(next),
    }
}

impl TextAt {
    /// The text of the call that `m` is about to begin.
    pub(super) fn read(self, m: &dyn Machine) -> Result<Text, Unmapped> {
        let (address, length) = self.characters(m)?;
        let character = match self {
            TextAt::Wide => 4,
            TextAt::Range(_, bytes) => bytes,
            _ => 1,
        };
        Ok(Text { address, length, character })
    }

    /// Address of the first character, and the number of characters if the text does not end by a zero.
    fn characters(self, m: &dyn Machine) -> Result<(u64, Option<u64>), Unmapped> {
        let argument = |index| abi::integer(m, index);
        let until = |start: u64, end: u64, bytes| (start, Some(end.saturating_sub(start) / bytes));
        Ok(match self {
            TextAt::Pointer(index) => (argument(index)?, None),
            TextAt::Wide => (argument(0)?, None),
            TextAt::Range(first, bytes) => until(argument(first)?, argument(first + 1)?, bytes),
            TextAt::Counted(first) => (argument(first)?, Some(argument(first + 1)?)),
            TextAt::Go => (m.general(abi::RAX), Some(m.general(abi::RBX))),
            TextAt::D => {
                let string = argument(0)?;
                (read_u64(m, string + 8)?, Some(read_u64(m, string)?))
            }
            TextAt::Pascal => {
                let string = argument(0)?;
                let [length] = read_bytes(m, string)?;
                (string + 1, Some(length.into()))
            }
            TextAt::Nim => {
                let (string, skipped) = (argument(0)?, argument(2)?);
                let length = read_u64(m, string)?.saturating_sub(skipped);
                (string.wrapping_add(NIM_CHARACTERS).wrapping_add(skipped), Some(length))
            }
            TextAt::Ada => ada_characters(m, false)?,
            TextAt::AdaFrom => ada_characters(m, true)?,
            TextAt::Behind => until(read_u64(m, argument(0)?)?, argument(1)?, 1),
            TextAt::Stream(index) => (next_in_stream(m, argument(index)?)?, None),
        })
    }
}

/// Place of the float after the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultAt {
    /// The result.
    Returned(Format),
    /// Argument that points to the number.
    Through(usize, Format),
    /// Rust's `Result<f64, _>`, at the address in the first argument: the float is behind the tag.
    RustDouble,
    /// Rust's `Result<f32, _>`, in rax: the float is its upper half.
    RustSingle,
}

/// A call of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parse {
    parser: Parser,
    /// Address of the text.
    pub(crate) text: u64,
    /// Characters of the text, if it does not end by a zero.
    pub(crate) length: Option<u64>,
    /// Bytes of a character.
    pub(crate) character: u64,
    /// Address of the float, if that is given.
    result: u64,
}

/// V8's function for characters of a kind, up to that kind.
const V8: &str = "_ZN2v88internal22InternalStringToDoubleIPK";

/// The parser of this name.
pub(super) fn of(symbol: &str) -> Option<Parser> {
    let ada = |(format, from)| returned(if from { TextAt::AdaFrom } else { TextAt::Ada }, format);
    named(symbol)
        .or_else(|| Some(returned(TextAt::Pointer(0), c_format(symbol, "strto")?)))
        .or_else(|| Some(returned(TextAt::Wide, c_format(symbol, "wcsto")?)))
        .or_else(|| v8(symbol))
        .or_else(|| from_chars(symbol))
        .or_else(|| ada_format(symbol).map(ada))
        .or_else(|| Some(returned(TextAt::D, d_format(symbol)?)))
        .or_else(|| rust_format(symbol).map(rust))
}

fn parser(text: TextAt, result: ResultAt) -> Parser {
    Parser { text, result, reads_literals: false, estimates: false }
}

fn returned(text: TextAt, format: Format) -> Parser {
    parser(text, ResultAt::Returned(format))
}

/// The parser that has just this name.
fn named(symbol: &str) -> Option<Parser> {
    use Format::F64;
    Some(match symbol {
        "PyOS_string_to_double" => Parser { reads_literals: true, ..returned(TextAt::Pointer(0), F64) },
        // R's parsers return doubles from sums of long doubles.
        "R_strtod" | "R_strtod5" | "R_strtod4" | "R_atof" => returned(TextAt::Pointer(0), F64),
        // The first argument is the interpreter.
        "Perl_my_atof" => returned(TextAt::Pointer(1), F64),
        "Perl_my_atof3" => parser(TextAt::Pointer(1), ResultAt::Through(2, F64)),
        "xmlXPathStringEvalNumber" => returned(TextAt::Pointer(0), F64),
        // David Gay's, as PHP and Ruby have it.
        "zend_strtod" | "ruby_strtod" => Parser { estimates: true, ..returned(TextAt::Pointer(0), F64) },
        // Free Pascal's `val`, which its `read` and `StrToFloat` come to.
        "FPC_VAL_REAL_SHORTSTR" => returned(TextAt::Pascal, Format::F80),
        "FPC_VAL_REAL_ANSISTR" => returned(TextAt::Pointer(0), Format::F80),
        "nimParseBiggestFloat" => parser(TextAt::Nim, ResultAt::Through(1, F64)),
        "strconv.ParseFloat" => returned(TextAt::Go, F64),
        _ => return None,
    })
}

/// V8's `InternalStringToDouble(first, last, flags, empty)`, for texts of one byte for each character, and of two.
fn v8(symbol: &str) -> Option<Parser> {
    let kind = symbol.strip_prefix(V8)?;
    let is = |letter| kind.strip_prefix(letter).is_some_and(|rest| rest.starts_with("S3_EEdT_T0_i"));
    let bytes = [('h', 1), ('t', 2)].into_iter().find(|&(letter, _)| is(letter)).map(|(_, bytes)| bytes)?;
    Some(Parser { estimates: true, ..returned(TextAt::Range(0, bytes), Format::F64) })
}

/// `std::from_chars(const char *, const char *, T &, std::chars_format)` of libstdc++.
fn from_chars(symbol: &str) -> Option<Parser> {
    let rest = symbol.strip_prefix("_ZSt10from_charsPKcS0_R")?;
    let format = format_of(rest.strip_suffix("St12chars_format")?)?;
    Some(parser(TextAt::Range(0, 1), ResultAt::Through(2, format)))
}

/// Rust's parser of floats of `format`.
fn rust(format: Format) -> Parser {
    match format {
        Format::F32 => parser(TextAt::Counted(0), ResultAt::RustSingle),
        _ => parser(TextAt::Counted(1), ResultAt::RustDouble),
    }
}

/// Format of C's `strtod` and its kin, `base` being `strto` or `wcsto`: also with a locale, as glibc calls them itself, and
/// those of C23.
fn c_format(symbol: &str, base: &str) -> Option<Format> {
    match c_kind(symbol, base)? {
        "f" | "f32" => Some(Format::F32),
        "d" | "f64" | "f32x" => Some(Format::F64),
        "ld" | "f64x" => Some(Format::F80),
        _ => None,
    }
}

/// Kind of number that one of C's functions `base` makes, from what its name ends in: with a locale or without, as glibc
/// calls it itself, or as C23 has it.
pub(super) fn c_kind<'a>(symbol: &'a str, base: &str) -> Option<&'a str> {
    let name = symbol.strip_prefix("__").unwrap_or(symbol);
    let kind = name.strip_prefix("isoc23_").unwrap_or(name).strip_prefix(base)?;
    let kind = kind.strip_suffix("_internal").unwrap_or(kind);
    Some(kind.strip_suffix("_l").unwrap_or(kind))
}

/// Format of `Float'Value` and its kin as GNAT's library has them, and whether the function scans a buffer from some place on.
fn ada_format(symbol: &str) -> Option<(Format, bool)> {
    let (kind, function) = symbol.strip_prefix("system__val_")?.split_once("__impl__")?;
    let format = ada_type(kind)?;
    match function {
        "value_real" => Some((format, false)),
        "scan_real" => Some((format, true)),
        _ => None,
    }
}

/// Format of `std.conv.parse!(double, string)` and its kin. What is nested in them has longer names.
fn d_format(symbol: &str) -> Option<Format> {
    let rest = symbol.strip_prefix("_D3std4conv__T5parseT")?;
    let (kind, rest) = rest.split_at_checked(1)?;
    let own = rest.ends_with(&format!("Z{kind}")) && !rest.contains("__dgliteral") && rest.starts_with('T');
    format_of(kind).filter(|_| own)
}

/// Format of `<f64 as core::str::FromStr>::from_str` and its kin, in both manglings.
fn rust_format(symbol: &str) -> Option<Format> {
    if let Some(rest) = symbol.strip_prefix("_ZN4core3num7dec2flt") {
        let rest = rest.split_once("core..str..traits..FromStr$u20$for$u20$")?.1;
        return match rest {
            rest if rest.starts_with("f32$GT$8from_str17h") => Some(Format::F32),
            rest if rest.starts_with("f64$GT$8from_str17h") => Some(Format::F64),
            _ => None,
        };
    }
    let (_, rest) = symbol.strip_prefix("_RNvX")?.split_once("4core3num7dec2flt")?;
    let own = rest.ends_with("3str6traits7FromStr8from_str");
    format_of(rest.get(..1)?).filter(|format| own && *format != Format::F80)
}

/// Tells whether the function of this name has a text parsed that a program was given, not one that it is written in:
/// CPython's, for `float(text)` and all that comes to that.
pub(super) fn parses_data(symbol: &str) -> bool {
    symbol == "_Py_string_to_number_with_underscores"
}

impl Parser {
    /// Parser that returns a float of this format, and is not itself given the text.
    pub(crate) fn returning(format: Format) -> Parser {
        returned(TextAt::Pointer(0), format)
    }

    /// The call of this parser that `m` is about to begin.
    pub(crate) fn call(self, m: &dyn Machine) -> Result<Parse, Unmapped> {
        let Text { address: text, length, character } = self.text.read(m)?;
        let result = match self.result {
            ResultAt::Through(index, _) => abi::integer(m, index)?,
            ResultAt::RustDouble => abi::integer(m, 0)?,
            ResultAt::Returned(_) | ResultAt::RustSingle => 0,
        };
        Ok(Parse { parser: self, text, length, character, result })
    }
}

impl Parse {
    /// Call for a text that is known to be so many characters of so many bytes at `text`; `parser` returns the float.
    pub(crate) fn of(parser: Parser, (text, length, character): (u64, u64, u64)) -> Parse {
        Parse { parser, text, length: Some(length), character, result: 0 }
    }

    /// The float will be of this format.
    pub(crate) fn make(&mut self, format: Format) {
        self.parser.result = ResultAt::Returned(format);
    }

    /// The float that the call, which has just returned, has made of a text whose value is `value`; nothing if it has made
    /// another, or none.
    pub(crate) fn float(&self, m: &dyn Machine, value: f64) -> Option<Float> {
        let float = match self.parser.result {
            ResultAt::Returned(format) => abi::result(m, format),
            ResultAt::Through(_, format) => abi::memory(m, self.result, format).ok()?,
            ResultAt::RustDouble if read_u64(m, self.result).ok()? & 0xff == 0 => {
                abi::memory(m, self.result + 8, Format::F64).ok()?
            }
            ResultAt::RustDouble => return None,
            ResultAt::RustSingle => {
                let location = Location::State(state::general(abi::RAX) + 4);
                Float { location, format: Format::F32, bits: (m.general(abi::RAX) >> 32).into() }
            }
        };
        let made = float.format.to_f64(float.bits);
        let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * b.abs();
        near(made, value).then_some(float)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols as compilers and libraries write them: glibc 2.36, g++ 12, rustc 1.95 (v0) and 1.63 (legacy).
    #[test]
    fn symbols_of_parsers() {
        let format = |symbol: &str| match of(symbol).unwrap().result {
            ResultAt::Returned(format) | ResultAt::Through(_, format) => format,
            ResultAt::RustDouble => Format::F64,
            ResultAt::RustSingle => Format::F32,
        };
        for symbol in
            ["strtod", "__strtod_l", "strtod_l", "__strtod_internal", "strtof64", "strtof32x", "wcstod"]
        {
            assert_eq!(format(symbol), Format::F64, "{symbol}");
        }
        assert_eq!(format("__strtof_l"), Format::F32);
        assert_eq!(format("__wcstold_internal"), Format::F80);
        assert_eq!(format("_ZSt10from_charsPKcS0_RdSt12chars_format"), Format::F64);
        assert_eq!(format("_ZSt10from_charsPKcS0_ReSt12chars_format"), Format::F80);
        let v0 = "_RNvXs2_NtNtCsgEmfK2I1SDS_4core3num7dec2fltdNtNtNtB9_3str6traits7FromStr8from_str";
        assert_eq!(format(v0), Format::F64);
        let single = v0.replace("dec2fltd", "dec2fltf");
        assert_eq!(format(&single), Format::F32);
        for symbol in ["zend_strtod", "_ZN2v88internal22InternalStringToDoubleIPKtS3_EEdT_T0_id"] {
            assert!(of(symbol).unwrap().estimates, "{symbol}");
        }
        let legacy = "_ZN4core3num7dec2flt60_$LT$impl$u20$core..str..traits..FromStr$u20$for$u20$f64$GT$8from_str17h0123456789abcdefE";
        assert_eq!(format(legacy), Format::F64);
        let d = "_D3std4conv__T5parseTdTAyaVEQBa8typecons__T4FlagVQBaa7_646f436f756e74ZQBbi0ZQCkFNaNfKQCkZd";
        assert_eq!(format(d), Format::F64);
        assert_eq!(of(&d.replace("FNaNfKQCkZd", "FKQCgZ6postabyG13e")), None);
        assert_eq!(format("system__val_lflt__impl__value_real"), Format::F64);
        assert_eq!(format("system__val_flt__impl__scan_real"), Format::F32);
        for other in ["strtol", "strtof128", "__strtod_nan", "strtoul", "_ZSt10from_charsPKcS0_Rii"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
