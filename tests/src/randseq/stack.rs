//! Pushes, pops, frames and flags on the stack.
//!
//! Within a function everything is balanced; elsewhere a case may leave rsp a little off, which the next item then
//! has to live with.

use super::idioms::instr;
use super::sequence::Gen;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Gen<'_> {
    pub(super) fn stack(&mut self) {
        match self.rng.below(10) {
            0..=2 => self.push_and_pop(),
            3 if !self.in_function => self.lone_push(),
            4 if !self.in_function => self.lone_pop(),
            5 => self.frame(),
            6 => self.flags(),
            7 => self.red_zone(),
            8 => self.moved_rsp(),
            _ => self.push_and_pop(),
        }
    }

    fn on_register(&mut self, code: Code, any: Register) -> Instruction {
        let wide = matches!(code, Code::Push_r64 | Code::Pop_r64 | Code::Push_rm64 | Code::Pop_rm64);
        let reg = if wide { any } else { Register::AX + any.number() as u32 };
        instr!(with1, code, reg)
    }

    fn any_push(&mut self, wide: bool) {
        let value = self.rng.interesting() as i32;
        let any = Register::RAX + self.rng.below(16) as u32;
        let instr = match (self.rng.below(7), wide) {
            (0, true) => instr!(with1, Code::Pushq_imm32, value),
            (0, false) => instr!(with1, Code::Push_imm16, value & 0x7fff),
            (1, true) => instr!(with1, Code::Pushq_imm8, value % 128),
            (1, false) => instr!(with1, Code::Pushw_imm8, value % 128),
            (2, true) => instr!(with1, Code::Push_rm64, self.mem(8, 1)),
            (2, false) => instr!(with1, Code::Push_rm16, self.mem(2, 1)),
            (3, _) => self.push_selector(wide),
            (4, true) => self.on_register(Code::Push_rm64, any),
            (4, false) => self.on_register(Code::Push_rm16, any),
            (_, true) => self.on_register(Code::Push_r64, any),
            (_, false) => self.on_register(Code::Push_r16, any),
        };
        self.emit(instr);
    }

    fn push_selector(&mut self, wide: bool) -> Instruction {
        let (fs, gs) = match wide {
            true => (Code::Pushq_FS, Code::Pushq_GS),
            false => (Code::Pushw_FS, Code::Pushw_GS),
        };
        match self.rng.one_in(2) {
            true => instr!(with1, fs, Register::FS),
            false => instr!(with1, gs, Register::GS),
        }
    }

    fn any_pop(&mut self, wide: bool) {
        let reg = self.scratch();
        let instr = match (self.rng.below(5), wide) {
            // An rsp-based operand counts from after the pop: the generator keeps clear of return addresses anyway.
            (0, true) => instr!(with1, Code::Pop_rm64, self.mem(8, 1)),
            (0, false) => instr!(with1, Code::Pop_rm16, self.mem(2, 1)),
            (1, true) => self.on_register(Code::Pop_rm64, reg),
            (1, false) => self.on_register(Code::Pop_rm16, reg),
            (_, true) => self.on_register(Code::Pop_r64, reg),
            (_, false) => self.on_register(Code::Pop_r16, reg),
        };
        self.emit(instr);
    }

    fn push_and_pop(&mut self) {
        let wide = !self.rng.one_in(5);
        let depth = self.rng.range(1, 3);
        (0..depth).for_each(|_| self.any_push(wide));
        if self.rng.one_in(2) {
            self.plain();
        }
        (0..depth).for_each(|_| self.any_pop(wide));
    }

    fn lone_push(&mut self) {
        let wide = !self.rng.one_in(6);
        self.any_push(wide);
    }

    fn lone_pop(&mut self) {
        let wide = !self.rng.one_in(6);
        self.any_pop(wide);
    }

    /// enter … leave, or what compilers make of it. rbp is the frame meanwhile.
    fn frame(&mut self) {
        if !self.is_free(Register::RBP) {
            return;
        }
        let size = 8 * self.rng.below(8) as i32;
        match self.rng.below(3) {
            0 => {
                let level = self.rng.below(4) as i32;
                // Nested levels read the frame pointers below rbp.
                let below = MemoryOperand::with_base_displ(Register::RSP, -64);
                self.emit(instr!(with2, Code::Lea_r64_m, Register::RBP, below));
                let code = self.rng.pick(&[Code::Enterq_imm16_imm8, Code::Enterw_imm16_imm8]);
                self.enter(code, size, level);
            }
            1 => {
                self.emit(instr!(with1, Code::Push_r64, Register::RBP));
                self.emit(instr!(with2, Code::Mov_rm64_r64, Register::RBP, Register::RSP));
                self.emit(instr!(with2, Code::Sub_rm64_imm8, Register::RSP, size));
                self.keeping(Register::RBP, |g| g.plain());
                self.emit(Instruction::with(Code::Leaveq));
            }
            _ => self.leave_word(),
        }
    }

    /// With a 16-bit operand, enter and leave move two bytes of bp but all of rsp.
    fn enter(&mut self, code: Code, size: i32, level: i32) {
        let saved = self.scratch();
        if saved == Register::RBP {
            return;
        }
        self.emit(instr!(with2, Code::Mov_rm64_r64, saved, Register::RSP));
        self.emit(instr!(with2, code, size, level));
        self.keeping(saved, |g| g.keeping(Register::RBP, |g| g.plain()));
        if code == Code::Enterq_imm16_imm8 && level == 0 {
            self.emit(Instruction::with(Code::Leaveq));
        }
        self.emit(instr!(with2, Code::Mov_rm64_r64, Register::RSP, saved));
    }

    fn leave_word(&mut self) {
        self.emit(instr!(with1, Code::Push_r16, Register::BP));
        self.emit(instr!(with2, Code::Mov_rm64_r64, Register::RBP, Register::RSP));
        self.emit(Instruction::with(Code::Leavew));
    }

    /// Flags as a program sees them on the stack: read, changed, restored. TF, NT and AC stay as they are.
    fn flags(&mut self) {
        let wide = !self.rng.one_in(4);
        let (push, pop) = if wide { (Code::Pushfq, Code::Popfq) } else { (Code::Pushfw, Code::Popfw) };
        self.emit(Instruction::with(push));
        let top = MemoryOperand::with_base(Register::RSP);
        let toggled = self.rng.next() as i32 & 0xcd5;
        match self.rng.below(3) {
            0 => self.emit(instr!(with2, Code::Xor_rm16_imm16, top, toggled)),
            1 if wide => self.emit(instr!(with2, Code::Xor_rm32_imm32, top, toggled | 0x20_0000)),
            _ => {
                let load = if wide { Code::Pop_r64 } else { Code::Pop_r16 };
                let reg = self.scratch();
                let instr = self.on_register(load, reg);
                self.emit(instr);
                return;
            }
        }
        self.emit(Instruction::with(pop));
    }

    /// The 128 bytes below rsp belong to the program.
    fn red_zone(&mut self) {
        let source = Register::RAX + self.rng.below(16) as u32;
        let target = self.scratch();
        let slot = MemoryOperand::with_base_displ(Register::RSP, -8 * self.rng.range(1, 16));
        self.emit(instr!(with2, Code::Mov_rm64_r64, slot, source));
        self.plain();
        self.emit(instr!(with2, Code::Mov_r64_rm64, target, slot));
    }

    /// rsp as an operand of ordinary arithmetic.
    fn moved_rsp(&mut self) {
        let bytes = self.rng.range(1, 24) as i32;
        let saved = self.scratch();
        let down = MemoryOperand::with_base_displ(Register::RSP, i64::from(-bytes));
        self.emit(instr!(with2, Code::Mov_r64_rm64, saved, Register::RSP));
        match self.rng.below(3) {
            0 => self.emit(instr!(with2, Code::Lea_r64_m, Register::RSP, down)),
            1 => self.emit(instr!(with2, Code::Sub_rm64_imm8, Register::RSP, bytes)),
            _ => self.emit(instr!(with2, Code::And_rm64_imm8, Register::RSP, -16)),
        }
        self.keeping(saved, |g| g.push_and_pop());
        let code = self.rng.pick(&[Code::Mov_rm64_r64, Code::Xchg_rm64_r64]);
        self.emit(instr!(with2, code, Register::RSP, saved));
    }
}
