//! Parts of floats changed by something that is no float: a float with another exponent, one rounded, or no number that comes of it.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Rule};
use crate::step::{Bitwise, Operand, Place};
use crate::tricks;

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// `bytes` bytes, from number `at` on, of the float that was `x` and is `r` now are overwritten with what is at `from`.
    pub(super) fn overwritten(
        &mut self,
        format: Format,
        [x, r]: [Operand; 2],
        from: Option<Place>,
        at: u16,
        bytes: u16,
    ) {
        let [before, after] = [x, r].map(|operand| self.bits(format, operand));
        let (whole, shadow) = (self.location(x.place), self.get(format, x));
        let from = from.map(|place| self.location(place));
        let carries = from.is_some_and(|from| self.cells.carries(from, bytes.into()) != 0);
        let scaled = tricks::power_between(format, before, after);
        let rounds = !carries && tricks::differ_in_digits(format, before, after);
        match (shadow, scaled) {
            (Some(shadow), Some((negate, power))) if power != 0 || negate => {
                let scaled = self.shadow.scale(&shadow, format, negate, power);
                self.cells.set(whole, format, after, scaled);
            }
            (Some(shadow), Some(_)) => self.cells.set(whole, format, after, Some(shadow)),
            (Some(shadow), None) if rounds => self.cells.set(whole, format, after, Some(shadow)),
            (_, None) if carries => {
                let to = whole.plus(at.into());
                from.into_iter().for_each(|from| self.cells.copy(from, to, bytes.into()));
            }
            (shadow, _) => {
                self.outcome.lost |= shadow.is_some();
                self.cells.clear(whole, format.bytes());
            }
        }
    }

    /// Changes a lane, known to be one float in the result, of which the other operand, without a shadow, changes a part. False if
    /// that is not what happens.
    pub(super) fn changes_part(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, format: Format) -> bool {
        let [first, second] = self.carried(x, format.bytes());
        let one = match (first, second) {
            (_, 0) => 0,
            (0, _) => 1,
            _ => return false,
        };
        let (ones, kept) = (u128::MAX >> (128 - format.width()), [first, second][one]);
        let [float, other] = [x[one], x[1 - one]].map(|operand| self.bits(format, operand));
        let (by, other) = match by {
            Bitwise::AndNot if one == 1 => (Bitwise::And, other ^ ones),
            Bitwise::And | Bitwise::Other => (by, other),
            _ => return false,
        };
        let after = self.bits(format, r);
        let to = self.location(r.place);
        // Sign and exponent of what is kept beside it are in the last two bytes.
        let (end, significand) = (format.bytes() - 2, (1 << (format.precision() - 1)) - 1);
        let is_rest = kept >> end == 0;
        let is_lost = is_rest && after >> (8 * end) != 0;
        let scaled = self.scaled(by, [x[one]; 2], [other; 2], r, format);
        let rounds = scaled.is_none() && tricks::differ_in_digits(format, float, after);
        self.outcome.rounded |= rounds;
        let made = if rounds { self.get(format, x[one]) } else { scaled };
        if !is_rest && made.is_some() {
            self.cells.set(to, format, after, made);
            return true;
        }
        // Digits let through without the end, of which what is kept beside them says nothing.
        let cuts = by == Bitwise::And && other >> (8 * end) == 0 && other & significand != 0;
        let is_bare = (0..end).all(|i| kept >> i & 1 == 0 || other >> (8 * i) & 0xff == 0);
        let is_cut = cuts && !is_rest && is_bare;
        if is_lost || is_cut {
            self.cells.clear(to, format.bytes());
        }
        if is_cut {
            self.cells.mark_rest(to);
        }
        self.outcome.lost |= is_lost;
        is_lost || is_cut
    }
}
