//! Memory operands: the address of a guest operand and of its mirror.
//!
//! As GS is based at the mirror plane, the mirror of most operands is the same operand relative to GS. An operand
//! relative to FS needs its linear address, in a scratch register; so does one relative to rip that is too far from the
//! code cache, as constants of code made at run time are.

use super::At;
use super::check::Source;
use crate::x86::access::{is_read, is_write};
use crate::x86::asm::Gpr;
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::vector::{At as Address, MIRROR_SHIFT, Mem};
use iced_x86::{Instruction, OpAccess, OpKind, Register};

/// Tells whether the instruction has an explicit memory operand.
pub(super) fn has_memory(insn: &Instruction) -> bool {
    (0..insn.op_count()).any(|n| insn.op_kind(n) == OpKind::Memory)
}

/// Tells whether a displacement of 32 bits does not say `address` by itself.
fn is_high(address: u64) -> bool {
    i64::from(address as i32) as u64 != address
}

/// The stack protector's word, which is compared and never computed with.
pub(super) fn is_stack_guard(insn: &Instruction) -> bool {
    const GUARD: u64 = 0x28;
    has_memory(insn)
        && insn.segment_prefix() == Register::FS
        && insn.memory_base() == Register::None
        && insn.memory_index() == Register::None
        && insn.memory_displacement64() == GUARD
}

/// The guest's operand as it stands.
pub(super) fn guest_memory(insn: &Instruction) -> Mem {
    let number = |register: Register| (register != Register::None).then(|| register.number() as Gpr);
    let absolute = insn.memory_base() == Register::None && insn.memory_index() == Register::None;
    // A displacement alone is sign-extended, unless the address has 32 bits.
    let high = absolute && is_high(insn.memory_displacement64());
    let address32 = insn.memory_base().is_gpr32() || insn.memory_index().is_gpr32() || high;
    let at = if insn.is_ip_rel_memory_operand() {
        Address::Rip(insn.ip_rel_memory_address())
    } else {
        let index = number(insn.memory_index()).map(|index| (index, insn.memory_index_scale() as u8));
        Address::Base {
            base: number(insn.memory_base()),
            index,
            displacement: insn.memory_displacement64() as i32,
        }
    };
    Mem { gs: false, fs: insn.segment_prefix() == Register::FS, address32, at }
}

/// The mirror of what `maskmovdqu` and its kin store to, by rdi; nothing for other instructions.
pub(super) fn masked_store(insn: &Instruction) -> Option<Mem> {
    const RDI: Gpr = 7;
    let at = Address::Base { base: Some(RDI), index: None, displacement: 0 };
    let stores = insn.op0_kind() == OpKind::MemorySegRDI && insn.segment_prefix() != Register::FS;
    stores.then_some(Mem { gs: true, fs: false, address32: false, at })
}

impl Emitter {
    /// Tells whether the instruction writes memory that none of its operands names, other than that of [`masked_store`].
    pub(super) fn writes_unnamed_memory(&mut self, insn: &Instruction) -> bool {
        let used = self.facts.info(insn).used_memory();
        !has_memory(insn) && masked_store(insn).is_none() && used.iter().any(|used| is_write(used.access()))
    }

    /// Access of the instruction to its explicit memory operand.
    fn memory_access(&mut self, insn: &Instruction) -> OpAccess {
        let index = (0..insn.op_count()).find(|&n| insn.op_kind(n) == OpKind::Memory);
        index.map_or(OpAccess::None, |n| self.facts.info(insn).op_access(n))
    }

    /// Tells whether the instruction reads its explicit memory operand.
    pub(super) fn reads_memory(&mut self, insn: &Instruction) -> bool {
        is_read(self.memory_access(insn))
    }

    /// Tells whether the instruction writes its memory operand.
    pub(super) fn writes_memory(&mut self, insn: &Instruction) -> bool {
        is_write(self.memory_access(insn))
    }

