//! The sections of an ELF file, each read when it is asked for.
//!
//! A library of 40 MB is asked for a few hundred kilobytes of symbols at start-up, so nothing is read whole. What a file
//! says about itself is checked against its size: it may be truncated or made to harm.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::LittleEndian as LE;
use object::elf;
use object::pod;
use object::read::{CompressedData, CompressionFormat};

use super::error::{OpenError, OpenProblem};

/// An open ELF file.
#[derive(Debug)]
pub(super) struct Elf {
    path: PathBuf,
    file: File,
    size: u64,
    sections: Vec<Section>,
    names: Vec<u8>,
}

/// A row of the section table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    name: u32,
    pub(super) kind: elf::SectionType,
    compressed: bool,
    executable: bool,
    address: u64,
    offset: u64,
    size: u64,
    /// For a symbol table, the number of its string table.
    pub(super) link: u32,
}

impl Section {
    /// The link-time address.
    pub(super) fn address(&self) -> u64 {
        self.address
    }
}

impl Elf {
    pub(super) fn open(path: &Path) -> Result<Elf, OpenError> {
        let fail = |problem| OpenError { path: path.to_owned(), problem };
        let io = |error| fail(OpenProblem::Io(Arc::new(error)));
        let file = File::open(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        if !meta.is_file() {
            return Err(fail(OpenProblem::NotElf));
        }
        let mut elf =
            Elf { path: path.to_owned(), file, size: meta.len(), sections: Vec::new(), names: Vec::new() };
        elf.read_sections().map_err(fail)?;
        Ok(elf)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The first section called `name`.
    pub(super) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|s| self.name(s) == name.as_bytes())
    }

    /// The first section of this type.
    pub(super) fn section_of(&self, kind: elf::SectionType) -> Option<&Section> {
        self.sections.iter().find(|s| s.kind == kind)
    }

    /// Section number `index`.
    pub(super) fn section_at(&self, index: u32) -> Option<&Section> {
        self.sections.get(index as usize)
    }

    /// Tells whether there is code at `address`.
    pub(super) fn is_code(&self, address: u64) -> bool {
        let holds =
            |s: &&Section| s.executable && (s.address..s.address.saturating_add(s.size)).contains(&address);
        self.sections.iter().any(|section| holds(&section))
    }

    /// Bytes of code at these addresses.
    pub(super) fn code(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let size = range.end.checked_sub(range.start)?;
        let holds = |s: &&Section| {
            s.executable && range.start >= s.address && range.end <= s.address.saturating_add(s.size)
        };
        let section = self.sections.iter().find(holds)?;
        self.read(section.offset + (range.start - section.address), size).ok()
    }

    /// All sections.
    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Bytes at these addresses, as the file has them.
    pub(super) fn data(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let holds = |s: &&Section| {
            s.address != 0 && range.start >= s.address && range.end <= s.address.saturating_add(s.size)
        };
        let section = self.sections.iter().find(holds).filter(|section| section.kind == elf::SHT_PROGBITS)?;
        self.read(section.offset + (range.start - section.address), range.end - range.start).ok()
    }

    /// Bytes of the file for `section`, decompressed; nothing for `.bss` and its like.
    pub(super) fn bytes(&self, section: &Section) -> Result<Vec<u8>, OpenError> {
        self.read_section(section).map_err(|problem| OpenError { path: self.path.clone(), problem })
    }

    fn name(&self, section: &Section) -> &[u8] {
        let rest = self.names.get(section.name as usize..).unwrap_or_default();
        rest.split(|&b| b == 0).next().unwrap_or_default()
    }

