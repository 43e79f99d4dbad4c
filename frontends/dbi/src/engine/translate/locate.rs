//! The way back: from an address in the code cache to the guest's, found by translating its block again.
//!
//! Which block has the address is for the cache to say.

use super::Translator;
use crate::engine::cache::{Cache, MadeOf};
use crate::engine::region::BlockId;
use crate::x86::code::{MapEntry, Placement, RuleCode, Spilled};
use crate::x86::code_source::CodeSource;
use crate::x86::insn::Insn;
use crate::x86::mode::Mode;

/// Blocks that were translated again lately. A storm of signals interrupts the same one, and its isolated version, over and
/// over; to translate them each time takes as long as until the next signal.
const LATELY: usize = 4;

/// Meaning of the code of block `id`, learnt by translating it again.
pub(super) struct Meaning {
    id: BlockId,
    insns: Vec<Insn>,
    map: Vec<MapEntry>,
    rules: Vec<RuleCode>,
}

/// A place in a rule's code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RulePlace {
    /// The number of the rule in its block.
    pub(crate) number: usize,
    /// Bytes from the rule's start.
    pub(crate) offset: u64,
}

/// Meaning of an address in translated code.
pub(crate) struct Located {
    /// The guest instruction.
    pub(crate) insn: Insn,
    /// Guest registers that are in context slots at that point.
    pub(crate) spilled: Spilled,
    /// The mode at that point.
    pub(crate) mode: Mode,
}

impl Translator {
    /// Tells whether host address `pc`, inside block `id`, is where a guest instruction begins.
    pub(crate) fn is_boundary(
        &mut self,
        cache: &Cache,
        source: &mut dyn CodeSource,
        id: BlockId,
        pc: u64,
    ) -> bool {
        let map = &self.meaning(cache, source, id).map;
        map.iter().any(|entry| entry.host == pc && entry.begins)
    }

    /// The guest instruction that host address `pc`, inside block `id`, belongs to: found by translating the block
    /// again, which is a pure function of bytes, address and limits. Of bytes that the guest may write, the block keeps what
    /// it was made from.
    pub(crate) fn locate(
        &mut self,
        cache: &Cache,
        source: &mut dyn CodeSource,
        id: BlockId,
        pc: u64,
    ) -> Option<Located> {
        let Meaning { insns, map, .. } = self.meaning(cache, source, id);
        let after = map.partition_point(|entry| entry.host <= pc);
        let entry = map.get(after.checked_sub(1)?)?;
        let insn = *insns.get(entry.insn)?;
        Some(Located { insn, spilled: entry.spilled, mode: entry.mode })
    }

    /// The place in a rule of block `id` that host address `pc` is.
    pub(crate) fn rule_at(
        &mut self,
        cache: &Cache,
        source: &mut dyn CodeSource,
        id: BlockId,
        pc: u64,
    ) -> Option<RulePlace> {
        let rules = &self.meaning(cache, source, id).rules;
        let number = rules.iter().position(|rule| (rule.start..rule.end).contains(&pc))?;
        Some(RulePlace { number, offset: pc - rules[number].start })
    }

    /// Rule `number` of block `id`.
    pub(crate) fn rule(
        &mut self,
        cache: &Cache,
        source: &mut dyn CodeSource,
        id: BlockId,
        number: usize,
    ) -> Option<RuleCode> {
        self.meaning(cache, source, id).rules.get(number).copied()
    }

    /// Forgets all meanings: the blocks have gone, and their numbers are given to others.
    pub(crate) fn forget(&mut self) {
        self.lately.clear();
    }

    /// The meaning of block `id`.
    fn meaning(&mut self, cache: &Cache, source: &mut dyn CodeSource, id: BlockId) -> &Meaning {
        let at = self.lately.iter().position(|meaning| meaning.id == id).unwrap_or_else(|| {
            self.emit_again(cache, source, id);
            if self.lately.len() == LATELY {
                self.lately.remove(0);
            }
            let (insns, out) = (self.block.insns.clone(), &self.emitter.out);
            self.lately.push(Meaning { id, insns, map: out.map.clone(), rules: out.rules.clone() });
            self.lately.len() - 1
        });
        &self.lately[at]
    }

    /// Emits block `id` once more, to where it is.
    fn emit_again(&mut self, cache: &Cache, source: &mut dyn CodeSource, id: BlockId) {
        let block = cache.block(id);
        let MadeOf { mode, compare, .. } = block.made_of;
        self.discover_again(source, &block.made_of, block.kept());
        // Where the count is makes no difference to where instructions are.
        let runs = self.counts_runs(&block.made_of).then(|| cache.frame().context);
        let (hot, cold) = block.code();
        self.emitter.emit(
            &self.block,
            Placement { hot, cold, first_exit: block.first_exit(), runs },
            mode,
            compare,
        );
    }
}
