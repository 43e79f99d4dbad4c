//! Everything that an instruction may change, and how two such states differ.

use crate::runtime::{Carrier, turned_doubles};
use crate::x86::state;
use shadowgrind_core::format::Format;
use shadowgrind_core::turned::TURN;
use shadowgrind_core::words::{InPlace, Words};

/// Registers and the window, then the shadows of both, each in one row of bytes without the scratch.
#[derive(Clone, PartialEq)]
pub(super) struct Snapshot {
    pub(super) values: Vec<u8>,
    pub(super) shadows: Vec<u8>,
    pub(super) flags: u64,
}

/// The number in these bytes.
fn number(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(all)
}

impl Snapshot {
    /// Puts, for each cell that `carrier` has something for, what that is in the place of the cell: cells are handed out, and are
    /// others each time. Where each knows its float (`keyed`), one that is for another means none.
    pub(super) fn read_cells(mut self, carrier: &dyn Carrier, keyed: bool) -> Snapshot {
        let mut at = 0;
        while at < self.shadows.len() {
            at += match self.shadows[at..].iter().take(16).all(|&byte| byte == 0) {
                true => 16,
                false => self.read_cell(carrier, at, keyed),
            };
        }
        self
    }

    /// Puts what one cell at `at` stands for in its place; the bytes that it takes.
    fn read_cell(&mut self, carrier: &dyn Carrier, at: usize, keyed: bool) -> usize {
        // Where operands are: all are aligned.
        for (format, alignment) in [(Format::F80, 16), (Format::F64, 8), (Format::F32, 4)] {
            let bytes = format.bytes();
            let is_in_vector = (usize::from(state::VECTOR)..usize::from(state::X87)).contains(&at);
            if !at.is_multiple_of(alignment) || format == Format::F80 && is_in_vector {
                continue;
            }
            let [cell, float] = [&self.shadows, &self.values].map(|row| number(&row[at..][..bytes]));
            let number = if cell == 0 { None } else { carrier.number(cell, format, float) };
            if let Some(number) = number {
                let cell = &mut self.shadows[at..][..bytes];
                cell.fill(0);
                let kept = bytes.min(8);
                cell[..kept].copy_from_slice(&number.to_le_bytes()[..kept]);
                return if format == Format::F80 { 16 } else { bytes };
            }
        }
        let bytes = Format::F32.bytes();
        if keyed {
            self.shadows[at..][..bytes].fill(0);
        }
        bytes
    }

    /// The state that is expected of an SSE instruction where `found` is: annotations of one may leave no shadow above the low 16
    /// bytes of a vector register, where the instruction itself leaves what is there alone.
    pub(super) fn as_sse(&self, found: &Snapshot) -> Snapshot {
        let mut expected = self.clone();
        let vectors = usize::from(state::VECTOR)..usize::from(state::X87);
        let shadows = expected.shadows[vectors.clone()].chunks_exact_mut(64);
        for (expected, found) in shadows.zip(found.shadows[vectors].chunks_exact(64)) {
            if found[16..].iter().all(|&byte| byte == 0) {
                expected[16..].fill(0);
            }
        }
        expected
    }

    /// The state that is expected where `found` is: a double that is turned has an entry of its own each time, with the same float and
    /// shadow.
    pub(super) fn as_turned(&self, found: &Snapshot) -> Snapshot {
        let mut expected = self.clone();
        let Some((table, tag)) = turned_doubles().zip(InPlace::TURNED) else { return expected };
        for at in (0..usize::from(state::VECTOR)).step_by(8) {
            let word = |row: &[u8]| number(&row[at..][..8]) as u64;
            let double = word(&found.values).rotate_right(TURN);
            let [old, new] = [&self.shadows, &found.shadows].map(|row| table.get(tag, double, word(row)));
            if old.is_some() && old == new {
                expected.shadows[at..][..8].copy_from_slice(&found.shadows[at..][..8]);
            }
        }
        expected
    }

    /// The state that is expected where `found` is and shadows are errors: one beside a long double that is quiet NaN is unknown,
    /// whatever sign and payload the processor gives it. They are those of an operand, by an order that only instructions have.
    pub(super) fn as_unknown(&self, found: &Snapshot) -> Snapshot {
        /// Bits that all quiet NaN have, and no other double.
        const QUIET: u64 = 0x7ff8 << 48;
        let is_quiet = |cell: &[u8]| {
            let number = number(&cell[2..10]) as u64;
            number & QUIET == QUIET && cell[..2] == cell[8..10]
        };
        let mut expected = self.clone();
        let x87 = usize::from(state::X87)..usize::from(state::BYTES);
        let cells = expected.shadows[x87.clone()].chunks_exact_mut(16);
        for (expected, found) in cells.zip(found.shadows[x87].chunks_exact(16)) {
            if is_quiet(expected) && is_quiet(found) {
                expected.copy_from_slice(found);
            }
        }
        expected
    }

    /// Pieces in which `found` is another, named.
    pub(super) fn differences(&self, found: &Snapshot) -> Vec<String> {
        let mut problems = Vec::new();
        let state = usize::from(state::SCRATCH);
        for (what, expected, found) in
            [("value", &self.values, &found.values), ("shadow", &self.shadows, &found.shadows)]
        {
            let pairs = expected.chunks(8).zip(found.chunks(8)).enumerate();
            for (n, (expected, found)) in pairs.filter(|(_, (expected, found))| expected != found) {
                let at = 8 * n;
                let place = match at {
                    _ if at < usize::from(state::VECTOR) => format!("register {n}"),
                    _ if at < usize::from(state::X87) => format!("xmm{}+{}", at / 64 - 2, at % 64),
                    _ if at < state => format!("x87 {}+{}", (at - usize::from(state::X87)) / 16, at % 16),
                    _ => format!("memory {:#x}", at - state),
                };
                problems.push(format!("{what} of {place} is {found:02x?}, not {expected:02x?}"));
            }
        }
        if self.flags != found.flags {
            problems.push(format!("flags are {:#x}, not {:#x}", found.flags, self.flags));
        }
        problems
    }
}
