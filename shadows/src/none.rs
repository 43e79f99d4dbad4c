//! The shadow of a run without one: nothing is carried, and outputs are recorded as they are.

use shadowgrind_core::findings::Subject;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Lane, Policy, Rule, Settings, Shadow, reach};
use shadowgrind_core::words::Raw;

/// Shadow that carries nothing. Whatever is in a cell stays there, where moves are followed all the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Rule for Nothing {
    type Value = u128;

    fn op(&mut self, _lane: &Lane<'_, u128>) -> Option<u128> {
        None
    }

    fn scale(&mut self, _cell: &u128, _format: Format, _negate: bool, _power: i32) -> Option<u128> {
        None
    }
}

impl Shadow for Nothing {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "Nothing: the engine alone";
    const NUMBER: u64 = 0;
    const SUBJECT: Subject = Subject::Program;
    const POLICY: Policy = Policy::SEEDED;

    type Reach = reach::Nowhere;
    type Words = Raw;

    fn new(_settings: &Settings) -> Self {
        Nothing
    }
}
