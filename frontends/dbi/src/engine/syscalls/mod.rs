//! The guest's system calls: what passes to the kernel as it is, and what the engine answers or changes.
//!
//! [`table`] has one row per call; the modules hold the calls that concern them. Translated code makes the calls of
//! class `Plain` itself; all others come here.

mod bpf;
mod files;
mod memory;
mod proc_files;
pub(crate) mod process;
pub(crate) mod queued;
mod reads;
pub(crate) mod seccomp;
mod signals;
pub(crate) mod table;
pub(crate) mod user_dispatch;
mod wait;
mod writes;

use super::signals::{Pending, frame::Trap};
use super::switch::{self, NOT_MADE};
use super::sys;
use super::thread::{Next, Thread};
use crate::context::reg;
use crate::runtime::handed::Begun;
pub(crate) use proc_files::own_executable;
pub(crate) use process::child_registers;
pub(crate) use signals::signal_waits;
use table::Class;

/// A system call as the guest asked for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) args: [u64; 6],
}

/// Outcome of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The value for rax.
    Value(u64),
    /// A signal must be delivered first; the guest then makes the call again.
    NotMade,
    /// The guest's registers, pc included, have been replaced.
    Replaced,
    /// The thread ends with this status.
    Exit(i32),
}

/// The answer that is an error.
pub(crate) const fn fail(errno: i32) -> Answer {
    Answer::Value(sys::errno(errno))
}

/// Number of this architecture in `si_arch` and filters (`linux/audit.h`).
const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

/// Sends `SIGSYS` in place of a call that would have returned to `pc`; `code` and `errno` say why (sigaction(2)).
fn raise_sigsys(thread: &mut Thread, call: &Call, pc: u64, code: u64, errno: u32) {
    let mut info = [0; 16];
    info[0] = libc::SIGSYS as u64 | u64::from(errno) << 32;
    info[1] = code;
    info[2] = pc;
    info[3] = call.number | u64::from(AUDIT_ARCH_X86_64) << 32;
    let eflags = thread.context.rflags;
    thread.raise(&Pending { signal: libc::SIGSYS as u32, info }, Trap::default(), eflags);
}

/// Length of the `syscall` instruction, bytes.
pub(crate) const SYSCALL_BYTES: u64 = 2;

/// Carries out the system call that translated code left for.
pub(crate) fn call(thread: &mut Thread) -> Next {
    let regs = &thread.context.regs;
    let args = [regs[reg::RDI], regs[reg::RSI], regs[reg::RDX], regs[reg::R10], regs[reg::R8], regs[reg::R9]];
    // The kernel looks at the low half of rax only.
    let call = Call { number: u64::from(regs[reg::RAX] as u32), args };
    let next = thread.context.syscall_next;
    thread.pc = next;
    // What the instruction leaves in these registers.
    thread.context.regs[reg::RCX] = next;
    thread.context.regs[reg::R11] = thread.context.rflags;
    let begun = writes::begin_to_send(thread, &call);
    match answer(thread, &call) {
        Answer::Value(value) => take_answer(thread, &call, &begun, value),
        Answer::NotMade => {
            writes::not_sent(thread, &call, &begun);
            thread.pc = next - SYSCALL_BYTES;
        }
        Answer::Replaced => {}
        Answer::Exit(status) => return Next::Exit(status),
    }
    Next::Run
}

/// The result for the guest; what a successful call has written carries no shadow but that of what was handed on.
fn take_answer(thread: &mut Thread, call: &Call, begun: &Begun, value: u64) {
    thread.context.regs[reg::RAX] = value;
    if sys::error_of(value).is_none() {
        reads::note(thread, call, value);
        reads::note_written(thread, call, value);
    }
    if !thread.process.is_annotating() {
        return;
    }
    if sys::error_of(value).is_none() {
        writes::forget_shadows(thread, call, value);
        writes::look_at_received(thread, call, value);
        writes::look_at_borrowed(thread, call, thread.pc, value);
    }
    let next = thread.pc;
    writes::look_at_sent(thread, call, begun, next, value);
}

/// A request was seen after translated code had made a system call.
pub(crate) fn made(thread: &mut Thread) {
    let next = thread.context.syscall_next;
    thread.pc = next;
    thread.context.regs[reg::RCX] = next;
    if was_kicked(thread, thread.context.regs[reg::RAX]) {
        thread.context.regs[reg::RAX] = thread.context.syscall_number;
        thread.pc = next - SYSCALL_BYTES;
    }
}

/// Tells whether a call was interrupted by no signal of the guest's, so that it has to be made again.
fn was_kicked(thread: &Thread, result: u64) -> bool {
    sys::error_of(result) == Some(libc::EINTR)
        && thread.context.caught.iter().all(|caught| caught.signal == 0)
}

fn answer(thread: &mut Thread, call: &Call) -> Answer {
    if let Some(verdict) = user_dispatch::judge(thread, call, thread.pc) {
        return verdict;
    }
    if let Some(verdict) = seccomp::judge(thread, call, thread.pc) {
        return verdict;
    }
    match table::row_of(call.number).map(|row| row.class) {
        Some(Class::By(handler) | Class::OfDescriptor(handler)) => handler(thread, call),
        Some(Class::Refused(errno)) => fail(errno),
        Some(Class::Plain) | None => {
            let answer = pass(thread, call);
            proc_files::after_write(thread, call, answer);
            answer
        }
    }
}

/// Hands a call to the kernel as it is.
pub(crate) fn pass(thread: &mut Thread, call: &Call) -> Answer {
    let [a, b, c, d, e, f] = call.args;
    let words = [call.number, a, b, c, d, e, f];
    // SAFETY: calls that could map over or unmap the engine, or change its signals, have handlers of their own; the
    // rest touch the guest's memory only, where the guest says.
    let call_kernel = || unsafe { switch::guest_syscall(&words, thread.context) };
    let result = thread.process.threads.away(thread.context, call_kernel);
    if result == NOT_MADE || was_kicked(thread, result) {
        return Answer::NotMade;
    }
    if sys::error_of(result) == Some(libc::EFAULT) && memory::release_watched(thread) {
        return pass(thread, call);
    }
    Answer::Value(result)
}

/// `int 0x80` in 64-bit code: the 32-bit interface. Calls that mean the same in both interfaces are answered; those
/// with structures of another layout are not.
pub(crate) fn call32(thread: &mut Thread, pc: u64) -> Next {
    /// Numbers up to here are given out on recent kernels.
    const LAST_KNOWN: u32 = 470;
    let regs = &thread.context.regs;
    let number = regs[reg::RAX] as u32;
    let args =
        [reg::RBX, reg::RCX, reg::RDX, reg::RSI, reg::RDI, reg::RBP].map(|r| u64::from(regs[r] as u32));
    let Some(number64) = table::same_as_32_bit(number) else {
        if number <= LAST_KNOWN {
            thread.say(&format!("32-bit system call {number} (int 0x80) is not supported; answered ENOSYS"));
        }
        thread.context.regs[reg::RAX] = sys::errno(libc::ENOSYS);
        return Next::Run;
    };
    let call = Call { number: number64, args };
    let begun = writes::begin_to_send(thread, &call);
    match answer(thread, &call) {
        Answer::Value(value) => take_answer(thread, &call, &begun, value),
        Answer::NotMade => {
            writes::not_sent(thread, &call, &begun);
            thread.pc = pc;
        }
        Answer::Replaced => {}
        Answer::Exit(status) => return Next::Exit(status),
    }
    Next::Run
}
