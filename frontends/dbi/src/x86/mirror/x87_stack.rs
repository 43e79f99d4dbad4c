//! x87: the stack's shadows, and its top.
//!
//! The shadow of a physical register has its place in the context; which one an instruction means follows from the *top*. At
//! a block's first x87 instruction it is asked whether the top is what the mode says, and if not, another version of the
//! block is taken. From there on it is known, as every instruction moves it by what its encoding says.
//!
//! Knows what cells of ten bytes are made of (`core::words::InPlace`), not what instructions do.

use super::At;
use super::check::{SideExit, Source};
use super::encode;
use crate::context::Context;
use crate::x86::asm::RCX;
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::state;
use crate::x86::table::{Row, X87};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::Register;
use shadowgrind_core::format::Format;

/// Number of the [slot](Emitter::x87_slot) that has the status word.
pub(super) const STATUS: u32 = 5;
/// First byte of the double in a cell of ten bytes.
pub(super) const NUMBER: i32 = 2;
/// The word of a double that a cell begins with.
pub(super) const LAST_WORD: u8 = 3;

impl Emitter {
    /// Asks, where it is not known, whether the top of the stack is the mode's; else goes on in another mode: the one for a stack
    /// that is a register longer, as it is after a function has returned a long double.
    pub(super) fn find_top(&mut self, at: At<'_>) {
        if self.mirror().top_is_known {
            return;
        }
        let top = self.mode.top();
        let status = self.x87_slot(STATUS);
        let stub =
            self.side_exit(SideExit::Mode(at.insn().pc(), self.mode.with_top(top.wrapping_sub(1))), true);
        self.store_x87_status();
        let shadowed = Mem::rip(self.frame.field(Context::OFFSET_X87_SHADOWED));
        encode::store_imm32(&mut self.out.hot, shadowed, 1);
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        encode::load_rcx(&mut self.out.hot, status.plus(1), 1);
        // The top is bits 3 to 5: lea ecx, [rcx * 4]; movzx ecx, cl; lea ecx, [rcx * 8]; movzx ecx, ch.
        self.out.hot.raw(&[0x8d, 0x0c, 0x8d, 0, 0, 0, 0, 0x0f, 0xb6, 0xc9]);
        self.out.hot.raw(&[0x8d, 0x0c, 0xcd, 0, 0, 0, 0, 0x0f, 0xb6, 0xcd]);
        self.out.hot.add_rcx(-i32::from(top));
        self.exit_unless_zero(at, stub);
        if self.mirror().settings.policy.is_born {
            self.exit_unless_masked(at);
        }
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
        self.forget_x87();
        self.mirror().top_is_known = true;
    }

    /// Leaves the instruction to the engine if an exception of x87 is unmasked, so that none but the guest's own instructions ever
    /// raises one, or if rounding is not to the nearest, by which rules go. Rcx is in its slot.
    pub(super) fn exit_unless_masked(&mut self, at: At<'_>) {
        /// Masks of exceptions, and the two bits of rounding above them (Intel's manual, volume 1, 8.1.5).
        const BITS: i64 = 0xc3f;
        const MASKED: i32 = 0x3f;
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
        let control = self.x87_slot(STATUS).plus(8);
        let bits = Constants::at(self.mirror().settings.constants).integer(BITS);
        // fnstcw
        self.out.hot.raw(&[0xd9]);
        self.out.hot.operand(7, Place::Mem(control), 1, 0);
        encode::load_rcx(&mut self.out.hot, control, 2);
        encode::extract_rcx(&mut self.out.hot, bits);
        self.out.hot.add_rcx(-MASKED);
        self.exit_unless_zero(at, stub);
    }

    /// Exits by `stub` unless rcx, which is in its slot, is 0.
    fn exit_unless_zero(&mut self, at: At<'_>, stub: u64) {
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        self.out.hot.jmp_unless_rcx_is_zero(stub);
    }

