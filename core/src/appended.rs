//! Operations that translated code appends to a record as they run, in a form that says what it takes to know their partial
//! derivatives: operands' numbers, and the floats that TABLE 1's row reads.
//!
//! Each result has its number at once: numbers are handed out in blocks, each of which one thread uses up in the order of
//! its operations. A shadow is told of operations many at a time, each after those that its operands come from.

use crate::format::Format;
use crate::numbers::{self, Numbered, Numbers};
use crate::ops::{MAX_OPERANDS, Op};
use crate::shadow::{Rule, Shadow};
use crate::site::Site;
use std::cell::OnceCell;

/// Numbers of a block.
pub const BLOCK: u64 = 1 << 20;

/// An operation as translated code has appended it. Long doubles have cells of doubles in a record, and one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// The instruction.
    pub site: Site,
    /// The row of TABLE 1.
    pub op: Op,
    /// Format of the operands.
    pub from: Format,
    /// Format of the result.
    pub to: Format,
}

/// Floats of an operation, as far as its row reads them; anything else otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Floats {
    /// The operands.
    pub x: [f64; MAX_OPERANDS],
    /// The result.
    pub r: f64,
}

/// Place in a record of an operand's shadows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// None: the operand has no shadow.
    #[default]
    Absent,
    /// Cells that begin at this offset, in bytes.
    Cells(u16),
    /// Results of the same record, of which the first has this number among them.
    Results(u16),
}

/// An instruction whose operations are part of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The operation, in each lane.
    pub operation: Operation,
    /// Number of lanes: each takes a number.
    pub lanes: u8,
    /// Place of its first result among the numbers of the record.
    pub number: u16,
    /// The operands' shadows. Lanes lie beside each other.
    pub cells: [Source; MAX_OPERANDS],
    /// Offsets of the operands, in bytes; 0 for what is not written down.
    pub x: [u16; MAX_OPERANDS],
    /// Offset of the result; 0 if it is not written down. Of long doubles [`Op::in_doubles`] is taken where that tells.
    pub r: u16,
    /// Formats that long doubles are written down in.
    pub kept: [Format; MAX_OPERANDS],
}

/// Record of instructions that follow each other, as they append it together.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// The instructions, in order.
    pub parts: Vec<Part>,
    /// Bytes of the record.
    pub bytes: usize,
    /// Bytes of the floats in it; the others are integers.
    pub float_bytes: usize,
    /// Numbers that its results take.
    pub numbers: usize,
}

/// The last instruction of those that append together, as it is learnt.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of the step before, if it is not the first.
    pub before: Option<u32>,
    /// The instruction; offsets of floats are those among the floats, which are after the cells, and one more.
    pub part: Part,
    /// Bytes of cells and of floats up to here.
    pub bytes: [u16; 2],
}

/// Bytes at the start of a record, which have the number of its kind.
pub const HEAD: u16 = 8;

impl Step {
    /// One instruction on its own: so many lanes of an operation on `count` operands, with all cells and all floats.
    pub fn alone(operation: Operation, lanes: u8, count: usize) -> Step {
        let bytes = |format: Format| (u16::from(lanes) * format.bytes() as u16).next_multiple_of(8);
        let apart = bytes(operation.from);
        let at = |i: usize| i as u16 * apart;
        let cells =
            std::array::from_fn(|i| if i < count { Source::Cells(HEAD + at(i)) } else { Source::Absent });
        let x = std::array::from_fn(|i| if i < count { 1 + at(i) } else { 0 });
        let kept = [operation.from; MAX_OPERANDS];
        let part = Part { operation, lanes, number: 0, cells, x, r: 1 + at(count), kept };
        Step { before: None, part, bytes: [at(count), at(count) + bytes(operation.to)] }
    }

    /// Bytes of the record that ends with it.
    pub fn record_bytes(&self) -> usize {
        usize::from(HEAD + self.bytes[0] + self.bytes[1])
    }
}

/// Kinds of a thread's records: one for each step, which is that of a record that ends with it.
#[derive(Debug, Default)]
pub struct Kinds {
    steps: Vec<Step>,
    /// Kinds that have occurred.
    kinds: Vec<OnceCell<Kind>>,
}

impl Kinds {
    /// The next step is this.
    pub fn learn(&mut self, step: Step) {
        self.steps.push(step);
        self.kinds.push(OnceCell::new());
    }

