//! The report people see when the program has ended: plain text for a terminal of 80 columns and more.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle};

use shadowgrind_core::findings::{Answers, Listed, Listing, Subject};

use crate::arrays;
use crate::document::{Content, Document, Section};
use crate::gradients;
use crate::tables::{self, Line, Table};
use crate::words;

/// Rows of a table before it is cut; the other formats have them all.
const ROWS: usize = 60;

/// Decisions, or births of NaN, before the rest is left out; the other formats have them all.
const CAUSES: usize = 20;

/// Width of the names before facts.
const NAMES: usize = 11;

/// The least room for a place.
const PLACE: usize = 14;

/// The most room for the text before a number.
const NAME: usize = 16;

/// Blanks between columns.
const GAP: usize = 2;

/// Style of text on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: u16,
    /// Emphasis by escape sequences.
    pub color: bool,
    /// Causes that reached no output, and whole tables.
    pub verbose: bool,
}

impl Style {
    /// Style that suits a terminal, or a file, as far as the environment tells: `NO_COLOR`, `TERM`, `COLUMNS`.
    pub fn of_environment(is_terminal: bool, verbose: bool) -> Style {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Style {
            width: columns.unwrap_or(100).clamp(60, 160),
            color: is_terminal && !set("NO_COLOR") && !dumb,
            verbose,
        }
    }
}

/// Writes the whole report.
pub fn write(document: &Document<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { document, style, out };
    page.head()?;
    let report = document.report;
    document.contents().into_iter().try_for_each(|content| match content {
        Content::Listing => report.listing.iter().try_for_each(|listing| page.listing(listing)),
        Content::Inputs => page.inputs(),
        Content::Causes => page.causes(),
        Content::Outputs => page.outputs(),
        Content::Gradients => report.answers.iter().try_for_each(|answers| page.gradients(answers)),
        Content::Coverage => page.coverage(),
    })
}

struct Page<'a, 'b> {
    document: &'a Document<'a>,
    style: Style,
    out: &'b mut dyn Write,
}

impl Page<'_, '_> {
    fn head(&mut self) -> io::Result<()> {
        let report = self.document.report;
        let (command, ending) = (words::command(&report.program), words::ending(self.document));
        let what = match report.listing.as_ref().map(|listing| listing.listed) {
            Some(Listed::Inputs) => "inputs",
            Some(Listed::Outputs) => "outputs",
            None => report.shadow,
        };
        self.heading(&format!("shadowgrind {what}: {command}"))?;
        self.paragraph("", &ending)
    }

    fn listing(&mut self, listing: &Listing) -> io::Result<()> {
        let (title, none) = words::listed(listing);
        self.section(&title)?;
        if listing.entries.is_empty() {
            return self.paragraph("  ", none);
        }
        self.style.verbose = true;
        self.table(tables::listing(self.document, listing))
    }

    fn inputs(&mut self) -> io::Result<()> {
        self.section("Inputs")?;
        if self.document.report.inputs.is_empty() {
            return self.paragraph("  ", words::no_inputs(self.document.report));
        }
        self.table(tables::inputs(self.document.report))
    }

    fn outputs(&mut self) -> io::Result<()> {
        let outputs = words::count(self.document.report.outputs.len(), "output");
        match self.document.report.subject {
            Subject::Derivatives => self.section(&format!("Derivatives of {outputs}"))?,
            Subject::Program | Subject::Errors => self.section(&outputs)?,
        }
        if self.document.report.outputs.is_empty() {
            return self.paragraph("  ", words::NO_OUTPUT);
        }
        self.table(tables::outputs(self.document, self.style.verbose))?;
        let Some(arrays) = arrays::table(self.document) else { return Ok(()) };
        self.section("Arrays")?;
        self.table(arrays)
    }

