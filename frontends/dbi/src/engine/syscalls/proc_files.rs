//! `/proc/self` as the guest would see it natively: its own executable, memory map, arguments, auxiliary vector and signals,
//! not the engine's.

use super::call::{Answer, Call, fail, pass};
use super::{memory, seccomp};
use crate::engine::layout::GUEST_END;
use crate::engine::process::Process;
use crate::engine::signals::action::IGNORE;
use crate::engine::signals::bit;
use crate::engine::thread::Thread;
use crate::engine::{arena, guest, sys};
use std::ffi::{CStr, CString, OsStr};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const AT_FDCWD: u64 = libc::AT_FDCWD as i64 as u64;

/// A file of `/proc/self` whose content would show the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    Exe,
    Maps,
    Cmdline,
    Auxv,
    /// The status of the process, or of one of its threads, as text.
    Status,
    /// The process's memory.
    Mem,
}

/// File of its own process that a path names, if it is one of those.
pub(crate) fn own_file(path: &[u8]) -> Option<Own> {
    let rest = path.strip_prefix(b"/proc/")?;
    let slash = rest.iter().position(|&b| b == b'/')?;
    let (process, mut file) = (&rest[..slash], &rest[slash + 1..]);
    let pid = std::process::id().to_string();
    if process != b"self" && process != b"thread-self" && process != pid.as_bytes() {
        return None;
    }
    // /proc/self/task/TID/maps and its kin are the same files.
    if let Some(task) = file.strip_prefix(b"task/") {
        let slash = task.iter().position(|&b| b == b'/')?;
        file = &task[slash + 1..];
    }
    match file {
        b"exe" => Some(Own::Exe),
        b"maps" => Some(Own::Maps),
        b"cmdline" => Some(Own::Cmdline),
        b"auxv" => Some(Own::Auxv),
        b"status" => Some(Own::Status),
        b"mem" => Some(Own::Mem),
        _ => None,
    }
}

pub(super) fn open(thread: &mut Thread, call: &Call) -> Answer {
    let [path, flags, mode, ..] = call.args;
    opened(thread, call, path, flags, |substitute| [libc::SYS_open as u64, substitute, flags, mode, 0, 0, 0])
}

pub(super) fn openat(thread: &mut Thread, call: &Call) -> Answer {
    let [_, path, flags, mode, ..] = call.args;
    opened(thread, call, path, flags, |substitute| {
        [libc::SYS_openat as u64, AT_FDCWD, substitute, flags, mode, 0, 0]
    })
}

pub(super) fn openat2(thread: &mut Thread, call: &Call) -> Answer {
    let [_, path, how, size, ..] = call.args;
    let flags = guest::read::<u64>(how).unwrap_or(0);
    opened(thread, call, path, flags, |substitute| {
        [libc::SYS_openat2 as u64, AT_FDCWD, substitute, how, size, 0, 0]
    })
}

fn opened(
    thread: &mut Thread,
    call: &Call,
    path: u64,
    flags: u64,
    with_path: impl FnOnce(u64) -> [u64; 7],
) -> Answer {
    let Some(own) = own_at(path) else { return pass(thread, call) };
    let content = match own {
        Own::Exe => return with_substitute(&exe(thread.process), with_path),
        Own::Maps => maps(thread.process),
        Own::Cmdline => thread.process.argv.iter().flat_map(|arg| arg.as_bytes_with_nul().to_vec()).collect(),
        Own::Auxv => auxv(thread.process),
        Own::Status => match guest::read_cstr(path) {
            Ok(path) => status(thread, Path::new(OsStr::from_bytes(path.as_bytes()))),
            Err(guest::Fault) => return pass(thread, call),
        },
        Own::Mem => {
            let answer = pass(thread, call);
            if flags & libc::O_ACCMODE as u64 != libc::O_RDONLY as u64 {
                // From now on writes are looked at: through this file they go round all protection.
                MEMORY_IS_OPEN.store(true, Ordering::Relaxed);
                thread.process.forbid_plain_calls();
            }
            return answer;
        }
    };
    if flags & libc::O_ACCMODE as u64 != libc::O_RDONLY as u64 {
        return pass(thread, call);
    }
    match memory_file(&content, flags) {
        Ok(fd) => Answer::Value(fd),
        Err(errno) => fail(errno),
    }
}

