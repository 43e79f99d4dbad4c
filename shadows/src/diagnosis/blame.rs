//! Whose error a value carries: terms of its error, by operation, followed to first order through TABLE 1's partials.
//!
//! Three books are kept. *Roundings*: of every value, the few operations whose local rounding errors contribute most; signed, so
//! that what a compensated sum puts back cancels out. *Amplifications*: where, along the way of the largest of these, the
//! relative error grew. The third, [`influences`](super::influences), is of erroneous operations (their local error is
//! above the threshold) that the value depends on. Knows no spots.

use std::cmp::Ordering;

use super::influences::{Both, Few};
use super::operations::Id;
use super::scale::Scale;

/// Number of roundings that a value keeps.
const ROUNDINGS: usize = 3;
/// Number of amplifications.
const AMPLIFICATIONS: usize = 2;

/// Term of first order of an error, float less real: what one operation has contributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ErrorTerm {
    /// The operation that made the error.
    pub(crate) operation: Id,
    /// The size of the rounding; infinite where it is beyond measure.
    pub(crate) coefficient: f64,
}

/// `coefficient`, or infinity if it is beyond measure and stays so: 0 · ∞, ∞ − ∞.
#[inline(always)]
pub(crate) fn known(coefficient: f64) -> f64 {
    if coefficient.is_nan() { f64::INFINITY } else { coefficient }
}

/// `coefficient`, or infinity without its sign where it is beyond measure.
pub(crate) fn measurable(coefficient: f64) -> f64 {
    if coefficient.is_finite() { coefficient } else { f64::INFINITY }
}

/// Adds terms to a list, by operation. Lists of values that are made from each other have the same order mostly, so
/// that the place after the one last found is looked at first.
pub(crate) fn put_all(terms: &mut Vec<ErrorTerm>, others: impl Iterator<Item = ErrorTerm>) {
    let mut next = 0;
    for ErrorTerm { operation, coefficient } in others {
        let here = terms.get(next).is_some_and(|term| term.operation == operation);
        let place = if here { Some(next) } else { terms.iter().position(|term| term.operation == operation) };
        match place {
            Some(at) => {
                terms[at].coefficient = known(terms[at].coefficient + known(coefficient));
                next = at + 1;
            }
            None => terms.push(ErrorTerm { operation, coefficient: known(coefficient) }),
        }
    }
}

/// The largest first; ties by operation, so that runs are alike.
pub(crate) fn compare(a: &ErrorTerm, b: &ErrorTerm) -> Ordering {
    b.coefficient.abs().total_cmp(&a.coefficient.abs()).then(a.operation.cmp(&b.operation))
}

/// Places of a list of roundings; the last is free, or has what does not go into [`Roundings`].
const LANES: usize = 4;
/// The operation of a rounding that is not there.
const NOBODY: Id = Id::MAX;

/// The roundings that matter most to a value, the largest first. Two vectors of four words, as processors have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roundings {
    /// Operations that the coefficients belong to; the last is nobody's.
    pub operations: [u32; LANES],
    /// The bits of their coefficients, and the code of their [scale](Scale).
    pub coefficients: [u32; LANES],
}

/// Merging of the roundings of two operands. Processors have instructions that do it to all places at once; the result
/// is always that of [`Portable`].
pub trait Merging: Copy {
    /// The three largest of two lists without marks, each times its factor, and of one term more, `rounding`: an
    /// operation and its coefficient. Those of one operation are added up; coefficients that agree but for their last four bits are in the order
    /// in which they come.
    fn merge(self, lists: [(&Roundings, f32); 2], rounding: (u32, f32)) -> Roundings;

    /// Puts the terms of both values at `place`, if these are of the same operations or there are none of one of them. False, and
    /// nothing is put, where not, or where coefficients are too large or too small.
    fn join(self, both: Both<'_>, place: &mut Few) -> bool;
}

/// Merging as any processor does it.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Merging for Portable {
    #[inline(always)]
    fn merge(self, lists: [(&Roundings, f32); 2], rounding: (u32, f32)) -> Roundings {
        merge_any(lists, rounding)
    }

    #[inline(always)]
    fn join(self, both: Both<'_>, place: &mut Few) -> bool {
        let joined = Few::joined(both);
        *place = joined.unwrap_or(*place);
        joined.is_some()
    }
}

