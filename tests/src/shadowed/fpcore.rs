//! A small FPCore: reads cores, writes them as C, and computes what the C program must print beside what exact
//! arithmetic would have given for the same sequence of operations.
//!
//! Enough of FPCore 2 for straight-line programs and loops over scalars in binary64 and binary32. Exact values have
//! [`TRUTH_BITS`] bits; control flow follows the floats, as it does under the tool.

mod c;
mod evaluate;
mod parse;
mod samples;

pub use c::program;
pub use evaluate::{Dual, TRUTH_BITS, error_bits, evaluate};
pub use parse::{parse_all, ranges};
pub use samples::{SAMPLES, cores, samples, source};

/// An expression as it is written: an atom or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number or a name.
    Atom(String),
    /// An operator with its operands, or a special form.
    List(Vec<Expression>),
}

impl Expression {
    /// The atom's text.
    pub fn atom(&self) -> Option<&str> {
        match self {
            Expression::Atom(text) => Some(text),
            Expression::List(_) => None,
        }
    }

    /// The list's items; none of an atom.
    pub fn items(&self) -> &[Expression] {
        match self {
            Expression::Atom(_) => &[],
            Expression::List(items) => items,
        }
    }
}

/// One core.
#[derive(Clone, Debug)]
pub struct Core {
    /// The `:name`, a C identifier.
    pub name: String,
    /// The arguments.
    pub arguments: Vec<String>,
    /// True if `:precision` is binary32; else it is binary64.
    pub single: bool,
    /// The `:pre`.
    pub pre: Option<Expression>,
    /// The body, which says what it computes.
    pub body: Expression,
}
