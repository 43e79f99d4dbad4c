//! Functions of a Go program by its table of program counters and lines (`.gopclntab`), which stripped programs have too: their
//! run-time system walks stacks by it.
//!
//! The table's head says where its parts are; its layout is that of Go's `runtime/symtab.go` and has changed with versions. Go
//! before 1.16 has another, of which nothing is read.

use super::elf::Elf;
use super::symtab::SymbolTable;

/// Names of the section, as Go's linker gives them to programs at fixed addresses and to others.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// Functions of the program by their names; none if it is none of Go's.
pub(super) fn functions(elf: &Elf) -> SymbolTable {
    let section = SECTIONS.iter().find_map(|name| elf.section(name));
    let bytes = section.and_then(|section| elf.bytes(section).ok()).unwrap_or_default();
    let text = elf.section(".text").map_or(0, |section| section.address());
    let table = Table::of(&bytes, text);
    let functions = table.iter().flat_map(Table::functions);
    SymbolTable::of_functions(functions.filter(|(_, address, _)| elf.is_code(*address)))
}

/// The table, with the offsets of its parts.
struct Table<'a> {
    bytes: &'a [u8],
    /// Number of functions.
    count: usize,
    /// Address that others are counted from.
    base: u64,
    names: usize,
    rows: usize,
    /// Bytes of an address in a row.
    width: usize,
}

impl<'a> Table<'a> {
    /// The table, if it is one of a version that is known; `text` is where code begins, if the table does not say.
    fn of(bytes: &'a [u8], text: u64) -> Option<Table<'a>> {
        const SINCE_1_20: u32 = 0xffff_fff1;
        const SINCE_1_18: u32 = 0xffff_fff0;
        const SINCE_1_16: u32 = 0xffff_fffa;
        /// Words of the head begin behind the version and the sizes of instructions and pointers.
        const WORDS: usize = 8;
        const POINTER: u8 = 8;
        let word = |n: usize| number(bytes, WORDS + 8 * n, 8);
        let part = |n: usize| usize::try_from(word(n)?).ok();
        if bytes.get(7) != Some(&POINTER) {
            return None;
        }
        let count = part(0)?;
        match number(bytes, 0, 4)? as u32 {
            SINCE_1_18 | SINCE_1_20 => {
                let base = word(2).filter(|&base| base != 0).unwrap_or(text);
                Some(Table { bytes, count, base, names: part(3)?, rows: part(7)?, width: 4 })
            }
            SINCE_1_16 => Some(Table { bytes, count, base: 0, names: part(2)?, rows: part(6)?, width: 8 }),
            _ => None,
        }
    }

    /// Names, addresses and sizes.
    fn functions(&self) -> impl Iterator<Item = (&'a str, u64, u64)> {
        let function = |n: usize| {
            let row = self.rows.checked_add(n.checked_mul(2 * self.width)?)?;
            let field = |n: usize| number(self.bytes, row + n * self.width, self.width);
            let (start, about, end) = (field(0)?, usize::try_from(field(1)?).ok()?, field(2)?);
            let name = self.rows.checked_add(about)?.checked_add(self.width)?;
            let name = self.name(number(self.bytes, name, 4)? as usize)?;
            Some((name, self.base.checked_add(start)?, end.checked_sub(start)?))
        };
        // A damaged count ends where the rows do.
        (0..self.count).map_while(function)
    }

    fn name(&self, at: usize) -> Option<&'a str> {
        let rest = self.bytes.get(self.names.checked_add(at)?..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    }
}

/// The number in `width` bytes at `at`, at most eight.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..width].copy_from_slice(bytes.get(at..at.checked_add(width)?)?);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of two functions, at 0x401000 and 0x401020, that ends at 0x401050.
    fn table(version: u32, width: usize, base: u64) -> Vec<u8> {
        const NAMES: &[u8] = b"main.main\0strconv.ParseFloat\0";
        let has_base = width == 4;
        let head = 8 + 8 * (if has_base { 8 } else { 7 });
        let rows_at = head + NAMES.len();
        let mut bytes = version.to_le_bytes().to_vec();
        bytes.extend([0, 0, 1, 8]);
        let unused = 0;
        let mut words = vec![2, 1];
        words.extend(has_base.then_some(base));
        words.extend([head as u64, unused, unused, unused, rows_at as u64]);
        bytes.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
        bytes.extend(NAMES);
        let number = |value: u64| value.to_le_bytes()[..width].to_vec();
        let from = if has_base { 0 } else { 0x40_1000 };
        let about = 5 * width as u64;
        let about_size = width as u64 + 4;
        for field in [from, about, from + 0x20, about + about_size, from + 0x50] {
            bytes.extend(number(field));
        }
        for (start, name) in [(from, 0_u32), (from + 0x20, 10)] {
            bytes.extend(number(start));
            bytes.extend(name.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn functions_are_found_in_tables_of_each_version() {
        let expected = [("main.main", 0x40_1000, 0x20), ("strconv.ParseFloat", 0x40_1020, 0x30)];
        for (version, width, base) in [(0xffff_fff1, 4, 0x40_1000), (0xffff_fff0, 4, 0), (0xffff_fffa, 8, 0)]
        {
            let bytes = table(version, width, base);
            let found: Vec<_> = Table::of(&bytes, 0x40_1000).unwrap().functions().collect();
            assert_eq!(found, expected, "{version:#x}");
            for cut in 0..bytes.len() {
                Table::of(&bytes[..cut], 0x40_1000)
                    .iter()
                    .for_each(|table| assert!(table.functions().count() <= 2));
            }
        }
        assert!(Table::of(&table(0xffff_fffb, 8, 0), 0).is_none(), "Go 1.2 to 1.15");
    }
}
