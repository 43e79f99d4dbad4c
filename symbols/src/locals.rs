//! Local variables by name: where each is while which code runs, in every function that has one of that name and wherever
//! that function was inlined.
//!
//! Knows debug information alone. Which instruction gives a variable its value is for those who can read machine code.

mod stretches;

use std::ops::Range;
use std::rc::Rc;

use shadowgrind_core::spec::Variable as Wanted;

use super::dies::{At, Dies, Entry, Storage, Unit};
use super::error::LookupError;
use super::locations::{self, FrameBase};
use super::unwind::CallFrames;
use super::variable::Variable;
use super::{SymbolFile, function};
use stretches::{Placeless, Whole};

/// A local variable of one function, or of one place that a function was inlined into.
#[derive(Clone, Debug)]
pub struct Local {
    /// Name of the function, without scopes.
    pub function: String,
    /// All code of the function that the machine runs: of the one it was inlined into, if it was.
    pub code: Vec<Range<u64>>,
    /// Address at which that function is entered.
    pub entry: u64,
    /// Line of its declaration.
    pub line: Option<u32>,
    /// True if it is a parameter of that function.
    pub is_parameter: bool,
    /// The places.
    pub stretches: Vec<Stretch>,
    /// Code in which it has a value, but no place.
    pub nowhere: Vec<Range<u64>>,
    /// Places of other variables of the function.
    pub others: Vec<Other>,
}

/// Place of another variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The code in which the variable has this place.
    pub range: Range<u64>,
    /// The place.
    pub storage: Storage,
    /// True if the variable may have been given its value first, where both are given one at the same instruction.
    pub comes_first: bool,
}

/// Code in which a variable, or one of its floats, is in one place.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The code.
    pub range: Range<u64>,
    /// The floats.
    pub variable: Variable,
    /// Number of the location, among those of the variable: a frame may be told in several ways.
    pub location: usize,
    /// True if it is there for all of its scope, whether it has been given a value or not.
    pub is_whole_scope: bool,
}

/// A function or block around the entry that is looked at.
struct Scope {
    depth: isize,
    at: At,
    /// The code, if the entry names it.
    ranges: Vec<Range<u64>>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    Inlined,
    Block,
}

/// Finds the variables that `wanted` names, of functions called `function` if one is named.
pub(super) fn find(
    file: &SymbolFile,
    function: Option<&str>,
    wanted: &Wanted,
) -> Result<Vec<Local>, LookupError> {
    let unknown = |known: Vec<String>| file.unknown("local variable", &wanted.name, known.into_iter());
    let Some(dies) = file.dies()? else { return Err(unknown(Vec::new())) };
    let failed = |error| LookupError::from(file.corrupt(error));

    let mut search = Search::new(file, dies, function, wanted);
    search.all().map_err(failed)?;
    match (search.found.is_empty(), search.problem) {
        (false, _) => Ok(search.found),
        (true, Some(problem)) => Err(problem),
        (true, None) if !search.has_function && function.is_some() => {
            let name = function.unwrap_or_default();
            // Without variables it may be there all the same.
            let found = file.function(name)?;
            Err(LookupError::NoLocals { name: found.first().map_or(name, |found| &found.symbol).to_owned() })
        }
        (true, None) => Err(unknown(search.known)),
    }
}

struct Search<'a> {
    file: &'a SymbolFile,
    dies: &'a Dies,
    function: Option<&'a str>,
    wanted: &'a Wanted,
    frames: Option<CallFrames>,
    found: Vec<Local>,
    /// True if there is such a function.
    has_function: bool,
    /// Names of variables of the function.
    known: Vec<String>,
    problem: Option<LookupError>,
}

