//! A session: everything between the running program and its report.
//!
//! The engine says what the program does (maps a file, arrives at a function, makes a request, ends); the session knows
//! what that means for inputs, outputs and mathematical functions, and tells the shadow's [`Observer`]. Reaches the
//! program through [`Machine`] alone, and knows neither translation nor shadows.

mod answers;
mod arrivals;
mod askers;
mod boxes;
mod by_value;
mod call_sites;
mod calls;
mod config;
mod confirm;
mod copies;
mod entered;
mod hidden;
mod indices;
mod integers;
mod java;
mod known;
mod layout;
mod locals;
mod magic_numbers;
mod modules;
mod needed;
pub(crate) mod observer;
mod outputs;
mod own_texts;
mod parsed;
mod places;
mod python;
mod questions;
mod read_back;
mod report;
pub(crate) mod requests;
mod reread;
mod script_variable;
mod scripts;
mod seeds;
mod selection;
mod sent;
mod spec_failure;
mod stack;
mod standing;
mod state;
mod tail_calls;
mod taken;
mod texts;
mod tree;
mod unparsed;
mod walk;
mod warnings;
mod wrappers;

pub(crate) use arrivals::Arrival;
pub(crate) use by_value::{Taken, Taker, Taking};
pub(crate) use calls::Calls;
pub use config::SessionConfig;
pub(crate) use observer::Observer;
pub use spec_failure::SpecFailure;
pub(crate) use stack::Noted;
pub(crate) use state::{Decision, Session};
pub(crate) use tree::{Tree, unfollowed};

#[cfg(test)]
mod tests;
