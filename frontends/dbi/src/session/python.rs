//! Lines of Python that run: read from the interpreter's own structures in the program's memory.
//!
//! The structures are those of CPython 3.9 to 3.13 for this platform: `_PyRuntimeState`, `PyThreadState`, the frame, which is
//! `PyFrameObject` up to 3.10 and `_PyInterpreterFrame` since, `PyCodeObject` and its table of lines. Whatever does not look
//! like them has no lines. Knows nothing of machine code.

mod lines;
mod objects;

pub(super) use objects::NoFloats;

use crate::hooks::machine::{Machine, read_bytes, read_u64};
use shadowgrind_core::site::ScriptLine;
use shadowgrind_symbols::SymbolFile;
use std::path::Path;

/// Offsets of fields in one version's structures, in bytes.
#[derive(Debug)]
struct Layout {
    /// Runtime: the first interpreter.
    interpreters: u64,
    /// Interpreter: its first thread.
    threads: u64,
    /// Thread: its number, which is the thread pointer.
    thread_id: u64,
    /// Thread: what leads to the innermost frame, by further pointers at these offsets.
    frame: &'static [u64],
    /// Frame: its code, its place in the code, its caller.
    code: u64,
    instruction: u64,
    previous: u64,
    /// Code: the first line and the table of lines.
    first_line: u64,
    lines: u64,
    /// Code: the file, which the name follows.
    file: u64,
    table: lines::Table,
    /// Table of a dictionary's keys.
    keys: objects::Keys,
    /// Size of `PyASCIIObject`, and of `PyCompactUnicodeObject`: characters follow.
    text: [u64; 2],
}

/// Thread: the next one.
const NEXT_THREAD: u64 = 8;
/// Threads that are looked through.
const THREADS: usize = 4096;
/// `PyASCIIObject`: length and state.
const TEXT_LENGTH: u64 = 16;
const TEXT_STATE: u64 = 32;
/// Longest name that is believed, in characters.
const LONGEST: u64 = 4096;

/// Fields of 3.9.
const OLDEST: Layout = Layout {
    interpreters: 32,
    threads: 8,
    thread_id: 176,
    frame: &[24],
    code: 32,
    instruction: 104,
    previous: 24,
    first_line: 40,
    lines: 120,
    file: 104,
    table: lines::Table::Deltas,
    keys: objects::Keys::Counted,
    text: [48, 72],
};
/// Fields of 3.11, whose frames are no objects any more.
const WITHOUT_OBJECTS: Layout = Layout {
    interpreters: 40,
    threads: 16,
    thread_id: 152,
    frame: &[56, 8],
    instruction: 56,
    previous: 48,
    first_line: 72,
    lines: 136,
    file: 112,
    keys: objects::Keys::Logarithmic,
    table: lines::Table::Locations { code: 184 },
    ..OLDEST
};
/// Fields of 3.12.
const NEWER: Layout = Layout {
    threads: 72,
    thread_id: 136,
    frame: &[56, 0],
    code: 0,
    previous: 8,
    first_line: 68,
    table: lines::Table::Locations { code: 192 },
    text: [40, 56],
    ..WITHOUT_OBJECTS
};
/// Fields of 3.9 to 3.13.
const LAYOUTS: [Layout; 5] = [
    OLDEST,
    Layout { instruction: 96, table: lines::Table::Ranges, ..OLDEST },
    WITHOUT_OBJECTS,
    NEWER,
    Layout {
        interpreters: 632,
        threads: 7344,
        thread_id: 152,
        frame: &[72],
        table: lines::Table::Locations { code: 200 },
        ..NEWER
    },
];
/// Minor version of the first.
const FIRST: usize = 9;

/// Link-time address of the interpreter's state, if `file` holds an interpreter.
pub(super) fn runtime(file: &SymbolFile) -> Option<u64> {
    const RUNTIME: &str = "_PyRuntime";
    minor_version(file.path())?;
    file.symbols().ok()?.find(|symbol| symbol.name == RUNTIME).map(|symbol| symbol.address)
}

/// Minor version of the interpreter in a file that is called like `python3.11` or `libpython3.11.so.1.0`.
fn minor_version(path: &Path) -> Option<usize> {
    let (_, version) = path.file_name()?.to_str()?.split_once("python3.")?;
    let end = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().ok()
}

