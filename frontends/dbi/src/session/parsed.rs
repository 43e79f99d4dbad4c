//! Numbers that the program parses: which of them an `--input` names, by order, by value or by the text they stand in, and
//! their seeds.

use super::integers::Integers;
use super::observer::Observer;
use super::outputs;
use super::seeds::SpecFailure;
use super::state::{Session, State};
use super::texts::{self, Origin, Texts};
use super::tree;
use crate::hooks::abi;
use crate::hooks::machine::{Machine, read_u64};
use crate::hooks::{Parse, Parser};
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::{Entry, Input};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Seed;
use shadowgrind_core::site::Site;
use shadowgrind_core::spec::{Calls, InputSpec, InputTarget, Span, TextPlace, TextSource};
use shadowgrind_symbols::demangle;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Bytes of a text that are looked at for a number.
const LONGEST: u64 = 512;
/// Spaces before a number, as the C library skips them.
const SPACES: &[u8] = b" \t\n\r\x0b\x0c";

/// Beginnings of paths of files that hold no data of a program: what a system says of itself (the last in the tool's words),
/// and an interpreter's own libraries. Their numbers are not looked at, unless an input names the file.
const SYSTEM: [&str; 5] = ["/proc/", "/sys/", "/etc/", "/usr/lib/", "/memfd:shadowgrind"];

/// Numbers of parsers among those of what drops shadows: beyond those of system calls.
const PARSERS: usize = 1 << 24;

/// Code that has a number parsed: the place, and callers of that if they matter, from the innermost outwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Asker {
    pub(super) site: Site,
    pub(super) callers: Vec<Site>,
}

impl From<Site> for Asker {
    fn from(site: Site) -> Asker {
        Asker { site, callers: Vec::new() }
    }
}

/// A call that parses a number.
#[derive(Clone, Debug)]
pub(crate) struct Parsing {
    parse: Parse,
    /// The number among all, from 0.
    pub(super) order: u64,
    text: String,
    value: f64,
    origin: Origin,
    /// The number where it comes from has a minus sign, which the program reads apart.
    is_negated: bool,
    asker: Asker,
    /// The text is one that the program has made of a float with a derivative.
    is_own: bool,
}

impl Parsing {
    /// The float will be of this format.
    pub(super) fn make(&mut self, format: Format) {
        self.parse.make(format);
    }

    /// The number where it comes from: its text and its value.
    pub(super) fn number(&self) -> (String, f64) {
        match self.is_negated {
            true => (format!("-{}", self.text), -self.value),
            false => (self.text.clone(), self.value),
        }
    }
}

/// Inputs that name numbers which the program parses.
#[derive(Debug, Default)]
pub(super) struct ParsedInputs {
    pub(super) inputs: Vec<ParsedInput>,
    pub(super) texts: Texts,
    /// Numbers parsed so far.
    pub(super) count: u64,
    /// Numbers of texts that were seeded.
    pub(super) seeded: HashSet<texts::Place>,
    /// Numbers of texts that were read as integers.
    pub(super) integers: Integers,
    /// Numbers that Java has read and of which no float was seen yet, by order, with the inputs that name them.
    pub(super) unmade: BTreeMap<u64, (String, Vec<usize>)>,
    /// The places that first read texts which inputs name, or all where they are listed.
    pub(super) readers: HashMap<TextSource, Site>,
}

/// Input that names numbers which the program parses.
#[derive(Clone, Debug)]
pub(super) struct ParsedInput {
    /// The number among the inputs of the report.
    pub(super) number: usize,
    pub(super) spec: InputSpec,
    /// The name of its text, if it names one: that of a file is its path without symbolic links.
    pub(super) name: Option<TextSource>,
    /// True once a number may have been this one or another.
    pub(super) is_doubtful: bool,
}

