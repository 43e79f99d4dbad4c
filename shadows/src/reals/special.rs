//! Results that are NaN or infinite, and what they are in the reals.

use rug::Float;
use shadowgrind_core::shadow::Lane;

use super::convert;
use super::execution::RealExecution;
use super::mpfr::Mpfr;
use super::number::RealNumber;
use super::real::Real;
use crate::diagnosis::linear::Linear;
use crate::diagnosis::operations::Id;
use crate::diagnosis::special::is_special;

impl RealExecution {
    /// Looks at a result that may be NaN or infinite. Where it is, and is the same in the reals, its shadow, of which
    /// there is none if nobody has borne it, as of a constant.
    #[inline(always)]
    pub(super) fn special(&mut self, id: Id, lane: &Lane<'_, Real>, linear: &Linear) -> Option<Option<Real>> {
        // Numbers of 80 bits may only look infinite, as doubles.
        if linear.r.is_finite() { None } else { self.surely_special(id, lane) }
    }

    #[inline(never)]
    fn surely_special(&mut self, id: Id, lane: &Lane<'_, Real>) -> Option<Option<Real>> {
        if !is_special(lane.to, lane.r) {
            return None;
        }
        let is_birth = self.diagnosis.note_birth(id, lane);
        self.arithmetic.mpfr.rounded.set(false);
        let value = self.real_of(lane);
        let is_alike = value.is_exactly(lane.to, lane.r) && self.beyond(lane, &value).is_none();
        let is_sure = is_alike && !(is_birth && self.may_be_finite(lane));
        is_sure.then(|| self.special_alike(id, lane, is_birth))
    }

    /// Tells whether the result is finite for some of the numbers that its operands may be.
    fn may_be_finite(&self, lane: &Lane<'_, Real>) -> bool {
        let reals = Mpfr { precision: 2 * self.arithmetic.mpfr.precision, ..self.arithmetic.mpfr.clone() };
        let operand = |(shadow, &bits): (&Option<&Real>, &u128)| match shadow {
            Some(shadow) => shadow.value().float().into_owned(),
            None => convert::from_bits(lane.from, bits),
        };
        let operands: Vec<Float> = lane.shadows.iter().zip(lane.x).map(operand).collect();
        let is_finite = |(index, shadow): (usize, &Option<&Real>)| {
            let Some(bound) = shadow.map(Real::log2_bound).filter(|bound| bound.is_finite()) else {
                return false;
            };
            let step = Float::with_val(64, 1) << bound.ceil() as i32;
            [step.clone(), -step].iter().any(|step| {
                let mut operands = operands.clone();
                operands[index] = Float::with_val(reals.precision, &operands[index] + step);
                lane.op.real(&reals, &operands.iter().collect::<Vec<_>>()).is_finite()
            })
        };
        lane.shadows.iter().enumerate().any(is_finite)
    }

    fn special_alike(&mut self, id: Id, lane: &Lane<'_, Real>, is_birth: bool) -> Option<Real> {
        let (influences, local_error) = self.diagnosis.influences_of_special(id, lane, is_birth);
        if !influences.are_any() {
            return None;
        }
        let mut real = Real::exactly(RealNumber::from_bits(lane.to, lane.r), lane.to, lane.r);
        real.influences = influences;
        real.serial = self.diagnosis.history.push(id, lane);
        if local_error.is_some() {
            self.diagnosis.explain_now(id, lane, local_error, 0.0);
        }
        Some(real)
    }
}
