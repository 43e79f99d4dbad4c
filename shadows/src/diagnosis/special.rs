//! NaN and infinities: which operation bore them, of which floats, and whose doing it is where they arrive.
//!
//! One that the reals have as well is no error by any measure, so that errors do not lead back to where it was born:
//! such a float is followed for this alone.

use shadowgrind_core::findings::{Value as FloatValue, Witness};
use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::shadow::Lane;

use super::blame::Part;
use super::influences::Influences;
use super::linear::Linear;
use super::local_error::{Kind, LocalError};
use super::operations::Id;
use crate::mpfr::number::RealNumber;
use crate::mpfr::real::Real;
use crate::mpfr::{MpfrShadow, Value};

/// NaN and infinities that an operation bore.
#[derive(Clone, Debug, Default)]
pub(crate) struct Births {
    /// Number of births.
    pub(crate) count: u64,
    /// The first.
    pub(crate) witness: Option<Box<Witness>>,
}

/// Tells whether a float is NaN or infinite.
pub(crate) fn is_special(format: Format, bits: u128) -> bool {
    !matches!(format.decode(bits), Number::Finite { .. })
}

/// Tells whether a float is infinite. Numbers of 80 bits may be where a double is.
#[inline(always)]
pub(crate) fn is_infinite(format: Format, bits: u128) -> bool {
    match format {
        Format::F64 => f64::from_bits(bits as u64).is_infinite(),
        _ => matches!(format.decode(bits), Number::Infinite { .. }),
    }
}

fn is_nan(format: Format, bits: u128) -> bool {
    matches!(format.decode(bits), Number::Nan { .. })
}

/// Tells whether a result is, of operands none of which is.
fn is_first(lane: &Lane<'_, Value>, is: fn(Format, u128) -> bool) -> bool {
    is(lane.to, lane.r) && !lane.x.iter().any(|&x| is(lane.from, x))
}

/// Tells whether a result is NaN of operands that are not.
pub(crate) fn is_nan_born(lane: &Lane<'_, Value>) -> bool {
    is_first(lane, is_nan)
}

fn witness(lane: &Lane<'_, Value>) -> Box<Witness> {
    let value = |format, bits: u128| FloatValue::new(format, &bits.to_le_bytes());
    let operands = lane.x.iter().map(|&x| value(lane.from, x)).collect();
    Box::new(Witness { operands, result: value(lane.to, lane.r) })
}

impl MpfrShadow {
    /// Looks at a result that may be NaN or infinite. Where it is, and is the same in the reals, its shadow, of which
    /// there is none if nobody has borne it, as of a constant.
    #[inline(always)]
    pub(crate) fn special(
        &mut self,
        id: Id,
        lane: &Lane<'_, Value>,
        linear: &Linear,
    ) -> Option<Option<Real>> {
        // Numbers of 80 bits may only look infinite, as doubles.
        if linear.r.is_finite() { None } else { self.surely_special(id, lane) }
    }

    #[inline(never)]
    fn surely_special(&mut self, id: Id, lane: &Lane<'_, Value>) -> Option<Option<Real>> {
        if !is_special(lane.to, lane.r) {
            return None;
        }
        let is_birth = is_first(lane, is_special) || is_nan_born(lane);
        if is_birth {
            let births = &mut self.operations[id].births;
            births.count += 1;
            births.witness.get_or_insert_with(|| witness(lane));
        }
        let is_alike = self.real_of(lane).is_exactly(lane.to, lane.r);
        is_alike.then(|| self.special_alike(id, lane, is_birth))
    }

    fn special_alike(&mut self, id: Id, lane: &Lane<'_, Value>, is_birth: bool) -> Option<Real> {
        // Nothing is off: there is nothing to measure, but somebody to name.
        let local_error =
            is_birth.then_some(LocalError { kind: Kind::Invalid, power: 1.0, amount: f64::INFINITY });
        let operands: [_; MAX_OPERANDS] = std::array::from_fn(|index| {
            let shadow = lane.shadows.get(index).copied().flatten()?;
            let counts = shadow.is_influenced() && is_special(lane.from, lane.x[index]);
            counts.then_some((&shadow.influences, 1.0))
        });
        let own = local_error.map(|local_error| Part { operation: id, amount: local_error.amount });
        let influences = Influences::combine(operands, own, &mut self.parts);
        if !influences.are_any() {
            return None;
        }
        let mut real = Real::exactly(RealNumber::from_bits(lane.to, lane.r), lane.to, lane.r);
        real.influences = influences;
        real.serial = self.history.push(id, lane);
        if local_error.is_some() {
            self.explain_now(id, lane, local_error, 0.0);
        }
        Some(real)
    }
}
