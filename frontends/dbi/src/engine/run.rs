//! The start: a program is found, loaded and run in this process, which ends as the program does.

use super::changes::Changes;
use super::cpuid::IsaLevel;
use super::descriptors::Table;
use super::loader::{self, Arguments, Code, LoadError};
use super::lock::Lock;
use super::options::Options;
use super::process::{Heap, Process};
use super::program::{self, Program, ProgramError};
use super::signals::action::Actions;
use super::signals::{Signals, handler, set_kernel_mask};
use super::space::Space;
use super::stand_by::{self, SecondRun, StandBy};
use super::syscalls::table;
use super::threads::Threads;
use super::tree::Tree;
use super::{arena, chaos, descriptors, diagnose, planes, spawn, stack_limit, sys};
use crate::context::reg;
use crate::runtime::{self, Host, Tool};
use crate::session::{Session, SessionConfig, SpecFailure};
use shadowgrind_core::shadow::Sent;
use std::ffi::{CString, OsString};
use std::fmt;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Program to run, and the settings to run it with.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The command as the user named it.
    pub program: OsString,
    /// Its arguments, without the command itself.
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
    /// The shadow, and the inputs, outputs and reports of the run.
    pub session: SessionConfig,
}

/// Why the program does not run.
#[derive(Debug)]
pub enum StartError {
    /// It was not found or cannot be executed.
    Program(OsString, ProgramError),
    /// It cannot be loaded.
    Load(OsString, LoadError),
    /// The system refuses something the engine cannot do without.
    Host(&'static str),
    /// A SPEC of the session names nothing, or another of its files is no good.
    Session(SpecFailure),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Program(name, error) => write!(f, "{}: {error}", name.to_string_lossy()),
            StartError::Load(name, error) => write!(f, "{}: {error}", name.to_string_lossy()),
            StartError::Host(what) => write!(f, "{what}"),
            StartError::Session(failure) => write!(f, "{failure}"),
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
            StartError::Session(_) => 2,
            _ => 126,
        }
    }
}

/// Runs the program. Returns only if it could not be started.
pub fn run(launch: Launch) -> StartError {
    match start(launch) {
        Ok(never) => never,
        Err(error) => error,
    }
}

/// Writes one line for the user: to `messages`, or to standard error.
pub fn say(messages: Option<RawFd>, line: &str) {
    diagnose::say(messages.unwrap_or(descriptors::STDERR), line);
}

fn start(launch: Launch) -> Result<StartError, StartError> {
    diagnose::install_panic_hook();
    let stand_by = stand_by(&launch);
    if launch.session.shadow.is_carried() {
        map_mirror(launch.stack_limit.is_some())?;
    }
    if let Some(limit) = launch.stack_limit {
        stack_limit::set(limit);
    }
    let name = launch.program.clone();
    let as_program = |error| StartError::Program(name.clone(), error);
    let path = match launch.descriptor {
        None => program::look_up(&launch.program).map_err(as_program)?,
        Some(_) => PathBuf::from(&launch.program),
    };
    let place = launch.descriptor.map(descriptors::path);
    let argv0 = launch.argv0.as_ref().unwrap_or(&launch.program);
    let argv = std::iter::once(argv0).chain(&launch.arguments).map(c_string).collect();
    let found = program::open(&path, place.as_deref(), argv).map_err(as_program)?;

    let mut space = Space::new();
    let arguments =
        Arguments { argv: found.argv.clone(), environment: environment(), filename: found.filename.clone() };
    let loaded = loader::load(&found.file, &arguments, &mut space)
        .map_err(|error| StartError::Load(name.clone(), error))?;
    if let Some(descriptor) = launch.descriptor {
        descriptors::close(descriptor);
    }
    let descriptors = descriptors(&launch, stand_by).ok_or(NO_MEMORY)?;
    let process = process(&launch, found, space, &loaded)?;
    if !descriptors.hidden().is_empty() {
        process.forbid(table::of_descriptors());
    }
    let carrier = spawn::initial_carrier().ok_or(NO_MEMORY)?;
    let fs = sys::fs_base();
    let thread = spawn::new_thread(process, carrier, descriptors, fs).ok_or(NO_MEMORY)?;
    thread.context.regs[reg::RSP] = loaded.stack_pointer;
    thread.pc = loaded.start;
    thread.handle.announce();
    process.threads.add(thread.handle.clone());
    handler::use_stack(thread.carrier.signal_stack);
    let actions = Arc::new(Actions::inherit(process.wants_last_word()));
    thread.set_signals(Signals::new(actions, kernel_mask()));
    set_kernel_mask(thread.signals.mask);
    let status = thread.run();
    spawn::leave(thread, status)
}

