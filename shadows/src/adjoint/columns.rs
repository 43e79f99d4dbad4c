//! Statements as columns, and loops between them.
//!
//! A byte says how many operands a statement has and which partials are 1 or −1; operands are named by how far back they
//! are, in two bytes, or by numbers of four (eight beyond 2³²), and only other partials are written down. Numbers of
//! statements follow each other within runs, so that only where a run begins its number is written down. Knows nothing of where
//! columns are kept.

use super::loops::{Loop, Loops};
use super::pages;
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::site::Site;
use std::ops::{Range, RangeInclusive};

/// Bytes of loops that there is room for, for each statement that is in none.
pub(super) const LOOPS: usize = 16;

/// Kinds of partials, two bits for each operand.
const NONE: u8 = 0;
const ONE: u8 = 1;
const MINUS_ONE: u8 = 2;
const FACTOR: u8 = 3;
/// Set where the numbers of a statement's operands have eight bytes.
const WIDE: u8 = 1 << 6;
/// Set where operands are named by how far back they are, in two bytes.
const NEAR: u8 = 1 << 7;
/// Mark of a number that no statement has.
const SKIPPED: u8 = NEAR;
/// Most numbers in a row that are skipped one by one; beyond, another run begins.
pub(super) const SKIPS: u64 = 16;

/// A partial derivative, and the statement whose result it is by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Term {
    pub(super) statement: u64,
    pub(super) partial: f64,
}

/// The terms that a result is the sum of, to first order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Statement {
    terms: [Term; MAX_OPERANDS],
    len: usize,
    /// The rounding of the result, where that is recorded.
    pub(super) rounding: Option<Rounding>,
}

/// Local rounding error of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rounding {
    pub(super) site: Site,
    /// The real result of the operation on its floats, less the float it gave.
    pub(super) residual: f64,
}

impl Statement {
    /// One that depends on nothing.
    pub(super) fn of_nothing(rounding: Option<Rounding>) -> Statement {
        Statement { rounding, ..Statement::default() }
    }

    /// One that depends on one more result.
    #[inline(always)]
    pub(super) fn add(&mut self, term: Term) {
        self.terms[self.len] = term;
        self.len += 1;
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.terms[..self.len]
    }
}

/// Statements whose numbers follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// The first one's number.
    pub(super) number: u64,
    /// The place in its chunk.
    pub(super) at: u64,
}

impl Run {
    /// Number of words of a run.
    pub(super) const WORDS: usize = 2;

    /// The run as words.
    pub(super) fn words(&self) -> [u64; Run::WORDS] {
        [self.number, self.at]
    }

    /// The run of these words.
    pub(super) fn of_words([number, at]: [u64; Run::WORDS]) -> Run {
        Run { number, at }
    }
}

/// Statements that come one after the other.
pub(super) enum Piece<'a> {
    /// A run, and the places of its statements.
    Run(Run, Range<usize>),
    Loop(&'a Loop),
}

impl Piece<'_> {
    /// Pages of cells, by number, whose first statements are here.
    pub(super) fn pages(&self) -> RangeInclusive<usize> {
        let numbers = match self {
            Piece::Run(run, places) => run.number..run.number + places.len() as u64,
            Piece::Loop(head) => {
                head.number..head.number + u64::from(head.iterations) * u64::from(head.numbers)
            }
        };
        pages::first_from(numbers.start)..=pages::page_of(numbers.end.saturating_sub(1))
    }
}

/// Statements one after the other.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) runs: Vec<Run>,
    /// Number of the statement that would go on with the last run.
    next: u64,
    pub(super) kinds: Vec<u8>,
    pub(super) near: Vec<u16>,
    pub(super) operands: Vec<u32>,
    pub(super) partials: Vec<f64>,
    /// Sites and residuals of all statements, or of none.
    pub(super) sites: Vec<u32>,
    pub(super) residuals: Vec<f64>,
    pub(super) loops: Loops,
}

impl Columns {
    /// With room for so many usual statements.
    pub(super) fn new(statements: usize) -> Columns {
        Columns {
            kinds: Vec::with_capacity(statements),
            near: Vec::with_capacity(2 * statements),
            operands: Vec::with_capacity(statements),
            partials: Vec::with_capacity(statements),
            loops: Loops::new(LOOPS * statements),
            ..Columns::default()
        }
    }

