//! State along one way of the code ahead: where the bytes of the part are, and what was written around it.

use super::AROUND;
use super::values::Values;
use iced_x86::Register;

/// Bytes that hold the part.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub(super) place: Where,
    /// Number of them before the part.
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// True if it is there that the part is written, and what is around it as well.
    pub(super) is_origin: bool,
    /// Bytes around the part that had been written when these were read, by distance from [`AROUND`] before it.
    pub(super) written: u64,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Where {
    Register(Register),
    Memory(u64),
}

/// State along one way.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) pc: u64,
    pub(super) values: Values,
    pub(super) held: Vec<Held>,
    /// Places of what has become of the bytes around the part.
    pub(super) own: Vec<Where>,
    pub(super) written: u64,
    pub(super) branches: u32,
}

impl Way {
    /// State behind the call at whose next instruction the way stands: what the callee may change is not known.
    pub(super) fn after_call(&self) -> Way {
        let mut after = self.clone();
        after.values.forget_registers();
        after.held.retain(|held| !matches!(held.place, Where::Register(_)));
        after.forget_frame();
        after
    }

    /// Nothing below the top of the stack is read any more: it was the frame of a function that has returned, or is a called one's.
    pub(super) fn forget_frame(&mut self) {
        /// Bytes of the largest frame.
        const MOST: u64 = 1 << 20;
        let Some(top) = self.values.stack() else { return };
        let is_below = |at: u64| at < top && top - at < MOST;
        self.held.retain(|held| !matches!(held.place, Where::Memory(at) if is_below(at)));
    }

    /// The first register in which floats are passed that holds the part, if any does.
    pub(super) fn argument(&self) -> Option<Held> {
        const ARGUMENTS: usize = 8;
        let is_argument =
            |held: &&Held| matches!(held.place, Where::Register(r) if r.is_zmm() && r.number() < ARGUMENTS);
        self.held.iter().find(is_argument).copied()
    }

    /// Memory is written over: what held the part there does no longer.
    pub(super) fn overwrite(&mut self, to: u64, size: u64, bytes: u64) {
        self.held.retain(|held| {
            let Where::Memory(at) = held.place else { return true };
            let part = at.wrapping_add(held.offset);
            part.wrapping_sub(to) >= size && to.wrapping_sub(part) >= bytes
        });
    }

    pub(super) fn note_written(&mut self, to: u64, size: u64, part: u64) {
        let first = to.wrapping_sub(part.wrapping_sub(AROUND));
        let noted = (0..u64::from(u64::BITS)).filter(|at| at.wrapping_sub(first) < size);
        noted.for_each(|at| self.written |= 1 << at);
    }

    /// Notes, if what has written the part goes on beside it, that what is on its other side was written in turns before.
    pub(super) fn note_turn(&mut self, to: u64, size: u64, part: u64) {
        let before = (1 << AROUND) - 1;
        if to == part.wrapping_add(size) {
            self.written |= before;
        } else if part == to.wrapping_add(size) {
            self.written |= !before;
        }
    }
}
