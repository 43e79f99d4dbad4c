//! Decisions: comparisons of floats and their conversions to integers, and whether the reals would have decided so too.
//!
//! Knows nothing of what a program does with a decision: it follows the floats in any case.

use std::cmp::Ordering;

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::reals::Reals;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::{Lane, Observed};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};

use super::execution::RealExecution;
use super::number::RealNumber;
use super::real::Real;
use super::{convert, error_bound, measure};
use crate::diagnosis::decisions::outcome;
use crate::diagnosis::history::Source;
use crate::diagnosis::linear::exponent;
use crate::diagnosis::operations::{Id, What};

/// Number of bits by which two reals may be nearer than their nearest doubles, and some to spare.
pub(crate) const MARGIN: f32 = 4.0;

impl RealExecution {
    /// A comparison: does it come out as in the reals?
    pub(crate) fn compared(&mut self, site: Site, predicate: Predicate, x: [Observed<'_, Real>; 2]) {
        let format = (x[0].format, x[1].format);
        let id = self.diagnosis.operations.at(site, What::Compare(predicate), format);
        self.diagnosis.operations[id].count += 1;
        if self.ignores_decisions || x.iter().all(|x| x.shadow.is_none()) {
            return;
        }
        let floats = x.each_ref().map(|x| RealNumber::from_bits(x.format, x.bits));
        let real = |n: usize| x[n].shadow.map_or(&floats[n], Real::value);
        let (a, b) = (real(0), real(1));
        // The same answer may be one by chance.
        let found =
            if are_near([a, b], x.each_ref().map(|x| x.shadow)) { self.told_apart(&x) } else { a.compare(b) };
        if found.is_none() && !a.is_nan() && !b.is_nan() {
            self.diagnosis.undecided(id, &x);
        } else if outcome(predicate, floats[0].compare(&floats[1])) != outcome(predicate, found) {
            self.diagnosis.flipped(id, &x);
        }
    }

    /// The operand that is the smaller or larger of two for sure, in floats as in the reals: the result is that very number.
    pub(super) fn selected(&self, lane: &Lane<'_, Real>) -> Option<usize> {
        let (&[a, b], wants) = (lane.shadows, selects(lane.op)?) else { return None };
        let is_same = Source::of(lane, 0).is_same(&Source::of(lane, 1));
        let selected = if is_same || a.is_none() && b.is_none() {
            0
        } else {
            let floats = [0, 1].map(|n| RealNumber::from_bits(lane.from, lane.x[n]));
            let [x, y] = [0, 1].map(|n| lane.shadows[n].map_or(&floats[n], Real::value));
            let order = x.compare(y).filter(|_| !are_near([x, y], [a, b]))?;
            usize::from(order != wants)
        };
        (lane.r == lane.x[selected]).then_some(selected)
    }

    /// A conversion to an integer: is it the integer that the real would become?
    pub(crate) fn converted(&mut self, site: Site, how: ToInteger, x: Observed<'_, Real>) {
        let id = self.diagnosis.operations.at(site, What::Integer(how), (x.format, x.format));
        self.diagnosis.operations[id].count += 1;
        let Some(shadow) = x.shadow.filter(|_| !self.ignores_decisions) else { return };
        self.round_as(x.format);
        if self.converts_alike(how, &x, shadow) || self.is_rough(Source::of_seen(&x)) {
            return;
        }
        let value = shadow.value().float();
        let integer = |x: &Float| self.integer(how, x);
        let (float, real) = (integer(&convert::from_bits(x.format, x.bits)), integer(&value));
        let flips = float != real && !(float.is_nan() && real.is_nan());
        let border = self.arithmetic.mpfr.border(how.rounding(), value.clone().into_owned());
        // The same integer may be that by chance.
        let bound = shadow.error_bound.log2_bound_in_order().unwrap_or(f32::NEG_INFINITY);
        if within(&Float::with_val(64, &*value - &border), bound) {
            self.converted_beside(border, (id, how), x);
        } else if flips {
            self.diagnosis.flipped(id, &[x]);
        }
    }

    /// The integer, exactly, that a conversion makes of `x`.
    fn integer(&self, how: ToInteger, x: &Float) -> Float {
        let exact = super::mpfr::Mpfr { precision: x.prec(), ..self.arithmetic.mpfr.clone() };
        exact.round(x, how.rounding())
    }

    /// A conversion of a float whose real is as near to where integers change as makes no difference to it.
    fn converted_beside(&mut self, border: Float, (id, how): (Id, ToInteger), x: Observed<'_, Real>) {
        let Observed { format, bits, shadow } = x;
        let place = convert::to_bits(format, &border);
        let side = self
            .told_apart(&[Observed { format, bits, shadow }, Observed { format, bits: place, shadow: None }]);
        let Some(side) = side.filter(|_| measure::is_exactly(&border, format, place)) else {
            return self.diagnosis.undecided(id, &[x]);
        };
        // As good as any number on that side.
        let found = match side {
            Ordering::Less => border - 0.25f64,
            Ordering::Equal => border,
            Ordering::Greater => border + 0.25f64,
        };
        if self.integer(how, &convert::from_bits(format, bits)) != self.integer(how, &found) {
            self.diagnosis.flipped(id, &[x]);
        }
    }

    /// Tells whether the real becomes the same integer for sure, as is seen from the double that is next to it: where
    /// that is between the places at which integers change, so is the real.
    fn converts_alike(&self, how: ToInteger, x: &Observed<'_, Real>, shadow: &Real) -> bool {
        let integer: fn(f64) -> f64 = match (how, self.arithmetic.mpfr.current) {
            (ToInteger::Truncate, _) => f64::trunc,
            (ToInteger::Away, _) => f64::round,
            (ToInteger::Round, Rounding::NearestEven) => f64::round_ties_even,
            _ => return false,
        };
        let (float, next) = (x.format.to_f64(x.bits), f64::from_bits(shadow.rounded(Format::F64) as u64));
        let is_between = (2.0 * next).trunc() != 2.0 * next;
        let is_sure = shadow.log2_bound() < (exponent(next) - 53) as f32 - MARGIN;
        x.format != Format::F80 && is_between && is_sure && integer(float) == integer(next)
    }
}

/// Order in which the first of two operands stands to the second if the operation selects it.
fn selects(op: Op) -> Option<Ordering> {
    match op {
        Op::Max => Some(Ordering::Greater),
        Op::Min => Some(Ordering::Less),
        _ => None,
    }
}

/// Tells whether the error bounds of reals leave open how two numbers are ordered that have these shadows or none.
fn are_near([a, b]: [&RealNumber; 2], shadows: [Option<&Real>; 2]) -> bool {
    let are_beyond = shadows.iter().all(|shadow| shadow.is_some_and(|shadow| shadow.error_bound.is_beyond()));
    if are_beyond && a.is_negative() == b.is_negative() {
        // One of both may be huge and the other tiny.
        return a.get_exp().is_some_and(i32::is_negative) == b.get_exp().is_some_and(i32::is_negative);
    }
    let bound = |shadow: &Real| shadow.error_bound.log2_bound_in_order().unwrap_or(f32::NEG_INFINITY);
    let bound = shadows.into_iter().flatten().map(bound).fold(f32::NEG_INFINITY, f32::max);
    within(&Float::with_val(64, &*a.float() - &*b.float()), bound)
}

/// Tells whether a difference is within an error bound of 2^`bound`.
fn within(difference: &Float, bound: f32) -> bool {
    match difference.get_exp() {
        Some(exponent) => error_bound::covers(bound, exponent),
        None => difference.is_zero() && bound > f32::NEG_INFINITY,
    }
}
