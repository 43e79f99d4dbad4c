//! Floats that known functions have made text of last, and which of these texts the program has written since.
//!
//! Such a text is an output already, and none that is found [by value](super::by_value). It is written once: where the same number is
//! written again while another float waits whose text it is, that was made by code that nobody knows. Knows no texts but by their
//! values, and leaves it to its user to compare shadows.

use super::by_value::key;
use super::observer::SavedShadow;
use shadowgrind_core::format::Format;
use shadowgrind_core::text::Notation;
use std::collections::{BTreeSet, VecDeque};

/// Floats that are kept.
const MOST: usize = 4096;
/// Floats on whose texts functions may still be at work.
const NEAR: usize = 8;

/// Float that a known function has made text of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) value: f64,
    pub(super) kept: SavedShadow,
    pub(super) format: Format,
    /// The output that it is in the report.
    pub(super) output: u64,
    /// The notation, where that is known.
    pub(super) notation: Option<Notation>,
    /// Address of the string that its text was put into, where that is known, and its position among the floats of that call, from 0.
    pub(super) string: Option<u64>,
    pub(super) position: usize,
}

impl Known {
    fn is_rounded_to(&self, value: f64, unit: f64) -> bool {
        is_rounded_to(self.value, value, unit)
    }
}

/// Tells whether `value` may be `float` rounded to a multiple of `unit`, be both inexact as doubles.
pub(super) fn is_rounded_to(float: f64, value: f64, unit: f64) -> bool {
    (float - value).abs() <= reach(value, unit)
}

/// Largest distance from `value`, a multiple of `unit`, of a float that may have been rounded to it.
fn reach(value: f64, unit: f64) -> f64 {
    const INEXACT: f64 = 1e-15;
    0.5 * unit + INEXACT * value.abs()
}

/// The last of these floats, the oldest first.
#[derive(Debug, Default)]
pub(super) struct KnownFloats {
    all: VecDeque<Known>,
    /// Values and numbers, in the order of values.
    by_value: BTreeSet<(u64, u64)>,
    /// Addresses of strings and numbers of those whose texts were put there.
    by_string: BTreeSet<(u64, u64)>,
    /// Number of the oldest, among all that there ever were.
    first: u64,
    /// Numbers of those whose texts were not written yet, in ascending order: mostly few, and the next to be written is the first.
    unwritten: VecDeque<u64>,
}

impl KnownFloats {
    /// Notes a float that a known function makes text of. What is to be released for it.
    pub(super) fn note(&mut self, known: Known) -> SavedShadow {
        let oldest = if self.all.len() == MOST { self.all.pop_front() } else { None };
        if let Some(oldest) = oldest {
            self.by_value.remove(&(key(oldest.value + 0.0), self.first));
            oldest.string.map(|string| self.by_string.remove(&(string, self.first)));
            if self.unwritten.front() == Some(&self.first) {
                self.unwritten.pop_front();
            }
            self.first += 1;
        }
        let number = self.first + self.all.len() as u64;
        self.unwritten.push_back(number);
        // Zeros are one.
        self.by_value.insert((key(known.value + 0.0), number));
        known.string.map(|string| self.by_string.insert((string, number)));
        self.all.push_back(known);
        oldest.map_or(SavedShadow::NONE, |oldest| oldest.kept)
    }

    fn get(&self, number: u64) -> &Known {
        &self.all[(number - self.first) as usize]
    }

    /// Floats no farther from `value` than `reach`.
    fn around(&self, value: f64, reach: f64) -> impl Iterator<Item = &Known> {
        let (from, to) = (value - reach + 0.0, value + reach + 0.0);
        // Nothing is around what is no number.
        let within = if from <= to { (key(from), 0)..=(key(to), u64::MAX) } else { (0, 0)..=(0, 0) };
        self.by_value.range(within).map(|&(_, number)| self.get(number))
    }

    /// Shadows of those that are `value`.
    pub(super) fn of(&self, value: f64) -> impl Iterator<Item = SavedShadow> {
        self.around(value, 0.0).filter(move |known| known.value == value).map(|known| known.kept)
    }

    /// The last whose texts were not written yet: the functions may still be at work.
    fn last(&self) -> impl Iterator<Item = &Known> {
        self.unwritten.iter().rev().take(NEAR).map(|number| self.get(*number))
    }

