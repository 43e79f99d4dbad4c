//! Operands of a loop that are elsewhere than among its results: a column for all those that are the same numbers, in which what
//! comes to them in some iterations is added up before it goes to their cells. Knows nothing of where columns are kept.

use super::cells::Cells;
use super::loops::{Loop, Loops, Operand};
use super::sweep::Flow;
use std::ops::Range;

/// Columns of operands elsewhere.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// For each column an operand that it is of, by number.
    operands: Vec<usize>,
}

impl Elsewhere {
    /// There is no column.
    pub(super) fn clear(&mut self) {
        self.operands.clear();
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.operands.len()
    }

    /// The column of operand `n` of these: one that is there, if one is of the same numbers.
    pub(super) fn column(&mut self, operands: &[Operand], n: usize) -> usize {
        let same = |&other: &usize| operands[n].is_same(&operands[other]);
        self.operands.iter().position(same).unwrap_or_else(|| {
            self.operands.push(n);
            self.operands.len() - 1
        })
    }

    /// Adds to the cells of a column's operands what has come to them in these iterations: `from` has it, by iteration from 0.
    #[inline(always)]
    pub(super) fn hand_on<'a, F: Flow<Cell: 'a>>(
        &self,
        column: usize,
        (loops, head): (&Loops, &Loop),
        some: &Range<usize>,
        from: impl Fn(usize) -> &'a F::Cell,
        cells: &mut Cells<F::Cell>,
    ) {
        let operand = &loops.operands_of(head)[self.operands[column]];
        if operand.is_regular() {
            let first = operand.regular_number(head, some.start as u64);
            cells.along(first, operand.step, some.len(), |some, to| {
                to.iter_mut().zip(some).for_each(|(to, n)| F::merge(to, from(n)));
            });
            return;
        }
        for n in (0..some.len()).filter(|&n| !F::is_nothing(from(n))) {
            if let Some(number) = loops.number(head, operand, (some.start + n) as u64) {
                F::merge(cells.at(number), from(n));
            }
        }
    }
}
