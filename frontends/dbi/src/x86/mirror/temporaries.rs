//! Temporaries: the vector registers that annotations compute in.
//!
//! With AVX-512 they are the upper registers that hold no shadow, two at least. Without, they are guest registers that the
//! present instruction does not use, *spilled* to the context: such a register is stored once, serves as long as the
//! guest does not need it, and is loaded again before an instruction that names it, and on every way out of the block.
//! Which registers are spilled is noted with the code (`Spilled`), so that a fault finds the guest's values.
//!
//! Such a register *holds* the shadow of a guest register once that was computed in it, or loaded whole. What was computed
//! is *unsaved*: it goes to memory when the register is wanted for something else, and on every way out of the block,
//! but not where the shadow is computed anew before. Which shadows are unsaved is noted with the code as well.
//!
//! A register is spilled, and put back, with its low 32 bytes, which is all it has without AVX-512, or in a narrow
//! block the low 16; a guest that uses AVX-512 itself leaves no upper register to us, and has its registers spilled
//! whole.

mod emitted;

use crate::context::SPILL_SLOTS;
use crate::x86::code::SpilledVector;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::Row;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpAccess};

/// Upper vector registers that never hold a shadow: the first temporaries with AVX-512.
pub(super) const UPPER: [u8; 2] = [31, 30];

/// Bytes of a shadow register, or of a spilled register, without AVX-512.
const YMM_BYTES: u8 = 32;

/// The extent of a shadow of which nothing is known.
const WHOLE: u8 = 64;

/// Vector registers that annotations may compute in, and what is in them.
#[derive(Debug, Default)]
pub(super) struct ScratchAllocator {
    /// Register that each place of [`Context::spills`] holds.
    spilled: [Option<SpilledVector>; SPILL_SLOTS],
    /// Vector registers that each instruction of the block uses, as masks.
    used: Vec<u16>,
    /// The present instruction.
    index: usize,
    /// The temporaries so far.
    picked: Vec<u8>,
    /// Registers that each instruction writes without reading them.
    replaced: Vec<u16>,
    /// For each guest vector register, the spilled register that holds its shadow.
    held: [Option<u8>; 16],
    /// Guest registers whose shadow is where it is held and not in memory, as a mask.
    unsaved: u16,
    /// For each guest register, the number of bytes beyond which its shadow is zero.
    extent: [u8; 16],
    /// Registers that the present instruction's annotation reads, as a mask.
    pinned: u16,
    /// Index of the last instruction of the loop's turn, and guest registers whose shadows a turn hands to the next, as a
    /// mask.
    turn: Option<(usize, u16)>,
}

impl ScratchAllocator {
    /// Looks at which registers the instructions of `block` use.
    pub(super) fn analyse(&mut self, block: &Superblock, facts: &mut InstructionInfoFactory) {
        self.spilled = [None; SPILL_SLOTS];
        self.used.clear();
        self.replaced.clear();
        for insn in &block.insns {
            let (used, replaced) = uses(&insn.decoded, facts);
            self.used.push(used);
            self.replaced.push(replaced);
        }
        self.index = 0;
        self.picked.clear();
        self.held = [None; 16];
        self.unsaved = 0;
        self.extent = [WHOLE; 16];
        self.pinned = 0;
        self.turn = None;
    }

    /// Registers that no instruction up to that of index `last` uses.
    pub(super) fn unused_up_to(&self, last: usize) -> Vec<u8> {
        let used = self.used[..=last].iter().fold(0, |mask, used| mask | used);
        (0..16).rev().filter(|n| used >> n & 1 == 0).collect()
    }

    /// A turn, which ends with the instruction of index `last`, hands the shadows of these guest registers to the next.
    pub(super) fn begin_turn(&mut self, last: usize, carried: &[u8]) {
        let mask = carried.iter().fold(0, |mask, n| mask | 1 << n);
        self.turn = Some((last, mask));
        // A turn before may have computed them.
        self.unsaved = mask;
    }

    /// For each guest vector register, the register that holds its shadow, if that is not in memory.
    pub(super) fn unsaved(&self) -> [Option<u8>; 16] {
        if self.unsaved == 0 {
            return [None; 16];
        }
        std::array::from_fn(|n| self.held[n].filter(|_| self.unsaved >> n & 1 == 1))
    }

    /// Tells whether the shadow of vector register `n` is where it is held and not in memory.
    pub(super) fn is_unsaved(&self, n: u8) -> bool {
        self.unsaved >> n & 1 == 1
    }

    /// For each guest vector register, the spilled register that holds its shadow.
    pub(super) fn held(&self) -> [Option<u8>; 16] {
        self.held
    }

    /// Registers that are spilled, by place.
    pub(super) fn spilled(&self) -> [Option<SpilledVector>; SPILL_SLOTS] {
        self.spilled
    }

    fn spilled_registers(&self) -> impl Iterator<Item = u8> {
        self.spilled.iter().flatten().map(|spilled| spilled.register)
    }

    /// Number of instructions from now on that do not use guest register `n`; nothing if none does.
    fn next_use(&self, n: u8) -> Option<usize> {
        let rest = self.used.get(self.index + 1..).unwrap_or_default();
        rest.iter().position(|mask| mask >> n & 1 == 1)
    }

