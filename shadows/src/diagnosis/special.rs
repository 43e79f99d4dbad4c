//! NaN and infinities: which operation bore them, of which floats, and whose doing it is where they arrive.
//!
//! One that the reals have as well is no error by any measure, so that errors do not lead back to where it was born:
//! such a float is followed for this alone.

use shadowgrind_core::findings::{Value as FloatValue, Witness};
use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::shadow::Lane;

use super::Diagnosis;
use super::blame::ErrorTerm;
use super::influences::Influences;
use super::local_error::{Kind, LocalError};
use super::number::Attributed;
use super::operations::Id;

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
fn is_first<V>(lane: &Lane<'_, V>, is: fn(Format, u128) -> bool) -> bool {
    is(lane.to, lane.r) && !lane.x.iter().any(|&x| is(lane.from, x))
}

/// Tells whether a result is NaN of operands that are not.
pub(crate) fn is_nan_born<V>(lane: &Lane<'_, V>) -> bool {
    is_first(lane, is_nan)
}

fn witness<V>(lane: &Lane<'_, V>) -> Box<Witness> {
    let value = |format, bits: u128| FloatValue::new(format, &bits.to_le_bytes());
    let operands = lane.x.iter().map(|&x| value(lane.from, x)).collect();
    Box::new(Witness { operands, result: value(lane.to, lane.r) })
}

impl<N: Attributed> Diagnosis<N> {
    /// Counts a result that is NaN or infinite, if that is so for the first time on its way. Returns that.
    pub(crate) fn note_birth(&mut self, id: Id, lane: &Lane<'_, N>) -> bool {
        let is_birth = is_first(lane, is_special) || is_nan_born(lane);
        if is_birth {
            let births = &mut self.operations[id].births;
            births.count += 1;
            births.witness.get_or_insert_with(|| witness(lane));
        }
        is_birth
    }

    /// Operations that answer for a result that is NaN or infinite in the reals, too, and the error of the operation that bore it.
    pub(crate) fn influences_of_special(
        &mut self,
        id: Id,
        lane: &Lane<'_, N>,
        is_birth: bool,
    ) -> (Influences, Option<LocalError>) {
        // Nothing is off: there is nothing to measure, but somebody to name.
        let local_error =
            is_birth.then_some(LocalError { kind: Kind::Invalid, power: 1.0, error: f64::INFINITY });
        let operands: [_; MAX_OPERANDS] = std::array::from_fn(|index| {
            let shadow = lane.shadows.get(index).copied().flatten()?;
            let counts = shadow.is_influenced() && is_special(lane.from, lane.x[index]);
            counts.then_some((shadow.influences(), 1.0))
        });
        let local =
            local_error.map(|local_error| ErrorTerm { operation: id, coefficient: local_error.error });
        (Influences::combine(operands, local, &mut self.terms), local_error)
    }
}
