//! `--stats`: counters of the engine, for its developers and for tests.

use super::lock::Lock;
use super::thread::{Counters, Thread};

/// Counters of threads that have ended.
static ENDED: Lock<Total> = Lock::new(Total { threads: 0, instructions: 0, counters: Counters::NONE });

struct Total {
    threads: u64,
    instructions: u64,
    counters: Counters,
}

/// Keeps the counters as they are while the process forks.
pub(crate) fn hold() -> impl Sized {
    ENDED.lock()
}

/// Adds the counters of a thread that ends.
pub(crate) fn add(thread: &Thread) {
    let mut total = ENDED.lock();
    total.threads += 1;
    total.instructions += thread.translator.instructions;
    total.counters.add(&thread.counters);
}

/// Prints the counters of all ended threads and of `thread`, the one that ends the process.
pub(crate) fn print(thread: &Thread) {
    add(thread);
    let total = ENDED.lock();
    let c = &total.counters;
    thread.say(&format!(
        "threads {} blocks {} instructions {} code-bytes {} entries {} lookup-misses {} flushes {} syscalls {} \
         faults {} signals {}",
        total.threads,
        c.blocks,
        total.instructions,
        thread.cache.bytes(),
        c.entries,
        c.lookup_misses,
        c.flushes,
        c.syscalls,
        c.faults,
        c.signals
    ));
}
