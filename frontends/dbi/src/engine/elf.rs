//! Reading an ELF program's headers: what is to be mapped, and whether we can run it at all.
//!
//! Maps nothing; see `loader`.

use super::layout::page_floor;
use object::elf::{
    EM_X86_64, ET_DYN, ET_EXEC, FileHeader64, PF_R, PF_W, PF_X, PT_DYNAMIC, PT_GNU_STACK, PT_INTERP, PT_LOAD,
};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;

/// A loadable segment, in link-time addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) file_offset: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
    pub(crate) align: u64,
    /// `PROT_*` bits.
    pub(crate) prot: i32,
}

/// Facts about an ELF file that the loader needs.
#[derive(Debug)]
pub(crate) struct Image {
    /// True if the file can be placed anywhere (`ET_DYN`).
    pub(crate) relocatable: bool,
    pub(crate) entry: u64,
    pub(crate) segments: Vec<Segment>,
    /// Link-time address of the program headers, if they are loaded.
    pub(crate) headers_address: Option<u64>,
    pub(crate) header_size: u16,
    pub(crate) header_count: u16,
    pub(crate) interpreter: Option<OsString>,
    /// Link-time address of the dynamic section.
    pub(crate) dynamic: Option<u64>,
    pub(crate) executable_stack: bool,
}

/// Reason why a file is not a program we can run.
#[derive(Debug)]
pub enum ElfError {
    /// Reading it failed.
    Io(io::Error),
    /// File that does not begin like an ELF file.
    NotElf,
    /// A 32-bit program, named with its machine.
    Bits32(&'static str),
    /// A program for another machine.
    ForeignMachine(String),
    /// Neither executable nor shared object.
    NotExecutable(&'static str),
    /// Headers contradict each other or the file's length.
    Corrupt(&'static str),
}

impl ElfError {
    /// Tells whether the kernel may well be able to run the file.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self, ElfError::Bits32(_) | ElfError::ForeignMachine(_))
    }
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElfError::Io(error) => write!(f, "{error}"),
            ElfError::NotElf => write!(f, "not an ELF program and not a script"),
            ElfError::Bits32(machine) => {
                write!(f, "a 32-bit {machine} program; only x86-64 is supported yet")
            }
            ElfError::ForeignMachine(machine) => write!(f, "built for {machine}; only x86-64 is supported"),
            ElfError::NotExecutable(kind) => write!(f, "an ELF {kind}, not a program"),
            ElfError::Corrupt(what) => write!(f, "corrupt ELF file: {what}"),
        }
    }
}

/// The longest head of a file that headers and interpreter name are looked for in, bytes.
const HEAD_BYTES: usize = 64 << 10;

/// Reads and checks the headers of `file`.
pub(crate) fn read(file: &File) -> Result<Image, ElfError> {
    let mut head = vec![0; HEAD_BYTES];
    let length = read_head(file, &mut head).map_err(ElfError::Io)?;
    head.truncate(length);
    let file_length = file.metadata().map_err(ElfError::Io)?.len();
    parse(&head, file_length)
}

fn read_head(file: &File, head: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < head.len() {
        match file.read_at(&mut head[length..], length as u64)? {
            0 => break,
            n => length += n,
        }
    }
    Ok(length)
}

fn parse(head: &[u8], file_length: u64) -> Result<Image, ElfError> {
    check_identity(head)?;
    let header =
        FileHeader64::<Endianness>::parse(head).map_err(|_| ElfError::Corrupt("truncated file header"))?;
    let endian = Endianness::Little;
    check_machine(header.e_machine(endian))?;
    let programs = header
        .program_headers(endian, head)
        .map_err(|_| ElfError::Corrupt("program headers outside the file"))?;
    let mut image = Image::of(header, endian)?;
    for program in programs {
        match program.p_type(endian) {
            PT_LOAD => image.add_segment(program, endian, file_length)?,
            PT_INTERP => image.interpreter = Some(interpreter(program, endian, head)?),
            PT_DYNAMIC => image.dynamic = Some(program.p_vaddr(endian)),
            PT_GNU_STACK => image.executable_stack = program.p_flags(endian).0 & PF_X.0 != 0,
            _ => {}
        }
    }
    if image.segments.is_empty() {
        return Err(ElfError::Corrupt("nothing to load"));
    }
    image.headers_address = image.loaded_address(header.e_phoff(endian));
    Ok(image)
}

fn check_identity(head: &[u8]) -> Result<(), ElfError> {
    if head.len() < 16 || head[..4] != elf::ELFMAG {
        return Err(ElfError::NotElf);
    }
    match (elf::FileClass(head[4]), elf::DataEncoding(head[5])) {
        (elf::ELFCLASS64, elf::ELFDATA2LSB) => Ok(()),
        (elf::ELFCLASS32, _) => {
            let machine = head.get(18..20).map_or(0, |m| u16::from_le_bytes([m[0], m[1]]));
            Err(ElfError::Bits32(match elf::Machine(machine) {
                elf::EM_386 => "x86",
                elf::EM_ARM => "ARM",
                EM_X86_64 => "x32",
                _ => "foreign",
            }))
        }
        (elf::ELFCLASS64, _) => Err(ElfError::ForeignMachine("a big-endian machine".into())),
        _ => Err(ElfError::Corrupt("unknown class")),
    }
}

