//! Calls that led to outputs: each stack once, and runs of outputs that have it.
//!
//! Loops print by the same calls again and again: a run takes sixteen bytes, however long it is.

use crate::site::Site;
use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

/// The stacks of outputs, by the indices of these.
#[derive(Debug, Default)]
pub struct OutputStacks {
    stacks: IndexSet<Vec<Site>, DefaultHashBuilder>,
    runs: Vec<Run>,
}

/// Outputs from `first` up to `end` that have one stack, by its number.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    end: u64,
    stack: usize,
}

impl OutputStacks {
    /// Notes the callers of the code at which the outputs from `first` up to `end` have left, from the innermost outwards. Outputs
    /// that were noted before have smaller indices.
    pub fn note(&mut self, first: u64, end: u64, stack: Vec<Site>) {
        if first == end || stack.is_empty() {
            return;
        }
        let (stack, _) = self.stacks.insert_full(stack);
        self.add(Run { first, end, stack });
    }

    fn add(&mut self, run: Run) {
        match self.runs.last_mut().filter(|last| last.end == run.first && last.stack == run.stack) {
            Some(last) => last.end = run.end,
            None => self.runs.push(run),
        }
    }

    /// Callers of the code at which an output has left; none where that is not known.
    pub fn of(&self, index: u64) -> &[Site] {
        let after = self.runs.partition_point(|run| run.first <= index);
        let run = after.checked_sub(1).map(|at| self.runs[at]).filter(|run| index < run.end);
        run.map_or(&[], |run| &self.stacks[run.stack])
    }

    /// All sites of all stacks.
    pub fn sites(&self) -> impl Iterator<Item = Site> {
        self.stacks.iter().flatten().copied()
    }

    /// Leaves only the outputs with these indices, which are ascending; they get new ones, from 0.
    pub(super) fn keep(&mut self, kept: &[u64]) {
        for Run { first, end, stack } in std::mem::take(&mut self.runs) {
            let place = |index: u64| kept.partition_point(|&other| other < index) as u64;
            let (first, end) = (place(first), place(end));
            if first < end {
                self.add(Run { first, end, stack });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_outputs_have_their_stacks() {
        let mut stacks = OutputStacks::default();
        let sites =
            |numbers: &[u32]| numbers.iter().map(|&number| Site::from_bits(number)).collect::<Vec<_>>();
        stacks.note(1, 3, sites(&[7, 8]));
        stacks.note(3, 4, sites(&[7, 8]));
        stacks.note(4, 5, Vec::new());
        stacks.note(6, 8, sites(&[9]));
        stacks.note(8, 9, sites(&[7, 8]));
        assert_eq!((stacks.runs.len(), stacks.stacks.len()), (3, 2));
        let of = |stacks: &OutputStacks| (0..10).map(|index| stacks.of(index).len()).collect::<Vec<_>>();
        assert_eq!(of(&stacks), [0, 2, 2, 2, 0, 0, 1, 1, 2, 0]);
        assert_eq!(stacks.of(8), sites(&[7, 8]));
        stacks.keep(&[0, 2, 3, 5, 7, 8]);
        assert_eq!(of(&stacks), [0, 2, 2, 0, 1, 2, 0, 0, 0, 0]);
    }
}
