//! Evaluation of a tape: backwards from outputs to inputs, or forwards.
//!
//! A [`Flow`] says what goes along partial derivatives: numbers for several outputs at once, or sets. Backwards,
//! the cell of a statement is complete when the sweep comes to it, and needed no more once it has passed: pages of cells
//! live only as long as something is to come that uses them, whatever the length of the tape.

use super::backward::Room;
use super::cells::Cells;
use super::columns::{Columns, Piece, Rounding};
use super::pages::{self, Pages};
use super::tape::Tape;
use std::io;

/// Something that goes from results to operands, or from operands to results.
pub(super) trait Flow {
    /// Amount of it at a statement; nothing by default.
    type Cell: Copy + Default;

    /// True if a partial derivative of 1 hands on what there is as it is.
    const ONE_IS_ALL: bool = false;

    /// Tells whether there is nothing.
    fn is_nothing(cell: &Self::Cell) -> bool;

    /// Adds what comes by way of a partial derivative.
    fn add(to: &mut Self::Cell, partial: f64, from: &Self::Cell);

    /// Adds what has come elsewhere.
    fn merge(to: &mut Self::Cell, from: &Self::Cell);

    /// Product that comes by way of a partial derivative, unless one factor is zero and the other not finite: then nothing, or anything that is
    /// not finite, also when it is multiplied or added to.
    #[inline(always)]
    fn product(partial: f64, from: &Self::Cell) -> Self::Cell {
        let mut to = Self::Cell::default();
        Self::add(&mut to, partial, from);
        to
    }

    /// Tells whether all that is in cells is finite.
    fn are_finite(_cells: &[Self::Cell]) -> bool {
        true
    }

    /// Adds, from the last to the first, what comes to each of many from the one that is `before` further on, by way of its own partial
    /// derivative or of one that is the same for all.
    fn add_back(cells: &mut [Self::Cell], before: usize, partials: &[f64]) {
        for n in (before..cells.len()).rev() {
            let cell = cells[n];
            let partial = if let [partial] = partials { *partial } else { partials[n] };
            Self::add(&mut cells[n - before], partial, &cell);
        }
    }
}

/// Product that comes by way of a partial derivative: as [`Flow::product`] has it, or with care so that what is zero contributes nothing.
#[inline(always)]
pub(super) fn product<F: Flow, const CAREFUL: bool>(partial: f64, from: &F::Cell) -> F::Cell {
    if !CAREFUL {
        return F::product(partial, from);
    }
    let mut to = F::Cell::default();
    F::add(&mut to, partial, from);
    to
}

/// Reads some partial derivatives in advance: so many streams, each of which is short, are not foreseen by the processor.
#[inline(always)]
pub(super) fn fetch(partials: &[f64]) {
    // A line of a cache has eight of them.
    std::hint::black_box(partials.iter().step_by(8).fold(0, |all, partial| all | partial.to_bits()));
}

/// Numbers, so many at once.
pub(super) struct Numbers<const LANES: usize>;

