//! The language of `--input=SPEC[=WEIGHT]` and `--output=SPEC`.
//!
//! Only its grammar: what a name refers to is for whoever can read symbols, what an index means depends on the language
//! the variable was declared in, and where a text comes from is found out while the program runs. Every malformed SPEC is
//! one [`SpecError`] that shows what is wrong and where.

mod call;
mod error;
mod place;
mod scan;
mod target;

use std::str::FromStr;

pub use call::{Callee, Calls, Slot};
pub use error::{Problem, SpecError};
pub use place::{Span, Stream, StreamPlace, TextPlace, TextSource};

use crate::format::Format;

/// An `--input`.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// As it was written, without the weight.
    pub text: String,
    /// The numbers to seed.
    pub target: InputTarget,
    /// The weight of the seed; 1 unless given.
    pub weight: f64,
}

/// Target of an `--input`.
#[derive(Clone, Debug, PartialEq)]
pub enum InputTarget {
    /// Floats by where the program has them.
    Place(Target),
    /// Numbers that the program parses, by their order or value.
    Parsed(Calls),
    /// The floats that the program makes from a text.
    Text(TextPlace),
}

/// An `--output`.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputSpec {
    /// `printed`: every float the program prints.
    Printed,
    /// `last`: the last float it prints.
    Last,
    /// `label:energy`: the printed floats that follow this text on their line.
    Label(String),
    /// `site:main.c:57`: the floats that this line prints.
    Site {
        /// The source file, or the end of its path.
        file: String,
        /// The line, from 1.
        line: u32,
    },
    /// `stdout:12:1`: printed floats by where they stand in what the program writes.
    Written(StreamPlace),
    /// A variable, argument or result.
    Named {
        /// As it was written: the label of the output.
        text: String,
        /// The numbers to sample.
        target: Target,
        /// The weight in one sum of all outputs; nothing if it has none.
        weight: Option<f64>,
    },
}

/// Floats by where the program has them.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A global or static variable.
    Variable {
        /// The variable.
        variable: Variable,
        /// `@f`: at each entry of (input) or return from (output) this function, not at the start and end of the run.
        /// Then the variable may be one of the function's parameters.
        at: Option<Callee>,
    },
    /// A value passed to or returned from a function.
    Call {
        /// The function.
        function: Callee,
        /// The value of a call.
        slot: Slot,
        /// The selectors of floats in the memory that a pointer leads to.
        selectors: Vec<Selector>,
        /// The format, for functions without debug information.
        format: Option<Format>,
        /// The calls that are meant.
        calls: Calls,
    },
    /// `python:x`: a global variable of a Python script, when the script ends.
    Script {
        /// The name.
        name: String,
        /// The subscripts of its elements.
        subscripts: Vec<Subscript>,
    },
    /// A local variable, whenever it is assigned.
    Local {
        /// The scope of the variable.
        scope: Scope,
        /// The variable.
        variable: Variable,
    },
}

/// Place where a local variable is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `f:x`: anywhere in the function.
    Function(String),
    /// `file.c:12:x`: by the code of a line.
    Line {
        /// The source file, or the end of its path.
        file: String,
        /// The line, from 1.
        line: u32,
    },
}

/// A variable, or elements of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name as it was written, scopes included.
    pub name: String,
    /// The name split at `::`: scopes outermost first, the variable itself last.
    pub path: Vec<String>,
    /// Selectors of a part of it, applied left to right.
    pub selectors: Vec<Selector>,
    /// `:float`, `:double`, `:longdouble`: the format, for objects without debug information.
    pub format: Option<Format>,
}

/// One step from a variable to its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `[i][j]` or `(i,j)`: subscripts in the order they were written.
    Index(Vec<Subscript>),
    /// `.x`, `->x` or Fortran's `%x`.
    Member(String),
    /// `*` before all: what the pointer that the rest names leads to.
    Pointee,
}

/// A subscript, in the bounds of the language the array was declared in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// `i`
    One(i64),
    /// `i..j` (without j), `i..=j` and Fortran's `i:j` (with it); an end that is not written is the array's own.
    Range {
        /// First index.
        start: Option<i64>,
        /// Last index, and whether it belongs to the range.
        end: Option<(End, bool)>,
    },
}

/// End of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// `10`: at this index.
    Index(i64),
    /// `n`: at the value of an integer variable or parameter.
    Variable(String),
    /// `#3`: at the value of the function's third argument.
    Argument(u32),
}

impl OutputSpec {
    /// The SPEC as it was written, if it names floats by where the program has them.
    pub fn text(&self) -> Option<&str> {
        match self {
            OutputSpec::Named { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The weight that was given.
    pub fn weight(&self) -> Option<f64> {
        if let OutputSpec::Named { weight, .. } = self { *weight } else { None }
    }
}

impl FromStr for InputSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        let (text, weight) = split_weight(spec)?;
        let target = target::input(text)?;
        Ok(InputSpec { text: text.to_owned(), target, weight: weight.unwrap_or(1.0) })
    }
}

impl FromStr for OutputSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        if let Some(written) = target::written(spec)? {
            return Ok(written);
        }
        let (text, weight) = split_weight(spec)?;
        Ok(OutputSpec::Named { text: text.to_owned(), target: target::place(text)?, weight })
    }
}

/// Position of the `=` of a weight: not that of `..=`, nor one in `operator==`, nor one in the name of a file or of an
/// environment variable.
fn weight_sign(spec: &str) -> Option<usize> {
    let at = spec.rfind('=')?;
    let (name, weight) = (&spec[..at], &spec[at + 1..]);
    let may_hold_one = name.contains("operator") || place::is_text(spec);
    let in_name = name.ends_with("..") || (may_hold_one && weight.parse::<f64>().is_err());
    (!in_name).then_some(at)
}

fn split_weight(spec: &str) -> Result<(&str, Option<f64>), SpecError> {
    let Some(at) = weight_sign(spec) else { return Ok((spec, None)) };
    match spec[at + 1..].trim().parse::<f64>() {
        Ok(weight) if weight.is_finite() => Ok((&spec[..at], Some(weight))),
        _ => Err(SpecError::new(spec, at + 1, Problem::Weight)),
    }
}

#[cfg(test)]
mod tests;
