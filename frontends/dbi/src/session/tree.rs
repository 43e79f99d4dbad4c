//! The processes of a tree, and what they tell each other about names: a SPEC need be found in one of the programs that run.
//!
//! Each says what it found and what it did not; the one that the user started says at its end what nobody had. Knows
//! neither files nor how the words travel.

use super::seeds::Missing;
use crate::engine::Again;
use std::fmt::Write;
use std::path::Path;

/// The file that the processes of a tree write for each other.
pub(crate) trait Tree: Send + Sync {
    /// Tells whether this is the program that the user named, and not one that it executed.
    fn is_first_program(&self) -> bool;

    /// Tells whether this is the process that the user started: it speaks for all.
    fn is_first_process(&self) -> bool;

    /// Adds a line to the book that all processes share. The first program opens the book, so that there is none if it had
    /// nothing to write.
    fn write(&self, line: &str);

    /// The whole book.
    fn read(&self) -> String;

    /// Has the program run once more, now that it has ended; the error is a line for people.
    fn run_again(&self) -> Result<Again, String> {
        Err("nobody stands by".to_owned())
    }
}

const FOUND: &str = "found";
const MISSED: &str = "missed";
/// Word for a SPEC that nobody had, with a word about what may have been meant.
const HELPED: &str = "helped";

/// Writes down what this program has and has not.
pub(super) fn note(tree: &dyn Tree, found: &[String], missing: &[Missing]) {
    let mut lines = String::new();
    for option in found {
        let _ = writeln!(lines, "{FOUND}\t{}", escaped(option));
    }
    for Missing { wanted, failure } in missing {
        let kind = if failure.helps() { HELPED } else { MISSED };
        let _ = writeln!(lines, "{kind}\t{}\t{}", escaped(&wanted.option), escaped(&failure.to_string()));
    }
    if !lines.is_empty() {
        tree.write(&lines);
    }
}

/// The book's line about the words of the command that the user typed.
const WORDS: &str = "words";

/// Writes down the words of the command.
pub(super) fn note_words(tree: &dyn Tree, words: &[String]) {
    let words: Vec<String> = words.iter().map(|word| escaped(word)).collect();
    tree.write(&format!("{WORDS}\t{}\n", words.join("\t")));
}

/// Words of the command that the user typed, without control characters.
pub(super) fn words(tree: &dyn Tree) -> Vec<String> {
    let book = tree.read();
    let line = book.lines().find_map(|line| line.strip_prefix(WORDS)?.strip_prefix('\t'));
    line.map_or_else(Vec::new, |words| words.split('\t').map(str::to_owned).collect())
}

/// Options of which some process has found what they name, as they are in the book.
pub(super) fn all_found(tree: &dyn Tree) -> Vec<String> {
    let book = tree.read();
    let lines = book.lines().filter_map(|line| line.strip_prefix(FOUND)?.strip_prefix('\t'));
    lines.map(str::to_owned).collect()
}

/// A program that a child process executed, and that is not followed.
const UNFOLLOWED: &str = "unfollowed";

/// The book's line about a program that is executed natively.
pub(crate) fn unfollowed(program: &Path) -> String {
    format!("{UNFOLLOWED}\t{}\n", escaped(&program.to_string_lossy()))
}

/// The programs that were, each once.
pub(super) fn all_unfollowed(tree: &dyn Tree) -> Vec<String> {
    let book = tree.read();
    let lines = book.lines().filter_map(|line| line.split_once('\t'));
    let mut all: Vec<String> =
        lines.filter(|(kind, _)| *kind == UNFOLLOWED).map(|(_, program)| program.to_owned()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Floats that a program was given, or could read, that was executed and knows nothing of their shadows.
const LEFT: &str = "left";

/// Writes down that an image leaves floats to the program that it executes.
pub(super) fn note_left(tree: &dyn Tree, floats: u64, program: &Path) {
    tree.write(&format!("{LEFT}\t{floats}\t{}\n", escaped(&program.to_string_lossy())));
}

/// All that: programs, and floats.
pub(super) fn all_left(tree: &dyn Tree) -> Vec<(String, u64)> {
    let book = tree.read();
    let lines = book.lines().filter_map(|line| line.strip_prefix(LEFT)?.strip_prefix('\t')?.split_once('\t'));
    lines.filter_map(|(floats, program)| Some((program.to_owned(), floats.parse().ok()?))).collect()
}

/// One line about each of `missing` that no process has found.
pub(super) fn not_found(tree: &dyn Tree, missing: &[Missing]) -> Vec<String> {
    let book = tree.read();
    let lines: Vec<Vec<&str>> = book.lines().map(|line| line.split('\t').collect()).collect();
    let about = |option: &str| {
        let option = escaped(option);
        let lines = lines.iter().filter(|line| line.get(1) == Some(&option.as_str()));
        lines.cloned().collect::<Vec<_>>()
    };
    missing.iter().filter_map(|missing| still_missing(missing, &about(&missing.wanted.option))).collect()
}

/// One line about what this process has not found, given the lines of the book `about` it; nothing if another has found it.
fn still_missing(Missing { failure, .. }: &Missing, about: &[Vec<&str>]) -> Option<String> {
    if about.iter().any(|line| line[0] == FOUND) {
        return None;
    }
    let own = escaped(&failure.to_string());
    let helped = about.iter().find(|line| line[0] == HELPED).and_then(|line| line.get(2));
    let others = about.iter().filter_map(|line| line.get(2)).filter(|text| **text != own).count();
    let mut text = (*helped.unwrap_or(&own.as_str())).to_owned();
    if others > 0 {
        let s = if others == 1 { "" } else { "s" };
        let _ = write!(text, " (nor in {others} other program{s} that ran)");
    }
    Some(text)
}

/// Text without tabs and line ends.
pub(super) fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
