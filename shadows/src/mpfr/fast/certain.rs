//! Certainty of the real result of one of the commonest operations: the same as [`Certainty::of_result`] says of any.

use shadowgrind_core::ops::Op;

use super::{Binary, Found};
use crate::ieee::Ieee;
use crate::mpfr::elementary::Elementary;
use crate::reals::error_bound::{self, ErrorBound};

impl<E: Elementary, F: Ieee> Binary<'_, E, F> {
    /// Kinds of the operands' [error bounds](ErrorBound::kind), one over the other.
    #[inline(always)]
    pub(super) fn kinds(&self) -> u32 {
        self.reals[0].error_bound.kind() | self.reals[1].error_bound.kind()
    }

    /// Error bound of the result, whose float is so many floats away and, if it is `alone`, no control.
    #[inline(always)]
    pub(super) fn error_bound(&self, found: &Found, floats: f64, alone: bool, precision: u32) -> ErrorBound {
        let rounding = found.exponent as f32 - precision as f32;
        let error = error_bound::error_bits(floats);
        if self.kinds() != 0 {
            return ErrorBound::bounded(self.brought(found, rounding), rounding, floats, F::FORMAT, alone);
        }
        match self.last_bit() {
            Some(last) if found.exponent.saturating_sub(last) <= precision as i32 => {
                ErrorBound::Exact { last }
            }
            _ if !alone && error_bound::is_ample(error, F::FORMAT, precision) => {
                ErrorBound::told(rounding, error)
            }
            _ => ErrorBound::bounded(rounding, rounding, floats, F::FORMAT, alone),
        }
    }

    /// The logarithm of what the result may be off by for its operands' sake, and by its local rounding error, 2^rounding.
    #[inline(always)]
    fn brought(&self, found: &Found, rounding: f32) -> f32 {
        let exponent = found.exponent as f32;
        let relative = !self.row.is_sum();
        let exponents = self.exponents();
        let brought = |n: usize| {
            let bound = self.reals[n].log2_bound();
            if relative { bound - exponents[n] as f32 + exponent } else { bound }
        };
        error_bound::sum(error_bound::sum(rounding, brought(0)), brought(1))
    }

    /// Tells whether nothing of the result was rounded off, as far as that is seen at once.
    #[inline(always)]
    pub(super) fn is_all(&self, found: &Found, precision: u32) -> bool {
        self.last_bit().is_some_and(|last| found.exponent.saturating_sub(last) <= precision as i32)
    }

    /// A bit not above the last of the exact result, if operands are exact and it has one.
    #[inline(always)]
    fn last_bit(&self) -> Option<i32> {
        let bound = |n: usize| match self.shadows[n] {
            Some(shadow) => shadow.error_bound,
            None => ErrorBound::of_double(self.x[n]),
        };
        let bounds = (bound(0), bound(1));
        let (ErrorBound::Exact { last: a }, ErrorBound::Exact { last: b }) = bounds else { return None };
        match self.row.op() {
            Op::Add | Op::Sub => Some(a.min(b)),
            Op::Mul => Some(a.saturating_add(b)),
            _ => None,
        }
    }

    /// Tells whether what is left of its terms is within its error bound: see [`is_within_bound`](error_bound::is_within_bound).
    pub(super) fn is_within_bound(&self, found: &Found, error_bound: ErrorBound, precision: u32) -> bool {
        self.row.is_sum()
            && error_bound::is_within_bound_of(self.exponents(), found.exponent, error_bound, precision)
    }
}
