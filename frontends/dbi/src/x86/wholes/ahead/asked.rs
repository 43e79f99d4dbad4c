//! Digits of which nothing becomes but answers: what code does next with a general register that has some, on every way that it may take.
//!
//! A shift or a product takes digits out of their float, and loses its shadow. If they are compared next, and then nobody has them any
//! more, nothing is lost: a comparison is a decision. Runs nothing; knows neither values nor shadows.

use super::{Read, decode};
use crate::x86::access::{is_read, is_write};
use crate::x86::rows;
use crate::x86::table::{General, Row};
use hashbrown::HashSet;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register, UsedRegister};

/// Number of instructions that are looked at, on all ways.
const MOST: usize = 256;
/// General registers in which a function returns what it returns.
const RETURNED: Held = Held(0b101 << Held::REST | 0b101);

/// General registers that hold something, as a mask: a bit for the first byte of each, then one for the rest of each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Held(u32);

impl Held {
    const NONE: Held = Held(0);
    const REST: u32 = 16;

    /// The bytes that are named so.
    fn of(register: Register) -> Held {
        if !register.is_gpr() {
            return Held::NONE;
        }
        let first = 1 << register.full_register().number();
        let is_upper = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        Held(match register.size() {
            1 if is_upper => first << Held::REST,
            1 => first,
            _ => first << Held::REST | first,
        })
    }

    /// The bytes that are overwritten when these registers are written: of two bytes the second is not known apart from others.
    fn overwritten(used: &UsedRegister) -> Held {
        let register = used.register();
        let is_whole = used.access() == OpAccess::Write && register.is_gpr();
        match Held::of(register) {
            Held(both) if is_whole && register.size() >= 4 => Held(both),
            Held(some) if is_whole && register.size() <= 2 => Held(some & ((1 << Held::REST) - 1)),
            _ => Held::NONE,
        }
    }

    fn meets(self, other: Held) -> bool {
        self.0 & other.0 != 0
    }
}

/// Tells whether `insn` may take digits out of a float into a general register, and nothing else.
pub(crate) fn may_take_digits(insn: &Instruction) -> bool {
    let takes = matches!(rows::row(insn), Row::General(General::Bits(_) | General::Address));
    takes
        && insn.op0_kind() == OpKind::Register
        && insn.op0_register().is_gpr()
        && insn.op0_register().size() >= 4
}

/// Tells whether all that becomes of the general registers that `insn` writes is compared, and nobody has it afterwards.
pub(crate) fn is_only_asked_about(insn: &Instruction, read: Read<'_>) -> bool {
    let mut info = InstructionInfoFactory::new();
    let held = all(info.info(insn).used_registers(), is_write);
    let (mut ways, mut seen) = (vec![(insn.next_ip(), held)], HashSet::new());
    while let Some((pc, held)) = ways.pop() {
        if held == Held::NONE || !seen.insert((pc, held)) {
            continue;
        }
        if seen.len() > MOST {
            return false;
        }
        let Some(insn) = decode(pc, read) else { return false };
        let Some(held) = after(&insn, held, &mut info) else { return false };
        match insn.flow_control() {
            FlowControl::Next => ways.push((insn.next_ip(), held)),
            FlowControl::UnconditionalBranch => ways.push((insn.near_branch_target(), held)),
            FlowControl::ConditionalBranch => {
                ways.extend([insn.next_ip(), insn.near_branch_target()].map(|pc| (pc, held)));
            }
            // What a function keeps for its caller is not that: it was put back before.
            FlowControl::Return if !held.meets(RETURNED) => {}
            _ => return false,
        }
    }
    true
}

