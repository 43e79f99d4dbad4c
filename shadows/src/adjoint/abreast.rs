//! Evaluation of loops backwards, many iterations abreast, statement by statement: for those in which each statement can be passed in all
//! iterations before those that come earlier in an iteration.
//!
//! The cells of the results of iterations that go abreast are read before, and not needed any more when these have been passed. They
//! are few enough to stay in a near cache.

use super::cells::Cells;
use super::elsewhere::Elsewhere;
use super::loops::{Loop, Loops};
use super::places::Place;
use super::sweep::Flow;
use std::ops::Range;

/// Most iterations that go abreast, and most bytes of their results' cells, unless one iteration has more.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 16;

/// Destination of what comes to an operand.
#[derive(Clone, Copy, Debug)]
enum To {
    /// The column, in which what comes to the same numbers is added up first.
    Column(usize),
    /// Results of the loop, so many iterations before.
    Own { place: usize, before: usize },
}

/// Cells of iterations that go abreast.
pub(super) struct Abreast<F: Flow> {
    /// Cells of their results, result by result.
    cells: Vec<F::Cell>,
    /// Cells that are to be added to operands elsewhere, in the same iterations: column by column.
    columns: Vec<F::Cell>,
    elsewhere: Elsewhere,
    /// Columns to which something has come.
    used: Vec<bool>,
    /// Destination of each operand.
    operands: Vec<To>,
}

impl<F: Flow> Abreast<F> {
    pub(super) fn new() -> Self {
        let (elsewhere, used) = (Elsewhere::default(), Vec::new());
        Abreast { cells: Vec::new(), columns: Vec::new(), elsewhere, used, operands: Vec::new() }
    }

    /// Prepares for loops with these operands, which are at these places.
    pub(super) fn plan(&mut self, loops: &Loops, head: &Loop, places: &[Place]) {
        let operands = loops.operands_of(head);
        self.elsewhere.clear();
        self.operands.clear();
        for (n, place) in places.iter().enumerate() {
            self.operands.push(match *place {
                Place::Own { place, before } => To::Own { place, before },
                Place::Elsewhere => To::Column(self.elsewhere.column(operands, n)),
            });
        }
    }

    /// Evaluates a loop with the operands that were prepared for, and number `of` among the loops of `cells`.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, of: usize, cells: &mut Cells<F::Cell>) {
        let (count, numbers) = (head.iterations as usize, head.numbers as usize);
        let most = (MOST_BYTES / size_of::<F::Cell>() / numbers).clamp(1, MOST);
        let mut end = count;
        while end > 0 {
            let iterations = end.saturating_sub(most)..end;
            end = iterations.start;
            self.some_abreast(loops, head, (of, iterations), cells);
        }
    }

    fn some_abreast(
        &mut self,
        loops: &Loops,
        head: &Loop,
        (of, some): (usize, Range<usize>),
        cells: &mut Cells<F::Cell>,
    ) {
        self.read(head, (of, &some), cells);
        self.columns.clear();
        self.columns.resize(self.elsewhere.len() * some.len(), F::Cell::default());
        self.used.clear();
        self.used.resize(self.elsewhere.len(), false);
        let operands = loops.operands_of(head);
        let mut end = operands.len();
        while end > 0 {
            let result = operands[end - 1].place();
            let start = operands[..end].iter().rposition(|operand| operand.place() != result);
            let these = start.map_or(0, |before| before + 1)..end;
            end = these.start;
            if self.cells[result * some.len()..][..some.len()].iter().all(F::is_nothing) {
                continue;
            }
            let is_own = |n: &usize| matches!(self.operands[*n], To::Own { place, .. } if place == result);
            // What a result gives to itself comes before what it gives to others.
            let own = these.clone().find(is_own);
            for n in own.into_iter().chain(these.filter(|n| Some(*n) != own)) {
                self.operand(loops, head, (n, &some), cells);
            }
        }
        for column in (0..self.elsewhere.len()).filter(|&column| self.used[column]) {
            let from = &self.columns[column * some.len()..][..some.len()];
            self.elsewhere.hand_on::<F>(column, (loops, head), &some, |n| &from[n], cells);
        }
    }

    /// Reads the cells of all results of some iterations.
    fn read(&mut self, head: &Loop, (of, some): (usize, &Range<usize>), cells: &Cells<F::Cell>) {
        let count = some.len();
        self.cells.clear();
        self.cells.resize(count * head.numbers as usize, F::Cell::default());
        for (place, column) in cells.columns_of(of) {
            self.cells[place * count..][..count].copy_from_slice(&column[some.clone()]);
        }
    }

    /// Adds what comes to operand `n` by way of its statement, in some iterations.
    #[inline(always)]
    fn operand(
        &mut self,
        loops: &Loops,
        head: &Loop,
        (n, some): (usize, &Range<usize>),
        cells: &mut Cells<F::Cell>,
    ) {
        let count = some.len();
        let operand = &loops.operands_of(head)[n];
        let partials = match loops.partials(head, operand) {
            [partial] => std::slice::from_ref(partial),
            partials => &partials[some.clone()],
        };
        let (others, from) = self.cells.split_at_mut(operand.place() * count);
        let from = &mut from[..count];
        // Iterations in which it is no result of these iterations.
        let outside = match self.operands[n] {
            To::Column(column) => {
                self.used[column] = true;
                F::add_each(&mut self.columns[column * count..][..count], partials, from);
                0
            }
            To::Own { before, .. } if before >= count => count,
            To::Own { place, before } if place == operand.place() => {
                F::add_back(from, before, partials);
                before
            }
            To::Own { place, before } => {
                let to = &mut others[place * count..][..count - before];
                let partials = if let [_] = partials { partials } else { &partials[before..] };
                F::add_each(to, partials, &from[before..]);
                before
            }
        };
        if outside == 0 {
            return;
        }
        let (first, step) = (operand.regular_number(head, some.start as u64), operand.step);
        cells.along(first, step, outside, |some, to| {
            let partials = if let [_] = partials { partials } else { &partials[some.clone()] };
            F::add_each(to, partials, &from[some]);
        });
    }
}
