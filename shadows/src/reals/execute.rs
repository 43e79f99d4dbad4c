//! One operation of the program, from its floats to the shadow of its result: any operation, on any floats.

use rug::Float;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::Lane;

use super::error_bound::{self, ErrorBound, Reckoned};
use super::execution::RealExecution;
use super::mpfr::Mpfr;
use super::number::RealNumber;
use super::real::Real;
use super::{convert, settle};
use crate::diagnosis::following::{is_looked_at, largest};
use crate::diagnosis::linear::{Linear, exponent};
use crate::diagnosis::local_error::{self, Outcome};
use crate::diagnosis::number::{Attributed, is_sum};
use crate::diagnosis::operations::{Id, What};
use crate::distance::floats_between;
use crate::exact;

/// Distance, in floats, that one rounding explains.
pub(crate) const ONE_ROUNDING: f64 = 1.0;

/// A result in the reals and how far the float is from it.
struct Result {
    value: RealNumber,
    /// The value as a float.
    rounded: u128,
    /// The distance of the float from that, in floats.
    floats: f64,
    error_bound: ErrorBound,
}

impl RealExecution {
    /// The shadow of any operation's result.
    pub(crate) fn execute(&mut self, lane: &Lane<'_, Real>) -> Option<Real> {
        self.round_as(lane.from);
        let id = self.diagnosis.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let mut linear = Linear::new(lane);
        let operation = &mut self.diagnosis.operations[id];
        operation.count += 1;
        operation.sums = self.sums;
        for (range, &x) in operation.operands.iter_mut().zip(&linear.x[..lane.x.len()]) {
            range.add(x);
        }
        if let Some(kept) = exact::left_alone(lane).or_else(|| self.selected(lane)) {
            return lane.shadows[kept].cloned();
        }
        if self.unrounds(lane) || self.rounds_rough(lane) {
            self.diagnosis.history.push_exact(id, lane);
            return None;
        }
        if lane.op == Op::Nextafter && lane.shadows.iter().all(Option::is_none) {
            // A number chosen for what it is in its format: no other is meant.
            return None;
        }
        if let Some(special) = self.special(id, lane, &linear) {
            return special;
        }
        let exact = linear.is_exact(lane);
        if lane.shadows.iter().all(Option::is_none) {
            if exact == Some(true) {
                self.diagnosis.history.push_exact(id, lane);
                return None;
            }
        } else {
            linear.differentiate(lane.op, lane.x.len());
        }
        let result = self.result(id, lane, &linear)?;
        Some(self.inexact(id, &linear, lane, result))
    }

    /// The result in the reals; nothing if the float is just that.
    fn result(&mut self, id: Id, lane: &Lane<'_, Real>, linear: &Linear) -> Option<Result> {
        self.arithmetic.mpfr.rounded.set(false);
        let mut value = self.real_of(lane);
        let is_rounded = is_short(lane.op) || self.arithmetic.mpfr.rounded.get();
        let mut known = None;
        if let Some((number, error_bound)) = self.beyond(lane, &value) {
            (value, known) = (number, Some(error_bound));
        }
        let mut rounded = value.round(lane.to);
        let mut floats = floats_between(lane.to, lane.r, rounded);
        let precision = self.settings.precision;
        let mut error_bound = match known {
            Some(error_bound) => error_bound,
            None => ErrorBound::of_result(
                (lane, self.sums),
                &self.arithmetic.mpfr,
                Reckoned { value: &value, is_rounded, floats },
            ),
        };
        if settle::is_short(error_bound, value.get_exp(), lane.to)
            && let Some((settled, bound)) = self.settled(lane, &value, error_bound)
        {
            value = settled;
            rounded = value.round(lane.to);
            floats = floats_between(lane.to, lane.r, rounded);
            error_bound = ErrorBound::settled(bound, floats == 0.0 && value.clings(lane.to, lane.r));
        }
        let is_within_bound = |exponent| error_bound::is_within_bound(lane, exponent, error_bound, precision);
        let is_exact = floats == 0.0 && value.is_exactly(lane.to, lane.r);
        if let &[Some(a), Some(b)] = lane.shadows
            && (a.value().is_zero() || b.value().is_zero() || linear.r != 0.0 && is_exact)
        {
            self.diagnosis.note_compensation(lane.op, [linear.x[0], linear.x[1]], [a, b]);
        }
        let is_zero = is_sum(lane.op) && value.get_exp().map_or(value.is_zero(), is_within_bound);
        if is_zero && error_bound.log2_bound().is_some() && is_exhausted(lane, linear) {
            self.diagnosis.operations[id].exhausted += 1;
        }
        if is_exact {
            // What was rounded off may be too small for the reals.
            let is_inexact = error_bound.log2_bound().is_some_and(|bound| bound > f32::NEG_INFINITY);
            let is_all = !is_inexact || self.is_all(lane);
            return (!is_all).then_some(Result { value, rounded, floats, error_bound });
        }
        if !is_zero {
            return Some(Result { value, rounded, floats, error_bound });
        }
        // What is left of the terms is within the error bound of the reals: as far as they can tell, zero.
        let floats = floats_between(lane.to, lane.r, 0);
        Some(Result { value: self.arithmetic.zero(), rounded: 0, floats, error_bound })
    }