/// True if the guest may have a descriptor to write its own memory through.
static MEMORY_IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Has code forgotten after `call` if that may have written it through `/proc/self/mem`.
pub(super) fn after_write(thread: &mut Thread, call: &Call, answer: Answer) {
    const WRITES: [i64; 8] = [
        libc::SYS_write,
        libc::SYS_pwrite64,
        libc::SYS_writev,
        libc::SYS_pwritev,
        libc::SYS_pwritev2,
        libc::SYS_sendfile,
        libc::SYS_splice,
        libc::SYS_copy_file_range,
    ];
    let made = matches!(answer, Answer::Value(value) if sys::error_of(value).is_none());
    if !MEMORY_IS_OPEN.load(Ordering::Relaxed) || !made || !WRITES.contains(&(call.number as i64)) {
        return;
    }
    let is_memory = |fd: u64| {
        let target = std::fs::read_link(format!("/proc/self/fd/{}", fd as i32));
        target.is_ok_and(|path| own_file(path.as_os_str().as_bytes()) == Some(Own::Mem))
    };
    // Some of these calls name the file to write third.
    if is_memory(call.args[0]) || is_memory(call.args[2]) {
        memory::rewritten(thread, 0, GUEST_END);
    }
}

/// The path to use in place of `path` if that names the guest's own executable by way of `/proc`.
pub(crate) fn own_executable(thread: &Thread, path: &CStr) -> Option<PathBuf> {
    (own_file(path.to_bytes()) == Some(Own::Exe)).then(|| thread.process.path.clone())
}

fn own_at(path: u64) -> Option<Own> {
    // Cheap rejection first: nearly every path is another.
    let head = guest::read::<[u8; 6]>(path).ok()?;
    if &head != b"/proc/" {
        return None;
    }
    own_file(guest::read_cstr(path).ok()?.as_bytes())
}

pub(super) fn readlink(thread: &mut Thread, call: &Call) -> Answer {
    let [path, buffer, size, ..] = call.args;
    link(thread, call, path, buffer, size)
}

pub(super) fn readlinkat(thread: &mut Thread, call: &Call) -> Answer {
    let [_, path, buffer, size, ..] = call.args;
    link(thread, call, path, buffer, size)
}

fn link(thread: &mut Thread, call: &Call, path: u64, buffer: u64, size: u64) -> Answer {
    if own_at(path) != Some(Own::Exe) {
        return pass(thread, call);
    }
    if size as i32 <= 0 {
        return fail(libc::EINVAL);
    }
    let target = thread.process.path.as_os_str().as_bytes();
    let len = target.len().min(size as usize);
    match guest::write_bytes(buffer, &target[..len]) {
        Ok(()) => Answer::Value(len as u64),
        Err(guest::Fault) => fail(libc::EFAULT),
    }
}

/// `stat` and `access`: path first.
pub(super) fn stat(thread: &mut Thread, call: &Call) -> Answer {
    substituted(thread, call, 0)
}

pub(super) fn newfstatat(thread: &mut Thread, call: &Call) -> Answer {
    if call.args[3] & libc::AT_SYMLINK_NOFOLLOW as u64 != 0 {
        return pass(thread, call);
    }
    substituted(thread, call, 1)
}

pub(super) fn statx(thread: &mut Thread, call: &Call) -> Answer {
    if call.args[2] & libc::AT_SYMLINK_NOFOLLOW as u64 != 0 {
        return pass(thread, call);
    }
    substituted(thread, call, 1)
}

/// The call with the path argument replaced when it names the guest's own executable.
fn substituted(thread: &mut Thread, call: &Call, path_index: usize) -> Answer {
    if own_at(call.args[path_index]) != Some(Own::Exe) {
        return pass(thread, call);
    }
    with_substitute(&exe(thread.process), |path| {
        let [mut a, mut b, c, d, e, f] = call.args;
        *[&mut a, &mut b][path_index] = path;
        [call.number, a, b, c, d, e, f]
    })
}

fn with_substitute(path: &CString, words: impl FnOnce(u64) -> [u64; 7]) -> Answer {
    let [number, args @ ..] = words(path.as_ptr() as u64);
    // SAFETY: the path outlives the call; other arguments are the guest's own.
    Answer::Value(unsafe { sys::syscall(number, args) })
}

