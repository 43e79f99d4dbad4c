//! Evaluation of loops backwards, many iterations abreast, statement by statement: for those in which each statement can be passed in all
//! iterations before those that come earlier in an iteration.
//!
//! The cells of a result in all of these iterations are a row, and so are those of each operand elsewhere: a [plan](Plan) says how each
//! row is made of earlier ones. Rows are few enough to stay in the nearest cache, and only what has come to operands elsewhere leaves it,
//! when all of it is there.
//!
//! Products are added up without a look at what the factors are: where that matters, as zero times infinity contributes nothing, what
//! comes out is not finite, and the iterations are passed once more with care.

use super::abreast_plan::{Plan, Step};
use super::cells::Cells;
use super::elsewhere::hand_on;
use super::loops::{Loop, Loops};
use super::sweep::{Flow, fetch, product};
use std::ops::Range;

/// Cells that are beside each other in a row and are made at once. Rows are of whole ones; those beyond the last iteration stay empty.
const WIDTH: usize = 8;

/// Most iterations that go abreast, and most bytes of their rows, unless so few iterations have more.
const MOST: usize = 256;
const FEWEST: usize = 32;
const MOST_BYTES: usize = 3 << 13;

/// Cells beside each other in a row.
type Piece<F> = [<F as Flow>::Cell; WIDTH];

/// Rows of iterations that go abreast.
pub(super) struct Abreast<F: Flow> {
    cells: Vec<Piece<F>>,
    /// Length of a row.
    stride: usize,
}

impl<F: Flow> Abreast<F> {
    pub(super) fn new() -> Self {
        Abreast { cells: Vec::new(), stride: 0 }
    }

    /// Evaluates a loop by its plan. It has number `of` among the loops of `cells`.
    pub(super) fn backward(
        &mut self,
        plan: &Plan,
        (loops, head): (&Loops, &Loop),
        of: usize,
        cells: &mut Cells<F::Cell>,
    ) {
        let count = head.iterations as usize;
        let most = MOST_BYTES / size_of::<Piece<F>>() / plan.rows.max(1);
        let most = most.clamp(FEWEST / WIDTH, MOST / WIDTH).min(count.div_ceil(WIDTH));
        if self.cells.len() < plan.rows * most {
            self.cells.resize(plan.rows * most, [F::Cell::default(); WIDTH]);
        }
        let mut end = count;
        while end > 0 {
            let some = end.saturating_sub(most * WIDTH)..end;
            end = some.start;
            self.stride = some.len().div_ceil(WIDTH);
            if !self.read(plan, (of, &some), cells) {
                continue;
            }
            for &operand in &plan.operands {
                if let partials @ [_, _, ..] = loops.partials(head, &loops.operands_of(head)[operand]) {
                    fetch(&partials[some.clone()]);
                }
            }
            self.run::<false>(plan, (loops, head), &some);
            let mut handed = plan.handed.iter();
            if !handed.all(|handed| F::are_finite(self.row(handed.row).as_flattened())) {
                self.read(plan, (of, &some), cells);
                self.run::<true>(plan, (loops, head), &some);
            }
            for handed in &plan.handed {
                let count = handed.most.min(some.len());
                let from = &self.row(handed.row).as_flattened()[..count];
                hand_on::<F>((loops, head, handed.operand), some.start, from, cells);
            }
        }
    }

    fn row(&self, row: usize) -> &[Piece<F>] {
        &self.cells[row * self.stride..][..self.stride]
    }

    /// A row, and one that was made before.
    #[inline(always)]
    fn rows(&mut self, to: usize, from: usize) -> (&mut [Piece<F>], &[Piece<F>]) {
        let (before, to) = self.cells.split_at_mut(to * self.stride);
        (&mut to[..self.stride], &before[from * self.stride..][..self.stride])
    }

    /// Reads the cells of results to which something may have come from elsewhere, in some iterations. Tells whether anything has.
    fn read(&mut self, plan: &Plan, (of, some): (usize, &Range<usize>), cells: &Cells<F::Cell>) -> bool {
        let (count, mut is_any) = (some.len(), false);
        for &(place, row) in &plan.inputs {
            let to = self.cells[row * self.stride..][..self.stride].as_flattened_mut();
            let Some(column) = cells.column_at(of, place) else {
                to.fill(F::Cell::default());
                continue;
            };
            let column = &column[some.clone()];
            is_any |= !column.iter().all(F::is_nothing);
            to[..count].copy_from_slice(column);
            to[count..].fill(F::Cell::default());
        }
        is_any
    }

