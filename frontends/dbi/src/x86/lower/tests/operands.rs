//! Codes that can be run here, and random operands for them.

use super::rng::Rng;
use iced_x86::{
    Code, CpuidFeature, FlowControl, Instruction, Mnemonic, OpCodeOperandKind as Kind, OpKind, Register,
};

/// Tells whether `code` can be run on random operands and goes on to the next instruction.
pub(in crate::x86) fn can_run(code: Code) -> bool {
    let info = code.op_code();
    let mut insn = Instruction::new();
    insn.set_code(code);
    info.is_instruction()
        && info.mode64()
        && !insn.is_privileged()
        && !info.is_reserved_nop()
        && insn.flow_control() == FlowControl::Next
        && insn.cpuid_features().iter().all(|&feature| present(feature))
        && code != Code::Enterw_imm16_imm8
        && !UNSUITABLE.contains(&insn.mnemonic())
        && !info
            .op_kinds()
            .iter()
            .any(|kind| matches!(kind, Kind::seg_reg | Kind::seg_rBX_al | Kind::fs | Kind::gs))
}

/// Instructions that divide by random numbers, change segments or modes, or have to be told their operands.
const UNSUITABLE: &[Mnemonic] = {
    use Mnemonic::*;
    &[
        Div, Idiv, Xlatb, Wrfsbase, Wrgsbase, Rdfsbase, Rdgsbase, Popf, Popfq, Ldmxcsr, Vldmxcsr, Fldenv,
        Fldcw, Frstor, Fxrstor, Fxrstor64, Xrstor, Xrstor64, Lss, Lfs, Lgs, Sgdt, Sidt, Sldt, Str, Smsw, Lsl,
        Lar, Verr, Verw, Arpl, Bound, Rdpru, Clzero, Std, Cpuid, Xgetbv, Movdir64b, Fclex, Finit, Fsave,
        Fstcw, Fstenv, Fstsw, Wait, Fstdw, Fstsg, Fnstdw, Fnstsg, Frstpm, Fsetpm, Fnsetpm, Feni, Fdisi,
        Xsaveopt, Xsaveopt64, Zero_bytes, Rdpid, Bndmov, Bndldx, Bndstx, Bndmk, Bndcl, Bndcn, Bndcu, Loadall,
        Storeall,
    ]
};

fn present(feature: CpuidFeature) -> bool {
    use CpuidFeature as F;
    use std::arch::is_x86_feature_detected as has;
    match feature {
        F::INTEL8086 | F::INTEL186 | F::INTEL286 | F::INTEL386 | F::INTEL486 | F::X64 | F::CMOV | F::CX8 => {
            true
        }
        F::FPU | F::FPU287 | F::FPU387 | F::MMX | F::FXSR | F::SSE | F::SSE2 => true,
        F::CMPXCHG16B => has!("cmpxchg16b"),
        F::MOVBE => has!("movbe"),
        F::BMI1 => has!("bmi1"),
        F::BMI2 => has!("bmi2"),
        F::LZCNT => has!("lzcnt"),
        F::POPCNT => has!("popcnt"),
        F::ADX => has!("adx"),
        F::SSE3 => has!("sse3"),
        F::SSSE3 => has!("ssse3"),
        F::SSE4_1 => has!("sse4.1"),
        F::SSE4_2 => has!("sse4.2"),
        F::SSE4A => has!("sse4a"),
        F::AES => has!("aes"),
        F::PCLMULQDQ => has!("pclmulqdq"),
        F::SHA => has!("sha"),
        F::AVX => has!("avx"),
        F::AVX2 => has!("avx2"),
        F::FMA => has!("fma"),
        F::F16C => has!("f16c"),
        F::GFNI => has!("gfni"),
        F::AVX512F => has!("avx512f"),
        F::AVX512VL => has!("avx512vl"),
        F::AVX512BW => has!("avx512bw"),
        F::AVX512DQ => has!("avx512dq"),
        F::AVX512CD => has!("avx512cd"),
        F::AVX512_VBMI => has!("avx512vbmi"),
        _ => false,
    }
}

