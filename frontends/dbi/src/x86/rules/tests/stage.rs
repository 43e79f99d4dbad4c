//! Stage for emitted code: memory of its own, registers loaded from a frame before and stored to another after, so that
//! everything can be compared: what was written, what must not change, and MXCSR.

use std::arch::is_x86_feature_detected;

use iced_x86::{Decoder, DecoderOptions, Instruction};
use shadowgrind_core::format::Format;

use super::super::super::asm::Asm;
use super::super::super::vector::{Length, Mem, Place, Vector, forms};
use super::super::{Binding, Constants, constant_bytes};

/// Layout of the test's memory: operands in memory, spill slots, registers before and after, code, constants.
pub(super) const OPERANDS: u64 = 0x1000;
pub(super) const SPILL: u64 = 0x1400;
pub(super) const BEFORE: u64 = 0x2000;
pub(super) const AFTER: u64 = 0x3000;
pub(super) const STATUS: u64 = 0x3ff0;
const CODE: u64 = 0x4000;
const CONSTANTS: u64 = 0x6000;
const SIZE: usize = 0xa000;

/// MXCSR with all exceptions masked and no flag set.
pub(super) const QUIET: u32 = 0x1f80;

pub(super) struct Random(u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16 ^ self.0 << 40
    }
    pub(super) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 8) % n
    }
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A lane: an edge, anything at all, or of ordinary size.
    pub(super) fn lane(&mut self, format: Format) -> u64 {
        let edges =
            [0.0, 1.0, f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 1e-310, 3.5, 1e30, 1e-42];
        let bits = match self.below(4) {
            0 => {
                let edge = format.from_f64(self.pick(&edges)) as u64;
                edge | self.below(2) << (format.width() - 1)
            }
            1 => self.next(),
            _ => format.from_f64((self.next() as i64 as f64) * 2f64.powi(self.below(12) as i32 - 66)) as u64,
        };
        bits & u64::MAX >> (64 - format.width())
    }
}

/// Memory at a fixed place of the process that code can run in.
pub(super) struct Stage {
    base: *mut u8,
    pub(super) random: Random,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`, which nothing refers to any more.
        unsafe { libc::munmap(self.base.cast(), SIZE) };
    }
}

impl Stage {
    pub(super) fn new(seed: u64) -> Stage {
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at a place of the kernel's choice touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        let stage = Stage { base: base.cast(), random: Random(seed) };
        stage.write(CONSTANTS, &constant_bytes());
        stage
    }

    pub(super) fn at(&self, offset: u64) -> u64 {
        self.base as u64 + offset
    }

    pub(super) fn write(&self, offset: u64, bytes: &[u8]) {
        assert!(offset as usize + bytes.len() <= SIZE);
        // SAFETY: in bounds by the assertion.
        let to = unsafe { self.base.add(offset as usize) };
        // SAFETY: `to` has room for `bytes`, which are elsewhere, and no reference to the mapping exists.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    pub(super) fn read<const N: usize>(&self, offset: u64) -> [u8; N] {
        assert!(offset as usize + N <= SIZE);
        // SAFETY: in bounds by the assertion.
        let from = unsafe { self.base.add(offset as usize) };
        // SAFETY: `N` bytes are there, and any bytes are an array.
        unsafe { from.cast::<[u8; N]>().read_unaligned() }
    }

    pub(super) fn constants(&self) -> Constants {
        Constants::at(self.at(CONSTANTS))
    }

    /// Writes `rule` between loads and stores of all registers; returns its instructions.
    pub(super) fn assemble(&self, binding: Binding, rule: impl FnOnce(&mut Asm)) -> Vec<Instruction> {
        let mut asm = Asm::new(self.at(CODE));
        let (count, bytes) = if binding == Binding::Evex { (32, 64) } else { (16, 32) };
        let slot = |base: u64, n: u8| Mem::rip(self.at(base + 64 * u64::from(n)));
        // ldmxcsr [rdi + STATUS]
        asm.raw(&[0x0f, 0xae, 0x97]);
        asm.imm32(STATUS as i32);
        for n in 0..count {
            asm.vector_load(n, slot(BEFORE, n), bytes);
        }
        if binding == Binding::Evex {
            // The mask of the operation's lanes, for those who ask for k7.
            let mem = Place::Mem(Mem::rip(self.at(STATUS + 8)));
            asm.vector(Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, 7, mem));
        }
        let start = asm.code().len();
        rule(&mut asm);
        let end = asm.code().len();
        for n in 0..count {
            asm.vector_store(slot(AFTER, n), n, bytes);
        }
        // stmxcsr [rdi + STATUS]; vzeroupper; ret
        asm.raw(&[0x0f, 0xae, 0x9f]);
        asm.imm32(STATUS as i32);
        asm.raw(&[0xc5, 0xf8, 0x77, 0xc3]);
        self.write(CODE, asm.code());
        let mut decoder =
            Decoder::with_ip(64, &asm.code()[start..end], self.at(CODE) + start as u64, DecoderOptions::NONE);
        let instructions: Vec<Instruction> = decoder.iter().collect();
        assert!(instructions.iter().all(|i| !i.is_invalid()));
        instructions
    }

    /// Runs what was assembled; returns MXCSR.
    pub(super) fn run(&self) -> u32 {
        self.write(STATUS, &QUIET.to_le_bytes());
        let code = self.at(CODE) as *const u8;
        // SAFETY: the code at `CODE` is a whole function: it takes its argument in rdi, and clobbers vector and mask
        // registers only, all of which belong to the callee in this calling convention.
        let function: extern "sysv64" fn(u64) = unsafe { std::mem::transmute(code) };
        function(self.base as u64);
        let status = u32::from_le_bytes(self.read(STATUS));
        // Rust's own code expects no flags in particular, but the default control bits.
        assert_eq!(status & !0x3f, QUIET);
        status
    }
}

/// Tells whether this machine can run a binding's code; says so loudly if not.
pub(super) fn runs(binding: Binding) -> bool {
    let there = match binding {
        Binding::Evex => {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
        }
        Binding::Vex => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
    };
    if !there {
        let lacks = if binding == Binding::Evex { "AVX-512" } else { "AVX2 and FMA" };
        eprintln!("SKIPPED: rules of the {binding:?} binding: this processor lacks {lacks}");
    }
    there
}
