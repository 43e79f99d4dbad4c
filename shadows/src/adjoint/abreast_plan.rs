//! Plans of evaluation for [iterations abreast](super::abreast): the rows of cells that there are, and how each is made of others.
//!
//! What comes to a result is gathered: its row is made when all terms that go to it are known. Where only one does, with partial
//! derivative 1, there is no row of its own. Results to which nothing comes have none either.

use super::elsewhere::Elsewhere;
use super::loops::{Loop, Loops, Operand};
use super::places::Place;
use super::sweep::Flow;

/// Step in which a row is made of one before, or added to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Products with the partial derivatives by an operand. Whatever the row had in it is nothing if that `is_first`.
    Product { to: usize, from: usize, operand: usize, is_first: bool },
    /// Cells of so many iterations later.
    Earlier { to: usize, from: usize, before: usize, is_first: bool },
    /// Products with the partial derivatives by an operand go to the same row, so many iterations before.
    Recurrence { row: usize, operand: usize, before: usize },
}

/// Row that goes to the cells of an operand, by number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Handed {
    pub(super) row: usize,
    pub(super) operand: usize,
    /// Most iterations in which it does, from the first.
    pub(super) most: usize,
}

/// Rows of a loop.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Number of rows.
    pub(super) rows: usize,
    /// Places of results to which something may come from elsewhere, and their rows.
    pub(super) inputs: Vec<(usize, usize)>,
    pub(super) steps: Vec<Step>,
    pub(super) handed: Vec<Handed>,
    /// Operands whose partial derivatives are needed, by number.
    pub(super) operands: Vec<usize>,
}

/// Term that goes from a row to another.
#[derive(Clone, Copy, Debug)]
enum Term {
    /// By way of the partial derivatives by an operand, which are perhaps all 1.
    Product {
        from: usize,
        operand: usize,
        is_one: bool,
    },
    Earlier {
        from: usize,
        before: usize,
    },
}

/// A plan that is being made.
struct Planner {
    plan: Plan,
    /// True where a row may be that of a term with partial derivative 1.
    shares: bool,
    /// Terms that go to each place.
    own: Vec<Vec<Term>>,
    elsewhere: Elsewhere,
    /// Terms that go to each column of operands elsewhere.
    columns: Vec<Vec<Term>>,
}

impl Plan {
    /// Plan for loops with these operands, which are at these places, if something has come to results at `inputs` from elsewhere.
    pub(super) fn new<F: Flow>(loops: &Loops, head: &Loop, places: &[Place], inputs: &[usize]) -> Plan {
        let operands = loops.operands_of(head);
        let mut planner = Planner {
            plan: Plan::default(),
            shares: F::ONE_IS_ALL,
            own: vec![Vec::new(); head.numbers as usize],
            elsewhere: Elsewhere::default(),
            columns: Vec::new(),
        };
        let earlier = |&place: &Place| matches!(place, Place::Own { before, .. } if before > 0);
        let mut end = operands.len();
        while end > 0 {
            let result = operands[end - 1].place();
            let start = operands[..end].iter().rposition(|operand| operand.place() != result);
            let these = start.map_or(0, |before| before + 1)..end;
            end = these.start;
            // Iterations that come later hand on to those before.
            let is_result = |place: &Place| matches!(*place, Place::Own { place, .. } if place == result);
            let is_input =
                inputs.contains(&result) || places.iter().any(|place| earlier(place) && is_result(place));
            let Some(row) = planner.result(result, is_input) else { continue };
            // What a result gives to itself comes before what it gives to others.
            let own = these.clone().find(|&n| is_result(&places[n]));
            for n in own.into_iter().chain(these.filter(|n| Some(*n) != own)) {
                planner.operand((loops, head, operands), (n, places[n], result), row);
            }
        }
        planner.finish()
    }
}

impl Planner {
    fn new_row(&mut self) -> usize {
        self.plan.rows += 1;
        self.plan.rows - 1
    }

    /// The row of a result to which all has come; none if nothing has.
    fn result(&mut self, place: usize, is_input: bool) -> Option<usize> {
        let terms = std::mem::take(&mut self.own[place]);
        if is_input {
            let row = self.new_row();
            self.plan.inputs.push((place, row));
            self.sum(row, &terms, false);
            return Some(row);
        }
        self.row_of(&terms)
    }

    /// The row that is the sum of these terms.
    fn row_of(&mut self, terms: &[Term]) -> Option<usize> {
        match *terms {
            [] => None,
            [Term::Product { from, is_one: true, .. }] if self.shares => Some(from),
            _ => {
                let row = self.new_row();
                self.sum(row, terms, true);
                Some(row)
            }
        }
    }

    /// Adds terms to a row.
    fn sum(&mut self, to: usize, terms: &[Term], mut is_first: bool) {
        for &term in terms {
            self.plan.steps.push(match term {
                Term::Product { from, operand, .. } => Step::Product { to, from, operand, is_first },
                Term::Earlier { from, before } => Step::Earlier { to, from, before, is_first },
            });
            is_first = false;
        }
    }

    /// Has the row of a result go to operand `n`, at this place.
    fn operand(
        &mut self,
        (loops, head, operands): (&Loops, &Loop, &[Operand]),
        (n, place, result): (usize, Place, usize),
        row: usize,
    ) {
        let is_one = *loops.partials(head, &operands[n]) == [1.0];
        let term = Term::Product { from: row, operand: n, is_one };
        let (to, before) = match place {
            Place::Elsewhere => {
                let column = self.elsewhere.column(operands, n);
                self.columns.resize(self.elsewhere.len(), Vec::new());
                return self.columns[column].push(term);
            }
            Place::Own { place, before: 0 } => return self.own[place].push(term),
            Place::Own { place, before } => (place, before),
        };
        if to == result {
            self.plan.steps.push(Step::Recurrence { row, operand: n, before });
        }
        let from = self.new_row();
        self.sum(from, &[term], true);
        self.plan.handed.push(Handed { row: from, operand: n, most: before });
        if to != result {
            self.own[to].push(Term::Earlier { from, before });
        }
    }

    /// The plan, when all results have been passed.
    fn finish(mut self) -> Plan {
        for (column, terms) in std::mem::take(&mut self.columns).into_iter().enumerate() {
            if let Some(row) = self.row_of(&terms) {
                let operand = self.elsewhere.operand(column);
                self.plan.handed.push(Handed { row, operand, most: usize::MAX });
            }
        }
        let operand = |step: &Step| match *step {
            Step::Product { operand, .. } | Step::Recurrence { operand, .. } => Some(operand),
            Step::Earlier { .. } => None,
        };
        self.plan.operands.extend(self.plan.steps.iter().filter_map(operand));
        self.plan.operands.sort_unstable();
        self.plan
    }
}
