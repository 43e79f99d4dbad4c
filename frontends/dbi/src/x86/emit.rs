//! Emission: a superblock becomes code. Guest instructions are copied as they are; what moves control, and what
//! addresses memory relative to rip, is rewritten.
//!
//! The code touches neither the guest's flags nor its stack nor any register it does not put back. Hot code holds
//! the likely path, cold code the stubs and misses. Knows nothing of caches, links or signals: it says where exits
//! are and what they mean.

use super::asm::{self, Asm, Gpr, RAX, RCX, Rel32};
use super::discover::{End, Flow, Insn, Superblock, runs_then_exits};
use super::far;
use super::mirror::Mirror;
use super::mode::{Mode, TABLES};
use super::rcx::{Effect, on_rcx};
use crate::context::{ASIDE, Context};
use iced_x86::{
    Code, Encoder, FlowControl, Instruction, InstructionInfoFactory, MemoryOperand, OpKind, Register,
};

/// Context slots that blocks set guest registers aside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// rax, during an indirect branch.
    Rax,
    /// rcx, during an indirect branch.
    Rcx,
    /// The register borrowed for a far operand.
    Borrowed,
    /// The register borrowed by an annotation.
    Scratch,
    /// The register borrowed for the linear address of a segment operand.
    Address,
    /// MXCSR, while an annotation computes that raises its flags.
    Mxcsr,
}

/// Addresses of a thread's fixed pieces, all in the engine's gigabyte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The [`Context`].
    pub(crate) context: u64,
    /// The indirect-branch tables ([`Mode::table`]): 32-bit code addresses by the low 16 bits of the guest target.
    pub(crate) branch_tables: [u64; TABLES],
    /// Common exit: rax is stored, eax holds the exit's number.
    pub(crate) exit: u64,
    /// Misses of the tables: rcx holds the target, rcx and rax are in their slots.
    pub(crate) ib_misses: [u64; TABLES],
    /// System call: ecx holds the guest address after it, r11 the code to resume at.
    pub(crate) syscall: u64,
    /// A function that runs as one operation has returned: rcx holds the return address, its slot rcx.
    pub(crate) function_returned: u64,
    /// The same, with the return address in `Context::ib_target`.
    pub(crate) function_left: u64,
    /// The same, the function having been seen to: on to the return address. rax is in its slot.
    pub(crate) function_done: u64,
    /// Evaluates the dot of the function's result; r11 holds the code to resume at.
    pub(crate) evaluate: u64,
}

impl Frame {
    pub(crate) fn field(&self, offset: u32) -> u64 {
        self.context + u64::from(offset)
    }

    pub(crate) fn slot(&self, slot: Slot) -> u64 {
        self.field(Context::OFFSET_SLOTS + 8 * slot as u32)
    }
}

/// What an exit of a block means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitKind {
    /// On to the guest address, in the mode: the field at `ExitSite::patch` can be linked to its block.
    Jump(u64, Mode),
    /// Through the branch table: the load at `ExitSite::patch` fetches the address.
    Indirect,
    /// To the guest address in `Context::ib_target`.
    Lookup,
    /// The engine carries out the instruction at this address.
    Engine(u64),
    /// The instruction at this address has run; the engine puts right what it left.
    Executed(u64),
    /// The guest bytes of the block at this address are no longer what it was made from.
    Changed(u64),
    /// The block at this address has run often.
    Hot(u64),
    /// The one instruction of a solo block has run; the guest goes on at the address.
    Stepped(u64),
    /// The instruction at this address meets shadows that translated code does not see to.
    Solo(u64),
    /// The buffer of records is full; the guest goes on at the address.
    Flush(u64),
    /// The address is hooked.
    Hook(u64),
    /// The instruction at this address is a client request.
    Request(u64),
}

