//! Errors of symbols, in one line each.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A file whose symbols cannot be read.
#[derive(Clone, Debug)]
pub struct OpenError {
    pub(super) path: PathBuf,
    pub(super) problem: OpenProblem,
}

/// Why.
#[derive(Clone, Debug)]
pub enum OpenProblem {
    /// The file cannot be read.
    Io(Arc<io::Error>),
    /// No ELF file.
    NotElf,
    /// ELF file of another class, byte order or processor.
    Foreign,
    /// ELF file that says something about itself that cannot be.
    Corrupt(&'static str),
    /// Debug information that says something that cannot be.
    Debug(gimli::Error),
}

impl OpenError {
    /// Why.
    pub fn problem(&self) -> &OpenProblem {
        &self.problem
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.problem {
            OpenProblem::Io(error) => write!(f, "{error}"),
            OpenProblem::NotElf => write!(f, "not an ELF file"),
            OpenProblem::Foreign => write!(f, "not a 64-bit x86 ELF file"),
            OpenProblem::Corrupt(what) => write!(f, "corrupt ELF file ({what})"),
            OpenProblem::Debug(error) => write!(f, "corrupt debug information ({error})"),
        }
    }
}

impl std::error::Error for OpenError {}

/// A name that leads to no floats.
#[derive(Clone, Debug)]
pub enum LookupError {
    /// No variable, or no function, of this name.
    Unknown {
        /// `variable` or `function`.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The file's path.
        path: PathBuf,
        /// Names like it, nearest first.
        near: Vec<String>,
        /// The parts that the file lacks and that might have held the name.
        lacks: Lacks,
    },
    /// Several variables have this name.
    Ambiguous {
        /// The name that was asked for.
        name: String,
        /// Names that tell them apart.
        candidates: Vec<String>,
    },
    /// An index outside the bounds of its dimension.
    OutOfRange {
        /// The array.
        name: String,
        /// The index.
        index: i64,
        /// Lowest index.
        lower: i64,
        /// Highest index.
        upper: i64,
    },
    /// More subscripts than the variable has dimensions, or fewer where the language wants all.
    WrongRank {
        /// The array.
        name: String,
        /// The dimensions.
        rank: usize,
        /// The subscripts given.
        given: usize,
    },
    /// The named thing is no float, complex, or array of those.
    NotFloat {
        /// The variable or part.
        name: String,
        /// The type.
        kind: String,
    },
    /// A structure, where only members can be meant.
    Members {
        /// The variable or part.
        name: String,
        /// The member that was asked for and does not exist, if one was.
        asked: Option<String>,
        /// The members there are.
        members: Vec<String>,
    },
    /// The place or size is known only while the program runs: an allocatable array, say.
    Dynamic {
        /// The variable.
        name: String,
    },
    /// The named thing is no pointer, but was to be followed.
    NoPointer {
        /// The variable or part.
        name: String,
    },
    /// A pointer, where only what it leads to can be meant.
    Pointer {
        /// The variable or part.
        name: String,
    },
    /// A range without an end in an array that does not say how long it is.
    Endless {
        /// The array.
        name: String,
    },
    /// A parameter that is passed in parts, by value.
    InParts {
        /// The parameter.
        name: String,
    },
    /// A function has no argument of this number.
    Arguments {
        /// Number of arguments.
        count: usize,
    },
    /// The end of a range that is no integer.
    NotInteger {
        /// The name, or `#` and the number of an argument.
        name: String,
    },
    /// Variable without a place in memory: the compiler optimised it away.
    NoPlace {
        /// The variable.
        name: String,
    },
    /// Local variables, which are named with their functions.
    Local {
        /// The name that was given.
        name: String,
        /// Names with their functions, one for each.
        locals: Vec<String>,
    },
    /// A function of which no local variables are known.
    NoLocals {
        /// The function.
        name: String,
    },
    /// The file could not be read.
    Open(OpenError),
}

/// Parts that a file lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// Nothing: the name is just not there.
    Nothing,
    /// Debug information: names of the source language may be missing.
    Debug,
    /// Debug information and the symbol table: all but exported names are missing.
    Symbols,
}

impl From<OpenError> for LookupError {
    fn from(error: OpenError) -> Self {
        LookupError::Open(error)
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookupError::Unknown { what, name, path, near, lacks } => {
                write!(f, "no {what} `{name}` in {}", path.display())?;
                match lacks {
                    Lacks::Nothing => {}
                    Lacks::Debug => write!(f, ", which has no debug information")?,
                    Lacks::Symbols => write!(f, ", which is stripped: only exported names can be found")?,
                }
                if near.is_empty() { Ok(()) } else { write!(f, "; did you mean {}?", quoted(near, " or ")) }
            }
            LookupError::Ambiguous { name, candidates } => {
                write!(f, "`{name}` is the name of several variables: {}", quoted(candidates, ", "))
            }
            LookupError::OutOfRange { name, index, lower, upper } => {
                write!(f, "index {index} of `{name}` is out of range {lower} to {upper}")
            }
            LookupError::WrongRank { name, rank: 0, .. } => write!(f, "`{name}` is not an array"),
            LookupError::WrongRank { name, rank, given } => {
                let s = if *rank == 1 { "" } else { "s" };
                write!(f, "`{name}` has {rank} dimension{s}, not {given}")
            }
            LookupError::NotFloat { name, kind } => write!(f, "`{name}` is not a float but {kind}"),
            LookupError::Members { name, asked: Some(asked), members } => {
                write!(f, "`{name}` has no member `{asked}`, only {}", quoted(members, ", "))
            }
            LookupError::Members { name, asked: None, members } => {
                write!(f, "`{name}` is a structure; name one of its members {}", quoted(members, ", "))
            }
            LookupError::Dynamic { name } => {
                write!(
                    f,
                    "`{name}` is allocated while the program runs; it has no place that can be named before"
                )
            }
            LookupError::NoPointer { name } => write!(f, "`{name}` is not a pointer"),
            LookupError::Pointer { name } => {
                write!(f, "`{name}` is a pointer; name what it leads to: `*{name}`, or `{name}[0..n]`")
            }
            LookupError::Endless { name } => {
                write!(
                    f,
                    "nothing says where `{name}` ends; write the end of the range, a number or a variable"
                )
            }
            LookupError::InParts { name } => {
                write!(f, "`{name}` is a structure that is passed in parts; name a variable")
            }
            LookupError::Arguments { count: 0 } => write!(f, "the function has no arguments"),
            LookupError::Arguments { count: 1 } => write!(f, "the function has only one argument"),
            LookupError::Arguments { count } => write!(f, "the function has only {count} arguments"),
            LookupError::NotInteger { name } => write!(f, "`{name}` is not an integer"),
            LookupError::NoPlace { name } => write!(f, "`{name}` was optimised away"),
            LookupError::Local { name, locals } => {
                /// Number of local variables that are named.
                const MOST: usize = 4;
                let more = locals.len().saturating_sub(MOST);
                let shown = quoted(&locals[..locals.len() - more], " or ");
                write!(f, "`{name}` is a local variable; write {shown}")?;
                if more == 0 { Ok(()) } else { write!(f, ", or the like in {more} more functions") }
            }
            LookupError::NoLocals { name } => {
                write!(f, "`{name}` has no local variables in debug information")
            }
            LookupError::Open(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LookupError {}

fn quoted(names: &[String], separator: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(separator)
}
