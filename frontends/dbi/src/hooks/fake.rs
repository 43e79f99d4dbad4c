//! A guest thread made up by a test: registers, memory and shadows that are just what the test put there.

use super::machine::{Machine, Unmapped};
use crate::x86::state;
use hashbrown::HashMap;
use shadowgrind_core::findings::Overwritten;
use shadowgrind_core::format::Format;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Location;

/// Guest thread made up by a test.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) general: [u64; 16],
    pub(crate) vector: HashMap<usize, [u8; 64]>,
    /// From the top down.
    pub(crate) x87: [[u8; 10]; 8],
    pub(crate) top: u8,
    pub(crate) thread_pointer: u64,
    memory: HashMap<u64, u8>,
    /// Mirror bytes beside memory and, by the first field, the thread's state.
    mirror: HashMap<(bool, u64), u8>,
}

pub(crate) const RSP: usize = 4;
pub(crate) const RDI: usize = 7;
pub(crate) const RSI: usize = 6;

impl Fake {
    /// A thread at the first instruction of a function that returns to `at`.
    pub(crate) fn called(at: u64) -> Fake {
        let mut fake = Fake::default();
        fake.general[RSP] = 0x7000_0000;
        fake.poke(0x7000_0000, &at.to_le_bytes());
        fake
    }

    /// The function returns.
    pub(crate) fn ret(&mut self) -> u64 {
        let mut at = [0; 8];
        self.read(self.general[RSP], &mut at).unwrap();
        self.general[RSP] += 8;
        u64::from_le_bytes(at)
    }

    /// Maps bytes.
    pub(crate) fn poke(&mut self, address: u64, bytes: &[u8]) {
        for (at, &byte) in (address..).zip(bytes) {
            self.memory.insert(at, byte);
        }
    }

    pub(crate) fn poke_words(&mut self, address: u64, words: &[u64]) {
        for (i, word) in words.iter().enumerate() {
            self.poke(address + 8 * i as u64, &word.to_le_bytes());
        }
    }

    pub(crate) fn set_vector(&mut self, register: usize, start: usize, bytes: &[u8]) {
        self.vector.entry(register).or_insert([0; 64])[start..start + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn set_double(&mut self, register: usize, x: f64) {
        self.set_vector(register, 0, &x.to_le_bytes());
    }

    /// Puts a number in place beside the lowest double of a register.
    pub(crate) fn set_double_shadow(&mut self, register: usize, number: f64) {
        self.set_cell(Location::State(state::vector(register)), 8, number.to_bits().into());
    }

    /// The number in place beside the float of `format` at `location`.
    pub(crate) fn shadow_at(&mut self, location: Location, format: Format) -> f64 {
        format.to_f64(self.cell(location, format.bytes()))
    }

    /// The number in place beside the double at `location`.
    pub(crate) fn double_shadow_at(&mut self, location: Location) -> f64 {
        self.shadow_at(location, Format::F64)
    }
}

/// The ten bytes of an 80-bit float.
pub(crate) fn f80(x: f64) -> [u8; 10] {
    let bits = Format::F80.from_f64(x).to_le_bytes();
    std::array::from_fn(|i| bits[i])
}

fn key(location: Location) -> (bool, u64) {
    match location {
        Location::State(at) => (true, at.into()),
        Location::Memory(at) => (false, at),
    }
}

impl Machine for Fake {
    fn general(&self, register: usize) -> u64 {
        self.general[register]
    }

    fn set_general(&mut self, register: usize, value: u64) {
        self.general[register] = value;
    }

    fn vector(&self, number: usize) -> [u8; 64] {
        self.vector.get(&number).copied().unwrap_or([0; 64])
    }

    fn x87(&self, index: usize) -> [u8; 10] {
        self.x87[index]
    }

    fn rounding(&self) -> [Rounding; 2] {
        [Rounding::NearestEven; 2]
    }

    fn has_underflowed(&self) -> bool {
        false
    }

    fn x87_top(&self) -> u8 {
        self.top
    }

    fn thread_pointer(&self) -> u64 {
        self.thread_pointer
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unmapped> {
        for (at, byte) in (address..).zip(into) {
            *byte = *self.memory.get(&at).ok_or(Unmapped)?;
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        if (address..).zip(bytes).any(|(at, _)| !self.memory.contains_key(&at)) {
            return Err(Unmapped);
        }
        self.poke(address, bytes);
        Ok(())
    }

    fn read_mirror(&self, address: u64, into: &mut [u8]) {
        for (at, byte) in (address..).zip(into) {
            *byte = self.mirror.get(&(false, at)).copied().unwrap_or(0);
        }
    }

    fn write_mirror(&mut self, address: u64, bytes: &[u8]) {
        for (at, &byte) in (address..).zip(bytes) {
            self.mirror.insert((false, at), byte);
        }
    }

    fn set_value(&mut self, location: Location, bytes: &[u8]) {
        match location {
            Location::Memory(address) => drop(self.write(address, bytes)),
            Location::State(at) => {
                let at = usize::from(at - state::VECTOR);
                self.set_vector(at / 64, at % 64, bytes);
            }
        }
    }

    fn cell(&mut self, location: Location, bytes: usize) -> u128 {
        let mut cell = [0; 16];
        for (at, byte) in (0..).zip(&mut cell[..bytes]) {
            *byte = self.mirror.get(&key(location.plus(at))).copied().unwrap_or(0);
        }
        u128::from_le_bytes(cell)
    }

    fn set_cell(&mut self, location: Location, bytes: usize, cell: u128) {
        for (at, &byte) in (0..).zip(&cell.to_le_bytes()[..bytes]) {
            self.mirror.insert(key(location.plus(at)), byte);
        }
    }

    fn watch(&mut self, _group: usize, _floats: &[(u64, u64)]) {}

    fn overwritten(&mut self) -> Vec<Overwritten> {
        Vec::new()
    }
}
