//! From what a shadow found to what people and tools read.
//!
//! [`files`] names places, [`rank`] and [`fold`] order and fold, [`document`] puts both together, and each format is a
//! file of its own over that document. Knows the model of `core::findings`, nothing of shadows or engines.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod annotated;
mod arrays;
mod brief;
pub mod check;
pub mod document;
pub mod files;
pub mod fold;
pub mod gradients;
pub mod html;
pub mod json;
mod matrix;
pub mod names;
pub mod rank;
pub mod second;
pub mod suppress;
mod tables;
pub mod target;
pub mod terminal;
pub mod trace;
pub mod verdict;
pub mod wire;
mod words;

use std::io::Write;

use document::Document;
use target::{ReportTarget, TargetError};
use terminal::Style;

/// Destinations of a report.
#[derive(Clone, Debug)]
pub struct Destinations {
    /// The style of the terminal; nothing with `-q`.
    pub terminal: Option<Style>,
    /// Files.
    pub files: Vec<ReportTarget>,
    /// The process is a child of the first.
    pub forked: bool,
    /// A copy of standard output follows the report on the terminal, with what was found beside each number.
    pub annotated: bool,
}

impl Destinations {
    /// Tells whether any of them says where outputs stand in the program's texts.
    pub fn tell_places(&self) -> bool {
        self.annotated || self.files.iter().any(ReportTarget::tells_places)
    }
}

/// Writes a report everywhere it should go; `terminal` is standard error. What fails does not keep the others from
/// being written. A terminal that cannot be written to is not an error: there is nobody to tell.
pub fn write(
    document: &Document<'_>,
    to: &Destinations,
    terminal: &mut dyn Write,
) -> Result<(), Vec<TargetError>> {
    if let Some(style) = to.terminal {
        let _ = terminal::write(document, style, terminal).and_then(|()| terminal.flush());
    }
    if to.annotated {
        let _ = annotated::write_stdout(document, terminal).and_then(|()| terminal.flush());
    }
    let errors: Vec<_> = to.files.iter().filter_map(|file| file.write(document, to.forked).err()).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
