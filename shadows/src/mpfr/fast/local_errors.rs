//! Erroneous operations behind the result of one of the commonest operations: seen at once, where it is nobody.

use shadowgrind_core::arith::Host;

use super::{Binary, Found, Made, Value};
use crate::diagnosis::blame::Merging;
use crate::diagnosis::influences::Influences;
use crate::diagnosis::linear::Linear;
use crate::diagnosis::local_error::{LocalError, Outcome};
use crate::diagnosis::number::Attributed;
use crate::diagnosis::operations::Id;
use crate::diagnosis::scale::Scale;
use crate::ieee::Ieee;
use crate::mpfr::MpfrShadow;
use crate::mpfr::elementary::Elementary;
use crate::reals::execute::ONE_ROUNDING;
use crate::reals::number::RealNumber;

impl MpfrShadow {
    /// Finds the erroneous operations that the result depends on, this one perhaps.
    #[inline(always)]
    pub(super) fn fast_influences<M: Merging, E: Elementary, F: Ieee>(
        &mut self,
        merging: M,
        binary: Binary<'_, E, F>,
        value: &impl Value,
        (found, floats): (Found, u64),
        (id, [p, q]): (Id, [f32; 2]),
        made: &mut Made,
    ) -> Option<LocalError> {
        let may_be = (floats > self.execution.diagnosis.threshold.floats)
            && binary.may_be_at_fault(&found, self.execution.diagnosis.threshold.bits);
        let suspect = if may_be { self.suspect(binary, found.rounded) } else { None };
        // More than one rounding explains.
        let carries = binary.is_influenced() & (floats > 1);
        let mut local_error = None;
        if suspect.is_some() || carries && binary.may_compensate(&found, self.execution.settings.precision) {
            let influences;
            (local_error, influences) =
                value.look(|value| self.fast_faulty(binary, value, found, floats, (id, suspect)));
            self.influences_apart = Some(influences);
        } else if carries {
            let [a, b] = binary.reals;
            if !Influences::joined(merging, (&a.influences, p), (&b.influences, q), &mut made.few) {
                self.influences_apart = Some(self.inherited(binary));
            }
        }
        local_error
    }

    /// Erroneous operations that the operands depend on.
    #[inline(never)]
    fn inherited<E: Elementary, F: Ieee>(&mut self, binary: Binary<'_, E, F>) -> Influences {
        let (linear, scale) = (binary.linear(), Scale::relative_to(binary.r));
        let brought = |n: usize| {
            let factor = linear.factor(n, Scale::relative_to(binary.x[n]), scale);
            binary.reals[n].is_influenced().then_some((&binary.reals[n].influences, factor))
        };
        Influences::combine([brought(0), brought(1), None], None, &mut self.execution.diagnosis.terms)
    }

    /// Of an operation that is erroneous, if it is a [suspect](Self::suspect), or may compensate for another.
    #[inline(never)]
    fn fast_faulty<E: Elementary, F: Ieee>(
        &mut self,
        binary: Binary<'_, E, F>,
        value: &RealNumber,
        found: Found,
        floats: u64,
        (id, suspect): (Id, Option<u64>),
    ) -> (Option<LocalError>, Influences) {
        let linear = binary.linear();
        let mut local_error = None;
        if let Some(local) = suspect {
            local_error = binary.with_lane(|lane| {
                let outcome = Outcome {
                    lane,
                    linear: &linear,
                    value,
                    rounded: found.rounded.into(),
                    floats: floats as f64,
                };
                outcome.ordinary_error(local.into(), self.execution.diagnosis.threshold)
            });
        }
        if local_error.is_none() && !(binary.is_influenced() & (floats as f64 > ONE_ROUNDING)) {
            return (None, Influences::NONE);
        }
        let scale = Scale::relative_to(binary.r);
        let influences = binary.with_lane(|lane| {
            self.execution.diagnosis.influences((id, local_error), &linear, lane, value, scale)
        });
        (local_error, influences)
    }

    /// Result of the operation, in floats, on its operands' reals correctly rounded, if that is off by more than the
    /// threshold: numbers are moderate, so that [`Outcome::local_error`] asks for nothing else. `rounded` is the real result
    /// as a float.
    #[inline(never)]
    fn suspect<E: Elementary, F: Ieee>(&self, binary: Binary<'_, E, F>, rounded: u64) -> Option<u64> {
        let nearest = |n: usize| match binary.shadows[n] {
            Some(shadow) => F::float(shadow.rounded(F::FORMAT) as u64),
            None => binary.x[n],
        };
        let x = [nearest(0), nearest(1)];
        let in_floats = || binary.row.op().primal(&Host::new(F::FORMAT), &x[..binary.row.arity()]);
        let local = F::bits(if x == binary.x { Some(binary.r) } else { in_floats() }?);
        let is_off = (local ^ rounded) >> (F::FORMAT.width() - 1) != 0
            || local.abs_diff(rounded) > self.execution.diagnosis.threshold.floats;
        is_off.then_some(local)
    }
}

impl<E: Elementary, F: Ieee> Binary<'_, E, F> {
    #[inline(always)]
    fn is_influenced(&self) -> bool {
        self.reals[0].is_influenced() | self.reals[1].is_influenced()
    }

    /// The operation to first order.
    fn linear(&self) -> Linear {
        let ([a, b], [first, second]) = (self.x, self.partials());
        Linear { x: [a, b, 0.0], r: self.r, partials: [first, second, 0.0], rounding: Some(self.rounding) }
    }

    /// Tells whether its local error may be above the threshold. What the operands' rounding makes of a product,
    /// quotient or root is less than seven floats; of a sum, less than four, and as many times more as leading bits
    /// cancel.
    #[inline(always)]
    fn may_be_at_fault(&self, found: &Found, threshold: f64) -> bool {
        if threshold < 3.0 || !self.row.is_sum() {
            return threshold < 3.0;
        }
        let [a, b] = self.exponents();
        f64::from(a.max(b) - found.exponent + 2) > threshold
    }

    /// Tells whether it may be that one operand corrects the other: only where the reals are far apart.
    #[inline(always)]
    pub(super) fn may_compensate(&self, found: &Found, precision: u32) -> bool {
        let least = found.exponent - precision as i32 / 2;
        self.row.is_sum() && self.exponents().iter().any(|&exponent| exponent < least)
    }
}
