//! Warnings for a user who reads nothing else: one line each, on standard error whatever else is silenced.

/// Something that makes the report say less, or something else, than its reader may think.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind, for tools: a word that stays the same.
    pub code: &'static str,
    /// One line for people.
    pub message: String,
}
