//! Parts of floats changed by something that is no float: a float with another exponent, one rounded, or no number that comes of it.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Location, Rule};
use crate::step::{AROUND_END, BEFORE_END, Bitwise, Operand, Place};
use crate::tricks;

/// Number of the byte of a long double with which sign and exponent begin.
const EXTENDED_END: u64 = 8;

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
        let whole = self.location(x.place);
        let shadow = if self.has_lost_its_end(format, whole) { None } else { self.get(format, x) };
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
            // Digits with another exponent, or an exponent with other digits.
            (None, _) if carries && format == Format::F80 => {
                self.outcome.lost |= at == 0;
                self.cells.clear(whole, format.bytes());
            }
            (_, None) if carries && !self.joins_another(format, x, at, bytes) => {
                let to = whole.plus(at.into());
                from.into_iter().for_each(|from| self.cells.copy(from, to, bytes.into()));
            }
            (_, None) if carries => {
                self.outcome.mixed = true;
                self.cells.clear(whole, format.bytes());
            }
            (shadow, _) => {
                self.outcome.lost |= shadow.is_some();
                self.lose([whole; 2], whole, format.bytes());
            }
        }
    }

    /// Tells whether what is kept beside the float is for its digits alone: its end has been overwritten.
    fn has_lost_its_end(&mut self, format: Format, whole: Location) -> bool {
        const END: u8 = 0b1100_0000;
        format == Format::F64 && self.cells.carries(whole, format.bytes()) & END == 0
    }

    /// Tells whether what is put to the `bytes` bytes of the float `x` from number `at` on, with a shadow, is put into another float: a
    /// float that is being put together has nothing there, nor beside it, and has a shadow elsewhere or is nothing yet.
    fn joins_another(&mut self, format: Format, x: Operand, at: u16, bytes: u16) -> bool {
        if format == Format::F80 {
            return false;
        }
        let float = self.bits(format, x);
        let there = float >> (8 * at) & ((1 << (8 * bytes)) - 1);
        let kept = self.cells.carries(self.location(x.place), format.bytes());
        let is_bare = there == 0 && kept >> at & ((1 << bytes) - 1) as u8 == 0;
        !(is_bare && (kept != 0 || float == 0))
    }

    /// `bytes` bytes in memory are overwritten that may be the end of a float. See [`crate::step::Step::End`].
    pub(super) fn end_written(
        &mut self,
        [x, r]: [Operand; 2],
        from: Option<Place>,
        bytes: u16,
        restored: bool,
    ) {
        let to = self.location(x.place).plus(BEFORE_END.into());
        let source = from.map(|from| self.location(from));
        let carries = source.is_some_and(|from| self.cells.carries(from, bytes.into()) != 0);
        let float = if carries && !restored { None } else { self.float_that_ends(to, x, bytes) };
        match (float, source) {
            (Some((format, start)), _) => {
                let from = from.filter(|_| !restored);
                self.overwritten(
                    format,
                    [x, r].map(|operand| operand.plus(start)),
                    from,
                    BEFORE_END - start,
                    bytes,
                );
            }
            (None, Some(source)) if carries => self.cells.copy(source, to, bytes.into()),
            _ => {
                let written = usize::from(x.value + BEFORE_END)..usize::from(x.value + BEFORE_END + bytes);
                let now = usize::from(r.value + BEFORE_END)..usize::from(r.value + BEFORE_END + bytes);
                let changed = self.record[written] != self.record[now];
                self.outcome.lost |= restored && changed && self.cells.carries(to, bytes.into()) != 0;
                self.cells.clear(to, bytes.into());
            }
        }
    }

    /// Format of the float that ends with some of the `bytes` bytes at `to`, or goes on for one more, by how floats are aligned;
    /// and where it starts among the bytes around, which were `x`.
    fn float_that_ends(&mut self, to: Location, x: Operand, bytes: u16) -> Option<(Format, u16)> {
        let Location::Memory(address) = to else { return None };
        let formats = [(Format::F80, 16), (Format::F64, 8), (Format::F32, 4)];
        formats.into_iter().find_map(|(format, alignment)| {
            let (at, end) = ((address % alignment) as u16, format.bytes() as u16);
            if !(end - 2..end).contains(&at) || at + bytes > end {
                return None;
            }
            let start = BEFORE_END - at;
            debug_assert!(start + end <= AROUND_END);
            let (float, place) = (x.plus(start), to.before(at.into()));
            let bits = self.bits(format, float);
            let is_float = match format {
                Format::F80 => self.is_extended(place, (bits >> 64) as u16, bits >> 63 & 1 != 0),
                // The lower half of a wide one has no end.
                Format::F32 if address % 8 < 4 => self.cells.carries(to.plus(u64::from(end - at)), 4) == 0,
                _ => true,
            };
            let is_float = is_float || self.cells.recognised(place, format, bits).is_some();
            (is_float && self.get(format, float).is_some()).then_some((format, start))
        })
    }

    /// Tells whether there may be a shadow of a long double at `place`: one of which sign and exponent may have changed since, or
    /// the number itself has these.
    fn is_extended(&mut self, place: Location, end: u16, is_normal: bool) -> bool {
        /// Exponents of doubles, and of what they are a factor of.
        const DOUBLES: std::ops::RangeInclusive<u16> = 0x3fff - 1100..=0x3fff + 1100;
        is_normal && self.cells.is_extended(place) && DOUBLES.contains(&(end & 0x7fff))
    }

    /// The first of `bytes` bytes have become of the end of a long double, and are going to be one: what is kept beside them is changed
    /// alike, or nothing is.
    pub(super) fn ending(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, bytes: usize) {
        const END: usize = Format::F80.bytes() - EXTENDED_END as usize;
        const SIGN: u16 = 1 << 15;
        let end = |run: &Self, operand: Operand| {
            let at = usize::from(operand.value);
            u16::from_le_bytes([run.record[at], run.record[at + 1]])
        };
        let to = self.location(r.place);
        let carried = x.into_iter().find(|x| self.cells.carries(self.location(x.place), END) != 0);
        let Some(carried) = carried else { return self.cells.clear(to, bytes) };
        let (before, after) = (end(self, carried), end(self, r));
        let power = i32::from(after & !SIGN) - i32::from(before & !SIGN);
        let sums = by == Bitwise::Sum || by == Bitwise::Difference && carried == x[0];
        if sums || power == 0 {
            let change = ((before ^ after) & SIGN != 0, power);
            self.cells.change_end(self.location(carried.place), to, END, change);
        } else {
            self.cells.clear(to, END);
        }
        self.cells.clear(to.plus(END as u64), bytes.saturating_sub(END));
    }

    /// Scales the long double that ends with the two bytes at `end`, in memory.
    pub(super) fn change_extended(&mut self, end: Location, (negate, power): (bool, i32)) {
        let place = end.before(EXTENDED_END);
        if let Some(shadow) = self.cells.get(place, Format::F80, 0) {
            let scaled = self.shadow.scale(&shadow, Format::F80, negate, power);
            self.cells.set(place, Format::F80, 0, scaled);
        }
    }

    /// Tells whether the `bytes` bytes at `location`, which are `end`, are sign and exponent of a long double with a shadow.
    pub(super) fn ends_extended(&mut self, location: Location, bytes: usize, end: u32) -> bool {
        let Location::Memory(address) = location else { return false };
        bytes == 2
            && address % 16 == EXTENDED_END
            && self.is_extended(location.before(EXTENDED_END), end as u16, true)
    }

    /// Changes a lane, known to be one float in the result, of which the other operand, without a shadow, changes a part. False if
    /// that is not what happens.
    pub(super) fn changes_part(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, format: Format) -> bool {
        let [first, second] = self.carried(x, format.bytes());
        let one = match (first, second) {
            // A lane beside one with a shadow.
            (0, 0) => return false,
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
        // Of two floats that were combined, as for a selection, that may be all there is.
        let is_selected = by == Bitwise::And && other == ones;
        let is_lost = is_rest && !is_selected && after >> (8 * end) != 0;
        if by == Bitwise::And && !is_rest && tricks::leaves_few_digits(format, other) {
            // What is looked up by these is constant, and what is left when they are taken off is not.
            self.outcome.rounded = true;
            self.cells.clear(to, format.bytes());
            return true;
        }
        let scaled = self.scaled(by, [x[one]; 2], [other; 2], r, format);
        let changes_digits = scaled.is_none() && tricks::differ_in_digits(format, float, after);
        // The power of two alone is no rounding: what is divided by it, or has it taken off, is for its digits.
        let rounds = changes_digits && !(by == Bitwise::And && other & significand == 0);
        self.outcome.rounded |= changes_digits;
        let made = if rounds { self.get(format, x[one]) } else { scaled };
        if !is_rest && made.is_some() {
            self.cells.set(to, format, after, made);
            return true;
        }
        // Digits let through without the end, of which what is kept beside them says nothing.
        let cuts = by == Bitwise::And && other >> (8 * end) == 0 && other & significand != 0;
        let is_bare = (0..end).all(|i| kept >> i & 1 == 0 || other >> (8 * i) & 0xff == 0);
        // What has been shifted is none of its digits.
        let is_cut = cuts && !is_rest && is_bare && {
            let float = self.bits(format, x[one]);
            self.cells.may_be_in_place(self.location(x[one].place), format, float)
        };
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
