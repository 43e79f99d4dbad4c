//! A thread that has stopped: the mode in which it goes on, and what becomes of an instruction that ran out of line.

use super::Tool;
use super::cells::MirrorCells;
use super::shadowed::Shadowed;
use crate::engine::process::Process;
use crate::engine::thread::Thread;
use crate::registers::{self, RegisterShadows};
use crate::session::{Calls, Decision};
use crate::x86::mode::Mode;
use shadowgrind_core::replay::{self, Outcome};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Lowered;
use shadowgrind_core::words::Raw;
use shadowgrind_shadows::none::Nothing;

/// The mode for code that comes after a stop: what the cells say.
pub(super) fn mode(thread: &mut Thread) -> Mode {
    let Some(shadowed) = Shadowed::of(&thread.client_state) else { return Mode::BARE };
    if thread.context.call.is_active() {
        return Mode::WRAPPED;
    }
    let registers = shadowed.registers(thread.context);
    let top = registers::x87_top(registers.context);
    let mode = Mode::cells(registers.cells()).narrow(registers.are_narrow()).with_top(top);
    mode_like(thread, mode)
}

/// `mode`, as far as the thread carries shadows at all, and has not switched shadowing off.
pub(super) fn mode_like(thread: &Thread, mode: Mode) -> Mode {
    match Shadowed::of(&thread.client_state) {
        Some(shadowed) if mode.is_annotated() && thread.process.is_annotating() => {
            if shadowed.calls.is_disabled() { mode.off() } else { mode }
        }
        _ if mode.is_annotated() => Mode::BARE,
        _ => mode,
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
    let Some(tool) = Tool::of(process).filter(|tool| tool.has_mirror()) else {
        return Outcome::default();
    };
    if calls.is_disabled() {
        let mut cells = MirrorCells { registers, words: &mut Raw, turned: None };
        replay::replay(lowered, site, record, &mut Nothing, &mut cells);
        Outcome::default()
    } else {
        tool.carrier.replay(lowered, site, record, registers, calls.is_formatting())
    }
}

/// A gap met a shadow.
pub(super) fn met_gap(process: &Process, site: Site, insn: &iced_x86::Instruction) {
    if let Some(tool) = Tool::of(process) {
        tool.session.gap(site, insn.code() as usize, || name(insn));
    }
}

/// Name of an instruction that drops shadows, for reports.
pub(super) fn name(insn: &iced_x86::Instruction) -> String {
    insn.op_code().instruction_string().to_owned()
}

/// The instruction at `pc` met a shadow where it decided something.
pub(super) fn decided(process: &Process, pc: u64, site: Site, decision: Decision) {
    if let Some(tool) = Tool::of(process) {
        tool.session.decided(pc, site, decision);
    }
}

/// Waits until no other thread runs an atomic instruction out of line, and keeps others from it.
pub(super) fn lock_atomics(process: &Process) {
    if let Some(tool) = Tool::of(process) {
        tool.lock_atomics();
    }
}

/// Lets other threads run atomic instructions again: this thread has, or has met a fault in one.
pub(super) fn unlock_atomics(process: &Process) {
    if let Some(tool) = Tool::of(process) {
        tool.unlock_atomics();
    }
}
