//! Exits of a block: branches, calls and returns, system calls, and the stubs of exits to the engine.

use super::asm::{self, Asm, Gpr, RAX, RCX, Rel32};
use super::branch_table::table_jump;
use super::code::{ExitKind, ExitSite, Slot, Spilled};
use super::discover::runs_then_exits;
use super::emit::Emitter;
use super::far;
use super::insn::Insn;
use super::mirror::encode;
use super::mode::Mode;
use super::returns::return_pops;
use super::rows::{self, System};
use super::table::{Row, X87};
use super::vector::{At, Mem};
use crate::context::Context;
use iced_x86::{Code, FlowControl, Instruction, MemoryOperand, OpKind, Register};

impl Emitter {
    pub(super) fn jcc(&mut self, insn: &Insn) {
        // iced numbers condition codes from 1 in the hardware's order.
        let condition = insn.decoded.condition_code() as u8 - 1;
        let target = insn.decoded.near_branch_target();
        let turn = self.turns_back(target);
        let field = self.out.hot.jcc_open(condition);
        match turn {
            Some(entry) => self.link_turn(field, target, entry),
            None => self.link_exit(field, target),
        }
    }

    pub(super) fn end_block(&mut self, index: usize, insn: &Insn) {
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
                self.spill_rcx();
                if self.mode.is_wrapped() {
                    self.function_return(index, insn);
                }
                pop_into_rcx(&mut self.out.hot, insn);
                self.rcx_spilled = false;
                self.through_table();
            }
            FlowControl::IndirectBranch => {
                self.load_target(index, decoded);
                self.through_table();
            }
            FlowControl::IndirectCall => {
                self.load_target(index, decoded);
                self.note(index, Spilled { rcx: true, ..Spilled::default() });
                self.push_address(decoded.next_ip());
                self.through_table();
            }
            other => panic!("{other:?} cannot end a superblock"),
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

