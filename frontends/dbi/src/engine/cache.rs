//! A thread's code cache: translated blocks, where they are, how they are linked, and how they are found.
//!
//! Private to one guest thread, so nothing here is locked and code is patched only by the thread that runs it. Knows
//! code as bytes with exits; making them is the translator's work.

mod chains;
mod links;

use super::arena::{self, Exhausted};
use super::layout::page_floor;
use super::region::{BlockId, Region, Runs, store_data};
use super::stubs::{self, ExitId, FIRST_EXIT, Stubs};
use crate::x86::branch_table::{IB_ENTRY_BYTES, table_entries, table_index};
use crate::x86::code::{Emitted, ExitKind, ExitSite, Frame, Misses, Placement};
use crate::x86::mode::{Mode, SHARED_TABLE, TABLES};
use crate::x86::superblock::{FloatFacts, Superblock};
use chains::Chained;
use hashbrown::{HashMap, HashTable};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Alignment of blocks for direct jumps, and so of most loops, bytes.
const ENTRY_ALIGNMENT: u64 = 64;

const NONE: u32 = u32::MAX;

/// Origin of a block; enough to make it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MadeOf {
    /// Guest address.
    pub(crate) pc: u64,
    /// The mode that its code takes for granted.
    pub(crate) mode: Mode,
    /// Number of guest instructions.
    pub(crate) instructions: usize,
    /// True if it compares its guest bytes each time it runs.
    pub(crate) compare: bool,
    /// True if it has proved worth more effort.
    pub(crate) hot: bool,
    /// The return address that it expects on the stack: the one that was there when it was made hot.
    pub(crate) back: Option<u64>,
    /// True if the code before it has just run whenever it is entered.
    pub(crate) onward: bool,
}

impl MadeOf {
    /// Ingredients of an isolated version of the block; the mode must be annotated.
    pub(crate) fn isolated(self) -> MadeOf {
        MadeOf { mode: self.mode.isolated(true), ..self }
    }
}

/// A translated superblock.
#[derive(Clone)]
pub(crate) struct Block {
    pub(crate) made_of: MadeOf,
    /// Entry for direct jumps.
    pub(crate) entry: u64,
    hot: (u64, u64),
    cold: (u64, u64),
    exits: (ExitId, ExitId),
    /// Head of the list of exits linked to this block.
    incoming: ExitId,
    alive: bool,
    chained: Chained,
    /// Jumps by which its check of arrivals goes on where it is not the one.
    misses: Misses,
    kept: Kept,
}

/// Origin of a block as far as it has to be kept, so that translating it again gives the same code.
#[derive(Clone)]
pub(crate) enum Kept {
    /// Nothing: the bytes stay what they are, and no instruction means anything more for floats than it says.
    Nothing,
    /// Facts about its instructions: other blocks tell a part of them, and may be gone or have changed by then.
    Facts(Box<FloatFacts>),
    /// All of it. The guest may write there, and another thread may have changed the bytes by the time a fault is looked up.
    Superblock(Box<Superblock>),
}

impl Block {
    fn is_at(&self, pc: u64, mode: Mode) -> bool {
        (self.made_of.pc, self.made_of.mode) == (pc, mode)
    }

    fn hash(&self) -> u64 {
        hash(self.made_of.pc, self.made_of.mode)
    }

    /// The part of its origin that is kept.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// First addresses of its hot and cold code.
    pub(crate) fn code(&self) -> (u64, u64) {
        (self.hot.0, self.cold.0)
    }

