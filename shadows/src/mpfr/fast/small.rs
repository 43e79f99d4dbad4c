//! The commonest operations on floats too small for the [fast path](super), zeros among them, whose reals live on: values that
//! die out in a loop.
//!
//! Such a float is no measure of its error, whose terms are on an absolute scale, and residuals do not tell what was rounded off.

use shadowgrind_core::ops::Op;

use super::{Binary, FastOutcome, Found, Made, NOTHING, Recurring, is_moderate};
use crate::diagnosis::blame::{Amplifications, Merging, Roundings, narrow};
use crate::diagnosis::following::{self, is_looked_at};
use crate::diagnosis::influences::{Few, Influences};
use crate::diagnosis::linear::{Linear, log2};
use crate::diagnosis::local_error::is_tiny;
use crate::diagnosis::number::Attributed;
use crate::diagnosis::operations::Id;
use crate::diagnosis::scale::Scale;
use crate::distance::{error_power, floats_between};
use crate::exact::residuals_hold;
use crate::ieee::Ieee;
use crate::mpfr::MpfrShadow;
use crate::mpfr::elementary::{Any, Elementary};
use crate::reals::bigfloat::Short;
use crate::reals::error_bound::{self, ErrorBound};
use crate::reals::execute::ONE_ROUNDING;
use crate::reals::number::RealNumber;
use crate::reals::real::Real;
use crate::reals::settle;

/// An operation whose result, in the reals, is neither zero nor its float.
struct Small<'a, 'b, F> {
    binary: &'b Binary<'a, Any, F>,
    value: &'b Short,
    found: Found,
    /// Distance of the float from the real, in floats.
    floats: f64,
    partials: [f64; 2],
    rounding: f64,
}

/// Roundings that the operands bring to the result, on its scale.
struct Brought {
    scale: Scale,
    /// For the operands' coefficients.
    factors: [f32; 2],
    rounding: f32,
    /// The size of the largest, and the operand that brings it, if one does.
    foremost: f32,
    grew: Option<usize>,
}

/// Zero, or no larger than a moderate number.
#[inline(always)]
fn is_small<F: Ieee>(x: f64) -> bool {
    x.to_bits() << 1 < const { (1024 + F::MODERATE) << 53 }
}

