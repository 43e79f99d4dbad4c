//! Texts that the program was given (its arguments, its environment, files and pipes that it has read), and which of their
//! numbers a text that it parses is.
//!
//! A parsed text is a number of one of them, in this order: because it lies in the very memory that the text was given in,
//! unchanged; because the bytes around it are those around one such number only; because it is the next number of a text
//! that is read in order, or the only one with that value. Where none of this decides, nothing is guessed.
//! Knows neither parsers nor shadows.

mod tokens;

pub(crate) use tokens::{Scan, Token, number};

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
    Ambiguous(Vec<Place>),
    /// No text is known to have it.
    Unknown,
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

/// Guest memory that holds a piece of a text.
#[derive(Debug)]
struct Held {
    memory: Range<u64>,
    text: usize,
    /// Offset of the piece in the text.
    offset: usize,
}

/// Files with more bytes are not looked at.
const LARGEST: usize = 1 << 28;
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
        let Text { bytes: known, scan, next, by_value, in_place, integers, .. } = &mut self.all[text];
        let already = known.len().min(end);
        let has_changed = offset < already && known[offset..already] != bytes[..already - offset];
        let is_text = !bytes.contains(&0);
        if has_changed || !is_text {
            (*scan, *next) = (Scan::default(), 0);
            by_value.clear();
            in_place.clear();
            integers.clear();
        }
        if !is_text {
            known.clear();
            return;
        }
        if known.len() < end {
            known.resize(end, b' ');
        }
        known[offset..end].copy_from_slice(bytes);
        if scan.tokens.get(*next).is_none_or(|token| token.start >= offset) {
            // From here on it is read, or read again.
            *next = scan.tokens.partition_point(|token| token.end <= offset);
            integers.retain(|token| token < next);
        }
        self.holds(address..address + bytes.len() as u64, text, offset);
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
        let is_read = |text: &&mut Text| {
            matches!(text.name, TextSource::Stdin | TextSource::File(_)) && !text.is_parsed
        };
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

    /// The number that the program is about to parse at `address`, in characters of one byte: `text` begins with it, and
    /// `value` is its value.
    pub(crate) fn origin(&mut self, m: &dyn Machine, address: u64, text: &[u8], value: f64) -> Origin {
        self.all.iter_mut().for_each(Text::update);
        let origin = match self.held_at(address, text) {
            Some(place) => {
                self.all[place.text].in_place.insert(place.token);
                Origin::Known(place)
            }
            None => self.copied_from(m, address, text, value),
        };
        if let Origin::Known(place) = origin {
            let text = &mut self.all[place.text];
            (text.next, text.is_parsed) = (place.token + 1, true);
            self.current = Some(place.text);
        }
        origin
    }

    /// The number that the program is about to read as an integer at `address`, like [`Texts::origin`]; nothing if that cannot be
    /// told, or if the number has a fraction. Hardly anybody will make a float of it afterwards.
    pub(crate) fn integer(
        &mut self,
        m: &dyn Machine,
        address: u64,
        text: &[u8],
        value: f64,
    ) -> Option<Place> {
        self.all.iter_mut().for_each(Text::update);
        let place = match self.held_at(address, text) {
            Some(place) => place,
            None => self.integer_copied_from(m, address, text, value)?,
        };
        if !self.token(place).is_integer {
            return None;
        }
        self.pass(place);
        Some(place)
    }

    /// The integer of which there is a copy, `text`, at `address`: one that was read before only where the bytes around say so.
    fn integer_copied_from(&self, m: &dyn Machine, address: u64, text: &[u8], value: f64) -> Option<Place> {
        let mut places = self.alike(value);
        places.retain(|place| {
            self.token(*place).is_integer && !self.all[place.text].in_place.contains(&place.token)
        });
        if places.len() > 1 {
            places = self.with_most_around(m, address, text.len(), places);
        }
        if let [place] = places[..] {
            return Some(place);
        }
        places.retain(|place| !self.all[place.text].integers.contains(&place.token));
        self.in_order(places).known()
    }

    /// The next number with this value that the program may have read as an integer.
    pub(crate) fn integer_of(&mut self, value: f64) -> Option<Place> {
        self.all.iter_mut().for_each(Text::update);
        let place = self.in_order(self.unread_integers(value)).known()?;
        self.pass(place);
        Some(place)
    }

    fn unread_integers(&self, value: f64) -> Vec<Place> {
        let mut places = self.alike(value);
        places.retain(|place| {
            let Text { integers, in_place, .. } = &self.all[place.text];
            let is_read = integers.contains(&place.token) || in_place.contains(&place.token);
            self.token(*place).is_integer && !is_read
        });
        places
    }

    /// The program has read past the integer at `place`; if it has done so before, it goes on from where it is.
    fn pass(&mut self, place: Place) {
        let text = &mut self.all[place.text];
        if text.integers.insert(place.token) {
            text.next = place.token + 1;
        }
    }

    /// The number, of a file, that is parsed as a literal of a script: it is expected nowhere else.
    pub(crate) fn literal(&mut self, value: f64) -> Origin {
        self.all.iter_mut().for_each(Text::update);
        let mut places = self.alike(value);
        places.retain(|place| matches!(self.all[place.text].name, TextSource::File(_)));
        places.retain(|place| !self.all[place.text].in_place.contains(&place.token));
        let origin = match places[..] {
            [first, ..] if places.iter().all(|place| place.text == first.text) => Origin::Known(first),
            _ => self.in_order(places),
        };
        if let Origin::Known(place) = origin {
            let text = &mut self.all[place.text];
            text.in_place.insert(place.token);
            (text.next, text.is_parsed) = (place.token + 1, true);
        }
        origin
    }

    /// The number that memory at `address` still holds of the text that was put there.
    fn held_at(&self, address: u64, parsed: &[u8]) -> Option<Place> {
        let held = self.held.iter().find(|held| held.memory.contains(&address))?;
        let Text { bytes, scan, .. } = &self.all[held.text];
        let offset = held.offset + (address - held.memory.start) as usize;
        let here = bytes.get(offset..offset + parsed.len())?;
        if here != parsed {
            return None;
        }
        let index = scan.tokens.partition_point(|token| token.end <= offset);
        let token = scan.tokens.get(index)?;
        // A sign may be read apart.
        let begins =
            token.start == offset || token.start + 1 == offset && !bytes[token.start].is_ascii_digit();
        begins.then_some(Place { text: held.text, token: index })
    }

    /// The number of which there is a copy, `text`, at `address`.
    fn copied_from(&self, m: &dyn Machine, address: u64, text: &[u8], value: f64) -> Origin {
        let mut places = self.alike(value);
        // A number that the program parses where it was given, or reads past, is hardly parsed from a copy too.
        let is_read = |place: &Place| {
            let Text { in_place, integers, .. } = &self.all[place.text];
            in_place.contains(&place.token) || integers.contains(&place.token)
        };
        if !places.iter().all(is_read) {
            places.retain(|place| !is_read(place));
        }
        let is_same = |place: &Place| {
            let token = self.token(*place);
            &self.all[place.text].bytes[token.start..token.end] == text
        };
        if places.iter().any(is_same) {
            places.retain(is_same);
        }
        if places.len() > 1 {
            places = self.with_most_around(m, address, text.len(), places);
        }
        self.in_order(places)
    }

    /// All numbers with this value.
    fn alike(&self, value: f64) -> Vec<Place> {
        let found = |(text, of): (usize, &Text)| {
            let tokens = of.by_value.get(&key(value)).map_or(&[][..], |tokens| &tokens[..]);
            tokens.iter().map(move |&token| Place { text, token }).collect::<Vec<_>>()
        };
        self.all.iter().enumerate().flat_map(found).collect()
    }

    /// Places among `places` around which most bytes are the same as around the `length` bytes at `address`, if that means
    /// something; all of them otherwise.
    fn with_most_around(
        &self,
        m: &dyn Machine,
        address: u64,
        length: usize,
        places: Vec<Place>,
    ) -> Vec<Place> {
        let before = bytes_before(m, address);
        let after = bytes_from(m, address + length as u64);
        let same = |place: &Place| {
            let (token, bytes) = (self.token(*place), &self.all[place.text].bytes);
            let backwards = bytes[..token.start].iter().rev().zip(before.iter().rev());
            let forwards = bytes[token.end..].iter().zip(&after);
            backwards.take_while(|(a, b)| a == b).count() + forwards.take_while(|(a, b)| a == b).count()
        };
        let counts: Vec<usize> = places.iter().map(same).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        if most < TELLING {
            return places;
        }
        places.into_iter().zip(counts).filter(|(_, count)| *count == most).map(|(place, _)| place).collect()
    }

    /// The one of `places` that is next in a text, if only one is; the only one that there is otherwise.
    fn in_order(&self, places: Vec<Place>) -> Origin {
        if let [] | [_] = places[..] {
            return places.first().map_or(Origin::Unknown, |&place| Origin::Known(place));
        }
        // Arguments and variables are not read in order.
        let is_read =
            |place: &Place| matches!(self.all[place.text].name, TextSource::Stdin | TextSource::File(_));
        let first = places[0].text;
        if !places.iter().all(|place| is_read(place) && place.text == first) {
            let next = self.current.filter(|&text| self.stand_in_variables(&places, text));
            let next = next.and_then(|text| self.next_of(&places, text));
            return next.map_or(Origin::Ambiguous(places), Origin::Known);
        }
        match self.next_of(&places, first) {
            Some(next) => Origin::Known(next),
            None => Origin::Ambiguous(places),
        }
    }

    /// Tells whether those of `places` that are not in `text`, which is read in order, are in variables of the environment, many of
    /// which hold a small integer that nobody parses.
    fn stand_in_variables(&self, places: &[Place], text: usize) -> bool {
        let is_variable = |place: &Place| matches!(self.all[place.text].name, TextSource::Environment(_));
        matches!(self.all[text].name, TextSource::Stdin | TextSource::File(_))
            && places.iter().all(|place| place.text == text || is_variable(place))
    }

    /// The one of `places` that is next in a text, past integers that may have been read by a function for integers.
    fn next_of(&self, places: &[Place], text: usize) -> Option<Place> {
        let Text { scan, next, .. } = &self.all[text];
        let place = places.iter().find(|place| place.text == text && place.token >= *next)?;
        scan.tokens[*next..place.token].iter().all(|token| token.is_integer).then_some(*place)
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

/// Bytes of memory from `address` on, as many as there are, up to [`CONTEXT`].
fn bytes_from(m: &dyn Machine, address: u64) -> Vec<u8> {
    readable(m, address, address.saturating_add(CONTEXT as u64))
}

/// Bytes of memory before `address`.
fn bytes_before(m: &dyn Machine, address: u64) -> Vec<u8> {
    let start = address.saturating_sub(CONTEXT as u64);
    let page = address & !0xfff;
    if start < page {
        let mut bytes = readable(m, start, page);
        let whole = bytes.len() as u64 == page - start;
        if !whole {
            bytes.clear();
        }
        bytes.extend(readable(m, page, address));
        return bytes;
    }
    readable(m, start, address)
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
