//! Words of one to three bytes, and what of wider ones is no more than that of a float: its end or a part within it, in a register or in
//! memory, which integer operations leave, change alike with what is kept beside it, or lose.
//!
//! Knows sign and exponent of a float's end, but not which float it is of.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Location, Rule};
use crate::step::{Bitwise, Operand};
use crate::tricks;

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// Number of those of `bytes` bytes that are part of a float, if there is no more of one in them.
    pub(super) fn part_of(&mut self, x: [Operand; 2], bytes: u16) -> Option<u16> {
        const LEAST: u16 = Format::F32.bytes() as u16;
        let carries = self.carried(x, bytes.into());
        let end = 8 - (carries[0] | carries[1]).leading_zeros() as u16;
        let joins = x[0] != x[1] && carries.iter().all(|&carries| carries != 0);
        if bytes < LEAST {
            return Some(bytes);
        }
        ((1..LEAST).contains(&end) && !joins).then_some(end)
    }

    /// A part of a float, in a register of one or two bytes or at its end in memory: kept, or its end with another sign
    /// or exponent. Parts of two floats are kept if each byte is one's alone. `is_word`: there is no more in the word.
    pub(super) fn part(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, bytes: usize, is_word: bool) {
        let to = self.location(r.place);
        let joins = x[0] != x[1] && self.carried(x, bytes).iter().all(|&carries| carries != 0);
        let may_be_moved = joins && matches!(by, Bitwise::Other | Bitwise::Sum);
        if may_be_moved && let Some(map) = self.bytes_of_either(x, r, bytes) {
            return self.cells.permute(x.map(|operand| self.location(operand.place)), to, &map);
        }
        if by == Bitwise::And && self.takes_flag(x, bytes) {
            return self.cells.clear(to, bytes);
        }
        for (n, operand) in x.into_iter().enumerate() {
            let from = self.location(operand.place);
            if self.changes_numbered(operand, r, bytes) {
                return;
            }
            if self.cells.carries(from, bytes) == 0 {
                continue;
            }
            // Doubled, or taken from a constant, it does not move along.
            let is_along = match by {
                Bitwise::Sum => x[0] != x[1],
                Bitwise::Difference => n == 0,
                _ => true,
            };
            // A byte on its own may be a float's last, which has no digits. Nobody halves that one alone.
            let is_halved = bytes == 1 && self.is_halved(by, [operand, x[1 - n]], r);
            if is_along && !joins && !is_halved && self.changes_end(by, operand, r, bytes) {
                return;
            }
            let has_digits = is_halved || self.has_digits(operand, r, bytes, is_word);
            if has_digits && self.is_any(operand, bytes) {
                self.outcome.lost = true;
                return self.lose([from; 2], to, bytes);
            }
        }
        self.cells.clear(to, bytes);
    }

    /// Tells whether one operand, without a shadow, is the mask of a truth value: see [`tricks::FLAG`].
    fn takes_flag(&mut self, x: [Operand; 2], bytes: usize) -> bool {
        let mut is_flag = |mask: Operand| {
            self.cells.carries(self.location(mask.place), bytes) == 0
                && u128::from(self.integer(mask, bytes)) == tricks::FLAG
        };
        !S::TRACES && (is_flag(x[0]) || is_flag(x[1]))
    }

    /// Tells whether digits of a double beside which there is a number for the whole of it have been changed, which has lost that then.
    fn changes_numbered(&mut self, x: Operand, r: Operand, bytes: usize) -> bool {
        const WORD: u64 = Format::F64.bytes() as u64;
        let at = match self.location(x.place) {
            Location::State(at) => u64::from(at) % WORD,
            Location::Memory(address) => address % WORD,
        };
        let [before, after] = [x, r].map(|operand| self.integer(operand, bytes));
        let whole = self.location(x.place).before(at);
        let is_among_digits = at + bytes as u64 <= WORD - 2;
        let changes = is_among_digits && before != after && x.place == r.place;
        if !changes || !self.cells.is_double(whole, 0) {
            return false;
        }
        self.outcome.lost = true;
        self.cells.clear(whole, WORD as usize);
        true
    }

    /// Tells whether the byte `r`, which is not zero, is one half of the byte `x[0]`, by a shift or by the mask `x[1]`: so text is made of
    /// bytes, a digit of each half. A mask may leave the byte as it is.
    fn is_halved(&self, by: Bitwise, x: [Operand; 2], r: Operand) -> bool {
        let [before, other, after] = [x[0], x[1], r].map(|operand| self.integer(operand, 1));
        after != 0
            && match by {
                Bitwise::And => tricks::halves_byte(other),
                _ => x[0] == x[1] && before != after && [before >> 4, before << 4 & 0xff].contains(&after),
            }
    }

    /// Tells whether the `bytes` bytes of `r`, made of those of `x`, a part of a float or its end, have any of its digits. Those at the
    /// end of a word that is no wider may have been shifted off.
    fn has_digits(&mut self, x: Operand, r: Operand, bytes: usize, is_word: bool) -> bool {
        /// Bits of sign and exponent of the widest float.
        const UPPER: usize = 12;
        let ends = self.ends_float(self.location(r.place), bytes);
        let width = 8 * bytes;
        let digits = if ends { width.saturating_sub(UPPER) } else { width };
        let [before, after] = [x, r].map(|operand| self.integer(operand, bytes));
        // An exponent on its own, shifted down.
        let is_shifted_off = is_word && (digits..width).any(|by| before >> by == after);
        after & ((1 << digits) - 1) != 0 && !is_shifted_off
    }

    /// The first `bytes` bytes of an operand, four at most.
    fn integer(&self, operand: Operand, bytes: usize) -> u32 {
        let at = usize::from(operand.value);
        self.record[at..at + bytes].iter().rev().fold(0, |bits, &byte| bits << 8 | u32::from(byte))
    }

    /// Tells whether the `bytes` bytes of the operand, the upper end of a float, are the same in the result but for
    /// sign and exponent: what is kept beside them is changed alike then. What is no end but within a float moves along
    /// with it in a sum.
    fn changes_end(&mut self, by: Bitwise, x: Operand, r: Operand, bytes: usize) -> bool {
        let [before, after] = [x, r].map(|operand| self.integer(operand, bytes));
        let (from, to) = (self.location(x.place), self.location(r.place));
        let sums = matches!(by, Bitwise::Sum | Bitwise::Difference);
        if sums && from == to && self.ends_extended(from, bytes, before) {
            let [old, new] = [before, after].map(|end| (end & 0x7fff) as i32);
            self.change_extended(to, ((before ^ after) >> 15 != 0, new - old));
            return true;
        }
        let change = match before ^ after {
            0 => {
                self.cells.copy(from, to, bytes);
                return true;
            }
            change if change == 1 << (8 * bytes - 1) => Some((true, 0)),
            // In a register it may be the end of one that is turned.
            _ if sums && !self.ends_float(from, bytes) => {
                matches!(from, Location::Memory(_)).then_some((false, 0))
            }
            _ if sums => tricks::exponent_change(bytes, before, after),
            _ => None,
        };
        if let Some(change) = change {
            self.cells.change_end(from, to, bytes, change);
        }
        change.is_some()
    }

    /// Tells whether a float that `bytes` bytes at `location` are a part of, in memory or a register, ends with them.
    fn ends_float(&mut self, location: Location, bytes: usize) -> bool {
        const ALIGNMENT: u64 = Format::F32.bytes() as u64;
        let end = location.plus(bytes as u64);
        match end {
            Location::Memory(end) => end.is_multiple_of(ALIGNMENT),
            Location::State(_) => self.cells.carries(end, Format::F64.bytes() - bytes) == 0,
        }
    }
}
