//! Recipes for the address of a memory operand, computed from registers before the instruction runs.

use iced_x86::{CodeSize, Instruction, OpKind, Register, UsedMemory};

/// Summand of an address that comes from a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    Flat,
    Fs,
    Gs,
}

impl Segment {
    fn of(register: Register) -> Segment {
        match register {
            Register::FS => Segment::Fs,
            Register::GS => Segment::Gs,
            _ => Segment::Flat,
        }
    }
}

/// The address of one memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressRecipe {
    base: Option<u8>,
    index: Option<u8>,
    scale: u8,
    displacement: u64,
    segment: Segment,
    /// The offset wraps at 4 GB.
    short: bool,
}

impl AddressRecipe {
    const ZERO: AddressRecipe = AddressRecipe {
        base: None,
        index: None,
        scale: 1,
        displacement: 0,
        segment: Segment::Flat,
        short: false,
    };

    /// To be filled in by the completion; 0 until then.
    pub(super) const DEFERRED: AddressRecipe = AddressRecipe::ZERO;

    /// `displacement` bytes from general register `base`.
    pub(super) fn from_register(base: u8, displacement: i64) -> Self {
        AddressRecipe { base: Some(base), displacement: displacement as u64, ..AddressRecipe::ZERO }
    }

    /// Operand `operand` of `insn`, if it is memory. A vector index is left out.
    pub(crate) fn of_operand(insn: &Instruction, operand: u32) -> Option<Self> {
        let (base, segment, short) = match insn.op_kind(operand) {
            OpKind::Memory => return Some(Self::of_memory(insn)),
            OpKind::MemorySegRSI => (6, insn.memory_segment(), false),
            OpKind::MemorySegESI => (6, insn.memory_segment(), true),
            OpKind::MemorySegRDI => (7, insn.memory_segment(), false),
            OpKind::MemorySegEDI => (7, insn.memory_segment(), true),
            OpKind::MemoryESRDI => (7, Register::ES, false),
            OpKind::MemoryESEDI => (7, Register::ES, true),
            _ => return None,
        };
        let segment = Segment::of(segment);
        Some(AddressRecipe { base: Some(base), segment, short, ..AddressRecipe::ZERO })
    }

    fn of_memory(insn: &Instruction) -> Self {
        let (base, index) = (insn.memory_base(), insn.memory_index());
        AddressRecipe {
            base: base.is_gpr().then(|| base.number() as u8),
            index: index.is_gpr().then(|| index.number() as u8),
            scale: insn.memory_index_scale() as u8,
            displacement: insn.memory_displacement64(),
            segment: Segment::of(insn.memory_segment()),
            short: base.is_gpr32() || index.is_gpr32() || base == Register::EIP,
        }
    }

    /// Memory an instruction uses without naming it.
    pub(super) fn of_use(memory: &UsedMemory) -> Self {
        let (base, index) = (memory.base(), memory.index());
        AddressRecipe {
            base: base.is_gpr().then(|| base.number() as u8),
            index: index.is_gpr().then(|| index.number() as u8),
            scale: memory.scale() as u8,
            displacement: memory.displacement(),
            segment: Segment::of(memory.segment()),
            short: memory.address_size() == CodeSize::Code32,
        }
    }

    /// Moves the place to where it is once rsp is `bytes` higher: where `pop` finds an operand addressed by rsp.
    pub(super) fn after_pop(mut self, bytes: u64) -> Self {
        if self.base == Some(4) {
            self.displacement = self.displacement.wrapping_add(bytes);
        }
        self
    }

    /// The place `bytes` before.
    pub(super) fn before(mut self, bytes: u8) -> Self {
        self.displacement = self.displacement.wrapping_sub(bytes.into());
        self
    }

    /// Tells whether offsets wrap at 4 GB.
    pub(crate) fn is_short(&self) -> bool {
        self.short
    }

    /// The address, from general registers by number and the bases of FS and GS.
    pub(crate) fn address(&self, general: impl Fn(usize) -> u64, fs_base: u64, gs_base: u64) -> u64 {
        let register = |number: Option<u8>| number.map_or(0, |number| general(usize::from(number)));
        let offset = self
            .displacement
            .wrapping_add(register(self.base))
            .wrapping_add(register(self.index).wrapping_mul(u64::from(self.scale)));
        let offset = if self.short { offset & 0xffff_ffff } else { offset };
        offset.wrapping_add(match self.segment {
            Segment::Flat => 0,
            Segment::Fs => fs_base,
            Segment::Gs => gs_base,
        })
    }
}
