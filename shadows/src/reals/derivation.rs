//! Derivation of a real, step by step as the history has it, and its value to any number of bits.
//!
//! Knows nothing of when that is worth the time.

mod residues;

use std::collections::BinaryHeap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;
use rug::Float;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::step::Sums;

use super::convert;
use super::error_bound::covers;
use super::mpfr::Mpfr;
use super::real::Real;
use crate::diagnosis::history::{History, Serial, Source, Step, UNTRACED};
use crate::diagnosis::operations::{Operations, What};
use crate::exact::rounds_to_integer;

pub(super) use residues::Roots;

/// Operand of a step.
#[derive(Clone, Copy, Debug)]
enum Operand {
    /// The result of another step, or what it is with the sign turned over.
    Made { step: usize, turned: bool },
    /// A float that is its own real, or one of which it is not known what made it: its place among those.
    Given { place: usize },
}

impl Operand {
    /// The number, given all that are given and all that were made.
    fn of(self, given: &[Bounded], made: &[Bounded]) -> Bounded {
        match self {
            Operand::Given { place } => given[place].clone(),
            Operand::Made { step, turned: false } => made[step].clone(),
            Operand::Made { step, turned: true } => {
                Bounded { value: -made[step].value.clone(), bound: made[step].bound }
            }
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug)]
struct Node {
    op: Op,
    arity: usize,
    operands: [Operand; MAX_OPERANDS],
    /// The operand that is rounded to an integer, if one is.
    rounds: Option<usize>,
}

/// Derivation of a real from leaves of its history, step by step. The last node is the operation that is asked about.
#[derive(Debug)]
pub(super) struct Derivation {
    nodes: Vec<Node>,
    /// Floats that are operands.
    given: Vec<Source>,
    /// Places of given floats.
    places: HashMap<(u128, Serial), usize>,
}

/// A number and log₂ of what it may be off by, −∞ if it is exact.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    pub(super) value: Float,
    pub(super) bound: f64,
}

impl Bounded {
    /// The logarithm of what the number is at most.
    fn most(&self) -> f64 {
        self.value.get_exp().map_or(self.bound, |exponent| self.bound.max(f64::from(exponent)))
    }

    /// Number of its significant bits; nothing of zero.
    pub(super) fn significant_bits(&self) -> Option<f64> {
        self.value.get_exp().map(|exponent| f64::from(exponent) - self.bound)
    }
}

/// Steps that lead to the operands of an operation, the last first.
struct Steps {
    found: Vec<(Serial, Step)>,
    /// True if others lead to those.
    is_all: bool,
}

impl Steps {
    /// At most so many.
    fn find(history: &History, root: &Step, most: usize) -> Steps {
        let mut found: Vec<(Serial, Step)> = Vec::new();
        let mut left: BinaryHeap<Serial> = root.serials().collect();
        let mut is_all = true;
        while let Some(serial) = left.pop() {
            if found.last().is_some_and(|&(last, _)| last == serial) {
                continue;
            }
            match history.step(serial) {
                // Serials that start again lead astray.
                Some(step) if found.len() < most && step.serials().all(|before| before < serial) => {
                    left.extend(step.serials());
                    found.push((serial, step));
                }
                _ => {
                    is_all = false;
                    if found.len() == most {
                        break;
                    }
                }
            }
        }
        Steps { found, is_all }
    }
}

/// Steps of a derivation that are wanted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// All, from floats that are their own reals.
    Whole,
    /// The last ones, as many as there may be.
    End,
}

impl Derivation {
    /// Derivation of an operation's result in so many steps at most, as far back as told; nothing if it is not known so far.
    pub(super) fn of(
        (history, operations, sums): (&History, &Operations, Sums),
        lane: &Lane<'_, Real>,
        most: usize,
        reach: Reach,
    ) -> Option<Derivation> {
        let root = Step::of(lane);
        let steps = Steps::find(history, &root, most);
        let is_enough = steps.is_all || reach == Reach::End;
        is_enough.then(|| Derivation::new(operations, (&root, lane.op, sums), &steps)).flatten()
    }

    fn new(
        operations: &Operations,
        (root, op, sums): (&Step, Op, Sums),
        steps: &Steps,
    ) -> Option<Derivation> {
        let count = steps.found.len();
        let (nodes, given) = (Vec::with_capacity(count + 1), Vec::new());
        let mut derivation = Derivation { nodes, given, places: HashMap::new() };
        for (_, step) in steps.found.iter().rev() {
            let operation = &operations[step.operation];
            let What::Op(op) = operation.what else { return None };
            derivation.push(steps, step, (op, operation.sums))?;
        }
        derivation.push(steps, root, (op, sums))?;
        Some(derivation)
    }

