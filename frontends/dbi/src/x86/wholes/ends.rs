//! Ends of floats: sign and exponent as one or two bytes in memory, written for themselves.
//!
//! Where code that writes them ends before the float is used, as a function for that purpose alone does, what they are the end of is
//! seen only when it runs. Finds such stores, and the way of those that were read, changed and put back; says nothing of alignment.

use super::HORIZON;
use super::addresses::Address;
use super::forms::Part;
use crate::x86::insn::{Flow, Insn};
use crate::x86::rows;
use crate::x86::table::{General, Integral, Moved, Row};
use iced_x86::{Instruction, OpKind, Register};
use shadowgrind_core::format::Format;

/// Bytes of the widest of ends.
const WIDEST: u8 = 2;
/// Number of the byte of a long double with which its end begins.
pub(super) const EXTENDED_END: i64 = 8;

/// Numbers of the instructions by which the bytes that store `n` writes have become of what was read at the same address, in the same
/// number; nothing if they have not.
pub(super) fn way_back(
    insns: &[Insn],
    n: usize,
    part: Part,
    addresses: &[Option<Address>],
) -> Option<Vec<usize>> {
    let is_there = |m: usize| {
        let is_same = insns[m].decoded.memory_size().size() == usize::from(part.bytes);
        is_same.then(|| addresses[m].is_some() && addresses[m] == addresses[n])
    };
    way_from(insns, n, part, is_there)
}

/// Numbers of the instructions by which the bytes that store `n` writes have become of what was read anywhere, in the same number or
/// with others behind them; nothing if they have not.
pub(super) fn way(insns: &[Insn], n: usize, part: Part) -> Option<Vec<usize>> {
    way_from(insns, n, part, |m| {
        (insns[m].decoded.memory_size().size() >= usize::from(part.bytes)).then_some(true)
    })
}

/// Numbers of the instructions by which the bytes that store `n` writes have become of what was read. `is_there`, of the number of
/// an instruction that reads memory, tells whether it has read that; nothing if it is no such load.
fn way_from(
    insns: &[Insn],
    n: usize,
    part: Part,
    is_there: impl Fn(usize) -> Option<bool>,
) -> Option<Vec<usize>> {
    let store = &insns[n].decoded;
    if part.bytes > WIDEST || store.op1_kind() != OpKind::Register {
        return None;
    }
    let mut wanted = vec![store.op1_register().full_register()];
    let (mut way, mut is_read) = (Vec::new(), false);
    for m in (0..n).rev() {
        let insn = &insns[m].decoded;
        let reaches = insns[m].flow != Flow::Straight;
        if reaches || wanted.is_empty() {
            break;
        }
        let to = Some(insn.op0_register().full_register()).filter(|_| insn.op0_kind() == OpKind::Register);
        let Some(at) = wanted.iter().position(|&register| Some(register) == to) else { continue };
        match rows::row(insn) {
            Row::Flags(_) => {}
            Row::General(General::Move | General::Extend(_)) => {
                wanted.swap_remove(at);
                match insn.op1_kind() {
                    OpKind::Memory => is_read |= is_there(m)?,
                    OpKind::Register => add(&mut wanted, insn.op1_register()),
                    // A constant.
                    _ => {}
                }
            }
            Row::General(General::Bits(_) | General::Address) => {
                way.push(m);
                is_read |= insn.op1_kind() == OpKind::Memory && is_there(m) == Some(true);
                change(&mut wanted, at, insn);
            }
            _ => return None,
        }
    }
    (is_read && !way.is_empty()).then_some(way)
}

/// Goes from the result of a calculation, number `at` of `wanted`, to what it is made of.
fn change(wanted: &mut Vec<Register>, at: usize, insn: &Instruction) {
    let register = wanted[at];
    let sources = [insn.op1_register(), insn.op2_register(), insn.memory_base(), insn.memory_index()];
    let made_anew = insn.op_count() > 2 || rows::row(insn) == Row::General(General::Address);
    let clears = insn.op1_kind() == OpKind::Register && insn.op0_register() == insn.op1_register();
    let clears = clears && rows::row(insn) == Row::General(General::Bits(Integral::Xor));
    if made_anew || clears {
        wanted.swap_remove(at);
    }
    if clears {
        return;
    }
    sources
        .into_iter()
        .filter(|source| source.is_gpr() && source.full_register() != register)
        .for_each(|source| add(wanted, source));
    if made_anew && sources.into_iter().any(|source| source.full_register() == register) {
        add(wanted, register);
    }
}

fn add(wanted: &mut Vec<Register>, register: Register) {
    let register = register.full_register();
    if register.is_gpr() && !wanted.contains(&register) {
        wanted.push(register);
    }
}

