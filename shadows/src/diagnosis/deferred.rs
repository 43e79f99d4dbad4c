//! Decisions about rounding errors themselves: deferred until it is known whether the program knows what it does.
//!
//! A compensated sum has variables that are nothing but the rounding errors of others: zero in the reals. Whether one is
//! zero, or larger than something else, the reals decide otherwise, and so they may where it is a variable that lacks
//! what was rounded off: a later sum compensates for it. Where none does, such a decision is as wrong as any. Where one does, it
//! may still have led the program another way than the reals go: which of two addends is larger makes no difference, but
//! of other totals nobody knows, and that is said.

use shadowgrind_core::findings::Unjudged;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Observed;

use super::Diagnosis;
use super::blame::ErrorTerm;
use super::history::Step;
use super::number::{Attributed, Number};
use super::operations::{Compensated, ErrorTally, Id, What};

/// Decisions deferred at most, those of the same operations counted once.
const MOST: usize = 256;
/// Smallest term of a rounding error that is looked at, as a fraction of the largest.
const MINOR: f64 = 1e-6;
/// Number of operations before a comparison among which a sum of what is compared is looked for.
const NEAR: u32 = 32;

/// Meaning of the floats of a comparison whose roundings are put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// Corrections, which are zero in the reals.
    Corrections,
    /// Addends of one of the last sums: which is larger decides only how that sum's rounding is found.
    Addends,
    /// Totals without their corrections.
    Totals,
}

/// Decisions of one comparison about roundings of the same operations.
#[derive(Debug)]
pub(crate) struct Deferred<N> {
    /// The comparison.
    pub(crate) id: Id,
    /// Operations whose roundings are looked at.
    operations: Vec<Id>,
    /// Subject of the comparison.
    about: About,
    /// The operands of the first comparison.
    operands: Vec<(Format, u128, Option<N>)>,
    /// The error of the comparison, every time.
    pub(crate) error: ErrorTally,
}

impl<N> Deferred<N> {
    /// The operands of the first comparison.
    pub(crate) fn seen(&self) -> Vec<Observed<'_, N>> {
        let operands = self.operands.iter();
        operands
            .map(|&(format, bits, ref shadow)| Observed { format, bits, shadow: shadow.as_ref() })
            .collect()
    }
}

