//! Printed floats that are outputs because an `--output` names them by how or where they were printed: chosen at the end,
//! when all text has been written.
//!
//! Until then every printed float is recorded. Where a float stands in what the program writes is found by going through
//! both in order: the recorded floats, and the numbers in the text of each stream.

use super::state::{Session, State};
use super::texts::{Scan, Token};
use crate::hooks::machine::Machine;
use hashbrown::HashMap;
use shadowgrind_core::findings::{Entry, Label, Listed, Output, OutputKind, PrintedAt, Report, WrittenText};
use shadowgrind_core::site::{Place, Site};
use shadowgrind_core::spec::{OutputSpec, Span, Stream, StreamPlace};
use shadowgrind_reports::document::Symbols;

/// Numbers of a text that are looked through for a float: others are integers, or parts of words.
const AHEAD: usize = 4096;

impl Session {
    /// Tells whether the text that the program writes is wanted.
    pub(crate) fn wants_written(&self) -> bool {
        let is_written = |output: &OutputSpec| matches!(output, OutputSpec::Written(_));
        self.config.list == Some(Listed::Outputs)
            || self.config.outputs.iter().any(is_written)
            || self.config.reports.tell_places()
    }

    /// The program has written these pieces, address and length, to `descriptor`, which is open for the file at `path`.
    pub(crate) fn wrote(&self, descriptor: i32, path: &str, pieces: &[(u64, u64)], m: &dyn Machine) {
        let stream = match descriptor {
            libc::STDOUT_FILENO => Stream::Stdout,
            libc::STDERR_FILENO => Stream::Stderr,
            _ => Stream::File(path.to_owned()),
        };
        let mut state = self.state.lock();
        for &(address, length) in pieces {
            let bytes = super::texts::readable(m, address, address + length);
            state.report.texts.append(stream.clone(), &bytes);
        }
    }
}

impl State {
    /// Finds the printed floats in the texts that the program has written.
    pub(super) fn place_outputs(&mut self) {
        let Report { outputs, texts, .. } = &mut self.report;
        let printed = outputs.iter().filter(|(_, output)| !is_of_another_kind(output.kind));
        for (index, at) in standing(texts.all(), printed) {
            texts.put(index, at);
        }
        if texts.is_cut() {
            self.warn_of_long_texts();
        }
    }

    /// Lists the printed floats, if that is wanted.
    pub(super) fn list_outputs(&mut self) {
        let Report { listing, outputs, texts, .. } = &mut self.report;
        let Some(listing) = listing.as_mut().filter(|listing| listing.listed == Listed::Outputs) else {
            return;
        };
        let printed = outputs.iter().filter(|(_, output)| !is_of_another_kind(output.kind));
        for (index, output) in printed {
            let label = outputs.label_text(output.label).map(str::to_owned);
            let spec = match (texts.place(index), &label) {
                (Some(at), _) => {
                    let one = |n| Some(Span { first: n, last: n });
                    let stream = texts.stream(at).clone();
                    text(&OutputSpec::Written(StreamPlace {
                        stream,
                        lines: one(at.line),
                        numbers: one(at.number),
                    }))
                }
                (None, Some(label)) => format!("label:{label}"),
                (None, None) => String::new(),
            };
            let (text, value) = (output.printed(), output.value.to_f64());
            listing.push(Entry { spec, text, value, with: label, site: output.site, count: 1 });
        }
    }

    /// Leaves those outputs in the report that `specs` name. The numbers that they had before.
    pub(super) fn choose_outputs(&mut self, specs: &[OutputSpec], symbols: &mut dyn Symbols) -> Vec<u64> {
        let is_printed = |spec: &OutputSpec| !matches!(spec, OutputSpec::Named { .. });
        let specs: Vec<&OutputSpec> = specs.iter().filter(|spec| is_printed(spec)).collect();
        if specs.is_empty() || specs.iter().any(|spec| matches!(spec, OutputSpec::Printed)) {
            return (0..self.report.outputs.len()).collect();
        }
        let mut chooser = Chooser::new(&self.report, &specs);
        let kept: Vec<u64> = self
            .report
            .outputs
            .iter()
            .filter(|(index, output)| {
                is_of_another_kind(output.kind) || chooser.takes(*index, output, &self.report, symbols)
            })
            .map(|(index, _)| index)
            .collect();
        let missed: Vec<String> = specs
            .iter()
            .zip(&chooser.taken)
            .filter(|(_, taken)| **taken == 0)
            .map(|(spec, _)| text(spec))
            .collect();
        self.report.keep_outputs(&kept);
        for spec in missed {
            self.warn_of_unprinted(&spec);
        }
        kept
    }
}

