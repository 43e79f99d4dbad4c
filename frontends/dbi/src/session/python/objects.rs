//! Floats in Python's objects: global variables by name, and the elements of lists, tuples and numpy's arrays.
//!
//! Layouts are those of CPython 3.9 to 3.13 and of numpy 1 and 2: `PyDictObject` and its table of keys, `PyFloatObject`,
//! `PyListObject`, `PyArrayObject`. Whatever does not look like them has no floats.

use super::Python;
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_bytes, read_u64};
use crate::hooks::{format_of_scalar, type_name};
use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{End, Subscript};

/// Layout of the table of a dictionary's keys.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keys {
    /// Up to 3.10: the number of places, and indices as wide as that number needs; entries are hash, key and value.
    Counted,
    /// Since 3.11: the binary logarithm of the bytes of all indices, and entries without hash where all keys are strings.
    Logarithmic,
}

/// Dictionary: its table of keys, and values that are kept apart from it.
const KEYS: u64 = 32;
const VALUES: u64 = 40;
/// Object: its value or, of those of many, their number.
const VALUE: u64 = 16;
/// List: the address of its items. Tuple: its items.
const ITEMS: u64 = 24;
/// Array: its first element, number of dimensions, their lengths and distances, and the type of its elements.
const DATA: u64 = 16;
const DIMENSIONS: u64 = 24;
const LENGTHS: u64 = 32;
const DISTANCES: u64 = 40;
const DESCRIPTION: u64 = 56;
/// Type of elements: its letter and its byte order.
const LETTER: u64 = 25;

/// Entries of a dictionary, and floats of a variable, that are looked through.
const MOST: u64 = 1 << 24;
/// Lists in lists that are looked into, and dimensions of arrays.
const DEEPEST: usize = 32;

/// Reason why an object has no floats to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoFloats {
    /// There is no such variable.
    NoVariable,
    /// An object of this type is none.
    Type(String),
    /// There is no element of these subscripts.
    NoElement,
    /// There are more subscripts than dimensions.
    TooManySubscripts,
    /// Object that is not as it should be.
    Unreadable,
}

impl From<Unmapped> for NoFloats {
    fn from(Unmapped: Unmapped) -> NoFloats {
        NoFloats::Unreadable
    }
}

