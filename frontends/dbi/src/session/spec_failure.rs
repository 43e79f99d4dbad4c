//! Failures of SPECs, each a line for people.
//!
//! Knows nothing of how what they name is found.

use shadowgrind_symbols::{LookupError, OpenError};
use std::fmt;

/// Reason why a SPEC, or another file the session needs, is no good: one line.
#[derive(Debug)]
pub enum SpecFailure {
    /// A SPEC names nothing that can be seeded or sampled.
    Lookup {
        /// The option and its SPEC.
        option: String,
        /// The error of the look-up.
        error: LookupError,
    },
    /// A SPEC that cannot be followed although what it names is known.
    Unsupported {
        /// The option and its SPEC.
        option: String,
        /// Why.
        why: String,
    },
    /// The program's symbols cannot be read, but SPECs were given.
    Program(OpenError),
    /// A suppressions file cannot be read or understood.
    Suppressions(String),
}

impl fmt::Display for SpecFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecFailure::Lookup { option, error } => write!(f, "{option}: {error}"),
            SpecFailure::Unsupported { option, why } => write!(f, "{option}: {why}"),
            SpecFailure::Program(error) => write!(f, "{error}"),
            SpecFailure::Suppressions(error) => write!(f, "--suppressions: {error}"),
        }
    }
}

impl std::error::Error for SpecFailure {}

impl SpecFailure {
    /// Tells whether another file may have what this one does not.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, SpecFailure::Lookup { error: LookupError::Unknown { .. }, .. })
    }

    /// Tells whether it names what the user may have meant.
    pub(super) fn helps(&self) -> bool {
        match self {
            SpecFailure::Lookup { error: LookupError::Unknown { near, .. }, .. } => !near.is_empty(),
            SpecFailure::Program(_) => false,
            _ => true,
        }
    }
}
