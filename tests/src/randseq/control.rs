//! Control flow within a case: branches, loops, and what obfuscators and hand-written code do with them.
//!
//! Everything terminates whatever the data: branches go forward, loops count a register that their body cannot write.

use super::idioms::instr;
use super::op::{Fix, Label};
use super::sequence::Gen;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Conditional jumps in pairs: 8-bit and 32-bit displacement.
const CONDITIONS: [(Code, Code); 16] = [
    (Code::Jo_rel8_64, Code::Jo_rel32_64),
    (Code::Jno_rel8_64, Code::Jno_rel32_64),
    (Code::Jb_rel8_64, Code::Jb_rel32_64),
    (Code::Jae_rel8_64, Code::Jae_rel32_64),
    (Code::Je_rel8_64, Code::Je_rel32_64),
    (Code::Jne_rel8_64, Code::Jne_rel32_64),
    (Code::Jbe_rel8_64, Code::Jbe_rel32_64),
    (Code::Ja_rel8_64, Code::Ja_rel32_64),
    (Code::Js_rel8_64, Code::Js_rel32_64),
    (Code::Jns_rel8_64, Code::Jns_rel32_64),
    (Code::Jp_rel8_64, Code::Jp_rel32_64),
    (Code::Jnp_rel8_64, Code::Jnp_rel32_64),
    (Code::Jl_rel8_64, Code::Jl_rel32_64),
    (Code::Jge_rel8_64, Code::Jge_rel32_64),
    (Code::Jle_rel8_64, Code::Jle_rel32_64),
    (Code::Jg_rel8_64, Code::Jg_rel32_64),
];
pub(super) const JUMP: (Code, Code) = (Code::Jmp_rel8_64, Code::Jmp_rel32_64);

const LOOPS: [Code; 6] = [
    Code::Loop_rel8_64_RCX,
    Code::Loop_rel8_64_ECX,
    Code::Loope_rel8_64_RCX,
    Code::Loope_rel8_64_ECX,
    Code::Loopne_rel8_64_RCX,
    Code::Loopne_rel8_64_ECX,
];

/// Distance that fits between an 8-bit branch and its target, with room for the branch itself.
const SHORT: usize = 110;

