//! Errors of a SPEC, in one line each.

use std::fmt;

/// A SPEC that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    spec: String,
    at: usize,
    problem: Problem,
}

/// Problem of a SPEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No name where a variable was expected.
    VariableName,
    /// No name where a function was expected.
    FunctionName,
    /// A member's name is missing.
    MemberName,
    /// No whole number where an index was expected.
    Index,
    /// The bracket is not closed by this character.
    Unclosed(char),
    /// The second index of a range comes before the first.
    EmptyRange,
    /// `i:j` between brackets, where it means different things to different people.
    ColonRange,
    /// After `:` stands no known element type.
    ElementType,
    /// After `#` stands neither a number, nor `*` and a number, nor `ret`.
    Slot,
    /// After `+0x` stands no hexadecimal number, or before it no module.
    Offset,
    /// No number of a call.
    CallNumber,
    /// No number of an argument after the `#` of a range's end.
    Argument,
    /// After `~` stands no number.
    Value,
    /// No number of a word of the command line.
    Word,
    /// After `env:` stands no name.
    EnvironmentName,
    /// After `file:` stands no name.
    FileName,
    /// After `label:` stands no text.
    Label,
    /// No number of a line, or of a number on it.
    Line,
    /// More than a name and subscripts of a script's variable.
    ScriptVariable,
    /// Only an input can be named so.
    InputOnly,
    /// Only an output can be named so.
    OutputOnly,
    /// After `=` stands no finite number.
    Weight,
    /// Something follows where the SPEC should end.
    Trailing,
}

impl SpecError {
    pub(super) fn new(spec: &str, at: usize, problem: Problem) -> Self {
        SpecError { spec: spec.to_owned(), at, problem }
    }

    /// The problem.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// Column of the problem in the SPEC, in characters from 1.
    pub fn column(&self) -> usize {
        self.spec[..self.at].chars().count() + 1
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.spec, self.problem)?;
        match self.spec[self.at..].chars().next() {
            Some(_) => write!(f, " at `{}` (column {})", &self.spec[self.at..], self.column()),
            None => write!(f, " at its end"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::VariableName => "a variable's name is missing",
            Problem::FunctionName => "a function's name is missing",
            Problem::MemberName => "a member's name is missing",
            Problem::Index => "expected an index, a whole number",
            Problem::Unclosed(bracket) => return write!(f, "expected `{bracket}`"),
            Problem::EmptyRange => "this range is empty",
            Problem::ColonRange => "write i..j (j excluded) between brackets",
            Problem::ElementType => "expected float, double or longdouble",
            Problem::Slot => "expected an argument's number from 1, `*` and a number, or `ret`",
            Problem::Offset => "expected a module and a hexadecimal offset",
            Problem::CallNumber => "expected a number from 0",
            Problem::Argument => "expected an argument's number from 1",
            Problem::Value => "expected a number",
            Problem::Word => "expected the number of a word after the program, from 1",
            Problem::EnvironmentName => "the name of an environment variable is missing",
            Problem::FileName => "a file's name is missing",
            Problem::Label => "the text before the number is missing, as in label:energy",
            Problem::Line => "expected lines and numbers from 1, as in 12, 12:3 or 12-40:3",
            Problem::ScriptVariable => "expected a global variable, or elements of it: x, x[0], x[2..5]",
            Problem::InputOnly => "only an input can be named so",
            Problem::OutputOnly => "only an output can be named so",
            Problem::Weight => "expected a finite number as weight",
            Problem::Trailing => "expected the end",
        })
    }
}

impl std::error::Error for SpecError {}
