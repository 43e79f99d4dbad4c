//! Instructions that save or restore x87 and vector registers in memory: which bytes go where.
//!
//! That depends on the image itself (which components it has, in which format, what the top is), so the transfers are
//! worked out when the instruction has run, from the image's first bytes. Formats: Intel SDM vol. 1, chapter 13
//! (XSAVE), and tables 8-9 … 8-12 (FSAVE), 10-2 (FXSAVE).

use super::AddressRecipe;
use crate::x86::state;
use crate::x86::table::{Direction, Image};
use iced_x86::{Instruction, MemorySize};
use shadowgrind_core::shadow::Location;
use std::arch::x86_64::__cpuid_count;

/// An instruction that saves or restores registers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateOp {
    /// True if registers are written, not memory.
    pub(crate) restores: bool,
    /// Address of the memory image.
    pub(crate) image: AddressRecipe,
    format: ImageFormat,
}

/// Layout of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImageFormat {
    /// `fnsave`: an environment of so many bytes, then eight floats.
    Floats { environment: u16 },
    /// `fxsave`: x87 and xmm.
    Fixed,
    /// `xsave` and its kin: the components asked for, at the offsets that the header says.
    Components,
}

/// Facts that are known when the instruction has run.
pub(crate) struct ImageRun<'a> {
    /// Address of the image.
    pub(crate) address: u64,
    /// Physical x87 register on top before the instruction.
    pub(crate) top: u8,
    /// edx:eax: the components asked for.
    pub(crate) requested: u64,
    /// XCR0: the components there are.
    pub(crate) enabled: u64,
    /// The first [`StateOp::HEADER`] bytes of the image, or as many as there are: after a save, before a restore.
    pub(crate) header: &'a [u8],
}

/// Movement of shadows; in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// So many bytes move from the first place to the second.
    Copy(Location, Location, u16),
    /// So many bytes are no float.
    Clear(Location, u16),
}

const X87: u64 = 1 << 0;
const SSE: u64 = 1 << 1;
const AVX: u32 = 2;
const ZMM_HIGH: u32 = 6;
const ZMM_16: u32 = 7;
/// Bytes of x87's and SSE's part of an image, whose components have no offsets of their own.
const LEGACY: u16 = 512;
const COMPACT: u64 = 1 << 63;

impl StateOp {
    /// Bytes of an image that say how it is laid out.
    pub(crate) const HEADER: usize = 576;

    /// `insn`, which moves registers laid out as `layout` in `direction`, to or from the memory at `image`.
    pub(super) fn new(insn: &Instruction, layout: Image, direction: Direction, image: AddressRecipe) -> Self {
        let format = match layout {
            Image::Floats => {
                let short = insn.memory_size() == MemorySize::FpuState94;
                ImageFormat::Floats { environment: if short { 14 } else { 28 } }
            }
            Image::Fixed => ImageFormat::Fixed,
            Image::Components => ImageFormat::Components,
        };
        StateOp { restores: direction == Direction::Restore, image, format }
    }

    /// The bytes that move or are overwritten.
    pub(crate) fn transfers(&self, run: &ImageRun<'_>) -> Vec<Transfer> {
        let mut transfers = Transfers { op: self, run, list: Vec::new() };
        match self.format {
            ImageFormat::Floats { environment } => {
                transfers.clear_image(0, environment);
                let word = if environment == 14 { 2 } else { 4 };
                transfers.floats(environment, 10, word);
                if !self.restores {
                    transfers.list.push(Transfer::Clear(Location::State(state::X87), 8 * state::X87_BYTES));
                }
            }
            ImageFormat::Fixed => {
                transfers.clear_image(0, 416);
                transfers.floats(32, 16, 2);
                transfers.vectors(160, 0, 0..16, 16);
            }
            ImageFormat::Components => transfers.components(),
        }
        transfers.list
    }
}

struct Transfers<'a> {
    op: &'a StateOp,
    run: &'a ImageRun<'a>,
    list: Vec<Transfer>,
}

