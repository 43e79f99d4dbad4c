//! Items that raise a signal: in mid-sequence, with the handler recording everything and continuing behind the
//! instruction, or leaving the case where there is nothing to continue.

use super::catalog::Family;
use super::idioms::instr;
use super::layout::{self, UNMAPPED};
use super::op::Label;
use super::operand::op_kinds_have_memory;
use super::sequence::Gen;
use super::strings::string_operands;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Not instructions in 64-bit mode, or not with this prefix.
const UNDEFINED: [&[u8]; 8] = [
    &[0x06],                         // push es
    &[0x27],                         // daa
    &[0xd6],                         // salc
    &[0xf0, 0x01, 0xc0],             // lock add eax, eax
    &[0x66, 0xc5, 0xf8, 0x58, 0xc0], // vaddps with an operand size prefix
    &[0x0f, 0x0b],                   // ud2
    &[0x82, 0xc0, 0x01],             // add al, 1 in its old encoding
    &[0x9a, 1, 2, 3, 4, 5, 6],       // far call
];

/// General protection for user code.
const PRIVILEGED: [&[u8]; 7] = [
    &[0x0f, 0x20, 0xc0], // mov rax, cr0
    &[0x0f, 0x32],       // rdmsr
    &[0x0f, 0x06],       // clts
    &[0x0f, 0x08],       // invd
    &[0x0f, 0x01, 0xf8], // swapgs
    &[0x6c],             // insb
    &[0x6f],             // outsd
];