impl<const LANES: usize> Flow for Numbers<LANES>
where
    [f64; LANES]: Default,
{
    type Cell = [f64; LANES];

    const ONE_IS_ALL: bool = true;

    #[inline(always)]
    fn is_nothing(cell: &[f64; LANES]) -> bool {
        cell.iter().all(|x| *x == 0.0)
    }

    #[inline(always)]
    fn add(to: &mut [f64; LANES], partial: f64, from: &[f64; LANES]) {
        // Without the product, a sum waits for no more than the sum before.
        if partial == 1.0 {
            return Self::merge(to, from);
        }
        let mut products = Self::product(partial, from);
        // Without a branch for each.
        if products.iter().fold(false, |is_undefined, product| is_undefined | product.is_nan()) {
            define(&mut products, partial, from);
        }
        Self::merge(to, &products);
    }

    #[inline(always)]
    fn merge(to: &mut [f64; LANES], from: &[f64; LANES]) {
        for n in 0..LANES {
            to[n] += from[n];
        }
    }

    #[inline(always)]
    fn product(partial: f64, from: &[f64; LANES]) -> [f64; LANES] {
        from.map(|from| partial * from)
    }

    fn are_finite(cells: &[[f64; LANES]]) -> bool {
        let (cells, rest) = cells.as_flattened().as_chunks::<8>();
        // Zero times what is finite is zero.
        let mut zeros = [0.0; 8];
        for cells in cells {
            (0..8).for_each(|n| zeros[n] += 0.0 * cells[n]);
        }
        zeros.iter().all(|zero| *zero == 0.0) && rest.iter().all(|x| x.is_finite())
    }

    #[inline(always)]
    fn add_back(cells: &mut [[f64; LANES]], before: usize, partials: &[f64]) {
        let is_sum = matches!(partials, [1.0]);
        let add = |to: &mut [f64; LANES], n: usize, from: &[f64; LANES]| {
            if is_sum {
                Self::merge(to, from);
            } else {
                let partial = if let [partial] = partials { *partial } else { partials[n] };
                Self::add(to, partial, from);
            }
        };
        if let (1, Some(&last)) = (before, cells.last()) {
            // What comes to one goes on from it at once, and need not come back from memory.
            let mut cell = last;
            for n in (1..cells.len()).rev() {
                add(&mut cells[n - 1], n, &cell);
                cell = cells[n - 1];
            }
            return;
        }
        for n in (before..cells.len()).rev() {
            let cell = cells[n];
            add(&mut cells[n - before], n, &cell);
        }
    }
}

/// Makes products zero that are not numbers because a factor is zero: what is zero contributes nothing, also times infinity.
#[cold]
#[inline(never)]
fn define<const LANES: usize>(products: &mut [f64; LANES], partial: f64, from: &[f64; LANES]) {
    for (product, from) in products.iter_mut().zip(from) {
        if partial == 0.0 || *from == 0.0 {
            *product = 0.0;
        }
    }
}

/// A statement that a sweep has come to.
#[derive(Clone, Copy)]
pub(super) struct Passed<'a> {
    pub(super) statement: u64,
    /// True if it is a component of the inputs.
    pub(super) is_input: bool,
    columns: &'a Columns,
    at: usize,
}

impl Passed<'_> {
    /// The rounding, if that is recorded.
    pub(super) fn rounding(&self) -> Option<Rounding> {
        self.columns.rounding(self.at)
    }
}

