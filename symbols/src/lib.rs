//! Names and places in a module's file: functions, variables, lines.
//!
//! Everything is read when first asked for, and only as much as the question needs: a plain symbol is found without
//! looking at debug information. All addresses are link-time ones, as `nm` shows them; where a module was loaded is
//! the engine's to know.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod containers;
mod debug;
mod demangle;
mod dies;
mod elf;
mod error;
mod expression;
mod function;
mod lines;
mod locals;
mod locations;
mod methods;
mod nameable;
mod nearest;
mod parameter;
mod pclntab;
mod reach;
mod search;
mod select;
mod signature;
mod symtab;
mod types;
mod unwind;
mod variable;
mod way;

use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::elf::{SHT_DYNSYM, SHT_SYMTAB};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Place;
use shadowgrind_core::spec;

pub use demangle::demangle;
pub use dies::{Holder, Storage};
pub use error::{Lacks, LookupError, OpenError, OpenProblem};
pub use function::Function;
pub use locals::{Local, Other, Stretch};
pub use nameable::Nameable;
pub use reach::{Integer, Memory, Unreached};
pub use signature::{Passed, Signature};
pub use symtab::{Symbol, SymbolKind};
pub use unwind::{CallFrames, Registers, general_register};
pub use variable::Variable;

use debug::Dwarf;
use dies::Dies;
use elf::Elf;
use lines::{Functions, Lines};
use parameter::Scope;
use symtab::SymbolTable;

/// A module's file, opened for questions.
pub struct SymbolFile {
    elf: Elf,
    debug_root: PathBuf,
    symtab: OnceCell<SymbolTable>,
    dynsym: OnceCell<SymbolTable>,
    separate: OnceCell<Option<Separate>>,
    dwarf: OnceCell<Option<Arc<Dwarf>>>,
    dies: OnceCell<Option<Dies>>,
    lines: OnceCell<Option<Lines>>,
    functions: OnceCell<Functions>,
}

/// The file that holds what was stripped from a module.
struct Separate {
    elf: Elf,
    symtab: SymbolTable,
}

impl SymbolFile {
    /// Opens the file at `path`; separate debug files are looked for where distributions put them.
    pub fn open(path: &Path) -> Result<SymbolFile, OpenError> {
        SymbolFile::open_with_debug_root(path, Path::new(debug::DEBUG_ROOT))
    }

    /// Opens the file at `path`, with separate debug files under `root` instead of `/usr/lib/debug`.
    pub fn open_with_debug_root(path: &Path, root: &Path) -> Result<SymbolFile, OpenError> {
        Ok(SymbolFile {
            elf: Elf::open(path)?,
            debug_root: root.to_owned(),
            symtab: OnceCell::new(),
            dynsym: OnceCell::new(),
            separate: OnceCell::new(),
            dwarf: OnceCell::new(),
            dies: OnceCell::new(),
            lines: OnceCell::new(),
            functions: OnceCell::new(),
        })
    }

    /// The path it was opened at.
    pub fn path(&self) -> &Path {
        self.elf.path()
    }

    /// The GNU build id.
    pub fn build_id(&self) -> Option<Vec<u8>> {
        debug::build_id(&self.elf)
    }

