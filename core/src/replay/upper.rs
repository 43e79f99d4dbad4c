//! Words that are the upper half of a double, with sign, exponent and the first twenty digits: what is kept beside them is the upper half of
//! the double's cell, and takes on sign and exponent as the word does.
//!
//! So mathematical functions take numbers apart that were written for processors of 32 bits (Sun's fdlibm, and what has come of it).
//! Does not know where the lower half is, nor whether the two will be one again.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Location, Rule};
use crate::step::{Bitwise, Operand};
use crate::tricks;

/// Bytes of half a double.
const HALF: u16 = Format::F32.bytes() as u16;

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// Changes a word, of `bytes` bytes of which four are no zeros, if it is known to be the upper half of a double. False if it is not, or
    /// something else is made of it.
    pub(super) fn changes_upper_half(
        &mut self,
        by: Bitwise,
        x: [Operand; 2],
        r: Operand,
        bytes: u16,
    ) -> bool {
        let has_zeros_above = bytes == 2 * HALF && x.iter().chain([&r]).all(|&word| self.is_zero_above(word));
        if bytes != HALF && !has_zeros_above {
            return false;
        }
        let one = match self.carried(x, bytes.into()) {
            [first, 0] if first >> HALF == 0 && first != 0 => 0,
            [0, second] if second >> HALF == 0 && second != 0 && by != Bitwise::Difference => 1,
            _ => return false,
        };
        let (from, to) = (self.location(x[one].place), self.location(r.place));
        let half = |operand: Operand| self.bits(Format::F32, operand) as u32;
        let (before, other, after) = (half(x[one]), half(x[1 - one]), half(r));
        let (by, other) = match by {
            Bitwise::AndNot if one == 1 => (Bitwise::And, !other),
            Bitwise::Other if x[0] == x[1] => return false,
            _ => (by, other),
        };
        let is_told = self.is_upper || tricks::is_for_upper_half(by, before, other);
        let is_upper = self.cells.is_upper_half(from).unwrap_or(is_told);
        // What can be no narrow float's is half a double's.
        if !is_upper && self.is_possible(x[one], HALF.into()) {
            return false;
        }
        let is_power = by == Bitwise::And && other & tricks::UPPER_DIGITS == 0;
        let change = tricks::upper_half_change(by, before, other, after);
        match change {
            _ if is_power => self.cells.clear(to, HALF.into()),
            Some(change) => self.change_half(from, to, change),
            None => return false,
        }
        self.cells.clear(to.plus(HALF.into()), (bytes - HALF).into());
        self.outcome.taken |= by == Bitwise::And;
        true
    }

    /// Cuts the first digits out of a double, `x`, by a mask that leaves nothing of the lower half. False if this one does something else.
    pub(super) fn cuts_upper_digits(&mut self, x: Operand, mask: u128, r: Operand) -> bool {
        let half = |bits: u128| (bits >> (8 * HALF)) as u32;
        let [before, after] = [x, r].map(|operand| half(self.bits(Format::F64, operand)));
        let [from, to] = [x, r].map(|operand| self.location(operand.place).plus(HALF.into()));
        let is_for_upper = mask as u32 == 0 && half(mask) & tricks::UPPER_DIGITS == tricks::UPPER_DIGITS;
        let may_be_upper = self.cells.is_upper_half(from).unwrap_or(true);
        let change = tricks::upper_half_change(Bitwise::And, before, half(mask), after);
        let Some(change) = change.filter(|_| is_for_upper && may_be_upper) else { return false };
        self.change_half(from, to, change);
        self.cells.clear(self.location(r.place), HALF.into());
        self.outcome.taken = true;
        true
    }

    fn change_half(&mut self, from: Location, to: Location, change: (bool, i32)) {
        let is_any = self.cells.carries(from, HALF.into()) != 0;
        self.cells.change_end(from, to, HALF.into(), change);
        self.outcome.lost |= is_any && self.cells.carries(to, HALF.into()) == 0;
    }

    fn is_zero_above(&self, word: Operand) -> bool {
        self.bits(Format::F32, word.plus(HALF)) == 0
    }
}
