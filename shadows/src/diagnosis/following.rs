//! Passing of errors through an operation, to first order: whose roundings and influences its result carries, and what is kept of the
//! execution. Knows nothing of how results are found in the reals.

use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::Lane;

use super::Diagnosis;
use super::blame::{Amplifications, ErrorTerm, Roundings, measurable, narrow};
use super::history::Source;
use super::influences::Influences;
use super::linear::Linear;
use super::local_error::LocalError;
use super::number::{Attributed, Number};
use super::operations::Id;
use super::scale::Scale;
use crate::distance::error_power;

/// Roundings that operands bring to a result, by its scale; none if they are beyond measure.
struct Weighed<'a, N> {
    scale: Scale,
    /// Each with its factor.
    operands: [(&'a Roundings, f32); MAX_OPERANDS],
    count: usize,
    rounding: f32,
    /// The size of the largest, and the operand that brings it, if one does.
    foremost: f32,
    grew: Option<(usize, &'a N)>,
}

impl<'a, N: Attributed> Weighed<'a, N> {
    fn new(linear: &Linear, lane: &Lane<'a, N>, rounding: f64, scale: Scale) -> Weighed<'a, N> {
        let rounding = narrow(rounding / scale.size);
        let operands = [(&Roundings::NONE, 0.0); MAX_OPERANDS];
        let mut weighed =
            Weighed { scale, operands, count: 0, rounding, foremost: rounding.abs(), grew: None };
        for (index, shadow) in lane.shadows.iter().enumerate() {
            let &Some(shadow) = shadow else { continue };
            let factor = narrow(linear.factor(index, shadow.scale(linear.x[index]), scale));
            weighed.operands[weighed.count] = (shadow.roundings(), factor);
            weighed.count += 1;
            let brought = shadow.roundings().brought(factor);
            if brought > weighed.foremost {
                (weighed.foremost, weighed.grew) = (brought, Some((index, shadow)));
            }
        }
        if weighed.foremost > Scale::MOST {
            weighed = Weighed { operands, count: 0, rounding: 0.0, ..weighed };
        }
        weighed
    }
}

impl<N: Attributed> Diagnosis<N> {
    /// Roundings that the result carries, places where the largest of them has grown, and the scale of both. `value` is the
    /// result in the reals.
    pub(crate) fn follow_roundings(
        &self,
        id: Id,
        linear: &Linear,
        lane: &Lane<'_, N>,
        value: &N::Number,
    ) -> (Roundings, Amplifications, Scale) {
        let rounding = linear.rounding.unwrap_or_else(|| local_rounding(linear, lane, value));
        let weighed = Scale::relative(linear.r).map(|scale| Weighed::new(linear, lane, rounding, scale));
        let weighed = weighed.filter(|weighed| weighed.foremost >= Scale::LEAST);
        let weighed = weighed.unwrap_or_else(|| {
            let largest = largest(linear, lane).max(rounding.abs());
            Weighed::new(linear, lane, rounding, Scale::absolute_near(largest))
        });
        let amplifications = match (weighed.grew, lane.op) {
            (None, _) => Amplifications::NONE,
            // Their condition number is one.
            (Some((_, shadow)), Op::Mul | Op::Div) => *shadow.amplifications(),
            (Some((index, shadow)), _) => shadow.amplifications().with(id, linear.amplification(index)),
        };
        let Weighed { operands: [first, second, third], scale, .. } = weighed;
        let rounding = (id, weighed.rounding);
        let roundings = match weighed.count {
            0 | 1 => Roundings::combine([first], rounding, scale),
            2 => Roundings::combine([first, second], rounding, scale),
            _ => Roundings::combine([first, second, third], rounding, scale),
        };
        (roundings, amplifications, scale)
    }

    /// The erroneous operations that the result depends on, on that scale.
    pub(crate) fn influences(
        &mut self,
        (id, local_error): (Id, Option<LocalError>),
        linear: &Linear,
        lane: &Lane<'_, N>,
        value: &N::Number,
        scale: Scale,
    ) -> Influences {
        let kept = self.compensated(lane, value);
        let operands = std::array::from_fn(|index| {
            let shadow = lane.shadows.get(index).copied().flatten()?;
            let counts = shadow.is_influenced() && kept.is_none_or(|kept| kept == index);
            counts.then(|| (shadow.influences(), linear.factor(index, shadow.scale(linear.x[index]), scale)))
        });
        let local = local_error.map(|local_error| ErrorTerm {
            operation: id,
            coefficient: measurable(local_error.error / scale.size),
        });
        Influences::combine(operands, local, &mut self.terms)
    }

    /// Operand that a compensating operation corrects: a sum that in the reals is one of its operands, because the
    /// other is zero there, and is nearer to its real than that operand was (Herbgrind's rule). The operations that
    /// computed the correction are not to blame.
    fn compensated(&self, lane: &Lane<'_, N>, value: &N::Number) -> Option<usize> {
        let (&[Some(a), Some(b)], Op::Add | Op::Sub) = (lane.shadows, lane.op) else { return None };
        let most = self.settings.precision as i32 / 2;
        let vanishes = |x: &N| match (x.number().exponent(), value.exponent()) {
            (Some(x), Some(value)) => x < value - most,
            _ => x.number().is_zero(),
        };
        let kept = if vanishes(b) { 0 } else { usize::from(vanishes(a)) };
        if kept == 0 && !vanishes(b) {
            return None;
        }
        let before = if kept == 0 { a } else { b }.number().error_of(lane.from, lane.x[kept]).abs();
        (value.error_of(lane.to, lane.r).abs() < before).then_some(kept)
    }

    /// Keeps count of an execution.
    pub(crate) fn note(
        &mut self,
        id: Id,
        lane: &Lane<'_, N>,
        linear: &Linear,
        floats: f64,
        significant: i32,
    ) {
        let operation = &mut self.operations[id];
        operation.error.add(error_power(lane.to, floats));
        operation.least_significant = operation.least_significant.min(significant);
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
        lane: &Lane<'_, N>,
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
            self.note_local_error(id, sources, &local_error, error_power(lane.to, floats));
            self.note_causes(id, lane, &local_error);
        }
    }
}

/// Local error of an operation without a residual: the error that its operands' errors do not explain, as far as
/// rounding can be its cause.
pub(crate) fn local_rounding<N: Attributed>(linear: &Linear, lane: &Lane<'_, N>, value: &N::Number) -> f64 {
    let mut rounding = value.error_of(lane.to, lane.r);
    for (index, shadow) in lane.shadows.iter().enumerate() {
        if let Some(shadow) = shadow {
            rounding -= linear.partials[index] * shadow.number().error_of(lane.from, lane.x[index]);
        }
    }
    let most = 2.0 * linear.half_ulp(lane.to);
    if rounding.is_nan() { 0.0 } else { rounding.clamp(-most, most) }
}

/// Tells whether what an operation computes is looked at, at the latest of so many executions with a shadow, though it is
/// not erroneous.
#[inline(always)]
pub(crate) fn is_looked_at(count: u64) -> bool {
    (count < 64) | count.is_multiple_of(256)
}

/// The largest term of the result's error that its operands bring.
pub(crate) fn largest<N: Attributed>(linear: &Linear, lane: &Lane<'_, N>) -> f64 {
    let mut largest = 0.0_f64;
    for (index, shadow) in lane.shadows.iter().enumerate() {
        let Some(shadow) = shadow else { continue };
        largest = largest.max(shadow.largest_term(linear.x[index]) * linear.partials[index].abs());
    }
    largest
}
