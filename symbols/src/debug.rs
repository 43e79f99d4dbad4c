//! Debug information of a file, its own or in a separate file.
//!
//! Distributions strip programs and ship what they stripped apart; the file says which by its build id, or by a name
//! and a checksum. Sections are read here; what is in them is for `lines`, `dies` and `types`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{EndianArcSlice, LittleEndian, SectionId};
use object::elf;

use super::elf::Elf;
use super::error::{OpenError, OpenProblem};

/// A section of debug information: shared, since lines and types are read from the same.
pub(super) type Reader = EndianArcSlice<LittleEndian>;

/// The sections of a file's debug information.
pub(super) type Dwarf = gimli::Dwarf<Reader>;

/// Directory of separate debug files.
pub(super) const DEBUG_ROOT: &str = "/usr/lib/debug";

/// The debug information in `elf` itself, if there is any.
pub(super) fn load(elf: &Elf) -> Result<Option<Arc<Dwarf>>, OpenError> {
    if elf.section(SectionId::DebugInfo.name()).is_none() {
        return Ok(None);
    }
    let mut dwarf = gimli::Dwarf::load(|id| section(elf, id.name()))?;
    if let Some(other) = supplementary(elf)? {
        dwarf.load_sup(|id| section(&other, id.name()))?;
    }
    Ok(Some(Arc::new(dwarf)))
}

/// The separate debug file that belongs to `elf`, if it is installed under `root` or beside it.
pub(super) fn separate(elf: &Elf, root: &Path) -> Option<Elf> {
    let build_id = build_id(elf);
    let by_build_id = build_id.as_deref().and_then(|id| {
        let (first, rest) = id.split_first()?;
        let name = format!(".build-id/{first:02x}/{}.debug", hex(rest));
        Elf::open(&root.join(name)).ok()
    });
    by_build_id.or_else(|| by_link(elf, root, build_id.as_deref()))
}

/// The GNU build id.
pub(super) fn build_id(elf: &Elf) -> Option<Vec<u8>> {
    let note = elf.bytes(elf.section(".note.gnu.build-id")?).ok()?;
    let word = |at: usize| Some(u32::from_le_bytes(*note.get(at..)?.first_chunk()?) as usize);
    let (name_size, size, kind) = (word(0)?, word(4)?, word(8)?);
    let start = 12 + name_size.next_multiple_of(4);
    if kind != elf::NT_GNU_BUILD_ID.0 as usize || note.get(12..16) != Some(b"GNU\0") {
        return None;
    }
    note.get(start..start.checked_add(size)?).filter(|id| id.len() > 1).map(<[u8]>::to_vec)
}

fn by_link(elf: &Elf, root: &Path, id: Option<&[u8]>) -> Option<Elf> {
    let link = elf.bytes(elf.section(".gnu_debuglink")?).ok()?;
    let name = std::str::from_utf8(link.split(|&b| b == 0).next()?).ok()?;
    let checksum = u32::from_le_bytes(*link.last_chunk()?);
    let folder = elf.path().canonicalize().ok()?.parent()?.to_owned();
    let under_root = root.join(folder.strip_prefix("/").unwrap_or(&folder));
    let places = [folder.join(name), folder.join(".debug").join(name), under_root.join(name)];
    places.into_iter().filter(|place| place != elf.path()).find_map(|place| {
        let other = Elf::open(&place).ok()?;
        // A checksum needs the whole file; a build id in both says the same for less.
        let same = match (id, build_id(&other)) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => crc32(&std::fs::read(&place).ok()?) == checksum,
        };
        same.then_some(other)
    })
}

/// The file that `dwz` moved what several debug files share to.
fn supplementary(elf: &Elf) -> Result<Option<Elf>, OpenError> {
    let Some(section) = elf.section(".gnu_debugaltlink") else { return Ok(None) };
    let link = elf.bytes(section)?;
    let name = link.split(|&b| b == 0).next().unwrap_or_default();
    let name = std::str::from_utf8(name).ok().map(PathBuf::from);
    let folder = elf.path().parent().unwrap_or(Path::new("/"));
    Ok(name.and_then(|name| Elf::open(&folder.join(name)).ok()))
}

/// The bytes of a section; none if there is no such.
pub(super) fn section(elf: &Elf, name: &str) -> Result<Reader, OpenError> {
    let bytes = match elf.section(name) {
        Some(section) => elf.bytes(section)?,
        None => Vec::new(),
    };
    Ok(Reader::new(bytes.into(), LittleEndian))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The checksum of `.gnu_debuglink`: CRC-32 as in Ethernet and zip, four bits at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut i = 0;
        while i < 16 {
            let mut crc = i as u32;
            let mut bit = 0;
            while bit < 4 {
                crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc, &byte| {
        let crc = crc ^ u32::from(byte);
        let crc = crc >> 4 ^ TABLE[(crc & 15) as usize];
        crc >> 4 ^ TABLE[(crc & 15) as usize]
    })
}

/// An error of `elf`'s debug information.
pub(super) fn corrupt(elf: &Elf, error: gimli::Error) -> OpenError {
    OpenError { path: elf.path().to_owned(), problem: OpenProblem::Debug(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_standard_test_string() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
