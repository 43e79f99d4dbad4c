//! Ranges of values, split by sign.

use shadowgrind_core::findings::Interval;

/// At most a negative and a non-negative interval; NaN is nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    /// Of values without a sign, and of those with one.
    sides: [Side; 2],
}

/// Values of one sign, whose bits are in the order of their size: the smallest, and how far it is to the largest.
#[derive(Clone, Copy, Debug)]
struct Side {
    least: u64,
    span: u64,
}

/// Only this number is in it, which is a NaN.
const EMPTY: Side = Side { least: u64::MAX, span: 0 };

impl Default for Ranges {
    fn default() -> Self {
        Ranges { sides: [EMPTY; 2] }
    }
}

impl Ranges {
    /// Extends the ranges to `x`.
    #[inline(always)]
    pub(crate) fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let side = &self.sides[(bits >> 63) as usize];
        // Most are within: nothing has to be written.
        if bits.wrapping_sub(side.least) > side.span {
            self.extend(x);
        }
    }

    #[cold]
    fn extend(&mut self, x: f64) {
        if x.is_nan() {
            return;
        }
        // Minus zero is zero.
        let bits = if x == 0.0 { 0 } else { x.to_bits() };
        let side = &mut self.sides[(bits >> 63) as usize];
        let (least, most) = if side.least == EMPTY.least {
            (bits, bits)
        } else {
            (bits.min(side.least), bits.max(side.least + side.span))
        };
        *side = Side { least, span: most - least };
    }

    /// Extends the ranges to those of `other`.
    pub(crate) fn join(&mut self, other: &Ranges) {
        for interval in other.intervals() {
            self.add(interval.min);
            self.add(interval.max);
        }
    }

    /// The intervals that are not empty, the negative first.
    pub(crate) fn intervals(&self) -> Vec<Interval> {
        let interval = |side: &Side| {
            let [a, b] = [side.least, side.least + side.span].map(f64::from_bits);
            Interval { min: a.min(b), max: a.max(b) }
        };
        let is_known = |side: &&Side| side.least != EMPTY.least;
        self.sides.iter().rev().filter(is_known).map(interval).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_split_by_sign() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.intervals(), []);
        [f64::NAN, -0.0, 2.0, -3.5, f64::INFINITY, -1e-300, 0.25].into_iter().for_each(|x| ranges.add(x));
        let expected = [Interval { min: -3.5, max: -1e-300 }, Interval { min: 0.0, max: f64::INFINITY }];
        assert_eq!(ranges.intervals(), expected);
        assert!(ranges.intervals()[1].min.is_sign_positive());
        let mut one = Ranges::default();
        one.add(7.0);
        one.join(&ranges);
        assert_eq!(one.intervals(), expected);
    }
}
