//! Facts about a shadow's rules that annotation asks for at every instruction: found once for each operation.
//!
//! To find them a rule is recorded from beginning to end, which costs more than an instruction's whole translation. The
//! tables are a process's; the first shadow to ask has them, which is the only one but in tests.

use super::template::{Node, Template};
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Facts about the rule of an operation on operands and shadows that are in places of their own, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts(u32);

/// The bit that says that the facts are known.
const THERE: u32 = 1;
const KNOWN: u32 = 1 << 1;
const READS_RESULT: u32 = 1 << 2;
/// The bit of the first operand.
const READS_OPERAND: u32 = 1 << 3;
/// The bit that says that products are better added unasked.
const SPECULATES: u32 = 1 << 6;
/// The bits above these are the number of live values.
const LIVE_AT: u32 = 16;

impl Facts {
    /// Facts of the rule that is `template`; `speculates`: products are better added unasked.
    pub(super) fn of(template: &Template, speculates: bool) -> Facts {
        let reads = |node, bit| if template.reads(node) { bit } else { 0 };
        let operands = (0..MAX_OPERANDS).map(|i| reads(Node::Operand(i as u8), READS_OPERAND << i));
        let known = if template.is_known() { KNOWN } else { 0 };
        let known = if speculates { known | SPECULATES } else { known };
        let bits = THERE | known | reads(Node::Result, READS_RESULT) | operands.sum::<u32>();
        Facts(bits | (template.most_live() as u32) << LIVE_AT)
    }

    /// Tells whether the rule takes arithmetic alone, for some operands at least.
    pub(super) const fn is_known(self) -> bool {
        self.0 & KNOWN != 0
    }

    /// Tells whether the rule reads the guest's result.
    pub(super) const fn reads_result(self) -> bool {
        self.0 & READS_RESULT != 0
    }

    /// Tells whether the rule reads operand `i`.
    pub(super) const fn reads_operand(self, i: usize) -> bool {
        self.0 & READS_OPERAND << i != 0
    }

    /// Tells whether the rule is shorter with products that are added unasked, and the question that it takes.
    pub(super) const fn speculates(self) -> bool {
        self.0 & SPECULATES != 0
    }

    /// The largest number of computed values that are read later, at any point of the rule.
    pub(super) const fn most_live(self) -> usize {
        (self.0 >> LIVE_AT) as usize
    }
}

/// Facts of one kind of rule by operation; zero where they have not been asked for.
#[derive(Debug)]
pub(super) struct Table {
    /// The function that makes the rules, as an address; zero before the first.
    owner: AtomicUsize,
    facts: [AtomicU32; Op::ALL.len()],
}

impl Table {
    pub(super) const fn new() -> Table {
        Table { owner: AtomicUsize::new(0), facts: [const { AtomicU32::new(0) }; Op::ALL.len()] }
    }

    /// The facts of `op`, which `find` finds; `maker` is the address of the function that makes its rule.
    pub(super) fn get(&self, maker: usize, op: Op, find: impl FnOnce() -> Facts) -> Facts {
        let owner = self.owner.compare_exchange(0, maker, Ordering::Relaxed, Ordering::Relaxed);
        if owner.is_err_and(|owner| owner != maker) {
            return find();
        }
        let entry = &self.facts[op as usize];
        match entry.load(Ordering::Relaxed) {
            0 => {
                let facts = find();
                entry.store(facts.0, Ordering::Relaxed);
                facts
            }
            there => Facts(there),
        }
    }
}
