//! Variables in debug information by name.
//!
//! Units are read one after the other until the variable at a known address has been met, or to the end.

use std::borrow::Borrow;
use std::fmt::Display;
use std::rc::Rc;

use gimli::{DwTag, Reader as _, Section as _};

use super::dies::{At, Dies, Entry, Storage, Unit};

/// A variable of the wanted name.
#[derive(Clone)]
pub(super) struct Declared {
    /// Scopes outermost first, and the name.
    pub(super) path: Vec<String>,
    /// The source file of its unit.
    pub(super) file: String,
    /// The storage of the variable; declarations and optimised-away variables have none.
    pub(super) storage: Option<Storage>,
    /// True for one on a function's stack, or in its registers.
    pub(super) is_local: bool,
    /// The DIE of its type.
    pub(super) kind: Option<At>,
    /// The names are the same in any letter case.
    pub(super) fortran: bool,
}

/// All variables called `name` (their own name, without scopes), in the order of the file; those of further units are
/// left out once the one at `address` has been found.
pub(super) fn variables(
    dies: &Dies,
    name: &str,
    address: Option<Storage>,
) -> Result<Vec<Declared>, gimli::Error> {
    let mut search = Search { dies, name, named: Vec::new(), unnamed: Vec::new() };
    let mut units = dies.dwarf.units();
    let mut done = !search.is_mentioned()?;
    while let (false, Some(header)) = (done, units.next()?) {
        let unit = Rc::new(dies.dwarf.unit(header)?);
        let fortran = dies.is_fortran(&unit)?;
        Walk { search: &mut search, unit, fortran }.run()?;
        done = address.is_some() && search.found(address);
    }
    search.finish()
}

/// The names of all variables with a place of their own, for suggestions.
pub(super) fn names(dies: &Dies) -> Result<Vec<String>, gimli::Error> {
    let mut names = Vec::new();
    let mut units = dies.dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dies.dwarf.unit(header)?;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() == gimli::DW_TAG_variable && dies.storage(&unit, entry)?.is_some() {
                names.extend(dies.text(&unit, entry, gimli::DW_AT_name));
            }
        }
    }
    Ok(names)
}

/// Results of the search so far.
struct Search<'a> {
    dies: &'a Dies,
    name: &'a str,
    /// Variables and members of the name, by their place in the file.
    named: Vec<(Option<usize>, bool, Declared)>,
    /// Variables that leave their name to another DIE, which may come later.
    unnamed: Vec<(At, At, Storage)>,
}

impl Search<'_> {
    /// Every name of the file stands in one of two sections: whole files are dismissed without parsing.
    fn is_mentioned(&self) -> Result<bool, gimli::Error> {
        for section in [self.dies.dwarf.debug_str.reader(), self.dies.dwarf.debug_info.reader()] {
            if contains_ignoring_case(&section.to_slice()?, self.name.as_bytes()) {
                return Ok(true);
            }
        }
        Ok(self.dies.dwarf.sup().is_some())
    }

    fn found(&self, address: Option<Storage>) -> bool {
        let named = self.named.iter().any(|(_, _, variable)| variable.storage == address);
        named || self.unnamed.iter().any(|(.., storage)| Some(*storage) == address)
    }

    /// Gives variables without a name the name of what they complete.
    fn finish(self) -> Result<Vec<Declared>, gimli::Error> {
        let mut found = Vec::new();
        for (at, other, storage) in &self.unnamed {
            let id = other.id();
            let known = self.named.iter().find(|(named, ..)| id.is_some() && *named == id);
            let declared = match known {
                Some((_, _, declared)) => declared.clone(),
                // In a unit that was not read any more.
                None if self.dies.name(other)?.as_deref() == Some(self.name) => Declared {
                    path: vec![self.name.to_owned()],
                    file: unit_file(&other.unit)?,
                    storage: None,
                    is_local: false,
                    kind: None,
                    fortran: self.dies.is_fortran(&other.unit)?,
                },
                None => continue,
            };
            found.push(Declared { storage: Some(*storage), kind: self.dies.kind(at)?, ..declared });
        }
        let named = self.named.into_iter().filter(|(_, is_variable, _)| *is_variable);
        found.extend(named.map(|(_, _, variable)| variable));
        Ok(found)
    }
}

