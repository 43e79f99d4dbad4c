//! Spots: where floats leave the float world, how wrong they are there, and who is to blame.
//!
//! A spot blames the *influences* of its value: erroneous operations, by the error bits that the value would have had if
//! nothing else had gone wrong.
//! Where those leave more than half of its error bits unexplained, it blames operations at which the error grew little by
//! little, and the few whose roundings make up most of it (accumulation). An erroneous spot always blames someone.

use hashbrown::HashMap;
use shadowgrind_core::findings::{Judgement, Spread};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::Notation;

use super::blame::{Part, known};
use super::operations::{Id, Tally};
use super::special::is_special;
use crate::mpfr::measure::{self, Measured};
use crate::mpfr::real::Real;
use crate::mpfr::text::Compared;
use crate::mpfr::{MpfrShadow, Value};

/// Share of an error that an operation must have to be worth a word.
const WORTH_NAMING: f64 = 0.02;

/// Way by which floats leave.
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
    /// The way by which it leaves.
    pub kind: SpotKind,
    /// The site at which it leaves.
    pub site: Site,
    pub(crate) error: Tally,
    /// Number of those above the threshold.
    pub erroneous: u64,
    /// The worst float and what it should have been.
    pub worst: Option<(Format, u128, Measured)>,
}

impl Spot {
    /// Number of floats that left here.
    pub fn count(&self) -> u64 {
        self.error.count
    }

    /// Their error bits.
    pub fn error_bits(&self) -> Spread {
        self.error.spread().unwrap_or_default()
    }
}

/// Statement about a float that left.
#[derive(Clone, Debug)]
pub struct Left {
    /// The distance from its real.
    pub measured: Measured,
    /// The judgement on it.
    pub judgement: Judgement,
    /// The text of the real, if that is another than the float's.
    pub exact: Option<String>,
    /// True if it is that text whatever the real may be off by.
    pub is_known: bool,
}

/// Statement about a float that leaves as text in this notation, if that is known; it is wrong if it is off by more than
/// `threshold` bits.
pub fn verdict(seen: &Observed<'_, Value>, notation: Option<&Notation>, threshold: f64) -> Left {
    let measured = measure::measure(seen.format, seen.bits, seen.shadow);
    let text = notation.map(|notation| Compared::of(seen, notation));
    let judgement = judged(seen, measured.error_bits > threshold, text.as_ref());
    let is_known = text.as_ref().is_some_and(|text| text.is_known);
    Left { measured, judgement, exact: text.and_then(|text| text.exact), is_known }
}

/// Judgement on a float, of which its text shows what that says; `is_off`: it is off by more than it may be.
fn judged(seen: &Observed<'_, Value>, is_off: bool, text: Option<&Compared>) -> Judgement {
    let Some(shadow) = seen.shadow else { return Judgement::Right };
    let overflowed = is_special(seen.format, seen.bits) && shadow.value().is_finite();
    let (format, bits) = measure::own_format(seen.format, seen.bits, shadow);
    let is_wrong = overflowed || is_off;
    match text {
        Some(text) if text.exact.is_none() && (text.is_sure || shadow.is_settled(format)) => Judgement::Right,
        Some(Compared { exact: None, .. }) => Judgement::Unsettled,
        _ if is_wrong && shadow.is_surely_off(format, bits) => Judgement::Wrong,
        _ if is_wrong || !shadow.is_settled(format) => Judgement::Unsettled,
        _ => Judgement::Right,
    }
}

/// All spots of a run.
#[derive(Debug, Default)]
pub(crate) struct Spots {
    by_site: HashMap<(Site, SpotKind), Spot>,
}

impl MpfrShadow {
    /// A float leaves at `site`, as text in this notation if that is known. `output` is its number among the outputs of
    /// the report, if it is one of those.
    pub fn leaves(
        &mut self,
        kind: SpotKind,
        site: Site,
        output: Option<u64>,
        seen: Observed<'_, Value>,
        notation: Option<&Notation>,
    ) -> Left {
        let left = verdict(&seen, notation, self.settings.error_threshold);
        let Left { measured, judgement, .. } = &left;
        // By definition no error: the real is NaN or rounds to infinity too. Somebody has to answer for it all the same.
        let special = seen.shadow.is_some() && is_special(seen.format, seen.bits);
        let bits = if special { seen.format.width().into() } else { measured.error_bits };
        let erroneous = special || *judgement == Judgement::Wrong;
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
        left
    }

    /// The places where floats left, by site.
    pub fn spots(&self) -> Vec<&Spot> {
        let mut spots: Vec<&Spot> = self.spots.by_site.values().collect();
        spots.sort_by_key(|spot| (spot.site, spot.kind));
        spots
    }

