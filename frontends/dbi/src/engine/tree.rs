//! The processes that come of one command: which of them was the first, and the book that they share.
//!
//! The book is a file without a name, inherited as an open descriptor; each entry is one `write` to its end. Does not know
//! what is written there.

use super::descriptors::{self, Use};
use super::sys;

/// Processes that come of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    /// The process that the user started.
    pub(crate) first: u32,
    /// True if the program was executed by another of the tree.
    pub(crate) executed: bool,
}

impl Tree {
    /// Tells whether this is the program that the user named.
    pub(crate) fn is_first_program(&self) -> bool {
        !self.executed
    }

    /// Tells whether this is the process that the user started.
    pub(crate) fn is_first_process(&self) -> bool {
        std::process::id() == self.first
    }

    /// Adds a line to the book, which the first program opens.
    pub(crate) fn write(&self, line: &str) {
        let mut book = descriptors::of_process(Use::Book);
        if book < 0 && self.is_first_program() {
            book = open_book().unwrap_or(descriptors::CLOSED);
            descriptors::set_of_process(Use::Book, book);
        }
        if book >= 0 {
            sys::write_all(book, line.as_bytes());
        }
    }

    /// The whole book.
    pub(crate) fn read(&self) -> String {
        let book = descriptors::of_process(Use::Book);
        let mut text = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let args = [book as u64, chunk.as_mut_ptr() as u64, chunk.len() as u64, text.len() as u64, 0, 0];
            // SAFETY: the kernel writes at most as many bytes as the array has.
            let read = sys::check(unsafe { sys::syscall(libc::SYS_pread64 as u64, args) });
            match read {
                Ok(bytes @ 1..) => text.extend_from_slice(&chunk[..bytes as usize]),
                _ => return String::from_utf8_lossy(&text).into_owned(),
            }
        }
    }
}

/// A new book, out of the guest's way.
fn open_book() -> Option<i32> {
    let args = [c"shadowgrind".as_ptr() as u64, u64::from(libc::MFD_CLOEXEC), 0, 0, 0, 0];
    // SAFETY: the name is a valid C string.
    let file = sys::check(unsafe { sys::syscall(libc::SYS_memfd_create as u64, args) }).ok()? as i32;
    let append = [file as u64, libc::F_SETFL as u64, libc::O_APPEND as u64, 0, 0, 0];
    // SAFETY: from now on each write goes to the end.
    unsafe { sys::syscall(libc::SYS_fcntl as u64, append) };
    let book = descriptors::duplicate(file, true);
    descriptors::close(file);
    book.ok()
}