impl MpfrShadow {
    /// Does what an operation on small floats usually takes, if reals are [short](Self::is_short). Where that is out of the
    /// ordinary, nothing is done.
    #[inline(always)]
    pub fn on_small<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        (at, op, format): (&mut Recurring, Op, F),
        x: [f64; 2],
        r: f64,
        shadows: [Option<&Real>; 2],
        made: &mut Made,
    ) -> FastOutcome {
        let Some(precision) = self.execution.arithmetic.short_precision() else {
            return FastOutcome::Fallback;
        };
        let are_small = is_small::<F>(x[0]) & is_small::<F>(x[1]) & is_small::<F>(r);
        let is_usual = matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div) & self.execution.settings.fast;
        if !(are_small & is_usual) || shadows[0].is_none() & shadows[1].is_none() {
            return FastOutcome::Fallback;
        }
        let reals = [shadows[0].unwrap_or(NOTHING), shadows[1].unwrap_or(NOTHING)];
        let binary = Binary { site: at.site, row: Any(op), format, x, r, shadows, reals, rounding: 0.0 };
        if binary.may_round() || !binary.small_value(precision, &mut made.value) {
            return FastOutcome::Fallback;
        }
        let value = made.value;
        let Some(small) = binary.small(&value) else { return FastOutcome::Fallback };
        if !self.is_not_to_blame(&small) || !self.small_bound(&small, precision, &mut made.error_bound) {
            return FastOutcome::Fallback;
        }
        let brought = small.brought();
        if brought.foremost > Scale::MOST {
            return FastOutcome::Fallback;
        }
        let id = self.operation((at, Any(op), format));
        (made.roundings, made.amplifications) = small.roundings(merging, id, &brought);
        self.small_influences(merging, id, &small, &brought, made);
        self.noted_small(id, &small, made);
        FastOutcome::Shadow
    }

    /// Tells whether the operation is not erroneous, because it is within the threshold or a consequence of others that are.
    #[inline(always)]
    fn is_not_to_blame<F: Ieee>(&self, small: &Small<'_, '_, F>) -> bool {
        let is_normal = !is_tiny(F::FORMAT, small.binary.r);
        let is_right = is_normal & (small.floats <= self.execution.diagnosis.threshold.floats as f64);
        is_right || small.binary.is_consequence()
    }

    /// Puts the error bound of the result at `place`. False where its real has to be found again, or may be zero.
    #[inline(always)]
    fn small_bound<F: Ieee>(&self, small: &Small<'_, '_, F>, precision: u32, place: &mut ErrorBound) -> bool {
        let Small { binary, found, floats, .. } = small;
        let (kinds, error) = (binary.kinds(), error_bound::error_bits(*floats));
        let alone = (*floats == 0.0 && small.clings()) | (kinds > ErrorBound::BELOW);
        let error_bound = if (kinds != 0) & !alone & error_bound::is_ample(error, F::FORMAT, precision) {
            ErrorBound::told(found.exponent as f32 - precision as f32, error)
        } else {
            binary.error_bound(found, *floats, alone, precision)
        };
        *place = error_bound;
        let is_short = settle::is_short(error_bound, Some(found.exponent), F::FORMAT);
        !is_short && !binary.is_within_bound(found, error_bound, precision)
    }

    /// Finds the erroneous operations that the result depends on.
    #[inline(always)]
    fn small_influences<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        id: Id,
        small: &Small<'_, '_, F>,
        brought: &Brought,
        made: &mut Made,
    ) {
        made.few = Few::NONE;
        let Small { binary, found, floats, .. } = small;
        let counts = (*floats > ONE_ROUNDING) | is_tiny(F::FORMAT, binary.r);
        let [a, b] = binary.reals;
        if !(counts & (a.is_influenced() | b.is_influenced())) {
            return;
        }
        let [p, q] = brought.factors;
        let may_compensate =
            binary.may_compensate(found, self.execution.settings.precision) && !small.keeps();
        if may_compensate
            || !Influences::joined(merging, (&a.influences, p), (&b.influences, q), &mut made.few)
        {
            let any = self.many_influences(id, small, brought.scale);
            self.influences_apart = Some(any);
        }
    }

    /// Erroneous operations that the operands depend on.
    #[inline(never)]
    fn many_influences<F: Ieee>(&mut self, id: Id, small: &Small<'_, '_, F>, scale: Scale) -> Influences {
        let (linear, value) = (small.linear(), RealNumber::Short(*small.value));
        let (none, diagnosis) = ((id, None), &mut self.execution.diagnosis);
        small.binary.with_lane(|lane| diagnosis.influences(none, &linear, lane, &value, scale))
    }

    /// Keeps count of an execution.
    #[inline(always)]
    fn noted_small<F: Ieee>(&mut self, id: Id, small: &Small<'_, '_, F>, made: &mut Made) {
        let Small { binary, found, floats, .. } = small;
        let (Binary { x, r, .. }, arity) = (binary, binary.row.arity());
        let serials = [binary.reals[0].serial, binary.reals[1].serial];
        let history = &mut self.execution.diagnosis.history;
        made.serial = history.push_floats((id, binary.format), (*x, arity), serials, *r);
        let operation = &mut self.execution.diagnosis.operations[id];
        operation.counted(arity, *x);
        operation.error.add(error_power(F::FORMAT, *floats));
        let significant = made.error_bound.bits_of(found.exponent);
        operation.least_significant = operation.least_significant.min(significant);
        if binary.row.is_sum() {
            let [a, b, r] = [x[0].abs(), x[1].abs(), r.abs()];
            operation.absorbed += u64::from((a != 0.0) & (b != 0.0) & ((r == a) | (r == b)));
        }
        if is_looked_at(operation.error.count) {
            self.small_explained(id, small);
        }
    }

    #[inline(never)]
    fn small_explained<F: Ieee>(&mut self, id: Id, small: &Small<'_, '_, F>) {
        let diagnosis = &mut self.execution.diagnosis;
        small.binary.with_lane(|lane| diagnosis.explain_now(id, lane, None, small.floats));
    }
}

impl<'a, F: Ieee> Binary<'a, Any, F> {
    /// The real of an operand, if that is in the reach of arithmetic of our own and not zero; of one without a shadow, if that is
    /// moderate.
    #[inline(always)]
    fn small_operand(&self, n: usize) -> Option<Short> {
        let Some(shadow) = self.shadows[n] else {
            return is_moderate::<F>(self.x[n]).then(|| Short::of_double(self.x[n]));
        };
        match shadow.value() {
            RealNumber::Short(short) if short.is_ordinary() && !shadow.error_bound.is_beyond() => {
                short.exponent().map(|_| *short)
            }
            _ => None,
        }
    }

    /// Puts the result of the operation in the reals at `place`. False where an operand is out of the ordinary, or the result zero.
    #[inline(always)]
    fn small_value(&self, precision: u32, place: &mut Short) -> bool {
        let (Some(a), Some(b)) = (self.small_operand(0), self.small_operand(1)) else { return false };
        *place = match self.row.op() {
            Op::Add => Short::add(&a, &b, false, precision),
            Op::Sub => Short::add(&a, &b, true, precision),
            Op::Mul => Short::product(&a, &b, precision),
            _ => Short::quotient(&a, &b, precision),
        };
        place.exponent().is_some()
    }

