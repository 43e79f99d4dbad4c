//! Evaluation of loops backwards, iteration by iteration: for those whose results are used in later iterations, so that their statements
//! cannot be passed abreast.
//!
//! Some iterations are evaluated together in a *window*: a row of cells for each of them, and for those before that their operands
//! reach back to. A row has a cell for each result of its iteration, and one for each operand elsewhere, whose cells are added to
//! that operand when all rows have been passed. So a term is one addition within a few rows that lie in a near cache. Partial
//! derivatives are copied to rows first, since their columns are too many streams to be read at once.

use super::cells::Cells;
use super::elsewhere::Elsewhere;
use super::loops::{Loop, Loops};
use super::places::Place;
use super::sweep::Flow;
use std::ops::Range;

/// Most iterations in a window, and most bytes of its cells unless so few iterations have more.
const MOST: usize = 64;
const FEWEST: usize = 4;
const MOST_BYTES: usize = 1 << 17;

/// A term: the places of its result's and its operand's cells, from the start of the first row that is reached.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: u32,
    to: u32,
}

/// Cells of some iterations, and the order in which they are added to each other.
pub(super) struct Window<F: Flow> {
    /// Rows of [`stride`](Window::stride) cells: those of [`back`](Window::back) iterations before, then those that are evaluated.
    cells: Vec<F::Cell>,
    stride: usize,
    back: usize,
    /// Most iterations that are evaluated together.
    most: usize,
    /// Terms of an iteration, from the last to the first.
    steps: Vec<Step>,
    /// The partial derivatives, in a row for each iteration.
    partials: Vec<f64>,
    /// Terms whose partial derivative varies, and their operands, by number.
    varying: Vec<(usize, usize)>,
    /// Operands elsewhere: a row has a cell for each column of theirs.
    elsewhere: Elsewhere,
}

impl<F: Flow> Window<F> {
    pub(super) fn new() -> Self {
        Window {
            cells: Vec::new(),
            stride: 0,
            back: 0,
            most: 0,
            steps: Vec::new(),
            partials: Vec::new(),
            varying: Vec::new(),
            elsewhere: Elsewhere::default(),
        }
    }

    /// Prepares for loops with these operands, which are at these places.
    pub(super) fn plan(&mut self, loops: &Loops, head: &Loop, places: &[Place]) {
        let (operands, numbers) = (loops.operands_of(head), head.numbers as usize);
        self.most = (MOST_BYTES / size_of::<F::Cell>() / numbers).clamp(FEWEST, MOST);
        self.elsewhere.clear();
        self.back = 0;
        let mut columns = Vec::with_capacity(operands.len());
        for (n, place) in places.iter().enumerate() {
            columns.push(match *place {
                Place::Own { before, .. } if before < self.most => {
                    self.back = self.back.max(before);
                    None
                }
                _ => Some(self.elsewhere.column(operands, n)),
            });
        }
        self.stride = numbers + self.elsewhere.len();
        let row = |before: usize| (self.back - before) * self.stride;
        let step = |n: usize| {
            let to = match (columns[n], places[n]) {
                (Some(column), _) => row(0) + numbers + column,
                (None, Place::Own { place, before }) => row(before) + place,
                (None, _) => unreachable!("an operand elsewhere has a column"),
            };
            Step { from: (row(0) + operands[n].place()) as u32, to: to as u32 }
        };
        self.steps.clear();
        self.steps.extend((0..operands.len()).rev().map(step));
        self.plan_partials(loops, head);
    }

    /// Fills in the partial derivatives that are the same in all iterations.
    fn plan_partials(&mut self, loops: &Loops, head: &Loop) {
        let operands = loops.operands_of(head);
        self.partials.clear();
        self.varying.clear();
        for (at, n) in (0..operands.len()).rev().enumerate() {
            match loops.partials(head, &operands[n]) {
                [partial] => self.partials.push(*partial),
                _ => {
                    self.partials.push(0.0);
                    self.varying.push((at, n));
                }
            }
        }
        let row = self.partials.len();
        for _ in 1..self.most {
            self.partials.extend_from_within(..row);
        }
    }

