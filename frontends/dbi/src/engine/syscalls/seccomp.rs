//! Seccomp: the guest's filters are evaluated here, because the kernel would apply them to the engine's own calls
//! too.
//!
//! They are kept per process, not per thread, and become real again before a program is executed natively. There are no
//! listeners: such a filter is refused. How programs are run is in `bpf`.

use super::bpf::{self, Filter};
use super::call::{AUDIT_ARCH_X86_64, Answer, Call, fail, pass, raise_sigsys};
use crate::engine::lock::Lock;
use crate::engine::sys;
use crate::engine::thread::Thread;
use std::sync::atomic::{AtomicBool, Ordering};

static FILTERS: Lock<Vec<Filter>> = Lock::new(Vec::new());
/// True if the process is in strict mode, which excludes filters.
static STRICT: AtomicBool = AtomicBool::new(false);

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
    if is_installed() {
        return fail(libc::EINVAL);
    }
    STRICT.store(true, Ordering::SeqCst);
    look_at_calls(thread)
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
    if flags & !(TSYNC | LOG | SPEC_ALLOW | TSYNC_ESRCH) != 0 || STRICT.load(Ordering::SeqCst) {
        return fail(libc::EINVAL);
    }
    let program = match bpf::read(filter, may_filter()) {
        Ok(program) => program,
        Err(errno) => return fail(errno),
    };
    let cost = |filter: &Filter| filter.len() + 4;
    if FILTERS.lock().iter().map(cost).sum::<usize>() + cost(&program) > MOST_INSTRUCTIONS {
        return fail(libc::ENOMEM);
    }
    FILTERS.lock().push(program);
    look_at_calls(thread)
}

/// From now on every call comes to [`judge`].
fn look_at_calls(thread: &mut Thread) -> Answer {
    thread.process.forbid_plain_calls();
    Answer::Value(0)
}

/// Tells whether the guest has filters.
pub(super) fn is_installed() -> bool {
    !FILTERS.lock().is_empty()
}

/// Mode and number of filters, as `/proc` shows them.
pub(super) fn shown() -> (u32, usize) {
    let filters = FILTERS.lock().len();
    let mode = if STRICT.load(Ordering::SeqCst) { 1 } else { 2 * u32::from(filters > 0) };
    (mode, filters)
}

/// Filters need the promise that no program gains privileges, or the capability to administer.
fn may_filter() -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    const VERSION_3: u32 = 0x2008_0522;
    // SAFETY: this call only reports.
    let promised = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } == 1;
    // capget(2): version and thread; effective, permitted and inheritable, twice.
    let (header, mut sets) = ([VERSION_3, 0], [0_u32; 6]);
    let args = [header.as_ptr() as u64, sets.as_mut_ptr() as u64, 0, 0, 0, 0];
    // SAFETY: the kernel reads two words and writes six.
    let known = unsafe { sys::syscall(libc::SYS_capget as u64, args) } == 0;
    promised || known && sets[0] >> CAP_SYS_ADMIN & 1 == 1
}

/// Judgement of strict mode or the filters on a call that returns to `pc`; `None` lets it through.
pub(super) fn judge(thread: &mut Thread, call: &Call, pc: u64) -> Option<Answer> {
    const ALLOWED: [i64; 4] = [libc::SYS_read, libc::SYS_write, libc::SYS_exit, libc::SYS_rt_sigreturn];
    if STRICT.load(Ordering::SeqCst) && !ALLOWED.contains(&(call.number as i64)) {
        // By another signal than filters.
        thread.end_by(libc::SIGKILL as u32);
    }
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
        unsafe { sys::syscall(libc::SYS_seccomp as u64, args) };
    }
}
