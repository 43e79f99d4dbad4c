//! Translation: discover, emit, install.
//!
//! The way back, from an address in the code cache to the guest's, is `locate`'s.

mod locate;

use super::arena::Exhausted;
use super::cache::{Cache, Kept, MadeOf};
use super::guest;
use super::layout::{PAGE, page_floor};
use super::region::BlockId;
use crate::context::Context;
use crate::x86::code::Placement;
use crate::x86::code_source::CodeSource;
use crate::x86::discover::{Hooks, Limits, is_comparable};
use crate::x86::emit::Emitter;
use crate::x86::insn::{Flow, Insn};
use crate::x86::mirror::{Mirror, Watched};
use crate::x86::mode::Mode;
use crate::x86::returns;
use crate::x86::rounding::format_of_sum;
use crate::x86::rows;
use crate::x86::superblock::{End, FloatFacts, Superblock};
use crate::x86::wholes::Whole;
use crate::x86::wholes::ahead::asked;
use hashbrown::HashMap;
use iced_x86::{EncodingKind, FlowControl, Instruction, OpKind};
use locate::Meaning;
pub(crate) use locate::RulePlace;
use shadowgrind_core::step::Sums;

/// Limits of blocks that compare their bytes: short and straight.
const COMPARED: Limits = Limits {
    instructions: 32,
    side_exits: 4,
    jumps: 0,
    call_depth: 0,
    back: None,
    hooks: Hooks::All,
    ends_at_stores: true,
};

/// A thread's translator; keeps its buffers from block to block.
pub(crate) struct Translator {
    block: Superblock,
    emitter: Emitter,
    limits: Limits,
    /// Runs after which a block is worth more effort.
    hot_after: u32,
    /// Guest instructions translated so far.
    pub(crate) instructions: u64,
    /// Kinds of the sums in blocks made so far, by address.
    sums: HashMap<u64, Sums>,
    /// Parts of floats that instructions of these blocks change, by address.
    wholes: HashMap<u64, Whole>,
    /// Instructions that have taken digits out of floats, by address: whether these are only asked about, as far as has been seen.
    takes_digits: HashMap<u64, bool>,
    /// Blocks that were translated again lately, the latest last.
    lately: Vec<Meaning>,
}

/// A block that is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) pc: u64,
    pub(crate) mode: Mode,
    /// True if it has to compare its guest bytes each time it runs.
    pub(crate) compare: bool,
    /// True if it has run often: calls are followed, and a return to where it would go now.
    pub(crate) hot: bool,
    /// True if the thread goes on there behind code of a block that it has left in the middle.
    pub(crate) onward: bool,
}

/// Reason why there is no block at a guest address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoBlock {
    /// No code space is left.
    Exhausted,
    /// The bytes there are no instruction.
    Invalid,
    /// Executable memory is missing at this address.
    Unmapped(u64),
    /// The guest uses registers, or parts of registers, that are taken or would not be kept.
    UpperRegisters,
}

impl From<Exhausted> for NoBlock {
    fn from(_: Exhausted) -> Self {
        NoBlock::Exhausted
    }
}

impl Translator {
    pub(crate) fn new(cache: &Cache, limits: Limits, hot_after: u32, mirror: Option<Mirror>) -> Self {
        let emitter = Emitter::new(cache.frame(), mirror);
        Translator {
            block: Superblock::new(),
            emitter,
            limits,
            hot_after,
            instructions: 0,
            sums: HashMap::new(),
            wholes: HashMap::new(),
            takes_digits: HashMap::new(),
            lately: Vec::new(),
        }
    }

    /// Annotator of annotated code.
    pub(crate) fn mirror(&self) -> Option<&Mirror> {
        self.emitter.mirror.as_ref()
    }

    /// Has the instruction at guest address `pc` annotated at length from now on ([`Mirror::mark_hot`]). The caller forgets the
    /// blocks that have it.
    pub(crate) fn mark_hot(&mut self, pc: u64, number: Option<u16>) {
        if let Some(mirror) = &mut self.emitter.mirror {
            mirror.mark_hot(pc, number);
        }
    }