fn exe(process: &Process) -> CString {
    crate::engine::loader::c_path(&process.path)
}

/// A descriptor, by `open`'s flags, on a file of the given content.
fn memory_file(content: &[u8], flags: u64) -> Result<u64, i32> {
    let cloexec = if flags & libc::O_CLOEXEC as u64 != 0 { libc::MFD_CLOEXEC } else { 0 };
    let args = [c"shadowgrind".as_ptr() as u64, u64::from(cloexec), 0, 0, 0, 0];
    // SAFETY: the name is a valid C string.
    let fd = sys::check(unsafe { sys::syscall(libc::SYS_memfd_create as u64, args) })?;
    sys::write_all(fd as i32, content);
    // SAFETY: moves the new descriptor's offset.
    unsafe { sys::syscall(libc::SYS_lseek as u64, [fd, 0, libc::SEEK_SET as u64, 0, 0, 0]) };
    Ok(fd)
}

/// The kernel's map without the engine's mappings, with the names the guest's own stack and heap would have.
fn maps(process: &Process) -> Vec<u8> {
    let text = std::fs::read("/proc/self/maps").unwrap_or_default();
    let heap = process.heap.lock();
    let mut out = Vec::with_capacity(text.len());
    for line in text.split(|&byte| byte == b'\n') {
        let Some((start, end, rest)) = mapping(line) else { continue };
        if start >= GUEST_END && !line.ends_with(b"[vsyscall]") {
            continue;
        }
        let name = if process.stack.0 <= start && start < process.stack.1 {
            "[stack]"
        } else if heap.start <= start && end <= crate::engine::layout::page_ceil(heap.end) {
            "[heap]"
        } else if start == process.vdso.start {
            "[vdso]"
        } else {
            ""
        };
        // The kernel makes one of neighbours that are alike, even where one is the engine's.
        for part in arena::others(start, end) {
            let at = out.len();
            let _ = write!(out, "{:08x}-{:08x}", part.start, part.end);
            out.extend_from_slice(rest);
            if !name.is_empty() {
                out.truncate(at + out[at..].trim_ascii_end().len());
                out.resize(out.len().max(at + NAME_AT), b' ');
                out.extend_from_slice(name.as_bytes());
            }
            out.push(b'\n');
        }
    }
    out
}

/// Column of a mapping's name.
const NAME_AT: usize = 73;

/// A line of the map: its range, and what follows that.
fn mapping(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let dash = line.iter().position(|&byte| byte == b'-')?;
    let blank = line.iter().position(|&byte| byte == b' ')?;
    let number = |digits: &[u8]| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    Some((number(&line[..dash])?, number(line.get(dash + 1..blank)?)?, &line[blank..]))
}

/// The kernel's status file at `path`, with the guest's signals and filters in place of the engine's.
fn status(thread: &Thread, path: &Path) -> Vec<u8> {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    // What another thread blocks, and holds back, only that thread knows.
    let own = field("Pid").and_then(|pid| pid.parse().ok()) == Some(sys::gettid());
    let actions = &thread.signals.actions;
    let held = thread.signals.held.iter().fold(0, |mask, pending| mask | bit(pending.signal));
    let mask_of = |name: &str| field(name).and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let (mode, filters) = seccomp::shown();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let name = line.split(':').next().unwrap_or_default();
        let mask = match name {
            "SigPnd" if own => Some(mask_of("SigPnd") | held),
            "SigBlk" if own => Some(thread.signals.mask),
            "SigIgn" => Some(actions.those(|action| action.handler == IGNORE)),
            "SigCgt" => Some(actions.those(|action| action.handler > IGNORE)),
            _ => None,
        };
        let _ = match (name, mask) {
            (_, Some(mask)) => writeln!(out, "{name}:\t{mask:016x}"),
            ("Seccomp", _) => writeln!(out, "{name}:\t{mode}"),
            ("Seccomp_filters", _) => writeln!(out, "{name}:\t{filters}"),
            _ => writeln!(out, "{line}"),
        };
    }
    out.into_bytes()
}

fn auxv(process: &Process) -> Vec<u8> {
    let (start, end) = process.auxv;
    guest::read_bytes(start, (end - start) as usize).unwrap_or_default()
}
