//! A thread's code cache: translated blocks, where they are, how they are linked, and how they are found.
//!
//! Private to one guest thread, so nothing here is locked and code is patched only by the thread that runs it. Knows
//! code as bytes with exits; making them is the translator's work.

use super::arena::{self, Exhausted};
use crate::context::Context;
use crate::tools::evaluate::evaluate;
use crate::x86::asm::{Asm, R11, RAX, RCX, RDI};
use crate::x86::emit::{self, Emitted, ExitKind, ExitSite, Frame, Placement, Slot, TABLE_LOAD_BYTES};
use crate::x86::function;
use crate::x86::mode::{Mode, TABLES};
use hashbrown::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Index of a [`Block`] in its cache.
pub(crate) type BlockId = u32;

/// Index of an [`Exit`] in its cache; below [`FIRST_EXIT`] are the exits that belong to no block.
pub(crate) type ExitId = u32;

/// An indirect branch missed the first branch table.
pub(crate) const EXIT_IB_MISS: ExitId = 1;
/// An indirect branch missed the second branch table.
pub(crate) const EXIT_IB_MISS_CELLS: ExitId = 5;
/// An indirect branch missed the third branch table.
pub(crate) const EXIT_IB_MISS_WRAPPED: ExitId = 6;
/// A function that runs as one operation has returned to `Context::ib_target`.
pub(crate) const EXIT_FUNCTION_RETURNED: ExitId = 7;
/// A system call the engine must see, or a request seen before one.
pub(crate) const EXIT_SYSCALL: ExitId = 2;
/// A fault, described in `Context::fault`.
pub(crate) const EXIT_FAULT: ExitId = 3;
/// A request seen after a system call was made.
pub(crate) const EXIT_AFTER_SYSCALL: ExitId = 4;
/// Number of the first exit that belongs to a block.
pub(crate) const FIRST_EXIT: ExitId = 16;

/// What blocks are found by. Guest addresses are below 2^44; where there can be no code, there is no key.
fn key(pc: u64, mode: Mode) -> Option<u64> {
    const PC_BITS: u32 = 44;
    const { assert!(super::layout::GUEST_END == 1 << PC_BITS && PC_BITS + Mode::BITS <= u64::BITS) }
    (pc < super::layout::GUEST_END).then_some(pc | u64::from(mode.bits()) << PC_BITS)
}

const NONE: u32 = u32::MAX;
const TABLE_ENTRIES: usize = 1 << 16;
const FIRST_CHUNK: u64 = 64 << 10;
const LARGEST_CHUNK: u64 = 8 << 20;

/// What a block was made of; enough to make it again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeOf {
    /// Guest address.
    pub(crate) pc: u64,
    /// What its code takes for granted.
    pub(crate) mode: Mode,
    /// Number of guest instructions.
    pub(crate) instructions: usize,
    /// Whether it compares its guest bytes each time it runs.
    pub(crate) compare: bool,
    /// Whether it has proved worth more effort.
    pub(crate) hot: bool,
}

/// A translated superblock.
#[derive(Clone, Debug)]
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
}

impl Block {
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
}

/// Code space in chunks, filled upwards one after the other.
struct Region {
    chunks: Vec<(u64, u64)>,
    /// For each chunk in use, the first block installed in it.
    first_blocks: Vec<BlockId>,
    position: u64,
}

/// See the module's description.
pub(crate) struct Cache {
    frame: Frame,
    stubs: Stubs,
    hot: Region,
    cold: Region,
    blocks: Vec<Block>,
    exits: Vec<Exit>,
    by_pc: HashMap<u64, BlockId, BuildHasherDefault<AddressHasher>>,
    by_page: HashMap<u64, Vec<BlockId>, BuildHasherDefault<AddressHasher>>,
    link: bool,
    runs: Runs,
}

