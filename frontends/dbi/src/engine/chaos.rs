//! Delays at the births and deaths of threads, and other numbers by chance, for tests: orders of events that are rare otherwise come about
//! often.
//!
//! Off unless `--chaos` gives a seed. Knows nothing of what is delayed.

use super::sys;
use std::sync::atomic::{AtomicU64, Ordering};

/// State of the random numbers; 0 while there are no delays.
static STATE: AtomicU64 = AtomicU64::new(0);

/// Longest delay, ns.
const LONGEST: u64 = 300_000;

/// Begins to delay, at random moments that `seed` decides as far as the order of threads allows; not with seed 0.
pub(crate) fn begin(seed: u64) {
    STATE.store(seed, Ordering::Relaxed);
}

/// Delays the calling thread, or does not.
pub(crate) fn point() {
    match next() {
        0 => {}
        random if random % 4 == 0 => sleep((random >> 32) % LONGEST),
        random if random % 4 == 1 => (0..random >> 32 & 7).for_each(|_| give_way()),
        _ => {}
    }
}

/// Tells whether delays are asked for: then what is rare otherwise is done whenever it can be.
pub(crate) fn is_on() -> bool {
    STATE.load(Ordering::Relaxed) != 0
}

/// Rounds of an empty loop to delay by where nothing can be called; 0 if not at all.
pub(crate) fn rounds() -> u64 {
    (next() >> 32) % LONGEST
}

/// A random number from 1 to `most`; nothing while there are no delays.
pub(crate) fn up_to(most: u64) -> Option<u64> {
    is_on().then(|| 1 + (next() >> 32) % most)
}

/// A random number, never 0; 0 while there are no delays. Xorshift, Marsaglia 2003.
fn next() -> u64 {
    let step = |state: u64| {
        let state = state ^ state << 13;
        let state = state ^ state >> 7;
        (state != 0).then_some(state ^ state << 17)
    };
    STATE
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
        .map_or(0, |state| state.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 33)
}

fn give_way() {
    // SAFETY: gives the processor away, no more.
    unsafe { sys::syscall(libc::SYS_sched_yield as u64, [0; 6]) };
}

fn sleep(nanoseconds: u64) {
    let time = [0, nanoseconds];
    // SAFETY: the kernel reads the time and writes nothing.
    unsafe { sys::syscall(libc::SYS_nanosleep as u64, [time.as_ptr() as u64, 0, 0, 0, 0, 0]) };
}
