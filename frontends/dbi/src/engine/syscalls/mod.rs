//! The guest's system calls: what passes to the kernel as it is, and what the engine answers or changes.
//!
//! [`table`] has one row per call; the modules hold the calls that concern them. Translated code makes the calls of
//! class `Plain` itself; all others come here.

mod bpf;
pub(crate) mod call;
mod files;
mod memory;
pub(crate) mod proc_files;
pub(crate) mod process;
pub(crate) mod queued;
mod reads;
pub(crate) mod seccomp;
pub(crate) mod signals;
pub(crate) mod table;
pub(crate) mod user_dispatch;
mod wait;
mod writes;

use super::sys::{self, SYSCALL_BYTES};
use super::thread::{Next, Thread};
use crate::context::reg;
use crate::engine::handed::Begun;
use call::{Answer, Call, fail, pass, release_watched, was_kicked};
use table::Class;

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
        reads::note_for_second_run(call, value);
    }
    if !thread.process.is_annotating() {
        return;
    }
    if sys::error_of(value).is_none() {
        writes::forget_shadows(thread, call, value);
        writes::look_at_received(thread, call, thread.pc, value);
        writes::look_at_fetched(thread, call, thread.pc, value);
    }
    let next = thread.pc;
    writes::look_at_sent(thread, call, begun, next, value);
}

/// Translated code has made a system call, and a request was seen after it, or it failed on the guest's memory.
pub(crate) fn made(thread: &mut Thread) {
    let next = thread.context.syscall_next;
    thread.pc = next;
    thread.context.regs[reg::RCX] = next;
    let result = thread.context.regs[reg::RAX];
    let faulted = sys::error_of(result) == Some(libc::EFAULT);
    if was_kicked(thread, result) || faulted && release_watched(thread) {
        thread.context.regs[reg::RAX] = thread.context.syscall_number;
        thread.pc = next - SYSCALL_BYTES;
    }
}

fn answer(thread: &mut Thread, call: &Call) -> Answer {
    if let Some(verdict) = user_dispatch::judge(thread, call, thread.pc) {
        return verdict;
    }
    if let Some(verdict) = seccomp::judge(thread, call, thread.pc) {
        return verdict;
    }
    // The kernel would write up to a page that we protect, and call that a success.
    if thread.process.watches_writers() && thread.process.changes.protects(&writes::may_write(call)) {
        release_watched(thread);
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
