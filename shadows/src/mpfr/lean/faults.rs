//! Who is at fault for the result of one of the commonest operations: seen at once, where it is nobody.

use shadowgrind_core::ops::Op;

use super::{Binary, F64, Found, Made, Value};
use crate::mpfr::MpfrShadow;
use crate::mpfr::elementary::Elementary;
use crate::mpfr::execute::ONE_ROUNDING;
use crate::mpfr::fault::{Fault, Outcome};
use crate::mpfr::influences::Influences;
use crate::mpfr::linear::Linear;
use crate::mpfr::number::RealNumber;
use crate::mpfr::operations::Id;
use crate::mpfr::real::Real;

impl MpfrShadow {
    /// Finds the operations at fault that the result depends on, this one perhaps.
    #[inline(always)]
    pub(super) fn lean_influences<E: Elementary>(
        &mut self,
        binary: Binary<'_, E>,
        value: &impl Value,
        found: Found,
        (floats, bits): (u64, f64),
        id: Id,
        made: &mut Made,
    ) -> Option<Fault> {
        let threshold = self.settings.error_threshold;
        let suspect = (bits > threshold) & binary.may_be_at_fault(&found, threshold);
        // More than one rounding explains.
        let carries = binary.is_influenced() & (floats > 1);
        let mut fault = None;
        if suspect | carries & binary.may_compensate(&found, self.settings.precision) {
            (fault, made.influences) = value.look(|value| self.lean_faulty(binary, value, found, bits, id));
        } else if carries {
            made.influences = self.inherited(binary.reals, binary.partials());
        }
        fault
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
    fn lean_faulty<E: Elementary>(
        &mut self,
        binary: Binary<'_, E>,
        value: &RealNumber,
        found: Found,
        bits: f64,
        id: Id,
    ) -> (Option<Fault>, Influences) {
        let ([a, b], [first, second]) = (binary.x, binary.partials());
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
    fn is_at_fault<E: Elementary>(&self, binary: Binary<'_, E>, rounded: u64) -> bool {
        let nearest = |n: usize| match binary.shadows[n] {
            Some(shadow) => f64::from_bits(shadow.rounded(F64) as u64),
            None => binary.x[n],
        };
        let [a, b] = [nearest(0), nearest(1)];
        let local = match binary.row.op() {
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

impl<E: Elementary> Binary<'_, E> {
    #[inline(always)]
    fn is_influenced(&self) -> bool {
        self.reals[0].is_influenced() | self.reals[1].is_influenced()
    }

    /// Whether its local error may be above the threshold. What the operands' rounding makes of a product or quotient
    /// is less than seven floats; of a sum, less than four, and as many times more as leading bits cancel.
    #[inline(always)]
    fn may_be_at_fault(&self, found: &Found, threshold: f64) -> bool {
        let cancelled = found.exponents[0].max(found.exponents[1]) - found.exponent;
        (threshold < 3.0) | self.row.is_sum() & (f64::from(cancelled + 2) > threshold)
    }

    /// Whether it may be that one operand corrects the other: only where the reals are far apart.
    #[inline(always)]
    fn may_compensate(&self, found: &Found, precision: u32) -> bool {
        let least = found.exponent - precision as i32 / 2;
        self.row.is_sum() & ((found.exponents[0] < least) | (found.exponents[1] < least))
    }
}