/// Registers that hold something of it after `insn`; nothing if that has put it elsewhere, or gone where it says.
fn after(insn: &Instruction, held: Held, info: &mut InstructionInfoFactory) -> Option<Held> {
    let used = info.info(insn);
    let registers = used.used_registers();
    if !all(registers, is_read).meets(held) {
        let overwritten = registers.iter().fold(0, |mask, used| mask | Held::overwritten(used).0);
        return Some(Held(held.0 & !overwritten));
    }
    let in_address = [insn.memory_base(), insn.memory_index()];
    let goes = in_address.into_iter().any(|register| Held::of(register).meets(held))
        && !rows::only_names_memory(insn);
    let writes_memory = used.used_memory().iter().any(|memory| is_write(memory.access()));
    let is_elsewhere = |used: &UsedRegister| is_write(used.access()) && !used.register().is_gpr();
    let stays = !goes && !writes_memory && !registers.iter().any(is_elsewhere);
    stays.then(|| Held(held.0 | all(registers, is_write).0))
}

/// The general registers of which the access is such.
fn all(registers: &[UsedRegister], is_such: impl Fn(OpAccess) -> bool) -> Held {
    let such = registers.iter().filter(|used| is_such(used.access()));
    Held(such.fold(0, |mask, used| mask | Held::of(used.register()).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0x40_0000;

    /// Tells whether what the first instruction of this code makes is only asked about.
    fn is_asked(code: &[&[u8]]) -> bool {
        let code = code.concat();
        let read = |address: u64, into: &mut [u8]| {
            let rest = code.get(address.wrapping_sub(START) as usize..).unwrap_or_default();
            let count = rest.len().min(into.len());
            into[..count].copy_from_slice(&rest[..count]);
            count
        };
        is_only_asked_about(&decode(START, &read).unwrap(), &read)
    }

    /// `shl rax, 1`, and what may follow it.
    const SHIFT: &[u8] = b"\x48\xd1\xe0";
    const COMPARE: &[u8] = b"\x48\x39\xc8"; // cmp rax, rcx
    const LESS: &[u8] = b"\x48\x83\xe8\x01"; // sub rax, 1
    const CLEAR: &[u8] = b"\x31\xc0"; // xor eax, eax
    const COPY: &[u8] = b"\x48\x89\xc2"; // mov rdx, rax
    const RETURN: &[u8] = b"\xc3";

    #[test]
    fn what_is_compared_and_dropped_is_only_asked_about() {
        assert!(is_asked(&[SHIFT, COMPARE, CLEAR, RETURN]));
        assert!(!is_asked(&[SHIFT, LESS, COMPARE, b"\x77\x01", RETURN, CLEAR, RETURN]));
        // mov eax, 0 on both ways of `ja`.
        assert!(is_asked(&[SHIFT, LESS, COMPARE, b"\x77\x03", CLEAR, RETURN, CLEAR, RETURN]));
        // seta al; movzx eax, al; ret
        assert!(is_asked(&[SHIFT, COMPARE, b"\x0f\x97\xc0", b"\x0f\xb6\xc0", RETURN]));
        // To the shift again, with another number: `mov rax, rbx; jmp`.
        assert!(is_asked(&[SHIFT, COMPARE, b"\x48\x89\xd8", b"\xeb\xf5"]));
    }

    #[test]
    fn what_goes_elsewhere_is_not() {
        for way in [
            &[RETURN][..],
            &[COPY, CLEAR, RETURN],
            // mov [rdi], rax
            &[b"\x48\x89\x07", CLEAR, RETURN],
            // mov ecx, [rdi + 4*rax]
            &[b"\x8b\x0c\x87", CLEAR, RETURN],
            // movq xmm0, rax
            &[b"\x66\x48\x0f\x6e\xc0", CLEAR, RETURN],
            // call to the next instruction; jmp rcx; mov al, 1
            &[b"\xe8\0\0\0\0", CLEAR, RETURN],
            &[b"\xff\xe1"],
            &[b"\xb0\x01", RETURN],
        ] {
            assert!(!is_asked(&[&[SHIFT, COMPARE], way].concat()), "{way:x?}");
        }
    }
}
