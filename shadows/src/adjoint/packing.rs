//! Packing: iterations of a pattern become a loop, or several.
//!
//! An iteration belongs to a loop if it has the same active operands as the loop's first, scaled alike, and its results
//! depend on the same of them. What does not fit is appended record by record, as all else is.

use super::loops::{Loops, Numbers};
use super::patterns::{Pattern, Place};
use super::{Active, EXACT, partial};
use shadowgrind_core::appended::{Floats, Kind, Operation, Records};
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers;
use shadowgrind_core::ops::{Gradient, MAX_OPERANDS, Op, Partial};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Operands of one lane of a record, in all iterations.
#[derive(Clone, Debug, Default)]
struct Lane {
    place: usize,
    lane: usize,
    /// Cells of the first iteration; 0 where there is no shadow.
    cells: [u64; MAX_OPERANDS],
    numbers: [Numbers; MAX_OPERANDS],
    /// Places of the partials of operands that the result depends on: one for each iteration, or one for all.
    partials: [Range<usize>; MAX_OPERANDS],
}

/// Room for what is known of the iterations that are being packed.
#[derive(Debug, Default)]
pub(super) struct Packer {
    lanes: Vec<Lane>,
    partials: Vec<f64>,
}

/// Iterations of a pattern, one after the other from the start of the records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iterations<'a> {
    pub(super) records: Records<'a>,
    pub(super) pattern: &'a Pattern,
    pub(super) count: usize,
}

impl<'a> Iterations<'a> {
    /// The bytes from an offset on, in all iterations.
    #[inline(always)]
    fn rows(&self, at: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let (bytes, apart) = (self.records.bytes, self.pattern.bytes);
        (0..self.count).map(move |n| &bytes[at + n * apart..])
    }

    /// The cells of operand `i` in a lane of a record, in all iterations.
    #[inline(always)]
    fn doubles(
        &self,
        place: &Place,
        i: usize,
        lane: usize,
    ) -> impl ExactSizeIterator<Item = u64> + Clone + use<'a> {
        let at = usize::from(self.kind(place).layout.cells[i]) + lane * Format::F64.bytes();
        self.rows(place.at + at).map(word)
    }

    fn kind(&self, place: &Place) -> &'a Kind {
        &self.records.kinds[place.kind]
    }

    /// So many of them.
    pub(super) fn first(self, count: usize) -> Self {
        Iterations { count, ..self }
    }

    /// Those after so many.
    pub(super) fn after(self, count: usize) -> Self {
        let Iterations { mut records, pattern, count: all } = self;
        records.bytes = &records.bytes[count * pattern.bytes..];
        records.number += (count * pattern.numbers) as u64;
        Iterations { records, pattern, count: all - count }
    }
}

impl Packer {
    /// Finds out about iterations of a pattern, so that they can be [packed](Packer::pack). Otherwise the error says how many of them
    /// are alike: maybe none.
    pub(super) fn look_at(&mut self, iterations: &Iterations<'_>) -> Result<(), usize> {
        self.lanes.clear();
        self.partials.clear();
        let mut alike = iterations.count;
        for (n, place) in iterations.pattern.places.iter().enumerate() {
            let kind = iterations.kind(place);
            for lane in 0..usize::from(kind.lanes) {
                let mut found = Lane { place: n, lane, ..Lane::default() };
                for i in (0..MAX_OPERANDS).filter(|&i| kind.layout.cells[i] != 0) {
                    let result = iterations.records.number + (place.number + lane) as u64;
                    let results = (result, iterations.pattern.numbers as u64);
                    let (cell, numbers, same) = match kind.operation.from {
                        Format::F64 => column(iterations.doubles(place, i, lane), results),
                        _ => column(iterations.rows(place.at).map(|row| kind.cell(row, i, lane)), results),
                    };
                    (found.cells[i], found.numbers[i]) = (cell, numbers);
                    alike = alike.min(same);
                }
                if found.cells != [0; MAX_OPERANDS] {
                    // The records are in the cache now.
                    if alike == iterations.count {
                        alike = self.differentiate(iterations, &mut found);
                    }
                    self.lanes.push(found);
                }
            }
        }
        if alike < iterations.count { Err(alike) } else { Ok(()) }
    }

