//! Checks: does any operand carry a shadow? If so, translated code takes a side exit before the instruction.

use super::At;
use super::encode::{self, EQUAL, NOT_EQUAL};
use super::operand;
use crate::context::Context;
use crate::x86::access::is_read;
use crate::x86::asm::{Gpr, RCX, Rel32};
use crate::x86::code::{ExitKind, Slot};
use crate::x86::emit::Emitter;
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::rules::Constants;
use crate::x86::superblock::{Flow, Insn};
use crate::x86::table::{General, Row};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{FlowControl, Instruction, OpAccess, Register};
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
        let operands: Vec<Register> =
            (0..insn.op_count()).map(|n| insn.op_register(n).full_register()).collect();
        let asks_of_addresses = self.asks_of_addresses();
        let is_address = |register: Register| {
            let is_base =
                [insn.memory_base(), insn.memory_index()].map(Register::full_register).contains(&register);
            is_base && (asks_of_addresses || !operands.contains(&register))
        };
        // What is written perhaps may keep what it had.
        let reads = |access| is_read(access) || access == OpAccess::CondWrite;
        for used in self.facts.info(insn).used_registers().iter().filter(|used| reads(used.access())) {
            let register = used.register();
            let source = if let Some(n) = super::general_number(register) {
                let carries = mask >> n & 1 != 0 && !is_address(register.full_register());
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

    /// Tells whether each instruction is left to the engine whose address is made of what carries a shadow.
    pub(super) fn asks_of_addresses(&mut self) -> bool {
        self.mirror().settings.policy.derivatives.is_some() && !self.mode.is_off()
    }

    /// Leaves the instruction to the engine if its address is made of what carries a shadow: a table is looked up.
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
        if self.mirror().liveness.flags_are_dead(at.index) {
            let stub = self.side_exit(exit, false);
            if let Some(register) = self.union(sources) {
                self.test_union(register);
                self.jump_if_not_equal(stub);
            }
            for (mem, bytes) in self.scalars(sources) {
                encode::compare_zero(&mut self.out.hot, mem, bytes);
                self.jump_if_not_equal(stub);
            }
            return;
        }
        if self.rcx_spilled || self.leaves_rcx(at) {
            return self.check_epilogue(at, sources, exit);
        }
        let stub = self.side_exit(exit, true);
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        if let Some(register) = self.union(sources) {
            self.union_to_rcx(register);
            self.exit_unless_zero(at, stub);
        }
        // The operand's address may need rcx as it was.
        let scalars = self.scalars(sources);
        for (index, &(mem, bytes)) in scalars.iter().enumerate() {
            if mem.uses(RCX) && (index > 0 || sources.iter().any(|s| matches!(s, Source::Vector(_)))) {
                self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
            }
            encode::load_rcx(&mut self.out.hot, mem, bytes);
            self.exit_unless_zero(at, stub);
        }
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
    }

    /// Leaves a store of up to four bytes to the engine if one of the eight bytes of the mirror from `mem` on has a shadow: of an
    /// upper half of eight bytes that are aligned, one of its own four. rcx is not spilled.
    pub(super) fn check_beside(&mut self, at: At<'_>, mem: Mem) {
        let scratch = self.frame.slot(Slot::Scratch);
        let flags_are_dead = self.mirror().liveness.flags_are_dead(at.index);
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), true);
        let cold = self.out.cold.here();
        let field = if flags_are_dead {
            self.out.cold.store(scratch, RCX);
            encode::compare_zero(&mut self.out.hot, mem, 8);
            self.out.hot.jcc_open(NOT_EQUAL)
        } else {
            self.out.hot.store(scratch, RCX);
            encode::load_rcx(&mut self.out.hot, mem, 8);
            let spilled = self.spilled(Some(RCX));
            self.note(at.index, spilled);
            let field = self.out.hot.jump_unless_rcx_is_zero();
            self.out.hot.load(RCX, scratch);
            self.note_spilled(at.index);
            field
        };
        self.out.hot.patch(field, cold);
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

    /// Tells whether the instruction, and what follows it, has no use for rcx until that is spilled anyway: registers are popped at a
    /// function's end, and then it returns. Flags are live there, as far as anybody can know.
    pub(super) fn leaves_rcx(&mut self, at: At<'_>) -> bool {
        let rest = &at.block.insns[at.index..];
        let returns = |insn: &Insn| {
            let spills = matches!(insn.flow, Flow::Ends | Flow::ExpectedReturn(_));
            spills && insn.decoded.flow_control() == FlowControl::Return
        };
        let next = rest.get(1).filter(|_| pops_other_register(&rest[0].decoded));
        // What closes a record uses the slot.
        let may_close = self.mirror().settings.appends;
        !may_close && next.is_some_and(|next| pops_other_register(&next.decoded) || returns(next))
    }

    /// Takes a side exit if a source of up to eight bytes carries a shadow; leaves rcx in its slot.
    fn check_epilogue(&mut self, at: At<'_>, sources: &[Source], exit: SideExit) {
        self.spill_rcx();
        let stub = self.side_exit(exit, false);
        for (mem, bytes) in self.scalars(sources) {
            encode::load_rcx(&mut self.out.hot, mem, bytes);
            self.exit_unless_zero(at, stub);
        }
        self.note_spilled(at.index);
    }

    /// Leaves the instruction to the engine if mask register 1 has a bit among its lowest eight.
    pub(super) fn check_mask(&mut self, at: At<'_>) {
        self.exit_if(at, |e| encode::test_mask(&mut e.out.hot), |e| encode::mask_to_rcx(&mut e.out.hot));
    }

    /// Leaves the instruction to the engine if vector register `register`, not a temporary's first, has a bit.
    pub(super) fn check_register(&mut self, at: At<'_>, register: u8) {
        self.exit_if(at, |e| e.test_union(register), |e| e.union_to_rcx(register));
    }

    /// Leaves the instruction to the engine if `test` says "not equal", or where the flags are to be kept, if `to_rcx`
    /// makes rcx something other than 0.
    pub(super) fn exit_if(
        &mut self,
        at: At<'_>,
        test: impl FnOnce(&mut Self),
        to_rcx: impl FnOnce(&mut Self),
    ) {
        let flags_are_dead = self.mirror().liveness.flags_are_dead(at.index);
        let stub = self.side_exit(SideExit::OutOfLine(at.insn().pc()), !flags_are_dead);
        if flags_are_dead {
            test(self);
            return self.jump_if_not_equal(stub);
        }
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        to_rcx(self);
        self.exit_unless_zero(at, stub);
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
    }

    /// A jump that is taken if all these cells are zero. Keeps the flags unless they are dead.
    pub(super) fn skip_if_zero(&mut self, at: At<'_>, cells: &[(Mem, usize)]) -> Rel32 {
        let mut others = Vec::new();
        if let (true, Some((&last, first))) =
            (self.mirror().liveness.flags_are_dead(at.index), cells.split_last())
        {
            for &(mem, bytes) in first {
                encode::compare_zero(&mut self.out.hot, mem, bytes);
                others.push(self.out.hot.jcc_open(NOT_EQUAL));
            }
            encode::compare_zero(&mut self.out.hot, last.0, last.1);
            let skip = self.out.hot.jcc_open(EQUAL);
            let here = self.out.hot.here();
            others.into_iter().for_each(|field| self.out.hot.patch(field, here));
            return skip;
        }
        let scratch = self.frame.slot(Slot::Scratch);
        let spilled = self.spilled(Some(RCX));
        self.out.hot.store(scratch, RCX);
        self.note(at.index, spilled);
        for (i, &(mem, bytes)) in cells.iter().enumerate() {
            if i > 0 && mem.uses(RCX) {
                self.out.hot.load(RCX, scratch);
            }
            encode::load_rcx(&mut self.out.hot, mem, bytes);
            others.push(self.out.hot.jump_unless_rcx_is_zero());
        }
        self.out.hot.load(RCX, scratch);
        self.note_spilled(at.index);
        let skip = self.out.hot.jmp_open();
        let here = self.out.hot.here();
        others.into_iter().for_each(|field| self.out.hot.patch(field, here));
        self.note(at.index, spilled);
        self.out.hot.load(RCX, scratch);
        self.note_spilled(at.index);
        skip
    }

    /// Exits by `stub` unless rcx, which is in its slot, is 0.
    pub(super) fn exit_unless_zero(&mut self, at: At<'_>, stub: u64) {
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        self.out.hot.jmp_unless_rcx_is_zero(stub);
    }

    pub(super) fn jump_if_not_equal(&mut self, stub: u64) {
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

    /// Spills registers now that [`Emitter::union`] needs: at the jump they have to be what they are afterwards.
    fn take_temporaries(&mut self, sources: &[Source]) {
        let vector = |source: &Source| matches!(source, Source::Vector(_) | Source::Memory(_, 16 | 32 | 64));
        if sources.iter().any(vector) {
            self.temporary(1);
        }
    }

    /// All vector sources, one over the other, in a register; nothing without one.
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

    /// Bytes of a union: VEX tests have no more than 32.
    fn union_bytes(&mut self) -> u8 {
        if self.has_upper() { 64 } else { self.shadow_bytes().min(32) }
    }

    fn unite(&mut self, first: Option<u8>, register: u8) -> u8 {
        let Some(first) = first else { return register };
        let to = self.temporary(0);
        let length = Length::of(self.union_bytes());
        self.out.hot.vector(Vector::new(forms::OR, Format::F64, length, [to, first], Place::Reg(register)));
        to
    }

    /// Sets the flags to "not equal" if a bit of `register` is set.
    pub(super) fn test_union(&mut self, register: u8) {
        if self.has_upper() {
            self.mask_of_lanes(register);
            return encode::test_mask(&mut self.out.hot);
        }
        let length = Length::of(self.union_bytes());
        let test = Vector::unary(forms::TEST_FLAGS, Format::F64, length, register, Place::Reg(register));
        self.out.hot.vector(test);
    }

    /// Makes rcx something other than 0 if a bit of `register` is set. Keeps the flags.
    pub(super) fn union_to_rcx(&mut self, register: u8) {
        if self.has_upper() {
            self.mask_of_lanes(register);
            return encode::mask_to_rcx(&mut self.out.hot);
        }
        let bytes = self.union_bytes();
        let (length, all_lanes) = (Length::of(bytes), (1 << (bytes / 8)) - 1);
        let to = self.temporary(0);
        let zero = Place::Mem(Constants::at(self.mirror().settings.constants).zero());
        self.out.hot.vector(Vector::new(forms::EQUAL_64, Format::F64, length, [to, register], zero));
        self.out.hot.vector(Vector::unary(forms::SIGNS, Format::F64, length, RCX, Place::Reg(to)));
        self.out.hot.add_rcx(-all_lanes);
    }

    /// Leaves in mask register 1 which lanes of `register` have a bit.
    fn mask_of_lanes(&mut self, register: u8) {
        let registers = [encode::MASK, register];
        self.out.hot.vector(Vector::new(
            forms::TEST,
            Format::F64,
            Length::B64,
            registers,
            Place::Reg(register),
        ));
    }

    /// Cold code that puts back what is spilled and takes a side exit; its address.
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

/// Tells whether the instruction pops a general register other than rcx and rsp, and does nothing else.
fn pops_other_register(insn: &Instruction) -> bool {
    let register = insn.op0_register();
    rows::row(insn) == Row::General(General::Pop)
        && register.is_gpr64()
        && !matches!(register, Register::RCX | Register::RSP)
}

/// Tells whether an instruction does nothing with the memory that it names but compute its address, or ask for it early.
fn only_names_memory(insn: &Instruction) -> bool {
    rows::computes_address(insn) || rows::row(insn) == Row::Hint
}

/// The general registers that make the address of the instruction's explicit memory operand, if it goes there.
pub(crate) fn address_registers(insn: &Instruction) -> impl Iterator<Item = Register> + use<> {
    let registers = [insn.memory_base(), insn.memory_index()];
    let goes = operand::has_memory(insn) && !only_names_memory(insn);
    registers.into_iter().filter(move |register| goes && register.is_gpr()).map(Register::full_register)
}
