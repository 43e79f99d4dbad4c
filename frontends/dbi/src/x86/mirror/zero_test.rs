//! Tests of whether shadow words are zero, and jumps on what they tell: by the flags where the guest has no more use for them, by rcx
//! otherwise.
//!
//! Knows neither what the words are the shadows of nor where the jumps lead.

use super::At;
use super::encode::{self, EQUAL, NOT_EQUAL};
use crate::x86::asm::{RCX, Rel32};
use crate::x86::code::{Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::insn::{Flow, Insn};
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::table::{General, Row};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{FlowControl, Instruction, Register};
use shadowgrind_core::format::Format;

/// Register that tests overwrite, and where it is meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tested {
    /// The flags: the guest writes them before it reads them.
    Flags,
    /// rcx, which is in [`Slot::Scratch`] from the first test to the last.
    Scratch,
    /// rcx, which is in [`Slot::Rcx`] and stays there.
    Rcx,
}

impl Emitter {
    /// Begins tests before the instruction: decides what they overwrite, and spills rcx if it is that.
    pub(super) fn begin_tests(&mut self, at: At<'_>) -> Tested {
        if self.mirror().liveness.flags_are_dead(at.index) {
            return Tested::Flags;
        }
        if self.rcx_spilled || self.leaves_rcx(at) {
            self.spill_rcx();
            return Tested::Rcx;
        }
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        Tested::Scratch
    }

    /// Tells whether the instruction, and what follows it, has no use for rcx until that is spilled anyway: registers are popped at a
    /// function's end, and then it returns. Flags are live there, as far as anybody can know.
    pub(super) fn leaves_rcx(&mut self, at: At<'_>) -> bool {
        let rest = &at.block.insns[at.index..];
        let returns = |insn: &Insn| {
            let spills = matches!(insn.flow, Flow::Ends | Flow::ExpectedReturn(_));
            spills && insn.decoded.flow_control() == FlowControl::Return
        };
        let next = rest.get(1).filter(|_| pops_other_register(&rest[0].decoded));
        // What closes a record uses the slot.
        let may_close = self.mirror().settings.appends;
        !may_close && next.is_some_and(|next| pops_other_register(&next.decoded) || returns(next))
    }

    /// Ends tests, on one of the ways that lead on from them.
    pub(super) fn end_tests(&mut self, at: At<'_>, tested: Tested) {
        if tested == Tested::Scratch {
            self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        }
        if tested != Tested::Flags {
            self.note_spilled(at.index);
        }
    }

    /// Registers that are spilled from one test to the next.
    fn spilled_by_tests(&mut self, tested: Tested) -> Spilled {
        self.spilled((tested == Tested::Scratch).then_some(RCX))
    }

    /// A jump that is taken if `to_flags` makes the flags "not equal" or, where tests overwrite rcx, `to_rcx` makes that
    /// something other than 0.
    pub(super) fn jump_if_set(
        &mut self,
        at: At<'_>,
        tested: Tested,
        to_flags: impl FnOnce(&mut Self),
        to_rcx: impl FnOnce(&mut Self),
    ) -> Rel32 {
        if tested == Tested::Flags {
            to_flags(self);
            return self.out.hot.jcc_open(NOT_EQUAL);
        }
        to_rcx(self);
        let spilled = self.spilled_by_tests(tested);
        self.note(at.index, spilled);
        self.out.hot.jump_unless_rcx_is_zero()
    }

    /// A jump that is taken if one of the `bytes` bytes from `mem` on, at most eight, is set.
    pub(super) fn jump_if_word(&mut self, at: At<'_>, tested: Tested, mem: Mem, bytes: usize) -> Rel32 {
        self.jump_if_set(
            at,
            tested,
            |e| encode::compare_zero(&mut e.out.hot, mem, bytes),
            |e| encode::load_rcx(&mut e.out.hot, mem, bytes),
        )
    }

