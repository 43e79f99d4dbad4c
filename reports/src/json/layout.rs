//! Layout of the text: where lines end.

use std::io::{self, Write};

/// Breaks lines between the fields of the report and between the records of its lists, nowhere else.
#[derive(Default)]
pub(super) struct Lines {
    depth: usize,
}

impl Lines {
    /// Fields of the report, records of its lists, and fields of records.
    const FIELDS: usize = 1;
    const RECORDS: usize = 2;

    fn break_line<W: ?Sized + Write>(&self, out: &mut W, depth: usize) -> io::Result<()> {
        writeln!(out)?;
        out.write_all(&b"    "[..2 * depth])
    }

    fn item<W: ?Sized + Write>(&self, out: &mut W, first: bool, breaks: usize) -> io::Result<()> {
        if !first {
            out.write_all(if self.depth == breaks { b"," } else { b", " })?;
        }
        if self.depth == breaks { self.break_line(out, self.depth) } else { Ok(()) }
    }

    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        out.write_all(bracket)
    }

    /// The layout of what stands inside a record: all on its line.
    pub(super) fn inside_record() -> Lines {
        Lines { depth: Lines::RECORDS + 1 }
    }
}

impl serde_json::ser::Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first, Lines::RECORDS)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth == 0 {
            writeln!(out)?;
        }
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first, Lines::FIELDS)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
