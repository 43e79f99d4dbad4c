//! Events: what the engine tells a tool of, and asks it, where a thread has stopped.
//!
//! Most shadows are carried by the code beside the guest's; an instruction that code does not see to runs *out of line*: on
//! its own between two stops, at which its operands are captured, and is replayed on the shadows then.

use super::cells::MirrorCells;
use super::handed::{Begun, Handed, Lost, Writing};
use super::registers::RegisterShadows;
use super::shadowed::Interrupted;
use super::{out_of_line, recording, visit};
use crate::engine::process::Process;
use crate::engine::sys::SYSCALL_BYTES;
use crate::engine::thread::Thread;
use crate::engine::{first_touch, planes};
use crate::session::Calls;
use crate::x86::mode::Mode;
use shadowgrind_core::replay::{self, Outcome};
use shadowgrind_core::shadow::Sent;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Lowered;
use shadowgrind_core::words::Raw;
use shadowgrind_shadows::none::Nothing;
use std::path::Path;

/// The mode for code that comes after a stop: what the cells say.
pub(crate) fn mode(thread: &mut Thread) -> Mode {
    let Some(shadowed) = &thread.shadowed else { return Mode::BARE };
    if thread.context.call.is_active() {
        return Mode::WRAPPED;
    }
    let registers = shadowed.registers(thread.context);
    let top = super::registers::x87_top(registers.context);
    let mode = Mode::cells(registers.cells()).narrow(registers.are_narrow()).with_top(top);
    mode_like(thread, mode)
}

/// `mode`, as far as the thread carries shadows at all, and has not switched shadowing off.
pub(crate) fn mode_like(thread: &Thread, mode: Mode) -> Mode {
    match &thread.shadowed {
        Some(shadowed) if mode.is_annotated() && thread.process.is_annotating() => {
            if shadowed.calls.is_disabled() { mode.off() } else { mode }
        }
        _ if mode.is_annotated() => Mode::BARE,
        _ => mode,
    }
}

/// The thread is about to use AVX-512: shadows in its registers move to memory, and the registers are what they were
/// when the program began. Code and registers are the thread's own, so this concerns no other.
pub(crate) fn leave_upper_registers(thread: &mut Thread) {
    let Some(shadowed) = &mut thread.shadowed else { return };
    if shadowed.in_registers > 0 {
        super::registers::complete_image(thread.context);
        let all = shadowed.registers(thread.context).save();
        super::registers::clear_upper(thread.context);
        shadowed.in_registers = 0;
        shadowed.registers(thread.context).restore(&all);
    }
    thread.translator.leave_upper_registers();
    thread.flush();
}

/// The block that is run next was just made.
pub(crate) fn translated(thread: &mut Thread) {
    recording::learn(thread);
    if thread.mode.is_annotated()
        && !thread.mode.is_off()
        && let Some(tool) = &thread.process.tool
    {
        tool.session.translated(thread.translator.operations());
    }
}

/// Runs the steps of an instruction, which has run during `calls`, on what the process's tool carries. If shadowing is
/// switched off, moves are followed, but results carry nothing.
pub(super) fn replay(
    process: &Process,
    lowered: &Lowered,
    site: Site,
    record: &[u8],
    registers: &mut RegisterShadows<'_>,
    calls: &Calls,
) -> Outcome {
    let Some(tool) = process.tool.as_ref().filter(|tool| tool.has_mirror()) else {
        return Outcome::default();
    };
    if calls.is_disabled() {
        let mut cells = MirrorCells { registers, words: &mut Raw };
        replay::replay(lowered, site, record, &mut Nothing, &mut cells);
        Outcome::default()
    } else {
        tool.carrier.replay(lowered, site, record, registers, calls.is_formatting())
    }
}

/// The thread is about to enter translated code.
pub(crate) fn enters(thread: &Thread) {
    recording::begin(thread);
}

/// Replays what translated code has recorded. Before anything looks at shadows.
pub(crate) fn replay_records(thread: &mut Thread) {
    recording::replay(thread);
}

/// This is a forked child, in which there are no other threads.
pub(crate) fn forked(thread: &Thread) {
    recording::forked(thread);
}

/// A gap met a shadow.
pub(super) fn met_gap(process: &Process, site: Site, insn: &iced_x86::Instruction) {
    if let Some(tool) = &process.tool {
        tool.session.gap(site, insn.code() as usize, || name(insn));
    }
}

/// Name of an instruction that drops shadows, for reports.
pub(super) fn name(insn: &iced_x86::Instruction) -> String {
    insn.op_code().instruction_string().to_owned()
}

/// The comparison at `pc` met shadows.
pub(super) fn decided(process: &Process, pc: u64, site: Site, is_equal: bool) {
    if let Some(tool) = &process.tool {
        tool.session.decided(pc, site, is_equal);
    }
}

/// Waits until no other thread runs an atomic instruction out of line, and keeps others from it.
pub(super) fn lock_atomics(process: &Process) {
    if let Some(tool) = &process.tool {
        tool.lock_atomics();
    }
}

