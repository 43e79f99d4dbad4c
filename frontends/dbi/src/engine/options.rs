//! Options of the engine itself.

use super::cpuid::IsaLevel;
use std::ffi::OsString;

/// Engine options; the defaults are what a user wants, the rest is for tests.
#[derive(Clone, Debug)]
pub struct Options {
    /// Instruction-set level that CPUID offers to the guest.
    pub isa: IsaLevel,
    /// Guest instructions per superblock, at least 1.
    pub superblock_limit: usize,
    /// True if blocks jump to each other without asking the engine.
    pub link: bool,
    /// Flush the code cache after this many translated blocks.
    pub flush_every: Option<usize>,
    /// Translate a block again, following the calls it makes, when it has run this often; at least 1.
    pub hot_after: u32,
    /// Seed of random delays at births and deaths of threads; 0 for none.
    pub chaos: u64,
    /// False to set the base of FS by system calls although there are instructions for it.
    pub fsgsbase: bool,
    /// Print counters when the program ends.
    pub stats: bool,
    /// Follow programs that child processes execute.
    pub trace_children: bool,
    /// The tool's own arguments, to be given again when the program executes another.
    pub tool_arguments: Vec<OsString>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            isa: IsaLevel::V3,
            superblock_limit: 128,
            link: true,
            flush_every: None,
            hot_after: 1000,
            chaos: 0,
            fsgsbase: true,
            stats: false,
            trace_children: false,
            tool_arguments: Vec::new(),
        }
    }
}
