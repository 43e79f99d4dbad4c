//! Thread-local storage of the engine's own threads: the static TLS block and control block that a C library thread
//! would have, made by hand.
//!
//! Guest threads are raw kernel threads, so that the kernel itself sets and clears their identifiers, walks their
//! robust lists and reports their exit. The Rust and C code of a static program reaches its thread-locals at fixed
//! offsets below FS (ELF TLS variant II), initialised from the program's PT_TLS segment; above FS it expects its own
//! address and the stack protector's canary. That is all that is provided, and `check` verifies it.

use super::sys;
use std::cell::Cell;

thread_local! {
    /// A known value in the initial image, to verify a block made by hand.
    static MARKER: Cell<u64> = const { Cell::new(MARKER_VALUE) };
}

const MARKER_VALUE: u64 = 0x7368_6164_6f77_746c;

/// Room for the C library's thread descriptor, which begins at FS; more than any version so far has needed.
const DESCRIPTOR_BYTES: u64 = 8192;
/// Words at the head of the descriptor that are the same in all threads: stack canary and pointer guard.
const SHARED_WORDS: [u64; 2] = [0x28, 0x30];

/// The program's PT_TLS segment as loaded.
#[derive(Clone, Copy, Debug)]
struct Segment {
    image: u64,
    image_bytes: u64,
    memory_bytes: u64,
    align: u64,
}

/// Bytes that [`build`] needs.
pub(crate) fn bytes_needed() -> u64 {
    let segment = segment();
    segment.memory_bytes.next_multiple_of(segment.align) + segment.align + DESCRIPTOR_BYTES
}

/// Builds a block in zeroed memory at `start` and returns the FS base for it.
///
/// # Safety
/// `start` must begin [`bytes_needed`] bytes of memory that nobody else uses.
pub(crate) unsafe fn build(start: u64) -> u64 {
    let segment = segment();
    let size = segment.memory_bytes.next_multiple_of(segment.align);
    let fs = (start + size).next_multiple_of(segment.align.max(64));
    // SAFETY: the image is mapped for the life of the process; the block lies inside the caller's memory.
    unsafe {
        std::ptr::copy_nonoverlapping(
            segment.image as *const u8,
            (fs - size) as *mut u8,
            segment.image_bytes as usize,
        );
    }
    let own = sys::fs_base();
    for offset in SHARED_WORDS {
        // SAFETY: the descriptor is longer than these offsets.
        let word = unsafe { ((own + offset) as *const u64).read() };
        // SAFETY: so is the new one, which nobody else knows yet.
        unsafe { ((fs + offset) as *mut u64).write(word) };
    }
    // The control block's address, where the ABI and where the C library wants it.
    for offset in [0, 0x10] {
        // SAFETY: as above.
        unsafe { ((fs + offset) as *mut u64).write(fs) };
    }
    check(own, fs);
    fs
}

/// Panics unless the block at `fs` is laid out like the calling thread's, `own`.
fn check(own: u64, fs: u64) {
    let offset = MARKER.with(|marker| std::ptr::from_ref(marker) as u64).wrapping_sub(own);
    // SAFETY: the address lies in the block just built if the layout is as assumed, and in the engine's memory anyway.
    let copied = unsafe { (fs.wrapping_add(offset) as *const u64).read() };
    assert_eq!(copied, MARKER_VALUE, "thread-local storage is laid out as assumed");
}

fn segment() -> Segment {
    const PT_LOAD: u32 = 1;
    const PT_TLS: u32 = 7;
    // SAFETY: reads the process's own auxiliary vector.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
    // SAFETY: as above.
    let count = unsafe { libc::getauxval(libc::AT_PHNUM) };
    // SAFETY: the kernel passes the address and number of the loaded program's own headers.
    let headers_slice =
        unsafe { std::slice::from_raw_parts(headers as *const libc::Elf64_Phdr, count as usize) };
    let first = headers_slice.iter().find(|p| p.p_type == PT_LOAD).map_or(0, |p| p.p_vaddr);
    // The headers are on the first page of the first segment.
    let bias = super::layout::page_floor(headers).wrapping_sub(super::layout::page_floor(first));
    headers_slice.iter().find(|p| p.p_type == PT_TLS).map_or(
        Segment { image: 0, image_bytes: 0, memory_bytes: 0, align: 64 },
        |tls| Segment {
            image: bias.wrapping_add(tls.p_vaddr),
            image_bytes: tls.p_filesz,
            memory_bytes: tls.p_memsz,
            align: tls.p_align.max(1),
        },
    )
}