/// Reason why a source, which has so many numbers if it is there, has no number `first`.
fn lacks(source: &TextSource, count: Option<usize>, first: usize) -> Option<String> {
    match (count, source) {
        (None, TextSource::Argument(_)) => Some("the command has no such argument".to_owned()),
        (None, _) => Some("there is no such variable".to_owned()),
        (Some(0), _) => Some("there is no number in it".to_owned()),
        (Some(1), _) if first > 1 => Some("there is 1 number in it".to_owned()),
        (Some(count), _) if count < first => Some(format!("there are {count} numbers in it")),
        _ => None,
    }
}

/// Value that a word of the command gives to the variable `name`, as `env NAME=VALUE PROG` has it.
fn set_by(command: &[String], name: &str) -> Option<Vec<u8>> {
    let value = |word: &String| Some(word.strip_prefix(name)?.strip_prefix('=')?.as_bytes().to_vec());
    command.iter().find_map(value)
}

/// Finds inputs that name arguments or variables which `command` has not, before it runs.
pub(super) fn check(inputs: &[InputSpec], command: &[String]) -> Result<(), SpecFailure> {
    for input in inputs {
        let InputTarget::Text(place) = &input.target else { continue };
        let text = match &place.source {
            TextSource::Argument(word) => command.get(*word as usize).map(|word| word.clone().into_bytes()),
            TextSource::Environment(name) => match set_by(command, name) {
                Some(value) => Some(value),
                None => std::env::var_os(name).map(OsString::into_vec),
            },
            TextSource::Stdin | TextSource::File(_) => continue,
        };
        let first = place.numbers.map_or(1, |span| span.first as usize);
        let why = lacks(&place.source, text.map(|text| texts::count(&text)), first);
        let Some(why) = why else { continue };
        return Err(SpecFailure::Unsupported { option: format!("--input={}", input.text), why });
    }
    Ok(())
}

impl ParsedInput {
    /// The option that names the number.
    pub(super) fn option(&self) -> String {
        format!("--input={}", self.spec.text)
    }
}

impl ParsedInputs {
    /// Numbers that are asked for among `inputs`; nothing if there are none, and not `lists` all numbers either.
    pub(super) fn of(inputs: &[InputSpec], lists: bool) -> Option<ParsedInputs> {
        let parsed = |(number, spec): (usize, &InputSpec)| {
            let name = match &spec.target {
                InputTarget::Place(_) => return None,
                InputTarget::Parsed(_) => None,
                InputTarget::Text(place) => Some(canonical(&place.source)),
            };
            Some(ParsedInput { number, spec: spec.clone(), name, is_doubtful: false })
        };
        let inputs: Vec<_> = inputs.iter().enumerate().filter_map(parsed).collect();
        (lists || !inputs.is_empty()).then(|| ParsedInputs { inputs, ..ParsedInputs::default() })
    }

    /// SPEC of the number: its place in a text, or its order among all that were parsed.
    fn spec(&self, parsing: &Parsing) -> String {
        match parsing.origin {
            Origin::Known(place) => self.texts.spec(place),
            Origin::Ambiguous(_) | Origin::Unknown => format!("parsed:{}", parsing.order),
        }
    }

