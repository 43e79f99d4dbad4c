//! Comparisons of floats that are as far apart as it takes to see that their reals compare alike.

use shadowgrind_core::format::Format;
use shadowgrind_core::step::Predicate;

use super::Recurring;
use crate::diagnosis::linear::exponent;
use crate::diagnosis::operations::What;
use crate::mpfr::MpfrShadow;
use crate::reals::decisions::MARGIN;
use crate::reals::real::Real;

impl MpfrShadow {
    /// Counts a comparison of floats of a format, as doubles, that are above or below each other as surely as their reals are. False, and
    /// nothing is done, where that is not seen at once.
    pub fn compares_alike(
        &mut self,
        at: (&mut Recurring, Predicate, Format),
        x: [f64; 2],
        shadows: [Option<&Real>; 2],
    ) -> bool {
        if shadows[0].is_none() & shadows[1].is_none() {
            self.counted_comparison(at);
            return true;
        }
        // Rounding keeps the order of numbers that it does not make equal, or neighbours.
        let nearest = |n: usize| shadows[n].map_or(Some(x[n]), |shadow| shadow.value().near_double());
        let ([a, b], Some(p), Some(q)) = (x, nearest(0), nearest(1)) else { return false };
        let bound = |n: usize| shadows[n].map_or(f32::NEG_INFINITY, Real::log2_bound);
        let are_sure = exponent(q - p) as f32 - MARGIN > bound(0).max(bound(1));
        let are_apart = p.to_bits().abs_diff(q.to_bits()) > 1;
        let is_alike =
            self.execution.settings.fast & are_apart & are_sure & ((a < b) & (p < q) | (a > b) & (p > q));
        if is_alike {
            self.counted_comparison(at);
        }
        is_alike
    }

    /// Counts a comparison of floats.
    #[inline(always)]
    fn counted_comparison(&mut self, (at, predicate, format): (&mut Recurring, Predicate, Format)) {
        let formats = (format, format);
        let id = at.operation(|site| {
            self.execution.diagnosis.operations.at(site, What::Compare(predicate), formats)
        });
        self.execution.diagnosis.operations[id].count += 1;
    }
}