    /// Watches the operation at guest address `pc` from now on as `watched` says ([`Mirror::watch`]). The caller forgets the
    /// blocks that have it.
    pub(crate) fn watch(&mut self, pc: u64, watched: Watched) {
        if let Some(mirror) = &mut self.emitter.mirror {
            mirror.watch(pc, watched);
        }
    }

    /// Takes the instruction at guest address `pc` to write no part of a float from now on ([`Mirror::writes_alone`]). The
    /// caller forgets the blocks that have it.
    pub(crate) fn writes_alone(&mut self, pc: u64) {
        if let Some(mirror) = &mut self.emitter.mirror {
            mirror.writes_alone(pc);
        }
    }

    /// Takes the instruction at guest address `pc` to change the upper half of a double from now on. The caller forgets the blocks that
    /// have it.
    pub(crate) fn changes_upper_half(&mut self, pc: u64) {
        self.wholes.insert(pc, Whole::Upper);
    }

    /// Has the instruction at guest address `pc` copy doubles byte by byte from now on ([`Mirror::copies_doubles`]). The caller forgets
    /// the blocks that have it. False if too many do.
    pub(crate) fn copies_doubles(&mut self, pc: u64) -> bool {
        self.emitter.mirror.as_mut().is_some_and(|mirror| mirror.copies_doubles(pc))
    }

    /// Number of an instruction that does.
    pub(crate) fn copier(&self, pc: u64) -> Option<usize> {
        self.mirror().and_then(|mirror| mirror.copier(pc))
    }

    /// Kind of sum that the instruction at guest address `pc` is, as far as was seen when its block was made last.
    pub(crate) fn sums(&self, pc: u64) -> Sums {
        self.sums.get(&pc).copied().unwrap_or_default()
    }

    /// Part of a float that the instruction at guest address `pc` changes, as far as was seen when its block was made last.
    pub(crate) fn whole(&self, pc: u64) -> Option<Whole> {
        self.wholes.get(&pc).copied()
    }

    /// Tells whether digits that `insn` takes out of floats are only asked about. Code made from it is to be made anew then, unless it is
    /// known to be [`Whole::Compared`]: the caller forgets the blocks that have it.
    pub(crate) fn only_asks(&mut self, insn: &Instruction) -> bool {
        if self.whole(insn.ip()) == Some(Whole::Compared) {
            return true;
        }
        let find = || asked::may_take_digits(insn) && asked::is_only_asked_about(insn, &guest::read_some);
        let known = self.takes_digits.entry(insn.ip());
        // Other code may have come to be where some was.
        *known.and_modify(|known| *known = *known && find()).or_insert_with(find)
    }

    /// Finds out what the instructions of the block just discovered mean for floats, with the help of what other blocks have told
    /// of them, and notes it. `onward` as for [`Wanted`].
    fn find_facts(&mut self, source: &mut dyn CodeSource, onward: bool) {
        self.block.find_facts(source);
        let Superblock { insns, facts: Some(facts), .. } = &mut self.block else { return };
        // A block that starts on the way of a float's end does not see where that was read, nor one in the midst of a float's parts
        // those that were written before.
        for insn in &*insns {
            let (pc, known) = (insn.pc(), self.wholes.get(&insn.pc()).copied());
            if let Some(known) = known.filter(|known| known.holds_for(&insn.decoded, onward)) {
                facts.wholes.retain(|&(at, _)| at != pc);
                facts.wholes.push((pc, known));
            }
        }
        for insn in insns.iter().filter(|insn| self.takes_digits.get(&insn.pc()) == Some(&true)) {
            let is_known = facts.wholes.iter().any(|&(at, _)| at == insn.pc());
            let takes_digits = !is_known && asked::may_take_digits(&insn.decoded);
            // Another program's code may be there now.
            if takes_digits && asked::is_only_asked_about(&insn.decoded, &guest::read_some) {
                facts.wholes.push((insn.pc(), Whole::Compared));
            }
        }
        // Nor does one that starts between a sum and its constants see that one of them is taken off again.
        let is_taken_off = |pc| self.sums.get(&pc) == Some(&Sums::TakenOff);
        for insn in
            insns.iter().filter(|insn| is_taken_off(insn.pc()) && format_of_sum(&insn.decoded).is_some())
        {
            facts.sums.retain(|&(at, _)| at != insn.pc());
            facts.sums.push((insn.pc(), Sums::TakenOff));
        }
        for insn in &*insns {
            self.sums.remove(&insn.pc());
            self.wholes.remove(&insn.pc());
        }
        self.sums.extend(&facts.sums);
        self.wholes.extend(&facts.wholes);
    }

