//! Functions that a module of Python gives to scripts, by the names that scripts call them by: found in its tables of methods
//! (`PyMethodDef`), which stripped files have too.
//!
//! A row of a table is a pointer to the name, one to the function and a word of flags. In a file that is loaded anywhere, the
//! pointers are relocations, and these are what is looked through. Knows no Python.

use object::LittleEndian as LE;
use object::elf::{R_X86_64_RELATIVE, Rela64, SHT_PROGBITS, SHT_RELA};
use object::pod;

use super::elf::{Elf, Section};

/// Address of the function that scripts call `name`; `flags` are those that its row must have.
pub(super) fn find(elf: &Elf, name: &str, flags: u32) -> Option<u64> {
    let relocations = elf.bytes(elf.section_of(SHT_RELA)?).ok()?;
    let relocations = pod::slice_from_all_bytes::<Rela64<LE>>(&relocations).ok()?;
    let relative = |rela: &&Rela64<LE>| (rela.r_info.get(LE) & 0xffff_ffff) as u32 == R_X86_64_RELATIVE.0;
    let pointer = |rela: &Rela64<LE>| (rela.r_offset.get(LE), rela.r_addend.get(LE) as u64);
    let pointers = || relocations.iter().filter(relative).map(pointer);
    let named = strings(elf, name);
    pointers().filter(|(_, to)| named.contains(to)).find_map(|(row, _)| {
        let (_, function) = pointers().find(|(at, _)| *at == row + 8)?;
        let has = u32::from_le_bytes(elf.data(&(row + 16..row + 20))?.try_into().ok()?);
        (has == flags && elf.is_code(function)).then_some(function)
    })
}

/// Addresses at which the text `name` stands, whole.
fn strings(elf: &Elf, name: &str) -> Vec<u64> {
    let text = [b"\0", name.as_bytes(), b"\0"].concat();
    let is_data = |section: &&Section| section.kind == SHT_PROGBITS && !elf.is_code(section.address());
    let sections = elf.sections().iter().filter(is_data);
    let found = sections.flat_map(|section| {
        let bytes = elf.bytes(section).unwrap_or_default();
        let starts = bytes.windows(text.len()).enumerate().filter(|(_, window)| *window == text);
        starts.map(|(at, _)| section.address() + at as u64 + 1).collect::<Vec<_>>()
    });
    found.filter(|&address| address > 1).collect()
}
