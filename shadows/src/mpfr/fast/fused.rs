//! Fused operations, `±(a · b) ± c`, on floats of moderate size: the fast path of what has three operands.

use shadowgrind_core::arith::Host;
use shadowgrind_core::ops::{Op, Residual};
use shadowgrind_core::shadow::Lane;

use super::{FastOutcome, Found, Made, NOTHING, Recurring, is_moderate};
use crate::diagnosis::blame::{Amplifications, Merging, Roundings};
use crate::diagnosis::following::is_looked_at;
use crate::diagnosis::influences::Influences;
use crate::diagnosis::linear::Linear;
use crate::diagnosis::number::Attributed;
use crate::diagnosis::operations::Id;
use crate::diagnosis::scale::Scale;
use crate::ieee::Ieee;
use crate::mpfr::MpfrShadow;
use crate::reals::bigfloat::{self, Short};
use crate::reals::error_bound::{self, ErrorBound, Reckoned};
use crate::reals::number::RealNumber;
use crate::reals::real::Real;
use crate::reals::settle;

/// Number of operands.
const THREE: usize = 3;

/// A fused operation on floats of format `F`, as doubles.
struct Fused<'a, F> {
    at: &'a mut Recurring,
    op: Op,
    format: F,
    x: [f64; THREE],
    r: f64,
    shadows: [Option<&'a Real>; THREE],
    /// Shadows that are there, or what stands for one.
    reals: [&'a Real; THREE],
    linear: Linear,
}

/// Roundings that the operands bring: the factor of each, and which brings most, if that is more than is new.
struct Brought {
    factors: [f32; THREE],
    rounding: f32,
    most: Option<usize>,
}

impl MpfrShadow {
    /// Does what a fused operation usually takes, if reals are [short](Self::is_short). Where that is out of the ordinary, nothing is
    /// done.
    #[inline]
    pub(in crate::mpfr) fn on_fused<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        (at, op, format): (&mut Recurring, Op, F),
        x: [f64; THREE],
        r: f64,
        shadows: [Option<&Real>; THREE],
        made: &mut Made,
    ) -> FastOutcome {
        let Some(precision) = self.execution.arithmetic.short_precision() else {
            return FastOutcome::Fallback;
        };
        let all_moderate = x.iter().chain([&r]).all(|&x| is_moderate::<F>(x));
        if !(all_moderate & self.execution.settings.fast) {
            return FastOutcome::Fallback;
        }
        let Some(linear) = linear::<F>(op, x, r) else { return FastOutcome::Fallback };
        if linear.rounding == Some(0.0) && shadows.iter().all(Option::is_none) {
            return FastOutcome::Fallback;
        }
        let reals = shadows.map(|shadow| shadow.unwrap_or(NOTHING));
        let fused = Fused { at, op, format, x, r, shadows, reals, linear };
        let Some((value, is_rounded)) = fused.value(precision) else { return FastOutcome::Fallback };
        let Some(found) = Found::of(&value, F::FORMAT) else { return FastOutcome::Fallback };
        made.value = value;
        self.fused_real(merging, fused, (found, is_rounded), made)
    }

    #[inline(always)]
    fn fused_real<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        fused: Fused<'_, F>,
        (found, is_rounded): (Found, bool),
        made: &mut Made,
    ) -> FastOutcome {
        let r = F::bits(fused.r);
        let floats = found.rounded.abs_diff(r);
        let has_other_sign = (found.rounded ^ r) >> (F::FORMAT.width() - 1) != 0;
        let is_exact = (floats == 0) & found.is_float;
        let Some(brought) = fused.brought().filter(|_| !(has_other_sign | is_exact)) else {
            return FastOutcome::Fallback;
        };
        if floats > self.execution.diagnosis.threshold.floats
            && fused.is_off(found.rounded, self.execution.diagnosis.threshold.floats)
        {
            return FastOutcome::Fallback;
        }
        made.error_bound = self.fused_bound(&fused, (&found, floats), (made.value, is_rounded));
        if settle::is_short(made.error_bound, Some(found.exponent), F::FORMAT) {
            return FastOutcome::Fallback;
        }
        let (op, format) = (fused.op, F::FORMAT);
        let id = fused.at.operation(|site| self.looked_up(site, op, format));
        (made.roundings, made.amplifications) = fused.roundings(merging, id, &brought);
        // More than one rounding explains.
        if floats > 1 && fused.reals.iter().any(|real| real.is_influenced()) {
            self.influences_apart = Some(fused.influences(&mut self.execution.diagnosis.terms));
        }
        made.serial = fused.with_lane(|lane| self.execution.diagnosis.history.push(id, lane));
        let operation = &mut self.execution.diagnosis.operations[id];
        operation.count += 1;
        operation.operands.iter_mut().zip(fused.x).for_each(|(range, x)| range.add(x));
        operation.error.add(floats as f64 + 1.0);
        let significant = made.error_bound.bits_of(found.exponent);
        operation.least_significant = operation.least_significant.min(significant);
        if is_looked_at(operation.error.count) {
            fused.with_lane(|lane| self.execution.diagnosis.explain_now(id, lane, None, floats as f64));
        }
        FastOutcome::Shadow
    }

    /// Bound on the error of the result `value`, whose float is so many floats away.
    #[inline(always)]
    fn fused_bound<F: Ieee>(
        &self,
        fused: &Fused<'_, F>,
        (found, floats): (&Found, u64),
        (value, is_rounded): (Short, bool),
    ) -> ErrorBound {
        let precision = self.execution.settings.precision;
        let kinds = fused.reals.iter().fold(0, |kinds, real| kinds | real.error_bound.kind());
        let alone = (floats == 0) & found.clings | (kinds > ErrorBound::BELOW);
        let error = error_bound::error_bits(floats as f64);
        if (kinds != 0) & !alone & error_bound::is_ample(error, F::FORMAT, precision) {
            return ErrorBound::told((found.exponent - precision as i32) as f32, error);
        }
        let value = RealNumber::Short(value);
        let reckoned = Reckoned { value: &value, is_rounded, floats: floats as f64 };
        let execution = &self.execution;
        fused.with_lane(|lane| {
            ErrorBound::of_result((lane, execution.sums), &execution.arithmetic.mpfr, reckoned)
        })
    }
}

