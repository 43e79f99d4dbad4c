//! Random operands for any instruction, as iced describes it.

use super::catalog::Family;
use super::op::Style;
use super::sequence::{Gen, Pin};
use iced_x86::{
    Code, EncodingKind, Instruction, MemoryOperand, Mnemonic as M, OpCodeInfo, OpCodeOperandKind as K,
    OpKind, Register, RoundingControl,
};

/// Vector accesses that need no alignment although their encoding is a legacy one.
const UNALIGNED: [M; 8] =
    [M::Movups, M::Movupd, M::Movdqu, M::Lddqu, M::Pcmpestri, M::Pcmpestrm, M::Pcmpistri, M::Pcmpistrm];

/// The few that need it although they are VEX or EVEX encoded.
const ALIGNED: [M; 9] = [
    M::Vmovaps,
    M::Vmovapd,
    M::Vmovdqa,
    M::Vmovdqa32,
    M::Vmovdqa64,
    M::Vmovntps,
    M::Vmovntpd,
    M::Vmovntdq,
    M::Vmovntdqa,
];

/// Prefetches; without memory they are a no-op on Intel and undefined on AMD.
const MEMORY_ONLY: [Code; 3] =
    [Code::Reservednop_rm16_r16_0F0D, Code::Reservednop_rm32_r32_0F0D, Code::Reservednop_rm64_r64_0F0D];

