//! The tool's state of a thread.
//!
//! Knows what is kept, and not what happens to it: that is in `events`.

use super::Tool;
use super::entries::OutOfLine;
use super::parts::Parts;
use super::recorder::Recorder;
use crate::context::{Context, FunctionCall};
use crate::mailbox::Mailbox;
use crate::registers::{self, RegisterShadows};
use crate::session::Calls;
use crate::x86::state;
use hashbrown::{HashMap, HashSet};
use std::any::Any;

/// State that is kept for a thread.
pub(super) struct Shadowed {
    /// The number of vector registers whose shadows are in the upper ones; 0 without AVX-512.
    pub(super) in_registers: u8,
    pub(super) out_of_line: OutOfLine,
    /// Floats of which parts were written lately.
    pub(super) parts: Parts,
    /// The state that a signal handler is about to interrupt.
    pub(super) interrupting: Option<Interrupted>,
    /// The states that signal handlers interrupted, by the address of the handler's frame.
    pub(super) interrupted: Vec<(u64, Interrupted)>,
    /// The thread's records, if operations are recorded.
    pub(super) recorder: Option<Recorder>,
    /// Calls the session waits for.
    pub(super) calls: Calls,
    /// Return addresses the thread has seen hooked: the code there was made again when they were.
    pub(super) watched: HashSet<u64>,
    /// Number of floats noted in [`Context::taken`] that the session knows of.
    pub(super) taken: u64,
    /// Number of calls of functions taken as one operation that came to the engine, by address.
    pub(super) functions_seen: HashMap<u64, u32>,
}

/// State that a signal handler has interrupted.
pub(super) struct Interrupted {
    /// Shadows of registers.
    pub(super) shadows: Box<[u8; state::BYTES as usize]>,
    /// The function that ran as one operation.
    pub(super) call: FunctionCall,
}

impl Shadowed {
    /// The tool's part of a thread's state; nothing under `none`.
    pub(super) fn of(state: &Box<dyn Any>) -> Option<&Shadowed> {
        state.downcast_ref()
    }

    /// As [`Shadowed::of`], to be changed.
    pub(super) fn of_mut(state: &mut Box<dyn Any>) -> Option<&mut Shadowed> {
        state.downcast_mut()
    }

    /// For a new thread, whose kernel thread may not exist yet.
    pub(super) fn new(tool: &Tool, context: &mut Context, mailbox: &'static Mailbox) -> Self {
        let shadowed = Shadowed {
            in_registers: tool.in_registers(),
            out_of_line: OutOfLine::new(tool.carrier.fits_half()),
            parts: Parts::new(tool.policy().derivatives.is_some(), tool.carrier.layout()),
            interrupting: None,
            interrupted: Vec::new(),
            calls: Calls::new(),
            watched: HashSet::new(),
            taken: 0,
            functions_seen: HashMap::new(),
            recorder: Recorder::new(tool, &mailbox.recording),
        };
        registers::complete_image(context);
        shadowed.registers(context).clear();
        shadowed
    }

    /// A guest thread begins with no shadows, whatever the one before it on the same carrier had.
    pub(super) fn begin_thread(&mut self, context: &mut Context) {
        self.interrupted.clear();
        self.calls = Calls::new();
        context.call = FunctionCall::default();
        registers::complete_image(context);
        self.registers(context).clear();
    }

    pub(super) fn registers<'a>(&self, context: &'a mut Context) -> RegisterShadows<'a> {
        RegisterShadows { context, in_registers: self.in_registers }
    }
}