    /// Number of them.
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// The step with this number.
    pub fn step(&self, number: usize) -> &Step {
        &self.steps[number]
    }

    /// The kind with this number.
    #[inline(always)]
    pub fn of(&self, number: usize) -> &Kind {
        self.kinds[number].get_or_init(|| self.make(number))
    }

    #[cold]
    fn make(&self, number: usize) -> Kind {
        let last = &self.steps[number];
        let [cells, floats] = last.bytes;
        let place = |at: u16| if at == 0 { 0 } else { HEAD + cells + at - 1 };
        let mut parts = Vec::new();
        let mut step = Some(last);
        while let Some(Step { before, part, .. }) = step {
            parts.push(Part { x: part.x.map(place), r: place(part.r), ..*part });
            step = before.map(|before| &self.steps[before as usize]);
        }
        parts.reverse();
        let numbers = usize::from(last.part.number) + usize::from(last.part.lanes);
        Kind { parts, bytes: last.record_bytes(), float_bytes: floats.into(), numbers }
    }
}

/// One lane of what was appended.
#[derive(Clone, Copy, Debug)]
pub struct Appendix {
    /// Shadows of the operands.
    pub operands: [Option<Numbered>; MAX_OPERANDS],
    /// The floats.
    pub floats: Floats,
    /// True if a cell is not that of a float.
    pub has_others: bool,
}

impl Part {
    /// The cell of operand `i` in lane `n` as beside an `f64`: 0 where there is none or it is a result of the record, [`OTHER`] where it is
    /// not that of a float.
    #[inline(always)]
    pub fn cell(&self, bytes: &[u8], i: usize, n: usize) -> u64 {
        match (self.cells[i], self.operation.from) {
            (Source::Cells(at), Format::F32) => match single(bytes, at, n) {
                0 => 0,
                cell => numbers::of_single(cell).map_or(OTHER, |shadow| {
                    numbers::double_cell(shadow.number) | u64::from(shadow.negated) << 63
                }),
            },
            (Source::Cells(at), _) => double(bytes, at, n),
            _ => 0,
        }
    }

    /// The floats of lane `n`.
    #[inline(always)]
    pub fn floats(&self, bytes: &[u8], n: usize) -> Floats {
        let Operation { from, to, .. } = self.operation;
        if from == Format::F80 {
            return self.long_floats(bytes);
        }
        let float = |at: u16, format| match (at, format) {
            (0, _) => 0.0,
            (at, Format::F32) => f32::from_bits(single(bytes, at, n)).into(),
            (at, _) => f64::from_bits(double(bytes, at, n)),
        };
        let [x, y, z] = self.x;
        Floats { x: [float(x, from), float(y, from), float(z, from)], r: float(self.r, to) }
    }

    /// The floats of an operation on long doubles.
    #[inline(never)]
    fn long_floats(&self, bytes: &[u8]) -> Floats {
        let op = self.operation.op;
        let x = std::array::from_fn(|i| self.long(bytes, i));
        let written = || if self.r == 0 { 0.0 } else { image(bytes, self.r) };
        Floats { x, r: op.in_doubles(&x[..op.arity()]).unwrap_or_else(written) }
    }

    /// Operand `i`, a long double, rounded to a double; 0 if it is not written down.
    #[inline]
    pub fn long(&self, bytes: &[u8], i: usize) -> f64 {
        match (self.x[i], self.kept[i]) {
            (0, _) => 0.0,
            (at, Format::F32) => f32::from_bits(single(bytes, at, 0)).into(),
            (at, Format::F80) => image(bytes, at),
            (at, _) => f64::from_bits(double(bytes, at, 0)),
        }
    }

    /// Lane `n` of what was appended in a record whose results begin with `number` and have shadows as `shadowed` says.
    #[inline(always)]
    pub fn lane(&self, bytes: &[u8], number: u64, shadowed: &Shadowed, n: usize) -> Appendix {
        let (mut operands, mut has_others) = ([None; MAX_OPERANDS], false);
        // One by one: an array that is made at once would be copied before the processor has stored it.
        for (i, operand) in operands.iter_mut().enumerate() {
            if let Source::Results(first) = self.cells[i] {
                let at = usize::from(first) + n;
                *operand = shadowed.has(at).then(|| Numbered::new(number + at as u64));
                continue;
            }
            let cell = self.cell(bytes, i, n);
            *operand = numbers::of_double(cell);
            has_others |= cell != 0 && operand.is_none();
        }
        Appendix { operands, floats: self.floats(bytes, n), has_others }
    }
}

