//! Seccomp: the guest's filters are evaluated here, because the kernel would apply them to the engine's own calls
//! too.
//!
//! They are kept per process, not per thread, and become real again before a program is executed natively. There are no
//! listeners: such a filter is refused. How programs are run is in `bpf`.

use super::bpf::{self, Filter, Instruction, JUMP_EQUAL, LOAD, RETURN};
use super::{AUDIT_ARCH_X86_64, Answer, Call, fail, pass, raise_sigsys};
use crate::engine::lock::Lock;
use crate::engine::thread::Thread;

static FILTERS: Lock<Vec<Filter>> = Lock::new(Vec::new());

const SET_MODE_STRICT: u64 = 0;
const SET_MODE_FILTER: u64 = 1;

const RET_KILL_THREAD: u32 = 0;
const RET_TRAP: u32 = 0x0003_0000;
const RET_ERRNO: u32 = 0x0005_0000;
const RET_USER_NOTIF: u32 = 0x7fc0_0000;
const RET_TRACE: u32 = 0x7ff0_0000;
const RET_LOG: u32 = 0x7ffc_0000;
const RET_ALLOW: u32 = 0x7fff_0000;
const ACTION: u32 = 0xffff_0000;
const DATA: u32 = 0x0000_ffff;
/// The `si_code` of a trap.
const SYS_SECCOMP: u64 = 1;
/// Data of strict mode's verdict, which kills by another signal than filters do.
const STRICT: u32 = 0x5347;

/// `prctl(PR_SET_SECCOMP, mode, filter)`.
pub(super) fn set_mode(thread: &mut Thread, mode: u64, filter: u64) -> Answer {
    const STRICT_MODE: u64 = 1;
    const FILTER_MODE: u64 = 2;
    match mode {
        STRICT_MODE => enter_strict(thread),
        FILTER_MODE => install(thread, 0, filter),
        _ => fail(libc::EINVAL),
    }
}

/// seccomp(2). Operations that only ask are the kernel's to answer.
pub(super) fn operate(thread: &mut Thread, call: &Call) -> Answer {
    let [operation, flags, argument, ..] = call.args;
    match operation & 0xffff_ffff {
        SET_MODE_STRICT if flags != 0 || argument != 0 => fail(libc::EINVAL),
        SET_MODE_STRICT => enter_strict(thread),
        SET_MODE_FILTER => install(thread, flags, argument),
        _ => pass(thread, call),
    }
}

fn enter_strict(thread: &mut Thread) -> Answer {
    if mode() == Some(Mode::Filter) {
        return fail(libc::EINVAL);
    }
    add(thread, strict())
}

/// Installs the filter at `filter`.
fn install(thread: &mut Thread, flags: u64, filter: u64) -> Answer {
    const TSYNC: u64 = 1;
    const LOG: u64 = 2;
    const SPEC_ALLOW: u64 = 4;
    const TSYNC_ESRCH: u64 = 16;
    /// Of all filters of a process together, each counted with four more (seccomp(2), ENOMEM).
    const MOST_INSTRUCTIONS: usize = 32768;
    // A listener would have to be told of calls by the kernel.
    if flags & !(TSYNC | LOG | SPEC_ALLOW | TSYNC_ESRCH) != 0 || mode() == Some(Mode::Strict) {
        return fail(libc::EINVAL);
    }
    let program = match bpf::read(filter) {
        Ok(program) => program,
        Err(errno) => return fail(errno),
    };
    if !may_filter() {
        return fail(libc::EACCES);
    }
    let cost = |filter: &Filter| filter.len() + 4;
    if FILTERS.lock().iter().map(cost).sum::<usize>() + cost(&program) > MOST_INSTRUCTIONS {
        return fail(libc::ENOMEM);
    }
    add(thread, program)
}

fn add(thread: &mut Thread, program: Filter) -> Answer {
    FILTERS.lock().push(program);
    // From now on every call is looked at.
    thread.process.forbid_plain_calls();
    Answer::Value(0)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Strict,
    Filter,
}

