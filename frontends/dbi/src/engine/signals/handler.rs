//! The kernel's end of signals: the one handler it knows, which runs at any moment and only takes notes.
//!
//! It may interrupt translated code, the border in `switch`, or Rust anywhere; so it allocates nothing and locks nothing. Of
//! the thread it borrows the mailbox, and all else only where it has interrupted translated code: then no Rust of the thread
//! is in the middle of using it.

use super::action::Actions;
use super::fault::{ERROR_WRITE, TRAP_PAGE_FAULT};
use super::{NEVER_BLOCKED, SYNCHRONOUS, bit};
use crate::context::{Context, Fault, TRAP_FLAG};
use crate::engine::first_touch::{self, PageFault};
use crate::engine::switch::{self, Rewind};
use crate::engine::thread::Thread;
use crate::engine::threads::{KICK, KICK_PAYLOAD};
use crate::engine::{diagnose, layout, stepping, sys};
use crate::mailbox::{Mailbox, PendingSignal};
use std::arch::global_asm;
use std::mem::offset_of;

/// Size and alignment of a thread's stack for this handler; the context's address is in its first word, which is
/// how the handler finds it when every register is the guest's.
pub(crate) const STACK_BYTES: u64 = 64 << 10;

global_asm!(
    ".globl shadowgrind_signal_entry",
    "shadowgrind_signal_entry:",
    // The kernel leaves AC as the guest set it, and Rust does not align every access. Other flags stay: ID is not in
    // what the kernel restores from a frame.
    "pushfq",
    "and dword ptr [rsp], 0xfffbffff",
    "popfq",
    "mov rcx, rsp",
    "and rcx, {STACK_MASK}",
    "mov rcx, [rcx]",
    "push r12",
    "cmp qword ptr [rcx + {FSGSBASE}], 0",
    "je 2f",
    "rdfsbase r12",
    "mov rax, [rcx + {HOST_FS}]",
    "wrfsbase rax",
    "call {ON_SIGNAL}",
    "wrfsbase r12",
    "pop r12",
    "ret",
    // Without FSGSBASE the handler runs on whatever FS is: it uses no thread-local storage.
    "2:",
    "call {ON_SIGNAL}",
    "pop r12",
    "ret",
    ".globl shadowgrind_signal_restorer",
    "shadowgrind_signal_restorer:",
    "mov eax, 15",
    "syscall",
    STACK_MASK = const -(STACK_BYTES as i64),
    FSGSBASE = const offset_of!(Context, fsgsbase),
    HOST_FS = const offset_of!(Context, host_fs),
    ON_SIGNAL = sym on_signal,
);

/// Writes the context's address where the handler looks for it, on the stack at `base`.
pub(crate) fn write_context_pointer(base: u64, context: u64) {
    // SAFETY: the stack was mapped for this purpose and is not in use yet.
    unsafe { (base as *mut u64).write(context) };
}

/// Makes the stack at `base` the calling thread's for the handler.
pub(crate) fn use_stack(base: u64) {
    // The first page holds the context's address; a frame never reaches down to it.
    let stack = [base + layout::PAGE, 0, STACK_BYTES - layout::PAGE];
    // SAFETY: the kernel reads the structure.
    unsafe { sys::syscall(libc::SYS_sigaltstack as u64, [stack.as_ptr() as u64, 0, 0, 0, 0, 0]) };
}

/// The interrupted state, as far as the handler changes it.
struct Interrupted<'a> {
    machine: &'a mut libc::mcontext_t,
    mask: &'a mut u64,
}

impl Interrupted<'_> {
    fn get(&self, register: i32) -> u64 {
        self.machine.gregs[register as usize] as u64
    }

    fn set(&mut self, register: i32, value: u64) {
        self.machine.gregs[register as usize] = value as i64;
    }

    fn pc(&self) -> u64 {
        self.get(libc::REG_RIP)
    }
}

unsafe extern "C" fn on_signal(
    signal: i32,
    info: *const [u64; 16],
    frame: *mut libc::ucontext_t,
    context: *mut Context,
) {
    // SAFETY: the kernel passes a valid siginfo.
    let info = unsafe { *info };
    // SAFETY: the kernel passes a valid frame, which is ours until the handler returns.
    let frame = unsafe { &mut *frame };
    let mut interrupted = Interrupted {
        machine: &mut frame.uc_mcontext,
        // SAFETY: the kernel's mask is the first eight bytes of the C library's.
        mask: unsafe { &mut *std::ptr::from_mut(&mut frame.uc_sigmask).cast() },
    };
    // SAFETY: the context is this thread's own, found through its signal stack, and contexts are made with a mailbox.
    let mailbox = unsafe { Mailbox::of(context) };
    let code = info[1] as u32 as i32;
    if bit(signal as u32) & SYNCHRONOUS != 0 && code > 0 {
        synchronous(signal, &info, &mut interrupted, (context, mailbox));
    } else {
        let kick = signal as u32 == KICK && code == libc::SI_QUEUE && info[3] == KICK_PAYLOAD;
        if !kick {
            catch(signal as u32, info, mailbox);
            // Nothing else until this one is delivered.
            *interrupted.mask = !NEVER_BLOCKED;
        }
        mailbox.request();
        divert(&mut interrupted, context);
    }
}

