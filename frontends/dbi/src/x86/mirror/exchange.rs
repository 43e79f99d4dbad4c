//! Atomic exchanges in translated code.
//!
//! Between the value's exchange and its shadow's no other exchange must come. So all hold one lock, which is the process's,
//! those out of line too. Here it is taken without waiting, and where it is not free the instruction is left to the engine;
//! so is a compare-and-exchange that finds another shadow than it expects, as `runtime::exchange` decides what becomes of
//! that. A fault gives the lock back (`Spilled::locked`), and no other signal is seen to before the block's next exit.

use super::At;
use super::check::{SideExit, Source};
use super::encode::NOT_EQUAL;
use super::general_number;
use super::moved::Side;
use crate::x86::asm::{Gpr, RAX, RCX};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::table::{General, Row};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{Instruction, Register};
use shadowgrind_core::format::Format;

/// An exchange of as many bytes as a float has.
#[derive(Clone, Copy)]
struct Exchanged {
    /// The general register that is put into memory.
    register: Gpr,
    /// The mirror of the memory.
    mirror: Mem,
    bytes: u8,
}

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
        let insn = &at.insn().decoded;
        let compares = rows::row(insn) == Row::General(General::CompareExchange);
        let exchanged = self.exchanged(insn);
        self.lock(at);
        self.check_part(at);
        match exchanged {
            Some(exchanged) => {
                if self.asks_of_addresses(insn) {
                    self.check_address(at);
                }
                if compares {
                    self.compare_exchange(at, exchanged)
                } else {
                    self.exchange_floats(at, exchanged)
                }
            }
            None => {
                let sources = self.sources(at);
                self.check(at, &sources);
                self.guest(at);
            }
        }
        self.unlock(at);
        self.close_operand();
    }

    /// The operands, if they may be floats.
    fn exchanged(&mut self, insn: &Instruction) -> Option<Exchanged> {
        let register = insn.op1_register();
        let is_float = register.size() >= 4 && register.full_register() != Register::RSP;
        let number = general_number(register).filter(|_| is_float)?;
        let mirror = self.mirror_memory(insn)?;
        Some(Exchanged { register: number, mirror, bytes: register.size() as u8 })
    }

    /// An exchange, of the shadows too.
    fn exchange_floats(&mut self, at: At<'_>, Exchanged { register, mirror, bytes }: Exchanged) {
        if !self.enters_with_cell(at, register, Source::Memory(mirror, bytes.into())) {
            return self.guest(at);
        }
        let [ours, theirs] = [self.temporary(0), self.temporary(1)];
        let cell = self.cell(register);
        self.out.hot.vector_load(ours, cell, bytes);
        self.out.hot.vector_load(theirs, mirror, bytes);
        self.guest_beside(at, mirror, Side::Register(register), |e| {
            e.out.hot.vector_store(mirror, ours, bytes);
            e.out.hot.vector_store(cell, theirs, 8);
        });
    }

    /// A compare-and-exchange, of the shadows too if the one in memory is the one that rax has.
    fn compare_exchange(&mut self, at: At<'_>, Exchanged { register, mirror, bytes }: Exchanged) {
        let expects = self.enters_with_cell(at, RAX, Source::Memory(mirror, bytes.into()));
        let puts = self.may_carry(register);
        if !expects && !puts {
            return self.guest(at);
        }
        let [found, put] = [self.temporary(0), self.temporary(1)];
        let [cell, expected] = [self.cell(register), self.cell(RAX)];
        if expects {
            self.out.hot.vector_load(found, mirror, bytes);
            self.out.hot.vector_load(put, expected, bytes);
            let xor = Vector::new(forms::XOR, Format::F64, Length::B16, [put, put], Place::Reg(found));
            self.out.hot.vector(xor);
            self.check_register(at, put);
            // The test may have overwritten it.
            self.out.hot.vector_load(found, mirror, bytes);
        }
        if puts {
            self.out.hot.vector_load(put, cell, bytes);
        }
        self.guest(at);
        let failed = self.out.hot.jcc_open(NOT_EQUAL);
        if puts {
            self.out.hot.vector_store(mirror, put, bytes);
        } else {
            self.kill(mirror, bytes.into());
        }
        let done = expects.then(|| self.out.hot.jmp_open());
        let here = self.out.hot.here();
        self.out.hot.patch(failed, here);
        if let Some(done) = done {
            self.out.hot.vector_store(expected, found, 8);
            let here = self.out.hot.here();
            self.out.hot.patch(done, here);
        }
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
