//! Loops: statements that repeat, whose operands are at numbers that advance by a constant in each iteration.
//!
//! Of a loop are kept, once, for each operand of a statement how far back its numbers begin and how far apart they are, and its
//! partial derivative if that is always the same. Only other numbers, as distances from the iteration's first, and other partials are columns
//! with an element for each iteration; operands whose distances differ by a constant have one column, and a column of partials may be
//! that of an earlier loop. Nothing of an operand says where its loop stands, so that a loop that comes again has the
//! operands of the one before, and takes no more than a head and its columns. Knows nothing of what came before or comes after a loop.

use super::columns::{Statement, Term};
use super::distances::{NOTHING, Shared, share};
use super::seen::{Seen, is_same};

/// Step of an operand whose numbers do not advance by a constant.
const IRREGULAR: i32 = i32::MIN;
/// The loop's columns of partials are one after the other.
const IN_ORDER: u64 = u64::MAX;
/// Set in the place of a result if the partial derivative is not constant.
const VARIES: u32 = 1 << 31;

/// Heads of recent loops among which one with the same operands is looked for.
const RECENT: usize = 8;

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
    /// Places at which its columns of distances and of partials begin.
    pub(super) distances: u64,
    pub(super) partials: u64,
    /// Place in [`Loops::starts`] of where each column of partials begins; or [`IN_ORDER`].
    pub(super) starts: u64,
}

impl Loop {
    /// Number of words of a loop.
    pub(super) const WORDS: usize = 7;

    /// The loop as words.
    pub(super) fn words(&self) -> [u64; Loop::WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let Loop { number, at, iterations, numbers, first, operands, distances, partials, starts } = *self;
        [number, at, pair(iterations, numbers), pair(first, operands), distances, partials, starts]
    }

    /// The loop of these words.
    pub(super) fn of_words(
        [number, at, turns, those, distances, partials, starts]: [u64; Loop::WORDS],
    ) -> Loop {
        let [iterations, first] = [turns, those].map(|pair| pair as u32);
        let [numbers, operands] = [turns, those].map(|pair| (pair >> 32) as u32);
        Loop { number, at, iterations, numbers, first, operands, distances, partials, starts }
    }
}

/// An operand of one statement of a loop, in all iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Operand {
    /// The result's place among the numbers of an iteration, and [`VARIES`].
    result: u32,
    /// Distance from one iteration to the next; or [`IRREGULAR`].
    pub(super) step: i32,
    /// Distance from its number in the first iteration to the loop's; or which of the loop's columns of distances it has, and by how
    /// much its own are larger, as [`Shared`].
    pub(super) back: u64,
    /// Place of the partial derivative among the chunk's constants; or which of the loop's columns of partials it has.
    partial: u64,
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

    /// Tells whether its numbers are those of another operand of the same loop.
    pub(super) fn is_same(&self, other: &Operand) -> bool {
        (self.step, self.back) == (other.step, other.back)
    }

    /// The number in iteration `n` of an operand whose numbers advance by a constant.
    #[inline(always)]
    pub(super) fn regular_number(&self, head: &Loop, n: u64) -> u64 {
        let first = head.number.wrapping_sub(self.back);
        first.wrapping_add((i64::from(self.step) as u64).wrapping_mul(n))
    }

    fn varies(&self) -> bool {
        self.result & VARIES != 0
    }

    /// Number of words of an operand.
    pub(super) const WORDS: usize = 3;

    /// The operand as words.
    pub(super) fn words(&self) -> [u64; Operand::WORDS] {
        let Operand { result, step, back, partial } = *self;
        [u64::from(result) | u64::from(step as u32) << 32, back, partial]
    }

    /// The operand of these words.
    pub(super) fn of_words([place, back, partial]: [u64; Operand::WORDS]) -> Operand {
        Operand { result: place as u32, step: (place >> 32) as i32, back, partial }
    }
}

/// Loops of a chunk.
#[derive(Debug, Default)]
pub(super) struct Loops {
    pub(super) heads: Vec<Loop>,
    pub(super) operands: Vec<Operand>,
    pub(super) distances: Vec<i32>,
    /// Partials that vary, and those that do not.
    pub(super) partials: Vec<f64>,
    pub(super) constants: Vec<f64>,
    /// Places in `partials` at which the columns of loops begin that have some of earlier ones.
    pub(super) starts: Vec<u64>,
    /// The last element of each of the last loop's columns of partials.
    ends: Vec<u64>,
    /// The loop whose operands those of the last loop are so far.
    like: Option<Loop>,
    /// Columns of partials so far.
    seen: Seen,
}

