//! Atomic exchanges of what carries no shadow, in translated code.
//!
//! While another thread's exchange runs out of line, its value is in memory before the value's shadow is: an exchange that
//! sees no shadow must not come in between. So both hold one lock, which is the process's. Here it is taken without
//! waiting, and where it is not free, or something does carry a shadow, the instruction is left to the engine. A fault gives
//! the lock back (`Spilled::locked`), and no other signal is seen to before the block's next exit.

use super::At;
use super::check::SideExit;
use crate::x86::asm::RCX;
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;

impl Emitter {
    /// Tells whether exchanges are seen to here.
    pub(super) fn has_exchanges(&mut self) -> bool {
        !self.mirror().settings.slow
    }

    /// A locked exchange, or compare-and-exchange, of up to eight bytes in memory.
    pub(super) fn exchange(&mut self, at: At<'_>) {
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let sources = self.sources(at);
        self.lock(at);
        self.check_part(at);
        self.check(at, &sources);
        self.guest(at);
        self.unlock(at);
        self.close_operand();
    }

    /// Takes the lock of exchanges, or leaves the instruction to the engine. Keeps the flags.
    fn lock(&mut self, at: At<'_>) {
        let (word, scratch) = (self.mirror().settings.atomics, self.frame.slot(Slot::Scratch));
        let taken = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
        self.out.hot.store(scratch, RCX);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        let hot = &mut self.out.hot;
        hot.mov_imm(RCX, 1);
        hot.exchange_ecx(word);
        hot.jmp_unless_rcx_is_zero(taken);
        hot.load(RCX, scratch);
        self.mirror().locked = true;
        self.note_spilled(at.index);
    }

    fn unlock(&mut self, at: At<'_>) {
        let word = self.mirror().settings.atomics;
        self.out.hot.store_imm32(word, 0);
        self.mirror().locked = false;
        self.note_spilled(at.index);
    }

    /// Gives the lock back in cold code, for a way out; for the hot path it is still held.
    pub(super) fn unlock_in_passing(&mut self) {
        let word = self.mirror().settings.atomics;
        self.out.cold.store_imm32(word, 0);
    }
}
