//! Guards: does any operand carry a shadow? If so, translated code leaves before the instruction.

use super::At;
use super::encode::{self, NOT_EQUAL};
use super::places::TEMPORARY;
use crate::context::Context;
use crate::x86::asm::{Gpr, RCX};
use crate::x86::emit::{Displaced, Emitter, ExitKind, Slot};
use crate::x86::mode::Mode;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{OpAccess, Register};
use shadowgrind_core::format::Format;

/// Something that may carry a shadow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// The cell of a general register.
    Cell(Gpr),
    /// A vector register.
    Vector(u8),
    /// Bytes of the mirror.
    Memory(Mem, usize),
    /// Any x87 or MMX register.
    X87,
}

/// Where a guard goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leave {
    /// To the engine, with the instruction.
    Solo(u64),
    /// To the same instruction in another mode.
    Mode(u64, Mode),
}

impl Emitter {
    /// Everything that the instruction reads and that may carry a shadow.
    pub(super) fn sources(&mut self, at: At<'_>) -> Vec<Source> {
        let insn = &at.insn().decoded;
        let mask = self.mode.mask();
        let mut sources = Vec::new();
        let addresses = [insn.memory_base(), insn.memory_index()].map(Register::full_register);
        let reads = |access| {
            matches!(
                access,
                OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::CondWrite
            )
        };
        for used in self.facts.info(insn).used_registers().iter().filter(|used| reads(used.access())) {
            let register = used.register();
            let source = if let Some(n) = super::general_number(register) {
                // As an address it is no float.
                let carries = mask >> n & 1 != 0 && !addresses.contains(&register.full_register());
                carries.then_some(Source::Cell(n))
            } else if register.is_vector_register() {
                Some(Source::Vector(register.number() as u8))
            } else {
                (register.is_mm() || register.is_st()).then_some(Source::X87)
            };
            if let Some(source) = source.filter(|source| !sources.contains(source)) {
                sources.push(source);
            }
        }
        if super::operand::reads_memory(insn) {
            sources.extend(self.memory_source(insn));
        }
        sources
    }

    /// Leaves the instruction to the engine if any source carries a shadow.
    pub(super) fn guard(&mut self, at: At<'_>, sources: &[Source]) {
        self.guard_towards(at, sources, Leave::Solo(at.insn().pc()));
    }

    /// Leaves as told if any source carries a shadow.
    pub(super) fn guard_towards(&mut self, at: At<'_>, sources: &[Source], leave: Leave) {
        if sources.is_empty() {
            return;
        }
        if self.mirror().liveness.flags_are_dead(at.index) {
            let stub = self.leaving_stub(leave, false);
            self.vectors_to_mask(sources, |emitter| {
                encode::test_mask(&mut emitter.out.hot);
                emitter.jump_if_not_equal(stub);
            });
            for (mem, bytes) in self.scalars(sources) {
                encode::compare_zero(&mut self.out.hot, mem, bytes);
                self.jump_if_not_equal(stub);
            }
            return;
        }
        const JMP_BYTES: u8 = 5;
        let stub = self.leaving_stub(leave, true);
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        let address = self.mirror().borrowed.address;
        let displaced = Displaced { scratch: Some(RCX), address, ..Displaced::default() };
        self.vectors_to_mask(sources, |emitter| {
            encode::mask_to_rcx(&mut emitter.out.hot);
            emitter.note(at.index, displaced);
            emitter.out.hot.jrcxz_over(JMP_BYTES);
            emitter.out.hot.jmp(stub);
        });
        // The operand's address may need rcx as it was.
        let scalars = self.scalars(sources);
        for (index, &(mem, bytes)) in scalars.iter().enumerate() {
            if mem.uses(RCX) && (index > 0 || sources.iter().any(|s| matches!(s, Source::Vector(_)))) {
                self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
            }
            encode::load_rcx(&mut self.out.hot, mem, bytes);
            self.note(at.index, displaced);
            self.out.hot.jrcxz_over(JMP_BYTES);
            self.out.hot.jmp(stub);
        }
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_borrowed(at.index);
    }

    fn jump_if_not_equal(&mut self, stub: u64) {
        let field = self.out.hot.jcc_open(NOT_EQUAL);
        self.out.hot.patch(field, stub);
    }

    /// Sources of up to eight bytes, as memory.
    fn scalars(&self, sources: &[Source]) -> Vec<(Mem, usize)> {
        let mut scalars = Vec::new();
        for source in sources {
            match *source {
                Source::Cell(n) => scalars.push((self.cell(n), 8)),
                Source::X87 => scalars.push((Mem::rip(self.frame.field(Context::OFFSET_X87_SHADOWED)), 8)),
                Source::Memory(mem, bytes @ (1 | 2 | 4 | 8)) => scalars.push((mem, bytes)),
                Source::Memory(mem, 10) => scalars.extend([(mem, 8), (mem.plus(8), 2)]),
                Source::Memory(mem, 6) => scalars.extend([(mem, 4), (mem.plus(4), 2)]),
                _ => {}
            }
        }
        scalars
    }

    /// Leaves in mask register 1 which lanes of any vector source carry a shadow, and has that looked at.
    fn vectors_to_mask(&mut self, sources: &[Source], look: impl FnOnce(&mut Self)) {
        let mut first = None;
        for source in sources {
            let register = match *source {
                Source::Vector(n) => self.shadow_in_register(n, super::places::SECOND_TEMPORARY),
                Source::Memory(mem, bytes @ (16 | 32 | 64)) => {
                    self.out.hot.vector_load(super::places::SECOND_TEMPORARY, mem, bytes as u8);
                    super::places::SECOND_TEMPORARY
                }
                _ => continue,
            };
            first = Some(match first {
                None if register == super::places::SECOND_TEMPORARY => {
                    self.move_shadow(TEMPORARY, register, 64);
                    TEMPORARY
                }
                None => register,
                Some(other) => {
                    self.combine(forms::OR, TEMPORARY, other, register);
                    TEMPORARY
                }
            });
        }
        if let Some(register) = first {
            const MASK: u8 = 1;
            let test = Vector::new(forms::TEST, Format::F64, Length::B64, [MASK, register], Place::Reg(register));
            self.out.hot.vector(test);
            look(self);
        }
    }

    /// Cold code that puts back what is borrowed and leaves.
    fn leaving_stub(&mut self, leave: Leave, scratch: bool) -> u64 {
        let start = self.out.cold.here();
        if scratch {
            self.out.cold.load(RCX, self.frame.slot(Slot::Scratch));
        }
        if let Some(gpr) = self.mirror().borrowed.address {
            self.out.cold.load(gpr, self.frame.slot(Slot::Address));
        }
        match leave {
            Leave::Solo(pc) => {
                self.stub(ExitKind::Solo(pc), 0);
            }
            Leave::Mode(pc, mode) => {
                let field = self.out.cold.jmp_open();
                let stub = self.stub(ExitKind::Jump(pc, mode), field.0);
                self.out.cold.patch(field, stub);
            }
        }
        start
    }
}