    /// Evaluates a loop with the operands that were prepared for, and number `of` among the loops of `cells`.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, of: usize, cells: &mut Cells<F::Cell>) {
        let count = head.iterations as usize;
        self.cells.clear();
        self.cells.resize((self.back + self.most.min(count)) * self.stride, F::Cell::default());
        let mut end = count;
        while end > 0 {
            let some = end.saturating_sub(self.most)..end;
            end = some.start;
            self.read(of, &some, cells);
            self.copy_partials(loops, head, &some);
            self.pass(some.len());
            self.write(loops, head, &some, cells);
            self.go_back(some.start.min(self.most));
        }
        self.write_before(head, cells);
    }

    /// Adds what has come to the results of these iterations from elsewhere.
    fn read(&mut self, of: usize, some: &Range<usize>, cells: &Cells<F::Cell>) {
        for (place, column) in cells.columns_of(of) {
            let to = self.cells[self.back * self.stride..].chunks_exact_mut(self.stride);
            for (row, cell) in to.zip(&column[some.clone()]) {
                F::merge(&mut row[place], cell);
            }
        }
    }

    fn copy_partials(&mut self, loops: &Loops, head: &Loop, some: &Range<usize>) {
        let (operands, row) = (loops.operands_of(head), self.steps.len());
        for &(at, n) in &self.varying {
            let column = &loops.partials(head, &operands[n])[some.clone()];
            let to = self.partials[at..].iter_mut().step_by(row);
            to.zip(column).for_each(|(to, partial)| *to = *partial);
        }
    }

    /// Passes the terms of so many iterations, from the last to the first.
    fn pass(&mut self, count: usize) {
        let cells = &mut self.cells[..];
        // The cell that was added to last is often the next one that is read: it need not come back from memory.
        let mut last = (usize::MAX, F::Cell::default());
        for n in (0..count).rev() {
            let first = n * self.stride;
            let partials = &self.partials[n * self.steps.len()..];
            for (step, &partial) in self.steps.iter().zip(partials) {
                let (from, to) = (first + step.from as usize, first + step.to as usize);
                let cell = if from == last.0 { last.1 } else { cells[from] };
                F::add(&mut cells[to], partial, &cell);
                last = (to, cells[to]);
            }
        }
    }

    /// Adds to operands elsewhere what has come to them in these iterations.
    fn write(&self, loops: &Loops, head: &Loop, some: &Range<usize>, cells: &mut Cells<F::Cell>) {
        let rows = &self.cells[self.back * self.stride..];
        for column in 0..self.elsewhere.len() {
            let from = |n: usize| &rows[n * self.stride + head.numbers as usize + column];
            self.elsewhere.hand_on::<F>(column, (loops, head), some, from, cells);
        }
    }

    /// Has the rows that were reached back to be the last ones of the `count` that come next.
    fn go_back(&mut self, count: usize) {
        let reached = self.back * self.stride;
        self.cells.copy_within(..reached, count * self.stride);
        self.cells[..count * self.stride].fill(F::Cell::default());
    }

    /// Adds what has come to results before the first iteration.
    fn write_before(&self, head: &Loop, cells: &mut Cells<F::Cell>) {
        let numbers = head.numbers as usize;
        let first = head.number.wrapping_sub((self.back * numbers) as u64);
        for (n, row) in self.cells.chunks_exact(self.stride).take(self.back).enumerate() {
            let results = row[..numbers].iter().enumerate();
            for (place, cell) in results.filter(|(_, cell)| !F::is_nothing(cell)) {
                F::merge(cells.at(first.wrapping_add((n * numbers + place) as u64)), cell);
            }
        }
    }
}
