//! Evaluation of loops backwards: all iterations abreast, statement by statement, where none depends on another; otherwise
//! one iteration after the other.
//!
//! The cells of a loop's own results are read before, and not needed any more when the loop has been passed.

use super::loops::{Loop, Loops, Operand};
use super::pages::Pages;
use super::sweep::Flow;

/// Place of an operand that is not a result of the same iteration.
const OUTSIDE: u32 = u32::MAX;

/// Room for what is known of a loop while it is evaluated.
pub(super) struct Room<F: Flow> {
    /// Cells of its own results: of one iteration, or of all of them, result by result.
    cells: Vec<F::Cell>,
    /// Those of an iteration.
    row: Vec<F::Cell>,
    /// The place of each operand among the results of its own iteration; or [`OUTSIDE`].
    places: Vec<u32>,
}

impl<F: Flow> Room<F> {
    pub(super) fn new() -> Self {
        Room { cells: Vec::new(), row: Vec::new(), places: Vec::new() }
    }

    /// Evaluates a loop: adds to the cells of all operands what comes by way of its statements.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, cells: &mut Pages<F::Cell>) {
        self.places.clear();
        self.places.extend(loops.operands_of(head).iter().map(|operand| place_of(head, operand)));
        let outside =
            loops.operands_of(head).iter().zip(&self.places).filter(|(_, place)| **place == OUTSIDE);
        if outside.into_iter().all(|(operand, _)| is_before(loops, head, operand)) {
            self.abreast(loops, head, cells);
        } else {
            self.one_by_one(loops, head, cells);
        }
    }

    fn abreast(&mut self, loops: &Loops, head: &Loop, cells: &mut Pages<F::Cell>) {
        let (count, numbers) = (head.iterations as usize, head.numbers as usize);
        self.cells.clear();
        self.cells.resize(count * numbers, F::Cell::default());
        for n in 0..count {
            self.row.clear();
            cells.read(head.number + (n * numbers) as u64, numbers, &mut self.row);
            let column = self.cells[n..].iter_mut().step_by(count);
            column.zip(&self.row).for_each(|(to, from)| *to = *from);
        }
        for (operand, &place) in loops.operands_of(head).iter().zip(&self.places).rev() {
            let result = operand.place();
            let (before, from) = self.cells.split_at_mut(result * count);
            let from = &from[..count];
            if place != OUTSIDE {
                let to = &mut before[place as usize * count..][..count];
                match loops.partials(head, operand) {
                    [partial] => to.iter_mut().zip(from).for_each(|(to, from)| F::add(to, *partial, from)),
                    partials => {
                        let partials = partials.iter().zip(from);
                        to.iter_mut()
                            .zip(partials)
                            .for_each(|(to, (partial, from))| F::add(to, *partial, from));
                    }
                }
                continue;
            }
            for (n, from) in from.iter().enumerate().filter(|(_, from)| !F::is_nothing(from)) {
                let number = head.number + (n * numbers + result) as u64;
                let to = cells.at(loops.number(operand, n as u64, number));
                F::add(to, loops.partial(operand, n as u64), from);
            }
        }
    }

    fn one_by_one(&mut self, loops: &Loops, head: &Loop, cells: &mut Pages<F::Cell>) {
        for n in (0..u64::from(head.iterations)).rev() {
            let first = head.number + n * u64::from(head.numbers);
            self.cells.clear();
            cells.read(first, head.numbers as usize, &mut self.cells);
            for (operand, place) in loops.operands_of(head).iter().zip(&self.places).rev() {
                let result = operand.place();
                let cell = self.cells[result];
                if F::is_nothing(&cell) {
                    continue;
                }
                let to = match *place {
                    OUTSIDE => cells.at(loops.number(operand, n, first + result as u64)),
                    place => &mut self.cells[place as usize],
                };
                F::add(to, loops.partial(operand, n), &cell);
            }
        }
    }
}

/// The place of an operand among the results of its own iteration, if it is always there.
fn place_of(head: &Loop, operand: &Operand) -> u32 {
    let place = operand.number.wrapping_sub(head.number);
    let is_own = operand.step == head.numbers as i32 && place < operand.place() as u64;
    if is_own { place as u32 } else { OUTSIDE }
}

/// Tells whether an operand is never a result of the loop.
fn is_before(loops: &Loops, head: &Loop, operand: &Operand) -> bool {
    let (count, numbers) = (u64::from(head.iterations), u64::from(head.numbers));
    let own = head.number..head.number + count * numbers;
    let number = |n: u64| loops.number(operand, n, head.number + n * numbers + operand.place() as u64);
    if operand.is_regular() {
        let ends = [number(0), number(count - 1)];
        return ends.iter().all(|end| *end < own.start) || ends.iter().all(|end| *end >= own.end);
    }
    (0..count).all(|n| !own.contains(&number(n)))
}
