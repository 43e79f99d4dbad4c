//! Differences between two records of one case, by the names a programmer knows.

use super::layout::REGIONS;
use super::state::{FS_BASE, FX, FX_MXCSR, FX_ST, GS_BASE, K, RFLAGS, State, ZMM};
use super::wire::{FAULT_NAMES, Fault, Record};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub what: String,
    pub native: String,
    pub tool: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18} native {}\n{:<18} tool   {}", self.what, self.native, "", self.tool)
    }
}

const GPRS: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

/// Everything that differs; empty if nothing does.
pub fn records(native: &Record, tool: &Record) -> Vec<Difference> {
    let mut all = Vec::new();
    push(&mut all, "signals", native.faults_seen, tool.faults_seen, |n| n.to_string());
    for (i, (a, b)) in native.faults.iter().zip(&tool.faults).enumerate() {
        faults(&mut all, &format!("signal {i}: "), a, b);
    }
    states(&mut all, "", &native.state, &tool.state);
    for (i, region) in REGIONS.iter().enumerate() {
        let what = format!("memory {}", region.name);
        push(&mut all, &what, native.hashes[i], tool.hashes[i], |h| format!("hash {h:016x}"));
    }
    all
}

fn push<T: PartialEq + Copy>(
    all: &mut Vec<Difference>,
    what: &str,
    native: T,
    tool: T,
    show: impl Fn(T) -> String,
) {
    if native != tool {
        all.push(Difference { what: what.to_owned(), native: show(native), tool: show(tool) });
    }
}

fn faults(all: &mut Vec<Difference>, prefix: &str, native: &Fault, tool: &Fault) {
    for (i, name) in FAULT_NAMES.iter().enumerate() {
        push(all, &format!("{prefix}{name}"), native.words[i], tool.words[i], hex);
    }
    states(all, prefix, &native.state, &tool.state);
}

/// Registers. FIP, FDP and FOP are left out: see fpstate.rs.
fn states(all: &mut Vec<Difference>, prefix: &str, native: &State, tool: &State) {
    let mut word = |name: &str, offset: usize| {
        push(all, &format!("{prefix}{name}"), native.word(offset), tool.word(offset), hex);
    };
    GPRS.iter().enumerate().for_each(|(i, name)| word(name, 8 * i));
    word("fs base", FS_BASE);
    word("gs base", GS_BASE);
    (0..8).for_each(|i| word(&format!("k{i}"), K + 8 * i));
    push(all, &format!("{prefix}rflags"), native.word(RFLAGS), tool.word(RFLAGS), flags);
    let x87 = |s: &State| s.word(FX) & 0xff_ffff_ffff;
    push(all, &format!("{prefix}x87 cw/sw/tags"), x87(native), x87(tool), |w| {
        format!("cw {:04x} sw {:04x} tags {:02x}", w & 0xffff, w >> 16 & 0xffff, w >> 32)
    });
    let mxcsr = |s: &State| s.word(FX + FX_MXCSR);
    push(all, &format!("{prefix}mxcsr/mask"), mxcsr(native), mxcsr(tool), hex);
    for i in 0..8 {
        let at = FX + FX_ST + 16 * i;
        let what = format!("{prefix}st({i})/mm");
        push(all, &what, bytes(native, at, 10), bytes(tool, at, 10), backwards);
    }
    for i in 0..32 {
        let at = ZMM + 64 * i;
        push(all, &format!("{prefix}zmm{i}"), bytes(native, at, 64), bytes(tool, at, 64), backwards);
    }
}

fn bytes(state: &State, at: usize, len: usize) -> &[u8] {
    &state.bytes()[at..at + len]
}

fn hex(word: u64) -> String {
    format!("{word:#018x}")
}

/// As registers are written: highest byte first, in groups of eight bytes.
fn backwards(bytes: &[u8]) -> String {
    let group = |g: &[u8]| g.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
    bytes.rchunks(8).map(group).collect::<Vec<_>>().join("_")
}

fn flags(word: u64) -> String {
    const NAMES: [(u32, &str); 11] = [
        (0, "CF"),
        (2, "PF"),
        (4, "AF"),
        (6, "ZF"),
        (7, "SF"),
        (8, "TF"),
        (10, "DF"),
        (11, "OF"),
        (14, "NT"),
        (16, "RF"),
        (18, "AC"),
    ];
    let set = NAMES.iter().filter(|(bit, _)| word >> bit & 1 == 1).map(|(_, name)| *name);
    format!("{word:#x} [{}]", set.collect::<Vec<_>>().join(" "))
}

/// Places where two dumps of the regions differ, eight bytes each, at most `limit` of them.
pub fn dumps(native: &[Vec<u8>], tool: &[Vec<u8>], limit: usize) -> Vec<Difference> {
    let mut all = Vec::new();
    for ((region, a), b) in REGIONS.iter().zip(native).zip(tool) {
        for (i, (x, y)) in a.chunks(8).zip(b.chunks(8)).enumerate() {
            push(&mut all, &format!("[{:#x}]", region.addr + 8 * i as u64), x, y, backwards);
        }
    }
    all.truncate(limit);
    all
}

#[cfg(test)]
mod tests {
    use super::super::rng::Rng;
    use super::super::state::{FX_XMM, SIZE};
    use super::*;

    fn record() -> Record {
        let mut rng = Rng::new(1);
        let state = State::random(&mut rng);
        let fault = Fault { words: (0..FAULT_NAMES.len() as u64).collect(), state: state.clone() };
        Record { faults_seen: 1, hashes: (0..REGIONS.len() as u64).collect(), state, faults: vec![fault] }
    }

    fn flipped(state: &State, at: usize) -> State {
        let mut bytes = state.bytes().to_vec();
        bytes[at] ^= 0x10;
        State::from_bytes(&bytes)
    }

    /// Padding, the instruction and data pointers of x87, and what the image has twice or not at all.
    fn is_ignored(at: usize) -> bool {
        let in_st_padding = (FX + FX_ST..FX + FX_XMM).contains(&at) && (at - FX - FX_ST) % 16 >= 10;
        let pointers = FX + 5..FX + FX_MXCSR;
        (152..192).contains(&at)
            || pointers.contains(&at)
            || in_st_padding
            || (FX + FX_XMM..ZMM).contains(&at)
    }

    #[test]
    fn every_bit_of_a_state_counts() {
        let native = record();
        for at in 0..SIZE {
            let mut other = native.clone();
            other.state = flipped(&native.state, at);
            assert_eq!(records(&native, &other).is_empty(), is_ignored(at), "final state, byte {at}");
            other = native.clone();
            other.faults[0].state = flipped(&native.state, at);
            assert_eq!(
                records(&native, &other).is_empty(),
                is_ignored(at),
                "state in a signal frame, byte {at}"
            );
        }
    }

    #[test]
    fn signals_and_memory_count() {
        let native = record();
        for (i, name) in FAULT_NAMES.iter().enumerate() {
            let mut other = native.clone();
            other.faults[0].words[i] += 1;
            assert_eq!(records(&native, &other).len(), 1, "{name}");
        }
        for (i, region) in REGIONS.iter().enumerate() {
            let mut other = native.clone();
            other.hashes[i] += 1;
            assert_eq!(records(&native, &other).len(), 1, "{}", region.name);
        }
        let other = Record { faults_seen: 2, ..native.clone() };
        assert_eq!(records(&native, &other).len(), 1);
        assert!(records(&native, &native.clone()).is_empty());
    }
}
