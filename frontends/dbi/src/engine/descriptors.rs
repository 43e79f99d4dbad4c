//! File descriptors that the engine needs for itself, out of the guest's way and out of its sight.
//!
//! They belong to a descriptor table, as all descriptors do, and not to memory: children may share one without the
//! other. So which they are is kept beside the table, in memory that processes share exactly if they share the table.

use super::sys;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// Purpose of a descriptor of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The standard error that the tool was started with: messages and reports.
    Messages,
    /// The file that the processes of the tree write for each other.
    Book,
    /// The socket of the process that stands by for a second run.
    StandBy,
}

/// Number of uses.
const USES: usize = 3;

/// By [`Use`]: the descriptor, or [`CLOSED`].
type Slots = [AtomicI32; USES];

/// There is no such descriptor.
pub(crate) const CLOSED: i32 = -1;

/// Standard error as the guest knows it. The engine uses it as it is until the guest takes it away; only then does it keep
/// a duplicate of its own.
pub(crate) const STDERR: i32 = 2;

/// The engine's descriptors in one of the guest's descriptor tables.
pub(crate) struct Table {
    slots: *const Slots,
}

// SAFETY: the slots are atomic and stay mapped as long as the table exists.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// The table of the process itself, for whoever does not know in which thread it runs.
static OF_PROCESS: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

impl Table {
    /// The table that the process starts with: where messages go, the tree's book, and the socket of who stands by.
    pub(crate) fn of_new_process(messages: i32, book: i32, stand_by: i32) -> Option<Arc<Table>> {
        let slots = map_slots()?;
        let table = Arc::new(Table { slots });
        table.slot(Use::Messages).store(messages, Ordering::SeqCst);
        table.slot(Use::Book).store(book, Ordering::SeqCst);
        table.slot(Use::StandBy).store(stand_by, Ordering::SeqCst);
        table.hand_on(false);
        table.clone().make_that_of_process();
        Some(table)
    }

