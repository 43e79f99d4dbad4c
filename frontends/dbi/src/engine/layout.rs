//! The address space: who owns which range.
//!
//! One process holds guest and engine. Guest code and the code cache lie within ±2 GB of each other, so that
//! rip-relative operands and branch displacements stay 32 bits wide; guest data stays below [`GUEST_END`], so that
//! `address + PLANE` is the address of its mirror. Knows no mapping that exists, only where one may be put.

/// Size of a page, bytes.
pub(crate) const PAGE: u64 = 4096;

/// Start of the range of executables, libraries and the copy of the vDSO, placed first fit upwards.
pub(crate) const IMAGES_START: u64 = 0x1000_0000;
/// Start of the engine's own gigabyte: contexts, branch tables and translated code.
///
/// Below 2^31, because branch tables are indexed through an absolute, sign-extended 32-bit displacement.
pub(crate) const ENGINE_START: u64 = 0x4000_0000;
/// End of the engine's own gigabyte.
pub(crate) const ENGINE_END: u64 = 0x8000_0000;
/// End of the overflow range for executable mappings; the last address that a rip-relative operand reaches from all
/// of the engine's gigabyte.
pub(crate) const IMAGES_END: u64 = 0xc000_0000;
/// Lowest address given to data mappings that the guest leaves open.
pub(crate) const DATA_START: u64 = 0x1_0000_0000;
/// Start of the emulated `brk` heap of a program that is placed among the images.
pub(crate) const HEAP_START: u64 = 0x2_0000_0000;
/// The largest emulated `brk` heap, bytes.
const HEAP_LARGEST: u64 = 64 << 30;
/// End of the room that is kept for the heap of a program linked at low addresses, which begins right behind it.
const NEAR_HEAP_END: u64 = 0x3800_0000;
/// The smallest such room, bytes.
const NEAR_HEAP_SMALLEST: u64 = 64 << 20;
/// Data mappings are given out downwards from here.
pub(crate) const DATA_END: u64 = 0x1ff8_0000_0000;
/// One past the highest byte of the guest's initial stack.
pub(crate) const STACK_END: u64 = 0x1fff_ffff_f000;
/// The largest initial stack: as much as fits above the data, and some air between.
pub(crate) const STACK_LARGEST: u64 = 16 << 30;
/// One past the highest address a guest mapping may have.
pub(crate) const GUEST_END: u64 = 1 << 45;
/// One past the highest address of any program (Intel SDM vol. 1, 3.3.7.1, with four-level paging).
pub(crate) const CANONICAL_END: u64 = 1 << 47;

/// `address` rounded down to a page.
pub(crate) const fn page_floor(address: u64) -> u64 {
    address & !(PAGE - 1)
}

/// `address` rounded up to a page; wraps to 0 at the very top.
pub(crate) const fn page_ceil(address: u64) -> u64 {
    address.wrapping_add(PAGE - 1) & !(PAGE - 1)
}

/// The range that the emulated `brk` heap may grow into, given where a program ends that is linked at fixed addresses: from
/// there, as the kernel has it, unless too little room is left among the images and the engine.
pub(crate) fn heap(program_end: Option<u64>) -> (u64, u64) {
    match program_end {
        Some(end) if end + NEAR_HEAP_SMALLEST <= NEAR_HEAP_END => (end, NEAR_HEAP_END),
        Some(end) if end >= DATA_START => (end, end.saturating_add(HEAP_LARGEST).min(GUEST_END)),
        _ => (HEAP_START, HEAP_START + HEAP_LARGEST),
    }
}
