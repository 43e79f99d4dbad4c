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
        Some(random) if random % 4 == 0 => sleep(random / 4 % LONGEST),
        Some(random) if random % 4 == 1 => (0..random / 4 % 8).for_each(|_| give_way()),
        _ => {}
    }
}

/// Rounds of an empty loop to delay by where nothing can be called; 0 if not at all.
pub(crate) fn rounds() -> u64 {
    next().map_or(0, |random| random % LONGEST)
}

/// Place in the buffer of `room` bytes at `start` to begin at: some steps of so many bytes before its end while there are delays, so that
/// every kind of record comes to be the last one.
pub(crate) fn beginning(start: u64, room: u64, step: u64) -> u64 {
    const FEW: u64 = 7;
    up_to(FEW).map_or(start, |few| start + room - few * step)
}

/// A random number from 1 to `most`; nothing while there are no delays.
pub(crate) fn up_to(most: u64) -> Option<u64> {
    next().map(|random| 1 + random % most)
}

/// A random number below 2^32; nothing while there are no delays.
fn next() -> Option<u64> {
    STATE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).ok().map(scrambled)
}

/// The state that follows, never 0 behind another; nothing behind 0. Xorshift, Marsaglia 2003.
fn step(state: u64) -> Option<u64> {
    let state = state ^ state << 13;
    let state = state ^ state >> 7;
    (state != 0).then_some(state ^ state << 17)
}

/// The better half of a state's bits, multiplied as in xorshift* (Vigna 2016).
fn scrambled(state: u64) -> u64 {
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remainder_comes() {
        let states: Vec<u64> = std::iter::successors(Some(1), |&state| step(state)).take(4096).collect();
        for most in [2, 3, 4, 7, 16, 512] {
            let seen: std::collections::BTreeSet<u64> =
                states.iter().map(|&state| scrambled(state) % most).collect();
            assert_eq!(seen.len() as u64, most);
        }
    }
}
