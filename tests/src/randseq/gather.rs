//! Gathers and scatters, whose addresses come from a vector register.

use super::catalog::needed_isa;
use super::idioms::instr;
use super::layout;
use super::op::Fix;
use super::sequence::Gen;
use iced_x86::{Code, EncodingKind, Instruction, MemoryOperand, OpCodeOperandKind as K, Register};

impl Gen<'_> {
    /// Gathers and scatters: indices of a few elements from a table beside the code, masks of all kinds.
    pub(super) fn gather(&mut self) {
        let isa = self.profile.isa;
        let codes: Vec<Code> = self.catalog.idiom("gather").to_vec();
        let usable: Vec<Code> = codes.into_iter().filter(|c| needed_isa(*c) <= isa).collect();
        if usable.is_empty() {
            return;
        }
        let code = self.rng.pick(&usable);
        let evex = code.op_code().encoding() == EncodingKind::EVEX;
        let first = self.rng.below(if evex { 32 } else { 16 }) as u32;
        let other = |n: u32| if evex { (first + n) % 32 } else { (first + n) % 16 };
        let (index, mask) = (other(1), other(2));
        let wide = code
            .op_code()
            .op_kinds()
            .iter()
            .any(|k| matches!(k, K::mem_vsib64x | K::mem_vsib64y | K::mem_vsib64z));
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
            g.table(bytes);
        });
        let mem = MemoryOperand::with_base_displ(Register::RIP, self.addr as i64);
        let load = if evex {
            instr!(with2, Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, Register::ZMM0 + reg, mem)
        } else {
            instr!(with2, Code::VEX_Vmovdqu_ymm_ymmm256, Register::YMM0 + reg, mem)
        };
        self.emit_fixed(load, Fix::Memory(table, 0));
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
