//! Exclusive disjunctions, complements and opposites of floats, which undo themselves when they are done again: until then, what is kept
//! beside the result waits.
//!
//! Leaves it to [`super::bitwise`] to say which lanes are floats.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Rule};
use crate::step::{Bitwise, Operand};
use crate::tricks;

/// The largest power of two that exclusive disjunction is taken to scale by: what it makes may be no float, and a shadow
/// of ordinary size is to come back from there.
const FARTHEST: i32 = 512;

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// The sign of one float is turned over, or a significand is given an exponent; or whatever it becomes will become it again.
    pub(super) fn exclusive_lane(&mut self, x: [Operand; 2], r: Operand, format: Format) {
        let kept = |run: &mut Self| run.combined(x, r, format);
        // What is kept beside several floats together is that of none, and becomes one's again if all is kept.
        let [shadowed, other] = match self.carried(x, format.bytes()).map(|carries| carries != 0) {
            [true, false] => x,
            [false, true] => [x[1], x[0]],
            _ => return kept(self),
        };
        let Some(shadow) = self.get(format, shadowed) else { return kept(self) };
        let bits = |run: &Self, format, at| [shadowed, other, r].map(|lane| run.bits(format, lane.plus(at)));
        let turned = |run: &Self, format, at| {
            let [x, other, r] = bits(run, format, at);
            tricks::relation(Bitwise::Xor, format, x, other, r)
        };
        let given = |run: &Self, format, at| {
            let [x, _, r] = bits(run, format, at);
            tricks::given_exponent(format, x, r)
        };
        // Other exponents, too, are turned over and back again.
        let rescaled = |run: &Self, format, at| {
            let [x, _, r] = bits(run, format, at);
            tricks::power_between(format, x, r).filter(|(_, power)| (1..=FARTHEST).contains(&power.abs()))
        };
        let are_two = |run: &Self| {
            let both = |is: &dyn Fn(u16) -> bool| is(0) && is(4);
            both(&|at| turned(run, Format::F32, at).is_some())
                || both(&|at| given(run, Format::F32, at).is_some())
                || both(&|at| rescaled(run, Format::F32, at).is_some())
        };
        let one = turned(self, format, 0).or_else(|| given(self, format, 0));
        match one.or_else(|| rescaled(self, format, 0)) {
            Some((negate, power)) if negate || power != 0 => {
                let (result, turned) =
                    (self.bits(format, r), self.shadow.scale(&shadow, format, negate, power));
                self.cells.set(self.location(r.place), format, result, turned);
            }
            None if format == Format::F64 && are_two(self) => {
                for half in [0, 4] {
                    self.exclusive_lane(x.map(|operand| operand.plus(half)), r.plus(half), Format::F32);
                }
            }
            _ => {
                let [before, after] = [shadowed, r].map(|lane| self.bits(format, lane));
                match tricks::flip(format, before, after, self.whole == Some(format)) {
                    Some((negate, power)) if negate || power != 0 => {
                        let scaled = self.shadow.scale(&shadow, format, negate, power);
                        self.cells.set(self.location(r.place), format, after, scaled);
                    }
                    Some(_) => kept(self),
                    // What is no number is a mask. What is one may be put to others, and be taken off again in any order.
                    None if format.to_f64(self.bits(format, other)).is_nan() => {
                        self.combined_with_sign(x, [shadowed, r], format);
                    }
                    None => kept(self),
                }
            }
        }
    }

    /// The opposite of a float's bits, as an integer, which is no float, but moves along with it; where a shadow does not follow that, it
    /// waits for the opposite of it.
    pub(super) fn opposite_lane(&mut self, x: [Operand; 2], r: Operand, format: Format) {
        let before = self.bits(format, x[1]);
        let is_alone = self.carried(x, format.bytes())[0] == 0;
        if !is_alone || self.get(format, x[1]).is_none() {
            return self.bitwise_lane(Bitwise::Difference, x, r, format);
        }
        let knows_float = self.cells.recognised(self.location(x[1].place), format, before).is_some();
        let displaced = if knows_float { None } else { self.displaced(Bitwise::Difference, x, r, format) };
        if displaced.is_some() {
            return self.cells.set(self.location(r.place), format, self.bits(format, r), displaced);
        }
        self.combined_with_sign(x, [x[1], r], format);
    }

    fn combined(&mut self, x: [Operand; 2], r: Operand, format: Format) {
        let from = x.map(|operand| self.location(operand.place));
        self.cells.combine(from, self.location(r.place), format.bytes());
    }

    /// As [`Run::combined`], with the sign turned over if the second of `ends` has another than the first, which alone has a shadow.
    fn combined_with_sign(&mut self, x: [Operand; 2], ends: [Operand; 2], format: Format) {
        let [before, after] = ends.map(|operand| self.bits(format, operand));
        self.combined(x, ends[1], format);
        if format.is_negative(before) != format.is_negative(after) {
            self.cells.turn_sign(self.location(ends[1].place), format);
        }
    }
}
