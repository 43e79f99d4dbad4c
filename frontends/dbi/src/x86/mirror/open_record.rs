//! The record that is being written, as far as the code that writes it has to know it: what is where in it, and what of a vector
//! register is in it already. Knows nothing of code.

use super::descriptor::BUFFER;
use crate::context::{STAGED_CELLS, STAGED_FLOATS};
use shadowgrind_core::appended::{HEAD, RESULTS};
use shadowgrind_core::format::Format;

/// Most bytes of cells, of floats, and most results of one instruction on registers of so many bytes.
const fn most(register: u16) -> [u16; 3] {
    [3 * register, 4 * register, register / Format::F32.bytes() as u16]
}
/// Most bytes that are copied at once.
const PIECE: u8 = 32;

/// Bytes that were written down: the first one's offset, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) at: u16,
    pub(super) bytes: u8,
}

/// Results of the record that are in a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    /// Place of the first one among the numbers of the record.
    pub(super) number: u16,
    pub(super) lanes: u8,
    pub(super) format: Format,
}

/// Parts of a vector register that the record has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) results: Option<Results>,
    pub(super) cells: Option<Field>,
    pub(super) x: Option<Field>,
}

impl Known {
    /// As much of it as the low `bytes` of the register are.
    pub(super) fn low(self, bytes: u8) -> Known {
        let low = |field: Field| Field { bytes: field.bytes.min(bytes), ..field };
        let results = self.results.map(|results| {
            let lanes = results.lanes.min(bytes / results.format.bytes() as u8);
            Results { lanes, ..results }
        });
        Known { results, cells: self.cells.map(low), x: self.x.map(low) }
    }
}

/// The record that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenRecord {
    /// The descriptor of its last instruction.
    pub(super) last: Option<u32>,
    /// Bytes of cells and of floats, and results, so far.
    pub(super) cells: u16,
    pub(super) floats: u16,
    pub(super) numbers: u16,
    /// Cells, and floats, that were written down each in one piece.
    pub(super) pieces: [Vec<Field>; 2],
    /// Of vector registers, and of physical registers of x87.
    pub(super) known: [Known; 32],
    pub(super) known_x87: [Known; 8],
    /// The register that the present instruction has put results in.
    pub(super) fresh: Option<u8>,
}

impl OpenRecord {
    /// Bytes of the record.
    pub(super) fn bytes(&self) -> u16 {
        HEAD + self.cells.next_multiple_of(8) + self.floats
    }

    /// Tells whether it may not have room for what one more instruction on registers of so many bytes writes down, or may have more
    /// results than bytes then.
    pub(super) fn is_full(&self, register: u16) -> bool {
        let [cells, floats, results] = most(register);
        self.numbers + results > self.bytes()
            || self.cells + cells > STAGED_CELLS as u16
            || self.floats + floats > STAGED_FLOATS as u16
            || self.numbers + results > RESULTS as u16
    }

    /// Tells whether a buffer of which a block has used so many bytes has room for the record with one more such instruction.
    pub(super) fn has_room(&self, used: u64, register: u16) -> bool {
        let [cells, floats, _] = most(register);
        used + u64::from(self.bytes() + cells + floats) <= BUFFER
    }
}

impl Field {
    /// The pieces that it is copied in.
    pub(super) fn pieces(self) -> impl Iterator<Item = Field> {
        let each = move |at: u8| Field { at: self.at + u16::from(at), bytes: (self.bytes - at).min(PIECE) };
        (0..self.bytes).step_by(PIECE.into()).map(each)
    }
}
