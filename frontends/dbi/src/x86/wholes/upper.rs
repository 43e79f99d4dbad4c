//! Upper halves of doubles in words of four bytes: which integer instructions change one, by what it was made of and what becomes of it.
//!
//! A word shifted by as many bits as a narrow float has digits is one of those, and so is one of which that many are cut out. Where code
//! says neither, a word is an upper half if it was the upper half of a register, or lies behind the lower half of a double. Follows
//! words through moves and changes as far as a superblock goes.

use super::HORIZON;
use super::uses::{format_of, moves};
use crate::x86::access;
use crate::x86::insn::Insn;
use crate::x86::rounding::Place;
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, InstructionInfoFactory, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::tricks::UPPER_DIGITS;

/// Bytes of half a double.
const HALF: usize = Format::F32.bytes();
/// Digits of a narrow float behind the first, as a mask, and their number.
const NARROW_DIGITS: u32 = (1 << 23) - 1;
/// All but the sign.
const MAGNITUDE: u32 = u32::MAX >> 1;

/// Tells whether instruction `n` changes a word that is the upper half of a double.
pub(super) fn is_changed(insns: &[Insn], n: usize) -> bool {
    let insn = &insns[n].decoded;
    let told = || told(insn).or_else(|| told_after(insns, n)).or_else(|| told_before(insns, n));
    may_change(insn) && told() == Some(true)
}

/// Tells whether `insn` may tell that a word which it reads, makes or lies before is the upper half of a double.
pub(super) fn may_tell(insn: &Instruction) -> bool {
    told(insn) == Some(true) || raises_upper(insn) || has_double_in_memory(insn)
}

/// Tells whether `insn` makes a word of another, which may have zeros above it in a register, by logic or a sum.
pub(super) fn may_change(insn: &Instruction) -> bool {
    let is_word = match insn.op0_kind() {
        OpKind::Register => insn.op0_register().is_gpr32() || insn.op0_register().is_gpr64(),
        OpKind::Memory => insn.memory_size().size() == HALF,
        _ => false,
    };
    is_word && changes(insn)
}

/// Tells whether instruction `n` makes a word in a register of which nothing but an exponent, perhaps with a sign, is cut out next.
pub(super) fn is_for_power(insns: &[Insn], n: usize) -> bool {
    let word = insns[n].decoded.op0_register();
    if !changes_word(&insns[n].decoded) {
        return false;
    }
    let mut info = InstructionInfoFactory::new();
    let uses = |insn: &&Insn| access::uses(&insn.decoded, word.full_register(), &mut info);
    let next = insns[n + 1..].iter().take_while(|insn| insn.flow.goes_straight_on()).find(uses);
    next.is_some_and(|next| next.decoded.op0_register() == word && cuts_power(&next.decoded))
}

/// Tells whether `insn` leaves nothing but the exponent, perhaps with a sign, of what may be a word of a float.
pub(super) fn cuts_power(insn: &Instruction) -> bool {
    let cuts = rows::row(insn) == Row::General(General::Bits(Integral::And)) && told(insn).is_some();
    cuts && insn.immediate(insn.op_count() - 1) as u32 & UPPER_DIGITS == 0
}

/// Tells whether `insn` makes a word of another in a register by logic or a sum.
pub(crate) fn changes_word(insn: &Instruction) -> bool {
    insn.op0_kind() == OpKind::Register && insn.op0_register().is_gpr32() && changes(insn)
}

/// Tells whether `insn` makes a word of another by logic or a sum.
fn changes(insn: &Instruction) -> bool {
    use Integral::{Add, And, Decrement, Increment, Or, Subtract, Xor};
    match rows::row(insn) {
        Row::General(General::Bits(by)) => {
            matches!(by, Add | And | Decrement | Increment | Or | Subtract | Xor)
        }
        Row::General(General::Address) => true,
        _ => false,
    }
}

