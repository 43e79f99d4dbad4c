//! Liveness of rcx within a superblock: after which instructions its value will not be read any more.
//!
//! An expected return sets rcx aside to compare the return address; where rcx is dead, it need not be put back. Knows
//! registers only: what is done at faults is the map's business.

use super::discover::{Flow, Insn};
use iced_x86::{InstructionInfoFactory, OpAccess, Register, UsedRegister};

/// Rip-relative operands below this address are reached from wherever translated code is.
const REACHED: u64 = 3 << 30;

/// For each instruction, whether rcx is written before it is read once the instruction has run, on every way out.
///
/// Empty, for "never", if nothing in the superblock asks.
pub(crate) fn rcx_dead_after(insns: &[Insn], facts: &mut InstructionInfoFactory, dead: &mut Vec<bool>) {
    dead.clear();
    if !insns.iter().any(|insn| matches!(insn.flow, Flow::ExpectedReturn(_))) {
        return;
    }
    dead.resize(insns.len(), false);
    // Nothing is known of what follows the superblock.
    let mut is_dead = false;
    for (insn, dead) in insns.iter().zip(dead).rev() {
        *dead = is_dead;
        is_dead = match effect(insn, facts) {
            Effect::Reads => false,
            Effect::Replaces => true,
            Effect::None => is_dead,
        };
    }
}

/// Whether the instruction gives rcx a wholly new value.
pub(crate) fn replaces_rcx(insn: &Insn, facts: &mut InstructionInfoFactory) -> bool {
    effect(insn, facts) == Effect::Replaces
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Reads rcx, or may need its value at an exit.
    Reads,
    /// Writes all of rcx without reading it.
    Replaces,
    None,
}

fn effect(insn: &Insn, facts: &mut InstructionInfoFactory) -> Effect {
    match insn.flow {
        Flow::SideExit | Flow::Leaves | Flow::Engine => return Effect::Reads,
        Flow::FollowedJump | Flow::FollowedCall | Flow::ExpectedReturn(_) => return Effect::None,
        Flow::Straight => {}
    }
    // A far operand may borrow rcx.
    if insn.decoded.is_ip_rel_memory_operand() && insn.decoded.ip_rel_memory_address() >= REACHED {
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
    use super::super::discover::{CodeSource, Limits, Superblock};
    use super::*;
    use crate::x86::discover::Hooks;

    struct Bytes(&'static [u8]);

    const START: u64 = 0x1000;

    impl CodeSource for Bytes {
        fn fetch(&mut self, pc: u64, window: &mut [u8]) -> usize {
            let rest = &self.0[(pc - START) as usize..];
            let len = rest.len().min(window.len());
            window[..len].copy_from_slice(&rest[..len]);
            len
        }
        fn data_address(&self, _pc: u64, address: u64) -> u64 {
            address
        }
        fn is_hooked(&self, _pc: u64) -> bool {
            false
        }
        fn takes_gs(&self) -> bool {
            false
        }
        fn answers_requests(&self) -> bool {
            false
        }
    }

    fn dead(code: &'static [u8]) -> Vec<bool> {
        let limits = Limits {
            instructions: 100,
            side_exits: 9,
            jumps: 9,
            call_depth: 9,
            hooks: Hooks::None,
            ends_at_stores: false,
        };
        let mut block = Superblock::new();
        block.discover(START, limits, &mut Bytes(code));
        let mut dead = Vec::new();
        rcx_dead_after(&block.insns, &mut InstructionInfoFactory::new(), &mut dead);
        dead
    }

    #[test]
    fn a_register_is_dead_until_it_is_written() {
        // call 1f; 2: mov eax, [rbp-8]; mov ecx, [rbp-4]; add ecx, eax; hlt; 1: leave; ret
        let code = b"\xe8\x09\0\0\0\x8b\x45\xf8\x8b\x4d\xfc\x01\xc1\xf4\xc9\xc3";
        // In order of execution: call, leave, ret, mov eax, mov ecx, add, hlt.
        assert_eq!(dead(code)[..6], [true, true, true, true, false, false]);
    }

    #[test]
    fn reads_partial_writes_and_exits_keep_it_alive() {
        // call 1f; mov cl, 1; mov ecx, 2; hlt; 1: ret
        assert!(!dead(b"\xe8\x08\0\0\0\xb1\x01\xb9\x02\0\0\0\xf4\xc3")[1]);
        // call 1f; jz +0; mov ecx, 2; hlt; 1: ret
        assert!(!dead(b"\xe8\x08\0\0\0\x74\x00\xb9\x02\0\0\0\xf4\xc3")[1]);
        // call 1f; mov eax, [rcx]; mov ecx, 2; hlt; 1: ret
        assert!(!dead(b"\xe8\x08\0\0\0\x8b\x01\xb9\x02\0\0\0\xf4\xc3")[1]);
        // call 1f; nop; mov ecx, 2; hlt; 1: ret
        assert!(dead(b"\xe8\x07\0\0\0\x90\xb9\x02\0\0\0\xf4\xc3")[1]);
    }

    #[test]
    fn nothing_is_computed_for_blocks_without_expected_returns() {
        assert!(dead(b"\xb9\x02\0\0\0\xf4").is_empty());
    }
}
