//! The engine's heap: Rust's global allocator for the whole tool.
//!
//! The C library's `malloc` is avoided for two reasons: it keeps state in thread-local storage that the engine's own
//! threads lack, and a thread that holds its lock while another forks leaves the child dead. Here the one lock can
//! be held across a fork ([`hold_for_fork`]).

use super::lock::Lock;
use dlmalloc::Dlmalloc;
use std::alloc::{GlobalAlloc, Layout};

/// Pages from the kernel, above the guest's range.
struct Pages;

// SAFETY: `alloc` returns memory nobody else has; nothing is ever merged with foreign memory.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        match super::sys::map_anywhere(size as u64, libc::PROT_READ | libc::PROT_WRITE) {
            Ok(at) => (at as *mut u8, size, 0),
            Err(_) => (std::ptr::null_mut(), 0, 0),
        }
    }
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }
    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }
    fn free(&self, at: *mut u8, size: usize) -> bool {
        // SAFETY: the range came from `alloc` and the allocator gives it up.
        let result =
            unsafe { super::sys::syscall(libc::SYS_munmap as u64, [at as u64, size as u64, 0, 0, 0, 0]) };
        result == 0
    }
    fn can_release_part(&self, _: u32) -> bool {
        false
    }
    fn allocates_zeros(&self) -> bool {
        true
    }
    fn page_size(&self) -> usize {
        super::layout::PAGE as usize
    }
}

static HEAP: Lock<Dlmalloc<Pages>> = Lock::new(Dlmalloc::new_with_allocator(Pages));

/// Keeps every other thread out of the heap, so that a child forked meanwhile finds it whole.
pub(crate) fn hold_for_fork() -> impl Sized {
    HEAP.lock()
}

/// Rust's allocator in a process that contains an engine.
pub struct EngineHeap;

// SAFETY: every call is forwarded, under the lock, to an allocator that fulfils the same contract.
unsafe impl GlobalAlloc for EngineHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout's size is non-zero by this method's own contract.
        unsafe { HEAP.lock().malloc(layout.size(), layout.align()) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        unsafe { HEAP.lock().calloc(layout.size(), layout.align()) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from this allocator with this layout, by contract.
        unsafe { HEAP.lock().free(at, layout.size(), layout.align()) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`, and `new_size` is non-zero by contract.
        unsafe { HEAP.lock().realloc(at, layout.size(), layout.align(), new_size) }
    }
}
