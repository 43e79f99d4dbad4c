//! Loops: statements that repeat, whose operands are at numbers that advance by a constant in each iteration.
//!
//! Of a loop are kept, once, for each operand of a statement where its numbers begin and how far apart they are, and its partial
//! derivative if that is always the same. Only other numbers, as distances from the result, and other partials are columns with
//! an element for each iteration. Knows nothing of what came before or comes after a loop.

use super::columns::{Statement, Term};

/// Step of an operand whose numbers do not advance by a constant.
const IRREGULAR: i32 = i32::MIN;
/// Set in the place of a result if the partial derivative is not constant.
const VARIES: u32 = 1 << 31;

/// Head of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Loop {
    /// Number of the first result of the first iteration.
    pub(super) number: u64,
    /// Number of statements in the chunk that come before and are in no loop.
    pub(super) at: u64,
    pub(super) iterations: u32,
    /// Numbers from one iteration to the next.
    pub(super) numbers: u32,
    /// The first of its operands, and how many there are.
    pub(super) first: u32,
    pub(super) operands: u32,
}

impl Loop {
    /// It as words.
    pub(super) fn words(&self) -> [u64; 4] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let Loop { number, at, iterations, numbers, first, operands } = *self;
        [number, at, pair(iterations, numbers), pair(first, operands)]
    }

    /// The loop of these words.
    pub(super) fn of_words([number, at, turns, those]: [u64; 4]) -> Loop {
        let [iterations, first] = [turns, those].map(|pair| pair as u32);
        let [numbers, operands] = [turns, those].map(|pair| (pair >> 32) as u32);
        Loop { number, at, iterations, numbers, first, operands }
    }
}

/// An operand of one statement of a loop, in all iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Operand {
    /// The result's place among the numbers of an iteration, and [`VARIES`].
    pub(super) result: u32,
    /// Distance from one iteration to the next; or [`IRREGULAR`].
    pub(super) step: i32,
    /// The number in the first iteration; or the place of the first distance.
    pub(super) number: u64,
    /// The bits of the partial derivative; or the place of the first.
    pub(super) partial: u64,
}

impl Operand {
    /// It as words.
    pub(super) fn words(&self) -> [u64; 3] {
        let Operand { result, step, number, partial } = *self;
        [u64::from(result) | u64::from(step as u32) << 32, number, partial]
    }

    /// The operand of these words.
    pub(super) fn of_words([place, number, partial]: [u64; 3]) -> Operand {
        Operand { result: place as u32, step: (place >> 32) as i32, number, partial }
    }
}

/// Loops of a chunk.
#[derive(Debug, Default)]
pub(super) struct Loops {
    pub(super) heads: Vec<Loop>,
    pub(super) operands: Vec<Operand>,
    pub(super) distances: Vec<i32>,
    pub(super) partials: Vec<f64>,
}

/// Numbers of an operand in the iterations of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// The first one.
    pub(super) first: u64,
    /// What they advance by; nothing if that is no constant.
    pub(super) step: Option<i32>,
}

impl Loops {
    /// Begins a loop that comes after `at` other statements of the chunk.
    pub(super) fn begin(&mut self, at: u64, number: u64, iterations: usize, numbers: usize) {
        let first = self.operands.len() as u32;
        let (iterations, numbers) = (iterations as u32, numbers as u32);
        self.heads.push(Loop { number, at, iterations, numbers, first, operands: 0 });
    }

    /// Adds an operand to the loop that was begun last: of the statement whose result has place `result` among the numbers of an
    /// iteration. `distances` gives those from results to operands, and is only asked if numbers do not advance by a constant.
    /// There is a partial for each iteration, or one for all.
    pub(super) fn add(
        &mut self,
        result: usize,
        numbers: Numbers,
        distances: impl Iterator<Item = i32>,
        partials: &[f64],
    ) {
        let bits = partials[0].to_bits();
        let is_constant = partials.iter().fold(0, |all, partial| all | (partial.to_bits() ^ bits)) == 0;
        let result = result as u32 | if is_constant { 0 } else { VARIES };
        let partial = if is_constant { bits } else { self.partials.len() as u64 };
        if !is_constant {
            self.partials.extend_from_slice(partials);
        }
        let operand = match numbers.step {
            Some(step) => Operand { result, step, number: numbers.first, partial },
            None => {
                let number = self.distances.len() as u64;
                self.distances.extend(distances);
                Operand { result, step: IRREGULAR, number, partial }
            }
        };
        self.operands.push(operand);
        self.heads.last_mut().expect("it was begun").operands += 1;
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.operands.clear();
        self.distances.clear();
        self.partials.clear();
    }

    /// Number of partials that are written down.
    pub(super) fn values(&self) -> usize {
        let constant = |operand: &&Operand| operand.result & VARIES == 0;
        self.partials.len() + self.operands.iter().filter(constant).count()
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        let columns = size_of_val(&self.distances[..]) + size_of_val(&self.partials[..]);
        (size_of_val(&self.heads[..]) + size_of_val(&self.operands[..]) + columns) as u64
    }

    fn operands_of(&self, head: &Loop) -> &[Operand] {
        &self.operands[head.first as usize..][..head.operands as usize]
    }

    /// The result and the term that an operand is in an iteration of its loop.
    #[inline(always)]
    fn term(&self, head: &Loop, operand: &Operand, iteration: u32) -> (u64, Term) {
        let n = u64::from(iteration);
        let result = head.number + n * u64::from(head.numbers) + u64::from(operand.result & !VARIES);
        let statement = if operand.step == IRREGULAR {
            result.wrapping_sub_signed(self.distances[(operand.number + n) as usize].into())
        } else {
            operand.number.wrapping_add_signed(i64::from(operand.step) * i64::from(iteration))
        };
        let partial = if operand.result & VARIES == 0 {
            f64::from_bits(operand.partial)
        } else {
            self.partials[(operand.partial + n) as usize]
        };
        (result, Term { statement, partial })
    }

    /// Hands each term of a loop, with the result it is a term of, to `each`: from the first to the last.
    #[inline(always)]
    pub(super) fn forward(&self, head: &Loop, mut each: impl FnMut(u64, Term)) {
        for iteration in 0..head.iterations {
            for operand in self.operands_of(head) {
                let (result, term) = self.term(head, operand, iteration);
                each(result, term);
            }
        }
    }

    /// Hands each term of a loop, with the result it is a term of, to `each`: from the last to the first.
    #[inline(always)]
    pub(super) fn backward(&self, head: &Loop, mut each: impl FnMut(u64, Term)) {
        for iteration in (0..head.iterations).rev() {
            for operand in self.operands_of(head).iter().rev() {
                let (result, term) = self.term(head, operand, iteration);
                each(result, term);
            }
        }
    }

    /// Hands the statements of a loop to `each`, by number, from the first to the last.
    pub(super) fn statements(&self, head: &Loop, mut each: impl FnMut(u64, &Statement)) {
        let mut open: Option<(u64, Statement)> = None;
        self.forward(head, |result, term| match &mut open {
            Some((number, statement)) if *number == result => statement.add(term),
            _ => {
                let mut statement = Statement::default();
                statement.add(term);
                if let Some((number, statement)) = open.replace((result, statement)) {
                    each(number, &statement);
                }
            }
        });
        if let Some((number, statement)) = open {
            each(number, &statement);
        }
    }
}