    fn read_sections(&mut self) -> Result<(), OpenProblem> {
        let header = self.header()?;
        let (table, entry) = (header.e_shoff.get(LE), size_of::<elf::SectionHeader64<LE>>() as u64);
        if table == 0 {
            return Ok(());
        }
        if u64::from(header.e_shentsize.get(LE)) != entry {
            return Err(OpenProblem::Corrupt("size of section headers"));
        }
        // Files with very many sections keep both numbers in the otherwise unused section 0.
        let first = self.headers(table, 1)?;
        let first = first.first().ok_or(OpenProblem::Corrupt("section headers"))?;
        let count = match header.e_shnum.get(LE) {
            0 => first.sh_size.get(LE),
            n => n.into(),
        };
        let names = match u32::from(header.e_shstrndx.get(LE).0) {
            0xffff => first.sh_link.get(LE),
            n => n,
        };
        self.sections = self.headers(table, count)?.iter().map(Section::from).collect();
        if let Some(names) = self.section_at(names).copied() {
            self.names = self.read_section(&names)?;
        }
        Ok(())
    }

    fn header(&self) -> Result<elf::FileHeader64<LE>, OpenProblem> {
        let size = size_of::<elf::FileHeader64<LE>>() as u64;
        let bytes = self.read(0, size.min(self.size))?;
        if !bytes.starts_with(&elf::ELFMAG) {
            return Err(OpenProblem::NotElf);
        }
        let foreign = bytes.get(4..6) != Some(&[2, 1]);
        let header: &elf::FileHeader64<LE> = match pod::from_bytes(&bytes) {
            Ok((header, _)) if !foreign => header,
            Ok(_) => return Err(OpenProblem::Foreign),
            Err(()) => return Err(OpenProblem::Corrupt("truncated header")),
        };
        if header.e_machine.get(LE) != elf::EM_X86_64 {
            return Err(OpenProblem::Foreign);
        }
        Ok(*header)
    }

    fn headers(&self, table: u64, count: u64) -> Result<Vec<elf::SectionHeader64<LE>>, OpenProblem> {
        let size = count.checked_mul(size_of::<elf::SectionHeader64<LE>>() as u64);
        let bytes = self.read(table, size.ok_or(OpenProblem::Corrupt("number of sections"))?)?;
        let headers = pod::slice_from_all_bytes::<elf::SectionHeader64<LE>>(&bytes);
        headers.map(<[_]>::to_vec).map_err(|()| OpenProblem::Corrupt("section headers"))
    }

    fn read_section(&self, section: &Section) -> Result<Vec<u8>, OpenProblem> {
        if section.kind == elf::SHT_NOBITS {
            return Ok(Vec::new());
        }
        let bytes = self.read(section.offset, section.size)?;
        if section.compressed { decompress(&bytes) } else { Ok(bytes) }
    }

    fn read(&self, offset: u64, size: u64) -> Result<Vec<u8>, OpenProblem> {
        if offset.checked_add(size).is_none_or(|end| end > self.size) {
            return Err(OpenProblem::Corrupt("truncated"));
        }
        let mut bytes = vec![0; size as usize];
        self.file.read_exact_at(&mut bytes, offset).map_err(|error| OpenProblem::Io(Arc::new(error)))?;
        Ok(bytes)
    }
}

impl From<&elf::SectionHeader64<LE>> for Section {
    fn from(header: &elf::SectionHeader64<LE>) -> Self {
        Section {
            name: header.sh_name.get(LE),
            kind: header.sh_type.get(LE),
            compressed: header.sh_flags.get(LE).contains(elf::SHF_COMPRESSED),
            executable: header.sh_flags.get(LE).contains(elf::SHF_EXECINSTR),
            address: header.sh_addr.get(LE),
            offset: header.sh_offset.get(LE),
            size: header.sh_size.get(LE),
            link: header.sh_link.get(LE),
        }
    }
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, OpenProblem> {
    let corrupt = || OpenProblem::Corrupt("compressed section");
    let (header, data) = pod::from_bytes::<elf::CompressionHeader64<LE>>(bytes).map_err(|()| corrupt())?;
    let format = match header.ch_type.get(LE) {
        elf::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
        elf::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
        _ => return Err(corrupt()),
    };
    let uncompressed_size = header.ch_size.get(LE);
    let decompressed = CompressedData { format, data, uncompressed_size }.decompress();
    decompressed.map(|bytes| bytes.into_owned()).map_err(|_| corrupt())
}