    /// Number of instructions from now on that do not use the shadow of guest register `n`, in this turn of a loop or the next;
    /// nothing if none does before it is replaced.
    fn next_read(&self, n: u8) -> Option<usize> {
        let reads = |index: usize| (self.replaced[index] >> n & 1 == 0).then_some(index);
        let uses = |mask: &u16| mask >> n & 1 == 1;
        let carried = |&(last, carried): &(usize, u16)| self.index <= last && carried >> n & 1 == 1;
        let Some((last, _)) = self.turn.filter(carried) else {
            let distance = self.next_use(n)?;
            return reads(self.index + 1 + distance).map(|_| distance);
        };
        match self.used[self.index..=last].iter().skip(1).position(uses) {
            Some(distance) => reads(self.index + 1 + distance).map(|_| distance),
            None => {
                let first = self.used[..=last].iter().position(uses)?;
                reads(first).map(|first| last - self.index + first)
            }
        }
    }

    /// A register to spill that is none of `taken`: of those not used now, the one that is used last. `unused`: only one that
    /// is not used any more at all.
    fn choose(&self, taken: u16, unused: bool) -> Option<u8> {
        let used = self.used.get(self.index).copied().unwrap_or(0) | taken;
        let taken = self.spilled_registers().fold(used, |mask, n| mask | 1 << n);
        let free = (0..16).filter(|n| taken >> n & 1 == 0);
        let best = free.max_by_key(|&n| self.next_use(n).unwrap_or(usize::MAX))?;
        (!unused || self.next_use(best).is_none()).then_some(best)
    }

    /// Instruction at which the value of `register` is wanted again.
    fn wanted(&self, register: u8) -> Option<usize> {
        let held = (0..16).filter(|&n| self.held[usize::from(n)] == Some(register));
        held.filter_map(|n| self.next_read(n)).min()
    }

    /// A register to compute in that is none of `taken`, a mask: one that is spilled that nothing is lost with, one to be spilled that
    /// is not used any more, or of all others the one whose content is wanted last.
    fn best(&self, taken: u16) -> Option<u8> {
        let spilled = self.spilled_registers().fold(0, |mask, n| mask | 1_u16 << n);
        // Others of `taken` are to be spilled as well.
        let has_place = ((spilled | taken).count_ones() as usize) < SPILL_SLOTS;
        let another = |unused| self.choose(taken, unused).filter(|_| has_place);
        self.reusable(taken, false).or_else(|| another(true)).or_else(|| {
            let (reused, other) = (self.reusable(taken, true), another(false));
            let distance = |register: u8| match self.wanted(register) {
                // What is in memory need not be stored.
                Some(distance) if self.is_saved(register) => 2 * distance,
                distance => distance.unwrap_or(usize::MAX),
            };
            let further =
                |&other: &u8| reused.is_none_or(|reused| self.next_use(other) > Some(distance(reused)));
            other.filter(further).or(reused)
        })
    }

    /// A register that is spilled to be overwritten and none of `taken`: the one that is wanted last, or only one that
    /// is not `wanted` and holds nothing unsaved.
    fn reusable(&self, taken: u16, wanted: bool) -> Option<u8> {
        let last = |n: &u8| (self.wanted(*n).unwrap_or(usize::MAX), self.is_saved(*n));
        let free = self.spilled_registers().filter(|n| taken >> n & 1 == 0);
        let best = free.max_by_key(last)?;
        (wanted || self.wanted(best).is_none() && self.is_saved(best)).then_some(best)
    }

    /// Tells whether so many temporaries are there for the present instruction, besides what it uses and its annotation reads.
    pub(super) fn has_room(&self, count: usize) -> bool {
        let used = self.used.get(self.index).copied().unwrap_or(0);
        let others = (self.pinned & !used).count_ones() as usize + count;
        others <= SPILL_SLOTS.min(16 - used.count_ones() as usize)
    }

    /// The present instruction has no use for its temporaries so far any more.
    pub(super) fn forget_picked(&mut self) {
        self.picked.clear();
    }

    /// Tells whether all that `register` holds is in memory too.
    fn is_saved(&self, register: u8) -> bool {
        (0..16).all(|n| self.held[n] != Some(register) || self.unsaved >> n & 1 == 0)
    }

    /// Registers that the present instruction's annotation computes in, or reads, as a mask.
    fn taken(&self) -> u16 {
        self.picked.iter().fold(self.pinned, |mask, n| mask | 1 << n)
    }

    /// `register` holds no shadow any more.
    fn drop_held(&mut self, register: u8) {
        for (n, held) in self.held.iter_mut().enumerate().filter(|(_, held)| **held == Some(register)) {
            *held = None;
            self.unsaved &= !(1 << n);
        }
    }
}

/// Vector registers that `insn` uses, and those of them that it writes, certainly and all of what anybody looks at, and does not
/// read; as masks. What clears them all uses none: its annotation begins after it.
fn uses(insn: &Instruction, facts: &mut InstructionInfoFactory) -> (u16, u16) {
    let row = rows::row(insn);
    // Most instructions have nothing to do with vectors, and need not be described.
    if matches!(row, Row::General(_) | Row::Flags(_)) || insn.flow_control() != FlowControl::Next {
        return (0, 0);
    }
    let (mut used, mut written, mut others) = (0, 0, 0);
    for register in facts.info(insn).used_registers() {
        let number = register.register().number() as u32;
        if !register.register().is_vector_register() || number >= 16 {
            continue;
        }
        used |= 1 << number;
        let kind = if register.access() == OpAccess::Write { &mut written } else { &mut others };
        *kind |= 1 << number;
    }
    let clears_all = matches!(row, Row::ZeroUpper | Row::ZeroAll);
    (if clears_all { 0 } else { used }, written & !others)
}
