//! Calls that make, replace and end processes and threads, and those about what a process is.

use super::call::{Answer, Call, fail, pass};
use super::signals::signal_waits;
use crate::context::reg;
use crate::engine::layout::CANONICAL_END;
use crate::engine::signals::block_faults_too;
use crate::engine::spawn::{self, CloneArgs};
use crate::engine::thread::Thread;
use crate::engine::{end, exec, guest, sys};
use std::sync::atomic::Ordering;

pub(super) fn setrlimit(thread: &mut Thread, call: &Call) -> Answer {
    limit(thread, call.args[0]);
    pass(thread, call)
}

pub(super) fn prlimit(thread: &mut Thread, call: &Call) -> Answer {
    let [pid, resource, new, ..] = call.args;
    let is_own = pid as u32 == 0 || pid as u32 == std::process::id();
    if is_own && new != 0 {
        limit(thread, resource);
    }
    pass(thread, call)
}

/// Takes what the engine may need later, before `resource` is limited. Natively a program goes on without more memory.
fn limit(thread: &mut Thread, resource: u64) {
    if resource as u32 == libc::RLIMIT_AS {
        // If there is no memory even now, the limit makes it no worse.
        let _ = thread.cache.own();
    }
}

pub(super) fn fork(thread: &mut Thread, _call: &Call) -> Answer {
    spawn::clone(thread, &CloneArgs { exit_signal: libc::SIGCHLD as u64, ..CloneArgs::default() })
}

pub(super) fn vfork(thread: &mut Thread, _call: &Call) -> Answer {
    let flags = (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
    spawn::clone(thread, &CloneArgs { flags, exit_signal: libc::SIGCHLD as u64, ..CloneArgs::default() })
}

pub(super) fn clone(thread: &mut Thread, call: &Call) -> Answer {
    const CSIGNAL: u64 = 0xff;
    let [flags, stack, parent_tid, child_tid, tls, _] = call.args;
    // The low half only: the call takes the flags as an unsigned long, but no flag lies above.
    let args = CloneArgs {
        flags: flags & 0xffff_ffff & !CSIGNAL,
        exit_signal: flags & CSIGNAL,
        stack_pointer: stack,
        parent_tid,
        child_tid,
        tls,
        ..CloneArgs::default()
    };
    spawn::clone(thread, &args)
}

/// The words of the `struct clone_args` of so many bytes at `at`, zero where an older program has none.
fn clone_words(at: u64, size: u64) -> Result<[u64; 11], i32> {
    const SMALLEST: u64 = 64;
    const KNOWN: usize = 88;
    if size < SMALLEST {
        return Err(libc::EINVAL);
    }
    if size > crate::engine::layout::PAGE {
        return Err(libc::E2BIG);
    }
    let bytes = guest::read_bytes(at, size as usize).map_err(|_| libc::EFAULT)?;
    if bytes.iter().skip(KNOWN).any(|&byte| byte != 0) {
        return Err(libc::E2BIG);
    }
    let mut words = [0_u64; KNOWN / 8];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = chunk.iter().rev().fold(0, |acc, &byte| acc << 8 | u64::from(byte));
    }
    Ok(words)
}

pub(super) fn clone3(thread: &mut Thread, call: &Call) -> Answer {
    let words = match clone_words(call.args[0], call.args[1]) {
        Ok(words) => words,
        Err(errno) => return fail(errno),
    };
    let [flags, pidfd, child_tid, parent_tid, exit_signal, ..] = words;
    let [.., stack, stack_size, tls, set_tid, set_tid_size, cgroup] = words;
    if (stack == 0) != (stack_size == 0) {
        return fail(libc::EINVAL);
    }
    let args = CloneArgs {
        flags,
        exit_signal,
        stack_pointer: if stack == 0 { 0 } else { stack + stack_size },
        parent_tid,
        child_tid,
        tls,
        extended: Some(spawn::Extended { pidfd, set_tid, set_tid_size, cgroup }),
    };
    spawn::clone(thread, &args)
}

