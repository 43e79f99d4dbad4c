//! The engine's gigabyte: contexts, branch tables and chunks of code space are given out from here.
//!
//! Nothing is ever given back: threads hand their whole cache on to a successor instead. Knows sizes, not contents.

use super::layout::{ENGINE_END, ENGINE_START, page_ceil};
use super::lock::Lock;
use super::sys;

static NEXT: Lock<u64> = Lock::new(ENGINE_START);

/// The engine's gigabyte is used up, or a limit on address space refuses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exhausted;

/// Keeps the arena as it is while the process forks.
pub(crate) fn hold() -> impl Sized {
    NEXT.lock()
}

/// Maps `len` bytes, rounded up to whole pages, of zeroed memory with the given `PROT_*` bits.
pub(crate) fn take(len: u64, prot: i32) -> Result<u64, Exhausted> {
    let mut next = NEXT.lock();
    let at = *next;
    let end = at + page_ceil(len);
    if end > ENGINE_END {
        return Err(Exhausted);
    }
    sys::map_at(at, end - at, prot).map_err(|_| Exhausted)?;
    *next = end;
    Ok(at)
}
