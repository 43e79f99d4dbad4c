//! Inputs that name numbers which the program parses, by order, by value or by the text they stand in: which of them name a number.
//!
//! Knows the texts that numbers stand in, and not how the program reads or parses them.

use super::Parsing;
use crate::session::integers::Integers;
use crate::session::spec_failure::SpecFailure;
use crate::session::texts::{self, Origin, Texts};
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::Input;
use shadowgrind_core::site::Site;
use shadowgrind_core::spec::{Calls, InputSpec, InputTarget, Span, TextPlace, TextSource};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Inputs that name numbers which the program parses.
#[derive(Debug, Default)]
pub(in crate::session) struct ParsedInputs {
    pub(in crate::session) inputs: Vec<ParsedInput>,
    pub(in crate::session) texts: Texts,
    /// Numbers parsed so far.
    pub(in crate::session) count: u64,
    /// Numbers of texts that were seeded.
    pub(in crate::session) seeded: HashSet<texts::Place>,
    /// Numbers of texts that were read as integers.
    pub(in crate::session) integers: Integers,
    /// Numbers that Java has read and of which no float was seen yet, by order, with the inputs that name them.
    pub(in crate::session) unmade: BTreeMap<u64, (String, Vec<usize>)>,
    /// The places that first read texts which inputs name, or all where they are listed.
    pub(in crate::session) readers: HashMap<TextSource, Site>,
}

/// Input that names numbers which the program parses.
#[derive(Clone, Debug)]
pub(in crate::session) struct ParsedInput {
    /// The number among the inputs of the report.
    pub(in crate::session) number: usize,
    pub(in crate::session) spec: InputSpec,
    /// The name of its text, if it names one: that of a file is its path without symbolic links.
    pub(in crate::session) name: Option<TextSource>,
    /// True once a number may have been this one or another.
    pub(in crate::session) is_doubtful: bool,
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

/// Refuses inputs that name arguments or variables which `command` does not have, before it runs.
pub(in crate::session) fn check(inputs: &[InputSpec], command: &[String]) -> Result<(), SpecFailure> {
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
    pub(in crate::session) fn option(&self) -> String {
        format!("--input={}", self.spec.text)
    }
}

impl ParsedInputs {
    /// Numbers that are asked for among `inputs`; nothing if there are none, and not `lists` all numbers either.
    pub(in crate::session) fn of(inputs: &[InputSpec], lists: bool) -> Option<ParsedInputs> {
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
    pub(super) fn spec(&self, parsing: &Parsing) -> String {
        match parsing.origin {
            Origin::Known(place) => self.texts.spec(place),
            Origin::Ambiguous(_) | Origin::Unknown => format!("parsed:{}", parsing.order),
        }
    }

    /// Inputs that name the number of this order, value and origin, their weights, and whether they name it with another sign
    /// than it was parsed with.
    pub(in crate::session) fn naming<'a>(
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
    pub(super) fn note_place(&self, parsing: &Parsing, number: usize, input: &mut Input) {
        let Origin::Known(place) = parsing.origin else { return };
        let (name, line, in_line) = self.texts.describe(place);
        let names = |parsed: &ParsedInput| parsed.number == number && parsed.name.as_ref() == Some(name);
        if matches!(name, TextSource::Stdin | TextSource::File(_)) && self.inputs.iter().any(names) {
            input.note_place(|| texts::written(name), [line, in_line]);
        }
    }

    /// Tells whether `input`, which names `named`, has the number at `place`.
    pub(super) fn is_at(&self, input: &ParsedInput, named: &TextPlace, place: texts::Place) -> bool {
        let (name, line, number) = self.texts.describe(place);
        let within = |span: Option<Span>, n| span.is_none_or(|span| span.contains(n));
        input.name.as_ref() == Some(name) && within(named.lines, line) && within(named.numbers, number)
    }
}

/// The text that a user calls `source`, with the path of a file without symbolic links.
fn canonical(source: &TextSource) -> TextSource {
    let TextSource::File(path) = source else { return source.clone() };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let path = absolute.canonicalize().unwrap_or(absolute);
    TextSource::File(path.to_string_lossy().into_owned())
}