/// Lets other threads run atomic instructions again: this thread has, or has met a fault in one.
pub(crate) fn unlock_atomics(process: &Process) {
    if let Some(tool) = &process.tool {
        tool.unlock_atomics();
    }
}

/// An instruction that is to run out of line, at `thread.pc`.
pub(crate) fn begin(thread: &mut Thread) {
    if thread.mode.is_wrapped() {
        // Nothing is carried there. Whether what follows the function is isolated may change by this instruction.
        thread.context.call.then = thread.cache.frame().function_returned;
        thread.mode = Mode::OUT_OF_LINE;
        return;
    }
    out_of_line::begin(thread);
}

/// The instruction out of line has run.
pub(crate) fn finish(thread: &mut Thread) {
    if thread.mode.is_out_of_line() {
        out_of_line::finish(thread);
    }
}

/// The instruction out of line was not run.
pub(crate) fn abandon(thread: &mut Thread) {
    out_of_line::abandon(thread);
}

/// The guest is at an instruction that faulted: if it ran out of line, it did not.
pub(crate) fn faulted(thread: &mut Thread) {
    out_of_line::abandon(thread);
    if thread.mode.is_out_of_line() {
        thread.mode = mode(thread);
    }
}

/// An indirect branch inside a function taken as one operation, to where none went before: whether the function goes
/// on there.
pub(crate) fn stays_wrapped(thread: &mut Thread, target: u64) -> bool {
    let stays = !visit::leaves_wrapped(thread);
    if !stays {
        thread.pc = target;
        thread.mode = mode(thread);
    }
    stays
}

/// The function taken as one operation has returned to `thread.pc`.
pub(crate) fn returned(thread: &mut Thread) {
    visit::returned(thread);
}

/// An indirect branch whose mode has no table, such as one that ran out of line.
pub(crate) fn look_up(thread: &mut Thread, target: u64) {
    thread.pc = target;
    out_of_line::finish(thread);
}

/// The thread arrived at a hooked address.
pub(crate) fn hook(thread: &mut Thread) {
    if thread.mode.is_wrapped() {
        if !visit::leaves_wrapped(thread) {
            thread.mode = Mode::WRAPPED.past_hook();
            return;
        }
        thread.mode = mode(thread);
    }
    visit::arrived(thread);
}

/// The thread comes to code of which nothing has been translated: whether something was done for that.
pub(crate) fn first_run(thread: &mut Thread) -> bool {
    let awaited = thread.process.tool.as_ref().is_some_and(|tool| tool.session.awaits_run(thread.pc));
    if awaited {
        visit::first_run(thread);
    }
    awaited
}

/// The thread makes a client request with the instruction at `pc`.
pub(crate) fn request(thread: &mut Thread, pc: u64) {
    const XCHG_BYTES: u64 = 3;
    visit::request(thread, pc);
    thread.pc = pc + XCHG_BYTES;
}

/// A handler is about to be entered: it begins with no shadows. Returns what it interrupts.
pub(crate) fn interrupt(thread: &mut Thread) -> Option<Interrupted> {
    visit::called_away(thread);
    let shadowed = thread.shadowed.as_ref()?;
    let mut registers = shadowed.registers(thread.context);
    super::registers::complete_image(registers.context);
    let shadows = registers.save();
    registers.clear();
    Some(Interrupted { shadows, call: std::mem::take(&mut thread.context.call) })
}

/// The handler's frame is at `frame`; it covers the guest bytes up to `end`.
pub(crate) fn interrupted(thread: &mut Thread, saved: Option<Interrupted>, frame: u64, end: u64) {
    let (Some(shadowed), Some(saved)) = (&mut thread.shadowed, saved) else { return };
    /// Handlers that are left by a jump never return: the oldest are forgotten.
    const NESTED: usize = 64;
    shadowed.interrupted.retain(|&(other, _)| other != frame);
    if shadowed.interrupted.len() == NESTED {
        shadowed.interrupted.remove(0);
    }
    shadowed.interrupted.push((frame, saved));
    if thread.process.has_mirror() {
        planes::clear(frame, end.saturating_sub(frame));
    }
    // What the handler begins with was reset.
    super::registers::complete_image(thread.context);
    shadowed.registers(thread.context).clear();
    thread.mode = mode(thread);
}

/// The handler whose frame is at `frame` has returned.
pub(crate) fn resume(thread: &mut Thread, frame: u64) {
    let Some(shadowed) = &mut thread.shadowed else { return };
    let index = shadowed.interrupted.iter().position(|&(at, _)| at == frame);
    let saved = index.map(|index| shadowed.interrupted.swap_remove(index).1);
    let mut registers = shadowed.registers(thread.context);
    super::registers::complete_image(registers.context);
    match saved {
        Some(saved) => {
            registers.restore(&saved.shadows);
            thread.context.call = saved.call;
            thread.context.call.then = thread.cache.frame().function_returned;
        }
        None => registers.clear(),
    }
    thread.mode = mode(thread);
}