impl Transfers<'_> {
    /// Part of the image that is written, before what is copied there.
    fn clear_image(&mut self, at: u16, bytes: u16) {
        if !self.op.restores {
            self.list.push(Transfer::Clear(self.image(at), bytes));
        }
    }

    fn image(&self, at: u16) -> Location {
        Location::Memory(self.run.address + u64::from(at))
    }

    fn transfer(&mut self, state: u16, image: u16, bytes: u16) {
        let (state, image) = (Location::State(state), self.image(image));
        self.list.push(match self.op.restores {
            true => Transfer::Copy(image, state, bytes),
            false => Transfer::Copy(state, image, bytes),
        });
    }

    /// The x87 registers from the top down, `stride` bytes apart; the status word at `word` says what the top is.
    fn floats(&mut self, at: u16, stride: u16, word: usize) {
        let top = if self.op.restores { self.run.header[word + 1] >> 3 & 7 } else { self.run.top };
        for index in 0..8 {
            self.transfer(state::x87(top, index), at + stride * u16::from(index), 10);
        }
    }

    /// `bytes` of each of `registers`, from byte `from` of it.
    fn vectors(&mut self, at: u16, from: u16, registers: std::ops::Range<usize>, bytes: u16) {
        for (index, number) in registers.enumerate() {
            self.transfer(state::vector(number) + from, at + bytes * index as u16, bytes);
        }
    }

    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| self.run.header[at + i]))
    }

    fn components(&mut self) {
        let (present, format) = (self.word(512), self.word(520));
        let asked = self.run.requested & self.run.enabled;
        self.clear_image(LEGACY, 64);
        for number in 0..63 {
            let bit = 1 << number;
            if asked & bit == 0 {
                continue;
            }
            if present & bit != 0 {
                self.component(number, format);
            } else if self.op.restores {
                self.initial(number);
            }
        }
    }

    fn component(&mut self, number: u32, format: u64) {
        match 1 << number {
            X87 => {
                self.clear_image(0, 24);
                self.clear_image(32, 128);
                return self.floats(32, 16, 2);
            }
            SSE => {
                self.clear_image(24, 8);
                return self.vectors(160, 0, 0..16, 16);
            }
            _ => {}
        }
        let Some((at, bytes)) = place(number, format) else { return };
        self.clear_image(at, bytes);
        match number {
            AVX => self.vectors(at, 16, 0..16, 16),
            ZMM_HIGH => self.vectors(at, 32, 0..16, 32),
            ZMM_16 => self.vectors(at, 0, 16..32, 64),
            _ => {}
        }
    }

    /// A component that the image does not have gets its initial value, which is zero.
    fn initial(&mut self, number: u32) {
        let (registers, from, bytes) = match (1 << number, number) {
            (X87, _) => {
                return self.list.push(Transfer::Clear(Location::State(state::X87), 8 * state::X87_BYTES));
            }
            (SSE, _) => (0..16, 0, 16),
            (_, AVX) => (0..16, 16, 16),
            (_, ZMM_HIGH) => (0..16, 32, 32),
            (_, ZMM_16) => (16..32, 0, 64),
            _ => return,
        };
        for register in registers {
            self.list.push(Transfer::Clear(Location::State(state::vector(register) + from), bytes));
        }
    }
}

/// Offset and size of component `number`, from 2 on, in an image whose XCOMP_BV is `format`.
fn place(number: u32, format: u64) -> Option<(u16, u16)> {
    let size = |number: u32| __cpuid_count(0xd, number).eax;
    if format & COMPACT == 0 {
        return Some((__cpuid_count(0xd, number).ebx as u16, size(number) as u16));
    }
    let mut at = StateOp::HEADER as u32;
    for earlier in (2..=number).filter(|&earlier| format >> earlier & 1 != 0) {
        let aligned = __cpuid_count(0xd, earlier).ecx & 2 != 0;
        at = if aligned { at.next_multiple_of(64) } else { at };
        if earlier == number {
            return Some((at as u16, size(number) as u16));
        }
        at += size(earlier);
    }
    None
}
