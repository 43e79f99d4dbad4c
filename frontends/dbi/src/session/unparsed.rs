//! Inputs that name numbers of texts: which were reached, and the reasons why others were not, or not by all of them.
//!
//! Looks at what the program has read by the end, and at files that it has not read. Seeds nothing.

use super::parsed::{ParsedInput, ParsedInputs};
use super::state::State;
use super::texts::{self, Token};
use shadowgrind_core::site::{Place, Site};
use shadowgrind_core::spec::{InputSpec, InputTarget, Span, TextSource};
use shadowgrind_reports::document::{Symbols, place};
use std::fs::File;
use std::io::{ErrorKind, Read};

impl State {
    /// The inputs that name parsed numbers and were reached, as options.
    pub(super) fn reached_texts(&self) -> Vec<String> {
        let reached = |input: &&ParsedInput| self.report.inputs[input.number].count > 0;
        let inputs = self.parsed.iter().flat_map(|parsed| &parsed.inputs).filter(reached);
        inputs.map(ParsedInput::option).collect()
    }

    /// The inputs that name parsed numbers and were never reached, as options, and the reason.
    pub(super) fn unreached_texts(&mut self, symbols: &mut dyn Symbols) -> Vec<(String, String)> {
        let nameless = self.nameless();
        let sites = &self.report.sites;
        let mut name = |site: Site| written(&place(sites, symbols, site));
        let Some(parsed) = &mut self.parsed else { return Vec::new() };
        let is_unreached =
            |input: &&ParsedInput| self.report.inputs[input.number].count == 0 && !input.is_doubtful;
        let unreached: Vec<ParsedInput> = parsed.inputs.iter().filter(is_unreached).cloned().collect();
        let mut why = |input: &ParsedInput| {
            parsed
                .unmade(Some(input))
                .unwrap_or_else(|| parsed.why_not(input, nameless.as_deref(), &mut name))
        };
        unreached.iter().map(|input| (input.option(), why(input))).collect()
    }

    /// Says of which texts that the program has read it has parsed no number: standard input, and files below the working
    /// directory. Others, as sources of an interpreter's libraries, are no data.
    pub(super) fn unparsed_texts(&mut self, symbols: &mut dyn Symbols) -> Vec<String> {
        let sites = &self.report.sites;
        let Some(parsed) = &mut self.parsed else { return Vec::new() };
        let is_data = |name: &TextSource| match name {
            TextSource::File(path) => !texts::relative(path).starts_with('/'),
            _ => true,
        };
        let unparsed = parsed.texts.unparsed().into_iter().filter(|(name, _)| is_data(name));
        let text = |(name, count): (TextSource, usize)| {
            let reader = parsed.readers.get(&name).and_then(|&site| written(&place(sites, symbols, site)));
            none_parsed(&texts::written(&name), count, reader)
        };
        unparsed.map(text).collect()
    }

    /// The reason why functions of this program that parse are not known, if there is one.
    pub(super) fn nameless(&self) -> Option<String> {
        let is_there =
            |module: &str| self.files.keys().any(|path| path.file_name().is_some_and(|name| name == module));
        let nameless =
            || NAMELESS.iter().find(|(module, _)| is_there(module)).map(|(_, why)| (*why).to_owned());
        self.java_is_unknown().or_else(nameless)
    }

    /// The inputs some of whose numbers were seeded and some not, as options, and a word on the latter. Of all numbers of a text
    /// or of whole lines some may be no data.
    pub(super) fn partly_reached_texts(&mut self) -> Vec<(String, String)> {
        let Some(parsed) = &mut self.parsed else { return Vec::new() };
        let is_reached =
            |input: &&ParsedInput| self.report.inputs[input.number].count > 0 && !input.is_doubtful;
        let reached: Vec<ParsedInput> = parsed.inputs.iter().filter(is_reached).cloned().collect();
        reached
            .iter()
            .filter_map(|input| {
                let what = parsed.left_out(input).or_else(|| parsed.unmade(Some(input)))?;
                Some((input.option(), what))
            })
            .collect()
    }