    fn gradients(&mut self, answers: &Answers) -> io::Result<()> {
        if let Some(jacobian) = &answers.jacobian {
            let entries = words::count(jacobian.entries(), "derivative");
            let of = words::count(jacobian.rows.len() as u64, "output");
            self.section(&format!("{entries} other than zero, of {of}, in the file"))?;
        }
        let rows = words::count(answers.gradients.len() as u64, "output");
        if answers.jacobian.is_none() || !answers.gradients.is_empty() {
            self.section(&format!("Gradients of {rows}"))?;
        }
        if answers.gradients.is_empty() && self.document.report.outputs.is_empty() {
            return self.paragraph("  ", words::NO_OUTPUT);
        }
        if !answers.gradients.is_empty() {
            self.table(gradients::table(self.document, answers))?;
        }
        if let Some(text) = gradients::others(self.document, answers) {
            self.paragraph("  ", &text)?;
        }
        self.directions(answers)
    }

    /// Writes what else the record of the run was asked: derivatives in directions, and the budget of rounding errors.
    fn directions(&mut self, answers: &Answers) -> io::Result<()> {
        if !answers.directions.is_empty() {
            self.section("Derivatives in the directions given")?;
            self.table(gradients::directions(answers))?;
        }
        if let Some(unknown) = answers.unknown_roundings {
            self.section("Rounding errors, to first order")?;
            self.table(gradients::budget(self.document, answers))?;
            let text = gradients::unknown(answers).filter(|_| unknown > 0);
            text.map_or(Ok(()), |text| self.paragraph("  ", &text))?;
        }
        Ok(())
    }

    fn causes(&mut self) -> io::Result<()> {
        let document = self.document;
        self.section(&words::verdict(document))?;
        for cause in document.causes_in(Section::Causes) {
            self.cause(cause)?;
        }
        Section::APART.into_iter().try_for_each(|section| self.apart(section))?;
        let hidden: Vec<usize> = document.causes_in(Section::Hidden).collect();
        if hidden.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        if self.style.verbose {
            self.paragraph("", "These reached no output:")?;
            return hidden.iter().try_for_each(|&cause| self.cause(cause));
        }
        let more = words::count(hidden.len() as u64, "more cause");
        self.paragraph("", &format!("{more} of error reached no output (-v shows them)."))
    }

    /// A section, if there is anything to say.
    fn apart(&mut self, section: Section) -> io::Result<()> {
        let all: Vec<usize> = self.document.causes_in(section).collect();
        if all.is_empty() {
            return Ok(());
        }
        self.section(words::section(section))?;
        let shown = if self.style.verbose { all.len() } else { all.len().min(CAUSES) };
        all[..shown].iter().try_for_each(|&cause| self.cause(cause))?;
        if shown < all.len() {
            let more = words::number((all.len() - shown) as u64);
            writeln!(self.out)?;
            self.paragraph("", &format!("{more} more (-v shows them)."))?;
        }
        Ok(())
    }

    fn cause(&mut self, index: usize) -> io::Result<()> {
        let document = self.document;
        let cause = &document.causes[index];
        writeln!(self.out)?;
        let (head, text) = (format!("{:>3}. ", cause.rank), printable(&words::headline(cause)));
        let (plain, width) = (format!("{head}{text}"), usize::from(self.style.width));
        let fits = plain.chars().count() <= width;
        let title = self.bold(&if fits { plain } else { wrapped(&head, &text, width) });
        writeln!(self.out, "{title}")?;
        if let (Some(source), Some(line)) = (document.source(index), cause.known_place().line) {
            let room = usize::from(self.style.width).saturating_sub(15);
            let source: String = printable(source.trim()).chars().take(room).collect();
            writeln!(self.out, "{line:>10} │ {source}")?;
        }
        for (name, text) in words::facts(document, index, self.style.verbose) {
            self.paragraph(&format!("     {name:<NAMES$}"), &text)?;
        }
        Ok(())
    }

    fn coverage(&mut self) -> io::Result<()> {
        self.section("Coverage")?;
        for (name, text) in words::coverage(self.document) {
            self.paragraph(&format!("  {name:<NAMES$}"), &text)?;
        }
        if self.document.report.coverage.gaps.is_empty() {
            return Ok(());
        }
        self.table(tables::gaps(self.document))
    }

    fn section(&mut self, title: &str) -> io::Result<()> {
        writeln!(self.out)?;
        self.heading(title)
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = wrapped("", &printable(text), self.style.width.into());
        let text = self.bold(&text);
        writeln!(self.out, "{text}")
    }