/// Code at the head of a cache that belongs to no block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stubs {
    /// Loads rdi from the context and jumps to `Context::entry`.
    pub(crate) enter: u64,
    /// Leaves as [`EXIT_FAULT`], all registers being the guest's.
    pub(crate) fault: u64,
    /// A system call before the kernel has acted: this range rewinds to `syscall_slow`.
    pub(crate) syscall_before: (u64, u64),
    /// A system call after the kernel has acted: this range goes on at `syscall_after_slow`.
    pub(crate) syscall_after: (u64, u64),
    /// On to where a function returns: this range begins again.
    pub(crate) function_done: (u64, u64),
    /// Leaves as [`EXIT_SYSCALL`].
    pub(crate) syscall_slow: u64,
    /// Leaves as [`EXIT_AFTER_SYSCALL`].
    pub(crate) syscall_after_slow: u64,
    end: u64,
}

impl Stubs {
    /// The range of the entering stub: interrupted there, a thread is not in its block yet.
    pub(crate) fn entering(&self) -> (u64, u64) {
        (self.enter, self.fault)
    }
}

impl Cache {
    /// A cache for the thread whose context is at `context`. `plain_calls` is the table, by system call number, of
    /// calls that translated code makes by itself.
    pub(crate) fn new(context: u64, plain_calls: u64, link: bool) -> Result<Self, Exhausted> {
        const RWX: i32 = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let table = || arena::take(4 * TABLE_ENTRIES as u64, libc::PROT_READ | libc::PROT_WRITE);
        let branch_tables = [table()?, table()?, table()?];
        let hot = Region::new(arena::take(FIRST_CHUNK, RWX)?);
        let cold = Region::new(arena::take(FIRST_CHUNK, RWX)?);
        let (frame, stubs, code) = build_stubs(context, branch_tables, cold.position, plain_calls);
        let mut cache = Cache {
            frame,
            stubs,
            hot,
            cold,
            blocks: Vec::new(),
            exits: Vec::new(),
            by_pc: HashMap::default(),
            by_page: HashMap::default(),
            link,
            runs: Runs::new(),
        };
        store_code(cache.cold.position, code.code());
        cache.cold.position = stubs.end;
        cache.clear_tables();
        Ok(cache)
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
        self.by_pc.get(&key(pc, mode)?).copied()
    }

