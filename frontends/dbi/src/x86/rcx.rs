//! Effects of instructions on rcx.
//!
//! An expected return spills rcx to compare the return address, and it stays spilled until an instruction asks for it.
//! Knows registers only: what is done at faults is the map's business.

use super::insn::{Flow, Insn};
use iced_x86::{FlowControl, InstructionInfoFactory, OpAccess, Register, UsedRegister};

/// Rip-relative operands below this address are reached from wherever translated code is.
const REACHED: u64 = 3 << 30;

/// Effect of a superblock's instruction on rcx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Reads it, or leaves the superblock.
    Reads,
    /// Writes all of rcx without reading it.
    Replaces,
    None,
}

/// Effect of `insn` on rcx. Side exits, returns and indirect branches that do not name it have none: they see to it
/// themselves.
pub(super) fn on_rcx(insn: &Insn, facts: &mut InstructionInfoFactory) -> Effect {
    match insn.flow {
        Flow::Ends => match insn.decoded.flow_control() {
            FlowControl::Return => return Effect::None,
            FlowControl::IndirectBranch | FlowControl::IndirectCall => {}
            _ => return Effect::Reads,
        },
        Flow::Engine => return Effect::Reads,
        Flow::SideExit
        | Flow::FollowedJump
        | Flow::FollowedCall
        | Flow::ExpectedReturn(_)
        | Flow::CertainReturn => return Effect::None,
        Flow::Straight => {}
    }
    // A far operand may take rcx as its scratch register.
    if insn.flow == Flow::Straight
        && insn.decoded.is_ip_rel_memory_operand()
        && insn.decoded.ip_rel_memory_address() >= REACHED
    {
        return Effect::Reads;
    }
    let is_rcx = |used: &&UsedRegister| used.register().full_register() == Register::RCX;
    let mut effect = Effect::None;
    for used in facts.info(&insn.decoded).used_registers().iter().filter(is_rcx) {
        // Writing ecx clears the upper half, writing cx or cl keeps the rest.
        let whole = matches!(used.register(), Register::RCX | Register::ECX);
        match used.access() {
            OpAccess::Write if whole => effect = Effect::Replaces,
            OpAccess::NoMemAccess => {}
            _ => return Effect::Reads,
        }
    }
    effect
}

#[cfg(test)]
mod tests {
    use super::super::discover::discovered;
    use super::*;

    const START: u64 = 0x1000;

    fn effects(code: &'static [u8]) -> Vec<Effect> {
        discovered(START, code, 9)
            .insns
            .iter()
            .map(|insn| on_rcx(insn, &mut InstructionInfoFactory::new()))
            .collect()
    }

    #[test]
    fn reads_and_whole_writes_are_told_apart() {
        use Effect::{None, Reads, Replaces};
        // call 1f; 2: mov eax, [rbp-8]; mov ecx, [rbp-4]; add ecx, eax; hlt; 1: leave; ret
        let code = b"\xe8\x09\0\0\0\x8b\x45\xf8\x8b\x4d\xfc\x01\xc1\xf4\xc9\xc3";
        // In order of execution: call, leave, ret, mov eax, mov ecx, add, hlt.
        assert_eq!(effects(code)[..6], [None, None, None, None, Replaces, Reads]);
        // mov cl, 1; mov cx, 1; mov ecx, 1; mov eax, [rcx]; jz +0; jrcxz +0
        let code = b"\xb1\x01\x66\xb9\x01\0\xb9\x01\0\0\0\x8b\x01\x74\0\xe3\0";
        assert_eq!(effects(code)[..6], [Reads, Reads, Replaces, Reads, None, Reads]);
        // jmp rax; jmp [rcx]; call [rip+0]
        assert_eq!(effects(b"\xff\xe0")[0], None);
        assert_eq!(effects(b"\xff\x21")[0], Reads);
        assert_eq!(effects(b"\xff\x15\0\0\0\0")[0], None);
        // rep stosb
        assert_eq!(effects(b"\xf3\xaa\xf4")[0], Reads);
    }
}
