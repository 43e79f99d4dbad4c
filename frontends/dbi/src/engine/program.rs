//! From what the user or `execve` named to an open program file: PATH, scripts, permissions.
//!
//! Answers as a shell or the kernel would; maps nothing.

use super::elf::{self, ElfError};
use super::loader::c_path;
use std::ffi::{CString, OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program found and opened, with the arguments it is to get.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) file: File,
    /// Absolute path of `file`, symbolic links resolved: what `/proc/self/exe` names.
    pub(crate) path: PathBuf,
    /// The path it was executed by.
    pub(crate) filename: CString,
    pub(crate) argv: Vec<CString>,
    /// The last path component it was executed by: the process's `comm`.
    pub(crate) name: Vec<u8>,
    /// True if it is the interpreter of what was to be executed.
    pub(crate) interprets: bool,
}

/// Reason why a name leads to no program we can run.
#[derive(Debug)]
pub enum ProgramError {
    /// No such file, by path or along PATH.
    NotFound,
    /// Directory, not a file.
    Directory,
    /// Not executable for this user, or otherwise not to be opened.
    Access(io::Error),
    /// Program that would change its user or group.
    SetId,
    /// Neither ELF nor `#!`.
    Format(ElfError),
    /// The interpreter that a script names, and what is wrong with it.
    Interpreter(PathBuf, Box<ProgramError>),
    /// The dynamic linker that an ELF file names, and what is wrong with it.
    Linker(PathBuf, Box<ProgramError>),
    /// Scripts interpreted by scripts, too deep.
    TooManyScripts,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::NotFound => write!(f, "no such program"),
            ProgramError::Directory => write!(f, "is a directory"),
            ProgramError::Access(error) => write!(f, "{error}"),
            ProgramError::SetId => {
                write!(f, "is set-user-ID or set-group-ID; it cannot be run under shadowgrind")
            }
            ProgramError::Format(error) => write!(f, "{error}"),
            ProgramError::Interpreter(path, error) | ProgramError::Linker(path, error) => {
                write!(f, "its interpreter {}: {error}", path.display())
            }
            ProgramError::TooManyScripts => write!(f, "too many levels of script interpreters"),
        }
    }
}

impl ProgramError {
    /// The errno that `execve` gives in this case.
    pub(crate) fn errno(&self) -> i32 {
        match self {
            ProgramError::NotFound => libc::ENOENT,
            ProgramError::Directory | ProgramError::SetId => libc::EACCES,
            ProgramError::Access(error) => error.raw_os_error().unwrap_or(libc::EACCES),
            ProgramError::Format(_) => libc::ENOEXEC,
            ProgramError::Linker(_, error) if matches!(**error, ProgramError::Format(_)) => libc::ELIBBAD,
            ProgramError::Interpreter(_, error) | ProgramError::Linker(_, error) => error.errno(),
            ProgramError::TooManyScripts => libc::ELOOP,
        }
    }
}

impl ProgramError {
    /// Tells whether it, or what is to interpret it, is not there.
    pub(crate) fn is_missing_file(&self) -> bool {
        match self {
            ProgramError::NotFound => true,
            ProgramError::Interpreter(_, error) | ProgramError::Linker(_, error) => error.is_missing_file(),
            _ => false,
        }
    }
}

