//! Debugging information entries: attributes, and references from one to the other.
//!
//! A DIE may leave its name and type to another one (a class static to its declaration, a local static to the function's
//! abstract instance, anything to the unit it was compiled in before link-time optimisation); that indirection ends here.

use std::rc::Rc;
use std::sync::Arc;

use gimli::{AttributeValue as Attr, Reader as _, UnitHeader, UnitOffset, UnitType};

use super::debug::{Dwarf, Reader};

pub(super) type Entry = gimli::DebuggingInformationEntry<Reader>;
pub(super) type Unit = gimli::Unit<Reader>;

/// Limit on the steps from one DIE to the next: a corrupt file may point in circles.
const INDIRECTIONS: u32 = 16;

/// The DIEs of a file.
pub(super) struct Dies {
    pub(super) dwarf: Arc<Dwarf>,
}

/// A DIE: its unit and its offset there.
#[derive(Clone)]
pub(super) struct At {
    pub(super) unit: Rc<Unit>,
    pub(super) offset: UnitOffset,
}

/// Storage of a variable, before the file is loaded anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Storage {
    /// At this address.
    Static(u64),
    /// At this offset of the module's thread-local block, in each thread.
    ThreadLocal(u64),
    /// So many bytes from where a register points to.
    Frame {
        /// The register, by its number in DWARF.
        register: u16,
        /// Bytes.
        offset: i64,
    },
    /// In no memory: this holds the float itself.
    Value(Holder),
    /// In memory that this points to.
    Through(Holder),
}

/// Holder of a value that is in no memory, or passed to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// The function's parameter of this number, from 0, those the compiler added included.
    Parameter(usize),
    /// A register, by its number in DWARF.
    Register(u16),
}

impl Storage {
    /// Tells whether it is the same for as long as the program runs.
    pub(super) fn is_static(self) -> bool {
        matches!(self, Storage::Static(_) | Storage::ThreadLocal(_))
    }

    /// So many bytes further on.
    pub(super) fn at(self, offset: u64) -> Storage {
        match self {
            Storage::Static(address) => Storage::Static(address.wrapping_add(offset)),
            Storage::ThreadLocal(start) => Storage::ThreadLocal(start.wrapping_add(offset)),
            Storage::Frame { register, offset: start } => {
                Storage::Frame { register, offset: start.wrapping_add_unsigned(offset) }
            }
            Storage::Value(_) | Storage::Through(_) => self,
        }
    }
}

impl At {
    /// The place in `.debug_info`, the same however it was reached; nothing for type units.
    pub(super) fn id(&self) -> Option<usize> {
        self.offset.to_debug_info_offset(&self.unit.header).map(|offset| offset.0)
    }
}

impl Dies {
    pub(super) fn new(dwarf: Arc<Dwarf>) -> Dies {
        Dies { dwarf }
    }

    pub(super) fn entry(&self, at: &At) -> Result<Entry, gimli::Error> {
        at.unit.entry(at.offset)
    }

    /// The DIE an attribute of a DIE in `unit` refers to.
    pub(super) fn follow(
        &self,
        unit: &Rc<Unit>,
        value: Option<Attr<Reader>>,
    ) -> Result<Option<At>, gimli::Error> {
        match value {
            Some(Attr::UnitRef(offset)) => Ok(Some(At { unit: unit.clone(), offset })),
            // Another unit: link-time optimisation.
            Some(Attr::DebugInfoRef(target)) => self.find_unit(|header| target.to_unit_offset(header)),
            // A type with a unit of its own, shared by all that use it (`-fdebug-types-section`).
            Some(Attr::DebugTypesRef(wanted)) => self.find_unit(|header| match header.type_() {
                UnitType::Type { type_signature, type_offset } if type_signature == wanted => {
                    Some(type_offset)
                }
                _ => None,
            }),
            _ => Ok(None),
        }
    }