    /// Inputs that name the number of this order, value and origin, their weights, and whether they name it with another sign
    /// than it was parsed with.
    pub(super) fn naming<'a>(
        &'a self,
        parsing: &'a Parsing,
    ) -> impl Iterator<Item = (usize, f64, bool)> + 'a {
        let names = |input: &&ParsedInput| match &input.spec.target {
            InputTarget::Parsed(Calls::All) => true,
            InputTarget::Parsed(Calls::Numbers(numbers)) => numbers.contains(&parsing.order),
            InputTarget::Parsed(Calls::Alike { value, .. }) => *value == parsing.value,
            InputTarget::Text(place) => match parsing.origin {
                Origin::Known(at) => self.is_at(input, place, at),
                Origin::Ambiguous(_) | Origin::Unknown => false,
            },
            InputTarget::Place(_) => false,
        };
        self.inputs.iter().filter(names).map(|input| {
            let is_text = matches!(input.spec.target, InputTarget::Text(_));
            (input.number, input.spec.weight, is_text && parsing.is_negated)
        })
    }

    /// Notes in `input`, the report's of this number, which number of a file or of standard input its next float is made from, if it
    /// names numbers by such a text.
    fn note_place(&self, parsing: &Parsing, number: usize, input: &mut Input) {
        let Origin::Known(place) = parsing.origin else { return };
        let (name, line, in_line) = self.texts.describe(place);
        let names = |parsed: &ParsedInput| parsed.number == number && parsed.name.as_ref() == Some(name);
        if matches!(name, TextSource::Stdin | TextSource::File(_)) && self.inputs.iter().any(names) {
            input.note_place(|| texts::written(name), [line, in_line]);
        }
    }

    /// Tells whether `input`, which names `named`, has the number at `place`.
    fn is_at(&self, input: &ParsedInput, named: &TextPlace, place: texts::Place) -> bool {
        let (name, line, number) = self.texts.describe(place);
        let within = |span: Option<Span>, n| span.is_none_or(|span| span.contains(n));
        input.name.as_ref() == Some(name) && within(named.lines, line) && within(named.numbers, number)
    }
}

/// The number at `address` in memory, in characters of so many bytes, `length` of them or up to a zero: its own address, its
/// text and its value.
pub(super) fn number_at(
    m: &dyn Machine,
    address: u64,
    length: Option<u64>,
    character: u64,
) -> Option<(u64, Vec<u8>, f64)> {
    let length = length.unwrap_or(LONGEST).min(LONGEST);
    let bytes = texts::readable(m, address, address + length * character);
    let narrow: Vec<u8> = bytes.chunks(character as usize).map(|character| character[0]).collect();
    let spaces = narrow.iter().take_while(|byte| SPACES.contains(byte)).count();
    let (length, value) = texts::number(&narrow[spaces..])?;
    Some((address + spaces as u64 * character, narrow[spaces..spaces + length].to_vec(), value))
}

/// The text that a user calls `source`, with the path of a file without symbolic links.
fn canonical(source: &TextSource) -> TextSource {
    let TextSource::File(path) = source else { return source.clone() };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let path = absolute.canonicalize().unwrap_or(absolute);
    TextSource::File(path.to_string_lossy().into_owned())
}

/// Tells whether standard input is the file at `path`.
fn is_standard_input(path: &str) -> bool {
    std::fs::read_link("/proc/self/fd/0").is_ok_and(|file| file.as_os_str() == path)
}

impl Session {
    /// Tells whether texts that the program reads are wanted.
    pub(crate) fn wants_texts(&self) -> bool {
        self.parses
    }

    /// The system call at `pc` has read these pieces of a file or pipe, from `offset` on: address and length. `path` is the
    /// file's; the one of standard input is of no account.
    pub(crate) fn read(
        &self,
        pc: u64,
        (path, offset): (Option<&str>, Option<usize>),
        pieces: &[(u64, u64)],
        m: &mut dyn Machine,
    ) {
        let mut state = self.state.lock();
        let Some(parsed) = &state.parsed else { return };
        let is_named =
            |name: &TextSource| parsed.inputs.iter().any(|input| input.name.as_ref() == Some(name));
        let file = path.map(|path| (path, TextSource::File(path.to_owned())));
        let name = match file {
            // A program may open /dev/stdin.
            Some((path, file))
                if !is_named(&file) && is_named(&TextSource::Stdin) && is_standard_input(path) =>
            {
                TextSource::Stdin
            }
            Some((_, file)) => file,
            None => TextSource::Stdin,
        };
        let is_of_system = path.is_some_and(|path| SYSTEM.iter().any(|folder| path.starts_with(folder)));
        let is_named = is_named(&name);
        if is_of_system && !is_named {
            return;
        }
        let is_wanted = is_named || state.report.listing.is_some();
        let reader = (is_wanted && !parsed.readers.contains_key(&name)).then(|| state.caller(pc, m));
        let Some(parsed) = &mut state.parsed else { return };
        parsed.readers.extend(reader.map(|reader| (name.clone(), reader)));
        parsed.read(&name, offset, pieces, m);
    }
}

