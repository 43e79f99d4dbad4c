//! Head of a block, before its first instruction: the count of its runs, and the comparison of the guest bytes it was
//! made from.

use super::asm::{RAX, RCX};
use super::code::{ExitKind, Slot, Spilled};
use super::emit::Emitter;
use super::superblock::Superblock;

impl Emitter {
    /// Counts down the word at `runs` and exits when it becomes 0. Keeps the flags.
    pub(super) fn count_run(&mut self, start: u64, runs: u64) {
        let rcx = self.frame.slot(Slot::Rcx);
        let hot_exit = self.again(ExitKind::Hot(start));
        let enough = self.out.cold.here();
        self.out.cold.load(RCX, rcx);
        self.out.cold.jmp(hot_exit);
        self.out.hot.store(rcx, RCX);
        self.note(0, Spilled { rcx: true, ..Spilled::default() });
        let code = &mut self.out.hot;
        code.load(RCX, runs);
        code.add_rcx(-1);
        code.store(runs, RCX);
        let jump = code.jump_if_rcx_is_zero();
        code.patch(jump, enough);
        code.load(RCX, rcx);
    }

    /// Compares the block's guest bytes, eight at a time, with those it is made from. Keeps the flags.
    pub(super) fn compare(&mut self, block: &Superblock) {
        let bytes: Vec<u8> = block.insns.iter().flat_map(|insn| insn.bytes().iter().copied()).collect();
        let spilled = Spilled { rax: true, rcx: true, ..Spilled::default() };
        let (rax, rcx) = (self.frame.slot(Slot::Rax), self.frame.slot(Slot::Rcx));
        let changed = self.again(ExitKind::Changed(block.start));
        let restore = self.out.cold.here();
        self.out.cold.load(RAX, rax);
        self.out.cold.load(RCX, rcx);
        self.out.cold.jmp(changed);
        self.out.hot.store(rax, RAX);
        self.out.hot.store(rcx, RCX);
        self.note(0, spilled);
        let mut at = block.start;
        for chunk in bytes.chunks(8) {
            if let Ok(eight) = chunk.try_into() {
                self.compare_word(at, u64::from_le_bytes(eight), true, restore);
            } else {
                let bytes = chunk.iter().zip(at..);
                bytes.for_each(|(&byte, at)| self.compare_word(at, u64::from(byte), false, restore));
            }
            at += chunk.len() as u64;
        }
        self.out.hot.load(RCX, rcx);
        self.out.hot.load(RAX, rax);
    }

    /// A cold stub of an exit before the first instruction, to come back in the mode of the entry: a hook there has been seen to if it
    /// had been then.
    pub(super) fn again(&mut self, kind: ExitKind) -> u64 {
        self.stub_towards(kind, 0, self.entered)
    }

    /// Compares the eight bytes, or the one byte, at `address` and goes to `differ` if they are not `expected`.
    fn compare_word(&mut self, address: u64, expected: u64, eight: bool, differ: u64) {
        const MOV_RCX_AT_RCX: &[u8] = &[0x48, 0x8b, 0x09];
        const MOVZX_ECX_BYTE_AT_RCX: &[u8] = &[0x0f, 0xb6, 0x09];
        let hot = &mut self.out.hot;
        hot.mov_imm(RCX, address);
        hot.raw(if eight { MOV_RCX_AT_RCX } else { MOVZX_ECX_BYTE_AT_RCX });
        hot.mov_imm(RAX, expected.wrapping_neg());
        hot.add_rcx_rax();
        hot.jmp_unless_rcx_is_zero(differ);
    }
}
