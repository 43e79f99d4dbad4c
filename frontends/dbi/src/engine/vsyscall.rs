//! The vsyscall page: three entries at fixed addresses that old programs call. The kernel may leave the page
//! unreadable, so the calls are carried out here.

use super::thread::Thread;
use super::{guest, sys};
use crate::context::reg;

const PAGE: u64 = 0xffff_ffff_ff60_0000;
const ENTRIES: [(u64, i64); 3] =
    [(PAGE, libc::SYS_gettimeofday), (PAGE + 0x400, libc::SYS_time), (PAGE + 0x800, libc::SYS_getcpu)];

pub(crate) fn is_entry(pc: u64) -> bool {
    ENTRIES.iter().any(|&(entry, _)| entry == pc)
}

/// Makes the call the thread's pc stands for and returns to its caller.
pub(crate) fn call(thread: &mut Thread) {
    let Some(&(_, number)) = ENTRIES.iter().find(|&&(entry, _)| entry == thread.pc) else { return };
    let regs = &mut thread.context.regs;
    let args = [regs[reg::RDI], regs[reg::RSI], 0, 0, 0, 0];
    // SAFETY: these calls write at most the structures the guest points to.
    regs[reg::RAX] = unsafe { sys::syscall(number as u64, args) };
    // A call pushed its return address; anything else there is the guest's own doing.
    thread.pc = guest::read(regs[reg::RSP]).unwrap_or(0);
    thread.context.regs[reg::RSP] += 8;
}
