//! Evaluation of loops backwards, iteration by iteration: for those whose results are used in later iterations, so that their statements
//! cannot be passed abreast.
//!
//! Some iterations are evaluated together in a *window*: a row of cells for each of them, and for those after that their results
//! are used in. A row has a cell for each result of its iteration that is not the same as another, and one for each operand elsewhere,
//! whose cells are added to that operand when all rows have been passed. What comes to a cell is gathered from the cells of a few rows that lie in a near cache.
//!
//! As in evaluation [abreast](super::abreast), products are added up without a look at what the factors are, and once more with care
//! where something comes out that is not finite.

use super::cells::Cells;
use super::elsewhere::{Elsewhere, hand_on};
use super::loops::{Loop, Loops};
use super::places::Place;
use super::sweep::{Flow, fetch, product};
use std::ops::Range;

/// Most iterations in a window, and most bytes of its cells and partial derivatives unless so few iterations have more.
const MOST: usize = 64;
const FEWEST: usize = 4;
const MOST_BYTES: usize = 1 << 17;
/// Most bytes of partial derivatives that are read in advance.
const MOST_FETCHED: usize = 1 << 18;
/// Columns of partial derivatives among which one that is the same is looked for.
const RECENT: usize = 8;
/// Floats in a line of a cache.
const LINE: usize = 8;

/// Term that comes to a cell from another, by way of the partial derivatives by an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    /// Place of the other in its row.
    from: usize,
    /// Number of rows that it is further on.
    before: usize,
    operand: usize,
    /// True if it is the same as what it comes from.
    is_same: bool,
}

/// Sum of terms that is a cell of each row: the first sum the first cell, and so on.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// Place among the results of the loop; beyond those for an operand elsewhere.
    of: u32,
    /// The place after its last term, the first of which comes after those of the sum before.
    end: u32,
    /// True if something may have come to it from elsewhere, or if it has no term.
    is_input: bool,
}

/// Rule by which each cell of a row is made of others.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Cells of a row.
    stride: usize,
    /// Most rows that a term goes back.
    back: usize,
    /// Sums of a row in order.
    sums: Vec<Sum>,
    terms: Vec<Term>,
    /// For each term the place of the cell that it comes from, from the start of the row that it goes to.
    from: Vec<u32>,
    /// Terms that go back, and the places of the results that they go to.
    reaching: Vec<(usize, Term)>,
    /// Operands elsewhere, the cells of which come after those of the results.
    elsewhere: Elsewhere,
    /// For each column of them, the place of its cells.
    columns: Vec<usize>,
    /// Operands whose partial derivatives are needed, by number.
    operands: Vec<usize>,
}

impl Plan {
    /// Plan for loops with these operands, which are at these places, if something has come to results at `inputs` from elsewhere.
    pub(super) fn new<F: Flow>(loops: &Loops, head: &Loop, places: &[Place], inputs: &[usize]) -> Plan {
        let (operands, numbers) = (loops.operands_of(head), head.numbers as usize);
        let mut plan = Plan::default();
        let mut gathered = vec![Vec::new(); numbers];
        for (n, place) in places.iter().enumerate().rev() {
            let is_same = F::ONE_IS_ALL && *loops.partials(head, &operands[n]) == [1.0];
            let (to, before) = match *place {
                Place::Own { place, before } if before < MOST => (place, before),
                _ => (numbers + plan.elsewhere.column(operands, n), 0),
            };
            plan.back = plan.back.max(before);
            gathered.resize(gathered.len().max(to + 1), Vec::new());
            gathered[to].push(Term { from: operands[n].place(), before, operand: n, is_same });
        }
        // Place of the result or operand whose cell is that of each.
        let mut same: Vec<usize> = (0..gathered.len()).collect();
        let mut cells = vec![0; gathered.len()];
        for to in (0..numbers).rev().chain(numbers..gathered.len()) {
            let terms = &mut gathered[to];
            terms.iter_mut().for_each(|term| term.from = same[term.from]);
            let is_far = |place: &Place| matches!(*place, Place::Own { place, before } if place == to && before >= MOST);
            // What goes far back comes from elsewhere, too.
            let is_input = inputs.contains(&to) || places.iter().any(is_far);
            match terms[..] {
                [Term { from, before: 0, is_same: true, .. }] if !is_input => same[to] = from,
                _ => {
                    plan.terms.extend(&*terms);
                    let (end, is_input) = (plan.terms.len() as u32, is_input || terms.is_empty());
                    cells[to] = plan.sums.len();
                    plan.sums.push(Sum { of: to as u32, end, is_input });
                }
            }
        }
        plan.stride = plan.sums.len();
        let cell = |place: usize| cells[same[place]];
        plan.columns.extend((numbers..gathered.len()).map(cell));
        let own = gathered[..numbers].iter().enumerate();
        plan.reaching.extend(own.flat_map(|(place, terms)| terms.iter().map(move |term| (place, *term))));
        plan.reaching.retain(|(_, term)| term.before > 0);
        // A result from which something goes to an earlier one has come to its place only now.
        plan.terms.iter_mut().for_each(|term| term.from = cell(term.from));
        plan.reaching.iter_mut().for_each(|(_, term)| term.from = cell(term.from));
        let place = |term: &Term| (term.before * plan.stride + term.from) as u32;
        plan.from.extend(plan.terms.iter().map(place));
        plan.operands.extend(plan.terms.iter().map(|term| term.operand));
        plan.operands.sort_unstable();
        plan
    }
}

