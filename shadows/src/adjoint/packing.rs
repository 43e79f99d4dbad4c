//! Packing: iterations of a pattern become a loop, or several.
//!
//! An iteration belongs to a loop if it has the same active operands as the loop's first, scaled alike, and its results
//! depend on the same of them. Beside an operand that is always active another may be so in some iterations only, as sums are
//! whose first term comes to a zero. What does not fit is appended record by record, as all else is.

mod period;
mod words;

use super::loops::{Loops, NOTHING, Numbers};
use super::patterns::{Pattern, Place};
use super::{Active, EXACT, partial};
use hashbrown::HashMap;
use shadowgrind_core::appended::{Floats, Kind, Operation, Part, Records, Source as Cells};
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{self, SINGLES};
use shadowgrind_core::ops::{Gradient, MAX_OPERANDS, Op, OperandFactor, Reads};
use std::ops::Range;
use words::Words;

#[cfg(test)]
mod tests;

/// Partial derivatives by an operand, as far as they are known.
#[derive(Clone, Debug, Default)]
enum Partials {
    /// No term.
    #[default]
    None,
    /// Numbers that were found, and are here: one for each iteration.
    Found(Range<usize>),
    /// Numbers that are to be found: of so many of the first iterations.
    First(usize),
}

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

/// The numbers in cells that begin with this one and advance by a constant, if these are cells of the same kind.
#[inline(always)]
fn regular(first: u64, step: u64, count: usize) -> Option<Numbers> {
    let last = first.wrapping_add(step.wrapping_mul(count as u64 - 1));
    let number = numbers::of_double(first).map_or(0, |shadow| shadow.number);
    let advance = i32::try_from(step as i64).ok().filter(|&step| step != i32::MIN);
    // Between these are no lower four bytes that are zero, which cells of floats do not have.
    let are_cells = sort(first).is_some() && sort(last).is_some() && first >> 32 == last >> 32;
    are_cells.then_some(Numbers { first: number, step: Some(advance?) })
}

/// Distance from the first number of an iteration to the operand with this cell, if it has a shadow and there is room for it.
#[inline(always)]
fn distance(first: u64, cell: u64) -> Option<i32> {
    let number = numbers::of_double(cell)?.number;
    let distance = i32::try_from(first.wrapping_sub(number) as i64).ok();
    distance.filter(|&distance| distance != NOTHING)
}

/// Cells of an operand in all iterations.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    /// The first that is of a shadow; 0 if there is none.
    cell: u64,
    numbers: Numbers,
    /// Number of the first iterations in which all are of shadows scaled alike, or none is of one.
    alike: usize,
    /// Number of the first iterations in which those that are of shadows are scaled alike.
    scaled_alike: usize,
    /// True if the first one is of a shadow.
    begins: bool,
}

impl Column {
    /// A column of which `count` cells are like `cell`, the first.
    #[inline(always)]
    fn uniform(cell: u64, numbers: Numbers, count: usize) -> Column {
        Column { cell, numbers, alike: count, scaled_alike: count, begins: cell != 0 }
    }
}

/// Number of the first iterations that each of the operands of a statement allows to be together. One that `may_lack` its shadow in some
/// of them does so beside another that has one in all of these.
#[inline(always)]
fn alike(columns: &[Column; MAX_OPERANDS], may_lack: [bool; MAX_OPERANDS]) -> [usize; MAX_OPERANDS] {
    let always = (0..MAX_OPERANDS).filter(|&i| columns[i].begins).max_by_key(|&i| columns[i].alike);
    std::array::from_fn(|i| match always {
        Some(always) if always != i && may_lack[i] => {
            columns[i].alike.max(columns[i].scaled_alike.min(columns[always].alike))
        }
        _ => columns[i].alike,
    })
}