/// Notes a signal for the thread to deliver, with its action as it is now.
fn catch(signal: u32, info: [u64; 16], mailbox: &Mailbox) {
    // SAFETY: what was published last is alive: the thread publishes the next before it drops one.
    let actions: &Actions = unsafe { &*mailbox.actions() };
    let action = actions.get(signal).into();
    // SAFETY: this is the owner's signal handler.
    unsafe { mailbox.put(super::place_of(signal), PendingSignal { signal, info, action }) };
}

/// Tells whether the interrupted code is a thread's translated code, or the stubs around it: no Rust is in that gigabyte.
fn is_translated(pc: u64) -> bool {
    (layout::ENGINE_START..layout::ENGINE_END).contains(&pc)
}

/// A fault: in translated code it becomes an exit, in a guarded copy an error; anywhere else it is our own.
fn synchronous(
    signal: i32,
    info: &[u64; 16],
    interrupted: &mut Interrupted<'_>,
    (context, mailbox): (*mut Context, &Mailbox),
) {
    let pc = interrupted.pc();
    if let Some(recovery) = switch::guarded_copy_recovery(pc) {
        interrupted.set(libc::REG_RIP, recovery);
        return;
    }
    let trap = interrupted.get(libc::REG_TRAPNO);
    let eflags = interrupted.get(libc::REG_EFL);
    if signal == libc::SIGSEGV && trap == TRAP_PAGE_FAULT {
        let writes = interrupted.get(libc::REG_ERR) & ERROR_WRITE != 0;
        let fault = PageFault { address: interrupted.get(libc::REG_CR2), host_pc: pc, writes, eflags };
        if let Some(eflags) = first_touch::touched(&mailbox.touches, fault) {
            return interrupted.set(libc::REG_EFL, eflags);
        }
    }
    if signal == libc::SIGTRAP && first_touch::stepped(&mailbox.touches) {
        return interrupted.set(libc::REG_EFL, eflags & !TRAP_FLAG);
    }
    // A breakpoint's address is that after the instruction.
    let is_step = stepping::is_step_trap(signal, info[1], trap, eflags);
    if is_step && !is_translated(pc) {
        return;
    }
    // SAFETY: if no translated code was interrupted, the engine has crashed, and what used the thread does not go on.
    let thread = unsafe { thread_of(context) };
    if is_step && passes_over(thread, pc) {
        return;
    }
    if !is_translated(pc.wrapping_sub(1)) {
        diagnose::crash(thread, signal, pc, info[2]);
    }
    thread.context.fault = Fault {
        signal: signal as u64,
        host_pc: pc,
        trap,
        error: interrupted.get(libc::REG_ERR),
        address: interrupted.get(libc::REG_CR2),
        eflags,
        info: *info,
    };
    let stub = thread.cache.stubs().fault;
    interrupted.set(libc::REG_RIP, stub);
    // A single-step trap must not follow into the engine.
    interrupted.set(libc::REG_EFL, eflags & !TRAP_FLAG);
}

/// Tells whether a single step in translated code that ends at `pc` is none of the guest's: outside blocks, or where they
/// were entered.
fn passes_over(thread: &mut Thread, pc: u64) -> bool {
    let arrives = pc == thread.context.entry && !std::mem::replace(&mut thread.arrived, true);
    arrives || thread.cache.is_stub(pc)
}

/// Makes the interrupted thread come to the engine soon.
fn divert(interrupted: &mut Interrupted<'_>, context: *mut Context) {
    let pc = interrupted.pc();
    match switch::rewind_for(pc) {
        Some(Rewind::Entry(abort)) => return abort_entry(interrupted, context, abort),
        Some(Rewind::Call(abort)) => return interrupted.set(libc::REG_RIP, abort),
        None => {}
    }
    if !is_translated(pc) {
        return;
    }
    // SAFETY: translated code was interrupted.
    let thread = unsafe { thread_of(context) };
    let stubs = *thread.cache.stubs();
    let within = |(start, end): (u64, u64)| start <= pc && pc < end;
    if within(stubs.entering()) {
        abort_entry(interrupted, context, switch::entry_abort());
    } else if within(stubs.syscall_before) {
        interrupted.set(libc::REG_RIP, stubs.syscall_slow);
    } else if within(stubs.syscall_after) {
        interrupted.set(libc::REG_RIP, stubs.syscall_after_slow);
    } else {
        let resume = thread.cache.divert(pc);
        thread.diverted = pc;
        interrupted.set(libc::REG_RIP, resume);
    }
}

fn abort_entry(interrupted: &mut Interrupted<'_>, context: *mut Context, abort: u64) {
    interrupted.set(libc::REG_RIP, abort);
    interrupted.set(libc::REG_RDI, context as u64);
}

/// The thread of a context.
///
/// # Safety
/// The context must be the calling thread's own. Translated code of it was interrupted, or what was interrupted never goes on;
/// and the result is not used beyond the handler.
unsafe fn thread_of<'a>(context: *mut Context) -> &'a mut Thread {
    // SAFETY: the field is written once, before the first entry. The one Rust frame that has borrowed the thread is `run_code`,
    // which has exposed that borrow for this and does not use it before translated code has been left.
    let thread = unsafe { (*context).thread };
    // SAFETY: as above; threads are never freed.
    unsafe { &mut *std::ptr::with_exposed_provenance_mut(thread as usize) }
}