/// Partial derivatives of a term: in each row at a place of its own, or the same for all rows, before these.
#[derive(Clone, Copy, Debug)]
struct Partials {
    at: u32,
    /// All bits set if each row has its own.
    varies: u32,
}

/// Column of partial derivatives: an operand that they are by, and the number of iterations that they are further on.
#[derive(Clone, Copy, Debug)]
struct Column {
    operand: usize,
    before: usize,
}

/// Cells of some iterations.
pub(super) struct Window<F: Flow> {
    /// Rows of the iterations that are evaluated, then those of as many as are reached back from.
    cells: Vec<F::Cell>,
    /// The partial derivatives that are the same for all iterations, then a row for each iteration.
    partials: Vec<f64>,
    /// Places of those of each term.
    places: Vec<Partials>,
    /// Columns of partial derivatives, by their place in a row.
    columns: Vec<Column>,
    /// Length of a row of partial derivatives.
    width: usize,
    /// Cells of a column.
    column: Vec<F::Cell>,
}

impl<F: Flow> Window<F> {
    pub(super) fn new() -> Self {
        let (cells, partials, column) = (Vec::new(), Vec::new(), Vec::new());
        Window { cells, partials, places: Vec::new(), columns: Vec::new(), width: 0, column }
    }

    /// Evaluates a loop by its plan. It has number `of` among the loops of `cells`.
    pub(super) fn backward(
        &mut self,
        plan: &Plan,
        (loops, head): (&Loops, &Loop),
        of: usize,
        cells: &mut Cells<F::Cell>,
    ) {
        let (count, stride) = (head.iterations as usize, plan.stride);
        self.place_partials(plan, (loops, head));
        let bytes = size_of::<F::Cell>() * stride + size_of::<f64>() * self.width;
        let most = (MOST_BYTES / bytes.max(1)).clamp(FEWEST, MOST).min(count);
        let len = (most + plan.back) * stride;
        self.cells.resize(self.cells.len().max(len), F::Cell::default());
        let len = self.row(plan, most);
        self.partials.resize(self.partials.len().max(len), 0.0);
        if count * plan.terms.len() * size_of::<f64>() <= MOST_FETCHED {
            let operands = plan.operands.iter().map(|n| &loops.operands_of(head)[*n]);
            operands.for_each(|operand| fetch(loops.partials(head, operand)));
        }
        let mut end = count;
        while end > 0 {
            let some = end.saturating_sub(most)..end;
            let after = some.len() * stride;
            if end < count {
                self.cells.copy_within(..plan.back * stride, after);
            } else {
                self.clear_after(plan, after);
            }
            end = some.start;
            self.read(plan, (of, &some), cells);
            self.copy_partials(plan, (loops, head), &some);
            self.pass::<false>(plan, some.len());
            if !F::are_finite(&self.cells[..after]) {
                self.read(plan, (of, &some), cells);
                self.pass::<true>(plan, some.len());
            }
            self.write(plan, (loops, head), &some, cells);
        }
        self.write_before(plan, (loops, head), cells);
    }

    /// Makes the cells empty that terms reach beyond the last iteration, whose row ends there.
    fn clear_after(&mut self, plan: &Plan, end: usize) {
        for (_, term) in &plan.reaching {
            let cells = self.cells[end + term.from..].iter_mut().step_by(plan.stride);
            cells.take(term.before).for_each(|cell| *cell = F::Cell::default());
        }
    }

    /// Reads what has come to the results of these iterations from elsewhere.
    fn read(&mut self, plan: &Plan, (of, some): (usize, &Range<usize>), cells: &Cells<F::Cell>) {
        for (to, sum) in plan.sums.iter().enumerate().filter(|(_, sum)| sum.is_input) {
            let to = self.cells[to..].iter_mut().step_by(plan.stride).take(some.len());
            match cells.column_at(of, sum.of as usize) {
                Some(column) => to.zip(&column[some.clone()]).for_each(|(to, cell)| *to = *cell),
                None => to.for_each(|to| *to = F::Cell::default()),
            }
        }
    }