/// `code` with random operands; memory operands begin at `[rbx]`, or at the absolute address `memory`.
pub(in crate::x86) fn random(code: Code, memory: u64, rng: &mut Rng) -> Option<Instruction> {
    let info = code.op_code();
    let mut insn = Instruction::new();
    insn.set_code(code);
    let count = info.op_count();
    for (operand, &kind) in (0..count).zip(info.op_kinds()) {
        fill(&mut insn, operand, kind, rng)?;
    }
    for operand in 0..count {
        if insn.op_kind(operand) == OpKind::Memory {
            place(&mut insn, info.op_kind(operand), memory, rng);
        }
    }
    let has_memory = (0..count).any(|operand| insn.op_kind(operand) == OpKind::Memory);
    insn.set_is_broadcast(has_memory && info.can_broadcast() && rng.below(2) == 0);
    if insn.mnemonic() == Mnemonic::Enter {
        // The new stack must be in the window too.
        insn.set_immediate16(32);
    }
    let bit_string = matches!(insn.mnemonic(), Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc);
    let far = bit_string && insn.op0_kind() == OpKind::Memory && insn.op1_kind() == OpKind::Register;
    if insn.has_op_mask() || info.require_op_mask_register() {
        insn.set_op_mask(Register::K1);
    }
    let distinct = info.requires_unique_reg_nums() || info.requires_unique_dest_reg_num();
    let acceptable = !far && (!distinct || !repeats(&insn));
    acceptable.then_some(insn)
}

/// Has every other instruction that can work under a mask do so.
pub(in crate::x86) fn mask(insn: &mut Instruction, rng: &mut Rng) {
    let info = insn.op_code();
    if info.can_use_op_mask_register() && rng.below(2) == 0 {
        insn.set_op_mask(Register::K1);
        let may_zero = info.can_use_zeroing_masking() && insn.op0_kind() == OpKind::Register;
        insn.set_zeroing_masking(may_zero && rng.below(2) == 0);
    }
}

