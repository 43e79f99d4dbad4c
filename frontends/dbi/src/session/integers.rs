//! Numbers of texts that the program reads as integers, and by what: said where an `--input` names one, since an integer
//! has no derivative.
//!
//! Knows neither how integers are parsed nor what was seeded.

use super::parsed::number_at;
use super::state::State;
use super::texts;
use crate::hooks::machine::Machine;
use crate::hooks::{IntegerParser, IntegerRead, integer_at};
use hashbrown::HashMap;
use shadowgrind_symbols::demangle;

/// Numbers that were read as integers, with what read them.
pub(super) type Integers = HashMap<texts::Place, String>;

/// Call that reads an integer, which is known by its value when it has returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    parser: IntegerParser,
    /// Number of the function's name.
    function: usize,
    /// Address of the integer, and its bytes.
    place: u64,
    bytes: u64,
}

impl State {
    /// Notes the number that `parser`, which begins, is given as a text; the call, if only its end will tell.
    pub(super) fn begin_integer(
        &mut self,
        parser: IntegerParser,
        function: usize,
        m: &dyn Machine,
    ) -> Option<Reading> {
        let parsed = self.parsed.as_mut()?;
        match parser.call(m).ok()?? {
            IntegerRead::Value(place, bytes) => Some(Reading { parser, function, place, bytes }),
            IntegerRead::Text(address, length) => {
                let (address, text, value) = number_at(m, address, length, 1)?;
                let place = parsed.texts.integer(m, address, &text, value)?;
                self.reads_integer(place, parser, function);
                None
            }
        }
    }

    /// Notes the number that a call has read, which has just returned.
    pub(super) fn end_integer(&mut self, reading: Reading, m: &dyn Machine) {
        let (Some(parsed), Some(value)) = (&mut self.parsed, integer_at(m, reading.place, reading.bytes))
        else {
            return;
        };
        if let Some(place) = parsed.texts.integer_of(value as f64) {
            self.reads_integer(place, reading.parser, reading.function);
        }
    }

    fn reads_integer(&mut self, place: texts::Place, parser: IntegerParser, function: usize) {
        let name = || parser.label.map_or_else(|| demangle(&self.names[function].0), str::to_owned);
        let Some(parsed) = &mut self.parsed else { return };
        parsed.integers.entry(place).or_insert_with(name);
    }
}