/// The column of these cells. `firsts` are the first iteration's first number and what it advances by.
#[inline(always)]
fn column(cells: impl Iterator<Item = u64> + Clone, firsts: (u64, u64)) -> Column {
    let first = cells.clone().next().expect("there is an iteration");
    let (step, count) = match progress(cells.clone()) {
        Progress::Cut(after) => {
            return Column::uniform(first, Numbers { first: 0, step: None }, after);
        }
        Progress::Regular { step, count } => (Some(step), count),
        Progress::Irregular { count } => (None, count),
    };
    if let Some(numbers) = step.and_then(|step| regular(first, step, count)) {
        return Column::uniform(first, numbers, count);
    }
    let (number, advance) = firsts;
    let cell = cells.clone().find(|&cell| cell != 0).unwrap_or(0);
    let fits = |n: usize, cell: u64| cell == 0 || distance(number + n as u64 * advance, cell).is_some();
    let is_alike = |n: usize, now: u64| sort(now).is_some() && sort(now) == sort(cell) && fits(n, now);
    let alike = cells.clone().position(|now| (now == 0) != (first == 0)).unwrap_or(count);
    let other = cells.enumerate().position(|(n, now)| now != 0 && !is_alike(n, now));
    let scaled_alike = other.unwrap_or(count);
    let number = numbers::of_double(cell).map_or(0, |shadow| shadow.number);
    let numbers = Numbers { first: number, step: None };
    Column { cell, numbers, alike: alike.min(scaled_alike), scaled_alike, begins: first != 0 }
}

/// Fewest iterations that operands advance in by a constant for which a loop is cut in two, and most before these.
const LONG: usize = 16;
const FEW: usize = 4;

/// Number of iterations after which the loop is to be cut in two because numbers advance otherwise in the first or the last one alone: told
/// by a few iterations, before all are looked at.
fn edge(iterations: &Iterations<'_>) -> Option<usize> {
    let (count, apart) = (iterations.count, iterations.pattern.bytes);
    if count <= LONG {
        return None;
    }
    // What has a period has no edge.
    let within = [2, 3, count / 4, count / 3, count / 2, count - 4, count - 3];
    for place in &iterations.pattern.places {
        for part in &iterations.kind(place).parts {
            for (i, _) in part.cells.iter().enumerate().filter(|(_, cells)| matches!(cells, Cells::Cells(_)))
            {
                let cell = |n: usize| part.cell(&iterations.records.bytes[place.at + n * apart..], i, 0);
                let step = |n: usize| cell(n + 1).wrapping_sub(cell(n));
                let usual = step(1);
                let [is_first, is_last] = [0, count - 2].map(|n| step(n) != usual);
                if (is_first || is_last) && within.iter().all(|&n| step(n) == usual) {
                    return Some(if is_first { 1 } else { count - 1 });
                }
            }
        }
    }
    None
}

/// The way in which cells follow each other.
enum Progress {
    /// By a constant; and how many there are.
    Regular { step: u64, count: usize },
    /// By a constant in these first iterations, or since these: at the edge of an array stand other numbers than within, and there the
    /// loop is to be cut.
    Cut(usize),
    /// In another way.
    Irregular { count: usize },
}

#[inline(always)]
fn progress(mut cells: impl Iterator<Item = u64>) -> Progress {
    let mut before = cells.next().unwrap_or(0);
    let Some(second) = cells.next() else { return Progress::Regular { step: 0, count: 1 } };
    // What they advance by, the iteration since which they do so, and the first one after which they do not.
    let (mut step, mut since, mut end, mut count) = (second.wrapping_sub(before), 0, None, 2);
    before = second;
    for cell in cells {
        let now = cell.wrapping_sub(before);
        if now != step {
            (step, since) = (now, count - 1);
            end.get_or_insert(count);
        }
        (before, count) = (cell, count + 1);
    }
    match end {
        None => Progress::Regular { step, count },
        Some(end) if end >= LONG => Progress::Cut(end),
        _ if since <= FEW && count - since >= LONG => Progress::Cut(since),
        _ => Progress::Irregular { count },
    }
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

/// A lane of a part of a record, in all iterations.
struct Source<'a, I> {
    part: &'a Part,
    lane: usize,
    rows: I,
}

