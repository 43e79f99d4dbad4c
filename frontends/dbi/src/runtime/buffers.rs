//! The buffers of records of all threads, and the order in which they are replayed.
//!
//! A float that one thread has made is used by another as soon as it is stored: by a lock, a flag, a queue, anything. Its
//! handle is stored with it, and its record is complete by then: translated code writes a record before it stores what
//! came of it, and processors keep the order of stores. So whoever replays a record that uses the result of another
//! thread's has that replayed first, wherever the other thread is: what is complete in a buffer is read by whoever
//! has the shadow's lock, while its owner goes on behind. Records depend on earlier ones only, so that some record can
//! always be replayed.
//!
//! Knows neither what a record says nor how it is replayed: see [`records`](super::records).

use super::merging::Vectors;
use super::records::{self, Known, Replay};
use crate::context::{Context, Staging};
use crate::engine::{arena, chaos};
use crate::mailbox::Recording;
use crate::registers;
use crate::x86::mirror::descriptor::{BUFFER, RecordDescriptor, STRIDE};
use shadowgrind_core::recorded::Recorded;
use shadowgrind_core::shadow::Shadow;
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::Slots;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The records of all threads, for shadow `S`. Threads have numbers.
pub(crate) trait Buffers<S: Shadow>: Send {
    /// A buffer for a thread: its number. Nothing where there is no memory.
    fn add(&mut self, thread: &'static Recording, shadow: &mut S, words: &mut S::Words) -> Option<usize>;

    /// The next of what this thread's code records is this, at `site`.
    fn learn(&mut self, thread: usize, recorded: RecordDescriptor, site: Site);

    /// Completes the record that a stopped thread was writing when its code was left.
    fn close(&mut self, _thread: usize, _staging: &mut Staging) {}

    /// Replays a stopped thread's records, and of others those that they need, and empties its buffer.
    fn replay(&mut self, thread: usize, shadow: &mut S, words: &mut S::Words);

    /// Replays what all threads have recorded.
    fn catch_up(&mut self, shadow: &mut S, words: &mut S::Words);

    /// Forgets what other threads have recorded: they do not exist in this process.
    fn forget_others(&mut self, thread: usize);
}

/// The buffer of one thread.
struct Buffer<R> {
    start: u64,
    /// The first record that has not been replayed.
    done: u64,
    thread: &'static Recording,
    known: Vec<Known<R>>,
}

impl<R> Buffer<R> {
    /// The records that are complete and have not been replayed.
    fn waiting(&self) -> Range<u64> {
        self.done..self.thread.next.load(Ordering::Acquire)
    }

    /// Has the owner, which does not run translated code now, begin again.
    fn restart(&mut self) {
        self.done = chaos::beginning(self.start, BUFFER, STRIDE);
        self.thread.restart(self.done);
    }