/// Kind of float that the word is of which `insn` cuts digits or exponent out, or shifts digits away; nothing if it says nothing.
pub(super) fn told(insn: &Instruction) -> Option<bool> {
    let Row::General(General::Bits(by)) = rows::row(insn) else { return None };
    let last = insn.op_count() - 1;
    if matches!(insn.op_kind(last), OpKind::Register | OpKind::Memory) {
        return None;
    }
    let (constant, bytes) = (insn.immediate(last), size(insn, 0));
    let is = |wide: bool, narrow: bool| if wide || narrow { Some(wide) } else { None };
    match by {
        Integral::And => {
            let mask = constant as u32 & MAGNITUDE;
            let of = |digits: u32| mask == digits || mask == MAGNITUDE & !digits;
            is(of(UPPER_DIGITS), of(NARROW_DIGITS))
        }
        Integral::ShiftRight | Integral::ShiftRightSigned if bytes == HALF => {
            let by = constant as u32;
            is(by == UPPER_DIGITS.count_ones(), by == NARROW_DIGITS.count_ones())
        }
        Integral::ShiftLeft => (bytes == 2 * HALF && constant == 32).then_some(true),
        _ => None,
    }
}

/// Number of bytes of an operand that is a register or memory.
fn size(insn: &Instruction, operand: u32) -> usize {
    match insn.op_kind(operand) {
        OpKind::Register => insn.op_register(operand).size(),
        _ => insn.memory_size().size(),
    }
}

/// Kind of float that the result of instruction `n` is a word of, true for the upper half of a double, by what becomes of it.
fn told_after(insns: &[Insn], n: usize) -> Option<bool> {
    let mut places: Vec<Place> = Place::of(&insns[n].decoded, 0).into_iter().collect();
    for insn in insns[n + 1..].iter().take(HORIZON).map(|insn| &insn.decoded) {
        if is_behind_half(insn, &places) {
            return Some(true);
        }
        let holds = |operand| Place::of(insn, operand).is_some_and(|place| places.contains(&place));
        let (row, changes) = (rows::row(insn), changes(insn));
        let follows = changes || moves(insn, row) && size(insn, 0) >= HALF;
        let reads = || (u32::from(moves(insn, row))..insn.op_count()).any(holds);
        let is_read = !rows::clears(insn) && (reads() || reads_address(insn, &places));
        if is_read && let Some(told) = told(insn) {
            return Some(told);
        }
        let to = Place::of(insn, 0).filter(|_| !matches!(row, Row::Flags(_)));
        places.retain(|&place| !place.may_change(insn) && (Some(place) != to || is_read && follows));
        places.extend(to.filter(|to| is_read && follows && !places.contains(to)));
        if places.is_empty() {
            break;
        }
    }
    None
}

/// Kind of float, likewise, by what instruction `n` has made the word of.
fn told_before(insns: &[Insn], n: usize) -> Option<bool> {
    let mut wanted = sources(&insns[n].decoded);
    for m in (0..n).rev() {
        let insn = &insns[m].decoded;
        if is_behind_half(insn, &wanted) {
            return Some(true);
        }
        let to = Place::of(insn, 0).filter(|_| !matches!(rows::row(insn), Row::Flags(_)));
        let Some(at) = wanted.iter().position(|&place| Some(place) == to) else { continue };
        if let Some(told) = told(insn) {
            return Some(told);
        }
        wanted.swap_remove(at);
        if raises_upper(insn) {
            return Some(true);
        }
        if changes(insn) && !rows::clears(insn) {
            wanted.extend(sources(insn));
        } else if moves(insn, rows::row(insn)) && size(insn, 0) >= HALF {
            wanted.extend(Place::of(insn, 1));
        }
        if wanted.is_empty() {
            break;
        }
    }
    None
}

/// Places of what `insn`, which makes a word by logic or a sum, makes it of.
fn sources(insn: &Instruction) -> Vec<Place> {
    if rows::computes_address(insn) {
        let registers = [insn.memory_base(), insn.memory_index()];
        let general = registers.into_iter().filter(|register| register.is_gpr());
        return general.map(|register| Place::Register(register.full_register())).collect();
    }
    (0..insn.op_count()).filter_map(|operand| Place::of(insn, operand)).collect()
}

fn reads_address(insn: &Instruction, places: &[Place]) -> bool {
    rows::computes_address(insn) && sources(insn).iter().any(|source| places.contains(source))
}

