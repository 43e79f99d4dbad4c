//! Printed floats that are outputs because an `--output` names them by how or where they were printed: chosen at the end,
//! when all text has been written.
//!
//! Until then every printed float is recorded. Knows SPECs; where a float stands in a text, `standing` finds.

use super::copies::copies;
use super::observer::Observer;
use super::standing::standing;
use super::state::{Session, State};
use crate::hooks::machine::Machine;
use hashbrown::HashMap;
use shadowgrind_core::findings::{Entry, LeftOut, Listed, Output, OutputKind, PrintedAt, Report};
use shadowgrind_core::site::{Place, Site};
use shadowgrind_core::spec::{OutputSpec, Span, Stream, StreamPlace};
use shadowgrind_reports::document::{self, Symbols};

impl Session {
    /// Tells whether the text that the program writes is wanted.
    pub(crate) fn wants_written(&self) -> bool {
        let is_written =
            |output: &OutputSpec| matches!(output, OutputSpec::Written(_) | OutputSpec::Label(_));
        self.config.list == Some(Listed::Outputs)
            || self.config.outputs.iter().any(is_written)
            || self.config.reports.tell_places()
    }

    /// Tells whether what the program is about to write is to be told to [`Session::wrote`].
    pub(crate) fn wants_next_written(&self) -> bool {
        let seeks = || {
            let state = self.state.lock();
            state.own_texts.seeks() || state.known.are_unwritten()
        };
        self.wants_written() || self.has_taken() || seeks()
    }

    /// The system call at `pc` has written these pieces, address and length, to `descriptor`, which is open for the file at `path`.
    pub(crate) fn wrote(
        &self,
        pc: u64,
        (descriptor, path): (i32, &str),
        pieces: &[(u64, u64)],
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let mut state = self.state.lock();
        if self.has_taken() || state.known.are_unwritten() {
            state.find_taken(pc, descriptor, pieces, observer, m);
        }
        let is_wanted = self.wants_written();
        if !is_wanted && !state.own_texts.seeks() {
            return;
        }
        let stream = match descriptor {
            libc::STDOUT_FILENO => Stream::Stdout,
            libc::STDERR_FILENO => Stream::Stderr,
            _ => Stream::File(path.to_owned()),
        };
        for &(address, length) in pieces {
            let bytes = super::texts::readable(m, address, address + length);
            state.own_texts.wrote(&stream, &bytes);
            if is_wanted {
                state.report.texts.append(stream.clone(), &bytes);
            }
        }
    }
}

