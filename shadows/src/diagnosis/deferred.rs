//! Decisions about rounding errors themselves: deferred until it is known whether the program knows what it does.
//!
//! A compensated sum has variables that are nothing but the rounding errors of others: zero in the reals. Whether one is
//! zero, or larger than something else, the reals decide otherwise, and so they may where it is a variable that lacks
//! what was rounded off: a later sum compensates for it. Where none does, such a decision is as wrong as any.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Observed;

use super::Diagnosis;
use super::blame::ErrorTerm;
use super::number::{Attributed, Number};
use super::operations::{Compensated, ErrorTally, Id};

/// Decisions deferred at most, those of the same operations counted once.
const MOST: usize = 256;
/// Smallest term of a rounding error that is looked at, as a fraction of the largest.
const MINOR: f64 = 1e-6;

/// Decisions of one comparison about roundings of the same operations.
#[derive(Debug)]
pub(crate) struct Deferred<N> {
    /// The comparison.
    pub(crate) id: Id,
    /// Operations whose roundings are looked at.
    operations: Vec<Id>,
    /// True if nothing that is compared is zero in the reals: what decides is not rounding errors alone.
    is_mixed: bool,
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
        let Some((operations, is_mixed)) = roundings_seen(x) else { return false };
        let is_same = |deferred: &&mut Deferred<N>| {
            (deferred.id, deferred.is_mixed) == (id, is_mixed) && deferred.operations == operations
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
        self.deferred.push(Deferred { id, operations, is_mixed, operands, error });
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

    /// The deferred decisions that are wrong after all: somebody's rounding was never compensated.
    pub(crate) fn confirmed_deferred(&mut self) -> Vec<Deferred<N>> {
        let mut deferred = std::mem::take(&mut self.deferred);
        deferred.retain(|deferred| {
            let least = if deferred.is_mixed { Compensated::AsError } else { Compensated::Together };
            deferred.operations.iter().any(|&id| self.operations[id].compensated < least)
        });
        deferred
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

/// Operations whose roundings are looked at, in order, and whether these are [mixed](Doubt::is_mixed): if no operand is zero in the
/// reals, all of them are.
fn roundings_seen<N: Attributed>(x: &[Observed<'_, N>]) -> Option<(Vec<Id>, bool)> {
    let shadows = || x.iter().filter_map(|x| x.shadow);
    let is_mixed = !shadows().any(|shadow| shadow.number().is_zero());
    let mut operations = Vec::new();
    for shadow in shadows().filter(|shadow| is_mixed || shadow.number().is_zero()) {
        let least = MINOR * f64::from(shadow.roundings().brought(1.0));
        // Coefficients may have cancelled: they are kept to seven digits only.
        let major = shadow.roundings().all().filter(|term| term.coefficient.abs() >= least);
        operations.extend(major.map(|term| term.operation));
    }
    operations.sort_unstable();
    operations.dedup();
    (!operations.is_empty()).then_some((operations, is_mixed))
}