impl<'a> Search<'a> {
    /// A search that has found nothing yet.
    fn new(
        file: &'a SymbolFile,
        dies: &'a Dies,
        function: Option<&'a str>,
        wanted: &'a Wanted,
    ) -> Search<'a> {
        Search {
            file,
            dies,
            function,
            wanted,
            frames: file.call_frames(),
            found: Vec::new(),
            has_function: false,
            known: Vec::new(),
            problem: None,
        }
    }
}

impl Search<'_> {
    /// Looks through all units of the file.
    fn all(&mut self) -> Result<(), gimli::Error> {
        let mut units = self.dies.dwarf.units();
        while let Some(header) = units.next()? {
            self.unit(&Rc::new(self.dies.dwarf.unit(header)?))?;
        }
        Ok(())
    }

    fn unit(&mut self, unit: &Rc<Unit>) -> Result<(), gimli::Error> {
        let mut scopes: Vec<Scope> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            while scopes.last().is_some_and(|scope| scope.depth >= entry.depth()) {
                scopes.pop();
            }
            match entry.tag() {
                gimli::DW_TAG_subprogram => scopes.push(self.scope(unit, entry, Kind::Function)?),
                gimli::DW_TAG_inlined_subroutine => scopes.push(self.scope(unit, entry, Kind::Inlined)?),
                gimli::DW_TAG_lexical_block => scopes.push(self.scope(unit, entry, Kind::Block)?),
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    self.variable(unit, entry, &scopes)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn scope(&self, unit: &Rc<Unit>, entry: &Entry, kind: Kind) -> Result<Scope, gimli::Error> {
        let mut ranges = Vec::new();
        let mut list = self.dies.dwarf.die_ranges(unit, entry)?;
        while let Some(range) = list.next()? {
            if range.begin < range.end {
                ranges.push(range.begin..range.end);
            }
        }
        let at = At { unit: unit.clone(), offset: entry.offset() };
        Ok(Scope { depth: entry.depth(), at, ranges, kind })
    }

    fn variable(&mut self, unit: &Rc<Unit>, entry: &Entry, scopes: &[Scope]) -> Result<(), gimli::Error> {
        let is_function = |scope: &&Scope| scope.kind != Kind::Block;
        let Some(owner) = scopes.iter().rev().find(is_function) else { return Ok(()) };
        let own = |scope: &&Scope| scope.kind == Kind::Function;
        let Some(machine) = scopes.iter().rev().find(own).filter(|scope| !scope.ranges.is_empty()) else {
            return Ok(());
        };
        let at = At { unit: unit.clone(), offset: entry.offset() };
        let Some(name) = self.dies.name(&at)? else { return Ok(()) };
        let [wanted] = self.wanted.path.as_slice() else { return Ok(()) };
        let is_named = name == *wanted || name.eq_ignore_ascii_case(wanted) && self.dies.is_fortran(unit)?;
        if !is_named && self.function.is_none() {
            return Ok(());
        }
        let symbol = self.dies.symbol(&owner.at)?.unwrap_or_default();
        if self.function.is_some_and(|wanted| !function::is_called(&symbol, wanted)) {
            return Ok(());
        }
        self.has_function = true;
        if !is_named {
            self.known.push(name);
            return Ok(());
        }
        let innermost = scopes.iter().rev().find(|scope| !scope.ranges.is_empty()).unwrap_or(machine);
        let (owner, ranges) = (owner.at.clone(), innermost.ranges.clone());
        let is_parameter = owner.id() == machine.at.id() && entry.tag() == gimli::DW_TAG_formal_parameter;
        self.local(entry, &at, (owner, machine), &ranges, is_parameter)
    }

    fn local(
        &mut self,
        entry: &Entry,
        at: &At,
        (owner, machine): (At, &Scope),
        scope: &[Range<u64>],
        is_parameter: bool,
    ) -> Result<(), gimli::Error> {
        let function = self.dies.name(&owner)?.unwrap_or_default();
        let (code, entry_point) = (machine.ranges.clone(), self.entry_point(machine)?);
        let mut local = Local {
            function,
            code,
            entry: entry_point,
            line: self.declared(entry, at)?,
            is_parameter,
            stretches: Vec::new(),
            nowhere: Vec::new(),
            others: Vec::new(),
        };
        let Some(kind) = self.dies.kind(at)? else { return Ok(()) };
        let listed = match entry.attr_value(gimli::DW_AT_location) {
            Some(value) => {
                let base = self.dies.entry(&machine.at)?.attr_value(gimli::DW_AT_frame_base);
                let frame = FrameBase::of(&at.unit, base)?;
                locations::listed(self.dies, &at.unit, value, frame, scope)?
            }
            None => Vec::new(),
        };
        let is_whole_scope =
            entry.attr_value(gimli::DW_AT_location).is_some_and(|value| value.exprloc_value().is_some());
        // A constant that the compiler has put in its place.
        if entry.has_attr(gimli::DW_AT_const_value) {
            local.nowhere.extend(scope.iter().cloned());
        }
        let mut placeless = Placeless::default();
        for (number, listed) in listed.into_iter().enumerate() {
            let whole = Whole { number, kind: &kind, is_whole_scope };
            if let Err(problem) =
                self.stretches(&whole, &listed.range, &listed.location, &mut local, &mut placeless)
            {
                self.problem.get_or_insert(problem);
                return Ok(());
            }
        }
        placeless.leave(&mut local);
        local.others = self.others(machine, at)?;
        self.found.push(local);
        Ok(())
    }

    /// Places of the variables of a function, and of what was inlined into it, other than the one at `own`.
    fn others(&mut self, machine: &Scope, own: &At) -> Result<Vec<Other>, gimli::Error> {
        let unit = machine.at.unit.clone();
        let base = self.dies.entry(&machine.at)?.attr_value(gimli::DW_AT_frame_base);
        let frame = FrameBase::of(&unit, base)?;
        let mut places = Vec::new();
        let mut entries = unit.entries_at_offset(machine.at.offset)?;
        let mut top = None;
        while let Some(entry) = entries.next_dfs()? {
            if *top.get_or_insert(entry.depth()) >= entry.depth() && entry.offset() != machine.at.offset {
                break;
            }
            let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
            let value = entry.attr_value(gimli::DW_AT_location);
            let Some(value) = value.filter(|_| is_variable && entry.offset() != own.offset) else { continue };
            // A parameter of what is inlined is given the value of something else.
            let is_given =
                entry.tag() == gimli::DW_TAG_formal_parameter && entry.depth() > top.unwrap_or_default() + 1;
            let comes_first = entry.offset() < own.offset && !is_given;
            for listed in locations::listed(self.dies, &unit, value, frame, &machine.ranges)? {
                let found = listed.places(self.frames.as_mut()).into_iter();
                places.extend(found.map(|(range, storage)| Other { range, storage, comes_first }));
            }
        }
        Ok(places)
    }

    /// The line at which the variable, or the one that it completes, is declared.
    fn declared(&self, entry: &Entry, at: &At) -> Result<Option<u32>, gimli::Error> {
        let line = |entry: &Entry| entry.attr_value(gimli::DW_AT_decl_line)?.udata_value();
        let line = match (line(entry), self.dies.completed(&at.unit, entry)?) {
            (None, Some(other)) => line(&self.dies.entry(&other)?),
            (own, _) => own,
        };
        Ok(line.and_then(|line| u32::try_from(line).ok()))
    }

    fn entry_point(&self, machine: &Scope) -> Result<u64, gimli::Error> {
        let entry = self.dies.entry(&machine.at)?;
        let low = match entry.attr_value(gimli::DW_AT_low_pc) {
            Some(low) => self.dies.dwarf.attr_address(&machine.at.unit, low)?,
            None => None,
        };
        // That of a function in several parts is the first of them.
        Ok(low.unwrap_or(machine.ranges[0].start))
    }
}
