//! Code that changes code: only where the region is writable and executable at once.

use super::idioms::instr;
use super::op::Fix;
use super::sequence::Gen;
use iced_x86::{Code, MemoryOperand, Register};

impl Gen<'_> {
    pub(super) fn self_modification(&mut self) {
        match self.rng.below(3) {
            0 => self.patch_ahead(),
            1 => self.patch_in_loop(),
            _ => self.patch_function(),
        }
    }

    fn code_memory(&self) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RIP, self.addr as i64)
    }

    /// One of the eight registers whose `mov reg, imm32` has the immediate at offset 1.
    fn old_register(&mut self) -> Option<Register> {
        let free: Vec<_> =
            Register::values().filter(|r| r.is_gpr32() && r.number() < 8 && self.is_free(*r)).collect();
        (!free.is_empty()).then(|| self.rng.pick(&free))
    }

    /// Stores into an instruction that comes next, or after a jump.
    fn patch_ahead(&mut self) {
        let Some(reg) = self.old_register() else { return };
        let target = self.new_label();
        let (old, new) = (self.rng.next() as i32, self.rng.next() as i32);
        let store = instr!(with2, Code::Mov_rm32_imm32, self.code_memory(), new);
        self.emit_fixed(store, Fix::Memory(target, 1));
        if self.rng.one_in(2) {
            self.branch(Code::Jmp_rel32_64, target);
        }
        self.place(target);
        self.emit(instr!(with2, Code::Mov_r32_imm32, reg, old));
    }

    /// The immediate counts up with each round.
    fn patch_in_loop(&mut self) {
        let Some(reg) = self.old_register() else { return };
        let (head, patched) = (self.new_label(), self.new_label());
        let mut counter = self.scratch();
        while counter == reg.full_register() {
            counter = self.scratch();
        }
        let rounds = self.rng.range(2, 5) as u64;
        self.set(counter, rounds);
        self.place(head);
        self.keeping(counter, |g| g.body(2));
        self.place(patched);
        self.emit(instr!(with2, Code::Mov_r32_imm32, reg, 5));
        let add = instr!(with2, Code::Add_rm32_imm8, self.code_memory(), 3);
        self.emit_fixed(add, Fix::Memory(patched, 1));
        self.emit(instr!(with1, Code::Dec_rm64, counter));
        self.branch(Code::Jne_rel32_64, head);
    }

    /// A function that is different when it is called again.
    fn patch_function(&mut self) {
        let Some(reg) = self.old_register() else { return };
        let (entry, patched) = (self.new_label(), self.new_label());
        let value = self.rng.next() as i32;
        self.in_tail(|g| {
            g.place(entry);
            g.in_call(|g| g.body(2));
            g.place(patched);
            g.emit(instr!(with2, Code::Mov_r32_imm32, reg, value));
            g.emit(iced_x86::Instruction::with(Code::Retnq));
        });
        self.branch(Code::Call_rel32_64, entry);
        let flip = instr!(with2, Code::Xor_rm32_imm32, self.code_memory(), 0x7777_7777);
        self.emit_fixed(flip, Fix::Memory(patched, 1));
        self.branch(Code::Call_rel32_64, entry);
    }
}
