//! Outputs found by their value, where nobody knows the function that makes text of them: compiled while the program runs, without a
//! name, or the program's own.
//!
//! Every such function takes the bits of the float as integers. Where integer code cuts the digits out of a float with a shadow, or uses
//! them otherwise, which is a gap, float and shadow are kept here, the last [`MOST`] of them. Of what the program writes afterwards, numbers that no known
//! function has made are held against these:
//!
//! - the text must be the float's, in the fewest digits that read back as it, or rounded to as many as there are;
//! - it has a point or an exponent, and so many digits that of a thousand numbers which are none of the candidates less than one
//!   would be taken for one: four where it is among the next [`NEAR`] that wait to be written, in order, otherwise one more for each
//!   power of ten of all that are kept; a text in the fewest digits may be shorter if the float is among those and the only one;
//! - all candidates that it may be have one shadow. Where they have not, a warning says so, and it is no output.
//!
//! It is an output at the place where the bits were taken then, and the gaps that it was counted under are none. Knows neither how a
//! float is taken nor how shadows are compared; where an output stands in its text, `standing` finds as it does for others.

use super::observer::{Observer, SavedShadow};
use super::state::{Session, State};
use super::texts::{Scan, Token, readable};
use crate::hooks::machine::Machine;
use hashbrown::HashMap;
use shadowgrind_core::findings::{Label, Output, OutputKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Leaves;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{Float, Recognised, recognise, significant_digits};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering;

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
}

/// A float with a shadow whose digits integer code has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Taken {
    pub(crate) format: Format,
    pub(crate) bits: u128,
    /// Content of the cell beside it.
    pub(crate) cell: u128,
}

impl Taken {
    fn value(&self) -> f64 {
        self.format.to_f64(self.bits)
    }

    /// The digits behind the first.
    fn digits(&self) -> (Format, u128) {
        (self.format, self.bits & ((1 << (self.format.precision() - 1)) - 1))
    }

    /// Tells whether `part` is one half of a double, or of its cell.
    fn has_half(&self, part: &Taken) -> bool {
        const HALF: u128 = u32::MAX as u128;
        let is_half = |whole: u128, half: u128| [whole & HALF, whole >> 32].contains(&half);
        self.format == Format::F64 && (is_half(self.bits, part.bits) || is_half(self.cell, part.cell))
    }

    /// Sign and exponent: none of digits on their own, and one if the first is among them.
    fn exponent(&self) -> u128 {
        self.bits >> (self.format.precision() - 1)
    }
}

/// A float that may be written.
#[derive(Debug)]
struct Candidate {
    taken: Taken,
    kept: SavedShadow,
    /// Places that have taken it, the first first, and how often since it was last found in a text.
    takers: Vec<(Taker, u64)>,
    /// Number of times that the first of these has taken it for a text that was not found yet.
    awaited: u64,
}

impl Candidate {
    fn note(&mut self, Taking { by, is_reversible }: Taking) {
        let counts = u64::from(!is_reversible);
        match self.takers.iter_mut().find(|(taker, _)| *taker == by) {
            Some((_, count)) => *count += counts,
            None => self.takers.push((by, counts)),
        }
    }
}

/// Floats that were taken, and what the program has written of late.
#[derive(Debug, Default)]
pub(super) struct TakenFloats {
    /// In the order in which they were taken last.
    all: BTreeMap<u64, Candidate>,
    order_of: HashMap<Taken, u64>,
    /// The last one with these digits.
    order_of_digits: HashMap<(Format, u128), u64>,
    by_value: BTreeSet<(u64, u64)>,
    next: u64,
    /// Place in the order behind the last one that was found.
    behind: u64,
    /// What was written to each descriptor behind the last byte that no number has.
    unfinished: HashMap<i32, Vec<u8>>,
    /// Floats that known functions have made text of last.
    known: VecDeque<f64>,
    /// Number of times that a float counted as lost was found in a text.
    pub(super) found: HashMap<Taker, u64>,
    /// Texts that may be one of several floats with different shadows: how many, and the first.
    pub(super) ambiguous: Option<(u64, String)>,
}

/// Key by which values are in order.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