/// One way out of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitSite {
    pub(crate) kind: ExitKind,
    /// For `Jump` the address of the branch's 32-bit field, for `Indirect` that of the load, else 0.
    pub(crate) patch: u64,
    /// The stub that leaves to the engine; 0 for `Indirect`.
    pub(crate) stub: u64,
    /// What translated code takes for granted where it leaves.
    pub(crate) mode: Mode,
}

/// Guest registers that are not in their place at some point of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Displaced {
    pub(crate) rax: bool,
    pub(crate) rcx: bool,
    pub(crate) borrowed: Option<Gpr>,
    /// In [`Slot::Scratch`].
    pub(crate) scratch: Option<Gpr>,
    /// In [`Slot::Address`].
    pub(crate) address: Option<Gpr>,
    /// MXCSR, in its slot.
    pub(crate) mxcsr: bool,
    /// Vector registers, low 32 bytes, in the places of [`Context::aside`].
    pub(crate) vectors: [Option<u8>; ASIDE],
    /// Those are there with 64 bytes.
    pub(crate) wide: bool,
}

/// From this host address on, code belongs to instruction `insn` of the superblock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapEntry {
    pub(crate) host: u64,
    pub(crate) insn: usize,
    pub(crate) displaced: Displaced,
    pub(crate) mode: Mode,
    /// Everything before `insn` has run and nothing of it.
    pub(crate) begins: bool,
}

/// A superblock's code and what must be known about it. Reused from block to block.
pub(crate) struct Emitted {
    pub(crate) hot: Asm,
    pub(crate) cold: Asm,
    pub(crate) exits: Vec<ExitSite>,
    /// Entry for direct jumps.
    pub(crate) entry: u64,
    /// Host addresses to guest instructions, ascending; hot code only.
    pub(crate) map: Vec<MapEntry>,
}

/// Where a block's code goes and how its exits are numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) hot: u64,
    pub(crate) cold: u64,
    pub(crate) first_exit: u32,
    /// Address of the word that counts the runs left until the block leaves as `ExitKind::Hot`.
    pub(crate) runs: Option<u64>,
}

/// See the module's description.
pub(crate) struct Emitter {
    pub(crate) out: Emitted,
    pub(super) frame: Frame,
    first_exit: u32,
    pub(super) encoder: Encoder,
    pub(super) facts: InstructionInfoFactory,
    /// Whether rcx is in its slot only, until an instruction asks for it.
    rcx_aside: bool,
    /// The mode at the instruction that is being emitted.
    pub(super) mode: Mode,
    /// The hook at the block's first instruction has been seen to.
    pub(super) past_hook: bool,
    pub(crate) mirror: Option<Mirror>,
}

impl Emitter {
    /// `mirror` is how annotated modes are annotated.
    pub(crate) fn new(frame: Frame, mirror: Option<Mirror>) -> Self {
        let out =
            Emitted { hot: Asm::new(0), cold: Asm::new(0), exits: Vec::new(), entry: 0, map: Vec::new() };
        Emitter {
            out,
            frame,
            first_exit: 0,
            encoder: Encoder::new(64),
            facts: InstructionInfoFactory::new(),
            rcx_aside: false,
            mode: Mode::BARE,
            past_hook: false,
            mirror,
        }
    }

