//! Packing: iterations of a pattern become a loop, or several.
//!
//! An iteration belongs to a loop if it has the same active operands as the loop's first, scaled alike, and its results
//! depend on the same of them. Beside an operand that is always active another may be so in some iterations only, as sums are
//! whose first term comes to a zero. What does not fit is appended record by record, as all else is.

mod column;
mod edge;
mod partials;
mod period;
mod words;

use super::Active;
use super::loops::{Loops, NOTHING, Numbers};
use super::patterns::{Pattern, Place};
use column::{Column, alike, column, distance, regular};
use edge::edge;
use hashbrown::HashMap;
use partials::{Partials, Source};
use shadowgrind_core::appended::{Kind, Operation, Part, Records, Source as Cells};
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{self, SINGLES};
use shadowgrind_core::ops::{MAX_OPERANDS, Op, OperandFactor, Reads};
use words::Words;

#[cfg(test)]
mod tests;

/// Operands of one lane of a part of a record, in all iterations.
#[derive(Clone, Debug, Default)]
struct Lane {
    place: usize,
    part: usize,
    lane: usize,
    /// The first cells that are of a shadow; 0 where there is none.
    cells: [u64; MAX_OPERANDS],
    numbers: [Numbers; MAX_OPERANDS],
    partials: [Partials; MAX_OPERANDS],
    factors: [Option<OperandFactor>; MAX_OPERANDS],
}

/// Partial derivatives of an operation, by operand.
#[derive(Clone, Copy, Debug)]
struct Partly {
    /// Floats that they are made of; nothing for those of operands that may be no terms.
    reads: [Option<Reads>; MAX_OPERANDS],
    /// The operands that they are.
    factors: [Option<OperandFactor>; MAX_OPERANDS],
}

/// Room for what is known of the iterations that are being packed.
#[derive(Debug, Default)]
pub(super) struct Packer {
    words: Words,
    lanes: Vec<Lane>,
    /// For each result of an iteration, true if it has a shadow.
    shadowed: Vec<bool>,
    /// Partials of operations that choose between their operands.
    partials: Vec<f64>,
    /// Partials by operation.
    rows: Vec<Option<Partly>>,
    /// Periods that were found last, by the kind of the first record.
    periods: HashMap<usize, usize>,
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

    fn kind(&self, place: &Place) -> &'a Kind {
        self.records.kinds.of(place.kind)
    }

    /// The part of a record that a lane is of, and the record's place.
    fn part(&self, found: &Lane) -> (&Place, &'a Part) {
        let place = &self.pattern.places[found.place];
        (place, &self.kind(place).parts[found.part])
    }

    /// Bytes of the floats in the records of one.
    pub(super) fn float_bytes(&self) -> usize {
        self.pattern.places.iter().map(|place| self.kind(place).float_bytes).sum()
    }

    /// So many of them.
    pub(super) fn first(self, count: usize) -> Self {
        Iterations { count, ..self }
    }

    /// So many more of them.
    pub(super) fn and(self, more: usize) -> Self {
        Iterations { count: self.count + more, ..self }
    }

    /// Iterations after so many.
    pub(super) fn after(self, count: usize) -> Self {
        let Iterations { mut records, pattern, count: all } = self;
        records.bytes = &records.bytes[count * pattern.bytes..];
        records.number += (count * pattern.numbers) as u64;
        Iterations { records, pattern, count: all - count }
    }
}