    /// Replays what waits, with `waits` as [`Replay::all`] has it. Tells whether that was any.
    fn advance<S>(&mut self, replay: &mut Replay<'_, S>, waits: bool) -> bool
    where
        S: Recorded<Vectors, Recurring = R>,
    {
        let records = self.waiting();
        !records.is_empty() && self.replay(records, replay, waits)
    }

    /// Replays the next record, whatever it waits for.
    fn step<S: Recorded<Vectors, Recurring = R>>(&mut self, replay: &mut Replay<'_, S>) {
        self.replay(self.done..self.done + STRIDE, replay, false);
    }

    /// Replays these records, which are complete, as [`Buffer::advance`] does.
    fn replay<S>(&mut self, records: Range<u64>, replay: &mut Replay<'_, S>, waits: bool) -> bool
    where
        S: Recorded<Vectors, Recurring = R>,
    {
        Circumstances(self.thread.circumstances.load(Ordering::Relaxed)).hold_for(replay.shadow);
        let before = self.done;
        // SAFETY: records that are complete are nobody's but the lock's owner's, until the buffer restarts under that
        // lock; and `replay.vectors` proves the processor's features.
        self.done = unsafe { replay.all(records, &mut self.known, waits) };
        self.done != before
    }

    /// The handles that the next record waits for.
    fn awaited<V>(&self, slots: &Slots<V>) -> Vec<u64> {
        let records = self.waiting();
        if records.is_empty() {
            return Vec::new();
        }
        // SAFETY: as in `advance`.
        unsafe { records::awaited(records.start, &self.known, slots) }
    }

    /// Tells whether a record that waits will give this handle to its result.
    fn gives(&self, handle: u64) -> bool {
        let mut records = self.waiting().step_by(STRIDE as usize);
        // SAFETY: as in `advance`.
        records.any(|at| unsafe { records::gives(at, &self.known, handle) })
    }
}

/// Records of all threads, of a shadow whose operations are recorded.
pub(super) struct All<S: Recorded<Vectors>> {
    vectors: Vectors,
    threads: Vec<Buffer<S::Recurring>>,
}

impl<S: Recorded<Vectors>> All<S> {
    pub(super) fn new(vectors: Vectors) -> Self {
        All { vectors, threads: Vec::new() }
    }

    /// Replays, of all threads' records, those that wait for none, until none can be. Tells whether that was any.
    fn advance(&mut self, replay: &mut Replay<'_, S>) -> bool {
        let mut any = false;
        self.threads.iter_mut().for_each(|buffer| any |= buffer.advance(replay, true));
        any
    }

    /// Replays a record although it waits: best one that does so in vain. What looks like a handle may be none any more
    /// (`sweep`).
    fn insist(&mut self, replay: &mut Replay<'_, S>) {
        let stuck = || self.threads.iter().enumerate().filter(|(_, buffer)| !buffer.waiting().is_empty());
        let is_given = |handle: u64| self.threads.iter().any(|buffer| buffer.gives(handle));
        let in_vain = |buffer: &Buffer<S::Recurring>| !buffer.awaited(replay.slots).into_iter().any(is_given);
        let chosen = stuck().find(|(_, buffer)| in_vain(buffer)).or_else(|| stuck().next());
        if let Some((chosen, _)) = chosen {
            self.threads[chosen].step(replay);
        }
    }
}

impl<S: Recorded<Vectors, Recurring: Send>> Buffers<S> for All<S> {
    fn add(&mut self, thread: &'static Recording, _shadow: &mut S, slots: &mut S::Words) -> Option<usize> {
        let at = arena::take(3 * BUFFER, libc::PROT_READ | libc::PROT_WRITE).ok()?;
        let start = at.next_multiple_of(BUFFER);
        // SAFETY: the memory was just mapped, is zeroed and belongs to nobody else.
        unsafe { records::fill(slots, start..start + BUFFER) };
        let mut buffer = Buffer { start, done: start, thread, known: Vec::new() };
        buffer.restart();
        self.threads.push(buffer);
        Some(self.threads.len() - 1)
    }

    fn learn(&mut self, thread: usize, recorded: RecordDescriptor, site: Site) {
        self.threads[thread].known.push(Known::new::<S>(recorded, site));
    }

    fn replay(&mut self, thread: usize, shadow: &mut S, slots: &mut S::Words) {
        let mut replay = Replay { vectors: self.vectors, shadow, slots };
        // What this thread has used of others was complete when it did.
        let alone = |(n, buffer): (usize, &Buffer<_>)| n == thread || buffer.waiting().is_empty();
        let waits = !self.threads.iter().enumerate().all(alone);
        self.threads[thread].advance(&mut replay, waits);
        while !self.threads[thread].waiting().is_empty() {
            if !self.advance(&mut replay) {
                self.insist(&mut replay);
            }
        }
        self.threads[thread].restart();
    }

    fn catch_up(&mut self, shadow: &mut S, slots: &mut S::Words) {
        let mut replay = Replay { vectors: self.vectors, shadow, slots };
        while self.threads.iter().any(|buffer| !buffer.waiting().is_empty()) {
            if !self.advance(&mut replay) {
                self.insist(&mut replay);
            }
        }
    }

    fn forget_others(&mut self, thread: usize) {
        let others = self.threads.iter_mut().enumerate().filter(|&(n, _)| n != thread);
        others.for_each(|(_, buffer)| buffer.restart());
    }
}

/// Circumstances in which a thread makes records, which are the same from when it enters translated code until it
/// leaves: bit 0 says whether a number is being formatted, the next two pairs how x87's instructions round, and all others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances(u32);

impl Circumstances {
    pub(super) fn new(context: &Context, is_formatting: bool) -> Self {
        let [x87, others] = registers::rounding_control(context).map(u32::from);
        Circumstances(u32::from(is_formatting) | x87 << 1 | others << 3)
    }

    /// Publishes them, for what is recorded from now on.
    pub(super) fn publish(self, to: &Recording) {
        to.circumstances.store(self.0, Ordering::Relaxed);
    }

    /// Tells the shadow of the circumstances.
    fn hold_for<S: Shadow>(self, shadow: &mut S) {
        let [x87, others] = [1, 3].map(|at| registers::rounding_of((self.0 >> at) as u8));
        shadow.set_rounding(x87, others);
        shadow.ignore_decisions(self.0 & 1 == 1);
    }
}