    pub(super) fn push_address(&mut self, address: u64) {
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

    pub(super) fn expected_return(&mut self, index: usize, insn: &Insn, address: u64) {
        let expected = i32::try_from(address).expect("discovery follows comparable calls only");
        self.spill_rcx();
        pop_into_rcx(&mut self.out.hot, insn);
        self.note(index, Spilled { rcx: true, ..Spilled::default() });
        self.out.hot.add_rcx(-expected);
        let miss = self.out.cold.here();
        self.out.hot.jmp_unless_rcx_is_zero(miss);
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

    /// Exits to the engine for the target in rcx.
    fn look_up(&mut self, hot: bool) {
        let target = self.frame.field(Context::OFFSET_IB_TARGET);
        let slot = self.frame.slot(Slot::Rcx);
        let code = if hot { &mut self.out.hot } else { &mut self.out.cold };
        code.store(target, RCX);
        code.load(RCX, slot);
        if hot {
            self.exit(ExitKind::Lookup);
        } else {
            self.stub(ExitKind::Lookup, 0);
        }
    }

    /// Loads the target of an indirect branch into rcx, which is spilled first.
    fn load_target(&mut self, index: usize, branch: &Instruction) {
        self.spill_rcx();
        self.rcx_spilled = false;
        let here = self.out.hot.here();
        let code = if branch.op0_kind() == OpKind::Register {
            let load = Instruction::with2(Code::Mov_r64_rm64, Register::RCX, branch.op0_register());
            far::encode(&load.expect("mov rcx, r64"), &mut self.encoder, here)
        } else if branch.is_ip_rel_memory_operand() {
            let target = branch.ip_rel_memory_address();
            self.out.hot.mov_imm(RCX, target);
            self.note(index, Spilled { rcx: true, ..Spilled::default() });
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

    pub(super) fn exit_for_engine(&mut self, index: usize, insn: &Insn) {
        let pc = insn.pc();
        if rows::system(&insn.decoded) == Some(System::Call) {
            self.syscall(insn.decoded.next_ip());
        } else if runs_then_exits(&insn.decoded) {
            self.copy(index, insn);
            self.go_on_without_address(insn);
            self.exit(ExitKind::Executed(pc));
        } else {
            self.exit(ExitKind::Engine(pc));
        }
    }

    /// Goes on after an instruction that has stored no address of an x87 instruction where it could have, as none has run yet.
    fn go_on_without_address(&mut self, insn: &Insn) {
        let plain = self.mirror.is_none() && !self.mode.is_out_of_line();
        let Some(address) = x87_address(&insn.decoded).filter(|_| plain) else { return };
        let scratch = self.frame.slot(Slot::Scratch);
        self.out.hot.store(scratch, RCX);
        encode::load_rcx(&mut self.out.hot, address, 4);
        let other = self.out.hot.jump_unless_rcx_is_zero();
        self.out.hot.load(RCX, scratch);
        self.jump_to(insn.decoded.next_ip());
        let here = self.out.hot.here();
        self.out.hot.patch(other, here);
        self.out.hot.load(RCX, scratch);
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

    pub(super) fn jump_to(&mut self, target: u64) {
        let field = self.out.hot.jmp_open();
        self.link_exit(field, target);
    }

    pub(super) fn link_exit(&mut self, field: Rel32, target: u64) {
        let mode = self.carrying();
        let kind = ExitKind::Jump(target, mode);
        let stays = mode.has_rules_mxcsr();
        let spills = self.rcx_spilled || self.is_any_spilled() || self.has_rules_mxcsr() && !stays;
        if spills || self.has_open_record() {
            let start = self.out.cold.here();
            if self.rcx_spilled {
                self.out.cold.load(RCX, self.frame.slot(Slot::Rcx));
            }
            self.close_in_passing();
            self.put_back_but(stays);
            let onwards = self.out.cold.jmp_open();
            let stub = self.jump_stub(kind, onwards.0, stays);
            self.out.cold.patch(onwards, stub);
            return self.out.hot.patch(field, start);
        }
        let stub = self.jump_stub(kind, field.0, stays);
        self.out.hot.patch(field, stub);
    }

    /// The stub of a jump that is not linked; with `puts_back`, MXCSR is that of rules.
    fn jump_stub(&mut self, kind: ExitKind, patch: u64, puts_back: bool) -> u64 {
        let start = self.out.cold.here();
        if puts_back {
            self.out.cold.load_mxcsr(self.frame.slot(Slot::Mxcsr));
        }
        self.stub(kind, patch);
        self.out.exits.last_mut().expect("the stub's").stub = start;
        start
    }

    pub(super) fn exit(&mut self, kind: ExitKind) {
        let field = self.out.hot.jmp_open();
        let stub = self.stub(kind, 0);
        self.out.hot.patch(field, stub);
    }

    /// A cold stub of a new exit to the engine.
    pub(super) fn stub(&mut self, kind: ExitKind, patch: u64) -> u64 {
        self.stub_towards(kind, patch, self.mode)
    }

    /// A cold stub of an exit to the engine, which goes on in `mode`.
    pub(super) fn stub_towards(&mut self, kind: ExitKind, patch: u64, mode: Mode) -> u64 {
        let number = self.first_exit + self.out.exits.len() as u32;
        let cold = &mut self.out.cold;
        let stub = cold.here();
        cold.store(self.frame.field(Context::OFFSET_RAX), RAX);
        cold.mov_imm(RAX, u64::from(number));
        cold.jmp(self.frame.exit);
        self.out.exits.push(ExitSite { kind, patch, stub, mode });
        stub
    }
}

/// Memory where `fnstenv` has stored the address of the last x87 instruction, if its operand is relative to registers alone.
fn x87_address(insn: &Instruction) -> Option<Mem> {
    /// Size of the environment in its long form, and the place there.
    const LONG: usize = 28;
    const ADDRESS: i32 = 12;
    let number = |register: Register| register.is_gpr64().then(|| register.number() as Gpr);
    let base = number(insn.memory_base())?;
    let index = number(insn.memory_index()).map(|index| (index, insn.memory_index_scale() as u8));
    let known = index.is_some() || insn.memory_index() == Register::None;
    let is_long = rows::row(insn) == Row::X87(X87::SaveEnvironment) && insn.memory_size().size() == LONG;
    let plain = is_long && insn.segment_prefix() == Register::None;
    let displacement = (insn.memory_displacement64() as i32).checked_add(ADDRESS)?;
    let at = At::Base { base: Some(base), index, displacement };
    (known && plain).then_some(Mem { gs: false, fs: false, address32: false, at })
}

/// Pops what the return instruction `insn` does.
pub(super) fn pop_into_rcx(code: &mut Asm, insn: &Insn) {
    code.raw(&[0x59]);
    let arguments = return_pops(&insn.decoded) - 8;
    if arguments != 0 {
        code.move_stack_pointer(arguments);
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
