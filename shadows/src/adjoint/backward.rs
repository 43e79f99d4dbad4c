//! Evaluation of loops backwards, in the fastest way that is right for each.
//!
//! Where each statement can be passed in all iterations before those that come earlier in an iteration, they go
//! [abreast](super::abreast). Otherwise it goes iteration by iteration in a [window](super::windowed), unless operands may now and then be
//! results of the same loop: then each term goes straight to its cell, which is the reference path of the other ways.

use super::abreast::Abreast;
use super::cells::Cells;
use super::loops::{Loop, Loops, Operand};
use super::places::{Place, is_never_own};
use super::sweep::Flow;
use super::windowed::Window;

/// Way to evaluate a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Abreast,
    Windowed,
    OneByOne,
}

/// Loops for which what is known of their operands holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Alike {
    /// The first operand, and how many there are.
    operands: (u32, u32),
    numbers: u32,
    iterations: u32,
}

/// Room for what is known of a loop while it is evaluated.
pub(super) struct Room<F: Flow> {
    places: Vec<Place>,
    abreast: Abreast<F>,
    window: Window<F>,
    /// Cells of the results of one iteration, and of that before it.
    own: [Vec<F::Cell>; 2],
    /// Loops that the way was found for, if it is that of all of these.
    known: Option<(Alike, Way)>,
}

impl<F: Flow> Room<F> {
    pub(super) fn new() -> Self {
        let (abreast, window) = (Abreast::new(), Window::new());
        Room { places: Vec::new(), abreast, window, own: [Vec::new(), Vec::new()], known: None }
    }

    /// Other columns are evaluated from now on.
    pub(super) fn begin(&mut self) {
        self.known = None;
    }

    /// Evaluates a loop: adds to the cells of all operands what comes by way of its statements.
    pub(super) fn backward(&mut self, loops: &Loops, head: &Loop, cells: &mut Cells<F::Cell>) {
        let of = cells.loop_at(head.number);
        if cells.columns_of(of).next().is_none() {
            return;
        }
        match self.way(loops, head) {
            Way::Abreast => self.abreast.backward(loops, head, of, cells),
            Way::Windowed => self.window.backward(loops, head, of, cells),
            Way::OneByOne => self.one_by_one(loops, head, of, cells),
        }
        cells.forget_loop(of);
    }

    /// The way to evaluate a loop, which is prepared for.
    fn way(&mut self, loops: &Loops, head: &Loop) -> Way {
        let &Loop { first, operands, numbers, iterations, .. } = head;
        let alike = Alike { operands: (first, operands), numbers, iterations };
        if let Some((known, way)) = self.known
            && known == alike
        {
            return way;
        }
        let operands = loops.operands_of(head);
        self.places.clear();
        self.places.extend(operands.iter().map(|operand| Place::of(head, operand)));
        let way = if self.goes_abreast(loops, head) {
            self.abreast.plan(loops, head, &self.places);
            Way::Abreast
        } else if self.has_own_places(loops, head) {
            self.window.plan(loops, head, &self.places);
            Way::Windowed
        } else {
            Way::OneByOne
        };
        // Where irregular operands are is another matter in each loop.
        self.known = operands.iter().all(Operand::is_regular).then_some((alike, way));
        way
    }

    /// Tells whether no cell of a result is used in any iteration before all has come to it.
    fn goes_abreast(&self, loops: &Loops, head: &Loop) -> bool {
        // The last result that names itself.
        let mut recurrent = None;
        loops.operands_of(head).iter().zip(&self.places).all(|(operand, place)| match *place {
            Place::Elsewhere => is_never_own(loops, head, operand),
            Place::Own { place, .. } if place == operand.place() => recurrent.replace(place) != Some(place),
            Place::Own { place, .. } => place < operand.place(),
        })
    }

    /// Tells whether all operands that are ever results of the loop are always at the same place there.
    fn has_own_places(&self, loops: &Loops, head: &Loop) -> bool {
        let mut operands = loops.operands_of(head).iter().zip(&self.places);
        operands.all(|(operand, place)| *place != Place::Elsewhere || is_never_own(loops, head, operand))
    }

    fn one_by_one(&mut self, loops: &Loops, head: &Loop, of: usize, cells: &mut Cells<F::Cell>) {
        let numbers = head.numbers as usize;
        let [own, earlier] = &mut self.own;
        earlier.clear();
        earlier.resize(numbers, F::Cell::default());
        for n in (0..u64::from(head.iterations)).rev() {
            let first = head.number + n * u64::from(head.numbers);
            let range = first..first + u64::from(head.numbers);
            std::mem::swap(own, earlier);
            earlier.clear();
            earlier.resize(numbers, F::Cell::default());
            cells.columns_of(of).for_each(|(place, column)| F::merge(&mut own[place], &column[n as usize]));
            for (operand, place) in loops.operands_of(head).iter().zip(&self.places).rev() {
                let cell = own[operand.place()];
                if F::is_nothing(&cell) {
                    continue;
                }
                let to = match *place {
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
}
