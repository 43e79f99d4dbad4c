//! Parameters and result of a function, as far as a calling convention asks.

use std::rc::Rc;

use shadowgrind_core::format::Format;

use super::dies::{At, Dies, Entry};
use super::types::Type;

/// A value that a function is given or returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A float.
    Float(Format),
    /// A complex number of the language: two floats.
    Complex(Format),
    /// A pointer or reference, and the format of the floats it leads to, if it leads to floats.
    Pointer(Option<Format>),
    /// An integer, a truth value, an enumeration.
    Integer,
    /// A structure of so many bytes.
    Structure(u64),
}

/// A function's parameters and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Parameters in order; those the compiler added (`this`) are marked.
    pub parameters: Vec<(Passed, bool)>,
    /// The result, if there is one.
    pub result: Option<Passed>,
}

/// The signature of the function at `address`, if debug information has it.
pub(super) fn find(dies: &Dies, address: u64) -> Result<Option<Signature>, gimli::Error> {
    subprogram(dies, address)?.map(|at| of(dies, &at)).transpose()
}

/// The signature of the function at `at`.
pub(super) fn of(dies: &Dies, at: &At) -> Result<Signature, gimli::Error> {
    let fortran = dies.is_fortran(&at.unit)?;
    let mut parameters = Vec::new();
    for child in dies.children(at)? {
        if child.tag() != gimli::DW_TAG_formal_parameter {
            continue;
        }
        let child_at = At { unit: at.unit.clone(), offset: child.offset() };
        let Some(kind) = dies.kind(&child_at)? else { continue };
        let mut given = passed(dies, &kind)?;
        if fortran && !is_in_register(dies, at, &child)? {
            given = by_reference(given);
        }
        // gfortran calls descriptors artificial, though the argument is the user's.
        parameters.push((given, !fortran && is_artificial(dies, at, &child)?));
    }
    let result = match dies.kind(at)? {
        Some(kind) => Some(passed(dies, &kind)?),
        None => None,
    };
    Ok(Signature { parameters, result })
}

/// The function that begins at `address`.
pub(super) fn subprogram(dies: &Dies, address: u64) -> Result<Option<At>, gimli::Error> {
    let mut units = dies.dwarf.units();
    while let Some(header) = units.next()? {
        let unit = Rc::new(dies.dwarf.unit(header)?);
        let mut ranges = dies.dwarf.unit_ranges(&unit)?;
        let mut here = false;
        while let (false, Some(range)) = (here, ranges.next()?) {
            here = (range.begin..range.end).contains(&address);
        }
        let mut entries = unit.entries();
        while let (true, Some(entry)) = (here, entries.next_dfs()?) {
            let low =
                entry.attr_value(gimli::DW_AT_low_pc).filter(|_| entry.tag() == gimli::DW_TAG_subprogram);
            if let Some(low) = low
                && dies.dwarf.attr_address(&unit, low)? == Some(address)
            {
                return Ok(Some(At { unit: unit.clone(), offset: entry.offset() }));
            }
        }
    }
    Ok(None)
}

/// Tells whether the compiler added the parameter.
pub(super) fn is_artificial(dies: &Dies, function: &At, parameter: &Entry) -> Result<bool, gimli::Error> {
    if parameter.has_attr(gimli::DW_AT_artificial) {
        return Ok(true);
    }
    let other = dies.completed(&function.unit, parameter)?;
    Ok(match other {
        Some(other) => dies.entry(&other)?.has_attr(gimli::DW_AT_artificial),
        None => false,
    })
}

/// Fortran passes by reference, which its types do not say.
fn by_reference(given: Passed) -> Passed {
    match given {
        Passed::Float(format) | Passed::Complex(format) => Passed::Pointer(Some(format)),
        Passed::Pointer(_) => given,
        Passed::Integer | Passed::Structure(_) => Passed::Pointer(None),
    }
}

/// Tells whether the value of a parameter is in a register or the frame itself, and not where that points to: a dummy
/// argument with the `value` attribute, or one whose address is not needed.
pub(super) fn is_in_register(dies: &Dies, function: &At, parameter: &Entry) -> Result<bool, gimli::Error> {
    let Some(location) = parameter.attr_value(gimli::DW_AT_location) else { return Ok(false) };
    let expression = match location.exprloc_value() {
        Some(expression) => Some(expression),
        None => match dies.dwarf.attr_locations(&function.unit, location)? {
            Some(mut list) => list.next()?.map(|entry| entry.data),
            None => None,
        },
    };
    let Some(expression) = expression else { return Ok(false) };
    let mut operations = expression.operations(function.unit.encoding());
    let (first, second) = (operations.next()?, operations.next()?);
    use gimli::Operation as Op;
    Ok(match first {
        Some(Op::Register { .. }) => true,
        Some(Op::FrameOffset { .. }) => !matches!(second, Some(Op::Deref { .. })),
        _ => false,
    })
}

fn passed(dies: &Dies, kind: &At) -> Result<Passed, gimli::Error> {
    let at = dies.unqualified(kind)?;
    let entry = dies.entry(&at)?;
    if is_pointer(&entry) {
        let to = dies.follow(&at.unit, entry.attr_value(gimli::DW_AT_type))?;
        return Ok(Passed::Pointer(to.map_or(Ok(None), |to| element(dies, &to, 0))?));
    }
    Ok(match dies.resolve(&at)? {
        Type::Float(format) => Passed::Float(format),
        Type::Complex(format) => Passed::Complex(format),
        // Arrays are passed by address in all languages: C's have become pointers, Fortran's are what they are.
        Type::Array(_) | Type::Dynamic | Type::Pointer(_) | Type::Reference(_) => {
            Passed::Pointer(elements(dies, &at, &entry)?)
        }
        Type::Structure(_) => Passed::Structure(dies.size(&at)?.unwrap_or(0)),
        Type::Other(_) => Passed::Integer,
    })
}

fn is_pointer(entry: &Entry) -> bool {
    matches!(
        entry.tag(),
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
    )
}

/// The format of an array's elements; nothing where a descriptor comes in between.
fn elements(dies: &Dies, at: &At, array: &Entry) -> Result<Option<Format>, gimli::Error> {
    let kind = dies.follow(&at.unit, array.attr_value(gimli::DW_AT_type))?;
    match kind.filter(|_| !array.has_attr(gimli::DW_AT_data_location)) {
        Some(kind) => element(dies, &kind, 0),
        None => Ok(None),
    }
}

/// The format of the floats that a type consists of.
fn element(dies: &Dies, at: &At, depth: u32) -> Result<Option<Format>, gimli::Error> {
    const NESTING: u32 = 16;
    Ok(match dies.resolve(at)? {
        Type::Float(format) | Type::Complex(format) => Some(format),
        Type::Array(array) if depth < NESTING => element(dies, &array.element, depth + 1)?,
        Type::Structure(members) if members.len() == 1 && depth < NESTING => {
            element(dies, &members[0].kind, depth + 1)?
        }
        _ => None,
    })
}
