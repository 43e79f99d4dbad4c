//! Symbol tables: `.symtab` and `.dynsym` with versions.
//!
//! Names are borrowed from the string table: going through the hundred thousand symbols of a large library allocates
//! nothing. Addresses are link-time ones.

use object::LittleEndian as LE;
use object::elf;
use object::endian::{U16, U32, U64};
use object::pod;

use super::elf::Elf;
use super::error::OpenError;

/// Kind of thing that a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function that returns the address of the function to call (IFUNC).
    Ifunc,
    /// A variable.
    Object,
    /// A thread-local variable: its address is an offset into the module's thread-local block.
    ThreadLocal,
    /// The symbol does not say: written in assembly.
    Untyped,
}

/// A defined symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The name, as the linker knows it.
    pub name: &'a str,
    /// The version it is exported with: `GLIBC_2.29`.
    pub version: Option<&'a str>,
    /// An old version, kept for programs linked against it: `pow@GLIBC_2.2.5` beside `pow@@GLIBC_2.29`.
    pub hidden: bool,
    /// The address in the file.
    pub address: u64,
    /// The size in bytes, 0 where unknown.
    pub size: u64,
    /// The kind of thing it stands for.
    pub kind: SymbolKind,
    /// Visible to other files of the link: not `static`.
    pub global: bool,
}

/// One symbol table with its strings.
#[derive(Debug, Default)]
pub(super) struct SymbolTable {
    symbols: Vec<u8>,
    strings: Vec<u8>,
    versions: Versions,
}

/// Versions of the symbols of `.dynsym`.
#[derive(Debug, Default)]
struct Versions {
    /// A version's number for each symbol, two bytes each.
    numbers: Vec<u8>,
    /// Offset of the name in the strings, by number.
    names: Vec<u32>,
}

impl SymbolTable {
    /// The table of this type; empty if the file has none.
    pub(super) fn read(elf: &Elf, kind: elf::SectionType) -> Result<SymbolTable, OpenError> {
        let Some(section) = elf.section_of(kind) else { return Ok(SymbolTable::default()) };
        let strings = match elf.section_at(section.link) {
            Some(strings) => elf.bytes(strings)?,
            None => Vec::new(),
        };
        let versions = if kind == elf::SHT_DYNSYM { Versions::read(elf)? } else { Versions::default() };
        Ok(SymbolTable { symbols: elf.bytes(section)?, strings, versions })
    }

    /// A table of functions that no section of symbols has: name, address and size of each.
    pub(super) fn of_functions<'a>(functions: impl Iterator<Item = (&'a str, u64, u64)>) -> SymbolTable {
        let mut table = SymbolTable::default();
        for (name, address, size) in functions {
            let symbol = elf::Sym64::<LE> {
                st_name: U32::new(LE, table.strings.len() as u32),
                st_info: elf::SymbolInfo::new(elf::STB_LOCAL, elf::STT_FUNC),
                st_other: Default::default(),
                // Of some section: not undefined.
                st_shndx: U16::new(LE, elf::SHN_ABS),
                st_value: U64::new(LE, address),
                st_size: U64::new(LE, size),
            };
            table.symbols.extend(pod::bytes_of(&symbol));
            table.strings.extend(name.bytes().chain([0]));
        }
        table
    }

    pub(super) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// The defined symbols that stand for code or data, in the table's order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        let whole = self.symbols.len() / size_of::<elf::Sym64<LE>>();
        let symbols = pod::slice_from_bytes::<elf::Sym64<LE>>(&self.symbols, whole);
        let symbols = symbols.map(|(symbols, _)| symbols).unwrap_or_default();
        symbols.iter().enumerate().filter_map(|(index, symbol)| self.symbol(index, symbol))
    }

    fn symbol(&self, index: usize, symbol: &elf::Sym64<LE>) -> Option<Symbol<'_>> {
        if symbol.st_shndx.get(LE) == elf::SHN_UNDEF {
            return None;
        }
        let kind = kind(symbol)?;
        let name = string(&self.strings, symbol.st_name.get(LE)).filter(|name| !name.is_empty())?;
        let (version, hidden) = self.versions.of(index, &self.strings);
        Some(Symbol {
            name,
            version,
            hidden,
            address: symbol.st_value.get(LE),
            size: symbol.st_size.get(LE),
            kind,
            global: symbol.st_info.st_bind() != elf::STB_LOCAL,
        })
    }
}

impl Versions {
    fn read(elf: &Elf) -> Result<Versions, OpenError> {
        let Some(numbers) = elf.section_of(elf::SHT_GNU_VERSYM) else { return Ok(Versions::default()) };
        let definitions = match elf.section_of(elf::SHT_GNU_VERDEF) {
            Some(section) => elf.bytes(section)?,
            None => Vec::new(),
        };
        Ok(Versions { numbers: elf.bytes(numbers)?, names: names(&definitions) })
    }

    /// Version of a symbol and whether it is an old one. Numbers 0 and 1 mean no version.
    fn of<'a>(&self, symbol: usize, strings: &'a [u8]) -> (Option<&'a str>, bool) {
        let Some(number) = self.numbers.as_chunks().0.get(symbol).map(|b| u16::from_le_bytes(*b)) else {
            return (None, false);
        };
        let index = number & elf::VERSYM_VERSION;
        let name = self.names.get(usize::from(index)).filter(|_| index > 1);
        (name.and_then(|&name| string(strings, name)), number & elf::VERSYM_HIDDEN.0 != 0)
    }
}

/// The kind of a symbol; nothing if it stands for neither code nor data.
fn kind(symbol: &elf::Sym64<LE>) -> Option<SymbolKind> {
    match symbol.st_info.st_type() {
        elf::STT_FUNC => Some(SymbolKind::Function),
        elf::STT_GNU_IFUNC => Some(SymbolKind::Ifunc),
        elf::STT_OBJECT | elf::STT_COMMON => Some(SymbolKind::Object),
        elf::STT_TLS => Some(SymbolKind::ThreadLocal),
        elf::STT_NOTYPE => Some(SymbolKind::Untyped),
        _ => None,
    }
}

/// String offsets of the names of the defined versions, by their numbers.
fn names(definitions: &[u8]) -> Vec<u32> {
    let mut names = Vec::new();
    let mut at = 0usize;
    while let Some((definition, aux)) = definition(definitions, at) {
        let number = usize::from(definition.vd_ndx.get(LE).0 & elf::VERSYM_VERSION);
        if names.len() <= number {
            names.resize(number + 1, 0);
        }
        names[number] = aux.vda_name.get(LE);
        match definition.vd_next.get(LE) {
            0 => break,
            next => at += next as usize,
        }
    }
    names
}

/// The definition at `at` and the first entry of its list, which is its own name; parents follow.
fn definition(definitions: &[u8], at: usize) -> Option<(&elf::Verdef<LE>, &elf::Verdaux<LE>)> {
    let (definition, _) = pod::from_bytes::<elf::Verdef<LE>>(definitions.get(at..)?).ok()?;
    let aux = definitions.get(at.checked_add(definition.vd_aux.get(LE) as usize)?..)?;
    Some((definition, pod::from_bytes(aux).ok()?.0))
}

fn string(strings: &[u8], offset: u32) -> Option<&str> {
    let rest = strings.get(offset as usize..)?;
    let end = rest.iter().position(|&b| b == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}