    pub(crate) fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id as usize]
    }

    /// What exit `id` means.
    pub(crate) fn exit_kind(&self, id: ExitId) -> ExitKind {
        self.exits[(id - FIRST_EXIT) as usize].site.kind
    }

    /// The mode translated code is in when it leaves by exit `id`.
    pub(crate) fn exit_mode(&self, id: ExitId) -> Mode {
        self.exits[(id - FIRST_EXIT) as usize].site.mode
    }

    /// Where the next block will be placed.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            hot: self.hot.position.next_multiple_of(16),
            cold: self.cold.position,
            first_exit: FIRST_EXIT + self.exits.len() as u32,
            runs: None,
        }
    }

    /// A new count of runs, for a block that is to leave as `ExitKind::Hot` when it has run `enough` times.
    pub(crate) fn count_runs(&mut self, enough: u32) -> Result<u64, Exhausted> {
        self.runs.take(enough)
    }

    /// Whether code emitted for [`Cache::placement`] fits there; if not, room is made at another place, for which it
    /// must be emitted again.
    pub(crate) fn make_room(&mut self, emitted: &Emitted) -> Result<bool, Exhausted> {
        let next = self.blocks.len() as BlockId;
        let hot = self.hot.ensure(emitted.hot.here(), emitted.hot.code().len(), next)?;
        let cold = self.cold.ensure(emitted.cold.here(), emitted.cold.code().len(), next)?;
        Ok(hot && cold)
    }

    /// Installs a block that was emitted for [`Cache::placement`] and fits. `pages` are the guest pages it was made
    /// from.
    pub(crate) fn install(&mut self, made_of: MadeOf, emitted: &Emitted, pages: &[u64]) -> BlockId {
        let id = self.blocks.len() as BlockId;
        store_code(emitted.hot.base(), emitted.hot.code());
        store_code(emitted.cold.base(), emitted.cold.code());
        self.hot.position = emitted.hot.here();
        self.cold.position = emitted.cold.here();
        let first = FIRST_EXIT + self.exits.len() as u32;
        let unlinked = |&site| Exit { site, next_incoming: NONE, linked: false };
        self.exits.extend(emitted.exits.iter().map(unlinked));
        self.blocks.push(Block {
            made_of,
            entry: emitted.entry,
            hot: (emitted.hot.base(), emitted.hot.here()),
            cold: (emitted.cold.base(), emitted.cold.here()),
            exits: (first, FIRST_EXIT + self.exits.len() as u32),
            incoming: NONE,
            alive: true,
        });
        if let Some(key) = key(made_of.pc, made_of.mode) {
            self.by_pc.insert(key, id);
        }
        for &page in pages {
            self.by_page.entry(page).or_default().push(id);
        }
        self.link_to_existing(id);
        id
    }

    /// Links the exit, which must be a `Jump`, to the block at its target.
    pub(crate) fn link(&mut self, exit: ExitId, target: BlockId) {
        if !self.link {
            return;
        }
        let entry = self.blocks[target as usize].entry;
        let slot = &mut self.exits[(exit - FIRST_EXIT) as usize];
        if !slot.linked {
            slot.linked = true;
            slot.next_incoming = self.blocks[target as usize].incoming;
            self.blocks[target as usize].incoming = exit;
        }
        patch_rel32(slot.site.patch, entry);
    }

    /// Lets indirect branches to the block's address find it.
    pub(crate) fn enter_in_table(&mut self, target: BlockId) {
        let block = &self.blocks[target as usize];
        if let Some(table) = block.made_of.mode.table().filter(|_| self.link) {
            // The check of arrivals stands at the block's very start.
            self.set_table(table, block.made_of.pc, block.hot.0);
        }
    }

    /// Makes the block that contains host address `pc` leave to the engine at its next exit. Called by the signal
    /// handler while this thread is inside translated code. Returns the address to resume at.
    pub(crate) fn divert(&mut self, pc: u64) -> u64 {
        let Some(id) = self.block_at(pc) else { return pc };
        let (first, last) = self.blocks[id as usize].exits;
        for number in first..last {
            let site = self.exits[(number - FIRST_EXIT) as usize].site;
            match site.kind {
                ExitKind::Jump(..) => patch_rel32(site.patch, site.stub),
                ExitKind::Indirect => {
                    let miss = self.frame.ib_misses[site.mode.table().unwrap_or(0)];
                    if pc == site.patch + TABLE_LOAD_BYTES {
                        return miss;
                    }
                    divert_table_load(site.patch, miss);
                }
                _ => {}
            }
        }
        pc
    }

    /// Takes back [`Cache::divert`] for the block that contains host address `pc`.
    pub(crate) fn undo_divert(&mut self, pc: u64) {
        let Some(id) = self.block_at(pc) else { return };
        let (first, last) = self.blocks[id as usize].exits;
        for number in first..last {
            let exit = self.exits[(number - FIRST_EXIT) as usize];
            match exit.site.kind {
                ExitKind::Jump(target, mode) if exit.linked => {
                    if let Some(block) = self.find(target, mode) {
                        patch_rel32(exit.site.patch, self.blocks[block as usize].entry);
                    }
                }
                ExitKind::Indirect => {
                    let table = exit.site.mode.table().unwrap_or(0);
                    store_code(exit.site.patch, &emit::table_load(&self.frame, table));
                }
                _ => {}
            }
        }
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

    /// Whether host address `pc` is in this cache's code space.
    pub(crate) fn contains(&self, pc: u64) -> bool {
        self.hot.contains(pc) || self.cold.contains(pc)
    }

    /// Whether host address `pc` is in the code that belongs to no block.
    pub(crate) fn is_stub(&self, pc: u64) -> bool {
        (self.cold.chunks[0].0..self.stubs.end).contains(&pc)
    }

    /// Forgets every block made from guest page `page`.
    pub(crate) fn invalidate_page(&mut self, page: u64) -> usize {
        let ids = self.by_page.remove(&page).unwrap_or_default();
        let dead = ids.len();
        ids.into_iter().for_each(|id| self.forget(id));
        dead
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
        self.cold.rewind(self.stubs.end - self.cold.chunks[0].0);
        self.clear_tables();
    }

    /// Forgets a block, so that another takes its place.
    pub(crate) fn forget(&mut self, id: BlockId) {
        let block = &mut self.blocks[id as usize];
        if !std::mem::replace(&mut block.alive, false) {
            return;
        }
        let (MadeOf { pc, mode, .. }, check) = (block.made_of, block.hot.0);
        let mut exit = std::mem::replace(&mut block.incoming, NONE);
        while exit != NONE {
            let slot = &mut self.exits[(exit - FIRST_EXIT) as usize];
            patch_rel32(slot.site.patch, slot.site.stub);
            slot.linked = false;
            exit = std::mem::replace(&mut slot.next_incoming, NONE);
        }
        if let Some(key) = key(pc, mode)
            && self.by_pc.get(&key) == Some(&id)
        {
            self.by_pc.remove(&key);
        }
        let Some(table) = mode.table() else { return };
        if table_get(self.frame.branch_tables[table], pc) == check {
            self.set_table(table, pc, self.frame.ib_misses[table]);
        }
    }

    fn link_to_existing(&mut self, id: BlockId) {
        let (first, last) = self.blocks[id as usize].exits;
        for number in first..last {
            if let ExitKind::Jump(target, mode) = self.exit_kind(number)
                && let Some(block) = self.find(target, mode)
            {
                self.link(number, block);
            }
        }
    }

    fn set_table(&mut self, table: usize, pc: u64, code: u64) {
        let at = self.frame.branch_tables[table] + 4 * (pc & 0xffff);
        store_code(at, &(code as u32).to_le_bytes());
    }

    fn clear_tables(&mut self) {
        for (table, miss) in self.frame.branch_tables.into_iter().zip(self.frame.ib_misses) {
            let miss = (miss as u32).to_le_bytes();
            let page: Vec<u8> = miss.iter().copied().cycle().take(4096).collect();
            for offset in (0..4 * TABLE_ENTRIES as u64).step_by(page.len()) {
                store_code(table + offset, &page);
            }
        }
    }
}

