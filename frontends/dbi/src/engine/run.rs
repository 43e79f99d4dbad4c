//! The start: a program is found, loaded and run in this process, which ends as the program does.

use super::changes::Changes;
use super::client::{Client, Services};
use super::descriptors::Table;
use super::handed::Handed;
use super::loader::{self, Arguments, LoadError, Loaded};
use super::lock::Lock;
use super::options::Options;
use super::process::{Heap, Process};
use super::program::{self, Program, ProgramError};
use super::second_run::SecondRun;
use super::signals::action::Actions;
use super::signals::{Signals, handler, set_kernel_mask};
use super::space::Space;
use super::stand_by::{self, StandBy};
use super::syscalls::table;
use super::thread::Thread;
use super::threads::Threads;
use super::tree::Tree;
use super::{arena, chaos, descriptors, diagnose, planes, spawn, stack_limit, sys};
use crate::context::reg;
use std::ffi::{CString, OsString};
use std::fmt;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Program to run, and the engine's settings to run it with.
#[derive(Clone, Debug)]
pub struct Command {
    /// The command as the user named it.
    pub program: OsString,
    /// The arguments, without the command itself.
    pub arguments: Vec<OsString>,
    /// The name that the program is told; the command by default.
    pub argv0: Option<OsString>,
    /// The program's file, open, if that is all there is: `program` is then only its name. Closed when it is loaded.
    pub descriptor: Option<RawFd>,
    /// The descriptor of messages, if not standard error of the first program.
    pub messages: Option<RawFd>,
    /// The descriptor of the book that the processes of the tree share, if there is one.
    pub book: Option<RawFd>,
    /// The command of a second run, by which findings are to be confirmed.
    pub second_run: Option<SecondRun>,
    /// The process that stands by for it, if another program has executed this one.
    pub stand_by: Option<StandBy>,
    /// The process that the user started, if another program has executed this one.
    pub first_process: Option<u32>,
    /// The limit on the stack's size that the program is to have, if the tool was executed under another.
    pub stack_limit: Option<u64>,
    /// Settings of the engine.
    pub options: Options,
}

/// A program that is loaded and has not begun, as its client is made for it.
pub(crate) struct Beginning<'a> {
    /// The settings it was loaded with.
    pub(crate) command: &'a Command,
    /// Absolute path of the program.
    pub(crate) path: &'a Path,
    /// Places of its code.
    pub(crate) loaded: &'a Loaded,
    /// The processes that come of the same command.
    pub(crate) tree: Tree,
}

/// Reason why the program does not run.
#[derive(Debug)]
pub enum StartError {
    /// Program that was not found or cannot be executed.
    Program(OsString, ProgramError),
    /// Program that cannot be loaded.
    Load(OsString, LoadError),
    /// The system refuses something the engine cannot do without.
    Host(&'static str),
    /// The client cannot be made, for this reason.
    Client(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Program(name, error) => write!(f, "{}: {error}", name.to_string_lossy()),
            StartError::Load(name, error) => write!(f, "{}: {error}", name.to_string_lossy()),
            StartError::Host(what) => write!(f, "{what}"),
            StartError::Client(reason) => f.write_str(reason),
        }
    }
}

impl StartError {
    /// The exit status a shell would give: 127 for a command that is not found, or its interpreter, 126 for one that cannot be run, 2 for
    /// wrong options.
    pub fn exit_status(&self) -> u8 {
        match self {
            StartError::Program(_, error) if error.is_missing_file() => 127,
            StartError::Load(_, error) if error.is_missing_file() => 127,
            StartError::Client(_) => 2,
            _ => 126,
        }
    }
}

