//! Loading: an ELF program and its interpreter are mapped, the vDSO is copied, and the initial stack is built as the
//! kernel's `execve` would.
//!
//! Runs nothing. Header checks are in `elf`, finding the file in `program`.

mod stack;

use super::elf::{self, ElfError, Image, Segment};
use super::layout::{self, STACK_END, STACK_LARGEST, page_ceil, page_floor};
use super::space::{Purpose, Region, Space};
use super::{guest, stack_limit, sys};
use stack::{Auxv, build_stack};
use std::ffi::{CString, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// Reason why a program could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The program file itself.
    Elf(ElfError),
    /// The interpreter it names.
    Interpreter(OsString, ElfError),
    /// Program that insists on addresses that it cannot have here.
    Address {
        /// First address.
        start: u64,
        /// One past the last.
        end: u64,
    },
    /// The kernel refused memory: errno.
    Memory(i32),
    /// Program built with AddressSanitizer, which wants the guest's data range at addresses of its own.
    Sanitizer,
    /// Arguments and environment exceed what fits on the stack.
    TooLong,
}

impl LoadError {
    /// Tells whether a file is missing, as far as the kernel is concerned: then it says so of the program.
    pub(crate) fn is_missing_file(&self) -> bool {
        matches!(self, LoadError::Interpreter(_, ElfError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Elf(error) => write!(f, "{error}"),
            LoadError::Interpreter(path, error) => {
                write!(f, "its interpreter {}: {error}", path.to_string_lossy())
            }
            LoadError::Address { start, end } => {
                write!(f, "linked at {start:#x}-{end:#x}, which shadowgrind needs for itself")
            }
            LoadError::Memory(errno) => {
                let error = std::io::Error::from_raw_os_error(*errno);
                write!(f, "no memory to load it: {error} (is there a limit on address space?)")
            }
            LoadError::Sanitizer => {
                write!(f, "built with AddressSanitizer, whose memory layout cannot be had here")
            }
            LoadError::TooLong => write!(f, "argument list too long"),
        }
    }
}

/// A program as loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Guest address of the program's own first instruction.
    pub(crate) entry: u64,
    /// Guest address to start at.
    pub(crate) start: u64,
    /// Initial guest stack pointer.
    pub(crate) stack_pointer: u64,
    /// The interpreter's text, start and end; empty without one. Its mappings are made by `ld.so` for libraries.
    pub(crate) interpreter: (u64, u64),
    /// The guest's vDSO: the copy's range and the original's address.
    pub(crate) vdso: Vdso,
    /// The range that the heap may grow into.
    pub(crate) heap: (u64, u64),
    /// The stack's range.
    pub(crate) stack: (u64, u64),
    /// The auxiliary vector's range.
    pub(crate) auxv: (u64, u64),
    /// Executable mappings of the program and its interpreter.
    pub(crate) code: Vec<Code>,
}

/// An executable mapping of a file.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// The interpreter's path; none for the program itself.
    pub(crate) interpreter: Option<OsString>,
    /// Offset in the file.
    pub(crate) offset: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The guest's copy of the vDSO. Its data stays where the kernel updates it, beside the original.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vdso {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) original: u64,
}

impl Vdso {
    /// The address that vDSO code at `pc` means by a rip-relative `address`.
    pub(crate) fn data_address(&self, pc: u64, address: u64) -> u64 {
        let inside = |a| self.start <= a && a < self.end;
        if inside(pc) && !inside(address) {
            address.wrapping_sub(self.start).wrapping_add(self.original)
        } else {
            address
        }
    }
}

/// Arguments, environment and facts that the new program is given.
pub(crate) struct Arguments {
    pub(crate) argv: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    /// The path it was executed by (`AT_EXECFN`).
    pub(crate) filename: CString,
}

struct Mapped {
    bias: u64,
    entry: u64,
    headers: u64,
    end: u64,
    start: u64,
    /// Executable mappings of the file: its offset, and the range.
    code: Vec<(u64, u64, u64)>,
}

impl Mapped {
    fn code(&self, interpreter: Option<&OsString>) -> impl Iterator<Item = Code> {
        let interpreter = interpreter.cloned();
        self.code.iter().map(move |&(offset, start, end)| Code {
            interpreter: interpreter.clone(),
            offset,
            start,
            end,
        })
    }
}

