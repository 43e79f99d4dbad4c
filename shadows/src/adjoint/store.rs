//! The part of a tape that is on a disk: chunks one after the other in a file of the process's own.
//!
//! The file is open only while something is written or read: the program may close any descriptor, and what gets its
//! number next is none of ours. A forked child goes on in a file of its own, and reads what was written before in its
//! parent's.

use super::columns::{Columns, Run};
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
    lengths: [usize; 7],
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
        let runs = columns.runs.iter().flat_map(|run| [run.number, run.at]);
        self.bytes.extend(runs.flat_map(u64::to_le_bytes));
        self.bytes.extend_from_slice(&columns.kinds);
        self.bytes.extend(columns.near.iter().flat_map(|near| near.to_le_bytes()));
        let words = columns.operands.iter().chain(&columns.sites);
        self.bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        let doubles = columns.partials.iter().chain(&columns.residuals);
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
        let Columns { runs, kinds, near, operands, partials, sites, residuals, .. } = columns;
        let lengths = [
            runs.len(),
            kinds.len(),
            near.len(),
            operands.len(),
            sites.len(),
            partials.len(),
            residuals.len(),
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
        let [runs, kinds, near, operands, sites, partials, residuals] = place.lengths;
        let mut bytes = vec![
            0;
            size_of::<Run>() * runs
                + kinds
                + 2 * near
                + 4 * (operands + sites)
                + 8 * (partials + residuals)
        ];
        let mut read = || -> io::Result<()> {
            let mut file = File::open(&place.path)?;
            file.seek(SeekFrom::Start(place.start))?;
            file.read_exact(&mut bytes)
        };
        read().map_err(|error| named(error, &place.path))?;
        let (starts, rest) = bytes.split_at(size_of::<Run>() * runs);
        let (first, rest) = rest.split_at(kinds);
        let (near, rest) = rest.split_at(2 * near);
        let mut starts = starts.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
        let (words, doubles) = rest.split_at(4 * (operands + sites));
        let mut words = words.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
        let mut doubles = doubles.as_chunks().0.iter().map(|&number| f64::from_le_bytes(number));
        into.clear();
        while let (Some(number), Some(at)) = (starts.next(), starts.next()) {
            into.runs.push(Run { number, at });
        }
        into.kinds.extend_from_slice(first);
        into.near.extend(near.as_chunks().0.iter().map(|&word| u16::from_le_bytes(word)));
        into.operands.extend(words.by_ref().take(operands));
        into.sites.extend(words);
        into.partials.extend(doubles.by_ref().take(partials));
        into.residuals.extend(doubles);
        Ok(())
    }
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