    /// Tells whether the real of a result is all there is to it: nothing was ever rounded off.
    fn is_all(&mut self, lane: &Lane<'_, Real>) -> bool {
        if lane.shadows.iter().flatten().any(|shadow| shadow.log2_bound() > f32::NEG_INFINITY) {
            return false;
        }
        self.arithmetic.mpfr.rounded.set(false);
        self.long_result(lane, exact::rounds_to_integer(lane, self.sums));
        !self.arithmetic.mpfr.rounded.get()
    }

    /// The real result of an operation.
    pub(crate) fn real_of(&mut self, lane: &Lane<'_, Real>) -> RealNumber {
        let rounds = exact::rounds_to_integer(lane, self.sums);
        if rounds.is_none()
            && let Some(value) = self.arithmetic.short_result(lane)
        {
            return RealNumber::Short(value);
        }
        self.long_result(lane, rounds)
    }

    /// By MPFR; operand `rounds` is rounded to an integer.
    pub(super) fn long_result(&mut self, lane: &Lane<'_, Real>, rounds: Option<usize>) -> RealNumber {
        for (index, shadow) in lane.shadows.iter().enumerate() {
            if shadow.is_none() {
                self.arithmetic.assign(&mut self.scratch[index], lane.from, lane.x[index]);
            }
        }
        let operand = |index: usize| match lane.shadows.get(index) {
            Some(Some(shadow)) => shadow.value(),
            _ => &self.scratch[index],
        };
        let operands: [&RealNumber; MAX_OPERANDS] = std::array::from_fn(operand);
        if let Some(index) = rounds {
            let integer = self.arithmetic.rounded_to_integer(operands[index]);
            let operands = if index == 0 { [&integer, operands[1]] } else { [operands[0], &integer] };
            return self.arithmetic.long_result(lane.op, &operands);
        }
        self.arithmetic.long_result(lane.op, &operands[..lane.x.len()])
    }

    /// Follows the error of a result that is not exact, and keeps count of it.
    fn inexact(&mut self, id: Id, linear: &Linear, lane: &Lane<'_, Real>, result: Result) -> Real {
        let Result { value, rounded, floats, error_bound } = result;
        let outcome = Outcome { lane, linear, value: &value, rounded, floats };
        let in_floats = |x: &[u128]| in_floats(&self.arithmetic.mpfr, lane, x);
        let local_error = outcome.local_error(in_floats, self.diagnosis.threshold);
        let (roundings, amplifications, scale) = self.diagnosis.follow_roundings(id, linear, lane, &value);
        let mut real = Real::new(value, lane.to, error_bound);
        (real.roundings, real.amplifications) = (roundings, amplifications);
        if floats > ONE_ROUNDING
            || local_error.is_some()
            || local_error::is_tiny(lane.to, linear.r)
            || linear.r.is_infinite()
        {
            let any = lane.shadows.iter().flatten().any(|shadow| shadow.is_influenced());
            if any || local_error.is_some() {
                let local = (id, local_error);
                real.influences = self.diagnosis.influences(local, linear, lane, real.value(), scale);
            }
        }
        real.serial = self.diagnosis.history.push(id, lane);
        self.diagnosis.note(id, lane, linear, floats, real.significant_bits());
        if local_error.is_some() || is_looked_at(self.diagnosis.operations[id].error.count) {
            self.diagnosis.explain_now(id, lane, local_error, floats);
        }
        real
    }
}

/// Result of an operation in floats, on operands of these bits.
fn in_floats(reals: &Mpfr, lane: &Lane<'_, Real>, x: &[u128]) -> u128 {
    let exact: Vec<Float> = x.iter().map(|&bits| convert::from_bits(lane.from, bits)).collect();
    convert::round(lane.to, &lane.op.real(reals, &exact.iter().collect::<Vec<_>>()))
}

/// Tells whether an operation may be done without MPFR, which would tell what it rounds.
fn is_short(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Sqrt)
}

/// Tells whether the reals know no more of a sum that is zero to them than the floats do: these have errors, and none
/// that the reals would see.
fn is_exhausted(lane: &Lane<'_, Real>, linear: &Linear) -> bool {
    let bounds = lane.shadows.iter().zip(&linear.partials);
    let bounds = bounds
        .filter_map(|(shadow, &partial)| Some(shadow.as_ref()?.log2_bound() + exponent(partial) as f32));
    let (error, bound) = (largest(linear, lane), bounds.fold(f32::NEG_INFINITY, f32::max));
    error != 0.0 && exponent(error) as f32 <= bound
}
