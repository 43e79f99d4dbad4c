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
    /// Place of the partial derivative in the first iteration.
    pub(super) partial: u64,
}

impl Operand {
    /// The result's place among the numbers of an iteration.
    #[inline(always)]
    pub(super) fn place(&self) -> usize {
        (self.result & !VARIES) as usize
    }

    /// Tells whether its numbers advance by a constant.
    pub(super) fn is_regular(&self) -> bool {
        self.step != IRREGULAR
    }

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
    /// Distance by which they advance; nothing if that is no constant.
    pub(super) step: Option<i32>,
}

impl Loops {
    /// With room for so many bytes.
    pub(super) fn new(bytes: usize) -> Loops {
        let (operands, partials) = (bytes / (4 * size_of::<Operand>()), bytes / size_of::<f64>());
        let (operands, partials) = (Vec::with_capacity(operands), Vec::with_capacity(partials));
        Loops { operands, partials, ..Loops::default() }
    }

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
        let (result, partial) = if is_constant {
            (result as u32, self.constant(partials[0]))
        } else {
            self.partials.extend_from_slice(partials);
            (result as u32 | VARIES, (self.partials.len() - partials.len()) as u64)
        };
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

    /// Place of a partial that does not change: one that is there, if it is easily found.
    fn constant(&mut self, partial: f64) -> u64 {
        let of_loop = &self.operands[self.heads.last().map_or(0, |head| head.first as usize)..];
        let same = |operand: &&Operand| {
            operand.result & VARIES == 0
                && self.partials[operand.partial as usize].to_bits() == partial.to_bits()
        };
        let found = of_loop.iter().rev().take(4).find(same).map(|operand| operand.partial);
        found.unwrap_or_else(|| {
            self.partials.push(partial);
            self.partials.len() as u64 - 1
        })
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.operands.clear();
        self.distances.clear();
        self.partials.clear();
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        let columns = size_of_val(&self.distances[..]) + size_of_val(&self.partials[..]);
        (size_of_val(&self.heads[..]) + size_of_val(&self.operands[..]) + columns) as u64
    }

    /// The operands of a loop's statements.
    pub(super) fn operands_of(&self, head: &Loop) -> &[Operand] {
        &self.operands[head.first as usize..][..head.operands as usize]
    }

    /// The number of an operand in iteration `n` of its loop, in which the result has this number.
    #[inline(always)]
    pub(super) fn number(&self, operand: &Operand, n: u64, result: u64) -> u64 {
        if operand.step == IRREGULAR {
            result.wrapping_sub_signed(self.distances[(operand.number + n) as usize].into())
        } else {
            operand.number.wrapping_add((i64::from(operand.step) as u64).wrapping_mul(n))
        }
    }

    /// The partial derivatives by an operand, in all iterations of its loop or only in the first if they are the same.
    #[inline(always)]
    pub(super) fn partials(&self, head: &Loop, operand: &Operand) -> &[f64] {
        let count = if operand.result & VARIES == 0 { 1 } else { head.iterations as usize };
        &self.partials[operand.partial as usize..][..count]
    }

    /// The partial derivative by an operand in iteration `n`.
    #[inline(always)]
    pub(super) fn partial(&self, operand: &Operand, n: u64) -> f64 {
        let varies = u64::from(operand.result / VARIES);
        self.partials[(operand.partial + n * varies) as usize]
    }

    /// Hands the statements of a loop to `each`, by number, from the first to the last.
    pub(super) fn statements(&self, head: &Loop, mut each: impl FnMut(u64, &Statement)) {
        for n in 0..u64::from(head.iterations) {
            let first = head.number + n * u64::from(head.numbers);
            let same = |a: &Operand, b: &Operand| a.place() == b.place();
            for operands in self.operands_of(head).chunk_by(same) {
                let result = first + operands[0].place() as u64;
                let mut statement = Statement::default();
                for operand in operands {
                    let number = self.number(operand, n, result);
                    statement.add(Term { statement: number, partial: self.partial(operand, n) });
                }
                each(result, &statement);
            }
        }
    }
}