#[inline(always)]
fn merge_any<const GROUPS: usize>(
    lists: [(&Roundings, f32); GROUPS],
    (operation, coefficient): (Id, f32),
) -> Roundings {
    let mut merged = Merged { operations: [[NOBODY; LANES]; GROUPS], coefficients: [[0.0; LANES]; GROUPS] };
    for (nth, (roundings, scale)) in lists.into_iter().enumerate() {
        merged.operations[nth] = roundings.operations;
        let [a, b, c, _] = roundings.coefficients;
        merged.coefficients[nth] = [a, b, c, 0].map(|coefficient| f32::from_bits(coefficient) * scale);
    }
    merged.add(operation, coefficient);
    for second in 1..GROUPS {
        for first in 0..second {
            merged.join(first, second);
        }
    }
    let [a, b, c] = merged.largest();
    Roundings {
        operations: [a.0, b.0, c.0, NOBODY],
        coefficients: [a.1.to_bits(), b.1.to_bits(), c.1.to_bits(), 0],
    }
}

/// The coefficient if `kept`, else nothing. What is kept cannot be foreseen: this is arithmetic, not a branch.
#[inline(always)]
fn masked(coefficient: f32, kept: bool) -> f32 {
    f32::from_bits(coefficient.to_bits() & mask(kept))
}

#[inline(always)]
fn mask(kept: bool) -> u32 {
    0_u32.wrapping_sub(kept.into())
}

/// Lists of roundings being merged, one after the other. Everything is done to all places at once: processors have
/// instructions for that.
struct Merged<const GROUPS: usize> {
    operations: [[Id; LANES]; GROUPS],
    coefficients: [[f32; LANES]; GROUPS],
}

impl<const GROUPS: usize> Merged<GROUPS> {
    /// Adds a rounding, at its operation's place in the first list or at the free one.
    #[inline(always)]
    fn add(&mut self, operation: Id, coefficient: f32) {
        let mut known = 0;
        for lane in 0..ROUNDINGS {
            let same = self.operations[0][lane] == operation;
            self.coefficients[0][lane] += masked(coefficient, same);
            known |= mask(same);
        }
        self.operations[0][ROUNDINGS] = operation | known;
        self.coefficients[0][ROUNDINGS] = f32::from_bits(coefficient.to_bits() & !known);
    }

    /// Adds up, in the first list, the roundings of an operation that is in both.
    #[inline(always)]
    fn join(&mut self, first: usize, second: usize) {
        let (mine, others) = (self.operations[first], self.operations[second]);
        let coefficients = self.coefficients[second];
        let (mut known, mut added) = ([0; LANES], [0; LANES]);
        for turn in 0..LANES {
            for lane in 0..LANES {
                let other = (lane + turn) % LANES;
                // No operation is twice in a list.
                added[lane] |= coefficients[other].to_bits() & mask(mine[lane] == others[other]);
            }
            for (other, known) in known.iter_mut().enumerate() {
                *known |= mask(others[other] == mine[(other + turn) % LANES]);
            }
        }
        for (sum, added) in self.coefficients[first].iter_mut().zip(added) {
            *sum += f32::from_bits(added);
        }
        for (other, known) in known.into_iter().enumerate() {
            self.operations[second][other] |= known;
            self.coefficients[second][other] = f32::from_bits(coefficients[other].to_bits() & !known);
        }
    }

    /// The three largest, the largest first. Those that agree but for their last bits are in the order in which they
    /// come.
    #[inline(always)]
    fn largest(&self) -> [(Id, f32); ROUNDINGS] {
        const PLACE: u32 = 0xf;
        let mut keys = [[0; LANES]; GROUPS];
        for (list, coefficients) in self.coefficients.iter().enumerate() {
            for (lane, coefficient) in coefficients.iter().enumerate() {
                keys[list][lane] =
                    (coefficient.abs().to_bits() & !PLACE) | (PLACE - (LANES * list + lane) as u32);
            }
        }
        let mut places = [0; ROUNDINGS];
        for place in &mut places {
            let mut largest = keys[0];
            for list in &keys[1..] {
                for lane in 0..LANES {
                    largest[lane] = largest[lane].max(list[lane]);
                }
            }
            let [a, b, c, d] = largest;
            let largest = a.max(b).max(c.max(d));
            for key in keys.as_flattened_mut() {
                *key &= !mask(*key == largest);
            }
            *place = (PLACE - (largest & PLACE)) as usize % (LANES * GROUPS);
        }
        let at =
            |place: usize| (self.operations.as_flattened()[place], self.coefficients.as_flattened()[place]);
        let [first, second, third] = places;
        [at(first), at(second), at(third)]
    }
}

impl Roundings {
    pub(crate) const NONE: Roundings = Roundings { operations: [NOBODY; LANES], coefficients: [0; LANES] };

    /// Roundings of the operands, each with the factor that makes its coefficients the result's, and a new one.
    pub(crate) fn combine<const GROUPS: usize>(
        operands: [(&Roundings, f32); GROUPS],
        rounding: (Id, f32),
        scale: Scale,
    ) -> Roundings {
        merge_any(operands, rounding).checked().marked(scale)
    }

    /// The list with another scale, whose coefficients these are.
    #[inline(always)]
    pub(crate) fn marked(self, scale: Scale) -> Roundings {
        let [a, b, c, _] = self.coefficients;
        Roundings { coefficients: [a, b, c, scale.code], ..self }
    }

