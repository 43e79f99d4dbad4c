//! Carriers: kernel threads that run guest threads which share memory.

use std::sync::atomic::AtomicU32;

/// Kernel thread on which a thread that shares the guest's memory runs.
pub(crate) struct Carrier {
    /// Top of the engine stack.
    pub(super) stack_top: u64,
    /// FS base of its thread-local storage.
    pub(super) fs: u64,
    pub(super) signal_stack: u64,
    /// 1 once nobody runs on it any more.
    pub(super) free: AtomicU32,
}
