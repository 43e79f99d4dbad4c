//! New threads and processes: the guest's `clone` in all its forms.
//!
//! A child that shares memory runs on a carrier: an engine stack, thread-local storage, signal stack, context and
//! code cache of its own. Carriers outlive their threads and are adopted, with their warm caches, by later ones. A
//! child with memory of its own is this process over again.

mod fork;

use super::carrier::Carrier;
use super::descriptors::Table;
use super::layout::PAGE;
use super::lock::Lock;
use super::process::Process;
use super::raised::Raised;
use super::signals::action::Actions;
use super::signals::{Signals, block_all, block_faults_too, handler, set_kernel_mask};
use super::syscalls::call::{Answer, fail};
use super::syscalls::process::child_registers;
use super::syscalls::signals::signal_waits;
use super::thread::{self, Thread};
use super::threads::Handle;
use super::translate::Translator;
use super::{arena, cache, chaos, stats, sys, tls};
use crate::context::XSAVE_MASK;
use crate::mailbox::{PLACED_BYTES, place_context};
use crate::x86::mode::Mode;
use fork::fork;
use std::arch::global_asm;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

global_asm!(
    // clone(rdi = flags, rsi = stack top, rdx = parent tid, rcx = child tid, r8 = tls, r9 = thread): the child calls
    // shadowgrind_thread_main(thread) on its new stack.
    ".globl shadowgrind_clone",
    "shadowgrind_clone:",
    "mov r10, rcx",
    "mov eax, 56",
    "syscall",
    "test rax, rax",
    "jz 2f",
    "ret",
    "2:",
    "xor ebp, ebp",
    "mov rdi, r9",
    "call {MAIN}",
    "ud2",
    // clone3(rdi = args, rsi = size, rdx = thread)
    ".globl shadowgrind_clone3",
    "shadowgrind_clone3:",
    "mov r9, rdx",
    "mov eax, 435",
    "syscall",
    "test rax, rax",
    "jz 2b",
    "ret",
    // Ends the thread with status edi after freeing its carrier by the word at rsi: from that store on, the stack
    // may belong to somebody else. Does so after rdx rounds of a loop, for tests.
    ".globl shadowgrind_thread_exit",
    "shadowgrind_thread_exit:",
    "mov dword ptr [rsi], 1",
    "3:",
    "sub rdx, 1",
    "jnc 3b",
    "mov eax, 60",
    "syscall",
    "ud2",
    MAIN = sym thread_main,
);

unsafe extern "C" {
    fn shadowgrind_clone(
        flags: u64,
        stack: u64,
        parent_tid: u64,
        child_tid: u64,
        tls: u64,
        thread: *mut libc::c_void,
    ) -> u64;
    fn shadowgrind_clone3(args: *const [u64; 11], size: u64, thread: *mut libc::c_void) -> u64;
    fn shadowgrind_thread_exit(status: i32, free: *const AtomicU32, rounds: u64) -> !;
}

/// A guest's request for a child.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CloneArgs {
    pub(crate) flags: u64,
    pub(crate) exit_signal: u64,
    /// Initial stack pointer; 0 for the parent's.
    pub(crate) stack_pointer: u64,
    pub(crate) parent_tid: u64,
    pub(crate) child_tid: u64,
    pub(crate) tls: u64,
    /// The arguments that only `clone3` has.
    pub(crate) extended: Option<Extended>,
}

/// The fields of `struct clone_args` that `clone` lacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extended {
    pub(crate) pidfd: u64,
    pub(crate) set_tid: u64,
    pub(crate) set_tid_size: u64,
    pub(crate) cgroup: u64,
}

impl Extended {
    /// The words of `struct clone_args`; `stack` is its lowest address and the number of its bytes.
    fn words(&self, args: &CloneArgs, flags: u64, stack: (u64, u64), tls: u64) -> [u64; 11] {
        [
            flags,
            self.pidfd,
            args.child_tid,
            args.parent_tid,
            args.exit_signal,
            stack.0,
            stack.1,
            tls,
            self.set_tid,
            self.set_tid_size,
            self.cgroup,
        ]
    }
}

