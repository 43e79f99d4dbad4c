//! Whose error a value carries: parts of its error, by operation, followed to first order through TABLE 1's partials.
//!
//! Three books are kept. *Roundings*: of every value, the few operations whose own rounding contributes most; signed, so
//! that what a compensated sum puts back cancels out. *Gains*: where, along the way of the largest of these, the
//! relative error grew. The third, [`influences`](super::influences), is of operations at fault (their local error is
//! above the threshold) that the value depends on. Knows no spots.

use std::cmp::Ordering;
use std::hint::select_unpredictable;

use super::operations::Id;

/// How many roundings a value keeps.
const ROUNDINGS: usize = 3;
/// How many gains.
const GAINS: usize = 2;

/// Part of an error: float less real.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Who made it.
    pub(super) operation: Id,
    /// How much; infinite where it is beyond measure.
    pub(super) amount: f64,
}

/// What is beyond measure stays so: 0 · ∞, ∞ − ∞.
#[inline(always)]
pub(super) fn known(amount: f64) -> f64 {
    if amount.is_nan() { f64::INFINITY } else { amount }
}

/// Adds parts to a list, by operation. Lists of values that are made from each other have the same order mostly, so
/// that the place after the one last found is looked at first.
pub(super) fn put_all(parts: &mut Vec<Part>, others: impl Iterator<Item = Part>) {
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
pub(super) fn compare(a: &Part, b: &Part) -> Ordering {
    b.amount.abs().total_cmp(&a.amount.abs()).then(a.operation.cmp(&b.operation))
}

/// The roundings that matter most to a value, the largest first, as `amount · 2^exponent`: eight bytes each, whatever
/// their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roundings {
    operations: [Id; ROUNDINGS],
    amounts: [f32; ROUNDINGS],
    exponent: i16,
}

impl Default for Roundings {
    fn default() -> Self {
        Roundings { operations: [NOBODY; ROUNDINGS], amounts: [0.0; ROUNDINGS], exponent: 0 }
    }
}

/// The operation of a rounding that is not there.
const NOBODY: Id = Id::MAX;

/// The amount if `kept`, else nothing. What is kept cannot be foreseen: this is arithmetic, not a branch.
#[inline(always)]
fn masked(amount: f64, kept: bool) -> f64 {
    f64::from_bits(select_unpredictable(kept, amount.to_bits(), 0))
}

/// Places of the largest amounts, the largest first. Those that agree but for their last bits are in the order in which
/// they come.
#[inline(always)]
fn largest<const COUNT: usize>(amounts: &[f64; COUNT]) -> [usize; ROUNDINGS] {
    const PLACE: u64 = 0xf;
    let mut largest = [0; ROUNDINGS];
    for (place, amount) in amounts.iter().enumerate() {
        let mut key = amount.abs().to_bits() & !PLACE | (PLACE - place as u64);
        for kept in &mut largest {
            (*kept, key) = ((*kept).max(key), (*kept).min(key));
        }
    }
    let place = |key: u64| ((PLACE - (key & PLACE)) as usize).min(COUNT - 1);
    [place(largest[0]), place(largest[1]), place(largest[2])]
}

impl Roundings {
    /// Those of `GROUPS` operands, each with its partial, and a new one: `COUNT` in all. None of them brings more than
    /// `most`.
    #[inline(always)]
    pub(super) fn combine<const GROUPS: usize, const COUNT: usize>(
        operands: &[(Roundings, f64); GROUPS],
        own: Part,
        most: f64,
    ) -> Roundings {
        if !most.is_finite() || most == 0.0 {
            return Roundings::default();
        }
        let exponent = exponent_of(most);
        let down = power_of_two(-exponent);
        let (mut operations, mut amounts) = ([own.operation; COUNT], [own.amount * down; COUNT]);
        for (nth, (roundings, partial)) in operands.iter().enumerate() {
            let scale = power_of_two(roundings.exponent.into()) * partial * down;
            for index in 0..ROUNDINGS {
                operations[ROUNDINGS * nth + index] = roundings.operations[index];
                amounts[ROUNDINGS * nth + index] = f64::from(roundings.amounts[index]) * scale;
            }
        }
        // What is of the same operation is added up, where it is first.
        for next in ROUNDINGS..COUNT {
            let (operation, amount) = (operations[next], amounts[next]);
            let mut known = false;
            for before in 0..next / ROUNDINGS * ROUNDINGS {
                let same = operations[before] == operation;
                amounts[before] += masked(amount, same);
                known |= same;
            }
            operations[next] = select_unpredictable(known, NOBODY, operation);
            amounts[next] = masked(amount, !known);
        }
        let [a, b, c] = largest(&amounts);
        // What is beyond measure is not followed.
        if !(amounts[a] + amounts[b] + amounts[c]).is_finite() {
            return Roundings::default();
        }
        Roundings {
            operations: [operations[a], operations[b], operations[c]],
            amounts: [amounts[a] as f32, amounts[b] as f32, amounts[c] as f32],
            exponent: exponent as i16,
        }
    }

    /// Those of `factor` times the value.
    pub(super) fn scaled(&self, factor: f64) -> Roundings {
        let nothing = Part { operation: NOBODY, amount: 0.0 };
        Roundings::combine::<1, 4>(&[(*self, factor)], nothing, self.largest() * factor.abs())
    }

    /// The largest part, whatever its sign.
    #[inline(always)]
    pub(super) fn largest(&self) -> f64 {
        f64::from(self.amounts[0].abs()) * power_of_two(self.exponent.into())
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
    #[inline(always)]
    pub(super) fn with(mut self, operation: Id, bits: f64) -> Gains {
        let bits = bits.clamp(-MOST_GAINED, MOST_GAINED) as f32;
        let is = |index: usize| (self.operations[index] == operation) & (self.bits[index] != 0.0);
        let least = usize::from(self.bits[1].abs() < self.bits[0].abs());
        let (known, index) = (
            is(0) | is(1),
            if is(0) {
                0
            } else if is(1) {
                1
            } else {
                least
            },
        );
        if known {
            self.bits[index] += bits;
        } else if bits.abs() > self.bits[index].abs() {
            (self.operations[index], self.bits[index]) = (operation, bits);
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
#[inline(always)]
pub(super) fn exponent_of(x: f64) -> i32 {
    ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-1000, 1000)
}

#[inline(always)]
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}
