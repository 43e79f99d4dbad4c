//! Layout of a sequence's address space, natively and under the tool alike.
//!
//! All addresses are fixed, so that pointers, return addresses and fault addresses can be compared as they are. The
//! tool keeps guests below 2^45 and wants 1 … 2 GB for itself; natively all of these ranges are free.

use super::rng::Rng;

pub const FILL: u64 = 1;
pub const HASH: u64 = 2;
pub const READ_ONLY: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub name: &'static str,
    pub addr: u64,
    pub size: u64,
    pub flags: u64,
}

impl Region {
    pub const fn end(&self) -> u64 {
        self.addr + self.size
    }
}

const fn data(name: &'static str, addr: u64, size: u64) -> Region {
    Region { name, addr, size, flags: FILL | HASH }
}

/// Read-only; its first word is where a sequence jumps to when it is done.
pub const EXIT: Region = Region { name: "exit", addr: 0x3bff_0000, size: 0x1000, flags: HASH | READ_ONLY };
/// Below 2 GB: absolute and rip-relative operands reach it from low code.
pub const NEAR: Region = data("near", 0x3c00_0000, 0x2000);
/// About 3 GB: only a 32-bit address or a register reaches it.
pub const LOW: Region = data("3G", 0xc100_0000, 0x2000);
pub const FAR: Region = data("2^43", 0x0800_0000_0000, 0x2000);
pub const STACK: Region = data("stack", 0x0500_0000_0000, 0x4000);
pub const FS_BLOCK: Region = data("fs", 0x0600_0000_0000, 0x1000);
pub const GS_BLOCK: Region = data("gs", 0x0610_0000_0000, 0x1000);
/// Within reach of rip-relative operands in high code.
pub const HIGH_NEAR: Region = data("high", 0x0300_4000_0000, 0x2000);

pub const REGIONS: [Region; 8] = [EXIT, NEAR, LOW, FAR, STACK, FS_BLOCK, GS_BLOCK, HIGH_NEAR];

/// Like a thread pointer: in the middle, since TLS offsets are negative.
pub const FS_BASE: u64 = FS_BLOCK.addr + 0x800;
pub const GS_BASE: u64 = GS_BLOCK.addr + 0x800;

/// Room for pushes on one side, for pops and `[rsp+n]` on the other; above it stack frames of pretended callers.
pub const STACK_TOP: u64 = STACK.addr + 0x2000;
pub const FRAMES: (u64, u64) = (STACK.addr + 0x3000, STACK.addr + 0x4000);

/// Never mapped, and adjacent to nothing.
pub const UNMAPPED: u64 = 0x0700_0000_0000;
/// Second mapping of the code for the mode that writes through an alias.
pub const ALIAS_BASE: u64 = 0x0480_0000_0000;

/// Place of code, which decides what rip-relative operands reach and how the engine has to treat them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the first gigabyte, where the tool puts code itself.
    Low,
    /// Between 2 and 3 GB: near in the guest's eyes, not always within reach of translated code.
    Middle,
    /// Far from everything the tool translates into.
    High,
}

impl Place {
    pub const ALL: [Place; 3] = [Place::Low, Place::Middle, Place::High];

    pub fn code_base(self) -> u64 {
        match self {
            Place::Low => 0x3000_0000,
            Place::Middle => 0x9000_0000,
            Place::High => 0x0300_0000_0000,
        }
    }

    /// Data that rip-relative operands of code here reach.
    pub fn reachable(self) -> &'static [Region] {
        match self {
            Place::Low => &[NEAR],
            Place::Middle => &[NEAR, LOW],
            Place::High => &[HIGH_NEAR],
        }
    }
}

/// A stretch of memory that operands may be aimed at.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub start: u64,
    pub end: u64,
}

/// Distance kept from both ends of a window: registers used as index or bit offset may shift an operand a little.
const MARGIN: u64 = 0x80;

impl Window {
    pub const fn of(r: Region) -> Window {
        Window { start: r.addr, end: r.addr + r.size }
    }

    /// An address for `size` bytes.
    pub fn aim(&self, rng: &mut Rng, size: u64, align: u64) -> u64 {
        let room = self.end - self.start - 2 * MARGIN - size;
        // Most accesses share a few lines, so that sequences read what they wrote.
        let offset = if rng.one_in(2) { rng.below(room.min(0x180)) } else { rng.below(room) };
        (self.start + MARGIN + offset) & !(align - 1)
    }
}

/// Windows that a pointer register may point into.
pub fn pointer_windows() -> [Window; 5] {
    let frames = Window { start: FRAMES.0, end: FRAMES.1 };
    [Window::of(NEAR), Window::of(LOW), Window::of(FAR), Window::of(HIGH_NEAR), frames]
}