impl CloneArgs {
    fn has(&self, flag: i32) -> bool {
        self.flags & flag as u32 as u64 != 0
    }

    fn clears_handlers(&self) -> bool {
        self.flags & CLONE_CLEAR_SIGHAND != 0
    }
}

/// Threads whose carriers can be adopted, as soon as they are free.
static RETIRED: Lock<Vec<usize>> = Lock::new(Vec::new());

const STACK_BYTES: u64 = 256 << 10;

/// The child's handlers are reset to the defaults. The kernel is never told of it: it would reset the engine's.
const CLONE_CLEAR_SIGHAND: u64 = 1 << 32;

/// Makes the child the guest asked for.
pub(crate) fn clone(thread: &mut Thread, args: &CloneArgs) -> Answer {
    if args.clears_handlers() && args.has(libc::CLONE_SIGHAND) {
        return fail(libc::EINVAL);
    }
    if !args.has(libc::CLONE_THREAD) {
        thread.client().forks();
    }
    block_all();
    if signal_waits(thread) {
        // It came before the child exists, so it is delivered before.
        return Answer::NotMade;
    }
    let answer = if args.has(libc::CLONE_VM) { share(thread, args) } else { fork(thread, args) };
    set_kernel_mask(thread.signals.mask);
    answer
}

/// A child that shares memory.
fn share(parent: &mut Thread, args: &CloneArgs) -> Answer {
    // One that waits for its child sees nothing meanwhile.
    if !args.has(libc::CLONE_VFORK) && parent.translator.end_alone() {
        // Code made so far takes it that nobody else sees memory. It goes before the parent runs any of it.
        parent.process.changes.forget_code();
        parent.mailbox.request();
    }
    let made = adopt(parent).or_else(|| make(parent.process, &parent.descriptors));
    let Some(child) = made else { return fail(libc::EAGAIN) };
    prepare(parent, child, args);
    parent.process.threads.add(child.handle.clone());
    let handle = child.handle.clone();
    let (stack_top, fs) = (child.carrier.stack_top, child.carrier.fs);
    // The child's TLS is the engine's; the guest's goes into the child's context.
    let flags = args.flags & !CLONE_CLEAR_SIGHAND | libc::CLONE_SETTLS as u64;
    let child = std::ptr::from_mut(child);
    // The child starts with this mask; the parent's is restored when all is done.
    block_faults_too();
    chaos::point();
    let clone = || match args.extended {
        None => {
            let flags = flags | args.exit_signal;
            // SAFETY: the child starts on a stack and thread-local storage that only it uses, in `thread_main`.
            unsafe { shadowgrind_clone(flags, stack_top, args.parent_tid, args.child_tid, fs, child.cast()) }
        }
        Some(extra) => {
            let words = extra.words(args, flags, (stack_top - STACK_BYTES, STACK_BYTES), fs);
            // SAFETY: as above.
            unsafe { shadowgrind_clone3(&words, size_of_val(&words) as u64, child.cast()) }
        }
    };
    let result = parent.process.threads.away(parent.mailbox, clone);
    chaos::point();
    let failed = sys::error_of(result).is_some();
    if failed || args.has(libc::CLONE_VFORK) {
        // Either there is no child, or it has executed a program or ended: nobody runs on the carrier any more.
        parent.process.threads.remove(&handle);
        // SAFETY: the thread is never freed, and the one that might have run on it is gone.
        retire(unsafe { &mut *child }, true);
    }
    Answer::Value(result)
}

fn adopt(parent: &Thread) -> Option<&'static mut Thread> {
    let mut retired = RETIRED.lock();
    let is_free = |&address: &usize| {
        // SAFETY: retired threads are never freed; only the atomic is looked at.
        let carrier = unsafe { &(*(address as *const Thread)).carrier };
        carrier.free.load(Ordering::Acquire) == 1
    };
    let index = retired.iter().position(is_free)?;
    let address = retired.swap_remove(index);
    drop(retired);
    chaos::point();
    // SAFETY: it was on the list once and is free, so this is the only reference.
    let thread = unsafe { &mut *(address as *mut Thread) };
    debug_assert!(std::ptr::eq(thread.process, parent.process));
    Some(thread)
}