/// Runs the program for the client that `attach` makes, with a mirror of guest memory if `mirror`. Returns only if it could
/// not be started.
pub(crate) fn run(
    command: &Command,
    mirror: bool,
    attach: impl FnOnce(&Beginning<'_>) -> Result<Box<dyn Client>, StartError>,
) -> StartError {
    match start(command, mirror, attach) {
        Ok(never) => never,
        Err(error) => error,
    }
}

/// Writes one line for the user: to `messages`, or to standard error.
pub fn say(messages: Option<RawFd>, line: &str) {
    diagnose::say(messages.unwrap_or(descriptors::STDERR), line);
}

fn start(
    command: &Command,
    mirror: bool,
    attach: impl FnOnce(&Beginning<'_>) -> Result<Box<dyn Client>, StartError>,
) -> Result<StartError, StartError> {
    diagnose::install_panic_hook();
    let stand_by = stand_by(command);
    if mirror {
        map_mirror(command.stack_limit.is_some())?;
    }
    let found = find(command)?;
    let mut space = Space::new();
    let loaded = load(command, &found, &mut space)?;
    let descriptors = descriptors(command, stand_by).ok_or(NO_MEMORY)?;
    let tree = tree(command);
    let client = attach(&Beginning { command, path: &found.path, loaded: &loaded, tree })?;
    let process = process(command, found, space, &loaded, (tree, client))?;
    let thread = first_thread(process, descriptors, &loaded)?;
    let status = thread.run();
    spawn::leave(thread, status)
}

/// Finds the program, under the limit on the stack's size that it is to have.
fn find(command: &Command) -> Result<Program, StartError> {
    if let Some(limit) = command.stack_limit {
        stack_limit::set(limit);
    }
    let failed = |error| StartError::Program(command.program.clone(), error);
    let path = match command.descriptor {
        None => program::look_up(&command.program).map_err(failed)?,
        Some(_) => PathBuf::from(&command.program),
    };
    let place = command.descriptor.map(descriptors::path);
    let argv0 = command.argv0.as_ref().unwrap_or(&command.program);
    let argv = std::iter::once(argv0).chain(&command.arguments).map(c_string).collect();
    program::open(&path, place.as_deref(), argv).map_err(failed)
}

/// Loads the program that was found; its descriptor is closed then.
fn load(command: &Command, found: &Program, space: &mut Space) -> Result<Loaded, StartError> {
    let arguments =
        Arguments { argv: found.argv.clone(), environment: environment(), filename: found.filename.clone() };
    let loaded = loader::load(&found.file, &arguments, space)
        .map_err(|error| StartError::Load(command.program.clone(), error))?;
    if let Some(descriptor) = command.descriptor {
        descriptors::close(descriptor);
    }
    Ok(loaded)
}

/// The processes that come of the command.
fn tree(command: &Command) -> Tree {
    let first = command.first_process.unwrap_or_else(std::process::id);
    Tree { first, executed: command.first_process.is_some() }
}

/// The thread that is about to run the program's first instruction.
fn first_thread(
    process: &'static Process,
    descriptors: Arc<Table>,
    loaded: &Loaded,
) -> Result<&'static mut Thread, StartError> {
    if process.services.mirror {
        sys::set_gs_base(planes::GS_BASE);
    }
    if !descriptors.hidden().is_empty() {
        process.forbid(table::of_descriptors());
    }
    let carrier = spawn::initial_carrier().ok_or(NO_MEMORY)?;
    let thread = spawn::new_thread(process, carrier, descriptors, sys::fs_base()).ok_or(NO_MEMORY)?;
    thread.context.regs[reg::RSP] = loaded.stack_pointer;
    thread.pc = loaded.start;
    thread.handle.announce();
    process.threads.add(thread.handle.clone());
    handler::use_stack(thread.carrier.signal_stack);
    let actions = Arc::new(Actions::inherit(process.wants_last_word()));
    thread.set_signals(Signals::new(actions, kernel_mask()));
    set_kernel_mask(thread.signals.mask);
    Ok(thread)
}

pub(crate) const NO_MEMORY: StartError =
    StartError::Host("no memory for the engine (is there a limit on address space, ulimit -v?)");

/// The process that stands by for a second run, if there is to be one: made for the first program of a tree.
fn stand_by(command: &Command) -> Option<StandBy> {
    let begin = |again| match StandBy::begin(again) {
        Ok(stand_by) => Some(stand_by),
        Err(error) => {
            say(command.messages, &format!("--confirm: no second run will be made: {error}"));
            None
        }
    };
    match command.first_process {
        None => command.second_run.as_ref().and_then(begin),
        Some(_) => command.stand_by,
    }
}

/// The engine's descriptors, some of which it may have been handed on.
fn descriptors(command: &Command, stand_by: Option<StandBy>) -> Option<Arc<Table>> {
    let is_open = |number: &RawFd| descriptors::flags(*number).is_some();
    let messages = command.messages.unwrap_or(descriptors::STDERR);
    let [messages, book] = [Some(messages), command.book].map(|number| number.filter(is_open));
    let stand_by = stand_by.map(StandBy::make_that_of_process).filter(is_open);
    let [messages, book, stand_by] =
        [messages, book, stand_by].map(|number| number.unwrap_or(descriptors::CLOSED));
    Table::of_new_process(messages, book, stand_by)
}

fn process(
    command: &Command,
    found: Program,
    space: Space,
    loaded: &Loaded,
    (tree, client): (Tree, Box<dyn Client>),
) -> Result<&'static Process, StartError> {
    let services = client.services();
    let plain_calls = plain_calls(&services)?;
    chaos::begin(command.options.chaos);
    set_name(&found.name);
    Ok(Box::leak(Box::new(Process {
        options: command.options.clone(),
        space: Lock::new(space),
        heap: Lock::new(Heap { start: loaded.heap.0, end: loaded.heap.0, limit: loaded.heap.1 }),
        changes: Changes::new(),
        threads: Threads::new(),
        path: found.path,
        argv: found.argv,
        interpreter: loaded.interpreter,
        vdso: loaded.vdso,
        stack: loaded.stack,
        auxv: loaded.auxv,
        plain_calls,
        writers: table::of_writers().collect(),
        tree,
        forked: AtomicBool::new(false),
        asked_for_barriers: AtomicBool::new(false),
        client,
        services,
        annotating: AtomicBool::new(false),
        watches_writers: AtomicBool::new(false),
        handed: services.hands_on.and_then(Handed::new),
    })))
}