/// Tells whether store `n` may be of an end, for that purpose alone: it is no step of a loop, and nothing is written beside it. In
/// a function's own frame it is one only if a float is loaded from there soon, to be used elsewhere.
pub(super) fn may_be_written(insns: &[Insn], n: usize, part: Part, addresses: &[Option<Address>]) -> bool {
    /// Bytes that may be of the same float.
    const NEAR: i64 = 16;
    let Some(written) = addresses[n].filter(|_| part.bytes <= WIDEST) else { return false };
    // What a function keeps for itself is not what it was given.
    let own = |m: usize| [Register::RSP, Register::RBP].contains(&insns[m].decoded.memory_base());
    let is_loop = |insn: &Insn| insn.flow == Flow::SideExit && insn.decoded.near_branch_target() <= insn.pc();
    let is_beside = |m: usize| {
        let is_part = Part::of(&insns[m].decoded).is_some_and(|part| part.is_in_memory);
        let far = |address: Address| address.distance_from(written).is_some_and(|bytes| bytes.abs() >= NEAR);
        m != n && is_part && !own(m) && !addresses[m].is_some_and(far)
    };
    let is_given = !own(n) || is_loaded(insns, n, written, addresses);
    is_given && !insns.iter().any(is_loop) && !(0..insns.len()).any(is_beside)
}

/// Tells whether what store `n` writes at `written` is loaded soon as a part of one double, or of a word that a vector register
/// gets next.
fn is_loaded(insns: &[Insn], n: usize, written: Address, addresses: &[Option<Address>]) -> bool {
    const DOUBLE: i64 = 8;
    let loads = |m: usize| {
        let insn = &insns[m].decoded;
        let at = addresses[m].and_then(|address| written.distance_from(address));
        let is_vector = || {
            insns.get(m + 1).is_some_and(|next| {
                let next = &next.decoded;
                rows::row(next) == Row::Move(Moved::Lowest(Format::F64), 0)
                    && next.op1_register() == insn.op0_register()
            })
        };
        let is_double = match rows::row(insn) {
            Row::Move(Moved::Lane(Format::F64), _) => insn.op0_kind() == OpKind::Register,
            Row::General(General::Move) => insn.op0_register().is_gpr64() && is_vector(),
            _ => false,
        };
        is_double && at.is_some_and(|at| (0..DOUBLE).contains(&at))
    };
    (n + 1..insns.len()).take(HORIZON).any(loads)
}

#[cfg(test)]
mod tests {
    use super::super::Whole;
    use super::super::tests::found;
    use shadowgrind_core::format::Format;

    /// movzx eax, word [rbp-8]; add eax, 2; mov [rbp-8], ax
    const READ: &[u8] = b"\x0f\xb7\x45\xf8";
    const ADD: &[u8] = b"\x83\xc0\x02";
    const PUT_BACK: &[u8] = b"\x66\x89\x45\xf8";

    #[test]
    fn what_is_read_and_put_back_is_on_its_way() {
        assert_eq!(found(&[READ, ADD, PUT_BACK]), [Whole::Passing, Whole::End { restored: true }]);
        // mov [rbp-16], ax is another place.
        assert_eq!(found(&[READ, ADD, b"\x66\x89\x45\xf0"]), []);
    }

    #[test]
    fn a_store_among_others_is_none() {
        // mov word [rdi], 5; mov byte [rdi+2], 1; jz back
        let (word, byte, back): (&[u8], &[u8], &[u8]) =
            (b"\x66\xc7\x07\x05\0", b"\xc6\x47\x02\x01", b"\x74\xf0");
        assert_eq!(found(&[word]), [Whole::End { restored: false }]);
        assert_eq!(found(&[word, byte]), []);
        assert_eq!(found(&[word, back]), []);
    }

    #[test]
    fn the_end_of_a_double_that_goes_elsewhere() {
        // mov byte [rbp-1], 0x40; movsd xmm0, [rbp-8]; ret
        let (end, load, ret): (&[u8], &[u8], &[u8]) = (b"\xc6\x45\xff\x40", b"\xf2\x0f\x10\x45\xf8", b"\xc3");
        assert_eq!(found(&[end, load, ret]), [Whole::End { restored: false }]);
        // mov rax, [rbp-8]; movq xmm0, rax. The first alone may be of anything.
        let (word, moved): (&[u8], &[u8]) = (b"\x48\x8b\x45\xf8", b"\x66\x48\x0f\x6e\xc0");
        assert_eq!(found(&[end, word, moved, ret]), [Whole::End { restored: false }]);
        assert_eq!(found(&[end, word, ret]), []);
    }

    #[test]
    fn the_end_of_a_long_double_that_is_used() {
        // mov word [rbp-8], ax; fld tbyte [rbp-16]
        assert_eq!(found(&[PUT_BACK, b"\xdb\x6d\xf0"]), [Whole::Part { format: Format::F80, at: 8 }]);
    }

    #[test]
    fn the_end_of_a_long_double_behind_digits_from_elsewhere() {
        // mov [rbp-16], rcx; add eax, 2, of what movzx has read; mov [rbp-8], ax; fld tbyte [rbp-16]
        let (digits, load): (&[u8], &[u8]) = (b"\x48\x89\x4d\xf0", b"\xdb\x6d\xf0");
        let read: &[u8] = b"\x0f\xb7\x45\xe8";
        assert_eq!(found(&[read, ADD, digits, PUT_BACK, load]), [Whole::Ending, Whole::Ended]);
        assert_eq!(found(&[read, digits, PUT_BACK, load]), [Whole::Assembled]);
        // Where it goes is not seen.
        assert_eq!(found(&[read, ADD, digits, PUT_BACK, b"\xc3"]), [Whole::Assembled]);
    }
}
