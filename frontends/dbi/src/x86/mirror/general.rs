//! General registers: floats pass through them on their way from memory to memory, or between functions.
//!
//! While no cell is set (the passive mode) a load only looks whether what it loads carries a shadow, and leaves for
//! the same instruction in a mode with the register's cell if so; a store clears.

use super::At;
use super::check::Source;
use super::encode;
use super::general_number;
use super::liveness;
use super::operand;
use super::places::first_byte;
use crate::x86::asm::{Gpr, RAX, RCX, RSP};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::lower;
use crate::x86::rows;
use crate::x86::table::{General, Integral};
use crate::x86::vector::{At as Address, Mem};
use crate::x86::wholes::{self, Whole, cuts_by_moving, mixed};
use iced_x86::{OpKind, Register};

const RBP: Gpr = 5;
/// Bytes of the narrowest float that registers have.
const NARROW: usize = 4;

/// Memory at `displacement` from rsp or rbp.
pub(super) fn stack(base: Gpr, displacement: i32) -> Mem {
    let at = Address::Base { base: Some(base), index: None, displacement };
    Mem { gs: true, fs: false, address32: false, at }
}

impl Emitter {
    pub(super) fn general(&mut self, at: At<'_>, general: General) {
        let insn = &at.insn().decoded;
        let atomic = insn.has_lock_prefix() || general == General::Exchange && operand::has_memory(insn);
        // While another thread's exchange runs out of line, the value is there before its derivative: an exchange that sees
        // none yet must wait for it.
        let exchanges =
            matches!(general, General::Exchange | General::CompareExchange | General::CompareExchangeWide);
        if atomic && exchanges && general != General::CompareExchangeWide && self.has_exchanges() {
            return self.exchange(at);
        }
        if atomic && exchanges {
            return self.out_of_line(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let known = self.check_part(at);
        match general {
            // Nothing is kept beside what it puts there, nor beside what it overwrites.
            General::Move if known => self.guest(at),
            General::Move | General::Extend(_) => self.general_move(at),
            General::Push => self.push(at),
            General::Pop => self.pop(at),
            General::Leave => self.leave_frame(at),
            General::Enter => self.out_of_line(at),
            General::MoveString | General::StoreString | General::LoadString => self.out_of_line(at),
            General::Bits(by) if lower::clears(insn, by) => {
                self.guest(at);
                self.clear_results(at);
            }
            General::Bits(_) | General::Not | General::Address if self.fields_alone(at) => {}
            General::Not => self.bits(at, None),
            General::Bits(_) if self.sign_alone(at) => {}
            General::Bits(by) => self.bits(at, Some(by)),
            General::ExtendInPlace(bytes) if usize::from(bytes) >= NARROW => self.extended(at, bytes),
            General::ExtendInPlace(_) => self.bits(at, None),
            General::Address => self.computed_address(at),
            General::Exchange | General::ConditionalMove | General::ByteSwap | General::MoveReversed
                if self.moved_whole(at, general) => {}
            General::Exchange
            | General::CompareExchange
            | General::CompareExchangeWide
            | General::ExchangeAdd
            | General::ConditionalMove
            | General::ByteSwap
            | General::MoveReversed => {
                let sources = self.sources(at);
                self.check(at, &sources);
                self.guest(at);
                // Of the others, the result is one of the operands, or the engine's.
                if matches!(general, General::MoveReversed) {
                    self.clear_results(at);
                }
            }
        }
        self.close_operand();
    }

    /// `leave`: rbp as it was before the function.
    fn leave_frame(&mut self, at: At<'_>) {
        let is_short = rows::operand_bits(at.insn().decoded.code()) == 16;
        let register = if is_short { Register::BP } else { Register::RBP };
        self.load_from(at, RBP, register, stack(RBP, 0), register.size());
    }

    /// The accumulator with the sign of what is in its low `bytes` bytes above these: a float there stays.
    fn extended(&mut self, at: At<'_>, bytes: u8) {
        self.guest(at);
        if self.may_carry(RAX) {
            let above = self.cell(RAX).plus(bytes.into());
            encode::store_zero(&mut self.out.hot, above, 8 - usize::from(bytes));
        }
    }

    /// `lea`, which is left to the engine if one of its terms carries a shadow.
    fn computed_address(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let terms = [insn.memory_base(), insn.memory_index()].map(general_number);
        let cells = terms.into_iter().flatten().filter(|&n| self.may_carry(n)).map(Source::Cell);
        let cells: Vec<Source> = cells.collect();
        self.check(at, &cells);
        self.guest(at);
        self.clear_results(at);
    }

    /// Leaves the instruction to the engine if it overwrites a part of a float that has a shadow, or cuts one off. True if no shadow
    /// is left to be moved or cleared.
    pub(super) fn check_part(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        if self.mirror().settings.policy.derivatives.is_none() || self.mode.is_off() {
            return false;
        }
        let whole = at.block.whole(insn.ip()).filter(|&whole| whole != Whole::Assembled);
        let Some(whole) = whole else { return self.check_overwritten(at) };
        let cell = |register| general_number(register).filter(|&n| self.may_carry(n)).map(Source::Cell);
        let source = match whole {
            Whole::Result(_) if cuts_by_moving(insn) => cell(insn.op1_register()),
            Whole::Result(_) => None,
            Whole::Part { .. } if insn.op0_kind() == OpKind::Register => cell(insn.op0_register()),
            Whole::Part { format, at } => {
                let mirror = self.mirror_memory(insn);
                mirror.map(|mem| Source::Memory(mem.plus(-i32::from(at)), format.bytes()))
            }
            // The last byte of an end, where the first is written alone.
            Whole::End { .. } => self.mirror_memory(insn).map(|mem| Source::Memory(mem, 2)),
            // The others are found by the engine.
            Whole::Passing
            | Whole::Ending
            | Whole::Assembled
            | Whole::Ended
            | Whole::Alone
            | Whole::Asked
            | Whole::Mixed
            | Whole::Compared
            | Whole::Upper
            | Whole::Replaced { .. } => None,
        };
        let is_put = matches!(whole, Whole::Part { .. } | Whole::End { .. });
        let put = general_number(insn.op1_register()).filter(|&n| is_put && self.may_carry(n));
        let sources: Vec<Source> = source.into_iter().chain(put.map(Source::Cell)).collect();
        self.check(at, &sources);
        false
    }

    /// Leaves the instruction to the engine if it writes a few bytes that may be a part of a float with a shadow. The engine finds
    /// out. True if there is no shadow, nor one of what it puts there; false if that was not asked.
    fn check_overwritten(&mut self, at: At<'_>) -> bool {
        /// Bytes from the first that is written on: sign and exponent are at the end, and never without a shadow.
        const DOUBLE: usize = 8;
        let insn = &at.insn().decoded;
        let moved = general_number(insn.op1_register()).filter(|&n| self.may_carry(n));
        let is_alone = self.mirror().alone.contains(&insn.ip());
        let is_granted = match moved {
            Some(_) => wholes::may_be_alone(insn),
            None => wholes::is_of_frame(insn),
        };
        if is_alone && is_granted {
            return false;
        }
        if wholes::part_of_register(insn).is_some() && insn.op0_register().is_gpr() {
            let numbers = [insn.op0_register(), insn.op1_register()].into_iter().filter_map(general_number);
            let cells: Vec<Source> = numbers.filter(|&n| self.may_carry(n)).map(Source::Cell).collect();
            self.check(at, &cells);
            return false;
        }
        match wholes::part_in_memory(insn) {
            None => return false,
            Some(1) if self.copies_double(at) => return false,
            Some(_) => {}
        }
        let Some(mem) = self.mirror_memory(insn) else { return false };
        let moved = moved.map(Source::Cell);
        if is_alone && !self.rcx_spilled {
            self.check(at, moved.as_slice());
            self.check_beside(at, mem);
        } else {
            let sources: Vec<Source> = moved.into_iter().chain([Source::Memory(mem, DOUBLE)]).collect();
            self.check(at, &sources);
        }
        moved.is_none()
    }

    /// Tells whether the move may put doubles together from parts of several, and neither its block nor the engine has told.
    pub(super) fn may_mix(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        let derives = self.mirror().settings.policy.derivatives.is_some() && !self.mode.is_off();
        derives
            && at.block.whole(insn.ip()).is_none()
            && !self.mirror().alone.contains(&insn.ip())
            && (mixed::may_mix(insn) || mixed::may_insert(insn))
    }

    fn general_move(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let (to, from) = (insn.op0_kind(), insn.op1_kind());
        let register = |n| insn.op_register(n);
        match (to, from) {
            (OpKind::Register, OpKind::Memory) if register(0).is_gpr() => {
                let n = register(0).full_register().number() as Gpr;
                let bytes = insn.memory_size().size();
                match self.mirror_memory(insn) {
                    Some(mem) => self.load_from(at, n, register(0), mem, bytes),
                    None => {
                        self.guest(at);
                        self.clear_results(at);
                    }
                }
            }
            (OpKind::Memory, OpKind::Register) if register(1).is_gpr() => {
                self.guest(at);
                self.store_register(at, register(1));
            }
            (OpKind::Register, OpKind::Register) if register(0).is_gpr() && register(1).is_gpr() => {
                self.guest(at);
                self.register_move(register(0), register(1));
            }
            // Constants, segment and control registers.
            _ => {
                self.guest(at);
                self.clear_results(at);
            }
        }
    }

    /// A load of `bytes` with the mirror at `mem` into `register`, a part of general register `n`.
    fn load_from(&mut self, at: At<'_>, n: Gpr, register: Register, mem: Mem, bytes: usize) {
        let full = register.full_register();
        let whole = register.size() >= 4;
        if whole && liveness::is_no_float(at.block, at.index, full, &mut self.facts) {
            self.guest(at);
            if self.may_carry(n) {
                self.clear_cell(n);
            }
            return;
        }
        if !self.enters_with_cell(at, n, Source::Memory(mem, bytes)) {
            return self.guest(at);
        }
        if whole && bytes >= 4 {
            self.load_cell(n, mem, bytes as u8);
            return self.guest(at);
        }
        // Part of a cell: through the register itself, if all of it is written anyway, and otherwise through rcx.
        let cell = self.cell(n).plus(first_byte(register));
        if whole && !mem.uses(n) && self.mirror().address().is_none() {
            self.out.hot.store(self.frame.slot(Slot::Scratch), n);
            let spilled = self.spilled(Some(n));
            self.note(at.index, spilled);
            encode::load_part(&mut self.out.hot, n, mem, bytes);
            encode::store(&mut self.out.hot, cell, n, 8);
            // Where this faults, the register is as it was.
            self.instruction(at.index, at.insn());
            return self.note_spilled(at.index);
        }
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        encode::load_rcx(&mut self.out.hot, mem, bytes);
        let stored = if whole { 8 } else { register.size() };
        encode::store(&mut self.out.hot, cell, RCX, stored);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.guest(at);
    }

    /// The shadow of a store of `register` to the instruction's memory operand.
    fn store_register(&mut self, at: At<'_>, register: Register) {
        let insn = &at.insn().decoded;
        let Some(mem) = self.mirror_memory(insn) else { return };
        let n = register.full_register().number() as Gpr;
        let bytes = register.size();
        if !self.may_carry(n) {
            return self.kill(mem, bytes);
        }
        self.store_cell(at, register, mem);
    }

    fn store_cell(&mut self, at: At<'_>, register: Register, mem: Mem) {
        let n = register.full_register().number() as Gpr;
        let bytes = register.size();
        let cell = self.cell(n);
        if bytes >= 4 {
            let temporary = self.temporary(0);
            self.out.hot.vector_load(temporary, cell, bytes as u8);
            return self.out.hot.vector_store(mem, temporary, bytes as u8);
        }
        let first = first_byte(register);
        // What has been stored is rarely used again at once. The address may need it as it is.
        let carrier = if mem.uses(n) { other_than(mem) } else { n };
        self.out.hot.store(self.frame.slot(Slot::Scratch), carrier);
        self.out.hot.load(carrier, self.frame.slot(Slot::Scratch));
        let spilled = self.spilled(Some(carrier));
        self.note(at.index, spilled);
        encode::load(&mut self.out.hot, carrier, cell.plus(first), if first == 0 { 8 } else { 4 });
        encode::store(&mut self.out.hot, mem, carrier, bytes);
        self.out.hot.load(carrier, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
    }

    fn register_move(&mut self, to: Register, from: Register) {
        let (d, s) = (to.full_register().number() as Gpr, from.full_register().number() as Gpr);
        let bytes = from.size();
        if !self.may_carry(s) {
            if self.may_carry(d) {
                self.clear_part(to, d, self.mode.mask());
            }
            return;
        }
        if to.size() >= 4 && bytes >= 4 {
            let cell = self.cell(s);
            return self.load_cell(d, cell, bytes as u8);
        }
        let (source, target) = (self.cell(s).plus(first_byte(from)), self.cell(d).plus(first_byte(to)));
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        encode::load_rcx(&mut self.out.hot, source, bytes);
        let stored = if to.size() >= 4 { 8 } else { to.size() };
        encode::store(&mut self.out.hot, target, RCX, stored);
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.set_carries(d, true);
    }

    fn push(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let bytes = -insn.stack_pointer_increment();
        if insn.op0_kind() == OpKind::Memory {
            if bytes == 8 {
                return self.push_memory(at);
            }
            let sources: Vec<Source> = self.memory_source(insn).into_iter().collect();
            self.check(at, &sources);
        }
        self.guest(at);
        let top = stack(RSP, 0);
        if insn.op0_kind() == OpKind::Register && insn.op0_register().is_gpr() {
            let n = insn.op0_register().full_register().number() as Gpr;
            if self.may_carry(n) {
                return self.store_cell(at, insn.op0_register(), top);
            }
        }
        self.kill(top, bytes as usize);
    }

    fn pop(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let bytes = insn.stack_pointer_increment() as usize;
        let top = stack(RSP, 0);
        if insn.op0_kind() == OpKind::Register && insn.op0_register().is_gpr() {
            let register = insn.op0_register();
            return self.load_from(at, register.full_register().number() as Gpr, register, top, bytes);
        }
        if operand::has_memory(insn) && bytes == 8 {
            return self.pop_to_memory(at);
        }
        self.check(at, &[Source::Memory(top, bytes)]);
        self.guest(at);
        if operand::has_memory(insn) {
            self.kill_operand(insn);
        }
    }

    /// Logical, shift and integer operations, `by` what if it has a name: they may make a float of a float.
    fn bits(&mut self, at: At<'_>, by: Option<Integral>) {
        let insn = &at.insn().decoded;
        let mut sources = self.sources(at);
        let result = insn.op0_register().full_register();
        if !self.writes_memory(insn)
            && calculates(by)
            && liveness::is_no_float(at.block, at.index, result, &mut self.facts)
        {
            sources.retain(|source| !matches!(source, Source::Memory(..)));
        }
        self.check(at, &sources);
        self.guest(at);
        if insn.op_count() > 2 {
            self.clear_results(at);
        }
    }
}

/// Tells whether addresses are computed with the operation.
fn calculates(by: Option<Integral>) -> bool {
    matches!(by, Some(Integral::Add | Integral::Subtract | Integral::Multiply))
}

/// A register that the address of `mem` does not need, other than rsp.
pub(super) fn other_than(mem: Mem) -> Gpr {
    [0, 2, 3].into_iter().find(|&n| !mem.uses(n)).unwrap_or(RCX)
}