    /// Words after `head`, in lines that fit and are indented by it.
    fn paragraph(&mut self, head: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", wrapped(head, &printable(text), self.style.width.into()))
    }

    fn bold(&self, text: &str) -> String {
        if self.style.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn table(&mut self, mut table: Table) -> io::Result<()> {
        let left_out = if self.style.verbose { 0 } else { table.rows.len().saturating_sub(ROWS) };
        table.rows.truncate(table.rows.len() - left_out);
        let text = laid_out(&table, self.style);
        for line in text.lines() {
            writeln!(self.out, "{}", line.trim_end())?;
        }
        if left_out > 0 {
            let more = words::number(left_out as u64);
            writeln!(
                self.out,
                "  … {more} more rows (-v shows them, --report=json:FILE keeps every output)"
            )?;
        }
        Ok(())
    }
}

/// A table without borders. Only its last column, a place, gives way: numbers are worth nothing in pieces.
fn laid_out(table: &Table, style: Style) -> String {
    const LOOK: TableStyle = TableStyle::new()
        .header_lines(ContentLineStyle::none())
        .header_separator(LineStyle::none().fill('─').junction('─'))
        .content_lines(ContentLineStyle::none());
    let mut text = comfy_table::Table::new();
    text.load_style(LOOK).set_content_arrangement(ContentArrangement::Disabled);
    text.set_header(table.columns.iter().map(|column| column.title));
    let room = Room::of(table, usize::from(style.width));
    for row in &table.rows {
        let has_wrong =
            |at: usize| row.iter().any(|cell| cell.lines.get(at).is_some_and(|l| !l.wrong.is_empty()));
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let lines = if style.color { coloured(&cell.lines) } else { underlined(&cell.lines, has_wrong) };
            room.fitted(column, lines)
        });
        text.add_row(cells);
    }
    for (column, format) in text.column_iter_mut().zip(&table.columns) {
        column.set_padding((1, 0));
        if format.numeric {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = text.trim_fmt().replace(HELD, " ");
    if style.color { with_colours(&text) } else { text }
}

/// Columns of a table that give way, and the characters they have room for.
struct Room {
    /// The column of names, if there is one.
    names: Option<usize>,
    /// Characters of a name.
    name: usize,
    /// The last column.
    last: usize,
    /// Characters of a place, which is in the last column.
    place: usize,
}

impl Room {
    /// Room that the other columns of `table` leave in so many.
    fn of(table: &Table, width: usize) -> Room {
        let last = table.columns.len().saturating_sub(1);
        let names = table.columns.iter().position(|column| column.title == tables::NAMES);
        let others = (0..last).filter(|&column| Some(column) != names);
        let fixed: usize = others.map(|column| widest(table, column) + GAP).sum();
        let room = width.saturating_sub(fixed + GAP);
        let name = room.saturating_sub(PLACE + GAP).clamp(tables::NAMES.len(), NAME);
        let name = names.map_or(0, |column| widest(table, column).min(name));
        let place = room.saturating_sub(names.map_or(0, |_| name + GAP)).max(PLACE);
        Room { names, name, last, place }
    }

    /// The `lines` of a cell, as far as there is room for them.
    fn fitted(&self, column: usize, lines: String) -> String {
        match column {
            _ if column == self.last => each_fitted(&lines, self.place),
            _ if Some(column) == self.names => end_of(&lines, self.name),
            _ => lines,
        }
    }
}

/// The end of a text before a number.
fn end_of(text: &str, room: usize) -> String {
    match text.chars().count() {
        length if length <= room => text.to_owned(),
        length => ['…'].into_iter().chain(text.chars().skip(length + 1 - room)).collect(),
    }
}

/// A blank that no layout takes away.
const HELD: char = '\u{a0}';

/// First of the private characters that stand for coloured ASCII characters until a table is laid out.
const COLOURED: u32 = 0xe000;

/// Lines whose wrong characters are to be coloured.
fn coloured(lines: &[Line]) -> String {
    let line = |line: &Line| {
        let one = |(at, c): (usize, char)| match line.wrong.contains(&at) && c.is_ascii() {
            true => char::from_u32(COLOURED + u32::from(c)).unwrap_or(c),
            false => c,
        };
        printable(&line.text).chars().enumerate().map(one).collect::<String>()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Text with its marks of colour as escape sequences.
fn with_colours(text: &str) -> String {
    let mut shown = String::new();
    let mut red = false;
    for c in text.chars() {
        let wrong = u32::from(c).checked_sub(COLOURED).and_then(char::from_u32).filter(char::is_ascii);
        if wrong.is_some() != red {
            shown.push_str(if red { "\x1b[0m" } else { "\x1b[1;31m" });
            red = !red;
        }
        shown.push(wrong.unwrap_or(c));
    }
    shown
}

/// Lines under whose wrong characters there are marks; a blank line under others of which `has_wrong` says that
/// something beside them is wrong.
fn underlined(lines: &[Line], has_wrong: impl Fn(usize) -> bool) -> String {
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        all.push(printable(&line.text));
        if has_wrong(at) {
            let mark = |at: usize| if line.wrong.contains(&at) { '^' } else { HELD };
            let marks = (0..line.text.chars().count()).map(mark);
            all.push(if line.wrong.is_empty() { String::new() } else { marks.collect() });
        }
    }
    while all.last().is_some_and(String::is_empty) {
        all.pop();
    }
    all.join("\n")
}

fn widest(table: &Table, column: usize) -> usize {
    let lines = table.rows.iter().filter_map(|row| row.get(column)).flat_map(|cell| &cell.lines);
    let widest = lines.map(|line| line.text.chars().count()).max();
    widest.unwrap_or(0).max(table.columns[column].title.chars().count())
}

/// Places, one in each line, in lines of at most `room`.
fn each_fitted(places: &str, room: usize) -> String {
    places.split('\n').map(|place| fitted(place, room)).collect::<Vec<_>>().join("\n")
}

/// A place in lines of at most `room`: the location under the function, and long functions cut.
fn fitted(place: &str, room: usize) -> String {
    if place.chars().count() <= room {
        return place.to_owned();
    }
    let (function, location) = place.split_at(place.rfind(" (").unwrap_or(place.len()));
    let cut = |line: &str| match line.chars().count() > room {
        true => line.chars().take(room - 1).chain(['…']).collect(),
        false => line.to_owned(),
    };
    let lines = [function, location.trim_start()].map(cut);
    lines.join("\n").trim_end().to_owned()
}

/// Text of the guest without what would move the cursor.
fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{e000}'..='\u{e07f}') => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Words in lines of at most `width`, the first after `head`, the others under its end.
fn wrapped(head: &str, text: &str, width: usize) -> String {
    let indent = head.chars().count();
    let mut lines = head.to_owned();
    let mut used = indent;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if used > indent && used + 1 + length > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        }
        if used > indent {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_hang_under_their_heads() {
        assert_eq!(wrapped("  a: ", "one two three four", 14), "  a: one two\n     three\n     four");
        assert_eq!(wrapped("", "averyveryverylongword x", 5), "averyveryverylongword\nx");
        assert_eq!(wrapped("x", "", 5), "x");
    }

    #[test]
    fn places_give_way() {
        assert_eq!(fitted("solve (quad.c:1)", 16), "solve (quad.c:1)");
        assert_eq!(fitted("solve (quad.c:1)", 12), "solve\n(quad.c:1)");
        assert_eq!(fitted("ns::Grid<double>::norm (quad.cpp:12)", 12), "ns::Grid<do…\n(quad.cpp:1…");
        assert_eq!(fitted("somewhere+0x1234567", 12), "somewhere+0…");
        assert_eq!(each_fitted("f (a.c:1)\ng (a.c:2)", 12), "f (a.c:1)\ng (a.c:2)");
        assert_eq!(each_fitted("f (a.c:1)\ncalled at g (a.c:2)", 12), "f (a.c:1)\ncalled at g\n(a.c:2)");
    }

    #[test]
    fn nothing_of_the_guest_moves_the_cursor() {
        assert_eq!(printable("a\x1b[2J\tb\r"), "a\u{fffd}[2J b\u{fffd}");
    }
}
