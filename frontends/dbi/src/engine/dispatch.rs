//! The dispatcher: runs a guest thread.
//!
//! The loop is: see to requests, find or make the block at the guest's pc, run it, act on the exit it left by. Everything that
//! can happen to a thread is called from here; the thread's data is in `thread`, which knows nothing of that.

use super::changes::Forget;
use super::guest_code::GuestCode;
use super::layout::page_floor;
use super::region::BlockId;
use super::signals::fault;
use super::stubs::{self, ExitId};
use super::switch;
use super::syscalls;
use super::thread::{Next, Thread};
use super::translate::{NoBlock, Wanted};
use super::{emulate, exceptions, first_touch, stepping, vsyscall};
use crate::context::{Fault, TRAP_FLAG};
use crate::registers;
use crate::x86::code::ExitKind;
use crate::x86::mode::Mode;
use std::sync::atomic::Ordering;

impl Thread {
    /// Runs the guest from `self.pc` until the thread ends; its exit status.
    pub(crate) fn run(&mut self) -> i32 {
        loop {
            if self.mailbox.no_request.load(Ordering::SeqCst) == 0 {
                self.requests();
            }
            exceptions::settle(self);
            let Some(block) = self.block() else { continue };
            if let Next::Exit(status) = self.enter(block) {
                return status;
            }
        }
    }

    /// Sees to what was asked of this thread: changed code, a signal, the end of the process.
    fn requests(&mut self) {
        // An instruction that was to run out of line has not: it is begun again when the thread comes back to it.
        self.client().abandon(self);
        if self.diverted != 0 {
            self.cache.undo_divert(std::mem::take(&mut self.diverted));
        }
        loop {
            self.mailbox.no_request.store(1, Ordering::SeqCst);
            self.process.threads.come_back(self.mailbox);
            self.forget_changes();
            self.deliver_pending();
            if self.mailbox.no_request.load(Ordering::SeqCst) != 0 {
                return;
            }
        }
    }

    fn forget_changes(&mut self) {
        let (forget, latest) = self.process.changes.since(self.handle.seen.load(Ordering::Relaxed));
        match forget {
            Forget::Nothing => {}
            Forget::Everything => self.flush(),
            Forget::Ranges(ranges) => {
                ranges.into_iter().for_each(|(start, end)| self.forget_range(start, end))
            }
        }
        self.handle.seen.store(latest, Ordering::SeqCst);
    }

    fn forget_range(&mut self, start: u64, end: u64) {
        let pages: Vec<u64> = self.cache.pages().filter(|&page| start <= page && page < end).collect();
        for page in pages {
            self.cache.invalidate_page(page);
        }
    }

    pub(crate) fn flush(&mut self) {
        self.counters.flushes += 1;
        // Code for a function's return may be gone.
        self.context.call.then = self.cache.frame().function_returned;
        self.cache.flush();
        self.translator.forget();
    }

    /// The block at `self.pc`; `None` if there can be none, which the guest has been told by a signal.
    fn block(&mut self) -> Option<BlockId> {
        if self.mode.is_bare() && self.process.is_annotating() {
            let awake = self.client().mode(self);
            self.mode = if self.mode.is_past_hook() { awake.past_hook() } else { awake };
        }
        let onward = self.onward.take() == Some(self.pc);
        if let Some(id) = self.cache.find(self.pc, self.mode) {
            if onward || !self.cache.block(id).made_of.onward {
                return Some(id);
            }
            self.cache.forget(id);
        }
        if self.client().first_run(self) {
            return None;
        }
        if vsyscall::is_entry(self.pc) {
            vsyscall::call(self);
            return None;
        }
        if self.process.options.flush_every.is_some_and(|every| self.cache.block_count() >= every) {
            self.flush();
        }
        self.translate(false, onward)
    }

    /// Makes the block at `self.pc`, as [`Thread::block`]; with more effort if it is `hot`. `onward` as for [`Wanted`].
    fn translate(&mut self, hot: bool, onward: bool) -> Option<BlockId> {
        let mut source = GuestCode::new(self.process, self.pc);
        source.out_of_line = self.mode.is_out_of_line();
        let wanted = Wanted { pc: self.pc, mode: self.mode, compare: source.compare, hot, onward };
        match self.translator.translate(&mut self.cache, &mut source, self.context, wanted) {
            Ok(id) => {
                self.counters.blocks += 1;
                self.client().translated(self);
                Some(id)
            }
            Err(NoBlock::Exhausted) if self.cache.block_count() > 0 => {
                self.flush();
                None
            }
            Err(NoBlock::UpperRegisters) => {
                self.client().leave_upper_registers(self);
                None
            }
            Err(reason) => {
                fault::no_code(self, reason);
                None
            }
        }
    }

