//! Channels that descriptors are open on: a file, at some offset, or one end of a stream.

use crate::engine::{descriptors, sys};
use std::ffi::{CStr, CString};

/// A file, pipe or socket, for as long as there are processes that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Time of its birth: numbers of inodes are used again.
    pub(super) born: u64,
}

/// Ways in which bytes are handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// By offset.
    File(Key),
    /// In order.
    Pipe(Key),
    /// In order, to the socket at the other end.
    Socket(Key),
}

impl Channel {
    /// The channel that `descriptor` is open on, if that can hand anything on.
    pub(super) fn of(descriptor: u64) -> Option<Channel> {
        Channel::named(descriptor, c"", libc::AT_EMPTY_PATH)
    }

    /// The channel that `path`, seen from the directory `descriptor`, names.
    fn named(descriptor: u64, path: &CStr, flags: i32) -> Option<Channel> {
        // SAFETY: zero bytes are a valid value of this C structure.
        let mut stat: libc::statx = unsafe { std::mem::zeroed() };
        let wanted = u64::from(libc::STATX_BASIC_STATS | libc::STATX_BTIME);
        let args =
            [descriptor, path.as_ptr() as u64, flags as u64, wanted, std::ptr::from_mut(&mut stat) as u64, 0];
        // SAFETY: the path is a C string, and the kernel fills the structure.
        sys::check(unsafe { sys::syscall(libc::SYS_statx as u64, args) }).ok()?;
        let key = Key {
            device: u64::from(stat.stx_dev_major) << 32 | u64::from(stat.stx_dev_minor),
            inode: stat.stx_ino,
            born: (stat.stx_btime.tv_sec as u64) << 32 | u64::from(stat.stx_btime.tv_nsec),
        };
        match u32::from(stat.stx_mode) & libc::S_IFMT {
            libc::S_IFREG => Some(Channel::File(key)),
            libc::S_IFIFO => Some(Channel::Pipe(key)),
            libc::S_IFSOCK => Some(Channel::Socket(key)),
            _ => None,
        }
    }
}

/// The channel that the absolute `path` names.
pub(super) fn at(path: &[u8]) -> Option<Channel> {
    let path = CString::new(path).ok().filter(|_| path.starts_with(b"/"))?;
    Channel::named(libc::AT_FDCWD as u64, &path, 0)
}

/// Path of the file that `descriptor` is open for, as the kernel names it; empty if that cannot be found out.
pub(super) fn path(descriptor: u64) -> Vec<u8> {
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap_or_default();
    link.into_os_string().into_encoded_bytes()
}

/// Tells whether a program that is executed has the file open.
pub(super) fn is_open(file: Key) -> bool {
    is_open_by(file, |number| descriptors::flags(number).is_some_and(|flags| flags & libc::FD_CLOEXEC == 0))
}

/// Tells whether this process has the file open.
pub(super) fn is_open_here(file: Key) -> bool {
    is_open_by(file, |_| true)
}

/// Tells whether one of those descriptors of this process that `counts` is open for the file.
fn is_open_by(file: Key, counts: impl Fn(i32) -> bool) -> bool {
    let Ok(all) = std::fs::read_dir("/proc/self/fd") else { return false };
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|&number| counts(number))
        .any(|number| Channel::of(number as u64) == Some(Channel::File(file)))
}

/// Bytes of the file.
pub(super) fn size(descriptor: u64) -> u64 {
    // SAFETY: zero bytes are a valid value of this C structure.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    let args = [descriptor, std::ptr::from_mut(&mut stat) as u64, 0, 0, 0, 0];
    // SAFETY: the kernel fills the structure.
    unsafe { sys::syscall(libc::SYS_fstat as u64, args) };
    stat.st_size as u64
}

/// Tells whether what is written through `descriptor` goes to the file's end, whatever offset is asked for.
pub(super) fn appends(descriptor: u64) -> bool {
    // SAFETY: asks only.
    let flags =
        unsafe { sys::syscall(libc::SYS_fcntl as u64, [descriptor, libc::F_GETFL as u64, 0, 0, 0, 0]) };
    flags & libc::O_APPEND as u64 != 0
}

/// Bytes in the pipe that nobody has read yet.
pub(super) fn unread(descriptor: u64) -> u64 {
    let mut bytes = 0_i32;
    let args = [descriptor, libc::FIONREAD, std::ptr::from_mut(&mut bytes) as u64, 0, 0, 0];
    // SAFETY: the kernel writes an integer to where it is told.
    unsafe { sys::syscall(libc::SYS_ioctl as u64, args) };
    bytes as u64
}
