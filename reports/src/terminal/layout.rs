//! Tables and paragraphs in so many columns of text, with wrong digits set off by colour or by marks below.
//!
//! Knows nothing of reports: what stands in a table is its caller's business.

use comfy_table::{CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle};

use super::Style;
use super::narrow::narrowed;
use crate::tables::{self, Cell, Column, Line, Table};

/// The least room for a place.
const PLACE: usize = 14;

/// The most room for the text before a number.
const NAME: usize = 16;

/// Blanks between columns.
const GAP: usize = 2;

/// A table without borders. Only its last column, a place, gives way: of numbers those parts are left out that tell nothing.
pub(super) fn laid_out(table: &Table, style: Style) -> String {
    const LOOK: TableStyle = TableStyle::new()
        .header_lines(ContentLineStyle::none())
        .header_separator(LineStyle::none().fill('─').junction('─'))
        .content_lines(ContentLineStyle::none());
    let mut text = comfy_table::Table::new();
    text.load_style(LOOK).set_content_arrangement(ContentArrangement::Disabled);
    text.set_header(table.columns.iter().map(|column| column.title));
    let table = &Table {
        columns: table.columns.clone(),
        rows: table.rows.iter().map(|row| fitting(row, &table.columns)).collect(),
    };
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

/// A row without the middle of numbers that are too long.
fn fitting(row: &[Cell], columns: &[Column]) -> Vec<Cell> {
    let fit = |(cell, column): (&Cell, &Column)| if column.numeric { narrowed(cell) } else { cell.clone() };
    row.iter().zip(columns).map(fit).collect()
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
pub(super) fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{e000}'..='\u{e07f}') => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Words in lines of at most `width`, the first after `head`, the others under its end.
pub(super) fn wrapped(head: &str, text: &str, width: usize) -> String {
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
