//! Integer and logical operations on floats, lane by lane: what of a float is still there afterwards, and its shadow with it.
//!
//! [`tricks`] says what patterns mean; here it is decided whether a lane is one wide float, two narrow ones, or a part of one.

use super::Run;
use super::by_bytes::bytes_let_through;
use crate::format::Format;
use crate::shadow::{Cells, Observed, Rule};
use crate::step::{Bitwise, Operand};
use crate::tricks;
use crate::turned;

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// Lane by lane: first as floats of the suggested width, then, for wide lanes, as two narrow ones.
    pub(super) fn bitwise(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, bytes: u16, lane: Format) {
        let by = match by {
            // A multiple of digits is no float.
            Bitwise::SumOfMultiple if self.carried(x, bytes.into())[1] != 0 => {
                return self.set_or_lose(x, r, lane, None, true);
            }
            Bitwise::SumOfMultiple => Bitwise::Sum,
            by => by,
        };
        if self.whole == Some(Format::F80) {
            return self.ending(by, x, r, bytes.into());
        }
        if self.changes_upper_half(by, x, r, bytes) {
            return;
        }
        let mut offset = 0;
        while offset < bytes {
            let (xs, result) = (x.map(|operand| operand.plus(offset)), r.plus(offset));
            let known = self.whole.filter(|whole| usize::from(bytes - offset) >= whole.bytes());
            let lane = match known {
                Some(whole) => whole,
                None if self.are_doubles(by, xs, bytes - offset, lane) => Format::F64,
                None if self.are_for_double(by, xs, bytes - offset, lane) => Format::F64,
                None => lane,
            };
            let here = (lane.bytes() as u16).min(bytes - offset);
            offset += here;
            if self.turned(by, xs, result, here) {
                continue;
            }
            let is_full = usize::from(here) == lane.bytes();
            let is_whole = is_full && self.whole == Some(lane);
            if is_whole && by != Bitwise::Xor && self.changes_part(by, xs, result, lane) {
                continue;
            }
            let part = self.part_of(xs, here);
            let moves = part.is_some()
                && is_full
                && (self.selects_bytes(by, xs, lane) || self.joined_bytes(by, xs, result, lane).is_some());
            match part.filter(|_| !moves) {
                Some(part) if is_full && part < here && self.moves_up(by, xs, result, lane, part) => {
                    self.set_or_lose(xs, result, lane, None, true);
                }
                Some(part) => {
                    self.part(by, xs, result, part.into(), part == here);
                    self.cells.clear(self.location(result.place.plus(part)), usize::from(here - part));
                }
                None if by == Bitwise::Xor => self.exclusive_lane(xs, result, lane),
                None if by == Bitwise::Difference && self.bits(lane, xs[0]) == 0 => {
                    self.opposite_lane(xs, result, lane);
                }
                None => self.bitwise_lane(by, xs, result, lane),
            }
            if is_whole {
                self.cells.unmark_rest(self.location(result.place), lane.bytes() - 2);
            }
        }
    }

    /// Tells whether a double is [turned], or something is done to a word that is one, or to its lower half, which has been dealt with
    /// then.
    fn turned(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, bytes: u16) -> bool {
        let format = match bytes {
            4 => Format::F32,
            8 => Format::F64,
            _ => return false,
        };
        let bits = |run: &Self, operand| run.bits(format, operand) as u64;
        let (result, to) = (bits(self, r), self.location(r.place));
        let mut is_turned = |operand: &Operand| {
            let (location, word) = (self.location(operand.place), bits(self, *operand));
            self.cells.is_turned(location, format.bytes(), word)
        };
        let Some(one) = [0, 1].into_iter().find(|&n| is_turned(&x[n])) else {
            return format == Format::F64 && x[0] == x[1] && self.turns(x[0], r);
        };
        let (from, word, other) = (self.location(x[one].place), bits(self, x[one]), bits(self, x[1 - one]));
        let binary = if format == Format::F64 && x[0] != x[1] { Some(by) } else { None };
        match binary {
            // A hash, of which a place in a table is made.
            Some(Bitwise::Xor) if turned::is_turned(other, word) => self.cells.clear(to, format.bytes()),
            Some(Bitwise::And) if turned::is_tag(other) => self.cells.clear(to, format.bytes()),
            // Words are joined to look at both tags: no shadow is lost before something else is made of what is left.
            Some(Bitwise::And | Bitwise::Other) => self.cells.copy(from, to, format.bytes()),
            Some(_) if turned::differ_in_tag(word, result) => self.cells.copy(from, to, format.bytes()),
            _ if turned::is_tag(result) => self.cells.clear(to, format.bytes()),
            _ => return format == Format::F64 && self.cells.turn_back(from, to, result),
        }
        true
    }

    /// Tells whether a double with a shadow is turned.
    fn turns(&mut self, x: Operand, r: Operand) -> bool {
        let [before, after] = [x, r].map(|operand| self.bits(Format::F64, operand) as u64);
        let (from, to) = (self.location(x.place), self.location(r.place));
        turned::turns(before, after) && self.cells.turn(from, to, before)
    }

    /// Tells whether narrow lanes are one wide one: instructions for narrow floats are used on wide ones, too, being
    /// shorter. Sums may be of the upper halves of two doubles, beside which cells of both may look like one.
    fn are_doubles(&mut self, by: Bitwise, x: [Operand; 2], bytes: u16, lane: Format) -> bool {
        let sums = matches!(by, Bitwise::Sum | Bitwise::Difference);
        let double = |operand: Operand| {
            let (bits, location) = (self.bits(Format::F64, operand), self.location(operand.place));
            let is_upper = sums && self.cells.is_upper_half(location) == Some(true);
            !is_upper && self.cells.is_double(location, bits)
        };
        lane == Format::F32 && usize::from(bytes) >= Format::F64.bytes() && x.into_iter().any(double)
    }

    /// Tells whether narrow lanes are one wide one by what is done to it.
    fn are_for_double(&mut self, by: Bitwise, x: [Operand; 2], bytes: u16, lane: Format) -> bool {
        if lane != Format::F32 || usize::from(bytes) < Format::F64.bytes() {
            return false;
        }
        let carries = self.carried(x, Format::F64.bytes()).map(|carries| carries != 0);
        let [first, second] = x.map(|operand| self.bits(Format::F64, operand));
        match (by, carries) {
            (Bitwise::AndNot, [false, true]) => {
                tricks::is_for_double(Bitwise::And, second, first ^ u128::from(u64::MAX))
            }
            (_, [true, false]) => tricks::is_for_double(by, first, second),
            (_, [false, true]) => tricks::is_for_double(by, second, first),
            _ => false,
        }
    }

    /// Tells whether a shift to the left, or a product, puts digits of a part, the first `part` bytes of a lane, behind these: nothing
    /// of them need be left where the part was.
    fn moves_up(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, lane: Format, part: u16) -> bool {
        let (width, ones) = (lane.width(), u128::MAX >> (128 - lane.width()));
        let carries = self.carried(x, lane.bytes());
        let [first, second, after] = [x[0], x[1], r].map(|operand| self.bits(lane, operand));
        let to_left = |bits: u128| (1..width).any(|by| bits << by & ones == after);
        let to_right = |bits: u128| (0..width).any(|by| bits >> by == after);
        let other = if carries[0] == 0 { first } else { second };
        let moves = match by {
            Bitwise::Other => x[0] == x[1] && to_left(first),
            Bitwise::Product => true,
            // Of the part there may be nothing but zeros.
            Bitwise::Funnel => !to_left(other) && !to_right(other),
            _ => false,
        };
        moves && after >> (8 * part) != 0
    }

    /// Tells whether one operand is a float with a shadow and the other just something for its exponent.
    pub(super) fn adds_exponent(&mut self, x: [Operand; 2], format: Format) -> bool {
        let carries = self.carried(x, format.bytes()).map(|carries| carries != 0);
        let [first, second] = x.map(|operand| self.bits(format, operand));
        match carries {
            [true, false] => tricks::is_for_exponent(format, first, second),
            [false, true] => tricks::is_for_exponent(format, second, first),
            _ => false,
        }
    }

    /// Tells whether one operand sets the sign of the other.
    pub(super) fn any_sets_sign(&self, by: Bitwise, x: [Operand; 2], format: Format) -> bool {
        x.iter().any(|&other| tricks::sets_sign(by, format, self.bits(format, other)))
    }

    pub(super) fn bitwise_lane(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, format: Format) {
        if self.carried(x, format.bytes()) == [0, 0] {
            return self.cells.clear(self.location(r.place), format.bytes());
        }
        if matches!(by, Bitwise::And | Bitwise::AndNot) {
            return self.conjunction(by, x, r, format);
        }
        let joins = matches!(by, Bitwise::Other | Bitwise::Sum) && x[0] != x[1];
        let whole = self.bits(format, r);
        let may_restore = joins || by == Bitwise::Funnel;
        if may_restore && let Some(shadow) = self.put_together(x, whole, format, joins) {
            return self.cells.set(self.location(r.place), format, whole, Some(shadow));
        }
        if joins && format == Format::F64 && self.is_assembled(x, r) {
            return self.halves(by, x, r);
        }
        if let Some(map) = self.joined_bytes(by, x, r, format) {
            return self.join(x, r, format, &map);
        }
        let [first, second] = x.map(|operand| self.bits(format, operand));
        let others = [second, first];
        let made = self.scaled(by, x, others, r, format);
        if made.is_none() && self.may_be_two(by, x, others, r, format) {
            return self.halves(by, x, r);
        }
        if made.is_none() && format == Format::F32 && self.is_upper_half(by, x, r) {
            return;
        }
        let made = made.or_else(|| self.displaced(by, x, r, format));
        let result = self.bits(format, r);
        let is_lost =
            !tricks::has_no_digits(format, [first, second], result) || self.shifts_zero(by, x, format);
        if made.is_none() && [first, second].into_iter().any(|before| before.abs_diff(result) <= 1) {
            // The next number of the format is chosen for what it is: no real is meant by it.
            self.outcome.lost |= is_lost && x.into_iter().any(|operand| self.is_any(operand, format.bytes()));
            self.outcome.of_zero |= [first, second].into_iter().any(|bits| is_zero(format, bits));
            return self.cells.clear(self.location(r.place), format.bytes());
        }
        self.set_or_lose(x, r, format, made, is_lost);
    }

    /// Shadow of the part that a mask lets through: by bytes, or of a float.
    fn conjunction(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, format: Format) {
        let ones = u128::MAX >> (128 - format.width());
        let carries = self.carried(x, format.bytes());
        let (first, second) = (self.bits(format, x[0]), self.bits(format, x[1]));
        let (masked, masks) = match by {
            Bitwise::AndNot => ([x[1]; 2], [first ^ ones; 2]),
            _ if carries[0] == 0 => ([x[1]; 2], [first; 2]),
            _ if carries[1] == 0 => ([x[0]; 2], [second; 2]),
            _ => (x, [second, first]),
        };
        let fraction = (1 << (format.precision() - 1)) - 1;
        // A power of two has no digits but the first, in neither half.
        self.outcome.taken |= masks.contains(&fraction)
            || format == Format::F32 && masks.contains(&tricks::UPPER_DIGITS.into());
        let one = masked[0] == masked[1] && !(by == Bitwise::AndNot && carries[0] != 0);
        if one && let Some(map) = bytes_let_through(masks[0], format.bytes()) {
            let from = self.location(masked[0].place);
            return self.cells.permute([from; 2], self.location(r.place), &map);
        }
        if one && masks[0] == tricks::FLAG && !S::TRACES {
            return self.cells.clear(self.location(r.place), format.bytes());
        }
        if one && format == Format::F64 && self.cuts_upper_digits(masked[0], masks[0], r) {
            return;
        }
        let made = self.scaled(Bitwise::And, masked, masks, r, format);
        if made.is_none() && self.may_be_two(Bitwise::And, masked, masks, r, format) {
            return self.halves(by, x, r);
        }
        let result = self.bits(format, r);
        self.outcome.taken |= made.is_some() && result != 0 && result & !fraction == 0;
        self.set_or_lose(x, r, format, made, result & fraction != 0);
    }

    /// Sets the shadow of the result, if there is one; if `has_digits` of an operand that has one, it is lost otherwise.
    fn set_or_lose(
        &mut self,
        x: [Operand; 2],
        r: Operand,
        format: Format,
        made: Option<S::Value>,
        has_digits: bool,
    ) {
        let loses = made.is_none() && has_digits;
        let lost = x.into_iter().find(|&operand| loses && self.is_any(operand, format.bytes()));
        let to = self.location(r.place);
        match lost {
            None => self.cells.set(to, format, self.bits(format, r), made),
            Some(lost) => {
                let carries_both = !self.carried(x, format.bytes()).contains(&0) && x[0] != x[1];
                let is_no_number = carries_both || self.are_traces(&x, format.bytes());
                self.are_no_number |= is_no_number;
                self.outcome.taken |= !is_no_number;
                self.outcome.lost = true;
                let (bits, shadow) = (self.bits(format, lost), self.get(format, lost));
                self.outcome.of_zero |= is_zero(format, bits);
                let seen = Observed { format, bits, shadow: shadow.as_ref() };
                match self.shadow.is_possible(&seen) {
                    true => self.lose(x.map(|operand| self.location(operand.place)), to, format.bytes()),
                    false => self.cells.clear(to, format.bytes()),
                }
            }
        }
    }

    /// The shadow of an operand that is still there, scaled perhaps; `others` says what each was combined with.
    pub(super) fn scaled(
        &mut self,
        by: Bitwise,
        x: [Operand; 2],
        others: [u128; 2],
        r: Operand,
        format: Format,
    ) -> Option<S::Value> {
        let result = self.bits(format, r);
        if self.shifts_zero(by, x, format) {
            return None;
        }
        [0, 1].into_iter().find_map(|i| {
            let before = self.bits(format, x[i]);
            let shadow = self.get(format, x[i])?;
            let subtracted = by == Bitwise::Difference && i == 1;
            let (negate, power) = tricks::relation(by, format, before, others[i], result)
                .filter(|&relation| !subtracted || relation == (false, 0))?;
            if tricks::sets_sign(by, format, others[i]) {
                return self.shadow.with_sign(&shadow, format, result, negate);
            }
            if !negate && power == 0 {
                return Some(shadow);
            }
            self.shadow.scale(&shadow, format, negate, power)
        })
    }

    /// Tells whether a zero is shifted, or multiplied: the digits of a power of two, say, which has none. They are no digits of a
    /// float then.
    fn shifts_zero(&self, by: Bitwise, x: [Operand; 2], format: Format) -> bool {
        let magnitude = (1 << (format.width() - 1)) - 1;
        let bits = x.map(|operand| self.bits(format, operand));
        match by {
            Bitwise::Other => x[0] == x[1] && bits[0] & magnitude == 0,
            Bitwise::Product => !bits.contains(&1) && bits.iter().any(|bits| bits & magnitude == 0),
            _ => false,
        }
    }

    /// A wide lane as two narrow ones.
    fn halves(&mut self, by: Bitwise, x: [Operand; 2], r: Operand) {
        for half in [0, 4] {
            self.bitwise_lane(by, x.map(|operand| operand.plus(half)), r.plus(half), Format::F32);
        }
    }

    /// Tells whether what has been done to a wide lane may have been done to two narrow floats, or to one below zeros:
    /// the halves of what each was combined with are alike, or are there for two exponents, or upper halves are zero.
    fn may_be_two(
        &mut self,
        by: Bitwise,
        x: [Operand; 2],
        others: [u128; 2],
        r: Operand,
        format: Format,
    ) -> bool {
        if format != Format::F64 || by == Bitwise::Product {
            return false;
        }
        let upper = |bits: u128| bits as u64 >> 32;
        let alike = |bits: u128| upper(bits) == u64::from(bits as u32);
        let lanes = matches!(by, Bitwise::And | Bitwise::Other);
        let sums = matches!(by, Bitwise::Sum | Bitwise::Difference);
        let zero_above = upper(self.bits(Format::F64, r)) == 0;
        let mut may = |i: usize| {
            let (bits, location) = (self.bits(format, x[i]), self.location(x[i].place));
            let narrow = zero_above && upper(bits) == 0 && self.cells.carries(location.plus(4), 4) == 0;
            let combined = others[i] != bits && alike(others[i]);
            let are_exponents = sums && tricks::are_for_exponents(others[i] as u64);
            self.cells.carries(location, 8) == 0 || narrow || lanes && combined || are_exponents
        };
        may(0) && may(1)
    }

    /// Tells whether the lane is the upper half of a double, with nothing but another exponent: what is kept beside it
    /// then is changed alike.
    fn is_upper_half(&mut self, by: Bitwise, x: [Operand; 2], r: Operand) -> bool {
        let bytes = Format::F32.bytes();
        let carries = self.carried(x, bytes);
        let one = match carries.map(|carries| carries != 0) {
            [true, second] if !second || x[0] == x[1] => x[0],
            [false, true] if by == Bitwise::Sum => x[1],
            _ => return false,
        };
        let [before, after] = [one, r].map(|operand| self.bits(Format::F32, operand) as u32);
        let sums = matches!(by, Bitwise::Sum | Bitwise::Difference);
        let Some(change) = tricks::exponent_change(bytes, before, after).filter(|_| sums) else {
            return false;
        };
        let (from, to) = (self.location(one.place), self.location(r.place));
        self.cells.change_end(from, to, bytes, change);
        true
    }

    /// The shadow of the sum of a float and a constant, as integers.
    pub(super) fn displaced(
        &mut self,
        by: Bitwise,
        x: [Operand; 2],
        r: Operand,
        format: Format,
    ) -> Option<S::Value> {
        if !matches!(by, Bitwise::Sum | Bitwise::Difference) {
            return None;
        }
        let (one, shadow) = match x.map(|operand| self.get(format, operand)) {
            [Some(shadow), None] => (0, shadow),
            [None, Some(shadow)] => (1, shadow),
            _ => return None,
        };
        let (before, after) = (self.bits(format, x[one]), self.bits(format, r));
        let subtracted = by == Bitwise::Difference && one == 1;
        let (negate, power) = tricks::moves_along(format, before, after, subtracted)?;
        self.shadow.displace(&shadow, format, negate, power)
    }
}

/// Tells whether a float is a zero, of either sign.
fn is_zero(format: Format, bits: u128) -> bool {
    bits << (u128::BITS + 1 - format.width()) == 0
}
