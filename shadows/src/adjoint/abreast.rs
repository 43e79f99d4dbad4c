//! Evaluation of loops backwards: all iterations abreast, statement by statement, where each statement can be passed in all iterations
//! before those that come earlier in an iteration; otherwise one iteration after the other.
//!
//! The cells of a loop's own results are read before, and not needed any more when the loop has been passed.

use super::loops::{Loop, Loops, Operand};
use super::pages::Pages;
use super::sweep::Flow;

/// Place of an operand's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    /// Not among the results of the loop; or not always at the same place there.
    Outside,
    /// At this place among the results of an iteration: so many iterations before, or of the same.
    Own { place: usize, before: usize },
}

/// Room for what is known of a loop while it is evaluated.
pub(super) struct Room<F: Flow> {
    /// Cells of its own results: of one iteration, or of all of them, result by result.
    cells: Vec<F::Cell>,
    /// Those of an iteration.
    row: Vec<F::Cell>,
    /// Place of each operand.
    operands: Vec<Whereabouts>,
}

impl<F: Flow> Room<F> {
    pub(super) fn new() -> Self {
        Room { cells: Vec::new(), row: Vec::new(), operands: Vec::new() }
    }

    /// Evaluates a loop: adds to the cells of all operands what comes by way of its statements.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, cells: &mut Pages<F::Cell>) {
        self.operands.clear();
        self.operands.extend(loops.operands_of(head).iter().map(|operand| whereabouts(head, operand)));
        if self.goes_abreast(loops, head) {
            self.abreast(loops, head, cells);
        } else {
            self.one_by_one(loops, head, cells);
        }
    }

    /// Tells whether no cell of a result is used in any iteration before all has come to it.
    fn goes_abreast(&self, loops: &Loops, head: &Loop) -> bool {
        // The last result that names itself.
        let mut recurrent = None;
        loops.operands_of(head).iter().zip(&self.operands).all(|(operand, whereabouts)| match *whereabouts {
            Whereabouts::Outside => is_before(loops, head, operand),
            Whereabouts::Own { place, .. } if place == operand.place() => {
                recurrent.replace(place) != Some(place)
            }
            Whereabouts::Own { place, .. } => place < operand.place(),
        })
    }

    fn abreast(&mut self, loops: &Loops, head: &Loop, cells: &mut Pages<F::Cell>) {
        self.read(head, cells);
        let operands = loops.operands_of(head);
        let mut end = operands.len();
        while end > 0 {
            let result = operands[end - 1].place();
            let start = operands[..end].iter().rposition(|operand| operand.place() != result);
            let start = start.map_or(0, |before| before + 1);
            let is_own =
                |n: &usize| matches!(self.operands[*n], Whereabouts::Own { place, .. } if place == result);
            // What a result gives to itself comes before what it gives to others.
            if let Some(n) = (start..end).find(is_own) {
                self.operand(loops, head, n, cells);
            }
            for n in start..end {
                if !matches!(self.operands[n], Whereabouts::Own { place, .. } if place == result) {
                    self.operand(loops, head, n, cells);
                }
            }
            end = start;
        }
    }

    /// Reads the cells of all results.
    fn read(&mut self, head: &Loop, cells: &Pages<F::Cell>) {
        let (count, numbers) = (head.iterations as usize, head.numbers as usize);
        self.cells.clear();
        self.cells.resize(count * numbers, F::Cell::default());
        for n in 0..count {
            self.row.clear();
            cells.read(head.number + (n * numbers) as u64, numbers, &mut self.row);
            let column = self.cells[n..].iter_mut().step_by(count);
            column.zip(&self.row).for_each(|(to, from)| *to = *from);
        }
    }

    /// Adds what comes to operand `n` by way of its statement, in all iterations.
    #[inline(always)]
    fn operand(&mut self, loops: &Loops, head: &Loop, n: usize, cells: &mut Pages<F::Cell>) {
        let count = head.iterations as usize;
        let operand = &loops.operands_of(head)[n];
        let partials = loops.partials(head, operand);
        let partial = |n: usize| if let [partial] = partials { *partial } else { partials[n] };
        let (others, from) = self.cells.split_at_mut(operand.place() * count);
        let from = &mut from[..count];
        if from.iter().all(F::is_nothing) {
            return;
        }
        // Iterations in which it is no result of the loop.
        let outside = match self.operands[n] {
            Whereabouts::Outside => count,
            Whereabouts::Own { place, before } if place == operand.place() => {
                for n in (before..count).rev() {
                    let cell = from[n];
                    F::add(&mut from[n - before], partial(n), &cell);
                }
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
            let (first, step) = (loops.number(head, operand, 0), operand.step);
            cells.along(first, step, outside, |n, to| F::add(to, partial(n), &from[n]));
        } else {
            for (n, from) in from[..outside].iter().enumerate().filter(|(_, from)| !F::is_nothing(from)) {
                F::add(cells.at(loops.number(head, operand, n as u64)), partial(n), from);
            }
        }
    }

    fn one_by_one(&mut self, loops: &Loops, head: &Loop, cells: &mut Pages<F::Cell>) {
        for n in (0..u64::from(head.iterations)).rev() {
            let first = head.number + n * u64::from(head.numbers);
            self.cells.clear();
            cells.read(first, head.numbers as usize, &mut self.cells);
            for (operand, whereabouts) in loops.operands_of(head).iter().zip(&self.operands).rev() {
                let cell = self.cells[operand.place()];
                if F::is_nothing(&cell) {
                    continue;
                }
                let to = match *whereabouts {
                    Whereabouts::Own { place, before: 0 } => &mut self.cells[place],
                    _ => cells.at(loops.number(head, operand, n)),
                };
                F::add(to, loops.partial(head, operand, n), &cell);
            }
        }
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
