//! The report people see when the program has ended: plain text for a terminal of 80 columns and more.

mod layout;
mod narrow;

use std::io::{self, Write};

use shadowgrind_core::findings::{Answers, Listed, Listing, Subject};

use crate::arrays;
use crate::document::{Content, Document, Section};
use crate::gradients;
use crate::tables::{self, Table};
use crate::words;
use layout::{laid_out, printable, wrapped};

/// Rows of a table before it is cut; the other formats have them all.
const ROWS: usize = 60;

/// Decisions, or births of NaN, before the rest is left out; the other formats have them all.
const CAUSES: usize = 20;

/// Width of the names before facts.
const NAMES: usize = 11;

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
        let most = if self.style.verbose { usize::MAX } else { ROWS };
        let (table, left_out) = tables::outputs(self.document, self.style.verbose, most);
        self.rows(&table, left_out)?;
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
        self.rows(&table, left_out)
    }

    /// A table, of which so many rows were left out.
    fn rows(&mut self, table: &Table, left_out: usize) -> io::Result<()> {
        let text = laid_out(table, self.style);
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