    fn enter(&mut self, block: BlockId) -> Next {
        self.counters.entries += 1;
        let was_stepping = self.context.rflags & TRAP_FLAG != 0;
        self.client().enters(self);
        self.run_block(block, was_stepping);
        self.place_touches();
        let exit = self.context.exit as ExitId;
        self.client().left(self);
        let steps = was_stepping && self.completes_instruction(exit);
        let next = self.act_on(exit);
        if steps && next == Next::Run && self.context.rflags & TRAP_FLAG != 0 {
            stepping::trap(self);
        }
        next
    }

    /// Tells whether the code that the thread has just left may be forgotten: nothing is looked up there by host address.
    pub(crate) fn may_forget(&self) -> bool {
        let exit = self.context.exit as ExitId;
        exit != stubs::EXIT_FAULT && exit != switch::EXIT_ABORTED as u32
    }

    /// Finds the guest instructions that were the first to overwrite floats, while their code is there.
    fn place_touches(&mut self) {
        while let Some((host_pc, tell)) = first_touch::unplaced(&self.mailbox.touches) {
            let located = self.cache.block_at(host_pc).and_then(|id| {
                let mut source = GuestCode::new(self.process, self.cache.block(id).made_of.pc);
                self.translator.locate(&self.cache, &mut source, id, host_pc)
            });
            tell(located.map_or(self.pc, |located| located.insn.pc()));
        }
    }

    /// Tells whether translated code that exits by `exit` has done all of a guest instruction, or will have when the
    /// engine has acted.
    fn completes_instruction(&self, exit: ExitId) -> bool {
        match exit {
            stubs::EXIT_FAULT => false,
            _ if exit == switch::EXIT_ABORTED as u32 => false,
            _ if exit < stubs::FIRST_EXIT => true,
            _ => !matches!(
                self.cache.exit_kind(exit),
                ExitKind::Hot(_) | ExitKind::Settled(_) | ExitKind::Changed(_) | ExitKind::Counted(_)
            ),
        }
    }

    fn act_on(&mut self, exit: ExitId) -> Next {
        match exit {
            // The request is seen to at the top of the loop.
            _ if exit == switch::EXIT_ABORTED as u32 => {
                self.client().abandon(self);
                Next::Run
            }
            stubs::EXIT_IB_MISS..=stubs::EXIT_LAST_IB_MISS => {
                let target = self.context.ib_target;
                let Some(mode) = Mode::of_table((exit - stubs::EXIT_IB_MISS) as usize) else {
                    self.shared_miss(target);
                    return Next::Run;
                };
                self.mode =
                    if self.mode.is_bare() { Mode::BARE } else { self.client().mode_like(self, mode) };
                if !self.mode.is_wrapped() || self.client().stays_wrapped(self, target) {
                    self.indirect(target);
                }
                Next::Run
            }
            stubs::EXIT_FUNCTION_RETURNED => {
                self.pc = self.context.ib_target;
                self.client().returned(self);
                Next::Run
            }
            stubs::EXIT_SYSCALL => {
                self.counters.syscalls += 1;
                self.mode = Mode::from_bits(self.context.syscall_mode as u32);
                syscalls::call(self)
            }
            stubs::EXIT_AFTER_SYSCALL => {
                self.mode = Mode::from_bits(self.context.syscall_mode as u32);
                syscalls::made(self);
                Next::Run
            }
            stubs::EXIT_FAULT => {
                self.counters.faults += 1;
                fault::in_cache(self);
                Next::Run
            }
            _ => self.exit_by(exit),
        }
    }

    /// Runs translated code from `context.entry` on, which was translated for this thread, until it exits. Meanwhile the signal
    /// handler may borrow the thread: what it finds it by is made from this borrow, which is not used until then.
    fn run_code(&mut self) {
        std::ptr::from_mut(self).expose_provenance();
        // SAFETY: this is the calling thread, and `entry` is code of its cache.
        unsafe { switch::enter(self.context) };
    }

    /// Runs translated code from `block` on until it exits.
    fn run_block(&mut self, block: BlockId, was_stepping: bool) {
        let entry = self.cache.block(block).entry;
        self.context.entry = entry;
        self.arrived = false;
        // A block may begin with instructions of ours: then its first guest instruction comes into view on the way.
        let mut begun = !was_stepping || stepping::is_boundary(self, entry);
        registers::release_uppers(self.context);
        let mode = self.cache.block(block).made_of.mode;
        exceptions::hide(self, mode);
        self.run_code();
        let mut asked = false;
        while let Some(fault) = self.fault() {
            let steps = stepping::goes_on(self, &mut begun);
            let rule = if steps { None } else { exceptions::go_on_with_rule(self) };
            let Some(entry) = rule.or(steps.then_some(fault.host_pc)) else { break };
            self.context.entry = entry;
            self.context.rflags |= fault.eflags & TRAP_FLAG;
            loop {
                // In the middle of an instruction nothing can be seen to.
                asked |= self.mailbox.no_request.swap(1, Ordering::SeqCst) == 0;
                if asked && rule.is_some() {
                    self.exit_soon(entry);
                }
                self.arrived = false;
                self.run_code();
                if self.context.exit != switch::EXIT_ABORTED as u64 {
                    break;
                }
            }
        }
        let fault = self.fault();
        exceptions::reveal(self.context, fault);
        if asked {
            self.mailbox.request();
        }
    }

