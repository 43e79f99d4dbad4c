//! The part of a thread's state that others touch while the thread runs: its signal handler, and other threads.
//!
//! Whoever interrupts Rust in the middle of anything must not look at what that Rust has borrowed. So all of this is
//! atomic, or written by the handler alone in a way that its reader notices, and is only ever borrowed shared. Lies
//! behind the [`Context`] in memory, where translated code reaches it. Knows neither signals nor records.

use crate::context::Context;
use std::cell::UnsafeCell;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence};

/// Places of signals taken from the kernel: the first is for those that can be blocked, of which at most one waits
/// here while the others stay blocked, and queued, in the kernel; the rest for one of each that cannot.
pub(crate) const PENDING_PLACES: usize = 7;

/// State of a thread, as other threads see it ([`Mailbox::place`]).
pub(crate) mod place {
    /// In the engine: looks at requests before it enters translated code again.
    pub(crate) const ENGINE: u32 = 0;
    /// In translated code: must be kicked to notice a request.
    pub(crate) const CACHE: u32 = 1;
    /// In a system call issued from translated code: looks at requests when it returns.
    pub(crate) const SYSCALL: u32 = 2;
    /// In the engine, where it waits or makes the guest's system call: touches nothing that
    /// [`Still`](crate::context::Still) shows, and waits for the end of a pause before it does.
    pub(crate) const AWAY: u32 = 3;
}

/// An asynchronous signal taken from the kernel and not delivered yet.
#[derive(Clone, Copy)]
pub(crate) struct PendingSignal {
    pub(crate) signal: u32,
    pub(crate) info: [u64; 16],
    /// The guest's action for the signal at that moment: `signals::action::Action`, in words.
    pub(crate) action: [u64; 4],
}

/// Place of one signal, which the handler fills and the thread empties.
struct PendingPlace {
    /// Number of signals that were put here.
    puts: AtomicU64,
    /// Number of those after which the place was empty again.
    taken: AtomicU64,
    pending: UnsafeCell<PendingSignal>,
}

impl PendingPlace {
    fn empty() -> PendingPlace {
        PendingPlace {
            puts: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            pending: UnsafeCell::new(PendingSignal { signal: 0, info: [0; 16], action: [0; 4] }),
        }
    }

    /// Puts a signal here, over one that may still be there.
    ///
    /// # Safety
    /// Only the owner's signal handler may call this.
    unsafe fn put(&self, pending: PendingSignal) {
        // SAFETY: the handler has interrupted the only thread that reads the place (`look`), which has no reference into it and
        // notices that it was interrupted.
        unsafe { self.pending.get().write_volatile(pending) };
        compiler_fence(Ordering::SeqCst);
        self.puts.fetch_add(1, Ordering::Relaxed);
    }

    /// The signal that waits here, if one does, and the number of those put here up to it.
    fn look(&self) -> Option<(u64, PendingSignal)> {
        loop {
            let puts = self.puts.load(Ordering::Relaxed);
            if puts == self.taken.load(Ordering::Relaxed) {
                return None;
            }
            compiler_fence(Ordering::SeqCst);
            // SAFETY: any bits are a `PendingSignal`. If the handler came between, `puts` tells, and what was read is dropped.
            let pending = unsafe { self.pending.get().read_volatile() };
            compiler_fence(Ordering::SeqCst);
            if self.puts.load(Ordering::Relaxed) == puts {
                return Some((puts, pending));
            }
        }
    }

    /// Empties the place of the signal that waits there. One that comes meanwhile waits on.
    fn take(&self) -> Option<PendingSignal> {
        let (puts, pending) = self.look()?;
        self.taken.store(puts, Ordering::Relaxed);
        Some(pending)
    }
}

/// A thread's part in first touches: what its handler has opened and seen.
#[derive(Debug)]
pub(crate) struct Touches {
    /// Guest pages that are open until the next trap; 0 for none.
    pub(crate) open: [AtomicU64; 2],
    /// Of instructions that were the first to overwrite a float of a group, the host address, 0 for none, and the number of the
    /// group's place.
    wrote: [[AtomicU64; 2]; 4],
}