/// The operation to first order, as far as its rounding is known.
#[inline(always)]
fn linear<F: Ieee>(op: Op, x: [f64; THREE], r: f64) -> Option<Linear> {
    let rounding = match op.residual(&Host::new(F::FORMAT), &x, r) {
        Residual::Exact(lost) | Residual::Rounded(lost) => -lost,
        Residual::Never | Residual::Unknown => return None,
    };
    let mut linear = Linear { x, r, partials: [0.0; THREE], rounding: Some(rounding) };
    linear.differentiate(op, THREE);
    Some(linear)
}

impl<F: Ieee> Fused<'_, F> {
    /// The real result by arithmetic of our own, and whether it is rounded.
    #[inline(always)]
    fn value(&self, precision: u32) -> Option<(Short, bool)> {
        let mut operands = [Short::zero(false); THREE];
        for (n, operand) in operands.iter_mut().enumerate() {
            *operand = match self.shadows[n].map(Real::value) {
                Some(RealNumber::Short(short)) => *short,
                Some(RealNumber::Long(_)) => return None,
                None => Short::of_double(self.x[n]),
            };
            if !operand.is_near() {
                return None;
            }
        }
        let [a, b, c] = &operands;
        let (value, is_exact) = bigfloat::fused_result(self.op, [a, b, c], precision)?;
        value.is_near().then_some((value, !is_exact))
    }

    /// As any operation is described.
    #[inline(always)]
    fn with_lane<T>(&self, then: impl FnOnce(&Lane<'_, Real>) -> T) -> T {
        let _ = self.format;
        let (x, r) = (self.x.map(|x| F::bits(x).into()), F::bits(self.r).into());
        let (site, op, format) = (self.at.site(), self.op, F::FORMAT);
        then(&Lane { site, op, from: format, to: format, x: &x, r, shadows: &self.shadows })
    }

    /// Coefficients of the operands on the result's scale, and the coefficient of its local rounding; nothing
    /// where scales are not relative, or no measure.
    #[inline(always)]
    fn brought(&self) -> Option<Brought> {
        let scale = Scale::relative_to(self.r);
        let rounding = (self.linear.rounding? / scale.size) as f32;
        let (mut largest, mut most, mut factors) = (rounding.abs().to_bits(), None, [0.0; THREE]);
        for (n, real) in self.reals.iter().enumerate() {
            if self.shadows[n].is_none() {
                continue;
            }
            if real.roundings.scale_code() != 0 {
                return None;
            }
            factors[n] = self.linear.factor(n, Scale::relative_to(self.x[n]), scale) as f32;
            let brought = real.roundings.brought(factors[n]).to_bits();
            if brought > largest {
                (largest, most) = (brought, Some(n));
            }
        }
        Scale::measures(largest).then_some(Brought { factors, rounding, most })
    }

    /// Roundings that the result carries, and places where the largest of them has grown.
    #[inline(always)]
    fn roundings<M: Merging>(&self, merging: M, id: Id, brought: &Brought) -> (Roundings, Amplifications) {
        let amplifications = match brought.most {
            Some(n) => self.reals[n].amplifications.with(id, self.linear.amplification(n)),
            None => Amplifications::NONE,
        };
        let mut lists = [(&Roundings::NONE, 0.0); THREE];
        let present = (0..THREE).filter(|&n| self.shadows[n].is_some());
        for (list, n) in lists.iter_mut().zip(present) {
            *list = (&self.reals[n].roundings, brought.factors[n]);
        }
        let rounding = (id, brought.rounding);
        let roundings = match lists {
            [first, second, _] if self.shadows.iter().any(Option::is_none) => {
                merging.merge([first, second], rounding)
            }
            all => Roundings::combine(all, rounding, Scale::relative_to(self.r)),
        };
        (roundings, amplifications)
    }

    /// The erroneous operations that the operands depend on.
    #[inline(never)]
    fn influences(&self, terms: &mut Vec<crate::diagnosis::blame::ErrorTerm>) -> Influences {
        let scale = Scale::relative_to(self.r);
        let operands = [0, 1, 2].map(|n| {
            let factor = self.linear.factor(n, Scale::relative_to(self.x[n]), scale);
            self.reals[n].is_influenced().then_some((&self.reals[n].influences, factor))
        });
        Influences::combine(operands, None, terms)
    }

    /// Tells whether the operation, done in floats on its operands' reals correctly rounded, is off by more than so many floats of
    /// `rounded`, the real result as a float.
    #[inline(never)]
    fn is_off(&self, rounded: u64, floats: u64) -> bool {
        let nearest = |n: usize| match self.shadows[n] {
            Some(shadow) => F::float(shadow.rounded(F::FORMAT) as u64),
            None => self.x[n],
        };
        let [a, b, c] = [nearest(0), nearest(1), nearest(2)];
        let signed = |x: f64, minus: bool| if minus { -x } else { x };
        let [product, addend] = bigfloat::terms(self.op).unwrap_or_default();
        let local = F::bits(F::fma(signed(a, product), b, signed(c, addend)));
        (local ^ rounded) >> (F::FORMAT.width() - 1) != 0 || local.abs_diff(rounded) > floats
    }
}
