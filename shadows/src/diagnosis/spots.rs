//! Spots: where floats leave the float world, how wrong they are there, and who is to blame.
//!
//! A spot blames the *influences* of its value: erroneous operations, by the error bits that the value would have had if
//! nothing else had gone wrong.
//! Where those leave more than half of its error bits unexplained, it blames operations at which the error grew little by
//! little, and the few whose roundings make up most of it (accumulation). An erroneous spot always blames someone.

use shadowgrind_core::findings::{Judgement, RealText};
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::text::Notation;

use super::Diagnosis;
use super::blame::{ErrorTerm, known};
use super::number::{Attributed, Compared, Measured, Number};
use super::operations::Id;
use super::special::is_special;

/// Share of an error that an operation must have to be worth a word.
const WORTH_NAMING: f64 = 0.02;

/// Statement about a float that left.
#[derive(Clone, Debug)]
pub struct Left {
    /// The distance from its real.
    pub measured: Measured,
    /// The judgement on the float.
    pub judgement: Judgement,
    /// The text of the real.
    pub exact: RealText<String>,
}

/// Statement about a float that leaves as text in this notation, if that is known; it is wrong if it is off by more than
/// `threshold` bits.
pub(crate) fn verdict<N: Attributed>(
    seen: &Observed<'_, N>,
    notation: Option<&Notation>,
    threshold: f64,
) -> Left {
    let measured = N::measured(seen);
    let text = notation.map(|notation| N::compared(seen, notation));
    let judgement = judged(seen, measured.error_bits > threshold, text.as_ref());
    Left { measured, judgement, exact: text.map_or(RealText::Same, |text| text.exact) }
}

/// Judgement on a float, of which its text shows what that says; `is_off`: it is off by more than it may be.
fn judged<N: Attributed>(seen: &Observed<'_, N>, is_off: bool, text: Option<&Compared>) -> Judgement {
    let Some(shadow) = seen.shadow else { return Judgement::Right };
    let overflowed = is_special(seen.format, seen.bits) && shadow.number().is_finite();
    let (format, bits) = shadow.narrowed(seen.format, seen.bits);
    let is_wrong = overflowed || is_off;
    match text {
        Some(Compared { exact: RealText::Same, .. }) => Judgement::Right,
        // It is as good as its format allows, whatever its text should be.
        Some(Compared { differs: false, .. }) if shadow.is_settled(format) && !is_wrong => Judgement::Right,
        Some(Compared { differs: false, .. }) => Judgement::Unsettled,
        _ if is_wrong && shadow.is_surely_off(format, bits) => Judgement::Wrong,
        _ if is_wrong || !shadow.is_settled(format) => Judgement::Unsettled,
        _ => Judgement::Right,
    }
}

impl<N: Attributed> Diagnosis<N> {
    /// A float leaves, as text in this notation if that is known. `output` is its number among the outputs of the report, if
    /// it is one of those.
    pub(crate) fn leaves(
        &mut self,
        output: Option<u64>,
        seen: &Observed<'_, N>,
        notation: Option<&Notation>,
    ) -> Left {
        let left = verdict(seen, notation, self.settings.error_threshold);
        let Left { measured, judgement, .. } = &left;
        // By definition no error: the real is NaN or rounds to infinity too. Somebody has to answer for it all the same.
        let special = seen.shadow.is_some() && is_special(seen.format, seen.bits);
        let bits = if special { seen.format.width().into() } else { measured.error_bits };
        let erroneous = special || *judgement == Judgement::Wrong;
        if let (true, Some(shadow)) = (erroneous, seen.shadow) {
            self.blame(shadow, seen, bits, output);
        }
        left
    }

    /// Has those answer who made output `index`, which is `seen`, wrong by so many `bits`. Tells whether anybody is known.
    pub(crate) fn answers(&mut self, seen: &Observed<'_, N>, bits: f64, index: u64) -> bool {
        let Some(real) = seen.shadow.filter(|&real| explains(real, seen, bits)) else { return false };
        !self.blame(real, seen, bits, Some(index)).is_empty()
    }

