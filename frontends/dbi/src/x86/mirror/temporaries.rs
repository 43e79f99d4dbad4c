//! Temporaries: the vector registers that annotations compute in.
//!
//! With AVX-512 they are the upper registers that hold no shadow, two at least. Without, they are guest registers that the
//! present instruction does not use, *set aside* in the context: such a register is stored once, serves as long as the
//! guest does not need it, and is loaded again before an instruction that names it, and on every way out of the block.
//! Which registers are set aside is noted with the code (`Displaced`), so that a fault finds the guest's values.
//!
//! Such a register *holds* the shadow of a guest register once that was computed in it, or loaded whole: the shadow is
//! in memory all the same, but need not be loaded again as long as the register is not wanted for something else.
//!
//! A register is set aside, and put back, with its low 32 bytes, which is all it has without AVX-512, or in a narrow
//! block the low 16; a guest that uses AVX-512 itself leaves no upper register to us, and has its registers set aside
//! whole.

use super::{At, Settings};
use crate::context::{ASIDE, Context};
use crate::x86::code::{Aside, Slot};
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::superblock::{Insn, Superblock};
use crate::x86::table::Row;
use crate::x86::vector::Mem;
use iced_x86::InstructionInfoFactory;

/// Upper vector registers that never hold a shadow: the first temporaries with AVX-512.
pub(super) const UPPER: [u8; 2] = [31, 30];

/// Bytes of a shadow register, or of a register set aside, without AVX-512.
const YMM_BYTES: u8 = 32;

/// Vector registers that annotations may compute in, and what is in them.
#[derive(Debug, Default)]
pub(super) struct Temporaries {
    /// Register that each place of [`Context::aside`] holds.
    aside: [Option<Aside>; ASIDE],
    /// Vector registers that each instruction of the block uses, as masks.
    used: Vec<u16>,
    /// The present instruction.
    index: usize,
    /// Its temporaries so far.
    picked: Vec<u8>,
    /// For each guest vector register, the register set aside that holds its shadow.
    held: [Option<u8>; 16],
    /// Registers that the present instruction's annotation reads, as a mask.
    pinned: u16,
    /// Index of the last instruction of the loop's turn, and guest registers whose shadows a turn hands to the next, as a
    /// mask.
    turn: Option<(usize, u16)>,
}

impl Temporaries {
    /// Looks at which registers the instructions of `block` use.
    pub(super) fn analyse(&mut self, block: &Superblock, facts: &mut InstructionInfoFactory) {
        self.aside = [None; ASIDE];
        self.used.clear();
        self.used.extend(block.insns.iter().map(|insn| used(insn, facts)));
        self.index = 0;
        self.picked.clear();
        self.held = [None; 16];
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
        self.turn = Some((last, carried.iter().fold(0, |mask, n| mask | 1 << n)));
    }

    /// For each guest vector register, the register set aside that holds its shadow.
    pub(super) fn held(&self) -> [Option<u8>; 16] {
        self.held
    }

    /// Registers that are set aside, by place.
    pub(super) fn set_aside(&self) -> [Option<Aside>; ASIDE] {
        self.aside
    }

    fn registers_aside(&self) -> impl Iterator<Item = u8> {
        self.aside.iter().flatten().map(|aside| aside.register)
    }

    /// Number of instructions from now on that do not use guest register `n`; nothing if none does.
    fn next_use(&self, n: u8) -> Option<usize> {
        let rest = self.used.get(self.index + 1..).unwrap_or_default();
        rest.iter().position(|mask| mask >> n & 1 == 1)
    }

    /// Number of instructions from now on that do not use the shadow of guest register `n`, in this turn of a loop or the next;
    /// nothing if none does.
    fn next_read(&self, n: u8) -> Option<usize> {
        let carried = |&(last, carried): &(usize, u16)| self.index <= last && carried >> n & 1 == 1;
        let Some((last, _)) = self.turn.filter(carried) else { return self.next_use(n) };
        let uses = |mask: &u16| mask >> n & 1 == 1;
        let rest = self.used[self.index..=last].iter().skip(1).position(uses);
        rest.or_else(|| Some(last - self.index + self.used[..=last].iter().position(uses)?))
    }