impl Python {
    /// Value of the string `key` in the dictionary at `dictionary`.
    pub(in crate::session) fn value(
        &self,
        m: &dyn Machine,
        dictionary: u64,
        key: &str,
    ) -> Result<Option<u64>, Unmapped> {
        let keys = read_u64(m, dictionary + KEYS)?;
        if read_u64(m, dictionary + VALUES)? != 0 {
            return Ok(None);
        }
        let (entries, count, has_hash) = self.entries(m, keys)?;
        let size = if has_hash { 24 } else { 16 };
        for entry in (0..count.min(MOST)).map(|index| entries + size * index) {
            let entry = if has_hash { entry + 8 } else { entry };
            let (found, value) = (read_u64(m, entry)?, read_u64(m, entry + 8)?);
            if found != 0 && value != 0 && self.text(m, found).as_deref() == Some(key) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Table of entries of the dictionary whose keys are at `keys`: its address, the number of entries, and whether each
    /// begins with a hash.
    fn entries(&self, m: &dyn Machine, keys: u64) -> Result<(u64, u64, bool), Unmapped> {
        match self.layout.keys {
            Keys::Counted => {
                let places = read_u64(m, keys + 8)?;
                let width = match places {
                    0..=0xff => 1,
                    0x100..=0xffff => 2,
                    0x1_0000..=0xffff_ffff => 4,
                    _ => 8,
                };
                Ok((keys + 40 + width * places, read_u64(m, keys + 32)?, true))
            }
            Keys::Logarithmic => {
                let [bytes, kind] = read_bytes(m, keys + 9)?;
                Ok((keys + 32 + (1 << (bytes & 63)), read_u64(m, keys + 24)?, kind == 0))
            }
        }
    }

    /// Characters of the string that is the value of `key` in the dictionary at `dictionary`.
    pub(in crate::session) fn string(&self, m: &dyn Machine, dictionary: u64, key: &str) -> Option<String> {
        self.text(m, self.value(m, dictionary, key).ok()??)
    }

    /// Floats of the elements that `subscripts` select of the variable `name` in the dictionary at `globals`: all of them
    /// where there are fewer subscripts than dimensions.
    pub(in crate::session) fn floats(
        &self,
        m: &dyn Machine,
        globals: u64,
        name: &str,
        subscripts: &[Subscript],
    ) -> Result<Vec<Float>, NoFloats> {
        let object = self.value(m, globals, name)?.ok_or(NoFloats::NoVariable)?;
        let mut floats = Vec::new();
        add_floats(m, object, subscripts, DEEPEST, &mut floats)?;
        Ok(floats)
    }
}

/// Adds the floats of `object` that `subscripts` select to `floats`.
fn add_floats(
    m: &dyn Machine,
    object: u64,
    subscripts: &[Subscript],
    depth: usize,
    floats: &mut Vec<Float>,
) -> Result<(), NoFloats> {
    let kind = type_name(m, object)?;
    let items = match &kind[..] {
        b"list" => read_u64(m, object + ITEMS)?,
        b"tuple" => object + ITEMS,
        b"numpy.ndarray" => return add_elements(m, object, subscripts, floats),
        _ => {
            let no_float = || NoFloats::Type(String::from_utf8_lossy(&kind).into_owned());
            let format = format_of_scalar(&kind).ok_or_else(no_float)?;
            if !subscripts.is_empty() {
                return Err(NoFloats::TooManySubscripts);
            }
            floats.push(abi::memory(m, object + VALUE, format)?);
            return Ok(());
        }
    };
    if depth == 0 {
        return Err(NoFloats::Unreadable);
    }
    let (subscript, rest) = match subscripts.split_first() {
        Some((subscript, rest)) => (Some(subscript), rest),
        None => (None, subscripts),
    };
    for index in selected(subscript, read_u64(m, object + VALUE)?)? {
        add_floats(m, read_u64(m, items + 8 * index)?, rest, depth - 1, floats)?;
    }
    Ok(())
}

/// Adds the elements of the array at `array` that `subscripts` select.
fn add_elements(
    m: &dyn Machine,
    array: u64,
    subscripts: &[Subscript],
    floats: &mut Vec<Float>,
) -> Result<(), NoFloats> {
    let format = format_of_elements(m, array)?;
    let dimensions = u32::from_le_bytes(read_bytes(m, array + DIMENSIONS)?) as usize;
    if dimensions > DEEPEST {
        return Err(NoFloats::Unreadable);
    }
    if subscripts.len() > dimensions {
        return Err(NoFloats::TooManySubscripts);
    }
    for place in places(m, array, dimensions, subscripts)? {
        floats.push(abi::memory(m, place, format)?);
    }
    Ok(())
}

/// Format of the elements of the array at `array`.
fn format_of_elements(m: &dyn Machine, array: u64) -> Result<Format, NoFloats> {
    let [letter, order] = read_bytes(m, read_u64(m, array + DESCRIPTION)? + LETTER)?;
    match (letter, order) {
        (b'f', b'=' | b'<') => Ok(Format::F32),
        (b'd', b'=' | b'<') => Ok(Format::F64),
        (b'g', b'=' | b'<') => Ok(Format::F80),
        _ => Err(NoFloats::Type(format!("array of type '{}'", char::from(letter)))),
    }
}

/// Addresses of the elements that `subscripts` select of the array at `array`, which has so many dimensions.
fn places(
    m: &dyn Machine,
    array: u64,
    dimensions: usize,
    subscripts: &[Subscript],
) -> Result<Vec<u64>, NoFloats> {
    let (lengths, distances) = (read_u64(m, array + LENGTHS)?, read_u64(m, array + DISTANCES)?);
    let mut places = vec![read_u64(m, array + DATA)?];
    for dimension in 0..dimensions {
        let length = read_u64(m, lengths + 8 * dimension as u64)?;
        let distance = read_u64(m, distances + 8 * dimension as u64)?;
        let indices = selected(subscripts.get(dimension), length)?;
        let along = |&place: &u64| indices.clone().map(move |i| place.wrapping_add(i.wrapping_mul(distance)));
        places = places.iter().flat_map(along).take(MOST as usize).collect();
    }
    Ok(places)
}

/// Indices that `subscript`, or all that there are without one, selects of `length`; those below 0 count from the end.
fn selected(subscript: Option<&Subscript>, length: u64) -> Result<std::ops::Range<u64>, NoFloats> {
    if length > MOST {
        return Err(NoFloats::Unreadable);
    }
    let from_start = |index: i64| if index < 0 { index + length as i64 } else { index };
    let (first, end) = match subscript {
        None => (0, length as i64),
        Some(Subscript::One(index)) => (from_start(*index), from_start(*index) + 1),
        Some(Subscript::Range { start, end }) => {
            let end = match end {
                Some((End::Index(end), is_included)) => from_start(*end) + i64::from(*is_included),
                _ => length as i64,
            };
            (from_start(start.unwrap_or(0)), end)
        }
    };
    match (u64::try_from(first), u64::try_from(end)) {
        (Ok(first), Ok(end)) if first <= end && end <= length => Ok(first..end),
        _ => Err(NoFloats::NoElement),
    }
}