/// Loads the program in `file` into `space`.
pub(crate) fn load(file: &File, arguments: &Arguments, space: &mut Space) -> Result<Loaded, LoadError> {
    let image = elf::read(file).map_err(LoadError::Elf)?;
    let heap = layout::heap((!image.relocatable).then(|| image.span().1));
    space.keep_for_heap(heap);
    let program = map_image(file, &image, space)?;
    if names_sanitizer(&image, &program) {
        return Err(LoadError::Sanitizer);
    }
    let interpreter = match &image.interpreter {
        Some(path) => Some(load_interpreter(path, space)?),
        None => None,
    };
    let vdso = copy_vdso(space)?;
    let stack = map_stack(image.executable_stack, space)?;
    let auxv = Auxv { image: &image, program: &program, interpreter: interpreter.as_ref(), vdso };
    let (stack_pointer, auxv) = build_stack(stack, arguments, &auxv)?;
    Ok(Loaded {
        entry: program.entry,
        start: interpreter.as_ref().map_or(program.entry, |i| i.entry),
        stack_pointer,
        interpreter: interpreter.as_ref().map_or((0, 0), |i| (i.start, i.end)),
        vdso,
        heap,
        stack,
        auxv,
        code: program
            .code(None)
            .chain(interpreter.iter().flat_map(|i| i.code(image.interpreter.as_ref())))
            .collect(),
    })
}

/// Tells whether the program's dynamic symbol names include AddressSanitizer's entry: such a program would only find
/// out at run time, in many words, that its shadow memory is taken.
fn names_sanitizer(image: &Image, program: &Mapped) -> bool {
    const DT_STRTAB: u64 = 5;
    const DT_STRSZ: u64 = 10;
    const MOST_ENTRIES: u64 = 200;
    const ENTRY_POINT: &[u8] = b"__asan_init";
    let Some(table) = image.dynamic else { return false };
    let value_of = |tag: u64| {
        let entries = (0..MOST_ENTRIES).map(|index| program.bias.wrapping_add(table + 16 * index));
        let mut entries =
            entries.map_while(|at| guest::read::<[u64; 2]>(at).ok()).take_while(|pair| pair[0] != 0);
        entries.find(|pair| pair[0] == tag).map(|pair| pair[1])
    };
    let (Some(names), Some(size)) = (value_of(DT_STRTAB), value_of(DT_STRSZ)) else { return false };
    let size = size.min(program.end - program.start) as usize;
    let names = guest::read_bytes(program.bias.wrapping_add(names), size).unwrap_or_default();
    names.windows(ENTRY_POINT.len()).any(|name| name == ENTRY_POINT)
}

fn load_interpreter(path: &OsString, space: &mut Space) -> Result<Mapped, LoadError> {
    let wrap = |error| LoadError::Interpreter(path.clone(), error);
    let file = File::open(path).map_err(|error| wrap(ElfError::Io(error)))?;
    let image = elf::read(&file).map_err(wrap)?;
    map_image(&file, &image, space)
}

fn map_image(file: &File, image: &Image, space: &mut Space) -> Result<Mapped, LoadError> {
    let (low, high) = image.span();
    let start = place(image, space)?;
    let end = start + (high - low);
    sys::map_at(start, high - low, libc::PROT_NONE).map_err(LoadError::Memory)?;
    let none = Region { prot: libc::PROT_NONE, shared: false, file: true, grows_down: false };
    space.insert(start, end, none);
    let bias = start.wrapping_sub(low);
    let mut code = Vec::new();
    for segment in &image.segments {
        map_segment(file, segment, bias, space)?;
        if segment.prot & libc::PROT_EXEC != 0 && segment.file_size > 0 {
            let start = segment.address.wrapping_add(bias);
            let range = (page_floor(start), page_ceil(start + segment.file_size));
            code.push((page_floor(segment.file_offset), range.0, range.1));
        }
    }
    Ok(Mapped {
        bias,
        entry: image.entry.wrapping_add(bias),
        headers: image.headers_address.map_or(0, |address| address.wrapping_add(bias)),
        start,
        end,
        code,
    })
}

/// Chooses where the image's first page goes.
fn place(image: &Image, space: &mut Space) -> Result<u64, LoadError> {
    let (low, high) = image.span();
    if !image.relocatable {
        return if space.is_free(low, high) {
            Ok(low)
        } else {
            Err(LoadError::Address { start: low, end: high })
        };
    }
    let slack = image.align();
    let at = space.pick(high - low + slack, Purpose::Code).ok_or(LoadError::Memory(libc::ENOMEM))?;
    Ok(at.next_multiple_of(image.align()) + low % image.align())
}

