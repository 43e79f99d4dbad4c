//! Functions of the program whose calls mean something: those that print or parse floats, those of the mathematical
//! library.
//!
//! Each family is a table from symbol names to what a call means, and the code that reads a call's arguments by the
//! System V calling convention. Knows neither shadows nor reports; a session does.

pub(crate) mod abi;
mod call;
mod digits;
#[cfg(test)]
pub(crate) mod fake;
mod families;
mod gfortran;
mod hotspot;
mod integers;
mod left_out;
mod libm;
mod libmvec;
mod library;
pub(crate) mod machine;
mod notations;
mod numpy;
mod parsers;
mod placement;
mod printf;
mod runtimes;
mod software;
mod sqlite;
mod unwatched;
mod writers;

pub(crate) use call::{Argument, Given, Made, Outcome};
pub(crate) use digits::Conversion;
pub(crate) use families::{Family, floats};
pub(crate) use gfortran::Statements;
pub(crate) use hotspot::{Characters, Entry, Exports, Hotspot, Memory, PARSER as JAVA_PARSER, Role};
pub(crate) use integers::{IntegerParser, IntegerRead, integer_at};
pub(crate) use left_out::{Calls as LeftOutCalls, LeftOut};
pub(crate) use libm::{Math, arguments, outcome};
pub(crate) use library::Library;
pub(crate) use numpy::{format_of_scalar, type_name};
pub(crate) use parsers::{Parse, Parser};
pub(crate) use placement::{IntegerPlace, NoSpot, Spot, parameter, register, spots, word};
pub(crate) use printf::Formatted;
pub(crate) use unwatched::unwatched;
pub(crate) use writers::writes;

use shadowgrind_core::findings::OutputKind;
use shadowgrind_core::format::Format;
use shadowgrind_symbols::{Symbol, SymbolFile};

/// Meaning of a call of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hook {
    /// Formats floats.
    Output(OutputKind, Family),
    /// Formats whatever it is given, by way of functions that format floats: what those print is its caller's.
    Prints,
    /// An operation on floats.
    Math(Math),
    /// Turns text into a float, or the other way: whatever floats it estimates digits with, integers correct them.
    Digits(Conversion),
    /// Sees to the run-time system itself: some of its calls are not looked at.
    LeftOut(&'static LeftOut),
    /// Puts a number of this format, which the first register of Go's convention holds, into memory of its own, or, if it
    /// is small, leads to a table of such.
    Boxes(Format),
    /// Computes with floats that the processor does not have.
    Software,
    /// Formats an integer of Go's, perhaps out of such a table.
    PrintsInteger,
    /// Goes back to where a function was called from, past those that are under way.
    Unwinds,
    /// Turns a text into a float.
    Parses(Parser),
    /// Turns a text into an integer.
    ParsesInteger(IntegerParser),
    /// Has a text turned into a float that the program was given, not one that it is written in.
    ParsesData,
    /// Code of Java's that turns texts into floats, made while the program runs.
    Java(Entry),
    /// Runs the code of a Python script, or of a module, which may be one that the row leaves out.
    RunsCode(&'static LeftOut),
}

/// Functions that go back past others: the C library's, and the one by which exceptions begin.
const UNWINDING: [&str; 5] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "_Unwind_RaiseException"];

/// The meaning of the function `symbol` of `library`, if it has one.
pub(crate) fn of(symbol: &Symbol<'_>, library: &Library) -> Option<Hook> {
    let name = symbol.name;
    let left_out = |row: &'static LeftOut| match row.calls {
        LeftOutCalls::All => Hook::LeftOut(row),
        LeftOutCalls::Runs(_) => Hook::RunsCode(row),
    };
    let digits = digits::conversion(name).map(Hook::Digits);
    digits
        .or_else(|| left_out::of(name).map(left_out))
        .or_else(|| runtimes::boxes(name).map(Hook::Boxes))
        .or_else(|| software::is_of(name).then_some(Hook::Software))
        .or_else(|| runtimes::prints_integer(name).then_some(Hook::PrintsInteger))
        .or_else(|| UNWINDING.contains(&name).then_some(Hook::Unwinds))
        .or_else(|| parsers::parses_data(name).then_some(Hook::ParsesData))
        .or_else(|| parsers::of(name).map(Hook::Parses))
        .or_else(|| integers::of(name).map(Hook::ParsesInteger))
        .or_else(|| families::of(symbol, library))
        .or_else(|| libm::of(symbol, library).map(Hook::Math))
}

/// Functions of `file`, a module of Python, that mean something and are known by the names that scripts call them by: name and
/// address.
pub(crate) fn of_scripts(file: &SymbolFile) -> Vec<(&'static str, u64, Hook)> {
    let name = file.path().file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with(numpy::FILE) {
        return Vec::new();
    }
    let hook = |layout| Hook::Output(OutputKind::Python, Family::Numpy(layout));
    let found = |(name, layout)| Some((name, file.method(name, numpy::VECTOR_CALL)?, hook(layout)));
    numpy::METHODS.into_iter().filter_map(found).collect()
}
