//! Certainty of the real result of one of the commonest operations: the same as [`Certainty::of_result`] says of any.

use shadowgrind_core::ops::Op;

use super::{Binary, F64, Found};
use crate::mpfr::certainty::{self, Certainty};
use crate::mpfr::elementary::Elementary;

impl<E: Elementary> Binary<'_, E> {
    /// The [kinds](Certainty::kind) of what is known of the operands.
    #[inline(always)]
    pub(super) fn kinds(&self) -> u32 {
        self.reals[0].certainty.kind() | self.reals[1].certainty.kind()
    }

    /// Certainty of the result, whose float is so many floats away and, if it is `alone`, no control.
    #[inline(always)]
    pub(super) fn certainty(&self, found: &Found, floats: f64, alone: bool, precision: u32) -> Certainty {
        let own = found.exponent as f32 - precision as f32;
        let error = certainty::error_bits(floats);
        if self.kinds() != 0 {
            return Certainty::bounded(self.brought(found, own), own, floats, F64, alone);
        }
        match self.last_bit() {
            Some(last) if found.exponent.saturating_sub(last) <= precision as i32 => {
                Certainty::Exact { last }
            }
            _ if !alone && certainty::is_ample(error, F64, precision) => Certainty::told(own, error),
            _ => Certainty::bounded(own, own, floats, F64, alone),
        }
    }

    /// The logarithm of what the result may be off by for its operands' sake, and by its own rounding, 2^own.
    #[inline(always)]
    fn brought(&self, found: &Found, own: f32) -> f32 {
        let exponent = found.exponent as f32;
        let relative = !self.row.is_sum();
        let [first, second] =
            self.exponents().map(|before| if relative { exponent - before as f32 } else { 0.0 });
        let (a, b) = (self.reals[0].noise(), self.reals[1].noise());
        certainty::sum(certainty::sum(own, a + first), b + second)
    }

    /// A bit not above the last of the exact result, if operands are exact and it has one.
    #[inline(always)]
    fn last_bit(&self) -> Option<i32> {
        let [a, b] = [0, 1].map(|n| match self.shadows[n] {
            Some(shadow) => shadow.certainty,
            None => Certainty::of_double(self.x[n]),
        });
        let (Certainty::Exact { last: a }, Certainty::Exact { last: b }) = (a, b) else { return None };
        match self.row.op() {
            Op::Add | Op::Sub => Some(a.min(b)),
            Op::Mul => Some(a.saturating_add(b)),
            _ => None,
        }
    }

    /// Tells whether nothing but noise is left of its terms: see [`is_noise`](certainty::is_noise).
    pub(super) fn is_noise(&self, found: &Found, certainty: Certainty, precision: u32) -> bool {
        self.row.is_sum() && certainty::is_noise_of(self.exponents(), found.exponent, certainty, precision)
    }
}
