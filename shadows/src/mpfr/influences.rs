//! Operations at fault that a value depends on, and how much of its error each of them made.
//!
//! Most values depend on few, which are kept with the value itself: nothing is allocated for them, and nothing has to be
//! looked up when values are merged.

use shadowgrind_core::ops::MAX_OPERANDS;
use triomphe::ThinArc;

use super::blame::{Part, compare, exponent_of, known, power_of_two, put_all};
use super::operations::Id;

/// How many are few.
const FEW: usize = 3;
/// How many are kept; beyond that the least are given up.
const MOST: usize = 32;

/// See the module's description.
#[derive(Clone, Debug)]
pub(super) enum Influences {
    /// None, or not many.
    Few(Few),
    /// A list shared with the values it was made from, and a factor.
    Many(ThinArc<(), Part>, f32),
}

/// Parts as `amount · 2^exponent`; those beyond measure are infinite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Few {
    operations: [Id; FEW],
    count: Count,
    amounts: [f32; FEW],
    exponent: i32,
}

/// How many parts there are. A whole word of which most values mean nothing, so that a list can be told from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Count {
    None,
    One,
    Two,
    Three,
}

impl Count {
    const ALL: [Count; FEW + 1] = [Count::None, Count::One, Count::Two, Count::Three];
}

use Influences::Many;

/// Factors from one over this to this are kept beside a list; others are worked into it.
const LARGEST_FACTOR: f64 = 1e30;

/// In place of an operand that depends on none.
const NOBODY: (&Influences, f64) = (&Influences::NONE, 0.0);

impl Influences {
    pub(super) const NONE: Influences = Influences::Few(Few::NONE);

    /// Those of the operands, each with its partial, and a new one if the operation is at fault. `unit` is an exponent
    /// near which those of the amounts are, probably.
    pub(super) fn combine(
        operands: [Option<(&Influences, f64)>; MAX_OPERANDS],
        own: Option<Part>,
        unit: i32,
        scratch: &mut Vec<Part>,
    ) -> Influences {
        let mut operands = operands.into_iter().flatten();
        let [first, second, third] = [operands.next(), operands.next(), operands.next()];
        if let (Some(first), None, None) = (first, third, own)
            && let Some(joined) = Influences::joined(first, second.unwrap_or(NOBODY), unit)
        {
            return Influences::Few(joined);
        }
        match (first, second, third, own) {
            (Some(only), None, None, None) => return only.0.scaled(only.1),
            // Two descendants of one value, or one value twice: nothing to merge.
            (Some((Many(a, f), p)), Some((Many(b, g), q)), None, None) if shares(a, b) => {
                return scaled_list(a, 1.0, f64::from(*f) * p + f64::from(*g) * q);
            }
            _ => {}
        }
        if let (Some(a), Some(b), None, None) = (first, second, third, own)
            && let (Influences::Few(few), Influences::Few(other)) = (a.0, b.0)
            && let Some(few) = few.united(a.1, other, b.1)
        {
            return Influences::Few(few);
        }
        scratch.clear();
        for (influences, partial) in [first, second, third].into_iter().flatten() {
            match influences {
                Influences::Few(few) => put_all(scratch, scaled_parts(few.iter(), partial)),
                Many(parts, factor) => put_all(scratch, scaled_parts(list(parts, *factor), partial)),
            }
        }
        put_all(scratch, own.into_iter());
        if scratch.len() > MOST {
            scratch.sort_unstable_by(compare);
            scratch.truncate(MOST);
        }
        if scratch.len() <= FEW {
            Influences::Few(Few::of(scratch.iter().copied()))
        } else {
            Many(ThinArc::from_header_and_slice((), scratch), 1.0)
        }
    }

    /// Those of two operands, each with its partial, where that takes no more than a few instructions: few operations,
    /// the same ones or of one operand only, as they mostly are.
    #[inline(always)]
    pub(super) fn joined(a: (&Influences, f64), b: (&Influences, f64), unit: i32) -> Option<Few> {
        match (a.0, b.0) {
            (Influences::Few(few), Influences::Few(other)) => few.joined(a.1, other, b.1, unit),
            _ => None,
        }
    }

    /// Whether there are any.
    #[inline(always)]
    pub(super) fn are_any(&self) -> bool {
        !matches!(self, Influences::Few(few) if few.count == Count::None)
    }

    /// Those of `factor` times the value.
    pub(super) fn scaled(&self, factor: f64) -> Influences {
        match self {
            Influences::Few(few) if factor == 1.0 => Influences::Few(*few),
            Influences::Few(few) => Influences::Few(few.scaled(factor)),
            Many(parts, own) => scaled_list(parts, f64::from(*own), f64::from(*own) * factor),
        }
    }

    /// The parts.
    pub(super) fn parts(&self) -> Vec<Part> {
        match self {
            Influences::Few(few) => few.iter().collect(),
            Many(parts, factor) => list(parts, *factor).collect(),
        }
    }
}

impl Few {
    pub(super) const NONE: Few =
        Few { operations: [0; FEW], count: Count::None, amounts: [0.0; FEW], exponent: 0 };

