//! File descriptors that the engine needs for itself, out of the guest's way.

use super::sys;
use std::path::PathBuf;

/// What fcntl(2) says of `descriptor` by F_GETFD; `None` if it is not open.
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
