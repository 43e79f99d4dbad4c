//! Reals that have lost too many bits are found again with more of them.
//!
//! Where an operation leaves its real fewer significant bits than it takes to judge a float, the real is computed anew from the floats
//! that it was made of, to as many bits as that asks for: what leads to it is in the history, as far as that goes. This is
//! bounded by the operations that the program does anyway; what cannot be settled so stays as it is.

use std::cmp::Ordering;

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Observed};
use shadowgrind_core::site::Site;

use super::derivation::{Bounded, Derivation, Reach, Roots};
use super::error_bound::ErrorBound;
use super::execution::RealExecution;
use super::mpfr::Mpfr;
use super::number::RealNumber;
use super::real::Real;
use crate::diagnosis::history::Source;

/// Bits that are tried at most: what the whole range of doubles takes, and as many again.
const MOST_BITS: u32 = 4096;
/// Steps of a derivation at most.
const MOST_STEPS: usize = 1 << 14;
/// Steps that are looked at to see whether a result is zero whatever they begin with …
const LAST_STEPS: usize = 16;
/// … and to how many bits.
const ZERO_BITS: u32 = 1024;
/// Steps that may be computed again at once, and for how many operations of the program one more.
const FUEL: u64 = 1 << 20;
const OPERATIONS_PER_STEP: u64 = 16;
/// Significant bits that a real is to have beyond those of its float.
const SPARE: i32 = 11;
/// Bits that are enough where it takes too many to have all.
const ENOUGH: f64 = 80.0;
/// Two to this is far below all products of doubles: what is no more than that is zero.
const NOTHING: f64 = -2300.0;

/// Tells whether a real has so few significant bits that it should be found again.
#[inline(always)]
pub(crate) fn is_short(error_bound: ErrorBound, exponent: Option<i32>, format: Format) -> bool {
    match exponent {
        _ if error_bound.is_beyond() => false,
        Some(exponent) => error_bound.bits_of(exponent) < format.precision() as i32 + SPARE,
        None => error_bound.log2_bound().is_some_and(|bound| f64::from(bound) > NOTHING),
    }
}

impl RealExecution {
    /// The real of an operation's result to all bits, if its operands have more significant bits and the history leads to them; and
    /// the logarithm of what it may be off by, unless it is zero.
    #[inline(never)]
    pub(super) fn settled(
        &mut self,
        lane: &Lane<'_, Real>,
        value: &RealNumber,
        error_bound: ErrorBound,
    ) -> Option<(RealNumber, Option<f32>)> {
        if !self.may_settle(lane.from, lane.shadows.iter().flatten().copied()) {
            return None;
        }
        let may_be_zero = value.get_exp().is_none_or(|exponent| error_bound.covers(exponent));
        if may_be_zero && (self.is_identically_zero(lane) || self.is_zero(lane)) {
            return Some(self.nothing());
        }
        let found = self.found(lane)?;
        if !found.value.is_finite() {
            return None;
        }
        let Some(exponent) = found.value.get_exp() else { return Some(self.nothing()) };
        let precision = self.settings.precision;
        let bound = found.bound.max(f64::from(exponent) - f64::from(precision)) as f32 + 1.0;
        Some((self.arithmetic.of_float(Float::with_val(precision, &found.value)), Some(bound)))
    }