/// Finds a command as a shell does: a name with a slash is a path, others are looked for along PATH.
pub(crate) fn look_up(command: &OsStr) -> Result<PathBuf, ProgramError> {
    if command.as_bytes().contains(&b'/') {
        return Ok(command.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let candidates = std::env::split_paths(&path).map(|dir| dir.join(command));
    let mut denied = None;
    for candidate in candidates {
        match std::fs::metadata(&candidate) {
            Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => return Ok(candidate),
            Ok(meta) if meta.is_file() => denied = Some(io::Error::from_raw_os_error(libc::EACCES)),
            _ => {}
        }
    }
    Err(denied.map_or(ProgramError::NotFound, ProgramError::Access))
}

/// Opens the program at `path`, or that at `place`, which `path` then only names, following `#!` lines.
pub(crate) fn open(path: &Path, place: Option<&Path>, argv: Vec<CString>) -> Result<Program, ProgramError> {
    const DEEPEST: usize = 5;
    let mut given = place;
    let name = path.file_name().unwrap_or(path.as_os_str()).as_bytes().to_vec();
    let mut path = path.to_path_buf();
    let mut argv = argv;
    for depth in 0..=DEEPEST {
        let place = given.take().map_or_else(|| path.clone(), Path::to_path_buf);
        let mut file = open_executable(&place).map_err(|error| match depth {
            0 => error,
            _ => ProgramError::Interpreter(path.clone(), Box::new(error)),
        })?;
        let mut head = [0; 256];
        let len = read_head(&mut file, &mut head).map_err(ProgramError::Access)?;
        match script_line(&head[..len])? {
            None => {
                let filename = c_path(&path);
                let absolute = std::fs::canonicalize(&place).unwrap_or_else(|_| path.clone());
                let interprets = depth > 0;
                return Ok(Program { file, path: absolute, filename, argv, name, interprets });
            }
            Some((interpreter, option)) => {
                let mut wrapped = vec![c_bytes(&interpreter)];
                wrapped.extend(option.as_deref().map(c_bytes));
                wrapped.push(c_path(&path));
                wrapped.extend(argv.into_iter().skip(1));
                argv = wrapped;
                path = OsString::from_vec(interpreter).into();
            }
        }
    }
    Err(ProgramError::TooManyScripts)
}

/// Checks that an ELF file, and the dynamic linker that it names, can be executed.
pub(crate) fn check(file: &File) -> Result<(), ProgramError> {
    let image = elf::read(file).map_err(ProgramError::Format)?;
    let Some(linker) = image.interpreter.map(PathBuf::from) else { return Ok(()) };
    let readable = |file: File| elf::read(&file).map_err(ProgramError::Format);
    match open_executable(&linker).and_then(readable) {
        Ok(_) => Ok(()),
        Err(error) => Err(ProgramError::Linker(linker, Box::new(error))),
    }
}

fn open_executable(path: &Path) -> Result<File, ProgramError> {
    let not_found = |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound);
    let access = |error: io::Error| {
        if not_found(&error) { ProgramError::NotFound } else { ProgramError::Access(error) }
    };
    let meta = std::fs::metadata(path).map_err(access)?;
    if meta.is_dir() {
        return Err(ProgramError::Directory);
    }
    if !meta.is_file() || !may_execute(path) {
        return Err(ProgramError::Access(io::Error::from_raw_os_error(libc::EACCES)));
    }
    if changes_identity(&meta) {
        return Err(ProgramError::SetId);
    }
    let file = File::open(path).map_err(access)?;
    if is_being_written(&file) {
        return Err(ProgramError::Access(io::Error::from_raw_os_error(libc::ETXTBSY)));
    }
    Ok(file)
}

/// Tells whether somebody has the file open for writing, in which case the kernel does not execute it. Asked by trying
/// to lease it, which is refused for that reason; where leases are not to be had, the answer is no.
fn is_being_written(file: &File) -> bool {
    // SAFETY: takes a lease on our own descriptor, no more.
    let refused = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) } != 0;
    let written = refused && io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN);
    if !refused {
        // SAFETY: gives it back.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
    }
    written
}

fn may_execute(path: &Path) -> bool {
    let path = c_path(path);
    // SAFETY: the path is a valid C string.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

/// Tells whether executing the file natively gives it its owner's rights. Also for the owner: what a program can do
/// should not depend on who watches it.
fn changes_identity(meta: &std::fs::Metadata) -> bool {
    const SET_UID: u32 = 0o4000;
    // Without the group's execute bit, set-group-ID means mandatory locking.
    const SET_GID: u32 = 0o2010;
    let mode = meta.permissions().mode();
    mode & SET_UID != 0 || mode & SET_GID == SET_GID
}

fn read_head(file: &mut File, head: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < head.len() {
        match file.read(&mut head[len..])? {
            0 => break,
            n => len += n,
        }
    }
    Ok(len)
}

/// Interpreter and optional argument of a `#!` line.
type ScriptLine = (Vec<u8>, Option<Vec<u8>>);

/// Interpreter that a file beginning with `head` names; `None` unless it is a script.
fn script_line(head: &[u8]) -> Result<Option<ScriptLine>, ProgramError> {
    let Some(rest) = head.strip_prefix(b"#!") else { return Ok(None) };
    let line = rest.split(|&b| b == b'\n').next().unwrap_or_default();
    let blank = |b: &u8| *b == b' ' || *b == b'\t';
    let line = line.trim_ascii();
    let end = line.iter().position(|b| blank(b) || *b == 0).unwrap_or(line.len());
    if end == 0 {
        return Err(ProgramError::Format(ElfError::NotElf));
    }
    let option = line[end..].split(|&b| b == 0).next().unwrap_or_default().trim_ascii();
    Ok(Some((line[..end].to_vec(), (!option.is_empty()).then(|| option.to_vec()))))
}

/// A C string of the bytes before the first NUL.
fn c_bytes(bytes: impl AsRef<[u8]>) -> CString {
    let bytes = bytes.as_ref();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
