//! The guest process as a whole: its address space, program and threads, and what they share.
//!
//! One per guest process; a forked child inherits a copy with its memory. Thread-private state is in `thread`.

use super::changes::Changes;
use super::client::{Client, Services};
use super::handed::Handed;
use super::loader::Vdso;
use super::lock::Lock;
use super::options::Options;
use super::space::Space;
use super::threads::Threads;
use super::tree::Tree;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Guest process: its address space, program and threads.
pub(crate) struct Process {
    pub(crate) options: Options,
    pub(crate) space: Lock<Space>,
    pub(crate) heap: Lock<Heap>,
    pub(crate) changes: Changes,
    pub(crate) threads: Threads,
    /// Absolute path of the program.
    pub(crate) path: PathBuf,
    pub(crate) argv: Vec<CString>,
    /// The interpreter's text: its anonymous reservations become libraries.
    pub(crate) interpreter: (u64, u64),
    pub(crate) vdso: Vdso,
    pub(crate) stack: (u64, u64),
    /// The initial auxiliary vector's range.
    pub(crate) auxv: (u64, u64),
    /// Table, by system call number, of calls that translated code makes by itself.
    pub(crate) plain_calls: u64,
    /// Numbers of the system calls that write guest memory.
    pub(crate) writers: Box<[u16]>,
    /// The processes that come of one command, this one among them.
    pub(crate) tree: Tree,
    /// True if this process was forked from the one the user started.
    pub(crate) forked: AtomicBool,
    /// True if the guest asked for barriers among its threads; the engine always has.
    pub(crate) asked_for_barriers: AtomicBool,
    /// The client that the program is run for.
    pub(crate) client: Box<dyn Client>,
    /// The services that it has asked for.
    pub(crate) services: Services,
    /// True if code is annotated: from the first shadow on.
    pub(crate) annotating: AtomicBool,
    /// True if the engine sees all system calls that write guest memory: from the first page on that it write-protects.
    pub(crate) watches_writers: AtomicBool,
    /// Bytes that processes of the tree hand each other, where their shadows are handed on or counted.
    pub(crate) handed: Option<Handed>,
}

/// The emulated `brk` heap.
pub(crate) struct Heap {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The highest end it may have.
    pub(crate) limit: u64,
}

impl Process {
    /// Bytes that processes of the tree hand each other with their shadows; nothing where these are only counted.
    pub(crate) fn hands_on(&self) -> Option<&Handed> {
        self.handed.as_ref().filter(|handed| handed.is_on())
    }

    /// Tells whether something is to be said when the process ends.
    pub(crate) fn wants_last_word(&self) -> bool {
        self.options.stats || self.services.attends
    }

    /// Tells whether there is a mirror of guest memory.
    pub(crate) fn has_mirror(&self) -> bool {
        self.services.mirror
    }

    /// Tells whether code is annotated now.
    pub(crate) fn is_annotating(&self) -> bool {
        self.annotating.load(Ordering::SeqCst)
    }

    /// From now on code is annotated. True if it was not before: then code made so far has to go.
    pub(crate) fn annotate(&self) -> bool {
        !self.annotating.swap(true, Ordering::SeqCst)
    }

    /// From now on the engine sees every system call.
    pub(crate) fn forbid_plain_calls(&self) {
        // SAFETY: the table is the engine's own and stays mapped; translated code reads single bytes of it.
        unsafe { std::ptr::write_bytes(self.plain_calls as *mut u8, 0, 1 << 16) };
    }

    /// From now on the engine sees the system calls that write guest memory: what they write may be protected by us.
    pub(crate) fn watch_writers(&self) {
        if !self.watches_writers.swap(true, Ordering::SeqCst) {
            self.forbid(self.writers.iter().copied());
        }
    }

    /// Tells whether pages of the guest's may be write-protected by us.
    pub(crate) fn watches_writers(&self) -> bool {
        self.watches_writers.load(Ordering::SeqCst)
    }

    /// From now on the engine sees these system calls.
    pub(crate) fn forbid(&self, calls: impl Iterator<Item = u16>) {
        for number in calls {
            // SAFETY: as above; the number is below the table's 2^16 entries.
            unsafe { ((self.plain_calls + u64::from(number)) as *mut u8).write(0) };
        }
    }

    /// Tells whether a program executed by this process stays under the tool.
    pub(crate) fn follows_exec(&self) -> bool {
        self.options.trace_children || !self.forked.load(Ordering::Relaxed)
    }
}
