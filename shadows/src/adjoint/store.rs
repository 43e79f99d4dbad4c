//! The part of a tape that is on a disk: chunks one after the other in a file of the process's own.
//!
//! The file is open only while something is written or read: the program may close any descriptor, and what gets its
//! number next is none of ours. A forked child goes on in a file of its own, and reads what was written before in its
//! parent's.

use super::columns::{Columns, Run};
use super::loops::{Loop, Loops, Operand};
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
    /// Lengths of its columns.
    lengths: [usize; 13],
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

    /// Writes a chunk. The error names the file.
    pub(super) fn append(&mut self, columns: &Columns) -> io::Result<Place> {
        self.bytes.clear();
        let Columns { runs, kinds, near, operands, partials, sites, residuals, loops, .. } = columns;
        let heads = loops.heads.iter().flat_map(Loop::words);
        let terms = loops.operands.iter().flat_map(Operand::words);
        let long = runs.iter().flat_map(|run| [run.number, run.at]).chain(heads).chain(terms);
        let long = long.chain(loops.starts.iter().copied());
        self.bytes.extend(long.flat_map(u64::to_le_bytes));
        self.bytes.extend_from_slice(kinds);
        self.bytes.extend(near.iter().flat_map(|near| near.to_le_bytes()));
        let words = operands.iter().chain(sites);
        self.bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        self.bytes.extend(loops.distances.iter().flat_map(|distance| distance.to_le_bytes()));
        let doubles = partials.iter().chain(residuals).chain(&loops.partials).chain(&loops.constants);
        self.bytes.extend(doubles.flat_map(|number| number.to_le_bytes()));
        let process = std::process::id();
        let is_new = self.written.last().is_none_or(|written| written.process != process);
        if is_new {
            let path = self.dir.join(format!("shadowgrind-{process}.tape"));
            self.written.push(Written { path: path.into(), process, end: 0 });
        }
        let written = self.written.last_mut().expect("there is one now");
        let mut options = OpenOptions::new();
        options.write(true).create(is_new).truncate(is_new).mode(0o600);
        let write = |written: &Written| -> io::Result<()> {
            let mut file = options.open(&written.path)?;
            file.seek(SeekFrom::Start(written.end))?;
            file.write_all(&self.bytes)
        };
        write(written).map_err(|error| named(error, &written.path))?;
        let lengths = [
            runs.len(),
            kinds.len(),
            near.len(),
            operands.len(),
            sites.len(),
            partials.len(),
            residuals.len(),
            loops.heads.len(),
            loops.operands.len(),
            loops.distances.len(),
            loops.partials.len(),
            loops.constants.len(),
            loops.starts.len(),
        ];
        let place = Place { path: written.path.clone(), start: written.end, lengths };
        written.end += self.bytes.len() as u64;
        Ok(place)
    }

    /// Removes what this process has written.
    pub(super) fn discard(&mut self) {
        self.written.clear();
    }

    /// Reads a chunk back.
    pub(super) fn read(&self, place: &Place, into: &mut Columns) -> io::Result<()> {
        let [
            runs,
            kinds,
            near,
            operands,
            sites,
            partials,
            residuals,
            heads,
            terms,
            distances,
            values,
            constants,
            places,
        ] = place.lengths;
        let loops = 8 * Loop::WORDS * heads + size_of::<Operand>() * terms + 8 * places;
        let long = size_of::<Run>() * runs + loops;
        let words = 4 * (operands + sites + distances);
        let mut bytes =
            vec![0; long + kinds + 2 * near + words + 8 * (partials + residuals + values + constants)];
        let mut read = || -> io::Result<()> {
            let mut file = File::open(&place.path)?;
            file.seek(SeekFrom::Start(place.start))?;
            file.read_exact(&mut bytes)
        };
        read().map_err(|error| named(error, &place.path))?;
        let (long, rest) = bytes.split_at(long);
        let (first, rest) = rest.split_at(kinds);
        let (near, rest) = rest.split_at(2 * near);
        let (words, doubles) = rest.split_at(words);
        let long: Vec<u64> = long.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let (starts, long) = long.split_at(2 * runs);
        let (heads, long) = long.split_at(Loop::WORDS * heads);
        let (terms, places) = long.split_at(3 * terms);
        let mut words = words.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
        let mut doubles = doubles.as_chunks().0.iter().map(|&number| f64::from_le_bytes(number));
        into.clear();
        into.runs.extend(starts.as_chunks().0.iter().map(|&[number, at]| Run { number, at }));
        into.kinds.extend_from_slice(first);
        into.near.extend(near.as_chunks().0.iter().map(|&word| u16::from_le_bytes(word)));
        into.operands.extend(words.by_ref().take(operands));
        into.sites.extend(words.by_ref().take(sites));
        into.partials.extend(doubles.by_ref().take(partials));
        into.residuals.extend(doubles.by_ref().take(residuals));
        let heads = heads.as_chunks().0.iter().map(|&words| Loop::of_words(words)).collect();
        let terms = terms.as_chunks().0.iter().map(|&words| Operand::of_words(words)).collect();
        let distances = words.map(|word| word as i32).collect();
        let values = doubles.by_ref().take(values).collect();
        into.loops = Loops::of_columns(heads, terms, distances, [values, doubles.collect()], places.to_vec());
        Ok(())
    }
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