    /// `fnstsw [status]`.
    pub(super) fn store_x87_status(&mut self) {
        let status = self.x87_slot(STATUS);
        self.out.hot.raw(&[0xdd]);
        self.out.hot.operand(7, Place::Mem(status), 1, 0);
    }

    /// After an instruction: an empty register has no shadow, which is how rules know that theirs are not.
    pub(super) fn x87_popped(&mut self, at: At<'_>) {
        for index in 0..at.insn().decoded.fpu_stack_increment_info().increment().max(0) {
            let cell = self.x87_cell(index as u8);
            self.clear_x87(cell);
            self.x87_emptied(index as u8);
        }
    }

    /// After an instruction: the top has moved. Where exceptions are dropped or masked, an instruction may not have been carried
    /// out, nor have moved the top.
    pub(super) fn follow_top(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let moves = insn.fpu_stack_increment_info();
        let is_lost = moves.writes_top() && (moves.increment() == 0 || moves.conditional());
        let row = rows::row(insn);
        // What is known of the top includes that exceptions are masked, where that matters.
        let may_unmask = row == Row::X87(X87::Control) && self.mirror().settings.policy.is_born;
        if is_lost || may_unmask || matches!(row, Row::X87(X87::Environment | X87::SaveEnvironment)) {
            self.mirror().top_is_known = false;
        } else if moves.writes_top() {
            let top = i32::from(self.mode.top()) + moves.increment();
            self.mode = self.mode.with_top(top.rem_euclid(8) as u8);
        }
    }

    /// The cell of the register `index` below the top as it is before the instruction; 7 is the one that a push makes the top.
    pub(super) fn x87_cell(&self, index: u8) -> Mem {
        let at = state::x87(self.mode.top(), index);
        Mem::rip(self.frame.field(Context::OFFSET_SHADOWS + u32::from(at)))
    }

    /// Leaves the instruction to the engine if one of these registers carries a shadow.
    pub(super) fn check_x87(&mut self, at: At<'_>, registers: &[u8]) {
        let cell = |&n| Source::Memory(self.x87_cell(n).plus(NUMBER), 8);
        let sources: Vec<Source> = registers.iter().map(cell).collect();
        self.check(at, &sources);
    }

    /// Puts the double or handle in vector register `reg` into the cell of ten bytes `cell`. Cells are written and read in the same two pieces:
    /// a processor waits where a load takes another part of what was stored.
    pub(super) fn put_x87(&mut self, cell: Mem, reg: u8) {
        if self.records() {
            self.out.hot.vector_store(cell, reg, 8);
            return encode::store_zero(&mut self.out.hot, cell.plus(8), 2);
        }
        self.out.hot.vector_store(cell.plus(NUMBER), reg, 8);
        self.out.hot.vector(word(forms::EXTRACT_16, [reg, 0], cell, LAST_WORD));
    }

    pub(super) fn clear_x87(&mut self, cell: Mem) {
        encode::store_zero(&mut self.out.hot, cell, 2);
        encode::store_zero(&mut self.out.hot, cell.plus(NUMBER), 8);
    }

    /// Copies the shadow in a cell of ten bytes.
    pub(super) fn copy_x87(&mut self, from: Mem, to: Mem) {
        let (number, from) = (self.temporary(0), self.x87_number(from));
        self.out.hot.vector_load(number, from, 8);
        self.put_x87(to, number);
    }

    /// The eight bytes of a cell of ten that tell all.
    pub(super) fn x87_number(&mut self, cell: Mem) -> Mem {
        if self.records() { cell } else { cell.plus(NUMBER) }
    }
}

/// Number of the register `st(i)`.
pub(super) fn register(register: Register) -> u8 {
    register.number() as u8
}

/// An instruction that moves the word of this number to or from memory.
pub(super) fn word(form: forms::Form, registers: [u8; 2], mem: Mem, number: u8) -> Vector {
    Vector::new(form, Format::F16, Length::B16, registers, Place::Mem(mem)).immediate(number)
}