/// Scopes around an entry, outermost first: depth and name.
pub(super) type Scopes = [(isize, String)];

/// Name by which a variable, the last of `path` after its scopes, is known as a local one: `function:name`.
pub(super) fn local_name<S: Borrow<str> + Display>(path: &[S]) -> Option<String> {
    path.split_last().map(|(name, function)| format!("{}:{name}", function.join("::")))
}

/// Goes through the entries of `unit`; `each` is told the scopes around one.
pub(super) fn each_entry(
    dies: &Dies,
    unit: &Rc<Unit>,
    each: &mut dyn FnMut(&Entry, &Scopes),
) -> Result<(), gimli::Error> {
    let mut scopes: Vec<(isize, String)> = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        while scopes.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
            scopes.pop();
        }
        each(entry, &scopes);
        if is_scope(entry.tag()) {
            let name = dies.name(&At { unit: unit.clone(), offset: entry.offset() })?;
            scopes.extend(name.or_else(|| anonymous(entry.tag())).map(|name| (entry.depth(), name)));
        }
    }
    Ok(())
}

/// One pass over a unit.
struct Walk<'a, 'b> {
    search: &'a mut Search<'b>,
    unit: Rc<Unit>,
    fortran: bool,
}

impl Walk<'_, '_> {
    fn run(mut self) -> Result<(), gimli::Error> {
        let (dies, unit) = (self.search.dies, self.unit.clone());
        let mut found = Ok(());
        each_entry(dies, &unit, &mut |entry, scopes| {
            if found.is_ok() && matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_member) {
                found = self.variable(entry, scopes);
            }
        })?;
        found
    }

    fn at(&self, entry: &Entry) -> At {
        At { unit: self.unit.clone(), offset: entry.offset() }
    }

    fn variable(&mut self, entry: &Entry, scopes: &Scopes) -> Result<(), gimli::Error> {
        let dies = self.search.dies;
        let is_variable = entry.tag() == gimli::DW_TAG_variable;
        let wanted = self.search.name;
        let at = self.at(entry);
        match dies.text(&self.unit, entry, gimli::DW_AT_name) {
            Some(name) if name == wanted || (self.fortran && name.eq_ignore_ascii_case(wanted)) => {
                let scopes = scopes.iter().map(|(_, name)| name.clone());
                let storage = dies.storage(&self.unit, entry)?;
                let variable = Declared {
                    path: scopes.chain([name]).collect(),
                    file: unit_file(&self.unit)?,
                    storage,
                    is_local: storage.is_none() && entry.has_attr(gimli::DW_AT_location),
                    kind: dies.kind(&at)?,
                    fortran: self.fortran,
                };
                self.search.named.push((at.id(), is_variable, variable));
            }
            None if is_variable => {
                let completed = dies.completed(&self.unit, entry)?;
                if let (Some(storage), Some(other)) = (dies.storage(&self.unit, entry)?, completed) {
                    self.search.unnamed.push((at, other, storage));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The source file of `unit`, as its compiler was given it.
pub(super) fn unit_file(unit: &Unit) -> Result<String, gimli::Error> {
    let name = unit.name.as_ref().map(|name| name.to_string_lossy().map(|name| name.into_owned()));
    name.transpose().map(Option::unwrap_or_default)
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_namespace
            | gimli::DW_TAG_module
            | gimli::DW_TAG_subprogram
            | gimli::DW_TAG_common_block
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
    )
}

fn anonymous(tag: DwTag) -> Option<String> {
    (tag == gimli::DW_TAG_namespace).then(|| "(anonymous namespace)".to_owned())
}

fn contains_ignoring_case(haystack: &[u8], needle: &[u8]) -> bool {
    let Some(&first) = needle.first() else { return false };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut starts = haystack.iter().enumerate().filter(|&(_, &b)| b == lower || b == upper);
    starts.any(|(at, _)| {
        haystack.get(at..at + needle.len()).is_some_and(|part| part.eq_ignore_ascii_case(needle))
    })
}