    /// Shadows of those among the last, not written yet, that are `value`.
    pub(super) fn late(&self, value: f64) -> impl Iterator<Item = SavedShadow> {
        self.last().filter(move |known| known.value == value).map(|known| known.kept)
    }

    /// Floats that are `value` rounded to a multiple of `unit`.
    pub(super) fn rounded_to(&self, value: f64, unit: f64) -> impl Iterator<Item = &Known> {
        self.around(value, reach(value, unit)).filter(move |known| known.is_rounded_to(value, unit))
    }

    /// Floats among the last, not written yet, that are `value` rounded so.
    pub(super) fn late_rounded_to(&self, value: f64, unit: f64) -> impl Iterator<Item = &Known> {
        self.last().filter(move |known| known.is_rounded_to(value, unit))
    }

    /// Floats that the last call made text of which has filled the string at `address`, or the one that begins up to so many bytes before.
    pub(super) fn in_string(&self, address: u64, before: u64) -> impl Iterator<Item = &Known> {
        let near = self.by_string.range((address.saturating_sub(before), 0)..=(address, u64::MAX));
        let nearest = near.clone().next_back().map(|&(string, _)| string);
        let of_it = near.rev().take_while(move |&&(string, _)| Some(string) == nearest);
        let mut is_before = false;
        let last = of_it.map(|&(_, number)| self.get(number));
        last.take_while(move |known| !std::mem::replace(&mut is_before, known.position == 0))
    }

    /// Tells whether a text of theirs was not written yet.
    pub(super) fn are_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Tells whether one is `value`, rounded to a multiple of `unit`.
    pub(super) fn has(&self, value: f64, unit: f64) -> bool {
        self.rounded_to(value, unit).next().is_some()
    }

    /// Notes that a number was written that is `value`, a multiple of `unit`: the text of the first of these that was not written yet, if
    /// there is one, which it tells.
    pub(super) fn write(&mut self, value: f64, unit: f64) -> bool {
        let is_it = |number: &u64| self.get(*number).is_rounded_to(value, unit);
        let found = self.unwritten.iter().position(is_it);
        found.is_some_and(|place| self.unwritten.remove(place).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(value: f64, kept: u64) -> Known {
        Known {
            value,
            kept: SavedShadow(kept),
            format: Format::F64,
            output: 0,
            notation: None,
            string: None,
            position: 0,
        }
    }

    #[test]
    fn each_text_is_written_once() {
        let mut all = KnownFloats::default();
        for (value, kept) in [(1.5, 1), (1.25, 2), (1.5, 3)] {
            all.note(known(value, kept));
        }
        let late = |value, unit| all.late_rounded_to(value, unit).count();
        assert_eq!([late(1.3, 0.1), late(1.5, 0.25), late(2.0, 1.0)], [1, 2, 2]);
        assert_eq!([0.1, 0.1, 0.1].map(|unit| all.write(1.5, unit)), [true, true, false]);
        assert_eq!([0.4, 0.5, 1.0].map(|unit| all.write(1.5, unit)), [false, true, false]);
        // A number with one digit, of a word before one that was printed, is not that one.
        all.note(known(1.75, 4));
        assert!(!all.write(1e8, 1e8) && all.write(1.75, 1e-16));
        assert!(all.has(1.3, 0.1) && !all.has(1.4, 0.01));
        assert_eq!(all.of(1.5).collect::<Vec<_>>(), [SavedShadow(1), SavedShadow(3)]);
        all.note(known(-0.0, 5));
        all.note(known(f64::INFINITY, 6));
        let found = |value: f64, unit| (all.of(value).count(), all.rounded_to(value, unit).count());
        assert_eq!(
            [found(0.0, 0.1), found(f64::INFINITY, f64::INFINITY), found(f64::NAN, 0.1)],
            [(1, 1), (1, 0), (0, 0)]
        );
    }

    #[test]
    fn the_oldest_is_released() {
        let mut all = KnownFloats::default();
        let released = (0..=MOST).map(|n| all.note(known(n as f64, n as u64 + 1)));
        let released: Vec<SavedShadow> = released.filter(|kept| *kept != SavedShadow::NONE).collect();
        assert_eq!((released, all.unwritten.len()), (vec![SavedShadow(1)], MOST));
        let late = [MOST, MOST - NEAR].map(|n| all.late(n as f64).count());
        assert_eq!((late, all.of((MOST - NEAR) as f64).count()), ([1, 0], 1));
    }
}
