//! Texts that the program was given (its arguments, its environment, files and pipes that it has read), and which of their
//! numbers a text that it parses is.
//!
//! A parsed text is a number of one of them, in this order: because it lies in the very memory that the text was given in,
//! unchanged; because the bytes around it are those around one such number only; because it is the next number of a text
//! that is read in order, or the only one with that value. Where none of this decides, nothing is guessed.
//! Knows neither parsers nor shadows.

mod alike;
mod origin;
mod tokens;

use alike::Alike;
pub(crate) use tokens::{Scan, Token, number, written_numbers};

use crate::hooks::machine::Machine;
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::spec::TextSource;
use std::ops::Range;

/// Number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The text, by its number among all.
    text: usize,
    /// The number, among those of the text, from 0.
    token: usize,
}

/// Result of looking for the origin of a parsed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Number that it is.
    Known(Place),
    /// Numbers that it may be.
    Ambiguous(Candidates),
    /// No known text has the number.
    Unknown,
}

/// Numbers that a parsed text may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// Numbers at these places.
    At(Vec<Place>),
    /// Numbers that are alike: a table may have thousands, which are looked for when they are asked for.
    Alike(Alike),
}

impl Origin {
    /// The number that it is.
    fn known(self) -> Option<Place> {
        if let Origin::Known(place) = self { Some(place) } else { None }
    }
}

/// Text with its numbers.
#[derive(Debug)]
struct Text {
    name: TextSource,
    bytes: Vec<u8>,
    scan: Scan,
    /// Numbers by the bits of their values.
    by_value: HashMap<u64, Vec<usize>>,
    /// The number that is next if the program reads in order.
    next: usize,
    /// Numbers that the program has parsed where they were given to it.
    in_place: HashSet<usize>,
    /// Numbers that the program has read past as integers.
    integers: HashSet<usize>,
    /// True once one of its numbers was parsed.
    is_parsed: bool,
}

impl Text {
    /// Notes that the text has these bytes from `offset` on; false if they make it none.
    fn put(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let end = offset + bytes.len();
        let already = self.bytes.len().min(end);
        let has_changed = offset < already && self.bytes[offset..already] != bytes[..already - offset];
        let is_text = !bytes.contains(&0);
        if has_changed || !is_text {
            self.forget_numbers();
        }
        if !is_text {
            self.bytes.clear();
            return false;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, b' ');
        }
        self.bytes[offset..end].copy_from_slice(bytes);
        self.go_on_at(offset);
        true
    }

    fn forget_numbers(&mut self) {
        (self.scan, self.next) = (Scan::default(), 0);
        self.by_value.clear();
        self.in_place.clear();
        self.integers.clear();
    }

    /// Notes that the program reads, or reads again, from `offset` on.
    fn go_on_at(&mut self, offset: usize) {
        let tokens = &self.scan.tokens;
        if tokens.get(self.next).is_none_or(|token| token.start >= offset) {
            self.next = tokens.partition_point(|token| token.end <= offset);
            self.integers.retain(|token| *token < self.next);
        }
    }
}

/// Guest memory that holds a piece of a text.
#[derive(Debug)]
struct Held {
    memory: Range<u64>,
    text: usize,
    /// Offset of the piece in the text.
    offset: usize,
}

/// Files with more bytes are not looked at.
pub(crate) const LARGEST: usize = 1 << 28;
/// Bytes on each side of a number that are compared.
const CONTEXT: usize = 256;
/// Bytes that must be the same around a number for that to mean something.
const TELLING: usize = 4;

/// All texts that the program was given so far.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: Vec<Text>,
    by_name: HashMap<TextSource, usize>,
    held: Vec<Held>,
    /// The text that was read last, or of which a number was parsed since.
    current: Option<usize>,
    /// The number that was parsed last, if it is one of a text.
    last: Option<Place>,
}

impl Texts {
    /// The program has these bytes in memory at `address`: bytes of the text `name` from `offset` on.
    pub(crate) fn read(&mut self, name: TextSource, offset: usize, bytes: &[u8], address: u64) {
        let end = offset.saturating_add(bytes.len());
        if bytes.is_empty() || end > LARGEST {
            return;
        }
        let text = self.text(name);
        self.current = Some(text);
        if self.all[text].put(offset, bytes) {
            self.holds(address..address + bytes.len() as u64, text, offset);
        }
    }

    /// Number of bytes that are known of the text `name`.
    pub(crate) fn length(&self, name: &TextSource) -> usize {
        self.by_name.get(name).map_or(0, |&text| self.all[text].bytes.len())
    }

    fn text(&mut self, name: TextSource) -> usize {
        *self.by_name.entry(name).or_insert_with_key(|name| {
            self.all.push(Text {
                name: name.clone(),
                bytes: Vec::new(),
                scan: Scan::default(),
                by_value: HashMap::new(),
                next: 0,
                in_place: HashSet::new(),
                integers: HashSet::new(),
                is_parsed: false,
            });
            self.all.len() - 1
        })
    }

