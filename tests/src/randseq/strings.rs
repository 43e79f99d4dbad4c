//! String instructions and others whose operands are implied registers.

use super::catalog::Isa;
use super::idioms::instr;
use super::layout;
use super::sequence::Gen;
use iced_x86::{Code, Instruction, OpCodeOperandKind as K, Register};

impl Gen<'_> {
    /// The value for an address register: with a 32-bit address its upper half is ignored.
    fn address_value(&mut self, size: u64, align: u64, addr32: bool) -> u64 {
        let windows = layout::pointer_windows();
        if !addr32 {
            return self.rng.pick(&windows).aim(&mut self.rng, size, align);
        }
        let low = self.rng.pick(&windows[..2]).aim(&mut self.rng, size, align);
        low | self.rng.next() << 32
    }

    pub(super) fn string(&mut self) {
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
            instr.set_segment_prefix(self.rng.pick(&[
                Register::DS,
                Register::CS,
                Register::SS,
                Register::ES,
            ]));
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
        if !self.is_free(Register::RDI)
            || self.profile.isa < Isa::Avx2 && code == Code::VEX_Vmaskmovdqu_rDI_xmm_xmm
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