    /// Inputs that read like one number, and were reached more often.
    pub(super) fn reached_again(&self) -> Vec<String> {
        let Some(parsed) = &self.parsed else { return Vec::new() };
        let is_one = |input: &InputSpec| match &input.target {
            InputTarget::Text(place) => place.is_one(),
            InputTarget::Parsed(calls) => calls.is_one(),
            InputTarget::Place(_) => false,
        };
        let count = |input: &ParsedInput| self.report.inputs[input.number].count;
        let again = parsed.inputs.iter().filter(|input| is_one(&input.spec) && count(input) > 1);
        let text = |input: &ParsedInput| {
            format!("--input={} was parsed {} times, and seeded each time", input.spec.text, count(input))
        };
        again.map(text).collect()
    }
}

impl ParsedInputs {
    /// Reason why `input` was never reached; `nameless` says why functions that parse are not known, and `name` what stands at a
    /// site.
    pub(super) fn why_not(
        &mut self,
        input: &ParsedInput,
        nameless: Option<&str>,
        name: &mut dyn FnMut(Site) -> Option<String>,
    ) -> String {
        let InputTarget::Text(place) = &input.spec.target else {
            let numbers =
                if self.count == 1 { "1 number".to_owned() } else { format!("{} numbers", self.count) };
            return format!("the program parsed {numbers}: nothing was seeded");
        };
        let lines = input.name.as_ref().map_or(0, |name| self.texts.lines(name));
        let Some(tokens) = input.name.as_ref().and_then(|name| self.texts.numbers(name)) else {
            return unread(input.name.as_ref().unwrap_or(&place.source)).to_owned();
        };
        let has = |span: Option<Span>, n| span.is_none_or(|span| span.contains(n));
        let there: Vec<_> = tokens.filter(|(_, token)| has(place.lines, token.line)).collect();
        let named: Vec<_> = there.iter().filter(|(_, token)| has(place.numbers, token.number)).collect();
        let Some((first, token)) = named.first() else {
            return too_few(there.len(), place.lines, lines);
        };
        if let Some(reader) = self.integers.get(first) {
            let at = place_of(&place.source, token);
            return format!(
                "{at} is read as an integer by {reader}, and an integer has no derivative; {NAME_IT}"
            );
        }
        let reader = input.name.as_ref().and_then(|source| self.readers.get(source));
        let reader = reader.and_then(|&site| name(site));
        unparsed(named.iter().all(|(_, token)| token.is_integer), nameless, reader)
    }

    /// A word on the numbers that `input` names one by one or by columns, and that were not seeded though others were.
    pub(super) fn left_out(&mut self, input: &ParsedInput) -> Option<String> {
        let InputTarget::Text(place) = &input.spec.target else { return None };
        let numbers = place.numbers?;
        let within = |line| place.lines.is_none_or(|lines| lines.contains(line));
        let named = self.texts.numbers(input.name.as_ref()?)?;
        let named: Vec<_> =
            named.filter(|(_, token)| within(token.line) && numbers.contains(token.number)).collect();
        let mut left = named.iter().filter(|(place, _)| !self.seeded.contains(place));
        let (first, token) = left.next()?;
        let why = match self.integers.get(first) {
            Some(reader) => format!("is read as an integer by {reader}"),
            None => "was parsed by no function that is known".to_owned(),
        };
        let count = left.count() + 1;
        Some(format!(
            "{count} of its {} numbers {} not seeded: {} {why}",
            named.len(),
            if count == 1 { "was" } else { "were" },
            place_of(&place.source, token)
        ))
    }
}

/// Said of what holds zero bytes.
const NO_TEXT: &str = "what was read there is no text";
/// Bytes at the beginning of a file that are looked at for zeros.
const BEGINNING: u64 = 1 << 16;

