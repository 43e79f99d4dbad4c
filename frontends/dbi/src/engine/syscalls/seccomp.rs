//! Seccomp: the guest's filters are evaluated here, because the kernel would apply them to the engine's own calls
//! too.
//!
//! Filters are classic BPF over `struct seccomp_data` (seccomp(2), Documentation/userspace-api/seccomp_filter.rst).
//! They are kept per process group of threads and become real again before a program is executed natively.

use super::{AUDIT_ARCH_X86_64, Answer, Call, fail, pass, raise_sigsys};
use crate::engine::guest;
use crate::engine::lock::Lock;
use crate::engine::thread::Thread;

/// One BPF instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    k: u32,
}

/// A filter program, as installed.
pub(crate) type Filter = Vec<Instruction>;

static FILTERS: Lock<Vec<Filter>> = Lock::new(Vec::new());

const SET_MODE_STRICT: u64 = 0;
const SET_MODE_FILTER: u64 = 1;

const RET_KILL_PROCESS: u32 = 0x8000_0000;
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

/// Installs strict mode or a filter; other operations are the kernel's to answer.
pub(super) fn install(thread: &mut Thread, call: &Call, operation: u64, filter: u64) -> Answer {
    let program = match operation {
        SET_MODE_STRICT => strict(),
        SET_MODE_FILTER => match read_filter(filter) {
            Ok(program) => program,
            Err(errno) => return fail(errno),
        },
        _ => return pass(thread, call),
    };
    if operation == SET_MODE_FILTER && !may_filter() {
        return fail(libc::EACCES);
    }
    FILTERS.lock().push(program);
    // From now on every call is looked at.
    thread.process.forbid_plain_calls();
    Answer::Value(0)
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
    const LOAD_NUMBER: Instruction = Instruction { code: 0x20, if_true: 0, if_false: 0, k: 0 };
    let allowed = [libc::SYS_read, libc::SYS_write, libc::SYS_exit, libc::SYS_rt_sigreturn];
    let mut program = vec![LOAD_NUMBER];
    for (index, number) in allowed.iter().enumerate() {
        let to_allow = (allowed.len() - index) as u8;
        program.push(Instruction { code: 0x15, if_true: to_allow, if_false: 0, k: *number as u32 });
    }
    program.push(Instruction { code: 0x06, if_true: 0, if_false: 0, k: RET_KILL_THREAD | STRICT });
    program.push(Instruction { code: 0x06, if_true: 0, if_false: 0, k: RET_ALLOW });
    program
}

fn read_filter(at: u64) -> Result<Filter, i32> {
    const LONGEST: u64 = 4096;
    let [len, instructions] = guest::read::<[u64; 2]>(at).map_err(|_| libc::EFAULT)?;
    let len = len & 0xffff;
    if len == 0 || len > LONGEST {
        return Err(libc::EINVAL);
    }
    let bytes = guest::read_bytes(instructions, 8 * len as usize).map_err(|_| libc::EFAULT)?;
    let decode = |b: &[u8]| Instruction {
        code: u16::from_le_bytes([b[0], b[1]]),
        if_true: b[2],
        if_false: b[3],
        k: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
    };
    Ok(bytes.chunks_exact(8).map(decode).collect())
}

/// What the filters say about a call that returns to `pc`; `None` lets it through.
pub(super) fn judge(thread: &mut Thread, call: &Call, pc: u64) -> Option<Answer> {
    let filters = FILTERS.lock().clone();
    if filters.is_empty() {
        return None;
    }
    let data = seccomp_data(call, pc);
    // All filters run; the most severe verdict wins, which is the smallest action taken as a signed number.
    let verdict = filters.iter().map(|filter| run(filter, &data)).min_by_key(|v| (v & ACTION) as i32)?;
    match verdict & ACTION {
        RET_ALLOW | RET_LOG => None,
        RET_ERRNO => Some(fail((verdict & DATA).min(4095) as i32)),
        RET_TRACE | RET_USER_NOTIF => Some(fail(libc::ENOSYS)),
        RET_TRAP => {
            raise_sigsys(thread, call, pc, SYS_SECCOMP, verdict & DATA);
            Some(Answer::Replaced)
        }
        RET_KILL_THREAD if verdict & DATA == STRICT => thread.end_by(libc::SIGKILL as u32),
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

/// Runs a filter. Malformed programs, which the kernel would have refused, kill.
fn run(filter: &Filter, data: &[u32; 16]) -> u32 {
    let (mut a, mut x, mut memory) = (0_u32, 0_u32, [0_u32; 16]);
    let mut at = 0_usize;
    while let Some(&Instruction { code, if_true, if_false, k }) = filter.get(at) {
        at += 1;
        let slot = k as usize & 15;
        let operand = if code & 0x08 != 0 { x } else { k };
        match code & 0x07 {
            // ld: word of the data, immediate, scratch memory, or the data's length
            0x00 => a = load(code, k, data, &memory),
            0x01 => x = load(code, k, data, &memory),
            0x02 => memory[slot] = a,
            0x03 => memory[slot] = x,
            0x04 => match alu(code & 0xf0, a, operand) {
                Some(value) => a = value,
                None => return RET_KILL_PROCESS,
            },
            0x05 => {
                let taken = match code & 0xf0 {
                    0x00 => {
                        at += k as usize;
                        continue;
                    }
                    0x10 => a == operand,
                    0x20 => a > operand,
                    0x30 => a >= operand,
                    _ => a & operand != 0,
                };
                at += usize::from(if taken { if_true } else { if_false });
            }
            0x06 => return if code & 0x18 == 0x10 { a } else { k },
            _ if code & 0xf8 == 0 => x = a,
            _ => a = x,
        }
    }
    RET_KILL_PROCESS
}

fn load(code: u16, k: u32, data: &[u32; 16], memory: &[u32; 16]) -> u32 {
    const DATA_BYTES: u32 = 64;
    match code & 0xe0 {
        0x00 => k,
        0x20 => data.get(k as usize / 4).copied().unwrap_or(0),
        0x60 => memory[k as usize & 15],
        _ => DATA_BYTES,
    }
}

fn alu(operation: u16, a: u32, b: u32) -> Option<u32> {
    Some(match operation {
        0x00 => a.wrapping_add(b),
        0x10 => a.wrapping_sub(b),
        0x20 => a.wrapping_mul(b),
        0x30 => a.checked_div(b)?,
        0x40 => a | b,
        0x50 => a & b,
        0x60 => a.checked_shl(b).unwrap_or(0),
        0x70 => a.checked_shr(b).unwrap_or(0),
        0x80 => a.wrapping_neg(),
        0xa0 => a ^ b,
        _ => return None,
    })
}

/// Hands the filters to the kernel, for a program that is about to be executed natively.
pub(crate) fn make_real() {
    for filter in FILTERS.lock().iter() {
        let encode = |i: &Instruction| {
            u64::from(i.code)
                | u64::from(i.if_true) << 16
                | u64::from(i.if_false) << 24
                | u64::from(i.k) << 32
        };
        let code: Vec<u64> = filter.iter().map(encode).collect();
        let program = [code.len() as u64, code.as_ptr() as u64];
        let args = [SET_MODE_FILTER, 0, program.as_ptr() as u64, 0, 0, 0];
        // SAFETY: the kernel copies the program; what it forbids from here on is what the guest forbade itself.
        unsafe { crate::engine::sys::syscall(libc::SYS_seccomp as u64, args) };
    }
}