    /// Tells whether the processor's MXCSR is not the guest's in code that may have rules.
    pub(crate) fn hides_mxcsr(&self) -> bool {
        self.emitter.hides_mxcsr()
    }

    /// Leaves all vector registers to the guest from now on. The caller forgets the code made so far.
    pub(crate) fn leave_upper_registers(&mut self) {
        if let Some(mirror) = &mut self.emitter.mirror {
            mirror.leave_upper_registers();
        }
    }

    /// Assumes, until [`Translator::end_alone`], that no other thread sees what is stored.
    pub(crate) fn begin_alone(&mut self) {
        if let Some(mirror) = &mut self.emitter.mirror {
            mirror.begin_alone();
        }
    }

    /// Assumes from now on that other threads see what is stored. Tells whether code made so far assumes that none does.
    pub(crate) fn end_alone(&mut self) -> bool {
        self.emitter.mirror.as_mut().is_some_and(Mirror::end_alone)
    }

    /// Translates the wanted superblock into `cache`; it is to run next, with the registers in `context`.
    pub(crate) fn translate(
        &mut self,
        cache: &mut Cache,
        source: &mut dyn CodeSource,
        context: &Context,
        wanted: Wanted,
    ) -> Result<BlockId, NoBlock> {
        let Wanted { pc, mode, compare, hot, onward } = wanted;
        let limits = self.limits(mode, compare, hot);
        self.block.discover(pc, limits, source);
        let back = if hot { self.back(context) } else { None };
        if back.is_some() {
            self.block.discover(pc, Limits { back, ..limits }, source);
        }
        if mode.is_annotated() {
            self.find_facts(source, onward);
        }
        match self.block.end {
            End::Invalid(at) if at == pc => return Err(NoBlock::Invalid),
            End::Unmapped { pc: at, address } if at == pc => return Err(NoBlock::Unmapped(address)),
            _ => {}
        }
        if self.mirror().is_some_and(Mirror::excludes_avx512)
            && self.block.insns.iter().any(|insn| uses_upper_registers(&insn.decoded))
        {
            return Err(NoBlock::UpperRegisters);
        }
        self.instructions += self.block.insns.len() as u64;
        let made_of = MadeOf { pc, mode, instructions: self.block.insns.len(), compare, hot, back, onward };
        Ok(self.install(cache, made_of, source.is_writable())?)
    }

    /// Makes a block of what another one was made of, in another mode; `kept` is what that one keeps of it.
    pub(crate) fn make(
        &mut self,
        cache: &mut Cache,
        source: &mut dyn CodeSource,
        made_of: MadeOf,
        kept: &Kept,
    ) -> Result<BlockId, Exhausted> {
        self.discover_again(source, &made_of, kept);
        self.install(cache, made_of, source.is_writable())
    }

    /// Emits the block just discovered into `cache`, which keeps what was discovered if the guest may write there.
    fn install(&mut self, cache: &mut Cache, made_of: MadeOf, writable: bool) -> Result<BlockId, Exhausted> {
        let MadeOf { mode, compare, .. } = made_of;
        if mode.may_settle() {
            cache.serve_isolated()?;
            self.emitter.frame = cache.frame();
        }
        let runs = if self.counts_runs(&made_of) { Some(cache.count_runs(self.hot_after)?) } else { None };
        loop {
            self.emitter.emit(&self.block, Placement { runs, ..cache.placement() }, mode, compare);
            if cache.make_room(&self.emitter.out)? {
                break;
            }
        }
        let pages = pages(&self.block);
        let kept = self.to_keep(writable);
        Ok(cache.install(made_of, &self.emitter.out, &pages, kept))
    }