impl Gen<'_> {
    pub(super) fn fault(&mut self) {
        match self.rng.below(20) {
            0..=6 => self.bad_access(),
            7 => self.bad_string(),
            8 => self.bad_stack(),
            9..=10 => self.bad_jump(),
            11..=12 => self.undefined(),
            13 => self.interrupt(),
            14 => self.division_error(),
            15..=16 => self.unmasked_sse(),
            17..=18 => self.unmasked_x87(),
            _ => self.alignment_check(),
        }
    }

    /// Emits code by `f` that may raise a signal; the handler continues behind it.
    fn resumable(&mut self, f: impl FnOnce(&mut Self)) {
        let (before, after) = (self.new_label(), self.new_label());
        self.place(before);
        f(self);
        self.place(after);
        self.resumes.push((before, after));
    }

    /// As `resumable`, for what may be a trap: that one reports the address behind itself.
    fn resumable_trap(&mut self, instr: Instruction) {
        let after = self.new_label();
        self.resumable(|g| g.emit(instr));
        self.place(after);
        self.resumes.push((after, after));
    }

    /// Continues at `next` if what `f` emits raises a signal before it does anything.
    fn resumable_at(&mut self, next: Label, f: impl FnOnce(&mut Self)) {
        let before = self.new_label();
        self.place(before);
        f(self);
        self.resumes.push((before, next));
    }

    /// An address that a load or store of `size` bytes cannot have.
    fn bad_address(&mut self, size: u64) -> u64 {
        let size = size.max(2);
        let windows = layout::pointer_windows();
        // The frames of pretended callers end where their region does.
        let end = self.rng.pick(&windows).end;
        let crossing = end - self.rng.range(1, size as i64 - 1) as u64;
        let whole = [layout::NEAR, layout::LOW, layout::FAR, layout::STACK, layout::HIGH_NEAR];
        match self.rng.below(8) {
            0 => self.rng.below(0x1000),
            1 => 0x8000_0000_0000_0000 | self.rng.next() >> 1,
            2 => 0xffff_8800_0000_0000 | self.rng.below(1 << 40),
            3 => layout::EXIT.addr + 0x100 + self.rng.below(0x800),
            4 => self.rng.pick(&whole).addr - self.rng.range(1, 64) as u64,
            5 | 6 => crossing,
            _ => UNMAPPED + self.rng.below(0x10000),
        }
    }

    /// Any instruction with a memory operand, that operand being out of bounds. Some do not care, which is as good.
    fn bad_access(&mut self) {
        for _ in 0..40 {
            let code = self.any_generic();
            if !op_kinds_have_memory(code.op_code()) {
                continue;
            }
            let base = self.scratch();
            let displ = self.rng.range(-100, 100);
            let size = code.op_code().memory_size().size() as u64;
            let bad = self.bad_address(size).wrapping_sub(displ as u64);
            let mark = self.mark();
            self.emit(instr!(with2, Code::Mov_r64_imm64, base, bad));
            let mem = MemoryOperand::with_base_displ(base, displ);
            let mut done = false;
            self.resumable(|g| done = g.generic_at(code, mem));
            if done {
                return;
            }
            self.retract(mark);
        }
    }

    /// A repeated string instruction that runs into an unmapped page: the registers say how far it got.
    fn bad_string(&mut self) {
        let wanted = [Register::RSI, Register::RDI, Register::RCX, Register::RAX];
        if !self.all_free(&wanted) {
            return self.bad_access();
        }
        let codes = [Code::Movsb_m8_m8, Code::Movsd_m32_m32, Code::Movsq_m64_m64, Code::Stosw_m16_AX];
        let code = self.rng.pick(&codes);
        let end = layout::FAR.end() - self.rng.below(100);
        let fine = layout::NEAR.addr + 0x400;
        let source_runs_out = self.rng.one_in(2);
        self.set(Register::RSI, if source_runs_out { end } else { fine });
        self.set(Register::RDI, if source_runs_out { fine } else { end });
        self.set(Register::RCX, 100);
        self.emit(Instruction::with(Code::Cld));
        let mut instr = string_operands(code, false);
        instr.set_has_rep_prefix(true);
        self.resumable(|g| g.emit(instr));
    }

    /// push, pop, call and ret with rsp pointing nowhere.
    fn bad_stack(&mut self) {
        let saved = self.scratch();
        let bad = UNMAPPED + 0x1000 + 8 * self.rng.below(64);
        self.emit(instr!(with2, Code::Mov_rm64_r64, saved, Register::RSP));
        self.emit(instr!(with2, Code::Mov_r64_imm64, Register::RSP, bad));
        let kind = self.rng.below(5);
        let resumed = self.new_label();
        self.keeping(saved, |g| {
            let target = g.scratch();
            g.resumable(|g| match kind {
                0 => g.emit(instr!(with1, Code::Push_r64, saved)),
                1 => g.emit(instr!(with1, Code::Pop_r64, target)),
                2 => g.branch(Code::Call_rel32_64, resumed),
                3 => g.emit(instr!(with1, Code::Call_rm64, saved)),
                _ => g.emit(Instruction::with(Code::Retnq)),
            });
        });
        self.place(resumed);
        self.emit(instr!(with2, Code::Mov_rm64_r64, Register::RSP, saved));
    }

    /// Execution of what is not there or not code; nothing continues.
    fn bad_jump(&mut self) {
        let target = match self.rng.below(3) {
            0 => UNMAPPED + self.rng.below(0x1000),
            1 => layout::FAR.addr + self.rng.below(0x1000),
            _ => layout::NEAR.addr + self.rng.below(0x1000),
        };
        let reg = self.scratch();
        self.emit(instr!(with2, Code::Mov_r64_imm64, reg, target));
        match self.rng.below(3) {
            0 => self.emit(instr!(with1, Code::Jmp_rm64, reg)),
            1 => self.emit(instr!(with1, Code::Call_rm64, reg)),
            _ => {
                self.emit(instr!(with1, Code::Push_r64, reg));
                self.emit(Instruction::with(Code::Retnq));
            }
        }
    }

    fn undefined(&mut self) {
        match self.rng.below(3) {
            0 => {
                let bytes = self.rng.pick(&UNDEFINED);
                self.resumable(|g| g.raw(bytes));
            }
            1 => {
                let bytes = self.rng.pick(&PRIVILEGED);
                self.resumable(|g| g.raw(bytes));
            }
            _ => self.listed_fault(),
        }
    }

    /// Codes that the catalogue gives to this file: ud0 … ud2, hlt, cli, in, out …
    fn listed_fault(&mut self) {
        let codes: Vec<Code> = self.catalog.idiom("fault").to_vec();
        let code = self.rng.pick(&codes);
        if matches!(code, Code::Int_imm8 | Code::Int1 | Code::Int3) {
            return self.interrupt();
        }
        self.resumable(|g| {
            if !g.generic(code) {
                g.raw(&[0x0f, 0x0b]);
            }
        });
    }

    /// int n: 3 and 4 are open to programs, 0x80 is a system call, the others are protected.
    fn interrupt(&mut self) {
        let number = self.rng.pick(&[0u32, 3, 4, 13, 14, 0x20, 0x81, 0xff]);
        let trap = self.rng.pick(&[Code::Int3, Code::Int1]);
        let instr = match self.rng.one_in(3) {
            true => Instruction::with(trap),
            false => instr!(with1, Code::Int_imm8, number),
        };
        self.resumable_trap(instr);
    }

    fn division_error(&mut self) {
        if !self.all_free(&[Register::RAX, Register::RDX]) {
            return self.bad_access();
        }
        let divisor = self.scratch();
        let zero = self.rng.one_in(2) || matches!(divisor, Register::RAX | Register::RDX);
        let code = self.rng.pick(&[Code::Div_rm64, Code::Idiv_rm64]);
        if zero {
            self.set(divisor, 0);
        } else {
            self.set(Register::RDX, 1 << 40);
            self.set(divisor, 3);
        }
        self.resumable(|g| g.emit(instr!(with1, code, divisor)));
    }

    /// Unmasks everything, then does arithmetic that mostly is inexact at least.
    fn unmasked_sse(&mut self) {
        let mem = self.mem(4, 1);
        let rounding = self.rng.below(4) as i32 * 0x2000;
        let unmasked = rounding | self.rng.pick(&[0, 0, 0, 0x1000, 0x1f00, 0x1c80]);
        self.emit(instr!(with2, Code::Mov_rm32_imm32, mem, unmasked));
        self.emit(instr!(with1, Code::Ldmxcsr_m32, mem));
        let families: Vec<Family> =
            self.families.iter().map(|f| f.0).filter(|f| *f >= Family::Sse).chain([Family::Sse]).collect();
        for _ in 0..self.rng.range(1, 2) {
            let family = self.rng.pick(&families);
            let code = self.floating_point(family);
            self.resumable(|g| {
                g.generic(code);
            });
        }
        // Behind what may have continued: all masked again.
        let mem = self.mem(4, 1);
        self.emit(instr!(with2, Code::Mov_rm32_imm32, mem, 0x1f80));
        self.emit(instr!(with1, Code::Ldmxcsr_m32, mem));
    }

    /// An instruction whose name says that it rounds.
    fn floating_point(&mut self, family: Family) -> Code {
        const NAMES: [&str; 9] = ["add", "sub", "mul", "div", "sqrt", "cvt", "min", "cmp", "dp"];
        const TYPES: [&str; 4] = ["ps", "pd", "ss", "sd"];
        for _ in 0..200 {
            let code = self.of_family(family);
            let name = format!("{:?}", code.mnemonic()).to_lowercase();
            let integer = name.starts_with('p') || name.starts_with("vp");
            if !integer && NAMES.iter().any(|n| name.contains(n)) && TYPES.iter().any(|t| name.ends_with(t)) {
                return code;
            }
        }
        Code::Divps_xmm_xmmm128
    }

    /// An x87 exception waits for the next instruction that looks: the second operation, or fwait.
    fn unmasked_x87(&mut self) {
        let mem = self.mem(2, 1);
        let unmasked = 0x340 | self.rng.pick(&[0, 0, 0x20, 0x3b, 0x3e]);
        let done = self.new_label();
        self.emit(Instruction::with(Code::Fnclex));
        self.emit(instr!(with2, Code::Mov_rm16_imm16, mem, unmasked));
        self.emit(instr!(with1, Code::Fldcw_m2byte, mem));
        for _ in 0..2 {
            let code = self.of_family(Family::X87);
            self.resumable_at(done, |g| {
                g.generic(code);
            });
        }
        self.resumable_at(done, |g| g.emit(Instruction::with(Code::Wait)));
        self.place(done);
        self.emit(Instruction::with(Code::Fnclex));
        let mem = self.mem(2, 1);
        self.emit(instr!(with2, Code::Mov_rm16_imm16, mem, 0x37f));
        self.emit(instr!(with1, Code::Fldcw_m2byte, mem));
    }

    /// With AC set a misaligned access is a bus error. rsp is aligned for the while.
    fn alignment_check(&mut self) {
        const AC: i32 = 0x4_0000;
        let saved = self.scratch();
        self.emit(instr!(with2, Code::Mov_rm64_r64, saved, Register::RSP));
        self.emit(instr!(with2, Code::And_rm64_imm8, Register::RSP, -16));
        let top = MemoryOperand::with_base(Register::RSP);
        self.emit(Instruction::with(Code::Pushfq));
        self.emit(instr!(with2, Code::Or_rm32_imm32, top, AC));
        self.emit(Instruction::with(Code::Popfq));
        self.keeping(saved, |g| {
            let mem = g.mem(8, 1);
            let target = g.scratch();
            g.resumable(|g| g.emit(instr!(with2, Code::Mov_r64_rm64, target, mem)));
        });
        self.emit(Instruction::with(Code::Pushfq));
        self.emit(instr!(with2, Code::And_rm32_imm32, top, !AC));
        self.emit(Instruction::with(Code::Popfq));
        self.emit(instr!(with2, Code::Mov_rm64_r64, Register::RSP, saved));
    }
}