/// Tells whether `insn` moves the upper half of a register to the lower one.
fn raises_upper(insn: &Instruction) -> bool {
    rows::row(insn) == Row::General(General::Bits(Integral::ShiftRight))
        && size(insn, 0) == 2 * HALF
        && insn.op1_kind() == OpKind::Immediate8
        && insn.immediate8() == 32
}

/// Tells whether the memory that `insn` names, if it does, holds a double.
fn has_double_in_memory(insn: &Instruction) -> bool {
    let row = rows::row(insn);
    insn.memory_size().size() == 2 * HALF
        && (format_of(insn, row) == Some(Format::F64) || matches!(row, Row::Move(..)))
}

/// Tells whether `insn` reads or writes a double in memory of which one of these places is the upper half.
fn is_behind_half(insn: &Instruction, places: &[Place]) -> bool {
    if !places.iter().any(|place| place.is_memory()) {
        return false;
    }
    (0..insn.op_count()).any(|operand| match Place::of(insn, operand) {
        Some(Place::Memory(base, displacement)) => {
            let behind = Place::Memory(base, displacement.wrapping_add(HALF as u64));
            places.contains(&behind) && has_double_in_memory(insn)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Whole;
    use super::super::tests::found;

    /// shr rax, 32; add eax, 0x95f62; and eax, 0xfffff; shr eax, 20
    const RAISE: &[u8] = b"\x48\xc1\xe8\x20";
    const ADD: &[u8] = b"\x05\x62\x5f\x09\0";
    const CUT: &[u8] = b"\x25\xff\xff\x0f\0";
    const EXPONENT: &[u8] = b"\xc1\xe8\x14";

    fn upper(code: &[&[u8]]) -> usize {
        found(code).into_iter().filter(|&whole| whole == Whole::Upper).count()
    }

    #[test]
    fn words_are_upper_halves_by_what_they_come_from() {
        assert_eq!(upper(&[RAISE, ADD]), 1);
        assert_eq!(upper(&[ADD]), 0);
        // movsd [rsp+8], xmm0; mov eax, [rsp+12]
        let (stored, loaded): (&[u8], &[u8]) = (b"\xf2\x0f\x11\x44\x24\x08", b"\x8b\x44\x24\x0c");
        assert_eq!(upper(&[stored, loaded, ADD]), 1);
        assert_eq!(upper(&[loaded, ADD]), 0);
    }

    #[test]
    fn exponents_alone_are_only_asked_about() {
        // and eax, 0xfff00000; mov ecx, eax
        let (cut, copied): (&[u8], &[u8]) = (b"\x25\0\0\xf0\xff", b"\x89\xc1");
        assert_eq!(found(&[ADD, cut])[0], Whole::Asked);
        assert_eq!(found(&[ADD, copied, cut])[0], Whole::Upper);
    }

    #[test]
    fn words_are_upper_halves_by_what_becomes_of_them() {
        // mov ecx, eax; shr ecx, 20; shr ecx, 23
        let (copied, wide, narrow): (&[u8], &[u8], &[u8]) = (b"\x89\xc1", b"\xc1\xe9\x14", b"\xc1\xe9\x17");
        assert_eq!(upper(&[ADD, copied, wide]), 1);
        assert_eq!(upper(&[RAISE, ADD, copied, narrow]), 0);
        assert_eq!(upper(&[ADD, CUT]), 2);
        assert_eq!(upper(&[ADD, EXPONENT]), 1);
        // and eax, 0x7fffff; add rax, 0x3fe6a09e; shl rax, 32
        assert_eq!(upper(&[ADD, b"\x25\xff\xff\x7f\0"]), 0);
        assert_eq!(upper(&[CUT, b"\x48\x05\x9e\xa0\xe6\x3f", b"\x48\xc1\xe0\x20"]), 2);
        // lea ecx, [rax+0x95f62]; shr ecx, 20
        assert_eq!(upper(&[b"\x8d\x88\x62\x5f\x09\0", wide]), 1);
        // mov [rsp+12], eax; movsd xmm0, [rsp+8]
        assert_eq!(upper(&[ADD, b"\x89\x44\x24\x0c", b"\xf2\x0f\x10\x44\x24\x08"]), 1);
    }
}
