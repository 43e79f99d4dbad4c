//! Digits of floats that are only asked about: shifted in a vector register, so that the sign has gone, say, and compared as integers;
//! or upper halves of doubles beside each other, of which exponents are taken. No float is lost there.

use super::{HORIZON, mixed};
use crate::x86::access::{is_read, is_write};
use crate::x86::insn::Insn;
use crate::x86::rows;
use crate::x86::table::{Integral, Row};
use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::tricks::UPPER_DIGITS;

/// Tells whether instruction `n` shifts lanes of a vector register, or puts upper halves of doubles beside each other in it, and nothing
/// but what asks for less than digits reads the result before it is overwritten.
pub(super) fn is_only_asked(insns: &[Insn], n: usize) -> bool {
    let Some(asks) = question(&insns[n].decoded) else { return false };
    let result = insns[n].decoded.op0_register();
    let register = result.full_register();
    if !result.is_vector_register() {
        return false;
    }
    let mut factory = InstructionInfoFactory::new();
    for insn in insns[n..].iter().skip(1).take(HORIZON).take_while(|insn| insn.flow.goes_straight_on()) {
        let used = factory.info(&insn.decoded).used_registers().iter();
        let used: Vec<_> = used.filter(|used| used.register().full_register() == register).collect();
        let reads = used.iter().any(|used| is_read(used.access()));
        if reads && !asks(&insn.decoded) {
            return false;
        }
        if used.iter().any(|used| is_write(used.access())) {
            let is_whole = |access| matches!(access, OpAccess::Write | OpAccess::ReadWrite);
            return used
                .iter()
                .any(|used| is_whole(used.access()) && used.register().size() >= result.size());
        }
    }
    false
}

/// Test of another instruction: whether it asks for less than digits of the result of `insn`. Nothing if that may be floats.
fn question(insn: &Instruction) -> Option<fn(&Instruction) -> bool> {
    use Integral::{ShiftLeft, ShiftRight, ShiftRightSigned};
    match rows::row(insn) {
        Row::Trick(ShiftLeft | ShiftRight | ShiftRightSigned, _) => Some(compares),
        Row::Move(..) if mixed::takes_upper_halves(insn) => Some(takes_exponents),
        _ => None,
    }
}

fn compares(insn: &Instruction) -> bool {
    rows::row(insn) == Row::Integer
}

/// Tells whether `insn` shifts the digits away that the upper half of a double has.
fn takes_exponents(insn: &Instruction) -> bool {
    let last = insn.op_count() - 1;
    rows::row(insn) == Row::Trick(Integral::ShiftRight, Format::F32)
        && insn.op_kind(last) == OpKind::Immediate8
        && u32::from(insn.immediate8()) >= UPPER_DIGITS.count_ones()
}

#[cfg(test)]
mod tests {
    use super::super::Whole;
    use super::super::tests::found;

    /// psllq xmm0, 1
    const SHIFT: &[u8] = b"\x66\x0f\x73\xf0\x01";
    /// pcmpeqq xmm0, xmm4; addpd xmm0, xmm4
    const COMPARE: &[u8] = b"\x66\x0f\x38\x29\xc4";
    const ADD: &[u8] = b"\x66\x0f\x58\xc4";

    #[test]
    fn what_is_compared_and_overwritten_is_only_asked_about() {
        assert_eq!(found(&[SHIFT, COMPARE]), [Whole::Asked]);
        assert_eq!(found(&[SHIFT, ADD]), []);
        assert_eq!(found(&[SHIFT]), []);
        // pcmpeqq xmm4, xmm0: the shifted number is there after it; movapd xmm0, xmm4: it is no more.
        let (elsewhere, overwritten): (&[u8], &[u8]) = (b"\x66\x0f\x38\x29\xe0", b"\x66\x0f\x28\xc4");
        assert_eq!(found(&[SHIFT, elsewhere]), []);
        assert_eq!(found(&[SHIFT, elsewhere, overwritten]), [Whole::Asked]);
        assert_eq!(found(&[SHIFT, elsewhere, ADD]), []);
    }

    #[test]
    fn upper_halves_of_which_exponents_are_taken_are_only_asked_about() {
        // shufps xmm0, xmm1, 0xdd, and 0x88; psrld xmm0, 20, and 19
        let (upper, lower): (&[u8], &[u8]) = (b"\x0f\xc6\xc1\xdd", b"\x0f\xc6\xc1\x88");
        let (exponents, digits): (&[u8], &[u8]) = (b"\x66\x0f\x72\xd0\x14", b"\x66\x0f\x72\xd0\x13");
        assert_eq!(found(&[upper, exponents, ADD]), [Whole::Asked]);
        for other in [[upper, digits, ADD], [lower, exponents, ADD], [upper, ADD, exponents]] {
            assert!(!found(&other).contains(&Whole::Asked), "{other:x?}");
        }
    }
}
