//! Sums of a superblock: those of which a term is taken off again, and those that are none that rounds. Each instruction on the way that
//! they are followed is decoded once, however many sums there are.

use super::code_source::{CodeSource, decode};
use super::insn::Insn;
use super::rounding::{Rounding, format_of_sum, has_separate_lanes, is_plain};
use super::taken_off::{Values, is_taken_off};
use hashbrown::HashMap;
use iced_x86::Instruction;
use shadowgrind_core::format::Format;
use shadowgrind_core::step::Sums;

/// Instructions of a block and of the code around it.
pub(super) struct Decoded<'a> {
    known: HashMap<u64, Instruction>,
    pub(super) source: &'a mut dyn CodeSource,
}

impl<'a> Decoded<'a> {
    /// Instructions of `source`, of which `insns` are known.
    pub(super) fn new(insns: &[Insn], source: &'a mut dyn CodeSource) -> Decoded<'a> {
        let known = insns.iter().map(|insn| (insn.pc(), insn.decoded)).collect();
        Decoded { known, source }
    }

    /// The instruction at `pc`; an invalid one if there is none.
    pub(super) fn at(&mut self, pc: u64) -> Instruction {
        *self.known.entry(pc).or_insert_with(|| decode(self.source, pc))
    }
}

/// The purposes of the sums among `insns`, those of the superblock at `start`, by address, as far as they are known. `rounds`: the formats in
/// which code there may round by a magic number.
pub(super) fn find_sums(
    insns: &[Insn],
    start: u64,
    rounds: Rounding,
    source: &mut dyn CodeSource,
) -> Vec<(u64, Sums)> {
    let mut sums = Vec::new();
    let mut decoded = Decoded::new(insns, source);
    let mut values = Values::default();
    for (n, insn) in insns.iter().enumerate() {
        let (sum, pc) = (&insn.decoded, insn.pc());
        if let Some(format) = format_of_sum(sum) {
            let is_separate = has_separate_lanes(sum);
            if is_separate && is_taken_off(sum, values.clone(), &mut decoded) {
                sums.push((pc, Sums::TakenOff));
            } else if !rounds.concerns(format)
                || (is_separate || format == Format::F80) && is_plain(insns, n, start, |pc| decoded.at(pc))
            {
                sums.push((pc, Sums::Plain));
            }
        }
        values.step(sum);
    }
    sums
}
