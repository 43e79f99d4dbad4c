//! Numbers that are too long for a table: without digits in their middle, but with those at which they begin to be wrong.
//!
//! Knows nothing of tables' layout.

use crate::tables::{Cell, Line};

/// The most characters of a number: all of what a long double takes.
const MOST: usize = 40;
/// Characters kept at its beginning.
const HEAD: usize = 18;
/// Characters kept before the first that is wrong.
const BEFORE: usize = 3;
/// Characters kept around it.
const WINDOW: usize = 11;
/// Characters kept at its end, with an exponent.
const TAIL: usize = 9;

/// A cell of numbers of which none is too long: all lose the digits in the same places, so that they can be compared.
pub(super) fn narrowed(cell: &Cell) -> Cell {
    let wrong = cell.lines.iter().filter(|line| !line.wrong.is_empty()).map(|line| line.wrong.start).min();
    let lines = cell.lines.iter().map(|line| shortened(line, wrong)).collect();
    Cell { lines, key: cell.key }
}

/// The line without its middle, if it is too long; `wrong` is the first character that has to be kept.
fn shortened(line: &Line, wrong: Option<usize>) -> Line {
    let length = line.text.chars().count();
    if length <= MOST {
        return line.clone();
    }
    let window =
        wrong.map_or(0..0, |wrong| wrong.saturating_sub(BEFORE)..wrong.saturating_sub(BEFORE) + WINDOW);
    let is_kept = |at: usize| at < HEAD || window.contains(&at) || at + TAIL >= length;
    let (mut text, mut marked) = (String::new(), Vec::new());
    let mut cuts = false;
    for (at, c) in line.text.chars().enumerate() {
        let is_first = !is_kept(at) && !cuts;
        cuts = !is_kept(at);
        if !cuts || is_first {
            text.push(if is_first { '…' } else { c });
            marked.push(line.wrong.contains(&at));
        } else if let Some(last) = marked.last_mut() {
            *last |= line.wrong.contains(&at);
        }
    }
    let start = marked.iter().position(|&wrong| wrong).unwrap_or(0);
    let end = marked.iter().rposition(|&wrong| wrong).map_or(start, |last| last + 1);
    Line { text, wrong: start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(printed: &str, wrong: std::ops::Range<usize>, exact: &str) -> Cell {
        Cell { lines: vec![Line { text: printed.to_owned(), wrong }, exact.into()], key: None }
    }

    #[test]
    fn long_numbers_lose_what_is_alike() {
        let printed = format!("1.{}47{}E-05", "0".repeat(50), "3".repeat(48));
        let exact = format!("1.{}12{}E-05", "0".repeat(50), "9".repeat(48));
        let shown = narrowed(&cell(&printed, 52..102, &exact));
        assert_eq!(shown.lines[0].text, "1.0000000000000000…00047333333…33333E-05");
        assert_eq!(shown.lines[1].text, "1.0000000000000000…00012999999…99999E-05");
        assert_eq!(shown.lines[0].wrong, 22..36);
    }

    #[test]
    fn numbers_that_fit_stay() {
        let shown = narrowed(&cell("-1.2345678901234567e-300", 3..19, "-1.24e-300"));
        assert_eq!(shown.lines[0].text, "-1.2345678901234567e-300");
        assert_eq!(shown.lines[0].wrong, 3..19);
    }

    #[test]
    fn a_cut_through_what_is_wrong_is_marked() {
        let shown = narrowed(&cell(&"7".repeat(60), 4..60, &"8".repeat(60)));
        assert_eq!(shown.lines[0].text, format!("{}…{}", "7".repeat(18), "7".repeat(9)));
        assert_eq!(shown.lines[0].wrong, 4..28);
    }
}
