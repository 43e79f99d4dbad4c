//! Calls about signals: actions, masks, alternate stacks, and the return from handlers.

use super::call::{Answer, Call, fail, pass};
use crate::context::reg;
use crate::engine::guest;
use crate::engine::signals::action::{Action, SIGNALS};
use crate::engine::signals::frame;
use crate::engine::signals::{AltStack, UNMASKABLE, bit, block_all, set_kernel_mask};
use crate::engine::thread::Thread;
use crate::x86::mode::Mode;

const SET_BYTES: u64 = 8;
/// The handler has returned over the frame's first word.
const RETURN_ADDRESS_BYTES: u64 = 8;

pub(super) fn sigaction(thread: &mut Thread, call: &Call) -> Answer {
    let [signal, new, old, size, ..] = call.args;
    if size != SET_BYTES || signal == 0 || signal >= SIGNALS as u64 {
        return fail(libc::EINVAL);
    }
    let signal = signal as u32;
    let Ok(action) = (new != 0).then(|| guest::read::<Action>(new)).transpose() else {
        return fail(libc::EFAULT);
    };
    if action.is_some() && bit(signal) & UNMASKABLE != 0 {
        return fail(libc::EINVAL);
    }
    let previous = match action {
        Some(action) => set_action(thread, signal, action),
        None => thread.signals.actions.get(signal),
    };
    if old != 0 && guest::write(old, previous).is_err() {
        return fail(libc::EFAULT);
    }
    Answer::Value(0)
}

/// Tells whether a signal was taken from the kernel and waits to be delivered. Call with everything blocked.
pub(crate) fn signal_waits(thread: &Thread) -> bool {
    thread.mailbox.has_signal()
}

/// Sets the action for a signal; the one before.
fn set_action(thread: &mut Thread, signal: u32, action: Action) -> Action {
    let action = Action { mask: action.mask & !UNMASKABLE, ..action };
    if action.ignores(signal) {
        // What is pending is forgotten.
        thread.signals.held.retain(|pending| pending.signal != signal);
    }
    thread.signals.actions.set(signal, action)
}

pub(super) fn sigprocmask(thread: &mut Thread, call: &Call) -> Answer {
    let [how, set, old, size, ..] = call.args;
    if size != SET_BYTES {
        return fail(libc::EINVAL);
    }
    let before = thread.signals.mask;
    if set != 0 {
        let Ok(set) = guest::read::<u64>(set) else { return fail(libc::EFAULT) };
        let mask = match how as i32 {
            libc::SIG_BLOCK => before | set,
            libc::SIG_UNBLOCK => before & !set,
            libc::SIG_SETMASK => set,
            _ => return fail(libc::EINVAL),
        };
        // A signal that came before the mask changes is delivered before, too.
        block_all();
        if signal_waits(thread) {
            return Answer::NotMade;
        }
        thread.signals.set_mask(mask);
        if thread.signals.held.iter().any(|p| !thread.blocks(p.signal)) {
            thread.mailbox.request();
        }
    }
    if old != 0 && guest::write(old, before).is_err() {
        return fail(libc::EFAULT);
    }
    Answer::Value(0)
}

pub(super) fn sigpending(thread: &mut Thread, call: &Call) -> Answer {
    let [set, size, ..] = call.args;
    if size > SET_BYTES {
        return fail(libc::EINVAL);
    }
    let answer = pass(thread, call);
    let held = thread.signals.held.iter().fold(0, |mask, p| mask | bit(p.signal));
    if answer == Answer::Value(0) && held != 0 && size == SET_BYTES {
        let Ok(pending) = guest::read::<u64>(set) else { return fail(libc::EFAULT) };
        if guest::write(set, pending | held).is_err() {
            return fail(libc::EFAULT);
        }
    }
    answer
}

pub(super) fn sigreturn(thread: &mut Thread, _call: &Call) -> Answer {
    block_all();
    if signal_waits(thread) {
        return Answer::NotMade;
    }
    let stack_pointer = thread.context.regs[reg::RSP];
    let Ok(restored) = frame::pop(thread.context, stack_pointer) else {
        set_kernel_mask(thread.signals.mask);
        thread.end_by(libc::SIGSEGV as u32);
    };
    thread.pc = restored.pc;
    thread.mode = Mode::BARE;
    thread.client().resumes(thread, stack_pointer - RETURN_ADDRESS_BYTES);
    // As the kernel: a bad stack in the frame is ignored.
    let stack_pointer = thread.context.regs[reg::RSP];
    let _ = set_altstack(thread, restored.altstack, stack_pointer);
    thread.signals.set_mask(restored.mask);
    if thread.signals.held.iter().any(|p| !thread.blocks(p.signal)) {
        thread.mailbox.request();
    }
    Answer::Replaced
}

/// `stack_t` as words: base, flags, size.
type StackWords = [u64; 3];

pub(super) fn sigaltstack(thread: &mut Thread, call: &Call) -> Answer {
    let [new, old, ..] = call.args;
    let stack_pointer = thread.context.regs[reg::RSP];
    let before = thread.signals.altstack;
    if new != 0 {
        let Ok([base, flags, size]) = guest::read::<StackWords>(new) else { return fail(libc::EFAULT) };
        if let Err(errno) = set_altstack(thread, AltStack { base, flags: flags as i32, size }, stack_pointer)
        {
            return fail(errno);
        }
    }
    if old != 0 {
        let on = if before.holds(stack_pointer) { libc::SS_ONSTACK } else { 0 };
        let words: StackWords = [before.base, u64::from((before.flags | on) as u32), before.size];
        if guest::write(old, words).is_err() {
            return fail(libc::EFAULT);
        }
    }
    Answer::Value(0)
}

fn set_altstack(thread: &mut Thread, stack: AltStack, stack_pointer: u64) -> Result<(), i32> {
    const SS_AUTODISARM: i32 = 1 << 31;
    const SMALLEST: u64 = 2048;
    if thread.signals.altstack.holds(stack_pointer) {
        return Err(libc::EPERM);
    }
    let mode = stack.flags & !SS_AUTODISARM;
    if mode != 0 && mode != libc::SS_ONSTACK && mode != libc::SS_DISABLE {
        return Err(libc::EINVAL);
    }
    if mode == libc::SS_DISABLE {
        thread.signals.altstack = AltStack { base: 0, flags: stack.flags, size: 0 };
    } else if stack.size < SMALLEST {
        return Err(libc::ENOMEM);
    } else {
        thread.signals.altstack = AltStack { flags: stack.flags & SS_AUTODISARM, ..stack };
    }
    Ok(())
}
