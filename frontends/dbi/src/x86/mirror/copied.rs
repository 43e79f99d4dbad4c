//! Doubles that are copied byte by byte, by instructions that were seen to do nothing else: each byte takes along what is beside it, and
//! nothing is left of the double that was there.
//!
//! Leaves it to the engine to find out what becomes of a double of which an instruction writes but some bytes.

use super::At;
use super::check::SideExit;
use super::encode::{self, EQUAL, NOT_EQUAL};
use super::operand::has_memory;
use crate::context::Context;
use crate::x86::asm::RCX;
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::vector::Mem;

impl Emitter {
    /// Goes on with the store of a byte if that comes after the one before, or begins a double when the one before is complete; leaves
    /// the instruction to the engine otherwise. False if the instruction is not known to copy doubles, or there is no room for that.
    pub(super) fn copies_double(&mut self, at: At<'_>) -> bool {
        const PLACES: u32 = 7;
        let insn = &at.insn().decoded;
        let Some(number) = self.mirror().copier(insn.ip()) else { return false };
        let is_busy = self.rcx_spilled || !self.mirror().liveness.flags_are_dead(at.index);
        if is_busy || !has_memory(insn) {
            return false;
        }
        let guest = self.guest_operand(insn);
        if guest.fs || guest.address32 || self.mirror().address.is_some() {
            return false;
        }
        let scratch = self.frame.slot(Slot::Scratch);
        let next = self.frame.field(Context::OFFSET_COPIED_TO) + (size_of::<u64>() * number) as u64;
        let engine = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
        self.out.hot.store(scratch, RCX);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        let hot = &mut self.out.hot;
        encode::address_to_rcx(hot, guest);
        encode::compare(hot, RCX, Mem::rip(next), 8);
        let goes_on = hot.jcc_open(EQUAL);
        hot.test_ecx(PLACES);
        let amid = hot.jcc_open(NOT_EQUAL);
        encode::test_bits(hot, Mem::rip(next), PLACES);
        let incomplete = hot.jcc_open(NOT_EQUAL);
        let here = hot.here();
        hot.patch(goes_on, here);
        [amid, incomplete].into_iter().for_each(|field| hot.patch(field, engine));
        hot.add_rcx(1);
        hot.store(next, RCX);
        hot.load(RCX, scratch);
        self.note_spilled(at.index);
        true
    }
}
