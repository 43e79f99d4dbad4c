//! Moves of vector registers, and of two general ones as one, that may put a double together from parts of two: the end of one, digits
//! of another.
//!
//! Knows what an immediate says, and moves of the lowest narrow lane. Where a register selects, or a mask, any part may be moved.

use crate::x86::rows::{self, Halves};
use crate::x86::table::{General, Moved, Row};
use iced_x86::{Instruction, OpKind};
use shadowgrind_core::format::Format;

/// Tells whether a double of the result may have parts of several lanes.
pub(crate) fn may_mix(insn: &Instruction) -> bool {
    let Row::Move(moved, _) = rows::row(insn) else { return joins_registers(insn) };
    if insn.op0_kind() != OpKind::Register || !insn.op0_register().is_vector_register() {
        return false;
    }
    let from_register = || (0..insn.op_count()).all(|n| insn.op_kind(n) != OpKind::Memory);
    let element = || insn.code().op_code().memory_size().element_size();
    if insn.has_op_mask() && element() < Format::F64.bytes() {
        return true;
    }
    match moved {
        Moved::Blend(Format::F16) => splits(insn.immediate8(), 4),
        Moved::Blend(Format::F32) => splits(insn.immediate8(), 2),
        Moved::Select(Format::F32) | Moved::SelectBytes => true,
        // From memory it is alone.
        Moved::Lane(Format::F32) => from_register(),
        Moved::Rearranged => match rows::moves_halves(insn) {
            Some(Halves::Inserted) => from_register() && inserts(insn.immediate8()),
            Some(Halves::Chosen) => crosses(insn.immediate8()),
            None => rows::moves_parts(insn),
        },
        _ => false,
    }
}

/// Tells whether the instruction puts nothing but upper halves of doubles beside each other.
pub(super) fn takes_upper_halves(insn: &Instruction) -> bool {
    const UPPER: u8 = 0b0101_0101;
    rows::moves_halves(insn) == Some(Halves::Chosen) && insn.immediate8() & UPPER == UPPER
}

/// Tells whether the instruction shifts bytes of one general register into another one.
pub(crate) fn joins_registers(insn: &Instruction) -> bool {
    let is_of_two =
        || insn.op0_register().is_gpr64() && insn.op1_register().full_register() != insn.op0_register();
    let by_bytes = || insn.op_kind(2) == OpKind::Immediate8 && insn.immediate8().is_multiple_of(8);
    match rows::row(insn) {
        Row::General(General::Bits(by)) => by.shifts_two() && is_of_two() && by_bytes(),
        _ => false,
    }
}

/// Tells whether a part of a double may be inserted into one.
pub(crate) fn may_insert(insn: &Instruction) -> bool {
    rows::inserted(insn).is_some()
}

/// Tells whether the bits of a double, `count` of them, are not all the same.
fn splits(immediate: u8, count: u8) -> bool {
    let all = (1 << count) - 1;
    (0..8).step_by(count.into()).any(|at| !matches!(immediate >> at & all, bits if bits == 0 || bits == all))
}

/// Tells whether a half is put where it was in its double, or one of two is cleared.
fn inserts(immediate: u8) -> bool {
    let [from, to] = [immediate >> 6, immediate >> 4 & 3];
    from & 1 == to & 1 || splits(immediate << 4, 2)
}

/// Tells whether two halves that are put beside each other are not those of one double, in their order.
fn crosses(immediate: u8) -> bool {
    let selected = |lane: u8| immediate >> (2 * lane) & 3;
    [0, 2].into_iter().any(|lane| selected(lane) & 1 == 1 || selected(lane + 1) != selected(lane) + 1)
}

#[cfg(test)]
mod tests {
    use super::super::Whole;
    use super::super::tests::found;

    /// addpd xmm0, xmm2; mulps xmm0, xmm2
    const ADD: &[u8] = b"\x66\x0f\x58\xc2";
    const MUL_SINGLES: &[u8] = b"\x0f\x59\xc2";

    /// pblendw xmm0, xmm1, …; blendps xmm0, xmm1, …; shufps xmm0, xmm0, …
    fn pblendw(by: u8) -> [u8; 6] {
        [0x66, 0x0f, 0x3a, 0x0e, 0xc1, by]
    }

    fn blendps(by: u8) -> [u8; 6] {
        [0x66, 0x0f, 0x3a, 0x0c, 0xc1, by]
    }

    fn shufps(by: u8) -> [u8; 4] {
        [0x0f, 0xc6, 0xc0, by]
    }

    #[test]
    fn parts_of_two_doubles_are_mixed() {
        for mixes in [&pblendw(0x03)[..], &pblendw(0xf8), &blendps(0b0001), &blendps(0b1011), &shufps(0x4c)] {
            assert_eq!(found(&[mixes, ADD]), [Whole::Mixed], "{mixes:x?}");
            assert_eq!(found(&[mixes, MUL_SINGLES]), [Whole::Alone], "{mixes:x?}");
        }
        // vpermilps xmm0, xmm0, 0x4c; movss xmm0, xmm1
        assert_eq!(found(&[b"\xc4\xe3\x79\x04\xc0\x4c", ADD]), [Whole::Mixed]);
        assert_eq!(found(&[b"\xf3\x0f\x10\xc1", ADD]), [Whole::Mixed]);
        // pshufb xmm0, xmm1; palignr xmm0, xmm1, 4; vshufps xmm0{k1}, xmm0, xmm0, 0x4e
        assert_eq!(found(&[b"\x66\x0f\x38\x00\xc1", ADD]), [Whole::Mixed]);
        assert_eq!(found(&[b"\x66\x0f\x3a\x0f\xc1\x04", ADD]), [Whole::Mixed]);
        assert_eq!(found(&[b"\x62\xf1\x7c\x09\xc6\xc0\x4e", ADD]), [Whole::Mixed]);
    }

    #[test]
    fn whole_doubles_are_not() {
        for whole in [&pblendw(0xf0)[..], &pblendw(0x0f), &blendps(0b1100), &shufps(0x4e), &shufps(0x44)] {
            assert_eq!(found(&[whole, ADD]), [], "{whole:x?}");
        }
        // movss xmm0, [rax]; palignr xmm0, xmm1, 8
        assert_eq!(found(&[b"\xf3\x0f\x10\x00", ADD]), []);
        assert_eq!(found(&[b"\x66\x0f\x3a\x0f\xc1\x08", ADD]), []);
    }
}