/// Tells whether outputs of this kind are named otherwise.
fn is_of_another_kind(kind: OutputKind) -> bool {
    matches!(kind, OutputKind::Spec | OutputKind::Mark | OutputKind::Written)
}

/// SPECs of printed floats, and all that is needed to tell which those are.
struct Chooser<'a> {
    specs: &'a [&'a OutputSpec],
    /// Number of outputs that each has taken.
    taken: Vec<u64>,
    /// The last printed float.
    last: Option<u64>,
    places: HashMap<Site, Place>,
}

impl<'a> Chooser<'a> {
    fn new(report: &Report, specs: &'a [&'a OutputSpec]) -> Chooser<'a> {
        let printed = report.outputs.iter().filter(|(_, output)| !is_of_another_kind(output.kind));
        Chooser {
            specs,
            taken: vec![0; specs.len()],
            last: printed.last().map(|(index, _)| index),
            places: HashMap::new(),
        }
    }

    /// Tells whether a SPEC names the printed float `output`.
    fn takes(&mut self, index: u64, output: &Output<'_>, report: &Report, symbols: &mut dyn Symbols) -> bool {
        let mut is_taken = false;
        for (number, spec) in self.specs.iter().enumerate() {
            let takes = match spec {
                OutputSpec::Printed => true,
                OutputSpec::Last => self.last == Some(index),
                OutputSpec::Label(label) => is_labelled(report, output.label, label),
                OutputSpec::Site { file, line } => {
                    let place =
                        self.places.entry(output.site).or_insert_with(|| place(report, output.site, symbols));
                    is_line(place, file, *line)
                }
                OutputSpec::Written(named) => {
                    report.texts.place(index).is_some_and(|at| is_at(named, at, report.texts.stream(at)))
                }
                OutputSpec::Named { .. } => false,
            };
            self.taken[number] += u64::from(takes);
            is_taken |= takes;
        }
        is_taken
    }
}

/// Tells whether `named` covers what stands at `at` of `stream`.
fn is_at(named: &StreamPlace, at: PrintedAt, stream: &Stream) -> bool {
    let within = |span: Option<Span>, n| span.is_none_or(|span| span.contains(n));
    let is_stream = match (&named.stream, stream) {
        (Stream::File(path), Stream::File(known)) => known == path || known.ends_with(&format!("/{path}")),
        (named, known) => named == known,
    };
    is_stream && within(named.lines, at.line) && within(named.numbers, at.number)
}

/// Names of `site`.
fn place(report: &Report, site: Site, symbols: &mut dyn Symbols) -> Place {
    report.sites.get(site).map_or_else(Place::default, |(module, offset)| symbols.place(module, offset))
}

/// Tells whether the code at `place` is of this line, or was inlined into it.
fn is_line(place: &Place, file: &str, line: u32) -> bool {
    let is_file = |path: &str| path == file || path.ends_with(&format!("/{file}"));
    let is =
        |path: &Option<String>, at: Option<u32>| path.as_deref().is_some_and(is_file) && at == Some(line);
    is(&place.file, place.line) || place.inlined_by.iter().any(|frame| is(&frame.file, frame.line))
}

