//! Words of iterations: how each changes from one iteration to the next, found in one pass through all of them.
//!
//! Knows nothing of what words mean.

use std::ops::Range;

/// Words that are looked at together: those of a line of cache.
const TOGETHER: usize = 8;

/// Iterations so few that it is not worth while to look at them anew.
const FEW: usize = 16;

/// Words of so many iterations, one after the other.
#[derive(Clone, Copy)]
struct Rows<'a> {
    words: &'a [[u8; 8]],
    /// Words of an iteration.
    apart: usize,
    count: usize,
}

impl Rows<'_> {
    /// Steps by which `N` words, from number `at` on, advance at first, and the bits by which they ever advance otherwise.
    #[inline(always)]
    fn compare<const N: usize>(self, at: usize) -> ([u64; N], [u64; N]) {
        let row = |n: usize| -> &[[u8; 8]; N] {
            self.words[n * self.apart + at..].first_chunk().expect("rows are whole")
        };
        let [mut before, mut steps, mut strays] = [[0; N]; 3];
        let (first, second) = (row(0), row(1));
        for i in 0..N {
            before[i] = u64::from_le_bytes(second[i]);
            steps[i] = before[i].wrapping_sub(u64::from_le_bytes(first[i]));
        }
        for n in 2..self.count {
            let row = row(n);
            for i in 0..N {
                let now = u64::from_le_bytes(row[i]);
                strays[i] |= now.wrapping_sub(before[i]) ^ steps[i];
                before[i] = now;
            }
        }
        (steps, strays)
    }
}

/// Change of each word from one iteration to the next.
#[derive(Debug, Default)]
pub(super) struct Words {
    steps: Vec<u64>,
    strays: Vec<u64>,
    /// Addresses of the iterations that they are of.
    known: Range<usize>,
}

impl Words {
    /// Forgets iterations that are no longer there.
    pub(super) fn forget(&mut self) {
        self.known = 0..0;
    }

    /// Looks at `count` iterations, two at least, of so many bytes each. Of a few of those that have been looked at, what is known
    /// stays: words may then advance by a constant though that is not known.
    pub(super) fn look_at(&mut self, bytes: &[u8], apart: usize, count: usize) {
        let start = bytes.as_ptr().addr();
        let end = start + count * apart;
        let is_known = self.known.start <= start && end <= self.known.end && self.steps.len() == apart / 8;
        if is_known && (count < FEW || self.known == (start..end)) {
            return;
        }
        self.known = start..end;
        let (words, apart) = (bytes.as_chunks().0, apart / 8);
        let rows = Rows { words, apart, count };
        self.steps.clear();
        self.strays.clear();
        while self.steps.len() + TOGETHER <= apart {
            let (steps, strays) = rows.compare::<TOGETHER>(self.steps.len());
            self.steps.extend_from_slice(&steps);
            self.strays.extend_from_slice(&strays);
        }
        while self.steps.len() < apart {
            let ([step], [stray]) = rows.compare::<1>(self.steps.len());
            self.steps.push(step);
            self.strays.push(stray);
        }
    }

    /// The constant that the word at an offset in bytes advances by, if it is one.
    #[inline(always)]
    pub(super) fn step(&self, at: usize) -> Option<u64> {
        (self.strays[at / 8] == 0).then_some(self.steps[at / 8])
    }

    /// The constant, as a word, that the half of a word at an offset in bytes advances by in `count` iterations, if the word does by
    /// one and is `first` in the first of them.
    #[inline(always)]
    pub(super) fn step_of_half(&self, at: usize, first: u64, count: usize) -> Option<u64> {
        let step = self.step(at)?;
        let low = i64::from(step as u32 as i32);
        if at.is_multiple_of(8) {
            return Some(low as u64);
        }
        // What the lower half carries into the upper one is the same each time as long as it stays below 2³².
        let last = i64::from(first as u32) + low * (count as i64 - 1);
        let high = (step as i64).wrapping_sub(low) >> 32;
        (0..1 << 32).contains(&last).then_some(high as u64)
    }

    /// Tells whether the word at an offset in bytes, or that which the offset is in, stays.
    #[inline(always)]
    pub(super) fn stays(&self, at: usize) -> bool {
        self.steps[at / 8] | self.strays[at / 8] == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_advance_by_what_their_differences_say() {
        const APART: usize = 7;
        let word = |n: u64, i: u64| match i {
            0..3 => 5 + n.wrapping_mul(i),
            3 => 9_u64.wrapping_sub(4 * n),
            4 => n * n,
            5 => u64::from(n == 5),
            _ => u64::from(n == 0),
        };
        let words = (0..6).flat_map(|n| (0..APART as u64).map(move |i| word(n, i)));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let mut found = Words::default();
        found.look_at(&bytes, 8 * APART, 6);
        let steps: Vec<_> = (0..APART).map(|i| found.step(8 * i)).collect();
        assert_eq!(steps, [Some(0), Some(1), Some(2), Some(4_u64.wrapping_neg()), None, None, None]);
        assert_eq!(found.step_of_half(8, word(0, 1), 6), Some(1));
        assert_eq!(found.step_of_half(8 + 4, word(0, 1), 6), Some(0));
        assert_eq!(found.step_of_half(8 * 3, word(0, 3), 3), Some(4_u64.wrapping_neg()));
        // 9, 5, 1, and below 0 with a borrow.
        assert_eq!(found.step_of_half(8 * 3 + 4, word(0, 3), 3), Some(0));
        assert_eq!(found.step_of_half(8 * 3 + 4, word(0, 3), 4), None);
        assert_eq!(found.step_of_half(8 * 4, word(0, 4), 6), None);
        let stay: Vec<_> = (0..APART).filter(|i| found.stays(8 * i + 4)).collect();
        assert_eq!(stay, [0]);
        found.look_at(&bytes, 8 * APART, 5);
        assert!(!found.stays(8 * 5), "what is known of more stays");
        found.forget();
        found.look_at(&bytes, 8 * APART, 5);
        assert!(found.stays(8 * 5), "only what is looked at counts");
    }
}
