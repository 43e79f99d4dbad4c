//! Running one instruction on this processor with all registers chosen.

use crate::x86::state;
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};
use std::arch::asm;
use std::arch::x86_64::__cpuid_count;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of memory that the instruction may use, and that are watched.
pub(super) const WINDOW: usize = 4096;

/// Registers and memory.
#[derive(Clone)]
pub(super) struct Machine {
    pub(super) general: [u64; 16],
    pub(super) flags: u64,
    pub(super) vectors: [[u8; 64]; 32],
    /// Mask registers, before an instruction.
    pub(super) masks: [u64; 8],
    /// Physical registers.
    pub(super) x87: [[u8; 10]; 8],
    pub(super) top: u8,
    /// Bit n: physical register n is in use.
    pub(super) in_use: u8,
    pub(super) memory: Vec<u8>,
}

impl Machine {
    /// The registers as `state` lays them out.
    pub(super) fn state(&self) -> Vec<u8> {
        let mut bytes = vec![0; usize::from(state::BYTES)];
        let mut put = |at: u16, from: &[u8]| bytes[usize::from(at)..][..from.len()].copy_from_slice(from);
        for number in 0..16 {
            put(state::general(number), &self.general[number].to_le_bytes());
        }
        for number in 0..32 {
            put(state::vector(number), &self.vectors[number]);
        }
        for number in 0..8 {
            put(state::x87(number, 0), &self.x87[usize::from(number)]);
            put(state::mask(number.into()), &self.masks[usize::from(number)].to_le_bytes());
        }
        bytes
    }
}

/// Code, the context it works on, the XSAVE image and the window, in one mapping.
pub(super) struct Native {
    base: u64,
    components: u64,
    zmm_high: usize,
    zmm_16: usize,
    masks: usize,
}

/// Numbers of the state components that have mask registers, the upper halves of zmm0–15, and zmm16–31.
const MASKS: u32 = 5;
const ZMM_HIGH: u32 = 6;
const ZMM_16: u32 = 7;

const CONTEXT: u64 = 0x1000;
const FLAGS: u64 = CONTEXT + 128;
const HOST_RSP: u64 = CONTEXT + 136;
const HOST_MXCSR: u64 = CONTEXT + 144;
const IMAGE: u64 = 0x2000;
const MEMORY: u64 = 0xa000;
const SIZE: usize = 0xc000;

/// Place for the next mapping.
static NEXT: AtomicU64 = AtomicU64::new(0x2_0000_0000);

/// Components of processors without AVX-512: x87, SSE and AVX.
pub(super) const WITHOUT_AVX512: u64 = 0x07;

impl Native {
    /// All of this processor.
    pub(super) fn new() -> Self {
        Self::limited_to(u64::MAX)
    }

    /// As much of this processor as has state in `components`: registers beyond are neither loaded nor looked at.
    pub(super) fn limited_to(components: u64) -> Self {
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // In the guest's range, where there is room: another place for each test that runs.
        let hint = NEXT.fetch_add(SIZE as u64, Ordering::Relaxed) as *mut libc::c_void;
        // SAFETY: a fresh mapping replaces nothing.
        let base = unsafe { libc::mmap(hint, SIZE, protection, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        let (low, high): (u32, u32);
        // SAFETY: reads XCR0; every processor with AVX, which the tests' hosts have, has the instruction.
        unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high) };
        let offset = |component| __cpuid_count(0xd, component).ebx as usize;
        let components = (u64::from(high) << 32 | u64::from(low)) & 0xe7 & components;
        let [masks, zmm_high, zmm_16] = [MASKS, ZMM_HIGH, ZMM_16].map(offset);
        Native { base: base as u64, components, zmm_high, zmm_16, masks }
    }

    /// State components there are: those of XCR0 that the tests know.
    pub(super) fn components(&self) -> u64 {
        self.components
    }