    /// Adds statement `number`, greater than that before it unless that is in another block.
    #[inline(always)]
    pub(super) fn push(&mut self, number: u64, statement: &Statement) {
        if number != self.next {
            self.skip_to(number);
        }
        self.next = number + 1;
        let far = |term: &Term| number.wrapping_sub(term.statement) > u64::from(u16::MAX);
        let wide = |term: &Term| term.statement > u64::from(u32::MAX);
        let is_far = statement.terms().iter().any(far);
        let is_wide = is_far && statement.terms().iter().any(wide);
        let mut kinds = match (is_far, is_wide) {
            (_, true) => WIDE,
            (false, _) if !statement.terms().is_empty() => NEAR,
            _ => 0,
        };
        for (i, term) in statement.terms().iter().enumerate() {
            if is_far {
                self.operands.push(term.statement as u32);
            } else {
                self.near.push((number - term.statement) as u16);
            }
            if is_wide {
                self.operands.push((term.statement >> 32) as u32);
            }
            let kind = match term.partial {
                1.0 => ONE,
                -1.0 => MINUS_ONE,
                partial => {
                    self.partials.push(partial);
                    FACTOR
                }
            };
            kinds |= kind << (2 * i);
        }
        self.kinds.push(kinds);
        if let Some(Rounding { site, residual }) = statement.rounding {
            self.sites.push(site.bits());
            self.residuals.push(residual);
        }
    }

    /// Begins a loop, whose operands are added to [`loops`](Columns::loops): its first number, and how many each iteration takes.
    pub(super) fn begin_loop(&mut self, number: u64, iterations: usize, numbers: usize) {
        self.loops.begin(self.kinds.len() as u64, number, iterations, numbers);
        // What comes next is in another run.
        self.next = u64::MAX;
    }

    #[cold]
    fn skip_to(&mut self, number: u64) {
        let skipped = number.wrapping_sub(self.next);
        if skipped > SKIPS || self.kinds.is_empty() || self.next == u64::MAX {
            let at = self.kinds.len() as u64;
            return self.runs.push(Run { number, at });
        }
        for _ in 0..skipped {
            self.kinds.push(SKIPPED);
            if !self.sites.is_empty() {
                self.sites.push(Site::NONE.bits());
                self.residuals.push(0.0);
            }
        }
    }

    /// Runs and loops in order.
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        let ends = self.runs.iter().skip(1).map(|run| run.at as usize).chain([self.kinds.len()]);
        let mut runs = self.runs.iter().zip(ends).peekable();
        let mut loops = self.loops.heads.iter().peekable();
        // A run that begins where a loop stands comes after it.
        let next = || {
            let before = runs.peek().map_or(u64::MAX, |(run, _)| run.at);
            match loops.next_if(|head| head.at <= before) {
                Some(head) => Some(Piece::Loop(head)),
                None => runs.next().map(|(&run, end)| Piece::Run(run, run.at as usize..end)),
            }
        };
        std::iter::from_fn(next).collect()
    }

    /// The rounding of the statement at this place, if roundings are recorded.
    pub(super) fn rounding(&self, at: usize) -> Option<Rounding> {
        Some(Rounding { site: Site::from_bits(*self.sites.get(at)?), residual: *self.residuals.get(at)? })
    }

    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.next = 0;
        self.kinds.clear();
        self.near.clear();
        self.operands.clear();
        self.partials.clear();
        self.sites.clear();
        self.residuals.clear();
        self.loops.clear();
    }

    /// Number of partials that are written down.
    pub(super) fn values(&self) -> u64 {
        (self.partials.len() + self.loops.partials.len() + self.loops.constants.len()) as u64
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.operands.len() + self.sites.len();
        let doubles = self.partials.len() + self.residuals.len();
        let runs = size_of_val(&self.runs[..]) + self.kinds.len() + 2 * self.near.len();
        (runs + 4 * words + 8 * doubles) as u64 + self.loops.bytes()
    }

    /// Hands the statements to `each` from the first to the last, by number.
    pub(super) fn forward(&self, mut each: impl FnMut(u64, &[Term])) {
        let mut at_columns = Extent::default();
        for piece in self.pieces() {
            let (run, places) = match piece {
                Piece::Run(run, places) => (run, places),
                Piece::Loop(head) => {
                    self.loops.statements(head, |number, statement| each(number, statement.terms()));
                    continue;
                }
            };
            for (number, at) in (run.number..).zip(places) {
                let kinds = self.kinds[at];
                if kinds == SKIPPED {
                    continue;
                }
                each(number, self.statement(number, kinds, at_columns).terms());
                let Extent { near, operands, partials } = Extent::of(kinds);
                at_columns.near += near;
                at_columns.operands += operands;
                at_columns.partials += partials;
            }
        }
    }

    /// The place after the last statement that is in no loop.
    pub(super) fn end(&self) -> Extent {
        let (near, operands) = (self.near.len(), self.operands.len());
        Extent { near, operands, partials: self.partials.len() }
    }

    /// Hands the statements of a run to `each` from the last to the first, by number and place. `at_columns` is the end of
    /// the run, and then its start.
    #[inline(always)]
    pub(super) fn backward(
        &self,
        (run, places): (Run, Range<usize>),
        at_columns: &mut Extent,
        mut each: impl FnMut(u64, usize, &[Term]),
    ) {
        for at in places.rev() {
            let kinds = self.kinds[at];
            if kinds == SKIPPED {
                continue;
            }
            let Extent { near, operands, partials } = Extent::of(kinds);
            at_columns.near -= near;
            at_columns.operands -= operands;
            at_columns.partials -= partials;
            let number = run.number + (at as u64 - run.at);
            each(number, at, self.statement(number, kinds, *at_columns).terms());
        }
    }

    /// Statement `number`, whose operands and partials begin there.
    #[inline(always)]
    fn statement(&self, number: u64, kinds: u8, at: Extent) -> Statement {
        let Extent { near, mut operands, mut partials } = at;
        let mut statement = Statement::default();
        for i in 0..MAX_OPERANDS {
            let partial = match kinds >> (2 * i) & 3 {
                NONE => break,
                ONE => 1.0,
                MINUS_ONE => -1.0,
                _ => {
                    partials += 1;
                    self.partials[partials - 1]
                }
            };
            let operand = if kinds & NEAR != 0 {
                number - u64::from(self.near[near + i])
            } else {
                let low = u64::from(self.operands[operands]);
                operands += 1;
                if kinds & WIDE != 0 {
                    operands += 1;
                    low | u64::from(self.operands[operands - 1]) << 32
                } else {
                    low
                }
            };
            statement.add(Term { statement: operand, partial });
        }
        statement
    }
}

