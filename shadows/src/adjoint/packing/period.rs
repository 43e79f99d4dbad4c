//! Periods: operands whose numbers do not advance by a constant from one iteration to the next, but do so from an iteration to that
//! which comes so many later. Subscripts that are taken modulo a constant have one, and those of an inner loop between whose
//! visits nothing is recorded. So many iterations are then one, of a loop whose operands are regular.

use super::{Iterations, Packer, word};

/// Fewest iterations of which a period is looked for, and fewest of the periods among them.
const FEWEST: usize = 16;
const FEWEST_PERIODS: usize = 4;
/// Longest period, in iterations, and most bytes of the records of one.
const LONGEST: usize = 64;
const MOST_BYTES: usize = 1 << 14;

impl Packer {
    /// The period of the iterations that were looked at: a multiple of those of all operands that have one; nothing if none does.
    pub(in super::super) fn period(&mut self, iterations: &Iterations<'_>) -> Option<usize> {
        if iterations.count < FEWEST || self.is_regular() {
            return None;
        }
        let kind = iterations.pattern.places[0].kind;
        let in_vain = self.without_period.entry(kind).or_default();
        *in_vain += 1;
        // What was looked for in vain is looked for ever more rarely.
        if !in_vain.is_power_of_two() {
            return None;
        }
        let period = self.find_period(iterations)?;
        self.periods.insert(kind, period);
        self.without_period.remove(&kind);
        Some(period)
    }

    /// The period that such iterations had last, if there are enough of them: it need not be looked for.
    pub(in super::super) fn usual_period(&self, iterations: &Iterations<'_>) -> Option<usize> {
        let period = *self.periods.get(&iterations.pattern.places[0].kind)?;
        let is_short = period <= longest(iterations);
        (iterations.count >= FEWEST && is_short && is_uneven(iterations)).then_some(period)
    }

    /// Forgets the period of such iterations: they are irregular all the same.
    pub(in super::super) fn forget_period(&mut self, iterations: &Iterations<'_>) {
        self.periods.remove(&iterations.pattern.places[0].kind);
    }

    fn find_period(&self, iterations: &Iterations<'_>) -> Option<usize> {
        let longest = longest(iterations);
        if longest < 2 {
            return None;
        }
        let mut period = 1;
        for found in &self.lanes {
            let (place, part) = iterations.part(found);
            for (i, numbers) in found.numbers.iter().enumerate().filter(|(i, _)| found.cells[*i] != 0) {
                if numbers.step.is_some() {
                    continue;
                }
                let apart = iterations.pattern.bytes;
                let rows = &iterations.records.bytes[place.at..];
                let cell = |n: usize| part.cell(&rows[n * apart..], i, found.lane);
                if !advances(cell, iterations.count, period) {
                    // Periods that the others have as well.
                    let other = (2..=longest / period).map(|more| more * period);
                    period = other
                        .into_iter()
                        .find(|&period| advances(cell, iterations.count, period))
                        .unwrap_or(period);
                }
            }
        }
        (period > 1).then_some(period)
    }
}

/// Tells whether the numbers of an operand advance unevenly in some iterations near the start, at least sixteen of which there are.
fn is_uneven(iterations: &Iterations<'_>) -> bool {
    let apart = iterations.pattern.bytes;
    iterations.cell_words().any(|at| {
        let cells = |n: usize| word(&iterations.records.bytes[at + n * apart..]);
        let step = |n: usize| cells(n + 1).wrapping_sub(cells(n));
        (2..6).any(|n| step(n) != step(1))
    })
}

/// Longest period that these iterations may have.
fn longest(iterations: &Iterations<'_>) -> usize {
    (iterations.count / FEWEST_PERIODS).min(MOST_BYTES / iterations.pattern.bytes).min(LONGEST)
}

/// Tells whether each of `count` cells is as far from that of a period before as the one a period before is.
fn advances(cell: impl Fn(usize) -> u64, count: usize, period: usize) -> bool {
    (2 * period..count).all(|n| {
        let [before, now] = [cell(n - 2 * period), cell(n)];
        now.wrapping_sub(cell(n - period)) == cell(n - period).wrapping_sub(before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_advance_by_what_they_did_a_period_before() {
        let remainder = |n: usize| (n % 9) as u64 + 100 * (n / 9) as u64;
        let periods =
            |count: usize| (1..30).filter(|&period| advances(remainder, count, period)).collect::<Vec<_>>();
        // Twice the longest is to be there.
        assert_eq!(periods(100), [9, 18, 27]);
        let random = |n: usize| (n as u64).wrapping_mul(6_364_136_223_846_793_005) >> 33;
        assert!((1..30).all(|period| !advances(random, 200, period)));
    }
}
