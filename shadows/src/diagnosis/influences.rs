//! Erroneous operations that a value depends on, and how much of its error each of them made.
//!
//! Most values depend on few, which are kept with the value itself: nothing is allocated for them, and nothing has to be
//! looked up when values are merged.

use shadowgrind_core::ops::MAX_OPERANDS;
use triomphe::ThinArc;

use super::blame::{ErrorTerm, Merging, Portable, compare, known, measurable, narrow, put_all};

/// Number of influences that count as few.
const FEW: usize = 3;
/// Number of influences kept; beyond that the least are given up.
const MOST: usize = 32;

/// Erroneous operations that a value depends on, each with its term of the value's error.
#[derive(Clone, Debug)]
pub(crate) struct Influences {
    /// Operations that are kept here. Where there is a list, its factor is the first coefficient.
    few: Few,
    /// A list shared with the values it was made from.
    many: Option<ThinArc<(), ErrorTerm>>,
}

/// A few terms. Two vectors of four words, as processors have them, the one right after the other: they are written and read
/// as one of eight.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Few {
    /// Operations that the coefficients belong to, zeros after the last, and in the last place how many there are.
    pub operations: [u32; FEW + 1],
    /// The bits of their coefficients, infinite where these are beyond measure; the last is nothing.
    pub coefficients: [u32; FEW + 1],
}

/// Two values' terms, each with a factor.
pub type Both<'a> = [(&'a Few, f32); 2];

/// Factors from one over this to this are kept beside a list; others are worked into it.
const LARGEST_FACTOR: f64 = 1e30;

/// In place of an operand that depends on none.
const NOBODY: (&Influences, f32) = (&Influences::NONE, 0.0);

impl Influences {
    pub(crate) const NONE: Influences = Influences { few: Few::NONE, many: None };

    /// Operations that are no more than a few.
    #[inline(always)]
    pub(crate) fn few(few: Few) -> Influences {
        Influences { few, many: None }
    }

    fn many(terms: ThinArc<(), ErrorTerm>, factor: f32) -> Influences {
        let few = Few { coefficients: [factor.to_bits(), 0, 0, 0], ..Few::NONE };
        Influences { few, many: Some(terms) }
    }

    /// The list, with its factor.
    fn list(&self) -> Option<(&ThinArc<(), ErrorTerm>, f64)> {
        let factor = f32::from_bits(self.few.coefficients[0]);
        self.many.as_ref().map(|terms| (terms, factor.into()))
    }

    /// Influences of the operands, each with the factor that makes its coefficients the result's, and a new one if the operation
    /// is erroneous.
    pub(crate) fn combine(
        operands: [Option<(&Influences, f64)>; MAX_OPERANDS],
        local: Option<ErrorTerm>,
        scratch: &mut Vec<ErrorTerm>,
    ) -> Influences {
        let mut operands = operands.into_iter().flatten();
        let [first, second, third] = [operands.next(), operands.next(), operands.next()];
        let narrowed = |(influences, factor): (_, f64)| (influences, narrow(factor));
        let mut joined = Few::NONE;
        if let (Some(first), None, None) = (first.map(narrowed), third, local)
            && Influences::joined(Portable, first, second.map_or(NOBODY, narrowed), &mut joined)
        {
            return Influences::few(joined);
        }
        match (first, second, third, local) {
            (Some(only), None, None, None) => return only.0.scaled(only.1),
            (Some((a, p)), Some((b, q)), None, None) => match (a.list(), b.list()) {
                // Two descendants of one value, or one value twice: nothing to merge.
                (Some((terms, f)), Some((others, g))) if shares(terms, others) => {
                    return scaled_list(terms, 1.0, f * p + g * q);
                }
                (None, None) if let Some(few) = a.few.united(p, &b.few, q) => return Influences::few(few),
                _ => {}
            },
            _ => {}
        }
        scratch.clear();
        for (influences, partial) in [first, second, third].into_iter().flatten() {
            match influences.list() {
                None => put_all(scratch, scaled_terms(influences.few.iter(), partial)),
                Some((terms, factor)) => put_all(scratch, scaled_terms(list(terms, factor), partial)),
            }
        }
        put_all(scratch, local.into_iter());
        if scratch.len() > MOST {
            scratch.sort_unstable_by(compare);
            scratch.truncate(MOST);
        }
        if scratch.len() <= FEW {
            Influences::few(Few::of(scratch.iter().copied()))
        } else {
            Influences::many(ThinArc::from_header_and_slice((), scratch), 1.0)
        }
    }

