//! What the guest wants done on each signal, and what the kernel is told in its place.

use super::handler;
use crate::engine::lock::Lock;
use crate::engine::threads::KICK;
use crate::engine::{guest, sys};

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

pub(crate) const DEFAULT: u64 = libc::SIG_DFL as u64;
pub(crate) const IGNORE: u64 = libc::SIG_IGN as u64;

/// What happens by default on a signal.
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

/// The table that threads created with `CLONE_SIGHAND` share.
pub(crate) struct Actions {
    table: Lock<[Action; SIGNALS]>,
    /// Whether the engine wants to know before a signal ends the process.
    last_word: bool,
}

impl Actions {
    /// The table as the kernel has it at process start: what was ignored stays ignored. Installs the engine's
    /// handler where it is always needed.
    pub(crate) fn inherit(last_word: bool) -> Self {
        let mut table = [Action::default(); SIGNALS];
        for signal in 1..SIGNALS as u32 {
            let inherited = kernel_action(signal, None).handler;
            table[signal as usize].handler = if inherited == IGNORE { IGNORE } else { DEFAULT };
        }
        let actions = Actions { table: Lock::new(table), last_word };
        for signal in 1..SIGNALS as u32 {
            actions.tell_kernel(signal, &table[signal as usize]);
        }
        actions
    }

    /// A table of defaults, of which the kernel is not told.
    pub(crate) fn empty() -> Self {
        Actions { table: Lock::new([Action::default(); SIGNALS]), last_word: false }
    }

    /// A copy for a process of its own.
    pub(crate) fn duplicate(&self) -> Self {
        Actions { table: Lock::new(*self.table.lock()), last_word: self.last_word }
    }

    /// Resets what is caught to the default, and tells the kernel; `CLONE_CLEAR_SIGHAND` of clone(2).
    pub(crate) fn clear_handlers(&self) {
        let mut table = self.table.lock();
        for (signal, action) in
            table.iter_mut().enumerate().skip(1).filter(|(_, action)| action.handler > IGNORE)
        {
            *action = Action::default();
            self.tell_kernel(signal as u32, action);
        }
    }

    pub(crate) fn get(&self, signal: u32) -> Action {
        self.table.lock()[signal as usize]
    }

    /// Sets the guest's action, returning the old one.
    pub(crate) fn set(&self, signal: u32, action: Action) -> Action {
        let mut table = self.table.lock();
        self.tell_kernel(signal, &action);
        std::mem::replace(&mut table[signal as usize], action)
    }

    /// Takes the action for delivery, resetting it when it is to be used once only.
    pub(crate) fn take(&self, signal: u32) -> Action {
        let mut table = self.table.lock();
        let action = table[signal as usize];
        if action.handler > IGNORE && action.flags & libc::SA_RESETHAND as u64 != 0 {
            table[signal as usize].handler = DEFAULT;
            self.tell_kernel(signal, &table[signal as usize]);
        }
        action
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
            let flags =
                action.flags & KEPT | (libc::SA_SIGINFO | libc::SA_ONSTACK) as u64 | handler::SA_RESTORER;
            // A kick must not cut short the guest's system calls.
            let flags = if signal == KICK { flags | libc::SA_RESTART as u64 } else { flags };
            Action {
                handler: handler::entry(),
                flags,
                restorer: handler::restorer(),
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
