//! The layout of an ELF file: what its program headers say of where its bytes are loaded.
//!
//! Knows no symbols; what a function of the file means is for `modules` to say.

use super::magic_numbers;
use crate::x86::rounding::Rounding;
use object::LittleEndian as LE;
use object::elf::{FileHeader64, PF_W, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD, PT_TLS, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A loadable segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    address: u64,
    size: u64,
    executable: bool,
    writable: bool,
}

/// Layout of a file in memory, from its program headers.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    segments: Vec<Segment>,
    pub(super) has_interpreter: bool,
    /// Size of the thread-local block, rounded up to its alignment.
    tls: Option<u64>,
    /// Link-time address of what the dynamic linker is told.
    pub(super) dynamic: Option<u64>,
}

const PAGE: u64 = 4096;

/// Headers are looked for in so many bytes.
const HEAD: usize = 64 << 10;

impl Layout {
    pub(super) fn read(path: &Path) -> Option<Layout> {
        let file = File::open(path).ok()?;
        let mut head = vec![0; HEAD.min(file.metadata().ok()?.len() as usize)];
        file.read_exact_at(&mut head, 0).ok()?;
        let header = FileHeader64::<LE>::parse(head.as_slice()).ok()?;
        let mut layout = Layout::default();
        for program in header.program_headers(LE, head.as_slice()).ok()? {
            layout.add(program);
        }
        Some(layout)
    }

    fn add(&mut self, program: &ProgramHeader64<LE>) {
        match program.p_type(LE) {
            PT_LOAD => self.segments.push(Segment {
                offset: program.p_offset(LE),
                address: program.p_vaddr(LE),
                size: program.p_filesz(LE),
                executable: program.p_flags(LE).0 & PF_X.0 != 0,
                writable: program.p_flags(LE).0 & PF_W.0 != 0,
            }),
            PT_DYNAMIC => self.dynamic = Some(program.p_vaddr(LE)),
            PT_INTERP => self.has_interpreter = true,
            PT_TLS => {
                let align = program.p_align(LE).max(1);
                // The block ends at the thread pointer, its start as aligned as it asks for (variant II of the TLS ABI).
                let size = program.p_memsz(LE).wrapping_add(program.p_vaddr(LE) % align);
                self.tls = Some(size.next_multiple_of(align));
            }
            _ => {}
        }
    }

    /// Offset in the file of the byte at link-time address `address`.
    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        let holds = |s: &&Segment| address.checked_sub(s.address).is_some_and(|at| at < s.size);
        self.segments.iter().find(holds).map(|s| s.offset + (address - s.address))
    }

    /// Magic numbers in the file at `path`.
    pub(super) fn search(&self, path: &Path) -> Option<Rounding> {
        let file = File::open(path).ok()?;
        let mut found = Rounding::default();
        for segment in &self.segments {
            let mut bytes = vec![0; segment.size.min(file.metadata().ok()?.len()) as usize];
            file.read_exact_at(&mut bytes, segment.offset).ok()?;
            // Offset and address are aligned alike.
            let first = if segment.executable { 0 } else { segment.offset.wrapping_neg() as usize % 4 };
            found = found.or(magic_numbers::search(bytes.get(first..)?, segment.executable));
        }
        (!self.segments.is_empty()).then_some(found)
    }

    /// Distance of the file's addresses from its link-time addresses, if `file_offset` of its code is at `start`.
    pub(super) fn bias(&self, file_offset: u64, start: u64) -> Option<u64> {
        let floor = |x: u64| x - x % PAGE;
        let holds = |s: &&Segment| {
            (floor(s.offset)..s.offset.saturating_add(s.size).max(s.offset + 1)).contains(&file_offset)
        };
        let found = self.segments.iter().filter(holds);
        let segment = found.max_by_key(|s| s.executable)?;
        let address = floor(segment.address).wrapping_add(file_offset - floor(segment.offset));
        Some(start.wrapping_sub(address))
    }

    /// Link-time addresses of what cannot be written.
    pub(super) fn constants(&self) -> impl Iterator<Item = Range<u64>> {
        let constant = self.segments.iter().filter(|segment| !segment.writable);
        constant.map(|segment| segment.address..segment.address.saturating_add(segment.size))
    }

    /// Bytes from the start of the program's thread-local block to the thread pointer.
    pub(super) fn tls_size(&self) -> Option<u64> {
        self.tls
    }
}
