//! Traces: what each operation of a run has computed, with its derivative, in a file for another process to compare.
//!
//! The file is little-endian: `SGTRACE1`, the number of places, each place as its length and text, then 24 bytes for each
//! record: the number of its place, 1 for a result or 0 for a comparison, the result, its derivative. Sites are written by
//! module and offset, since their numbers are a process's own.

use std::io::{self, Write};

use hashbrown::HashMap;
use shadowgrind_core::shadow::Traced;
use shadowgrind_core::site::{Site, SiteTable};

use crate::document::{Symbols, place};
use crate::words;

const MAGIC: &[u8; 8] = b"SGTRACE1";
const RECORD: usize = 24;

/// Trace as it is read back.
#[derive(Debug, Default)]
pub struct Trace {
    /// Places, each as its identity in the program and as people read it, with a tab between.
    pub places: Vec<String>,
    /// Records in the order of execution.
    pub records: Vec<Record>,
}

/// Operation or comparison that was executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Number of its place.
    pub place: u32,
    /// True for a comparison, which has no result.
    pub compares: bool,
    /// The result.
    pub value: f64,
    /// The derivative of the result.
    pub derivative: f64,
}

/// Writes what was `traced` in a program whose instructions are `sites`.
pub fn write(
    traced: &[Traced],
    sites: &SiteTable,
    symbols: &mut dyn Symbols,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (places, numbers) = numbered(traced, sites, symbols);
    out.write_all(MAGIC)?;
    out.write_all(&(places.len() as u32).to_le_bytes())?;
    for place in &places {
        out.write_all(&(place.len() as u32).to_le_bytes())?;
        out.write_all(place.as_bytes())?;
    }
    for record in traced {
        out.write_all(&numbers[&record.site].to_le_bytes())?;
        out.write_all(&u32::from(record.value.is_some()).to_le_bytes())?;
        out.write_all(&record.value.unwrap_or(0.0).to_le_bytes())?;
        out.write_all(&record.derivative.to_le_bytes())?;
    }
    Ok(())
}

/// Places of what was `traced`, each as [`Trace::places`] has it, and the number of each site among them.
fn numbered(
    traced: &[Traced],
    sites: &SiteTable,
    symbols: &mut dyn Symbols,
) -> (Vec<String>, HashMap<Site, u32>) {
    let mut numbers: HashMap<Site, u32> = HashMap::new();
    let mut places = Vec::new();
    for record in traced {
        numbers.entry(record.site).or_insert_with(|| {
            let identity = sites.get(record.site);
            let identity =
                identity.map_or(String::new(), |(module, offset)| format!("{}+{offset:#x}", module.path));
            let name = words::or_unknown(words::whereabouts(&place(sites, symbols, record.site)));
            places.push(format!("{identity}\t{name}"));
            places.len() as u32 - 1
        });
    }
    (places, numbers)
}

impl Record {
    /// Reads a record's bytes; nothing unless its place is one of so many.
    fn read(bytes: &[u8; RECORD], places: usize) -> Option<Record> {
        let mut rest = &bytes[..];
        let (place, has_value) = (word(&mut rest)?, word(&mut rest)?);
        let (numbers, _) = rest.as_chunks();
        let [value, derivative] = [numbers[0], numbers[1]].map(f64::from_le_bytes);
        ((place as usize) < places).then_some(Record { place, compares: has_value == 0, value, derivative })
    }
}

impl Trace {
    /// Reads a file's bytes; nothing where they are no trace.
    pub fn read(bytes: &[u8]) -> Option<Trace> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let count = word(&mut rest)?;
        let mut places = Vec::new();
        for _ in 0..count {
            let length = word(&mut rest)? as usize;
            let (text, after) = rest.split_at_checked(length)?;
            places.push(String::from_utf8_lossy(text).into_owned());
            rest = after;
        }
        let (records, _) = rest.as_chunks();
        let records = records.iter().map(|bytes| Record::read(bytes, places.len())).collect::<Option<_>>()?;
        Some(Trace { places, records })
    }

    /// Identity of a record's place, the same in every run of a program.
    pub fn identity(&self, record: &Record) -> &str {
        self.places[record.place as usize].split('\t').next().unwrap_or_default()
    }

    /// Name of a record's place, for people.
    pub fn name(&self, record: &Record) -> &str {
        self.places[record.place as usize].split('\t').next_back().unwrap_or_default()
    }
}

/// Takes four bytes as a number.
fn word(rest: &mut &[u8]) -> Option<u32> {
    let (word, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Symbols;
    use shadowgrind_core::site::{Module, Place};

    struct Nameless;

    impl Symbols for Nameless {
        fn place(&mut self, module: &Module, offset: u64) -> Place {
            Place { module: Some(module.path.clone()), offset: Some(offset), ..Place::default() }
        }

        fn source_line(&mut self, _file: &str, _line: u32) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_trace_is_read_as_it_was_written() {
        let mut sites = SiteTable::new();
        let module = sites.add_module(Module { path: "/bin/p".into(), build_id: None });
        let site = sites.intern(module, 0x10);
        let traced = [
            Traced { site, value: Some(1.5), derivative: -2.0 },
            Traced { site, value: None, derivative: 0.0 },
        ];
        let mut file = Vec::new();
        write(&traced, &sites, &mut Nameless, &mut file).unwrap();
        let trace = Trace::read(&file).unwrap();
        assert_eq!(trace.records.len(), 2);
        let first = &trace.records[0];
        assert_eq!((first.compares, first.value, first.derivative), (false, 1.5, -2.0));
        assert!(trace.records[1].compares);
        assert_eq!((trace.identity(first), trace.name(first)), ("/bin/p+0x10", "p+0x10"));
        assert!(Trace::read(&file[..10]).is_none() && Trace::read(b"nonsense").is_none());
    }
}