impl Touches {
    /// Notes, in the handler, that the instruction at this host address was the first to overwrite a float of the group at this
    /// place, if there is room and no other was.
    pub(crate) fn write_down(&self, host_pc: u64, place: usize) {
        let free = self
            .wrote
            .iter()
            .find(|[pc, at]| pc.load(Ordering::Relaxed) == 0 || at.load(Ordering::Relaxed) == place as u64);
        if let Some([pc, at]) = free.filter(|[pc, _]| pc.load(Ordering::Relaxed) == 0) {
            at.store(place as u64, Ordering::Relaxed);
            pc.store(host_pc, Ordering::Relaxed);
        }
    }

    /// Takes one of these: the host address, and the group's place.
    pub(crate) fn written_down(&self) -> Option<(u64, usize)> {
        let [pc, at] = self.wrote.iter().find(|[pc, _]| pc.load(Ordering::Relaxed) != 0)?;
        let place = at.load(Ordering::Relaxed) as usize;
        Some((pc.swap(0, Ordering::Relaxed), place))
    }
}

/// A thread's records, as far as other threads look at them.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct Recording {
    /// Address of the next record (`x86::mirror::descriptor`): those before it are complete.
    pub(crate) next: AtomicU64,
    /// The cell of the next result that gets a number (`x86::mirror::append`).
    pub(crate) number: AtomicU64,
    /// Circumstances in which records are made (`runtime::records`), since translated code was entered.
    pub(crate) circumstances: AtomicU32,
    /// Address of the first record since the buffer was emptied.
    first: AtomicU64,
}

impl Recording {
    /// Has the next record written to this address, and be the first: its owner does not run translated code now.
    pub(crate) fn restart(&self, at: u64) {
        self.first.store(at, Ordering::Relaxed);
        self.next.store(at, Ordering::Release);
    }

    /// Tells whether nothing was recorded since the last restart.
    pub(crate) fn is_empty(&self) -> bool {
        self.next.load(Ordering::Relaxed) == self.first.load(Ordering::Relaxed)
    }
}

/// Part of a thread's state that others touch while it runs.
#[repr(C)]
pub(crate) struct Mailbox {
    /// Non-zero while nothing is asked of the thread; 0 sends it to the engine at its next exit.
    pub(crate) no_request: AtomicU32,
    /// One of [`place`].
    pub(crate) place: AtomicU32,
    pub(crate) recording: Recording,
    /// Address of the table of signal actions in force (`signals::action`).
    actions: AtomicUsize,
    pub(crate) touches: Touches,
    pending: [PendingPlace; PENDING_PLACES],
}

// SAFETY: all but the places of signals is atomic, and these are private: `put` is for the owner's signal handler, and `look`
// and `take` read and write nothing else that is not atomic than what no other thread ever writes.
unsafe impl Sync for Mailbox {}

impl Mailbox {
    pub(crate) const OFFSET_NO_REQUEST: u32 = offset(offset_of!(Mailbox, no_request));
    pub(crate) const OFFSET_PLACE: u32 = offset(offset_of!(Mailbox, place));
    pub(crate) const OFFSET_RECORDING: u32 = offset(offset_of!(Mailbox, recording));
    pub(crate) const OFFSET_RECORD: u32 = offset(offset_of!(Mailbox, recording.next));
    pub(crate) const OFFSET_NUMBER: u32 = offset(offset_of!(Mailbox, recording.number));

    /// Of a thread that nothing is asked of.
    fn new() -> Mailbox {
        let zero = || AtomicU64::new(0);
        Mailbox {
            no_request: AtomicU32::new(1),
            place: AtomicU32::new(place::ENGINE),
            recording: Recording {
                next: zero(),
                number: zero(),
                circumstances: AtomicU32::new(0),
                first: zero(),
            },
            actions: AtomicUsize::new(0),
            touches: Touches { open: [zero(), zero()], wrote: std::array::from_fn(|_| [zero(), zero()]) },
            pending: std::array::from_fn(|_| PendingPlace::empty()),
        }
    }

