//! The border between Rust and translated code: entry, exit, and what a signal meets in between.
//!
//! Inside translated code all registers, FS included, are the guest's; outside they are the host's. The few
//! instructions where they are mixed are here, in assembly, and their address ranges are known to the signal
//! handler ([`in_entry_window`]).

use crate::context::Context;
use crate::mailbox::Mailbox;
use std::arch::global_asm;
use std::mem::offset_of;

global_asm!(
    // Enters translated code at context.entry. rdi = context. Returns when the code exits or when a request is found.
    ".globl shadowgrind_enter",
    "shadowgrind_enter:",
    "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
    "sub rsp, 8",
    "mov [rdi + {HOST_RSP}], rsp",
    "mov dword ptr [rdi + {PLACE}], 1",
    // From here to the jump a signal handler rewinds to shadowgrind_enter_abort, so that a request that comes after
    // this look is not lost.
    ".globl shadowgrind_enter_window",
    "shadowgrind_enter_window:",
    "cmp dword ptr [rdi + {NO_REQUEST}], 0",
    "je shadowgrind_enter_abort",
    "mov eax, [rdi + {MASK}]",
    "xor edx, edx",
    "xrstor64 [rdi + {XSAVE}]",
    "push qword ptr [rdi + {RFLAGS}]",
    "mov rax, [rdi + {GUEST_FS}]",
    "cmp qword ptr [rdi + {FSGSBASE}], 0",
    "je 2f",
    "wrfsbase rax",
    "3:",
    "popfq",
    "mov rax, [rdi + {REGS}]", "mov rcx, [rdi + {REGS} + 8]", "mov rdx, [rdi + {REGS} + 16]",
    "mov rbx, [rdi + {REGS} + 24]", "mov rsp, [rdi + {REGS} + 32]", "mov rbp, [rdi + {REGS} + 40]",
    "mov rsi, [rdi + {REGS} + 48]", "mov r8, [rdi + {REGS} + 64]", "mov r9, [rdi + {REGS} + 72]",
    "mov r10, [rdi + {REGS} + 80]", "mov r11, [rdi + {REGS} + 88]", "mov r12, [rdi + {REGS} + 96]",
    "mov r13, [rdi + {REGS} + 104]", "mov r14, [rdi + {REGS} + 112]", "mov r15, [rdi + {REGS} + 120]",
    "jmp qword ptr [rdi + {ENTER_STUB}]",
    // No FSGSBASE: arch_prctl(ARCH_SET_FS, rax).
    "2:",
    "mov rsi, rax", "mov rbx, rdi", "mov edi, 0x1002", "mov eax, 158", "syscall", "mov rdi, rbx",
    "jmp 3b",
    ".globl shadowgrind_enter_window_end",
    "shadowgrind_enter_window_end:",

    // Exit from translated code. rdi = context; the guest's rax and rdi are already stored in it.
    ".globl shadowgrind_exit",
    "shadowgrind_exit:",
    "mov [rdi + {REGS} + 8], rcx", "mov [rdi + {REGS} + 16], rdx", "mov [rdi + {REGS} + 24], rbx",
    "mov [rdi + {REGS} + 32], rsp", "mov [rdi + {REGS} + 40], rbp", "mov [rdi + {REGS} + 48], rsi",
    "mov [rdi + {REGS} + 64], r8", "mov [rdi + {REGS} + 72], r9", "mov [rdi + {REGS} + 80], r10",
    "mov [rdi + {REGS} + 88], r11", "mov [rdi + {REGS} + 96], r12", "mov [rdi + {REGS} + 104], r13",
    "mov [rdi + {REGS} + 112], r14", "mov [rdi + {REGS} + 120], r15",
    "mov rsp, [rdi + {HOST_RSP}]",
    "pushfq",
    "pop qword ptr [rdi + {RFLAGS}]",
    "mov eax, [rdi + {MASK}]",
    "xor edx, edx",
    "xsave64 [rdi + {XSAVE}]",
    "cmp qword ptr [rdi + {FSGSBASE}], 0",
    "je shadowgrind_restore_host",
    "rdfsbase rax",
    "mov [rdi + {GUEST_FS}], rax",

    // Restores the host from any mixture; the guest's state is in the context.
    ".globl shadowgrind_restore_host",
    "shadowgrind_restore_host:",
    "mov rsp, [rdi + {HOST_RSP}]",
    // While upper halves are in use, Intel's processors since Ice Lake take 200 cycles to go from an SSE instruction
    // to an AVX one and back: host code has both.
    "test byte ptr [rdi + {MASK}], {AVX}",
    "jz 6f",
    "vzeroupper",
    "6:",
    // The guest's AC, DF and TF must not reach host code.
    "push 0x202",
    "popfq",
    "push 0x1f80",
    "ldmxcsr [rsp]",
    "add rsp, 8",
    // Not fldcw: that would raise an exception the guest has unmasked and not yet met.
    "fninit",
    "mov rsi, [rdi + {HOST_FS}]",
    "cmp qword ptr [rdi + {FSGSBASE}], 0",
    "je 4f",
    "wrfsbase rsi",
    "5:",
    "mov dword ptr [rdi + {PLACE}], 0",
    "add rsp, 8",
    "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
    "ret",
    "4:",
    "mov rbx, rdi", "mov edi, 0x1002", "mov eax, 158", "syscall", "mov rdi, rbx",
    "jmp 5b",

    // A request was seen, or came, before translated code was reached. rdi = context.
    ".globl shadowgrind_enter_abort",
    "shadowgrind_enter_abort:",
    "mov qword ptr [rdi + {EXIT}], {ABORTED}",
    "jmp shadowgrind_restore_host",

    // A system call on behalf of the guest: rdi = &[number, arguments...], rsi = &mailbox.no_request. A request that is
    // seen, or comes, before the kernel has acted gives NOT_MADE (signal handler: in_call_window).
    ".globl shadowgrind_guest_syscall",
    "shadowgrind_guest_syscall:",
    "push rbx",
    "mov rbx, rdi",
    "mov r11, rsi",
    "mov rax, [rbx]", "mov rdi, [rbx + 8]", "mov rsi, [rbx + 16]", "mov rdx, [rbx + 24]",
    "mov r10, [rbx + 32]", "mov r8, [rbx + 40]", "mov r9, [rbx + 48]",
    ".globl shadowgrind_call_window",
    "shadowgrind_call_window:",
    "cmp dword ptr [r11], 0",
    "je shadowgrind_call_abort",
    "syscall",
    ".globl shadowgrind_call_window_end",
    "shadowgrind_call_window_end:",
    "pop rbx",
    "ret",
    ".globl shadowgrind_call_abort",
    "shadowgrind_call_abort:",
    "mov rax, {NOT_MADE}",
    "pop rbx",
    "ret",

    // Copies rdx bytes from rsi to rdi; returns the number of bytes left when an access faults, else 0.
    ".globl shadowgrind_guarded_copy",
    "shadowgrind_guarded_copy:",
    "mov rcx, rdx",
    ".globl shadowgrind_guarded_copy_access",
    "shadowgrind_guarded_copy_access:",
    "rep movsb",
    ".globl shadowgrind_guarded_copy_done",
    "shadowgrind_guarded_copy_done:",
    "mov rax, rcx",
    "ret",

    // The same for words of eight bytes, rdx of them; returns the number of words left.
    ".globl shadowgrind_guarded_words",
    "shadowgrind_guarded_words:",
    "mov rcx, rdx",
    ".globl shadowgrind_guarded_words_access",
    "shadowgrind_guarded_words_access:",
    "rep movsq",
    "jmp shadowgrind_guarded_copy_done",
    HOST_RSP = const offset_of!(Context, host_rsp),
    PLACE = const Mailbox::OFFSET_PLACE,
    NO_REQUEST = const Mailbox::OFFSET_NO_REQUEST,
    MASK = const offset_of!(Context, xsave_mask),
    AVX = const 1 << crate::context::AVX,
    XSAVE = const offset_of!(Context, xsave),
    RFLAGS = const offset_of!(Context, rflags),
    GUEST_FS = const offset_of!(Context, guest_fs),
    HOST_FS = const offset_of!(Context, host_fs),
    FSGSBASE = const offset_of!(Context, fsgsbase),
    REGS = const offset_of!(Context, regs),
    ENTER_STUB = const offset_of!(Context, enter_stub),
    EXIT = const offset_of!(Context, exit),
    ABORTED = const EXIT_ABORTED,
    NOT_MADE = const NOT_MADE as i64,
);

