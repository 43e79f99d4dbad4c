//! All that a SPEC can name in a file: variables that hold floats, and floats that functions are given and return.
//!
//! Goes through debug information once; a file that has none is told by its symbols, whose types nobody knows. Knows how
//! SPECs are written, not what is done with them.

use std::collections::BTreeSet;
use std::rc::Rc;

use shadowgrind_core::format::Format;

use super::containers;
use super::demangle::demangle;
use super::dies::{At, Dies, Entry};
use super::error::{LookupError, OpenError};
use super::search::{self, Scopes, each_entry, unit_file};
use super::signature::{self, Passed};
use super::symtab::SymbolKind;
use super::types::{Array, Member, Type};
use super::{SymbolFile, select};

/// Something that a SPEC can name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nameable {
    /// The SPEC; that of the first, where there are many elements behind a pointer or in a structure.
    pub spec: String,
    /// The type, in C's words.
    pub kind: String,
    /// The source file of its unit; empty where that is not known.
    pub file: String,
}

/// Floats listed of one variable: a structure may have thousands of members.
const MOST: usize = 100;
/// Types within types that are looked through.
const NESTING: u32 = 8;

/// Everything that can be named in `file`, in order of SPECs.
pub(super) fn all(file: &SymbolFile) -> Result<Vec<Nameable>, LookupError> {
    let Some(dies) = file.dies()? else { return Ok(by_symbol(file)?) };
    let failed = |error| LookupError::from(file.corrupt(error));
    let mut found = BTreeSet::new();
    let mut units = dies.dwarf.units();
    while let Some(header) = units.next().map_err(failed)? {
        let unit = Rc::new(dies.dwarf.unit(header).map_err(failed)?);
        let source = unit_file(&unit).map_err(failed)?;
        let mut list = List { file, dies, source, within: Vec::new(), found: &mut found };
        let mut problem = Ok(());
        each_entry(dies, &unit, &mut |entry, scopes| {
            let at = At { unit: unit.clone(), offset: entry.offset() };
            if problem.is_ok() {
                problem = list.entry(&at, entry, scopes);
            }
        })
        .map_err(failed)?;
        problem?;
    }
    Ok(found.into_iter().collect())
}

/// Variables and functions of which only symbols are known.
fn by_symbol(file: &SymbolFile) -> Result<Vec<Nameable>, OpenError> {
    let nameable = file.all_symbols()?.filter_map(|symbol| {
        let kind = match symbol.kind {
            SymbolKind::Function | SymbolKind::Ifunc => "function".to_owned(),
            SymbolKind::Object | SymbolKind::ThreadLocal if symbol.size > 0 => {
                format!("{} bytes", symbol.size)
            }
            _ => return None,
        };
        Some(Nameable { spec: demangle(symbol.name), kind, file: String::new() })
    });
    let all: BTreeSet<Nameable> = nameable.collect();
    Ok(all.into_iter().collect())
}

/// Function around an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// With code of its own.
    Function,
    /// Without: it is inlined somewhere, or nowhere.
    Abstract,
    /// A place that it is inlined into: its variables are those of the former.
    Inlined,
}

/// The list so far, and the unit that is gone through.
struct List<'a> {
    file: &'a SymbolFile,
    dies: &'a Dies,
    source: String,
    /// The functions around the entry, by depth: whether each is one, or code inlined from one.
    within: Vec<(isize, Within)>,
    found: &'a mut BTreeSet<Nameable>,
}

