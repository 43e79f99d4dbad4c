//! Operands of a loop that are elsewhere than among its results: a column for all those that are the same numbers, in which what
//! comes to them in some iterations is added up before it goes to their cells. Knows nothing of where columns are kept.

use super::cells::Cells;
use super::loops::{Loop, Loops, Operand};
use super::sweep::Flow;

/// Columns of operands elsewhere.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// For each column an operand that it is of, by number.
    operands: Vec<usize>,
}

impl Elsewhere {
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

    /// An operand that a column is of, by number.
    pub(super) fn operand(&self, column: usize) -> usize {
        self.operands[column]
    }
}

/// Cells that are summed up beside each other.
const WIDTH: usize = 8;

/// Adds to the cells of an operand, by number, what has come to it in iterations from `start` on.
pub(super) fn hand_on<F: Flow>(
    (loops, head, operand): (&Loops, &Loop, usize),
    start: usize,
    from: &[F::Cell],
    cells: &mut Cells<F::Cell>,
) {
    let operand = &loops.operands_of(head)[operand];
    if !operand.is_regular() {
        for (n, from) in from.iter().enumerate().filter(|(_, from)| !F::is_nothing(from)) {
            if let Some(number) = loops.number(head, operand, (start + n) as u64) {
                F::merge(cells.at(number), from);
            }
        }
        return;
    }
    let first = operand.regular_number(head, start as u64);
    if operand.step == 0 {
        return F::merge(cells.at(first), &sum::<F>(from));
    }
    cells.along(first, operand.step, from.len(), |some, to| {
        to.iter_mut().zip(&from[some]).for_each(|(to, from)| F::merge(to, from));
    });
}

/// The sum of some cells.
fn sum<F: Flow>(cells: &[F::Cell]) -> F::Cell {
    let (cells, rest) = cells.as_chunks::<WIDTH>();
    let mut sums = [F::Cell::default(); WIDTH];
    for cells in cells {
        (0..WIDTH).for_each(|n| F::merge(&mut sums[n], &cells[n]));
    }
    let mut sum = F::Cell::default();
    sums.iter().chain(rest).for_each(|cell| F::merge(&mut sum, cell));
    sum
}
