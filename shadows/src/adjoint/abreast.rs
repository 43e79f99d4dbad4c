//! Evaluation of loops backwards: many iterations abreast, statement by statement, where each statement can be passed in all iterations
//! before those that come earlier in an iteration; otherwise one iteration after the other.
//!
//! The cells of the results of iterations that go abreast are read before, and not needed any more when these have been passed. They
//! are few enough to stay in a near cache.

use super::cells::Cells;
use super::loops::{Loop, Loops, Operand};
use super::sweep::Flow;
use std::ops::Range;

/// Most iterations that go abreast, and most bytes of their results' cells, unless one iteration has more.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 16;

/// Place of an operand's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    /// Not among the results of the loop; or not always at the same place there.
    Outside,
    /// Before the results of the loop: what comes there is added up in this column first.
    Before { column: usize },
    /// At this place among the results of an iteration: so many iterations before, or of the same.
    Own { place: usize, before: usize },
}

/// Room for what is known of a loop while it is evaluated.
pub(super) struct Room<F: Flow> {
    /// Cells of its own results: of one iteration, or of several, result by result.
    cells: Vec<F::Cell>,
    /// Cells that are to be added to operands before the loop, in the same iterations: column by column.
    columns: Vec<F::Cell>,
    /// An operand of each column; true if something has come there.
    heads: Vec<(usize, bool)>,
    /// Place of each operand.
    operands: Vec<Whereabouts>,
}

impl<F: Flow> Room<F> {
    pub(super) fn new() -> Self {
        Room { cells: Vec::new(), columns: Vec::new(), heads: Vec::new(), operands: Vec::new() }
    }

