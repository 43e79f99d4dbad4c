//! Expressions on inputs: in the program's format, and as reals.

use rug::Float;
use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use super::{Problem, Tree};
use crate::distance::{error_bits, floats_between};
use crate::reals::convert::round;
use crate::reals::mpfr::Mpfr;

/// Bits that reals begin with, and those at which it is given up.
const FIRST_BITS: u32 = 320;
const MOST_BITS: u32 = 5120;
/// Bits beyond a float's that two precisions have to agree in.
const AGREEING_BITS: u32 = 32;
/// Bits of a function's result before it is rounded to a float.
const FUNCTION_BITS: u32 = 128;

/// The mean of errors in bits.
pub(super) fn mean(bits: &[f64]) -> f64 {
    bits.iter().sum::<f64>() / bits.len() as f64
}

/// Arithmetic in a format: functions are rounded correctly, as good libraries very nearly do.
#[derive(Clone, Debug)]
pub(super) struct Floats {
    pub(super) format: Format,
    host: Host,
    functions: Mpfr,
}

impl Floats {
    fn new(format: Format) -> Floats {
        Floats { format, host: Host::new(format), functions: Mpfr::new(FUNCTION_BITS) }
    }

    /// The float that `op` gives.
    pub(super) fn apply(&self, op: Op, x: &[f64]) -> f64 {
        let k = &self.host;
        match (op, x) {
            (Op::Add, &[a, b]) => k.add(a, b),
            (Op::Sub, &[a, b]) => k.sub(a, b),
            (Op::Mul, &[a, b]) => k.mul(a, b),
            (Op::Div, &[a, b]) => k.div(a, b),
            (Op::Sqrt, &[a]) => k.sqrt(a),
            (Op::Neg, &[a]) => -a,
            (Op::Abs, &[a]) => a.abs(),
            (Op::Fmadd, &[a, b, c]) => k.fma(a, b, c),
            (Op::Fmsub, &[a, b, c]) => k.fma(a, b, -c),
            (Op::Fnmadd, &[a, b, c]) => k.fma(-a, b, c),
            (Op::Fnmsub, &[a, b, c]) => k.fma(-a, b, -c),
            _ => self.nearest(&real(&self.functions, op, x)),
        }
    }

    /// The float nearest to a real.
    pub(super) fn nearest(&self, real: &Float) -> f64 {
        self.value(round(self.format, real))
    }

    /// Error of `x` where `exact` is the float nearest to the real.
    pub(super) fn error(&self, x: f64, exact: f64) -> f64 {
        error_bits(self.format, floats_between(self.format, self.bits(x), self.bits(exact)))
    }

    fn bits(&self, x: f64) -> u128 {
        match self.format {
            Format::F32 => (x as f32).to_bits().into(),
            _ => x.to_bits().into(),
        }
    }

    fn value(&self, bits: u128) -> f64 {
        match self.format {
            Format::F32 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits as u64),
        }
    }

    fn evaluate(&self, tree: &Tree, sample: &[f64]) -> f64 {
        match tree {
            Tree::Variable(number) => sample[*number],
            Tree::Constant(value) => *value,
            Tree::Below(variable, bound, ways) => {
                self.evaluate(&ways[usize::from(sample[*variable] >= *bound)], sample)
            }
            Tree::Op(op, operands) => {
                let x: Vec<f64> = operands.iter().map(|operand| self.evaluate(operand, sample)).collect();
                self.apply(*op, &x)
            }
        }
    }
}

fn real(reals: &Mpfr, op: Op, x: &[f64]) -> Float {
    let x: Vec<Float> = x.iter().map(|&x| Float::with_val(53, x)).collect();
    op.real(reals, &x.iter().collect::<Vec<_>>())
}

/// The real that an expression is.
fn exact(reals: &Mpfr, tree: &Tree, sample: &[f64]) -> Float {
    match tree {
        Tree::Variable(number) => Float::with_val(53, sample[*number]),
        Tree::Constant(value) => Float::with_val(53, *value),
        Tree::Below(variable, bound, ways) => {
            exact(reals, &ways[usize::from(sample[*variable] >= *bound)], sample)
        }
        Tree::Op(op, operands) => {
            let x: Vec<Float> = operands.iter().map(|operand| exact(reals, operand, sample)).collect();
            op.real(reals, &x.iter().collect::<Vec<_>>())
        }
    }
}

