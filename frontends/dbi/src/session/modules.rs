//! The files that hold the program's code: where their functions of a meaning are, and where they are loaded.

use super::layout::Layout;
use super::python;
use super::wrappers::{Code, Wrapped};
use crate::hooks::{self, Exports, Hook, Library};
use crate::x86::rounding::Rounding;
use hashbrown::HashSet;
use shadowgrind_core::site::Module;
use shadowgrind_symbols::{OpenError, SymbolFile, SymbolKind};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Meaning of a hooked function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meaning {
    pub(crate) hook: Hook,
    /// Number of its name among those of the session.
    pub(crate) name: usize,
}

/// A function of a file that means something.
#[derive(Clone, Debug)]
pub(super) struct Hooked {
    /// Link-time address.
    pub(super) address: u64,
    pub(super) hook: Hook,
    pub(super) symbol: String,
    /// The function returns the address of the one to be called.
    pub(super) is_ifunc: bool,
}

/// Facts about a file that the session knows.
#[derive(Debug)]
pub(super) struct ModuleFile {
    /// The path without symbolic links.
    pub(super) canonical: PathBuf,
    /// True if it is what the user runs, not a library.
    pub(super) is_program: bool,
    pub(super) module: Module,
    pub(super) layout: Layout,
    pub(super) hooked: Vec<Hooked>,
    /// A program that holds its libraries, and the name of no function.
    pub(super) is_nameless: bool,
    /// True if it is the C library, and nothing else.
    pub(super) is_c_library: bool,
    /// Link-time address of the state of the Python interpreter, if it holds one.
    pub(super) python: Option<u64>,
    /// Link-time addresses of the tables of a Java virtual machine, if it is one.
    pub(super) java: Option<Exports>,
    path: PathBuf,
    /// Searched for when code of the file is annotated.
    rounding: OnceLock<Rounding>,
}

impl ModuleFile {
    /// Reads the file at `path`, or at `place` instead; one that cannot be read holds nothing of meaning. `program` is what
    /// the user runs, by whatever path.
    pub(super) fn read(path: &Path, place: Option<&Path>, program: &Path) -> ModuleFile {
        let canonical = path.canonicalize().unwrap_or_else(|_| path.into());
        let is_program = canonical == program;
        let module = Module { path: path.to_string_lossy().into_owned(), build_id: None };
        let path = place.unwrap_or(path);
        let mut file = ModuleFile {
            canonical,
            is_program,
            module,
            layout: Layout::read(path).unwrap_or_default(),
            hooked: Vec::new(),
            is_nameless: false,
            is_c_library: false,
            python: None,
            java: None,
            path: path.into(),
            rounding: OnceLock::new(),
        };
        if let Ok(symbols) = SymbolFile::open(path) {
            file.read_symbols(&symbols);
        }
        if place.is_some() {
            // Later it may not be there.
            file.rounding();
        }
        file
    }

    /// Notes what the symbols of the file say of it.
    fn read_symbols(&mut self, file: &SymbolFile) {
        self.module.build_id = file.build_id();
        let is_static = self.is_program && !self.layout.has_interpreter;
        let library = Library::of(file, is_static).unwrap_or_default();
        self.hooked = hooked(file, &library).unwrap_or_default();
        self.is_c_library = library.is_c_library() && !self.is_program;
        self.python = python::runtime(file);
        self.java = Exports::of(file);
        let is_function = |symbol: shadowgrind_symbols::Symbol<'_>| symbol.kind == SymbolKind::Function;
        self.is_nameless = is_static && !file.symbols().is_ok_and(|mut symbols| symbols.any(is_function));
        if let Ok(code) = File::open(&self.path) {
            let code = Code::new(&code, &self.layout);
            add_wrapped(&mut self.hooked, &code);
            pass_stack_checks(&mut self.hooked, &code);
        }
    }

