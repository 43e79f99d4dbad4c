//! Chains: blocks whose addresses have the same entry of a branch table.
//!
//! The entry leads to the block that came last; that one's check of arrivals goes on to the next where it is not the one, and the last one's
//! to the miss stub. So a branch finds each of them without the engine, however many there are. Knows nothing of how branches get here.

use super::super::region::{BlockId, store_data};
use super::{Cache, MadeOf};
use crate::x86::branch_table::table_index;

/// Place of a block in the chain of its table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chained {
    /// Block in none.
    No,
    /// Last block of one.
    Last,
    /// Block that is next in one.
    Before(BlockId),
}

impl Cache {
    /// Lets indirect branches to the block's address find it.
    pub(crate) fn enter_in_table(&mut self, target: BlockId) {
        let entered = self.blocks[target as usize].chained != Chained::No;
        let Some(entry) = self.table_entry(target).filter(|_| self.link && !entered) else { return };
        let code = entry_code(entry);
        let first = if code == self.arrival(None, target) { None } else { self.block_at(code) };
        self.chain(target, first);
        self.set_entry(entry, Some(target), target);
    }

    /// Takes a block out of its chain.
    pub(super) fn leave_table(&mut self, id: BlockId) {
        let next = match self.blocks[id as usize].chained {
            Chained::No => return,
            Chained::Last => None,
            Chained::Before(next) => Some(next),
        };
        let entry = self.table_entry(id).expect("a block in a chain has a table");
        let first = entry_code(entry);
        if first == self.arrival(Some(id), id) {
            self.set_entry(entry, next, id);
        } else {
            let mut before = self.block_at(first).expect("a chain begins with a block");
            while self.blocks[before as usize].chained != Chained::Before(id) {
                let Chained::Before(next) = self.blocks[before as usize].chained else {
                    unreachable!("a block is in the chain of its entry")
                };
                before = next;
            }
            self.chain(before, next);
        }
        self.blocks[id as usize].chained = Chained::No;
    }

    /// Has arrivals at a block that are meant for another go to the engine.
    pub(super) fn cut_chain(&mut self, id: BlockId) {
        if let Chained::Before(_) = self.blocks[id as usize].chained {
            self.lead_misses(id, None);
        }
    }

    /// Takes back [`Cache::cut_chain`].
    pub(super) fn mend_chain(&mut self, id: BlockId) {
        if let Chained::Before(next) = self.blocks[id as usize].chained {
            self.lead_misses(id, Some(next));
        }
    }

    /// Has `next` follow a block in its chain, or nothing.
    fn chain(&mut self, id: BlockId, next: Option<BlockId>) {
        if next.is_some() || self.blocks[id as usize].chained != Chained::No {
            self.lead_misses(id, next);
        }
        self.blocks[id as usize].chained = next.map_or(Chained::Last, Chained::Before);
    }

    /// Has arrivals at a block that are meant for another go on to `next`, or to the engine. Signal handlers call this: nothing is allocated.
    fn lead_misses(&mut self, id: BlockId, next: Option<BlockId>) {
        let to = self.arrival(next, id);
        let (start, misses) = (self.blocks[id as usize].hot.0, self.blocks[id as usize].misses);
        for end in misses.into_iter().filter(|end| *end != 0) {
            self.patch_rel32(start + u64::from(end) - 4, to);
        }
    }

    /// The address at which arrivals at a block are checked, or that of the miss stub of the table that block `of` is in.
    fn arrival(&self, id: Option<BlockId>, of: BlockId) -> u64 {
        let miss = || self.frame.ib_misses[self.blocks[of as usize].made_of.mode.table().unwrap_or(0)];
        // The check stands at the block's very start.
        id.map_or_else(miss, |id| self.blocks[id as usize].hot.0)
    }

    /// Address of the table entry for a block's address and mode, if the mode has a table.
    fn table_entry(&self, id: BlockId) -> Option<u64> {
        let MadeOf { pc, mode, .. } = self.blocks[id as usize].made_of;
        let table = mode.table()?;
        Some(self.frame.branch_tables[table] + 4 * table_index(table, pc, mode.onwards()))
    }

    /// Has the table entry at this address, which is that of block `of`, lead to a block, or to the engine.
    fn set_entry(&mut self, entry: u64, id: Option<BlockId>, of: BlockId) {
        store_data(entry, &(self.arrival(id, of) as u32).to_le_bytes());
    }
}

/// The address that a table entry leads to.
fn entry_code(entry: u64) -> u64 {
    // SAFETY: `Cache::table_entry` gives addresses of entries of a table that belongs to this thread.
    u64::from(unsafe { (entry as *const u32).read() })
}