    /// Makes the mirror of the instruction's memory operand addressable until [`Emitter::close_operand`]. False where
    /// it cannot be.
    pub(super) fn open_operand(&mut self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        if !has_memory(insn) || is_stack_guard(insn) {
            return true;
        }
        if insn.memory_base() == Register::EIP {
            return false;
        }
        if insn.is_ip_rel_memory_operand() {
            // What is beyond the guest's range (the kernel's own data) has no mirror, and is no float.
            let address = insn.ip_rel_memory_address();
            let mirror = address.wrapping_add_signed(MIRROR_SHIFT.into());
            let reaches = self.reaches(at.insn(), address) && self.reaches(at.insn(), mirror);
            if !reaches && address < self.mirror().settings.guest_end {
                let gpr = self.scratch_for_address(insn);
                self.out.hot.mov_imm(gpr, address);
                self.note_spilled(at.index);
            }
            return true;
        }
        if (insn.memory_displacement64() as i32).checked_add(MIRROR_SHIFT).is_none() {
            return false;
        }
        if insn.segment_prefix() != Register::FS {
            let absolute = insn.memory_base() == Register::None && insn.memory_index() == Register::None;
            let address = insn.memory_displacement64();
            return !absolute || !is_high(address) || u32::try_from(address).is_ok();
        }
        let two = insn.memory_base() != Register::None && insn.memory_index() != Register::None;
        if two || insn.memory_base() == Register::RSP || insn.memory_base().is_gpr32() {
            return false;
        }
        let gpr = self.scratch_for_address(insn);
        // rdfsbase
        self.out.hot.raw(&[0xf3, 0x48, 0x0f, 0xae, 0xc0 | gpr]);
        self.note_spilled(at.index);
        true
    }

    /// A scratch register for an address, spilled.
    fn scratch_for_address(&mut self, insn: &Instruction) -> Gpr {
        let (_, gpr) = far::scratch(insn, &mut self.facts);
        self.out.hot.store(self.frame.slot(Slot::Address), gpr);
        self.mirror().address = Some(gpr);
        gpr
    }

    /// The guest's operand, relative to the scratch register if it is too far for code to reach.
    pub(super) fn guest_operand(&mut self, insn: &Instruction) -> Mem {
        let mem = guest_memory(insn);
        match (mem.at, self.mirror().address) {
            (Address::Rip(_), Some(base)) => {
                let at = Address::Base { base: Some(base), index: None, displacement: 0 };
                Mem { at, ..mem }
            }
            _ => mem,
        }
    }

    /// Puts back the register that [`Emitter::open_operand`] has spilled.
    pub(super) fn close_operand(&mut self) {
        if let Some(gpr) = self.mirror().address.take() {
            self.out.hot.load(gpr, self.frame.slot(Slot::Address));
        }
    }

    /// The mirror of the instruction's memory operand; nothing where it has none.
    pub(super) fn mirror_memory(&mut self, insn: &Instruction) -> Option<Mem> {
        if !has_memory(insn) || is_stack_guard(insn) {
            return None;
        }
        let (start, end) = self.mirror().settings.vdso;
        if (start..end).contains(&insn.ip()) && !self.writes_memory(insn) {
            return None;
        }
        if insn.is_ip_rel_memory_operand() && insn.ip_rel_memory_address() >= self.mirror().settings.guest_end
        {
            return None;
        }
        let guest = self.guest_operand(insn);
        match guest.at {
            Address::Base { base, index, displacement } if guest.fs => {
                let own = base.map(|base| (base, 1)).or(index);
                let base = self.mirror().address;
                Some(Mem {
                    gs: true,
                    fs: false,
                    at: Address::Base { base, index: own, displacement },
                    ..guest
                })
            }
            _ => Some(Mem { gs: true, ..guest }),
        }
    }

    /// The instruction's memory operand as something to check; nothing where it has no mirror.
    pub(super) fn memory_source(&mut self, insn: &Instruction) -> Option<Source> {
        let bytes = insn.memory_size().size();
        Some(Source::Memory(self.mirror_memory(insn)?, bytes))
    }

    /// Clears the mirror of the instruction's memory operand.
    pub(super) fn kill_operand(&mut self, insn: &Instruction) {
        if let Some(mem) = self.mirror_memory(insn) {
            self.kill(mem, insn.memory_size().size());
        }
    }
}
