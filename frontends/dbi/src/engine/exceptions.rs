//! The guest's MXCSR and the processor's, where rules for shadows raise exceptions like the guest's own instructions:
//! under inline shadows without AVX-512 (`x86::mirror::isolation` has the code).
//!
//! While code runs that was annotated, or is a function's taken as one operation, the processor's sticky flags are the
//! guest's. Unless it is isolated, an exception whose flag is not set is unmasked in the processor, even if the guest
//! masks it. So whatever would set a flag comes here first:
//!
//! - From a rule: the flags are put back, and the rule goes on in the isolated version of its block.
//! - From the guest's own instruction: that runs out of line, under the guest's own MXCSR, which then has the flag, and the
//!   exception is masked from then on. If the guest unmasked it itself, it is raised there once more, and is the guest's.
//!
//! Code stays isolated until the guest has raised *inexact* too, if that is what the rule raised: nearly every rule does,
//! and nearly every program. Otherwise it stays so for some time, and for longer the sooner a rule raises something again.
//! A guest that clears its flags over and over is isolated from there, because a trap for each time would cost more.
//!
//! Outside translated code the context's image has the guest's MXCSR; that is what frames of signals, new threads and
//! instructions that run out of line are given.

use super::cache::{Kept, MadeOf};
use super::guest_code::GuestCode;
use super::raised::{INEXACT, Raised};
use super::region::BlockId;
use super::thread::Thread;
use super::translate::RulePlace;
use crate::context::{Context, Fault, Mxcsr};
use crate::registers;
use crate::x86::code::Slot;
use crate::x86::mode::Mode;

/// The processor's number of the exception that vector arithmetic raises.
const TRAP_VECTOR_ARITHMETIC: u64 = 19;

/// Bits of MXCSR (Intel's manual, volume 1, 10.2.3): flags, and their masks so many bits above them.
const FLAGS: u32 = 0x3f;
const MASKS_AT: u32 = 7;
const MASKS: u32 = FLAGS << MASKS_AT;

