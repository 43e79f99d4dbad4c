//! Inputs that an expression was computed on: a few of them, whatever number there were.

use super::{Term, Variable};
use crate::exact::to_f64;

/// Executions that are kept.
const MOST: usize = 256;

/// Values of an expression's variables, by number; of those that it has no more, anything.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    kept: Vec<Vec<f64>>,
    /// The number of all there were.
    seen: u64,
    /// State of a sequence of numbers that are as good as random.
    state: u64,
}

impl Samples {
    /// Of an expression without variables: nothing has to be said of its only execution.
    pub(crate) fn one() -> Samples {
        Samples { kept: vec![Vec::new()], seen: 1, state: 1 }
    }

    /// Samples that are kept.
    pub(crate) fn kept(&self) -> &[Vec<f64>] {
        &self.kept
    }

    /// Variables were added in place of terms: they had the values of those. That of an operation is not known any more,
    /// and what is not known is not kept.
    pub(crate) fn extend(&mut self, changed: &[(Term, u128, usize)]) {
        for (term, _, number) in changed {
            match term {
                Term::Op { .. } | Term::Below(..) => self.kept.clear(),
                Term::Constant { format, bits } => {
                    let value = to_f64(*format, *bits);
                    self.kept.iter_mut().for_each(|sample| put(sample, *number, value));
                }
                Term::Variable(before) => {
                    self.kept.iter_mut().for_each(|sample| put(sample, *number, sample[*before]));
                }
            }
        }
    }

    /// One more, each of all so far being kept with the same probability (Vitter 1985, algorithm R).
    pub(crate) fn add(&mut self, variables: &[Variable]) {
        self.seen += 1;
        // Knuth's MMIX generator.
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let value = |variable: &Variable| variable.now.map_or(f64::NAN, |now| to_f64(now.format, now.bits));
        let sample = || variables.iter().map(value).collect();
        if self.kept.len() < MOST {
            self.kept.push(sample());
        } else if let Some(place) = self.kept.get_mut(((self.state >> 16) % self.seen) as usize) {
            *place = sample();
        }
    }
}

fn put(sample: &mut Vec<f64>, number: usize, value: f64) {
    sample.resize(sample.len().max(number + 1), f64::NAN);
    sample[number] = value;
}
