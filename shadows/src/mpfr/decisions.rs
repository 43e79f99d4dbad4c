//! Decisions: comparisons of floats and their conversions to integers, and whether the reals would have decided so too.
//!
//! Knows nothing of what a program does with a decision: it follows the floats in any case.

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::reals::{Reals, Rounding};
use shadowgrind_core::shadow::Seen;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};

use super::certainty::Certainty;
use super::history::Source;
use super::lean::Recurring;
use super::number::RealNumber;
use super::operations::{Id, What};
use super::real::Real;
use super::{MpfrShadow, Value, convert, fitted};

const F64: Format = Format::F64;

impl MpfrShadow {
    /// A comparison: does it come out as in the reals?
    pub(super) fn compared(&mut self, site: Site, predicate: Predicate, x: [Seen<'_, Value>; 2]) {
        if x.iter().all(|x| x.shadow.is_none()) {
            return;
        }
        let floats = x.each_ref().map(|x| RealNumber::from_bits(x.format, x.bits));
        let real = |n: usize| x[n].shadow.map_or(&floats[n], Real::value);
        let (a, b) = (real(0), real(1));
        let flips =
            decides(predicate, relation(&floats[0], &floats[1])) != decides(predicate, relation(a, b));
        let format = (x[0].format, x[1].format);
        let id = self.operations.at(site, What::Compare(predicate), format);
        self.operations[id].count += 1;
        if !flips {
            return;
        }
        let noise = x.iter().filter_map(|x| x.shadow?.certainty.noise()).reduce(f32::max);
        let noise = noise.map_or(Certainty::Exact { last: 0 }, Certainty::Below);
        if within(&Float::with_val(64, &*a.float() - &*b.float()), noise) {
            self.operations[id].unsettled += 1;
        } else {
            self.flipped(id, &x);
        }
    }

    /// The same of doubles that are above or below each other as surely as their reals are; or nothing, where that is
    /// not seen at once.
    pub fn compares_alike(
        &mut self,
        (at, predicate): (&mut Recurring, Predicate),
        x: [f64; 2],
        shadows: [Option<&Real>; 2],
    ) -> bool {
        if shadows[0].is_none() & shadows[1].is_none() {
            return true;
        }
        // Rounding keeps the order of numbers that it does not make equal.
        let nearest = |n: usize| shadows[n].map_or(Some(x[n]), |shadow| shadow.value().near_double());
        let ([a, b], Some(p), Some(q)) = (x, nearest(0), nearest(1)) else { return false };
        let alike = (a < b) & (p < q) | (a > b) & (p > q);
        if alike & self.settings.fast {
            let id = at.operation(|site| self.operations.at(site, What::Compare(predicate), (F64, F64)));
            self.operations[id].count += 1;
        }
        alike & self.settings.fast
    }

    /// A conversion to an integer: is it the integer that the real would become?
    pub(super) fn converted(&mut self, site: Site, how: ToInteger, x: Seen<'_, Value>) {
        let Some(shadow) = x.shadow else { return };
        self.round_as(x.format);
        let id = self.operations.at(site, What::Integer(how), (x.format, x.format));
        self.operations[id].count += 1;
        if self.converts_alike(how, &x, shadow) {
            return;
        }
        let value = shadow.value().float();
        let integer = |x: &Float| match how {
            ToInteger::Truncate => x.clone().trunc(),
            ToInteger::Round => self.rounded_to_integer(x),
        };
        let (float, real) = (integer(&convert::from_bits(x.format, x.bits)), integer(&value));
        let flips = float != real && !(float.is_nan() && real.is_nan());
        // Decisions change at integers when cutting off, half-way between when rounding.
        let mut border = Float::with_val(value.prec(), &float + &real);
        border /= 2u32;
        let noise = shadow.certainty;
        let near = |border: &Float| within(&Float::with_val(64, &*value - border), noise);
        let near = near(&border) || near(&float) || near(&real);
        match (flips, near) {
            (true, true) => self.operations[id].unsettled += 1,
            (true, false) => self.flipped(id, &[x]),
            (false, _) => {}
        }
    }

    /// Whether the real becomes the same integer for sure, as is seen from the double that is next to it: where that is
    /// between the places at which integers change, so is the real.
    fn converts_alike(&self, how: ToInteger, x: &Seen<'_, Value>, shadow: &Real) -> bool {
        let integer: fn(f64) -> f64 = match (how, self.reals.mpfr.current) {
            (ToInteger::Truncate, _) => f64::trunc,
            (ToInteger::Round, Rounding::NearestEven) => f64::round_ties_even,
            _ => return false,
        };
        let (float, next) = (x.format.to_f64(x.bits), f64::from_bits(shadow.rounded(Format::F64) as u64));
        let is_between = (2.0 * next).trunc() != 2.0 * next;
        x.format != Format::F80 && is_between && integer(float) == integer(next)
    }

    fn rounded_to_integer(&self, x: &Float) -> Float {
        let exact = super::reals::Mpfr { precision: x.prec(), ..self.reals.mpfr };
        exact.round(x, Rounding::Current)
    }

    /// Counts a decision that the reals make otherwise, unless it is held back.
    fn flipped(&mut self, id: Id, x: &[Seen<'_, Value>]) {
        let worst = self.worst(x).exp2();
        let sources: Vec<Source> = x.iter().map(source_of).collect();
        let known = self.operations[id].expression.take();
        let trace = self.trace(id, self.settings.expr_depth, false);
        self.operations[id].expression = fitted(known, trace, &sources, worst);
        if self.holds_back(id, x, worst) {
            return;
        }
        self.operations[id].flips += 1;
        self.operations[id].fault_error.add(worst);
        self.answered_for(id, x);
    }

    /// Decisions that were held back count now, if they have to.
    pub(super) fn settle(&mut self) {
        for doubt in self.confirmed_doubts() {
            let operation = &mut self.operations[doubt.id];
            operation.flips += doubt.error.count;
            operation.fault_error.join(&doubt.error);
            self.answered_for(doubt.id, &doubt.seen());
        }
    }

    /// Error bits of the operand that is worst.
    fn worst(&self, x: &[Seen<'_, Value>]) -> f64 {
        let bits = x.iter().filter(|x| x.shadow.is_some()).map(|x| self.measure(x).error_bits);
        bits.fold(0.0, f64::max)
    }

    /// Asks who made the operands of a decision wrong.
    fn answered_for(&mut self, id: Id, x: &[Seen<'_, Value>]) {
        let mut causes = Vec::new();
        for seen in x {
            let Some(shadow) = seen.shadow else { continue };
            let bits = self.measure(seen).error_bits;
            causes.extend(self.blame(shadow, seen, bits, None));
        }
        let causes: Vec<Site> = causes.into_iter().map(|cause| self.operations[cause].site).collect();
        let operation = &mut self.operations[id];
        causes.into_iter().for_each(|site| operation.caused_by(site));
    }
}

/// What was looked at, as the history knows it.
fn source_of(seen: &Seen<'_, Value>) -> Source {
    Source { format: seen.format, bits: seen.bits, serial: seen.shadow.map_or(0, |shadow| shadow.serial) }
}

/// The one bit of [`Predicate`] that holds between two numbers.
fn relation(a: &RealNumber, b: &RealNumber) -> u8 {
    match a.compare(b) {
        Some(std::cmp::Ordering::Less) => Predicate::LESS,
        Some(std::cmp::Ordering::Equal) => Predicate::EQUAL,
        Some(std::cmp::Ordering::Greater) => Predicate::GREATER,
        None => Predicate::UNORDERED,
    }
}

/// What a comparison says: itself, where all relations are told apart.
fn decides(predicate: Predicate, relation: u8) -> u8 {
    if predicate == Predicate::ORDER { relation } else { u8::from(predicate.0 & relation != 0) }
}

/// Whether a difference is no more than the reals' own noise.
fn within(difference: &Float, noise: Certainty) -> bool {
    match difference.get_exp() {
        Some(exponent) => noise.covers(exponent),
        None => difference.is_zero() && noise.noise().is_some(),
    }
}