    /// Number of its first exit.
    pub(crate) fn first_exit(&self) -> ExitId {
        self.exits.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Exit {
    site: ExitSite,
    /// Next in the target block's list of incoming exits.
    next_incoming: ExitId,
    linked: bool,
    /// True if it was taken once and not linked, because that takes a copy of code shared with another process.
    put_off: bool,
}

/// Code cache of one thread.
pub(crate) struct Cache {
    frame: Frame,
    stubs: Stubs,
    hot: Region,
    cold: Region,
    blocks: Vec<Block>,
    exits: Vec<Exit>,
    /// Living blocks, by address and mode.
    by_pc: HashTable<BlockId>,
    by_page: HashMap<u64, Vec<BlockId>, BuildHasherDefault<AddressHasher>>,
    link: bool,
    runs: Runs,
    /// Arrivals in modes that took cells for set which were not, by entry of the shared table.
    loose: Vec<u8>,
}

impl Cache {
    /// A cache for the thread whose context is at `context`, for annotated code too or not. `plain_calls` is the table, by
    /// system call number, of calls that translated code makes by itself, and `evaluator` the address of what computes the
    /// shadows of functions' results.
    pub(crate) fn new(
        context: u64,
        [plain_calls, evaluator]: [u64; 2],
        link: bool,
        annotates: bool,
    ) -> Result<Self, Exhausted> {
        let mut branch_tables = [0; TABLES];
        let served = |&n: &usize| n == 0 || annotates && !Mode::ISOLATED_TABLES.contains(&n);
        for n in (0..=SHARED_TABLE).filter(served) {
            branch_tables[n] = new_table(n)?;
        }
        let hot = Region::new()?;
        let cold = Region::new()?;
        let (frame, stubs, code) =
            stubs::build(context, branch_tables, cold.position, [plain_calls, evaluator]);
        let mut cache = Cache {
            frame,
            stubs,
            hot,
            cold,
            blocks: Vec::new(),
            exits: Vec::new(),
            by_pc: HashTable::new(),
            by_page: HashMap::default(),
            link,
            runs: Runs::new(),
            loose: vec![0; table_entries(SHARED_TABLE) as usize],
        };
        let start = cache.cold.position;
        cache.cold.store(start, code.code());
        cache.cold.position = stubs.end;
        cache.clear_tables();
        Ok(cache)
    }

    /// Has tables for isolated modes from now on, which many threads never need. Blocks made in them before must not have
    /// been.
    pub(crate) fn serve_isolated(&mut self) -> Result<(), Exhausted> {
        for n in Mode::ISOLATED_TABLES {
            if self.frame.branch_tables[n] == 0 {
                self.frame.branch_tables[n] = new_table(n)?;
                clear_table(&self.frame, n);
            }
        }
        Ok(())
    }

    pub(crate) fn frame(&self) -> Frame {
        self.frame
    }

    pub(crate) fn stubs(&self) -> &Stubs {
        &self.stubs
    }

    /// Blocks translated since the last flush.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes of code since the last flush.
    pub(crate) fn bytes(&self) -> u64 {
        self.hot.used() + self.cold.used()
    }

    pub(crate) fn find(&self, pc: u64, mode: Mode) -> Option<BlockId> {
        self.by_pc.find(hash(pc, mode), |&id| self.blocks[id as usize].is_at(pc, mode)).copied()
    }

    pub(crate) fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id as usize]
    }

    /// Meaning of exit `id`.
    pub(crate) fn exit_kind(&self, id: ExitId) -> ExitKind {
        self.exits[(id - FIRST_EXIT) as usize].site.kind
    }

    /// The mode translated code is in at exit `id`.
    pub(crate) fn exit_mode(&self, id: ExitId) -> Mode {
        self.exits[(id - FIRST_EXIT) as usize].site.mode
    }

