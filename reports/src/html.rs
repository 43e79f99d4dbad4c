//! The report as one page for a browser: nothing is loaded from anywhere, everything of the guest is escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use shadowgrind_core::findings::{Answers, Listing};

use crate::document::{Content, Document, Section};
use crate::gradients;
use crate::tables::{self, Cell, Line, Table};
use crate::words;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/sort.js");

/// Writes the whole report.
pub fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = document.report;
    let command = escaped(&words::command(&report.program));
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>shadowgrind {}: {command}</title>", report.shadow)?;
    writeln!(out, "<style>\n{STYLE}</style>\n</head>\n<body>\n<header>")?;
    writeln!(out, "<h1>shadowgrind {}: <code>{command}</code></h1>", report.shadow)?;
    writeln!(out, "<p>{}</p>\n</header>", escaped(&words::ending(document)))?;
    document.contents().into_iter().try_for_each(|content| match content {
        Content::Listing => {
            report.listing.iter().try_for_each(|listing| self::listing(document, listing, out))
        }
        Content::Inputs => inputs(document, out),
        Content::Causes => causes(document, out),
        Content::Outputs => outputs(document, out),
        Content::Gradients => report.answers.iter().try_for_each(|answers| gradients(document, answers, out)),
        Content::Coverage => coverage(document, out),
    })?;
    writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>")
}

fn section(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "<h2>{}</h2>", escaped(title))
}

fn listing(document: &Document<'_>, listing: &Listing, out: &mut dyn Write) -> io::Result<()> {
    section(out, &words::listed(listing).0)?;
    table(&tables::listing(document, listing), out)
}

fn inputs(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    section(out, "Inputs")?;
    match document.report.inputs.is_empty() {
        true => writeln!(out, "<p>{}</p>", escaped(words::no_inputs(document.report))),
        false => table(&tables::inputs(document.report), out),
    }
}

fn outputs(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    section(out, "Outputs")?;
    match document.report.outputs.is_empty() {
        true => writeln!(out, "<p>{}</p>", words::NO_OUTPUT),
        false => table(&tables::outputs(document, true, usize::MAX).0, out),
    }
}

fn gradients(document: &Document<'_>, answers: &Answers, out: &mut dyn Write) -> io::Result<()> {
    section(out, "Gradients")?;
    if !answers.gradients.is_empty() {
        table(&gradients::table(document, answers), out)?;
    }
    let others = gradients::others(document, answers);
    others.map_or(Ok(()), |text| writeln!(out, "<p>{}</p>", escaped(&text)))
}

fn causes(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    section(out, words::section(Section::Causes))?;
    writeln!(out, "<p class=\"verdict\">{}</p>", escaped(&words::verdict(document)))?;
    for index in document.causes_in(Section::Causes) {
        cause(document, index, out)?;
    }
    for apart in Section::APART {
        let all: Vec<usize> = document.causes_in(apart).collect();
        if !all.is_empty() {
            section(out, words::section(apart))?;
        }
        all.into_iter().try_for_each(|index| cause(document, index, out))?;
    }
    let hidden: Vec<usize> = document.causes_in(Section::Hidden).collect();
    if hidden.is_empty() {
        return Ok(());
    }
    let title = words::count(hidden.len() as u64, "more cause");
    writeln!(out, "<details>\n<summary>{title} of error reached no output</summary>")?;
    for index in hidden {
        cause(document, index, out)?;
    }
    writeln!(out, "</details>")
}

fn cause(document: &Document<'_>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let cause = &document.causes[index];
    let path = cause.place.file.as_ref().or(cause.place.module.as_ref()).map_or("", String::as_str);
    let headline = escaped(&words::headline(cause));
    writeln!(out, "<article>\n<h3 title=\"{}\">{}. {headline}</h3>", escaped(path), cause.rank)?;
    if let (Some(source), Some(line)) = (document.source(index), cause.known_place().line) {
        writeln!(out, "<pre><b>{line}</b> {}</pre>", escaped(source.trim()))?;
    }
    facts(&words::facts(document, index, true), out)?;
    if let Some(fpcore) = &cause.finding.fpcore {
        writeln!(out, "<details>\n<summary>FPCore</summary>\n<pre>{}</pre>\n</details>", escaped(fpcore))?;
    }
    writeln!(out, "</article>")
}

fn facts(facts: &[(&str, String)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<dl>")?;
    for (name, text) in facts {
        writeln!(out, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(text))?;
    }
    writeln!(out, "</dl>")
}

fn coverage(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    section(out, "Coverage")?;
    facts(&words::coverage(document), out)?;
    match document.report.coverage.gaps.is_empty() {
        true => Ok(()),
        false => table(&tables::gaps(document), out),
    }
}

fn table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<table>\n<thead><tr>")?;
    for column in &table.columns {
        writeln!(out, "<th{}>{}</th>", class(column.numeric), escaped(column.title))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for row in &table.rows {
        writeln!(out, "<tr>")?;
        for (cell, column) in row.iter().zip(&table.columns) {
            writeln!(out, "<td{}{}>{}</td>", class(column.numeric), key(cell), lines(cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>")
}

fn class(numeric: bool) -> &'static str {
    if numeric { " class=\"n\"" } else { "" }
}

/// Key that the cell is sorted by; NaN goes with the texts.
fn key(cell: &Cell) -> String {
    match cell.key {
        Some(key) if !key.is_nan() => format!(" data-key=\"{key:e}\"").replace("inf", "Infinity"),
        _ => String::new(),
    }
}

fn lines(cell: &Cell) -> String {
    cell.lines.iter().map(line).collect::<Vec<_>>().join("<br>")
}

/// A line with its wrong characters marked.
fn line(line: &Line) -> String {
    let part = |from: usize, to: usize| {
        escaped(&line.text.chars().skip(from).take(to.saturating_sub(from)).collect::<String>())
    };
    match &line.wrong {
        wrong if wrong.is_empty() => escaped(&line.text),
        wrong => format!(
            "{}<mark>{}</mark>{}",
            part(0, wrong.start),
            part(wrong.start, wrong.end),
            part(wrong.end, usize::MAX)
        ),
    }
}

/// Text as HTML, safe in elements and in quoted attributes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' => safe.push(' '),
            // Most control characters may not stand in a page at all, not even as references.
            c if c.is_control() => safe.push('\u{fffd}'),
            c => {
                // Direction marks would let a name rearrange the text around it.
                let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
                let _ = if reorders { write!(safe, "&#{};", 0xfffd) } else { safe.write_char(c) };
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_guest_becomes_markup() {
        assert_eq!(escaped("<script>'a\"&b\u{202e}\x07"), "&lt;script&gt;&#39;a&quot;&amp;b&#65533;\u{fffd}");
    }

    #[test]
    fn keys_are_what_scripts_read_as_numbers() {
        let key_of = |x: f64| key(&Cell { lines: Vec::new(), key: Some(x) });
        assert_eq!(key_of(1.5), " data-key=\"1.5e0\"");
        assert_eq!(key_of(f64::NEG_INFINITY), " data-key=\"-Infinity\"");
        assert_eq!(key_of(f64::NAN), "");
    }
}
