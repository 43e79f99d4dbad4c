//! The diagnosis of reals for another shadow, which knows errors by itself and shows some executions only: what is erroneous, who
//! answers for a wrong float, and what there is to say of them.

use shadowgrind_core::format::Format;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::{Lane, Observed};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Sums;

use super::execution::RealExecution;
use super::real::Real;
use crate::diagnosis::blame::{Roundings, narrow};
use crate::diagnosis::operations::What;
use crate::diagnosis::scale::Scale;
use crate::exact;

/// [Rounding modes](RealExecution::rounding) of the moment, and the purpose of a sum.
pub(crate) type Context = ([Rounding; 2], Sums);

impl RealExecution {
    /// Looks at an execution. The real of its result, if that is another than the float. Where operands are not `traced`, what is
    /// known already of the formula that is computed stays as it is.
    pub(crate) fn consult(&mut self, lane: &Lane<'_, Real>, context: Context, traced: bool) -> Option<Real> {
        (self.rounding, self.sums) = context;
        if traced {
            return self.execute(lane);
        }
        let id = self.diagnosis.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let operation = &mut self.diagnosis.operations[id];
        let known = [operation.expression.take(), operation.usual.take()];
        let real = self.execute(lane);
        let operation = &mut self.diagnosis.operations[id];
        let [expression, usual] = known;
        operation.expression = expression.or(operation.expression.take());
        operation.usual = usual.or(operation.usual.take());
        real
    }

    /// `real` of the float `bits`, whose whole error the operation of `lane` answers for, as one of its roundings.
    pub(crate) fn rounded_by(
        &mut self,
        lane: &Lane<'_, f64>,
        mut real: Real,
        (format, bits): (Format, u128),
    ) -> Real {
        let operation = self.diagnosis.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let error = real.error_of(format, bits);
        let scale =
            Scale::relative(exact::to_f64(format, bits)).unwrap_or_else(|| Scale::absolute_near(error));
        let rounding = (operation, narrow(error / scale.size));
        real.roundings = Roundings::combine([(&Roundings::NONE, 0.0)], rounding, scale);
        real
    }

    /// A decision about `x`, whose reals are all known, where the guest rounds as `rounding` says.
    pub(crate) fn decides(
        &mut self,
        (site, what): (Site, What),
        x: &[Observed<'_, Real>],
        rounding: [Rounding; 2],
    ) {
        self.rounding = rounding;
        match (what, x) {
            (What::Compare(predicate), [a, b]) => self.compared(site, predicate, [a, b].map(copy)),
            (What::Integer(how), [x]) => self.converted(site, how, copy(x)),
            _ => {}
        }
    }
}

fn copy<'a>(x: &Observed<'a, Real>) -> Observed<'a, Real> {
    Observed { format: x.format, bits: x.bits, shadow: x.shadow }
}
