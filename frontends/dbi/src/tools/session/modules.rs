//! The files that hold the program's code: where their functions of a meaning are, and where they are loaded.

use super::magic_numbers;
use super::wrappers::{Code, Wrapped};
use crate::tools::hooks::{self, Hook, Library};
use crate::x86::rounding::Rounding;
use hashbrown::HashSet;
use object::LittleEndian as LE;
use object::elf::{FileHeader64, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD, PT_TLS, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use shadowgrind_core::site::Module;
use shadowgrind_reports::symbols::{OpenError, SymbolFile, SymbolKind};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a hooked function means.
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

/// What the session knows about a file.
#[derive(Debug)]
pub(super) struct ModuleFile {
    /// Its path without symbolic links.
    pub(super) canonical: PathBuf,
    /// It is what the user runs, not a library.
    pub(super) is_program: bool,
    pub(super) module: Module,
    pub(super) layout: Layout,
    pub(super) hooked: Vec<Hooked>,
    path: PathBuf,
    /// Searched for when code of the file is annotated.
    rounding: OnceLock<Rounding>,
}

impl ModuleFile {
    /// Reads the file at `path`; one that cannot be read holds nothing of meaning. `program` is what the user runs, by
    /// whatever path.
    pub(super) fn read(path: &str, program: &Path) -> ModuleFile {
        let canonical = Path::new(path).canonicalize().unwrap_or_else(|_| path.into());
        let is_program = canonical == program;
        let layout = Layout::read(Path::new(path)).unwrap_or_default();
        let unknown = Module { path: path.to_owned(), build_id: None };
        let (module, hooked) = match SymbolFile::open(Path::new(path)) {
            Ok(file) => {
                let module = Module { build_id: file.build_id(), ..unknown };
                let is_static = is_program && !layout.has_interpreter;
                let mut hooked = hooked(&file, is_static).unwrap_or_default();
                if let Ok(code) = File::open(path) {
                    add_wrapped(&mut hooked, &Code::new(&code, &layout));
                }
                (module, hooked)
            }
            Err(_) => (unknown, Vec::new()),
        };
        let (path, rounding) = (path.into(), OnceLock::new());
        ModuleFile { canonical, is_program, module, layout, hooked, path, rounding }
    }

    /// For which formats its code may round by a magic number: any, if it cannot be read any more.
    pub(super) fn rounding(&self) -> Rounding {
        *self.rounding.get_or_init(|| self.layout.search(&self.path).unwrap_or(Rounding::ANY))
    }
}

fn hooked(file: &SymbolFile, is_static: bool) -> Result<Vec<Hooked>, OpenError> {
    let library = Library::of(file, is_static)?;
    let mut found = Vec::new();
    for symbol in file.symbols()? {
        let is_ifunc = symbol.kind == SymbolKind::Ifunc;
        if symbol.address == 0 || !is_ifunc && symbol.kind != SymbolKind::Function {
            continue;
        }
        if let Some(hook) = hooks::of(&symbol, &library) {
            let symbol_name = symbol.name.to_owned();
            found.push(Hooked { address: symbol.address, hook, symbol: symbol_name, is_ifunc });
        }
    }
    // Of several names, the one without underscores is what people know.
    found.sort_by_key(|function| (function.address, function.symbol.starts_with('_')));
    found.dedup_by_key(|h| h.address);
    Ok(found)
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

/// A loadable segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    address: u64,
    size: u64,
    executable: bool,
}

/// What the program headers say.
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
    fn read(path: &Path) -> Option<Layout> {
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

    /// Where in the file the byte at link-time address `address` is.
    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        let holds = |s: &&Segment| address.checked_sub(s.address).is_some_and(|at| at < s.size);
        self.segments.iter().find(holds).map(|s| s.offset + (address - s.address))
    }

    /// Which magic numbers are in the file at `path`.
    fn search(&self, path: &Path) -> Option<Rounding> {
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

    /// How far above its link-time addresses the file is, if `file_offset` of its code is at `start`.
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

    /// Bytes from the start of the program's thread-local block to the thread pointer.
    pub(super) fn tls_size(&self) -> Option<u64> {
        self.tls
    }
}
