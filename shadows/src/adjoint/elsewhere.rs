//! Operands of a loop that are elsewhere than among its results: a column for all those that are the same numbers, in which what
//! comes to them in some iterations is added up before it goes to their cells. Knows nothing of where columns are kept.

use super::cells::Cells;
use super::distances::NOTHING;
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

/// Fewest numbers that advance by a constant which are looked up at once.
const FEWEST: usize = 4;
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
        return hand_on_irregular::<F>((loops, head, operand), start, from, cells);
    }
    let first = operand.regular_number(head, start as u64);
    if operand.step == 0 {
        return F::merge(cells.at(first), &sum::<F>(from));
    }
    cells.along(first, operand.step, from.len(), |some, to| {
        to.iter_mut().zip(&from[some]).for_each(|(to, from)| F::merge(to, from));
    });
}

/// Adds it to the cells of an operand whose numbers do not advance by a constant: many at a time where they do for a while.
fn hand_on_irregular<F: Flow>(
    (loops, head, operand): (&Loops, &Loop, &Operand),
    start: usize,
    from: &[F::Cell],
    cells: &mut Cells<F::Cell>,
) {
    let distances = &loops.distances(head, operand).0[start..][..from.len()];
    let mut n = 0;
    while n < from.len() {
        let number = loops.number(head, operand, (start + n) as u64);
        let Some(first) = number.filter(|_| !F::is_nothing(&from[n])) else {
            n += 1;
            continue;
        };
        let (count, advance) = even(&distances[n..]);
        match i32::try_from(i64::from(head.numbers) - i64::from(advance)) {
            Ok(step) if count >= FEWEST => {
                let from = &from[n..n + count];
                cells.along(first, step, count, |some, to| {
                    to.iter_mut().zip(&from[some]).for_each(|(to, from)| F::merge(to, from));
                });
                n += count;
            }
            _ => {
                F::merge(cells.at(first), &from[n]);
                n += 1;
            }
        }
    }
}

/// Number of distances, from the first on, that advance by a constant, and that.
fn even(distances: &[i32]) -> (usize, i32) {
    let advance = |pair: &[i32]| {
        pair.iter().all(|&distance| distance != NOTHING).then(|| pair[1].wrapping_sub(pair[0]))
    };
    let mut advances = distances.windows(2).map(advance);
    match advances.next().flatten() {
        None => (1, 0),
        first @ Some(by) => (2 + advances.take_while(|&next| next == first).count(), by),
    }
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