impl Packer {
    /// Finds out about iterations of a pattern, two at least, so that they can be [packed](Packer::pack). Otherwise the error says
    /// how many of them may be alike: maybe none.
    pub(super) fn look_at(&mut self, iterations: &Iterations<'_>) -> Result<(), usize> {
        self.lanes.clear();
        self.partials.clear();
        if let Some(after) = edge(iterations) {
            return Err(after);
        }
        self.words.look_at(iterations.records.bytes, iterations.pattern.bytes, iterations.count);
        self.shadowed.clear();
        self.shadowed.resize(iterations.pattern.numbers, false);
        for (n, place) in iterations.pattern.places.iter().enumerate() {
            for (m, part) in iterations.kind(place).parts.iter().enumerate() {
                for lane in 0..usize::from(part.lanes) {
                    let found = Lane { place: n, part: m, lane, ..Lane::default() };
                    let alike = self.lane(iterations, (place, part), found);
                    if alike < iterations.count {
                        return Err(alike);
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds out about a lane of a part of the record at a place. The number of iterations that are alike.
    #[inline(always)]
    fn lane(
        &mut self,
        iterations: &Iterations<'_>,
        (place, part): (&Place, &Part),
        mut found: Lane,
    ) -> usize {
        let mut columns = [Column::default(); MAX_OPERANDS];
        let operands = (0..MAX_OPERANDS).filter(|&i| part.cells[i] != Cells::Absent);
        for i in operands.clone() {
            columns[i] = match part.cells[i] {
                Cells::Results(first) => {
                    let at = place.number + usize::from(first) + found.lane;
                    self.own_column(iterations, at)
                }
                _ => self.column(iterations, (place, part, found.lane), i),
            };
            (found.cells[i], found.numbers[i]) = (columns[i].cell, columns[i].numbers);
        }
        if operands.clone().any(|i| columns[i].alike < iterations.count) {
            let may_lack = self.partly(part.operation.op).reads.map(|reads| reads.is_some());
            let alike = alike(&columns, may_lack);
            let same = operands.map(|i| alike[i]).min().unwrap_or(iterations.count);
            if same < iterations.count {
                return same;
            }
        }
        if found.cells == [0; MAX_OPERANDS] {
            return iterations.count;
        }
        let same = self.differentiate(iterations, &mut found);
        if same == iterations.count {
            self.shadowed[place.number + usize::from(part.number) + found.lane] = true;
            self.lanes.push(found);
        }
        same
    }

    /// The cells of an operand that is result `at` of the same iteration.
    #[inline(always)]
    fn own_column(&self, iterations: &Iterations<'_>, at: usize) -> Column {
        let Iterations { ref records, pattern, count } = *iterations;
        if !self.shadowed[at] {
            return Column::uniform(0, Numbers { first: 0, step: Some(0) }, count);
        }
        let first = records.number + at as u64;
        match i32::try_from(pattern.numbers) {
            Ok(step) => {
                Column::uniform(numbers::double_cell(first), Numbers { first, step: Some(step) }, count)
            }
            Err(_) => Column::default(),
        }
    }

    /// Tells whether the numbers of all operands that were looked at advance by constants.
    pub(super) fn is_regular(&self) -> bool {
        self.lanes.iter().all(|lane| {
            let numbers = lane.cells.iter().zip(&lane.numbers);
            numbers.into_iter().all(|(&cell, numbers)| cell == 0 || numbers.step.is_some())
        })
    }

    /// Other records are looked at from now on.
    pub(super) fn begin(&mut self) {
        self.words.forget();
    }

    /// The cells of an operand in all iterations.
    #[inline(always)]
    fn column(
        &self,
        iterations: &Iterations<'_>,
        (place, part, lane): (&Place, &Part, usize),
        i: usize,
    ) -> Column {
        let first = part.cell(&iterations.records.bytes[place.at..], i, lane);
        let format = part.operation.from;
        let Cells::Cells(offset) = part.cells[i] else { return Column::default() };
        let at = place.at + usize::from(offset) + lane * format.bytes();
        let step = match format {
            Format::F64 => self.words.step(at),
            Format::F32 => {
                let word = word(&iterations.records.bytes[at & !7..]);
                self.words.step_of_half(at, word, iterations.count)
            }
            _ => None,
        };
        let numbers = step.and_then(|step| regular(first, step, iterations.count));
        let has_room = |numbers: &Numbers| format != Format::F32 || numbers.last(iterations.count) < SINGLES;
        if let Some(numbers) = numbers.filter(has_room) {
            return Column::uniform(first, numbers, iterations.count);
        }
        let firsts = (iterations.records.number, iterations.pattern.numbers as u64);
        column(iterations.rows(place.at).map(|row| part.cell(row, i, lane)), firsts)
    }

    /// Packs the iterations that were looked at into a loop that has been begun. The number of its statements.
    pub(super) fn pack(&self, iterations: &Iterations<'_>, into: &mut Loops) -> u64 {
        let (count, numbers) = (iterations.count, iterations.pattern.numbers as u64);
        let mut statements = 0;
        for found in &self.lanes {
            let (place, part) = iterations.part(found);
            let result = place.number + usize::from(part.number) + found.lane;
            let first = iterations.records.number;
            let mut is_statement = false;
            for (i, partials) in found.partials.iter().enumerate() {
                let fill = |into: &mut Vec<f64>| {
                    let start = into.len();
                    match partials {
                        Partials::None => unreachable!("an operand that is a term"),
                        Partials::Found(range) => into.extend_from_slice(&self.partials[range.clone()]),
                        Partials::First(count) => {
                            let rows = iterations.rows(place.at).take(*count);
                            Source { part, lane: found.lane, rows }.fill(i, found.factors[i], into);
                        }
                    }
                    scale(found.cells[i], &mut into[start..]);
                };
                if let Partials::None = partials {
                    continue;
                }
                let cells = iterations.rows(place.at).map(|row| part.cell(row, i, found.lane));
                let distances = (first..).step_by(numbers as usize).zip(cells);
                let distances = distances.map(|(first, cell)| distance(first, cell).unwrap_or(NOTHING));
                into.add(result, found.numbers[i], distances, fill);
                is_statement = true;
            }
            statements += u64::from(is_statement);
        }
        statements * count as u64
    }

    /// Finds out about the partials of a lane. The number of iterations that are alike.
    fn differentiate(&mut self, iterations: &Iterations<'_>, found: &mut Lane) -> usize {
        let (place, part) = iterations.part(found);
        let rows = iterations.rows(place.at);
        let Operation { op, from, to, .. } = part.operation;
        let active = found.cells.map(|cell| cell != 0);
        let Partly { reads, factors } = self.partly(op);
        found.factors = factors;
        let at = |offset: u16, format: Format| place.at + usize::from(offset) + found.lane * format.bytes();
        let stays = |reads: Reads| {
            let x = |i: usize| !reads.operand(i) || self.words.stays(at(part.x[i], from));
            (0..MAX_OPERANDS).all(x) && (!reads.result() || self.words.stays(at(part.r, to)))
        };
        for i in (0..op.arity()).filter(|&i| active[i]) {
            let Some(reads) = reads[i] else {
                let source = Source { part, lane: found.lane, rows };
                let (partials, alike) = source.choices(active, &mut self.partials);
                found.partials = partials;
                return alike;
            };
            found.partials[i] = Partials::First(if stays(reads) { 1 } else { iterations.count });
        }
        iterations.count
    }

    /// The partial derivatives of an operation.
    fn partly(&mut self, op: Op) -> Partly {
        let n = op as usize;
        if n >= self.rows.len() {
            self.rows.resize(n + 1, None);
        }
        // Those of other functions may be made of anything.
        let all = [Some(Reads::ALL); MAX_OPERANDS];
        let found = || Partly { reads: op.reads_by_operand().unwrap_or(all), factors: op.factors() };
        *self.rows[n].get_or_insert_with(found)
    }
}

/// Makes derivatives by floats that have this cell those by the results that it names.
#[inline(always)]
fn scale(cell: u64, partials: &mut [f64]) {
    let shadow = numbers::of_double(cell).expect("an active operand");
    if shadow != Active::new(shadow.number) {
        partials.iter_mut().for_each(|partial| *partial = shadow.by_result(*partial));
    }
}

/// The word that bytes begin with.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&word| u64::from_le_bytes(word))
}