impl<N: Attributed> Diagnosis<N> {
    /// Defers a decision that is wrong by so many bits, as a power of two, if it is known whose roundings it is about.
    pub(crate) fn defers(&mut self, id: Id, x: &[Observed<'_, N>], power: f64) -> bool {
        let Some((operations, is_correction)) = roundings_seen(x) else { return false };
        let about = match is_correction {
            true => About::Corrections,
            false if self.were_added(x) => About::Addends,
            false => About::Totals,
        };
        let is_same = |deferred: &&mut Deferred<N>| {
            (deferred.id, deferred.about) == (id, about) && deferred.operations == operations
        };
        if let Some(deferred) = self.deferred.iter_mut().find(is_same) {
            deferred.error.add(power);
            return true;
        }
        if self.deferred.len() == MOST {
            return false;
        }
        let operands = x.iter().map(|x| (x.format, x.bits, x.shadow.cloned())).collect();
        let mut error = ErrorTally::default();
        error.add(power);
        self.deferred.push(Deferred { id, operations, about, operands, error });
        true
    }

    /// Defers a decision about floats of which nobody knows whose roundings they are, if one of the same operation was deferred
    /// of which that was known.
    pub(crate) fn doubts_again(&mut self, id: Id, x: &[Observed<'_, N>]) -> bool {
        let known = roundings_seen(x).is_some();
        let Some(deferred) = self.deferred.iter_mut().find(|deferred| deferred.id == id).filter(|_| !known)
        else {
            return false;
        };
        deferred.error.add(1.0);
        true
    }

    /// The deferred decisions that are wrong after all: somebody's rounding was never compensated. Of the others, those about
    /// totals are noted: nobody judges them.
    pub(crate) fn confirmed_deferred(&mut self) -> Vec<Deferred<N>> {
        let deferred = std::mem::take(&mut self.deferred);
        let (wrong, others): (Vec<_>, Vec<_>) = deferred.into_iter().partition(|deferred| {
            let is_correction = deferred.about == About::Corrections;
            let least = if is_correction { Compensated::Together } else { Compensated::AsError };
            deferred.operations.iter().any(|&id| self.operations[id].compensated < least)
        });
        for deferred in others.iter().filter(|deferred| deferred.about == About::Totals) {
            let site = self.operations[deferred.id].site;
            let count = deferred.error.count;
            match self.unjudged.iter_mut().find(|unjudged| unjudged.site == site) {
                Some(unjudged) => unjudged.count += count,
                None => self.unjudged.push(Unjudged { count, site }),
            }
        }
        wrong
    }

    /// Tells whether the floats of a comparison, or these with other signs, were added by one of the last operations. A
    /// difference of what is nearly the same does not count: it asks the same thing as the comparison.
    fn were_added(&self, x: &[Observed<'_, N>]) -> bool {
        let [a, b] = x else { return false };
        let [a, b] = [magnitude(a.format, a.bits), magnitude(b.format, b.bits)];
        let adds = |step: Step| {
            let [x, y] = step.operands() else { return false };
            let [x, y] = [magnitude(x.format, x.bits), magnitude(y.format, y.bits)];
            let (format, bits) = step.result();
            matches!(self.operations[step.operation].what, What::Op(Op::Add | Op::Sub))
                && ([x, y] == [a, b] || [y, x] == [a, b])
                && magnitude(format, bits) >= a.max(b)
        };
        let last = self.history.count();
        (last.saturating_sub(NEAR)..=last).filter_map(|serial| self.history.step(serial)).any(adds)
    }

    /// Sees whether a sum of these floats compensates for what was rounded off: it does where both carry roundings of one
    /// operation, of opposite signs, and one is nothing else, or the sum is exact.
    pub(crate) fn note_compensation(&mut self, op: Op, x: [f64; 2], [a, b]: [&N; 2]) {
        let sign = match op {
            Op::Add => 1.0,
            Op::Sub => -1.0,
            _ => return,
        };
        let is_error = a.number().is_zero() || b.number().is_zero();
        let compensated = if is_error { Compensated::AsError } else { Compensated::Together };
        let (scale, other_scale) = (a.scale(x[0]).size, sign * b.scale(x[1]).size);
        for term in a.roundings().iter() {
            let coefficient = term.coefficient * scale;
            let cancels = |other: &ErrorTerm| coefficient * (other.coefficient * other_scale) < 0.0;
            if b.roundings().iter().any(|other| other.operation == term.operation && cancels(&other)) {
                let operation = &mut self.operations[term.operation];
                operation.compensated = operation.compensated.max(compensated);
            }
        }
    }
}

/// Bits of a float without its sign, which are ordered as the magnitudes are. Of the formats of one comparison only.
fn magnitude(format: Format, bits: u128) -> u128 {
    bits & !(1 << (format.width() - 1))
}

/// Operations whose roundings are looked at, in order, and whether something that is zero in the reals is. If nothing is, all
/// operands are looked at, otherwise those that are zero.
fn roundings_seen<N: Attributed>(x: &[Observed<'_, N>]) -> Option<(Vec<Id>, bool)> {
    let shadows = || x.iter().filter_map(|x| x.shadow);
    let is_correction = shadows().any(|shadow| shadow.number().is_zero());
    let mut operations = Vec::new();
    for shadow in shadows().filter(|shadow| !is_correction || shadow.number().is_zero()) {
        let least = MINOR * f64::from(shadow.roundings().brought(1.0));
        // Coefficients may have cancelled: they are kept to seven digits only.
        let major = shadow.roundings().all().filter(|term| term.coefficient.abs() >= least);
        operations.extend(major.map(|term| term.operation));
    }
    operations.sort_unstable();
    operations.dedup();
    (!operations.is_empty()).then_some((operations, is_correction))
}