/// Numbers of an operand in the iterations of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// The first one.
    pub(super) first: u64,
    /// Distance by which they advance; nothing if that is no constant.
    pub(super) step: Option<i32>,
}

impl Numbers {
    /// The last of so many, if they advance by a constant; otherwise the first.
    pub(super) fn last(&self, count: usize) -> u64 {
        let step = i64::from(self.step.unwrap_or(0)) as u64;
        self.first.wrapping_add(step.wrapping_mul(count as u64 - 1))
    }
}

impl Loops {
    /// With room for so many bytes.
    pub(super) fn new(bytes: usize) -> Loops {
        let partials = Vec::with_capacity(bytes / size_of::<f64>());
        Loops { partials, ..Loops::default() }
    }

    /// Makes as much room as the loops of another chunk take, and some more: what grows is copied to fresh pages each time.
    pub(super) fn make_room_for(&mut self, like: &Loops) {
        let more = |len: usize| len + len / 8;
        self.heads.reserve(more(like.heads.len()));
        self.operands.reserve(more(like.operands.len()));
        self.distances.reserve(more(like.distances.len()));
        self.constants.reserve(more(like.constants.len()));
        self.starts.reserve(more(like.starts.len()));
    }

    /// Nothing is added any more.
    pub(super) fn complete(&mut self) {
        self.seen.forget();
    }

    /// Begins a loop that comes after `at` other statements of the chunk.
    pub(super) fn begin(&mut self, at: u64, number: u64, iterations: usize, numbers: usize) {
        let (iterations, numbers) = (iterations as u32, numbers as u32);
        self.like = self.heads.iter().rev().take(RECENT).find(|head| head.numbers == numbers).copied();
        let first = self.like.map_or(self.operands.len() as u32, |like| like.first);
        let (distances, partials) = (self.distances.len() as u64, self.partials.len() as u64);
        let (operands, starts) = (0, IN_ORDER);
        self.ends.clear();
        self.heads.push(Loop {
            number,
            at,
            iterations,
            numbers,
            first,
            operands,
            distances,
            partials,
            starts,
        });
    }

    /// Adds an operand to the loop that was begun last: of the statement whose result has place `result` among the numbers of an
    /// iteration. `distances` gives those from an iteration's first number to the operand, or [`NOTHING`], and is only asked if numbers
    /// do not advance by a constant.
    /// `fill` appends a partial for each iteration, or one for all.
    pub(super) fn add(
        &mut self,
        result: usize,
        numbers: Numbers,
        distances: impl Iterator<Item = i32>,
        fill: impl FnOnce(&mut Vec<f64>),
    ) {
        let head = *self.heads.last().expect("it was begun");
        let count = head.iterations as usize;
        let start = self.partials.len();
        fill(&mut self.partials);
        let partials = &self.partials[start..];
        let constant = partials[0];
        // Those that differ mostly do so from the start.
        let is_constant = partials.iter().all(|partial| partial.to_bits() == constant.to_bits());
        let (result, partial) = if is_constant {
            self.partials.truncate(start);
            (result as u32, self.constant(constant))
        } else {
            (result as u32 | VARIES, self.share_partials(count))
        };
        let operand = match numbers.step {
            Some(step) => Operand { result, step, back: head.number.wrapping_sub(numbers.first), partial },
            None => {
                self.distances.extend(distances);
                let back = share(&mut self.distances, head.distances, count).word();
                Operand { result, step: IRREGULAR, back, partial }
            }
        };
        self.push(operand);
    }

    /// Number, among the last loop's columns of partials, of the one of `count` elements that was written last. It is not kept where another of the
    /// loop or of an earlier one has the same elements: factors of several products are the same float.
    fn share_partials(&mut self, count: usize) -> u64 {
        let start = self.partials.len() - count;
        let head = self.heads.last_mut().expect("it was begun");
        let (before, last) = self.partials.split_at(start);
        let end = last[count - 1].to_bits();
        let is_like = |number: usize| {
            let start = match head.starts {
                IN_ORDER => head.partials as usize + number * count,
                starts => self.starts[starts as usize + number] as usize,
            };
            is_same(&before[start..][..count], last)
        };
        let mut columns = self.ends.iter().enumerate().rev();
        if let Some((number, _)) = columns.find(|&(number, other)| *other == end && is_like(number)) {
            self.partials.truncate(start);
            return number as u64;
        }
        let number = self.ends.len();
        self.ends.push(end);
        let earlier = if count < Seen::FEWEST { None } else { self.seen.find(&self.partials, count) };
        if earlier.is_some() {
            self.partials.truncate(start);
            if head.starts == IN_ORDER {
                let own = head.partials..;
                head.starts = self.starts.len() as u64;
                self.starts.extend(own.step_by(count).take(number));
            }
        }
        if head.starts != IN_ORDER {
            self.starts.push(earlier.unwrap_or(start) as u64);
        }
        number as u64
    }

