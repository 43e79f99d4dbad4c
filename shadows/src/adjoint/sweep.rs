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

    /// Tells whether there is nothing.
    fn is_nothing(cell: &Self::Cell) -> bool;

    /// Adds what comes by way of a partial derivative.
    fn add(to: &mut Self::Cell, partial: f64, from: &Self::Cell);

    /// Adds what has come elsewhere.
    fn merge(to: &mut Self::Cell, from: &Self::Cell);

    /// Adds, from the last to the first, what comes to each of many from the one that is `before` further on, by way of its own partial
    /// derivative or of one that is the same for all.
    fn add_back(cells: &mut [Self::Cell], before: usize, partials: &[f64]) {
        for n in (before..cells.len()).rev() {
            let cell = cells[n];
            let partial = if let [partial] = partials { *partial } else { partials[n] };
            Self::add(&mut cells[n - before], partial, &cell);
        }
    }

    /// Adds what comes to each of many by way of its own partial derivative, or of one that is the same for all.
    fn add_each(to: &mut [Self::Cell], partials: &[f64], from: &[Self::Cell]) {
        match partials {
            [partial] => to.iter_mut().zip(from).for_each(|(to, from)| Self::add(to, *partial, from)),
            partials => {
                let partials = partials.iter().zip(from);
                to.iter_mut().zip(partials).for_each(|(to, (partial, from))| Self::add(to, *partial, from));
            }
        }
    }
}

/// Numbers, so many at once.
pub(super) struct Numbers<const LANES: usize>;

impl<const LANES: usize> Flow for Numbers<LANES>
where
    [f64; LANES]: Default,
{
    type Cell = [f64; LANES];

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
        add_some(std::array::from_mut(to), [partial], std::array::from_ref(from));
    }

    #[inline(always)]
    fn merge(to: &mut [f64; LANES], from: &[f64; LANES]) {
        for n in 0..LANES {
            to[n] += from[n];
        }
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

    #[inline(always)]
    fn add_each(to: &mut [[f64; LANES]], partials: &[f64], from: &[[f64; LANES]]) {
        let count = to.len();
        if let [1.0] = partials {
            return to.iter_mut().zip(from).for_each(|(to, from)| Self::merge(to, from));
        }
        let ((to, last_to), (from, last_from)) = (to.as_chunks_mut::<ABREAST>(), from.as_chunks::<ABREAST>());
        if let [partial] = partials
            && count > 1
        {
            to.iter_mut().zip(from).for_each(|(to, from)| add_some(to, [*partial; ABREAST], from));
            last_to.iter_mut().zip(last_from).for_each(|(to, from)| Self::add(to, *partial, from));
            return;
        }
        let (partials, last) = partials.as_chunks();
        to.iter_mut()
            .zip(partials)
            .zip(from)
            .for_each(|((to, partials), from)| add_some(to, *partials, from));
        last_to.iter_mut().zip(last).zip(last_from).for_each(|((to, last), from)| Self::add(to, *last, from));
    }
}

/// Cells that are added to at once.
const ABREAST: usize = 8;

/// Adds products, without a branch for each as long as all are numbers.
#[inline(always)]
fn add_some<const LANES: usize, const N: usize>(
    to: &mut [[f64; LANES]; N],
    partials: [f64; N],
    from: &[[f64; LANES]; N],
) {
    let mut products = [[0.0; LANES]; N];
    let mut is_undefined = false;
    for n in 0..N {
        for lane in 0..LANES {
            products[n][lane] = partials[n] * from[n][lane];
            is_undefined |= products[n][lane].is_nan();
        }
    }
    if is_undefined {
        define(&mut products, partials, from);
    }
    for n in 0..N {
        for lane in 0..LANES {
            to[n][lane] += products[n][lane];
        }
    }
}

/// Makes products zero that are not numbers because a factor is zero: what is zero contributes nothing, also times infinity.
#[cold]
#[inline(never)]
fn define<const LANES: usize, const N: usize>(
    products: &mut [[f64; LANES]; N],
    partials: [f64; N],
    from: &[[f64; LANES]; N],
) {
    for ((products, partial), from) in products.iter_mut().zip(partials).zip(from) {
        for (product, from) in products.iter_mut().zip(from) {
            if partial == 0.0 || *from == 0.0 {
                *product = 0.0;
            }
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
                                F::add(cells.at(term.statement), term.partial, &cell);
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
mod tests {
    use super::*;

    /// Sums over many cells together are those of each alone, also where products are no numbers.
    #[test]
    fn many_cells_get_what_each_would_get() {
        const SOME: [f64; 7] = [0.0, 1.5, f64::INFINITY, f64::NAN, -2.0, f64::NEG_INFINITY, -0.0];
        let one = |partial: f64, from: f64| if partial == 0.0 || from == 0.0 { 0.0 } else { partial * from };
        for count in 0..40 {
            for plain in [true, false] {
                let float = |n: usize, more: usize| {
                    if plain { (n * more) as f64 } else { SOME[(n * more + n / 7) % SOME.len()] }
                };
                let from: Vec<[f64; 2]> = (0..count).map(|n| [float(n, 3), float(n, 5)]).collect();
                let partials: Vec<f64> = (0..count).map(|n| float(n, 1)).collect();
                for partials in [partials, vec![0.0], vec![f64::INFINITY], vec![0.25], vec![1.0]] {
                    let mut to = vec![[1.0, 2.0]; count];
                    Numbers::<2>::add_each(&mut to, &partials, &from);
                    for (n, to) in to.iter().enumerate() {
                        let partial = if let [partial] = partials[..] { partial } else { partials[n] };
                        let expected = [1.0 + one(partial, from[n][0]), 2.0 + one(partial, from[n][1])];
                        let same = |(a, b): (&f64, f64)| a.total_cmp(&b).is_eq() || a.is_nan() && b.is_nan();
                        assert!(to.iter().zip(expected).all(same), "{n} of {count}: {to:?}, {expected:?}");
                    }
                }
            }
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