    /// The first unit that `offset` finds something in.
    fn find_unit(
        &self,
        offset: impl Fn(&UnitHeader<Reader>) -> Option<UnitOffset>,
    ) -> Result<Option<At>, gimli::Error> {
        let mut units = self.dwarf.units();
        while let Some(header) = units.next()? {
            if let Some(offset) = offset(&header) {
                return Ok(Some(At { unit: Rc::new(self.dwarf.unit(header)?), offset }));
            }
        }
        // Before DWARF 5, units of types had a section of their own.
        let mut units = self.dwarf.type_units();
        while let Some(header) = units.next()? {
            if let Some(offset) = offset(&header) {
                return Ok(Some(At { unit: Rc::new(self.dwarf.unit(header)?), offset }));
            }
        }
        Ok(None)
    }

    /// A string attribute, if it is there and readable.
    pub(super) fn text(&self, unit: &Unit, entry: &Entry, name: gimli::DwAt) -> Option<String> {
        let value = entry.attr_value(name)?;
        let text = self.dwarf.attr_string(unit, value).ok()?;
        text.to_string_lossy().ok().map(|text| text.into_owned())
    }

    /// The name of a DIE, its own or that of the DIE it completes.
    pub(super) fn name(&self, at: &At) -> Result<Option<String>, gimli::Error> {
        let mut at = at.clone();
        for _ in 0..INDIRECTIONS {
            let entry = self.entry(&at)?;
            if let Some(name) = self.text(&at.unit, &entry, gimli::DW_AT_name) {
                return Ok(Some(name));
            }
            match self.completed(&at.unit, &entry)? {
                Some(other) => at = other,
                None => break,
            }
        }
        Ok(None)
    }

    /// The symbol of a function, its own or that of the DIE it completes; its name where none is said.
    pub(super) fn symbol(&self, at: &At) -> Result<Option<String>, gimli::Error> {
        let mut here = at.clone();
        for _ in 0..INDIRECTIONS {
            let entry = self.entry(&here)?;
            if let Some(symbol) = self.text(&here.unit, &entry, gimli::DW_AT_linkage_name) {
                return Ok(Some(symbol));
            }
            match self.completed(&here.unit, &entry)? {
                Some(other) => here = other,
                None => break,
            }
        }
        self.name(at)
    }

    /// The type of a DIE, its own or that of the DIE it completes.
    pub(super) fn kind(&self, at: &At) -> Result<Option<At>, gimli::Error> {
        let mut at = at.clone();
        for _ in 0..INDIRECTIONS {
            let entry = self.entry(&at)?;
            if let Some(kind) = self.follow(&at.unit, entry.attr_value(gimli::DW_AT_type))? {
                return Ok(Some(kind));
            }
            match self.completed(&at.unit, &entry)? {
                Some(other) => at = other,
                None => break,
            }
        }
        Ok(None)
    }

    /// The declaration that a definition, or the abstract instance that a concrete one, is the rest of.
    pub(super) fn completed(&self, unit: &Rc<Unit>, entry: &Entry) -> Result<Option<At>, gimli::Error> {
        let value = entry.attr_value(gimli::DW_AT_specification);
        self.follow(unit, value.or_else(|| entry.attr_value(gimli::DW_AT_abstract_origin)))
    }

    /// Storage of the variable `entry`, if that is one place for the whole run.
    pub(super) fn storage(&self, unit: &Unit, entry: &Entry) -> Result<Option<Storage>, gimli::Error> {
        let Some(expression) = entry.attr_value(gimli::DW_AT_location).and_then(|v| v.exprloc_value()) else {
            return Ok(None);
        };
        let mut operations = expression.operations(unit.encoding());
        let mut address = None;
        let mut thread_local = false;
        while let Some(operation) = operations.next()? {
            use gimli::Operation as Op;
            address = match (operation, address) {
                (Op::Address { address }, None) => Some(address),
                (Op::AddressIndex { index }, None) => Some(self.dwarf.address(unit, index)?),
                (Op::UnsignedConstant { value }, None) => Some(value),
                (Op::PlusConstant { value }, Some(address)) => Some(address.wrapping_add(value)),
                (Op::TLS, address) => {
                    thread_local = true;
                    address
                }
                // A register, or a computation: a place on some stack.
                _ => return Ok(None),
            };
        }
        Ok(address.map(if thread_local { Storage::ThreadLocal } else { Storage::Static }))
    }
}