impl TakenFloats {
    /// Notes that a known function makes text of this float.
    pub(super) fn note_known(&mut self, value: f64) {
        if self.known.len() == MOST {
            self.known.pop_front();
        }
        self.known.push_back(value);
    }

    /// Keeps `taken`, whose shadow is `kept`, as the latest. What is to be released for it.
    fn keep(&mut self, taken: Taken, kept: SavedShadow, taking: Taking) -> Option<SavedShadow> {
        let (order, value) = (self.next, key(taken.value()));
        self.next += 1;
        let (mut candidate, released) = match self.order_of.insert(taken, order) {
            Some(before) => {
                self.by_value.remove(&(value, before));
                let known = self.all.remove(&before).expect("what is in order is there");
                (known, Some(kept))
            }
            None => (Candidate { taken, kept, takers: Vec::new(), awaited: 0 }, None),
        };
        candidate.note(taking);
        candidate.awaited += u64::from(candidate.takers[0].0 == taking.by);
        self.all.insert(order, candidate);
        self.by_value.insert((value, order));
        self.order_of_digits.insert(taken.digits(), order);
        released.or_else(|| (self.all.len() > MOST).then(|| self.drop_oldest()).flatten())
    }

    /// The candidate of which `taken` is a part that goes on as an integer: with its digits, or, if they are others by now, the last
    /// one, if what is taken has no exponent, or is a half or has half of the cell. `as_new`: unless it may be one of its own.
    fn whole_of(&mut self, taken: &Taken, as_new: bool) -> Option<&mut Candidate> {
        if self.order_of.contains_key(taken) {
            return None;
        }
        let same = self.order_of_digits.get(&taken.digits()).filter(|_| taken.exponent() <= 1).copied();
        if let Some(order) = same {
            return self.all.get_mut(&order);
        }
        let last = self.all.last_entry()?;
        let is_half = last.get().taken.has_half(taken);
        (is_half || as_new && taken.exponent() == 0).then(|| last.into_mut())
    }

    fn drop_oldest(&mut self) -> Option<SavedShadow> {
        let (order, oldest) = self.all.pop_first()?;
        self.order_of.remove(&oldest.taken);
        if self.order_of_digits.get(&oldest.taken.digits()) == Some(&order) {
            self.order_of_digits.remove(&oldest.taken.digits());
        }
        self.by_value.remove(&(key(oldest.taken.value()), order));
        Some(oldest.kept)
    }

    /// Tells whether a known function has made a text of late that is the same number, to within `unit`.
    fn is_known(&self, value: f64, unit: f64) -> bool {
        self.known.iter().any(|known| (known - value).abs() <= unit)
    }

    /// Candidates whose text this is, by their order.
    fn fitting(&self, text: &str, value: f64, unit: f64) -> Vec<(u64, Recognised)> {
        let within = (key(value - unit), 0)..=(key(value + unit), u64::MAX);
        let fits = |&(_, order): &(u64, u64)| {
            let Taken { format, bits, .. } = self.all[&order].taken;
            Some((order, recognise(&Float { format, bits }, text)?))
        };
        self.by_value.range(within).take(HELD).filter_map(fits).collect()
    }

    /// Tells whether a text with so many digits is enough to tell the candidate, one of `fitting` many.
    fn is_telling(&self, order: u64, how: Recognised, digits: usize, fitting: usize) -> bool {
        let awaited = self.all.range(self.behind..).filter(|(_, candidate)| candidate.awaited > 0).take(NEAR);
        let is_near = awaited.map(|(order, _)| *order).any(|other| other == order);
        let more = (self.all.len() / NEAR).checked_ilog10().map_or(0, |power| power as usize + 1);
        digits >= FEWEST_DIGITS + more
            || is_near && (digits >= FEWEST_DIGITS || how.is_shortest && fitting == 1)
    }

    /// The candidate was found in a text: the places that have taken it have not lost it.
    fn find(&mut self, order: u64) {
        let candidate = self.all.get_mut(&order).expect("a candidate that fits");
        candidate.awaited = candidate.awaited.saturating_sub(1);
        for (taker, count) in &mut candidate.takers {
            *self.found.entry(*taker).or_default() += std::mem::take(count);
        }
        self.behind = self.behind.max(order + 1);
    }