    /// Makes the rows of some iterations one after the other.
    fn run<const CAREFUL: bool>(&mut self, plan: &Plan, (loops, head): (&Loops, &Loop), some: &Range<usize>) {
        let operands = loops.operands_of(head);
        for step in &plan.steps {
            match *step {
                Step::Product { to, from, operand, is_first } => {
                    let (to, from) = self.rows(to, from);
                    match loops.partials(head, &operands[operand]) {
                        [partial] => add_constant::<F, CAREFUL>(to, *partial, from, is_first),
                        partials => add_varying::<F, CAREFUL>(to, &partials[some.clone()], from, is_first),
                    }
                }
                Step::Earlier { to, from, before, is_first } => {
                    let (to, from) = self.rows(to, from);
                    let (to, from) = (to.as_flattened_mut(), from.as_flattened());
                    if is_first {
                        to.fill(F::Cell::default());
                    }
                    let from = from.get(before..).unwrap_or_default();
                    to.iter_mut().zip(from).for_each(|(to, from)| F::merge(to, from));
                }
                Step::Recurrence { row, operand, before } => {
                    let row = self.cells[row * self.stride..][..self.stride].as_flattened_mut();
                    let partials = match loops.partials(head, &operands[operand]) {
                        [partial] => std::slice::from_ref(partial),
                        partials => &partials[some.clone()],
                    };
                    F::add_back(&mut row[..some.len()], before, partials);
                }
            }
        }
    }
}

/// Adds a row times a number to another, which has nothing in it before if that `is_first`.
#[inline(always)]
fn add_constant<F: Flow, const CAREFUL: bool>(
    to: &mut [Piece<F>],
    partial: f64,
    from: &[Piece<F>],
    is_first: bool,
) {
    let cells = to.iter_mut().zip(from);
    if is_first {
        for (to, from) in cells {
            *to = std::array::from_fn(|n| product::<F, CAREFUL>(partial, &from[n]));
        }
    } else {
        for (to, from) in cells {
            let products: Piece<F> = std::array::from_fn(|n| product::<F, CAREFUL>(partial, &from[n]));
            (0..WIDTH).for_each(|n| F::merge(&mut to[n], &products[n]));
        }
    }
}

/// Adds the products of a row and partial derivatives to another row, which has nothing in it before if that `is_first`.
#[inline(always)]
fn add_varying<F: Flow, const CAREFUL: bool>(
    to: &mut [Piece<F>],
    partials: &[f64],
    from: &[Piece<F>],
    is_first: bool,
) {
    let (partials, rest) = partials.as_chunks::<WIDTH>();
    let last = std::array::from_fn(|n| rest.get(n).copied().unwrap_or(0.0));
    let last = if rest.is_empty() { &[][..] } else { std::slice::from_ref(&last) };
    let (to, last_to) = to.split_at_mut(partials.len());
    let (from, last_from) = from.split_at(partials.len());
    if is_first {
        set_products::<F, CAREFUL>(to, partials, from);
        set_products::<F, CAREFUL>(last_to, last, last_from);
    } else {
        add_products::<F, CAREFUL>(to, partials, from);
        add_products::<F, CAREFUL>(last_to, last, last_from);
    }
}

#[inline(always)]
fn set_products<F: Flow, const CAREFUL: bool>(
    to: &mut [Piece<F>],
    partials: &[[f64; WIDTH]],
    from: &[Piece<F>],
) {
    for ((to, partials), from) in to.iter_mut().zip(partials).zip(from) {
        *to = std::array::from_fn(|n| product::<F, CAREFUL>(partials[n], &from[n]));
    }
}

#[inline(always)]
fn add_products<F: Flow, const CAREFUL: bool>(
    to: &mut [Piece<F>],
    partials: &[[f64; WIDTH]],
    from: &[Piece<F>],
) {
    for ((to, partials), from) in to.iter_mut().zip(partials).zip(from) {
        // All are read before any is written.
        let products: Piece<F> = std::array::from_fn(|n| product::<F, CAREFUL>(partials[n], &from[n]));
        (0..WIDTH).for_each(|n| F::merge(&mut to[n], &products[n]));
    }
}
