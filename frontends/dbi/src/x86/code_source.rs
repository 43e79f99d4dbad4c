//! Guest code as bytes: who has them, with what is known of the code beside them, and one instruction decoded from them.
//!
//! Knows nothing of the instructions around it.

use super::function::Counted;
use super::insn::{Flow, Insn};
use super::rounding::Rounding;
use super::superblock::{Decision, End};
use iced_x86::{Decoder, DecoderOptions, Instruction};

/// Source of guest code.
pub(crate) trait CodeSource {
    /// Copies executable guest bytes from `pc` on into `window` and returns how many there were before the end of
    /// the buffer, of the mapping, or of what could be read.
    fn fetch(&mut self, pc: u64, window: &mut [u8]) -> usize;

    /// The `bytes` bytes of data, at most eight, at `address`; nothing if they cannot be read.
    fn data(&mut self, address: u64, bytes: usize) -> Option<u64>;

    /// The address that code at `pc` means by the rip-relative `address`: another one only in code that was moved
    /// away from its data.
    fn data_address(&self, pc: u64, address: u64) -> u64;

    /// Tells whether something is to happen before the instruction at `pc`.
    fn is_hooked(&self, pc: u64) -> bool;

    /// The function at `pc`, which is hooked, if counting it is all there is to do there.
    fn function(&self, pc: u64) -> Option<Counted>;

    /// Formats for which sums in the code at `pc` may round by a magic number.
    fn rounds(&self, pc: u64) -> Rounding;

    /// The comparison of floats at `pc`, if such are counted.
    fn comparison(&self, pc: u64) -> Option<Decision>;

    /// The rounding to whole numbers at `pc`, if such are counted.
    fn whole_numbers(&self, pc: u64) -> Option<Decision>;

    /// Tells whether GS addresses the mirror, so that the guest's uses of it are the engine's business.
    fn takes_gs(&self) -> bool;

    /// Tells whether client requests are answered.
    fn answers_requests(&self) -> bool;

    /// Tells whether bytes fetched so far are in memory that the guest may write.
    fn is_writable(&self) -> bool;
}

/// The instruction at `pc`; an invalid one if there is none.
pub(super) fn decode(source: &mut dyn CodeSource, pc: u64) -> Instruction {
    const LONGEST: usize = 15;
    let mut bytes = [0; LONGEST];
    let count = source.fetch(pc, &mut bytes);
    Decoder::with_ip(64, &bytes[..count], pc, DecoderOptions::NONE).decode()
}

/// A copy of guest bytes, so that decoding and copying see the same code even while it changes.
pub(super) struct Window {
    bytes: [u8; Window::SIZE],
    start: u64,
    len: usize,
}

impl Window {
    const SIZE: usize = 256;
    const LONGEST: usize = 15;

    pub(super) fn new() -> Self {
        Window { bytes: [0; Self::SIZE], start: 0, len: 0 }
    }

    /// The instruction at `pc`, or why there is none.
    pub(super) fn decode(&mut self, pc: u64, source: &mut dyn CodeSource) -> Result<Insn, End> {
        let offset = pc.wrapping_sub(self.start) as usize;
        if offset >= self.len || self.len - offset < Self::LONGEST {
            self.start = pc;
            self.len = source.fetch(pc, &mut self.bytes);
        }
        let offset = (pc - self.start) as usize;
        let available = &self.bytes[offset..self.len];
        if available.is_empty() {
            return Err(End::Unmapped { pc, address: pc });
        }
        let mut decoder = Decoder::with_ip(64, available, pc, DecoderOptions::NONE);
        let mut decoded = decoder.decode();
        if decoded.is_invalid() {
            let cut = available.len() < Self::LONGEST
                && decoder.last_error() == iced_x86::DecoderError::NoMoreBytes;
            let address = pc + available.len() as u64;
            return Err(if cut { End::Unmapped { pc, address } } else { End::Invalid(pc) });
        }
        let mut bytes = [0; 15];
        bytes[..decoded.len()].copy_from_slice(&available[..decoded.len()]);
        let mut displacement_at = 0;
        if decoded.is_ip_rel_memory_operand() {
            displacement_at = decoder.get_constant_offsets(&decoded).displacement_offset() as u8;
            let address = decoded.ip_rel_memory_address();
            decoded.set_memory_displacement64(source.data_address(pc, address));
        }
        Ok(Insn { decoded, bytes, displacement_at, flow: Flow::Straight })
    }
}

/// Code at a fixed address, for tests: nothing is hooked there, and GS is the guest's.
#[cfg(test)]
pub(crate) struct Bytes {
    pub(crate) start: u64,
    pub(crate) code: Vec<u8>,
}

#[cfg(test)]
impl CodeSource for Bytes {
    fn fetch(&mut self, pc: u64, window: &mut [u8]) -> usize {
        let rest = self.code.get((pc - self.start) as usize..).unwrap_or_default();
        let len = rest.len().min(window.len());
        window[..len].copy_from_slice(&rest[..len]);
        len
    }
    fn data(&mut self, address: u64, bytes: usize) -> Option<u64> {
        let mut data = [0; 8];
        (self.fetch(address, &mut data[..bytes]) == bytes).then(|| u64::from_le_bytes(data))
    }
    fn data_address(&self, _pc: u64, address: u64) -> u64 {
        address
    }
    fn is_hooked(&self, _pc: u64) -> bool {
        false
    }
    fn function(&self, _pc: u64) -> Option<Counted> {
        None
    }
    fn rounds(&self, _pc: u64) -> Rounding {
        Rounding::default()
    }
    fn comparison(&self, _pc: u64) -> Option<Decision> {
        None
    }
    fn whole_numbers(&self, _pc: u64) -> Option<Decision> {
        None
    }
    fn takes_gs(&self) -> bool {
        false
    }
    fn answers_requests(&self) -> bool {
        false
    }
    fn is_writable(&self) -> bool {
        false
    }
}