    /// Emits `block` at `place` into `self.out`; with `compare`, the block first checks that its guest bytes are
    /// still the same.
    pub(crate) fn emit(&mut self, block: &Superblock, place: Placement, mode: Mode, compare: bool) {
        self.out.hot.restart(place.hot);
        self.out.cold.restart(place.cold);
        self.out.exits.clear();
        self.out.map.clear();
        self.first_exit = place.first_exit;
        self.mode = mode.onwards();
        self.past_hook = mode.is_past_hook();
        let table = mode.table().unwrap_or(0);
        ib_entry(&mut self.out.hot, &self.frame, block.start, table);
        self.out.entry = self.out.hot.here();
        if compare {
            self.compare(block);
        }
        if let Some(runs) = place.runs {
            self.count_run(block.start, runs);
        }
        if self.mode.is_annotated() {
            self.begin_annotated(block);
        }
        self.rcx_aside = false;
        for (index, insn) in block.insns.iter().enumerate() {
            self.note(index, Displaced { rcx: self.rcx_aside, ..Displaced::default() });
            self.begins();
            if self.mode.is_annotated() {
                self.annotated(block, index);
            } else {
                self.with_rcx(index, insn);
            }
        }
        self.put_back_rcx();
        self.put_back_all();
        match block.end {
            End::Left => {}
            End::Hooked(_) if block.insns.is_empty() => self.hooked(block),
            End::Hooked(pc) => self.jump_to(pc),
            End::Request(pc) => self.leave(ExitKind::Request(pc)),
            // What cannot be decoded now is looked at again, on its own, when execution really gets there.
            End::Continues(pc) if self.mode.is_solo() => self.leave(ExitKind::Stepped(pc)),
            End::Continues(pc) | End::Invalid(pc) | End::Unmapped { pc, .. } => self.jump_to(pc),
        }
    }

    /// At the start of `block`, which is hooked.
    fn hooked(&mut self, block: &Superblock) {
        if self.mode.is_wrapped() {
            return self.inside_function(block.start);
        }
        match self.own_function(block) {
            Some(function) => self.enter_function(block.start, function),
            None => self.leave(ExitKind::Hook(block.start)),
        }
    }

    /// Counts down the word at `runs` and leaves when it becomes 0. Keeps the flags.
    fn count_run(&mut self, start: u64, runs: u64) {
        const SHORT_JMP_BYTES: u8 = 2;
        const JMP_BYTES: u8 = 5;
        let rcx = self.frame.slot(Slot::Rcx);
        let hot_exit = self.stub(ExitKind::Hot(start), 0);
        let enough = self.out.cold.here();
        self.out.cold.load(RCX, rcx);
        self.out.cold.jmp(hot_exit);
        self.out.hot.store(rcx, RCX);
        self.note(0, Displaced { rcx: true, ..Displaced::default() });
        let code = &mut self.out.hot;
        code.load(RCX, runs);
        code.add_rcx(-1);
        code.store(runs, RCX);
        code.jrcxz_over(SHORT_JMP_BYTES);
        code.raw(&[0xeb, JMP_BYTES]);
        code.jmp(enough);
        code.load(RCX, rcx);
    }

    /// Compares the block's guest bytes, eight at a time, with those it is made from. Keeps the flags.
    fn compare(&mut self, block: &Superblock) {
        let bytes: Vec<u8> = block.insns.iter().flat_map(|insn| insn.bytes().iter().copied()).collect();
        let displaced = Displaced { rax: true, rcx: true, ..Displaced::default() };
        let (rax, rcx) = (self.frame.slot(Slot::Rax), self.frame.slot(Slot::Rcx));
        let changed = self.stub(ExitKind::Changed(block.start), 0);
        let restore = self.out.cold.here();
        self.out.cold.load(RAX, rax);
        self.out.cold.load(RCX, rcx);
        self.out.cold.jmp(changed);
        self.out.hot.store(rax, RAX);
        self.out.hot.store(rcx, RCX);
        self.note(0, displaced);
        let mut at = block.start;
        for chunk in bytes.chunks(8) {
            if let Ok(eight) = chunk.try_into() {
                self.compare_word(at, u64::from_le_bytes(eight), true, restore);
            } else {
                let bytes = chunk.iter().zip(at..);
                bytes.for_each(|(&byte, at)| self.compare_word(at, u64::from(byte), false, restore));
            }
            at += chunk.len() as u64;
        }
        self.out.hot.load(RCX, rcx);
        self.out.hot.load(RAX, rax);
    }

