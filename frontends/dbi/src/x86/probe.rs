//! Probing: what an instruction does to bytes, found by running it on chosen ones.
//!
//! An instruction that moves or selects bytes is run with marks in place of data; where the marks end up says which
//! byte goes where. It runs in registers and memory of the probe's own choice. Knows encodings and one page of
//! executable memory, nothing of steps or shadows.

use iced_x86::{Code, CpuidFeature, Encoder, EncodingKind, Instruction, MemoryOperand, OpKind, Register};
use std::arch::is_x86_feature_detected;

/// Bytes kept for an operand.
pub(crate) const SLOT: usize = 64;
const PAGE: usize = 4096;

/// Operands before the instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// By operand number.
    pub(crate) operand: [[u8; SLOT]; 4],
    /// xmm0, which legacy blends use without naming it.
    pub(crate) xmm0: [u8; SLOT],
    /// The mask register, in its first eight bytes.
    pub(crate) mask: [u8; SLOT],
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs { operand: [[0; SLOT]; 4], xmm0: [0; SLOT], mask: [0; SLOT] }
    }
}

/// An instruction in a form that can be run.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    code: Box<[u8]>,
    /// Operand 0 is memory.
    to_memory: bool,
}

/// Frame that the code sees through rdi: operands from `OPERANDS`, then xmm0, the result, the saved x87 state, and the mask.
#[repr(C, align(64))]
struct Frame {
    operand: [[u8; SLOT]; 4],
    xmm0: [u8; SLOT],
    result: [u8; SLOT],
    x87: [u8; 2 * SLOT],
    mask: [u8; SLOT],
}

const XMM0_AT: i64 = 4 * SLOT as i64;
const RESULT_AT: i64 = 5 * SLOT as i64;
const X87_AT: i64 = 6 * SLOT as i64;
const MASK_AT: i64 = 8 * SLOT as i64;

/// Runs instructions out of context.
pub(crate) struct Probe {
    /// Address of a page that may be run, or written, but never both; owned by this. Private, so that after a fork
    /// parent and child have one each.
    page: usize,
    /// The code in the page.
    loaded: Box<[u8]>,
}

impl Probe {
    /// Maps the page.
    ///
    /// # Panics
    /// When the kernel has no page to give.
    pub(crate) fn new() -> Self {
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping at an address of the kernel's choice replaces nothing.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), PAGE, protection, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED, "a page for probing instructions");
        Probe { page: page as usize, loaded: Box::default() }
    }

    /// Makes `code` what the page holds.
    ///
    /// # Panics
    /// When the kernel forbids running what was written: no engine of this kind works then.
    fn load(&mut self, code: &[u8]) {
        if *self.loaded == *code {
            return;
        }
        assert!(code.len() <= PAGE);
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: the page is ours, writable, not running, and at least as long as the code.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), self.page as *mut u8, code.len()) };
        self.protect(libc::PROT_READ | libc::PROT_EXEC);
        self.loaded = code.into();
    }

    fn protect(&mut self, protection: i32) {
        // SAFETY: the page is ours, not running, and Rust holds no reference into it.
        let result = unsafe { libc::mprotect(self.page as *mut _, PAGE, protection) };
        assert_eq!(result, 0, "a page for probing instructions that may be run");
    }

    /// Makes `insn` runnable. Its operands become registers and memory of the probe, its immediate stays.
    pub(crate) fn prepare(&self, insn: &Instruction) -> Result<Shape, &'static str> {
        if !insn.cpuid_features().iter().all(|&feature| present(feature)) {
            return Err("an instruction this processor does not have");
        }
        let renamed = renamed(insn);
        let mut stub = Stub { encoder: Encoder::new(64), ok: true };
        let mmx =
            (0..insn.op_count()).any(|n| insn.op_kind(n) == OpKind::Register && insn.op_register(n).is_mm());
        if mmx {
            stub.memory(Code::Fnsave_m108byte, X87_AT);
        }
        stub.load(Register::XMM0, XMM0_AT);
        if insn.has_op_mask() {
            stub.load(MASK, MASK_AT);
        }
        for operand in 0..renamed.op_count().min(4) {
            if renamed.op_kind(operand) == OpKind::Register {
                stub.load(renamed.op_register(operand), slot(operand));
            }
        }
        stub.add(&renamed);
        let to_memory = renamed.op0_kind() != OpKind::Register;
        if !to_memory {
            stub.store(renamed.op0_register(), RESULT_AT);
        }
        if mmx {
            stub.memory(Code::Frstor_m108byte, X87_AT);
        }
        if insn.encoding() != EncodingKind::Legacy {
            stub.add(&Instruction::with(Code::VEX_Vzeroupper));
        }
        stub.add(&Instruction::with(Code::Retnq));
        if !stub.ok {
            return Err("an instruction that cannot be probed");
        }
        Ok(Shape { code: stub.encoder.take_buffer().into(), to_memory })
    }

    /// Operand 0 after the instruction.
    pub(crate) fn run(&mut self, shape: &Shape, inputs: &Inputs) -> [u8; SLOT] {
        let Inputs { operand, xmm0, mask } = *inputs;
        let mut frame = Frame { operand, xmm0, result: [0; SLOT], x87: [0; 2 * SLOT], mask };
        self.load(&shape.code);
        // SAFETY: the page holds a whole function made by `prepare`, of this signature: it ends in `ret`.
        let run = unsafe { std::mem::transmute::<usize, extern "sysv64" fn(*mut Frame)>(self.page) };
        run(&raw mut frame);
        if shape.to_memory { frame.operand[0] } else { frame.result }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // SAFETY: the page was mapped by `new` and nobody else has its address.
        unsafe { libc::munmap(self.page as *mut _, PAGE) };
    }
}