    /// Adds an operand to the last loop: those of a recent one are shared as long as they are the same.
    fn push(&mut self, operand: Operand) {
        let (last, before) = self.heads.split_last_mut().expect("it was begun");
        let (first, count) = (last.first as usize, last.operands as usize);
        last.operands += 1;
        if let Some(like) = self.like {
            let all = &self.operands;
            let goes_on =
                |head: &Loop| head.operands as usize > count && all[head.first as usize + count] == operand;
            if goes_on(&like) {
                return;
            }
            let has_same = |head: &&Loop| {
                head.numbers == last.numbers
                    && goes_on(head)
                    && all[head.first as usize..][..count] == all[first..][..count]
            };
            self.like = before.iter().rev().take(RECENT).find(has_same).copied();
            if let Some(like) = self.like {
                last.first = like.first;
                return;
            }
            last.first = self.operands.len() as u32;
            self.operands.extend_from_within(first..first + count);
        }
        self.operands.push(operand);
    }

    /// Place of a partial that does not change: one that is there, if it is easily found.
    fn constant(&mut self, partial: f64) -> u64 {
        let last = self.heads.last().expect("it was begun");
        let next = self.like.filter(|like| like.operands > last.operands);
        let next = next.map(|like| &self.operands[(like.first + last.operands) as usize]);
        let own = &self.operands[last.first as usize..][..last.operands as usize];
        let same = |operand: &&Operand| {
            !operand.varies() && self.constants[operand.partial as usize].to_bits() == partial.to_bits()
        };
        let found =
            next.into_iter().chain(own.iter().rev().take(4)).find(same).map(|operand| operand.partial);
        found.unwrap_or_else(|| {
            self.constants.push(partial);
            self.constants.len() as u64 - 1
        })
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.operands.clear();
        self.distances.clear();
        self.partials.clear();
        self.constants.clear();
        self.starts.clear();
        self.seen.forget();
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        let doubles = size_of_val(&self.partials[..]) + size_of_val(&self.constants[..]);
        let columns = size_of_val(&self.distances[..]) + doubles + size_of_val(&self.starts[..]);
        (size_of_val(&self.heads[..]) + size_of_val(&self.operands[..]) + columns) as u64
    }

    /// The operands of a loop's statements.
    pub(super) fn operands_of(&self, head: &Loop) -> &[Operand] {
        &self.operands[head.first as usize..][..head.operands as usize]
    }

    /// The number of an operand in iteration `n` of its loop; nothing where it has no shadow.
    #[inline(always)]
    pub(super) fn number(&self, head: &Loop, operand: &Operand, n: u64) -> Option<u64> {
        if operand.is_regular() {
            return Some(operand.regular_number(head, n));
        }
        let (distances, larger) = self.distances(head, operand);
        let distance = Some(distances[n as usize]).filter(|distance| *distance != NOTHING)?;
        let first = head.number + n * u64::from(head.numbers);
        Some(first.wrapping_sub_signed(distance.wrapping_add(larger).into()))
    }

    /// The distances from an iteration's first number to an operand whose numbers do not advance by a constant, less what is to be
    /// added to each.
    #[inline(always)]
    pub(super) fn distances(&self, head: &Loop, operand: &Operand) -> (&[i32], i32) {
        let (count, Shared { column, larger }) = (head.iterations as usize, Shared::of_word(operand.back));
        (&self.distances[head.distances as usize + column as usize * count..][..count], larger)
    }

    /// The partial derivatives by an operand, in all iterations of its loop or only in the first if they are the same.
    #[inline(always)]
    pub(super) fn partials(&self, head: &Loop, operand: &Operand) -> &[f64] {
        if !operand.varies() {
            return std::slice::from_ref(&self.constants[operand.partial as usize]);
        }
        let count = u64::from(head.iterations);
        let start = match head.starts {
            IN_ORDER => head.partials + operand.partial * count,
            starts => self.starts[(starts + operand.partial) as usize],
        };
        &self.partials[start as usize..][..count as usize]
    }

    /// The partial derivative by an operand in iteration `n`.
    #[inline(always)]
    pub(super) fn partial(&self, head: &Loop, operand: &Operand, n: u64) -> f64 {
        match self.partials(head, operand) {
            [partial] => *partial,
            partials => partials[n as usize],
        }
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
                    if let Some(number) = self.number(head, operand, n) {
                        statement.add(Term { statement: number, partial: self.partial(head, operand, n) });
                    }
                }
                each(result, &statement);
            }
        }
    }
}
