//! The trap flag: the guest gets its `SIGTRAP` after each of its own instructions, not after ours.
//!
//! The flag stays set while translated code runs, and the processor traps after each host instruction. Outside blocks
//! the signal handler lets it go on; inside, the trap comes here as a fault, and either stands at the start of a guest
//! instruction or is passed over.

use super::guest_code::GuestCode;
use super::signals::Pending;
use super::signals::frame::Trap;
use super::thread::Thread;
use crate::context::{Fault, TRAP_FLAG};

const TRAP_DEBUG: u64 = 1;
const TRAP_TRACE: u32 = 2;

/// Tells whether a fault is the trap after an instruction that ran with the trap flag set.
pub(crate) fn is_step(fault: &Fault) -> bool {
    is_step_trap(fault.signal as i32, fault.info[1], fault.trap, fault.eflags)
}

/// Tells whether a signal is the trap after an instruction that ran with the trap flag set, by its number, its
/// `si_code`, the processor's trap number and the flags. Now and then the kernel of a virtual machine finds no reason
/// for the trap in the debug registers, and calls it a breakpoint.
pub(crate) fn is_step_trap(signal: i32, code: u64, trap: u64, eflags: u64) -> bool {
    const TRAP_BREAKPOINT: u32 = 1;
    let unexplained = code as u32 == TRAP_BREAKPOINT && eflags & TRAP_FLAG != 0;
    signal == libc::SIGTRAP && trap == TRAP_DEBUG && (code as u32 == TRAP_TRACE || unexplained)
}

/// Tells whether a fault is the last step: the trap after the guest instruction that cleared the flag. It stands behind
/// that instruction's copy, which need not be where another one begins.
pub(crate) fn is_last_step(fault: &Fault) -> bool {
    is_step(fault) && fault.eflags & TRAP_FLAG == 0
}

/// Tells whether the fault just taken is a step that the guest is not to see, so that translated code goes on: within a
/// guest instruction, or before the first one has `begun`.
pub(crate) fn goes_on(thread: &mut Thread, begun: &mut bool) -> bool {
    let fault = thread.context.fault;
    if !is_step(&fault) || is_last_step(&fault) {
        return false;
    }
    !is_boundary(thread, fault.host_pc) || !std::mem::replace(begun, true)
}

/// Tells whether a guest instruction begins at host address `pc`.
pub(crate) fn is_boundary(thread: &mut Thread, pc: u64) -> bool {
    let Some(id) = thread.cache.block_at(pc) else { return false };
    let mut source = GuestCode::new(thread.process, thread.cache.block(id).made_of.pc);
    thread.translator.is_boundary(&thread.cache, &mut source, id, pc)
}

/// The trap after a guest instruction that left translated code.
pub(crate) fn trap(thread: &mut Thread) {
    let mut info = [0; 16];
    info[0] = libc::SIGTRAP as u64;
    info[1] = u64::from(TRAP_TRACE);
    info[2] = thread.pc;
    let eflags = thread.context.rflags;
    let trap = Trap { trap: TRAP_DEBUG, ..Trap::default() };
    thread.raise(&Pending { signal: libc::SIGTRAP as u32, info }, trap, eflags);
}
