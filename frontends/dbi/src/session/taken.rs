//! Floats that integer code takes, and numbers that the program writes: which of these become outputs found [by value](super::by_value).
//!
//! Knows how shadows are kept and compared, through the observer; which text is that of which float, `by_value` says.

use super::by_value::{Candidate, Taken, Taker, Taking};
use super::observer::{Observer, SavedShadow};
use super::state::{Session, State};
use super::texts::{Token, readable};
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::{Label, Output, OutputKind};
use shadowgrind_core::shadow::Leaves;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{Decimal, Recognised};
use std::sync::atomic::Ordering;

/// Candidate whose text was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Place in the order of candidates.
    order: u64,
    how: Recognised,
    /// The text has a minus sign that the candidate has not.
    is_negated: bool,
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

    /// Notes that an instruction of this name has taken these floats.
    pub(crate) fn took(
        &self,
        taking: Taking,
        floats: &[Taken],
        name: impl FnOnce() -> String,
        observer: &mut dyn Observer,
    ) {
        let mut state = self.state.lock();
        state.gaps.entry(taking.by).or_insert_with(|| (name(), 0));
        floats.iter().for_each(|&taken| state.take(taken, taking, observer));
        if !state.taken.all.is_empty() {
            self.takes.store(true, Ordering::Relaxed);
        }
    }

    /// Tells whether what the instruction `by` has taken is a part of a float that was taken before; it is noted as such then.
    pub(crate) fn took_part(&self, by: Taker, part: &Taken) -> bool {
        let mut state = self.state.lock();
        let whole = state.taken.whole_of(part, false);
        whole.map(|whole| whole.note(Taking { by, is_reversible: false, may_be_whole: false })).is_some()
    }

    /// Instructions whose gaps translated code counts have taken floats: with each, the number under which it is counted.
    pub(crate) fn took_counted(&self, floats: &[(u16, Taken)], observer: &mut dyn Observer) {
        let mut state = self.state.lock();
        for &(number, taken) in floats {
            if let Some(by) = state.counted_gap(number) {
                state.take(taken, Taking { by, is_reversible: false, may_be_whole: false }, observer);
            }
        }
    }
}

impl State {
    fn take(&mut self, taken: Taken, taking: Taking, observer: &mut dyn Observer) {
        if !self.printed || !taken.value().is_finite() {
            return;
        }
        let whole = self.taken.whole_of(&taken, true);
        let is_doubtful = whole.is_some();
        if let Some(whole) = whole {
            whole.note(Taking { is_reversible: false, ..taking });
            if !taking.may_be_whole {
                return;
            }
        }
        let taken = taken.narrowed();
        let kept = observer.keep_cell(taken.format, taken.bits, taken.cell);
        if kept != SavedShadow::NONE {
            let is_known = self.known.late(taken.value()).any(|known| observer.keeps_alike(known, kept));
            let released = self.taken.keep(taken, kept, taking, (is_known, is_doubtful));
            observer.release(released.as_slice());
        }
        if let Some(oldest) = self.taken.drop_one_too_many() {
            self.forget_taken(&oldest, observer);
        }
    }

    /// Nobody looks for `candidate` any more. If its error is larger than what counts as clean, and no text has shown it, not even one that
    /// a known function has made of it, it has gone into integers of which nothing is known: a gap, at the instruction that has taken it.
    fn forget_taken(&mut self, candidate: &Candidate, observer: &mut dyn Observer) {
        let &Candidate { taken: Taken { format, bits, .. }, kept, .. } = candidate;
        if let Some(by) = candidate.loser()
            && !self.known.of(candidate.taken.value()).any(|known| observer.keeps_alike(known, kept))
            && observer.kept_error((format, bits), kept).is_some_and(|bits| self.taken.concerns(bits))
            && let Some((_, count)) = self.gaps.get_mut(&by)
        {
            *count += 1;
        }
        observer.release(&[kept]);
    }