    /// The fault by which translated code was left.
    fn fault(&self) -> Option<Fault> {
        (self.context.exit as ExitId == stubs::EXIT_FAULT).then_some(self.context.fault)
    }

    /// Has the block around host address `pc`, which is about to be entered, go to the engine at its next exit.
    fn exit_soon(&mut self, pc: u64) {
        if self.diverted != 0 {
            self.cache.undo_divert(self.diverted);
        }
        self.cache.divert(pc);
        self.diverted = pc;
    }

    /// Goes on after `exit`: does what the engine has to do there, and sets `self.pc`.
    fn exit_by(&mut self, exit: ExitId) -> Next {
        self.mode = self.cache.exit_mode(exit);
        let kind = self.cache.exit_kind(exit);
        if let Some(pc) = kind.resumes_at() {
            self.pc = pc;
        }
        match kind {
            ExitKind::Jump(_, mode) => {
                self.mode = mode;
                // A diverted exit is put back, not linked.
                if self.mailbox.no_request.load(Ordering::SeqCst) != 0 {
                    self.link(exit);
                }
            }
            ExitKind::Turn(_) => unreachable!("turns of loops exit by the jump that follows"),
            ExitKind::Indirect => unreachable!("indirect branches exit through the miss stub"),
            ExitKind::Lookup => self.look_up(self.context.ib_target),
            ExitKind::Engine(pc) => return emulate::instruction(self, pc),
            ExitKind::Executed(pc) => {
                let next = emulate::after(self, pc);
                self.finish_out_of_line();
                return next;
            }
            ExitKind::Stepped(_) => self.finish_out_of_line(),
            ExitKind::OutOfLine(_) => self.client().begin(self),
            ExitKind::Counted(pc) => {
                self.client().counted(pc);
                self.cache.invalidate_page(page_floor(pc));
                self.onward = Some(pc);
            }
            ExitKind::Flush(_) => {}
            ExitKind::Hook(_) => self.client().hook(self),
            ExitKind::Request(pc) => self.client().request(self, pc),
            ExitKind::Hot(pc) => {
                if let Some(id) = self.cache.find(pc, self.mode) {
                    // Whoever goes on there finds it only as such.
                    let onward = self.cache.block(id).made_of.onward;
                    self.onward = onward.then_some(pc);
                    self.cache.forget(id);
                    self.translate(true, onward);
                }
            }
            ExitKind::Settled(_) => exceptions::leave_isolation(self),
            ExitKind::Changed(pc) => {
                self.cache.invalidate_page(page_floor(pc));
                self.onward = Some(pc);
            }
        }
        Next::Run
    }

    /// Links `exit` to the block at `self.pc`, unless making that block flushed the cache and the exit with it.
    fn link(&mut self, exit: ExitId) {
        let flushes = self.counters.flushes;
        if let Some(id) = self.block()
            && self.counters.flushes == flushes
        {
            self.cache.link(exit, id);
        }
    }

    fn finish_out_of_line(&mut self) {
        if self.mode.is_out_of_line() {
            self.client().finish(self);
            self.onward = Some(self.pc);
        }
    }

    /// An indirect branch to `target` whose mode has no table, such as one that ran out of line.
    fn look_up(&mut self, target: u64) {
        self.pc = target;
        self.client().finish(self);
    }

    /// An indirect branch to `target` missed the shared table. The thread goes on in the mode that its cells call for; only if the
    /// branch was in it is that entered in the table, as another time cells may be set that are not now. A branch that often
    /// takes cells for set which are not goes on so.
    fn shared_miss(&mut self, target: u64) {
        let mode = Mode::from_bits(self.context.ib_mode as u32);
        self.look_up(target);
        // The branch may have been in isolated code.
        exceptions::settle(self);
        let may_go_on = self.mode.is_annotated() && self.mode.with_cells(0) == mode.with_cells(0);
        if may_go_on && self.mode != mode && self.cache.is_often_loose(target, mode) {
            self.mode = mode;
        }
        if self.mode == mode {
            self.indirect(target);
        }
    }

    fn indirect(&mut self, target: u64) {
        self.counters.lookup_misses += 1;
        self.pc = target;
        if let Some(id) = self.block() {
            self.cache.enter_in_table(id);
        }
    }
}
