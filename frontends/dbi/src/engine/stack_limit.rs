//! The limit on the stack's size decides where the kernel puts the engine: with a very large one, or none, in the midst of
//! where the mirror has to be. Then the tool executes itself anew, under a lower limit, and restores the guest's own.
//!
//! The limit is the guest's otherwise: what it sets, and what its stack is made by.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;

/// A limit that leaves room for arguments, of which the kernel takes at most 6 MiB, and puts the engine near the end of the
/// address space.
const LOW: u64 = 64 << 20;

/// The soft limit, bytes.
pub(crate) fn current() -> u64 {
    get().rlim_cur
}

fn get() -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for writing.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    limit
}

/// Sets the soft limit.
pub(crate) fn set(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, ..get() };
    // SAFETY: the structure is valid; the engine's own stacks have their memory already.
    unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) };
}

/// The option that tells an executed tool which limit to restore, after the limit was lowered for it; nothing where it need
/// not be.
pub(crate) fn lower() -> Option<CString> {
    let bytes = current();
    if bytes <= LOW {
        return None;
    }
    set(LOW);
    CString::new(format!("--stack-limit={bytes}")).ok()
}

/// Executes the tool anew with its own arguments, under a lower limit. Returns if that does not help.
pub(crate) fn execute_anew(already: bool) {
    let (false, Some(option)) = (already, lower()) else { return };
    let bytes = |word: OsString| CString::new(word.as_bytes()).unwrap_or_default();
    let mut words: Vec<CString> = std::env::args_os().map(bytes).collect();
    words.insert(1.min(words.len()), option);
    let pointers: Vec<*const libc::c_char> =
        words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
    // SAFETY: path and array are valid C strings and end with a null; on success nothing of this process is left.
    unsafe { libc::execv(c"/proc/self/exe".as_ptr(), pointers.as_ptr()) };
}