    /// Tells whether it is a library that belongs to a language, and does for a program what that asks it to.
    pub(super) fn is_of_language(&self) -> bool {
        const NAMES: [&str; 7] = [
            "libstdc++.so",
            "libc++.so",
            "libgfortran.so",
            "libgnat-",
            "libgphobos.so",
            "libphobos2-",
            "libm.so",
        ];
        let name = self.canonical.file_name().unwrap_or_default().to_string_lossy();
        !self.is_program && (self.is_c_library || NAMES.iter().any(|start| name.starts_with(start)))
    }

    /// Tells whether it is a library some of whose functions mean something as a whole.
    pub(super) fn is_taken_as_whole(&self) -> bool {
        let is_whole = |function: &Hooked| {
            let hook = function.hook;
            !matches!(hook, Hook::Parses(_) | Hook::ParsesInteger(_) | Hook::ParsesData | Hook::RunsCode(_))
        };
        !self.is_program && self.hooked.iter().any(is_whole)
    }

    /// Tells whether how it goes about its work is its own business, not the program's: its comparisons are not counted.
    pub(super) fn compares_for_itself(&self) -> bool {
        self.is_of_language() || self.has_functions()
    }

    /// Tells whether what it makes whole numbers of is its own business: but for the C library's functions that are there for that.
    pub(super) fn rounds_for_itself(&self) -> bool {
        self.is_c_library || self.is_of_language() && !self.has_functions()
    }

    /// Tells whether it is a library of mathematical functions.
    fn has_functions(&self) -> bool {
        !self.is_program && self.hooked.iter().any(|function| matches!(function.hook, Hook::Math(_)))
    }

    /// For which formats its code may round by a magic number: any, if it cannot be read any more.
    pub(super) fn rounding(&self) -> Rounding {
        *self.rounding.get_or_init(|| self.layout.search(&self.path).unwrap_or(Rounding::ANY))
    }
}

fn hooked(file: &SymbolFile, library: &Library) -> Result<Vec<Hooked>, OpenError> {
    let mut found = Vec::new();
    for symbol in file.symbols()? {
        let is_ifunc = symbol.kind == SymbolKind::Ifunc;
        if symbol.address == 0 || !is_ifunc && symbol.kind != SymbolKind::Function {
            continue;
        }
        if let Some(hook) = hooks::of(&symbol, library) {
            let symbol_name = symbol.name.to_owned();
            found.push(Hooked { address: symbol.address, hook, symbol: symbol_name, is_ifunc });
        }
    }
    for (name, address, hook) in hooks::of_scripts(file) {
        found.push(Hooked { address, hook, symbol: name.to_owned(), is_ifunc: false });
    }
    // Of several names, people know the short one without underscores.
    found.sort_by_key(|function| (function.address, function.symbol.starts_with('_'), function.symbol.len()));
    found.dedup_by_key(|h| h.address);
    Ok(found)
}

/// Looks at functions that may be entered twice for one call where their stack has been found large enough.
fn pass_stack_checks(hooked: &mut [Hooked], code: &Code<'_>) {
    let moves_stack = |hook| matches!(hook, Hook::Output(_, family) if family.moves_stack());
    for function in hooked.iter_mut().filter(|function| moves_stack(function.hook)) {
        function.address = code.past_stack_check(function.address).unwrap_or(function.address);
    }
}

/// Adds what the functions of the mathematical library among `hooked` jump to, which means what they mean.
fn add_wrapped(hooked: &mut Vec<Hooked>, code: &Code<'_>) {
    let mut known: HashSet<u64> = hooked.iter().map(|function| function.address).collect();
    for index in 0..hooked.len() {
        let function = &hooked[index];
        let Hook::Math(math) = function.hook else { continue };
        let (Some(operands), false) = (math.vector_operands(), function.is_ifunc) else { continue };
        let Some(wrapped) = code.wrapped(function.address, operands) else { continue };
        if known.insert(wrapped.address) {
            let Wrapped { address, is_resolver: is_ifunc } = wrapped;
            hooked.push(Hooked { address, is_ifunc, ..function.clone() });
        }
    }
}