    /// A table for a copy of this one's descriptors. Without memory for it, the copy goes on with this one.
    pub(crate) fn duplicate(self: &Arc<Table>) -> Arc<Table> {
        let Some(slots) = map_slots() else { return self.clone() };
        let copy = Table { slots };
        copy.slots().iter().zip(self.slots()).for_each(|(new, old)| {
            new.store(old.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        Arc::new(copy)
    }

    /// From now on this is the process's own.
    pub(crate) fn make_that_of_process(self: Arc<Table>) {
        let new = Arc::into_raw(self).cast_mut();
        let old = OF_PROCESS.swap(new, Ordering::SeqCst);
        if !old.is_null() {
            // SAFETY: what is stored there came from `into_raw`, and the swap has taken it out.
            drop(unsafe { Arc::from_raw(old) });
        }
    }

    fn slots(&self) -> &Slots {
        // SAFETY: mapped by `map_slots` and unmapped by `drop` alone; only atomics are in there.
        unsafe { &*self.slots }
    }

    fn slot(&self, purpose: Use) -> &AtomicI32 {
        &self.slots()[purpose as usize]
    }

    /// The descriptor for `purpose`, or [`CLOSED`].
    pub(crate) fn get(&self, purpose: Use) -> i32 {
        self.slot(purpose).load(Ordering::SeqCst)
    }

    /// The engine's own descriptors, ascending.
    pub(crate) fn hidden(&self) -> Vec<i32> {
        let all = self.slots().iter().map(|slot| slot.load(Ordering::SeqCst));
        let mut hidden: Vec<i32> = all.filter(|&number| number > STDERR).collect();
        hidden.sort_unstable();
        hidden
    }

    /// Tells whether `number` is one of the engine's own descriptors.
    pub(crate) fn hides(&self, number: i32) -> bool {
        number > STDERR && self.slots().iter().any(|slot| slot.load(Ordering::SeqCst) == number)
    }

    /// Moves what the engine uses out of the way before the guest replaces or closes `first..=last`. Says whether it has
    /// something to hide afterwards that it had not before. What finds no other place is given up.
    pub(crate) fn vacate(&self, first: u32, last: u32) -> bool {
        let mut moved = false;
        for slot in self.slots() {
            let old = slot.load(Ordering::SeqCst);
            if old < 0 || !(first..=last).contains(&(old as u32)) {
                continue;
            }
            let new = duplicate(old, true).unwrap_or(CLOSED);
            if slot.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                moved = true;
            } else if new >= 0 {
                // Another thread was faster.
                close(new);
            }
        }
        moved
    }

    /// Has a program executed next inherit the engine's descriptors, or not.
    pub(crate) fn hand_on(&self, inherited: bool) {
        let flag = if inherited { 0 } else { libc::FD_CLOEXEC as u64 };
        for number in self.hidden() {
            let args = [number as u64, libc::F_SETFD as u64, flag, 0, 0, 0];
            // SAFETY: changes a flag of a descriptor of the engine's own.
            unsafe { sys::syscall(libc::SYS_fcntl as u64, args) };
        }
    }

    /// Arguments by which the tool is told of the descriptors for messages and for the book when it is executed.
    pub(crate) fn arguments(&self) -> Vec<CString> {
        let (messages, book) = (self.get(Use::Messages), self.get(Use::Book));
        let messages = (messages != STDERR).then(|| format!("--messages={messages}"));
        let book = (book != CLOSED).then(|| format!("--book={book}"));
        [messages, book].into_iter().flatten().filter_map(|option| CString::new(option).ok()).collect()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let args = [self.slots as u64, size_of::<Slots>() as u64, 0, 0, 0, 0];
        // SAFETY: the page was mapped for this table, and nobody refers to it any more.
        unsafe { sys::syscall(libc::SYS_munmap as u64, args) };
    }
}

/// The process's own descriptor for `purpose`, for whoever does not know in which thread it runs.
pub(crate) fn of_process(purpose: Use) -> i32 {
    let closed = if purpose == Use::Messages { STDERR } else { CLOSED };
    table_of_process().map_or(closed, |table| table.get(purpose))
}

/// Sets the process's own descriptor for `purpose`.
pub(crate) fn set_of_process(purpose: Use, number: i32) {
    if let Some(table) = table_of_process() {
        table.slot(purpose).store(number, Ordering::SeqCst);
    }
}

fn table_of_process() -> Option<&'static Table> {
    let table = OF_PROCESS.load(Ordering::SeqCst);
    // SAFETY: it is null or stays alive until another takes its place, which happens in a new process with one thread, and
    // nobody keeps the reference.
    unsafe { table.as_ref() }
}

/// A page that processes share which share descriptors, as `fork` leaves shared mappings shared.
fn map_slots() -> Option<*const Slots> {
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: without MAP_FIXED the kernel picks unused addresses.
    let page = unsafe { sys::mmap(0, size_of::<Slots>() as u64, access, flags, -1, 0) }.ok()?;
    Some(page as *const Slots)
}

/// Path of the file that `descriptor` is open for, as the kernel names it.
pub(crate) fn path_of(descriptor: i32) -> String {
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// The file offset that `descriptor` is at; `None` for what has none, such as a pipe.
pub(crate) fn offset(descriptor: u64) -> Option<u64> {
    let args = [descriptor, 0, libc::SEEK_CUR as u64, 0, 0, 0];
    // SAFETY: asks only.
    sys::check(unsafe { sys::syscall(libc::SYS_lseek as u64, args) }).ok()
}

/// Flags of `descriptor` as fcntl(2) gives them by F_GETFD; `None` if it is not open.
pub(crate) fn flags(descriptor: i32) -> Option<i32> {
    let args = [descriptor as u64, libc::F_GETFD as u64, 0, 0, 0, 0];
    // SAFETY: asks only.
    sys::check(unsafe { sys::syscall(libc::SYS_fcntl as u64, args) }).ok().map(|flags| flags as i32)
}

/// A duplicate of `descriptor` far up, or without room there anywhere above the standard streams; the error is an errno.
pub(crate) fn duplicate(descriptor: i32, closes_on_exec: bool) -> Result<i32, i32> {
    const FIRST_TRY: u64 = 900;
    const LAST_TRY: u64 = 3;
    let command = if closes_on_exec { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
    let above = |least: u64| {
        let args = [descriptor as u64, command as u64, least, 0, 0, 0];
        // SAFETY: makes a new descriptor, no more.
        sys::check(unsafe { sys::syscall(libc::SYS_fcntl as u64, args) }).map(|new| new as i32)
    };
    above(FIRST_TRY).or_else(|_| above(LAST_TRY))
}

/// A path of what `descriptor` is open on.
pub(crate) fn path(descriptor: i32) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{descriptor}"))
}

/// Closes a descriptor that the engine opened.
pub(crate) fn close(descriptor: i32) {
    // SAFETY: nobody else knows the descriptor.
    unsafe { sys::syscall(libc::SYS_close as u64, [descriptor as u64, 0, 0, 0, 0, 0]) };
}
