//! The files that the generator and the harness exchange; the other side of tests/guests/randseq/wire.h.

use super::layout::{ALIAS_BASE, EXIT, REGIONS};
use super::op::{Assembled, Case};
use super::profile::{Mode, Profile};
use super::state::{SIZE as STATE_SIZE, State};

const IN_MAGIC: u64 = u64::from_le_bytes(*b"randseq1");
const OUT_MAGIC: u64 = u64::from_le_bytes(*b"randseq2");
const MAX_REGIONS: usize = 12;
const MAX_RESUMES: usize = 4;
const OUT_HEADER: usize = 64;
const FAULT_WORDS: usize = 16;
const RECORD_WORDS: usize = 16;

/// Signals recorded per case; one more ends the case.
pub const MAX_FAULTS: usize = 3;
pub const RECORD_SIZE: usize = 8 * RECORD_WORDS + STATE_SIZE + MAX_FAULTS * FAULT_SIZE;
const FAULT_SIZE: usize = 8 * FAULT_WORDS + STATE_SIZE;

/// Cases in one process; the index modulo this decides about the address.
pub const BATCH: u64 = 2000;
/// Bytes that a case may have, and how far apart cases are.
pub const CASE_ROOM: u64 = 0x1000;
const STRIDE: u64 = 0x2000;
const REUSED_SIZE: u64 = 0x4000;

/// Address of case `index`: one of its own, or one of a few that are used again and again.
pub fn case_address(profile: &Profile, seed: u64, index: u64) -> u64 {
    let mut rng = super::rng::Rng::for_case(!seed, index);
    let base = profile.place.code_base();
    match profile.mode {
        Mode::Fresh => base + (index % BATCH) * STRIDE + rng.below(0x1000),
        _ => base + rng.below(8) * 0x200 + rng.pick(&[0, 0, 0, 1, 32]),
    }
}

fn code_size(profile: &Profile) -> u64 {
    if profile.mode == Mode::Fresh { BATCH * STRIDE } else { REUSED_SIZE }
}

/// The input of one process.
pub fn input(profile: &Profile, cases: &[(Case, Assembled)], dump: Option<usize>) -> Vec<u8> {
    let mut words = vec![
        IN_MAGIC,
        cases.len() as u64,
        profile.mode as u64,
        profile.isa as u64,
        MAX_FAULTS as u64,
        dump.map_or(u64::MAX, |i| i as u64),
        profile.place.code_base(),
        code_size(profile),
        ALIAS_BASE,
        EXIT.addr,
        REGIONS.len() as u64,
        RECORD_SIZE as u64,
    ];
    words.extend(REGIONS.iter().flat_map(|r| [r.addr, r.size, r.flags]));
    words.resize(12 + 3 * MAX_REGIONS + 16, 0);
    let mut bytes = Vec::with_capacity(cases.len() * 4096);
    put(&mut bytes, &words);
    cases.iter().for_each(|(case, code)| put_case(&mut bytes, case, code));
    bytes
}

fn put(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
}

fn put_case(bytes: &mut Vec<u8>, case: &Case, code: &Assembled) {
    let resumes = &code.resumes[..code.resumes.len().min(MAX_RESUMES)];
    let flags = u64::from(case.edit_context);
    put(bytes, &[case.addr, code.bytes.len() as u64, case.mem_seed, flags, resumes.len() as u64, 0, 0, 0]);
    for i in 0..MAX_RESUMES {
        let (from, to) = resumes.get(i).copied().unwrap_or_default();
        put(bytes, &[from, to]);
    }
    bytes.extend(case.state.bytes());
    bytes.extend(&code.bytes);
    bytes.resize(bytes.len().next_multiple_of(64), 0xcc);
}

/// Size of the output file, all regions of one case included if they are wanted.
pub fn output_size(cases: usize, dump: bool) -> usize {
    let regions: u64 = REGIONS.iter().map(|r| r.size).sum();
    OUT_HEADER + cases * RECORD_SIZE + if dump { regions as usize } else { 0 }
}

