//! Outputs of a run, in program order: tens of millions of records of forty bytes.
//!
//! Records are appended while the program runs and read back, in order, when a report is written. Full chunks go to a
//! file if one was given, so that a program that prints for hours does not fill memory. Knows nothing about what is
//! done with the records; folding repeated prints is the report's business.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use hashbrown::HashMap;
use serde::Serialize;

use super::record::{self, RECORD};
use super::value::Value;
use crate::site::Site;

/// Records per chunk: 640 KiB.
const CHUNK: u64 = 1 << 14;

/// Which way an output left the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// The printf family.
    Printf,
    /// `std::ostream`.
    Iostream,
    /// gfortran's write and print.
    Fortran,
    /// Python's float formatting.
    Python,
    /// Rust's float formatting.
    Rust,
    /// Named by `--output=SPEC`.
    Spec,
    /// Named by the program itself, by client request.
    Mark,
    /// In binary form, by `write` and its kin: the first float of each place stands for all that left there.
    Written,
}

impl OutputKind {
    /// Every kind, in the order of their records' bytes.
    pub const ALL: [OutputKind; 8] = [
        OutputKind::Printf,
        OutputKind::Iostream,
        OutputKind::Fortran,
        OutputKind::Python,
        OutputKind::Rust,
        OutputKind::Spec,
        OutputKind::Mark,
        OutputKind::Written,
    ];
}

/// The `--output` SPEC or the name of a mark, interned in [`Outputs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub(super) u32);

impl Label {
    /// No label: a printed float.
    pub const NONE: Label = Label(0);
}

/// What a shadow has to say about an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said<'a> {
    /// Nothing: no shadow was carried.
    Nothing,
    /// The forward derivative; 0 when the value was never shadowed.
    Dot(Value),
    /// The distance from the reals.
    Error {
        /// The real value in decimal digits, where the shadow knows it.
        real: Option<&'a str>,
        /// Error bits of the value; 0 when it was never shadowed.
        error_bits: f64,
        /// Decimal digits of the value that are right.
        correct_digits: f32,
    },
}

/// One float that left the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output<'a> {
    /// How it left.
    pub kind: OutputKind,
    /// Under which name, if it has one.
    pub label: Label,
    /// The value, in the format it had before any promotion for the call.
    pub value: Value,
    /// The instruction it left at: the call, for printed floats.
    pub site: Site,
    /// Which of the floats of one call this is, from 0: `printf("%g %g")` has two. Keeps columns of a printed table
    /// apart when repeated prints are folded.
    pub position: u16,
    /// The shadow's word.
    pub said: Said<'a>,
}

/// All outputs of a run. The index of an output is its place in the order they were pushed.
#[derive(Debug, Default)]
pub struct Outputs {
    labels: Vec<String>,
    label_of: HashMap<String, Label>,
    full: Vec<Stored>,
    last: Chunk<'static>,
    len: u64,
    spill: Option<Spill>,
}

/// A full chunk.
#[derive(Debug)]
enum Stored {
    Held(Chunk<'static>),
    Spilled { at: u64, reals: usize },
}

#[derive(Debug)]
struct Spill {
    file: File,
    end: u64,
}

impl Outputs {
    /// No outputs yet; all that come are kept in memory.
    pub fn new() -> Self {
        Outputs::default()
    }

    /// Full chunks go to `file`, which must be readable, writable and nobody else's: a forked child must start afresh.
    ///
    /// A write that fails (disk full) leaves the chunk in memory, and those after it.
    pub fn spill_to(&mut self, file: File) {
        self.spill = Some(Spill { file, end: 0 });
    }

    /// The label `name`, the same one each time.
    pub fn label(&mut self, name: &str) -> Label {
        if let Some(&label) = self.label_of.get(name) {
            return label;
        }
        self.labels.push(name.to_owned());
        let label = Label(u32::try_from(self.labels.len()).expect("fewer than 2^32 labels"));
        self.label_of.insert(name.to_owned(), label);
        label
    }

    /// The text of `label`; nothing for [`Label::NONE`].
    pub fn label_text(&self, label: Label) -> Option<&str> {
        self.labels.get((label.0 as usize).checked_sub(1)?).map(String::as_str)
    }

    /// Appends an output and returns its index.
    pub fn push(&mut self, output: &Output<'_>) -> u64 {
        record::encode(output, &mut self.last);
        self.len += 1;
        if self.len.is_multiple_of(CHUNK) {
            let full = std::mem::replace(&mut self.last, Chunk { first: self.len, ..Chunk::default() });
            let stored = self.store(full);
            self.full.push(stored);
        }
        self.len - 1
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when nothing was output.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All records in order, a chunk at a time; an error is that of reading the file they were spilled to.
    pub fn chunks(&self) -> impl Iterator<Item = io::Result<Chunk<'_>>> {
        let full = self.full.iter().enumerate().map(|(number, stored)| match stored {
            Stored::Held(chunk) => Ok(chunk.borrow()),
            Stored::Spilled { at, reals } => self.read_back(number as u64 * CHUNK, *at, *reals),
        });
        full.chain(std::iter::once(Ok(self.last.borrow())))
    }