const NO_MEMORY: StartError =
    StartError::Host("no memory for the engine (is there a limit on address space, ulimit -v?)");

/// The process that stands by for a second run, if there is to be one: made for the first program of a tree.
fn stand_by(launch: &Launch) -> Option<StandBy> {
    let begin = |command| match StandBy::begin(command) {
        Ok(stand_by) => Some(stand_by),
        Err(error) => {
            say(launch.messages, &format!("--confirm: no second run will be made: {error}"));
            None
        }
    };
    match launch.first_process {
        None => launch.second_run.as_ref().and_then(begin),
        Some(_) => launch.stand_by,
    }
}

/// The engine's descriptors, some of which it may have been handed on.
fn descriptors(launch: &Launch, stand_by: Option<StandBy>) -> Option<Arc<Table>> {
    let is_open = |number: &RawFd| descriptors::flags(*number).is_some();
    let messages = launch.messages.unwrap_or(descriptors::STDERR);
    let [messages, book] = [Some(messages), launch.book].map(|number| number.filter(is_open));
    let stand_by = stand_by.map(StandBy::make_that_of_process).filter(is_open);
    let [messages, book, stand_by] =
        [messages, book, stand_by].map(|number| number.unwrap_or(descriptors::CLOSED));
    Table::of_new_process(messages, book, stand_by)
}

fn process(
    launch: &Launch,
    found: Program,
    space: Space,
    loaded: &loader::Loaded,
) -> Result<&'static Process, StartError> {
    let plain_calls = arena::take(1 << 16, libc::PROT_READ | libc::PROT_WRITE).map_err(|_| NO_MEMORY)?;
    let own = std::process::id();
    let tree = Tree { first: launch.first_process.unwrap_or(own), executed: launch.first_process.is_some() };
    let tool = tool(launch, &found.path, loaded, tree)?;
    // SAFETY: the memory was just mapped, is zeroed and belongs to nobody else.
    let plain = unsafe { &mut *(plain_calls as *mut [u8; 1 << 16]) };
    if tool.as_ref().is_none_or(|tool| !tool.sees_all_calls()) {
        let mirror = stand_by::is_there()
            || tool.as_ref().is_some_and(|tool| tool.has_mirror() || tool.session.wants_texts());
        let looks = |tool: &Tool| tool.policy().sent != Sent::Unseen || tool.session.wants_written();
        let sent = stand_by::is_there() || tool.as_ref().is_some_and(looks);
        table::fill_plain(plain, mirror, sent);
    }
    chaos::begin(launch.options.chaos);
    set_name(&found.name);
    Ok(Box::leak(Box::new(Process {
        options: launch.options.clone(),
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
        tree,
        forked: AtomicBool::new(false),
        asked_for_barriers: AtomicBool::new(false),
        tool,
    })))
}

/// The tool that the user asked for. SPECs are checked before anything runs.
fn tool(
    launch: &Launch,
    program: &Path,
    loaded: &loader::Loaded,
    tree: Tree,
) -> Result<Option<Tool>, StartError> {
    if !launch.session.is_active() {
        return Ok(None);
    }
    let carries = launch.session.shadow.is_carried();
    // A guest that is shown AVX-512 will use it.
    let hidden = matches!(launch.options.isa, IsaLevel::V2 | IsaLevel::V3);
    let avx512 = carries && hidden && launch.session.avx512 && runtime::has_upper_registers();
    let session =
        Session::new(launch.session.clone(), program, Box::new(tree)).map_err(StartError::Session)?;
    let mut host = None;
    if carries {
        let vectors = runtime::check_host().map_err(StartError::Host)?;
        sys::set_gs_base(planes::GS_BASE);
        let constants = runtime::constants().map_err(|_| NO_MEMORY)?;
        let atomics = runtime::shared_word().map_err(|_| NO_MEMORY)?;
        host = Some(Host { vectors, constants, atomics });
    }
    let tool = Tool::new(session, loaded.entry, avx512, host, table::name_of);
    for Code { interpreter, offset, start, end } in &loaded.code {
        let interpreter = interpreter.as_ref().map(PathBuf::from);
        let interpreter = interpreter.map(|path| path.canonicalize().unwrap_or(path));
        tool.session.mapped(interpreter.as_deref().unwrap_or(program), None, *offset, *start, *end);
    }
    Ok(Some(tool))
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
