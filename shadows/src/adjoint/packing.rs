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
use super::distances::NOTHING;
use super::loops::{Loops, Numbers};
use super::patterns::{Pattern, Place};
use column::{Column, alike, column, distance, regular};
use edge::edge;
use hashbrown::HashMap;
use partials::{Partials, Source};
use shadowgrind_core::appended::{HEAD, Kind, Operation, Part, Records, Source as Cells};
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{self, SINGLES};
use shadowgrind_core::ops::{MAX_OPERANDS, Op, OperandFactor, Reads};
use words::Words;

#[cfg(test)]
mod tests;

/// Number of loops in a row without an edge after which no more are expected.
const EXPECTED_EDGES: u32 = 16;

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
    /// Cells of an operand.
    cells: Vec<u64>,
    /// Number of loops in a row without an edge until no more are looked for before all else.
    expected_edges: u32,
    /// True if it is known that the iterations have no edge.
    has_no_edge: bool,
    /// Partials by operation.
    rows: Vec<Option<Partly>>,
    /// Periods that were found last, by the kind of the first record.
    periods: HashMap<usize, usize>,
    /// Number of loops in a row that were found to have none.
    without_period: HashMap<usize, u64>,
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

    /// Offsets, in one, of the words that are cells.
    fn cell_words(&self) -> impl Iterator<Item = usize> {
        self.pattern.places.iter().flat_map(|place| {
            let kind = self.kind(place);
            let cells = usize::from(HEAD)..kind.bytes - kind.float_bytes;
            cells.step_by(size_of::<u64>()).map(|at| place.at + at)
        })
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
        self.has_no_edge = false;
        if self.expected_edges > 0
            && let Some(after) = self.edge(iterations)
        {
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

    /// Number of iterations after which the loop is to be cut at an edge.
    fn edge(&mut self, iterations: &Iterations<'_>) -> Option<usize> {
        if self.has_no_edge {
            return None;
        }
        let found = edge(iterations);
        self.has_no_edge = found.is_none();
        self.expected_edges = found.map_or(self.expected_edges.saturating_sub(1), |_| EXPECTED_EDGES);
        found
    }

    /// Finds out about a lane of a part of the record at a place. The number of iterations that are alike.
    #[inline(always)]
    fn lane(
        &mut self,
        iterations: &Iterations<'_>,
        (place, part): (&Place, &Part),
        mut found: Lane,
    ) -> usize {
        for i in (0..MAX_OPERANDS).filter(|&i| part.cells[i] != Cells::Absent) {
            let Some((cell, numbers)) = self.regular(iterations, (place, part, found.lane), i) else {
                let same = self.irregular(iterations, (place, part), &mut found);
                if same < iterations.count {
                    return same;
                }
                break;
            };
            (found.cells[i], found.numbers[i]) = (cell, numbers);
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

    /// The first cell of an operand and its numbers, if it is known that they advance by a constant.
    #[inline(always)]
    fn regular(
        &self,
        iterations: &Iterations<'_>,
        (place, part, lane): (&Place, &Part, usize),
        i: usize,
    ) -> Option<(u64, Numbers)> {
        let Iterations { ref records, pattern, count } = *iterations;
        let offset = match part.cells[i] {
            Cells::Absent => return None,
            Cells::Cells(offset) => usize::from(offset),
            // A result of the same iteration.
            Cells::Results(first) => {
                let at = place.number + usize::from(first) + lane;
                if !self.shadowed[at] {
                    return Some((0, Numbers { first: 0, step: Some(0) }));
                }
                let (first, step) = (records.number + at as u64, i32::try_from(pattern.numbers).ok()?);
                return Some((numbers::double_cell(first), Numbers { first, step: Some(step) }));
            }
        };
        let first = part.cell(&records.bytes[place.at..], i, lane);
        let format = part.operation.from;
        let at = place.at + offset + lane * format.bytes();
        let step = match format {
            Format::F64 | Format::F80 => self.words.step(at),
            Format::F32 => self.words.step_of_half(at, word(&records.bytes[at & !7..]), count),
            _ => None,
        };
        let numbers = regular(first, step?, count)?;
        let has_room = format != Format::F32 || numbers.last(count) < SINGLES;
        has_room.then_some((first, numbers))
    }

    /// Finds out about the cells of a lane of which not all are known to advance by constants. The number of iterations that are
    /// alike.
    #[inline(never)]
    fn irregular(
        &mut self,
        iterations: &Iterations<'_>,
        (place, part): (&Place, &Part),
        found: &mut Lane,
    ) -> usize {
        let mut columns = [Column::default(); MAX_OPERANDS];
        let operands = (0..MAX_OPERANDS).filter(|&i| part.cells[i] != Cells::Absent);
        for i in operands.clone() {
            columns[i] = self.column(iterations, (place, part, found.lane), i);
            (found.cells[i], found.numbers[i]) = (columns[i].cell, columns[i].numbers);
        }
        let may_lack = self.partly(part.operation.op).reads.map(|reads| reads.is_some());
        let alike = alike(&columns, may_lack);
        operands.map(|i| alike[i]).min().unwrap_or(iterations.count)
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
        &mut self,
        iterations: &Iterations<'_>,
        (place, part, lane): (&Place, &Part, usize),
        i: usize,
    ) -> Column {
        if let Some((cell, numbers)) = self.regular(iterations, (place, part, lane), i) {
            return Column::uniform(cell, numbers, iterations.count);
        }
        let Cells::Cells(offset) = part.cells[i] else { return Column::default() };
        if let Some(after) = self.edge(iterations) {
            let first = part.cell(&iterations.records.bytes[place.at..], i, lane);
            return Column::uniform(first, Numbers { first: 0, step: None }, after);
        }
        self.cells.clear();
        match part.operation.from {
            Format::F64 | Format::F80 => {
                let at = place.at + usize::from(offset) + lane * Format::F64.bytes();
                self.cells.extend(iterations.rows(at).map(word));
            }
            _ => self.cells.extend(iterations.rows(place.at).map(|row| part.cell(row, i, lane))),
        }
        column(&self.cells, (iterations.records.number, iterations.pattern.numbers as u64))
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
            let factors = self.rows[part.operation.op as usize].map(|partly| partly.factors);
            for (i, partials) in found.partials.iter().enumerate() {
                let fill = |into: &mut Vec<f64>| {
                    let start = into.len();
                    match partials {
                        Partials::None => unreachable!("an operand that is a term"),
                        Partials::Found(range) => into.extend_from_slice(&self.partials[range.clone()]),
                        Partials::First(count) => {
                            let rows = iterations.rows(place.at).take(*count);
                            Source { part, lane: found.lane, rows }.fill(
                                i,
                                factors.and_then(|all| all[i]),
                                into,
                            );
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
        let reads = self.partly(op).reads;
        let at = |offset: u16, format: Format| place.at + usize::from(offset) + found.lane * format.bytes();
        let is_long = from == Format::F80;
        let stays = |reads: Reads| {
            let reads = if part.r == 0 { reads.without_result() } else { reads };
            let has_end = |i: usize| is_long && part.x[i] != 0 && part.kept[i] == Format::F80;
            let x = |i: usize| {
                let first = at(part.x[i], from);
                !reads.operand(i) || self.words.stays(first) && (!has_end(i) || self.words.stays(first + 8))
            };
            let r = at(part.r, to);
            let result = || self.words.stays(r) && (!is_long || self.words.stays(r + 8));
            (0..MAX_OPERANDS).all(x) && (!reads.result() || result())
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

/// The half of a word that bytes begin with.
#[inline(always)]
fn half(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&half| u32::from_le_bytes(half))
}