fn check_machine(machine: elf::Machine) -> Result<(), ElfError> {
    let name = match machine {
        EM_X86_64 => return Ok(()),
        elf::EM_AARCH64 => "AArch64",
        elf::EM_RISCV => "RISC-V",
        elf::EM_PPC64 => "PowerPC",
        elf::EM_S390 => "s390x",
        other => return Err(ElfError::ForeignMachine(format!("machine {}", other.0))),
    };
    Err(ElfError::ForeignMachine(name.into()))
}

fn interpreter(
    program: &elf::ProgramHeader64<Endianness>,
    endian: Endianness,
    head: &[u8],
) -> Result<OsString, ElfError> {
    let bytes =
        program.data(endian, head).map_err(|()| ElfError::Corrupt("interpreter name outside the file"))?;
    let name = bytes.split(|&b| b == 0).next().unwrap_or_default();
    if name.is_empty() || name.len() == bytes.len() {
        return Err(ElfError::Corrupt("malformed interpreter name"));
    }
    Ok(OsString::from_vec(name.to_vec()))
}

/// Tells whether a file of this type may be loaded anywhere.
fn is_relocatable(file_type: elf::FileType) -> Result<bool, ElfError> {
    match file_type {
        ET_EXEC => Ok(false),
        ET_DYN => Ok(true),
        elf::ET_REL => Err(ElfError::NotExecutable("object file")),
        elf::ET_CORE => Err(ElfError::NotExecutable("core dump")),
        _ => Err(ElfError::NotExecutable("file of unknown type")),
    }
}

/// A segment as the file describes it; nothing if it takes no memory.
fn segment(program: &elf::ProgramHeader64<Endianness>, endian: Endianness) -> Option<Segment> {
    let flags = program.p_flags(endian);
    let bit = |flag: elf::ProgramFlags, prot| if flags.0 & flag.0 != 0 { prot } else { 0 };
    let segment = Segment {
        address: program.p_vaddr(endian),
        file_offset: program.p_offset(endian),
        file_size: program.p_filesz(endian),
        memory_size: program.p_memsz(endian),
        align: program.p_align(endian).max(super::layout::PAGE),
        prot: bit(PF_R, libc::PROT_READ) | bit(PF_W, libc::PROT_WRITE) | bit(PF_X, libc::PROT_EXEC),
    };
    (segment.memory_size > 0).then_some(segment)
}

impl Segment {
    /// Tells what is wrong with a segment of a file of so many bytes.
    fn check(&self, file_length: u64) -> Result<(), ElfError> {
        let end = self.file_offset.checked_add(self.file_size);
        if end.is_none_or(|end| end > file_length) {
            return Err(ElfError::Corrupt("a segment reaches beyond the end of the file"));
        }
        let span = self.address.checked_add(self.memory_size);
        if self.file_size > self.memory_size || span.is_none() || !self.align.is_power_of_two() {
            return Err(ElfError::Corrupt("impossible segment sizes"));
        }
        if self.address % super::layout::PAGE != self.file_offset % super::layout::PAGE {
            return Err(ElfError::Corrupt("segment address and file offset disagree within a page"));
        }
        Ok(())
    }
}

impl Image {
    /// The image that a file's header describes, without segments.
    fn of(header: &FileHeader64<Endianness>, endian: Endianness) -> Result<Image, ElfError> {
        Ok(Image {
            relocatable: is_relocatable(header.e_type(endian))?,
            entry: header.e_entry(endian),
            segments: Vec::new(),
            headers_address: None,
            header_size: header.e_phentsize(endian),
            header_count: header.e_phnum(endian),
            interpreter: None,
            dynamic: None,
            // Without the marking segment, Linux gives x86-64 programs an executable stack only in 32-bit mode.
            executable_stack: false,
        })
    }

    fn add_segment(
        &mut self,
        program: &elf::ProgramHeader64<Endianness>,
        endian: Endianness,
        file_length: u64,
    ) -> Result<(), ElfError> {
        let Some(segment) = segment(program, endian) else { return Ok(()) };
        segment.check(file_length)?;
        if self.segments.last().is_some_and(|last| last.address + last.memory_size > segment.address) {
            return Err(ElfError::Corrupt("segments overlap or are out of order"));
        }
        self.segments.push(segment);
        Ok(())
    }

    /// Link-time address of the byte at `file_offset`, if a segment loads it.
    fn loaded_address(&self, file_offset: u64) -> Option<u64> {
        let holds = |s: &&Segment| s.file_offset <= file_offset && file_offset < s.file_offset + s.file_size;
        self.segments.iter().find(holds).map(|s| s.address + file_offset - s.file_offset)
    }

    /// First and one-past-last link-time page address.
    pub(crate) fn span(&self) -> (u64, u64) {
        let last = self.segments[self.segments.len() - 1];
        let end = super::layout::page_ceil(last.address + last.memory_size);
        (page_floor(self.segments[0].address), end)
    }

    /// The strictest alignment of a segment, bytes.
    pub(crate) fn align(&self) -> u64 {
        self.segments.iter().map(|s| s.align).max().unwrap_or(super::layout::PAGE)
    }
}