impl<'a, I: ExactSizeIterator<Item = &'a [u8]> + Clone> Source<'a, I> {
    /// Adds the partials by operand `i`, which is a term: one for each iteration.
    fn fill(&self, i: usize, factor: Option<OperandFactor>, into: &mut Vec<f64>) {
        if let (Some(OperandFactor { operand, negated }), Format::F64) = (factor, self.part.operation.from) {
            let at = usize::from(self.part.x[operand]) + self.lane * Format::F64.bytes();
            let sign = u64::from(negated) << 63;
            return into.extend(self.rows.clone().map(|row| f64::from_bits(word(&row[at..]) ^ sign)));
        }
        // The row is known in each arm, and nothing but its arithmetic is left of it.
        match self.part.operation.op {
            Op::Add => self.row::<2>(Op::Add, i, into),
            Op::Sub => self.row::<2>(Op::Sub, i, into),
            Op::Mul => self.row::<2>(Op::Mul, i, into),
            Op::Div => self.row::<2>(Op::Div, i, into),
            Op::Fmadd => self.row::<3>(Op::Fmadd, i, into),
            op => self.any(op, i, into),
        }
    }

    #[inline(never)]
    fn any(&self, op: Op, i: usize, into: &mut Vec<f64>) {
        match op.arity() {
            1 => self.row::<1>(op, i, into),
            2 => self.row::<2>(op, i, into),
            _ => self.row::<3>(op, i, into),
        }
    }

    #[inline(always)]
    fn row<const ARITY: usize>(&self, op: Op, i: usize, into: &mut Vec<f64>) {
        let Operation { from, to, .. } = self.part.operation;
        if [from, to] == [Format::F64; 2] {
            self.each::<ARITY, true>(op, i, into)
        } else {
            self.each::<ARITY, false>(op, i, into)
        }
    }

    #[inline(always)]
    fn each<const ARITY: usize, const DOUBLES: bool>(&self, op: Op, i: usize, into: &mut Vec<f64>) {
        let rows = self.rows.clone();
        // Each in its own arm, so that nothing is found but what is asked for.
        match i {
            0 => into.extend(rows.map(|row| self.gradient::<ARITY, DOUBLES>(op, row).value(&EXACT, 0))),
            1 => into.extend(rows.map(|row| self.gradient::<ARITY, DOUBLES>(op, row).value(&EXACT, 1))),
            _ => into.extend(rows.map(|row| self.gradient::<ARITY, DOUBLES>(op, row).value(&EXACT, 2))),
        }
    }

    /// The derivatives at the floats of a record; with `DOUBLES` all of these are doubles.
    #[inline(always)]
    fn gradient<const ARITY: usize, const DOUBLES: bool>(&self, op: Op, bytes: &[u8]) -> Gradient<Host> {
        let Floats { x, r } = if DOUBLES {
            // What is not read is anything.
            let double = |at: u16| {
                let at = usize::from(at) + self.lane * Format::F64.bytes();
                f64::from_bits(bytes.get(at..).map_or(0, word))
            };
            Floats { x: self.part.x.map(double), r: double(self.part.r) }
        } else {
            self.part.floats(bytes, self.lane)
        };
        let arithmetic = op.arithmetic_gradient(&EXACT, &x[..ARITY], r);
        arithmetic.unwrap_or_else(|| op.gradient(&EXACT, &x[..ARITY], r))
    }

    /// Adds the partials of an operation that chooses between its operands by those of them that are active, as far as they are terms
    /// in the first iteration; and the number of iterations in which the terms are the same.
    #[inline(never)]
    fn choices(
        &self,
        active: [bool; MAX_OPERANDS],
        into: &mut Vec<f64>,
    ) -> ([Partials; MAX_OPERANDS], usize) {
        let op = self.part.operation.op;
        let partial = |row: &[u8], i: usize| {
            let Floats { x, r } = self.part.floats(row, self.lane);
            partial(&op.arithmetic_gradient(&EXACT, &x[..op.arity()], r)?, i)
        };
        let mut found: [Partials; MAX_OPERANDS] = Default::default();
        let mut alike = self.rows.len();
        for i in (0..op.arity()).filter(|&i| active[i]) {
            let start = into.len();
            let mut rows = self.rows.clone().map(|row| partial(row, i));
            let first = rows.next().flatten();
            let same = rows.take_while(|partial| partial.is_some() == first.is_some());
            let others = same.take(alike - 1);
            match first {
                None => alike = 1 + others.count(),
                Some(first) => {
                    into.push(first);
                    into.extend(others.flatten());
                    alike = into.len() - start;
                    found[i] = Partials::Found(start..into.len());
                }
            }
        }
        (found, alike)
    }
}