impl Gen<'_> {
    /// Emits one random instruction of the case's families.
    pub(super) fn plain(&mut self) {
        for _ in 0..20 {
            let code = self.any_generic();
            if self.generic(code) {
                return;
            }
        }
        self.emit(Instruction::with(Code::Nopd));
    }

    pub(super) fn any_generic(&mut self) -> Code {
        let at = self.rng.weighted(self.families.iter().map(|(_, w)| *w));
        let family = self.families[at].0;
        self.of_family(family)
    }

    pub(super) fn of_family(&mut self, family: Family) -> Code {
        let catalog = self.catalog;
        self.rng.pick(catalog.generic(family))
    }

    /// Emits `code` with random operands; says whether it could.
    pub(super) fn generic(&mut self, code: Code) -> bool {
        for _ in 0..12 {
            let style = self.style(code);
            if let Some(instr) = self.fill(code, None)
                && self.acceptable(&instr, style)
            {
                self.emit_styled(instr, style);
                return true;
            }
        }
        false
    }

    /// As `generic`, with this memory operand.
    pub(super) fn generic_at(&mut self, code: Code, mem: MemoryOperand) -> bool {
        for _ in 0..12 {
            let built = self.fill(code, Some(mem));
            if let Some(instr) = built.filter(|i| i.op_kinds().any(|k| k == OpKind::Memory))
                && self.acceptable(&instr, Style::default())
            {
                self.emit(instr);
                return true;
            }
        }
        false
    }

    fn acceptable(&mut self, instr: &Instruction, style: Style) -> bool {
        !self.writes_fixed(instr) && self.encodes(instr, style)
    }

    fn fill(&mut self, code: Code, mem: Option<MemoryOperand>) -> Option<Instruction> {
        let info = code.op_code();
        let mut instr = Instruction::default();
        instr.set_code(code);
        let want_memory = mem.is_some() || MEMORY_ONLY.contains(&code);
        for (i, kind) in info.op_kinds().iter().enumerate() {
            self.operand(&mut instr, i as u32, *kind, want_memory)?;
        }
        let has_memory = instr.op_kinds().any(|k| k == OpKind::Memory);
        if info.encoding() == EncodingKind::EVEX {
            self.evex(&mut instr, info, has_memory);
        }
        if has_memory {
            let lockable = info.can_use_lock_prefix() && instr.op0_kind() == OpKind::Memory;
            // A lock across an unmapped page is no use to anybody.
            instr.set_has_lock_prefix(mem.is_none() && lockable && self.rng.one_in(3));
            self.memory(&mut instr, mem);
        }
        let clash = info.requires_unique_dest_reg_num() || info.requires_unique_reg_nums();
        (!clash || registers_differ(&instr)).then_some(instr)
    }

    fn operand(&mut self, instr: &mut Instruction, i: u32, kind: K, want_memory: bool) -> Option<()> {
        if may_be_memory(kind) && (want_memory || is_memory(kind) || self.rng.below(5) < 3) {
            instr.set_op_kind(i, OpKind::Memory);
        } else if let Some(reg) = self.register(kind, instr.code().op_code()) {
            instr.set_op_kind(i, OpKind::Register);
            instr.set_op_register(i, reg);
        } else {
            self.immediate(instr, i, kind)?;
        }
        Some(())
    }

    fn register(&mut self, kind: K, info: &OpCodeInfo) -> Option<Register> {
        let vectors = if info.encoding() == EncodingKind::EVEX { 32 } else { 16 };
        let n = |g: &mut Self, count| g.rng.below(count) as u32;
        Some(match kind {
            K::r8_or_mem | K::r8_reg | K::r8_opcode => Register::AL + n(self, 20),
            K::r16_or_mem | K::r16_reg | K::r16_rm | K::r16_opcode => Register::AX + n(self, 16),
            K::r32_or_mem | K::r32_reg | K::r32_rm | K::r32_opcode | K::r32_vvvv => {
                Register::EAX + n(self, 16)
            }
            K::r64_or_mem | K::r64_reg | K::r64_rm | K::r64_opcode | K::r64_vvvv => {
                Register::RAX + n(self, 16)
            }
            K::r64_reg_mem => self.line_pointer(u64::MAX)?,
            K::r32_reg_mem => Register::EAX + self.line_pointer(u32::MAX.into())?.number() as u32,
            K::mm_or_mem | K::mm_reg | K::mm_rm => Register::MM0 + n(self, 8),
            K::xmm_or_mem | K::xmm_reg | K::xmm_rm | K::xmm_vvvv => Register::XMM0 + n(self, vectors),
            K::ymm_or_mem | K::ymm_reg | K::ymm_rm | K::ymm_vvvv => Register::YMM0 + n(self, vectors),
            K::xmm_is4 | K::xmm_is5 => Register::XMM0 + n(self, 16),
            K::ymm_is4 | K::ymm_is5 => Register::YMM0 + n(self, 16),
            K::zmm_or_mem | K::zmm_reg | K::zmm_rm | K::zmm_vvvv => Register::ZMM0 + n(self, 32),
            K::k_or_mem | K::k_reg | K::k_rm | K::k_vvvv => Register::K0 + n(self, 8),
            K::kp1_reg => Register::K0 + 2 * n(self, 4),
            K::seg_reg => Register::ES + n(self, 6),
            K::al => Register::AL,
            K::cl => Register::CL,
            K::ax => Register::AX,
            K::dx => Register::DX,
            K::eax => Register::EAX,
            K::rax => Register::RAX,
            K::st0 => Register::ST0,
            K::sti_opcode => Register::ST0 + n(self, 8),
            _ => return None,
        })
    }

    /// A register that is an address itself (movdir64b), up to `last`; pins point to whole lines.
    fn line_pointer(&mut self, last: u64) -> Option<Register> {
        let within = |pin: &&Pin| pin.window.is_some_and(|window| window.end <= last);
        let pointers: Vec<_> = self.pins.iter().filter(within).map(|pin| pin.reg).collect();
        (!pointers.is_empty()).then(|| self.rng.pick(&pointers))
    }

    fn immediate(&mut self, instr: &mut Instruction, i: u32, kind: K) -> Option<()> {
        let value = self.rng.interesting();
        let byte = self.rng.next() as i8;
        let second = instr.op_kinds().take(i as usize).any(is_immediate);
        instr.set_op_kind(
            i,
            match kind {
                K::imm8 | K::imm4_m2z if second => OpKind::Immediate8_2nd,
                K::imm8 | K::imm4_m2z | K::imm8_const_1 => OpKind::Immediate8,
                K::imm8sex16 => OpKind::Immediate8to16,
                K::imm8sex32 => OpKind::Immediate8to32,
                K::imm8sex64 => OpKind::Immediate8to64,
                K::imm16 => OpKind::Immediate16,
                K::imm32 => OpKind::Immediate32,
                K::imm32sex64 => OpKind::Immediate32to64,
                K::imm64 => OpKind::Immediate64,
                _ => return None,
            },
        );
        match kind {
            K::imm8_const_1 => instr.set_immediate8(1),
            K::imm4_m2z => instr.set_immediate8(byte as u8 & 3),
            K::imm8 if second => instr.set_immediate8_2nd(byte as u8),
            K::imm8 => instr.set_immediate8(byte as u8),
            K::imm8sex16 => instr.set_immediate8to16(i16::from(byte)),
            K::imm8sex32 => instr.set_immediate8to32(i32::from(byte)),
            K::imm8sex64 => instr.set_immediate8to64(i64::from(byte)),
            K::imm16 => instr.set_immediate16(value as u16),
            K::imm32 => instr.set_immediate32(value as u32),
            K::imm32sex64 => instr.set_immediate32to64(i64::from(value as i32)),
            _ => instr.set_immediate64(value),
        }
        Some(())
    }

    /// Masks, broadcast, rounding.
    fn evex(&mut self, instr: &mut Instruction, info: &OpCodeInfo, has_memory: bool) {
        let masked = info.require_op_mask_register() || info.can_use_op_mask_register() && self.rng.one_in(2);
        if masked {
            instr.set_op_mask(Register::K1 + self.rng.below(7) as u32);
        }
        let to_memory = instr.op0_kind() == OpKind::Memory;
        instr.set_zeroing_masking(
            masked && info.can_use_zeroing_masking() && !to_memory && self.rng.one_in(2),
        );
        instr.set_is_broadcast(has_memory && info.can_broadcast() && self.rng.one_in(2));
        if has_memory {
            return;
        }
        if info.can_use_rounding_control() && self.rng.one_in(3) {
            use RoundingControl::{RoundDown, RoundToNearest, RoundTowardZero, RoundUp};
            instr.set_rounding_control(self.rng.pick(&[RoundToNearest, RoundDown, RoundUp, RoundTowardZero]));
        } else if info.can_suppress_all_exceptions() && self.rng.one_in(3) {
            instr.set_suppress_all_exceptions(true);
        }
    }

    fn memory(&mut self, instr: &mut Instruction, given: Option<MemoryOperand>) {
        let size = (instr.memory_size().size() as u64).max(1);
        let mut align = alignment(instr, size);
        if align == 1 && self.rng.one_in(2) && size.is_power_of_two() {
            align = size;
        }
        let absolute_only = instr.code().op_code().op_kinds().contains(&K::mem_offs);
        let mut mem = match given {
            Some(mem) => mem,
            None if absolute_only => self.any_address(size, align),
            None => self.mem(size, align),
        };
        if is_bit_string(instr.mnemonic()) && instr.op1_kind() == OpKind::Register {
            self.small_bit_offset(instr);
        }
        if mem.is_broadcast || instr.is_broadcast() {
            mem.is_broadcast = true;
        }
        set_memory(instr, &mem);
    }

    /// mov al, [moffs64]: the one operand that holds any address.
    fn any_address(&mut self, size: u64, align: u64) -> MemoryOperand {
        let windows = super::layout::pointer_windows();
        let addr32 = self.rng.one_in(4);
        let window = if addr32 { windows[self.rng.below(2) as usize] } else { self.rng.pick(&windows) };
        MemoryOperand::with_displ(window.aim(&mut self.rng, size, align), if addr32 { 4 } else { 8 })
    }

    /// A bit string in memory is as long as the offset register says: take one whose value is known and small.
    fn small_bit_offset(&mut self, instr: &mut Instruction) {
        let indices: Vec<_> = self.pins.iter().filter(|p| p.window.is_none()).map(|p| p.reg).collect();
        let number = self.rng.pick(&indices).number() as u32;
        let bank = match instr.op1_register() {
            r if r.is_gpr16() => Register::AX,
            r if r.is_gpr32() => Register::EAX,
            _ => Register::RAX,
        };
        instr.set_op1_register(bank + number);
    }

    /// Freedoms that an assembler would not use but a processor accepts.
    fn style(&mut self, code: Code) -> Style {
        let info = code.op_code();
        let ignored: [&'static [u8]; 4] = [&[0x2e], &[0x3e], &[0x26], &[0x36]];
        let plain_form = info.encoding() == EncodingKind::Legacy && !info.fwait();
        let prefixed = plain_form && !op_kinds_have_memory(info) && self.rng.one_in(24);
        Style {
            long_vex: self.rng.one_in(4),
            ignored_bits: self.rng.one_in(4),
            prefix: if prefixed { self.rng.pick(&ignored) } else { &[] },
        }
    }
}