/// A thread on a new carrier; `None` without memory for it.
#[expect(clippy::mut_from_ref, reason = "the thread is new")]
fn make(process: &'static Process, descriptors: &Arc<Table>) -> Option<&'static mut Thread> {
    let size = STACK_BYTES + tls::bytes_needed();
    let base = sys::map_anywhere(PAGE + size, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    // The lowest page catches a stack that overflows.
    // SAFETY: the page was just mapped and nobody uses it.
    unsafe { sys::syscall(libc::SYS_mprotect as u64, [base, PAGE, 0, 0, 0, 0]) };
    let stack_top = base + PAGE + STACK_BYTES;
    // SAFETY: the memory above the stack was mapped for this.
    let fs = unsafe { tls::build(stack_top) };
    let signal_stack = map_signal_stack()?;
    let carrier = Carrier { stack_top, fs, signal_stack, free: AtomicU32::new(0) };
    new_thread(process, carrier, descriptors.clone(), fs)
}

/// Maps a signal handler's stack: its alignment is how the handler finds its context.
pub(crate) fn map_signal_stack() -> Option<u64> {
    let size = handler::STACK_BYTES;
    let base = sys::map_anywhere(2 * size, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    Some(base.next_multiple_of(size))
}

/// The carrier of the thread the process starts with, which has the kernel's stack and the C library's TLS.
pub(crate) fn initial_carrier() -> Option<Carrier> {
    Some(Carrier {
        stack_top: 0,
        fs: sys::fs_base(),
        signal_stack: map_signal_stack()?,
        free: AtomicU32::new(0),
    })
}

/// A thread with a context and a cache of its own. Threads are never freed.
#[expect(clippy::mut_from_ref, reason = "the thread is new")]
pub(crate) fn new_thread(
    process: &'static Process,
    carrier: Carrier,
    descriptors: Arc<Table>,
    fs: u64,
) -> Option<&'static mut Thread> {
    let address = arena::take(PLACED_BYTES, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    // SAFETY: the memory was just mapped, whole pages that are zero, and is never unmapped.
    let (context, mailbox) = unsafe { place_context(address) };
    let services = process.services;
    let called = [process.plain_calls, services.evaluator];
    let cache = cache::Cache::new(address, called, process.options.link, services.attends).ok()?;
    context.reset_cpu_state();
    context.host_fs = fs;
    context.enter_stub = cache.stubs().enter;
    context.xsave_mask = XSAVE_MASK & super::cpuid::host_xgetbv(0);
    context.fsgsbase = u64::from(process.options.fsgsbase && has_fsgsbase());
    let client_state = process.client.thread_state(context, mailbox);
    let mirror = process.client.annotator((process.vdso.start, process.vdso.end));
    let mut translator = Translator::new(&cache, thread::limits(process), process.options.hot_after, mirror);
    if process.threads.count() == 0 {
        translator.begin_alone();
    }
    let actions = Arc::new(Actions::empty());
    mailbox.publish(&actions);
    let handle = Arc::new(Handle::new(context, mailbox, process.changes.latest()));
    let signal_stack = carrier.signal_stack;
    let thread = Box::leak(Box::new(Thread {
        context,
        mailbox,
        cache,
        translator,
        process,
        handle,
        signals: Signals::new(actions, 0),
        descriptors,
        pc: 0,
        mode: Mode::BARE,
        client_state,
        diverted: 0,
        raised: Raised::new(),
        arrived: false,
        onward: None,
        counters: thread::Counters::NONE,
        carrier,
        own_process: false,
        clears_handlers: false,
        user_dispatch: None,
    }));
    thread.context.thread = std::ptr::from_mut(thread) as u64;
    handler::write_context_pointer(signal_stack, address);
    Some(thread)
}

/// Tells whether processor and kernel let programs read and write the bases of FS and GS.
fn has_fsgsbase() -> bool {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: reads the process's own auxiliary vector.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0 }
}

/// Gives the child the parent's state, as `clone` copies it.
fn prepare(parent: &mut Thread, child: &mut Thread, args: &CloneArgs) {
    let context = &mut *child.context;
    context.regs = parent.context.regs;
    child_registers(&mut context.regs, args.stack_pointer);
    context.rflags = parent.context.rflags;
    context.xsave.0 = parent.context.xsave.0;
    context.guest_gs = parent.context.guest_gs;
    child.mode = Mode::BARE;
    child.client().thread_begins(child);
    child.context.guest_fs = if args.has(libc::CLONE_SETTLS) { args.tls } else { parent.context.guest_fs };
    child.pc = parent.pc;
    prepare_signals(parent, child, args);
    prepare_process(parent, child, args);
    child.carrier.free.store(0, Ordering::SeqCst);
    // A warm cache catches up with what has changed before anything of it runs.
    let seen = child.handle.seen.load(Ordering::SeqCst);
    child.handle = Arc::new(Handle::new(&*child.context, child.mailbox, seen));
    child.mailbox.request();
    child.mailbox.goes_away();
}

/// Gives the child the parent's signal handlers, or a copy of them, and its mask.
fn prepare_signals(parent: &Thread, child: &mut Thread, args: &CloneArgs) {
    let actions = if args.has(libc::CLONE_SIGHAND) {
        parent.signals.actions.clone()
    } else {
        Arc::new(parent.signals.actions.duplicate())
    };
    child.set_signals(Signals::new(actions, parent.signals.mask));
    // A vfork child is on its parent's stack; only then does it keep the parent's alternate one.
    if args.has(libc::CLONE_VFORK) {
        child.signals.altstack = parent.signals.altstack;
    }
    child.clears_handlers = args.clears_handlers();
}

/// Gives the child what it shares with its process, the parent's or one of its own.
fn prepare_process(parent: &Thread, child: &mut Thread, args: &CloneArgs) {
    let shares_files = args.has(libc::CLONE_FILES);
    child.descriptors =
        if shares_files { parent.descriptors.clone() } else { parent.descriptors.duplicate() };
    child.user_dispatch = None;
    child.own_process = parent.own_process || !args.has(libc::CLONE_THREAD);
}

/// Entry point of a new thread, on its engine stack, with all signals blocked.
extern "C" fn thread_main(thread: *mut Thread) -> ! {
    // SAFETY: the parent made or adopted the thread for this kernel thread alone.
    let thread = unsafe { &mut *thread };
    chaos::point();
    thread.handle.announce();
    chaos::point();
    handler::use_stack(thread.carrier.signal_stack);
    thread.process.threads.come_back(thread.mailbox);
    if thread.clears_handlers {
        thread.signals.actions.clear_handlers();
    }
    set_kernel_mask(thread.signals.mask);
    chaos::point();
    let status = thread.run();
    leave(thread, status)
}

/// Ends a thread that has run to its end.
pub(crate) fn leave(thread: &mut Thread, status: i32) -> ! {
    // Soon the next thread takes signals on this one's stack.
    block_faults_too();
    chaos::point();
    let process = thread.process;
    process.client.thread_ends(&thread.context.calls, thread.context.counts());
    thread.context.forget_counts();
    thread.mailbox.goes_away();
    if process.threads.remove(&thread.handle) == 0 && !thread.own_process {
        // The last thread takes the process with it, which may still read the guest's memory.
        block_all();
        process.threads.add(thread.handle.clone());
        super::end::by_exit(thread, status);
    }
    chaos::point();
    stats::add(thread);
    retire(thread, false);
    chaos::point();
    // SAFETY: the routine does not use the stack after it has given it up.
    unsafe { shadowgrind_thread_exit(status, &thread.carrier.free, chaos::rounds()) }
}

/// Puts a thread where a later one finds it.
fn retire(thread: &mut Thread, free: bool) {
    thread.counters = thread::Counters::NONE;
    thread.carrier.free.store(u32::from(free), Ordering::SeqCst);
    // The initial thread's stack is the kernel's: it carries nobody else.
    if thread.carrier.stack_top != 0 {
        RETIRED.lock().push(std::ptr::from_mut(thread) as usize);
    }
}
