//! The language of `--input=SPEC[=WEIGHT]` and `--output=SPEC`.
//!
//! Only its grammar: what a name refers to is for whoever can read symbols, what an index means depends on the language
//! the variable was declared in. Every malformed SPEC is one [`SpecError`] that shows what is wrong and where.

mod error;
mod scan;

use std::str::FromStr;

pub use error::{Problem, SpecError};

use crate::format::Format;
use scan::Scanner;

/// An `--input`.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// As it was written, without the weight.
    pub text: String,
    /// What is seeded.
    pub target: Target,
    /// What it is seeded with; 1 unless given.
    pub weight: f64,
}

/// An `--output`.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputSpec {
    /// `printed`: every float the program prints.
    Printed,
    /// A variable, argument or result.
    Named {
        /// As it was written: the label of the output.
        text: String,
        /// What is sampled.
        target: Target,
    },
}

/// What a SPEC names.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A global or static variable.
    Variable {
        /// Which.
        variable: Variable,
        /// `@f`: at each entry of (input) or return from (output) this function, not at the start and end of the run.
        at: Option<String>,
    },
    /// A value passed to or returned from a function, at each of its calls.
    Call {
        /// The function, qualified or not, or its raw symbol.
        function: String,
        /// Which value.
        slot: Slot,
    },
}

/// A value at a function's boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// `#2`: the second floating-point argument, from 1.
    Argument(u32),
    /// `#*2`: the float that the second argument, from 1, points to.
    Pointee(u32),
    /// `#ret`: the result.
    Result,
}

/// A variable, or elements of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name as it was written, scopes included.
    pub name: String,
    /// The same, split at `::`: scopes outermost first, the variable itself last.
    pub path: Vec<String>,
    /// Which part of it, applied left to right.
    pub selectors: Vec<Selector>,
    /// `:float`, `:double`, `:longdouble`: the format, for objects without debug information.
    pub format: Option<Format>,
}

/// One step from a variable to its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `[i][j]` or `(i,j)`: subscripts in the order they were written.
    Index(Vec<Subscript>),
    /// `.x` or Fortran's `%x`.
    Member(String),
}

/// A subscript, in the bounds of the language the array was declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// `i`
    One(i64),
    /// `i..j` (without j), `i..=j` and Fortran's `i:j` (with it); an end that is not written is the array's own.
    Range {
        /// First index.
        start: Option<i64>,
        /// Last index, and whether it belongs to the range.
        end: Option<(i64, bool)>,
    },
}

impl FromStr for InputSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        let (text, weight) = split_weight(spec)?;
        let target = target(text)?;
        Ok(InputSpec { text: text.to_owned(), target, weight })
    }
}

impl FromStr for OutputSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        if spec == "printed" {
            return Ok(OutputSpec::Printed);
        }
        if let Some(at) = weight_sign(spec) {
            return Err(SpecError::new(spec, at, Problem::WeightOfOutput));
        }
        Ok(OutputSpec::Named { text: spec.to_owned(), target: target(spec)? })
    }
}

/// Position of the `=` of a weight: not that of `..=`, nor one in `operator==`.
fn weight_sign(spec: &str) -> Option<usize> {
    let at = spec.rfind('=')?;
    let (name, weight) = (&spec[..at], &spec[at + 1..]);
    let in_name = name.ends_with("..") || (name.contains("operator") && weight.parse::<f64>().is_err());
    (!in_name).then_some(at)
}

fn split_weight(spec: &str) -> Result<(&str, f64), SpecError> {
    let Some(at) = weight_sign(spec) else { return Ok((spec, 1.0)) };
    match spec[at + 1..].trim().parse::<f64>() {
        Ok(weight) if weight.is_finite() => Ok((&spec[..at], weight)),
        _ => Err(SpecError::new(spec, at + 1, Problem::Weight)),
    }
}

fn target(text: &str) -> Result<Target, SpecError> {
    if let Some(at) = rfind_outside_braces(text, '#') {
        let function = function_name(text, 0..at)?;
        return Ok(Target::Call { function, slot: slot(text, at + 1)? });
    }
    let (variable, at) = match rfind_outside_braces(text, '@') {
        Some(at) => (&text[..at], Some(function_name(text, at + 1..text.len())?)),
        None => (text, None),
    };
    let variable = Scanner::new(text, variable.len()).variable()?;
    Ok(Target::Variable { variable, at })
}

/// Rust's `{closure#0}` is part of a name.
fn rfind_outside_braces(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0;
    let outside = text.char_indices().filter(|&(_, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == wanted
    });
    outside.map(|(at, _)| at).last()
}

fn function_name(text: &str, range: std::ops::Range<usize>) -> Result<String, SpecError> {
    let name = text[range.clone()].trim();
    if name.is_empty() {
        return Err(SpecError::new(text, range.start, Problem::FunctionName));
    }
    Ok(name.to_owned())
}

fn slot(text: &str, at: usize) -> Result<Slot, SpecError> {
    let written = &text[at..];
    if written == "ret" {
        return Ok(Slot::Result);
    }
    let (number, kind): (_, fn(u32) -> Slot) = match written.strip_prefix('*') {
        Some(number) => (number, Slot::Pointee),
        None => (written, Slot::Argument),
    };
    match number.parse() {
        Ok(n) if n > 0 && !number.starts_with('+') => Ok(kind(n)),
        _ => Err(SpecError::new(text, at, Problem::Slot)),
    }
}

#[cfg(test)]
mod tests;
