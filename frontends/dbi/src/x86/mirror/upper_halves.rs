//! Upper halves of vector registers that an instruction of legacy SSE leaves alone, and a wider one of the same block reads.
//!
//! Annotations take what is beside them for nothing once such an instruction has run, which is right for all code that keeps to
//! the calling convention. Where a block shows that this does not, the instruction is left to the engine, which keeps them, if
//! there is anything beside them. Does not look beyond the block.

use super::check::Source;
use super::{At, places};
use crate::x86::access::{is_read, is_write};
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::table::Row;
use crate::x86::vector::{Length, Place, Vector, forms};
use iced_x86::Register;
use shadowgrind_core::format::Format;

/// Bytes of a lower half.
const LOWER: u8 = 16;

impl Emitter {
    /// Leaves the instruction to the engine if there is something beside an upper half that it keeps and the block needs.
    pub(super) fn check_upper(&mut self, at: At<'_>) {
        if !self.has_live_upper(at) {
            return;
        }
        let written = at.insn().decoded.op0_register().number() as u8;
        match self.shadow(written) {
            Place::Mem(mem) => self.check(at, &[Source::Memory(mem.plus(LOWER.into()), LOWER.into())]),
            Place::Reg(shadow) => {
                let upper = self.temporary(1);
                self.move_shadow(upper, shadow, LOWER);
                let without =
                    Vector::new(forms::XOR, Format::F64, Length::B64, [upper; 2], Place::Reg(shadow));
                self.out.hot.vector(without);
                self.check_register(at, upper);
            }
        }
    }

    /// Tells whether the instruction writes the lower half of a vector register of which the block needs the upper one later.
    fn has_live_upper(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        let written = insn.op0_register();
        if self.mode.is_narrow() || self.mode.is_off() || !written.is_xmm() || !places::keeps_upper(insn) {
            return false;
        }
        let is_same = |register: Register| register.full_register() == written.full_register();
        for later in &at.block.insns[at.index + 1..] {
            let later = &later.decoded;
            if matches!(rows::row(later), Row::ZeroUpper | Row::ZeroAll) {
                return false;
            }
            let used = self.facts.info(later).used_registers();
            let mut here = used.iter().filter(|used| is_same(used.register()) && !used.register().is_xmm());
            if here.clone().any(|used| is_read(used.access())) {
                return true;
            }
            if here.any(|used| is_write(used.access())) {
                return false;
            }
        }
        false
    }
}