    /// Place of the next block.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            hot: self.hot.position.next_multiple_of(ENTRY_ALIGNMENT) + ENTRY_ALIGNMENT
                - IB_ENTRY_BYTES % ENTRY_ALIGNMENT,
            cold: self.cold.position,
            first_exit: FIRST_EXIT + self.exits.len() as u32,
            runs: None,
        }
    }

    /// A new count of runs, for a block that is to exit as `ExitKind::Hot` when it has run `enough` times.
    pub(crate) fn count_runs(&mut self, enough: u32) -> Result<u64, Exhausted> {
        self.runs.take(enough)
    }

    /// Tells whether code emitted for [`Cache::placement`] fits there; if not, room is made at another place, for which
    /// it must be emitted again.
    pub(crate) fn make_room(&mut self, emitted: &Emitted) -> Result<bool, Exhausted> {
        let next = self.blocks.len() as BlockId;
        let hot = self.hot.ensure(emitted.hot.here(), emitted.hot.code().len(), next)?;
        let cold = self.cold.ensure(emitted.cold.here(), emitted.cold.code().len(), next)?;
        Ok(hot && cold)
    }

    /// Installs a block that was emitted for [`Cache::placement`] and fits. `pages` are the guest pages it was made
    /// from; `kept` is what it keeps of what was found there.
    pub(crate) fn install(
        &mut self,
        made_of: MadeOf,
        emitted: &Emitted,
        pages: &[u64],
        kept: Kept,
    ) -> BlockId {
        let id = self.blocks.len() as BlockId;
        self.hot.store(emitted.hot.base(), emitted.hot.code());
        self.cold.store(emitted.cold.base(), emitted.cold.code());
        self.hot.position = emitted.hot.here();
        self.cold.position = emitted.cold.here();
        let first = FIRST_EXIT + self.exits.len() as u32;
        let unlinked = |&site| Exit { site, next_incoming: NONE, linked: false, put_off: false };
        self.exits.extend(emitted.exits.iter().map(unlinked));
        self.blocks.push(Block {
            made_of,
            entry: emitted.entry,
            hot: (emitted.hot.base(), emitted.hot.here()),
            cold: (emitted.cold.base(), emitted.cold.here()),
            exits: (first, FIRST_EXIT + self.exits.len() as u32),
            incoming: NONE,
            alive: true,
            chained: Chained::No,
            misses: emitted.misses,
            kept,
        });
        self.enter_in_book(id);
        for &page in pages {
            self.by_page.entry(page).or_default().push(id);
        }
        self.link_to_existing(id);
        id
    }

    /// Notes an indirect branch to `pc` in `mode`, which shares its table and takes cells for set that are not. Says whether
    /// there have been so many that a block in that mode is worth while: to exit for a better one each time costs more.
    pub(crate) fn is_often_loose(&mut self, pc: u64, mode: Mode) -> bool {
        const OFTEN: u8 = 64;
        let count = &mut self.loose[table_index(SHARED_TABLE, pc, mode) as usize];
        *count = count.saturating_add(1);
        *count >= OFTEN
    }

    /// The block whose code contains host address `pc`.
    pub(crate) fn block_at(&self, pc: u64) -> Option<BlockId> {
        let hot = self.hot.blocks_around(pc, self.blocks.len()).map(|ids| (ids, true));
        let (ids, is_hot) = hot.or_else(|| Some((self.cold.blocks_around(pc, self.blocks.len())?, false)))?;
        let range = |block: &Block| if is_hot { block.hot } else { block.cold };
        let candidates = &self.blocks[ids.clone()];
        let index = candidates.partition_point(|block| range(block).1 <= pc);
        let found = candidates.get(index).filter(|block| range(block).0 <= pc);
        found.map(|_| (ids.start + index) as BlockId)
    }

    /// Tells whether host address `pc` is in the code that belongs to no block.
    pub(crate) fn is_stub(&self, pc: u64) -> bool {
        (self.cold.start()..self.stubs.end).contains(&pc)
    }

    /// Notes that from now on a forked process may have all code as well.
    pub(super) fn share(&mut self) {
        self.hot.share();
        self.cold.share();
    }

    /// Copies all code that another process may have as well, so that later changes of it take no memory; fails with an
    /// errno.
    pub(super) fn own(&mut self) -> Result<(), i32> {
        self.hot.own()?;
        self.cold.own()
    }

    /// Writes `bytes` into the code at `at`.
    fn store_code(&mut self, at: u64, bytes: &[u8]) {
        self.region(at).store(at, bytes);
    }

    /// The region that address `at` of its code lies in.
    fn region(&mut self, at: u64) -> &mut Region {
        if self.hot.contains(at) { &mut self.hot } else { &mut self.cold }
    }

    /// Forgets every block made from guest page `page`.
    pub(crate) fn invalidate_page(&mut self, page: u64) -> usize {
        let ids = self.by_page.remove(&page).unwrap_or_default();
        let dead = ids.len();
        ids.into_iter().for_each(|id| self.forget(id));
        dead
    }

    /// Forgets every block made from the guest pages that these addresses are in.
    pub(crate) fn forget_around(&mut self, addresses: impl IntoIterator<Item = u64>) {
        addresses.into_iter().for_each(|address| _ = self.invalidate_page(page_floor(address)));
    }

    /// Pages any block was made from.
    pub(crate) fn pages(&self) -> impl Iterator<Item = u64> {
        self.by_page.keys().copied()
    }

    /// Forgets all blocks and reuses their space. Only while the thread is outside translated code.
    pub(crate) fn flush(&mut self) {
        self.blocks.clear();
        self.exits.clear();
        self.runs.rewind();
        self.by_pc.clear();
        self.by_page.clear();
        self.hot.rewind(0);
        self.cold.rewind(self.stubs.end - self.cold.start());
        self.clear_tables();
    }

    /// Forgets a block, so that another takes its place.
    pub(crate) fn forget(&mut self, id: BlockId) {
        let block = &mut self.blocks[id as usize];
        if !std::mem::replace(&mut block.alive, false) {
            return;
        }
        let MadeOf { pc, mode, .. } = block.made_of;
        self.unlink(id);
        if let Ok(entry) = self.by_pc.find_entry(hash(pc, mode), |&other| other == id) {
            entry.remove();
        }
        self.leave_table(id);
    }

    /// Lets the block be found, in place of another of its address and mode.
    fn enter_in_book(&mut self, id: BlockId) {
        let MadeOf { pc, mode, .. } = self.blocks[id as usize].made_of;
        let blocks = &self.blocks;
        match self.by_pc.find_mut(hash(pc, mode), |&id| blocks[id as usize].is_at(pc, mode)) {
            Some(entry) => *entry = id,
            None => {
                let of_block = |&id: &BlockId| blocks[id as usize].hash();
                self.by_pc.insert_unique(hash(pc, mode), id, of_block);
            }
        }
    }

    fn clear_tables(&mut self) {
        let used = |&n: &usize| self.frame.branch_tables[n] != 0;
        (0..TABLES).filter(used).for_each(|n| clear_table(&self.frame, n));
    }
}

fn new_table(table: usize) -> Result<u64, Exhausted> {
    arena::take(4 * table_entries(table), libc::PROT_READ | libc::PROT_WRITE)
}

/// Has every branch through table `table` miss.
fn clear_table(frame: &Frame, table: usize) {
    let miss = (frame.ib_misses[table] as u32).to_le_bytes();
    let page: Vec<u8> = miss.iter().copied().cycle().take(4096).collect();
    for offset in (0..4 * table_entries(table)).step_by(page.len()) {
        store_data(frame.branch_tables[table] + offset, &page);
    }
}

/// Hash that a block is found by. User addresses leave the upper bits to the mode but for some.
fn hash(pc: u64, mode: Mode) -> u64 {
    BuildHasherDefault::<AddressHasher>::default()
        .hash_one(pc ^ u64::from(mode.bits()) << (u64::BITS - Mode::BITS))
}

/// Multiplicative hashing of addresses: their low bits are regular, the product's high ones are not.
#[derive(Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    fn write_u64(&mut self, value: u64) {
        // 2^64 / golden ratio; the rotation moves good bits to where hashbrown takes them from both ends.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}
