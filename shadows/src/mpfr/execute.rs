//! One operation of the program, from its floats to the shadow of its result: any operation, on any floats.

use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::Lane;

use super::error_bound::{self, ErrorBound, Reckoned};
use super::number::RealNumber;
use super::real::Real;
use super::{MpfrShadow, Value, exact, is_sum, measure, settle};
use crate::diagnosis::blame::{Part, Roundings, measurable, narrow};
use crate::diagnosis::history::Source;
use crate::diagnosis::influences::Influences;
use crate::diagnosis::linear::{Linear, exponent};
use crate::diagnosis::local_error::{self, LocalError, Outcome};
use crate::diagnosis::operations::{Id, What};
use crate::diagnosis::unit::Unit;

/// Distance, in floats, that one rounding explains.
pub(super) const ONE_ROUNDING: f64 = 1.0;

/// A result in the reals and how far the float is from it.
struct Result {
    value: RealNumber,
    /// The value as a float.
    rounded: u128,
    /// The distance of the float from that, in floats.
    floats: f64,
    error_bound: ErrorBound,
}

/// Roundings that operands bring to a result, in its unit; none if they are beyond measure.
struct Weighed<'a> {
    unit: Unit,
    /// Each with its factor.
    operands: [(&'a Roundings, f32); MAX_OPERANDS],
    count: usize,
    own: f32,
    /// The size of the largest, and the operand that brings it, if one does.
    foremost: f32,
    grew: Option<(usize, &'a Real)>,
}

impl<'a> Weighed<'a> {
    fn new(linear: &Linear, lane: &Lane<'a, Value>, own: f64, unit: Unit) -> Weighed<'a> {
        let own = narrow(own / unit.size);
        let operands = [(&Roundings::NONE, 0.0); MAX_OPERANDS];
        let mut weighed = Weighed { unit, operands, count: 0, own, foremost: own.abs(), grew: None };
        for (index, shadow) in lane.shadows.iter().enumerate() {
            let &Some(shadow) = shadow else { continue };
            let factor = narrow(linear.factor(index, shadow.unit(linear.x[index]), unit));
            weighed.operands[weighed.count] = (&shadow.roundings, factor);
            weighed.count += 1;
            let brought = shadow.roundings.brought(factor);
            if brought > weighed.foremost {
                (weighed.foremost, weighed.grew) = (brought, Some((index, shadow)));
            }
        }
        if weighed.foremost > Unit::MOST {
            weighed = Weighed { operands, count: 0, own: 0.0, ..weighed };
        }
        weighed
    }
}

impl MpfrShadow {
    /// The shadow of any operation's result.
    pub(crate) fn execute(&mut self, lane: &Lane<'_, Value>) -> Option<Real> {
        self.round_as(lane.from);
        let id = self.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let mut linear = Linear::new(lane);
        let operation = &mut self.operations[id];
        operation.count += 1;
        for (range, &x) in operation.operands.iter_mut().zip(&linear.x[..lane.x.len()]) {
            range.add(x);
        }
        if let Some(kept) = exact::left_alone(lane).or_else(|| self.selected(lane)) {
            return lane.shadows[kept].cloned();
        }
        if self.unrounds(lane) {
            self.history.push_exact(id, lane);
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
                self.history.push_exact(id, lane);
                return None;
            }
        } else {
            linear.differentiate(lane.op, lane.x.len());
        }
        let result = self.result(id, lane, &linear)?;
        Some(self.inexact(id, &linear, lane, result))
    }

    /// The result in the reals; nothing if the float is just that.
    fn result(&mut self, id: Id, lane: &Lane<'_, Value>, linear: &Linear) -> Option<Result> {
        self.reals.mpfr.rounded.set(false);
        let mut value = self.real_of(lane);
        let is_rounded = is_short(lane.op) || self.reals.mpfr.rounded.get();
        let mut rounded = value.round(lane.to);
        let mut floats = measure::floats_between(lane.to, lane.r, rounded);
        let precision = self.settings.precision;
        let mut error_bound =
            ErrorBound::of_result(lane, &self.reals.mpfr, Reckoned { value: &value, is_rounded, floats });
        if settle::is_short(error_bound, value.get_exp(), lane.to)
            && let Some((settled, noise)) = self.settled(lane, &value, error_bound)
        {
            value = settled;
            rounded = value.round(lane.to);
            floats = measure::floats_between(lane.to, lane.r, rounded);
            error_bound = ErrorBound::settled(noise, floats == 0.0 && value.clings(lane.to, lane.r));
        }
        let is_noise = |exponent| error_bound::is_noise(lane, exponent, error_bound, precision);
        let is_exact = floats == 0.0 && value.is_exactly(lane.to, lane.r);
        if let &[Some(a), Some(b)] = lane.shadows
            && (a.value().is_zero() || b.value().is_zero() || linear.r != 0.0 && is_exact)
        {
            self.note_put_back(lane.op, [linear.x[0], linear.x[1]], [a, b]);
        }
        let is_zero = is_sum(lane.op) && value.get_exp().map_or(value.is_zero(), is_noise);
        if is_zero && error_bound.noise().is_some() && is_exhausted(lane, linear) {
            self.operations[id].exhausted += 1;
        }
        if is_exact {
            // What was rounded off may be too small for the reals.
            let is_noisy = error_bound.noise().is_some_and(|noise| noise > f32::NEG_INFINITY);
            let is_all = !is_noisy || self.is_all(lane);
            return (!is_all).then_some(Result { value, rounded, floats, error_bound });
        }
        if !is_zero {
            return Some(Result { value, rounded, floats, error_bound });
        }
        // Nothing but the reals' own noise is left of the terms: as far as they can tell, zero.
        let floats = measure::floats_between(lane.to, lane.r, 0);
        Some(Result { value: self.reals.zero(), rounded: 0, floats, error_bound })
    }

    /// Tells whether the real of a result is all there is to it: nothing was ever rounded off.
    fn is_all(&mut self, lane: &Lane<'_, Value>) -> bool {
        if lane.shadows.iter().flatten().any(|shadow| shadow.noise() > f32::NEG_INFINITY) {
            return false;
        }
        self.reals.mpfr.rounded.set(false);
        self.long_result(lane, exact::rounds_to_integer(lane));
        !self.reals.mpfr.rounded.get()
    }

    /// The real result of an operation.
    pub(crate) fn real_of(&mut self, lane: &Lane<'_, Value>) -> RealNumber {
        let rounds = exact::rounds_to_integer(lane);
        if rounds.is_none()
            && let Some(value) = self.reals.short_result(lane)
        {
            return RealNumber::Short(value);
        }
        self.long_result(lane, rounds)
    }

    /// By MPFR; operand `rounds` is rounded to an integer.
    pub(super) fn long_result(&mut self, lane: &Lane<'_, Value>, rounds: Option<usize>) -> RealNumber {
        for (index, shadow) in lane.shadows.iter().enumerate() {
            if shadow.is_none() {
                self.reals.assign(&mut self.scratch[index], lane.from, lane.x[index]);
            }
        }
        let operand = |index: usize| match lane.shadows.get(index) {
            Some(Some(shadow)) => shadow.value(),
            _ => &self.scratch[index],
        };
        let operands: [&RealNumber; MAX_OPERANDS] = std::array::from_fn(operand);
        if let Some(index) = rounds {
            let integer = self.reals.rounded_to_integer(operands[index]);
            let operands = if index == 0 { [&integer, operands[1]] } else { [operands[0], &integer] };
            return self.reals.long_result(lane.op, &operands);
        }
        self.reals.long_result(lane.op, &operands[..lane.x.len()])
    }

    /// Follows the error of a result that is not exact, and keeps count of it.
    fn inexact(&mut self, id: Id, linear: &Linear, lane: &Lane<'_, Value>, result: Result) -> Real {
        let Result { value, rounded, floats, error_bound } = result;
        let outcome = Outcome { lane, linear, value: &value, rounded, floats };
        let local_error = outcome.local_error(&self.reals.mpfr, self.threshold);
        let mut real = Real::new(value, lane.to, error_bound);
        let unit = self.follow_roundings(id, linear, lane, &mut real);
        if floats > ONE_ROUNDING
            || local_error.is_some()
            || local_error::is_tiny(lane.to, linear.r)
            || linear.r.is_infinite()
        {
            let any = lane.shadows.iter().flatten().any(|shadow| shadow.is_influenced());
            if any || local_error.is_some() {
                real.influences = self.influences((id, local_error), linear, lane, real.value(), unit);
            }
        }
        real.serial = self.history.push(id, lane);
        self.note(id, lane, linear, floats, &real);
        if local_error.is_some() || is_looked_at(self.operations[id].error.count) {
            self.explain_now(id, lane, local_error, floats);
        }
        real
    }

    /// Whose roundings the result carries, and where the largest of them grew.
    fn follow_roundings(&mut self, id: Id, linear: &Linear, lane: &Lane<'_, Value>, real: &mut Real) -> Unit {
        let own = linear.own.unwrap_or_else(|| self.own_rounding(linear, lane, real.value()));
        let weighed = Unit::share(linear.r).map(|unit| Weighed::new(linear, lane, own, unit));
        let weighed = weighed.filter(|weighed| weighed.foremost >= Unit::LEAST);
        let weighed = weighed.unwrap_or_else(|| {
            let largest = largest(linear, lane).max(own.abs());
            Weighed::new(linear, lane, own, Unit::power_near(largest))
        });
        if let Some((index, shadow)) = weighed.grew {
            real.amplifications = match lane.op {
                // Their condition number is one.
                Op::Mul | Op::Div => shadow.amplifications,
                _ => shadow.amplifications.with(id, linear.gain(index)),
            };
        }
        let Weighed { operands: [first, second, third], unit, .. } = weighed;
        let own = (id, weighed.own);
        real.roundings = match weighed.count {
            0 | 1 => Roundings::combine([first], own, unit),
            2 => Roundings::combine([first, second], own, unit),
            _ => Roundings::combine([first, second, third], own, unit),
        };
        unit
    }

    /// Local error of an operation without a residual: the error that its operands' errors do not explain, as far as
    /// rounding can be its cause.
    fn own_rounding(&self, linear: &Linear, lane: &Lane<'_, Value>, value: &RealNumber) -> f64 {
        let mut own = value.taken_from(lane.to, lane.r);
        for (index, shadow) in lane.shadows.iter().enumerate() {
            if let Some(shadow) = shadow {
                own -= linear.partials[index] * shadow.error_of(lane.from, lane.x[index]);
            }
        }
        let most = 2.0 * linear.half_ulp(lane.to);
        if own.is_nan() { 0.0 } else { own.clamp(-most, most) }
    }

    /// The erroneous operations that the result depends on, in that unit.
    pub(super) fn influences(
        &mut self,
        (id, local_error): (Id, Option<LocalError>),
        linear: &Linear,
        lane: &Lane<'_, Value>,
        value: &RealNumber,
        unit: Unit,
    ) -> Influences {
        let kept = self.compensated(lane, value);
        let operands = std::array::from_fn(|index| {
            let shadow = lane.shadows.get(index).copied().flatten()?;
            let counts = shadow.is_influenced() && kept.is_none_or(|kept| kept == index);
            counts.then(|| (&shadow.influences, linear.factor(index, shadow.unit(linear.x[index]), unit)))
        });
        let own = local_error
            .map(|local_error| Part { operation: id, amount: measurable(local_error.amount / unit.size) });
        Influences::combine(operands, own, &mut self.parts)
    }

    /// Operand that a compensating operation corrects: a sum that in the reals is one of its operands, because the
    /// other is zero there, and is nearer to its real than that operand was (Herbgrind's rule). The operations that
    /// computed the correction are not to blame.
    fn compensated(&self, lane: &Lane<'_, Value>, value: &RealNumber) -> Option<usize> {
        let (&[Some(a), Some(b)], Op::Add | Op::Sub) = (lane.shadows, lane.op) else { return None };
        let sure = self.settings.precision as i32 / 2;
        let vanishes = |x: &Real| match (x.value().get_exp(), value.get_exp()) {
            (Some(x), Some(value)) => x < value - sure,
            _ => x.value().is_zero(),
        };
        let kept = if vanishes(b) { 0 } else { usize::from(vanishes(a)) };
        if kept == 0 && !vanishes(b) {
            return None;
        }
        let before = if kept == 0 { a } else { b }.error_of(lane.from, lane.x[kept]).abs();
        (value.taken_from(lane.to, lane.r).abs() < before).then_some(kept)
    }

    /// Keeps count of an execution.
    fn note(&mut self, id: Id, lane: &Lane<'_, Value>, linear: &Linear, floats: f64, real: &Real) {
        let operation = &mut self.operations[id];
        operation.error.add(measure::error_power(lane.to, floats));
        operation.least_significant = operation.least_significant.min(real.significant_bits());
        if matches!(lane.op, Op::Add | Op::Sub) {
            let [a, b, _] = linear.x.map(f64::abs);
            let r = linear.r.abs();
            operation.absorbed += u64::from((a != 0.0) & (b != 0.0) & ((r == a) | (r == b)));
        }
    }

    /// Looks at what an operation computed: now and then, and each time it is erroneous.
    pub(crate) fn explain_now(
        &mut self,
        id: Id,
        lane: &Lane<'_, Value>,
        local_error: Option<LocalError>,
        floats: f64,
    ) {
        let sources: [Source; MAX_OPERANDS] = std::array::from_fn(|index| Source::of(lane, index));
        let sources = &sources[..lane.x.len()];
        if self.operations[id].error.count.is_power_of_two() {
            self.note_usual(id, sources);
        }
        if local_error.is_none() {
            self.note_right(id, sources);
        }
        if let Some(local_error) = local_error {
            self.note_local_error(id, sources, &local_error, measure::error_power(lane.to, floats));
            self.note_causes(id, lane, &local_error);
        }
    }
}

/// Tells whether what an operation computes is looked at, at the latest of so many executions with a shadow, though it is
/// not erroneous.
#[inline(always)]
pub(super) fn is_looked_at(count: u64) -> bool {
    (count < 64) | count.is_multiple_of(256)
}

/// Tells whether an operation may be done without MPFR, which would tell what it rounds.
fn is_short(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Sqrt)
}

/// The largest part of the result's error that its operands bring.
fn largest(linear: &Linear, lane: &Lane<'_, Value>) -> f64 {
    let mut largest = 0.0_f64;
    for (index, shadow) in lane.shadows.iter().enumerate() {
        let Some(shadow) = shadow else { continue };
        largest = largest.max(shadow.largest_part(linear.x[index]) * linear.partials[index].abs());
    }
    largest
}

/// Tells whether the reals know no more of a sum that is zero to them than the floats do: these have errors, and none
/// that the reals would see.
fn is_exhausted(lane: &Lane<'_, Value>, linear: &Linear) -> bool {
    let noises = lane.shadows.iter().zip(&linear.partials);
    let noises =
        noises.filter_map(|(shadow, &partial)| Some(shadow.as_ref()?.noise() + exponent(partial) as f32));
    let (error, noise) = (largest(linear, lane), noises.fold(f32::NEG_INFINITY, f32::max));
    error != 0.0 && exponent(error) as f32 <= noise
}
