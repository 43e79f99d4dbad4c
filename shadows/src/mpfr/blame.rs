//! Whose error a value carries: parts of its error, by operation, followed to first order through TABLE 1's partials.
//!
//! Three books are kept. *Roundings*: of every value, the few operations whose own rounding contributes most; signed, so
//! that what a compensated sum puts back cancels out. *Gains*: where, along the way of the largest of these, the
//! relative error grew. *Influences*: operations at fault (their local error is above the threshold) that the value
//! depends on. Knows no spots.

use triomphe::ThinArc;

use super::operations::Id;

/// How many roundings a value keeps.
const ROUNDINGS: usize = 3;
/// How many gains.
const GAINS: usize = 2;
/// How many influences; beyond that the least are given up.
const INFLUENCES: usize = 32;

/// Part of an error: float less real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Who made it.
    pub(super) operation: Id,
    /// How much; infinite where it is beyond measure.
    pub(super) amount: f64,
}

/// What is beyond measure stays so: 0 · ∞, ∞ − ∞.
fn known(amount: f64) -> f64 {
    if amount.is_nan() { f64::INFINITY } else { amount }
}

/// Adds parts to a list, by operation. Lists of values that are made from each other have the same order mostly, so
/// that the place after the one last found is looked at first.
fn put_all(parts: &mut Vec<Part>, others: impl Iterator<Item = Part>) {
    let mut next = 0;
    for Part { operation, amount } in others {
        let here = parts.get(next).is_some_and(|part| part.operation == operation);
        let place = if here { Some(next) } else { parts.iter().position(|part| part.operation == operation) };
        match place {
            Some(at) => {
                parts[at].amount = known(parts[at].amount + known(amount));
                next = at + 1;
            }
            None => parts.push(Part { operation, amount: known(amount) }),
        }
    }
}

/// The largest first; ties by operation, so that runs are alike.
fn sort(parts: &mut [Part]) {
    parts.sort_unstable_by(|a, b| {
        b.amount.abs().total_cmp(&a.amount.abs()).then(a.operation.cmp(&b.operation))
    });
}

/// The roundings that matter most to a value, as `amount · 2^exponent`: eight bytes each, whatever their size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roundings {
    operations: [Id; ROUNDINGS],
    amounts: [f32; ROUNDINGS],
    exponent: i16,
}

impl Roundings {
    /// Those of the operands, each with its partial, and a new one.
    pub(super) fn combine<'a>(
        operands: impl Iterator<Item = (&'a Roundings, f64)>,
        own: Part,
        scratch: &mut Vec<Part>,
    ) -> Roundings {
        scratch.clear();
        for (roundings, partial) in operands {
            put_all(scratch, roundings.iter().map(|part| Part { amount: part.amount * partial, ..part }));
        }
        if own.amount != 0.0 {
            put_all(scratch, std::iter::once(own));
        }
        if scratch.len() > ROUNDINGS {
            sort(scratch);
        }
        Roundings::of(&scratch[..scratch.len().min(ROUNDINGS)])
    }

    /// Those of `factor` times the value.
    pub(super) fn scaled(&self, factor: f64) -> Roundings {
        let parts: Vec<Part> =
            self.iter().map(|part| Part { amount: part.amount * factor, ..part }).collect();
        Roundings::of(&parts)
    }

    fn of(parts: &[Part]) -> Roundings {
        let largest = parts.iter().fold(0.0, |largest: f64, part| largest.max(part.amount.abs()));
        let mut roundings = Roundings::default();
        if !largest.is_finite() || largest == 0.0 {
            return roundings;
        }
        let exponent = exponent_of(largest);
        let scale = power_of_two(-exponent);
        for (index, part) in parts.iter().enumerate() {
            roundings.operations[index] = part.operation;
            roundings.amounts[index] = (part.amount * scale) as f32;
        }
        roundings.exponent = exponent as i16;
        roundings
    }

    /// The largest part.
    pub(super) fn largest(&self) -> f64 {
        let largest = self.amounts.iter().fold(0.0, |largest: f32, amount| largest.max(amount.abs()));
        f64::from(largest) * power_of_two(self.exponent.into())
    }

    /// The parts that are not nothing.
    pub(super) fn iter(&self) -> impl Iterator<Item = Part> {
        let scale = power_of_two(i32::from(self.exponent));
        let part = move |(&operation, &amount)| Part { operation, amount: f64::from(amount) * scale };
        self.operations.iter().zip(&self.amounts).map(part).filter(|part| part.amount != 0.0)
    }
}

