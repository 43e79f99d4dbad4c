//! Other moves through general registers than `mov`: on a condition, to and from the stack, in exchange, or with the bytes
//! reversed. What is kept beside the bytes goes where they go, for every shadow alike.
//!
//! Knows operands of four and eight bytes; narrower ones are left to the engine if they have a shadow.

use super::At;
use super::check::{SideExit, Source};
use super::encode;
use super::general::{other_than, stack};
use super::general_number;
use crate::x86::asm::{Gpr, RCX, RSP};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::lower::condition;
use crate::x86::table::General;
use crate::x86::vector::Mem;
use iced_x86::{Instruction, OpKind, Register};

/// Operand of such a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Register(Gpr),
    Memory,
}

/// A move of a whole operand, from the last one to the first, or in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    to: Side,
    from: Side,
    bytes: usize,
}

/// Operands of `insn`, if each is memory or a general register that may hold a float, and no narrower than one.
fn move_of(insn: &Instruction) -> Option<Move> {
    let side = |n: u32| match insn.op_kind(n) {
        OpKind::Memory => Some(Side::Memory),
        OpKind::Register => {
            let register = insn.op_register(n);
            let may_hold = register.full_register() != Register::RSP && register.size() >= 4;
            general_number(register).filter(|_| may_hold).map(Side::Register)
        }
        _ => None,
    };
    let last = insn.op_count() - 1;
    let is_named = insn.op0_kind() == OpKind::Register;
    let bytes = insn.op_register(if is_named { 0 } else { last }).size();
    Some(Move { to: side(0)?, from: side(last)?, bytes })
}

impl Emitter {
    /// Annotates the instruction so if it is one of those, with whole operands; false otherwise.
    pub(super) fn moved_whole(&mut self, at: At<'_>, general: General) -> bool {
        let insn = &at.insn().decoded;
        let Some(sides) = move_of(insn) else { return false };
        match (general, sides.to, sides.from) {
            (General::ConditionalMove, Side::Register(to), from) => {
                self.move_on_condition(at, to, from, sides.bytes)
            }
            (General::Exchange, Side::Register(a), Side::Register(b)) => {
                self.exchange_cells(at, [a, b], sides.bytes)
            }
            (General::ByteSwap | General::MoveReversed, ..) => self.move_reversed(at, sides),
            _ => return false,
        }
        true
    }

    /// Goes on in a mode with the cell of register `n` if what is in memory has a shadow, which is loaded into it. True if that cell
    /// may be set.
    pub(super) fn enters_with_cell(&mut self, at: At<'_>, n: Gpr, source: Source) -> bool {
        if self.may_carry(n) {
            return true;
        }
        let active = self.mode.with_cells(self.mode.mask() | 1 << n);
        let active = if at.index == 0 && self.past_hook { active.past_hook() } else { active };
        self.check_or_exit(at, &[source], SideExit::Mode(at.insn().pc(), active));
        false
    }

    /// Emits code that uses general register `by`, which is put back afterwards.
    fn with_register(&mut self, at: At<'_>, by: Gpr, code: impl FnOnce(&mut Emitter)) {
        let slot = self.frame.slot(Slot::Scratch);
        self.out.hot.store(slot, by);
        let spilled = self.spilled(Some(by));
        self.note(at.index, spilled);
        code(self);
        self.out.hot.load(by, slot);
        self.note_spilled(at.index);
    }

    /// Place of what is kept beside an operand; nothing where memory has none.
    fn beside(&mut self, insn: &Instruction, side: Side) -> Option<Mem> {
        match side {
            Side::Register(n) => Some(self.cell(n)),
            Side::Memory => self.mirror_memory(insn),
        }
    }

    /// Emits the guest's instruction before `annotation`, so that the shadow is the old one as well after a fault; but after it if
    /// the address of `kept` is made of the register that the instruction writes.
    pub(super) fn guest_beside(
        &mut self,
        at: At<'_>,
        kept: Mem,
        to: Side,
        annotation: impl FnOnce(&mut Emitter),
    ) {
        let is_address = matches!(to, Side::Register(n) if kept.uses(n));
        if !is_address {
            self.guest(at);
        }
        annotation(self);
        if is_address {
            self.guest(at);
        }
    }

