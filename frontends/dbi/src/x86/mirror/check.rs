//! Checks: does any operand carry a shadow? If so, translated code takes a side exit before the instruction.
//!
//! Knows what instructions read; how words are tested is for `zero_test`.

use super::At;
use super::encode;
use super::operand;
use super::zero_test::Tested;
use crate::context::Context;
use crate::x86::access::{is_in_address, is_operand, is_read};
use crate::x86::asm::{Gpr, RCX};
use crate::x86::code::{ExitKind, Slot};
use crate::x86::emit::Emitter;
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{Instruction, OpAccess, Register};
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

/// Side exit of a check.
#[derive(Clone, Copy, Debug)]
pub(super) enum SideExit {
    /// To the engine, with the instruction.
    OutOfLine(u64),
    /// To the engine, since the comparison has been counted often enough.
    Counted(u64),
    /// To the same instruction in another mode.
    Mode(u64, Mode),
}

impl Emitter {
    /// Everything that the instruction reads and that may carry a shadow.
    pub(super) fn sources(&mut self, at: At<'_>) -> Vec<Source> {
        let insn = &at.insn().decoded;
        let mask = self.mode.mask();
        let mut sources = Vec::new();
        // As an address it is no float; one that is an operand as well keeps its shadow, or hands it on.
        let asks_of_addresses = self.asks_of_addresses(insn);
        let is_address =
            |register| is_in_address(insn, register) && (asks_of_addresses || !is_operand(insn, register));
        // What is written perhaps may keep what it had.
        let reads = |access| is_read(access) || access == OpAccess::CondWrite;
        for used in self.facts.info(insn).used_registers().iter().filter(|used| reads(used.access())) {
            let register = used.register();
            let source = if let Some(n) = super::general_number(register) {
                let carries = mask >> n & 1 != 0 && !is_address(register);
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
        if self.reads_memory(insn) {
            sources.extend(self.memory_source(insn));
        }
        // A masked store leaves what it does not select.
        if let Some(mem) = operand::masked_store(insn) {
            sources.push(Source::Memory(mem, insn.memory_size().size()));
        }
        sources
    }

    /// Tells whether instructions are left to the engine if a register of their address carries a shadow.
    pub(super) fn asks_of_addresses(&mut self, insn: &Instruction) -> bool {
        self.mirror().settings.policy.derivatives.is_some() && !self.mode.is_off() && rows::may_look_up(insn)
    }

    /// Leaves the instruction to the engine if a register of its address carries a shadow: it looks something up in a table.
    pub(super) fn check_address(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let cells = address_registers(insn).filter_map(super::general_number);
        let cells: Vec<Source> = cells.filter(|&n| self.may_carry(n)).map(Source::Cell).collect();
        self.check(at, &cells);
    }

    /// Leaves the instruction to the engine if any source carries a shadow.
    pub(super) fn check(&mut self, at: At<'_>, sources: &[Source]) {
        self.check_or_exit(at, sources, SideExit::OutOfLine(at.insn().pc()));
    }

    /// Takes a side exit if any source carries a shadow.
    pub(super) fn check_or_exit(&mut self, at: At<'_>, sources: &[Source], exit: SideExit) {
        if sources.is_empty() {
            return;
        }
        self.take_temporaries(sources);
        let tested = self.begin_tests(at);
        let stub = self.side_exit(exit, tested == Tested::Scratch);
        let union = self.union(sources);
        if let Some(register) = union {
            let field = self.jump_if_register(at, tested, register);
            self.out.hot.patch(field, stub);
        }
        for (index, &(mem, bytes)) in self.scalars(sources).iter().enumerate() {
            if index > 0 || union.is_some() {
                self.restore_for_address(tested, mem);
            }
            let field = self.jump_if_word(at, tested, mem, bytes);
            self.out.hot.patch(field, stub);
        }
        self.end_tests(at, tested);
    }

    /// Leaves a store of up to four bytes to the engine if one of the eight bytes of the mirror from `mem` on is set; where
    /// `mem` is the upper half of an aligned word of eight bytes, one of its own four. rcx is not spilled.
    pub(super) fn check_beside(&mut self, at: At<'_>, mem: Mem) {
        let scratch = self.frame.slot(Slot::Scratch);
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
        let start = self.out.cold.here();
        let tested = self.begin_tests(at);
        let field = self.jump_if_word(at, tested, mem, 8);
        self.end_tests(at, tested);
        self.out.hot.patch(field, start);
        if tested == Tested::Flags {
            self.out.cold.store(scratch, RCX);
        }
        let (onwards, cold) = (self.out.hot.here(), &mut self.out.cold);
        if mem.uses(RCX) {
            cold.load(RCX, scratch);
        }
        encode::upper_half_to_rcx(cold, mem);
        cold.jmp_unless_rcx_is_zero(stub);
        if mem.uses(RCX) {
            cold.load(RCX, scratch);
        }
        encode::load_rcx(cold, mem, 4);
        cold.jmp_unless_rcx_is_zero(stub);
        cold.load(RCX, scratch);
        cold.jmp(onwards);
    }

    /// Leaves the instruction to the engine if mask register 1 has a bit among its lowest eight.
    pub(super) fn check_mask(&mut self, at: At<'_>) {
        self.exit_if(at, |e| encode::test_mask(&mut e.out.hot), |e| encode::mask_to_rcx(&mut e.out.hot));
    }

    /// Leaves the instruction to the engine if vector register `register`, not a temporary's first, has a bit.
    pub(super) fn check_register(&mut self, at: At<'_>, register: u8) {
        self.exit_if(at, |e| e.test_union(register), |e| e.union_to_rcx(register));
    }

    /// Leaves the instruction to the engine if `test` makes the flags "not equal" or, where the guest's flags are kept, if
    /// `to_rcx` makes rcx something other than 0.
    pub(super) fn exit_if(
        &mut self,
        at: At<'_>,
        test: impl FnOnce(&mut Self),
        to_rcx: impl FnOnce(&mut Self),
    ) {
        let tested = self.begin_tests(at);
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), tested == Tested::Scratch);
        let field = self.jump_if_set(at, tested, test, to_rcx);
        self.out.hot.patch(field, stub);
        self.end_tests(at, tested);
    }