/// Most results of a record.
pub const RESULTS: usize = 256;

/// Results of a record that have shadows, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shadowed([u64; RESULTS / 64]);

impl Shadowed {
    /// Tells whether this one has.
    #[inline(always)]
    pub fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }

    /// Notes that this one has a shadow.
    #[inline(always)]
    pub fn add(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }
}

/// A cell that is not that of a float.
pub const OTHER: u64 = 1;

#[inline(always)]
fn single(bytes: &[u8], at: u16, n: usize) -> u32 {
    let at = usize::from(at) + 4 * n;
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("records are whole"))
}

#[inline(always)]
fn double(bytes: &[u8], at: u16, n: usize) -> u64 {
    let at = usize::from(at) + 8 * n;
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("records are whole"))
}

/// A long double, with six bytes after it, as a double.
#[inline(always)]
fn image(bytes: &[u8], at: u16) -> f64 {
    Format::F80.to_f64(u128::from(double(bytes, at, 1)) << 64 | u128::from(double(bytes, at, 0)))
}

/// Operations that a thread has appended, in order: whole records, each of which begins with the number of its kind in four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    /// Kinds of the thread's records.
    pub kinds: &'a Kinds,
    /// The records.
    pub bytes: &'a [u8],
    /// The number of the first result; others follow.
    pub number: u64,
}

impl Records<'_> {
    /// Number of the kind of the record that begins at `at`.
    #[inline(always)]
    pub fn kind_at(&self, at: usize) -> usize {
        single(&self.bytes[at..], 0, 0) as usize
    }
}

/// A shadow that is a number, under which a record says more.
pub trait Appended: Rule<Value = Numbered> + Shadow<Words = Numbers> {
    /// The first number of a block that nobody has.
    fn block(&mut self) -> u64;

    /// The result with this number is of such an operation, whose operands have these shadows, one at least.
    fn append(
        &mut self,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    );

    /// So many bytes of records have been appended, of which so many are floats.
    fn wrote(&mut self, bytes: usize, floats: usize);

    /// Appends the record of some kind that `bytes` begin with, whose results have the numbers from `number` on. `before` is called with
    /// the number of each operand that is no result of the record, before that is used.
    #[inline(always)]
    fn append_record(
        &mut self,
        number: u64,
        kind: &Kind,
        bytes: &[u8],
        mut before: impl FnMut(&mut Self, u64),
    ) {
        let mut shadowed = Shadowed::default();
        let own = number..number + kind.numbers as u64;
        for part in &kind.parts {
            for n in 0..usize::from(part.lanes) {
                let at = usize::from(part.number) + n;
                let Appendix { operands, floats, has_others } = part.lane(bytes, number, &shadowed, n);
                if has_others {
                    self.mismatch(part.operation.site);
                }
                // What was made of other bits than a float's is numbered as well, and depends on nothing.
                if operands == [None; MAX_OPERANDS] && !has_others {
                    continue;
                }
                shadowed.add(at);
                let elsewhere = operands.iter().flatten().filter(|x| !own.contains(&x.number));
                elsewhere.for_each(|x| before(self, x.number));
                if operands != [None; MAX_OPERANDS] {
                    self.append(number + at as u64, &part.operation, &floats, &operands);
                }
            }
        }
    }

    /// Appends all of these records, of the thread of this number. None of their operands is in a record that is yet to be
    /// appended. The number after that of the last result.
    fn append_all(&mut self, _thread: usize, records: &Records<'_>) -> u64 {
        append_each(self, records)
    }
}

/// Appends records one by one. The number after that of the last result.
pub fn append_each<S: Appended>(shadow: &mut S, records: &Records<'_>) -> u64 {
    let (mut at, mut number, mut floats) = (0, records.number, 0);
    while at < records.bytes.len() {
        let kind = records.kinds.of(records.kind_at(at));
        floats += kind.float_bytes;
        shadow.append_record(number, kind, &records.bytes[at..], |_, _| {});
        number += kind.numbers as u64;
        at += kind.bytes;
    }
    shadow.wrote(at, floats);
    number
}
