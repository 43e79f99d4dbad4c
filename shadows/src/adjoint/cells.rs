//! Cells of a tape's statements while it is swept backwards: those of a loop's results by their place in an iteration, a column for
//! each place that anything has come to.
//!
//! Most results of a loop are used in their own iteration alone: nothing ever comes to their columns, which then do not exist. What
//! does come, from another loop, mostly comes to one place iteration by iteration, and lies beside each other so. Cells of
//! statements that are in no loop are in [pages](super::pages). Knows nothing of operands and partial derivatives.

use super::pages::Pages;
use std::ops::Range;

/// Numbers of a loop's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    /// The first one.
    pub(super) number: u64,
    pub(super) iterations: u32,
    /// Numbers from one iteration to the next.
    pub(super) numbers: u32,
}

impl Extent {
    /// The number after the last one.
    fn end(&self) -> u64 {
        self.number + u64::from(self.iterations) * u64::from(self.numbers)
    }

    /// Number of steps from a number of the loop until the first that is none of it.
    fn room(&self, number: u64, step: i32) -> usize {
        let last = if step > 0 { self.end() - 1 - number } else { number - self.number };
        (last / u64::from(step.unsigned_abs()) + 1) as usize
    }

    /// Place of a number in an iteration, and the iteration.
    #[inline(always)]
    fn place(&self, number: u64) -> (usize, usize) {
        let offset = number - self.number;
        let (place, iteration) = (offset % u64::from(self.numbers), offset / u64::from(self.numbers));
        (place as usize, iteration as usize)
    }
}

/// Greatest common divisor of two positive numbers, by Euclid's algorithm.
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Results of a loop.
#[derive(Debug)]
struct Results {
    extent: Extent,
    /// The column of each place, or [`NONE`]; empty as long as there is none.
    columns: Box<[u32]>,
}

/// No column.
const NONE: u32 = u32::MAX;

/// Most lists of columns that are kept while no loop uses them.
const MOST_SPARE: usize = 1024;

/// Numbers for which it is known where the loops among them begin.
const NEAR: u64 = 512;

/// Cells of type `C`.
#[derive(Debug)]
pub(super) struct Cells<C> {
    others: Pages<C>,
    /// Loops by their first number.
    loops: Vec<Results>,
    /// For each of them the number after its last one.
    ends: Vec<u64>,
    /// For each [`NEAR`] numbers, the first loop that does not end before them.
    near: Vec<u32>,
    columns: Vec<Vec<C>>,
    /// Columns that are not used.
    spare: Vec<u32>,
    /// Lists of columns of loops that are forgotten, with none in them.
    places: Vec<Box<[u32]>>,
}

impl<C: Copy + Default> Cells<C> {
    /// Cells with nothing in them, of a tape with these loops.
    pub(super) fn new(extents: &[Extent]) -> Self {
        let results = |&extent: &Extent| Results { extent, columns: Box::default() };
        let mut loops: Vec<Results> = extents.iter().map(results).collect();
        loops.sort_by_key(|results| results.extent.number);
        let mut near = Vec::new();
        for (n, results) in loops.iter().enumerate() {
            let last = (results.extent.end() - 1) / NEAR;
            near.resize(near.len().max(last as usize + 1), n as u32);
        }
        let ends = loops.iter().map(|results| results.extent.end()).collect();
        let (columns, spare, places) = (Vec::new(), Vec::new(), Vec::new());
        Cells { others: Pages::new(), loops, ends, near, columns, spare, places }
    }

    /// The loop that a number is of; or the numbers around it that are of none.
    #[inline(always)]
    fn find(&self, number: u64) -> Result<usize, Range<u64>> {
        let near = self.near.get((number / NEAR) as usize);
        let mut at = near.map_or(self.loops.len(), |&near| near as usize);
        while self.ends.get(at).is_some_and(|end| *end <= number) {
            at += 1;
        }
        let next = self.loops.get(at).map_or(u64::MAX, |results| results.extent.number);
        if next <= number {
            return Ok(at);
        }
        Err(at.checked_sub(1).map_or(0, |before| self.ends[before])..next)
    }

    /// Number of a loop, by that of its first result.
    pub(super) fn loop_at(&self, number: u64) -> usize {
        self.find(number).expect("it is of a loop")
    }

    /// Content of the cell of a statement in no loop.
    #[inline(always)]
    pub(super) fn other(&self, statement: u64) -> C {
        self.others.get(statement)
    }

    /// The cell of a statement in no loop.
    #[inline(always)]
    pub(super) fn other_at(&mut self, statement: u64) -> &mut C {
        self.others.at(statement)
    }

    /// The cell of a statement.
    #[inline(always)]
    pub(super) fn at(&mut self, statement: u64) -> &mut C {
        match self.find(statement) {
            Ok(of) => {
                let (place, iteration) = self.loops[of].extent.place(statement);
                &mut self.column(of, place)[iteration]
            }
            Err(_) => self.others.at(statement),
        }
    }