impl ParsedInputs {
    /// Notes the pieces of the text `name` that the program has read, from `offset` on or where it has come to.
    fn read(&mut self, name: &TextSource, offset: Option<usize>, pieces: &[(u64, u64)], m: &dyn Machine) {
        let mut at = offset.unwrap_or_else(|| self.texts.length(name));
        for &(address, length) in pieces {
            if length > texts::LARGEST as u64 {
                return;
            }
            let bytes = texts::readable(m, address, address + length);
            self.texts.read(name.clone(), at, &bytes, address);
            at += bytes.len();
        }
    }

    /// Notes a variable of the environment, `NAME=VALUE` at `address`, if an input names it or all numbers are listed.
    fn read_variable(&mut self, bytes: &[u8], address: u64, lists: bool) {
        let Some(sign) = bytes.iter().position(|&byte| byte == b'=') else { return };
        let name = String::from_utf8_lossy(&bytes[..sign]).into_owned();
        let name = TextSource::Environment(name);
        if lists || self.inputs.iter().any(|input| input.name.as_ref() == Some(&name)) {
            self.texts.read(name, 0, &bytes[sign + 1..], address + sign as u64 + 1);
        }
    }
}

/// Bytes of the string at `address`, without the zero at its end.
fn string(m: &dyn Machine, address: u64) -> Vec<u8> {
    let mut bytes = texts::readable(m, address, address + LONGEST);
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    bytes
}

impl State {
    /// Notes the arguments and the environment of the program, whose first instruction is about to run. `words`: the
    /// command as the user typed it.
    pub(super) fn note_arguments(&mut self, words: &[String], m: &mut dyn Machine) {
        let Some(parsed) = &mut self.parsed else { return };
        let stack = m.general(abi::RSP);
        let Ok(count) = read_u64(m, stack) else { return };

        let mut given = Vec::new();
        for index in 1..count {
            let Ok(address) = read_u64(m, stack + 8 * (index + 1)) else { return };
            given.push((address, string(m, address)));
        }
        for (word, argument) in typed(words, &given) {
            let (address, bytes) = &given[argument];
            parsed.texts.read(TextSource::Argument(word as u32), 0, bytes, *address);
        }
        for index in count + 2.. {
            let Ok(address @ 1..) = read_u64(m, stack + 8 * index) else { return };
            parsed.read_variable(&string(m, address), address, self.report.listing.is_some());
        }
    }

    /// The call of `parser`, for `asker`, that `m` is about to begin; nothing if the text is no number. `is_data`: it is not
    /// a literal of a script.
    pub(super) fn begin_parsing(
        &mut self,
        parser: Parser,
        (is_data, asker): (bool, Asker),
        m: &dyn Machine,
    ) -> Option<Parsing> {
        let parse = parser.call(m).ok()?;
        self.begin_parse(parse, (is_data, asker), m)
    }

