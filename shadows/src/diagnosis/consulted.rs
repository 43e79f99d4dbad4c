//! The diagnosis of reals for another shadow, which knows errors by itself and shows some executions only: what is erroneous, who
//! answers for a wrong float, and what there is to say of them.

use shadowgrind_core::findings::Finding;
use shadowgrind_core::format::Format;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::{Lane, Observed};
use shadowgrind_core::site::Site;

use super::blame::{Roundings, narrow};
use super::operations::What;
use super::unit::Unit;
use crate::mpfr::real::Real;
use crate::mpfr::{MpfrShadow, Value, exact};

impl MpfrShadow {
    /// Looks at an execution. The real of its result, if that is another than the float. Where operands are not `traced`, what is
    /// known already of the formula that is computed stays as it is.
    pub(crate) fn consult(
        &mut self,
        lane: &Lane<'_, Value>,
        rounding: [Rounding; 2],
        traced: bool,
    ) -> Option<Real> {
        self.rounding = rounding;
        if traced {
            return self.execute(lane);
        }
        let id = self.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let operation = &mut self.operations[id];
        let known = [operation.expression.take(), operation.usual.take()];
        let real = self.execute(lane);
        let operation = &mut self.operations[id];
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
        let operation = self.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let error = real.error_of(format, bits);
        let unit = Unit::share(exact::to_f64(format, bits)).unwrap_or_else(|| Unit::power_near(error));
        let own = (operation, narrow(error / unit.size));
        real.roundings = Roundings::combine([(&Roundings::NONE, 0.0)], own, unit);
        real
    }

    /// Has those answer who made output `index`, which is `seen`, wrong by so many `bits`. Tells whether anybody is known.
    pub(crate) fn answers(&mut self, seen: &Observed<'_, Value>, bits: f64, index: u64) -> bool {
        let Some(real) = seen.shadow.filter(|real| explains(real, seen, bits)) else { return false };
        !self.blame(real, seen, bits, Some(index)).is_empty()
    }

    /// A decision about `x`, whose reals are all known.
    pub(crate) fn decides(&mut self, site: Site, what: What, x: &[Observed<'_, Value>]) {
        match (what, x) {
            (What::Compare(predicate), [a, b]) => self.compared(site, predicate, [a, b].map(copy)),
            (What::Integer(how), [x]) => self.converted(site, how, copy(x)),
            _ => {}
        }
    }

    /// A decision about `x` that is another than that of the reals, or that cannot be told (`flips`: it is).
    pub(crate) fn decided(&mut self, site: Site, what: What, x: &[Observed<'_, Value>], flips: bool) {
        let format = |n: usize| x.get(n).unwrap_or(&x[0]).format;
        let id = self.operations.at(site, what, (format(0), format(1)));
        if self.doubts_again(id, x) {
            return;
        }
        match flips {
            true => self.flipped(id, x),
            false => self.undecided(id, x),
        }
    }

    /// Takes the place where an error was noted last.
    pub(crate) fn take_noted(&mut self) -> Option<Site> {
        self.noted.take()
    }

    /// All that was found: what answered for something, and then what was erroneous without that.
    pub(crate) fn diagnoses(&mut self) -> [Vec<Finding>; 2] {
        let reached = MpfrShadow::findings(self);
        [reached, self.unreached()]
    }
}

fn copy<'a>(x: &Observed<'a, Value>) -> Observed<'a, Value> {
    Observed { format: x.format, bits: x.bits, shadow: x.shadow }
}

/// Tells whether what is known of an error of so many bits explains it: a part is about as large, or it has grown by about as
/// many at one place.
fn explains(real: &Real, seen: &Observed<'_, Value>, bits: f64) -> bool {
    const ENOUGH: f64 = 0.1;
    const ENOUGH_GAINED: f64 = 0.25;
    let unit = real.unit(seen.format.to_f64(seen.bits)).size;
    let least = ENOUGH * real.error_of(seen.format, seen.bits).abs();
    let parts = real.influences.parts().into_iter().chain(real.roundings.iter());
    let has_part = parts.map(|part| (part.amount * unit).abs()).any(|part| part >= least);
    has_part
        || !least.is_finite()
        || real.amplifications.iter().any(|(_, gained)| gained > ENOUGH_GAINED * bits)
}
