//! The end of the guest process: by exit or by signal, with the engine's last word before it.

use super::signals::{action, bit};
use super::thread::Thread;
use super::{stats, sys, threads};

/// End of the program, or of this image of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramEnd {
    /// By its own exit, with this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// Ends the process with `status`, as `exit_group` does.
pub(crate) fn by_exit(thread: &mut Thread, status: i32) -> ! {
    let instead = last_word(thread, ProgramEnd::Exited(status));
    sys::exit_group(instead.unwrap_or(status))
}

/// Ends the process by `signal`: its wait status is that of an uncaught signal.
pub(crate) fn by_signal(thread: &mut Thread, signal: u32) -> ! {
    last_word(thread, ProgramEnd::Killed(signal as i32));
    action::kernel_action(signal, Some(&action::Action::default()));
    let unblock = bit(signal);
    let args = [libc::SIG_UNBLOCK as u64, std::ptr::from_ref(&unblock) as u64, 0, 8, 0, 0];
    loop {
        // SAFETY: reads the process identifier.
        let pid = unsafe { sys::syscall(libc::SYS_getpid as u64, [0; 6]) };
        // SAFETY: the process is to end by this signal.
        unsafe { sys::syscall(libc::SYS_tgkill as u64, [pid, sys::gettid(), u64::from(signal), 0, 0, 0]) };
        // SAFETY: the kernel reads eight bytes.
        unsafe { sys::syscall(libc::SYS_rt_sigprocmask as u64, args) };
    }
}

/// Stops the other threads and writes what was found. Done once; a second thread that gets here waits for the end. A
/// process that only borrows its parent's memory leaves all that to the parent. Returns the exit status to be given
/// instead of the program's own, if there is one.
fn last_word(thread: &mut Thread, end: ProgramEnd) -> Option<i32> {
    if thread.own_process {
        thread.mailbox.goes_away();
        thread.process.threads.remove(&thread.handle);
        return None;
    }
    if !thread.process.wants_last_word() {
        return None;
    }
    let (process, me) = (thread.process, thread.handle.clone());
    let Some(others) = process.threads.stop_others(&me) else { threads::park(thread.mailbox) };
    others.each(|other| process.client.thread_ends(other.calls(), other.counts()));
    if thread.process.options.stats {
        stats::print(thread);
    }
    thread.client().finish_program(thread, end)
}
