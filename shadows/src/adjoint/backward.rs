//! Evaluation of loops backwards, in the fastest way that is right for each.
//!
//! What is known of a loop holds for others with the same operands, wherever those that are none of its results begin: it is found out
//! once for each kind of loops. Where each statement can be passed in all iterations before those that come earlier in an iteration, they go
//! [abreast](super::abreast). Otherwise it goes iteration by iteration in a [window](super::windowed), unless operands may now and then be
//! results of the same loop: then each term goes straight to its cell, which is the reference path of the other ways.

use super::abreast::Abreast;
use super::abreast_plan;
use super::cells::Cells;
use super::loops::{Loop, Loops, Operand};
use super::places::{Place, is_never_own, iterations_alike};
use super::sweep::Flow;
use super::windowed::{self, Window};
use std::ops::RangeInclusive;

/// Most kinds of loops that are known at a time.
const MOST_KINDS: usize = 16;

/// Way to evaluate a loop.
enum Way {
    Abreast(abreast_plan::Plan),
    Windowed(windowed::Plan),
    OneByOne,
}

/// Facts about an operand.
struct Known {
    /// Place of the result that it is an operand of.
    result: usize,
    is_regular: bool,
    place: Place,
    /// The first operand of the same numbers.
    same: usize,
    /// True if it matters that all partial derivatives are 1.
    is_one: bool,
}

/// Facts about loops that are alike.
struct Kind {
    /// The first operand of one of them, and how many there are.
    operands: (u32, u32),
    numbers: u32,
    /// Numbers of iterations with which all of this holds for those operands.
    iterations: RangeInclusive<u32>,
    known: Vec<Known>,
    /// Places of results to which something has come.
    inputs: Vec<usize>,
    /// Operands whose numbers do not advance by a constant: where they are is another matter in each loop.
    irregular: Vec<usize>,
    /// The way to evaluate such a loop if those are never its results.
    way: Way,
}

/// Room for what is known of loops while they are evaluated.
pub(super) struct Room<F: Flow> {
    abreast: Abreast<F>,
    window: Window<F>,
    /// Cells of the results of one iteration, and of that before it.
    own: [Vec<F::Cell>; 2],
    kinds: Vec<Kind>,
    /// Numbers of the kind that was used last, and of that to which the last new one went.
    last: usize,
    next: usize,
    inputs: Vec<usize>,
}

impl<F: Flow> Room<F> {
    pub(super) fn new() -> Self {
        let own = [Vec::new(), Vec::new()];
        Room {
            abreast: Abreast::new(),
            window: Window::new(),
            own,
            kinds: Vec::new(),
            last: 0,
            next: 0,
            inputs: Vec::new(),
        }
    }

    /// Other columns are evaluated from now on.
    pub(super) fn begin(&mut self) {
        self.kinds.clear();
    }

    /// Evaluates a loop: adds to the cells of all operands what comes by way of its statements.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, cells: &mut Cells<F::Cell>) {
        let of = cells.loop_at(head.number);
        self.inputs.clear();
        self.inputs.extend(cells.columns_of(of).map(|(place, _)| place));
        if self.inputs.is_empty() {
            return;
        }
        self.last = self.kind(loops, head);
        let Kind { known, irregular, way, .. } = &self.kinds[self.last];
        let operands = loops.operands_of(head);
        let never = |&n: &usize| is_never_own(loops, head, &operands[n]);
        match way {
            Way::Abreast(plan) if irregular.iter().all(never) => {
                self.abreast.backward(plan, (loops, head), of, cells);
            }
            Way::Windowed(plan) if irregular.iter().all(never) => {
                self.window.backward(plan, (loops, head), of, cells);
            }
            _ => one_by_one::<F>(&mut self.own, known, (loops, head), of, cells),
        }
        cells.forget_loop(of);
    }

    /// The kind of a loop, by number.
    fn kind(&mut self, loops: &Loops, head: &Loop) -> usize {
        let holds = |&n: &usize| self.kinds[n].holds(loops, head, &self.inputs);
        let last = self.last.min(self.kinds.len());
        if let Some(found) = (last..self.kinds.len()).chain(0..last).find(holds) {
            return found;
        }
        let kind = Kind::new::<F>(loops, head, self.inputs.clone());
        if self.kinds.len() < MOST_KINDS {
            self.kinds.push(kind);
            return self.kinds.len() - 1;
        }
        self.next = (self.next + 1) % MOST_KINDS;
        self.kinds[self.next] = kind;
        self.next
    }
}

