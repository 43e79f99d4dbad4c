//! Outcome of a run: its end, its output, the files it made. Knows nothing of who ran it.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// End of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Exit with this status.
    Exit(i32),
    /// A signal ended the process.
    Signal {
        /// The signal's number.
        number: i32,
        /// True if the wait status says that a core was dumped.
        core: bool,
    },
    /// The process, or a descendant that held its output open, was still there when its time was up.
    Hang,
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        match status.signal() {
            Some(number) => End::Signal { number, core: status.core_dumped() },
            None => End::Exit(status.code().unwrap_or(-1)),
        }
    }
}

impl End {
    /// Tells whether this is what a guest's `exit` directive announced: a status, or a signal's name.
    pub fn is(self, announced: &str) -> bool {
        match self {
            End::Exit(code) => announced.parse() == Ok(code),
            End::Signal { number, .. } => signal_name(number) == announced,
            End::Hang => false,
        }
    }
}

fn signal_name(number: i32) -> String {
    nix::sys::signal::Signal::try_from(number)
        .map_or_else(|_| format!("SIG{number}"), |s| s.as_str().to_owned())
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            End::Exit(code) => write!(f, "exit status {code}"),
            End::Signal { number, core } => {
                write!(f, "{}{}", signal_name(number), if core { " (core dumped)" } else { "" })
            }
            End::Hang => write!(f, "still running when its time was up"),
        }
    }
}

/// A file left in the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// A plain file: permission bits and contents.
    File(u32, Vec<u8>),
    /// A symbolic link and where it points.
    Link(String),
    /// A directory, fifo, socket: permission bits and a letter.
    Other(u32, char),
}

/// All that can be compared between two runs of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The end of the process.
    pub end: End,
    /// The standard output, that of its descendants included.
    pub stdout: Vec<u8>,
    /// The standard error, likewise.
    pub stderr: Vec<u8>,
    /// The content of its working directory afterwards, by relative path.
    pub files: BTreeMap<String, Left>,
}

/// Content of `dir` and all below it.
pub fn files_below(dir: &Path) -> std::io::Result<BTreeMap<String, Left>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(&at)? {
            let path = entry?.path();
            let meta = path.symlink_metadata()?;
            let kind = meta.file_type();
            let mode = meta.permissions().mode() & 0o7777;
            let left = if kind.is_symlink() {
                Left::Link(std::fs::read_link(&path)?.to_string_lossy().into_owned())
            } else if kind.is_file() {
                Left::File(mode, std::fs::read(&path).unwrap_or_default())
            } else if kind.is_dir() {
                pending.push(path.clone());
                Left::Other(mode, 'd')
            } else {
                Left::Other(mode, if kind.is_fifo() { 'p' } else { 's' })
            };
            let name = path.strip_prefix(dir).unwrap_or(&path);
            found.insert(name.to_string_lossy().into_owned(), left);
        }
    }
    Ok(found)
}
