//! The mirror plane's memory: where it lies, and how it is mapped.
//!
//! Mapped whole and without reservation, so untouched memory costs nothing and reads as zero: no shadow. Knows neither what the bytes
//! mean nor who shares them.

use super::layout::{GUEST_END, PAGE};
use super::sys;
use crate::x86::vector::MIRROR_SHIFT;

/// Distance from a guest address to its mirror.
///
/// Not a power of two: processors predict the way of their first-level cache from a hash of some lower address bits (on
/// AMD's, 12 to 27), and what has the same hash throws the other out. Float and shadow would, at each use.
pub(crate) const PLANE: u64 = GUEST_END + 0x15_7000;

/// GS's base in translated code, where operands that mean the mirror have their displacements shifted.
pub(crate) const GS_BASE: u64 = PLANE - MIRROR_SHIFT as u64;

/// Maps the plane, or fails with an errno.
///
/// As memory that grows downwards, it is no data by the kernel's count: `RLIMIT_DATA` is about the guest's own. It has no room
/// to grow.
pub(crate) fn map() -> Result<(), i32> {
    sys::map_at(GUEST_END, PLANE - PAGE - GUEST_END, libc::PROT_NONE)?;
    // One page more: where an address of 32 bits ends, the shift makes it begin again, a little below the plane.
    map_from(PLANE - PAGE, PAGE + GUEST_END, libc::MAP_FIXED_NOREPLACE)
}

/// Makes the mirror of a guest range private, empty memory.
pub(super) fn map_private(start: u64, end: u64) {
    // Without memory for another mapping it stays what it is; a core dump tells nothing else.
    let _ = map_from(PLANE + start, end - start, libc::MAP_FIXED);
}

fn map_from(start: u64, len: u64, fixed: i32) -> Result<(), i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_GROWSDOWN | fixed;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: NOREPLACE refuses to touch existing mappings, and what is replaced otherwise lies in the plane, which holds no
    // Rust object.
    let got = unsafe { sys::mmap(start, len, access, flags, -1, 0) }?;
    if got != start {
        return Err(libc::EEXIST);
    }
    // SAFETY: the plane holds no Rust object. A core dump of it would be as large as the address space.
    unsafe { sys::syscall(libc::SYS_madvise as u64, [start, len, libc::MADV_DONTDUMP as u64, 0, 0, 0]) };
    Ok(())
}

/// Tells whether the guest range has a mirror.
pub(crate) fn has(address: u64, len: u64) -> bool {
    address.checked_add(len).is_some_and(|end| end <= GUEST_END)
}