fn mode() -> Option<Mode> {
    let ends_strictly = |filter: &Filter| filter.iter().any(|i| i.k == RET_KILL_THREAD | STRICT);
    let filters = FILTERS.lock();
    let first = filters.first()?;
    Some(if ends_strictly(first) { Mode::Strict } else { Mode::Filter })
}

/// Whether the guest has filters.
pub(super) fn is_installed() -> bool {
    !FILTERS.lock().is_empty()
}

/// Filters need the promise that no program gains privileges, or the capability to administer.
fn may_filter() -> bool {
    // SAFETY: this call only reports.
    let promised = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } == 1;
    // SAFETY: as above.
    promised || unsafe { libc::geteuid() } == 0
}

/// `read`, `write`, `exit` and `rt_sigreturn`; anything else kills.
fn strict() -> Filter {
    const LOAD_NUMBER: Instruction = Instruction { code: LOAD, if_true: 0, if_false: 0, k: 0 };
    let allowed = [libc::SYS_read, libc::SYS_write, libc::SYS_exit, libc::SYS_rt_sigreturn];
    let mut program = vec![LOAD_NUMBER];
    for (index, number) in allowed.iter().enumerate() {
        let to_allow = (allowed.len() - index) as u8;
        program.push(Instruction { code: JUMP_EQUAL, if_true: to_allow, if_false: 0, k: *number as u32 });
    }
    program.push(Instruction { code: RETURN, if_true: 0, if_false: 0, k: RET_KILL_THREAD | STRICT });
    program.push(Instruction { code: RETURN, if_true: 0, if_false: 0, k: RET_ALLOW });
    program
}

/// What the filters say about a call that returns to `pc`; `None` lets it through.
pub(super) fn judge(thread: &mut Thread, call: &Call, pc: u64) -> Option<Answer> {
    let filters = FILTERS.lock().clone();
    if filters.is_empty() {
        return None;
    }
    let data = seccomp_data(call, pc);
    // All filters run, the newest first; the first of the most severe verdicts wins, whose action is the smallest signed
    // number.
    let verdicts = filters.iter().rev().map(|filter| bpf::run(filter, &data));
    let verdict = verdicts.min_by_key(|v| (v & ACTION) as i32)?;
    match verdict & ACTION {
        RET_ALLOW | RET_LOG => None,
        RET_ERRNO => Some(fail((verdict & DATA).min(4095) as i32)),
        RET_TRACE | RET_USER_NOTIF => Some(fail(libc::ENOSYS)),
        RET_TRAP => {
            raise_sigsys(thread, call, pc, SYS_SECCOMP, verdict & DATA);
            Some(Answer::Replaced)
        }
        RET_KILL_THREAD if verdict & DATA == STRICT => thread.end_by(libc::SIGKILL as u32),
        RET_KILL_THREAD if thread.process.threads.count() > 1 => Some(Answer::Exit(libc::SIGSYS)),
        _ => thread.end_by(libc::SIGSYS as u32),
    }
}

/// `struct seccomp_data` as 32-bit words.
fn seccomp_data(call: &Call, pc: u64) -> [u32; 16] {
    let mut words = [0; 16];
    words[0] = call.number as u32;
    words[1] = AUDIT_ARCH_X86_64;
    let wide = std::iter::once(pc).chain(call.args);
    for (index, value) in wide.enumerate() {
        words[2 + 2 * index] = value as u32;
        words[3 + 2 * index] = (value >> 32) as u32;
    }
    words
}

/// Hands the filters to the kernel, for a program that is about to be executed natively.
pub(crate) fn make_real() {
    for filter in FILTERS.lock().iter() {
        let code = bpf::encode(filter);
        let program = [code.len() as u64, code.as_ptr() as u64];
        let args = [SET_MODE_FILTER, 0, program.as_ptr() as u64, 0, 0, 0];
        // SAFETY: the kernel copies the program; what it forbids from here on is what the guest forbade itself.
        unsafe { crate::engine::sys::syscall(libc::SYS_seccomp as u64, args) };
    }
}
