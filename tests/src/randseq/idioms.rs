//! Instructions that need arranging: strings, division, the stack, gathers, segment bases, system calls.

use super::catalog::Isa;
use super::r#gen::Gen;
use super::layout::{self, Window};
use iced_x86::{Code, Instruction, MemoryOperand, OpCodeOperandKind as K, Register};

/// `Instruction::with…` fails on operands that do not belong to the code, which would be a mistake in this file.
macro_rules! instr {
    ($with:ident $(, $arg:expr)+) => {
        iced_x86::Instruction::$with($($arg),+).expect("operands as the code wants them")
    };
}
pub(super) use instr;

impl Gen<'_> {
    pub(super) fn idiom(&mut self) {
        let before = self.mark();
        match self.rng.below(20) {
            0..=4 => self.string(),
            5..=8 => self.stack(),
            9..=10 => self.division(),
            11..=13 => self.x87_state(),
            14..=15 => self.mxcsr(),
            16..=17 if self.profile.isa >= Isa::Avx2 => self.gather(),
            18 => self.fs_base(),
            _ => self.system_call(),
        }
        if self.mark() == before {
            self.plain();
        }
    }

    pub(super) fn all_free(&self, regs: &[Register]) -> bool {
        regs.iter().all(|r| self.is_free(*r))
    }

    /// `mov reg, value` in one of its encodings.
    pub(super) fn set(&mut self, reg: Register, value: u64) {
        let short = u32::try_from(value).is_ok() && self.rng.one_in(2);
        let signed = i32::try_from(value as i64);
        match signed {
            _ if short => self.emit(instr!(with2, Code::Mov_r32_imm32, reg.full_register32(), value as u32)),
            Ok(v) if self.rng.one_in(2) => self.emit(instr!(with2, Code::Mov_rm64_imm32, reg, v)),
            _ => self.emit(instr!(with2, Code::Mov_r64_imm64, reg, value)),
        }
    }

    /// The value for an address register: with a 32-bit address its upper half is ignored.
    fn address_value(&mut self, size: u64, align: u64, addr32: bool) -> u64 {
        let windows = layout::pointer_windows();
        if !addr32 {
            return self.rng.pick(&windows).aim(&mut self.rng, size, align);
        }
        let low = self.rng.pick(&windows[..2]).aim(&mut self.rng, size, align);
        low | self.rng.next() << 32
    }

    fn string(&mut self) {
        let codes = self.catalog.idiom("string");
        let code = self.rng.pick(codes);
        match code {
            Code::Xlat_m8 => self.xlat(),
            Code::Clzerod | Code::Clzeroq => self.clear_line(code),
            Code::Maskmovq_rDI_mm_mm | Code::Maskmovdqu_rDI_xmm_xmm | Code::VEX_Vmaskmovdqu_rDI_xmm_xmm => {
                self.masked_move(code);
            }
            _ => self.string_instruction(code),
        }
    }

    /// Up to 20 elements, in either direction from the middle of a stretch that holds them.
    fn string_instruction(&mut self, code: Code) {
        let wanted = [Register::RSI, Register::RDI, Register::RCX, Register::RAX];
        if !self.all_free(&wanted) {
            return;
        }
        let addr32 = self.rng.one_in(4);
        let aim = |g: &mut Self| g.address_value(400, 1, addr32).wrapping_add(200);
        let (from, mut to) = (aim(self), aim(self));
        if self.rng.one_in(3) {
            // Overlapping: the order of the single moves shows.
            to = from.wrapping_add(self.rng.range(-12, 12) as u64);
        }
        self.set(Register::RSI, from);
        self.set(Register::RDI, to);
        let garbage = if addr32 { self.rng.next() << 32 } else { 0 };
        let count = self.rng.below(21) | garbage;
        self.set(Register::RCX, count);
        if self.rng.one_in(4) {
            let toggle = self.rng.pick(&[Code::Std, Code::Cld]);
            self.emit(Instruction::with(toggle));
        }
        let instr = self.string_form(code, addr32);
        self.emit(instr);
    }

    fn string_form(&mut self, code: Code, addr32: bool) -> Instruction {
        let mut instr = string_operands(code, addr32);
        let reads_source = code.op_code().op_kinds().contains(&K::seg_rSI);
        if reads_source && self.rng.one_in(8) {
            instr.set_segment_prefix(self.rng.pick(&[Register::DS, Register::CS, Register::SS, Register::ES]));
        }
        match self.rng.below(4) {
            0 => {}
            1 => instr.set_has_repne_prefix(true),
            _ => instr.set_has_rep_prefix(true),
        }
        instr
    }

    fn xlat(&mut self) {
        if !self.all_free(&[Register::RBX, Register::RAX]) {
            return;
        }
        let addr32 = self.rng.one_in(4);
        let base = self.address_value(256, 1, addr32);
        self.set(Register::RBX, base);
        let mut instr = Instruction::default();
        instr.set_code(Code::Xlat_m8);
        instr.set_memory_base(if addr32 { Register::EBX } else { Register::RBX });
        instr.set_memory_index(Register::AL);
        instr.set_op0_kind(iced_x86::OpKind::Memory);
        self.emit(instr);
    }

    /// clzero writes the line that rax lies in, eax with a 32-bit address.
    fn clear_line(&mut self, code: Code) {
        if self.is_free(Register::RAX) {
            let addr32 = code == Code::Clzerod;
            let value = self.address_value(128, 1, addr32);
            self.set(Register::RAX, value);
            self.emit(Instruction::with(code));
        }
    }

    fn masked_move(&mut self, code: Code) {
        if !self.is_free(Register::RDI) || self.profile.isa < Isa::Avx2 && code == Code::VEX_Vmaskmovdqu_rDI_xmm_xmm
        {
            return;
        }
        let addr32 = self.rng.one_in(4);
        let value = self.address_value(16, 1, addr32);
        self.set(Register::RDI, value);
        let bank = if code == Code::Maskmovq_rDI_mm_mm { Register::MM0 } else { Register::XMM0 };
        let (a, b) = (bank + self.rng.below(8) as u32, bank + self.rng.below(8) as u32);
        let size = if addr32 { 32 } else { 64 };
        let none = Register::None;
        self.emit(match code {
            Code::Maskmovq_rDI_mm_mm => instr!(with_maskmovq, size, a, b, none),
            Code::Maskmovdqu_rDI_xmm_xmm => instr!(with_maskmovdqu, size, a, b, none),
            _ => instr!(with_vmaskmovdqu, size, a, b, none),
        });
    }

    /// Dividends small enough for the quotient, divisors that are not zero.
    fn division(&mut self) {
        let divisor = self.scratch();
        if !self.all_free(&[Register::RAX, Register::RDX]) || matches!(divisor, Register::RAX | Register::RDX) {
            return;
        }
        let codes = self.catalog.idiom("division");
        let code = self.rng.pick(codes);
        let bits = code.op_code().op_kinds()[0];
        let signed = code.mnemonic() == iced_x86::Mnemonic::Idiv;
        let shift = self.rng.range(1, 19) as i32;
        self.emit(instr!(with2, Code::Shr_rm64_imm8, Register::RAX, shift + 44));
        self.emit(instr!(with2, Code::Or_rm64_imm32, divisor, 1));
        if bits == K::r8_or_mem {
            // AX is the dividend.
            self.emit(instr!(with2, Code::And_rm64_imm32, Register::RAX, 0x7f));
        }
        if signed {
            if self.rng.one_in(2) {
                self.emit(instr!(with1, Code::Neg_rm64, Register::RAX));
            }
            self.sign_extend(bits);
        } else {
            self.emit(instr!(with2, Code::Xor_rm32_r32, Register::EDX, Register::EDX));
        }
        self.divide(code, bits, divisor);
    }

    fn sign_extend(&mut self, bits: K) {
        let code = match bits {
            K::r8_or_mem => Code::Cbw,
            K::r16_or_mem => Code::Cwd,
            K::r32_or_mem => Code::Cdq,
            _ => Code::Cqo,
        };
        self.emit(Instruction::with(code));
    }

    fn divide(&mut self, code: Code, bits: K, divisor: Register) {
        let number = divisor.number() as u32;
        if self.rng.one_in(3) {
            let mem = self.mem(8, 8);
            self.emit(instr!(with2, Code::Mov_rm64_r64, mem, divisor));
            self.emit(instr!(with1, code, mem));
            return;
        }
        let divisor = match bits {
            K::r8_or_mem => byte_register(number),
            K::r16_or_mem => Register::AX + number,
            K::r32_or_mem => Register::EAX + number,
            _ => divisor,
        };
        self.emit(instr!(with1, code, divisor));
    }

    /// Gathers and scatters: indices of a few elements from a table beside the code, masks of all kinds.
    fn gather(&mut self) {
        let isa = self.profile.isa;
        let codes: Vec<Code> = self.catalog.idiom("gather").to_vec();
        let usable: Vec<Code> =
            codes.into_iter().filter(|c| super::catalog::needed_isa(*c) <= isa).collect();
        if usable.is_empty() {
            return;
        }
        let code = self.rng.pick(&usable);
        let evex = code.op_code().encoding() == iced_x86::EncodingKind::EVEX;
        let first = self.rng.below(if evex { 32 } else { 16 }) as u32;
        let other = |n: u32| if evex { (first + n) % 32 } else { (first + n) % 16 };
        let (index, mask) = (other(1), other(2));
        let wide = code.op_code().op_kinds().iter().any(|k| matches!(k, K::mem_vsib64x | K::mem_vsib64y | K::mem_vsib64z));
        self.load_table(index, evex, wide, |g| g.rng.range(-16, 16) as u64);
        if evex {
            self.set_mask();
        } else {
            self.load_table(mask, false, true, |g| g.rng.next());
        }
        let mem = self.vector_address(code, index);
        let mask = if evex { Register::K1 } else { Register::XMM0 + mask };
        self.emit(gather_instr(code, mem, first, mask));
    }

    fn set_mask(&mut self) {
        let scratch = self.scratch();
        let value = self.rng.next() & 0xffff_ffff;
        self.set(scratch, value);
        self.emit(instr!(with2, Code::VEX_Kmovd_kr_r32, Register::K1, scratch.full_register32()));
    }

    /// Loads a vector register from eight words that lie behind the code.
    fn load_table(&mut self, reg: u32, evex: bool, wide: bool, mut value: impl FnMut(&mut Self) -> u64) {
        let table = self.new_label();
        let mut bytes = Vec::new();
        while bytes.len() < 64 {
            let word = value(self);
            if wide { bytes.extend(word.to_le_bytes()) } else { bytes.extend((word as u32).to_le_bytes()) }
        }
        self.in_tail(|g| {
            g.place(table);
            g.raw(&bytes);
        });
        let mem = MemoryOperand::with_base_displ(Register::RIP, self.addr as i64);
        let load = if evex {
            instr!(with2, Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, Register::ZMM0 + reg, mem)
        } else {
            instr!(with2, Code::VEX_Vmovdqu_ymm_ymmm256, Register::YMM0 + reg, mem)
        };
        self.emit_fixed(load, super::op::Fix::Memory(table, 0));
    }

    /// Base in a register of its own, aimed so that ±16 elements stay inside.
    fn vector_address(&mut self, code: Code, index: u32) -> MemoryOperand {
        let bank = match vsib_kind(code) {
            K::mem_vsib32x | K::mem_vsib64x => Register::XMM0,
            K::mem_vsib32y | K::mem_vsib64y => Register::YMM0,
            _ => Register::ZMM0,
        };
        let base = self.scratch();
        let windows = layout::pointer_windows();
        let target = self.rng.pick(&windows).aim(&mut self.rng, 8 + 256, 4).wrapping_add(128);
        let displ = self.rng.range(-64, 64) * 4;
        self.set(base, target.wrapping_sub(displ as u64));
        let scale = self.rng.pick(&[1, 2, 4, 8]);
        MemoryOperand::with_base_index_scale_displ_size(base, bank + index, scale, displ, 8)
    }

    fn fs_base(&mut self) {
        if !self.catalog.host.has(iced_x86::CpuidFeature::FSGSBASE) {
            return;
        }
        let reg = self.scratch();
        let moved = layout::FS_BASE.wrapping_add_signed(64 * self.rng.range(-1, 1));
        self.emit(instr!(with2, Code::Mov_r64_imm64, reg, moved));
        self.emit(instr!(with1, Code::Wrfsbase_r64, reg));
    }

    /// In the profile where GS has a base: read it, move it a little.
    pub(super) fn gs_base(&mut self) {
        let codes: Vec<Code> = self.catalog.idiom("segment").to_vec();
        let reg = self.scratch();
        let reads = [Code::Rdgsbase_r32, Code::Rdgsbase_r64];
        if !codes.contains(&reads[0]) || self.rng.one_in(3) {
            return self.gs_base_by_call();
        }
        let read = self.rng.pick(&reads);
        let name = if read == Code::Rdgsbase_r32 { reg.full_register32() } else { reg };
        self.emit(instr!(with1, read, name));
        let moved = layout::GS_BASE.wrapping_add_signed(64 * self.rng.range(-1, 1));
        self.emit(instr!(with2, Code::Mov_r64_imm64, reg, moved));
        self.emit(instr!(with1, Code::Wrgsbase_r64, reg));
    }

    fn gs_base_by_call(&mut self) {
        const ARCH_SET_GS: u64 = 0x1001;
        let moved = layout::GS_BASE.wrapping_add_signed(64 * self.rng.range(-1, 1));
        self.arch_prctl(ARCH_SET_GS, moved);
    }

    /// Calls whose outcome is the same in every process. rcx and r11 are part of it.
    fn system_call(&mut self) {
        const ARCH_SET_FS: u64 = 0x1002;
        const ARCH_GET_FS: u64 = 0x1003;
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

fn byte_register(number: u32) -> Register {
    // AL … BL, then SPL … R15L behind AH … BH.
    if number < 4 { Register::AL + number } else { Register::SPL + (number - 4) }
}

pub(super) fn string_operands(code: Code, addr32: bool) -> Instruction {
    let mut instr = Instruction::default();
    instr.set_code(code);
    for (i, kind) in code.op_code().op_kinds().iter().enumerate() {
        use iced_x86::OpKind::{MemoryESEDI, MemoryESRDI, MemorySegESI, MemorySegRSI, Register as Reg};
        let i = i as u32;
        match kind {
            K::es_rDI => instr.set_op_kind(i, if addr32 { MemoryESEDI } else { MemoryESRDI }),
            K::seg_rSI => instr.set_op_kind(i, if addr32 { MemorySegESI } else { MemorySegRSI }),
            other => {
                instr.set_op_kind(i, Reg);
                instr.set_op_register(
                    i,
                    match other {
                        K::al => Register::AL,
                        K::ax => Register::AX,
                        K::eax => Register::EAX,
                        _ => Register::RAX,
                    },
                );
            }
        }
    }
    instr
}

fn vsib_kind(code: Code) -> K {
    let kinds = code.op_code().op_kinds();
    *kinds.iter().find(|k| format!("{k:?}").starts_with("mem_vsib")).expect("a gather or scatter")
}

/// The operands of a gather (register, memory, and the mask if it is a vector) or of a scatter.
fn gather_instr(code: Code, mem: MemoryOperand, data: u32, mask: Register) -> Instruction {
    let bank = |k: &K| match k {
        K::xmm_reg | K::xmm_vvvv => Register::XMM0,
        K::ymm_reg | K::ymm_vvvv => Register::YMM0,
        _ => Register::ZMM0,
    };
    let kinds = code.op_code().op_kinds();
    if mask.is_k() {
        let mut instr = match kinds[0] == vsib_kind(code) {
            true => instr!(with2, code, mem, bank(&kinds[1]) + data),
            false => instr!(with2, code, bank(&kinds[0]) + data, mem),
        };
        instr.set_op_mask(mask);
        return instr;
    }
    instr!(with3, code, bank(&kinds[0]) + data, mem, bank(&kinds[2]) + mask.number() as u32)
}
