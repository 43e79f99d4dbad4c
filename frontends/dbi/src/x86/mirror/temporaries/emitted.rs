//! Code that takes temporaries, holds shadows in them and puts registers back. Which register serves is chosen by
//! [`ScratchAllocator`](super::ScratchAllocator).

use super::super::{At, Settings};
use super::{UPPER, WHOLE, YMM_BYTES};
use crate::context::Context;
use crate::x86::code::{Slot, SpilledVector};
use crate::x86::emit::Emitter;
use crate::x86::vector::Mem;

impl Emitter {
    /// Tells whether shadows are in upper vector registers.
    pub(in crate::x86::mirror) fn has_upper(&mut self) -> bool {
        self.mirror().settings.in_registers > 0
    }

    /// Bytes of a register's shadow that are moved as a whole.
    pub(in crate::x86::mirror) fn shadow_bytes(&mut self) -> u8 {
        let narrow = self.mode.is_narrow();
        match self.mirror().settings {
            Settings { in_registers: 1.., .. } => 64,
            _ if narrow => 16,
            Settings { wide: true, .. } => 64,
            _ => YMM_BYTES,
        }
    }

    /// Temporary `i` of the present instruction: 0 and 1, or more without AVX-512. May spill a register: not
    /// between a jump and code that expects things as they were at the jump.
    pub(in crate::x86::mirror) fn temporary(&mut self, i: usize) -> u8 {
        if self.has_upper() {
            let register = UPPER[0] - i as u8;
            debug_assert!(self.upper_temporaries().contains(&register), "an upper register without a shadow");
            return register;
        }
        while self.mirror().temporaries.picked.len() <= i {
            let temporaries = &self.mirror().temporaries;
            let register =
                temporaries.best(temporaries.taken()).expect("an instruction leaves registers alone");
            self.pick(register);
        }
        let register = self.mirror().temporaries.picked[i];
        self.release(register);
        register
    }

    /// A temporary of the present instruction that it has not had so far; without AVX-512.
    pub(in crate::x86::mirror) fn another_temporary(&mut self) -> u8 {
        let next = self.mirror().temporaries.picked.len();
        self.temporary(next)
    }

    /// Makes `register` the next temporary of the present instruction.
    pub(in crate::x86::mirror) fn pick(&mut self, register: u8) {
        if self.mirror().temporaries.spilled_registers().any(|spilled| spilled == register) {
            self.release(register);
        } else {
            self.spill(register);
        }
        self.mirror().temporaries.picked.push(register);
    }

    /// Registers for `count` temporaries more, none of which is picked.
    pub(in crate::x86::mirror) fn candidates(&mut self, count: usize) -> Vec<u8> {
        let temporaries = &self.mirror().temporaries;
        let mut taken = temporaries.taken();
        let mut candidates = Vec::with_capacity(count);
        for _ in 0..count {
            let register = temporaries.best(taken).expect("an instruction leaves registers alone");
            taken |= 1 << register;
            candidates.push(register);
        }
        candidates
    }

    /// Has `register`, which is spilled, hold no shadow any more.
    pub(in crate::x86::mirror) fn release(&mut self, register: u8) {
        let held = self.mirror().temporaries.held;
        let mask = (0..16).filter(|&n| held[n] == Some(register)).fold(0, |mask, n| mask | 1 << n);
        let saved = self.save_shadows(mask);
        let temporaries = &mut self.mirror().temporaries;
        temporaries.drop_held(register);
        if saved {
            let index = temporaries.index;
            self.note_spilled(index);
        }
    }

    /// Stores the shadows of the guest registers of mask `wanted` that are not in memory; tells whether there are any.
    pub(in crate::x86::mirror) fn save_shadows(&mut self, wanted: u16) -> bool {
        let unsaved = self.mirror().temporaries.unsaved();
        let mut any = false;
        for (n, register) in unsaved.into_iter().enumerate().filter(|(n, _)| wanted >> n & 1 == 1) {
            if let Some(register) = register {
                let (mem, bytes) = (self.shadow_memory(n as u8), self.shadow_bytes());
                self.out.hot.vector_store(mem, register, bytes);
                any = true;
            }
        }
        self.mirror().temporaries.unsaved &= !wanted;
        any
    }

    /// Number of bytes beyond which the shadow of vector register `n` is zero, as far as is known.
    pub(in crate::x86::mirror) fn extent(&mut self, n: u8) -> u8 {
        self.mirror().temporaries.extent.get(usize::from(n)).copied().unwrap_or(WHOLE)
    }

    /// The shadow of vector register `n`, which was just put there, is zero beyond so many bytes.
    pub(in crate::x86::mirror) fn set_extent(&mut self, n: u8, bytes: u8) {
        if let Some(extent) = self.mirror().temporaries.extent.get_mut(usize::from(n)) {
            *extent = bytes;
        }
    }

    /// All temporaries with AVX-512, the first one first.
    pub(in crate::x86::mirror) fn upper_temporaries(&mut self) -> Vec<u8> {
        let first = 16 + self.mirror().settings.in_registers;
        (first..=UPPER[0]).rev().collect()
    }

    pub(in crate::x86::mirror) fn spill(&mut self, register: u8) -> u8 {
        let places = &self.mirror().temporaries.spilled;
        let place = places.iter().position(Option::is_none).expect("a slot to spill a register to");
        let mem = self.spill_slot(place);
        let bytes = self.shadow_bytes();
        self.out.hot.vector_store(mem, register, bytes);
        let temporaries = &mut self.mirror().temporaries;
        temporaries.spilled[place] = Some(SpilledVector { register, bytes });
        let index = temporaries.index;
        self.note_spilled(index);
        register
    }

