//! The part of a tape that is on a disk: chunks one after the other in a file of the process's own.
//!
//! The file is open only while something is written or read: the program may close any descriptor, and what gets its
//! number next is none of ours. A forked child goes on in a file of its own, and reads what was written before in its
//! parent's.

use super::columns::{Columns, Run};
use super::loops::{Loop, Operand};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that was written.
#[derive(Debug)]
struct Written {
    path: Arc<Path>,
    process: u32,
    end: u64,
}

impl Written {
    /// Writes at the end of the file, which is made if it `is_new`.
    fn append(&self, bytes: &[u8], is_new: bool) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(is_new).truncate(is_new).mode(0o600);
        let mut file = options.open(&self.path)?;
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(bytes)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Place of a chunk.
#[derive(Debug)]
pub(super) struct Place {
    path: Arc<Path>,
    start: u64,
    bytes: usize,
    /// Lengths of its columns.
    lengths: [usize; COLUMNS],
}

/// Number of columns of a chunk.
const COLUMNS: usize = 13;

/// The columns of a chunk, in the order in which they are in a file.
fn columns_of(chunk: &mut Columns) -> [&mut dyn Column; COLUMNS] {
    let Columns { runs, kinds, near, operands, partials, sites, residuals, loops, .. } = chunk;
    [
        runs,
        kinds,
        near,
        operands,
        partials,
        sites,
        residuals,
        &mut loops.heads,
        &mut loops.operands,
        &mut loops.distances,
        &mut loops.partials,
        &mut loops.constants,
        &mut loops.starts,
    ]
}

/// Part of a tape that is in a file.
#[derive(Debug)]
pub(super) struct Store {
    dir: PathBuf,
    written: Vec<Written>,
    bytes: Vec<u8>,
}

impl Store {
    /// Nothing in `dir` yet.
    pub(super) fn new(dir: PathBuf) -> Store {
        Store { dir, written: Vec::new(), bytes: Vec::new() }
    }

    /// Writes a chunk, which is left as it is. The error names the file.
    pub(super) fn append(&mut self, chunk: &mut Columns) -> io::Result<Place> {
        self.bytes.clear();
        let columns = columns_of(chunk);
        columns.iter().for_each(|column| column.put(&mut self.bytes));
        let lengths = columns.map(|column| column.count());
        let process = std::process::id();
        let is_new = self.written.last().is_none_or(|written| written.process != process);
        if is_new {
            let path = self.dir.join(format!("shadowgrind-{process}.tape"));
            self.written.push(Written { path: path.into(), process, end: 0 });
        }
        let written = self.written.last_mut().expect("there is one now");
        written.append(&self.bytes, is_new).map_err(|error| named(error, &written.path))?;
        let (start, bytes) = (written.end, self.bytes.len());
        written.end += bytes as u64;
        Ok(Place { path: written.path.clone(), start, bytes, lengths })
    }

    /// Removes what this process has written.
    pub(super) fn discard(&mut self) {
        self.written.clear();
    }

    /// Reads a chunk back. The error names the file.
    pub(super) fn read(&self, place: &Place, into: &mut Columns) -> io::Result<()> {
        let mut bytes = vec![0; place.bytes];
        let mut read = || -> io::Result<()> {
            let mut file = File::open(&place.path)?;
            file.seek(SeekFrom::Start(place.start))?;
            file.read_exact(&mut bytes)
        };
        read().map_err(|error| named(error, &place.path))?;
        into.clear();
        let mut rest = &bytes[..];
        for (column, count) in columns_of(into).into_iter().zip(place.lengths) {
            rest = column.take(count, rest);
        }
        Ok(())
    }
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Elements of one type, as bytes.
trait Column {
    fn count(&self) -> usize;
    /// Appends the bytes of all.
    fn put(&self, into: &mut Vec<u8>);
    /// Appends so many from the start of `bytes`. The bytes after them.
    fn take<'a>(&mut self, count: usize, bytes: &'a [u8]) -> &'a [u8];
}

impl<E: Element> Column for Vec<E> {
    fn count(&self) -> usize {
        self.len()
    }

    fn put(&self, into: &mut Vec<u8>) {
        self.iter().for_each(|element| into.extend_from_slice(element.bytes().as_ref()));
    }

    fn take<'a>(&mut self, count: usize, bytes: &'a [u8]) -> &'a [u8] {
        let (own, rest) = bytes.split_at(count * size_of::<E::Bytes>());
        let elements = own.chunks_exact(size_of::<E::Bytes>());
        self.extend(elements.map(|bytes| E::of(bytes.try_into().ok().expect("bytes of one"))));
        rest
    }
}

/// Element of a column.
trait Element {
    type Bytes: AsRef<[u8]> + for<'a> TryFrom<&'a [u8]>;

    fn bytes(&self) -> Self::Bytes;
    fn of(bytes: Self::Bytes) -> Self;
}

/// Numbers are their bytes, the lowest first.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Element for $number {
            type Bytes = [u8; size_of::<$number>()];

            fn bytes(&self) -> Self::Bytes {
                self.to_le_bytes()
            }

            fn of(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
        }
    )*};
}

numbers!(u8, u16, u32, i32, u64, f64);

/// Others are words.
macro_rules! words {
    ($($element:ty),*) => {$(
        impl Element for $element {
            type Bytes = [u8; 8 * <$element>::WORDS];

            fn bytes(&self) -> Self::Bytes {
                let mut bytes = [0; 8 * <$element>::WORDS];
                let places = bytes.as_chunks_mut().0.iter_mut();
                places.zip(self.words()).for_each(|(place, word)| *place = word.to_le_bytes());
                bytes
            }

            fn of(bytes: Self::Bytes) -> Self {
                let mut words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
                Self::of_words(std::array::from_fn(|_| words.next().expect("a word of each")))
            }
        }
    )*};
}

words!(Run, Loop, Operand);
