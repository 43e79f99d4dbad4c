//! A thread under a tool: what happens when translated code leaves because shadows are concerned.
//!
//! Most shadows are carried by the code beside the guest's; an instruction that code does not see to runs *solo*: on
//! its own between two stops, at which its operands are captured, and is replayed on the shadows then.

use super::Tool;
use super::registers::RegisterShadows;
use crate::context::Context;
use crate::engine::planes;
use crate::engine::thread::Thread;
use crate::engine::translate::Located;
use crate::x86::mode::Mode;
use crate::x86::state;

/// What is kept for a thread.
pub(crate) struct Shadowed {
    upper_registers: bool,
    /// Shadows of registers that signal handlers interrupted, by the address of the handler's frame.
    interrupted: Vec<(u64, Box<[u8; state::BYTES as usize]>)>,
}

impl Shadowed {
    /// For a new thread, whose kernel thread may not exist yet.
    pub(crate) fn new(tool: &Tool, _context: &mut Context) -> Self {
        Shadowed { upper_registers: tool.upper_registers, interrupted: Vec::new() }
    }

    /// A guest thread begins with no shadows, whatever the one before it on the same carrier had.
    pub(crate) fn begin_thread(&mut self, context: &mut Context) {
        self.interrupted.clear();
        self.registers(context).clear();
    }

    pub(crate) fn registers<'a>(&self, context: &'a mut Context) -> RegisterShadows<'a> {
        RegisterShadows { context, upper_registers: self.upper_registers }
    }
}

/// The mode for code that comes after a stop: what the cells say.
pub(crate) fn mode(thread: &mut Thread) -> Mode {
    match &thread.shadowed {
        Some(shadowed) if thread.process.is_annotating() => {
            Mode::cells(shadowed.registers(thread.context).cells())
        }
        _ => Mode::BARE,
    }
}

/// An instruction that is to run solo, at `thread.pc`.
pub(crate) fn begin(_thread: &mut Thread) {}

/// The solo instruction has run.
pub(crate) fn finish(_thread: &mut Thread) {}

/// The solo instruction was not run.
pub(crate) fn abandon(_thread: &mut Thread) {}

/// The instruction at a fault: what was to come of it does not.
pub(crate) fn faulted(_thread: &mut Thread, _located: &Located) {}

/// An indirect branch whose mode has no table.
pub(crate) fn look_up(thread: &mut Thread, target: u64) {
    thread.pc = target;
    thread.mode = mode(thread);
}

/// The thread arrived at a hooked address.
pub(crate) fn hook(thread: &mut Thread) {
    thread.mode = thread.mode.past_hook();
}

/// The thread makes a client request with the instruction at `pc`.
pub(crate) fn request(thread: &mut Thread, pc: u64) {
    const XCHG_BYTES: u64 = 3;
    thread.pc = pc + XCHG_BYTES;
}

/// A handler is about to be entered: it begins with no shadows. Returns what it interrupts.
pub(crate) fn interrupt(thread: &mut Thread) -> Option<Box<[u8; state::BYTES as usize]>> {
    let shadowed = thread.shadowed.as_ref()?;
    let mut registers = shadowed.registers(thread.context);
    super::registers::complete_image(registers.context);
    let saved = registers.save();
    registers.clear();
    Some(saved)
}

/// The handler's frame is at `frame`; it covers the guest bytes up to `end`.
pub(crate) fn interrupted(
    thread: &mut Thread,
    saved: Option<Box<[u8; state::BYTES as usize]>>,
    frame: u64,
    end: u64,
) {
    let (Some(shadowed), Some(saved)) = (&mut thread.shadowed, saved) else { return };
    // Frames below this one were left without returning.
    shadowed.interrupted.retain(|&(other, _)| other > frame);
    shadowed.interrupted.push((frame, saved));
    planes::clear(frame, end.saturating_sub(frame));
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
        Some(saved) => registers.restore(&saved),
        None => registers.clear(),
    }
    thread.mode = mode(thread);
}

/// The kernel wrote guest memory.
pub(crate) fn kernel_wrote(thread: &Thread, address: u64, len: u64) {
    if thread.process.is_annotating() && planes::has(address, len) {
        planes::clear(address, len);
    }
}

/// An instruction at `thread.pc` that uses GS: it runs solo, with the guest's.
pub(crate) fn with_guest_gs(_thread: &mut Thread, _insn: &iced_x86::Instruction) {}
