//! `execve`: the new program runs under the tool again, or natively in children that are not followed.
//!
//! Staying under the tool means executing the tool with the new program as its argument; whatever would make the
//! kernel refuse the program is found out before, so that the guest gets its errno and keeps running.

use super::descriptors::Use;
use super::elf::ElfError;
use super::program::{self, ProgramError};
use super::signals::action::{Action, IGNORE, SIGNALS, kernel_action};
use super::signals::{NEVER_BLOCKED, bit, set_exact_mask};
use super::syscalls::call::{Answer, Call, fail, pass};
use super::syscalls::proc_files::own_executable;
use super::syscalls::seccomp;
use super::thread::Thread;
use super::{descriptors, guest, loader, stack_limit, stand_by, sys};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Request to execute a program.
struct Request {
    /// The path it is executed by, as the kernel would name it.
    path: PathBuf,
    /// The file's place, if it is named by a descriptor.
    place: Option<PathBuf>,
    /// True if that descriptor will be closed when the program starts.
    closes: bool,
    given: Given,
}

/// Texts that a program is given.
struct Given {
    argv: Vec<CString>,
    environment: Vec<CString>,
    /// Places of all of them in guest memory: address and length of each.
    places: Vec<(u64, u64)>,
}

impl Given {
    /// The texts in the arrays at these addresses.
    fn read(argv: u64, environment: u64) -> Result<Given, guest::Fault> {
        let mut places = Vec::new();
        let [argv, environment] = [argv, environment].map(|array| {
            let texts = guest::read_cstr_array(array)?;
            for (text, at) in texts.iter().zip((array..).step_by(8)) {
                places.push((guest::read::<u64>(at)?, text.as_bytes().len() as u64));
            }
            Ok(texts)
        });
        Ok(Given { argv: argv?, environment: environment?, places })
    }
}

pub(super) fn execve(thread: &mut Thread, call: &Call, path: u64, argv: u64, environment: u64) -> Answer {
    let Ok(path) = guest::read_cstr(path) else { return fail(libc::EFAULT) };
    let path =
        own_executable(thread, &path).unwrap_or_else(|| PathBuf::from(OsString::from_vec(path.into_bytes())));
    let Ok(given) = Given::read(argv, environment) else { return fail(libc::EFAULT) };
    execute(thread, call, Request { path, place: None, closes: false, given })
}

pub(super) fn execveat(thread: &mut Thread, call: &Call) -> Answer {
    const CHECK: u64 = 0x1_0000;
    const FLAGS: u64 = (libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) as u64;
    let [directory, path, argv, environment, flags, _] = call.args;
    if flags & !FLAGS == CHECK {
        // Executes nothing.
        return pass(thread, call);
    }
    if flags & !FLAGS != 0 {
        return fail(libc::EINVAL);
    }
    let Ok(name) = guest::read_cstr(path) else { return fail(libc::EFAULT) };
    let name = Path::new(OsStr::from_bytes(name.as_bytes())).to_path_buf();
    if flags & libc::AT_SYMLINK_NOFOLLOW as u64 != 0 && name.is_symlink() {
        return fail(libc::ELOOP);
    }
    let Ok(given) = Given::read(argv, environment) else { return fail(libc::EFAULT) };
    let directory = directory as i32;
    if name.is_absolute() || directory == libc::AT_FDCWD {
        let request = Request { path: name, place: None, closes: false, given };
        return execute(thread, call, request);
    }
    let empty = name.as_os_str().is_empty();
    if empty && flags & libc::AT_EMPTY_PATH as u64 == 0 {
        return fail(libc::ENOENT);
    }
    // execveat(2): what the program is told it was executed by.
    let shown = Path::new("/dev/fd").join(directory.to_string());
    let [path, place] =
        [shown, descriptors::path(directory)].map(|path| if empty { path } else { path.join(&name) });
    let Some(flags) = descriptors::flags(directory) else { return fail(libc::EBADF) };
    let closes = flags & libc::FD_CLOEXEC != 0;
    execute(thread, call, Request { path, place: Some(place), closes, given })
}

fn execute(thread: &mut Thread, call: &Call, request: Request) -> Answer {
    let is_child = thread.own_process || !thread.process.follows_exec();
    if is_child && !thread.process.options.trace_children {
        return natively(thread, call, &request);
    }
    let opened = program::open(&request.path, request.place.as_deref(), request.given.argv.clone());
    let checked = opened.and_then(|program| program::check(&program.file).map(|()| program));
    match checked {
        // A script's interpreter would find nothing by that name.
        Ok(program) if program.interprets && request.closes => fail(libc::ENOENT),
        Ok(_) => under_tool(thread, &request),
        // Programs that the kernel can run and we cannot go on without us.
        Err(ProgramError::SetId) => {
            thread.say(&format!("{}: set-user-ID program, executed natively", request.path.display()));
            natively(thread, call, &request)
        }
        Err(ProgramError::Format(error)) if error.is_foreign() => {
            if matches!(error, ElfError::Bits32(_)) {
                thread.say(&format!("{}: {error}; executed natively", request.path.display()));
            }
            natively(thread, call, &request)
        }
        Err(error) => fail(error.errno()),
    }
}

