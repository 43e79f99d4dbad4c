//! Numbers by where their text stands: `arg:2`, `stdin:12:3`, `file:in.dat:12-40:2`, `--output=stdout:12:1`.

use super::{Problem, SpecError};

/// Numbers of a text that the program reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The text.
    pub source: TextSource,
    /// Lines of it; all if none are named.
    pub lines: Option<Span>,
    /// Numbers of each line; all if none are named.
    pub numbers: Option<Span>,
}

/// A text that a program reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TextSource {
    /// `arg:2`: a word of the command line, counted from 1 after PROG.
    Argument(u32),
    /// `env:NAME`: an environment variable.
    Environment(String),
    /// `stdin`
    Stdin,
    /// `file:PATH`
    File(String),
}

/// Numbers of what the program writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPlace {
    /// The stream or file it writes to.
    pub stream: Stream,
    /// Lines of it; all if none are named.
    pub lines: Option<Span>,
    /// Numbers of each line; all if none are named.
    pub numbers: Option<Span>,
}

/// Destination of a program's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The file of this path.
    File(String),
}

impl Stream {
    /// `stdout`, `stderr`, or the path.
    pub fn name(&self) -> &str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
            Stream::File(path) => path,
        }
    }
}

/// Lines, or numbers of a line, from 1; the last is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

impl Span {
    /// Tells whether `number` is one of the numbers.
    pub fn contains(&self, number: u32) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

impl TextPlace {
    /// Tells whether the SPEC reads like one number.
    pub fn is_one(&self) -> bool {
        let one = |span: Option<Span>| span.is_some_and(|span| span.first == span.last);
        match self.source {
            TextSource::Argument(_) | TextSource::Environment(_) => {
                self.numbers.is_none() || one(self.numbers)
            }
            TextSource::Stdin | TextSource::File(_) => one(self.lines) && one(self.numbers),
        }
    }
}

/// First characters of inputs of this kind.
const TEXTS: [&str; 4] = ["arg:", "env:", "stdin", "file:"];

/// Tells whether `spec` names numbers of a text.
pub(super) fn is_text(spec: &str) -> bool {
    TEXTS.iter().any(|start| spec.starts_with(start))
        && (!spec.starts_with("stdin") || is_place_of(spec, "stdin"))
}

/// Tells whether `spec` is `stream` or a place in it.
fn is_place_of(spec: &str, stream: &str) -> bool {
    spec.strip_prefix(stream).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Reads `WORD[:NUMBERS]`, with which `spec` ends from `at` on.
fn word_and_numbers(spec: &str, at: usize) -> Result<(&str, Option<Span>), SpecError> {
    let rest = &spec[at..];
    let (word, numbers) = rest.split_once(':').map_or((rest, None), |(word, numbers)| (word, Some(numbers)));
    let numbers = numbers.map(|text| span(spec, at + word.len() + 1, text)).transpose()?;
    Ok((word, numbers))
}

/// The numbers of a text that `spec` names; nothing if it names something else.
pub(super) fn text(spec: &str) -> Result<Option<TextPlace>, SpecError> {
    let place = |source, lines, numbers| Ok(Some(TextPlace { source, lines, numbers }));
    let behind = "arg:".len();
    if spec.starts_with("arg:") {
        let (word, numbers) = word_and_numbers(spec, behind)?;
        return match word.parse() {
            Ok(word) if word > 0 => place(TextSource::Argument(word), None, numbers),
            _ => Err(SpecError::new(spec, behind, Problem::Word)),
        };
    }
    if spec.starts_with("env:") {
        let (name, numbers) = word_and_numbers(spec, behind)?;
        if name.is_empty() {
            return Err(SpecError::new(spec, behind, Problem::EnvironmentName));
        }
        return place(TextSource::Environment(name.to_owned()), None, numbers);
    }
    if is_place_of(spec, "stdin") {
        let (_, lines, numbers) = lines_and_numbers(spec, "stdin".len())?;
        return place(TextSource::Stdin, lines, numbers);
    }
    match file(spec)? {
        Some((path, lines, numbers)) => place(TextSource::File(path), lines, numbers),
        None => Ok(None),
    }
}

/// The place in what the program writes that `spec` names; nothing if it names something else.
pub(super) fn written(spec: &str) -> Result<Option<StreamPlace>, SpecError> {
    for (name, stream) in [("stdout", Stream::Stdout), ("stderr", Stream::Stderr)] {
        if is_place_of(spec, name) {
            let (_, lines, numbers) = lines_and_numbers(spec, name.len())?;
            return Ok(Some(StreamPlace { stream, lines, numbers }));
        }
    }
    let place = file(spec)?;
    Ok(place.map(|(path, lines, numbers)| StreamPlace { stream: Stream::File(path), lines, numbers }))
}

type Place = (String, Option<Span>, Option<Span>);

fn file(spec: &str) -> Result<Option<Place>, SpecError> {
    const START: usize = "file:".len();
    if !spec.starts_with("file:") {
        return Ok(None);
    }
    let (end, lines, numbers) = lines_and_numbers(spec, START)?;
    if end == START {
        return Err(SpecError::new(spec, START, Problem::FileName));
    }
    Ok(Some((spec[START..end].to_owned(), lines, numbers)))
}

/// Reads `:LINES[:NUMBERS]` at the end of `spec`, no further back than `start`; where that begins. What is no number
/// belongs to the name of a file, which may hold colons.
fn lines_and_numbers(spec: &str, start: usize) -> Result<(usize, Option<Span>, Option<Span>), SpecError> {
    let mut end = spec.len();
    let mut spans = Vec::new();
    while let (Some(colon), true) = (spec[start..end].rfind(':').map(|at| start + at), spans.len() < 2) {
        let written = &spec[colon + 1..end];
        let is_span = written.starts_with(|c: char| c.is_ascii_digit())
            && written.chars().all(|c| c.is_ascii_digit() || c == '-');
        if !is_span {
            break;
        }
        spans.push(span(spec, colon + 1, written)?);
        end = colon;
    }
    let whole_name = spec[..start].ends_with(':');
    if !whole_name && end > start {
        return Err(SpecError::new(spec, start + 1, Problem::Line));
    }
    match spans.as_slice() {
        [] => Ok((end, None, None)),
        [lines] => Ok((end, Some(*lines), None)),
        [numbers, lines, ..] => Ok((end, Some(*lines), Some(*numbers))),
    }
}

/// `12` or `12-40`, which stands at `at`.
fn span(spec: &str, at: usize, written: &str) -> Result<Span, SpecError> {
    let number = |text: &str| text.parse().ok().filter(|&number: &u32| number > 0 && !text.starts_with('+'));
    let (first, last) = written.split_once('-').unwrap_or((written, written));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(Span { first, last }),
        (Some(_), Some(_)) => Err(SpecError::new(spec, at, Problem::EmptyRange)),
        _ => Err(SpecError::new(spec, at, Problem::Line)),
    }
}