    /// A register to set aside: of those not used now, the one that is used last. `unused`: only one that is not used any
    /// more at all.
    fn choose(&self, unused: bool) -> Option<u8> {
        let used = self.used.get(self.index).copied().unwrap_or(0);
        let taken = self.registers_aside().fold(used, |mask, n| mask | 1 << n);
        let free = (0..16).filter(|n| taken >> n & 1 == 0);
        let best = free.max_by_key(|&n| self.next_use(n).unwrap_or(usize::MAX))?;
        (!unused || self.next_use(best).is_none()).then_some(best)
    }

    /// Instruction at which the value of `register` is wanted again.
    fn wanted(&self, register: u8) -> Option<usize> {
        let held = (0..16).filter(|&n| self.held[usize::from(n)] == Some(register));
        held.filter_map(|n| self.next_read(n)).min()
    }

    /// A register that is set aside to be overwritten: the one that is wanted last, or only one that is not `wanted`.
    fn reusable(&self, wanted: bool) -> Option<u8> {
        let may = |n: &u8| !self.picked.contains(n) && self.pinned >> n & 1 == 0;
        let free = self.registers_aside().filter(may);
        let best = free.max_by_key(|&n| self.wanted(n).unwrap_or(usize::MAX))?;
        (wanted || self.wanted(best).is_none()).then_some(best)
    }

    /// `register` holds no shadow any more.
    pub(super) fn drop_held(&mut self, register: u8) {
        self.held.iter_mut().filter(|held| **held == Some(register)).for_each(|held| *held = None);
    }
}

/// Vector registers that `insn` uses. What clears them all has none: its annotation begins after it.
fn used(insn: &Insn, facts: &mut InstructionInfoFactory) -> u16 {
    if matches!(rows::row(&insn.decoded), Row::ZeroUpper | Row::ZeroAll) {
        return 0;
    }
    let used = facts.info(&insn.decoded).used_registers().iter().map(|used| used.register());
    used.filter(|register| register.is_vector_register() && register.number() < 16)
        .fold(0, |mask, register| mask | 1 << register.number())
}

impl Emitter {
    /// Tells whether shadows are in upper vector registers.
    pub(super) fn has_upper(&mut self) -> bool {
        self.mirror().settings.in_registers > 0
    }

    /// Bytes of a register's shadow that are moved as a whole.
    pub(super) fn shadow_bytes(&mut self) -> u8 {
        let narrow = self.mode.is_narrow();
        match self.mirror().settings {
            Settings { in_registers: 1.., .. } => 64,
            _ if narrow => 16,
            Settings { wide: true, .. } => 64,
            _ => YMM_BYTES,
        }
    }

    /// Temporary `i` of the present instruction: 0 and 1, or more without AVX-512. May set a register aside: not
    /// between a jump and code that expects things as they were at the jump.
    pub(super) fn temporary(&mut self, i: usize) -> u8 {
        if self.has_upper() {
            let register = UPPER[0] - i as u8;
            debug_assert!(self.upper_temporaries().contains(&register), "an upper register without a shadow");
            return register;
        }
        while self.mirror().temporaries.picked.len() <= i {
            let temporaries = &self.mirror().temporaries;
            let has_place = temporaries.aside.iter().any(Option::is_none);
            let another = |unused| if has_place { temporaries.choose(unused) } else { None };
            let register = match temporaries.reusable(false) {
                Some(register) => register,
                None => match another(true).map(Err).or(temporaries.reusable(true).map(Ok)) {
                    Some(Ok(register)) => register,
                    Some(Err(register)) => self.set_aside(register),
                    None => {
                        let register = another(false).expect("an instruction leaves registers alone");
                        self.set_aside(register)
                    }
                },
            };
            self.mirror().temporaries.picked.push(register);
        }
        let temporaries = &mut self.mirror().temporaries;
        let register = temporaries.picked[i];
        temporaries.drop_held(register);
        register
    }

    /// All temporaries with AVX-512, the first one first.
    pub(super) fn upper_temporaries(&mut self) -> Vec<u8> {
        let first = 16 + self.mirror().settings.in_registers;
        (first..=UPPER[0]).rev().collect()
    }