    /// Begins the parsing of a text that is known.
    pub(super) fn begin_parse(
        &mut self,
        parse: Parse,
        (is_data, asker): (bool, Asker),
        m: &dyn Machine,
    ) -> Option<Parsing> {
        let (address, text, value) = number_at(m, parse.text, parse.length, parse.character)?;
        let (mut origin, mut order, mut is_negated) = (Origin::Unknown, 0, false);
        if let Some(parsed) = &mut self.parsed {
            origin = match (is_data, self.constants.iter().any(|range| range.contains(&address))) {
                (false, _) => parsed.texts.literal(value),
                // What stands in the program was read from nowhere.
                (true, true) => Origin::Unknown,
                (true, false) => parsed.texts.origin(m, address, &text, value),
            };
            if let Origin::Known(place) = origin {
                is_negated = parsed.texts.is_negated(place, &text);
            }
            order = parsed.count;
            parsed.count += 1;
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let is_own = is_data && self.own_texts.has(&text);
        Some(Parsing { parse, order, text, value, origin, is_negated, asker, is_own })
    }

    /// A call that parses has returned: seeds the number, if an input names it.
    pub(super) fn end_parsing(
        &mut self,
        parsing: &Parsing,
        function: usize,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let Some(float) = parsing.parse.float(m, parsing.value) else { return };
        let is_named = |parsed: &ParsedInputs| parsed.naming(parsing).next().is_some();
        if parsing.is_own && !self.parsed.as_ref().is_some_and(is_named) {
            self.lose_own(parsing.asker.site, function);
        }
        let Some(parsed) = &mut self.parsed else { return };
        parsed.unmade.remove(&parsing.order);
        if let Some(listing) = &mut self.report.listing {
            let spec = parsed.spec(parsing);
            let (text, value) = parsing.number();
            let with = Some(demangle(&self.names[function].0));
            let Asker { site, callers } = parsing.asker.clone();
            listing.push(Entry { spec, text: Some(text), value, with, site, callers, count: 1 });
        }
        let named: Vec<_> = parsed.naming(parsing).collect();
        if let (Origin::Known(place), false) = (&parsing.origin, named.is_empty()) {
            parsed.seeded.insert(*place);
        }
        for (number, weight, is_negated) in named {
            let input = &mut self.report.inputs[number];
            parsed.note_place(parsing, number, input);
            if is_negated {
                input.value.get_or_insert(float.negated().value());
            }
            let seed = Seed { input: number, weight: if is_negated { -weight } else { weight } };
            outputs::seed_all(input, &[float], seed, &self.moves, observer, m);
        }
        self.warn_of_ambiguous(parsing);
    }

    /// Counts a number that `function` has parsed at `site` of text that was written from a float with a derivative.
    fn lose_own(&mut self, site: Site, function: usize) {
        let lost = || (format!("{} of text written from it", demangle(&self.names[function].0)), 0);
        self.gaps.entry((site, PARSERS + function)).or_insert_with(lost).1 += 1;
    }

    /// Says that a number may be one that an input names, or another.
    fn warn_of_ambiguous(&mut self, parsing: &Parsing) {
        let (Some(parsed), Origin::Ambiguous(places)) = (&mut self.parsed, &parsing.origin) else { return };
        let mut doubts = Vec::new();
        for (index, input) in parsed.inputs.iter().enumerate() {
            let InputTarget::Text(named) = &input.spec.target else { continue };
            let is_at = |&&place: &&texts::Place| parsed.is_at(input, named, place);
            let (here, elsewhere) = (places.iter().find(is_at), places.iter().find(|place| !is_at(place)));
            if let (Some(_), Some(&other)) = (here, elsewhere) {
                doubts.push((index, input.spec.text.clone(), parsed.texts.spec(other)));
            }
        }
        doubts.iter().for_each(|&(index, ..)| parsed.inputs[index].is_doubtful = true);
        for (_, spec, other) in doubts {
            self.warn_of_doubt(&spec, &other, parsing.order);
        }
    }
}

/// Words of the command, by their numbers, that are among the arguments which a program was given, without its name: the last
/// of one are the last of the other, if they are the same. One that is executed may be given others, and a word is
/// then the only argument that is the same.
fn typed(words: &[String], given: &[(u64, Vec<u8>)]) -> Vec<(usize, usize)> {
    let is = |word: usize, (_, bytes): &(u64, Vec<u8>)| {
        tree::escaped(&String::from_utf8_lossy(bytes)) == words[word]
    };
    let argument = |word: usize| {
        let last = (word + given.len()).checked_sub(words.len());
        let mut same = (0..given.len()).filter(|&n| is(word, &given[n]));
        match last.filter(|&n| is(word, &given[n])) {
            Some(last) => Some(last),
            None => same.next().filter(|_| same.next().is_none()),
        }
    };
    (1..words.len()).filter_map(|word| Some((word, argument(word)?))).collect()
}
