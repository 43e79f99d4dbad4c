//! Waiting on and waking a 32-bit word: the kernel's futex, private to the process.

use super::sys;
use std::sync::atomic::AtomicU32;

const WAIT_PRIVATE: u64 = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as u64;
const WAKE_PRIVATE: u64 = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as u64;

/// Sleeps while `word` holds `expected`; may return early, so callers loop.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    let args = [word.as_ptr() as u64, WAIT_PRIVATE, u64::from(expected), 0, 0, 0];
    // SAFETY: the kernel only reads the word, which outlives the call.
    unsafe { sys::syscall(libc::SYS_futex as u64, args) };
}

/// Wakes up to `count` threads that wait on `word`.
pub(crate) fn wake(word: &AtomicU32, count: u32) {
    let args = [word.as_ptr() as u64, WAKE_PRIVATE, u64::from(count), 0, 0, 0];
    // SAFETY: waking touches no memory.
    unsafe { sys::syscall(libc::SYS_futex as u64, args) };
}
