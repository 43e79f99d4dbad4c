//! Packing: iterations of a pattern become a loop, or several.
//!
//! An iteration belongs to a loop if it has the same active operands as the loop's first, scaled alike, and its results
//! depend on the same of them. What does not fit is appended record by record, as all else is.

use super::loops::{Loops, Numbers};
use super::patterns::{Pattern, Place};
use super::{Active, EXACT, partial};
use shadowgrind_core::appended::{Kind, Records};
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
    /// True for operands that the result depends on.
    terms: [bool; MAX_OPERANDS],
    /// Where the partials of each of these are: one for each iteration, or one for all.
    partials: [Range<usize>; MAX_OPERANDS],
}

/// Room for what is known of the iterations that are being packed.
#[derive(Debug, Default)]
pub(super) struct Packer {
    lanes: Vec<Lane>,
    partials: Vec<f64>,
    room: [Vec<f64>; MAX_OPERANDS],
}

/// Iterations of a pattern, one after the other from the start of the records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iterations<'a> {
    pub(super) records: Records<'a>,
    pub(super) pattern: &'a Pattern,
    pub(super) count: usize,
}

impl<'a> Iterations<'a> {
    /// The bytes of a record in all iterations.
    #[inline(always)]
    fn rows(&self, place: &Place) -> impl Iterator<Item = &'a [u8]> + Clone {
        let at = place.at;
        let all = &self.records.bytes[..self.count * self.pattern.bytes];
        all.chunks_exact(self.pattern.bytes).map(move |row| &row[at..])
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
            let kind = &iterations.records.kinds[place.kind];
            for lane in 0..usize::from(kind.lanes) {
                let mut found = Lane { place: n, lane, ..Lane::default() };
                for i in (0..MAX_OPERANDS).filter(|&i| kind.layout.cells[i] != 0) {
                    let rows = iterations.rows(place);
                    let result = iterations.records.number + (place.number + lane) as u64;
                    let results = (result, iterations.pattern.numbers as u64);
                    let (cell, numbers, same) = match kind.operation.from {
                        Format::F64 => column(rows.map(|row| kind.double_cell(row, i, lane)), results),
                        _ => column(rows.map(|row| kind.cell(row, i, lane)), results),
                    };
                    (found.cells[i], found.numbers[i]) = (cell, numbers);
                    alike = alike.min(same);
                }
                if found.cells != [0; MAX_OPERANDS] {
                    self.lanes.push(found);
                }
            }
        }
        if alike < iterations.count {
            return Err(alike);
        }
        for n in 0..self.lanes.len() {
            alike = alike.min(self.differentiate(iterations, n));
        }
        if alike < iterations.count { Err(alike) } else { Ok(()) }
    }

    /// Packs the iterations that were looked at into a loop that has been begun. The number of its statements.
    pub(super) fn pack(&self, iterations: &Iterations<'_>, into: &mut Loops) -> u64 {
        let (count, numbers) = (iterations.count, iterations.pattern.numbers as u64);
        let mut statements = 0;
        for found in &self.lanes {
            let place = &iterations.pattern.places[found.place];
            let kind = &iterations.records.kinds[place.kind];
            let result = place.number + found.lane;
            let first = iterations.records.number + result as u64;
            for i in (0..MAX_OPERANDS).filter(|&i| found.terms[i]) {
                let cells = iterations.rows(place).map(|row| kind.cell(row, i, found.lane));
                let distances = (first..).step_by(numbers as usize).zip(cells);
                let distances = distances.map(|(result, cell)| distance(result, cell).unwrap_or(0));
                into.add(result, found.numbers[i], distances, &self.partials[found.partials[i].clone()]);
            }
            statements += u64::from(found.terms.contains(&true));
        }
        statements * count as u64
    }

    /// Finds the partials of lane `n` of those that were found. The number of iterations that are alike.
    fn differentiate(&mut self, iterations: &Iterations<'_>, n: usize) -> usize {
        let Lane { place, lane, cells, .. } = self.lanes[n];
        let place = &iterations.pattern.places[place];
        let kind = &iterations.records.kinds[place.kind];
        let rows = iterations.rows(place);
        let active = cells.map(|cell| cell != 0);
        let (terms, alike) = derive(kind, lane, rows, active, &mut self.room);
        self.lanes[n].terms = terms;
        for i in (0..MAX_OPERANDS).filter(|&i| terms[i]) {
            let first = self.partials.len();
            let shadow = numbers::of_double(cells[i]).expect("an active operand");
            if shadow == Active::new(shadow.number) {
                self.partials.extend_from_slice(&self.room[i]);
            } else {
                self.partials.extend(self.room[i].iter().map(|&partial| shadow.by_result(partial)));
            }
            self.lanes[n].partials[i] = first..self.partials.len();
        }
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
        // Lower four bytes that are zero mean that a cell is not that of a float.
        differences |= cell ^ expected | u64::from(cell as u32 == 0 && first != 0);
        expected = expected.wrapping_add(step);
        count += 1;
    }
    let last = expected.wrapping_sub(step);
    let number = numbers::of_double(first).map_or(0, |shadow| shadow.number);
    let advance = i32::try_from(step as i64).ok().filter(|&step| step != i32::MIN);
    if differences == 0 && sort(first) == sort(last) && sort(first).is_some() && advance.is_some() {
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

/// The partials of a lane of a record by its active operands in all iterations, as far as they are terms: which these are in the first
/// one, and the number of iterations in which they are the same.
fn derive<'a>(
    kind: &Kind,
    lane: usize,
    rows: impl Iterator<Item = &'a [u8]>,
    active: [bool; MAX_OPERANDS],
    into: &mut [Vec<f64>; MAX_OPERANDS],
) -> ([bool; MAX_OPERANDS], usize) {
    // The row is known in each arm, and nothing but its arithmetic is left of it.
    match kind.operation.op {
        Op::Add => row::<2>(Op::Add, kind, lane, rows, active, into),
        Op::Sub => row::<2>(Op::Sub, kind, lane, rows, active, into),
        Op::Mul => row::<2>(Op::Mul, kind, lane, rows, active, into),
        Op::Div => row::<2>(Op::Div, kind, lane, rows, active, into),
        Op::Fmadd => row::<3>(Op::Fmadd, kind, lane, rows, active, into),
        op => match op.arity() {
            1 => row::<1>(op, kind, lane, rows, active, into),
            2 => row::<2>(op, kind, lane, rows, active, into),
            _ => row::<3>(op, kind, lane, rows, active, into),
        },
    }
}