    pub(super) fn set_aside(&mut self, register: u8) -> u8 {
        let places = &self.mirror().temporaries.aside;
        let place = places.iter().position(Option::is_none).expect("a place to set a register aside");
        let mem = self.aside(place);
        let bytes = self.shadow_bytes();
        self.out.hot.vector_store(mem, register, bytes);
        let temporaries = &mut self.mirror().temporaries;
        temporaries.aside[place] = Some(Aside { register, bytes });
        let index = temporaries.index;
        self.note_borrowed(index);
        register
    }

    /// The register that holds the shadow of vector register `n`, to be read.
    pub(super) fn held(&mut self, n: u8) -> Option<u8> {
        let temporaries = &mut self.mirror().temporaries;
        let register = *temporaries.held.get(usize::from(n))?;
        temporaries.pinned |= register.map_or(0, |register| 1 << register);
        register
    }

    /// The register that holds the shadow of vector register `n`, if it may be overwritten by another shadow of `n`.
    pub(super) fn held_alone(&mut self, n: u8) -> Option<u8> {
        let register = self.held(n)?;
        let others = self.mirror().temporaries.held.iter().filter(|&&held| held == Some(register)).count();
        (others == 1).then_some(register)
    }

    /// `register` has the shadow of vector register `n`, as memory has.
    pub(super) fn hold(&mut self, n: u8, register: u8) {
        let Settings { in_registers, records, wide, .. } = self.mirror().settings;
        let temporaries = &mut self.mirror().temporaries;
        let is_aside = temporaries.registers_aside().any(|aside| aside == register);
        let Some(held) = temporaries.held.get_mut(usize::from(n)) else { return };
        let may = in_registers == 0 && !records && !wide && is_aside;
        *held = may.then_some(register);
    }

    /// Shadows in memory were changed: no register holds one.
    pub(super) fn hold_nothing(&mut self) {
        self.mirror().temporaries.held = [None; 16];
    }

    /// A place in memory to set something aside in.
    pub(super) fn aside(&self, place: usize) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_ASIDE + 64 * place as u32))
    }

    /// Begins the annotation of an instruction: registers it uses are put back.
    pub(super) fn begin_instruction(&mut self, at: At<'_>) {
        let temporaries = &mut self.mirror().temporaries;
        temporaries.index = at.index;
        let used = temporaries.used[at.index];
        self.put_back(used);
        let temporaries = &mut self.mirror().temporaries;
        temporaries.picked.clear();
        temporaries.pinned = 0;
    }

    /// Puts back all registers that are set aside.
    pub(in crate::x86) fn put_back_all(&mut self) {
        if self.mirror.is_some() {
            self.put_back(u16::MAX);
        }
    }

    pub(super) fn put_back(&mut self, registers: u16) {
        let mut any = false;
        for (place, aside) in self.mirror().temporaries.aside.into_iter().enumerate() {
            let wanted = aside.filter(|aside| registers >> aside.register & 1 == 1);
            let Some(Aside { register, bytes }) = wanted else { continue };
            let mem = self.aside(place);
            self.out.hot.vector_load(register, mem, bytes);
            let temporaries = &mut self.mirror().temporaries;
            temporaries.aside[place] = None;
            temporaries.picked.retain(|&picked| picked != register);
            temporaries.drop_held(register);
            any = true;
        }
        if any {
            let index = self.mirror().temporaries.index;
            self.note_borrowed(index);
        }
    }

    /// Tells whether registers are set aside.
    pub(in crate::x86) fn is_any_aside(&mut self) -> bool {
        self.mirror.as_ref().is_some_and(|mirror| mirror.temporaries.aside.iter().any(Option::is_some))
    }

    /// Cold code that puts back what is set aside, and MXCSR, for a way out; for the hot path it stays so.
    pub(in crate::x86) fn put_back_in_passing(&mut self) {
        self.put_back_but(false);
    }

    /// Cold code that puts back what is set aside, and MXCSR unless that `stays` as it is.
    pub(in crate::x86) fn put_back_but(&mut self, stays: bool) {
        let Some(mirror) = &self.mirror else { return };
        if mirror.has_rules_mxcsr() && !stays {
            self.out.cold.load_mxcsr(self.frame.slot(Slot::Mxcsr));
        }
        for (place, aside) in mirror.temporaries.aside.into_iter().enumerate() {
            if let Some(Aside { register, bytes }) = aside {
                let mem = self.aside(place);
                self.out.cold.vector_load(register, mem, bytes);
            }
        }
    }
}
