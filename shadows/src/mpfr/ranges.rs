//! Where values lay, split by sign.

use shadowgrind_core::findings::Interval;

/// At most a negative and a non-negative interval; NaN is nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranges {
    negative: Interval,
    positive: Interval,
}

/// What a minimum and a maximum start from.
const EMPTY: Interval = Interval { min: f64::INFINITY, max: f64::NEG_INFINITY };

impl Default for Ranges {
    fn default() -> Self {
        Ranges { negative: EMPTY, positive: EMPTY }
    }
}

impl Ranges {
    /// Extends the ranges to `x`.
    #[inline(always)]
    pub(super) fn add(&mut self, x: f64) {
        let side = if x < 0.0 { &self.negative } else { &self.positive };
        // Most are within: nothing has to be written.
        if !((side.min <= x) & (x <= side.max)) {
            self.extend(x);
        }
    }

    #[cold]
    fn extend(&mut self, x: f64) {
        let side = if x < 0.0 { &mut self.negative } else { &mut self.positive };
        // A NaN compares false.
        side.min = if x < side.min { x } else { side.min };
        side.max = if x > side.max { x } else { side.max };
    }

    /// Extends the ranges to those of `other`.
    pub(super) fn join(&mut self, other: &Ranges) {
        for interval in other.intervals() {
            self.add(interval.min);
            self.add(interval.max);
        }
    }

    /// The intervals that are not empty, the negative first.
    pub(super) fn intervals(&self) -> Vec<Interval> {
        [self.negative, self.positive].into_iter().filter(|side| side.min <= side.max).collect()
    }
}