/// Compares expressions with the reals, on the inputs of a problem on which it has a finite one.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) floats: Floats,
    /// Reals as precise as the problem takes.
    pub(super) reals: Mpfr,
    samples: Vec<Vec<f64>>,
    /// The floats nearest to the real results.
    exact: Vec<f64>,
}

impl Judge {
    /// Nothing if no input is of use.
    pub(super) fn new(problem: &Problem) -> Option<Judge> {
        let floats = Floats::new(problem.format);
        let mut inputs = problem.samples.clone();
        inputs.sort_by(|a, b| {
            let order = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
            order.fold(std::cmp::Ordering::Equal, |order, next| order.then(next))
        });
        inputs.dedup_by(|a, b| a.iter().zip(&*b).all(|(a, b)| a.to_bits() == b.to_bits()));
        let mut precision = FIRST_BITS;
        let (mut samples, mut exact) = (Vec::new(), Vec::new());
        for sample in inputs {
            if let Some((value, bits)) = settled(&problem.tree, &sample, problem.format) {
                precision = precision.max(bits);
                exact.push(floats.nearest(&value));
                samples.push(sample);
            }
        }
        (!samples.is_empty()).then(|| Judge { floats, reals: Mpfr::new(precision), samples, exact })
    }

    /// The number of inputs.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// The errors of an expression in bits, by input.
    pub(super) fn errors(&self, tree: &Tree) -> Vec<f64> {
        let errors = self.samples.iter().zip(&self.exact);
        errors.map(|(sample, &exact)| self.floats.error(self.floats.evaluate(tree, sample), exact)).collect()
    }

    /// The inputs in the order of one variable.
    pub(super) fn order(&self, variable: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.samples[a][variable].total_cmp(&self.samples[b][variable]));
        order
    }

    /// Some of the inputs only.
    pub(super) fn part(&self, inputs: &[usize]) -> Judge {
        Judge {
            floats: self.floats.clone(),
            reals: self.reals.clone(),
            samples: inputs.iter().map(|&at| self.samples[at].clone()).collect(),
            exact: inputs.iter().map(|&at| self.exact[at]).collect(),
        }
    }

    /// A bound above a variable's value in one input and not above that in another: zero, if it can be; nothing if they
    /// are the same.
    pub(super) fn between(&self, variable: usize, below: usize, above: usize) -> Option<f64> {
        let (low, high) = (self.samples[below][variable], self.samples[above][variable]);
        match () {
            () if low >= high || low.is_nan() || high.is_nan() => None,
            () if low < 0.0 && high >= 0.0 => Some(0.0),
            () => Some(high),
        }
    }

    /// No more than `most` of the inputs, those with most error of `tree` first, and then evenly spread.
    pub(super) fn telling(&self, tree: &Tree, most: usize) -> Vec<Vec<f64>> {
        let errors = self.errors(tree);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]));
        let worst = order.len().min(most / 2);
        let rest = &order[worst..];
        let step = rest.len().div_ceil(most - worst).max(1);
        let chosen = order[..worst].iter().chain(rest.iter().step_by(step));
        chosen.map(|&at| self.samples[at].clone()).collect()
    }
}

/// The real value of an expression, to more bits than a float has, and the precision that this took; nothing if it is
/// no finite number.
fn settled(tree: &Tree, sample: &[f64], format: Format) -> Option<(Float, u32)> {
    let mut bits = FIRST_BITS;
    let mut before = exact(&Mpfr::new(bits), tree, sample);
    while bits < MOST_BITS {
        let value = exact(&Mpfr::new(2 * bits), tree, sample);
        let apart = Float::with_val(64, &value - &before);
        if !value.is_finite() || !before.is_finite() {
            return None;
        }
        let agrees = match (apart.get_exp(), value.get_exp()) {
            (None, Some(_)) => true,
            (None, None) => bits >= MOST_BITS / 2,
            (Some(apart), Some(exponent)) => exponent - apart > (format.precision() + AGREEING_BITS) as i32,
            (Some(_), None) => false,
        };
        if agrees {
            return Some((value, 2 * bits));
        }
        (before, bits) = (value, 2 * bits);
    }
    None
}
