//! Faults in translated code: back to the guest instruction, and then the engine's business or the guest's.
//!
//! A write to code we watch is ours; everything else becomes the guest's signal, with the guest's registers and
//! addresses in place of the cache's.

use super::frame::Trap;
use super::{Info, Pending};
use crate::context::{Context, Fault, reg};
use crate::engine::changes::Write;
use crate::engine::guest_code::GuestCode;
use crate::engine::layout::CANONICAL_END;
use crate::engine::thread::Thread;
use crate::engine::translate::NoBlock;
use crate::engine::{diagnose, exceptions, guest, stepping, sys};
use crate::registers;
use crate::x86::code::{Slot, Spilled};

const SI_KERNEL: i32 = 0x80;
const TRAP_DEBUG: u64 = 1;
pub(super) const TRAP_PAGE_FAULT: u64 = 14;
const TRAP_ALIGNMENT_CHECK: u64 = 17;
pub(super) const ERROR_WRITE: u64 = 2;
const ERROR_USER: u64 = 4;
const ERROR_FETCH: u64 = 16;

/// Handles the fault described in the context.
pub(crate) fn in_cache(thread: &mut Thread) {
    let fault = thread.context.fault;
    // A trap is reported at the address after its instruction; but some hypervisors report int1 where it stands.
    const INT1: u8 = 0xf1;
    let stands_at_int1 = fault.trap == TRAP_DEBUG && guest::read(fault.host_pc) == Ok(INT1);
    let stands_at_next = stepping::is_step(&fault) && !stepping::is_last_step(&fault);
    let trapped_after = fault.signal == libc::SIGTRAP as u64 && !stands_at_int1 && !stands_at_next;
    let host_pc = if trapped_after { fault.host_pc - 1 } else { fault.host_pc };
    let Some(id) = thread.cache.block_at(host_pc) else {
        diagnose::lost(thread, host_pc);
    };
    let mut source = GuestCode::new(thread.process, thread.cache.block(id).made_of.pc);
    let Some(located) = thread.translator.locate(&thread.cache, &mut source, id, host_pc) else {
        diagnose::lost(thread, host_pc);
    };
    restore_spilled(thread, located.spilled);
    let insn = located.insn;
    thread.mode = located.mode;
    thread.client().faulted(thread);
    if exceptions::may_be_ours(thread, &fault) || located.mode.is_annotated() && is_unaligned_mirror(&fault) {
        thread.pc = insn.pc();
        return thread.client().begin(thread);
    }
    thread.pc = if trapped_after { insn.decoded.next_ip() } else { insn.pc() };
    if is_ours(thread, &fault) {
        return;
    }
    let mut info = fault.info;
    // These signals give the address of the instruction.
    let code_address = [libc::SIGILL, libc::SIGFPE, libc::SIGTRAP].contains(&(fault.signal as i32));
    if code_address && info[2] == fault.host_pc {
        info[2] = thread.pc;
    }
    let trap = Trap { error: fault.error, trap: fault.trap, address: fault.address };
    let eflags = fault.eflags;
    thread.raise(&Pending { signal: fault.signal as u32, info }, trap, eflags);
}

/// Tells whether the processor has checked alignment (flag AC) where an annotation looks at the mirror: that may be of more bytes
/// than the instruction's own.
fn is_unaligned_mirror(fault: &Fault) -> bool {
    const GS: u8 = 0x65;
    const OTHER_PREFIXES: [u8; 3] = [0x66, 0xf2, 0xf3];
    let bytes: Result<[u8; 2], _> = guest::read(fault.host_pc);
    let has_gs =
        bytes.is_ok_and(|[first, second]| first == GS || OTHER_PREFIXES.contains(&first) && second == GS);
    fault.trap == TRAP_ALIGNMENT_CHECK && has_gs
}

fn restore_spilled(thread: &mut Thread, spilled: Spilled) {
    let slots = thread.context.slots;
    let general = [
        (spilled.rax.then_some(reg::RAX), Slot::Rax),
        (spilled.rcx.then_some(reg::RCX), Slot::Rcx),
        (spilled.second_scratch.map(usize::from), Slot::SecondScratch),
        (spilled.scratch.map(usize::from), Slot::Scratch),
        (spilled.address.map(usize::from), Slot::Address),
    ];
    for (register, slot) in general {
        if let Some(register) = register {
            thread.context.regs[register] = slots[slot as usize];
        }
    }
    if spilled.locked {
        thread.client().unlock_atomics();
    }
    if spilled.mxcsr {
        let guest = exceptions::of_guest(thread.context, slots[Slot::Mxcsr as usize] as u32);
        registers::set_mxcsr(thread.context, guest);
    }
    if spilled.vectors.iter().any(Option::is_some) {
        restore_vectors(thread.context, spilled);
    }
}