/// Hands the cell of each statement to `each`, from the last to the first, when a cell, times a factor, has been added to
/// that of each of `outputs`. Statements with nothing in their cells are passed over.
pub(super) fn backward<F: Flow>(
    tape: &Tape,
    outputs: impl IntoIterator<Item = (u64, F::Cell, f64)>,
    mut each: impl FnMut(Passed<'_>, &F::Cell),
) -> io::Result<()> {
    let mut cells = Cells::new(tape.loops());
    for (statement, cell, factor) in outputs {
        F::add(cells.at(statement), factor, &cell);
    }
    let (mut room, mut in_loops) = (Columns::default(), Room::<F>::new());
    for chunk in (0..tape.chunks()).rev() {
        tape.chunk(chunk, &mut room, |columns| {
            in_loops.begin();
            let mut end = columns.end();
            for piece in columns.pieces().into_iter().rev() {
                let pages = piece.pages();
                match piece {
                    Piece::Run(run, places) => {
                        columns.backward((run, places), &mut end, |statement, at, terms| {
                            let cell: F::Cell = cells.other(statement);
                            if F::is_nothing(&cell) {
                                return;
                            }
                            each(Passed { statement, is_input: terms.is_empty(), columns, at }, &cell);
                            for term in terms {
                                // What comes after the start of a run and before one of its statements is in no loop.
                                let to = if term.statement >= run.number && term.statement < statement {
                                    cells.other_at(term.statement)
                                } else {
                                    cells.at(term.statement)
                                };
                                F::add(to, term.partial, &cell);
                            }
                        })
                    }
                    Piece::Loop(head) => in_loops.backward(&columns.loops, head, &mut cells),
                }
                cells.forget(pages);
            }
        })?;
    }
    Ok(())
}

/// The cells of the statements in `keep`, and perhaps of others, when the tape has been evaluated from its start to its end.
/// `input` says what a component begins with. Cells live as long as something is to come that uses them.
pub(super) fn forward<F: Flow>(
    tape: &Tape,
    keep: impl IntoIterator<Item = u64>,
    mut input: impl FnMut(u64) -> F::Cell,
) -> io::Result<Pages<F::Cell>> {
    let mut ends = last_uses(tape, keep)?;
    let mut cells = Pages::new();
    let mut room = Columns::default();
    for (chunk, ends) in ends.iter_mut().enumerate() {
        tape.chunk(chunk, &mut room, |columns| {
            columns.forward(|statement, terms| {
                let mut cell = F::Cell::default();
                if terms.is_empty() {
                    cell = input(statement);
                }
                for term in terms {
                    F::add(&mut cell, term.partial, &cells.get(term.statement));
                }
                if !F::is_nothing(&cell) {
                    *cells.at(statement) = cell;
                }
            });
        })?;
        ends.drain(..).for_each(|page| cells.forget(page));
    }
    Ok(cells)
}

/// Pages of cells that are used last in each chunk, but for those of statements in `keep`.
fn last_uses(tape: &Tape, keep: impl IntoIterator<Item = u64>) -> io::Result<Vec<Vec<usize>>> {
    let mut last = vec![0; pages::page_of(tape.limit()) + 1];
    let mut room = Columns::default();
    for chunk in 0..tape.chunks() {
        let mut use_page = |statement: u64| last[pages::page_of(statement)] = chunk;
        tape.chunk(chunk, &mut room, |columns| {
            columns.forward(|statement, terms| {
                use_page(statement);
                terms.iter().for_each(|term| use_page(term.statement));
            });
        })?;
    }
    keep.into_iter().for_each(|statement| last[pages::page_of(statement)] = usize::MAX);
    let mut ends = vec![Vec::new(); tape.chunks()];
    for (page, &chunk) in last.iter().enumerate().filter(|(_, chunk)| **chunk != usize::MAX) {
        ends[chunk].push(page);
    }
    Ok(ends)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Sums of products of words, which are the same in whatever order they are added up.
    pub(in super::super) struct Words;

    impl Flow for Words {
        type Cell = u64;

        fn is_nothing(cell: &u64) -> bool {
            *cell == 0
        }

        fn add(to: &mut u64, partial: f64, from: &u64) {
            *to = to.wrapping_add(from.wrapping_mul(partial.to_bits() >> 7 | 1));
        }

        fn merge(to: &mut u64, from: &u64) {
            *to = to.wrapping_add(*from);
        }
    }

    /// Cells that are added to those so many before are so one after the other, from the last to the first.
    #[test]
    fn cells_that_go_back_get_what_each_would_get() {
        for (count, before) in [(1, 1), (2, 1), (9, 1), (9, 2), (9, 8), (3, 4)] {
            let varying: Vec<f64> = (0..count).map(|n| n as f64 - 2.5).collect();
            for partials in [varying, vec![1.0], vec![-0.5]] {
                let mut cells: Vec<[f64; 2]> = (0..count).map(|n| [n as f64, 1.0 / (n + 1) as f64]).collect();
                let mut expected = cells.clone();
                Numbers::<2>::add_back(&mut cells, before, &partials);
                for n in (before..count).rev() {
                    let partial = if let [partial] = partials[..] { partial } else { partials[n] };
                    let from = expected[n];
                    expected[n - before].iter_mut().zip(from).for_each(|(to, from)| *to += partial * from);
                }
                assert_eq!(cells, expected, "{count} cells, {before} before, {partials:?}");
            }
        }
    }
}