    /// Has the operations behind a value answer for its `bits` of error. Returns whom.
    pub(crate) fn blame(
        &mut self,
        shadow: &N,
        seen: &Observed<'_, N>,
        bits: f64,
        output: Option<u64>,
    ) -> Vec<Id> {
        let error = shadow.number().error_of(seen.format, seen.bits);
        let (format, _) = shadow.narrowed(seen.format, seen.bits);
        let scale = shadow.scale(seen.format.to_f64(seen.bits)).size;
        let absolute = |term: ErrorTerm| ErrorTerm { coefficient: known(term.coefficient * scale), ..term };
        let influences: Vec<ErrorTerm> = shadow.influences().terms().into_iter().map(absolute).collect();
        let mut best: f64 = 0.0;
        let mut blamed = Vec::new();
        let largest = influences.iter().fold(0.0, |largest: f64, term| largest.max(term.coefficient.abs()));
        let least = WORTH_NAMING * largest.min(error.abs());
        let whole = Whole::new(error, &influences);
        for term in influences.iter().filter(|term| term.coefficient.abs() >= least) {
            let explained = shadow.bits_of(format, term.coefficient).min(bits);
            if explained > 0.0 {
                best = best.max(explained);
                let operation = &mut self.operations[term.operation];
                let is_special = term.coefficient.is_infinite() && operation.births.count > 0;
                let reach = if is_special { &mut operation.special } else { &mut operation.culprit };
                reach.add(bits, whole.share(term.coefficient), output);
                blamed.push(term.operation);
            }
        }
        let explained = best;
        if best < bits / 2.0 {
            best = best.max(self.blame_amplifications(shadow, bits, output, &mut blamed));
        }
        let by_amplification = best > explained;
        let accumulated = best < bits / 2.0 || blamed.is_empty();
        let roundings: Vec<ErrorTerm> = shadow.roundings().iter().map(absolute).collect();
        for term in &roundings {
            // Signed: what was compensated has no share.
            let share = (term.coefficient / error).min(1.0);
            let operation = &mut self.operations[term.operation];
            let absorbs = operation.absorbs() && share > 0.5;
            if share > WORTH_NAMING && (accumulated || absorbs || by_amplification) {
                let weight = if accumulated { 1.0 } else { 0.5 };
                operation.accumulated.add(weight * bits, share, output);
                blamed.push(term.operation);
            }
        }
        if blamed.is_empty() {
            let alone = |term: &ErrorTerm| shadow.bits_of(format, term.coefficient).min(bits);
            let largest =
                roundings.first().filter(|term| term.coefficient.abs() < WORTH_NAMING * error.abs());
            match largest.filter(|_| influences.is_empty()) {
                Some(term) => {
                    self.conditioning.add(term.operation, alone(term), bits, output);
                    blamed.push(term.operation);
                }
                None => blamed = self.blame_anyone(&roundings, &influences, bits, output),
            }
        }
        blamed
    }

    /// Blames operations at which the error grew, each time by less than makes a local error, but by half of its bits
    /// altogether. Returns the bits that the foremost gained.
    fn blame_amplifications(
        &mut self,
        shadow: &N,
        bits: f64,
        output: Option<u64>,
        blamed: &mut Vec<Id>,
    ) -> f64 {
        let mut best: f64 = 0.0;
        for (id, gained) in shadow.amplifications().iter().filter(|(_, gained)| *gained > bits / 2.0) {
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
        roundings: &[ErrorTerm],
        influences: &[ErrorTerm],
        bits: f64,
        output: Option<u64>,
    ) -> Vec<Id> {
        let (terms, at_fault) = if influences.is_empty() { (roundings, false) } else { (influences, true) };
        for term in terms {
            let operation = &mut self.operations[term.operation];
            let reach = if at_fault { &mut operation.culprit } else { &mut operation.accumulated };
            reach.add(bits, 1.0 / terms.len() as f64, output);
        }
        terms.iter().map(|term| term.operation).collect()
    }
}

/// Tells whether what is known of an error of so many bits explains it: a term is about as large, or it has grown by about as
/// many at one place, or it is the sum of many of which all are known.
fn explains<N: Attributed>(real: &N, seen: &Observed<'_, N>, bits: f64) -> bool {
    const ENOUGH: f64 = 0.1;
    const ENOUGH_GAINED: f64 = 0.25;
    let scale = real.scale(seen.format.to_f64(seen.bits)).size;
    let error = real.number().error_of(seen.format, seen.bits);
    let least = ENOUGH * error.abs();
    let terms = real.influences().terms().into_iter().chain(real.roundings().iter());
    let has_term = terms.map(|term| (term.coefficient * scale).abs()).any(|term| term >= least);
    has_term
        || !least.is_finite()
        || real.is_followed(error)
        || real.amplifications().iter().any(|(_, gained)| gained > ENOUGH_GAINED * bits)
}

/// The error of a value: what shares are of.
#[derive(Clone, Copy, Debug)]
struct Whole {
    error: f64,
    /// Number of terms beyond measure.
    infinite: u32,
}

impl Whole {
    fn new(error: f64, terms: &[ErrorTerm]) -> Whole {
        Whole { error, infinite: terms.iter().filter(|term| term.coefficient.is_infinite()).count() as u32 }
    }

    /// The share of a term, positive where it makes the error larger. Those beyond measure have all of it.
    fn share(&self, coefficient: f64) -> f64 {
        match self.infinite {
            0 => Some(coefficient / self.error).filter(|share| share.is_finite()).unwrap_or(0.0),
            infinite if coefficient.is_infinite() => 1.0 / f64::from(infinite),
            _ => 0.0,
        }
    }
}
