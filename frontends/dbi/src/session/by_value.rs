//! Outputs found by their value, where nobody knows the function that makes text of them: compiled while the program runs, without a
//! name, or the program's own.
//!
//! Every such function takes the bits of the float as integers. Where integer code cuts the digits out of a float with a shadow, or uses
//! them otherwise, which is a gap, float and shadow are kept here, the last [`MOST`] of them. Of what the program writes afterwards, numbers that no known
//! function has made are held against these:
//!
//! - the text must be the float's, in the fewest digits that read back as it, or rounded to as many as there are; or, if it is no float's,
//!   that of one with a minus sign before it, which the function has taken off;
//! - it has a point or an exponent, and so many digits that of a thousand numbers which are none of the candidates less than one
//!   would be taken for one: four where it is among the next [`NEAR`] that wait to be written, in order, otherwise one more for each
//!   power of ten of all that are kept; a text in the fewest digits may be shorter if the float is among those and the only one;
//! - all candidates that it may be have one shadow. Where they have not, a warning says so, and it is no output.
//!
//! It is an output at the place where the bits were taken then, the program's own if it has any, and the gaps that it was counted under are none. Knows neither how a
//! float is taken nor how shadows are compared, and no session; where an output stands in its text, `standing` finds as it does for others.

use super::observer::SavedShadow;
use super::texts::{Scan, Token};
use hashbrown::HashMap;
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{Float, Recognised, recognise};
use std::collections::{BTreeMap, BTreeSet};

/// Floats that are kept.
const MOST: usize = 4096;
/// Candidates among which the next number is expected.
const NEAR: usize = 8;
/// Digits that the text of one of these must have.
const FEWEST_DIGITS: usize = 4;
/// Candidates that are held against one text.
const HELD: usize = 64;
/// Bytes that a number may have: what is longer is none.
const LONGEST: usize = 64;

/// Place where integer code takes floats: the instruction, and its number in the decoder.
pub(crate) type Taker = (Site, usize);

/// Taking of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taking {
    pub(crate) by: Taker,
    /// True if the float can be had back from what was made of it, as from bits that were rotated: that it is found in a text does not
    /// say that nothing was lost.
    pub(crate) is_reversible: bool,
    /// True if it may be a float of its own, though it may be a part of another one.
    pub(crate) may_be_whole: bool,
}

/// A float with a shadow whose digits integer code has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Taken {
    pub(crate) format: Format,
    pub(crate) bits: u128,
    /// Content of the cell beside the float.
    pub(crate) cell: u128,
}

impl Taken {
    /// The narrow float that it is, if it is a word with one below zeros. A double that small is none that is written.
    pub(crate) fn narrowed(self) -> Taken {
        let is_narrow = self.bits != 0 && [self.bits, self.cell].iter().all(|word| word >> 32 == 0);
        Taken { format: if is_narrow { Format::F32 } else { self.format }, ..self }
    }

    pub(super) fn value(&self) -> f64 {
        self.format.to_f64(self.bits)
    }

    /// The digits behind the first.
    fn digits(&self) -> (Format, u128) {
        (self.format, self.bits & ((1 << (self.format.precision() - 1)) - 1))
    }

    /// Tells whether `part` is one half of a double, by its bits or, if they are others by now, by the half of the cell beside it. Either
    /// is told by the other if it may be any double's: a sign, or the first half of a round number.
    fn has_half(&self, part: &Taken) -> bool {
        const HALF: u128 = u32::MAX as u128;
        const LAST: u128 = u16::MAX as u128;
        let halves = [(self.bits & HALF, self.cell & HALF), (self.bits >> 32, self.cell >> 32)];
        let is_half = |(bits, cell): (u128, u128)| match (bits == part.bits, cell == part.cell) {
            (true, true) => true,
            (true, false) => bits & LAST != 0,
            (false, true) => cell & LAST != 0,
            (false, false) => false,
        };
        self.format == Format::F64 && halves.into_iter().any(is_half)
    }

    /// Sign and exponent: none of digits on their own, and one if the first is among them.
    fn exponent(&self) -> u128 {
        self.bits >> (self.format.precision() - 1)
    }
}

/// A float that may be written.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) taken: Taken,
    pub(super) kept: SavedShadow,
    /// Places that have taken it, the first first, and how often since it was last found in a text.
    pub(super) takers: Vec<(Taker, u64)>,
    /// Number of times that the first of these has taken it for a text that was not found yet, and is none of a known function.
    pub(super) awaited: u64,
    /// True if it may as well be a part of another one.
    is_doubtful: bool,
}