    /// Compares the eight bytes, or the one byte, at `address` and goes to `differ` if they are not `expected`.
    fn compare_word(&mut self, address: u64, expected: u64, eight: bool, differ: u64) {
        const JMP_BYTES: u8 = 5;
        const MOV_RCX_AT_RCX: &[u8] = &[0x48, 0x8b, 0x09];
        const MOVZX_ECX_BYTE_AT_RCX: &[u8] = &[0x0f, 0xb6, 0x09];
        let hot = &mut self.out.hot;
        hot.mov_imm(RCX, address);
        hot.raw(if eight { MOV_RCX_AT_RCX } else { MOVZX_ECX_BYTE_AT_RCX });
        hot.mov_imm(RAX, expected.wrapping_neg());
        hot.add_rcx_rax();
        hot.jrcxz_over(JMP_BYTES);
        hot.jmp(differ);
    }

    pub(super) fn note(&mut self, insn: usize, displaced: Displaced) {
        let vectors = self.mirror.as_ref().map_or([None; ASIDE], Mirror::set_aside);
        let wide = self.mirror.as_ref().is_some_and(Mirror::is_wide);
        let displaced = Displaced { vectors, wide, ..displaced };
        self.out.map.push(MapEntry {
            host: self.out.hot.here(),
            insn,
            displaced,
            mode: self.mode,
            begins: false,
        });
    }

    /// What was noted last is where its instruction begins.
    fn begins(&mut self) {
        if let Some(entry) = self.out.map.last_mut() {
            entry.begins = true;
        }
    }

    pub(super) fn instruction(&mut self, index: usize, insn: &Insn) {
        match insn.flow {
            Flow::Straight => self.copy(index, insn),
            Flow::SideExit => self.jcc(insn),
            // A nop, so that single steps find an instruction here.
            Flow::FollowedJump => self.out.hot.raw(&[0x90]),
            Flow::FollowedCall => self.push_address(insn.decoded.next_ip()),
            Flow::ExpectedReturn(address) => self.expected_return(index, insn, address),
            Flow::Leaves => self.leaves(index, insn),
            Flow::Engine => self.leave_for_engine(index, insn),
        }
    }

    /// The instruction, with rcx in its place if it asks for it.
    fn with_rcx(&mut self, index: usize, insn: &Insn) {
        let effect = if self.rcx_aside { on_rcx(insn, &mut self.facts) } else { Effect::None };
        if effect == Effect::Reads {
            self.put_back_rcx();
            self.note(index, Displaced::default());
        }
        self.instruction(index, insn);
        if effect == Effect::Replaces {
            self.rcx_aside = false;
        }
    }

    fn set_rcx_aside(&mut self) {
        if !std::mem::replace(&mut self.rcx_aside, true) {
            self.out.hot.store(self.frame.slot(Slot::Rcx), RCX);
        }
    }

    fn put_back_rcx(&mut self) {
        if std::mem::replace(&mut self.rcx_aside, false) {
            self.out.hot.load(RCX, self.frame.slot(Slot::Rcx));
        }
    }

    /// The guest instruction itself.
    fn copy(&mut self, index: usize, insn: &Insn) {
        if !insn.decoded.is_ip_rel_memory_operand() {
            self.out.hot.raw(insn.bytes());
            return;
        }
        let target = insn.decoded.ip_rel_memory_address();
        if insn.decoded.code() == Code::Lea_r64_m {
            let register = insn.decoded.op0_register();
            self.out.hot.mov_imm(register.number() as Gpr, target);
        } else if self.reaches(insn, target) {
            self.copy_relocated(insn, target);
        } else {
            self.copy_far(index, insn, target);
        }
    }

    pub(super) fn reaches(&self, insn: &Insn, target: u64) -> bool {
        if insn.decoded.memory_base() == Register::EIP {
            return true;
        }
        let next = self.out.hot.here() + insn.decoded.len() as u64;
        i32::try_from(target.wrapping_sub(next) as i64).is_ok()
    }

    fn copy_relocated(&mut self, insn: &Insn, target: u64) {
        let mut bytes = insn.bytes;
        let next = self.out.hot.here() + insn.decoded.len() as u64;
        // Truncation is the meaning of an eip-relative operand, and exact for a rip-relative one within reach.
        let field = (target.wrapping_sub(next) as u32).to_le_bytes();
        let at = insn.displacement_at as usize;
        bytes[at..at + 4].copy_from_slice(&field);
        self.out.hot.raw(&bytes[..insn.decoded.len()]);
    }