    /// The defined symbols of the file itself: those of `.symtab`, or functions by a stripped Go program's own table, then those
    /// of `.dynsym`; those in both come twice, with versions the second time.
    pub fn symbols(&self) -> Result<impl Iterator<Item = Symbol<'_>>, OpenError> {
        Ok(self.symtab()?.iter().chain(self.dynsym()?.iter()))
    }

    /// The functions called `name`: by symbol, or as the source language writes it with or without scopes and
    /// parameters. Several for overloads, and for clones the compiler made of one function.
    pub fn function(&self, name: &str) -> Result<Vec<Function>, LookupError> {
        function::find(self, name)
    }

    /// The function that begins at `address`, if there is code.
    pub fn function_at(&self, address: u64) -> Option<Function> {
        self.elf.is_code(address).then(|| {
            let known = self.all_symbols().ok().and_then(|mut all| all.find(|s| function::is_at(s, address)));
            let unknown = || Function { symbol: format!("{address:#x}"), address, size: 0, is_ifunc: false };
            known.map_or_else(unknown, Function::from)
        })
    }

    /// Everything that a SPEC can name: floats of variables, of arguments and of results. Without debug information, variables
    /// and functions by their symbols.
    pub fn nameable(&self) -> Result<Vec<Nameable>, LookupError> {
        nameable::all(self)
    }

    /// Address of the function that scripts of Python call `name`, if this is a module of Python that has one in a table of
    /// methods, with these flags.
    pub fn method(&self, name: &str, flags: u32) -> Option<u64> {
        methods::find(&self.elf, name, flags)
    }

    /// Signature of the function at `address`, if debug information has it.
    pub fn signature(&self, address: u64) -> Option<Signature> {
        signature::find(self.dies().ok()??, address).ok()?
    }

    /// The floats that `wanted` names: of a variable, or of a parameter of the function that begins at `function`.
    pub fn variable(&self, wanted: &spec::Variable, function: Option<u64>) -> Result<Variable, LookupError> {
        variable::find(self, wanted, &self.scope(function)?)
    }

    /// The floats that `wanted` names of local variables of that name: one for each function that has such a variable, and
    /// for each place that such a function was inlined into. `function`: only of functions of this name.
    pub fn locals(&self, function: Option<&str>, wanted: &spec::Variable) -> Result<Vec<Local>, LookupError> {
        locals::find(self, function, wanted)
    }

    /// The machine code at these addresses, if the file has it.
    pub fn code(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        self.elf.code(range)
    }

    /// Floats that `selectors` choose where argument `number`, from 1, of the function at `address` points to. Without
    /// debug information they are of `format`, doubles if none is given.
    pub fn pointee(
        &self,
        address: u64,
        number: u32,
        selectors: &[spec::Selector],
        format: Option<Format>,
    ) -> Result<Variable, LookupError> {
        self.scope(Some(address))?.pointee(number, selectors, format)
    }

    fn scope(&self, function: Option<u64>) -> Result<Scope<'_>, LookupError> {
        function.map_or_else(|| Ok(Scope::none(self)), |address| Scope::function(self, address))
    }

    /// Function and line of the instruction at `address`. Corrupt debug information is as good as none: a report with
    /// addresses is worth more than an error.
    pub fn place(&self, address: u64) -> Place {
        let module = Some(self.path().to_string_lossy().into_owned());
        let mut place = Place { module, offset: Some(address), ..Place::default() };
        let lines = init(&self.lines, || {
            let dwarf = self.dwarf()?;
            dwarf.map(|dwarf| Lines::new(dwarf.clone())).transpose().map_err(|error| self.corrupt(error))
        });
        if let Ok(Some(lines)) = lines {
            lines.describe(address, &mut place);
        }
        if place.function.is_none() {
            let functions = init(&self.functions, || Ok::<_, OpenError>(Functions::new(self.all_symbols()?)));
            place.function = functions.ok().and_then(|functions| functions.at(address));
        }
        place
    }

    fn symtab(&self) -> Result<&SymbolTable, OpenError> {
        init(&self.symtab, || {
            let table = SymbolTable::read(&self.elf, SHT_SYMTAB)?;
            Ok(if table.is_empty() { pclntab::functions(&self.elf) } else { table })
        })
    }

    fn dynsym(&self) -> Result<&SymbolTable, OpenError> {
        init(&self.dynsym, || SymbolTable::read(&self.elf, SHT_DYNSYM))
    }

    /// The defined symbols of the file, with what was stripped in place of a missing `.symtab`.
    fn all_symbols(&self) -> Result<impl Iterator<Item = Symbol<'_>>, OpenError> {
        let symtab = self.symtab()?;
        let stripped = if symtab.is_empty() { self.separate() } else { None };
        Ok(stripped.map_or(symtab, |other| &other.symtab).iter().chain(self.dynsym()?.iter()))
    }

    fn separate(&self) -> Option<&Separate> {
        let read = || {
            let elf = debug::separate(&self.elf, &self.debug_root)?;
            let symtab = SymbolTable::read(&elf, SHT_SYMTAB).ok()?;
            Some(Separate { elf, symtab })
        };
        self.separate.get_or_init(read).as_ref()
    }

    fn dwarf(&self) -> Result<Option<&Arc<Dwarf>>, OpenError> {
        let dwarf = init(&self.dwarf, || match debug::load(&self.elf)? {
            Some(own) => Ok(Some(own)),
            None => self.separate().map_or(Ok(None), |other| debug::load(&other.elf)),
        })?;
        Ok(dwarf.as_ref())
    }

    /// Call frame information of the file, if it has any. Descriptions that cannot be read are left out.
    pub fn call_frames(&self) -> Option<CallFrames> {
        CallFrames::of(&self.elf)
    }

    fn dies(&self) -> Result<Option<&Dies>, OpenError> {
        let dies = init(&self.dies, || Ok(self.dwarf()?.map(|dwarf| Dies::new(dwarf.clone()))))?;
        Ok(dies.as_ref())
    }

    fn corrupt(&self, error: gimli::Error) -> OpenError {
        debug::corrupt(&self.elf, error)
    }

    fn unknown(&self, what: &'static str, name: &str, known: impl Iterator<Item = String>) -> LookupError {
        let has_debug = matches!(self.dwarf(), Ok(Some(_)));
        let has_symbols = self.elf.section_of(SHT_SYMTAB).is_some() || self.separate().is_some();
        let lacks = variable::lacks(has_debug, has_symbols);
        let near = nearest::nearest(name, known);
        LookupError::Unknown { what, name: name.to_owned(), path: self.path().to_owned(), near, lacks }
    }
}

/// The value of `cell`, computed if this is the first time; a failure is not remembered.
fn init<T, E>(cell: &OnceCell<T>, compute: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = compute()?;
    Ok(cell.get_or_init(|| value))
}