impl Kind {
    fn new<F: Flow>(loops: &Loops, head: &Loop, inputs: Vec<usize>) -> Self {
        let operands = loops.operands_of(head);
        let places: Vec<Place> = operands.iter().map(|operand| Place::of(head, operand)).collect();
        let way = if goes_abreast(loops, head, &places) {
            Way::Abreast(abreast_plan::Plan::new::<F>(loops, head, &places, &inputs))
        } else if has_own_places(loops, head, &places) {
            Way::Windowed(windowed::Plan::new::<F>(loops, head, &places, &inputs))
        } else {
            Way::OneByOne
        };
        let (fewest, most) = iterations_alike(head, operands).into_inner();
        // With more of them, operands may be results that are none with these, and with fewer the other way round.
        let iterations = match way {
            Way::OneByOne => head.iterations..=most,
            _ => fewest..=head.iterations,
        };
        let know = |(n, operand): (usize, &Operand)| Known {
            result: operand.place(),
            is_regular: operand.is_regular(),
            place: places[n],
            same: operands.iter().position(|other| other.is_same(operand)).unwrap_or(n),
            is_one: F::ONE_IS_ALL && *loops.partials(head, operand) == [1.0],
        };
        let known = operands.iter().enumerate().map(know).collect();
        let irregular = (0..operands.len()).filter(|&n| !operands[n].is_regular()).collect();
        let &Loop { first, operands, numbers, .. } = head;
        Kind { operands: (first, operands), numbers, iterations, known, inputs, irregular, way }
    }

    /// Tells whether a loop is of this kind, to the results of which something has come at `inputs`.
    fn holds(&self, loops: &Loops, head: &Loop, inputs: &[usize]) -> bool {
        let Kind { operands: (first, count), numbers, iterations, .. } = self;
        if (*numbers, *count) != (head.numbers, head.operands) || self.inputs != inputs {
            return false;
        }
        if *first == head.first && iterations.contains(&head.iterations) {
            return true;
        }
        if let Way::OneByOne = self.way {
            return false;
        }
        let operands = loops.operands_of(head);
        // Where columns of operands elsewhere begin does not matter.
        operands.iter().zip(&self.known).all(|(operand, known)| {
            known.result == operand.place()
                && known.is_regular == operand.is_regular()
                && operand.is_same(&operands[known.same])
                && known.place == Place::of(head, operand)
                && (known.place != Place::Elsewhere || may_be_elsewhere(loops, head, operand))
                && (!known.is_one || *loops.partials(head, operand) == [1.0])
        })
    }
}

/// Tells whether a regular operand is never a result of the loop.
fn may_be_elsewhere(loops: &Loops, head: &Loop, operand: &Operand) -> bool {
    !operand.is_regular() || is_never_own(loops, head, operand)
}

/// Tells whether no cell of a result is used in any iteration before all has come to it, if irregular operands are none.
fn goes_abreast(loops: &Loops, head: &Loop, places: &[Place]) -> bool {
    // The last result that names itself.
    let mut recurrent = None;
    loops.operands_of(head).iter().zip(places).all(|(operand, place)| match *place {
        Place::Elsewhere => may_be_elsewhere(loops, head, operand),
        Place::Own { place, .. } if place == operand.place() => recurrent.replace(place) != Some(place),
        Place::Own { place, .. } => place < operand.place(),
    })
}

/// Tells whether all operands that are ever results of the loop are always at the same place there, if irregular ones are none.
fn has_own_places(loops: &Loops, head: &Loop, places: &[Place]) -> bool {
    let mut operands = loops.operands_of(head).iter().zip(places);
    operands.all(|(operand, place)| *place != Place::Elsewhere || may_be_elsewhere(loops, head, operand))
}

/// Evaluates a loop, which has number `of` among those of `cells`, term by term. `own` and `earlier` are room for the cells of the
/// results of an iteration and of that before it.
fn one_by_one<F: Flow>(
    [own, earlier]: &mut [Vec<F::Cell>; 2],
    known: &[Known],
    (loops, head): (&Loops, &Loop),
    of: usize,
    cells: &mut Cells<F::Cell>,
) {
    let numbers = head.numbers as usize;
    earlier.clear();
    earlier.resize(numbers, F::Cell::default());
    for n in (0..u64::from(head.iterations)).rev() {
        let first = head.number + n * u64::from(head.numbers);
        let range = first..first + u64::from(head.numbers);
        std::mem::swap(own, earlier);
        earlier.clear();
        earlier.resize(numbers, F::Cell::default());
        cells.columns_of(of).for_each(|(place, column)| F::merge(&mut own[place], &column[n as usize]));
        for (operand, known) in loops.operands_of(head).iter().zip(known).rev() {
            let cell = own[operand.place()];
            if F::is_nothing(&cell) {
                continue;
            }
            let to = match known.place {
                Place::Own { place, before: 0 } => &mut own[place],
                Place::Own { place, before: 1 } if n > 0 => &mut earlier[place],
                // Numbers that do not advance with the iterations may now and then be of the same one, whose cells were read.
                _ => match loops.number(head, operand, n) {
                    None => continue,
                    Some(number) if range.contains(&number) => &mut own[(number - range.start) as usize],
                    Some(number) => cells.at(number),
                },
            };
            F::add(to, loops.partial(head, operand, n), &cell);
        }
    }
}

#[cfg(test)]
mod tests;
