//! Results that are NaN or infinite, and what they are in the reals.

use shadowgrind_core::shadow::Lane;

use super::execution::RealExecution;
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
        is_alike.then(|| self.special_alike(id, lane, is_birth))
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