    /// A jump that is taken if a bit of vector register `register` is set.
    pub(super) fn jump_if_register(&mut self, at: At<'_>, tested: Tested, register: u8) -> Rel32 {
        self.jump_if_set(at, tested, |e| e.test_union(register), |e| e.union_to_rcx(register))
    }

    /// A jump that is taken if all these cells are zero. Keeps the flags unless they are dead.
    pub(super) fn skip_if_zero(&mut self, at: At<'_>, cells: &[(Mem, usize)]) -> Rel32 {
        let tested = self.begin_tests(at);
        let last = cells.last().filter(|_| tested == Tested::Flags);
        let first = &cells[..cells.len() - usize::from(last.is_some())];
        let mut set = Vec::new();
        for (i, &(mem, bytes)) in first.iter().enumerate() {
            if i > 0 {
                self.restore_for_address(tested, mem);
            }
            set.push(self.jump_if_word(at, tested, mem, bytes));
        }
        let skip = match last {
            Some(&(mem, bytes)) => {
                encode::compare_zero(&mut self.out.hot, mem, bytes);
                self.out.hot.jcc_open(EQUAL)
            }
            None => {
                self.end_tests(at, tested);
                self.out.hot.jmp_open()
            }
        };
        let here = self.out.hot.here();
        set.into_iter().for_each(|field| self.out.hot.patch(field, here));
        if last.is_none() {
            let spilled = self.spilled_by_tests(tested);
            self.note(at.index, spilled);
            self.end_tests(at, tested);
        }
        skip
    }

    /// Puts rcx back between two tests if the address of `mem` needs it as it was.
    pub(super) fn restore_for_address(&mut self, tested: Tested, mem: Mem) {
        if tested == Tested::Scratch && mem.uses(RCX) {
            self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        }
    }

    /// Bytes of a vector register that are tested: 64 with AVX-512, 32 at most without.
    pub(super) fn union_bytes(&mut self) -> u8 {
        if self.has_upper() { 64 } else { self.shadow_bytes().min(32) }
    }

    /// Sets the flags to "not equal" if a bit of `register` is set.
    pub(super) fn test_union(&mut self, register: u8) {
        if self.has_upper() {
            self.mask_of_lanes(register);
            return encode::test_mask(&mut self.out.hot);
        }
        let length = Length::of(self.union_bytes());
        let test = Vector::unary(forms::TEST_FLAGS, Format::F64, length, register, Place::Reg(register));
        self.out.hot.vector(test);
    }

    /// Makes rcx something other than 0 if a bit of `register` is set. Keeps the flags.
    pub(super) fn union_to_rcx(&mut self, register: u8) {
        if self.has_upper() {
            self.mask_of_lanes(register);
            return encode::mask_to_rcx(&mut self.out.hot);
        }
        let bytes = self.union_bytes();
        let (length, all_lanes) = (Length::of(bytes), (1 << (bytes / 8)) - 1);
        let to = self.temporary(0);
        let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
        self.out.hot.vector(Vector::new(forms::EQUAL_64, Format::F64, length, [to, register], zero));
        self.out.hot.vector(Vector::unary(forms::SIGNS, Format::F64, length, RCX, Place::Reg(to)));
        self.out.hot.add_rcx(-all_lanes);
    }

    /// Leaves in mask register 1 which lanes of `register` have a bit.
    fn mask_of_lanes(&mut self, register: u8) {
        let registers = [encode::MASK, register];
        self.out.hot.vector(Vector::new(
            forms::TEST,
            Format::F64,
            Length::B64,
            registers,
            Place::Reg(register),
        ));
    }
}

/// Tells whether the instruction pops a general register other than rcx and rsp, and does nothing else.
fn pops_other_register(insn: &Instruction) -> bool {
    let register = insn.op0_register();
    rows::row(insn) == Row::General(General::Pop)
        && register.is_gpr64()
        && !matches!(register, Register::RCX | Register::RSP)
}