    /// Puts influences of two operands, each with its factor, at `place`, where that takes no more than a few instructions:
    /// few operations, the same ones or of one operand only, as they mostly are. Tells whether it was so.
    #[inline(always)]
    pub(crate) fn joined<M: Merging>(
        merging: M,
        a: (&Influences, f32),
        b: (&Influences, f32),
        place: &mut Few,
    ) -> bool {
        if a.0.many.is_some() | b.0.many.is_some() {
            return false;
        }
        merging.join([(&a.0.few, a.1), (&b.0.few, b.1)], place)
    }

    /// Tells whether there are any.
    #[inline(always)]
    pub(crate) fn are_any(&self) -> bool {
        self.few.count() != 0 || self.many.is_some()
    }

    /// Influences of `factor` times the value.
    pub(crate) fn scaled(&self, factor: f64) -> Influences {
        match self.list() {
            None if factor == 1.0 => Influences::few(self.few),
            None => Influences::few(self.few.scaled(factor)),
            Some((terms, before)) => scaled_list(terms, before, before * factor),
        }
    }

    /// The terms.
    pub(crate) fn terms(&self) -> Vec<ErrorTerm> {
        match self.list() {
            None => self.few.iter().collect(),
            Some((terms, factor)) => list(terms, factor).collect(),
        }
    }
}

impl Few {
    /// The bits of the largest coefficient are between these where terms are [joined](Merging::join): far from the ends of
    /// what an `f32` holds.
    pub const LEAST: u32 = 1e-25_f32.to_bits();
    /// Largest coefficient that a list tells; [`LEAST`](Few::LEAST) is the smallest.
    pub const LARGEST: u32 = 1e25_f32.to_bits();

    /// None.
    pub const NONE: Few = Few { operations: [0; FEW + 1], coefficients: [0; FEW + 1] };

    #[inline(always)]
    fn count(&self) -> u32 {
        self.operations[FEW]
    }

    /// Terms, no more than a few.
    fn of(terms: impl Iterator<Item = ErrorTerm>) -> Few {
        let mut few = Few::NONE;
        for (index, term) in terms.enumerate().take(FEW) {
            few.operations[index] = term.operation;
            few.coefficients[index] = (term.coefficient as f32).to_bits();
            few.operations[FEW] = index as u32 + 1;
        }
        few
    }

    /// As any processor does it: see [`Merging::join`].
    #[inline(always)]
    pub(crate) fn joined([(few, scale), (other, other_scale)]: Both<'_>) -> Option<Few> {
        let (is_none, other_is_none) = (few.count() == 0, other.count() == 0);
        if !(is_none | other_is_none | (few.operations == other.operations)) {
            return None;
        }
        let mut coefficients = [0; FEW + 1];
        let mut largest = 0;
        for (n, place) in coefficients.iter_mut().enumerate().take(FEW) {
            let coefficient = f32::from_bits(few.coefficients[n]) * scale
                + f32::from_bits(other.coefficients[n]) * other_scale;
            *place = coefficient.to_bits();
            largest = largest.max(coefficient.abs().to_bits());
        }
        let operations = if is_none { other.operations } else { few.operations };
        (Few::LEAST..=Few::LARGEST).contains(&largest).then_some(Few { operations, coefficients })
    }

    /// List with others added, each with its factor, if that makes no more than a few.
    fn united(&self, partial: f64, other: &Few, other_partial: f64) -> Option<Few> {
        let mut terms = [ErrorTerm { operation: 0, coefficient: 0.0 }; FEW];
        let mut count = 0;
        let both = scaled_terms(self.iter(), partial).chain(scaled_terms(other.iter(), other_partial));
        for ErrorTerm { operation, coefficient } in both {
            match terms[..count].iter_mut().find(|term| term.operation == operation) {
                Some(term) => term.coefficient = known(term.coefficient + coefficient),
                None => {
                    *terms.get_mut(count)? = ErrorTerm { operation, coefficient };
                    count += 1;
                }
            }
        }
        Some(Few::of(terms[..count].iter().copied()))
    }

