//! The indirect-branch tables, seen from translated code: the jump through one, and what arrivals check.

use super::asm::{Asm, RAX, RCX};
use super::code::{ExitKind, ExitSite, Frame, Slot};
use super::mode::Mode;

/// Length of the load that `ExitKind::Indirect` patches; the jump to what it loaded follows.
pub(crate) const TABLE_LOAD_BYTES: u64 = 7;

/// `mov eax, [rax * 4 + table]`: an absolute address, hence the table below 2^31.
pub(crate) fn table_load(frame: &Frame, table: usize) -> [u8; TABLE_LOAD_BYTES as usize] {
    let table = i32::try_from(frame.branch_tables[table]).expect("branch table below 2^31").to_le_bytes();
    [0x8b, 0x04, 0x85, table[0], table[1], table[2], table[3]]
}

/// Jumps to the branch table's entry for the target in rcx.
pub(super) fn table_jump(code: &mut Asm, frame: &Frame, table: usize, mode: Mode) -> ExitSite {
    code.store(frame.slot(Slot::Rax), RAX);
    // movzx eax, cx
    code.raw(&[0x0f, 0xb7, 0xc1]);
    let patch = code.here();
    code.raw(&table_load(frame, table));
    // jmp rax
    code.raw(&[0xff, 0xe0]);
    ExitSite { kind: ExitKind::Indirect, patch, stub: 0, mode }
}

/// Length of [`ib_entry`] for guest addresses below 2^31, where most code is.
pub(crate) const IB_ENTRY_BYTES: u64 = 35;

/// What arrivals through the branch table run first: check that the target in rcx is `pc`, then put rax and rcx
/// back. Falls through to the block.
pub(crate) fn ib_entry(code: &mut Asm, frame: &Frame, pc: u64, table: usize) {
    let start = code.here();
    if let Ok(small) = i32::try_from(pc) {
        code.add_rcx(-small);
        code.jrcxz_over(7 + 5);
        code.add_rcx(small);
    } else {
        code.mov_imm(RAX, pc.wrapping_neg());
        code.add_rcx_rax();
        let undo_bytes = if u32::try_from(pc).is_ok() { 5 } else { 10 };
        code.jrcxz_over(undo_bytes + 4 + 5);
        code.mov_imm(RAX, pc);
        code.add_rcx_rax();
    }
    code.jmp(frame.ib_misses[table]);
    code.load(RAX, frame.slot(Slot::Rax));
    code.load(RCX, frame.slot(Slot::Rcx));
    debug_assert!(pc >= 1 << 31 || code.here() - start == IB_ENTRY_BYTES);
}
