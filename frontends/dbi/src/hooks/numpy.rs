//! Elements of arrays that numpy turns into text: its functions for one element, which it calls for each when it prints an
//! array, and to measure them before that.
//!
//! These are functions for scripts, `dragon4_positional` and `dragon4_scientific`; a stripped numpy has no other names. They are
//! called as CPython's vector calls are: `f(module, arguments, count, names)`, the names of those arguments that have one in a
//! tuple. Layouts are those of CPython's objects since 3.9.

use super::abi::{self, Float};
use super::machine::{Machine, Unmapped, read_bytes, read_u64};
use shadowgrind_core::format::Format;

/// Part of the name of the file that they are in.
pub(super) const FILE: &str = "_multiarray_umath.";

/// Names that scripts call them by.
pub(super) const METHODS: [&str; 2] = ["dragon4_positional", "dragon4_scientific"];

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
/// Most arguments with a name that a call may have.
const MOST: u64 = 32;

/// The element that the call is to print; nothing if it measures, or prints something else.
pub(super) fn element(m: &dyn Machine) -> Result<Option<Float>, Unmapped> {
    let names = abi::integer(m, 3)?;
    if names == 0 || !is_padded(m, names)? {
        return Ok(None);
    }
    let object = read_u64(m, abi::integer(m, 1)?)?;
    let format = format_of_scalar(&type_name(m, object)?);
    format.map(|format| abi::memory(m, object + VALUE, format)).transpose()
}

/// Tells whether the tuple at `names` has the name of that argument.
fn is_padded(m: &dyn Machine, names: u64) -> Result<bool, Unmapped> {
    for index in 0..read_u64(m, names + COUNT)?.min(MOST) {
        let name = read_u64(m, names + ITEMS + 8 * index)?;
        if read_u64(m, name + LENGTH)? != PADDED.len() as u64 {
            continue;
        }
        for at in CHARACTERS {
            if read_bytes::<{ PADDED.len() }>(m, name + at)? == PADDED {
                return Ok(true);
            }
        }
    }
    Ok(false)
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

    const RCX: usize = 1;

    /// A call `f(x, name=…)` with x of this type.
    fn called(kind: &[u8], name: &[u8], characters: u64) -> Fake {
        let mut m = Fake::called(0x1000);
        (m.general[RSI], m.general[RCX]) = (0x2000, 0x3000);
        m.poke_words(0x2000, &[0x4000]);
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
        for characters in CHARACTERS {
            let float = element(&called(b"numpy.float64", PADDED, characters)).unwrap().unwrap();
            assert_eq!(f64::from_bits(float.bits as u64), 2.5);
        }
        assert_eq!(element(&called(b"numpy.float64", b"fraction", 48)), Ok(None));
        assert_eq!(element(&called(b"numpy.int64", PADDED, 48)), Ok(None));
        let mut measured = called(b"float", PADDED, 48);
        measured.general[RCX] = 0;
        assert_eq!(element(&measured), Ok(None));
    }
}