    /// Vector registers, each filled by `fill`; what is beyond the components is zero.
    pub(super) fn vectors(&self, mut fill: impl FnMut(&mut [u8; 64])) -> [[u8; 64]; 32] {
        let mut vectors = [[0; 64]; 32];
        for (number, vector) in vectors.iter_mut().enumerate() {
            fill(vector);
            let present = match number {
                0..16 if self.components & 1 << ZMM_HIGH != 0 => 64,
                0..16 => 32,
                _ if self.components & 1 << ZMM_16 != 0 => 64,
                _ => 0,
            };
            vector[present..].fill(0);
        }
        vectors
    }

    /// Address of the window.
    pub(super) fn memory(&self) -> u64 {
        self.base + MEMORY
    }

    /// The window.
    pub(super) fn window(&mut self) -> &mut [u8] {
        self.bytes(MEMORY, WINDOW)
    }

    fn bytes(&mut self, at: u64, len: usize) -> &mut [u8] {
        assert!(at as usize + len <= SIZE);
        // SAFETY: the mapping is ours, SIZE bytes long, and borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut((self.base + at) as *mut u8, len) }
    }

    fn image(&mut self) -> &mut [u8] {
        self.bytes(IMAGE, (MEMORY - IMAGE) as usize)
    }

    /// Runs `insn`, which goes on to the next instruction, on `before`.
    pub(super) fn run(&mut self, insn: &Instruction, before: &Machine) -> Option<Machine> {
        let code = self.stub(insn)?;
        self.bytes(0, code.len()).copy_from_slice(&code);
        self.load(before);
        // SAFETY: the page holds a whole function of this signature.
        let run = unsafe { std::mem::transmute::<u64, extern "sysv64" fn()>(self.base) };
        run();
        Some(self.stored())
    }

    fn load(&mut self, machine: &Machine) {
        for (number, value) in machine.general.iter().enumerate() {
            self.bytes(CONTEXT + 8 * number as u64, 8).copy_from_slice(&value.to_le_bytes());
        }
        self.bytes(FLAGS, 8).copy_from_slice(&machine.flags.to_le_bytes());
        self.bytes(HOST_MXCSR, 4).copy_from_slice(&0x1f80_u32.to_le_bytes());
        let Native { components, zmm_high, zmm_16, masks, .. } = *self;
        let image = self.image();
        image.fill(0);
        let mut put = |at: usize, from: &[u8]| image[at..at + from.len()].copy_from_slice(from);
        put(0, &0x037f_u16.to_le_bytes());
        put(2, &(u16::from(machine.top) << 11).to_le_bytes());
        put(4, &[machine.in_use]);
        put(24, &0x1f80_u32.to_le_bytes());
        put(512, &components.to_le_bytes());
        for index in 0..8 {
            put(32 + 16 * index, &machine.x87[(usize::from(machine.top) + index) % 8]);
        }
        for (number, mask) in machine.masks.iter().enumerate() {
            if components & 1 << MASKS != 0 {
                put(masks + 8 * number, &mask.to_le_bytes());
            }
        }
        for (number, vector) in machine.vectors.iter().enumerate() {
            if number >= 16 {
                if components & 1 << ZMM_16 != 0 {
                    put(zmm_16 + 64 * (number - 16), vector);
                }
                continue;
            }
            put(160 + 16 * number, &vector[..16]);
            put(576 + 16 * number, &vector[16..32]);
            if components & 1 << ZMM_HIGH != 0 {
                put(zmm_high + 32 * number, &vector[32..]);
            }
        }
        self.bytes(MEMORY, WINDOW).copy_from_slice(&machine.memory);
    }

