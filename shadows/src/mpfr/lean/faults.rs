//! Who is at fault for the result of one of the commonest operations: seen at once, where it is nobody.

use shadowgrind_core::ops::Op;

use super::{Binary, F64, Found};
use crate::mpfr::MpfrShadow;
use crate::mpfr::execute::ONE_ROUNDING;
use crate::mpfr::fault::{Fault, Outcome};
use crate::mpfr::influences::Influences;
use crate::mpfr::linear::Linear;
use crate::mpfr::number::RealNumber;
use crate::mpfr::operations::Id;
use crate::mpfr::real::Real;

impl MpfrShadow {
    /// The operations at fault that the result depends on, this one perhaps.
    #[inline(always)]
    pub(super) fn lean_influences(
        &mut self,
        binary: &Binary<'_>,
        partials: [f64; 2],
        value: &RealNumber,
        found: &Found,
        bits: f64,
        id: Id,
    ) -> (Option<Fault>, Influences) {
        let threshold = self.settings.error_threshold;
        let suspect = (bits > threshold) & binary.may_be_at_fault(found, threshold);
        let carries = binary.is_influenced() & (bits > ONE_ROUNDING);
        if suspect | carries & binary.may_compensate(found, self.settings.precision) {
            return self.lean_faulty(binary, partials, value, found, bits, id);
        }
        let influences = if carries { self.inherited(binary.reals, partials) } else { Influences::NONE };
        (None, influences)
    }

    /// Those that the operands depend on.
    #[inline(never)]
    fn inherited(&mut self, [a, b]: [&Real; 2], [first, second]: [f64; 2]) -> Influences {
        match (a.is_influenced(), b.is_influenced()) {
            (true, false) => a.influences.scaled(first),
            (false, true) => b.influences.scaled(second),
            _ => Influences::join((&a.influences, first), (&b.influences, second), &mut self.parts),
        }
    }

    /// Of an operation that may be at fault, or may compensate for another.
    #[inline(never)]
    fn lean_faulty(
        &mut self,
        binary: &Binary<'_>,
        [first, second]: [f64; 2],
        value: &RealNumber,
        found: &Found,
        bits: f64,
        id: Id,
    ) -> (Option<Fault>, Influences) {
        let [a, b] = binary.x;
        let linear =
            Linear { x: [a, b, 0.0], r: binary.r, partials: [first, second, 0.0], own: Some(binary.own) };
        let mut fault = None;
        if bits > self.settings.error_threshold && self.is_at_fault(binary, found.rounded) {
            fault = binary.with_lane(|lane| {
                let outcome = Outcome { lane, linear: &linear, value, rounded: found.rounded.into(), bits };
                outcome.fault(&self.reals.mpfr, self.settings.error_threshold)
            });
        }
        if fault.is_none() && !(binary.is_influenced() & (bits > ONE_ROUNDING)) {
            return (None, Influences::NONE);
        }
        let influences = binary.with_lane(|lane| self.influences(id, fault, &linear, lane, value));
        (fault, influences)
    }

    /// Whether the local error is above the threshold: see [`Outcome::fault`]. `rounded` is the real result as a float.
    #[inline(always)]
    fn is_at_fault(&self, binary: &Binary<'_>, rounded: u64) -> bool {
        let nearest = |n: usize| match binary.shadows[n] {
            Some(shadow) => f64::from_bits(shadow.rounded(F64) as u64),
            None => binary.x[n],
        };
        let [a, b] = [nearest(0), nearest(1)];
        let local = match binary.op {
            _ if [a, b] == binary.x => binary.r,
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            _ => a / b,
        };
        let local = local.to_bits();
        (local ^ rounded) >> 63 != 0
            || self.error_bits.of(local.abs_diff(rounded)) > self.settings.error_threshold
    }
}

impl Binary<'_> {
    #[inline(always)]
    fn is_influenced(&self) -> bool {
        self.reals[0].is_influenced() | self.reals[1].is_influenced()
    }

    /// Whether its local error may be above the threshold. What the operands' rounding makes of a product or quotient
    /// is less than seven floats; of a sum, less than four, and as many times more as leading bits cancel.
    #[inline(always)]
    fn may_be_at_fault(&self, found: &Found, threshold: f64) -> bool {
        let cancelled = found.exponents[0].max(found.exponents[1]) - found.exponent;
        (threshold < 3.0) | self.is_sum() & (f64::from(cancelled + 2) > threshold)
    }

    /// Whether it may be that one operand corrects the other: only where the reals are far apart.
    #[inline(always)]
    fn may_compensate(&self, found: &Found, precision: u32) -> bool {
        let least = found.exponent - precision as i32 / 2;
        self.is_sum() & ((found.exponents[0] < least) | (found.exponents[1] < least))
    }
}