/// Reason why a SPEC's number is not there: a text of so many `lines` has only `count` numbers where it was looked for, in
/// the lines of `span` or anywhere.
fn too_few(count: usize, span: Option<Span>, lines: u32) -> String {
    let within = span.map_or_else(String::new, |at| match at.last - at.first {
        0 => format!(" in line {}", at.first),
        _ => format!(" in lines {} to {}", at.first, at.last),
    });
    match (count, span) {
        (0, _) if lines == 0 => NO_TEXT.to_owned(),
        (0, Some(at)) if at.first > lines => format!("there is no line {}, but {lines} in all", at.first),
        (0, _) => format!("there is no number{within}"),
        (1, _) => format!("there is only 1 number{within}"),
        (count, _) => format!("there are only {count} numbers{within}"),
    }
}

/// Reason why nothing was read from `source`, whose path is absolute.
fn unread(source: &TextSource) -> &'static str {
    let path = match source {
        TextSource::Argument(_) => return "there is no such argument",
        TextSource::Environment(_) => return "there is no such variable",
        TextSource::Stdin => return "nothing was read from standard input",
        TextSource::File(path) => path,
    };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => "there is no such file",
        Ok(found) if found.is_dir() => "this is a directory",
        Ok(found) if found.is_file() && found.len() == 0 => "this file is empty",
        Ok(found) if found.is_file() && holds_zeros(path) => "this file is not text",
        _ => "the program has not read this file",
    }
}

/// Tells whether a file begins with something else than text.
fn holds_zeros(path: &str) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    read.is_ok() && bytes.contains(&0)
}

/// Place of a number in its text, in words.
fn place_of(source: &TextSource, token: &Token) -> String {
    match source {
        TextSource::Argument(_) | TextSource::Environment(_) => format!("number {}", token.number),
        TextSource::Stdin | TextSource::File(_) => format!("line {} number {}", token.line, token.number),
    }
}

/// Advice on an integer.
const NAME_IT: &str = "name the float that is made of it, as by f:x, f#1 or x@f";

/// Modules whose code parses numbers without a function that has a name.
pub(super) const NAMELESS: [(&str, &str); 1] = [(
    "libjvm.so",
    "Java's FloatingDecimal has made no float of it: an integer has none, and BigDecimal makes its own",
)];

/// Reason why numbers that are there, and that `reader` has read, were not seeded: `integers` or not, `nameless` as for
/// [`ParsedInputs::why_not`].
fn unparsed(integers: bool, nameless: Option<&str>, reader: Option<String>) -> String {
    let read = reader.map_or_else(String::new, |reader| format!(", read by {reader}"));
    let there =
        || format!("the number is there{read}, but no function that is known for parsing has parsed it");
    match (integers, nameless) {
        (_, Some(why)) => format!("the number is there, but {why}"),
        (true, None) => format!("{}; if it is read as an integer, {NAME_IT}", there()),
        (false, None) => format!("{}: {NAME_IT}", there()),
    }
}

/// Said of a text, as a SPEC names it, with so many numbers none of which was parsed; `reader` has read it.
pub(super) fn none_parsed(text: &str, count: usize, reader: Option<String>) -> String {
    let read = reader.map_or_else(String::new, |reader| format!(", read by {reader}"));
    let numbers =
        if count == 1 { "its number was not".to_owned() } else { format!("none of its {count} numbers was") };
    format!("{text}{read}: {numbers} parsed by a function that is known for parsing: {NAME_IT}")
}

/// A place in words, as `function (file:line)`; nothing if nothing is known of it.
pub(super) fn written(place: &Place) -> Option<String> {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let at = match (&place.file, place.line, &place.module, place.offset) {
        (Some(file), Some(line), ..) => format!("{}:{line}", base(file)),
        (_, _, Some(module), Some(offset)) => format!("{}+{offset:#x}", base(module)),
        _ => return None,
    };
    Some(place.function.as_ref().map_or(at.clone(), |function| format!("{function} ({at})")))
}
