//! Digits of floats that are only asked about: shifted in a vector register, so that the sign has gone, say, and compared as integers;
//! upper halves of doubles beside each other, of which exponents are taken; or the upper bits of a general register, compared with those
//! of a value that is no number, as interpreters mark pointers. No float is lost there.

use super::{HORIZON, mixed};
use crate::x86::access::{self, is_read, is_write};
use crate::x86::insn::{Flow, Insn};
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::tricks::{FEW_DIGITS, UPPER_DIGITS};

/// Digits of a double that are stored, behind the first.
const DIGITS: u32 = f64::MANTISSA_DIGITS - 1;

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

/// Tells whether instruction `n` leaves of a double in a general register sign, exponent and a few digits at most, and the next ones that
/// use these compare them with those of infinities or NaNs, as interpreters do whose NaNs are pointers: which digits a finite number
/// has does not matter there.
pub(super) fn is_for_tag(insns: &[Insn], n: usize) -> bool {
    let Some(shifted) = Shifted::by(&insns[n].decoded) else { return false };
    let register = insns[n].decoded.op0_register();
    let mut factory = InstructionInfoFactory::new();
    let uses = |insn: &&Insn| access::uses(&insn.decoded, register, &mut factory);
    // What is left on other ways has few digits, and nobody has been seen to use them.
    let goes_on = |insn: &&Insn| insn.flow.goes_straight_on() || insn.flow == Flow::SideExit;
    // Something may be added first, so that one comparison tells whether it is between two bounds.
    let mut first = 0;
    for insn in insns[n + 1..].iter().take(HORIZON).take_while(goes_on).filter(uses) {
        let Some(constant) = constant(&insn.decoded, register) else { return false };
        match rows::row(&insn.decoded) {
            Row::General(General::Bits(Integral::Add)) if first == 0 => first = -constant,
            Row::General(General::Bits(Integral::Subtract)) if first == 0 => first = constant,
            Row::Flags(Integral::Subtract) => {
                let is_tag = |bound| shifted.is_no_number(bound);
                return is_tag(first.wrapping_add(constant)) && (first == 0 || is_tag(first));
            }
            _ => return false,
        }
    }
    false
}

/// A double in a general register, shifted to the right.
#[derive(Clone, Copy)]
struct Shifted {
    /// Bits: as many as leave a few of its digits at most.
    by: u32,
    /// True if copies of the sign come after.
    is_signed: bool,
}

impl Shifted {
    /// The one that `insn` makes of a register, if it does.
    fn by(insn: &Instruction) -> Option<Shifted> {
        let is_signed = match rows::row(insn) {
            Row::General(General::Bits(Integral::ShiftRight)) => false,
            Row::General(General::Bits(Integral::ShiftRightSigned)) => true,
            _ => return None,
        };
        let by_constant = insn.op_count() == 2 && insn.op1_kind() == OpKind::Immediate8;
        let is_wide = insn.op0_kind() == OpKind::Register && insn.op0_register().is_gpr64();
        let by = || u32::from(insn.immediate8()) % u64::BITS;
        (by_constant && is_wide && by() >= DIGITS - FEW_DIGITS).then(|| Shifted { by: by(), is_signed })
    }

    /// Tells whether `bits` are those of an infinity or NaN.
    fn is_no_number(self, bits: i64) -> bool {
        let double = bits << self.by;
        let back = if self.is_signed { double >> self.by } else { (double as u64 >> self.by) as i64 };
        back == bits && !f64::from_bits(double as u64).is_finite()
    }
}

/// The constant that `insn` has beside the general register `full`, or its lower half.
fn constant(insn: &Instruction, full: Register) -> Option<i64> {
    use OpKind::{Immediate8to32, Immediate8to64, Immediate32, Immediate32to64};
    let register = insn.op0_register();
    let is_it = insn.op0_kind() == OpKind::Register && register.full_register() == full;
    let is_constant =
        matches!(insn.op1_kind(), Immediate8to32 | Immediate32 | Immediate8to64 | Immediate32to64);
    // None has more than 32 bits.
    (is_it && is_constant).then(|| i64::from(insn.immediate(1) as i32))
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

    #[test]
    fn upper_bits_that_are_compared_with_those_of_nans_are_only_asked_about() {
        // mov r11, [rdi]; sar r11, 47, and 46; shr r11, 47; movsd xmm0, [rdi]
        let load: &[u8] = b"\x4c\x8b\x1f";
        let (shift, other): (&[u8], &[u8]) = (b"\x49\xc1\xfb\x2f", b"\x49\xc1\xfb\x2e");
        let unsigned: &[u8] = b"\x49\xc1\xeb\x2f";
        let number: &[u8] = b"\xf2\x0f\x10\x07";
        // cmp r11d, -14, -33, and 0x1fff0; jae
        let (tag, finite): (&[u8], &[u8]) = (b"\x41\x83\xfb\xf2", b"\x41\x83\xfb\xdf");
        let unsigned_tag: &[u8] = b"\x41\x81\xfb\xf0\xff\x01\x00";
        let jump: &[u8] = b"\x73\x10";
        assert_eq!(found(&[load, shift, tag, jump, number, ADD]), [Whole::Asked]);
        assert_eq!(found(&[load, unsigned, unsigned_tag, jump, number, ADD]), [Whole::Asked]);
        // Another one may be compared first.
        assert_eq!(found(&[load, shift, jump, tag, jump]), [Whole::Asked]);
        let zero: &[u8] = b"\x41\x83\xfb\x00";
        for code in [
            [shift, finite],
            [shift, zero],
            [other, tag],
            [unsigned, tag],
            [shift, unsigned_tag],
            [shift, jump],
        ] {
            assert_eq!(found(&[load, code[0], code[1], jump, number, ADD]), [], "{code:x?}");
        }
        // add r11d, 4, and 40; cmp r11d, -10; mov [rdi], r11
        let (add, far): (&[u8], &[u8]) = (b"\x41\x83\xc3\x04", b"\x41\x83\xc3\x28");
        let (upper, store): (&[u8], &[u8]) = (b"\x41\x83\xfb\xf6", b"\x4c\x89\x1f");
        assert_eq!(found(&[load, shift, add, upper, jump]), [Whole::Asked]);
        assert_eq!(found(&[load, shift, far, upper, jump]), []);
        assert_eq!(found(&[load, shift, store, tag, jump]), []);
    }
}