#[inline(always)]
fn row<'a, const ARITY: usize>(
    op: Op,
    kind: &Kind,
    lane: usize,
    mut rows: impl Iterator<Item = &'a [u8]>,
    active: [bool; MAX_OPERANDS],
    into: &mut [Vec<f64>; MAX_OPERANDS],
) -> ([bool; MAX_OPERANDS], usize) {
    into.iter_mut().for_each(Vec::clear);
    let (mut terms, mut alike) = ([false; MAX_OPERANDS], 0);
    while let Some(bytes) = rows.next() {
        let floats = kind.floats(bytes, lane);
        let gradient = op.arithmetic_gradient(&EXACT, &floats.x[..ARITY], floats.r);
        let gradient = gradient.unwrap_or_else(|| op.gradient(&EXACT, &floats.x[..ARITY], floats.r));
        if alike == 0 && (0..ARITY).all(|i| !active[i] || is_constant(&gradient, i)) {
            for i in (0..ARITY).filter(|&i| active[i]) {
                into[i].extend(partial(&gradient, i));
                terms[i] = true;
            }
            return (terms, rows.count() + 1);
        }
        let mut here = [false; MAX_OPERANDS];
        for i in (0..ARITY).filter(|&i| active[i]) {
            if let Some(partial) = partial(&gradient, i) {
                here[i] = true;
                into[i].push(partial);
            }
        }
        if alike == 0 {
            terms = here;
        } else if here != terms {
            break;
        }
        alike += 1;
    }
    (terms, alike)
}

/// Tells whether the derivative by operand `i` is the same whatever the floats are.
#[inline(always)]
fn is_constant(gradient: &Gradient<Host>, i: usize) -> bool {
    gradient.divisor.is_none() && matches!(gradient.partials[i], Partial::One | Partial::MinusOne)
}