impl Gen<'_> {
    pub(super) fn control(&mut self) {
        match self.rng.below(24) {
            0..=4 => self.skip(),
            5..=6 => self.counted_loop(),
            7 => self.loop_instruction(),
            8..=9 => self.jump_if_zero(),
            10..=12 => self.call(),
            13 => self.call_with_arguments(),
            14..=15 => self.indirect_jump(),
            16 => self.push_return(),
            17 => self.call_next(),
            18 => self.recursion(),
            19 => self.there_and_back(),
            20 => self.overlap(),
            21 => self.out_of_line(),
            22 => self.non_local_exit(),
            _ => self.exchange_loop(),
        }
    }

    pub(super) fn branch(&mut self, code: Code, target: Label) {
        self.emit_fixed(branch_instr(code), Fix::Branch(target));
    }

    /// A branch over `f`, short where that reaches.
    fn branch_over(&mut self, codes: (Code, Code), f: impl FnOnce(&mut Self)) {
        let end = self.new_label();
        let at = self.mark();
        self.branch(codes.1, end);
        let from = self.mark();
        f(self);
        if self.size_since(from) <= SHORT && !self.rng.one_in(4) {
            self.replace_instr(at, branch_instr(codes.0));
        }
        self.place(end);
    }

    /// Bytes that are never reached; they decode to something that would show.
    pub(super) fn trap(&mut self) {
        self.raw(&[0x0f, 0x0b]);
    }

    fn skip(&mut self) {
        let codes = self.rng.pick(&CONDITIONS);
        self.branch_over(codes, |g| g.body(4));
    }

    fn counted_loop(&mut self) {
        let counter = self.scratch();
        let rounds = self.rng.range(1, 5) as u64;
        self.set(counter, rounds);
        let head = self.new_label();
        self.place(head);
        self.keeping(counter, |g| g.body(3));
        let end = match self.rng.below(3) {
            0 => {
                self.emit(instr!(with1, Code::Dec_rm64, counter));
                Code::Jne_rel32_64
            }
            1 => {
                self.emit(instr!(with2, Code::Sub_rm32_imm8, counter.full_register32(), 1));
                Code::Ja_rel32_64
            }
            _ => {
                let less = MemoryOperand::with_base_displ(counter, -1);
                self.emit(instr!(with2, Code::Lea_r64_m, counter, less));
                self.emit(instr!(with2, Code::Test_rm64_r64, counter, counter));
                Code::Jg_rel32_64
            }
        };
        self.branch(end, head);
    }

    /// loop, loope, loopne: rcx or ecx, 8-bit displacements only.
    fn loop_instruction(&mut self) {
        if !self.is_free(Register::RCX) {
            return self.counted_loop();
        }
        let code = self.rng.pick(&LOOPS);
        let rounds = self.rng.range(1, 5) as u64;
        let garbage = if format!("{code:?}").ends_with("ECX") { self.rng.next() << 32 } else { 0 };
        self.set(Register::RCX, rounds | garbage);
        let head = self.new_label();
        self.place(head);
        let from = self.mark();
        self.keeping(Register::RCX, |g| g.body(2));
        if self.size_since(from) > SHORT {
            self.retract(from);
        }
        self.branch(code, head);
    }

    fn jump_if_zero(&mut self) {
        if self.is_free(Register::RCX) && self.rng.one_in(2) {
            let value = self.rng.pick(&[0, 1 << 32, 1, u64::MAX << 32]);
            self.set(Register::RCX, value);
        }
        let code = self.rng.pick(&[Code::Jrcxz_rel8_64, Code::Jecxz_rel8_64]);
        let end = self.new_label();
        self.branch(code, end);
        let from = self.mark();
        self.body(2);
        if self.size_since(from) > SHORT {
            self.retract(from);
        }
        self.place(end);
    }

    /// Forward, backward, forward again.
    fn there_and_back(&mut self) {
        let (back, end) = (self.new_label(), self.new_label());
        let code = self.rng.pick(&CONDITIONS).1;
        self.branch_over(JUMP, |g| {
            g.place(back);
            g.body(2);
            g.branch(JUMP.1, end);
        });
        self.branch(code, back);
        self.branch(JUMP.1, back);
        self.trap();
        self.place(end);
    }

    /// Instructions that share bytes: `jmp -1` into its own second byte, which then is `inc`; a branch into an immediate.
    fn overlap(&mut self) {
        let reg = self.scratch();
        if reg.number() >= 8 {
            return self.skip();
        }
        let n = reg.number() as u8;
        if self.rng.one_in(2) {
            self.raw(&[0xeb, 0xff, 0xc0 + n]);
        } else {
            // jc +1; mov reg, imm32 — whose immediate is: inc reg; nop; nop
            self.raw(&[0x72, 0x01, 0xb8 + n, 0xff, 0xc0 + n, 0x90, 0x90]);
        }
    }

    /// The unlikely side of a branch lies elsewhere and jumps back.
    fn out_of_line(&mut self) {
        let (cold, back) = (self.new_label(), self.new_label());
        self.in_tail(|g| {
            g.place(cold);
            g.body(2);
            g.branch(JUMP.1, back);
        });
        let code = self.rng.pick(&CONDITIONS).1;
        self.branch(code, cold);
        self.place(back);
    }

    /// The loop around a compare-and-exchange.
    fn exchange_loop(&mut self) {
        let new = self.scratch();
        if !self.is_free(Register::RAX) || new == Register::RAX {
            return self.skip();
        }
        let mem = self.mem(8, 8);
        let retry = self.new_label();
        self.emit(instr!(with2, Code::Mov_r64_rm64, Register::RAX, mem));
        self.place(retry);
        let next = MemoryOperand::with_base_displ(Register::RAX, 3);
        self.emit(instr!(with2, Code::Lea_r64_m, new, next));
        let mut exchange = instr!(with2, Code::Cmpxchg_rm64_r64, mem, new);
        exchange.set_has_lock_prefix(true);
        self.emit(exchange);
        self.branch(Code::Jne_rel8_64, retry);
    }
}

pub(super) fn branch_instr(code: Code) -> Instruction {
    // Replaced by the label's address when the case is assembled.
    instr!(with_branch, code, 0)
}