/// Counts of runs, one word each: in memory of their own, because writing next to code is slow.
struct Runs {
    chunks: Vec<u64>,
    used: usize,
}

impl Runs {
    const CHUNK_WORDS: usize = 4096;

    fn new() -> Self {
        Runs { chunks: Vec::new(), used: 0 }
    }

    fn take(&mut self, enough: u32) -> Result<u64, Exhausted> {
        let (chunk, word) = (self.used / Self::CHUNK_WORDS, self.used % Self::CHUNK_WORDS);
        if chunk == self.chunks.len() {
            let bytes = 8 * Self::CHUNK_WORDS as u64;
            self.chunks.push(arena::take(bytes, libc::PROT_READ | libc::PROT_WRITE)?);
        }
        self.used += 1;
        let at = self.chunks[chunk] + 8 * word as u64;
        store_code(at, &u64::from(enough).to_le_bytes());
        Ok(at)
    }

    fn rewind(&mut self) {
        self.used = 0;
    }
}

impl Region {
    fn new(chunk: u64) -> Self {
        Region { chunks: vec![(chunk, chunk + FIRST_CHUNK)], first_blocks: vec![0], position: chunk }
    }

    fn current(&self) -> (u64, u64) {
        self.chunks[self.first_blocks.len() - 1]
    }

