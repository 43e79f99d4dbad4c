//! Rounding by magic numbers: which sums may be such, and for which formats code may have them at all.
//!
//! Adding 1.5·2^52 to a small `f64` rounds it to an integer. Nearly no code does that, so sums are not looked at unless
//! their code may have such a number at hand. Whether it may is for others to find out.

use super::rows;
use super::table::Row;
use iced_x86::Instruction;
use shadowgrind_core::format::Format;

/// The formats for which code may round by adding a magic number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rounding {
    pub(crate) single: bool,
    pub(crate) double: bool,
}

impl Rounding {
    /// Nothing is known of the code.
    pub(crate) const ANY: Rounding = Rounding { single: true, double: true };

    pub(crate) fn concerns(self, format: Format) -> bool {
        if format == Format::F32 { self.single } else { self.double }
    }

    pub(crate) fn or(self, other: Rounding) -> Rounding {
        Rounding { single: self.single || other.single, double: self.double || other.double }
    }
}

/// Whether `insn` is a sum whose shadow emitted code computes.
pub(crate) fn adds_floats(insn: &Instruction) -> bool {
    match rows::row(insn) {
        Row::Arith(op, ..) | Row::Fused(op, ..) => !op.addends().is_empty(),
        _ => false,
    }
}
