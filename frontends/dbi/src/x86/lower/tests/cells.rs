//! Cells that keep, for each byte, where it came from; and a shadow that checks operations.

use super::arithmetic;
use super::native::{Machine, WINDOW};
use crate::x86::state;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Cells, Lane, Location, Observed, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};
use std::cmp::Ordering;

/// Says that a byte belongs to the result of an operation.
pub(super) const COMPUTED: u32 = u32::MAX;
/// Says that a byte is no float.
pub(super) const NONE: u32 = u32::MAX - 1;

/// Origins by byte: of the state, then of the window.
pub(super) struct Origins {
    pub(super) origin: Vec<u32>,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    window: u64,
    pub(super) problems: Vec<String>,
}

/// State and window in one row of bytes.
pub(super) fn bytes_of(machine: &Machine) -> Vec<u8> {
    let mut bytes = machine.state();
    bytes.extend_from_slice(&machine.memory);
    bytes
}

impl Origins {
    pub(super) fn new(before: &Machine, after: &Machine, window: u64) -> Self {
        let (before, after) = (bytes_of(before), bytes_of(after));
        let origin = (0..before.len() as u32).collect();
        Origins { origin, before, after, window, problems: Vec::new() }
    }

    fn at(&self, location: Location) -> usize {
        match location {
            Location::State(at) => usize::from(at),
            Location::Memory(address) => {
                let offset = address.wrapping_sub(self.window) as usize;
                assert!(offset < WINDOW, "an address outside the window");
                usize::from(state::BYTES) + offset
            }
        }
    }

    fn is_scratch(at: usize) -> bool {
        (usize::from(state::SCRATCH)..usize::from(state::BYTES)).contains(&at)
    }
}

impl Cells<Vec<u32>> for Origins {
    fn get(&mut self, location: Location, format: Format, bits: u128) -> Option<Vec<u32>> {
        let at = self.at(location);
        let origins = self.origin[at..at + format.bytes()].to_vec();
        let untouched = (at..).zip(&origins).all(|(i, &origin)| origin == i as u32);
        if untouched && !Self::is_scratch(at) && format.bits_of(&self.before[at..]) != bits {
            self.problems.push(format!(
                "operand at {at} is {:#x}, captured {bits:#x}",
                format.bits_of(&self.before[at..])
            ));
        }
        (!origins.contains(&NONE)).then_some(origins)
    }

    fn is_double(&mut self, _location: Location, _bits: u128) -> bool {
        false
    }

    fn set(&mut self, location: Location, format: Format, bits: u128, shadow: Option<Vec<u32>>) {
        let at = self.at(location);
        if !Self::is_scratch(at) && format.bits_of(&self.after[at..]) != bits {
            self.problems.push(format!(
                "result at {at} is {:#x}, captured {bits:#x}",
                format.bits_of(&self.after[at..])
            ));
        }
        let origins = shadow.unwrap_or_else(|| vec![NONE; format.bytes()]);
        let origins = if origins.len() == format.bytes() { origins } else { vec![COMPUTED; format.bytes()] };
        self.origin[at..at + format.bytes()].copy_from_slice(&origins);
    }

    fn permute(&mut self, from: [Location; 2], to: Location, map: &[u8]) {
        let to = self.at(to);
        let [first, second] = from.map(|location| self.at(location));
        let result: Vec<u32> = map
            .iter()
            .map(|&byte| match byte {
                255 => NONE,
                0..64 => self.origin[first + usize::from(byte)],
                _ => self.origin[second + usize::from(byte) - 64],
            })
            .collect();
        self.origin[to..to + result.len()].copy_from_slice(&result);
    }

    fn combine(&mut self, from: [Location; 2], to: Location, bytes: usize) {
        let [to, first, second] = [to, from[0], from[1]].map(|location| self.at(location));
        for i in 0..bytes {
            let of_both = match [self.origin[first + i], self.origin[second + i]] {
                [NONE, origin] | [origin, NONE] => origin,
                _ => COMPUTED,
            };
            self.origin[to + i] = of_both;
        }
    }

    fn carries(&mut self, location: Location, bytes: usize) -> u8 {
        let at = self.at(location);
        let carries = self.origin[at..at + bytes].iter().map(|&origin| u8::from(origin != NONE));
        carries.enumerate().fold(0, |mask, (i, carries)| mask | carries << i)
    }

    fn change_end(&mut self, _from: Location, to: Location, bytes: usize, _change: (bool, i32)) {
        let at = self.at(to);
        self.origin[at..at + bytes].fill(COMPUTED);
    }

    fn copy(&mut self, from: Location, to: Location, bytes: usize) {
        let (from, to) = (self.at(from), self.at(to));
        self.origin.copy_within(from..from + bytes, to);
    }

    fn clear(&mut self, location: Location, bytes: usize) {
        let at = self.at(location);
        self.origin[at..at + bytes].fill(NONE);
    }
}

/// Checks that results are what the op makes of the operands.
#[derive(Default)]
pub(super) struct OpCheck {
    pub(super) problems: Vec<String>,
    /// The instruction rounds otherwise than to nearest.
    pub(super) is_directed: bool,
    /// The result of each comparison asked.
    pub(super) compared: Vec<bool>,
    /// The result of each conversion to an integer.
    pub(super) converted: Vec<i64>,
}

impl Rule for OpCheck {
    type Value = Vec<u32>;

    fn op(&mut self, lane: &Lane<'_, Vec<u32>>) -> Option<Vec<u32>> {
        let formats = [lane.from, lane.to];
        let found = arithmetic::disagreement(lane.op, formats, lane.x, lane.r, self.is_directed);
        self.problems.extend(found);
        Some(vec![COMPUTED; lane.to.bytes()])
    }

    fn scale(&mut self, _: &Vec<u32>, format: Format, _: bool, _: i32) -> Option<Vec<u32>> {
        Some(vec![COMPUTED; format.bytes()])
    }

    fn compare(&mut self, _: Site, predicate: Predicate, x: [Observed<'_, Vec<u32>>; 2]) {
        let [a, b] = x.map(|x| x.format.to_f64(x.bits));
        let relation = match a.partial_cmp(&b) {
            Some(Ordering::Less) => Predicate::LESS,
            Some(Ordering::Equal) => Predicate::EQUAL,
            Some(Ordering::Greater) => Predicate::GREATER,
            None => Predicate::UNORDERED,
        };
        self.compared.push(predicate.0 & relation != 0);
    }

    fn to_integer(&mut self, _: Site, how: ToInteger, x: Observed<'_, Vec<u32>>) {
        let value = x.format.to_f64(x.bits);
        self.converted.push(match how {
            ToInteger::Truncate => value.trunc() as i64,
            ToInteger::Round => value.round_ties_even() as i64,
            ToInteger::Away => value.round() as i64,
        });
    }
}
