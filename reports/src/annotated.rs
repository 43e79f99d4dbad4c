//! Copies of the texts that the program wrote, with what the shadow says of each printed float behind it.
//!
//! A derivative stands there as `[d 0.5]`, the norm of a gradient as `[gradient 0.5]`, and of a number that is not exact how
//! many of its digits are right: `[3.0 digits]`, or what the real would have been printed as: `[3.0 digits, exact 0.123]`, or that this
//! is not known.
//! Knows nothing of how texts were caught; a float that was not found in one has no note.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::{Judgement, Output, OutputShadow, PrintedAt, RealText, WrittenText};
use shadowgrind_core::spec::Stream;

use crate::document::Document;
use crate::gradients::norm;
use crate::words::float;

/// End of the path of a file that has none any more, as the kernel names it.
const DELETED: &str = " (deleted)";

/// Notes of one text: offset of the byte that each stands before, and its words.
type Notes = Vec<(usize, String)>;

/// Writes the text of standard output, with notes.
pub(crate) fn write_stdout(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let notes = notes(document);
    let texts = document.report.texts.all().iter().zip(&notes);
    texts
        .filter(|(text, _)| text.stream == Stream::Stdout)
        .try_for_each(|(text, notes)| write(text, notes, out))
}

/// Writes each text, with notes, into a file of `directory` that is called like its own file, or `stdout` or `stderr`.
pub(crate) fn write_all(document: &Document<'_>, directory: &Path) -> io::Result<()> {
    let mut taken = HashSet::new();
    for (text, notes) in document.report.texts.all().iter().zip(&notes(document)) {
        // A file that was deleted was for the program alone.
        if text.bytes.is_empty() || text.stream.name().ends_with(DELETED) {
            continue;
        }
        let name = name(&text.stream);
        let unique = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}-{n}") });
        let Some(name) = unique.into_iter().find(|name| taken.insert(name.clone())) else { continue };
        let mut out = BufWriter::new(File::create(directory.join(name))?);
        write(text, notes, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

fn name(stream: &Stream) -> String {
    let name = Path::new(stream.name()).file_name();
    name.map_or("file".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Notes of each text, in the order of their places.
fn notes(document: &Document<'_>) -> Vec<Notes> {
    let report = document.report;
    let mut notes = vec![Notes::new(); report.texts.all().len()];
    let gradients = report.answers.iter().flat_map(|answers| &answers.gradients);
    let norms: HashMap<u64, f64> =
        gradients.filter_map(|row| Some((row.output?, norm(&row.values)))).collect();
    for (index, output) in report.outputs.iter() {
        let said = || match norms.get(&index) {
            Some(&norm) => Some(format!("gradient {}", float(norm.into()))),
            None => said(&output),
        };
        for PrintedAt { text, end, .. } in report.texts.places(index) {
            notes[text as usize].extend(said().map(|said| (end as usize, format!(" [{said}]"))));
        }
    }
    // What is formatted first may be written last.
    notes.iter_mut().for_each(|notes| notes.sort_unstable());
    notes
}

/// Words on an output; nothing where nothing was carried.
fn said(output: &Output<'_>) -> Option<String> {
    match output.said {
        OutputShadow::Nothing => None,
        OutputShadow::Dot(derivative) => Some(format!("d {}", float(derivative))),
        OutputShadow::Error { judgement: Judgement::Unsettled, .. } => Some("unsettled".to_owned()),
        OutputShadow::Error { correct_digits, .. } if correct_digits.is_nan() => Some("no digits".to_owned()),
        OutputShadow::Error { correct_digits, .. } => {
            let exact = match output.exact() {
                RealText::Same => String::new(),
                RealText::Other(exact) => format!(", exact {}", exact.trim()),
                RealText::Unknown => ", exact text unknown".to_owned(),
            };
            Some(format!("{correct_digits:.1} digits{exact}"))
        }
    }
}

fn write(text: &WrittenText, notes: &Notes, out: &mut dyn Write) -> io::Result<()> {
    let mut written = 0;
    for (at, note) in notes {
        out.write_all(&text.bytes[written..*at])?;
        out.write_all(note.as_bytes())?;
        written = *at;
    }
    out.write_all(&text.bytes[written..])
}