impl State {
    /// Finds the printed floats in the texts that the program has written.
    pub(super) fn place_outputs(&mut self) {
        let Report { outputs, texts, .. } = &mut self.report;
        let printed = outputs.iter().filter(|(_, output)| !is_of_another_kind(output.kind));
        let placed = standing(texts.all(), printed);
        for (index, at) in copies(texts.all(), &placed) {
            texts.put_copy(index, at);
        }
        for (index, at) in placed {
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
                (Some(at), _) => text_of_place(at, texts.stream(at)),
                (None, Some(label)) => format!("label:{label}"),
                (None, None) => String::new(),
            };
            let written = || texts.place(index).map(|at| texts.text(at).into_owned());
            let (text, value) = (output.printed().or_else(written), output.value.to_f64());
            let with = label.or_else(|| texts.label(texts.place(index)?));
            listing.push(Entry { spec, text, value, with, site: output.site, callers: Vec::new(), count: 1 });
        }
    }

    /// Leaves those outputs in the report that `specs` name. The numbers that they had before.
    pub(super) fn choose_outputs(&mut self, specs: &[OutputSpec], symbols: &mut dyn Symbols) -> Vec<u64> {
        let is_printed = |spec: &OutputSpec| !matches!(spec, OutputSpec::Named { .. });
        let specs: Vec<&OutputSpec> = specs.iter().filter(|spec| is_printed(spec)).collect();
        if self.leaves_out_unwritten {
            return self.leave_out_unwritten();
        }
        if specs.is_empty() || specs.iter().any(|spec| matches!(spec, OutputSpec::Printed)) {
            return (0..self.report.outputs.len()).collect();
        }
        let mut chooser = Chooser::new(&self.report, &specs);
        let mut is_kept = |index, output: &Output<'_>| {
            is_of_another_kind(output.kind) || chooser.takes(index, output, &self.report, symbols)
        };
        let all = self.report.outputs.iter();
        let kept: Vec<u64> =
            all.filter(|(index, output)| is_kept(*index, output)).map(|(index, _)| index).collect();
        let missed = chooser.missed();
        self.report.keep_outputs(&kept);
        for spec in missed {
            self.warn_of_unprinted(&spec);
        }
        kept
    }

    /// Leaves out of the report what was made into text for the program's own use, and has no shadow. The numbers that the others had
    /// before.
    fn leave_out_unwritten(&mut self) -> Vec<u64> {
        let gone = self.own_texts.never_written(&self.report.outputs);
        let all = 0..self.report.outputs.len();
        let kept: Vec<u64> = all.filter(|index| gone.binary_search(index).is_err()).collect();
        if !gone.is_empty() {
            self.report.keep_outputs(&kept);
            let reason = "text of numbers without a shadow, which the program writes nowhere";
            self.report.coverage.left_out.push(LeftOut { reason, calls: gone.len() as u64 });
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

    /// The SPECs that have taken nothing.
    fn missed(&self) -> Vec<String> {
        let missed = self.specs.iter().zip(&self.taken).filter(|(_, taken)| **taken == 0);
        missed.map(|(spec, _)| text(spec)).collect()
    }

    /// Tells whether a SPEC names the printed float `output`.
    fn takes(&mut self, index: u64, output: &Output<'_>, report: &Report, symbols: &mut dyn Symbols) -> bool {
        let mut is_taken = false;
        for (number, spec) in self.specs.iter().enumerate() {
            let takes = match spec {
                OutputSpec::Printed => true,
                OutputSpec::Last => self.last == Some(index),
                OutputSpec::Label(label) => {
                    let before = report.texts.place(index).map(|at| report.texts.before(at));
                    let formatted = report.outputs.label_text(output.label);
                    let mut texts = formatted.into_iter().chain(before.as_deref());
                    texts.any(|text| is_labelled(text, label))
                }
                OutputSpec::Site { file, line } => {
                    let place =
                        self.places.entry(output.site).or_insert_with(|| place(report, output.site, symbols));
                    place.is_line(file, *line)
                }
                OutputSpec::Written(named) => {
                    report.texts.places(index).any(|at| is_at(named, at, report.texts.stream(at)))
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
    document::place(&report.sites, symbols, site)
}

/// Tells whether the text before a float, without spaces and signs at its end, is or ends with `wanted`.
fn is_labelled(before: &str, wanted: &str) -> bool {
    let plain = |text: &str| text.trim_end_matches([' ', '=', ':', '\t']).to_owned();
    let (before, wanted) = (plain(before), plain(wanted));
    let ends = before.strip_suffix(&wanted);
    ends.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
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
            let spans = place.lines.iter().chain(&place.numbers).map(range);
            text_of_stream(&place.stream) + &spans.collect::<String>()
        }
    }
}

/// The SPEC that names a number in a text which was written to `stream`.
fn text_of_place(at: PrintedAt, stream: &Stream) -> String {
    let one = |n| Some(Span { first: n, last: n });
    let place = StreamPlace { stream: stream.clone(), lines: one(at.line), numbers: one(at.number) };
    text(&OutputSpec::Written(place))
}

fn text_of_stream(stream: &Stream) -> String {
    match stream {
        Stream::Stdout => "stdout".to_owned(),
        Stream::Stderr => "stderr".to_owned(),
        Stream::File(path) => format!("file:{}", super::texts::relative(path)),
    }
}
