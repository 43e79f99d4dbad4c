//! Actions that the guest wants on signals, and those that the kernel is told in their place.

use crate::engine::lock::Lock;
use crate::engine::threads::KICK;
use crate::engine::{guest, sys};
use std::sync::atomic::{AtomicU64, Ordering};

/// One past the highest signal number.
pub(crate) const SIGNALS: usize = 65;

/// The kernel's `struct sigaction`: handler, flags, restorer, mask.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) handler: u64,
    pub(crate) flags: u64,
    pub(crate) restorer: u64,
    pub(crate) mask: u64,
}

// SAFETY: four 64-bit words without padding.
unsafe impl guest::Plain for Action {}

impl Action {
    /// Tells whether nothing at all is done about `signal`.
    pub(crate) fn ignores(&self, signal: u32) -> bool {
        self.handler == IGNORE || self.handler == DEFAULT && default_fate(signal) == Fate::Ignored
    }
}

impl From<[u64; 4]> for Action {
    fn from([handler, flags, restorer, mask]: [u64; 4]) -> Action {
        Action { handler, flags, restorer, mask }
    }
}

impl From<Action> for [u64; 4] {
    fn from(Action { handler, flags, restorer, mask }: Action) -> [u64; 4] {
        [handler, flags, restorer, mask]
    }
}

/// The kernel's flag that says a restorer is given.
const SA_RESTORER: u64 = 0x0400_0000;

// The handler that the kernel is told of, and the way back from it: `handler` has their code.
unsafe extern "C" {
    fn shadowgrind_signal_entry();
    fn shadowgrind_signal_restorer();
}

pub(crate) const DEFAULT: u64 = libc::SIG_DFL as u64;
pub(crate) const IGNORE: u64 = libc::SIG_IGN as u64;

/// Default effect of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Ends,
    Ignored,
    Stops,
}

/// signal(7), "Standard signals".
pub(crate) fn default_fate(signal: u32) -> Fate {
    match signal as i32 {
        libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT => Fate::Ignored,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => Fate::Stops,
        _ => Fate::Ends,
    }
}

/// One signal's action, read without a lock: by the signal handler, which may have interrupted whoever is changing it.
struct Entry {
    /// Number of changes. The latest is in the copy that its lowest bit names; the next goes to the other.
    changes: AtomicU64,
    copies: [[AtomicU64; 4]; 2],
}

impl Entry {
    const fn of_default() -> Entry {
        Entry { changes: AtomicU64::new(0), copies: [const { [const { AtomicU64::new(0) }; 4] }; 2] }
    }

    fn get(&self) -> Action {
        loop {
            let changes = self.changes.load(Ordering::Acquire);
            let words = self.copies[changes as usize & 1].each_ref().map(|word| word.load(Ordering::Acquire));
            // Unless it has changed twice meanwhile, nobody wrote to this copy; once is as good as not at all.
            if self.changes.load(Ordering::Acquire) == changes {
                return words.into();
            }
        }
    }

    /// Only by who holds the table's lock.
    fn set(&self, action: &Action) {
        let next = self.changes.load(Ordering::Relaxed) + 1;
        let words: [u64; 4] = (*action).into();
        let copy = self.copies[next as usize & 1].iter().zip(words);
        copy.for_each(|(word, value)| word.store(value, Ordering::Release));
        self.changes.store(next, Ordering::Release);
    }
}

/// The table that threads created with `CLONE_SIGHAND` share.
pub(crate) struct Actions {
    entries: [Entry; SIGNALS],
    /// Held while an entry changes and the kernel is told.
    changing: Lock<()>,
    /// True if the engine wants to know before a signal ends the process.
    last_word: bool,
}

impl Actions {
    /// The table as the kernel has it at process start: what was ignored stays ignored. Installs the engine's
    /// handler where it is always needed.
    pub(crate) fn inherit(last_word: bool) -> Self {
        let actions = Actions { last_word, ..Actions::empty() };
        for signal in 1..SIGNALS as u32 {
            let inherited = kernel_action(signal, None).handler;
            let handler = if inherited == IGNORE { IGNORE } else { DEFAULT };
            actions.set(signal, Action { handler, ..Action::default() });
        }
        actions
    }

