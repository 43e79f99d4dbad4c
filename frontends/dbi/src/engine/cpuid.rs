//! CPUID and XGETBV as the guest sees them: the host's answers, cut down to an instruction-set level.
//!
//! Libraries choose code by these; a level makes the choice reproducible across hosts and keeps zmm16–31 free for
//! shadows. Only promises are withdrawn: instructions beyond the level still run when a program contains them.

use std::arch::x86_64::__cpuid_count;

/// An x86-64 micro-architecture level (System V ABI), or whatever the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IsaLevel {
    /// SSE4.2, POPCNT, CMPXCHG16B.
    V2,
    /// AVX2, FMA, BMI, F16C, LZCNT, MOVBE.
    V3,
    /// The AVX-512 subsets F, BW, CD, DQ, VL.
    V4,
    /// All the host has.
    Native,
}

/// The four registers CPUID fills: eax, ebx, ecx, edx.
pub(crate) type Leaf = [u32; 4];

/// One withdrawn feature group: bits of one register of one leaf, hidden below a level.
struct Hidden {
    leaf: u32,
    subleaf: u32,
    register: usize,
    bits: u32,
    below: IsaLevel,
}

const EAX: usize = 0;
const EBX: usize = 1;
const ECX: usize = 2;
const EDX: usize = 3;

const fn bits(numbers: &[u32]) -> u32 {
    let mut mask = 0;
    let mut index = 0;
    while index < numbers.len() {
        mask |= 1 << numbers[index];
        index += 1;
    }
    mask
}

#[rustfmt::skip] // A table: one row per group of features.
const HIDDEN: &[Hidden] = &[
    // FMA, MOVBE, AVX, F16C
    Hidden { leaf: 1, subleaf: 0, register: ECX, bits: bits(&[12, 22, 28, 29]), below: IsaLevel::V3 },
    // BMI1, AVX2, BMI2
    Hidden { leaf: 7, subleaf: 0, register: EBX, bits: bits(&[3, 5, 8]), below: IsaLevel::V3 },
    // LZCNT; XOP, FMA4, TBM are on no level
    Hidden { leaf: 0x8000_0001, subleaf: 0, register: ECX, bits: bits(&[5]), below: IsaLevel::V3 },
    Hidden { leaf: 0x8000_0001, subleaf: 0, register: ECX, bits: bits(&[11, 16, 21]), below: IsaLevel::Native },
    // AVX-512 F, DQ, CD, BW, VL
    Hidden { leaf: 7, subleaf: 0, register: EBX, bits: bits(&[16, 17, 28, 30, 31]), below: IsaLevel::V4 },
    // AVX-512 IFMA, PF, ER
    Hidden { leaf: 7, subleaf: 0, register: EBX, bits: bits(&[21, 26, 27]), below: IsaLevel::Native },
    // AVX-512 VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ; GFNI, VAES, VPCLMULQDQ
    Hidden { leaf: 7, subleaf: 0, register: ECX, bits: bits(&[1, 6, 8, 9, 10, 11, 12, 14]), below: IsaLevel::Native },
    // AVX-512 4VNNIW, 4FMAPS, VP2INTERSECT, FP16; AMX-BF16, -TILE, -INT8
    Hidden { leaf: 7, subleaf: 0, register: EDX, bits: bits(&[2, 3, 8, 22, 23, 24, 25]), below: IsaLevel::Native },
    // AVX-VNNI, AVX-512 BF16, AMX-FP16, AVX-IFMA
    Hidden { leaf: 7, subleaf: 1, register: EAX, bits: bits(&[4, 5, 21, 23]), below: IsaLevel::Native },
    // AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16, AVX10, APX
    Hidden { leaf: 7, subleaf: 1, register: EDX, bits: bits(&[4, 5, 10, 19, 21]), below: IsaLevel::Native },
];

/// HLE and RTM: transactions cannot hold translated code, so they are hidden on every level.
const TRANSACTIONS: Hidden =
    Hidden { leaf: 7, subleaf: 0, register: EBX, bits: bits(&[4, 11]), below: IsaLevel::Native };

/// Answer of `cpuid` with these inputs to the guest.
///
/// Leaf 0xd, the layout of XSAVE, stays true: the XSAVE instructions run as they are and follow the hardware.
pub(crate) fn cpuid(leaf: u32, subleaf: u32, level: IsaLevel) -> Leaf {
    let host = __cpuid_count(leaf, subleaf);
    let mut answer = [host.eax, host.ebx, host.ecx, host.edx];
    // Of the leaves with rows, only 7 looks at ecx; for others it holds whatever it did.
    let subleaf = if leaf == 7 { subleaf } else { 0 };
    let hidden = HIDDEN.iter().filter(|row| level < row.below).chain([&TRANSACTIONS]);
    for row in hidden.filter(|row| row.leaf == leaf && row.subleaf == subleaf) {
        answer[row.register] &= !row.bits;
    }
    answer
}

/// Answer of `xgetbv` with this register number to the guest; `None` if there is no such register.
pub(crate) fn xgetbv(register: u32, level: IsaLevel) -> Option<u64> {
    /// Components of every level: x87, SSE, and the rights of protection keys, which no level hides.
    const ALWAYS: u64 = 3 | 1 << 9;
    const AVX: u64 = 1 << 2;
    const XGETBV_1: u32 = 1 << 2;
    // Register 1 tells which components are in use: a subset of register 0's.
    let exists = register == 0 || register == 1 && __cpuid_count(0xd, 1).eax & XGETBV_1 != 0;
    exists.then(|| match level {
        IsaLevel::V2 => host_xgetbv(register) & ALWAYS,
        IsaLevel::V3 => host_xgetbv(register) & (ALWAYS | AVX),
        IsaLevel::V4 | IsaLevel::Native => host_xgetbv(register),
    })
}

/// Extended control register `register` of the host.
pub(crate) fn host_xgetbv(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a control register; the guest had OSXSAVE reported, so the instruction exists, and register 0 is
    // always valid. Other numbers fault here as they would in the guest.
    unsafe {
        std::arch::asm!("xgetbv", in("ecx") register, out("eax") low, out("edx") high,
            options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}
