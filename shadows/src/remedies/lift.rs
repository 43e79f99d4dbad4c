//! Numbers of an expression that rules must not reckon with: a 1e8 stands for something, and √(1e8·1e8 − 4) is not to
//! become the root of 9999999999999996.

use shadowgrind_core::ops::Op;

use super::{Problem, Tree};

/// Integers up to this, either way, and quotients of them and powers of two, are parts of a formula.
const PLAIN: f64 = 16.0;

/// Tells whether rules may reckon with a number. Others are data, or stand for something, and are left as they are.
fn is_plain(value: f64) -> bool {
    value.abs() <= PLAIN && (value * PLAIN).fract() == 0.0
}

impl Problem {
    /// The number of variables.
    pub(super) fn variables(&self) -> usize {
        self.samples.first().map_or(0, Vec::len)
    }

    /// Problem with a variable in place of each number that is not plain, and those numbers; signs stay.
    pub(super) fn lifted(&self) -> (Problem, Vec<f64>) {
        let mut constants = Vec::new();
        let tree = self.tree.lifted(self.variables(), &mut constants);
        let mut samples = self.samples.clone();
        samples.iter_mut().for_each(|sample| sample.extend(&constants));
        (Problem { tree, format: self.format, samples }, constants)
    }
}

impl Tree {
    fn lifted(&self, first: usize, constants: &mut Vec<f64>) -> Tree {
        match self {
            Tree::Constant(value) if !is_plain(*value) => {
                let magnitude = value.abs();
                let known = constants.iter().position(|&other| other == magnitude);
                let place = known.unwrap_or_else(|| {
                    constants.push(magnitude);
                    constants.len() - 1
                });
                let variable = Tree::Variable(first + place);
                if *value < 0.0 { Tree::Op(Op::Neg, vec![variable]) } else { variable }
            }
            Tree::Op(op, operands) => {
                Tree::Op(*op, operands.iter().map(|operand| operand.lifted(first, constants)).collect())
            }
            plain => plain.clone(),
        }
    }

    /// Puts numbers back in the place of variables from the `first` on.
    pub(super) fn lowered(&self, first: usize, constants: &[f64]) -> Tree {
        match self {
            Tree::Variable(number) if *number >= first => Tree::Constant(constants[number - first]),
            Tree::Op(op, operands) => {
                let mut operands: Vec<Tree> =
                    operands.iter().map(|operand| operand.lowered(first, constants)).collect();
                match (op, &mut operands[..]) {
                    (Op::Neg, [Tree::Constant(value)]) => Tree::Constant(-*value),
                    _ => Tree::Op(*op, operands),
                }
            }
            Tree::Below(variable, bound, ways) => {
                let ways = ways.each_ref().map(|way| way.lowered(first, constants));
                Tree::Below(*variable, *bound, Box::new(ways))
            }
            plain => plain.clone(),
        }
    }
}
