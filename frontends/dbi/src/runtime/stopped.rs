//! A stopped thread as a machine that hooks read and change: its registers, its memory, and the cells beside both.
//!
//! Knows nothing of sessions.

use super::cells::MirrorCells;
use crate::context::Context;
use crate::engine::{first_touch, guest, planes};
use crate::hooks::machine::{Machine, Unmapped};
use crate::registers::{self, RegisterShadows};
use crate::x86::state;
use shadowgrind_core::findings::Overwritten;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Location;
use shadowgrind_core::words::Raw;

/// A stopped thread, as hooks see it.
pub(super) struct Stopped<'a> {
    pub(super) context: &'a mut Context,
    pub(super) in_registers: u8,
    /// True if there are cells: without a shadow there is no memory for them.
    pub(super) has_cells: bool,
    /// True once a shadow was set.
    pub(super) set: bool,
}

impl Stopped<'_> {
    pub(super) fn shadows(&mut self) -> RegisterShadows<'_> {
        RegisterShadows { context: self.context, in_registers: self.in_registers }
    }
}

impl Machine for Stopped<'_> {
    fn general(&self, register: usize) -> u64 {
        self.context.regs[register]
    }

    fn set_general(&mut self, register: usize, value: u64) {
        self.context.regs[register] = value;
        self.shadows().bytes(state::general(register), 8).fill(0);
    }

    fn vector(&self, number: usize) -> [u8; 64] {
        let mut bytes = [0; 64];
        registers::read_value(self.context, state::vector(number), &mut bytes);
        bytes
    }

    fn x87(&self, index: usize) -> [u8; 10] {
        let mut bytes = [0; 10];
        registers::read_value(self.context, state::x87(self.x87_top(), index as u8), &mut bytes);
        bytes
    }

    fn rounding(&self) -> [Rounding; 2] {
        registers::rounding(self.context)
    }

    fn has_underflowed(&self) -> bool {
        registers::has_underflowed(self.context)
    }

    fn x87_top(&self) -> u8 {
        registers::x87_top(self.context)
    }

    fn thread_pointer(&self) -> u64 {
        self.context.guest_fs
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unmapped> {
        if guest::read_some(address, into) == into.len() { Ok(()) } else { Err(Unmapped) }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        guest::write_bytes(address, bytes).map_err(|guest::Fault| Unmapped)
    }

    fn read_mirror(&self, address: u64, into: &mut [u8]) {
        planes::read(address, into);
    }

    fn write_mirror(&mut self, address: u64, bytes: &[u8]) {
        self.set |= bytes.iter().any(|&byte| byte != 0);
        planes::write(address, bytes);
    }

    fn set_value(&mut self, location: Location, bytes: &[u8]) {
        match location {
            Location::Memory(address) => drop(self.write(address, bytes)),
            Location::State(at) => registers::write_value(self.context, at, bytes),
        }
    }

    fn cell(&mut self, location: Location, bytes: usize) -> u128 {
        let mut cell = [0; 16];
        if !self.has_cells {
            return 0;
        }
        let mut registers = self.shadows();
        MirrorCells { registers: &mut registers, words: &mut Raw, turned: None }
            .read(location, &mut cell[..bytes]);
        u128::from_le_bytes(cell)
    }

    fn set_cell(&mut self, location: Location, bytes: usize, cell: u128) {
        if !self.has_cells {
            return;
        }
        self.set |= cell != 0;
        let mut registers = self.shadows();
        let mut cells = MirrorCells { registers: &mut registers, words: &mut Raw, turned: None };
        cells.write(location, &cell.to_le_bytes()[..bytes]);
    }

    fn watch(&mut self, group: usize, floats: &[(u64, u64)]) {
        if self.has_cells {
            first_touch::watch(group, floats);
        }
    }

    fn overwritten(&mut self) -> Vec<Overwritten> {
        first_touch::overwritten()
    }
}