fn map_segment(file: &File, segment: &Segment, bias: u64, space: &mut Space) -> Result<(), LoadError> {
    let address = segment.address.wrapping_add(bias);
    let start = page_floor(address);
    let file_end = address + segment.file_size;
    let memory_end = page_ceil(address + segment.memory_size);
    let fixed = libc::MAP_PRIVATE | libc::MAP_FIXED;
    let mut anonymous_start = start;
    if segment.file_size > 0 {
        let offset = page_floor(segment.file_offset);
        anonymous_start = page_ceil(file_end);
        // SAFETY: the range lies inside the image's own reservation.
        unsafe { sys::mmap(start, file_end - start, segment.prot, fixed, file.as_raw_fd(), offset) }
            .map_err(LoadError::Memory)?;
    }
    if memory_end > anonymous_start {
        let flags = fixed | libc::MAP_ANONYMOUS;
        let len = memory_end - anonymous_start;
        // SAFETY: as above.
        unsafe { sys::mmap(anonymous_start, len, segment.prot, flags, -1, 0) }.map_err(LoadError::Memory)?;
    }
    space.insert(
        start,
        memory_end,
        Region { prot: segment.prot, shared: false, file: true, grows_down: false },
    );
    clear_rest(segment, file_end, anonymous_start.min(memory_end))
}

/// Clears the rest of the last file page of a segment, at `start..end`, which is part of .bss.
fn clear_rest(segment: &Segment, start: u64, end: u64) -> Result<(), LoadError> {
    let has_rest = segment.memory_size > segment.file_size && segment.file_size > 0;
    if has_rest && segment.prot & libc::PROT_WRITE != 0 {
        let zeros = vec![0; (end - start) as usize];
        guest::write_bytes(start, &zeros).map_err(|_| LoadError::Memory(libc::EFAULT))?;
    }
    Ok(())
}

fn copy_vdso(space: &mut Space) -> Result<Vdso, LoadError> {
    // SAFETY: reads the process's own auxiliary vector.
    let original = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
    if original == 0 {
        return Ok(Vdso::default());
    }
    let len = page_ceil(vdso_bytes(original).ok_or(LoadError::Memory(libc::EFAULT))?);
    let bytes = guest::read_bytes(original, len as usize).map_err(|_| LoadError::Memory(libc::EFAULT))?;
    let start = space.pick(len, Purpose::Code).ok_or(LoadError::Memory(libc::ENOMEM))?;
    sys::map_at(start, len, libc::PROT_READ | libc::PROT_WRITE).map_err(LoadError::Memory)?;
    guest::write_bytes(start, &bytes).map_err(|_| LoadError::Memory(libc::EFAULT))?;
    let prot = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: the pages were just mapped for this purpose.
    unsafe { sys::syscall(libc::SYS_mprotect as u64, [start, len, prot as u64, 0, 0, 0]) };
    space.insert(start, start + len, Region { prot, shared: false, file: true, grows_down: false });
    Ok(Vdso { start, end: start + len, original })
}

/// Length of the vDSO's image: its section headers come last.
fn vdso_bytes(original: u64) -> Option<u64> {
    const SECTION_HEADERS_OFFSET: u64 = 40;
    const SECTION_HEADER_SIZE_AND_COUNT: u64 = 58;
    let offset: u64 = guest::read(original + SECTION_HEADERS_OFFSET).ok()?;
    let [size, count]: [u16; 2] = guest::read(original + SECTION_HEADER_SIZE_AND_COUNT).ok()?;
    Some(offset + u64::from(size) * u64::from(count))
}

/// Maps the initial stack: as large as the limit allows it to grow, backed only where touched; less where another limit
/// refuses that.
fn map_stack(executable: bool, space: &mut Space) -> Result<(u64, u64), LoadError> {
    const SMALLEST: u64 = 1 << 20;
    const USUAL: u64 = 8 << 20;
    let mut len = page_ceil(stack_limit::current().clamp(SMALLEST, STACK_LARGEST));
    let prot = libc::PROT_READ | libc::PROT_WRITE | if executable { libc::PROT_EXEC } else { 0 };
    while let Err(errno) = sys::map_at(STACK_END - len, len, prot) {
        if len <= USUAL {
            return Err(LoadError::Memory(errno));
        }
        len = page_ceil(len / 2);
    }
    let start = STACK_END - len;
    space.insert(start, STACK_END, Region { prot, shared: false, file: false, grows_down: false });
    Ok((start, STACK_END))
}

/// The path as a C string; paths from the command line or `execve` never contain NUL.
pub(crate) fn c_path(path: &std::path::Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}