    fn holds(&mut self, memory: Range<u64>, text: usize, offset: usize) {
        let apart = |held: &Held| held.memory.end <= memory.start || memory.end <= held.memory.start;
        self.held.retain(apart);
        self.held.push(Held { memory, text, offset });
    }

    /// The number at `place`.
    fn token(&self, place: Place) -> &Token {
        &self.all[place.text].scan.tokens[place.token]
    }

    /// Tells whether the number at `place` has a minus sign that is not in `parsed`, what the program has parsed of it.
    pub(crate) fn is_negated(&self, place: Place, parsed: &[u8]) -> bool {
        let first = self.all[place.text].bytes[self.token(place).start];
        first == b'-' && !parsed.starts_with(b"-")
    }

    /// The text of the number at `place`, its line, and its number in the line.
    pub(crate) fn describe(&self, place: Place) -> (&TextSource, u32, u32) {
        let token = self.token(place);
        (&self.all[place.text].name, token.line, token.number)
    }

    /// SPEC for the number at `place`.
    pub(crate) fn spec(&self, place: Place) -> String {
        let (name, line, number) = self.describe(place);
        let is_only = self.all[place.text].scan.tokens.len() == 1;
        let written = written(name);
        match name {
            TextSource::Argument(_) | TextSource::Environment(_) if is_only => written,
            TextSource::Argument(_) | TextSource::Environment(_) => format!("{written}:{number}"),
            TextSource::Stdin | TextSource::File(_) => format!("{written}:{line}:{number}"),
        }
    }

    /// Texts that were read and of which no number was parsed, integers aside, with how many there are.
    pub(crate) fn unparsed(&mut self) -> Vec<(TextSource, usize)> {
        let is_read = |text: &&mut Text| text.is_in_order() && !text.is_parsed;
        let count = |text: &mut Text| {
            text.update();
            let is_other = |(n, token): (usize, &Token)| !token.is_integer && !text.integers.contains(&n);
            let count =
                text.scan.tokens.iter().enumerate().filter(|(n, token)| is_other((*n, token))).count();
            (count > 0).then(|| (text.name.clone(), count))
        };
        self.all.iter_mut().filter(is_read).filter_map(count).collect()
    }

    /// Number of lines of the text `name`, as far as it was read.
    pub(crate) fn lines(&self, name: &TextSource) -> u32 {
        let bytes = self.by_name.get(name).map_or(&[][..], |&text| &self.all[text].bytes[..]);
        let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
        ends as u32 + u32::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
    }

    /// The numbers of the text `name`, as far as it was read; nothing if it was not.
    pub(crate) fn numbers(&mut self, name: &TextSource) -> Option<impl Iterator<Item = (Place, &Token)>> {
        let text = *self.by_name.get(name)?;
        self.all[text].update();
        let tokens = self.all[text].scan.tokens.iter().enumerate();
        Some(tokens.map(move |(token, found)| (Place { text, token }, found)))
    }
}

impl Text {
    /// Finds the numbers of what has been read since the last time.
    fn update(&mut self) {
        let Text { bytes, scan, by_value, .. } = self;
        if scan.scanned() == bytes.len() {
            return;
        }
        // The last line was not complete: its numbers are found again.
        let kept = scan.complete();
        for token in &scan.tokens[kept..] {
            by_value.get_mut(&key(token.value)).map(Vec::pop);
        }
        scan.extend(bytes);
        for (index, token) in scan.tokens.iter().enumerate().skip(kept) {
            by_value.entry(key(token.value)).or_default().push(index);
        }
    }
}

/// The path as a user would write it: from the working directory, if the file is below that.
pub(crate) fn relative(path: &str) -> &str {
    let below = |directory: &str| path.strip_prefix(directory)?.strip_prefix('/');
    std::env::current_dir().ok().and_then(|directory| below(directory.to_str()?)).unwrap_or(path)
}

/// Number of numbers in `text`.
pub(crate) fn count(text: &[u8]) -> usize {
    Scan::of(text).tokens.len()
}

/// Key of a value: zeros are one, whatever their sign.
fn key(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

/// Bytes of memory from `start` to `end`, as far as there is memory.
pub(crate) fn readable(m: &dyn Machine, start: u64, end: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = start;
    while at < end {
        let next = end.min((at & !0xfff) + 0x1000);
        let mut piece = vec![0; (next - at) as usize];
        if m.read(at, &mut piece).is_err() {
            break;
        }
        bytes.extend(piece);
        at = next;
    }
    bytes
}

/// The text as a SPEC names it.
pub(crate) fn written(source: &TextSource) -> String {
    match source {
        TextSource::Argument(word) => format!("arg:{word}"),
        TextSource::Environment(name) => format!("env:{name}"),
        TextSource::Stdin => "stdin".to_owned(),
        TextSource::File(path) => format!("file:{}", relative(path)),
    }
}

#[cfg(test)]
mod tests;
