//! A thread at a hook: what the session sees of it, and what becomes of it afterwards.

use super::Tool;
use super::shadowed::Shadowed;
use super::stopped::Stopped;
use super::{stops, taken};
use crate::context::{FunctionCall, reg};
use crate::engine::ProgramEnd;
use crate::engine::handed::Lost;
use crate::engine::process::Process;
use crate::engine::sys::SYSCALL_BYTES;
use crate::engine::syscalls::table::name_of as name_of_call;
use crate::engine::thread::Thread;
use crate::hooks::machine::Machine;
use crate::registers;
use crate::session::{Arrival, Calls, Noted, Observer, Session, Taken, Taking};
use crate::x86::mirror::Watched;
use crate::x86::mode::Mode;
use crate::x86::state;
use iced_x86::Instruction;
use shadowgrind_core::site::Site;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Has the session look at the stopped thread; code is annotated from the first shadow on.
pub(super) fn visit<T>(
    thread: &mut Thread,
    look: impl FnOnce(&Session, &mut Calls, &mut dyn Observer, &mut dyn Machine) -> T,
) -> Option<T> {
    let tool = Tool::of(thread.process)?;
    registers::complete_image(thread.context);
    let shadowed = Shadowed::of_mut(&mut thread.client_state)?;
    let mut calls = std::mem::take(&mut shadowed.calls);
    let in_registers = shadowed.in_registers;
    let mut stopped =
        Stopped { context: thread.context, in_registers, has_cells: tool.has_mirror(), set: false };
    let result = look(&tool.session, &mut calls, &mut **tool.observer.lock(), &mut stopped);
    let set = stopped.set;
    stopped.shadows().note_x87();
    shadowed.calls = calls;
    if set && tool.has_mirror() {
        wake(thread);
    }
    Some(result)
}

fn wake(thread: &mut Thread) {
    if thread.process.annotate() {
        thread.process.changes.forget_code();
        thread.process.threads.await_change(&thread.handle, &thread.process.changes);
        thread.mailbox.request();
    }
}

/// The state of a thread, by which it is known again: its registers, as far as functions are given anything by them.
fn state_of(thread: &mut Thread) -> u64 {
    const ARGUMENTS: usize = 8;
    registers::complete_image(thread.context);
    let mut hasher = DefaultHasher::new();
    (thread.pc, thread.context.regs).hash(&mut hasher);
    for number in 0..ARGUMENTS {
        let mut bytes = [0; 16];
        registers::read_value(thread.context, state::vector(number), &mut bytes);
        bytes.hash(&mut hasher);
    }
    hasher.finish()
}

/// A signal handler is about to run. If that is where a hook has been seen to, the hook must not be seen to again when the
/// thread comes back, or another one in its place: Go's scheduler returns there by other ways than the handler's end.
pub(super) fn called_away(thread: &mut Thread) {
    if thread.mode.is_past_hook()
        && let Some(tool) = Tool::of(thread.process)
    {
        tool.call_away(state_of(thread));
    }
}

/// The thread arrived at a hooked address, `thread.pc`.
pub(super) fn arrived(thread: &mut Thread) {
    let pc = thread.pc;
    let Some(tool) = Tool::of(thread.process) else { return };
    if tool.comes_back(|| state_of(thread)) {
        thread.mode = stops::mode(thread).past_hook();
        return;
    }
    if tool.begins_at(pc) {
        visit(thread, |session, _, observer, machine| session.begin(observer, machine));
        if tool.starts_awake() {
            wake(thread);
        }
    }
    let arrival = visit(thread, |session, calls, observer, machine| {
        (session.arrived(pc, calls, observer, machine), session.hook_parsers())
    });
    thread.mode = stops::mode(thread).past_hook();
    let (arrival, hooked) = arrival.unzip();
    hooked.into_iter().flatten().for_each(|address| watch(thread, address));
    match arrival {
        None | Some(Arrival::Go) => {}
        Some(Arrival::Watch(address)) => watch(thread, address),
        Some(Arrival::Wrapped) => {
            let then = thread.cache.frame().function_returned;
            let not_stack = !thread.context.regs[reg::RSP];
            thread.context.call = FunctionCall { not_stack, then, ..FunctionCall::default() };
            thread.mode = Mode::WRAPPED.past_hook();
            see_function(thread, pc);
        }
    }
}

/// The function at `pc` is seen by the engine; after a few times, translated code sees to it if it can.
fn see_function(thread: &mut Thread, pc: u64) {
    let tool = Tool::of(thread.process).filter(|tool| tool.inline().is_some());
    let watch = tool.and_then(|tool| tool.policy().watch);
    let (Some(watch), Some(shadowed)) = (watch, Shadowed::of_mut(&mut thread.client_state)) else { return };
    let calls = shadowed.functions_seen.entry(pc).or_default();
    *calls = calls.saturating_add(1);
    if *calls == watch.first {
        thread.translator.watch(pc, Watched::Never);
        thread.cache.forget_around([pc]);
    }
}

