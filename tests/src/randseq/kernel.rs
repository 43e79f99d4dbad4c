//! Segment bases and system calls.

use super::idioms::instr;
use super::layout::{self, Window};
use super::sequence::Gen;
use iced_x86::{Code, CpuidFeature, Instruction, MemoryOperand, Register};

const ARCH_SET_GS: u64 = 0x1001;
const ARCH_SET_FS: u64 = 0x1002;
const ARCH_GET_FS: u64 = 0x1003;

impl Gen<'_> {
    pub(super) fn fs_base(&mut self) {
        self.segment_base(Register::FS, layout::FS_BASE);
    }

    /// In the profile where GS has a base.
    pub(super) fn gs_base(&mut self) {
        self.segment_base(Register::GS, layout::GS_BASE);
    }

    /// Reads a base and moves it by no more than operands elsewhere in the case can bear.
    fn segment_base(&mut self, segment: Register, base: u64) {
        let moved = base.wrapping_add_signed(64 * self.rng.range(-1, 1));
        if !self.catalog.host.has(CpuidFeature::FSGSBASE) || self.rng.one_in(4) {
            let what = if segment == Register::FS { ARCH_SET_FS } else { ARCH_SET_GS };
            return self.arch_prctl(what, moved);
        }
        let [read32, read64, write32, write64] = match segment {
            Register::FS => [Code::Rdfsbase_r32, Code::Rdfsbase_r64, Code::Wrfsbase_r32, Code::Wrfsbase_r64],
            _ => [Code::Rdgsbase_r32, Code::Rdgsbase_r64, Code::Wrgsbase_r32, Code::Wrgsbase_r64],
        };
        let reg = self.scratch();
        match self.rng.below(3) {
            0 => self.emit(instr!(with1, read32, reg.full_register32())),
            1 => self.emit(instr!(with1, read64, reg)),
            _ => self.low_base(segment, write32, reg),
        }
        self.emit(instr!(with2, Code::Mov_r64_imm64, reg, moved));
        self.emit(instr!(with1, write64, reg));
    }

    /// A base below 4 GB, which is all that the 32-bit form can set; for one access.
    fn low_base(&mut self, segment: Register, write: Code, reg: Register) {
        let base = (layout::LOW.addr + 0x800) | (self.rng.next() << 32);
        self.emit(instr!(with2, Code::Mov_r64_imm64, reg, base));
        self.emit(instr!(with1, write, reg.full_register32()));
        let mut mem = MemoryOperand::with_displ(self.rng.range(-0x100, 0x100) as u64, 8);
        mem.segment_prefix = segment;
        self.emit(instr!(with2, Code::Mov_r64_rm64, reg, mem));
    }

    /// Calls whose outcome is the same in every process. rcx and r11 are part of it.
    pub(super) fn system_call(&mut self) {
        match self.rng.below(5) {
            0 => {
                let moved = layout::FS_BASE.wrapping_add_signed(64 * self.rng.range(-1, 1));
                self.arch_prctl(ARCH_SET_FS, moved);
            }
            1 => {
                let to = Window::of(layout::FAR).aim(&mut self.rng, 8, 1);
                self.arch_prctl(ARCH_GET_FS, to);
            }
            2 => self.call_kernel(&[(Register::RAX, 24)]), // sched_yield
            3 => self.call_kernel(&[(Register::RAX, 0x1234_5678)]),
            _ => self.call_kernel(&[(Register::RAX, 14), (Register::RDI, 0x77), (Register::R10, 3)]), // EINVAL
        }
    }

    fn arch_prctl(&mut self, what: u64, addr: u64) {
        self.call_kernel(&[(Register::RAX, 158), (Register::RDI, what), (Register::RSI, addr)]);
    }

    fn call_kernel(&mut self, values: &[(Register, u64)]) {
        let clobbered = [Register::RAX, Register::RCX, Register::R11];
        if !self.all_free(&clobbered) || !values.iter().all(|(r, _)| self.is_free(*r)) {
            return;
        }
        for (reg, value) in values {
            self.set(*reg, *value);
        }
        self.emit(Instruction::with(Code::Syscall));
    }
}
