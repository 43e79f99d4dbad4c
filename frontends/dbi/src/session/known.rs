//! Floats that known functions have made text of last, and which of these texts the program has written since.
//!
//! Such a text is an output already, and none that is found [by value](super::by_value). It is written once: where the same number is
//! written again while another float waits whose text it is, that was made by code that nobody knows. Knows no texts but by their
//! values, and leaves it to its user to compare shadows.

use super::observer::SavedShadow;
use std::collections::VecDeque;

/// Floats that are kept.
const MOST: usize = 4096;
/// Floats on whose texts functions may still be at work.
const NEAR: usize = 8;

/// Float that a known function has made text of.
#[derive(Debug)]
struct Known {
    value: f64,
    kept: SavedShadow,
}

impl Known {
    /// Tells whether `value` may be the float rounded to a multiple of `unit`, be both inexact as doubles.
    fn is_rounded_to(&self, value: f64, unit: f64) -> bool {
        const INEXACT: f64 = 1e-15;
        (self.value - value).abs() <= 0.5 * unit + INEXACT * value.abs()
    }
}

/// The last of these floats, the oldest first.
#[derive(Debug, Default)]
pub(super) struct KnownFloats {
    all: VecDeque<Known>,
    /// Number of the oldest, among all that there ever were.
    first: u64,
    /// Numbers of those whose texts were not written yet, in ascending order: mostly few, and the next to be written is the first.
    unwritten: VecDeque<u64>,
}

impl KnownFloats {
    /// Notes that a known function makes text of `value`, whose shadow is `kept`. What is to be released for it.
    pub(super) fn note(&mut self, value: f64, kept: SavedShadow) -> SavedShadow {
        let oldest = if self.all.len() == MOST { self.all.pop_front() } else { None };
        if oldest.is_some() {
            if self.unwritten.front() == Some(&self.first) {
                self.unwritten.pop_front();
            }
            self.first += 1;
        }
        self.unwritten.push_back(self.first + self.all.len() as u64);
        self.all.push_back(Known { value, kept });
        oldest.map_or(SavedShadow::NONE, |oldest| oldest.kept)
    }

    fn get(&self, number: u64) -> &Known {
        &self.all[(number - self.first) as usize]
    }

    /// Shadows of those that are `value`.
    pub(super) fn of(&self, value: f64) -> impl Iterator<Item = SavedShadow> {
        self.all.iter().filter(move |known| known.value == value).map(|known| known.kept)
    }

    /// Shadows of those among the last that are `value`, if their texts were not written yet: the functions may still be at work.
    pub(super) fn late(&self, value: f64) -> impl Iterator<Item = SavedShadow> {
        let late = self.unwritten.iter().rev().take(NEAR).map(|number| self.get(*number));
        late.filter(move |known| known.value == value).map(|known| known.kept)
    }

    /// Tells whether a text of theirs was not written yet.
    pub(super) fn are_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Tells whether one is `value`, rounded to a multiple of `unit`.
    pub(super) fn has(&self, value: f64, unit: f64) -> bool {
        self.all.iter().any(|known| known.is_rounded_to(value, unit))
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

    #[test]
    fn each_text_is_written_once() {
        let mut known = KnownFloats::default();
        known.note(1.5, SavedShadow(1));
        known.note(1.25, SavedShadow(2));
        known.note(1.5, SavedShadow(3));
        assert_eq!([0.1, 0.1, 0.1].map(|unit| known.write(1.5, unit)), [true, true, false]);
        assert_eq!([0.4, 0.5, 1.0].map(|unit| known.write(1.5, unit)), [false, true, false]);
        // A number with one digit, of a word before one that was printed, is not that one.
        known.note(1.75, SavedShadow(4));
        assert!(!known.write(1e8, 1e8) && known.write(1.75, 1e-16));
        assert!(known.has(1.3, 0.1) && !known.has(1.4, 0.01));
        assert_eq!(known.of(1.5).collect::<Vec<_>>(), [SavedShadow(1), SavedShadow(3)]);
    }

    #[test]
    fn the_oldest_is_released() {
        let mut known = KnownFloats::default();
        let released = (0..=MOST).map(|n| known.note(n as f64, SavedShadow(n as u64 + 1)));
        let released: Vec<SavedShadow> = released.filter(|kept| *kept != SavedShadow::NONE).collect();
        assert_eq!((released, known.unwritten.len()), (vec![SavedShadow(1)], MOST));
        let late = [MOST, MOST - NEAR].map(|n| known.late(n as f64).count());
        assert_eq!((late, known.of((MOST - NEAR) as f64).count()), ([1, 0], 1));
    }
}