    fn push(&mut self, steps: &Steps, step: &Step, (op, sums): (Op, Sums)) -> Option<()> {
        let mut operands = [Operand::Given { place: 0 }; MAX_OPERANDS];
        for (operand, &source) in operands.iter_mut().zip(step.operands()) {
            *operand = self.operand(steps, source)?;
        }
        let rounds = step.with_lane(op, |lane| rounds_to_integer(lane, sums));
        self.nodes.push(Node { op, arity: step.operands().len(), operands, rounds });
        Some(())
    }

    fn operand(&mut self, steps: &Steps, source: Source) -> Option<Operand> {
        let place = steps.found.binary_search_by(|(serial, _)| source.serial.cmp(serial));
        if let (Ok(place), true) = (place, source.serial != 0) {
            let turned = steps.found[place].1.turned(source)?;
            return Some(Operand::Made { step: steps.found.len() - 1 - place, turned });
        }
        let next = self.given.len();
        let known = *self.places.entry((source.bits, source.serial)).or_insert(next);
        // What is not known to be one number may be two.
        let is_known = known < next && source.serial != UNTRACED && self.given[known] == source;
        if !is_known {
            self.given.push(source);
        }
        Some(Operand::Given { place: if is_known { known } else { next } })
    }

    /// Number of its steps.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The value to so many bits; nothing if it, or what it is made of, is no number.
    pub(super) fn value(&self, reals: &Mpfr) -> Option<Bounded> {
        self.evaluated(reals, self.floats())
    }

    /// The floats that are given.
    fn floats(&self) -> Vec<Float> {
        self.given.iter().map(|given| convert::from_bits(given.format, given.bits)).collect()
    }

    fn evaluated(&self, reals: &Mpfr, given: Vec<Float>) -> Option<Bounded> {
        self.all(reals, given)?.1.pop()
    }

    /// Numbers that are given, and results of all nodes.
    fn all(&self, reals: &Mpfr, given: Vec<Float>) -> Option<(Vec<Bounded>, Vec<Bounded>)> {
        let exact = |value| Bounded { value, bound: f64::NEG_INFINITY };
        let given: Vec<Bounded> = given.into_iter().map(exact).collect();
        let mut made: Vec<Bounded> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let operand = |&operand: &Operand| operand.of(&given, &made);
            let mut operands: Vec<Bounded> = node.operands[..node.arity].iter().map(operand).collect();
            if let Some(index) = node.rounds {
                operands[index] = integer(reals, &operands[index])?;
            }
            let result = apply(reals, node.op, &operands)?;
            made.push(result);
        }
        Some((given, made))
    }

    /// Tells whether the result is zero whatever is given: it is so for numbers chosen at random. Only for what is made
    /// by arithmetic, with no choices. Nothing where that is not so.
    pub(super) fn is_identically_zero(&self, reals: &Mpfr) -> bool {
        let is_arithmetic = |node: &Node| {
            use Op::{Add, Div, Fmadd, Fmsub, Fnmadd, Fnmsub, Mul, Neg, Sqrt, Sub};
            matches!(node.op, Add | Sub | Mul | Div | Sqrt | Neg | Fmadd | Fmsub | Fnmadd | Fnmsub)
                && node.rounds.is_none()
        };
        if !self.nodes.iter().all(is_arithmetic) {
            return false;
        }
        let mut word = 1_u64;
        // From one to two.
        let any = |_| {
            (0..reals.precision / 64).fold(Float::with_val(reals.precision, 1), |number, _| {
                word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((number + word.rotate_left(32)) >> 64) + 1
            })
        };
        let value = self.evaluated(reals, (0..self.given.len()).map(any).collect());
        value.is_some_and(|result| match result.value.get_exp() {
            Some(exponent) => covers(result.bound as f32, exponent),
            None => true,
        })
    }

    /// A number that tells derivations of different operations, or otherwise connected, apart.
    pub(super) fn shape(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for node in &self.nodes {
            (node.op as u32, node.arity, node.rounds).hash(&mut hasher);
            for operand in &node.operands[..node.arity] {
                match *operand {
                    Operand::Made { step, turned } => (1, step, turned).hash(&mut hasher),
                    Operand::Given { place } => (0, place, false).hash(&mut hasher),
                }
            }
        }
        hasher.finish()
    }
}

