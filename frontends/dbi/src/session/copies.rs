//! Lines that a program has written to several streams, to the screen and to its log: a printed float that stands in one of
//! them stands in the others as well.
//!
//! Compares lines as they are, the first that are alike with the first. Knows nothing of how a float is found in one.

use hashbrown::HashMap;
use shadowgrind_core::findings::{PrintedAt, WrittenText};

/// Lines of a text.
struct Lines<'a> {
    /// Offset and bytes of each.
    all: Vec<(usize, &'a [u8])>,
    /// Numbers of those that are alike, from 0.
    alike: HashMap<&'a [u8], Vec<usize>>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a WrittenText) -> Lines<'a> {
        let mut offset = 0;
        let line = |bytes: &'a [u8]| {
            let start = offset;
            offset += bytes.len() + 1;
            (start, bytes)
        };
        let all: Vec<(usize, &[u8])> = text.bytes.split(|&byte| byte == b'\n').map(line).collect();
        let mut alike: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (number, (_, bytes)) in all.iter().enumerate() {
            alike.entry(bytes).or_default().push(number);
        }
        Lines { all, alike }
    }
}

/// More places of the outputs that are `placed`: in lines of other texts in which no output is placed, and that are copies.
pub(super) fn copies(texts: &[WrittenText], placed: &[(u64, PrintedAt)]) -> Vec<(u64, PrintedAt)> {
    if texts.len() < 2 || placed.is_empty() {
        return Vec::new();
    }
    let lines: Vec<Lines<'_>> = texts.iter().map(Lines::of).collect();
    let mut outputs: HashMap<(usize, usize), Vec<(u64, PrintedAt)>> = HashMap::new();
    for &(index, at) in placed {
        outputs.entry((at.text as usize, at.line as usize - 1)).or_default().push((index, at));
    }
    let mut found = Vec::new();
    for (&(text, line), outputs_here) in &outputs {
        let (_, bytes) = lines[text].all[line];
        let Some(nth) = lines[text].alike[bytes].iter().position(|&other| other == line) else { continue };
        for (other, lines) in lines.iter().enumerate().filter(|(other, _)| *other != text) {
            let Some(&copy) = lines.alike.get(bytes).and_then(|alike| alike.get(nth)) else { continue };
            if !outputs.contains_key(&(other, copy)) {
                let (start, _) = lines.all[copy];
                found.extend(outputs_here.iter().map(|&(index, at)| (index, moved(at, other, copy, start))));
            }
        }
    }
    found.sort_by_key(|&(index, at)| (index, at.text));
    found
}

/// The place in line `line`, from 0, of another text that begins at `start`, as `at` is in its own.
fn moved(at: PrintedAt, text: usize, line: usize, start: usize) -> PrintedAt {
    let start = start as u32 + at.column - 1;
    PrintedAt { text: text as u32, line: line as u32 + 1, start, end: start + (at.end - at.start), ..at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::findings::WrittenTexts;
    use shadowgrind_core::spec::Stream;

    #[test]
    fn copies_of_lines_are_told_by_their_order() {
        let mut texts = WrittenTexts::default();
        texts.append(Stream::Stdout, b"e 1.5\ne 2.5\ne 1.5\n");
        texts.append(Stream::File("log".to_owned()), b"# log\ne 1.5\ne 2.5\ne 1.5\ne 3.5\n");
        let at = |text, line, start| PrintedAt {
            text,
            line,
            number: 1,
            column: 3,
            start,
            end: start + 3,
            apart: 2,
        };
        // The middle one stands in the log only.
        let placed = [(0, at(0, 1, 2)), (1, at(1, 3, 14)), (2, at(0, 3, 14))];
        let expected = [(0, at(1, 2, 8)), (1, at(0, 2, 8)), (2, at(1, 4, 20))];
        assert_eq!(copies(texts.all(), &placed), expected);
        assert_eq!(copies(&texts.all()[..1], &placed[..1]), []);
    }
}
