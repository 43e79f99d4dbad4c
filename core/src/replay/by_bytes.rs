//! Words that are put together of bytes of two operands, or of which a mask lets whole bytes through.
//!
//! What is kept beside such bytes goes with them, whatever it means. Does not know what becomes of a float that is changed otherwise.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Rule};
use crate::step::{Bitwise, NO_SOURCE, Operand, SECOND_SOURCE};

/// The lower half of a double, as a mask.
const LOWER_HALF: u128 = u32::MAX as u128;

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// The shadow of a float that has been taken apart, and is whole again; if a double `may_be_scaled`, with another upper half.
    pub(super) fn put_together(
        &mut self,
        x: [Operand; 2],
        result: u128,
        format: Format,
        may_be_scaled: bool,
    ) -> Option<S::Value> {
        let places = x.map(|operand| self.location(operand.place));
        let same = places.into_iter().find_map(|place| self.cells.recognised(place, format, result));
        let is_lower = |run: &Self, operand: Operand| run.bits(format, operand) == result & LOWER_HALF;
        if same.is_some() || !may_be_scaled || format != Format::F64 {
            return same;
        }
        let lower = x.into_iter().find(|&operand| is_lower(self, operand))?;
        let scaled = self.cells.recognised_scaled(self.location(lower.place), format, result);
        scaled.and_then(|(shadow, (negate, power))| self.shadow.scale(&shadow, format, negate, power))
    }

    /// Tells whether a mask lets whole bytes of a lane through: what is kept beside these goes with them, be it a float's or
    /// what two of them have become.
    pub(super) fn selects_bytes(&mut self, by: Bitwise, x: [Operand; 2], lane: Format) -> bool {
        let carries = self.carried(x, lane.bytes()).map(|carries| carries != 0);
        let mask = match (by, carries) {
            (Bitwise::And, [true, false]) => x[1],
            (Bitwise::And, [false, true]) => x[0],
            _ => return false,
        };
        bytes_let_through(self.bits(lane, mask), lane.bytes()).is_some()
    }

    /// Map of the bytes of two words that are joined, each of which is one operand's alone. A float that is known by its bits is not
    /// taken to be bytes of another.
    pub(super) fn joined_bytes(
        &mut self,
        by: Bitwise,
        x: [Operand; 2],
        r: Operand,
        format: Format,
    ) -> Option<Vec<u8>> {
        let joins = matches!(by, Bitwise::Other | Bitwise::Sum) && x[0] != x[1];
        let is_for_field = joins && (self.any_sets_sign(by, x, format) || self.adds_exponent(x, format));
        let is_known = |run: &mut Self, format: Format, operand: Operand| {
            let bits = run.bits(format, operand);
            run.cells.recognised(run.location(operand.place), format, bits).is_some()
        };
        let is_float = |run: &mut Self, operand: Operand| {
            let mut halves = (0..format.bytes()).step_by(Format::F32.bytes());
            is_known(run, format, operand)
                || halves.any(|at| is_known(run, Format::F32, operand.plus(at as u16)))
        };
        let is_of_bytes = joins && !is_for_field && !x.into_iter().any(|operand| is_float(self, operand));
        if is_of_bytes { self.bytes_of_either(x, r, format.bytes()) } else { None }
    }

    /// Joins bytes of two words as the map has it. A double whose end comes from elsewhere than its digits, which have a shadow, is another:
    /// it [leaves traces](Rule::TRACES) at least.
    pub(super) fn join(&mut self, x: [Operand; 2], r: Operand, format: Format, map: &[u8]) {
        /// Bytes of the lower half, above which there may be an exact narrow float.
        const HALF: usize = Format::F32.bytes();
        /// Number of the last byte.
        const LAST: usize = Format::F64.bytes() - 1;
        let (from, to) = (x.map(|operand| self.location(operand.place)), self.location(r.place));
        self.cells.permute(from, to, map);
        if !S::TRACES || format != Format::F64 {
            return;
        }
        let kept = self.cells.carries(to, format.bytes());
        if kept >> LAST == 0 && kept >> HALF != 0 && self.bits(format, r) >> (8 * LAST) != 0 {
            self.outcome.lost = true;
            self.lose([to; 2], to, format.bytes());
        }
    }

    /// A bit for each of up to eight bytes of the operands that something is kept beside.
    pub(super) fn carried(&mut self, x: [Operand; 2], bytes: usize) -> [u8; 2] {
        x.map(|operand| self.cells.carries(self.location(operand.place), bytes))
    }

    /// Moves each byte of the result from the operand it comes from, if each is one operand's alone and so is the
    /// shadow beside it.
    pub(super) fn bytes_of_either(&mut self, x: [Operand; 2], r: Operand, bytes: usize) -> Option<Vec<u8>> {
        let byte = |run: &Self, operand: Operand, i| run.record[usize::from(operand.value) + i];
        let content = x.map(|operand| self.cells.content(self.location(operand.place), bytes));
        let source = |i: usize| {
            let (values, result) = (x.map(|operand| byte(self, operand, i)), byte(self, r, i));
            let holds = [0, 1].map(|n| values[n] != 0 || content[n] >> i & 1 != 0);
            let alone = !(holds[0] && holds[1]) && result == values[0] | values[1];
            alone.then_some(if holds[1] { SECOND_SOURCE + i as u8 } else { i as u8 })
        };
        (0..bytes).map(source).collect()
    }

    /// Tells whether a wide result is put together of two narrow floats, one half from each operand and what is kept
    /// beside them too.
    pub(super) fn is_assembled(&mut self, x: [Operand; 2], r: Operand) -> bool {
        let half = |operand: Operand, at| self.bits(Format::F32, operand.plus(at));
        let (low, high) = (half(r, 0), half(r, 4));
        let from = |a: Operand, b: Operand| {
            half(a, 0) == low && half(b, 4) == high && half(a, 4) != high && half(b, 0) != low
        };
        let (forth, back) = (from(x[0], x[1]), from(x[1], x[0]));
        if !forth && !back {
            return false;
        }
        let (lower, upper) = if forth { (x[0], x[1]) } else { (x[1], x[0]) };
        let mut is_free = |operand: Operand, at| {
            let bits = self.bits(Format::F64, operand);
            let location = self.location(operand.place);
            !self.cells.is_double(location, bits)
                && self.cells.carries(location.plus(at), Format::F32.bytes()) == 0
        };
        is_free(lower, 4) && is_free(upper, 0)
    }
}

/// The bytes, of `bytes`, that a mask lets through, if it does so by whole bytes.
pub(super) fn bytes_let_through(mask: u128, bytes: usize) -> Option<Vec<u8>> {
    let byte = |i: usize| match mask.to_le_bytes()[i] {
        0 => Some(NO_SOURCE),
        u8::MAX => Some(i as u8),
        _ => None,
    };
    (0..bytes).map(byte).collect()
}
