//! The guest as a hook sees it: registers and memory of the thread that arrived at a function, and its shadows.
//!
//! A seam: hooks are written against it, and each tool provides it.

use shadowgrind_core::findings::Overwritten;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Location;

/// The guest named memory that it does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unmapped;

/// One guest thread, stopped between two instructions. Registers and shadows may be read and written.
pub(crate) trait Machine {
    /// General register by hardware number, 0 (rax) … 15 (r15).
    fn general(&self, register: usize) -> u64;
    /// Sets a general register; its shadow is cleared.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "client requests are answered elsewhere; tests set up machines by it")
    )]
    fn set_general(&mut self, register: usize, value: u64);
    /// The lowest 64 bytes of vector register `number`, 0 … 31.
    fn vector(&self, number: usize) -> [u8; 64];
    /// The x87 register `index` below the top: 80 bits, little endian.
    fn x87(&self, index: usize) -> [u8; 10];
    /// Present rounding modes of x87's instructions, and of all others.
    fn rounding(&self) -> [Rounding; 2];
    /// Tells whether it has raised the underflow exception, since it last cleared that.
    fn has_underflowed(&self) -> bool;
    /// Number of the physical x87 register on top.
    fn x87_top(&self) -> u8;
    /// Base address of FS: the thread pointer.
    fn thread_pointer(&self) -> u64;
    /// Fills `into` from guest memory.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unmapped>;
    /// Writes to guest memory; shadows stay as they are.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped>;
    /// Bytes of the mirror of guest memory, for shadows that keep one.
    fn read_mirror(&self, address: u64, into: &mut [u8]);
    /// Sets bytes of the mirror of guest memory.
    fn write_mirror(&mut self, address: u64, bytes: &[u8]);
    /// Overwrites the bytes of a float, in memory or in a register; its shadow stays as it is. Memory that is not there, or not
    /// to be written, is left.
    fn set_value(&mut self, location: Location, bytes: &[u8]);
    /// The bytes that are kept beside `bytes` bytes (at most 16) at `location`, as a little-endian number.
    fn cell(&mut self, location: Location, bytes: usize) -> u128;
    /// Sets the bytes that are kept beside `bytes` bytes (at most 16) at `location`.
    fn set_cell(&mut self, location: Location, bytes: usize, cell: u128);
    /// Has it noted whether these floats of memory, address and bytes, are read before they are overwritten. They are asked
    /// about as the group of this number.
    fn watch(&mut self, group: usize, floats: &[(u64, u64)]);
    /// Ends that; the groups of which floats were overwritten first.
    fn overwritten(&mut self) -> Vec<Overwritten>;
}

/// Reads a little-endian integer of `N` bytes.
pub(crate) fn read_bytes<const N: usize>(machine: &dyn Machine, address: u64) -> Result<[u8; N], Unmapped> {
    let mut bytes = [0; N];
    machine.read(address, &mut bytes)?;
    Ok(bytes)
}

/// Reads eight bytes as an integer.
pub(crate) fn read_u64(machine: &dyn Machine, address: u64) -> Result<u64, Unmapped> {
    read_bytes(machine, address).map(u64::from_le_bytes)
}