    /// Of the destination's shadow and the source's, the one that the same condition selects. Neither a move nor what is emitted
    /// here changes the flags.
    fn move_on_condition(&mut self, at: At<'_>, to: Gpr, from: Side, bytes: usize) {
        let insn = &at.insn().decoded;
        let carries = match from {
            Side::Register(n) => self.may_carry(n) || self.may_carry(to),
            Side::Memory => match self.memory_source(insn) {
                Some(source) => self.enters_with_cell(at, to, source),
                None => false,
            },
        };
        let kept = self.beside(insn, from).filter(|_| carries);
        let Some(kept) = kept else { return self.unmoved(at, to) };
        let condition = condition(insn);
        self.guest_beside(at, kept, Side::Register(to), |e| {
            let by = if kept.uses(RCX) { other_than(kept) } else { RCX };
            e.with_register(at, by, |e| {
                let cell = e.cell(to);
                encode::load(&mut e.out.hot, by, cell, bytes);
                encode::load_if(&mut e.out.hot, condition, by, kept, bytes);
                encode::store(&mut e.out.hot, cell, by, 8);
            });
            e.set_carries(to, true);
        });
    }

    /// A move from what has no shadow, for sure, that may not take place.
    fn unmoved(&mut self, at: At<'_>, to: Gpr) {
        if self.may_carry(to) {
            self.check(at, &[Source::Cell(to)]);
        }
        self.guest(at);
    }

    fn exchange_cells(&mut self, at: At<'_>, [a, b]: [Gpr; 2], bytes: usize) {
        let carries = [a, b].map(|n| self.may_carry(n));
        if carries.contains(&true) {
            let [first, second] = [self.temporary(0), self.temporary(1)];
            let cells = [self.cell(a), self.cell(b)];
            self.out.hot.vector_load(first, cells[0], bytes as u8);
            self.out.hot.vector_load(second, cells[1], bytes as u8);
            self.out.hot.vector_store(cells[1], first, 8);
            self.out.hot.vector_store(cells[0], second, 8);
            self.set_carries(a, carries[1]);
            self.set_carries(b, carries[0]);
        }
        self.guest(at);
    }

    /// `bswap`, and `movbe` to and from memory.
    fn move_reversed(&mut self, at: At<'_>, Move { to, from, bytes }: Move) {
        let insn = &at.insn().decoded;
        let carries = match (to, from) {
            (Side::Register(n), Side::Memory) => match self.memory_source(insn) {
                Some(source) => self.enters_with_cell(at, n, source),
                None => false,
            },
            (_, Side::Register(n)) => self.may_carry(n),
            (Side::Memory, Side::Memory) => false,
        };
        let [to_beside, from_beside] = [to, from].map(|side| self.beside(insn, side));
        let (Some(kept), Some(made), true) = (from_beside, to_beside, carries) else {
            self.guest(at);
            return self.clear_results(at);
        };
        self.guest_beside(at, kept, to, |e| {
            let is_free = |n: Gpr| !kept.uses(n) && !made.uses(n);
            let by = [RCX, 0, 2, 3].into_iter().find(|&n| is_free(n)).expect("an address has two registers");
            e.with_register(at, by, |e| {
                encode::load(&mut e.out.hot, by, kept, bytes);
                encode::reverse(&mut e.out.hot, by, bytes);
                let stored = if to == Side::Memory { bytes } else { 8 };
                encode::store(&mut e.out.hot, made, by, stored);
            });
        });
        if let Side::Register(n) = to {
            self.set_carries(n, true);
        }
    }

    /// A push of eight bytes of memory.
    pub(super) fn push_memory(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let Some(kept) = self.mirror_memory(insn) else {
            self.guest(at);
            return self.kill(stack(RSP, 0), 8);
        };
        let temporary = self.temporary(0);
        self.out.hot.vector_load(temporary, kept, 8);
        self.guest(at);
        self.out.hot.vector_store(stack(RSP, 0), temporary, 8);
    }

    /// A pop of eight bytes to memory. An operand relative to rsp is addressed with rsp as it is after the pop, here too.
    pub(super) fn pop_to_memory(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let temporary = self.temporary(0);
        self.out.hot.vector_load(temporary, stack(RSP, 0), 8);
        self.guest(at);
        if let Some(made) = self.mirror_memory(insn) {
            self.out.hot.vector_store(made, temporary, 8);
        }
    }
}