/// An instruction has taken these floats with shadows for integers.
pub(super) fn took(thread: &mut Thread, taking: Taking, floats: &[Taken], insn: &Instruction) {
    visit(thread, |session, _, observer, _| {
        session.took(taking, floats, || stops::name(insn), observer);
    });
}

/// Translated code has taken these floats, each for what it counts under a number.
pub(super) fn took_counted(thread: &mut Thread, floats: &[(u16, Taken)]) {
    visit(thread, |session, _, observer, _| session.took_counted(floats, observer));
}

/// An operation that is `site` has run at `pc`: its callers are noted.
pub(super) fn note_stack(thread: &mut Thread, site: Site, pc: u64, noted: Noted) {
    visit(thread, |session, _, _, machine| session.note_stack(site, pc, noted, machine));
}

/// The first of a module's code is about to run.
pub(super) fn first_run(thread: &mut Thread) {
    let pc = thread.pc;
    visit(thread, |session, _, observer, machine| session.first_run(pc, observer, machine));
}

/// Has code that was made before `address` was hooked made again, once.
fn watch(thread: &mut Thread, address: u64) {
    // What is mapped there later is made with the hook: it stays.
    let known =
        Shadowed::of_mut(&mut thread.client_state).is_some_and(|shadowed| !shadowed.watched.insert(address));
    if known {
        return;
    }
    thread.process.changes.forget_hooked(address);
    thread.mailbox.request();
}

/// A client request by the instruction at `pc`.
pub(super) fn request(thread: &mut Thread, pc: u64) {
    let answer =
        visit(thread, |session, calls, observer, machine| session.request(pc, calls, observer, machine));
    if let Some(answer) = answer {
        thread.context.regs[reg::RDX] = answer;
        if let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) {
            shadowed.registers(thread.context).bytes(state::general(reg::RDX), 8).fill(0);
        }
    }
    thread.mode = stops::mode(thread);
}

/// The system call at `pc` has handed out guest memory in which there are shadows; tells whether something is said of any float.
pub(super) fn sent(thread: &mut Thread, pc: u64, at: u64, len: u64) -> bool {
    let said = visit(thread, |session, calls, observer, machine| {
        session.sent(pc, at..at + len, calls, observer, machine)
    });
    said.unwrap_or(false)
}

/// The system call at `pc` has handed out guest memory in which there are derivatives in place.
pub(super) fn sent_in_place(thread: &mut Thread, pc: u64, at: u64, len: u64) {
    visit(thread, |session, calls, _, machine| session.sent_in_place(pc, at..at + len, calls, machine));
}

/// The place that has the system call at `pc` made; nothing while shadowing is switched off.
pub(super) fn caller(thread: &mut Thread, pc: u64) -> Option<Site> {
    visit(thread, |session, calls, _, machine| session.caller(pc, calls, machine)).flatten()
}

/// The program has read these pieces of a file or pipe.
pub(super) fn read(thread: &mut Thread, path: Option<&str>, offset: Option<usize>, pieces: &[(u64, u64)]) {
    let pc = thread.pc.wrapping_sub(SYSCALL_BYTES);
    visit(thread, |session, _, _, machine| session.read(pc, (path, offset), pieces, machine));
}

/// The program has written these pieces to a descriptor.
pub(super) fn wrote(thread: &mut Thread, descriptor: i32, path: &str, pieces: &[(u64, u64)]) {
    let pc = thread.pc.wrapping_sub(SYSCALL_BYTES);
    taken::catch_up(thread);
    visit(thread, |session, _, observer, machine| {
        session.wrote(pc, (descriptor, path), pieces, observer, machine);
    });
}

/// Has the session count what was handed on and not read, and what others see.
fn count_unread(process: &Process) {
    let Some(tool) = Tool::of(process) else { return };
    if let Some(exposed) = &tool.exposed {
        exposed.left().into_iter().for_each(|lost| tool.lost(lost));
    }
    let Some(handed) = &process.handed else { return };
    let address = |site| tool.session.address(site).unwrap_or(0);
    let lost = |[address, number, floats]: [u64; 3]| {
        let name = name_of_call(number)?;
        Some(Lost { site: tool.session.site(address), call: (number, name), floats })
    };
    let unread = handed.unread(address, lost);
    unread.into_iter().for_each(|lost| tool.lost(lost));
}

/// The program has ended; the exit status to be given instead of its own, if there is one.
pub(super) fn finish(thread: &mut Thread, end: ProgramEnd) -> Option<i32> {
    taken::catch_up(thread);
    let process = thread.process;
    process.client.thread_ends(&thread.context.calls, thread.context.counts());
    count_unread(process);
    let mut terminal = thread.terminal();
    visit(thread, |session, _, observer, machine| session.finish(end, observer, Some(machine), &mut terminal))
        .flatten()
}