    /// Has the operations behind a value answer for its `bits` of error. Returns whom.
    pub(crate) fn blame(
        &mut self,
        shadow: &Real,
        seen: &Observed<'_, Value>,
        bits: f64,
        output: Option<u64>,
    ) -> Vec<Id> {
        let error = shadow.error_of(seen.format, seen.bits);
        let (format, _) = measure::own_format(seen.format, seen.bits, shadow);
        let unit = shadow.unit(seen.format.to_f64(seen.bits)).size;
        let absolute = |part: Part| Part { amount: known(part.amount * unit), ..part };
        let influences: Vec<Part> = shadow.influences.parts().into_iter().map(absolute).collect();
        let mut best: f64 = 0.0;
        let mut blamed = Vec::new();
        let largest = influences.iter().fold(0.0, |largest: f64, part| largest.max(part.amount.abs()));
        let least = WORTH_NAMING * largest.min(error.abs());
        let whole = Whole::new(error, &influences);
        for part in influences.iter().filter(|part| part.amount.abs() >= least) {
            let explained = measure::bits_of(format, shadow, part.amount).min(bits);
            if explained > 0.0 {
                best = best.max(explained);
                let operation = &mut self.operations[part.operation];
                let is_special = part.amount.is_infinite() && operation.births.count > 0;
                let reach = if is_special { &mut operation.special } else { &mut operation.culprit };
                reach.add(bits, whole.share(part.amount), output);
                blamed.push(part.operation);
            }
        }
        let explained = best;
        if best < bits / 2.0 {
            best = best.max(self.blame_gains(shadow, bits, output, &mut blamed));
        }
        let by_gains = best > explained;
        let accumulated = best < bits / 2.0 || blamed.is_empty();
        let roundings: Vec<Part> = shadow.roundings.iter().map(absolute).collect();
        for part in &roundings {
            // Signed: what was compensated has no share.
            let share = (part.amount / error).min(1.0);
            let operation = &mut self.operations[part.operation];
            let absorbs = operation.absorbs() && share > 0.5;
            if share > WORTH_NAMING && (accumulated || absorbs || by_gains) {
                let weight = if accumulated { 1.0 } else { 0.5 };
                operation.accumulated.add(weight * bits, share, output);
                blamed.push(part.operation);
            }
        }
        if blamed.is_empty() {
            let alone = |part: &Part| measure::bits_of(format, shadow, part.amount).min(bits);
            let largest = roundings.first().filter(|part| part.amount.abs() < WORTH_NAMING * error.abs());
            match largest.filter(|_| influences.is_empty()) {
                Some(part) => {
                    self.conditioning.add(part.operation, alone(part), bits, output);
                    blamed.push(part.operation);
                }
                None => blamed = self.blame_anyone(&roundings, &influences, bits, output),
            }
        }
        blamed
    }

    /// Blames operations at which the error grew, each time by less than makes a local error, but by half of its bits
    /// altogether. Returns the bits that the foremost gained.
    fn blame_gains(&mut self, shadow: &Real, bits: f64, output: Option<u64>, blamed: &mut Vec<Id>) -> f64 {
        let mut best: f64 = 0.0;
        for (id, gained) in shadow.amplifications.iter().filter(|(_, gained)| *gained > bits / 2.0) {
            let gained = gained.min(bits);
            // What would not be, had it not grown here.
            self.operations[id].amplified.add(bits, 1.0 - f64::exp2(-gained), output);
            best = best.max(gained);
            blamed.push(id);
        }
        best
    }

    /// First order does not explain the error, so that shares mean nothing: whatever is known is named.
    fn blame_anyone(
        &mut self,
        roundings: &[Part],
        influences: &[Part],
        bits: f64,
        output: Option<u64>,
    ) -> Vec<Id> {
        let (parts, at_fault) = if influences.is_empty() { (roundings, false) } else { (influences, true) };
        for part in parts {
            let operation = &mut self.operations[part.operation];
            let reach = if at_fault { &mut operation.culprit } else { &mut operation.accumulated };
            reach.add(bits, 1.0 / parts.len() as f64, output);
        }
        parts.iter().map(|part| part.operation).collect()
    }
}

/// The error of a value: what shares are of.
#[derive(Clone, Copy, Debug)]
struct Whole {
    error: f64,
    /// Number of parts beyond measure.
    infinite: u32,
}

impl Whole {
    fn new(error: f64, parts: &[Part]) -> Whole {
        Whole { error, infinite: parts.iter().filter(|part| part.amount.is_infinite()).count() as u32 }
    }

    /// The share of a part, positive where it makes the error larger. Those beyond measure have all of it.
    fn share(&self, amount: f64) -> f64 {
        match self.infinite {
            0 => Some(amount / self.error).filter(|share| share.is_finite()).unwrap_or(0.0),
            infinite if amount.is_infinite() => 1.0 / f64::from(infinite),
            _ => 0.0,
        }
    }
}