    /// Packs the iterations that were looked at into a loop that has been begun. The number of its statements.
    pub(super) fn pack(&self, iterations: &Iterations<'_>, into: &mut Loops) -> u64 {
        let (count, numbers) = (iterations.count, iterations.pattern.numbers as u64);
        let mut statements = 0;
        for found in &self.lanes {
            let place = &iterations.pattern.places[found.place];
            let kind = iterations.kind(place);
            let result = place.number + found.lane;
            let first = iterations.records.number + result as u64;
            for i in (0..MAX_OPERANDS).filter(|&i| !found.partials[i].is_empty()) {
                let cells = iterations.rows(place.at).map(|row| kind.cell(row, i, found.lane));
                let distances = (first..).step_by(numbers as usize).zip(cells);
                let distances = distances.map(|(result, cell)| distance(result, cell).unwrap_or(0));
                into.add(result, found.numbers[i], distances, &self.partials[found.partials[i].clone()]);
            }
            statements += u64::from(found.partials.iter().any(|partials| !partials.is_empty()));
        }
        statements * count as u64
    }

    /// Finds the partials of a lane. The number of iterations that are alike.
    fn differentiate(&mut self, iterations: &Iterations<'_>, found: &mut Lane) -> usize {
        let place = &iterations.pattern.places[found.place];
        let (kind, rows) = (iterations.kind(place), iterations.rows(place.at));
        let active = found.cells.map(|cell| cell != 0);
        let source = Source { kind, lane: found.lane, rows };
        let (partials, alike) = source.partials(active, &mut self.partials);
        for (cell, range) in found.cells.iter().zip(&partials).filter(|(cell, _)| **cell != 0) {
            let shadow = numbers::of_double(*cell).expect("an active operand");
            if shadow != Active::new(shadow.number) {
                let partials = &mut self.partials[range.clone()];
                partials.iter_mut().for_each(|partial| *partial = shadow.by_result(*partial));
            }
        }
        found.partials = partials;
        alike
    }
}

/// Distance from a result to the operand with this cell, if there is room for it.
#[inline(always)]
fn distance(result: u64, cell: u64) -> Option<i32> {
    let number = numbers::of_double(cell)?.number;
    i32::try_from(result.wrapping_sub(number) as i64).ok()
}

/// The first of the cells of an operand in all iterations, the numbers in them, and how many of the first iterations are alike.
/// `results` are the first result's number and what it advances by.
#[inline(always)]
fn column(cells: impl Iterator<Item = u64> + Clone, results: (u64, u64)) -> (u64, Numbers, usize) {
    let mut iterator = cells.clone();
    let first = iterator.next().expect("there is an iteration");
    let step = iterator.next().map_or(0, |second| second.wrapping_sub(first));
    let (mut expected, mut differences, mut count) = (first, 0, 0);
    for cell in cells.clone() {
        differences |= cell ^ expected;
        expected = expected.wrapping_add(step);
        count += 1;
    }
    let last = expected.wrapping_sub(step);
    let number = numbers::of_double(first).map_or(0, |shadow| shadow.number);
    let advance = i32::try_from(step as i64).ok().filter(|&step| step != i32::MIN);
    // Between these are no lower four bytes that are zero, which cells of floats do not have.
    let are_cells = sort(first).is_some() && sort(last).is_some() && first >> 32 == last >> 32;
    if differences == 0 && are_cells && advance.is_some() {
        return (first, Numbers { first: number, step: advance }, count);
    }
    let (result, advance) = results;
    let fits = |n: usize, cell: u64| cell == 0 || distance(result + n as u64 * advance, cell).is_some();
    let is_alike =
        |(n, cell): (usize, u64)| sort(first).is_some() && sort(cell) == sort(first) && fits(n, cell);
    let alike = cells.enumerate().position(|numbered| !is_alike(numbered));
    (first, Numbers { first: number, step: None }, alike.unwrap_or(count))
}

/// Sign and power of two of a cell, 0 if there is no shadow; nothing if it is not that of a float.
#[inline(always)]
fn sort(cell: u64) -> Option<u64> {
    match numbers::of_double(cell) {
        Some(_) => Some(cell >> numbers::FRACTION_BITS),
        None => (cell == 0).then_some(0),
    }
}

/// The word that bytes begin with.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&word| u64::from_le_bytes(word))
}

/// A lane of a record, in all iterations.
struct Source<'a, I> {
    kind: &'a Kind,
    lane: usize,
    rows: I,
}

/// Places of the partials by each operand; none where it is no term.
type Ranges = [Range<usize>; MAX_OPERANDS];