/// Table of the system calls that translated code makes by itself.
fn plain_calls(services: &Services) -> Result<u64, StartError> {
    let at = arena::take(1 << 16, libc::PROT_READ | libc::PROT_WRITE).map_err(|_| NO_MEMORY)?;
    // SAFETY: the memory was just mapped, is zeroed and belongs to nobody else.
    let plain = unsafe { &mut *(at as *mut [u8; 1 << 16]) };
    if !services.all_calls {
        let writes_matter = stand_by::is_there() || services.mirror || services.reads;
        let reads_matter = stand_by::is_there() || services.sent || services.writes;
        table::fill_plain(plain, writes_matter, reads_matter);
    }
    Ok(at)
}

/// Maps the mirror, if need be in a process whose own memory is elsewhere; `anew` if this is it.
fn map_mirror(anew: bool) -> Result<(), StartError> {
    let Err(errno) = planes::map() else { return Ok(()) };
    if errno == libc::EEXIST {
        stack_limit::execute_anew(anew);
    }
    Err(StartError::Host(why_no_mirror(errno)))
}

/// Reason why the mirror cannot be mapped.
fn why_no_mirror(errno: i32) -> &'static str {
    let mut space = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for writing.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut space) };
    let overcommit = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    if space.rlim_cur != libc::RLIM_INFINITY {
        "shadows need 32 TB of address space, of which a limit (ulimit -v) leaves less"
    } else if errno == libc::EEXIST {
        "shadows need 32 TB of address space from 0x200000000000 on, where something is"
    } else if overcommit.trim() == "2" {
        "shadows need 32 TB of address space, which vm.overcommit_memory=2 does not give without memory behind it"
    } else {
        "shadows need 32 TB of address space, which cannot be had"
    }
}

/// Gives the process the name the program would have (`comm`).
fn set_name(name: &[u8]) {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: the kernel reads at most 16 bytes of a valid C string.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0) };
}

fn environment() -> Vec<CString> {
    let pair = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        c_string(&name)
    };
    std::env::vars_os().map(pair).collect()
}

fn c_string(text: impl AsRef<std::ffi::OsStr>) -> CString {
    CString::new(text.as_ref().as_bytes()).unwrap_or_default()
}

fn kernel_mask() -> u64 {
    let mut mask = 0_u64;
    let args = [libc::SIG_BLOCK as u64, 0, std::ptr::from_mut(&mut mask) as u64, 8, 0, 0];
    // SAFETY: the kernel writes eight bytes.
    unsafe { sys::syscall(libc::SYS_rt_sigprocmask as u64, args) };
    mask
}
