//! Links between blocks: exits that lead straight to other blocks, by patched branches, and for a while to the engine.
//!
//! Knows nothing of how blocks are found: see [`chains`](super::chains) for those that indirect branches find.

use super::{Cache, NONE};
use crate::engine::region::BlockId;
use crate::engine::stubs::{ExitId, FIRST_EXIT};
use crate::x86::branch_table::{self, TABLE_LOAD_BYTES};
use crate::x86::code::ExitKind;

impl Cache {
    /// Links the exit, which must be a `Jump`, to the block at its target.
    pub(crate) fn link(&mut self, exit: ExitId, target: BlockId) {
        if !self.link {
            return;
        }
        let entry = self.blocks[target as usize].entry;
        let patch = self.exits[(exit - FIRST_EXIT) as usize].site.patch;
        let shared = self.region(patch).is_shared(patch);
        let slot = &mut self.exits[(exit - FIRST_EXIT) as usize];
        if shared && !std::mem::replace(&mut slot.put_off, true) {
            // Most of what a forked child does, it does once.
            return;
        }
        if !slot.linked {
            slot.linked = true;
            slot.next_incoming = self.blocks[target as usize].incoming;
            self.blocks[target as usize].incoming = exit;
        }
        self.patch_rel32(patch, entry);
    }

    /// Has all exits that are linked to the block lead to the engine.
    pub(super) fn unlink(&mut self, id: BlockId) {
        let mut exit = std::mem::replace(&mut self.blocks[id as usize].incoming, NONE);
        while exit != NONE {
            let slot = &mut self.exits[(exit - FIRST_EXIT) as usize];
            slot.linked = false;
            exit = std::mem::replace(&mut slot.next_incoming, NONE);
            let site = slot.site;
            self.patch_rel32(site.patch, site.stub);
        }
    }

    /// Links exits of a new block to blocks that are there.
    pub(super) fn link_to_existing(&mut self, id: BlockId) {
        let (first, last) = self.blocks[id as usize].exits;
        for number in first..last {
            match self.exit_kind(number) {
                ExitKind::Jump(target, mode) => {
                    if let Some(block) = self.find(target, mode) {
                        self.link(number, block);
                    }
                }
                ExitKind::Turn(_) if !self.link => {
                    let site = self.exits[(number - FIRST_EXIT) as usize].site;
                    self.patch_rel32(site.patch, site.stub);
                }
                _ => {}
            }
        }
    }

    /// Makes the block that contains host address `pc` go to the engine at its next exit. Called by the signal
    /// handler while this thread is inside translated code. Returns the address to resume at.
    pub(crate) fn divert(&mut self, pc: u64) -> u64 {
        let Some(id) = self.block_at(pc) else { return pc };
        self.cut_chain(id);
        let (first, last) = self.blocks[id as usize].exits;
        for number in first..last {
            let site = self.exits[(number - FIRST_EXIT) as usize].site;
            match site.kind {
                ExitKind::Jump(..) | ExitKind::Turn(_) => self.patch_rel32(site.patch, site.stub),
                ExitKind::Indirect => {
                    let miss = self.frame.ib_misses[site.mode.table().unwrap_or(0)];
                    if pc == site.patch + TABLE_LOAD_BYTES {
                        return miss;
                    }
                    self.divert_table_load(site.patch, miss);
                }
                _ => {}
            }
        }
        pc
    }

    /// Takes back [`Cache::divert`] for the block that contains host address `pc`.
    pub(crate) fn undo_divert(&mut self, pc: u64) {
        let Some(id) = self.block_at(pc) else { return };
        self.mend_chain(id);
        let (first, last) = self.blocks[id as usize].exits;
        for number in first..last {
            let exit = self.exits[(number - FIRST_EXIT) as usize];
            match exit.site.kind {
                ExitKind::Jump(target, mode) if exit.linked => {
                    if let Some(block) = self.find(target, mode) {
                        self.patch_rel32(exit.site.patch, self.blocks[block as usize].entry);
                    }
                }
                ExitKind::Turn(entry) if self.link => self.patch_rel32(exit.site.patch, entry),
                ExitKind::Indirect => {
                    let table = exit.site.mode.table().unwrap_or(0);
                    self.store_code(exit.site.patch, &branch_table::table_load(&self.frame, table));
                }
                _ => {}
            }
        }
    }

    /// Has the branch at `at` lead to `target`.
    pub(super) fn patch_rel32(&mut self, at: u64, target: u64) {
        let distance = target.wrapping_sub(at + 4) as i64;
        let distance = i32::try_from(distance).expect("code within 2 GB of itself");
        self.store_code(at, &distance.to_le_bytes());
    }

    /// Replaces the load of a table jump by a jump to the miss stub.
    fn divert_table_load(&mut self, at: u64, miss: u64) {
        self.store_code(at, &[0xe9]);
        self.patch_rel32(at + 1, miss);
    }
}
