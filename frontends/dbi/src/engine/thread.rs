//! One guest thread: its context, cache and signal state.
//!
//! Knows what belongs to a thread, and not what is done with it: `dispatch` runs it.

use super::cache::Cache;
use super::carrier::Carrier;
use super::client::Client;
use super::descriptors::{self, Table};
use super::process::Process;
use super::raised::Raised;
use super::signals::Signals;
use super::threads::Handle;
use super::translate::Translator;
use super::{first_touch, planes};
use crate::context::Context;
use crate::mailbox::Mailbox;
use crate::x86::discover::{Hooks, Limits};
use crate::x86::mode::Mode;
use std::any::Any;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Guest thread: its context, cache and signal state.
pub(crate) struct Thread {
    pub(crate) context: &'static mut Context,
    /// State that the thread's signal handler and other threads touch.
    pub(crate) mailbox: &'static Mailbox,
    pub(crate) cache: Cache,
    pub(crate) translator: Translator,
    pub(crate) process: &'static Process,
    pub(crate) handle: Arc<Handle>,
    pub(crate) signals: Signals,
    /// The engine's descriptors in the guest's table of them.
    pub(crate) descriptors: Arc<Table>,
    /// Guest address to go on at.
    pub(crate) pc: u64,
    /// The mode that the code there may take for granted.
    pub(crate) mode: Mode,
    /// The client's state of this thread.
    pub(crate) client_state: Box<dyn Any>,
    /// Host address at which a signal diverted the block it interrupted; 0 for none.
    pub(crate) diverted: u64,
    /// Exceptions that its rules have raised.
    pub(super) raised: Raised,
    /// True if a single step has reached the code that was entered.
    pub(crate) arrived: bool,
    /// Guest address at which it goes on behind an instruction that has run out of line.
    pub(crate) onward: Option<u64>,
    pub(crate) counters: Counters,
    pub(crate) carrier: Carrier,
    /// True if the thread shares the guest's memory but is a process of its own.
    pub(crate) own_process: bool,
    /// True if it starts by resetting its signal handlers.
    pub(crate) clears_handlers: bool,
    /// The system calls that become signals.
    pub(crate) user_dispatch: Option<UserDispatch>,
}

/// Counters of a thread, as `--stats` shows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    pub(crate) entries: u64,
    pub(crate) blocks: u64,
    pub(crate) lookup_misses: u64,
    pub(crate) flushes: u64,
    pub(crate) syscalls: u64,
    pub(crate) faults: u64,
    pub(crate) signals: u64,
}

impl Counters {
    pub(crate) const NONE: Counters =
        Counters { entries: 0, blocks: 0, lookup_misses: 0, flushes: 0, syscalls: 0, faults: 0, signals: 0 };

    pub(crate) fn add(&mut self, other: &Counters) {
        self.entries += other.entries;
        self.blocks += other.blocks;
        self.lookup_misses += other.lookup_misses;
        self.flushes += other.flushes;
        self.syscalls += other.syscalls;
        self.faults += other.faults;
        self.signals += other.signals;
    }
}

/// A thread's request for user dispatch of its system calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserDispatch {
    /// Calls that return into this many bytes from `start` on are made.
    pub(crate) start: u64,
    pub(crate) len: u64,
    /// Address of the byte that says what becomes of the others; 0 if they are all blocked.
    pub(crate) selector: u64,
}

/// Decision of the dispatcher's step about the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on at `Thread::pc`.
    Run,
    /// The thread has ended, with this exit status.
    Exit(i32),
}

impl Thread {
    /// Gives the thread another state of signals, which its signal handler sees from now on.
    pub(crate) fn set_signals(&mut self, signals: Signals) {
        self.mailbox.publish(&signals.actions);
        self.signals = signals;
    }

    /// The client that the thread's program is run for.
    pub(crate) fn client(&self) -> &'static dyn Client {
        &*self.process.client
    }

    /// The kernel wrote guest memory.
    pub(crate) fn kernel_wrote(&self, address: u64, len: u64) {
        if self.process.is_annotating() && planes::has(address, len) {
            first_touch::overwritten_by(self.pc, address, len);
            planes::clear(address, len);
        }
    }

    /// The guest's memory at this range is gone, and whatever was known of it.
    pub(crate) fn unmapped(&mut self, start: u64, len: u64) {
        self.client().unmapped(start, start.saturating_add(len));
        if self.process.has_mirror() {
            planes::discard(start, len);
        }
    }

    /// The file `fd` was mapped executable from `offset` on.
    pub(crate) fn mapped_file(&mut self, fd: u64, offset: u64, start: u64, end: u64) {
        if !self.process.services.attends {
            return;
        }
        let place = descriptors::path(fd as i32);
        let Ok(path) = std::fs::read_link(&place) else { return };
        let inode = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        if inode(&path).is_some_and(|inode_of_path| Some(inode_of_path) == inode(&place)) {
            self.client().mapped(&path, None, offset, start, end);
        } else {
            // proc(5): the path of a file without one any more.
            let name = path.as_os_str().as_bytes();
            let name = OsStr::from_bytes(name.strip_suffix(b" (deleted)").unwrap_or(name));
            self.client().mapped(Path::new(name), Some(&place), offset, start, end);
        }
    }

    /// The guest's memory was moved by `mremap`.
    pub(crate) fn moved(&mut self, old: u64, old_len: u64, new: u64, new_len: u64) {
        if self.process.has_mirror() {
            self.client().moved((old, old_len), (new, new_len));
            planes::move_mirror(old, old_len, new, new_len);
        }
    }

    /// The guest's GS base.
    pub(crate) fn guest_gs(&self) -> u64 {
        if self.process.has_mirror() { self.context.guest_gs } else { super::sys::gs_base() }
    }
}

/// Discovery limits that follow from the options.
pub(crate) fn limits(process: &Process) -> Limits {
    let instructions = process.options.superblock_limit.max(1);
    Limits {
        instructions,
        side_exits: 8,
        jumps: 8,
        call_depth: 0,
        back: None,
        hooks: Hooks::All,
        ends_at_stores: false,
    }
}
