//! Words of iterations: how each changes from one iteration to the next, found in one pass through all of them.
//!
//! Knows nothing of what words mean.

use std::ops::Range;

/// Iterations so few that it is not worth while to look at them anew.
const FEW: usize = 16;

/// Iterations that are looked at together: what is known of each word is read and written once for all of them.
const TOGETHER: usize = 8;

/// Adds, to the bits by which words ever advance otherwise than by `steps`, those by which they do from each row to the next.
#[inline(always)]
fn compare<const N: usize>(rows: [&[[u8; 8]]; N], steps: &[u64], strays: &mut [u64]) {
    let count = strays.len();
    let (rows, steps) = (rows.map(|row| &row[..count]), &steps[..count]);
    for i in 0..count {
        let mut stray = strays[i];
        let mut before = u64::from_le_bytes(rows[0][i]);
        for row in &rows[1..] {
            let now = u64::from_le_bytes(row[i]);
            stray |= now.wrapping_sub(before) ^ steps[i];
            before = now;
        }
        strays[i] = stray;
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
        let (words, apart): (&[[u8; 8]], _) = (bytes.as_chunks().0, apart / 8);
        let row = |n: usize| &words[n * apart..][..apart];
        let step = |(second, first): (&[u8; 8], &[u8; 8])| {
            u64::from_le_bytes(*second).wrapping_sub(u64::from_le_bytes(*first))
        };
        self.steps.clear();
        self.steps.extend(row(1).iter().zip(row(0)).map(step));
        self.strays.clear();
        self.strays.resize(apart, 0);
        let mut n = 1;
        while n + TOGETHER < count {
            let rows: [_; TOGETHER + 1] = std::array::from_fn(|i| row(n + i));
            compare(rows, &self.steps, &mut self.strays);
            n += TOGETHER;
        }
        while n + 1 < count {
            compare([row(n), row(n + 1)], &self.steps, &mut self.strays);
            n += 1;
        }
    }

    /// The constant that the word at an offset in bytes advances by, if it is one.
    #[inline(always)]
    pub(super) fn step(&self, at: usize) -> Option<u64> {
        debug_assert!(at.is_multiple_of(8), "a whole word");
        (self.strays[at / 8] == 0).then_some(self.steps[at / 8])
    }

    /// The constant, as a word, that the half of a word at an offset in bytes advances by in `count` iterations, if the word does by
    /// one and is `first` in the first of them.
    #[inline(always)]
    pub(super) fn step_of_half(&self, at: usize, first: u64, count: usize) -> Option<u64> {
        let step = self.step(at & !7)?;
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