unsafe extern "C" {
    fn shadowgrind_enter(context: *mut Context);
    fn shadowgrind_exit();
    fn shadowgrind_enter_abort();
    fn shadowgrind_enter_window();
    fn shadowgrind_enter_window_end();
    fn shadowgrind_guest_syscall(
        call: *const [u64; 7],
        no_request: *const std::sync::atomic::AtomicU32,
    ) -> u64;
    fn shadowgrind_call_window();
    fn shadowgrind_call_window_end();
    fn shadowgrind_call_abort();
    fn shadowgrind_guarded_copy(to: *mut u8, from: *const u8, len: usize) -> usize;
    fn shadowgrind_guarded_copy_access();
    fn shadowgrind_guarded_copy_done();
    fn shadowgrind_guarded_words(to: *mut u64, from: *const u64, words: usize) -> usize;
    fn shadowgrind_guarded_words_access();
}

/// [`Context::exit`] after an entry that did not take place.
pub(crate) const EXIT_ABORTED: i32 = 0;

/// Result of [`guest_syscall`] when it did not reach the kernel; no system call has this result.
pub(crate) const NOT_MADE: u64 = -4096_i64 as u64;

/// Runs translated code at `context.entry` until it exits; which exit is then in `context.exit`. Meanwhile the signal handler may
/// borrow the context: what it finds it by is made from this pointer.
///
/// # Safety
/// `context` must be the calling thread's own, its `entry` code translated for it, and the host's FS base recorded.
pub(crate) unsafe fn enter(context: *mut Context) {
    context.expose_provenance();
    // SAFETY: the routine keeps the C calling convention: callee-saved registers are on the host stack, and vector
    // registers are caller-saved. What the guest does is confined to its own memory by being a separate program.
    unsafe { shadowgrind_enter(context) }
}