/// The integer nearest to a number, if its error bound tells which that is.
fn integer(reals: &Mpfr, x: &Bounded) -> Option<Bounded> {
    use shadowgrind_core::reals::Reals;
    use shadowgrind_core::rounding::Rounding;
    let value = reals.round(&x.value, Rounding::Current);
    let apart = Float::with_val(64, &x.value - &value).abs();
    let to_border = Float::with_val(64, apart - 0.5f64).get_exp();
    let is_sure = x.bound == f64::NEG_INFINITY || to_border.is_some_and(|e| f64::from(e) > x.bound + 2.0);
    is_sure.then_some(Bounded { value, bound: f64::NEG_INFINITY })
}

/// An operation on numbers that may be off.
fn apply(reals: &Mpfr, op: Op, x: &[Bounded]) -> Option<Bounded> {
    let values: Vec<&Float> = x.iter().map(|x| &x.value).collect();
    reals.rounded.set(false);
    let value = op.real(reals, &values);
    let is_lost = value.is_zero() && reals.rounded.get();
    if !value.is_finite() || is_lost {
        return None;
    }
    let size = value.get_exp().map(f64::from);
    let rounding = size.map_or(f64::NEG_INFINITY, |size| size - f64::from(reals.precision));
    let rounding = if reals.rounded.get() { rounding } else { f64::NEG_INFINITY };
    let mut bound = rounding;
    for index in 0..x.len() {
        if x[index].bound > f64::NEG_INFINITY {
            bound = plus(bound, brought(reals, (op, index), x, &value)?);
        }
    }
    Some(Bounded { value, bound })
}

/// Contribution of an operand to the bound on the result's error.
fn brought(reals: &Mpfr, (op, index): (Op, usize), x: &[Bounded], value: &Float) -> Option<f64> {
    use Op::{Abs, Add, Div, Fmadd, Fmsub, Fnmadd, Fnmsub, Max, Min, Mul, Narrow, Neg, Sqrt, Sub, Widen};
    let bound = x[index].bound;
    // A number that is not zero is at least half of two to its exponent.
    let least = |n: usize| {
        let size = f64::from(x[n].value.get_exp()?) - 1.0;
        (x[n].bound < size - 1.0).then_some(size - 1.0)
    };
    match op {
        Add | Sub | Neg | Abs | Min | Max | Narrow | Widen => Some(bound),
        Mul => Some(bound + x[1 - index].most()),
        Fmadd | Fmsub | Fnmadd | Fnmsub => Some(if index < 2 { bound + x[1 - index].most() } else { bound }),
        Div if index == 0 => Some(bound - least(1)?),
        Div => Some(bound + value.get_exp().map_or(f64::NEG_INFINITY, f64::from) - least(1)?),
        Sqrt => Some(least(0).map_or(bound / 2.0 + 1.0, |_| {
            bound + value.get_exp().map_or(0.0, f64::from) - x[0].value.get_exp().map_or(0.0, f64::from) + 1.0
        })),
        _ => perturbed(reals, (op, index), x, value),
    }
}

/// Contribution of an operand to the bound on the error of any function's result, found by trying it.
fn perturbed(reals: &Mpfr, (op, index): (Op, usize), x: &[Bounded], value: &Float) -> Option<f64> {
    let mut values: Vec<Float> = x.iter().map(|x| Float::with_val(reals.precision, &x.value)).collect();
    let step = Float::with_val(64, 1) << x[index].bound.ceil() as i32;
    let mut most = f64::NEG_INFINITY;
    for step in [step.clone(), -step] {
        // Half a unit in its last place is not to be rounded off.
        values[index] = Float::with_val(2 * reals.precision, &x[index].value + &step);
        let off = op.real(reals, &values.iter().collect::<Vec<_>>()) - value;
        if !off.is_finite() {
            return None;
        }
        most = most.max(off.get_exp().map_or(f64::NEG_INFINITY, f64::from));
    }
    // By so much rounding hides the difference.
    let hidden =
        value.get_exp().map_or(f64::NEG_INFINITY, |size| f64::from(size) - f64::from(reals.precision));
    Some(plus(most, hidden))
}

/// The logarithm of the sum of two numbers given by theirs.
fn plus(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY {
        large
    } else {
        large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2
    }
}