/// Number of elements of the columns that a statement takes, or that are before it.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    near: usize,
    operands: usize,
    partials: usize,
}

impl Extent {
    #[inline(always)]
    fn of(kinds: u8) -> Extent {
        const LOW: u8 = 0b01_0101;
        let (low, high) = (kinds & LOW, kinds >> 1 & LOW);
        let (count, partials) = ((low | high).count_ones() as usize, (low & high).count_ones() as usize);
        let is_near = usize::from(kinds >> 7);
        Extent { near: count * is_near, operands: (count * (1 - is_near)) << (kinds >> 6 & 1), partials }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use shadowgrind_core::appended::BLOCK;

    pub(in super::super) fn statement(terms: &[(u64, f64)]) -> Statement {
        let mut statement = Statement::default();
        terms
            .iter()
            .for_each(|&(statement_, partial)| statement.add(Term { statement: statement_, partial }));
        statement
    }

    #[test]
    fn statements_come_back_from_either_end() {
        let all = [
            statement(&[]),
            statement(&[(0, 1.0), (7, -1.0)]),
            statement(&[(1, 2.5)]),
            statement(&[(1 << 40, 0.0), (3, 1.0), (u64::from(u32::MAX), f64::INFINITY)]),
            statement(&[(u64::from(u32::MAX), -1.0), (2, -0.5), (1, 1.0)]),
        ];
        let mut columns = Columns::new(10);
        let numbers = [1, 2, 5, BLOCK, 7];
        numbers.iter().zip(&all).for_each(|(&number, statement)| columns.push(number, statement));
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        columns.forward(|number, terms| forward.push((number, terms.to_vec())));
        let mut end = columns.end();
        for piece in columns.pieces().into_iter().rev() {
            let Piece::Run(run, places) = piece else { unreachable!("there is no loop") };
            let push = |number, _, terms: &[Term]| backward.push((number, terms.to_vec()));
            columns.backward((run, places), &mut end, push);
        }
        backward.reverse();
        assert_eq!(forward, backward);
        let terms = all.iter().map(|statement| statement.terms().to_vec());
        assert_eq!(forward, numbers.into_iter().zip(terms).collect::<Vec<_>>());
        let pages = columns.pieces().into_iter().map(|piece| piece.pages().count());
        assert_eq!(pages.collect::<Vec<_>>(), [0, 1, 0]);
    }
}
