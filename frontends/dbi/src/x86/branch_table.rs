//! The indirect-branch tables, seen from translated code: the jump through one, and what arrivals check.
//!
//! No other register than rcx is used: what a function returns in rax should not wait for memory at each return. The target
//! is in `Context::ib_target` meanwhile, and the guest's rcx in its slot.
//!
//! Of blocks whose targets have the same entry, each goes on to the next where it is not the one.
//!
//! Modes without a table of their own share one. There the mode is noted as well, in `Context::ib_mode`: the index depends
//! on it, and arrivals check it.

use super::asm::{Asm, RCX};
use super::code::{ExitKind, ExitSite, Frame, Misses, Slot};
use super::mode::{Mode, SHARED_TABLE};
use crate::context::Context;

/// Entries of table `table`, by as many low bits of the target. Isolated code is left soon as a rule, and code in a mode
/// without a table of its own does not last: their tables are small.
pub(crate) const fn table_entries(table: usize) -> u64 {
    if table < Mode::ISOLATED_TABLES.start { 1 << 16 } else { INDEX_BITS as u64 + 1 }
}

/// The low bits of a target that are its index in tables of isolated modes.
pub(crate) const INDEX_BITS: u32 = 0xfff;

/// Number added to targets in the shared table, so that modes which meet at a target have entries of their own.
fn spread(mode: Mode) -> u32 {
    // 2^32 / golden ratio, as for hashes; the index is of low bits.
    mode.bits().wrapping_mul(0x9e37_79b9) >> 16
}

/// Index of the entry for guest address `pc`, arrived at in `mode`, in table `table`.
pub(crate) fn table_index(table: usize, pc: u64, mode: Mode) -> u64 {
    let spread = if table == SHARED_TABLE { spread(mode) } else { 0 };
    pc.wrapping_add(spread.into()) % table_entries(table)
}

/// Length of the load that `ExitKind::Indirect` patches; the jump to what it loaded follows.
pub(crate) const TABLE_LOAD_BYTES: u64 = 7;

/// `mov ecx, [rcx * 4 + table]`: an absolute address, hence the table below 2^31.
pub(crate) fn table_load(frame: &Frame, table: usize) -> [u8; TABLE_LOAD_BYTES as usize] {
    let table = i32::try_from(frame.branch_tables[table]).expect("branch table below 2^31").to_le_bytes();
    [0x8b, 0x0c, 0x8d, table[0], table[1], table[2], table[3]]
}

/// Jumps to the branch table's entry for the target in rcx, whose slot has the guest's.
pub(super) fn table_jump(code: &mut Asm, frame: &Frame, table: usize, mode: Mode) -> ExitSite {
    code.store(frame.field(Context::OFFSET_IB_TARGET), RCX);
    if table == SHARED_TABLE {
        code.store_imm32(frame.field(Context::OFFSET_IB_MODE), mode.bits() as i32);
        code.add_ecx(spread(mode) as i32);
    }
    if table >= Mode::ISOLATED_TABLES.start {
        code.extract_ecx(frame.index_bits);
    } else {
        // movzx ecx, cx
        code.raw(&[0x0f, 0xb7, 0xc9]);
    }
    let patch = code.here();
    code.raw(&table_load(frame, table));
    // jmp rcx
    code.raw(&[0xff, 0xe1]);
    ExitSite { kind: ExitKind::Indirect, patch, stub: 0, mode }
}

/// Length of [`ib_entry`] for guest addresses below 2^31, where most code is, in modes with tables of their own.
pub(crate) const IB_ENTRY_BYTES: u64 = 28;

/// Emits the entry for arrivals through the branch table of `mode`: check that the target is `pc`, and in the shared table
/// that the mode is this one, then put rcx back. Falls through to the block.
pub(crate) fn ib_entry(code: &mut Asm, frame: &Frame, pc: u64, mode: Mode) -> Misses {
    let start = code.here();
    let table = mode.table().unwrap_or(0);
    let target = frame.field(Context::OFFSET_IB_TARGET);
    let (mut misses, mut count) = (Misses::default(), 0);
    let mut miss = |code: &mut Asm| {
        code.jmp_unless_rcx_is_zero(frame.ib_misses[table]);
        misses[count] = (code.here() - start) as u8;
        count += 1;
    };
    if table == SHARED_TABLE {
        code.load32(RCX, frame.field(Context::OFFSET_IB_MODE));
        code.add_ecx((mode.onwards().bits() as i32).wrapping_neg());
        miss(code);
    }
    if let Ok(small) = i32::try_from(pc) {
        code.load(RCX, target);
        code.add_rcx(-small);
        miss(code);
    } else {
        for (at, half) in [(target, pc as u32), (target + 4, (pc >> 32) as u32)] {
            code.load32(RCX, at);
            code.add_ecx(half.wrapping_neg() as i32);
            miss(code);
        }
    }
    code.load(RCX, frame.slot(Slot::Rcx));
    debug_assert!(pc >= 1 << 31 || table == SHARED_TABLE || code.here() - start == IB_ENTRY_BYTES);
    misses
}
