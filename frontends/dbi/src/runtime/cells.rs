//! The mirror as cells of a shadow: registers of one stopped thread, and memory.

use crate::engine::planes;
use crate::registers::RegisterShadows;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Cells, Location};
use shadowgrind_core::step::{NO_SOURCE, SECOND_SOURCE};
use shadowgrind_core::turned::{self, Turned};
use shadowgrind_core::words::Words;

/// Cells of one stopped thread's registers and of memory.
pub(crate) struct MirrorCells<'a, 'b, W> {
    pub(crate) registers: &'a mut RegisterShadows<'b>,
    pub(crate) words: &'a mut W,
    /// Doubles that are turned; nothing where they are not followed.
    pub(crate) turned: Option<Turned>,
}

/// Mark for the lower part of a float.
const REST: u8 = 1;
/// The widest thing that moves at once: a vector register.
const WIDEST: usize = 64;

impl<W> MirrorCells<'_, '_, W> {
    pub(crate) fn read(&mut self, location: Location, into: &mut [u8]) {
        match location {
            Location::State(at) => into.copy_from_slice(self.registers.bytes(at, into.len())),
            Location::Memory(address) => planes::read(address, into),
        }
    }

    /// The cell of eight bytes at `location`.
    fn word(&mut self, location: Location) -> u64 {
        let mut cell = [0; 8];
        self.read(location, &mut cell);
        u64::from_le_bytes(cell)
    }

    pub(crate) fn write(&mut self, location: Location, bytes: &[u8]) {
        match location {
            Location::State(at) => self.registers.bytes(at, bytes.len()).copy_from_slice(bytes),
            Location::Memory(address) => planes::write(address, bytes),
        }
    }
}

impl<W: Words> Cells<W::Value> for MirrorCells<'_, '_, W> {
    fn get(&mut self, location: Location, format: Format, bits: u128) -> Option<W::Value> {
        let mut cell = [0; 16];
        self.read(location, &mut cell[..format.bytes()]);
        let cell = u128::from_le_bytes(cell);
        if cell == 0 { None } else { self.words.decode(format, cell, bits) }
    }

    fn is_double(&mut self, location: Location, bits: u128) -> bool {
        let mut cell = [0; 8];
        self.read(location, &mut cell);
        let cell = u64::from_le_bytes(cell);
        cell != 0 && self.words.is_double(cell.into(), bits)
    }

    fn is_upper_half(&mut self, location: Location) -> Option<bool> {
        let mut half = [0; 4];
        self.read(location, &mut half);
        W::is_upper_half(u32::from_le_bytes(half))
    }

    fn may_be_in_place(&mut self, location: Location, format: Format, bits: u128) -> bool {
        W::ENDS_TELL || !W::BYTEWISE || format != Format::F64 || self.is_double(location, bits)
    }

    fn is_extended(&mut self, location: Location) -> bool {
        let mut cell = [0; 16];
        self.read(location, &mut cell[..Format::F80.bytes()]);
        self.words.is_extended(u128::from_le_bytes(cell))
    }

    fn recognised(&mut self, location: Location, format: Format, bits: u128) -> Option<W::Value> {
        if W::BYTEWISE { None } else { self.get(location, format, bits) }
    }

    fn recognised_scaled(
        &mut self,
        location: Location,
        format: Format,
        bits: u128,
    ) -> Option<(W::Value, (bool, i32))> {
        let cell = self.word(location);
        if cell == 0 { None } else { self.words.decode_scaled(format, cell.into(), bits) }
    }

    fn is_turned(&mut self, location: Location, bytes: usize, word: u64) -> bool {
        const SIGN: u64 = 1 << 63;
        let mut cell = [0; 8];
        self.read(location, &mut cell[..bytes]);
        let cell = u64::from_le_bytes(cell);
        if cell == 0 || self.turned.is_none() {
            return false;
        }
        match (W::TURNED, bytes) {
            (Some(tag), 8) => tag.is_in(cell),
            (Some(tag), _) => tag.is_in_lower(cell as u32),
            (None, 8) => {
                let double = self.words.double(cell);
                // Of zeros the word is the same in both forms: that is the float.
                let is_float = |x: u64| (x ^ word) & !SIGN == 0;
                double.is_some_and(|x| {
                    !is_float(x) && (turned::is_turned(x, word) || turned::is_turned(x ^ SIGN, word))
                })
            }
            (None, _) => false,
        }
    }

    fn turn(&mut self, from: Location, to: Location, bits: u64) -> bool {
        let cell = self.word(from);
        let (Some(table), true) = (self.turned, cell != 0) else { return false };
        let turned = W::TURNED.map_or(cell, |tag| table.insert(tag, bits, cell));
        self.write(to, &turned.to_le_bytes());
        true
    }

    fn turn_back(&mut self, from: Location, to: Location, bits: u64) -> bool {
        let cell = self.word(from);
        let before = match (W::TURNED, self.turned) {
            (Some(tag), Some(table)) => table.get(tag, bits, cell),
            _ => self.words.decode(Format::F64, cell.into(), bits.into()).map(|_| cell),
        };
        let Some(before) = before else { return false };
        self.write(to, &before.to_le_bytes());
        true
    }

    fn set(&mut self, location: Location, format: Format, bits: u128, shadow: Option<W::Value>) {
        let cell = shadow.map_or(0, |shadow| self.words.encode(format, bits, shadow));
        self.write(location, &cell.to_le_bytes()[..format.bytes()]);
    }

