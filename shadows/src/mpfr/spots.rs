//! Spots: where floats leave the float world, how wrong they are there, and who is to blame.
//!
//! A spot blames the *influences* of its value: operations at fault, by the error bits that the value would have had if
//! nothing else had gone wrong.
//! Where those leave more than half of its error bits unexplained, it blames operations at which the error grew little by
//! little, and the few whose roundings make up most of it (accumulation). An erroneous spot always blames someone.

use hashbrown::HashMap;
use rug::Float;
use shadowgrind_core::findings::Spread;
use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::shadow::Seen;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};

use super::blame::Part;
use super::certainty::Certainty;
use super::history::Source;
use super::measure::{self, Measured};
use super::number::RealNumber;
use super::operations::{Id, Tally, What};
use super::real::Real;
use super::{MpfrShadow, Value, convert, fitted};

/// What share of an error a rounding must have to be worth a word.
const WORTH_NAMING: f64 = 0.02;

/// Which way floats leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpotKind {
    /// Printed, or named as output.
    Printed,
    /// Marked by the program.
    Marked,
    /// Written in binary form.
    Written,
}

/// Everything that left at one place one way.
#[derive(Clone, Debug)]
pub struct Spot {
    /// Which way.
    pub kind: SpotKind,
    /// Where.
    pub site: Site,
    pub(super) error: Tally,
    /// How many were above the threshold.
    pub erroneous: u64,
    /// The worst float and what it should have been.
    pub worst: Option<(Format, u128, Measured)>,
}

impl Spot {
    /// How many floats left here.
    pub fn count(&self) -> u64 {
        self.error.count
    }

    /// Their error bits.
    pub fn error_bits(&self) -> Spread {
        self.error.spread().unwrap_or_default()
    }
}

/// All spots of a run.
#[derive(Debug, Default)]
pub(super) struct Spots {
    by_site: HashMap<(Site, SpotKind), Spot>,
}

impl MpfrShadow {
    /// A float leaves at `site`. `output` is its number among the outputs of the report, if it is one of those.
    pub fn leaves(
        &mut self,
        kind: SpotKind,
        site: Site,
        output: Option<u64>,
        seen: Seen<'_, Value>,
    ) -> Measured {
        let measured = self.measure(&seen);
        // By definition no error: the real rounds to infinity too. But it is not infinite.
        let overflowed = is_infinite(&seen) && seen.shadow.is_some_and(|shadow| shadow.value().is_finite());
        let bits = if overflowed { seen.format.width().into() } else { measured.error_bits };
        let erroneous = bits > self.settings.error_threshold;
        let spot = self.spots.by_site.entry((site, kind)).or_insert_with(|| Spot {
            kind,
            site,
            error: Tally::default(),
            erroneous: 0,
            worst: None,
        });
        spot.error.add(measured.error_bits);
        spot.erroneous += u64::from(erroneous);
        if spot.worst.as_ref().is_none_or(|(_, _, worst)| measured.error_bits > worst.error_bits) {
            spot.worst = Some((seen.format, seen.bits, measured.clone()));
        }
        if let (true, Some(shadow)) = (erroneous, seen.shadow) {
            self.blame(shadow, &seen, bits, output);
        }
        measured
    }

    /// The places where floats left, by site.
    pub fn spots(&self) -> Vec<&Spot> {
        let mut spots: Vec<&Spot> = self.spots.by_site.values().collect();
        spots.sort_by_key(|spot| (spot.site, spot.kind));
        spots
    }

    /// Has the operations behind a value answer for its `bits` of error. Returns whom.
    fn blame(&mut self, shadow: &Real, seen: &Seen<'_, Value>, bits: f64, output: Option<u64>) -> Vec<Id> {
        let error = shadow.error_of(seen.format, seen.bits);
        let (format, _) = measure::own_format(seen.format, seen.bits, shadow);
        let influences: Vec<Part> = shadow.influences.parts();
        let mut best: f64 = 0.0;
        let mut blamed = Vec::new();
        for part in &influences {
            let explained = measure::bits_of(format, shadow, part.amount).min(bits);
            if explained > 0.0 {
                best = best.max(explained);
                let share = (part.amount / error).abs().min(1.0);
                self.operations[part.operation].culprit.add(explained, share, output);
                blamed.push(part.operation);
            }
        }
        let explained = best;
        if best < bits / 2.0 {
            best = best.max(self.blame_gains(shadow, bits, output, &mut blamed));
        }
        let by_gains = best > explained;
        let accumulated = best < bits / 2.0 || blamed.is_empty();
        for part in shadow.roundings.iter() {
            // Signed: what was compensated has no share.
            let share = (part.amount / error).min(1.0);
            let operation = &mut self.operations[part.operation];
            let absorbs = operation.absorbs() && share > 0.5;
            if share > WORTH_NAMING && (accumulated || absorbs || by_gains) {
                let weight = if accumulated { 1.0 } else { 0.5 };
                operation.accumulated.add(weight * bits * share, share, output);
                blamed.push(part.operation);
            }
        }
        if blamed.is_empty() {
            blamed = self.blame_anyone(shadow, &influences, bits, output);
        }
        blamed
    }

