//! Memory for the digits of reals: MPFR's numbers are allocated like everything else in the engine.
//!
//! The C library's `malloc` does not know of the engine's threads and would be used by several at once.

use gmp_mpfr_sys::gmp;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;

const ALIGNMENT: usize = 16;

/// Has GMP and MPFR use the engine's heap. Before the first number is made.
pub(super) fn use_engine_heap() {
    // SAFETY: no number exists yet, and the three functions belong together.
    unsafe { gmp::set_memory_functions(Some(allocate), Some(reallocate), Some(free)) };
}

/// The layout of a block; GMP never asks for nothing, but a block without size is allowed here.
fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), ALIGNMENT).expect("numbers are smaller than the address space")
}

extern "C" fn allocate(bytes: usize) -> *mut c_void {
    let layout = layout(bytes);
    // SAFETY: the size is not zero.
    let block = unsafe { alloc(layout) };
    if block.is_null() {
        handle_alloc_error(layout);
    }
    block.cast()
}

unsafe extern "C" fn reallocate(block: *mut c_void, old: usize, new: usize) -> *mut c_void {
    // SAFETY: GMP gives back what `allocate` gave, with the size it asked for.
    let block = unsafe { realloc(block.cast(), layout(old), new.max(1)) };
    if block.is_null() {
        handle_alloc_error(layout(new));
    }
    block.cast()
}

unsafe extern "C" fn free(block: *mut c_void, bytes: usize) {
    // SAFETY: GMP gives back what `allocate` gave, with the size it asked for.
    unsafe { dealloc(block.cast(), layout(bytes)) };
}