    /// Words of the sources that are no vectors, each of up to eight bytes: its address and its bytes.
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

    /// Spills the vector registers that [`Emitter::union`] will take: what is spilled has to be the same at the jump and behind
    /// it.
    fn take_temporaries(&mut self, sources: &[Source]) {
        let vector = |source: &Source| matches!(source, Source::Vector(_) | Source::Memory(_, 16 | 32 | 64));
        if sources.iter().any(vector) {
            self.temporary(1);
        }
    }

    /// Bitwise disjunction of all vector sources, in a register; nothing if there is none.
    fn union(&mut self, sources: &[Source]) -> Option<u8> {
        let mut first = None;
        for source in sources {
            let (mem, bytes) = match *source {
                Source::Vector(n) => match self.shadow_value(n) {
                    Place::Reg(register) => {
                        first = Some(self.unite(first, register));
                        continue;
                    }
                    Place::Mem(mem) => (mem, self.shadow_bytes()),
                },
                Source::Memory(mem, bytes @ (16 | 32 | 64)) => (mem, bytes as u8),
                _ => continue,
            };
            let part = bytes.min(self.union_bytes());
            for at in (0..bytes).step_by(usize::from(part)) {
                let register = self.temporary(usize::from(first.is_some()));
                self.out.hot.vector_load(register, mem.plus(i32::from(at)), part);
                first = Some(self.unite(first, register));
            }
        }
        first
    }

    fn unite(&mut self, first: Option<u8>, register: u8) -> u8 {
        let Some(first) = first else { return register };
        let to = self.temporary(0);
        let length = Length::of(self.union_bytes());
        self.out.hot.vector(Vector::new(forms::OR, Format::F64, length, [to, first], Place::Reg(register)));
        to
    }

    /// Emits cold code that puts back what is spilled and takes a side exit; `scratch` says whether rcx is in
    /// [`Slot::Scratch`]. Returns its address.
    pub(super) fn side_exit(&mut self, exit: SideExit, scratch: bool) -> u64 {
        let start = self.out.cold.here();
        if self.mirror().locked {
            self.unlock_in_passing();
        }
        if scratch {
            self.out.cold.load(RCX, self.frame.slot(Slot::Scratch));
        } else if self.rcx_spilled {
            self.out.cold.load(RCX, self.frame.slot(Slot::Rcx));
        }
        if let Some(gpr) = self.mirror().address {
            self.out.cold.load(gpr, self.frame.slot(Slot::Address));
        }
        if let SideExit::Mode(..) = exit {
            self.close_in_passing();
        }
        self.put_back_in_passing();
        match exit {
            SideExit::OutOfLine(pc) => {
                self.stub(ExitKind::OutOfLine(pc), 0);
            }
            SideExit::Counted(pc) => {
                self.stub(ExitKind::Counted(pc), 0);
            }
            SideExit::Mode(pc, mode) => {
                let field = self.out.cold.jmp_open();
                let stub = self.stub(ExitKind::Jump(pc, mode), field.0);
                self.out.cold.patch(field, stub);
            }
        }
        start
    }
}

/// General registers of the address of the instruction's explicit memory operand, if the instruction accesses that memory.
pub(crate) fn address_registers(insn: &Instruction) -> impl Iterator<Item = Register> + use<> {
    let registers = [insn.memory_base(), insn.memory_index()];
    let goes = operand::has_memory(insn) && !rows::only_names_memory(insn);
    registers.into_iter().filter(move |register| goes && register.is_gpr()).map(Register::full_register)
}
