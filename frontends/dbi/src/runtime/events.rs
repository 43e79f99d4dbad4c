//! Events: what the tool does at those that the engine tells it of, where a thread has stopped.
//!
//! Most shadows are carried by the code beside the guest's; an instruction that code does not see to runs *out of line*: on
//! its own between two stops, at which its operands are captured, and is replayed on the shadows then.

use super::shadowed::{Interrupted, Shadowed};
use super::{Tool, out_of_line, recording, stops, visit, wrapped};
use crate::context::{Context, Counts, FUNCTIONS};
use crate::engine::client::{Client, Services};
use crate::engine::condition::consumed;
use crate::engine::handed::{Begun, Exposed, Lost, Writing};
use crate::engine::process::Process;
use crate::engine::sys::SYSCALL_BYTES;
use crate::engine::thread::Thread;
use crate::engine::{Held, ProgramEnd, guest, planes};
use crate::hooks::Memory;
use crate::mailbox::Mailbox;
use crate::registers;
use crate::session;
use crate::x86::function::Counted;
use crate::x86::mirror::Mirror;
use crate::x86::mode::Mode;
use crate::x86::rounding::Rounding;
use crate::x86::superblock::Decision;
use shadowgrind_core::shadow::{Derivatives, Sent};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Predicate;
use std::any::Any;
use std::path::Path;

impl Client for Tool {
    fn services(&self) -> Services {
        Services {
            attends: true,
            mirror: self.has_mirror(),
            all_calls: self.sees_all_calls(),
            reads: self.session.wants_texts(),
            writes: self.session.wants_written() || self.session.wants_taken(),
            sent: self.policy().sent != Sent::Unseen,
            hands_on: self.handing(),
            evaluator: self.functions().map_or(0, |functions| functions.evaluate as *const () as u64),
        }
    }

    fn annotator(&self, vdso: (u64, u64)) -> Option<Mirror> {
        Some(self.mirror(vdso))
    }

    fn thread_state(&self, context: &mut Context, mailbox: &'static Mailbox) -> Box<dyn Any> {
        Box::new(Shadowed::new(self, context, mailbox))
    }

