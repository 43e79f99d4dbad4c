//! The engine's gigabyte: contexts, branch tables and chunks of code space are given out from here.
//!
//! Nothing is ever given back: threads hand their whole cache on to a successor instead. What has not been given out yet
//! is the guest's for the asking, if it insists on an address there, or would like one and leaves enough; then the engine does without it. Knows sizes, not
//! contents.

use super::layout::{ENGINE_END, ENGINE_START, page_ceil};
use super::lock::{Guard, Lock};
use super::sys;
use std::ops::Range;

/// Address to try next. Held while something is given out.
static NEXT: Lock<u64> = Lock::new(ENGINE_START);
/// Ranges given out, ascending and apart.
static GIVEN: Lock<Vec<Range<u64>>> = Lock::new(Vec::new());

/// The engine's gigabyte is used up, or a limit on address space refuses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exhausted;

/// Keeps the arena as it is while the process forks.
pub(crate) fn hold() -> impl Sized {
    (NEXT.lock(), GIVEN.lock())
}

/// Gives out nothing until dropped.
pub(crate) fn pause() -> Paused {
    Paused(NEXT.lock())
}

/// Proof that nothing is given out meanwhile.
pub(crate) struct Paused(Guard<'static, u64>);

impl Paused {
    /// Addresses from which nothing has been given out yet.
    pub(crate) fn rest(&self) -> Range<u64> {
        *self.0..ENGINE_END
    }
}

/// Maps `len` bytes, rounded up to whole pages, of zeroed memory with the given `PROT_*` bits.
pub(crate) fn take(len: u64, prot: i32) -> Result<u64, Exhausted> {
    take_by(len, |at, len| sys::map_at(at, len, prot))
}

/// Maps `len` bytes, rounded up to whole pages, by `map`, which must fail with `EEXIST` rather than replace anything.
pub(crate) fn take_by(len: u64, map: impl Fn(u64, u64) -> Result<(), i32>) -> Result<u64, Exhausted> {
    /// Distance to go on by where the guest has something, bytes.
    const STEP: u64 = 1 << 20;
    let mut next = NEXT.lock();
    let len = page_ceil(len);
    let mut at = *next;
    while at + len <= ENGINE_END {
        match map(at, len) {
            Ok(()) => {
                *next = at + len;
                note(at..at + len);
                return Ok(at);
            }
            Err(libc::EEXIST) => at = (at + 1).next_multiple_of(STEP),
            Err(_) => break,
        }
    }
    Err(Exhausted)
}

fn note(range: Range<u64>) {
    let mut given = GIVEN.lock();
    match given.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => given.push(range),
    }
}

/// Tells whether anything in `start..end` has been given out.
pub(crate) fn overlaps(start: u64, end: u64) -> bool {
    start < ENGINE_END
        && end > ENGINE_START
        && GIVEN.lock().iter().any(|given| start < given.end && given.start < end)
}

/// The parts of `start..end` that have not been given out, ascending.
pub(crate) fn others(start: u64, end: u64) -> Vec<Range<u64>> {
    let mut others = Vec::new();
    let mut at = start;
    for given in GIVEN.lock().iter().filter(|given| start < given.end && given.start < end) {
        if at < given.start {
            others.push(at..given.start);
        }
        at = given.end;
    }
    if at < end {
        others.push(at..end);
    }
    others
}