    /// The program has ended: no text is to come.
    pub(super) fn forget_all_taken(&mut self, observer: &mut dyn Observer) {
        while let Some(oldest) = self.taken.drop_oldest() {
            self.forget_taken(&oldest, observer);
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
                let Some(found) = self.find_number(text, value, observer) else { continue };
                let site = *site.get_or_insert_with(|| self.caller(pc, m));
                self.output_taken(found, site, observer, m);
            }
        }
    }

    /// The program has ended: what stands last in its texts is complete.
    pub(super) fn find_last_taken(&mut self, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let descriptors: Vec<i32> = self.taken.unfinished.keys().copied().collect();
        for descriptor in descriptors {
            let (text, tokens) = self.taken.complete(descriptor, &[], true);
            for (text, value) in numbers(&text, &tokens) {
                if let Some(found) = self.find_number(text, value, observer) {
                    self.output_taken(found, Site::NONE, observer, m);
                }
            }
        }
    }

    /// The candidate that the program has written as `text`, if there is one and no doubt.
    fn find_number(&mut self, text: &str, value: f64, observer: &mut dyn Observer) -> Option<Found> {
        let decimal = Decimal::of(text)?;
        if decimal.is_integer() {
            self.known.write(value, 0.0);
            return None;
        }
        let (unit, digits) = (decimal.unit(), decimal.significant_digits());
        if self.known.write(value, unit) {
            return None;
        }
        let telling = |text: &str, value: f64| {
            let mut fitting = self.taken.fitting(text, value, unit);
            let all = fitting.len();
            fitting.retain(|&(order, how)| self.taken.is_telling(order, how, digits, all));
            fitting
        };
        let mut fitting = telling(text, value);
        let bare = text.strip_prefix('-').filter(|_| fitting.is_empty());
        if let Some(bare) = bare {
            fitting = telling(bare, -value);
        }
        let candidate = |order: u64| &self.taken.all[&order];
        let awaited = fitting.iter().find(|(order, _)| candidate(*order).awaited > 0);
        let &(order, how) = awaited.or(fitting.first())?;
        let (kept, is_awaited) = (candidate(order).kept, awaited.is_some());
        // What a known function has made may be written more than once.
        if !is_awaited && self.known.has(value, unit) {
            return None;
        }
        // What was written before is not expected once more where something else is.
        let others = fitting.iter().map(|(order, _)| candidate(*order));
        let mut others = others.filter(|other| !is_awaited || other.awaited > 0);
        if others.any(|other| other.kept != kept && !observer.keeps_alike(kept, other.kept)) {
            let (count, _) = self.taken.ambiguous.get_or_insert_with(|| (0, text.to_owned()));
            *count += 1;
            return None;
        }
        Some(Found { order, how, is_negated: bare.is_some() })
    }

    /// The candidate that was `found` is an output; `written` is the place that writes it, where none is known that has taken it.
    fn output_taken(
        &mut self,
        found: Found,
        written: Site,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let candidate = &self.taken.all[&found.order];
        let (Taken { format, bits, .. }, kept) = (candidate.taken, candidate.kept);
        let sites = candidate.takers.iter().map(|((site, _), _)| *site);
        let site = self.taker(sites.filter(|site| *site != Site::NONE), written);
        let notation = Some(found.how.notation);
        let leaves = Leaves { site, output: self.report.outputs.len(), notation, written: false };
        let (value, said) = observer.output_kept(m, &leaves, (format, bits), (kept, found.is_negated));
        let (kind, label) = (OutputKind::Value, Label::NONE);
        let output = Output { kind, label, value, site, position: 0, said: said.as_deref(), notation };
        self.report.outputs.push(&output);
        self.taken.find(found.order);
    }
}

impl State {
    /// The first of the places that have taken a float which is not in a library that belongs to a language: those ask of what kind
    /// a float is before its digits are cut out. Where there is none, the place that writes.
    fn taker(&self, mut takers: impl Iterator<Item = Site> + Clone, written: Site) -> Site {
        let first = takers.clone().next();
        let own = takers.find(|&site| !self.is_library(site));
        own.or(Some(written).filter(|&site| site != Site::NONE)).or(first).unwrap_or(Site::NONE)
    }
}

/// The numbers of a text, without a plus sign, and their values.
fn numbers<'a>(text: &'a [u8], tokens: &'a [Token]) -> impl Iterator<Item = (&'a str, f64)> {
    tokens.iter().map(|token| {
        let written = std::str::from_utf8(&text[token.start..token.end]).unwrap_or_default();
        (written.strip_prefix('+').unwrap_or(written), token.value)
    })
}