/// Descriptor of the file at `place`, for the tool to read, or the system's error.
fn opened(place: &Path) -> Result<RawFd, i32> {
    let file = File::open(place).map_err(|error| error.raw_os_error().unwrap_or(libc::EACCES))?;
    descriptors::duplicate(file.as_raw_fd(), false)
}

/// Arguments by which the tool runs the new program, whose file is open at `descriptor` if it is named by one.
fn tool_argv(thread: &Thread, request: &Request, descriptor: Option<RawFd>) -> Vec<CString> {
    let mut argv: Vec<CString> = vec![c"shadowgrind".into()];
    argv.extend(thread.process.options.tool_arguments.iter().map(|arg| c_string(arg)));
    if let Some(name) = request.given.argv.first() {
        argv.push(c_string(OsStr::from_bytes(&[b"--argv0=", name.as_bytes()].concat())));
    }
    if let Some(descriptor) = descriptor {
        argv.push(c_string(OsStr::new(&format!("--descriptor={descriptor}"))));
    }
    argv.push(c_string(OsStr::new(&format!("--first-process={}", thread.process.tree.first))));
    argv.extend(thread.descriptors.arguments());
    argv.extend(stand_by::argument(thread.descriptors.get(Use::StandBy)));
    argv.push(c"--".into());
    argv.push(loader::c_path(&request.path));
    argv.extend(request.given.argv.iter().skip(1).cloned());
    argv
}

/// Executes the tool with the new program.
fn under_tool(thread: &mut Thread, request: &Request) -> Answer {
    thread.client().executes(thread.process, &request.path, &request.given.places);
    let descriptor = match request.place.as_deref().map(opened).transpose() {
        Ok(descriptor) => descriptor,
        Err(errno) => return fail(errno),
    };
    let mut argv = tool_argv(thread, request, descriptor);
    let stack_limit = stack_limit::current();
    if thread.process.has_mirror() {
        argv.splice(1..1, stack_limit::lower());
    }
    let tool = c"/proc/self/exe";
    thread.descriptors.hand_on(true);
    let answer = exec_kernel(tool.as_ptr() as u64, &argv, &request.given.environment);
    thread.descriptors.hand_on(false);
    stack_limit::set(stack_limit);
    if let Some(descriptor) = descriptor {
        descriptors::close(descriptor);
    }
    answer
}

/// Has the kernel ignore those signals that the engine never blocks and the guest ignores: the engine's own actions on them.
fn ignore_unblocked(thread: &Thread) -> Vec<(u32, Action)> {
    let is_ignored = |&signal: &u32| {
        NEVER_BLOCKED & bit(signal) != 0 && thread.signals.actions.get(signal).handler == IGNORE
    };
    let ignore = Action { handler: IGNORE, ..Action::default() };
    let ignored = (1..SIGNALS as u32).filter(is_ignored);
    ignored.map(|signal| (signal, kernel_action(signal, Some(&ignore)))).collect()
}

/// Lets the kernel execute the program, with what the guest set up and the engine kept to itself.
fn natively(thread: &mut Thread, call: &Call, request: &Request) -> Answer {
    let path = loader::c_path(&request.path);
    let ours = ignore_unblocked(thread);
    note_unfollowed(thread, request);
    // Blocking what must never be blocked is safe now: only a failure brings us back.
    set_exact_mask(thread.signals.mask);
    // Forked while another thread was handing them on, this process has them to hand on as well.
    thread.descriptors.hand_on(false);
    seccomp::make_real();
    let answer = if call.number == libc::SYS_execveat as u64 {
        // SAFETY: the arguments are the guest's own.
        Answer::Value(unsafe { sys::syscall(call.number, call.args) })
    } else {
        exec_kernel(path.as_ptr() as u64, &request.given.argv, &request.given.environment)
    };
    super::signals::set_kernel_mask(thread.signals.mask);
    for (signal, action) in ours {
        kernel_action(signal, Some(&action));
    }
    answer
}

/// Writes down for the report that this program is not followed, if it is one, and what leaves with it.
fn note_unfollowed(thread: &Thread, request: &Request) {
    use std::os::unix::fs::PermissionsExt;
    let book = thread.descriptors.get(Use::Book);
    let path = request.place.as_deref().unwrap_or(&request.path);
    let is_program = |data: std::fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    if !std::fs::metadata(path).is_ok_and(is_program) {
        return;
    }
    thread.client().executes(thread.process, &request.path, &request.given.places);
    if book >= 0 {
        sys::write_all(book, thread.client().native_program(&request.path).as_bytes());
    }
}

fn exec_kernel(path: u64, argv: &[CString], environment: &[CString]) -> Answer {
    let pointers =
        |strings: &[CString]| -> Vec<u64> { strings.iter().map(|s| s.as_ptr() as u64).chain([0]).collect() };
    let (argv, environment) = (pointers(argv), pointers(environment));
    let args = [path, argv.as_ptr() as u64, environment.as_ptr() as u64, 0, 0, 0];
    // SAFETY: the kernel copies path and strings; on success nothing of this process is left.
    Answer::Value(unsafe { sys::syscall(libc::SYS_execve as u64, args) })
}

fn c_string(text: &OsStr) -> CString {
    CString::new(text.as_bytes()).unwrap_or_default()
}
