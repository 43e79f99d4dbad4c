//! The tables that `libjvm.so` exports of its own structures: offsets of fields, addresses of static ones, sizes of types.
//!
//! They are what HotSpot's own debugger goes by. Knows no structure.

use super::memory::Memory;
use hashbrown::HashMap;
use shadowgrind_symbols::SymbolFile;

/// Symbols of the tables of fields and of types, and of the offsets in their entries.
const SYMBOLS: [&str; 11] = [
    "gHotSpotVMStructs",
    "gHotSpotVMStructEntryArrayStride",
    "gHotSpotVMStructEntryTypeNameOffset",
    "gHotSpotVMStructEntryFieldNameOffset",
    "gHotSpotVMStructEntryIsStaticOffset",
    "gHotSpotVMStructEntryOffsetOffset",
    "gHotSpotVMStructEntryAddressOffset",
    "gHotSpotVMTypes",
    "gHotSpotVMTypeEntryArrayStride",
    "gHotSpotVMTypeEntryTypeNameOffset",
    "gHotSpotVMTypeEntrySizeOffset",
];
/// Variables in which the virtual machine has the addresses of mathematical functions of doubles that it makes when it starts, and their
/// names in C. No table has these; most builds keep their symbols.
const FUNCTIONS: [(&str, &str); 10] = [
    ("_ZN12StubRoutines5_dsinE", "sin"),
    ("_ZN12StubRoutines5_dcosE", "cos"),
    ("_ZN12StubRoutines5_dtanE", "tan"),
    ("_ZN12StubRoutines5_dexpE", "exp"),
    ("_ZN12StubRoutines5_dlogE", "log"),
    ("_ZN12StubRoutines7_dlog10E", "log10"),
    ("_ZN12StubRoutines5_dpowE", "pow"),
    ("_ZN12StubRoutines6_dsinhE", "sinh"),
    ("_ZN12StubRoutines6_dtanhE", "tanh"),
    ("_ZN12StubRoutines6_dcbrtE", "cbrt"),
];
/// Entries of a table that are looked at.
const ENTRIES: u64 = 1 << 14;

/// Addresses of these symbols, and of the variables, or 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exports {
    tables: [u64; SYMBOLS.len()],
    functions: [u64; FUNCTIONS.len()],
}

impl Exports {
    /// Link-time addresses, if `file` is a Java virtual machine that exports its tables.
    pub(crate) fn of(file: &SymbolFile) -> Option<Exports> {
        file.path().file_name().filter(|name| *name == "libjvm.so")?;
        let (mut tables, mut functions) = ([0; SYMBOLS.len()], [0; FUNCTIONS.len()]);
        for symbol in file.symbols().ok()? {
            if let Some(index) = SYMBOLS.iter().position(|name| *name == symbol.name) {
                tables[index] = symbol.address;
            } else if let Some(index) = FUNCTIONS.iter().position(|(name, _)| *name == symbol.name) {
                functions[index] = symbol.address;
            }
        }
        (!tables.contains(&0)).then_some(Exports { tables, functions })
    }

    /// The addresses in memory, where the file is loaded this far from where it was linked.
    pub(crate) fn loaded(self, bias: u64) -> Exports {
        let Exports { tables, functions } = self;
        let loaded = |address: u64| address.wrapping_add(bias);
        let tables = tables.map(loaded);
        Exports { tables, functions: functions.map(|address| if address == 0 { 0 } else { loaded(address) }) }
    }

    /// The name in C of the mathematical function at `pc`, if one is there.
    pub(super) fn function(&self, pc: u64, memory: Memory<'_>) -> Option<&'static str> {
        let is_there = |address: u64| address != 0 && memory.u64(address) == Some(pc);
        let all = self.functions.iter().zip(FUNCTIONS);
        all.into_iter().find(|(address, _)| is_there(**address)).map(|(_, (_, name))| name)
    }
}

/// Fields and types by name.
#[derive(Debug)]
pub(super) struct Tables {
    /// The offset of a field in its structure, or the address of a static one.
    fields: HashMap<(String, String), u64>,
    sizes: HashMap<String, u64>,
}

impl Tables {
    /// Reads the tables; nothing if the virtual machine has not made them yet.
    pub(super) fn read(exports: Exports, memory: Memory<'_>) -> Option<Tables> {
        let mut values = [0; SYMBOLS.len()];
        for (value, address) in values.iter_mut().zip(exports.tables) {
            *value = memory.u64(address)?;
        }
        let [structs, stride, owner, name, is_static, offset, address, types, type_stride, type_name, size] =
            values;
        let mut fields = HashMap::new();
        for entry in entries(structs, stride, owner, memory)? {
            let word = |at: u64| memory.u64(entry + at);
            let Some(field) = word(name).and_then(|name| memory.string(name)) else { continue };
            let at = if memory.u32(entry + is_static)? == 0 { word(offset)? } else { word(address)? };
            fields.insert((memory.string(word(owner)?)?, field), at);
        }
        let mut sizes = HashMap::new();
        for entry in entries(types, type_stride, type_name, memory)? {
            sizes.insert(memory.string(memory.u64(entry + type_name)?)?, memory.u64(entry + size)?);
        }
        Some(Tables { fields, sizes })
    }

    /// The offset or the address of the first of these fields that there is; the name of the first if there is none.
    pub(super) fn any(&self, names: &[(&str, &str)]) -> Result<u64, String> {
        let find =
            |(owner, field): &(&str, &str)| self.fields.get(&((*owner).to_owned(), (*field).to_owned()));
        let found = names.iter().find_map(find).copied();
        found.ok_or_else(|| {
            names.first().map_or_else(String::new, |(owner, field)| format!("{owner}::{field}"))
        })
    }

    pub(super) fn field(&self, owner: &str, field: &str) -> Result<u64, String> {
        self.any(&[(owner, field)])
    }

    /// Size of a type, in bytes; its name if there is none.
    pub(super) fn size(&self, name: &str) -> Result<u64, String> {
        self.sizes.get(name).copied().ok_or_else(|| name.to_owned())
    }
}

/// Addresses of the entries of the table at `first`, which ends where there is no name.
fn entries(first: u64, stride: u64, name: u64, memory: Memory<'_>) -> Option<Vec<u64>> {
    if first == 0 || stride == 0 {
        return None;
    }
    let all = (0..ENTRIES).map(|index| first + index * stride);
    Some(all.take_while(|entry| memory.u64(entry + name).is_some_and(|name| name != 0)).collect())
}