    /// The list without a mark of its scale, to be [merged](Merging::merge).
    #[inline(always)]
    pub(crate) fn unmarked(&self) -> Roundings {
        let [a, b, c, _] = self.coefficients;
        Roundings { coefficients: [a, b, c, 0], ..*self }
    }

    /// Contribution of the largest term to a result, with that factor, whatever its sign.
    #[inline(always)]
    pub(crate) fn brought(&self, factor: f32) -> f32 {
        (f32::from_bits(self.coefficients[0]) * factor).abs()
    }

    /// `self`; no roundings where a term is beyond measure, which is not followed. Such a term would be the first.
    #[inline(always)]
    fn checked(self) -> Roundings {
        if f32::from_bits(self.coefficients[0]).is_finite() { self } else { Roundings::NONE }
    }

    /// Code of the scale of the coefficients.
    #[inline(always)]
    pub(crate) fn scale_code(&self) -> u32 {
        self.coefficients[ROUNDINGS]
    }

    /// Scale of the coefficients; `x` is the float.
    pub(crate) fn scale(&self, x: f64) -> Scale {
        Scale::of_code(self.scale_code(), x)
    }

    /// Roundings of ±2^power times the value, and whether the signs of terms turned over.
    pub(crate) fn scaled(&self, negate: bool, power: i32) -> (Roundings, bool) {
        let Roundings { operations, coefficients: [a, b, c, code] } = *self;
        if code == 0 {
            return (*self, false);
        }
        let sign = u32::from(negate) << 31;
        let coefficients = [a ^ sign, b ^ sign, c ^ sign, Scale::scaled(code, power)];
        (Roundings { operations, coefficients }, negate)
    }

    /// The terms that are not nothing.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ErrorTerm> {
        self.all().filter(|term| term.coefficient != 0.0)
    }

    /// All terms, those too that have cancelled.
    pub(crate) fn all(&self) -> impl Iterator<Item = ErrorTerm> {
        let term = |(&operation, &coefficient): (&u32, &u32)| ErrorTerm {
            operation,
            coefficient: f64::from(f32::from_bits(coefficient)),
        };
        let pairs = self.operations.iter().zip(&self.coefficients).take(ROUNDINGS);
        pairs.map(term).filter(|term| term.operation != NOBODY)
    }
}

/// A factor for coefficients.
#[inline(always)]
pub(crate) fn narrow(factor: f64) -> f32 {
    // Nothing stays nothing.
    (factor as f32).clamp(f32::MIN, f32::MAX)
}

/// Operations at which relative error grew most, in bits: signed, as one turn of a loop may lose what the last has
/// gained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amplifications {
    operations: [Id; AMPLIFICATIONS],
    /// The bits of how many bits, an `f32`: choices between words are no branches, as those between floats are.
    coefficients: [u32; AMPLIFICATIONS],
}

impl Amplifications {
    pub(crate) const NONE: Amplifications =
        Amplifications { operations: [0; AMPLIFICATIONS], coefficients: [0; AMPLIFICATIONS] };

    /// The list after `operation` has made the error grow by `bits`.
    #[inline(always)]
    pub(crate) fn with(&self, operation: Id, bits: f64) -> Amplifications {
        let size = |coefficient: u32| coefficient & (u32::MAX >> 1);
        let gained = bits.clamp(-MOST_GAINED, MOST_GAINED) as f32;
        let ([first, second], [x, y]) = (self.operations, self.coefficients);
        let is_first = (first == operation) & (size(x) != 0);
        let is_second = !is_first & (second == operation) & (size(y) != 0);
        let known = is_first | is_second;
        // Which it is cannot be foreseen.
        let least_is_second = size(y) < size(x);
        let to_second = is_second | !known & least_is_second;
        let before = if to_second { y } else { x };
        let kept = !(known | (size(gained.to_bits()) > size(before)));
        let sum = (f32::from_bits(before) + gained).to_bits();
        let after = if known { sum } else { gained.to_bits() };
        let (to_first, to_second) = (!to_second & !kept, to_second & !kept);
        Amplifications {
            operations: [
                if to_first { operation } else { first },
                if to_second { operation } else { second },
            ],
            coefficients: [if to_first { after } else { x }, if to_second { after } else { y }],
        }
    }

    /// The operations and how many bits each gained.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Id, f64)> {
        let coefficient = |bits| f64::from(f32::from_bits(bits));
        self.operations
            .iter()
            .zip(&self.coefficients)
            .map(move |(&operation, &bits)| (operation, coefficient(bits)))
    }
}

/// Bits an operation can amplify an error by at once: all that the widest format has.
const MOST_GAINED: f64 = 64.0;

#[cfg(test)]
mod tests;