/// The processor's clock.
fn now() -> u64 {
    // SAFETY: the instruction reads a counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The masks of `guest`'s MXCSR that the processor's is not to have.
fn hidden(guest: u32) -> u32 {
    guest & MASKS & !(guest << MASKS_AT)
}

/// Tells whether rules and the guest's arithmetic share an MXCSR in code of this mode.
fn shares(thread: &Thread, mode: Mode) -> bool {
    (mode.is_annotated() || mode.is_wrapped()) && thread.translator.hides_mxcsr()
}

/// Says whether the thread's mode is isolated from now on.
pub(crate) fn settle(thread: &mut Thread) {
    if !shares(thread, thread.mode) {
        return;
    }
    let guest = registers::mxcsr(thread.context);
    let raised = &mut thread.raised;
    let was_isolated = raised.isolated;
    raised.look(guest, now);
    if raised.isolated && !was_isolated {
        thread.context.mxcsr.patience = raised.patience;
    }
    if thread.mode.is_annotated() {
        thread.mode = thread.mode.isolated(raised.isolated);
    }
}

/// Isolated code has come to its end.
pub(crate) fn leave_isolation(thread: &mut Thread) {
    thread.raised.leave(now());
}

/// The thread is about to enter code of this mode: its image has the processor's MXCSR from now on.
pub(crate) fn hide(thread: &mut Thread, mode: Mode) {
    let shares = shares(thread, mode);
    hide_if(thread, shares);
    if mode.has_rules_mxcsr() {
        thread.context.slots[Slot::Mxcsr as usize] = u64::from(registers::mxcsr(thread.context));
        registers::set_mxcsr(thread.context, thread.context.mxcsr.rules);
    }
}

fn hide_if(thread: &mut Thread, shares: bool) {
    let Raised { isolated, until_inexact, .. } = thread.raised;
    let context = &mut thread.context;
    let guest = registers::mxcsr(context);
    context.mxcsr = Mxcsr {
        hidden: if shares && !isolated { hidden(guest) } else { 0 },
        entered: guest,
        rules: MASKS | guest,
        settles: if until_inexact { INEXACT } else { 0 },
        patience: context.mxcsr.patience,
    };
    registers::set_mxcsr(context, guest & !context.mxcsr.hidden);
}

/// The thread has left translated code, by `fault` if there is one: its image has the guest's MXCSR again.
pub(crate) fn reveal(context: &mut Context, fault: Option<Fault>) {
    let processor = registers::mxcsr(context);
    let guest = match fault {
        Some(fault) if context.mxcsr.hidden != 0 && is_arithmetic(&fault) => before_fault(context, processor),
        _ => processor | context.mxcsr.hidden,
    };
    registers::set_mxcsr(context, guest);
}

/// The guest's MXCSR, where the processor's is this, or is to be this.
pub(crate) fn of_guest(context: &Context, processor: u32) -> u32 {
    processor | context.mxcsr.hidden
}

/// The guest's MXCSR before the fault that has just set flags in the processor's: what that does not mask was not set
/// since translated code was entered.
fn before_fault(context: &Context, processor: u32) -> u32 {
    let masked = processor >> MASKS_AT & FLAGS;
    let flags = processor & masked | context.mxcsr.entered & FLAGS & !masked;
    of_guest(context, processor & !FLAGS | flags)
}

fn is_arithmetic(fault: &Fault) -> bool {
    fault.signal == libc::SIGFPE as u64 && fault.trap == TRAP_VECTOR_ARITHMETIC
}

/// Tells whether a fault at a guest instruction may be none of the guest's: it is to run out of line.
pub(crate) fn may_be_ours(thread: &mut Thread, fault: &Fault) -> bool {
    let ours = is_arithmetic(fault) && thread.context.mxcsr.hidden != 0;
    if ours {
        let unmasked = !registers::mxcsr(thread.context) & INEXACT;
        thread.raised.traps += u32::from(unmasked != 0);
    }
    ours
}

/// After a fault in translated code: if it is a rule's, where that goes on, isolated; the context is ready for it.
pub(crate) fn go_on_with_rule(thread: &mut Thread) -> Option<u64> {
    let fault = thread.context.fault;
    if !is_arithmetic(&fault) {
        return None;
    }
    let id = thread.cache.block_at(fault.host_pc)?;
    if !shares(thread, thread.cache.block(id).made_of.mode) {
        return None;
    }
    let mut source = GuestCode::new(thread.process, thread.cache.block(id).made_of.pc);
    let place = thread.translator.rule_at(&thread.cache, &mut source, id, fault.host_pc)?;
    let at = in_isolation(thread, id, place)?;
    let processor = registers::mxcsr(thread.context);
    let guest = before_fault(thread.context, processor);
    registers::set_mxcsr(thread.context, guest);
    rule_raised(thread, guest, processor & !(processor >> MASKS_AT) & FLAGS);
    hide_if(thread, true);
    thread.context.slots[Slot::Mxcsr as usize] = u64::from(registers::mxcsr(thread.context));
    registers::set_mxcsr(thread.context, thread.context.mxcsr.rules);
    Some(at)
}

/// A rule has raised `exceptions` that are unmasked, while the guest had this MXCSR.
fn rule_raised(thread: &mut Thread, guest: u32, exceptions: u32) {
    let raised = &mut thread.raised;
    let inexact = exceptions == INEXACT && guest & INEXACT == 0;
    raised.traps += u32::from(inexact);
    raised.isolate(now(), inexact);
    thread.context.mxcsr.patience = raised.patience;
}

/// Makes a block, in an empty cache if there is no room in it as it is.
fn make(thread: &mut Thread, source: &mut GuestCode, wanted: MadeOf, kept: &Kept) -> Option<BlockId> {
    if let Ok(id) = thread.translator.make(&mut thread.cache, source, wanted, kept) {
        return Some(id);
    }
    thread.flush();
    thread.translator.make(&mut thread.cache, source, wanted, kept).ok()
}

/// Place of the same rule in the isolated version of block `id`, which is made if it is not there.
fn in_isolation(thread: &mut Thread, id: BlockId, place: RulePlace) -> Option<u64> {
    let block = thread.cache.block(id);
    let (made_of, kept) = (block.made_of, block.kept().clone());
    let wanted = made_of.isolated();
    let mut source = GuestCode::new(thread.process, made_of.pc);
    let existing = thread.cache.find(wanted.pc, wanted.mode);
    let id = match existing.filter(|&id| thread.cache.block(id).made_of == wanted) {
        Some(id) => id,
        None => {
            existing.into_iter().for_each(|other| thread.cache.forget(other));
            make(thread, &mut source, wanted, &kept)?
        }
    };
    let start = thread.translator.rule(&thread.cache, &mut source, id, place.number)?.start;
    Some(start + place.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: u32 = 0x1f80;

    #[test]
    fn what_is_hidden_is_what_was_not_raised() {
        for (guest, expected) in [
            (DEFAULT, 0x1f80),
            (DEFAULT | INEXACT, 0x0f80),
            (DEFAULT | 1, 0x1f00),
            (0, 0),
            (DEFAULT | FLAGS, 0),
            (DEFAULT & !0x200, 0x1d80),
        ] {
            assert_eq!(hidden(guest), expected, "{guest:#x}");
        }
    }
}
