//! Approximations that are meant to be rough, and are rounded to an integer: logarithms of vector libraries begin so, with a reciprocal
//! of some twelve bits. What is left is a place in a table, and the entry there makes up for it: any other integer would have done, so
//! that this one is the program's choice, and exact for that.
//!
//! An approximation that goes on as it is, into a Newton step or an output, is a reciprocal like any other.

use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;

use super::execution::RealExecution;
use super::real::Real;
use crate::diagnosis::history::{Source, Step};
use crate::exact;

/// Steps back to the approximation: it may be scaled first.
const STEPS: usize = 3;

impl RealExecution {
    /// Tells whether an operation rounds such an approximation.
    pub(super) fn rounds_rough(&self, lane: &Lane<'_, Real>) -> bool {
        let rounded = if lane.op.makes_whole() { Some(0) } else { exact::rounds_to_integer(lane, self.sums) };
        rounded.is_some_and(|operand| self.is_rough(Source::of(lane, operand)))
    }

    /// Tells whether `x` is such an approximation, or its product with a power of two.
    pub(super) fn is_rough(&self, mut x: Source) -> bool {
        for _ in 0..STEPS {
            x = match self.made(x) {
                Some((_, Op::Rcp | Op::Rsqrt)) => return true,
                Some((step, Op::Mul)) if let Some(operand) = scaled(&step) => operand,
                _ => return false,
            };
        }
        false
    }
}

/// The operand that a product scales by a power of two without a shadow.
fn scaled(step: &Step) -> Option<Source> {
    let &[a, b] = step.operands() else { return None };
    let is_power = |x: Source| {
        let digits = (1 << (x.format.precision() - 1)) - 1;
        x.serial == 0 && x.bits & digits == 0 && x.format.to_f64(x.bits) != 0.0
    };
    [(a, b), (b, a)].into_iter().find(|&(_, power)| is_power(power)).map(|(scaled, _)| scaled)
}
