//! The tables of a report: what stands in which cell. How a table looks is for each format.

use std::ops::Range;

use shadowgrind_core::findings::{Judgement, Label, Listed, Listing, OutputKind, RealText, Report, Value};
use shadowgrind_core::format::Format;
use shadowgrind_core::text::first_difference;

use crate::document::Document;
use crate::fold::{Extremes, Sample, Series};
use crate::words::{and_more, float, number, tenth, whereabouts};

/// A table.
pub(crate) struct Table {
    /// Titles of the columns; numbers stand right in the columns marked so.
    pub(crate) columns: Vec<Column>,
    /// Cells, each of several lines.
    pub(crate) rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) numeric: bool,
}

/// The lines of a cell, and what it is sorted by where that is not its text.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    pub(crate) lines: Vec<Line>,
    pub(crate) key: Option<f64>,
}

/// A line of a cell.
#[derive(Clone, Default)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The characters that are wrong, by number.
    pub(crate) wrong: Range<usize>,
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Line {
        Line { text: text.into(), wrong: 0..0 }
    }
}

impl Line {
    /// The text of a float that should have been `exact`.
    fn judged(text: String, exact: Option<&str>) -> Line {
        let Some(from) = exact.and_then(|exact| first_difference(&text, exact.trim())) else {
            return text.into();
        };
        // An exponent is right if it is the same.
        let exponent = |text: &str| text.rfind(['e', 'E']).map_or(String::new(), |at| text[at..].to_owned());
        let same = exact.is_some_and(|exact| exponent(exact.trim()) == exponent(&text));
        let length = text.chars().count();
        let end = if same { length - exponent(&text).len() } else { length };
        // What is missing at the end shows in what is there.
        Line { text, wrong: from.min(end.saturating_sub(1))..end }
    }
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Cell {
        Cell { lines: vec![Line::from(text)], key: None }
    }

    fn number(text: impl Into<String>, key: f64) -> Cell {
        Cell { lines: vec![Line::from(text)], key: Some(key) }
    }
}

