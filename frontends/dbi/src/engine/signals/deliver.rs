//! Delivery: a signal taken from the kernel becomes the guest's handler running, or the guest's end.
//!
//! Runs at safe points only, when the guest's whole state is in the context.

use super::action::{self, Action, DEFAULT, Fate, IGNORE};
use super::frame::{self, Contents, Placed, Trap};
use super::{AltStack, Info, Pending, bit, set_kernel_mask};
use crate::context::{DIRECTION_FLAG, TRAP_FLAG, reg};
use crate::engine::end;
use crate::engine::thread::Thread;
use crate::mailbox::PENDING_PLACES;
use crate::x86::mode::Mode;

const RED_ZONE: u64 = 128;
const RESUME_FLAG: u64 = 0x1_0000;

impl Thread {
    /// Delivers what was taken from the kernel, and what was held back and is not blocked any more.
    pub(crate) fn deliver_pending(&mut self) {
        for place in 0..PENDING_PLACES {
            let Some(found) = self.mailbox.take(place) else { continue };
            let pending = Pending { signal: found.signal, info: found.info };
            let action = Action::from(found.action);
            if place != 0 && self.blocks(pending.signal) {
                self.signals.held.push(pending);
                // The kernel's mask was closed when this one was taken.
                set_kernel_mask(self.signals.mask);
            } else {
                self.deliver(&pending, action, Trap::default(), self.context.rflags);
            }
        }
        self.deliver_held();
    }

    /// Delivers held-back signals that the guest no longer blocks.
    pub(crate) fn deliver_held(&mut self) {
        while let Some(index) = self.signals.held.iter().position(|p| !self.blocks(p.signal)) {
            let pending = self.signals.held.remove(index);
            // It arrives when it is not blocked any more.
            let action = self.signals.actions.get(pending.signal);
            self.deliver(&pending, action, Trap::default(), self.context.rflags);
        }
    }

    pub(crate) fn blocks(&self, signal: u32) -> bool {
        self.signals.call_mask.unwrap_or(self.signals.mask) & bit(signal) != 0
    }

    /// Raises a fault's signal: it cannot be blocked or ignored, only handled or fatal.
    pub(crate) fn raise(&mut self, pending: &Pending, trap: Trap, eflags: u64) {
        let action = self.signals.actions.get(pending.signal);
        if self.signals.mask & bit(pending.signal) != 0 || action.handler == IGNORE {
            self.end_by(pending.signal);
        }
        self.deliver(pending, action, trap, eflags);
    }

    /// Delivers a signal by `action`: what was to be done about it when it arrived.
    fn deliver(&mut self, pending: &Pending, action: Action, trap: Trap, eflags: u64) {
        self.counters.signals += 1;
        self.signals.actions.used(pending.signal, &action);
        // The mask in force while the handler runs builds on that of the interrupted call; the one restored after
        // it is the thread's own.
        let in_force = self.signals.call_mask.take().unwrap_or(self.signals.mask);
        match action.handler {
            IGNORE => set_kernel_mask(self.signals.mask),
            DEFAULT => match action::default_fate(pending.signal) {
                Fate::Ends => self.end_by(pending.signal),
                Fate::Ignored | Fate::Stops => set_kernel_mask(self.signals.mask),
            },
            _ => self.enter_handler(pending, &action, trap, eflags, in_force),
        }
    }

    fn enter_handler(&mut self, pending: &Pending, action: &Action, trap: Trap, eflags: u64, in_force: u64) {
        let contents = Contents {
            info: &pending.info,
            pc: self.pc,
            eflags,
            trap,
            mask: self.signals.mask,
            altstack: self.reported_altstack(),
            restorer: action.restorer,
        };
        let Some((top, placed)) = self.handler_stack(action) else {
            return self.no_room(pending.signal, in_force);
        };
        self.client().interrupts(self);
        if frame::write(self.context, &placed, &contents).is_err() {
            return self.no_room(pending.signal, in_force);
        }
        // A handler starts with the vector and x87 state of a new program, as the kernel has it.
        self.context.reset_vector_state();
        self.mode = Mode::BARE;
        self.client().interrupted(self, placed.frame, top);
        const SS_AUTODISARM: i32 = 1 << 31;
        if self.signals.altstack.flags & SS_AUTODISARM != 0 {
            self.signals.altstack = AltStack::NONE;
        }
        let own = if action.flags & libc::SA_NODEFER as u64 == 0 { bit(pending.signal) } else { 0 };
        let regs = &mut self.context.regs;
        regs[reg::RDI] = u64::from(pending.signal);
        regs[reg::RSI] = placed.info;
        regs[reg::RDX] = placed.ucontext;
        regs[reg::RAX] = 0;
        regs[reg::RSP] = placed.frame;
        self.context.rflags &= !(DIRECTION_FLAG | TRAP_FLAG | RESUME_FLAG);
        self.pc = action.handler;
        self.signals.set_mask(in_force | action.mask | own);
    }

    /// The top of the stack the handler runs on, and where its frame lies; `None` if the alternate stack has no room.
    fn handler_stack(&self, action: &Action) -> Option<(u64, Placed)> {
        let current = self.context.regs[reg::RSP];
        let alternate = &self.signals.altstack;
        let on_alternate = alternate.holds(current);
        let wanted = action.flags & libc::SA_ONSTACK as u64 != 0 && alternate.flags & libc::SS_DISABLE == 0;
        let enters = wanted && !on_alternate;
        let top = if enters { alternate.base + alternate.size } else { current.wrapping_sub(RED_ZONE) };
        let placed = frame::place(top);
        let fits = !(enters || on_alternate) || alternate.spans(placed.frame);
        fits.then_some((top, placed))
    }

    /// The alternate stack as a frame reports it.
    fn reported_altstack(&self) -> AltStack {
        let mut reported = self.signals.altstack;
        if reported.holds(self.context.regs[reg::RSP]) {
            reported.flags |= libc::SS_ONSTACK;
        }
        reported
    }

    /// There is no room for the frame of the signal `failed`: as the kernel does, a segmentation fault, which is fatal if
    /// that is what there was no room for.
    fn no_room(&mut self, failed: u32, in_force: u64) {
        let signal = libc::SIGSEGV as u32;
        let action = self.signals.actions.get(signal);
        if failed == signal || action.handler <= IGNORE || in_force & bit(signal) != 0 {
            self.end_by(signal);
        }
        self.signals.call_mask = Some(in_force);
        let mut info: Info = [0; 16];
        info[0] = u64::from(signal);
        const SI_KERNEL: u64 = 0x80;
        info[1] = SI_KERNEL;
        self.deliver(&Pending { signal, info }, action, Trap::default(), self.context.rflags);
    }

    /// Ends the process by `signal`, as if it had never been caught.
    pub(crate) fn end_by(&mut self, signal: u32) -> ! {
        end::by_signal(self, signal)
    }
}
