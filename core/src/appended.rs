//! Operations that translated code appends to a record as they run, in a form that says what it takes to know their partial
//! derivatives: operands' numbers, and the floats that TABLE 1's row reads.
//!
//! Each result has its number at once: numbers are handed out in blocks, each of which one thread uses up in the order of
//! its operations. A shadow is told of operations many at a time, each after those that its operands come from.

use crate::format::Format;
use crate::numbers::{self, Numbered, Numbers};
use crate::ops::{MAX_OPERANDS, Op, Reads};
use crate::shadow::{Rule, Shadow};
use crate::site::Site;

/// Numbers of a block.
pub const BLOCK: u64 = 1 << 18;

/// An operation as translated code has appended it.
#[derive(Clone, Copy, Debug)]
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

/// Offsets of what is appended for an instruction, in bytes; 0 for what is not. Lanes lie beside each other.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The operands' cells.
    pub cells: [u8; MAX_OPERANDS],
    /// The operands.
    pub x: [u8; MAX_OPERANDS],
    /// The result.
    pub r: u8,
    /// Bytes of it all.
    pub bytes: u8,
    /// Bytes of the floats in it; the others are integers.
    pub float_bytes: u8,
}

impl Layout {
    /// Offset of the first field; the number of the kind is before it.
    const FIRST: u8 = 8;

    /// The layout for so many lanes of an operation of these formats on `count` operands: the cells of those that are not `absent`,
    /// a bit for each, and the floats that are read.
    pub fn of(lanes: u8, [from, to]: [Format; 2], count: usize, absent: u8, reads: Reads) -> Layout {
        let mut end = Self::FIRST;
        let bytes = |format: Format| lanes * format.bytes() as u8;
        let mut field = |is_there: bool, format: Format| {
            let bytes = bytes(format).next_multiple_of(8);
            end += if is_there { bytes } else { 0 };
            if is_there { end - bytes } else { 0 }
        };
        let cells = std::array::from_fn(|i| field(i < count && absent >> i & 1 == 0, from));
        let x = std::array::from_fn(|i| field(i < count && reads.operand(i), from));
        let r = field(reads.result(), to);
        let operands = x.iter().filter(|at| **at != 0).count() as u8;
        let float_bytes = operands * bytes(from) + if r != 0 { bytes(to) } else { 0 };
        Layout { cells, x, r, bytes: end, float_bytes }
    }
}

/// An instruction whose operations are appended.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The operation, in each lane.
    pub operation: Operation,
    /// Offsets of what is appended.
    pub layout: Layout,
    /// Number of lanes: each takes a number.
    pub lanes: u8,
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

impl Kind {
    /// The cell of operand `i` in lane `n` as beside an `f64`: 0 where there is none, [`OTHER`] where it is not that of a float.
    #[inline(always)]
    pub fn cell(&self, bytes: &[u8], i: usize, n: usize) -> u64 {
        match (self.layout.cells[i], self.operation.from) {
            (0, _) => 0,
            (at, Format::F32) => match single(bytes, at, n) {
                0 => 0,
                cell => numbers::of_single(cell).map_or(OTHER, |shadow| {
                    numbers::double_cell(shadow.number) | u64::from(shadow.negated) << 63
                }),
            },
            (at, _) => double(bytes, at, n),
        }
    }

    /// The floats of lane `n`.
    #[inline(always)]
    pub fn floats(&self, bytes: &[u8], n: usize) -> Floats {
        let Operation { from, to, .. } = self.operation;
        let float = |at: u8, format| match (at, format) {
            (0, _) => 0.0,
            (at, Format::F32) => f32::from_bits(single(bytes, at, n)).into(),
            (at, _) => f64::from_bits(double(bytes, at, n)),
        };
        let [x, y, z] = self.layout.x;
        Floats { x: [float(x, from), float(y, from), float(z, from)], r: float(self.layout.r, to) }
    }

    /// Lane `n` of what was appended.
    #[inline(always)]
    pub fn lane(&self, bytes: &[u8], n: usize) -> Appendix {
        let mut has_others = false;
        let operands = std::array::from_fn(|i| {
            let cell = self.cell(bytes, i, n);
            let shadow = numbers::of_double(cell);
            has_others |= cell != 0 && shadow.is_none();
            shadow
        });
        Appendix { operands, floats: self.floats(bytes, n), has_others }
    }
}

/// A cell that is not that of a float.
pub const OTHER: u64 = 1;

#[inline(always)]
fn single(bytes: &[u8], at: u8, n: usize) -> u32 {
    let at = usize::from(at) + 4 * n;
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("records are whole"))
}

#[inline(always)]
fn double(bytes: &[u8], at: u8, n: usize) -> u64 {
    let at = usize::from(at) + 8 * n;
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("records are whole"))
}

/// Operations that a thread has appended, in order: whole records, each of which begins with the number of its kind in four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    /// Kinds of the thread's records, by number.
    pub kinds: &'a [Kind],
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

    /// Appends lane `n` of a record of some kind. The result has this number.
    #[inline(always)]
    fn append_lane(&mut self, number: u64, kind: &Kind, bytes: &[u8], n: usize) {
        let Appendix { operands, floats, has_others } = kind.lane(bytes, n);
        if has_others {
            self.mismatch(kind.operation.site);
        }
        if operands != [None; MAX_OPERANDS] {
            self.append(number, &kind.operation, &floats, &operands);
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
        let kind = &records.kinds[records.kind_at(at)];
        floats += usize::from(kind.layout.float_bytes);
        for n in 0..usize::from(kind.lanes) {
            shadow.append_lane(number + n as u64, kind, &records.bytes[at..], n);
        }
        number += u64::from(kind.lanes);
        at += usize::from(kind.layout.bytes);
    }
    shadow.wrote(at, floats);
    number
}