impl Candidate {
    pub(super) fn note(&mut self, Taking { by, is_reversible, .. }: Taking) {
        let counts = u64::from(!is_reversible);
        match self.takers.iter_mut().find(|(taker, _)| *taker == by) {
            Some((_, count)) => *count += counts,
            None => self.takers.push((by, counts)),
        }
    }

    /// The place that has taken it first since it was last found in a text, if one has, for good. Nothing if it may be but a half of a
    /// double: whether that has an error, it does not say.
    pub(super) fn loser(&self) -> Option<Taker> {
        let is_whole = self.taken.format.bytes() > Format::F32.bytes();
        self.takers.iter().filter(|_| is_whole).find(|(_, count)| *count > 0).map(|(taker, _)| *taker)
    }
}

/// Floats that were taken, and what the program has written of late.
#[derive(Debug, Default)]
pub(super) struct TakenFloats {
    /// In the order in which they were taken last.
    pub(super) all: BTreeMap<u64, Candidate>,
    order_of: HashMap<Taken, u64>,
    /// The last one with these digits.
    order_of_digits: HashMap<(Format, u128), u64>,
    by_value: BTreeSet<(u64, u64)>,
    next: u64,
    /// Place in the order behind the last one that was found.
    behind: u64,
    /// Bytes written to each descriptor behind the last one that no number has.
    pub(super) unfinished: HashMap<i32, Vec<u8>>,
    /// Number of times that a float counted as lost was found in a text.
    pub(super) found: HashMap<Taker, u64>,
    /// Texts that may be one of several floats with different shadows: how many, and the first.
    pub(super) ambiguous: Option<(u64, String)>,
    /// Error bits up to which it does not matter what has become of a float.
    threshold: f64,
}

/// Key by which values are in order.
pub(super) fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

impl TakenFloats {
    /// None yet; of what becomes of a float with this many bits of error, or fewer, nothing need be known.
    pub(super) fn above(threshold: f64) -> TakenFloats {
        TakenFloats { threshold, ..TakenFloats::default() }
    }

    /// Tells whether it is to be known what becomes of a float with so many bits of error.
    pub(super) fn concerns(&self, error_bits: f64) -> bool {
        /// Bits of error of a float of which nothing is known: what integer code has made of another.
        const UNKNOWN: f64 = 64.0;
        self.threshold < error_bits && error_bits < UNKNOWN
    }

    /// In a process that was forked off: what was taken before is its parent's to count.
    pub(super) fn forked(&mut self) {
        self.all.values_mut().flat_map(|candidate| &mut candidate.takers).for_each(|(_, count)| *count = 0);
        self.found.clear();
    }

    /// Keeps `taken`, whose shadow is `kept`, as the latest; `is_known`: a known function is making text of it, so that it is not lost;
    /// `is_doubtful`: it may be a part of another one. What is to be released for it, if that was kept before.
    pub(super) fn keep(
        &mut self,
        taken: Taken,
        kept: SavedShadow,
        taking: Taking,
        (is_known, is_doubtful): (bool, bool),
    ) -> Option<SavedShadow> {
        let (order, value) = (self.next, key(taken.value()));
        self.next += 1;
        let (mut candidate, released) = match self.order_of.insert(taken, order) {
            Some(before) => {
                self.by_value.remove(&(value, before));
                let known = self.all.remove(&before).expect("what is in order is there");
                (known, Some(kept))
            }
            None => (Candidate { taken, kept, takers: Vec::new(), awaited: 0, is_doubtful }, None),
        };
        // Where all but its first digits are another's that was taken lately, it is what integers have made of that.
        let is_made_of = |other: &Candidate| {
            other.taken.bits != taken.bits && other.taken.bits >> u32::BITS == taken.bits >> u32::BITS
        };
        let is_wide = taken.format == Format::F64;
        let is_made = is_wide && self.all.values().rev().take(NEAR).any(is_made_of);
        candidate.note(Taking { is_reversible: taking.is_reversible || is_known || is_made, ..taking });
        candidate.awaited += u64::from(!is_known && candidate.takers[0].0 == taking.by);
        self.all.insert(order, candidate);
        self.by_value.insert((value, order));
        self.order_of_digits.insert(taken.digits(), order);
        released
    }

    /// Takes out the oldest, if there are more than are kept.
    pub(super) fn drop_one_too_many(&mut self) -> Option<Candidate> {
        if self.all.len() > MOST { self.drop_oldest() } else { None }
    }