pub(crate) fn columns(titles: &[(&'static str, bool)]) -> Vec<Column> {
    titles.iter().map(|&(title, numeric)| Column { title, numeric }).collect()
}

/// Table of inputs.
pub(crate) fn inputs(report: &Report) -> Table {
    let rows = report.inputs.iter().map(|input| {
        let value = input.value.map_or(Cell::text("never reached"), |v| Cell::number(float(v), v.to_f64()));
        let seed = Cell::number(float(input.seed.into()), input.seed);
        let count = Cell::number(number(input.count), input.count as f64);
        vec![Cell::text(input.spec.clone()), value, seed, count]
    });
    let columns = columns(&[("input", false), ("value", true), ("seed", true), ("floats", true)]);
    Table { columns, rows: rows.collect() }
}

/// Table of numbers that can be named.
pub(crate) fn listing(document: &Document<'_>, listing: &Listing) -> Table {
    let (name, with) = match listing.listed {
        Listed::Inputs => ("--input=", "parsed by"),
        Listed::Outputs => ("--output=", "after"),
    };
    let text = |text: &Option<String>| Cell::text(text.as_deref().unwrap_or_default());
    let rows = listing.entries.iter().map(|entry| {
        let value = Cell::number(float(entry.value.into()), entry.value);
        let place = whereabouts(&document.asker(entry)).unwrap_or_default();
        let count = Cell::number(number(entry.count), entry.count as f64);
        vec![Cell::text(&entry.spec), text(&entry.text), value, count, text(&entry.with), Cell::text(place)]
    });
    let titles =
        [(name, false), ("text", false), ("value", true), ("times", true), (with, false), ("where", false)];
    Table { columns: columns(&titles), rows: rows.collect() }
}

/// Instructions that dropped shadows, each with all places it did so at.
pub(crate) fn gaps(document: &Document<'_>) -> Table {
    let mut rows: Vec<(&str, u64, Vec<String>)> = Vec::new();
    for gap in &document.report.coverage.gaps {
        let place = whereabouts(document.place(gap.site)).unwrap_or_default();
        match rows.iter_mut().find(|(instruction, ..)| *instruction == gap.instruction) {
            Some((_, count, places)) => {
                *count += gap.count;
                places.push(place);
            }
            None => rows.push((&gap.instruction, gap.count, vec![place])),
        }
    }
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let rows = rows.into_iter().map(|(instruction, count, places)| {
        let place =
            places.first().map_or(String::new(), |place| format!("{place}{}", and_more(places.len())));
        vec![Cell::text(instruction), Cell::number(number(count), count as f64), Cell::text(place)]
    });
    let columns = columns(&[("instruction", false), ("values lost", true), ("where", false)]);
    Table { columns, rows: rows.collect() }
}

/// Table of outputs, series by series, in the order of their first outputs; with all callers of the code at which they left, or only
/// the first where floats left in binary form. It has `most` rows; how many were left out for that.
pub(crate) fn outputs(document: &Document<'_>, callers: bool, most: usize) -> (Table, usize) {
    let shown = Shown::of(&document.outputs.series, callers);
    let mut rows: Vec<Row> = Vec::new();
    for series in &document.outputs.series {
        if series.is_short() {
            rows.extend(series.first.iter().map(|sample| {
                let cells = shown.row(document, series, (sample.index, 1), &Lines::one(sample));
                Row { index: sample.index, cells, tells: is_named(series) || tells(sample) }
            }));
        } else {
            let index = series.first[0].index;
            let cells = shown.row(document, series, (index, series.count), &Lines::all(series));
            rows.push(Row { index, cells, tells: is_named(series) || any_tells(series) });
        }
    }
    rows.sort_by_key(|row| row.index);
    let all = rows.len();
    leave_out(&mut rows, most);
    let left_out = all - rows.len();
    (Table { columns: shown.columns(), rows: rows.into_iter().map(|row| row.cells).collect() }, left_out)
}

/// Row of the table of outputs.
struct Row {
    /// The first output.
    index: u64,
    cells: Vec<Cell>,
    /// True if it has a derivative or an error.
    tells: bool,
}

/// Leaves `most` rows: the last of those that tell nothing are left out first. What libraries print when they are loaded may fill a table.
fn leave_out(rows: &mut Vec<Row>, most: usize) {
    let mut room = most.saturating_sub(rows.iter().filter(|row| row.tells).count());
    rows.retain(|row| {
        let stays = row.tells || room > 0;
        room -= usize::from(stays && !row.tells);
        stays
    });
    rows.truncate(most);
}

/// Tells whether an output has a derivative other than zero, or an error.
fn tells(sample: &Sample) -> bool {
    sample.dot.is_some_and(|dot| dot.to_f64() != 0.0) || sample.bits() > 0.0
}

/// Tells whether one of a series does.
fn any_tells(series: &Series) -> bool {
    let is_other = |dots: Extremes| [dots.min, dots.max].iter().any(|dot| dot.to_f64() != 0.0);
    tells(&series.last) || series.dots.is_some_and(is_other) || series.worst.as_ref().is_some_and(tells)
}

/// Columns that there are: those the shadow has something to say about.
struct Shown {
    names: bool,
    tags: bool,
    dots: bool,
    errors: bool,
    /// All callers.
    callers: bool,
}

impl Shown {
    fn of(series: &[Series], callers: bool) -> Shown {
        let dots = series.iter().any(|s| s.last.dot.is_some());
        let errors = series.iter().any(|s| s.last.error.is_some());
        let folded = series.iter().any(|s| !s.is_short());
        let wrong = |sample: &Sample| sample.bits() > 0.0 || sample.exact != RealText::Same;
        let names = series.iter().any(|s| s.label != Label::NONE && !is_named(s));
        let tags = folded || series.iter().any(|s| s.first.iter().any(wrong));
        Shown { names, tags, dots, errors, callers }
    }

    fn columns(&self) -> Vec<Column> {
        let all = [
            (true, ("output", true)),
            (self.names, (NAMES, false)),
            (self.tags, ("", false)),
            (true, ("value", true)),
            (self.dots, ("derivative", true)),
            (self.errors, ("digits", true)),
            (self.errors, ("bits off", true)),
            (true, ("where", false)),
        ];
        columns(&all.into_iter().filter(|(shown, _)| *shown).map(|(_, column)| column).collect::<Vec<_>>())
    }

    /// Row of so many outputs, from `index` on.
    fn row(
        &self,
        document: &Document<'_>,
        series: &Series,
        (index, count): (u64, u64),
        lines: &Lines,
    ) -> Vec<Cell> {
        let label = document.report.outputs.label_text(series.label);
        let place = whereabouts(document.place(series.site));
        let mut outputs = lines.outputs.clone();
        let written = document.written(index).filter(|_| count == 1);
        let floats =
            written.filter(|written| written.count > 1).map(|written| format!("×{}", number(written.count)));
        outputs.lines.extend(floats.map(Line::from));
        outputs.lines.extend(label.filter(|_| is_named(series)).map(Line::from));
        let text = label.filter(|_| !is_named(series)).unwrap_or_default();
        let mut dots = lines.dots.clone();
        let norm = written.and_then(|written| written.norm);
        dots.lines.extend(norm.map(|norm| Line::from(format!("norm {}", float(norm.into())))));
        let mut place = Cell::text(place.unwrap_or_else(|| "at the end".to_owned()));
        let most = if self.callers { usize::MAX } else { usize::from(written.is_some()) };
        let senders = document.senders(index).take(most).filter_map(whereabouts);
        place.lines.extend(senders.map(|sender| Line::from(format!("called at {sender}"))));
        let format = norm.map(|_| format!("taken for {}", plural(series.last.value.format())));
        place.lines.extend(format.map(Line::from));
        let all = [
            (true, outputs),
            (self.names, Cell::text(text)),
            (self.tags, lines.tags.clone()),
            (true, lines.values.clone()),
            (self.dots, dots),
            (self.errors, lines.digits.clone()),
            (self.errors, lines.bits.clone()),
            (true, place),
        ];
        all.into_iter().filter(|(shown, _)| *shown).map(|(_, cell)| cell).collect()
    }
}

/// Floats of a format, by what C calls them.
fn plural(format: Format) -> &'static str {
    match format {
        Format::F16 => "half-precision floats",
        Format::F32 => "floats",
        Format::F64 => "doubles",
        Format::F80 => "long doubles",
    }
}

/// The column of texts before numbers, which gives way where there is little room.
pub(crate) const NAMES: &str = "after";

/// Tells whether somebody has given an output its label, and it is not the text before it.
fn is_named(series: &Series) -> bool {
    matches!(series.kind, OutputKind::Spec | OutputKind::Mark)
}

/// The cells of one row, before columns are chosen.
#[derive(Default)]
struct Lines {
    outputs: Cell,
    tags: Cell,
    values: Cell,
    dots: Cell,
    digits: Cell,
    bits: Cell,
}

impl Lines {
    fn one(sample: &Sample) -> Lines {
        let mut lines = Lines {
            outputs: Cell::number(sample.index.to_string(), sample.index as f64),
            ..Lines::default()
        };
        lines.sample("", sample);
        lines.real(sample);
        lines
    }

    /// First, last and extremes of a series; the worst where errors are known.
    fn all(series: &Series) -> Lines {
        let (first, last) = (&series.first[0], &series.last);
        let mut lines = Lines {
            outputs: Cell::number(format!("{}…{}", first.index, last.index), first.index as f64),
            ..Lines::default()
        };
        lines.outputs.lines.push(format!("×{}", number(series.count)).into());
        lines.sample("first", first);
        lines.sample("last", last);
        if let Some(worst) = &series.worst {
            lines.sample("worst", worst);
            lines.real(worst);
            return lines;
        }
        let end = |extremes: Option<Extremes>, pick: fn(Extremes) -> Value| extremes.map(pick);
        for (tag, pick) in [("min", (|e| e.min) as fn(Extremes) -> Value), ("max", |e| e.max)] {
            lines.add(tag, end(series.values, pick), end(series.dots, pick), None);
        }
        lines
    }

    fn sample(&mut self, tag: &str, sample: &Sample) {
        let error = sample.error.as_ref().map(|error| (error.digits, error.bits));
        self.add(tag, Some(sample.value), sample.dot, error);
        if let (Some(printed), Some(line)) = (sample.printed(), self.values.lines.last_mut()) {
            // What differs by no more than is to be expected is shown, but not marked.
            let is_right = sample.error.as_ref().is_none_or(|error| error.judgement == Judgement::Right);
            let exact = sample.exact.as_ref().other().filter(|_| !is_right);
            *line = Line::judged(printed, exact.map(String::as_str));
        }
        let is_unsettled = sample.error.as_ref().is_some_and(|error| error.judgement == Judgement::Unsettled);
        if let Some(digits) = self.digits.lines.last_mut().filter(|_| is_unsettled) {
            // Digits that seem right are not known to be.
            *digits = "?".into();
        }
    }

    fn add(&mut self, tag: &str, value: Option<Value>, dot: Option<Value>, error: Option<(f64, f64)>) {
        let text = |value: Option<Value>| Line::from(value.map_or(String::new(), float));
        // No more is promised of an 80-bit derivative than what a double holds.
        let dot = dot.map(|dot| if dot.format().bytes() == 10 { dot.to_f64().into() } else { dot });
        self.tags.lines.push(tag.into());
        self.values.lines.push(text(value));
        self.dots.lines.push(text(dot));
        self.digits.lines.push(error.map_or(String::new(), |(digits, _)| digits_of(digits)).into());
        self.bits.lines.push(error.map_or(String::new(), |(_, bits)| tenth(bits)).into());
        self.values.key = self.values.key.or(value.map(|value| value.to_f64()));
        self.dots.key = self.dots.key.or(dot.map(|dot| dot.to_f64()));
        // Sorting by error finds the worst, wherever in a series it is.
        self.digits.key = self.digits.key.into_iter().chain(error.map(|(digits, _)| digits)).reduce(f64::min);
        self.bits.key = self.bits.key.into_iter().chain(error.map(|(_, bits)| bits)).reduce(f64::max);
    }

    /// The real value under the float, where they differ: as it would have been written, if that is known, else as far as it is known.
    fn real(&mut self, sample: &Sample) {
        let error = sample.error.as_ref();
        let real = error.and_then(|error| error.real.as_deref()).map(shortened);
        let real = match (sample.notation, &sample.exact) {
            (Some(_), RealText::Same) => None,
            (Some(_), RealText::Other(text)) => Some(text.trim().to_owned()),
            (Some(_), RealText::Unknown) => Some(about(real)),
            (None, _) => real.filter(|_| error.is_some_and(|error| error.bits > 0.0)),
        };
        if let Some(real) = real {
            self.tags.lines.push("exact".into());
            self.values.lines.push(real.into());
        }
    }
}

/// Number of right digits; a dash where there are none to be right.
fn digits_of(digits: f64) -> String {
    if digits.is_nan() { "–".to_owned() } else { tenth(digits) }
}

/// Words for a real of which these digits are known, and not how it would have been written.
fn about(real: Option<String>) -> String {
    let digits = real.filter(|digits| digits != "NaN");
    digits.map_or("not known".to_owned(), |digits| format!("≈ {digits}"))
}

/// A decimal number with at most 20 significant digits, three more than a double has.
pub(crate) fn shortened(real: &str) -> String {
    const MOST: usize = 20;
    let (mantissa, exponent) = real.split_at(real.find(['e', 'E', '@']).unwrap_or(real.len()));
    let mut digits = 0;
    let mut nonzero = false;
    let end = mantissa.char_indices().find(|(_, c)| {
        nonzero |= matches!(c, '1'..='9');
        digits += usize::from(nonzero && c.is_ascii_digit());
        digits > MOST
    });
    match end {
        // Digits before the point must stay: without them the number is another one.
        Some((at, _)) if mantissa[..at].contains('.') => format!("{}…{exponent}", &mantissa[..at]),
        _ => real.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_reals_are_cut_where_digits_mean_nothing() {
        assert_eq!(shortened("0.1"), "0.1");
        assert_eq!(shortened("-1.2345678901234567890123456789e-7"), "-1.2345678901234567890…e-7");
        assert_eq!(shortened("0.00012345678901234567890123456789"), "0.00012345678901234567890…");
        assert_eq!(shortened("123456789012345678901234567890.5"), "123456789012345678901234567890.5");
    }
}