/// Address of the routine that per-thread exit stubs jump to.
pub(crate) fn exit_routine() -> u64 {
    shadowgrind_exit as *const () as u64
}

/// Makes a system call for the guest unless a request is pending; see [`NOT_MADE`].
///
/// # Safety
/// As for [`super::sys::syscall`].
pub(crate) unsafe fn guest_syscall(call: &[u64; 7], mailbox: &Mailbox) -> u64 {
    // SAFETY: both pointers are valid for the call; the rest is the caller's obligation.
    unsafe { shadowgrind_guest_syscall(call, &mailbox.no_request) }
}

/// Copies guest memory, to or from, tolerating faults; returns how many bytes were not copied.
///
/// # Safety
/// Whichever side is host memory must be valid for `len` bytes.
pub(crate) unsafe fn guarded_copy(to: *mut u8, from: *const u8, len: usize) -> usize {
    // SAFETY: faults at the one accessing instruction are recovered by the signal handler.
    unsafe { shadowgrind_guarded_copy(to, from, len) }
}

/// Copies `words` words of guest memory to the host, each in one access, tolerating faults; returns how many were not copied.
///
/// # Safety
/// `to` must be valid for as many, and `from` aligned.
pub(crate) unsafe fn guarded_words(to: *mut u64, from: *const u64, words: usize) -> usize {
    // SAFETY: as for `guarded_copy`.
    unsafe { shadowgrind_guarded_words(to, from, words) }
}

/// Address at which to resume when a signal hits at `pc`, if `pc` is inside a sequence that a request must not slip
/// through.
pub(crate) enum Rewind {
    /// Resume there with rdi = context: the entry into translated code is abandoned.
    Entry(u64),
    /// Resume there: the guest's system call is not made.
    Call(u64),
}

/// Classifies an interrupted host address; see [`Rewind`].
pub(crate) fn rewind_for(pc: u64) -> Option<Rewind> {
    if (address(shadowgrind_enter_window)..address(shadowgrind_enter_window_end)).contains(&pc) {
        return Some(Rewind::Entry(address(shadowgrind_enter_abort)));
    }
    // The `syscall` instruction itself is the last of the window: a restarted call is interrupted before it.
    if (address(shadowgrind_call_window)..address(shadowgrind_call_window_end)).contains(&pc) {
        return Some(Rewind::Call(address(shadowgrind_call_abort)));
    }
    None
}

/// Address of the routine that abandons an entry into translated code; rdi = context.
pub(crate) fn entry_abort() -> u64 {
    address(shadowgrind_enter_abort)
}

/// Address at which to resume when an access fault hits at `pc`, if `pc` is the guarded copy's.
pub(crate) fn guarded_copy_recovery(pc: u64) -> Option<u64> {
    let accesses = [shadowgrind_guarded_copy_access, shadowgrind_guarded_words_access];
    let is_access = accesses.into_iter().any(|access| pc == address(access));
    is_access.then(|| address(shadowgrind_guarded_copy_done))
}

fn address(routine: unsafe extern "C" fn()) -> u64 {
    routine as *const () as u64
}