/// Puts back the vector registers that are spilled, and saves the shadows that are in them.
fn restore_vectors(context: &mut Context, spilled: Spilled) {
    registers::complete_image(context);
    // Registers that hold shadows are spilled.
    for (n, register) in spilled.shadows.into_iter().enumerate() {
        if let Some(register) = register {
            registers::save_shadow(context, n, register);
        }
    }
    for (place, vector) in spilled.vectors.into_iter().enumerate() {
        if let Some(vector) = vector {
            registers::put_back(context, vector, place);
        }
    }
}

/// Extends the mapping above `address` if that is one that grows downwards.
fn grow(thread: &Thread, address: u64) -> bool {
    let mut space = thread.process.space.lock();
    if space.find(address).is_some() {
        return false;
    }
    let Some((start, end, region)) = space.growth(address) else { return false };
    if sys::map_at(start, end - start, region.prot).is_err() {
        return false;
    }
    space.insert(start, end, region);
    true
}

/// Tells whether the fault is the engine's: below a mapping that grows, or a write to a page that was write-protected
/// because code was made from it.
fn is_ours(thread: &mut Thread, fault: &Fault) -> bool {
    if fault.signal != libc::SIGSEGV as u64 || fault.trap != TRAP_PAGE_FAULT {
        return false;
    }
    if grow(thread, fault.address) {
        return true;
    }
    let region = thread.process.space.lock().find(fault.address).map(|(_, _, region)| region);
    let written = fault.error & ERROR_WRITE != 0;
    let Some(region) = region.filter(|region| written && region.writable()) else { return false };
    let process = thread.process;
    let write = process.changes.release(fault.address, region.prot);
    if write == Write::Released {
        process.threads.await_change(&thread.handle, &process.changes);
        thread.mailbox.request();
    }
    write != Write::Guests
}

/// Tells the guest that there is no code at its pc.
pub(crate) fn no_code(thread: &mut Thread, reason: NoBlock) {
    // The processor saves RF set for every fault at an instruction.
    const RESUME_FLAG: u64 = 0x1_0000;
    let eflags = thread.context.rflags | RESUME_FLAG;
    let (signal, code, address, trap) = match reason {
        NoBlock::Exhausted => diagnose::out_of_code_space(thread),
        NoBlock::Invalid => {
            const TRAP_INVALID_OPCODE: u64 = 6;
            const ILL_ILLOPN: i32 = 2;
            let trap = Trap { trap: TRAP_INVALID_OPCODE, ..Trap::default() };
            (libc::SIGILL, ILL_ILLOPN, thread.pc, trap)
        }
        NoBlock::Unmapped(address) => unmapped(thread, address),
        NoBlock::UpperRegisters => unreachable!("the thread sees to it"),
    };
    let mut info: Info = [0; 16];
    info[0] = signal as u64;
    info[1] = code as u32 as u64;
    info[2] = address;
    thread.raise(&Pending { signal: signal as u32, info }, trap, eflags);
}

fn unmapped(thread: &Thread, address: u64) -> (i32, i32, u64, Trap) {
    const SEGV_MAPERR: i32 = 1;
    const SEGV_ACCERR: i32 = 2;
    const BUS_ADRERR: i32 = 2;
    const ERROR_PRESENT: u64 = 1;
    const TRAP_GENERAL_PROTECTION: u64 = 13;
    if address >= CANONICAL_END {
        return (libc::SIGSEGV, SI_KERNEL, 0, Trap { trap: TRAP_GENERAL_PROTECTION, ..Trap::default() });
    }
    let fetch = Trap { trap: TRAP_PAGE_FAULT, error: ERROR_FETCH | ERROR_USER, address };
    match thread.process.space.lock().find(address) {
        None => (libc::SIGSEGV, SEGV_MAPERR, address, fetch),
        // Mapped and executable, yet not readable: beyond the end of the file.
        Some((_, _, region)) if region.executable() => (libc::SIGBUS, BUS_ADRERR, address, fetch),
        Some(_) => {
            let trap = Trap { error: fetch.error | ERROR_PRESENT, ..fetch };
            (libc::SIGSEGV, SEGV_ACCERR, address, trap)
        }
    }
}
