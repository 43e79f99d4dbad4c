//! Erroneous operations that a value depends on, and how much of its error each of them made.
//!
//! Most values depend on few, which are kept with the value itself: nothing is allocated for them, and nothing has to be
//! looked up when values are merged.

use shadowgrind_core::ops::MAX_OPERANDS;
use triomphe::ThinArc;

use super::blame::{Merging, Part, Portable, compare, known, measurable, narrow, put_all};

/// Number of influences that count as few.
const FEW: usize = 3;
/// Number of influences kept; beyond that the least are given up.
const MOST: usize = 32;

/// Erroneous operations that a value depends on, each with its part of the value's error.
#[derive(Clone, Debug)]
pub(crate) struct Influences {
    /// Operations that are kept here. Where there is a list, its factor is the first amount.
    few: Few,
    /// A list shared with the values it was made from.
    many: Option<ThinArc<(), Part>>,
}

/// A few parts. Two vectors of four words, as processors have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Few {
    /// Whose they are, zero beyond them, and how many there are.
    pub operations: [u32; FEW + 1],
    /// The bits of their amounts, infinite where these are beyond measure; the last is nothing.
    pub amounts: [u32; FEW + 1],
}

/// Two values' parts, each with a factor.
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

    fn many(parts: ThinArc<(), Part>, factor: f32) -> Influences {
        let few = Few { amounts: [factor.to_bits(), 0, 0, 0], ..Few::NONE };
        Influences { few, many: Some(parts) }
    }

    /// The list, with its factor.
    fn list(&self) -> Option<(&ThinArc<(), Part>, f64)> {
        let factor = f32::from_bits(self.few.amounts[0]);
        self.many.as_ref().map(|parts| (parts, factor.into()))
    }

    /// Influences of the operands, each with the factor that makes its amounts the result's, and a new one if the operation
    /// is erroneous.
    pub(crate) fn combine(
        operands: [Option<(&Influences, f64)>; MAX_OPERANDS],
        own: Option<Part>,
        scratch: &mut Vec<Part>,
    ) -> Influences {
        let mut operands = operands.into_iter().flatten();
        let [first, second, third] = [operands.next(), operands.next(), operands.next()];
        let narrowed = |(influences, factor): (_, f64)| (influences, narrow(factor));
        if let (Some(first), None, None) = (first.map(narrowed), third, own)
            && let Some(joined) = Influences::joined(Portable, first, second.map_or(NOBODY, narrowed))
        {
            return Influences::few(joined);
        }
        match (first, second, third, own) {
            (Some(only), None, None, None) => return only.0.scaled(only.1),
            (Some((a, p)), Some((b, q)), None, None) => match (a.list(), b.list()) {
                // Two descendants of one value, or one value twice: nothing to merge.
                (Some((parts, f)), Some((others, g))) if shares(parts, others) => {
                    return scaled_list(parts, 1.0, f * p + g * q);
                }
                (None, None) if let Some(few) = a.few.united(p, &b.few, q) => return Influences::few(few),
                _ => {}
            },
            _ => {}
        }
        scratch.clear();
        for (influences, partial) in [first, second, third].into_iter().flatten() {
            match influences.list() {
                None => put_all(scratch, scaled_parts(influences.few.iter(), partial)),
                Some((parts, factor)) => put_all(scratch, scaled_parts(list(parts, factor), partial)),
            }
        }
        put_all(scratch, own.into_iter());
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

    /// Influences of two operands, each with its factor, where that takes no more than a few instructions: few operations,
    /// the same ones or of one operand only, as they mostly are.
    #[inline(always)]
    pub(crate) fn joined<M: Merging>(
        merging: M,
        a: (&Influences, f32),
        b: (&Influences, f32),
    ) -> Option<Few> {
        if a.0.many.is_some() | b.0.many.is_some() {
            return None;
        }
        merging.join([(&a.0.few, a.1), (&b.0.few, b.1)])
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
            Some((parts, own)) => scaled_list(parts, own, own * factor),
        }
    }

    /// The parts.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match self.list() {
            None => self.few.iter().collect(),
            Some((parts, factor)) => list(parts, factor).collect(),
        }
    }
}

impl Few {
    /// The bits of the largest amount are between these where parts are [joined](Merging::join): far from the ends of
    /// what an `f32` holds.
    pub const LEAST: u32 = 1e-25_f32.to_bits();
    /// Largest amount that a list tells; [`LEAST`](Few::LEAST) is the smallest.
    pub const LARGEST: u32 = 1e25_f32.to_bits();

