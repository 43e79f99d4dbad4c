//! Numbers that are added to round, and taken off again: what is left is a multiple of the last place that they have, chosen by the
//! program, and exact for that.
//!
//! Sums with 1.5·2^(p−1) round to integers, and are known for that at once (`exact::rounds_to_integer`). With a smaller exponent
//! such a number may be any; and inside a fused operation no sum is seen. Both are known when it is taken off again.

use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::step::Sums;
use shadowgrind_core::tricks::may_round_to_fractions;

use super::execution::RealExecution;
use super::real::Real;
use crate::diagnosis::history::{Source, Step};
use crate::diagnosis::operations::What;
use crate::exact;

impl RealExecution {
    /// Tells whether an operation takes off what a sum before it has added to round its other terms.
    pub(super) fn unrounds(&self, lane: &Lane<'_, Real>) -> bool {
        let (&[_, _], Op::Add | Op::Sub) = (lane.x, lane.op) else { return false };
        [(0, 1), (1, 0)].into_iter().any(|(sum, magic)| {
            lane.shadows[magic].is_none()
                && may_round_to_fractions(lane.from, lane.x[magic])
                && self.was_rounded_by(Source::of(lane, sum), lane.x[magic])
                && exact::to_f64(lane.to, lane.r).abs() < exact::to_f64(lane.from, lane.x[magic]).abs() / 2.0
        })
    }

    /// The step that made `x`, or that with another sign, and its operation; nothing if it is not remembered.
    pub(super) fn made(&self, x: Source) -> Option<(Step, Op)> {
        let step = self.diagnosis.history.step(x.serial).filter(|step| step.turned(x).is_some())?;
        let What::Op(op) = self.diagnosis.operations[step.operation].what else { return None };
        Some((step, op))
    }

    /// Tells whether `sum` was made by adding this number, up to its sign, to something.
    fn was_rounded_by(&self, sum: Source, magic: u128) -> bool {
        let Some((step, op)) = self.made(sum) else { return false };
        let magnitude = |bits: u128| bits & ((1 << (sum.format.width() - 1)) - 1);
        let operands = step.operands();
        let is_it = |&index: &usize| {
            operands[index].serial == 0 && magnitude(operands[index].bits) == magnitude(magic)
        };
        op.addends().iter().any(is_it) && !is_known(&step, op, self.diagnosis.operations[step.operation].sums)
    }
}

/// Tells whether the sum was known to round when it was made: its real is an integer's then.
fn is_known(step: &Step, op: Op, sums: Sums) -> bool {
    step.with_lane(op, |lane| exact::rounds_to_integer(lane, sums)).is_some()
}