    /// Tells whether the result of an operation might be found again: not where that was to no avail for an operand,
    /// which is of this format.
    pub(crate) fn may_settle<'a>(&self, from: Format, operands: impl IntoIterator<Item = &'a Real>) -> bool {
        let gave_up = |operand: &Real| is_short(operand.error_bound, operand.value().get_exp(), from);
        self.settings.settles && !operands.into_iter().any(gave_up)
    }

    /// The result of an operation as its operands' derivations have it.
    fn found(&mut self, lane: &Lane<'_, Real>) -> Option<Bounded> {
        let derivation = self.derivation(lane, Reach::Whole)?;
        self.found_again(&derivation)
    }

    /// The derivation of an operation's result, if there is still time for it.
    fn derivation(&mut self, lane: &Lane<'_, Real>, reach: Reach) -> Option<Derivation> {
        let allowed = FUEL + u64::from(self.diagnosis.history.count()) / OPERATIONS_PER_STEP;
        let most = allowed.saturating_sub(self.settling.spent).min(MOST_STEPS as u64) as usize;
        let known = (&self.diagnosis.history, &self.diagnosis.operations, self.sums);
        let derivation = (most > 0).then(|| Derivation::of(known, lane, most, reach)).flatten();
        let steps = derivation.as_ref().map_or(most / 8, Derivation::len);
        self.settling.spent += steps as u64;
        derivation
    }

    /// Order of the reals of two floats of one format that are as near to each other as makes no difference to them:
    /// equal, if they are so in exact arithmetic; nothing if it is only that they cannot be told apart.
    pub(crate) fn told_apart(&mut self, x: &[Observed<'_, Real>; 2]) -> Option<Ordering> {
        // What the program does next depends on it: results that are found again do not take its share of the time.
        let settling = &mut self.settling;
        std::mem::swap(&mut settling.spent, &mut settling.spent_on_decisions);
        let order = self.order(x);
        let settling = &mut self.settling;
        std::mem::swap(&mut settling.spent, &mut settling.spent_on_decisions);
        order
    }

    fn order(&mut self, [a, b]: &[Observed<'_, Real>; 2]) -> Option<Ordering> {
        if Source::of_seen(a).is_same(&Source::of_seen(b)) {
            return Some(Ordering::Equal);
        }
        if !self.settings.settles || a.format != b.format {
            return None;
        }
        let (site, format) = (Site::NONE, a.format);
        let (x, shadows) = ([a.bits, b.bits], [a.shadow, b.shadow]);
        let lane = Lane { site, op: Op::Sub, from: format, to: format, x: &x, r: 0, shadows: &shadows };
        if self.is_identically_zero(&lane) {
            return Some(Ordering::Equal);
        }
        let last = self.derivation(&lane, Reach::End)?;
        if last.is_zero(&self.arithmetic.mpfr, Roots::Any) {
            return Some(Ordering::Equal);
        }
        let whole = self.derivation(&lane, Reach::Whole)?;
        match self.found_again(&whole).filter(|found| !found.value.is_zero()) {
            Some(found) if found.value.is_sign_negative() => Some(Ordering::Less),
            Some(_) => Some(Ordering::Greater),
            None => whole.is_zero(&self.arithmetic.mpfr, Roots::Either).then_some(Ordering::Equal),
        }
    }

    fn nothing(&self) -> (RealNumber, Option<f32>) {
        (self.arithmetic.zero(), None)
    }

    fn is_identically_zero(&mut self, lane: &Lane<'_, Real>) -> bool {
        let known = (&self.diagnosis.history, &self.diagnosis.operations, self.sums);
        let end = Derivation::of(known, lane, LAST_STEPS, Reach::End);
        let Some(end) = end else { return false };
        let shape = end.shape();
        if let Some(&is_zero) = self.settling.zeros.get(&shape) {
            return is_zero;
        }
        let is_zero = end.is_identically_zero(&self.to(ZERO_BITS));
        self.settling.spent += end.len() as u64;
        self.settling.zeros.insert(shape, is_zero);
        is_zero
    }

    /// Tells whether the result of an operation is known to be zero in exact arithmetic, whatever functions and roots are.
    fn is_zero(&mut self, lane: &Lane<'_, Real>) -> bool {
        let derivation = self.derivation(lane, Reach::End);
        derivation.is_some_and(|derivation| derivation.is_zero(&self.arithmetic.mpfr, Roots::Any))
    }

    fn to(&self, precision: u32) -> Mpfr {
        Mpfr { precision, ..self.arithmetic.mpfr.clone() }
    }

    /// With more and more bits, until as many are significant as reals have; zero, if that is all that it can be.
    fn found_again(&mut self, derivation: &Derivation) -> Option<Bounded> {
        let wanted = f64::from(self.settings.precision);
        let mut bits = 2 * self.settings.precision.max(256);
        loop {
            let mut found = derivation.value(&self.to(bits))?;
            self.settling.spent += derivation.len() as u64 * u64::from(bits / 256);
            let significant = found.significant_bits();
            if significant.is_none_or(|bits| bits < 2.0) && found.bound < NOTHING {
                found.value = Float::new(64);
                return Some(found);
            }
            if significant.is_some_and(|bits| bits >= wanted) {
                return Some(found);
            }
            if bits >= MOST_BITS {
                return significant.filter(|&bits| bits >= ENOUGH).map(|_| found);
            }
            let missing = significant.filter(|&bits| bits > 8.0).map(|bits| (wanted - bits) as u32 + 16);
            bits = missing.map_or(2 * bits, |missing| bits + missing).min(MOST_BITS);
        }
    }
}