/// Tells whether a register number occurs twice, the index of a vector-indexed operand included.
fn repeats(insn: &Instruction) -> bool {
    let mut numbers: Vec<usize> = (0..insn.op_count())
        .filter(|&n| insn.op_kind(n) == OpKind::Register)
        .map(|n| insn.op_register(n).number())
        .collect();
    if insn.is_vsib() {
        numbers.push(insn.memory_index().number());
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() < count
}

fn fill(insn: &mut Instruction, operand: u32, kind: Kind, rng: &mut Rng) -> Option<()> {
    let or_memory = matches!(
        kind,
        Kind::r8_or_mem
            | Kind::r16_or_mem
            | Kind::r32_or_mem
            | Kind::r64_or_mem
            | Kind::mm_or_mem
            | Kind::xmm_or_mem
            | Kind::ymm_or_mem
            | Kind::zmm_or_mem
            | Kind::k_or_mem
    );
    let memory = matches!(
        kind,
        Kind::mem
            | Kind::mem_offs
            | Kind::mem_vsib32x
            | Kind::mem_vsib32y
            | Kind::mem_vsib64x
            | Kind::mem_vsib64y
            | Kind::mem_vsib32z
            | Kind::mem_vsib64z
    );
    if memory || or_memory && rng.below(2) == 0 {
        insn.set_op_kind(operand, OpKind::Memory);
    } else if let Some(register) = register(kind, rng) {
        insn.set_op_kind(operand, OpKind::Register);
        insn.set_op_register(operand, register);
    } else {
        match kind {
            Kind::seg_rSI => insn.set_op_kind(operand, OpKind::MemorySegRSI),
            Kind::es_rDI => insn.set_op_kind(operand, OpKind::MemoryESRDI),
            Kind::seg_rDI => insn.set_op_kind(operand, OpKind::MemorySegRDI),
            _ => immediate(insn, operand, kind, rng)?,
        }
    }
    Some(())
}

/// Few of each kind, so that operands often coincide. Never the stack pointer.
fn register(kind: Kind, rng: &mut Rng) -> Option<Register> {
    const NUMBERS: [u32; 6] = [0, 1, 2, 3, 9, 14];
    let n = NUMBERS[rng.below(6) as usize];
    Some(match kind {
        Kind::r8_or_mem | Kind::r8_reg | Kind::r8_opcode => Register::AL + rng.below(8) as u32,
        Kind::r16_or_mem | Kind::r16_reg | Kind::r16_rm | Kind::r16_opcode => Register::AX + n,
        Kind::r32_or_mem | Kind::r32_reg | Kind::r32_rm | Kind::r32_opcode | Kind::r32_vvvv => {
            Register::EAX + n
        }
        Kind::r64_or_mem | Kind::r64_reg | Kind::r64_rm | Kind::r64_opcode | Kind::r64_vvvv => {
            Register::RAX + n
        }
        Kind::mm_or_mem | Kind::mm_reg | Kind::mm_rm => Register::MM0 + (n & 7),
        Kind::xmm_or_mem | Kind::xmm_reg | Kind::xmm_rm | Kind::xmm_vvvv | Kind::xmm_is4 | Kind::xmm_is5 => {
            Register::XMM0 + n
        }
        Kind::ymm_or_mem | Kind::ymm_reg | Kind::ymm_rm | Kind::ymm_vvvv | Kind::ymm_is4 | Kind::ymm_is5 => {
            Register::YMM0 + n
        }
        Kind::zmm_or_mem | Kind::zmm_reg | Kind::zmm_rm | Kind::zmm_vvvv => Register::ZMM0 + n,
        Kind::k_or_mem | Kind::k_reg | Kind::k_rm | Kind::k_vvvv => Register::K1 + (n & 3),
        Kind::al => Register::AL,
        Kind::cl => Register::CL,
        Kind::ax => Register::AX,
        Kind::eax => Register::EAX,
        Kind::rax => Register::RAX,
        Kind::dx => Register::DX,
        Kind::st0 => Register::ST0,
        Kind::sti_opcode => Register::ST0 + rng.below(4) as u32,
        _ => return None,
    })
}

fn immediate(insn: &mut Instruction, operand: u32, kind: Kind, rng: &mut Rng) -> Option<()> {
    let value = rng.next();
    let second =
        (0..operand).any(|n| insn.op_kind(n) != OpKind::Register && insn.op_kind(n) != OpKind::Memory);
    match kind {
        Kind::imm8 | Kind::imm4_m2z if second => {
            insn.set_op_kind(operand, OpKind::Immediate8_2nd);
            // Nesting levels of `enter` beyond the window are of no use.
            insn.set_immediate8_2nd(value as u8 & 3);
        }
        Kind::imm8 | Kind::imm4_m2z | Kind::imm8_const_1 => {
            insn.set_op_kind(operand, OpKind::Immediate8);
            insn.set_immediate8(match kind {
                Kind::imm8 => value as u8,
                Kind::imm8_const_1 => 1,
                _ => value as u8 & 3,
            });
        }
        Kind::imm8sex16 => {
            insn.set_op_kind(operand, OpKind::Immediate8to16);
            insn.set_immediate8to16(i16::from(value as i8));
        }
        Kind::imm8sex32 => {
            insn.set_op_kind(operand, OpKind::Immediate8to32);
            insn.set_immediate8to32(i32::from(value as i8));
        }
        Kind::imm8sex64 => {
            insn.set_op_kind(operand, OpKind::Immediate8to64);
            insn.set_immediate8to64(i64::from(value as i8));
        }
        Kind::imm16 => {
            insn.set_op_kind(operand, OpKind::Immediate16);
            insn.set_immediate16(value as u16);
        }
        Kind::imm32 => {
            insn.set_op_kind(operand, OpKind::Immediate32);
            insn.set_immediate32(value as u32);
        }
        Kind::imm32sex64 => {
            insn.set_op_kind(operand, OpKind::Immediate32to64);
            insn.set_immediate32to64(i64::from(value as i32));
        }
        Kind::imm64 => {
            insn.set_op_kind(operand, OpKind::Immediate64);
            insn.set_immediate64(value);
        }
        _ => return None,
    }
    Some(())
}

fn place(insn: &mut Instruction, kind: Kind, memory: u64, rng: &mut Rng) {
    insn.set_memory_index_scale(1);
    if kind == Kind::mem_offs {
        insn.set_memory_displacement64(memory);
        insn.set_memory_displ_size(8);
        return;
    }
    insn.set_memory_base(Register::RBX);
    insn.set_memory_displacement64(64 * rng.below(3));
    insn.set_memory_displ_size(1);
    let index = match kind {
        Kind::mem_vsib32x | Kind::mem_vsib64x => Register::XMM5,
        Kind::mem_vsib32y | Kind::mem_vsib64y => Register::YMM5,
        Kind::mem_vsib32z | Kind::mem_vsib64z => Register::ZMM5,
        _ => return,
    };
    insn.set_memory_index(index);
    insn.set_memory_index_scale(1 << rng.below(4));
}