/// Tells whether the text before a float, without spaces and signs at its end, is or ends with `wanted`.
fn is_labelled(report: &Report, label: Label, wanted: &str) -> bool {
    let plain = |text: &str| text.trim_end_matches([' ', '=', ':', '\t']).to_owned();
    let (label, wanted) = (plain(report.outputs.label_text(label).unwrap_or_default()), plain(wanted));
    let ends = label.strip_suffix(&wanted);
    ends.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Places of printed floats in the texts, in ascending order of the floats.
fn standing<'a>(
    texts: &[WrittenText],
    printed: impl Iterator<Item = (u64, Output<'a>)>,
) -> Vec<(u64, PrintedAt)> {
    let scans: Vec<Scan> = texts.iter().map(|text| Scan::of(&text.bytes)).collect();
    let mut next = vec![0; scans.len()];
    let mut found = Vec::new();
    for (index, output) in printed {
        let value = output.value.to_f64();
        let exact = output.printed();
        let nearest = (0..scans.len())
            .filter_map(|text| {
                let (tokens, bytes) = (&scans[text].tokens[next[text]..], &texts[text].bytes);
                let is = |token: &Token| {
                    let written = &bytes[token.start..token.end];
                    match &exact {
                        Some(exact) => exact.trim().as_bytes() == written,
                        // A float that is written without a point is so by C's `%g`, whose notation is known.
                        None => !token.is_integer && is_text_of(written, token.value, value),
                    }
                };
                tokens.iter().take(AHEAD).position(is).map(|skipped| (skipped, text))
            })
            .min();
        if let Some((skipped, text)) = nearest {
            let token = &scans[text].tokens[next[text] + skipped];
            found.push((index, printed_at(text, &texts[text].bytes, token)));
            next[text] += skipped + 1;
        }
    }
    found
}

/// Place of a number of text `text`, which is `bytes`.
fn printed_at(text: usize, bytes: &[u8], token: &Token) -> PrintedAt {
    let line_start = bytes[..token.start].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    // Of texts less than 4 GiB is kept.
    let [text, column, start, end] =
        [text, token.start - line_start + 1, token.start, token.end].map(|n| n as u32);
    PrintedAt { text, line: token.line, number: token.number, column, start, end }
}

/// Tells whether `written`, which has the value `read`, may be the text of `value`: they differ by less than one unit of
/// the last digit written.
fn is_text_of(written: &[u8], read: f64, value: f64) -> bool {
    let (mantissa, exponent) = match written.iter().position(|byte| byte.is_ascii_alphabetic()) {
        Some(sign) => (&written[..sign], std::str::from_utf8(&written[sign + 1..]).unwrap_or_default()),
        None => (written, ""),
    };
    let decimals = mantissa.iter().rev().position(|&byte| byte == b'.').unwrap_or(0);
    let unit = 10f64.powi(exponent.parse::<i32>().unwrap_or(0) - decimals as i32);
    (read - value).abs() <= unit + 1e-15 * value.abs()
}

/// The SPEC as it is written.
fn text(spec: &OutputSpec) -> String {
    let range = |span: &Span| match span.first == span.last {
        true => format!(":{}", span.first),
        false => format!(":{}-{}", span.first, span.last),
    };
    match spec {
        OutputSpec::Printed => "printed".to_owned(),
        OutputSpec::Last => "last".to_owned(),
        OutputSpec::Label(label) => format!("label:{label}"),
        OutputSpec::Site { file, line } => format!("site:{file}:{line}"),
        OutputSpec::Named { text, .. } => text.clone(),
        OutputSpec::Written(place) => {
            let stream = match &place.stream {
                Stream::Stdout => "stdout".to_owned(),
                Stream::Stderr => "stderr".to_owned(),
                Stream::File(path) => format!("file:{}", super::texts::relative(path)),
            };
            let spans = place.lines.iter().chain(&place.numbers).map(range);
            stream + &spans.collect::<String>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_float() {
        for (written, value) in [("0.33", 1.0 / 3.0), ("1.5e+03", 1540.0), ("2", 2.25), ("-0.125", -0.125)] {
            assert!(is_text_of(written.as_bytes(), written.parse().unwrap(), value), "{written}");
        }
        assert!(!is_text_of(b"0.35", 0.35, 1.0 / 3.0));
    }
}