pub(super) fn execve(thread: &mut Thread, call: &Call) -> Answer {
    let [path, argv, envp, ..] = call.args;
    exec::execve(thread, call, path, argv, envp)
}

pub(super) fn execveat(thread: &mut Thread, call: &Call) -> Answer {
    exec::execveat(thread, call)
}

pub(super) fn exit(thread: &mut Thread, call: &Call) -> Answer {
    // What this thread has taken from the kernel nobody else will get.
    block_faults_too();
    if signal_waits(thread) {
        return Answer::NotMade;
    }
    Answer::Exit(call.args[0] as i32)
}

pub(super) fn exit_group(thread: &mut Thread, call: &Call) -> Answer {
    end::by_exit(thread, call.args[0] as i32)
}

pub(super) fn prctl(thread: &mut Thread, call: &Call) -> Answer {
    const PR_GET_SECCOMP: u64 = 21;
    const PR_SET_SECCOMP: u64 = 22;
    const FILTERED: u64 = 2;
    match call.args[0] {
        PR_GET_SECCOMP if super::seccomp::is_installed() => Answer::Value(FILTERED),
        PR_SET_SECCOMP => super::seccomp::set_mode(thread, call.args[1], call.args[2]),
        super::user_dispatch::OPERATION => super::user_dispatch::set(thread, call),
        // Moving the kernel's idea of heap and stack would only confuse the two of us.
        n if n == libc::PR_SET_MM as u64 => fail(libc::EPERM),
        _ => pass(thread, call),
    }
}

/// The engine has registered the process for barriers among its threads; the guest may not have.
pub(super) fn membarrier(thread: &mut Thread, call: &Call) -> Answer {
    const GET_REGISTRATIONS: i32 = 1 << 9;
    let asked = thread.process.asked_for_barriers.load(Ordering::SeqCst);
    let command = call.args[0] as i32;
    if command == libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED && !asked {
        return fail(libc::EPERM);
    }
    let answer = pass(thread, call);
    match answer {
        Answer::Value(0) if command == libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED => {
            thread.process.asked_for_barriers.store(true, Ordering::SeqCst);
            answer
        }
        Answer::Value(registered)
            if command == GET_REGISTRATIONS && !asked && sys::check(registered).is_ok() =>
        {
            Answer::Value(registered & !(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED as u64))
        }
        _ => answer,
    }
}

pub(super) fn arch_prctl(thread: &mut Thread, call: &Call) -> Answer {
    const SET_GS: u64 = 0x1001;
    const SET_FS: u64 = 0x1002;
    const GET_FS: u64 = 0x1003;
    const GET_GS: u64 = 0x1004;
    let [operation, address, ..] = call.args;
    match operation & 0xffff_ffff {
        SET_FS if address >= CANONICAL_END => fail(libc::EPERM),
        SET_FS => {
            thread.context.guest_fs = address;
            Answer::Value(0)
        }
        GET_FS => match guest::write(address, thread.context.guest_fs) {
            Ok(()) => Answer::Value(0),
            Err(guest::Fault) => fail(libc::EFAULT),
        },
        SET_GS if thread.process.has_mirror() && address >= CANONICAL_END => fail(libc::EPERM),
        SET_GS if thread.process.has_mirror() => {
            thread.context.guest_gs = address;
            Answer::Value(0)
        }
        GET_GS if thread.process.has_mirror() => match guest::write(address, thread.context.guest_gs) {
            Ok(()) => Answer::Value(0),
            Err(guest::Fault) => fail(libc::EFAULT),
        },
        SET_GS | GET_GS => {
            // SAFETY: no engine code addresses memory through GS.
            Answer::Value(unsafe { sys::syscall(call.number, call.args) })
        }
        _ => pass(thread, call),
    }
}

/// Sets a new thread's registers: the parent's, but for the result and the stack.
pub(crate) fn child_registers(regs: &mut [u64; 16], stack_pointer: u64) {
    regs[reg::RAX] = 0;
    if stack_pointer != 0 {
        regs[reg::RSP] = stack_pointer;
    }
}