    fn store(&mut self, chunk: Chunk<'static>) -> Stored {
        let Some(spill) = &mut self.spill else { return Stored::Held(chunk) };
        let at = spill.end;
        let written = spill.file.write_all_at(&chunk.records, at);
        match written.and_then(|()| spill.file.write_all_at(&chunk.reals, at + chunk.records.len() as u64)) {
            Ok(()) => {
                spill.end += (chunk.records.len() + chunk.reals.len()) as u64;
                Stored::Spilled { at, reals: chunk.reals.len() }
            }
            Err(_) => Stored::Held(chunk),
        }
    }

    fn read_back(&self, first: u64, at: u64, reals: usize) -> io::Result<Chunk<'_>> {
        let Some(spill) = &self.spill else { return Err(io::ErrorKind::NotFound.into()) };
        let mut records = vec![0; CHUNK as usize * RECORD];
        spill.file.read_exact_at(&mut records, at)?;
        let mut text = vec![0; reals];
        spill.file.read_exact_at(&mut text, at + records.len() as u64)?;
        Ok(Chunk { first, records: records.into(), reals: text.into() })
    }
}

/// Some consecutive outputs.
#[derive(Clone, Debug, Default)]
pub struct Chunk<'a> {
    first: u64,
    pub(super) records: Cow<'a, [u8]>,
    /// The decimal strings the records refer to, end to end.
    pub(super) reals: Cow<'a, [u8]>,
}

impl Chunk<'_> {
    /// The outputs with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Output<'_>)> {
        let (records, _) = self.records.as_chunks::<RECORD>();
        (self.first..).zip(records.iter().map(|record| record::decode(record, &self.reals)))
    }

    fn borrow(&self) -> Chunk<'_> {
        Chunk {
            first: self.first,
            records: Cow::Borrowed(self.records.as_ref()),
            reals: Cow::Borrowed(self.reals.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(value: f64, said: Said<'_>) -> Output<'_> {
        Output {
            kind: OutputKind::Printf,
            label: Label::NONE,
            value: value.into(),
            site: Site::NONE,
            position: 0,
            said,
        }
    }

    fn collect(outputs: &Outputs) -> Vec<(u64, f64, String)> {
        let mut all = Vec::new();
        for chunk in outputs.chunks() {
            for (index, o) in chunk.unwrap().iter() {
                let Said::Error { real: Some(real), .. } = o.said else { panic!("{o:?}") };
                all.push((index, o.value.to_f64(), real.to_owned()));
            }
        }
        all
    }

    fn scratch(name: &str) -> File {
        let path = std::env::temp_dir().join(format!("shadowgrind-{name}-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    fn fill(outputs: &mut Outputs, count: u64) {
        for i in 0..count {
            let real = format!("{i}.25");
            let said = Said::Error { real: Some(&real), error_bits: 1.5, correct_digits: 2.0 };
            assert_eq!(outputs.push(&output(i as f64, said)), i);
        }
    }

    #[test]
    fn labels_are_interned() {
        let mut outputs = Outputs::new();
        let (a, b) = (outputs.label("u[0]"), outputs.label("u[1]"));
        assert_eq!(outputs.label("u[0]"), a);
        assert_ne!(a, b);
        assert_eq!(outputs.label_text(b), Some("u[1]"));
        assert_eq!(outputs.label_text(Label::NONE), None);
    }

    #[test]
    fn spilled_records_read_back_like_held_ones() {
        let (mut held, mut spilled) = (Outputs::new(), Outputs::new());
        spilled.spill_to(scratch("spill"));
        let count = 2 * CHUNK + 7;
        fill(&mut held, count);
        fill(&mut spilled, count);
        assert!(spilled.full.iter().all(|s| matches!(s, Stored::Spilled { .. })));
        assert_eq!(spilled.len(), count);
        assert_eq!(collect(&spilled), collect(&held));
        assert_eq!(collect(&held)[CHUNK as usize].2, format!("{CHUNK}.25"));
    }

    #[test]
    fn a_file_that_takes_nothing_loses_nothing() {
        let mut outputs = Outputs::new();
        outputs.spill_to(File::open("/dev/null").unwrap());
        fill(&mut outputs, CHUNK + 1);
        assert_eq!(collect(&outputs).len() as u64, CHUNK + 1);
    }
}