    /// Hands the cells of `count` statements to `each`, that of the first and those which advance from it by `step`, in pieces that
    /// lie beside each other, with their numbers from 0, in any order.
    #[inline(always)]
    pub(super) fn along(
        &mut self,
        first: u64,
        step: i32,
        count: usize,
        mut each: impl FnMut(Range<usize>, &mut [C]),
    ) {
        let at = |n: usize| first.wrapping_add((i64::from(step) as u64).wrapping_mul(n as u64));
        let mut n = 0;
        while n < count {
            let number = at(n);
            match self.find(number) {
                Ok(of) => {
                    let extent = self.loops[of].extent;
                    let (place, iteration) = extent.place(number);
                    if step == 0 {
                        let cell = &mut self.column(of, place)[iteration..=iteration];
                        return (n..count).for_each(|n| each(n..n + 1, cell));
                    }
                    if i64::from(step) == i64::from(extent.numbers) {
                        let column = self.column(of, place);
                        let some = (count - n).min(column.len() - iteration);
                        each(n..n + some, &mut column[iteration..iteration + some]);
                        n += some;
                        continue;
                    }
                    let some = (count - n).min(extent.room(number, step));
                    // Every so many of them are at the same place.
                    let period = extent.numbers / gcd(extent.numbers, step.unsigned_abs());
                    let apart = i64::from(step) * i64::from(period) / i64::from(extent.numbers);
                    for first in n..n + some.min(period as usize) {
                        let (place, iteration) = extent.place(at(first));
                        let (column, mut iteration) = (self.column(of, place), iteration as i64);
                        for n in (first..n + some).step_by(period as usize) {
                            each(n..n + 1, &mut column[iteration as usize..=iteration as usize]);
                            iteration += apart;
                        }
                    }
                    n += some;
                }
                Err(free) => {
                    while n < count && free.contains(&at(n)) {
                        each(n..n + 1, std::slice::from_mut(self.others.at(at(n))));
                        n += 1;
                    }
                }
            }
        }
    }

    /// Hands the columns of a loop to `each` that anything has come to, by place.
    #[inline(always)]
    pub(super) fn columns_of(&self, of: usize) -> impl Iterator<Item = (usize, &[C])> {
        let columns = self.loops[of].columns.iter().enumerate().filter(|(_, column)| **column != NONE);
        columns.map(|(place, &column)| (place, &self.columns[column as usize][..]))
    }

    /// The column of a place in a loop, if anything has come to it.
    pub(super) fn column_at(&self, of: usize, place: usize) -> Option<&[C]> {
        let column = self.loops[of].columns.get(place).filter(|column| **column != NONE)?;
        Some(&self.columns[*column as usize])
    }

    /// The column of a place in a loop.
    #[inline(always)]
    fn column(&mut self, of: usize, place: usize) -> &mut [C] {
        match self.loops[of].columns.get(place) {
            Some(&column) if column != NONE => &mut self.columns[column as usize],
            _ => self.make(of, place),
        }
    }

    #[cold]
    fn make(&mut self, of: usize, place: usize) -> &mut [C] {
        let Results { extent, columns } = &mut self.loops[of];
        if columns.is_empty() {
            let numbers = extent.numbers as usize;
            let spare = self.places.pop_if(|places| places.len() == numbers);
            *columns = spare.unwrap_or_else(|| vec![NONE; numbers].into());
        }
        let number = self.spare.pop().unwrap_or_else(|| {
            self.columns.push(Vec::new());
            self.columns.len() as u32 - 1
        });
        columns[place] = number;
        let column = &mut self.columns[number as usize];
        column.clear();
        column.resize(extent.iterations as usize, C::default());
        column
    }

    /// Forgets the cells of a loop.
    pub(super) fn forget_loop(&mut self, of: usize) {
        let mut columns = std::mem::take(&mut self.loops[of].columns);
        self.spare.extend(columns.iter().filter(|column| **column != NONE));
        if self.places.len() < MOST_SPARE {
            columns.fill(NONE);
            self.places.push(columns);
        }
    }

    /// Forgets the cells of statements in no loop that are in these pages.
    pub(super) fn forget(&mut self, pages: impl Iterator<Item = usize>) {
        pages.for_each(|page| self.others.forget(page));
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages;
    use super::*;

    /// Each cell is its own, whichever way it is asked for, and empty again once its loop was forgotten.
    #[test]
    fn cells_of_loops_and_between_them_are_apart() {
        let extent = |number, iterations, numbers| Extent { number, iterations, numbers };
        let extents = [extent(5000, 70, 30), extent(10, 4, 3), extent(22, 2, 2), extent(7500, 1, 1)];
        let mut cells = Cells::<f64>::new(&extents);
        for number in 1..8000 {
            *cells.at(number) += number as f64;
        }
        for (first, step, count) in [
            (5003, 30, 70),
            (4500, 30, 100),
            (7990, -13, 500),
            (30, 0, 4),
            (1, 1, 60),
            (5001, 60, 30),
            (7099, -45, 40),
        ] {
            let mut seen = vec![f64::NAN; count];
            cells.along(first, step, count, |some, cells| {
                assert!(seen[some.clone()].iter().all(|cell| cell.is_nan()), "each comes once");
                seen[some].copy_from_slice(cells);
            });
            let expected = (0..count as i64).map(|n| (first as i64 + n * i64::from(step)) as f64);
            assert_eq!(seen, expected.collect::<Vec<_>>(), "{first} by {step}");
        }
        let of = cells.loop_at(5000);
        let columns: Vec<usize> = cells.columns_of(of).map(|(place, _)| place).collect();
        assert_eq!(columns, (0..30).collect::<Vec<_>>());
        cells.forget_loop(of);
        assert_eq!(cells.columns_of(of).count(), 0);
        assert_eq!((*cells.at(5001), *cells.at(7100), cells.other(7499)), (0.0, 7100.0, 7499.0));
        assert_eq!((*cells.at(10), *cells.at(21), *cells.at(25), *cells.at(26)), (10.0, 21.0, 25.0, 26.0));
        cells.forget(pages::first_from(4096)..pages::page_of(7499) + 1);
        assert_eq!((cells.other(4999), cells.other(4095)), (0.0, 4095.0));
    }
}