    /// Finds places for the partial derivatives of a loop, and puts those that do not change there.
    fn place_partials(&mut self, plan: &Plan, (loops, head): (&Loops, &Loop)) {
        let operands = loops.operands_of(head);
        let partials = |operand: usize| loops.partials(head, &operands[operand]);
        self.places.clear();
        self.columns.clear();
        self.partials.resize(self.partials.len().max(plan.terms.len()), 0.0);
        for (n, &Term { operand, before, .. }) in plan.terms.iter().enumerate() {
            if let [partial] = *partials(operand) {
                self.partials[n] = partial;
                self.places.push(Partials { at: n as u32, varies: 0 });
                continue;
            }
            // Those that are the same column are mostly near each other.
            let same = |column: &&Column| {
                column.before == before
                    && std::ptr::eq(partials(column.operand).as_ptr(), partials(operand).as_ptr())
            };
            let recent = self.columns.len().saturating_sub(RECENT);
            let found = self.columns[recent..].iter().position(|column| same(&column));
            let at = found.map_or(self.columns.len(), |found| recent + found);
            if found.is_none() {
                self.columns.push(Column { operand, before });
            }
            self.places.push(Partials { at: (self.row(plan, 0) + at) as u32, varies: u32::MAX });
        }
        // An odd number of a cache's lines: otherwise few of its places are used by a column.
        self.width = LINE * (self.columns.len().div_ceil(LINE) | 1);
    }

    /// Place of the partial derivatives of an iteration.
    fn row(&self, plan: &Plan, n: usize) -> usize {
        plan.terms.len().next_multiple_of(LINE) + n * self.width
    }

    /// Copies partial derivatives to rows, since their columns are too many streams to be read at once.
    fn copy_partials(&mut self, plan: &Plan, (loops, head): (&Loops, &Loop), some: &Range<usize>) {
        let (operands, start) = (loops.operands_of(head), self.row(plan, 0));
        for (at, column) in self.columns.iter().enumerate() {
            let to = self.partials[start + at..].iter_mut().step_by(self.width).take(some.len());
            let partials = loops.partials(head, &operands[column.operand]);
            let own = some.start + column.before..(some.end + column.before).min(partials.len());
            // Beyond the last iteration is nothing that they could be multiplied with.
            let own = partials.get(own).unwrap_or_default();
            to.zip(own).for_each(|(to, partial)| *to = *partial);
        }
    }

    /// Makes the rows of so many iterations, from the last to the first.
    fn pass<const CAREFUL: bool>(&mut self, plan: &Plan, count: usize) {
        for n in (0..count).rev() {
            // A row, and those after it.
            let rows = &mut self.cells[n * plan.stride..];
            let row = (n * self.width) as u32;
            let mut start = 0;
            for (to, &Sum { end, is_input, .. }) in plan.sums.iter().enumerate() {
                let these = start as usize..end as usize;
                let mut those = plan.from[these.clone()].iter().zip(&self.places[these]);
                let term = |(from, partials): (&u32, &Partials)| {
                    let partial = self.partials[(partials.at + (row & partials.varies)) as usize];
                    product::<F, CAREFUL>(partial, &rows[*from as usize])
                };
                let mut cell =
                    if is_input { rows[to] } else { those.next().map_or_else(F::Cell::default, term) };
                those.for_each(|those| F::merge(&mut cell, &term(those)));
                rows[to] = cell;
                start = end;
            }
        }
    }

    /// Adds to operands elsewhere what has come to them in these iterations.
    fn write(
        &mut self,
        plan: &Plan,
        (loops, head): (&Loops, &Loop),
        some: &Range<usize>,
        cells: &mut Cells<F::Cell>,
    ) {
        for (column, &place) in plan.columns.iter().enumerate() {
            self.column.clear();
            self.column.extend(self.cells[place..].iter().step_by(plan.stride).take(some.len()));
            let operand = plan.elsewhere.operand(column);
            hand_on::<F>((loops, head, operand), some.start, &self.column, cells);
        }
    }

    /// Adds what has come to results before the first iteration.
    fn write_before(&self, plan: &Plan, (loops, head): (&Loops, &Loop), cells: &mut Cells<F::Cell>) {
        for (place, term) in &plan.reaching {
            let operand = &loops.operands_of(head)[term.operand];
            for iteration in 0..term.before.min(head.iterations as usize) {
                let from = &self.cells[iteration * plan.stride + term.from];
                if F::is_nothing(from) {
                    continue;
                }
                let before = (term.before - iteration) as u64 * u64::from(head.numbers);
                let number = head.number.wrapping_sub(before).wrapping_add(*place as u64);
                F::add(cells.at(number), loops.partial(head, operand, iteration as u64), from);
            }
        }
    }
}