    /// The part of the block just discovered that has to be kept; all of it where the guest may change its bytes.
    fn to_keep(&self, writable: bool) -> Kept {
        if writable {
            return Kept::Superblock(Box::new(self.block.clone()));
        }
        match &self.block.facts {
            Some(facts) if *facts != FloatFacts::default() => Kept::Facts(Box::new(facts.clone())),
            _ => Kept::Nothing,
        }
    }

    /// Addresses of the instructions in the block just translated that compute with floats.
    pub(crate) fn operations(&self) -> impl Iterator<Item = u64> + '_ {
        self.block.insns.iter().filter(|insn| rows::row(&insn.decoded).computes()).map(Insn::pc)
    }

    /// The return address that the block just discovered would take from the stack.
    fn back(&self, context: &Context) -> Option<u64> {
        let (register, distance) = returns::address_taken(&self.block.insns)?;
        let address = context.regs[register.number()].wrapping_add_signed(distance);
        guest::read(address).ok().filter(|&back| is_comparable(back))
    }

    /// Tells whether the block just discovered would gain by more effort, once it has proved worth it: only then are
    /// calls and returns followed, because code that runs once would be translated over and over.
    fn counts_runs(&self, &MadeOf { mode, compare, hot, .. }: &MadeOf) -> bool {
        let gains = self.block.insns.last().is_some_and(|insn| {
            let flow = insn.decoded.flow_control();
            insn.flow == Flow::Ends && matches!(flow, FlowControl::Call | FlowControl::Return)
        });
        gains && (mode.is_bare() || mode.is_annotated()) && !compare && !hot && self.limits.instructions > 1
    }

    fn limits(&self, mode: Mode, compare: bool, hot: bool) -> Limits {
        let limits = if compare {
            COMPARED
        } else if hot {
            let instructions = 4 * self.limits.instructions;
            Limits { instructions, side_exits: 24, jumps: 64, call_depth: 4, ..self.limits }
        } else {
            self.limits
        };
        let hooks = if mode.is_past_hook() { Hooks::AfterFirst } else { Hooks::All };
        match mode {
            m if m.is_out_of_line() => {
                Limits { instructions: 1, side_exits: 0, jumps: 0, hooks: Hooks::None, ..limits }
            }
            _ => Limits { hooks, ..limits },
        }
    }

    /// Discovers once more what a block was made of, unless it keeps that.
    fn discover_again(&mut self, source: &mut dyn CodeSource, made_of: &MadeOf, kept: &Kept) {
        let &MadeOf { pc, mode, instructions, compare, hot, back, .. } = made_of;
        if let Kept::Superblock(made_from) = kept {
            return self.block.clone_from(made_from);
        }
        let limits = self.limits(mode, compare, hot);
        // What ended before its first instruction, at a hook, is to end there again, and not at a limit of none.
        let instructions = instructions.max(1);
        self.block.discover(pc, Limits { instructions, back, ..limits }, source);
        self.block.facts = match kept {
            Kept::Facts(facts) => Some((**facts).clone()),
            _ => None,
        };
    }
}

/// Tells whether an instruction knows of what AVX-512 added: registers zmm16–31, upper halves of zmm0–15, mask
/// registers.
fn uses_upper_registers(insn: &Instruction) -> bool {
    let masks =
        || (0..insn.op_count()).any(|n| insn.op_kind(n) == OpKind::Register && insn.op_register(n).is_k());
    match insn.encoding() {
        EncodingKind::EVEX => true,
        EncodingKind::VEX => masks(),
        _ => false,
    }
}

fn pages(block: &Superblock) -> Vec<u64> {
    let mut pages: Vec<u64> = block
        .extents
        .iter()
        .flat_map(|&(start, end)| (page_floor(start)..end).step_by(PAGE as usize))
        .collect();
    pages.push(page_floor(block.start));
    pages.sort_unstable();
    pages.dedup();
    pages
}

#[cfg(test)]
mod tests;
