//! The functions that turn text into an integer, by symbol: where a call of one finds the text. What they make has no
//! derivative, so that a number which a user names and they read is worth a word.
//!
//! `atoi`, `scanf`, C++'s streams and Fortran's `read` reach a function of this table. Functions for floats are another's.

use super::abi;
use super::machine::{Machine, Unmapped};
use super::parsers::{TextAt, c_kind};

/// Function that turns text into an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntegerParser {
    at: At,
    /// Words by which a user knows it; its own name if there are none.
    pub(crate) label: Option<&'static str>,
}

/// Place of what is known of the integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// The text, at the call.
    Text(TextAt),
    /// The value, after the call, where the second argument points to, in as many bytes as the third says.
    Value,
}

/// Integer that a call reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerRead {
    /// Of the text at this address, of this many bytes if it does not end by a zero.
    Text(u64, Option<u64>),
    /// Into this place, of so many bytes.
    Value(u64, u64),
}

/// Beginnings of the symbols of C++'s functions, up to the types that tell them apart.
const NUM_GET: &str = "_ZNKSt7num_getIcSt19istreambuf_iteratorIcSt11char_traitsIcEEE6do_getES3_S3_RSt8ios_baseRSt12_Ios_IostateR";
const FROM_CHARS: [&str; 2] =
    ["_ZNSt8__detail18__from_chars_alnum", "_ZNSt8__detail23__from_chars_pow2_base"];

/// The parser of integers of this name.
pub(super) fn of(symbol: &str) -> Option<IntegerParser> {
    named(symbol).or_else(|| of_cpp(symbol)).or_else(|| of_c(symbol))
}

fn text(text: TextAt, label: Option<&'static str>) -> IntegerParser {
    IntegerParser { at: At::Text(text), label }
}

/// The parser that has just this name.
fn named(symbol: &str) -> Option<IntegerParser> {
    Some(match symbol {
        "PyOS_strtol" | "PyOS_strtoul" | "PyLong_FromString" => text(TextAt::Pointer(0), Some("Python")),
        // The first argument is the interpreter; numbers of scripts alone come here.
        "Perl_grok_number" | "Perl_grok_number_flags" => text(TextAt::Counted(1), Some("Perl")),
        "strconv.Atoi" | "strconv.ParseInt" | "strconv.ParseUint" => text(TextAt::Go, None),
        "_gfortran_transfer_integer" => IntegerParser { at: At::Value, label: Some("Fortran's read") },
        _ => return None,
    })
}

/// The parser of libstdc++ that has this name.
fn of_cpp(symbol: &str) -> Option<IntegerParser> {
    if FROM_CHARS.iter().any(|start| symbol.starts_with(start)) {
        return Some(text(TextAt::Behind, Some("std::from_chars")));
    }
    if symbol.starts_with("_ZSt10from_charsI") {
        return Some(text(TextAt::Range(0, 1), Some("std::from_chars")));
    }
    // Not bool, floats and pointers.
    let kind = symbol.strip_prefix(NUM_GET)?;
    let is_integer = ["l", "m", "t", "j", "x", "y"].contains(&kind);
    is_integer.then_some(text(TextAt::Stream(1), Some("C++'s streams")))
}

/// The parser of the C library that has this name.
fn of_c(symbol: &str) -> Option<IntegerParser> {
    let is_integer = |kind: &str| ["l", "ul", "ll", "ull", "imax", "umax", "q", "uq"].contains(&kind);
    let is = |base| c_kind(symbol, base).is_some_and(is_integer);
    let narrow = if is("strto") {
        TextAt::Pointer(0)
    } else if is("wcsto") {
        TextAt::Wide
    } else {
        return None;
    };
    // By these names glibc's own `scanf` calls them.
    let is_scanf = symbol.ends_with("_internal");
    Some(text(narrow, is_scanf.then_some("scanf")))
}

impl IntegerParser {
    /// The integer of the call that `m` is about to begin; nothing of characters of several bytes.
    pub(crate) fn call(self, m: &dyn Machine) -> Result<Option<IntegerRead>, Unmapped> {
        let At::Text(text) = self.at else {
            let (place, bytes) = (abi::integer(m, 1)?, abi::integer(m, 2)? & 0xffff_ffff);
            return Ok(Some(IntegerRead::Value(place, bytes)));
        };
        let text = text.read(m)?;
        Ok((text.character == 1).then_some(IntegerRead::Text(text.address, text.length)))
    }
}

/// Value of an integer of up to eight bytes.
pub(crate) fn integer_at(m: &dyn Machine, address: u64, bytes: u64) -> Option<i64> {
    let mut word = [0; 8];
    m.read(address, word.get_mut(..bytes as usize)?).ok()?;
    let unused = 64u64.checked_sub(8 * bytes).filter(|&unused| unused < 64)?;
    Some((u64::from_le_bytes(word) << unused) as i64 >> unused)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols as glibc 2.36, libstdc++ 12 and gfortran 12 have them.
    #[test]
    fn symbols_of_parsers_of_integers() {
        for (symbol, label) in [
            ("strtol", None),
            ("__isoc23_strtoull", None),
            ("strtoimax", None),
            ("wcstol", None),
            ("__strtol_internal", Some("scanf")),
            ("_gfortran_transfer_integer", Some("Fortran's read")),
            ("_ZNSt8__detail18__from_chars_alnumILb1EjEEbRPKcS2_RT_i", Some("std::from_chars")),
        ] {
            assert_eq!(of(symbol).unwrap().label, label, "{symbol}");
        }
        assert!(of(&format!("{NUM_GET}l")).is_some());
        for other in
            ["strtod", "__strtof_internal", "strtok", "strtold_l", "_ZSt10from_charsPKcS0_RdSt12chars_format"]
        {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(of(&format!("{NUM_GET}d")), None);
    }
}
