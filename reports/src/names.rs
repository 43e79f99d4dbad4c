//! The list of what a SPEC can name in a program's file: lines for people, an array for tools.
//!
//! Knows nothing of how names are found.

use std::io::{self, Write};

use serde::Serialize;
use shadowgrind_symbols::Nameable;

#[derive(Serialize)]
struct NameRecord<'a> {
    spec: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    /// Empty where it is not known.
    file: &'a str,
}

/// Writes one line for each name: SPEC, type, source file.
pub fn write_text(names: &[&Nameable], out: &mut dyn Write) -> io::Result<()> {
    // One name of a template, which may be as long as a page, is not to push all types out of sight.
    const WIDEST: usize = 48;
    let width = |text: fn(&Nameable) -> usize| {
        let widths = names.iter().map(|name| text(name));
        widths.filter(|&width| width <= WIDEST).max().unwrap_or(0)
    };
    let (specs, kinds) = (width(|name| name.spec.chars().count()), width(|name| name.kind.chars().count()));
    for Nameable { spec, kind, file } in names {
        let line = format!("{spec:specs$}  {kind:kinds$}  {file}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes the names as an array of records, one on a line.
pub fn write_json(names: &[&Nameable], out: &mut dyn Write) -> io::Result<()> {
    let mut separator = "[";
    for name in names {
        let record = NameRecord { spec: &name.spec, kind: &name.kind, file: &name.file };
        write!(out, "{separator}\n  {}", serde_json::to_string(&record)?)?;
        separator = ",";
    }
    writeln!(out, "{}", if names.is_empty() { "[]" } else { "\n]" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_records() {
        let nameable = |[spec, kind, file]: [&str; 3]| Nameable {
            spec: spec.to_owned(),
            kind: kind.to_owned(),
            file: file.to_owned(),
        };
        let names = [["shift", "double", "a.c"], ["f#*2", "long double *", ""]].map(nameable);
        let names: Vec<&Nameable> = names.iter().collect();
        let mut text = Vec::new();
        write_text(&names, &mut text).unwrap();
        assert_eq!(std::str::from_utf8(&text).unwrap(), "shift  double         a.c\nf#*2   long double *\n");
        let long = nameable([&"x".repeat(80), "float", "b.c"]);
        text.clear();
        write_text(&[names[0], &long], &mut text).unwrap();
        let expected = format!("shift  double  a.c\n{}  float   b.c\n", long.spec);
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        let mut json = Vec::new();
        write_json(&names, &mut json).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(read[1]["type"], "long double *");
        json.clear();
        write_json(&[], &mut json).unwrap();
        assert_eq!(json, b"[]\n");
    }
}