impl List<'_> {
    fn entry(&mut self, at: &At, entry: &Entry, scopes: &Scopes) -> Result<(), LookupError> {
        let failed = |error| LookupError::from(self.file.corrupt(error));
        self.within.retain(|(depth, _)| *depth < entry.depth());
        let has_code = entry.has_attr(gimli::DW_AT_low_pc) || entry.has_attr(gimli::DW_AT_ranges);
        match entry.tag() {
            gimli::DW_TAG_subprogram if has_code => self.within.push((entry.depth(), Within::Function)),
            gimli::DW_TAG_subprogram => self.within.push((entry.depth(), Within::Abstract)),
            gimli::DW_TAG_inlined_subroutine => self.within.push((entry.depth(), Within::Inlined)),
            _ => {}
        }
        let is_variable = entry.tag() == gimli::DW_TAG_variable;
        let is_function = entry.tag() == gimli::DW_TAG_subprogram && entry.has_attr(gimli::DW_AT_low_pc);
        if !is_variable && !is_function {
            return Ok(());
        }
        let Some(name) = self.dies.name(at).map_err(failed)? else { return Ok(()) };
        // The scopes of a definition outside its class or namespace are those of what it completes, and not known here.
        let scopes = scopes.iter().filter(|(depth, name)| *depth < entry.depth() && !name.starts_with('('));
        let path: Vec<&str> = scopes.map(|(_, name)| name.as_str()).chain([name.as_str()]).collect();
        let is_static =
            self.dies.storage(&at.unit, entry).map_err(failed)?.is_some_and(|place| place.is_static());
        let is_local = is_variable && !is_static && self.is_local(entry);
        let local = if is_local { search::local_name(&path) } else { None };
        let name = local.unwrap_or_else(|| path.join("::"));
        if is_function {
            let signature = signature::of(self.dies, at).map_err(failed)?;
            let found = arguments(&name, &signature);
            self.add(found);
        } else if (is_static || is_local)
            && let Some(kind) = self.dies.kind(at).map_err(failed)?
        {
            let mut parts = Vec::new();
            self.parts(&kind, "", Depth::default(), &mut parts)?;
            self.add(parts.into_iter().map(|(suffix, kind)| (format!("{name}{suffix}"), kind)).collect());
        }
        Ok(())
    }

    /// Tells whether a variable that is not static is a local one that may be somewhere.
    fn is_local(&self, entry: &Entry) -> bool {
        let is_named = entry.has_attr(gimli::DW_AT_name) && !entry.has_attr(gimli::DW_AT_declaration);
        match self.within.last() {
            Some((_, Within::Function)) => is_named && entry.has_attr(gimli::DW_AT_location),
            Some((_, Within::Abstract)) => is_named && !entry.has_attr(gimli::DW_AT_external),
            Some((_, Within::Inlined)) | None => false,
        }
    }

    fn add(&mut self, found: Vec<(String, String)>) {
        let file = &self.source;
        self.found.extend(found.into_iter().map(|(spec, kind)| Nameable { spec, kind, file: file.clone() }));
    }

    /// Appends the floats in a variable of type `kind`: what follows the variable's name, which so far is `suffix`, and the
    /// type.
    fn parts(
        &self,
        kind: &At,
        suffix: &str,
        depth: Depth,
        parts: &mut Vec<(String, String)>,
    ) -> Result<(), LookupError> {
        let failed = |error| self.file.corrupt(error);
        if depth.types > NESTING || parts.len() >= MOST {
            return Ok(());
        }
        let depth = Depth { types: depth.types + 1, ..depth };
        match self.dies.resolve(kind).map_err(failed)? {
            Type::Float(format) => parts.push((suffix.to_owned(), word(format).to_owned())),
            Type::Complex(format) => parts.push((suffix.to_owned(), format!("complex {}", word(format)))),
            Type::Array(array) => self.elements(&array, suffix, depth, parts)?,
            Type::Structure(members) => self.members(&members, suffix, depth, parts)?,
            Type::Reference(to) => self.parts(&to, suffix, depth, parts)?,
            Type::Pointer(Some(to)) if depth.pointers == 0 => {
                let depth = Depth { pointers: 1, ..depth };
                let mut behind = Vec::new();
                self.parts(&to, "", depth, &mut behind)?;
                parts.extend(behind.into_iter().map(|(rest, kind)| match rest.strip_prefix('.') {
                    Some(member) => (format!("{suffix}->{member}"), kind),
                    None => (format!("{suffix}[0]{rest}"), format!("{kind} *")),
                }));
            }
            Type::Pointer(_) | Type::Dynamic | Type::Other(_) => {}
        }
        Ok(())
    }

    fn members(
        &self,
        members: &[Member],
        suffix: &str,
        depth: Depth,
        parts: &mut Vec<(String, String)>,
    ) -> Result<(), LookupError> {
        let failed = |error| self.file.corrupt(error);
        let find =
            |name: &str| select::search(self.dies, &failed, members, &|member| Ok(member.name == name), 0);
        if let Some(array) = containers::elements(self.dies, &find, &failed)? {
            return self.elements(&array, suffix, depth, parts);
        }
        match members {
            // A wrapper, as `std::array`, is what it wraps.
            [only] => self.parts(&only.kind, suffix, depth, parts),
            several => self.each_member(several, suffix, depth, parts),
        }
    }

    /// Appends the floats in `members`, those of base classes and anonymous structures like the others.
    fn each_member(
        &self,
        members: &[Member],
        suffix: &str,
        depth: Depth,
        parts: &mut Vec<(String, String)>,
    ) -> Result<(), LookupError> {
        let failed = |error| self.file.corrupt(error);
        let deeper = Depth { types: depth.types + 1, ..depth };
        for member in members {
            if !member.name.is_empty() {
                self.parts(&member.kind, &format!("{suffix}.{}", member.name), depth, parts)?;
            } else if depth.types <= NESTING
                && let Type::Structure(inner) = self.dies.resolve(&member.kind).map_err(failed)?
            {
                self.each_member(&inner, suffix, deeper, parts)?;
            }
        }
        Ok(())
    }

    fn elements(
        &self,
        array: &Array,
        suffix: &str,
        depth: Depth,
        parts: &mut Vec<(String, String)>,
    ) -> Result<(), LookupError> {
        let mut inside = Vec::new();
        self.parts(&array.element, "", depth, &mut inside)?;
        let counts = array.dimensions.iter().map(|dimension| {
            format!("[{}]", dimension.count().map_or(String::new(), |count| count.to_string()))
        });
        let counts: String = counts.collect();
        let first: Vec<String> =
            array.dimensions.iter().map(|dimension| dimension.first().to_string()).collect();
        let first = format!("[{}]", first.join(","));
        parts.extend(inside.into_iter().map(|(rest, kind)| {
            // A whole array of floats has its name alone.
            let index = if rest.is_empty() { "" } else { &first };
            (format!("{suffix}{index}{rest}"), format!("{kind}{counts}"))
        }));
        Ok(())
    }
}

