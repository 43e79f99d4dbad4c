//! Raw Linux system calls and the few processor instructions the engine needs besides generated code.
//!
//! Knows nothing of the guest. Everything else in the engine asks the kernel through here or through `libc`'s types.

use std::arch::asm;

/// Length of the `syscall` instruction, bytes.
pub(crate) const SYSCALL_BYTES: u64 = 2;

/// A negative errno as the kernel returns it, seen as a register value.
pub(crate) const fn errno(code: i32) -> u64 {
    (-(code as i64)) as u64
}

/// Tells whether a system call's result is an error, and which.
pub(crate) fn error_of(result: u64) -> Option<i32> {
    let value = result as i64;
    (-4095..0).contains(&value).then_some(-value as i32)
}

/// A system call's result as a `Result`, the error being an errno.
pub(crate) fn check(result: u64) -> Result<u64, i32> {
    error_of(result).map_or(Ok(result), Err)
}

/// Performs system call `number` with six arguments and returns the kernel's raw result.
///
/// # Safety
/// The call must not break memory that Rust code relies on: the caller answers for what this number does with
/// these arguments.
pub(crate) unsafe fn syscall(number: u64, args: [u64; 6]) -> u64 {
    let result;
    // SAFETY: the clobbers are those the x86-64 system call ABI names (rcx, r11); effects on memory are the
    // caller's obligation, and the compiler assumes all memory may change.
    unsafe {
        asm!("syscall", inlateout("rax") number => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2], in("r10") args[3], in("r8") args[4],
            in("r9") args[5], lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Maps memory; flags and protection as `mmap(2)`.
///
/// # Safety
/// A fixed mapping must not replace memory that Rust code relies on.
pub(crate) unsafe fn mmap(
    at: u64,
    len: u64,
    prot: i32,
    flags: i32,
    fd: i32,
    offset: u64,
) -> Result<u64, i32> {
    let args = [at, len, prot as u64, flags as u64, fd as i64 as u64, offset];
    // SAFETY: passed on to the caller.
    check(unsafe { syscall(libc::SYS_mmap as u64, args) })
}

/// Maps fresh zeroed private memory at exactly `at`, or fails with an errno.
pub(crate) fn map_at(at: u64, len: u64, prot: i32) -> Result<(), i32> {
    map_fresh(at, len, prot, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE)
}

/// Maps fresh zeroed memory at exactly `at`, anonymous as the `MAP_*` bits `flags` say, or fails with an errno: with
/// `EEXIST` where there is something already.
pub(crate) fn map_fresh(at: u64, len: u64, prot: i32, flags: i32) -> Result<(), i32> {
    // SAFETY: NOREPLACE refuses to touch existing mappings, so no memory in use can change.
    let got = unsafe { mmap(at, len, prot, flags | libc::MAP_FIXED_NOREPLACE, -1, 0) }?;
    // Kernels before 4.17 take the address as a hint only.
    if got == at { Ok(()) } else { Err(libc::EEXIST) }
}

/// Maps fresh zeroed memory wherever the kernel likes (above the guest's range, as it works from the top).
pub(crate) fn map_anywhere(len: u64, prot: i32) -> Result<u64, i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: without MAP_FIXED the kernel picks unused addresses.
    unsafe { mmap(0, len, prot, flags, -1, 0) }
}

/// The thread's GS base, which engine code does not use.
pub(crate) fn gs_base() -> u64 {
    const ARCH_GET_GS: u64 = 0x1004;
    let mut base = 0_u64;
    let args = [ARCH_GET_GS, std::ptr::from_mut(&mut base) as u64, 0, 0, 0, 0];
    // SAFETY: the kernel writes eight bytes into `base`.
    unsafe { syscall(libc::SYS_arch_prctl as u64, args) };
    base
}

/// Sets the thread's GS base.
pub(crate) fn set_gs_base(base: u64) {
    const ARCH_SET_GS: u64 = 0x1001;
    // SAFETY: no engine code addresses memory through GS.
    unsafe { syscall(libc::SYS_arch_prctl as u64, [ARCH_SET_GS, base, 0, 0, 0, 0]) };
}

/// The thread's FS base, which for engine threads is the address of their thread control block.
pub(crate) fn fs_base() -> u64 {
    let base;
    // SAFETY: the x86-64 TLS ABI stores the control block's own address in its first word.
    unsafe { asm!("mov {}, fs:0", out(reg) base, options(nostack, readonly, preserves_flags)) };
    base
}

/// The calling thread's kernel identifier.
pub(crate) fn gettid() -> u64 {
    // SAFETY: takes nothing, changes nothing.
    unsafe { syscall(libc::SYS_gettid as u64, [0; 6]) }
}

/// Ends the process at once, without running anything else in it.
pub(crate) fn exit_group(status: i32) -> ! {
    loop {
        // SAFETY: the process ends; nothing can observe a broken invariant.
        unsafe { syscall(libc::SYS_exit_group as u64, [status as u64, 0, 0, 0, 0, 0]) };
    }
}

/// Writes all of `bytes` to `fd`, giving up silently on errors: for messages about errors.
pub(crate) fn write_all(fd: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let args = [fd as u64, bytes.as_ptr() as u64, bytes.len() as u64, 0, 0, 0];
        // SAFETY: the kernel only reads the given bytes.
        match check(unsafe { syscall(libc::SYS_write as u64, args) }) {
            Ok(0) => return,
            Ok(n) => bytes = &bytes[n as usize..],
            Err(libc::EINTR | libc::EAGAIN) => {}
            Err(_) => return,
        }
    }
}
