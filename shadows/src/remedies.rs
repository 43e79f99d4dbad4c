//! Better ways to compute an expression: found by rewriting it, and proved by trying them on recorded inputs.
//!
//! An e-graph holds what rules of algebra and of the mathematical library make of the expression; of each of its classes
//! the way is kept that comes nearest to the real result on the inputs. What is handed out was computed in the program's
//! own format on all of them. Knows neither where expressions come from nor how they are shown.

mod evaluate;
mod graph;
mod lift;
mod regimes;
mod rules;
mod search;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use evaluate::{Judge, mean};
use rules::Rules;

/// Bits of error that a remedy has to take away, on the average.
const LEAST_GAIN: f64 = 1.0;
/// Fraction of all bits of error that a remedy has to take away.
const LEAST_FRACTION: f64 = 0.5;
/// Mean bits of error from which on two ways are tried where one does not do.
const BAD: f64 = 2.0;
/// Bits by which two ways do not differ.
const LITTLE: f64 = 1.0;
/// Remedies of one expression that are handed out.
const MOST: usize = 3;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A row of TABLE 1 on its operands.
    Op(Op, Vec<Tree>),
    /// A number, a float of the expression's format.
    Constant(f64),
    /// An input, by its number.
    Variable(usize),
    /// The first where an input is below a bound, else the second.
    Below(usize, f64, Box<[Tree; 2]>),
}

/// An expression, and inputs on which the program computed it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The expression, every operation in the same format.
    pub tree: Tree,
    /// Format of all operands and results: one of the two narrower ones.
    pub format: Format,
    /// Values of the variables, by number.
    pub samples: Vec<Vec<f64>>,
}

/// A better way to compute an expression.
#[derive(Clone, Debug)]
pub struct Remedy {
    /// The expression to compute instead.
    pub tree: Tree,
    /// Mean error of the program's own expression on the inputs, in bits.
    pub bits_before: f64,
    /// Mean error of this expression on the same inputs, in bits.
    pub bits_after: f64,
    /// The number of different inputs.
    pub samples: usize,
}

/// Looks for remedies, for a limited time.
pub struct Finder {
    rules: Rules,
    until: Instant,
    /// For one expression at most.
    patience: Duration,
}

impl Finder {
    /// Looks no longer than that, and for a remedy of one expression half as long.
    pub fn new(time: Duration) -> Finder {
        Finder { rules: Rules::new(), until: Instant::now() + time, patience: time / 2 }
    }

    /// Remedies for `problem`, the best first; none if there is no time left, or none that gains.
    pub fn remedies(&self, problem: &Problem) -> Vec<Remedy> {
        let until = self.until.min(Instant::now() + self.patience);
        if Instant::now() >= until || !matches!(problem.format, Format::F32 | Format::F64) {
            return Vec::new();
        }
        let (lifted, constants) = problem.lifted();
        let problem = &lifted;
        let Some(judge) = Judge::new(problem) else { return Vec::new() };
        let before = judge.errors(&problem.tree);
        if mean(&before) < LEAST_GAIN {
            return Vec::new();
        }
        let mut ways = search::ways(&problem.tree, &judge, &self.rules, until);
        let trees: Vec<Tree> = ways.iter().map(|(tree, _)| tree.clone()).collect();
        let single = trees.iter().map(|tree| mean(&judge.errors(tree))).fold(mean(&before), f64::min);
        let variables = problem.variables() - constants.len();
        if single >= BAD {
            let choice = regimes::choice(&problem.tree, &trees, &judge, &self.rules, (variables, until));
            let is_better = |choice: &Tree| mean(&judge.errors(choice)) + LEAST_GAIN <= single;
            // Dearer than any other.
            ways.splice(0..0, choice.filter(is_better).map(|choice| (choice, u32::MAX - 1)));
        }
        let mut found = self.proved(ways, &judge, &before);
        for remedy in &mut found {
            remedy.tree = remedy.tree.lowered(variables, &constants);
        }
        found
    }

    /// Ways among those that are given with their prices, that gain enough.
    fn proved(&self, ways: Vec<(Tree, u32)>, judge: &Judge, before: &[f64]) -> Vec<Remedy> {
        let worst = before.iter().fold(0.0, |worst: f64, &bits| worst.max(bits));
        let mut found: Vec<Remedy> = Vec::new();
        let mut least = u32::MAX;
        for (tree, price) in ways {
            let after = judge.errors(&tree);
            let (bits_before, bits_after) = (mean(before), mean(&after));
            let enough = LEAST_GAIN.max(LEAST_FRACTION * bits_before);
            let amplifications =
                bits_before - bits_after >= enough && after.iter().all(|&bits| bits <= worst);
            // What is neither cheaper nor better than another is the same in other words.
            let is_new = price < least || found.iter().all(|other| bits_after < other.bits_after - LITTLE);
            if amplifications && is_new {
                found.push(Remedy { tree, bits_before, bits_after, samples: judge.len() });
                least = least.min(price);
            }
        }
        found.truncate(MOST);
        found
    }
}