/// Output of the harness, complete or not.
#[derive(Clone, Debug)]
pub struct Output {
    pub started: usize,
    pub finished: usize,
    pub records: Vec<Record>,
    /// Contents of each region after the case that was to be dumped.
    pub dump: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub faults_seen: u64,
    pub hashes: Vec<u64>,
    pub state: State,
    pub faults: Vec<Fault>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub words: Vec<u64>,
    pub state: State,
}

/// Names of `Fault::words`, in order.
pub const FAULT_NAMES: [&str; 14] = [
    "signal",
    "si_code",
    "si_errno",
    "si_addr",
    "rip",
    "trapno",
    "err",
    "cr2",
    "cs/gs/fs/ss",
    "uc_flags",
    "uc_sigmask",
    "ss_sp",
    "ss_flags",
    "ss_size",
];

impl Output {
    pub fn parse(bytes: &[u8], cases: usize, dump: bool) -> Result<Output, String> {
        let words = words(bytes);
        if words.first() != Some(&OUT_MAGIC) {
            return Err("the harness did not start".to_owned());
        }
        let (started, finished) = (words[1] as usize, words[2] as usize);
        let end = OUT_HEADER + cases * RECORD_SIZE;
        let records = bytes[OUT_HEADER..end].chunks(RECORD_SIZE).take(finished).map(record).collect();
        let mut dumped = Vec::new();
        let mut rest = &bytes[end..];
        for region in REGIONS.iter().filter(|_| dump) {
            let (this, more) = rest.split_at(region.size as usize);
            dumped.push(this.to_vec());
            rest = more;
        }
        Ok(Output { started, finished, records, dump: dumped })
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
    bytes.chunks_exact(8).map(word).collect()
}

fn record(bytes: &[u8]) -> Record {
    let head = words(&bytes[..8 * RECORD_WORDS]);
    let (state, faults) = bytes[8 * RECORD_WORDS..].split_at(STATE_SIZE);
    let recorded = (head[1] as usize).min(MAX_FAULTS);
    Record {
        faults_seen: head[1],
        hashes: head[2..2 + REGIONS.len()].to_vec(),
        state: State::from_bytes(state),
        faults: faults.chunks(FAULT_SIZE).take(recorded).map(fault).collect(),
    }
}

fn fault(bytes: &[u8]) -> Fault {
    let (head, state) = bytes.split_at(8 * FAULT_WORDS);
    Fault { words: words(head)[..FAULT_NAMES.len()].to_vec(), state: State::from_bytes(state) }
}

#[cfg(test)]
mod tests {
    use super::super::state::{FX, K, RFLAGS, ZMM};
    use super::*;

    /// The layout is stated on both sides, in two languages; here is where they meet.
    #[test]
    fn agrees_with_the_harness() {
        let header = include_str!("../../guests/randseq/wire.h");
        let define = |name: &str, value: String| {
            let defined = header.lines().filter_map(|l| l.strip_prefix("#define ")?.strip_prefix(name));
            let values: Vec<_> = defined.filter_map(|rest| rest.split_whitespace().next()).collect();
            assert_eq!(values, [value.as_str()], "{name}");
        };
        define("IN_MAGIC ", format!("{IN_MAGIC:#x}UL"));
        define("OUT_MAGIC ", format!("{OUT_MAGIC:#x}UL"));
        define("ST_RFLAGS ", RFLAGS.to_string());
        define("ST_K ", K.to_string());
        define("ST_FX ", FX.to_string());
        define("ST_ZMM ", ZMM.to_string());
        define("ST_SIZE ", STATE_SIZE.to_string());
        define("MAX_REGIONS ", MAX_REGIONS.to_string());
        define("MAX_RESUMES ", MAX_RESUMES.to_string());
    }
}
