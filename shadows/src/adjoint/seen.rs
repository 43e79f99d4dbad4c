//! Columns of partial derivatives that come again in later loops: a row of a matrix is a factor of all rows that a multiple of it
//! is taken from, a vector of all those that it is multiplied by.
//!
//! Knows where columns were seen, by some of their elements, and nothing of loops.

/// Elements by which a column is looked up.
const SAMPLES: usize = 8;

/// Columns after which no more are looked for, if none of them has come again.
const MOST_IN_VAIN: usize = 2048;

/// Bits of the places for columns.
const PLACE_BITS: u32 = 14;

/// Columns that were seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// True if one has come again.
    is_of_use: bool,
    /// Number of those that have not.
    in_vain: usize,
    /// One more than the start of the last column at each place, which the hash of some elements says; 0 if there is none.
    starts: Vec<u32>,
}

impl Seen {
    /// Fewest elements of columns that are looked for: of shorter ones, more would be said of where they are than they have.
    pub(super) const FEWEST: usize = 16;

    /// Start of an earlier column that has the same elements as the last `count` of `all`; otherwise these are noted, to be found.
    pub(super) fn find(&mut self, all: &[f64], count: usize) -> Option<usize> {
        if !self.is_of_use && self.in_vain >= MOST_IN_VAIN {
            return None;
        }
        if self.starts.is_empty() {
            self.starts.resize(1 << PLACE_BITS, 0);
        }
        let (before, last) = all.split_at(all.len() - count);
        let place = &mut self.starts[(key(last) >> (u64::BITS - PLACE_BITS)) as usize];
        let start = place.checked_sub(1).map(|start| start as usize);
        let column = start.and_then(|start| before.get(start..start + count));
        if column.is_some_and(|column| is_same(column, last)) {
            self.is_of_use = true;
            return start;
        }
        self.in_vain += 1;
        *place = u32::try_from(before.len() + 1).unwrap_or(0);
        None
    }

    /// Forgets all columns: others are at their places.
    pub(super) fn forget(&mut self) {
        *self = Seen::default();
    }
}

/// Tells whether two columns of partials have the same elements, bit by bit.
pub(super) fn is_same(one: &[f64], other: &[f64]) -> bool {
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
    // Those that differ mostly do so from end to end.
    one.len() == other.len()
        && one.last().zip(other.last()).is_none_or(same)
        && one.iter().zip(other).all(same)
}

/// Hash of some elements of a column and of their number.
fn key(column: &[f64]) -> u64 {
    // 2^64 divided by the golden ratio.
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let last = column.len() - 1;
    let sample = |n: usize| column[last * n / (SAMPLES - 1)].to_bits().rotate_left(7 * n as u32);
    (0..SAMPLES).fold(column.len() as u64, |hash, n| hash ^ sample(n)).wrapping_mul(MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_if_all_its_elements_are_the_same() {
        let column: Vec<f64> = (0..100).map(|n| f64::from(n).sin()).collect();
        let mut other = column.clone();
        // No sample.
        other[5] = f64::NAN;
        assert_eq!(key(&column), key(&other));
        let mut seen = Seen::default();
        let mut all = vec![0.5; 7];
        for (more, found) in
            [(&column, None), (&column, Some(7)), (&other, None), (&other, Some(207)), (&column, None)]
        {
            all.extend(more);
            assert_eq!(seen.find(&all, 100), found);
        }
        seen.forget();
        assert_eq!(seen.find(&all, 100), None);
        assert!(is_same(&[], &[]) && !is_same(&[0.0], &[-0.0]) && !is_same(&[0.0], &[0.0; 2]));
    }
}