    /// The terms, each times `factor`.
    fn scaled(&self, factor: f64) -> Few {
        Few::of(scaled_terms(self.iter(), factor))
    }

    fn iter(&self) -> impl Iterator<Item = ErrorTerm> {
        let all = self.operations.iter().zip(&self.coefficients).take(self.count() as usize);
        let coefficient = |bits| f64::from(f32::from_bits(bits));
        all.map(move |(&operation, &bits)| ErrorTerm { operation, coefficient: coefficient(bits) })
    }
}

/// Terms, scaled by `factor`; those beyond measure stay so: 0 · ∞.
fn scaled_terms(terms: impl Iterator<Item = ErrorTerm>, factor: f64) -> impl Iterator<Item = ErrorTerm> {
    terms.map(move |ErrorTerm { operation, coefficient }| {
        let scaled = if coefficient.is_infinite() { f64::INFINITY } else { measurable(coefficient * factor) };
        ErrorTerm { operation, coefficient: scaled }
    })
}

/// The terms of a list with a factor.
fn list(terms: &ThinArc<(), ErrorTerm>, factor: f64) -> impl Iterator<Item = ErrorTerm> {
    scaled_terms(terms.slice.iter().copied(), factor)
}

/// Tells whether both are the same list.
fn shares(a: &ThinArc<(), ErrorTerm>, b: &ThinArc<(), ErrorTerm>) -> bool {
    std::ptr::eq(&raw const **a, &raw const **b)
}

/// A list that has factor `before`, with factor `factor`.
fn scaled_list(terms: &ThinArc<(), ErrorTerm>, before: f64, factor: f64) -> Influences {
    if (LARGEST_FACTOR.recip()..LARGEST_FACTOR).contains(&factor.abs()) {
        return Influences::many(terms.clone(), factor as f32);
    }
    let scaled: Vec<ErrorTerm> = scaled_terms(list(terms, before), factor / before).collect();
    Influences::many(ThinArc::from_header_and_slice((), &scaled), 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few(terms: &[(u32, f64)]) -> Few {
        Few::of(terms.iter().map(|&(operation, coefficient)| ErrorTerm { operation, coefficient }))
    }

    /// Erroneous operations of one lineage are merged as any are.
    #[test]
    fn lineages_merge_as_any_faults_do() {
        let lists = [
            few(&[]),
            few(&[(7, 1e-9)]),
            few(&[(7, -3.5e-9), (2, 1e-20), (4, 0.25)]),
            few(&[(7, 1e-12), (2, -1e-9), (4, 1e-30)]),
            few(&[(7, f64::INFINITY), (2, 1.0), (4, 1.0)]),
        ];
        let mut joined = 0;
        for (a, b) in lists.iter().flat_map(|a| lists.iter().map(move |b| (a, b))) {
            for (p, q) in [(1.0, -1.0), (0.125, 3e10), (0.0, 1e-30), (1.0, 1.0)] {
                let (x, y) = (Influences::few(*a), Influences::few(*b));
                let mut quick = Few::NONE;
                if !Influences::joined(Portable, (&x, p), (&y, q), &mut quick) {
                    continue;
                }
                let slow = a.united(p.into(), b, q.into()).expect("few");
                joined += 1;
                let terms = |few: &Few| -> Vec<ErrorTerm> { few.iter().collect() };
                let (quick, slow) = (terms(&quick), terms(&slow));
                let most = slow.iter().fold(0.0, |most: f64, term| most.max(term.coefficient.abs()));
                assert_eq!(quick.len(), slow.len());
                for (quick, slow) in quick.iter().zip(&slow) {
                    assert_eq!(quick.operation, slow.operation);
                    assert!(
                        (quick.coefficient - slow.coefficient).abs() <= 2e-7 * most,
                        "{quick:?}, not {slow:?}"
                    );
                }
            }
        }
        assert!(joined > 20, "{joined}");
    }

    /// Two vectors for a few, and a word for where many are.
    #[test]
    fn influences_are_no_wider_than_they_must_be() {
        assert_eq!(size_of::<Influences>(), 40);
    }
}
