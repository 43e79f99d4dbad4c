//! The threads of the guest process as a set: who they are, asking them to come to the engine, waiting until they have,
//! and looking at them while they stay there.
//!
//! What a thread does is in `thread`; how one is started, in `spawn`.

use super::changes::Changes;
use super::lock::Lock;
use super::{futex, sys};
use crate::context::{Context, Still};
use crate::mailbox::{Mailbox, place};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Facts about a thread that other threads may know.
pub(crate) struct Handle {
    /// Kernel thread and process identifiers; 0 until the thread runs. A thread that shares the guest's memory may be
    /// a process of its own.
    tid: AtomicU32,
    pid: AtomicU32,
    context: *const Context,
    mailbox: &'static Mailbox,
    /// Number of code changes it has acted upon.
    pub(crate) seen: AtomicU64,
}

// SAFETY: contexts are never unmapped, and are shown by `Others` alone, while their threads stay where they are.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) fn new(context: *const Context, mailbox: &'static Mailbox, seen: u64) -> Self {
        let [tid, pid] = [0, 0].map(AtomicU32::new);
        Handle { tid, pid, context, mailbox, seen: AtomicU64::new(seen) }
    }

    /// Records that the calling kernel thread is this thread.
    pub(crate) fn announce(&self) {
        self.tid.store(sys::gettid() as u32, Ordering::SeqCst);
        self.pid.store(std::process::id(), Ordering::SeqCst);
    }

    fn place(&self) -> u32 {
        self.mailbox.place.load(Ordering::SeqCst)
    }

    fn in_cache(&self) -> bool {
        self.place() == place::CACHE
    }

    /// Tells whether the thread is in the engine, where it waits or makes a system call, with all of its state in its
    /// context.
    fn is_away(&self) -> bool {
        self.place() == place::AWAY
    }

    /// Tells whether the thread was a process of its own, and was killed: it is on the list, and where it was.
    fn is_gone(&self) -> bool {
        let [pid, tid] = [&self.pid, &self.tid].map(|number| u64::from(number.load(Ordering::SeqCst)));
        if pid == 0 || pid == u64::from(std::process::id()) {
            return false;
        }
        // SAFETY: asks whether there is one; no signal is sent.
        let found = unsafe { sys::syscall(libc::SYS_tgkill as u64, [pid, tid, 0, 0, 0, 0]) };
        let mut info = [0_u64; 16];
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        let args = [libc::P_PID as u64, pid, info.as_mut_ptr() as u64, options as u32 as u64, 0, 0];
        // SAFETY: the kernel writes the structure, for which there is room. The child can still be waited for afterwards.
        let waited = unsafe { sys::syscall(libc::SYS_waitid as u64, args) };
        sys::error_of(found) == Some(libc::ESRCH) || waited == 0 && info[0] != 0
    }

    /// Tells whether it waits, or makes a system call.
    fn is_still(&self) -> bool {
        self.is_away() || self.place() == place::SYSCALL
    }
}

/// Threads of the guest process.
pub(crate) struct Threads {
    live: Lock<Vec<Arc<Handle>>>,
    /// Set once the process ends: threads that come to the engine stay there.
    stopping: AtomicBool,
    /// 1 while threads that come to the engine are to wait there.
    pausing: AtomicU32,
}

/// The right to look at all other threads, each of which stays where it is meanwhile.
pub(crate) struct Others<'a> {
    threads: &'a Threads,
    me: &'a Arc<Handle>,
}

impl Others<'_> {
    /// Shows each to `look`.
    pub(crate) fn each(&self, mut look: impl FnMut(Still<'_>)) {
        let live = self.threads.live.lock();
        for other in live.iter().filter(|other| !Arc::ptr_eq(other, self.me)) {
            // SAFETY: contexts stay mapped. Each thread was seen to be still after the pause, or the end of the process,
            // had begun; it looks at that before it goes on (`come_back`, or `no_request` on the way to translated code). One
            // born since has not gone further than to that look.
            look(unsafe { Still::new(other.context) });
        }
    }
}

impl Drop for Others<'_> {
    fn drop(&mut self) {
        self.threads.resume();
    }
}

/// The signal that kicks a thread out of translated code: one that the C library keeps for its own `setuid` and
/// hides from programs. The payload tells a kick from that.
pub(crate) const KICK: u32 = 33;
pub(crate) const KICK_PAYLOAD: u64 = 0x5348_4144_4f57;

/// Number of times that the processor is given away until a thread that has not come is kicked again.
const YIELDS: u32 = 1000;

/// Gives the processor away until `is_done`, but not for ever.
fn yield_until(is_done: impl Fn() -> bool) {
    for _ in 0..YIELDS {
        // SAFETY: gives the processor away, no more.
        unsafe { sys::syscall(libc::SYS_sched_yield as u64, [0; 6]) };
        if is_done() {
            break;
        }
    }
}

impl Threads {
    pub(crate) fn new() -> Self {
        register_for_barriers();
        Threads { live: Lock::new(Vec::new()), stopping: AtomicBool::new(false), pausing: AtomicU32::new(0) }
    }

    pub(crate) fn add(&self, handle: Arc<Handle>) {
        self.live.lock().push(handle);
    }

