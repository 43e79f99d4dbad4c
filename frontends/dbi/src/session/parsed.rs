//! Numbers that the program parses: each call of a parser, and the seed of the float that comes of it.
//!
//! Which inputs name a number is for `inputs`, and in which texts it may stand for `reading`.

mod inputs;
mod reading;

use super::observer::Observer;
use super::outputs;
use super::reread::{ReadBack, Rounded};
use super::state::State;
use super::texts::{self, Origin};
use crate::hooks::machine::Machine;
use crate::hooks::{Parse, Parser};
pub(super) use inputs::{ParsedInput, ParsedInputs, check};
use shadowgrind_core::findings::Entry;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Seed;
use shadowgrind_core::site::Site;
use shadowgrind_core::spec::InputTarget;
use shadowgrind_core::text::hexadecimal;
use shadowgrind_symbols::demangle;

/// Bytes of a text that are looked at for a number.
pub(super) const LONGEST: u64 = 512;
/// Spaces before a number, as the C library skips them.
const SPACES: &[u8] = b" \t\n\r\x0b\x0c";

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
    /// Address of the text.
    address: u64,
    /// The number among all, from 0.
    pub(super) order: u64,
    text: String,
    value: f64,
    origin: Origin,
    /// The number where it comes from has a minus sign, which the program reads apart.
    is_negated: bool,
    asker: Asker,
    /// The text is one that the program has made of a float with a shadow.
    is_own: bool,
    /// The float whose digits were found last, if no text was parsed since.
    pub(super) rounded: Option<Rounded>,
}

impl Parsing {
    /// Sets the format that the float will have.
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
    let number = &narrow[spaces..];
    let (length, value) = hexadecimal::at_start(number).or_else(|| texts::number(number))?;
    Some((address + spaces as u64 * character, narrow[spaces..spaces + length].to_vec(), value))
}

impl State {
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
        Some(Parsing { parse, address, order, text, value, origin, is_negated, asker, is_own, rounded: None })
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
        let is_named = self.parsed.as_ref().is_some_and(is_named);
        let (text, site) = (parsing.text.clone(), parsing.asker.site);
        // A number that the program was given, as it seems, may have the same text.
        let is_given = is_named || matches!(parsing.origin, Origin::Known(_) | Origin::Ambiguous(_));
        let (address, &Parsing { rounded, is_own, .. }) = (Some(parsing.address), parsing);
        let text = ReadBack { text, address, site, rounded, is_own, is_given };
        if self.read_back(&text, float, observer, m) && !is_named {
            self.lose_own(site, function);
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
        let (Some(parsed), Origin::Ambiguous(among)) = (&mut self.parsed, &parsing.origin) else { return };
        let may_name =
            |input: &ParsedInput| input.name.as_ref().is_some_and(|name| parsed.texts.has_any(name, among));
        if !parsed.inputs.iter().any(may_name) {
            return;
        }
        let (places, mut doubts) = (parsed.texts.places(among), Vec::new());
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
