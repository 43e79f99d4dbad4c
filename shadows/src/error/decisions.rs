//! Comparisons and conversions to integers that a program may have decided otherwise than the reals would: whatever comes to
//! the engine because an error is not small beside a difference.
//!
//! Executions that do not come here are decided alike, and are not counted.

use std::cmp::Ordering;

use hashbrown::HashMap;
use rug::Float;
use shadowgrind_core::findings::{Finding, FindingKind, Spread};
use shadowgrind_core::reals::Reals;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Seen;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};

use super::{ErrorShadow, PRECISION, real};
use crate::mpfr::measure;
use crate::mpfr::real::Real;
use crate::mpfr::reals::Mpfr;
use crate::mpfr::{convert, function, symbol};

/// Subject of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    /// The order of two floats, by the bits of the predicate.
    Comparison(u8),
    /// The integer that a float becomes: by truncation, or not.
    Conversion(bool),
}

/// A decision at one place.
#[derive(Debug, Default)]
struct Decision {
    /// Number of times that the reals decide otherwise.
    flips: u64,
    /// Number of times that it could not be told.
    unsettled: u64,
    /// Error bits of what was decided otherwise: their sum, and the most.
    error: f64,
    worst: f64,
}

/// All decisions of a run.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    by_site: HashMap<(Site, Asked), Decision>,
    /// True if what is decided now is about how numbers are written.
    pub(super) are_ignored: bool,
}

/// Result of comparing a decision with that of the reals.
enum Outcome {
    Alike,
    Flips,
    Unsettled,
}

impl Decisions {
    /// A comparison of `x`.
    pub(super) fn compared(&mut self, site: Site, predicate: Predicate, x: [Seen<'_, f64>; 2]) {
        if self.are_ignored || x.iter().all(|x| x.shadow.is_none()) {
            return;
        }
        let [a, b] = x.each_ref().map(|x| real(x.format, x.bits, x.shadow.copied()));
        let difference = Float::with_val(PRECISION, &a - &b);
        let floats = x.each_ref().map(|x| convert::from_bits(x.format, x.bits));
        let own = decides(predicate, floats[0].partial_cmp(&floats[1]));
        let alike = own == decides(predicate, a.partial_cmp(&b));
        let outcome = match alike {
            // The same number with the same error.
            true if difference.is_zero() => Outcome::Alike,
            _ if is_noise(&difference, &x) => Outcome::Unsettled,
            true => Outcome::Alike,
            false => Outcome::Flips,
        };
        self.count((site, Asked::Comparison(predicate.0)), outcome, &x);
    }

    /// A conversion of `x`, by the rounding mode of the moment that `reals` know.
    pub(super) fn converted(&mut self, site: Site, how: ToInteger, x: Seen<'_, f64>, reals: &Mpfr) {
        if self.are_ignored || x.shadow.is_none() {
            return;
        }
        let value = real(x.format, x.bits, x.shadow.copied());
        let integer = |x: &Float| match how {
            ToInteger::Truncate => x.clone().trunc(),
            ToInteger::Round => reals.round(x, Rounding::Current),
        };
        let is_nearest = how == ToInteger::Round && reals.current == Rounding::NearestEven;
        // Integers change at integers when cut off, half-way between when rounded to the nearest.
        let border = if is_nearest { value.clone().floor() + 0.5 } else { value.clone().round() };
        let outcome = match integer(&convert::from_bits(x.format, x.bits)) == integer(&value) {
            _ if is_noise(&Float::with_val(PRECISION, &value - &border), &[x]) => Outcome::Unsettled,
            true => Outcome::Alike,
            false => Outcome::Flips,
        };
        self.count((site, Asked::Conversion(how == ToInteger::Truncate)), outcome, &[x]);
    }

    fn count(&mut self, place: (Site, Asked), outcome: Outcome, x: &[Seen<'_, f64>]) {
        if let Outcome::Alike = outcome {
            return;
        }
        let decision = self.by_site.entry(place).or_default();
        if let Outcome::Unsettled = outcome {
            decision.unsettled += 1;
            return;
        }
        let bits = x.iter().map(error_bits).fold(0.0, f64::max);
        decision.flips += 1;
        decision.error += bits;
        decision.worst = decision.worst.max(bits);
    }

    /// Those that the reals decide otherwise, or may.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.by_site.iter().map(|(&(site, asked), decision)| decision.finding(site, asked)).collect()
    }
}

impl Decision {
    fn finding(&self, site: Site, asked: Asked) -> Finding {
        let (kind, name) = match asked {
            Asked::Comparison(predicate) => (FindingKind::Branch, symbol(Predicate(predicate))),
            Asked::Conversion(true) => (FindingKind::Conversion, function(ToInteger::Truncate)),
            Asked::Conversion(false) => (FindingKind::Conversion, function(ToInteger::Round)),
        };
        let spread = Spread { mean: self.error / self.flips.max(1) as f64, max: self.worst };
        Finding {
            count: self.flips,
            unsettled: self.unsettled,
            error_bits: (self.flips > 0).then_some(spread),
            contribution: spread.mean,
            ..Finding::new(kind, name, site)
        }
    }
}

/// Answer of a comparison: the relation itself, where all are told apart, else whether it is one of those asked for.
fn decides(predicate: Predicate, order: Option<Ordering>) -> u8 {
    let relation = match order {
        Some(Ordering::Less) => Predicate::LESS,
        Some(Ordering::Equal) => Predicate::EQUAL,
        Some(Ordering::Greater) => Predicate::GREATER,
        None => Predicate::UNORDERED,
    };
    if predicate == Predicate::ORDER { relation } else { u8::from(predicate.0 & relation != 0) }
}

/// Tells whether a difference is no more than what the reals of `x` may be off by; NaN always is.
fn is_noise(difference: &Float, x: &[Seen<'_, f64>]) -> bool {
    let reals = x.iter().filter_map(ErrorShadow::measurable);
    let noise = reals.map(|real| real.noise()).fold(f32::NEG_INFINITY, f32::max);
    match difference.get_exp() {
        Some(exponent) => exponent as f32 <= noise,
        None => true,
    }
}

fn error_bits(x: &Seen<'_, f64>) -> f64 {
    let real: Option<Real> = ErrorShadow::measurable(x);
    measure::measure(x.format, x.bits, real.as_ref()).error_bits
}