const fn slot(operand: u32) -> i64 {
    operand as i64 * SLOT as i64
}

/// The mask register of an instruction that works under one.
const MASK: Register = Register::K1;

/// `insn` with operand n in vector register n + 1, MMX register n, general register n or the n-th slot of memory: all
/// registers that a called function may change.
fn renamed(insn: &Instruction) -> Instruction {
    let mut renamed = *insn;
    renamed.set_segment_prefix(Register::None);
    if insn.has_op_mask() {
        renamed.set_op_mask(MASK);
    }
    for operand in 0..insn.op_count() {
        match insn.op_kind(operand) {
            OpKind::Register => {
                renamed.set_op_register(operand, substitute(insn.op_register(operand), operand));
            }
            OpKind::Memory => {
                renamed.set_memory_base(Register::RDI);
                renamed.set_memory_index(Register::None);
                renamed.set_memory_index_scale(1);
                renamed.set_memory_displacement64(slot(operand) as u64);
                renamed.set_memory_displ_size(1);
            }
            OpKind::MemorySegEDI => renamed.set_op_kind(operand, OpKind::MemorySegRDI),
            _ => {}
        }
    }
    renamed
}

fn substitute(register: Register, operand: u32) -> Register {
    match register {
        _ if register.is_xmm() => Register::XMM1 + operand,
        _ if register.is_ymm() => Register::YMM1 + operand,
        _ if register.is_zmm() => Register::ZMM1 + operand,
        _ if register.is_mm() => Register::MM0 + operand,
        _ if register.is_gpr64() => Register::RAX + operand,
        _ if register.is_gpr32() => Register::EAX + operand,
        _ if register.is_gpr16() => Register::AX + operand,
        _ if register.is_gpr8() => Register::AL + operand,
        _ => register,
    }
}

/// Code under construction. The first failure to encode spoils it all.
struct Stub {
    encoder: Encoder,
    ok: bool,
}

impl Stub {
    fn add(&mut self, insn: &Instruction) {
        self.ok &= self.encoder.encode(insn, 0).is_ok();
    }

    fn memory(&mut self, code: Code, at: i64) {
        let insn = Instruction::with1(code, frame_at(at));
        self.ok &= insn.is_ok_and(|insn| self.encoder.encode(&insn, 0).is_ok());
    }

    fn load(&mut self, register: Register, at: i64) {
        let code = match register {
            _ if register.is_xmm() => Code::Movups_xmm_xmmm128,
            _ if register.is_ymm() => Code::VEX_Vmovups_ymm_ymmm256,
            _ if register.is_zmm() => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
            _ if register.is_mm() => Code::Movq_mm_mmm64,
            // More than sixteen lanes come with the instruction that loads as many bits.
            _ if register.is_k() && is_x86_feature_detected!("avx512bw") => Code::VEX_Kmovq_kr_km64,
            _ if register.is_k() => Code::VEX_Kmovw_kr_km16,
            _ => Code::Mov_r64_rm64,
        };
        let insn = Instruction::with2(code, whole(register), frame_at(at));
        self.ok &= insn.is_ok_and(|insn| self.encoder.encode(&insn, 0).is_ok());
    }

