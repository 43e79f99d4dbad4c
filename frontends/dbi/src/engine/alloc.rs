//! The engine's heap: Rust's global allocator for the whole tool.
//!
//! The C library's `malloc` is avoided for two reasons: it does not know of the engine's own threads and leaves out its
//! locks, and a thread that holds its lock while another forks leaves the child dead. Here the one lock can
//! be held across a fork ([`hold_for_fork`]).

use super::lock::Lock;
use dlmalloc::Dlmalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

/// Pages from the kernel, above the guest's range. Some are kept back, untouched, for when the guest has used up its address
/// space or the number of mappings that a process may have: the engine needs memory to tell it so.
struct Pages {
    /// Address and size of what is kept back.
    reserve: Cell<(u64, u64)>,
}

impl Pages {
    const RESERVE_BYTES: u64 = 16 << 20;

    /// Memory in small pages, which a virtual machine hands out again when others have had them. Huge ones are mostly new to
    /// its host as well, and then take three to six times as long for each byte as all faults on small ones.
    fn map(size: u64) -> Option<u64> {
        super::sys::map_anywhere(size, libc::PROT_READ | libc::PROT_WRITE).ok()
    }

    /// Pages from the kernel. Sees to the reserve as long as there are any.
    fn fresh(&self, size: u64) -> Option<u64> {
        let fresh = Self::map(size)?;
        if self.reserve.get().1 < Self::RESERVE_BYTES / 2
            && let Some(reserve) = Self::map(Self::RESERVE_BYTES)
        {
            self.reserve.set((reserve, Self::RESERVE_BYTES));
        }
        Some(fresh)
    }

    /// Pages of the reserve.
    fn kept(&self, size: u64) -> Option<u64> {
        let (at, rest) = self.reserve.get();
        self.reserve.set((at + size, rest.checked_sub(size)?));
        Some(at)
    }
}

// SAFETY: `alloc` returns memory nobody else has; nothing is ever merged with foreign memory.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        match self.fresh(size as u64).or_else(|| self.kept(size as u64)) {
            Some(at) => (at as *mut u8, size, 0),
            None => (std::ptr::null_mut(), 0, 0),
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

static HEAP: Lock<Dlmalloc<Pages>> =
    Lock::new(Dlmalloc::new_with_allocator(Pages { reserve: Cell::new((0, 0)) }));

/// Keeps every other thread out of the heap, so that a child forked meanwhile finds it whole.
pub(crate) fn hold_for_fork() -> impl Sized {
    HEAP.lock()
}

/// Small blocks come in classes of this many bytes more each.
const CLASS_BYTES: usize = 16;
/// Classes there are: blocks of up to one KiB.
const CLASSES: usize = 64;
/// Blocks of a class that a thread keeps for itself; what it frees beyond goes back to all.
const KEPT: u32 = 4096;

/// A block that a thread keeps: it holds the next one's address.
#[derive(Clone, Copy)]
struct Spare {
    next: *mut Spare,
}

/// The blocks of one class that a thread keeps.
struct Kept {
    first: Cell<*mut Spare>,
    count: Cell<u32>,
}

thread_local! {
    /// Spare memory of this thread, by class. Nothing of it is ever dropped: the engine's threads have no destructors,
    /// and a later thread on the same carrier goes on with it.
    static SPARES: [Kept; CLASSES] =
        const { [const { Kept { first: Cell::new(std::ptr::null_mut()), count: Cell::new(0) } }; CLASSES] };
}

/// The class of a layout, if it is small.
fn class(layout: Layout) -> Option<usize> {
    let small = layout.align() <= CLASS_BYTES && layout.size() <= CLASSES * CLASS_BYTES && layout.size() > 0;
    small.then(|| (layout.size() - 1) / CLASS_BYTES)
}

fn class_bytes(class: usize) -> usize {
    (class + 1) * CLASS_BYTES
}

/// A block of the class.
fn take(class: usize) -> *mut u8 {
    SPARES.with(|spares| {
        let kept = &spares[class];
        let first = kept.first.get();
        if first.is_null() {
            // SAFETY: the size is not zero.
            return unsafe { HEAP.lock().malloc(class_bytes(class), CLASS_BYTES) };
        }
        // SAFETY: kept blocks are this thread's own, and were written by `give` when they came.
        kept.first.set(unsafe { (*first).next });
        kept.count.set(kept.count.get() - 1);
        first.cast()
    })
}

/// Takes back a block of the class.
///
/// # Safety
/// The block came from [`take`] with the same class, and nobody uses it any more.
unsafe fn give(class: usize, block: *mut u8) {
    SPARES.with(|spares| {
        let kept = &spares[class];
        if kept.count.get() == KEPT {
            // SAFETY: the block came from the heap with this size.
            return unsafe { HEAP.lock().free(block, class_bytes(class), CLASS_BYTES) };
        }
        let spare = block.cast::<Spare>();
        // SAFETY: the block is ours, at least 16 bytes long and aligned to as much.
        unsafe { spare.write(Spare { next: kept.first.get() }) };
        kept.first.set(spare);
        kept.count.set(kept.count.get() + 1);
    });
}

/// Rust's allocator in a process that contains an engine. Small blocks are kept by the thread that frees them: it asks for
/// as many again, soon, and without a lock.
pub struct EngineHeap;

// SAFETY: every block is either forwarded, under the lock, to an allocator that fulfils the same contract, or was, and is
// kept by one thread between two uses.
unsafe impl GlobalAlloc for EngineHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class(layout) {
            Some(class) => take(class),
            // SAFETY: the layout's size is non-zero by this method's own contract.
            None => unsafe { HEAP.lock().malloc(layout.size(), layout.align()) },
        }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else {
            // SAFETY: as for `alloc`.
            return unsafe { HEAP.lock().calloc(layout.size(), layout.align()) };
        };
        let block = take(class);
        if !block.is_null() {
            // SAFETY: the block is at least that long.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match class(layout) {
            // SAFETY: `at` came from `alloc` with this layout, and so from `take` with this class.
            Some(class) => unsafe { give(class, at) },
            // SAFETY: `at` came from this allocator with this layout, by contract.
            None => unsafe { HEAP.lock().free(at, layout.size(), layout.align()) },
        }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Ok(wanted) = Layout::from_size_align(new_size, layout.align()) else {
            return std::ptr::null_mut();
        };
        match (class(layout), class(wanted)) {
            // SAFETY: neither size is small, so the block is the heap's; `new_size` is non-zero by contract.
            (None, None) => unsafe { HEAP.lock().realloc(at, layout.size(), layout.align(), new_size) },
            (old, new) if old == new => at,
            _ => {
                // SAFETY: `new_size` is non-zero by contract.
                let block = unsafe { self.alloc(wanted) };
                if !block.is_null() {
                    let bytes = layout.size().min(new_size);
                    // SAFETY: both blocks are at least that long, and different.
                    unsafe { std::ptr::copy_nonoverlapping(at, block, bytes) };
                    // SAFETY: `at` came with `layout`, by contract, and is not used any more.
                    unsafe { self.dealloc(at, layout) };
                }
                block
            }
        }
    }
}