/// Where relative error grew most, in bits: signed, as what one turn of a loop gains the next may lose.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gains {
    operations: [Id; GAINS],
    bits: [f32; GAINS],
}

impl Gains {
    /// These, after `operation` made the error grow by `bits`.
    pub(super) fn with(mut self, operation: Id, bits: f64) -> Gains {
        let known = (0..GAINS).find(|&index| self.operations[index] == operation && self.bits[index] != 0.0);
        let least = (0..GAINS).min_by(|&a, &b| self.bits[a].abs().total_cmp(&self.bits[b].abs()));
        let bits = bits.clamp(-MOST_GAINED, MOST_GAINED) as f32;
        match (known, least) {
            (Some(index), _) => self.bits[index] += bits,
            (None, Some(index)) if bits.abs() > self.bits[index].abs() => {
                (self.operations[index], self.bits[index]) = (operation, bits);
            }
            _ => {}
        }
        self
    }

    /// The operations and how many bits each gained.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, f64)> {
        self.operations.iter().zip(&self.bits).map(|(&operation, &bits)| (operation, f64::from(bits)))
    }
}

/// Bits an operation can gain at once: all that the widest format has.
const MOST_GAINED: f64 = 64.0;

/// ⌊log₂ |x|⌋ of a normal number, kept where its power of two and the inverse are normal numbers too.
fn exponent_of(x: f64) -> i32 {
    ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-1000, 1000)
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Parts that values share.
pub(super) type Parts = ThinArc<(), Part>;

/// The operations at fault that a value depends on: a list shared with the values it was made from, and a factor.
#[derive(Clone, Debug)]
pub(super) struct Influences {
    pub(super) parts: Parts,
    pub(super) factor: f32,
}

/// Factors from one over this to this are kept beside the list; others are worked into it.
const LARGEST_FACTOR: f64 = 1e30;

impl Influences {
    /// Those of the operands, each with its partial, and a new one if the operation is at fault.
    pub(super) fn combine(
        mut operands: impl Iterator<Item = (Influences, f64)>,
        own: Option<Part>,
        scratch: &mut Vec<Part>,
    ) -> Option<Influences> {
        let [first, second, third] = std::array::from_fn(|_| operands.next());
        match (&first, &second, &third, own) {
            (Some((only, partial)), None, None, None) => return Some(only.scaled(*partial)),
            // Two descendants of one value, or one value twice: nothing to merge.
            (Some((a, p)), Some((b, q)), None, None) if a.shares_with(b) => {
                let factor = f64::from(a.factor) * p + f64::from(b.factor) * q;
                return Some(Influences { factor: 1.0, ..a.clone() }.scaled(factor));
            }
            _ => {}
        }
        scratch.clear();
        for (influences, partial) in [first, second, third].into_iter().flatten() {
            put_all(scratch, influences.iter().map(|part| Part { amount: part.amount * partial, ..part }));
        }
        if let Some(own) = own {
            put_all(scratch, std::iter::once(own));
        }
        if scratch.len() > INFLUENCES {
            sort(scratch);
            scratch.truncate(INFLUENCES);
        }
        (!scratch.is_empty())
            .then(|| Influences { parts: ThinArc::from_header_and_slice((), scratch), factor: 1.0 })
    }

    /// Whether both are the same list.
    fn shares_with(&self, other: &Influences) -> bool {
        std::ptr::eq(&raw const *self.parts, &raw const *other.parts)
    }

    /// Those of `factor` times the value.
    pub(super) fn scaled(&self, factor: f64) -> Influences {
        let factor = f64::from(self.factor) * factor;
        if (LARGEST_FACTOR.recip()..LARGEST_FACTOR).contains(&factor.abs()) {
            return Influences { parts: self.parts.clone(), factor: factor as f32 };
        }
        let own = f64::from(self.factor);
        let parts: Vec<Part> =
            self.iter().map(|part| Part { amount: part.amount / own * factor, ..part }).collect();
        Influences { parts: ThinArc::from_header_and_slice((), &parts), factor: 1.0 }
    }

    /// The parts.
    pub(super) fn iter(&self) -> impl Iterator<Item = Part> {
        let amount = |part: &Part| {
            let amount = part.amount * f64::from(self.factor);
            if part.amount.is_infinite() || amount.is_nan() { f64::INFINITY } else { amount }
        };
        self.parts.slice.iter().map(move |part| Part { operation: part.operation, amount: amount(part) })
    }
}