    /// A table of defaults, of which the kernel is not told.
    pub(crate) fn empty() -> Self {
        let entries = [const { Entry::of_default() }; SIGNALS];
        Actions { entries, changing: Lock::new(()), last_word: false }
    }

    /// A copy for a process of its own.
    pub(crate) fn duplicate(&self) -> Self {
        let copy = Actions { last_word: self.last_word, ..Actions::empty() };
        let _whole = self.changing.lock();
        copy.entries.iter().zip(&self.entries).for_each(|(new, old)| new.set(&old.get()));
        copy
    }

    /// Resets what is caught to the default, and tells the kernel; `CLONE_CLEAR_SIGHAND` of clone(2).
    pub(crate) fn clear_handlers(&self) {
        for signal in (1..SIGNALS as u32).filter(|&signal| self.get(signal).handler > IGNORE) {
            self.set(signal, Action::default());
        }
    }

    /// The action on a signal at this moment. Locks nothing.
    pub(crate) fn get(&self, signal: u32) -> Action {
        self.entries[signal as usize].get()
    }

    /// The set of signals whose action is such.
    pub(crate) fn those(&self, such: impl Fn(&Action) -> bool) -> u64 {
        (1..SIGNALS as u32)
            .filter(|&signal| such(&self.get(signal)))
            .fold(0, |set, signal| set | super::bit(signal))
    }

    /// Sets the guest's action, returning the old one.
    pub(crate) fn set(&self, signal: u32, action: Action) -> Action {
        let _changing = self.changing.lock();
        self.tell_kernel(signal, &action);
        let old = self.get(signal);
        self.entries[signal as usize].set(&action);
        old
    }

    /// A signal is delivered by `action`, which was its action when it arrived: resets it if it is to be used once only and
    /// is still the same.
    pub(crate) fn used(&self, signal: u32, action: &Action) {
        if action.handler <= IGNORE || action.flags & libc::SA_RESETHAND as u64 == 0 {
            return;
        }
        let _changing = self.changing.lock();
        if self.get(signal) == *action {
            let reset = Action { handler: DEFAULT, ..*action };
            self.tell_kernel(signal, &reset);
            self.entries[signal as usize].set(&reset);
        }
    }

    fn tell_kernel(&self, signal: u32, action: &Action) {
        let caught = super::bit(signal) & super::NEVER_BLOCKED != 0
            || action.handler > IGNORE
            || (action.handler == DEFAULT && self.last_word && default_fate(signal) == Fate::Ends);
        if super::bit(signal) & super::UNMASKABLE != 0 {
            return;
        }
        const KEPT: u64 = (libc::SA_RESTART | libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT) as u64;
        let told = if caught {
            let flags = action.flags & KEPT | (libc::SA_SIGINFO | libc::SA_ONSTACK) as u64 | SA_RESTORER;
            // A kick must not cut short the guest's system calls.
            let flags = if signal == KICK { flags | libc::SA_RESTART as u64 } else { flags };
            Action {
                handler: shadowgrind_signal_entry as *const () as u64,
                flags,
                restorer: shadowgrind_signal_restorer as *const () as u64,
                mask: !super::NEVER_BLOCKED,
            }
        } else {
            Action { handler: action.handler, flags: action.flags & KEPT, ..Action::default() }
        };
        kernel_action(signal, Some(&told));
    }
}

/// Sets or asks the kernel's own action.
pub(crate) fn kernel_action(signal: u32, set: Option<&Action>) -> Action {
    let mut old = Action::default();
    let new = set.map_or(0, |action| std::ptr::from_ref(action) as u64);
    let args = [u64::from(signal), new, std::ptr::from_mut(&mut old) as u64, 8, 0, 0];
    // SAFETY: both structures are valid, and any handler installed is the engine's.
    unsafe { sys::syscall(libc::SYS_rt_sigaction as u64, args) };
    old
}
