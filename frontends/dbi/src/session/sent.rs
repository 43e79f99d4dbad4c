//! Floats that leave the program in binary form: memory that system calls hand out. One output per place.

use super::calls::Calls;
use super::observer::Observer;
use super::state::{Session, State};
use crate::hooks::machine::{Machine, read_u64};
use shadowgrind_core::findings::{Label, Output, OutputKind, Written};
use std::ops::Range;

/// Floats are looked for at addresses divisible by this.
const ALIGNMENT: u64 = 4;

/// How bad what is said of a float is: more in the order of tuples.
pub(super) type Badness = (u8, f64);

impl Session {
    /// The system call at `pc` has handed out this memory, some of which carries shadows.
    pub(crate) fn sent(
        &self,
        pc: u64,
        memory: Range<u64>,
        calls: &mut Calls,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        if calls.is_disabled() {
            return;
        }
        let mut state = self.state.lock();
        // The call of the C library's function, if that keeps no frame, says more than its own instruction.
        let caller = read_u64(m, m.general(crate::hooks::abi::RSP)).ok();
        let site = match caller.filter(|&at| state.report.sites.locate(at).is_some()) {
            Some(at) => state.call_site(at, None, m),
            None => state.report.sites.at(pc),
        };
        let mut address = memory.start.next_multiple_of(ALIGNMENT);
        while address + ALIGNMENT <= memory.end {
            let mut cell = [0; ALIGNMENT as usize];
            m.read_mirror(address, &mut cell);
            address += ALIGNMENT;
            if cell == [0; ALIGNMENT as usize] {
                continue;
            }
            let at = address - ALIGNMENT;
            let next = state.report.outputs.len();
            let known = state.sent.get(&site).copied();
            let index = known.map_or(next, |known| state.report.written[known].output);
            let Some((x, said)) = observer.sent(m, index, site, at) else { continue };
            let (kind, label, value, position) = (OutputKind::Written, Label::NONE, x.value(), 0);
            let (badness, notation) = (said.badness(), None);
            let output = Output { kind, label, value, site, position, said: said.as_deref(), notation };
            match known {
                Some(known) => state.sent_again(known, badness, &output),
                None => state.sent_first(badness, &output),
            }
            address = at + (x.format.bytes() as u64).next_multiple_of(ALIGNMENT);
        }
    }
}

impl State {
    /// The first float leaves at a place.
    fn sent_first(&mut self, badness: Badness, output: &Output<'_>) {
        let index = self.report.outputs.push(output);
        self.sent.insert(output.site, self.report.written.len());
        self.worst_sent.push(badness);
        self.report.written.push(Written { output: index, count: 1, error_bits: badness.1 });
    }

    /// Another does, at the place of this number.
    fn sent_again(&mut self, place: usize, badness: Badness, output: &Output<'_>) {
        let written = &mut self.report.written[place];
        written.count += 1;
        written.error_bits += badness.1;
        if badness > self.worst_sent[place] {
            self.worst_sent[place] = badness;
            self.report.outputs.replace(written.output, output);
        }
    }
}
