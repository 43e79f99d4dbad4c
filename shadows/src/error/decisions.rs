//! Comparisons and conversions to integers that a program may have decided otherwise than the reals would: whatever comes to
//! the engine because an error is not small beside a difference.
//!
//! Executions that do not come here are decided alike, and are not counted.

use rug::Float;
use shadowgrind_core::reals::Reals;
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::step::{Predicate, ToInteger};

use super::ErrorShadow;
use super::by_reals::{PRECISION, real};
use crate::diagnosis::decisions::outcome;
use crate::reals::convert;
use crate::reals::mpfr::Mpfr;

/// Result of comparing a decision with that of the reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Floats and reals decide alike.
    Alike,
    /// Decision that is another.
    Flips,
    /// Decision of which that cannot be told.
    Unsettled,
}

/// A comparison of `x`.
pub(super) fn compared(predicate: Predicate, x: &[Observed<'_, f64>; 2]) -> Outcome {
    if x.iter().all(|x| x.shadow.is_none()) {
        return Outcome::Alike;
    }
    let [a, b] = x.each_ref().map(|x| real(x.format, x.bits, x.shadow.copied()));
    let difference = Float::with_val(PRECISION, &a - &b);
    let floats = x.each_ref().map(|x| convert::from_bits(x.format, x.bits));
    let own = outcome(predicate, floats[0].partial_cmp(&floats[1]));
    let alike = own == outcome(predicate, a.partial_cmp(&b));
    match alike {
        // The same number with the same error.
        true if difference.is_zero() => Outcome::Alike,
        _ if is_within_bound(&difference, x) => Outcome::Unsettled,
        true => Outcome::Alike,
        false => Outcome::Flips,
    }
}

/// A conversion of `x`, by the rounding mode of the moment that `reals` know.
pub(super) fn converted(how: ToInteger, x: Observed<'_, f64>, reals: &Mpfr) -> Outcome {
    if x.shadow.is_none() {
        return Outcome::Alike;
    }
    let value = real(x.format, x.bits, x.shadow.copied());
    let integer = |x: &Float| reals.round(x, how.rounding());
    let border = reals.border(how.rounding(), value.clone());
    match integer(&convert::from_bits(x.format, x.bits)) == integer(&value) {
        _ if is_within_bound(&Float::with_val(PRECISION, &value - &border), &[x]) => Outcome::Unsettled,
        true => Outcome::Alike,
        false => Outcome::Flips,
    }
}

/// Tells whether a difference is no more than what the reals of `x` may be off by; NaN always is.
fn is_within_bound(difference: &Float, x: &[Observed<'_, f64>]) -> bool {
    let reals = x.iter().filter_map(ErrorShadow::measurable);
    let bound = reals.map(|real| real.log2_bound()).fold(f32::NEG_INFINITY, f32::max);
    match difference.get_exp() {
        Some(exponent) => exponent as f32 <= bound,
        None => true,
    }
}