    /// Whether `len` bytes that end at `end` lie in the current chunk; if not, moves on to a chunk with room, which
    /// block `next` will be the first in.
    fn ensure(&mut self, end: u64, len: usize, next: BlockId) -> Result<bool, Exhausted> {
        const ALIGNMENT_SLACK: u64 = 64;
        if end <= self.current().1 {
            return Ok(true);
        }
        let need = len as u64 + ALIGNMENT_SLACK;
        loop {
            if self.first_blocks.len() == self.chunks.len() {
                let (start, end) = self.current();
                let size = (2 * (end - start)).min(LARGEST_CHUNK).max(need.next_power_of_two());
                let chunk = arena::take(size, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
                self.chunks.push((chunk, chunk + size));
            }
            self.first_blocks.push(next);
            let (start, end) = self.current();
            self.position = start;
            if end - start >= need {
                return Ok(false);
            }
        }
    }

    fn used(&self) -> u64 {
        let full: u64 =
            self.chunks[..self.first_blocks.len() - 1].iter().map(|(start, end)| end - start).sum();
        full + self.position - self.current().0
    }

    /// Starts over, keeping the first `keep` bytes of the first chunk.
    fn rewind(&mut self, keep: u64) {
        self.first_blocks.truncate(1);
        self.position = self.chunks[0].0 + keep;
    }

    fn contains(&self, pc: u64) -> bool {
        self.chunk_of(pc).is_some()
    }

    fn chunk_of(&self, pc: u64) -> Option<usize> {
        self.chunks.iter().position(|&(start, end)| start <= pc && pc < end)
    }

    /// The blocks in the chunk that contains `pc`; they are in ascending order of address.
    fn blocks_around(&self, pc: u64, block_count: usize) -> Option<std::ops::Range<usize>> {
        let chunk = self.chunk_of(pc)?;
        let first = *self.first_blocks.get(chunk)? as usize;
        let last = self.first_blocks.get(chunk + 1).map_or(block_count, |&id| id as usize);
        Some(first..last)
    }
}

/// The thread's fixed stubs, to be placed at `at`.
fn build_stubs(context: u64, branch_tables: [u64; TABLES], at: u64, plain_calls: u64) -> (Frame, Stubs, Asm) {
    let mut code = Asm::new(at);
    let mut frame = Frame {
        context,
        branch_tables,
        exit: at,
        ib_misses: [0; TABLES],
        syscall: 0,
        function_returned: 0,
        function_left: 0,
        function_done: 0,
        evaluate: 0,
    };
    let field = |offset: u32| context + u64::from(offset);
    let leave = |code: &mut Asm, exit: ExitId| {
        code.store(field(Context::OFFSET_RAX), RAX);
        code.mov_imm(RAX, u64::from(exit));
        code.jmp(at);
    };

    // Common exit, rax stored, eax = exit number: on to the switch routine with rdi = context.
    code.store(field(Context::OFFSET_EXIT), RAX);
    code.store(field(Context::OFFSET_RDI), RDI);
    code.mov_imm(RDI, context);
    code.mov_imm(RAX, super::switch::exit_routine());
    code.raw(&[0xff, 0xe0]);

    for (miss, exit) in
        frame.ib_misses.iter_mut().zip([EXIT_IB_MISS, EXIT_IB_MISS_CELLS, EXIT_IB_MISS_WRAPPED])
    {
        *miss = code.here();
        code.store(field(Context::OFFSET_IB_TARGET), RCX);
        code.load(RCX, field(Context::OFFSET_SLOTS + 8 * Slot::Rcx as u32));
        code.load(RAX, field(Context::OFFSET_SLOTS + 8 * Slot::Rax as u32));
        leave(&mut code, exit);
    }

    let enter = code.here();
    code.load(RDI, field(Context::OFFSET_RDI));
    code.jmp_slot(field(Context::OFFSET_ENTRY));

    let fault = code.here();
    leave(&mut code, EXIT_FAULT);
    let syscall_slow = code.here();
    leave(&mut code, EXIT_SYSCALL);
    let syscall_after_slow = code.here();
    leave(&mut code, EXIT_AFTER_SYSCALL);

    frame.function_returned = code.here();
    code.store(field(Context::OFFSET_IB_TARGET), RCX);
    frame.function_left = code.here();
    code.load(RCX, frame.slot(Slot::Rcx));
    leave(&mut code, EXIT_FUNCTION_RETURNED);
    frame.evaluate = code.here();
    function::emit_evaluate(&mut code, &frame, evaluate as *const () as u64);
    frame.function_done = code.here();
    function::emit_done(&mut code, &frame);
    let function_done = (frame.function_done, code.here());

    frame.syscall = code.here();
    let after = emit_syscall(&mut code, &field, plain_calls, syscall_slow, syscall_after_slow);
    let stubs = Stubs {
        enter,
        fault,
        syscall_before: (frame.syscall, after),
        syscall_after: (after, code.here()),
        function_done,
        syscall_slow,
        syscall_after_slow,
        end: code.here(),
    };
    (frame, stubs, code)
}

/// The system call path of translated code: ecx = guest address after the call, r11 = code to resume at. Returns the
/// address just after the `syscall` instruction.
fn emit_syscall(
    code: &mut Asm,
    field: &dyn Fn(u32) -> u64,
    plain_calls: u64,
    slow: u64,
    after_slow: u64,
) -> u64 {
    const JMP_BYTES: u8 = 5;
    const SHORT_JMP_BYTES: u8 = 2;
    let unless_rcx_zero_else = |code: &mut Asm, target: u64| {
        // jrcxz to the far jump, else over it.
        code.jrcxz_over(SHORT_JMP_BYTES);
        code.raw(&[0xeb, JMP_BYTES]);
        code.jmp(target);
    };
    code.store(field(Context::OFFSET_SYSCALL_NUMBER), RAX);
    code.store(field(Context::OFFSET_SYSCALL_NEXT), RCX);
    code.store(field(Context::OFFSET_SYSCALL_RESUME), R11);
    // movzx ecx, ax; movzx ecx, byte ptr [rcx + plain_calls]
    code.raw(&[0x0f, 0xb7, 0xc8]);
    code.raw(&[0x0f, 0xb6, 0x89]);
    code.imm32(i32::try_from(plain_calls).expect("call table below 2^31"));
    unless_rcx_zero_else(code, slow);
    code.store_imm32(field(Context::OFFSET_PLACE), crate::context::place::SYSCALL as i32);
    code.load32(RCX, field(Context::OFFSET_QUIET));
    unless_rcx_zero_else(code, slow);
    code.raw(&[0x0f, 0x05]);
    let after = code.here();
    code.store_imm32(field(Context::OFFSET_PLACE), crate::context::place::CACHE as i32);
    code.load32(RCX, field(Context::OFFSET_QUIET));
    unless_rcx_zero_else(code, after_slow);
    code.load(RCX, field(Context::OFFSET_SYSCALL_NEXT));
    code.jmp_slot(field(Context::OFFSET_SYSCALL_RESUME));
    after
}

/// Writes bytes into this thread's own code space or table.
fn store_code(at: u64, bytes: &[u8]) {
    // SAFETY: every caller passes an address inside chunks or tables that this cache took from the arena, which
    // nobody else writes; Rust holds no reference into them.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}

fn patch_rel32(at: u64, target: u64) {
    let distance = target.wrapping_sub(at + 4) as i64;
    store_code(at, &i32::try_from(distance).expect("code within 2 GB of itself").to_le_bytes());
}

/// Replaces the load of a table jump by a jump to the miss stub.
fn divert_table_load(at: u64, miss: u64) {
    store_code(at, &[0xe9]);
    patch_rel32(at + 1, miss);
}

fn table_get(table: u64, pc: u64) -> u64 {
    let entry = (table + 4 * (pc & 0xffff)) as *const u32;
    // SAFETY: the table has 2^16 entries and belongs to this thread.
    u64::from(unsafe { entry.read() })
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
