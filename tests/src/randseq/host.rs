//! Instructions that this machine can execute: iced's CPUID features against the kernel's list.
//!
//! The kernel's list and not CPUID itself, since it leaves out what the kernel has not enabled (FSGSBASE, AVX-512 state).

use iced_x86::CpuidFeature;
use std::collections::HashSet;

#[derive(Clone, Debug)]
pub struct Host {
    flags: HashSet<String>,
}

/// Features of every x86-64 processor, under iced's names.
const BASELINE: &[&str] = &[
    "INTEL8086",
    "INTEL186",
    "INTEL286",
    "INTEL386",
    "INTEL486",
    "X64",
    "FPU",
    "FPU287",
    "FPU387",
    "MULTIBYTENOP",
    "PAUSE",
    "TSC",
    "CPUID",
    "SYSCALL",
    "CMOV",
    "CX8",
    "MMX",
    "FXSR",
    "SSE",
    "SSE2",
];

/// iced's name and the kernel's, where they differ by more than case and underscores.
const RENAMED: &[(&str, &str)] = &[
    ("CLFSH", "clflush"),
    ("CMPXCHG16B", "cx16"),
    ("LZCNT", "abm"),
    ("PREFETCHW", "3dnowprefetch"),
    ("SHA", "sha_ni"),
    ("SSE3", "pni"),
    ("D3NOW", "3dnow"),
    ("D3NOWEXT", "3dnowext"),
];

/// Encodings that older processors execute as a no-op, and newer ones too as long as nothing is enabled.
const NOPS_WHERE_ABSENT: &[&str] = &["CET_IBT", "CLDEMOTE"];

impl Host {
    pub fn detect() -> Host {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = text.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
        let words = line.split(':').nth(1).unwrap_or_default().split_whitespace();
        Host { flags: words.map(plain).collect() }
    }

    pub fn has(&self, feature: CpuidFeature) -> bool {
        let name = format!("{feature:?}");
        if BASELINE.contains(&name.as_str()) || NOPS_WHERE_ABSENT.contains(&name.as_str()) {
            return true;
        }
        let flag = RENAMED.iter().find(|(iced, _)| *iced == name).map_or(name.as_str(), |(_, kernel)| kernel);
        self.flags.contains(&plain(flag))
    }

    pub fn has_avx2(&self) -> bool {
        [CpuidFeature::AVX2, CpuidFeature::FMA].into_iter().all(|f| self.has(f))
    }

    /// The harness moves mask registers as 64 bits, hence BW; every server processor with AVX-512 has it.
    pub fn has_avx512(&self) -> bool {
        [CpuidFeature::AVX512F, CpuidFeature::AVX512BW, CpuidFeature::AVX512VL]
            .into_iter()
            .all(|f| self.has(f))
    }
}

/// `AVX512_VBMI2` and `avx512vbmi2` are the same thing.
fn plain(flag: &str) -> String {
    flag.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}