    /// Removes a thread and returns how many are left.
    pub(crate) fn remove(&self, handle: &Arc<Handle>) -> usize {
        let mut live = self.live.lock();
        live.retain(|other| !Arc::ptr_eq(other, handle));
        live.len()
    }

    /// After a fork, only the calling thread exists: what another was having the rest wait for will not come.
    pub(crate) fn keep_only(&self, handle: &Arc<Handle>) {
        register_for_barriers();
        self.stopping.store(false, Ordering::SeqCst);
        self.pausing.store(0, Ordering::SeqCst);
        *self.live.lock() = vec![handle.clone()];
    }

    /// Number of threads.
    pub(crate) fn count(&self) -> usize {
        self.live.lock().len()
    }

    /// Keeps the set as it is while the process forks.
    pub(crate) fn hold(&self) -> impl Sized {
        self.live.lock()
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Waits until no other thread can still run code that was translated before change number `change`.
    pub(crate) fn await_change(&self, me: &Arc<Handle>, changes: &Changes) {
        let change = changes.latest();
        self.await_others(me, |other| !other.in_cache() || other.seen.load(Ordering::SeqCst) >= change);
    }

    /// Keeps all other threads where they are from now on. Nothing if another thread is doing so already.
    pub(crate) fn stop_others<'a>(&'a self, me: &'a Arc<Handle>) -> Option<Others<'a>> {
        if self.stopping.swap(true, Ordering::SeqCst) {
            return None;
        }
        self.await_others(me, Handle::is_still);
        Some(Others { threads: self, me })
    }

    /// Has all other threads wait where they are, as long as the result lasts. Nothing if another thread is doing so, or
    /// is about to end the process.
    pub(crate) fn pause_others<'a>(&'a self, me: &'a Arc<Handle>) -> Option<Others<'a>> {
        if self.pausing.swap(1, Ordering::SeqCst) != 0 {
            return None;
        }
        self.await_others(me, |other| other.is_away() || self.stopping());
        let others = Others { threads: self, me };
        (!self.stopping()).then_some(others)
    }

    fn resume(&self) {
        self.pausing.store(0, Ordering::SeqCst);
        futex::wake(&self.pausing, u32::MAX >> 1);
    }

    /// Does what may take long, and touches nothing of the thread of this mailbox that [`Still`] shows.
    pub(crate) fn away<T>(&self, thread: &Mailbox, act: impl FnOnce() -> T) -> T {
        thread.goes_away();
        let result = act();
        self.come_back(thread);
        result
    }

    /// Has the thread of this mailbox, which was away, go on when it may.
    pub(crate) fn come_back(&self, thread: &Mailbox) {
        loop {
            // Either who begins a pause sees this, or this thread sees the pause.
            thread.place.store(place::ENGINE, Ordering::SeqCst);
            if self.stopping() {
                park(thread);
            }
            if self.pausing.load(Ordering::SeqCst) == 0 {
                return;
            }
            thread.goes_away();
            futex::wait(&self.pausing, 1);
        }
    }

    /// Asks every other thread to come to the engine and waits until `is_done` says so of each, new ones included.
    fn await_others(&self, me: &Arc<Handle>, is_done: impl Fn(&Handle) -> bool) {
        let others = || -> Vec<Arc<Handle>> {
            let live = self.live.lock();
            live.iter().filter(|other| !Arc::ptr_eq(other, me) && !is_done(other)).cloned().collect()
        };
        for other in self.live.lock().iter().filter(|other| !Arc::ptr_eq(other, me)) {
            other.mailbox.request();
        }
        // Pairs with the look at `no_request` before and after each stay outside: without a fence on their side, one is
        // needed here on their behalf.
        barrier();
        let mut waiting = others();
        while !waiting.is_empty() {
            waiting.iter().filter(|other| other.in_cache()).for_each(|other| kick(other));
            yield_until(|| waiting.iter().all(|other| is_done(other)));
            waiting = others();
            waiting.retain(|other| !other.is_gone());
        }
    }
}

/// Keeps the thread of this mailbox where it is until the process ends, which another thread is bringing about.
pub(crate) fn park(thread: &Mailbox) -> ! {
    thread.goes_away();
    loop {
        // SAFETY: sleeps until a signal, no more.
        unsafe { sys::syscall(libc::SYS_pause as u64, [0; 6]) };
    }
}

fn kick(thread: &Handle) {
    let mut info = [0_u64; 16];
    info[0] = u64::from(KICK);
    info[1] = libc::SI_QUEUE as u32 as u64;
    info[3] = KICK_PAYLOAD;
    let (pid, tid) = (thread.pid.load(Ordering::SeqCst), thread.tid.load(Ordering::SeqCst));
    let args = [u64::from(pid), u64::from(tid), u64::from(KICK), info.as_ptr() as u64, 0, 0];
    // SAFETY: the kernel reads the structure; the signal is handled by the engine.
    unsafe { sys::syscall(libc::SYS_rt_tgsigqueueinfo as u64, args) };
}

fn register_for_barriers() {
    membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/// A full memory barrier in every running thread of the process.
fn barrier() {
    if membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 {
        membarrier(libc::MEMBARRIER_CMD_GLOBAL);
    }
}

fn membarrier(command: i32) -> u64 {
    // SAFETY: orders memory accesses, no more.
    unsafe { sys::syscall(libc::SYS_membarrier as u64, [command as u64, 0, 0, 0, 0, 0]) }
}