impl<'a, I: ExactSizeIterator<Item = &'a [u8]> + Clone> Source<'a, I> {
    /// Adds the partials by the active operands, as far as they are terms in the first iteration: one for each iteration, or one
    /// for all. Where they are, and the number of iterations in which the terms are the same.
    fn partials(&self, active: [bool; MAX_OPERANDS], into: &mut Vec<f64>) -> (Ranges, usize) {
        // The row is known in each arm, and nothing but its arithmetic is left of it.
        match self.kind.operation.op {
            Op::Add => self.row::<2>(Op::Add, active, into),
            Op::Sub => self.row::<2>(Op::Sub, active, into),
            Op::Mul => self.row::<2>(Op::Mul, active, into),
            Op::Div => self.row::<2>(Op::Div, active, into),
            Op::Fmadd => self.row::<3>(Op::Fmadd, active, into),
            op => self.any(op, active, into),
        }
    }

    #[inline(never)]
    fn any(&self, op: Op, active: [bool; MAX_OPERANDS], into: &mut Vec<f64>) -> (Ranges, usize) {
        match op.arity() {
            1 => self.row::<1>(op, active, into),
            2 => self.row::<2>(op, active, into),
            _ => self.row::<3>(op, active, into),
        }
    }

    #[inline(always)]
    fn row<const ARITY: usize>(
        &self,
        op: Op,
        active: [bool; MAX_OPERANDS],
        into: &mut Vec<f64>,
    ) -> (Ranges, usize) {
        let Operation { from, to, .. } = self.kind.operation;
        if [from, to] == [Format::F64; 2] {
            self.each::<ARITY, true>(op, active, into)
        } else {
            self.each::<ARITY, false>(op, active, into)
        }
    }

    /// The derivatives at the floats of a record; with `DOUBLES` all of these are doubles.
    #[inline(always)]
    fn gradient<const ARITY: usize, const DOUBLES: bool>(&self, op: Op, bytes: &[u8]) -> Gradient<Host> {
        let Floats { x, r } = if DOUBLES {
            // What is not read is anything.
            let double = |at: u8| {
                let at = usize::from(at) + self.lane * Format::F64.bytes();
                f64::from_bits(bytes.get(at..).map_or(0, word))
            };
            Floats { x: self.kind.layout.x.map(double), r: double(self.kind.layout.r) }
        } else {
            self.kind.floats(bytes, self.lane)
        };
        let arithmetic = op.arithmetic_gradient(&EXACT, &x[..ARITY], r);
        arithmetic.unwrap_or_else(|| op.gradient(&EXACT, &x[..ARITY], r))
    }

    #[inline(always)]
    fn each<const ARITY: usize, const DOUBLES: bool>(
        &self,
        op: Op,
        active: [bool; MAX_OPERANDS],
        into: &mut Vec<f64>,
    ) -> (Ranges, usize) {
        let first = self.rows.clone().next().unwrap_or_default();
        let first = self.gradient::<ARITY, DOUBLES>(op, first);
        let (mut ranges, mut alike) = (Ranges::default(), self.rows.len());
        for i in (0..ARITY).filter(|&i| active[i]) {
            let is_one = matches!(first.partials[i], Partial::One | Partial::MinusOne);
            let selects = matches!(first.partials[i], Partial::Zero | Partial::When(_) | Partial::Unless(_));
            let count = if is_one && first.divisor.is_none() { 1 } else { self.rows.len() };
            let (start, rows) = (into.len(), self.rows.clone().take(count));
            if selects {
                let is_term = partial(&first, i).is_some();
                let found = rows.map(|bytes| partial(&self.gradient::<ARITY, DOUBLES>(op, bytes), i));
                let same = found.take_while(|partial| partial.is_some() == is_term).take(alike);
                into.extend(same.clone().flatten());
                alike = same.count();
            } else {
                // Each in its own arm, so that nothing is found but what is asked for.
                match i {
                    0 => into.extend(
                        rows.map(|bytes| self.gradient::<ARITY, DOUBLES>(op, bytes).value(&EXACT, 0)),
                    ),
                    1 => into.extend(
                        rows.map(|bytes| self.gradient::<ARITY, DOUBLES>(op, bytes).value(&EXACT, 1)),
                    ),
                    _ => into.extend(
                        rows.map(|bytes| self.gradient::<ARITY, DOUBLES>(op, bytes).value(&EXACT, 2)),
                    ),
                }
            }
            ranges[i] = start..into.len();
        }
        (ranges, alike)
    }
}