    /// The mailbox behind the context at this address, without a look at that.
    ///
    /// # Safety
    /// The context must be one that [`place_context`] has made.
    pub(crate) unsafe fn of(context: *const Context) -> &'static Mailbox {
        let address = context.addr() + offset_of!(Placed, mailbox);
        // SAFETY: `place_context` has made it there, for the life of the process, and exposed its address.
        unsafe { &*std::ptr::with_exposed_provenance(address) }
    }

    /// Has the signal handler look at this table of actions from now on: before the one before is dropped.
    pub(crate) fn publish<T>(&self, actions: &Arc<T>) {
        self.actions.store(Arc::as_ptr(actions).expose_provenance(), Ordering::SeqCst);
    }

    /// The table of actions published last.
    pub(crate) fn actions<T>(&self) -> *const T {
        std::ptr::with_exposed_provenance(self.actions.load(Ordering::SeqCst))
    }

    /// Asks the thread to come to the engine at its next exit from translated code.
    pub(crate) fn request(&self) {
        self.no_request.store(0, Ordering::SeqCst);
    }

    /// From now on the thread touches nothing that [`Still`](crate::context::Still) shows.
    pub(crate) fn goes_away(&self) {
        self.place.store(place::AWAY, Ordering::SeqCst);
    }

    /// Puts a signal from the kernel at a place, and asks the thread to come.
    ///
    /// # Safety
    /// Only the owner's signal handler may call this.
    pub(crate) unsafe fn put(&self, place: usize, pending: PendingSignal) {
        // SAFETY: the caller's obligation.
        unsafe { self.pending[place].put(pending) };
    }

    /// Takes the signal at this place, if one waits there.
    pub(crate) fn take(&self, place: usize) -> Option<PendingSignal> {
        self.pending[place].take()
    }

    /// Takes the signal at this place, if one waits there that is `wanted`.
    pub(crate) fn take_if(
        &self,
        place: usize,
        wanted: impl FnOnce(&PendingSignal) -> bool,
    ) -> Option<PendingSignal> {
        let (_, pending) = self.pending[place].look()?;
        if wanted(&pending) { self.pending[place].take() } else { None }
    }

    /// Tells whether a signal waits.
    pub(crate) fn has_signal(&self) -> bool {
        self.pending.iter().any(|place| place.look().is_some())
    }
}

/// Offset of a field of the mailbox from the context's address.
const fn offset(within: usize) -> u32 {
    (offset_of!(Placed, mailbox) + within) as u32
}

/// A context as it lies in memory.
#[repr(C)]
struct Placed {
    context: Context,
    mailbox: Mailbox,
}

/// Bytes that a context and its mailbox take.
pub(crate) const PLACED_BYTES: u64 = size_of::<Placed>() as u64;

/// Makes a context, all zero but for what begins elsewhere to count, and its mailbox.
///
/// # Safety
/// `at` must be the address of [`PLACED_BYTES`] of zeroed memory, aligned to a page, that stay mapped and that nobody else has.
pub(crate) unsafe fn place_context(at: u64) -> (&'static mut Context, &'static Mailbox) {
    let placed: *mut Placed = std::ptr::with_exposed_provenance_mut(at as usize);
    // SAFETY: the memory is the caller's to give.
    let mailbox = unsafe { &raw mut (*placed).mailbox };
    // SAFETY: as above; nobody has a reference to it yet.
    unsafe { mailbox.write(Mailbox::new()) };
    mailbox.expose_provenance();
    // SAFETY: it was just made, stays for the life of the process, and is only ever borrowed shared.
    let mailbox = unsafe { &*mailbox };
    // SAFETY: all zero is a valid context, which does not overlap the mailbox and is given to nobody else.
    let context = unsafe { &mut (*placed).context };
    context.forget_counts();
    (context, mailbox)
}
