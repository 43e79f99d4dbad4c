//! Floats that leave the program in binary form: memory that system calls hand out. One output per place.

use super::calls::Calls;
use super::observer::Observer;
use super::state::Session;
use crate::hooks::machine::{Machine, read_u64};
use shadowgrind_core::findings::{Label, Output, OutputKind};
use std::ops::Range;

/// Floats are looked for at addresses divisible by this.
const ALIGNMENT: u64 = 4;

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
            let index = state.sent.get(&site).copied().unwrap_or(next);
            let Some((x, said)) = observer.sent(m, index, site, at) else { continue };
            if index == next {
                let (kind, label, value) = (OutputKind::Written, Label::NONE, x.value());
                let said = said.as_deref();
                let (position, notation) = (0, None);
                state.report.outputs.push(&Output { kind, label, value, site, position, said, notation });
                state.sent.insert(site, index);
            }
            address = at + (x.format.bytes() as u64).next_multiple_of(ALIGNMENT);
        }
    }
}
