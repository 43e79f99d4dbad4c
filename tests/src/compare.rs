//! Says where two outcomes differ, in a way that one can act on. Decides nothing else.

use crate::outcome::{Left, Outcome};
use std::fmt::Write;

/// Lines shown before and after the first difference.
const CONTEXT: usize = 3;
/// A line longer than this is cut: binary data, minified text.
const WIDTH: usize = 160;
/// Lines shown of a file that is only there under the tool.
const NEW_FILE_LINES: usize = 120;

/// The differences as text; `None` if there are none.
pub fn differences(native: &Outcome, tool: &Outcome) -> Option<String> {
    if native == tool {
        return None;
    }
    let mut text = String::new();
    if native.end != tool.end {
        writeln!(text, "end: native {}, tool {}", native.end, tool.end).ok();
    }
    text += &text_difference("stdout", &native.stdout, &tool.stdout);
    text += &text_difference("stderr", &native.stderr, &tool.stderr);
    text += &file_differences(native, tool);
    Some(text)
}

fn text_difference(what: &str, native: &[u8], tool: &[u8]) -> String {
    if native == tool {
        return String::new();
    }
    let (a, b) = (lines(native), lines(tool));
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let mut text =
        format!("{what}: {} and {} bytes, first difference in line {}\n", native.len(), tool.len(), same + 1);
    for line in &a[same.saturating_sub(CONTEXT)..same] {
        writeln!(text, "      {line}").ok();
    }
    for (mark, side) in [("native", &a), ("tool  ", &b)] {
        for line in side.iter().skip(same).take(CONTEXT) {
            writeln!(text, "{mark}|{line}").ok();
        }
        if side.len() <= same {
            writeln!(text, "{mark}(ends here)").ok();
        }
    }
    text
}

fn lines(bytes: &[u8]) -> Vec<String> {
    bytes.split_inclusive(|b| *b == b'\n').map(show).collect()
}

/// A line made visible: a lost newline or a stray control character is a difference one wants to see.
fn show(line: &[u8]) -> String {
    let (line, end) = line.strip_suffix(b"\n").map_or((line, "⏎̸"), |l| (l, ""));
    let mut text: String = String::from_utf8_lossy(line).chars().take(WIDTH).flat_map(visible).collect();
    if line.len() > WIDTH {
        text.push('…');
    }
    text + end
}

fn visible(c: char) -> Vec<char> {
    if c.is_control() && c != '\t' { c.escape_default().collect() } else { vec![c] }
}

fn file_differences(native: &Outcome, tool: &Outcome) -> String {
    let mut text = String::new();
    for (name, left) in &native.files {
        match tool.files.get(name) {
            None => writeln!(text, "file {name}: missing under the tool").unwrap_or_default(),
            Some(other) if other != left => text += &file_difference(name, left, other),
            Some(_) => {}
        }
    }
    for (name, left) in tool.files.iter().filter(|(name, _)| !native.files.contains_key(*name)) {
        writeln!(text, "file {name}: only under the tool").ok();
        // What a virtual machine writes when it dies says where.
        if let Left::File(_, bytes) = left {
            text.extend(lines(bytes).into_iter().take(NEW_FILE_LINES).map(|line| format!("  {line}\n")));
        }
    }
    text
}

fn file_difference(name: &str, native: &Left, tool: &Left) -> String {
    match (native, tool) {
        (Left::File(a, x), Left::File(b, y)) if a == b => text_difference(&format!("file {name}"), x, y),
        (Left::File(a, _), Left::File(b, _)) => format!("file {name}: mode {a:o}, under the tool {b:o}\n"),
        _ => format!("file {name}: {native:?}, under the tool {tool:?}\n"),
    }
}

/// `bytes` without the lines that contain one of `words`: times and process numbers in the output of programs that
/// are not ours to change.
pub fn without_lines(bytes: &[u8], words: &[&str]) -> Vec<u8> {
    let keep = |line: &&[u8]| {
        let line = String::from_utf8_lossy(line);
        !words.iter().any(|w| line.contains(w))
    };
    bytes.split_inclusive(|b| *b == b'\n').filter(keep).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::End;
    use std::collections::BTreeMap;

    fn outcome(code: i32, stdout: &str, file: &str) -> Outcome {
        let files = BTreeMap::from([("f".to_owned(), Left::File(0o644, file.into()))]);
        Outcome { end: End::Exit(code), stdout: stdout.into(), stderr: Vec::new(), files }
    }

    #[test]
    fn equal_outcomes_have_no_difference() {
        assert_eq!(differences(&outcome(0, "a\n", "x"), &outcome(0, "a\n", "x")), None);
    }

    #[test]
    fn every_part_of_an_outcome_is_compared() {
        let native = outcome(0, "a\nb\n", "x");
        let cases = [
            (outcome(1, "a\nb\n", "x"), "exit status 1"),
            (outcome(0, "a\nc\n", "x"), "line 2"),
            (outcome(0, "a\nb", "x"), "line 2"),
            (outcome(0, "a\nb\n", "y"), "file f"),
        ];
        for (tool, word) in cases {
            let text = differences(&native, &tool).expect("they differ");
            assert!(text.contains(word), "{word:?} not in {text:?}");
        }
    }

    #[test]
    fn lines_with_times_can_be_left_out() {
        assert_eq!(without_lines(b"ok\nRan 3 in 1s\nend", &["Ran "]), b"ok\nend");
    }
}
