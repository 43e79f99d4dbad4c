//! Lists of all numbers that a program reads or prints, each with the SPEC that names it.

use serde::{Deserialize, Serialize};

use crate::site::Site;

/// Numbers that a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Listed {
    /// Numbers that the program parses: what `--input` can name.
    Inputs,
    /// Floats that it prints: what `--output` can name.
    Outputs,
}

/// Number of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The SPEC that names the number.
    pub spec: String,
    /// The text that was parsed or printed; of a printed one, where that is known.
    pub text: Option<String>,
    /// The value.
    pub value: f64,
    /// The function that parsed it, or the text before a printed one.
    pub with: Option<String>,
    /// The place of the call.
    pub site: Site,
    /// Callers of that place, from the innermost outwards, if a line of the user's is to be looked for among them.
    pub callers: Vec<Site>,
    /// Number of times in a row that just this happened.
    pub count: u64,
}

/// List of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The kind of numbers.
    pub listed: Listed,
    /// The numbers, in the order they were parsed or printed.
    pub entries: Vec<Entry>,
}

impl Listing {
    /// An empty list.
    pub fn new(listed: Listed) -> Listing {
        Listing { listed, entries: Vec::new() }
    }

    /// Appends a number.
    pub fn push(&mut self, entry: Entry) {
        match self.entries.last_mut() {
            Some(last) if (&last.spec, &last.with, last.site) == (&entry.spec, &entry.with, entry.site) => {
                last.count += entry.count;
            }
            _ => self.entries.push(entry),
        }
    }
}
