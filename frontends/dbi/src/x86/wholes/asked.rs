//! Digits of floats that are only asked about: shifted in a vector register, so that the sign has gone, say, and compared as integers.
//! No float is lost there.

use super::HORIZON;
use crate::x86::access::{is_read, is_write};
use crate::x86::insn::Insn;
use crate::x86::rows;
use crate::x86::table::{Integral, Row};
use iced_x86::{InstructionInfoFactory, OpAccess};

/// Tells whether instruction `n` shifts lanes of a vector register, and nothing but comparisons reads the result before it is
/// overwritten.
pub(super) fn is_only_asked(insns: &[Insn], n: usize) -> bool {
    let shift = &insns[n].decoded;
    let by = match rows::row(shift) {
        Row::Trick(by, _) => by,
        _ => return false,
    };
    let shifts = matches!(by, Integral::ShiftLeft | Integral::ShiftRight | Integral::ShiftRightSigned);
    let (result, register) = (shift.op0_register(), shift.op0_register().full_register());
    if !shifts || !result.is_vector_register() {
        return false;
    }
    let mut factory = InstructionInfoFactory::new();
    for insn in insns[n..].iter().skip(1).take(HORIZON).take_while(|insn| insn.flow.goes_straight_on()) {
        let used = factory.info(&insn.decoded).used_registers().iter();
        let used: Vec<_> = used.filter(|used| used.register().full_register() == register).collect();
        let reads = used.iter().any(|used| is_read(used.access()));
        if reads && rows::row(&insn.decoded) != Row::Integer {
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
}