    /// Parts, no more than a few.
    fn of(parts: impl Iterator<Item = Part>) -> Few {
        let (mut operations, mut amounts, mut count) = ([0; FEW], [0.0; FEW], Count::None);
        for (index, part) in parts.enumerate().take(FEW) {
            (operations[index], amounts[index]) = (part.operation, part.amount);
            count = Count::ALL[index + 1];
        }
        Few::with(operations, amounts, count)
    }

    #[inline(always)]
    fn with(operations: [Id; FEW], amounts: [f64; FEW], count: Count) -> Few {
        let mut largest = 0.0_f64;
        for amount in amounts {
            let size = amount.abs();
            largest = if size > largest && size < f64::INFINITY { size } else { largest };
        }
        let exponent = exponent_of(largest);
        let scale = power_of_two(-exponent);
        Few { operations, count, amounts: amounts.map(|amount| (amount * scale) as f32), exponent }
    }

    /// These and others, each with its partial, where they are of the same operations or one has none, in units of
    /// 2^unit, where amounts are neither large nor small in those.
    #[inline(always)]
    fn joined(&self, partial: f64, other: &Few, other_partial: f64, unit: i32) -> Option<Few> {
        let (is_none, other_is_none) = (self.count == Count::None, other.count == Count::None);
        let [a, b, c] = self.operations;
        let [d, e, f] = other.operations;
        let alike = ((a ^ d) | (b ^ e) | (c ^ f) == 0) & (self.count == other.count);
        if !(alike | is_none | other_is_none) {
            return None;
        }
        let scale = |few: &Few, is_none: bool, partial: f64| {
            let power = power_of_two((few.exponent - unit).clamp(-1000, 1000));
            if is_none { 0.0 } else { (power * partial) as f32 }
        };
        let (s, t) = (scale(self, is_none, partial), scale(other, other_is_none, other_partial));
        let mut amounts = [0.0; FEW];
        let mut largest = 0;
        for (n, amount) in amounts.iter_mut().enumerate() {
            *amount = self.amounts[n] * s + other.amounts[n] * t;
            largest = largest.max(amount.abs().to_bits());
        }
        // Far from the ends of what an f32 holds.
        if largest.wrapping_sub(f32::to_bits(1e-25)) > f32::to_bits(1e25) - f32::to_bits(1e-25) {
            return None;
        }
        let (operations, count) =
            if is_none { (other.operations, other.count) } else { (self.operations, self.count) };
        Some(Few { operations, count, amounts, exponent: unit })
    }

    /// These and others, each with its partial, if that makes no more than a few.
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
        let scale = power_of_two(self.exponent) * factor;
        let amounts = self.amounts.map(|amount| f64::from(amount) * scale);
        if amounts.iter().all(|amount| amount.is_finite()) {
            return Few::with(self.operations, amounts, self.count);
        }
        Few::of(scaled_parts(self.iter(), factor))
    }

    fn iter(&self) -> impl Iterator<Item = Part> {
        let scale = power_of_two(self.exponent);
        let all = self.operations.iter().zip(&self.amounts).take(self.count as usize);
        all.map(move |(&operation, &amount)| Part { operation, amount: f64::from(amount) * scale })
    }
}

/// What is beyond measure stays so: 0 · ∞.
fn scaled_parts(parts: impl Iterator<Item = Part>, factor: f64) -> impl Iterator<Item = Part> {
    parts.map(move |Part { operation, amount }| {
        let scaled = if amount.is_infinite() { f64::INFINITY } else { known(amount * factor) };
        Part { operation, amount: scaled }
    })
}

/// The parts of a list with a factor.
fn list(parts: &ThinArc<(), Part>, factor: f32) -> impl Iterator<Item = Part> {
    scaled_parts(parts.slice.iter().copied(), factor.into())
}

/// Whether both are the same list.
fn shares(a: &ThinArc<(), Part>, b: &ThinArc<(), Part>) -> bool {
    std::ptr::eq(&raw const **a, &raw const **b)
}

/// A list with another factor than its own.
fn scaled_list(parts: &ThinArc<(), Part>, own: f64, factor: f64) -> Influences {
    if (LARGEST_FACTOR.recip()..LARGEST_FACTOR).contains(&factor.abs()) {
        return Many(parts.clone(), factor as f32);
    }
    let scaled: Vec<Part> = scaled_parts(list(parts, own as f32), factor / own).collect();
    Many(ThinArc::from_header_and_slice((), &scaled), 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few(parts: &[(Id, f64)]) -> Few {
        Few::of(parts.iter().map(|&(operation, amount)| Part { operation, amount }))
    }

    /// Faults of one lineage are merged as any faults are.
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
                let Some(quick) = a.joined(p, b, q, -20) else { continue };
                let slow = a.united(p, b, q).expect("few");
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

    /// Four words for a few, or for where many are: what is copied most is no wider than it must be.
    #[test]
    fn influences_take_two_vectors() {
        assert_eq!(size_of::<Influences>(), 32);
    }
}