    /// The candidate of which `taken` is a part that goes on as an integer: with its digits, or, if they are others by now, the last
    /// one, if what is taken has no exponent, or is a half. `as_new`: unless it may be one of its own.
    pub(super) fn whole_of(&mut self, taken: &Taken, as_new: bool) -> Option<&mut Candidate> {
        let known = self.order_of.get(&taken.narrowed()).and_then(|order| self.all.get(order));
        if known.is_some_and(|known| !known.is_doubtful) {
            return None;
        }
        let same = [taken.narrowed(), *taken].into_iter().find_map(|taken| {
            self.order_of_digits.get(&taken.digits()).filter(|_| taken.exponent() <= 1).copied()
        });
        if let Some(order) = same.filter(|order| !self.all[order].is_doubtful) {
            return self.all.get_mut(&order);
        }
        let sure = self.all.iter().rev().find(|(_, candidate)| !candidate.is_doubtful);
        let last = sure.or(self.all.last_key_value()).map(|(order, _)| *order)?;
        let last = self.all.get_mut(&last)?;
        let is_half = last.taken.has_half(taken);
        (is_half || as_new && taken.exponent() == 0).then_some(last)
    }

    /// Takes out the oldest.
    pub(super) fn drop_oldest(&mut self) -> Option<Candidate> {
        let (order, oldest) = self.all.pop_first()?;
        self.order_of.remove(&oldest.taken);
        if self.order_of_digits.get(&oldest.taken.digits()) == Some(&order) {
            self.order_of_digits.remove(&oldest.taken.digits());
        }
        self.by_value.remove(&(key(oldest.taken.value()), order));
        Some(oldest)
    }

    /// Candidates whose text this is, by their order.
    pub(super) fn fitting(&self, text: &str, value: f64, unit: f64) -> Vec<(u64, Recognised)> {
        let within = (key(value - unit), 0)..=(key(value + unit), u64::MAX);
        let fits = |&(_, order): &(u64, u64)| {
            let Taken { format, bits, .. } = self.all[&order].taken;
            Some((order, recognise(&Float { format, bits }, text)?))
        };
        self.by_value.range(within).take(HELD).filter_map(fits).collect()
    }

    /// Tells whether a text with so many digits is enough to tell the candidate, one of `fitting` many.
    pub(super) fn is_telling(&self, order: u64, how: Recognised, digits: usize, fitting: usize) -> bool {
        let waits = |&(&other, candidate): &(&u64, &Candidate)| {
            candidate.awaited > 0 && (!candidate.is_doubtful || other == order)
        };
        let awaited = self.all.range(self.behind..).filter(waits).take(NEAR);
        let is_near = awaited.map(|(order, _)| *order).any(|other| other == order);
        let more = (self.all.len() / NEAR).checked_ilog10().map_or(0, |power| power as usize + 1);
        digits >= FEWEST_DIGITS + more
            || is_near && (digits >= FEWEST_DIGITS || how.is_shortest && fitting == 1)
    }

    /// The candidate was found in a text: the places that have taken it, or a copy of it that waits as well, have not lost it. The
    /// shadows of these are alike, or nobody could tell which it is.
    pub(super) fn find(&mut self, order: u64) {
        let Taken { format, bits, .. } = self.all[&order].taken;
        let value = key(format.to_f64(bits));
        let same = self.by_value.range((value, 0)..=(value, u64::MAX)).map(|&(_, order)| order);
        let is_copy = |other: &Candidate| other.taken.bits == bits && other.awaited > 0;
        let found: Vec<u64> = same.filter(|other| *other == order || is_copy(&self.all[other])).collect();
        for other in found {
            let candidate = self.all.get_mut(&other).expect("what is in order by value is there");
            candidate.awaited = candidate.awaited.saturating_sub(1);
            for (taker, count) in &mut candidate.takers {
                *self.found.entry(*taker).or_default() += std::mem::take(count);
            }
        }
        self.behind = self.behind.max(order + 1);
    }

