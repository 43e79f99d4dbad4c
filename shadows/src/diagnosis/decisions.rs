//! Decisions that the reals make otherwise: comparisons of floats and their conversions to integers, and who made the program
//! decide as it did.
//!
//! Knows nothing of how a real is found, nor of what a program does with a decision.

use std::cmp::Ordering;

use shadowgrind_core::shadow::Observed;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Predicate;

use super::history::Source;
use super::number::Attributed;
use super::operations::{Id, What};
use super::special::is_special;
use super::{Diagnosis, fitted};

impl<N: Attributed> Diagnosis<N> {
    /// Counts a decision about something so close to where it changes that the reals cannot tell.
    pub(crate) fn undecided(&mut self, id: Id, x: &[Observed<'_, N>]) {
        self.operations[id].unsettled += 1;
        self.note_decision(id, x, 1.0);
    }

    /// Counts a decision that the reals make otherwise, unless it is deferred.
    pub(crate) fn flipped(&mut self, id: Id, x: &[Observed<'_, N>]) {
        let worst = x.iter().filter_map(bits_off).fold(0.0, f64::max).exp2();
        self.note_decision(id, x, worst);
        if self.defers(id, x, worst) {
            return;
        }
        let operation = &mut self.operations[id];
        self.noted = Some(operation.site);
        if operation.flips == 0 {
            self.noted_first.push(operation.site);
        }
        operation.flips += 1;
        operation.erroneous.add(worst);
        self.answered_for(id, x);
    }

    /// A decision about `x` that is another than that of the reals, or that cannot be told (`flips`: it is).
    pub(crate) fn decided(&mut self, site: Site, what: What, x: &[Observed<'_, N>], flips: bool) {
        let format = |n: usize| x.get(n).unwrap_or(&x[0]).format;
        let id = self.operations.at(site, what, (format(0), format(1)));
        if self.doubts_again(id, x) {
            return;
        }
        match flips {
            true => self.flipped(id, x),
            false => self.undecided(id, x),
        }
    }

    /// Looks at what a decision is about, wrong by so many bits, as a power of two.
    fn note_decision(&mut self, id: Id, x: &[Observed<'_, N>], worst: f64) {
        let sources: Vec<Source> = x.iter().map(Source::of_seen).collect();
        let known = self.operations[id].expression.take();
        let trace = self.trace(id, self.settings.expr_depth, false);
        self.operations[id].expression = fitted(known, trace, &sources, worst);
    }

    /// Decisions that were deferred count now, if they have to.
    pub(crate) fn settle(&mut self) {
        for deferred in self.confirmed_deferred() {
            let operation = &mut self.operations[deferred.id];
            operation.flips += deferred.error.count;
            operation.erroneous.join(&deferred.error);
            self.answered_for(deferred.id, &deferred.seen());
        }
    }

    /// Asks who made the operands of an operation wrong.
    pub(crate) fn answered_for(&mut self, id: Id, x: &[Observed<'_, N>]) {
        let mut causes = Vec::new();
        for seen in x {
            let (Some(shadow), Some(off)) = (seen.shadow, bits_off(seen)) else { continue };
            let bits = if is_special(seen.format, seen.bits) { seen.format.width().into() } else { off };
            causes.extend(self.blame(shadow, seen, bits, None));
        }
        causes.retain(|&cause| cause != id);
        let causes: Vec<Site> = causes.into_iter().map(|cause| self.operations[cause].site).collect();
        let operation = &mut self.operations[id];
        causes.into_iter().for_each(|site| operation.caused_by(site));
    }
}

/// Error bits of what was looked at, where they may be any.
fn bits_off<N: Attributed>(seen: &Observed<'_, N>) -> Option<f64> {
    seen.shadow.map(|shadow| shadow.bits_off(seen.format, seen.bits))
}

/// Outcome of a comparison of two numbers in this order: the one bit of [`Predicate`] that holds between them, where all
/// are told apart, else whether it is one of those asked for.
pub(crate) fn outcome(predicate: Predicate, order: Option<Ordering>) -> u8 {
    let relation = match order {
        Some(Ordering::Less) => Predicate::LESS,
        Some(Ordering::Equal) => Predicate::EQUAL,
        Some(Ordering::Greater) => Predicate::GREATER,
        None => Predicate::UNORDERED,
    };
    if predicate == Predicate::ORDER { relation } else { u8::from(predicate.0 & relation != 0) }
}