    /// None.
    pub const NONE: Few = Few { operations: [0; FEW + 1], amounts: [0; FEW + 1] };

    #[inline(always)]
    fn count(&self) -> u32 {
        self.operations[FEW]
    }

    /// Parts, no more than a few.
    fn of(parts: impl Iterator<Item = Part>) -> Few {
        let mut few = Few::NONE;
        for (index, part) in parts.enumerate().take(FEW) {
            few.operations[index] = part.operation;
            few.amounts[index] = (part.amount as f32).to_bits();
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
        let mut amounts = [0; FEW + 1];
        let mut largest = 0;
        for (n, place) in amounts.iter_mut().enumerate().take(FEW) {
            let amount =
                f32::from_bits(few.amounts[n]) * scale + f32::from_bits(other.amounts[n]) * other_scale;
            *place = amount.to_bits();
            largest = largest.max(amount.abs().to_bits());
        }
        let operations = if is_none { other.operations } else { few.operations };
        (Few::LEAST..=Few::LARGEST).contains(&largest).then_some(Few { operations, amounts })
    }

    /// List with others added, each with its factor, if that makes no more than a few.
    fn united(&self, partial: f64, other: &Few, other_partial: f64) -> Option<Few> {
        let mut parts = [Part { operation: 0, amount: 0.0 }; FEW];
        let mut count = 0;
        let both = scaled_parts(self.iter(), partial).chain(scaled_parts(other.iter(), other_partial));
        for Part { operation, amount } in both {
            match parts[..count].iter_mut().find(|part| part.operation == operation) {
                Some(part) => part.amount = known(part.amount + amount),
                None => {
                    *parts.get_mut(count)? = Part { operation, amount };
                    count += 1;
                }
            }
        }
        Some(Few::of(parts[..count].iter().copied()))
    }

    /// These, with a factor.
    fn scaled(&self, factor: f64) -> Few {
        Few::of(scaled_parts(self.iter(), factor))
    }

    fn iter(&self) -> impl Iterator<Item = Part> {
        let all = self.operations.iter().zip(&self.amounts).take(self.count() as usize);
        let amount = |bits| f64::from(f32::from_bits(bits));
        all.map(move |(&operation, &bits)| Part { operation, amount: amount(bits) })
    }
}

/// Parts, scaled by `factor`; those beyond measure stay so: 0 · ∞.
fn scaled_parts(parts: impl Iterator<Item = Part>, factor: f64) -> impl Iterator<Item = Part> {
    parts.map(move |Part { operation, amount }| {
        let scaled = if amount.is_infinite() { f64::INFINITY } else { measurable(amount * factor) };
        Part { operation, amount: scaled }
    })
}

/// The parts of a list with a factor.
fn list(parts: &ThinArc<(), Part>, factor: f64) -> impl Iterator<Item = Part> {
    scaled_parts(parts.slice.iter().copied(), factor)
}

/// Tells whether both are the same list.
fn shares(a: &ThinArc<(), Part>, b: &ThinArc<(), Part>) -> bool {
    std::ptr::eq(&raw const **a, &raw const **b)
}

/// A list with another factor than its own.
fn scaled_list(parts: &ThinArc<(), Part>, own: f64, factor: f64) -> Influences {
    if (LARGEST_FACTOR.recip()..LARGEST_FACTOR).contains(&factor.abs()) {
        return Influences::many(parts.clone(), factor as f32);
    }
    let scaled: Vec<Part> = scaled_parts(list(parts, own), factor / own).collect();
    Influences::many(ThinArc::from_header_and_slice((), &scaled), 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few(parts: &[(u32, f64)]) -> Few {
        Few::of(parts.iter().map(|&(operation, amount)| Part { operation, amount }))
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
                let Some(quick) = Influences::joined(Portable, (&x, p), (&y, q)) else { continue };
                let slow = a.united(p.into(), b, q.into()).expect("few");
                joined += 1;
                let parts = |few: &Few| -> Vec<Part> { few.iter().collect() };
                let (quick, slow) = (parts(&quick), parts(&slow));
                let most = slow.iter().fold(0.0, |most: f64, part| most.max(part.amount.abs()));
                assert_eq!(quick.len(), slow.len());
                for (quick, slow) in quick.iter().zip(&slow) {
                    assert_eq!(quick.operation, slow.operation);
                    assert!((quick.amount - slow.amount).abs() <= 2e-7 * most, "{quick:?}, not {slow:?}");
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