    /// The operation with its result in the reals, unless that is its float.
    #[inline(always)]
    fn small<'b>(&'b self, value: &'b Short) -> Option<Small<'a, 'b, F>> {
        let (rounded, r) = (value.bits(F::FORMAT) as u64, F::bits(self.r));
        let floats = floats_between(F::FORMAT, r.into(), rounded.into());
        if floats == 0.0 && self.r != 0.0 && RealNumber::Short(*value).is_exactly(F::FORMAT, r.into()) {
            return None;
        }
        let found = Found { exponent: value.scale(), rounded, is_float: false, clings: false };
        let mut small =
            Small { binary: self, value, found, floats, partials: self.partials(), rounding: 0.0 };
        small.rounding = if residuals_hold(F::FORMAT, F::FORMAT, &self.x, self.r) {
            self.row.rounding::<F>(self.x[0], self.x[1], self.r)
        } else {
            small.local_rounding()
        };
        Some(small)
    }

    /// Tells whether an operand is zero or subnormal, and wrong, so that what comes of it is not this operation's doing.
    #[inline(always)]
    fn is_consequence(&self) -> bool {
        let is_so = |n: usize| self.reals[n].is_influenced() & is_tiny(F::FORMAT, self.x[n]);
        is_so(0) | is_so(1)
    }
}

impl<F: Ieee> Small<'_, '_, F> {
    /// The operation to first order.
    fn linear(&self) -> Linear {
        let ([a, b], [p, q]) = (self.binary.x, self.partials);
        Linear { x: [a, b, 0.0], r: self.binary.r, partials: [p, q, 0.0], rounding: Some(self.rounding) }
    }

    #[inline(never)]
    fn local_rounding(&self) -> f64 {
        let value = RealNumber::Short(*self.value);
        self.binary.with_lane(|lane| following::local_rounding(&self.linear(), lane, &value))
    }

    /// Tells whether the float is nearer to its real than [`ALONE`](crate::reals::bigfloat) says. Zero is not.
    #[inline(always)]
    fn clings(&self) -> bool {
        self.binary.r != 0.0 && RealNumber::Short(*self.value).clings(F::FORMAT, self.found.rounded.into())
    }

    /// Tells whether the result is just an operand, in floats and in the reals: the other has corrected nothing.
    #[inline(always)]
    fn keeps(&self) -> bool {
        let Binary { x, r, shadows, row, .. } = self.binary;
        let keeps = |n: usize| {
            let is_it = |real: &Real| matches!(real.value(), RealNumber::Short(short) if short == self.value);
            (x[n].to_bits() == r.to_bits()) && shadows[n].is_some_and(is_it)
        };
        keeps(0) || row.op() == Op::Add && keeps(1)
    }

    /// Roundings that the operands bring, on a relative scale where the float is a measure of them.
    #[inline(always)]
    fn brought(&self) -> Brought {
        if let Some(scale) = Scale::relative(self.binary.r) {
            let brought = self.brought_to(scale);
            if brought.foremost >= Scale::LEAST {
                return brought;
            }
        }
        self.brought_to(Scale::absolute_near(self.largest()))
    }

    /// The largest term of the result's error.
    #[inline(always)]
    fn largest(&self) -> f64 {
        let Binary { shadows, x, .. } = self.binary;
        let brought =
            |n: usize| shadows[n].map_or(0.0, |shadow| shadow.largest_term(x[n]) * self.partials[n].abs());
        0.0_f64.max(brought(0)).max(brought(1)).max(self.rounding.abs())
    }

    #[inline(always)]
    fn brought_to(&self, scale: Scale) -> Brought {
        let Binary { shadows, x, .. } = self.binary;
        let rounding = narrow(self.rounding / scale.size);
        let factor = |n: usize| {
            shadows[n].map_or(0.0, |shadow| narrow(self.partials[n] * shadow.scale(x[n]).size / scale.size))
        };
        let factors = [factor(0), factor(1)];
        let (mut foremost, mut grew) = (rounding.abs(), None);
        for (n, &factor) in factors.iter().enumerate() {
            let size = self.binary.reals[n].roundings.brought(factor);
            if size > foremost {
                (foremost, grew) = (size, Some(n));
            }
        }
        Brought { scale, factors, rounding, foremost, grew }
    }

    /// Roundings that the result carries, and places where the largest of them has grown.
    #[inline(always)]
    fn roundings<M: Merging>(&self, merging: M, id: Id, brought: &Brought) -> (Roundings, Amplifications) {
        let Binary { shadows, reals, row, x, r, .. } = self.binary;
        let amplifications = match brought.grew {
            None => Amplifications::NONE,
            Some(n) if row.is_conditioned() => {
                reals[n].amplifications.with(id, log2(self.partials[n] * x[n]) - log2(*r))
            }
            Some(n) => reals[n].amplifications,
        };
        let (first, second) = (reals[0].roundings.unmarked(), reals[1].roundings.unmarked());
        let [p, q] = brought.factors;
        // The operand that has no roundings comes last: the reference path does without it.
        let turned = shadows[0].is_none();
        let lists = if turned { [(&second, q), (&first, p)] } else { [(&first, p), (&second, q)] };
        let roundings = merging.merge(lists, (id, brought.rounding));
        (roundings.marked(brought.scale), amplifications)
    }
}
