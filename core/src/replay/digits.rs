//! Integers made of a float's bits by wide products, quotients, checksums, ciphers: nothing of the float is left.
//!
//! Does not know what the instruction computes.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Location, Observed, Rule};
use crate::step::{Operand, Place};

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// Results at the places `to` come of the operands `x`, each with its bytes.
    pub(super) fn digits(&mut self, x: &[(Operand, u16)], to: &[(Place, u16)]) {
        let with_bytes = |(location, bytes): (Location, u16)| (location, usize::from(bytes));
        let to: Vec<_> = to.iter().map(|&(to, bytes)| with_bytes((self.location(to), bytes))).collect();
        let (mut lost, mut are_traces) = (Vec::new(), true);
        for &(x, bytes) in x {
            let from = with_bytes((self.location(x.place), bytes));
            if self.is_any(x, from.1) {
                self.outcome.lost = true;
                are_traces &= self.are_traces(&[x], from.1);
                lost.extend(self.is_possible(x, from.1).then_some(from));
            }
        }
        self.are_no_number |= are_traces;
        if S::TRACES && !lost.is_empty() {
            self.cells.leave_trace(&lost, &to);
        } else {
            to.into_iter().for_each(|(to, bytes)| self.cells.clear(to, bytes));
        }
    }

    /// Tells whether nothing is kept beside these operands, of `bytes` bytes each, but traces.
    pub(super) fn are_traces(&mut self, x: &[Operand], bytes: usize) -> bool {
        x.iter().all(|&x| !self.is_any(x, bytes) || self.cells.is_trace(self.location(x.place), bytes))
    }

    /// Tells whether what is kept beside an operand of `bytes` bytes can be the shadow of a float of as many.
    pub(super) fn is_possible(&mut self, x: Operand, bytes: usize) -> bool {
        let format = Format::ALL.into_iter().find(|format| format.bytes() == bytes);
        format.is_none_or(|format| {
            let (bits, shadow) = (self.bits(format, x), self.get(format, x));
            self.shadow.is_possible(&Observed { format, bits, shadow: shadow.as_ref() })
        })
    }
}