/// The kernel wrote guest memory.
pub(crate) fn kernel_wrote(thread: &Thread, address: u64, len: u64) {
    if thread.process.is_annotating() && planes::has(address, len) {
        first_touch::overwritten_by(thread.pc, address, len);
        planes::clear(address, len);
    }
}

/// Tells whether the session wants to see what the program reads.
pub(crate) fn wants_texts(thread: &Thread) -> bool {
    thread.process.tool.as_ref().is_some_and(|tool| tool.session.wants_texts())
}

/// Tells whether the session wants to see what the program writes.
pub(crate) fn wants_written(thread: &Thread) -> bool {
    thread.process.tool.as_ref().is_some_and(|tool| tool.session.wants_written())
}

/// The program has written these pieces: see [`Session::wrote`](crate::session::Session::wrote).
pub(crate) fn wrote(thread: &mut Thread, descriptor: i32, path: &str, pieces: &[(u64, u64)]) {
    visit::wrote(thread, descriptor, path, pieces);
}

/// The program has read these pieces: address and length. See [`Session::read`](crate::session::Session::read).
pub(crate) fn read(thread: &mut Thread, path: Option<&str>, offset: Option<usize>, pieces: &[(u64, u64)]) {
    visit::read(thread, path, offset, pieces);
}

/// Bytes that processes of the tree hand each other, if those are followed.
pub(crate) fn handed(process: &Process) -> Option<&Handed> {
    process.tool.as_ref()?.handed.as_ref()
}

/// The system call at `pc`, of this number and name, which was `begun`, has handed out guest memory.
pub(crate) fn sent(
    thread: &mut Thread,
    pc: u64,
    call: (u64, &'static str),
    begun: &Begun,
    writing: Writing<'_>,
) {
    let process = thread.process;
    let how = process.tool.as_ref().map_or(Sent::Unseen, |tool| tool.policy().sent);
    let is_shadowed = |&&(at, len): &&(u64, u64)| planes::has(at, len) && planes::any(at, len);
    let pieces = writing.pieces.iter().filter(is_shadowed);
    match how {
        Sent::Unseen => {}
        Sent::Output => pieces.for_each(|&(at, len)| visit::sent(thread, pc, at, len)),
        Sent::Lost => {
            let floats: u64 = pieces.map(|&(at, len)| planes::count(at, len)).sum();
            let site = if floats > 0 { visit::call_site(thread, pc) } else { None };
            let lost = site.map(|site| Lost { site, call, floats });
            let lost = match handed(process) {
                Some(handed) => handed.end(begun, writing, lost),
                None => lost,
            };
            lost.into_iter().for_each(|lost| left(process, lost));
        }
    }
}

/// Address of the site of the system call that the thread is at; 0 if there is none.
pub(crate) fn address_of_call(thread: &mut Thread) -> u64 {
    let pc = thread.pc.wrapping_sub(SYSCALL_BYTES);
    let site = visit::call_site(thread, pc);
    let session = thread.process.tool.as_ref().map(|tool| &tool.session);
    site.and_then(|site| session?.address(site)).unwrap_or(0)
}

/// The program `path` takes this one's place, and is given these texts, address and length: has floats counted that are in
/// them, or that are left otherwise.
pub(crate) fn executes(process: &Process, path: &Path, texts: &[(u64, u64)]) {
    let Some(tool) = process.tool.as_ref().filter(|tool| tool.policy().sent == Sent::Lost) else { return };
    let is_shadowed = |&&(at, len): &&(u64, u64)| planes::has(at, len) && planes::any(at, len);
    let given: u64 = texts.iter().filter(is_shadowed).map(|&(at, len)| planes::count(at, len)).sum();
    let address = |site| tool.session.address(site).unwrap_or(0);
    let left = tool.handed.as_ref().map_or(0, |handed| handed.leave(address));
    tool.session.leaves(given + left, path);
}

/// The system call at `pc`, of this number and name, has fetched so many floats that have shadows where they are.
pub(crate) fn borrowed(thread: &mut Thread, pc: u64, call: (u64, &'static str), floats: u64) {
    let is_lost = thread.process.tool.as_ref().is_some_and(|tool| tool.policy().sent == Sent::Lost);
    if is_lost
        && floats > 0
        && let Some(site) = visit::call_site(thread, pc)
    {
        left(thread.process, Lost { site, call, floats });
    }
}

/// The program has made a ring that the kernel looks at by itself.
pub(crate) fn cannot_follow_polled_rings(process: &Process) {
    if let Some(tool) =
        process.tool.as_ref().filter(|tool| tool.policy().sent == Sent::Lost && tool.is_awake())
    {
        tool.session.cannot_follow_polled_rings();
    }
}

/// Floats with shadows have left the tree of processes.
pub(super) fn left(process: &Process, lost: Lost) {
    let Lost { site, call: (number, name), floats } = lost;
    if let Some(tool) = &process.tool {
        tool.session.left(site, (number, name), floats);
    }
}