    fn thread_begins(&self, thread: &mut Thread) {
        if let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) {
            shadowed.begin_thread(thread.context);
        }
    }

    fn thread_ends(&self, calls: &[u64; FUNCTIONS], counts: Counts<'_>) {
        self.session.count_calls(calls);
        self.session.count(counts);
    }

    fn mapped(&self, path: &Path, place: Option<&Path>, offset: u64, start: u64, end: u64) {
        self.session.mapped(path, place, offset, start, end);
    }

    fn unmapped(&self, start: u64, end: u64) {
        self.session.unmapped(start, end);
        if let Some(exposed) = &self.exposed {
            exposed.given_up(start, end.saturating_sub(start)).into_iter().for_each(|lost| self.lost(lost));
        }
    }

    fn is_hooked(&self, pc: u64) -> bool {
        let read = |address: u64, into: &mut [u8]| guest::read_some(address, into) == into.len();
        self.begins_at(pc) || self.session.is_java(pc, Memory(&read)) || self.session.is_hooked(pc)
    }

    fn function(&self, pc: u64) -> Option<Counted> {
        self.session.function(pc)
    }

    fn rounding(&self, pc: u64) -> Rounding {
        self.session.rounding(pc)
    }

    fn comparison(&self, pc: u64) -> Option<Decision> {
        if !self.session.counts_comparison(pc) || self.session.has_counted(pc) {
            return None;
        }
        let for_equality = consumed(Predicate::ORDER, pc).asks_for_equality();
        Some(Decision { pc, number: self.session.number_of_comparison(pc), for_equality })
    }

    fn whole_numbers(&self, pc: u64) -> Option<Decision> {
        if !self.session.counts_rounding(pc) {
            return None;
        }
        Some(Decision { pc, number: self.session.number_of_rounding(pc), for_equality: false })
    }

    fn counted(&self, pc: u64) {
        self.session.stop_counting(pc);
    }

    fn translated(&self, thread: &mut Thread) {
        recording::learn(thread);
        if thread.mode.is_annotated() && !thread.mode.is_off() {
            self.session.translated(thread.translator.operations());
        }
    }

    fn first_run(&self, thread: &mut Thread) -> bool {
        let awaited = self.session.awaits_run(thread.pc);
        if awaited {
            visit::first_run(thread);
        }
        awaited
    }

    fn mode(&self, thread: &mut Thread) -> Mode {
        stops::mode(thread)
    }

    fn mode_like(&self, thread: &Thread, mode: Mode) -> Mode {
        stops::mode_like(thread, mode)
    }

    fn enters(&self, thread: &Thread) {
        recording::begin(thread);
    }

    /// Replays what translated code has recorded, before anything looks at shadows.
    fn left(&self, thread: &mut Thread) {
        recording::replay(thread);
    }

    /// Shadows in upper registers move to memory, and the registers are what they were when the program began. Code and
    /// registers are the thread's own, so this concerns no other.
    fn leave_upper_registers(&self, thread: &mut Thread) {
        let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
        if shadowed.in_registers > 0 {
            registers::complete_image(thread.context);
            let all = shadowed.registers(thread.context).save();
            registers::clear_upper(thread.context);
            shadowed.in_registers = 0;
            shadowed.registers(thread.context).restore(&all);
        }
        thread.translator.leave_upper_registers();
        thread.flush();
    }

    fn begin(&self, thread: &mut Thread) {
        if thread.mode.is_wrapped() {
            // Nothing is carried there. Whether what follows the function is isolated may change by this instruction.
            thread.context.call.then = thread.cache.frame().function_returned;
            thread.mode = Mode::OUT_OF_LINE;
            return;
        }
        out_of_line::begin(thread);
    }

    fn finish(&self, thread: &mut Thread) {
        out_of_line::finish(thread);
    }

    fn abandon(&self, thread: &mut Thread) {
        out_of_line::abandon(thread);
    }

    fn faulted(&self, thread: &mut Thread) {
        out_of_line::abandon(thread);
        if thread.mode.is_out_of_line() {
            thread.mode = stops::mode(thread);
        }
    }

    fn unlock_atomics(&self) {
        Tool::unlock_atomics(self);
    }

    fn hook(&self, thread: &mut Thread) {
        if thread.mode.is_wrapped() {
            if !wrapped::leaves_wrapped(thread) {
                thread.mode = Mode::WRAPPED.past_hook();
                return;
            }
            thread.mode = stops::mode(thread);
        }
        visit::arrived(thread);
    }

    fn request(&self, thread: &mut Thread, pc: u64) {
        const XCHG_BYTES: u64 = 3;
        visit::request(thread, pc);
        thread.pc = pc + XCHG_BYTES;
    }

    fn stays_wrapped(&self, thread: &mut Thread, target: u64) -> bool {
        let stays = !wrapped::leaves_wrapped(thread);
        if !stays {
            thread.pc = target;
            thread.mode = stops::mode(thread);
        }
        stays
    }

    fn returned(&self, thread: &mut Thread) {
        wrapped::returned(thread);
    }

    /// Saves what the handler interrupts, and has it begin with no shadows.
    fn interrupts(&self, thread: &mut Thread) {
        visit::called_away(thread);
        let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
        let mut registers = shadowed.registers(thread.context);
        registers::complete_image(registers.context);
        let shadows = registers.save();
        registers.clear();
        shadowed.interrupting = Some(Interrupted { shadows, call: std::mem::take(&mut thread.context.call) });
    }

    fn interrupted(&self, thread: &mut Thread, frame: u64, end: u64) {
        /// Handlers that are left by a jump never return: the oldest are forgotten.
        const NESTED: usize = 64;
        let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
        let Some(saved) = shadowed.interrupting.take() else { return };
        shadowed.interrupted.retain(|&(other, _)| other != frame);
        if shadowed.interrupted.len() == NESTED {
            shadowed.interrupted.remove(0);
        }
        shadowed.interrupted.push((frame, saved));
        if self.has_mirror() {
            planes::clear(frame, end.saturating_sub(frame));
        }
        // What the handler begins with was reset.
        registers::complete_image(thread.context);
        shadowed.registers(thread.context).clear();
        thread.mode = stops::mode(thread);
    }

    fn resumes(&self, thread: &mut Thread, frame: u64) {
        let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
        let index = shadowed.interrupted.iter().position(|&(at, _)| at == frame);
        let saved = index.map(|index| shadowed.interrupted.swap_remove(index).1);
        let mut registers = shadowed.registers(thread.context);
        registers::complete_image(registers.context);
        match saved {
            Some(saved) => {
                registers.restore(&saved.shadows);
                thread.context.call = saved.call;
                thread.context.call.then = thread.cache.frame().function_returned;
            }
            None => registers.clear(),
        }
        thread.mode = stops::mode(thread);
    }

    fn read(&self, thread: &mut Thread, path: Option<&str>, offset: Option<usize>, pieces: &[(u64, u64)]) {
        visit::read(thread, path, offset, pieces);
    }

    fn wants_written(&self) -> bool {
        self.session.wants_next_written()
    }

    fn wrote(&self, thread: &mut Thread, descriptor: i32, path: &str, pieces: &[(u64, u64)]) {
        visit::wrote(thread, descriptor, path, pieces);
    }

    fn sent(
        &self,
        thread: &mut Thread,
        pc: u64,
        call: (u64, &'static str),
        begun: &Begun,
        writing: Writing<'_>,
    ) {
        let pieces = writing.pieces.iter().filter(is_shadowed);
        let lost = match self.policy().sent {
            Sent::Unseen => None,
            Sent::Output => {
                let unsaid: u64 =
                    pieces.filter(|&&(at, len)| !visit::sent(thread, pc, at, len)).map(floats_of).sum();
                self.lost_by(thread, pc, call, unsaid)
            }
            Sent::Lost => {
                let is_in_place = self.policy().derivatives == Some(Derivatives::InPlace);
                let mut floats = 0;
                for &(at, len) in pieces {
                    let shadowed = planes::count(at, len);
                    floats += shadowed;
                    if is_in_place && shadowed > 0 {
                        visit::sent_in_place(thread, pc, at, len);
                    }
                }
                self.lost_by(thread, pc, call, floats)
            }
        };
        let lost = match &thread.process.handed {
            Some(handed) => handed.end(begun, writing, lost),
            None => lost,
        };
        lost.into_iter().for_each(|lost| self.lost(lost));
    }

    fn fetched(&self, thread: &mut Thread, pc: u64, call: (u64, &'static str), floats: u64) {
        let lost = self.lost_by(thread, pc, call, floats);
        lost.into_iter().for_each(|lost| self.lost(lost));
    }

    fn address_of_call(&self, thread: &mut Thread) -> u64 {
        let site = site_of_call(thread);
        site.and_then(|site| self.session.address(site)).unwrap_or(0)
    }

    fn shares(&self, thread: &mut Thread, descriptor: Option<u64>, memory: (u64, u64)) {
        if let Some(exposed) = &self.exposed {
            exposed.mapped(descriptor, memory, site_of_call(thread).unwrap_or(Site::NONE));
        }
    }

    fn attaches(&self, thread: &mut Thread, memory: (u64, u64)) {
        if let Some(exposed) = &self.exposed {
            exposed.attached(memory, site_of_call(thread).unwrap_or(Site::NONE));
        }
    }

    fn moved(&self, old: (u64, u64), new: (u64, u64)) {
        self.exposed.iter().for_each(|exposed| exposed.moved(old, new));
    }

    fn unlinks(&self, unlink: &mut dyn FnMut()) {
        match &self.exposed {
            Some(exposed) => exposed.unlinks(unlink),
            None => unlink(),
        }
    }

    fn makes_polled_ring(&self, process: &Process) {
        if self.policy().sent != Sent::Unseen && process.is_annotating() {
            self.session.cannot_follow_polled_rings();
        }
    }

    fn forks(&self) {
        self.session.forking();
    }

    fn hold(&self) -> Box<dyn Held + '_> {
        let called_away = self.hold_called_away();
        let exposed = self.exposed.as_ref().map(Exposed::hold);
        Box::new((self.observer.lock(), self.session.hold(), self.carrier.hold(), exposed, called_away))
    }

    fn forked(&self, thread: &mut Thread) {
        self.session.forked();
        self.exposed.iter().for_each(Exposed::forked);
        Tool::unlock_atomics(self);
        recording::forked(thread);
    }

    /// Has floats counted that are in the texts, or that are left otherwise.
    fn executes(&self, process: &Process, path: &Path, texts: &[(u64, u64)]) {
        if self.policy().sent == Sent::Unseen {
            return;
        }
        let given: u64 = texts.iter().filter(is_shadowed).map(floats_of).sum();
        let address = |site| self.session.address(site).unwrap_or(0);
        let left = process.handed.as_ref().map_or(0, |handed| handed.leave(address));
        let exposed = self.exposed.as_ref().map_or(0, Exposed::left_to_program);
        self.session.leaves(given + left + exposed, path);
    }

    fn native_program(&self, program: &Path) -> String {
        session::unfollowed(program)
    }

    fn finish_program(&self, thread: &mut Thread, end: ProgramEnd) -> Option<i32> {
        visit::finish(thread, end)
    }
}

/// The site of the system call that the thread is at.
fn site_of_call(thread: &mut Thread) -> Option<Site> {
    visit::caller(thread, thread.pc.wrapping_sub(SYSCALL_BYTES))
}

impl Tool {
    /// So many floats with shadows that a call of the instruction at `pc` has handed out, as a loss; nothing if there are none.
    fn lost_by(&self, thread: &mut Thread, pc: u64, call: (u64, &'static str), floats: u64) -> Option<Lost> {
        let is_lost = floats > 0 && self.policy().sent != Sent::Unseen;
        let site = if is_lost { visit::caller(thread, pc) } else { None };
        site.map(|site| Lost { site, call, floats })
    }
}

/// Number of floats with shadows in this memory, address and length.
fn floats_of(&(at, len): &(u64, u64)) -> u64 {
    planes::count(at, len)
}

/// Tells whether some of this memory, address and length, has shadows.
fn is_shadowed(&&(at, len): &&(u64, u64)) -> bool {
    planes::has(at, len) && planes::any(at, len)
}