/// Layers that were looked through.
#[derive(Clone, Copy, Default)]
struct Depth {
    types: u32,
    pointers: u32,
}

/// SPECs of a function's arguments and result, with their types.
fn arguments(name: &str, signature: &signature::Signature) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let given = signature.parameters.iter().filter(|(_, added)| !added).map(|(passed, _)| *passed);
    let mut floats = 0;
    for (number, passed) in given.enumerate() {
        match passed {
            Passed::Float(format) => {
                floats += 1;
                found.push((format!("{name}#{floats}"), word(format).to_owned()));
            }
            Passed::Complex(format) => {
                floats += 1;
                found.push((format!("{name}#{floats}"), format!("complex {}", word(format))));
            }
            Passed::Pointer(Some(format)) => {
                found.push((format!("{name}#*{}", number + 1), format!("{} *", word(format))));
            }
            Passed::Pointer(None) | Passed::Integer | Passed::Structure(_) => {}
        }
    }
    match signature.result {
        Some(Passed::Float(format)) => found.push((format!("{name}#ret"), word(format).to_owned())),
        Some(Passed::Complex(format)) => {
            found.push((format!("{name}#ret"), format!("complex {}", word(format))));
        }
        _ => {}
    }
    found
}

/// The type's name in C.
fn word(format: Format) -> &'static str {
    match format {
        Format::F16 => "_Float16",
        Format::F32 => "float",
        Format::F64 => "double",
        Format::F80 => "long double",
    }
}