    /// Blames operations at which the error grew, each time by less than makes a fault, but by half of its bits
    /// altogether. Returns the bits that the foremost gained.
    fn blame_gains(&mut self, shadow: &Real, bits: f64, output: Option<u64>, blamed: &mut Vec<Id>) -> f64 {
        let mut best: f64 = 0.0;
        for (id, gained) in shadow.gains.iter().filter(|(_, gained)| *gained > bits / 2.0) {
            let gained = gained.min(bits);
            self.operations[id].amplified.add(gained, gained / bits, output);
            best = best.max(gained);
            blamed.push(id);
        }
        best
    }

    /// First order does not explain the error, so that shares mean nothing: whatever is known is named.
    fn blame_anyone(
        &mut self,
        shadow: &Real,
        influences: &[Part],
        bits: f64,
        output: Option<u64>,
    ) -> Vec<Id> {
        let roundings: Vec<Part> = shadow.roundings.iter().collect();
        let (parts, at_fault) =
            if influences.is_empty() { (&roundings[..], false) } else { (influences, true) };
        for part in parts {
            let operation = &mut self.operations[part.operation];
            let reach = if at_fault { &mut operation.culprit } else { &mut operation.accumulated };
            reach.add(bits / parts.len() as f64, 1.0 / parts.len() as f64, output);
        }
        parts.iter().map(|part| part.operation).collect()
    }

    /// A comparison: does it come out as in the reals?
    pub(super) fn compared(&mut self, site: Site, predicate: Predicate, x: [Seen<'_, Value>; 2]) {
        if x.iter().all(|x| x.shadow.is_none()) {
            return;
        }
        let (a, b) = (x[0].real(), x[1].real());
        let [c, d] = x.each_ref().map(|x| RealNumber::from_bits(x.format, x.bits));
        let flips = decides(predicate, relation(&c, &d)) != decides(predicate, relation(&a, &b));
        let format = (x[0].format, x[1].format);
        let id = self.operations.at(site, What::Compare(predicate), format);
        self.operations[id].count += 1;
        if !flips {
            return;
        }
        let noise = x.iter().filter_map(InReals::noise).reduce(f32::max);
        let noise = noise.map_or(Certainty::Exact { last: 0 }, Certainty::Below);
        if within(&Float::with_val(64, &*a.float() - &*b.float()), noise) {
            self.operations[id].unsettled += 1;
        } else {
            self.flipped(id, &x);
        }
    }

    /// A conversion to an integer: is it the integer that the real would become?
    pub(super) fn converted(&mut self, site: Site, how: ToInteger, x: Seen<'_, Value>) {
        let Some(shadow) = x.shadow else { return };
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
        let id = self.operations.at(site, What::Integer(how), (x.format, x.format));
        self.operations[id].count += 1;
        match (flips, near) {
            (true, true) => self.operations[id].unsettled += 1,
            (true, false) => self.flipped(id, &[x]),
            (false, _) => {}
        }
    }

    fn rounded_to_integer(&self, x: &Float) -> Float {
        use shadowgrind_core::reals::{Reals, Rounding};
        let exact = super::reals::Mpfr { precision: x.prec(), ..self.reals.mpfr };
        exact.round(x, Rounding::Current)
    }

    /// Counts a decision that the reals make otherwise, and asks who made the operands wrong.
    fn flipped(&mut self, id: Id, x: &[Seen<'_, Value>]) {
        let mut causes = Vec::new();
        let mut worst: f64 = 0.0;
        for seen in x {
            let Some(shadow) = seen.shadow else { continue };
            let measured = self.measure(seen);
            worst = worst.max(measured.error_bits);
            causes.extend(self.blame(shadow, seen, measured.error_bits, None));
        }
        let causes: Vec<Site> = causes.into_iter().map(|cause| self.operations[cause].site).collect();
        let operation = &mut self.operations[id];
        operation.flips += 1;
        operation.fault_error.add(worst);
        causes.into_iter().for_each(|site| operation.caused_by(site));
        let sources: Vec<Source> = x.iter().map(source_of).collect();
        let known = self.operations[id].expression.take();
        let trace = self.trace(id, self.settings.expr_depth, false);
        self.operations[id].expression = fitted(known, trace, &sources, worst);
    }
}

/// What was looked at, as the history knows it.
fn source_of(seen: &Seen<'_, Value>) -> Source {
    Source { format: seen.format, bits: seen.bits, serial: seen.shadow.map_or(0, |shadow| shadow.serial) }
}

fn is_infinite(seen: &Seen<'_, Value>) -> bool {
    matches!(seen.format.decode(seen.bits), Number::Infinite { .. })
}

/// What [`Seen`] is in the reals.
trait InReals {
    fn real(&self) -> RealNumber;
    fn noise(&self) -> Option<f32>;
}

impl InReals for Seen<'_, Value> {
    fn real(&self) -> RealNumber {
        self.shadow
            .map_or_else(|| RealNumber::from_bits(self.format, self.bits), |shadow| shadow.value().clone())
    }

    fn noise(&self) -> Option<f32> {
        self.shadow.and_then(|shadow| shadow.certainty.noise())
    }
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
