//! The threads of the guest process as a set: who they are, asking them to come to the engine, and waiting until
//! they have.
//!
//! What a thread does is in `thread`; how one is started, in `spawn`.

use super::changes::Changes;
use super::lock::Lock;
use super::sys;
use crate::context::{Context, place};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Facts about a thread that other threads may know.
pub(crate) struct Handle {
    /// Kernel thread and process identifiers; 0 until the thread runs. A thread that shares the guest's memory may be
    /// a process of its own.
    tid: AtomicU32,
    pid: AtomicU32,
    context: *const Context,
    /// Number of code changes it has acted upon.
    pub(crate) seen: AtomicU64,
}

// SAFETY: of the context only the two atomic words are used from other threads, and contexts are never unmapped.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) fn new(context: *const Context, seen: u64) -> Self {
        Handle { tid: AtomicU32::new(0), pid: AtomicU32::new(0), context, seen: AtomicU64::new(seen) }
    }

    /// Records that the calling kernel thread is this thread.
    pub(crate) fn announce(&self) {
        self.tid.store(sys::gettid() as u32, Ordering::SeqCst);
        self.pid.store(std::process::id(), Ordering::SeqCst);
    }

    fn context(&self) -> &Context {
        // SAFETY: contexts stay mapped for the life of the process; only atomics are reached through this.
        unsafe { &*self.context }
    }

    fn in_cache(&self) -> bool {
        self.context().place.load(Ordering::SeqCst) == place::CACHE
    }
}

/// See the module's description.
pub(crate) struct Threads {
    live: Lock<Vec<Arc<Handle>>>,
    /// Set once the process ends: threads that come to the engine stay there.
    stopping: AtomicBool,
    /// Set while threads that come to the engine are to wait there.
    pausing: AtomicBool,
}

/// The signal that kicks a thread out of translated code: one that the C library keeps for its own `setuid` and
/// hides from programs. The payload tells a kick from that.
pub(crate) const KICK: u32 = 33;
pub(crate) const KICK_PAYLOAD: u64 = 0x5348_4144_4f57;

impl Threads {
    pub(crate) fn new() -> Self {
        register_for_barriers();
        Threads {
            live: Lock::new(Vec::new()),
            stopping: AtomicBool::new(false),
            pausing: AtomicBool::new(false),
        }
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
        self.pausing.store(false, Ordering::SeqCst);
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
        self.await_others(me, |other| other.seen.load(Ordering::SeqCst) >= change);
    }

    /// Keeps all other threads in the engine from now on. False if another thread is doing so already.
    pub(crate) fn stop_others(&self, me: &Arc<Handle>) -> bool {
        if self.stopping.swap(true, Ordering::SeqCst) {
            return false;
        }
        self.await_others(me, |_| false);
        true
    }

    /// Has all other threads wait in the engine until [`Threads::resume_others`]. False if another thread is doing so.
    pub(crate) fn pause_others(&self, me: &Arc<Handle>) -> bool {
        if self.pausing.swap(true, Ordering::SeqCst) {
            return false;
        }
        self.await_others(me, |_| false);
        true
    }

    /// Ends [`Threads::pause_others`].
    pub(crate) fn resume_others(&self) {
        self.pausing.store(false, Ordering::SeqCst);
    }

    /// Waits while another thread has this one pause.
    pub(crate) fn pause(&self) {
        while self.pausing.load(Ordering::SeqCst) {
            // SAFETY: gives the processor away, no more.
            unsafe { sys::syscall(libc::SYS_sched_yield as u64, [0; 6]) };
        }
    }

    /// The contexts of all other threads, which must be paused.
    pub(crate) fn for_others(&self, me: &Arc<Handle>, mut each: impl FnMut(&Context)) {
        let live = self.live.lock();
        live.iter().filter(|other| !Arc::ptr_eq(other, me)).for_each(|other| each(other.context()));
    }

    /// Asks every other thread to come to the engine and waits until each is outside translated code or `done`.
    fn await_others(&self, me: &Arc<Handle>, done: impl Fn(&Handle) -> bool) {
        let others: Vec<Arc<Handle>> =
            self.live.lock().iter().filter(|other| !Arc::ptr_eq(other, me)).cloned().collect();
        if others.is_empty() {
            return;
        }
        others.iter().for_each(|other| other.context().request());
        // Pairs with the look at `quiet` before and after each stay outside: without a fence on their side, one is
        // needed here on their behalf.
        barrier();
        for other in others {
            let mut kicked = false;
            while other.in_cache() && !done(&other) {
                if !std::mem::replace(&mut kicked, true) {
                    kick(&other);
                }
                // SAFETY: gives the processor away, no more.
                unsafe { sys::syscall(libc::SYS_sched_yield as u64, [0; 6]) };
            }
        }
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