    /// The register that holds the shadow of vector register `n`, to be read.
    pub(in crate::x86::mirror) fn held(&mut self, n: u8) -> Option<u8> {
        let temporaries = &mut self.mirror().temporaries;
        let register = *temporaries.held.get(usize::from(n))?;
        temporaries.pinned |= register.map_or(0, |register| 1 << register);
        register
    }

    /// The register that holds the shadow of vector register `n`, if it may be overwritten by another shadow of `n`.
    pub(in crate::x86::mirror) fn held_alone(&mut self, n: u8) -> Option<u8> {
        let register = self.held(n)?;
        let others = self.mirror().temporaries.held.iter().filter(|&&held| held == Some(register)).count();
        (others == 1).then_some(register)
    }

    /// `register` has the shadow of vector register `n`. With `saved`, memory has it too; otherwise false where it must
    /// have, and nothing is held.
    pub(in crate::x86::mirror) fn hold(&mut self, n: u8, register: u8, saved: bool) -> bool {
        let Settings { in_registers, records, wide, .. } = self.mirror().settings;
        let leaves_unsaved = self.leaves_unsaved();
        let temporaries = &mut self.mirror().temporaries;
        let is_spilled = temporaries.spilled_registers().any(|spilled| spilled == register);
        let Some(held) = temporaries.held.get_mut(usize::from(n)) else { return saved };
        let may = in_registers == 0 && !records && !wide && is_spilled && (saved || leaves_unsaved);
        *held = may.then_some(register);
        temporaries.unsaved &= !(1 << n);
        if may && !saved {
            temporaries.unsaved |= 1 << n;
        }
        saved || may
    }

    /// Tells whether what is computed in a spilled register may stay there for a while, and memory be without it.
    pub(in crate::x86::mirror) fn leaves_unsaved(&mut self) -> bool {
        let Settings { in_registers, records, appends, wide, .. } = self.mirror().settings;
        in_registers == 0 && !records && !appends && !wide
    }

    /// Shadows in memory were changed: no register holds one.
    pub(in crate::x86::mirror) fn hold_nothing(&mut self) {
        let temporaries = &mut self.mirror().temporaries;
        debug_assert_eq!(temporaries.unsaved, 0, "shadows that are lost");
        temporaries.held = [None; 16];
        temporaries.extent = [WHOLE; 16];
    }

    /// A place in memory to spill something to.
    pub(in crate::x86::mirror) fn spill_slot(&self, place: usize) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_SPILLS + 64 * place as u32))
    }

    /// Begins the annotation of an instruction: registers it uses are put back.
    pub(in crate::x86::mirror) fn begin_instruction(&mut self, at: At<'_>) {
        let temporaries = &mut self.mirror().temporaries;
        temporaries.index = at.index;
        let used = temporaries.used[at.index];
        self.put_back(used);
        let temporaries = &mut self.mirror().temporaries;
        temporaries.picked.clear();
        temporaries.pinned = 0;
    }

    /// Puts back all registers that are spilled.
    pub(in crate::x86) fn put_back_all(&mut self) {
        if self.mirror.is_some() {
            self.put_back(u16::MAX);
        }
    }

    pub(in crate::x86::mirror) fn put_back(&mut self, registers: u16) {
        let mut any = false;
        for (place, spilled) in self.mirror().temporaries.spilled.into_iter().enumerate() {
            let wanted = spilled.filter(|spilled| registers >> spilled.register & 1 == 1);
            let Some(SpilledVector { register, bytes }) = wanted else { continue };
            let mem = self.spill_slot(place);
            self.release(register);
            self.out.hot.vector_load(register, mem, bytes);
            let temporaries = &mut self.mirror().temporaries;
            temporaries.spilled[place] = None;
            temporaries.picked.retain(|&picked| picked != register);
            any = true;
        }
        if any {
            let index = self.mirror().temporaries.index;
            self.note_spilled(index);
        }
    }

    /// Tells whether registers are spilled.
    pub(in crate::x86) fn is_any_spilled(&mut self) -> bool {
        self.mirror.as_ref().is_some_and(|mirror| mirror.temporaries.spilled.iter().any(Option::is_some))
    }

    /// Cold code that puts back what is spilled, and MXCSR, for a way out; for the hot path it stays so.
    pub(in crate::x86) fn put_back_in_passing(&mut self) {
        self.put_back_but(false);
    }

    /// Cold code that puts back what is spilled, and MXCSR unless that `stays` as it is.
    pub(in crate::x86) fn put_back_but(&mut self, stays: bool) {
        let Some(mirror) = &self.mirror else { return };
        if mirror.has_rules_mxcsr() && !stays {
            self.out.cold.load_mxcsr(self.frame.slot(Slot::Mxcsr));
        }
        let (unsaved, spilled) = (mirror.temporaries.unsaved(), mirror.temporaries.spilled);
        let bytes = self.shadow_bytes();
        for (n, register) in unsaved.into_iter().enumerate() {
            if let Some(register) = register {
                let mem = self.shadow_memory(n as u8);
                self.out.cold.vector_store(mem, register, bytes);
            }
        }
        for (place, spilled) in spilled.into_iter().enumerate() {
            if let Some(SpilledVector { register, bytes }) = spilled {
                let mem = self.spill_slot(place);
                self.out.cold.vector_load(register, mem, bytes);
            }
        }
    }
}