    /// The numbers that are complete now that `bytes` were written to `descriptor`; at the `end`, all.
    pub(super) fn complete(&mut self, descriptor: i32, bytes: &[u8], end: bool) -> (Vec<u8>, Vec<Token>) {
        let unfinished = self.unfinished.entry(descriptor).or_default();
        unfinished.extend_from_slice(bytes);
        let is_of_number = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let whole = match unfinished.iter().rposition(|byte| !is_of_number(byte)) {
            _ if end => unfinished.len(),
            Some(last) => last + 1,
            None => 0,
        };
        let rest = unfinished.split_off(whole);
        let text = std::mem::replace(unfinished, if rest.len() > LONGEST { Vec::new() } else { rest });
        let tokens = Scan::of(&text).tokens;
        (text, tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::text::Decimal;

    fn taken(value: f64, cell: u128) -> Taken {
        Taken { format: Format::F64, bits: value.to_bits().into(), cell }
    }

    fn by(number: usize) -> Taking {
        Taking { by: (Site::NONE, number), is_reversible: false, may_be_whole: false }
    }

    fn floats(values: &[f64]) -> TakenFloats {
        let mut floats = TakenFloats::default();
        for (n, &value) in values.iter().enumerate() {
            assert_eq!(floats.keep(taken(value, 1), SavedShadow(n as u64 + 1), by(7), (false, false)), None);
        }
        floats
    }

    fn telling(floats: &TakenFloats, text: &str) -> usize {
        let decimal = Decimal::of(text).unwrap();
        let fitting = floats.fitting(text, decimal.value(), decimal.unit());
        let is_telling = |&&(order, how): &&(u64, Recognised)| {
            floats.is_telling(order, how, decimal.significant_digits(), fitting.len())
        };
        fitting.iter().filter(is_telling).count()
    }

    #[test]
    fn more_digits_are_asked_for_where_there_are_more_candidates() {
        let few = floats(&[1.0 / 3.0, 0.25, -2.5e10]);
        assert_eq!(
            ["0.3333", "0.333", "0.25", "-2.5E10", "0.250"].map(|text| telling(&few, text)),
            [1, 0, 1, 1, 0]
        );
        let many: Vec<f64> = (1..=1000).map(|n| (n as f64).sqrt()).collect();
        let many = floats(&many);
        let near = format!("{:.3}", 2f64.sqrt());
        assert_eq!([&near, "30.00", "30.0167"].map(|text| telling(&many, text)), [1, 0, 0]);
        assert_eq!(telling(&many, "30.01666204"), 1);
    }

    #[test]
    fn numbers_are_whole_when_something_else_follows() {
        let mut floats = floats(&[]);
        let mut texts = |bytes: &[u8], end| {
            let (text, tokens) = floats.complete(1, bytes, end);
            let text = |token: &Token| String::from_utf8_lossy(&text[token.start..token.end]).into_owned();
            tokens.iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(texts(b"a=1.5 2.", false), ["1.5"]);
        assert_eq!(texts(b"25", false), [""; 0]);
        assert_eq!(texts(b"e-3\n7.5", false), ["2.25e-3"]);
        assert_eq!(texts(b"", true), ["7.5"]);
    }

    #[test]
    fn the_oldest_are_forgotten_and_what_was_found_is_not_lost() {
        let mut floats = TakenFloats::default();
        for n in 0..MOST {
            floats.keep(taken(n as f64, 1), SavedShadow(n as u64 + 1), by(7), (false, false));
        }
        let again = floats.keep(taken(0.0, 1), SavedShadow(9999), by(8), (false, false));
        assert_eq!(again, Some(SavedShadow(9999)));
        assert!(floats.drop_one_too_many().is_none());
        assert_eq!(floats.keep(taken(-1.0, 1), SavedShadow(10_000), by(7), (false, false)), None);
        let dropped = floats.drop_one_too_many().unwrap();
        assert_eq!((dropped.kept, dropped.loser()), (SavedShadow(2), Some((Site::NONE, 7))));
        floats.keep(taken(-2.0, 1), SavedShadow(10_001), by(7), (true, false));
        let known = floats.all.values().last().unwrap();
        assert_eq!((known.loser(), known.awaited), (None, 0));
        floats.drop_one_too_many();
        let (&order, candidate) =
            floats.all.iter().find(|(_, candidate)| candidate.taken.value() == 0.0).unwrap();
        assert_eq!((candidate.awaited, candidate.takers.len()), (1, 2));
        floats.find(order);
        assert_eq!(floats.found, HashMap::from([((Site::NONE, 7), 1), ((Site::NONE, 8), 1)]));
        assert_eq!((floats.all[&order].awaited, floats.all[&order].loser()), (0, None));
    }

    #[test]
    fn halves_of_another_float_are_none_of_the_last() {
        // Negative numbers whose cells are the same but for the last digits.
        let whole =
            |bits: u64, slot: u128| Taken { format: Format::F64, bits: bits.into(), cell: 1 << 63 | slot };
        let half = |bits: u128, cell: u128| Taken { format: Format::F32, bits, cell };
        let last = whole(0xbee4_f8b4_0000_0000, 0xd05);
        assert!(
            [half(0xbee4_f8b4, 1 << 31), half(0, 0xd05), half(0x10_0000, 0xd05)]
                .iter()
                .all(|part| last.has_half(part))
        );
        assert!(![half(0xbee4_f8b3, 1 << 31), half(0, 0xd0b)].iter().any(|part| last.has_half(part)));
    }

    #[test]
    fn copies_of_what_was_found_are_not_lost() {
        let mut floats = floats(&[0.7, 0.6]);
        floats.keep(taken(0.7, 2), SavedShadow(3), by(7), (false, false));
        floats.find(0);
        let losers: Vec<bool> = floats.all.values().map(|float| float.loser().is_some()).collect();
        assert_eq!(losers, [false, true, false]);
    }
}