    /// The numbers that are complete now that `bytes` were written to `descriptor`; at the `end`, all.
    fn complete(&mut self, descriptor: i32, bytes: &[u8], end: bool) -> (Vec<u8>, Vec<Token>) {
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

/// One in the last place of the number `text`.
fn unit(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    10f64.powi(exponent.parse().unwrap_or(0) - decimals as i32)
}

impl Session {
    /// Tells whether floats that integer code takes are to be told to [`Session::took`].
    pub(crate) fn wants_taken(&self) -> bool {
        self.config.shadow.is_carried()
    }

    /// Tells whether what the program writes is to be looked at for floats that integer code has taken.
    pub(crate) fn has_taken(&self) -> bool {
        self.takes.load(Ordering::Relaxed)
    }

    /// An instruction has taken these floats so.
    pub(crate) fn took(&self, taking: Taking, floats: &[Taken], observer: &mut dyn Observer) {
        let mut state = self.state.lock();
        floats.iter().for_each(|&taken| state.take(taken, taking, observer));
        if state.taken.next > 0 {
            self.takes.store(true, Ordering::Relaxed);
        }
    }

    /// Tells whether what the instruction `by` has taken is a part of a float that was taken before; it is noted as such then.
    pub(crate) fn took_part(&self, by: Taker, part: &Taken) -> bool {
        let mut state = self.state.lock();
        let whole = state.taken.whole_of(part, false);
        whole.map(|whole| whole.note(Taking { by, is_reversible: false })).is_some()
    }

    /// Instructions whose gaps translated code counts have taken floats: with each, the number under which it is counted.
    pub(crate) fn took_counted(&self, floats: &[(u16, Taken)], observer: &mut dyn Observer) {
        let mut state = self.state.lock();
        for &(number, taken) in floats {
            if let Some(by) = state.counted_gap(number) {
                state.take(taken, Taking { by, is_reversible: false }, observer);
            }
        }
    }
}

impl State {
    fn take(&mut self, taken: Taken, taking: Taking, observer: &mut dyn Observer) {
        if !self.printed || !taken.value().is_finite() {
            return;
        }
        if let Some(whole) = self.taken.whole_of(&taken, true) {
            return whole.note(Taking { is_reversible: false, ..taking });
        }
        let kept = observer.keep_cell(taken.format, taken.bits, taken.cell);
        if kept != SavedShadow::NONE {
            let released = self.taken.keep(taken, kept, taking);
            observer.release(released.as_slice());
        }
    }
}

impl State {
    /// The system call at `pc` has written these pieces, address and length, to `descriptor`: finds floats in them that were taken.
    pub(super) fn find_taken(
        &mut self,
        pc: u64,
        descriptor: i32,
        pieces: &[(u64, u64)],
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        for &(address, length) in pieces {
            let bytes = readable(m, address, address + length);
            let (text, tokens) = self.taken.complete(descriptor, &bytes, false);
            let mut site = None;
            for (text, value) in numbers(&text, &tokens) {
                let Some((order, how)) = self.find_number(text, value, observer) else { continue };
                let site = *site.get_or_insert_with(|| self.caller(pc, m));
                self.output_taken(order, how, site, observer, m);
            }
        }
    }

    /// The program has ended: what stands last in its texts is complete.
    pub(super) fn find_last_taken(&mut self, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let descriptors: Vec<i32> = self.taken.unfinished.keys().copied().collect();
        for descriptor in descriptors {
            let (text, tokens) = self.taken.complete(descriptor, &[], true);
            for (text, value) in numbers(&text, &tokens) {
                if let Some((order, how)) = self.find_number(text, value, observer) {
                    self.output_taken(order, how, Site::NONE, observer, m);
                }
            }
        }
    }

    /// The candidate that the program has written as `text`, if there is one and no doubt.
    fn find_number(
        &mut self,
        text: &str,
        value: f64,
        observer: &mut dyn Observer,
    ) -> Option<(u64, Recognised)> {
        let unit = unit(text);
        let mut fitting = self.taken.fitting(text, value, unit);
        let (digits, all) = (significant_digits(text), fitting.len());
        fitting.retain(|&(order, how)| self.taken.is_telling(order, how, digits, all));
        if fitting.is_empty() || self.taken.is_known(value, unit) {
            return None;
        }
        let candidate = |order: u64| &self.taken.all[&order];
        let awaited = fitting.iter().find(|(order, _)| candidate(*order).awaited > 0);
        let &(order, how) = awaited.unwrap_or(&fitting[0]);
        let (kept, is_awaited) = (candidate(order).kept, awaited.is_some());
        // What was written before is not expected once more where something else is.
        let others = fitting.iter().map(|(order, _)| candidate(*order));
        let mut others = others.filter(|other| !is_awaited || other.awaited > 0);
        if others.any(|other| other.kept != kept && !observer.keeps_alike(kept, other.kept)) {
            let (count, _) = self.taken.ambiguous.get_or_insert_with(|| (0, text.to_owned()));
            *count += 1;
            return None;
        }
        Some((order, how))
    }

    /// The candidate at this place in the order is an output; `written` is the place that writes it, where the one that has taken it
    /// is in no file.
    fn output_taken(
        &mut self,
        order: u64,
        how: Recognised,
        written: Site,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let candidate = &self.taken.all[&order];
        let (Taken { format, bits, .. }, kept) = (candidate.taken, candidate.kept);
        let mut sites = candidate.takers.iter().map(|((site, _), _)| *site);
        let (site, notation) =
            (sites.find(|site| *site != Site::NONE).unwrap_or(written), Some(how.notation));
        let leaves = Leaves { site, output: self.report.outputs.len(), notation, written: false };
        let (value, said) = observer.output_kept(m, &leaves, (format, bits), kept);
        let (kind, label) = (OutputKind::Value, Label::NONE);
        let output = Output { kind, label, value, site, position: 0, said: said.as_deref(), notation };
        self.report.outputs.push(&output);
        self.taken.find(order);
    }
}

/// The numbers of a text that are no integers, without a plus sign, and their values.
fn numbers<'a>(text: &'a [u8], tokens: &'a [Token]) -> impl Iterator<Item = (&'a str, f64)> {
    tokens.iter().filter(|token| !token.is_integer).map(|token| {
        let written = std::str::from_utf8(&text[token.start..token.end]).unwrap_or_default();
        (written.strip_prefix('+').unwrap_or(written), token.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: f64, cell: u128) -> Taken {
        Taken { format: Format::F64, bits: value.to_bits().into(), cell }
    }

    fn by(number: usize) -> Taking {
        Taking { by: (Site::NONE, number), is_reversible: false }
    }

    fn floats(values: &[f64]) -> TakenFloats {
        let mut floats = TakenFloats::default();
        for (n, &value) in values.iter().enumerate() {
            assert_eq!(floats.keep(taken(value, 1), SavedShadow(n as u64 + 1), by(7)), None);
        }
        floats
    }

    fn telling(floats: &TakenFloats, text: &str) -> usize {
        let fitting = floats.fitting(text, text.parse().unwrap(), unit(text));
        let is_telling = |&&(order, how): &&(u64, Recognised)| {
            floats.is_telling(order, how, significant_digits(text), fitting.len())
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
            floats.keep(taken(n as f64, 1), SavedShadow(n as u64 + 1), by(7));
        }
        let again = floats.keep(taken(0.0, 1), SavedShadow(9999), by(8));
        assert_eq!(again, Some(SavedShadow(9999)));
        assert_eq!(floats.keep(taken(-1.0, 1), SavedShadow(10_000), by(7)), Some(SavedShadow(2)));
        let (&order, candidate) =
            floats.all.iter().find(|(_, candidate)| candidate.taken.value() == 0.0).unwrap();
        assert_eq!((candidate.awaited, candidate.takers.len()), (1, 2));
        floats.find(order);
        assert_eq!(floats.found, HashMap::from([((Site::NONE, 7), 1), ((Site::NONE, 8), 1)]));
        assert_eq!(floats.all[&order].awaited, 0);
    }
}
