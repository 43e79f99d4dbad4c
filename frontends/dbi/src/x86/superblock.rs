//! A superblock: the run of guest instructions that is translated as one piece, and what becomes of the control flow of each.
//!
//! Holds what discovery found; knows neither how that is done nor what is made of it.

use super::function::Counted;
use super::insn::Insn;
use super::rounding::Rounding;
use super::wholes::Whole;
use shadowgrind_core::step::Sums;

/// Reason why a superblock ends after its last instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A limit: execution goes on at this address.
    Continues(u64),
    /// The last instruction takes control elsewhere.
    Left,
    /// The address is hooked.
    Hooked(u64),
    /// The instruction at this address is a client request.
    Request(u64),
    /// The bytes at this address are no instruction.
    Invalid(u64),
    /// The instruction at `pc` needs bytes at `address`, where there is no executable memory.
    Unmapped { pc: u64, address: u64 },
}

/// Guest instructions that are translated as one piece, in the order in which they are expected to run.
#[derive(Clone)]
pub(crate) struct Superblock {
    pub(crate) start: u64,
    pub(crate) insns: Vec<Insn>,
    pub(crate) end: End,
    /// The function at its start, if it ends there because of that.
    pub(crate) function: Option<Counted>,
    /// Guest bytes covered, as address ranges (half-open), in order of discovery.
    pub(crate) extents: Vec<(u64, u64)>,
    /// Meaning of its instructions for floats, once that was found out.
    pub(crate) facts: Option<FloatFacts>,
}

/// Meaning of a superblock's instructions for floats, as far as annotations ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FloatFacts {
    pub(crate) rounds: Rounding,
    /// Addresses of sums of which it is known what they are meant for.
    pub(crate) sums: Vec<(u64, Sums)>,
    /// Instructions that change a part of a float, by address.
    pub(crate) wholes: Vec<(u64, Whole)>,
    /// Comparisons, and roundings to whole numbers, that are counted where they meet shadows.
    pub(crate) decisions: Vec<Decision>,
}

/// A comparison of floats, or their rounding to whole numbers, that is counted where it meets shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The address.
    pub(crate) pc: u64,
    /// Under which number it is counted; the engine does so without one.
    pub(crate) number: Option<u16>,
    /// True if it asks for equality, as far as what follows shows.
    pub(crate) for_equality: bool,
}

impl Superblock {
    pub(crate) fn new() -> Self {
        Superblock {
            start: 0,
            insns: Vec::new(),
            end: End::Left,
            function: None,
            extents: Vec::new(),
            facts: None,
        }
    }

    /// The roundings by magic numbers that its code may do.
    pub(crate) fn rounds(&self) -> Rounding {
        self.facts.as_ref().map_or_else(Rounding::default, |facts| facts.rounds)
    }

    /// Purpose of the instruction at `pc`, if it is a sum.
    pub(crate) fn sums(&self, pc: u64) -> Sums {
        let sums = self.facts.iter().flat_map(|facts| &facts.sums);
        sums.copied().find(|&(at, _)| at == pc).map(|(_, sums)| sums).unwrap_or_default()
    }

    /// The part of a float that the instruction at `pc` changes, if it is known to do so.
    pub(crate) fn whole(&self, pc: u64) -> Option<Whole> {
        let wholes = self.facts.iter().flat_map(|facts| &facts.wholes);
        wholes.copied().find(|&(at, _)| at == pc).map(|(_, whole)| whole)
    }

    /// The decision at `pc`, if it is one that is counted.
    pub(crate) fn decision(&self, pc: u64) -> Option<Decision> {
        let decisions = self.facts.iter().flat_map(|facts| &facts.decisions);
        decisions.copied().find(|decision| decision.pc == pc)
    }
}