/// Natural alignment where the instruction insists, or where crossing a line would cost a bus lock.
fn alignment(instr: &Instruction, size: u64) -> u64 {
    let mnemonic = instr.mnemonic();
    let locked = instr.has_lock_prefix() || mnemonic == M::Xchg || mnemonic == M::Cmpxchg16b;
    let legacy_vector =
        instr.encoding() == EncodingKind::Legacy && size == 16 && !UNALIGNED.contains(&mnemonic);
    let insists = ALIGNED.contains(&mnemonic) || mnemonic == M::Movdir64b;
    if (locked || legacy_vector || insists) && size.is_power_of_two() { size } else { 1 }
}

fn set_memory(instr: &mut Instruction, mem: &MemoryOperand) {
    instr.set_memory_base(mem.base);
    instr.set_memory_index(mem.index);
    instr.set_memory_index_scale(mem.scale);
    instr.set_memory_displ_size(mem.displ_size);
    instr.set_memory_displacement64(mem.displacement as u64);
    instr.set_segment_prefix(mem.segment_prefix);
}

pub(super) fn is_memory(kind: K) -> bool {
    matches!(kind, K::mem | K::mem_offs)
}

fn may_be_memory(kind: K) -> bool {
    is_memory(kind)
        || matches!(kind, K::r8_or_mem | K::r16_or_mem | K::r32_or_mem | K::r64_or_mem | K::mm_or_mem)
        || matches!(kind, K::xmm_or_mem | K::ymm_or_mem | K::zmm_or_mem | K::k_or_mem)
}

pub(super) fn op_kinds_have_memory(info: &OpCodeInfo) -> bool {
    info.op_kinds().iter().any(|k| may_be_memory(*k))
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(kind, OpKind::Immediate8 | OpKind::Immediate16 | OpKind::Immediate32 | OpKind::Immediate64)
}

fn is_bit_string(mnemonic: M) -> bool {
    matches!(mnemonic, M::Bt | M::Bts | M::Btr | M::Btc)
}

/// True of instructions that refuse a register that occurs twice.
fn registers_differ(instr: &Instruction) -> bool {
    let is_register = |i: &u32| instr.op_kind(*i) == OpKind::Register;
    let first = instr.op_register(0).number();
    (1..instr.op_count()).filter(is_register).all(|i| instr.op_register(i).number() != first)
}