    fn store(&mut self, register: Register, at: i64) {
        let code = match register {
            _ if register.is_xmm() => Code::Movups_xmmm128_xmm,
            _ if register.is_ymm() => Code::VEX_Vmovups_ymmm256_ymm,
            _ if register.is_zmm() => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            _ if register.is_mm() => Code::Movq_mmm64_mm,
            _ => Code::Mov_rm64_r64,
        };
        let insn = Instruction::with2(code, frame_at(at), whole(register));
        self.ok &= insn.is_ok_and(|insn| self.encoder.encode(&insn, 0).is_ok());
    }
}

fn frame_at(at: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RDI, at)
}

/// All 64 bits of a general register; any other register itself.
fn whole(register: Register) -> Register {
    if register.is_gpr() { register.full_register() } else { register }
}

/// Tells whether this processor and kernel run instructions of `feature`.
fn present(feature: CpuidFeature) -> bool {
    match feature {
        CpuidFeature::SSE3 => is_x86_feature_detected!("sse3"),
        CpuidFeature::SSSE3 => is_x86_feature_detected!("ssse3"),
        CpuidFeature::SSE4_1 => is_x86_feature_detected!("sse4.1"),
        CpuidFeature::SSE4A => is_x86_feature_detected!("sse4a"),
        CpuidFeature::AVX => is_x86_feature_detected!("avx"),
        CpuidFeature::AVX2 => is_x86_feature_detected!("avx2"),
        CpuidFeature::AVX512F => is_x86_feature_detected!("avx512f"),
        CpuidFeature::AVX512VL => is_x86_feature_detected!("avx512vl"),
        CpuidFeature::AVX512BW => is_x86_feature_detected!("avx512bw"),
        CpuidFeature::AVX512DQ => is_x86_feature_detected!("avx512dq"),
        CpuidFeature::AVX512_VBMI => is_x86_feature_detected!("avx512vbmi"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn run(bytes: &[u8], inputs: &Inputs) -> [u8; SLOT] {
        let mut probe = Probe::new();
        let shape =
            probe.prepare(&Decoder::new(64, bytes, DecoderOptions::NONE).decode()).expect("can be probed");
        probe.run(&shape, inputs)
    }

    fn numbered() -> Inputs {
        let mut inputs = Inputs::default();
        for (operand, slot) in inputs.operand.iter_mut().enumerate() {
            *slot = std::array::from_fn(|i| (0x40 * operand + i) as u8);
        }
        inputs
    }

    /// SHUFPS (Intel SDM): two lanes of the destination, then two of the source, two bits of the immediate each.
    #[test]
    fn shufps_selects_two_lanes_of_each() {
        let result = run(&[0x0f, 0xc6, 0xd1, 0b00_11_01_10], &numbered());
        let lanes = [0x08, 0x04, 0x4c, 0x40_u8];
        let expected: Vec<u8> = lanes.iter().flat_map(|&first| first..first + 4).collect();
        assert_eq!(result[..16], expected);
    }

    /// PSHUFB from memory: byte i is byte `control[i] & 15`, or zero where the control's sign bit is set.
    #[test]
    fn pshufb_selects_by_the_low_bits_or_clears() {
        let mut inputs = numbered();
        let control: [u8; 16] = std::array::from_fn(|i| (i as u8).wrapping_mul(37) ^ 0x15);
        inputs.operand[1][..16].copy_from_slice(&control);
        let result = run(&[0x66, 0x0f, 0x38, 0x00, 0x44, 0x8b, 0x10], &inputs);
        let expected = control.map(|c| if c & 0x80 != 0 { 0 } else { c & 15 });
        assert_eq!(result[..16], expected);
    }

    /// PEXTRW: the word and zeros, in a general register.
    #[test]
    fn pextrw_fills_a_general_register() {
        let mut inputs = numbered();
        inputs.operand[1][6..8].copy_from_slice(&[0xaa, 0xbb]);
        let result = run(&[0x66, 0x0f, 0xc5, 0xc3, 0x03], &inputs);
        assert_eq!(result[..8], [0xaa, 0xbb, 0, 0, 0, 0, 0, 0]);
    }

    /// MOVQ between MMX registers works and leaves the x87 registers alone.
    #[test]
    fn mmx_is_probed_without_a_trace() {
        let (mut before, mut after) = ([0_u8; 28], [0_u8; 28]);
        // SAFETY: stores 28 bytes of x87 environment in a buffer of that size; all exceptions stay masked.
        unsafe { std::arch::asm!("fnstenv [{}]", in(reg) before.as_mut_ptr()) };
        let result = run(&[0x0f, 0x6f, 0xca], &numbered());
        // SAFETY: as above.
        unsafe { std::arch::asm!("fnstenv [{}]", in(reg) after.as_mut_ptr()) };
        assert_eq!(result[..8], [0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47]);
        assert_eq!(before[4..10], after[4..10]);
    }
}