/// An interpreter in the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Python {
    layout: &'static Layout,
    /// Address of its state.
    runtime: u64,
}

impl Python {
    /// The interpreter in the file at `path`, whose state is at `runtime`, if its version is known.
    pub(super) fn of(path: &Path, runtime: u64) -> Option<Python> {
        let layout = LAYOUTS.get(minor_version(path)?.checked_sub(FIRST)?)?;
        Some(Python { layout, runtime })
    }

    /// The lines that the thread is in, from the innermost outwards, at most so many. Code of the interpreter itself that is
    /// written in Python and frozen has no file, and is left out.
    pub(super) fn lines(&self, m: &dyn Machine, most: usize) -> Vec<ScriptLine> {
        const FRAMES: usize = 256;
        let mut lines = Vec::new();
        let mut frame = self.innermost(m).unwrap_or(0);
        for _ in 0..FRAMES {
            if frame == 0 || lines.len() == most {
                break;
            }
            lines.extend(self.line(m, frame).filter(|line| !line.file.starts_with('<')));
            frame = read_u64(m, frame + self.layout.previous).unwrap_or(0);
        }
        lines
    }

    /// The file that the code object at `code` was made from.
    pub(super) fn file_of(&self, m: &dyn Machine, code: u64) -> Option<String> {
        self.text(m, read_u64(m, code + self.layout.file).ok()?)
    }

    /// The innermost frame of this thread.
    fn innermost(&self, m: &dyn Machine) -> Option<u64> {
        let read = |at: u64| read_u64(m, at).ok().filter(|&pointer| pointer != 0);
        let interpreter = read(self.runtime + self.layout.interpreters)?;
        let mut thread = read(interpreter + self.layout.threads)?;
        for _ in 0..THREADS {
            if read(thread + self.layout.thread_id) == Some(m.thread_pointer()) {
                return self.layout.frame.iter().try_fold(thread, |at, offset| read(at + offset));
            }
            thread = read(thread + NEXT_THREAD)?;
        }
        None
    }

    /// Line of a frame; nothing for one that is only the interpreter's call of itself.
    fn line(&self, m: &dyn Machine, frame: u64) -> Option<ScriptLine> {
        let Layout { first_line, lines, file, table, .. } = *self.layout;
        let code = read_u64(m, frame + self.layout.code).ok()?;
        let instruction = read_bytes(m, frame + self.layout.instruction).ok()?;
        let place = table.place(instruction, code)?;
        let first = i32::from_le_bytes(read_bytes(m, code + first_line).ok()?);
        let rows = bytes_object(m, read_u64(m, code + lines).ok()?)?;
        let line = u32::try_from(table.line(&rows, first.into(), place)?).ok()?;
        let text = |at| self.text(m, read_u64(m, code + at).ok()?);
        Some(ScriptLine { file: text(file)?, function: text(file + 8)?, line })
    }

    /// Characters of a `str`.
    fn text(&self, m: &dyn Machine, object: u64) -> Option<String> {
        let length = read_u64(m, object + TEXT_LENGTH).ok().filter(|&length| length <= LONGEST)? as usize;
        let [state] = read_bytes(m, object + TEXT_STATE).ok()?;
        // Bits of the state: interned 0–1, kind 2–4, compact 5, ASCII 6.
        let (kind, is_compact, is_ascii) =
            (usize::from(state >> 2 & 7), state >> 5 & 1 == 1, state >> 6 & 1 == 1);
        if !is_compact || !matches!(kind, 1 | 2 | 4) {
            return None;
        }
        let mut bytes = vec![0; length * kind];
        m.read(object + self.layout.text[usize::from(!is_ascii)], &mut bytes).ok()?;
        let character = |bytes: &[u8]| {
            let code = bytes.iter().rev().fold(0, |code, &byte| code << 8 | u32::from(byte));
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        Some(bytes.chunks(kind).map(character).collect())
    }
}

/// Bytes of a `bytes` object.
fn bytes_object(m: &dyn Machine, object: u64) -> Option<Vec<u8>> {
    const SIZE: u64 = 16;
    const VALUE: u64 = 32;
    const MOST: u64 = 1 << 20;
    let size = read_u64(m, object + SIZE).ok().filter(|&size| size <= MOST)?;
    let mut bytes = vec![0; size as usize];
    m.read(object + VALUE, &mut bytes).ok()?;
    Some(bytes)
}