    /// Evaluates a loop: adds to the cells of all operands what comes by way of its statements.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, cells: &mut Cells<F::Cell>) {
        let of = cells.loop_at(head.number);
        self.operands.clear();
        self.operands.extend(loops.operands_of(head).iter().map(|operand| whereabouts(head, operand)));
        if self.goes_abreast(loops, head) {
            self.share_columns(loops, head);
            self.abreast(loops, head, of, cells);
        } else {
            self.one_by_one(loops, head, of, cells);
        }
        cells.forget_loop(of);
    }

    /// Tells whether no cell of a result is used in any iteration before all has come to it.
    fn goes_abreast(&self, loops: &Loops, head: &Loop) -> bool {
        // The last result that names itself.
        let mut recurrent = None;
        loops.operands_of(head).iter().zip(&self.operands).all(|(operand, whereabouts)| match *whereabouts {
            Whereabouts::Outside | Whereabouts::Before { .. } => is_before(loops, head, operand),
            Whereabouts::Own { place, .. } if place == operand.place() => {
                recurrent.replace(place) != Some(place)
            }
            Whereabouts::Own { place, .. } => place < operand.place(),
        })
    }

    /// Finds columns for operands before the loop: one for all that are the same numbers.
    fn share_columns(&mut self, loops: &Loops, head: &Loop) {
        let operands = loops.operands_of(head);
        self.heads.clear();
        for (n, operand) in operands.iter().enumerate() {
            if self.operands[n] == Whereabouts::Outside && operand.is_regular() {
                let same = |&(first, _): &(usize, bool)| {
                    let first: &Operand = &operands[first];
                    (first.back, first.step) == (operand.back, operand.step)
                };
                let column = self.heads.iter().position(same).unwrap_or_else(|| {
                    self.heads.push((n, false));
                    self.heads.len() - 1
                });
                self.operands[n] = Whereabouts::Before { column };
            }
        }
    }

    fn abreast(&mut self, loops: &Loops, head: &Loop, of: usize, cells: &mut Cells<F::Cell>) {
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
        self.columns.resize(self.heads.len() * some.len(), F::Cell::default());
        self.heads.iter_mut().for_each(|(_, is_used)| *is_used = false);
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
            let is_own =
                |n: &usize| matches!(self.operands[*n], Whereabouts::Own { place, .. } if place == result);
            // What a result gives to itself comes before what it gives to others.
            let own = these.clone().find(is_own);
            for n in own.into_iter().chain(these.filter(|n| Some(*n) != own)) {
                self.operand(loops, head, (n, &some), cells);
            }
        }
        for (column, &(n, _)) in self.heads.iter().enumerate().filter(|(_, (_, is_used))| *is_used) {
            let from = &self.columns[column * some.len()..][..some.len()];
            let first = loops.number(head, &operands[n], some.start as u64);
            cells.along(first, operands[n].step, some.len(), |some, to| {
                to.iter_mut().zip(&from[some]).for_each(|(to, from)| F::merge(to, from));
            });
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
        let partial = |n: usize| if let [partial] = partials { *partial } else { partials[n] };
        let (others, from) = self.cells.split_at_mut(operand.place() * count);
        let from = &mut from[..count];
        // Iterations in which it is no result of these iterations.
        let outside = match self.operands[n] {
            Whereabouts::Outside => count,
            Whereabouts::Before { column } => {
                self.heads[column].1 = true;
                F::add_each(&mut self.columns[column * count..][..count], partials, from);
                0
            }
            Whereabouts::Own { before, .. } if before >= count => count,
            Whereabouts::Own { place, before } if place == operand.place() => {
                F::add_back(from, before, partials);
                before
            }
            Whereabouts::Own { place, before } => {
                let to = &mut others[place * count..][..count - before];
                let partials = if let [_] = partials { partials } else { &partials[before..] };
                F::add_each(to, partials, &from[before..]);
                before
            }
        };
        if operand.is_regular() {
            let (first, step) = (loops.number(head, operand, some.start as u64), operand.step);
            cells.along(first, step, outside, |some, to| {
                let partials = if let [_] = partials { partials } else { &partials[some.clone()] };
                F::add_each(to, partials, &from[some]);
            });
        } else {
            for (n, from) in from[..outside].iter().enumerate().filter(|(_, from)| !F::is_nothing(from)) {
                F::add(cells.at(loops.number(head, operand, (some.start + n) as u64)), partial(n), from);
            }
        }
    }

    fn one_by_one(&mut self, loops: &Loops, head: &Loop, of: usize, cells: &mut Cells<F::Cell>) {
        let numbers = head.numbers as usize;
        // Cells of the iteration before: what comes there from the one that is evaluated.
        let mut earlier = std::mem::take(&mut self.columns);
        earlier.clear();
        earlier.resize(numbers, F::Cell::default());
        for n in (0..u64::from(head.iterations)).rev() {
            let first = head.number + n * u64::from(head.numbers);
            let own = first..first + u64::from(head.numbers);
            std::mem::swap(&mut self.cells, &mut earlier);
            earlier.clear();
            earlier.resize(numbers, F::Cell::default());
            cells
                .columns_of(of)
                .for_each(|(place, column)| F::merge(&mut self.cells[place], &column[n as usize]));
            for (operand, whereabouts) in loops.operands_of(head).iter().zip(&self.operands).rev() {
                let cell = self.cells[operand.place()];
                if F::is_nothing(&cell) {
                    continue;
                }
                let to = match *whereabouts {
                    Whereabouts::Own { place, before: 0 } => &mut self.cells[place],
                    Whereabouts::Own { place, before: 1 } if n > 0 => &mut earlier[place],
                    // Numbers that do not advance with the iterations may now and then be of the same one, whose cells were read.
                    _ => match loops.number(head, operand, n) {
                        number if own.contains(&number) => &mut self.cells[(number - own.start) as usize],
                        number => cells.at(number),
                    },
                };
                F::add(to, loops.partial(head, operand, n), &cell);
            }
        }
        self.columns = earlier;
    }
}

/// Place of an operand that is at the same one in all iterations.
fn whereabouts(head: &Loop, operand: &Operand) -> Whereabouts {
    let numbers = i64::from(head.numbers);
    if !operand.is_regular() || i64::from(operand.step) != numbers {
        return Whereabouts::Outside;
    }
    let back = operand.back as i64;
    // Iterations back to that which the operand is a result of.
    let before = -back.wrapping_neg().div_euclid(numbers);
    let place = (before * numbers).wrapping_sub(back);
    let is_earlier = before > 0 || before == 0 && (place as usize) < operand.place();
    if !is_earlier || before >= i64::from(head.iterations) {
        return Whereabouts::Outside;
    }
    Whereabouts::Own { place: place as usize, before: before as usize }
}

/// Tells whether an operand is never a result of the loop.
fn is_before(loops: &Loops, head: &Loop, operand: &Operand) -> bool {
    let (count, numbers) = (u64::from(head.iterations), u64::from(head.numbers));
    let own = head.number..head.number + count * numbers;
    let number = |n: u64| loops.number(head, operand, n);
    if operand.is_regular() {
        let ends = [number(0), number(count - 1)];
        return ends.iter().all(|end| *end < own.start) || ends.iter().all(|end| *end >= own.end);
    }
    (0..count).all(|n| !own.contains(&number(n)))
}
