//! Calls, returns and indirect jumps, in every form a compiler or an assembler programmer uses.

use super::control::{JUMP, branch_instr};
use super::idioms::instr;
use super::op::{Fix, Label, Piece, Style};
use super::sequence::Gen;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Gen<'_> {
    /// A function behind the end of the sequence: its label.
    fn function(&mut self, most: u64, finish: impl FnOnce(&mut Self)) -> Label {
        let entry = self.new_label();
        self.in_tail(|g| {
            g.place(entry);
            g.in_call(|g| {
                g.body(most);
                finish(g);
            });
        });
        entry
    }

    fn ret(&mut self) {
        let instr = Instruction::with(Code::Retnq);
        // rep ret was good advice for years; bnd ret is what MPX made of it.
        let prefix: &'static [u8] = self.rng.pick(&[&[][..], &[], &[0xf3], &[0xf2]]);
        self.emit_styled(instr, Style { prefix, ..Style::default() });
    }

    pub(super) fn call(&mut self) {
        let function = self.function(3, |g| g.ret());
        let times = self.rng.range(1, 2);
        for _ in 0..times {
            self.call_somehow(function);
        }
        if self.rng.one_in(3) {
            // Another that ends in a tail call of the first.
            let jump = self.rng.one_in(2);
            let second = self
                .function(1, |g| if jump { g.branch(JUMP.1, function) } else { g.jump_somehow(function) });
            self.call_somehow(second);
        }
    }

    fn call_somehow(&mut self, function: Label) {
        match self.rng.below(6) {
            0..=2 => {
                // What linkers leave of a TLS access that was relaxed.
                let prefix: &'static [u8] = self.rng.pick(&[&[][..], &[], &[], &[0x66, 0x66, 0x48], &[0xf2]]);
                let style = Style { prefix, ..Style::default() };
                self.push(Piece::Instr(branch_instr(Code::Call_rel32_64), style), Fix::Branch(function));
            }
            3 => {
                let reg = self.address_of(function);
                let prefix: &'static [u8] = self.rng.pick(&[&[][..], &[0x3e], &[0xf2]]);
                self.emit_styled(instr!(with1, Code::Call_rm64, reg), Style { prefix, ..Style::default() });
            }
            4 => self.through_memory(Code::Call_rm64, function),
            _ => self.through_table(Code::Call_rm64, function),
        }
    }

    fn jump_somehow(&mut self, target: Label) {
        match self.rng.below(4) {
            0 => {
                let reg = self.address_of(target);
                let prefix: &'static [u8] = self.rng.pick(&[&[][..], &[0x3e], &[0xf2]]);
                self.emit_styled(instr!(with1, Code::Jmp_rm64, reg), Style { prefix, ..Style::default() });
            }
            1 => self.through_memory(Code::Jmp_rm64, target),
            2 => self.through_table(Code::Jmp_rm64, target),
            _ => self.through_indexed_table(target),
        }
    }

    /// Loads a label's address into a register, by immediate or relative to rip.
    pub(super) fn address_of(&mut self, label: Label) -> Register {
        let reg = self.scratch();
        if self.rng.one_in(2) {
            self.emit_fixed(instr!(with2, Code::Mov_r64_imm64, reg, 0u64), Fix::Immediate(label));
        } else {
            let here = MemoryOperand::with_base_displ(Register::RIP, self.addr as i64);
            self.emit_fixed(instr!(with2, Code::Lea_r64_m, reg, here), Fix::Memory(label, 0));
        }
        reg
    }

    /// The address goes to data memory first. An rsp-based operand of a call still means rsp before the push.
    fn through_memory(&mut self, code: Code, target: Label) {
        let reg = self.address_of(target);
        let mem = self.mem(8, 1);
        self.emit(instr!(with2, Code::Mov_rm64_r64, mem, reg));
        self.emit(instr!(with1, code, mem));
    }

    /// As calls through a GOT or a switch's table do.
    fn through_table(&mut self, code: Code, target: Label) {
        let table = self.new_label();
        self.in_tail(|g| {
            g.place(table);
            g.pointer(target);
        });
        let here = MemoryOperand::with_base_displ(Register::RIP, self.addr as i64);
        self.emit_fixed(instr!(with1, code, here), Fix::Memory(table, 0));
    }

    fn through_indexed_table(&mut self, target: Label) {
        let table = self.new_label();
        let wrong = self.new_label();
        let chosen = self.rng.below(4);
        self.in_tail(|g| {
            g.place(wrong);
            g.trap();
            g.place(table);
            (0..4).for_each(|i| g.pointer(if i == chosen { target } else { wrong }));
        });
        let base = self.address_of(table);
        self.keeping(base, |g| {
            let index = g.scratch();
            g.set(index, chosen);
            let entry = MemoryOperand::with_base_index_scale(base, index, 8);
            g.emit(instr!(with1, Code::Jmp_rm64, entry));
        });
    }

    /// Arguments on the stack that the function removes.
    pub(super) fn call_with_arguments(&mut self) {
        if self.in_function {
            return self.call();
        }
        let words = self.rng.range(0, 3) as i32;
        let function = self.function(2, |g| g.emit(instr!(with1, Code::Retnq_imm16, 8 * words)));
        for _ in 0..words {
            let any = Register::RAX + self.rng.below(16) as u32;
            self.emit(instr!(with1, Code::Push_r64, any));
        }
        self.call_somehow(function);
    }

    pub(super) fn indirect_jump(&mut self) {
        let target = self.new_label();
        self.jump_somehow(target);
        self.trap();
        self.place(target);
    }

    /// push and ret: a jump that no call goes with.
    pub(super) fn push_return(&mut self) {
        let target = self.new_label();
        let reg = self.address_of(target);
        self.emit(instr!(with1, Code::Push_r64, reg));
        self.ret();
        self.trap();
        self.place(target);
    }

    /// Calls of the next instruction, and functions that change where they return to.
    pub(super) fn call_next(&mut self) {
        let next = self.new_label();
        let reg = self.scratch();
        let top = MemoryOperand::with_base(Register::RSP);
        if self.rng.one_in(2) {
            self.branch(Code::Call_rel32_64, next);
            self.place(next);
            self.emit(instr!(with1, Code::Pop_r64, reg));
            return;
        }
        let skipping = self.rng.one_in(2);
        let function = self.function(1, |g| {
            if skipping {
                g.emit(instr!(with2, Code::Add_rm64_imm8, top, 2));
            } else {
                g.emit(instr!(with1, Code::Pop_r64, reg));
                g.emit(instr!(with2, Code::Lea_r64_m, reg, MemoryOperand::with_base_displ(reg, 2)));
                g.emit(instr!(with1, Code::Push_r64, reg));
            }
            g.ret();
        });
        self.call_somehow(function);
        self.trap();
    }

    /// Deeper than a superblock looks, never deeper than six.
    pub(super) fn recursion(&mut self) {
        let counter = self.scratch();
        let depth = self.rng.range(1, 6) as u64;
        let (entry, out) = (self.new_label(), self.new_label());
        self.set(counter, depth);
        self.keeping(counter, |g| {
            let inside = |g: &mut Self| {
                g.place(entry);
                g.emit(instr!(with1, Code::Dec_rm64, counter));
                g.branch(Code::Js_rel32_64, out);
                g.body(1);
                g.call_somehow(entry);
                g.body(1);
                g.place(out);
                g.ret();
            };
            g.in_tail(|g| g.in_call(inside));
            g.call_somehow(entry);
        });
    }

    /// Like longjmp: leaves two functions at once by loading rsp.
    pub(super) fn non_local_exit(&mut self) {
        let saved = self.scratch();
        let landing = self.new_label();
        self.emit(instr!(with2, Code::Mov_rm64_r64, saved, Register::RSP));
        self.keeping(saved, |g| {
            let inner = g.function(1, |g| {
                g.emit(instr!(with2, Code::Mov_r64_rm64, Register::RSP, saved));
                g.jump_somehow(landing);
            });
            let outer = g.function(1, |g| {
                g.call_somehow(inner);
                g.trap();
            });
            g.call_somehow(outer);
            g.trap();
        });
        self.place(landing);
    }
}