    fn stored(&mut self) -> Machine {
        let general = std::array::from_fn(|number| {
            u64::from_le_bytes(self.bytes(CONTEXT + 8 * number as u64, 8).try_into().unwrap())
        });
        let flags = u64::from_le_bytes(self.bytes(FLAGS, 8).try_into().unwrap());
        let memory = self.bytes(MEMORY, WINDOW).to_vec();
        let (components, zmm_high, zmm_16) = (self.components, self.zmm_high, self.zmm_16);
        let image = self.image();
        let present = u64::from_le_bytes(image[512..520].try_into().unwrap());
        let top = (u16::from_le_bytes([image[2], image[3]]) >> 11 & 7) as u8;
        let mut x87 = [[0; 10]; 8];
        for index in 0..8 {
            x87[(usize::from(top) + index) % 8].copy_from_slice(&image[32 + 16 * index..][..10]);
        }
        let mut vectors = [[0; 64]; 32];
        for (number, vector) in vectors.iter_mut().enumerate() {
            let parts: &[(u32, usize, usize, usize)] = &match number {
                0..16 => [
                    (1, 160 + 16 * number, 0, 16),
                    (2, 576 + 16 * number, 16, 16),
                    (ZMM_HIGH, zmm_high + 32 * number, 32, 32),
                ],
                _ => [(ZMM_16, zmm_16 + 64 * (number - 16), 0, 64); 3],
            };
            for &(component, at, to, len) in parts {
                if (present & components) >> component & 1 != 0 {
                    vector[to..to + len].copy_from_slice(&image[at..at + len]);
                }
            }
        }
        let has_masks = (present & components) >> MASKS & 1 != 0;
        let masks = std::array::from_fn(|number| {
            let at = self.masks + 8 * number;
            u64::from_le_bytes(self.image()[at..at + 8].try_into().unwrap()) * u64::from(has_masks)
        });
        let in_use = self.image()[4];
        Machine { general, flags, vectors, masks, x87, top, in_use, memory }
    }

    /// A function that loads everything, runs `insn` and stores everything.
    fn stub(&self, insn: &Instruction) -> Option<Vec<u8>> {
        let mut stub = Stub { base: self.base, encoder: Encoder::new(64), at: self.base };
        const SAVED: [Register; 6] =
            [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
        let components = self.components;
        SAVED.iter().for_each(|&register| stub.add(Instruction::with1(Code::Push_r64, register)));
        stub.add(Instruction::with2(Code::Mov_rm64_r64, stub.cell(HOST_RSP), Register::RSP));
        stub.components(components);
        stub.add(Instruction::with1(Code::Xrstor64_mem, stub.cell(IMAGE)));
        stub.add(Instruction::with1(Code::Push_rm64, stub.cell(FLAGS)));
        stub.add(Ok(Instruction::with(Code::Popfq)));
        for number in 0..16 {
            let cell = stub.cell(CONTEXT + 8 * number);
            stub.add(Instruction::with2(Code::Mov_r64_rm64, Register::RAX + number as u32, cell));
        }
        stub.at += stub.encoder.encode(insn, stub.at).ok()? as u64;
        for number in 0..16 {
            let cell = stub.cell(CONTEXT + 8 * number);
            stub.add(Instruction::with2(Code::Mov_rm64_r64, cell, Register::RAX + number as u32));
        }
        stub.add(Instruction::with2(Code::Mov_r64_rm64, Register::RSP, stub.cell(HOST_RSP)));
        stub.add(Ok(Instruction::with(Code::Pushfq)));
        stub.add(Instruction::with1(Code::Pop_rm64, stub.cell(FLAGS)));
        stub.add(Ok(Instruction::with(Code::Cld)));
        stub.components(components);
        stub.add(Instruction::with1(Code::Xsave64_mem, stub.cell(IMAGE)));
        stub.add(Ok(Instruction::with(Code::Fninit)));
        stub.add(Instruction::with1(Code::Ldmxcsr_m32, stub.cell(HOST_MXCSR)));
        stub.add(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        SAVED.iter().rev().for_each(|&register| stub.add(Instruction::with1(Code::Pop_r64, register)));
        stub.add(Ok(Instruction::with(Code::Retnq)));
        Some(stub.encoder.take_buffer())
    }
}

struct Stub {
    base: u64,
    encoder: Encoder,
    at: u64,
}

impl Stub {
    fn add(&mut self, insn: Result<Instruction, iced_x86::IcedError>) {
        let len = self.encoder.encode(&insn.expect("a valid instruction"), self.at).expect("encodes");
        self.at += len as u64;
    }

    fn cell(&self, offset: u64) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RIP, (self.base + offset) as i64)
    }

    fn components(&mut self, mask: u64) {
        self.add(Instruction::with2(Code::Mov_r32_imm32, Register::EAX, mask as u32));
        self.add(Instruction::with2(Code::Mov_r32_imm32, Register::EDX, (mask >> 32) as u32));
    }
}