    fn copy_far(&mut self, index: usize, insn: &Insn, target: u64) {
        let (base, gpr) = far::borrowed(&insn.decoded, &mut self.facts);
        let slot = self.frame.slot(Slot::Borrowed);
        self.out.hot.store(slot, gpr);
        self.out.hot.mov_imm(gpr, target);
        self.note(index, Displaced { borrowed: Some(gpr), ..Displaced::default() });
        let code = far::with_base(&insn.decoded, base, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        self.out.hot.load(gpr, slot);
    }

    fn jcc(&mut self, insn: &Insn) {
        // iced numbers condition codes from 1 in the hardware's order.
        let condition = insn.decoded.condition_code() as u8 - 1;
        let field = self.out.hot.jcc_open(condition);
        self.link_exit(field, insn.decoded.near_branch_target());
    }

    fn leaves(&mut self, index: usize, insn: &Insn) {
        let decoded = &insn.decoded;
        match decoded.flow_control() {
            FlowControl::UnconditionalBranch => self.jump_to(decoded.near_branch_target()),
            FlowControl::ConditionalBranch if decoded.is_jcc_short_or_near() => {
                self.jcc(insn);
                self.jump_to(decoded.next_ip());
            }
            FlowControl::ConditionalBranch => self.counted_branch(insn),
            FlowControl::Call => {
                self.push_address(decoded.next_ip());
                self.jump_to(decoded.near_branch_target());
            }
            FlowControl::Return => {
                self.set_rcx_aside();
                if self.mode.is_wrapped() {
                    self.function_return(index, insn);
                }
                pop_into_rcx(&mut self.out.hot, insn);
                self.rcx_aside = false;
                self.through_table();
            }
            FlowControl::IndirectBranch => {
                self.load_target(index, decoded);
                self.through_table();
            }
            FlowControl::IndirectCall => {
                self.load_target(index, decoded);
                self.note(index, Displaced { rcx: true, ..Displaced::default() });
                self.push_address(decoded.next_ip());
                self.through_table();
            }
            other => panic!("{other:?} cannot leave a superblock"),
        }
    }

    /// `jrcxz`, `loop` and their kin reach 127 bytes only: they branch over a jump to the not-taken side.
    fn counted_branch(&mut self, insn: &Insn) {
        const JMP_BYTES: u8 = 5;
        let bytes = insn.bytes();
        self.out.hot.raw(&bytes[..bytes.len() - 1]);
        self.out.hot.raw(&[JMP_BYTES]);
        self.jump_to(insn.decoded.next_ip());
        self.jump_to(insn.decoded.near_branch_target());
    }

    fn push_address(&mut self, address: u64) {
        if let Ok(value) = i32::try_from(address) {
            self.out.hot.raw(&[0x68]);
            self.out.hot.imm32(value);
        } else {
            self.out.cold.align(8);
            let constant = self.out.cold.here();
            self.out.cold.imm64(address);
            self.out.hot.raw(&[0xff, 0x35]);
            self.out.hot.rel32(constant, 0);
        }
    }

    fn expected_return(&mut self, index: usize, insn: &Insn, address: u64) {
        let expected = i32::try_from(address).expect("discovery follows comparable calls only");
        self.set_rcx_aside();
        pop_into_rcx(&mut self.out.hot, insn);
        self.note(index, Displaced { rcx: true, ..Displaced::default() });
        self.out.hot.add_rcx(-expected);
        self.out.hot.jrcxz_over(5);
        let miss = self.out.cold.here();
        self.out.hot.jmp(miss);
        if self.mode.is_annotated() {
            self.put_back_rcx();
        }
        self.out.cold.add_rcx(expected);
        match self.mode.table() {
            Some(table) => {
                let site = table_jump(&mut self.out.cold, &self.frame, table, self.mode);
                self.out.exits.push(site);
            }
            None => {
                self.look_up(false);
            }
        }
    }

    /// Leaves to the engine for the target in rcx.
    fn look_up(&mut self, hot: bool) {
        let target = self.frame.field(Context::OFFSET_IB_TARGET);
        let slot = self.frame.slot(Slot::Rcx);
        let code = if hot { &mut self.out.hot } else { &mut self.out.cold };
        code.store(target, RCX);
        code.load(RCX, slot);
        if hot {
            self.leave(ExitKind::Lookup);
        } else {
            self.stub(ExitKind::Lookup, 0);
        }
    }

    /// Loads the target of an indirect branch into rcx, which is set aside first.
    fn load_target(&mut self, index: usize, branch: &Instruction) {
        self.out.hot.store(self.frame.slot(Slot::Rcx), RCX);
        let here = self.out.hot.here();
        let code = if branch.op0_kind() == OpKind::Register {
            let load = Instruction::with2(Code::Mov_r64_rm64, Register::RCX, branch.op0_register());
            far::encode(&load.expect("mov rcx, r64"), &mut self.encoder, here)
        } else if branch.is_ip_rel_memory_operand() {
            let target = branch.ip_rel_memory_address();
            self.out.hot.mov_imm(RCX, target);
            self.note(index, Displaced { rcx: true, ..Displaced::default() });
            let through = Instruction::with2(
                Code::Mov_r64_rm64,
                Register::RCX,
                MemoryOperand::with_base(Register::RCX),
            );
            far::encode(&through.expect("mov rcx, [rcx]"), &mut self.encoder, here)
        } else {
            far::encode(&load_like(branch), &mut self.encoder, here)
        };
        self.out.hot.raw(&code);
    }

    fn through_table(&mut self) {
        match self.mode.table() {
            Some(table) => {
                let site = table_jump(&mut self.out.hot, &self.frame, table, self.mode);
                self.out.exits.push(site);
            }
            None => self.look_up(true),
        }
    }

    fn leave_for_engine(&mut self, index: usize, insn: &Insn) {
        let pc = insn.pc();
        if insn.decoded.mnemonic() == iced_x86::Mnemonic::Syscall {
            self.syscall(insn.decoded.next_ip());
        } else if runs_then_exits(&insn.decoded) {
            self.copy(index, insn);
            self.leave(ExitKind::Executed(pc));
        } else {
            self.leave(ExitKind::Engine(pc));
        }
    }

    fn syscall(&mut self, next: u64) {
        const LEA_AND_JMP: u64 = 7 + 5;
        let mode = self.mode.bits() as i32;
        self.out.hot.store_imm32(self.frame.field(Context::OFFSET_SYSCALL_MODE), mode);
        self.out.hot.mov_imm(RCX, next);
        let resume = self.out.hot.here() + LEA_AND_JMP;
        self.out.hot.lea_rip(asm::R11, resume);
        self.out.hot.jmp(self.frame.syscall);
        debug_assert_eq!(self.out.hot.here(), resume);
        self.jump_to(next);
    }

    fn jump_to(&mut self, target: u64) {
        let field = self.out.hot.jmp_open();
        self.link_exit(field, target);
    }

    pub(super) fn link_exit(&mut self, field: Rel32, target: u64) {
        let kind = ExitKind::Jump(target, self.mode);
        if self.rcx_aside || self.is_any_aside() {
            let start = self.out.cold.here();
            if self.rcx_aside {
                self.out.cold.load(RCX, self.frame.slot(Slot::Rcx));
            }
            self.put_back_in_passing();
            let onwards = self.out.cold.jmp_open();
            let stub = self.stub(kind, onwards.0);
            self.out.cold.patch(onwards, stub);
            return self.out.hot.patch(field, start);
        }
        let stub = self.stub(kind, field.0);
        self.out.hot.patch(field, stub);
    }

    pub(super) fn leave(&mut self, kind: ExitKind) {
        let field = self.out.hot.jmp_open();
        let stub = self.stub(kind, 0);
        self.out.hot.patch(field, stub);
    }

    /// A cold stub that leaves to the engine by a new exit.
    pub(super) fn stub(&mut self, kind: ExitKind, patch: u64) -> u64 {
        let number = self.first_exit + self.out.exits.len() as u32;
        let cold = &mut self.out.cold;
        let stub = cold.here();
        cold.store(self.frame.field(Context::OFFSET_RAX), RAX);
        cold.mov_imm(RAX, u64::from(number));
        cold.jmp(self.frame.exit);
        self.out.exits.push(ExitSite { kind, patch, stub, mode: self.mode });
        stub
    }
}

/// Pops what the return instruction `insn` does.
pub(super) fn pop_into_rcx(code: &mut Asm, insn: &Insn) {
    code.raw(&[0x59]);
    if insn.decoded.op_count() == 1 {
        // lea rsp, [rsp + imm]
        code.raw(&[0x48, 0x8d, 0xa4, 0x24]);
        code.imm32(i32::from(insn.decoded.immediate16()));
    }
}

/// `mov rcx, m64` with the memory operand of an indirect branch.
fn load_like(branch: &Instruction) -> Instruction {
    let mut load = Instruction::new();
    load.set_code(Code::Mov_r64_rm64);
    load.set_op0_kind(OpKind::Register);
    load.set_op0_register(Register::RCX);
    load.set_op1_kind(OpKind::Memory);
    load.set_memory_base(branch.memory_base());
    load.set_memory_index(branch.memory_index());
    load.set_memory_index_scale(branch.memory_index_scale());
    load.set_memory_displacement64(branch.memory_displacement64());
    load.set_memory_displ_size(branch.memory_displ_size());
    load.set_segment_prefix(branch.segment_prefix());
    load
}

/// Length of the load that `ExitKind::Indirect` patches; the jump to what it loaded follows.
pub(crate) const TABLE_LOAD_BYTES: u64 = 7;

/// `mov eax, [rax * 4 + table]`: an absolute address, hence the table below 2^31.
pub(crate) fn table_load(frame: &Frame, table: usize) -> [u8; TABLE_LOAD_BYTES as usize] {
    let table = i32::try_from(frame.branch_tables[table]).expect("branch table below 2^31").to_le_bytes();
    [0x8b, 0x04, 0x85, table[0], table[1], table[2], table[3]]
}

/// Jumps to the branch table's entry for the target in rcx.
fn table_jump(code: &mut Asm, frame: &Frame, table: usize, mode: Mode) -> ExitSite {
    code.store(frame.slot(Slot::Rax), RAX);
    // movzx eax, cx
    code.raw(&[0x0f, 0xb7, 0xc1]);
    let patch = code.here();
    code.raw(&table_load(frame, table));
    // jmp rax
    code.raw(&[0xff, 0xe0]);
    ExitSite { kind: ExitKind::Indirect, patch, stub: 0, mode }
}

/// What arrivals through the branch table run first: check that the target in rcx is `pc`, then put rax and rcx
/// back. Falls through to the block.
pub(crate) fn ib_entry(code: &mut Asm, frame: &Frame, pc: u64, table: usize) {
    if let Ok(small) = i32::try_from(pc) {
        code.add_rcx(-small);
        code.jrcxz_over(7 + 5);
        code.add_rcx(small);
    } else {
        code.mov_imm(RAX, pc.wrapping_neg());
        code.add_rcx_rax();
        let undo_bytes = if u32::try_from(pc).is_ok() { 5 } else { 10 };
        code.jrcxz_over(undo_bytes + 4 + 5);
        code.mov_imm(RAX, pc);
        code.add_rcx_rax();
    }
    code.jmp(frame.ib_misses[table]);
    code.load(RAX, frame.slot(Slot::Rax));
    code.load(RCX, frame.slot(Slot::Rcx));
}