    fn leave_trace(&mut self, from: &[(Location, usize)], to: &[(Location, usize)]) {
        let traces = from.iter().map(|&(from, bytes)| {
            let mut cell = [0; 16];
            self.read(from, &mut cell[..bytes]);
            let cell = u128::from_le_bytes(cell);
            if cell == 0 { None } else { self.words.trace(cell, bytes) }
        });
        // Traces count down.
        let trace = traces.max().flatten().unwrap_or(0);
        to.iter().for_each(|&(to, bytes)| self.write(to, &trace.to_le_bytes()[..bytes]));
    }

    fn is_trace(&mut self, location: Location, bytes: usize) -> bool {
        let mut cell = [0; 16];
        self.read(location, &mut cell[..bytes]);
        self.words.is_trace(u128::from_le_bytes(cell), bytes)
    }

    fn permute(&mut self, from: [Location; 2], to: Location, map: &[u8]) {
        let mut sources = [[0; WIDEST]; 2];
        let reach = |second: bool| {
            let first = if second { SECOND_SOURCE } else { 0 };
            let indices = map.iter().filter(|&&i| i != NO_SOURCE && (i >= SECOND_SOURCE) == second);
            indices.map(|&i| usize::from(i - first) + 1).max().unwrap_or(0)
        };
        for (second, location) in [(false, from[0]), (true, from[1])] {
            let bytes = reach(second);
            self.read(location, &mut sources[usize::from(second)][..bytes]);
        }
        let result: Vec<u8> = map
            .iter()
            .map(|&i| match i {
                NO_SOURCE => 0,
                i if i >= SECOND_SOURCE => sources[1][usize::from(i - SECOND_SOURCE)],
                i => sources[0][usize::from(i)],
            })
            .collect();
        self.write(to, &result);
    }

    fn combine(&mut self, from: [Location; 2], to: Location, bytes: usize) {
        let mut sources = [[0; WIDEST]; 2];
        for (source, location) in sources.iter_mut().zip(from) {
            self.read(location, &mut source[..bytes]);
        }
        let result: [u8; WIDEST] = std::array::from_fn(|i| sources[0][i] ^ sources[1][i]);
        self.write(to, &result[..bytes]);
    }

    fn carries(&mut self, location: Location, bytes: usize) -> u8 {
        let mask = self.content(location, bytes);
        if W::BYTEWISE || mask == 0 { mask } else { u8::MAX }
    }

    fn content(&mut self, location: Location, bytes: usize) -> u8 {
        let mut cell = [0; 8];
        self.read(location, &mut cell[..bytes]);
        cell.iter().enumerate().fold(0, |mask, (i, &byte)| mask | u8::from(byte != 0) << i)
    }

    fn is_any(&mut self, location: Location, bytes: usize) -> bool {
        let mut cell = [0; 8];
        self.read(location, &mut cell[..bytes]);
        let words = cell.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
        words.into_iter().any(|word| word != 0 && self.words.is_any(word))
    }

    fn change_end(&mut self, from: Location, to: Location, bytes: usize, change: (bool, i32)) {
        let mut cell = [0; 4];
        self.read(from, &mut cell[..bytes]);
        let end = W::changed_end(u32::from_le_bytes(cell), bytes, change);
        self.write(to, &end.unwrap_or(0).to_le_bytes()[..bytes]);
    }

    fn turn_sign(&mut self, location: Location, format: Format) {
        if W::BYTEWISE && self.carries(location, format.bytes()) != 0 {
            let last = location.plus(format.bytes() as u64 - 1);
            self.change_end(last, last, 1, (true, 0));
        }
    }

    fn copy(&mut self, from: Location, to: Location, bytes: usize) {
        if let (Location::Memory(from), Location::Memory(to)) = (from, to) {
            return planes::copy(from, to, bytes as u64);
        }
        let mut buffer = [0; WIDEST];
        self.read(from, &mut buffer[..bytes]);
        self.write(to, &buffer[..bytes]);
    }

    /// By the least number there is: whoever takes it for a part of one hardly notices.
    fn mark_rest(&mut self, location: Location) {
        if W::BYTEWISE {
            self.write(location, &[REST]);
        }
    }

    fn mend(&mut self, location: Location) -> bool {
        let mut cell = [0; 16];
        self.read(location, &mut cell[..Format::F80.bytes()]);
        if self.words.is_without_end(u128::from_le_bytes(cell)) {
            self.clear(location, Format::F80.bytes());
            return false;
        }
        let ends = [[cell[0], cell[1]], [cell[8], cell[9]]];
        if !W::ENDS_TWICE || ends[0] == ends[1] {
            return true;
        }
        if ends[0] == [0; 2] {
            // The last digits are others: it is rounded.
            self.write(location, &ends[1]);
            return true;
        }
        let number = self.words.decode(Format::F80, u128::from_le_bytes(cell), 0);
        let is_any = number.is_some();
        self.set(location, Format::F80, 0, number);
        is_any
    }

    fn unmark_rest(&mut self, location: Location, bytes: usize) {
        /// Bytes of sign and exponent.
        const END: usize = 2;
        let mut cell = [0; 8];
        self.read(location, &mut cell[..bytes + END]);
        let is_marked = cell[0] == REST && cell[1..bytes].iter().all(|&byte| byte == 0);
        if W::BYTEWISE && is_marked && cell[bytes..] != [0; 8][bytes..] {
            self.write(location, &[0]);
        }
    }

    fn clear(&mut self, location: Location, bytes: usize) {
        match location {
            Location::State(at) => self.registers.bytes(at, bytes).fill(0),
            Location::Memory(address) => planes::clear(address, bytes as u64),
        }
    }
}
