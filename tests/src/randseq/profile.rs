//! The kinds of runs: where code lies, how it comes into being, which instructions there are and what may go wrong.

use super::catalog::Isa;
use super::layout::Place;

/// Way in which the harness makes code executable; the numbers are those of enum code_mode in wire.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each case at an address of its own, all in place before the first runs.
    Fresh,
    /// Each case at an address where others were, in memory that is writable and executable…
    Rewrite,
    /// …made writable and executable in turn…
    Flip,
    /// …unmapped and mapped anew…
    Remap,
    /// …or written through a second mapping.
    Dual,
}

#[derive(Clone, Debug)]
pub struct Profile {
    pub name: &'static str,
    pub isa: Isa,
    pub place: Place,
    pub mode: Mode,
    /// One item of each case raises a signal, or may.
    pub faults: bool,
    /// GS has a base of its own.
    pub gs: bool,
    /// Cases that a test without instructions to the contrary runs.
    pub cases: u64,
}

const PLAIN: Profile = Profile {
    name: "plain",
    isa: Isa::Avx2,
    place: Place::Low,
    mode: Mode::Fresh,
    faults: false,
    gs: false,
    cases: 1500,
};

/// Together they are a few thousand sequences, a matter of seconds.
pub const PROFILES: [Profile; 11] = [
    PLAIN,
    Profile { name: "sse", isa: Isa::Sse, cases: 400, ..PLAIN },
    Profile { name: "avx512", isa: Isa::Avx512, cases: 1000, ..PLAIN },
    Profile { name: "middle", place: Place::Middle, cases: 400, ..PLAIN },
    Profile { name: "high", place: Place::High, cases: 400, ..PLAIN },
    Profile { name: "faults", faults: true, cases: 800, ..PLAIN },
    Profile { name: "gs", gs: true, cases: 200, ..PLAIN },
    Profile { name: "rewrite", mode: Mode::Rewrite, cases: 200, ..PLAIN },
    Profile { name: "flip", mode: Mode::Flip, cases: 100, ..PLAIN },
    Profile { name: "remap", mode: Mode::Remap, cases: 100, ..PLAIN },
    Profile { name: "dual", mode: Mode::Dual, cases: 100, ..PLAIN },
];

impl Profile {
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|p| p.name == name)
    }

    /// Code may write to code where it is mapped writable.
    pub fn self_modifying(&self) -> bool {
        self.mode == Mode::Rewrite
    }

    /// Each case has an item that other profiles do not have.
    pub(super) fn has_special(&self) -> bool {
        self.faults || self.gs || self.self_modifying()
    }
}
